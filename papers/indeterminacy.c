/// The force ensemble of one packing (LN 8.4).
///
/// LN: if the same problem is analysed twice with other random numbers, the contact forces differ,
/// since a hyperstatic packing of rigid grains admits many force systems and nothing selects one;
/// but "the overall, “macro” characteristics like average stress tensor or frequency diagram of
/// contact force magnitudes remain the same, apart from slight statistical deviations".
///
/// Here disks are pressed in a box with periodic sides until they rest. Little friction makes the
/// packing dense; more friction from then on makes it highly indeterminate. Its contact problem is
/// solved many times: by random sweeps with different seeds, from no forces,
/// from the last ones, and from random ones (talus_measure_ensemble()). What must agree, and how
/// well?
///
/// The stress V sigma_ij = sum f_i l_j over the contacts is, in equilibrium, a sum over the
/// boundary: between floor and lid sigma_yy = (force on the lid)/width exactly, whatever the forces
/// between. That is fixed. sigma_xy = (friction on the lid)/width and sigma_xx, which no boundary
/// bears when the sides are periodic, are averages and only agree as averages do: if the forces of
/// M contacts deviated independently by s each, by (1/V) root(sum s_x^2 l_x^2), that is as
/// 1/root(M); if all deviated in step, as much as single forces, for any M.
/// Histograms of M forces each agree to the Kolmogorov-Smirnov distance root(ln(2/a)/2M), which
/// independent draws exceed with the probability a.
///
/// Forces that satisfy the laws form a set whose dimension is unknowns minus independent
/// equations. Without friction a packing has just as many contacts as it needs, so that this is
/// zero: its forces are unique. Equations of motions that nothing hinders do not count: the whole
/// may slide along x, and a disk between two others sideways.
#include "fit.h"
#include "packing.h"
#include "paper.h"
#include "plot.h"
#include <math.h>

static const double PRESSURE = 1;       // on the lid, and unit of stress
static const double PACKED_WITH = 0.05; // friction while a packing is made
static const double FRICTION = 0.5;     // afterwards

/// A packing and the solutions of its contact problem.
typedef struct sample_def {
    int64_t grains;
    double packed, friction; ///< friction while it is packed, and of the contact problem
    int samples;
    unsigned starts;
    double tolerance;
    double rest; ///< of the packing: kinetic energy over pressure times volume
} sample_def;

/// Stress spread that independent deviations of the single forces would give; xx component.
static double independent_spread(const talus_world* world, const talus_ensemble* e, double width)
{
    talus_grains g = talus_world_grains(world);
    double sum = 0;
    for (int64_t c = 0; c < e->contacts; c++) {
        double along = 0;
        for (int side = 0; side < 2; side++) {
            const int64_t id = side ? e->b[c] : e->a[c];
            if (id < 0) continue;
            double x = g.position[2 * talus_world_grain_index(world, id)] - e->point[2 * c];
            along += fabs(x - width * rint(x / width));
        }
        sum += 0.5 * e->spread[c] * e->spread[c] * along * along; // half of s^2 for each component
    }
    return sqrt(sum) / e->volume;
}

/// Make the packing and its ensemble. *scale, if not NULL, gets independent_spread().
static talus_status sample(paper* p, const sample_def* def, talus_ensemble* out, double* scale)
{
    packing_def packed = packing_default();
    packed.grains = def->grains;
    packed.friction = def->packed;
    packed.pressure = PRESSURE;
    packed.periodic = true;
    packed.rest = def->rest;
    packed.seed = p->seed;
    packed.threads = p->threads;
    talus_world* world = NULL;
    TRY(packing_make(p, &packed, &world));
    talus_pair_def law = talus_pair_default();
    law.friction = def->friction;
    TRY(talus_world_set_pair(world, (talus_material_id){0}, (talus_material_id){0}, &law,
                             &p->error));
    talus_wall_state lid;
    TRY(talus_world_wall(world, talus_world_find_wall(world, "lid"), &lid, &p->error));
    talus_ensemble_def ensemble = talus_ensemble_default();
    ensemble.step = packing_step(&packed);
    ensemble.samples = def->samples;
    ensemble.seed = p->seed;
    ensemble.tolerance = def->tolerance;
    ensemble.starts = def->starts;
    ensemble.volume = packing_width(&packed) * lid.position[1];
    TRY(talus_measure_ensemble(world, &ensemble, out, &p->error));
    if (scale) *scale = independent_spread(world, out, packing_width(&packed));
    paper_end_world(p, world);
    return TALUS_OK;
}

// ---- rows --------------------------------------------------------------------------------------

static void state_forces(paper* p, const talus_ensemble* e)
{
    paper_within(p, "solutions that satisfy the contact laws", e->verified, e->samples, 0,
                 "each is recomputed from its forces and compared with the tolerance");
    paper_between(p, "spread of single forces, of their size", e->force_change, 10 * e->force_error,
                  1, "not determined: ten times above the solver's error");
    paper_between(p, "from zero forces, other sweeps only: spread", e->force_change_of[0],
                  10 * e->force_error, e->force_change_of[2],
                  "LN: another seed, other forces; but sweeps alone stray less than starts do");
    paper_within(p, "spread of the new velocities, as momentum over impulses", e->velocity_change,
                 0, e->force_error, "the motion is unique; the solver's error of forces");
}

/// Mean histogram of the solutions that began from one kind of forces.
static void mean_histogram(const talus_ensemble* e, unsigned start,
                           double mean[TALUS_ENSEMBLE_BINS])
{
    int count = 0;
    for (int b = 0; b < TALUS_ENSEMBLE_BINS; b++) mean[b] = 0;
    for (int i = 0; i < e->samples; i++) {
        if (e->sample[i].start != start || !e->sample[i].verified) continue;
        count++;
        for (int b = 0; b < TALUS_ENSEMBLE_BINS; b++) {
            mean[b] += e->histogram[i * TALUS_ENSEMBLE_BINS + b];
        }
    }
    for (int b = 0; b < TALUS_ENSEMBLE_BINS; b++) mean[b] /= fmax(count, 1);
}

/// Largest distance of two cumulated histograms.
static double distance(const double* one, const double* other)
{
    double sum = 0, largest = 0;
    for (int b = 0; b < TALUS_ENSEMBLE_BINS; b++) {
        sum += (one[b] - other[b]) / TALUS_ENSEMBLE_BINS_PER_MEAN;
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

/// Histograms of solutions that began alike must agree as independent draws do. Those from random
/// forces may differ from the others as a whole: their mean is compared, not judged.
static void state_histograms(paper* p, const talus_ensemble* e)
{
    double zero[TALUS_ENSEMBLE_BINS], wild[TALUS_ENSEMBLE_BINS], largest = 0;
    mean_histogram(e, TALUS_START_ZERO, zero);
    mean_histogram(e, TALUS_START_RANDOM, wild);
    for (int i = 0; i < e->samples; i++) {
        const double* own = e->histogram + i * TALUS_ENSEMBLE_BINS;
        if (!e->sample[i].verified || e->sample[i].start == TALUS_START_WARM) continue;
        const bool random = e->sample[i].start == TALUS_START_RANDOM;
        largest = fmax(largest, distance(own, random ? wild : zero));
    }
    paper_between(p, "largest distance of a cumulated histogram from those that began alike",
                  largest, 0, sqrt(log(40.0 * e->samples) / (2 * (double)e->loaded)),
                  "Kolmogorov-Smirnov for as many independent forces; all solutions together "
                  "exceed it in one case of twenty");
    paper_note(p,
               "Mean histograms of solutions from random forces and from none are %.3f apart; "
               "independent draws of one histogram differ by %.3f in one case of twenty. Where "
               "the first is larger the start is seen in the histogram, too.",
               distance(zero, wild), 1.36 / sqrt((double)e->loaded));
}

static void state_stress(paper* p, const talus_ensemble* e, double scale)
{
    const double error = 3 * e->force_error * PRESSURE;
    paper_within(p, "sigma_yy over the pressure on the lid", e->stress_mean[4] / PRESSURE, 1, error,
                 "equilibrium of every layer; three times the solver's error of forces");
    paper_within(p, "spread of sigma_yy", e->stress_spread[4], 0, error,
                 "fixed by the lid, whatever the forces between");
    paper_within(p, "sigma_xy - sigma_yx", e->stress_mean[1] - e->stress_mean[3], 0, error,
                 "no torque on any disk");
    paper_between(p, "other sweeps only: spread of the stress tensor over that of single forces",
                  e->stress_change_of[0] / e->force_change_of[0], 0, 1,
                  "LN: the stress remains \"apart from slight statistical deviations\"; 1 if all "
                  "forces deviated in step. How it falls with the contacts: the exponents");
    state_histograms(p, e);
    paper_note(
        p,
        "sigma_xx, which no wall bears, spreads %.2g times as much as it would if the forces "
        "deviated independently: their deviations are correlated. That is a factor; with the "
        "contacts the spread falls all the same (the exponents).",
        e->stress_spread[0] / scale);
}

static void state_count(paper* p, const talus_ensemble* small)
{
    paper_within(p, "small packing: independent ways in which forces differ", small->rank,
                 (double)(small->unknowns - small->independent), 0,
                 "unknowns minus independent equations; more samples than that, all from random "
                 "starts");
}

static void state_smooth(paper* p, const talus_ensemble* e)
{
    paper_within(p, "no friction: unknowns minus independent equations",
                 (double)(e->unknowns - e->independent), 0, 0, "isostatic");
    paper_within(p, "no friction: independent ways in which forces differ", e->rank, 0, 0,
                 "unique forces");
    paper_within(p, "no friction: spread of single forces", e->force_change, 0, 10 * e->force_error,
                 "unique forces; ten times the solver's error");
}

// ---- size --------------------------------------------------------------------------------------

enum { SIZES = 3, MOST_PACKINGS = 12 };

/// Packings of one size.
typedef struct size_result {
    double contacts;
    fit_mean_result stress, forces; ///< logarithms of the spreads from random forces
} size_result;

static talus_status sample_size(paper* p, int64_t grains, int packings, size_result* out)
{
    const uint64_t seed = p->seed;
    double stress[MOST_PACKINGS], forces[MOST_PACKINGS];
    *out = (size_result){0};
    for (int i = 0; i < packings; i++) {
        sample_def def = {.grains = grains,
                          .packed = PACKED_WITH,
                          .friction = FRICTION,
                          .samples = 8,
                          .starts = TALUS_START_RANDOM,
                          .tolerance = 1e-5,
                          .rest = 1e-8};
        talus_ensemble e;
        p->seed = seed * 1000 + (uint64_t)i;
        talus_status status = sample(p, &def, &e, NULL);
        p->seed = seed;
        TRY(status);
        out->contacts += (double)e.loaded / packings;
        stress[i] = log(e.stress_change);
        forces[i] = log(e.force_change);
        talus_ensemble_free(&e);
    }
    out->stress = fit_mean(packings, stress);
    out->forces = fit_mean(packings, forces);
    return TALUS_OK;
}

/// Exponent of a spread against the contacts; its error is that of the means over packings, taken
/// to be the same for all sizes.
static fit_line_result fit_exponent(const double* contacts, const fit_mean_result* spread)
{
    double x[SIZES], y[SIZES], variance = 0, middle = 0, square = 0;
    for (int i = 0; i < SIZES; i++) {
        x[i] = log(contacts[i]);
        y[i] = spread[i].mean;
        middle += x[i] / SIZES;
        variance += spread[i].error * spread[i].error / SIZES;
    }
    for (int i = 0; i < SIZES; i++) square += (x[i] - middle) * (x[i] - middle);
    fit_line_result fit = fit_line(SIZES, x, y);
    fit.slope_error = sqrt(variance / square);
    return fit;
}

static void state_exponent(paper* p, const char* quantity, fit_line_result fit, double expected,
                           const char* why)
{
    // Beyond a quarter neither 0 nor -1/2 could be told from the other.
    paper_within(p, quantity, fit.slope, expected, fmin(3 * fit.slope_error, 0.25), why);
}

/// How the spreads of forces and of the stress change with the size of the packing.
static talus_status state_scaling(paper* p)
{
    const int64_t brief[SIZES] = {20, 60, 180}, full[SIZES] = {100, 400, 1600};
    const int packings[SIZES] = {12, p->brief ? 8 : 12, p->brief ? 4 : 6};
    double contacts[SIZES], forces[SIZES], stress[SIZES];
    fit_mean_result of_forces[SIZES], of_stress[SIZES];
    for (int i = 0; i < SIZES; i++) {
        size_result r;
        TRY(sample_size(p, p->brief ? brief[i] : full[i], packings[i], &r));
        contacts[i] = r.contacts;
        of_stress[i] = r.stress;
        of_forces[i] = r.forces;
        stress[i] = exp(r.stress.mean);
        forces[i] = exp(r.forces.mean);
        paper_progress(p, 0.2 + 0.8 * (i + 1) / SIZES);
    }
    state_exponent(p, "exponent of the spread of the stress against contacts",
                   fit_exponent(contacts, of_stress), -0.5,
                   "an average: as 1/root(M); three standard errors from the scatter over "
                   "packings, at most 1/4, so as to tell it from 0");
    state_exponent(p, "exponent of the spread of single forces against contacts",
                   fit_exponent(contacts, of_forces), 0,
                   "single forces do not agree better in larger packings; likewise");
    const paper_column columns[] = {
        {"loaded contacts", contacts}, {"spread of forces", forces}, {"spread of stress", stress}};
    return paper_csv(p, "size", SIZES, 3, columns);
}

// ---- files -------------------------------------------------------------------------------------

/// Sizes |f| over their mean in one sample, at the contacts that carry a force in the mean.
static int64_t sizes(const talus_ensemble* e, int sample_index, double* out)
{
    int64_t count = 0;
    for (int64_t c = 0; c < e->contacts; c++) {
        const double* f = e->force + 2 * (sample_index * e->contacts + c);
        const double* mean = e->mean + 2 * c;
        const double unit = e->sample[sample_index].mean_force;
        if (hypot(mean[0], mean[1]) > 1e-6 * unit) out[count++] = hypot(f[0], f[1]) / unit;
    }
    return count;
}

static talus_status draw_histograms(paper* p, const talus_ensemble* e, talus_figure* figure)
{
    double edge[TALUS_ENSEMBLE_BINS];
    for (int b = 0; b < TALUS_ENSEMBLE_BINS; b++)
        edge[b] = b / (double)TALUS_ENSEMBLE_BINS_PER_MEAN;
    TRY(plot_axes(p, figure, 0, "distribution of forces", "|f|/⟨|f|⟩", "probability density", ""));
    for (int i = 0; i < 6 && i < e->samples; i++) {
        TRY(plot_curve(p, figure, 0, (plot_style){1 + i, TALUS_CURVE_STEPS, TALUS_DASH_SOLID},
                       i == 0 ? "six solutions" : NULL, TALUS_ENSEMBLE_BINS, edge,
                       e->histogram + (int64_t)i * TALUS_ENSEMBLE_BINS));
    }
    return plot_curve(p, figure, 0, (plot_style){0, TALUS_CURVE_STEPS, TALUS_DASH_DASHED},
                      "mean of all", TALUS_ENSEMBLE_BINS, edge, e->histogram_mean);
}

/// Forces of a solution from random forces against those of one from zero.
static talus_status draw_scatter(paper* p, const talus_ensemble* e, const talus_ensemble* smooth,
                                 talus_figure* figure)
{
    const size_t most = (size_t)(e->contacts > smooth->contacts ? e->contacts : smooth->contacts);
    double* x = paper_alloc(p, most + 1, sizeof *x);
    double* y = paper_alloc(p, most + 1, sizeof *y);
    if (!x || !y) return p->error.status;
    TRY(plot_axes(p, figure, 1, "the same contact in two solutions", "|f|/⟨|f|⟩ in one",
                  "in another", ""));
    int64_t count = sizes(e, 0, x);
    sizes(e, 2, y);
    TRY(plot_curve(p, figure, 1, (plot_style){1, TALUS_CURVE_DOTS, TALUS_DASH_SOLID}, "friction",
                   count, x, y));
    count = sizes(smooth, 0, x);
    sizes(smooth, 2, y);
    return plot_curve(p, figure, 1, (plot_style){2, TALUS_CURVE_DOTS, TALUS_DASH_SOLID},
                      "no friction", count, x, y);
}

static talus_status draw_spread(paper* p, const talus_ensemble* e, talus_figure* figure)
{
    double* x = paper_alloc(p, (size_t)e->contacts + 1, sizeof *x);
    double* y = paper_alloc(p, (size_t)e->contacts + 1, sizeof *y);
    if (!x || !y) return p->error.status;
    int64_t count = 0;
    for (int64_t c = 0; c < e->contacts; c++) {
        double size = hypot(e->mean[2 * c], e->mean[2 * c + 1]) / e->sample[0].mean_force;
        if (size < 1e-6) continue;
        x[count] = size;
        y[count++] = e->spread[c] / e->sample[0].mean_force;
    }
    TRY(plot_axes(p, figure, 2, "spread of single forces", "size of the mean force/⟨|f|⟩",
                  "spread/⟨|f|⟩", "xy"));
    TRY(plot_curve(p, figure, 2, (plot_style){1, TALUS_CURVE_DOTS, TALUS_DASH_SOLID}, NULL, count,
                   x, y));
    const double equal[] = {1e-2, 1};
    TRY(plot_curve(p, figure, 2, (plot_style){0, TALUS_CURVE_LINE, TALUS_DASH_DASHED},
                   "as large as the force", 2, equal, equal));
    const paper_column columns[] = {{"mean force/mean", x}, {"spread/mean", y}};
    return paper_csv(p, "spread", count, 2, columns);
}

static talus_status draw_rank(paper* p, const talus_ensemble* small, talus_figure* figure)
{
    double* index = paper_alloc(p, (size_t)small->samples, sizeof *index);
    if (!index) return p->error.status;
    for (int i = 0; i < small->samples; i++) index[i] = i + 1;
    TRY(plot_axes(p, figure, 3, "small packing: dimension of the set of forces", "index",
                  "singular value of the solutions", "y"));
    TRY(plot_curve(p, figure, 3, (plot_style){1, TALUS_CURVE_LINE_DOTS, TALUS_DASH_SOLID}, NULL,
                   small->samples - 1, index, small->singular));
    return talus_figure_mark(figure, 3, true, (double)(small->unknowns - small->independent) + 0.5,
                             "unknowns − independent equations", &p->error);
}

static talus_status write_samples(paper* p, const talus_ensemble* e)
{
    enum { COLUMNS = 7 };
    double* values = paper_alloc(p, (size_t)(COLUMNS * e->samples), sizeof *values);
    if (!values) return p->error.status;
    const char* names[COLUMNS] = {"start: 1 zero; 2 last; 4 random",
                                  "sweeps",
                                  "residual",
                                  "mean force",
                                  "sigma_xx",
                                  "sigma_xy",
                                  "sigma_yy"};
    paper_column columns[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) {
        columns[k] = (paper_column){names[k], values + (int64_t)k * e->samples};
    }
    for (int i = 0; i < e->samples; i++) {
        const talus_ensemble_sample* s = &e->sample[i];
        const double row[COLUMNS] = {s->start,     (double)s->sweeps, s->residual, s->mean_force,
                                     s->stress[0], s->stress[1],      s->stress[4]};
        for (int k = 0; k < COLUMNS; k++) values[k * e->samples + i] = row[k];
    }
    return paper_csv(p, NULL, e->samples, COLUMNS, columns);
}

static talus_status write_files(paper* p, const talus_ensemble* e, const talus_ensemble* small,
                                const talus_ensemble* smooth)
{
    TRY(write_samples(p, e));
    talus_figure* figure;
    TRY(plot_figure(p, 2, 2, &figure));
    TRY(draw_histograms(p, e, figure));
    TRY(draw_scatter(p, e, smooth, figure));
    TRY(draw_spread(p, e, figure));
    TRY(draw_rank(p, small, figure));
    return paper_figure(p, NULL, figure,
                        "Solutions of one contact problem. Histograms agree; single forces do not, "
                        "unless there is no friction; their spread hardly depends on their size, "
                        "so that weak forces are the least determined; the solutions span as many "
                        "dimensions as there are unknowns more than independent equations.");
}

// ---- the experiment ----------------------------------------------------------------------------

enum { ALL_STARTS = TALUS_START_ZERO | TALUS_START_WARM | TALUS_START_RANDOM };

static talus_status sample_all(paper* p, talus_ensemble* e, talus_ensemble* small,
                               talus_ensemble* smooth, double* scale)
{
    sample_def def = {.grains = p->brief ? 100 : 400,
                      .packed = PACKED_WITH,
                      .friction = FRICTION,
                      .samples = p->brief ? 9 : 24,
                      .starts = ALL_STARTS,
                      .tolerance = 1e-8,
                      .rest = 1e-14};
    TRY(sample(p, &def, e, scale));
    paper_progress(p, 0.1);
    // Few contacts, and many samples, since some ways are taken by few solutions: 12 of them had 8
    // of 9 ways.
    def.packed = FRICTION;
    def.samples = 48;
    def.starts = TALUS_START_RANDOM;
    // A contact that leaves its friction bound in few solutions only, and hardly, opens a way as
    // well: one of 2e-6 was there, which a tolerance of 1e-9, forces known to 3e-6, hides.
    def.tolerance = 1e-11;
    // In some loose packings sweeps creep and do not get there. Without solutions there is nothing
    // to count: the first packing of which all are found is taken. They must move alike, too:
    // Coulomb's law may admit a motion beside rest, whose forces are no part of the set.
    for (def.grains = 50; def.grains <= 60; def.grains += 2) {
        talus_ensemble_free(small);
        TRY(sample(p, &def, small, NULL));
        const bool alike = small->velocity_change <= small->force_error;
        if (small->verified == small->samples && alike) break;
    }
    paper_progress(p, 0.15);
    def.grains = p->brief ? 60 : 240;
    def.packed = def.friction = 0;
    def.samples = 6;
    def.starts = ALL_STARTS;
    def.tolerance = 1e-7;
    return sample(p, &def, smooth, NULL);
}

static talus_status run_indeterminacy(paper* p)
{
    talus_ensemble e = {0}, small = {0}, smooth = {0};
    double scale = 1;
    talus_status status = sample_all(p, &e, &small, &smooth, &scale);
    if (status >= 0) status = state_scaling(p);
    if (status >= 0) {
        state_forces(p, &e);
        state_stress(p, &e, scale);
        state_count(p, &small);
        state_smooth(p, &smooth);
        paper_note(p,
                   "LN give no setting; ours: disks with radii from 1 to 2, packed with friction "
                   "%g, solved with %g, periodic sides, rigid lid, no gravity; %lld loaded "
                   "contacts, %lld unknowns, %lld equations. Spread of the forces from zero, last "
                   "and random forces: %.2g, %.2g, "
                   "%.2g; of the stress: %.2g, %.2g, %.2g.",
                   PACKED_WITH, FRICTION, (long long)e.loaded, (long long)e.unknowns,
                   (long long)e.equations, e.force_change_of[0], e.force_change_of[1],
                   e.force_change_of[2], e.stress_change_of[0], e.stress_change_of[1],
                   e.stress_change_of[2]);
        paper_note(p,
                   "LN say that the order of the pairs affects single forces greatly. Sweeps that "
                   "converge from the same forces end close to each other; what tells solutions "
                   "apart is where they begin, as after another history.");
        status = write_files(p, &e, &small, &smooth);
    }
    talus_ensemble_free(&e);
    talus_ensemble_free(&small);
    talus_ensemble_free(&smooth);
    return status;
}

const paper_experiment paper_indeterminacy = {
    .name = "indeterminacy",
    .title = "Many force systems for one packing: what differs and what does not",
    .source = "Lecture notes, section 8.4",
    .about =
        "The contact problem of a packing at rest is solved again and again, with other random "
        "sweeps and from other forces to begin with. Single forces differ; the motion, the "
        "stress on the lid and, as far as averages can, the stress tensor and the histogram of "
        "forces agree. Without friction the packing is isostatic and its forces are unique.",
    .run = run_indeterminacy,
};
