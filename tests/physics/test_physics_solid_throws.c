/// Slender solids that long steps throw at walls and at each other: nothing passes, nothing is
/// lost.
///
/// bench/throws.h has the throws and the ruler, which follows every step from its beginning to its
/// end. Who goes through another body overlaps it on the way by half of its thickness.
#include "physics.h"

#include "throws.h"

#include "detect/passage.h"

/// Rods tip over from rest, from all but upright to nearly flat, and fall on the floor. The far end
/// comes down on a circle: what is left is the sagitta of one step, which the engine allows up to a
/// tenth of the thickness (detect/passage.c), with a tenth of that for the ruler's own steps.
static void test_tipping_rod(void** unused)
{
    (void)unused;
    static const double steps[] = {1e-3, 5e-3, 1e-2, 2e-2};
    for (int k = 0; k < 4; k++) {
        for (int lean = 1; lean < 8; lean++) {
            talus_world* world = physics_world_g(2, lean % 2 ? 0.5 : 0.0, 0, -9.81, 0);
            physics_plane(world, "floor", 0, 1, 0);
            const double angle = 0.5 * M_PI - 0.2 * lean, length = 2.0, thick = 0.01;
            talus_solid_id shape = physics_box_solid(world, "rod", 2, length, thick, 0);
            talus_grain_def g =
                physics_block(shape, 0, 0.5 * length * sin(angle) + 0.5 * thick * cos(angle), 0);
            g.rotation[2] = angle;
            const int64_t id = physics_add(world, &g);
            double lowest = 0.0;
            for (int i = 0; i < (int)(1.5 / steps[k]); i++) {
                physics_step(world, steps[k]);
                const double y = grain_x(world, id, 1), a = grain_q(world, id, 0);
                lowest = fmin(lowest, y - 0.5 * length * fabs(sin(a)) - 0.5 * thick * fabs(cos(a)));
            }
            assert_true(lowest > -0.11 * thick);
            // It lies: its middle is half a thickness above the floor, up to what it has sunk.
            assert_true(fabs(grain_x(world, id, 1) - 0.5 * thick) < 0.11 * thick);
            talus_world_destroy(world);
        }
    }
}

/// Random throws at every kind of wall and at each other; `bench/throws.c` does as many as are
/// wanted.
static void test_random_throws(void** unused)
{
    (void)unused;
    const int count = (int)(150.0 * test_scale());
    int cut = 0;
    for (int i = 0; i < count; i++) {
        const throw_case c = throw_number((uint64_t)i);
        const throw_result r = throw_one(&c, 15);
        cut += r.substeps > r.steps;
        if (r.lost || r.depth >= 0.5) {
            print_message("throw %d: %dD %s at %s, h = %g: %g thicknesses %s\n", i, c.dim,
                          throw_shape_names[c.shape], throw_target_names[c.target], c.h, r.depth,
                          r.why);
        }
        assert_false(r.lost);
        assert_true(r.depth < 0.5);
    }
    assert_true(cut > count / 100); // steps that long are meant to be cut
}

/// One throw: nothing is lost, and nothing goes in by more than `most` of its thickness.
static void assert_not_deeper(uint64_t number, double most)
{
    const throw_case c = throw_number(number);
    const throw_result r = throw_one(&c, 40);
    assert_false(r.lost);
    assert_true(r.depth < most);
}

/// A rod that creeps along the rim of a light sheet into its valley, and a wedge in a hopper: the
/// rim's other edge and the next side come up within the step. And a needle that a blow in a hopper
/// makes spin past its facets, which is not to be pushed back onto those that it has left. (They
/// went in by 0.7, 0.21 and 0.33 of their thickness; what ways are allowed is a tenth.)
static void test_throws_into_hollows(void** unused)
{
    (void)unused;
    static const uint64_t numbers[] = {2036713, 4005748, 11066518};
    for (int i = 0; i < 3; i++) assert_not_deeper(numbers[i], 0.1);
}

/// A wedge that falls off the rim of a mesh is not cut near its thin edge, though what ways are
/// allowed there, a tenth of its thickness, is all of it. (The rim went through by 0.92 of it.)
static void test_rim_and_blade(void** unused)
{
    (void)unused;
    assert_not_deeper(12088307, 0.1);
}

/// Slender bodies that a blow makes turn about their length by 6 to 7 rad in a step. They touch
/// nothing, as steps a hundred times shorter from the same start show too; a ruler that
/// carries them round another axis sees them pass.
static void test_ruler_of_whole_turns(void** unused)
{
    (void)unused;
    assert_not_deeper(12083762, 0.01);
    assert_not_deeper(12089630, 0.01);
}

/// A cube and a ball slide over the floor of a mesh onto its slope, up and back again, fast enough
/// to cross the valley between in one step. A face is a plane, and gaps to planes are exact: they
/// sink in by no more than overlaps are left alone. (The cube sank in by up to 3.5 % of its edge.)
static void test_sliding_onto_a_slope(void** unused)
{
    (void)unused;
    static const double steps[] = {1e-3, 4e-3, 1.6e-2};
    const double edge = 0.2;
    for (int i = 0; i < 24; i++) {
        const double angle = 0.1 + 0.3 * (i % 4), h = steps[i / 4 % 3], c = cos(angle),
                     s = sin(angle);
        const double faces[4][9] = {{-3, -2, 0, 0, -2, 0, 0, 2, 0},
                                    {-3, -2, 0, 0, 2, 0, -3, 2, 0},
                                    {0, -2, 0, 3 * c, -2, 3 * s, 3 * c, 2, 3 * s},
                                    {0, -2, 0, 3 * c, 2, 3 * s, 0, 2, 0}};
        talus_world* world = physics_world_g(3, 0.0, 0, 0, -9.81);
        talus_wall_def wall = talus_wall_default();
        wall.name = "valley";
        wall.shape.kind = TALUS_SHAPE_MESH;
        wall.shape.triangles = faces[0];
        wall.shape.triangle_count = 4;
        physics_wall(world, &wall);
        const double x = -0.3517, z = 0.5 * edge;
        talus_grain_def g =
            i < 12 ? physics_block(physics_box_solid(world, "cube", 3, edge, edge, edge), x, 0, z)
                   : physics_ball(0.5 * edge, 1.0, x, 0, z);
        g.velocity[0] = 2.0;
        physics_add(world, &g);
        double deepest = 0.0;
        for (int k = 0; k * h < 0.5; k++) {
            physics_step(world, h);
            const talus_contacts list = talus_world_contacts(world);
            for (int64_t j = 0; j < list.count; j++) deepest = fmax(deepest, -list.gap[j]);
        }
        // Overlaps above 1e-4 of the thickness are taken apart (rigid/separate.c).
        assert_true(deepest < 1.1e-4 * edge);
        talus_world_destroy(world);
    }
}

/// Height of the lowest corner of a needle over the floor.
static double lowest_corner(const talus_world* world, const double half[3])
{
    const talus_grains g = talus_world_grains(world);
    double lowest = INFINITY;
    for (int i = 0; i < 8; i++) {
        const double own[3] = {i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1],
                               i & 4 ? half[2] : -half[2]};
        double x[3];
        quat_rotate(x, g.rotation, own);
        lowest = fmin(lowest, g.position[2] + x[2]);
    }
    return lowest;
}

/// Needles that bounce off the floor. A blow at its side makes a needle spin by radians in a step,
/// about another axis than before: where it ends is not where one even turn would bring it. What it
/// overlaps at the end of a step is what ways are allowed. (Up to 0.68 of the thickness were seen.)
static void test_bouncing_needles(void** unused)
{
    (void)unused;
    const double half[3] = {0.5, 0.01, 0.01};
    rng r = rng_make(19, 3, 0);
    double deepest = 0.0, fastest = 0.0;
    for (int i = 0; i < test_count(300, 60); i++) {
        talus_world_def def = physics_def(3);
        talus_pair_def law = talus_pair_default();
        def.gravity[2] = -9.81;
        law.friction = i % 2 ? 0.3 : 0.0;
        law.restitution = 0.3 + 0.6 * rng_uniform(&r);
        talus_world* world = physics_world_pair(&def, &law);
        physics_plane(world, "floor", 0, 0, 1);
        talus_solid_id shape = physics_box_solid(world, "needle", 3, 1.0, 0.02, 0.02);
        talus_grain_def g = physics_block(shape, 0, 0, 0.6);
        for (int k = 0; k < 3; k++) {
            g.rotation[k] = 2.0 * rng_uniform(&r) - 1.0;
            g.spin[k] = 40.0 * rng_uniform(&r) - 20.0;
        }
        g.velocity[2] = -1.0 - 4.0 * rng_uniform(&r);
        physics_add(world, &g);
        for (int k = 0; k < 40; k++) {
            physics_step(world, 5e-3);
            deepest = fmax(deepest, -lowest_corner(world, half));
            fastest = fmax(fastest, vec_norm(3, talus_world_grains(world).spin));
        }
        talus_world_destroy(world);
    }
    check_below("overlap of needles that bounce, in thicknesses", deepest / 0.02, 0.1,
                "what a way may overlap (detect/passage.c)");
    assert_true(5e-3 * fastest > 1.0); // the case that this is about did happen
}

/// Plates a thousand times as wide as thick fall onto each other in a box. A step moves them by
/// several thicknesses; none escapes, and what they overlap is what ways are allowed.
static void test_thin_plates(void** unused)
{
    (void)unused;
    rng r = rng_make(19, 5, 0);
    talus_world_def def = talus_world_default();
    def.dim = 3;
    def.gravity[2] = -9.81;
    talus_world* world = physics_world(&def, 0.3);
    physics_container(world, 3, 1.2, 3.2);
    talus_solid_id shape = physics_box_solid(world, "plate", 3, 1.0, 1.0, 1e-3);
    for (int i = 0; i < 8; i++) {
        talus_grain_def g = physics_block(shape, 0, 0, 0.4 + 0.3 * i);
        for (int k = 0; k < 3; k++) {
            g.rotation[k] = 0.2 * rng_uniform(&r) - 0.1;
            g.spin[k] = 2.0 * rng_uniform(&r) - 1.0;
            g.velocity[k] = k == 2 ? -3.0 * rng_uniform(&r) : rng_uniform(&r) - 0.5;
        }
        physics_add(world, &g);
    }
    double overlap = 0.0;
    for (int i = 0; i < 800; i++) {
        overlap = fmax(overlap, physics_step(world, 1e-3).overlap_thickness_max);
    }
    check_below("overlap of thin plates, in thicknesses", overlap, 0.11,
                "what a way may overlap (detect/passage.c), and a tenth");
    talus_world_destroy(world);
}

/// The step that is called safe is safe: a needle that flies at a plate sidewards moves by an
/// eighth of its thickness.
static void test_safe_step(void** unused)
{
    (void)unused;
    talus_world* world = physics_world_g(3, 0.0, 0, 0, 0);
    talus_solid_id shape = physics_box_solid(world, "needle", 3, 1.0, 0.02, 0.02);
    for (int i = 0; i < 2; i++) {
        talus_grain_def g = physics_block(shape, 0, 0, i);
        g.velocity[2] = i ? -3.0 : 3.0;
        physics_add(world, &g);
    }
    physics_step(world, 1e-9);
    const double expected = 0.25 * 0.02 / (2.0 * 3.0);
    assert_true(fabs(talus_world_safe_step(world) - expected) < 1e-9 * expected);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tipping_rod),
        cmocka_unit_test(test_random_throws),
        cmocka_unit_test(test_throws_into_hollows),
        cmocka_unit_test(test_sliding_onto_a_slope),
        cmocka_unit_test(test_bouncing_needles),
        cmocka_unit_test(test_thin_plates),
        cmocka_unit_test(test_safe_step),
        cmocka_unit_test(test_rim_and_blade),
        cmocka_unit_test(test_ruler_of_whole_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
