/// The harmonic stack of blocks, just below and just above its exact limit.
///
/// Of n blocks of length 1 the k-th from the top may stick out over the next by 1/(2k): then the
/// centre of mass of the k blocks above lies over the edge below, for every k at once. With the
/// overhangs times 1 - s the stack stands, with 1 + s it tips, slowly: its first acceleration is of
/// the order of s g.
#include "physics.h"

static const double G = 9.81, H = 2e-3;

/// n blocks 1 x 0.2 (x 0.5) on a fixed one, the lowest free one sticking out too. Friction 0.5.
static talus_world* overhang_stack(int dim, int n, double factor)
{
    const double height = 0.2;
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    def.solver.tolerance = 1e-11;
    def.solver.order = TALUS_ORDER_ALTERNATING;
    talus_world* world = physics_world(&def, 0.5);
    talus_solid_id box = dim == 2 ? physics_box_solid(world, "block", 2, 1, height, 0)
                                  : physics_box_solid(world, "block", 3, 1, 0.5, height);
    double x = 0.0;
    for (int k = n + 1; k >= 1; k--) { // k counts from the top, n + 1 is the fixed one
        double z = height * (n + 1 - k);
        talus_grain_def block = physics_block(box, x, dim == 2 ? z : 0, z);
        block.fixed = k == n + 1;
        physics_add(world, &block);
        if (k > 1) x += factor / (2 * (k - 1));
    }
    return world;
}

/// Largest speed of any grain.
static double fastest(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    double most = 0.0;
    for (int64_t i = 0; i < g.count; i++) {
        double v2 = 0.0;
        for (int k = 0; k < g.dim; k++) v2 += g.velocity[i * g.dim + k] * g.velocity[i * g.dim + k];
        most = fmax(most, sqrt(v2));
    }
    return most;
}

/// Speed after 0.2 s and how far the top has come down after 2 s.
static void run_stack(int dim, int n, double shift, double* speed, double* fallen)
{
    talus_world* world = overhang_stack(dim, n, 1.0 + shift);
    const double top = grain_x(world, n, dim - 1);
    physics_steps(world, H, 100);
    *speed = fastest(world);
    physics_steps(world, H, 900);
    *fallen = top - grain_x(world, n, dim - 1);
    if (shift < 0.0) assert_int_equal(talus_world_totals(world)->unconverged, 0);
    printf("%dD, %d blocks, overhangs 1/2k (1 %+g): speed after 0.2 s %.3g, top down after 2 s "
           "%.3g\n",
           dim, n, shift, *speed, *fallen);
    talus_world_destroy(world);
}

static void harmonic_stack_stands_and_falls(void** state)
{
    (void)state;
    const double shift = 1e-4, pull = shift * G;
    for (int dim = 2; dim <= 3; dim++) {
        for (int n = 1; n <= test_count(6, 3); n++) {
            double speed, fallen;
            run_stack(dim, n, -shift, &speed, &fallen);
            check_below("  stands: speed", speed, 1e-4 * pull * H,
                        "1e-4 of what one step of falling gives; sweeps stop at 1e-11 of the load");
            check_below("  stands: way of the top", fabs(fallen), 1e-4 * pull * H * 1000 * H,
                        "that speed for 2 s");
            run_stack(dim, n, shift, &speed, &fallen);
            check_below("  falls: speed the other way round", 0.25 * pull * 100 * H, speed,
                        "the accelerations of tipping blocks are of the order of s g");
            check_below("  falls: way", 0.25 * pull * 0.5 * 4.0, fallen, "the same for 2 s");
        }
    }
}

/// One block over the edge by s/2 turns about it: alpha = g (s/2) / (I/m + r^2).
static void first_step_of_a_tipping_block(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const double s = 1e-4, out = 0.5 * s;
        talus_world* world = overhang_stack(dim, 1, 1.0 + s);
        physics_step(world, H);
        double alpha = G * out / ((1.0 + 0.04) / 12.0 + out * out + 0.01);
        check_close("spin after one step", (dim == 2 ? -1 : 1) * grain_w(world, 1, 1), H * alpha,
                    1e-11 * G * H * 10 + 64 * DBL_EPSILON / H, "solved to 1e-11 of the weight");
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmonic_stack_stands_and_falls),
        cmocka_unit_test(first_step_of_a_tipping_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
