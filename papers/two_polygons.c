/// Two polygons under a constant force, not turning (Pena, Lind, McNamara and Herrmann, Fig. 10).
///
/// As two-discs, for polygons, which push with the area A of their overlap: k_n A/l_c (5) at its
/// centroid, l_c = r_i + r_j. A fixed square stands on a corner; a pentagon presses a corner of its
/// own into the middle of the side at 45 degrees. Its height and rotation are held. The overlap is
/// a triangle of area d^2 tan(54 degrees) with its base along the side, so the normal stays. The
/// pentagon starts at the depth d at which the push balances k_n A/l_c, with a push that is a
/// little more, and is one oscillator:
///
///     m x'' + (nu_n + nu_t)/2 x' + (k_n A'(d)/l_c + k_t)/2 x = 0,   t_R = 2 m/(nu_n + nu_t).
///
/// With Cundall's elongation, xi += v h (7), k_t has the factor decay_carried(), to first order a
/// dashpot k_t h/2 beside nu_t. t_R is then off by 1 % at steps of about
///
///     T_t t_c = 0.01 * 2 (nu_n + nu_t)/k_t.
#include "decay.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>

static const double STIFFNESS = 1.0, FRICTION = 500.0, RESTITUTION = 0.99, RATIO = 1.0 / 3.0;
static const double SIDE = 1.0, CORNER = 0.65; ///< of the square; centre to corner of the pentagon
static const double KICK = 1e-5;               ///< by how much the push is off balance, N

enum { BRIEF_STEPS = 9 };

// ---- theory ------------------------------------------------------------------------------------

/// A corner that is pressed `depth` deep into a side, and what follows.
typedef struct press {
    double depth;
    double mass, viscosity; ///< m, nu_n
    double slope;           ///< change of the normal force with the depth
    double push;            ///< balanced, N
    double contact;         ///< t_c of k_n and m/2, the unit of time
} press;

static press press_of(double depth)
{
    const double area = 2.5 * CORNER * CORNER * sin(0.4 * M_PI), open = tan(0.3 * M_PI);
    const double length = sqrt(SIDE * SIDE / M_PI) + sqrt(area / M_PI);
    return (press){.depth = depth,
                   .mass = area,
                   .viscosity = 2.0 * decay_damping(RESTITUTION) * sqrt(STIFFNESS * area),
                   .slope = STIFFNESS * 2.0 * depth * open / length,
                   .push = STIFFNESS * depth * depth * open / length * sqrt(0.5),
                   .contact = M_PI * sqrt(0.5 * area / STIFFNESS)};
}

/// t_R in t_c with Cundall's elongation in steps of `part` t_c; 0: exact.
static double theory(const void* what, double part)
{
    const press* n = what;
    const double h = part * n->contact, damping = 0.5 * n->viscosity * (1.0 + RATIO);
    double complex z = I * sqrt(0.5 * (n->slope + RATIO * STIFFNESS) / n->mass);
    for (int i = 0; i < 200; i++) { // m z^2 + c z + k(z) = 0, by its own root
        const double complex k = 0.5 * (n->slope + RATIO * STIFFNESS * decay_carried(z, h));
        const double complex root = csqrt(damping * damping - 4.0 * n->mass * k);
        z = (-damping + (cimag(root) < 0.0 ? -root : root)) / (2.0 * n->mass);
    }
    return -0.5 / creal(z) / n->contact;
}

// ---- the world ---------------------------------------------------------------------------------

static talus_status add_shapes(paper* p, talus_world* world)
{
    const double half = SIDE * sqrt(0.5);
    const double square[8] = {half, 0.0, 0.0, half, -half, 0.0, 0.0, -half};
    double pentagon[10];
    for (int k = 0; k < 5; k++) { // its first corner points at the square
        pentagon[2 * k] = CORNER * cos(1.25 * M_PI + 0.4 * M_PI * k);
        pentagon[2 * k + 1] = CORNER * sin(1.25 * M_PI + 0.4 * M_PI * k);
    }
    talus_solid_def solid = talus_solid_default();
    solid.name = "square";
    solid.points = square;
    solid.point_count = 4;
    TRY(talus_world_add_solid(world, &solid, NULL, &p->error));
    solid.name = "pentagon";
    solid.points = pentagon;
    solid.point_count = 5;
    return talus_world_add_solid(world, &solid, NULL, &p->error);
}

static talus_status make_world(paper* p, const press* n, talus_elongation elongation,
                               talus_world** out)
{
    talus_world_def def = paper_world_default();
    def.dim = 2;
    def.method = TALUS_METHOD_SOFT;
    def.soft.integrator = TALUS_INTEGRATOR_GEAR5;
    def.soft.bound = TALUS_BOUND_ELASTIC;
    def.soft.elongation = elongation;
    TRY(paper_world(p, &def, out));
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = STIFFNESS;
    pair.friction = FRICTION;
    pair.restitution = RESTITUTION;
    pair.soft.stiffness_ratio = pair.soft.damping_ratio = RATIO;
    TRY(talus_world_add_material(*out, "polygon", &pair, NULL, &p->error));
    TRY(add_shapes(p, *out));
    talus_grain_def grain = talus_grain_default();
    grain.density = 1.0;
    grain.solid = (talus_solid_id){0};
    grain.fixed = true;
    TRY(talus_world_add_grain(*out, &grain, NULL, &p->error));
    grain.solid = (talus_solid_id){1};
    grain.fixed = false;
    grain.locked[1] = grain.locked_rotation = true;
    grain.external_force[0] = -n->push - KICK;
    grain.position[0] = grain.position[1] = (0.5 * SIDE + CORNER - n->depth) * sqrt(0.5);
    return talus_world_add_grain(*out, &grain, NULL, &p->error);
}

/// t_R in t_c with steps of `part` t_c.
static talus_status measure(paper* p, const press* n, talus_elongation elongation, double part,
                            double* t_r)
{
    talus_world* world;
    decay maxima;
    const double t_c = n->contact;
    TRY(make_world(p, n, elongation, &world));
    TRY(decay_record(p, world, part * t_c, 0.02 * t_c, 40.0 * t_c, &maxima));
    paper_end_world(p, world);
    *t_r = decay_time(&maxima, 0.0, INFINITY) / t_c;
    return TALUS_OK;
}

// ---- results -----------------------------------------------------------------------------------

static const char WHY[] =
    "2 m/(nu_n + nu_t), or the root for Cundall's elongation; the stiffness changes by 1e-3 in a "
    "swing and t_R does not depend on it; gear5 and parabolas leave 2e-4 at 0.1 t_c";

enum { CUNDALL, GEOMETRIC, KINDS };
typedef struct results {
    int count;
    double t_r[KINDS][DECAY_STEPS], theory[KINDS][DECAY_STEPS];
} results;

static talus_status sweep(paper* p, const press* n, results* r)
{
    r->count = p->brief ? BRIEF_STEPS : DECAY_STEPS;
    for (int k = 0; k < r->count; k++) {
        TRY(measure(p, n, TALUS_ELONGATION_CUNDALL, decay_steps[k], &r->t_r[CUNDALL][k]));
        TRY(measure(p, n, TALUS_ELONGATION_GEOMETRIC, decay_steps[k], &r->t_r[GEOMETRIC][k]));
        r->theory[CUNDALL][k] = theory(n, decay_steps[k]);
        r->theory[GEOMETRIC][k] = theory(n, 0.0);
        paper_progress(p, decay_steps[r->count - 1] / decay_steps[k]);
    }
    return TALUS_OK;
}

static void check(paper* p, const press* n, const results* r)
{
    static const char* const names[KINDS] = {"t_R/theory - 1, Cundall, largest of all steps",
                                             "t_R/theory - 1, geometric, largest of all steps"};
    const double limit = 2.0 * n->mass / (n->viscosity * (1.0 + RATIO)) / n->contact;
    paper_within(p, "t_R/t_c, geometric, dt = 1e-3 t_c", r->t_r[GEOMETRIC][6], limit, 5e-4 * limit,
                 WHY);
    paper_within(p, "t_R/t_c, Cundall, dt = 0.1 t_c", r->t_r[CUNDALL][0], r->theory[CUNDALL][0],
                 5e-4 * r->theory[CUNDALL][0], WHY);
    paper_within(p, "t_R/t_c, Cundall, dt = 1e-3 t_c", r->t_r[CUNDALL][6], r->theory[CUNDALL][6],
                 5e-4 * r->theory[CUNDALL][6], WHY);
    for (int kind = 0; kind < KINDS; kind++) {
        double most = 0.0;
        for (int k = 0; k < r->count; k++) {
            most = fmax(most, fabs(r->t_r[kind][k] / r->theory[kind][k] - 1.0));
        }
        paper_between(p, names[kind], most, 0.0, 5e-4, WHY);
    }
    const double lower = r->theory[CUNDALL][0] / limit;
    paper_within(p, "t_R of Cundall/t_R of geometric, dt = 0.1 t_c",
                 r->t_r[CUNDALL][0] / r->t_r[GEOMETRIC][0], lower, 1e-3 * lower,
                 "theory, twice the above; in the paper squares fall far below the circles too");
    const double expected = decay_onset_theory(theory, n, 0.01);
    paper_within(p, "T_t: step in t_c at which Cundall's t_R is 1 % off",
                 decay_onset(r->count, decay_steps, r->t_r[CUNDALL], limit, 0.01), expected,
                 0.02 * expected, "theory; interpolation between two steps: below 2 %");
    paper_note(p,
               "The paper gives no T_t for polygons. To first order in the step it is 0.02 (nu_n + "
               "nu_t)/(k_t t_c) = %.2g, as for discs that do not turn and have such dashpots. The "
               "geometric elongation has none: t_R is right with all steps.",
               0.02 * n->viscosity * (1.0 + RATIO) / (RATIO * STIFFNESS) / n->contact);
}

/// The shapes and the depth of the overlap are not in the paper: t_R does not depend on them.
static talus_status check_depth(paper* p)
{
    double t_r[2];
    for (int k = 0; k < 2; k++) {
        const press n = press_of(k ? 0.15 : 0.02);
        TRY(measure(p, &n, TALUS_ELONGATION_CUNDALL, 2e-3, &t_r[k]));
    }
    paper_within(p, "t_R (Cundall, 2e-3 t_c) at an overlap 7.5 times as deep, relative",
                 t_r[1] / t_r[0], 1.0, 1e-4,
                 "the dashpots, and k_t h/2, do not know the area; the frequency does, by which "
                 "terms of h^2 change");
    return TALUS_OK;
}

static talus_status draw(paper* p, const results* r)
{
    talus_figure* figure;
    TRY(plot_figure(p, 1, 1, &figure));
    talus_axes_def axes = plot_axes_def(NULL, "Δt/t_{c}", "t_{R}/t_{c}", "x");
    axes.y_high = 130.0;
    TRY(talus_figure_axes(figure, 0, &axes, &p->error));
    static const char* const labels[KINDS] = {"Cundall", "geometric"};
    for (int kind = 0; kind < KINDS; kind++) {
        TRY(plot_curve(p, figure, 0, (plot_style){.colour = 7}, kind ? NULL : "theory", r->count,
                       decay_steps, r->theory[kind]));
        // squares and circles as in the paper
        TRY(plot_curve(p, figure, 0, (plot_style){.colour = 1 - kind, .style = TALUS_CURVE_DOTS},
                       labels[kind], r->count, decay_steps, r->t_r[kind]));
    }
    return paper_figure(p, NULL, figure,
                        "PLMH Fig. 10: relaxation time of two polygons against the step, rotation "
                        "neglected; Cundall's (squares) and the geometric elongation (circles).");
}

static talus_status run(paper* p)
{
    results r;
    const press n = press_of(0.05);
    TRY(sweep(p, &n, &r));
    check(p, &n, &r);
    TRY(check_depth(p));
    paper_note(p,
               "The paper does not give shapes, overlap, restitution and force of Fig. 10: a "
               "corner of a pentagon in the side of a square, %g m deep, restitution %g of a mass "
               "m, a push %.2g %% off balance.",
               n.depth, RESTITUTION, 100.0 * KICK / n.push);
    const paper_column columns[] = {{"dt/t_c", decay_steps},
                                    {"t_R/t_c Cundall", r.t_r[CUNDALL]},
                                    {"theory", r.theory[CUNDALL]},
                                    {"t_R/t_c geometric", r.t_r[GEOMETRIC]},
                                    {"theory geometric", r.theory[GEOMETRIC]}};
    TRY(paper_csv(p, NULL, r.count, 5, columns));
    return draw(p, &r);
}

const paper_experiment paper_two_polygons = {
    .name = "two-polygons",
    .title = "Two polygons relax, and the rate depends on the step",
    .source = "Peña, Lind, McNamara & Herrmann, Granular Matter 2009, Fig. 10",
    .about =
        "A corner of a pentagon is pressed into the side of a square and oscillates without "
        "turning. The relaxation time of the kinetic energy depends on the step with Cundall's "
        "elongation of the friction spring, and does not with the one that is taken from the "
        "motion of the overlap.",
    .run = run,
};
