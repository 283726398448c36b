/// Impacts of solids in the order in which they happen (rigid/impacts.h): whatever the step, energy
/// neither grows nor vanishes where e = 1 and nothing rubs, and momentum stays.
#include "physics.h"

#include "base/rng.h"

static talus_world* elastic_world(int dim, double e, double mu)
{
    talus_world_def def = physics_def(dim);
    talus_pair_def pair = talus_pair_default();
    pair.restitution = pair.tangential_restitution = e;
    if (mu == 0.0) pair.tangential_restitution = 0.0;
    pair.friction = mu;
    return physics_world_pair(&def, &pair);
}

static double momentum(const talus_world* world, int axis)
{
    const talus_grains g = talus_world_grains(world);
    double sum = 0.0;
    for (int64_t i = 0; i < g.count; i++) sum += g.mass[i] * g.velocity[i * g.dim + axis];
    return sum;
}

/// Five cubes (2D: squares) in a row, with and without gaps; the first comes with speed 1 and the
/// last leaves with it.
static void cradle_of_cubes(void** state)
{
    (void)state;
    const double steps[3] = {1e-3, 0.02, 0.25}, gaps[2] = {0.0, 0.01};
    for (int variant = 0; variant < 12; variant++) {
        const int dim = 2 + variant / 6;
        const double h = steps[variant % 3], gap = gaps[variant / 3 % 2];
        talus_world* world = elastic_world(dim, 1.0, 0.0);
        const talus_solid_id cube = physics_box_solid(world, "cube", dim, 1, 1, 1);
        for (int i = 0; i < 5; i++) {
            talus_grain_def g = physics_block(cube, i == 0 ? -0.3 : i * (1.0 + gap), 0, 0);
            g.velocity[0] = i == 0 ? 1.0 : 0.0;
            physics_add(world, &g);
        }
        const double energy = physics_kinetic_energy(world);
        for (int i = 0; i < (int)ceil(1.0 / h); i++) physics_step(world, h);
        printf("     %dD, gap %g, h %g: energy %.13f, speeds", dim, gap, h,
               physics_kinetic_energy(world) / energy);
        for (int i = 0; i < 5; i++) printf(" %.3g", grain_v(world, i, 0));
        printf("\n");
        check_close("energy", physics_kinetic_energy(world) / energy, 1.0, 1e-12, "rounding");
        check_close("the last", grain_v(world, 4, 0), 1.0, 1e-12, "rounding");
        for (int i = 0; i < 4; i++) {
            check_close("the others", grain_v(world, i, 0), 0.0, 1e-12, "rounding");
        }
        talus_world_destroy(world);
    }
}

/// A square (3D: cube) that turns breaks a triangle of fifteen, which stand at random angles.
static talus_world* rack_of_solids(int dim, double e, double mu, double gap, double* energy)
{
    talus_world* world = elastic_world(dim, e, mu);
    const double half = 0.03, across = 2.0 * half * (gap > 0.0 ? sqrt((double)dim) : 1.0);
    const double pitch = across * (1.0 + gap);
    const talus_solid_id cube = physics_box_solid(world, "cube", dim, 2 * half, 2 * half, 2 * half);
    dice d = {7};
    for (int row = 0; row < 5; row++) {
        for (int i = 0; i <= row; i++) {
            talus_grain_def g = physics_block(cube, pitch * row, pitch * (i - 0.5 * row), 0);
            for (int k = 0; k < 3 && gap > 0.0; k++) {
                if (dim == 3 || k == 2) g.rotation[k] = 3.0 * dice_roll(&d);
            }
            physics_add(world, &g);
        }
    }
    talus_grain_def first = physics_block(cube, -0.2, 0.2 * half, 0);
    first.velocity[0] = 5.0;
    first.spin[2] = 20.0;
    physics_add(world, &first);
    *energy = physics_kinetic_energy(world);
    return world;
}

/// The longest step is one in which the first one moves by a half of its half width.
static void rack_of_solids_is_broken(void** state)
{
    (void)state;
    const double steps[3] = {2e-4, 1e-3, 0.5 * 0.03 / 5.0}, gaps[3] = {0.0, 0.002, 0.05};
    for (int variant = 0; variant < 18; variant++) {
        const int dim = 2 + variant / 9;
        const double h = steps[variant % 3], gap = gaps[variant / 3 % 3];
        double energy;
        talus_world* world = rack_of_solids(dim, 1.0, 0.0, gap, &energy);
        const double before = momentum(world, 0);
        double overlap = 0.0, off = 0.0;
        for (int i = 0; i < (int)ceil(0.2 / h); i++) {
            overlap = fmax(overlap, physics_step(world, h).overlap_thickness_max);
            off = fmax(off, fabs(physics_kinetic_energy(world) / energy - 1.0));
        }
        printf("     %dD, gap %g, h %g: energy %.1e off, overlap %.2g\n", dim, gap, h, off,
               overlap);
        check_below("energy", off, 1e-11, "rounding of some hundred impacts");
        check_close("momentum", momentum(world, 0) / before, 1.0, 1e-13, "rounding");
        check_below("overlap", overlap, 0.01, "what curved ways leave, of second order in h");
        talus_world_destroy(world);
    }
}

/// With friction, and with e < 1, nothing is gained.
static void rough_solids_gain_nothing(void** state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        const int dim = 2 + variant / 4;
        const double h = variant % 2 ? 1e-3 : 3e-3, e = variant / 2 % 2 ? 0.5 : 1.0;
        double energy;
        talus_world* world = rack_of_solids(dim, e, 0.3, 0.002, &energy);
        double gain = 0.0, last = energy;
        for (int i = 0; i < (int)ceil(0.2 / h); i++) {
            physics_step(world, h);
            const double now = physics_kinetic_energy(world);
            gain = fmax(gain, (now - last) / energy);
            last = now;
        }
        printf("     %dD, e %g, h %g: energy left %.3f, largest gain %.1e\n", dim, e, h,
               last / energy, gain);
        check_below("gain in a step", gain, 1e-3, "as in the rack without friction");
        talus_world_destroy(world);
    }
}

/// Squares and cubes fall in a heap and bounce on it: what hits a packing, and what impacts of
/// others bring together, is held. At this step a fast one moves by a tenth of its edge. (Given
/// away to the next step's impacts they overlapped by up to 5 %; without restitution they do by
/// 0.03 %.)
static void heap_that_bounces(void** state)
{
    (void)state;
    const double edge = 0.05, h = 1e-3;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = talus_world_default();
        talus_pair_def law = talus_pair_default();
        def.dim = dim;
        def.gravity[dim - 1] = -9.81;
        law.friction = 0.3, law.restitution = 0.6;
        talus_world* world = physics_world_pair(&def, &law);
        physics_container(world, dim, dim == 2 ? 0.4 : 0.16, 2.0);
        talus_solid_id shape = physics_box_solid(world, "block", dim, edge, edge, edge);
        rng r = rng_make(19, 4, (uint64_t)dim);
        const int wide = dim == 2 ? 8 : 3, deep = dim == 2 ? 1 : 3;
        for (int i = 0; i < 10 * wide * deep; i++) {
            const double across = 0.09 * (i % wide - 0.5 * (wide - 1));
            const double up = 0.06 + 0.09 * (i / (wide * deep));
            const double into = 0.09 * (i / wide % deep - 0.5 * (deep - 1));
            talus_grain_def g = physics_block(shape, across, dim == 2 ? up : into, up);
            for (int k = 0; k < 3; k++) g.rotation[k] = dim == 3 || k == 2 ? rng_uniform(&r) : 0.0;
            g.velocity[dim - 1] = -2.0;
            physics_add(world, &g);
        }
        double overlap = 0.0;
        for (int i = 0; i < (int)(0.6 / h); i++) {
            overlap = fmax(overlap, physics_step(world, h).overlap_thickness_max);
        }
        printf("     %dD: overlap %.2g of the edge\n", dim, overlap);
        check_below("overlap", overlap, 0.02, "a fifth of the way in a step");
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cradle_of_cubes),
        cmocka_unit_test(rack_of_solids_is_broken),
        cmocka_unit_test(rough_solids_gain_nothing),
        cmocka_unit_test(heap_that_bounces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
