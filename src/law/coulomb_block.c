/// One contact with a full Delassus block: normal and tangential parts couple.
///
/// Tried in the order of BUW 1.24-1.30: open; stick (a linear solve); slide. In sliding the impulse
/// is p = p_n (n + mu d) with a unit tangent d, and p_n(d) = -(free_n + bias)/(S_nn + mu n.S d)
/// from u_n = -bias. In 2D d has two values. In 3D d turns through an angle a and Coulomb asks that
/// the slip be opposite to it: f(a) = (d x u_t).n = 0 with d.u_t < 0. f is continuous and periodic;
/// its roots are bracketed on a ring of samples and refined by bisection.
/// Where several slip directions are admissible the one that dissipates most is taken.
#include "law/coulomb.h"

#include <stdbool.h>
#include <string.h>

/// The block in the contact frame: axis 0 is n, then the tangents.
typedef struct local_block {
    int dim;
    double frame[3][3]; ///< rows: n, t1, t2 in world axes
    double S[3][3];
    double free[3];     ///< with the bias added to the normal part
    double mu;
} local_block;

static void tangent_frame(int dim, const double* n, double frame[3][3])
{
    memset(frame, 0, 9 * sizeof(double));
    vec_copy(dim, frame[0], n);
    if (dim == 2) {
        frame[1][0] = -n[1];
        frame[1][1] = n[0];
        return;
    }
    // The axis least aligned with n gives a well-conditioned first tangent.
    int k = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                    : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    double e[3] = {k == 0, k == 1, k == 2};
    vec_cross(frame[1], n, e);
    double length = vec_norm(3, frame[1]);
    for (int c = 0; c < 3; c++) frame[1][c] /= length;
    vec_cross(frame[2], n, frame[1]);
}

static local_block to_local(int dim, const double* S, const double* n, double bias, double mu,
                            const double* free)
{
    local_block b = {.dim = dim, .mu = mu};
    tangent_frame(dim, n, b.frame);
    for (int i = 0; i < dim; i++) {
        b.free[i] = vec_dot(dim, b.frame[i], free);
        for (int j = 0; j < dim; j++) {
            double sum = 0.0;
            for (int k = 0; k < dim; k++) sum += b.frame[i][k] * vec_dot(dim, S + k * dim, b.frame[j]);
            b.S[i][j] = sum;
        }
    }
    b.free[0] += bias;
    return b;
}

static void to_world(const local_block* b, const double local[3], double* p)
{
    for (int k = 0; k < b->dim; k++) {
        p[k] = 0.0;
        for (int i = 0; i < b->dim; i++) p[k] += local[i] * b->frame[i][k];
    }
}

/// Velocity for a local impulse.
static void velocity(const local_block* b, const double p[3], double u[3])
{
    for (int i = 0; i < b->dim; i++) u[i] = b->free[i] + vec_dot(b->dim, b->S[i], p);
}

/// Solve S p = -free by Cholesky; false if S is not positive definite.
static bool stick_impulse(const local_block* b, double p[3])
{
    const int d = b->dim;
    double L[3][3] = {{0}}, y[3];
    for (int i = 0; i < d; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = b->S[i][j];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j) {
                if (!(sum > 0.0)) return false;
                L[i][i] = sqrt(sum);
            } else {
                L[i][j] = sum / L[j][j];
            }
        }
    }
    for (int i = 0; i < d; i++) {
        double sum = -b->free[i];
        for (int k = 0; k < i; k++) sum -= L[i][k] * y[k];
        y[i] = sum / L[i][i];
    }
    for (int i = d - 1; i >= 0; i--) {
        double sum = y[i];
        for (int k = i + 1; k < d; k++) sum -= L[k][i] * p[k];
        p[i] = sum / L[i][i];
    }
    return true;
}

/// Impulse p_n (1, mu d) that keeps u_n + bias = 0; false where the normal cannot be held.
static bool slide_impulse(const local_block* b, const double d[2], double p[3])
{
    double denominator = b->S[0][0] + b->mu * (b->S[0][1] * d[0] + (b->dim == 3 ? b->S[0][2] * d[1] : 0.0));
    if (!(denominator > 0.0)) return false;
    p[0] = -b->free[0] / denominator;
    p[1] = b->mu * p[0] * d[0];
    p[2] = b->dim == 3 ? b->mu * p[0] * d[1] : 0.0;
    return true;
}

static bool slide_2d(const local_block* b, double best[3])
{
    double best_power = 1.0;
    for (int side = -1; side <= 1; side += 2) {
        double d[2] = {side, 0.0}, p[3], u[3];
        if (!slide_impulse(b, d, p)) continue;
        velocity(b, p, u);
        double power = u[1] * side; // must be <= 0: slip against the friction
        if (power <= 0.0 && power < best_power) {
            best_power = power;
            memcpy(best, p, 3 * sizeof(double));
        }
    }
    return best_power <= 0.0;
}

/// f(angle) = d x u_t, and the power d.u_t. False where the normal cannot be held.
static bool slip_mismatch(const local_block* b, double angle, double p[3], double* f, double* power)
{
    double d[2] = {cos(angle), sin(angle)}, u[3];
    if (!slide_impulse(b, d, p)) return false;
    velocity(b, p, u);
    *f = d[0] * u[2] - d[1] * u[1];
    *power = d[0] * u[1] + d[1] * u[2];
    return true;
}

/// Bisect the bracket down to neighbouring doubles, near enough.
static double bisect_angle(const local_block* b, double low, double high, double f_low)
{
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high), p[3], f, power;
        if (!slip_mismatch(b, middle, p, &f, &power)) return middle;
        if ((f < 0.0) == (f_low < 0.0)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

static bool slide_3d_ring(const local_block* b, int samples, double best[3])
{
    double best_power = 1.0, f_last = 0.0, power, p[3];
    bool last_good = false;
    for (int s = 0; s <= samples; s++) {
        double angle = 2.0 * M_PI * s / samples, f = 0.0;
        bool good = slip_mismatch(b, angle, p, &f, &power);
        if (good && last_good && (f < 0.0) != (f_last < 0.0)) {
            double f_root;
            double root = bisect_angle(b, 2.0 * M_PI * (s - 1) / samples, angle, f_last);
            if (slip_mismatch(b, root, p, &f_root, &power) && power <= 0.0 && power < best_power) {
                best_power = power;
                memcpy(best, p, 3 * sizeof(double));
            }
        }
        f_last = f;
        last_good = good;
    }
    return best_power <= 0.0;
}

static bool slide(const local_block* b, double p[3])
{
    if (b->mu == 0.0) {
        p[0] = -b->free[0] / b->S[0][0];
        p[1] = p[2] = 0.0;
        return true;
    }
    if (b->dim == 2) return slide_2d(b, p);
    return slide_3d_ring(b, 16, p) || slide_3d_ring(b, 512, p);
}

bool coulomb_block(int dim, const double* S, const double* n, double bias, double mu,
                   const double* free, double* p)
{
    local_block b = to_local(dim, S, n, bias, mu, free);
    for (int k = 0; k < dim; k++) p[k] = 0.0;
    if (b.free[0] >= 0.0) return true; // open

    double local[3] = {0.0, 0.0, 0.0};
    bool found = stick_impulse(&b, local);
    double tangential = dim == 2 ? fabs(local[1]) : hypot(local[1], local[2]);
    if (!found || local[0] < 0.0 || tangential > mu * local[0]) found = slide(&b, local);
    if (!found) {
        local[0] = -b.free[0] / b.S[0][0];
        local[1] = local[2] = 0.0;
    }
    to_world(&b, local, p);
    return found;
}
