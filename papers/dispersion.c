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
/// between the samples.
///
/// Lengths: disks are small for all oscillating waves if k_c d is, which needs N_I of 10 or more.
/// Times: no N_I makes steps short against the waves near k_c, whose damping takes h/2. Without
/// either limit (chain_wave_stepwise()) exp(-h/tau) = cos(omega h): tau is that of (20), omega is
/// not that of (18) near k_c. It never returns to zero; a wave is gone before it could tell.
#include "chain.h"
#include "fit.h"

#include <math.h>
#include <stdio.h>

enum { KINDS = 5, MOST_MODES = 24, BATCHES = 16, LONGEST = 4096 };

static const int SWEEPS[KINDS] = {5, 10, 20, 40, 80};
/// Modes up to this part of k_c.
static const double REACH = 1.15;
static const double LOAD = 1e-3, SPEED = 1e-6;

/// Sizes of the experiment.
typedef struct sizes {
    int64_t disks;
    int modes;  ///< for each N_I
    int trials; ///< in each batch
} sizes;

static const sizes FULL = {200, 20, 5};
static const sizes BRIEF = {100, 7, 1};

/// What is measured with one N_I.
typedef struct kind_results {
    int modes;
    double kd[MOST_MODES], part[MOST_MODES]; ///< k d and k/k_c
    double omega[MOST_MODES], omega_error[MOST_MODES];
    double tau[MOST_MODES], tau_error[MOST_MODES];
} kind_results;

static double critical_kd(int sweeps)
{
    return 2.0 / sqrt(chain_q_random() * sweeps);
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

/// Linear prediction over s steps: least squares for b and c in a(t + 2s) = b a(t + s) - c a(t).
/// c = exp(-2s/tau) gives tau, b/(2 sqrt(c)) is cos(omega s).
static void predict_linearly(const double* a, int steps, int s, double* cosine, double* tau)
{
    double xx = 0.0, xy = 0.0, yy = 0.0, xz = 0.0, yz = 0.0;
    for (int t = 0; t + 2 * s <= steps; t++) {
        const double x = a[t + s], y = -a[t], z = a[t + 2 * s];
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xz += x * z;
        yz += y * z;
    }
    const double determinant = xx * yy - xy * xy;
    const double b = (xz * yy - yz * xy) / determinant, c = (yz * xx - xz * xy) / determinant;
    *cosine = 0.5 * b / sqrt(c);
    *tau = -2.0 * s / log(c);
}

/// Measure one mode: batches of trials, each batch gives one cos(omega s) and one tau.
static talus_status measure_mode(paper* p, const sizes* s, talus_world* world, int sweeps, int j,
                                 double* a, kind_results* k)
{
    const chain_wave guess = chain_wave_stepwise(chain_sweep_factor(k->kd[j], s->disks), sweeps);
    const int apart = (int)fmax(1.0, round(1.0 / guess.omega));
    const int steps = (int)fmin(LONGEST - 1, fmax(4.0 * apart, ceil(3.0 * guess.tau)));
    double cosines[BATCHES], taus[BATCHES];
    TRY(chain_press(p, world, 1.0));
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int t = 0; t <= steps; t++) a[t] = 0.0;
        for (int trial = 0; trial < s->trials; trial++) {
            TRY(follow(p, world, k->kd[j], steps, a));
        }
        predict_linearly(a, steps, apart, &cosines[batch], &taus[batch]);
    }
    const fit_mean_result cosine = fit_mean(BATCHES, cosines), tau = fit_mean(BATCHES, taus);
    k->omega[j] = acos(cosine.mean) / apart;
    k->omega_error[j] = cosine.error / sin(k->omega[j] * apart) / apart;
    k->tau[j] = tau.mean;
    k->tau_error[j] = tau.error;
    return TALUS_OK;
}

/// Modes from the longest but one to a little beyond k_c, in equal distances.
static void choose_modes(const sizes* s, int sweeps, kind_results* k)
{
    const double last = REACH * critical_kd(sweeps);
    int64_t before = 0;
    k->modes = 0;
    for (int j = 0; j < s->modes; j++) {
        const double wanted = last * (j + 1) / s->modes;
        const int64_t mode = lrint(wanted * (double)s->disks / M_PI - 0.5);
        if (mode == before || mode >= s->disks) continue;
        before = mode;
        k->kd[k->modes] = chain_wave_number(s->disks, mode);
        k->part[k->modes] = k->kd[k->modes] / critical_kd(sweeps);
        k->modes++;
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
    choose_modes(s, SWEEPS[kind], k);
    talus_status status = TALUS_OK;
    for (int j = 0; j < k->modes && status >= 0; j++) {
        status = measure_mode(p, s, world, SWEEPS[kind], j, a, k);
        paper_progress(p, (kind + (j + 1.0) / k->modes) / KINDS);
    }
    talus_world_destroy(world);
    return status;
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
        const double off = omega ? (k->omega[j] - wave.omega) / k->omega_error[j]
                                 : (k->tau[j] - wave.tau) / k->tau_error[j];
        sum += off * off;
    }
    return sqrt(sum / k->modes);
}

/// Linear interpolation of y at x = 1 in ascending x.
static double at_one(int count, const double* x, const double* y)
{
    int j = 1;
    while (j < count - 1 && x[j] < 1.0) j++;
    return y[j - 1] + (y[j] - y[j - 1]) * (1.0 - x[j - 1]) / (x[j] - x[j - 1]);
}

/// k/k_c up to which the measured omega differs from UBWK (18) by less than 5 %.
static double reach_of_formula(int kind, const kind_results* k)
{
    double before = 0.0, part = 0.0;
    for (int j = 0; j < k->modes; j++) {
        const double off = k->omega[j] / continuous(kind, k->kd[j]).omega - 1.0;
        if (fabs(off) >= 0.05) {
            return part + (k->part[j] - part) * (0.05 - before) / (off - before);
        }
        before = off;
        part = k->part[j];
    }
    return part;
}

/// Where arccos(exp(-2 x^2)) = 1.05 2 x sqrt(1 - x^2), x = k/k_c: waves long against the disks.
static double expected_reach(void)
{
    double low = 0.1, high = 0.9;
    while (high - low > 1e-6) {
        const double x = 0.5 * (low + high);
        const bool above = acos(exp(-2.0 * x * x)) > 1.05 * 2.0 * x * sqrt(1.0 - x * x);
        *(above ? &high : &low) = x;
    }
    return low;
}

/// Largest relative deviation from the continuum formulas of the modes up to 0.95 k_c.
static double largest_deviation(int kind, const kind_results* k, bool omega)
{
    double worst = 0.0;
    for (int j = 0; j < k->modes && k->part[j] <= 0.95; j++) {
        const chain_wave wave = continuous(kind, k->kd[j]);
        const double off = omega ? k->omega[j] / wave.omega : k->tau[j] / wave.tau;
        worst = fmax(worst, fabs(off - 1.0));
    }
    return worst;
}

static void misfit_rows(paper* p, const sizes* s, int kind, const kind_results* k)
{
    static const char why[] = "exp(-h/tau) = cos(omega h) = (sweep factor)^(N_I/2); errors from 16 "
                              "batches: 1.1 with a standard deviation of 0.3";
    char row[128];
    snprintf(row, sizeof row, "N_I = %d: omega of all modes, misfit in standard errors",
             SWEEPS[kind]);
    paper_between(p, row, misfit(s, kind, k, true), 0.0, 2.2, why);
    snprintf(row, sizeof row, "N_I = %d: tau of all modes, misfit in standard errors",
             SWEEPS[kind]);
    paper_between(p, row, misfit(s, kind, k, false), 0.0, 2.2, why);
}

/// What becomes of waves at k_c.
static void critical_rows(paper* p, const sizes* s, int kind, const kind_results* k)
{
    char row[128];
    double scaled[MOST_MODES];
    const chain_wave wave = exact(s, kind, critical_kd(SWEEPS[kind]));
    for (int j = 0; j < k->modes; j++) scaled[j] = k->tau[j] * k->part[j] * k->part[j];
    const double tau = at_one(k->modes, k->part, scaled);
    const double omega = at_one(k->modes, k->part, k->omega);
    snprintf(row, sizeof row, "N_I = %d: tau/h at k_c", SWEEPS[kind]);
    paper_within(
        p, row, tau, 0.5, 0.025,
        "UBWK (19), (20): tau(k_c) = h/2, within 5 %: disks of d against waves of 2 pi/k_c");
    snprintf(row, sizeof row, "N_I = %d: omega h at k_c", SWEEPS[kind]);
    paper_within(p, row, omega, wave.omega, 0.03,
                 "arccos exp(-h/tau), about arccos exp(-2); interpolation between modes: 0.01, and "
                 "noise of a wave that is gone after a step");
}

static void formula_rows(paper* p, int kind, const kind_results* k)
{
    char row[128];
    snprintf(row, sizeof row, "N_I = %d: tau(k) against (20), largest deviation, k < 0.95 k_c",
             SWEEPS[kind]);
    paper_between(p, row, largest_deviation(kind, k, false), 0.0, 0.05,
                  "the papers' \"works well\", taken as 5 %");
    snprintf(row, sizeof row, "N_I = %d: k/k_c up to which (18) holds within 5 %%", SWEEPS[kind]);
    paper_within(
        p, row, reach_of_formula(kind, k), expected_reach(), 0.06,
        "where arccos(exp(-2 x^2)) = 1.05 2x sqrt(1 - x^2); noise of omega, 0.5 %, moves it "
        "by 0.02, disks that are not small by 0.02");
    snprintf(row, sizeof row, "N_I = %d: omega(k) against (18), largest deviation, k < 0.95 k_c",
             SWEEPS[kind]);
    paper_differs(
        p, row, largest_deviation(kind, k, true), 0.0,
        "UBWK: (18) works well for all oscillating modes if N_I >= 10; but near k_c waves "
        "are damped within one step and turn by a quarter of a period in it: (18) takes "
        "steps for short, which no N_I makes them");
}

static void table(paper* p, const sizes* s, const kind_results* kinds)
{
    for (int kind = 0; kind < KINDS; kind++) misfit_rows(p, s, kind, &kinds[kind]);
    for (int kind = 0; kind < KINDS; kind++) {
        formula_rows(p, kind, &kinds[kind]);
        critical_rows(p, s, kind, &kinds[kind]);
    }
}

/// Data of one N_I as dots.
static talus_status draw_dots(paper* p, talus_figure* figure, int panel, int kind,
                              const kind_results* k, const double* x, const double* y,
                              const double* error)
{
    char label[32];
    snprintf(label, sizeof label, "N_{I} = %d", SWEEPS[kind]);
    talus_curve_def curve = talus_curve_default();
    curve.label = label;
    curve.x = x;
    curve.y = y;
    curve.y_error = error;
    curve.count = k->modes;
    curve.style = TALUS_CURVE_DOTS;
    curve.colour = curve.marker = kind;
    return talus_figure_curve(figure, panel, &curve, &p->error);
}

enum { POINTS = 200 };

static talus_status draw_line(paper* p, talus_figure* figure, int panel, int colour,
                              talus_dash dash, const char* label, const double* x, const double* y)
{
    talus_curve_def curve = talus_curve_default();
    curve.label = label;
    curve.x = x;
    curve.y = y;
    curve.count = POINTS;
    curve.colour = colour;
    curve.dash = dash;
    return talus_figure_curve(figure, panel, &curve, &p->error);
}

/// omega and tau of one N_I against k d: solid lines without limits, dashed ones UBWK (18) and
/// (20).
static talus_status draw_kind(paper* p, const sizes* s, talus_figure* figure, int kind,
                              const kind_results* k)
{
    double kd[POINTS], omega[2][POINTS], tau[2][POINTS];
    for (int i = 0; i < POINTS; i++) {
        kd[i] = REACH * critical_kd(SWEEPS[kind]) * (i + 9.0) / (POINTS + 8.0);
        const chain_wave rough = continuous(kind, kd[i]), fine = exact(s, kind, kd[i]);
        omega[0][i] = fine.omega;
        omega[1][i] = rough.omega;
        tau[0][i] = fine.tau;
        tau[1][i] = rough.tau;
    }
    TRY(draw_dots(p, figure, 0, kind, k, k->kd, k->omega, NULL));
    TRY(draw_line(p, figure, 0, kind, TALUS_DASH_SOLID, NULL, kd, omega[0]));
    TRY(draw_line(p, figure, 0, kind, TALUS_DASH_DASHED, NULL, kd, omega[1]));
    TRY(draw_dots(p, figure, 1, kind, k, k->kd, k->tau, NULL));
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
        TRY(draw_dots(p, figure, 2, kind, k, k->part, k->omega, k->omega_error));
        TRY(draw_dots(p, figure, 3, kind, k, k->part, ratio, NULL));
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

static talus_status draw_axes(paper* p, talus_figure* figure)
{
    talus_axes_def axes = talus_axes_default();
    axes.x_label = "k d";
    axes.y_label = "ω h";
    axes.title = "frequency";
    axes.x_log = true;
    TRY(talus_figure_axes(figure, 0, &axes, &p->error));
    axes.title = "damping time";
    axes.y_label = "τ/h";
    axes.y_log = true;
    TRY(talus_figure_axes(figure, 1, &axes, &p->error));
    axes = talus_axes_default();
    axes.x_label = "k/k_{c}";
    axes.y_label = "ω h";
    axes.title = "frequency, all N_{I}";
    TRY(talus_figure_axes(figure, 2, &axes, &p->error));
    axes.title = "damping time over UBWK (20)";
    axes.y_label = "τ D k^{2}/2";
    axes.y_low = 0.9;
    axes.y_high = 1.05;
    axes.legend = TALUS_LEGEND_BOTTOM_LEFT;
    return talus_figure_axes(figure, 3, &axes, &p->error);
}

static talus_status draw_all(paper* p, const sizes* s, const kind_results* kinds,
                             talus_figure* figure)
{
    TRY(draw_axes(p, figure));
    for (int kind = 0; kind < KINDS; kind++) {
        TRY(draw_kind(p, s, figure, kind, &kinds[kind]));
    }
    TRY(draw_scaled(p, figure, kinds));
    return paper_figure(p, NULL, figure,
                        "Frequency and damping time of single modes of a chain under load. Dots: "
                        "simulation; dashed "
                        "lines: UBWK (18) and (20); solid lines: the same without taking steps and "
                        "disks for small. "
                        "Bottom: all N_I against k/k_c.");
}

static talus_status draw(paper* p, const sizes* s, const kind_results* kinds)
{
    talus_figure_def def = talus_figure_default();
    talus_figure* figure;
    def.columns = def.rows = 2;
    TRY(talus_figure_create(&def, &figure, &p->error));
    talus_status status = draw_all(p, s, kinds, figure);
    talus_figure_destroy(figure);
    return status;
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
    const paper_column table_columns[] = {{"N_I", sweeps},       {"kd", columns[0]},
                                          {"k/k_c", columns[1]}, {"omega_h", columns[2]},
                                          {"error", columns[3]}, {"tau/h", columns[4]},
                                          {"error", columns[5]}};
    return paper_csv(p, NULL, rows, 7, table_columns);
}

static talus_status run(paper* p)
{
    const sizes* s = p->brief ? &BRIEF : &FULL;
    kind_results* kinds = paper_alloc(p, KINDS, sizeof *kinds);
    if (!kinds) return TALUS_ERR_MEMORY;
    for (int kind = 0; kind < KINDS; kind++) TRY(measure_kind(p, s, kind, &kinds[kind]));
    table(p, s, kinds);
    paper_note(
        p,
        "%lld disks under a load of %g m d/h^2; modes of amplitude %g d/h, so that no contact "
        "opens: all is linear and depends on neither.",
        (long long)s->disks, LOAD, SPEED);
    paper_note(p,
               "Which N_I suffices: tau(k) = 2/(D k^2) holds within 5 %% for all k < k_c from N_I "
               "= 5 on; omega(k) of (18) within 5 %% up to about %.2f k_c, with any N_I.",
               expected_reach());
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
