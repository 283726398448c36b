/// Profiles: means over slices across an axis, or over shells about it.
///
/// With V_is the part of grain i in slice s, and V_s the volume of the slice:
///   fraction    sum V_is / V_s                   density  sum m_i V_is/V_i / V_s
///   velocity    sum m_i V_is/V_i v_i / mass      temperature  <|v - velocity|^2>/dim
///   contact     (1/V_s) sum f_i l_j times the share of l in the slice (Irving and Kirkwood)
///   kinetic     density (<v v> - velocity velocity)
#include "measure/profile.h"

#include "base/definition.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "measure/contact_filter.h"

#include <stdlib.h>

void talus_profile_default_sized(talus_profile_def* def, size_t size)
{
    talus_profile_def own = {.domain = talus_domain_default(), .axis = -1, .bins = 20};
    DEFINITION_GIVE(def, size, own);
}

void talus_profile_free(talus_profile* p)
{
    free(p->position);
    free(p->volume);
    free(p->fraction);
    free(p->density);
    free(p->velocity);
    free(p->spin);
    free(p->temperature);
    free(p->contact);
    free(p->kinetic);
    *p = (talus_profile){0};
}

// ---- sums --------------------------------------------------------------------------------------

void profile_add(const profile_task* t, int64_t row, double part, const double* v, const double* w,
                 profile_sum* sum)
{
    const grains* g = &t->world->state.grains;
    const int dim = t->dim, spin_dim = spin_width(dim);
    sum->volume += part;
    if (g->glued_to[row] != GRAIN_FREE) return;
    const double mass = g->mass[row] * part / grain_volume(g, row);
    sum->mass += mass;
    vec_add_scaled(dim, sum->momentum, mass, v);
    vec_add_scaled(spin_dim, sum->spin, mass, w);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) sum->square[3 * i + j] += mass * v[i] * v[j];
    }
}

enum { SUM_WIDTH = sizeof(profile_sum) / sizeof(double) };

/// Grains chunk by chunk, put together in order into sums [bins].
static talus_status add_grains(const profile_task* t, profile_grain_fn* add, profile_sum* sums)
{
    const int64_t count = t->world->state.grains.count;
    const int chunks = parallel_chunks(count), threads = t->world->def.threads;
    profile_sum* part = calloc((size_t)chunks * (size_t)t->bins + 1, sizeof *part);
    if (!part) return TALUS_ERR_MEMORY;
    talus_status status = TALUS_OK;
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(dynamic, 1)
    for (int c = 0; c < chunks; c++) {
        clip_memory memory = {0};
        talus_status of_chunk = TALUS_OK;
        const int64_t last = parallel_first(count, c + 1);
        for (int64_t i = parallel_first(count, c); i < last && of_chunk == TALUS_OK; i++) {
            of_chunk = add(t, i, &memory, part + (int64_t)c * t->bins);
        }
        clip_memory_free(&memory);
        if (of_chunk) {
#pragma omp atomic write
            status = of_chunk;
        }
    }
    for (int64_t i = 0; i < (int64_t)chunks * t->bins; i++) {
        vec_add_scaled(SUM_WIDTH, (double*)&sums[i % t->bins], 1.0, (const double*)&part[i]);
    }
    free(part);
    return status;
}

/// The image of a branch at a shift of whole cells, cut by the box; false if nothing is left.
static bool branch_at(const profile_task* t, const double start[3], const double branch[3],
                      const int at[3], profile_branch* out)
{
    const domain* d = t->domain;
    double shift[3];
    image_shift(d, at, shift);
    *out = (profile_branch){.from = 0.0, .to = 1.0};
    for (int k = 0; k < d->dim; k++) {
        out->start[k] = start[k] + shift[k];
        out->branch[k] = branch[k];
        const double rise = branch[k];
        const double low = t->box_low[k] - out->start[k], high = t->box_high[k] - out->start[k];
        if (rise == 0.0) {
            if (low > 0.0 || high < 0.0) return false;
            continue;
        }
        out->from = fmax(out->from, (rise > 0.0 ? low : high) / rise);
        out->to = fmin(out->to, (rise > 0.0 ? high : low) / rise);
    }
    return out->to > out->from;
}

/// All images of a contact's branch that pass the box.
static void add_contact(const profile_task* t, int64_t c, profile_branch_fn* add, double* stress)
{
    const contacts* list = &t->world->state.contacts;
    double start[3] = {0}, branch[3] = {0}, middle[3] = {0};
    contact_branch(t->world, list, c, branch);
    contact_branch_start(t->world, list, c, start);
    for (int k = 0; k < t->dim; k++) middle[k] = start[k] + 0.5 * branch[k];
    const image_range range =
        domain_images(t->domain, middle, 0.5 * vec_norm(3, branch), t->box_low, t->box_high);
    int at[3];
    if (!image_first(&range, at)) return;
    do {
        profile_branch p;
        if (branch_at(t, start, branch, at, &p)) add(t, &p, list->force + c * t->dim, stress);
    } while (image_next(&range, at));
}

// ---- results -----------------------------------------------------------------------------------

static talus_status reserve(talus_profile* p)
{
    const size_t n = (size_t)p->bins;
    p->position = calloc(n, sizeof(double));
    p->volume = calloc(n, sizeof(double));
    p->fraction = calloc(n, sizeof(double));
    p->density = calloc(n, sizeof(double));
    p->velocity = calloc(n * (size_t)p->dim, sizeof(double));
    p->spin = calloc(n * (size_t)p->spin_dim, sizeof(double));
    p->temperature = calloc(n, sizeof(double));
    p->contact = calloc(n * 9, sizeof(double));
    p->kinetic = calloc(n * 9, sizeof(double));
    return p->position && p->volume && p->fraction && p->density && p->velocity && p->spin &&
                   p->temperature && p->contact && p->kinetic
               ? TALUS_OK
               : TALUS_ERR_MEMORY;
}

static void conclude_slice(const profile_sum* s, int b, talus_profile* p)
{
    const int dim = p->dim;
    const double volume = p->volume[b];
    double* kinetic = p->kinetic + 9 * b;
    if (!(volume > 0.0)) return;
    p->fraction[b] = s->volume / volume;
    p->density[b] = s->mass / volume;
    for (int k = 0; k < 9; k++) p->contact[9 * b + k] /= volume;
    if (!(s->mass > 0.0)) return;
    for (int k = 0; k < dim; k++) p->velocity[b * dim + k] = s->momentum[k] / s->mass;
    for (int k = 0; k < p->spin_dim; k++) p->spin[b * p->spin_dim + k] = s->spin[k] / s->mass;
    const double* v = p->velocity + b * dim;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            kinetic[3 * i + j] = (s->square[3 * i + j] - s->mass * v[i] * v[j]) / volume;
        }
        // Equal velocities leave roundoff of either sign.
        p->temperature[b] += fmax(kinetic[4 * i], 0.0) / p->density[b] / dim;
    }
}

// ---- options -----------------------------------------------------------------------------------

static talus_status check(const talus_world* world, const talus_profile_def* def, int axis,
                          talus_error* error)
{
    const int dim = world->state.grains.dim;
    if (def->bins < 1 || def->bins > MEASURE_MOST_BINS || def->axis < -1 ||
        (def->axis >= dim && !(def->radial && dim == 2))) {
        return error_set(
            error, TALUS_ERR_ARGUMENT,
            "profile: %d bins along axis %d, expected 1 to %d and an axis from 0 to %d", def->bins,
            def->axis, MEASURE_MOST_BINS, dim - 1);
    }
    if (!(def->low <= def->high) || !isfinite(def->low) || !isfinite(def->high)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "profile: from %g to %g is no range", def->low,
                         def->high);
    }
    for (int k = 0; k < dim && def->radial; k++) {
        if (!world->state.cell.periodic[k] || (dim == 3 && k == axis)) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "profile: shells cannot cross the periodic axis %c", axis_letter(k));
    }
    if (def->radial && def->low < 0.0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "profile: a radius of %g is negative",
                         def->low);
    }
    return TALUS_OK;
}

static void set_range(profile_task* t, const talus_profile_def* def)
{
    const domain* d = t->domain;
    for (int k = 0; k < 3; k++) {
        t->box_low[k] = d->low[k], t->box_high[k] = d->high[k];
        t->origin[k] = def->has_origin ? def->origin[k] : 0.5 * (d->low[k] + d->high[k]);
    }
    double low = def->low, high = def->high;
    if (low == high) {
        low = def->radial ? 0.0 : d->low[t->axis];
        high = def->radial ? INFINITY : d->high[t->axis];
        // The largest radius of shells: of the cylinder, or of what fits into the box.
        for (int k = 0; k < t->dim && def->radial; k++) {
            if (t->dim == 2 || k != t->axis) high = fmin(high, 0.5 * (d->high[k] - d->low[k]));
        }
        if (def->radial && d->cylinder_count > 0) high = d->cylinder[0].radius;
    }
    t->low = low;
    t->width = (high - low) / t->bins;
    if (def->radial) return;
    t->box_low[t->axis] = fmax(low, d->low[t->axis]);
    t->box_high[t->axis] = fmin(high, d->high[t->axis]);
}

talus_status talus_measure_profile(const talus_world* world, const talus_profile_def* given,
                                   talus_profile* out, talus_error* error)
{
    talus_profile_def own = talus_profile_default();
    const talus_profile_def* def = &own;
    const int dim = world->state.grains.dim;
    domain d;
    *out = (talus_profile){0};
    if (given) TRY(DEFINITION_TAKE(profile, &own, given, error));
    TRY(DEFINITION_CHECK(domain, &own.domain, error));
    const int axis = def->radial && dim == 2 ? 2 : def->axis < 0 ? dim - 1 : def->axis;
    TRY(check(world, def, axis, error));
    TRY(domain_make(world, &def->domain, &d, error));
    profile_task t = {.world = world, .domain = &d, .dim = dim, .axis = axis, .bins = def->bins};
    set_range(&t, def);
    *out = (talus_profile){.bins = def->bins, .dim = dim, .spin_dim = spin_width(dim)};
    profile_sum* sums = calloc((size_t)t.bins, sizeof *sums);
    talus_status status = sums ? reserve(out) : TALUS_ERR_MEMORY;
    if (status == TALUS_OK && def->radial) profile_shells_make(&t, out->volume);
    if (status == TALUS_OK && !def->radial) status = profile_slices_make(&t, out->volume);
    if (status == TALUS_OK) {
        status = add_grains(&t, def->radial ? profile_shell_grain : profile_slice_grain, sums);
    }
    if (status == TALUS_OK) {
        const contacts* list = &world->state.contacts;
        profile_branch_fn* add_branch = def->radial ? profile_shell_branch : profile_slice_branch;
        for (int64_t c = 0; c < list->count; c++) {
            if (list->state[c] != TALUS_CONTACT_OPEN) add_contact(&t, c, add_branch, out->contact);
        }
        for (int b = 0; b < t.bins; b++) {
            out->position[b] = t.low + (b + 0.5) * t.width;
            conclude_slice(&sums[b], b, out);
        }
    } else {
        status = error_memory(error, "measuring a profile");
        talus_profile_free(out);
    }
    free(sums);
    for (int b = 0; b < t.bins && t.space; b++) convex_cell_free(&t.space[b]);
    free(t.space);
    free(t.side);
    domain_free(&d);
    return status;
}
