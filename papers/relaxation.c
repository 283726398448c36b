/// Relaxation of contact forces: how a sweep spreads information (UBWK III.A and appendix A).
///
/// In a chain of touching disks the one-contact solution is
///     R_i := m/(2h) (v_i - v_{i+1}) + (R_{i-1} + R_{i+1})/2    (UBWK 7)
/// so the error e of the forces obeys, sweep by sweep, a diffusion equation with the constant
/// D = q d^2 a sweep (UBWK 8-9). If all contacts are solved at once from the forces before the
/// sweep, q = 1/2 (UBWK 11); if they are solved one after the other in random order, q = (4 sqrt(e)
/// - 5)/2 in the mean over all orders (UBWK A4). The papers tell nothing of other orders. For
/// sweeps along the chain e'_i = (e'_{i-1} + e_{i+1})/2, and a wave exp(ikx) is multiplied by
/// exp(ikd)/(2 - exp(-ikd)) = 1 - (kd)^2 + i (kd)^3 + ...: q = 1 and no drift, in either direction,
/// hence also for sweeps that alternate.
///
/// Two measurements. A point disturbance: two neighbours of a chain at rest under load get opposite
/// velocities such that only the force between them is wrong; after N sweeps of one step the error
/// should have spread as a Gaussian of variance 2 q N d^2. And modes: all disks get the velocities
/// of one wave, whose error should decrease by the factor 1 - q (kd)^2 a sweep, or, for disks that
/// are not small against the wave, by the factor that follows from UBWK (A2) when the phases of
/// neighbours are kept (chain_sweep_factor()).
#include "chain.h"
#include "fit.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { ORDERS = 4, MOST_TIMES = 6, MODES = 9 };

static const char* const NAMES[ORDERS] = {"random", "parallel", "forward", "alternating"};
static const talus_sweep_order ORDER[ORDERS] = {TALUS_ORDER_RANDOM, TALUS_ORDER_PARALLEL,
                                                TALUS_ORDER_FORWARD, TALUS_ORDER_ALTERNATING};
/// Load and change of forces: so small that all trials together hardly move the disks.
static const double LOAD = 1e-6, DISTURBANCE = 1e-8;

/// Sizes of the experiment.
typedef struct sizes {
    int64_t disks;
    int trials;      ///< of random sweeps
    int mode_trials; ///< for each mode
    int times;       ///< numbers of sweeps at which profiles are taken
    int sweeps[MOST_TIMES];
} sizes;

static const sizes FULL = {601, 1500, 200, 6, {12, 25, 50, 100, 200, 400}};
static const sizes BRIEF = {281, 400, 30, 4, {10, 20, 40, 80}};

/// What is found.
typedef struct findings {
    double* profile;                   ///< [times][disks] mean error of random sweeps
    double spread[ORDERS][MOST_TIMES]; ///< variance/(2 d^2) of the disturbance
    double spread_error[MOST_TIMES];   ///< standard error of that of random sweeps
    double kd[MODES];
    double decay[ORDERS][MODES]; ///< q(k) of the decay of modes
    double decay_error[MODES];   ///< standard error of that of random sweeps
} findings;

static double expected_q(int order)
{
    const double q[ORDERS] = {chain_q_random(), chain_q_parallel(), 1.0, 1.0};
    return q[order];
}

/// A chain under load, and room for its forces.
typedef struct probe {
    const sizes* size;
    talus_world* world;
    double* before; ///< [disks] contact forces with which the sweeps begin
    double* after;  ///< [disks] error of the forces after the sweeps
    double* trial;  ///< [trials] what the trials found
    double* weight; ///< [trials]
    int sign;       ///< changes from trial to trial, so that their effects cancel
} probe;

/// Give the disks the velocities that the present forces would stop in one step: these forces are
/// the exact ones, whatever they are.
static void hold(probe* b)
{
    const int64_t disks = b->size->disks;
    chain_forces(b->world, b->before);
    for (int64_t i = 0; i < disks; i++) {
        const double right = i + 1 < disks ? b->before[i + 1] : LOAD;
        chain_push(b->world, i, right - b->before[i]);
    }
    b->sign = -b->sign;
}

/// Add to the velocity of a disk.
static void nudge(probe* b, int64_t disk, double velocity)
{
    talus_editable_grains grains;
    if (talus_world_edit_grains(b->world, &grains, NULL) < 0) return;
    grains.velocity[disk * grains.dim] += velocity;
}

/// Do one step with this many sweeps; `after` becomes the change of the forces.
static talus_status sweep(paper* p, probe* b, int order, int sweeps)
{
    const talus_solver_def solver = chain_sweeps(sweeps, ORDER[order]);
    TRY(talus_world_set_solver(b->world, &solver, &p->error));
    TRY(talus_world_step(b->world, 1.0, NULL, &p->error));
    chain_forces(b->world, b->after);
    for (int64_t i = 0; i < b->size->disks; i++) b->after[i] -= b->before[i];
    return TALUS_OK;
}

// ---- a point disturbance -----------------------------------------------------------------------

/// Error of all forces, in parts of the disturbance, after some sweeps. The two disks that meet at
/// the middle contact get an extra velocity a h/m apart: the exact force there is smaller by a than
/// the one with which the sweeps begin, all others are the same.
static talus_status disturb(paper* p, probe* b, int order, int sweeps)
{
    const int64_t middle = b->size->disks / 2;
    hold(b);
    const double a = b->sign * DISTURBANCE;
    nudge(b, middle - 1, -a);
    nudge(b, middle, a);
    TRY(sweep(p, b, order, sweeps));
    b->after[middle] += a;
    for (int64_t i = 0; i < b->size->disks; i++) b->after[i] /= a;
    return TALUS_OK;
}

/// Sum of an error, and half its second moment about the middle contact.
static void moments(const sizes* s, const double* error, double* sum, double* half_second)
{
    *sum = *half_second = 0.0;
    for (int64_t i = 0; i < s->disks; i++) {
        const double x = (double)(i - s->disks / 2);
        *sum += error[i];
        *half_second += 0.5 * x * x * error[i];
    }
}

/// Ratio of the means of two numbers that were measured together. How much of a point disturbance
/// is left depends on the contacts beside it and on the first few sweeps, for the sum and for the
/// moment alike: their ratio is far more certain than both.
static double ratio_of_means(int count, const double* above, double* below, double* error)
{
    const double mean = fit_mean(count, below).mean, ratio = fit_mean(count, above).mean / mean;
    for (int i = 0; i < count; i++) below[i] = (above[i] - ratio * below[i]) / mean;
    *error = fit_mean(count, below).error;
    return ratio;
}

static talus_status spread_of_order(paper* p, probe* b, int order, findings* f)
{
    const sizes* s = b->size;
    const int trials = ORDER[order] == TALUS_ORDER_RANDOM ? s->trials : 1;
    for (int t = 0; t < s->times; t++) {
        double* profile = f->profile + t * s->disks;
        for (int trial = 0; trial < trials; trial++) {
            TRY(disturb(p, b, order, s->sweeps[t]));
            moments(s, b->after, &b->weight[trial], &b->trial[trial]);
            for (int64_t i = 0; order == 0 && i < s->disks; i++) profile[i] += b->after[i];
        }
        const double sum = trials * fit_mean(trials, b->weight).mean;
        for (int64_t i = 0; order == 0 && i < s->disks; i++) profile[i] /= sum;
        double error;
        f->spread[order][t] = ratio_of_means(trials, b->trial, b->weight, &error);
        if (order == 0) f->spread_error[t] = error;
    }
    return TALUS_OK;
}

// ---- modes -------------------------------------------------------------------------------------

/// Part of the error of a mode that is left after some sweeps. Extra velocities V sin(k x) of the
/// disks change the exact forces by -a cos(k x) with a = m V/(2 h sin(kd/2)). The contact with the
/// wall has half the weight of the others. Sweeps along the chain also shift the wave by some
/// (kd)^3 in each: of those the part with sin(k x) counts, too.
static talus_status decay(paper* p, probe* b, int order, int sweeps, double kd, double* left)
{
    const int64_t disks = b->size->disks;
    double sum = 0.0, shifted = 0.0;
    hold(b);
    const double a = b->sign * DISTURBANCE, speed = 2.0 * sin(0.5 * kd) * a;
    for (int64_t i = 0; i < disks; i++) nudge(b, i, speed * chain_mode_velocity(kd, i));
    TRY(sweep(p, b, order, sweeps));
    for (int64_t i = 0; i < disks; i++) {
        const double wave = cos(kd * (double)i), error = b->after[i] / a + wave;
        sum += (i == 0 ? 0.5 : 1.0) * wave * error;
        shifted += sin(kd * (double)i) * error;
    }
    *left = 2.0 / (double)disks * (ORDER[order] == TALUS_ORDER_FORWARD ? hypot(sum, shifted) : sum);
    return TALUS_OK;
}

/// q(k) such that the error was multiplied by 1 - q (kd)^2 in each sweep. After 1/(q k^2 d^2)
/// sweeps about 1/e of it is left; an even number lets sweeps alternate.
static talus_status decay_of_order(paper* p, probe* b, int order, findings* f)
{
    const int trials = ORDER[order] == TALUS_ORDER_RANDOM ? b->size->mode_trials : 1;
    for (int j = 0; j < MODES; j++) {
        const double kd = f->kd[j], square = kd * kd;
        const int sweeps = 2 * (int)ceil(0.5 / (expected_q(order) * square));
        for (int trial = 0; trial < trials; trial++) {
            TRY(decay(p, b, order, sweeps, kd, &b->trial[trial]));
        }
        const fit_mean_result mean = fit_mean(trials, b->trial);
        f->decay[order][j] = (1.0 - pow(mean.mean, 1.0 / sweeps)) / square;
        if (order == 0) f->decay_error[j] = mean.error / (mean.mean * sweeps * square);
    }
    return TALUS_OK;
}

/// Wave numbers of modes, from waves much longer than a disk to waves of about five disks.
static void choose_modes(const sizes* s, findings* f)
{
    const double longest = 0.05, shortest = 1.2;
    for (int j = 0; j < MODES; j++) {
        const double wanted = longest * pow(shortest / longest, j / (MODES - 1.0));
        f->kd[j] = chain_wave_number(s->disks, lrint(wanted * (double)s->disks / M_PI - 0.5));
    }
}

/// q(k) as exact theory has it; of sweeps along the chain from the modulus of the factor above.
static double theory(int order, double kd, int64_t disks)
{
    const double factor[ORDERS] = {chain_sweep_factor(kd, disks), cos(kd),
                                   1.0 / sqrt(5.0 - 4.0 * cos(kd)),
                                   1.0 / sqrt(5.0 - 4.0 * cos(kd))};
    return (1.0 - factor[order]) / (kd * kd);
}

// ---- results -----------------------------------------------------------------------------------

/// Noise of the mean profile in parts of its peak: the exact one is symmetric, so the difference of
/// its halves is noise.
static double profile_noise(const sizes* s, const double* profile, int64_t width)
{
    const int64_t middle = s->disks / 2;
    double sum = 0.0;
    for (int64_t x = 1; x <= width; x++) {
        sum += pow(profile[middle + x] - profile[middle - x], 2.0);
    }
    return sqrt(0.5 * sum / (double)width) / profile[middle];
}

static double gauss(double x, double variance)
{
    return exp(-0.5 * x * x / variance) / sqrt(2.0 * M_PI * variance);
}

/// The mean profile against the Gaussian. ln(sweep factor) = -q k^2 + c k^4 + ...: the fourth
/// cumulant 24 c N of the exact mean changes the peak by the part 24 c N/(8 variance^2).
static void profile_row(paper* p, const sizes* s, const findings* f)
{
    const int last = s->times - 1;
    const double* profile = f->profile + last * s->disks;
    const double variance = 2.0 * chain_q_random() * s->sweeps[last], k = 0.05;
    const double c = (log(chain_sweep_factor(k, 0)) / (k * k) + chain_q_random()) / (k * k);
    const double cumulant = 3.0 * fabs(c) * s->sweeps[last] / (variance * variance);
    const double noise = profile_noise(s, profile, (int64_t)sqrt(variance));
    double worst = 0.0;
    for (int64_t i = 0; i < s->disks; i++) {
        const double x = (double)(i - s->disks / 2);
        worst = fmax(worst, fabs(profile[i] / gauss(x, variance) - 1.0) * gauss(x, variance) /
                                gauss(0.0, variance));
    }
    paper_between(p, "random: largest distance of the profile from the Gaussian / peak", worst, 0.0,
                  cumulant + 5.0 * noise,
                  "fourth cumulant of UBWK (A2), and 5 standard errors of the mean profile (its "
                  "asymmetry): the largest of some hundred points");
}

/// q(k) of random and parallel sweeps against exact theory; and q itself, from all modes together,
/// each divided by what theory says of its k.
static void mode_rows(paper* p, const sizes* s, const findings* f)
{
    double worst = 0.0, off = 0.0, sum = 0.0, weights = 0.0;
    for (int j = 0; j < MODES; j++) {
        const double kd = f->kd[j], exact = theory(0, kd, s->disks);
        const double part = f->decay_error[j] / exact, weight = 1.0 / (part * part);
        sum += weight * f->decay[0][j] / exact;
        weights += weight;
        worst = fmax(worst, fabs(f->decay[0][j] - exact) / f->decay_error[j]);
        off = fmax(off, fabs(f->decay[1][j] / theory(1, kd, 0) - 1.0));
    }
    const double q = chain_q_random();
    paper_within(p, "q, random sweeps (modes)", q * sum / weights, q, 4.0 * q / sqrt(weights),
                 "q(k) of all modes over its theory, times (4 sqrt(e) - 5)/2; 4 standard errors");
    paper_between(p, "random: q(k) against theory, largest deviation / standard error", worst, 0.0,
                  4.0, "UBWK (A2) with the phases of neighbours kept; 9 modes, normal errors");
    paper_between(p, "parallel: q(k) against (1 - cos kd)/(kd)^2, largest relative deviation", off,
                  0.0, 1e-9, "modes of the chain are eigenvectors of the parallel sweep");
}

static void table(paper* p, const sizes* s, const findings* f)
{
    const int last = s->times - 1;
    const double sweeps = s->sweeps[last], random_error = f->spread_error[last] / sweeps;
    paper_within(p, "q, random sweeps (spreading)", f->spread[0][last] / sweeps, chain_q_random(),
                 4.0 * random_error, "(4 sqrt(e) - 5)/2, UBWK (A4); 4 standard errors over trials");
    paper_within(p, "q, parallel (spreading)", f->spread[1][last] / sweeps, chain_q_parallel(),
                 1e-6, "1/2, UBWK (11); roundings of 1e-14 of the disturbance, times x^2");
    paper_within(p, "q, forward (spreading)", f->spread[2][last] / sweeps, 1.0, 1e-6,
                 "not in the papers: factor exp(ik)/(2 - exp(-ik)) = 1 - k^2 + i k^3");
    paper_within(p, "q, alternating (spreading)", f->spread[3][last] / sweeps, 1.0, 1e-6,
                 "not in the papers: the factors of both directions are conjugate");
    profile_row(p, s, f);
    mode_rows(p, s, f);
}

/// Profiles at three times, some of the points, with the Gaussians.
static talus_status draw_profiles(paper* p, const sizes* s, const findings* f, talus_figure* figure,
                                  double* room)
{
    const int64_t middle = s->disks / 2, wide = s->disks / 5, count = 2 * wide + 1;
    double *x = room, *y = x + s->disks, *dots_x = y + s->disks, *dots_y = dots_x + s->disks;
    for (int t = s->times - 3; t < s->times; t++) {
        const double* profile = f->profile + t * s->disks + middle;
        plot_style style = {t - s->times + 3, TALUS_CURVE_DOTS, TALUS_DASH_SOLID};
        int64_t dots = 0;
        for (int64_t i = -wide; i <= wide; i += 1 + wide / 40, dots++) {
            dots_x[dots] = (double)i;
            dots_y[dots] = profile[i];
        }
        for (int64_t i = 0; i < count; i++) {
            x[i] = (double)(i - wide);
            y[i] = gauss(x[i], 2.0 * chain_q_random() * s->sweeps[t]);
        }
        char label[64];
        snprintf(label, sizeof label, "after %d sweeps", s->sweeps[t]);
        TRY(plot_curve(p, figure, 0, style, label, dots, dots_x, dots_y));
        style.style = TALUS_CURVE_LINE;
        TRY(plot_curve(p, figure, 0, style, NULL, count, x, y));
    }
    return TALUS_OK;
}

/// Dots of one order and the line of its theory. Alternating sweeps do what forward ones do: their
/// dots are larger, around those of the others, and come first.
static talus_status draw_order(paper* p, talus_figure* figure, int panel, int order,
                               const double* dots_x, const double* dots_y, int dots,
                               const double* line_x, const double* line_y, int points)
{
    talus_curve_def curve = talus_curve_default();
    curve.label = NAMES[order];
    curve.x = dots_x;
    curve.y = dots_y;
    curve.count = dots;
    curve.style = TALUS_CURVE_DOTS;
    curve.colour = curve.marker = order;
    if (order == ORDERS - 1) curve.dot_size *= 2.2;
    TRY(talus_figure_curve(figure, panel, &curve, &p->error));
    const plot_style line = {order, TALUS_CURVE_LINE, TALUS_DASH_SOLID};
    return plot_curve(p, figure, panel, line, NULL, points, line_x, line_y);
}

static talus_status draw_spread(paper* p, const sizes* s, const findings* f, talus_figure* figure)
{
    double sweeps[MOST_TIMES], ends[2] = {1.0, 1.2 * s->sweeps[s->times - 1]}, line[2];
    for (int t = 0; t < s->times; t++) sweeps[t] = s->sweeps[t];
    for (int order = ORDERS - 1; order >= 0; order--) {
        for (int i = 0; i < 2; i++) line[i] = expected_q(order) * ends[i];
        TRY(draw_order(p, figure, 1, order, sweeps, f->spread[order], s->times, ends, line, 2));
    }
    return TALUS_OK;
}

static talus_status draw_decay(paper* p, const findings* f, talus_figure* figure)
{
    enum { POINTS = 120 };
    double kd[POINTS], line[POINTS];
    for (int order = ORDERS - 1; order >= 0; order--) {
        for (int i = 0; i < POINTS; i++) {
            kd[i] = 1.25 * (i + 1) / POINTS;
            line[i] = theory(order, kd[i], 0);
        }
        TRY(draw_order(p, figure, 2, order, f->kd, f->decay[order], MODES, kd, line, POINTS));
    }
    return TALUS_OK;
}

static talus_status draw(paper* p, const sizes* s, const findings* f)
{
    double* room = paper_alloc(p, 4 * (size_t)s->disks, sizeof *room);
    if (!room) return TALUS_ERR_MEMORY;
    talus_figure* figure;
    TRY(plot_figure(p, 3, 1, &figure));
    TRY(plot_axes(p, figure, 0, "random sweeps: a point disturbance", "distance x/d",
                  "error of the force / disturbance", ""));
    TRY(plot_axes(p, figure, 1, "its spreading", "sweeps N", "variance/(2 d^{2})", "xy"));
    talus_axes_def axes = talus_axes_default();
    axes.title = "decay of modes";
    axes.x_label = "wave number k d";
    axes.y_label = "q(k)";
    axes.y_high = 1.4;
    TRY(talus_figure_axes(figure, 2, &axes, &p->error));
    TRY(draw_profiles(p, s, f, figure, room));
    TRY(draw_spread(p, s, f, figure));
    TRY(draw_decay(p, f, figure));
    return paper_figure(
        p, NULL, figure,
        "Contact forces relax diffusively during the sweeps of one step. Left: error of the forces "
        "after a point disturbance, mean over random sweeps, with Gaussians of variance 2 q N. "
        "Middle: that variance for all orders of the sweep, lines q N. Right: q from the decay of "
        "single modes, lines: exact theory for the infinite chain.");
}

static talus_status write_data(paper* p, const sizes* s, const findings* f)
{
    double sweeps[MOST_TIMES];
    for (int t = 0; t < s->times; t++) sweeps[t] = s->sweeps[t];
    const paper_column spread[] = {{"sweeps", sweeps},
                                   {"variance/2d2_random", f->spread[0]},
                                   {"error_random", f->spread_error},
                                   {"parallel", f->spread[1]},
                                   {"forward", f->spread[2]},
                                   {"alternating", f->spread[3]}};
    TRY(paper_csv(p, "spreading", s->times, 6, spread));
    const paper_column modes[] = {{"kd", f->kd},
                                  {"q_random", f->decay[0]},
                                  {"error_random", f->decay_error},
                                  {"q_parallel", f->decay[1]},
                                  {"q_forward", f->decay[2]},
                                  {"q_alternating", f->decay[3]}};
    return paper_csv(p, "modes", MODES, 6, modes);
}

static talus_status run(paper* p)
{
    const sizes* s = p->brief ? &BRIEF : &FULL;
    const size_t disks = (size_t)s->disks, trials = (size_t)s->trials;
    double* room = paper_alloc(p, 2 * disks + 2 * trials, sizeof *room);
    findings f = {.profile = paper_alloc(p, (size_t)s->times * disks, sizeof *f.profile)};
    if (!f.profile || !room) return TALUS_ERR_MEMORY;
    probe b = {.size = s,
               .before = room,
               .after = room + disks,
               .trial = room + 2 * disks,
               .weight = room + 2 * disks + trials,
               .sign = 1};
    chain_def def = chain_default();
    def.disks = s->disks;
    def.overlap = 0.01;
    def.force = LOAD;
    def.seed = p->seed;
    TRY(chain_make(p, &def, &b.world));
    choose_modes(s, &f);
    TRY(chain_press(p, b.world, 1.0));
    for (int order = 0; order < ORDERS; order++) {
        TRY(spread_of_order(p, &b, order, &f));
        paper_progress(p, 0.5 + 0.1 * order);
        TRY(decay_of_order(p, &b, order, &f));
    }
    table(p, s, &f);
    paper_note(p,
               "The papers give no measurement of q. Here: %lld disks, %d trials of random sweeps.",
               (long long)s->disks, s->trials);
    TRY(write_data(p, s, &f));
    return draw(p, s, &f);
}

const paper_experiment paper_relaxation = {
    .name = "relaxation",
    .title = "Contact forces relax diffusively: q of random, parallel and ordered sweeps",
    .source = "Unger, Brendel, Wolf & Kertész, sections II.A.2, III.A, appendix A; Unger & Kertész "
              "(38)-(48)",
    .about =
        "A chain of touching disks rests under a load. A disturbance of one contact force, and "
        "of single modes, is followed through the sweeps of one step: it spreads like heat, "
        "with a diffusion constant q d^2 a sweep that depends on the order in which a sweep "
        "visits the contacts.",
    .run = run,
};
