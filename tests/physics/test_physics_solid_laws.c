/// The laws of contact on solids: rebound, cohesion, rolling, torsion, two frictions.
///
/// A contact of faces has several points (2 in 2D, 4 in 3D), each with the law of its pair: the
/// rebound of a flat impact is that of one point, a bond of faces bears F_C at each of its points,
/// and friction against spinning acts through the points' arms.
#include "physics.h"

static const double G = 9.81, H = 1e-3;

static talus_world* laws_world(int dim, const talus_pair_def* pair, double gravity)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -gravity;
    return physics_world_pair(&def, pair);
}

static talus_solid_id cube(talus_world* world)
{
    return physics_box_solid(world, "cube", talus_world_options(world)->dim, 1, 1, 1);
}

static talus_grain_def cube_at(int dim, talus_solid_id shape, double z)
{
    return physics_block(shape, 0, dim == 2 ? z : 0, z);
}

// ---- rebound -----------------------------------------------------------------------------------

static void flat_impact_rebounds_with_e(void** state)
{
    (void)state;
    const double es[] = {0.0, 0.3, 0.8, 1.0};
    for (int dim = 2; dim <= 3; dim++) {
        for (int i = 0; i < 4; i++) {
            talus_pair_def pair = talus_pair_default();
            pair.friction = 0.4, pair.restitution = es[i];
            talus_world* world = laws_world(dim, &pair, 0.0);
            physics_plane(world, "floor", 0, dim == 2, dim == 3);
            talus_grain_def def = cube_at(dim, cube(world), 0.5015);
            def.velocity[dim - 1] = -2.0;
            int64_t id = physics_add(world, &def);
            physics_steps(world, H, 5);
            printf("%dD, e = %g\n", dim, es[i]);
            check_close("  speed after", grain_v(world, id, dim - 1), 2.0 * es[i], 1e-11,
                        "Newton's law at every corner; solved to 1e-13");
            check_close("  spin", grain_w(world, id, 0), 0.0, 1e-11, "it does not tip");
            talus_world_destroy(world);
        }
    }
}

/// A square on its corner, off its centre: the corner's velocity is turned round.
static void corner_impact_rebounds_with_e(void** state)
{
    (void)state;
    const double angle = 0.3, e = 0.6;
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.2, pair.restitution = e;
    talus_world* world = laws_world(2, &pair, 0.0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def def = cube_at(2, cube(world), 0.5 * (sin(angle) + cos(angle)) + 1e-3);
    def.rotation[2] = angle;
    def.velocity[0] = 0.5, def.velocity[1] = -2.0, def.spin[2] = 0.7;
    int64_t id = physics_add(world, &def);
    physics_step(world, H);
    talus_contacts c = talus_world_contacts(world);
    int64_t hit = find_contact(world, -1, id);
    assert_true(hit >= 0);
    // The corner strikes within the step: until then it goes on as it set out.
    const double height = def.position[1] - c.point[2 * hit + 1];
    const double time = 1e-3 / (2.0 - 0.7 * c.point[2 * hit]);
    const double lever = c.point[2 * hit] + time * 0.7 * height, before = -2.0 + 0.7 * lever;
    check_close("normal velocity of the corner after",
                grain_v(world, id, 1) + grain_w(world, id, 0) * lever, -e * before, 1e-11,
                "Newton's law; rounding");
    talus_world_destroy(world);
}

// ---- cohesion ----------------------------------------------------------------------------------

/// Two cubes stuck face to face, the lower fixed; pull on the upper with `factor` of what all
/// points bear. Returns how far it has come.
static double pull(int dim, double factor, int* points)
{
    const double strength = 10.0;
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.5, pair.cohesion_force = strength, pair.cohesion_energy = 1e-3;
    talus_world* world = laws_world(dim, &pair, 0.0);
    talus_solid_id shape = cube(world);
    talus_grain_def def = cube_at(dim, shape, 0.5);
    def.fixed = true;
    physics_add(world, &def);
    def = cube_at(dim, shape, 1.5);
    int64_t id = physics_add(world, &def);
    physics_step(world, H); // the gap is zero: bonds form
    talus_contacts c = talus_world_contacts(world);
    *points = 0;
    for (int64_t i = 0; i < c.count; i++) *points += c.bonded[i];
    const double none[3] = {0};
    double force[3] = {0};
    force[dim - 1] = factor * *points * strength;
    talus_error error;
    check_ok(talus_world_set_grain_force(world, id, force, none, &error), error);
    physics_steps(world, H, 500);
    double moved = grain_x(world, id, dim - 1) - 1.5;
    talus_world_destroy(world);
    return moved;
}

static void bond_of_faces_bears_at_each_point(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        int points;
        double held = pull(dim, 1.0 - 1e-6, &points);
        assert_int_equal(points, dim == 2 ? 2 : 4);
        check_close("way below the strength of all points", held, 0.0, 1e-10,
                    "held: what the solver leaves in 500 steps");
        check_below("way above it, the other way round", 0.01, pull(dim, 1.0 + 1e-3, &points),
                    "torn off: beyond the range 1e-4 nothing holds it");
    }
}

/// The bond also bears at the side: with friction mu a shear of mu (N + F_C) at each point.
static void bond_of_faces_bears_shear(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int side = -1; side <= 1; side += 2) {
            talus_pair_def pair = talus_pair_default();
            pair.friction = 0.5, pair.cohesion_force = 10.0, pair.cohesion_energy = 1.0;
            talus_world* world = laws_world(dim, &pair, 0.0);
            talus_solid_id shape =
                physics_box_solid(world, "slab", dim, 1, dim == 2 ? 0.1 : 1, 0.1);
            // wider below: where corners of both bodies change places, a bond is made anew
            talus_solid_id wide = physics_box_solid(world, "wide", dim, 2, dim == 2 ? 0.1 : 2, 0.1);
            talus_grain_def def = cube_at(dim, wide, 0.05);
            def.fixed = true;
            physics_add(world, &def);
            def = cube_at(dim, shape, 0.15);
            int64_t id = physics_add(world, &def);
            physics_step(world, H);
            const int points = dim == 2 ? 2 : 4;
            double force[3] = {0.5 * 10.0 * points * (1.0 + side * 1e-3)}, torque[3] = {0};
            // through the joint: no moment to open it
            torque[dim == 2 ? 2 : 1] = (dim == 2 ? 1 : -1) * 0.05 * force[0];
            talus_error error;
            check_ok(talus_world_set_grain_force(world, id, force, torque, &error), error);
            physics_step(world, H);
            const double mass = 0.1, a = 0.5 * 10.0 * points * 1e-3 / mass;
            check_close("speed along the joint", grain_v(world, id, 0), side > 0 ? a * H : 0.0,
                        1e-11, "the shear beyond mu F_C at all points, in one step");
            talus_world_destroy(world);
        }
    }
}

// ---- friction ----------------------------------------------------------------------------------

static void two_frictions_of_a_block(void** state)
{
    (void)state;
    const double mu_s = 0.5, mu_d = 0.3;
    for (int dim = 2; dim <= 3; dim++) {
        for (int side = -1; side <= 1; side += 2) {
            talus_pair_def pair = talus_pair_default();
            pair.friction = mu_s, pair.dynamic_friction = mu_d;
            talus_world* world = laws_world(dim, &pair, G);
            talus_wall_id floor = physics_plane(world, "floor", 0, dim == 2, dim == 3);
            talus_solid_id shape =
                physics_box_solid(world, "slab", dim, 1, dim == 2 ? 0.2 : 1, 0.2);
            talus_grain_def def = cube_at(dim, shape, 0.1);
            // How four points share weight and pull is open: near the limit one may be loaded
            // beyond its share and the block breaks loose up to 1e-2 too early in 3D.
            const double share = mu_s * (1.0 + side * (dim == 2 || side > 0 ? 1e-3 : 1e-2));
            def.external_force[0] = share * 0.2 * G;
            int64_t id = physics_add(world, &def);
            const int n = 100;
            physics_steps(world, H, n);
            const double a = side > 0 ? (share - mu_d) * G : 0.0;
            check_close("speed", grain_v(world, id, 0), a * n * H, 1e-11,
                        "sticks below mu_s, slides against mu_d beyond; constant forces are exact");
            check_close("force along the floor", wall_force(world, floor, 0),
                        (side > 0 ? mu_d : share) * 0.2 * G, 1e-9, "friction, on the floor");
            check_close("force on the floor", wall_force(world, floor, dim - 1), -0.2 * G, 1e-10,
                        "the weight");
            talus_world_destroy(world);
        }
    }
}

/// A square slab spinning on its face is slowed by friction at its four corners: mu m g r.
static void spinning_slab_is_slowed_at_its_corners(void** state)
{
    (void)state;
    const double mu = 0.4, tors = 0.05, moment = (1.0 + 1.0) / 12.0;
    for (int law = 0; law < 2; law++) { // with torsion friction every point adds mu_tor N
        talus_pair_def pair = talus_pair_default();
        pair.friction = mu, pair.torsion = law ? tors : 0.0;
        talus_world* world = laws_world(3, &pair, G);
        physics_plane(world, "floor", 0, 0, 1);
        talus_grain_def def = cube_at(3, physics_box_solid(world, "slab", 3, 1, 1, 0.1), 0.05);
        def.spin[2] = 5.0;
        int64_t id = physics_add(world, &def);
        const int n = 50;
        physics_steps(world, H, n);
        const double slowing = (mu * sqrt(0.5) + (law ? tors : 0.0)) * G / moment;
        check_close("spin", grain_w(world, id, 2), 5.0 - slowing * n * H, 1e-9,
                    "friction across the arms to the corners, whatever their loads");
        check_close("centre", hypot(grain_x(world, id, 0), grain_x(world, id, 1)), 0.0, 2e-4,
                    "it stays, but for unequal loads at the corners");
        talus_world_destroy(world);
    }
}

/// A ball rolls on a solid as it does on a plane, with rolling friction too.
static void ball_rolls_on_a_solid_as_on_a_plane(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        double speed[2], place[2];
        for (int floor = 0; floor < 2; floor++) {
            talus_pair_def pair = talus_pair_default();
            pair.friction = 0.3, pair.rolling = 0.01, pair.torsion = 0.01;
            talus_world* world = laws_world(dim, &pair, G);
            if (floor == 0) {
                physics_plane(world, "floor", 0, dim == 2, dim == 3);
            } else {
                talus_solid_id slab =
                    physics_box_solid(world, "slab", dim, 10, dim == 2 ? 1 : 10, 1);
                talus_grain_def ground = cube_at(dim, slab, -0.5);
                ground.fixed = true;
                physics_add(world, &ground);
            }
            talus_grain_def ball = physics_ball(0.2, 1.0, 0, dim == 2 ? 0.2 : 0, 0.2);
            ball.velocity[0] = 2.0;
            if (dim == 3) ball.spin[2] = 3.0;
            int64_t id = physics_add(world, &ball);
            physics_steps(world, H, 600);
            speed[floor] = grain_v(world, id, 0), place[floor] = grain_x(world, id, 0);
            talus_world_destroy(world);
        }
        const double slowing = 0.01 / 0.2 * G / (1.0 + 1.0 / roll_kappa(dim));
        printf("%dD: speed %.6f, rolling friction alone would take %.6f\n", dim, speed[0],
               slowing * 0.6);
        assert_true(speed[0] > 0.0 && speed[0] < 2.0);
        check_close("speed on a solid", speed[1], speed[0], 1e-11, "the same law; solved to 1e-13");
        check_close("place on a solid", place[1], place[0], 1e-11, "the same");
    }
}

/// A prism with 64 sides rolls like a disk, but for its corners; with rolling friction it rolls on
/// its own no more: it comes to rest sooner.
static void rolling_friction_slows_a_polygon(void** state)
{
    (void)state;
    double way[2];
    for (int law = 0; law < 2; law++) {
        talus_pair_def pair = talus_pair_default();
        pair.friction = 0.8, pair.rolling = law ? 0.02 : 0.0;
        talus_world* world = laws_world(2, &pair, G);
        physics_plane(world, "floor", 0, 1, 0);
        double points[2 * 64];
        for (int i = 0; i < 64; i++) {
            const double a = 2 * M_PI * (i + 0.5) / 64;
            points[2 * i] = 0.5 * cos(a), points[2 * i + 1] = 0.5 * sin(a);
        }
        talus_grain_def def =
            physics_block(physics_solid(world, "wheel", points, 64), 0, 0.5 * cos(M_PI / 64), 0);
        def.velocity[0] = 1.0, def.spin[2] = -2.0;
        int64_t id = physics_add(world, &def);
        physics_steps(world, H, 500);
        way[law] = grain_x(world, id, 0);
        printf("%s rolling friction: way %.4f, speed %.4f\n", law ? "with" : "without", way[law],
               grain_v(world, id, 0));
        talus_world_destroy(world);
    }
    check_below("way with rolling friction", way[1], way[0] - 0.01, "it is slowed");
}

// ---- balance -----------------------------------------------------------------------------------

/// Contacts on a grain at rest bear its weight, moment included.
static void forces_balance_at_rest(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_pair_def pair = talus_pair_default();
        pair.friction = 0.6;
        talus_world* world = laws_world(dim, &pair, G);
        talus_wall_id floor = physics_plane(world, "floor", 0, dim == 2, dim == 3);
        talus_solid_id shape = cube(world);
        for (int i = 0; i < 3; i++) { // two on the floor with a space, one across them
            talus_grain_def def = cube_at(dim, shape, i == 2 ? 1.5 : 0.5);
            def.position[0] = i == 0 ? -0.6 : i == 1 ? 0.6 : 0.1;
            physics_add(world, &def);
        }
        physics_steps(world, H, 100);
        talus_contacts c = talus_world_contacts(world);
        for (int64_t id = 0; id < 3; id++) {
            double sum[3] = {0}, moment = 0.0;
            for (int64_t i = 0; i < c.count; i++) {
                if (c.a[i] != id && c.b[i] != id) continue;
                const double s = c.b[i] == id ? 1.0 : -1.0, *f = c.force + i * dim;
                for (int k = 0; k < dim; k++) sum[k] += s * f[k];
                const double x = c.point[i * dim] - grain_x(world, id, 0);
                const double z = c.point[i * dim + dim - 1] - grain_x(world, id, dim - 1);
                moment += s * (x * f[dim - 1] - z * f[0]);
            }
            check_close("force up", sum[dim - 1], G, 1e-9, "the weight; solved to 1e-13");
            check_close("force across", sum[0], 0.0, 1e-9, "at rest");
            check_close("moment", moment, 0.0, 1e-9, "at rest");
        }
        check_close("force on the floor", wall_force(world, floor, dim - 1), -3 * G, 1e-9, "all");
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_impact_rebounds_with_e),
        cmocka_unit_test(corner_impact_rebounds_with_e),
        cmocka_unit_test(bond_of_faces_bears_at_each_point),
        cmocka_unit_test(bond_of_faces_bears_shear),
        cmocka_unit_test(two_frictions_of_a_block),
        cmocka_unit_test(spinning_slab_is_slowed_at_its_corners),
        cmocka_unit_test(ball_rolls_on_a_solid_as_on_a_plane),
        cmocka_unit_test(rolling_friction_slows_a_polygon),
        cmocka_unit_test(forces_balance_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
