/// Lists of blocks, and the sources that are plain geometry: arches and masonry.
#include "scene/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "scene/shape_points.h"

void block_list_free(block_list* list)
{
    free(list->points);
    free(list->first);
    free(list->rows);
    *list = (block_list){.dim = list->dim};
}

talus_status block_list_add_shape(block_list* list, const double* points, int count, int* shape,
                                  talus_error* error)
{
    if (!arrays_grow(&list->shape_capacity, list->shape_count + 2, ARRAY(list->first))) {
        return error_memory(error, "making blocks");
    }
    if (list->shape_count == 0) list->first[0] = 0;
    int used = list->first[list->shape_count];
    size_t row = sizeof(double) * (size_t)list->dim;
    if (!arrays_grow(&list->point_capacity, used + count, ROWS(list->points, list->dim))) {
        return error_memory(error, "making blocks");
    }
    memcpy(list->points + (ptrdiff_t)used * list->dim, points, row * (size_t)count);
    *shape = list->shape_count++;
    list->first[list->shape_count] = used + count;
    return TALUS_OK;
}

talus_status block_list_add(block_list* list, const block* row, talus_error* error)
{
    if (!arrays_grow(&list->capacity, list->count + 1, ARRAY(list->rows))) {
        return error_memory(error, "making blocks");
    }
    list->rows[list->count++] = *row;
    return TALUS_OK;
}

// ---- arch --------------------------------------------------------------------------------------

talus_status generate_arch(const arch_def* def, int dim, block_list* out, talus_error* error)
{
    double points[POINTS_ROOM], share = def->angle / (double)def->blocks;
    int shape;
    if (!(def->thickness < 2.0 * def->radius) || !(share < 3.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "arch: the thickness must be below twice the radius, and a block must "
                         "span less than 170 degrees");
    }
    // Corners of the voussoir at the crown, about the arch's centre.
    const int count = dim == 3 ? 8 : 4;
    for (int i = 0; i < count; i++) {
        double r = def->radius + ((i & 1) ? 0.5 : -0.5) * def->thickness;
        double side = (i & 2) ? 1.0 : -1.0;
        double* x = points + dim * i;
        x[0] = side * r * portable_sin(0.5 * share);
        x[dim - 1] = r * portable_cos(0.5 * share);
        if (dim == 3) x[1] = (i & 4) ? 0.5 * def->depth : -0.5 * def->depth;
    }
    TRY(block_list_add_shape(out, points, count, &shape, error));
    int64_t extra = def->springers ? 1 : 0;
    for (int64_t i = -extra; i < def->blocks + extra; i++) {
        block b = {.shape = shape, .edge = EDGE_NONE, .fixed = i < 0 || i >= def->blocks};
        vec_copy(3, b.origin, def->centre);
        // From the left end to the right; seen against y, the plane of the arch is x, z in 3D.
        double turn = 0.5 * def->angle - ((double)i + 0.5) * share;
        b.rotation[dim == 3 ? 1 : 2] = dim == 3 ? -turn : turn;
        TRY(block_list_add(out, &b, error));
    }
    return TALUS_OK;
}

// ---- masonry -----------------------------------------------------------------------------------

/// Lengths of bricks that have a shape already.
typedef struct mason {
    const masonry_def* def;
    int dim;
    block_list* out;
    double* length; ///< [out->shape_count]
    int64_t capacity;
    talus_error* error;
} mason;

/// Number of the shape of a brick of this length; equal ones share it.
static talus_status brick_shape(mason* m, double length, int* shape)
{
    for (*shape = 0; *shape < m->out->shape_count; ++*shape) {
        if (fabs(m->length[*shape] - length) <= 1e-12 * length) return TALUS_OK;
    }
    if (!arrays_grow(&m->capacity, m->out->shape_count + 1, ARRAY(m->length))) {
        return error_memory(m->error, "masonry");
    }
    double points[POINTS_ROOM], size[3];
    vec_copy(3, size, m->def->brick);
    size[0] = length;
    m->length[m->out->shape_count] = length;
    return block_list_add_shape(m->out, points, points_box(m->dim, size, points), shape, m->error);
}

/// Lay a brick from x = a to x = b; what is too short to be one is left out.
static talus_status lay(mason* m, int64_t course, double a, double b)
{
    const masonry_def* d = m->def;
    if (b - a <= 1e-6 * d->brick[0]) return TALUS_OK;
    block row = {.edge = EDGE_NONE};
    TRY(brick_shape(m, b - a, &row.shape));
    vec_copy(3, row.origin, d->low);
    row.origin[0] = 0.5 * (a + b);
    if (m->dim == 3) row.origin[1] += 0.5 * d->brick[1];
    double height = d->brick[m->dim - 1];
    row.origin[m->dim - 1] += 0.5 * height + (double)course * (height + d->gap);
    if (course == d->courses - 1) row.edge = EDGE_TOP;
    if (course == 0) row.edge = EDGE_BOTTOM;
    return block_list_add(m->out, &row, m->error);
}

/// Lay a brick, cut where the course leaves something free: the opening, or the lintel's place.
static talus_status lay_cut(mason* m, int64_t course, double a, double b)
{
    const masonry_def* d = m->def;
    const bool lintel = d->opening && d->bearing > 0.0 && course == d->first + d->height;
    const bool free = d->opening && course >= d->first && course < d->first + d->height;
    const double more = lintel ? d->bearing + d->gap : 0.0;
    const double from = d->from - more, to = d->to + more;
    if (!(lintel || free) || b <= from || a >= to) return lay(m, course, a, b);
    TRY(lay(m, course, a, fmin(b, from)));
    return lay(m, course, fmax(a, to), b);
}

static talus_status lay_course(mason* m, int64_t course)
{
    const masonry_def* d = m->def;
    double pitch = d->brick[0] + d->gap, half = 0.5 * (d->brick[0] - d->gap);
    double end = d->low[0] + (double)d->bricks * pitch - d->gap;
    bool shifted = course % 2 == 1;
    double start = d->low[0];
    if (shifted) {
        TRY(lay_cut(m, course, start, start + half));
        start += half + d->gap;
    }
    for (int64_t i = 0; i < d->bricks - shifted; i++) {
        double a = start + (double)i * pitch;
        TRY(lay_cut(m, course, a, a + d->brick[0]));
    }
    if (shifted) TRY(lay_cut(m, course, end - half, end));
    if (d->opening && d->bearing > 0.0 && course == d->first + d->height) {
        TRY(lay(m, course, fmax(d->low[0], d->from - d->bearing), fmin(end, d->to + d->bearing)));
    }
    return TALUS_OK;
}

talus_status generate_masonry(const masonry_def* def, int dim, block_list* out, talus_error* error)
{
    mason m = {.def = def, .dim = dim, .out = out, .error = error};
    talus_status status = TALUS_OK;
    for (int64_t c = 0; c < def->courses && status >= 0; c++) status = lay_course(&m, c);
    free(m.length);
    return status;
}
