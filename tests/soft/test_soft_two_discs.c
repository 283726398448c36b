/// The two discs of PLMH Fig. 4: relaxation times t_R of their kinetic energy against the step,
/// with Cundall's and with the geometric elongation (PLMH Figs. 5, 6, 7a and 9), compared with the
/// damped oscillators that they are (soft_discs.h); impacts; and axes along which a grain is
/// locked.
///
///     test_soft_two_discs table    prints the tables of docs/soft.md instead; takes minutes
#include "soft_discs.h"

#include <string.h>

static const char* const INTEGRATORS[] = {"gear5", "gear3", "verlet", "leapfrog"};

/// Measured t_R over that of theory for steps of `part` t_c; the fit covers `from` to `to` t_R.
static double ratio_to_theory(const discs* d, double part, double from, double to)
{
    const double h = part * discs_contact_time(d);
    const double expected =
        discs_relaxation(d, d->elongation == TALUS_ELONGATION_CUNDALL ? h : 0.0);
    return discs_measure(d, h, from * expected, to * expected) / expected;
}

static const char RATIO_WHY[] =
    "gear5 damps by (3/320) (omega h)^6 a step, 8e-4 of t_R at 0.1 t_c; two oscillations leave "
    "1e-4 in the fit; motions are 1e-6 of the size";

static void check_ratio(const discs* d, double part, double from, double to)
{
    char name[120];
    snprintf(name, sizeof name, "t_R/theory, k %g, mu %g, %s, %s, h = %g t_c", d->stiffness,
             d->friction, d->rotates ? "turning" : "not turning",
             d->elongation == TALUS_ELONGATION_CUNDALL ? "Cundall" : "geometric", part);
    check_close(name, ratio_to_theory(d, part, from, to), 1.0, 1e-3, RATIO_WHY);
}

// ---- theory ------------------------------------------------------------------------------------

static void test_numbers_of_the_paper(void** state)
{
    (void)state;
    const discs d = DISCS;
    check_close("t_c at 1 N/m", discs_contact_time(&d), 1.969, 5e-4, "four digits in the paper");
    discs stiff = DISCS;
    stiff.stiffness = 50.0;
    check_close("t_c at 50 N/m", discs_contact_time(&stiff), 0.278, 5e-4, "three digits there");
    discs locked = DISCS;
    locked.rotates = false;
    // One and two oscillators by hand: 1/t_R = nu/k omega^2 with omega^2 = 2/3 and 1/3 of k/m.
    const double rate = discs_viscosity(&d) / discs_mass() / 3.0;
    check_close("t_R, turning", discs_relaxation(&d, 0.0) * rate, 1.0, 1e-6,
                "C is proportional to K: exact but for the secant method");
    check_close("t_R, not turning", discs_relaxation(&locked, 0.0) * 2.0 * rate, 1.0, 1e-6,
                "likewise");
}

static void test_world_knows_the_times(void** state)
{
    (void)state;
    const discs d = DISCS;
    talus_soft_times times;
    talus_error error;
    talus_world* world = discs_world(&d);
    check_ok(talus_world_soft_times(world, &times, &error), error);
    check_close("t_c of the world", times.contact, discs_contact_time(&d), 1e-5 * times.contact,
                "its damping is that of the fixed disc: t_c changes by beta^2/4");
    talus_world_destroy(world);
}

// ---- relaxation --------------------------------------------------------------------------------

/// Fig. 9: t_R does not depend on the step, up to a tenth of t_c.
static void test_geometric(void** state)
{
    (void)state;
    for (int rotates = 0; rotates < 2; rotates++) {
        discs d = DISCS;
        d.rotates = rotates;
        check_ratio(&d, 0.1, 3.0, 6.0);
        check_ratio(&d, 0.02, 3.0, test_scale() < 1.0 ? 4.0 : 6.0);
    }
}

/// Figs. 5 to 7a: with Cundall's elongation t_R shrinks with growing steps, as theory says.
static void test_cundall(void** state)
{
    (void)state;
    for (int rotates = 0; rotates < 2; rotates++) {
        discs d = DISCS;
        d.rotates = rotates;
        d.elongation = TALUS_ELONGATION_CUNDALL;
        const double t_c = discs_contact_time(&d), right = discs_relaxation(&d, 0.0);
        check_ratio(&d, 0.1, 3.0, 6.0);
        check_ratio(&d, 0.02, 3.0, test_scale() < 1.0 ? 4.0 : 6.0);
        if (!rotates) check_ratio(&d, 2e-3, 0.5, test_scale() < 1.0 ? 1.0 : 2.0);
        check_below("t_R at 0.1 t_c / t_R", discs_relaxation(&d, 0.1 * t_c) / right, 0.2,
                    "the spring damps six times as much as both dashpots");
        check_close("step at which t_R is 1 % off, in t_c",
                    1.0 - discs_relaxation(&d, 2.04e-4 * t_c) / right, 0.01, 2e-4,
                    "k_t h/2 beside nu_t on a quarter of the energy: 0.08 nu/k = 2.04e-4 t_c");
    }
}

/// Inset of Fig. 5: without friction the elongation does not matter.
static void test_frictionless(void** state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        discs d = DISCS;
        d.friction = 0.0;
        d.elongation = kind ? TALUS_ELONGATION_CUNDALL : TALUS_ELONGATION_GEOMETRIC;
        const double h = 0.1 * discs_contact_time(&d), right = discs_relaxation(&d, 0.0);
        check_close("t_R/theory without friction, h = 0.1 t_c",
                    discs_measure(&d, h, 2.0 * right, 5.0 * right) / right, 1.0, 1e-3, RATIO_WHY);
    }
}

/// Fig. 6: stiffnesses fall on one curve of h/t_c.
static void test_stiffness(void** state)
{
    (void)state;
    static const double stiffness[] = {1.0, 50.0, 4e8};
    double found[3];
    for (int k = 0; k < 3; k++) {
        discs d = DISCS;
        d.elongation = TALUS_ELONGATION_CUNDALL;
        d.stiffness = stiffness[k];
        found[k] = ratio_to_theory(&d, 0.05, 3.0, 5.0);
    }
    for (int k = 1; k < 3; k++) {
        check_close("t_R of another stiffness", found[k], found[0], 1e-6,
                    "only the unit of time differs: rounding of positions of 1 by 1e-16 beside "
                    "motions of 1e-6, grown in 8000 steps");
    }
}

// ---- impacts -----------------------------------------------------------------------------------

/// Two free discs collide head on; restitution over that of the material, less one.
static double impact_error(talus_integrator integrator, double restitution, double part,
                           double phase)
{
    talus_error error;
    talus_world* world;
    discs d = DISCS;
    d.restitution = restitution;
    const double h = part * discs_contact_time(&d), speed = 1e-4;
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.method = TALUS_METHOD_SOFT;
    def.soft.integrator = integrator;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = 1.0;
    pair.restitution = restitution;
    check_ok(talus_world_add_material(world, "disc", &pair, NULL, &error), error);
    talus_grain_def disc = talus_grain_default();
    disc.radius = DISC_RADIUS;
    disc.density = 1.0;
    disc.velocity[0] = 0.5 * speed;
    check_ok(talus_world_add_grain(world, &disc, NULL, &error), error);
    disc.position[0] = 2.0 * DISC_RADIUS + speed * h * (8.0 + phase);
    disc.velocity[0] = -0.5 * speed;
    check_ok(talus_world_add_grain(world, &disc, NULL, &error), error);
    check_ok(talus_world_steps(world, h, (int64_t)(1.5 / part) + 16, NULL, &error), error);
    const talus_grains g = talus_world_grains(world);
    const double found = (g.velocity[2] - g.velocity[0]) / speed;
    talus_world_destroy(world);
    return found / restitution - 1.0;
}

/// Mean error over all phases of the first touch, and the largest.
static double mean_impact_error(talus_integrator integrator, double restitution, double part,
                                double* largest)
{
    enum { PHASES = 32 };
    double sum = 0.0;
    *largest = 0.0;
    for (int k = 0; k < PHASES; k++) {
        const double off = impact_error(integrator, restitution, part, (k + 0.5) / PHASES);
        sum += off;
        *largest = fmax(*largest, fabs(off));
    }
    return sum / PHASES;
}

/// The step that the program takes, 0.05 t_c: impacts are right in the mean.
static void test_impacts(void** state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        double largest;
        // a step that divides t_c would let errors of beginning and end cancel
        const double mean = mean_impact_error((talus_integrator)k, 0.5, 0.0482, &largest);
        check_close(INTEGRATORS[k], mean, 0.0, 0.01, "what docs/soft.md and soft/times.c say");
        check_below("largest", largest, 0.06, "the dashpot's force begins up to a step late");
    }
}

// ---- locked axes -------------------------------------------------------------------------------

static void test_height_is_held(void** state)
{
    (void)state;
    talus_error error;
    discs d = DISCS;
    d.push = 0.02;
    talus_world* world = discs_world(&d);
    const double height = talus_world_grains(world).position[3];
    check_ok(talus_world_steps(world, 0.02 * discs_contact_time(&d), 500, NULL, &error), error);
    const talus_grains g = talus_world_grains(world);
    assert_true(g.position[3] == height);
    assert_true(g.velocity[3] == 0.0);
    assert_true(g.position[2] < height - 1e-3 && g.rotation[1] != 0.0);
    // What holds it does no work, and the books balance.
    const talus_step_result* last = talus_world_last(world);
    const double all = last->energy.input;
    check_below("error of the energy/work of the push", fabs(last->energy.error) / all, 1e-3,
                "powers are added up by trapezoids: (omega h)^2/12 of what flows");
    talus_world_destroy(world);
}

static void test_lock_is_refused(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world;
    talus_world_def def = talus_world_default();
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_grain_def ball = talus_grain_default();
    ball.radius = 1.0;
    ball.locked[2] = true;
    assert_int_equal(talus_world_add_grain(world, &ball, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "only the method soft"));
    talus_world_destroy(world);
    def.method = TALUS_METHOD_SOFT;
    check_ok(talus_world_create(&def, &world, &error), error);
    ball.velocity[2] = 1.0;
    assert_int_equal(talus_world_add_grain(world, &ball, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "cannot have a velocity"));
    talus_world_destroy(world);
}

// ---- tables ------------------------------------------------------------------------------------

static void print_row(discs d, double part, double to)
{
    const double t_c = discs_contact_time(&d), h = part * t_c;
    printf("%-9s %-11s %-9s mu %-4g h/t_c %-7g", INTEGRATORS[d.integrator],
           d.rotates ? "turning" : "not turning",
           d.elongation == TALUS_ELONGATION_CUNDALL ? "cundall" : "geometric", d.friction, part);
    const double expected =
        discs_relaxation(&d, d.elongation == TALUS_ELONGATION_CUNDALL ? h : 0.0);
    printf(" t_R/t_c %8.2f, theory %8.2f\n",
           discs_measure(&d, h, (to > 4.5 ? 3.0 : 2.0) * expected, to * expected) / t_c,
           expected / t_c);
    fflush(stdout);
}

static int print_tables(void)
{
    static const double parts[] = {0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 2e-4, 1e-4};
    for (int k = 0; k < 4 * 8; k++) {
        discs d = DISCS;
        d.rotates = k & 1;
        d.elongation = k & 2 ? TALUS_ELONGATION_CUNDALL : TALUS_ELONGATION_GEOMETRIC;
        print_row(d, parts[k / 4], parts[k / 4] < 1e-3 ? 4.0 : 6.0);
    }
    for (int k = 0; k < 3 * 8; k++) {
        discs d = DISCS;
        d.rotates = k & 1;
        d.integrator = (talus_integrator)(1 + k / 8);
        print_row(d, parts[k / 2 % 4], 6.0);
    }
    static const double restitutions[] = {0.9875, 0.9, 0.5};
    for (int k = 0; k < 4 * 3 * 4; k++) {
        double largest;
        const talus_integrator integrator = (talus_integrator)(k / 12);
        const double part = 0.0963 * parts[1 + k % 4] / 0.1, e = restitutions[k / 4 % 3];
        const double mean = mean_impact_error(integrator, e, part, &largest);
        printf("%-9s e %-6g h/t_c %-7g error of e: %+.1e in the mean, %.1e at most\n",
               INTEGRATORS[integrator], e, part, mean, largest);
    }
    return 0;
}

int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "table") == 0) return print_tables();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_the_paper),
        cmocka_unit_test(test_world_knows_the_times),
        cmocka_unit_test(test_geometric),
        cmocka_unit_test(test_cundall),
        cmocka_unit_test(test_frictionless),
        cmocka_unit_test(test_stiffness),
        cmocka_unit_test(test_impacts),
        cmocka_unit_test(test_height_is_held),
        cmocka_unit_test(test_lock_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
