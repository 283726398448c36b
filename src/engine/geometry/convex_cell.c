/// Cutting convex cells by planes.
///
/// Each loop is clipped on its own (Sutherland and Hodgman); the corners that the plane makes, one
/// where each loop leaves the kept side, are sorted by angle into the new face.
#include "geometry/convex_cell.h"

#include "base/array.h"
#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

static void loops_free(convex_loops* l)
{
    free(l->first);
    free(l->x);
    free(l->tag);
}

void convex_cell_free(convex_cell* c)
{
    loops_free(&c->now);
    loops_free(&c->spare);
    free(c->section);
    *c = (convex_cell){0};
}

/// Make room; tags have room for either use.
static talus_status loops_reserve(convex_loops* l, int faces, int corners)
{
    const int tags = faces > corners ? faces : corners;
    const bool good = arrays_grow(&l->face_capacity, faces + 1, ARRAY(l->first)) &&
                      arrays_grow(&l->corner_capacity, tags, ROWS(l->x, 3), ARRAY(l->tag));
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

static int corners_of(const convex_loops* l)
{
    return l->faces > 0 ? l->first[l->faces] : 0;
}

talus_status convex_cell_box(convex_cell* c, int dim, const double low[3], const double high[3],
                             const int32_t tag[3])
{
    convex_loops* l = &c->now;
    c->dim = dim;
    TRY(loops_reserve(l, 6, 24));
    l->faces = dim == 2 ? 1 : 6;
    for (int f = 0; f < l->faces; f++) {
        int axis = dim == 2 ? 2 : f / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        bool up = dim == 2 || f % 2 == 1; // counterclockwise from outside
        l->first[f] = 4 * f;
        for (int i = 0; i < 4; i++) {
            int corner = up ? i : 3 - i;
            double* x = l->x + 3 * (4 * f + i);
            x[axis] = dim == 2 ? 0.0 : up ? high[axis] : low[axis];
            x[u] = corner == 1 || corner == 2 ? high[u] : low[u];
            x[v] = corner >= 2 ? high[v] : low[v];
            if (dim == 2) l->tag[i] = tag[i % 2 == 0 ? v : u];
        }
        if (dim == 3) l->tag[f] = tag[axis];
    }
    l->first[l->faces] = 4 * l->faces;
    return TALUS_OK;
}

talus_status convex_cell_loops(convex_cell* c, int dim, int faces, const int32_t* first,
                               const int32_t* corner, const double* x, const double* shift)
{
    convex_loops* l = &c->now;
    const int corners = first[faces];
    c->dim = dim;
    TRY(loops_reserve(l, faces, corners));
    l->faces = faces;
    for (int f = 0; f <= faces; f++) l->first[f] = first[f];
    for (int i = 0; i < corners; i++) {
        const double* from = x + (corner ? corner[i] : i) * dim;
        l->x[3 * i + 2] = 0.0;
        for (int k = 0; k < dim; k++) l->x[3 * i + k] = from[k] + shift[k];
    }
    for (int i = 0; i < (dim == 2 ? corners : faces); i++) l->tag[i] = 0;
    return TALUS_OK;
}

talus_status convex_cell_copy(convex_cell* c, const convex_cell* from)
{
    const convex_loops* f = &from->now;
    const int corners = corners_of(f);
    c->dim = from->dim;
    TRY(loops_reserve(&c->now, f->faces, corners));
    c->now.faces = f->faces;
    if (f->faces == 0) return TALUS_OK;
    memcpy(c->now.first, f->first, sizeof *f->first * ((size_t)f->faces + 1));
    memcpy(c->now.x, f->x, sizeof *f->x * 3 * (size_t)corners);
    memcpy(c->now.tag, f->tag, sizeof *f->tag * (size_t)(c->dim == 2 ? corners : f->faces));
    return TALUS_OK;
}

// ---- cutting -----------------------------------------------------------------------------------

static bool is_cut(const convex_loops* l, const double normal[3], double offset)
{
    const int corners = corners_of(l);
    for (int i = 0; i < corners; i++) {
        if (vec_dot(3, normal, l->x + 3 * i) - offset > 0.0) return true;
    }
    return false;
}

/// A cut on its way: the plane, and the corners of the new face found so far.
typedef struct cutting {
    const double* normal;
    double offset;
    int32_t tag;
    double* section;
    int section_count;
} cutting;

static void push(convex_loops* to, int* count, const double x[3], int32_t tag, bool flat)
{
    vec_copy(3, to->x + 3 * *count, x);
    if (flat) to->tag[*count] = tag;
    ++*count;
}

/// Keep one side of loop f; returns the corners of `to` with it. New corners are computed from the
/// kept corner, so that both faces at an edge get the same bits.
static int clip_loop(const convex_loops* from, int f, cutting* cut, convex_loops* to, int count,
                     bool flat)
{
    const int begin = from->first[f], end = from->first[f + 1];
    for (int i = begin; i < end; i++) {
        const int next = i + 1 < end ? i + 1 : begin;
        const double *a = from->x + 3 * i, *b = from->x + 3 * next;
        const int32_t tag = flat ? from->tag[i] : 0;
        double da = vec_dot(3, cut->normal, a) - cut->offset;
        double db = vec_dot(3, cut->normal, b) - cut->offset;
        if (da <= 0.0) push(to, &count, a, tag, flat);
        if ((da <= 0.0) == (db <= 0.0)) continue;
        const double *in = da <= 0.0 ? a : b, *out = da <= 0.0 ? b : a;
        double d_in = fmin(da, db), t = d_in / (d_in - fmax(da, db)), x[3];
        for (int k = 0; k < 3; k++) x[k] = in[k] + t * (out[k] - in[k]);
        push(to, &count, x, da <= 0.0 ? cut->tag : tag, flat);
        if (da <= 0.0) vec_copy(3, cut->section + 4 * cut->section_count++, x);
    }
    return count;
}

talus_status convex_cell_cut(convex_cell* c, const double normal[3], double offset, int32_t tag)
{
    const bool flat = c->dim == 2;
    if (!is_cut(&c->now, normal, offset)) return TALUS_OK;
    // At most a new corner for each old one, and as many again in the new face.
    const int most = corners_of(&c->now);
    TRY(loops_reserve(&c->spare, c->now.faces + 1, 3 * most));
    if (!arrays_grow(&c->section_capacity, most, ROWS(c->section, 4))) return TALUS_ERR_MEMORY;
    const convex_loops* from = &c->now;
    convex_loops* to = &c->spare;
    cutting cut = {normal, offset, tag, c->section, 0};
    to->faces = 0;
    int count = 0;
    for (int f = 0; f < from->faces; f++) {
        const int end = clip_loop(from, f, &cut, to, count, flat);
        if (end - count < 3) continue;
        if (!flat) to->tag[to->faces] = from->tag[f];
        to->first[to->faces++] = count;
        count = end;
    }
    if (!flat && cut.section_count >= 3 && to->faces > 0) {
        // Sort the corners of the new face around its normal.
        double frame[3][3], middle[3] = {0};
        const int corners = cut.section_count;
        vec_frame(3, normal, frame);
        for (int i = 0; i < corners; i++) {
            vec_add_scaled(3, middle, 1.0 / corners, cut.section + 4 * i);
        }
        for (int i = 0; i < corners; i++) {
            double arm[3], row[4];
            vec_copy(3, row, cut.section + 4 * i);
            vec_sub(3, arm, row, middle);
            row[3] = portable_atan2(vec_dot(3, arm, frame[2]), vec_dot(3, arm, frame[1]));
            int at = i;
            for (; at > 0 && cut.section[4 * (at - 1) + 3] > row[3]; at--) {
                vec_copy(4, cut.section + 4 * at, cut.section + 4 * (at - 1));
            }
            vec_copy(4, cut.section + 4 * at, row);
        }
        to->tag[to->faces] = tag;
        to->first[to->faces++] = count;
        for (int i = 0; i < corners; i++) push(to, &count, cut.section + 4 * i, 0, flat);
    }
    to->first[to->faces] = count;
    convex_loops swap = c->now;
    c->now = c->spare;
    c->spare = swap;
    return TALUS_OK;
}

// ---- measures ----------------------------------------------------------------------------------

double convex_cell_radius(const convex_cell* c)
{
    const int corners = corners_of(&c->now);
    double square = 0.0;
    for (int i = 0; i < corners; i++) {
        square = fmax(square, vec_dot(3, c->now.x + 3 * i, c->now.x + 3 * i));
    }
    return sqrt(square);
}

void convex_cell_extent(const convex_cell* c, double low[3], double high[3])
{
    const int corners = corners_of(&c->now);
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (int i = 0; i < corners; i++) {
            low[k] = fmin(low[k], c->now.x[3 * i + k]);
            high[k] = fmax(high[k], c->now.x[3 * i + k]);
        }
    }
}

/// Triangles (2D) or tetrahedra between the origin and the faces.
double convex_cell_volume(const convex_cell* c, double centre[3])
{
    const convex_loops* l = &c->now;
    const double share = c->dim == 2 ? 1.0 / 3.0 : 0.25;
    double total = 0.0, sum[3] = {0};
    for (int f = 0; f < l->faces; f++) {
        const int begin = l->first[f], end = l->first[f + 1];
        for (int i = c->dim == 2 ? begin : begin + 1; i < end; i++) {
            const double *a = l->x + 3 * i, *b = l->x + 3 * (i + 1 < end ? i + 1 : begin);
            const double* apex = l->x + 3 * begin;
            double cross[3];
            vec_cross(cross, a, b);
            double weight = c->dim == 2 ? cross[2] : vec_dot(3, apex, cross);
            total += weight;
            vec_add_scaled(3, sum, share * weight, a);
            vec_add_scaled(3, sum, share * weight, b);
            if (c->dim == 3) vec_add_scaled(3, sum, share * weight, apex);
        }
    }
    if (centre) {
        for (int k = 0; k < 3; k++) centre[k] = sum[k] / total;
    }
    return total / (c->dim == 2 ? 2.0 : 6.0);
}

double convex_cell_face(const convex_cell* c, int f, double centre[3])
{
    const convex_loops* l = &c->now;
    if (c->dim == 2) {
        const double *a = l->x + 3 * f, *b = l->x + 3 * (f + 1 < l->first[1] ? f + 1 : 0);
        double edge[3];
        vec_sub(3, edge, b, a);
        for (int k = 0; k < 3 && centre; k++) centre[k] = 0.5 * (a[k] + b[k]);
        return vec_norm(3, edge);
    }
    const double* base = l->x + 3 * l->first[f];
    double total = 0.0, sum[3] = {0};
    for (int i = l->first[f] + 1; i + 1 < l->first[f + 1]; i++) {
        double edge[3], other[3], cross[3];
        vec_sub(3, edge, l->x + 3 * i, base);
        vec_sub(3, other, l->x + 3 * (i + 1), base);
        vec_cross(cross, edge, other);
        const double area = 0.5 * vec_norm(3, cross); // of a convex loop: all turn the same way
        total += area;
        vec_add_scaled(3, sum, area / 3.0, edge);
        vec_add_scaled(3, sum, area / 3.0, other);
    }
    for (int k = 0; k < 3 && centre; k++)
        centre[k] = base[k] + (total > 0.0 ? sum[k] / total : 0.0);
    return total;
}
