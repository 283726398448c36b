/// Random sequential addition, and a piston with a drag that bounds its speed.
#include "powder.h"

#include "lattice.h"
#include "random.h"
#include <math.h>

powder_def powder_default(void)
{
    return (powder_def){.disks = 200,
                        .width = 14,
                        .covered = 0.35,
                        .friction = 0.3,
                        .range = 0.05,
                        .unit = 1,
                        .step = 0.05,
                        .speed = 0.1,
                        .seed = 1};
}

/// Disks of the powder at random places where they do not touch, below `height`.
static talus_status add_disks(paper* p, const powder_def* def, double height, talus_world* world)
{
    uint64_t random = def->seed;
    talus_grain_def disk = talus_grain_default();
    disk.density = 4 / M_PI;
    for (int64_t i = 0; i < def->disks; i++) {
        disk.radius = 0.5 * random_between(&random, 0.8, 1.2);
        bool is_free = false;
        for (int tries = 0; !is_free && tries < 100000; tries++) {
            disk.position[0] = random_between(&random, 0, def->width);
            disk.position[1] = random_between(&random, disk.radius, height - disk.radius);
            talus_grains g = talus_world_grains(world);
            is_free = true;
            for (int64_t j = 0; j < i && is_free; j++) {
                double x = disk.position[0] - g.position[2 * j];
                x -= def->width * rint(x / def->width);
                is_free =
                    hypot(x, disk.position[1] - g.position[2 * j + 1]) > disk.radius + g.radius[j];
            }
        }
        if (!is_free) return paper_fail(p, "no room for disk %lld of a powder", (long long)i);
        TRY(talus_world_add_grain(world, &disk, NULL, &p->error));
    }
    return TALUS_OK;
}

talus_status powder_make(paper* p, const powder_def* def, talus_world** out)
{
    talus_world_def options = paper_world_default();
    options.dim = 2;
    options.periodic[0] = true;
    options.cell_high[0] = def->width;
    options.seed = def->seed;
    options.threads = p->threads;
    TRY(paper_world(p, &options, out));
    talus_pair_def law = talus_pair_default();
    law.friction = def->friction;
    law.rolling_kind = TALUS_ROLLING_RADIUS;
    law.rolling = def->rolling;
    law.cohesion_force = def->cohesion * def->unit;
    law.cohesion_energy = law.cohesion_force * def->range;
    TRY(talus_world_add_material(*out, "powder", &law, NULL, &p->error));
    const double height = (double)def->disks * (M_PI / 4) / (def->covered * def->width);
    TRY(lattice_plane(p, *out, "floor", 1, 1, 0));
    TRY(lattice_plane(p, *out, "piston", 1, -1, height));
    return add_disks(p, def, height, *out);
}

talus_status powder_press(paper* p, const powder_def* def, double stress, talus_world* world,
                          double* porosity)
{
    enum { WATCH = 100, MOST = 1000 };
    talus_drive_def drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_FORCE;
    drive.mass = 0.2 * def->width;
    drive.free_axes[1] = true;
    drive.force[1] = -stress * def->unit * def->width;
    drive.damping = -drive.force[1] / def->speed;
    const talus_wall_id piston = talus_world_find_wall(world, "piston");
    TRY(talus_world_set_drive(world, piston, &drive, &p->error));
    const talus_grains g = talus_world_grains(world);
    double area = 0, before = INFINITY;
    for (int64_t i = 0; i < g.count; i++) area += M_PI * g.radius[i] * g.radius[i];
    for (int i = 0; i < MOST; i++) {
        TRY(talus_world_steps(world, def->step, WATCH, NULL, &p->error));
        talus_wall_state state;
        TRY(talus_world_wall(world, piston, &state, &p->error));
        const double height = state.position[1];
        *porosity = 1 - area / (def->width * height); // what disks do not cover
        if (i > 0 && before - height < 0.01 * def->speed * WATCH * def->step) return TALUS_OK;
        before = height;
    }
    return paper_fail(p, "the piston did not come to rest");
}
