/// Profiles: exact slices and shells, layers of known velocity, columns of known weight.
#include "physics.h"
#include "random.h"

static talus_profile profile_of(const talus_world* world, const talus_profile_def* def)
{
    talus_error error;
    talus_profile p;
    check_ok(talus_measure_profile(world, def, &p, &error), error);
    return p;
}

static talus_profile_def range_of(int axis, double low, double high, int bins)
{
    talus_profile_def def = talus_profile_default();
    def.axis = axis;
    def.low = low, def.high = high;
    def.bins = bins;
    return def;
}

static int64_t add_ball(talus_world* world, double r, double x, double y, double z)
{
    const talus_grain_def def = physics_ball(r, 1.0, x, y, z);
    return physics_add(world, &def);
}

// ---- slices ------------------------------------------------------------------------------------

/// The slices' solid volumes are those of boxes, measured as such, and add up.
static void test_slices_are_boxes(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def world_def = physics_def(dim);
        world_def.periodic[0] = true;
        world_def.cell_high[0] = 1.0;
        talus_world* world = physics_world(&world_def, 0.0);
        rng r = rng_make(8, 0, 0);
        for (int i = 0; i < 200; i++) {
            const double x = rng_uniform(&r), y = rng_uniform(&r), z = rng_uniform(&r);
            add_ball(world, uniform(&r, 0.02, 0.2), x, y, z);
        }
        for (int axis = 0; axis < dim; axis++) {
            talus_profile_def def = range_of(axis, 0, 0, 7);
            def.domain.bounds.low[1] = 0.3; // cuts grains
            talus_profile p = profile_of(world, &def);
            talus_packing all;
            talus_error error;
            check_ok(talus_measure_packing(world, &def.domain, &all, &error), error);
            double sum = 0.0, volume = 0.0;
            for (int b = 0; b < p.bins; b++) {
                const double half = 0.5 * (all.high[axis] - all.low[axis]) / p.bins;
                talus_domain_def slice = def.domain;
                for (int k = 0; k < dim; k++) {
                    slice.bounds.low[k] = k == axis ? p.position[b] - half : all.low[k];
                    slice.bounds.high[k] = k == axis ? p.position[b] + half : all.high[k];
                }
                talus_packing part;
                check_ok(talus_measure_packing(world, &slice, &part, &error), error);
                check_close("fraction", p.fraction[b], part.fraction, 1e-12, "roundoff");
                check_close("volume", p.volume[b], part.volume, 1e-13, "roundoff");
                sum += p.fraction[b] * p.volume[b], volume += p.volume[b];
            }
            check_close("sum", sum, all.solid, 1e-12, "roundoff");
            check_close("volume", volume, all.volume, 1e-12, "roundoff");
            talus_profile_free(&p);
        }
        talus_world_destroy(world);
    }
}

/// Layers of grains, one to a slice: velocity, spin and temperature are those of the layer.
static void test_layers(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def world_def = physics_def(dim);
        world_def.periodic[0] = true;
        world_def.cell_high[0] = 4.0;
        talus_world* world = physics_world(&world_def, 0.0);
        for (int i = 0; i < 20; i++) {
            const int layer = i / 4;
            talus_grain_def g = physics_ball(0.5, i % 2 ? 1.0 : 3.0, i % 4 + 0.2, 0.5, 0.5);
            g.position[dim - 1] = layer + 0.5;
            // Means: (3 (u - 1) + 1 (u + 3)) / 4 = u; squares: (3 + 9) / 4 = 3 along x.
            g.velocity[0] = 2.0 * layer + (i % 2 ? 3.0 : -1.0);
            g.velocity[dim - 1] = 0.5;
            g.spin[2] = layer - 1.0;
            physics_add(world, &g);
        }
        const talus_profile_def def = range_of(-1, 0, 0, 5);
        talus_profile p = profile_of(world, &def);
        for (int b = 0; b < 5; b++) {
            const double mass = 8.0, volume = p.volume[b];
            check_close("volume", volume, 4.0, 1e-13, "roundoff");
            check_close("fraction", p.fraction[b], dim == 2 ? M_PI / 4 : M_PI / 6, 1e-13,
                        "roundoff");
            check_close("density", p.density[b], mass / volume, 1e-13, "roundoff");
            check_close("v along", p.velocity[b * dim], 2.0 * b, 1e-13, "roundoff");
            check_close("v across", p.velocity[b * dim + dim - 1], 0.5, 1e-14, "roundoff");
            check_close("spin", p.spin[b * p.spin_dim + p.spin_dim - 1], b - 1.0, 1e-14,
                        "roundoff");
            check_close("temperature", p.temperature[b], 3.0 / dim, 1e-12, "roundoff of v^2");
            check_close("kinetic stress", p.kinetic[9 * b], p.density[b] * 3.0, 1e-12, "roundoff");
            check_close("kinetic shear", p.kinetic[9 * b + dim - 1], 0.0, 1e-12, "roundoff");
        }
        talus_profile_free(&p);
        talus_world_destroy(world);
    }
}

/// A column of balls of radius 1/2 under gravity g along -axis, on a floor; contacts at 0, 1, 2...
static talus_world* column(int dim, int axis, int count, double g)
{
    double gravity[3] = {0}, up[3] = {0}, x[3] = {0};
    gravity[axis] = -g, up[axis] = 1.0;
    talus_world* world = physics_world_g(dim, 0.0, gravity[0], gravity[1], gravity[2]);
    physics_plane(world, "floor", up[0], up[1], up[2]);
    for (int i = 0; i < count; i++) {
        x[axis] = i + 0.5;
        add_ball(world, 0.5, x[0], x[1], x[2]);
    }
    physics_step(world, 1e-3);
    return world;
}

/// The line of centres carries (grains above) m g: between centres the stress is that over the
/// area, on the floor's side of the first centre the whole weight.
static void test_column(void** state)
{
    (void)state;
    const int count = 5;
    const double g = 10.0;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = column(dim, dim - 1, count, g);
        talus_profile_def def = range_of(-1, 0.0, 5.0, 20);
        for (int k = 0; k < dim - 1; k++) {
            def.domain.bounds.low[k] = -1.0, def.domain.bounds.high[k] = 1.5;
        }
        talus_profile p = profile_of(world, &def);
        const double area = dim == 2 ? 2.5 : 6.25;
        for (int b = 0; b < p.bins; b++) {
            // Slices of 1/4: the centres are at the edges of slices.
            const int above = p.position[b] < 0.5 ? 5 : 4 - (int)(p.position[b] - 0.5);
            check_close("stress", p.contact[9 * b + 4 * (dim - 1)], above * g / area, 1e-9,
                        "forces solved to 1e-13");
            check_close("across", p.contact[9 * b], 0.0, 1e-9, "no force there");
        }
        talus_profile_free(&p);
        talus_world_destroy(world);
    }
}

/// A contact across the edge of the periodic cell, along which the slices go, counts on both sides.
static void test_periodic_branch(void** state)
{
    (void)state;
    talus_world_def def = physics_def(2);
    def.periodic[0] = true;
    def.cell_high[0] = 4.0;
    talus_world* world = physics_world(&def, 0.0);
    talus_grain_def left = physics_ball(0.5, 1.0, 0.3, 0.0, 0.0);
    talus_grain_def right = physics_ball(0.5, 1.0, 3.3, 0.0, 0.0);
    left.external_force[0] = -3.0, right.external_force[0] = 3.0; // pressed together over the edge
    physics_add(world, &left);
    physics_add(world, &right);
    physics_step(world, 1e-3);
    const talus_profile_def options = range_of(0, 0.0, 4.0, 40);
    talus_profile p = profile_of(world, &options);
    double sum = 0.0;
    for (int b = 0; b < p.bins; b++) {
        const double x = p.position[b], loaded = x < 0.3 || x > 3.3 ? 3.0 : 0.0;
        check_close("stress", p.contact[9 * b] * p.volume[b] / 0.1, loaded, 1e-6,
                    "the grains approach by 3e-6 in the step");
        sum += p.fraction[b] * p.volume[b];
    }
    check_close("solid", sum, M_PI / 2, 1e-12, "roundoff");
    talus_profile_free(&p);
    talus_world_destroy(world);
}

// ---- shells ------------------------------------------------------------------------------------

static talus_profile_def shells_of(int axis, double outer, int bins)
{
    talus_profile_def def = range_of(axis, 0.0, outer, bins);
    def.radial = true;
    def.has_origin = true;
    return def;
}

/// A ball on the axis: within R it has 4/3 pi (r^3 - (r^2 - R^2)^(3/2)), in 2D pi R^2. A ball
/// beside the axis adds up to its volume, and its shells are those of random points.
static void test_shells_of_a_ball(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int axis = dim == 2 ? 2 : 0; axis < 3; axis++) {
            talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
            double x[3] = {0};
            add_ball(world, 0.9, 0, 0, 0);
            const talus_profile_def def = shells_of(axis, 2.0, 10);
            talus_profile p = profile_of(world, &def);
            double last = 0.0;
            for (int b = 0; b < 5; b++) {
                const double outer = fmin(0.2 * (b + 1), 0.9);
                const double part =
                    dim == 2 ? M_PI * outer * outer
                             : 4.0 / 3.0 * M_PI * (0.729 - pow(0.81 - outer * outer, 1.5));
                check_close("part", p.fraction[b] * p.volume[b], part - last, 3e-9,
                            "quadrature: 1e-9 of the volume");
                last = part;
            }
            talus_profile_free(&p);
            talus_world_destroy(world);

            world = physics_world_g(dim, 0.0, 0, 0, 0);
            x[(axis + 1) % 3] = 0.6, x[(axis + 2) % 3] = -0.5;
            add_ball(world, 0.9, x[0], x[1], x[2]);
            p = profile_of(world, &def);
            double sum = 0.0;
            const int points = 200000;
            const double whole = dim == 2 ? M_PI * 0.81 : 4.0 / 3.0 * M_PI * 0.729;
            int64_t hits[10] = {0};
            rng r = rng_make(6, 0, 0);
            for (int i = 0; i < points; i++) {
                double y[3], square = 1.0;
                while (square > 0.81) {
                    square = 0.0;
                    for (int k = 0; k < 3; k++) {
                        y[k] = k < dim ? uniform(&r, -0.9, 0.9) : 0.0;
                        square += y[k] * y[k];
                    }
                }
                const double u = x[(axis + 1) % 3] + y[(axis + 1) % 3];
                const double v = x[(axis + 2) % 3] + y[(axis + 2) % 3];
                hits[(int)(hypot(u, v) / 0.2)]++;
            }
            for (int b = 0; b < 10; b++) {
                sum += p.fraction[b] * p.volume[b];
                check_close("share", p.fraction[b] * p.volume[b] / whole, (double)hits[b] / points,
                            4.5 * sqrt(0.25 / points), "noise of the points");
            }
            check_close("sum", sum, whole, 1e-9 * whole, "quadrature");
            talus_profile_free(&p);
            talus_world_destroy(world);
        }
    }
}

/// Grains in rigid rotation about the axis, with an outward motion: v_theta = omega r, v_r = 1.
static void test_rotation(void** state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        talus_world* world = physics_world_g(3, 0.0, 0, 0, 0);
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (int i = 0; i < 60; i++) {
            const double distance = 0.5 + i / 10, turn = 1.0 + 0.7 * i;
            talus_grain_def g = physics_ball(0.2, 1.0, 0, 0, 0);
            g.position[u] = distance * cos(turn), g.position[v] = distance * sin(turn);
            g.velocity[u] = cos(turn) - 2.0 * distance * sin(turn);
            g.velocity[v] = sin(turn) + 2.0 * distance * cos(turn);
            g.velocity[axis] = 0.25;
            g.spin[axis] = 2.0;
            physics_add(world, &g);
        }
        const talus_profile_def def = shells_of(axis, 6.0, 6);
        talus_profile p = profile_of(world, &def);
        for (int b = 0; b < 6; b++) {
            check_close("v_r", p.velocity[3 * b], 1.0, 1e-14, "roundoff");
            check_close("v_theta", p.velocity[3 * b + 1], 2.0 * (b + 0.5), 1e-13, "roundoff");
            check_close("v_axis", p.velocity[3 * b + 2], 0.25, 1e-14, "roundoff");
            check_close("spin", p.spin[3 * b + 2], 2.0, 1e-14, "roundoff");
            check_close("temperature", p.temperature[b], 0.0, 1e-12, "roundoff of v^2");
        }
        talus_profile_free(&p);
        talus_world_destroy(world);
    }
}

/// A column that stands on the axis, outwards: its stress is radial, force over 2 pi r height.
static void test_radial_column(void** state)
{
    (void)state;
    for (int axis = 1; axis < 3; axis++) {
        talus_world* world = column(3, 0, 5, 10.0);
        const talus_profile_def def = shells_of(axis, 4.5, 9); // edges at centres and contacts
        talus_profile p = profile_of(world, &def);
        for (int b = 0; b < p.bins; b++) {
            const int above = p.position[b] < 0.5 ? 5 : 4 - (int)(p.position[b] - 0.5);
            check_close("stress", p.contact[9 * b] * p.volume[b] / 0.5, above * 10.0, 1e-8,
                        "forces solved to 1e-13");
            check_close("hoop stress", p.contact[9 * b + 4], 0.0, 1e-9, "no force there");
        }
        talus_profile_free(&p);
        talus_world_destroy(world);
    }
}

/// The same bits for any number of threads, of slices and of shells.
static void test_threads(void** state)
{
    (void)state;
    for (int radial = 0; radial < 2; radial++) {
        talus_profile p[3];
        for (int t = 0; t < 3; t++) {
            talus_world_def def = physics_def(3);
            def.threads = t + 1;
            talus_world* world = physics_world(&def, 0.0);
            for (int i = 0; i < 9000; i++) { // three chunks
                talus_grain_def ball = physics_ball(0.4 + 0.01 * (i % 7), 1.0, 1.1 * (i % 20),
                                                    1.1 * (i / 20 % 20), 1.03 * (i / 400));
                ball.velocity[0] = sin(i), ball.velocity[2] = cos(3.0 * i);
                physics_add(world, &ball);
            }
            talus_profile_def options = talus_profile_default();
            options.radial = radial == 1;
            p[t] = profile_of(world, &options);
            talus_world_destroy(world);
        }
        for (int t = 1; t < 3; t++) {
            const size_t n = (size_t)p[0].bins * sizeof(double);
            assert_memory_equal(p[0].fraction, p[t].fraction, n);
            assert_memory_equal(p[0].density, p[t].density, n);
            assert_memory_equal(p[0].velocity, p[t].velocity, 3 * n);
            assert_memory_equal(p[0].temperature, p[t].temperature, n);
            assert_memory_equal(p[0].kinetic, p[t].kinetic, 9 * n);
        }
        for (int t = 0; t < 3; t++) talus_profile_free(&p[t]);
    }
}

static void test_mistakes(void** state)
{
    (void)state;
    talus_world_def world_def = physics_def(2);
    world_def.periodic[1] = true;
    world_def.cell_high[1] = 4.0;
    talus_world* world = physics_world(&world_def, 0.0);
    add_ball(world, 0.5, 1, 1, 0);
    talus_error error;
    talus_profile p;
    talus_profile_def def = range_of(2, 0, 0, 5);
    assert_int_equal(talus_measure_profile(world, &def, &p, &error), TALUS_ERR_ARGUMENT);
    def = range_of(0, 2, 1, 5);
    assert_int_equal(talus_measure_profile(world, &def, &p, &error), TALUS_ERR_ARGUMENT);
    def = shells_of(-1, 1, 5);
    assert_int_equal(talus_measure_profile(world, &def, &p, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "periodic axis y"));
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_are_boxes), cmocka_unit_test(test_layers),
        cmocka_unit_test(test_column),           cmocka_unit_test(test_periodic_branch),
        cmocka_unit_test(test_shells_of_a_ball), cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_radial_column),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
