/// Signed distance from the surface of a polygon or polyhedron to a point.
///
/// Inside, the nearest surface point lies on the face whose plane is nearest. Outside, if the point
/// projects into a face in front of which it lies, that is the nearest point, for the plane then
/// separates; else the nearest point lies on an edge of a face that the point sees, and all those
/// edges are searched. Sides of a polygon are edges that happen to carry the normals.
#include "base/vec.h"
#include "geometry/polytope.h"

/// The nearest point of the surface found so far.
typedef struct nearest {
    double square;  ///< of the distance
    double away[3]; ///< from the surface to the point
    int32_t feature;
} nearest;

/// Try the edge from corner a to corner b, whose own feature is `feature`.
static void nearest_edge(const polytope* p, int32_t a, int32_t b, int32_t feature,
                         const double* point, nearest* best)
{
    const int dim = p->dim;
    const double *from = p->vertex + dim * a, *to = p->vertex + dim * b;
    double e[3], d[3];
    vec_sub(dim, e, to, from);
    vec_sub(dim, d, point, from);
    double along = vec_dot(dim, d, e), length2 = vec_dot(dim, e, e);
    if (along <= 0.0) {
        feature = a;
    } else if (along >= length2) {
        feature = b;
        vec_sub(dim, d, point, to);
    } else {
        vec_add_scaled(dim, d, -along / length2, e);
    }
    double square = vec_dot(dim, d, d);
    if (square >= best->square) return;
    best->square = square;
    best->feature = feature;
    vec_copy(dim, best->away, d);
}

/// Does the point project into face f of a polyhedron?
static bool projects_into(const polytope* p, int f, const double* point)
{
    const double* n = p->normal + 3 * f;
    int32_t first = p->face_first[f], last = p->face_first[f + 1] - 1;
    const double* from = p->vertex + 3 * p->face_vertex[last];
    for (int32_t i = first; i <= last; i++) {
        const double* to = p->vertex + 3 * p->face_vertex[i];
        double e[3], d[3], out[3];
        vec_sub(3, e, to, from);
        vec_sub(3, d, point, from);
        vec_cross(out, e, n);
        if (vec_dot(3, d, out) > 0.0) return false;
        from = to;
    }
    return true;
}

static double height(const polytope* p, int f, const double* point)
{
    return vec_dot(p->dim, p->normal + p->dim * f, point) - p->offset[f];
}

static double answer_face(const polytope* p, int f, double distance, double* normal,
                          int32_t* feature)
{
    vec_copy(p->dim, normal, p->normal + p->dim * f);
    *feature = p->vertex_count + p->edge_count + f;
    return distance;
}

/// Search the edges of the faces that the point sees; the face it projects into, or -1.
static int search_faces(const polytope* p, const double* point, nearest* best)
{
    for (int f = 0; f < p->face_count; f++) {
        if (height(p, f, point) <= 0.0) continue;
        if (projects_into(p, f, point)) return f;
        int32_t first = p->face_first[f], end = p->face_first[f + 1];
        for (int32_t i = first; i < end; i++) {
            int32_t j = i + 1 < end ? i + 1 : first;
            // Both faces of an edge may be seen: always take it in the same direction.
            const int32_t* edge = p->edge + 4 * p->face_edge[i];
            if (p->face_vertex[j] == edge[0] && height(p, edge[2], point) > 0.0) continue;
            nearest_edge(p, edge[0], edge[1], p->vertex_count + p->face_edge[i], point, best);
        }
    }
    return -1;
}

double polytope_point(const polytope* p, const double* point, double* normal, int32_t* feature)
{
    int highest = 0;
    double most = -INFINITY;
    for (int f = 0; f < p->face_count; f++) {
        double h = height(p, f, point);
        if (h > most) most = h, highest = f;
    }
    bool segment = p->vertex_count == 2; // has no inside
    if (most <= 0.0 && !segment) return answer_face(p, highest, most, normal, feature);

    nearest best = {.square = INFINITY, .feature = 0};
    int face = -1;
    if (p->dim == 2) {
        for (int f = 0; f < p->face_count; f++) {
            nearest_edge(p, f, (f + 1) % p->vertex_count, p->vertex_count + f, point, &best);
        }
        if (best.feature >= p->vertex_count) {
            face = segment ? highest : best.feature - p->vertex_count;
        }
    } else {
        face = search_faces(p, point, &best);
    }
    if (face >= 0) return answer_face(p, face, height(p, face, point), normal, feature);

    // So near that the difference is mostly rounding, a face's normal is the better answer.
    double distance = sqrt(best.square);
    double rounding = 1e-15 * (vec_norm(p->dim, point) + fabs(p->offset[highest]));
    if (distance <= rounding) return answer_face(p, highest, distance, normal, feature);
    for (int k = 0; k < p->dim; k++) normal[k] = best.away[k] / distance;
    *feature = best.feature;
    return distance;
}
