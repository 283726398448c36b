/// Coarse-grained fields: kernels against quadrature, conserved sums, the balance of momentum.
#include "measure/kernel.h"
#include "physics.h"
#include "random.h"

static talus_field field_of(const talus_world* world, const talus_field_def* def)
{
    talus_error error;
    talus_field f;
    check_ok(talus_measure_field(world, def, &f, &error), error);
    return f;
}

static double cell_volume(const talus_field* f)
{
    return f->spacing[0] * f->spacing[1] * (f->dim == 3 ? f->spacing[2] : 1.0);
}

static int64_t add_ball(talus_world* world, double r, double x, double y, double z)
{
    const talus_grain_def def = physics_ball(r, 1.0, x, y, z);
    return physics_add(world, &def);
}

// ---- kernels -----------------------------------------------------------------------------------

/// Integral 1, and along random lines the mean of many points.
static void test_kernels(void** state)
{
    (void)state;
    rng r = rng_make(1, 0, 0);
    for (int i = 0; i < 2 * TALUS_KERNEL_COUNT; i++) {
        const int dim = 2 + i % 2, steps = 20000;
        const kernel k = kernel_make((talus_kernel)(i / 2), dim, 0.7);
        double sum = 0.0;
        for (int s = 0; s < steps; s++) {
            const double q = (s + 0.5) * k.reach / steps;
            const double shell = dim == 2 ? 2.0 * M_PI * q : 4.0 * M_PI * q * q;
            sum += kernel_at(&k, q * q) * shell * k.reach / steps;
        }
        check_close("integral", sum, 1.0, 1e-7, "midpoint rule of 20000 points: 2e-9");
        check_close("end", kernel_at(&k, k.reach * k.reach), 0.0, 0.0, "nothing beyond");
        for (int n = 0; n < 20; n++) {
            double arm[3] = {0}, branch[3] = {0}, mean = 0.0;
            for (int d = 0; d < dim; d++) {
                arm[d] = uniform(&r, -1.0, 1.0) * (n == 0 ? 0.0 : 1.0);
                branch[d] = uniform(&r, -2.0, 2.0) * (n == 1 ? 1e-9 : 1.0);
            }
            for (int s = 0; s < steps; s++) {
                double square = 0.0;
                for (int d = 0; d < dim; d++) {
                    const double x = arm[d] + (s + 0.5) / steps * branch[d];
                    square += x * x;
                }
                mean += kernel_at(&k, square) / steps;
            }
            check_close("along a line", kernel_along(&k, arm, branch), mean,
                        2.0 * k.factor / steps + 1e-8,
                        "where the kernel ends with a jump, two of the 20000 points; 1e-8 for the "
                        "difference of primitives on a short line");
        }
    }
}

// ---- sums --------------------------------------------------------------------------------------

/// Touching grains pressed together at random in a periodic cell, after a step.
static talus_world* pressed(int dim, int threads)
{
    talus_world_def def = physics_def(dim);
    def.threads = threads;
    for (int k = 0; k < dim; k++) def.periodic[k] = true, def.cell_high[k] = 5.0;
    talus_world* world = physics_world(&def, 0.3);
    rng r = rng_make(2, 0, 0);
    const int count = dim == 2 ? 25 : 125;
    for (int i = 0; i < count; i++) {
        talus_grain_def g =
            physics_ball(0.5, uniform(&r, 1, 2), i % 5 + 0.3, i / 5 % 5 + 0.4, i / 25 + 0.2);
        for (int k = 0; k < dim; k++) {
            g.velocity[k] = uniform(&r, -1, 1);
            g.external_force[k] = uniform(&r, -100, 100);
        }
        physics_add(world, &g);
    }
    physics_step(world, 1e-3);
    return world;
}

/// Over a periodic cell the fields sum up to mass, solid volume, momentum and sum of f l.
static void test_sums(void** state)
{
    (void)state;
    static const struct {
        talus_kernel kernel;
        double width, error;
        const char* why;
    } cases[] = {
        {TALUS_KERNEL_GAUSS, 0.8, 3e-4, "what is cut off at 4 w is exp(-8) = 3e-4 of the peak"},
        {TALUS_KERNEL_LUCY, 2.0, 3e-4, "(spacing/width)^5: its third derivative jumps"},
        {TALUS_KERNEL_HEAVISIDE, 2.0, 0.02, "(spacing/width)^1.5, over 25 grains"},
    };
    for (int i = 0; i < 6; i++) {
        const int dim = 2 + i % 2;
        talus_world* world = pressed(dim, 1);
        talus_field_def def = talus_field_default();
        def.kernel = cases[i / 2].kernel;
        def.width = cases[i / 2].width;
        for (int k = 0; k < dim; k++) def.cells[k] = dim == 2 ? 13 : 11;
        talus_field f = field_of(world, &def);
        talus_grains g = talus_world_grains(world);
        talus_measure_def stress_def = talus_measure_default();
        talus_stress stress;
        talus_error error;
        check_ok(talus_measure_stress(world, &stress_def, &stress, &error), error);
        double mass = 0.0, solid = 0.0, momentum = 0.0, virial = 0.0, twice = 0.0, kinetic = 0.0;
        for (int64_t n = 0; n < f.count; n++) {
            mass += f.density[n] * cell_volume(&f);
            solid += f.fraction[n] * cell_volume(&f);
            momentum += f.momentum[n * dim] * cell_volume(&f);
            for (int k = 0; k < dim; k++) {
                const double v = f.velocity[n * dim + k];
                virial += f.contact[9 * n + 4 * k] * cell_volume(&f);
                kinetic += (f.kinetic[9 * n + 4 * k] + f.density[n] * v * v) * cell_volume(&f);
            }
        }
        double all = 0.0, px = 0.0, size = 0.0;
        for (int64_t n = 0; n < g.count; n++) {
            all += g.mass[n];
            px += g.mass[n] * g.velocity[n * dim];
            size += g.mass[n] * fabs(g.velocity[n * dim]);
            for (int k = 0; k < dim; k++) {
                twice += g.mass[n] * g.velocity[n * dim + k] * g.velocity[n * dim + k];
            }
        }
        const double fl = stress.volume * (stress.contact[0] + stress.contact[4] +
                                           (dim == 3 ? stress.contact[8] : 0.0));
        const double near = cases[i / 2].error;
        check_close("mass", mass / all, 1.0, near, cases[i / 2].why);
        check_close("solid", solid / ((double)g.count * (dim == 2 ? M_PI / 4 : M_PI / 6)), 1.0,
                    near, cases[i / 2].why);
        check_close("momentum", (momentum - px) / size, 0.0, near, cases[i / 2].why);
        check_close("virial", virial / fl, 1.0, near, cases[i / 2].why);
        check_close("energy", kinetic / twice, 1.0, near, cases[i / 2].why);
        assert_true(fl > 0.0);
        talus_field_free(&f);
        talus_world_destroy(world);
    }
}

/// Grains that all move alike: the velocity is theirs at every point, and there is no heat.
static void test_uniform_motion(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    rng r = rng_make(3, 0, 0);
    for (int i = 0; i < 30; i++) {
        talus_grain_def g = physics_ball(0.1, 1.0, uniform(&r, 0, 5), uniform(&r, 0, 5), 0);
        g.velocity[0] = 3.0, g.velocity[1] = -2.0;
        physics_add(world, &g);
    }
    talus_field_def def = talus_field_default();
    def.width = 1.0;
    talus_field f = field_of(world, &def);
    double worst = 0.0, heat = 0.0;
    for (int64_t n = 0; n < f.count; n++) {
        if (f.density[n] == 0.0) continue;
        worst = fmax(worst, fabs(f.velocity[2 * n] - 3.0) + fabs(f.velocity[2 * n + 1] + 2.0));
        heat = fmax(heat, fabs(f.kinetic[9 * n]) / f.density[n]);
    }
    check_below("velocity", worst, 1e-14, "roundoff");
    check_below("heat", heat, 1e-13, "roundoff of v^2");
    talus_field_free(&f);
    talus_world_destroy(world);
}

// ---- balance of momentum -----------------------------------------------------------------------

/// A pyramid of disks between walls or a column of balls, at rest on a floor.
static talus_world* resting(int dim)
{
    talus_world* world = physics_world_g(dim, 0.9, 0, dim == 2 ? -10 : 0, dim == 3 ? -10 : 0);
    if (dim == 2) {
        physics_plane(world, "floor", 0, 1, 0);
        physics_plane_at(world, "left", 1, 0, 0, -0.5, 0, 0);
        physics_plane_at(world, "right", -1, 0, 0, 3.5, 0, 0);
        for (int row = 0; row < 4; row++) {
            for (int i = 0; i < 4 - row; i++) {
                add_ball(world, 0.5, i + 0.5 * row, 0.5 + row * sqrt(0.75), 0);
            }
        }
    } else {
        physics_plane(world, "floor", 0, 0, 1);
        for (int i = 0; i < 3; i++) add_ball(world, 0.5, 0, 0, 0.5 + i);
    }
    physics_step(world, 1e-3);
    return world;
}

/// Largest |div contact - density g - boundary| over largest density g, divergence by central
/// differences on n points along each axis.
static double imbalance(const talus_world* world, talus_kernel kind, double width, int n)
{
    talus_field_def def = talus_field_default();
    const int dim = talus_world_options(world)->dim;
    const double* g = talus_world_options(world)->gravity;
    def.kernel = kind;
    def.width = width;
    def.domain.walls = false; // also behind the floor, where the kernel reaches
    for (int k = 0; k < dim; k++) {
        def.cells[k] = n;
        def.domain.bounds.low[k] = -1.5, def.domain.bounds.high[k] = 5.0;
    }
    talus_field f = field_of(world, &def);
    double worst = 0.0, scale = 0.0;
    for (int64_t p = 0; p < f.count; p++) {
        const int64_t at[3] = {p % n, p / n % n, p / n / n};
        const int64_t jump[3] = {1, n, (int64_t)n * n};
        bool inner = true;
        for (int k = 0; k < dim; k++) inner = inner && at[k] > 0 && at[k] < n - 1;
        for (int i = 0; i < dim && inner; i++) {
            double div = 0.0;
            for (int j = 0; j < dim; j++) {
                div += (f.contact[9 * (p + jump[j]) + 3 * i + j] -
                        f.contact[9 * (p - jump[j]) + 3 * i + j]) /
                       (2.0 * f.spacing[j]);
            }
            const double load = f.density[p] * g[i] + f.boundary[p * dim + i];
            worst = fmax(worst, fabs(div - load));
            scale = fmax(scale, fabs(f.density[p] * g[i]));
        }
    }
    talus_field_free(&f);
    return worst / scale;
}

/// At rest the divergence of the stress carries the weight, at every point: what is left is the
/// error of the differences, which falls with the square of the spacing.
static void test_balance(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = resting(dim);
        talus_grains g = talus_world_grains(world);
        for (int64_t i = 0; i < g.count * dim; i++) {
            check_close("at rest", g.velocity[i], 0.0, 1e-10, "forces solved to 1e-13");
        }
        const int n = dim == 2 ? 100 : 40;
        const double coarse = imbalance(world, TALUS_KERNEL_LUCY, 2.0, n);
        const double fine = imbalance(world, TALUS_KERNEL_LUCY, 2.0, 2 * n);
        const double spacing = 6.5 / n;
        check_below("what is left", fine, 5.0 * pow(spacing / 2 / 2.0, 2),
                    "central differences: third derivatives times (spacing/width)^2");
        check_close("order of what is left", log2(coarse / fine), 2.0, 0.2,
                    "second order; Lucy's third derivative jumps");
        check_below("with Gauss", imbalance(world, TALUS_KERNEL_GAUSS, 0.6, n),
                    pow(spacing / 0.6, 2), "the same, and the cut at 4 w");
        talus_world_destroy(world);
    }
}

static void test_threads(void** state)
{
    (void)state;
    talus_field f[2];
    for (int t = 0; t < 2; t++) {
        talus_world* world = pressed(3, 1 + 2 * t);
        talus_field_def def = talus_field_default();
        def.width = 1.5;
        f[t] = field_of(world, &def);
        talus_world_destroy(world);
    }
    const size_t n = (size_t)f[0].count;
    assert_memory_equal(f[0].density, f[1].density, n * sizeof(double));
    assert_memory_equal(f[0].contact, f[1].contact, 9 * n * sizeof(double));
    for (int t = 0; t < 2; t++) talus_field_free(&f[t]);
}

static void test_mistakes(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    add_ball(world, 0.5, 0, 0, 0);
    add_ball(world, 0.5, 100, 100, 0);
    talus_error error;
    talus_field f;
    talus_field_def def = talus_field_default();
    def.width = 1e-6;
    assert_int_equal(talus_measure_field(world, &def, &f, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "larger width"));
    def.width = -1.0;
    assert_int_equal(talus_measure_field(world, &def, &f, &error), TALUS_ERR_ARGUMENT);
    def = talus_field_default();
    def.stress = false;
    f = field_of(world, &def);
    assert_null(f.contact);
    talus_field_free(&f);
    talus_world_destroy(world);
    talus_world_def periodic = physics_def(2);
    periodic.periodic[0] = true;
    periodic.cell_high[0] = 1.0;
    world = physics_world(&periodic, 0.0);
    add_ball(world, 0.1, 0.5, 0.5, 0);
    def.width = 1e12; // 10^12 images
    assert_int_equal(talus_measure_field(world, &def, &f, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "along x"));
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_uniform_motion), cmocka_unit_test(test_balance),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
