/// Rolling and torsion friction keep a heap of spheres on a flat plane (BUW 1.7: "Such an ansatz is
/// capable of stabilizing a static heap of spheres on a flat plane [29]"; [29] is Zhou et al.
/// 1999).
///
/// However large Coulomb friction is, a sphere rolls away freely. A contact torque against the
/// relative spin, |T_t| <= mu_t R_n and |T_n| <= mu_n R_n (BUW 1.40), stops it. BUW make a material
/// constant mu of the coefficient of rolling, mu_t = r* mu with r* = r1 r2/(r1 + r2) (1.41, 1.42);
/// mu_n = r* mu for torsion is our choice. r* is the radius of a sphere on a plane and a quarter of
/// a diameter between two equal ones.
///
/// One sphere of radius R on a plane has R_n = m g cos(slope) and I = 2/5 m R^2, so that
///   it starts to roll at    tan(slope) = mu_t/R = mu,
///   it rolls down with      a = g (sin(slope) - mu cos(slope))/(1 + 2/5),
///   it slows down with      a = 5/7 mu g on level ground,
///   it stops spinning after 2 R^2 w/(5 mu_n g) = 2 R w/(5 mu g).
///
/// The heap: spheres settle in a smooth upright tube, the tube is taken away, and the column
/// collapses and spreads on a plane that has the same friction as the spheres. Its angle is that of
/// the cone with the same mean height and the same median distance from the axis: a cone of height
/// H and radius R has H/4 and R/2. Without rolling friction what remains is hardly a heap, and its
/// spheres roll on forever.
///
/// Lengths are in mean diameters, masses in those of a mean sphere, and gravity is 1.
#include "fit.h"
#include "heap.h"
#include "paper.h"
#include "plot.h"
#include <math.h>

static const double STEP = 0.025; // h, sqrt(d/g)
static const double RADIUS = 0.5; // of the single sphere
static const double REST = 1e-7;  // kinetic energy a sphere below which a heap rests, m g d

// ---- one sphere --------------------------------------------------------------------------------

typedef struct sphere_def {
    double slope;            ///< of the plane, rad
    double rolling, torsion; ///< coefficients mu
    double speed;            ///< with which it rolls at the start
    double spin;             ///< about the normal at the start
    int steps;
} sphere_def;

/// Let a sphere go; speed and spin get their values after each step.
static talus_status roll(paper* p, const sphere_def* def, double* speed, double* spin)
{
    talus_world* world = NULL;
    const heap_law law = {.friction = 0.5, .rolling = def->rolling, .torsion = def->torsion};
    TRY(heap_table(p, def->slope, &law, &world));
    talus_solver_def solver = paper_solver_default();
    solver.stop = TALUS_STOP_RESIDUAL;
    solver.tolerance = 1e-13;
    TRY(talus_world_set_solver(world, &solver, &p->error));
    talus_grain_def bead = talus_grain_default();
    bead.radius = RADIUS;
    bead.mass = 1;
    bead.position[2] = RADIUS;
    bead.velocity[0] = def->speed;
    bead.spin[1] = def->speed / RADIUS;
    bead.spin[2] = def->spin;
    TRY(talus_world_add_grain(world, &bead, NULL, &p->error));
    for (int s = 0; s < def->steps; s++) {
        TRY(talus_world_step(world, STEP, NULL, &p->error));
        talus_grains g = talus_world_grains(world);
        speed[s] = g.velocity[0];
        spin[s] = g.spin[2];
    }
    paper_end_world(p, world);
    return TALUS_OK;
}

enum { SPHERE_STEPS = 2000 };

/// Tangent of the slope at which a sphere at rest begins to roll, by bisection.
static talus_status find_start(paper* p, double mu, double* tangent)
{
    double low = 0, high = 2 * mu, speed[20], spin[20];
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        sphere_def def = {.slope = atan(middle), .rolling = mu, .torsion = mu, .steps = 20};
        TRY(roll(p, &def, speed, spin));
        *(speed[19] > 1e-12 ? &high : &low) = middle;
    }
    *tangent = 0.5 * (low + high);
    return TALUS_OK;
}

/// Step after which a falling series is at zero.
static int steps_to_rest(const double* series)
{
    int s = 0;
    while (s < SPHERE_STEPS && fabs(series[s]) > 1e-12) s++;
    return s + 1;
}

static talus_status state_start_and_slope(paper* p, double mu, double* speed, double* spin)
{
    double tangent;
    TRY(find_start(p, mu, &tangent));
    paper_within(p, "slope at which a sphere starts to roll, tan/mu", tangent / mu, 1, 1e-9,
                 "m g sin R = mu R m g cos; bisection to 1e-12, solver to 1e-13");
    sphere_def def = {.slope = atan(2 * mu), .rolling = mu, .torsion = mu, .steps = 200};
    TRY(roll(p, &def, speed, spin));
    double expected = (sin(def.slope) - mu * cos(def.slope)) / 1.4;
    paper_within(p, "acceleration at twice this slope over the prediction",
                 speed[199] / (200 * STEP) / expected, 1, 1e-9,
                 "(g sin - mu g cos)/(1 + 2/5); a constant force is exact in Euler's scheme");
    def = (sphere_def){.speed = 1, .torsion = mu, .steps = SPHERE_STEPS};
    TRY(roll(p, &def, speed, spin));
    paper_within(p, "speed kept without rolling friction", speed[SPHERE_STEPS - 1], 1, 1e-9,
                 "Coulomb friction does no work on a sphere that rolls");
    return TALUS_OK;
}

static talus_status state_stopping(paper* p, double mu, double* speed, double* spin)
{
    const double start = 2, twirl = 10;
    const double brake = mu / 1.4, brake_time = start / brake,
                 spin_time = 2 * RADIUS * twirl / (5 * mu);
    sphere_def def = {.rolling = mu, .torsion = mu, .speed = start, .steps = SPHERE_STEPS};
    TRY(roll(p, &def, speed, spin));
    paper_within(p, "deceleration on level ground over 5/7 mu g",
                 (start - speed[99]) / (100 * STEP) / brake, 1, 1e-9, "mu R m g/(m R (1 + 2/5))");
    paper_within(p, "time until it stops, sqrt(d/g)", STEP * steps_to_rest(speed), brake_time, STEP,
                 "7 v/(5 mu g), to one step");
    double way = 0;
    for (int s = 0; s < SPHERE_STEPS; s++) way += STEP * speed[s];
    paper_within(p, "distance until it stops, d", way, 0.5 * start * brake_time, start * STEP,
                 "7 v^2/(10 mu g), to one step at v; Euler's sum is v h/2 shorter");
    def = (sphere_def){.rolling = mu, .torsion = mu, .spin = twirl, .steps = SPHERE_STEPS};
    TRY(roll(p, &def, speed, spin));
    paper_within(p, "time until a twirling sphere stops, sqrt(d/g)", STEP * steps_to_rest(spin),
                 spin_time, STEP, "2 R w/(5 mu g) from 2/5 m R^2 dw/dt = -mu R m g, to one step");
    return TALUS_OK;
}

static talus_status state_one_sphere(paper* p)
{
    const double mu = 0.2;
    double* speed = paper_alloc(p, SPHERE_STEPS, sizeof *speed);
    double* spin = paper_alloc(p, SPHERE_STEPS, sizeof *spin);
    if (!speed || !spin) return p->error.status;
    TRY(state_start_and_slope(p, mu, speed, spin));
    return state_stopping(p, mu, speed, spin);
}

// ---- heaps: cases and rows ---------------------------------------------------------------------

enum { MOST_CASES = 8, MOST_SEEDS = 3, RINGS = 24 };

/// All heaps. The first three cases are without both, with torsion alone and with rolling alone,
/// those that follow have both and are the curve of angles.
typedef struct study {
    int64_t spheres;
    double time;
    int seeds, cases, main; ///< main: the case with both that the first three are compared with
    double rolling[MOST_CASES], torsion[MOST_CASES];
    heap_shape shape[MOST_CASES][MOST_SEEDS];
    double profile[MOST_CASES][RINGS]; ///< solid volume over area in rings of width 1
    fit_mean_result angle[MOST_CASES], lifted[MOST_CASES], energy[MOST_CASES];
    double scatter; ///< standard deviation of an angle, from all cases
} study;

enum { CASE_NONE, CASE_TORSION, CASE_ROLLING, CASE_BOTH };

static study plan(const paper* p)
{
    study s = {.spheres = 600, .time = 60, .seeds = 3, .cases = 7, .main = CASE_BOTH + 2};
    const double curve[4] = {0.05, 0.1, 0.2, 0.4};
    if (p->brief) {
        s.spheres = 80, s.time = 25, s.seeds = 2, s.cases = 4, s.main = CASE_BOTH;
    }
    s.torsion[CASE_TORSION] = s.rolling[CASE_ROLLING] = 0.2;
    for (int c = CASE_BOTH; c < s.cases; c++) {
        s.rolling[c] = s.torsion[c] = p->brief ? 0.2 : curve[c - CASE_BOTH];
    }
    return s;
}

/// Draw the heap as seen from the side; both pictures show the same part of the table.
static talus_status draw_heap(paper* p, const study* s, talus_figure* figure, int panel,
                              const talus_world* world)
{
    const double half = 3 * cbrt((double)s->spheres / 5);
    talus_axes_def axes = talus_axes_default();
    axes.title = panel == 0 ? "with rolling and torsion friction" : "without";
    axes.x_label = "x/d";
    axes.y_label = "z/d";
    axes.x_low = -half, axes.x_high = half;
    axes.y_low = -0.5, axes.y_high = 0.35 * half;
    axes.equal = true;
    TRY(talus_figure_axes(figure, panel, &axes, &p->error));
    talus_picture_def picture = talus_picture_default();
    return talus_figure_world(figure, panel, world, &picture, &p->error);
}

static talus_status run_case(paper* p, study* s, int c, int seed, talus_figure* pictures)
{
    heap_def def = heap_default();
    def.spheres = s->spheres;
    def.law.rolling = s->rolling[c];
    def.law.torsion = s->torsion[c];
    def.step = STEP, def.rest = REST;
    def.time = s->time;
    def.seed = p->seed * 1000 + (uint64_t)seed;
    talus_world* world = NULL;
    TRY(heap_make(p, &def, &s->shape[c][seed], &world));
    const talus_grains g = talus_world_grains(world);
    for (int64_t i = 0; i < g.count; i++) {
        const int ring = (int)hypot(g.position[3 * i], g.position[3 * i + 1]);
        const double volume = 4 * M_PI / 3 * pow(g.radius[i], 3), area = M_PI * (2 * ring + 1);
        if (ring < RINGS) s->profile[c][ring] += 1.0 / s->seeds * volume / area;
    }
    if (seed == 0 && (c == CASE_NONE || c == s->main)) {
        TRY(draw_heap(p, s, pictures, c == CASE_NONE, world));
    }
    paper_end_world(p, world);
    return TALUS_OK;
}

/// Means over the seeds of each case.
static void sum_up(study* s)
{
    double variance = 0;
    for (int c = 0; c < s->cases; c++) {
        double angle[MOST_SEEDS], lifted[MOST_SEEDS], energy[MOST_SEEDS];
        for (int i = 0; i < s->seeds; i++) {
            angle[i] = s->shape[c][i].angle;
            lifted[i] = s->shape[c][i].lifted;
            energy[i] = s->shape[c][i].energy;
        }
        s->angle[c] = fit_mean(s->seeds, angle);
        s->lifted[c] = fit_mean(s->seeds, lifted);
        s->energy[c] = fit_mean(s->seeds, energy);
        variance += s->angle[c].deviation * s->angle[c].deviation / s->cases;
    }
    s->scatter = sqrt(variance);
}

/// The angle against the coefficient.
static void state_curve(paper* p, const study* s)
{
    double least = INFINITY;
    for (int c = CASE_BOTH + 1; c < s->cases; c++) {
        least = fmin(least, s->angle[c].mean - s->angle[c - 1].mean);
    }
    paper_between(p, "smallest gain of the angle from one mu to the next, degrees", least, 0, 90,
                  "more rolling friction, steeper heap: one sphere stays where tan <= mu");
}

static void state_heaps(paper* p, const study* s)
{
    const double error = s->scatter * sqrt(2.0 / s->seeds); // of a difference of means
    const double gain = s->angle[s->main].mean - s->angle[CASE_NONE].mean;
    const char* layer = "what rolls freely spreads into a layer of one sphere; "
                        "up to a twentieth may be carried by others for a while";
    paper_between(p, "none: share of spheres on top of others", s->lifted[CASE_NONE].mean, 0, 0.05,
                  layer);
    paper_between(p, "torsion alone: share on top of others", s->lifted[CASE_TORSION].mean, 0, 0.05,
                  layer);
    paper_between(p, "none: kinetic energy a sphere in the end, m g d", s->energy[CASE_NONE].mean,
                  1e3 * REST, INFINITY, "rolling without loss: it never comes to rest");
    paper_between(p, "both: share of spheres on top of others", s->lifted[s->main].mean, 0.2, 1,
                  "a heap, four times above what is called a layer");
    paper_between(p, "both: kinetic energy a sphere in the end, m g d", s->energy[s->main].mean, 0,
                  REST, "at rest before the time is over: the heap is static");
    paper_between(p, "rolling alone: kinetic energy a sphere, m g d", s->energy[CASE_ROLLING].mean,
                  10 * REST, INFINITY, "the heap rests but spheres go on spinning about normals");
    paper_between(p, "both: angle of the heap, degrees, more than none by", gain, 5 * error, 90,
                  "five standard errors of the difference, from the scatter over seeds");
    paper_between(p, "rolling alone: angle, degrees, more than with torsion alone by",
                  s->angle[CASE_ROLLING].mean - s->angle[CASE_TORSION].mean, 5 * error, 90,
                  "only a torque against rolling holds a heap; five standard errors likewise");
    paper_note(
        p,
        "Of the angle that both torques together add to that without (%.1f degrees), rolling "
        "friction alone gives %.2f +- %.2f.",
        gain, (s->angle[CASE_ROLLING].mean - s->angle[CASE_NONE].mean) / gain, error / gain);
    if (s->cases > CASE_BOTH + 1) state_curve(p, s);
}

// ---- files -------------------------------------------------------------------------------------

static talus_status write_tables(paper* p, const study* s)
{
    double error[MOST_CASES], angle[MOST_CASES], lifted[MOST_CASES], energy[MOST_CASES],
        ring[RINGS];
    for (int c = 0; c < s->cases; c++) {
        angle[c] = s->angle[c].mean;
        error[c] = s->angle[c].error;
        lifted[c] = s->lifted[c].mean;
        energy[c] = s->energy[c].mean;
    }
    const paper_column cases[] = {{"rolling", s->rolling},  {"torsion", s->torsion},
                                  {"angle/degrees", angle}, {"error of angle", error},
                                  {"share on top", lifted}, {"energy a sphere/(m g d)", energy}};
    TRY(paper_csv(p, NULL, s->cases, 6, cases));
    for (int r = 0; r < RINGS; r++) ring[r] = r + 0.5;
    const paper_column profile[] = {{"r/d", ring},
                                    {"none: volume over area/d", s->profile[CASE_NONE]},
                                    {"torsion", s->profile[CASE_TORSION]},
                                    {"rolling", s->profile[CASE_ROLLING]},
                                    {"both", s->profile[s->main]}};
    return paper_csv(p, "profile", RINGS, 5, profile);
}

/// Angle against coefficient.
static talus_status draw_angles(paper* p, const study* s, talus_figure* figure)
{
    double line_x[50], line_y[50];
    const char* labels[] = {NULL, "torsion alone (μ_{n} = 0.2 r*)", "rolling alone",
                            "rolling and torsion"};
    TRY(plot_axes(p, figure, 0, NULL, "coefficient of rolling friction μ = μ_{t}/r*",
                  "angle of the equivalent cone, degrees", ""));
    for (int c = 0; c < s->cases; c++) {
        talus_curve_def curve = talus_curve_default();
        curve.label = c <= CASE_BOTH ? labels[c] : NULL;
        curve.x = &s->rolling[c], curve.y = &s->angle[c].mean, curve.y_error = &s->angle[c].error;
        curve.count = 1, curve.style = TALUS_CURVE_DOTS;
        curve.colour = curve.marker = c == CASE_TORSION || c == CASE_ROLLING ? c : 0;
        TRY(talus_figure_curve(figure, 0, &curve, &p->error));
    }
    for (int i = 0; i < 50; i++) {
        line_x[i] = s->rolling[s->cases - 1] * i / 49;
        line_y[i] = atan(line_x[i]) * 180 / M_PI;
    }
    return plot_curve(p, figure, 0, (plot_style){3, TALUS_CURVE_LINE, TALUS_DASH_DASHED},
                      "one sphere on a plane: tan = μ", 50, line_x, line_y);
}

static talus_status draw_profiles(paper* p, const study* s, talus_figure* figure)
{
    const char* labels[] = {"none", "torsion alone", "rolling alone", "rolling and torsion"};
    double ring[RINGS];
    for (int r = 0; r < RINGS; r++) ring[r] = r;
    TRY(plot_axes(p, figure, 1, NULL, "distance from the axis, d", "solid volume over area, d",
                  ""));
    for (int i = 0; i < 4; i++) {
        TRY(plot_curve(p, figure, 1, (plot_style){i, TALUS_CURVE_STEPS, TALUS_DASH_SOLID},
                       labels[i], RINGS, ring, s->profile[i == CASE_BOTH ? s->main : i]));
    }
    return TALUS_OK;
}

static talus_status draw_curves(paper* p, const study* s)
{
    talus_figure* figure;
    TRY(plot_figure(p, 2, 1, &figure));
    TRY(draw_angles(p, s, figure));
    TRY(draw_profiles(p, s, figure));
    return paper_figure(p, "angle", figure,
                        "Left: angle of the heap against the coefficient of rolling and torsion "
                        "friction, mean over seeds. Right: profiles, the volume of the spheres in "
                        "rings of width d over the rings' area.");
}

static talus_status run_rolling_heap(paper* p)
{
    TRY(state_one_sphere(p));
    study s = plan(p);
    talus_figure_def def = talus_figure_default();
    def.rows = 2;
    def.panel_width = 720, def.panel_height = 200;
    talus_figure* pictures;
    TRY(paper_new_figure(p, &def, &pictures));
    for (int c = 0; c < s.cases; c++) {
        for (int i = 0; i < s.seeds; i++) {
            TRY(run_case(p, &s, c, i, pictures));
            paper_progress(p, (c * s.seeds + i + 1.0) / (s.cases * s.seeds));
        }
    }
    sum_up(&s);
    state_heaps(p, &s);
    TRY(write_tables(p, &s));
    TRY(paper_figure(p, NULL, pictures,
                     "The collapsed column, seen from the side. Above: with rolling and torsion "
                     "friction, at rest. Below: without, still spreading."));
    TRY(draw_curves(p, &s));
    paper_note(p,
               "BUW give no setting and of [29] no number: only that a heap is stabilised. Ours: "
               "%lld spheres, radii within %g of the mean, Coulomb "
               "friction %g everywhere, a column as wide as high, released at once, h = %g "
               "sqrt(d/g).",
               (long long)s.spheres, heap_default().spread, heap_default().law.friction, STEP);
    paper_note(p,
               "Without rolling friction the angle is that of a layer which still spreads "
               "(after %g sqrt(d/g)): it goes to 0 with time.",
               s.time);
    return TALUS_OK;
}

const paper_experiment paper_rolling_heap = {
    .name = "rolling-heap",
    .title = "A heap of spheres on a flat plane, held by rolling and torsion friction",
    .source = "Brendel, Unger, Wolf, section 1.7 and Fig. 1.8, reference [29]",
    .about = "A column of spheres collapses on a plane with Coulomb friction. Without contact "
             "torques the spheres roll away and leave a single layer that spreads for ever; with "
             "rolling and torsion friction a heap with a finite angle stays, the steeper the "
             "larger the coefficient. Torsion alone holds nothing; rolling alone holds the heap "
             "but lets spheres spin about their normals. Before that, the law is checked on one "
             "sphere: where it starts to roll, how fast it accelerates, when it stops.",
    .run = run_rolling_heap,
};
