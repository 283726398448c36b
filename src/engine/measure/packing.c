/// Packing fraction of a domain: the exact part of every grain that is in it, over its volume.
#include "base/definition.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "measure/domain.h"

/// A sum over grains on its way, shared by all threads.
typedef struct packing_task {
    const domain* domain;
    clip_space space;
    bool failed;
} packing_task;

/// The parts of all images of these grains that are in the space, to out[0]; out[1] counts those
/// with their centre in.
static void add_grains(void* data, int64_t first, int64_t last, double* out)
{
    packing_task* task = data;
    const domain* d = task->domain;
    const grains* g = d->grains;
    clip_memory memory = {0};
    talus_status status = TALUS_OK;
    for (int64_t i = first; i < last && status == TALUS_OK; i++) {
        const double* x = g->position + i * d->dim;
        const image_range range = domain_images(d, x, g->radius[i], d->low, d->high);
        int at[3];
        for (bool more = image_first(&range, at); more && status == TALUS_OK;
             more = image_next(&range, at)) {
            double shift[3], moved[3] = {0}, volume = 0.0;
            image_shift(d, at, shift);
            for (int k = 0; k < d->dim; k++) moved[k] = x[k] + shift[k];
            status = grain_clipped_volume(g, i, shift, &task->space, &memory, &volume);
            out[0] += volume;
            bool here = domain_holds(d, moved);
            for (int k = 0; k < d->dim; k++) here = here && (at[k] == 0 || !d->whole[k]);
            out[1] += here;
        }
    }
    if (status < 0) {
#pragma omp atomic write
        task->failed = true;
    }
    clip_memory_free(&memory);
}

talus_status talus_measure_packing(const talus_world* world, const talus_domain_def* given,
                                   talus_packing* out, talus_error* error)
{
    talus_domain_def own = talus_domain_default();
    const talus_domain_def* def = &own;
    domain d;
    double sums[2];
    *out = (talus_packing){0};
    if (given) TRY(DEFINITION_TAKE(domain, &own, given, error));
    TRY(domain_make(world, def, &d, error));
    packing_task task = {.domain = &d, .space = {&d, d.side, d.count, &d.space}};
    parallel_reduce(world->def.threads, world->state.grains.count, PARALLEL_SUM, 2, add_grains,
                    &task, sums);
    vec_copy(3, out->low, d.low);
    vec_copy(3, out->high, d.high);
    out->volume = d.volume;
    out->solid = sums[0];
    out->fraction = sums[0] / d.volume;
    out->grains = (int64_t)sums[1];
    domain_free(&d);
    return task.failed ? error_memory(error, "measuring the packing fraction") : TALUS_OK;
}
