/// One contact with a full Delassus block: normal and tangential parts couple.
///
/// Tried in the order of BUW 1.24-1.30: open; stick (a linear solve); slide. In sliding the impulse
/// is p = p_n (n + mu d) with a unit tangent d, and p_n(d) = -(free_n + bias)/(S_nn + mu n.S d)
/// from u_n = -bias. In 2D d has two values. In 3D d turns through an angle a and Coulomb asks that
/// the slip be opposite to it: f(a) = (d x u_t).n = 0 with d.u_t < 0. Times the denominator f is a
/// smooth periodic function; its roots are bracketed on a ring of samples and refined by bisection.
/// Where several slip directions are admissible the one that dissipates most is taken.
#include "law/coulomb.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/// Rounding of the power of slip, relative to the velocities that cancel in it.
static const double POWER_ROUNDING = 1e-13;

/// The block in the contact frame: axis 0 is n, then the tangents.
typedef struct local_block {
    int dim;
    double frame[3][3]; ///< rows: n, t1, t2 in world axes
    double S[3][3];
    double free[3]; ///< with the bias added to the normal part
    double mu;
} local_block;

static local_block to_local(int dim, const double* S, const double* n, double bias, double mu,
                            const double* free)
{
    local_block b = {.dim = dim, .mu = mu};
    vec_frame(dim, n, b.frame);
    for (int i = 0; i < dim; i++) {
        b.free[i] = vec_dot(dim, b.frame[i], free);
        for (int j = 0; j < dim; j++) {
            double sum = 0.0;
            for (int k = 0; k < dim; k++)
                sum += b.frame[i][k] * vec_dot(dim, S + k * dim, b.frame[j]);
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

/// Impulse p_n (1, mu d) that keeps u_n + bias = 0; false where the normal cannot be held.
static bool slide_impulse(const local_block* b, const double d[2], double p[3])
{
    double denominator =
        b->S[0][0] + b->mu * (b->S[0][1] * d[0] + (b->dim == 3 ? b->S[0][2] * d[1] : 0.0));
    if (!(denominator > 0.0)) return false;
    p[0] = -b->free[0] / denominator;
    p[1] = b->mu * p[0] * d[0];
    p[2] = b->dim == 3 ? b->mu * p[0] * d[1] : 0.0;
    return true;
}

/// Try sliding along d; keep it if the slip is against the friction and dissipates more than
/// `best`. On the edge between stick and slide there is no slip: its power is then rounding of
/// either sign.
static void try_slide(const local_block* b, const double d[2], double best[3], double* best_power)
{
    double p[3], u[3] = {0.0, 0.0, 0.0}, trace = 0.0;
    if (!slide_impulse(b, d, p)) return;
    velocity(b, p, u);
    for (int k = 0; k < b->dim; k++) trace += b->S[k][k];
    double speed = vec_norm(b->dim, b->free) + trace * vec_norm(b->dim, p);
    double power = d[0] * u[1] + d[1] * u[2];
    if (power > POWER_ROUNDING * speed || power >= *best_power) return;
    *best_power = power;
    memcpy(best, p, 3 * sizeof(double));
}

static bool slide_2d(const local_block* b, double best[3])
{
    double best_power = INFINITY;
    for (int side = -1; side <= 1; side += 2) {
        double d[2] = {side, 0.0};
        try_slide(b, d, best, &best_power);
    }
    return best_power < INFINITY;
}

/// d x u_t times the denominator of p_n(d): a trigonometric polynomial of degree 2 in the angle of
/// d, so it has no poles where the normal cannot be held, and at most four roots.
static double slip_mismatch(const local_block* b, double angle)
{
    const double d[2] = {cos(angle), sin(angle)};
    double response[3], scaled[3];
    for (int i = 0; i < 3; i++) {
        response[i] = b->S[i][0] + b->mu * (b->S[i][1] * d[0] + b->S[i][2] * d[1]);
    }
    for (int i = 1; i < 3; i++) scaled[i] = response[0] * b->free[i] - b->free[0] * response[i];
    return d[0] * scaled[2] - d[1] * scaled[1];
}

/// Bisect the bracket down to neighbouring doubles, near enough.
static double bisect_angle(const local_block* b, double low, double high, double f_low)
{
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if ((slip_mismatch(b, middle) < 0.0) == (f_low < 0.0)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

static bool slide_3d_ring(const local_block* b, int samples, double best[3])
{
    double best_power = INFINITY, f_last = slip_mismatch(b, 0.0);
    for (int s = 1; s <= samples; s++) {
        double angle = 2.0 * M_PI * s / samples, f = slip_mismatch(b, angle);
        if ((f < 0.0) != (f_last < 0.0)) {
            double root = bisect_angle(b, 2.0 * M_PI * (s - 1) / samples, angle, f_last);
            double d[2] = {cos(root), sin(root)};
            try_slide(b, d, best, &best_power);
        }
        f_last = f;
    }
    return best_power < INFINITY;
}

static bool slide(const local_block* b, double p[3])
{
    if (b->mu == 0.0) {
        p[0] = -b->free[0] / b->S[0][0];
        p[1] = p[2] = 0.0;
        return true;
    }
    if (b->dim == 2) return slide_2d(b, p);
    return slide_3d_ring(b, 16, p) || slide_3d_ring(b, 512, p) || slide_3d_ring(b, 16384, p);
}

bool coulomb_block_inverse(int dim, const double* S, double* inverse)
{
    const double *a = S, *b = S + dim, *c = S + 2 * dim;
    double minor[9];
    if (dim == 2) {
        minor[0] = b[1], minor[1] = -a[1], minor[2] = -b[0], minor[3] = a[0];
    } else {
        vec_cross(minor, b, c);
        vec_cross(minor + 3, c, a);
        vec_cross(minor + 6, a, b);
    }
    double determinant = vec_dot(dim, a, minor);
    bool definite = determinant > 0.0 && isfinite(1.0 / determinant);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            inverse[i * dim + j] = definite ? minor[j * dim + i] / determinant : 0.0;
        }
    }
    return definite;
}

bool coulomb_block(int dim, const double* S, const double* inverse, const double* n, double bias,
                   double mu, const double* free, const double* guess, double* p)
{
    (void)guess;
    for (int k = 0; k < dim; k++) p[k] = 0.0;
    double approach = vec_dot(dim, free, n) + bias;
    if (approach >= 0.0) return true; // open

    double stop[3], normal = 0.0, tt = 0.0;
    for (int k = 0; k < dim; k++) stop[k] = -free[k] - bias * n[k];
    for (int k = 0; k < dim; k++) p[k] = vec_dot(dim, inverse + k * dim, stop);
    normal = vec_dot(dim, p, n);
    for (int k = 0; k < dim; k++) tt += (p[k] - normal * n[k]) * (p[k] - normal * n[k]);
    if (normal > 0.0 && tt <= mu * mu * normal * normal) return true; // stick

    local_block b = to_local(dim, S, n, bias, mu, free);
    double local[3] = {0.0, 0.0, 0.0};
    bool found = slide(&b, local);
    if (!found) {
        local[0] = -b.free[0] / b.S[0][0];
        local[1] = local[2] = 0.0;
    }
    to_world(&b, local, p);
    return found;
}
