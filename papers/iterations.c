/// How many sweeps a rigid packing needs, and what a step costs (UK section 5.1, UBWK section V).
///
/// Random sweeps carry the news of a force through a packing like diffusion: N_I sweeps reach
/// l = d sqrt(4 q N_I) far. For rigid grains l must exceed the size L, so N_I ~ (L/d)^2; a sweep
/// visits every contact once, so a step of n grains costs ~ n (L/d)^2: n^3, n^2 and n^(5/3) contact
/// updates in one, two and three dimensions.
///
/// The problem solved here: a column of disks (1D) and packings of disks and spheres between floor
/// and lid, periodic sides, at rest. The lid presses with a force that needs an answer from the
/// floor; impulses begin at zero (cold start). The exact answer is that nothing moves. So the
/// velocities that are left are the error, relative to that of the lid without contacts:
///     error^2 = sum of m v^2 + I w^2 over grains and lid / M (h F/M)^2.
/// N_I is the number of sweeps that brings it to 10 %. The lid is as heavy as all grains together:
/// then half of the lid's momentum would go to the grains whatever the size, and the error of all
/// sizes is on one scale. (A lid of constant mass would give its energy away: a packing of n grains
/// that follows it has only the part M/(M + n m) of it, and larger ones would seem to need less.)
///
/// In the column the error is a sum of waves, each of which decays like exp(-q N_I (k d)^2), and
/// the lowest one under a lid of mass M has k L tan(k L) = n m/M = 1. That predicts N_I, not only
/// its exponent.
///
/// The natural-map residual, the usual measure, is local: the error of a wave of length L has the
/// weight (d/L)^2 in it. Sweeps for a given residual therefore hardly depend on L: small residuals
/// do not make rigid packings. Both are shown. So is the library's own solver, which sweeps with
/// momentum and stops when its estimate of the same velocity error says 10 %.
#include "chain.h"
#include "fit.h"
#include "packing.h"
#include "paper.h"
#include "plot.h"
#include <math.h>
#include <stdio.h>

enum {
    DIMS = 3,
    MOST_SIZES = 6,
    MOST_PACKINGS = 8,
    MOST_SOLVED = DIMS * MOST_SIZES * MOST_PACKINGS
};

static const double velocity_tolerance = 0.1;
static const double residual_tolerance = 1e-3;

/// Sizes of one dimension, each with this many packings.
typedef struct setting {
    int sizes;
    int64_t grains[MOST_SIZES];
    int packings[MOST_SIZES];
} setting;

static setting choose(int dim, bool brief)
{
    static const setting full[DIMS] = {
        {6, {8, 16, 32, 64, 128, 256}, {8, 8, 4, 4, 2, 1}},
        {5, {100, 300, 1000, 3000, 10000}, {8, 6, 4, 2, 1}},
        {4, {125, 500, 2000, 8000}, {8, 6, 4, 1}},
    };
    static const setting quick[DIMS] = {
        {4, {8, 16, 32, 64}, {4, 4, 4, 2}},
        {3, {70, 160, 400}, {4, 3, 1}},
        {3, {80, 180, 400}, {4, 3, 2}},
    };
    return brief ? quick[dim - 1] : full[dim - 1];
}

/// What is known of a solved packing. Sweeps may be fractions: they are read off between two looks.
typedef enum quantity {
    GRAINS,
    CONTACTS,
    SIZE,            ///< L/d: height in mean diameters
    SWEEPS,          ///< of the reference solver, for the velocity error
    RESIDUAL_SWEEPS, ///< likewise, for the residual
    UPDATES,         ///< of contacts: sweeps times contacts
    SECONDS,         ///< of the processor
    FAST_SWEEPS,     ///< of the library's solver
    FAST_UPDATES,
    FAST_SECONDS,
    FAST_ERROR, ///< velocity error that it left
    QUANTITIES
} quantity;

static const char* const names[QUANTITIES] = {
    "n",       "contacts", "L/d",          "N_I",          "N_I_residual", "updates",
    "seconds", "N_I_fast", "updates_fast", "seconds_fast", "error_fast"};

typedef struct solved {
    double dim;
    double value[QUANTITIES];
} solved;

typedef struct results {
    setting set[DIMS];
    solved all[MOST_SOLVED];
    int count;
} results;

// ---- one packing -------------------------------------------------------------------------------

/// A packing at rest in 1 (a column), 2 or 3 dimensions, and the step to solve.
typedef struct problem {
    packing_def def;
    talus_world* world;
    double h; ///< so short that what is left of the velocities does not change the packing
} problem;

static talus_status make_problem(paper* p, int dim, int64_t grains, uint64_t seed, problem* out)
{
    *out = (problem){.def = packing_default()};
    packing_def* def = &out->def;
    def->grains = grains;
    def->seed = seed;
    def->threads = p->threads;
    def->periodic = true;
    def->rest = 1e-11;
    if (dim == 1) {
        def->radius_low = def->radius_high = 1;
        def->width = 2;
        def->periodic = false;
    } else {
        def->dim = dim;
    }
    out->h = 0.1 * packing_step(def);
    TRY(dim == 1 ? packing_column(p, def, &out->world) : packing_make(p, def, &out->world));
    def->lid_mass = (double)grains; // from the next packing_stop() on
    return TALUS_OK;
}

static talus_status lid_state(paper* p, const problem* o, talus_wall_state* lid)
{
    return talus_world_wall(o->world, talus_world_find_wall(o->world, "lid"), lid, &p->error);
}

/// Relative velocity error after a step from rest.
static talus_status velocity_error(paper* p, const problem* o, double* error)
{
    talus_wall_state lid;
    TRY(lid_state(p, o, &lid));
    const int up = o->def.dim - 1;
    const double mass = o->def.lid_mass * packing_mean_mass(&o->def);
    const double free_speed = o->h * lid.applied[up] / mass;
    double energy = mass * lid.velocity[up] * lid.velocity[up];
    talus_grains g = talus_world_grains(o->world);
    for (int64_t i = 0; i < g.count * g.dim; i++) {
        energy += g.mass[i / g.dim] * g.velocity[i] * g.velocity[i];
    }
    for (int64_t i = 0; i < g.count * g.spin_dim; i++) {
        energy += g.inertia[i / g.spin_dim] * g.spin[i] * g.spin[i];
    }
    *error = sqrt(energy / (mass * free_speed * free_speed));
    return TALUS_OK;
}

/// What one look at the iteration sees.
typedef struct look {
    double sweeps, error, residual;
} look;

/// Make `sweeps` more sweeps on the same problem: a step from rest that begins with the impulses of
/// the one before, or with none.
static talus_status sweep_on(paper* p, problem* o, int sweeps, bool warm, look* seen)
{
    talus_solver_def solver = chain_sweeps(sweeps, TALUS_ORDER_RANDOM);
    solver.warm_start = warm;
    talus_step_result result;
    TRY(talus_world_set_solver(o->world, &solver, &p->error));
    TRY(packing_stop(p, &o->def, o->world));
    TRY(talus_world_step(o->world, o->h, &result, &p->error));
    seen->sweeps += sweeps;
    seen->residual = result.residual;
    return velocity_error(p, o, &seen->error);
}

/// Sweeps at which a falling measure passes a tolerance between two looks, on logarithmic scales.
static double passing(double sweeps_before, double sweeps, double before, double now,
                      double tolerance)
{
    double part = log(before / tolerance) / log(before / now);
    return sweeps_before * pow(sweeps / sweeps_before, part);
}

/// Sweep at random from zero until the velocity error is small; look every tenth of the way.
static talus_status solve_reference(paper* p, problem* o, solved* out)
{
    enum { FIRST = 4, MOST = 10000000 };
    look seen = {0};
    double start = paper_seconds();
    TRY(sweep_on(p, o, FIRST, false, &seen));
    while (seen.error > velocity_tolerance || seen.residual > residual_tolerance) {
        look last = seen;
        TRY(sweep_on(p, o, 1 + (int)(seen.sweeps / 10), true, &seen));
        if (last.error > velocity_tolerance && seen.error <= velocity_tolerance) {
            out->value[SWEEPS] =
                passing(last.sweeps, seen.sweeps, last.error, seen.error, velocity_tolerance);
            out->value[SECONDS] = paper_seconds() - start;
        }
        if (last.residual > residual_tolerance && seen.residual <= residual_tolerance) {
            out->value[RESIDUAL_SWEEPS] =
                passing(last.sweeps, seen.sweeps, last.residual, seen.residual, residual_tolerance);
        }
        if (seen.sweeps > MOST) return paper_fail(p, "a packing needs too many sweeps");
    }
    return TALUS_OK;
}

/// The same with the library's own choice of a solver, from zero impulses too.
static talus_status solve_fast(paper* p, problem* o, solved* out)
{
    talus_solver_def solver = paper_solver_default();
    solver.warm_start = false;
    solver.tolerance = velocity_tolerance;
    solver.max_sweeps = 1000000;
    talus_step_result result;
    TRY(talus_world_set_solver(o->world, &solver, &p->error));
    TRY(packing_stop(p, &o->def, o->world));
    double start = paper_seconds();
    TRY(talus_world_step(o->world, o->h, &result, &p->error));
    out->value[FAST_SECONDS] = paper_seconds() - start;
    out->value[CONTACTS] = (double)result.contacts;
    out->value[FAST_UPDATES] = (double)result.updates;
    out->value[FAST_SWEEPS] = (double)result.updates / (double)result.contacts;
    out->value[UPDATES] = out->value[SWEEPS] * out->value[CONTACTS];
    return velocity_error(p, o, &out->value[FAST_ERROR]);
}

static talus_status solve_one(paper* p, int dim, int64_t grains, uint64_t seed, solved* out)
{
    problem o;
    *out = (solved){.dim = dim, .value = {[GRAINS] = (double)grains}};
    TRY(make_problem(p, dim, grains, seed, &o));
    talus_wall_state lid;
    TRY(lid_state(p, &o, &lid));
    out->value[SIZE] = lid.position[o.def.dim - 1] / (o.def.radius_low + o.def.radius_high);
    TRY(solve_reference(p, &o, out));
    TRY(solve_fast(p, &o, out));
    paper_end_world(p, o.world);
    return TALUS_OK;
}

static talus_status solve_all(paper* p, results* res)
{
    int total = 0;
    for (int d = 0; d < DIMS; d++) {
        res->set[d] = choose(d + 1, p->brief);
        total += res->set[d].sizes;
    }
    for (int d = 0, done = 0; d < DIMS; d++) {
        const setting* set = &res->set[d];
        for (int s = 0; s < set->sizes; s++) {
            for (int k = 0; k < set->packings[s]; k++) {
                TRY(solve_one(p, d + 1, set->grains[s], p->seed + 1000 * (uint64_t)k,
                              &res->all[res->count++]));
            }
            paper_progress(p, (double)++done / total);
        }
    }
    return TALUS_OK;
}

// ---- the table ---------------------------------------------------------------------------------

/// Points of one dimension.
typedef struct points {
    int64_t count;
    double x[MOST_SIZES * MOST_PACKINGS], y[MOST_SIZES * MOST_PACKINGS];
} points;

static points collect(const results* res, int dim, quantity x, quantity y)
{
    points out = {0};
    for (int i = 0; i < res->count; i++) {
        if ((int)res->all[i].dim != dim) continue;
        out.x[out.count] = res->all[i].value[x];
        out.y[out.count++] = res->all[i].value[y];
    }
    return out;
}

static fit_line_result exponent(const results* res, int dim, quantity x, quantity y)
{
    points all = collect(res, dim, x, y);
    return fit_power(all.count, all.x, all.y);
}

/// By how much an exponent 2 is off if L is uncertain by half a diameter, since floor and lid touch
/// grains at their surfaces and pass the force on at their centres.
static double uncertainty_of_ends(const results* res, int dim)
{
    points all = collect(res, dim, SIZE, SWEEPS);
    double low = INFINITY, high = 0;
    for (int64_t i = 0; i < all.count; i++) {
        low = fmin(low, all.x[i]);
        high = fmax(high, all.x[i]);
    }
    return 2 * (log1p(0.5 / low) - log1p(0.5 / high)) / log(high / low);
}

/// N_I/(L/d)^2 of the column: the lowest wave, k L tan(k L) = 1, begins with that part A of the
/// velocity error which the kick of the lid has in it, and loses exp(-q (k d)^2) a sweep. With a
/// lid as heavy as the column A^2 = sin^2(kL)/(sin^2(kL) + 1/2 - sin(2 kL)/(4 kL)).
static double column_coefficient(void)
{
    double kl = 0.86; // Newton's search finds the root of kl tan(kl) = 1 in a few rounds
    for (int i = 0; i < 20; i++) {
        double tangent = tan(kl);
        kl -= (kl * tangent - 1) / (tangent + kl * (1 + tangent * tangent));
    }
    double lid = sin(kl) * sin(kl);
    double part = sqrt(lid / (lid + 0.5 - sin(2 * kl) / (4 * kl)));
    return log(part / velocity_tolerance) / (chain_q_random() * kl * kl);
}

static void state_column(paper* p, const results* res)
{
    points all = collect(res, 1, SIZE, SWEEPS);
    double ratios[MOST_PACKINGS], longest = all.x[all.count - 1];
    int count = 0;
    for (int64_t i = 0; i < all.count; i++) {
        if (all.x[i] == longest) ratios[count++] = all.y[i] / (longest * longest);
    }
    double expected = column_coefficient();
    paper_within(
        p, "1D: N_I/(L/d)^2, longest column", fit_mean(count, ratios).mean, expected,
        expected / longest,
        "the lowest wave under a lid as heavy as the column loses exp(-q (kd)^2) a sweep; L "
        "is uncertain by half a diameter");
}

static void state_dimension(paper* p, const results* res, int dim)
{
    static const double cost[DIMS] = {3, 2, 5.0 / 3};
    static const char* const cost_name[DIMS] = {"n^3", "n^2", "n^(5/3)"};
    char text[96];
    fit_line_result sweeps = exponent(res, dim, SIZE, SWEEPS);
    fit_line_result updates = exponent(res, dim, GRAINS, UPDATES);
    fit_line_result fast = exponent(res, dim, SIZE, FAST_SWEEPS);
    fit_line_result fast_updates = exponent(res, dim, GRAINS, FAST_UPDATES);
    double ends = uncertainty_of_ends(res, dim);
    snprintf(text, sizeof text, "%dD: exponent of N_I against L/d", dim);
    if (dim == 1 || !p->brief) { // small packings have too few sizes L: their cost is judged
        paper_within(
            p, text, sweeps.slope, 2, 3 * sweeps.slope_error + ends,
            "UBWK section V; three standard errors of the fit, and half a diameter at the ends");
    }
    snprintf(text, sizeof text, "%dD: exponent of the cost (%s)", dim, cost_name[dim - 1]);
    paper_within(p, text, updates.slope, cost[dim - 1], 3 * updates.slope_error + 2 * ends / dim,
                 "UBWK section V; contact updates; three standard errors, half a diameter at the "
                 "ends for N_I and the same for the contacts there");
    snprintf(text, sizeof text, "%dD: fast solver, exponent of N_I against L/d", dim);
    paper_between(p, text, fast.slope, -INFINITY, 1 + 3 * fast.slope_error + ends,
                  "sweeps with momentum: at most like L/d; the same uncertainties");
    paper_note(p,
               "%dD: N_I ~ (L/d)^(%.3f +- %.3f), cost ~ n^(%.3f +- %.3f); fast solver N_I ~ "
               "(L/d)^(%.2f +- %.2f), cost ~ n^(%.2f +- %.2f).",
               dim, sweeps.slope, sweeps.slope_error, updates.slope, updates.slope_error,
               fast.slope, fast.slope_error, fast_updates.slope, fast_updates.slope_error);
}

static void state_rest(paper* p, const results* res)
{
    static const char* const why =
        "the natural map is local and sees an error on the scale L with the weight (d/L)^2: a "
        "given residual leaves larger packings softer";
    char text[96];
    double worst = 0;
    for (int dim = 1; dim <= DIMS; dim++) {
        snprintf(text, sizeof text, "%dD: exponent of sweeps for a residual of %g", dim,
                 residual_tolerance);
        paper_differs(p, text, exponent(res, dim, SIZE, RESIDUAL_SWEEPS).slope, 2, why);
    }
    for (int i = 0; i < res->count; i++) worst = fmax(worst, res->all[i].value[FAST_ERROR]);
    paper_between(
        p, "fast solver: largest velocity error", worst, 0, 1.5 * velocity_tolerance,
        "asked for 10 % of an estimate; the worst of seeds 1 to 6 are 0.9 to 1.3 times it");
    paper_note(p, "The papers give no setting for this. Chosen: radii in [r, 2r], friction 0.05, "
                  "periodic sides, cold start, velocity error of 10 %% for a lid as heavy as all "
                  "grains together. Other tolerances and lids change the factor before (L/d)^2.");
    const solved* last = &res->all[res->count - 1];
    paper_note(p,
               "Processor time of the largest packing of spheres (n = %.0f): %.3g s by random "
               "sweeps, %.3g s by the fast solver.",
               last->value[GRAINS], last->value[SECONDS], last->value[FAST_SECONDS]);
}

// ---- files -------------------------------------------------------------------------------------

/// Points of all dimensions with a power through each, but for residuals and times, which are no
/// powers: a step of a few grains takes as long as it takes to begin one.
static talus_status draw_points(paper* p, talus_figure* figure, int panel, const results* res,
                                quantity x, quantity y)
{
    const bool power = y != RESIDUAL_SWEEPS && y != SECONDS && y != FAST_SECONDS;
    const bool fast = y == FAST_SWEEPS || y == FAST_UPDATES || y == FAST_SECONDS;
    for (int dim = 1; dim <= DIMS; dim++) {
        points all = collect(res, dim, x, y);
        fit_line_result fit = fit_power(all.count, all.x, all.y);
        char label[64];
        int length = snprintf(label, sizeof label, "%dD%s", dim, fast ? " fast" : "");
        if (power) {
            snprintf(label + length, sizeof label - (size_t)length, ": %.2f", fit.slope);
        }
        plot_style style = {.colour = fast ? dim + 3 : dim,
                            .style = TALUS_CURVE_DOTS,
                            .dash = fast ? TALUS_DASH_DASHED : TALUS_DASH_SOLID};
        TRY(plot_curve(p, figure, panel, style, label, all.count, all.x, all.y));
        if (!power) continue;
        TRY(plot_power(p, figure, panel, style, NULL, fit, all.x[0], all.x[all.count - 1]));
    }
    return TALUS_OK;
}

/// Logarithmic axes with the legend beside them: six sets of points leave no room.
static talus_status draw_axes(paper* p, talus_figure* figure, int panel, const char* title,
                              const char* x_label, const char* y_label)
{
    talus_axes_def axes = plot_axes_def(title, x_label, y_label, "xy");
    axes.legend = TALUS_LEGEND_OUTSIDE;
    return talus_figure_axes(figure, panel, &axes, &p->error);
}

static talus_status draw(paper* p, const results* res)
{
    talus_figure* figure;
    TRY(plot_figure(p, 2, 2, &figure));
    TRY(draw_axes(p, figure, 0, "sweeps for a velocity error of 10 %", "L/d", "N_{I}"));
    TRY(draw_points(p, figure, 0, res, SIZE, SWEEPS));
    TRY(draw_points(p, figure, 0, res, SIZE, FAST_SWEEPS));
    TRY(draw_axes(p, figure, 1, "cost of a step", "n", "contact updates"));
    TRY(draw_points(p, figure, 1, res, GRAINS, UPDATES));
    TRY(draw_points(p, figure, 1, res, GRAINS, FAST_UPDATES));
    TRY(draw_axes(p, figure, 2, "sweeps for a residual of 10^{-3}", "L/d", "N_{I}"));
    TRY(draw_points(p, figure, 2, res, SIZE, RESIDUAL_SWEEPS));
    TRY(draw_axes(p, figure, 3, "processor time of a step", "n", "s"));
    TRY(draw_points(p, figure, 3, res, GRAINS, SECONDS));
    TRY(draw_points(p, figure, 3, res, GRAINS, FAST_SECONDS));
    return paper_figure(p, NULL, figure,
                        "Random sweeps and the library's own solver (fast, dashed) from a cold "
                        "start; numbers are fitted exponents. A given residual, bottom left, is "
                        "no measure of rigidity.");
}

static talus_status write_data(paper* p, const results* res)
{
    double(*values)[MOST_SOLVED] = paper_alloc(p, QUANTITIES + 1, sizeof *values);
    if (!values) return p->error.status;
    paper_column columns[QUANTITIES + 1] = {{"dim", values[0]}};
    for (int i = 0; i < res->count; i++) values[0][i] = res->all[i].dim;
    for (int q = 0; q < QUANTITIES; q++) {
        columns[q + 1] = (paper_column){names[q], values[q + 1]};
        for (int i = 0; i < res->count; i++) values[q + 1][i] = res->all[i].value[q];
    }
    return paper_csv(p, NULL, res->count, QUANTITIES + 1, columns);
}

static talus_status run(paper* p)
{
    results* res = paper_alloc(p, 1, sizeof *res);
    if (!res) return p->error.status;
    TRY(solve_all(p, res));
    state_column(p, res);
    for (int dim = 1; dim <= DIMS; dim++) state_dimension(p, res, dim);
    state_rest(p, res);
    TRY(write_data(p, res));
    return draw(p, res);
}

const paper_experiment paper_iterations = {
    .name = "iterations",
    .title = "Sweeps and cost of a step against the size of the system",
    .source = "Unger & Kertész, section 5; Unger, Brendel, Wolf & Kertész, section V",
    .about =
        "A column of disks and packings of disks and spheres under a lid, solved from a cold "
        "start. Random sweeps for a given velocity error grow like (L/d)^2, the cost of a step "
        "like n^3, n^2 and n^(5/3); with momentum like L/d. The residual does not tell.",
    .run = run,
};
