/// Cohesion with a strength and an energy: a bond pulled apart, and the compaction of a powder
/// (BUW 1.8, Fig. 1.9; the references [3, 4] of BUW on porosity).
///
/// A bond bears a tension up to F_C. If that were all (Fig. 1.9a), a shock of momentum p would be a
/// force p/h and break every bond that it pulls at when only h is small enough: the momentum it
/// bears is p = F_C h. So a bond also has an energy E_C, which the tension must spend over the
/// range d_C = E_C/F_C (Fig. 1.9b): a pair of reduced mass m that is given the kinetic energy E
/// parts with E - E_C, and the momentum it bears is p_C = sqrt(2 m E_C) for every h well below the
/// time t_C = p_C/F_C in which a bond stops it. In Euler's scheme the velocity falls by a h in each
/// step, a = F_C/m, and the way is v_0 n h - a h^2 n(n + 1)/2 after n steps, at most v_0^2/2a -
/// v_0 h/2 up to O(h^2). The bond holds while this is not beyond d_C: up to p_C (1 + h/2t_C).
///
/// The powder: disks at random places in a periodic box are pressed by a piston whose stress is
/// raised in steps; after each step the piston comes to rest and the porosity is measured: with
/// cohesion and rolling friction, with cohesion alone, with neither. Grains being rigid, F_C is the
/// only force and F_C/d the only stress: porosity is a function of sigma d/F_C (2D).
///
/// Lengths are in mean diameters, masses in those of a mean disk, forces in F_C.
#include "fit.h"
#include "paper.h"
#include "plot.h"
#include "powder.h"
#include <math.h>

// ---- one bond ----------------------------------------------------------------------------------

static const double RANGE = 0.05;       // d_C of all bonds
static const double REDUCED_MASS = 0.5; // of the pair

/// Law with the strength F_C = 1.
static talus_pair_def bond_law(double range)
{
    talus_pair_def law = talus_pair_default();
    law.cohesion_force = 1;
    law.cohesion_energy = range;
    return law;
}

/// Two disks of diameter 1 and mass 1 at rest, which touch and so are bonded after a step.
static talus_status make_pair(paper* p, double range, double h, talus_world** out)
{
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.solver.stop = TALUS_STOP_RESIDUAL;
    def.solver.tolerance = 1e-13;
    TRY(talus_world_create(&def, out, &p->error));
    talus_pair_def law = bond_law(range);
    TRY(talus_world_add_material(*out, "powder", &law, NULL, &p->error));
    for (int i = 0; i < 2; i++) {
        talus_grain_def disk = talus_grain_default();
        disk.radius = 0.5;
        disk.mass = 1;
        disk.position[0] = i;
        TRY(talus_world_add_grain(*out, &disk, NULL, &p->error));
    }
    return talus_world_step(*out, h, NULL, &p->error);
}

static bool is_bonded(const talus_world* world)
{
    talus_contacts c = talus_world_contacts(world);
    return c.count == 1 && c.bonded[0];
}

/// What is done to a pair: a shock, or a lasting pull.
typedef struct pull {
    double range, h;
    double momentum; ///< of the shock on each disk, passed on within one step: a force momentum/h
    double force;    ///< that goes on pulling
    double time;
} pull;

typedef struct pull_end {
    bool holds;    ///< the bond is not broken after `time`
    double gap;    ///< between the disks
    double energy; ///< kinetic, of the relative motion
} pull_end;

static talus_status set_pull(paper* p, talus_world* world, double force)
{
    for (int i = 0; i < 2; i++) {
        const double pulled[3] = {i == 0 ? -force : force}, torque[3] = {0};
        TRY(talus_world_set_grain_force(world, i, pulled, torque, &p->error));
    }
    return TALUS_OK;
}

static talus_status pull_at(paper* p, const pull* def, talus_world* world, pull_end* end)
{
    TRY(set_pull(p, world, def->force + def->momentum / def->h));
    end->holds = true;
    for (double t = 0; t < def->time && end->holds; t += def->h) {
        TRY(talus_world_step(world, def->h, NULL, &p->error));
        TRY(set_pull(p, world, def->force));
        end->holds = is_bonded(world);
    }
    talus_grains g = talus_world_grains(world);
    double v = g.velocity[2] - g.velocity[0];
    end->gap = g.position[2] - g.position[0] - 1;
    end->energy = 0.5 * REDUCED_MASS * v * v;
    return TALUS_OK;
}

/// Pull a bonded pair apart, and see whether it holds.
static talus_status try_bond(paper* p, const pull* def, pull_end* end)
{
    talus_world* world = NULL;
    talus_status status = make_pair(p, def->range, def->h, &world);
    if (status >= 0) status = pull_at(p, def, world, end);
    talus_world_destroy(world);
    return status;
}

/// Smallest value of *field, a member of *def, that breaks the bond: between 0 and `high`.
static talus_status find_limit(paper* p, pull* def, double* field, double high, double* limit)
{
    double low = 0;
    for (int i = 0; i < 30; i++) {
        pull_end end;
        *field = 0.5 * (low + high);
        TRY(try_bond(p, def, &end));
        *(end.holds ? &low : &high) = *field;
    }
    *limit = 0.5 * (low + high);
    return TALUS_OK;
}

/// Force at which a bond opens, and that just below it does not.
static talus_status state_strength(paper* p, double stop_time)
{
    const double h = 0.05 * stop_time;
    double low = 0, high = 2;
    for (int i = 0; i < 40; i++) {
        pull def = {.range = RANGE, .h = h, .force = 0.5 * (low + high), .time = 20 * stop_time};
        pull_end end;
        TRY(try_bond(p, &def, &end));
        *(end.gap > 1e-9 ? &high : &low) = def.force;
    }
    paper_within(p, "pull at which a bond opens, F_C", high, 1, 1e-7,
                 "the law; an excess of 1e-7 opens a gap of more than 1e-9 in the time given");
    pull def = {.range = RANGE, .h = h, .force = 1 - 1e-6, .time = 200 * stop_time};
    pull_end end;
    TRY(try_bond(p, &def, &end));
    paper_within(p, "gap after 4000 steps at (1 - 1e-6) F_C, d", end.gap, 0, 1e-9,
                 "a bond holds for ever below its strength; rounding");
    return TALUS_OK;
}

enum { ENERGIES = 9 };

/// Energy left after the bond against the energy before.
static talus_status state_energy(paper* p, double stop_time, double* before, double* after)
{
    const double h = 2e-3 * stop_time;
    double worst = 0;
    for (int i = 0; i < ENERGIES; i++) {
        before[i] = 0.25 + 0.4 * i; // E_C
        pull def = {.range = RANGE,
                    .h = h,
                    .momentum = sqrt(2 * REDUCED_MASS * RANGE * before[i]),
                    .time = 3 * stop_time};
        pull_end end;
        TRY(try_bond(p, &def, &end));
        after[i] = end.holds ? 0 : end.energy / RANGE;
        worst = fmax(worst, fabs(after[i] - fmax(before[i] - 1, 0)));
    }
    paper_within(p, "energy left after separation: largest |E - (E_0 - E_C)|, E_C", worst, 0,
                 h / stop_time, "Euler's error F_C h (v_0 - v)/2, at most h/t_C of E_C");
    return TALUS_OK;
}

enum { STEPS = 8 };

/// Momentum that a bond bears, in p_C, against the step, with range and without.
static talus_status state_shock(paper* p, double stop_time, double* step, double* with,
                                double* without)
{
    const double borne = sqrt(2 * REDUCED_MASS * RANGE);
    double worst = 0;
    for (int i = 0; i < STEPS; i++) {
        step[i] = 10 * pow(2.5, -i); // t_C
        pull def = {.h = step[i] * stop_time, .time = (2 + 2 * step[i]) * stop_time};
        const double high = 3 * borne * (1 + step[i]);
        TRY(find_limit(p, &def, &def.momentum, high, &without[i]));
        def.range = RANGE;
        TRY(find_limit(p, &def, &def.momentum, high, &with[i]));
        with[i] /= borne, without[i] /= borne;
        if (step[i] > 0.3) continue;
        worst = fmax(worst, fabs(with[i] - 1 - 0.5 * step[i]) / (step[i] * step[i]));
    }
    paper_within(p, "with range: momentum borne at the smallest h, p_C", with[STEPS - 1], 1,
                 step[STEPS - 1], "p_C = sqrt(2 m E_C), to first order in h/t_C");
    paper_between(p, "with range: largest (p/p_C - 1 - h/2t_C)/(h/t_C)^2 for h < 0.3 t_C", worst, 0,
                  1, "Euler's sum: what is left is of second order");
    fit_line_result fit = fit_power(STEPS, step, without);
    paper_within(
        p, "without range: exponent of p ~ h^x", fit.slope, 1, 1e-3,
        "p = F_C h; gaps below 1e-9 r are taken for rounding, 1e-4 of p at the smallest h");
    paper_within(p, "without range: p/(F_C h) at the smallest h",
                 without[STEPS - 1] * borne / (step[STEPS - 1] * stop_time), 1, 1e-3, "the same");
    return TALUS_OK;
}

static talus_status draw_energy(paper* p, talus_figure* figure, const double* before,
                                const double* after)
{
    const double x[] = {0, 1, before[ENERGIES - 1]}, y[] = {0, 0, before[ENERGIES - 1] - 1};
    TRY(plot_axes(p, figure, 0, NULL, "energy of the shock E/E_{C}", "energy left E'/E_{C}", ""));
    TRY(plot_curve(p, figure, 0, (plot_style){1, TALUS_CURVE_DOTS, TALUS_DASH_SOLID},
                   "measured, h = 0.002 t_{C}", ENERGIES, before, after));
    return plot_curve(p, figure, 0, (plot_style){0, TALUS_CURVE_LINE, TALUS_DASH_SOLID},
                      "E − E_{C}", 3, x, y);
}

static talus_status draw_shock(paper* p, talus_figure* figure, const double* step,
                               const double* with, const double* without)
{
    TRY(plot_axes(p, figure, 1, NULL, "step h/t_{C}", "momentum that the bond bears p/p_{C}",
                  "xy"));
    TRY(plot_curve(p, figure, 1, (plot_style){1, TALUS_CURVE_DOTS, TALUS_DASH_SOLID},
                   "with range d_{C}, Fig. 1.9(b)", STEPS, step, with));
    TRY(plot_curve(p, figure, 1, (plot_style){2, TALUS_CURVE_DOTS, TALUS_DASH_SOLID},
                   "without range, Fig. 1.9(a)", STEPS, step, without));
    TRY(plot_curve(p, figure, 1, (plot_style){0, TALUS_CURVE_LINE, TALUS_DASH_DASHED},
                   "p = F_{C} h", STEPS, step, step));
    return talus_figure_mark(figure, 1, false, 1, "p_{C}", &p->error);
}

static talus_status draw_bond(paper* p, const double* before, const double* after,
                              const double* step, const double* with, const double* without)
{
    talus_figure_def def = talus_figure_default();
    def.columns = 2;
    talus_figure* figure = NULL;
    TRY(talus_figure_create(&def, &figure, &p->error));
    talus_status status = draw_energy(p, figure, before, after);
    if (status >= 0) status = draw_shock(p, figure, step, with, without);
    if (status >= 0) {
        status = paper_figure(p, "pull", figure,
                              "One bond under a shock. Left: energy of the relative motion after "
                              "the bond against that before. Right: the momentum that just breaks "
                              "the bond, against the step; without a range it is the step that "
                              "decides.");
    }
    talus_figure_destroy(figure);
    return status;
}

static talus_status study_bond(paper* p)
{
    const double stop_time = sqrt(2 * REDUCED_MASS * RANGE); // t_C = p_C/F_C
    double before[ENERGIES], after[ENERGIES], step[STEPS], with[STEPS], without[STEPS];
    TRY(state_strength(p, stop_time));
    TRY(state_energy(p, stop_time, before, after));
    TRY(state_shock(p, stop_time, step, with, without));
    const paper_column energy[] = {{"E/E_C", before}, {"energy left/E_C", after}};
    const paper_column shock[] = {
        {"h/t_C", step}, {"p/p_C with range", with}, {"p/p_C without", without}};
    TRY(paper_csv(p, "energy", ENERGIES, 2, energy));
    TRY(paper_csv(p, "shock", STEPS, 3, shock));
    return draw_bond(p, before, after, step, with, without);
}

// ---- porosity against stress -------------------------------------------------------------------

/// Raise the stress from step to step; porosity[k] is what each leaves.
static talus_status compact(paper* p, const powder_def* def, int count, const double* stress,
                            double* porosity)
{
    talus_world* world = NULL;
    talus_status status = powder_make(p, def, &world);
    for (int k = 0; k < count && status >= 0; k++) {
        status = powder_press(p, def, stress[k], world, &porosity[k]);
    }
    talus_world_destroy(world);
    return status;
}

enum { MOST_STRESSES = 10, MOST_SEEDS = 3 };

/// Kinds of powder. SCALED is ROLLING with forces times 4 and times halved; STRONGER has forces
/// times 4 with h and the piston's speed as before.
enum { ROLLING, COHESIVE, PLAIN, STRONGER, SCALED, KINDS };

typedef struct study {
    int64_t disks;
    double width;
    int stresses, seeds;
    double stress[MOST_STRESSES]; ///< F_C/d
    double porosity[KINDS][MOST_SEEDS][MOST_STRESSES];
    double mean[KINDS][MOST_STRESSES], error[KINDS][MOST_STRESSES];
    double spread[MOST_STRESSES]; ///< error of the difference of two means, from all kinds
} study;

static study plan(const paper* p)
{
    study s = {.disks = 200, .width = 14, .stresses = MOST_STRESSES, .seeds = 3};
    if (p->brief) s.disks = 40, s.width = 6.5, s.stresses = 3, s.seeds = 2;
    const double factor = p->brief ? 16 : 2;
    for (int k = 0; k < s.stresses; k++) s.stress[k] = 0.02 * pow(factor, k);
    return s;
}

static powder_def powder_of(const paper* p, const study* s, int kind, int seed)
{
    powder_def def = powder_default();
    def.disks = s->disks, def.width = s->width;
    def.seed = p->seed * 1000 + (uint64_t)seed;
    def.range = RANGE;
    if (p->brief) def.speed *= 2;
    if (kind != PLAIN) def.cohesion = 1;
    if (kind != PLAIN && kind != COHESIVE) def.rolling = 0.2;
    if (kind == STRONGER || kind == SCALED) def.unit = 4;
    if (kind == SCALED) def.step /= 2, def.speed *= 2;
    return def;
}

static talus_status compact_all(paper* p, study* s)
{
    const int total = (KINDS - 1) * s->seeds + 1;
    int done = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < (kind == SCALED ? 1 : s->seeds); i++) {
            powder_def def = powder_of(p, s, kind, i);
            TRY(compact(p, &def, s->stresses, s->stress, s->porosity[kind][i]));
            paper_progress(p, (double)++done / total);
        }
    }
    return TALUS_OK;
}

/// Means over the seeds.
static void sum_up(study* s)
{
    for (int k = 0; k < s->stresses; k++) {
        double variance = 0;
        for (int kind = 0; kind < SCALED; kind++) {
            double values[MOST_SEEDS];
            for (int i = 0; i < s->seeds; i++) values[i] = s->porosity[kind][i][k];
            fit_mean_result m = fit_mean(s->seeds, values);
            s->mean[kind][k] = m.mean;
            s->error[kind][k] = m.error;
            variance += m.error * m.error / SCALED;
        }
        s->spread[k] = sqrt(2 * variance);
    }
}

/// Largest rise of a mean porosity from one stress to the next.
static double largest_rise(const study* s, int kind)
{
    double rise = -1;
    for (int k = 1; k < s->stresses; k++) {
        rise = fmax(rise, s->mean[kind][k] - s->mean[kind][k - 1]);
    }
    return rise;
}

static void state_porosity(paper* p, const study* s)
{
    const int last = s->stresses - 1;
    const double low = 3 * s->spread[0];
    paper_between(p, "cohesion, rolling: largest rise of porosity with stress",
                  largest_rise(s, ROLLING), -1, 1e-3, "pressing never opens pores; rest of motion");
    paper_between(p, "cohesion alone: largest rise of porosity with stress",
                  largest_rise(s, COHESIVE), -1, 1e-3, "the same");
    paper_between(p, "porosity gained by rolling friction, at the lowest stress",
                  s->mean[ROLLING][0] - s->mean[COHESIVE][0], low, 1,
                  "contact torques stabilise pores (BUW [3]); three standard errors");
    paper_between(p, "porosity gained by cohesion alone, at the lowest stress",
                  s->mean[COHESIVE][0] - s->mean[PLAIN][0], low, 1,
                  "bonds stabilise pores; three standard errors");
    paper_between(p, "cohesion, rolling: porosity lost up to the highest stress",
                  s->mean[ROLLING][0] - s->mean[ROLLING][last], low, 1,
                  "stress beyond F_C/d breaks what held the pores; three standard errors");
    paper_within(p, "neither: porosity lost up to the highest stress",
                 s->mean[PLAIN][0] - s->mean[PLAIN][last], 0, s->spread[0],
                 "rigid grains without a force of their own know no stress; one standard error "
                 "for late rearrangements");
}

static void state_scaling(paper* p, const study* s)
{
    double exact = 0, square = 0;
    for (int k = 0; k < s->stresses; k++) {
        double other = (s->mean[STRONGER][k] - s->mean[ROLLING][k]) / s->spread[k];
        exact = fmax(exact, fabs(s->porosity[SCALED][0][k] - s->porosity[ROLLING][0][k]));
        square += other * other / s->stresses;
    }
    paper_within(p, "forces times 4, times halved: change of porosity", exact, 0, 1e-12,
                 "sigma d/F_C is the only number: the same trajectory, rounding included");
    paper_between(p, "forces times 4, h and piston as before: change, standard errors",
                  sqrt(square), 0, 3,
                  "slow pressing: how fast does not matter; root mean square over the stresses");
}

/// Fit porosity ~ stress^-x where it falls, and say what came out.
static void note_power(paper* p, const study* s)
{
    int first = 0;
    while (first < s->stresses - 3 && s->stress[first] < 0.15) first++;
    const int count = s->stresses - first;
    fit_line_result fit[2];
    for (int kind = ROLLING; kind <= COHESIVE; kind++) {
        fit[kind] = fit_power(count, s->stress + first, s->mean[kind] + first);
    }
    paper_note(p,
               "BUW report from [4] a power law between stress and porosity; neither its form nor "
               "its exponent is in the text. Porosity ~ stress^-x from %.2g F_C/d on gives x = "
               "%.3f +- %.3f with rolling friction, %.3f +- %.3f without.",
               s->stress[first], -fit[ROLLING].slope, fit[ROLLING].slope_error,
               -fit[COHESIVE].slope, fit[COHESIVE].slope_error);
}

// ---- files -------------------------------------------------------------------------------------

static talus_status write_porosity(paper* p, const study* s)
{
    const paper_column columns[] = {
        {"stress d/F_C", s->stress},   {"cohesion and rolling", s->mean[ROLLING]},
        {"error", s->error[ROLLING]},  {"cohesion", s->mean[COHESIVE]},
        {"error", s->error[COHESIVE]}, {"neither", s->mean[PLAIN]},
        {"error", s->error[PLAIN]},    {"4 F_C", s->mean[STRONGER]},
        {"error", s->error[STRONGER]}};
    return paper_csv(p, NULL, s->stresses, 9, columns);
}

static talus_status draw_porosity(paper* p, const study* s, talus_figure* figure)
{
    const char* labels[] = {"cohesion and rolling friction", "cohesion", "neither",
                            "cohesion and rolling, 4 F_{C}"};
    talus_axes_def axes = talus_axes_default();
    axes.x_label = "stress σ d/F_{C}";
    axes.y_label = "porosity";
    axes.x_log = axes.y_log = true;
    axes.y_low = 0.15, axes.y_high = 0.6;
    TRY(talus_figure_axes(figure, 0, &axes, &p->error));
    for (int kind = 0; kind < SCALED; kind++) {
        talus_curve_def curve = talus_curve_default();
        curve.label = labels[kind];
        curve.x = s->stress, curve.y = s->mean[kind], curve.y_error = s->error[kind];
        curve.count = s->stresses;
        curve.style = kind == STRONGER ? TALUS_CURVE_DOTS : TALUS_CURVE_LINE_DOTS;
        TRY(talus_figure_curve(figure, 0, &curve, &p->error));
    }
    return TALUS_OK;
}

static talus_status figure_of_porosity(paper* p, const study* s)
{
    talus_figure_def def = talus_figure_default();
    def.panel_width = 480, def.panel_height = 360;
    talus_figure* figure = NULL;
    TRY(talus_figure_create(&def, &figure, &p->error));
    talus_status status = draw_porosity(p, s, figure);
    if (status >= 0) {
        status = paper_figure(p, NULL, figure,
                              "Porosity of a powder after uniaxial compaction against the stress, "
                              "mean over seeds. Cohesion keeps pores open, rolling friction keeps "
                              "more; without both the stress does not matter.");
    }
    talus_figure_destroy(figure);
    return status;
}

static talus_status run_cohesion(paper* p)
{
    TRY(study_bond(p));
    study s = plan(p);
    TRY(compact_all(p, &s));
    sum_up(&s);
    state_porosity(p, &s);
    state_scaling(p, &s);
    note_power(p, &s);
    TRY(write_porosity(p, &s));
    TRY(figure_of_porosity(p, &s));
    const powder_def used = powder_of(p, &s, ROLLING, 0);
    paper_note(p,
               "BUW give no numbers of the compaction; those of [3] and [4] are not in the text. "
               "Ours: %lld disks, radii within 20 %% of the mean, friction %g, rolling friction "
               "%g r*, range %g d, periodic sides, %g of the area covered at the start, a piston "
               "that moves at %g sqrt(F_C d/m) when nothing resists.",
               (long long)used.disks, used.friction, used.rolling, used.range, used.covered,
               used.speed);
    return TALUS_OK;
}

const paper_experiment paper_cohesion = {
    .name = "cohesion",
    .title = "Cohesive bonds with strength and energy; compaction of a powder",
    .source = "Brendel, Unger, Wolf, section 1.8 and Fig. 1.9, references [3] and [4]",
    .about = "A bond is pulled apart: it opens at the force F_C, costs the energy E_C, and bears a "
             "shock whatever the step; without a range the shock that breaks it shrinks with the "
             "step. Then a piston compacts a loose powder of disks: porosity falls with stress, is "
             "larger with cohesion and still larger with rolling friction, and depends on "
             "stress times diameter over F_C only.",
    .run = run_cohesion,
};
