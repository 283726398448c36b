/// Damped sound in the chain: frequency and damping time of all its waves (UBWK III.B.1).
///
/// With N_I sweeps a step a chain of rigid disks carries sound: in the continuum limit its waves
/// have
///     omega(k) = k sqrt(c^2 - D^2 k^2/4),   tau(k) = 2/(D k^2),   c = sqrt(q N_I) d/h,
///     D = q N_I d^2/h,   omega = 0 from k_c = 2 c/D = 2/(sqrt(q N_I) d) on.     (UBWK 14, 17-20)
/// The papers say that (18) works well for N_I >= 10, for all oscillating modes. They do not show
/// it.
///
/// Here every mode is excited by itself in a chain that rests under load: the disks get the
/// velocities V sin(k x), with V so small that no contact opens, and the amplitude of the mode is
/// followed. All that happens is linear, so the mean over the random sweeps obeys exactly
///     a(t + 2s) = 2 exp(-s/tau) cos(omega s) a(t + s) - exp(-2s/tau) a(t),
/// and least squares with these two coefficients give omega and tau, of slow waves with s steps
/// between the samples. k_c is where the measured tau is h/2.
///
/// Lengths: disks are small for all oscillating waves if k_c d is, which needs more than a few
/// sweeps; N_I from 1 on shows how many. Times: no N_I makes steps short against the waves near
/// k_c, whose damping takes h/2. Without either limit (chain_wave_stepwise()) exp(-h/tau) =
/// cos(omega h): tau is that of (20), omega is not that of (18) near k_c. It never returns to zero;
/// a wave is gone before it could tell.
#include "chain.h"
#include "fit.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { KINDS = 8, MOST_MODES = 200, BATCHES = 16, LONGEST = 2048 };

static const int SWEEPS[KINDS] = {1, 2, 3, 5, 10, 20, 40, 80};
/// The papers speak of N_I >= 10.
enum { FIRST_LARGE = 4 };
/// Modes up to the damping that waves of this part of k_c have by (20).
static const double REACH = 1.15;
static const double LOAD = 1e-3, SPEED = 1e-6;
/// "Works well" of the papers, and the modes k/k_c it is asked of.
static const double WELL = 0.05, OSCILLATING = 0.95;

/// Sizes of the experiment.
typedef struct sizes {
    int64_t disks;
    int modes; ///< for each N_I, about; MOST_MODES: all
    int steps; ///< in each batch, about: more trials of short waves, which are soon gone
} sizes;

static const sizes FULL = {120, MOST_MODES, 60};
static const sizes BRIEF = {100, 4, 16};

/// What is measured with one N_I.
typedef struct kind_results {
    int modes;
    double kd[MOST_MODES], part[MOST_MODES]; ///< k d and k/k_c
    double omega[MOST_MODES], omega_error[MOST_MODES];
    double tau[MOST_MODES], tau_error[MOST_MODES];
    double critical, critical_error; ///< k d where tau = h/2
} kind_results;

static double critical_kd(int sweeps)
{
    return 2.0 / sqrt(chain_q_random() * sweeps);
}

/// k d of the wave of which a step leaves exp(-loss) of the error of the forces: k_c if that is 4.
static double kd_of_loss(const sizes* s, int sweeps, double loss)
{
    return chain_number_of_factor(exp(-loss / sweeps), s->disks);
}

/// Follow a mode for some steps; its amplitude is added to a[0...steps]. What is left in the
/// contact forces of the trial before does not matter: the recursion holds from any beginning.
static talus_status follow(paper* p, talus_world* world, double kd, int steps, double* a)
{
    const int64_t disks = talus_world_grains(world).count;
    for (int64_t i = 0; i < disks; i++) chain_push(world, i, SPEED * chain_mode_velocity(kd, i));
    for (int t = 0; t <= steps; t++) {
        if (t > 0) TRY(talus_world_step(world, 1.0, NULL, &p->error));
        a[t] += chain_mode_amplitude(world, kd) / SPEED;
    }
    return TALUS_OK;
}

/// Add a mode from the b and c of all batches: c = exp(-2s/tau), b = 2 sqrt(c) cos(omega s). A
/// single batch may have c < 0 by noise, so their means count, and errors come from how both
/// results change with b and c. A wave that is not to be told from noise is left out.
static void add_mode(int sweeps, double kd, int apart, double* b, double* c, kind_results* k)
{
    const fit_mean_result mean_b = fit_mean(BATCHES, b), mean_c = fit_mean(BATCHES, c);
    const double size = sqrt(fmax(0.0, mean_c.mean)), cosine = 0.5 * mean_b.mean / size;
    if (mean_c.mean < 3.0 * mean_c.error || fabs(cosine) >= 1.0) return;
    const int j = k->modes++;
    k->kd[j] = kd;
    k->part[j] = kd / critical_kd(sweeps);
    k->omega[j] = acos(cosine) / apart;
    k->tau[j] = -apart / log(size);
    for (int i = 0; i < BATCHES; i++) {
        b[i] = 0.5 * b[i] / size - 0.5 * cosine * c[i] / mean_c.mean;
        c[i] *= 0.5 * k->tau[j] * k->tau[j] / apart / mean_c.mean;
    }
    k->omega_error[j] = fit_mean(BATCHES, b).error / sqrt(1.0 - cosine * cosine) / apart;
    k->tau_error[j] = fit_mean(BATCHES, c).error;
}

/// Measure one mode, in batches of trials over a few periods or until it is gone.
static talus_status measure_mode(paper* p, const sizes* s, talus_world* world, int sweeps,
                                 double kd, double* a, kind_results* k)
{
    const chain_wave guess = chain_wave_stepwise(chain_sweep_factor(kd, s->disks), sweeps);
    const int apart = (int)fmax(1.0, round(1.0 / guess.omega));
    const int steps = (int)fmin(LONGEST - 1, fmax(4.0 * apart, ceil(3.0 * guess.tau)));
    const double budget = s->steps * (1.0 + 3.0 / sweeps); // few sweeps scatter more
    const int trials = (int)fmax(1.0, round(budget / steps));
    double b[BATCHES], c[BATCHES];
    TRY(chain_press(p, world, 1.0));
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int t = 0; t <= steps; t++) a[t] = 0.0;
        for (int trial = 0; trial < trials; trial++) TRY(follow(p, world, kd, steps, a));
        fit_recursion(steps + 1, a, apart, &b[batch], &c[batch]);
    }
    add_mode(sweeps, kd, apart, b, c, k);
    return TALUS_OK;
}

/// Measure all modes up to a little beyond k_c; of many only some, and those around k_c.
static talus_status measure_modes(paper* p, const sizes* s, talus_world* world, int kind, double* a,
                                  kind_results* k)
{
    const int sweeps = SWEEPS[kind];
    const double last = kd_of_loss(s, sweeps, 4.0 * REACH * REACH);
    const double critical = kd_of_loss(s, sweeps, 4.0), apart = M_PI / (double)s->disks;
    const int stride = (int)fmax(1.0, ceil(last / apart / s->modes));
    for (int64_t mode = stride > 1;
         chain_wave_number(s->disks, mode) < fmax(last, critical + 1.5 * apart); mode++) {
        const double kd = chain_wave_number(s->disks, mode);
        if (mode % stride != 0 && fabs(kd - critical) > 1.5 * apart) continue;
        TRY(measure_mode(p, s, world, sweeps, kd, a, k));
        paper_progress(p, (kind + kd / last) / KINDS);
    }
    return TALUS_OK;
}

/// k_c: where the measured tau passes h/2, by a straight line between the logarithms of neighbours.
static void find_critical(kind_results* k)
{
    k->critical = k->critical_error = NAN;
    for (int j = 1; j < k->modes; j++) {
        if (k->tau[j] > 0.5 || k->tau[j - 1] <= 0.5) continue;
        const double slope = log(k->kd[j] / k->kd[j - 1]) / log(k->tau[j] / k->tau[j - 1]);
        k->critical = k->kd[j] * pow(0.5 / k->tau[j], slope);
        k->critical_error = k->critical * fabs(slope) * k->tau_error[j] / k->tau[j];
        return;
    }
}

static talus_status measure_kind(paper* p, const sizes* s, int kind, kind_results* k)
{
    double* a = paper_alloc(p, LONGEST, sizeof *a);
    if (!a) return TALUS_ERR_MEMORY;
    chain_def def = chain_default();
    def.disks = s->disks;
    def.overlap = 0.01;
    def.force = LOAD;
    def.seed = p->seed;
    def.solver = chain_sweeps(SWEEPS[kind], TALUS_ORDER_RANDOM);
    talus_world* world;
    TRY(chain_make(p, &def, &world));
    TRY(measure_modes(p, s, world, kind, a, k));
    paper_end_world(p, world);
    find_critical(k);
    return TALUS_OK;
}

// ---- results -----------------------------------------------------------------------------------

static chain_wave exact(const sizes* s, int kind, double kd)
{
    return chain_wave_stepwise(chain_sweep_factor(kd, s->disks), SWEEPS[kind]);
}

static chain_wave continuous(int kind, double kd)
{
    return chain_wave_continuous(chain_q_random(), SWEEPS[kind], kd);
}

/// Root of the mean square of (measured - exact)/error over all modes, of omega or of tau.
static double misfit(const sizes* s, int kind, const kind_results* k, bool omega)
{
    double sum = 0.0;
    for (int j = 0; j < k->modes; j++) {
        const chain_wave wave = exact(s, kind, k->kd[j]);
        const double z = omega ? (k->omega[j] - wave.omega) / k->omega_error[j]
                               : (k->tau[j] - wave.tau) / k->tau_error[j];
        sum += z * z;
    }
    return sqrt(sum / k->modes);
}

/// Relative deviation of omega or tau from the continuum formulas (18) and (20).
static double off(int kind, double kd, double value, bool omega)
{
    const chain_wave wave = continuous(kind, kd);
    return value / (omega ? wave.omega : wave.tau) - 1.0;
}

/// k/k_c up to which the measured omega differs from UBWK (18) by less than 5 %, by a straight line
/// of the deviation in k^2 between modes.
static double reach_of_formula(int kind, const kind_results* k)
{
    double before = 0.0, part = 0.0;
    for (int j = 0; j < k->modes; j++) {
        const double now = off(kind, k->kd[j], k->omega[j], true);
        if (fabs(now) >= WELL) {
            return sqrt(part + (k->part[j] * k->part[j] - part) * (WELL - before) / (now - before));
        }
        before = now;
        part = k->part[j] * k->part[j];
    }
    return sqrt(part);
}

/// The same of exp(-h/tau) = cos(omega h).
static double expected_reach(const sizes* s, int kind)
{
    double part = 0.01;
    for (; part < 1.0; part += 1e-3) {
        const double kd = part * critical_kd(SWEEPS[kind]);
        if (off(kind, kd, exact(s, kind, kd).omega, true) >= WELL) break;
    }
    return part;
}

/// Largest relative deviation from the continuum formulas of the modes up to 0.95 k_c. A mode that
/// was not to be seen there counts as 1.
static double largest_deviation(int kind, const kind_results* k, bool omega)
{
    double worst = k->part[k->modes - 1] < OSCILLATING ? 1.0 : 0.0;
    for (int j = 0; j < k->modes && k->part[j] <= OSCILLATING; j++) {
        const double value = omega ? k->omega[j] : k->tau[j];
        worst = fmax(worst, fabs(off(kind, k->kd[j], value, omega)));
    }
    return worst;
}

/// The smallest N_I from which on (20) holds, measured; and by theory, where the worst is the last.
static int first_well(const kind_results* kinds)
{
    int kind = KINDS;
    while (kind > 0 && largest_deviation(kind - 1, &kinds[kind - 1], false) <= WELL) kind--;
    return kind < KINDS ? SWEEPS[kind] : 0;
}

static int expected_first_well(const sizes* s)
{
    int kind = KINDS;
    while (kind > 0) {
        const double kd = OSCILLATING * critical_kd(SWEEPS[kind - 1]);
        if (!(fabs(off(kind - 1, kd, exact(s, kind - 1, kd).tau, false)) <= WELL)) break;
        kind--;
    }
    return kind < KINDS ? SWEEPS[kind] : 0;
}

static const char* name_of(int kind, const char* what, char row[128])
{
    snprintf(row, 128, "N_I = %d: %s", SWEEPS[kind], what);
    return row;
}

static void misfit_rows(paper* p, const sizes* s, int kind, const kind_results* k)
{
    static const char why[] = "exp(-h/tau) = cos(omega h) = (sweep factor)^(N_I/2); errors from 16 "
                              "batches: 1.1 with a standard deviation of 0.3";
    char row[128];
    paper_between(p, name_of(kind, "omega of all modes, misfit in standard errors", row),
                  misfit(s, kind, k, true), 0.0, 2.2, why);
    paper_between(p, name_of(kind, "tau of all modes, misfit in standard errors", row),
                  misfit(s, kind, k, false), 0.0, 2.2, why);
}

/// k_c of one N_I, and how far (18) holds.
static void kind_rows(paper* p, const sizes* s, int kind, const kind_results* k)
{
    const double expected = kd_of_loss(s, SWEEPS[kind], 4.0), rough = critical_kd(SWEEPS[kind]);
    char row[128];
    paper_within(p, name_of(kind, "k_c d, where tau = h/2", row), k->critical, expected,
                 0.002 * expected + 4.0 * k->critical_error,
                 "(sweep factor)^N_I = exp(-4); 0.2 % for interpolation between modes, 4 standard "
                 "errors");
    if (kind >= FIRST_LARGE) {
        paper_within(p, name_of(kind, "the same against 2/sqrt(q N_I)", row), k->critical, rough,
                     0.01 * rough + 4.0 * k->critical_error,
                     "UBWK (19), tau(k_c) = h/2 by (20); 1 %, as disks are not small against waves "
                     "of 2 pi/k_c: 0.7 % with N_I = 10; 4 standard errors");
    }
    paper_within(
        p, name_of(kind, "k/k_c up to which (18) holds within 5 %", row), reach_of_formula(kind, k),
        expected_reach(s, kind), 0.04,
        "where arccos(exp(-h/tau)) is 5 % above (18); noise of omega, 0.5 %, moves it by 0.02, "
        "interpolation between modes by 0.02");
}

/// What all N_I say together.
static void common_rows(paper* p, const sizes* s, const kind_results* kinds)
{
    double sweeps[KINDS], critical[KINDS], omega = 0.0, tau = 0.0;
    for (int kind = 0; kind < KINDS; kind++) {
        sweeps[kind] = SWEEPS[kind];
        critical[kind] = kinds[kind].critical;
        if (kind < FIRST_LARGE) continue;
        omega = fmax(omega, largest_deviation(kind, &kinds[kind], true));
        tau = fmax(tau, largest_deviation(kind, &kinds[kind], false));
    }
    const fit_line_result fit =
        fit_power(KINDS - FIRST_LARGE, sweeps + FIRST_LARGE, critical + FIRST_LARGE);
    paper_within(p, "exponent of k_c in N_I, from N_I = 10 on", fit.slope, -0.5,
                 0.005 + 4.0 * fit.slope_error,
                 "UBWK (19); disks that are not small lower k_c by 0.7 % at N_I = 10, hence 0.003 "
                 "to 0.005; 4 standard errors of the fit");
    paper_within(
        p, "smallest N_I from which (20) holds within 5 %, all k < 0.95 k_c", first_well(kinds),
        expected_first_well(s), 0.0,
        "of 1, 2, 3, 5, 10 ...: where the sweep factor of disks that are not small says so");
    paper_between(p, "N_I >= 10: tau(k) against (20), largest deviation, k < 0.95 k_c", tau, 0.0,
                  WELL, "the papers' \"works well\", taken as 5 %");
    paper_differs(
        p, "N_I >= 10: omega(k) against (18), largest deviation, k < 0.95 k_c", omega, 0.0,
        "UBWK: (18) works well for all oscillating modes if N_I >= 10; but near k_c waves are "
        "damped within one step and turn by a quarter of a period in it: (18) takes steps for "
        "short, which no N_I makes them");
}

/// Data of one N_I as dots.
static talus_status draw_dots(paper* p, talus_figure* figure, int panel, int kind,
                              const kind_results* k, const double* x, const double* y)
{
    const plot_style style = {kind, TALUS_CURVE_DOTS, TALUS_DASH_SOLID};
    char label[32];
    snprintf(label, sizeof label, "N_{I} = %d", SWEEPS[kind]);
    return plot_curve(p, figure, panel, style, label, k->modes, x, y);
}

enum { POINTS = 200 };

/// A line of the theory.
static talus_status draw_line(paper* p, talus_figure* figure, int panel, int colour,
                              talus_dash dash, const char* label, const double* x, const double* y)
{
    const plot_style style = {colour, TALUS_CURVE_LINE, dash};
    return plot_curve(p, figure, panel, style, label, POINTS, x, y);
}

/// omega and tau of one N_I against k d: solid lines without limits, dashed ones UBWK (18) and
/// (20).
static talus_status draw_kind(paper* p, const sizes* s, talus_figure* figure, int kind,
                              const kind_results* k)
{
    double kd[POINTS], omega[2][POINTS], tau[2][POINTS];
    for (int i = 0; i < POINTS; i++) {
        kd[i] = kd_of_loss(s, SWEEPS[kind], 4.0 * REACH * REACH) * (i + 6.0) / (POINTS + 5.0);
        const chain_wave rough = continuous(kind, kd[i]), fine = exact(s, kind, kd[i]);
        omega[0][i] = fine.omega;
        omega[1][i] = rough.omega;
        tau[0][i] = fine.tau;
        tau[1][i] = rough.tau;
    }
    TRY(draw_dots(p, figure, 0, kind, k, k->kd, k->omega));
    TRY(draw_line(p, figure, 0, kind, TALUS_DASH_SOLID, NULL, kd, omega[0]));
    TRY(draw_line(p, figure, 0, kind, TALUS_DASH_DASHED, NULL, kd, omega[1]));
    TRY(draw_dots(p, figure, 1, kind, k, k->kd, k->tau));
    TRY(draw_line(p, figure, 1, kind, TALUS_DASH_SOLID, NULL, kd, tau[0]));
    return draw_line(p, figure, 1, kind, TALUS_DASH_DASHED, NULL, kd, tau[1]);
}

/// The same of all N_I against k/k_c: omega, and tau over (20).
static talus_status draw_scaled(paper* p, talus_figure* figure, const kind_results* kinds)
{
    double x[POINTS], fine[POINTS], rough[POINTS];
    for (int kind = 0; kind < KINDS; kind++) {
        const kind_results* k = &kinds[kind];
        double ratio[MOST_MODES];
        for (int j = 0; j < k->modes; j++) ratio[j] = k->tau[j] / continuous(kind, k->kd[j]).tau;
        TRY(draw_dots(p, figure, 2, kind, k, k->part, k->omega));
        TRY(draw_dots(p, figure, 3, kind, k, k->part, ratio));
    }
    for (int i = 0; i < POINTS; i++) {
        x[i] = REACH * (i + 1.0) / POINTS;
        fine[i] = acos(exp(-2.0 * x[i] * x[i]));
        rough[i] = 2.0 * x[i] * sqrt(fmax(0.0, 1.0 - x[i] * x[i]));
    }
    TRY(draw_line(p, figure, 2, 0, TALUS_DASH_SOLID, "cos ωh = e^{-h/τ}", x, fine));
    TRY(draw_line(p, figure, 2, 0, TALUS_DASH_DASHED, "UBWK (18)", x, rough));
    return talus_figure_mark(figure, 3, false, 1.0, "UBWK (20)", &p->error);
}

static talus_status draw(paper* p, const sizes* s, const kind_results* kinds)
{
    talus_figure* figure;
    TRY(plot_figure(p, 2, 2, &figure));
    TRY(plot_axes(p, figure, 0, "frequency", "k d", "ω h", "x"));
    TRY(plot_axes(p, figure, 1, "damping time", "k d", "τ/h", "xy"));
    TRY(plot_axes(p, figure, 2, "frequency, all N_{I}", "k/k_{c}", "ω h", ""));
    talus_axes_def axes =
        plot_axes_def("damping time over UBWK (20)", "k/k_{c}", "τ D k^{2}/2", "");
    axes.y_low = 0.85, axes.y_high = 1.05;
    axes.legend = TALUS_LEGEND_BOTTOM_LEFT;
    TRY(talus_figure_axes(figure, 3, &axes, &p->error));
    for (int kind = 0; kind < KINDS; kind++) {
        TRY(draw_kind(p, s, figure, kind, &kinds[kind]));
    }
    TRY(draw_scaled(p, figure, kinds));
    return paper_figure(p, NULL, figure,
                        "Frequency and damping time of single modes of a chain under load. Dots: "
                        "simulation; dashed lines: UBWK (18) and (20); solid lines: the same "
                        "without taking steps and disks for small. Bottom: all N_I against k/k_c.");
}

static talus_status write_data(paper* p, const kind_results* kinds)
{
    enum { ROWS = KINDS * MOST_MODES };
    double sweeps[ROWS], columns[6][ROWS];
    int64_t rows = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const kind_results* k = &kinds[kind];
        for (int j = 0; j < k->modes; j++, rows++) {
            const double values[] = {k->kd[j],          k->part[j], k->omega[j],
                                     k->omega_error[j], k->tau[j],  k->tau_error[j]};
            sweeps[rows] = SWEEPS[kind];
            for (int c = 0; c < 6; c++) columns[c][rows] = values[c];
        }
    }
    const paper_column table_columns[] = {{"N_I", sweeps},
                                          {"kd", columns[0]},
                                          {"k/k_c", columns[1]},
                                          {"omega_h", columns[2]},
                                          {"error of omega_h", columns[3]},
                                          {"tau/h", columns[4]},
                                          {"error of tau/h", columns[5]}};
    return paper_csv(p, NULL, rows, 7, table_columns);
}

static talus_status run(paper* p)
{
    const sizes* s = p->brief ? &BRIEF : &FULL;
    kind_results* kinds = paper_alloc(p, KINDS, sizeof *kinds);
    if (!kinds) return TALUS_ERR_MEMORY;
    for (int kind = 0; kind < KINDS; kind++) TRY(measure_kind(p, s, kind, &kinds[kind]));
    common_rows(p, s, kinds);
    for (int kind = 0; kind < KINDS; kind++) kind_rows(p, s, kind, &kinds[kind]);
    for (int kind = 0; kind < KINDS; kind++) misfit_rows(p, s, kind, &kinds[kind]);
    paper_note(
        p,
        "%lld disks under a load of %g m d/h^2; modes of amplitude %g d/h, so that no contact "
        "opens: all is linear and depends on neither.",
        (long long)s->disks, LOAD, SPEED);
    paper_note(
        p,
        "Which N_I suffices: tau(k) = 2/(D k^2) holds within 5 %% for all k < 0.95 k_c from "
        "N_I = %d on, of those tried; omega(k) of (18) within 5 %% up to %.2f k_c with N_I = "
        "80, and no N_I brings it further.",
        first_well(kinds), reach_of_formula(KINDS - 1, &kinds[KINDS - 1]));
    paper_note(p,
               "k_c d, measured / 2/sqrt(q N_I) - 1: %.3f, %.3f, %.3f, %.3f for N_I = 1, 2, 3, "
               "5: disks are not small there.",
               kinds[0].critical / critical_kd(1) - 1.0, kinds[1].critical / critical_kd(2) - 1.0,
               kinds[2].critical / critical_kd(3) - 1.0, kinds[3].critical / critical_kd(5) - 1.0);
    TRY(write_data(p, kinds));
    return draw(p, s, kinds);
}

const paper_experiment paper_dispersion = {
    .name = "dispersion",
    .title = "Frequency and damping time of all sound waves of the chain",
    .source = "Unger, Brendel, Wolf & Kertész, (18)-(20); Unger & Kertész, (58)-(60)",
    .about =
        "Single modes of a chain under load are excited and their decaying oscillation is "
        "followed, for several numbers of sweeps a step. The damping time is that of the "
        "papers' continuum theory for all oscillating waves; the frequency only for waves that "
        "are long against those that are damped within a step.",
    .run = run,
};
