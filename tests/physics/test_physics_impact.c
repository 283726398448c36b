/// Impacts, stacks and overlaps: a few contacts against formulas.
///
/// An inelastic impact with Coulomb friction: the normal impulse stops the approach, J_n = m_n v_n;
/// the tangential one stops the slip, J_t = m_t u_t, unless that is more than mu J_n (gross slip).
/// With a gap it takes two steps (UK, BUW 1.6): the first closes the gap, the second stops.
#include "physics.h"

/// Rounding of positions of size x is felt as a velocity x eps/h; and velocities of size v round.
static double impact_noise(double x, double v, double h)
{
    return 8.0 * DBL_EPSILON * (x / h + v);
}

/// Two balls meet head on along a slanted line.
static void pair_collides_in_two_steps(void** state)
{
    (void)state;
    const double h = 0.01, m1 = 1.0, m2 = 2.5, r1 = 0.3, r2 = 0.5, gap = 0.004, v1 = 1.3, v2 = -0.2;
    for (int dim = 2; dim <= 3; dim++) {
        const double dir[3] = {dim == 2 ? 0.6 : 0.48, 0.8, dim == 2 ? 0.0 : 0.36};
        talus_world* world = physics_world_g(dim, 0.4, 0, 0, 0);
        talus_grain_def one = physics_ball(r1, m1, 0, 0, 0), two = physics_ball(r2, m2, 0, 0, 0);
        for (int k = 0; k < 3; k++) {
            two.position[k] = (r1 + r2 + gap) * dir[k];
            one.velocity[k] = v1 * dir[k];
            two.velocity[k] = v2 * dir[k];
        }
        int64_t a = physics_add(world, &one), b = physics_add(world, &two);
        const double noise = impact_noise(1.0, 2.0, h);
        double before[3], after[3];
        talus_measure_momentum(world, before);
        const double approach[3] = {gap / h, 0.0, 0.0}; // after step 1, 2, 3
        for (int step = 0; step < 3; step++) {
            talus_step_result result = physics_step(world, h);
            assert_true(result.converged);
            check_below("sweeps", (double)result.sweeps, 4,
                        "one contact is exact after one sweep, also when only rounding pushes");
            double closing = 0.0, distance = 0.0;
            for (int k = 0; k < dim; k++) {
                closing += (grain_v(world, a, k) - grain_v(world, b, k)) * dir[k];
                distance += (grain_x(world, b, k) - grain_x(world, a, k)) * dir[k];
            }
            check_close("approach", closing, approach[step], noise, "roundoff of the gap over h");
            check_close("gap", distance - r1 - r2, 0.0, h * noise, "roundoff of positions");
            talus_measure_momentum(world, after);
            for (int k = 0; k < dim; k++) {
                check_close("momentum", after[k], before[k], 8 * DBL_EPSILON * 3.0,
                            "equal and opposite impulses; roundoff of a few additions");
            }
        }
        const double common = (m1 * v1 + m2 * v2) / (m1 + m2);
        for (int k = 0; k < dim; k++) {
            check_close("common velocity", grain_v(world, a, k), common * dir[k], noise,
                        "roundoff");
        }
        talus_world_destroy(world);
    }
}

/// A ball hits the plane y = 0 with tangential velocity vt and normal velocity vn from a gap.
static void hit_wall(int dim, double mu, double vt, double vn, double w0, double gap, double out[2])
{
    const double h = 0.01, r = 0.5;
    talus_world* world = physics_world_g(dim, mu, 0, 0, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def def = physics_ball(r, 1.7, 0, r + gap, 0);
    def.velocity[0] = vt;
    def.velocity[1] = -vn;
    def.spin[2] = w0;
    int64_t id = physics_add(world, &def);
    physics_steps(world, h, 3);
    check_close("no bounce", grain_v(world, id, 1), 0.0, impact_noise(1, 2, h),
                "inelastic; roundoff");
    out[0] = grain_v(world, id, 0);
    out[1] = r * grain_w(world, id, 2);
    talus_world_destroy(world);
}

static void oblique_impact_on_a_wall(void** state)
{
    (void)state;
    const double mu = 0.3, vn = 1.0, w0 = 0.4, r = 0.5, off = 1e-6, h = 0.01;
    for (int dim = 2; dim <= 3; dim++) {
        const double kappa = roll_kappa(dim), noise = impact_noise(1, 4, h);
        for (int from_gap = 0; from_gap <= 1; from_gap++) {
            const double gap = from_gap ? 0.004 : 0.0;
            // Slip at impact u = vt + r w0; gross slip when u > (1 + kappa) mu vn: 7/2 mu, or 3 mu.
            double edge = (1 + kappa) * mu * vn, out[2];
            double vt = edge * (1 - off) - r * w0, u = vt + r * w0;
            hit_wall(dim, mu, vt, vn, w0, gap, out);
            check_close("below gross slip: v", out[0], vt - u / (1 + kappa), noise, "roundoff");
            check_close("below gross slip: R omega", out[1], r * w0 - u * kappa / (1 + kappa),
                        noise, "roundoff");
            check_close("below gross slip: no slip", out[0] + out[1], 0.0, noise, "roundoff");
            vt = edge * (1 + off) - r * w0, u = vt + r * w0;
            hit_wall(dim, mu, vt, vn, w0, gap, out);
            check_close("gross slip: v", out[0], vt - mu * vn, noise, "roundoff");
            check_close("gross slip: R omega", out[1], r * w0 - kappa * mu * vn, noise, "roundoff");
            check_close("gross slip: slip left", out[0] + out[1], u - edge, 2 * noise, "roundoff");
            assert_true(u - edge > 100 * noise);
        }
    }
}

/// Two touching balls of different size; n = x. Tangential response of both: (1 + kappa)(1/m1 +
/// 1/m2).
static void oblique_impact_of_two_balls(void** state)
{
    (void)state;
    const double h = 0.01, m1 = 1.0, m2 = 3.0, r1 = 0.25, r2 = 0.5, mu = 0.2, vn = 1.0;
    const double share = 1 / (1 / m1 + 1 / m2);
    for (int dim = 2; dim <= 3; dim++) {
        const double kappa = roll_kappa(dim), noise = impact_noise(1, 4, h);
        const double edge = (1 + kappa) * mu * vn;
        for (int above = 0; above <= 1; above++) {
            const double u = edge * (above ? 1.5 : 0.9);
            const int t = dim == 2 ? 1 : 2, spin = dim == 2 ? 2 : 1; // tangent y in 2D, z in 3D
            talus_world* world = physics_world_g(dim, mu, 0, 0, 0);
            talus_grain_def one = physics_ball(r1, m1, 0, 0, 0);
            talus_grain_def two = physics_ball(r2, m2, r1 + r2, 0, 0);
            one.velocity[0] = vn;
            one.velocity[t] = u;
            int64_t a = physics_add(world, &one), b = physics_add(world, &two);
            physics_step(world, h);
            const double jn = share * vn, jt = above ? mu * jn : share * u / (1 + kappa);
            check_close("normal 1", grain_v(world, a, 0), vn - jn / m1, noise, "roundoff");
            check_close("normal 2", grain_v(world, b, 0), jn / m2, noise, "roundoff");
            check_close("tangential 1", grain_v(world, a, t), u - jt / m1, noise, "roundoff");
            check_close("tangential 2", grain_v(world, b, t), jt / m2, noise, "roundoff");
            // The impulse -jt acts on 1 at +r1 x, +jt on 2 at -r2 x: both turn the same way.
            const double sign = dim == 2 ? -1.0 : 1.0;
            check_close("spin 1", r1 * grain_w(world, a, spin), sign * kappa * jt / m1, noise,
                        "roundoff");
            check_close("spin 2", r2 * grain_w(world, b, spin), sign * kappa * jt / m2, noise,
                        "roundoff");
            talus_world_destroy(world);
        }
    }
}

/// A ball thrown at an inclined plane, or at a huge fixed sphere with the same tangent plane.
static void thrown_at(int dim, bool sphere, double big, const double n[3], double out[6])
{
    const double r = 0.01, h = 1e-3, gap = 0.0015;
    talus_world* world = physics_world_g(dim, 0.25, 0.3, -1.0, 0.2);
    if (sphere) {
        talus_grain_def fixed = physics_ball(big, 1.0, -big * n[0], -big * n[1], -big * n[2]);
        fixed.fixed = true;
        physics_add(world, &fixed);
    } else {
        physics_plane(world, "slope", n[0], n[1], n[2]);
    }
    talus_grain_def ball =
        physics_ball(r, 0.02, (r + gap) * n[0], (r + gap) * n[1], (r + gap) * n[2]);
    ball.velocity[0] = 1.2, ball.velocity[1] = -0.9, ball.velocity[2] = -0.4;
    int64_t id = physics_add(world, &ball);
    physics_steps(world, h, 20);
    for (int k = 0; k < 3; k++) {
        out[k] = k < dim ? grain_v(world, id, k) : 0.0;
        out[3 + k] = dim == 3 || k == 2 ? r * grain_w(world, id, k) : 0.0;
    }
    talus_world_destroy(world);
}

static void plane_and_huge_sphere_give_the_same_bounce(void** state)
{
    (void)state;
    // In 20 ms the ball moves by less than 1.6 m/s * 20 ms: the sphere's normal differs from the
    // plane's by path/R at most, and with it each velocity by a few times 1.6 m/s path/R.
    const double path = 1.6 * 0.02, size[2] = {1e3, 1e4};
    for (int dim = 2; dim <= 3; dim++) {
        const double n[3] = {0.36, dim == 2 ? sqrt(1 - 0.36 * 0.36) : 0.8, dim == 2 ? 0.0 : 0.48};
        double plane[6], ball[6], error[2] = {0, 0};
        thrown_at(dim, false, 0, n, plane);
        for (int i = 0; i < 2; i++) {
            thrown_at(dim, true, size[i], n, ball);
            for (int k = 0; k < 6; k++) error[i] = fmax(error[i], fabs(ball[k] - plane[k]));
            check_below("plane against huge sphere", error[i], 4 * 1.6 * path / size[i],
                        "curvature: normal turned by path/R; 4 for velocity and spin (kappa)");
        }
        check_close("error scales with curvature", error[0] / error[1], size[1] / size[0],
                    0.05 * size[1] / size[0],
                    "linear in 1/R; rounding of positions 1e4 eps/h = 2e-9 against 1e-6 and less");
    }
}

/// g pushes an overlap out within one step with speed overlap/h, and the grains fly on; g+ keeps
/// it.
static void overlap_is_pushed_out_or_kept(void** state)
{
    (void)state;
    const double h = 1e-3, r = 0.5, overlap = 1e-4, m1 = 1.0, m2 = 3.0;
    for (int dim = 2; dim <= 3; dim++) {
        for (int push = 0; push <= 1; push++) {
            talus_world_def def = physics_def(dim);
            def.solver.push_out_overlap = push;
            def.solver.separate_overlaps = false;
            talus_world* world = physics_world(&def, 0.5);
            talus_grain_def one = physics_ball(r, m1, 0, 0, 0);
            talus_grain_def two = physics_ball(r, m2, 2 * r - overlap, 0, 0);
            int64_t a = physics_add(world, &one), b = physics_add(world, &two);
            const double noise = impact_noise(1, 1, h), speed = push ? overlap / h : 0.0;
            for (int step = 1; step <= 3; step++) {
                talus_step_result result = physics_step(world, h);
                check_close("separation speed", grain_v(world, b, 0) - grain_v(world, a, 0), speed,
                            noise, "roundoff of the overlap over h");
                check_close("share of the light grain", grain_v(world, a, 0), -speed * 0.75, noise,
                            "momentum; roundoff");
                check_close("gap", grain_x(world, b, 0) - grain_x(world, a, 0) - 2 * r,
                            push ? (step - 1) * overlap : -overlap, step * h * noise, "roundoff");
                check_close("overlap_max", result.overlap_max * 2 * r, push ? 0.0 : overlap,
                            step * h * noise, "reported overlap; roundoff");
            }
            talus_world_destroy(world);
        }
    }
}

/// Twenty grains of different masses on each other: a contact carries the weight above it.
static void stack_of_twenty(void** state)
{
    (void)state;
    enum { N = 20 };
    const double g = 9.81, h = 1e-3, r = 0.05;
    for (int dim = 2; dim <= 3; dim++) {
        const int up = dim - 1;
        talus_world* world = physics_world_g(dim, 0.5, 0, dim == 2 ? -g : 0, dim == 3 ? -g : 0);
        talus_wall_id floor_wall = physics_plane(world, "floor", 0, dim == 2, dim == 3);
        int64_t id[N];
        double above[N + 1];
        above[N] = 0.0;
        for (int i = 0; i < N; i++) {
            double y = r + 2 * r * i;
            talus_grain_def def = physics_ball(r, 1.0 + 0.1 * (i % 7), 0, dim == 2 ? y : 0, y);
            id[i] = physics_add(world, &def);
        }
        for (int i = N - 1; i >= 0; i--) above[i] = above[i + 1] + (1.0 + 0.1 * (i % 7)) * g;
        for (int step = 0; step < 5; step++) {
            talus_step_result result = physics_step(world, h);
            assert_true(result.converged);
            // An error of residual e is e |p| in one impulse; slow modes multiply it by (L/d)^2.
            // The rounding of the gaps, 2 eps at most, acts as a velocity eps/h on masses of
            // about 1.
            double tolerance =
                result.residual * N * N * above[0] * sqrt(N) + N * N * 4 * DBL_EPSILON / (h * h);
            for (int i = 0; i < N; i++) {
                int64_t below = i == 0 ? -1 - floor_wall.index : id[i - 1];
                check_close("weight above", contact_normal_force(world, below, id[i]), above[i],
                            tolerance, "residual (L/d)^2 |p| plus rounding of gaps over h^2");
            }
            check_close("floor force", wall_force(world, floor_wall, up), -above[0], tolerance,
                        "the same");
            assert_true(tolerance < 0.01 * above[N - 1]);
        }
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pair_collides_in_two_steps),
        cmocka_unit_test(oblique_impact_on_a_wall),
        cmocka_unit_test(oblique_impact_of_two_balls),
        cmocka_unit_test(plane_and_huge_sphere_give_the_same_bounce),
        cmocka_unit_test(overlap_is_pushed_out_or_kept),
        cmocka_unit_test(stack_of_twenty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
