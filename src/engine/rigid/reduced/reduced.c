/// Velocities of a contact problem without bodies, and the measures of how well it is solved.
///
/// The error of the FCLIB community is defined in reduced.h. The residual without units brings
/// every contact to one unit by the diagonal of its own block: with D_N = W_NN, D_T and D_R the
/// means of W over the tangential and over the rolling components of the contact,
///     t_N = max(0, r_N - u_N/D_N),  t_T = (r_T - u_T/D_T) cut to the length mu t_N,  t_R likewise,
///     residual^2 = sum_c sum_k D_k (r_k - t_k)^2 / max( sum_c sum_k D_k r_k^2, sum_c s_c^2/D_N ),
/// with s_c = max(0, -q_N) the approach without impulses. All sums are energies, so that light and
/// heavy contacts count alike and the result does not change when masses, lengths or times are
/// rescaled. It is zero exactly when the law holds. For a problem of balls that all weigh the same
/// it is the residual of rigid/residual.c. 0/0 (nothing pushes anywhere) is 0.
/// Both are small beside huge impulses. Where nothing solves the problem, as of a ball between
/// walls that close in on it, impulses grow until they are; but velocities stay wrong. Therefore
///     velocity^2 = sum_c sum_k (l_k D_k (r_k - t_k))^2 / max( |u|^2, |q|^2 ),
/// with l = 1 and for rolling l^2 = D_N/D_R, a length; |u| and |q| without rolling.
#include "rigid/reduced/internal.h"

#include <stdlib.h>
#include <string.h>

void reduced_free(reduced_problem* p)
{
    free(p->first);
    free(p->column);
    free(p->block);
    free(p->q);
    free(p->mu);
    free(p->mu_r);
    free(p->bodies.of);
    free(p->bodies.J);
    *p = (reduced_problem){0};
}

int64_t reduced_diagonal(const reduced_problem* p, int64_t c)
{
    int64_t low = p->first[c], high = p->first[c + 1] - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->column[middle] < c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

reduced_scale reduced_scale_of(int width, const double* S)
{
    double n = S[0], t = width == 2 ? S[3] : 0.5 * (S[width + 1] + S[2 * width + 2]);
    double r = width == 5 ? 0.5 * (S[18] + S[24]) : 0.0;
    double size = fmax(n, t);
    if (!(size > 0.0)) size = r > 0.0 ? r : 1.0;
    // A component that nothing moves: any unit will do that does not divide by zero.
    return (reduced_scale){n > 0.0 ? n : size, t > 0.0 ? t : size, r > 0.0 ? r : size};
}

static ALWAYS_INLINE void velocity(const reduced_problem* p, const double* r, double* u)
{
    for (int64_t c = 0; c < p->count; c++) {
        switch (p->width) {
        case 2: reduced_row_velocity(2, p, c, r, u + 2 * c); break;
        case 3: reduced_row_velocity(3, p, c, r, u + 3 * c); break;
        default: reduced_row_velocity(5, p, c, r, u + 5 * c); break;
        }
    }
}

FOR_AVX2 static void velocity_avx2(const reduced_problem* p, const double* r, double* u)
{
    velocity(p, r, u);
}

void reduced_velocity(const reduced_problem* p, const double* r, double* u)
{
    if (vector_width_is_there(TALUS_VECTOR_AVX2)) {
        velocity_avx2(p, r, u);
    } else {
        velocity(p, r, u);
    }
}

/// u = J J^T r + q, from the bodies; z [bodies][n] is room.
static ALWAYS_INLINE void body_velocity(const int w, const int n, const reduced_problem* p,
                                        const double* r, double* z, double* u)
{
    const reduced_bodies* bodies = &p->bodies;
    memset(z, 0, sizeof(double) * (size_t)(bodies->count * n));
    for (int64_t c = 0; c < p->count; c++) {
        for (int side = 0; side < 2; side++) {
            const int64_t body = bodies->of[2 * c + side];
            const double* J = bodies->J + (2 * c * w + side) * n;
            for (int k = 0; k < w && body >= 0; k++) {
                vec_add_scaled(n, z + body * n, r[c * w + k], J + 2 * k * n);
            }
        }
    }
    for (int64_t c = 0; c < p->count; c++) {
        vec_copy(w, u + c * w, p->q + c * w);
        for (int side = 0; side < 2; side++) {
            const int64_t body = bodies->of[2 * c + side];
            const double* J = bodies->J + (2 * c * w + side) * n;
            for (int k = 0; k < w && body >= 0; k++) {
                u[c * w + k] += vec_dot(n, J + 2 * k * n, z + body * n);
            }
        }
    }
}

/// The velocities by way of the bodies, if these are known: W has far more numbers. False if not,
/// or if memory is short.
static bool velocity_of_bodies(const reduced_problem* p, const double* r, double* u)
{
    double* z = p->bodies.width > 0
                    ? malloc(sizeof *z * (size_t)(p->bodies.count * p->bodies.width))
                    : NULL;
    if (!z) return false;
    if (p->width == 2) {
        body_velocity(2, 3, p, r, z, u);
    } else {
        body_velocity(3, 6, p, r, z, u);
    }
    free(z);
    return true;
}

void reduced_fast_velocity(const reduced_problem* p, const double* r, double* u)
{
    if (!velocity_of_bodies(p, r, u)) reduced_velocity(p, r, u);
}

/// Euclidean projection of (n, t) on { t <= mu n }, t >= 0 given.
static ALWAYS_INLINE void project_pair(double mu, double* n, double* t)
{
    if (*t <= mu * *n) return;
    const double along = (*n + mu * *t) / (1.0 + mu * mu);
    *n = along > 0.0 ? along : 0.0;
    *t = mu * *n;
}

/// Euclidean projection of (n, t, s) on { 0 <= t <= mu n, 0 <= s <= mu_r n }, t and s >= 0 given.
static void project_triple(double mu, double mu_r, double* n, double* t, double* s)
{
    const double n0 = *n, t0 = *t, s0 = *s;
    if (t0 <= mu * n0 && s0 <= mu_r * n0) return;
    *n = *t = *s = 0.0;
    if (n0 + mu * t0 + mu_r * s0 <= 0.0) return;
    double slide = (n0 + mu * t0) / (1.0 + mu * mu);
    double roll = (n0 + mu_r * s0) / (1.0 + mu_r * mu_r);
    if (t0 >= mu * slide && s0 <= mu_r * slide) {
        *n = slide, *t = mu * slide, *s = s0;
    } else if (s0 >= mu_r * roll && t0 <= mu * roll) {
        *n = roll, *t = t0, *s = mu_r * roll;
    } else {
        *n = (n0 + mu * t0 + mu_r * s0) / (1.0 + mu * mu + mu_r * mu_r);
        *t = mu * *n, *s = mu_r * *n;
    }
}

/// Square of r - P_K(r - (u_N + mu |u_T| + mu_r |u_R|, u_T, u_R)).
static ALWAYS_INLINE double error_square(const int width, double mu, double mu_r, const double* r,
                                         const double* u)
{
    const int m = width == 2 ? 1 : 2;
    double z[5] = {r[0] - u[0] - mu * reduced_length(m, u + 1)}, sum = 0.0;
    if (width == 5) z[0] -= mu_r * reduced_length(2, u + 3);
    for (int k = 1; k < width; k++) z[k] = r[k] - u[k];
    double n = z[0], t0 = reduced_length(m, z + 1),
           s0 = width == 5 ? reduced_length(2, z + 3) : 0.0;
    double t = t0, s = s0;
    if (width == 5) {
        project_triple(mu, mu_r, &n, &t, &s);
    } else {
        project_pair(mu, &n, &t);
    }
    sum = (r[0] - n) * (r[0] - n);
    for (int k = 1; k < width; k++) {
        double length = k <= m ? t : s, before = k <= m ? t0 : s0;
        double e = r[k] - (before > 0.0 ? z[k] * (length / before) : 0.0);
        sum += e * e;
    }
    return sum;
}

/// Everything of one contact that needs its own block: nothing where it is open.
static ALWAYS_INLINE void measure_contact(const int width, const reduced_problem* p, int64_t c,
                                          int64_t own, const double* r, const double* u,
                                          reduced_sums* sums)
{
    const reduced_scale D = reduced_scale_of(width, p->block + own * width * width);
    const double mu = p->mu[c], mu_r = width == 5 ? p->mu_r[c] : 0.0, q = p->q[c * width];
    sums->e2 += error_square(width, mu, mu_r, r, u);
    double t[5], left = 0.0, wrong = 0.0; // see the head of the file
    reduced_map(width, &D, mu, mu_r, r, u, t);
    for (int k = 0; k < width; k++) {
        const double d = k == 0 ? D.n : (k < 3 ? D.t : D.r);
        // Where nothing cuts the map D (r - t) is u itself, which is not lost in the rounding of a
        // huge r.
        const double e = t[k] == r[k] - u[k] / d ? u[k] : d * (r[k] - t[k]);
        left += d * (r[k] - t[k]) * (r[k] - t[k]);
        wrong += k < 3 ? e * e : D.n / D.r * e * e;
        sums->energy += d * r[k] * r[k];
    }
    sums->left += left;
    sums->wrong += wrong;
    if (q < 0.0) sums->approach += q * q / D.n;
}

static ALWAYS_INLINE reduced_sums sums_of(const int width, const reduced_problem* p,
                                          const int64_t* diagonal, const double* r,
                                          const double* known)
{
    reduced_sums s = {0};
    for (int64_t c = 0; c < p->count; c++) {
        const double *rc = r + c * width, *qc = p->q + c * width;
        double u[5];
        if (known) {
            vec_copy(width, u, known + c * width);
        } else {
            reduced_row_velocity(width, p, c, r, u);
        }
        for (int k = 0; k < width; k++) {
            s.r2 += rc[k] * rc[k];
            s.u2 += u[k] * u[k];
            s.q2 += qc[k] * qc[k];
        }
        s.moving += vec_dot(reduced_moving(width), u, u);
        s.pushing += vec_dot(reduced_moving(width), qc, qc);
        if (!(u[0] >= 0.0) || qc[0] < 0.0 || !reduced_is_zero(width, rc)) {
            measure_contact(width, p, c, diagonal ? diagonal[c] : reduced_diagonal(p, c), rc, u,
                            &s);
        }
    }
    return s;
}

static ALWAYS_INLINE reduced_sums sums_any(const reduced_problem* p, const int64_t* diagonal,
                                           const double* r, const double* known)
{
    switch (p->width) {
    case 2: return sums_of(2, p, diagonal, r, known);
    case 3: return sums_of(3, p, diagonal, r, known);
    default: return sums_of(5, p, diagonal, r, known);
    }
}

FOR_AVX2 static reduced_sums sums_avx2(const reduced_problem* p, const int64_t* diagonal,
                                       const double* r, const double* known)
{
    return sums_any(p, diagonal, r, known);
}

/// `known` has the velocities, or is NULL.
static reduced_sums sums_with(const reduced_problem* p, const int64_t* diagonal, const double* r,
                              const double* known)
{
    return vector_width_is_there(TALUS_VECTOR_AVX2) ? sums_avx2(p, diagonal, r, known)
                                                    : sums_any(p, diagonal, r, known);
}

reduced_sums reduced_sums_of(const reduced_problem* p, const int64_t* diagonal, const double* r)
{
    return sums_with(p, diagonal, r, NULL);
}

reduced_sums reduced_fast_sums(const reduced_problem* p, const int64_t* diagonal, const double* r)
{
    double* u = NULL;
    if (p->bodies.width > 0) u = malloc(sizeof *u * (size_t)(p->count * p->width + 1));
    const bool known = u && velocity_of_bodies(p, r, u);
    const reduced_sums sums = sums_with(p, diagonal, r, known ? u : NULL);
    free(u);
    return sums;
}

/// sqrt(left / size), and 0 of nothing.
static double share_of(double left, double size)
{
    return size > 0.0 ? sqrt(left / size) : (left > 0.0 ? INFINITY : 0.0);
}

/// Velocities are differences of larger ones, W r and q, so that rounding alone can make this much
/// of a measure that compares with their result.
static const double VELOCITY_ROUNDING = 1e-9;

reduced_measure reduced_measure_of(const reduced_sums* s, reduced_least least)
{
    const double wrong = share_of(s->wrong, fmax(fmax(s->moving, s->pushing), least.pushing));
    return (reduced_measure){
        .error = share_of(s->e2, fmax(fmax(s->r2, s->u2), fmax(s->q2, least.size2))),
        .residual = share_of(s->left, fmax(s->energy, fmax(s->approach, least.energy))),
        .velocity = wrong <= VELOCITY_ROUNDING ? 0.0 : wrong,
    };
}

double reduced_error(const reduced_problem* p, const double* r)
{
    const reduced_sums sums = reduced_sums_of(p, NULL, r);
    return reduced_measure_of(&sums, (reduced_least){0}).error;
}

double reduced_residual(const reduced_problem* p, const double* r)
{
    const reduced_sums sums = reduced_sums_of(p, NULL, r);
    return reduced_measure_of(&sums, (reduced_least){0}).residual;
}

double reduced_velocity_residual(const reduced_problem* p, const double* r)
{
    const reduced_sums sums = reduced_sums_of(p, NULL, r);
    return reduced_measure_of(&sums, (reduced_least){0}).velocity;
}
