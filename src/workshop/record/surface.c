/// What solids and walls look like: a face of a shape becomes a polygon in the world,
///   x = position + scale R(rotation) vertex,
/// a round wall a ring of quadrangles with its corners on the circle. Skins are left out: a
/// rounded shape is shown by its core, a shell by its middle surface.
///
/// Planes and endless cylinders are cut: a square or tube as large as the ball around all grains.
#include "record/surface.h"

#include "base/error.h"
#include "base/vec.h"
#include "state/wall_form.h"

#include <float.h>
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

/// Where a body is.
typedef struct placement {
    int64_t owner;
    double position[3], rotation[4], scale;
    bool lines; ///< add cells as lines, not as polygons
} placement;

static void append(text_buffer* t, const void* data, size_t size)
{
    char* room = text_room(t, size);
    if (!room) return;
    memcpy(room, data, size);
    t->size += size;
}

/// Add a point, given in the body's frame.
static void add_point(surface* s, const placement* at, const double local[3])
{
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = at->scale * local[k];
    quat_rotate(x, at->rotation, x);
    for (int k = 0; k < 3; k++) x[k] += at->position[k];
    append(&s->point, x, sizeof x);
    s->points++;
}

/// Make a point a corner of the cell that is being made.
static void use_point(surface* s, int64_t point)
{
    append(&s->corner, &point, sizeof point);
    s->corners++;
}

/// A corner with a point of its own.
static void add_corner(surface* s, const placement* at, const double local[3])
{
    use_point(s, s->points);
    add_point(s, at, local);
}

static void end_cell(surface* s, const placement* at, int32_t part)
{
    append(&s->end, &s->corners, sizeof s->corners);
    append(&s->owner, &at->owner, sizeof at->owner);
    append(&s->part, &part, sizeof part);
    s->cells++;
    if (at->lines) s->lines++;
}

static void add_part(surface* s, const placement* at, const shapes* all, int32_t p, int32_t number)
{
    const int dim = all->dim;
    const int64_t base = s->points - all->vertex_first[p];
    for (int32_t v = all->vertex_first[p]; v < all->vertex_first[p + 1]; v++) {
        double local[3] = {0};
        vec_copy(dim, local, all->vertex + (int64_t)v * dim);
        add_point(s, at, local);
    }
    for (int32_t f = all->face_first[p]; f < all->face_first[p + 1]; f++) {
        for (int32_t c = all->loop_first[f]; c < all->loop_first[f + 1]; c++) {
            use_point(s, base + all->loop[c]);
        }
        end_cell(s, at, number);
    }
}

static void add_solid(surface* s, const placement* at, const shapes* all, int which)
{
    const int32_t first = all->part_first[which];
    for (int32_t p = first; p < all->part_first[which + 1]; p++) {
        add_part(s, at, all, p, p - first);
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
        placement at = {.owner = i, .scale = scale[i]};
        vec_copy(dim, at.position, position + i * dim);
        if (dim == 2) {
            at.rotation[0] = cos(0.5 * rotation[i]);
            at.rotation[3] = sin(0.5 * rotation[i]);
        } else {
            vec_copy(4, at.rotation, rotation + 4 * i);
        }
        add_solid(s, &at, all, shape[i]);
    }
    return finish(s, error);
}

// ---- walls -------------------------------------------------------------------------------------

/// A ball around all grains.
typedef struct extent {
    double centre[3], radius;
} extent;

static extent measure(const frame_table* grains, int dim, const double* position,
                      const double* radius)
{
    double low[3] = {0}, high[3] = {0};
    for (int64_t i = 0; i < grains->count; i++) {
        for (int k = 0; k < dim; k++) {
            double x = position[i * dim + k];
            if (i == 0 || x - radius[i] < low[k]) low[k] = x - radius[i];
            if (i == 0 || x + radius[i] > high[k]) high[k] = x + radius[i];
        }
    }
    extent out = {0};
    for (int k = 0; k < dim; k++) out.centre[k] = 0.5 * (low[k] + high[k]);
    for (int k = 0; k < dim; k++) high[k] -= out.centre[k];
    out.radius = grains->count > 0 ? vec_norm(dim, high) : 1.0;
    return out;
}

/// Add a cell with the corners origin + sum of signs times edges.
static void add_patch(surface* s, const placement* at, const double origin[3], const double u[3],
                      const double v[3], int dim)
{
    static const int signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int c = 0; c < (dim == 2 ? 2 : 4); c++) {
        double corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = origin[k] + signs[c][0] * u[k] + (dim == 2 ? 0.0 : signs[c][1] * v[k]);
        }
        add_corner(s, at, corner);
    }
    end_cell(s, at, 0);
}

/// The point nearest to the grains' centre, in the wall's frame.
static void local_centre(const placement* at, const extent* grains, double out[3])
{
    vec_sub(3, out, grains->centre, at->position);
    quat_rotate_back(out, at->rotation, out);
}

static void add_plane(surface* s, const placement* at, const talus_shape_def* shape, int dim,
                      const extent* grains)
{
    double frame[3][3], origin[3];
    vec_frame(dim, shape->normal, frame);
    local_centre(at, grains, origin);
    vec_add_scaled(3, origin, -vec_dot(3, origin, frame[0]), frame[0]);
    for (int t = 1; t < 3; t++) {
        for (int k = 0; k < 3; k++) frame[t][k] *= grains->radius;
    }
    add_patch(s, at, origin, frame[1], frame[2], dim);
}

/// Face by face, as a container may miss some; an obstacle in the plane is one polygon.
static void add_box(surface* s, const placement* at, const talus_shape_def* shape, int dim)
{
    const double* half = shape->half_size;
    const double u[3] = {half[0], 0.0, 0.0}, v[3] = {0.0, half[1], 0.0}, zero[3] = {0};
    if (dim == 2 && !shape->inside) {
        add_patch(s, at, zero, u, v, 3);
        return;
    }
    for (int face = 0; face < 2 * dim; face++) {
        if (shape->inside && (shape->open_faces >> face & 1u)) continue;
        double origin[3] = {0}, edge[2][3] = {{0}};
        const int axis = face / 2, high = face % 2;
        origin[axis] = high ? half[axis] : -half[axis];
        for (int e = 1; e < dim; e++) edge[e - 1][(axis + e) % dim] = half[(axis + e) % dim];
        const bool turned = dim == 3 && !high; // counterclockwise seen from outside
        add_patch(s, at, origin, edge[turned], edge[!turned], dim);
    }
}

/// Corner i of a regular polygon about the axis.
static void add_rim(surface* s, const placement* at, const double axis_point[3], double frame[3][3],
                    double radius, int i)
{
    const double angle = 2.0 * M_PI * (i % WALL_SIDES) / WALL_SIDES;
    double corner[3];
    for (int k = 0; k < 3; k++) {
        corner[k] = axis_point[k] + radius * (cos(angle) * frame[1][k] + sin(angle) * frame[2][k]);
    }
    add_corner(s, at, corner);
}

/// A circle in the plane: closed line or polygon.
static void add_circle(surface* s, const placement* at, double radius)
{
    double frame[3][3] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const double origin[3] = {0};
    for (int i = 0; i < WALL_SIDES + at->lines; i++) add_rim(s, at, origin, frame, radius, i);
    end_cell(s, at, 0);
}

/// Mantle of a cylinder or cone between two points of the axis, with caps if asked for.
static void add_revolved(surface* s, const placement* at, const double axis[3], const double low[3],
                         const double high[3], double radius_low, double radius_high, bool caps)
{
    double frame[3][3];
    vec_frame(3, axis, frame);
    for (int i = 0; i < WALL_SIDES; i++) {
        add_rim(s, at, low, frame, radius_low, i);
        add_rim(s, at, low, frame, radius_low, i + 1);
        add_rim(s, at, high, frame, radius_high, i + 1);
        add_rim(s, at, high, frame, radius_high, i);
        end_cell(s, at, 0);
    }
    if (!caps) return;
    for (int i = WALL_SIDES; i > 0; i--) add_rim(s, at, low, frame, radius_low, i);
    end_cell(s, at, 0);
    for (int i = 0; i < WALL_SIDES; i++) add_rim(s, at, high, frame, radius_high, i);
    end_cell(s, at, 0);
}

static void add_round(surface* s, const placement* at, const talus_shape_def* shape,
                      const extent* grains)
{
    const bool cone = shape->kind == TALUS_SHAPE_CONE;
    const bool endless = !cone && shape->half_length == 0.0;
    double half = shape->half_length, middle = 0.0, low[3] = {0}, high[3] = {0}, centre[3];
    if (endless) {
        local_centre(at, grains, centre);
        middle = vec_dot(3, centre, shape->axis);
        half = grains->radius;
    }
    vec_add_scaled(3, low, middle - half, shape->axis);
    vec_add_scaled(3, high, middle + half, shape->axis);
    add_revolved(s, at, shape->axis, low, high, shape->radius,
                 cone ? shape->radius_high : shape->radius, !cone && !endless && !shape->inside);
}

static void add_mesh(surface* s, const placement* at, const talus_shape_def* shape)
{
    for (int64_t i = 0; i < shape->triangle_count; i++) {
        for (int c = 0; c < 3; c++) add_corner(s, at, shape->triangles + 9 * i + 3 * c);
        end_cell(s, at, 0);
    }
}

/// In the plane, whatever grains can be on both sides of or inside of is a line.
static bool is_line(const talus_shape_def* shape, int dim)
{
    return dim == 2 && (shape->inside || shape->kind == TALUS_SHAPE_PLANE ||
                        shape->kind == TALUS_SHAPE_SEGMENT);
}

static void add_wall(surface* s, const placement* at, const shapes* all,
                     const talus_shape_def* shape, const extent* grains)
{
    const double origin[3] = {0};
    switch (shape->kind) {
    case TALUS_SHAPE_PLANE: add_plane(s, at, shape, all->dim, grains); break;
    case TALUS_SHAPE_SEGMENT:
    case TALUS_SHAPE_PLATE: add_patch(s, at, origin, shape->edge_u, shape->edge_v, all->dim); break;
    case TALUS_SHAPE_BOX: add_box(s, at, shape, all->dim); break;
    case TALUS_SHAPE_CYLINDER:
        if (all->dim == 2) {
            add_circle(s, at, shape->radius);
            break;
        }
        // fallthrough
    case TALUS_SHAPE_CONE: add_round(s, at, shape, grains); break;
    case TALUS_SHAPE_SOLID: add_solid(s, at, all, shape->solid.index); break;
    case TALUS_SHAPE_MESH: add_mesh(s, at, shape); break;
    case TALUS_SHAPE_COUNT: break;
    }
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
    const extent seen = measure(grains, all->dim, place, radius);
    for (int pass = 0; pass < 2; pass++) { // lines come first
        for (int64_t i = 0; i < walls->count; i++) {
            const talus_shape_def* shape = &all->wall[i];
            placement at = {.owner = i, .scale = 1.0, .lines = is_line(shape, all->dim)};
            if (!present[i] || at.lines != (pass == 0)) continue;
            vec_copy(3, at.position, position + 3 * i);
            vec_copy(4, at.rotation, rotation + 4 * i);
            add_wall(s, &at, all, shape, &seen);
        }
    }
    return finish(s, error);
}
