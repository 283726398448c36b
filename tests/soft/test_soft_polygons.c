/// Polygons of the soft method: at rest, colliding, sliding, hooked, in containers; their energies.
#include "record/record.h"
#include "record_world.h"
#include "soft_worlds.h"

// ---- rest --------------------------------------------------------------------------------------

/// A hexagon on a plane: k_n A/l_c holds the weight, with l_c = 2 sqrt(area/pi) at a wall.
static void test_rest_on_plane(void** state)
{
    (void)state;
    for (int e = 0; e < test_count(2, 1); e++) {
        talus_world_def def = soft_def(2, TALUS_INTEGRATOR_VERLET, (talus_elongation)e);
        def.gravity[1] = -10.0;
        const talus_pair_def pair = soft_pair(1e4, 0.1, 0.5);
        talus_world* world = physics_world_pair(&def, &pair);
        const talus_wall_id plane = physics_plane(world, "floor", 0.0, 1.0, 0.0);
        const talus_solid_id hexagon = soft_regular(world, "hexagon", 6, 1.0);
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
    double kinetic;    ///< in the end
    double end[6];     ///< position, angle, velocity, spin of the second square
} collision;

/// Stiffness that squares feel side to side: k side/l_c.
static const double STIFFNESS = 1e4, STIFFNESS_OF_SIDES = 1e4 / (2.0 * 0.56418958354775628);

/// Two unit squares: the second comes with velocity v, turned by `angle`, at (x, y).
static collision collide(talus_integrator integrator, talus_elongation elongation, double friction,
                         double restitution, double h, const double place[3], const double v[3])
{
    talus_world_def def = soft_def(2, integrator, elongation);
    const talus_pair_def pair = soft_pair(STIFFNESS, restitution, friction);
    talus_world* world = physics_world_pair(&def, &pair);
    const talus_solid_id square = soft_rectangle(world, "square", 1.0, 1.0);
    talus_grain_def grain = soft_grain(square, 0.0, 0.0, 0.0);
    physics_add(world, &grain);
    grain = soft_grain(square, place[0], place[1], place[2]);
    grain.velocity[0] = v[0], grain.velocity[1] = v[1], grain.spin[2] = v[2];
    physics_add(world, &grain);
    double start[3], now[3];
    soft_momenta(world, start);
    collision out = {.error = 0.0};
    const int steps = (int)lrint(0.2 / h);
    bool touched = false;
    for (int i = 0; i < steps; i++) {
        const talus_step_result r = physics_step(world, h);
        soft_momenta(world, now);
        for (int k = 0; k < 3; k++) {
            out.momenta[k] = fmax(out.momenta[k], fabs(now[k] - start[k]));
        }
        out.error = fmax(out.error, fabs(r.energy.error));
        out.kinetic = r.kinetic_energy;
        touched = touched || r.active > 0;
    }
    for (int k = 0; k < 2; k++) {
        out.end[k] = grain_x(world, 1, k), out.end[3 + k] = grain_v(world, 1, k);
    }
    out.end[2] = grain_angle(world, 1), out.end[5] = grain_w(world, 1, 0);
    assert_true(touched);
    talus_world_destroy(world);
    return out;
}

/// How a pair of squares collides: side to side, and a corner on a side, turning.
static const double places[2][3] = {{1.001, 0.0, 0.0}, {1.15, 0.4, 0.5}};
static const double velocities[2][3] = {{-1.0, 0.0, 0.0}, {-1.0, 0.3, 0.8}};

/// One kind of collision with steps h and h/4.
static void check_collision(int kind, talus_integrator integrator, talus_elongation elongation,
                            double friction, double restitution)
{
    const double h = 1e-4, speed = 1.5; // of the points that touch, at most
    const double damping =
        -2.0 * log(restitution) / hypot(M_PI, log(restitution)) * sqrt(0.5 * STIFFNESS);
    collision c[2];
    for (int k = 0; k < 2; k++) {
        c[k] = collide(integrator, elongation, friction, restitution, k ? 0.25 * h : h,
                       places[kind], velocities[kind]);
    }
    printf("%s %s %s, friction %g, restitution %g: energy %.9g\n",
           kind ? "corner to side" : "side to side", soft_integrator_names[integrator],
           soft_elongation_names[elongation], friction, restitution, c[1].kinetic);
    const bool gear = integrator <= TALUS_INTEGRATOR_GEAR3;
    const bool smooth = integrator != TALUS_INTEGRATOR_LEAPFROG && restitution == 1.0 &&
                        (friction == 0.0 || kind == 0 || elongation == TALUS_ELONGATION_GEOMETRIC);
    // Of a step in which a contact begins or ends only a part is in contact: k (v h)^2/2. A dashpot
    // that sets in changes the force by damping v: what Gear makes of that step, of leapfrog half a
    // step between its energies, and the velocities at the end of steps that Cundall adds up are
    // wrong by a power times h.
    const double force = sqrt(2.0 * 0.6 * STIFFNESS_OF_SIDES); // at most, from the energy
    const double second = 0.5 * STIFFNESS_OF_SIDES * speed * speed * h * h;
    const double first = (damping * speed + force) * speed * h;
    check_below("error of the energies", c[0].error, smooth ? second : first,
                smooth ? "k (v h)^2/2 where a contact begins or ends" : "power times step");
    check_below("the same, step/4", c[1].error, c[0].error / (smooth ? 12.0 : 3.0),
                "second order gives 16, first order 4");
    for (int k = 0; k < 2; k++) {
        check_below("change of momentum", c[1].momenta[k], 1e-13, "rounding of 8000 steps");
    }
    // Gear moves centres where it corrects: a jump of the force leaves F h^2/2 times v.
    check_below("change of angular momentum", c[1].momenta[2],
                1e-11 + (gear ? damping * speed * speed * h * h / 32.0 : 0.0),
                "rounding of 8000 torques of 70 N m times h; Gear: jump of the force v h^2/2");
}

static void test_collisions(void** state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 4; i++) {
            for (int e = 0; e < 4; e++) {
                for (int mu = 0; mu < 2; mu++) {
                    check_collision(kind, (talus_integrator)i, (talus_elongation)(e % 2), 0.5 * mu,
                                    e < 2 ? 1.0 : 0.5);
                }
            }
        }
    }
}

/// Gear's fifth order with geometric elongations and Verlet with Cundall's solve one equation: they
/// differ by Cundall's first order, and less and less.
static void test_methods_agree(void** state)
{
    (void)state;
    double apart[2] = {0.0, 0.0};
    for (int fine = 0; fine < 2; fine++) {
        const double h = fine ? 1.25e-5 : 5e-5;
        const collision a = collide(TALUS_INTEGRATOR_GEAR5, TALUS_ELONGATION_GEOMETRIC, 0.5, 1.0, h,
                                    places[1], velocities[1]);
        const collision b = collide(TALUS_INTEGRATOR_VERLET, TALUS_ELONGATION_CUNDALL, 0.5, 1.0, h,
                                    places[1], velocities[1]);
        for (int k = 0; k < 6; k++) apart[fine] = fmax(apart[fine], fabs(a.end[k] - b.end[k]));
    }
    check_below("Gear and geometric against Verlet and Cundall", apart[0], 5e-5 * 70.0,
                "h times the largest force over the mass");
    check_below("the same, step/4", apart[1], apart[0] / 3.0, "first order gives 4");
}

// ---- an incline --------------------------------------------------------------------------------

/// A block on a plane whose gravity leans by `angle`: it sticks, held by the spring of friction, or
/// slides with the acceleration g (sin - mu cos); with the bound `elastic` up to the velocity at
/// which the dashpot, which comes on top of friction, carries the rest.
static void check_incline(double angle, double friction, talus_elongation elongation,
                          talus_soft_bound bound)
{
    const double g = 10.0, h = 1e-4, k = 1e5;
    talus_world_def def = soft_def(2, TALUS_INTEGRATOR_VERLET, elongation);
    def.soft.bound = bound;
    def.gravity[0] = g * sin(angle), def.gravity[1] = -g * cos(angle);
    const talus_pair_def pair = soft_pair(k, 0.1, friction);
    talus_world* world = physics_world_pair(&def, &pair);
    const talus_wall_id plane = physics_plane(world, "incline", 0.0, 1.0, 0.0);
    const talus_solid_id block = soft_rectangle(world, "block", 2.0, 0.5);
    talus_grain_def grain = soft_grain(block, 0.0, 0.25, 0.0);
    // Friction that follows the whole normal force feeds the rocking of a block that slides: the
    // dashpots act at the centroid of the overlap and do not damp turns about it.
    grain.locked_rotation = bound == TALUS_BOUND_TOTAL;
    const int64_t id = physics_add(world, &grain);
    physics_steps(world, h, 20000);
    const double v = grain_v(world, id, 0), x = grain_x(world, id, 0);
    const char* why = "2 s after oscillations that decay within 0.02 s: rounding";
    physics_steps(world, h, 5000);
    check_close("normal force", wall_force(world, plane, 1), -g * cos(angle), 1e-8, why);
    if (tan(angle) < friction) {
        check_close("friction", wall_force(world, plane, 0), g * sin(angle), 1e-8, why);
        check_close("velocity", grain_v(world, id, 0), 0.0, 1e-10, why);
        check_close("drift in half a second", grain_x(world, id, 0) - x, 0.0, 1e-12, why);
        assert_int_equal(contact_state_of(world, -1 - plane.index, id), TALUS_CONTACT_STICK);
    } else {
        const double a = g * (sin(angle) - friction * cos(angle));
        const double damping = 2.0 * sqrt(k) * log(10.0) / hypot(M_PI, log(10.0)) / 3.0;
        if (bound == TALUS_BOUND_TOTAL) {
            check_close("acceleration", (grain_v(world, id, 0) - v) / (5000 * h), a, 1e-8, why);
        } else {
            check_close("velocity", grain_v(world, id, 0), a / damping, 1e-10, why);
        }
        assert_int_equal(contact_state_of(world, -1 - plane.index, id), TALUS_CONTACT_SLIDE);
    }
    check_close("spin", grain_w(world, id, 0), 0.0, 1e-9, why);
    talus_world_destroy(world);
}

static void test_incline(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        for (int b = 0; b < 2; b++) {
            check_incline(atan(0.45), 0.5, (talus_elongation)e, (talus_soft_bound)b);
            check_incline(atan(0.55), 0.5, (talus_elongation)e, (talus_soft_bound)b);
        }
    }
}

// ---- a hook ------------------------------------------------------------------------------------

/// An L hung with its inner corner over a fixed octagon, two sides of which lean by 45 degrees: two
/// regions, each of which carries the weight/sqrt(2).
static void test_hook(void** state)
{
    (void)state;
    static const double points[] = {-0.3, -0.3, 2.0, -0.3, 2.0, 0.0, -0.3, 0.0,
                                    -0.3, 0.0,  0.0, 0.0,  0.0, 2.0, -0.3, 2.0};
    static const int sizes[] = {4, 4};
    talus_world_def def = soft_def(2, TALUS_INTEGRATOR_GEAR5, TALUS_ELONGATION_GEOMETRIC);
    def.gravity[1] = -10.0;
    const talus_pair_def pair = soft_pair(1e4, 0.1, 0.0);
    talus_world* world = physics_world_pair(&def, &pair);
    talus_solid_def shape = talus_solid_default();
    shape.name = "hook", shape.points = points, shape.part_sizes = sizes;
    shape.part_count = 2, shape.point_count = 8;
    talus_error error;
    talus_solid_id hook;
    check_ok(talus_world_add_solid(world, &shape, &hook, &error), error);
    const talus_solid_id octagon = soft_regular(world, "octagon", 8, 1.0);
    talus_grain_def grain = soft_grain(octagon, 0.0, 0.0, M_PI / 8.0);
    grain.fixed = true;
    physics_add(world, &grain);
    // The quadrant that is free looks down: 45 degrees become -90.
    const double angle = -0.75 * M_PI, *centre = solid_state(world, hook).centre;
    const double middle[2] = {centre[0], centre[1]}, top = sqrt(2.0) * cos(M_PI / 8.0);
    grain = soft_grain(hook, cos(angle) * middle[0] - sin(angle) * middle[1],
                       top + sin(angle) * middle[0] + cos(angle) * middle[1], angle);
    const int64_t id = physics_add(world, &grain);
    talus_step_result last = {0};
    for (int i = 0; i < 50000; i++) last = physics_step(world, 1e-4);
    const talus_contacts c = talus_world_contacts(world);
    assert_int_equal(c.count, 2);
    const char* why = "5 s: rounding";
    for (int k = 0; k < 2; k++) {
        check_close("up", c.force[2 * k + 1], 5.0, 1e-8, why);
        check_close("aside", fabs(c.force[2 * k]), 5.0, 1e-8, why);
        check_close("along the normal", fabs(c.normal[2 * k]), sqrt(0.5), 1e-8, why);
    }
    check_close("angle", grain_angle(world, id), angle, 1e-9, why);
    check_below("error of the energies", fabs(last.energy.error), 1e-4 * 10.0,
                "power of a fall over 1 mm, 10 N times 0.1 m/s, times h, where dashpots set in");
    check_ok(talus_world_validate(world, &error), error);
    talus_world_destroy(world);
}

// ---- walls and disks ---------------------------------------------------------------------------

/// Area of a disk's part beyond a line, `depth` below its lowest point.
static double disk_segment(double r, double depth)
{
    return r * r * acos(1.0 - depth / r) - (r - depth) * sqrt((2.0 * r - depth) * depth);
}

/// A disk comes to rest on a fixed square, or with the law area on a plane: k A/l_c is its weight.
static void check_disk_rest(bool on_square)
{
    talus_world_def def = soft_def(2, TALUS_INTEGRATOR_GEAR5, TALUS_ELONGATION_GEOMETRIC);
    def.gravity[1] = -10.0;
    if (!on_square) def.soft.law = TALUS_SOFT_AREA;
    const talus_pair_def pair = soft_pair(1e4, 0.1, 0.5);
    talus_world* world = physics_world_pair(&def, &pair);
    if (on_square) {
        talus_grain_def square =
            soft_grain(soft_rectangle(world, "square", 1.0, 1.0), 0.0, -0.5, 0.0);
        square.fixed = true;
        physics_add(world, &square);
    } else {
        physics_plane(world, "floor", 0.0, 1.0, 0.0);
    }
    const talus_grain_def disk = physics_ball(0.3, 1.0, 0.1, 0.29, 0.0);
    const int64_t id = physics_add(world, &disk);
    physics_steps(world, 1e-4, 30000);
    const double length = on_square ? 0.3 + 1.0 / sqrt(M_PI) : 0.6;
    const double depth = 0.3 - grain_x(world, id, 1);
    const char* why = "at rest: rounding of the area of a thin sliver, 1e-16 r^2, times k/l_c";
    check_close("weight of a disk", 1e4 * disk_segment(0.3, depth) / length, 10.0, 1e-10, why);
    check_close("it does not roll", grain_x(world, id, 0), 0.1, 1e-10, why);
    talus_world_destroy(world);
}

/// Two disks, law area, no friction, restitution 1: this force has a potential, so all comes back.
static void check_disk_collision(void)
{
    double left[2];
    for (int fine = 0; fine < 2; fine++) {
        const double h = fine ? 5e-5 : 2e-4;
        talus_world_def def = soft_def(2, TALUS_INTEGRATOR_VERLET, TALUS_ELONGATION_GEOMETRIC);
        def.soft.law = TALUS_SOFT_AREA;
        const talus_pair_def pair = soft_pair(1e4, 1.0, 0.0);
        talus_world* world = physics_world_pair(&def, &pair);
        talus_grain_def disk = physics_ball(0.5, 1.0, 0.0, 0.0, 0.0);
        physics_add(world, &disk);
        disk = physics_ball(0.5, 1.0, 1.01, 0.3, 0.0);
        disk.velocity[0] = -1.0;
        physics_add(world, &disk);
        talus_step_result r = {0};
        double most = 0.0;
        for (int i = 0; i < (int)lrint(0.4 / h); i++) {
            r = physics_step(world, h);
            most = fmax(most, r.energy.elastic);
        }
        assert_int_equal(r.active, 0);
        assert_true(most > 0.1);
        left[fine] = fabs(r.energy.dissipated);
        check_close("energy after a collision of disks", r.kinetic_energy, 0.5, 1e4 * h * h,
                    "k (v h)^2");
        talus_world_destroy(world);
    }
    check_below("energy left in the contact", left[0], 1e4 * 2e-4 * 2e-4, "k (v h)^2");
    check_below("the same, step/4", left[1], left[0] / 8.0, "second order or better");
}

static void test_disks(void** state)
{
    (void)state;
    check_disk_rest(true);
    check_disk_rest(false);
    check_disk_collision();
}

/// A square dropped into or on a wall: what it feels in the end is its weight, and no energy
/// appears.
static void check_wall(const char* name, const talus_wall_def* wall, const talus_grain_def* where,
                       int contacts_expected)
{
    talus_world_def def = soft_def(2, TALUS_INTEGRATOR_VERLET, TALUS_ELONGATION_GEOMETRIC);
    def.gravity[1] = -10.0;
    const talus_pair_def pair = soft_pair(1e4, 0.1, 0.5);
    talus_world* world = physics_world_pair(&def, &pair);
    talus_grain_def grain = *where;
    grain.solid = soft_rectangle(world, "square", 1.0, 1.0);
    const talus_wall_id index = physics_wall(world, wall);
    const int64_t id = physics_add(world, &grain);
    talus_error error;
    talus_step_result r = {0};
    check_ok(talus_world_steps(world, 1e-4, 30000, &r, &error), error);
    printf("%s: %lld contacts, at %g %g, angle %g\n", name, (long long)r.active,
           grain_x(world, id, 0), grain_x(world, id, 1), grain_angle(world, id));
    const char* why =
        "3 s; a rocking that is not damped (dashpots act at the centroid) does not begin";
    assert_int_equal(r.active, contacts_expected);
    check_close("weight", wall_force(world, index, 1), -10.0, 1e-6, why);
    check_close("force across", wall_force(world, index, 0), 0.0, 1e-6, why);
    check_close("velocity", hypot(grain_v(world, id, 0), grain_v(world, id, 1)), 0.0, 1e-7, why);
    check_close("spin", grain_w(world, id, 0), 0.0, 1e-7, why);
    const double speed = sqrt(2.0 * 10.0 * 0.3);
    check_below("error of the energies", fabs(r.energy.error), 0.5 * 2e4 * speed * speed * 1e-8,
                "k (v h)^2/2 of the fall, with the stiffness of a side, 2 k at most");
    check_ok(talus_world_validate(world, &error), error);
    talus_world_destroy(world);
}

static void test_walls(void** state)
{
    (void)state;
    talus_wall_def wall = talus_wall_default();
    talus_grain_def grain = soft_grain((talus_solid_id){0}, 0.0, 0.5, 0.0);
    wall.name = "wall";
    wall.shape = (talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .inside = true, .radius = 2.0};
    grain.position[1] = -1.3;
    check_wall("drum", &wall, &grain, 2);
    wall.rotation[2] = 1.1;
    grain.rotation[2] = 0.2;
    check_wall("turned drum", &wall, &grain, 2);
    wall.shape = (talus_shape_def){
        .kind = TALUS_SHAPE_BOX, .inside = true, .half_size = {1.0, 1.0, 0.0}, .open_faces = 8};
    wall.rotation[2] = 0.0, grain.rotation[2] = 0.0;
    grain.position[0] = 0.3, grain.position[1] = -0.35;
    check_wall("box", &wall, &grain, 1);
    wall.rotation[2] = M_PI / 4.0;
    grain.rotation[2] = M_PI / 4.0;
    grain.position[0] = 0.0, grain.position[1] = -0.65;
    check_wall("corner of a box", &wall, &grain, 2);
}

static void test_walls_from_outside(void** state)
{
    (void)state;
    if (test_scale() < 1.0) skip(); // sanitizers have seen all the code
    talus_wall_def wall = talus_wall_default();
    talus_grain_def grain = soft_grain((talus_solid_id){0}, 0.0, 0.5, 0.0);
    wall.name = "wall";
    wall.shape = (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half_size = {1.0, 1.0, 0.0}};
    grain.position[0] = 0.7, grain.position[1] = 1.6;
    grain.locked_rotation = true; // half supported only
    check_wall("edge of a block", &wall, &grain, 1);
    wall.shape = (talus_shape_def){.kind = TALUS_SHAPE_SEGMENT, .edge_u = {0.0, 1.0, 0.0}};
    wall.rotation[2] = M_PI / 2.0;
    grain.position[1] = 0.6;
    check_wall("segment", &wall, &grain, 1);
    wall.shape.skin = 0.1;
    grain.position[1] = 0.7;
    check_wall("thick segment", &wall, &grain, 1);
}

/// The same pile in a periodic cell and shifted by half of it, so that polygons lie across the
/// border: they move alike.
static void test_periodic(void** state)
{
    (void)state;
    double end[2][6];
    for (int shifted = 0; shifted < 2; shifted++) {
        talus_world_def def = soft_def(2, TALUS_INTEGRATOR_GEAR5, TALUS_ELONGATION_GEOMETRIC);
        def.gravity[1] = -10.0;
        def.periodic[0] = true;
        def.cell_low[0] = -4.0, def.cell_high[0] = 4.0;
        const talus_pair_def pair = soft_pair(1e4, 0.5, 0.5);
        talus_world* world = physics_world_pair(&def, &pair);
        const double x = 4.0 * shifted;
        talus_wall_def block = talus_wall_default();
        block.name = "block";
        block.shape = (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half_size = {1.0, 0.5, 0.0}};
        block.position[0] = x, block.position[1] = -0.5;
        physics_wall(world, &block);
        const talus_solid_id square = soft_rectangle(world, "square", 1.0, 1.0);
        talus_grain_def grain = soft_grain(square, x - 0.1 - (x > 0 ? 8.0 : 0.0), 0.6, 0.0);
        physics_add(world, &grain);
        grain = soft_grain(square, x + 0.6 - (x > 0 ? 8.0 : 0.0), 1.9, 0.4);
        physics_add(world, &grain);
        talus_error error;
        check_ok(talus_world_steps(world, 1e-4, 5000, NULL, &error), error);
        for (int i = 0; i < 2; i++) {
            double across = grain_x(world, i, 0) - x;
            across -= 8.0 * rint(across / 8.0);
            end[shifted][3 * i] = across;
            end[shifted][3 * i + 1] = grain_x(world, i, 1);
            end[shifted][3 * i + 2] = grain_angle(world, i);
        }
        assert_true(talus_world_last(world)->active > 0);
        check_ok(talus_world_validate(world, &error), error);
        talus_world_destroy(world);
    }
    for (int k = 0; k < 6; k++) {
        check_close("across the border", end[1][k], end[0][k], 1e-9,
                    "rounding at 4, 1e-15, grown over 5000 steps of a chaotic fall");
    }
    assert_true(fabs(end[0][5] - 0.4) > 0.1);
}

// ---- bits --------------------------------------------------------------------------------------

/// A world of n polygons, concave ones and disks in a container, thrown together; below a spacing
/// of 1 some overlap from the beginning.
static talus_world* heap(int n, double spacing, int threads, talus_integrator integrator,
                         talus_soft_law law)
{
    static const double points[] = {-0.4, -0.4, 0.8, -0.4, 0.8,  0.0, -0.4, 0.0,
                                    -0.4, 0.0,  0.0, 0.0,  -0.4, 0.8, 0.0,  0.8};
    static const int sizes[] = {4, 4};
    talus_world_def def = soft_def(2, integrator, TALUS_ELONGATION_GEOMETRIC);
    def.threads = threads;
    def.soft.law = law;
    def.gravity[1] = -10.0;
    const talus_pair_def pair = soft_pair(2e4, 0.3, 0.5);
    talus_world* world = physics_world_pair(&def, &pair);
    const int across = (int)ceil(sqrt(n));
    physics_container(world, 2, 1.05 * across, 5.0 * across);
    talus_wall_def drum = talus_wall_default();
    drum.name = "pole";
    drum.shape.kind = TALUS_SHAPE_CYLINDER;
    drum.shape.radius = 1.0;
    drum.rotation[2] = 0.3;
    physics_wall(world, &drum);
    talus_solid_def shape = talus_solid_default();
    shape.name = "hook", shape.points = points, shape.part_sizes = sizes;
    shape.part_count = 2, shape.point_count = 8;
    talus_error error;
    check_ok(talus_world_add_solid(world, &shape, NULL, &error), error);
    soft_regular(world, "pentagon", 5, 0.9);
    soft_rectangle(world, "brick", 1.6, 0.8);
    dice d = {7};
    for (int i = 0; i < n; i++) {
        talus_grain_def grain = soft_grain(
            (talus_solid_id){i % 4 - 1}, (2.0 * (i % across) + 1.0 - across) * 1.04 * spacing,
            2.4 + 2.05 * spacing * (double)(i / across), 2.0 * M_PI * dice_roll(&d));
        if (i % 4 == 0) grain.radius = 0.8;
        grain.velocity[0] = 4.0 * dice_roll(&d) - 2.0;
        grain.velocity[1] = -6.0 * dice_roll(&d);
        grain.spin[2] = 4.0 * dice_roll(&d) - 2.0;
        physics_add(world, &grain);
    }
    return world;
}

static void test_threads(void** state)
{
    (void)state;
    for (int law = 0; law < 2; law++) {
        uint64_t hash[3];
        for (int t = 0; t < 3; t++) {
            talus_world* world = heap(400, 0.8, t + 1, TALUS_INTEGRATOR_GEAR5,
                                      law ? TALUS_SOFT_AREA : TALUS_SOFT_LINEAR);
            talus_error error;
            talus_step_result r;
            check_ok(talus_world_steps(world, 2.5e-4, 300, &r, &error), error);
            printf("%d threads: %lld contacts of %lld, energy error %g of %g\n", t + 1,
                   (long long)r.active, (long long)r.contacts, r.energy.error, r.energy.start);
            assert_true(r.active > 100);
            check_ok(talus_world_validate(world, &error), error);
            hash[t] = talus_world_hash(world);
            talus_world_destroy(world);
        }
        assert_true(hash[1] == hash[0] && hash[2] == hash[0]);
    }
}

static void check_same(const talus_world* a, const talus_world* b)
{
    const talus_contacts x = talus_world_contacts(a), y = talus_world_contacts(b);
    const talus_totals *s = talus_world_totals(a), *t = talus_world_totals(b);
    assert_true(talus_world_hash(a) == talus_world_hash(b));
    assert_int_equal(x.count, y.count);
    assert_memory_equal(x.force, y.force, sizeof(double) * 2 * (size_t)x.count);
    assert_memory_equal(x.feature, y.feature, sizeof *x.feature * (size_t)x.count);
    assert_true(s->dissipated == t->dissipated && s->input == t->input);
    assert_true(talus_world_last(a)->energy.elastic == talus_world_last(b)->energy.elastic);
}

/// A run that is saved and resumed at any time does the same, energies included.
static void test_resume(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const talus_soft_law law = i % 2 ? TALUS_SOFT_AREA : TALUS_SOFT_LINEAR;
        talus_world* world = heap(40, 1.0, 1, (talus_integrator)i, law);
        talus_error error;
        bool slips = false;
        for (int part = 0; part < test_count(8, 2); part++) {
            check_ok(talus_world_steps(world, 2e-4, 600, NULL, &error), error);
            char* folder = sample_folder();
            check_ok(checkpoint_write(folder, world, CHECKPOINT_STATE, NULL, 0, &error), error);
            talus_world* back = heap(40, 1.0, 1, (talus_integrator)i, law);
            check_ok(checkpoint_read(folder, back, NULL, 0, NULL, &error), error);
            const contacts* c = &back->state.contacts;
            for (int64_t k = 0; k < c->count; k++) {
                slips = slips || (c->slip[k] != 0.0 && c->stored[k] != 0.0);
            }
            check_ok(talus_world_steps(world, 2e-4, 600, NULL, &error), error);
            check_ok(talus_world_steps(back, 2e-4, 600, NULL, &error), error);
            check_same(world, back);
            talus_world_destroy(back);
            sample_remove(folder);
        }
        assert_true(slips);
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_on_plane), cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_methods_agree), cmocka_unit_test(test_incline),
        cmocka_unit_test(test_hook),          cmocka_unit_test(test_disks),
        cmocka_unit_test(test_walls),         cmocka_unit_test(test_walls_from_outside),
        cmocka_unit_test(test_periodic),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
