/// The force network of a loaded packing: what BUW 1.9 reports from Radjai, Wolf, Jean and Moreau,
/// "Bimodal character of stress transmission in granular packings", Phys. Rev. Lett. 80, 61 (1998):
/// "the anisotropic load bearing network of strong force lines is stabilized by the weak forces,
/// which contribute nearly isotropically to the stress".
///
/// A biaxial test, as there: disks between four walls without friction; the lid comes down slowly,
/// the wall on the right holds its pressure. On the way the normal forces N of the contacts between
/// grains are taken down in units of their mean, f = N/<N>. Contacts with f < 1 are the weak
/// network, the others the strong one. Sums over the contacts with f < xi give the partial tensors
///   stress  sigma_ij(xi) = sum F_i l_j / V,   fabric  phi_ij(xi) = <n_i n_j>,
/// (F the force, l the vector between the centres, n its direction), of which the deviators
/// q = (sigma_yy - sigma_xx)/2 and a = 2 (phi_yy - phi_xx) are shown: y is the direction of the
/// largest stress, so that a negative a means contacts across it.
///
/// If P(f) goes like f^-alpha below the mean and like exp(-beta f) above it, and the two meet at
/// f = 1, then norm and mean leave one free number: beta^2 = (1 - alpha)(2 - alpha) (Radjai, Jean,
/// Moreau and Roux, PRL 77, 274 (1996)). A flat part (alpha = 0) means beta = sqrt 2, and a part
/// 2 - sqrt 2 = 0.586 of the contacts below the mean, which carry half of that part of the sum of
/// forces.
#include "biaxial.h"
#include "fit.h"
#include "network.h"
#include "plot.h"

#include <math.h>

enum { MOST_SAMPLES = 8 };
#define FRICTION 0.5

/// A stretch of strain, and how often within it the forces are taken down.
typedef struct stretch {
    double first, last;
    int moments;
} stretch;

enum { ONSET, LATER, STRETCHES };

/// Sizes of the experiment.
typedef struct setting {
    int samples;
    int64_t grains;
    stretch stretch[STRETCHES];
    double inertial_number; ///< strain rate times d sqrt(density/pressure)
} setting;

static setting sizes(bool brief)
{
    const stretch onset = {0.002, 0.006, 5}, brief_later = {0.01, 0.02, 5}, later = {0.03, 0.06, 7};
    return (setting){.samples = brief ? 8 : MOST_SAMPLES,
                     .grains = brief ? 300 : 2000,
                     .stretch = {onset, brief ? brief_later : later},
                     .inertial_number = 1e-3};
}

/// What was taken down of one sample within one stretch.
typedef struct record {
    network forces;
    double lid_stress, contact_stress; ///< sums over the moments: the same stress measured twice
} record;

// ---- straining ---------------------------------------------------------------------------------

/// A sample on its way.
typedef struct sample {
    packing_def made;
    talus_world* cell;
    double rate; ///< of strain
    double h;
} sample;

/// Strain the cell to the end of a stretch and take its forces down.
static talus_status strain_cell(paper* p, const sample* s, const stretch* over, record* r)
{
    for (int k = 0; k < over->moments; k++) {
        const double until = over->first + (over->last - over->first) * k / (over->moments - 1);
        while (s->rate * talus_world_time(s->cell) < until) {
            TRY(talus_world_step(s->cell, s->h, NULL, &p->error));
        }
        network_take(&r->forces, s->cell);
        talus_wall_state lid, right;
        TRY(talus_world_wall(s->cell, talus_world_find_wall(s->cell, "lid"), &lid, &p->error));
        TRY(talus_world_wall(s->cell, talus_world_find_wall(s->cell, "right"), &right, &p->error));
        r->lid_stress += lid.force[1] / right.position[0];
        r->contact_stress += network_load(s->cell) / (right.position[0] * lid.position[1]);
    }
    return TALUS_OK;
}

/// A packing in its cell, with the lid about to move.
static talus_status start_sample(paper* p, const setting* set, uint64_t seed, sample* out)
{
    packing_def* def = &out->made;
    *def = packing_default();
    def->grains = set->grains;
    def->seed = seed;
    def->threads = p->threads;
    def->rest = 1e-6;
    def->solver.tolerance = 0.02;
    talus_world* packing = NULL;
    TRY(packing_make(p, def, &packing));
    TRY(biaxial_make(p, def, packing, FRICTION, &out->cell));
    paper_end_world(p, packing);
    talus_wall_state lid;
    TRY(talus_world_wall(out->cell, talus_world_find_wall(out->cell, "lid"), &lid, &p->error));
    out->rate = set->inertial_number / (def->radius_low + def->radius_high) *
                sqrt(def->pressure / def->density);
    out->h = 2 * packing_step(def);
    return biaxial_drive(p, def, out->cell, out->rate * lid.position[1]);
}

// ---- what the forces say ------------------------------------------------------------------------

/// Everything that the table speaks of, for one sample.
enum {
    WEAK_PART,
    WEAK_PRESSURE,  ///< part of the whole
    WEAK_DEVIATOR,  ///< part of the whole
    RATIO,          ///< q/p
    SLIDING,        ///< part of all contacts
    SLIDING_WEAK,   ///< part of the sliding ones that is weak
    FABRIC_WEAKEST, ///< f < 1/2
    FABRIC_WEAK,
    FABRIC_STRONG,
    FABRIC,
    ALPHA,
    BETA,
    BALANCE, ///< stress from the contacts over stress on the lid
    FINDINGS
};

/// Exponent of P(f) ~ f^-alpha below the mean.
static double fit_alpha(const network* w)
{
    const network_density d = network_density_of(w);
    int below = 0;
    while (below < d.count && d.f[below] < 1) below++;
    return below > 1 ? -fit_power(below, d.f, d.p).slope : NAN;
}

static void find(const record* r, double out[FINDINGS])
{
    const network* w = &r->forces;
    const int one = NETWORK_ONE;
    const network_sum all = network_all(w), weakest = network_between(w, 0, one / 2),
                      weak = network_between(w, 0, one),
                      strong = network_between(w, one, NETWORK_CUTS + 1);
    out[WEAK_PART] = weak.count / all.count;
    out[WEAK_PRESSURE] = network_pressure(&weak) / network_pressure(&all);
    out[WEAK_DEVIATOR] = network_deviator(&weak) / network_deviator(&all);
    out[RATIO] = network_deviator(&all) / network_pressure(&all);
    out[SLIDING] = all.sliding / all.count;
    out[SLIDING_WEAK] = weak.sliding / all.sliding;
    out[FABRIC_WEAKEST] = network_anisotropy(&weakest);
    out[FABRIC_WEAK] = network_anisotropy(&weak);
    out[FABRIC_STRONG] = network_anisotropy(&strong);
    out[FABRIC] = network_anisotropy(&all);
    out[ALPHA] = fit_alpha(w);
    // Most likely exponent of an exponential beyond 1.
    out[BETA] = 1 / (strong.force / strong.count - 1);
    out[BALANCE] = r->contact_stress / r->lid_stress;
}

/// Means of the findings over the samples, and their standard errors.
typedef struct findings {
    fit_mean_result of[FINDINGS];
} findings;

static findings find_all(const record* samples, int count)
{
    double each[MOST_SAMPLES][FINDINGS];
    findings out;
    for (int k = 0; k < count; k++) find(&samples[k], each[k]);
    for (int i = 0; i < FINDINGS; i++) {
        double values[MOST_SAMPLES];
        for (int k = 0; k < count; k++) values[k] = each[k][i];
        out.of[i] = fit_mean(count, values);
    }
    return out;
}

// ---- the table ---------------------------------------------------------------------------------

static void state_forces(paper* p, const findings* f)
{
    paper_between(p, "part of the contacts below the mean force", f->of[WEAK_PART].mean, 0.55, 0.65,
                  "60 %, to one digit (Radjai et al. 1998 as commonly quoted); a P(f) that is flat "
                  "below the mean and exponential above has 2 - sqrt 2 = 0.586");
    paper_between(p, "their part of the pressure", f->of[WEAK_PRESSURE].mean, 0.25, 0.35,
                  "0.3, to one digit (the same source); the flat and exponential P(f) gives 0.293 "
                  "of the sum of forces");
    paper_between(p, "alpha of P ~ f^-alpha, 0.02 < f < 1", f->of[ALPHA].mean, -0.3, 0.3,
                  "nearly flat: |alpha| not above 0.3 (Radjai et al. 1996 as commonly quoted)");
    const double a = f->of[ALPHA].mean, demanded = sqrt((1 - a) * (2 - a));
    const double error =
        hypot(f->of[BETA].error, (3 - 2 * a) / (2 * demanded) * f->of[ALPHA].error);
    paper_within(p, "beta of P ~ exp(-beta f), f > 1", f->of[BETA].mean, demanded, 3 * error,
                 "what this alpha demands if both laws meet at the mean: beta^2 = (1 - alpha)(2 - "
                 "alpha); three standard errors over the samples of both");
    paper_differs(p, "the same beta", f->of[BETA].mean, 1.4,
                  "Radjai et al. 1996 as commonly quoted, with an alpha near 0; another sample has "
                  "another alpha, and the row above says which beta belongs to it");
}

static void state_networks(paper* p, const findings* f)
{
    const double weak = f->of[WEAK_PART].mean, pressure = f->of[WEAK_PRESSURE].mean;
    paper_between(p, "part of sliding contacts that are weak", f->of[SLIDING_WEAK].mean,
                  0.5 * (1 + weak), 1,
                  "nearly all (Radjai et al. 1998 as commonly quoted): nearer to all than to the "
                  "part of the contacts that are weak, as chance would have it");
    paper_between(p, "part of the deviator carried by the weak network", f->of[WEAK_DEVIATOR].mean,
                  -0.5 * pressure, 0.5 * pressure,
                  "\"contribute nearly isotropically to the stress\" (BUW 1.9): nearer to none "
                  "than to their part of the pressure, as if both networks were alike");
    paper_within(p, "stress sum of F_y l_y/V over stress on the lid", f->of[BALANCE].mean, 1, 0.01,
                 "equilibrium; what moves adds terms of the order of the inertial number, 0.001, "
                 "and the solver stops at a relative error of 0.02 of single forces");
}

static void state_fabric(paper* p, const findings* f, const findings* later)
{
    const fit_mean_result strong = f->of[FABRIC_STRONG], weakest = f->of[FABRIC_WEAKEST];
    paper_between(p, "anisotropy a of the strong network", strong.mean, 3 * strong.error, 2,
                  "along the load (BUW 1.9: \"anisotropic load bearing network\"), by at least "
                  "three standard errors over the samples");
    paper_between(
        p, "anisotropy a of the contacts with f < 1/2", weakest.mean, -2, -3 * weakest.error,
        "across the load (Radjai et al. 1998 as commonly quoted), by at least three standard "
        "errors over the samples");
    paper_note(
        p,
        "Anisotropy of all contacts below the mean: %.3f +- %.3f at the onset, %.3f +- "
        "%.3f later; of those with f < 1/2: %.3f +- %.3f and %.3f +- %.3f. That the weak "
        "network stands across the load is a feature of small strains. With strain the "
        "whole network turns towards the load (all contacts: %.3f, then %.3f) and the weak "
        "contacts follow; their part of the deviator stays small all the same (%.3f +- %.3f).",
        f->of[FABRIC_WEAK].mean, f->of[FABRIC_WEAK].error, later->of[FABRIC_WEAK].mean,
        later->of[FABRIC_WEAK].error, weakest.mean, weakest.error, later->of[FABRIC_WEAKEST].mean,
        later->of[FABRIC_WEAKEST].error, f->of[FABRIC].mean, later->of[FABRIC].mean,
        later->of[WEAK_DEVIATOR].mean, later->of[WEAK_DEVIATOR].error);
}

static void state_setting(paper* p, const setting* s, const findings* f)
{
    const stretch *onset = &s->stretch[ONSET], *later = &s->stretch[LATER];
    paper_note(
        p,
        "BUW names no setting. Ours: %d samples of %lld disks with radii 1 to 2, packed "
        "with friction 0.05, then friction %.1f (walls: none); strain rate %.0e "
        "sqrt(p/density)/d; forces taken down at strains of %.1f to %.1f %% (onset: the "
        "table) and %.0f to %.0f %% (later). q/p = %.3f +- %.3f; sliding: %.1f %% of the "
        "contacts. Contacts with less than %g of the mean force only carry rattlers along and "
        "count as open.",
        s->samples, (long long)s->grains, FRICTION, s->inertial_number, 100 * onset->first,
        100 * onset->last, 100 * later->first, 100 * later->last, f->of[RATIO].mean,
        f->of[RATIO].error, 100 * f->of[SLIDING].mean, NETWORK_LEAST);
    paper_note(p, "Of the work of Radjai et al. BUW quote only what is cited above. The numbers "
                  "\"as commonly quoted\" (60 %%, 0.3, alpha, 1.4, nearly all sliding contacts "
                  "weak, weak contacts across the load) are known from later literature; the "
                  "papers themselves were not at hand.");
}

// ---- figures -----------------------------------------------------------------------------------

/// The law that is flat below the mean and exponential above.
static talus_status draw_law(paper* p, talus_figure* figure, int panel)
{
    enum { POINTS = 100 };
    double f[POINTS + 1], density[POINTS + 1];
    f[0] = NETWORK_LEAST;
    density[0] = 2 - M_SQRT2;
    for (int k = 0; k < POINTS; k++) {
        f[k + 1] = 1 + 0.06 * k;
        density[k + 1] = density[0] * exp(M_SQRT2 * (1 - f[k + 1]));
    }
    const plot_style line = {.colour = TALUS_COLOUR_VERMILLION};
    return plot_curve(p, figure, panel, line, "flat, then exponential", POINTS + 1, f, density);
}

/// P(f) of both stretches, one after the other: they have no classes in common.
static talus_status write_density(paper* p, const network of[STRETCHES])
{
    enum { MOST = STRETCHES * (NETWORK_SMALL + NETWORK_CUTS) };
    double later[MOST], f[MOST], density[MOST];
    int64_t rows = 0;
    for (int k = 0; k < STRETCHES; k++) {
        const network_density d = network_density_of(&of[k]);
        for (int i = 0; i < d.count; i++, rows++) {
            later[rows] = k;
            f[rows] = d.f[i];
            density[rows] = d.p[i];
        }
    }
    const paper_column columns[] = {{"0 onset; 1 later", later}, {"f", f}, {"P(f)", density}};
    return paper_csv(p, NULL, rows, 3, columns);
}

static talus_status draw_density(paper* p, talus_figure* figure, const network of[STRETCHES])
{
    static const char* const label[] = {"onset", "later"};
    talus_axes_def axes = talus_axes_default();
    axes.x_label = "f = N/⟨N⟩";
    axes.y_label = "P(f)";
    axes.y_log = true;
    axes.legend = TALUS_LEGEND_BOTTOM_LEFT;
    for (int panel = 0; panel < 2; panel++) {
        axes.x_log = panel == 1;
        TRY(talus_figure_axes(figure, panel, &axes, &p->error));
        for (int k = 0; k < STRETCHES; k++) {
            const network_density d = network_density_of(&of[k]);
            const plot_style dots = {.colour = k, .style = TALUS_CURVE_DOTS};
            TRY(plot_curve(p, figure, panel, dots, label[k], d.count, d.f, d.p));
        }
        TRY(draw_law(p, figure, panel));
    }
    return TALUS_OK;
}

static talus_status draw_partial(paper* p, talus_figure* figure, const network of[STRETCHES])
{
    const network_partial a = network_partial_of(&of[ONSET]), b = network_partial_of(&of[LATER]);
    talus_axes_def axes = talus_axes_default();
    axes.x_label = "ξ";
    axes.x_high = 6;
    axes.y_label = "part borne by contacts with f < ξ";
    TRY(talus_figure_axes(figure, 2, &axes, &p->error));
    axes.y_label = "anisotropy a(ξ) of their directions";
    TRY(talus_figure_axes(figure, 3, &axes, &p->error));
    static const plot_style grey = {.colour = TALUS_COLOUR_GREY},
                            blue = {.colour = TALUS_COLOUR_BLUE},
                            red = {.colour = TALUS_COLOUR_VERMILLION},
                            early = {.colour = ONSET, .style = TALUS_CURVE_LINE_DOTS},
                            late = {.colour = LATER, .style = TALUS_CURVE_LINE_DOTS};
    TRY(plot_curve(p, figure, 2, grey, "of the contacts", NETWORK_CUTS, a.xi, a.contacts));
    TRY(plot_curve(p, figure, 2, blue, "of the pressure", NETWORK_CUTS, a.xi, a.pressure));
    TRY(plot_curve(p, figure, 2, red, "of the deviator q", NETWORK_CUTS, a.xi, a.deviator));
    TRY(plot_curve(p, figure, 3, early, "onset", NETWORK_CUTS, a.xi, a.fabric));
    TRY(plot_curve(p, figure, 3, late, "later", NETWORK_CUTS, b.xi, b.fabric));
    TRY(talus_figure_mark(figure, 3, false, 0, NULL, &p->error));
    TRY(talus_figure_mark(figure, 3, true, 1, NULL, &p->error));
    const paper_column columns[] = {{"xi", a.xi},
                                    {"contacts", a.contacts},
                                    {"pressure", a.pressure},
                                    {"deviator", a.deviator},
                                    {"anisotropy", a.fabric},
                                    {"anisotropy later", b.fabric}};
    TRY(paper_csv(p, "partial", NETWORK_CUTS, 6, columns));
    return talus_figure_mark(figure, 2, true, 1, "mean force", &p->error);
}

/// The directions as curves around the origin.
static talus_status draw_directions(paper* p, talus_figure* figure, const network_directions* d)
{
    static const char* const label[] = {"weak", "strong"};
    talus_axes_def axes = talus_axes_default();
    axes.x_label = "across the load";
    axes.y_label = "along the load";
    axes.equal = true;
    axes.legend = TALUS_LEGEND_OUTSIDE;
    TRY(talus_figure_axes(figure, 0, &axes, &p->error));
    for (int k = 0; k < 2; k++) {
        double x[2 * NETWORK_ANGLES + 1], y[2 * NETWORK_ANGLES + 1];
        for (int i = 0; i <= 2 * NETWORK_ANGLES; i++) {
            const int half = i % NETWORK_ANGLES, sign = i / NETWORK_ANGLES % 2 ? -1 : 1;
            x[i] = sign * d->density[k][half] * cos(d->angle[half]);
            y[i] = sign * d->density[k][half] * sin(d->angle[half]);
        }
        const plot_style line = {.colour = k ? TALUS_COLOUR_VERMILLION : TALUS_COLOUR_SKY};
        TRY(plot_curve(p, figure, 0, line, label[k], 2 * NETWORK_ANGLES + 1, x, y));
    }
    const paper_column columns[] = {
        {"angle/rad", d->angle}, {"weak", d->density[0]}, {"strong", d->density[1]}};
    return paper_csv(p, "directions", NETWORK_ANGLES, 3, columns);
}

static talus_status draw_results(paper* p, const network of[STRETCHES])
{
    talus_figure *curves, *around;
    TRY(plot_figure(p, 2, 2, &curves));
    TRY(plot_figure(p, 1, 1, &around));
    const network_directions onset = network_directions_of(&of[ONSET]);
    TRY(write_density(p, of));
    TRY(draw_density(p, curves, of));
    TRY(draw_partial(p, curves, of));
    TRY(paper_figure(p, NULL, curves,
                     "Above: distribution of the normal forces between grains, in units of their "
                     "mean. Below: what the contacts with f < ξ contribute to the number of "
                     "contacts, the pressure and the deviator of the stress (at the onset), and "
                     "the anisotropy of their directions, positive along the load."));
    TRY(draw_directions(p, around, &onset));
    return paper_figure(p, "directions", around,
                        "Directions of the contacts of both networks at the onset: distance from "
                        "the origin is the density of directions, 1 if all are equal.");
}

/// The cell as it is: bars as wide as the force, strong ones in one colour, weak ones in another.
static talus_status draw_chains(paper* p, const talus_world* cell)
{
    const talus_contacts c = talus_world_contacts(cell);
    const double mean = network_mean_force(&c);
    int* colour = paper_alloc(p, (size_t)c.count, sizeof *colour);
    if (!colour) return p->error.status;
    for (int64_t i = 0; i < c.count; i++) {
        colour[i] = network_normal_force(&c, i) < mean ? TALUS_COLOUR_SKY : TALUS_COLOUR_VERMILLION;
    }
    talus_figure_def def = talus_figure_default();
    def.panel_width = def.panel_height = 500;
    talus_picture_def picture = talus_picture_default();
    picture.forces = true;
    picture.force_colour = colour;
    talus_axes_def axes = talus_axes_default();
    axes.x_label = "x/r_{min}";
    axes.y_label = "y/r_{min}";
    talus_figure* figure;
    TRY(paper_new_figure(p, &def, &figure));
    TRY(talus_figure_axes(figure, 0, &axes, &p->error));
    TRY(talus_figure_world(figure, 0, cell, &picture, &p->error));
    return paper_figure(p, "chains", figure,
                        "Forces in one sample at the onset. Bars join the centres of grains and "
                        "are as wide as the normal force: forces above the mean in red, below in "
                        "blue. The lid presses from above.");
}

// ---- the experiment ----------------------------------------------------------------------------

static talus_status run(paper* p)
{
    const setting set = sizes(p->brief);
    record* of[STRETCHES];
    for (int i = 0; i < STRETCHES; i++) {
        of[i] = paper_alloc(p, MOST_SAMPLES, sizeof *of[i]);
        if (!of[i]) return p->error.status;
    }
    for (int k = 0; k < set.samples; k++) {
        sample s = {0};
        TRY(start_sample(p, &set, p->seed + (uint64_t)k, &s));
        TRY(strain_cell(p, &s, &set.stretch[ONSET], &of[ONSET][k]));
        if (k == 0) TRY(draw_chains(p, s.cell));
        TRY(strain_cell(p, &s, &set.stretch[LATER], &of[LATER][k]));
        paper_end_world(p, s.cell);
        paper_progress(p, (k + 1.0) / set.samples);
    }
    const findings onset = find_all(of[ONSET], set.samples),
                   later = find_all(of[LATER], set.samples);
    state_forces(p, &onset);
    state_networks(p, &onset);
    state_fabric(p, &onset, &later);
    state_setting(p, &set, &onset);
    network pooled[STRETCHES] = {0};
    for (int k = 0; k < set.samples; k++) {
        for (int i = 0; i < STRETCHES; i++) network_add(&pooled[i], &of[i][k].forces);
    }
    return draw_results(p, pooled);
}

const paper_experiment paper_force_network = {
    .name = "force-network",
    .title = "Strong and weak forces in a loaded packing",
    .source = "BUW 1.9, after Radjai, Wolf, Jean and Moreau, PRL 80, 61 (1998)",
    .about = "A packing of disks is pressed harder from above than from the sides. Its contacts "
             "fall into two networks: forces above the mean form chains along the load and carry "
             "all of the deviator of the stress; the others, more than half of the contacts, push "
             "nearly equally in all directions, and nearly all sliding happens among them.",
    .run = run,
};
