/// Inlets against walls: a box that a wall goes through pours on both sides of it.
#include "base/error.h"
#include "base/vec.h"
#include "scene/model.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void scene_origin_words(const talus_scene* scene, const scene_origin* origin, char* text,
                        size_t size)
{
    if (origin->at.source)
        snprintf(text, size, "%s: %s", origin->at.source, origin->path);
    else
        snprintf(text, size, "%s:%d:%d: %s", scene->file, origin->at.line, origin->at.column,
                 origin->path);
}

/// The walls that are gone or on their way when an inlet first opens: where these are is not known.
static void find_absent(const talus_scene* scene, const scene_source* source, bool* absent)
{
    int first = 0;
    while (first < scene->phase_count - 1 && !scene->phases[first].pours[source->inlet_index]) {
        first++;
    }
    for (int i = 0; i < scene->wall_count; i++) {
        absent[i] = first > 0 && scene->walls[i].def.drive.kind != TALUS_DRIVE_FIXED;
    }
    for (int p = 0; p <= first; p++) {
        const scene_phase* phase = &scene->phases[p];
        for (int i = 0; i < phase->removed_count; i++) absent[phase->removed[i]] = true;
        for (int i = 0; p < first && i < phase->motion_count; i++) {
            absent[phase->motions[i].wall] = true;
        }
    }
}

static bool has_two_sides(const talus_shape_def* shape)
{
    return shape->kind == TALUS_SHAPE_SEGMENT || shape->kind == TALUS_SHAPE_PLATE ||
           shape->kind == TALUS_SHAPE_CONE || shape->kind == TALUS_SHAPE_MESH;
}

/// Does a box of centres leave a ball no room in front of a plane?
static bool lies_behind(const walls* w, int wall, int dim, const double low[3],
                        const double high[3], double radius)
{
    const talus_shape_def* shape = &w->record[wall].shape;
    if (shape->kind != TALUS_SHAPE_PLANE) return false;
    double normal[3], front = 0.0;
    quat_rotate(normal, w->rotation + 4 * wall, shape->normal);
    for (int k = 0; k < dim; k++) {
        front += normal[k] * ((normal[k] > 0.0 ? high[k] : low[k]) - w->position[3 * wall + k]);
    }
    return front < radius;
}

talus_status scene_check_inlets(const talus_scene* scene, const talus_world* world,
                                const log_sink* log, mistakes* found, talus_error* error)
{
    const int dim = scene->world.dim;
    bool* absent = malloc((size_t)scene->wall_count + 1);
    if (!absent) return error_memory(error, "the inlets");
    talus_status status = TALUS_OK;
    for (int i = 0; i < scene->source_count && status >= 0; i++) {
        const scene_source* source = &scene->sources[i];
        sizes* drawn = NULL;
        if (source->kind != SOURCE_INLET) continue;
        status = sizes_create(&source->inlet.sizes, dim, &drawn, error);
        if (status < 0) break;
        // Where the centres of the smallest grains come to lie.
        const double least = sizes_least(drawn);
        double low[3] = {0}, high[3] = {0}, depth;
        for (int k = 0; k < dim; k++) {
            const double room = 0.5 * (source->inlet.high[k] - source->inlet.low[k]);
            const double radius = fmin(least, room);
            low[k] = source->inlet.low[k] + radius;
            high[k] = source->inlet.high[k] - radius;
        }
        sizes_destroy(drawn);
        find_absent(scene, source, absent);
        const int wall = scene_box_crosses(world, low, high, absent, &depth);
        if (wall < 0) continue;
        const char* name = scene->wall_names[wall];
        if (has_two_sides(&world->state.walls.record[wall].shape)) {
            mistakes_add(
                found, source->origin.at, source->origin.path,
                "wall '%s' goes through the inlet: grains would appear on both sides of it "
                "(expected low and high on the same side)",
                name);
        } else if (lies_behind(&world->state.walls, wall, dim, low, high, least)) {
            mistakes_add(found, source->origin.at, source->origin.path,
                         "the inlet lies behind wall '%s', where no grain has room (expected low "
                         "and high in front of it)",
                         name);
        } else {
            char where[512];
            scene_origin_words(scene, &source->origin, where, sizeof where);
            log_write(
                log, TALUS_LOG_WARNING,
                "%s: part of the inlet is inside or behind wall '%s', up to %.3g deep: grains "
                "appear only where there is room",
                where, name, depth);
        }
    }
    free(absent);
    return status;
}
