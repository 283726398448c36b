/// Housner's rocking block: what the impact on the other corner leaves of the spin.
///
/// A block with half diagonal r, whose side makes the angle alpha with it (tan alpha = b/a), rocks
/// on a corner and falls on its base. Nothing but the impulse at the new corner acts in the impact,
/// so the angular momentum about it stays: spin after / spin before = 1 - 3/2 sin^2(alpha), for
/// every alpha < 54.7 degrees (above, it does not leave the first corner). Before it, energy is
/// conserved about the first corner: 2/3 r^2 omega^2 = g r (cos(alpha - phi) - cos(alpha)).
///
/// The scheme finds the impact a part of a step late or early and spreads it over two steps; the
/// error is of order h and depends on where in the step the impact falls. So the largest error over
/// several starts is looked at, for several h.
#include "physics.h"

static const double G = 9.81, TILT = 0.02; ///< of the block at the start, rad

/// A rectangle of half diagonal 1 tilted by phi about its lower right (2D) corner at the origin.
static talus_world* rocking_world(int dim, double alpha, double phi, int64_t* id)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    talus_world* world = physics_world(&def, 5.0);
    physics_plane(world, "floor", 0, dim == 2, dim == 3);
    const double b = 2.0 * sin(alpha), a = 2.0 * cos(alpha);
    talus_solid_id box = dim == 2 ? physics_box_solid(world, "block", 2, b, a, 0)
                                  : physics_box_solid(world, "block", 3, b, 0.8, a);
    // the centre is at angle alpha - phi from the vertical, left of the corner
    const double x = -sin(alpha - phi), z = cos(alpha - phi);
    talus_grain_def block = physics_block(box, x, dim == 2 ? z : 0, z);
    block.rotation[dim == 2 ? 2 : 1] = dim == 2 ? -phi : phi;
    *id = physics_add(world, &block);
    return world;
}

/// Spin after the impact over the exact one before it, at the end of the second step of impact.
static double measured_ratio(int dim, double alpha, double phi, double h)
{
    int64_t id;
    talus_world* world = rocking_world(dim, alpha, phi, &id);
    const double before = sqrt(1.5 * G * (cos(alpha - phi) - cos(alpha)));
    const double sign = dim == 2 ? 1.0 : -1.0;
    double spin = 0.0, last = 0.0;
    int steps = 0, after = 0;
    while (after < 2 && steps++ < 100000) {
        physics_step(world, h);
        last = spin;
        spin = sign * grain_w(world, id, 1);
        if (after > 0 || spin < last * (1.0 - 1e-9)) after++; // the fall only quickens it
    }
    assert_true(after == 2);
    talus_world_destroy(world);
    return spin / before;
}

/// Largest error over starts that put the impact at different parts of a step.
static double worst_error(int dim, double alpha, double h)
{
    const double exact = 1.0 - 1.5 * sin(alpha) * sin(alpha);
    double worst = 0.0;
    for (int i = 0; i < 8; i++) {
        double ratio = measured_ratio(dim, alpha, TILT * (1.0 + 0.013 * i), h);
        worst = fmax(worst, fabs(ratio - exact));
    }
    return worst;
}

static void check_housner(int dim, double alpha)
{
    const double h = 5e-4, fine = h / 16.0;
    const double before = sqrt(1.5 * G * (cos(alpha - TILT) - cos(alpha)));
    const double coarse_error = worst_error(dim, alpha, h);
    const double fine_error = worst_error(dim, alpha, fine);
    printf("%dD, alpha = %g degrees, 1 - 3/2 sin^2 = %.6f, off by %.2e at h = %g, %.2e at %g\n",
           dim, alpha * 180 / M_PI, 1 - 1.5 * pow(sin(alpha), 2), coarse_error, h, fine_error,
           fine);
    check_below("  error", fine_error, 4.0 * fine * 0.75 * G * sin(alpha) / before,
                "gravity changes the spin in the two steps of the impact and in as many of error "
                "in its time");
    check_close("  order in h", log(coarse_error / fine_error) / log(16.0), 1.0, 0.1,
                "first order; the worst of eight starts is not quite the worst of all");
}

static void impact_leaves_housners_part_of_the_spin(void** state)
{
    (void)state;
    const double degrees[] = {5, 10, 15, 20, 30, 45};
    for (int i = 0; i < test_count(6, 1); i++) check_housner(2, degrees[i] * M_PI / 180.0);
}

static void impact_of_an_edge_is_the_same_in_space(void** state)
{
    (void)state;
    const double degrees[] = {10, 30};
    for (int i = 0; i < test_count(2, 1); i++) check_housner(3, degrees[i] * M_PI / 180.0);
}

/// Above 54.7 degrees the angular momentum would turn the block back into the floor: it stays down.
static void squat_block_does_not_rock_on(void** state)
{
    (void)state;
    int64_t id;
    talus_world* world = rocking_world(2, 60.0 * M_PI / 180.0, TILT, &id);
    physics_steps(world, 1e-4, 5000);
    check_close("spin", grain_w(world, id, 2), 0.0, 1e-12, "at rest, to rounding of gaps over h");
    check_close("angle", grain_q(world, id, 0), 0.0, 1e-12, "flat on the floor");
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impact_leaves_housners_part_of_the_spin),
        cmocka_unit_test(impact_of_an_edge_is_the_same_in_space),
        cmocka_unit_test(squat_block_does_not_rock_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
