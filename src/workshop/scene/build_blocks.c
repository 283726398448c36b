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

static talus_status add_shapes(talus_world* world, const char* name, const block_list* blocks,
                               made_shape* made, talus_error* error)
{
    for (int i = 0; i < blocks->shape_count; i++) {
        char own[256];
        snprintf(own, sizeof own, "%.200s/%d", name, i);
        talus_solid_def def = talus_solid_default();
        def.name = own;
        def.points = blocks->points + (ptrdiff_t)blocks->first[i] * blocks->dim;
        def.point_count = blocks->first[i + 1] - blocks->first[i];
        TRY(talus_world_add_solid(world, &def, &made[i].solid, error));
        TRY(talus_world_solid(world, made[i].solid, &made[i].state, error));
    }
    return TALUS_OK;
}

static talus_grain_def block_grain(const scene_source* source, const block* b, const made_shape* of)
{
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
    return g;
}

talus_status scene_add_blocks(talus_world* world, const scene_source* source,
                              const block_list* blocks, grain_list* grains, generate_report* report,
                              talus_error* error)
{
    made_shape* made = malloc(sizeof *made * (size_t)(blocks->shape_count + 1));
    if (!made) return error_memory(error, "blocks");
    talus_status status = add_shapes(world, source->name, blocks, made, error);
    for (int64_t i = 0; i < blocks->count && status >= 0; i++) {
        const block* b = &blocks->rows[i];
        talus_grain_def g = block_grain(source, b, &made[b->shape]);
        status = grain_list_add(grains, &g, error);
    }
    free(made);
    report->requested = report->placed = blocks->count;
    return status;
}
