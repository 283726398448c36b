/// The two shock laws: plain g undoes overlaps and pumps energy in, g+ = max(g, 0) keeps them.
///
/// A contact that closes gets V_n = -g/h (UK 26, UBWK 5), so one with an overlap is thrust open
/// within a step: "the elimination of this overlap is accompanied by a surplus of kinetic energy",
/// "which mechanism can destroy stable equilibrium states". With g+ (UK 33, UBWK 6) overlaps only
/// stop growing. The papers give no numbers; these follow from the laws:
///
/// - Given overlaps delta, no forces. Two disks part with delta/h: E = m delta^2/(4 h^2). A chain
///   of n expands evenly, v_i = (i - (n - 1)/2) delta/h: E = m (delta/h)^2 n (n^2 - 1)/24.
/// - A chain pressed on a wall with N_I random sweeps a step, of which s is the part of a mode's
///   force error that they leave (chain_laws.h): with g+ the mode is damped, |l| = sqrt(s) a step,
///   and a load's shrinkage b h^2 s/(1 - s) stays; with plain g it grows if s > 1/2. So plain g
///   blows up the whole chain if N_I < 4 ln 2 n^2/(q pi^2).
/// - A heap in equilibrium, where the same is seen in 2D, with friction.
#include "chain_laws.h"
#include "fit.h"
#include "lattice.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { LAW_PLUS = 0, LAW_PLAIN = 1, LAWS = 2 };

static talus_solver_def law_solver(int law, int sweeps)
{
    talus_solver_def solver = chain_sweeps(sweeps, TALUS_ORDER_RANDOM);
    solver.push_out_overlap = law == LAW_PLAIN;
    return solver;
}

// ---- given overlaps ----------------------------------------------------------------------------

enum { STEP_SIZES = 5, BODIES = 2, THRUST_DISKS = 10, EXACT_SWEEPS = 2000 };

/// Overlaps of 1e-3 in two disks and in a row of ten, nothing else: one step.
typedef struct thrust_results {
    double h[STEP_SIZES];
    double energy[BODIES][STEP_SIZES]; ///< with plain g
    double theory[BODIES][STEP_SIZES];
    double left;  ///< with plain g: largest overlap after the step
    double moved; ///< with g+: largest energy over that of two disks with g
    double kept;  ///< with g+: largest change of an overlap
} thrust_results;

static const double given_overlap = 1e-3;

static talus_status thrust(paper* p, int disks, int law, double h, talus_step_result* result)
{
    chain_def chain = chain_default();
    chain.disks = disks;
    chain.gap = 1; // far from the wall
    chain.overlap = given_overlap;
    chain.seed = p->seed;
    chain.solver = law_solver(law, EXACT_SWEEPS);
    talus_world* world = NULL;
    TRY(chain_make(p, &chain, &world));
    TRY(talus_world_step(world, h, result, &p->error));
    paper_end_world(p, world);
    return TALUS_OK;
}

static talus_status measure_thrusts(paper* p, thrust_results* r)
{
    const int disks[BODIES] = {2, THRUST_DISKS};
    const double n = THRUST_DISKS;
    for (int i = 0; i < STEP_SIZES; i++) {
        const double h = r->h[i] = 0.01 * pow(4, i), speed = given_overlap / h;
        r->theory[0][i] = speed * speed / 4;
        r->theory[1][i] = speed * speed * n * (n * n - 1) / 24;
        for (int body = 0; body < BODIES; body++) {
            talus_step_result g, plus;
            TRY(thrust(p, disks[body], LAW_PLAIN, h, &g));
            TRY(thrust(p, disks[body], LAW_PLUS, h, &plus));
            r->energy[body][i] = g.kinetic_energy;
            r->left = fmax(r->left, g.overlap_max / given_overlap);
            r->moved = fmax(r->moved, plus.kinetic_energy / r->theory[0][i]);
            r->kept = fmax(r->kept, fabs(plus.overlap_max / given_overlap - 1));
        }
    }
    return TALUS_OK;
}

static talus_status given_overlaps(paper* p, thrust_results* r)
{
    TRY(measure_thrusts(p, r));
    double worst[2] = {0, 0};
    for (int body = 0; body < 2; body++)
        for (int i = 0; i < STEP_SIZES; i++)
            worst[body] = fmax(worst[body], fabs(r->energy[body][i] / r->theory[body][i] - 1));
    paper_within(p, "g, two disks: E / (m delta^2/4h^2) - 1, largest of 5 steps", worst[0], 0,
                 1e-10, "UBWK (5) with v = 0; positions of order 1 give delta to 1e-13");
    paper_within(p, "g, 10 disks in a row: E / (m (delta/h)^2 n(n^2-1)/24) - 1, largest", worst[1],
                 0, 1e-10, "even expansion; after 2000 sweeps the forces are exact");
    paper_within(p, "g: overlap left after a step / delta, largest", r->left, 0, 1e-10,
                 "UBWK (5): the gap after the step is 0");
    const double slope = fit_power(STEP_SIZES, r->h, r->energy[1]).slope;
    paper_within(p, "g: exponent of E in h", slope, -2, 1e-6,
                 "every velocity is delta/h times a number: given overlaps are worse for small h");
    paper_within(p, "g+: E / (m delta^2/4h^2), largest of all", r->moved, 0, 0,
                 "UBWK (6): nothing approaches, so no force acts");
    paper_within(p, "g+: change of an overlap / delta, largest", r->kept, 0, 1e-10, "UBWK (6)");
    return TALUS_OK;
}

// ---- a chain under load ------------------------------------------------------------------------

enum { CHAIN_DISKS = 20, CHAIN_STEPS = 400, CHAIN_CASES = 3 };

static const int case_sweeps[CHAIN_CASES] = {20, 80, 320};

/// A chain on which a force acts from t = 0 on. Lengths over F h^2/m, energies over (F h)^2/m.
typedef struct load_history {
    double energy[CHAIN_STEPS];
    double overlap[CHAIN_STEPS]; ///< mean of all contacts
    double shrinkage;            ///< in the end
} load_history;

static talus_status load_chain(paper* p, const chain_def* def, double h, int steps,
                               load_history* out)
{
    const double length = def->force * h * h, energy = def->force * h * def->force * h;
    talus_world* world = NULL;
    TRY(chain_make(p, def, &world));
    const double start = chain_position(world, def->disks - 1);
    for (int t = 0; t < steps; t++) {
        talus_step_result result = {0};
        TRY(talus_world_step(world, h, &result, &p->error));
        out->energy[t] = result.kinetic_energy / energy;
        out->overlap[t] = result.overlap_mean / length;
    }
    out->shrinkage = (start - chain_position(world, def->disks - 1)) / length;
    paper_end_world(p, world);
    return TALUS_OK;
}

static chain_def loaded_chain(const paper* p, int law, int sweeps)
{
    chain_def chain = chain_default();
    chain.disks = CHAIN_DISKS;
    chain.force = 1e-4;
    chain.seed = p->seed;
    chain.solver = law_solver(law, sweeps);
    return chain;
}

/// Mean shrinkage with g+ over random orders, of chains that overlap a little before, so that no
/// contact opens while they swing.
static talus_status kept_shrinkage(paper* p, int sweeps)
{
    const int seeds = p->brief ? 10 : 100;
    const int steps = CHAIN_STEPS * case_sweeps[0] / sweeps; // as much damping for every N_I
    double* kept = paper_alloc(p, (size_t)seeds, sizeof *kept);
    load_history* history = paper_alloc(p, 1, sizeof *history);
    if (!kept || !history) return TALUS_ERR_MEMORY;
    chain_def chain = loaded_chain(p, LAW_PLUS, sweeps);
    chain.overlap = 0.01;
    for (int i = 0; i < seeds; i++) {
        chain.seed = p->seed + (uint64_t)i;
        TRY(load_chain(p, &chain, 1, steps, history));
        kept[i] = history->shrinkage;
    }
    const fit_mean_result mean = fit_mean(seeds, kept);
    char name[96];
    snprintf(name, sizeof name, "g+, loaded chain, N_I = %d: shrinkage kept / (F h^2/m)", sweeps);
    const double theory = chain_kept_shrinkage(CHAIN_DISKS, sweeps);
    paper_within(p, name, mean.mean, theory, 4 * mean.error + theory / CHAIN_DISKS / CHAIN_DISKS,
                 "sum of b s/(1 - s) over modes; 4 standard errors, and 1/n^2");
    return TALUS_OK;
}

static void judge_histories(paper* p, load_history of[LAWS][CHAIN_CASES])
{
    const int end = CHAIN_STEPS - 1, few = 0, many = CHAIN_CASES - 1;
    double calm = 0;
    for (int i = 0; i < CHAIN_CASES; i++) calm = fmax(calm, of[LAW_PLUS][i].energy[end]);
    const double slowest = chain_growth_theory(CHAIN_DISKS, case_sweeps[few], false);
    paper_within(p, "g+, loaded chain after 400 steps: E / ((F h)^2/m), largest", calm, 0,
                 CHAIN_DISKS * pow(slowest, 2 * CHAIN_STEPS) + 1e-12,
                 "|l| = sqrt(s), at most 0.952: that to the power 800 of the energy of n disks "
                 "with F h/m, and rounding");
    paper_between(p, "g, the same, N_I = 20: E / ((F h)^2/m)", of[LAW_PLAIN][few].energy[end], 1,
                  INFINITY, "s > 1/2: no rest; one disk alone would have gained 1/2 in a step");
    paper_within(p, "g, the same, N_I = 320: E / ((F h)^2/m)", of[LAW_PLAIN][many].energy[end], 0,
                 1e-6, "s < 1/2: it comes to rest ...");
    paper_within(p, "g, the same, N_I = 320: mean overlap / (F h^2/m)",
                 of[LAW_PLAIN][many].overlap[end], 0, 1e-6, "... and no overlap is left");
}

static talus_status chain_under_load(paper* p, load_history of[LAWS][CHAIN_CASES])
{
    for (int i = 0; i < CHAIN_CASES; i++) {
        TRY(kept_shrinkage(p, case_sweeps[i]));
        for (int law = 0; law < LAWS; law++) {
            chain_def chain = loaded_chain(p, law, case_sweeps[i]);
            TRY(load_chain(p, &chain, 1, CHAIN_STEPS, &of[law][i]));
        }
    }
    judge_histories(p, of);
    load_history* longer = paper_alloc(p, 1, sizeof *longer);
    if (!longer) return TALUS_ERR_MEMORY;
    chain_def chain = loaded_chain(p, LAW_PLAIN, case_sweeps[0]);
    const int t = 7;
    TRY(load_chain(p, &chain, 4, t + 1, longer));
    paper_within(p, "g, N_I = 20, t = 8 h: exponent of E in h, from two h",
                 2 + log(longer->energy[t] / of[LAW_PLAIN][0].energy[t]) / log(4), 2, 1e-6,
                 "overlaps of the method's own making are F h^2/m times a number: these are "
                 "better for small h");
    return TALUS_OK;
}

// ---- growth of the longest mode ----------------------------------------------------------------

enum { GROWTH_POINTS = 7 };

typedef struct growth_results {
    double sweeps[GROWTH_POINTS];
    double factor[LAWS][GROWTH_POINTS], error[LAWS][GROWTH_POINTS];
    double theory[LAWS][GROWTH_POINTS];
} growth_results;

static void judge_growth(paper* p, const growth_results* g)
{
    const double n2 = CHAIN_DISKS * CHAIN_DISKS;
    double worst[LAWS] = {0, 0}, error[LAWS] = {0, 0};
    for (int law = 0; law < LAWS; law++)
        for (int i = 0; i < GROWTH_POINTS; i++) {
            worst[law] = fmax(worst[law], fabs(g->factor[law][i] / g->theory[law][i] - 1));
            error[law] = fmax(error[law], g->error[law][i] / g->factor[law][i]);
        }
    const char* why = "largest of 7 N_I between 28 and 321; 4 standard errors and 1/n^2";
    paper_within(p, "g+, chain: |l| / sqrt(s) - 1", worst[LAW_PLUS], 0,
                 4 * error[LAW_PLUS] + 1 / n2, why);
    paper_within(p, "g, chain: |l| / theory - 1", worst[LAW_PLAIN], 0,
                 4 * error[LAW_PLAIN] + 1 / n2, why);
    const double expected = chain_growth_threshold(CHAIN_DISKS);
    paper_within(p, "g, chain of 20: N_I below which it blows up",
                 chain_passes_one(GROWTH_POINTS, g->sweeps, g->factor[LAW_PLAIN]), expected,
                 0.02 * expected,
                 "4 ln 2 n^2/(q pi^2); 0.5 % for the straight line between two points, 0.6 % for "
                 "k d << 1, the rest for the scatter of the seeds");
}

static talus_status growth(paper* p, growth_results* g)
{
    const int seeds = p->brief ? 4 : 60;
    double* factor = paper_alloc(p, (size_t)seeds, sizeof *factor);
    if (!factor) return TALUS_ERR_MEMORY;
    for (int i = 0; i < GROWTH_POINTS; i++) {
        const int sweeps = (int)lround(28.2 * pow(1.5, i));
        g->sweeps[i] = sweeps;
        for (int law = 0; law < LAWS; law++) {
            for (int k = 0; k < seeds; k++)
                TRY(chain_growth(p, CHAIN_DISKS, sweeps, law == LAW_PLAIN, p->seed + (uint64_t)k,
                                 &factor[k]));
            const fit_mean_result mean = fit_mean(seeds, factor);
            g->factor[law][i] = mean.mean;
            g->error[law][i] = mean.error;
            g->theory[law][i] = chain_growth_theory(CHAIN_DISKS, sweeps, law == LAW_PLAIN);
        }
        paper_progress(p, 0.3 + 0.5 * (i + 1) / GROWTH_POINTS);
    }
    judge_growth(p, g);
    return TALUS_OK;
}

// ---- a heap in equilibrium ---------------------------------------------------------------------

enum { HEAP_BOTTOM = 10, HEAP_STEPS = 400, HEAP_CASES = 3 };

static const int heap_sweeps[HEAP_CASES] = {5, 20, 80};
/// g h^2/d = 0.09: a large step, as one may take in a scene where nothing moves.
static const double heap_step = 0.3;

typedef struct heap_results {
    talus_world* world[LAWS][HEAP_CASES]; ///< at the end
    double energy[LAWS][HEAP_CASES][HEAP_STEPS];
    int fallen[LAWS][HEAP_CASES]; ///< disks that are more than a diameter away from where they were
    double overlap[LAWS][HEAP_CASES];
} heap_results;

/// A heap on a fixed row of disks, with friction.
static talus_status make_heap(paper* p, const talus_solver_def* solver, talus_world** out)
{
    talus_world_def options = paper_world_default();
    options.dim = 2;
    options.gravity[1] = -1;
    options.seed = p->seed;
    options.threads = p->threads;
    options.solver = *solver;
    TRY(paper_world(p, &options, out));
    talus_pair_def law = talus_pair_default();
    law.friction = 0.5;
    TRY(talus_world_add_material(*out, "disk", &law, NULL, &p->error));
    TRY(lattice_plane(p, *out, "floor", 1, 1, 0));
    return lattice_heap(p, *out, HEAP_BOTTOM, 1, true);
}

/// Run a heap whose disks touch without overlap, from rest and without forces to begin with.
static talus_status run_heap(paper* p, int law, int number, heap_results* r)
{
    const talus_solver_def solver = law_solver(law, heap_sweeps[number]);
    TRY(make_heap(p, &solver, &r->world[law][number]));
    talus_world* world = r->world[law][number];
    double start[HEAP_BOTTOM * HEAP_BOTTOM][2];
    talus_grains grains = talus_world_grains(world);
    for (int64_t i = 0; i < 2 * grains.count; i++) start[i / 2][i % 2] = grains.position[i];
    for (int t = 0; t < HEAP_STEPS; t++) {
        talus_step_result result;
        TRY(talus_world_step(world, heap_step, &result, &p->error));
        r->energy[law][number][t] = result.kinetic_energy;
        r->overlap[law][number] = result.overlap_mean;
    }
    grains = talus_world_grains(world);
    for (int64_t i = 0; i < grains.count; i++)
        r->fallen[law][number] += hypot(grains.position[2 * i] - start[i][0],
                                        grains.position[2 * i + 1] - start[i][1]) > 1;
    return TALUS_OK;
}

static void judge_heaps(paper* p, const heap_results* r)
{
    const int end = HEAP_STEPS - 1;
    double calm = 0, fallen = 0;
    for (int i = 0; i < HEAP_CASES; i++) {
        calm = fmax(calm, r->energy[LAW_PLUS][i][end]);
        fallen += r->fallen[LAW_PLUS][i];
    }
    paper_within(p, "g+, heap, N_I = 5, 20, 80: E / (m g d) after 400 steps, largest", calm, 0,
                 1e-12, "UK: the equilibrium holds; rounding");
    paper_within(p, "g+, heap, N_I = 5, 20, 80: disks fallen", fallen, 0, 0, "UK: likewise");
    paper_between(p, "g, heap, N_I = 5: disks fallen", r->fallen[LAW_PLAIN][0], 1, INFINITY,
                  "UK: 'can destroy stable equilibrium states'");
    double lowest = INFINITY;
    for (int t = HEAP_STEPS / 2; t <= end; t++) lowest = fmin(lowest, r->energy[LAW_PLAIN][1][t]);
    paper_between(p, "g, heap, N_I = 20: E / (m g d), smallest of the last 200 steps", lowest, 1e-3,
                  INFINITY, "it never rests: (g h)^2 m/2 is 0.045 for one disk of 45");
    paper_within(p, "g, heap, N_I = 80: E / (m g d) after 400 steps", r->energy[LAW_PLAIN][2][end],
                 0, 1e-12, "forces are good enough: it rests ...");
    paper_within(p, "g, heap, N_I = 80: mean overlap / d", r->overlap[LAW_PLAIN][2], 0, 1e-12,
                 "... without overlap");
}

// ---- all together ------------------------------------------------------------------------------

typedef struct shock_results {
    thrust_results thrusts;
    load_history loads[LAWS][CHAIN_CASES];
    growth_results growth;
    heap_results heaps;
    double t[CHAIN_STEPS];
} shock_results;

static const char* const law_names[LAWS] = {"g^{+}", "g"};

static talus_status draw_thrusts(paper* p, const thrust_results* r, talus_figure* f)
{
    const char* const bodies[BODIES] = {"2 disks", "row of 10"};
    TRY(plot_axes(p, f, 0, "Given overlaps, law g: energy pumped in", "h / (d/g)^{1/2}",
                  "E / (m g d)", "xy"));
    for (int body = 0; body < BODIES; body++) {
        const plot_style dots = {body, TALUS_CURVE_DOTS, TALUS_DASH_SOLID}, line = {.colour = body};
        TRY(plot_curve(p, f, 0, dots, bodies[body], STEP_SIZES, r->h, r->energy[body]));
        TRY(plot_curve(p, f, 0, line, NULL, STEP_SIZES, r->h, r->theory[body]));
    }
    return TALUS_OK;
}

static talus_status draw_loads(paper* p, const shock_results* r, talus_figure* f)
{
    talus_axes_def axes =
        plot_axes_def("Chain of 20 under load: energy", "t/h", "E / ((F h)^{2}/m)", "xy");
    axes.y_low = 1e-12, axes.y_high = 1e3;
    TRY(talus_figure_axes(f, 1, &axes, &p->error));
    axes = plot_axes_def("... and overlap", "t/h", "mean overlap / (F h^{2}/m)", "");
    axes.x_high = 120;
    axes.y_high = 0.12;
    axes.legend = TALUS_LEGEND_NONE;
    TRY(talus_figure_axes(f, 2, &axes, &p->error));
    for (int i = 0; i < CHAIN_CASES; i++)
        for (int law = 0; law < LAWS; law++) {
            char label[32];
            snprintf(label, sizeof label, "%s, N_{I} = %d", law_names[law], case_sweeps[i]);
            const plot_style style = {i, TALUS_CURVE_LINE,
                                      law ? TALUS_DASH_DASHED : TALUS_DASH_SOLID};
            const load_history* load = &r->loads[law][i];
            TRY(plot_curve(p, f, 1, style, label, CHAIN_STEPS, r->t, load->energy));
            TRY(plot_curve(p, f, 2, style, label, CHAIN_STEPS, r->t, load->overlap));
        }
    return TALUS_OK;
}

static talus_status draw_growth(paper* p, const growth_results* g, talus_figure* f)
{
    TRY(plot_axes(p, f, 3, "Chain of 20: growth of the longest mode", "N_{I}", "|λ| a step", "x"));
    for (int law = LAWS - 1; law >= 0; law--) {
        const plot_style dots = {law, TALUS_CURVE_DOTS, TALUS_DASH_SOLID}, line = {.colour = law};
        TRY(plot_curve(p, f, 3, dots, law_names[law], GROWTH_POINTS, g->sweeps, g->factor[law]));
        TRY(plot_curve(p, f, 3, line, NULL, GROWTH_POINTS, g->sweeps, g->theory[law]));
    }
    return talus_figure_mark(f, 3, false, 1, NULL, &p->error);
}

static talus_status draw(paper* p, const shock_results* r)
{
    talus_figure* f;
    TRY(plot_figure(p, 3, 2, &f));
    TRY(draw_thrusts(p, &r->thrusts, f));
    TRY(draw_loads(p, r, f));
    TRY(draw_growth(p, &r->growth, f));
    const talus_picture_def picture = talus_picture_default();
    for (int law = 0; law < LAWS; law++) {
        char title[64];
        snprintf(title, sizeof title, "Heap, N_{I} = %d, law %s, t = 400 h", heap_sweeps[0],
                 law_names[law]);
        talus_axes_def axes = plot_axes_def(title, "x/d", "y/d", "");
        axes.equal = true;
        axes.x_low = -8, axes.x_high = 8; // disks may have fallen far away
        axes.y_low = -1, axes.y_high = 10;
        TRY(talus_figure_axes(f, 4 + law, &axes, &p->error));
        TRY(talus_figure_world(f, 4 + law, r->heaps.world[law][0], &picture, &p->error));
    }
    return paper_figure(p, NULL, f,
                        "Dots measured, lines by theory. Plain g thrusts overlaps open, the more "
                        "violently the smaller the step; with too few sweeps the overlaps come "
                        "from the method itself, and the chain and the heap never rest.");
}

static talus_status publish(paper* p, const shock_results* r)
{
    const load_history(*loads)[CHAIN_CASES] = r->loads;
    char names[2 * LAWS * CHAIN_CASES][32];
    paper_column columns[1 + 2 * LAWS * CHAIN_CASES] = {{"t/h", r->t}};
    for (int i = 0; i < 2 * LAWS * CHAIN_CASES; i++) {
        const int law = i / 2 / CHAIN_CASES, number = i / 2 % CHAIN_CASES, what = i % 2;
        snprintf(names[i], sizeof names[i], "%s(%s N_I=%d)", what ? "overlap" : "E",
                 law ? "g" : "g+", case_sweeps[number]);
        const load_history* load = &loads[law][number];
        columns[1 + i] = (paper_column){names[i], what ? load->overlap : load->energy};
    }
    TRY(paper_csv(p, "load", CHAIN_STEPS, 1 + 2 * LAWS * CHAIN_CASES, columns));
    const growth_results* g = &r->growth;
    const paper_column growth_columns[] = {{"N_I", g->sweeps},
                                           {"|l|(g+)", g->factor[0]},
                                           {"theory(g+)", g->theory[0]},
                                           {"|l|(g)", g->factor[1]},
                                           {"theory(g)", g->theory[1]}};
    TRY(paper_csv(p, "growth", GROWTH_POINTS, 5, growth_columns));
    const thrust_results* t = &r->thrusts;
    const paper_column thrusts[] = {{"h", t->h}, {"E(2)", t->energy[0]}, {"E(10)", t->energy[1]}};
    TRY(paper_csv(p, "thrust", STEP_SIZES, 3, thrusts));
    return draw(p, r);
}

static talus_status run(paper* p)
{
    shock_results* r = paper_alloc(p, 1, sizeof *r);
    if (!r) return TALUS_ERR_MEMORY;
    for (int t = 0; t < CHAIN_STEPS; t++) r->t[t] = t + 1;
    TRY(given_overlaps(p, &r->thrusts));
    TRY(chain_under_load(p, r->loads));
    TRY(growth(p, &r->growth));
    for (int i = 0; i < HEAP_CASES; i++)
        for (int law = 0; law < LAWS; law++) TRY(run_heap(p, law, i, &r->heaps));
    judge_heaps(p, &r->heaps);
    paper_note(p,
               "A chain that only touches when the load comes keeps a few per cent more shrinkage "
               "with g+ than the sum over modes: contacts open for a moment while it swings, "
               "and g+ lets a gap close for nothing.");
    paper_note(p, "Units: d = m = g = 1 for the disks and the heap; the bottom row of the heap is "
                  "fixed, friction is 0.5.");
    return publish(p, r);
}

const paper_experiment paper_shock_law = {
    .name = "shock-law",
    .title = "The shock laws g and g+: energy pumped in against overlap kept",
    .source = "Unger & Kertész, eq. 33; Unger, Brendel, Wolf & Kertész, eqs. 5 and 6",
    .about =
        "Contact Dynamics with plain g pushes overlaps out within a step, with g+ = max(g, 0) it "
        "only stops their growth. Disks with given overlaps show the energy that the first law "
        "pumps in; a chain and a heap under load, with as few sweeps a step as leave overlaps "
        "behind, show that it destroys equilibria: every mode whose force error a step does not "
        "halve grows without bound, while g+ comes to rest and keeps the overlap that theory says.",
    .run = run,
};
