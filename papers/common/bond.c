/// A bonded pair under a shock or a pull, and the search for what breaks it.
#include "bond.h"

static talus_status set_pull(paper* p, talus_world* world, double force)
{
    for (int i = 0; i < 2; i++) {
        const double pulled[3] = {i == 0 ? -force : force}, torque[3] = {0};
        TRY(talus_world_set_grain_force(world, i, pulled, torque, &p->error));
    }
    return TALUS_OK;
}

talus_status bond_try(paper* p, const bond_pull* def, bond_end* end)
{
    talus_world_def options = paper_world_default();
    options.dim = 2;
    options.solver.stop = TALUS_STOP_RESIDUAL;
    options.solver.tolerance = 1e-13;
    talus_world* world;
    TRY(paper_world(p, &options, &world));
    talus_pair_def law = talus_pair_default();
    law.cohesion_force = 1;
    law.cohesion_energy = def->range;
    TRY(talus_world_add_material(world, "powder", &law, NULL, &p->error));
    // Two disks of diameter 1 and mass 1 at rest, which touch and so are bonded after a step.
    for (int i = 0; i < 2; i++) {
        talus_grain_def disk = talus_grain_default();
        disk.radius = 0.5;
        disk.mass = 1;
        disk.position[0] = i;
        TRY(talus_world_add_grain(world, &disk, NULL, &p->error));
    }
    TRY(talus_world_step(world, def->h, NULL, &p->error));
    TRY(set_pull(p, world, def->force + def->momentum / def->h));
    end->holds = true;
    for (double t = 0; t < def->time && end->holds; t += def->h) {
        TRY(talus_world_step(world, def->h, NULL, &p->error));
        TRY(set_pull(p, world, def->force));
        const talus_contacts c = talus_world_contacts(world);
        end->holds = c.count == 1 && c.bonded[0];
    }
    const talus_grains g = talus_world_grains(world);
    const double v = g.velocity[2] - g.velocity[0];
    end->gap = g.position[2] - g.position[0] - 1;
    end->energy = 0.5 * BOND_REDUCED_MASS * v * v;
    paper_end_world(p, world);
    return TALUS_OK;
}

talus_status bond_find_limit(paper* p, bond_pull* def, double* field, double high, double* limit)
{
    double low = 0;
    for (int i = 0; i < 30; i++) {
        bond_end end;
        *field = 0.5 * (low + high);
        TRY(bond_try(p, def, &end));
        *(end.holds ? &low : &high) = *field;
    }
    *limit = 0.5 * (low + high);
    return TALUS_OK;
}
