/// Contacts with a mesh: every pair of features that is a local minimum of the distance.
///
/// A point x of the mesh and a point y of b are such a minimum when the direction d from x to y
/// lies in the normal cones of both: no edge that leaves a corner x, and no triangle at an edge x,
/// goes towards y, and no part of b goes from y towards x. At a flat or hollow edge no direction
/// passes that test, so such edges never touch, without any rule of their own.
///
/// Corners of b are held by whole planes instead, as an analytic plane would: every corner over a
/// triangle counts, not only the lowest one.
///
/// Where bodies overlap, an edge pair or a corner within b may pass the test in a direction in
/// which the overlap is deep though another contact explains it with a small depth. It is left out
/// then: a local form of the separating-axis rule that the least depth is the true one.
#include "detect/mesh_touch.h"

#include "base/vec.h"
#include "detect/feature.h"
#include "shape/mesh_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_LOCAL = 256, FOUND_LOCAL = 48, STACK_DEPTH = 64 };

/// Roundoff in a direction: a cone test passes up to this sine. The second is for parallel faces
/// and edges, which files of single precision make only nearly so.
static const double cone_slack = 1e-9, parallel_slack = 1e-6;
/// Fraction of the way to b's middle by which a corner is drawn back before it is asked on which
/// side of a triangle it is, so that resting contacts are outside whatever roundoff says.
static const double draw_back = 1e-9;

/// A list of indices: local memory first, the heap when that is full.
typedef struct index_list {
    int32_t* row;
    int count, capacity;
    int32_t local[LIST_LOCAL];
} index_list;

/// A contact found, before it is sifted.
typedef struct found {
    touch t;
    double h;    ///< gap of the cores, without skins
    double span; ///< distance of the two points: h, or more where h is negative
    int rank;    ///< which of two contacts in one point is kept: the lower
} found;

enum { RANK_FACE, RANK_CORNER_ON_FACE, RANK_EDGES, RANK_NEAR_EDGE, RANK_NEAR_CORNER };

typedef struct found_list {
    found* row;
    int count, capacity;
    found local[FOUND_LOCAL];
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
    double reach;                      ///< of the cores: skins added
    double middle[3];                  ///< of b, from the mesh's origin
    double radius;                     ///< of b about its middle
    double low[3], high[3];            ///< b's box and reach
    double eps;                        ///< roundoff in a length
    index_list triangle, edge, vertex; ///< of the mesh, near b; sharp edges, corners not flat
    found_list found;
    bool failed; ///< out of memory
} query;

void touch_list_free(touch_list* list)
{
    free(list->row);
    *list = (touch_list){0};
}

/// Room for one more element; `local` is where the list began.
static bool list_grow(void** row, void* local, int count, int* capacity, size_t size)
{
    if (count < *capacity) return true;
    size_t larger = 2 * (size_t)*capacity;
    void* grown = malloc(larger * size);
    if (!grown) return false;
    memcpy(grown, *row, (size_t)count * size);
    if (*row != local) free(*row);
    *row = grown;
    *capacity = (int)larger;
    return true;
}

static void index_add(query* q, index_list* list, int32_t index)
{
    void* row = list->row;
    if (!list_grow(&row, list->local, list->count, &list->capacity, sizeof *list->row)) {
        q->failed = true;
        return;
    }
    list->row = row;
    list->row[list->count++] = index;
}

static int index_order(const void* a, const void* b)
{
    int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return x < y ? -1 : x > y;
}

static void index_unique(index_list* list)
{
    if (list->count < 2) return;
    qsort(list->row, (size_t)list->count, sizeof *list->row, index_order);
    int kept = 1;
    for (int i = 1; i < list->count; i++)
        if (list->row[i] != list->row[kept - 1]) list->row[kept++] = list->row[i];
    list->count = kept;
}

/// Remember a contact between mesh point x and b's point y, with its gap h along the unit normal.
static void found_add(query* q, const double x[3], const double y[3], const double normal[3],
                      double h, int rank, int64_t feature)
{
    void* row = q->found.row;
    if (!list_grow(&row, q->found.local, q->found.count, &q->found.capacity, sizeof(found))) {
        q->failed = true;
        return;
    }
    q->found.row = row;
    found* f = q->found.row + q->found.count++;
    *f = (found){.h = h, .rank = rank};
    f->t.feature = feature;
    f->t.gap = h - q->m->skin - q->b->skin;
    double between[3];
    vec_sub(3, between, y, x);
    f->span = vec_norm(3, between);
    for (int k = 0; k < 3; k++) {
        f->t.normal[k] = normal[k];
        f->t.point[k] = 0.5 * (x[k] + y[k] + (q->m->skin - q->b->skin) * normal[k]);
    }
}

static void corner_of(const query* q, int32_t v, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = q->delta[k] + q->b->vertex[3 * v + k];
}

static double height_of(const mesh* m, int32_t triangle, const double x[3])
{
    return vec_dot(3, m->normal + 3 * triangle, x) - m->offset[triangle];
}

/// Does x, moved onto the triangle's plane, lie within it or at most `slack` outside?
static bool over_triangle(const mesh* m, int32_t triangle, const double x[3], double slack)
{
    const double *c = m->corner + 9 * triangle, *n = m->normal + 3 * triangle;
    double u[3], v[3], across[3], inside[3], turn[3], least = INFINITY;
    vec_sub(3, u, c + 3, c);
    vec_sub(3, v, c + 6, c);
    vec_cross(across, u, v);
    double sense = vec_dot(3, across, n) < 0.0 ? -1.0 : 1.0; // a patch has mixed windings
    for (int k = 0; k < 3; k++) {
        vec_sub(3, u, c + 3 * ((k + 1) % 3), c + 3 * k);
        vec_sub(3, inside, x, c + 3 * k);
        vec_cross(turn, u, inside);
        least = fmin(least, sense * vec_dot(3, turn, n) / vec_norm(3, u));
    }
    return least >= -slack;
}

/// Is the mesh between the points `from` of b and `to` of the mesh?
static bool hidden(const query* q, const double from[3], const double to[3])
{
    const mesh* m = q->m;
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double a = height_of(m, t, from), b = height_of(m, t, to);
        if (a * b >= 0.0 || fabs(a) <= q->eps || fabs(b) <= q->eps) continue;
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = from[k] + a / (a - b) * (to[k] - from[k]);
        if (over_triangle(m, t, at, q->eps)) return true;
    }
    return false;
}

/// No edge that leaves the corner goes along d.
static bool vertex_cone(const mesh* m, int32_t vertex, const double d[3], double slack)
{
    for (int32_t i = m->vertex_first[vertex]; i < m->vertex_first[vertex + 1]; i++) {
        double u[3];
        vec_sub(3, u, m->vertex + 3 * m->vertex_near[i], m->vertex + 3 * vertex);
        if (vec_dot(3, d, u) > slack * vec_norm(3, u)) return false;
    }
    return true;
}

/// No triangle at the edge goes along d, which is perpendicular to the edge.
static bool edge_cone(const mesh* m, int32_t edge, const double d[3], double slack)
{
    const double* origin = m->vertex + 3 * m->edge[2 * edge];
    double along[3];
    vec_sub(3, along, m->vertex + 3 * m->edge[2 * edge + 1], origin);
    double scale = 1.0 / vec_dot(3, along, along);
    for (int32_t i = m->edge_first[edge]; i < m->edge_first[edge + 1]; i++) {
        double u[3];
        vec_sub(3, u, m->vertex + 3 * m->edge_opposite[i], origin);
        vec_add_scaled(3, u, -scale * vec_dot(3, u, along), along);
        if (vec_dot(3, d, u) > slack * vec_norm(3, u)) return false;
    }
    return true;
}

/// Triangles whose boxes meet b's box.
static void gather_triangles(query* q)
{
    const mesh* m = q->m;
    int32_t stack[STACK_DEPTH];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t index = stack[--depth];
        const mesh_node* node = m->node + index;
        bool apart = false;
        for (int k = 0; k < 3; k++) apart |= node->low[k] > q->high[k] || node->high[k] < q->low[k];
        if (apart) continue;
        if (node->count == 0) {
            stack[depth++] = node->right;
            stack[depth++] = index + 1;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            int32_t t = m->order[i];
            // Planes that b's ball does not reach neither touch nor hide anything.
            if (fabs(height_of(m, t, q->middle)) <= q->radius + q->reach) {
                index_add(q, &q->triangle, t);
            }
        }
    }
}

/// Does the segment's box meet b's box?
static bool near_box(const query* q, const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        if (fmin(a[k], b[k]) > q->high[k] || fmax(a[k], b[k]) < q->low[k]) return false;
    return true;
}

/// Sharp edges and corners of the triangles that were gathered.
static void gather_features(query* q)
{
    const mesh* m = q->m;
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        for (int k = 0; k < 3; k++) {
            int32_t e = m->triangle_edge[3 * t + k], v = m->triangle[3 * t + k];
            const double *a = m->corner + 9 * t + 3 * k, *b = m->corner + 9 * t + (3 * k + 3) % 9;
            if (m->edge_sharp[e] && near_box(q, a, b)) index_add(q, &q->edge, e);
            if (m->vertex_kind[v] != VERTEX_FLAT && near_box(q, a, a)) index_add(q, &q->vertex, v);
        }
    }
    index_unique(&q->edge);
    index_unique(&q->vertex);
}

static int64_t face_name(const mesh* m, int32_t triangle, double side, int32_t v)
{
    return feature_make(FEATURE_FACE_VERTEX, 2 * (int64_t)m->patch[triangle] + (side < 0.0), v);
}

static int64_t pair_name(int32_t of_mesh, int32_t code)
{
    return feature_make(FEATURE_EDGE_EDGE, of_mesh, code);
}

// ---- Balls -------------------------------------------------------------------------------------

/// Nearest point of a triangle (Ericson, Real-Time Collision Detection, 5.1.5). Returns where it
/// is: corner 0..2, edge 3..5 (3 + k from corner k), 6 within.
static int nearest_on_triangle(const double p[3], const double c[9], double out[3])
{
    const double *a = c, *b = c + 3, *d = c + 6;
    double ab[3], ad[3], ap[3], bp[3], dp[3];
    vec_sub(3, ab, b, a), vec_sub(3, ad, d, a), vec_sub(3, ap, p, a);
    vec_sub(3, bp, p, b), vec_sub(3, dp, p, d);
    double d1 = vec_dot(3, ab, ap), d2 = vec_dot(3, ad, ap), d3 = vec_dot(3, ab, bp),
           d4 = vec_dot(3, ad, bp), d5 = vec_dot(3, ab, dp), d6 = vec_dot(3, ad, dp);
    double wa = d3 * d6 - d5 * d4, wb = d5 * d2 - d1 * d6, wd = d1 * d4 - d3 * d2;
    double s = 0.0, t = 0.0; // out = a + s ab + t ad
    int where = 6;
    if (d1 <= 0.0 && d2 <= 0.0) {
        where = 0;
    } else if (d3 >= 0.0 && d4 <= d3) {
        s = 1.0, where = 1;
    } else if (d6 >= 0.0 && d5 <= d6) {
        t = 1.0, where = 2;
    } else if (wd <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        s = d1 / (d1 - d3), where = 3;
    } else if (wb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        t = d2 / (d2 - d6), where = 5;
    } else if (wa <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6)), s = 1.0 - t, where = 4;
    } else {
        s = wb / (wa + wb + wd), t = wd / (wa + wb + wd);
    }
    for (int k = 0; k < 3; k++) out[k] = a[k] + s * ab[k] + t * ad[k];
    return where;
}

/// The ball's centre over the plane of a triangle's patch.
static void ball_on_plane(query* q, int32_t triangle, double height)
{
    double side = height < 0.0 ? -1.0 : 1.0, normal[3], foot[3];
    for (int k = 0; k < 3; k++) {
        normal[k] = side * q->m->normal[3 * triangle + k];
        foot[k] = q->middle[k] - fabs(height) * normal[k];
    }
    found_add(q, foot, q->middle, normal, fabs(height), RANK_FACE,
              face_name(q->m, triangle, side, 0));
}

static void ball_on_triangle(query* q, int32_t triangle)
{
    const mesh* m = q->m;
    double foot[3], d[3], height = height_of(m, triangle, q->middle);
    int where = nearest_on_triangle(q->middle, m->corner + 9 * triangle, foot);
    vec_sub(3, d, q->middle, foot);
    double distance = vec_norm(3, d);
    if (distance > q->reach) return;
    int32_t edge = where >= 3 && where < 6 ? m->triangle_edge[3 * triangle + where - 3] : -1;
    int32_t vertex = where < 3 ? m->triangle[3 * triangle + where] : -1;
    bool flat = where == 6 || (edge >= 0 && !m->edge_sharp[edge]) ||
                (vertex >= 0 && m->vertex_kind[vertex] == VERTEX_FLAT);
    if (flat || distance <= q->eps) {
        ball_on_plane(q, triangle, height);
        return;
    }
    for (int k = 0; k < 3; k++) d[k] /= distance;
    if (edge >= 0 && edge_cone(m, edge, d, cone_slack))
        found_add(q, foot, q->middle, d, distance, RANK_NEAR_EDGE,
                  pair_name(edge, PAIR_EDGE_VERTEX));
    if (vertex >= 0 && vertex_cone(m, vertex, d, cone_slack))
        found_add(q, foot, q->middle, d, distance, RANK_NEAR_CORNER,
                  pair_name(vertex, PAIR_VERTEX_VERTEX));
}

// ---- Corners of b on triangles -----------------------------------------------------------------

/// Where the ways to b's corners go through the mesh.
static void find_crossings(const query* q, crossing* cross)
{
    const mesh* m = q->m;
    for (int32_t v = 0; v < q->b->vertex_count; v++) cross[v] = (crossing){.triangle = -1};
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double from = height_of(m, t, q->middle), base = height_of(m, t, q->delta);
        for (int32_t v = 0; v < q->b->vertex_count; v++) {
            double to = base + vec_dot(3, m->normal + 3 * t, q->b->vertex + 3 * v);
            if (from * (to + draw_back * (from - to)) >= 0.0) continue;
            crossing c = {.triangle = t, .t = from / (from - to), .depth = fabs(to)};
            if (cross[v].triangle >= 0 && c.t >= cross[v].t) continue;
            double x[3];
            corner_of(q, v, x);
            for (int k = 0; k < 3; k++) c.at[k] = q->middle[k] + c.t * (x[k] - q->middle[k]);
            if (over_triangle(m, t, c.at, q->eps)) cross[v] = c;
        }
    }
}

/// Does a triangle hold back a corner that has gone through the mesh? The one it went through
/// does, and those in front of which it went through: they bound the same hollow.
static bool holds_crossed(const query* q, int32_t triangle, double side, const crossing* c,
                          const double x[3])
{
    if (triangle == c->triangle) return true;
    if (side * height_of(q->m, triangle, c->at) < -q->eps) return false;
    return over_triangle(q->m, triangle, x, 2.0 * c->depth);
}

static void corner_on_triangle(query* q, int32_t triangle, int32_t v, double from, double to,
                               const crossing* c)
{
    bool crossed = c->triangle >= 0;
    double drawn = to + draw_back * (from - to);
    double decides = crossed || drawn == 0.0 ? from : drawn;
    double side = decides < 0.0 ? -1.0 : 1.0, h = side * to;
    if (h > q->reach || (crossed && h >= 0.0)) return;
    double x[3], foot[3], normal[3], back[3];
    corner_of(q, v, x);
    for (int k = 0; k < 3; k++) {
        normal[k] = side * q->m->normal[3 * triangle + k];
        foot[k] = x[k] - h * normal[k];
        back[k] = x[k] + draw_back * (q->middle[k] - x[k]);
    }
    if (crossed && !holds_crossed(q, triangle, side, c, x)) return;
    if (!crossed && (!over_triangle(q->m, triangle, back, q->eps) || hidden(q, back, foot))) return;
    found_add(q, foot, x, normal, h, RANK_FACE, face_name(q->m, triangle, side, v));
}

static void corners_on_triangles(query* q, crossing* cross)
{
    find_crossings(q, cross);
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double from = height_of(q->m, t, q->middle), base = height_of(q->m, t, q->delta);
        for (int32_t v = 0; v < q->b->vertex_count; v++) {
            double to = base + vec_dot(3, q->m->normal + 3 * t, q->b->vertex + 3 * v);
            if (fabs(to) > q->reach && cross[v].triangle < 0) continue;
            corner_on_triangle(q, t, v, from, to, cross + v);
        }
    }
}

// ---- Corners and edges of the mesh on b --------------------------------------------------------

/// Height of p over a face of b.
static double over_face(const query* q, int32_t f, const double p[3])
{
    const polytope* s = q->b->shape;
    const double* origin = q->b->vertex + 3 * s->face_vertex[s->face_first[f]];
    double u[3];
    for (int k = 0; k < 3; k++) u[k] = p[k] - q->delta[k] - origin[k];
    return vec_dot(3, q->b->normal + 3 * f, u);
}

/// The face of b on which corner p of the mesh may rest: from outside the nearest one, from
/// within the one it is least deep behind and sticks out towards; -1: none.
static int32_t face_over(const query* q, int32_t vertex, const double p[3], double* height)
{
    int32_t best = -1, best_within = -1;
    double highest = -INFINITY, highest_within = -INFINITY;
    for (int32_t f = 0; f < q->b->shape->face_count; f++) {
        double h = over_face(q, f, p), d[3];
        if (h > q->reach) return -1;
        if (h > highest) highest = h, best = f;
        if (h <= highest_within) continue;
        for (int k = 0; k < 3; k++) d[k] = -q->b->normal[3 * f + k];
        if (vertex_cone(q->m, vertex, d, parallel_slack)) highest_within = h, best_within = f;
    }
    bool within = highest <= q->eps;
    *height = within ? highest_within : highest;
    return within || best == best_within ? best_within : -1;
}

static void corner_on_face(query* q, int32_t vertex)
{
    const double* p = q->m->vertex + 3 * vertex;
    double h, normal[3], foot[3];
    int32_t f = face_over(q, vertex, p, &h);
    if (f < 0) return;
    for (int k = 0; k < 3; k++) {
        normal[k] = -q->b->normal[3 * f + k];
        foot[k] = p[k] + h * normal[k];
    }
    for (int32_t g = 0; h > q->eps && g < q->b->shape->face_count; g++)
        if (over_face(q, g, foot) > q->eps) return;
    found_add(q, p, foot, normal, h, RANK_CORNER_ON_FACE,
              feature_make(FEATURE_VERTEX_FACE, vertex, f));
}

/// An edge of b, and the directions from it into its two faces.
typedef struct body_edge {
    double from[3], along[3], length2;
    double into[2][3];
} body_edge;

static body_edge edge_of(const query* q, int32_t g)
{
    const int32_t* e = q->b->shape->edge + 4 * g;
    body_edge out;
    double to[3];
    corner_of(q, e[0], out.from);
    corner_of(q, e[1], to);
    vec_sub(3, out.along, to, out.from);
    out.length2 = vec_dot(3, out.along, out.along);
    // e[0] precedes e[1] in the loop of the first face, which runs counterclockwise.
    vec_cross(out.into[0], q->b->normal + 3 * e[2], out.along);
    vec_cross(out.into[1], out.along, q->b->normal + 3 * e[3]);
    return out;
}

/// b lies ahead of its edge in direction d, which is perpendicular to it.
static bool body_edge_cone(const body_edge* g, const double d[3], double slack)
{
    double least = -slack * sqrt(g->length2);
    return vec_dot(3, d, g->into[0]) >= least && vec_dot(3, d, g->into[1]) >= least;
}

/// b lies ahead of its corner in direction d.
static bool body_vertex_cone(const query* q, int32_t v, const double d[3])
{
    for (int32_t w = 0; w < q->b->vertex_count; w++) {
        double u[3];
        vec_sub(3, u, q->b->vertex + 3 * w, q->b->vertex + 3 * v);
        if (vec_dot(3, d, u) < -cone_slack * vec_norm(3, u)) return false;
    }
    return true;
}

/// Edge e of the mesh across edge g of b.
static void edge_across_edge(query* q, int32_t e, int32_t g, const body_edge* ge)
{
    const mesh* m = q->m;
    const double* a = m->vertex + 3 * m->edge[2 * e];
    double u[3], w[3], n[3];
    vec_sub(3, u, m->vertex + 3 * m->edge[2 * e + 1], a);
    vec_sub(3, w, ge->from, a);
    vec_cross(n, u, ge->along);
    double n2 = vec_dot(3, n, n), uu = vec_dot(3, u, u);
    if (n2 <= cone_slack * cone_slack * uu * ge->length2) return; // parallel: corners do the work
    double wg[3], wu[3];
    vec_cross(wg, w, ge->along);
    vec_cross(wu, w, u);
    double s = vec_dot(3, wg, n) / n2, t = vec_dot(3, wu, n) / n2; // on e, on g
    const double end = 1e-10;
    if (s < -end || s > 1.0 + end || t < -end || t > 1.0 + end) return;
    double length = sqrt(n2), h = vec_dot(3, n, w) / length;
    if (fabs(h) > q->reach + 2.0 * q->radius) return;
    for (int sign = 0; sign < 2; sign++) {
        double normal[3], x[3], y[3], scale = (sign ? -1.0 : 1.0) / length;
        for (int k = 0; k < 3; k++) {
            normal[k] = scale * n[k];
            x[k] = a[k] + s * u[k];
            y[k] = ge->from[k] + t * ge->along[k];
        }
        double gap = sign ? -h : h;
        if (gap > q->reach || !body_edge_cone(ge, normal, parallel_slack) ||
            !edge_cone(m, e, normal, parallel_slack))
            continue;
        found_add(q, x, y, normal, gap, RANK_EDGES, pair_name(e, PAIR_EDGE_EDGE + 2 * g + sign));
    }
}

/// Unit vector and distance from x to y; false if they are out of reach or in one place.
static bool direction(const query* q, const double x[3], const double y[3], double d[3],
                      double* distance)
{
    vec_sub(3, d, y, x);
    *distance = vec_norm(3, d);
    if (*distance > q->reach || *distance <= q->eps) return false;
    for (int k = 0; k < 3; k++) d[k] /= *distance;
    return true;
}

/// Foot of p on the open segment from + t along, 0 < t < 1.
static bool foot_on_segment(const double p[3], const double from[3], const double along[3],
                            double foot[3])
{
    double u[3];
    vec_sub(3, u, p, from);
    double t = vec_dot(3, u, along) / vec_dot(3, along, along);
    for (int k = 0; k < 3; k++) foot[k] = from[k] + t * along[k];
    return t > 0.0 && t < 1.0;
}

/// Edge e of the mesh near corner v of b.
static void edge_near_corner(query* q, int32_t e, int32_t v)
{
    const double* a = q->m->vertex + 3 * q->m->edge[2 * e];
    double along[3], x[3], y[3], d[3], h;
    vec_sub(3, along, q->m->vertex + 3 * q->m->edge[2 * e + 1], a);
    corner_of(q, v, y);
    if (foot_on_segment(y, a, along, x) && direction(q, x, y, d, &h) &&
        edge_cone(q->m, e, d, cone_slack) && body_vertex_cone(q, v, d))
        found_add(q, x, y, d, h, RANK_NEAR_EDGE, pair_name(e, PAIR_EDGE_VERTEX + v));
}

/// Corner p of the mesh near edge g of b.
static void corner_near_edge(query* q, int32_t vertex, int32_t g, const body_edge* ge)
{
    const double* p = q->m->vertex + 3 * vertex;
    double y[3], d[3], h;
    if (foot_on_segment(p, ge->from, ge->along, y) && direction(q, p, y, d, &h) &&
        body_edge_cone(ge, d, cone_slack) && vertex_cone(q->m, vertex, d, cone_slack))
        found_add(q, p, y, d, h, RANK_NEAR_EDGE, pair_name(vertex, PAIR_VERTEX_EDGE + g));
}

static void corner_near_corner(query* q, int32_t vertex, int32_t v)
{
    const double* p = q->m->vertex + 3 * vertex;
    double y[3], d[3], h;
    corner_of(q, v, y);
    if (direction(q, p, y, d, &h) && vertex_cone(q->m, vertex, d, cone_slack) &&
        body_vertex_cone(q, v, d))
        found_add(q, p, y, d, h, RANK_NEAR_CORNER, pair_name(vertex, PAIR_VERTEX_VERTEX + v));
}

static void features_on_body(query* q)
{
    const polytope* s = q->b->shape;
    for (int i = 0; i < q->vertex.count; i++) {
        int32_t p = q->vertex.row[i];
        if (q->m->vertex_kind[p] == VERTEX_CORNER) corner_on_face(q, p);
        for (int32_t v = 0; v < s->vertex_count; v++) corner_near_corner(q, p, v);
    }
    for (int i = 0; i < q->edge.count; i++)
        for (int32_t v = 0; v < s->vertex_count; v++) edge_near_corner(q, q->edge.row[i], v);
    for (int32_t g = 0; g < s->edge_count && q->edge.count + q->vertex.count > 0; g++) {
        body_edge ge = edge_of(q, g);
        for (int i = 0; i < q->edge.count; i++) edge_across_edge(q, q->edge.row[i], g, &ge);
        for (int i = 0; i < q->vertex.count; i++) corner_near_edge(q, q->vertex.row[i], g, &ge);
    }
}

// ---- Sifting -----------------------------------------------------------------------------------

static double distance_between(const double a[3], const double b[3])
{
    double u[3];
    vec_sub(3, u, a, b);
    return vec_norm(3, u);
}

/// A deep overlap of an edge pair or of a corner within b that a shallower contact nearby explains.
static bool explained(const query* q, const found* k)
{
    if (k->rank == RANK_FACE || k->h >= -q->eps) return false;
    for (int i = 0; i < q->found.count; i++) {
        const found* j = q->found.row + i;
        if (j->h > 1e3 * q->eps || -j->h > -0.5 * k->h) continue;
        if (distance_between(j->t.point, k->t.point) <= 2.0 * k->span) return true;
    }
    return false;
}

/// The same point and normal under a lower rank, or under the same rank and a lower name; also the
/// same name with a smaller gap.
static bool doubled(const query* q, int at)
{
    const found* k = q->found.row + at;
    for (int i = 0; i < q->found.count; i++) {
        const found* j = q->found.row + i;
        if (i == at) continue;
        if (j->t.feature == k->t.feature) {
            if (j->h < k->h || (j->h == k->h && i < at)) return true;
            continue;
        }
        if (j->rank > k->rank || (j->rank == k->rank && j->t.feature > k->t.feature)) continue;
        double slack = 1e3 * q->eps + 4.0 * cone_slack * fabs(k->h);
        if (distance_between(j->t.point, k->t.point) <= slack &&
            vec_dot(3, j->t.normal, k->t.normal) > 1.0 - parallel_slack)
            return true;
    }
    return false;
}

/// Does contact j press on the same plane as k?
static bool one_plane(const query* q, const touch* j, const touch* k)
{
    double u[3], across[3];
    vec_cross(across, j->normal, k->normal);
    if (vec_dot(3, j->normal, k->normal) < 0.0 || vec_norm(3, across) > cone_slack) return false;
    vec_sub(3, u, j->point, k->point);
    double between = vec_dot(3, u, k->normal) - 0.5 * (j->gap - k->gap);
    return fabs(between) <= 1e3 * q->eps;
}

static int touch_order(const void* a, const void* b)
{
    const touch *x = a, *y = b;
    return x->feature < y->feature ? -1 : x->feature > y->feature;
}

/// Reduce the points of each plane to four; returns how many are left of `count`.
static int reduce_planes(const query* q, const convex_hint* hint, touch* points, int count)
{
    int done = 0;
    while (done < count) {
        int end = done + 1;
        for (int i = end; i < count; i++) {
            if (!one_plane(q, points + i, points + done)) continue;
            touch swap = points[end];
            points[end++] = points[i];
            points[i] = swap;
        }
        int kept = end - done;
        if (kept > CONVEX_MAX_TOUCHES) kept = touches_reduce(points + done, kept, hint);
        memmove(points + done + kept, points + end, (size_t)(count - end) * sizeof *points);
        count -= end - done - kept;
        done += kept;
    }
    return count;
}

/// Append what is left of the contacts found.
static talus_status sift(query* q, const convex_hint* hint, touch_list* out)
{
    int needed = out->count + q->found.count;
    if (needed > out->capacity) {
        touch* row = realloc(out->row, 2 * (size_t)needed * sizeof *row);
        if (!row) return TALUS_ERR_MEMORY;
        out->row = row;
        out->capacity = 2 * needed;
    }
    touch* points = out->row + out->count;
    int count = 0;
    bool ball = !q->b->shape;
    for (int i = 0; i < q->found.count; i++)
        if (!(!ball && explained(q, q->found.row + i)) && !doubled(q, i))
            points[count++] = q->found.row[i].t;
    count = reduce_planes(q, hint, points, count);
    qsort(points, (size_t)count, sizeof *points, touch_order);
    out->count += count;
    return TALUS_OK;
}

/// b's middle, ball and box.
static void see_body(query* q, double reach)
{
    const convex* b = q->b;
    q->reach = reach + b->skin + q->m->skin;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY, sum = 0.0;
        for (int32_t v = 0; v < b->vertex_count; v++) {
            double x = b->vertex[3 * v + k];
            low = fmin(low, x), high = fmax(high, x), sum += x;
        }
        q->middle[k] = q->delta[k] + sum / b->vertex_count;
        q->low[k] = q->delta[k] + low - q->reach;
        q->high[k] = q->delta[k] + high + q->reach;
    }
    for (int32_t v = 0; v < b->vertex_count; v++) {
        double x[3];
        corner_of(q, v, x);
        q->radius = fmax(q->radius, distance_between(x, q->middle));
    }
    q->eps = 1e-13 * (q->m->size + q->radius + vec_norm(3, q->middle));
}

static void touch_ball(query* q)
{
    for (int i = 0; i < q->triangle.count; i++) ball_on_triangle(q, q->triangle.row[i]);
    // What lies behind another triangle does not touch.
    int kept = 0;
    for (int i = 0; i < q->found.count && q->found.count > 1; i++) {
        const found* f = q->found.row + i;
        double foot[3];
        for (int k = 0; k < 3; k++) foot[k] = q->middle[k] - f->h * f->t.normal[k];
        if (!hidden(q, q->middle, foot)) q->found.row[kept++] = *f;
    }
    if (q->found.count > 1) q->found.count = kept;
}

static void touch_body(query* q)
{
    enum { CORNERS_LOCAL = 64 };
    crossing local[CORNERS_LOCAL], *cross = local;
    if (q->b->vertex_count > CORNERS_LOCAL)
        cross = malloc((size_t)q->b->vertex_count * sizeof *cross);
    if (!cross) {
        q->failed = true;
        return;
    }
    gather_features(q);
    corners_on_triangles(q, cross);
    features_on_body(q);
    if (cross != local) free(cross);
}

talus_status mesh_touches(const mesh* m, const convex* b, const double delta[3], double reach,
                          const convex_hint* hint, touch_list* out)
{
    query q; // not zeroed as a whole: the local memory of the lists is large
    q.m = m, q.b = b, q.delta = delta, q.radius = 0.0, q.failed = false;
    index_list* lists[] = {&q.triangle, &q.edge, &q.vertex};
    for (int k = 0; k < 3; k++) {
        lists[k]->row = lists[k]->local;
        lists[k]->count = 0;
        lists[k]->capacity = LIST_LOCAL;
    }
    q.found.row = q.found.local, q.found.count = 0, q.found.capacity = FOUND_LOCAL;
    see_body(&q, reach);
    gather_triangles(&q);
    if (q.triangle.count > 0 && b->shape) touch_body(&q);
    if (q.triangle.count > 0 && !b->shape) touch_ball(&q);
    talus_status status = TALUS_ERR_MEMORY;
    if (!q.failed) status = q.found.count > 0 ? sift(&q, hint, out) : TALUS_OK;
    for (int k = 0; k < 3; k++)
        if (lists[k]->row != lists[k]->local) free(lists[k]->row);
    if (q.found.row != q.found.local) free(q.found.row);
    return status;
}

// ---- The gap of a name -------------------------------------------------------------------------

/// Distance between a point and the segment from + t along, 0 <= t <= 1.
static double segment_distance(const double p[3], const double from[3], const double along[3])
{
    double foot[3], u[3];
    vec_sub(3, u, p, from);
    double t = vec_dot(3, u, along) / vec_dot(3, along, along);
    t = fmin(fmax(t, 0.0), 1.0);
    for (int k = 0; k < 3; k++) foot[k] = from[k] + t * along[k];
    return distance_between(p, foot);
}

/// Gap between the cores of a FEATURE_EDGE_EDGE.
static double pair_gap(const query* q, int32_t of_mesh, int32_t code)
{
    const mesh* m = q->m;
    double x[3], along[3];
    if (code >= PAIR_VERTEX_VERTEX) {
        corner_of(q, code - PAIR_VERTEX_VERTEX, x);
        return distance_between(x, m->vertex + 3 * of_mesh);
    }
    if (code >= PAIR_VERTEX_EDGE) {
        body_edge g = edge_of(q, code - PAIR_VERTEX_EDGE);
        return segment_distance(m->vertex + 3 * of_mesh, g.from, g.along);
    }
    const double* from = m->vertex + 3 * m->edge[2 * of_mesh];
    vec_sub(3, along, m->vertex + 3 * m->edge[2 * of_mesh + 1], from);
    if (code >= PAIR_EDGE_VERTEX) {
        corner_of(q, code - PAIR_EDGE_VERTEX, x);
        return segment_distance(x, from, along);
    }
    body_edge g = edge_of(q, code / 2);
    double n[3], between[3];
    vec_cross(n, along, g.along);
    vec_sub(3, between, g.from, from);
    double length = vec_norm(3, n);
    if (length == 0.0) return segment_distance(g.from, from, along);
    return (code % 2 ? -1.0 : 1.0) * vec_dot(3, n, between) / length;
}

double mesh_gap(const mesh* m, const convex* b, const double delta[3], int64_t feature)
{
    query q;
    q.m = m, q.b = b, q.delta = delta;
    int32_t of_mesh = feature_a(feature), of_b = feature_b(feature);
    double x[3], h = 0.0;
    switch (feature_kind_of(feature)) {
    case FEATURE_FACE_VERTEX:
        corner_of(&q, of_b, x);
        h = (of_mesh % 2 ? -1.0 : 1.0) * height_of(m, of_mesh / 2, x);
        break;
    case FEATURE_VERTEX_FACE: h = over_face(&q, of_b, m->vertex + 3 * of_mesh); break;
    case FEATURE_EDGE_EDGE: h = pair_gap(&q, of_mesh, of_b); break;
    case FEATURE_SURFACE: break; // a mesh never makes this name
    }
    return h - m->skin - b->skin;
}
