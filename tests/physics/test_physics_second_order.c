/// The geometry of a step to second order: grains that follow a curve neither sink into it nor lose
/// or gain energy, whatever it is that curves or turns.
///
/// A contact problem that takes normals and gaps from the start of the step lets a grain sink by
/// h v^2/2R a second. With h^2/2 G'' in the gap (docs/theory.md, "Second order") what is left goes
/// with the square of the step at least. Depths and energies are measured without taking overlaps
/// apart, so that they cannot be undone.
#include "physics.h"

/// A world in which overlaps stay, without gravity.
static talus_world* curve_world(int dim, double mu)
{
    talus_world_def def = physics_def(dim);
    def.solver.separate_overlaps = false;
    return physics_world(&def, mu);
}

static talus_wall_def drum_of(double radius, double spin)
{
    talus_wall_def def = talus_wall_default();
    def.name = "drum";
    def.shape.kind = TALUS_SHAPE_CYLINDER;
    def.shape.inside = true;
    def.shape.radius = radius;
    if (spin == 0.0) return def;
    def.drive.kind = TALUS_DRIVE_VELOCITY;
    def.drive.spin[2] = spin;
    return def;
}

static double kinetic(const talus_world* world)
{
    return talus_world_last(world)->kinetic_energy;
}

/// Quantities of a run with a step of h.
typedef struct outcome {
    double depth;  ///< overlap at the end
    double energy; ///< kinetic energy at the end, relative to that of the start
} outcome;

typedef outcome curve_run(double h, int variant);

/// Errors at three steps, each half of the one before: they fall with h^2 or faster, where without
/// the second order they would fall with h.
static void falls_with_square(const char* what, curve_run* run, int variant, double h)
{
    outcome at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = run(h / (1 << k), variant);
        printf("     %s, h %-9.4g depth %.3e, energy %+.3e\n", what, h / (1 << k), at[k].depth,
               at[k].energy - 1.0);
    }
    // 2^1.6: the next order of Taylor's series is a quarter of this one at these steps. Below 1e-11
    // errors of the solver count (1e-13 of impulses, some hundred steps).
    for (int k = 0; k < 2; k++) {
        check_below("3.0 times the depth at h/2", 3.0 * fabs(at[k + 1].depth),
                    fmax(fabs(at[k].depth), 1e-11), "depth at h");
        check_below("3.0 times the energy error at h/2", 3.0 * fabs(at[k + 1].energy - 1.0),
                    fmax(fabs(at[k].energy - 1.0), 1e-11), "energy error at h");
    }
}

/// A ball without friction slides round in a fixed drum: in 3D along a screw.
static outcome slide_round(double h, int dim)
{
    const double R = 1.0, r = 0.1, v = 1.3;
    talus_world* world = curve_world(dim, 0.0);
    talus_wall_def drum = drum_of(R, 0.0);
    drum.shape.axis[0] = drum.shape.axis[1] = 0.0, drum.shape.axis[2] = 1.0;
    physics_wall(world, &drum);
    talus_grain_def ball = physics_ball(r, 1.0, R - r, 0, 0);
    ball.velocity[1] = v;
    if (dim == 3) ball.velocity[2] = 0.7;
    int64_t id = physics_add(world, &ball);
    const double start = 0.5 * (v * v + (dim == 3 ? 0.49 : 0.0));
    physics_steps(world, h, (int)lround(4.0 / h));
    outcome out = {hypot(grain_x(world, id, 0), grain_x(world, id, 1)) + r - R,
                   kinetic(world) / start};
    talus_world_destroy(world);
    return out;
}

/// A ball is carried round by a drum that turns, about its axis (variant 0) or about a pivot beside
/// it (1), or by balls that are glued to a wall that turns (2).
static outcome carried_round(double h, int variant)
{
    const double R = 1.0, r = 0.1, W = 1.5;
    talus_world* world = curve_world(2, 1.0);
    talus_wall_def drum = drum_of(variant == 2 ? 3.0 * R : R, W);
    const double pivot[3] = {variant == 1 ? -0.4 : 0.0, 0.0, 0.0};
    drum.drive.has_pivot = true;
    for (int k = 0; k < 3; k++) drum.drive.pivot[k] = pivot[k];
    talus_wall_id wall = physics_wall(world, &drum);
    talus_grain_def ball = physics_ball(r, 1.0, R - r, 0, 0);
    for (int side = -1; side <= 1 && variant == 2; side += 2) {
        talus_grain_def knob = physics_ball(r, 1.0, R + 0.6 * r, 1.2 * side * r, 0);
        knob.glued_to = wall;
        physics_add(world, &knob);
        ball.position[0] = R - r;
    }
    // From the pivot out: the ball goes round with the wall.
    ball.velocity[1] = W * (ball.position[0] - pivot[0]);
    ball.spin[2] = ball.spin[0] = 0.0;
    if (variant != 2) ball.spin[2] = W;
    int64_t id = physics_add(world, &ball);
    const int steps = (int)lround(3.0 / h);
    physics_steps(world, h, steps);
    outcome out = {.energy = 1.0};
    if (variant == 2) {
        out.depth = talus_world_last(world)->overlap_max * 2.0 * r;
    } else {
        double centre[2];
        for (int k = 0; k < 2; k++) centre[k] = wall_state(world, wall).position[k];
        out.depth =
            hypot(grain_x(world, id, 0) - centre[0], grain_x(world, id, 1) - centre[1]) + r - R;
    }
    talus_world_destroy(world);
    return out;
}

static void nothing_sinks_into_a_curve(void** state)
{
    (void)state;
    falls_with_square("slides round, disk", slide_round, 2, 0.04);
    falls_with_square("slides round, sphere", slide_round, 3, 0.04);
    falls_with_square("carried by a drum", carried_round, 0, 0.04);
    falls_with_square("carried about a pivot", carried_round, 1, 0.04);
    falls_with_square("carried by glued balls", carried_round, 2, 0.04);
}

/// A blade turns about one end and pushes a ball, or a square lying on it, outwards: without
/// friction s = s0 cosh(W t) along the blade.
static outcome pushed_by_blade(double h, int square)
{
    const double W = 1.0, r = 0.05, s0 = 0.3, time = 2.0;
    talus_world* world = curve_world(2, 0.0);
    talus_wall_def blade = talus_wall_default();
    blade.name = "blade";
    blade.shape.kind = TALUS_SHAPE_BOX;
    blade.shape.half_size[0] = 5.0, blade.shape.half_size[1] = 0.01, blade.shape.half_size[2] = 1.0;
    blade.position[1] = -0.01;
    blade.drive.kind = TALUS_DRIVE_VELOCITY;
    blade.drive.spin[2] = W;
    blade.drive.has_pivot = true;
    physics_wall(world, &blade);
    talus_grain_def body = physics_ball(r, 1.0, s0, r, 0);
    if (square) {
        talus_solid_id shape = physics_box_solid(world, "square", 2, 2 * r, 2 * r, 0);
        body = physics_block(shape, s0, r, 0);
        body.spin[2] = W;
    }
    body.velocity[0] = -W * r, body.velocity[1] = W * s0;
    int64_t id = physics_add(world, &body);
    physics_steps(world, h, (int)lround(time / h));
    const double angle = W * time, c = cos(angle), s = sin(angle);
    const double along = c * grain_x(world, id, 0) + s * grain_x(world, id, 1);
    const double height = -s * grain_x(world, id, 0) + c * grain_x(world, id, 1);
    outcome out = {r - height, 1.0};
    // Implicit Euler: the way along the blade is right to first order in h.
    check_close("way along the blade", along, s0 * cosh(W * time),
                2.0 * W * h * s0 * cosh(W * time), "first order in W h");
    talus_world_destroy(world);
    return out;
}

static void nothing_sinks_into_a_turning_face(void** state)
{
    (void)state;
    falls_with_square("ball on a blade", pushed_by_blade, 0, 0.04);
    falls_with_square("square on a blade", pushed_by_blade, 1, 0.04);
}

/// Squares and cubes thrown at each other, spinning: corners on turning faces, edges across edges.
/// The deepest overlap of all throws, and the most that a step brought in of energy.
static outcome throw_pairs(double h, int dim)
{
    dice d = {11};
    outcome out = {0.0, 1.0};
    for (int number = 0; number < 60; number++) {
        talus_world* world = curve_world(dim, 0.0);
        talus_solid_id shape = physics_box_solid(world, "block", dim, 1, 1, 1);
        for (int k = 0; k < 2; k++) {
            const double aside = k ? 0.6 * (dice_roll(&d) - 0.5) : 0.0;
            talus_grain_def block = physics_block(shape, k ? 0.9 : -0.9, aside, 0);
            block.rotation[2] = 6.28 * dice_roll(&d);
            if (dim == 3) block.rotation[0] = dice_roll(&d);
            block.spin[2] = 8.0 * (dice_roll(&d) - 0.5);
            if (dim == 3) block.spin[0] = 4.0 * (dice_roll(&d) - 0.5);
            block.velocity[0] = k ? -1.0 : 1.0;
            physics_add(world, &block);
        }
        double before = INFINITY, start = 0.0;
        for (int step = 0; step < (int)(1.2 / h); step++) {
            const talus_step_result result = physics_step(world, h);
            if (step == 0) start = result.kinetic_energy;
            out.depth = fmax(out.depth, result.overlap_thickness_max);
            out.energy = fmax(out.energy, result.kinetic_energy / before);
            before = result.kinetic_energy;
        }
        check_below("energy of a throw at its end", before, start * (1.0 + 1e-12), "at its start");
        talus_world_destroy(world);
    }
    return out;
}

static void thrown_blocks_hardly_overlap(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const outcome coarse = throw_pairs(8e-3, dim), fine = throw_pairs(2e-3, dim);
        printf("     %dD: depth %.3g and %.3g of the thickness, energy +%.1e and +%.1e in a step\n",
               dim, coarse.depth, fine.depth, coarse.energy - 1.0, fine.energy - 1.0);
        // Of first order it would be 4 times; of second 16, and the deepest throw may be another.
        check_below("eight times the depth at h/4", 8.0 * fine.depth, coarse.depth, "depth at h");
        // A contact that begins without an impact leaves with h G''/2, the velocity of its chord:
        // (h w)^2/8 of the energy, once. h w is at most 0.04 here. Edges that cross at a small
        // angle wander up to ten times as fast as the bodies: a hundred times as much.
        check_below("energy gained in a step", coarse.energy - 1.0, dim == 2 ? 2e-4 : 2e-2,
                    "(h w)^2/8");
        check_below("eight times that at h/4", 8.0 * (fine.energy - 1.0), coarse.energy - 1.0,
                    "second order");
    }
}

/// Height above the lowest point to which a disk comes in the last swing but one in a bowl without
/// friction, relative to that of its start: nothing is pumped in, nothing is lost.
static outcome swing_in_a_bowl(double h, int swings)
{
    const double R = 1.0, r = 0.1, g = 9.81, start = 1.1;
    talus_world_def def = physics_def(2);
    def.solver.separate_overlaps = false;
    def.gravity[1] = -g;
    talus_world* world = physics_world(&def, 0.0);
    talus_wall_def drum = drum_of(R, 0.0);
    physics_wall(world, &drum);
    talus_grain_def ball = physics_ball(r, 1.0, -(R - r) * sin(start), -(R - r) * cos(start), 0);
    int64_t id = physics_add(world, &ball);
    int passed = 0;
    double highest = -R, before = -1.0;
    while (passed < swings) {
        physics_step(world, h);
        const double x = grain_x(world, id, 0);
        if (x * before < 0.0) passed++, before = x;
        if (passed == swings - 1) highest = fmax(highest, grain_x(world, id, 1));
    }
    outcome out = {hypot(grain_x(world, id, 0), grain_x(world, id, 1)) + r - R,
                   (highest + R - r) / ((R - r) * (1.0 - cos(start)))};
    talus_world_destroy(world);
    return out;
}

static void a_swing_keeps_its_height(void** state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double h = 4e-3 / (1 << k);
        const outcome out = swing_in_a_bowl(h, 20);
        printf("     h %-9.4g depth %.3e, height %+.3e\n", h, out.depth, out.energy - 1.0);
        // The angle of a step at the lowest point is h sqrt(2 g (1 - cos 1.1)/0.9) = 3.5 h/s. Plain
        // steps lose its square of the energy each; here that is about what is lost in all.
        check_close("height of the 19th swing", out.energy, 1.0, pow(3.5 * h, 2), "second order");
        check_below("depth", fabs(out.depth), 20.0 * pow(3.5 * h, 2), "second order, 20 swings");
    }
}

/// A square that tumbles in a drum, and a polygon that rolls on a floor: what its turning takes
/// from gaps never adds to its energy.
static void tumbling_gains_no_energy(void** state)
{
    (void)state;
    for (int rolls = 0; rolls < 2; rolls++) {
        for (int friction = 0; friction < 2; friction++) {
            const double h = 0.005, g = rolls ? 9.81 : 0.0;
            talus_world_def def = physics_def(2);
            def.solver.separate_overlaps = false;
            def.gravity[1] = -g;
            talus_world* world = physics_world(&def, friction ? 0.8 : 0.0);
            talus_wall_def drum = drum_of(1.0, 0.0);
            if (rolls) {
                physics_plane(world, "floor", 0, 1, 0);
            } else {
                physics_wall(world, &drum);
            }
            double corner[24];
            const int corners = rolls ? 12 : 4;
            for (int k = 0; k < corners; k++) {
                corner[2 * k] = 0.3 * cos(2.0 * M_PI * k / corners);
                corner[2 * k + 1] = 0.3 * sin(2.0 * M_PI * k / corners);
            }
            talus_solid_id shape = physics_solid(world, "polygon", corner, corners);
            talus_grain_def body = physics_block(shape, 0.1, rolls ? 0.3 : 0.2, 0);
            body.velocity[0] = 1.0, body.spin[2] = rolls ? -3.3 : 4.0;
            int64_t id = physics_add(world, &body);
            const double mass = physics_total_mass(world);
            double least = INFINITY, gained = 0.0, start = 0.0;
            for (int step = 0; step < 2000; step++) {
                physics_step(world, h);
                const double e = kinetic(world) + mass * g * grain_x(world, id, 1);
                if (step == 0) start = e;
                least = fmin(least, e);
                gained = fmax(gained, e - least);
            }
            printf("     %s, mu %g: energy %.6g to %.6g, gained %.2e at most\n",
                   rolls ? "rolls" : "tumbles", friction ? 0.8 : 0.0, start, least, gained / start);
            check_below("energy gained since the least", gained / start, 1e-8,
                        "errors of the solver, 1e-13 of an impulse in 2000 steps");
            talus_world_destroy(world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_sinks_into_a_curve),
        cmocka_unit_test(nothing_sinks_into_a_turning_face),
        cmocka_unit_test(thrown_blocks_hardly_overlap),
        cmocka_unit_test(a_swing_keeps_its_height),
        cmocka_unit_test(tumbling_gains_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
