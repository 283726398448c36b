/// Stress: single contacts by hand, weights of columns, loads of walls, gases, regions.
#include "measure_worlds.h"

#include <talus/fields.h>

static talus_stress stress_of(const talus_world* world, const talus_measure_def* def)
{
    talus_error error;
    talus_stress stress;
    check_ok(talus_measure_stress(world, def, &stress, &error), error);
    return stress;
}

static talus_measure_def def_in(double x0, double x1, double y0, double y1)
{
    talus_measure_def def = talus_measure_default();
    def.region.low[0] = x0, def.region.high[0] = x1;
    def.region.low[1] = y0, def.region.high[1] = y1;
    return def;
}

// ---- by hand -----------------------------------------------------------------------------------

/// Two disks that touch across the edge of a cell 4 x 3: l is the nearest image, V the cell.
static void test_contact_across_the_cell(void** state)
{
    (void)state;
    talus_world* world = empty_world(2, 4, 3, 0);
    talus_grain_def left = physics_ball(0.25, 1, 3.8, 1.3, 0);
    talus_grain_def right = physics_ball(0.25, 1, 0.2, 1.0, 0);
    physics_add(world, &left);
    physics_add(world, &right);
    const double n[2] = {0.8, -0.6}, t[2] = {0.6, 0.8}, point[2] = {4.0, 1.15};
    const double tangential[2] = {0.5 * t[0], 0.5 * t[1]};
    put_contact(world, 0, 1, point, n, 2.0, tangential);
    talus_measure_def def = talus_measure_default();
    talus_stress s = stress_of(world, &def);
    const double f[2] = {1.6 + 0.3, -1.2 + 0.4}, l[2] = {0.4, -0.3};
    assert_int_equal(s.contacts, 1);
    check_close("volume", s.volume, 12.0, ROUNDING, "rounding");
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            check_close("f_i l_j/V", s.contact[3 * i + j], f[i] * l[j] / 12.0, ROUNDING,
                        "rounding of positions of order 1");
        }
    }
    check_close("pressure", s.pressure, 0.5 * 2.0 * 0.5 / 12.0, ROUNDING, "f.l = f_n |l|");
    assert_int_equal(s.total[8] == 0.0, true);
    talus_world_destroy(world);
}

/// A fixed and a free disk: the branch vector ends at the contact point, whichever comes first, in
/// the stress, in a profile and in a field alike.
static void test_branch_of_a_fixed_grain(void** state)
{
    (void)state;
    for (int second = 0; second < 2; second++) {
        talus_world* world = empty_world(2, 4, 3, 0);
        talus_error error;
        for (int i = 0; i < 2; i++) {
            talus_grain_def ball = physics_ball(0.25, 1, 1.0 + 0.5 * i, 1, 0);
            ball.fixed = i == second;
            physics_add(world, &ball);
        }
        put_contact(world, 0, 1, (double[]){1.25, 1}, (double[]){1, 0}, 2.0, (double[]){0, 0.5});
        talus_measure_def def = talus_measure_default();
        const talus_stress s = stress_of(world, &def);
        talus_profile p;
        talus_profile_def slices = talus_profile_default();
        slices.bins = 3;
        check_ok(talus_measure_profile(world, &slices, &p, &error), error);
        talus_field f;
        talus_field_def cells = talus_field_default();
        cells.stress = true;
        check_ok(talus_measure_field(world, &cells, &f, &error), error);
        for (int k = 0; k < 2; k++) {
            const double expected = (k == 0 ? 2.0 : 0.5) * 0.25; // f_k l_x with l = (0.25, 0)
            double in_slices = 0.0, in_field = 0.0, at_boundary = 0.0;
            for (int b = 0; b < 3; b++) in_slices += p.contact[9 * b + 3 * k] * p.volume[b];
            for (int64_t i = 0; i < f.count; i++) {
                in_field += f.contact[9 * i + 3 * k] * f.spacing[0] * f.spacing[1];
                at_boundary += f.boundary[2 * i + k] * f.spacing[0] * f.spacing[1];
            }
            check_close("stress", s.contact[3 * k] * s.volume, expected, ROUNDING, "rounding");
            check_close("profile", in_slices, expected, ROUNDING, "rounding");
            check_close("field", in_field, expected, 1e-4, "quadrature of a Gaussian");
            check_close("boundary", at_boundary, (second ? -1 : 1) * (k == 0 ? 2.0 : 0.5), 1e-3,
                        "the force on the free one, up to the same");
        }
        talus_profile_free(&p);
        talus_field_free(&f);
        talus_world_destroy(world);
    }
}

/// Deviators of a stress under axial load, and directions of a turned tensor.
static void test_principal_values(void** state)
{
    (void)state;
    const double c = cos(0.3), s = sin(0.3);
    const double plane[9] = {5 * c * c + 1 * s * s, 4 * c * s, 0, 4 * c * s, 5 * s * s + 1 * c * c};
    talus_principal p = talus_measure_principal(2, plane);
    check_close("first", p.value[0], 5.0, ROUNDING, "rounding");
    check_close("second", p.value[1], 1.0, ROUNDING, "rounding");
    check_close("its direction", atan2(p.direction[1], p.direction[0]), 0.3, ROUNDING, "rounding");
    const double space[9] = {2, 0, 1, 0, 7, 0, 1, 0, 2}; // 7 along y, 3 and 1 along (1 0 +-1)
    p = talus_measure_principal(3, space);
    const double expected[3] = {7, 3, 1};
    for (int k = 0; k < 3; k++) check_close("value", p.value[k], expected[k], ROUNDING, "rounding");
    check_close("along y", p.direction[1], 1.0, ROUNDING, "rounding");
    check_close("along x + z", p.direction[3] * p.direction[5], 0.5, ROUNDING, "rounding");
}

/// A cube of six contacts under axial load: the deviator is s1 - s3.
static void test_axial_load(void** state)
{
    (void)state;
    talus_world* world = empty_world(3, 0, 0, 0);
    talus_grain_def ball = physics_ball(0.5, 1, 0.5, 0.5, 0.5);
    physics_add(world, &ball);
    const double load[3] = {1.0, 1.0, 3.0};
    for (int k = 0; k < 3; k++) {
        double n[3] = {0}, low[3] = {0.5, 0.5, 0.5}, high[3] = {0.5, 0.5, 0.5};
        n[k] = 1.0, low[k] = 0.0, high[k] = 1.0;
        physics_plane(world, k == 0 ? "x" : k == 1 ? "y" : "z", n[0], n[1], n[2]);
        put_contact(world, -1 - k, 0, low, n, load[k], NULL);
        n[k] = -1.0;
        put_contact(world, -1 - k, 0, high, n, load[k], NULL);
    }
    talus_measure_def def = talus_measure_default();
    talus_stress s = stress_of(world, &def);
    check_close("s_zz", s.total[8], 3.0, ROUNDING, "rounding; V is 1");
    check_close("pressure", s.pressure, 5.0 / 3.0, ROUNDING, "rounding");
    check_close("deviator", s.deviator, 2.0, ROUNDING, "rounding");
    check_close("direction", s.principal.direction[2], 1.0, ROUNDING, "rounding");
    talus_world_destroy(world);
}

// ---- at rest -----------------------------------------------------------------------------------

/// Disks on top of each other: between two centres the stress is the weight above over the width.
static void test_column_bears_its_weight(void** state)
{
    (void)state;
    enum { COUNT = 8 };
    talus_world* world = physics_world_g(2, 0.5, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    for (int i = 0; i < COUNT; i++) {
        talus_grain_def disk = physics_ball(0.125, 0.5, 0, 0.125 + 0.25 * i, 0);
        physics_add(world, &disk);
    }
    physics_step(world, 1e-3);
    const char* why = "residual 1e-13 of weights up to 40 N, conditioning of 8 contacts below 100";
    for (int i = 0; i + 1 < COUNT; i++) { // a slab holds one contact, with its branch of 0.25
        talus_measure_def def = def_in(-0.25, 0.25, 0.125 + 0.25 * i, 0.375 + 0.25 * i);
        talus_stress s = stress_of(world, &def);
        const double weight = 5.0 * (COUNT - 1 - i);
        assert_int_equal(s.contacts, 1);
        check_close("s_yy", s.contact[4], weight / 0.5, 1e-9, why);
        check_close("s_xx", s.contact[0], 0.0, 1e-9, why);
    }
    // The whole: the floor's contact has half a branch; V is the box around the disks.
    talus_measure_def def = talus_measure_default();
    talus_stress s = stress_of(world, &def);
    double sum = 5.0 * COUNT * 0.125;
    for (int i = 1; i < COUNT; i++) sum += 5.0 * (COUNT - i) * 0.25;
    check_close("volume", s.volume, 0.25 * 2.0, 1e-12, "rounding");
    check_close("s_yy of all", s.contact[4], sum / 0.5, 1e-9, why);
    talus_world_destroy(world);
}

/// Rows of COLUMNS and COLUMNS - 1 disks of radius 1/2, one on the other.
static void put_hexagonal(talus_world* world, int columns, int rows)
{
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns - j % 2; i++) {
            talus_grain_def disk =
                physics_ball(0.5, 1, 0.5 + i + 0.5 * (j % 2), 0.5 + j * sqrt(0.75), 0);
            physics_add(world, &disk);
        }
    }
}

/// A smooth plane through (x, y).
static talus_wall_def smooth_plane(const char* name, talus_material_id material, double nx,
                                   double ny, double x, double y)
{
    talus_wall_def def = physics_plane_def(name, nx, ny, 0);
    def.position[0] = x, def.position[1] = y;
    def.material = material;
    return def;
}

/// A hexagonal packing with friction between smooth walls, under a lid with a known force: whatever
/// the forces inside, the mean stress is that of the walls, s_yy = F/width and s_xx = force on a
/// side over the height (virial theorem).
static void test_packing_has_the_stress_of_its_walls(void** state)
{
    (void)state;
    const double height = 1.0 + 4 * sqrt(0.75), width = 5.0, load = 30.0;
    talus_error error;
    talus_material_id smooth;
    talus_world_def options = physics_def(2);
    options.solver.tolerance = 1e-10;
    talus_world* world = physics_world(&options, 0.3);
    talus_pair_def pair = talus_pair_default();
    check_ok(talus_world_add_material(world, "smooth", &pair, &smooth, &error), error);
    put_hexagonal(world, 5, 5);
    talus_wall_def wall[4] = {smooth_plane("floor", smooth, 0, 1, 0, 0),
                              smooth_plane("left", smooth, 1, 0, 0, 0),
                              smooth_plane("right", smooth, -1, 0, width, 0),
                              smooth_plane("lid", smooth, 0, -1, 0, height)};
    wall[3].drive.kind = TALUS_DRIVE_FORCE;
    wall[3].drive.mass = 1.0;
    wall[3].drive.free_axes[1] = true;
    wall[3].drive.force[1] = -load;
    for (int k = 0; k < 4; k++) physics_wall(world, &wall[k]);
    assert_true(physics_step(world, 1e-2).converged);
    talus_measure_def def = talus_measure_default();
    talus_stress s = stress_of(world, &def);
    const char* why = "residual 1e-10 of a load of 30, conditioning of 60 contacts below 1000";
    check_close("volume", s.volume, width * height, 1e-9, "residual: grains move a little");
    check_close("s_yy", s.contact[4], load / width, 1e-6, why);
    check_close("s_xx", s.contact[0], wall_force(world, (talus_wall_id){2}, 0) / height, 1e-6, why);
    check_close("s_xy - s_yx", s.contact[1] - s.contact[3], 0.0, 1e-6, "no torque is left over");
    check_below("side load is there", 0.1, s.contact[0], "rows are wedged apart by the lid");
    talus_world_destroy(world);
}

// ---- in motion ---------------------------------------------------------------------------------

/// Eight spheres with velocities (+-a, +-b, +-c) on top of a drift.
static void test_gas_has_kinetic_stress(void** state)
{
    (void)state;
    talus_world* world = empty_world(3, 2, 2, 2);
    const double speed[3] = {3, 2, 1}, drift[3] = {10, -4, 7};
    for (int i = 0; i < 8; i++) {
        talus_grain_def ball =
            physics_ball(0.1, 0.25, 0.5 + (i & 1), 0.5 + (i >> 1 & 1), 0.5 + (i >> 2 & 1));
        for (int k = 0; k < 3; k++) ball.velocity[k] = drift[k] + (i >> k & 1 ? 1 : -1) * speed[k];
        physics_add(world, &ball);
    }
    talus_measure_def def = talus_measure_default();
    talus_stress s = stress_of(world, &def);
    assert_int_equal(s.grains, 8);
    assert_int_equal(s.contacts, 0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double expected = i == j ? 8 * 0.25 * speed[i] * speed[i] / 8.0 : 0.0;
            check_close("m v_i v_j/V", s.kinetic[3 * i + j], expected, 1e-12, "rounding");
        }
    }
    check_close("pressure", s.pressure, 0.25 * 14 / 3.0, 1e-12, "rounding");
    def.flow = TALUS_FLOW_GIVEN; // against a flow at rest the drift counts too
    s = stress_of(world, &def);
    check_close("xx in the frame at rest", s.kinetic[0], 0.25 * (9 + 100), 1e-11, "rounding");
    check_close("xy in the frame at rest", s.kinetic[1], 0.25 * 10 * -4, 1e-11, "rounding");
    def.flow = TALUS_FLOW_MEAN;
    def.region.low[0] = 1.0, def.region.high[0] = 2.0; // four with v_x = 13: they do not fluctuate
    s = stress_of(world, &def);
    assert_int_equal(s.grains, 4);
    check_close("volume", s.volume, 4.0, ROUNDING, "rounding");
    check_close("xx of the half", s.kinetic[0], 0.0, 1e-12, "rounding");
    check_close("yy of the half", s.kinetic[4], 4 * 0.25 * 4 / 4.0, 1e-12, "rounding");
    talus_world_destroy(world);
}

/// Velocities that are a linear field have no kinetic stress against it.
static void test_shear_flow_has_no_kinetic_stress(void** state)
{
    (void)state;
    talus_world* world = empty_world(2, 4, 0, 0);
    for (int i = 0; i < 12; i++) {
        talus_grain_def disk = physics_ball(0.1, 1, 0.3 * i, 0.25 * (i % 5), 0);
        disk.velocity[0] = 1.0 + 3.0 * disk.position[1];
        physics_add(world, &disk);
    }
    talus_measure_def def = talus_measure_default();
    check_below("about the mean", 0.1, stress_of(world, &def).kinetic[0], "it is sheared");
    def.flow = TALUS_FLOW_LINEAR;
    check_close("about the fit", stress_of(world, &def).kinetic[0], 0.0, 1e-12, "rounding");
    def.flow = TALUS_FLOW_GIVEN;
    def.given.velocity[0] = 1.0, def.given.gradient[1] = 3.0;
    check_close("about the given", stress_of(world, &def).kinetic[0], 0.0, 1e-12, "rounding");
    talus_world_destroy(world);
}

// ---- regions -----------------------------------------------------------------------------------

/// Slabs that fill the world share out its contacts and grains: V s adds up.
static void test_regions_add_up(void** state)
{
    (void)state;
    talus_world* world = empty_world(2, 6, 0, 0);
    dice d = {5};
    for (int i = 0; i < 40; i++) {
        const double angle = 6.28 * dice_roll(&d);
        const double n[2] = {cos(angle), sin(angle)}, t[2] = {dice_roll(&d), dice_roll(&d)};
        const double point[2] = {6 * dice_roll(&d), 5 * dice_roll(&d)};
        put_pair(world, point, n, dice_roll(&d), t);
    }
    talus_measure_def def = talus_measure_default();
    def.flow = TALUS_FLOW_GIVEN;
    talus_stress whole = stress_of(world, &def);
    double sum[9] = {0};
    int64_t contacts_found = 0, grains_found = 0;
    for (int i = 0; i < 3; i++) { // the last of them goes around the cell
        const double x0 = 1.5 + 2.0 * i;
        def.region.low[0] = x0, def.region.high[0] = x0 + 2.0;
        talus_stress s = stress_of(world, &def);
        for (int k = 0; k < 9; k++) sum[k] += s.total[k] * s.volume;
        contacts_found += s.contacts;
        grains_found += s.grains;
    }
    assert_int_equal(contacts_found, 40);
    assert_int_equal(grains_found, 80);
    for (int k = 0; k < 5; k++) {
        check_close("V s", sum[k], whole.total[k] * whole.volume, 1e-12, "rounding of 40 terms");
    }
    talus_world_destroy(world);
}

/// The box around a square that stands on its corner, and around a ball.
static void test_box_around_solids(void** state)
{
    (void)state;
    talus_world* world = empty_world(2, 0, 0, 0);
    const talus_solid_id square = physics_box_solid(world, "square", 2, 2, 2, 0);
    talus_grain_def grain = physics_block(square, 3, 4, 0);
    grain.rotation[2] = 0.25 * M_PI;
    physics_add(world, &grain);
    talus_measure_def def = talus_measure_default();
    check_close("its box", stress_of(world, &def).volume, 8.0, 1e-12, "(2 sqrt 2)^2, rounding");
    talus_grain_def disk = physics_ball(0.5, 1, 3, 6.5, 0);
    physics_add(world, &disk);
    check_close("with a disk above", stress_of(world, &def).volume,
                2 * sqrt(2) * (7.0 - 4.0 + sqrt(2)), 1e-12, "rounding");
    def.region.low[1] = 5.0; // the other three sides are those of the box
    check_close("upper part", stress_of(world, &def).volume, 2 * sqrt(2) * 2.0, 1e-12, "rounding");
    talus_world_destroy(world);
}

static void refuse(const talus_world* world, const talus_measure_def* def, const char* word)
{
    talus_error error;
    talus_stress stress;
    assert_int_equal(talus_measure_stress(world, def, &stress, &error), TALUS_ERR_ARGUMENT);
    if (!strstr(error.text, word)) fail_msg("'%s' does not say '%s'", error.text, word);
}

static void test_options_are_checked(void** state)
{
    (void)state;
    talus_world* world = empty_world(2, 0, 0, 0);
    talus_measure_def def = talus_measure_default();
    refuse(world, &def, "no volume");
    talus_grain_def disk = physics_ball(0.5, 1, 0, 0, 0);
    physics_add(world, &disk);
    def = def_in(1, 1, 0, 1);
    refuse(world, &def, "along x");
    def = def_in(0, 1, 0, NAN);
    refuse(world, &def, "along y");
    def = talus_measure_default();
    def.volume = -1;
    refuse(world, &def, "volume");
    def = talus_measure_default();
    def.bins = 0;
    refuse(world, &def, "bins");
    def = talus_measure_default();
    def.force_most = def.force_least;
    refuse(world, &def, "force_most");
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contact_across_the_cell),
        cmocka_unit_test(test_branch_of_a_fixed_grain),
        cmocka_unit_test(test_principal_values),
        cmocka_unit_test(test_axial_load),
        cmocka_unit_test(test_column_bears_its_weight),
        cmocka_unit_test(test_packing_has_the_stress_of_its_walls),
        cmocka_unit_test(test_gas_has_kinetic_stress),
        cmocka_unit_test(test_shear_flow_has_no_kinetic_stress),
        cmocka_unit_test(test_regions_add_up),
        cmocka_unit_test(test_box_around_solids),
        cmocka_unit_test(test_options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
