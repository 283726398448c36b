/// The axis of the last step, taken up again: bodies at rest keep theirs, and need no search.
///
/// The names of the last step tell a face. With n its normal, g the gap of the cores along it, and
/// d their signed distance: g <= d, for d is the largest gap along any direction. From above d is
/// bound by any point x_a of a and x_b of b, d <= |x_b - x_a|; and where a ball of radius r_a about
/// a common point fits into a and one of r_b into b, d <= -(r_a + r_b). Taken at the middle of the
/// contact's points, both bounds are sharp where faces lie on each other. The axis is taken if they
/// leave no more room than a face may be worse than a pair of edges anyway (AXIS_SLACK), so the
/// answer is that of the search up to this slack, and preferring what was there keeps names from
/// flickering.
#include "detect/convex_axis.h"
#include "detect/sat_3d.h"

/// Width of a contact, of the smaller body's radius, above which it is wide.
#define WIDE 0.05

static void axis_of_side(const convex_pair* p, axis_kind kind, int face, axis* out)
{
    const bool of_a = kind == AXIS_FACE_A;
    const double* m = (of_a ? p->a : p->b)->normal + 2 * face;
    for (int k = 0; k < 2; k++) out->normal[k] = of_a ? m[k] : -m[k];
    out->normal[2] = 0.0;
    out->kind = kind;
    int i, j;
    out->gap = gap_along(2, p, out->normal, &i, &j);
    out->of_a = of_a ? face : i, out->of_b = of_a ? j : face;
    for (int k = 0; k < 2; k++) {
        out->on_a[k] = p->a->vertex[2 * i + k];
        out->on_b[k] = p->b->vertex[2 * j + k] + p->delta[k];
        if (of_a) {
            out->on_a[k] = out->on_b[k] - out->gap * out->normal[k];
        } else {
            out->on_b[k] = out->on_a[k] + out->gap * out->normal[k];
        }
    }
}

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

int resume(const convex_pair* p, const convex_hint* hint, double reach, axis* along, touch* out)
{
    axis_kind kind;
    int face;
    if (!kept_face(p, hint, &kind, &face)) return 0;
    const bool flat = p->a->dim == 2;
    if (flat) {
        axis_of_side(p, kind, face, along);
    } else {
        axis_of_face(p, kind, face, along);
    }
    if (along->gap > reach + p->a->skin + p->b->skin) return 0;
    if (along->gap < -FORESEE_DEPTH * smaller_radius(p)) return 0;
    const int count = flat ? manifold_2d(p, along, reach, out) : manifold_3d(p, along, reach, out);
    if (!touches_wide(p, out, count)) return 0;
    return bound_of(p, out, count) - along->gap <= AXIS_SLACK * p->size ? count : 0;
}
