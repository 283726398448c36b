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
/// N_I sweeps make of N_I factors, about equal: -ln f ~ N_I. Whatever the packing, that
/// alone gives
///     exp(-h/tau) = sqrt(f) = cos(omega h)                      (chain_wave_stepwise(), chain.h)
/// so -2 ln cos(omega h) and 2 h/tau are the same number, and proportional to N_I. The first is
/// (omega h)^2 for slow waves; it is the measure that needs no small steps.
#include "fit.h"
#include "packing.h"
#include "paper.h"
#include "plot.h"
#include "ring.h"
#include <math.h>
#include <stdio.h>

enum { MOST_SWEEPS = 8, MOST_PACKINGS = 8 };

/// What is not in the papers.
static const double small_rise = 1e-3; ///< dF/F of the waves that are measured
static const double large_rise = 0.2;  ///< of the first one, in which the packing gives way
/// Mass of the piston over that of all disks. One of ten disks moves so fast in its first guess of
/// a step, under the force alone, that the search for contacts is repeated and the step, where that
/// finds a disk just below the piston, solved again: with 2 N_I sweeps in all, sqrt(2) in omega.
static const double light_piston = 0.1, heavy_piston = 1;

typedef struct setting {
    int64_t disks;
    int packings;
    int count; ///< of numbers of sweeps
    int sweeps[MOST_SWEEPS];
} setting;

// ---- one packing -------------------------------------------------------------------------------

/// What depends on the choices that the papers do not tell.
typedef struct variants {
    ring halved;       ///< dF half as large
    ring large;        ///< dF = 0.2 F
    ring light, heavy; ///< a packing without side walls, with the usual piston and a heavy one
} variants;

/// All that is measured.
typedef struct results {
    setting set;
    ring rings[MOST_PACKINGS][MOST_SWEEPS];
    int middle; ///< index of the N_I of the variants and of the picture
    variants variants;
    packing_def def; ///< of all packings, but for the seed
} results;

static talus_status draw_packing(paper* p, const talus_world* world)
{
    talus_figure_def def = talus_figure_default();
    def.panel_height = 400;
    talus_figure* figure;
    TRY(paper_new_figure(p, &def, &figure));
    talus_picture_def picture = talus_picture_default();
    picture.forces = true;
    TRY(talus_figure_world(figure, 0, world, &picture, &p->error));
    return paper_figure(p, "setup", figure,
                        "The packing before its force rises (UK Fig. 5), with contact forces.");
}

static talus_status make_packing(paper* p, const results* res, int packing, bool periodic,
                                 ring_packing* in)
{
    *in = (ring_packing){
        .def = res->def, .h = packing_step(&res->def), .pressure = res->def.pressure};
    in->def.seed = p->seed + 1000 * (uint64_t)packing;
    in->def.periodic = periodic;
    in->diameter = in->def.radius_low + in->def.radius_high;
    TRY(packing_make(p, &in->def, &in->world));
    in->lid = talus_world_find_wall(in->world, "lid");
    return TALUS_OK;
}

static talus_status run_packing(paper* p, results* out, int packing)
{
    ring_packing in;
    TRY(make_packing(p, out, packing, false, &in));
    const setting* set = &out->set;
    TRY(ring_prepare(p, &in, set->sweeps[0], large_rise));
    if (packing == 0) TRY(draw_packing(p, in.world));
    for (int s = 0; s < set->count; s++) {
        TRY(ring_play(p, &in, set->sweeps[s], small_rise, &out->rings[packing][s]));
        paper_progress(p, (packing + (s + 1.0) / set->count) / set->packings);
    }
    if (packing == 0) {
        const int sweeps = set->sweeps[out->middle];
        TRY(ring_play(p, &in, sweeps, 0.5 * small_rise, &out->variants.halved));
        TRY(ring_watch(p, &in, sweeps, large_rise, &out->variants.large));
    }
    paper_end_world(p, in.world);
    return TALUS_OK;
}

/// Two pistons on a packing without side walls: its wave is plane, so their masses tell its kH.
static talus_status run_pistons(paper* p, results* out)
{
    ring_packing in;
    TRY(make_packing(p, out, 0, true, &in));
    const int sweeps = out->set.sweeps[out->middle];
    TRY(ring_prepare(p, &in, sweeps, large_rise));
    TRY(ring_play(p, &in, sweeps, small_rise, &out->variants.light));
    in.def.lid_mass = heavy_piston * (double)in.def.grains;
    TRY(ring_play(p, &in, sweeps, small_rise, &out->variants.heavy));
    paper_end_world(p, in.world);
    return TALUS_OK;
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
    const double loss = ring_loss_of_omega(&res->rings[0][0]) / res->set.sweeps[0];
    for (int s = 0; s < res->set.count; s++) {
        x[s] = res->set.sweeps[s];
        y[s] = acos(exp(-0.5 * loss * x[s]));
    }
    return fit_power(res->set.count, x, y).slope;
}

/// c in -2 ln cos(omega h) = a (N_I + c), from lines a + a c/N_I.
static fit_mean_result extra_sweeps(const results* res)
{
    double x[MOST_SWEEPS], y[MOST_SWEEPS], extra[MOST_PACKINGS];
    for (int k = 0; k < res->set.packings; k++) {
        for (int s = 0; s < res->set.count; s++) {
            x[s] = 1.0 / res->set.sweeps[s];
            y[s] = ring_loss_of_omega(&res->rings[k][s]) * x[s];
        }
        fit_line_result fit = fit_line(res->set.count, x, y);
        extra[k] = fit.slope / fit.intercept;
    }
    return fit_mean(res->set.packings, extra);
}

/// Mean and scatter of the ratio of the two measures of -ln f over all waves.
static fit_mean_result loss_ratio(const results* res)
{
    double ratios[MOST_SWEEPS * MOST_PACKINGS];
    int count = 0;
    for (int k = 0; k < res->set.packings; k++) {
        for (int s = 0; s < res->set.count; s++) {
            const ring* r = &res->rings[k][s];
            ratios[count++] = ring_loss_of_omega(r) / ring_loss_of_tau(r);
        }
    }
    return fit_mean(count, ratios);
}

static void state_exponents(paper* p, const results* res)
{
    fit_mean_result omega = exponent(res, omega_of), tau = exponent(res, tau_of);
    fit_mean_result loss = exponent(res, ring_loss_of_omega);
    double stepwise = exponent_of_steps(res);
    paper_within(p, "exponent of omega against N_I", omega.mean, 0.5,
                 3 * omega.error + (0.5 - stepwise),
                 "UBWK section IV; three standard errors of fits and packings, and what the exact "
                 "relation cos(omega h) = sqrt(f) takes off for steps that are not short");
    paper_within(p, "exponent of tau against N_I", tau.mean, -1, 3 * tau.error,
                 "UBWK section IV; three standard errors of fits and packings");
    fit_mean_result extra = extra_sweeps(res);
    paper_between(p, "-2 ln cos(omega h) ~ N_I + c: c", extra.mean, -1, 1,
                  "omega without the effect of the step: N_I sweeps a step act like N_I equal ones "
                  "to less than one");
    paper_note(p,
               "c is small, but in large packings it differs from 0 by more than its error: few "
               "sweeps act slightly less than in proportion. That stays when the same packing is "
               "played again with few and many; the reason is not known.");
    fit_mean_result ratio = loss_ratio(res);
    paper_within(p, "-ln cos(omega h) tau/h", ratio.mean, 1, 3 * ratio.error + 0.01,
                 "exp(-h/tau) = cos(omega h) in any packing; three standard errors, and 1 % for "
                 "what is left of overtones");
    paper_note(p,
               "Exponents with their standard errors over %d packings of %lld disks: omega "
               "%.4f +- %.4f, tau %.4f +- %.4f, -2 ln cos(omega h) %.4f +- %.4f, or N_I + c with "
               "c = %.2f +- %.2f.",
               res->set.packings, (long long)res->set.disks, omega.mean, omega.error, tau.mean,
               tau.error, loss.mean, loss.error, extra.mean, extra.error);
}

/// What three standard deviations become if the deviation is itself measured, with so many degrees
/// of freedom: Student's t, Fisher's expansion.
static double three_deviations(int freedom)
{
    const double z = 3, n = freedom;
    return z + (pow(z, 3) + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

/// omega under the heavy piston over that under the light one in an even medium, if only a part of
/// the disks takes part in the wave.
static double piston_ratio(double part)
{
    return ring_wave_under(part / heavy_piston) / ring_wave_under(part / light_piston);
}

/// Sweeps that were made a step, over N_I.
static double most_sweeps(const results* res)
{
    const variants* v = &res->variants;
    double most =
        fmax(v->light.sweeps_made / v->light.sweeps, v->heavy.sweeps_made / v->heavy.sweeps);
    most = fmax(most, v->halved.sweeps_made / v->halved.sweeps);
    for (int k = 0; k < res->set.packings; k++) {
        for (int s = 0; s < res->set.count; s++) {
            const ring* r = &res->rings[k][s];
            most = fmax(most, r->sweeps_made / r->sweeps);
        }
    }
    return most;
}

static void state_variants(paper* p, const results* res)
{
    const variants* v = &res->variants;
    const ring* usual = &res->rings[0][res->middle];
    const int freedom = res->set.packings * res->set.count - 1;
    const double noise = three_deviations(freedom) * M_SQRT2 * loss_ratio(res).deviation;
    paper_within(p, "dF halved: omega/omega", v->halved.wave.omega / usual->wave.omega, 1,
                 0.5 * noise,
                 "a linear wave; omega^2 varies with the random sweeps no more than tau");
    paper_within(p, "dF halved: tau/tau", v->halved.wave.tau / usual->wave.tau, 1, noise,
                 "a linear wave; three standard deviations (Student's t) of tau with the random "
                 "sweeps, as the "
                 "relation between omega and tau above shows them");
    const double even = piston_ratio(1);
    paper_within(p, "piston as heavy as the disks, no side walls: omega/omega",
                 v->heavy.wave.omega / v->light.wave.omega, even,
                 fabs(piston_ratio(0.9) - even) + 0.5 * noise * even,
                 "a plane wave in an even medium, kH tan(kH) = mass of disks/of piston; rattlers, "
                 "up to a tenth of the disks, take no part; noise as above");
    paper_within(p, "sweeps made a step/N_I, largest of all waves", most_sweeps(res), 1, 1e-9,
                 "the premise of all rows: no step was solved again");
}

static void tell_choices(paper* p, const results* res)
{
    const ring* small = &res->rings[0][res->middle];
    const ring* large = &res->variants.large;
    const double compliance = small->x[small->count - 1] / small_rise;
    paper_note(p,
               "Not in the papers, chosen here: h = 0.1 d sqrt(density/pressure), so that F moves "
               "a grain by 0.01 d a step (the chain's force does by 0.05 d); a square box; a "
               "piston of %g of the mass of all disks; dF = %g F.",
               light_piston, small_rise);
    paper_note(p,
               "A lighter piston, of ten disks, has the same exponents, but in about half of the "
               "packings each step is solved twice, since the search for contacts is repeated "
               "for a fast piston: they ring with 2 N_I sweeps, sqrt(2) times as fast.");
    paper_note(p,
               "omega h and tau/h depend on the packing (compare the symbols) and on the mass of "
               "the piston.");
    paper_note(p,
               "Packings that an accurate solver brought to rest hold with just enough contacts. "
               "With few sweeps they are not stable and give way, so each was first brought to "
               "rest with the smallest N_I, under a force that rose by %g F.",
               large_rise);
    paper_note(p,
               "After a rise as large as that the packing gives way: the piston sinks %.1f times "
               "as far as the small rise lets expect.",
               large->x[large->count - 1] / (large_rise * compliance));
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

/// A number of the waves against N_I, with a power through those of each packing.
static talus_status draw_power(paper* p, talus_figure* figure, int panel, const results* res,
                               ring_number* number, const char* title, const char* label)
{
    const setting* set = &res->set;
    double x[MOST_SWEEPS], y[MOST_SWEEPS];
    TRY(plot_axes(p, figure, panel, title, "N_{I}", label, "xy"));
    for (int k = 0; k < set->packings; k++) {
        for (int s = 0; s < set->count; s++) {
            x[s] = set->sweeps[s];
            y[s] = number(&res->rings[k][s]);
        }
        fit_line_result fit = fit_power(set->count, x, y);
        plot_style style = {.colour = k, .style = TALUS_CURVE_DOTS};
        char text[64];
        snprintf(text, sizeof text, "N_{I}^{%.3f}", fit.slope);
        TRY(plot_curve(p, figure, panel, style, text, set->count, x, y));
        TRY(plot_power(p, figure, panel, style, NULL, fit, x[0], x[set->count - 1]));
    }
    return TALUS_OK;
}

static talus_status draw(paper* p, const results* res)
{
    talus_figure* figure;
    TRY(plot_figure(p, 2, 2, &figure));
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
        "The piston after its force rose (UK Fig. 8), by little and by so much that the packing "
        "gives way. Below: frequency and damping time of each packing against the number of "
        "sweeps, with fitted powers.");
}

static talus_status write_data(paper* p, const results* res)
{
    enum { ROWS = MOST_SWEEPS * MOST_PACKINGS, COLUMNS = 6 };
    static const char* const names[COLUMNS] = {"packing",        "N_I",   "omega_h",
                                               "error of omega", "tau/h", "error of tau"};
    double values[COLUMNS][ROWS];
    paper_column columns[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) columns[c] = (paper_column){names[c], values[c]};
    int64_t rows = 0;
    for (int k = 0; k < res->set.packings; k++) {
        for (int s = 0; s < res->set.count; s++, rows++) {
            const fit_wave* w = &res->rings[k][s].wave;
            const double row[] = {k,      res->set.sweeps[s], w->omega, w->omega_error,
                                  w->tau, w->tau_error};
            for (int c = 0; c < COLUMNS; c++) values[c][rows] = row[c];
        }
    }
    TRY(paper_csv(p, "waves", rows, COLUMNS, columns));
    const ring* r = &res->rings[0][res->middle];
    return paper_csv(p, NULL, r->count, 2, (paper_column[]){{"t/h", r->t}, {"x/d", r->x}});
}

static talus_status run(paper* p)
{
    results* res = paper_alloc(p, 1, sizeof *res);
    if (!res) return p->error.status;
    res->set = p->brief ? (setting){300, 2, 4, {4, 8, 16, 32}}
                        : (setting){1000, 4, 7, {5, 8, 12, 20, 32, 50, 80}};
    res->middle = res->set.count / 2;
    res->def = packing_default();
    res->def.grains = res->set.disks;
    res->def.threads = p->threads;
    res->def.lid_mass = light_piston * (double)res->set.disks;
    for (int k = 0; k < res->set.packings; k++) TRY(run_packing(p, res, k));
    TRY(run_pistons(p, res));
    state_exponents(p, res);
    state_variants(p, res);
    tell_choices(p, res);
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
