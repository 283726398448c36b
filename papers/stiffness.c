/// Stiffness of a chain of rigid disks (UBWK III.C, UK "Global elasticity").
///
/// On large scales a chain with N_I sweeps a step of length h should move as one of springs and
/// dashpots, R = -kappa (x_{i+1} - x_i - d) - gamma (v_{i+1} - v_i) (UBWK 22), with
///     kappa = q m N_I/h^2   (UBWK 24)   and   gamma = q m N_I/h   (UBWK 25):
/// it should shrink in proportion to a load, and half the step with half the sweeps should leave
/// gamma and double kappa (UK, after 69). The papers show neither.
///
/// Here a chain rests under a load, which is raised at once. When all is at rest again it has
/// become shorter by U, because the sweeps were too few while the forces changed; at rest they are
/// exact, and nothing but this history tells how far disks overlap. Summing up all steps gives the
/// mean over the random sweeps exactly: a mode of the change of forces leaves the strain (h^2/m)
/// f/(1 - f) 4 sin^2(kd/2), f = (sweep factor)^N_I, hence stiffness kappa for long waves and more
/// for short ones. The change of forces is a step at the loaded end, where the chain therefore
/// yields less, as if it were shorter by
///     -zeta(1/2)/sqrt(pi) sqrt(q N_I) d = 0.824 sqrt(q N_I) d,
/// which is what the new load reaches within one step: U = (dF/kappa) (n - 0.824 sqrt(q N_I)).
/// Springs know no such end: U = (dF/kappa) (n - 1/2), a half because the wall's contact is twice
/// as stiff. kappa is taken from the difference of a long and a short chain, gamma from the damping
/// time, and the chain of springs and dashpots is run beside with the method soft.
#include "chain.h"
#include "fit.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { KINDS = 6, MOST_SEEDS = 32 };

/// Number of sweeps and step, the longest of which is the unit. The last three have the same N_I/h.
typedef struct setting {
    int sweeps;
    double h;
} setting;

static const setting SETTINGS[KINDS] = {{10, 1.0}, {20, 1.0}, {40, 1.0},
                                        {80, 1.0}, {40, 0.5}, {20, 0.25}};

/// Load and its change, in m d/h^2. No contact opens: the answer is linear.
static const double LOAD = 1e-3, CHANGE = 2e-4;

/// Sizes of the experiment.
typedef struct sizes {
    int64_t disks; ///< of the long chain; the short one has half of them
    int seeds;
} sizes;

static const sizes FULL = {100, MOST_SEEDS};
static const sizes BRIEF = {40, 7};

/// The answer of a chain to the change of its load. Lengths are in dF h^2/m.
typedef struct answer {
    int64_t disks, steps;
    double* t;       ///< [steps] in h
    double* moved;   ///< [steps] how far the last disk has come, towards the wall
    double* overlap; ///< [disks] how much the overlap at each contact has grown in the end
    double* before;  ///< [disks] positions
} answer;

/// What is measured with one setting, in units of d, m and its own h.
typedef struct findings {
    double kappa, kappa_error;
    double gamma, gamma_error;
    double omega, tau;             ///< of the longest wave
    double missing, missing_error; ///< n minus kappa U/dF, with the predicted kappa
    answer one, mean;              ///< of the long chain: one run, and the mean of all
} findings;

/// kappa h^2/m and gamma h/m.
static double predicted(int sweeps)
{
    return chain_q_random() * sweeps;
}

static chain_wave predicted_wave(int sweeps, int64_t disks)
{
    return chain_wave_continuous(chain_q_random(), sweeps, chain_wave_number(disks, 0));
}

/// An answer with room for the time in which the longest wave falls by exp(-9).
static talus_status make_answer(paper* p, int sweeps, int64_t disks, answer* a)
{
    const int64_t steps = (int64_t)(9.0 * predicted_wave(sweeps, disks).tau);
    *a = (answer){.disks = disks, .steps = steps};
    a->t = paper_alloc(p, 2 * (size_t)(steps + disks), sizeof *a->t);
    if (!a->t) return TALUS_ERR_MEMORY;
    a->moved = a->t + steps;
    a->overlap = a->moved + steps;
    a->before = a->overlap + disks;
    return TALUS_OK;
}

static double shortening(const answer* a)
{
    return a->moved[a->steps - 1];
}

// ---- both chains -------------------------------------------------------------------------------

/// Raise the load of a chain at rest and follow it. A soft chain makes several `parts` of a step h.
static talus_status raise_load(paper* p, talus_world* world, double h, int64_t parts, double change,
                               answer* a)
{
    const int64_t last = a->disks - 1;
    const double load[3] = {-(LOAD + change) / (h * h)}, torque[3] = {0};
    for (int64_t i = 0; i <= last; i++) a->before[i] = chain_position(world, i);
    TRY(talus_world_set_grain_force(world, last, load, torque, &p->error));
    for (int64_t t = 0; t < a->steps; t++) {
        TRY(talus_world_steps(world, h / (double)parts, parts, NULL, &p->error));
        a->t[t] = (double)(t + 1);
        a->moved[t] = (a->before[last] - chain_position(world, last)) / change;
    }
    double left = 0.0;
    for (int64_t i = 0; i <= last; i++) {
        const double moved = (a->before[i] - chain_position(world, i)) / change;
        a->overlap[i] = moved - left;
        left = moved;
    }
    return TALUS_OK;
}

/// The rigid chain.
static talus_status run_rigid(paper* p, setting s, double change, uint64_t seed, answer* a)
{
    chain_def def = chain_default();
    def.disks = a->disks;
    def.overlap = 0.01;
    def.force = LOAD / (s.h * s.h);
    def.seed = seed;
    def.solver = chain_sweeps(s.sweeps, TALUS_ORDER_RANDOM);
    talus_world* world;
    TRY(chain_make(p, &def, &world));
    TRY(chain_press(p, world, s.h));
    TRY(raise_load(p, world, s.h, 1, change, a));
    paper_end_world(p, world);
    return TALUS_OK;
}

/// The chain of springs and dashpots with the same kappa and gamma. It begins in balance.
static talus_status run_soft(paper* p, setting s, double change, answer* a)
{
    chain_def def = chain_default();
    def.disks = a->disks;
    def.force = LOAD / (s.h * s.h);
    def.method = TALUS_METHOD_SOFT;
    def.stiffness = predicted(s.sweeps) / (s.h * s.h);
    def.damping = predicted(s.sweeps) / s.h;
    def.overlap = def.force / def.stiffness;
    talus_world* world;
    talus_soft_times times;
    TRY(chain_make(p, &def, &world));
    TRY(talus_world_soft_times(world, &times, &p->error));
    TRY(raise_load(p, world, s.h, (int64_t)ceil(s.h / times.chosen), change, a));
    paper_end_world(p, world);
    return TALUS_OK;
}

/// omega and tau of the longest wave, fitted when the next one, which decays 9 times as fast, has
/// fallen to 1/120 of what it was against it.
static talus_status fit_answer(paper* p, int sweeps, const answer* a, chain_wave* out)
{
    const chain_wave guess = predicted_wave(sweeps, a->disks);
    const int64_t begin = (int64_t)(0.6 * guess.tau), end = (int64_t)(5.6 * guess.tau);
    fit_wave wave = {.omega = guess.omega, .tau = guess.tau};
    if (!fit_damped_wave(end - begin, a->t + begin, a->moved + begin, &wave)) {
        return paper_fail(p, "no damped wave fits the run with N_I = %d", sweeps);
    }
    *out = (chain_wave){.omega = wave.omega, .tau = wave.tau};
    return TALUS_OK;
}

// ---- measurements ------------------------------------------------------------------------------

/// Shortening, omega and tau of many runs of the long chain.
static talus_status measure_long(paper* p, const sizes* s, setting set, uint64_t seed,
                                 double* shorter, findings* f)
{
    double omega[MOST_SEEDS], gamma[MOST_SEEDS];
    const double kd = chain_wave_number(s->disks, 0);
    TRY(make_answer(p, set.sweeps, s->disks, &f->one));
    TRY(make_answer(p, set.sweeps, s->disks, &f->mean));
    for (int i = 0; i < s->seeds; i++) {
        chain_wave wave;
        TRY(run_rigid(p, set, CHANGE, seed + (uint64_t)i, &f->one));
        TRY(fit_answer(p, set.sweeps, &f->one, &wave));
        for (int64_t t = 0; t < f->mean.steps; t++) {
            f->mean.t[t] = f->one.t[t];
            f->mean.moved[t] += 1.0 / s->seeds * f->one.moved[t];
        }
        for (int64_t d = 0; d < f->mean.disks; d++) {
            f->mean.overlap[d] += 1.0 / s->seeds * f->one.overlap[d];
        }
        shorter[i] = shortening(&f->one);
        omega[i] = wave.omega;
        gamma[i] = 2.0 / (wave.tau * kd * kd);
    }
    const fit_mean_result mean = fit_mean(s->seeds, gamma);
    f->omega = fit_mean(s->seeds, omega).mean;
    f->gamma = mean.mean;
    f->gamma_error = mean.error;
    f->tau = 2.0 / (mean.mean * kd * kd);
    return TALUS_OK;
}

static talus_status measure(paper* p, const sizes* s, int kind, findings* f)
{
    const setting set = SETTINGS[kind];
    const uint64_t seed = p->seed + 1000 * (uint64_t)kind;
    const int64_t half = s->disks / 2;
    double short_chain[MOST_SEEDS], long_chain[MOST_SEEDS];
    answer a;
    TRY(measure_long(p, s, set, seed, long_chain, f));
    TRY(make_answer(p, set.sweeps, half, &a));
    for (int i = 0; i < s->seeds; i++) {
        TRY(run_rigid(p, set, CHANGE, seed + 500 + (uint64_t)i, &a));
        short_chain[i] = shortening(&a);
    }
    const fit_mean_result few = fit_mean(s->seeds, short_chain),
                          all = fit_mean(s->seeds, long_chain);
    const double softness = (all.mean - few.mean) / (double)(s->disks - half);
    const double error = hypot(all.error, few.error) / (double)(s->disks - half);
    f->kappa = 1.0 / softness;
    f->kappa_error = error / (softness * softness);
    f->missing = (double)s->disks - all.mean * predicted(set.sweeps);
    f->missing_error = all.error * predicted(set.sweeps);
    return TALUS_OK;
}

// ---- results -----------------------------------------------------------------------------------

static const char* name_of(int kind, const char* what, char row[96])
{
    const setting s = SETTINGS[kind];
    snprintf(row, 96, "N_I = %d, h = %g: %s", s.sweeps, s.h, what);
    return row;
}

/// kappa and gamma of every setting, in units of the longest step.
static void table(paper* p, const findings* f)
{
    char row[96];
    for (int kind = 0; kind < KINDS; kind++) {
        const double h = SETTINGS[kind].h, value = predicted(SETTINGS[kind].sweeps);
        paper_within(p, name_of(kind, "kappa", row), f[kind].kappa / (h * h), value / (h * h),
                     5.0 * f[kind].kappa_error / (h * h),
                     "q m N_I/h^2, UBWK (24); 5 standard errors of few seeds");
        paper_within(p, name_of(kind, "gamma", row), f[kind].gamma / h, value / h,
                     (5.0 * f[kind].gamma_error + 0.002 * value) / h,
                     "q m N_I/h, UBWK (25); 5 standard errors, 0.2 % for the wall's contact");
    }
    for (int kind = 0; kind < 4; kind++) {
        paper_within(p, name_of(kind, "disks missing at the loaded end", row), f[kind].missing,
                     chain_loaded_end(SETTINGS[kind].sweeps), 5.0 * f[kind].missing_error + 0.1,
                     "-zeta(1/2)/sqrt(pi) sqrt(q N_I); 5 standard errors, 0.1 for disks that are "
                     "not small");
    }
}

/// Half the step with half the sweeps, and a quarter.
static void ratio_rows(paper* p, const findings* f)
{
    for (int kind = 4; kind < KINDS; kind++) {
        const findings *a = &f[kind], *b = &f[3];
        const double gamma = 5.0 * hypot(a->gamma_error / a->gamma, b->gamma_error / b->gamma);
        const double kappa = 5.0 * hypot(a->kappa_error / a->kappa, b->kappa_error / b->kappa);
        const double h = SETTINGS[kind].h;
        char row[96];
        paper_within(p, name_of(kind, "gamma / that of N_I = 80, h = 1", row),
                     a->gamma / h / b->gamma, 1.0, gamma,
                     "UK: N_I/h kept leaves gamma; 5 standard errors");
        paper_within(p, name_of(kind, "kappa / that of N_I = 80, h = 1", row),
                     a->kappa / (h * h) / b->kappa, 1.0 / h, kappa / h,
                     "UK: and raises kappa as 1/h; 5 standard errors");
    }
}

/// The motion of the springs as the disks should do it, once short waves are gone. The loaded end
/// yields less; and disks are half a step ahead, as implicit Euler makes x = a h^2 t (t + 1)/2 of a
/// constant acceleration.
static double like_disks(int sweeps, const answer* soft, int64_t t)
{
    const double end = (chain_loaded_end(sweeps) - 0.5) / predicted(sweeps);
    return 0.5 * (soft->moved[t] + soft->moved[t + 1]) - end;
}

/// Largest distance of that from the motion of the disks, from the time on when the second wave has
/// fallen by exp(-3), in parts of the shortening.
static double largest_distance(const findings* f, const answer* soft)
{
    const answer* mean = &f[2].mean;
    double worst = 0.0;
    for (int64_t t = (int64_t)(predicted_wave(40, mean->disks).tau / 3.0); t < mean->steps - 1;
         t++) {
        worst = fmax(worst, fabs(mean->moved[t] - like_disks(40, soft, t)));
    }
    return worst / shortening(soft);
}

/// The rigid chain against the one of springs and dashpots, N_I = 40.
static talus_status twin_rows(paper* p, const sizes* s, const findings* f, const answer* soft)
{
    const double disks = (double)s->disks, kappa = predicted(40), end = chain_loaded_end(40) - 0.5;
    chain_wave wave;
    TRY(fit_answer(p, 40, soft, &wave));
    paper_within(p, "springs: kappa U/dF", shortening(soft) * kappa, disks - 0.5, 1e-3 * disks,
                 "n - 1/2; the oscillation has fallen by exp(-9)");
    paper_within(p, "omega, disks / springs", f[2].omega / wave.omega, 1.0, 0.005,
                 "same collective motion, UBWK (13) and (23); as asked for in `chain`");
    paper_within(p, "tau, disks / springs", f[2].tau / wave.tau, 1.0, 0.03, "likewise");
    paper_between(p, "largest distance of both motions / U, end and half a step aside",
                  largest_distance(f, soft), 0.0, 0.01 + 5.0 * f[2].missing_error / disks,
                  "1 % for what is left of short waves; 5 standard errors of the mean over seeds");
    paper_differs(p, "kappa U/dF, disks against springs", shortening(&f[2].mean) * kappa,
                  shortening(soft) * kappa,
                  "UBWK expect the same; but the loaded end of the disks yields less");
    paper_note(p,
               "The loaded end makes the rigid chain %.1f disks stiffer than its springs: %.1f %% "
               "of %g disks, less in longer chains.",
               end, 100.0 * end / disks, disks);
    return TALUS_OK;
}

/// Four times the change of the load shortens the chain four times as much: all is linear.
static talus_status load_rows(paper* p, const sizes* s)
{
    answer a;
    TRY(make_answer(p, 40, s->disks / 2, &a));
    TRY(run_rigid(p, SETTINGS[2], CHANGE, p->seed, &a));
    const double once = shortening(&a);
    TRY(run_rigid(p, SETTINGS[2], 4.0 * CHANGE, p->seed, &a));
    paper_within(p, "U of 4 dF / 4 U of dF, same sweeps", shortening(&a) / once, 1.0, 1e-6,
                 "shrinkage proportional to the load: linear as long as no contact opens");
    return TALUS_OK;
}

// ---- figure ------------------------------------------------------------------------------------

static const plot_style DOTS = {0, TALUS_CURVE_DOTS, TALUS_DASH_SOLID};
static const plot_style OTHER_DOTS = {1, TALUS_CURVE_DOTS, TALUS_DASH_SOLID};
static const plot_style DIAMONDS = {3, TALUS_CURVE_DOTS, TALUS_DASH_SOLID};
static const plot_style TRIANGLES = {4, TALUS_CURVE_DOTS, TALUS_DASH_SOLID};
static const plot_style OTHER_LINE = {1, TALUS_CURVE_LINE, TALUS_DASH_SOLID};
static const plot_style LINE = {2, TALUS_CURVE_LINE, TALUS_DASH_SOLID};

/// kappa and gamma against N_I, with h = 1 and with N_I/h = 80.
static talus_status draw_constants(paper* p, talus_figure* figure, const findings* f)
{
    double sweeps[KINDS], kappa[KINDS], gamma[KINDS], ends[2] = {8.0, 100.0}, line[2];
    for (int kind = 0; kind < KINDS; kind++) {
        const double h = SETTINGS[kind].h;
        sweeps[kind] = SETTINGS[kind].sweeps;
        kappa[kind] = f[kind].kappa / (h * h);
        gamma[kind] = f[kind].gamma / h;
    }
    const double fixed = predicted(80);
    double falling[2] = {fixed * 80.0 / ends[0], fixed * 80.0 / ends[1]}, flat[2] = {fixed, fixed};
    for (int i = 0; i < 2; i++) line[i] = chain_q_random() * ends[i];
    TRY(plot_axes(p, figure, 0, "stiffness and damping", "sweeps N_{I}", "κ, γ (m = h_{0} = 1)",
                  "xy"));
    TRY(plot_curve(p, figure, 0, OTHER_DOTS, "κ, h = h_{0}", 4, sweeps, kappa));
    TRY(plot_curve(p, figure, 0, DOTS, "γ, h = h_{0}", 4, sweeps, gamma));
    TRY(plot_curve(p, figure, 0, TRIANGLES, "κ, N_{I}/h = 80/h_{0}", 2, sweeps + 4, kappa + 4));
    TRY(plot_curve(p, figure, 0, DIAMONDS, "γ, N_{I}/h = 80/h_{0}", 2, sweeps + 4, gamma + 4));
    TRY(plot_curve(p, figure, 0, LINE, "q m N_{I}/h^{2}, q m N_{I}/h", 2, ends, line));
    TRY(plot_curve(p, figure, 0, LINE, NULL, 2, ends, falling));
    return plot_curve(p, figure, 0, LINE, NULL, 2, ends, flat);
}

/// The last disk of both chains.
static talus_status draw_motion(paper* p, talus_figure* figure, const findings* f,
                                const answer* soft, double* room)
{
    const answer* one = &f[2].one;
    const int64_t shown = one->steps / 3;
    for (int64_t t = 0; t < shown; t++) room[t] = like_disks(40, soft, t);
    TRY(plot_axes(p, figure, 1, "last disk after the load is raised, N_{I} = 40", "t/h",
                  "displacement [ΔF h^{2}/m]", ""));
    talus_curve_def dots = talus_curve_default();
    dots.label = "rigid disks, one run";
    dots.x = one->t;
    dots.y = one->moved;
    dots.count = shown;
    dots.style = TALUS_CURVE_DOTS;
    dots.dot_size = 3.0;
    dots.colour = dots.marker = 0;
    TRY(talus_figure_curve(figure, 1, &dots, &p->error));
    TRY(plot_curve(p, figure, 1, LINE, "springs and dashpots κ, γ", shown, soft->t, soft->moved));
    return plot_curve(p, figure, 1, OTHER_LINE, "the same, less the loaded end, h/2 ahead", shown,
                      soft->t, room);
}

/// Growth of the overlap along the chain.
static talus_status draw_overlaps(paper* p, talus_figure* figure, const findings* f, double* room)
{
    const findings* kind = &f[2];
    const int64_t disks = kind->mean.disks;
    double *y = room, *one = room + disks, *mean = one + disks, *line = mean + disks;
    for (int64_t i = 0; i < disks; i++) {
        y[i] = (double)(disks - i);
        one[i] = kind->one.overlap[i] * predicted(40);
        mean[i] = kind->mean.overlap[i] * predicted(40);
        line[i] = chain_end_strain(40, y[i]);
    }
    TRY(plot_axes(p, figure, 2, "growth of the overlaps, N_{I} = 40",
                  "distance from the loaded end [d]", "κ Δ(overlap)/ΔF", ""));
    TRY(plot_curve(p, figure, 2, DOTS, "one run", disks - 1, y + 1, one + 1));
    TRY(plot_curve(p, figure, 2, OTHER_DOTS, "mean over seeds", disks - 1, y + 1, mean + 1));
    return plot_curve(p, figure, 2, LINE, "theory", disks - 1, y + 1, line + 1);
}

static talus_status draw(paper* p, const sizes* s, const findings* f, const answer* soft)
{
    double* room = paper_alloc(p, 4 * (size_t)s->disks + (size_t)soft->steps, sizeof *room);
    if (!room) return TALUS_ERR_MEMORY;
    talus_figure* figure;
    TRY(plot_figure(p, 3, 1, &figure));
    TRY(draw_constants(p, figure, f));
    TRY(draw_motion(p, figure, f, soft, room));
    TRY(draw_overlaps(p, figure, f, room));
    return paper_figure(
        p, NULL, figure,
        "Left: stiffness from the static shortening and damping from the decay of the longest "
        "wave, equal numbers with h = h_0; N_I/h kept leaves γ and raises κ. Middle: the last disk "
        "after the load was raised at once, and the chain of springs and dashpots with the "
        "predicted κ and γ. Right: by how much the overlaps have grown when all is at rest again. "
        "Overlaps of single contacts are random, as the papers say; on average the load leaves κ, "
        "but for the end where it acts.");
}

static talus_status write_data(paper* p, const findings* f, const answer* soft)
{
    double columns[6][KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        const double h = SETTINGS[kind].h;
        const double values[] = {SETTINGS[kind].sweeps,   h,
                                 f[kind].kappa / (h * h), f[kind].kappa_error / (h * h),
                                 f[kind].gamma / h,       f[kind].gamma_error / h};
        for (int c = 0; c < 6; c++) columns[c][kind] = values[c];
    }
    const paper_column constants[] = {{"N_I", columns[0]},   {"h", columns[1]},
                                      {"kappa", columns[2]}, {"error of kappa", columns[3]},
                                      {"gamma", columns[4]}, {"error of gamma", columns[5]}};
    TRY(paper_csv(p, NULL, KINDS, 6, constants));
    const paper_column motion[] = {{"t/h", soft->t},
                                   {"disks_one_run", f[2].one.moved},
                                   {"disks_mean", f[2].mean.moved},
                                   {"springs", soft->moved}};
    return paper_csv(p, "motion", soft->steps, 4, motion);
}

static talus_status run(paper* p)
{
    const sizes* s = p->brief ? &BRIEF : &FULL;
    findings f[KINDS];
    answer soft;
    for (int kind = 0; kind < KINDS; kind++) {
        TRY(measure(p, s, kind, &f[kind]));
        paper_progress(p, (kind + 1.0) / (KINDS + 1.0));
    }
    TRY(make_answer(p, SETTINGS[2].sweeps, s->disks, &soft));
    TRY(run_soft(p, SETTINGS[2], CHANGE, &soft));
    table(p, f);
    ratio_rows(p, f);
    TRY(load_rows(p, s));
    TRY(twin_rows(p, s, f, &soft));
    paper_note(p,
               "Chains of %lld and %lld disks, %d seeds; load %g m d/h^2, raised by %g. The papers "
               "give no measurement.",
               (long long)s->disks, (long long)s->disks / 2, s->seeds, LOAD, CHANGE);
    TRY(write_data(p, f, &soft));
    return draw(p, s, f, &soft);
}

const paper_experiment paper_stiffness = {
    .name = "stiffness",
    .title = "Springs and dashpots that a chain of rigid disks seems made of",
    .source = "Unger, Brendel, Wolf & Kertész, (22)-(25); Unger & Kertész, (65)-(69)",
    .about =
        "A chain of rigid disks at rest is loaded. It becomes shorter in proportion to the load "
        "and rings: stiffness and damping are measured for several numbers of sweeps and steps, "
        "and a chain of springs and dashpots with the predicted constants is run beside it.",
    .run = run,
};
