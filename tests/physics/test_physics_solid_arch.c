/// The semicircular arch with radial joints: how thin may it be?
///
/// Milankovitch: a finely divided arch of mean radius R whose joints do not slide stands while its
/// thickness is above t = 0.1075 R. For n blocks the limit is that of the thrust line, computed
/// here by itself: with the thrust H and its moment K = y H at the crown, the force at each joint
/// must pass between its edges. These are two inequalities a joint, linear in H and K; there is a
/// solution if for some H the largest lower bound of K is below the smallest upper one, and that
/// difference is convex in H. Blocks are trapezoids, whose weights and centres are taken as such.
#include "physics.h"

static const double G = 9.81, H = 2e-3;

// ---- thrust line -------------------------------------------------------------------------------

/// One half of the arch, cut at the crown: for the joint k counted from the crown, its angle from
/// the vertical, the weight above it and that weight's moment about the middle.
typedef struct half_arch {
    int joints;
    double inner, outer;
    double angle[64], weight[64], moment[64];
} half_arch;

/// Area and first moment in x of the quadrilateral between the angles p and q (from the vertical),
/// as the difference of two triangles with the centre of the circle.
static void add_block(const half_arch* arch, double p, double q, double* area, double* moment)
{
    const double sides[2] = {arch->outer, arch->inner};
    for (int i = 0; i < 2; i++) {
        double r = sides[i], a = 0.5 * r * r * sin(q - p) * (i ? -1.0 : 1.0);
        *area += a;
        *moment += a * r * (sin(p) + sin(q)) / 3.0;
    }
}

/// The half key block of an arch with an odd number: cut along the vertical.
static void add_half_key(const half_arch* arch, double q, double* area, double* moment)
{
    const double sides[2] = {arch->outer, arch->inner};
    for (int i = 0; i < 2; i++) { // right triangle: centre, middle of the chord, its end
        double r = sides[i], half = r * sin(q), high = r * cos(q);
        double a = 0.5 * half * high * (i ? -1.0 : 1.0);
        *area += a;
        *moment += a * half / 3.0;
    }
}

static half_arch make_half(int n, double thickness)
{
    half_arch arch = {.inner = 1.0 - 0.5 * thickness, .outer = 1.0 + 0.5 * thickness};
    const double step = M_PI / n;
    double area = 0.0, moment = 0.0, at = n % 2 ? 0.5 * step : 0.0;
    if (n % 2) add_half_key(&arch, at, &area, &moment);
    for (int j = 0; j <= n / 2; j++) {
        arch.angle[j] = at, arch.weight[j] = area, arch.moment[j] = moment;
        add_block(&arch, at, at + step, &area, &moment);
        at += step;
    }
    arch.joints = n / 2 + 1;
    return arch;
}

/// Largest lower bound of K minus the smallest upper one at the thrust H.
static double infeasible(const half_arch* arch, double thrust)
{
    double low = -INFINITY, high = INFINITY;
    for (int j = 0; j < arch->joints; j++) {
        const double pull = sin(arch->angle[j]) * arch->weight[j] + cos(arch->angle[j]) * thrust;
        low = fmax(low, arch->inner * pull - arch->moment[j]);
        high = fmin(high, arch->outer * pull - arch->moment[j]);
    }
    return low - high;
}

static bool has_thrust_line(int n, double thickness)
{
    const half_arch arch = make_half(n, thickness);
    double low = 0.0, high = 10.0 * thickness;
    for (int i = 0; i < 200; i++) { // the minimum of a convex function
        double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        if (infeasible(&arch, a) < infeasible(&arch, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return infeasible(&arch, 0.5 * (low + high)) <= 0.0;
}

static double limit_thickness(int n)
{
    double low = 0.02, high = 0.3;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (has_thrust_line(n, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return 0.5 * (low + high);
}

// ---- the arch ----------------------------------------------------------------------------------

/// Arch of n blocks of mean radius 1 on a floor, joints radial, no mortar; in 3D it is half as deep
/// as its radius and stands in the plane of x and z.
static talus_world* make_arch(int dim, int n, double thickness, double tolerance)
{
    talus_world_def def = physics_def(dim);
    const int up = dim - 1;
    def.gravity[up] = -G;
    def.solver.order = TALUS_ORDER_ALTERNATING;
    def.solver.max_sweeps = 1000000;
    def.solver.tolerance = tolerance;
    talus_world* world = physics_world(&def, 3.0);
    physics_plane(world, "floor", 0, dim == 2, dim == 3);
    const double step = M_PI / n;
    double corners[24] = {0};
    for (int i = 0; i < (dim == 2 ? 4 : 8); i++) {
        const double r = 1.0 + (i & 1 ? 0.5 : -0.5) * thickness,
                     angle = (i & 2 ? 0.5 : -0.5) * step;
        corners[dim * i] = r * cos(angle);
        corners[dim * i + up] = r * sin(angle);
        if (dim == 3) corners[dim * i + 1] = i & 4 ? 0.25 : -0.25;
    }
    talus_solid_id shape = physics_solid(world, "voussoir", corners, dim == 2 ? 4 : 8);
    const double centre = solid_state(world, shape).centre[0];
    for (int i = 0; i < n; i++) {
        const double angle = (i + 0.5) * step, high = centre * sin(angle);
        talus_grain_def block =
            physics_block(shape, centre * cos(angle), dim == 2 ? high : 0, high);
        block.rotation[dim == 2 ? 2 : 1] = dim == 2 ? angle : -angle;
        physics_add(world, &block);
    }
    return world;
}

static double fastest(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    double most = 0.0;
    for (int64_t i = 0; i < g.count * g.dim; i++) most = fmax(most, fabs(g.velocity[i]));
    return most;
}

/// An arch that falls has an acceleration in the first step, from the exact geometry: about 0.6 g
/// times the part by which its thickness is below the limit. One that stands has what the solver
/// leaves, below 1e-7 g at a residual of 1e-10. Between them, 1e-5 g tells them apart to 2e-5 of
/// the limit.
static bool falls(int dim, int n, double thickness)
{
    talus_world* world = make_arch(dim, n, thickness, 1e-10);
    talus_step_result r = physics_step(world, H);
    const double acceleration = fastest(world) / (G * H);
    printf("    t/R = %.6f: acceleration %.2e g, %lld sweeps, residual %.1e\n", thickness,
           acceleration, (long long)r.sweeps, r.residual);
    talus_world_destroy(world);
    return acceleration > 1e-5;
}

static void check_limit(int dim, int n)
{
    const double exact = limit_thickness(n);
    double low = 0.9 * exact, high = 1.13 * exact; // not centred: no luck with the first guess
    assert_true(falls(dim, n, low) && !falls(dim, n, high));
    while (high - low > 5e-5 * exact) {
        double middle = 0.5 * (low + high);
        if (falls(dim, n, middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    printf("%dD, %d blocks: falls below t/R = %.6f, thrust line %.6f, Milankovitch 0.1075\n", dim,
           n, 0.5 * (low + high), exact);
    check_close("  limit of the thickness", 0.5 * (low + high), exact, 1e-4 * exact,
                "bisected to 5e-5, and 2e-5 for the criterion");
}

static void arch_stands_as_thin_as_its_thrust_line(void** state)
{
    (void)state;
    const int counts[] = {5, 8, 11, 16, 22, 33};
    const int most = test_count(6, 3);
    for (int i = 0; i < most; i++) check_limit(2, counts[i]);
}

static void arch_of_polyhedra_has_the_same_limit(void** state)
{
    (void)state;
    for (int n = 5; n <= test_count(11, 8); n += 3) {
        const double exact = limit_thickness(n);
        printf("3D, %d blocks, thrust line %.6f\n", n, exact);
        assert_true(falls(3, n, exact * (1.0 - 1e-4)));
        assert_false(falls(3, n, exact * (1.0 + 1e-4)));
    }
}

static void thrust_line_tends_to_milankovitch(void** state)
{
    (void)state;
    for (int n = 15; n <= 120; n *= 2) printf("%d blocks: %.6f\n", n, limit_thickness(n));
    check_close("limit of 120 blocks", limit_thickness(120), 0.1075, 1e-4,
                "0.10748 rounded, and what 120 blocks lack: hinges at joints only");
}

/// Height of the crown's block.
static double crown(const talus_world* world, int n)
{
    return grain_x(world, n / 2, 1);
}

/// Run until the crown has sunk by 0.3 R, at most 1.6 s. Falling blocks that knock against each
/// other take many sweeps; 20000 a step are enough to fall by, and carried over from step to step
/// enough to stand by.
static void run_arch(int n, double thickness, double* sunk, double* speed)
{
    talus_error error;
    talus_world* world = make_arch(2, n, thickness, 1e-9);
    talus_solver_def solver = talus_world_options(world)->solver;
    solver.max_sweeps = 20000;
    check_ok(talus_world_set_solver(world, &solver, &error), error);
    const double before = crown(world, n);
    int steps = 0;
    do {
        physics_step(world, H);
        *sunk = before - crown(world, n);
    } while (++steps < 800 && *sunk < 0.3);
    *speed = fastest(world);
    printf("%d blocks, t/R = %.3f: crown down by %.3g R after %g s, fastest %.3g m/s\n", n,
           thickness, *sunk, steps * H, *speed);
    talus_world_destroy(world);
}

static void arch_of_30_blocks_stands_at_110_and_falls_at_105(void** state)
{
    (void)state;
    const int n = 30;
    double sunk, speed;
    run_arch(n, 0.110, &sunk, &speed);
    check_below("stands: speed", speed, 1e-5 * G * H, "the criterion above");
    check_below("stands: way of the crown", fabs(sunk), 1e-5 * G * H * 1.6, "that for 1.6 s");
    run_arch(n, 0.105, &sunk, &speed);
    check_below("falls: way of the crown the other way round", 0.3, sunk,
                "free fall in that time is 12 R; hinged blocks fall slower, but fall");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thrust_line_tends_to_milankovitch),
        cmocka_unit_test(arch_stands_as_thin_as_its_thrust_line),
        cmocka_unit_test(arch_of_polyhedra_has_the_same_limit),
        cmocka_unit_test(arch_of_30_blocks_stands_at_110_and_falls_at_105),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
