/// Simple sources of grains: explicit list and chain, and the list they fill.
#include "scene/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"

talus_status grain_list_add(grain_list* list, const talus_grain_def* grain, talus_error* error)
{
    if (!arrays_grow(&list->capacity, list->count + 1, ARRAY(list->rows))) {
        return error_memory(error, "list of grains");
    }
    list->rows[list->count++] = *grain;
    return TALUS_OK;
}

void grain_list_free(grain_list* list)
{
    free(list->rows);
    memset(list, 0, sizeof *list);
}

talus_status generate_list(const talus_grain_def* rows, int64_t count, grain_list* grains,
                           generate_report* report, talus_error* error)
{
    *report = (generate_report){.requested = count};
    for (int64_t i = 0; i < count; i++) {
        TRY(grain_list_add(grains, &rows[i], error));
        report->placed++;
    }
    return TALUS_OK;
}

static talus_status check_chain(const chain_def* def, int dim, talus_error* error)
{
    double length = vec_norm(dim, def->direction);
    if (!isfinite(length) || length <= 0.0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "chain: direction must not be zero");
    }
    if (def->count < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT, "chain: count must be 1 or more, not %lld",
                         (long long)def->count);
    }
    if (!isfinite(def->radius) || def->radius <= 0.0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "chain: radius must be a number > 0, not %g",
                         def->radius);
    }
    if (!(def->gap >= 0.0 && isfinite(def->gap) && isfinite(def->first_gap))) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "chain: gap must be a number >= 0 and first_gap a number, not %g and %g",
                         def->gap, def->first_gap);
    }
    return TALUS_OK;
}

talus_status generate_chain(const chain_def* def, const generate_context* context,
                            const talus_grain_def* base, grain_list* grains,
                            generate_report* report, talus_error* error)
{
    *report = (generate_report){.requested = def->count};
    TRY(check_chain(def, context->dim, error));
    double direction[3] = {0};
    vec_add_scaled(context->dim, direction, 1.0 / vec_norm(context->dim, def->direction),
                   def->direction);
    talus_grain_def grain = *base;
    grain.radius = def->radius;
    for (int64_t i = 0; i < def->count; i++) {
        // From i, not from the grain before, so that rounding does not pile up along the chain.
        double along = def->first_gap + def->radius + (double)i * (2.0 * def->radius + def->gap);
        for (int k = 0; k < 3; k++) {
            grain.position[k] = k < context->dim ? def->start[k] + along * direction[k] : 0.0;
        }
        TRY(grain_list_add(grains, &grain, error));
        report->placed++;
    }
    return TALUS_OK;
}
