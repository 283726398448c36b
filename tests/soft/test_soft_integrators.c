/// The soft method's time integrators: orders of convergence on smooth problems with known
/// solutions, polynomials that are reproduced, limits of stability from the spectral radius of the
/// step's matrix, impacts, starting values, threads.
///
///     test_soft_integrators [FILE]    writes the data of docs/soft-convergence.svg instead
#include "support.h"

#include "base/rng.h"
#include "soft_problems.h"

#include <float.h>
#include <string.h>

static const integrator* const ALL[] = {&gear5_integrator, &gear3_integrator, &verlet_integrator,
                                        &leapfrog_integrator};
enum { KINDS = 4 };

static const problem PROBLEMS[] = {
    {"oscillator", 0.0, 0.3, 4.0, oscillator_acceleration, oscillator_solution},
    {"damped oscillator", 0.2, 0.3, 4.0, oscillator_acceleration, oscillator_solution},
    {"1/cosh", 0.0, -2.0, 1.0, bump_acceleration, bump_solution},
    {"log of oscillator", 0.2, 0.3, 4.0, log_acceleration, log_solution},
};
enum { PROBLEM_COUNT = 4 };

static void test_names(void** state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        assert_ptr_equal(integrator_of((talus_integrator)k), ALL[k]);
    }
}

// ---- orders ------------------------------------------------------------------------------------

/// Slope of log(error) against log(h), least squares over 100, 200 and 400 steps. With `which` 0 or
/// 1 of x or v alone, else of both together.
static double fitted_order(const integrator* kind, const problem* p, begin how, int which)
{
    double level[3];
    for (int k = 0; k < 3; k++) {
        double error[2];
        problem_errors(kind, p, how, 100 << k, error);
        level[k] = log2(which < 2 ? error[which] : hypot(error[0], error[1]));
    }
    return 0.5 * (level[0] - level[2]); // three equidistant points: the middle one drops out
}

static const char ORDER_WHY[] = "error C h^p (1 + c h), h from 0.04 to 0.01 and |c| to 5; rounding "
                                "is below 1 % of the least error";

static void check_orders(begin how)
{
    for (int k = 0; k < KINDS; k++) {
        for (int j = 0; j < PROBLEM_COUNT; j++) {
            char name[100];
            snprintf(name, sizeof name, "order of %s, %s", ALL[k]->name, PROBLEMS[j].name);
            check_close(name, fitted_order(ALL[k], &PROBLEMS[j], how, 2), ALL[k]->order, 0.15,
                        ORDER_WHY);
        }
    }
}

static void test_orders_from_exact_derivatives(void** state)
{
    (void)state;
    check_orders(BEGIN_EXACT);
    // Its coefficient 1/6 is made for forces without velocities: there x gains an order, v does
    // not.
    check_close("order of x alone, gear3, oscillator",
                fitted_order(&gear3_integrator, &PROBLEMS[0], BEGIN_EXACT, 0), 4.0, 0.15,
                ORDER_WHY);
    check_close("order of v alone, gear3, oscillator",
                fitted_order(&gear3_integrator, &PROBLEMS[0], BEGIN_EXACT, 1), 3.0, 0.15,
                ORDER_WHY);
}

// ---- polynomials -------------------------------------------------------------------------------

/// Error of x and v at t = 1 for x = 1 + t + ... + t^degree, its acceleration given as a function
/// of time.
static double polynomial_error(const integrator* kind, int degree, int steps)
{
    motion m;
    motion_bind(&m, kind);
    double factorial = 1.0;
    for (int k = 0; k < 6; k++) {
        m.value[k] = k <= degree ? factorial : 0.0;
        factorial *= k + 1;
    }
    const double h = 1.0 / steps;
    for (int s = 0; s < steps; s++) {
        const double t = (s + kind->evaluates_at) * h;
        double a = 0.0;
        for (int k = degree; k >= 2; k--) a = a * t + k * (k - 1);
        kind->predict(&m.c, h, 0, m.c.count);
        kind->correct(&m.c, &a, h, 0, m.c.count);
    }
    return hypot(m.value[0] - (degree + 1), m.value[1] - 0.5 * degree * (degree + 1));
}

static void test_polynomials(void** state)
{
    (void)state;
    const int exact[KINDS] = {5, 3, 2, 2}, steps = 50;
    for (int k = 0; k < KINDS; k++) {
        for (int degree = 1; degree <= exact[k]; degree++) {
            char name[100];
            snprintf(name, sizeof name, "%s, polynomial of degree %d", ALL[k]->name, degree);
            check_below(name, polynomial_error(ALL[k], degree, steps), 15.0 * steps * DBL_EPSILON,
                        "rounding of each step, of numbers up to 15");
        }
        const double beyond = polynomial_error(ALL[k], exact[k] + 1, steps);
        printf("%s: degree %d is wrong by %.3g\n", ALL[k]->name, exact[k] + 1, beyond);
        assert_true(beyond > 1e-10);
    }
}

// ---- going back --------------------------------------------------------------------------------

static void test_verlet_and_leapfrog_go_back(void** state)
{
    (void)state;
    const int steps = 1000;
    for (int k = 2; k < KINDS; k++) {
        motion m;
        motion_begin(&m, ALL[k], &PROBLEMS[0], BEGIN_EXACT, 0.1);
        const double x = m.value[0], v = m.value[1];
        for (int s = 0; s < 2 * steps; s++) motion_step(&m, ALL[k], s < steps ? 0.1 : -0.1);
        check_below(ALL[k]->name, hypot(m.value[0] - x, m.value[1] - v), 2.0 * steps * DBL_EPSILON,
                    "time-reversible but for the rounding of each step");
    }
}

// ---- stability ---------------------------------------------------------------------------------

enum { MOST = INTEGRATOR_KEPT + 2 };

/// The matrix of one step, h = 1, of x'' = -omega^2 x - rate x': its columns are the steps of the
/// unit vectors.
static int step_matrix(const integrator* kind, double omega, double rate, double out[MOST][MOST])
{
    const int size = kind->kept + 2;
    for (int j = 0; j < size; j++) {
        motion m = {.value = {0.0}};
        motion_bind(&m, kind);
        m.value[j] = 1.0;
        kind->predict(&m.c, 1.0, 0, m.c.count);
        const double a = -omega * omega * m.value[0] - rate * m.value[1];
        kind->correct(&m.c, &a, 1.0, 0, m.c.count);
        for (int i = 0; i < size; i++) out[i][j] = m.value[i];
    }
    return size;
}

/// Spectral radius as the limit of |A^n|^(1/n), n = 2^60 by squaring.
static double spectral_radius(const integrator* kind, double omega, double rate)
{
    double a[MOST][MOST], square[MOST][MOST], log_radius = 0.0;
    const int size = step_matrix(kind, omega, rate, a);
    for (int power = 0; power <= 60; power++) {
        double norm = 0.0;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) norm = fmax(norm, fabs(a[i][j]));
        }
        log_radius += log(norm) * pow(0.5, power);
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                square[i][j] = 0.0;
                for (int k = 0; k < size; k++) square[i][j] += a[i][k] / norm * (a[k][j] / norm);
            }
        }
        memcpy(a, square, sizeof a);
    }
    return exp(log_radius);
}

/// Rounding of the squares, and a constant factor's 2^60th root.
static const double RADIUS_ERROR = 1e-11;

static void test_stability(void** state)
{
    (void)state;
    const double ratio[] = {0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 20.0};
    for (int k = 0; k < KINDS; k++) {
        for (size_t z = 0; z < sizeof ratio / sizeof ratio[0]; z++) {
            // (w/stable)^2 + 2 ratio w/stable_rate = 1
            const double s = ALL[k]->stable, c = s * ratio[z] / ALL[k]->stable_rate;
            const double limit = s * (sqrt(1.0 + c * c) - c);
            for (double share = 0.1; share < 1.0; share += 0.0999) {
                const double w = share * limit;
                check_below(ALL[k]->name, spectral_radius(ALL[k], w, 2.0 * ratio[z] * w),
                            1.0 + RADIUS_ERROR, "within the limit");
            }
            const double w = 1.001 * limit, radius = spectral_radius(ALL[k], w, 2.0 * ratio[z] * w);
            printf("%s, damping %g of critical: limit %.4f, beyond it radius - 1 = %.3g\n",
                   ALL[k]->name, ratio[z], limit, radius - 1.0);
            assert_true(radius > 1.0 + 1e-4);
        }
    }
}

static void test_steady(void** state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        for (double share = 0.1; share < 1.0; share += 0.0999) {
            check_below(ALL[k]->name, spectral_radius(ALL[k], share * ALL[k]->steady, 0.0),
                        1.0 + RADIUS_ERROR, "an undamped oscillation does not grow");
        }
        assert_true(spectral_radius(ALL[k], 1.001 * ALL[k]->steady, 0.0) > 1.0 + RADIUS_ERROR);
    }
}

static void test_amplitude(void** state)
{
    (void)state;
    // Expansion of the eigenvalue next to exp(i h): exp(i h) (1 - (3/320) h^6 + ...) for Gear 5,
    // 1/24 instead for Gear 3. A wrong coefficient alpha_0 would give another one: 3/20 leaves
    // none.
    const double h = 0.05, loss[2] = {3.0 / 320.0, 1.0 / 24.0};
    for (int k = 0; k < 2; k++) {
        check_close(ALL[k]->name, (1.0 - spectral_radius(ALL[k], h, 0.0)) / pow(h, 6), loss[k],
                    0.05 * loss[k], "the next term is 11 h^2 of this one, or less: 3 %");
    }
}

// ---- impacts from free flight ------------------------------------------------------------------

static double contact_acceleration(const problem* p, double x, double v)
{
    return x > 0.0 ? oscillator_acceleration(p, x, v) : 0.0;
}

/// Error of the velocity after an impact with velocity 1, root mean square over when in a step it
/// begins. A contact takes `steps` steps and a part: if it took a whole number, the errors of its
/// beginning and its end would cancel.
static double bounce_error(const integrator* kind, double damping, int steps)
{
    const problem p = {.damping = damping, .acceleration = contact_acceleration};
    const double length = acos(-1.0) / sqrt(1.0 - damping * damping), h = length / (steps + 0.37);
    double sum = 0.0;
    enum { PHASES = 23 };
    for (int phase = 0; phase < PHASES; phase++) {
        motion m = {.p = &p, .value = {-(2.0 + (phase + 0.5) / PHASES) * h, 1.0}};
        motion_bind(&m, kind);
        for (int s = 0; s < steps + 6; s++) motion_step(&m, kind, h);
        const double off = m.value[1] + exp(-damping * length);
        sum += off * off;
    }
    return sqrt(sum / PHASES);
}

static void test_impacts_from_flight(void** state)
{
    (void)state;
    // The force at the beginning comes too early or late by a part of a step: where it jumps, as
    // damping makes it, the impulse is wrong by h times the jump, where it has a kink by h^2 times
    // the slope. No integrator of fixed steps can do better, so that all are wrong by the same.
    const double damping[2] = {0.0709, 0.0}; // restitution 0.8 and 1
    for (int k = 0; k < KINDS; k++) {
        for (int order = 1; order <= 2; order++) {
            const double b = damping[order - 1];
            const double coarse = bounce_error(ALL[k], b, 80), fine = bounce_error(ALL[k], b, 320);
            check_close(ALL[k]->name, 0.5 * log2(coarse / fine), order, 0.05,
                        "terms of the next order at 80 steps: 5 %");
            check_close(ALL[k]->name, coarse / bounce_error(&verlet_integrator, b, 80), 1.0, 0.15,
                        "of Verlet's error; terms of the next order, and 23 times to begin");
        }
    }
}

// ---- starting values ---------------------------------------------------------------------------

static void test_orders_from_found_derivatives(void** state)
{
    (void)state;
    check_orders(BEGIN_FOUND);
    // Why it is needed: derivatives of zero are as bad as leaving them out.
    for (int k = 0; k < 2; k++) {
        check_close("order with zeros", fitted_order(ALL[k], &PROBLEMS[1], BEGIN_ZERO, 2), 2.0,
                    0.15, ORDER_WHY);
    }
}

static void test_found_derivatives(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const integrator* kind = ALL[k];
        for (int j = 2; j < kind->kept + 2; j++) {
            double off[2], exact[6];
            PROBLEMS[3].solution(&PROBLEMS[3], PROBLEMS[3].from, exact);
            for (int half = 0; half < 2; half++) {
                motion m;
                motion_begin(&m, kind, &PROBLEMS[3], BEGIN_FOUND, half ? 0.01 : 0.02);
                off[half] = fabs(m.value[j] - exact[j]);
                assert_true(m.value[0] == exact[0] && m.value[1] == exact[1]);
            }
            char name[100];
            snprintf(name, sizeof name, "%s, order of derivative %d", kind->name, j);
            if (j == 2) {
                check_below(name, off[0], 4.0 * DBL_EPSILON, "the acceleration is evaluated");
            } else {
                check_close(name, log2(off[0] / off[1]), kind->kept + 2 - j, 0.15, ORDER_WHY);
            }
        }
    }
}

/// Forces that remember: an elongation summed up from one evaluation to the next.
typedef struct memory {
    motion m;
    double last, elongation, kept_last, kept_elongation;
    int evaluations, saves, restores, fail_at;
} memory;

static talus_status remember(void* user, double time, double* acceleration)
{
    memory* r = user;
    if (++r->evaluations == r->fail_at) return TALUS_ERR_NUMERIC;
    r->elongation += fabs(r->m.value[0] - r->last);
    r->last = r->m.value[0];
    *acceleration = -r->m.value[0] - r->elongation - time;
    return TALUS_OK;
}
static talus_status keep(void* user)
{
    memory* r = user;
    r->kept_last = r->last;
    r->kept_elongation = r->elongation;
    r->saves++;
    return TALUS_OK;
}
static talus_status bring_back(void* user)
{
    memory* r = user;
    r->last = r->kept_last;
    r->elongation = r->kept_elongation;
    r->restores++;
    return TALUS_OK;
}

static void test_forces_that_remember(void** state)
{
    (void)state;
    const int evaluations[KINDS] = {10, 2, 1, 1};
    for (int k = 0; k < KINDS; k++) {
        for (int fail_at = 0; fail_at <= evaluations[k]; fail_at++) {
            memory r = {.m.value = {1.0, 2.0}, .last = 0.75, .fail_at = fail_at};
            motion_bind(&r.m, ALL[k]);
            const start_forces forces = {&r, remember, keep, bring_back};
            const talus_status status = start_derivatives(ALL[k], &r.m.c, 0.125, 1, &forces, NULL);
            assert_int_equal(status, fail_at ? TALUS_ERR_NUMERIC : TALUS_OK);
            assert_int_equal(r.evaluations, fail_at ? fail_at : evaluations[k]);
            assert_true(r.m.value[0] == 1.0 && r.m.value[1] == 2.0);
            if (fail_at == 1) continue; // nothing was evaluated
            assert_true(r.last == 1.0 && r.elongation == 0.25);
            assert_true(r.m.value[2] == -1.25);
            // x' = 2 for the elongation as well: x''' = -2 - 2 - 1
            if (k < 2 && !fail_at) {
                check_close("third derivative", r.m.value[3], -5.0, k == 0 ? 0.01 : 0.2,
                            "terms in h of 1/8: h^3, or h/4 times the fourth derivative");
            }
        }
    }
}

// ---- threads -----------------------------------------------------------------------------------

enum { MANY = 10007 }; // not a multiple of any vector's width

static talus_status many_evaluate(void* user, double time, double* acceleration)
{
    const coordinates* c = user;
    for (int64_t i = 0; i < c->count; i++) acceleration[i] = -c->x[i] - 0.3 * c->v[i] + time;
    return TALUS_OK;
}

/// Starting values and three steps of the numbers [first, first + count).
static void run_many(const integrator* kind, int threads, int64_t first, int64_t count,
                     double (*value)[MANY], double* a)
{
    coordinates c = {.count = count, .x = value[0] + first, .v = value[1] + first};
    for (int k = 0; k < kind->kept; k++) c.d[k] = value[k + 2] + first;
    const start_forces forces = {.user = &c, .evaluate = many_evaluate};
    assert_int_equal(start_derivatives(kind, &c, 0.1, threads, &forces, NULL), TALUS_OK);
    for (int s = 0; s < 3; s++) {
        const int64_t part = count / 3; // as loops over threads cut them
        kind->predict(&c, 0.1, 0, part);
        kind->predict(&c, 0.1, part, count);
        many_evaluate(&c, 0.0, a);
        kind->correct(&c, a, 0.1, 0, part);
        kind->correct(&c, a, 0.1, part, count);
    }
}

/// The same bits for any number of threads as when each number is alone, without vector code.
static void test_threads(void** state)
{
    (void)state;
    const size_t size = sizeof(double[MOST][MANY]);
    double(*alone)[MANY] = malloc(size), (*value)[MANY] = malloc(size);
    double(*begun)[MANY] = calloc(1, size), *a = malloc(sizeof(double[MANY]));
    assert_true(alone && value && begun && a);
    rng random = rng_make(7, 0, 0);
    for (int i = 0; i < 2 * MANY; i++) begun[i % 2][i / 2] = rng_uniform(&random) - 0.5;
    for (int k = 0; k < KINDS; k++) {
        memcpy(alone, begun, size);
        for (int64_t i = 0; i < MANY; i++) run_many(ALL[k], 1, i, 1, alone, a);
        for (int threads = 1; threads <= 4; threads++) {
            memcpy(value, begun, size);
            run_many(ALL[k], threads, 0, MANY, value, a);
            assert_memory_equal(alone, value, size);
        }
    }
    free(alone);
    free(value);
    free(begun);
    free(a);
}

// ---- data of docs/soft-convergence.svg ---------------------------------------------------------

typedef struct curve {
    const char* name; ///< as in the file
    const integrator* kind;
    begin how;
} curve;

static const curve CURVES[] = {{"gear5", &gear5_integrator, BEGIN_FOUND},
                               {"gear5, derivatives begun as zero", &gear5_integrator, BEGIN_ZERO},
                               {"gear3", &gear3_integrator, BEGIN_FOUND},
                               {"verlet", &verlet_integrator, BEGIN_FOUND},
                               {"leapfrog", &leapfrog_integrator, BEGIN_FOUND}};
enum { CURVE_COUNT = 5, POINTS = 14 };
static const int STEPS[POINTS] = {5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448};

/// Error at the end of an impact with restitution 0.8, in units of the impact's velocity.
static double impact_error(const curve* c, int steps)
{
    const double l = log(0.8), pi = acos(-1.0);
    problem p = {.name = "impact",
                 .damping = -l / sqrt(pi * pi + l * l),
                 .acceleration = oscillator_acceleration,
                 .solution = oscillator_solution};
    p.to = 0.5 * pi / sqrt(1.0 - p.damping * p.damping);
    p.from = -p.to;
    double error[2], begun[6];
    problem_errors(c->kind, &p, c->how, steps, error);
    p.solution(&p, p.from, begun);
    return hypot(error[0], error[1]) / fabs(begun[1]);
}

static int write_curves(const char* path)
{
    FILE* file = fopen(path, "w");
    if (!file) return 1;
    fprintf(file, "scheme;step over contact time;error\n");
    for (int k = 0; k < CURVE_COUNT; k++) {
        for (int j = 0; j < POINTS; j++) {
            fprintf(file, "%s;%.6g;%.3e\n", CURVES[k].name, 1.0 / STEPS[j],
                    impact_error(&CURVES[k], STEPS[j]));
        }
    }
    return fclose(file) == 0 ? 0 : 1;
}

/// The stored data are what this program finds; other schemes of the file belong to others.
static void test_stored_curves(void** state)
{
    (void)state;
    const char* source = getenv("TALUS_SOURCE");
    if (!source) skip();
    char path[4096], line[200], scheme[100];
    snprintf(path, sizeof path, "%s/docs/soft-convergence.csv", source);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    int seen = 0;
    double h, error;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%99[^;];%lf;%lf", scheme, &h, &error) != 3) continue;
        for (int k = 0; k < CURVE_COUNT; k++) {
            if (strcmp(CURVES[k].name, scheme) != 0) continue;
            seen++;
            check_close(scheme, impact_error(&CURVES[k], (int)lround(1.0 / h)), error,
                        1e-3 * error + 1e-13, "four digits are stored; rounding of 448 steps");
        }
    }
    fclose(file);
    assert_int_equal(seen, CURVE_COUNT * POINTS);
}

int main(int argc, char** argv)
{
    if (argc > 1) return write_curves(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_orders_from_exact_derivatives),
        cmocka_unit_test(test_polynomials),
        cmocka_unit_test(test_verlet_and_leapfrog_go_back),
        cmocka_unit_test(test_stability),
        cmocka_unit_test(test_steady),
        cmocka_unit_test(test_amplitude),
        cmocka_unit_test(test_impacts_from_flight),
        cmocka_unit_test(test_orders_from_found_derivatives),
        cmocka_unit_test(test_found_derivatives),
        cmocka_unit_test(test_forces_that_remember),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stored_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
