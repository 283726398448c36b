/// A chain of 50 disks hits a wall and rings (UK Figs. 6 and 7, UBWK Figs. 3 and 4).
///
/// The disks touch each other and begin at rest, one diameter d from the wall; from t = 0 a force
/// 0.05 d m/h^2 pushes the last one. With a fixed number N_I of sweeps a step the contact forces
/// are not exact, and the rigid, inelastic disks behave as an elastic chain with the sound velocity
/// c = sqrt(q N_I) d/h and the diffusion constant D = q N_I d^2/h (UBWK 14, 17). Once the chain
/// stays on the wall and only its longest wave is left, k = pi/(2 50 d), the last disk moves as
///     x(t) = x0 + A exp(-t/tau) sin(omega t + phi),          (UBWK 21)
///     omega = k sqrt(c^2 - D^2 k^2/4),   tau = 2/(D k^2).    (UBWK 18, 20)
/// The papers draw this curve, with x0, A, phi fitted, through one run with N_I = 40. Here omega
/// and tau are fitted too, over many seeds of the random sweeps, and for N_I = 20 and 80 as well.
///
/// When does a chain stay in contact? After the last contact force has vanished there are still
/// contacts with a small gap, and the law with g+ lets them approach: they give way without a force
/// that grows. The theory speaks of chains without gaps (UBWK II.A.2). So the fit begins when the
/// last gap has closed, and the same with an earlier beginning, when forces have stopped vanishing,
/// shows what gaps do: they make tau scatter from run to run, and with N_I = 40 lengthen it in the
/// mean as well. Begun late, no N_I deviates more than another.
#include "chain.h"
#include "fit.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { DISKS = 50, MOST_STEPS = 4000, KINDS = 3 };

static const int SWEEPS[KINDS] = {20, 40, 80};
static const double FORCE = 0.05;

/// The window of the fit in tau: from when the next mode, which decays 9 times as fast, has fallen
/// to exp(-8 0.6) = 1/120 of what it was against the longest one, to when that has nearly gone.
static const double DELAY = 0.6, WINDOW = 5.0;

/// One run: the position of the last disk after each step, and when it was fully in contact.
typedef struct run_record {
    int steps;
    double t[MOST_STEPS], x[MOST_STEPS];
    int forces_from; ///< from this step on every contact carries a force
    int gaps_from;   ///< from this step on there is no gap
} run_record;

/// Fits of many runs with one N_I.
typedef struct kind_results {
    double *omega, *tau;          ///< [seeds] begun when there are no gaps
    double *early_tau, *gap_time; ///< [seeds] begun when forces do not vanish; how long gaps
                                  ///< stay open after that, in tau
    run_record shown;             ///< the first run
    fit_wave curve;               ///< the predicted curve through it
} kind_results;

static chain_wave predicted(int sweeps)
{
    return chain_wave_continuous(chain_q_random(), sweeps, chain_wave_number(DISKS, 0));
}

/// The same without the limits of short steps and small disks.
static chain_wave predicted_stepwise(int sweeps)
{
    return chain_wave_stepwise(chain_sweep_factor(chain_wave_number(DISKS, 0), DISKS), sweeps);
}

/// Note whether a force vanishes or a gap is open in this step.
static void look_at_contacts(const talus_world* world, int step, run_record* r)
{
    const talus_contacts contacts = talus_world_contacts(world);
    bool gap = contacts.count < DISKS;
    double forces[DISKS];
    for (int64_t c = 0; c < contacts.count; c++) gap = gap || contacts.gap[c] > 0.0;
    if (gap) r->gaps_from = step + 1;
    chain_forces(world, forces);
    for (int i = 0; i < DISKS; i++) {
        if (forces[i] == 0.0) r->forces_from = step + 1;
    }
}

/// Last step of a window that begins a while after `from`, for the fit.
static int window_end(int from, double tau)
{
    return from + (int)((DELAY + WINDOW) * tau);
}

static talus_status run_once(paper* p, int sweeps, uint64_t seed, run_record* r)
{
    chain_def def = chain_default();
    def.disks = DISKS;
    def.gap = def.diameter;
    def.force = FORCE;
    def.seed = seed;
    def.solver = chain_sweeps(sweeps, TALUS_ORDER_RANDOM);
    talus_world* world;
    TRY(chain_make(p, &def, &world));
    const double tau = predicted(sweeps).tau;
    *r = (run_record){0};
    // From `quiet` on nothing happens to the contacts: with g+ a force may vanish where disks
    // overlap.
    int quiet = 0;
    while (r->steps < MOST_STEPS && (r->gaps_from == 0 || r->steps < window_end(quiet, tau))) {
        TRY(talus_world_step(world, 1.0, NULL, &p->error));
        look_at_contacts(world, r->steps, r);
        quiet = r->gaps_from > r->forces_from ? r->gaps_from : r->forces_from;
        r->t[r->steps] = talus_world_time(world);
        r->x[r->steps++] = chain_position(world, DISKS - 1);
    }
    paper_end_world(p, world);
    if (r->steps == MOST_STEPS) return paper_fail(p, "the chain does not come to rest");
    return TALUS_OK;
}

/// Fit all five numbers of the wave.
static talus_status fit_run(paper* p, const run_record* r, int from, int sweeps, fit_wave* wave)
{
    const chain_wave guess = predicted(sweeps);
    const int begin = from + (int)(DELAY * guess.tau), end = window_end(from, guess.tau);
    *wave = (fit_wave){.omega = guess.omega, .tau = guess.tau};
    if (fit_damped_wave(end - begin, r->t + begin, r->x + begin, wave)) return TALUS_OK;
    return paper_fail(p, "no damped wave fits the run with N_I = %d", sweeps);
}

static talus_status run_kind(paper* p, int sweeps, int seeds, double done, kind_results* k)
{
    run_record* r = paper_alloc(p, 1, sizeof *r);
    double* numbers = paper_alloc(p, 4 * (size_t)seeds, sizeof *numbers);
    if (!r || !numbers) return TALUS_ERR_MEMORY;
    k->omega = numbers;
    k->tau = numbers + seeds;
    k->early_tau = numbers + 2 * seeds;
    k->gap_time = numbers + 3 * seeds;
    for (int i = 0; i < seeds; i++) {
        fit_wave wave;
        TRY(run_once(p, sweeps, p->seed + (uint64_t)i, r));
        TRY(fit_run(p, r, r->gaps_from, sweeps, &wave));
        k->omega[i] = wave.omega;
        k->tau[i] = wave.tau;
        TRY(fit_run(p, r, r->forces_from, sweeps, &wave));
        k->early_tau[i] = wave.tau;
        k->gap_time[i] = (r->gaps_from - r->forces_from) / predicted(sweeps).tau;
        if (i == 0) k->shown = *r;
        paper_progress(p, done + (i + 1.0) / (seeds * KINDS));
    }
    // The papers' curve: with the predicted omega and tau.
    const chain_wave wave = predicted(sweeps);
    const int begin = k->shown.gaps_from + (int)(DELAY * wave.tau);
    k->curve = (fit_wave){.omega = wave.omega, .tau = wave.tau};
    fit_wave_amplitude(k->shown.steps - begin, k->shown.t + begin, k->shown.x + begin, &k->curve);
    return TALUS_OK;
}

// ---- results -----------------------------------------------------------------------------------

/// One number of one N_I: against the papers' prediction with the tolerance that is asked for, and
/// against the stepwise one with the statistical error.
static void compare(paper* p, const char* name, int sweeps, int seeds, const double* values,
                    double continuous, double stepwise, double tolerance)
{
    const fit_mean_result mean = fit_mean(seeds, values);
    char row[96];
    snprintf(row, sizeof row, "N_I = %d: %s", sweeps, name);
    paper_within(p, row, mean.mean, continuous, tolerance * continuous,
                 tolerance < 0.01 ? "UBWK (18), within 0.5 %" : "UBWK (20), within 3 %");
    snprintf(row, sizeof row, "N_I = %d: %s, steps and disks not small", sweeps, name);
    paper_within(p, row, mean.mean, stepwise, 5.0 * mean.error + 2e-4 * stepwise,
                 "exp(-h/tau) = cos(omega h) = (sweep factor)^(N_I/2); 5 standard errors of few "
                 "seeds, 2e-4 for the wall's part in the factor beyond its first order");
}

static void table(paper* p, int seeds, const kind_results* kinds)
{
    for (int i = 0; i < KINDS; i++) {
        const kind_results* k = &kinds[i];
        const chain_wave rough = predicted(SWEEPS[i]), fine = predicted_stepwise(SWEEPS[i]);
        compare(p, "omega h", SWEEPS[i], seeds, k->omega, rough.omega, fine.omega, 0.005);
        compare(p, "tau/h", SWEEPS[i], seeds, k->tau, rough.tau, fine.tau, 0.03);
    }
    for (int i = 0; i < KINDS; i++) {
        const fit_mean_result early = fit_mean(seeds, kinds[i].early_tau);
        const double expected = predicted(SWEEPS[i]).tau;
        char row[96];
        snprintf(row, sizeof row, "N_I = %d: tau/h, fitted while gaps are open", SWEEPS[i]);
        paper_within(p, row, early.mean, expected, 0.03 * expected + 3.0 * early.error,
                     "UBWK (20), within 3 %, from when forces stop vanishing on; 3 standard "
                     "errors, as gaps make single runs differ by several per cent");
    }
}

/// What gaps do with every N_I, and whether one deviates more than another without them.
static void notes(paper* p, int seeds, const kind_results* kinds)
{
    paper_note(
        p,
        "%d seeds for each N_I. The papers do not say when their fit begins. Here: %g tau after "
        "the last gap has closed, over %g tau.",
        seeds, DELAY, WINDOW);
    for (int i = 0; i < KINDS; i++) {
        const fit_mean_result early = fit_mean(seeds, kinds[i].early_tau);
        const fit_mean_result late = fit_mean(seeds, kinds[i].tau);
        const double percent = 100.0 / predicted(SWEEPS[i]).tau;
        paper_note(p,
                   "N_I = %d: tau is %+.2f +- %.2f %% off UBWK (20). Begun when forces stop "
                   "vanishing, %+.2f +- %.2f %%, and single runs scatter by %.1f %% instead of "
                   "%.1f %%: gaps stay open for %.1f tau after that, and a contact that closes its "
                   "gap does so without a force, which the theory does not know.",
                   SWEEPS[i], percent * late.mean - 100.0, percent * late.error,
                   percent * early.mean - 100.0, percent * early.error, percent * early.deviation,
                   percent * late.deviation, fit_mean(seeds, kinds[i].gap_time).mean);
    }
}

static talus_status draw_run(paper* p, talus_figure* figure, int panel, int sweeps,
                             const kind_results* k, double* room)
{
    enum { POINTS = 600 };
    const run_record* r = &k->shown;
    char title[64];
    snprintf(title, sizeof title, "N_{I} = %d", sweeps);
    talus_axes_def axes = talus_axes_default();
    axes.title = title;
    axes.x_label = "t/h";
    axes.y_label = "position of the last disk x/d";
    axes.x_high = r->forces_from + 4.0 * k->curve.tau;
    TRY(talus_figure_axes(figure, panel, &axes, &p->error));
    talus_curve_def curve = talus_curve_default();
    curve.label = "simulation";
    curve.x = r->t;
    curve.y = r->x;
    curve.count = r->steps;
    curve.style = TALUS_CURVE_DOTS;
    curve.dot_size = 3.0;
    curve.colour = curve.marker = 0;
    TRY(talus_figure_curve(figure, panel, &curve, &p->error));
    const double from = r->forces_from, to = axes.x_high;
    for (int i = 0; i < POINTS; i++) {
        room[i] = from + (to - from) * i / (POINTS - 1.0);
        room[POINTS + i] = fit_wave_at(&k->curve, room[i]);
    }
    curve.label = "ω, τ of the theory";
    curve.x = room;
    curve.y = room + POINTS;
    curve.count = POINTS;
    curve.style = TALUS_CURVE_LINE;
    curve.colour = 1;
    TRY(talus_figure_curve(figure, panel, &curve, &p->error));
    TRY(talus_figure_mark(figure, panel, true, r->forces_from, NULL, &p->error));
    return talus_figure_mark(figure, panel, true, r->gaps_from, NULL, &p->error);
}

/// Means over seeds, relative to the papers' prediction, in percent.
typedef struct deviations {
    double sweeps[KINDS];
    double omega[KINDS], omega_error[KINDS], tau[KINDS], tau_error[KINDS], early_tau[KINDS];
    double stepwise_omega[KINDS], stepwise_tau[KINDS];
} deviations;

static deviations deviations_of(int seeds, const kind_results* kinds)
{
    deviations d;
    for (int i = 0; i < KINDS; i++) {
        const chain_wave rough = predicted(SWEEPS[i]), fine = predicted_stepwise(SWEEPS[i]);
        const fit_mean_result omega = fit_mean(seeds, kinds[i].omega);
        const fit_mean_result tau = fit_mean(seeds, kinds[i].tau);
        d.sweeps[i] = SWEEPS[i];
        d.omega[i] = 100.0 * (omega.mean / rough.omega - 1.0);
        d.omega_error[i] = 100.0 * omega.error / rough.omega;
        d.tau[i] = 100.0 * (tau.mean / rough.tau - 1.0);
        d.tau_error[i] = 100.0 * tau.error / rough.tau;
        d.early_tau[i] = 100.0 * (fit_mean(seeds, kinds[i].early_tau).mean / rough.tau - 1.0);
        d.stepwise_omega[i] = 100.0 * (fine.omega / rough.omega - 1.0);
        d.stepwise_tau[i] = 100.0 * (fine.tau / rough.tau - 1.0);
    }
    return d;
}

static talus_status draw_deviations(paper* p, talus_figure* figure, int panel, const deviations* d)
{
    talus_axes_def axes = talus_axes_default();
    axes.title = "mean over seeds against UBWK (18), (20)";
    axes.x_label = "sweeps N_{I}";
    axes.y_label = "deviation [%]";
    axes.x_low = 10.0;
    axes.x_high = 90.0;
    TRY(talus_figure_axes(figure, panel, &axes, &p->error));
    const struct {
        const char* label;
        const double *y, *error;
        int colour;
        bool line;
    } curves[] = {{"ω", d->omega, d->omega_error, 0, false},
                  {"τ", d->tau, d->tau_error, 1, false},
                  {"τ, gaps open", d->early_tau, NULL, 2, false},
                  {"ω, steps and disks not small", d->stepwise_omega, NULL, 0, true},
                  {"τ, likewise", d->stepwise_tau, NULL, 1, true}};
    for (int i = 0; i < 5; i++) {
        talus_curve_def curve = talus_curve_default();
        curve.label = curves[i].label;
        curve.x = d->sweeps;
        curve.y = curves[i].y;
        curve.y_error = curves[i].error;
        curve.count = KINDS;
        curve.style = curves[i].line ? TALUS_CURVE_LINE : TALUS_CURVE_DOTS;
        curve.colour = curve.marker = curves[i].colour;
        TRY(talus_figure_curve(figure, panel, &curve, &p->error));
    }
    return TALUS_OK;
}

static talus_status draw(paper* p, const kind_results* kinds, const deviations* d)
{
    double* room = paper_alloc(p, 1200, sizeof *room);
    if (!room) return TALUS_ERR_MEMORY;
    talus_figure* figure;
    TRY(plot_figure(p, 2, 2, &figure));
    for (int i = 0; i < KINDS; i++) {
        TRY(draw_run(p, figure, i, SWEEPS[i], &kinds[i], room));
    }
    TRY(draw_deviations(p, figure, KINDS, d));
    return paper_figure(p, NULL, figure,
                        "Position of the last of 50 disks that hit a wall (N_I = 40: UK Fig. 7), "
                        "dots, and damped sine with the predicted frequency and damping time. From "
                        "the first dashed line on all contacts carry forces, from the second on no "
                        "gap is open. Bottom right: fitted frequency and damping time, mean over "
                        "seeds.");
}

static talus_status write_data(paper* p, const kind_results* kinds, const deviations* d)
{
    const run_record* r = &kinds[1].shown;
    const paper_column columns[] = {{"t/h", r->t}, {"x/d", r->x}};
    TRY(paper_csv(p, NULL, r->steps, 2, columns));
    const paper_column means[] = {{"N_I", d->sweeps},
                                  {"omega_deviation_%", d->omega},
                                  {"omega_error_%", d->omega_error},
                                  {"tau_deviation_%", d->tau},
                                  {"tau_error_%", d->tau_error},
                                  {"tau_with_gaps_%", d->early_tau},
                                  {"omega_stepwise_%", d->stepwise_omega},
                                  {"tau_stepwise_%", d->stepwise_tau}};
    return paper_csv(p, "means", KINDS, 8, means);
}

static talus_status run(paper* p)
{
    const int seeds = p->brief ? 8 : 40;
    kind_results* kinds = paper_alloc(p, KINDS, sizeof *kinds);
    if (!kinds) return TALUS_ERR_MEMORY;
    for (int i = 0; i < KINDS; i++) {
        TRY(run_kind(p, SWEEPS[i], seeds, (double)i / KINDS, &kinds[i]));
    }
    table(p, seeds, kinds);
    notes(p, seeds, kinds);
    const deviations d = deviations_of(seeds, kinds);
    TRY(write_data(p, kinds, &d));
    return draw(p, kinds, &d);
}

const paper_experiment paper_chain = {
    .name = "chain",
    .title = "Fifty rigid disks hit a wall and ring",
    .source = "Unger & Kertész, Figs. 6 and 7; Unger, Brendel, Wolf & Kertész, Figs. 3 and 4",
    .about = "A row of 50 rigid, inelastic disks is pushed against a wall with a fixed number of "
             "sweeps a step. The sweeps do not suffice for exact forces, and the row oscillates "
             "like a damped elastic chain. Frequency and damping time of its longest wave are "
             "compared with what the theory of the sweeps predicts.",
    .run = run,
};
