/// The packing is copied into a world whose walls have no friction.
#include "biaxial.h"

#include "copy.h"

talus_status biaxial_drive(paper* p, const packing_def* made, talus_world* cell, double speed)
{
    const talus_wall_id right = talus_world_find_wall(cell, "right"),
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

talus_status biaxial_make(paper* p, const packing_def* made, const talus_world* packing,
                          double friction, talus_world** out)
{
    talus_world_def options = paper_world_default();
    options.dim = 2;
    options.seed = made->seed;
    options.threads = made->threads;
    options.solver = made->solver;
    talus_pair_def between_grains = talus_pair_default(), with_walls = talus_pair_default();
    between_grains.friction = friction;
    return copy_world_walls(p, packing, &options, &between_grains, &with_walls, out);
}
