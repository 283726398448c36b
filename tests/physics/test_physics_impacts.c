/// Impacts in the order in which they happen (rigid/impacts.h).
///
/// What balls with restitution do in a step is compared with an event-driven simulation, written
/// down here once more and as simply as possible: all pairs are looked at, the earliest touch is
/// taken, two balls collide. It knows no steps. Where the outcome of many impacts is chaotic, or
/// not defined because several happen at the same moment, energy and momentum are compared.
#include "physics.h"

static talus_pair_def bounce_pair(double mu, double e, double tangential)
{
    talus_pair_def pair = talus_pair_default();
    pair.friction = mu;
    pair.restitution = e;
    pair.tangential_restitution = tangential;
    return pair;
}

// ---- the event-driven simulation ---------------------------------------------------------------

enum { MOST_BALLS = 100 };

/// Smooth balls in a box [0, box]^dim (0: without walls), without external forces.
typedef struct billiard {
    int dim, count;
    double box, e;
    double x[MOST_BALLS][3], v[MOST_BALLS][3], r[MOST_BALLS], m[MOST_BALLS];
    int64_t impacts;
} billiard;

static double time_of_pair(const billiard* b, int i, int j)
{
    double dv = 0.0, vv = 0.0, dd = 0.0;
    const double touch = b->r[i] + b->r[j];
    for (int k = 0; k < b->dim; k++) {
        const double d = b->x[j][k] - b->x[i][k], v = b->v[j][k] - b->v[i][k];
        dv += d * v, vv += v * v, dd += d * d;
    }
    const double root2 = dv * dv - vv * (dd - touch * touch);
    if (dv >= 0.0 || root2 <= 0.0) return INFINITY;
    return fmax((dd - touch * touch) / (-dv + sqrt(root2)), 0.0);
}

static double time_of_wall(const billiard* b, int i, int side)
{
    const int k = side / 2;
    const double v = b->v[i][k], r = b->r[i];
    if (b->box == 0.0 || k >= b->dim || (side % 2 ? v <= 0.0 : v >= 0.0)) return INFINITY;
    return fmax((side % 2 ? b->box - r - b->x[i][k] : r - b->x[i][k]) / v, 0.0);
}

static void collide_pair(billiard* b, int i, int j)
{
    double n[3] = {0}, distance = 0.0, u = 0.0;
    for (int k = 0; k < b->dim; k++) n[k] = b->x[j][k] - b->x[i][k], distance += n[k] * n[k];
    for (int k = 0; k < b->dim; k++) {
        n[k] /= sqrt(distance);
        u += n[k] * (b->v[j][k] - b->v[i][k]);
    }
    const double p = -(1.0 + b->e) * u / (1.0 / b->m[i] + 1.0 / b->m[j]);
    for (int k = 0; k < b->dim; k++) {
        b->v[i][k] -= p * n[k] / b->m[i];
        b->v[j][k] += p * n[k] / b->m[j];
    }
}

static void billiard_run(billiard* b, double time)
{
    for (;;) {
        double first = time;
        int i_first = -1, j_first = -1;
        for (int i = 0; i < b->count; i++) {
            for (int j = i + 1; j < b->count + 6; j++) {
                const double t =
                    j < b->count ? time_of_pair(b, i, j) : time_of_wall(b, i, j - b->count);
                if (t < first) first = t, i_first = i, j_first = j;
            }
        }
        for (int i = 0; i < b->count; i++) {
            for (int k = 0; k < b->dim; k++) b->x[i][k] += first * b->v[i][k];
        }
        time -= first;
        if (i_first < 0) return;
        b->impacts++;
        if (j_first < b->count) {
            collide_pair(b, i_first, j_first);
        } else {
            b->v[i_first][(j_first - b->count) / 2] *= -b->e;
        }
    }
}

static double billiard_energy(const billiard* b)
{
    double sum = 0.0;
    for (int i = 0; i < b->count; i++) {
        for (int k = 0; k < b->dim; k++) sum += 0.5 * b->m[i] * b->v[i][k] * b->v[i][k];
    }
    return sum;
}

/// The same balls in a world.
static talus_world* world_of(const billiard* b)
{
    talus_world_def def = physics_def(b->dim);
    const talus_pair_def pair = bounce_pair(0.0, b->e, 0.0);
    talus_world* world = physics_world_pair(&def, &pair);
    for (int k = 0; k < b->dim && b->box > 0.0; k++) {
        const double n[3] = {k == 0, k == 1, k == 2};
        char low[8] = "low0", high[8] = "high0";
        low[3] = high[4] = (char)('0' + k);
        physics_plane(world, low, n[0], n[1], n[2]);
        physics_plane_at(world, high, -n[0], -n[1], -n[2], b->box * n[0], b->box * n[1],
                         b->box * n[2]);
    }
    for (int i = 0; i < b->count; i++) {
        talus_grain_def ball = physics_ball(b->r[i], b->m[i], b->x[i][0], b->x[i][1], b->x[i][2]);
        for (int k = 0; k < b->dim; k++) ball.velocity[k] = b->v[i][k];
        physics_add(world, &ball);
    }
    return world;
}

/// Largest difference of a velocity and of a place.
static double velocity_off(const talus_world* world, const billiard* b)
{
    double worst = 0.0;
    for (int i = 0; i < b->count; i++) {
        for (int k = 0; k < b->dim; k++) {
            worst = fmax(worst, fabs(grain_v(world, i, k) - b->v[i][k]));
        }
    }
    return worst;
}

static double place_off(const talus_world* world, const billiard* b)
{
    double worst = 0.0;
    for (int i = 0; i < b->count; i++) {
        for (int k = 0; k < b->dim; k++) {
            worst = fmax(worst, fabs(grain_x(world, i, k) - b->x[i][k]));
        }
    }
    return worst;
}

static void add_ball(billiard* b, double r, double m, double x, double y, double z)
{
    const int i = b->count++;
    b->r[i] = r, b->m[i] = m;
    b->x[i][0] = x, b->x[i][1] = y, b->x[i][2] = z;
}

// ---- scenes ------------------------------------------------------------------------------------

/// Newton's cradle of five: `moving` of them arrive with velocity 1, the others touch or have gaps.
/// With gaps the sequence of impacts is unique. Without them it is so for one ball that arrives:
/// the blow goes from ball to ball, as in steel; for several with e = 1 as many leave as arrive.
static void cradle(void** state)
{
    (void)state;
    const double r = 0.1, steps[4] = {1e-4, 1e-3, 0.01, 0.05};
    for (int variant = 0; variant < 4 * 3 * 3 * 2; variant++) {
        const double h = steps[variant % 4], e = variant / 36 ? 0.8 : 1.0;
        const int moving = 1 + variant / 4 % 3, gaps = variant / 12 % 3;
        dice d = {5 + (uint64_t)variant};
        billiard b = {.dim = 2, .e = e};
        double x = 0.0, momentum = 0.0;
        for (int i = 0; i < 5; i++) {
            add_ball(&b, r, 1.0, x, 0.0, 0.0);
            b.v[i][0] = i < moving;
            x += 2 * r;
            if (i == moving - 1) x += 0.0205;
            if (gaps == 1) x += 0.002 * r;
            if (gaps == 2) x += 0.01 * r * dice_roll(&d);
        }
        talus_world* world = world_of(&b);
        const int count = (int)ceil(0.5 / h);
        physics_steps(world, h, count);
        billiard_run(&b, h * count);
        for (int i = 0; i < 5; i++) momentum += grain_v(world, i, 0);
        check_close("momentum", momentum, moving, 1e-14 * moving, "rounding");
        if (e == 1.0 || gaps > 0 || moving == 1) {
            const double weak = e == 1.0 ? 1e-12 : 0.01 * sqrt(1 - e * e);
            check_close("energy", physics_kinetic_energy(world) / billiard_energy(&b), 1.0,
                        fmax(weak * weak, 1e-12), "square of the weakest impacts that count");
            check_below("velocities", velocity_off(world, &b), fmax(weak, 1e-12),
                        "weakest impacts that count; rounding");
        }
        talus_world_destroy(world);
    }
}

/// A ball breaks a triangle of fifteen.
static billiard rack(double gap, bool random, double e, uint64_t seed)
{
    const double r = 0.03;
    billiard b = {.dim = 2, .e = e};
    dice d = {seed};
    for (int row = 0; row < 5; row++) {
        for (int i = 0; i <= row; i++) {
            const double pitch = 2 * r * (1 + gap);
            const double shake = random ? gap * r : 0.0;
            add_ball(&b, r, 1.0, 0.5 * sqrt(3.0) * pitch * row + shake * (dice_roll(&d) - 0.5),
                     pitch * (i - 0.5 * row) + shake * (dice_roll(&d) - 0.5), 0.0);
        }
    }
    add_ball(&b, r, 1.0, -0.3, 0.2 * r, 0.0);
    b.v[15][0] = 5.0;
    return b;
}

/// The longest step is one in which the first ball moves by its diameter. A row without gaps has
/// impacts at the same moment: what they do together is not defined, but energy and momentum are.
static void rack_is_broken(void** state)
{
    (void)state;
    const double gaps[4] = {0.0, 0.002, 0.002, 0.05}, r = 0.03;
    const double steps[4] = {1e-4, 1e-3, 0.5 * r / 5.0, 2.0 * r / 5.0};
    for (int variant = 0; variant < 16; variant++) {
        const int kind = variant / 4, count = (int)ceil(0.3 / steps[variant % 4]);
        const double h = steps[variant % 4];
        billiard b = rack(gaps[kind], kind == 2, 1.0, 3);
        talus_world* world = world_of(&b);
        double py = 0.0, px = 0.0;
        for (int i = 0; i < count; i++) assert_true(physics_step(world, h).converged);
        for (int i = 0; i < 16; i++) px += grain_v(world, i, 0), py += grain_v(world, i, 1);
        billiard_run(&b, h * count);
        printf("     gap %g%s, h %g: energy %.12f, velocities off by %.2g after %d impacts\n",
               gaps[kind], kind == 2 ? " and random" : "", h, physics_kinetic_energy(world) / 12.5,
               velocity_off(world, &b), (int)b.impacts);
        check_close("energy", physics_kinetic_energy(world) / 12.5, 1.0, 1e-12, "rounding");
        check_close("momentum along", px / 5.0, 1.0, 1e-13, "rounding");
        check_close("momentum across", py / 5.0, 0.0, 1e-13, "rounding");
        if (kind > 0) {
            check_below("velocities", velocity_off(world, &b), 1e-9,
                        "rounding, which every impact may make ten times larger");
            check_below("places", place_off(world, &b), 1e-9, "likewise");
        }
        talus_world_destroy(world);
    }
}

/// A gas of hard balls in a box: its energy is that of the reference, at any step.
static billiard gas(int dim, double e, int count)
{
    billiard b = {.dim = dim, .e = e, .box = 1.0};
    dice d = {17};
    const int across = (int)ceil(pow(count, 1.0 / dim) - 1e-9);
    const double pitch = 1.0 / across;
    for (int i = 0; i < count; i++) {
        const double r = 0.45 * pitch * (0.6 + 0.4 * dice_roll(&d));
        add_ball(&b, r, 1e3 * r * r, pitch * (i % across + 0.5),
                 pitch * (i / across % across + 0.5),
                 dim == 3 ? pitch * (i / across / across + 0.5) : 0.0);
        for (int k = 0; k < dim; k++) b.v[i][k] = 2 * dice_roll(&d) - 1;
    }
    return b;
}

static void gas_in_a_box(void** state)
{
    (void)state;
    const double steps[3] = {1e-3, 0.01, 0.04};
    for (int variant = 0; variant < 12; variant++) {
        const int dim = 2 + variant % 2;
        const double e = variant / 2 % 2 ? 0.9 : 1.0, h = steps[variant / 4];
        const int count = (int)lround((e < 1.0 ? 0.8 : 4.0) / h);
        billiard b = gas(dim, e, dim == 2 ? 49 : 64);
        const double start = billiard_energy(&b);
        talus_world* world = world_of(&b);
        double gain = 0.0, overlap = 0.0, last = start;
        for (int i = 0; i < count; i++) {
            overlap = fmax(overlap, physics_step(world, h).overlap_max);
            gain = fmax(gain, (physics_kinetic_energy(world) - last) / start);
            last = physics_kinetic_energy(world);
        }
        billiard_run(&b, h * count);
        printf("     %dD, e %g, h %g: energy %.12f, reference %.12f, %.0f impacts a ball\n", dim, e,
               h, last / start, billiard_energy(&b) / start, 2.0 * (double)b.impacts / b.count);
        check_below("gain of a step", gain, 1e-13, "rounding");
        check_below("overlap", overlap, 1e-12, "rounding");
        check_close("energy", last / start, billiard_energy(&b) / start, e < 1.0 ? 1e-6 : 1e-12,
                    "e = 1: rounding; below: rounding, much enlarged by some 15 impacts");
        talus_world_destroy(world);
    }
}

/// Rough balls with spins, of all sizes, between walls: no step makes energy, whatever friction and
/// tangential restitution.
static void rough_gas_gains_nothing(void** state)
{
    (void)state;
    const double steps[3] = {1e-3, 0.01, 0.04};
    for (int variant = 0; variant < 24; variant++) {
        const int dim = 2 + variant % 2;
        const double e = variant / 2 % 2 ? 0.7 : 1.0, h = steps[variant / 4 % 3];
        billiard b = gas(dim, e, dim == 2 ? 49 : 64);
        talus_world* world = world_of(&b);
        const talus_pair_def pair = bounce_pair(0.5, e, variant / 12 ? 1.0 : 0.0);
        talus_error error;
        check_ok(talus_world_set_pair(world, (talus_material_id){0}, (talus_material_id){0}, &pair,
                                      &error),
                 error);
        talus_editable_grains g = physics_edit(world);
        dice d = {23};
        for (int64_t i = 0; i < g.count * (dim == 2 ? 1 : 3); i++)
            g.spin[i] = 40 * dice_roll(&d) - 20;
        const double start = physics_kinetic_energy(world);
        double last = start, gain = -1.0;
        for (int i = 0; i < (int)lround(1.0 / h); i++) {
            physics_step(world, h);
            gain = fmax(gain, (physics_kinetic_energy(world) - last) / start);
            last = physics_kinetic_energy(world);
        }
        check_below("gain of a step", gain, 1e-13, "rounding");
        if (e < 1.0 || pair.tangential_restitution == 0.0) {
            check_below("energy left", last / start, 0.9, "friction and e take some away");
        }
        talus_world_destroy(world);
    }
}

/// With e = 1 a ball bounces for ever to the height it came from. Its velocity lags half a step
/// behind its place; with that in mind free fall and impact are exact.
static void bounces_do_not_tire(void** state)
{
    (void)state;
    const double gravity = 9.81, h0 = 0.3;
    for (int variant = 0; variant < 12; variant++) {
        const int dim = 2 + variant % 2;
        const double h = variant / 4 == 0 ? 1e-3 : variant / 4 == 1 ? 3.1e-3 : 0.01;
        talus_world_def def = physics_def(dim);
        def.gravity[dim - 1] = -gravity;
        const talus_pair_def pair = bounce_pair(0.0, 1.0, 0.0);
        talus_world* world = physics_world_pair(&def, &pair);
        talus_grain_def ball = physics_ball(0.1, 1.0, 0, 0, 0), base = physics_ball(1, 1, 0, 0, 0);
        ball.position[dim - 1] = 0.1 + h0;
        ball.velocity[dim - 1] = 0.5 * gravity * h; // at rest half a step later
        base.position[dim - 1] = -1.0;
        base.fixed = true;
        const int64_t id = physics_add(world, &ball);
        if (variant / 2 % 2) {
            physics_add(world, &base);
        } else {
            physics_plane(world, "floor", 0, dim == 2, dim == 3);
        }
        double highest = 0.0, speed = 0.0;
        const int count = (int)lround(20.0 / h);
        for (int i = 0; i < count; i++) {
            physics_step(world, h);
            if (i < count - lround(1.0 / h)) continue;
            highest = fmax(highest, grain_x(world, id, dim - 1));
            const double v = grain_v(world, id, dim - 1) - 0.5 * gravity * h;
            const double energy = gravity * (grain_x(world, id, dim - 1) - 0.1) + 0.5 * v * v;
            speed = fmax(speed, fabs(energy / (gravity * h0) - 1.0));
        }
        printf("     %s, h %g: after %.0f bounces %.6f m high, was %.6f m; energy off by %.2g\n",
               variant / 2 % 2 ? "on a ball" : "on a plane", h, 10.0 / sqrt(2 * h0 / gravity),
               highest - 0.1, h0, speed);
        check_below("energy", speed, 1e-10, "rounding of 40 bounces");
        check_close("height", highest - 0.1, h0, 0.125 * gravity * h * h + 1e-10,
                    "the highest point lies between two steps");
        talus_world_destroy(world);
    }
}

/// A column of balls with e = 0.5 falls on the floor and comes to rest there, at long steps too.
static void dropped_column_rests(void** state)
{
    (void)state;
    const int count = 12;
    const double r = 0.05, steps[3] = {5e-4, 2e-3, 5e-3};
    for (int variant = 0; variant < 6; variant++) {
        const int dim = 2 + variant % 2;
        const double h = steps[variant / 2];
        talus_world_def def = physics_def(dim);
        def.gravity[dim - 1] = -9.81;
        const talus_pair_def pair = bounce_pair(0.3, 0.5, 0.0);
        talus_world* world = physics_world_pair(&def, &pair);
        physics_plane(world, "floor", 0, dim == 2, dim == 3);
        for (int i = 0; i < count; i++) {
            talus_grain_def ball = physics_ball(r, 1.0, 0, 0, 0);
            ball.position[dim - 1] = 0.3 + r + 2 * r * i * (i % 3 ? 1.0 : 1.002) + 0.01 * i;
            physics_add(world, &ball);
        }
        physics_steps(world, h, (int)lround(6.0 / h));
        for (int i = 0; i < count; i++) {
            check_close("height", grain_x(world, i, dim - 1), r * (1 + 2 * i), 1e-12,
                        "a column at rest, rounding");
            check_close("velocity", grain_v(world, i, dim - 1), 0.0, 1e-10,
                        "rounding of places over h");
        }
        check_close("weight", wall_force(world, (talus_wall_id){0}, dim - 1), -count * 9.81, 1e-6,
                    "rounding of places over h^2");
        talus_world_destroy(world);
    }
}

/// A gas under a piston with weight: kinetic and potential energy stay the same.
static void gas_under_a_piston(void** state)
{
    (void)state;
    const double force = 6000.0, steps[3] = {1e-3, 4e-3, 0.01};
    for (int variant = 0; variant < 6; variant++) {
        const int dim = 2 + variant % 2;
        const double h = steps[variant / 2], mass = 30.0;
        billiard b = gas(dim, 1.0, dim == 2 ? 49 : 64);
        b.count--; // the lid is added by hand
        talus_world_def def = physics_def(dim);
        const talus_pair_def pair = bounce_pair(0.0, 1.0, 0.0);
        talus_world* world = physics_world_pair(&def, &pair);
        for (int k = 0; k < dim; k++) {
            char low[8] = "low0", high[8] = "high0";
            low[3] = high[4] = (char)('0' + k);
            physics_plane(world, low, k == 0, k == 1, k == 2);
            talus_wall_def wall = physics_plane_def(high, -(k == 0), -(k == 1), -(k == 2));
            wall.position[k] = 1.0;
            if (k == dim - 1) {
                wall.drive.kind = TALUS_DRIVE_FORCE;
                wall.drive.mass = mass;
                wall.drive.free_axes[k] = true;
                wall.drive.force[k] = -force;
            }
            physics_wall(world, &wall);
        }
        for (int i = 0; i < b.count; i++) {
            talus_grain_def ball = physics_ball(b.r[i], b.m[i], b.x[i][0], b.x[i][1], b.x[i][2]);
            for (int k = 0; k < dim; k++) ball.velocity[k] = 10 * b.v[i][k];
            physics_add(world, &ball);
        }
        const talus_wall_id lid = {2 * dim - 1};
        double start = 0.0, worst = 0.0, low = 1.0, high = 1.0;
        for (int i = 0; i < (int)lround(1.0 / h); i++) {
            physics_step(world, h);
            const talus_wall_state s = wall_state(world, lid);
            // Velocities are those of half a step ago.
            const double v = s.velocity[dim - 1] - 0.5 * h * force / mass;
            const double energy =
                physics_kinetic_energy(world) + 0.5 * mass * v * v + force * s.position[dim - 1];
            if (i == 0) start = energy;
            worst = fmax(worst, fabs(energy / start - 1.0));
            low = fmin(low, s.position[dim - 1]);
            high = fmax(high, s.position[dim - 1]);
        }
        printf("     %dD, h %g: energy off by %.2g, the piston went from %.3f to %.3f m\n", dim, h,
               worst, low, high);
        check_below("energy", worst, 1e-10, "rounding, also of impacts slower than F h/m");
        assert_true(high - low > 0.1);
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cradle),
        cmocka_unit_test(rack_is_broken),
        cmocka_unit_test(gas_in_a_box),
        cmocka_unit_test(rough_gas_gains_nothing),
        cmocka_unit_test(bounces_do_not_tire),
        cmocka_unit_test(dropped_column_rests),
        cmocka_unit_test(gas_under_a_piston),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
