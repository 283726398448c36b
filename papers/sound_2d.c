/// Sound in a packing of rigid disks (UK section 5.3 with Figs. 5 and 8, UBWK section IV).
///
/// 1000 disks, radii uniform in [r, 2r], masses like areas, friction 0.05, no gravity, lie in a box
/// under a piston with the force F. When all is at rest the force rises abruptly to F + dF. With a
/// fixed number N_I of random sweeps a step, warm started, the rigid packing answers like an
/// elastic one: the piston rings,
///     x(t) = x_0 + A exp(-t/tau) sin(omega t + phi)                                  (UBWK 21)
/// and as in the chain, where omega = k sqrt(q N_I) d/h and tau = 2 h/(q N_I d^2 k^2) (UBWK 18,
/// 20),
///     omega ~ N_I^(1/2),   tau ~ 1/N_I.
///
/// There is more to be tested. A step multiplies the error of the forces in a mode by some f, which
/// N_I sweeps make of N_I equal factors: -ln f ~ N_I. Whatever the packing, that alone gives
///     exp(-h/tau) = sqrt(f) = cos(omega h)                      (chain_wave_stepwise(), chain.h)
/// so -2 ln cos(omega h) and 2 h/tau are the same number, and proportional to N_I. The first is
/// (omega h)^2 for slow waves; it is the measure that needs no small steps.
#include "chain.h"
#include "fit.h"
#include "packing.h"
#include "paper.h"
#include "plot.h"
#include <math.h>
#include <stdio.h>

enum { MOST_SWEEPS = 8, MOST_PACKINGS = 8 };

/// What is not in the papers.
static const double small_rise = 1e-3; ///< dF/F of the waves that are measured
static const double large_rise = 0.2;  ///< of the first one, in which the packing gives way

typedef struct setting {
    int64_t disks;
    int packings;
    int count; ///< of numbers of sweeps
    int sweeps[MOST_SWEEPS];
} setting;

static setting choose(bool brief)
{
    if (brief) return (setting){300, 2, 4, {4, 8, 16, 32}};
    return (setting){1000, 4, 7, {5, 8, 12, 20, 32, 50, 80}};
}

/// A packing that is being played on. Time counts in steps h, lengths in mean diameters.
typedef struct instrument {
    packing_def def;
    talus_world* world;
    int lid;
    double h, diameter, height;
    double pressure; ///< now
} instrument;

/// The piston after a rise of its force.
typedef struct ring {
    int sweeps;
    int64_t count, from, to; ///< [from, to): what is fitted
    double* t;
    double* x;
    fit_wave wave;
} ring;

static talus_status lid_height(paper* p, const instrument* in, double* height)
{
    talus_wall_state lid;
    TRY(talus_world_wall(in->world, in->lid, &lid, &p->error));
    *height = lid.position[1];
    return TALUS_OK;
}

/// Change the force on the piston by a factor.
static talus_status press(paper* p, instrument* in, double factor)
{
    in->pressure *= factor;
    return packing_press(p, &in->def, in->world, in->pressure);
}

/// Take velocities away until nothing moves, with the sweeps that the world has.
static talus_status relax(paper* p, instrument* in)
{
    enum { MOST = 3000 };
    const double still = 1e-20 * in->pressure * packing_width(&in->def) * in->height;
    talus_step_result result = {.kinetic_energy = INFINITY};
    for (int s = 0; s < MOST && result.kinetic_energy > still; s++) {
        packing_slow(in->world, 0.96);
        TRY(talus_world_step(in->world, in->h, &result, &p->error));
    }
    return TALUS_OK;
}

static talus_status set_sweeps(paper* p, instrument* in, int sweeps)
{
    talus_solver_def solver = chain_sweeps(sweeps, TALUS_ORDER_RANDOM);
    return talus_world_set_solver(in->world, &solver, &p->error);
}

// ---- one ringing -------------------------------------------------------------------------------

/// -ln f of a chain as long as the packing is high: a guess at the packing's.
static double chain_loss(const instrument* in, int sweeps)
{
    double kd = 0.5 * M_PI * in->diameter / in->height;
    return chain_q_random() * sweeps * kd * kd;
}

/// Guess omega from the first two times at which the piston passes where it ends, and tau from it.
static void guess(ring* r)
{
    const double end = r->x[r->count - 1];
    double crossing[2] = {1, 2};
    int found = 0;
    for (int64_t i = 1; i < r->count && found < 2; i++) {
        if ((r->x[i - 1] - end) * (r->x[i] - end) < 0) crossing[found++] = r->t[i];
    }
    r->wave.omega = M_PI / fmax(crossing[1] - crossing[0], 2);
    r->wave.tau = 2 / (r->wave.omega * r->wave.omega);
}

/// Fit the wave where it is alone: overtones, the next of which dies nine times as fast, need a
/// period and a half; five tau later nothing is left.
static talus_status fit_ring(paper* p, ring* r)
{
    guess(r);
    for (int round = 0; round < 3; round++) {
        int64_t last = r->count - 12;
        int64_t from = (int64_t)(1.5 * 2 * M_PI / r->wave.omega);
        r->from = from < last ? from : last;
        int64_t to = r->from + 12 + (int64_t)(5 * r->wave.tau);
        r->to = to < r->count ? to : r->count;
        if (!fit_damped_wave(r->to - r->from, r->t + r->from, r->x + r->from, &r->wave)) {
            return paper_fail(p, "no wave could be fitted for N_I = %d", r->sweeps);
        }
    }
    return TALUS_OK;
}

/// Raise the force by a part of it and watch the piston, then bring all to rest.
static talus_status watch(paper* p, instrument* in, int sweeps, double rise, ring* r)
{
    double loss = chain_loss(in, sweeps), start, now;
    *r = (ring){.sweeps = sweeps, .count = 20 + (int64_t)(15 / sqrt(loss) + 8 / loss)};
    r->t = paper_alloc(p, (size_t)r->count, sizeof *r->t);
    r->x = paper_alloc(p, (size_t)r->count, sizeof *r->x);
    if (!r->t || !r->x) return p->error.status;
    TRY(set_sweeps(p, in, sweeps));
    TRY(lid_height(p, in, &start));
    TRY(press(p, in, 1 + rise));
    for (int64_t i = 0; i < r->count; i++) {
        TRY(talus_world_step(in->world, in->h, NULL, &p->error));
        TRY(lid_height(p, in, &now));
        r->t[i] = (double)(i + 1);
        r->x[i] = (now - start) / in->diameter;
    }
    return relax(p, in);
}

static talus_status play(paper* p, instrument* in, int sweeps, double rise, ring* r)
{
    TRY(watch(p, in, sweeps, rise, r));
    return fit_ring(p, r);
}

// ---- one packing -------------------------------------------------------------------------------

/// The two measures of -ln f that a wave gives.
static double loss_of_omega(const ring* r)
{
    return -2 * log(cos(r->wave.omega));
}
static double loss_of_tau(const ring* r)
{
    return 2 / r->wave.tau;
}

/// Make a packing and let it get used to the softest of the solvers.
///
/// An accurate solver leaves a packing that holds with just as many contacts as it needs. Soft
/// grains would not hold like that: with few sweeps it gives way, by a few tenths of a diameter,
/// until it has more contacts. A large rise of the force does the same to contacts that are about
/// to slide. Only then it answers like an elastic body.
static talus_status tune(paper* p, instrument* in, int sweeps)
{
    TRY(lid_height(p, in, &in->height));
    TRY(set_sweeps(p, in, sweeps));
    TRY(relax(p, in));
    TRY(press(p, in, 1 + large_rise));
    TRY(relax(p, in));
    return lid_height(p, in, &in->height);
}

/// What depends on the choices that the papers do not tell.
typedef struct variants {
    ring halved; ///< dF half as large
    ring heavy;  ///< a piston as heavy as all disks together
    ring large;  ///< dF = 0.2 F
} variants;

static talus_status vary(paper* p, instrument* in, int sweeps, variants* v)
{
    TRY(play(p, in, sweeps, 0.5 * small_rise, &v->halved));
    const double light = in->def.lid_mass;
    in->def.lid_mass = (double)in->def.grains;
    TRY(press(p, in, 1)); // with the new mass
    TRY(play(p, in, sweeps, small_rise, &v->heavy));
    in->def.lid_mass = light;
    return watch(p, in, sweeps, large_rise, &v->large);
}

/// All that is measured.
typedef struct results {
    setting set;
    ring rings[MOST_PACKINGS][MOST_SWEEPS];
    int middle; ///< index of the N_I of the variants and of the picture
    variants variants;
} results;

static talus_status draw_packing(paper* p, const talus_world* world)
{
    talus_figure_def def = talus_figure_default();
    def.panel_height = 400;
    talus_figure* figure;
    TRY(talus_figure_create(&def, &figure, &p->error));
    talus_picture_def picture = talus_picture_default();
    picture.forces = true;
    talus_status status = talus_figure_world(figure, 0, world, &picture, &p->error);
    if (status >= 0) {
        status =
            paper_figure(p, "setup", figure,
                         "The packing before its force rises (UK Fig. 5), with contact forces.");
    }
    talus_figure_destroy(figure);
    return status;
}

static talus_status measure_packing(paper* p, results* out, int packing, instrument* in)
{
    const setting* set = &out->set;
    TRY(tune(p, in, set->sweeps[0]));
    if (packing == 0) TRY(draw_packing(p, in->world));
    for (int s = 0; s < set->count; s++) {
        TRY(play(p, in, set->sweeps[s], small_rise, &out->rings[packing][s]));
        paper_progress(p, (packing + (s + 1.0) / set->count) / set->packings);
    }
    if (packing > 0) return TALUS_OK;
    return vary(p, in, set->sweeps[out->middle], &out->variants);
}

static talus_status run_packing(paper* p, results* out, int packing)
{
    instrument in = {.def = packing_default(), .pressure = 1};
    in.def.grains = out->set.disks;
    in.def.seed = p->seed + 1000 * (uint64_t)packing;
    in.def.threads = p->threads;
    in.h = packing_step(&in.def);
    in.diameter = in.def.radius_low + in.def.radius_high;
    TRY(packing_make(p, &in.def, &in.world));
    in.lid = talus_world_find_wall(in.world, "lid");
    talus_status status = measure_packing(p, out, packing, &in);
    talus_world_destroy(in.world);
    return status;
}

// ---- the table ---------------------------------------------------------------------------------

/// A number of a ring that should be a power of N_I.
typedef double ring_number(const ring* r);

static double omega_of(const ring* r)
{
    return r->wave.omega;
}
static double tau_of(const ring* r)
{
    return r->wave.tau;
}

/// Its exponent, the mean over the packings; the error is the larger one of that of the mean and of
/// that of the fits.
static fit_mean_result exponent(const results* res, ring_number* number)
{
    double x[MOST_SWEEPS], y[MOST_SWEEPS], slopes[MOST_PACKINGS], square = 0;
    const int packings = res->set.packings;
    for (int k = 0; k < packings; k++) {
        for (int s = 0; s < res->set.count; s++) {
            x[s] = res->set.sweeps[s];
            y[s] = number(&res->rings[k][s]);
        }
        fit_line_result fit = fit_power(res->set.count, x, y);
        slopes[k] = fit.slope;
        square += fit.slope_error * fit.slope_error;
    }
    fit_mean_result mean = fit_mean(packings, slopes);
    mean.error = fmax(mean.error, sqrt(square) / packings);
    return mean;
}

/// The exponent of omega that the exact relation cos(omega h) = sqrt(f) gives for the sweeps in use
/// when f ~ exp(-N_I) and the slowest wave is the measured one.
static double exponent_of_steps(const results* res)
{
    double x[MOST_SWEEPS], y[MOST_SWEEPS];
    const double loss = loss_of_omega(&res->rings[0][0]) / res->set.sweeps[0];
    for (int s = 0; s < res->set.count; s++) {
        x[s] = res->set.sweeps[s];
        y[s] = acos(exp(-0.5 * loss * x[s]));
    }
    return fit_power(res->set.count, x, y).slope;
}

static double mean_ratio(const results* res, double* error)
{
    double ratios[MOST_SWEEPS * MOST_PACKINGS];
    int count = 0;
    for (int k = 0; k < res->set.packings; k++) {
        for (int s = 0; s < res->set.count; s++) {
            const ring* r = &res->rings[k][s];
            ratios[count++] = loss_of_omega(r) / loss_of_tau(r);
        }
    }
    fit_mean_result mean = fit_mean(count, ratios);
    *error = mean.error;
    return mean.mean;
}

static void state_exponents(paper* p, const results* res)
{
    fit_mean_result omega = exponent(res, omega_of), tau = exponent(res, tau_of);
    fit_mean_result loss = exponent(res, loss_of_omega);
    double stepwise = exponent_of_steps(res), error;
    paper_within(p, "exponent of omega against N_I", omega.mean, 0.5,
                 3 * omega.error + (0.5 - stepwise),
                 "UBWK section IV; three standard errors of fits and packings, and what the exact "
                 "relation cos(omega h) = sqrt(f) takes off for steps that are not short");
    paper_within(p, "exponent of tau against N_I", tau.mean, -1, 3 * tau.error,
                 "UBWK section IV; three standard errors of fits and packings");
    paper_within(p, "exponent of -2 ln cos(omega h) against N_I", loss.mean, 1, 3 * loss.error,
                 "omega without the effect of the step; three standard errors");
    double ratio = mean_ratio(res, &error);
    paper_within(p, "-ln cos(omega h) tau/h", ratio, 1, 3 * error + 0.01,
                 "exp(-h/tau) = cos(omega h) in any packing; three standard errors, and 1 % for "
                 "what is left of overtones");
    paper_note(p,
               "Exponents with their standard errors over %d packings of %lld disks: omega "
               "%.4f +- %.4f, tau %.4f +- %.4f, -2 ln cos(omega h) %.4f +- %.4f.",
               res->set.packings, (long long)res->set.disks, omega.mean, omega.error, tau.mean,
               tau.error, loss.mean, loss.error);
}

/// kH of the lowest wave under a piston with a mass: kH tan(kH) = mass of the disks/of the piston.
static double wave_under(double mass_ratio)
{
    double low = 0, high = 0.5 * M_PI;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (middle * tan(middle) < mass_ratio) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void state_variants(paper* p, const results* res)
{
    const variants* v = &res->variants;
    const ring* usual = &res->rings[0][res->middle];
    const double disks = (double)res->set.disks, light = packing_default().lid_mass;
    const double spread = 3 * hypot(usual->wave.omega_error, v->halved.wave.omega_error);
    paper_within(
        p, "dF halved: omega/omega", v->halved.wave.omega / usual->wave.omega, 1,
        spread / usual->wave.omega + 0.005,
        "a linear wave; three standard errors of the fits and 0.5 % for the random sweeps");
    paper_within(p, "dF halved: tau/tau", v->halved.wave.tau / usual->wave.tau, 1, 0.05,
                 "a linear wave; random sweeps make tau vary like the scatter between packings");
    paper_within(
        p, "piston as heavy as the disks: omega/omega",
        sqrt(loss_of_omega(&v->heavy) / loss_of_omega(usual)),
        wave_under(1) / wave_under(disks / light), 0.05,
        "kH tan(kH) = mass of disks/of piston, in an even medium; a twentieth of the disks "
        "rattles and takes no part");
}

// ---- figures -----------------------------------------------------------------------------------

enum { FIT_POINTS = 200 };

/// The piston's position with the fitted curve, as UK Fig. 8.
static talus_status draw_ring(paper* p, talus_figure* figure, int panel, const ring* r,
                              const char* title)
{
    double t[FIT_POINTS], x[FIT_POINTS];
    TRY(plot_axes(p, figure, panel, title, "t/h", "(x - x_{start})/d", ""));
    TRY(plot_curve(p, figure, panel, (plot_style){.colour = 0, .style = TALUS_CURVE_DOTS}, "piston",
                   r->count, r->t, r->x));
    if (r->to == 0) return TALUS_OK;
    for (int i = 0; i < FIT_POINTS; i++) {
        double part = (double)i / (FIT_POINTS - 1);
        t[i] = r->t[r->from] + part * (r->t[r->to - 1] - r->t[r->from]);
        x[i] = fit_wave_at(&r->wave, t[i]);
    }
    return plot_curve(p, figure, panel, (plot_style){.colour = 1}, "fit", FIT_POINTS, t, x);
}

/// A number of the waves against N_I, all packings, and the power through their means.
static talus_status draw_power(paper* p, talus_figure* figure, int panel, const results* res,
                               ring_number* number, const char* title, const char* label)
{
    const setting* set = &res->set;
    double x[MOST_SWEEPS], y[MOST_SWEEPS], mean[MOST_SWEEPS] = {0};
    TRY(plot_axes(p, figure, panel, title, "N_{I}", label, "xy"));
    for (int k = 0; k < set->packings; k++) {
        for (int s = 0; s < set->count; s++) {
            x[s] = set->sweeps[s];
            y[s] = number(&res->rings[k][s]);
            mean[s] += log(y[s]) / set->packings;
        }
        TRY(plot_curve(p, figure, panel, (plot_style){.colour = k, .style = TALUS_CURVE_DOTS},
                       k == 0 ? "packings" : NULL, set->count, x, y));
    }
    for (int s = 0; s < set->count; s++) mean[s] = exp(mean[s]);
    fit_line_result fit = fit_power(set->count, x, mean);
    for (int s = 0; s < set->count; s++) mean[s] = exp(fit.intercept) * pow(x[s], fit.slope);
    char text[64];
    snprintf(text, sizeof text, "N_{I}^{%.3f}", fit.slope);
    return plot_curve(p, figure, panel, (plot_style){.colour = 7}, text, set->count, x, mean);
}

static talus_status draw_all(paper* p, const results* res, talus_figure* figure)
{
    char small[64], large[64];
    const ring* r = &res->rings[0][res->middle];
    snprintf(small, sizeof small, "N_{I} = %d, ΔF = %g F", r->sweeps, small_rise);
    snprintf(large, sizeof large, "N_{I} = %d, ΔF = %g F", r->sweeps, large_rise);
    TRY(draw_ring(p, figure, 0, r, small));
    TRY(draw_ring(p, figure, 1, &res->variants.large, large));
    TRY(draw_power(p, figure, 2, res, omega_of, "frequency", "ω h"));
    TRY(draw_power(p, figure, 3, res, tau_of, "damping time", "τ/h"));
    return paper_figure(
        p, NULL, figure,
        "The piston after its force rose (UK Fig. 8): a small rise rings from the start, a large "
        "one "
        "after contacts have stopped sliding. Below: frequency and damping time against the number "
        "of sweeps, with fitted powers.");
}

static talus_status draw(paper* p, const results* res)
{
    talus_figure_def def = talus_figure_default();
    talus_figure* figure;
    def.columns = def.rows = 2;
    TRY(talus_figure_create(&def, &figure, &p->error));
    talus_status status = draw_all(p, res, figure);
    talus_figure_destroy(figure);
    return status;
}

static talus_status write_data(paper* p, const results* res)
{
    enum { ROWS = MOST_SWEEPS * MOST_PACKINGS, COLUMNS = 7 };
    double column[COLUMNS][ROWS];
    int64_t row = 0;
    for (int k = 0; k < res->set.packings; k++) {
        for (int s = 0; s < res->set.count; s++, row++) {
            const fit_wave* w = &res->rings[k][s].wave;
            const double values[COLUMNS] = {k,      res->set.sweeps[s], w->omega,    w->omega_error,
                                            w->tau, w->tau_error,       w->amplitude};
            for (int c = 0; c < COLUMNS; c++) column[c][row] = values[c];
        }
    }
    TRY(paper_csv(p, "waves", row, COLUMNS,
                  (paper_column[]){{"packing", column[0]},
                                   {"N_I", column[1]},
                                   {"omega_h", column[2]},
                                   {"error", column[3]},
                                   {"tau/h", column[4]},
                                   {"error", column[5]},
                                   {"amplitude/d", column[6]}}));
    const ring* r = &res->rings[0][res->middle];
    return paper_csv(p, NULL, r->count, 2, (paper_column[]){{"t/h", r->t}, {"x/d", r->x}});
}

static talus_status run(paper* p)
{
    results* res = paper_alloc(p, 1, sizeof *res);
    if (!res) return p->error.status;
    res->set = choose(p->brief);
    res->middle = res->set.count / 2;
    for (int k = 0; k < res->set.packings; k++) TRY(run_packing(p, res, k));
    state_exponents(p, res);
    state_variants(p, res);
    TRY(write_data(p, res));
    return draw(p, res);
}

const paper_experiment paper_sound_2d = {
    .name = "sound-2d",
    .title = "Sound in a two-dimensional packing",
    .source = "Unger & Kertész, Figs. 5 and 8; Unger, Brendel, Wolf & Kertész, section IV",
    .about = "Disks under a piston, whose force rises by a little. With a fixed number of random "
             "sweeps a step the rigid packing rings like an elastic one: the frequency grows like "
             "the root of the number of sweeps, the damping time falls like its inverse.",
    .run = run,
};
