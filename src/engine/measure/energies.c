/// Energies, powers and momentum of a world.
///
/// The powers are rates of work at the velocities of now: of gravity sum m g.v, of external forces
/// sum F.v + T.w, of walls -sum (F.v + T.w) with the forces F and torques T that the grains put on
/// them. A wall at rest does no work.
#include "base/error.h"
#include "base/vec.h"
#include "measure/contact_filter.h"
#include "measure/flow.h"

void talus_measure_momentum(const talus_world* world, double momentum[3])
{
    const grains* g = &world->state.grains;
    const walls* w = &world->state.walls;
    for (int k = 0; k < 3; k++) momentum[k] = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        vec_add_scaled(g->dim, momentum, g->mass[i], g->velocity + i * g->dim);
    }
    for (int i = 0; i < (int)w->count; i++) {
        if (!w->present[i] || !wall_is_mobile(w, i)) continue;
        vec_add_scaled(3, momentum, w->record[i].drive.mass, w->velocity + 3 * i);
    }
}

static double potential_of(const talus_world* world, int64_t i)
{
    const grains* g = &world->state.grains;
    double x[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < g->dim; k++) {
        x[k] = g->position[i * g->dim + k] + g->image[i * g->dim + k] * world->state.cell.length[k];
    }
    return -g->mass[i] * vec_dot(3, world->def.gravity, x);
}

double talus_measure_potential_energy(const talus_world* world)
{
    const grains* g = &world->state.grains;
    double energy = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] == GRAIN_FREE) energy += potential_of(world, i);
    }
    return energy;
}

// ---- budget ------------------------------------------------------------------------------------

static void add_grain(const talus_world* world, int64_t i, const talus_flow* flow,
                      talus_energies* out)
{
    const grains* g = &world->state.grains;
    const int dim = g->dim, spin_dim = spin_width(dim);
    const double* v = g->velocity + i * dim;
    const double translational = 0.5 * g->mass[i] * vec_dot(dim, v, v);
    double off[3];
    flow_deviation(flow, dim, g->position + i * dim, v, off);
    out->grains++;
    out->translational += translational;
    out->rotational += grain_kinetic_energy(g, i) - translational;
    out->fluctuating += 0.5 * g->mass[i] * vec_dot(dim, off, off);
    out->potential += potential_of(world, i);
    out->gravity_power += g->mass[i] * vec_dot(dim, world->def.gravity, v);
    if (!g->force) return;
    out->force_power += vec_dot(dim, g->force + i * dim, v) +
                        vec_dot(spin_dim, g->torque + i * spin_dim, g->spin + i * spin_dim);
}

static double power_of_walls(const walls* w)
{
    double power = 0.0;
    for (int64_t i = 0; i < w->count; i++) {
        if (!w->present[i]) continue;
        power -= vec_dot(3, w->force + 3 * i, w->velocity + 3 * i);
        power -= vec_dot(3, w->torque + 3 * i, w->spin + 3 * i);
    }
    return power;
}

talus_status talus_measure_energies(const talus_world* world, const talus_measure_def* def,
                                    talus_energies* out, talus_error* error)
{
    contact_choice choice;
    talus_flow flow;
    *out = (talus_energies){0};
    TRY(contact_choose(world, def, &choice, error));
    flow_choose(world, def, &choice.region, &flow);
    for (int64_t i = 0; i < world->state.grains.count; i++) {
        if (measure_box_holds_grain(&choice.region, &world->state.grains, i))
            add_grain(world, i, &flow, out);
    }
    out->kinetic = out->translational + out->rotational;
    out->wall_power = power_of_walls(&world->state.walls);
    out->soft = world->last.energy;
    return TALUS_OK;
}
