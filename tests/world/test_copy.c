/// A world to try things on (talus_world_copy): it goes on with the bits of the original, knows
/// nothing of it, and keeps nothing of it. AddressSanitizer sees what is shared, lost or left over.
#include "support.h"

#include <string.h>
#include <talus/world.h>

enum { SIDE = 4, STEPS = 30 };

static void add_wall(talus_world* world, const talus_wall_def* def)
{
    talus_error error = {0};
    check_ok(talus_world_add_wall(world, def, NULL, &error), error);
}

/// A floor that shakes, a lid of some mass, a side that a servo pushes, and one that follows a
/// table; in 3D a ramp of two triangles as well.
static void add_walls(talus_world* world, int dim)
{
    static const double table[] = {0.0, 0, 0, 0, 0, 0, 0, 0.01, 0.02, 0, 0, 0, 0, 0};
    static const double ramp[] = {-0.1, 0.005, -0.1, 0.1, 0.005, -0.1, 0.1,  0.0, 0.1,
                                  -0.1, 0.005, -0.1, 0.1, 0.0,   0.1,  -0.1, 0.0, 0.1};
    talus_wall_def floor = talus_wall_default();
    floor.name = "floor";
    floor.shape.normal[1] = 1.0;
    floor.drive.kind = TALUS_DRIVE_SINE;
    floor.drive.amplitude[1] = 1e-4;
    floor.drive.frequency = 50.0;
    add_wall(world, &floor);
    talus_wall_def lid = talus_wall_default();
    lid.name = "lid";
    lid.shape.normal[1] = -1.0;
    lid.position[1] = 0.1;
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.mass = 0.5;
    lid.drive.free_axes[1] = true;
    lid.drive.force[1] = -5.0;
    lid.drive.damping = 0.1;
    add_wall(world, &lid);
    talus_wall_def left = talus_wall_default();
    left.name = "left";
    left.shape.normal[0] = 1.0;
    left.position[0] = -0.002;
    left.drive.kind = TALUS_DRIVE_TABLE;
    left.drive.table = table;
    left.drive.table_rows = 2;
    add_wall(world, &left);
    talus_wall_def right = talus_wall_default();
    right.name = "right";
    right.shape.normal[0] = -1.0;
    right.position[0] = 0.085;
    right.drive.kind = TALUS_DRIVE_SERVO;
    right.drive.mass = 0.5;
    right.drive.servo_axis[0] = -1.0;
    right.drive.stress = 20.0;
    right.drive.area = 0.1;
    add_wall(world, &right);
    if (dim == 2) return;
    talus_wall_def mesh = talus_wall_default();
    mesh.name = "ramp";
    mesh.shape.kind = TALUS_SHAPE_MESH;
    mesh.shape.triangles = ramp;
    mesh.shape.triangle_count = 2;
    add_wall(world, &mesh);
}

/// Grains in a box, which press a little on each other at first: balls and, where the method has
/// them, solids, one with a force on it, one glued to the floor.
static talus_world* box(talus_method method, int dim)
{
    talus_error error = {0};
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.gravity[1] = -9.81;
    def.method = method;
    def.drag = 1e-4;
    def.solver.method = dim == 2 ? TALUS_SOLVER_SWEEPS : TALUS_SOLVER_AUTO;
    if (method == TALUS_METHOD_CONTACT) def.periodic[2] = dim == 3;
    def.cell_low[2] = -0.2;
    def.cell_high[2] = 0.2;
    talus_world* world = NULL;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def law = talus_pair_default();
    law.friction = 0.4;
    law.dynamic_friction = 0.3;
    law.restitution = 0.3;
    law.rolling = 1e-4;
    law.soft.stiffness = 1e5;
    check_ok(talus_world_add_material(world, "glass", &law, NULL, &error), error);
    law.cohesion_force = 0.01;
    check_ok(talus_world_add_material(world, "clay", &law, NULL, &error), error);

    const double corners[] = {-1, -1, -1, 1, -1, -1, 0, 1, -1, 0, 0, 1};
    const double triangle[] = {-1, -1, 1, -1, 0, 1};
    talus_solid_def wedge = talus_solid_default();
    wedge.name = "wedge";
    wedge.points = dim == 2 ? triangle : corners;
    wedge.point_count = dim == 2 ? 3 : 4;
    talus_solid_id solid;
    check_ok(talus_world_add_solid(world, &wedge, &solid, &error), error);
    const bool solids = method == TALUS_METHOD_CONTACT || dim == 2;

    add_walls(world, dim);
    for (int i = 0; i < SIDE * SIDE; i++) {
        talus_grain_def grain = talus_grain_default();
        grain.position[0] = 0.00995 + 0.0199 * (i % SIDE);
        grain.position[1] = (dim == 2 ? 0.00995 : 0.0125) + 0.0199 * (i / SIDE);
        grain.position[2] = dim == 3 ? 0.001 * (i % 3) : 0.0;
        grain.velocity[1] = -0.5;
        grain.radius = 0.01;
        grain.material.index = i % 2;
        if (solids && i % 3 == 1) {
            grain.radius = 0.0;
            grain.solid = solid;
            grain.scale = 0.007;
        }
        if (i == 0) grain.glued_to = talus_world_find_wall(world, "floor");
        check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);
    }
    const double force[3] = {0.01, 0.0, 0.0}, torque[3] = {0.0, 0.0, 1e-5};
    check_ok(talus_world_set_grain_force(world, 5, force, torque, &error), error);
    return world;
}

static void check_same(talus_world* a, talus_world* b, const char* when)
{
    const talus_contacts x = talus_world_contacts(a), y = talus_world_contacts(b);
    const talus_totals *s = talus_world_totals(a), *t = talus_world_totals(b);
    if (talus_world_hash(a) != talus_world_hash(b)) fail_msg("the states differ %s", when);
    assert_int_equal(x.count, y.count);
    assert_memory_equal(x.force, y.force, sizeof *x.force * (size_t)(x.count * x.dim));
    assert_memory_equal(x.gap, y.gap, sizeof *x.gap * (size_t)x.count);
    assert_memory_equal(x.state, y.state, (size_t)x.count);
    assert_memory_equal(x.bonded, y.bonded, (size_t)x.count);
    assert_true(talus_world_time(a) == talus_world_time(b));
    assert_int_equal(s->steps, t->steps);
    assert_int_equal(s->sweeps, t->sweeps);
    assert_true(s->dissipated == t->dissipated && s->input == t->input);
    assert_true(talus_world_last(a)->kinetic_energy == talus_world_last(b)->kinetic_energy);
}

static void check_copy(talus_method method, int dim, double h)
{
    talus_error error = {0};
    talus_world *world = box(method, dim), *copy = NULL, *again = NULL;
    // Before the first step, and then in the middle of it all.
    check_ok(talus_world_copy(world, &again, &error), error);
    check_ok(talus_world_steps(world, h, STEPS, NULL, &error), error);
    check_ok(talus_world_steps(again, h, STEPS, NULL, &error), error);
    check_same(world, again, "of a copy made before the first step");
    talus_world_destroy(again);
    assert_true(talus_world_contacts(world).count > SIDE);

    const uint64_t hash = talus_world_hash(world);
    check_ok(talus_world_copy(world, &copy, &error), error);
    check_ok(talus_world_validate(copy, &error), error);
    check_same(world, copy, "at once");
    check_ok(talus_world_steps(copy, h, STEPS, NULL, &error), error);
    assert_true(talus_world_hash(world) == hash); // the original does not notice
    for (int i = 0; i < STEPS; i++) check_ok(talus_world_step(world, h, NULL, &error), error);
    check_same(world, copy, "after steps");

    // What is tried on the copy is the copy's, and it outlives the original.
    check_ok(talus_world_copy(copy, &again, &error), error);
    check_ok(talus_world_remove_grain(again, 3, &error), error);
    check_ok(talus_world_steps(again, h, STEPS, NULL, &error), error);
    check_same(world, copy, "after something was tried on another copy");
    talus_world_destroy(world);
    check_ok(talus_world_steps(copy, h, STEPS, NULL, &error), error);
    check_ok(talus_world_validate(copy, &error), error);
    talus_world_destroy(copy);
    talus_world_destroy(again);
}

static void a_copy_goes_on_like_the_original(void** state)
{
    (void)state;
    check_copy(TALUS_METHOD_CONTACT, 2, 1e-3);
    check_copy(TALUS_METHOD_CONTACT, 3, 1e-3);
    check_copy(TALUS_METHOD_SOFT, 2, 2e-5);
    check_copy(TALUS_METHOD_SOFT, 3, 2e-5);
}

static void an_empty_world_can_be_copied(void** state)
{
    (void)state;
    talus_world_def def = talus_world_default();
    talus_world *world = NULL, *copy = NULL;
    assert_int_equal(talus_world_create(&def, &world, NULL), TALUS_OK);
    assert_int_equal(talus_world_copy(world, &copy, NULL), TALUS_OK);
    talus_world_destroy(world);
    talus_grain_def grain = talus_grain_default();
    grain.radius = 1.0;
    assert_int_equal(talus_world_add_grain(copy, &grain, NULL, NULL), TALUS_OK);
    assert_int_equal(talus_world_step(copy, 1e-3, NULL, NULL), TALUS_OK);
    talus_world_destroy(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_goes_on_like_the_original),
        cmocka_unit_test(an_empty_world_can_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
