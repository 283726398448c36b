/// When to stop the sweeps: the local, the global and the fixed rule compared as UK did.
///
/// UK stop when |dR| <= eps |R| + delta at every contact (local, 35), when the mean force changes
/// by less than eps of it (global, 36), or after N_I sweeps (fixed, 37), and measure accuracy by
/// the mean overlap, "what should be zero in an ideal case", and effort by the mean number of
/// sweeps a step. They report without numbers that both criteria work well, that in many cases
/// their efficiency differs significantly, that which one is better depends on the situation and on
/// the accuracy, and that the fixed rule behaves nicely too.
///
/// Here: one state each, continued with every rule and many eps or N_I, in three situations of
/// disks: a dense packing on whose lid a load is put, a column that falls to a heap, and a hopper
/// that flows. For the load more can be said: incomplete sweeps make a packing elastic with
/// stiffness ~ N_I/h^2 (UBWK 24), so that the overlap falls as 1/N_I, or faster once the sweeps
/// reach through the packing. The rule of this project (estimated error of all velocities) is drawn
/// with the same sweeps, beyond the paper.
#include "copy.h"
#include "fit.h"
#include "packing.h"
#include "plot.h"
#include "random.h"

#include <math.h>
#include <stdio.h>

enum { LOCAL = 0, GLOBAL, FIXED, RIGID, RULES };
enum { LOADED = 0, HEAP, HOPPER, SITUATIONS };
enum { POINTS = 5 };

static const char* const rule_names[RULES] = {"local (35)", "global (36)", "fixed N_{I} (37)",
                                              "velocity error (Talus)"};
static const char* const situation_names[SITUATIONS] = {"load on a packing", "column to heap",
                                                        "flowing hopper"};

// ---- situations --------------------------------------------------------------------------------

/// A state to continue from, and how.
typedef struct situation {
    talus_world* start;
    packing_def packing; ///< of the loaded packing
    double friction;
    double step;
    int steps;
} situation;

static talus_status make_loaded(paper* p, uint64_t seed, situation* s)
{
    s->packing = packing_default();
    s->packing.grains = p->brief ? 120 : 300;
    s->packing.friction = 0.3;
    s->packing.rest = 1e-8;
    s->packing.seed = seed;
    s->packing.threads = p->threads;
    s->friction = s->packing.friction;
    s->step = packing_step(&s->packing);
    s->steps = p->brief ? 60 : 150;
    return packing_make(p, &s->packing, &s->start);
}

/// An empty world with gravity 1 and one material.
static talus_status make_empty(paper* p, double friction, double period, uint64_t seed,
                               talus_world** out)
{
    talus_world_def options = paper_world_default();
    options.dim = 2;
    options.gravity[1] = -1;
    options.periodic[1] = period > 0;
    options.cell_high[1] = period;
    options.threads = p->threads;
    options.seed = seed;
    TRY(paper_world(p, &options, out));
    talus_pair_def law = talus_pair_default();
    law.friction = friction;
    return talus_world_add_material(*out, "grain", &law, NULL, &p->error);
}

/// Disks of radius 0.4 to 0.6, loose and a little in disorder, `columns` side by side.
static talus_status add_disks(paper* p, talus_world* world, int count, int columns, double left,
                              double bottom, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        talus_grain_def disk = talus_grain_default();
        disk.radius = random_between(&seed, 0.4, 0.6);
        disk.density = 1;
        disk.position[0] = left + 1.25 * (i % columns + 0.5) + random_between(&seed, -0.02, 0.02);
        disk.position[1] = bottom + 1.25 * (i / columns + 0.5);
        TRY(talus_world_add_grain(world, &disk, NULL, &p->error));
    }
    return TALUS_OK;
}

static talus_status add_wall(paper* p, talus_world* world, const char* name,
                             const talus_shape_def* shape, double x, double y)
{
    talus_wall_def wall = talus_wall_default();
    wall.name = name;
    wall.shape = *shape;
    wall.position[0] = x;
    wall.position[1] = y;
    return talus_world_add_wall(world, &wall, NULL, &p->error);
}

/// A column of disks without walls, on a floor with a fixed row of disks that keeps them from
/// rolling away.
static talus_status make_heap(paper* p, uint64_t seed, situation* s)
{
    const int columns = p->brief ? 7 : 10;
    s->friction = 0.5;
    s->step = 0.05;
    s->steps = p->brief ? 140 : 300;
    TRY(make_empty(p, s->friction, 0, seed, &s->start));
    const talus_shape_def plane = {.kind = TALUS_SHAPE_PLANE, .normal = {0, 1, 0}};
    TRY(add_wall(p, s->start, "floor", &plane, 0, 0));
    for (int i = -4 * columns; i < 4 * columns; i++) {
        talus_grain_def rough = talus_grain_default();
        rough.radius = 0.5;
        rough.position[0] = i;
        rough.fixed = true;
        TRY(talus_world_add_grain(s->start, &rough, NULL, &p->error));
    }
    return add_disks(p, s->start, columns * 2 * columns, columns, -0.625 * columns, 0.5, seed);
}

/// A hopper above itself: what falls out at the bottom comes in again at the top.
static talus_status make_hopper(paper* p, uint64_t seed, situation* s)
{
    const int columns = p->brief ? 8 : 12;
    const double width = 1.25 * columns, throat = 5, drop = 0.5 * (width - throat), base = 4;
    const double period = base + drop + 1.25 * columns * 1.4 + 8;
    s->friction = 0.3;
    s->step = 0.05;
    s->steps = p->brief ? 100 : 200;
    TRY(make_empty(p, s->friction, period, seed, &s->start));
    const talus_shape_def left = {.kind = TALUS_SHAPE_PLANE, .normal = {1, 0, 0}};
    const talus_shape_def right = {.kind = TALUS_SHAPE_PLANE, .normal = {-1, 0, 0}};
    TRY(add_wall(p, s->start, "left", &left, 0, 0));
    TRY(add_wall(p, s->start, "right", &right, width, 0));
    const talus_shape_def down = {.kind = TALUS_SHAPE_SEGMENT, .edge_u = {drop / 2, -drop / 2, 0}};
    const talus_shape_def up = {.kind = TALUS_SHAPE_SEGMENT, .edge_u = {drop / 2, drop / 2, 0}};
    TRY(add_wall(p, s->start, "funnel left", &down, drop / 2, base + drop / 2));
    TRY(add_wall(p, s->start, "funnel right", &up, width - drop / 2, base + drop / 2));
    TRY(add_disks(p, s->start, (int)(1.4 * columns * columns), columns, 0, base + drop + 0.2,
                  seed));
    return talus_world_steps(s->start, s->step, p->brief ? 100 : 200, NULL, &p->error);
}

static talus_status make_situation(paper* p, int kind, uint64_t seed, situation* s)
{
    if (kind == LOADED) return make_loaded(p, seed, s);
    return kind == HEAP ? make_heap(p, seed, s) : make_hopper(p, seed, s);
}

// ---- rules -------------------------------------------------------------------------------------

/// The papers' sweeps with point number `point` of a rule, from loose to strict.
static talus_solver_def solver_of(int rule, int point)
{
    static const double eps[RULES][POINTS] = {[LOCAL] = {0.3, 0.1, 0.03, 0.01, 0.003},
                                              [GLOBAL] = {1e-2, 3e-3, 1e-3, 3e-4, 1e-4},
                                              [FIXED] = {4, 12, 36, 108, 324},
                                              [RIGID] = {1, 0.3, 0.1, 0.03, 0.01}};
    static const talus_stop_rule stop[RULES] = {TALUS_STOP_LOCAL, TALUS_STOP_GLOBAL,
                                                TALUS_STOP_SWEEPS, TALUS_STOP_RIGID};
    talus_solver_def solver = paper_solver_default();
    solver.method = TALUS_SOLVER_SWEEPS;
    solver.stop = stop[rule];
    solver.max_sweeps = rule == FIXED ? (int)eps[rule][point] : 5000;
    if (rule != FIXED) solver.tolerance = eps[rule][point];
    return solver;
}

/// Means over the steps of a run.
typedef struct outcome {
    double sweeps, overlap;
} outcome;

static talus_status run_rule(paper* p, const situation* s, const talus_solver_def* solver,
                             outcome* out)
{
    talus_world_def options = *talus_world_options(s->start);
    options.solver = *solver;
    talus_pair_def law = talus_pair_default();
    law.friction = s->friction;
    talus_world* world = NULL;
    TRY(copy_world(p, s->start, &options, &law, &world));
    if (s->packing.grains > 0) TRY(packing_press(p, &s->packing, world, s->packing.pressure));
    *out = (outcome){0, 0};
    for (int i = 0; i < s->steps; i++) {
        talus_step_result result;
        TRY(talus_world_step(world, s->step, &result, &p->error));
        out->sweeps += (double)result.sweeps / s->steps;
        out->overlap += result.overlap_mean / s->steps;
    }
    paper_end_world(p, world);
    return TALUS_OK;
}

// ---- comparison --------------------------------------------------------------------------------

/// Accuracy and effort of all rules: means over seeds, of the logarithms.
typedef struct comparison {
    double sweeps[SITUATIONS][RULES][POINTS];
    double overlap[SITUATIONS][RULES][POINTS];
} comparison;

static talus_status compare(paper* p, int kind, uint64_t seed, double weight, comparison* c)
{
    situation s = {0};
    TRY(make_situation(p, kind, seed, &s));
    for (int rule = 0; rule < RULES; rule++)
        for (int i = 0; i < POINTS; i++) {
            const talus_solver_def solver = solver_of(rule, i);
            outcome o = {0, 0};
            TRY(run_rule(p, &s, &solver, &o));
            c->sweeps[kind][rule][i] += weight * log(o.sweeps);
            c->overlap[kind][rule][i] += weight * log(o.overlap);
        }
    paper_end_world(p, s.start);
    return TALUS_OK;
}

static talus_status compare_all(paper* p, comparison* c)
{
    const int seeds = p->brief ? 1 : 4;
    for (int kind = 0; kind < SITUATIONS; kind++)
        for (int i = 0; i < seeds; i++) {
            TRY(compare(p, kind, p->seed + (uint64_t)i, 1.0 / seeds, c));
            paper_progress(p, (kind + (i + 1.0) / seeds) / SITUATIONS);
        }
    double *sweeps = &c->sweeps[0][0][0], *overlap = &c->overlap[0][0][0];
    for (int i = 0; i < SITUATIONS * RULES * POINTS; i++) {
        sweeps[i] = exp(sweeps[i]);
        overlap[i] = exp(overlap[i]);
    }
    return TALUS_OK;
}

/// Sweeps that a rule needs for an overlap, by a straight line between the logarithms of the
/// neighbouring points; NAN where no two points lie on both sides of it.
static double sweeps_for(const comparison* c, int kind, int rule, double overlap)
{
    const double *x = c->overlap[kind][rule], *y = c->sweeps[kind][rule];
    for (int i = 1; i < POINTS; i++) {
        if ((x[i - 1] - overlap) * (x[i] - overlap) > 0) continue;
        return y[i - 1] * pow(y[i] / y[i - 1], log(overlap / x[i - 1]) / log(x[i] / x[i - 1]));
    }
    return NAN;
}

/// local/global etc. at a given overlap, in diameters; NAN where one of them does not reach it.
static double sweeps_ratio(const comparison* c, int kind, int rule, int other, double overlap)
{
    return sweeps_for(c, kind, rule, overlap) / sweeps_for(c, kind, other, overlap);
}

// ---- what UK say -------------------------------------------------------------------------------

static void judge_rules(paper* p, const comparison* c)
{
    static const char* const names[FIXED + 1] = {
        "local rule: exponent of the overlap in the sweeps + 2 errors, worst situation",
        "global rule: exponent of the overlap in the sweeps + 2 errors, worst situation",
        "fixed rule: exponent of the overlap in the sweeps + 2 errors, worst situation"};
    for (int rule = 0; rule <= FIXED; rule++) {
        double worst = -INFINITY;
        for (int kind = 0; kind < SITUATIONS; kind++) {
            const fit_line_result f =
                fit_power(POINTS, c->sweeps[kind][rule], c->overlap[kind][rule]);
            worst = fmax(worst, f.slope + 2 * f.slope_error);
        }
        paper_between(p, names[rule], worst, -INFINITY, 0,
                      rule == FIXED ? "UK: 'behaves also nicely'; more sweeps, less overlap"
                                    : "UK: 'both criteria are working well'; likewise");
    }
    const fit_line_result f =
        fit_power(POINTS, c->sweeps[LOADED][FIXED], c->overlap[LOADED][FIXED]);
    paper_between(p, "fixed rule, load on a packing: exponent of the overlap in N_I", f.slope, -2,
                  -1 + 3 * f.slope_error,
                  "UBWK (24): stiffness ~ N_I gives -1, steeper where the sweeps reach through the "
                  "packing (s/(1 - s) instead of 1/(1 - s)); 3 errors of the fit");
}

/// Accuracies that all rules reach in all situations, or nearly so: overlaps, in diameters.
static const double ROUGH = 9e-4, FINE = 3.5e-4;

/// A ratio for a remark.
static const char* ratio_words(double ratio, char words[24])
{
    if (isnan(ratio)) return "not reached";
    snprintf(words, 24, "%.2f", ratio);
    return words;
}

/// The numbers behind the rows, and where the rules end.
static void note_efficiency(paper* p, const comparison* c, int kind)
{
    char words[4][24];
    paper_note(
        p,
        "%s: sweeps of the local rule over those of the global one %s at an overlap of %g d, "
        "%s at %g d; local over fixed %s and %s. The strictest eps leaves %.1e d with the "
        "local rule, %.1e d with the global one.",
        situation_names[kind], ratio_words(sweeps_ratio(c, kind, LOCAL, GLOBAL, ROUGH), words[0]),
        ROUGH, ratio_words(sweeps_ratio(c, kind, LOCAL, GLOBAL, FINE), words[1]), FINE,
        ratio_words(sweeps_ratio(c, kind, LOCAL, FIXED, ROUGH), words[2]),
        ratio_words(sweeps_ratio(c, kind, LOCAL, FIXED, FINE), words[3]),
        c->overlap[kind][LOCAL][POINTS - 1], c->overlap[kind][GLOBAL][POINTS - 1]);
}

static void judge_efficiency(paper* p, const comparison* c)
{
    double low = INFINITY, high = 0;
    for (int kind = 0; kind < SITUATIONS; kind++) {
        note_efficiency(p, c, kind);
        for (int i = 0; i < 2; i++) { // fmin() and fmax() pass over what is not reached
            const double ratio = sweeps_ratio(c, kind, LOCAL, GLOBAL, i ? FINE : ROUGH);
            low = fmin(low, ratio);
            high = fmax(high, ratio);
        }
    }
    paper_between(p, "sweeps local/global at equal overlap: largest difference, as a factor",
                  fmax(high, 1 / low), 1.4, INFINITY,
                  "UK: 'in many cases significant differences'; one ratio scatters by 20 % from "
                  "state to state, twice that is significant");
    paper_between(p, "sweeps local/global: largest of 3 situations and 2 accuracies over smallest",
                  high / low, 1.4, INFINITY,
                  "UK: it 'depends on the specific situation and also on the required level of "
                  "accuracy'");
    paper_between(p, "sweeps local/fixed, load on a packing, overlap 3.5e-4 d",
                  sweeps_ratio(c, LOADED, LOCAL, FIXED, FINE), 0, 1 / 1.4,
                  "where things come to rest a rule stops early, a fixed number does not");
    paper_between(p, "sweeps local/fixed, flowing hopper, overlap 3.5e-4 d",
                  sweeps_ratio(c, HOPPER, LOCAL, FIXED, FINE), 1, INFINITY,
                  "in a flow the last of many contacts holds up the local rule: here N_I = const "
                  "is the more efficient one");
}

/// What the cutoff of the local rule does, on the loaded packing.
static talus_status try_cutoff(paper* p)
{
    situation s = {0};
    TRY(make_situation(p, LOADED, p->seed, &s));
    outcome of[2] = {{0, 0}, {0, 0}};
    for (int i = 0; i < 2; i++) {
        talus_solver_def solver = solver_of(LOCAL, 3);
        // the mean force in a packing is about pressure times mean diameter
        const double mean = s.packing.pressure * (s.packing.radius_low + s.packing.radius_high);
        if (i > 0) solver.cutoff = 0.01 * mean;
        TRY(run_rule(p, &s, &solver, &of[i]));
    }
    paper_end_world(p, s.start);
    paper_note(p,
               "UK do not say how large the cutoff delta of the local rule is. Here 1e-6 of the "
               "mean force; with 1e-2 of it and eps = 0.01 the loaded packing needs %.0f sweeps, "
               "not %.0f, and has a mean overlap of %.1e d, not %.1e d.",
               of[1].sweeps, of[0].sweeps, of[1].overlap, of[0].overlap);
    return TALUS_OK;
}

// ---- files -------------------------------------------------------------------------------------

static talus_status draw(paper* p, const comparison* c)
{
    talus_figure* figure;
    TRY(plot_figure(p, SITUATIONS, 1, &figure));
    for (int kind = 0; kind < SITUATIONS; kind++) {
        talus_axes_def axes =
            plot_axes_def(situation_names[kind], "mean number of sweeps", "mean overlap / d", "xy");
        axes.legend = kind == 0 ? TALUS_LEGEND_BOTTOM_LEFT : TALUS_LEGEND_NONE;
        TRY(talus_figure_axes(figure, kind, &axes, &p->error));
        for (int rule = 0; rule < RULES; rule++) {
            const plot_style style = {rule, TALUS_CURVE_LINE_DOTS,
                                      rule == RIGID ? TALUS_DASH_DOTTED : TALUS_DASH_SOLID};
            TRY(plot_curve(p, figure, kind, style, rule_names[rule], POINTS, c->sweeps[kind][rule],
                           c->overlap[kind][rule]));
        }
    }
    return paper_figure(p, NULL, figure,
                        "Accuracy against effort: each dot is one eps or N_I, all from the same "
                        "states. Lower left is better.");
}

static talus_status publish(paper* p, const comparison* c)
{
    static const char* const files[SITUATIONS] = {"load", "heap", "hopper"};
    for (int kind = 0; kind < SITUATIONS; kind++) {
        const paper_column columns[] = {{"sweeps(local)", c->sweeps[kind][LOCAL]},
                                        {"overlap/d(local)", c->overlap[kind][LOCAL]},
                                        {"sweeps(global)", c->sweeps[kind][GLOBAL]},
                                        {"overlap/d(global)", c->overlap[kind][GLOBAL]},
                                        {"sweeps(fixed)", c->sweeps[kind][FIXED]},
                                        {"overlap/d(fixed)", c->overlap[kind][FIXED]},
                                        {"sweeps(velocity)", c->sweeps[kind][RIGID]},
                                        {"overlap/d(velocity)", c->overlap[kind][RIGID]}};
        TRY(paper_csv(p, files[kind], POINTS, 8, columns));
    }
    return draw(p, c);
}

static talus_status run(paper* p)
{
    comparison* c = paper_alloc(p, 1, sizeof *c);
    if (!c) return TALUS_ERR_MEMORY;
    TRY(compare_all(p, c));
    judge_rules(p, c);
    judge_efficiency(p, c);
    TRY(try_cutoff(p));
    paper_note(p, "Situations, sizes, steps and the ranges of eps are ours: UK name none. A sweep "
                  "that is repeated because grains moved farther than foreseen counts, so the "
                  "fixed rule can show more than N_I.");
    return publish(p, c);
}

const paper_experiment paper_criteria = {
    .name = "criteria",
    .title = "When to stop the sweeps: local, global and fixed rules",
    .source = "Unger & Kertész, section 'Convergence criteria', eqs. 35 to 37",
    .about =
        "One state is continued with different rules to stop the sweeps, in a packing that is "
        "loaded, a column that falls to a heap and a hopper that flows. The mean overlap is the "
        "measure of accuracy, the mean number of sweeps a step that of effort, as Unger and "
        "Kertész chose them. All rules work; which is the most efficient depends on the situation "
        "and on the accuracy.",
    .run = run,
};
