/// Mobile boxes, cylinders and planes in 3D, whose contacts have a full Delassus block.
///
/// Impacts against formulas where there is one; elsewhere the outcome of a step is put into
/// Newton's equations and the law of Signorini and Coulomb, which have a unique solution for these
/// blocks.
#include "physics.h"

static double noise(int n, double h)
{
    return 16.0 * n * DBL_EPSILON / h;
}

static talus_wall_def mobile(const char* name, double mass, bool x, bool y, bool z)
{
    talus_wall_def def = talus_wall_default();
    def.name = name;
    def.drive.kind = TALUS_DRIVE_FORCE;
    def.drive.mass = mass;
    def.drive.free_axes[0] = x, def.drive.free_axes[1] = y, def.drive.free_axes[2] = z;
    return def;
}

/// A locked grain slides on the floor of a free container: friction brings both to one velocity.
static void grain_slides_in_a_mobile_box(void** state)
{
    (void)state;
    const double g = 9.81, mu = 0.3, m = 1.0, M = 3.0, r = 0.1, v0 = 1.0, h = 1e-3;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, mu, 0, -g, 0);
        talus_wall_def def = mobile("box", M, true, false, false);
        def.shape.kind = TALUS_SHAPE_BOX;
        def.shape.inside = true;
        for (int k = 0; k < 3; k++) def.shape.half_size[k] = 1.0;
        talus_wall_id box = physics_wall(world, &def);
        talus_grain_def ball = physics_ball(r, m, 0, -1 + r, 0);
        ball.velocity[0] = v0;
        ball.locked_rotation = true;
        int64_t id = physics_add(world, &ball);
        const double a = mu * g, A = mu * m * g / M; // relative slip v0 used up at a + A
        const int last = (int)floor(v0 / ((a + A) * h));
        physics_steps(world, h, last);
        check_close("grain braked by mu g", grain_v(world, id, 0), v0 - last * h * a,
                    noise(last, h), "n h a; roundoff");
        check_close("box drawn by mu m g/M", wall_state(world, box).velocity[0], last * h * A,
                    noise(last, h), "n h A; roundoff");
        physics_steps(world, h, 10);
        const double common = m * v0 / (m + M);
        check_close("common velocity, grain", grain_v(world, id, 0), common, noise(last, h),
                    "roundoff");
        check_close("common velocity, box", wall_state(world, box).velocity[0], common,
                    noise(last, h), "roundoff");
        talus_world_destroy(world);
    }
}

/// A smooth grain flies into the corner of a free box and takes it along in every direction.
static void grain_in_the_corner_of_a_mobile_box(void** state)
{
    (void)state;
    const double m = 1.0, M = 3.0, r = 0.1, h = 1e-3, v[3] = {1.0, 0.7, 0.4};
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        talus_wall_def def = mobile("box", M, true, true, dim == 3);
        def.shape.kind = TALUS_SHAPE_BOX;
        def.shape.inside = true;
        for (int k = 0; k < 3; k++) def.shape.half_size[k] = 1.0;
        talus_wall_id box = physics_wall(world, &def);
        talus_grain_def ball = physics_ball(r, m, 1 - r, 1 - r, 1 - r);
        memcpy(ball.velocity, v, sizeof v);
        int64_t id = physics_add(world, &ball);
        physics_step(world, h);
        for (int k = 0; k < dim; k++) {
            check_close("corner: grain", grain_v(world, id, k), v[k] * m / (m + M), noise(1, h),
                        "inelastic along every axis; roundoff");
            check_close("corner: box", wall_state(world, box).velocity[k], v[k] * m / (m + M),
                        noise(1, h), "the same");
        }
        talus_world_destroy(world);
    }
}

/// A rough grain hits a free round post (no rotation): 1/m_n = 1/m + 1/M, 1/m_t = (1 + kappa)/m +
/// 1/M.
static void grain_hits_a_mobile_post(void** state)
{
    (void)state;
    const double m = 1.0, M = 2.0, r = 0.1, R = 0.4, h = 1e-3, un = 1.0, angle = 0.7, kappa = 2.0;
    const double n[2] = {cos(angle), sin(angle)}, t[2] = {-sin(angle), cos(angle)}, mu = 0.25;
    const double mn = 1 / (1 / m + 1 / M), mt = 1 / ((1 + kappa) / m + 1 / M);
    for (int slips = 0; slips <= 1; slips++) {
        const double ut = (slips ? 1.5 : 0.8) * mu * mn * un / mt;
        talus_world* world = physics_world_g(2, mu, 0, 0, 0);
        talus_wall_def def = mobile("post", M, true, true, false);
        def.shape.kind = TALUS_SHAPE_CYLINDER;
        def.shape.radius = R;
        talus_wall_id post = physics_wall(world, &def);
        talus_grain_def ball = physics_ball(r, m, (R + r) * n[0], (R + r) * n[1], 0);
        for (int k = 0; k < 2; k++) ball.velocity[k] = -un * n[k] + ut * t[k];
        int64_t id = physics_add(world, &ball);
        physics_step(world, h);
        const double jn = mn * un, jt = slips ? mu * jn : mt * ut;
        for (int k = 0; k < 2; k++) {
            double impulse = jn * n[k] - jt * t[k];
            check_close("post: grain", grain_v(world, id, k), ball.velocity[k] + impulse / m,
                        noise(1, h), "roundoff of the gap over h");
            check_close("post: post", wall_state(world, post).velocity[k], -impulse / M,
                        noise(1, h), "the same");
        }
        check_close("post: spin", r * grain_w(world, id, 2), kappa * jt / m, noise(1, h),
                    "the same");
        talus_world_destroy(world);
    }
}

static double dot3(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Step once and put the outcome into Newton's equations and the law. Returns the contact's state.
static int check_law_of_a_step(talus_world* world, talus_wall_id wall, int64_t id,
                               const bool free_axes[3], double M, double mu, double h)
{
    const double kappa = 2.5, m = talus_world_grains(world).mass[0];
    const double r = talus_world_grains(world).radius[0];
    double v0[3], w0[3], V0[3];
    for (int k = 0; k < 3; k++) {
        v0[k] = grain_v(world, id, k), w0[k] = grain_w(world, id, k);
        V0[k] = wall_state(world, wall).velocity[k];
    }
    physics_step(world, h);
    int64_t c = find_contact(world, -1 - wall.index, id);
    assert_true(c >= 0);
    talus_contacts all = talus_world_contacts(world);
    const double *n = all.normal + 3 * c, *F = all.force + 3 * c;
    double p[3], u[3], turn[3];
    for (int k = 0; k < 3; k++) p[k] = h * F[k];
    // The arm is -r n: torque -r n x p, and the surface moves with v + w x (-r n).
    const double nxp[3] = {n[1] * p[2] - n[2] * p[1], n[2] * p[0] - n[0] * p[2],
                           n[0] * p[1] - n[1] * p[0]};
    const double e = noise(1, h);
    for (int k = 0; k < 3; k++) {
        check_close("Newton, grain", grain_v(world, id, k), v0[k] + p[k] / m, e, "roundoff");
        check_close("Newton, spin", r * grain_w(world, id, k), r * w0[k] - kappa / m * nxp[k], e,
                    "roundoff");
        check_close("Newton, wall", wall_state(world, wall).velocity[k],
                    V0[k] - (free_axes[k] ? p[k] / M : 0.0), e, "roundoff");
        turn[k] = r * grain_w(world, id, k);
    }
    const double nxw[3] = {n[1] * turn[2] - n[2] * turn[1], n[2] * turn[0] - n[0] * turn[2],
                           n[0] * turn[1] - n[1] * turn[0]};
    for (int k = 0; k < 3; k++) {
        u[k] = grain_v(world, id, k) + nxw[k] - wall_state(world, wall).velocity[k];
    }
    const double un = dot3(u, n), pn = dot3(p, n);
    double ut2 = 0, pt2 = 0, along = 0;
    for (int k = 0; k < 3; k++) {
        double ut = u[k] - un * n[k], pt = p[k] - pn * n[k];
        ut2 += ut * ut, pt2 += pt * pt, along += ut * pt;
    }
    check_close("Signorini: closed", un, 0.0, e, "roundoff of the gap over h");
    check_below("Signorini: pushes", -pn, -0.01, "it was hit");
    check_below("Coulomb: cone", sqrt(pt2), mu * pn + e, "roundoff");
    if (all.state[c] == TALUS_CONTACT_STICK) {
        check_close("Coulomb: no slip", sqrt(ut2), 0.0, e, "roundoff");
    } else {
        check_close("Coulomb: bound reached", sqrt(pt2), mu * pn, e, "roundoff");
        // The angle of slip is found by bisection to 2 pi/2^60, and the residual stops at 1e-13.
        check_close("Coulomb: against the slip", along, -sqrt(ut2 * pt2), 1e-12 * (ut2 + pt2),
                    "solver tolerance 1e-13");
    }
    return all.state[c];
}

/// Planes of any tilt and cylinders, free along some axes only, hit by a sphere from random
/// directions.
static void law_holds_at_mobile_walls(void** state)
{
    (void)state;
    dice d = {42};
    const double r = 0.1, m = 1.0, h = 1e-3;
    int seen[3] = {0, 0, 0};
    for (int trial = 0; trial < 60; trial++) {
        const double M = 0.1 + 3 * dice_roll(&d), mu = dice_roll(&d);
        bool axes[3] = {trial & 1, trial & 2, trial & 4};
        if (!axes[0] && !axes[1] && !axes[2]) axes[0] = true;
        double n[3] = {dice_roll(&d) - 0.5, dice_roll(&d) - 0.5, dice_roll(&d) - 0.5};
        const bool cylinder = trial % 3 == 0;
        if (cylinder) n[2] = 0.0;
        const double length = sqrt(dot3(n, n));
        for (int k = 0; k < 3; k++) n[k] /= length;
        talus_world* world = physics_world_g(3, mu, 0, 0, 0);
        talus_wall_def def = mobile("wall", M, axes[0], axes[1], axes[2]);
        const double R = cylinder ? 0.3 : 0.0;
        if (cylinder) {
            def.shape.kind = TALUS_SHAPE_CYLINDER;
            def.shape.axis[2] = 1.0;
            def.shape.radius = R;
        } else {
            def.shape.kind = TALUS_SHAPE_PLANE;
            memcpy(def.shape.normal, n, sizeof n);
        }
        talus_wall_id wall = physics_wall(world, &def);
        talus_grain_def ball = physics_ball(r, m, (R + r) * n[0], (R + r) * n[1], (R + r) * n[2]);
        for (int k = 0; k < 3; k++) {
            ball.velocity[k] = 2 * (dice_roll(&d) - 0.5) - n[k] * 1.8;
            ball.spin[k] = 5 * (dice_roll(&d) - 0.5);
        }
        int64_t id = physics_add(world, &ball);
        seen[check_law_of_a_step(world, wall, id, axes, M, mu, h)]++;
        talus_world_destroy(world);
    }
    assert_true(seen[TALUS_CONTACT_STICK] >= 5 && seen[TALUS_CONTACT_SLIDE] >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grain_slides_in_a_mobile_box),
        cmocka_unit_test(grain_in_the_corner_of_a_mobile_box),
        cmocka_unit_test(grain_hits_a_mobile_post),
        cmocka_unit_test(law_holds_at_mobile_walls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
