/// The question "what of the mesh touches b", shared by mesh_query.c, which gathers what is near
/// and sifts what was found, and mesh_touch.c, which finds.
#ifndef TALUS_DETECT_MESH_QUERY_H
#define TALUS_DETECT_MESH_QUERY_H

#include "base/vec.h"
#include "detect/mesh_touch.h"
#include "geometry/mesh_internal.h"

enum { MESH_LIST_LOCAL = 256, MESH_FOUND_LOCAL = 48 };

/// Roundoff in a direction: a cone test passes up to the first sine. The second is for parallel
/// faces and edges, which files of single precision make only nearly so.
#define CONE_SLACK 1e-9
#define PARALLEL_SLACK 1e-6

/// A list of indices: local memory first, the heap when that is full.
typedef struct index_list {
    int32_t* row;
    int count, capacity;
    int32_t local[MESH_LIST_LOCAL];
} index_list;

/// A contact found, before it is sifted.
typedef struct found {
    touch t;
    double x[3];        ///< the mesh's point at which it is seen
    double h;           ///< gap of the cores, without skins
    int rank;           ///< which of two contacts in one point is kept: the lower
    bool before_hollow; ///< it holds only when b slides on into a hollow
    bool dropped;
} found;

enum { RANK_FACE, RANK_CORNER_ON_FACE, RANK_EDGES, RANK_NEAR_EDGE, RANK_NEAR_CORNER };

typedef struct found_list {
    found* row;
    int count, capacity;
    found local[MESH_FOUND_LOCAL];
} found_list;

/// Where the way from b's middle to one of its corners goes through the mesh first.
typedef struct crossing {
    int32_t triangle; ///< -1: nowhere
    double t;         ///< fraction of the way
    double at[3];
    double depth; ///< of the corner behind that triangle
} crossing;

typedef struct query {
    const mesh* m;
    const convex* b;
    const double* delta;
    double moves;                      ///< how far b may move in the step
    double reach;                      ///< of the cores: skins added to that
    double middle[3];                  ///< of b, from the mesh's origin
    double radius;                     ///< of b about its middle
    double low[3], high[3];            ///< b's box and reach
    double eps;                        ///< roundoff in a length
    double slack;                      ///< angle by which cones of edges and corners are widened
    index_list triangle, edge, vertex; ///< of the mesh, near b; sharp edges, corners not flat
    found_list found;
    bool failed; ///< out of memory
} query;

/// Begin a query: see b, gather the triangles that its box meets. End it with query_end().
void query_begin(query* q, const mesh* m, const convex* b, const double delta[3], double reach);
void query_end(query* q);
/// Gather the sharp edges and the corners of those triangles that b's box meets.
void query_features(query* q);
/// Remember a contact between mesh point x and b's point y, with its gap h along the unit normal.
void query_add(query* q, const double x[3], const double y[3], const double normal[3], double h,
               int rank, int64_t feature);
/// The contact added last lies before a hollow, and what it is held by below the surface: it is
/// seen at `seen`, where the surface begins to rise.
void query_before_hollow(query* q, const double seen[3]);
/// Leave out contacts before a hollow where b is not nearer to what rises there: it is not in it.
void query_drop_unfounded(query* q);
/// Leave out deep overlaps that a shallower contact nearby explains.
void query_drop_explained(query* q);
/// Append to `out` what is left of the contacts found when hidden ones and doubles are left out and
/// planes are reduced to four points (touches_most()).
talus_status query_sift(query* q, const convex_hint* hint, touch_list* out);

/// 1 where a triangle's corners turn counterclockwise about its normal, else -1: a patch has both.
double mesh_winding(const mesh* m, int32_t triangle);
/// How far x, moved onto the triangle's plane, is inside of side k, from corner k to the next.
double mesh_inside_side(const mesh* m, int32_t triangle, int k, double winding, const double x[3]);
/// Does x, moved onto the triangle's plane, lie within it or at most `slack` outside?
bool mesh_over_triangle(const mesh* m, int32_t triangle, const double x[3], double slack);

/// Corner v of b, from the mesh's origin.
static inline void query_corner(const query* q, int32_t v, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = q->delta[k] + q->b->vertex[3 * v + k];
}

/// Height of x over a triangle's patch.
static inline double mesh_height(const mesh* m, int32_t triangle, const double x[3])
{
    return vec_dot(3, m->normal + 3 * triangle, x) - m->offset[triangle];
}

/// Height of p over a face of b.
static inline double query_over_face(const query* q, int32_t f, const double p[3])
{
    const polytope* s = q->b->shape;
    const double* origin = q->b->vertex + 3 * s->face_vertex[s->face_first[f]];
    double u[3];
    for (int k = 0; k < 3; k++) u[k] = p[k] - q->delta[k] - origin[k];
    return vec_dot(3, q->b->normal + 3 * f, u);
}

static inline double distance_between(const double a[3], const double b[3])
{
    double u[3];
    vec_sub(3, u, a, b);
    return vec_norm(3, u);
}

#endif
