/// Copies of a world, body by body.
#include "copy.h"

#include <math.h>

talus_status copy_world_walls(paper* p, const talus_world* from, const talus_world_def* options,
                              const talus_pair_def* law, const talus_pair_def* wall_law,
                              talus_world** out)
{
    TRY(paper_world(p, options, out));
    talus_material_id walls = {0};
    TRY(talus_world_add_material(*out, "grain", law, NULL, &p->error));
    if (wall_law) {
        TRY(talus_world_add_material(*out, "wall", wall_law, &walls, &p->error));
        TRY(talus_world_set_pair(*out, (talus_material_id){0}, walls, wall_law, &p->error));
    }
    for (int i = 0; i < talus_world_wall_count(from); i++) {
        talus_wall_state state;
        TRY(talus_world_wall(from, (talus_wall_id){i}, &state, &p->error));
        if (!state.present) continue;
        talus_wall_def wall = talus_wall_default();
        wall.name = state.name;
        wall.shape = state.shape;
        wall.material = walls;
        for (int a = 0; a < 3; a++) wall.position[a] = state.position[a];
        // Rotation vector of a unit quaternion w x y z.
        const double* q = state.rotation;
        const double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        const double scale = sine > 0 ? 2 * atan2(sine, q[0]) / sine : 2;
        for (int a = 0; a < 3; a++) wall.rotation[a] = scale * q[a + 1];
        TRY(talus_world_add_wall(*out, &wall, NULL, &p->error));
    }
    const talus_grains g = talus_world_grains(from);
    for (int64_t i = 0; i < g.count; i++) {
        if (g.glued_to[i].index >= 0)
            return paper_fail(p, "a grain that is glued to a wall: no copy");
        talus_grain_def grain = talus_grain_default();
        grain.radius = g.radius[i];
        grain.mass = g.mass[i];
        for (int a = 0; a < g.dim; a++) {
            grain.position[a] = g.position[i * g.dim + a];
            grain.velocity[a] = g.velocity[i * g.dim + a];
        }
        for (int a = 0; a < g.spin_dim; a++)
            grain.spin[3 - g.spin_dim + a] = g.spin[i * g.spin_dim + a];
        grain.fixed = g.glued_to[i].index == TALUS_GRAIN_FIXED;
        TRY(talus_world_add_grain(*out, &grain, NULL, &p->error));
    }
    return TALUS_OK;
}

talus_status copy_world(paper* p, const talus_world* from, const talus_world_def* options,
                        const talus_pair_def* law, talus_world** out)
{
    return copy_world_walls(p, from, options, law, NULL, out);
}
