/// What Contact Dynamics and soft particles cost for one scene, and where they cost the same.
///
/// BUW 1.6 estimates: CD needs steps of a fraction of r/v and, for perfectly rigid grains, N_I >
/// N^(2/d) sweeps of each (1.34), T_CD ~ N^(1+2/d) T v/r (1.35); soft particles (MD) need steps of
/// a fraction of sqrt(m/K), T_MD ~ N T sqrt(K/m) (1.36). Hence
///     T_CD/T_MD ~ N^(2/d) sqrt(m v^2/(K r^2))                                        (1.37)
/// and in the plane of N and m v^2/(K r^2), Fig. 1.6, a line with the slope -4/d parts the two.
///
/// The scene: a dense packing under a lid that presses on it, while the left wall comes in at a
/// constant rate, so that all grains move past each other with v = rate * 2 r. CD takes steps of
/// 0.002 r/v, with N^(2/d) random sweeps each as BUW say, with as many random sweeps as bring the
/// error of the velocities below a tenth, and with this project's own solver to the same end. MD
/// takes a twentieth of the time of a collision. The premise of (1.34), forces that spread through
/// the whole, is tested apart: an ordered block strikes a floor, and one step has to stop it.
/// Counts of sweeps, updates and steps are judged; processor seconds, from which the line of
/// Fig. 1.6 is drawn, are reported only. `talus advise` compares the methods for one's own scene.
#include "copy.h"
#include "fit.h"
#include "lattice.h"
#include "packing.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { BUW_SWEEPS = 0, PAPERS_SOLVER, OWN_SOLVER, SOLVERS };
enum { MOST_SIZES = 8, STIFFNESSES = 3, WARM_UP = 3, BLOCKS = 5 };

static const double friction = 0.3, strain_rate = 0.03, strain_step = 0.001;
static const double stiffness[STIFFNESSES] = {1e2, 1e3, 1e4};
static const char* const solver_names[SOLVERS] = {"N_{I} = N^{2/d}", "random sweeps, error < 0.1",
                                                  "Talus, error < 0.1"};

/// All that is measured in one dimension, by size. Costs are those of a unit of simulated time.
typedef struct cost_table {
    int dim, sizes;
    double grains[MOST_SIZES];
    double sweeps[SOLVERS][MOST_SIZES]; ///< of a step
    double updates[SOLVERS][MOST_SIZES];
    double error[SOLVERS][MOST_SIZES]; ///< estimated error of the velocities
    double seconds[SOLVERS][MOST_SIZES];
    double soft_steps[STIFFNESSES][MOST_SIZES];
    double soft_seconds[STIFFNESSES][MOST_SIZES];
    double even_counts[SOLVERS][MOST_SIZES];  ///< m v^2/(K r^2) at which CD has as many updates of
                                              ///< contacts as MD has steps of grains
    double even_seconds[SOLVERS][MOST_SIZES]; ///< ... and takes as many seconds
    double block_grains[BLOCKS];
    double block_sweeps[SOLVERS][BLOCKS]; ///< to stop an ordered block
} cost_table;

/// Continue from a packing with other options: the lid presses, the left wall comes in.
static talus_status start_scene(paper* p, const packing_def* def, const talus_world* packing,
                                const talus_world_def* options, const talus_pair_def* law,
                                talus_world** out)
{
    TRY(copy_world(p, packing, options, law, out));
    talus_drive_def drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_VELOCITY;
    drive.velocity[0] = strain_rate * packing_width(def);
    TRY(packing_press(p, def, *out, def->pressure));
    return talus_world_set_drive(*out, talus_world_find_wall(*out, "left"), &drive, &p->error);
}

/// The state that all begin with: a packing after a tenth of strain.
static talus_status make_flowing(paper* p, const packing_def* def, talus_world** out)
{
    talus_world* packing = NULL;
    TRY(packing_make(p, def, &packing));
    talus_pair_def law = talus_pair_default();
    law.friction = friction;
    TRY(start_scene(p, def, packing, talus_world_options(packing), &law, out));
    paper_end_world(p, packing);
    const double coarse = 0.005;
    return talus_world_steps(*out, coarse / strain_rate, (int)lround(0.1 / coarse), NULL,
                             &p->error);
}

// ---- the two methods ---------------------------------------------------------------------------

/// `fixed` is the number of sweeps of BUW_SWEEPS.
static talus_solver_def solver_of(int kind, int fixed)
{
    talus_solver_def solver = paper_solver_default();
    solver.tolerance = 0.1;
    solver.max_sweeps = 200000;
    if (kind != OWN_SOLVER) solver.method = TALUS_SOLVER_SWEEPS;
    if (kind == BUW_SWEEPS) {
        solver.stop = TALUS_STOP_SWEEPS;
        solver.max_sweeps = fixed;
    }
    return solver;
}

/// Steps of CD; adds to entry `size` of the table, of which this is one part of `parts`.
static talus_status run_rigid(paper* p, talus_world* world, int kind, int steps, double parts,
                              int size, cost_table* table)
{
    const double h = strain_step / strain_rate, weight = 1 / (steps * parts);
    for (int i = 0; i < WARM_UP; i++) TRY(talus_world_step(world, h, NULL, &p->error));
    const double start = paper_seconds();
    for (int i = 0; i < steps; i++) {
        talus_step_result result;
        TRY(talus_world_step(world, h, &result, &p->error));
        table->sweeps[kind][size] += weight * (double)result.sweeps;
        table->updates[kind][size] += weight * (double)result.updates / h;
        table->error[kind][size] += weight * result.rigidity.velocity_error;
    }
    table->seconds[kind][size] += weight * (paper_seconds() - start) / h;
    return TALUS_OK;
}

/// Steps of MD, likewise.
static talus_status run_soft(paper* p, talus_world* world, int kind, double parts, int size,
                             cost_table* table)
{
    const int steps = 100;
    talus_soft_times times;
    TRY(talus_world_soft_times(world, &times, &p->error));
    const double h = times.chosen, weight = 1 / (parts * h);
    TRY(talus_world_steps(world, h, steps, NULL, &p->error));
    const double start = paper_seconds();
    TRY(talus_world_steps(world, h, steps, NULL, &p->error));
    table->soft_seconds[kind][size] += weight * (paper_seconds() - start) / steps;
    table->soft_steps[kind][size] += weight;
    return TALUS_OK;
}

static talus_status measure_flow(paper* p, const packing_def* def, const talus_world* start,
                                 int steps, double parts, int size, cost_table* table)
{
    talus_pair_def law = talus_pair_default();
    law.friction = friction;
    for (int kind = 0; kind < SOLVERS; kind++) {
        talus_world_def options = *talus_world_options(start);
        options.solver = solver_of(kind, (int)lround(pow((double)def->grains, 2.0 / def->dim)));
        talus_world* world = NULL;
        TRY(start_scene(p, def, start, &options, &law, &world));
        TRY(run_rigid(p, world, kind, steps, parts, size, table));
        paper_end_world(p, world);
    }
    law.restitution = 0.3;
    for (int kind = 0; kind < STIFFNESSES; kind++) {
        talus_world_def options = *talus_world_options(start);
        options.method = TALUS_METHOD_SOFT;
        law.soft.stiffness = stiffness[kind];
        talus_world* world = NULL;
        TRY(start_scene(p, def, start, &options, &law, &world));
        TRY(run_soft(p, world, kind, parts, size, table));
        paper_end_world(p, world);
    }
    return TALUS_OK;
}

/// m v^2/(K r^2) at which MD costs what CD does: T_MD ~ sqrt(K), from the stiffest springs.
static double even_number(const packing_def* def, double rigid, double soft)
{
    const double ratio = rigid / soft, v_over_r = 2 * strain_rate, k = stiffness[STIFFNESSES - 1];
    return packing_mean_mass(def) * v_over_r * v_over_r / (k * ratio * ratio);
}

static talus_status measure_size(paper* p, int64_t grains, int packings, int steps, int size,
                                 cost_table* table)
{
    table->grains[size] = (double)grains;
    packing_def def = packing_default();
    def.dim = table->dim;
    def.grains = grains;
    def.friction = friction;
    def.rest = 1e-8;
    def.threads = p->threads;
    for (int i = 0; i < packings; i++) {
        def.seed = p->seed + (uint64_t)i;
        talus_world* start = NULL;
        TRY(make_flowing(p, &def, &start));
        TRY(measure_flow(p, &def, start, steps, packings, size, table));
        paper_end_world(p, start);
    }
    const int stiffest = STIFFNESSES - 1;
    for (int kind = 0; kind < SOLVERS; kind++) {
        table->even_counts[kind][size] = even_number(
            &def, table->updates[kind][size], table->soft_steps[stiffest][size] * (double)grains);
        table->even_seconds[kind][size] =
            even_number(&def, table->seconds[kind][size], table->soft_seconds[stiffest][size]);
    }
    return TALUS_OK;
}

static talus_status measure_table(paper* p, cost_table* table)
{
    const int64_t most = p->brief ? (table->dim == 2 ? 512 : 256) : 2048;
    const int steps = p->brief ? 12 : 60;
    for (int64_t grains = 64; grains <= most; grains *= 2) {
        const int packings = p->brief || grains > 512 ? 1 : 4;
        TRY(measure_size(p, grains, packings, steps, table->sizes, table));
        table->sizes++;
        const double share = log2((double)grains / 32) / log2((double)most / 32);
        paper_progress(p, 0.5 * (table->dim - 2 + share * share));
    }
    return TALUS_OK;
}

// ---- a block that strikes a floor --------------------------------------------------------------

/// A block falls on a floor between two walls: sweeps of the step that stops it.
static talus_status strike(paper* p, int dim, int n, int solver, double* grains, double* sweeps)
{
    talus_world_def options = paper_world_default();
    options.dim = dim;
    options.seed = p->seed;
    options.threads = p->threads;
    options.solver = solver_of(solver, 0);
    talus_world* world = NULL;
    talus_step_result result = {0};
    TRY(paper_world(p, &options, &world));
    talus_pair_def law = talus_pair_default();
    law.friction = friction;
    TRY(talus_world_add_material(world, "ball", &law, NULL, &p->error));
    TRY(lattice_plane(p, world, "floor", dim - 1, 1, 0));
    TRY(lattice_plane(p, world, "left", 0, 1, -0.5));
    TRY(lattice_plane(p, world, "right", 0, -1, n - 0.5));
    TRY(lattice_block(p, world, n, 1, grains));
    TRY(talus_world_step(world, 0.01, &result, &p->error));
    *sweeps = (double)result.sweeps;
    paper_end_world(p, world);
    return TALUS_OK;
}

// ---- the table ---------------------------------------------------------------------------------

/// "2D: " or "3D: " and a text.
static const char* name_of(const cost_table* t, const char* text, char out[128])
{
    snprintf(out, 128, "%dD: %s", t->dim, text);
    return out;
}

static fit_line_result exponent(const cost_table* t, const double* values)
{
    return fit_power(t->sizes, t->grains, values);
}

static void judge_blocks(paper* p, const cost_table* t)
{
    char name[128];
    const double sweeps = 2.0 / t->dim;
    const fit_line_result papers =
        fit_power(BLOCKS, t->block_grains, t->block_sweeps[PAPERS_SOLVER]);
    const fit_line_result own = fit_power(BLOCKS, t->block_grains, t->block_sweeps[OWN_SOLVER]);
    paper_within(
        p, name_of(t, "block strikes floor, papers' solver: exponent of N_I in N", name),
        papers.slope, sweeps, 0.1,
        "BUW (1.34); a layer more or less in L/d changes it by 0.05 to 0.1 at these sizes");
    paper_between(p, name_of(t, "block strikes floor, own solver: exponent of N_I in N", name),
                  own.slope, 0, sweeps / 2 + 0.1, "L/d sweeps at most, likewise");
}

/// Largest over smallest.
static double spread(int count, const double* values)
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return high / low;
}

static void judge_counts(paper* p, const cost_table* t)
{
    char name[128];
    const double line = -4.0 / t->dim;
    const int last = t->sizes - 1;
    double steps[STIFFNESSES];
    for (int i = 0; i < STIFFNESSES; i++) steps[i] = t->soft_steps[i][last];
    paper_within(p, name_of(t, "MD, exponent of the steps in K", name),
                 fit_power(STIFFNESSES, stiffness, steps).slope, 0.5, 1e-6,
                 "BUW (1.36); tests only the formula by which the library chooses a step");
    paper_between(p, name_of(t, "MD, most steps over fewest, all N", name),
                  spread(t->sizes, t->soft_steps[STIFFNESSES - 1]), 1,
                  pow(1 + 6.64 / t->grains[0], 0.5 * t->dim),
                  "BUW (1.36): cost ~ N, steps do not depend on N. The lightest pair of N grains "
                  "sets them: two radii are below 1 + 6.64/N in 99 of 100 packings. Tests the "
                  "formula of the step, likewise");
    paper_within(
        p, name_of(t, "boundary by counts, N_I = N^(2/d) put in: exponent in N", name),
        exponent(t, t->even_counts[BUW_SWEEPS]).slope, line, 0.3,
        "BUW Fig. 1.6; since N_I is put in, only numbers of contacts and steps are tested; "
        "grains at walls, a share of 2 d N^(-1/d), have fewer contacts: up "
        "to 0.1 in the exponent of the updates; 0.05 for steps that are solved again");
    fit_line_result f = exponent(t, t->error[BUW_SWEEPS]);
    paper_between(p, name_of(t, "error of velocities with N_I = N^(2/d): exponent in N", name),
                  f.slope, -INFINITY, 2 * f.slope_error,
                  "BUW (1.34): so many sweeps are enough for any N; 2 errors of the fit");
    paper_between(p, name_of(t, "updates papers' solver/own solver, largest N", name),
                  t->updates[PAPERS_SOLVER][last] / t->updates[OWN_SOLVER][last], 2, INFINITY,
                  "(L/d)^2 sweeps against L/d: more than 2 wherever L/d > 2");
}

static void report_costs(paper* p, const cost_table* t)
{
    char name[128];
    const double line = -4.0 / t->dim;
    const int last = t->sizes - 1;
    const fit_line_result sweeps = exponent(t, t->sweeps[PAPERS_SOLVER]);
    paper_differs(p, name_of(t, "sweeps for an error of 0.1: exponent in N", name), sweeps.slope,
                  2.0 / t->dim,
                  "in the ordered block it is 2/d, see above. In flowing packings of so few grains "
                  "it differs from packing to packing, see the note, and is not judged");
    paper_note(p,
               "%dD, sweeps for an error of 0.1 by the papers' solver: %.1f N^(2/d) for N = %.0f, "
               "%.1f N^(2/d) for N = %.0f; exponent %.2f with a standard error of the fit of %.2f.",
               t->dim, t->sweeps[PAPERS_SOLVER][0] / pow(t->grains[0], 2.0 / t->dim), t->grains[0],
               t->sweeps[PAPERS_SOLVER][last] / pow(t->grains[last], 2.0 / t->dim), t->grains[last],
               sweeps.slope, sweeps.slope_error);
    const char* const names[SOLVERS] = {"boundary by seconds, N_I = N^(2/d): exponent in N",
                                        "boundary by seconds, papers' solver, error 0.1",
                                        "boundary by seconds, Talus, error 0.1"};
    for (int kind = 0; kind < SOLVERS; kind++)
        paper_differs(p, name_of(t, names[kind], name), exponent(t, t->even_seconds[kind]).slope,
                      line,
                      kind == BUW_SWEEPS
                          ? "a time, so never judged: a grain's share of the overhead of a step "
                            "depends on N, in both methods"
                          : "a time, so never judged, and sweeps do not grow like N^(2/d) here: "
                            "see their exponent");
    paper_note(p,
               "%dD, %.0f grains: CD with this project's solver is the cheaper method for "
               "m v^2/(K r^2) below %.1e, with the papers' solver below %.1e: the boundary moves "
               "by a factor of %.0f.",
               t->dim, t->grains[last], t->even_seconds[OWN_SOLVER][last],
               t->even_seconds[PAPERS_SOLVER][last],
               t->even_seconds[OWN_SOLVER][last] / t->even_seconds[PAPERS_SOLVER][last]);
}

// ---- files -------------------------------------------------------------------------------------

/// Lowest point of all boundaries.
static double lowest(const cost_table* t)
{
    double low = INFINITY;
    for (int kind = 0; kind < SOLVERS; kind++) {
        for (int i = 0; i < t->sizes; i++) low = fmin(low, t->even_seconds[kind][i]);
    }
    return low;
}

/// Fig. 1.6 with the measured boundaries.
static talus_status draw_domains(paper* p, const cost_table* t, int panel, talus_figure* figure)
{
    char title[64];
    snprintf(title, sizeof title, "Fig. 1.6 measured, d = %d (seconds)", t->dim);
    talus_axes_def axes = plot_axes_def(title, "N", "m v^{2} / (K r^{2})", "xy");
    axes.legend = TALUS_LEGEND_BOTTOM_LEFT;
    axes.x_low = 0.7 * t->grains[0];
    axes.x_high = 1.5 * t->grains[t->sizes - 1];
    axes.y_low = 1e-3 * lowest(t); // room for the legend
    axes.y_high = 100 * t->even_seconds[OWN_SOLVER][0];
    TRY(talus_figure_axes(figure, panel, &axes, &p->error));
    for (int kind = 0; kind < SOLVERS; kind++) {
        const plot_style style = {kind, TALUS_CURVE_LINE_DOTS, TALUS_DASH_SOLID};
        TRY(plot_curve(p, figure, panel, style, solver_names[kind], t->sizes, t->grains,
                       t->even_seconds[kind]));
    }
    const double ends[2] = {t->grains[0], t->grains[t->sizes - 1]};
    const double y = t->even_seconds[BUW_SWEEPS][t->sizes / 2], x = t->grains[t->sizes / 2];
    const double guide[2] = {y * pow(ends[0] / x, -4.0 / t->dim),
                             y * pow(ends[1] / x, -4.0 / t->dim)};
    const plot_style dashed = {6, TALUS_CURVE_LINE, TALUS_DASH_DASHED};
    TRY(plot_curve(p, figure, panel, dashed, "slope -4/d", 2, ends, guide));
    TRY(talus_figure_text(figure, panel, 1.2 * t->grains[t->sizes / 2], 0.2 * axes.y_high,
                          "MD is cheaper", &p->error));
    return talus_figure_text(figure, panel, 1.2 * t->grains[t->sizes / 2], 5 * axes.y_low,
                             "CD is cheaper", &p->error);
}

static talus_status draw_sweeps(paper* p, const cost_table* t, int panel, talus_figure* figure)
{
    char title[64];
    snprintf(title, sizeof title, "Sweeps a step, d = %d", t->dim);
    talus_axes_def axes = plot_axes_def(title, "N", "N_{I}", "xy");
    axes.y_low = 1;
    axes.y_high = 1e5;
    axes.legend = TALUS_LEGEND_TOP_LEFT;
    TRY(talus_figure_axes(figure, panel, &axes, &p->error));
    for (int kind = 0; kind < SOLVERS; kind++) {
        const plot_style style = {kind, TALUS_CURVE_LINE_DOTS, TALUS_DASH_SOLID};
        TRY(plot_curve(p, figure, panel, style, solver_names[kind], t->sizes, t->grains,
                       t->sweeps[kind]));
    }
    const char* const blocks[SOLVERS] = {NULL, "block, random sweeps", "block, Talus"};
    for (int kind = PAPERS_SOLVER; kind <= OWN_SOLVER; kind++) {
        const plot_style style = {kind + 2, TALUS_CURVE_LINE_DOTS, TALUS_DASH_DOTTED};
        TRY(plot_curve(p, figure, panel, style, blocks[kind], BLOCKS, t->block_grains,
                       t->block_sweeps[kind]));
    }
    return TALUS_OK;
}

/// Seconds against K for the largest packing.
static talus_status draw_costs(paper* p, const cost_table* t, int panel, talus_figure* figure)
{
    char title[64];
    const int last = t->sizes - 1;
    snprintf(title, sizeof title, "%.0f grains, d = %d", t->grains[last], t->dim);
    talus_axes_def axes = plot_axes_def(title, "K / p", "processor seconds a unit of time", "xy");
    axes.y_low = 1e-4;
    axes.y_high = 10;
    axes.legend = TALUS_LEGEND_BOTTOM_LEFT;
    TRY(talus_figure_axes(figure, panel, &axes, &p->error));
    double soft[STIFFNESSES];
    for (int i = 0; i < STIFFNESSES; i++) soft[i] = t->soft_seconds[i][last];
    const plot_style dots = {4, TALUS_CURVE_LINE_DOTS, TALUS_DASH_SOLID};
    TRY(plot_curve(p, figure, panel, dots, "MD", STIFFNESSES, stiffness, soft));
    const double ends[2] = {stiffness[0], stiffness[STIFFNESSES - 1]};
    for (int kind = 0; kind < SOLVERS; kind++) {
        const double flat[2] = {t->seconds[kind][last], t->seconds[kind][last]};
        const plot_style line = {.colour = kind};
        TRY(plot_curve(p, figure, panel, line, solver_names[kind], 2, ends, flat));
    }
    return TALUS_OK;
}

static talus_status draw(paper* p, const cost_table tables[2])
{
    talus_figure* figure;
    TRY(plot_figure(p, 3, 2, &figure));
    for (int i = 0; i < 2; i++) {
        TRY(draw_domains(p, &tables[i], 3 * i, figure));
        TRY(draw_sweeps(p, &tables[i], 3 * i + 1, figure));
        TRY(draw_costs(p, &tables[i], 3 * i + 2, figure));
    }
    return paper_figure(p, NULL, figure,
                        "Left: above a line soft particles are cheaper, below it Contact Dynamics; "
                        "BUW's Fig. 1.6 has the slope -4/d. The line of the faster solver lies "
                        "higher: the domain of Contact Dynamics grows.");
}

static talus_status publish(paper* p, const cost_table tables[2])
{
    for (int i = 0; i < 2; i++) {
        const cost_table* t = &tables[i];
        const paper_column columns[] = {{"N", t->grains},
                                        {"sweeps(papers)", t->sweeps[PAPERS_SOLVER]},
                                        {"sweeps(talus)", t->sweeps[OWN_SOLVER]},
                                        {"updates(N^(2/d))", t->updates[BUW_SWEEPS]},
                                        {"updates(papers)", t->updates[PAPERS_SOLVER]},
                                        {"updates(talus)", t->updates[OWN_SOLVER]},
                                        {"seconds(N^(2/d))", t->seconds[BUW_SWEEPS]},
                                        {"seconds(papers)", t->seconds[PAPERS_SOLVER]},
                                        {"seconds(talus)", t->seconds[OWN_SOLVER]},
                                        {"steps(MD K=1e4)", t->soft_steps[2]},
                                        {"seconds(MD K=1e2)", t->soft_seconds[0]},
                                        {"seconds(MD K=1e3)", t->soft_seconds[1]},
                                        {"seconds(MD K=1e4)", t->soft_seconds[2]}};
        TRY(paper_csv(p, i == 0 ? "2d" : "3d", t->sizes, 13, columns));
    }
    return draw(p, tables);
}

static talus_status run(paper* p)
{
    cost_table* tables = paper_alloc(p, 2, sizeof *tables);
    if (!tables) return TALUS_ERR_MEMORY;
    for (int i = 0; i < 2; i++) {
        tables[i].dim = 2 + i;
        TRY(measure_table(p, &tables[i]));
        cost_table* t = &tables[i];
        for (int k = 0; k < BLOCKS; k++) {
            const int n = (int)lround((t->dim == 2 ? 8 : 4) * pow(t->dim == 2 ? 5 : 3, k / 4.0));
            for (int kind = PAPERS_SOLVER; kind <= OWN_SOLVER; kind++)
                TRY(strike(p, t->dim, n, kind, &t->block_grains[k], &t->block_sweeps[kind][k]));
        }
        judge_blocks(p, &tables[i]);
        judge_counts(p, &tables[i]);
        report_costs(p, &tables[i]);
    }
    paper_note(p, "BUW give no scene. Ours: radii from 1 to 2, friction 0.3, density and pressure "
                  "1, rate of strain 0.03 (inertial number 0.09). A slower one needs more sweeps "
                  "for the same error.");
    return publish(p, tables);
}

const paper_experiment paper_cd_vs_md = {
    .name = "cd-vs-md",
    .title = "Contact Dynamics or soft particles: what is cheaper?",
    .source = "Brendel, Unger & Wolf, section 1.6, Fig. 1.6",
    .about =
        "A dense packing is deformed at a constant rate, with Contact Dynamics and with soft "
        "particles of several stiffnesses, for many sizes. From the measured costs follows the "
        "stiffness at which both cost the same: the line that parts the domains of the two methods "
        "in Fig. 1.6, with the papers' solver and with this project's.",
    .run = run,
};
