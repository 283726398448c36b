/// Order of convergence of the full soft scheme, integrator and elongation together, on a smooth
/// problem: the two discs of PLMH Fig. 4 pushed so hard that the contact turns and its arms change,
/// always touching and never sliding. The reference is the same law as differential equations of
/// five numbers, with the slip as one of them, solved by the classical Runge-Kutta method.
///
///     test_soft_order FILE    writes the data of docs/soft-scheme.svg instead
#include "soft_discs.h"

#include <string.h>

/// Overlaps up to a tenth of the radius; a restitution that makes the dashpots matter.
static const discs PROBLEM = {.stiffness = 1.0,
                              .friction = 500.0,
                              .restitution = 0.8,
                              .push = 0.02,
                              .overlap = 0.01,
                              .rotates = true};
/// In contact times: about two periods of the slower oscillation.
static const double DURATION = 10.0;

// ---- reference ---------------------------------------------------------------------------------

/// x, v, angle, spin of disc j, and the slip along (-n_y, n_x).
enum { X, V, ANGLE, SPIN, SLIP, NUMBERS };

static void rates(const discs* d, double height, const double* y, double* out)
{
    const double m = discs_mass(), nu = discs_viscosity(d), k = d->stiffness;
    const double distance = hypot(y[X], height), n[2] = {y[X] / distance, height / distance};
    const double overlap = 2.0 * DISC_RADIUS - distance, arm = DISC_RADIUS - 0.5 * overlap;
    const double along = y[V] * n[0], across = -y[V] * n[1] - arm * y[SPIN];
    const double normal = k * overlap - nu * along;
    const double tangential = -(k * y[SLIP] + nu * across) / 3.0;
    assert_true(overlap > 0.0);
    out[X] = y[V];
    out[V] = (-d->push * k + normal * n[0] - tangential * n[1]) / m;
    out[ANGLE] = y[SPIN];
    out[SPIN] = d->rotates ? -arm * tangential / (0.5 * m * DISC_RADIUS * DISC_RADIUS) : 0.0;
    out[SLIP] = across;
}

static void runge_kutta(const discs* d, double height, double h, double* y)
{
    double slope[4][NUMBERS], at[NUMBERS];
    static const double part[4] = {0.0, 0.5, 0.5, 1.0};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < NUMBERS; i++) at[i] = y[i] + (s ? part[s] * h * slope[s - 1][i] : 0.0);
        rates(d, height, at, slope[s]);
    }
    for (int i = 0; i < NUMBERS; i++) {
        y[i] += h / 6.0 * (slope[0][i] + 2.0 * slope[1][i] + 2.0 * slope[2][i] + slope[3][i]);
    }
}

/// What 8000 steps a contact time give: their error is below 1e-14 of the motion.
static void reference(const discs* d, double y[NUMBERS])
{
    const double start = (2.0 * DISC_RADIUS - d->overlap) * sqrt(0.5);
    const int steps = 8000;
    memset(y, 0, sizeof(double) * NUMBERS);
    y[X] = start;
    for (int i = 0; i < steps * (int)DURATION; i++) {
        runge_kutta(d, start, discs_contact_time(d) / steps, y);
    }
}

// ---- errors ------------------------------------------------------------------------------------

/// Distance from the reference of position, velocity, angle and spin, all as lengths, relative to
/// the push: sqrt of the sum of squares.
static double error_of(const discs* d, int steps_in_contact, const double* y)
{
    talus_error error;
    const double h = discs_contact_time(d) / steps_in_contact, t_c = discs_contact_time(d);
    talus_world* world = discs_world(d);
    check_ok(talus_world_steps(world, h, (int64_t)(DURATION * steps_in_contact), NULL, &error),
             error);
    const talus_grains g = talus_world_grains(world);
    const double off[4] = {g.position[2] - y[X], t_c * (g.velocity[2] - y[V]),
                           DISC_RADIUS * (g.rotation[1] - y[ANGLE]),
                           DISC_RADIUS * t_c * (g.spin[1] - y[SPIN])};
    talus_world_destroy(world);
    double sum = 0.0;
    for (int k = 0; k < 4; k++) sum += off[k] * off[k];
    return sqrt(sum) / d->push;
}

// ---- orders ------------------------------------------------------------------------------------

static const char* const INTEGRATORS[] = {"gear5", "gear3", "verlet", "leapfrog"};

/// Slope between two numbers of steps in a contact time.
static double order_between(const discs* d, const double* y, int coarse, int fine)
{
    return log(error_of(d, coarse, y) / error_of(d, fine, y)) / log((double)fine / coarse);
}

static void check_orders(const discs* problem, talus_elongation elongation, const double* expected,
                         double tolerance, int coarse, const char* why)
{
    double y[NUMBERS];
    reference(problem, y);
    for (int k = 0; k < 4; k++) {
        discs d = *problem;
        d.integrator = (talus_integrator)k;
        d.elongation = elongation;
        char name[100];
        snprintf(name, sizeof name, "order of %s, %s, overlap %g, %s", INTEGRATORS[k],
                 elongation == TALUS_ELONGATION_CUNDALL ? "Cundall" : "geometric", problem->push,
                 d.rotates ? "turning" : "not turning");
        check_close(name, order_between(&d, y, coarse, 4 * coarse), expected[k], tolerance, why);
    }
}

/// Velocity times step is a sum by rectangles: first order, whatever the integrator.
static void test_cundall(void** state)
{
    (void)state;
    static const double first[4] = {1.0, 1.0, 1.0, 1.0};
    for (int rotates = 0; rotates < 2; rotates++) {
        discs d = PROBLEM;
        d.rotates = rotates;
        check_orders(&d, TALUS_ELONGATION_CUNDALL, first, 0.06, 80,
                     "error C h (1 + c h) with |c| to 4/t_c, h from t_c/80 to t_c/320");
    }
}

/// While overlaps are small beside the radius the integrator's order is the scheme's.
static void test_geometric(void** state)
{
    (void)state;
    static const double own[4] = {5.0, 3.0, 2.0, 2.0};
    for (int rotates = 0; rotates < 2; rotates++) {
        discs d = PROBLEM;
        d.rotates = rotates;
        d.push = 1e-5;
        d.overlap = 5e-6;
        check_orders(
            &d, TALUS_ELONGATION_GEOMETRIC, own, 0.3, 15,
            "error C h^p (1 + c h) with |c| to 8/t_c, h from t_c/15 to t_c/60; rounding and "
            "the overlap leave 1e-9, a tenth of the least error");
    }
}

/// Where they are not, arms that change are taken in the middle of a step: an error of second
/// order, small as the overlap is, which gear5 meets first.
static void test_large_overlaps(void** state)
{
    (void)state;
    double y[NUMBERS], small[NUMBERS];
    discs d = PROBLEM;
    reference(&d, y);
    check_close("order of gear5, large overlaps", order_between(&d, y, 80, 320), 2.0, 0.02,
                "error C h^2 (1 + c h^2); that of gear5 itself is below 1e-2 of it");
    discs weak = PROBLEM;
    weak.push *= 0.1;
    weak.overlap *= 0.1;
    reference(&weak, small);
    check_close("error of a tenth of the overlap/tenth of the error",
                error_of(&weak, 160, small) / error_of(&d, 160, y), 0.1, 0.02,
                "proportional to overlap/radius, to first order in 0.05");
}

// ---- picture -----------------------------------------------------------------------------------

static const struct curve {
    const char* name;
    talus_integrator integrator;
    talus_elongation elongation;
    double part; ///< of the push of PROBLEM
    int points;  ///< of STEPS, those above rounding
} CURVES[] = {
    {"gear5, geometric", TALUS_INTEGRATOR_GEAR5, TALUS_ELONGATION_GEOMETRIC, 1.0, 10},
    {"the same, overlaps / 1000", TALUS_INTEGRATOR_GEAR5, TALUS_ELONGATION_GEOMETRIC, 1e-3, 6},
    {"gear3, geometric", TALUS_INTEGRATOR_GEAR3, TALUS_ELONGATION_GEOMETRIC, 1.0, 10},
    {"verlet, geometric", TALUS_INTEGRATOR_VERLET, TALUS_ELONGATION_GEOMETRIC, 1.0, 10},
    {"gear5, Cundall", TALUS_INTEGRATOR_GEAR5, TALUS_ELONGATION_CUNDALL, 1.0, 10},
    {"verlet, Cundall", TALUS_INTEGRATOR_VERLET, TALUS_ELONGATION_CUNDALL, 1.0, 10},
};
enum { CURVE_COUNT = sizeof CURVES / sizeof CURVES[0] };
static const int STEPS[] = {10, 14, 20, 28, 40, 56, 80, 112, 160, 224};

static discs curve_problem(const struct curve* c)
{
    discs d = PROBLEM;
    d.integrator = c->integrator;
    d.elongation = c->elongation;
    d.push *= c->part;
    d.overlap *= c->part;
    return d;
}

static int write_curves(const char* path)
{
    FILE* file = fopen(path, "w");
    if (!file) return 1;
    fprintf(file, "scheme;step over contact time;error\n");
    for (int k = 0; k < CURVE_COUNT; k++) {
        const discs d = curve_problem(&CURVES[k]);
        double y[NUMBERS];
        reference(&d, y);
        for (int j = 0; j < CURVES[k].points; j++) {
            fprintf(file, "%s;%.6g;%.3e\n", CURVES[k].name, 1.0 / STEPS[j],
                    error_of(&d, STEPS[j], y));
        }
    }
    return fclose(file) == 0 ? 0 : 1;
}

/// The stored data are what this program finds: the first point of every curve.
static void test_stored_curves(void** state)
{
    (void)state;
    const char* source = getenv("TALUS_SOURCE");
    if (!source) skip();
    char path[4096], line[200], scheme[100];
    snprintf(path, sizeof path, "%s/docs/soft-scheme.csv", source);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    int known = 0;
    double h, stored;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%99[^;];%lf;%lf", scheme, &h, &stored) != 3) continue;
        for (int k = 0; k < CURVE_COUNT; k++) {
            if (strcmp(CURVES[k].name, scheme) != 0 || fabs(h * STEPS[0] - 1.0) > 1e-3) continue;
            known++;
            const discs d = curve_problem(&CURVES[k]);
            double y[NUMBERS];
            reference(&d, y);
            check_close(scheme, error_of(&d, (int)lround(1.0 / h), y), stored, 1e-3 * stored,
                        "four digits are stored");
        }
    }
    fclose(file);
    assert_int_equal(known, CURVE_COUNT);
}

int main(int argc, char** argv)
{
    if (argc > 1) return write_curves(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cundall),
        cmocka_unit_test(test_geometric),
        cmocka_unit_test(test_large_overlaps),
        cmocka_unit_test(test_stored_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
