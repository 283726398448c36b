/// Contacts between balls and walls: the wall's shape is asked in its own frame.
#include "detect/narrow.h"

#include "base/error.h"
#include "base/vec.h"
#include "shape/shape.h"

/// Images of a wall in a periodic cell: each axis is shifted by -1, 0 or 1 cell from the nearest
/// image of the wall's origin. talus_world_add_wall() refuses walls so long that more would be
/// needed.
enum { FEATURES_PER_IMAGE = 64 };

/// Number of an image in a contact's feature: 0 for the nearest, so that most contacts do not
/// change their key, else 1 + the shifts read as digits of base 3.
static int32_t image_code(const int shift[3])
{
    int digits = (shift[0] + 1) * 9 + (shift[1] + 1) * 3 + shift[2] + 1;
    return digits == 13 ? 0 : 1 + digits;
}

/// Position of a grain relative to the nearest image of a wall's origin.
static void nearest_delta(const grains* g, const walls* w, const cell* periodic, int64_t grain,
                          int wall, double delta[3])
{
    for (int k = 0; k < 3; k++) delta[k] = 0.0;
    vec_sub(g->dim, delta, g->position + grain * g->dim, w->position + 3 * wall);
    cell_nearest(periodic, g->dim, delta);
}

/// How far the surface of one image can be from the wall's origin along axis k; < 0 if only the
/// nearest image counts: containers, planes, and cylinders without end along that axis.
static double image_extent(const walls* w, int wall, int dim, int k)
{
    const talus_shape_def* shape = &w->record[wall].shape;
    if (shape->inside || shape->kind == TALUS_SHAPE_PLANE) return -1.0;
    double bound = shape_bound(shape, dim);
    if (isfinite(bound)) return bound;
    double axis[3];
    quat_rotate(axis, w->rotation + 4 * wall, shape->axis);
    return fabs(axis[k]) > 1.0 - 1e-9 ? -1.0 : shape->radius;
}

/// Shifts along axis k to look at: first and last of -1, 0, 1.
static void shift_range(const walls* w, const cell* periodic, int wall, int dim, int k,
                        double delta, double reach, int range[2])
{
    range[0] = range[1] = 0;
    if (k >= dim || !periodic->periodic[k]) return;
    double extent = image_extent(w, wall, dim, k), length = periodic->length[k];
    if (extent < 0.0) return;
    if (length + delta <= extent + reach) range[1] = 1;
    if (length - delta <= extent + reach) range[0] = -1;
}

/// Centre of a grain, given relative to an image of a wall, in the wall's frame.
static void to_wall_frame(const walls* w, int dim, int wall, const double delta[3], double local[3])
{
    quat_rotate_back(local, w->rotation + 4 * wall, delta);
    if (dim == 2) local[2] = 0.0;
}

/// Distance that a point of the wall within `near` of a grain's centre covers in the step, seen
/// from the common velocity.
static double wall_motion(const grains* g, const walls* w, const cell* periodic, int64_t grain,
                          int wall, double near, const double drift[3], double h)
{
    double arm[3], turn[3], relative[3];
    nearest_delta(g, w, periodic, grain, wall, arm);
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

/// Contacts of one grain with one image of a wall.
static talus_status image_contacts(const grains* g, const walls* w, int64_t grain, int wall,
                                   const double delta[3], int32_t code, double reach, double range,
                                   uint8_t* escaped, contacts* out)
{
    double local[3];
    shape_hit hits[SHAPE_MAX_HITS];
    to_wall_frame(w, g->dim, wall, delta, local);
    int count = shape_query(&w->record[wall].shape, g->dim, local, reach + range, hits);
    for (int k = 0; k < count; k++) {
        if (hits[k].distance < 0.0) escaped[grain] = 1;
        hits[k].feature += code * FEATURES_PER_IMAGE;
        if (append_hit(g, w, grain, wall, &hits[k], out)) return TALUS_ERR_MEMORY;
        out->distant[out->count - 1] = hits[k].distance > reach;
    }
    return TALUS_OK;
}

/// Contacts of one grain with all images of a wall, in ascending feature.
static talus_status grain_contacts(const grains* g, const walls* w, const cell* periodic,
                                   int64_t grain, int wall, double reach, double range,
                                   uint8_t* escaped, contacts* out)
{
    double delta[3], at[3];
    int span[3][2], shift[3];
    nearest_delta(g, w, periodic, grain, wall, delta);
    for (int k = 0; k < 3; k++) {
        shift_range(w, periodic, wall, g->dim, k, delta[k], reach + range, span[k]);
    }
    if (image_contacts(g, w, grain, wall, delta, 0, reach, range, escaped, out))
        return TALUS_ERR_MEMORY;
    for (shift[0] = span[0][0]; shift[0] <= span[0][1]; shift[0]++) {
        for (shift[1] = span[1][0]; shift[1] <= span[1][1]; shift[1]++) {
            for (shift[2] = span[2][0]; shift[2] <= span[2][1]; shift[2]++) {
                int32_t code = image_code(shift);
                if (code == 0) continue;
                for (int k = 0; k < 3; k++) at[k] = delta[k] + shift[k] * periodic->length[k];
                TRY(image_contacts(g, w, grain, wall, at, code, reach, range, escaped, out));
            }
        }
    }
    return TALUS_OK;
}

talus_status ball_wall_contacts(const grains* g, const walls* w, const cell* periodic,
                                const double* margin, const double* wall_margin, double range,
                                const double drift[3], double h, uint8_t* escaped, contacts* out)
{
    for (int wall = (int)w->count - 1; wall >= 0; wall--) {
        if (!w->present[wall]) continue;
        for (int64_t i = 0; i < g->count; i++) {
            if (g->inv_mass[i] == 0.0) continue;
            double near = g->radius[i] + margin[i] + wall_margin[wall];
            double reach = near + wall_motion(g, w, periodic, i, wall, near, drift, h);
            TRY(grain_contacts(g, w, periodic, i, wall, reach, range, escaped, out));
        }
    }
    return TALUS_OK;
}

double ball_wall_gap(const grains* g, const walls* w, const cell* periodic, int wall,
                     int32_t feature, int64_t b)
{
    double delta[3], local[3];
    nearest_delta(g, w, periodic, b, wall, delta);
    int32_t code = feature / FEATURES_PER_IMAGE;
    if (code > 0) {
        int digits = code - 1;
        int shift[3] = {digits / 9 - 1, digits / 3 % 3 - 1, digits % 3 - 1};
        for (int k = 0; k < 3; k++) delta[k] += shift[k] * periodic->length[k];
    }
    to_wall_frame(w, g->dim, wall, delta, local);
    shape_hit hits[SHAPE_MAX_HITS];
    int count = shape_query(&w->record[wall].shape, g->dim, local, 2.0 * g->radius[b], hits);
    for (int k = 0; k < count; k++) {
        if (hits[k].feature == feature % FEATURES_PER_IMAGE) {
            return hits[k].distance - g->radius[b];
        }
    }
    return INFINITY;
}
