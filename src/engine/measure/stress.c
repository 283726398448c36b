/// Stress, compression positive (Love, Weber; Christoffersen, Mehrabadi and Nemat-Nasser 1981):
///     s_ij = (1/V) sum over contacts f_i l_j + (1/V) sum over free grains m dv_i dv_j
/// with f the force on b, l the branch vector from a to b (measure/contact_filter.h) and dv the
/// velocity against the mean flow. A contact belongs to the region that holds its point, with its
/// whole branch vector; a grain to the one that holds its centre.
#include "measure/stress.h"

#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/flow.h"
#include "measure/tensor.h"

#include <math.h>

void stress_add(const talus_world* world, const contacts* list, int64_t c, const double* force,
                double volume, double* tensor)
{
    double branch[3];
    contact_branch(world, list, c, branch);
    tensor_add(list->dim, tensor, 1.0 / volume, force, branch);
}

talus_status stress_volume(const talus_world* world, const talus_measure_def* def,
                           measure_box* region, double* volume, talus_error* error)
{
    TRY(measure_box_leave_strays(world, region, error));
    *volume = def->volume > 0.0 ? def->volume : measure_box_volume(world, region);
    if (*volume > 0.0 && isfinite(*volume)) return TALUS_OK;
    bool any = false;
    for (int64_t i = 0; i < world->state.grains.count && !any; i++) {
        any = world->state.grains.glued_to[i] == GRAIN_FREE;
    }
    return error_set(error, TALUS_ERR_ARGUMENT, "stress: the region has no volume (%g): %s",
                     *volume,
                     any ? "an end that is left out is that of the box around the free grains, and "
                           "the region lies beyond it"
                         : "there are no free grains to say how large it is; give a region or a "
                           "volume");
}

talus_status talus_measure_stress(const talus_world* world, const talus_measure_def* given,
                                  talus_stress* out, talus_error* error)
{
    talus_measure_def own = talus_measure_default();
    const talus_measure_def* def = &own;
    const grains* g = &world->state.grains;
    const contacts* list = &world->state.contacts;
    const int dim = g->dim;
    contact_filter filter;
    talus_velocity_field flow;
    *out = (talus_stress){0};
    TRY(DEFINITION_TAKE(measure, &own, given, error));
    TRY(contact_filter_make(world, def, &filter, error));
    TRY(stress_volume(world, def, &filter.region, &out->volume, error));
    flow_choose(world, def, &filter.region, &flow);
    for (int64_t c = 0; c < list->count; c++) {
        const double* f = list->force + c * dim;
        if (!(vec_norm(dim, f) > 0.0)) continue;
        if (!measure_box_holds(&filter.region, list->point + c * dim)) continue;
        stress_add(world, list, c, f, out->volume, out->contact);
        out->contacts++;
    }
    for (int64_t i = 0; i < g->count; i++) {
        if (!measure_box_holds_grain(&filter.region, g, i)) continue;
        double off[3];
        flow_deviation(&flow, dim, g->position + i * dim, g->velocity + i * dim, off);
        tensor_add(dim, out->kinetic, g->mass[i] / out->volume, off, off);
        out->grains++;
    }
    for (int k = 0; k < 9; k++) out->total[k] = out->contact[k] + out->kinetic[k];
    double deviator[9];
    tensor_deviator(dim, out->total, deviator);
    out->pressure = tensor_trace(dim, out->total) / dim;
    out->deviator = sqrt((dim == 2 ? 0.5 : 1.5) * tensor_product(dim, deviator, deviator));
    out->principal = talus_measure_principal(dim, out->total);
    return TALUS_OK;
}
