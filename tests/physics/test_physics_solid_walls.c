/// Solids and walls of every kind: at rest a wall carries the weight, and joints stop nobody.
///
/// Each wall is met by a block whose rest is known. A block that slides over a floor of many blocks
/// or triangles is slowed by friction alone, exactly: v = v0 - mu g t.
#include "physics.h"

static const double G = 9.81, H = 1e-3, MU = 0.5;

static talus_world* walls_world(int dim, double mu)
{
    return physics_world_g(dim, mu, 0, dim == 2 ? -G : 0, dim == 3 ? -G : 0);
}

/// A block at height z over (x, y); in 2D y is not used.
static int64_t add_block(talus_world* world, double a, double b, double c, double x, double y,
                         double z)
{
    const int dim = talus_world_options(world)->dim;
    talus_solid_id box = talus_world_find_solid(world, "block");
    if (box.index < 0) {
        box = dim == 2 ? physics_box_solid(world, "block", 2, a, c, 0)
                       : physics_box_solid(world, "block", 3, a, b, c);
    }
    talus_grain_def def = physics_block(box, x, dim == 2 ? z : y, z);
    def.material = (talus_material_id){0};
    return physics_add(world, &def);
}

static double up(const talus_world* world, int64_t id)
{
    return grain_x(world, id, talus_world_options(world)->dim - 1);
}

/// What the solver and rounding leave of a force m g.
static double force_noise(const talus_world* world)
{
    return 1e-9 * physics_total_mass(world) * G;
}

static void check_carried(const char* name, talus_world* world, talus_wall_id wall, int steps,
                          double bound)
{
    const int z = talus_world_options(world)->dim - 1;
    physics_steps(world, H, steps);
    printf("%dD, %s\n", z + 1, name);
    check_below("  kinetic energy", talus_world_last(world)->kinetic_energy, bound, "at rest");
    check_close("  force on the wall", wall_force(world, wall, z), -physics_total_mass(world) * G,
                force_noise(world), "the weight; solved to 1e-13");
    for (int k = 0; k < z; k++) {
        check_close("  force across", wall_force(world, wall, k), 0.0, force_noise(world),
                    "nothing pushes sideways");
    }
}

// ---- rest --------------------------------------------------------------------------------------

static void container_and_drum_carry_blocks(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = walls_world(dim, MU);
        talus_wall_id box = physics_container(world, dim, 0.5, 3.0);
        // Three blocks as wide as the container, but for the tenth part, side by side with its
        // walls
        for (int i = 0; i < 3; i++) add_block(world, 0.9, 0.9, 0.5, 0.05, 0.05, 0.25 + 0.5 * i);
        check_carried("three blocks in the corner of a container", world, box, 300, 1e-20);
        talus_world_destroy(world);

        world = walls_world(dim, 0.0);
        talus_wall_def def = talus_wall_default();
        def.name = "drum";
        def.shape.kind = TALUS_SHAPE_CYLINDER;
        def.shape.inside = true;
        def.shape.radius = 1.0;
        def.shape.axis[dim == 2 ? 2 : 1] = 1.0;
        talus_wall_id drum = physics_wall(world, &def);
        const double low = -sqrt(1.0 - 0.3 * 0.3) + 0.2;
        int64_t id = add_block(world, 0.6, 0.5, 0.4, 0.0, 0.0, low);
        check_carried("a block on its corners in a drum", world, drum, 300, 1e-20);
        check_close("  height", up(world, id), low, 1e-12, "corners on the circle, rounding");
        talus_world_destroy(world);
    }
}

static talus_wall_id obstacle(talus_world* world, talus_shape_kind kind, double radius)
{
    const int dim = talus_world_options(world)->dim;
    talus_wall_def def = talus_wall_default();
    def.name = "obstacle";
    def.shape.kind = kind;
    def.shape.radius = radius;
    def.shape.half_length = dim == 3 ? 2.0 : 0.0;
    def.shape.axis[dim == 2 ? 2 : 1] = 1.0;
    for (int k = 0; k < 3; k++) def.shape.half_size[k] = radius;
    if (kind == TALUS_SHAPE_SOLID) {
        def.shape.solid =
            physics_box_solid(world, "obstacle", dim, 2 * radius, 2 * radius, 2 * radius);
    }
    return physics_wall(world, &def);
}

static void obstacles_carry_blocks(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = walls_world(dim, MU);
        talus_wall_id wall = obstacle(world, TALUS_SHAPE_CYLINDER, 1.0);
        int64_t id = add_block(world, 0.8, 0.8, 0.4, 0, 0, 1.2);
        check_carried("a block on a cylinder", world, wall, 3000, 1e-12);
        check_close("  height", up(world, id), 1.2, dim == 2 ? 1e-9 : 0.0013,
                    "2D: a circle; 3D: a prism of 64 sides, 0.0012 R from the circle");
        talus_world_destroy(world);
        const talus_shape_kind kinds[2] = {TALUS_SHAPE_BOX, TALUS_SHAPE_SOLID};
        for (int i = 0; i < 2; i++) {
            world = walls_world(dim, MU);
            wall = obstacle(world, kinds[i], 1.0);
            id = add_block(world, 0.8, 0.8, 0.4, 0.3, 0.2, 1.25);
            check_carried(i ? "a block on a solid" : "a block on a box", world, wall, 300, 1e-20);
            check_close("  height", up(world, id), 1.2, 1e-12, "on its top, to rounding");
            talus_world_destroy(world);
        }
    }
}

/// A block half over the end of a segment or plate: stands or tips with its centre.
static void thin_walls_carry_blocks_to_their_ends(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int side = -1; side <= 1; side += 2) {
            talus_world* world = walls_world(dim, MU);
            talus_wall_def def = talus_wall_default();
            def.name = "shelf";
            def.shape.kind = dim == 2 ? TALUS_SHAPE_SEGMENT : TALUS_SHAPE_PLATE;
            def.shape.edge_u[0] = 1.0;
            if (dim == 3) def.shape.edge_v[1] = 1.0;
            talus_wall_id wall = physics_wall(world, &def);
            int64_t id = add_block(world, 0.8, 0.8, 0.4, 1.0 + side * 1e-3, 0.1, 0.2);
            if (side < 0) {
                check_carried("a block within the end of a shelf", world, wall, 1000, 1e-20);
                check_close("  height", up(world, id), 0.2, 1e-12, "on the shelf, to rounding");
            } else {
                physics_steps(world, H, 2000);
                check_below("  beyond the end it falls: height", up(world, id), -1.0,
                            "it has tipped and fallen");
            }
            talus_world_destroy(world);
        }
    }
}

static void funnel_holds_a_block(void** state)
{
    (void)state;
    talus_world* world = walls_world(3, MU);
    talus_wall_def def = talus_wall_default();
    def.name = "funnel";
    def.shape.kind = TALUS_SHAPE_CONE;
    def.shape.axis[2] = 1.0;
    def.shape.radius = 0.3, def.shape.radius_high = 1.3, def.shape.half_length = 0.5;
    talus_wall_id wall = physics_wall(world, &def);
    add_block(world, 1.0, 0.8, 0.6, 0.05, 0.02, 0.9);
    check_carried("a block in a funnel", world, wall, 3000, 1e-12);
    talus_world_destroy(world);
}

// ---- periodic cell -----------------------------------------------------------------------------

static void blocks_meet_across_the_cell(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = physics_def(dim);
        def.solver.method =
            TALUS_SOLVER_SWEEPS; // two blocks: momentum circles about the last digits
        def.gravity[dim - 1] = -G;
        def.periodic[0] = true;
        def.cell_low[0] = 0.0, def.cell_high[0] = 8.0;
        talus_world* world = physics_world(&def, MU);
        talus_wall_id floor = physics_plane(world, "floor", 0, dim == 2, dim == 3);
        // one slides across the border into the other, which stands beyond it
        int64_t a = add_block(world, 1, 1, 0.5, 7.0, 0.0, 0.25);
        int64_t b = add_block(world, 1, 1, 0.5, 1.1, 0.0, 0.25);
        physics_edit(world).velocity[0] = 4.0;
        const double v0 = 4.0, way = 1.1, hit = (v0 - sqrt(v0 * v0 - 2 * MU * G * way)) / (MU * G);
        const int before = (int)(hit / H) - 2;
        physics_steps(world, H, before);
        check_close("speed before", grain_v(world, a, 0), v0 - MU * G * before * H, 1e-11,
                    "friction");
        assert_true(grain_v(world, b, 0) == 0.0 || fabs(grain_v(world, b, 0)) < 1e-12);
        physics_steps(world, H, 10);
        const double now = v0 - MU * G * (before + 10) * H;
        check_close("both go on with half", grain_v(world, a, 0) + grain_v(world, b, 0),
                    now - MU * G * H * 8.0, MU * G * H * 3.0,
                    "momentum; the steps after the hit brake both");
        check_close("no rebound", grain_v(world, b, 0) - grain_v(world, a, 0), 0.0, 1e-9, "e = 0");
        physics_steps(world, H, 400);
        check_close("weight", wall_force(world, floor, dim - 1), -physics_total_mass(world) * G,
                    force_noise(world), "on the floor");
        double gap = grain_x(world, b, 0) - grain_x(world, a, 0) +
                     8.0 * (grain_x(world, b, 0) < grain_x(world, a, 0));
        check_below("distance at rest", fabs(gap - 1.0), 1e-6, "side by side across the border");
        talus_world_destroy(world);
    }
}

// ---- moving walls ------------------------------------------------------------------------------

static void driven_wall_pushes_a_block(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = walls_world(dim, MU);
        physics_plane(world, "floor", 0, dim == 2, dim == 3);
        talus_wall_def def = talus_wall_default();
        def.name = "pusher";
        def.shape.kind = TALUS_SHAPE_BOX;
        for (int k = 0; k < 3; k++) def.shape.half_size[k] = 0.2;
        def.position[0] = -1.0, def.position[dim - 1] = 0.25;
        def.drive.kind = TALUS_DRIVE_VELOCITY;
        def.drive.velocity[0] = 0.7;
        talus_error error;
        talus_pair_def smooth = talus_pair_default();
        talus_material_id ice;
        check_ok(talus_world_add_material(world, "ice", &smooth, &ice, &error), error);
        def.material = ice;
        talus_wall_id pusher = physics_wall(world, &def);
        int64_t id = add_block(world, 1, 1, 0.5, 0, 0, 0.25);
        physics_steps(world, H, 1500); // it travels 0.3 to the block
        check_close("speed of the block", grain_v(world, id, 0), 0.7, 1e-11, "the wall's");
        check_close("force on the pusher", wall_force(world, pusher, 0),
                    -MU * physics_total_mass(world) * G, 1e-6 * G, "friction of the block");
        check_close("place", grain_x(world, id, 0), -1.0 + 0.7 * 1.5 + 0.2 + 0.5, 1e-10,
                    "in touch");
        talus_world_destroy(world);
    }
}

static void servo_presses_a_stack(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = walls_world(dim, MU);
        talus_wall_id floor = physics_plane(world, "floor", 0, dim == 2, dim == 3);
        for (int i = 0; i < 3; i++) add_block(world, 1, 0.8, 0.5, 0, 0, 0.25 + 0.5 * i);
        talus_wall_def def = physics_plane_def("piston", 0, dim == 2 ? -1 : 0, dim == 3 ? -1 : 0);
        def.position[dim - 1] = 1.6;
        def.drive.kind = TALUS_DRIVE_SERVO;
        def.drive.mass = 1.0;
        def.drive.servo_axis[dim - 1] = -1.0;
        def.drive.stress = 50.0;
        def.drive.area = 0.8;
        talus_wall_id piston = physics_wall(world, &def);
        physics_steps(world, H, 500);
        check_close("force on the piston", wall_force(world, piston, dim - 1), 40.0, 1e-6,
                    "stress times area; solved to 1e-13 of impulses");
        check_close("force on the floor", wall_force(world, floor, dim - 1),
                    -40.0 - physics_total_mass(world) * G, 1e-6, "and the weight");
        talus_world_destroy(world);
    }
}

// ---- joints ------------------------------------------------------------------------------------

/// A block slides with v0 over the floor that is there, n steps.
static void check_slide(const char* name, talus_world* world, double angle)
{
    const int dim = talus_world_options(world)->dim, z = dim - 1;
    const double v0 = 2.0;
    const int n = test_count(300, 60);
    talus_solid_id box = dim == 2 ? physics_box_solid(world, "slider", 2, 0.73, 0.3, 0)
                                  : physics_box_solid(world, "slider", 3, 0.73, 0.41, 0.3);
    talus_grain_def def = physics_block(box, 0.21, dim == 2 ? 0.15 : 0.13, 0.15);
    def.velocity[0] = v0 * cos(angle);
    if (dim == 3) def.velocity[1] = v0 * sin(angle), def.rotation[2] = angle;
    int64_t id = physics_add(world, &def);
    double worst = 0.0, off = 0.0;
    for (int i = 1; i <= n; i++) {
        physics_step(world, H);
        const double v = v0 - MU * G * i * H;
        worst = fmax(worst, fabs(grain_v(world, id, 0) - v * cos(angle)));
        if (dim == 3) worst = fmax(worst, fabs(grain_v(world, id, 1) - v * sin(angle)));
        worst = fmax(worst, fabs(grain_v(world, id, z)));
        off = fmax(off, fabs(up(world, id) - 0.15));
    }
    printf("%dD, %s, heading %g\n", dim, name, angle);
    check_below("  largest error of the velocity", worst, 1e-11,
                "friction alone; rounding of gaps over h, 1e-13, in some of 300 steps");
    check_below("  largest error of the height", off, 1e-11, "it stays on the floor");
    talus_world_destroy(world);
}

/// The slider has points on a dozen tiles, and how they share its weight is found slowly: a
/// residual of 1e-10 is asked for, of the impulse mu m g h that brakes it.
static talus_world* joints_world(int dim)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    def.solver.tolerance = 1e-12;
    def.solver.max_sweeps = 2000;
    return physics_world(&def, MU);
}

static void joints_between_blocks_stop_nobody(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int way = 0; way < (dim == 2 ? 1 : test_count(6, 2)); way++) {
            talus_world* world = joints_world(dim);
            talus_solid_id tile = physics_box_solid(world, "tile", dim, 0.2, 0.2, 0.2);
            for (int i = -4; i < 12; i++) {
                for (int j = dim == 2 ? 0 : -4; j < (dim == 2 ? 1 : 9); j++) {
                    talus_grain_def def =
                        physics_block(tile, 0.2 * i, dim == 2 ? -0.1 : 0.2 * j, -0.1);
                    def.fixed = true;
                    physics_add(world, &def);
                }
            }
            check_slide("floor of equal blocks", world, 0.175 * way);
        }
    }
}

static void joints_between_triangles_stop_nobody(void** state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        talus_world* world = walls_world(3, MU);
        enum { SIDE = 12 };
        static double corner[2 * SIDE * SIDE][9];
        int count = 0;
        const double a = 0.23;
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < SIDE; j++) {
                const double x = a * (i - 4), y = a * (j - 5);
                const double low[9] = {x, y, 0, x + a, y, 0, x + a, y + a, 0};
                const double high[9] = {x, y, 0, x + a, y + a, 0, x, y + a, 0};
                memcpy(corner[count++], low, sizeof low);
                memcpy(corner[count++], high, sizeof high);
            }
        }
        talus_wall_def def = talus_wall_default();
        def.name = "floor";
        def.shape.kind = TALUS_SHAPE_MESH;
        def.shape.triangles = &corner[0][0];
        def.shape.triangle_count = count;
        physics_wall(world, &def);
        check_slide("floor of triangles", world, 0.35 * way);
    }
}

// ---- many corners ------------------------------------------------------------------------------

enum { MOST_POINTS = 52 };

/// A body of `count` corners on a spiral around a sphere of radius r.
static talus_solid_id round_stone(talus_world* world, int count, double r,
                                  double points[3 * MOST_POINTS])
{
    for (int i = 0; i < count; i++) {
        const double z = 1.0 - (2.0 * i + 1.0) / count, angle = 2.399963 * i;
        points[3 * i] = r * sqrt(1.0 - z * z) * cos(angle);
        points[3 * i + 1] = r * sqrt(1.0 - z * z) * sin(angle);
        points[3 * i + 2] = r * z;
    }
    return physics_solid(world, "stone", points, count);
}

/// How deep the lowest of the points is below z = 0.
static double depth_below(const talus_world* world, int64_t id, const double* points, int count)
{
    const double w = grain_q(world, id, 0), x = grain_q(world, id, 1), y = grain_q(world, id, 2),
                 z = grain_q(world, id, 3);
    const double row[3] = {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
    talus_solid_state s = solid_state(world, talus_world_grains(world).solid[0]);
    double lowest = INFINITY;
    for (int i = 0; i < count; i++) {
        double high = grain_x(world, id, 2);
        for (int k = 0; k < 3; k++) high += row[k] * (points[3 * i + k] - s.centre[k]);
        lowest = fmin(lowest, high);
    }
    return -lowest;
}

static double spin_of(const talus_world* world, int64_t id)
{
    const double x = grain_w(world, id, 0), y = grain_w(world, id, 1), z = grain_w(world, id, 2);
    return sqrt(x * x + y * y + z * z);
}

/// Deepest overlap of a throw in diameters; *excess: most that a step added to it beyond its bound.
static double throw_stone(int count, int number, double h, double* excess)
{
    const double r = 0.01;
    double points[3 * MOST_POINTS], deepest = 0.0;
    talus_world* world = walls_world(3, 0.3);
    physics_plane(world, "floor", 0, 0, 1);
    talus_grain_def stone = physics_block(round_stone(world, count, r, points), 0, 0, 0.015);
    stone.rotation[0] = number, stone.rotation[1] = 0.3 * number;
    stone.spin[0] = 40 * sin(number), stone.spin[1] = 40 * cos(3 * number);
    stone.velocity[0] = sin(7 * number), stone.velocity[2] = -1.0;
    const int64_t id = physics_add(world, &stone);
    for (int i = 0; i < (int)(0.25 / h); i++) {
        const double before = fmax(0.0, depth_below(world, id, points, count));
        physics_step(world, h);
        const double turn = h * spin_of(world, id), after = depth_below(world, id, points, count);
        const double bound = r * turn * turn * (0.75 + turn / 6.0);
        deepest = fmax(deepest, after / (2.0 * r));
        *excess = fmax(*excess, (after - before - bound) / r);
    }
    talus_world_destroy(world);
    return deepest;
}

/// All corners that come down on a plane in a step are held, so no step lets one through. What is
/// left is the curvature of their paths. A turn f moves an arm l, off the tangent f x l, along the
/// normal by (f_n (f.l) - l_n f^2)/2: the centre is above the plane, l_n < 0, so that goes down by
/// at most |f_n f_t| |l|/2 <= f^2 |l|/4. The gyroscopic torque turns a body by at most f^2/2 more:
/// together 3/4 f^2 |l|, and f^3/6 of the next order.
static void no_corner_passes_a_plane(void** state)
{
    (void)state;
    for (int half = 0; half < 5; half++) {
        const double h = 2e-3 / (1 << half);
        double deepest = 0.0, excess = -INFINITY;
        for (int number = 0; number < test_count(15, 3); number++) {
            deepest = fmax(deepest, throw_stone(12 + number % 3 * 20, number, h, &excess));
        }
        printf("h = %g, h omega from %.3g: overlap up to %.2g of the diameter\n", h, 40 * h,
               deepest);
        check_below("  added by a step beyond its bound, of the radius", excess, 1e-10,
                    "curved paths of corners; solved to 1e-13");
    }
}

/// A cylinder without end is refused beside solids, whichever comes first; not once it is removed.
static void removed_cylinder_refuses_nobody(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = walls_world(3, MU);
    talus_wall_def pole = talus_wall_default();
    pole.name = "pole";
    pole.shape.kind = TALUS_SHAPE_CYLINDER;
    pole.shape.radius = 1.0;
    pole.shape.axis[2] = 1.0;
    talus_wall_id wall = physics_wall(world, &pole);
    talus_grain_def block =
        physics_block(physics_box_solid(world, "block", 3, 1, 1, 1), 3.0, 0.0, 0.0);
    assert_int_equal(talus_world_add_grain(world, &block, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "wall 'pole'"));
    check_ok(talus_world_remove_wall(world, wall, &error), error);
    physics_add(world, &block);
    pole.name = "second pole";
    assert_int_equal(talus_world_add_wall(world, &pole, NULL, &error), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container_and_drum_carry_blocks),
        cmocka_unit_test(obstacles_carry_blocks),
        cmocka_unit_test(thin_walls_carry_blocks_to_their_ends),
        cmocka_unit_test(funnel_holds_a_block),
        cmocka_unit_test(blocks_meet_across_the_cell),
        cmocka_unit_test(driven_wall_pushes_a_block),
        cmocka_unit_test(servo_presses_a_stack),
        cmocka_unit_test(joints_between_blocks_stop_nobody),
        cmocka_unit_test(joints_between_triangles_stop_nobody),
        cmocka_unit_test(no_corner_passes_a_plane),
        cmocka_unit_test(removed_cylinder_refuses_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
