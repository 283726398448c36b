/// Separating axes of two polyhedra: see sat_3d.h.
#include "geometry/sat_3d.h"

enum { MASK_FACES = 64 };
/// Edges whose directions have a smaller sine span no face of the difference body that matters: it
/// is a sliver next to faces that are as near, to this share of the size.
#define PARALLEL 1e-12

static double face_offset(const convex* c, int f)
{
    int v = c->shape->face_vertex[c->shape->face_first[f]];
    return vec_dot(3, c->normal + 3 * f, c->vertex + 3 * v);
}

void axis_of_face(const convex_pair* p, axis_kind kind, int face, axis* out)
{
    const convex *a = p->a, *b = p->b;
    double high;
    out->kind = kind;
    if (kind == AXIS_FACE_A) {
        const double* m = a->normal + 3 * face;
        double back[3] = {-m[0], -m[1], -m[2]};
        vec_copy(3, out->normal, m);
        out->of_a = face, out->of_b = support_of(3, b, back, &high);
        out->gap = vec_dot(3, m, p->delta) - high - face_offset(a, face);
        for (int k = 0; k < 3; k++) {
            out->on_b[k] = b->vertex[3 * out->of_b + k] + p->delta[k];
            out->on_a[k] = out->on_b[k] - out->gap * out->normal[k];
        }
    } else {
        const double* m = b->normal + 3 * face;
        for (int k = 0; k < 3; k++) out->normal[k] = -m[k];
        out->of_b = face, out->of_a = support_of(3, a, out->normal, &high);
        out->gap = -vec_dot(3, m, p->delta) - high - face_offset(b, face);
        for (int k = 0; k < 3; k++) {
            out->on_a[k] = a->vertex[3 * out->of_a + k];
            out->on_b[k] = out->on_a[k] + out->gap * out->normal[k];
        }
    }
}

/// Faces of one of the bodies. A corner of the other that lies too deep rules a face out, and the
/// corner that did so last is likely to do it again.
static double faces_of(const convex_pair* p, axis_kind kind, double floor, axis_taker* take,
                       void* context)
{
    const convex* own = kind == AXIS_FACE_A ? p->a : p->b;
    const convex* other = kind == AXIS_FACE_A ? p->b : p->a;
    const double s = kind == AXIS_FACE_A ? 1.0 : -1.0;
    const double d[3] = {s * p->delta[0], s * p->delta[1], s * p->delta[2]};
    const int count = face_count_of(own);
    if (count == 0) return floor;
    const int first = face_along(own, d, 1.0);
    int corner = 0;
    for (int k = 0; k < count; k++) {
        int f = k == 0 ? first : (k <= first ? k - 1 : k);
        const double* n = own->normal + 3 * f;
        const double* v = other->vertex + 3 * corner;
        double x[3] = {d[0] + v[0], d[1] + v[1], d[2] + v[2]};
        if (vec_dot(3, n, x) - face_offset(own, f) <= floor) continue;
        axis found;
        axis_of_face(p, kind, f, &found);
        corner = kind == AXIS_FACE_A ? found.of_b : found.of_a;
        if (found.gap > floor) floor = take(context, &found);
    }
    return floor;
}

double sat_faces(const convex_pair* p, double floor, axis_taker* take, void* context)
{
    floor = faces_of(p, AXIS_FACE_A, floor, take, context);
    return faces_of(p, AXIS_FACE_B, floor, take, context);
}

static void point_of_code(const convex* c, int code, double x[3], double u[3])
{
    const int edges = edge_count_of(c);
    for (int k = 0; k < 3; k++) u[k] = 0.0;
    if (code >= edges) {
        vec_copy(3, x, c->vertex + 3 * (code - edges));
        return;
    }
    const int32_t* e = c->shape->edge + 4 * code;
    vec_copy(3, x, c->vertex + 3 * e[0]);
    vec_sub(3, u, c->vertex + 3 * e[1], x);
}

static double clamp01(double t)
{
    return t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0;
}

void edge_points(const convex_pair* p, int of_a, int of_b, double on_a[3], double on_b[3])
{
    double u[3], v[3], r[3];
    point_of_code(p->a, of_a, on_a, u);
    point_of_code(p->b, of_b, on_b, v);
    for (int k = 0; k < 3; k++) on_b[k] += p->delta[k];
    vec_sub(3, r, on_b, on_a);
    // Ericson, Real-Time Collision Detection, 5.1.9.
    double uu = vec_dot(3, u, u), vv = vec_dot(3, v, v), uv = vec_dot(3, u, v);
    double ur = vec_dot(3, u, r), vr = vec_dot(3, v, r), s = 0.0, t = 0.0;
    double det = uu * vv - uv * uv;
    if (uu > 0.0 && vv > 0.0) {
        s = det > 0.0 ? clamp01((ur * vv - vr * uv) / det) : 0.5;
        t = (s * uv - vr) / vv;
        if (t < 0.0 || t > 1.0) {
            t = clamp01(t);
            s = clamp01((t * uv + ur) / uu);
        }
    } else if (uu > 0.0) {
        s = clamp01(ur / uu);
    } else if (vv > 0.0) {
        t = clamp01(-vr / vv);
    }
    vec_add_scaled(3, on_a, s, u);
    vec_add_scaled(3, on_b, t, v);
}

/// For each corner of `own` the faces of `other` it is farther than `range` outside of: the first
/// 64 of those that look towards `own`, for the others hardly tell.
static void outside_masks(const convex* own, const convex* other, const double d[3], double range,
                          uint64_t* mask)
{
    int used = 0;
    for (int i = 0; i < own->vertex_count; i++) mask[i] = 0;
    for (int f = 0; f < face_count_of(other) && used < MASK_FACES; f++) {
        const double* n = other->normal + 3 * f;
        double along = vec_dot(3, n, d);
        if (along <= 0.0) continue;
        double high = face_offset(other, f) + range - along;
        for (int i = 0; i < own->vertex_count; i++) {
            mask[i] |= (uint64_t)(vec_dot(3, n, own->vertex + 3 * i) > high) << used;
        }
        used++;
    }
}

/// Edges of which no face of the other body has both ends outside; returns how many.
static int edges_inside(const convex* own, const uint64_t* mask, int16_t* list)
{
    int count = 0;
    for (int e = 0; e < edge_count_of(own); e++) {
        const int32_t* v = own->shape->edge + 4 * e;
        if (!(mask[v[0]] & mask[v[1]])) list[count++] = (int16_t)e;
    }
    return count;
}

/// The axis of a pair of edges if their arcs cross on the Gauss map and it is above the floor. `u`
/// is the direction of a's edge, m0 and m1 the normals beside it.
static ALWAYS_INLINE bool edge_axis(const convex_pair* p, int i, int j, const double u[3],
                                    double floor, axis* out)
{
    const convex *a = p->a, *b = p->b;
    const int32_t *ea = a->shape->edge + 4 * i, *eb = b->shape->edge + 4 * j;
    double c = vec_dot(3, u, b->normal + 3 * eb[2]), d = vec_dot(3, u, b->normal + 3 * eb[3]);
    if (c * d >= 0.0) return false;
    double v[3], n[3], r[3];
    vec_sub(3, v, b->vertex + 3 * eb[1], b->vertex + 3 * eb[0]);
    double e = vec_dot(3, v, a->normal + 3 * ea[2]), f = vec_dot(3, v, a->normal + 3 * ea[3]);
    // The arc of b is that of its reversed normals, so the signs of c and d are reversed too.
    if (e * f >= 0.0 || c * f >= 0.0) return false;
    vec_cross(n, u, v);
    // Where b's reversed normals turn from below a's arc to above it they cross at u x v.
    if (c < 0.0) {
        for (int k = 0; k < 3; k++) n[k] = -n[k];
    }
    for (int k = 0; k < 3; k++) {
        r[k] = b->vertex[3 * eb[0] + k] + p->delta[k] - a->vertex[3 * ea[0] + k];
    }
    double nn = vec_dot(3, n, n), along = vec_dot(3, n, r);
    if (nn <= PARALLEL * PARALLEL * vec_dot(3, u, u) * vec_dot(3, v, v)) return false;
    double length = sqrt(nn);
    if (along <= floor * length) return false;
    for (int k = 0; k < 3; k++) out->normal[k] = n[k] / length;
    int x, y;
    out->gap = fmin(along / length, gap_along(3, p, out->normal, &x, &y));
    out->kind = AXIS_EDGES, out->of_a = i, out->of_b = j;
    return out->gap > floor;
}

bool axis_of_edges(const convex_pair* p, int i, int j, double floor, axis* out)
{
    const int32_t* e = p->a->shape->edge + 4 * i;
    double u[3];
    vec_sub(3, u, p->a->vertex + 3 * e[1], p->a->vertex + 3 * e[0]);
    return edge_axis(p, i, j, u, floor, out);
}

double sat_edges(const convex_pair* p, double floor, double range, axis_taker* take, void* context)
{
    const convex *a = p->a, *b = p->b;
    if (edge_count_of(a) == 0 || edge_count_of(b) == 0) return floor;
    uint64_t mask[POLYTOPE_MAX_VERTICES];
    int16_t list_a[POLYTOPE_MAX_EDGES], list_b[POLYTOPE_MAX_EDGES];
    const double back[3] = {-p->delta[0], -p->delta[1], -p->delta[2]};
    outside_masks(a, b, back, range, mask);
    const int count_a = edges_inside(a, mask, list_a);
    outside_masks(b, a, p->delta, range, mask);
    const int count_b = edges_inside(b, mask, list_b);
    for (int i = 0; i < count_a; i++) {
        const int32_t* e = a->shape->edge + 4 * list_a[i];
        double u[3];
        vec_sub(3, u, a->vertex + 3 * e[1], a->vertex + 3 * e[0]);
        for (int j = 0; j < count_b; j++) {
            axis found;
            if (!edge_axis(p, list_a[i], list_b[j], u, floor, &found)) continue;
            edge_points(p, found.of_a, found.of_b, found.on_a, found.on_b);
            floor = take(context, &found);
        }
    }
    return floor;
}
