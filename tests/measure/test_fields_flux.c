/// Mass flow: grains in uniform motion through a plane, cut by cut and crossing by crossing.
#include "physics.h"
#include "random.h"

static talus_flux flux_of(const talus_world* world, const talus_gate* gate)
{
    talus_error error;
    talus_flux f;
    check_ok(talus_measure_flux(world, gate, &f, &error), error);
    return f;
}

static talus_places places_of(const talus_world* world)
{
    talus_error error;
    talus_places p;
    check_ok(talus_measure_places(world, &p, &error), error);
    return p;
}

static talus_crossings crossings_of(const talus_places* before, const talus_places* after,
                                    const talus_gate* gate)
{
    talus_error error;
    talus_crossings c;
    check_ok(talus_measure_crossings(before, after, gate, &c, &error), error);
    return c;
}

static talus_gate gate_at(double x, double y, double z, double nx, double ny, double nz)
{
    talus_gate gate = {.region = talus_region_default()};
    const double point[3] = {x, y, z}, normal[3] = {nx, ny, nz};
    memcpy(gate.point, point, sizeof point);
    memcpy(gate.normal, normal, sizeof normal);
    return gate;
}

/// Grains that fly freely, at random in a cell of this size, all periodic or not at all.
static talus_world* stream(int dim, int count, double size, bool periodic, const double v[3])
{
    talus_world_def def = physics_def(dim);
    for (int k = 0; k < dim; k++) def.periodic[k] = periodic, def.cell_high[k] = size;
    talus_world* world = physics_world(&def, 0.0);
    rng r = rng_make(31, 0, 0);
    for (int i = 0; i < count; i++) {
        talus_grain_def g = physics_ball(uniform(&r, 0.1, 0.3), uniform(&r, 1, 3), 0, 0, 0);
        for (int k = 0; k < dim; k++) {
            g.position[k] = uniform(&r, 0, size);
            g.velocity[k] = v[k];
        }
        g.fixed = false;
        physics_add(world, &g);
    }
    return world;
}

// ---- at one moment -----------------------------------------------------------------------------

/// One ball: density of the material, times the cut, times the velocity across.
static void test_one_ball(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        talus_grain_def g = physics_ball(0.5, 2.0, 1.0, 0.3, 0);
        g.velocity[0] = 3.0, g.velocity[1] = 4.0;
        g.spin[2] = 7.0; // a ball that spins carries nothing across
        physics_add(world, &g);
        const talus_gate gate = gate_at(1.3, 5.0, 0, 2.0, 0, 0);
        const talus_flux f = flux_of(world, &gate);
        const double area = dim == 2 ? 0.8 : M_PI * 0.16;
        const double volume = dim == 2 ? M_PI * 0.25 : M_PI / 6;
        check_close("area", f.solid_area, area, 1e-14, "roundoff");
        check_close("volume", f.volume_rate, 3.0 * area, 1e-14, "roundoff");
        check_close("mass", f.mass_rate, 2.0 / volume * 3.0 * area, 1e-13, "roundoff");
        check_close("number", f.number_rate, 3.0 * area / volume, 1e-14, "roundoff");
        assert_int_equal(f.grains, 1);
        const talus_gate back = gate_at(1.3, 0, 0, -1.0, 0, 0);
        check_close("against", flux_of(world, &back).mass_rate, -f.mass_rate, 1e-13, "roundoff");
        talus_gate beside = gate;
        beside.region.low[1] = 0.4;
        check_close("not in the region", flux_of(world, &beside).mass_rate, 0.0, 0.0, "left out");
        talus_world_destroy(world);
    }
}

/// Over all places of the plane along a periodic cell the flow is the total momentum over its
/// length, and its mean over planes is exact but for the quadrature.
static void test_mean_flux(void** state)
{
    (void)state;
    const double v[3] = {1.5, -0.4, 0.8};
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = stream(dim, 300, 4.0, true, v);
        talus_grains g = talus_world_grains(world);
        double mass = 0.0, mean = 0.0;
        for (int64_t i = 0; i < g.count; i++) mass += g.mass[i];
        const int planes = 400;
        for (int n = 0; n < planes; n++) {
            const talus_gate gate = gate_at(4.0 * (n + 0.5) / planes, 0, 0, 1, 0, 0);
            mean += flux_of(world, &gate).mass_rate / planes;
        }
        check_close("mean", mean / (mass * 1.5 / 4.0), 1.0, dim == 2 ? 1e-3 : 1e-5,
                    "midpoint rule: circles end like a root, (0.01/0.2)^1.5 / sqrt(300)");
        talus_world_destroy(world);
    }
}

/// A turned block: the cut of a cube is a square; a spin in the plane of the cut moves nothing, one
/// about an axis in it carries as much forth as back unless the cut is off the centre's line.
static void test_solid(void** state)
{
    (void)state;
    static const double square[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    talus_error error;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    talus_solid_def solid = talus_solid_default();
    solid.name = "square";
    solid.points = square;
    solid.point_count = 4;
    check_ok(talus_world_add_solid(world, &solid, NULL, &error), error);
    talus_grain_def g = talus_grain_default();
    g.solid = (talus_solid_id){0};
    g.density = 5.0;
    g.velocity[0] = 2.0;
    g.rotation[2] = 0.3;
    g.spin[2] = 3.0;
    physics_add(world, &g);
    // The line x = 0.5 cuts the turned square from its lower to its upper side.
    const talus_gate gate = gate_at(0.5, 0, 0, 1, 0, 0);
    const talus_flux f = flux_of(world, &gate);
    const double c = cos(0.3), s = sin(0.3);
    const double low = (-1.0 + 0.5 * s) / c, high = (1.0 + 0.5 * s) / c; // y on both sides
    check_close("area", f.solid_area, high - low, 1e-14, "roundoff");
    // v_x = 2 - 3 y, integrated.
    const double rate = 2.0 * (high - low) - 1.5 * (high * high - low * low);
    check_close("volume", f.volume_rate, rate, 1e-13, "roundoff");
    check_close("mass", f.mass_rate, 5.0 * rate, 1e-12, "roundoff");
    talus_world_destroy(world);
}

// ---- between two moments -----------------------------------------------------------------------

/// All that were within v t before the plane have crossed it, and those have been counted by hand.
static void test_crossings(void** state)
{
    (void)state;
    const double v[3] = {1.5, 0, 0};
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = stream(dim, 40, 4.0, false, v);
        // Thin them out: nothing may touch.
        for (int64_t i = 0; i < 40; i++) {
            talus_editable_grains g = physics_edit(world);
            g.position[i * dim + 1] = 4.0 * (double)i;
        }
        talus_places before = places_of(world);
        double expected = 0.0;
        int64_t count = 0;
        talus_grains g = talus_world_grains(world);
        for (int64_t i = 0; i < g.count; i++) {
            const double x = g.position[i * dim];
            if (x >= 2.0 || x + 1.5 * 0.5 < 2.0) continue;
            expected += g.mass[i];
            count++;
        }
        physics_steps(world, 0.05, 10);
        talus_places after = places_of(world);
        const talus_gate gate = gate_at(2.0, 0, 0, 1, 0, 0);
        talus_crossings c = crossings_of(&before, &after, &gate);
        assert_true(count > 2);
        assert_int_equal(c.forward, count);
        assert_int_equal(c.backward, 0);
        check_close("mass", c.forward_mass, expected, 1e-13, "a sum");
        check_close("rate", c.mass_rate, expected / 0.5, 1e-12, "a sum");
        check_close("number", c.number_rate, (double)count / 0.5, 1e-12, "a count");
        c = crossings_of(&after, &before, &gate);
        assert_int_equal(c.backward, count);
        check_close("rate back in time", c.mass_rate, expected / 0.5, 1e-12, "the same");
        talus_places_free(&before);
        talus_places_free(&after);
        talus_world_destroy(world);
    }
}

/// Round and round a periodic cell: 10 s at 1.5 m/s are 15 m, 3.75 times through a cell of 4.
static void test_periodic(void** state)
{
    (void)state;
    talus_world_def def = physics_def(2);
    def.periodic[0] = def.periodic[1] = true;
    def.cell_high[0] = def.cell_high[1] = 4.0;
    talus_world* world = physics_world(&def, 0.0);
    for (int i = 0; i < 4; i++) {
        talus_grain_def g = physics_ball(0.1, 1.0, 0.1 + i, 0.5 + i, 0);
        g.velocity[0] = 1.5;
        physics_add(world, &g);
    }
    talus_places before = places_of(world);
    physics_steps(world, 0.1, 100);
    talus_places after = places_of(world);
    talus_gate gate = gate_at(3.0, 0, 0, 1, 0, 0);
    talus_crossings c = crossings_of(&before, &after, &gate);
    // From x0 to x0 + 15: planes at 3, 7, 11, 15; x0 = 0.1 passes all, up to 15.1.
    assert_int_equal(c.forward, 4 + 4 + 4 + 3);
    gate.region.low[1] = 3.0; // only the grain at y = 3.5, from 3.1 to 18.1: 7, 11, 15
    c = crossings_of(&before, &after, &gate);
    assert_int_equal(c.forward, 3);
    gate.region = talus_region_default();
    gate.region.low[0] = 2.9, gate.region.high[0] = 3.1;
    c = crossings_of(&before, &after, &gate);
    assert_int_equal(c.forward, 15);
    gate = gate_at(0, 2, 0, 0, 1, 0); // nothing moves across y
    c = crossings_of(&before, &after, &gate);
    assert_int_equal(c.forward + c.backward, 0);
    gate = gate_at(0, 0, 0, 1, 1, 0);
    talus_error error;
    assert_int_equal(talus_measure_crossings(&before, &after, &gate, &c, &error),
                     TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "periodic axis x"));
    gate = gate_at(3.0, 0, 0, 1, 0, 0);
    after.position[0] = 1e300; // a damaged file: counting its cells would never end
    assert_int_equal(talus_measure_crossings(&before, &after, &gate, &c, &error),
                     TALUS_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "images of the gate"));
    talus_places_free(&before);
    talus_places_free(&after);
    talus_world_destroy(world);
}

/// Grains that vanish or come are told, with the mass that was before the plane.
static void test_lost(void** state)
{
    (void)state;
    const double v[3] = {0, 0, 0};
    talus_error error;
    talus_world* world = stream(2, 5, 100.0, false, v);
    talus_places before = places_of(world);
    check_ok(talus_world_remove_grain(world, before.id[1], &error), error);
    check_ok(talus_world_remove_grain(world, before.id[4], &error), error);
    const talus_grain_def g = physics_ball(0.1, 1.0, 0, 0, 0);
    physics_add(world, &g);
    talus_places after = places_of(world);
    talus_gate gate = gate_at(101.0, 0, 0, 1, 0, 0);
    talus_crossings c = crossings_of(&before, &after, &gate);
    assert_int_equal(c.lost, 2);
    assert_int_equal(c.appeared, 1);
    check_close("lost", c.lost_mass, before.mass[1] + before.mass[4], 1e-14, "a sum");
    check_close("no time between", c.mass_rate, 0.0, 0.0, "no rate");
    gate = gate_at(-1.0, 0, 0, 1, 0, 0);
    check_close("lost behind it", crossings_of(&before, &after, &gate).lost_mass, 0.0, 0.0, "none");
    talus_places_free(&before);
    talus_places_free(&after);
    gate = gate_at(0, 0, 0, 0, 0, 0);
    talus_flux f;
    assert_int_equal(talus_measure_flux(world, &gate, &f, &error), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_ball), cmocka_unit_test(test_mean_flux),
        cmocka_unit_test(test_solid),    cmocka_unit_test(test_crossings),
        cmocka_unit_test(test_periodic), cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
