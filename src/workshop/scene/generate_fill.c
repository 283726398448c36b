/// Random non-overlapping filling of a region, by count or by solid fraction.
///
/// Random sequential addition, largest grains first: a grain tries random spots until one is free
/// of walls, earlier grains and the ones placed so far. After SATURATED grains in a row have used
/// up their tries, grains of nearly that size are not tried any more. What found no spot is then
/// put down anyway, where it is least crowded, and pushed apart (generate_relax.c), which takes out
/// again what is too much. A few of these may only have had bad luck, as among grains of earlier
/// sources, which nothing pushes away: they are tried at other spots. What is over then, or when
/// the sweeps are used up, is reported as not placed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "scene/generate.h"
#include "scene/generate_region.h"
#include "scene/generate_relax.h"

enum { SATURATED = 10 };
/// A grain this much smaller than the ones that found no spot is tried again.
static const double SMALLER = 0.9;
/// Solid fractions from which on most grains have to be pushed, and how large those are, in units
/// of the median, that are added sequentially all the same.
static const double DENSE_2D = 0.6, DENSE_3D = 0.45, LARGE = 1.5;
/// As many grains that found no room are tried once more, and how often.
enum { FEW = 10, OTHER_SPOTS = 20 };
/// Random spots of which the least crowded is taken by a grain that must overlap others. With one
/// only, 10^5 disks at 0.80 need three times the sweeps; with 20 little less than with 5.
enum { SPOTS = 5 };
/// Parts of the region for each of these, at most. Without flat regions there are no more than 4.
enum { MOST_PARTS = 8 };
static const int64_t MOST_GRAINS = (int64_t)1 << 28;

fill_def fill_default(void)
{
    return (fill_def){
        .sizes = sizes_default(), .volume_share = 1.0, .shrink = 1.0, .tries = 200, .sweeps = 500};
}

static talus_status check_fill(const fill_def* def, int dim, talus_error* error)
{
    TRY(region_check(&def->region, dim, error));
    if ((def->count > 0) == (def->solid_fraction > 0.0) || def->count < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "fill: give either count or solid_fraction, as a number > 0");
    }
    if (!(def->solid_fraction < 1.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "fill: solid_fraction must be below 1, not %g",
                         def->solid_fraction);
    }
    if (!(isfinite(def->gap) && def->gap >= 0.0) || def->tries < 1 || def->sweeps < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "fill: gap and sweeps must be 0 or more and tries 1 or more");
    }
    return TALUS_OK;
}

// ---- the grains to place -----------------------------------------------------------------------

typedef struct radii_list {
    double* r;
    int64_t count, capacity;
} radii_list;

static talus_status too_many(talus_error* error)
{
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "fill: more than %lld grains would be needed; are the sizes right?",
                     (long long)MOST_GRAINS);
}

static talus_status radii_add(radii_list* list, double radius, talus_error* error)
{
    if (list->count == MOST_GRAINS) return too_many(error);
    if (!arrays_grow(&list->capacity, list->count + 1, ARRAY(list->r))) {
        return error_memory(error, "random filling");
    }
    list->r[list->count++] = radius;
    return TALUS_OK;
}

/// After so many draws sizes are known well enough to tell that no list can hold all that are
/// needed.
enum { DRAWS_TO_TELL = 4096 };

/// Would the sizes drawn so far, by far, not do with the most grains that there may be?
static bool never_ends(const radii_list* list, double filled, double target)
{
    static const double BY_FAR = 100.0;
    return list->count == DRAWS_TO_TELL &&
           !(BY_FAR * filled * (double)(MOST_GRAINS / DRAWS_TO_TELL) > target);
}

/// Draw sizes until the count is there, or until the solid volume is as near as it gets.
static talus_status draw_sizes(const fill_def* def, int dim, rng* r, radii_list* list,
                               talus_error* error)
{
    sizes* s = NULL;
    TRY(sizes_create(&def->sizes, dim, &s, error));
    double target = def->solid_fraction * region_volume(&def->region, dim), filled = 0.0;
    talus_status status = TALUS_OK;
    while (status == TALUS_OK) {
        if (def->count > 0 && list->count == def->count) break;
        double radius = def->shrink * sizes_draw(s, r);
        double volume = def->volume_share * generate_ball_volume(dim, radius);
        if (def->count == 0 && filled + 0.5 * volume > target && list->count > 0) break;
        status = radii_add(list, radius, error);
        filled += volume;
        if (def->count == 0 && status == TALUS_OK && never_ends(list, filled, target)) {
            status = too_many(error);
        }
    }
    sizes_destroy(s);
    return status;
}

talus_status fill_fraction(const fill_def* def, int dim, double* out, talus_error* error)
{
    enum { DRAWS = 1000 };
    *out = def->solid_fraction;
    if (def->count == 0) return TALUS_OK;
    sizes* s = NULL;
    TRY(sizes_create(&def->sizes, dim, &s, error));
    rng r = rng_make(1, 0, 0);
    double volume = 0.0;
    for (int i = 0; i < DRAWS; i++) volume += generate_ball_volume(dim, sizes_draw(s, &r));
    sizes_destroy(s);
    *out =
        def->volume_share * volume / DRAWS * (double)def->count / region_volume(&def->region, dim);
    return TALUS_OK;
}

static int by_size(const void* pa, const void* pb)
{
    double a = *(const double*)pa, b = *(const double*)pb;
    return a > b ? -1 : a < b;
}

// ---- random sequential addition ----------------------------------------------------------------

/// Add a movable ball at `x`; p->centre has room for all.
static talus_status put_ball(packing* p, const double x[3], double radius, talus_error* error)
{
    vec_copy(3, p->centre + 3 * (p->grid.count - p->fixed), x);
    return ball_grid_add(&p->grid, x, radius, error);
}

/// Look for a free spot; with `among` false only walls count.
static bool find_spot(packing* p, double radius, bool among, double x[3])
{
    const generate_context* c = p->context;
    for (int64_t i = 0; i < p->def->tries; i++) {
        if (!region_draw(&p->def->region, &c->cell, c->dim, radius, &p->r, x)) return false;
        // Neighbours first: cheaper than walls, and mostly the reason.
        if (among && !ball_grid_clear(&p->grid, x, radius, p->def->gap)) continue;
        if (generate_allowed(c, x, radius)) return true;
    }
    return false;
}

/// Place what fits; what does not goes to `left`, still from large to small, and so do all balls
/// below the radius `least`.
static talus_status add_sequentially(packing* p, const radii_list* wanted, double least,
                                     radii_list* left, talus_error* error)
{
    int64_t failures = 0;
    double failed = INFINITY; // radius at which it saturated
    for (int64_t i = 0; i < wanted->count; i++) {
        double radius = wanted->r[i], x[3];
        if (radius < least) failures = SATURATED, failed = 0.0; // as if it were full
        if (failures >= SATURATED && radius < SMALLER * failed) failures = 0;
        if (failures < SATURATED && find_spot(p, radius, true, x)) {
            failures = 0;
            TRY(put_ball(p, x, radius, error));
            continue;
        }
        if (failures < SATURATED) failed = radius;
        failures++;
        TRY(radii_add(left, radius, error));
    }
    return TALUS_OK;
}

/// The least radius of balls that are worth adding one by one. In a filling so dense that most have
/// to move anyway only the large ones are: these would be slow to pass through small ones.
static double least_added(const packing* p, const radii_list* wanted)
{
    const int dim = p->context->dim;
    double volume = 0.0;
    for (int64_t i = 0; i < wanted->count; i++) volume += generate_ball_volume(dim, wanted->r[i]);
    const double dense = dim == 2 ? DENSE_2D : DENSE_3D;
    const bool moves = p->def->sweeps > 0 && volume > dense * region_volume(&p->def->region, dim);
    return moves ? LARGE * p->typical_radius : 0.0;
}

// ---- squeezing in the rest ---------------------------------------------------------------------

/// A movable ball apart from the grid.
typedef struct spot {
    double centre[3];
    double radius;
    int64_t slab[3]; ///< coarse position, for sorting
} spot;

/// Copy the balls that are in the grid to `spots`; returns how many.
static int64_t save_spots(const packing* p, spot* spots)
{
    int64_t count = 0;
    for (int64_t i = p->fixed; i < p->grid.count; i++) {
        if (p->grid.balls[i].level < 0) continue;
        spot* s = &spots[count++];
        vec_copy(3, s->centre, p->centre + 3 * (i - p->fixed));
        s->radius = p->grid.balls[i].radius;
    }
    return count;
}

/// Make `spots` the movable balls.
static talus_status load_spots(packing* p, const spot* spots, int64_t count, talus_error* error)
{
    ball_grid_truncate(&p->grid, p->fixed);
    for (int64_t i = 0; i < count; i++) {
        TRY(put_ball(p, spots[i].centre, spots[i].radius, error));
    }
    return TALUS_OK;
}

static int by_place(const void* pa, const void* pb)
{
    const spot *a = pa, *b = pb;
    for (int k = 2; k >= 0; k--) {
        if (a->slab[k] != b->slab[k]) return a->slab[k] < b->slab[k] ? -1 : 1;
    }
    for (int k = 0; k < 3; k++) {
        if (a->centre[k] != b->centre[k]) return a->centre[k] < b->centre[k] ? -1 : 1;
    }
    return a->radius < b->radius ? -1 : a->radius > b->radius;
}

/// Make `spots` the movable balls, numbered by place: neighbours are then near in memory too, which
/// makes sweeps over 10^6 balls several times faster.
static talus_status load_by_place(packing* p, spot* spots, int64_t count, talus_error* error)
{
    const double width = 4.0 * p->typical_radius;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) spots[i].slab[k] = (int64_t)floor(spots[i].centre[k] / width);
    }
    qsort(spots, (size_t)count, sizeof *spots, by_place);
    return load_spots(p, spots, count, error);
}

/// Volume of the movable balls that are in the grid.
static double placed_volume(const packing* p)
{
    double volume = 0.0;
    for (int64_t i = p->fixed; i < p->grid.count; i++) {
        const grid_ball* b = &p->grid.balls[i];
        if (b->level >= 0) volume += generate_ball_volume(p->context->dim, b->radius);
    }
    return volume;
}

/// Parts of the unit square or cube, one for each ball, in random order: balls in one part each are
/// spread evenly over the region, however many there are, and at random within some diameters.
typedef struct strata {
    int64_t along[3];
    int32_t* order;
} strata;

static bool make_strata(packing* p, int64_t count, strata* s)
{
    const region_def* region = &p->def->region;
    const int dim = p->context->dim;
    double size[3] = {1.0, 1.0, 1.0}, all = 1.0;
    for (int k = 0; k < dim && region->kind == REGION_BOX; k++) {
        size[k] = region->high[k] - region->low[k];
        all *= size[k];
    }
    double edge = portable_pow(all / (double)count, 1.0 / dim), parts;
    for (;; edge *= 1.25) { // in a flat region, most of whose edges are longer than it is high
        parts = 1.0;
        for (int k = 0; k < 3; k++) {
            s->along[k] = k < dim ? (int64_t)fmin(ceil(size[k] / edge), (double)count) : 1;
            parts *= (double)s->along[k];
        }
        if (parts <= MOST_PARTS * (double)count) break;
    }
    s->order = malloc((size_t)parts * sizeof *s->order);
    if (!s->order) return false;
    for (int64_t i = 0; i < (int64_t)parts; i++) {
        const int64_t j = (int64_t)rng_below(&p->r, (uint64_t)(i + 1));
        if (j < i) s->order[i] = s->order[j];
        s->order[j] = (int32_t)i;
    }
    return true;
}

/// A random spot in the part of the region that is number `i` in order; false if the walls forbid
/// it, or if there is no room for the ball at all.
static bool find_spot_in_part(packing* p, const strata* s, int64_t i, double radius, double x[3])
{
    const generate_context* c = p->context;
    double share[3] = {0};
    int64_t part = s->order[i];
    for (int k = 0; k < c->dim; k++) {
        share[k] = ((double)(part % s->along[k]) + rng_uniform(&p->r)) / (double)s->along[k];
        part /= s->along[k];
    }
    return region_spot(&p->def->region, &c->cell, c->dim, radius, share, x) &&
           generate_allowed(c, x, radius);
}

/// How much balls near a spot lack, as a sum of squares up to `most`.
typedef struct crowding {
    double reach, sum, most;
} crowding;

static bool add_crowding(void* user, int64_t ball, const double delta[3], double distance)
{
    (void)ball, (void)delta;
    crowding* c = user;
    const double lack = fmax(c->reach - distance, 0.0);
    c->sum += lack * lack;
    return c->sum < c->most;
}

/// The spot for a ball that is put down regardless of overlaps: in its part of the region if that
/// is clear, else the least crowded of some random ones. Density is then nearly even from the
/// beginning, which pushing apart would take long to make. Returns false if even the empty region
/// has no spot for it.
static bool find_least_crowded(packing* p, const strata* s, int64_t number, double radius,
                               double x[3])
{
    double least = INFINITY;
    for (int i = 0; i < SPOTS && least > 0.0; i++) {
        double at[3] = {0};
        if (!(i == 0 && find_spot_in_part(p, s, number, radius, at)) &&
            !find_spot(p, radius, false, at))
            return i > 0;
        crowding c = {.reach = 2.0 * radius, .most = least};
        ball_grid_visit(&p->grid, at, radius, p->def->gap, add_crowding, &c);
        if (c.sum >= least) continue;
        least = c.sum;
        vec_copy(3, x, at);
    }
    return true;
}

/// Put down what is left, after the `count` balls that stand, but no more than fills the region
/// completely: of more than that a random part stays left. Those without any spot are counted in
/// *homeless and forgotten.
static talus_status put_down(packing* p, radii_list* left, spot* spots, int64_t* count,
                             int64_t* homeless, talus_error* error)
{
    const int dim = p->context->dim;
    const double room = region_volume(&p->def->region, dim) - placed_volume(p);
    double volume = 0.0;
    for (int64_t i = 0; i < left->count; i++) volume += generate_ball_volume(dim, left->r[i]);
    strata s;
    if (!make_strata(p, left->count, &s)) return error_memory(error, "random filling");
    int64_t kept = 0;
    for (int64_t i = 0; i < left->count; i++) {
        const double radius = left->r[i];
        spot* at = &spots[*count];
        if (volume > room && volume * rng_uniform(&p->r) > room)
            left->r[kept++] = radius;
        else if (!find_least_crowded(p, &s, i, radius, at->centre))
            ++*homeless;
        else
            at->radius = radius, ++*count;
    }
    left->count = kept;
    free(s.order);
    return TALUS_OK;
}

/// Put down what is left and push apart. What has to be taken out is left again.
static talus_status squeeze(packing* p, radii_list* left, spot* spots, int* sweeps,
                            int64_t* homeless, talus_error* error)
{
    int64_t count = save_spots(p, spots);
    TRY(put_down(p, left, spots, &count, homeless, error));
    TRY(load_by_place(p, spots, count, error));
    if (packing_relax(p, sweeps) < 0) return error_memory(error, "random filling");
    for (int64_t i = p->fixed; i < p->grid.count; i++) {
        // Out of the grid: it has its radius all the same.
        if (p->grid.balls[i].level < 0) TRY(radii_add(left, p->grid.balls[i].radius, error));
    }
    return load_spots(p, spots, save_spots(p, spots), error);
}

/// Squeeze in what sequential addition left over. A few that found no room may only have had bad
/// luck: they are tried at other spots, as long as sweeps are left.
static talus_status squeeze_in(packing* p, radii_list* left, int64_t wanted, int64_t* homeless,
                               talus_error* error)
{
    if (left->count == 0) return TALUS_OK;
    spot* spots = malloc((size_t)wanted * sizeof *spots); // workspace, and what stood before
    spot* before = malloc((size_t)wanted * sizeof *before);
    double* radii = malloc((size_t)left->count * sizeof *radii);
    talus_status status =
        spots && before && radii ? TALUS_OK : error_memory(error, "random filling");
    int sweeps = p->def->sweeps;
    for (int i = 0; i <= OTHER_SPOTS && status >= 0; i++) {
        const int64_t missing = left->count;
        if (missing == 0 || sweeps <= 0 || (i > 0 && missing > FEW)) break;
        const int64_t standing = save_spots(p, before);
        const double volume = placed_volume(p);
        memcpy(radii, left->r, (size_t)missing * sizeof *radii);
        status = squeeze(p, left, spots, &sweeps, homeless, error);
        if (status < 0 || placed_volume(p) >= volume) continue;
        memcpy(left->r, radii, (size_t)missing * sizeof *radii); // it was better before
        left->count = missing;
        status = load_spots(p, before, standing, error);
    }
    free(spots);
    free(before);
    free(radii);
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------

static talus_status fill_run(packing* p, radii_list* wanted, radii_list* left,
                             const talus_grain_def* base, grain_list* grains,
                             generate_report* report, talus_error* error)
{
    TRY(draw_sizes(p->def, p->context->dim, &p->r, wanted, error));
    report->requested = wanted->count;
    qsort(wanted->r, (size_t)wanted->count, sizeof *wanted->r, by_size);
    p->typical_radius = wanted->r[wanted->count / 2];
    p->centre = malloc((size_t)wanted->count * 3 * sizeof *p->centre);
    if (!p->centre) return error_memory(error, "random filling");
    const int dim = p->context->dim;
    TRY(ball_grid_init(&p->grid, dim, &p->context->cell, wanted->r[0], error));
    for (int64_t i = 0; i < grains->count; i++) { // those of earlier sources
        const talus_grain_def* g = &grains->rows[i];
        TRY(ball_grid_add(&p->grid, g->position, g->radius, error));
    }
    p->fixed = p->grid.count;
    TRY(add_sequentially(p, wanted, least_added(p, wanted), left, error));
    int64_t homeless = 0;
    TRY(squeeze_in(p, left, wanted->count, &homeless, error));
    double filled = 0.0;
    talus_grain_def grain = *base;
    for (int64_t i = p->fixed; i < p->grid.count; i++) {
        const grid_ball* b = &p->grid.balls[i];
        if (b->level < 0) continue;
        grain.radius = b->radius;
        vec_copy(3, grain.position, b->centre);
        TRY(grain_list_add(grains, &grain, error));
        report->placed++;
        filled += p->def->volume_share * generate_ball_volume(dim, b->radius);
    }
    report->solid_fraction = filled / region_volume(&p->def->region, dim);
    const int64_t missing = report->requested - report->placed;
    if (missing == 0) return TALUS_OK;
    const size_t room = sizeof report->reason;
    int used = snprintf(report->reason, room, "a solid fraction of %.3g is reached",
                        report->solid_fraction);
    if (homeless > 0) {
        used += snprintf(report->reason + used, room - (size_t)used,
                         "; %lld too large for the region and its walls", (long long)homeless);
    }
    if (missing > homeless) {
        snprintf(report->reason + used, room - (size_t)used,
                 "; %lld without a free spot after %lld tries each and %d sweeps of pushing apart",
                 (long long)(missing - homeless), (long long)p->def->tries, p->def->sweeps);
    }
    return TALUS_OK;
}

talus_status generate_fill(const fill_def* def, const generate_context* context,
                           const talus_grain_def* base, grain_list* grains, generate_report* report,
                           talus_error* error)
{
    *report = (generate_report){0};
    TRY(check_fill(def, context->dim, error));
    radii_list wanted = {0}, left = {0};
    packing p = {.def = def, .context = context, .r = rng_make(context->seed, context->source, 0)};
    talus_status status = fill_run(&p, &wanted, &left, base, grains, report, error);
    ball_grid_free(&p.grid);
    free(p.centre);
    free(wanted.r);
    free(left.r);
    return status;
}
