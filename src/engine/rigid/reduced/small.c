/// Newton's method for a handful of contacts: dense, without memory of its own.
///
/// The same system as in newton.c, posed for the new impulses s = r + x themselves,
///     G s + Q W s = t - r + G r + Q (u - q),
/// so that open contacts, whose s is zero, drop out. In the plane the law is linear as long as no
/// contact changes between open, sticking and sliding either way, and one step ends it. Where
/// forces are not unique a small proximal term Q alpha D (s - r) keeps them near r.
/// There is no line search: it is a cheap attempt, and what it does not solve the sweeps go on
/// with.
#include "rigid/reduced/linear_law.h"
#include "rigid/reduced/methods.h"

#include <string.h>

/// Steps of one attempt, at most.
enum { STEPS = 6 };
/// Share of D in the proximal term: what it leaves undone the next step does.
static const double ALPHA = 1e-9;
/// Cost of an elimination, by the cube of its size, in the unit of reduced_small_worth().
static const double FACTOR = 0.1;

/// Numbers of a problem, [contact][component] each.
typedef struct small {
    const reduced_work* work;
    int closed;                   ///< contacts that are not open
    int32_t place[REDUCED_SMALL]; ///< of a contact among them; -1: it is open
    double scale[REDUCED_SMALL];  ///< D by components
    double r[REDUCED_SMALL];      ///< impulses
    double u[REDUCED_SMALL];      ///< and their velocities
    double t[REDUCED_SMALL];      ///< natural map of both
    double A[REDUCED_SMALL]
            [REDUCED_SMALL + 1]; ///< [closed * width], the last column is the other side
} small;

/// Velocities, the natural map and who is open; returns the energy of r - t beside that of r.
static ALWAYS_INLINE double look(const int w, small* s)
{
    const reduced_problem* p = s->work->p;
    double left = 0.0, size = 0.0;
    s->closed = 0;
    for (int64_t c = 0; c < p->count; c++) {
        const double *D = s->scale + c * w, *r = s->r + c * w;
        const reduced_scale scale = {D[0], D[1], w == 5 ? D[3] : 0.0};
        double *u = s->u + c * w, *t = s->t + c * w;
        reduced_row_velocity(w, p, c, s->r, u);
        reduced_map(w, &scale, p->mu[c], w == 5 ? p->mu_r[c] : 0.0, r, u, t);
        s->place[c] = linear_law_is_open(D, r, u) ? -1 : s->closed++;
        for (int k = 0; k < w; k++) {
            left += D[k] * (r[k] - t[k]) * (r[k] - t[k]);
            size += D[k] * r[k] * r[k];
        }
    }
    return left / size;
}

/// The rows of contact c, which is not open.
static ALWAYS_INLINE void fill_contact(const int w, small* s, int64_t c)
{
    const reduced_problem* p = s->work->p;
    const int n = s->closed * w;
    const double *D = s->scale + c * w, *r = s->r + c * w, *u = s->u + c * w, *t = s->t + c * w;
    const linear_law a = linear_law_of(w, D, p->mu[c], w == 5 ? p->mu_r[c] : 0.0, r, u);
    const int own = s->place[c] * w;
    for (int i = 0; i < w; i++) {
        double* row = s->A[own + i];
        memset(row, 0, sizeof *row * (size_t)n);
        double side = t[i] - r[i];
        for (int k = 0; k < w; k++) {
            const double pull = a.Q[i][k] * ALPHA * D[k];
            row[own + k] = a.G[i][k] + pull;
            side += (a.G[i][k] + pull) * r[k] + a.Q[i][k] * (u[k] - p->q[c * w + k]);
        }
        row[n] = side;
    }
    for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
        if (s->place[p->column[b]] < 0) continue;
        const int at = s->place[p->column[b]] * w;
        const double* block = p->block + b * w * w;
        for (int i = 0; i < w; i++) {
            double* row = s->A[own + i] + at;
            for (int k = 0; k < w; k++) {
                for (int j = 0; j < w; j++) row[j] += a.Q[i][k] * block[k * w + j];
            }
        }
    }
}

/// Gauss's elimination with row pivots, n rows; x [n] = the solution. False if singular.
static ALWAYS_INLINE bool eliminate(small* s, int n, double* x)
{
    double* row[REDUCED_SMALL];
    for (int i = 0; i < n; i++) row[i] = s->A[i];
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c + 1; i < n; i++) best = fabs(row[i][c]) > fabs(row[best][c]) ? i : best;
        double* pivot = row[best];
        row[best] = row[c];
        row[c] = pivot;
        if (!(fabs(pivot[c]) > 0.0)) return false;
        const double inverse = 1.0 / pivot[c];
        for (int i = c + 1; i < n; i++) {
            const double factor = row[i][c] * inverse;
            if (factor == 0.0) continue; // much of W is zero
            for (int j = c + 1; j <= n; j++) row[i][j] -= factor * pivot[j];
        }
        pivot[c] = inverse;
    }
    for (int c = n - 1; c >= 0; c--) {
        double sum = row[c][n];
        for (int j = c + 1; j < n; j++) sum -= row[c][j] * x[j];
        x[c] = row[c][c] * sum;
    }
    return true;
}

/// One step from r; false if the system is singular.
static ALWAYS_INLINE bool step(const int w, small* s)
{
    const reduced_problem* p = s->work->p;
    double x[REDUCED_SMALL];
    for (int64_t c = 0; c < p->count; c++) {
        if (s->place[c] >= 0) fill_contact(w, s, c);
    }
    if (!eliminate(s, s->closed * w, x)) return false;
    for (int64_t c = 0; c < p->count; c++) {
        for (int k = 0; k < w; k++)
            s->r[c * w + k] = s->place[c] < 0 ? 0.0 : x[s->place[c] * w + k];
    }
    return true;
}

static ALWAYS_INLINE void attempt_of(const int w, const reduced_work* work, reduced_run* run,
                                     double* r)
{
    small s;
    s.work = work;
    memcpy(s.r, r, sizeof *r * (size_t)(work->p->count * w));
    for (int64_t c = 0; c < work->p->count; c++) {
        linear_law_scale(w, work->p->block + work->diagonal[c] * w * w, s.scale + c * w);
    }
    double left = look(w, &s);
    for (int i = 0; i < STEPS && step(w, &s); i++) {
        run->iterations++;
        left = look(w, &s);
        if (!isfinite(left)) return;
        if (left > 0.1 * run->tolerance * run->tolerance) continue;
        reduced_keep_better(work, run, s.t, r);
        if (reduced_run_is_done(run)) return;
    }
}

static ALWAYS_INLINE void attempt_any(const reduced_work* work, reduced_run* run, double* r)
{
    switch (work->p->width) {
    case 2: attempt_of(2, work, run, r); break;
    case 3: attempt_of(3, work, run, r); break;
    default: attempt_of(5, work, run, r); break;
    }
}

FOR_AVX2 static void attempt_avx2(const reduced_work* work, reduced_run* run, double* r)
{
    attempt_any(work, run, r);
}

/// An attempt of a few contacts costs as much as a sweep or two, and one sweep tells well enough
/// who is open. Elimination grows as the cube; then more sweeps do no harm.
int64_t reduced_small_worth(const reduced_problem* p)
{
    const double n = (double)(p->count * p->width);
    const double blocks = (double)p->first[p->count], contacts = (double)p->count;
    const double sweeps = (FACTOR * n * n * n) / (4.0 * blocks + 90.0 * contacts);
    return 1 + (int64_t)sweeps;
}

bool reduced_small(const reduced_work* work, reduced_run* run, double* r)
{
    if (work->p->count * work->p->width > REDUCED_SMALL) return false;
    if (work->avx2) {
        attempt_avx2(work, run, r);
    } else {
        attempt_any(work, run, r);
    }
    return reduced_run_is_done(run);
}
