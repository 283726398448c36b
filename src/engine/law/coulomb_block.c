/// One contact with a full Delassus block: normal and tangential parts couple.
///
/// Tried in the order of BUW 1.24-1.30: open; stick, p = -S^-1 (free + bias n); slide. In sliding
/// p = r (n + mu d) with a unit tangent d, and u_n + bias = 0 with a slip against d. Write f = free
/// + bias n, a = n.S n, b and C for the normal-tangential and tangential parts of S. Then
///     M d + sigma d = v,   M = mu (f_t b^T - f_n C),   v = f_n b - a f_t,
///     sigma = |u_t| (a + mu b.d).
/// In 2D d has two values. In 3D its angle is a root of F = d x (M d - v), a trigonometric
/// polynomial of degree 2, that is a quartic in tan(angle/2) (Bonnefon and Daviet 2011).
///
/// How many: a positive definite block has a solution for every approach f_n < 0 (Acary and Cadoux)
/// but perhaps several, when friction pushes the bodies into each other (Painleve). Open is taken
/// before stick, stick before slide, and of several slips the one that dissipates most, r times its
/// slip velocity. With f_n >= 0 a strong friction may also wedge the bodies; they part here.
/// Sliding is surely unique where |d| of d = (M + sigma)^-1 v falls along sigma >= 0: when the
/// symmetric part of M is positive definite, or when |v| > |M| + s, s = -(its least eigenvalue),
/// since every root has |v| <= |M| + sigma and |d| falls for sigma > s. Then one root found by
/// Newton's method is the answer; else all roots are isolated between the extrema of the quartic.
///
/// A block that is singular to rounding is solved as S + 1e-12 tr(S): the impulse found fulfils the
/// law for S itself up to 1e-12 |S||p|, and of sticking impulses that S leaves open the shortest is
/// taken.
#include "law/coulomb.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/// A pivot below this part of its diagonal element is rounding.
static const double DEFINITE = 1e-14;
/// Share of its trace that is added to a block without an inverse.
static const double REGULAR = 1e-12;
/// A normal response below this part of its terms has lost digits.
static const double CANCELLED = 1e-3;
/// Velocities relative to |f| + |S||p|: what a linear solve and Newton's method reach at once; what
/// is good enough to choose between solutions; what is still called a solution.
static const double SHARP = 1e-14, GOOD = 1e-12, FOUND = 1e-10;

/// The block in the contact frame: axis 0 is n, then the tangents.
typedef struct local_block {
    double frame[3][3]; ///< rows: n, t1, t2 in world axes
    double S[3][3];
    double f[3];           ///< free velocity with the bias added to the normal part
    double mu;             ///< > 0
    double size_S, size_f; ///< sums of magnitudes that bound |S| and |f|
} local_block;

/// A sliding or sticking impulse in the contact frame and how well it fulfils the law.
typedef struct candidate {
    double p[3];
    double violation; ///< relative to |f| + |S||p|
    double power;     ///< dissipation
} candidate;

// ---- inverse -----------------------------------------------------------------------------------

static ALWAYS_INLINE bool invert(const int dim, const double* S, double* inverse)
{
    double L[3][3] = {{0}}, K[3][3] = {{0}}; // K = L^-1
    for (int k = 0; k < dim * dim; k++) inverse[k] = 0.0;
    // Cholesky's factor L, if S is positive definite to rounding.
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = S[i * dim + j];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j) {
                if (!(sum > DEFINITE * S[i * dim + i])) return false;
                L[i][i] = sqrt(sum);
            } else {
                L[i][j] = sum / L[j][j];
            }
        }
    }
    for (int j = 0; j < dim; j++) {
        K[j][j] = 1.0 / L[j][j];
        for (int i = j + 1; i < dim; i++) {
            double sum = 0.0;
            for (int k = j; k < i; k++) sum -= L[i][k] * K[k][j];
            K[i][j] = sum / L[i][i];
        }
    }
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            for (int k = i > j ? i : j; k < dim; k++) inverse[i * dim + j] += K[k][i] * K[k][j];
        }
    }
    return true;
}

bool coulomb_block_inverse(int dim, const double* S, double* inverse)
{
    return dim == 2 ? invert(2, S, inverse) : invert(3, S, inverse);
}

// ---- frame -------------------------------------------------------------------------------------

// ---- candidates --------------------------------------------------------------------------------

/// The better of two: among good ones the more dissipative, else the smaller violation.
static bool better(const candidate* x, const candidate* y)
{
    if (x->violation <= GOOD && y->violation <= GOOD) return x->power > y->power;
    return x->violation < y->violation;
}

static ALWAYS_INLINE candidate no_candidate(void)
{
    return (candidate){.p = {0.0, 0.0, 0.0}, .violation = HUGE_VAL, .power = 0.0};
}

/// Sliding against the unit tangent d. Where friction nearly cancels the normal response D, u_n
/// hardly depends on the normal impulse r and the slip across d knows it better: then r makes both
/// small together, (f_n, d x f_t) + r (D, y) = 0.
static ALWAYS_INLINE candidate judge(const int dim, const local_block* b, const double* d)
{
    candidate c = no_candidate();
    double response[3], u[3], z[3] = {1.0, b->mu * d[0], dim == 3 ? b->mu * d[1] : 0.0};
    for (int i = 0; i < dim; i++) response[i] = vec_dot(dim, b->S[i], z);
    double D = response[0], r = -b->f[0] / D;
    if (dim == 3 && D < CANCELLED * b->size_S * (1.0 + b->mu)) {
        double y = d[0] * response[2] - d[1] * response[1], x = d[0] * b->f[2] - d[1] * b->f[1];
        r = -(b->f[0] * D + x * y) / (D * D + y * y);
    }
    if (!(r > 0.0 && r < HUGE_VAL)) return c;
    for (int i = 0; i < dim; i++) u[i] = b->f[i] + r * response[i];
    double along = d[0] * u[1], across = 0.0;
    if (dim == 3) {
        along += d[1] * u[2];
        across = fabs(d[0] * u[2] - d[1] * u[1]);
    }
    double size = b->size_f + b->size_S * r * (1.0 + b->mu);
    double worst = fabs(u[0]) > across ? fabs(u[0]) : across;
    if (along > worst) worst = along;
    for (int i = 0; i < dim; i++) c.p[i] = r * z[i];
    c.violation = worst / size;
    c.power = -along * r;
    return c;
}

/// The sticking impulse `p` (contact frame), cut back to the cone: the answer on its edge, where
/// rounding hides the slip.
static candidate judge_stick(int dim, const local_block* b, const double* p)
{
    candidate c = no_candidate();
    if (!(p[0] > 0.0)) return c;
    double rub = vec_norm(dim - 1, p + 1), bound = b->mu * p[0], size = b->size_f, u = 0.0;
    for (int i = 0; i < dim; i++) c.p[i] = p[i] * (i > 0 && rub > bound ? bound / rub : 1.0);
    for (int i = 0; i < dim; i++) {
        u = fmax(u, fabs(b->f[i] + vec_dot(dim, b->S[i], c.p)));
        size += b->size_S * fabs(c.p[i]);
    }
    c.violation = u / size;
    return c;
}

/// No friction at all: the answer where the bodies hardly approach, f_n being rounding of f_t, so
/// that friction is too.
static candidate judge_faint(const local_block* b)
{
    candidate c = no_candidate();
    if (!(b->S[0][0] > 0.0)) return c;
    c.p[0] = -b->f[0] / b->S[0][0];
    double friction = b->size_S * b->mu * c.p[0];
    c.violation = friction / (b->size_f + b->size_S * c.p[0] + friction);
    return c;
}

// ---- the angle of sliding ----------------------------------------------------------------------

/// F = d x (M d - v) and what makes its root unique.
typedef struct slip_angle {
    double M[2][2], v[2];
    double size; ///< bounds the terms of F
} slip_angle;

static ALWAYS_INLINE slip_angle slip_angle_of(const local_block* b)
{
    slip_angle s;
    double square = 0.0;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            s.M[i][j] = b->mu * (b->f[i + 1] * b->S[0][j + 1] - b->f[0] * b->S[i + 1][j + 1]);
            square += s.M[i][j] * s.M[i][j];
        }
        s.v[i] = b->f[0] * b->S[i + 1][0] - b->S[0][0] * b->f[i + 1];
    }
    s.size = sqrt(square) + vec_norm(2, s.v);
    return s;
}

/// Is there surely one slip only? See the head of the file.
static ALWAYS_INLINE bool slip_is_unique(const slip_angle* s)
{
    double half = 0.5 * (s->M[0][0] + s->M[1][1]), shear = 0.5 * (s->M[0][1] + s->M[1][0]);
    double difference = 0.5 * (s->M[0][0] - s->M[1][1]);
    double radius = sqrt(difference * difference + shear * shear), least = half - radius;
    if (least > 0.0) return true;
    double v = vec_norm(2, s->v);
    return v > (s->size - v) - least;
}

/// Newton's method on the angle from d, turning it by the step's tangent; false if it did not come
/// to rest. The derivative is sigma + d'.M d' with d' at right angles to d.
static ALWAYS_INLINE bool turn_to_root(const slip_angle* s, int steps, double* d)
{
    for (int i = 0; i < steps; i++) {
        double m0 = s->M[0][0] * d[0] + s->M[0][1] * d[1] - s->v[0];
        double m1 = s->M[1][0] * d[0] + s->M[1][1] * d[1] - s->v[1];
        double F = d[0] * m1 - d[1] * m0;
        double k0 = s->M[0][1] * d[0] - s->M[0][0] * d[1];
        double k1 = s->M[1][1] * d[0] - s->M[1][0] * d[1];
        double slope = d[0] * k1 - d[1] * k0 - (d[0] * m0 + d[1] * m1);
        double step = -F / slope;
        if (!(fabs(step) < 1.0)) step = copysign(1.0, F) * (slope > 0.0 ? -1.0 : 1.0);
        double x = d[0] - step * d[1], y = d[1] + step * d[0];
        double length = 1.0 / sqrt(x * x + y * y);
        d[0] = x * length;
        d[1] = y * length;
        if (fabs(step) < 1e-8) return true;
    }
    return false;
}

// ---- all roots ---------------------------------------------------------------------------------

static double polynomial(int degree, const double* c, double t)
{
    double sum = c[degree];
    for (int k = degree - 1; k >= 0; k--) sum = sum * t + c[k];
    return sum;
}

/// The root between low and high, where the polynomial is monotonic and changes its sign: Newton's
/// method, with a bisection whenever it leaves the bracket or is slow.
static double bracketed_root(int degree, const double* c, const double* slope, double low,
                             double high)
{
    bool rising = polynomial(degree, c, high) > 0.0;
    double t = 0.5 * (low + high), last = high - low;
    for (int i = 0; i < 100; i++) {
        double value = polynomial(degree, c, t);
        if (value == 0.0) return t;
        if ((value > 0.0) == rising) {
            high = t;
        } else {
            low = t;
        }
        double next = t - value / polynomial(degree - 1, slope, t);
        if (!(next > low && next < high) || fabs(next - t) > 0.5 * last) next = 0.5 * (low + high);
        last = fabs(next - t);
        t = next;
        if (last <= DBL_EPSILON) break;
    }
    return t;
}

/// Real roots in [-1, 1] in rising order, isolated by the roots of the derivative, which are put
/// behind them in `extrema` (NULL: not wanted). Degree at most 4.
static int roots_of(int degree, const double* c, double* roots, double* extrema,
                    int* extremum_count)
{
    double slope[4], turning[5];
    int turns = 0, count = 0;
    for (int k = 1; k <= degree; k++) slope[k - 1] = k * c[k];
    if (degree > 1) turns = roots_of(degree - 1, slope, turning, NULL, NULL);
    if (extrema) {
        memcpy(extrema, turning, (size_t)turns * sizeof(double));
        *extremum_count = turns;
    }
    turning[turns++] = 1.0;
    double low = -1.0, at_low = polynomial(degree, c, low);
    for (int i = 0; i < turns; i++) {
        double high = turning[i], at_high = polynomial(degree, c, high);
        if (at_low == 0.0) {
            roots[count++] = low;
        } else if ((at_low < 0.0) != (at_high < 0.0) && at_high != 0.0) {
            roots[count++] = bracketed_root(degree, c, slope, low, high);
        }
        low = high, at_low = at_high;
    }
    return count;
}

/// Judge the direction at t, as it is and turned to the root near it.
static void try_direction(const local_block* b, const slip_angle* s, double side, double t,
                          candidate* best)
{
    double scale = side / (1.0 + t * t), d[2] = {(1.0 - t * t) * scale, 2.0 * t * scale};
    candidate c = judge(3, b, d);
    if (better(&c, best)) *best = c;
    turn_to_root(s, 3, d);
    c = judge(3, b, d);
    if (better(&c, best)) *best = c;
}

/// The best slip of all. An extremum that touches zero is a double root, or a pair of roots that
/// rounding has lifted off: it is judged like a root.
static void slide_anywhere(const local_block* b, const slip_angle* s, candidate* best)
{
    for (int half = 0; half < 2; half++) {
        double side = half == 0 ? 1.0 : -1.0, c[5], roots[5], extrema[5];
        int turns = 0;
        // F times (1 + t^2)^2 as a quartic in t = tan(angle/2), for the half circle about +t1 or
        // -t1.
        double e0 = 0.5 * (s->M[1][0] - s->M[0][1]), e1 = 0.5 * (s->M[1][0] + s->M[0][1]);
        double e2 = 0.5 * (s->M[1][1] - s->M[0][0]), v0 = side * s->v[0], v1 = side * s->v[1];
        c[0] = e0 + e1 - v1;
        c[1] = 4.0 * e2 + 2.0 * v0;
        c[2] = 2.0 * e0 - 6.0 * e1;
        c[3] = 2.0 * v0 - 4.0 * e2;
        c[4] = e0 + e1 + v1;
        int count = roots_of(4, c, roots, extrema, &turns);
        for (int i = 0; i < count; i++) try_direction(b, s, side, roots[i], best);
        for (int i = 0; i < turns; i++) {
            if (fabs(polynomial(4, c, extrema[i])) > 1e-8 * s->size) continue;
            try_direction(b, s, side, extrema[i], best);
        }
    }
}

static ALWAYS_INLINE candidate slide_3d(const local_block* b, const double* start)
{
    candidate best = no_candidate();
    slip_angle s = slip_angle_of(b);
    double length = vec_norm(2, start), d[2] = {start[0] / length, start[1] / length};
    if (length > 0.0 && slip_is_unique(&s) && turn_to_root(&s, 12, d)) best = judge(3, b, d);
    if (!(best.violation <= SHARP)) {
        best = no_candidate();
        slide_anywhere(b, &s, &best);
    }
    return best;
}

static ALWAYS_INLINE candidate slide_2d(const local_block* b)
{
    const double left = -1.0, right = 1.0;
    candidate x = judge(2, b, &left), y = judge(2, b, &right);
    return better(&x, &y) ? x : y;
}

// ---- one contact -------------------------------------------------------------------------------

/// Impulse that stops the contact. The inverse of a nearly singular block leaves some velocity
/// over, which is taken away again until it is rounding; false if that does not succeed.
static ALWAYS_INLINE bool stick_impulse(const int dim, const double* S, const double* inverse,
                                        const double* f, double* p)
{
    double size_S = 0.0, size_f = 0.0, u[3];
    for (int k = 0; k < dim; k++) {
        p[k] = 0.0;
        u[k] = f[k];
        size_S += S[k * dim + k];
        size_f += fabs(f[k]);
    }
    for (int i = 0; i < 10; i++) {
        double left = 0.0, size_p = 0.0;
        for (int k = 0; k < dim; k++) {
            p[k] -= vec_dot(dim, inverse + k * dim, u);
            size_p += fabs(p[k]);
        }
        for (int k = 0; k < dim; k++) {
            u[k] = f[k] + vec_dot(dim, S + k * dim, p);
            left += fabs(u[k]);
        }
        if (left <= SHARP * (size_f + size_S * size_p)) return true;
    }
    return false;
}

/// Sliding, after sticking with the impulse `stick` (world axes) was refused.
static ALWAYS_INLINE bool slide(const int dim, const double* S, const double* n, double bias,
                                double mu, const double* free, const double* guess,
                                const double* stick, double* p)
{
    local_block b;
    vec_frame(dim, n, b.frame);
    b.mu = mu;
    b.size_S = b.size_f = 0.0;
    for (int j = 0; j < dim; j++) {
        double column[3];
        for (int k = 0; k < dim; k++) column[k] = vec_dot(dim, S + k * dim, b.frame[j]);
        for (int i = 0; i <= j; i++) {
            b.S[i][j] = b.S[j][i] = vec_dot(dim, b.frame[i], column);
        }
        b.f[j] = vec_dot(dim, b.frame[j], free) + (j == 0 ? bias : 0.0);
        b.size_S += b.S[j][j];
        b.size_f += fabs(b.f[j]);
    }
    double sticking[3], start[2];
    for (int i = 0; i < dim; i++) sticking[i] = vec_dot(dim, b.frame[i], stick);
    for (int i = 0; i < dim - 1; i++) {
        start[i] = guess ? vec_dot(dim, b.frame[i + 1], guess) : sticking[i + 1];
    }
    candidate best = dim == 2 ? slide_2d(&b) : slide_3d(&b, start);
    if (!(best.violation <= GOOD)) {
        candidate edge = judge_stick(dim, &b, sticking), faint = judge_faint(&b);
        if (edge.violation < best.violation) best = edge;
        if (faint.violation < best.violation) best = faint;
    }
    for (int k = 0; k < dim; k++) {
        p[k] = 0.0;
        for (int i = 0; i < dim; i++) p[k] += best.p[i] * b.frame[i][k];
    }
    return best.violation <= FOUND;
}

static ALWAYS_INLINE bool solve(const int dim, const double* S, const double* inverse,
                                const double* n, double bias, double mu, const double* free,
                                const double* guess, double* p)
{
    double f[3], normal = 0.0, tt = 0.0;
    for (int k = 0; k < dim; k++) f[k] = free[k] + bias * n[k];
    bool stops = stick_impulse(dim, S, inverse, f, p);
    normal = vec_dot(dim, p, n);
    for (int k = 0; k < dim; k++) tt += (p[k] - normal * n[k]) * (p[k] - normal * n[k]);
    if (stops && normal > 0.0 && tt <= mu * mu * normal * normal) return true;
    double stick[3];
    vec_copy(dim, stick, p);
    return slide(dim, S, n, bias, mu, free, guess, stick, p);
}

/// A contact that needs an impulse and whose block has no inverse.
static bool solve_singular(int dim, const double* S, const double* n, double bias, double mu,
                           const double* free, double* p)
{
    double regular[9], inverse[9], trace = 0.0;
    memcpy(regular, S, (size_t)(dim * dim) * sizeof(double));
    for (int k = 0; k < dim; k++) trace += S[k * dim + k];
    for (int k = 0; k < dim; k++) regular[k * dim + k] += REGULAR * trace;
    if (!coulomb_block_inverse(dim, regular, inverse)) return false;
    return dim == 2 ? solve(2, regular, inverse, n, bias, mu, free, NULL, p)
                    : solve(3, regular, inverse, n, bias, mu, free, NULL, p);
}

bool coulomb_block(int dim, const double* S, const double* inverse, const double* n, double bias,
                   double mu, const double* free, const double* guess, double* p)
{
    double approach = vec_dot(dim, free, n) + bias;
    for (int k = 0; k < dim; k++) p[k] = 0.0;
    if (approach >= 0.0) return true; // open
    if (mu == 0.0) {
        double response = 0.0;
        for (int k = 0; k < dim; k++) response += n[k] * vec_dot(dim, S + k * dim, n);
        if (!(response > 0.0)) return false;
        for (int k = 0; k < dim; k++) p[k] = -approach / response * n[k];
        return true;
    }
    if (!(inverse[0] > 0.0)) return solve_singular(dim, S, n, bias, mu, free, p);
    return dim == 2 ? solve(2, S, inverse, n, bias, mu, free, guess, p)
                    : solve(3, S, inverse, n, bias, mu, free, guess, p);
}
