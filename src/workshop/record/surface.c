/// What solids and walls look like: a face of a shape becomes a polygon in the world,
///   x = position + scale R(rotation) vertex,
/// a wall the faces of geometry/wall_faces.h, and a round one a ring of quadrangles with its
/// corners on the circle. Skins are left out: a rounded shape is shown by its core, a shell by its
/// middle surface. Planes and endless cylinders are cut at the box around all grains.
#include "record/surface.h"

#include "base/error.h"
#include "base/vec.h"
#include "geometry/wall_faces.h"
#include "state/wall_form.h"

#include <stdlib.h>
#include <string.h>

void surface_free(surface* s)
{
    text_free(&s->point);
    text_free(&s->corner);
    text_free(&s->end);
    text_free(&s->owner);
    text_free(&s->part);
    *s = (surface){0};
}

static void append(text_buffer* t, const void* data, size_t size)
{
    char* room = text_room(t, size);
    if (!room) return;
    memcpy(room, data, size);
    t->size += size;
}

static void add_point(surface* s, const double x[3])
{
    append(&s->point, x, 3 * sizeof *x);
    s->points++;
}

/// Make a point a corner of the cell that is being made.
static void use_point(surface* s, int64_t point)
{
    append(&s->corner, &point, sizeof point);
    s->corners++;
}

/// A corner with a point of its own.
static void add_corner(surface* s, const double x[3])
{
    use_point(s, s->points);
    add_point(s, x);
}

static void end_cell(surface* s, int64_t owner, int32_t part, bool line)
{
    append(&s->end, &s->corners, sizeof s->corners);
    append(&s->owner, &owner, sizeof owner);
    append(&s->part, &part, sizeof part);
    s->cells++;
    if (line) s->lines++;
}

/// All faces of a solid; the faces of a part share its corners.
static void add_solid(surface* s, int64_t owner, const shapes* all, int which,
                      const double position[3], const double rotation[4], double scale)
{
    const int dim = all->dim;
    const int32_t first = all->part_first[which];
    for (int32_t p = first; p < all->part_first[which + 1]; p++) {
        const int64_t base = s->points - all->vertex_first[p];
        for (int32_t v = all->vertex_first[p]; v < all->vertex_first[p + 1]; v++) {
            double x[3] = {0};
            for (int k = 0; k < dim; k++) x[k] = scale * all->vertex[(int64_t)v * dim + k];
            quat_rotate(x, rotation, x);
            for (int k = 0; k < 3; k++) x[k] += position[k];
            add_point(s, x);
        }
        for (int32_t f = all->face_first[p]; f < all->face_first[p + 1]; f++) {
            for (int32_t c = all->loop_first[f]; c < all->loop_first[f + 1]; c++) {
                use_point(s, base + all->loop[c]);
            }
            end_cell(s, owner, p - first, false);
        }
    }
}

static talus_status finish(const surface* s, talus_error* error)
{
    bool failed =
        s->point.failed || s->corner.failed || s->end.failed || s->owner.failed || s->part.failed;
    return failed ? error_memory(error, "the surfaces of a frame") : TALUS_OK;
}

// ---- grains ------------------------------------------------------------------------------------

/// The field's numbers if it is of this type and has a row of this width for each of `rows`.
static const void* numbers(const frame_table* t, const char* name, column_type type, int width,
                           talus_error* error)
{
    const frame_field* field = frame_find(t, name);
    if (field && field->type == type && field->width == width && field->rows == t->count) {
        return field->data;
    }
    error_set(error, TALUS_ERR_FORMAT, "a frame has no good \"%s\"", name);
    return NULL;
}

talus_status surface_grains(surface* s, const shapes* all, const frame_table* grains,
                            talus_error* error)
{
    const int dim = all->dim;
    const int32_t* shape = numbers(grains, "solid", COLUMN_I32, 1, error);
    const double* scale = numbers(grains, "scale", COLUMN_F64, 1, error);
    const double* position = numbers(grains, "position", COLUMN_F64, dim, error);
    const double* rotation = numbers(grains, "rotation", COLUMN_F64, dim == 2 ? 1 : 4, error);
    if (!shape || !scale || !position || !rotation) return TALUS_ERR_FORMAT;
    for (int64_t i = 0; i < grains->count; i++) {
        if (shape[i] < 0) continue;
        if (shape[i] >= all->solid_count) {
            return error_set(error, TALUS_ERR_FORMAT, "a grain has shape %d of only %d",
                             (int)shape[i], all->solid_count);
        }
        double at[3] = {0}, turn[4] = {0};
        vec_copy(dim, at, position + i * dim);
        if (dim == 2) {
            turn[0] = cos(0.5 * rotation[i]);
            turn[3] = sin(0.5 * rotation[i]);
        } else {
            vec_copy(4, turn, rotation + 4 * i);
        }
        add_solid(s, i, all, shape[i], at, turn, scale[i]);
    }
    return finish(s, error);
}

// ---- walls -------------------------------------------------------------------------------------

enum {
    CUBES_IN_TWO = 4, ///< sizes of cubes between one and that of twice its side
    CUBE_SHIFTS = 8,  ///< places of a cube on half its side, along each axis
};

/// Let what has no end be cut at a cube around the ball that holds the box of all grains: a floor
/// reaches beyond what stands on it. Sizes and places of cubes come in steps, so that a floor stays
/// as it is from frame to frame while the grains on it move.
static void cut_at_grains(placed_wall* w, int64_t count, const double* position,
                          const double* radius)
{
    for (int k = 0; k < w->dim; k++) {
        w->box_low[k] = -1.0, w->box_high[k] = 1.0;
        for (int64_t i = 0; i < count; i++) {
            const double x = position[i * w->dim + k];
            if (i == 0 || x - radius[i] < w->box_low[k]) w->box_low[k] = x - radius[i];
            if (i == 0 || x + radius[i] > w->box_high[k]) w->box_high[k] = x + radius[i];
        }
    }
    if (count == 0) return;
    double half_size[3], centre[3];
    for (int k = 0; k < w->dim; k++) {
        centre[k] = 0.5 * (w->box_low[k] + w->box_high[k]);
        half_size[k] = 0.5 * (w->box_high[k] - w->box_low[k]);
    }
    // Half the side, with room for a centre that is half a shift away.
    const double least = vec_norm(w->dim, half_size) * CUBE_SHIFTS / (CUBE_SHIFTS - 0.5);
    const double half = exp2(ceil(CUBES_IN_TWO * log2(least)) / CUBES_IN_TWO);
    const double shift = half / CUBE_SHIFTS;
    for (int k = 0; k < w->dim; k++) {
        const double middle = shift * rint(centre[k] / shift);
        w->box_low[k] = middle - half;
        w->box_high[k] = middle + half;
    }
}

/// Corner i of the polygon that stands for a rim.
static void add_rim_corner(surface* s, const wall_mantle* m, int rim, int i)
{
    double corner[3];
    wall_rim_point(m, rim, 2.0 * M_PI * (i % WALL_SIDES) / WALL_SIDES, corner);
    add_corner(s, corner);
}

static void add_mantle(surface* s, const wall_mantle* m, int64_t owner, bool lines)
{
    if (m->rims == 1) { // a circle in the plane: closed line or polygon
        for (int i = 0; i < WALL_SIDES + lines; i++) add_rim_corner(s, m, 0, i);
        end_cell(s, owner, 0, lines);
        return;
    }
    for (int i = 0; i < WALL_SIDES; i++) {
        add_rim_corner(s, m, 0, i);
        add_rim_corner(s, m, 0, i + 1);
        add_rim_corner(s, m, 1, i + 1);
        add_rim_corner(s, m, 1, i);
        end_cell(s, owner, 0, false);
    }
    if (!m->closed) return;
    for (int i = WALL_SIDES; i > 0; i--) add_rim_corner(s, m, 0, i);
    end_cell(s, owner, 0, false);
    for (int i = 0; i < WALL_SIDES; i++) add_rim_corner(s, m, 1, i);
    end_cell(s, owner, 0, false);
}

/// In the plane, whatever grains can be on both sides of or inside of is a line.
static bool is_line(const talus_shape_def* shape, int dim)
{
    return dim == 2 && (shape->inside || shape->kind == TALUS_SHAPE_PLANE ||
                        shape->kind == TALUS_SHAPE_SEGMENT);
}

talus_status surface_walls(surface* s, const shapes* all, const frame_data* frame,
                           talus_error* error)
{
    const frame_table *grains = &frame->grains, *walls = &frame->walls;
    const double* place = numbers(grains, "position", COLUMN_F64, all->dim, error);
    const double* radius = numbers(grains, "radius", COLUMN_F64, 1, error);
    const double* position = numbers(walls, "position", COLUMN_F64, 3, error);
    const double* rotation = numbers(walls, "rotation", COLUMN_F64, 4, error);
    const uint8_t* present = numbers(walls, "present", COLUMN_U8, 1, error);
    if (!place || !radius || !position || !rotation || !present) return TALUS_ERR_FORMAT;
    if (walls->count > all->wall_count) {
        return error_set(error, TALUS_ERR_FORMAT, "only %d of %lld walls have shapes",
                         all->wall_count, (long long)walls->count);
    }
    placed_wall w = {.dim = all->dim};
    cut_at_grains(&w, grains->count, place, radius);
    for (int pass = 0; pass < 2; pass++) { // lines come first
        for (int64_t i = 0; i < walls->count; i++) {
            w.shape = &all->wall[i];
            const bool lines = is_line(w.shape, all->dim);
            if (!present[i] || lines != (pass == 0)) continue;
            vec_copy(3, w.position, position + 3 * i);
            vec_copy(4, w.rotation, rotation + 4 * i);
            if (w.shape->kind == TALUS_SHAPE_SOLID) {
                add_solid(s, i, all, w.shape->solid.index, w.position, w.rotation, 1.0);
            }
            for (int64_t f = 0; f < wall_face_count(&w); f++) {
                wall_face face;
                if (!wall_face_at(&w, f, &face)) continue;
                for (int c = 0; c < face.count; c++) add_corner(s, face.corner[c]);
                end_cell(s, i, 0, lines);
            }
            wall_mantle mantle;
            if (wall_mantle_of(&w, &mantle)) add_mantle(s, &mantle, i, lines);
        }
    }
    return finish(s, error);
}
