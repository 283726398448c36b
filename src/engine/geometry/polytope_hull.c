/// Convex hulls by qhull (Barber, Dobkin & Huhdanpaa 1996), with whole faces and an order of its
/// own.
///
/// The points are first moved to the origin and scaled by a power of two to an extent between 1/2
/// and 1, so that small, large and distant shapes are treated alike. qhull then runs with joggled
/// input (QJ): it shifts every point at random, by about 1e-10 of the extent and the same on every
/// machine, until all facets are triangles that form a convex surface to the last bit. So its
/// answer is always a proper surface, even for grids of points on flat faces. The joggled points
/// only say who is whose neighbour; coordinates and normals are those of the points as given.
///
/// Flat means: within 2e-7 of the largest extent. That takes shapes with coordinates in single
/// precision (STL, 6e-8) for what they were meant to be, but leaves a polygon of 4096 corners as it
/// is. For thin shapes it is at most a thousandth of the thickness. Points nearer to each other
/// than that are one corner. Where noise of just that size leaves faces that are not convex, other
/// tolerances are tried, at most 16 times as large.
///
/// Vertices come in the order in which the points were given (2D: counterclockwise from the first
/// of them), faces and edges in the order of their vertices' numbers: qhull's order leaves no
/// trace.
#include "geometry/polytope_hull.h"

#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"

#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FLAT = 2e-7;                      ///< of the extent
static const double FLAT_OF_THIN = 1e-3;              ///< of the thickness
static const double THINNEST = 1e-6;                  ///< thickness of a body, of its extent
static const double SMALLEST = 1e-50, LARGEST = 1e50; ///< fifth powers must fit into a double

/// A hull on its way.
typedef struct hull {
    int dim, count;    ///< points that are given
    const double* raw; ///< [count][dim] as given
    double* point;     ///< [count][dim] moved and scaled
    int exponent;      ///< point = (raw - middle) / 2^exponent
    double extent, thickness;
    double* active; ///< [active_count][dim] points that qhull is to see
    int32_t* index; ///< [active_count] their numbers
    int active_count;
    int32_t* facet; ///< [facet_count][dim] corners as numbers of given points, counterclockwise
    int facet_count;
    uint8_t* gone; ///< [count] point is a double of another one
} hull;

static const double* hull_point(const hull* h, int i)
{
    return h->point + (size_t)h->dim * (size_t)i;
}

static talus_status hull_begin(hull* h, talus_error* error)
{
    if (h->count < h->dim + 1) {
        return error_set(error, TALUS_ERR_ARGUMENT, "%d points make no %s: at least %d are needed",
                         h->count, h->dim == 2 ? "polygon" : "polyhedron", h->dim + 1);
    }
    for (int i = 0; i < h->count; i++) {
        if (vec_finite(h->dim, h->raw + (size_t)h->dim * (size_t)i)) continue;
        return error_set(error, TALUS_ERR_ARGUMENT, "point %d is not a finite number", i + 1);
    }
    size_t rows = (size_t)h->count, width = rows * (size_t)h->dim;
    h->point = malloc(width * sizeof *h->point);
    h->active = malloc(width * sizeof *h->active);
    h->index = malloc(rows * sizeof *h->index);
    h->gone = calloc(rows, 1);
    if (!h->point || !h->active || !h->index || !h->gone) {
        return error_memory(error, "finding a convex hull");
    }
    return TALUS_OK;
}

/// Move the middle of the points' bounding box to the origin and scale.
static talus_status hull_normalise(hull* h, talus_error* error)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < h->count; i++) {
        for (int k = 0; k < h->dim; k++) {
            double x = h->raw[(size_t)h->dim * (size_t)i + (size_t)k];
            low[k] = fmin(low[k], x), high[k] = fmax(high[k], x);
        }
    }
    double extent = 0.0;
    for (int k = 0; k < h->dim; k++) extent = fmax(extent, high[k] - low[k]);
    if (!(extent > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "all points are the same");
    }
    if (!(extent >= SMALLEST && extent <= LARGEST)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the points extend over %g; it must be between %g and %g", extent,
                         SMALLEST, LARGEST);
    }
    h->extent = frexp(extent, &h->exponent);
    for (int i = 0; i < h->count; i++) {
        for (int k = 0; k < h->dim; k++) {
            size_t at = (size_t)h->dim * (size_t)i + (size_t)k;
            double middle = low[k] + 0.5 * (high[k] - low[k]);
            h->point[at] = ldexp(h->raw[at] - middle, -h->exponent);
        }
    }
    return TALUS_OK;
}

/// Part of `a` that is perpendicular to the first `count` of the unit vectors `axis`.
static double perpendicular(int dim, double a[3], int count, double axis[3][3])
{
    for (int j = 0; j < count; j++) vec_add_scaled(dim, a, -vec_dot(dim, a, axis[j]), axis[j]);
    return vec_norm(dim, a);
}

/// Thickness, from a simplex of points each of which is the farthest from those before it.
static talus_status hull_measure(hull* h, talus_error* error)
{
    static const char* const lies[] = {"", "", "the points lie on one line",
                                       "the points lie in one plane"};
    const double* start = hull_point(h, 0);
    double axis[3][3], d[3];
    for (int j = -1; j < h->dim; j++) {
        int farthest = 0;
        double most = -1.0;
        for (int i = 0; i < h->count; i++) {
            vec_sub(h->dim, d, hull_point(h, i), start);
            double distance = perpendicular(h->dim, d, j, axis);
            if (distance > most) most = distance, farthest = i;
        }
        if (j < 0) {
            start = hull_point(h, farthest); // a corner for sure
            continue;
        }
        if (j > 0 && most < THINNEST * h->extent) {
            return error_set(error, TALUS_ERR_ARGUMENT, "%s%s", lies[j + 1],
                             most > 1e-12 * h->extent
                                 ? ", or too nearly so: within a millionth of their extent"
                                 : "");
        }
        vec_sub(h->dim, axis[j], hull_point(h, farthest), start);
        perpendicular(h->dim, axis[j], j, axis);
        // Once more: the first subtraction leaves a rounded remainder along the other axes.
        double length = perpendicular(h->dim, axis[j], j, axis);
        for (int k = 0; k < h->dim; k++) axis[j][k] /= length;
        h->thickness = most;
    }
    return TALUS_OK;
}

// ---- doubles -----------------------------------------------------------------------------------

typedef struct keyed_point {
    const double* x;
    int32_t number;
    int dim;
} keyed_point;

static int compare_points(const void* left, const void* right)
{
    const keyed_point *a = left, *b = right;
    for (int k = 0; k < a->dim; k++) {
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k] ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

/// Points that are equal to the bit: only the first one stays.
static talus_status hull_drop_equal(hull* h, talus_error* error)
{
    keyed_point* sorted = malloc((size_t)h->count * sizeof *sorted);
    if (!sorted) return error_memory(error, "finding a convex hull");
    for (int i = 0; i < h->count; i++) sorted[i] = (keyed_point){hull_point(h, i), i, h->dim};
    qsort(sorted, (size_t)h->count, sizeof *sorted, compare_points);
    for (int i = 1; i < h->count; i++) {
        if (memcmp(sorted[i].x, sorted[i - 1].x, (size_t)h->dim * sizeof(double)) == 0) {
            h->gone[sorted[i].number] = 1;
        }
    }
    free(sorted);
    return TALUS_OK;
}

/// Weld corners of the hull that are nearer than `weld`; *welded if there were any.
static talus_status hull_drop_close(hull* h, double weld, bool* welded, talus_error* error)
{
    *welded = false;
    int count = h->facet_count * h->dim;
    keyed_point* sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) return error_memory(error, "finding a convex hull");
    for (int i = 0; i < count; i++) {
        sorted[i] = (keyed_point){hull_point(h, h->facet[i]), h->facet[i], h->dim};
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_points);
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count && sorted[j].x[0] - sorted[i].x[0] <= weld; j++) {
            int a = sorted[i].number, b = sorted[j].number;
            if (a == b || h->gone[a] || h->gone[b]) continue;
            double d[3];
            vec_sub(h->dim, d, sorted[i].x, sorted[j].x);
            if (vec_dot(h->dim, d, d) > weld * weld) continue;
            // All points within `weld` of the first of the two, other than itself, are gone.
            const int kept = a < b ? a : b;
            for (int other = 0; other < h->count; other++) {
                vec_sub(h->dim, d, hull_point(h, other), hull_point(h, kept));
                if (other != kept && vec_dot(h->dim, d, d) <= weld * weld) h->gone[other] = 1;
            }
            *welded = true;
        }
    }
    free(sorted);
    return TALUS_OK;
}

// ---- qhull -------------------------------------------------------------------------------------

/// Facets with their corners counterclockwise seen from outside.
static talus_status hull_copy_facets(hull* h, qhT* qh, talus_error* error)
{
    facetT* facet;
    free(h->facet);
    h->facet_count = qh->num_facets;
    h->facet = malloc((size_t)h->facet_count * (size_t)h->dim * sizeof *h->facet);
    if (!h->facet) return error_memory(error, "finding a convex hull");
    int count = 0;
    FORALLfacets
    {
        if (count == h->facet_count) break;
        int32_t* corner = h->facet + h->dim * count++;
        vertexT *vertex, **vertexp;
        int corners = 0;
        FOREACHvertex_(facet->vertices)
        {
            if (corners < h->dim) corner[corners++] = h->index[qh_pointid(qh, vertex->point)];
        }
        // qhull keeps the corners in no geometric order, only with the parity of the permutation.
        if ((facet->toporient ^ qh_ORIENTclock) == (h->dim == 3)) {
            int32_t other = corner[0];
            corner[0] = corner[1], corner[1] = other;
        }
    }
    h->facet_count = count;
    return TALUS_OK;
}

/// Facets of the points that are not gone.
static talus_status hull_run(hull* h, talus_error* error)
{
    h->active_count = 0;
    for (int i = 0; i < h->count; i++) {
        if (h->gone[i]) continue;
        vec_copy(h->dim, h->active + (size_t)h->dim * (size_t)h->active_count, hull_point(h, i));
        h->index[h->active_count++] = i;
    }
    if (h->active_count < h->dim + 1) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "of %d points only %d differ: at least %d are needed", h->count,
                         h->active_count, h->dim + 1);
    }
    // qhull would print its complaints to stderr if it had no file for them.
    char* complaint = NULL;
    size_t size = 0;
    FILE* sink = open_memstream(&complaint, &size);
    qhT* qh = malloc(sizeof *qh);
    if (!sink || !qh) {
        if (sink) fclose(sink);
        free(complaint);
        free(qh);
        return error_memory(error, "finding a convex hull");
    }
    qh_zero(qh, sink);
    char command[] = "qhull QJ";
    int code = qh_new_qhull(qh, h->dim, h->active_count, h->active, False, command, NULL, sink);
    talus_status status = TALUS_OK;
    if (code == qh_ERRnone) {
        status = hull_copy_facets(h, qh, error);
    } else if (code == qh_ERRmem) {
        status = error_memory(error, "finding a convex hull");
    } else {
        status =
            error_set(error, TALUS_ERR_ARGUMENT,
                      "the points have no convex hull that can be found (qhull's code %d)", code);
    }
    int long_left = 0, long_total = 0;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &long_left, &long_total);
    free(qh);
    fclose(sink);
    free(complaint);
    return status;
}

/// Facets, with no two corners nearer than `weld`.
static talus_status hull_find(hull* h, double weld, talus_error* error)
{
    enum { ROUNDS = 8 }; // each round takes a whole crowd of points to its first one
    TRY(hull_drop_equal(h, error));
    bool welded = true;
    for (int round = 0; round < ROUNDS && welded; round++) {
        TRY(hull_run(h, error));
        TRY(hull_drop_close(h, weld, &welded, error));
    }
    return TALUS_OK;
}

// ---- polygons ----------------------------------------------------------------------------------

/// Do the corners between `from` and `to` lie within `flat` of the chord between these?
static bool chord_holds(const hull* h, const int32_t* ring, int count, int from, int to,
                        double flat)
{
    const double *a = hull_point(h, ring[from % count]), *b = hull_point(h, ring[to % count]);
    double e[2], d[2];
    vec_sub(2, e, b, a);
    double length = vec_norm(2, e);
    for (int i = from + 1; i < to; i++) {
        vec_sub(2, d, hull_point(h, ring[i % count]), a);
        if (fabs(e[0] * d[1] - e[1] * d[0]) > flat * length) return false;
    }
    return true;
}

/// Normals and offsets of a polygon from the corners' numbers.
static talus_status polygon_fill(const hull* h, const int32_t* corner, int count, polytope* out,
                                 talus_error* error)
{
    *out = (polytope){.dim = 2, .vertex_count = count, .face_count = count};
    out->vertex = malloc(2 * (size_t)count * sizeof(double));
    out->normal = malloc(2 * (size_t)count * sizeof(double));
    out->offset = malloc((size_t)count * sizeof(double));
    if (!out->vertex || !out->normal || !out->offset) {
        polytope_free(out);
        return error_memory(error, "making a polygon");
    }
    int first = 0;
    for (int i = 0; i < count; i++) {
        if (corner[i] < corner[first]) first = i;
    }
    for (int i = 0; i < count; i++) {
        int a = corner[(first + i) % count], b = corner[(first + i + 1) % count];
        const double *from = h->raw + 2 * (size_t)a, *to = h->raw + 2 * (size_t)b;
        double length = portable_hypot(to[0] - from[0], to[1] - from[1]);
        double* normal = out->normal + 2 * i;
        normal[0] = (to[1] - from[1]) / length;
        normal[1] = -(to[0] - from[0]) / length;
        vec_copy(2, out->vertex + 2 * i, from);
        out->offset[i] = 0.5 * (vec_dot(2, normal, from) + vec_dot(2, normal, to));
    }
    return TALUS_OK;
}

static talus_status too_many(int count, talus_error* error)
{
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "the convex hull has %d corners; at most %d are possible", count,
                     POLYTOPE_MAX_VERTICES);
}

static talus_status hull_polygon(hull* h, double flat, polytope* out, talus_error* error)
{
    int count = h->facet_count;
    int32_t* next = malloc((size_t)h->count * sizeof *next);
    int32_t* ring = malloc((size_t)count * sizeof *ring);
    int32_t* kept = malloc((size_t)count * sizeof *kept);
    talus_status status = TALUS_OK;
    if (!next || !ring || !kept) {
        status = error_memory(error, "finding a convex hull");
        goto done;
    }
    for (int i = 0; i < count; i++) next[h->facet[2 * i]] = h->facet[2 * i + 1];
    ring[0] = h->facet[0];
    for (int i = 1; i < count; i++) ring[i] = next[ring[i - 1]];
    // Keep of the counterclockwise ring what is needed. The corner farthest from the middle is
    // needed for sure: begin there.
    int start = 0;
    double most = -1.0;
    for (int i = 0; i < count; i++) {
        double distance = vec_norm(2, hull_point(h, ring[i]));
        if (distance > most) most = distance, start = i;
    }
    int corners = 0, from = start;
    while (from < start + count) {
        int to = from + 1;
        while (to < start + count && chord_holds(h, ring, count, from, to + 1, flat)) to++;
        kept[corners++] = ring[from % count];
        from = to;
    }
    if (corners > POLYTOPE_MAX_VERTICES) {
        status = too_many(corners, error);
    } else {
        status = polygon_fill(h, kept, corners, out, error);
    }
done:
    free(next);
    free(ring);
    free(kept);
    return status;
}

// ---- polyhedra ---------------------------------------------------------------------------------

static talus_status hull_polyhedron(hull* h, double flat, polytope* out, talus_error* error)
{
    // Noise of just the size of the tolerance may leave no proper faces: then try others.
    static const double factor[] = {1.0, 0.25, 0.0625, 4.0, 1.0 / 64.0, 16.0, 1e-3, 1e-4};
    const int attempts = sizeof factor / sizeof *factor;
    // A triangulation has twice as many triangles as corners, less four.
    if (h->facet_count > 1 << 20) return too_many(h->facet_count / 2 + 2, error);
    int32_t* corner_of = malloc((size_t)h->count * sizeof *corner_of);
    if (!corner_of) return error_memory(error, "finding a convex hull");
    triangulation t = {.point = h->point,
                       .point_count = h->count,
                       .corner = h->facet,
                       .count = h->facet_count,
                       .straight = FLAT * h->extent};
    talus_status status = TALUS_OK;
    bool proper = false;
    for (int attempt = 0; attempt < attempts && status == TALUS_OK && !proper; attempt++) {
        t.flat = factor[attempt] * flat;
        status = hull_merge(&t, out, corner_of, &proper, error);
    }
    if (status == TALUS_OK && !proper) {
        status = error_set(error, TALUS_ERR_ARGUMENT,
                           "the points have no clear convex hull: too many of them nearly lie in "
                           "one plane or nearly coincide");
    }
    if (status == TALUS_OK) {
        out->vertex = malloc(3 * (size_t)out->vertex_count * sizeof(double));
        if (!out->vertex) status = error_memory(error, "making a polyhedron");
    }
    for (int v = 0; status == TALUS_OK && v < out->vertex_count; v++) { // corners as given
        vec_copy(3, out->vertex + 3 * v, h->raw + 3 * (size_t)corner_of[v]);
    }
    for (int f = 0; status == TALUS_OK && f < out->face_count; f++) {
        // Rounding and what was merged leave the corners a little off the plane: take the middle.
        double sum = 0.0;
        for (int32_t i = out->face_first[f]; i < out->face_first[f + 1]; i++) {
            sum += vec_dot(3, out->normal + 3 * f, out->vertex + 3 * out->face_vertex[i]);
        }
        out->offset[f] = sum / (out->face_first[f + 1] - out->face_first[f]);
    }
    if (status != TALUS_OK) polytope_free(out);
    free(corner_of);
    return status;
}

static talus_status hull_make(hull* h, polytope* out, talus_error* error)
{
    TRY(hull_begin(h, error));
    TRY(hull_normalise(h, error));
    TRY(hull_measure(h, error));
    double flat = fmin(FLAT * h->extent, FLAT_OF_THIN * h->thickness);
    TRY(hull_find(h, flat, error));
    return h->dim == 2 ? hull_polygon(h, flat, out, error) : hull_polyhedron(h, flat, out, error);
}

talus_status polytope_hull(int dim, const double* points, int count, polytope* out,
                           talus_error* error)
{
    *out = (polytope){0};
    hull h = {.dim = dim, .count = count, .raw = points};
    talus_status status = hull_make(&h, out, error);
    free(h.point);
    free(h.active);
    free(h.index);
    free(h.facet);
    free(h.gone);
    return status;
}
