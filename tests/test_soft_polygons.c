/// Polygons of the soft method: at rest, colliding, sliding, hooked, in containers; their energies.
#include "soft_worlds.h"

// ---- rest --------------------------------------------------------------------------------------

/// A hexagon on a plane: k_n A/l_c holds the weight, with l_c = 2 sqrt(area/pi) at a wall.
static void test_rest_on_plane(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        talus_world_def def = soft_def(2, TALUS_INTEGRATOR_VERLET, (talus_elongation)e);
        def.gravity[1] = -10.0;
        const talus_pair_def pair = soft_pair(1e4, 0.1, 0.5);
        talus_world* world = physics_world_pair(&def, &pair);
        const int plane = physics_plane(world, "floor", 0.0, 1.0, 0.0);
        const int hexagon = soft_regular(world, "hexagon", 6, 1.0);
        const talus_grain_def grain = soft_grain(hexagon, 0.3, sqrt(0.75), 0.0);
        const int64_t id = physics_add(world, &grain);
        physics_steps(world, 1e-4, 60000);
        const double area = 1.5 * sqrt(3.0), length = 2.0 * sqrt(area / M_PI);
        const talus_contacts c = talus_world_contacts(world);
        assert_int_equal(c.count, 1);
        const char* why = "oscillations of 10 N at 70 Hz have decayed for 6 s with the time "
                          "2m/nu = 0.02 s; what is left is rounding of positions near 1 times k";
        check_close("area of the overlap", -c.gap[0] * length, 10.0 * length / 1e4, 1e-14, why);
        check_close("force on the plane", wall_force(world, plane, 1), -10.0, 1e-10, why);
        check_close("force across", wall_force(world, plane, 0), 0.0, 1e-10, why);
        check_close("angle", grain_angle(world, id), 0.0, 1e-12, "it stands symmetrically");
        check_close("drift", grain_x(world, id, 0), 0.3, 1e-12, "nothing pushes aside");
        check_close("spin", grain_w(world, id, 0), 0.0, 1e-12, "at rest");
        // The side of length 1 sinks by d: area d + d^2/sqrt(3) (the sides lean by 60 degrees).
        const double depth = sqrt(0.75) - grain_x(world, id, 1);
        check_close("area from the depth", depth + depth * depth / sqrt(3.0), 10.0 * length / 1e4,
                    1e-14, "rounding of the height");
        talus_error error;
        check_ok(talus_world_validate(world, &error), error);
        talus_world_destroy(world);
    }
}

// ---- collisions --------------------------------------------------------------------------------

typedef struct collision {
    double momenta[3]; ///< largest change
    double error;      ///< largest error of the energies
    double kinetic[2]; ///< before and after
    double dissipated;
    double elastic; ///< most of it
} collision;

/// Two unit squares: the second comes with velocity v, turned by `angle`, at (x, y).
static collision collide(talus_integrator integrator, talus_elongation elongation, double friction,
                         double restitution, double h, const double place[3], const double v[3])
{
    talus_world_def def = soft_def(2, integrator, elongation);
    const talus_pair_def pair = soft_pair(1e4, restitution, friction);
    talus_world* world = physics_world_pair(&def, &pair);
    const int square = soft_rectangle(world, "square", 1.0, 1.0);
    talus_grain_def grain = soft_grain(square, 0.0, 0.0, 0.0);
    physics_add(world, &grain);
    grain = soft_grain(square, place[0], place[1], place[2]);
    grain.velocity[0] = v[0], grain.velocity[1] = v[1], grain.spin[2] = v[2];
    physics_add(world, &grain);
    double start[3], now[3];
    soft_momenta(world, start);
    collision out = {.kinetic = {0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 6.0)}};
    const int steps = (int)lrint(0.4 / h);
    bool touched = false;
    for (int i = 0; i < steps; i++) {
        const talus_step_result r = physics_step(world, h);
        soft_momenta(world, now);
        for (int k = 0; k < 3; k++) {
            out.momenta[k] = fmax(out.momenta[k], fabs(now[k] - start[k]));
        }
        out.error = fmax(out.error, fabs(r.energy.error));
        out.elastic = fmax(out.elastic, r.energy.elastic);
        out.kinetic[1] = r.kinetic_energy;
        out.dissipated = r.energy.dissipated;
        touched = touched || r.active > 0;
    }
    assert_true(touched);
    talus_world_destroy(world);
    return out;
}

static void test_collisions(void** state)
{
    (void)state;
    static const double place[2][3] = {{1.001, 0.0, 0.0}, {1.15, 0.4, 0.5}};
    static const double v[2][3] = {{-1.0, 0.0, 0.0}, {-1.0, 0.3, 0.8}};
    static const double rest[2] = {1.0, 0.5};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++) {
            for (int e = 0; e < 2; e++) {
                for (int mr = 0; mr < 4; mr++) {
                    const int mu = mr % 2, r = mr / 2;
                    collision c[2];
                    for (int fine = 0; fine < 2; fine++) {
                        c[fine] = collide((talus_integrator)i, (talus_elongation)e, 0.5 * mu,
                                          rest[r], fine ? 2.5e-5 : 1e-4, place[k], v[k]);
                    }
                    printf("%s %s %s mu %g e %g: T %g -> %.9g, most elastic %g, error %g %g, "
                           "momenta %g "
                           "%g %g\n",
                           k ? "oblique" : "face to face", soft_integrator_names[i],
                           soft_elongation_names[e], 0.5 * mu, rest[r], c[1].kinetic[0],
                           c[1].kinetic[1], c[1].elastic, c[0].error, c[1].error, c[1].momenta[0],
                           c[1].momenta[1], c[1].momenta[2]);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_on_plane),
        cmocka_unit_test(test_collisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
