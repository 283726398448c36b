/// How large the contact forces are, and how much of their friction they use.
///
/// Sizes are in units of the mean over the contacts that count. The bound of the tangential force
/// is mu (f_n + F_C): mu of the pair of materials, the dynamic one while the contact slides, and
/// F_C only while a bond holds. A contact without a bound above zero has no mobilisation.
#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/contact_filter.h"
#include "measure/histogram.h"

#include <math.h>

void talus_forces_free(talus_forces* f)
{
    talus_histogram_free(&f->normal);
    talus_histogram_free(&f->normal_log);
    talus_histogram_free(&f->tangential);
    talus_histogram_free(&f->tangential_log);
    talus_histogram_free(&f->mobility);
    *f = (talus_forces){0};
}

/// Means and maxima, which the histograms need first.
static void set_means(const contact_filter* filter, talus_forces* out)
{
    const contacts* list = filter->list;
    out->largest_normal = -INFINITY;
    for (int64_t c = 0; c < list->count; c++) {
        if (!contact_counts(filter, c)) continue;
        double tangential[3];
        const double normal = contact_split(list, c, tangential);
        const double size = vec_norm(list->dim, tangential);
        out->contacts++;
        out->mean_normal += normal;
        out->mean_tangential += size;
        out->largest_normal = fmax(out->largest_normal, normal);
        out->largest_tangential = fmax(out->largest_tangential, size);
    }
    if (out->contacts == 0) out->largest_normal = 0.0;
    const double count = out->contacts > 0 ? (double)out->contacts : 1.0;
    out->mean_normal /= count;
    out->mean_tangential /= count;
}

/// Largest tangential force that the law of a contact allows.
static double friction_bound(const talus_world* world, int64_t c, double normal)
{
    const talus_pair_def* pair = contact_pair_of(world, c);
    const contacts* list = &world->state.contacts;
    const bool slides = list->state[c] == TALUS_CONTACT_SLIDE;
    const double mu = slides ? pair_sliding_friction(pair) : pair->friction;
    return mu * (normal + (list->bonded[c] ? pair->cohesion_force : 0.0));
}

talus_status talus_measure_forces(const talus_world* world, const talus_measure_def* given,
                                  talus_forces* out, talus_error* error)
{
    talus_measure_def own = talus_measure_default();
    const talus_measure_def* def = &own;
    contact_filter filter;
    *out = (talus_forces){0};
    TRY(DEFINITION_TAKE(measure, &own, given, error));
    TRY(contact_filter_make(world, def, &filter, error));
    const double least = def->force_least, most = def->force_most;
    const struct {
        talus_histogram* of;
        double low, high;
        bool logarithmic;
    } histogram[] = {{&out->normal, 0.0, most, false},
                     {&out->normal_log, least, most, true},
                     {&out->tangential, 0.0, most, false},
                     {&out->tangential_log, least, most, true},
                     {&out->mobility, 0.0, 1.0, false}};
    for (int k = 0; k < 5; k++) {
        const talus_status status =
            histogram_make(def->bins, histogram[k].low, histogram[k].high, histogram[k].logarithmic,
                           histogram[k].of, error);
        if (status == TALUS_OK) continue;
        talus_forces_free(out);
        return status;
    }
    set_means(&filter, out);
    for (int64_t c = 0; c < filter.list->count; c++) {
        if (!contact_counts(&filter, c)) continue;
        double tangential[3];
        const double normal = contact_split(filter.list, c, tangential);
        const double size = vec_norm(filter.list->dim, tangential);
        histogram_count(&out->normal, normal / out->mean_normal);
        histogram_count(&out->normal_log, normal / out->mean_normal);
        if (out->mean_tangential > 0.0) {
            histogram_count(&out->tangential, size / out->mean_tangential);
            histogram_count(&out->tangential_log, size / out->mean_tangential);
        }
        const double bound = friction_bound(world, c, normal);
        if (!(bound > 0.0)) continue;
        // A sliding contact is at its bound up to what the solver leaves: that is no excess.
        const double slack = def->slack;
        const double used = size > bound && size < (1.0 + slack) * bound ? 1.0 : size / bound;
        out->rubbing++;
        out->mean_mobility += used;
        out->mobilised += used >= 1.0 - slack;
        out->sliding += filter.list->state[c] == TALUS_CONTACT_SLIDE;
        histogram_count(&out->mobility, used);
    }
    if (out->rubbing > 0) {
        out->mean_mobility /= (double)out->rubbing;
        out->mobilised /= (double)out->rubbing;
        out->sliding /= (double)out->rubbing;
    }
    for (int k = 0; k < 5; k++) histogram_finish(histogram[k].of);
    return TALUS_OK;
}
