/// A dropped solid comes to rest, exactly: from some step on its position does not change by a bit.
///
/// It is let fall tilted and turning on a plane, on a fixed box, or on a mesh, with friction and
/// without restitution. Lying flat, gaps are 0 or rounding, g+ makes no velocity of overlaps, and
/// the carried-over impulses leave velocities of rounding size, whose way h v is lost in the
/// position. An angle near 0 holds smaller numbers than that: it is asked for as 1 + angle.
#include "physics.h"

static const double G = 9.81, H = 1e-3;

enum floor_kind { PLANE, BLOCK, MESH };

static void add_floor(talus_world* world, int dim, enum floor_kind kind)
{
    if (kind == PLANE) {
        physics_plane(world, "floor", 0, dim == 2, dim == 3);
    } else if (kind == BLOCK) {
        talus_solid_id slab = physics_box_solid(world, "slab", dim, 20, dim == 2 ? 1 : 20, 1);
        talus_grain_def g = physics_block(slab, 0.3, dim == 2 ? -0.5 : 0.1, -0.5);
        g.fixed = true;
        physics_add(world, &g);
    } else {
        const double a = 10.0;
        const double corners[2][9] = {{-a, -a, 0, a, -a, 0, a, a, 0},
                                      {-a, -a, 0, a, a, 0, -a, a, 0}};
        talus_wall_def def = talus_wall_default();
        def.name = "mesh";
        def.shape.kind = TALUS_SHAPE_MESH;
        def.shape.triangles = &corners[0][0];
        def.shape.triangle_count = 2;
        physics_wall(world, &def);
    }
}

static talus_solid_id add_shape(talus_world* world, int dim, int kind)
{
    double corners[3 * 24];
    int count = 0;
    if (kind == 0) return physics_box_solid(world, "box", dim, 1.0, 0.7, 0.5);
    for (int i = 0; i < 6; i++) { // a regular hexagon, a prism of it
        for (int k = 0; k < (dim == 2 ? 1 : 2); k++, count++) {
            corners[count * dim] = 0.5 * cos(i * M_PI / 3);
            corners[count * dim + 1] = 0.5 * sin(i * M_PI / 3);
            if (dim == 3) corners[count * dim + 2] = k ? 0.4 : -0.4;
        }
    }
    return physics_solid(world, "hexagon", corners, count);
}

static const char* const FLOORS[] = {"plane", "block", "mesh"};

static void check_rest(int dim, enum floor_kind kind, int shape_kind)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    talus_world* world = physics_world(&def, 0.5);
    add_floor(world, dim, kind);
    talus_grain_def g =
        physics_block(add_shape(world, dim, shape_kind), 0.02, dim == 2 ? 1.1 : 0.03, 1.1);
    g.rotation[dim == 2 ? 2 : 0] = 0.3;
    g.rotation[dim == 2 ? 2 : 1] = -0.2;
    g.spin[dim == 2 ? 2 : 1] = 1.0;
    const int64_t id = physics_add(world, &g);
    const int most = 10000, quiet = 1000;
    int still = 0, steps = 0;
    double last[3] = {0}, turned[4] = {0}, energy = 0.0;
    while (still < quiet && steps++ < most) {
        energy = physics_step(world, H).kinetic_energy;
        bool same = true;
        // Velocities of rounding, 1e-18 m/s, move what lies near 0 by less than any place rounds
        // to.
        for (int k = 0; k < dim; k++) same = same && 1.0 + grain_x(world, id, k) == 1.0 + last[k];
        for (int k = 0; k < (dim == 2 ? 1 : 4); k++)
            same = same && 1.0 + grain_q(world, id, k) == 1.0 + turned[k];
        for (int k = 0; k < dim; k++) last[k] = grain_x(world, id, k);
        for (int k = 0; k < 4; k++) turned[k] = grain_q(world, id, k);
        still = same ? still + 1 : 0;
    }
    printf("%dD, %s on a %s: still from step %d on, energy %.3g J\n", dim,
           shape_kind ? "hexagon" : "box", FLOORS[kind], steps - still, energy);
    assert_int_equal(still, quiet);
    const double noise = 16 * DBL_EPSILON * (G * H + 1e-3);
    check_below("  kinetic energy", energy, noise * noise,
                "velocities of rounding: epsilon of the weight's impulse and of gaps/h");
    talus_world_destroy(world);
}

static void dropped_solids_lie_still(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int kind = PLANE; kind <= (dim == 2 ? BLOCK : MESH); kind++) {
            for (int shape = 0; shape < 2; shape++) check_rest(dim, (enum floor_kind)kind, shape);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropped_solids_lie_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
