/// Faces and mantles of walls; see wall_faces.h.
#include "geometry/wall_faces.h"

#include "base/portable.h"
#include "base/vec.h"

/// The face with the middle `origin` and the half edges u and v, in the wall's frame.
static void place_face(const placed_wall* w, const double origin[3], const double u[3],
                       const double v[3], int corners, wall_face* out)
{
    static const int signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    out->count = corners;
    for (int c = 0; c < corners; c++) {
        double local[3];
        for (int k = 0; k < 3; k++) {
            local[k] = origin[k] + signs[c][0] * u[k] + (corners == 4 ? signs[c][1] * v[k] : 0.0);
        }
        quat_rotate(out->corner[c], w->rotation, local);
        vec_add_scaled(3, out->corner[c], 1.0, w->position);
    }
}

void wall_box_along(const placed_wall* w, const double direction[3], double* low, double* high)
{
    *low = *high = 0.0;
    for (int k = 0; k < w->dim; k++) {
        const double a = (w->box_low[k] - w->position[k]) * direction[k];
        const double b = (w->box_high[k] - w->position[k]) * direction[k];
        *low += fmin(a, b);
        *high += fmax(a, b);
    }
}

/// The part of a plane that lies under the box.
static void plane_face(const placed_wall* w, wall_face* out)
{
    double normal[3], frame[3][3], low[3], high[3];
    quat_rotate(normal, w->rotation, w->shape->normal);
    vec_frame(w->dim, normal, frame);
    for (int t = 1; t < 3; t++) wall_box_along(w, frame[t], &low[t], &high[t]);
    out->count = w->dim == 2 ? 2 : 4;
    for (int c = 0; c < out->count; c++) {
        vec_copy(3, out->corner[c], w->position);
        vec_add_scaled(3, out->corner[c], c == 1 || c == 2 ? high[1] : low[1], frame[1]);
        vec_add_scaled(3, out->corner[c], c >= 2 ? high[2] : low[2], frame[2]);
    }
}

/// Face by face, as a container may lack some; an obstacle in the plane is one polygon.
static bool box_face(const placed_wall* w, int face, wall_face* out)
{
    const talus_shape_def* shape = w->shape;
    const double* half = shape->half_size;
    double origin[3] = {0}, edge[2][3] = {{0}};
    if (w->dim == 2 && !shape->inside) {
        edge[0][0] = half[0], edge[1][1] = half[1];
        place_face(w, origin, edge[0], edge[1], 4, out);
        return true;
    }
    if (shape->inside && (shape->open_faces >> face & 1u)) return false;
    const int axis = face / 2, high = face % 2;
    origin[axis] = high ? half[axis] : -half[axis];
    for (int e = 1; e < w->dim; e++) edge[e - 1][(axis + e) % w->dim] = half[(axis + e) % w->dim];
    const bool turned = w->dim == 3 && !high; // counterclockwise seen from outside
    place_face(w, origin, edge[turned], edge[!turned], w->dim == 2 ? 2 : 4, out);
    return true;
}

int64_t wall_face_count(const placed_wall* w)
{
    switch (w->shape->kind) {
    case TALUS_SHAPE_PLANE:
    case TALUS_SHAPE_SEGMENT:
    case TALUS_SHAPE_PLATE: return 1;
    case TALUS_SHAPE_BOX: return w->dim == 2 && !w->shape->inside ? 1 : 2 * w->dim;
    case TALUS_SHAPE_MESH: return w->shape->triangle_count;
    case TALUS_SHAPE_CYLINDER:
    case TALUS_SHAPE_CONE:
    case TALUS_SHAPE_SOLID:
    case TALUS_SHAPE_COUNT: break;
    }
    return 0;
}

bool wall_face_at(const placed_wall* w, int64_t i, wall_face* out)
{
    const talus_shape_def* shape = w->shape;
    const double origin[3] = {0};
    if (shape->kind == TALUS_SHAPE_BOX) return box_face(w, (int)i, out);
    if (shape->kind == TALUS_SHAPE_PLANE) {
        plane_face(w, out);
    } else if (shape->kind == TALUS_SHAPE_MESH) {
        out->count = 3;
        for (int c = 0; c < 3; c++) {
            quat_rotate(out->corner[c], w->rotation, shape->triangles + 9 * i + 3 * c);
            vec_add_scaled(3, out->corner[c], 1.0, w->position);
        }
    } else {
        place_face(w, origin, shape->edge_u, shape->edge_v, w->dim == 2 ? 2 : 4, out);
    }
    return true;
}

bool wall_mantle_of(const placed_wall* w, wall_mantle* out)
{
    const talus_shape_def* shape = w->shape;
    const bool cone = shape->kind == TALUS_SHAPE_CONE;
    if (!cone && shape->kind != TALUS_SHAPE_CYLINDER) return false;
    static const double plane_frame[3][3] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    *out = (wall_mantle){.rims = w->dim == 2 ? 1 : 2, .radius = {shape->radius, shape->radius}};
    double frame[3][3];
    if (w->dim == 3) vec_frame(3, shape->axis, frame);
    for (int k = 0; k < 3; k++) {
        quat_rotate(out->frame[k], w->rotation, w->dim == 2 ? plane_frame[k] : frame[k]);
    }
    if (cone) out->radius[1] = shape->radius_high;
    if (w->dim == 3) {
        const bool endless = !cone && shape->half_length == 0.0;
        out->height[0] = -shape->half_length, out->height[1] = shape->half_length;
        if (endless) wall_box_along(w, out->frame[0], &out->height[0], &out->height[1]);
        out->closed = !cone && !endless && !shape->inside;
    }
    for (int rim = 0; rim < 2; rim++) {
        vec_copy(3, out->centre[rim], w->position);
        vec_add_scaled(3, out->centre[rim], out->height[rim], out->frame[0]);
    }
    return true;
}

void wall_rim_point(const wall_mantle* m, int rim, double angle, double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = m->centre[rim][k] + m->radius[rim] * (portable_cos(angle) * m->frame[1][k] +
                                                       portable_sin(angle) * m->frame[2][k]);
    }
}
