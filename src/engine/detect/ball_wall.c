/// Grains near walls: the wall's shape is asked in its own frame, for every image of the wall in a
/// periodic cell. What balls find is here, solids are in solid_wall.c.
///
/// Each axis is shifted by -1, 0 or 1 cell from the nearest image of the wall's origin.
/// talus_world_add_wall() refuses walls so long that more would be needed.
#include "base/error.h"
#include "base/vec.h"
#include "detect/narrow.h"
#include "detect/wall_sight.h"
#include "geometry/feature.h"
#include "geometry/shape.h"

#include <stdlib.h>
#include <string.h>

/// Grains that one thread works on at a time. Nothing depends on it.
enum { GRAIN_CHUNK = 2048 };

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
static double image_extent(const walls* w, int wall, int k)
{
    const talus_shape_def* shape = &w->record[wall].shape;
    if (shape->inside || shape->kind == TALUS_SHAPE_PLANE) return -1.0;
    const double bound = w->record[wall].form.bound;
    if (isfinite(bound)) return bound;
    double axis[3];
    quat_rotate(axis, w->rotation + 4 * wall, shape->axis);
    return fabs(axis[k]) > 1.0 - 1e-9 ? -1.0 : shape->radius;
}

/// Centre of a grain, given relative to an image of a wall, in the wall's frame.
static void to_wall_frame(const walls* w, int dim, int wall, const double delta[3], double local[3])
{
    quat_rotate_back(local, w->rotation + 4 * wall, delta);
    if (dim == 2) local[2] = 0.0;
}

static talus_status append_hit(const narrow* n, const wall_approach* at, const shape_hit* hit,
                               contacts* out)
{
    const grains* g = n->g;
    const int dim = g->dim;
    double normal[3];
    quat_rotate(normal, n->w->rotation + 4 * at->wall, hit->normal);
    const int64_t feature =
        feature_of_image(feature_make(FEATURE_SURFACE, hit->feature, 0), at->image);
    const double gap = hit->distance - g->radius[at->grain];
    const int64_t c =
        narrow_append(g, out, -1 - at->wall, at->grain, feature, gap, normal, gap > at->near);
    if (c < 0) return TALUS_ERR_MEMORY;
    for (int k = 0; k < dim; k++) {
        out->point[c * dim + k] = g->position[at->grain * dim + k] - hit->distance * normal[k];
    }
    return TALUS_OK;
}

/// What finds the contacts of all walls, and where it puts them.
typedef struct wall_search {
    const narrow* n;
    narrow_scratch* scratch;
    contacts_cursor cursor;
    uint8_t* escaped;
    contacts* out;
} wall_search;

/// Contacts of one grain with one image of a wall.
static talus_status image_contacts(wall_search* s, wall_approach* at, const double delta[3],
                                   int image)
{
    const narrow* n = s->n;
    at->image = image;
    to_wall_frame(n->w, n->g->dim, at->wall, delta, at->local);
    const bool ball = n->g->solid[at->grain] < 0;
    if (n->visitor && (!ball || n->visitor->balls)) {
        return n->visitor->meet(n->visitor->user, at, &s->scratch->visiting, s->escaped, s->out);
    }
    if (ball && !wall_form_for_balls(&n->w->record[at->wall].shape)) {
        shape_hit hits[SHAPE_MAX_HITS];
        const double reach = n->g->radius[at->grain] + at->reach;
        int count = shape_query(&n->w->record[at->wall].shape, n->g->dim, at->local, reach, hits);
        for (int k = 0; k < count; k++) {
            if (hits[k].distance < 0.0) s->escaped[at->grain] = 1;
            TRY(append_hit(n, at, &hits[k], s->out));
        }
        return TALUS_OK;
    }
    return solid_wall_contacts(n, at, s->scratch, &s->cursor, s->escaped, s->out);
}

/// Contacts of one grain with all images of a wall, in ascending feature.
static talus_status grain_contacts(wall_search* s, wall_approach* at)
{
    const narrow* n = s->n;
    const cell* periodic = n->periodic;
    const double reach = n->g->radius[at->grain] + at->reach;
    double delta[3], moved[3];
    int span[3][2], shift[3];
    nearest_delta(n->g, n->w, periodic, at->grain, at->wall, delta);
    for (int k = 0; k < 3; k++) { // first and last shift to look at, of -1, 0, 1
        const bool wraps = k < n->g->dim && periodic->periodic[k];
        const double extent = wraps ? image_extent(n->w, at->wall, k) : -1.0;
        const double length = periodic->length[k];
        span[k][0] = extent >= 0.0 && length - delta[k] <= extent + reach ? -1 : 0;
        span[k][1] = extent >= 0.0 && length + delta[k] <= extent + reach ? 1 : 0;
    }
    TRY(image_contacts(s, at, delta, 0));
    for (shift[0] = span[0][0]; shift[0] <= span[0][1]; shift[0]++) {
        for (shift[1] = span[1][0]; shift[1] <= span[1][1]; shift[1]++) {
            for (shift[2] = span[2][0]; shift[2] <= span[2][1]; shift[2]++) {
                // Images are numbered by 1 + the shifts read as digits of base 3; the nearest is 0,
                // so that most contacts do not change their key.
                const int digits = (shift[0] + 1) * 9 + (shift[1] + 1) * 3 + shift[2] + 1;
                if (digits == 13) continue;
                for (int k = 0; k < 3; k++) moved[k] = delta[k] + shift[k] * periodic->length[k];
                TRY(image_contacts(s, at, moved, 1 + digits));
            }
        }
    }
    return TALUS_OK;
}

/// The first grain from `i` on that is not far from all walls; `end` if there is none. Most are
/// far: eight are seen at once.
static int64_t next_near(const uint8_t* far, int64_t i, int64_t end)
{
    static const uint8_t all_far[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    while (i + 8 <= end && memcmp(far + i, all_far, 8) == 0) i += 8;
    while (i < end && far[i]) i++;
    return i;
}

/// Contacts of the grains [first, end) with one wall.
static talus_status wall_contacts(const narrow* n, int wall, int64_t first, int64_t end,
                                  narrow_scratch* scratch, uint8_t* escaped, contacts* out)
{
    const grains* g = n->g;
    wall_search s = {.n = n,
                     .scratch = scratch,
                     .cursor = contacts_cursor_at(n->last, -1 - wall, g->id[first]),
                     .escaped = escaped,
                     .out = out};
    const wall_sight sight = wall_sight_of(n, wall);
    for (int64_t i = n->far ? next_near(n->far, first, end) : first; i < end;
         i = n->far ? next_near(n->far, i + 1, end) : i + 1) {
        if (g->inv_mass[i] == 0.0) continue;
        const double* x = g->position + i * g->dim;
        if (g->dim == 2 ? wall_sight_clear(&sight, 2, x, g->radius[i], n->margin[i])
                        : wall_sight_clear(&sight, 3, x, g->radius[i], n->margin[i])) {
            continue;
        }
        const double still = n->margin[i] + n->wall_margin[wall];
        // How far a point of the wall near the grain's centre goes in the step, seen from the
        // common velocity.
        const double *v = n->w->velocity + 3 * wall, *w = n->w->spin + 3 * wall;
        double arm[3], turn[3], relative[3];
        nearest_delta(g, n->w, n->periodic, i, wall, arm);
        vec_cross(turn, w, arm);
        for (int k = 0; k < 3; k++) relative[k] = v[k] + turn[k] - n->drift[k];
        const double moves =
            n->h * (vec_norm(3, relative) + vec_norm(3, w) * (g->radius[i] + still));
        wall_approach at = {.grain = i, .wall = wall, .near = still + moves};
        at.reach = at.near + n->range;
        TRY(grain_contacts(&s, &at));
    }
    return TALUS_OK;
}

/// One list, without a copy.
static talus_status narrow_walls_directly(const narrow* n, uint8_t* escaped, contacts* out)
{
    narrow_scratch scratch = {0};
    talus_status status = TALUS_OK;
    for (int wall = (int)n->w->count - 1; wall >= 0 && status == TALUS_OK; wall--) {
        if (!n->w->present[wall]) continue;
        status = wall_contacts(n, wall, 0, n->g->count, &scratch, escaped, out);
    }
    if (n->visitor) n->visitor->free_scratch(scratch.visiting);
    narrow_scratch_free(&scratch);
    return status;
}

/// Walls one after the other, grains side by side: no two threads mark the same grain.
talus_status narrow_walls(const narrow* n, uint8_t* escaped, contacts* out)
{
    const int64_t count = n->g->count, chunks = (count + GRAIN_CHUNK - 1) / GRAIN_CHUNK;
    if (chunks == 0) return TALUS_OK;
    if (n->direct) return narrow_walls_directly(n, escaped, out);
    narrow_chunk* chunk = calloc((size_t)chunks, sizeof *chunk);
    talus_status status = chunk ? TALUS_OK : TALUS_ERR_MEMORY;
    for (int wall = (int)n->w->count - 1; wall >= 0 && status == TALUS_OK; wall--) {
        if (!n->w->present[wall]) continue;
#pragma omp parallel num_threads(n->threads) if (chunks > 1)
        {
            narrow_scratch scratch = {0};
#pragma omp for schedule(dynamic)
            for (int64_t k = 0; k < chunks; k++) {
                const int64_t first = k * GRAIN_CHUNK, end = first + GRAIN_CHUNK;
                contacts_init(&chunk[k].list, n->g->dim);
                chunk[k].failed = wall_contacts(n, wall, first, end < count ? end : count, &scratch,
                                                escaped, &chunk[k].list) < 0;
            }
            if (n->visitor) n->visitor->free_scratch(scratch.visiting);
            narrow_scratch_free(&scratch);
        }
        status = narrow_join(chunk, chunks, n->threads, out);
    }
    free(chunk);
    return status;
}

void narrow_far(const narrow* n, double margin, uint8_t* far)
{
    const grains* g = n->g;
    const int64_t count = g->count;
    for (int64_t i = 0; i < count; i++) far[i] = 1;
    for (int wall = 0; wall < (int)n->w->count; wall++) {
        if (!n->w->present[wall]) continue;
        const wall_sight sight = wall_sight_of(n, wall);
        for (int64_t i = 0; i < count; i++) {
            const double *x = g->position + i * g->dim, room = n->margin[i] + margin;
            far[i] = far[i] && (g->dim == 2 ? wall_sight_clear(&sight, 2, x, g->radius[i], room)
                                            : wall_sight_clear(&sight, 3, x, g->radius[i], room));
        }
    }
}

void wall_image_local(const grains* g, const walls* w, const cell* periodic, int wall, int image,
                      int64_t grain, double local[3])
{
    double delta[3];
    nearest_delta(g, w, periodic, grain, wall, delta);
    if (image > 0) {
        const int digits = image - 1;
        const int shift[3] = {digits / 9 - 1, digits / 3 % 3 - 1, digits % 3 - 1};
        for (int k = 0; k < 3; k++) delta[k] += shift[k] * periodic->length[k];
    }
    to_wall_frame(w, g->dim, wall, delta, local);
}

double ball_wall_gap(const grains* g, const walls* w, const cell* periodic, int wall,
                     int64_t feature, int64_t b)
{
    double local[3];
    shape_hit hits[SHAPE_MAX_HITS];
    wall_image_local(g, w, periodic, wall, feature_image(feature), b, local);
    int count = shape_query(&w->record[wall].shape, g->dim, local, 2.0 * g->radius[b], hits);
    for (int k = 0; k < count; k++) {
        if (hits[k].feature == feature_a(feature)) return hits[k].distance - g->radius[b];
    }
    return INFINITY;
}
