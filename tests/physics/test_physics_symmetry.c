/// Symmetries: periodic images, moving frames, rotated frames.
///
/// Two runs that differ only by roundoff drift apart as collisions magnify it. How much is
/// measured, not guessed: a twin run with positions shaken by one part in 10^15 gives the size that
/// roundoff reaches.
#include "physics.h"

static void grain_crosses_the_periodic_cell(void** state)
{
    (void)state;
    talus_world_def def = physics_def(2);
    def.periodic[0] = true;
    def.cell_low[0] = -1.0, def.cell_high[0] = 2.0;
    talus_world* world = physics_world(&def, 0.0);
    talus_grain_def ball = physics_ball(0.1, 1.0, 0.5, 0, 0);
    ball.velocity[0] = -2.5;
    physics_add(world, &ball);
    const double h = 0.01;
    for (int i = 1; i <= 1000; i++) {
        physics_step(world, h);
        talus_grains g = talus_world_grains(world);
        assert_true(g.position[0] >= -1.0 && g.position[0] < 2.0);
        double unwrapped = g.position[0] + 3.0 * g.image[0];
        if (i % 250 == 0) {
            check_close("unwrapped position", unwrapped, 0.5 - 2.5 * i * h, 1000 * DBL_EPSILON * 25,
                        "roundoff of n additions");
        }
    }
    assert_int_equal(talus_world_grains(world).image[0], -8); // -24.5 + 8 * 3 = -0.5
    talus_world_destroy(world);
}

/// Three grains that collide across the boundary, or the same in open space.
static void collide(int dim, bool periodic, double out[18])
{
    talus_world_def def = physics_def(dim);
    for (int k = 0; k < dim; k++) {
        def.periodic[k] = periodic;
        def.cell_low[k] = 0.0, def.cell_high[k] = 8.0;
    }
    talus_world* world = physics_world(&def, 0.3);
    const double x[3][3] = {{7.4, 7.8, 7.9}, {8.5, 8.1, 8.2}, {9.7, 8.3, 7.8}};
    const double v[3][3] = {{1.0, 0.2, 0.1}, {-0.3, 0.0, 0.2}, {-1.2, 0.1, -0.1}};
    for (int i = 0; i < 3; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0 + i, x[i][0], x[i][1], x[i][2]);
        memcpy(ball.velocity, v[i], sizeof v[i]);
        physics_add(world, &ball);
    }
    physics_steps(world, 0.01, 60);
    talus_grains g = talus_world_grains(world);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < dim; k++) {
            out[6 * i + k] = g.position[i * dim + k] + 8.0 * g.image[i * dim + k];
            out[6 * i + 3 + k] = g.velocity[i * dim + k];
        }
    }
    double moved = fabs(out[3] - 1.0);
    assert_true(moved > 0.1); // they did collide
    talus_world_destroy(world);
}

static void images_collide_like_neighbours(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        double open[18] = {0}, wrapped[18] = {0}, worst = 0.0;
        collide(dim, false, open);
        collide(dim, true, wrapped);
        for (int i = 0; i < 18; i++) worst = fmax(worst, fabs(open[i] - wrapped[i]));
        check_below("across the boundary or not", worst, 100 * 8.0 * DBL_EPSILON / 0.01,
                    "positions of 8 m round to 8 eps, felt as a velocity 8 eps/h; 60 steps");
    }
}

static void momentum_in_a_periodic_cell(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = physics_def(dim);
        for (int k = 0; k < dim; k++) {
            def.periodic[k] = true;
            def.cell_low[k] = -2.0, def.cell_high[k] = 2.0;
        }
        def.solver.tolerance = 1e-3; // momentum does not hang on it
        talus_world* world = physics_world(&def, 0.5);
        dice d = {21};
        const int n = dim == 2 ? 25 : 100;
        physics_fill(world, dim, n, 2.0, 0.25, 0.2, &d);
        talus_editable_grains g = physics_edit(world);
        for (int64_t i = 0; i < g.count * dim; i++) g.velocity[i] = 2 * dice_roll(&d) - 1;
        double before[3], after[3], worst = 0.0;
        talus_measure_momentum(world, before);
        double first = 0.0, last = 0.0;
        for (int i = 0; i < 500; i++) {
            last = physics_step(world, 5e-3).kinetic_energy;
            if (i == 0) first = last;
            talus_measure_momentum(world, after);
            for (int k = 0; k < dim; k++) worst = fmax(worst, fabs(after[k] - before[k]));
        }
        check_below("momentum kept over 500 steps", worst, 500 * 4 * DBL_EPSILON * 1.0,
                    "rounding of velocities of 1 m/s, total mass of order 10, as a random walk");
        check_below("though they collided", last, 0.8 * first, "energy was lost");
        talus_world_destroy(world);
    }
}

/// How a collapse is looked at: from a moving frame, through a rotation, with shaken positions.
typedef struct frame {
    double velocity[3];
    double rotation[3][3];
    double shake;
} frame;

static void turn(const frame* f, const double x[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = f->rotation[i][0] * x[0] + f->rotation[i][1] * x[1] + f->rotation[i][2] * x[2];
    }
}

static void turn_back(const frame* f, const double x[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = f->rotation[0][i] * x[0] + f->rotation[1][i] * x[1] + f->rotation[2][i] * x[2];
    }
}

enum { COUNT = 45 };

/// Drop grains into a corner of three rough planes; positions seen in the original frame go to
/// `out`.
static void collapse(const frame* f, int steps, double out[3 * COUNT])
{
    const double h = 5e-3;
    talus_world_def def = physics_def(3);
    def.solver.method = TALUS_SOLVER_SWEEPS; // the others' order follows from the places
    def.solver.order = TALUS_ORDER_FORWARD;
    def.solver.stop = TALUS_STOP_SWEEPS;
    def.solver.max_sweeps = 50;
    const double down[3] = {-1.0, -2.0, -9.0};
    turn(f, down, def.gravity);
    talus_world* world = physics_world(&def, 0.4);
    const char* name[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        double n[3] = {k == 0, k == 1, k == 2}, turned[3];
        turn(f, n, turned);
        talus_wall_def wall = physics_plane_def(name[k], turned[0], turned[1], turned[2]);
        wall.drive.kind = TALUS_DRIVE_VELOCITY;
        memcpy(wall.drive.velocity, f->velocity, sizeof f->velocity);
        physics_wall(world, &wall);
    }
    dice d = {77}, shaker = {78};
    for (int i = 0; i < COUNT; i++) {
        double x[3] = {0.6 + 1.15 * (i % 3), 0.6 + 1.15 * (i / 3 % 3), 0.6 + 1.15 * (i / 9)}, at[3];
        double r = 0.4 + 0.1 * dice_roll(&d);
        for (int k = 0; k < 3; k++)
            x[k] += 0.1 * dice_roll(&d) + f->shake * (dice_roll(&shaker) - 0.5);
        turn(f, x, at);
        talus_grain_def ball = physics_ball(r, 0, at[0], at[1], at[2]);
        memcpy(ball.velocity, f->velocity, sizeof f->velocity);
        physics_add(world, &ball);
    }
    physics_steps(world, h, steps);
    talus_grains g = talus_world_grains(world);
    for (int i = 0; i < COUNT; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = g.position[3 * i + k] - f->velocity[k] * h * steps;
        turn_back(f, x, out + 3 * i);
    }
    talus_world_destroy(world);
}

static double farthest(const double* a, const double* b)
{
    double worst = 0.0;
    for (int i = 0; i < 3 * COUNT; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

static const frame plain = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static void moving_and_turned_frames_see_the_same(void** state)
{
    (void)state;
    const int steps = 150;
    static double base[3 * COUNT], shaken[3 * COUNT], seen[3 * COUNT], start[3 * COUNT];
    frame f = plain;
    collapse(&f, 1, start);
    collapse(&f, steps, base);
    check_below("the grains fell", 0.2, farthest(base, start),
                "so that there is something to compare");
    // Positions are about 4 m and round to 4 eps in the turned frame; the shaking is ten times
    // that.
    double reached = 0.0;
    f.shake = 1e-14;
    collapse(&f, steps, shaken);
    reached = farthest(base, shaken);
    check_below("roundoff does not fill the system", reached, 1e-6, "else nothing is tested here");

    f = plain;
    f.velocity[0] = 0.7, f.velocity[1] = -1.1, f.velocity[2] = 0.4;
    collapse(&f, steps, seen);
    check_below("Galilei", farthest(base, seen), 100 * reached + 1e-13,
                "what shaking by 1e-14 became, times 100: each of 150 steps adds roundoff anew");

    // Rows of a rotation by 2/3, 2/3, 1/3: exact to rounding, not along any axis.
    f = (frame){.rotation = {{2. / 3, -1. / 3, 2. / 3},
                             {2. / 3, 2. / 3, -1. / 3},
                             {-1. / 3, 2. / 3, 2. / 3}}};
    collapse(&f, steps, seen);
    check_below("rotation", farthest(base, seen), 100 * reached + 1e-13, "the same");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grain_crosses_the_periodic_cell),
        cmocka_unit_test(images_collide_like_neighbours),
        cmocka_unit_test(momentum_in_a_periodic_cell),
        cmocka_unit_test(moving_and_turned_frames_see_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
