/// Which wall a grain overlaps, and how deep: the questions that generators and checks ask.
///
/// Balls ask the analytic shapes; what solids meet of a wall is decided in state/wall_form.h.
#include "base/vec.h"
#include "detect/mesh_touch.h"
#include "detect/poses.h"
#include "geometry/shape.h"
#include "scene/model.h"
#include "scene/placed.h"
#include "world/world.h"

#include <math.h>

/// Signed distance of a point from the nearest part of an analytic wall, or more than `reach`.
static double point_distance(const talus_shape_def* shape, int dim, const double point[3],
                             double reach)
{
    shape_hit hits[SHAPE_MAX_HITS];
    double least = INFINITY;
    int count = shape_query(shape, dim, point, reach, hits);
    for (int k = 0; k < count; k++) least = fmin(least, hits[k].distance);
    return least;
}

/// Signed distance of a part of a solid from a wall that is not met by its analytic shape.
static double part_distance(const wall_record* wall, const convex* b, const double local[3])
{
    const wall_form* form = &wall->form;
    double least = INFINITY, normal[3];
    if (form->kind == FORM_CORNERS) { // a plane or container
        for (int v = 0; v < b->vertex_count; v++) {
            double point[3] = {0};
            vec_copy(b->dim, point, local);
            vec_add_scaled(b->dim, point, 1.0, b->vertex + v * b->dim);
            least = fmin(least, point_distance(&wall->shape, b->dim, point, b->skin) - b->skin);
        }
    } else if (form->kind == FORM_MESH) {
        touch_list list = {0};
        if (mesh_touches(form->mesh, b, local, 0.0, NULL, &list) >= 0) {
            for (int i = 0; i < list.count; i++) least = fmin(least, list.row[i].gap);
        }
        touch_list_free(&list);
    } else {
        const int count = form->kind == FORM_ROUND ? 1 : form->part_count;
        for (int i = 0; i < count; i++) {
            convex a = convex_of_wall(form, b->dim, i);
            least = fmin(least, convex_distance(&a, b, local, normal));
        }
    }
    return least;
}

/// Signed distance of a solid, or of a ball from a wall that is a solid or a mesh.
static double form_distance(const walls* w, int wall, int dim, const talus_grain_def* g,
                            const double local[3])
{
    placed body;
    double least = INFINITY;
    if (!placed_make(&body, w->solids, dim, g, w->rotation + 4 * wall)) return least;
    for (int i = 0; i < body.part_count; i++) {
        least = fmin(least, part_distance(&w->record[wall], &body.part[i], local));
    }
    placed_free(&body);
    return least;
}

int scene_wall_overlap(const talus_world* world, const talus_grain_def* g, double* depth)
{
    const walls* w = &world->state.walls;
    const int dim = world->def.dim;
    for (int i = 0; i < (int)w->count; i++) {
        if (!w->present[i]) continue;
        const talus_shape_def* shape = &w->record[i].shape;
        double delta[3] = {0}, local[3];
        vec_sub(dim, delta, g->position, w->position + 3 * i);
        cell_nearest(&world->state.cell, dim, delta);
        quat_rotate_back(local, w->rotation + 4 * i, delta);
        if (dim == 2) local[2] = 0.0;
        if (g->solid.index < 0 && !wall_form_for_balls(shape))
            *depth = g->radius - point_distance(shape, dim, local, g->radius);
        else
            *depth = -form_distance(w, i, dim, g, local);
        if (*depth > 1e-9 * g->radius) return i;
    }
    return -1;
}

const solids* scene_world_solids(const talus_world* world)
{
    return &world->state.solids;
}

int scene_world_threads(const talus_world* world)
{
    return world->def.threads;
}

bool scene_grain_clear(const void* user, const talus_grain_def* grain)
{
    double depth;
    return scene_wall_overlap(user, grain, &depth) < 0;
}

bool scene_clear_of_walls(const void* user, const double centre[3], double radius)
{
    double depth;
    talus_grain_def ball = {.solid = TALUS_NO_SOLID, .scale = 1.0, .radius = radius};
    vec_copy(3, ball.position, centre);
    return scene_wall_overlap(user, &ball, &depth) < 0;
}

/// Depth to which a box, turned into the frame of a wall, reaches into or through it.
static double box_depth(const wall_record* wall, const polytope* box, const double rotation[4],
                        const double local[3])
{
    const double back[4] = {rotation[0], -rotation[1], -rotation[2], -rotation[3]};
    double axes[9], numbers[8 * 3 + 6 * 3];
    quat_matrix(axes, back);
    const convex body = convex_turn(box, axes, 1.0, 0.0, numbers);
    return -part_distance(wall, &body, local) - wall->form.skin;
}

int scene_box_crosses(const talus_world* world, const double low[3], const double high[3],
                      const bool* absent, double* depth)
{
    const walls* w = &world->state.walls;
    const int dim = world->def.dim;
    double half[3] = {0}, middle[3] = {0}, size = 0.0;
    for (int k = 0; k < dim; k++) size = fmax(size, high[k] - low[k]);
    for (int k = 0; k < dim; k++) {
        middle[k] = 0.5 * (low[k] + high[k]);
        half[k] = fmax(0.5 * (high[k] - low[k]), 1e-6 * size); // one that is flat is no body
    }
    polytope box = {0};
    int found = -1;
    if (polytope_box(dim, half, &box, NULL)) return -1;
    for (int i = 0; i < (int)w->count && found < 0; i++) {
        if (!w->present[i] || absent[i]) continue;
        double delta[3] = {0}, local[3];
        vec_sub(dim, delta, middle, w->position + 3 * i);
        cell_nearest(&world->state.cell, dim, delta);
        quat_rotate_back(local, w->rotation + 4 * i, delta);
        if (dim == 2) local[2] = 0.0;
        *depth = box_depth(&w->record[i], &box, w->rotation + 4 * i, local);
        if (*depth > 1e-5 * size) found = i;
    }
    polytope_free(&box);
    return found;
}

double scene_pair_depth(const talus_world* world, const talus_grain_def* a,
                        const talus_grain_def* b, const double delta[3])
{
    static const double upright[4] = {1.0, 0.0, 0.0, 0.0};
    const int dim = world->def.dim;
    if (a->solid.index < 0 && b->solid.index < 0)
        return a->radius + b->radius - vec_norm(dim, delta);
    placed one, two;
    bool good = placed_make(&one, &world->state.solids, dim, a, upright);
    good = placed_make(&two, &world->state.solids, dim, b, upright) && good;
    double depth = good ? -placed_distance(&one, &two, delta) : 0.0;
    placed_free(&one);
    placed_free(&two);
    return depth;
}
