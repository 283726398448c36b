/// Strong and weak forces (Radjai, Wolf, Jean and Moreau, PRL 80, 61, 1998): the contacts above and
/// below the mean normal force, and what each of both bears.
///
/// The share of the deviator is the projection s'_part : s' / s' : s' of the deviators, which both
/// networks' shares add up to 1 with; a negative one works against the whole.
#include "base/error.h"
#include "base/vec.h"
#include "measure/stress.h"
#include "measure/tensor.h"

#include <math.h>

static double mean_normal(const contact_choice* choice)
{
    double sum = 0.0;
    int64_t count = 0;
    for (int64_t c = 0; c < choice->list->count; c++) {
        if (!contact_counts(choice, c)) continue;
        double tangential[3];
        sum += contact_split(choice->list, c, tangential);
        count++;
    }
    return count > 0 ? sum / (double)count : 0.0;
}

/// Sums over the contacts of one network, of normals too.
static void add_contact(const contact_choice* choice, int64_t c, double volume, double fabric[9],
                        talus_network* out)
{
    const contacts* list = choice->list;
    const double* n = list->normal + c * list->dim;
    out->contacts++;
    out->sliding += list->state[c] == TALUS_CONTACT_SLIDE;
    tensor_add(list->dim, fabric, 1.0, n, n);
    stress_add(choice->world, list, c, list->force + c * list->dim, volume, out->stress);
}

static void finish(int dim, int64_t both, const double whole[9], double fabric[9],
                   talus_network* out)
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

talus_status talus_measure_networks(const talus_world* world, const talus_measure_def* def,
                                    talus_networks* out, talus_error* error)
{
    const int dim = world->state.grains.dim;
    contact_choice choice;
    double fabric[2][9] = {{0}}, whole[9];
    *out = (talus_networks){0};
    TRY(contact_choose(world, def, &choice, error));
    TRY(stress_volume(world, def, &choice.region, &out->volume, error));
    out->mean_normal = mean_normal(&choice);
    for (int64_t c = 0; c < choice.list->count; c++) {
        if (!contact_counts(&choice, c)) continue;
        double tangential[3];
        const bool weak = contact_split(choice.list, c, tangential) <= def->cut * out->mean_normal;
        add_contact(&choice, c, out->volume, fabric[weak], weak ? &out->weak : &out->strong);
    }
    for (int k = 0; k < 9; k++) whole[k] = out->strong.stress[k] + out->weak.stress[k];
    const int64_t both = out->strong.contacts + out->weak.contacts;
    if (both == 0) return TALUS_OK;
    finish(dim, both, whole, fabric[0], &out->strong);
    finish(dim, both, whole, fabric[1], &out->weak);
    return TALUS_OK;
}
