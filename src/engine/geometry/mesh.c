/// Making a mesh: triangles without area left out, edges and who shares them, flat patches, the
/// box tree.
///
/// Flat means: connected across edges of exactly two triangles that do not fold back, with all
/// corners within a tolerance of the mean plane of the patch. Heights are compared, not angles,
/// because the angle between small triangles is what rounding to the file's precision
/// made of it. The tolerance is 5e-7 of the largest coordinate if all coordinates are single
/// precision numbers, as in every binary STL: a coordinate is off by up to 6e-8, a height by twice
/// that, and a plane through three such corners by four times that at the far corner of a neighbour
/// of the same size. Else it is 1e-9, that of welding. Measuring from one plane keeps a finely
/// divided curve from being taken for a plane step by step.
///
/// The tree splits at the median of the longest side of the triangles' centres.
#include "geometry/mesh.h"

#include "base/error.h"
#include "base/vec.h"
#include "geometry/mesh_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_SIZE = 4 };

/// A triangle's height relative to its longest side below which it has no area: its normal would
/// be known to fewer than four digits.
static const double least_height = 1e-12;

void triangles_free(triangles* t)
{
    free(t->vertex);
    free(t->triangle);
    free(t->group);
    *t = (triangles){0};
}

void mesh_free(mesh* m)
{
    if (!m) return;
    void* arrays[] = {m->vertex,       m->triangle,      m->corner,        m->normal,
                      m->offset,       m->patch,         m->triangle_edge, m->edge,
                      m->edge_first,   m->edge_opposite, m->edge_triangle, m->edge_sharp,
                      m->vertex_first, m->vertex_near,   m->vertex_kind,   m->node,
                      m->order};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) free(arrays[k]);
    free(m);
}

double mesh_bound(const mesh* m)
{
    return m->bound;
}

int64_t mesh_triangle_count(const mesh* m)
{
    return m->triangle_count;
}

const double* mesh_triangle(const mesh* m, int64_t triangle)
{
    return m->corner + 9 * triangle;
}

static talus_status triangles_check(const triangles* t, double skin, talus_error* error)
{
    if (!isfinite(skin) || skin < 0.0)
        return error_set(error, TALUS_ERR_ARGUMENT, "mesh: skin must not be negative, got %g",
                         skin);
    // The limit is on triangles with area too, but corners must not overflow an index either.
    if (t->triangle_count > MESH_MAX_TRIANGLES || t->vertex_count > 3 * MESH_MAX_TRIANGLES)
        return error_set(
            error, TALUS_ERR_ARGUMENT,
            "mesh: %lld triangles with %lld corners; at most %d triangles are possible",
            (long long)t->triangle_count, (long long)t->vertex_count, MESH_MAX_TRIANGLES);
    for (int64_t v = 0; v < t->vertex_count; v++) {
        if (!vec_finite(3, t->vertex + 3 * v))
            return error_set(error, TALUS_ERR_ARGUMENT, "mesh: corner %lld is not finite",
                             (long long)v);
    }
    for (int64_t k = 0; k < 3 * t->triangle_count; k++) {
        if (t->triangle[k] < 0 || t->triangle[k] >= t->vertex_count)
            return error_set(error, TALUS_ERR_ARGUMENT, "mesh: triangle %lld has no corner %d",
                             (long long)(k / 3), t->triangle[k]);
    }
    return TALUS_OK;
}

static talus_status mesh_allocate(mesh* m, const triangles* t, talus_error* error)
{
    size_t tris = (size_t)t->triangle_count + 1, corners = (size_t)t->vertex_count + 1;
    m->vertex = malloc(3 * corners * sizeof *m->vertex);
    m->triangle = malloc(3 * tris * sizeof *m->triangle);
    m->corner = malloc(9 * tris * sizeof *m->corner);
    m->normal = malloc(3 * tris * sizeof *m->normal);
    m->offset = malloc(tris * sizeof *m->offset);
    m->patch = malloc(tris * sizeof *m->patch);
    m->triangle_edge = malloc(3 * tris * sizeof *m->triangle_edge);
    m->edge = malloc(6 * tris * sizeof *m->edge);
    m->edge_first = malloc((3 * tris + 1) * sizeof *m->edge_first);
    m->edge_opposite = malloc(3 * tris * sizeof *m->edge_opposite);
    m->edge_triangle = malloc(3 * tris * sizeof *m->edge_triangle);
    m->edge_sharp = malloc(3 * tris);
    m->vertex_first = calloc(corners + 1, sizeof *m->vertex_first);
    m->vertex_near = malloc(6 * tris * sizeof *m->vertex_near);
    m->vertex_kind = calloc(corners, 1);
    m->node = malloc(2 * tris * sizeof *m->node);
    m->order = malloc(tris * sizeof *m->order);
    bool all = m->vertex && m->triangle && m->corner && m->normal && m->offset && m->patch &&
               m->triangle_edge && m->edge && m->edge_first && m->edge_opposite &&
               m->edge_triangle && m->edge_sharp && m->vertex_first && m->vertex_near &&
               m->vertex_kind && m->node && m->order;
    return all ? TALUS_OK : error_memory(error, "making a mesh");
}

/// Unit normal and area of a triangle; false if it has none.
static bool triangle_plane(const double c[9], double normal[3], double* area)
{
    double u[3], v[3], w[3];
    vec_sub(3, u, c + 3, c);
    vec_sub(3, v, c + 6, c);
    vec_sub(3, w, c + 6, c + 3);
    vec_cross(normal, u, v);
    double twice = vec_norm(3, normal);
    double longest2 = fmax(vec_dot(3, u, u), fmax(vec_dot(3, v, v), vec_dot(3, w, w)));
    if (!(twice > least_height * longest2)) return false; // longest2 = 0: no area either
    for (int k = 0; k < 3; k++) normal[k] /= twice;
    *area = 0.5 * twice;
    return true;
}

/// Copy corners and the triangles that have an area, with their own planes for now.
static talus_status mesh_fill(mesh* m, const triangles* t, double* area, talus_error* error)
{
    m->vertex_count = (int32_t)t->vertex_count;
    memcpy(m->vertex, t->vertex, 3 * (size_t)t->vertex_count * sizeof *m->vertex);
    for (int64_t i = 0; i < t->triangle_count; i++) {
        int32_t n = m->triangle_count;
        double* c = m->corner + 9 * n;
        for (int k = 0; k < 3; k++) vec_copy(3, c + 3 * k, t->vertex + 3 * t->triangle[3 * i + k]);
        if (!triangle_plane(c, m->normal + 3 * n, area + n)) continue;
        memcpy(m->triangle + 3 * n, t->triangle + 3 * i, 3 * sizeof *m->triangle);
        m->offset[n] = vec_dot(3, m->normal + 3 * n, c);
        for (int k = 0; k < 9; k++) m->size = fmax(m->size, fabs(c[k]));
        for (int k = 0; k < 3; k++) m->bound = fmax(m->bound, vec_norm(3, c + 3 * k));
        m->order[n] = n;
        m->triangle_count++;
    }
    m->bound += m->skin;
    if (m->triangle_count > 0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "mesh: no triangle has an area");
}

/// One side of a triangle, to be sorted so that equal edges are neighbours.
typedef struct half_edge {
    int32_t low, high, slot; ///< slot = 3 triangle + side
} half_edge;

static int half_edge_order(const void* a, const void* b)
{
    const half_edge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static talus_status mesh_find_edges(mesh* m, talus_error* error)
{
    int32_t count = 3 * m->triangle_count;
    half_edge* half = malloc((size_t)count * sizeof *half);
    if (!half) return error_memory(error, "finding the edges of a mesh");
    for (int32_t s = 0; s < count; s++) {
        int32_t a = m->triangle[s], b = m->triangle[s % 3 == 2 ? s - 2 : s + 1];
        half[s] = a < b ? (half_edge){a, b, s} : (half_edge){b, a, s};
    }
    qsort(half, (size_t)count, sizeof *half, half_edge_order);
    for (int32_t i = 0; i < count; i++) {
        const half_edge* h = half + i;
        if (i == 0 || h->low != h[-1].low || h->high != h[-1].high) {
            m->edge[2 * m->edge_count] = h->low;
            m->edge[2 * m->edge_count + 1] = h->high;
            m->edge_first[m->edge_count++] = i;
        }
        int32_t triangle = h->slot / 3, side = h->slot % 3;
        m->edge_opposite[i] = m->triangle[3 * triangle + (side + 2) % 3];
        m->edge_triangle[i] = triangle;
        m->triangle_edge[h->slot] = m->edge_count - 1;
    }
    m->edge_first[m->edge_count] = count;
    free(half);
    return TALUS_OK;
}

/// The triangle beyond an edge of exactly two that does not fold back onto `triangle`; -1 if none.
static int32_t flat_neighbour(const mesh* m, int32_t triangle, int32_t e)
{
    int32_t first = m->edge_first[e];
    if (m->edge_first[e + 1] - first != 2) return -1;
    const double* origin = m->vertex + 3 * m->edge[2 * e];
    double along[3], a[3], b[3], across_a[3], across_b[3];
    vec_sub(3, along, m->vertex + 3 * m->edge[2 * e + 1], origin);
    vec_sub(3, a, m->vertex + 3 * m->edge_opposite[first], origin);
    vec_sub(3, b, m->vertex + 3 * m->edge_opposite[first + 1], origin);
    vec_cross(across_a, along, a);
    vec_cross(across_b, along, b);
    if (vec_dot(3, across_a, across_b) >= 0.0) return -1;
    return m->edge_triangle[first] == triangle ? m->edge_triangle[first + 1]
                                               : m->edge_triangle[first];
}

typedef struct plane {
    double normal[3], offset;
} plane;

/// Largest distance of a triangle's corners from a plane.
static double off_plane(const mesh* m, int32_t triangle, const plane* p)
{
    double worst = 0.0;
    for (int c = 0; c < 3; c++) {
        double height = vec_dot(3, p->normal, m->corner + 9 * triangle + 3 * c) - p->offset;
        worst = fmax(worst, fabs(height));
    }
    return worst;
}

/// Give the triangles that lie in the plane and hang together with `seed` to its patch; they are
/// written to `member` [triangle_count]. Returns how many.
static int32_t patch_spread(mesh* m, int32_t seed, const plane* p, double tolerance,
                            int32_t* member)
{
    int32_t count = 0;
    member[count++] = seed;
    m->patch[seed] = seed;
    for (int32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            int32_t j = flat_neighbour(m, member[i], m->triangle_edge[3 * member[i] + k]);
            if (j < 0 || m->patch[j] >= 0) continue;
            if (off_plane(m, j, p) > tolerance) continue;
            m->patch[j] = seed;
            member[count++] = j;
        }
    }
    return count;
}

/// The mean plane of triangles: their vector area depends on their common rim only, so it is
/// known better the larger they are together. `area` is that of each triangle of the mesh.
static plane mean_plane(const mesh* m, const int32_t* member, int32_t count, const double* area)
{
    const double* first = m->normal + 3 * member[0];
    double sum[3] = {0.0}, centre[3] = {0.0}, total = 0.0;
    for (int32_t i = 0; i < count; i++) {
        const double *n = m->normal + 3 * member[i], *c = m->corner + 9 * member[i];
        double a = area[member[i]];
        vec_add_scaled(3, sum, vec_dot(3, first, n) < 0.0 ? -a : a, n);
        for (int k = 0; k < 3; k++) centre[k] += a * (c[k] + c[3 + k] + c[6 + k]) / 3.0;
        total += a;
    }
    plane p;
    double length = vec_norm(3, sum);
    for (int k = 0; k < 3; k++) p.normal[k] = sum[k] / length;
    p.offset = vec_dot(3, p.normal, centre) / total;
    return p;
}

/// Make the patch of `seed`: what lies in its plane, then in the mean plane of that, as long as
/// this reaches farther. The normal of one small triangle alone would not carry across a large
/// flat part.
static void patch_make(mesh* m, int32_t seed, double tolerance, const double* area, int32_t* member)
{
    enum { MOST_ROUNDS = 12 };
    plane own = {.offset = m->offset[seed]};
    vec_copy(3, own.normal, m->normal + 3 * seed);
    plane p = own, last = own;
    int32_t count = 0, before = 0, most = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        count = patch_spread(m, seed, &p, tolerance, member);
        if (count == before || count == 1) break;
        if (count > most) most = count, last = p;
        before = count;
        p = mean_plane(m, member, count, area);
        for (int32_t i = 0; i < count; i++) m->patch[member[i]] = -1;
    }
    // Once more with the plane that reached farthest.
    for (int32_t i = 0; i < count; i++) m->patch[member[i]] = -1;
    count = patch_spread(m, seed, &last, tolerance, member);
    // The mean has roundoff: where the triangle's own plane fits all, along an axis say, it stays.
    double worst = 0.0;
    for (int32_t i = 0; i < count; i++) worst = fmax(worst, off_plane(m, member[i], &own));
    last = worst <= 1e-14 * m->size ? own : mean_plane(m, member, count, area);
    for (int32_t i = 0; i < count; i++) {
        vec_copy(3, m->normal + 3 * member[i], last.normal);
        m->offset[member[i]] = last.offset;
    }
}

typedef struct sized_triangle {
    double area;
    int32_t triangle;
} sized_triangle;

/// Largest first; of equal ones the lower index.
static int sized_triangle_order(const void* a, const void* b)
{
    const sized_triangle *x = a, *y = b;
    if (x->area != y->area) return x->area > y->area ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

static talus_status mesh_find_patches(mesh* m, const double* area, talus_error* error)
{
    size_t count = (size_t)m->triangle_count;
    sized_triangle* seeds = malloc(count * sizeof *seeds);
    int32_t* member = malloc(count * sizeof *member);
    if (!seeds || !member) {
        free(seeds);
        free(member);
        return error_memory(error, "finding the flat parts of a mesh");
    }
    for (size_t i = 0; i < count; i++) {
        seeds[i] = (sized_triangle){area[i], (int32_t)i};
        m->patch[i] = -1;
    }
    qsort(seeds, count, sizeof *seeds, sized_triangle_order);
    bool single = true; // are all coordinates single precision numbers?
    for (int32_t k = 0; k < 9 * m->triangle_count && single; k++) {
        single = (double)(float)m->corner[k] == m->corner[k];
    }
    const double tolerance = (single ? 5e-7 : 1e-9) * m->size;
    for (size_t i = 0; i < count; i++)
        if (m->patch[seeds[i].triangle] < 0)
            patch_make(m, seeds[i].triangle, tolerance, area, member);
    free(seeds);
    free(member);
    return TALUS_OK;
}

/// The sharp edges that leave a corner: how many, and the sum of their directions.
typedef struct corner_edges {
    int32_t count;
    double sum[3];
} corner_edges;

/// Which edges are not flat, and which corners do not lie within a patch or on a straight edge.
static talus_status mesh_find_sharp(mesh* m, talus_error* error)
{
    corner_edges* at = calloc((size_t)m->vertex_count, sizeof *at);
    if (!at) return error_memory(error, "finding the corners of a mesh");
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t triangle = m->edge_triangle[m->edge_first[e]];
        int32_t other = flat_neighbour(m, triangle, e);
        m->edge_sharp[e] = other < 0 || m->patch[other] != m->patch[triangle];
        if (!m->edge_sharp[e]) continue;
        double along[3];
        vec_sub(3, along, m->vertex + 3 * m->edge[2 * e + 1], m->vertex + 3 * m->edge[2 * e]);
        double length = vec_norm(3, along);
        for (int end = 0; end < 2; end++) {
            corner_edges* c = at + m->edge[2 * e + end];
            c->count++;
            vec_add_scaled(3, c->sum, (end ? -1.0 : 1.0) / length, along);
        }
    }
    // Bent by less than this, an edge leaves the straight line by less than single precision shows.
    const double straight = 1e-6;
    for (int32_t v = 0; v < m->vertex_count; v++) {
        bool in_line = at[v].count == 2 && vec_norm(3, at[v].sum) <= straight;
        m->vertex_kind[v] = at[v].count == 0 ? VERTEX_FLAT
                            : in_line        ? VERTEX_STRAIGHT
                                             : VERTEX_CORNER;
    }
    free(at);
    return TALUS_OK;
}

static double triangle_centre(const mesh* m, int32_t triangle, int axis)
{
    const double* c = m->corner + 9 * triangle;
    return c[axis] + c[3 + axis] + c[6 + axis];
}

/// Reorder order[low .. high) so that what is left of `middle` is not beyond it on `axis`
/// (Hoare's selection; the index breaks ties, so that the tree is the same everywhere).
static void select_median(mesh* m, int32_t low, int32_t high, int32_t middle, int axis)
{
    int32_t* order = m->order;
    high--;
    while (low < high) {
        int32_t pivot = order[low + (high - low) / 2];
        double at = triangle_centre(m, pivot, axis);
        int32_t i = low, j = high;
        while (i <= j) {
            while (triangle_centre(m, order[i], axis) < at ||
                   (triangle_centre(m, order[i], axis) == at && order[i] < pivot))
                i++;
            while (triangle_centre(m, order[j], axis) > at ||
                   (triangle_centre(m, order[j], axis) == at && order[j] > pivot))
                j--;
            if (i > j) break;
            int32_t swap = order[i];
            order[i++] = order[j];
            order[j--] = swap;
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

/// Node for order[first .. last), with its children behind it; the depth is that of halving.
static int32_t build_node(mesh* m, int32_t first, int32_t last)
{
    int32_t index = m->node_count++;
    mesh_node* node = m->node + index;
    double low[3], high[3]; // of the centres
    for (int k = 0; k < 3; k++)
        low[k] = node->low[k] = INFINITY, high[k] = node->high[k] = -INFINITY;
    for (int32_t i = first; i < last; i++) {
        const double* c = m->corner + 9 * m->order[i];
        for (int k = 0; k < 3; k++) {
            node->low[k] = fmin(node->low[k], fmin(c[k], fmin(c[3 + k], c[6 + k])));
            node->high[k] = fmax(node->high[k], fmax(c[k], fmax(c[3 + k], c[6 + k])));
            low[k] = fmin(low[k], triangle_centre(m, m->order[i], k));
            high[k] = fmax(high[k], triangle_centre(m, m->order[i], k));
        }
    }
    node->first = first;
    node->count = last - first;
    node->right = -1;
    if (node->count <= LEAF_SIZE) return index;

    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    int32_t middle = first + (last - first) / 2;
    select_median(m, first, last, middle, axis);
    node->count = 0;
    build_node(m, first, middle);
    node->right = build_node(m, middle, last);
    return index;
}

static talus_status mesh_build(mesh* m, const triangles* t, talus_error* error)
{
    TRY(mesh_allocate(m, t, error));
    double* area = malloc(((size_t)t->triangle_count + 1) * sizeof *area);
    if (!area) return error_memory(error, "making a mesh");
    talus_status status = mesh_fill(m, t, area, error);
    if (status == TALUS_OK) status = mesh_find_edges(m, error);
    if (status == TALUS_OK) status = mesh_find_patches(m, area, error);
    free(area);
    TRY(status);
    // The corners at the other ends of each corner's edges.
    int32_t* first = m->vertex_first;
    for (int32_t k = 0; k < 2 * m->edge_count; k++) first[m->edge[k] + 2]++;
    for (int32_t v = 0; v < m->vertex_count; v++) first[v + 1] += first[v];
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t a = m->edge[2 * e], b = m->edge[2 * e + 1];
        m->vertex_near[first[a + 1]++] = b;
        m->vertex_near[first[b + 1]++] = a;
    }
    TRY(mesh_find_sharp(m, error));
    build_node(m, 0, m->triangle_count);
    return TALUS_OK;
}

talus_status mesh_make(const triangles* t, double skin, mesh** out, talus_error* error)
{
    *out = NULL;
    TRY(triangles_check(t, skin, error));
    mesh* m = calloc(1, sizeof *m);
    if (!m) return error_memory(error, "making a mesh");
    m->skin = skin;
    talus_status status = mesh_build(m, t, error);
    if (status < 0) {
        mesh_free(m);
        return status;
    }
    *out = m;
    return TALUS_OK;
}
