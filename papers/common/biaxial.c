/// The grains of a packing move into a new world, whose walls have another material.
#include "biaxial.h"

#include <string.h>

static talus_status add_wall(paper* p, const talus_world* packing, talus_world* cell,
                             const char* name, int material)
{
    talus_wall_state old;
    TRY(talus_world_wall(packing, talus_world_find_wall(packing, name), &old, &p->error));
    talus_wall_def wall = talus_wall_default();
    wall.name = name;
    wall.shape = old.shape;
    memcpy(wall.position, old.position, sizeof wall.position);
    wall.material = material;
    return talus_world_add_wall(cell, &wall, NULL, &p->error);
}

talus_status biaxial_drive(paper* p, const packing_def* made, talus_world* cell, double speed)
{
    const int right = talus_world_find_wall(cell, "right"),
              lid = talus_world_find_wall(cell, "lid");
    talus_drive_def drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_VELOCITY;
    drive.velocity[1] = -speed;
    TRY(talus_world_set_drive(cell, lid, &drive, &p->error));
    drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_SERVO;
    drive.mass = made->lid_mass * packing_mean_mass(made);
    drive.servo_axis[0] = -1;
    drive.stress = made->pressure;
    drive.span_count = 1;
    drive.span_wall[0][0] = talus_world_find_wall(cell, "floor");
    drive.span_wall[0][1] = lid;
    return talus_world_set_drive(cell, right, &drive, &p->error);
}

static talus_status furnish(paper* p, const talus_world* packing, double friction,
                            talus_world* cell)
{
    static const char* const walls[] = {"floor", "left", "right", "lid"};
    talus_pair_def pair = talus_pair_default();
    int grains_material, membrane;
    pair.friction = friction;
    TRY(talus_world_add_material(cell, "grains", &pair, &grains_material, &p->error));
    pair.friction = 0;
    TRY(talus_world_add_material(cell, "membrane", &pair, &membrane, &p->error));
    for (int k = 0; k < 4; k++) TRY(add_wall(p, packing, cell, walls[k], membrane));
    const talus_grains grains = talus_world_grains(packing);
    talus_grain_def grain = talus_grain_default();
    grain.material = grains_material;
    for (int64_t i = 0; i < grains.count; i++) {
        grain.radius = grains.radius[i];
        grain.mass = grains.mass[i];
        memcpy(grain.position, grains.position + 2 * i, 2 * sizeof *grain.position);
        TRY(talus_world_add_grain(cell, &grain, NULL, &p->error));
    }
    return TALUS_OK;
}

talus_status biaxial_make(paper* p, const packing_def* made, const talus_world* packing,
                          double friction, talus_world** out)
{
    talus_world_def options = talus_world_default();
    options.dim = 2;
    options.seed = made->seed;
    options.threads = made->threads;
    options.solver = made->solver;
    talus_world* cell;
    TRY(talus_world_create(&options, &cell, &p->error));
    talus_status status = furnish(p, packing, friction, cell);
    if (status < 0) {
        talus_world_destroy(cell);
        return status;
    }
    *out = cell;
    return TALUS_OK;
}
