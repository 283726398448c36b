/// Walls and solids of a frame as points and cells of XDMF's mixed topology: 2 (line) or 3
/// (polygon), the number of corners, the corners.
///
/// Points have the precision of single numbers, which pack twice as well and are more than a
/// picture shows.
#include "record/drawing.h"

#include "record/frames.h"
#include "record/surface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { XDMF_LINE = 2, XDMF_POLYGON = 3 };

const drawn_set drawn_sets[DRAWN_SETS] = {
    {"wall_points", NULL, COLUMN_F64, WIDTH_3, "m", "corners of the walls, in single precision"},
    {"wall_cells", NULL, COLUMN_I64, WIDTH_1, "",
     "for each face of a wall 2 (line) or 3 (polygon), its number of points, the points"},
    {"wall_number", "wall", COLUMN_I64, WIDTH_1, "", "wall that a cell belongs to"},
    {"solid_points", NULL, COLUMN_F64, WIDTH_3, "m", "corners of the solids, in single precision"},
    {"solid_cells", NULL, COLUMN_I64, WIDTH_1, "",
     "for each face of a solid 3 (polygon), its number of points, the points"},
    {"solid_row", "row", COLUMN_I64, WIDTH_1, "", "row of the grain that a cell belongs to"},
    {"solid_id", "id", COLUMN_I64, WIDTH_1, "", "its id"},
    {"solid_material", "material", COLUMN_I32, WIDTH_1, "", "its material"},
    {"solid_tag", "tag", COLUMN_I32, WIDTH_1, "", "its tag"},
    {"solid_velocity", "velocity", COLUMN_F64, WIDTH_DIM, "m/s", "its velocity"},
    {"ball_radius", "radius", COLUMN_F64, WIDTH_1, "m",
     "radius of each grain that is a ball, 0 of a solid"},
};

int drawn_width(drawn_index set, int dim)
{
    const column probe = {.width = drawn_sets[set].width};
    return column_row_width(&probe, dim);
}

static size_t row_size(drawn_index set, int dim)
{
    const column probe = {.type = drawn_sets[set].type};
    return column_element_size(&probe) * (size_t)drawn_width(set, dim);
}

static void forget(drawn_memory* m)
{
    free(m->data);
    *m = (drawn_memory){.place = {.frame = -1}};
}

void drawing_forget(drawn_memory last[DRAWN_SETS])
{
    for (int k = 0; k < DRAWN_SETS; k++) forget(&last[k]);
}

// ---- making ------------------------------------------------------------------------------------

/// Memory for `rows` rows of a dataset, NULL when it is short.
static void* make(drawn_memory* made, drawn_index set, int dim, int64_t rows)
{
    made[set].place = (drawn_place){.frame = 0, .rows = rows};
    made[set].data = malloc(row_size(set, dim) * (size_t)rows + 1);
    return made[set].data;
}

/// Points, cells and owners of a surface as the three datasets from `first` on.
static bool make_surface(const surface* s, drawn_index first, int dim, drawn_memory* made)
{
    double* point = make(made, first, dim, s->points);
    int64_t* cell = make(made, first + 1, dim, 2 * s->cells + s->corners);
    int64_t* owner = make(made, first + 2, dim, s->cells);
    if (!point || !cell || !owner) return false;
    const double* x = (const double*)(const void*)s->point.data;
    const int64_t* corner = (const int64_t*)(const void*)s->corner.data;
    const int64_t* end = (const int64_t*)(const void*)s->end.data;
    for (int64_t i = 0; i < 3 * s->points; i++) point[i] = (double)(float)x[i];
    for (int64_t i = 0, c = 0; i < s->cells; i++) {
        *cell++ = i < s->lines ? XDMF_LINE : XDMF_POLYGON;
        *cell++ = end[i] - c;
        while (c < end[i]) *cell++ = corner[c++];
    }
    if (s->cells > 0) memcpy(owner, s->owner.data, sizeof *owner * (size_t)s->cells);
    return true;
}

static bool make_walls(const shapes* all, const frame_data* d, drawn_memory* made)
{
    surface s = {0};
    const bool good = surface_walls(&s, all, d, NULL) == TALUS_OK &&
                      make_surface(&s, DRAWN_WALL_POINTS, d->dim, made);
    surface_free(&s);
    return good;
}

/// The grain's number, or row of numbers, for each cell of the solids.
static bool make_field(drawn_index set, const frame_data* d, drawn_memory* made)
{
    const drawn_memory* owner = &made[DRAWN_SOLID_FIELDS];
    const int64_t *grain = owner->data, rows = owner->place.rows;
    const size_t size = row_size(set, d->dim);
    const char* from = frame_numbers(&d->grains, drawn_sets[set].field, drawn_sets[set].type,
                                     drawn_width(set, d->dim));
    char* to = make(made, set, d->dim, rows);
    if (!from || !to) return false;
    for (int64_t i = 0; i < rows; i++) {
        memcpy(to + size * (size_t)i, from + size * (size_t)grain[i], size);
    }
    return true;
}

static bool make_solids(const shapes* all, const frame_data* d, drawn_memory* made)
{
    surface s = {0};
    bool good = surface_grains(&s, all, &d->grains, NULL) == TALUS_OK &&
                make_surface(&s, DRAWN_SOLID_POINTS, d->dim, made);
    surface_free(&s);
    for (drawn_index set = DRAWN_SOLID_FIELDS + 1; good && set < DRAWN_RADIUS; set++) {
        good = make_field(set, d, made);
    }
    const double* radius = frame_numbers(&d->grains, "radius", COLUMN_F64, 1);
    const int32_t* shape = frame_numbers(&d->grains, "solid", COLUMN_I32, 1);
    double* ball = make(made, DRAWN_RADIUS, d->dim, d->grains.count);
    if (!good || !radius || !shape || !ball) return false;
    for (int64_t i = 0; i < d->grains.count; i++) ball[i] = shape[i] >= 0 ? 0.0 : radius[i];
    return true;
}

// ---- writing -----------------------------------------------------------------------------------

/// Write a dataset unless it is what was written last, and remember it.
static bool write_set(hid_t group, drawn_index set, int dim, int64_t number, int threads,
                      bool reduced_units, drawn_memory* made, drawn_memory* last)
{
    const drawn_set* what = &drawn_sets[set];
    const int64_t rows = made->place.rows;
    bool good = true;
    if (last->place.frame < 0 || last->place.rows != rows ||
        memcmp(last->data, made->data, row_size(set, dim) * (size_t)rows) != 0) {
        const char* unit = reduced_units && what->unit[0] ? "reduced" : what->unit;
        good = h5_write_packed(group, what->name, what->type, rows, drawn_width(set, dim),
                               made->data, threads) &&
               frame_put_words(group, what->name, unit, what->doc);
        forget(last);
        *last = (drawn_memory){.place = {number, rows}, .data = made->data};
        made->data = NULL;
    }
    const int64_t place[2] = {last->place.frame, last->place.rows};
    return good && h5_put_numbers(group, what->name, COLUMN_I64, 2, place);
}

bool drawing_write(hid_t frame, int64_t number, const shapes* all, const frame_data* d, int threads,
                   bool reduced_units, drawn_memory last[DRAWN_SETS], drawn_place out[DRAWN_SETS])
{
    drawn_memory made[DRAWN_SETS];
    for (int k = 0; k < DRAWN_SETS; k++) made[k] = (drawn_memory){.place = {.frame = -1}};
    hid_t group = H5Gcreate2(frame, DRAWING_GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 && (all->wall_count == 0 || make_walls(all, d, made)) &&
                (all->solid_count == 0 || make_solids(all, d, made));
    for (drawn_index set = 0; good && set < DRAWN_SETS; set++) {
        out[set] = (drawn_place){.frame = -1};
        if (made[set].place.frame < 0) continue;
        good =
            write_set(group, set, d->dim, number, threads, reduced_units, &made[set], &last[set]);
        out[set] = last[set].place;
    }
    if (group >= 0) H5Gclose(group);
    drawing_forget(made);
    if (!good) drawing_forget(last);
    return good;
}

// ---- reading -----------------------------------------------------------------------------------

bool drawing_find(hid_t frame, int64_t number, drawn_place out[DRAWN_SETS])
{
    for (int k = 0; k < DRAWN_SETS; k++) out[k] = (drawn_place){.frame = -1};
    if (!h5_has(frame, DRAWING_GROUP)) return true;
    hid_t group = H5Gopen2(frame, DRAWING_GROUP, H5P_DEFAULT);
    bool good = group >= 0;
    for (int k = 0; good && k < DRAWN_SETS; k++) {
        int64_t place[2];
        if (H5Aexists(group, drawn_sets[k].name) <= 0) continue;
        good = h5_get_numbers(group, drawn_sets[k].name, COLUMN_I64, 2, place) && place[0] >= 0 &&
               place[0] <= number && place[1] >= 0;
        if (good) out[k] = (drawn_place){place[0], place[1]};
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

bool drawing_recall(hid_t file, drawn_index set, int dim, drawn_place place, drawn_memory* last)
{
    char name[128];
    int64_t rows = 0;
    int width = 0;
    forget(last);
    snprintf(name, sizeof name, "/frames/%06lld/" DRAWING_GROUP "/%s", (long long)place.frame,
             drawn_sets[set].name);
    if (!h5_shape(file, name, drawn_sets[set].type, &rows, &width) || rows != place.rows ||
        width != drawn_width(set, dim)) {
        return false;
    }
    last->data = malloc(row_size(set, dim) * (size_t)rows + 1);
    if (!last->data || (rows > 0 && !h5_read(file, name, drawn_sets[set].type, last->data))) {
        forget(last);
        return false;
    }
    last->place = place;
    return true;
}
