/// Contacts between balls and walls: the wall's shape is asked in its own frame.
#include "detect/narrow.h"

#include "base/vec.h"
#include "shape/shape.h"

/// Centre of a grain in the frame of a wall (nearest image of the wall).
static void to_wall_frame(const grains* g, const walls* w, const cell* periodic, int64_t grain,
                          int wall, double local[3])
{
    const int dim = g->dim;
    double delta[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, delta, g->position + grain * dim, w->position + 3 * wall);
    cell_nearest(periodic, dim, delta);
    quat_rotate_back(local, w->rotation + 4 * wall, delta);
    if (dim == 2) local[2] = 0.0;
}

/// Distance that a point of the wall within `near` of a grain's centre covers in the step, seen
/// from the common velocity.
static double wall_motion(const grains* g, const walls* w, const cell* periodic, int64_t grain,
                          int wall, double near, const double drift[3], double h)
{
    const int dim = g->dim;
    double arm[3] = {0.0, 0.0, 0.0}, turn[3], relative[3];
    vec_sub(dim, arm, g->position + grain * dim, w->position + 3 * wall);
    cell_nearest(periodic, dim, arm);
    vec_cross(turn, w->spin + 3 * wall, arm);
    for (int k = 0; k < 3; k++) relative[k] = w->velocity[3 * wall + k] + turn[k] - drift[k];
    return h * (vec_norm(3, relative) + vec_norm(3, w->spin + 3 * wall) * near);
}

static talus_status append_hit(const grains* g, const walls* w, int64_t grain, int wall,
                               const shape_hit* hit, contacts* out)
{
    const int dim = g->dim;
    if (contacts_reserve(out, out->count + 1)) return TALUS_ERR_MEMORY;
    const int64_t c = out->count++;
    double normal[3];
    quat_rotate(normal, w->rotation + 4 * wall, hit->normal);
    out->a[c] = -1 - wall;
    out->b[c] = g->id[grain];
    out->feature[c] = hit->feature;
    out->a_row[c] = -1 - wall;
    out->b_row[c] = (int32_t)grain;
    out->gap[c] = hit->distance - g->radius[grain];
    for (int k = 0; k < dim; k++) {
        out->normal[c * dim + k] = normal[k];
        out->point[c * dim + k] = g->position[grain * dim + k] - hit->distance * normal[k];
    }
    return TALUS_OK;
}

talus_status ball_wall_contacts(const grains* g, const walls* w, const cell* periodic,
                                const double* margin, const double* wall_margin, double range,
                                const double drift[3], double h, uint8_t* escaped, contacts* out)
{
    for (int wall = (int)w->count - 1; wall >= 0; wall--) {
        if (!w->present[wall]) continue;
        const talus_shape_def* shape = &w->record[wall].shape;
        for (int64_t i = 0; i < g->count; i++) {
            if (g->inv_mass[i] == 0.0) continue;
            double local[3];
            to_wall_frame(g, w, periodic, i, wall, local);
            double near = g->radius[i] + margin[i] + wall_margin[wall];
            double reach = near + wall_motion(g, w, periodic, i, wall, near, drift, h);
            shape_hit hits[SHAPE_MAX_HITS];
            int count = shape_query(shape, g->dim, local, reach + range, hits);
            for (int k = 0; k < count; k++) {
                if (hits[k].distance < 0.0) escaped[i] = 1;
                if (append_hit(g, w, i, wall, &hits[k], out)) return TALUS_ERR_MEMORY;
                out->distant[out->count - 1] = hits[k].distance > reach;
            }
        }
    }
    return TALUS_OK;
}

double ball_wall_gap(const grains* g, const walls* w, const cell* periodic, int wall,
                     int32_t feature, int64_t b)
{
    double local[3];
    to_wall_frame(g, w, periodic, b, wall, local);
    shape_hit hits[SHAPE_MAX_HITS];
    int count = shape_query(&w->record[wall].shape, g->dim, local, 2.0 * g->radius[b], hits);
    for (int k = 0; k < count; k++) {
        if (hits[k].feature == feature) return hits[k].distance - g->radius[b];
    }
    return INFINITY;
}
