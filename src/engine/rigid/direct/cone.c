/// Interior point method in the cones of friction, for contacts that push, slide and hold and do
/// nothing else.
///
/// It is the method of reduced/interior.c (which says what x, y, T and theta are), with the bodies
/// left in. There a step is (A + T^2) dx = b over the contacts, A = B W/d^2 with the responses W =
/// J J^T of all contacts to each other and a block B of every contact that adds the sliding to its
/// opening. Here
///     z = J^T p,   p = x/d:      dx = T^-2 (b - B J dz/d),      (1 + J^T D J) dz = J^T T^-2 b/d
/// with D = T^-2 B/d^2: a matrix over the bodies, as that of the other direct methods. Contacts are
/// more than bodies, twice as many in a packing of disks and five times as many in a wall of
/// bricks, and far more coupled.
///
/// A bond is three half-lines more. The impulse of its contact is a push, a pull and friction
/// within mu times (push - pull + bond), where
///     push >= 0,     pull >= 0,     bond - pull >= 0
/// are cones of one component with velocities of their own. So the places a of a contact in its
/// cones are a = G x + g, with a row of G for each component of a cone; the velocities of its
/// impulses have to be G^T y, and (G^T T^2 G)^-1 stands for T^-2. Without a bond G is 1 and g is 0.
///
/// interior.c has the whole derivative of the bounds of friction in its matrix and comes to a halt
/// where many contacts begin to slide; here theta says how much of that of sliding is trusted.
#include "rigid/direct/methods.h"

#include "rigid/reduced/cone.h"

#include <stdlib.h>
#include <string.h>

/// Squared change that single contacts would make, over |y|^2, at which it is enough.
static const double ENOUGH = 1e-15;
/// Steps without progress after which theta is halved, however long they are: with all of the
/// derivative the path may turn back, as it did in steps of falling walls (scenes/masonry: 6 of 32
/// were not solved without that; of 4, 8, 10, 12, 16 and 20 steps 16 and 20 solved all of 69).
enum { IDLE = 16 };

/// The half-lines of a bond, behind the cone of friction of its contact.
enum { PUSH_LINE, PULL_LINE, ROOM_LINE, BOND_LINES };
/// Most components of a contact's impulse here: push, friction, hold.
enum { MOST_HERE = 4 };
/// The part of its strength that a bond begins away from bearing nothing and from breaking, at
/// least, and the largest part of its bound with which its friction begins.
static const double BEGIN_ROOM = 0.1, BEGIN_FRICTION = 0.7;

/// One of the cones.
typedef struct direct_cone {
    int64_t at; ///< its first place
    int width;
} direct_cone;

struct direct_cones {
    direct_cluster* s;
    cone_progress progress;
    int64_t places, count;
    direct_cone* cone; ///< [count] those of a contact follow each other
    int64_t* own;      ///< [contacts] number of its first cone
    double* d;         ///< [components] x = d p
    double *x, *dx;    ///< [components] impulses, and their step
    double *a, *da;    ///< [places] G x + g, inside the cones
    double *y, *dy;    ///< [places] what the velocities are made of, inside the cones
    double* l;         ///< [places] T a
    double *axis, *e;  ///< [places], [count] T = e (2 axis axis^T - J)^1/2
    double* second;    ///< [places] second order of a o y
    double* w;         ///< [components] velocities of x
    double* along;     ///< [components] theta times the direction of sliding, in tangential places
    double* aim;       ///< [components] G^T y of w
    double* off;       ///< [components] aim less G^T y
    double* right;     ///< [components] of the linear system
    double *p, *next;  ///< [components] impulses, and what contacts would change them to
    double *z, *dz;    ///< [bodies][width] motion
    double *D, *inverse; ///< [squares] (G^T T^2 G)^-1 of bonds
    double* best;        ///< [components] the best impulses, and what they leave to be changed:
    double best_left;
    int64_t begin; ///< factorisations before it began
    bool ended;
};

bool direct_has_cones(const direct_cluster* s)
{
    for (int64_t i = 0; i < s->count; i++) {
        const direct_part* part = s->contact[i].part;
        if (part[ROLL].count || part[TWIST].count) return false;
    }
    return true;
}

// ---- a contact and its cones -------------------------------------------------------------------

/// Components of its cone of friction.
static inline int friction_width(const direct_contact* c)
{
    return 1 + c->part[SLIDE].count;
}

/// Where its hold is among its components; 0 if it has none.
static inline int hold_of(const direct_contact* c)
{
    return c->part[HOLD].count ? c->part[HOLD].first : 0;
}

/// a = G x, without g.
static void places_of(const direct_contact* c, const double* x, double* a)
{
    const int n = friction_width(c), hold = hold_of(c);
    vec_copy(n, a, x);
    if (!hold) return;
    a[0] += x[hold];
    a[n + PUSH_LINE] = x[0];
    a[n + PULL_LINE] = -x[hold];
    a[n + ROOM_LINE] = x[hold];
}

/// out = G^T y
static void from_places(const direct_contact* c, const double* y, double* out)
{
    const int n = friction_width(c), hold = hold_of(c);
    vec_copy(n, out, y);
    if (!hold) return;
    out[0] += y[n + PUSH_LINE];
    out[hold] = y[0] - y[n + PULL_LINE] + y[n + ROOM_LINE];
}

/// Add to the velocities that push, and hold, what they open with: `more`.
static inline void add_opening(const direct_contact* c, double more, double* w)
{
    w[0] += more;
    if (hold_of(c)) w[hold_of(c)] += more;
}

/// The inverse of a positive matrix a [n][n], from its Cholesky factor.
static void invert(int n, double* a)
{
    double L[MOST_HERE][MOST_HERE] = {{0.0}}, inverse[MOST_HERE][MOST_HERE] = {{0.0}};
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    }
    for (int j = 0; j < n; j++) { // L^-1
        for (int i = j; i < n; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = j; k < i; k++) sum -= L[i][k] * inverse[k][j];
            inverse[i][j] = sum / L[i][i];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = i > j ? i : j; k < n; k++) sum += inverse[k][i] * inverse[k][j];
            a[i * n + j] = sum;
        }
    }
}

/// The first place of contact i.
static inline int64_t first_place(const direct_cones* t, int64_t i)
{
    return t->cone[t->own[i]].at;
}

/// out = T^2 a of cone k.
static void scale_twice(const direct_cones* t, int64_t k, const double* a, double* out)
{
    const direct_cone* of = &t->cone[k];
    double once[3];
    cone_scale(of->width, t->axis + of->at, t->e[k], a, once);
    cone_scale(of->width, t->axis + of->at, t->e[k], once, out);
}

/// The inverse of G^T T^2 G of contact i, which has a bond.
static void find_inverse(const direct_cones* t, int64_t i)
{
    const direct_contact* c = &t->s->contact[i];
    double* H = t->inverse + c->square;
    for (int m = 0; m < c->count; m++) {
        double unit[MOST_HERE] = {0.0}, column[MOST_HERE], a[3 + BOND_LINES], b[3 + BOND_LINES];
        unit[m] = 1.0;
        places_of(c, unit, a);
        for (int64_t k = t->own[i]; k <= t->own[i] + BOND_LINES; k++) {
            const int64_t at = t->cone[k].at - first_place(t, i);
            scale_twice(t, k, a + at, b + at);
        }
        from_places(c, b, column);
        for (int j = 0; j < c->count; j++) H[j * c->count + m] = column[j];
    }
    invert(c->count, H);
}

/// out = (G^T T^2 G)^-1 a of contact i.
static void unscale(const direct_cones* t, int64_t i, const double* a, double* out)
{
    const direct_contact* c = &t->s->contact[i];
    if (hold_of(c)) {
        for (int m = 0; m < c->count; m++) {
            out[m] = vec_dot(c->count, t->inverse + c->square + m * c->count, a);
        }
    } else {
        const double *axis = t->axis + first_place(t, i), e = t->e[t->own[i]];
        double once[3];
        cone_unscale(c->count, axis, e, a, once);
        cone_unscale(c->count, axis, e, once, out);
    }
}

// ---- a step ------------------------------------------------------------------------------------

/// Velocities of x, and what G^T y should be.
static void find_aim(direct_cones* t)
{
    const direct_cluster* s = t->s;
    for (int64_t k = 0; k < s->components; k++) t->p[k] = t->x[k] / t->d[k];
    direct_motion(s, t->p, t->z);
    direct_velocities(s, t->z, t->w);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double *aim = t->aim + c->first, *along = t->along + c->first;
        for (int k = 0; k < c->count; k++) aim[k] = t->w[c->first + k] / t->d[c->first + k];
        const double length = cone_length(friction_width(c), aim);
        add_opening(c, length, aim);
        for (int k = 1; k < friction_width(c); k++) {
            along[k] = length > 0.0 ? t->progress.theta * aim[k] / length : 0.0;
        }
    }
}

/// T of all cones, and l; returns the smallest of the products l o l.
static double find_scales(direct_cones* t)
{
    double least = INFINITY;
    for (int64_t k = 0; k < t->count; k++) {
        const int64_t at = t->cone[k].at;
        const int n = t->cone[k].width;
        t->e[k] = cone_scaling(n, t->a + at, t->y + at, t->axis + at);
        cone_scale(n, t->axis + at, t->e[k], t->a + at, t->l + at);
        least = fmin(least, cone_inside(n, t->l + at));
    }
    return least;
}

static bool factorise(direct_cones* t)
{
    const direct_cluster* s = t->s;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double *d = t->d + c->first, *along = t->along + c->first;
        double* D = t->D + c->square;
        if (hold_of(c)) find_inverse(t, i);
        for (int k = 0; k < c->count; k++) { // column k of (G^T T^2 G)^-1 B
            double column[MOST_HERE] = {0.0}, out[MOST_HERE];
            column[k] = 1.0;
            if (k > 0 && k < friction_width(c)) add_opening(c, along[k], column);
            unscale(t, i, column, out);
            for (int m = 0; m < c->count; m++) D[m * c->count + k] = out[m] / (d[m] * d[k]);
        }
    }
    return direct_factorise(t->s, t->D, false);
}

/// Solve (A + G^T T^2 G) dx = right.
static void solve_system(direct_cones* t)
{
    const direct_cluster* s = t->s;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t at = s->contact[i].first;
        unscale(t, i, t->right + at, t->p + at);
    }
    for (int64_t k = 0; k < s->components; k++) t->p[k] /= t->d[k];
    direct_motion(s, t->p, t->dz);
    reduced_factor_solve(s->factor, t->dz);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double* right = t->right + c->first;
        double dw[MOST_COMPONENTS];
        direct_velocity_change(s, c, t->dz, dw);
        for (int k = 0; k < c->count; k++) dw[k] /= t->d[c->first + k];
        add_opening(c, vec_dot(c->part[SLIDE].count, t->along + c->first + 1, dw + 1), dw);
        for (int k = 0; k < c->count; k++) dw[k] = right[k] - dw[k];
        unscale(t, i, dw, t->dx + c->first);
    }
}

/// Put the step towards a o y = tau, with the second order of it if `second`.
static void find_step(direct_cones* t, double tau, bool second)
{
    const direct_cluster* s = t->s;
    for (int64_t k = 0; k < t->count; k++) {
        const int64_t at = t->cone[k].at;
        const int n = t->cone[k].width;
        double m[3];
        cone_towards(n, t->l + at, tau, second ? t->second + at : NULL, m);
        cone_scale(n, t->axis + at, t->e[k], m, t->dy + at);
    }
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double* right = t->right + c->first;
        from_places(c, t->dy + first_place(t, i), right);
        for (int k = 0; k < c->count; k++) right[k] -= t->off[c->first + k];
    }
    solve_system(t);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        places_of(c, t->dx + c->first, t->da + first_place(t, i));
    }
    for (int64_t k = 0; k < t->count; k++) {
        const int64_t at = t->cone[k].at;
        double twice[3];
        scale_twice(t, k, t->da + at, twice);
        for (int m = 0; m < t->cone[k].width; m++) t->dy[at + m] -= twice[m];
    }
}

/// The largest share of the step that stays inside all cones.
static double reach_of_all(const direct_cones* t)
{
    double share = INFINITY;
    for (int64_t k = 0; k < t->count; k++) {
        const int64_t at = t->cone[k].at;
        const int n = t->cone[k].width;
        share = fmin(share, cone_reach(n, t->a + at, t->da + at));
        share = fmin(share, cone_reach(n, t->y + at, t->dy + at));
    }
    return share;
}

/// Second order of a o y in the step, times `weight`.
static void find_second_order(direct_cones* t, double weight)
{
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t at = t->cone[i].at;
        const int n = t->cone[i].width;
        double a[3], b[3], *out = t->second + at;
        cone_scale(n, t->axis + at, t->e[i], t->da + at, a);
        cone_unscale(n, t->axis + at, t->e[i], t->dy + at, b);
        out[0] = weight * vec_dot(n, a, b);
        for (int k = 1; k < n; k++) out[k] = weight * (a[0] * b[k] + b[0] * a[k]);
    }
}

/// One step from x and y, whose w is known; returns its length, 0 if there is none. *tau receives
/// the mean of a o y before it.
static double step(direct_cones* t, bool first, double* tau)
{
    const direct_cluster* s = t->s;
    const double count = (double)t->count;
    double mean = 0.0, off = 0.0, hoped = 0.0;
    for (int64_t k = 0; k < t->places; k++) mean += t->a[k] * t->y[k] / count;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double made[MOST_HERE];
        from_places(c, t->y + first_place(t, i), made);
        for (int k = 0; k < c->count; k++) t->off[c->first + k] = t->aim[c->first + k] - made[k];
        off += t->a[first_place(t, i)] * vec_norm(c->count, t->off + c->first) / count;
    }
    *tau = mean;
    const double least = find_scales(t);
    if (!factorise(t)) return 0.0;
    find_step(t, 0.0, false);
    const double far = fmin(1.0, reach_of_all(t));
    for (int64_t k = 0; k < t->places; k++) {
        hoped += (t->a[k] + far * t->da[k]) * (t->y[k] + far * t->dy[k]) / count;
    }
    const bool to_the_middle = !first && cone_is_off(mean, least, off);
    find_second_order(t, to_the_middle ? 0.0 : far);
    find_step(t, to_the_middle ? mean : cone_fall(mean, hoped) * mean, true);
    const double share = cone_share(reach_of_all(t));
    for (int64_t k = 0; k < s->components; k++) t->x[k] += share * t->dx[k];
    for (int64_t k = 0; k < t->places; k++) {
        t->a[k] += share * t->da[k];
        t->y[k] += share * t->dy[k];
    }
    return isfinite(share) ? share : 0.0;
}

// ---- begin and end -----------------------------------------------------------------------------

/// Impulses of a bonded contact, moved to where its cones have room: pushes as far as `in_x`.
static void make_room(const direct_cones* t, const direct_contact* c, double in_x)
{
    double* x = t->x + c->first;
    const int n = friction_width(c), hold = hold_of(c);
    const double bond = t->d[c->first] * c->bond, room = fmin(in_x, BEGIN_ROOM * bond);
    x[0] += in_x;
    x[hold] = fmin(fmax(x[hold], room - bond), -room);
    const double size = cone_length(n, x), most = BEGIN_FRICTION * (x[0] + x[hold] + bond);
    for (int k = 1; k < n && size > most; k++) x[k] *= most / size;
}

/// x and y of the impulses p, moved into their cones as far as they are large in the mean.
static void start(direct_cones* t, const double* p)
{
    const direct_cluster* s = t->s;
    double x2 = 0.0, y2 = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const bool rough = c->part[SLIDE].count > 0;
        for (int k = 0; k < c->count; k++) {
            const double root = 1.0 / sqrt(c->mass[rough ? 1 : 0]);
            const int64_t at = c->first + k;
            const bool normal = k == 0 || k == hold_of(c);
            t->d[at] = normal && rough ? c->mu * root : root;
            t->x[at] = t->d[at] * p[at];
            x2 += t->x[at] * t->x[at];
            y2 += s->w_free[at] / t->d[at] * (s->w_free[at] / t->d[at]);
        }
    }
    find_aim(t);
    const double in_x = sqrt(x2 / (double)s->count), in_y = sqrt(y2 / (double)s->count);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const int n = friction_width(c), hold = hold_of(c);
        double *x = t->x + c->first, *a = t->a + first_place(t, i), *y = t->y + first_place(t, i);
        const double* aim = t->aim + c->first;
        vec_copy(n, y, aim);
        if (hold) {
            const double bond = t->d[c->first] * c->bond;
            make_room(t, c, in_x);
            places_of(c, x, a);
            a[0] += bond;
            a[n + ROOM_LINE] += bond;
            y[n + PUSH_LINE] = in_y;
            y[n + PULL_LINE] = fmax(-aim[hold], 0.0) + in_y;
            y[n + ROOM_LINE] = fmax(aim[hold], 0.0) + in_y;
        } else {
            x[0] = fmax(x[0], cone_length(n, x)) + in_x;
            places_of(c, x, a);
        }
        y[0] = fmax(y[0], cone_length(n, y)) + in_y;
    }
}

/// Keep the impulses that contacts would change to from x, each alone, if less would change than
/// with those kept; true if it is enough.
static bool keep_better(direct_cones* t)
{
    const direct_cluster* s = t->s;
    double left = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const int n = friction_width(c), hold = hold_of(c);
        double *p = t->p + c->first, *w = t->w + c->first, *next = t->next + c->first;
        for (int k = 0; k < c->count; k++) next[k] = p[k] - c->mass[k] * w[k];
        next[0] = fmax(next[0], 0.0);
        if (hold) next[hold] = fmin(fmax(next[hold], -c->bond), 0.0);
        const double size = cone_length(n, next), most = c->mu * direct_base(c, next);
        const double cut = size > most ? most / size : 1.0;
        for (int k = 1; k < n; k++) next[k] *= cut;
        for (int k = 0; k < c->count; k++) left += (p[k] - next[k]) * (p[k] - next[k]) / c->mass[k];
    }
    if (left < t->best_left) {
        t->best_left = left;
        memcpy(t->best, t->next, sizeof(double) * (size_t)s->components);
    }
    return left <= ENOUGH * direct_dot(s->bodies * s->width, t->z, t->z);
}

/// The cones of all contacts.
static void list_cones(direct_cones* t)
{
    const direct_cluster* s = t->s;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        t->own[i] = t->count;
        for (int k = 0; k <= (hold_of(c) ? BOND_LINES : 0); k++) {
            t->cone[t->count] = (direct_cone){t->places, k == 0 ? friction_width(c) : 1};
            t->places += t->cone[t->count++].width;
        }
    }
}

direct_cones* direct_cones_new(direct_cluster* s, const double* p, double trust)
{
    const int64_t m = s->components, n = s->bodies * s->width;
    if (!direct_has_cones(s)) return NULL;
    direct_cones* t = malloc(sizeof *t);
    if (!t) return NULL;
    *t = (direct_cones){.s = s,
                        .progress = cone_progress_start(trust, IDLE),
                        .best_left = INFINITY,
                        .begin = s->factorisations};
    t->own = malloc(sizeof *t->own * (size_t)(s->count + 1));
    t->cone = malloc(sizeof *t->cone * (size_t)(s->count * (1 + BOND_LINES) + 1));
    if (t->own && t->cone) {
        list_cones(t);
        t->d = calloc((size_t)(11 * m + 7 * t->places + t->count + 2 * n + 2 * s->squares + 1),
                      sizeof(double));
    }
    if (!t->d) {
        direct_cones_free(t);
        return NULL;
    }
    double* at = t->d;
    double** const of_components[] = {&t->d,   &t->x,   &t->dx,    &t->w, &t->along,
                                      &t->aim, &t->off, &t->right, &t->p, &t->next};
    double** const of_places[] = {&t->a, &t->da, &t->y, &t->dy, &t->l, &t->axis, &t->second};
    for (size_t i = 0; i < sizeof of_components / sizeof *of_components; i++, at += m) {
        *of_components[i] = at;
    }
    for (size_t i = 0; i < sizeof of_places / sizeof *of_places; i++, at += t->places) {
        *of_places[i] = at;
    }
    t->best = at, at += m;
    t->e = at, at += t->count;
    t->z = at, at += n;
    t->dz = at, at += n;
    t->D = at, at += s->squares;
    t->inverse = at;
    start(t, p);
    find_aim(t);
    return t;
}

void direct_cones_free(direct_cones* t)
{
    if (!t) return;
    free(t->d);
    free(t->own);
    free(t->cone);
    free(t);
}

bool direct_cones_go(direct_cones* t, int64_t factorisations, double* p)
{
    direct_cluster* s = t->s;
    const int64_t last = s->factorisations + factorisations;
    while (s->factorisations < last && !t->ended) {
        double tau;
        const double share = step(t, s->factorisations < t->begin + CONE_FIRST_STEPS, &tau);
        t->ended = !(share > 0.0) || !isfinite(tau);
        if (t->ended) break;
        find_aim(t);
        t->ended = keep_better(t) || !cone_progress_next(&t->progress, share, tau);
    }
    if (isfinite(t->best_left)) memcpy(p, t->best, sizeof(double) * (size_t)s->components);
    return !t->ended;
}
