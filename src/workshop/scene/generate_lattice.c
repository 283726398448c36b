/// Lattices: square, cubic, triangular, fcc, hcp, bcc; perfect or jittered.
///
/// With a the distance of nearest sites, site (i, j, k) stands at
///   square/cubic        a (i, j, k)
///   triangular/fcc/hcp  x = a (i + ((j + L) mod 2)/2), y = a sqrt(3)/2 (j + L/3),
///                       z = a sqrt(2/3) k,
///                       with L = k mod 3 (fcc, ABC) or k mod 2 (hcp, AB)
///   bcc                 b = 2a/sqrt(3): x = b (i + o), y = b (j + o), z = b k/2, o = (k mod 2)/2
/// A jittered grain moves by at most half the free gap a - 2 r_max, so no two can meet. In a box
/// that spans the periodic cell the steps are stretched until a whole number of periods fits.
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"
#include "scene/generate.h"
#include "scene/generate_grid.h"
#include "scene/generate_region.h"

/// A box that holds a whole number of steps must not lose its last row to rounding.
static const double FIT_SLACK = 1e-10;

typedef struct lattice {
    lattice_kind kind;
    double nearest;   ///< a
    double largest;   ///< radius
    double below[3];  ///< how far a grain reaches down from its position
    double above[3];  ///< and up
    double amplitude; ///< of the jitter
    double step[3];
    double origin[3]; ///< of site (0, 0, 0)
    int64_t sites[3]; ///< index ranges to look at
    double last[3];   ///< largest coordinate of a site; infinite: no bound
} lattice;

lattice_def lattice_default(void)
{
    return (lattice_def){.factor = 1.0, .sizes = sizes_default()};
}

static talus_status check_lattice(const lattice_def* def, int dim, talus_error* error)
{
    bool flat_only = def->kind == LATTICE_TRIANGULAR;
    bool deep_only = def->kind != LATTICE_SQUARE && !flat_only;
    if ((flat_only && dim == 3) || (deep_only && dim == 2)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "lattice: this kind needs a %s scene",
                         flat_only ? "2D" : "3D");
    }
    if (!(def->jitter >= 0.0 && def->jitter <= 1.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "lattice: jitter must be between 0 and 1, not %g", def->jitter);
    }
    if (def->spacing == 0.0 && !(isfinite(def->factor) && def->factor >= 1.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "lattice: spacing factor must be 1 or more, not %g", def->factor);
    }
    for (int k = 0; def->by_count && k < dim; k++) {
        if (def->counts[k] >= 1) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "lattice: count along %c must be 1 or more, not %lld", axis_letter(k),
                         (long long)def->counts[k]);
    }
    return TALUS_OK;
}

/// Steps after which the lattice repeats along an axis.
static int64_t period_of(lattice_kind kind, int k)
{
    if (kind == LATTICE_SQUARE || k == 0) return 1;
    if (kind == LATTICE_BCC) return k == 2 ? 2 : 1;
    if (k == 1) return 2;
    return kind == LATTICE_FCC ? 3 : 2;
}

/// Index range and bounds of a box along one axis.
static talus_status fit_axis(lattice* l, const lattice_def* def, bool endless, int k,
                             talus_error* error)
{
    double extent = def->high[k] - def->low[k];
    double steps = endless ? extent : extent - l->below[k] - l->above[k];
    steps = floor(steps / l->step[k] + FIT_SLACK);
    if (steps > 1e9) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "lattice: %g sites along %c are too many; is the spacing right?", steps,
                         axis_letter(k));
    }
    if (!endless) {
        l->sites[k] = (int64_t)steps + 1; // none when not even one grain fits
        l->last[k] = def->high[k] - l->above[k] + FIT_SLACK * l->nearest;
        return TALUS_OK;
    }
    int64_t period = period_of(l->kind, k);
    l->sites[k] = (int64_t)steps / period * period;
    if (l->sites[k] == 0) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "lattice: the periodic cell is too short along %c (%g) for this kind, "
                         "which repeats after %g",
                         axis_letter(k), extent, (double)period * l->step[k]);
    }
    l->step[k] = extent / (double)l->sites[k];
    l->origin[k] = def->low[k] + 0.5 * l->step[k];
    return TALUS_OK;
}

/// Origin and index ranges, now that the steps are known.
static talus_status lattice_fit(lattice* l, const lattice_def* def, const generate_context* context,
                                talus_error* error)
{
    region_def box = {.kind = REGION_BOX};
    for (int k = 0; k < 3; k++) {
        l->origin[k] = def->low[k] + l->below[k];
        l->sites[k] = def->by_count && k < context->dim ? def->counts[k] : 1;
        l->last[k] = INFINITY;
        box.low[k] = def->low[k], box.high[k] = def->high[k];
    }
    if (def->by_count) return TALUS_OK;
    TRY(region_check(&box, context->dim, error));
    for (int k = 0; k < context->dim; k++) {
        bool endless = region_endless(&box, &context->cell, context->dim, k);
        TRY(fit_axis(l, def, endless, k, error));
    }
    return TALUS_OK;
}

static talus_status lattice_setup(lattice* l, const lattice_def* def,
                                  const generate_context* context, talus_error* error)
{
    double diameter = 2.0 * l->largest;
    l->kind = def->kind;
    for (int k = 0; k < 3; k++) {
        l->below[k] = def->by_axis ? def->below[k] : l->largest;
        l->above[k] = def->by_axis ? def->above[k] : l->largest;
    }
    if (def->by_axis) {
        vec_copy(3, l->step, def->steps);
        l->nearest = vec_norm(context->dim, def->steps);
        return lattice_fit(l, def, context, error);
    }
    l->nearest = def->spacing != 0.0 ? def->spacing : def->factor * diameter;
    if (!(isfinite(l->nearest) && l->nearest >= diameter * (1.0 - 1e-12))) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "lattice: spacing %g is below the largest diameter %g: grains would "
                         "overlap",
                         l->nearest, diameter);
    }
    l->amplitude = fmax(0.0, 0.5 * def->jitter * (l->nearest - diameter));
    const double a = l->nearest, b = 2.0 * a / sqrt(3.0);
    const bool hexagonal =
        l->kind == LATTICE_TRIANGULAR || l->kind == LATTICE_FCC || l->kind == LATTICE_HCP;
    for (int k = 0; k < 3; k++) l->step[k] = l->kind == LATTICE_BCC ? b : a;
    if (hexagonal) l->step[1] = 0.5 * sqrt(3.0) * a, l->step[2] = sqrt(2.0 / 3.0) * a;
    if (l->kind == LATTICE_BCC) l->step[2] = 0.5 * b;
    return lattice_fit(l, def, context, error);
}

/// Position of a site; false when it is beyond the box.
static bool site_position(const lattice* l, int dim, const int64_t at[3], double out[3])
{
    double shift[3] = {0};
    if (l->kind == LATTICE_BCC) {
        shift[0] = shift[1] = 0.5 * (double)(at[2] % 2);
    } else if (l->kind != LATTICE_SQUARE) {
        int64_t layer = l->kind == LATTICE_FCC ? at[2] % 3 : at[2] % 2;
        shift[0] = 0.5 * (double)((at[1] + layer) % 2);
        shift[1] = (double)layer / 3.0;
    }
    for (int k = 0; k < 3; k++) {
        out[k] = k < dim ? l->origin[k] + ((double)at[k] + shift[k]) * l->step[k] : 0.0;
        if (k < dim && out[k] > l->last[k]) return false;
    }
    return true;
}

/// Random step of the jitter, uniform in a ball, then back into the box. A box is convex and has
/// the site in it, so pulling in never lengthens the step.
static void jitter_site(const lattice* l, const lattice_def* def, int dim, double radius, rng* r,
                        double x[3])
{
    double step[3] = {0};
    do {
        for (int k = 0; k < dim; k++) step[k] = 2.0 * rng_uniform(r) - 1.0;
    } while (vec_dot(3, step, step) > 1.0);
    vec_add_scaled(dim, x, l->amplitude, step);
    for (int k = 0; k < dim; k++) {
        if (isinf(l->last[k])) continue;
        x[k] = fmin(fmax(x[k], def->low[k] + radius), def->high[k] - radius);
    }
}

typedef struct lattice_run {
    const lattice_def* def;
    const generate_context* context;
    lattice l;
    const sizes* sizes;
    ball_grid earlier; ///< grains that were there before
    rng r;
    grain_list* grains;
    generate_report* report;
} lattice_run;

static bool spot_free(const lattice_run* run, const double x[3], double radius)
{
    return generate_allowed(run->context, x, radius) &&
           ball_grid_clear(&run->earlier, x, radius, 0.0);
}

static talus_status place_site(lattice_run* run, const int64_t at[3], const talus_grain_def* base,
                               talus_error* error)
{
    double site[3], x[3];
    int dim = run->context->dim;
    if (!site_position(&run->l, dim, at, site)) return TALUS_OK;
    run->report->requested++;
    talus_grain_def grain = *base;
    grain.radius = sizes_draw(run->sizes, &run->r);
    vec_copy(3, x, site);
    if (!run->def->by_axis) jitter_site(&run->l, run->def, dim, grain.radius, &run->r, x);
    if (!run->def->by_axis && !spot_free(run, x, grain.radius)) {
        if (!spot_free(run, site, grain.radius)) return TALUS_OK;
        vec_copy(3, x, site);
    }
    vec_copy(3, grain.position, x);
    TRY(grain_list_add(run->grains, &grain, error));
    run->report->placed++;
    return TALUS_OK;
}

static talus_status place_all(lattice_run* run, const talus_grain_def* base, talus_error* error)
{
    for (int64_t i = 0; i < run->grains->count; i++) {
        const talus_grain_def* g = &run->grains->rows[i];
        TRY(ball_grid_add(&run->earlier, g->position, g->radius, error));
    }
    const int64_t* n = run->l.sites;
    int64_t at[3];
    for (at[2] = 0; at[2] < n[2]; at[2]++) {
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            for (at[0] = 0; at[0] < n[0]; at[0]++) TRY(place_site(run, at, base, error));
        }
    }
    return TALUS_OK;
}

talus_status generate_lattice(const lattice_def* def, const generate_context* context,
                              const talus_grain_def* base, grain_list* grains,
                              generate_report* report, talus_error* error)
{
    *report = (generate_report){0};
    TRY(check_lattice(def, context->dim, error));
    sizes* s = NULL;
    TRY(sizes_create(&def->sizes, context->dim, &s, error));
    lattice_run run = {.def = def,
                       .context = context,
                       .sizes = s,
                       .grains = grains,
                       .report = report,
                       .r = rng_make(context->seed, context->source, 0),
                       .l.largest = sizes_largest(s)};
    talus_status status = lattice_setup(&run.l, def, context, error);
    if (status == TALUS_OK) {
        status = ball_grid_init(&run.earlier, context->dim, &context->cell, run.l.largest, error);
        if (status == TALUS_OK) status = place_all(&run, base, error);
        ball_grid_free(&run.earlier);
    }
    sizes_destroy(s);
    if (status < 0) return status;
    if (report->requested == 0) {
        snprintf(report->reason, sizeof report->reason,
                 "the box is too small for a single grain of the largest size");
    } else if (report->placed < report->requested) {
        snprintf(report->reason, sizeof report->reason,
                 "%lld of %lld sites stay empty: a grain there would overlap a wall or an earlier "
                 "grain",
                 (long long)(report->requested - report->placed), (long long)report->requested);
    }
    return TALUS_OK;
}
