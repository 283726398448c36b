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
#include "bond.h"
#include "fit.h"
#include "paper.h"
#include "plot.h"
#include "powder.h"
#include <math.h>

// ---- one bond ----------------------------------------------------------------------------------

static const double RANGE = 0.05; // d_C of all bonds

/// Force at which a bond opens, and that just below it does not.
static talus_status state_strength(paper* p, double stop_time)
{
    const double h = 0.05 * stop_time;
    double low = 0, high = 2;
    for (int i = 0; i < 40; i++) {
        bond_pull def = {
            .range = RANGE, .h = h, .force = 0.5 * (low + high), .time = 20 * stop_time};
        bond_end end;
        TRY(bond_try(p, &def, &end));
        *(end.gap > 1e-9 ? &high : &low) = def.force;
    }
    paper_within(p, "pull at which a bond opens, F_C", high, 1, 1e-7,
                 "the law; an excess of 1e-7 opens a gap of more than 1e-9 in the time given");
    bond_pull def = {.range = RANGE, .h = h, .force = 1 - 1e-6, .time = 200 * stop_time};
    bond_end end;
    TRY(bond_try(p, &def, &end));
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
        bond_pull def = {.range = RANGE,
                         .h = h,
                         .momentum = sqrt(2 * BOND_REDUCED_MASS * RANGE * before[i]),
                         .time = 3 * stop_time};
        bond_end end;
        TRY(bond_try(p, &def, &end));
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
    const double borne = sqrt(2 * BOND_REDUCED_MASS * RANGE);
    double worst = 0;
    for (int i = 0; i < STEPS; i++) {
        step[i] = 10 * pow(2.5, -i); // t_C
        bond_pull def = {.h = step[i] * stop_time, .time = (2 + 2 * step[i]) * stop_time};
        const double high = 3 * borne * (1 + step[i]);
        TRY(bond_find_limit(p, &def, &def.momentum, high, &without[i]));
        def.range = RANGE;
        TRY(bond_find_limit(p, &def, &def.momentum, high, &with[i]));
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
                 without[STEPS - 1] * borne / (step[STEPS - 1] * stop_time), 1, 1e-3,
                 "p = F_C h, with the same rounding");
    return TALUS_OK;
}

static talus_status draw_bond(paper* p, const double* before, const double* after,
                              const double* step, const double* with, const double* without)
{
    talus_figure* figure;
    TRY(plot_figure(p, 2, 1, &figure));
    const double x[] = {0, 1, before[ENERGIES - 1]}, y[] = {0, 0, before[ENERGIES - 1] - 1};
    TRY(plot_axes(p, figure, 0, NULL, "energy of the shock E/E_{C}", "energy left E'/E_{C}", ""));
    TRY(plot_curve(p, figure, 0, (plot_style){1, TALUS_CURVE_DOTS, TALUS_DASH_SOLID},
                   "measured, h = 0.002 t_{C}", ENERGIES, before, after));
    TRY(plot_curve(p, figure, 0, (plot_style){0, TALUS_CURVE_LINE, TALUS_DASH_SOLID}, "E − E_{C}",
                   3, x, y));
    TRY(plot_axes(p, figure, 1, NULL, "step h/t_{C}", "momentum that the bond bears p/p_{C}",
                  "xy"));
    TRY(plot_curve(p, figure, 1, (plot_style){1, TALUS_CURVE_DOTS, TALUS_DASH_SOLID},
                   "with range d_{C}, Fig. 1.9(b)", STEPS, step, with));
    TRY(plot_curve(p, figure, 1, (plot_style){2, TALUS_CURVE_DOTS, TALUS_DASH_SOLID},
                   "without range, Fig. 1.9(a)", STEPS, step, without));
    TRY(plot_curve(p, figure, 1, (plot_style){0, TALUS_CURVE_LINE, TALUS_DASH_DASHED},
                   "p = F_{C} h", STEPS, step, step));
    TRY(talus_figure_mark(figure, 1, false, 1, "p_{C}", &p->error));
    return paper_figure(p, "pull", figure,
                        "One bond under a shock. Left: energy of the relative motion after the "
                        "bond against that before. Right: the momentum that just breaks the bond, "
                        "against the step; without a range it is the step that decides.");
}

static talus_status study_bond(paper* p)
{
    const double stop_time = sqrt(2 * BOND_REDUCED_MASS * RANGE); // t_C = p_C/F_C
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
    if (p->brief) s.disks = 40, s.width = 6.5, s.stresses = 4, s.seeds = 2;
    const double factor = p->brief ? 4 : 2;
    s.stress[0] = 0.02;
    for (int k = 1; k < s.stresses; k++) s.stress[k] = (p->brief ? 0.08 : 0.02) * pow(factor, k);
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
            talus_world* world;
            TRY(powder_make(p, &def, &world));
            for (int k = 0; k < s->stresses; k++) { // raised from step to step
                TRY(powder_press(p, &def, s->stress[k], world, &s->porosity[kind][i][k]));
            }
            paper_end_world(p, world);
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
    paper_between(p, "cohesion: largest rise of porosity from one stress to the next",
                  fmax(largest_rise(s, ROLLING), largest_rise(s, COHESIVE)), -1, 1e-3,
                  "pressing never opens pores; rest of motion");
    paper_between(p, "porosity gained by rolling friction, at the lowest stress",
                  s->mean[ROLLING][0] - s->mean[COHESIVE][0], low, 1,
                  "a chain of bonds cannot bend where disks cannot roll (BUW report that [3] "
                  "investigated this, not with which result); three standard errors");
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

/// First stress of the power law: below it nearly all bonds hold, and porosity hardly falls.
static int end_of_plateau(const study* s)
{
    int first = 0;
    while (s->stress[first] < 0.15) first++;
    return first;
}

/// Standard error of a mean porosity beyond the plateau: one number from all cohesive powders,
/// since two or three seeds alone do not tell it.
static double error_beyond_plateau(const study* s)
{
    static const int cohesive[] = {ROLLING, COHESIVE, STRONGER};
    const int first = end_of_plateau(s);
    double variance = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = first; k < s->stresses; k++) {
            const double error = s->error[cohesive[i]][k];
            variance += error * error / (3 * (s->stresses - first));
        }
    }
    return sqrt(variance);
}

/// Fit porosity ~ stress^-x beyond the plateau. *scatter is the root mean square of what is left,
/// for a degree of freedom and in standard errors of a mean porosity.
static fit_line_result fit_compaction(const study* s, int kind, double* scatter)
{
    const int first = end_of_plateau(s), count = s->stresses - first;
    const fit_line_result fit = fit_power(count, s->stress + first, s->mean[kind] + first);
    double square = 0;
    for (int k = first; k < s->stresses; k++) {
        const double law = exp(fit.intercept) * pow(s->stress[k], fit.slope);
        const double off = (s->mean[kind][k] - law) / error_beyond_plateau(s);
        square += off * off / (count - 2);
    }
    *scatter = sqrt(square);
    return fit;
}

/// Exponent between two stresses.
static double exponent_between(const study* s, int kind, int from, int to)
{
    return -log(s->mean[kind][to] / s->mean[kind][from]) / log(s->stress[to] / s->stress[from]);
}

static void state_power(paper* p, const study* s)
{
    const int first = end_of_plateau(s), last = s->stresses - 1, middle = (first + last) / 2;
    double scatter[2];
    fit_line_result fit[2];
    for (int kind = ROLLING; kind <= COHESIVE; kind++) {
        fit[kind] = fit_compaction(s, kind, &scatter[kind]);
    }
    const char* why = "BUW from [4]: \"a power-law relationship between compacting stress and "
                      "obtained porosity\"; root mean square deviation from its fit for a degree "
                      "of freedom: three standard errors, from the scatter over seeds";
    paper_between(p, "cohesion, rolling: scatter about the power law, standard errors",
                  scatter[ROLLING], 0, 3, why);
    paper_between(p, "cohesion: scatter about the power law, standard errors", scatter[COHESIVE], 0,
                  3, why);
    paper_note(p,
               "Neither the form of the power law nor its exponent is in BUW's text. Porosity ~ "
               "stress^-x from %.2g F_C/d on, beyond the plateau, gives x = %.3f +- %.3f with "
               "rolling friction (%.3f in the lower half of the range, %.3f in the upper), %.3f +- "
               "%.3f without (%.3f, %.3f). It cannot go on for ever: porosity does not fall below "
               "what it is with neither, %.3f.",
               s->stress[first], -fit[ROLLING].slope, fit[ROLLING].slope_error,
               exponent_between(s, ROLLING, first, middle),
               exponent_between(s, ROLLING, middle, last), -fit[COHESIVE].slope,
               fit[COHESIVE].slope_error, exponent_between(s, COHESIVE, first, middle),
               exponent_between(s, COHESIVE, middle, last), s->mean[PLAIN][last]);
}

// ---- files -------------------------------------------------------------------------------------

static talus_status write_porosity(paper* p, const study* s)
{
    const paper_column columns[] = {{"stress d/F_C", s->stress},
                                    {"cohesion and rolling", s->mean[ROLLING]},
                                    {"error of cohesion and rolling", s->error[ROLLING]},
                                    {"cohesion", s->mean[COHESIVE]},
                                    {"error of cohesion", s->error[COHESIVE]},
                                    {"neither", s->mean[PLAIN]},
                                    {"error of neither", s->error[PLAIN]},
                                    {"4 F_C", s->mean[STRONGER]},
                                    {"error of 4 F_C", s->error[STRONGER]}};
    return paper_csv(p, NULL, s->stresses, 9, columns);
}

static talus_status draw_porosity(paper* p, const study* s)
{
    talus_figure* figure;
    TRY(plot_figure(p, 1, 1, &figure));
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
    return paper_figure(p, NULL, figure,
                        "Porosity of a powder after uniaxial compaction against the stress, mean "
                        "over seeds. Cohesion keeps pores open, rolling friction keeps more; "
                        "without both the stress does not matter.");
}

static talus_status run_cohesion(paper* p)
{
    TRY(study_bond(p));
    study s = plan(p);
    TRY(compact_all(p, &s));
    sum_up(&s);
    state_porosity(p, &s);
    state_scaling(p, &s);
    state_power(p, &s);
    TRY(write_porosity(p, &s));
    TRY(draw_porosity(p, &s));
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
