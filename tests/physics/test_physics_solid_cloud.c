/// A free cloud of colliding solids: momentum, angular momentum and energy in every step.
///
/// Without gravity and walls the impulses act and react at one point, so momentum and angular
/// momentum stay whatever the solver leaves undone; moving by h v keeps sum m x cross v, and solids
/// keep their own. Balls are different: their arm ends at their surface, on this side of the gap,
/// so a tangential force F across a gap g turns the pair by at most g F.
/// With e = 0 and g+ the law takes energy only. Free turning in 3D changes it by a little, per step
/// of third order in h omega (test_physics_solid_tumbling.c).
#include "physics.h"

static const double H = 2e-3;

typedef struct sums {
    double momentum[3], turning[3], energy;
    double scale_p, scale_l;
} sums;

static sums take_sums(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    const int dim = g.dim;
    sums s = {.energy = 0.0};
    for (int64_t i = 0; i < g.count; i++) {
        double x[3] = {0}, v[3] = {0}, w[3] = {0}, tensor[9], l[3];
        for (int k = 0; k < dim; k++)
            x[k] = g.position[i * dim + k], v[k] = g.velocity[i * dim + k];
        for (int k = 0; k < g.spin_dim; k++) w[dim == 2 ? 2 : k] = g.spin[i * g.spin_dim + k];
        physics_inertia(world, i, tensor);
        for (int k = 0; k < 3; k++) {
            l[k] = tensor[3 * k] * w[0] + tensor[3 * k + 1] * w[1] + tensor[3 * k + 2] * w[2];
            s.momentum[k] += g.mass[i] * v[k];
            s.energy += 0.5 * (g.mass[i] * v[k] * v[k] + l[k] * w[k]);
            s.scale_p += g.mass[i] * fabs(v[k]);
        }
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            s.turning[k] += g.mass[i] * (x[a] * v[b] - x[b] * v[a]) + l[k];
            s.scale_l += g.mass[i] * (fabs(x[a] * v[b]) + fabs(x[b] * v[a])) + fabs(l[k]);
        }
    }
    return s;
}

/// A random convex body of about unit size.
static talus_solid_id random_solid(talus_world* world, int dim, int number, dice* d)
{
    double points[3 * 12];
    char name[32];
    const int count = dim == 2 ? 3 + number % 5 : 5 + number % 7;
    for (int i = 0; i < count; i++) {
        double p[3] = {0}, norm = 0.0;
        for (int k = 0; k < dim; k++) {
            p[k] = 2.0 * dice_roll(d) - 1.0;
            norm += p[k] * p[k];
        }
        if (dim == 2) { // on a circle, in order: never flat
            double angle = 2 * M_PI * (i + 0.5 * dice_roll(d)) / count;
            p[0] = cos(angle), p[1] = sin(angle), norm = 1.0;
        }
        for (int k = 0; k < dim; k++) points[i * dim + k] = 0.5 * p[k] / sqrt(norm);
    }
    snprintf(name, sizeof name, "solid %d", number);
    return physics_solid(world, name, points, count);
}

/// Solids, and balls if asked for, on a lattice, flying to the middle.
static talus_world* make_cloud(int dim, const talus_pair_def* pair, double tolerance, bool balls)
{
    talus_world_def def = physics_def(dim);
    def.solver.tolerance = tolerance;
    def.solver.max_sweeps = 1000;
    def.solver.separate_overlaps = false; // moving grains that pass each other changes x x v
    talus_world* world = physics_world_pair(&def, pair);
    dice d = {11};
    talus_solid_id shapes[6];
    for (int i = 0; i < 6; i++) shapes[i] = random_solid(world, dim, i, &d);
    const int side = dim == 2 ? 7 : 3, count = dim == 2 ? side * side : side * side * side;
    for (int i = 0; i < count; i++) {
        const int at[3] = {i % side, i / side % side, dim == 3 ? i / side / side : 0};
        talus_grain_def g = balls && i % 2 ? physics_ball(0.4, 0.3, 0, 0, 0)
                                           : physics_block(shapes[i % 6], 0, 0, 0);
        g.scale = 0.7 + 0.5 * dice_roll(&d);
        for (int k = 0; k < dim; k++) {
            double x = 1.3 * (at[k] - 0.5 * (side - 1));
            g.position[k] = x + 10.0;
            g.velocity[k] = -0.8 * x + 0.6 * (dice_roll(&d) - 0.5);
        }
        for (int k = dim == 2 ? 2 : 0; k < 3; k++) {
            g.spin[k] = 4.0 * (dice_roll(&d) - 0.5);
            g.rotation[k] = 6.0 * (dice_roll(&d) - 0.5);
        }
        physics_add(world, &g);
    }
    return world;
}

/// Sum of gap times impulse over the contacts of balls in the last step.
static double gap_moment(const talus_world* world)
{
    talus_contacts c = talus_world_contacts(world);
    talus_grains g = talus_world_grains(world);
    double sum = 0.0;
    for (int64_t i = 0; i < c.count; i++) {
        double f2 = 0.0;
        if (g.solid[c.a[i]].index >= 0 && g.solid[c.b[i]].index >= 0) continue;
        for (int k = 0; k < c.dim; k++) f2 += c.force[i * c.dim + k] * c.force[i * c.dim + k];
        sum += fabs(c.gap[i]) * H * sqrt(f2);
    }
    return sum;
}

typedef struct cloud_case {
    const char* name;
    talus_pair_def pair;
    double tolerance;
    bool balls, takes_energy; ///< takes_energy: no step may gain any
} cloud_case;

/// What the steps of a cloud did at worst.
typedef struct worst {
    double momentum, turning, gain;
} worst;

static worst run_cloud(int dim, const cloud_case* c)
{
    const int steps = test_count(500, 300); // they meet after 200
    talus_pair_def pair = c->pair;
    pair.mark = talus_pair_default().mark;
    talus_world* world = make_cloud(dim, &pair, c->tolerance, c->balls);
    sums before = take_sums(world);
    const double start = before.energy;
    worst w = {0.0, 0.0, -INFINITY};
    int64_t touching = 0;
    for (int i = 0; i < steps; i++) {
        touching += physics_step(world, H).active;
        sums now = take_sums(world);
        const double allowed = gap_moment(world);
        for (int k = 0; k < 3; k++) {
            const double turned = fabs(now.turning[k] - before.turning[k]) - allowed;
            const double moved = fabs(now.momentum[k] - before.momentum[k]);
            w.momentum = fmax(w.momentum, moved / now.scale_p);
            w.turning = fmax(w.turning, turned / now.scale_l);
        }
        w.gain = fmax(w.gain, (now.energy - before.energy) / start);
        before = now;
    }
    printf("%dD, %s: %.2f active contacts a step, energy left %.3g\n", dim, c->name,
           (double)touching / steps, before.energy / start);
    assert_true(touching > 10);
    talus_world_destroy(world);
    return w;
}

static void check_cloud(int dim, const cloud_case* c)
{
    const worst w = run_cloud(dim, c);
    check_below("  momentum", w.momentum, 64 * DBL_EPSILON, "rounding of a sum of 50 grains");
    // A solid in space that is hit on its way goes on with the axes of inertia that it had when the
    // step began; its spin keeps its energy.
    const bool hit = dim == 3 && c->pair.restitution > 0.0;
    check_below("  angular momentum", w.turning, hit ? pow(H * 3.5, 2) : 64 * DBL_EPSILON,
                hit ? "second order in h omega" : "the same");
    // A contact that begins without an impact leaves along its chord (docs/theory.md, "Second
    // order"), with (h omega)^2/8 of the energy of its bodies; in space turning adds third order.
    const double free = pow(H * 3.5, 2) / 8.0 + (dim == 2 ? 0.0 : pow(H * 3.5, 3));
    if (!c->takes_energy) return;
    check_below("  gain of energy in a step", w.gain, free,
                "second order in h omega, omega up to 3.5 at the start");
}

static void sums_are_kept_in_every_step(void** state)
{
    (void)state;
    const cloud_case cases[] = {
        {"no friction", {.friction = 0.0}, 1e-8, false, true},
        {"friction", {.friction = 0.5}, 1e-8, false, true},
        {"friction, badly solved", {.friction = 0.5}, 1e-2, false, false},
        {"rolling and torsion",
         {.friction = 0.5, .rolling = 0.02, .torsion = 0.02},
         1e-6,
         false,
         true},
        {"two frictions", {.friction = 0.5, .dynamic_friction = 0.2}, 1e-6, false, true},
        {"rebound", {.friction = 0.3, .restitution = 0.7}, 1e-6, false, false},
        {"bonds",
         {.friction = 0.3, .cohesion_force = 1, .cohesion_energy = 0.01},
         1e-4,
         false,
         false},
        {"solids and balls", {.friction = 0.5}, 1e-6, true, true},
        {"solids and balls, rolling", {.friction = 0.5, .rolling = 0.02}, 1e-6, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int dim = 2; dim <= 3; dim++) check_cloud(dim, &cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_kept_in_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
