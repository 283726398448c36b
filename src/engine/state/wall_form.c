/// Polytopes and triangles of the walls that need them; see wall_form.h.
#include "state/wall_form.h"

#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "geometry/shape.h"

#include <math.h>
#include <stdlib.h>

void wall_form_free(wall_form* f)
{
    if (f->own) polytope_free(f->own);
    free(f->own);
    mesh_free(f->mesh);
    *f = (wall_form){0};
}

double wall_bound(const talus_shape_def* shape, int dim, const solids* all)
{
    if (shape->kind == TALUS_SHAPE_SOLID) return all->row[shape->solid.index].radius;
    if (shape->kind != TALUS_SHAPE_MESH) return shape_bound(shape, dim);
    double bound = 0.0;
    for (int64_t c = 0; c < 3 * shape->triangle_count; c++) {
        bound = fmax(bound, vec_norm(3, shape->triangles + 3 * c));
    }
    return bound + shape->skin;
}

// ---- triangles ---------------------------------------------------------------------------------

/// Triangles in the making.
typedef struct triangle_soup {
    triangles t;
    bool failed;
} triangle_soup;

static triangle_soup soup_begin(int64_t vertex_count, int64_t triangle_count)
{
    triangle_soup s = {.t = {.group_count = 1}};
    s.t.vertex = malloc(sizeof(double) * 3 * (size_t)vertex_count);
    s.t.triangle = malloc(sizeof(int32_t) * 3 * (size_t)triangle_count);
    s.t.group = calloc((size_t)triangle_count, sizeof(int32_t));
    s.failed = !s.t.vertex || !s.t.triangle || !s.t.group;
    return s;
}

static void soup_triangle(triangle_soup* s, int a, int b, int c)
{
    int32_t* t = s->t.triangle + 3 * s->t.triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

static double* soup_vertex(triangle_soup* s)
{
    return s->t.vertex + 3 * s->t.vertex_count++;
}

static talus_status soup_end(triangle_soup* s, double skin, wall_form* out, talus_error* error)
{
    talus_status status = triangles_weld(&s->t, error);
    if (status >= 0) status = mesh_make(&s->t, skin, &out->mesh, error);
    triangles_free(&s->t);
    out->kind = FORM_MESH;
    out->skin = skin;
    return status;
}

static talus_status make_plate(const talus_shape_def* shape, wall_form* out, talus_error* error)
{
    static const int signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    triangle_soup s = soup_begin(4, 2);
    if (s.failed) {
        triangles_free(&s.t);
        return error_memory(error, "making a plate");
    }
    for (int c = 0; c < 4; c++) {
        double* v = soup_vertex(&s);
        for (int k = 0; k < 3; k++) {
            v[k] = signs[c][0] * shape->edge_u[k] + signs[c][1] * shape->edge_v[k];
        }
    }
    soup_triangle(&s, 0, 1, 2);
    soup_triangle(&s, 0, 2, 3);
    return soup_end(&s, shape->skin, out, error);
}

/// Radius of the corners of a regular polygon as large as a circle.
static double corner_radius(double radius)
{
    const double angle = 2.0 * M_PI / WALL_SIDES;
    return radius * sqrt(angle / portable_sin(angle));
}

/// A frustum shell as a ring of triangle pairs.
static talus_status make_cone(const talus_shape_def* shape, wall_form* out, talus_error* error)
{
    triangle_soup s = soup_begin(2 * WALL_SIDES, 2 * WALL_SIDES);
    if (s.failed) {
        triangles_free(&s.t);
        return error_memory(error, "making a cone");
    }
    double frame[3][3];
    vec_frame(3, shape->axis, frame);
    for (int i = 0; i < WALL_SIDES; i++) {
        const double angle = 2.0 * M_PI * i / WALL_SIDES;
        for (int end = 0; end < 2; end++) {
            const double r = corner_radius(end ? shape->radius_high : shape->radius);
            const double along = end ? shape->half_length : -shape->half_length;
            double* v = soup_vertex(&s);
            for (int k = 0; k < 3; k++) {
                v[k] = along * frame[0][k] +
                       r * (portable_cos(angle) * frame[1][k] + portable_sin(angle) * frame[2][k]);
            }
        }
    }
    for (int i = 0; i < WALL_SIDES; i++) {
        const int low = 2 * i, next = 2 * ((i + 1) % WALL_SIDES);
        soup_triangle(&s, low, next, low + 1);
        soup_triangle(&s, next, next + 1, low + 1);
    }
    return soup_end(&s, shape->skin, out, error);
}

static talus_status make_mesh(const talus_shape_def* shape, wall_form* out, talus_error* error)
{
    triangle_soup s = soup_begin(3 * shape->triangle_count, shape->triangle_count);
    if (s.failed) {
        triangles_free(&s.t);
        return error_memory(error, "making a mesh");
    }
    for (int i = 0; i < shape->triangle_count; i++) {
        for (int c = 0; c < 3; c++) {
            vec_copy(3, soup_vertex(&s), shape->triangles + 9 * (int64_t)i + 3 * c);
        }
        soup_triangle(&s, 3 * i, 3 * i + 1, 3 * i + 2);
    }
    return soup_end(&s, shape->skin, out, error);
}

// ---- convex bodies -----------------------------------------------------------------------------

static talus_status make_convex(const talus_shape_def* shape, int dim, wall_form* out,
                                talus_error* error)
{
    out->kind = FORM_CONVEX;
    out->own = calloc(1, sizeof *out->own);
    if (!out->own) return error_memory(error, "making a wall");
    out->part = out->own;
    out->part_count = 1;
    if (shape->kind == TALUS_SHAPE_BOX) {
        return polytope_box(dim, shape->half_size, out->own, error);
    }
    if (shape->kind == TALUS_SHAPE_SEGMENT) {
        const double from[2] = {-shape->edge_u[0], -shape->edge_u[1]};
        out->skin = shape->skin;
        return polytope_segment(from, shape->edge_u, out->own, error);
    }
    if (shape->half_length == 0.0) { // without end: no polytope
        out->part_count = 0;
        return TALUS_OK;
    }
    return polytope_prism(shape->axis, shape->radius, shape->half_length, WALL_SIDES, out->own,
                          error);
}

static talus_status make_any(const talus_shape_def* shape, int dim, const solids* all,
                             wall_form* out, talus_error* error)
{
    switch (shape->kind) {
    case TALUS_SHAPE_PLANE: return TALUS_OK;
    case TALUS_SHAPE_BOX:
    case TALUS_SHAPE_CYLINDER:
        if (shape->inside) return TALUS_OK;
        if (dim == 3 || shape->kind == TALUS_SHAPE_BOX) return make_convex(shape, dim, out, error);
        out->kind = FORM_ROUND;
        out->skin = shape->radius;
        return TALUS_OK;
    case TALUS_SHAPE_SEGMENT: return make_convex(shape, dim, out, error);
    case TALUS_SHAPE_PLATE: return make_plate(shape, out, error);
    case TALUS_SHAPE_CONE: return make_cone(shape, out, error);
    case TALUS_SHAPE_SOLID:
        out->kind = FORM_CONVEX;
        out->part = all->row[shape->solid.index].part;
        out->part_count = all->row[shape->solid.index].part_count;
        out->skin = all->row[shape->solid.index].skin;
        return TALUS_OK;
    case TALUS_SHAPE_MESH: return make_mesh(shape, out, error);
    case TALUS_SHAPE_COUNT: break;
    }
    return error_set(error, TALUS_ERR_ARGUMENT, "unknown kind of shape: %d", (int)shape->kind);
}

talus_status wall_form_make(const talus_shape_def* shape, int dim, const solids* all,
                            wall_form* out, talus_error* error)
{
    *out = (wall_form){.kind = FORM_CORNERS, .bound = wall_bound(shape, dim, all)};
    talus_status status = make_any(shape, dim, all, out, error);
    if (status < 0) wall_form_free(out);
    return status;
}
