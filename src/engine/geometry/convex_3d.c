/// The axis between two convex polyhedra. Apart by more than rounding: GJK, with the normal taken
/// from the features it ends on, so that it is exact however near they are. Else: the separating
/// axes of faces and pairs of edges, and the features GJK ended on where these touch.
#include "geometry/convex_axis.h"
#include "geometry/gjk.h"
#include "geometry/sat_3d.h"

/// Distance, of the size, below which the nearest points no longer give a direction.
#define NEAR 1e-7
/// A face takes over from features that are no nearer than it, up to rounding of the size.
#define SAME 1e-13
/// Overlap, of the size, up to which an edge axis must be better than that of a face nearly
/// parallel to it by AXIS_SLACK: so nearly parallel faces keep the normal of a face.
#define LITTLE 1e-4

/// Keeps the axis with the largest gap.
static double keep_best(void* context, const axis* found)
{
    *(axis*)context = *found;
    return found->gap;
}

/// Code (convex.h) of the edge between the corners of a simplex, or of one of them.
static int code_of(const convex* c, const simplex* s, const int* of)
{
    int first = of[0], second = -1, heavy = 0;
    for (int i = 1; i < s->count; i++) {
        if (of[i] != first) second = of[i];
        if (s->weight[i] > s->weight[heavy]) heavy = i;
    }
    if (second < 0) return edge_count_of(c) + first;
    for (int e = 0; e < edge_count_of(c); e++) {
        const int32_t* v = c->shape->edge + 4 * e;
        if ((v[0] == first && v[1] == second) || (v[0] == second && v[1] == first)) return e;
    }
    return edge_count_of(c) + of[heavy];
}

/// The axis between the features of a simplex, along its normal n.
static void axis_of_simplex(const convex_pair* p, const simplex* s, const double n[3], axis* out)
{
    out->kind = AXIS_EDGES;
    vec_copy(3, out->normal, n);
    out->gap = -vec_dot(3, n, s->w[0]);
    out->of_a = code_of(p->a, s, s->of_a), out->of_b = code_of(p->b, s, s->of_b);
    for (int k = 0; k < 3; k++) out->on_a[k] = 0.0, out->on_b[k] = p->delta[k];
    for (int i = 0; i < s->count; i++) {
        vec_add_scaled(3, out->on_a, s->weight[i], p->a->vertex + 3 * s->of_a[i]);
        vec_add_scaled(3, out->on_b, s->weight[i], p->b->vertex + 3 * s->of_b[i]);
    }
}

/// Takes the face of a or of b most along the axis if it separates by no less than `least`.
static bool prefer_face(const convex_pair* p, double least, axis* along)
{
    const int face_a = face_along(p->a, along->normal, 1.0);
    const int face_b = face_along(p->b, along->normal, -1.0);
    axis of_a, of_b;
    bool good_a = false, good_b = false;
    if (face_a >= 0) {
        axis_of_face(p, AXIS_FACE_A, face_a, &of_a);
        good_a = of_a.gap >= least;
    }
    if (face_b >= 0) {
        axis_of_face(p, AXIS_FACE_B, face_b, &of_b);
        good_b = of_b.gap >= least && (!good_a || of_b.gap > of_a.gap + SAME * p->size);
    }
    if (good_b) {
        *along = of_b;
    } else if (good_a) {
        *along = of_a;
    }
    return good_a || good_b;
}

static void nearest_touching(const convex_pair* p, const simplex* s, axis* out)
{
    *out = (axis){.kind = AXIS_EDGES, .normal = {1.0, 0.0, 0.0}, .gap = -INFINITY};
    double floor = sat_faces(p, -INFINITY, keep_best, out);
    double range = (s->count == 4 ? -floor : fmax(-floor, 2.0 * NEAR * p->size)) + SAME * p->size;
    // Edges that span a part of a face's plane in the difference body must not win by rounding.
    sat_edges(p, floor + SAME * p->size, range, keep_best, out);
    double n[3];
    int i, j;
    // Nor may corners of a face or of an edge, on which the simplex ended, pass for nearest ones.
    if (s->count < 4 && simplex_normal(s, n) &&
        gap_along(3, p, n, &i, &j) > out->gap + SAME * p->size) {
        axis_of_simplex(p, s, n, out);
    }
    if (out->gap > -INFINITY) return;
    // Two balls on one spot: any direction.
    out->gap = 0.0, out->of_a = edge_count_of(p->a), out->of_b = edge_count_of(p->b);
    for (int k = 0; k < 3; k++) out->on_a[k] = out->on_b[k] = 0.0;
}

/// One axis is enough to know that the bodies are out of reach.
static double found_apart(void* context, const axis* found)
{
    (void)found;
    *(bool*)context = true;
    return INFINITY;
}

bool nearest_3d(const convex_pair* p, double reach, axis* out)
{
    simplex s;
    double n[3];
    bool apart = false;
    sat_faces(p, reach, found_apart, &apart);
    if (apart) return false;
    gjk_result result = gjk_distance(p, reach, NEAR * p->size, &s);
    if (result == GJK_FAR) return false;
    if (result == GJK_NEAR || !simplex_normal(&s, n)) {
        nearest_touching(p, &s, out);
        return out->gap <= reach;
    }
    axis_of_simplex(p, &s, n, out);
    const double gap = out->gap;
    if (gap > reach) return false;
    if (prefer_face(p, gap - SAME * p->size, out)) out->gap = gap;
    return true;
}

void settle_3d(const convex_pair* p, axis* along)
{
    if (along->kind != AXIS_EDGES || along->gap > 0.0 || along->gap < -LITTLE * p->size) return;
    axis face = *along;
    if (!prefer_face(p, along->gap - AXIS_SLACK * p->size, &face)) return;
    if (vec_dot(3, face.normal, along->normal) > NEARLY_PARALLEL) *along = face;
}

static double offer(void* context, const axis* found)
{
    foresight* f = context;
    foresight_take(f, found);
    return f->floor;
}

/// Whether an axis is that of a face or nearly so.
static bool along_face(const convex_pair* p, const axis* along)
{
    if (along->kind != AXIS_EDGES) return true;
    const double* n = along->normal;
    const int f = face_along(p->a, n, 1.0), g = face_along(p->b, n, -1.0);
    return (f >= 0 && vec_dot(3, n, p->a->normal + 3 * f) > NEARLY_PARALLEL) ||
           (g >= 0 && -vec_dot(3, n, p->b->normal + 3 * g) > NEARLY_PARALLEL);
}

void foresee_3d(foresight* f)
{
    const bool flat = along_face(f->p, f->chosen);
    const double gap = f->chosen->gap;
    sat_faces(f->p, f->floor, offer, f);
    // Away from the borders of a face no pair of edges separates as well.
    if (!f->hits || (flat && f->looked <= 2)) return;
    sat_edges(f->p, f->floor, fmax(-f->floor, gap), offer, f);
}
