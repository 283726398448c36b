/// Many grains: isostatic packings, momentum and energy balance of every step, the container's
/// load.
#include "physics.h"

/// Close the packing in between fixed planes and pistons with unit pressure, one piston an axis.
static void add_press(talus_world* world, int dim)
{
    talus_grains g = talus_world_grains(world);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < g.count; i++) {
        for (int k = 0; k < dim; k++) {
            low[k] = fmin(low[k], g.position[i * dim + k] - g.radius[i]);
            high[k] = fmax(high[k], g.position[i * dim + k] + g.radius[i]);
        }
    }
    const char* name[3][2] = {{"x-", "x+"}, {"y-", "y+"}, {"z-", "z+"}};
    for (int k = 0; k < dim; k++) {
        talus_wall_def def = physics_plane_def(name[k][0], k == 0, k == 1, k == 2);
        def.position[k] = low[k];
        physics_wall(world, &def);
        def = physics_plane_def(name[k][1], -(k == 0), -(k == 1), -(k == 2));
        def.position[k] = high[k];
        def.drive.kind = TALUS_DRIVE_FORCE;
        def.drive.free_axes[k] = true;
        def.drive.mass = 5.0;
        def.drive.damping = 10.0;
        def.drive.force[k] = -1.0;
        for (int j = 0; j < dim; j++) def.drive.force[k] *= j == k ? 1.0 : high[j] - low[j];
        physics_wall(world, &def);
    }
}

/// Contacts that carry more than `share` of the mean force.
static void count_strong(const talus_world* world, double share, int64_t* walls, int64_t* grains)
{
    talus_contacts c = talus_world_contacts(world);
    double sum = 0.0;
    *walls = *grains = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < c.count; i++) {
            double f = 0.0;
            for (int k = 0; k < c.dim; k++) f += c.force[i * c.dim + k] * c.force[i * c.dim + k];
            if (pass == 0) {
                sum += sqrt(f);
            } else if (sqrt(f) > share * sum / (double)talus_world_last(world)->active) {
                *(c.a[i] < 0 ? walls : grains) += 1;
            }
        }
    }
}

/// A frictionless disordered packing is isostatic: as many contacts as degrees of freedom of the
/// grains that carry force and of the pistons; more would need distances that fit by chance, fewer
/// could not balance. So Z = 2 dim exactly, when a contact with a wall is counted as one between
/// grains and the pistons' own degrees of freedom are taken off. Law with g: each closed gap is 0,
/// not an overlap.
static void frictionless_packing_is_isostatic(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const uint64_t seeds = dim == 2 ? (uint64_t)test_count(2, 1) : 1;
        for (uint64_t seed = 7; seed < 7 + seeds; seed++) {
            talus_world_def def = physics_def(dim);
            def.drag = 2.0;
            def.solver.push_out_overlap = true;
            def.solver.tolerance = 1e-4; // while it is compacted
            def.solver.max_sweeps = 2000;
            talus_world* world = physics_world(&def, 0.0);
            dice d = {seed};
            const int n = dim == 2 ? test_count(60, 40) : test_count(50, 30);
            physics_fill(world, dim, n, dim == 2 ? 4.0 : 2.5, 0.5, 0.2, &d);
            add_press(world, dim);
            physics_steps(world, 0.1, 300);
            def.solver.tolerance = 1e-10;
            def.solver.max_sweeps = 50000;
            talus_error error;
            check_ok(talus_world_set_solver(world, &def.solver, &error), error);
            for (int i = 0; i < 1500 && (i < 5 || talus_world_last(world)->kinetic_energy > 1e-13);
                 i++) {
                physics_step(world, 0.1);
            }
            check_below(
                "at rest: kinetic energy", talus_world_last(world)->kinetic_energy, 1e-12,
                "forces of order 1 with errors of 1e-10 (L/d)^2 move grains by 1e-8 m/s at most");

            talus_coordination z;
            check_ok(talus_measure_coordination(world, 1e-6, false, NULL, &z, &error), error);
            int64_t walls, grains;
            count_strong(world, 1e-6, &walls, &grains);
            const double bearing = (double)(n - z.rattlers);
            printf("%d grains, %lld rattlers, %lld + %lld contacts, Z = %.4f\n", n,
                   (long long)z.rattlers, (long long)grains, (long long)walls, z.backbone);
            assert_true(bearing > 0.6 * n);
            check_close(dim == 2 ? "Z = 4" : "Z = 6",
                        2.0 * (double)(grains + walls - dim) / bearing, 2.0 * dim, 1e-12,
                        "whole numbers: contacts = dim * grains + pistons, exactly");
            check_close("measured backbone Z", z.backbone, (double)(2 * grains + walls) / bearing,
                        1e-12, "the same contacts counted once at a wall; roundoff");
            talus_world_destroy(world);
        }
    }
}

/// Change of momentum over a step = h (weight + forces of the walls), whatever the solver's
/// tolerance: contacts between grains cancel, and wall forces are what the grains felt.
static void momentum_balance_every_step(void** state)
{
    (void)state;
    const double g[3] = {0.3, -0.2, -9.81}, h = 2e-3;
    const int n = 150;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = physics_def(dim);
        def.gravity[0] = g[0];
        def.gravity[dim - 1] = g[2];
        def.solver.stop = TALUS_STOP_SWEEPS; // far from converged on purpose
        def.solver.max_sweeps = 7;
        talus_world* world = physics_world(&def, 0.5);
        talus_wall_id box = physics_container(world, dim, 2.0, 40.0);
        dice d = {3};
        physics_fill(world, dim, n, 2.0, 0.25, 0.3, &d);
        const double mass = physics_total_mass(world);
        double before[3], after[3], worst = 0.0, largest = 0.0;
        talus_measure_momentum(world, before);
        for (int i = 0; i < test_count(1000, 300); i++) {
            physics_step(world, h);
            talus_measure_momentum(world, after);
            for (int k = 0; k < dim; k++) {
                double impulse = h * (mass * def.gravity[k] - wall_force(world, box, k));
                worst = fmax(worst, fabs(after[k] - before[k] - impulse));
                largest = fmax(largest, fabs(h * wall_force(world, box, k)));
            }
            memcpy(before, after, sizeof before);
        }
        check_below(
            "momentum defect of a step", worst, 100 * DBL_EPSILON * mass * 10.0,
            "rounding of about 500 contacts' impulses on grains of speed up to 10 m/s, as a "
            "random walk: sqrt(500) eps m v, times 5");
        check_below("walls do push", 100 * worst, largest, "so the balance is no trivial zero");
        talus_world_destroy(world);
    }
}

static double potential_energy(const talus_world* world)
{
    const talus_measure_def def = talus_measure_default();
    talus_energy e;
    talus_error error;
    check_ok(talus_measure_energy(world, &def, &e, &error), error);
    return e.potential;
}

/// A gas of grains in a closed box, or a falling heap: with g+ a step never adds energy. In exact
/// arithmetic KE' + PE' = KE + PE - sum p g+/h - mu p |u_t| - |M dv|^2/2, all taken away.
static void energy_never_grows(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int heavy = 0; heavy <= 1; heavy++) {
            talus_world_def def = physics_def(dim);
            def.gravity[dim - 1] = heavy ? -9.81 : 0.0;
            def.solver.tolerance = 1e-9;
            def.solver.max_sweeps = 5000;
            talus_world* world = physics_world(&def, 0.4);
            physics_container(world, dim, 2.0, 6.0);
            dice d = {11};
            physics_fill(world, dim, dim == 2 ? 60 : 100, 2.0, 0.2, 0.3, &d);
            talus_grains g = talus_world_grains(world);
            double energy = potential_energy(world), first = 0.0;
            const talus_editable_grains kicked = physics_edit(world);
            for (int64_t i = 0; i < g.count * dim; i++) kicked.velocity[i] = 4 * dice_roll(&d) - 2;
            for (int64_t i = 0; i < g.count; i++) {
                for (int k = 0; k < dim; k++) {
                    first += 0.5 * g.mass[i] * g.velocity[i * dim + k] * g.velocity[i * dim + k];
                }
            }
            energy += first;
            double growth = -INFINITY, kinetic = first;
            for (int i = 0; i < test_count(400, 150); i++) {
                talus_step_result r = physics_step(world, 2e-3);
                double now = r.kinetic_energy + potential_energy(world);
                growth = fmax(growth, now - energy);
                energy = now;
                kinetic = r.kinetic_energy;
            }
            check_below("largest growth of energy in a step", growth, 1e-8 * first,
                        "solver tolerance 1e-9: an impulse off by e |p| does work e |p| |u|");
            if (!heavy)
                check_below("energy was lost", kinetic, 0.8 * first, "collisions dissipate");
            talus_world_destroy(world);
        }
    }
}

/// The counter-test: with plain g an overlap is turned into motion.
static void plain_g_adds_energy(void** state)
{
    (void)state;
    for (int push = 0; push <= 1; push++) {
        talus_world_def def = physics_def(2);
        def.solver.push_out_overlap = push;
        def.solver.separate_overlaps = false;
        talus_world* world = physics_world(&def, 0.4);
        for (int i = 0; i < 10; i++) {
            talus_grain_def ball = physics_ball(0.5, 1.0, 0.999 * i, 0, 0);
            physics_add(world, &ball);
        }
        double energy = physics_step(world, 0.01).kinetic_energy;
        // Symmetric chain: grain i moves with (i - 4.5) 0.001/0.01 m/s; sum of squares 82.5 * 0.01.
        check_close(push ? "plain g" : "g+", energy, push ? 0.5 * 82.5 * 0.01 : 0.0, 1e-9,
                    "solver tolerance 1e-13 times (L/d)^2 = 100, doubled by the square");
        talus_world_destroy(world);
    }
}

/// A settled heap: floor and sides carry the weight together.
static void container_carries_the_weight(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = physics_def(dim);
        def.gravity[dim - 1] = -9.81;
        def.drag = 0.3;
        def.solver.tolerance = 1e-5;
        def.solver.max_sweeps = 1000;
        talus_world* world = physics_world(&def, 0.5);
        talus_wall_id box = physics_container(world, dim, 2.0, 40.0);
        dice d = {5};
        physics_fill(world, dim, dim == 2 ? 60 : 100, 2.0, 0.25, 0.2, &d);
        physics_steps(world, 5e-3, 900); // columns topple, then the heap settles
        double before[3], after[3];
        talus_measure_momentum(world, before);
        physics_step(world, 5e-3);
        talus_measure_momentum(world, after);
        const double weight = 9.81 * physics_total_mass(world);
        double unrest = 0.0;
        for (int k = 0; k < dim; k++) unrest += fabs(after[k] - before[k]) / 5e-3;
        talus_grains g = talus_world_grains(world);
        for (int64_t i = 0; i < g.count * dim; i++) unrest += def.drag * fabs(g.velocity[i]);
        check_below("unrest", unrest, 0.05 * weight, "settled but for a few rolling grains");
        const double tolerance = unrest + 1e-12 * weight;
        check_close(
            "container carries the weight", wall_force(world, box, dim - 1), -weight, tolerance,
            "what the grains still accelerate and lose to drag, as just measured; roundoff");
        check_close("sides balance", wall_force(world, box, 0), 0.0, tolerance, "the same");
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frictionless_packing_is_isostatic),
        cmocka_unit_test(momentum_balance_every_step),
        cmocka_unit_test(energy_never_grows),
        cmocka_unit_test(plain_g_adds_energy),
        cmocka_unit_test(container_carries_the_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
