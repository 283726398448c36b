/// Distance and contact points of two convex polygons.
///
/// The difference polygon M = A - B has the sides of A and of -B in the order of their directions
/// (merge of two sorted lists, de Berg et al., Computational Geometry, 13.3). The cores overlap
/// where M holds the origin: the depth is the least distance of a side's line. Apart, their
/// distance is that of M from the origin. Both are found in one walk around M, of length n_a + n_b.
#include "geometry/convex_axis.h"

/// Corners of one polygon this much (of the pair's size) outside the other's side still count as
/// over it, so that flush stacks keep their names.
#define FLUSH 1e-6
/// Share of a side's length past its end where the origin still projects onto it.
#define END_SLACK 1e-12
/// Rounding of a gap, of the pair's size. The difference body of two parallel segments is flat: all
/// its sides have gaps of this order, and only where the origin projects onto one do they touch.
#define ROUNDING 1e-15

/// A walk around the difference polygon.
typedef struct walk {
    const convex_pair* p;
    int i, j;           ///< corners of a and b at the present corner of M
    int left_a, left_b; ///< sides not passed yet
    // The present side of M:
    axis_kind kind;
    int face;
    double from[2], side[2], normal[2];
    double gap;
} walk;

static int next_of(const convex* c, int i)
{
    return i + 1 == c->vertex_count ? 0 : i + 1;
}

/// The lowest corner of s * polygon, of equals the leftmost.
static int lowest(const convex* c, double s)
{
    int best = 0;
    for (int i = 1; i < c->vertex_count; i++) {
        const double *v = c->vertex + 2 * i, *w = c->vertex + 2 * best;
        if (s * v[1] < s * w[1] || (v[1] == w[1] && s * v[0] < s * w[0])) best = i;
    }
    return best;
}

static void side_of(const convex* c, int i, double s, double e[2])
{
    const double *v = c->vertex + 2 * i, *w = c->vertex + 2 * next_of(c, i);
    for (int k = 0; k < 2; k++) e[k] = s * (w[k] - v[k]);
}

/// Whether the direction is in [0, pi).
static bool upper(const double e[2])
{
    return e[1] > 0.0 || (e[1] == 0.0 && e[0] > 0.0);
}

static walk walk_begin(const convex_pair* p)
{
    walk w = {.p = p, .i = lowest(p->a, 1.0), .j = lowest(p->b, -1.0)};
    w.left_a = p->a->vertex_count > 1 ? p->a->vertex_count : 0;
    w.left_b = p->b->vertex_count > 1 ? p->b->vertex_count : 0;
    return w;
}

/// The present corner of M.
static void walk_corner(const walk* w, double m[2])
{
    for (int k = 0; k < 2; k++) {
        m[k] = w->p->a->vertex[2 * w->i + k] - (w->p->b->vertex[2 * w->j + k] + w->p->delta[k]);
    }
}

/// Steps over the next side; false when around.
static bool walk_next(walk* w)
{
    if (w->left_a == 0 && w->left_b == 0) return false;
    const convex *a = w->p->a, *b = w->p->b;
    double ea[2] = {0.0, 0.0}, eb[2] = {0.0, 0.0};
    bool from_a = w->left_b == 0;
    if (w->left_a > 0) side_of(a, w->i, 1.0, ea);
    if (w->left_b > 0) side_of(b, w->j, -1.0, eb);
    if (w->left_a > 0 && w->left_b > 0) {
        bool up_a = upper(ea), up_b = upper(eb);
        from_a = up_a != up_b ? up_a : ea[0] * eb[1] - ea[1] * eb[0] >= 0.0;
    }
    walk_corner(w, w->from);
    if (from_a) {
        w->kind = AXIS_FACE_A, w->face = w->i;
        vec_copy(2, w->side, ea);
        vec_copy(2, w->normal, a->normal + 2 * w->i);
    } else {
        w->kind = AXIS_FACE_B, w->face = w->j;
        vec_copy(2, w->side, eb);
        for (int k = 0; k < 2; k++) w->normal[k] = -b->normal[2 * w->j + k];
    }
    w->gap = -vec_dot(2, w->from, w->normal);
    if (from_a) {
        w->i = next_of(a, w->i), w->left_a--;
    } else {
        w->j = next_of(b, w->j), w->left_b--;
    }
    return true;
}

/// The axis of the side just passed. Before the step the other body stood at the same corner.
static void axis_of_side(const walk* w, axis* out)
{
    const convex *a = w->p->a, *b = w->p->b;
    const bool face_a = w->kind == AXIS_FACE_A;
    out->kind = w->kind;
    out->gap = w->gap;
    out->of_a = face_a ? w->face : w->i;
    out->of_b = face_a ? w->j : w->face;
    for (int k = 0; k < 3; k++) out->normal[k] = k < 2 ? w->normal[k] : 0.0;
    for (int k = 0; k < 2; k++) {
        if (face_a) {
            out->on_b[k] = b->vertex[2 * w->j + k] + w->p->delta[k];
            out->on_a[k] = out->on_b[k] - w->gap * w->normal[k];
        } else {
            out->on_a[k] = a->vertex[2 * w->i + k];
            out->on_b[k] = out->on_a[k] + w->gap * w->normal[k];
        }
    }
}

/// The axis between corner i of a and corner j of b.
static void axis_of_corners(const convex_pair* p, int i, int j, axis* out)
{
    double d[2];
    for (int k = 0; k < 2; k++) {
        out->on_a[k] = p->a->vertex[2 * i + k];
        out->on_b[k] = p->b->vertex[2 * j + k] + p->delta[k];
        d[k] = out->on_b[k] - out->on_a[k];
    }
    out->kind = AXIS_EDGES, out->of_a = i, out->of_b = j;
    out->gap = vec_norm(2, d);
    const bool same = !(out->gap > 0.0);
    out->normal[0] = same ? 1.0 : d[0] / out->gap;
    out->normal[1] = same ? 0.0 : d[1] / out->gap;
    out->normal[2] = 0.0;
}

bool nearest_2d(const convex_pair* p, double reach, axis* out)
{
    walk deepest = {.gap = -INFINITY}, onto = {.gap = -INFINITY};
    int corner_a = 0, corner_b = 0;
    const double rounding = ROUNDING * p->size;
    double least = INFINITY;
    walk w = walk_begin(p);
    do {
        double m[2];
        walk_corner(&w, m);
        double square = vec_dot(2, m, m);
        if (square < least) least = square, corner_a = w.i, corner_b = w.j;
        if (!walk_next(&w)) break;
        if (w.gap > deepest.gap) deepest = w;
        if (w.gap > reach) return false;
        if (w.gap > -rounding && w.gap > onto.gap) {
            double along = -vec_dot(2, w.from, w.side), whole = vec_dot(2, w.side, w.side);
            if (along >= -END_SLACK * whole && along <= (1.0 + END_SLACK) * whole) onto = w;
        }
    } while (true);
    if (onto.p) {
        axis_of_side(&onto, out);
    } else if (deepest.p && deepest.gap <= -rounding) {
        axis_of_side(&deepest, out);
    } else {
        axis_of_corners(p, corner_a, corner_b, out);
    }
    return out->gap <= reach;
}

void foresee_2d(foresight* f)
{
    walk w = walk_begin(f->p);
    while (walk_next(&w)) {
        if (w.gap < f->floor) continue;
        axis found;
        axis_of_side(&w, &found);
        foresight_take(f, &found);
    }
}

/// A side as an interval of the coordinate along the contact, with its height along the normal.
typedef struct side {
    double at[2], high[2]; ///< ascending `at`
    int corner[2];
    int face;
} side;

static side side_read(const convex* c, int face, const double* shift, const double n[2],
                      const double t[2])
{
    side s = {.face = face};
    for (int e = 0; e < 2; e++) {
        int i = e == 0 ? face : next_of(c, face);
        double x[2] = {c->vertex[2 * i] + shift[0], c->vertex[2 * i + 1] + shift[1]};
        s.at[e] = vec_dot(2, x, t), s.high[e] = vec_dot(2, x, n), s.corner[e] = i;
    }
    if (s.at[0] <= s.at[1]) return s;
    return (side){.at = {s.at[1], s.at[0]},
                  .high = {s.high[1], s.high[0]},
                  .corner = {s.corner[1], s.corner[0]},
                  .face = face};
}

static double height_at(const side* s, double at)
{
    double width = s->at[1] - s->at[0];
    double share = width > 0.0 ? (at - s->at[0]) / width : 0.5;
    share = fmin(fmax(share, 0.0), 1.0);
    return s->high[0] + share * (s->high[1] - s->high[0]);
}

/// The end e (0 low, 1 high) of the common part of two sides.
static void touch_at_end(const convex_pair* p, const side* a, const side* b, int e,
                         const double n[2], const double t[2], touch* out)
{
    const double slack = FLUSH * p->size;
    bool of_b = e == 0 ? b->at[0] >= a->at[0] - slack : b->at[1] <= a->at[1] + slack;
    double at = of_b ? b->at[e] : a->at[e];
    double high_a = of_b ? height_at(a, at) : a->high[e];
    double high_b = of_b ? b->high[e] : height_at(b, at);
    double on_a[2], on_b[2];
    for (int k = 0; k < 2; k++) {
        on_a[k] = at * t[k] + high_a * n[k];
        on_b[k] = at * t[k] + high_b * n[k];
    }
    int64_t name = of_b ? feature_make(FEATURE_FACE_VERTEX, a->face, b->corner[e])
                        : feature_make(FEATURE_VERTEX_FACE, a->corner[e], b->face);
    touch_make(p, n, on_a, on_b, name, out);
}

int manifold_2d(const convex_pair* p, const axis* along, double reach, touch* out)
{
    const double n[3] = {along->normal[0], along->normal[1], 0.0};
    const double t[2] = {-n[1], n[0]}, zero[2] = {0.0, 0.0};
    int count = 0;
    touch_of_axis(p, along, &out[0]);
    int face_a = along->kind == AXIS_FACE_A ? along->of_a : face_along(p->a, n, 1.0);
    int face_b = along->kind == AXIS_FACE_B ? along->of_b : face_along(p->b, n, -1.0);
    if (along->kind == AXIS_EDGES || face_a < 0 || face_b < 0) return 1;
    const touch witness = out[0];
    side a = side_read(p->a, face_a, zero, n, t), b = side_read(p->b, face_b, p->delta, n, t);
    const double slack = FLUSH * p->size;
    if (fmax(a.at[0], b.at[0]) <= fmin(a.at[1], b.at[1]) + slack) {
        for (int e = 0; e < 2; e++) {
            touch_at_end(p, &a, &b, e, n, t, &out[count]);
            if (out[count].gap <= reach) count++;
        }
    }
    if (count == 0) out[count++] = witness;
    return count;
}
