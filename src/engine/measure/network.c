/// Strong and weak forces (Radjai, Wolf, Jean and Moreau, PRL 80, 61, 1998): the contacts above and
/// below the mean normal force, and what each of both bears.
///
/// The share of the deviator is the projection s'_part : s' / s' : s' of the deviators, which both
/// networks' shares add up to 1 with; a negative one works against the whole.
#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/stress.h"
#include "measure/tensor.h"

#include <math.h>

static double mean_normal(const contact_filter* filter)
{
    double sum = 0.0;
    int64_t count = 0;
    for (int64_t c = 0; c < filter->list->count; c++) {
        if (!contact_counts(filter, c)) continue;
        double tangential[3];
        sum += contact_split(filter->list, c, tangential);
        count++;
    }
    return count > 0 ? sum / (double)count : 0.0;
}

static void finish(int dim, int64_t both, const double whole[9], double fabric[9],
                   talus_subnetwork* out)
{
    double deviator[9], part[9];
    const double count = (double)out->contacts;
    if (out->contacts == 0) {
        out->anisotropy = out->angle = NAN;
        return;
    }
    tensor_deviator(dim, whole, deviator);
    tensor_deviator(dim, out->stress, part);
    for (int k = 0; k < 9; k++) fabric[k] /= count;
    const talus_principal principal = talus_measure_principal(dim, fabric);
    out->share = count / (double)both;
    out->sliding /= count;
    out->pressure_share = tensor_trace(dim, out->stress) / tensor_trace(dim, whole);
    out->deviator_share =
        tensor_product(dim, part, deviator) / tensor_product(dim, deviator, deviator);
    out->anisotropy = fabric_anisotropy(dim, &principal);
    out->angle = principal_angle(dim, &principal);
}

talus_status talus_measure_network(const talus_world* world, const talus_measure_def* given,
                                   talus_network* out, talus_error* error)
{
    talus_measure_def own = talus_measure_default();
    const talus_measure_def* def = &own;
    const int dim = world->state.grains.dim;
    contact_filter filter;
    double fabric[2][9] = {{0}}, whole[9];
    *out = (talus_network){0};
    TRY(DEFINITION_TAKE(measure, &own, given, error));
    TRY(contact_filter_make(world, def, &filter, error));
    TRY(stress_volume(world, def, &filter.region, &out->volume, error));
    out->mean_normal = mean_normal(&filter);
    for (int64_t c = 0; c < filter.list->count; c++) {
        if (!contact_counts(&filter, c)) continue;
        double tangential[3];
        const bool weak = contact_split(filter.list, c, tangential) <= def->cut * out->mean_normal;
        const double *n = filter.list->normal + c * dim, *force = filter.list->force + c * dim;
        talus_subnetwork* part = weak ? &out->weak : &out->strong;
        part->contacts++;
        part->sliding += filter.list->state[c] == TALUS_CONTACT_SLIDE;
        tensor_add(dim, fabric[weak], 1.0, n, n);
        stress_add(world, filter.list, c, force, out->volume, part->stress);
    }
    for (int k = 0; k < 9; k++) whole[k] = out->strong.stress[k] + out->weak.stress[k];
    const int64_t both = out->strong.contacts + out->weak.contacts;
    if (both == 0) return TALUS_OK;
    finish(dim, both, whole, fabric[0], &out->strong);
    finish(dim, both, whole, fabric[1], &out->weak);
    return TALUS_OK;
}
