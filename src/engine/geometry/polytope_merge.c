/// Whole faces from the triangles of a hull.
///
/// The largest triangle that has no face yet begins one; its plane takes in all neighbours whose
/// corners lie within `flat` of it, and their neighbours. Where three or more faces meet is a
/// corner; where two meet, the middle of a straight edge, which is left out. Then everything that a
/// convex polyhedron must satisfy is checked, because with tolerances nothing follows by itself.
///
/// A half-edge h = 3 t + k is the side of triangle t from its corner k to the next one.
#include "base/error.h"
#include "base/vec.h"
#include "geometry/polytope_hull.h"

#include <stdlib.h>
#include <string.h>

typedef struct side {
    int32_t low, high; ///< corners of a half-edge, or corner and edge of a face
    int32_t half;
} side;

typedef struct sized {
    double size;
    int32_t number;
} sized;

typedef struct merge {
    const triangulation* in;
    int triangles, halves;
    int32_t* twin;   ///< [halves] the same side seen from the neighbour
    int32_t* face;   ///< [triangles] raw number of its face
    int32_t* seed;   ///< [triangles] of each face, whose plane it is
    int32_t* degree; ///< [point_count] borders between faces that end at a point
    int32_t* number; ///< [point_count] of the vertex, -1: none
    int32_t* stack;  ///< [triangles]
    uint8_t* walked; ///< [halves]
    sized* order;    ///< [triangles] by descending area
    side* sides;     ///< [halves]
    int32_t* loop;   ///< [halves] corners, face after face
    int32_t* first;  ///< [triangles + 1] of each face's loop
    int32_t* rank;   ///< [triangles] order of faces
    int face_count, vertex_count;
} merge;

static bool merge_begin(merge* m)
{
    size_t triangles = (size_t)m->triangles, halves = (size_t)m->halves;
    size_t points = (size_t)m->in->point_count;
    m->twin = malloc(halves * sizeof *m->twin);
    m->face = malloc(triangles * sizeof *m->face);
    m->seed = malloc(triangles * sizeof *m->seed);
    m->degree = calloc(points, sizeof *m->degree);
    m->number = malloc(points * sizeof *m->number);
    m->stack = malloc(triangles * sizeof *m->stack);
    m->walked = calloc(halves, 1);
    m->order = malloc(triangles * sizeof *m->order);
    m->sides = malloc(halves * sizeof *m->sides);
    m->loop = malloc(halves * sizeof *m->loop);
    m->first = malloc((triangles + 1) * sizeof *m->first);
    m->rank = malloc(triangles * sizeof *m->rank);
    return m->twin && m->face && m->seed && m->degree && m->number && m->stack && m->walked &&
           m->order && m->sides && m->loop && m->first && m->rank;
}

static const double* at(const merge* m, int32_t point)
{
    return m->in->point + 3 * (size_t)point;
}
static int32_t half_next(int32_t half)
{
    return half % 3 == 2 ? half - 2 : half + 1;
}
static int32_t half_from(const merge* m, int32_t half)
{
    return m->in->corner[half];
}
static int32_t half_to(const merge* m, int32_t half)
{
    return m->in->corner[half_next(half)];
}
static bool half_is_border(const merge* m, int32_t half)
{
    return m->face[half / 3] != m->face[m->twin[half] / 3];
}

static int compare_sides(const void* left, const void* right)
{
    const side *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return (a->half > b->half) - (a->half < b->half);
}

/// Find every half-edge's twin; false unless each side has exactly two, in opposite directions.
static bool merge_pair(merge* m)
{
    for (int32_t h = 0; h < m->halves; h++) {
        int32_t a = half_from(m, h), b = half_to(m, h);
        m->sides[h] = (side){a < b ? a : b, a < b ? b : a, h};
    }
    qsort(m->sides, (size_t)m->halves, sizeof *m->sides, compare_sides);
    for (int i = 0; i < m->halves; i += 2) {
        if (i + 1 == m->halves) return false;
        const side *a = &m->sides[i], *b = a + 1;
        bool same = a->low == b->low && a->high == b->high && a->low != a->high;
        bool third = i + 2 < m->halves && b[1].low == a->low && b[1].high == a->high;
        if (!same || third || half_from(m, a->half) == half_from(m, b->half)) return false;
        m->twin[a->half] = b->half;
        m->twin[b->half] = a->half;
    }
    return true;
}

/// Twice the area of a triangle, along its normal.
static void triangle_area(const merge* m, int32_t triangle, double area[3])
{
    const int32_t* c = m->in->corner + 3 * triangle;
    double u[3], v[3];
    vec_sub(3, u, at(m, c[1]), at(m, c[0]));
    vec_sub(3, v, at(m, c[2]), at(m, c[0]));
    vec_cross(area, u, v);
}

static int compare_sizes(const void* left, const void* right)
{
    const sized *a = left, *b = right;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/// Give the number `face` to a triangle and all that lie in its plane and hang together with it.
static void merge_grow(merge* m, int32_t seed, int32_t face)
{
    double normal[3];
    triangle_area(m, seed, normal);
    double length = vec_norm(3, normal);
    const double* origin = at(m, m->in->corner[3 * seed]);
    int top = 0;
    m->stack[top++] = seed;
    m->face[seed] = face;
    while (top > 0) {
        int32_t t = m->stack[--top];
        for (int k = 0; k < 3; k++) {
            int32_t twin = m->twin[3 * t + k], other = twin / 3;
            if (m->face[other] >= 0) continue;
            // Two corners are shared: only the third can be out of the plane.
            double d[3];
            vec_sub(3, d, at(m, half_to(m, half_next(twin))), origin);
            if (fabs(vec_dot(3, d, normal)) > m->in->flat * length) continue;
            m->face[other] = face;
            m->stack[top++] = other;
        }
    }
}

static void merge_faces(merge* m)
{
    for (int32_t t = 0; t < m->triangles; t++) {
        double area[3];
        triangle_area(m, t, area);
        m->order[t] = (sized){vec_dot(3, area, area), t};
        m->face[t] = -1;
    }
    qsort(m->order, (size_t)m->triangles, sizeof *m->order, compare_sizes);
    for (int i = 0; i < m->triangles; i++) {
        int32_t seed = m->order[i].number;
        if (m->face[seed] >= 0) continue;
        m->seed[m->face_count] = seed;
        merge_grow(m, seed, m->face_count++);
    }
}

/// The next half-edge along the border of the same face.
static int32_t border_next(const merge* m, int32_t half)
{
    half = half_next(half);
    while (!half_is_border(m, half)) half = half_next(m->twin[half]);
    return half;
}

/// May a point on the border of two faces be left out, between the corners a and b? It lies within
/// `flat` of both planes. If these enclose a right angle or more, it is then as near to the new
/// surface, even where a shallow crease winds; on a sharper edge it must lie on the line.
static bool may_go(const merge* m, int32_t half, int32_t a, int32_t b)
{
    double n[2][3], e[3], d[3], c[3];
    triangle_area(m, m->seed[m->face[half / 3]], n[0]);
    triangle_area(m, m->seed[m->face[m->twin[half] / 3]], n[1]);
    if (vec_dot(3, n[0], n[1]) >= 0.0) return true;
    vec_sub(3, e, at(m, b), at(m, a));
    vec_sub(3, d, at(m, half_from(m, half)), at(m, a));
    vec_cross(c, e, d);
    return vec_norm(3, c) <= m->in->straight * vec_norm(3, e);
}

/// Walk once around a face from a corner; its corners go to m->loop. Returns how many, -1 when the
/// points between them may not be left out.
static int merge_walk(merge* m, int32_t start, int32_t* loop)
{
    int count = 0;
    int32_t half = start;
    do {
        // From one corner to the next, then once more past the points between them.
        int32_t from = half_from(m, half), begin = half;
        loop[count++] = m->number[from];
        do {
            m->walked[half] = 1;
            half = border_next(m, half);
        } while (m->number[half_from(m, half)] < 0);
        int32_t to = half_from(m, half);
        for (int32_t h = border_next(m, begin); h != half; h = border_next(m, h)) {
            if (!may_go(m, h, from, to)) return -1;
        }
    } while (half != start);
    return count;
}

/// Loops of all faces; false if a face has a hole, fewer than three corners or bent edges.
static bool merge_loops(merge* m)
{
    int faces = 0, used = 0;
    for (int32_t h = 0; h < m->halves; h++) {
        if (m->walked[h] || !half_is_border(m, h) || m->number[half_from(m, h)] < 0) continue;
        if (faces == m->face_count) return false;
        m->first[faces] = used;
        int count = merge_walk(m, h, m->loop + used);
        if (count < 3) return false;
        // A loop begins with its smallest number.
        int32_t* loop = m->loop + used;
        int first = 0;
        for (int i = 1; i < count; i++) {
            if (loop[i] < loop[first]) first = i;
        }
        memcpy(m->stack, loop, (size_t)count * sizeof *loop);
        for (int i = 0; i < count; i++) loop[i] = m->stack[(first + i) % count];
        used += count;
        faces++;
    }
    m->first[faces] = used;
    for (int32_t h = 0; h < m->halves; h++) {
        if (half_is_border(m, h) && !m->walked[h]) return false;
    }
    // As many loops as faces, and by Euler's formula (checked later) one each.
    return faces == m->face_count;
}

static int compare_faces(const void* left, const void* right, void* context)
{
    const merge* m = context;
    const int32_t a = *(const int32_t*)left, b = *(const int32_t*)right;
    int32_t na = m->first[a + 1] - m->first[a], nb = m->first[b + 1] - m->first[b];
    for (int i = 0; i < na && i < nb; i++) {
        int32_t x = m->loop[m->first[a] + i], y = m->loop[m->first[b] + i];
        if (x != y) return x < y ? -1 : 1;
    }
    return (na > nb) - (na < nb);
}

static int32_t loop_next(const polytope* p, int f, int32_t i)
{
    return i + 1 < p->face_first[f + 1] ? i + 1 : p->face_first[f];
}

/// Edges in the order of their corners; false unless each lies in two loops, once in each sense.
static bool polyhedron_edges(polytope* out, side* sides)
{
    int count = out->face_first[out->face_count];
    for (int f = 0; f < out->face_count; f++) {
        for (int32_t i = out->face_first[f]; i < out->face_first[f + 1]; i++) {
            int32_t a = out->face_vertex[i], b = out->face_vertex[loop_next(out, f, i)];
            sides[i] = (side){a < b ? a : b, a < b ? b : a, i};
            out->face_edge[i] = f; // until the edge is known
        }
    }
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    for (int i = 0; i < count; i += 2) {
        const side *a = &sides[i], *b = a + 1;
        if (i + 1 == count || a->low != b->low || a->high != b->high) return false;
        bool forward = out->face_vertex[a->half] == a->low;
        if (forward == (out->face_vertex[b->half] == a->low)) return false;
        if (!forward) a = b, b = &sides[i];
        int32_t* edge = out->edge + 2 * i;
        edge[0] = a->low, edge[1] = a->high;
        edge[2] = out->face_edge[a->half], edge[3] = out->face_edge[b->half];
        out->face_edge[a->half] = out->face_edge[b->half] = i / 2;
        if (edge[2] == edge[3]) return false;
    }
    return true;
}

/// Is every corner behind or, within the tolerance, on every face?
static bool polyhedron_is_convex(const merge* m, const polytope* p, const int32_t* corner_of)
{
    const double slack = 4.0 * m->in->flat; // two planes, each off by as much on both sides
    for (int f = 0; f < p->face_count; f++) {
        double most = -INFINITY, own = INFINITY;
        for (int v = 0; v < p->vertex_count; v++) {
            most = fmax(most, vec_dot(3, p->normal + 3 * f, at(m, corner_of[v])));
        }
        for (int32_t i = p->face_first[f]; i < p->face_first[f + 1]; i++) {
            const double* x = at(m, corner_of[p->face_vertex[i]]);
            own = fmin(own, vec_dot(3, p->normal + 3 * f, x));
        }
        if (!(most - own <= slack)) return false; // also when the normal is no number
    }
    return true;
}

/// Are all loops convex, but for dents too small to matter? With noise of the size of the tolerance
/// the border of a face may wind.
static bool loops_are_convex(const merge* m, const polytope* p, const int32_t* corner_of)
{
    const double dent = 4.0 * m->in->straight;
    for (int f = 0; f < p->face_count; f++) {
        for (int32_t i = p->face_first[f]; i < p->face_first[f + 1]; i++) {
            int32_t j = loop_next(p, f, i), k = loop_next(p, f, j);
            const double* before = at(m, corner_of[p->face_vertex[i]]);
            double chord[3], d[3], c[3];
            vec_sub(3, chord, at(m, corner_of[p->face_vertex[k]]), before);
            vec_sub(3, d, at(m, corner_of[p->face_vertex[j]]), before);
            vec_cross(c, d, chord);
            double depth = -vec_dot(3, c, p->normal + 3 * f);
            if (depth > dent * vec_norm(3, chord)) return false;
        }
    }
    return true;
}

static talus_status merge_run(merge* m, polytope* out, int32_t* corner_of, bool* proper,
                              talus_error* error)
{
    if (!merge_begin(m)) return error_memory(error, "making a polyhedron");
    if (!merge_pair(m)) return TALUS_OK;
    merge_faces(m);
    // Number the corners, in the order of the points.
    for (int32_t h = 0; h < m->halves; h++) {
        if (half_is_border(m, h)) m->degree[half_from(m, h)]++;
    }
    for (int p = 0; p < m->in->point_count; p++) {
        bool corner = m->degree[p] >= 3;
        m->number[p] = corner ? m->vertex_count : -1;
        if (corner) corner_of[m->vertex_count++] = p;
    }
    if (m->vertex_count > POLYTOPE_MAX_VERTICES || !merge_loops(m)) {
        if (m->vertex_count <= POLYTOPE_MAX_VERTICES) return TALUS_OK;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the convex hull has %d corners; at most %d are possible", m->vertex_count,
                         POLYTOPE_MAX_VERTICES);
    }
    for (int f = 0; f < m->face_count; f++) m->rank[f] = f;
    qsort_r(m->rank, (size_t)m->face_count, sizeof *m->rank, compare_faces, m);
    int corners = m->first[m->face_count];
    if (m->vertex_count - corners / 2 + m->face_count != 2) return TALUS_OK;
    *out = (polytope){.dim = 3,
                      .vertex_count = m->vertex_count,
                      .face_count = m->face_count,
                      .edge_count = corners / 2};
    const size_t rows = (size_t)m->face_count, sides = (size_t)corners;
    out->normal = malloc(3 * rows * sizeof *out->normal);
    out->offset = malloc(rows * sizeof *out->offset);
    out->face_first = malloc((rows + 1) * sizeof *out->face_first);
    out->face_vertex = malloc(sides * sizeof *out->face_vertex);
    out->face_edge = malloc(sides * sizeof *out->face_edge);
    out->edge = malloc(4 * (sides / 2) * sizeof *out->edge);
    if (!out->normal || !out->offset || !out->face_first || !out->face_vertex || !out->face_edge ||
        !out->edge) {
        return error_memory(error, "making a polyhedron");
    }
    int used = 0;
    for (int f = 0; f < m->face_count; f++) {
        int from = m->first[m->rank[f]], count = m->first[m->rank[f] + 1] - from;
        out->face_first[f] = used;
        memcpy(out->face_vertex + used, m->loop + from, (size_t)count * sizeof *m->loop);
        used += count;
    }
    out->face_first[m->face_count] = used;
    for (int f = 0; f < m->face_count; f++) {
        // Unit normal by Newell's sum over the corners, from the first one.
        double* normal = out->normal + 3 * f;
        const int32_t* loop = out->face_vertex + out->face_first[f];
        int count = out->face_first[f + 1] - out->face_first[f];
        double u[3], v[3], c[3];
        for (int k = 0; k < 3; k++) normal[k] = 0.0;
        vec_sub(3, v, at(m, corner_of[loop[1]]), at(m, corner_of[loop[0]]));
        for (int i = 2; i < count; i++) {
            vec_copy(3, u, v);
            vec_sub(3, v, at(m, corner_of[loop[i]]), at(m, corner_of[loop[0]]));
            vec_cross(c, u, v);
            vec_add_scaled(3, normal, 1.0, c);
        }
        double length = vec_norm(3, normal);
        for (int k = 0; k < 3; k++) normal[k] /= length;
    }
    *proper = polyhedron_edges(out, m->sides) && polyhedron_is_convex(m, out, corner_of) &&
              loops_are_convex(m, out, corner_of);
    return TALUS_OK;
}

talus_status hull_merge(const triangulation* t, polytope* out, int32_t* corner_of, bool* proper,
                        talus_error* error)
{
    *out = (polytope){0};
    *proper = false;
    merge m = {.in = t, .triangles = t->count, .halves = 3 * t->count};
    talus_status status = merge_run(&m, out, corner_of, proper, error);
    void* arrays[] = {m.twin,   m.face,  m.seed,  m.degree, m.number, m.stack,
                      m.walked, m.order, m.sides, m.loop,   m.first,  m.rank};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
    if (!*proper) polytope_free(out);
    return status;
}
