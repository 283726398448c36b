/// The radial distribution function g(r) of the grains' centres.
///
///   g(r) = (pairs at r to r + dr) / (density * volume of the centres' shells from r to r + dr)
/// A shell counts with its whole volume, or with the part of it that is in the domain. The density
/// is that of the filled part of the domain, and shells that reach beyond a free surface are left
/// out: there g would tell the shape of the heap.
#include "base/definition.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "detect/bins.h"
#include "measure/ball_parts.h"
#include "measure/filled.h"
#include "measure/region.h"

#include <stdlib.h>

void talus_rdf_default_sized(talus_rdf_def* def, size_t size)
{
    talus_rdf_def own = {.domain = talus_domain_default(), .bins = 100};
    DEFINITION_GIVE(def, size, own);
}

void talus_rdf_free(talus_rdf* rdf)
{
    free(rdf->r);
    free(rdf->g);
    free(rdf->pairs);
    free(rdf->coordination);
    *rdf = (talus_rdf){0};
}

typedef struct rdf_task {
    const talus_rdf_def* def;
    const domain* domain;
    double range;
    int64_t count; ///< grains in the domain
    int32_t* item; ///< [count]
    bins bins;
    ball_parts parts;
    filled_part filled;
    bool strict;  ///< centres have no grain at a free surface in their range
    double* sums; ///< [chunks][2 bins + 1] pairs, shells, and centres
} rdf_task;

/// Memory of one thread.
typedef struct rdf_memory {
    near_list near;
    double* part; ///< [bins]
} rdf_memory;

static double ball_volume_of(int dim, double r)
{
    return ball_below(dim, r, r);
}

/// Is a free surface within the range?
static bool is_open(const rdf_task* t, const near_list* near)
{
    for (int64_t i = 0; i < near->count; i++) {
        if (t->filled.open[near->point[i].item]) return true;
    }
    return false;
}

static talus_status add_centre(const rdf_task* t, int32_t row, rdf_memory* memory, double* sums)
{
    near_list* near = &memory->near;
    const domain* d = t->domain;
    const double* x = d->grains->position + (int64_t)row * d->dim;
    const int n = t->def->bins;
    if (t->def->edge == TALUS_RDF_INNER && domain_depth(d, x) < t->range) return TALUS_OK;
    near->count = 0;
    TRY(bins_near(&t->bins, x, t->range, near));
    if (t->strict && is_open(t, near)) return TALUS_OK;
    for (int64_t i = 0; i < near->count; i++) {
        const near_point* p = &near->point[i];
        const int b = (int)(p->distance / t->range * n);
        if (p->item == row && p->distance == 0.0) continue;
        if (b < n) sums[b] += 1.0;
    }
    sums[2 * n] += 1.0;
    if (t->def->edge != TALUS_RDF_SHELL) return TALUS_OK;
    ball_parts_at(&t->parts, x, memory->part);
    double inner = 0.0;
    for (int b = 0; b < n; b++) {
        sums[n + b] += memory->part[b] - inner;
        inner = memory->part[b];
    }
    return TALUS_OK;
}

static talus_status add_centres(rdf_task* t, int threads)
{
    const int chunks = parallel_chunks(t->count), width = 2 * t->def->bins + 1;
    talus_status status = TALUS_OK;
    t->sums = calloc((size_t)chunks * (size_t)width + 1, sizeof *t->sums);
    if (!t->sums) return TALUS_ERR_MEMORY;
#pragma omp parallel for num_threads(parallel_threads(threads, t->count)) schedule(dynamic, 1)
    for (int c = 0; c < chunks; c++) {
        rdf_memory memory = {.part = malloc(sizeof(double) * (size_t)t->def->bins)};
        talus_status of_chunk = memory.part ? TALUS_OK : TALUS_ERR_MEMORY;
        const int64_t last = parallel_first(t->count, c + 1);
        for (int64_t i = parallel_first(t->count, c); i < last && of_chunk == TALUS_OK; i++) {
            of_chunk = add_centre(t, t->item[i], &memory, t->sums + c * (int64_t)width);
        }
        near_list_free(&memory.near);
        free(memory.part);
        if (of_chunk) {
#pragma omp atomic write
            status = TALUS_ERR_MEMORY;
        }
    }
    for (int c = 1; c < chunks; c++) {
        vec_add_scaled(width, t->sums, 1.0, t->sums + (int64_t)c * width);
    }
    return status;
}

// ---- preparing and concluding ------------------------------------------------------------------

static void conclude(const rdf_task* t, talus_rdf* out)
{
    const int n = out->bins, dim = t->domain->dim;
    double found = 0.0;
    out->grains = t->count;
    out->centres = (int64_t)t->sums[2 * n];
    int64_t inside = 0;
    for (int64_t i = 0; i < t->count; i++) inside += !t->filled.open[t->item[i]];
    out->density = (double)inside / t->filled.volume;
    for (int b = 0; b < n; b++) {
        const double whole =
            ball_volume_of(dim, out->width * (b + 1)) - ball_volume_of(dim, out->width * b);
        const double shells =
            t->def->edge == TALUS_RDF_SHELL ? t->sums[n + b] : whole * (double)out->centres;
        found += t->sums[b];
        out->r[b] = out->width * (b + 0.5);
        out->pairs[b] = (int64_t)t->sums[b];
        out->g[b] = shells > 0.0 ? t->sums[b] / (out->density * shells) : 0.0;
        out->coordination[b] = out->centres > 0 ? found / (double)out->centres : 0.0;
    }
}

/// Count the pairs up to a range; centres may turn out to be none.
static talus_status count_pairs(rdf_task* t, double range, bool strict, int threads)
{
    t->range = range;
    t->strict = strict;
    free(t->sums);
    t->sums = NULL;
    ball_parts_free(&t->parts);
    TRY(ball_parts_make(t->domain, range, t->def->bins, &t->parts));
    return add_centres(t, threads);
}

static talus_status measure(rdf_task* t, double range, int threads, talus_rdf* out,
                            talus_error* error)
{
    TRY(domain_check_whole(t->domain, "g(r)", error));
    TRY(filled_part_find(t->domain, threads, &t->filled, error));
    const domain* d = t->domain;
    const grains* g = d->grains;
    const size_t n = (size_t)t->def->bins;
    out->bins = t->def->bins;
    out->r = calloc(n, sizeof *out->r);
    out->g = calloc(n, sizeof *out->g);
    out->pairs = calloc(n, sizeof *out->pairs);
    out->coordination = calloc(n, sizeof *out->coordination);
    t->item = malloc(sizeof *t->item * ((size_t)g->count + 1));
    if (!out->r || !out->g || !out->pairs || !out->coordination || !t->item) {
        return error_memory(error, "measuring g(r)");
    }
    for (int64_t i = 0; i < g->count; i++) {
        if (domain_holds(d, g->position + i * d->dim)) t->item[t->count++] = (int32_t)i;
    }
    talus_status status =
        bins_make(d->dim, g->position, d->dim, t->item, t->count, &d->cell, &t->bins);
    // In a shallow bed the free surface is near everywhere: then a range that was not asked for is
    // halved, twice at most, and if that is not enough shells may reach beyond the surface.
    const int tries = t->def->range > 0.0 ? 1 : 3;
    bool centres = false;
    for (int i = 0; i < tries && status == TALUS_OK && !centres; i++) {
        status = count_pairs(t, ldexp(range, -i), true, threads);
        centres = status == TALUS_OK && t->sums[2 * n] > 0.0;
    }
    if (status == TALUS_OK && !centres) status = count_pairs(t, range, false, threads);
    if (status < 0) return error_memory(error, "measuring g(r)");
    out->width = t->range / t->def->bins;
    conclude(t, out);
    if (out->centres > 0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "g(r): no grain is farther than the range of %g from the boundary; use a "
                     "smaller range, or correct for parts of shells (edge: shell)",
                     t->range);
}

/// Five diameters, but, where only inner grains are centres, so that the middle half of a domain
/// has them.
static double usual_range(const domain* d, talus_rdf_edge edge, int threads)
{
    double range = 5.0 * grains_mean_diameter(d->grains, threads);
    for (int k = 0; k < d->dim && edge == TALUS_RDF_INNER; k++) {
        if (!d->whole[k]) range = fmin(range, 0.25 * (d->high[k] - d->low[k]));
    }
    return range;
}

talus_status talus_measure_rdf(const talus_world* world, const talus_rdf_def* given, talus_rdf* out,
                               talus_error* error)
{
    talus_rdf_def own = talus_rdf_default();
    const talus_rdf_def* def = &own;
    domain d;
    *out = (talus_rdf){0};
    if (given) TRY(DEFINITION_TAKE(rdf, &own, given, error));
    TRY(DEFINITION_CHECK(domain, &own.domain, error));
    if (def->bins < 1 || def->bins > MEASURE_MOST_BINS || !(def->range >= 0.0) ||
        !isfinite(def->range)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "g(r): %d bins up to a range of %g, expected 1 to %d and a length",
                         def->bins, def->range, MEASURE_MOST_BINS);
    }
    TRY(domain_make(world, &def->domain, &d, error));
    rdf_task t = {.def = def, .domain = &d};
    const int threads = world->def.threads;
    const double range = def->range > 0.0 ? def->range : usual_range(&d, def->edge, threads);
    talus_status status = measure(&t, range, threads, out, error);
    if (status < 0) talus_rdf_free(out);
    free(t.item);
    free(t.sums);
    bins_free(&t.bins);
    ball_parts_free(&t.parts);
    filled_part_free(&t.filled);
    domain_free(&d);
    return status;
}
