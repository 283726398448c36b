/// Flows of 10^3 to 10^6 grains by the default rule: sweeps, updates and seconds a step, how many
/// steps end unconverged, what their certificates say, and how updates grow with the grains.
///
/// Grains have a diameter of 1 cm within 10 %, steps are 1 ms long and halved where `step: auto`
/// would halve them (policies.coarse: retry), and everything begins with a random fill, so that a
/// flow is there soon: a column without its gate (collapse), a rain of grains of which half have
/// landed (pour), a drum that turns from the first moment (drum), a silo with an opening a quarter
/// of its width (hopper), a layer between bumpy walls with its velocity profile given (shear).
/// Until then steps are coarse (WARM_SWEEPS sweeps without momentum); then come NOT_COUNTED by the
/// default rule, and those that count. So many are left out because a flow needs about three times
/// sqrt(d/g) to forget what coarse steps have left in its loads: sweeps of a collapse of 10^4 disks
/// fall from 220 to 130 in this time. Those that count are made by two threads, too, in a copy of
/// the world and with the same bits: each step by one thread and then by two, since a machine is
/// not equally fast all the time. Wall times and the gain are medians over steps. Times depend on
/// the machine; sweeps and updates do not.
/// A million grains are followed from LARGE_WARM_UP on, when they have fallen by some diameters,
/// the lowest onto the floor: all move.
///
/// With --resolve steps are as long in all flows and sizes beside the inertial time d sqrt(rho/P),
/// P the pressure between the grains when the flow is there; then updates are also told for the
/// time of the flow.
///
/// flow [--quick] [--million] [--only FLOW] [--dimension 2|3] [--size N] [--tolerance X]
///      [--steps N] [--one-thread] [--fixed] [--resolve X] [--rate X] [--pressure X]
///   --quick      10^3 grains only
///   --million    a few steps of 10^6 grains after the others
///   --size N     this number of grains instead of 10^3, 10^4, 10^5
///   --steps N    that count, at most 1000
///   --tolerance  of every step, instead of the default
///   --one-thread nothing is repeated by two threads, which gain nothing on a busy machine
///   --fixed      steps are not halved
///   --resolve X  steps of X inertial times instead of 1 ms
///   --rate X     of the shear, 1/s, instead of 2
///   --pressure X of the shear, Pa (2D: N/m), instead of 1000
#include "bench.h"
#include "threads.h"

#include "base/keep_memory.h"
#include "base/short_waits.h"
#include "world/advise_step.h"
#include "world/world.h"

#include <math.h>
#include <talus/scene.h>
#include <talus/talus.h>
#include <unistd.h>

static const double DIAMETER = 0.01, STEP = 1e-3, GRAVITY = 9.81;
static const double LARGE_WARM_UP = 0.1;
static const double CERTIFIED = 0.1; // steps within this are counted
enum { WARM_SWEEPS = 200, NOT_COUNTED = 100, STEPS = 50, MOST_STEPS = 1000, LARGE = 300000 };

// ---- the flows ---------------------------------------------------------------------------------

typedef enum flow_kind { COLLAPSE, POUR, DRUM, HOPPER, SHEAR, FLOW_COUNT } flow_kind;
static const char* const flow_names[] = {"collapse", "pour", "drum", "hopper", "shear"};

/// A scene being written.
typedef struct script {
    FILE* file;
    int dim;
    double volume; ///< of all grains
    double shear;  ///< velocity of the lower wall, 0: none
    double height; ///< of the layer that is sheared
} script;

/// The shear: its rate and pressure are what its inertial number is made of.
static double shear_rate = 2.0, shear_pressure = 1000.0;
/// Are steps halved as `step: auto` does it?
static bool halve_steps = true;
/// Length of the steps in inertial times, 0: STEP.
static double resolve = 0.0;

/// A vector of the scene, without `depth` in 2D; from a ring of texts, for several in one line.
static const char* vec(const script* s, double x, double depth, double up)
{
    static char ring[8][96];
    static int next;
    char* text = ring[next++ % 8];
    if (s->dim == 2)
        snprintf(text, sizeof ring[0], "[%.6g, %.6g]", x, up);
    else
        snprintf(text, sizeof ring[0], "[%.6g, %.6g, %.6g]", x, depth, up);
    return text;
}

static void plane(const script* s, const char* name, double x, double up, double nx, double nup)
{
    fprintf(s->file, "  - {name: %s, type: plane, point: %s, normal: %s}\n", name,
            vec(s, x, 0.0, up), vec(s, nx, 0.0, nup));
}

static void fill_box(const script* s, int count, double low, double width, double depth,
                     double bottom, double top, double speed)
{
    fprintf(s->file,
            "  - {name: grains, type: fill, region: {low: %s, high: %s}, count: %d, "
            "velocity: %s, diameter: {distribution: uniform, min: %g, max: %g}}\n",
            vec(s, low, 0.0, bottom), vec(s, low + width, depth, top), count,
            vec(s, 0.0, 0.0, -speed), 0.9 * DIAMETER, 1.1 * DIAMETER);
}

/// A column twice as high as wide, in 3D periodic across.
static double write_collapse(script* s, int count)
{
    const double room = s->volume / (s->dim == 2 ? 0.7 : 0.5);
    const double width = s->dim == 2 ? sqrt(room / 2.0) : cbrt(room), height = 2.0 * width;
    if (s->dim == 3) fprintf(s->file, "periodic: {y: [0, %.6g]}\n", 0.5 * width);
    fprintf(s->file, "walls:\n");
    plane(s, "floor", 0.0, 0.0, 0.0, 1.0);
    plane(s, "left", 0.0, 0.0, 1.0, 0.0);
    fprintf(s->file, "grains:\n");
    fill_box(s, count, 0.0, width, 0.5 * width, 0.0, height, 0.0);
    return 0.8 * sqrt(2.0 * height / GRAVITY);
}

/// Rain on a floor, periodic sideways: it ends half-way.
static double write_pour(script* s, int count)
{
    const double room = s->volume / (s->dim == 2 ? 0.45 : 0.3), speed = 1.0;
    const double width = s->dim == 2 ? sqrt(room / 2.0) : cbrt(room / 2.0), height = 2.0 * width;
    fprintf(s->file, "periodic: {x: [0, %.6g]%s", width, s->dim == 2 ? "}\n" : "");
    if (s->dim == 3) fprintf(s->file, ", y: [0, %.6g]}\n", width);
    fprintf(s->file, "walls:\n");
    plane(s, "floor", 0.0, 0.0, 0.0, 1.0);
    fprintf(s->file, "grains:\n");
    fill_box(s, count, 0.0, width, width, 0.0, height, speed);
    // The rain is half as dense as what it becomes: its middle has a quarter of the height to fall.
    return (sqrt(speed * speed + GRAVITY * height / 2.0) - speed) / GRAVITY;
}

/// A drum less than half full once its grains have fallen, at a Froude number of 0.2.
static double write_drum(script* s, int count)
{
    const double room = s->volume / (s->dim == 2 ? 0.4 : 0.3);
    const double radius = s->dim == 2 ? sqrt(room / M_PI) : cbrt(room / M_PI);
    const double spin = sqrt(0.2 * GRAVITY / radius);
    char turning[64], region[192];
    if (s->dim == 2) {
        snprintf(turning, sizeof turning, "spin: %.6g", spin);
        snprintf(region, sizeof region, "type: ball, center: [0, 0], radius: %.6g", radius);
    } else {
        fprintf(s->file, "periodic: {y: [0, %.6g]}\n", radius);
        snprintf(turning, sizeof turning, "spin: [0, %.6g, 0]", spin);
        snprintf(region, sizeof region,
                 "type: cylinder, from: [0, 0, 0], to: [0, %.6g, 0], radius: %.6g", radius, radius);
    }
    fprintf(s->file,
            "walls:\n"
            "  - {name: drum, type: cylinder, %s radius: %.6g, material: liner, "
            "motion: {type: velocity, %s}}\n"
            "grains:\n"
            "  - {name: grains, type: fill, region: {%s}, count: %d, "
            "diameter: {distribution: uniform, min: %g, max: %g}}\n",
            s->dim == 2 ? "" : "axis: [0, 1, 0],", radius, turning, region, count, 0.9 * DIAMETER,
            1.1 * DIAMETER);
    return 2.0 * sqrt(2.0 * radius / GRAVITY);
}

/// A silo whose floor has an opening a quarter (3D: a third) as wide as itself.
static double write_hopper(script* s, int count)
{
    const double room = s->volume / (s->dim == 2 ? 0.7 : 0.5);
    const double half = s->dim == 2 ? sqrt(room / 8.0) : cbrt(room / (4.0 * M_PI));
    const double height = 4.0 * half;
    fprintf(s->file, "domain: {low: %s, high: %s}\nwalls:\n",
            vec(s, -2.0 * half, -2.0 * half, -5.0 * DIAMETER),
            vec(s, 2.0 * half, 2.0 * half, 2.0 * height));
    if (s->dim == 2) {
        plane(s, "left", -half, 0.0, 1.0, 0.0);
        plane(s, "right", half, 0.0, -1.0, 0.0);
        for (int side = -1; side <= 1; side += 2) {
            fprintf(s->file, "  - {name: floor%d, type: segment, from: %s, to: %s}\n", side + 1,
                    vec(s, side * half, 0.0, 0.0), vec(s, 0.25 * side * half, 0.0, 0.0));
        }
        fprintf(s->file, "grains:\n");
        fill_box(s, count, -half, 2.0 * half, 0.0, 0.0, height, 0.0);
        return 0.6 * sqrt(2.0 * height / GRAVITY);
    }
    fprintf(s->file,
            "  - {name: tube, type: cone, from: {point: [0, 0, 0], radius: %.6g}, "
            "to: {point: [0, 0, %.6g], radius: %.6g}}\n"
            "  - {name: floor, type: cone, axis: [0, 0, 1], from: {point: [0, 0, 0], "
            "radius: %.6g}, to: {point: [0, 0, 0], radius: %.6g}}\n"
            "grains:\n"
            "  - {name: grains, type: fill, region: {type: cylinder, from: [0, 0, 0], "
            "to: [0, 0, %.6g], radius: %.6g}, count: %d, "
            "diameter: {distribution: uniform, min: %g, max: %g}}\n",
            half, 1.2 * height, half, half / 3.0, half, height, half, count, 0.9 * DIAMETER,
            1.1 * DIAMETER);
    return 0.6 * sqrt(2.0 * height / GRAVITY);
}

/// A layer between bumpy walls under pressure, sheared.
static double write_shear(script* s, int count)
{
    const double room = s->volume / (s->dim == 2 ? 0.75 : 0.55), spacing = 1.4 * DIAMETER;
    const int along = (int)round((s->dim == 2 ? sqrt(room) : cbrt(2.0 * room)) / spacing);
    const int across = s->dim == 2 ? 1 : (along + 1) / 2;
    const double width = along * spacing, depth = s->dim == 2 ? 1.0 : across * spacing;
    const double height = room / (width * depth), area = width * depth, half = 0.5 * DIAMETER;
    s->height = height;
    s->shear = shear_rate * height;
    fprintf(s->file, "periodic: {x: [0, %.6g]%s", width, s->dim == 2 ? "}\n" : "");
    if (s->dim == 3) fprintf(s->file, ", y: [0, %.6g]}\n", depth);
    fprintf(s->file,
            "walls:\n"
            "  - {name: bottom, type: plane, point: %s, normal: %s, motion: {type: velocity, "
            "velocity: %s}}\n"
            "  - {name: top, type: plane, point: %s, normal: %s, motion: {type: servo, mass: %.6g, "
            "axis: %s, stress: %.6g, area: %.6g, damping: %.6g}}\ngrains:\n",
            vec(s, 0, 0, -half), vec(s, 0, 0, 1), vec(s, s->shear, 0, 0),
            vec(s, 0, 0, height + half), vec(s, 0, 0, -1), 25.0 * area, vec(s, 0, 0, -1),
            shear_pressure, area, 500.0 * area);
    for (int top = 0; top < 2; top++) {
        fprintf(s->file,
                "  - {name: bumps%d, type: lattice, low: %s, counts: %s, spacing: %.17g, "
                "radius: %g, glue: %s, tag: 1}\n",
                top, vec(s, 0, 0, top ? height - half : -half), vec(s, along, across, 1), spacing,
                half, top ? "top" : "bottom");
    }
    fill_box(s, count, 0.0, width, depth, half, height - half, 0.0);
    return 0.15;
}

/// Grains of the layer move as in a steady flow from the beginning.
static void give_profile(talus_world* world, const script* s)
{
    talus_editable_grains g;
    talus_error error = {0};
    bench_ok(talus_world_edit_grains(world, &g, &error), error.text);
    for (int64_t i = 0; i < g.count; i++) {
        const double up = g.position[(i + 1) * g.dim - 1] / s->height;
        if (g.tag[i] == 0) g.velocity[i * g.dim] = s->shear * (1.0 - fmin(fmax(up, 0.0), 1.0));
    }
}

/// Build a flow; *warm_up becomes the time after which it flows, s.
static talus_world* make_flow(flow_kind kind, int dim, int count, double* warm_up)
{
    static double (*const write[])(script*, int) = {write_collapse, write_pour, write_drum,
                                                    write_hopper, write_shear};
    char path[] = "/tmp/talus-flow-XXXXXX";
    const int handle = mkstemp(path);
    script s = {.file = handle >= 0 ? fdopen(handle, "w") : NULL, .dim = dim};
    bench_ok(!s.file, "no temporary file");
    s.volume = count * (dim == 2 ? M_PI / 4.0 * DIAMETER * DIAMETER
                                 : M_PI / 6.0 * DIAMETER * DIAMETER * DIAMETER);
    fprintf(s.file,
            "title: %s\ndimension: %d\nstep: %g\ngravity: %s\nuntil: {time: 1}\n"
            "policies: {escape: remove, coarse: %s}\n"
            "materials:\n  bead: {density: 2500, friction: 0.5}\n  liner: {friction: 0.9}\n"
            "pairs:\n  - {between: [bead, liner], friction: 0.9}\n",
            flow_names[kind], dim, STEP, vec(&s, 0.0, 0.0, kind == SHEAR ? 0.0 : -GRAVITY),
            halve_steps ? "retry" : "accept");
    *warm_up = write[kind](&s, count);
    fclose(s.file);
    talus_scene* scene = NULL;
    talus_world* world = NULL;
    talus_report report = {0};
    talus_error error = {0};
    talus_status status = talus_scene_load(path, NULL, 0, &scene, &report, &error);
    if (status >= 0) status = talus_scene_build(scene, NULL, &world, &report, &error);
    for (int i = 0; i < report.count; i++) fprintf(stderr, "%s\n", report.lines[i]);
    bench_ok(status < 0, error.text);
    unlink(path);
    talus_report_clear(&report);
    talus_scene_destroy(scene);
    if (kind == SHEAR) give_profile(world, &s);
    return world;
}

// ---- measurement -------------------------------------------------------------------------------

/// Some steps of a flow by one number of threads.
typedef struct course {
    int steps, unconverged;
    int within; ///< certified within CERTIFIED
    int64_t contacts;
    double parts, sweeps, updates, cpu; ///< a step
    double wall[MOST_STEPS];            ///< of each step, s
    double estimate[MOST_STEPS];        ///< of the velocity error
    double certified[MOST_STEPS];
} course;

static void follow(course* c, talus_world* world, double h, int threads)
{
    talus_error error = {0};
    talus_step_result r;
    use_threads(world, threads);
    const double wall = bench_clock(CLOCK_MONOTONIC), cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    bench_ok(talus_world_step(world, h, &r, &error), error.text);
    c->wall[c->steps] = bench_clock(CLOCK_MONOTONIC) - wall;
    c->cpu += bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    c->parts += (double)r.substeps;
    c->sweeps += (double)r.sweeps;
    c->updates += (double)r.updates;
    c->unconverged += !r.converged;
    c->estimate[c->steps] = r.rigidity.velocity_error;
    c->certified[c->steps] = r.rigidity.certified;
    c->within += r.rigidity.certified <= CERTIFIED;
    c->contacts = r.contacts;
    c->steps++;
}

/// Sums become means, and lists are sorted.
static void finish(course* c)
{
    c->cpu /= c->steps;
    c->parts /= c->steps;
    c->sweeps /= c->steps;
    c->updates /= c->steps;
    qsort(c->wall, (size_t)c->steps, sizeof(double), bench_compare);
    qsort(c->estimate, (size_t)c->steps, sizeof(double), bench_compare);
    qsort(c->certified, (size_t)c->steps, sizeof(double), bench_compare);
}

static void coarse_steps(talus_world* world, double time)
{
    talus_error error = {0};
    const talus_solver_def own = talus_world_options(world)->solver;
    talus_solver_def coarse = own;
    coarse.max_sweeps = WARM_SWEEPS;
    bench_ok(talus_world_set_solver(world, &coarse, &error), error.text);
    world->def.on_coarse = TALUS_POLICY_ACCEPT;
    const int steps = (int)ceil(time / STEP);
    for (int i = 0; i < steps; i++)
        bench_ok(talus_world_step(world, STEP, NULL, &error), error.text);
    bench_ok(talus_world_set_solver(world, &own, &error), error.text);
    world->def.on_coarse = halve_steps ? TALUS_POLICY_RETRY : TALUS_POLICY_ACCEPT;
}

/// Length of the steps that a flow is measured by.
static double step_length(const talus_world* world)
{
    double inertial;
    if (resolve == 0.0) return STEP;
    bench_ok(advice_inertial_time(&world->state, 1, &inertial), "no memory");
    return resolve * inertial;
}

/// One row of the table; *h receives the length of its steps. Updates a step.
static double measure(flow_kind kind, int dim, int count, int steps, double tolerance, bool twice,
                      double* h)
{
    talus_error error = {0};
    double warm_up;
    const double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    talus_world *world = make_flow(kind, dim, count, &warm_up), *twin = NULL;
    if (count > LARGE) warm_up = fmin(warm_up, LARGE_WARM_UP);
    coarse_steps(world, warm_up);
    const double start = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
    if (tolerance > 0.0) {
        talus_solver_def own = talus_world_options(world)->solver;
        own.tolerance = tolerance;
        bench_ok(talus_world_set_solver(world, &own, &error), error.text);
    }
    course one = {0}, two = {0};
    *h = step_length(world);
    const int not_counted = count > LARGE ? 1 : (int)round(NOT_COUNTED * STEP / *h);
    for (int i = 0; i < not_counted; i++) follow(&(course){0}, world, *h, 1);
    bench_ok(talus_world_copy(world, &twin, &error), error.text);
    double gain[MOST_STEPS];
    for (int i = 0; i < steps; i++) {
        follow(&one, world, *h, 1);
        if (!twice) continue;
        follow(&two, twin, *h, 2);
        gain[i] = one.wall[i] / two.wall[i];
    }
    if (twice && talus_world_hash(world) != talus_world_hash(twin))
        bench_ok(1, "two threads gave other bits than one");
    finish(&one);
    printf("%-9s %d %8d %8lld %5.2f %6.1f %6.3f %5d %5.2f %8.1f %10.3g %9.2f %9.2f",
           flow_names[kind], dim, count, (long long)one.contacts, warm_up, start, 1e3 * *h, steps,
           one.parts, one.sweeps, one.updates, 1e3 * one.cpu, 1e3 * one.wall[steps / 2]);
    if (twice) {
        finish(&two);
        qsort(gain, (size_t)steps, sizeof(double), bench_compare);
        printf(" %9.2f %6.2f %9.2f", 1e3 * two.wall[steps / 2], gain[steps / 2], 1e3 * two.cpu);
    } else {
        printf(" %9s %6s %9s", "-", "-", "-");
    }
    printf(" %5.0f%% %7.2f%% %7.2f%% %7.2f%% %7.2f%% %6.0f%%\n", 100.0 * one.unconverged / steps,
           100.0 * one.estimate[steps / 2], 100.0 * one.estimate[steps - 1],
           100.0 * one.certified[steps / 2], 100.0 * one.certified[steps - 1],
           100.0 * one.within / steps);
    fflush(stdout);
    talus_world_destroy(world);
    talus_world_destroy(twin);
    return one.updates;
}

/// Exponent of updates ~ n^a by least squares in logarithms.
static double exponent(const double* n, const double* updates, int count)
{
    double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    for (int i = 0; i < count; i++) {
        const double a = log(n[i]), b = log(updates[i]);
        x += a / count, y += b / count, xx += a * a / count, xy += a * b / count;
    }
    return (xy - x * y) / (xx - x * x);
}

static int steps_for(int count)
{
    if (count > LARGE) return 2;
    return count > 30000 ? 5 : count > 3000 ? 20 : STEPS;
}

static const char* value_of(int argc, char** argv, const char* option)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], option) == 0) return argv[i + 1];
    }
    return NULL;
}

/// An option that is none would run everything, for hours.
static bool options_are_known(int argc, char** argv)
{
    static const char* const known[] = {"--quick",      "--million", "--only",     "--dimension",
                                        "--size",       "--steps",   "--rate",     "--tolerance",
                                        "--one-thread", "--fixed",   "--pressure", "--resolve"};
    for (int i = 1; i < argc; i++) {
        bool found = strncmp(argv[i], "--", 2) != 0; // the value of an option
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found |= strcmp(argv[i], known[k]) == 0;
        if (found) continue;
        fprintf(
            stderr,
            "flow: unknown option %s\nflow [--quick] [--million] [--only FLOW] [--dimension "
            "2|3] [--size N] [--tolerance X] [--steps N] [--one-thread] [--fixed] [--resolve X] "
            "[--rate X] [--pressure X]\n",
            argv[i]);
        return false;
    }
    return true;
}

int main(int argc, char** argv)
{
    if (!options_are_known(argc, argv)) return 2;
    short_waits(argv);
    keep_memory();
    static const int sizes[] = {1000, 10000, 100000};
    const char* only = value_of(argc, argv, "--only");
    const char* dimension = value_of(argc, argv, "--dimension");
    const char* size = value_of(argc, argv, "--size");
    const char* tolerance = value_of(argc, argv, "--tolerance");
    const char* steps = value_of(argc, argv, "--steps");
    const char* rate = value_of(argc, argv, "--rate");
    const char* pressure = value_of(argc, argv, "--pressure");
    const char* resolved = value_of(argc, argv, "--resolve");
    double h;
    if (rate) shear_rate = atof(rate);
    if (pressure) shear_pressure = atof(pressure);
    if (resolved) resolve = atof(resolved);
    const int wanted = steps ? atoi(steps) : 0;
    bench_ok(wanted < 0 || wanted > MOST_STEPS, "--steps: 1 to 1000");
    const double within = tolerance ? atof(tolerance) : 0.0;
    const bool twice = !bench_option(argc, argv, "--one-thread");
    halve_steps = !bench_option(argc, argv, "--fixed");
    const int size_count = bench_option(argc, argv, "--quick") ? 1 : 3;
    printf("Flows by the default rule: seconds of the flow and of CPU time before the first step "
           "that counts; parts, sweeps, updates and milliseconds a step (wall: medians)\n");
    printf(
        "flow      D   grains contacts begin    cpu  h, ms steps parts   sweeps    updates    cpu "
        "ms   "
        "wall ms 2 threads  times    cpu ms uncon- estimate         certified          within\n"
        "                                                                                         "
        "  "
        "                                          verged   median    worst   median    worst   10 "
        "%%\n");
    for (int kind = 0; kind < FLOW_COUNT; kind++) {
        if (only && strcmp(only, flow_names[kind]) != 0) continue;
        for (int dim = 2; dim <= 3; dim++) {
            if (dimension && atoi(dimension) != dim) continue;
            if (size) {
                const int n = atoi(size);
                measure(kind, dim, n, wanted ? wanted : steps_for(n), within, twice, &h);
                continue;
            }
            double n[3], updates[3], by_time[3];
            for (int i = 0; i < size_count; i++) {
                n[i] = sizes[i];
                const int count = wanted ? wanted : steps_for(sizes[i]);
                updates[i] = measure(kind, dim, sizes[i], count, within, twice, &h);
                by_time[i] = updates[i] / h;
            }
            if (size_count > 1) {
                printf("%-9s %d updates a step ~ n^%.2f, a second of the flow ~ n^%.2f\n",
                       flow_names[kind], dim, exponent(n, updates, size_count),
                       exponent(n, by_time, size_count));
            }
            fflush(stdout);
        }
    }
    if (bench_option(argc, argv, "--million"))
        measure(COLLAPSE, 3, 1000000, steps_for(1000000), within, twice, &h);
    return 0;
}
