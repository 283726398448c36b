/// g against g+: what happens to grains that overlap.
///
/// The law's condition on the velocity is u_n >= -g/h. With plain g an overlap D = -g is pushed out
/// in one step, with the speed D/h and so the energy m_r (D/h)^2/2 from nothing. With g+ = max(g,
/// 0) the overlap stays but does not grow, and no energy comes in. The default is g+.
#include "physics.h"

/// A world where overlaps are pushed out or kept.
static talus_world* overlap_world(int dim, bool push_out, double gravity)
{
    talus_world_def def = physics_def(dim);
    def.solver.push_out_overlap = push_out;
    def.solver.separate_overlaps = false; // the laws by themselves
    def.gravity[dim - 1] = -gravity;
    return physics_world(&def, 0.3);
}

/// Rounding of positions of size 1 felt as a velocity.
static double noise(double h)
{
    return 8.0 * DBL_EPSILON / h;
}

static double gap_of(const talus_world* world, int64_t a, int64_t b, double radii)
{
    double d2 = 0.0;
    for (int k = 0; k < talus_world_grains(world).dim; k++) {
        d2 += pow(grain_x(world, b, k) - grain_x(world, a, k), 2);
    }
    return sqrt(d2) - radii;
}

/// Two grains at rest that overlap by D along a slanted line.
static void pair_is_pushed_out_or_frozen(void** state)
{
    (void)state;
    assert_false(talus_world_default().solver.push_out_overlap);
    const double r1 = 0.3, r2 = 0.5, m1 = 1.0, m2 = 2.5, overlap = 0.004,
                 reduced = m1 * m2 / (m1 + m2);
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < 3; k++) {
            for (int push = 0; push < 2; push++) {
                const double h = 0.01 / (1 << k), reach = r1 + r2 - overlap;
                talus_world* world = overlap_world(dim, push, 0.0);
                talus_grain_def one = physics_ball(r1, m1, 0, 0, 0);
                talus_grain_def two = physics_ball(r2, m2, 0.6 * reach, 0.8 * reach, 0);
                int64_t a = physics_add(world, &one), b = physics_add(world, &two);
                talus_step_result result = physics_step(world, h);
                const double speed = push ? overlap / h : 0.0;
                const double energy = 0.5 * reduced * speed * speed;
                printf("     %s, h %g: energy %.9g J, from nothing\n", push ? "g" : "g+", h,
                       result.kinetic_energy);
                check_close("energy after one step", result.kinetic_energy, energy,
                            4.0 * (speed + noise(h)) * noise(h), "m_r (D/h)^2/2; rounding of D");
                check_close("gap after one step", gap_of(world, a, b, r1 + r2),
                            push ? 0.0 : -overlap, h * noise(h), "pushed out at once, or kept");
                physics_steps(world, h, 10);
                check_close("gap after eleven", gap_of(world, a, b, r1 + r2),
                            push ? 10 * h * speed : -overlap, 20 * h * noise(h),
                            "flying apart, or kept");
                double p[3];
                talus_measure_momentum(world, p);
                for (int i = 0; i < dim; i++) {
                    check_close("momentum", p[i], 0.0, 4 * noise(h) * h * (1 + speed), "rounding");
                }
                talus_world_destroy(world);
            }
        }
    }
}

/// Two overlapping grains that approach: with g+ the approach is stopped and all its energy is
/// lost; with g the pair leaves with D/h, however fast it came.
static void approach_is_stopped(void** state)
{
    (void)state;
    const double r = 0.5, overlap = 0.01, v = 1.0, h = 1e-3;
    for (int push = 0; push < 2; push++) {
        talus_world* world = overlap_world(3, push, 0.0);
        talus_grain_def one = physics_ball(r, 1.0, 0, 0, 0),
                        two = physics_ball(r, 1.0, 2 * r - overlap, 0, 0);
        one.velocity[0] = v;
        two.velocity[0] = -v;
        int64_t a = physics_add(world, &one), b = physics_add(world, &two);
        talus_step_result result = physics_step(world, h);
        const double speed = push ? overlap / h : 0.0;
        printf("     %s: energy before %g J, after %g J\n", push ? "g" : "g+", v * v,
               result.kinetic_energy);
        check_close("speed apart", grain_v(world, b, 0) - grain_v(world, a, 0), speed, noise(h),
                    "rounding");
        check_close("energy", result.kinetic_energy, 0.25 * speed * speed,
                    2 * (1 + speed) * noise(h), "m_r speed^2/2");
        talus_world_destroy(world);
    }
}

/// A grain that lies on the floor, sunk in by D: with g+ it lies there for ever, its weight borne;
/// with g it is thrown up to (D/h)^2/2g above the floor.
static void sunk_grain_is_thrown_up_or_lies(void** state)
{
    (void)state;
    const double r = 0.1, sunk = 1e-3, h = 1e-3, gravity = 10.0;
    for (int dim = 2; dim <= 3; dim++) {
        for (int push = 0; push < 2; push++) {
            talus_world* world = overlap_world(dim, push, gravity);
            physics_plane(world, "floor", 0, dim == 2, dim == 3);
            talus_grain_def grain = physics_ball(r, 1.0, 0, 0, 0);
            grain.position[dim - 1] = r - sunk;
            int64_t a = physics_add(world, &grain);
            double top = -1.0;
            for (int i = 0; i < 200; i++) {
                physics_step(world, h);
                top = fmax(top, grain_x(world, a, dim - 1) - r);
            }
            const double speed = sunk / h, height = 0.5 * speed * speed / gravity;
            check_close("highest point", top, push ? height : -sunk, push ? speed * h : 1e-15,
                        "Euler: way of one step; and exactly nothing");
            if (!push) {
                check_close("force of the floor", contact_normal_force(world, -1, a), gravity,
                            noise(h), "the weight");
            }
            talus_world_destroy(world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pair_is_pushed_out_or_frozen),
        cmocka_unit_test(approach_is_stopped),
        cmocka_unit_test(sunk_grain_is_thrown_up_or_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
