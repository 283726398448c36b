/// Blocks into the world: a solid for each shape, a grain for each block.
#include "base/error.h"
#include "base/vec.h"
#include "scene/model.h"

#include <stdio.h>
#include <stdlib.h>

/// Solids of the shapes: the world's numbers and what it knows of them.
typedef struct made_shape {
    talus_solid_id solid;
    talus_solid_state state;
} made_shape;

talus_status scene_add_blocks(talus_world* world, const scene_source* source,
                              const block_list* blocks, grain_list* grains, generate_report* report,
                              talus_error* error)
{
    made_shape* made = malloc(sizeof *made * (size_t)(blocks->shape_count + 1));
    if (!made) return error_memory(error, "blocks");
    talus_status status = TALUS_OK;
    for (int i = 0; i < blocks->shape_count && status >= 0; i++) {
        char name[256];
        snprintf(name, sizeof name, "%.200s/%d", source->name, i);
        talus_solid_def def = talus_solid_default();
        def.name = name;
        def.points = blocks->points + (ptrdiff_t)blocks->first[i] * blocks->dim;
        def.point_count = blocks->first[i + 1] - blocks->first[i];
        status = talus_world_add_solid(world, &def, &made[i].solid, error);
        if (status >= 0) status = talus_world_solid(world, made[i].solid, &made[i].state, error);
    }
    for (int64_t i = 0; i < blocks->count && status >= 0; i++) {
        const block* b = &blocks->rows[i];
        const made_shape* of = &made[b->shape];
        talus_grain_def g = b->edge == EDGE_NONE ? source->base : source->edge[b->edge];
        double q[4], centre[3];
        quat_from_rotation(q, b->rotation);
        quat_rotate(centre, q, of->state.centre);
        g.solid = of->solid;
        g.scale = 1.0;
        g.radius = of->state.radius;
        if (b->fixed) {
            g.fixed = true;
            g.glued_to = TALUS_NO_WALL;
        }
        vec_copy(3, g.rotation, b->rotation);
        for (int k = 0; k < 3; k++) g.position[k] = b->origin[k] + centre[k];
        status = grain_list_add(grains, &g, error);
    }
    free(made);
    report->requested = report->placed = blocks->count;
    return status;
}
