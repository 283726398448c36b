/// A bonded pair under a shock or a pull, and the search for what breaks it.
#include "bond.h"

/// Law with the strength F_C = 1.
static talus_pair_def bond_law(double range)
{
    talus_pair_def law = talus_pair_default();
    law.cohesion_force = 1;
    law.cohesion_energy = range;
    return law;
}

/// Two disks of diameter 1 and mass 1 at rest, which touch and so are bonded after a step.
static talus_status make_pair(paper* p, double range, double h, talus_world** out)
{
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.solver.stop = TALUS_STOP_RESIDUAL;
    def.solver.tolerance = 1e-13;
    TRY(talus_world_create(&def, out, &p->error));
    talus_pair_def law = bond_law(range);
    TRY(talus_world_add_material(*out, "powder", &law, NULL, &p->error));
    for (int i = 0; i < 2; i++) {
        talus_grain_def disk = talus_grain_default();
        disk.radius = 0.5;
        disk.mass = 1;
        disk.position[0] = i;
        TRY(talus_world_add_grain(*out, &disk, NULL, &p->error));
    }
    return talus_world_step(*out, h, NULL, &p->error);
}

static bool is_bonded(const talus_world* world)
{
    talus_contacts c = talus_world_contacts(world);
    return c.count == 1 && c.bonded[0];
}

static talus_status set_pull(paper* p, talus_world* world, double force)
{
    for (int i = 0; i < 2; i++) {
        const double pulled[3] = {i == 0 ? -force : force}, torque[3] = {0};
        TRY(talus_world_set_grain_force(world, i, pulled, torque, &p->error));
    }
    return TALUS_OK;
}

static talus_status pull_at(paper* p, const bond_pull* def, talus_world* world, bond_end* end)
{
    TRY(set_pull(p, world, def->force + def->momentum / def->h));
    end->holds = true;
    for (double t = 0; t < def->time && end->holds; t += def->h) {
        TRY(talus_world_step(world, def->h, NULL, &p->error));
        TRY(set_pull(p, world, def->force));
        end->holds = is_bonded(world);
    }
    talus_grains g = talus_world_grains(world);
    double v = g.velocity[2] - g.velocity[0];
    end->gap = g.position[2] - g.position[0] - 1;
    end->energy = 0.5 * BOND_REDUCED_MASS * v * v;
    return TALUS_OK;
}

talus_status bond_try(paper* p, const bond_pull* def, bond_end* end)
{
    talus_world* world = NULL;
    talus_status status = make_pair(p, def->range, def->h, &world);
    if (status >= 0) status = pull_at(p, def, world, end);
    talus_world_destroy(world);
    return status;
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
