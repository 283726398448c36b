/// Energies, powers and momentum of a world, and the forces that change it.
///
/// The powers are rates of work at the velocities of now: of gravity sum m g.v, of external forces
/// sum F.v + T.w, of walls -sum (F.v + T.w) with the forces F and torques T that the grains put on
/// them. A wall at rest does no work.
#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/contact_filter.h"
#include "measure/flow.h"

#include <string.h>

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

void talus_measure_contact_force(const talus_world* world, double* force)
{
    const contacts* c = &world->state.contacts;
    const int dim = c->dim;
    memset(force, 0, sizeof *force * (size_t)(world->state.grains.count * dim));
    for (int64_t i = 0; i < c->count; i++) {
        vec_add_scaled(dim, force + (ptrdiff_t)c->b_row[i] * dim, 1.0, c->force + i * dim);
        if (c->a_row[i] < 0) continue;
        vec_add_scaled(dim, force + (ptrdiff_t)c->a_row[i] * dim, -1.0, c->force + i * dim);
    }
}

talus_status talus_measure_energy(const talus_world* world, const talus_measure_def* given,
                                  talus_energy* out, talus_error* error)
{
    talus_measure_def own = talus_measure_default();
    const talus_measure_def* def = &own;
    const grains* g = &world->state.grains;
    const walls* w = &world->state.walls;
    const int dim = g->dim, spin_dim = spin_width(dim);
    contact_filter filter;
    talus_velocity_field flow;
    *out = (talus_energy){0};
    TRY(DEFINITION_TAKE(measure, &own, given, error));
    TRY(contact_filter_make(world, def, &filter, error));
    flow_choose(world, def, &filter.region, &flow);
    for (int64_t i = 0; i < g->count; i++) {
        if (!measure_box_holds_grain(&filter.region, g, i)) continue;
        const double* v = g->velocity + i * dim;
        const double translational = 0.5 * g->mass[i] * vec_dot(dim, v, v);
        double off[3], unwrapped[3] = {0};
        flow_deviation(&flow, dim, g->position + i * dim, v, off);
        for (int k = 0; k < dim; k++) {
            unwrapped[k] =
                g->position[i * dim + k] + g->image[i * dim + k] * world->state.cell.length[k];
        }
        out->grains++;
        out->translational += translational;
        out->rotational += grain_kinetic_energy(g, i) - translational;
        out->fluctuating += 0.5 * g->mass[i] * vec_dot(dim, off, off);
        out->potential -= g->mass[i] * vec_dot(3, world->def.gravity, unwrapped);
        out->gravity_power += g->mass[i] * vec_dot(dim, world->def.gravity, v);
        if (!g->force) continue;
        out->force_power += vec_dot(dim, g->force + i * dim, v) +
                            vec_dot(spin_dim, g->torque + i * spin_dim, g->spin + i * spin_dim);
    }
    for (int64_t i = 0; i < w->count; i++) {
        if (!w->present[i]) continue;
        out->wall_power -= vec_dot(3, w->force + 3 * i, w->velocity + 3 * i);
        out->wall_power -= vec_dot(3, w->torque + 3 * i, w->spin + 3 * i);
    }
    out->kinetic = out->translational + out->rotational;
    out->soft = world->last.energy;
    return TALUS_OK;
}
