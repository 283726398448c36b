/// Coarse-grained fields on a grid (Goldhirsch 2010; with boundaries Weinhart et al. 2012):
///   density   rho(x) = sum m_i phi(x - x_i)           momentum  sum m_i v_i phi(x - x_i)
///   kinetic   sum m_i v_i' v_i' phi(x - x_i), v' about the velocity at x
///   contact   sum f l integral of phi(x - x_a - s l) over s from 0 to 1, f on b, l from a to b
///   boundary  sum f phi(x - c) over contacts c with boundaries, f on the free grain
/// so that rho Dv/Dt = -div(contact + kinetic) + rho g + boundary holds at every point.
#include "measure/field.h"

#include "base/definition.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

/// More points than this are a mistake.
static const double MOST_POINTS = 1e8;

void talus_field_default_sized(talus_field_def* def, size_t size)
{
    talus_field_def own = {.domain = talus_domain_default(), .stress = true};
    DEFINITION_GIVE(def, size, own);
}

void talus_field_free(talus_field* f)
{
    free(f->fraction);
    free(f->density);
    free(f->momentum);
    free(f->velocity);
    free(f->kinetic);
    free(f->contact);
    free(f->boundary);
    *f = (talus_field){0};
}

/// Lay the grid over the domain's box. A kernel over very many images of a periodic cell would only
/// cost time.
static talus_status lay_grid(const domain* d, const talus_field_def* def, double width,
                             talus_field* out, talus_error* error)
{
    static const double WIDEST = 100.0;
    const double spacing = d->dim == 2 ? 0.5 * width : width;
    double points = 1.0;
    for (int k = 0; k < d->dim; k++) {
        if (!d->cell.periodic[k] || width <= WIDEST * d->cell.length[k]) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "coarse graining: a width of %g is more than %g times the periodic cell's "
                         "length %g along %c",
                         width, WIDEST, d->cell.length[k], axis_letter(k));
    }
    *out = (talus_field){.dim = d->dim, .cells = {1, 1, 1}, .width = width};
    for (int k = 0; k < d->dim; k++) {
        const double length = d->high[k] - d->low[k];
        const double cells =
            def->cells[k] > 0 ? def->cells[k] : fmax(1.0, ceil(length / spacing - 1e-9));
        points *= cells;
        if (!(points <= MOST_POINTS)) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "fields: a width of %g asks for %.3g points and more; use a larger "
                             "width, or fewer cells",
                             width, points);
        }
        out->cells[k] = (int)cells;
        out->low[k] = d->low[k];
        out->spacing[k] = length / cells;
    }
    out->count = (int64_t)points;
    return TALUS_OK;
}

static talus_status reserve(talus_field* f, bool stress)
{
    const size_t n = (size_t)f->count, dim = (size_t)f->dim;
    f->fraction = calloc(n, sizeof(double));
    f->density = calloc(n, sizeof(double));
    f->momentum = calloc(n * dim, sizeof(double));
    f->velocity = calloc(n * dim, sizeof(double));
    if (stress) {
        f->kinetic = calloc(n * 9, sizeof(double));
        f->contact = calloc(n * 9, sizeof(double));
        f->boundary = calloc(n * dim, sizeof(double));
        if (!f->kinetic || !f->contact || !f->boundary) return TALUS_ERR_MEMORY;
    }
    return f->fraction && f->density && f->momentum && f->velocity ? TALUS_OK : TALUS_ERR_MEMORY;
}

talus_status talus_measure_field(const talus_world* world, const talus_field_def* given,
                                 talus_field* out, talus_error* error)
{
    talus_field_def own = talus_field_default();
    const talus_field_def* def = &own;
    domain d;
    *out = (talus_field){0};
    if (given) TRY(DEFINITION_TAKE(field, &own, given, error));
    TRY(DEFINITION_CHECK(domain, &own.domain, error));
    if (def->kernel >= TALUS_KERNEL_COUNT) {
        return error_set(error, TALUS_ERR_ARGUMENT, "fields: there is no kernel %d",
                         (int)def->kernel);
    }
    if (!(def->width >= 0.0) || !isfinite(def->width)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "fields: the width %g is not a length",
                         def->width);
    }
    for (int k = 0; k < 3; k++) {
        if (def->cells[k] >= 0) continue;
        return error_set(error, TALUS_ERR_ARGUMENT, "fields: %d cells along an axis",
                         def->cells[k]);
    }
    TRY(domain_make(world, &def->domain, &d, error));
    double width = def->width;
    if (width == 0.0) {
        width = grains_mean_diameter(&world->state.grains, world->def.threads);
        if (def->kernel != TALUS_KERNEL_GAUSS) width *= 2.0;
    }
    talus_status status = lay_grid(&d, def, width, out, error);
    if (status == TALUS_OK) {
        field_task t = {.world = world,
                        .domain = &d,
                        .kernel = kernel_make(def->kernel, d.dim, width),
                        .out = out};
        if (reserve(out, def->stress) || field_sources_find(&t, def->stress)) {
            status = error_memory(error, "coarse graining");
        } else {
            const int layers = out->cells[out->dim - 1];
            const int64_t work = t.grains.count + t.contacts.count;
            const int threads = parallel_threads(world->def.threads, work);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
            for (int layer = 0; layer < layers; layer++) field_layer(&t, layer);
        }
        field_sources_free(&t);
    }
    if (status < 0) talus_field_free(out);
    domain_free(&d);
    return status;
}
