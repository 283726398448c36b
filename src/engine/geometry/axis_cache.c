/// The axis of the last step, taken up again: bodies at rest keep theirs, and need no search.
///
/// The names of the last step tell a face or a pair of edges, and so a facet of the difference body
/// A - B (3D). Where the origin's foot lies well inside it, no other facet is nearer (is_nearest):
/// corners on faces and edges that cross.
///
/// Else the face may lie on another. With n its normal, g the gap of the cores along it, and d
/// their signed distance: g <= d, for d is the largest gap along any direction. From above d is
/// bound by any point x_a of a and x_b of b, d <= |x_b - x_a|; and where a ball of radius r_a about
/// a common point fits into a and one of r_b into b, d <= -(r_a + r_b). Taken at the middle of the
/// contact's points, both bounds are sharp where faces lie on each other. The axis is taken if they
/// leave no more room than a face may be worse than a pair of edges anyway (AXIS_SLACK), so the
/// answer is that of the search up to this slack, and preferring what was there keeps names from
/// flickering.
#include "geometry/convex_axis.h"
#include "geometry/sat_3d.h"

/// Width of a contact, of the smaller body's radius, above which it is wide.
#define WIDE 0.05
/// Angle (radians) from an axis within which others need not be foreseen: that of wide contacts.
#define FORESEE_ANGLE 0.04

/// The face that the names tell: of a if there is one. Where only edges cross, the one beside a's
/// edge that looks to b is worth a try.
static bool kept_face(const convex_pair* p, const convex_hint* hint, axis_kind* kind, int* face)
{
    *face = -1;
    for (int i = 0; i < hint->kept_count; i++) {
        const int64_t name = hint->kept[i];
        const feature_kind is = feature_kind_of(name);
        if (is == FEATURE_FACE_VERTEX) {
            *kind = AXIS_FACE_A, *face = feature_a(name);
            break;
        }
        if (is == FEATURE_VERTEX_FACE) *kind = AXIS_FACE_B, *face = feature_b(name);
        if (is != FEATURE_EDGE_EDGE || *face >= 0 || feature_a(name) >= edge_count_of(p->a)) {
            continue;
        }
        const int32_t* beside = p->a->shape->edge + 4 * feature_a(name) + 2;
        const double* n = p->a->normal;
        double first = vec_dot(3, p->delta, n + 3 * beside[0]);
        *kind = AXIS_FACE_A;
        *face = first >= vec_dot(3, p->delta, n + 3 * beside[1]) ? beside[0] : beside[1];
    }
    return *face >= 0;
}

/// Radius of the ball about x (from the body's origin) that fits into the core.
static double room_about(const convex* c, const double x[3])
{
    const int dim = c->dim;
    double least = INFINITY;
    for (int f = 0; f < face_count_of(c); f++) {
        const int v = dim == 2 ? f : c->shape->face_vertex[c->shape->face_first[f]];
        double d[3];
        vec_sub(dim, d, c->vertex + dim * v, x);
        least = fmin(least, vec_dot(dim, d, c->normal + dim * f));
    }
    return least;
}

/// Bound from above of the distance of the cores, by the middle of the points.
static double bound_of(const convex_pair* p, const touch* t, int count)
{
    const double skins = p->a->skin + p->b->skin, share = 1.0 / count;
    double x[3] = {0.0, 0.0, 0.0}, gap = skins;
    for (int i = 0; i < count; i++) {
        vec_add_scaled(3, x, share, t[i].point);
        gap += share * t[i].gap;
    }
    if (fabs(gap) <= 0.5 * AXIS_SLACK * p->size) return fabs(gap);
    if (gap > 0.0) return gap;
    // The points lie midway between the rounded surfaces: now between those of the cores.
    vec_add_scaled(3, x, 0.5 * (p->b->skin - p->a->skin), t[0].normal);
    double y[3];
    vec_sub(3, y, x, p->delta);
    double room_a = room_about(p->a, x), room_b = room_about(p->b, y);
    return room_a > 0.0 && room_b > 0.0 ? -(room_a + room_b) : INFINITY;
}

bool touches_wide(const convex_pair* p, const touch* t, int count)
{
    if (count < 2) return false;
    const double least = WIDE * smaller_radius(p), high = FORESEE_DEPTH * smaller_radius(p);
    double far = 0.0, area = 0.0, last[3];
    for (int i = 0; i < count; i++) {
        double d[3], w[3];
        if (fabs(t[i].gap) > high) return false;
        vec_sub(3, d, t[i].point, t[0].point);
        far = fmax(far, vec_dot(3, d, d));
        if (i > 1) {
            vec_cross(w, last, d);
            area += 0.5 * vec_dot(3, w, t[0].normal);
        }
        vec_copy(3, last, d);
    }
    if (far < least * least) return false; // also points in one place, whose area is 0 as well
    if (p->a->dim == 2) return true;
    // A convex figure's area is at most its width times its diameter, which is at most 2 sqrt(far).
    return area * area >= 4.0 * far * least * least;
}

/// Least distance of the foot of x (from the body's origin) from the border of a face, negative
/// outside (3D).
static double inset_in_face(const convex* c, int face, const double x[3])
{
    const int32_t* loop = c->shape->face_vertex;
    const int first = c->shape->face_first[face], end = c->shape->face_first[face + 1];
    double least = INFINITY;
    for (int i = first; i < end; i++) {
        const double* from = c->vertex + 3 * loop[i];
        const double* to = c->vertex + 3 * loop[i + 1 < end ? i + 1 : first];
        double side[3], in[3], d[3];
        vec_sub(3, side, to, from);
        vec_sub(3, d, x, from);
        vec_cross(in, c->normal + 3 * face, side);
        least = fmin(least, vec_dot(3, d, in) / vec_norm(3, side));
    }
    return least;
}

/// The same for the axis of a face and the corner it stands on.
static double inset_of_face(const convex_pair* p, const axis* x)
{
    if (x->kind == AXIS_FACE_A) return inset_in_face(p->a, x->of_a, x->on_b);
    double from_b[3];
    vec_sub(3, from_b, x->on_a, p->delta);
    return inset_in_face(p->b, x->of_b, from_b);
}

/// Distance of x, from the body's origin, from the nearer end of an edge, whose direction is u.
static double edge_room(const convex* c, int e, const double x[3], double u[3])
{
    const int32_t* ends = c->shape->edge + 4 * e;
    const double *v = c->vertex + 3 * ends[0], *w = c->vertex + 3 * ends[1];
    double d[3], f[3];
    vec_sub(3, u, w, v);
    vec_sub(3, d, x, v);
    vec_sub(3, f, x, w);
    return sqrt(fmin(vec_dot(3, d, d), vec_dot(3, f, f)));
}

/// The same for the parallelogram that a pair of edges spans in the difference body.
static double inset_of_edges(const convex_pair* p, const axis* x)
{
    double u[3], v[3], w[3], from_b[3];
    vec_sub(3, from_b, x->on_b, p->delta);
    const double room_a = edge_room(p->a, x->of_a, x->on_a, u);
    const double room_b = edge_room(p->b, x->of_b, from_b, v);
    vec_cross(w, u, v);
    const double sine2 = vec_dot(3, w, w) / (vec_dot(3, u, u) * vec_dot(3, v, v));
    return sqrt(sine2) * fmin(room_a, room_b);
}

/// The edges that cross by the names, those with the largest gap; false if there are none.
static bool kept_edges(const convex_pair* p, const convex_hint* hint, axis* out)
{
    const int edges_a = edge_count_of(p->a), edges_b = edge_count_of(p->b);
    double floor = -INFINITY;
    for (int i = 0; i < hint->kept_count; i++) {
        const int64_t name = hint->kept[i];
        if (feature_kind_of(name) != FEATURE_EDGE_EDGE) continue;
        const int a = feature_a(name), b = feature_b(name);
        axis found;
        if (a >= edges_a || b >= edges_b || !axis_of_edges(p, a, b, floor, &found)) continue;
        *out = found, floor = found.gap;
    }
    if (floor == -INFINITY) return false;
    edge_points(p, out->of_a, out->of_b, out->on_a, out->on_b);
    return true;
}

static void middle_of(const convex* c, double x[3])
{
    for (int k = 0; k < 3; k++) x[k] = 0.0;
    for (int i = 0; i < c->vertex_count; i++) vec_add_scaled(3, x, 1.0, c->vertex + 3 * i);
    for (int k = 0; k < 3; k++) x[k] /= c->vertex_count;
}

/// Whether no other axis separates better than one whose facet of the difference body A - B has the
/// foot of the origin `inset` inside its border, nor any that foresight would look at.
///
/// A - B holds the disc of radius m = inset about the foot, at height -g along n, and the apex, the
/// difference of the bodies' middles. Along a direction at the angle x from n the gap is at most
/// g cos x - m sin x, by the disc: not above g where g >= 0, and else up to tan(x/2) = m / -g. The
/// directions left are within 2 atan(-g / m) of -n, and there the apex, `low` below the origin and
/// `aside`, bounds it. Foresight looks at gaps down to -depth: the same with depth for -g leaves
/// those within FORESEE_ANGLE of n if m is large enough, as where points are wide.
static bool is_nearest(const convex_pair* p, const convex_hint* hint, double inset, axis* along)
{
    const double radius = smaller_radius(p), depth = FORESEE_DEPTH * radius;
    const double above = along->gap - p->a->skin - p->b->skin, most = fmax(-along->gap, depth);
    if (!(inset > 0.0)) return false;
    const double t = most / inset;
    double apex[3], x[3];
    middle_of(p->a, apex);
    middle_of(p->b, x);
    vec_sub(3, apex, apex, x);
    vec_sub(3, apex, apex, p->delta);
    const double low = -vec_dot(3, apex, along->normal);
    const double aside = sqrt(fmax(0.0, vec_dot(3, apex, apex) - low * low));
    if (!(t < 1.0) || low * (1.0 - t * t) - 2.0 * t * aside < most * (1.0 + t * t)) return false;
    if (above < -depth || inset >= fmax(WIDE * radius, (above + depth) / FORESEE_ANGLE))
        return true;
    foresight f;
    return !foresight_begin(&f, p, hint, along);
}

/// An axis that the names tell and that is certainly the nearest.
static bool kept_axis(const convex_pair* p, const convex_hint* hint, axis* along)
{
    axis_kind kind;
    int face;
    if (kept_face(p, hint, &kind, &face)) {
        axis_of_face(p, kind, face, along);
        if (is_nearest(p, hint, inset_of_face(p, along), along)) return true;
    }
    if (!kept_edges(p, hint, along)) return false;
    if (!is_nearest(p, hint, inset_of_edges(p, along), along)) return false;
    settle_3d(p, along);
    return true;
}

int kept_axis_touches(const convex_pair* p, const convex_hint* hint, double reach, axis* along,
                      touch* out)
{
    axis_kind kind;
    int face;
    if (!kept_face(p, hint, &kind, &face)) return 0;
    const bool flat = p->a->dim == 2;
    if (!flat && kept_axis(p, hint, along)) {
        return along->gap > reach + p->a->skin + p->b->skin ? 0 : manifold_3d(p, along, reach, out);
    }
    if (flat) {
        const bool of_a = kind == AXIS_FACE_A;
        const double* m = (of_a ? p->a : p->b)->normal + 2 * face;
        for (int k = 0; k < 2; k++) along->normal[k] = of_a ? m[k] : -m[k];
        along->normal[2] = 0.0;
        along->kind = kind;
        int i, j;
        along->gap = gap_along(2, p, along->normal, &i, &j);
        along->of_a = of_a ? face : i, along->of_b = of_a ? j : face;
        for (int k = 0; k < 2; k++) {
            along->on_a[k] = p->a->vertex[2 * i + k];
            along->on_b[k] = p->b->vertex[2 * j + k] + p->delta[k];
            if (of_a) {
                along->on_a[k] = along->on_b[k] - along->gap * along->normal[k];
            } else {
                along->on_b[k] = along->on_a[k] + along->gap * along->normal[k];
            }
        }
    } else {
        axis_of_face(p, kind, face, along);
    }
    if (along->gap > reach + p->a->skin + p->b->skin) return 0;
    if (along->gap < -FORESEE_DEPTH * smaller_radius(p)) return 0;
    const int count = flat ? manifold_2d(p, along, reach, out) : manifold_3d(p, along, reach, out);
    if (!touches_wide(p, out, count)) return 0;
    return bound_of(p, out, count) - along->gap <= AXIS_SLACK * p->size ? count : 0;
}
