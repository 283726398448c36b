/// Dispatch over the shapes of walls, and the check of their definitions.
///
/// Every query answers "which parts of the surface lie within reach of this point". Two
/// conventions hold for all of them. The sign: `distance` grows along `normal`, so `normal` is its
/// gradient also behind the surface, where the distance is negative. The degenerate point (on the
/// surface, on an axis, in a centre): a fixed direction is taken, so that the answer is always a
/// unit vector and always the same one.
#include "geometry/shape.h"

#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "geometry/mesh.h"

/// How far from one the squared length of a "unit" vector may be: twice 1e-9 on the length.
static const double unit_slack = 2e-9;

int shape_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                shape_hit hits[SHAPE_MAX_HITS])
{
    switch (shape->kind) {
    case TALUS_SHAPE_PLANE: return plane_query(shape, dim, point, reach, hits);
    case TALUS_SHAPE_SEGMENT: return segment_query(shape, dim, point, reach, hits);
    case TALUS_SHAPE_PLATE: return plate_query(shape, dim, point, reach, hits);
    case TALUS_SHAPE_BOX: return box_query(shape, dim, point, reach, hits);
    case TALUS_SHAPE_CYLINDER: return cylinder_query(shape, dim, point, reach, hits);
    case TALUS_SHAPE_CONE: return cone_query(shape, dim, point, reach, hits);
    case TALUS_SHAPE_SOLID: // these are no analytic shapes: state/wall_form.h
    case TALUS_SHAPE_MESH:
    case TALUS_SHAPE_COUNT: break;
    }
    return 0;
}

const char* shape_name(talus_shape_kind kind)
{
    switch (kind) {
    case TALUS_SHAPE_PLANE: return "plane";
    case TALUS_SHAPE_SEGMENT: return "segment";
    case TALUS_SHAPE_PLATE: return "plate";
    case TALUS_SHAPE_BOX: return "box";
    case TALUS_SHAPE_CYLINDER: return "cylinder";
    case TALUS_SHAPE_CONE: return "cone";
    case TALUS_SHAPE_SOLID: return "solid";
    case TALUS_SHAPE_MESH: return "mesh";
    case TALUS_SHAPE_COUNT: break;
    }
    return "unknown shape";
}

static talus_status check_dim(const talus_shape_def* s, int dim, int needed, talus_error* error)
{
    if (dim == needed) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "%s: only possible in %dD, the world is %dD",
                     shape_name(s->kind), needed, dim);
}

static talus_status check_positive(const talus_shape_def* s, const char* what, double value,
                                   talus_error* error)
{
    if (isfinite(value) && value > 0.0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "%s: %s must be positive, got %g",
                     shape_name(s->kind), what, value);
}

static talus_status check_not_negative(const talus_shape_def* s, const char* what, double value,
                                       talus_error* error)
{
    if (isfinite(value) && value >= 0.0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "%s: %s must not be negative, got %g",
                     shape_name(s->kind), what, value);
}

static talus_status check_unit(const talus_shape_def* s, int dim, const char* what,
                               const double v[3], talus_error* error)
{
    double square = vec_dot(dim, v, v);
    if (fabs(square - 1.0) <= unit_slack) return TALUS_OK; // false for NaN
    return error_set(error, TALUS_ERR_ARGUMENT, "%s: %s must be a unit vector, its length is %.12g",
                     shape_name(s->kind), what, sqrt(square));
}

static talus_status check_edge(const talus_shape_def* s, int dim, const char* what,
                               const double v[3], talus_error* error)
{
    double length = vec_norm(dim, v);
    if (isfinite(length) && length > 0.0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "%s: %s must be finite and longer than zero, its length is %g",
                     shape_name(s->kind), what, length);
}

static talus_status check_plate(const talus_shape_def* s, int dim, talus_error* error)
{
    TRY(check_dim(s, dim, 3, error));
    TRY(check_edge(s, 3, "edge_u", s->edge_u, error));
    TRY(check_edge(s, 3, "edge_v", s->edge_v, error));
    double cross[3];
    vec_cross(cross, s->edge_u, s->edge_v);
    double sine = vec_norm(3, cross) / (vec_norm(3, s->edge_u) * vec_norm(3, s->edge_v));
    // Below this angle the nearest point loses half of the digits.
    if (!(sine > 1e-6))
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "plate: edge_u and edge_v must not be parallel, the sine of their angle "
                         "is %g",
                         sine);
    return check_not_negative(s, "skin", s->skin, error);
}

static talus_status check_box(const talus_shape_def* s, int dim, talus_error* error)
{
    static const char* const sizes[3] = {"half_size[0]", "half_size[1]", "half_size[2]"};
    for (int k = 0; k < dim; k++) TRY(check_positive(s, sizes[k], s->half_size[k], error));
    unsigned all = (1u << (2 * dim)) - 1u;
    if (!s->inside && s->open_faces)
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "box: open faces need a box seen from inside, got faces 0x%x of a solid",
                         s->open_faces);
    if (s->open_faces & ~all)
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "box: open faces 0x%x name a face that a %dD box does not have",
                         s->open_faces, dim);
    if (s->open_faces == all)
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "box: at least one face must be closed, all %d are open", 2 * dim);
    return TALUS_OK;
}

/// How the triangles hang together is looked at when the mesh is made (geometry/mesh.h).
static talus_status check_mesh(const talus_shape_def* s, int dim, talus_error* error)
{
    TRY(check_dim(s, dim, 3, error));
    if (s->triangle_count < 1 || s->triangle_count > MESH_MAX_TRIANGLES)
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "mesh: the number of triangles must be from 1 to %d, got %lld",
                         MESH_MAX_TRIANGLES, (long long)s->triangle_count);
    if (!s->triangles)
        return error_set(error, TALUS_ERR_ARGUMENT, "mesh: triangles is NULL, want the corners");
    for (int64_t i = 0; i < s->triangle_count; i++) {
        if (!vec_finite(9, s->triangles + 9 * i))
            return error_set(error, TALUS_ERR_ARGUMENT, "mesh: triangle %lld is not finite",
                             (long long)i);
    }
    return check_not_negative(s, "skin", s->skin, error);
}

static talus_status check_cone(const talus_shape_def* s, int dim, talus_error* error)
{
    TRY(check_dim(s, dim, 3, error));
    TRY(check_unit(s, 3, "axis", s->axis, error));
    TRY(check_not_negative(s, "radius", s->radius, error));
    TRY(check_not_negative(s, "radius_high", s->radius_high, error));
    TRY(check_not_negative(s, "half_length", s->half_length, error));
    TRY(check_not_negative(s, "skin", s->skin, error));
    if (s->radius == 0.0 && s->radius_high == 0.0)
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "cone: one of radius and radius_high must be positive, both are 0");
    if (s->half_length == 0.0 && s->radius == s->radius_high)
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "cone: with half_length 0 the two radii must differ, both are %g",
                         s->radius);
    return TALUS_OK;
}

talus_status shape_check(const talus_shape_def* shape, int dim, talus_error* error)
{
    if (dim != 2 && dim != 3)
        return error_set(error, TALUS_ERR_ARGUMENT, "a shape lives in 2 or 3 dimensions, got %d",
                         dim);
    switch (shape->kind) {
    case TALUS_SHAPE_PLANE: return check_unit(shape, dim, "normal", shape->normal, error);
    case TALUS_SHAPE_SEGMENT:
        TRY(check_dim(shape, dim, 2, error));
        TRY(check_edge(shape, 2, "edge_u", shape->edge_u, error));
        return check_not_negative(shape, "skin", shape->skin, error);
    case TALUS_SHAPE_PLATE: return check_plate(shape, dim, error);
    case TALUS_SHAPE_BOX: return check_box(shape, dim, error);
    case TALUS_SHAPE_CYLINDER:
        TRY(check_positive(shape, "radius", shape->radius, error));
        if (dim == 2) return TALUS_OK;
        TRY(check_unit(shape, 3, "axis", shape->axis, error));
        return check_not_negative(shape, "half_length", shape->half_length, error);
    case TALUS_SHAPE_CONE: return check_cone(shape, dim, error);
    case TALUS_SHAPE_SOLID: return TALUS_OK; // a solid was checked when it was made
    case TALUS_SHAPE_MESH: return check_mesh(shape, dim, error);
    case TALUS_SHAPE_COUNT: break;
    }
    return error_set(error, TALUS_ERR_ARGUMENT, "unknown kind of shape: %d", (int)shape->kind);
}

double shape_bound(const talus_shape_def* shape, int dim)
{
    switch (shape->kind) {
    case TALUS_SHAPE_SEGMENT: return vec_norm(dim, shape->edge_u) + shape->skin;
    case TALUS_SHAPE_PLATE:
        return vec_norm(3, shape->edge_u) + vec_norm(3, shape->edge_v) + shape->skin;
    case TALUS_SHAPE_BOX: return vec_norm(dim, shape->half_size);
    case TALUS_SHAPE_CYLINDER:
        if (dim == 2) return shape->radius;
        return shape->half_length > 0.0 ? portable_hypot(shape->radius, shape->half_length)
                                        : INFINITY;
    case TALUS_SHAPE_CONE:
        return portable_hypot(fmax(shape->radius, shape->radius_high), shape->half_length) +
               shape->skin;
    case TALUS_SHAPE_PLANE:
    case TALUS_SHAPE_SOLID: // wall_bound() knows
    case TALUS_SHAPE_MESH:
    case TALUS_SHAPE_COUNT: break;
    }
    return INFINITY;
}
