/// Gap of two features by their names, wherever the bodies stand: see convex.h for the codes.
#include "geometry/convex_axis.h"

/// A corner or edge: a point and a direction, which is zero for a corner.
typedef struct part {
    double x[3], u[3];
} part;

static part part_of(const convex* c, int code, const double* shift)
{
    part r = {.x = {0.0}};
    const int dim = c->dim, edges = dim == 3 ? edge_count_of(c) : 0;
    int vertex = code - edges;
    if (code < edges) {
        const int32_t* e = c->shape->edge + 4 * code;
        vertex = e[0];
        vec_sub(3, r.u, c->vertex + 3 * e[1], c->vertex + 3 * e[0]);
    }
    for (int k = 0; k < dim; k++) r.x[k] = c->vertex[dim * vertex + k] + (shift ? shift[k] : 0.0);
    return r;
}

/// Removes from d its part along u, if u is a direction.
static void across(double d[3], const double u[3])
{
    double uu = vec_dot(3, u, u);
    if (uu > 0.0) vec_add_scaled(3, d, -vec_dot(3, d, u) / uu, u);
}

static double gap_of_edges(const convex* a, const convex* b, const double delta[3], int64_t feature,
                           const double normal[3])
{
    part g = part_of(a, feature_a(feature), NULL), h = part_of(b, feature_b(feature), delta);
    double d[3], n[3];
    vec_sub(3, d, h.x, g.x);
    vec_cross(n, g.u, h.u);
    const double length = vec_norm(3, n), scale = vec_norm(3, g.u) * vec_norm(3, h.u);
    if (scale > 0.0 && length > 1e-9 * scale) {
        const double gap = vec_dot(3, d, n) / length;
        return vec_dot(a->dim, n, normal) < 0.0 ? -gap : gap;
    }
    across(d, g.u);
    if (vec_dot(3, g.u, g.u) == 0.0) across(d, h.u);
    const double far = vec_norm(3, d);
    return a->dim == 3 && vec_dot(3, d, normal) < 0.0 ? -far : far;
}

static double gap_of_face(const convex* own, int face, const convex* other, int vertex,
                          const double shift[3])
{
    const int dim = own->dim;
    const int at = dim == 2 ? face : own->shape->face_vertex[own->shape->face_first[face]];
    double d[3];
    for (int k = 0; k < dim; k++) {
        d[k] = other->vertex[dim * vertex + k] + shift[k] - own->vertex[dim * at + k];
    }
    return vec_dot(dim, d, own->normal + dim * face);
}

double convex_gap(const convex* a, const convex* b, const double delta[3], int64_t feature,
                  const double normal[3])
{
    const double skins = a->skin + b->skin, back[3] = {-delta[0], -delta[1], -delta[2]};
    switch (feature_kind_of(feature)) {
    case FEATURE_VERTEX_FACE:
        return gap_of_face(b, feature_b(feature), a, feature_a(feature), back) - skins;
    case FEATURE_FACE_VERTEX:
        return gap_of_face(a, feature_a(feature), b, feature_b(feature), delta) - skins;
    case FEATURE_EDGE_EDGE: return gap_of_edges(a, b, delta, feature, normal) - skins;
    case FEATURE_SURFACE: break;
    }
    return vec_norm(a->dim, delta) - skins;
}
