/// Stress, compression positive (Love, Weber; Christoffersen, Mehrabadi and Nemat-Nasser 1981):
///     s_ij = (1/V) sum over contacts f_i l_j + (1/V) sum over free grains m dv_i dv_j
/// with f the force on b, l the branch vector from a to b (measure/contact_filter.h) and dv the
/// velocity against the mean flow. A contact belongs to the region that holds its point, with its
/// whole branch vector; a grain to the one that holds its centre.
#include "measure/stress.h"

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
                           const measure_box* region, double* volume, talus_error* error)
{
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

double stress_deviator(int dim, const double tensor[9])
{
    double deviator[9];
    tensor_deviator(dim, tensor, deviator);
    return sqrt((dim == 2 ? 0.5 : 1.5) * tensor_product(dim, deviator, deviator));
}

static void add_contacts(const contact_choice* choice, talus_stress* out)
{
    const contacts* list = choice->list;
    for (int64_t c = 0; c < list->count; c++) {
        const double* f = list->force + c * list->dim;
        if (!(vec_norm(list->dim, f) > 0.0)) continue;
        if (!measure_box_holds(&choice->region, list->point + c * list->dim)) continue;
        stress_add(choice->world, list, c, f, out->volume, out->contact);
        out->contacts++;
    }
}

static void add_grains(const grains* g, const measure_box* region, const talus_flow* flow,
                       talus_stress* out)
{
    for (int64_t i = 0; i < g->count; i++) {
        if (!measure_box_holds_grain(region, g, i)) continue;
        double off[3];
        flow_deviation(flow, g->dim, g->position + i * g->dim, g->velocity + i * g->dim, off);
        tensor_add(g->dim, out->kinetic, g->mass[i] / out->volume, off, off);
        out->grains++;
    }
}

talus_status talus_measure_stress(const talus_world* world, const talus_measure_def* def,
                                  talus_stress* out, talus_error* error)
{
    const int dim = world->state.grains.dim;
    contact_choice choice;
    talus_flow flow;
    *out = (talus_stress){0};
    TRY(contact_choose(world, def, &choice, error));
    TRY(stress_volume(world, def, &choice.region, &out->volume, error));
    flow_choose(world, def, &choice.region, &flow);
    add_contacts(&choice, out);
    add_grains(&world->state.grains, &choice.region, &flow, out);
    for (int k = 0; k < 9; k++) out->total[k] = out->contact[k] + out->kinetic[k];
    out->pressure = tensor_trace(dim, out->total) / dim;
    out->deviator = stress_deviator(dim, out->total);
    out->principal = talus_measure_principal(dim, out->total);
    return TALUS_OK;
}
