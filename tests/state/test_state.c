/// Bodies: mass properties, the periodic cell, motions of walls against formulas, glued grains.
#include "random.h"
#include "support.h"

#include "base/vec.h"
#include "state/cell.h"
#include "state/drive.h"
#include "state/grains.h"
#include "state/materials.h"
#include "state/walls.h"

#include <float.h>
#include <string.h>

static const solids no_solids = {0};

static const double NO_GRAVITY[3] = {0.0, 0.0, 0.0};

static double distance(const double* a, const double* b)
{
    double delta[3];
    vec_sub(3, delta, a, b);
    return vec_norm(3, delta);
}

/// A wall whose shape does not matter, moving as told.
static int add_wall(walls* w, const char* name, const talus_drive_def* drive,
                    const double position[3], int dim)
{
    talus_wall_def def = talus_wall_default();
    talus_error error = {0};
    int index = -1;
    def.name = name;
    def.shape.kind = TALUS_SHAPE_PLANE;
    def.shape.normal[1] = 1.0;
    memcpy(def.position, position, sizeof def.position);
    def.drive = *drive;
    check_ok(walls_add(w, &def, dim, 0.0, &index, &error), error);
    return index;
}

// ---- grains ------------------------------------------------------------------------------------

static void test_mass_properties(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        grains g;
        talus_error error = {0};
        grains_init(&g, dim, &no_solids);
        talus_grain_def def = talus_grain_default();
        def.radius = 0.3;
        def.density = 7.0;
        check_ok(grains_add(&g, &def, NULL, &error), error);
        def.mass = 2.0;
        def.locked_rotation = true;
        check_ok(grains_add(&g, &def, NULL, &error), error);
        def.fixed = true;
        def.velocity[0] = 5.0;
        check_ok(grains_add(&g, &def, NULL, &error), error);

        double m = 7.0 * (dim == 2 ? M_PI * 0.09 : M_PI * 0.036); // 4/3 0.3^3 = 0.036
        double ratio = dim == 2 ? 0.5 : 0.4;
        const char* rounding = "a handful of roundings";
        check_close("mass of a ball from its density", g.mass[0], m, 4 * DBL_EPSILON * m, rounding);
        check_close("I/(m R^2)", g.inertia[0] / (m * 0.09), ratio, 1e-15, rounding);
        check_close("m R^2/I", g.spin_mobility[0] * m, 1.0 / ratio, 2e-15, rounding);
        check_close("inverse mass", g.inv_mass[1], 0.5, 0.0, "exact");
        check_close("locked rotation", g.spin_mobility[1], 0.0, 0.0, "exact");
        check_close("fixed: inverse mass", g.inv_mass[2], 0.0, 0.0, "exact");
        check_close("fixed: velocity", g.velocity[2 * dim], 0.0, 0.0, "exact");
        check_close("mean mass of the free", grains_mean_mass(&g, 1), 0.5 * (m + 2.0), 1e-15,
                    rounding);
        check_close("mean diameter", grains_mean_diameter(&g, 1), 0.6, 1e-15, rounding);
        grains_free(&g);
    }
}

static void test_kinetic_energy(void** state)
{
    (void)state;
    grains g;
    talus_error error = {0};
    grains_init(&g, 3, &no_solids);
    talus_grain_def def = talus_grain_default();
    def.radius = 2.0;
    def.mass = 3.0;
    memcpy(def.velocity, (double[3]){1, -2, 2}, sizeof def.velocity);
    memcpy(def.spin, (double[3]){0.5, 0, -1}, sizeof def.spin);
    check_ok(grains_add(&g, &def, NULL, &error), error);
    // 3/2 9 + 1/2 (0.4 3 4) 1.25
    check_close("kinetic energy", grains_kinetic_energy(&g, 1), 13.5 + 3.0, 1e-14, "few roundings");
    grains_free(&g);
}

static void test_bad_grains_are_refused(void** state)
{
    (void)state;
    grains g;
    talus_error error = {0};
    grains_init(&g, 3, &no_solids);
    talus_grain_def good = talus_grain_default(), bad;
    good.radius = 1.0;
    bad = good, bad.radius = 0.0;
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    bad = good, bad.radius = NAN;
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    bad = good, bad.mass = -1.0;
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    bad = good, bad.mass = NAN;
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    bad = good, bad.density = 0.0;
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    bad = good, bad.radius = 1e110; // its mass is infinite
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    bad = good, bad.radius = 1e-70; // its moment of inertia is zero
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    bad = good, bad.external_torque[1] = INFINITY;
    assert_int_equal(grains_add(&g, &bad, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_int_equal(g.count, 0);
    grains_free(&g);
}

/// Random removals: the survivors keep every column, their order and their ids.
static void test_compaction_and_find(void** state)
{
    (void)state;
    rng r = rng_make(7, 1, 0);
    grains g;
    talus_error error = {0};
    grains_init(&g, 3, &no_solids);
    uint8_t keep[1000];
    int64_t expected[1000], left = 0;
    for (int i = 0; i < 1000; i++) {
        talus_grain_def def = talus_grain_default();
        def.radius = 1.0 + i;
        def.mass = 10.0 + i;
        def.position[2] = -i;
        def.tag = 3 * i;
        int64_t id = -1;
        check_ok(grains_add(&g, &def, &id, &error), error);
        assert_int_equal(id, i);
        keep[i] = rng_uniform(&r) < 0.4;
        if (keep[i]) expected[left++] = i;
    }
    grains_compact(&g, keep);
    assert_int_equal(g.count, left);
    for (int64_t k = 0; k < left; k++) {
        int64_t i = expected[k];
        assert_int_equal(g.id[k], i);
        assert_true(g.radius[k] == 1.0 + (double)i && g.mass[k] == 10.0 + (double)i);
        assert_true(g.position[3 * k + 2] == -(double)i && g.tag[k] == 3 * i);
    }
    for (int64_t i = 0; i < 1000; i++) {
        int64_t row = grains_find(&g, i);
        if (keep[i]) {
            assert_true(row >= 0 && g.id[row] == i);
        } else {
            assert_int_equal(row, -1);
        }
    }
    talus_grain_def def = talus_grain_default();
    def.radius = 1.0;
    int64_t id = -1;
    check_ok(grains_add(&g, &def, &id, &error), error);
    assert_int_equal(id, 1000); // ids are never reused
    grains_free(&g);
}

static void test_materials_mix(void** state)
{
    (void)state;
    materials m = {0};
    talus_error error = {0};
    talus_pair_def law = {.friction = 0.5};
    check_ok(materials_add(&m, "glass", &law, NULL, &error), error);
    law.friction = 0.2;
    check_ok(materials_add(&m, "ice", &law, NULL, &error), error);
    law.friction = 0.9;
    check_ok(materials_add(&m, "rubber", &law, NULL, &error), error);
    check_close("weaker of 0.5 and 0.2", materials_pair(&m, 0, 1)->friction, 0.2, 0.0, "copied");
    check_close("weaker of 0.9 and 0.2", materials_pair(&m, 2, 1)->friction, 0.2, 0.0, "copied");
    law.friction = 0.7;
    check_ok(materials_set_pair(&m, 2, 0, &law, &error), error);
    check_close("set pair, other order", materials_pair(&m, 0, 2)->friction, 0.7, 0.0, "copied");
    check_close("self stays", materials_pair(&m, 2, 2)->friction, 0.9, 0.0, "copied");
    law.friction = NAN;
    assert_int_equal(materials_set_pair(&m, 0, 1, &law, &error), TALUS_ERR_ARGUMENT);
    law.friction = 0.1;
    assert_int_equal(materials_set_pair(&m, 0, 3, &law, &error), TALUS_ERR_ARGUMENT);
    materials_free(&m);
}

// ---- periodic cell -----------------------------------------------------------------------------

/// Wrapped positions lie in [low, low + length) and together with the image give the position
/// back, also for positions within a few roundings of an edge.
static void test_wrapping(void** state)
{
    (void)state;
    rng r = rng_make(7, 2, 0);
    double worst = 0.0;
    for (int i = 0; i < test_count(400000, 50000); i++) {
        cell c = {.periodic = {true, true, true}};
        double x[3], before[3];
        int32_t image[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            c.low[k] = rng_uniform(&r) < 0.3 ? 0.0 : uniform(&r, -10.0, 10.0);
            c.length[k] = uniform(&r, 0.1, 5.0);
            double turns = (double)rng_below(&r, 7) - 3.0;
            x[k] =
                c.low[k] + c.length[k] * (turns + (rng_uniform(&r) < 0.5 ? rng_uniform(&r) : 0.0));
            int nudges = (int)rng_below(&r, 4);
            for (int n = 0; n < nudges; n++)
                x[k] = nextafter(x[k], rng_uniform(&r) < 0.5 ? -1e9 : 1e9);
            if (rng_uniform(&r) < 0.1) x[k] = c.low[k] - 1e-25;
        }
        memcpy(before, x, sizeof x);
        cell_wrap(&c, 3, x, image);
        for (int k = 0; k < 3; k++) {
            assert_true(x[k] >= c.low[k] && x[k] < c.low[k] + c.length[k]);
            double unwrapped = x[k] + image[k] * c.length[k];
            worst = fmax(worst, fabs(unwrapped - before[k]) /
                                    (fabs(before[k]) + c.length[k] + fabs(c.low[k])));
        }
    }
    check_below("wrapped position and image against the position", worst, 8.0 * DBL_EPSILON,
                "three roundings of terms as large as the position, low and length");
}

/// More crossings than a count can hold leave it at its limit, and the position in the cell.
static void test_wrapping_far_off(void** state)
{
    (void)state;
    const cell c = {.periodic = {true}, .length = {1.0}};
    for (int side = -1; side <= 1; side += 2) {
        int32_t image[1] = {0};
        for (int turn = 0; turn < 3; turn++) {
            double x[1] = {side * 1e20};
            cell_wrap(&c, 1, x, image);
            assert_true(x[0] >= 0.0 && x[0] < 1.0);
        }
        assert_int_equal(image[0], side < 0 ? INT32_MIN : INT32_MAX);
    }
}

static void test_nearest_image(void** state)
{
    (void)state;
    rng r = rng_make(7, 3, 0);
    double worst = 0.0;
    for (int i = 0; i < 100000; i++) {
        cell c = {.periodic = {true, rng_uniform(&r) < 0.5, true}, .length = {1.5, 0.7, 3.0}};
        double delta[3], best[3];
        for (int k = 0; k < 3; k++) {
            delta[k] = uniform(&r, -c.length[k], c.length[k]);
            best[k] = delta[k];
            for (int m = -2; m <= 2 && c.periodic[k]; m++) {
                double other = delta[k] + m * c.length[k];
                if (fabs(other) < fabs(best[k])) best[k] = other;
            }
        }
        cell_nearest(&c, 3, delta);
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(fabs(delta[k]) - fabs(best[k])));
    }
    check_below("nearest image against trying all", worst, 4.0 * DBL_EPSILON * 3.0, "one rounding");
}

// ---- prescribed motions ------------------------------------------------------------------------

/// The position after many uneven steps is the sine itself: steps use secants, so they telescope.
static void test_sine_is_exact(void** state)
{
    (void)state;
    rng r = rng_make(7, 4, 0);
    walls w;
    walls_init(&w, &no_solids);
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_SINE;
    memcpy(d.amplitude, (double[3]){0.1, -0.02, 0.3}, sizeof d.amplitude);
    memcpy(d.spin_amplitude, (double[3]){0.0, 0.4, 0.0}, sizeof d.spin_amplitude);
    d.frequency = 13.0;
    d.phase = 0.7;
    const double start[3] = {1.0, 2.0, 3.0};
    int wall = add_wall(&w, "shaker", &d, start, 3);
    double time = 0.0, worst = 0.0, worst_angle = 0.0;
    int steps = test_count(200000, 20000);
    for (int i = 0; i < steps; i++) {
        double h = uniform(&r, 1e-4, 2e-2);
        drive_begin_step(&w, NO_GRAVITY, time, h);
        drive_move(&w, h);
        time += h;
        double shift = sin(2.0 * M_PI * 13.0 * time + 0.7) - sin(0.7);
        for (int k = 0; k < 3; k++) {
            double x = start[k] + d.amplitude[k] * shift;
            worst = fmax(worst, fabs(w.position[3 * wall + k] - x));
        }
        double angle = 2.0 * atan2(w.rotation[4 * wall + 2], w.rotation[4 * wall]);
        worst_angle = fmax(worst_angle, fabs(angle - 0.4 * shift));
    }
    printf("%d steps, %.0f periods\n", steps, 13.0 * time);
    const char* why =
        "roundings of 4e-16 a step, adding up like a walk or at worst (x 2e5) in line";
    check_below("shaken position against the sine", worst, 1e-10, why);
    check_below("rocking angle against the sine", worst_angle, 1e-10, why);
    walls_free(&w);
}

/// Value of a table's column at time t, for quadrature.
static double table_value(const double* table, int rows, int quantity, double t)
{
    if (t <= table[0]) return table[quantity];
    for (int r = 1; r < rows; r++) {
        const double *p = table + 7 * (r - 1), *q = table + 7 * r;
        if (t <= q[0])
            return p[quantity] + (q[quantity] - p[quantity]) * (t - p[0]) / (q[0] - p[0]);
    }
    return table[7 * (rows - 1) + quantity];
}

static void test_table_against_quadrature(void** state)
{
    (void)state;
    enum { ROWS = 6 };
    rng r = rng_make(7, 5, 0);
    double table[7 * ROWS], t = 0.3;
    for (int i = 0; i < ROWS; i++) {
        table[7 * i] = t;
        for (int k = 1; k < 7; k++)
            table[7 * i + k] = k == 6 || k < 4 ? uniform(&r, -1.0, 1.0) : 0.0;
        t += uniform(&r, 0.1, 0.5);
    }
    walls w;
    walls_init(&w, &no_solids);
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_TABLE;
    d.table = table;
    d.table_rows = ROWS;
    const double start[3] = {0.0, 0.0, 0.0};
    int wall = add_wall(&w, "table", &d, start, 3);
    // Midpoint sums on a grid of their own; the steps of the drive are uneven and longer.
    const double end = 3.0;
    const int pieces = 300000;
    double sum[7] = {0.0};
    for (int i = 0; i < pieces; i++) {
        double middle = (i + 0.5) * end / pieces;
        for (int k = 1; k < 7; k++) sum[k] += table_value(table, ROWS, k, middle) * end / pieces;
    }
    double time = 0.0;
    while (time < end) {
        double h = fmin(uniform(&r, 0.001, 0.3), end - time);
        drive_begin_step(&w, NO_GRAVITY, time, h);
        drive_move(&w, h);
        time += h;
    }
    const char* why = "midpoint sum: exact but for kinks, each off by slope h^2 ~ 20 (1e-5)^2";
    for (int k = 0; k < 3; k++) {
        check_close("distance by the table", w.position[3 * wall + k], sum[1 + k], 1e-8, why);
    }
    double angle = 2.0 * atan2(w.rotation[4 * wall + 3], w.rotation[4 * wall]);
    check_close("angle by the table", angle, sum[6], 1e-8, why);
    walls_free(&w);
}

/// A wall turning about a pivot away from it stays at its distance for ever, and after whole turns
/// is back; its velocity is spin x arm.
static void test_rotation_about_a_pivot(void** state)
{
    (void)state;
    walls w;
    walls_init(&w, &no_solids);
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_VELOCITY;
    memcpy(d.spin, (double[3]){0.6, -0.3, 0.8}, sizeof d.spin);
    d.has_pivot = true;
    memcpy(d.pivot, (double[3]){0.5, 1.0, -2.0}, sizeof d.pivot);
    const double start[3] = {1.5, -1.0, 0.25};
    int wall = add_wall(&w, "drum", &d, start, 3);
    const double rate = vec_norm(3, d.spin), arm0 = distance(start, d.pivot);
    const int per_turn = 400, turns = test_count(250, 25);
    const double h = 2.0 * M_PI / rate / per_turn;
    double worst = 0.0, worst_speed = 0.0;
    for (int i = 0; i < per_turn * turns; i++) {
        drive_begin_step(&w, NO_GRAVITY, i * h, h);
        double arm[3], v[3];
        vec_sub(3, arm, w.position + 3 * wall, d.pivot);
        vec_cross(v, d.spin, arm);
        worst_speed = fmax(worst_speed, distance(v, w.velocity + 3 * wall));
        drive_move(&w, h);
        worst = fmax(worst, fabs(distance(w.position + 3 * wall, d.pivot) - arm0));
    }
    check_below("distance from the pivot changes by", worst, 1e-10,
                "the pivot is found again each step from the position: 1e5 steps of 1e-15");
    check_below("velocity against spin x arm", worst_speed, 1e-10, "as the positions");
    check_below("off the start after whole turns", distance(w.position + 3 * wall, start), 1e-9,
                "1e5 steps of 1e-15 in position and in angle times an arm of 3");
    walls_free(&w);
}

/// A drive that moves and turns: the pivot goes straight, the wall turns about it.
static void test_pivot_moves_straight(void** state)
{
    (void)state;
    walls w;
    walls_init(&w, &no_solids);
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_VELOCITY;
    d.velocity[0] = 2.0;
    d.spin[2] = 1.0;
    d.has_pivot = true;
    d.pivot[1] = -1.0;
    const double start[3] = {0.0, 0.0, 0.0};
    int wall = add_wall(&w, "roller", &d, start, 2);
    const double h = 0.01;
    for (int i = 0; i < 1000; i++) {
        drive_begin_step(&w, NO_GRAVITY, i * h, h);
        drive_move(&w, h);
    }
    const char* why = "1000 steps of a few roundings of 20";
    check_close("x = 2 t - sin t", w.position[3 * wall], 20.0 - sin(10.0), 1e-11, why);
    check_close("y = -1 + cos t", w.position[3 * wall + 1], -1.0 + cos(10.0), 1e-11, why);
    walls_free(&w);
}

// ---- mobile walls ------------------------------------------------------------------------------

static void test_mobility(void** state)
{
    (void)state;
    walls w;
    walls_init(&w, &no_solids);
    const double origin[3] = {0.0, 0.0, 0.0};
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_FORCE;
    d.mass = 4.0;
    d.free_axes[1] = d.free_axes[2] = true;
    int piston = add_wall(&w, "piston", &d, origin, 3);
    d = talus_drive_default();
    d.kind = TALUS_DRIVE_SERVO;
    d.mass = 2.0;
    d.servo_axis[0] = 0.6;
    d.servo_axis[1] = 0.8;
    d.stress = 10.0;
    d.area = 3.0;
    int servo = add_wall(&w, "servo", &d, origin, 3);
    double matrix[9];
    const double of_piston[9] = {0, 0, 0, 0, 0.25, 0, 0, 0, 0.25};
    const double of_servo[9] = {0.18, 0.24, 0, 0.24, 0.32, 0, 0, 0, 0};
    drive_mobility(&w, piston, 3, matrix);
    for (int k = 0; k < 9; k++) check_close("piston", matrix[k], of_piston[k], 0.0, "exact");
    drive_mobility(&w, servo, 3, matrix);
    for (int k = 0; k < 9; k++)
        check_close("servo", matrix[k], of_servo[k], 1e-16, "two roundings");
    drive_mobility(&w, servo, 2, matrix);
    check_close("servo in 2D, row 1", matrix[2], 0.24, 1e-16, "two roundings");
    drive_begin_step(&w, (double[3]){0, 0, -10}, 0.0, 0.5);
    check_close("applied force", w.applied[3 * servo + 1], 24.0, 1e-14, "10 x 3 x 0.8");
    check_close("servo's free speed", w.velocity[3 * servo], 0.5 * 30.0 / 2.0 * 0.6, 1e-14,
                "h stress area/m along the axis");
    check_close("no weight unless asked", w.velocity[3 * piston + 2], 0.0, 0.0, "exact");
    walls_free(&w);
}

/// A wall that was driven and is now mobile keeps its velocity along its free directions only.
static void test_locked_axes_stay_locked(void** state)
{
    (void)state;
    walls w;
    walls_init(&w, &no_solids);
    talus_error error = {0};
    const double origin[3] = {0.0, 0.0, 0.0};
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_VELOCITY;
    memcpy(d.velocity, (double[3]){1.0, 2.0, 3.0}, sizeof d.velocity);
    int wall = add_wall(&w, "lid", &d, origin, 3);
    drive_begin_step(&w, NO_GRAVITY, 0.0, 0.1);
    drive_move(&w, 0.1);
    d = talus_drive_default();
    d.kind = TALUS_DRIVE_FORCE;
    d.mass = 1.0;
    d.free_axes[1] = true;
    check_ok(walls_set_drive(&w, wall, &d, 3, 0.1, &error), error);
    drive_begin_step(&w, NO_GRAVITY, 0.1, 0.1);
    check_close("locked axis x", w.velocity[3 * wall], 0.0, 0.0, "the wall cannot move along x");
    check_close("free axis y keeps its speed", w.velocity[3 * wall + 1], 2.0, 0.0, "no force");
    d = talus_drive_default();
    d.kind = TALUS_DRIVE_SERVO;
    d.mass = 1.0;
    d.area = 1.0;
    d.servo_axis[0] = 0.6;
    d.servo_axis[1] = 0.8;
    check_ok(walls_set_drive(&w, wall, &d, 3, 0.1, &error), error);
    drive_begin_step(&w, NO_GRAVITY, 0.1, 0.1);
    const double* v = w.velocity + 3 * wall;
    check_close("servo: speed across its axis", 0.8 * v[0] - 0.6 * v[1], 0.0, 1e-15, "roundings");
    check_close("servo: speed along its axis", 0.6 * v[0] + 0.8 * v[1], 1.6, 1e-15, "0.8 x 2");
    walls_free(&w);
}

/// A piston with damping falls towards m g / c, as implicit Euler says at every step.
static void test_damped_piston(void** state)
{
    (void)state;
    walls w;
    walls_init(&w, &no_solids);
    const double origin[3] = {0.0, 0.0, 0.0}, gravity[3] = {0.0, -9.81, 0.0};
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_FORCE;
    d.mass = 2.0;
    d.weight = true;
    d.damping = 5.0;
    d.free_axes[1] = true;
    int wall = add_wall(&w, "piston", &d, origin, 2);
    const double h = 0.01, slow = 1.0 / (1.0 + h * 5.0 / 2.0);
    double v = 0.0;
    for (int i = 0; i < 2000; i++) {
        drive_begin_step(&w, gravity, i * h, h);
        v = (v - 9.81 * h) * slow;
    }
    check_close("implicit Euler", w.velocity[3 * wall + 1], v, 1e-13,
                "2000 steps contract roundings");
    check_close("m g / c", w.velocity[3 * wall + 1], -2.0 * 9.81 / 5.0, 1e-12, "50 decay times");
    walls_free(&w);
}

/// The servo's force follows the distance of the planes that span it.
static void test_servo_area_from_spans(void** state)
{
    (void)state;
    walls w;
    walls_init(&w, &no_solids);
    talus_drive_def still = talus_drive_default();
    int low = add_wall(&w, "low", &still, (double[3]){0, -1, 0}, 2);
    int high = add_wall(&w, "high", &still, (double[3]){0, 4, 0}, 2);
    talus_drive_def d = talus_drive_default();
    d.kind = TALUS_DRIVE_SERVO;
    d.mass = 1.0;
    d.servo_axis[0] = -1.0;
    d.stress = 7.0;
    d.span_count = 1;
    d.span_wall[0][0] = (talus_wall_id){low};
    d.span_wall[0][1] = (talus_wall_id){high};
    int servo = add_wall(&w, "servo", &d, (double[3]){3, 0, 0}, 2);
    drive_begin_step(&w, NO_GRAVITY, 0.0, 0.1);
    check_close("stress x distance of the planes", w.applied[3 * servo], -35.0, 1e-14, "7 x 5");
    w.position[3 * high + 1] = 2.0;
    drive_begin_step(&w, NO_GRAVITY, 0.1, 0.1);
    check_close("after the plane moved", w.applied[3 * servo], -21.0, 1e-14, "7 x 3");
    walls_free(&w);
}

// ---- glued grains ------------------------------------------------------------------------------

/// A grain glued to a turning and travelling wall keeps its distance to it, its orientation in the
/// wall's frame, and moves with the velocity of that point of the wall.
static void test_glued_grains(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        walls w;
        grains g;
        talus_error error = {0};
        const cell open = {.periodic = {false, false, false}};
        walls_init(&w, &no_solids);
        grains_init(&g, dim, &no_solids);
        talus_drive_def d = talus_drive_default();
        d.kind = TALUS_DRIVE_VELOCITY;
        memcpy(d.spin, (double[3]){dim == 3 ? 0.7 : 0.0, 0.0, 1.1}, sizeof d.spin);
        d.velocity[0] = 0.5;
        const double origin[3] = {1.0, 2.0, 0.0};
        int wall = add_wall(&w, "drum", &d, origin, dim);
        talus_grain_def def = talus_grain_default();
        def.radius = 0.1;
        def.glued_to = (talus_wall_id){wall};
        memcpy(def.position, (double[3]){2.0, 0.5, dim == 3 ? 0.7 : 0.0}, sizeof def.position);
        def.rotation[2] = 0.4;
        check_ok(grains_add(&g, &def, NULL, &error), error);
        drive_glue(&w, &g, 0);
        const double arm0 = distance(def.position, origin), h = 0.003;
        double worst = 0.0, worst_speed = 0.0;
        for (int i = 0; i < 3000; i++) {
            double before[3] = {0}, after[3] = {0};
            drive_begin_step(&w, NO_GRAVITY, i * h, h);
            drive_carry_grains(&w, &open, &g, 1);
            vec_copy(dim, before, g.position);
            double v[3] = {0};
            vec_copy(dim, v, g.velocity);
            drive_move(&w, h);
            drive_carry_grains(&w, &open, &g, 1);
            vec_copy(dim, after, g.position);
            worst = fmax(worst, fabs(distance(after, w.position + 3 * wall) - arm0));
            for (int k = 0; k < dim; k++) {
                worst_speed = fmax(worst_speed, fabs((after[k] - before[k]) / h - v[k]));
            }
        }
        check_below("distance of grain and wall changes by", worst, 1e-12,
                    "roundings of a rotation");
        check_below("velocity against displacement", worst_speed,
                    0.5 * 1.31 * 1.31 * h * 2.0 * 1.05,
                    "a chord differs from the tangent by w^2 h r/2, r < 2");
        if (dim == 2) {
            double turned = g.rotation[0] - 0.4 - 1.1 * 9.0;
            check_close("orientation, up to whole turns", remainder(turned, 2.0 * M_PI), 0.0, 1e-11,
                        "3000 roundings of the wall's angle");
        }
        check_close("spin of the wall", g.spin[dim == 2 ? 0 : 2], 1.1, 0.0, "copied");
        walls_free(&w);
        grains_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_properties),
        cmocka_unit_test(test_kinetic_energy),
        cmocka_unit_test(test_bad_grains_are_refused),
        cmocka_unit_test(test_compaction_and_find),
        cmocka_unit_test(test_materials_mix),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_wrapping_far_off),
        cmocka_unit_test(test_nearest_image),
        cmocka_unit_test(test_sine_is_exact),
        cmocka_unit_test(test_table_against_quadrature),
        cmocka_unit_test(test_rotation_about_a_pivot),
        cmocka_unit_test(test_pivot_moves_straight),
        cmocka_unit_test(test_mobility),
        cmocka_unit_test(test_locked_axes_stay_locked),
        cmocka_unit_test(test_damped_piston),
        cmocka_unit_test(test_servo_area_from_spans),
        cmocka_unit_test(test_glued_grains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
