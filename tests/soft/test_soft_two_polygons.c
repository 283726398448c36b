/// Two soft polygons under a constant force, not turning (PLMH Fig. 10): the relaxation time of the
/// kinetic energy against the step, with Cundall's and with the geometric elongation.
///
/// A fixed square stands on a corner; the corner of a pentagon presses on the middle of its side at
/// 45 degrees. The pentagon is locked in height and rotation. The overlap is a triangle of area
/// d^2 tan(54 degrees) with its base along the side, so the normal stays. About the depth d at
/// which the push balances k_n A/l_c the pentagon is one oscillator
///     m x'' + (nu_n + nu_t)/2 x' + (k_n A'(d)/l_c + k_t)/2 x = 0,
/// and with Cundall's elongation k_t has the factor z h/(1 - exp(-z h)) (soft_discs.h).
#include "soft_discs.h"

static const double STIFFNESS = 1.0, DEPTH = 0.05, FRICTION = 500.0, RESTITUTION = 0.99;
static const double SIDE = 1.0, CORNER = 0.65; ///< of the square; centre to corner of the pentagon
/// By how much the push is off balance.
static const double KICK = 1e-5;

typedef struct numbers {
    double mass, length, viscosity, slope; ///< m, l_c, nu_n, dF_n/dd
    double push;                           ///< balanced
    double contact;                        ///< time unit: t_c of k_n and m/2
} numbers;

static numbers numbers_of(void)
{
    const double area = 2.5 * CORNER * CORNER * sin(0.4 * M_PI), open = tan(0.3 * M_PI);
    const double decay = log(RESTITUTION), part = -decay / sqrt(M_PI * M_PI + decay * decay);
    numbers n = {.mass = area, .length = sqrt(SIDE * SIDE / M_PI) + sqrt(area / M_PI)};
    n.viscosity = 2.0 * part * sqrt(STIFFNESS * n.mass);
    n.slope = STIFFNESS * 2.0 * DEPTH * open / n.length;
    n.push = STIFFNESS * DEPTH * DEPTH * open / n.length * sqrt(0.5);
    n.contact = M_PI * sqrt(0.5 * n.mass / STIFFNESS);
    return n;
}

static talus_world* polygons_world(talus_elongation elongation)
{
    talus_error error;
    talus_world* world;
    const numbers n = numbers_of();
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.method = TALUS_METHOD_SOFT;
    def.soft.elongation = elongation;
    def.soft.integrator = TALUS_INTEGRATOR_GEAR5;
    def.soft.bound = TALUS_BOUND_ELASTIC;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = STIFFNESS;
    pair.friction = FRICTION;
    pair.restitution = RESTITUTION;
    check_ok(talus_world_add_material(world, "polygon", &pair, NULL, &error), error);
    const double half = SIDE * sqrt(0.5);
    const double square[8] = {half, 0.0, 0.0, half, -half, 0.0, 0.0, -half};
    double pentagon[10];
    for (int k = 0; k < 5; k++) { // its first corner points at the square
        pentagon[2 * k] = CORNER * cos(1.25 * M_PI + 0.4 * M_PI * k);
        pentagon[2 * k + 1] = CORNER * sin(1.25 * M_PI + 0.4 * M_PI * k);
    }
    talus_solid_def solid = talus_solid_default();
    solid.name = "square", solid.points = square, solid.point_count = 4;
    check_ok(talus_world_add_solid(world, &solid, NULL, &error), error);
    solid.name = "pentagon", solid.points = pentagon, solid.point_count = 5;
    check_ok(talus_world_add_solid(world, &solid, NULL, &error), error);
    talus_grain_def grain = talus_grain_default();
    grain.density = 1.0;
    grain.solid = (talus_solid_id){0};
    grain.fixed = true;
    check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);
    grain.solid = (talus_solid_id){1};
    grain.fixed = false;
    grain.locked[1] = grain.locked_rotation = true;
    grain.external_force[0] = -n.push - KICK * STIFFNESS;
    grain.position[0] = grain.position[1] = 0.5 * half + (CORNER - DEPTH) * sqrt(0.5);
    check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);
    return world;
}

/// t_R of theory; h > 0: with Cundall's elongation.
static double expected_relaxation(double h)
{
    const numbers n = numbers_of();
    const double damping = 0.5 * n.viscosity * (1.0 + 1.0 / 3.0);
    double complex z = I * sqrt(0.5 * (n.slope + STIFFNESS / 3.0) / n.mass);
    for (int i = 0; i < 200; i++) { // m z^2 + c z + k(z) = 0, by its own root
        const double complex carried = h > 0.0 ? z * h / (1.0 - cexp(-z * h)) : 1.0;
        const double complex k = 0.5 * (n.slope + STIFFNESS / 3.0 * carried);
        const double complex root = csqrt(damping * damping - 4.0 * n.mass * k);
        z = (-damping + (cimag(root) < 0.0 ? -root : root)) / (2.0 * n.mass);
    }
    return -0.5 / creal(z);
}

static double measure(talus_elongation elongation, double part, double to)
{
    const numbers n = numbers_of();
    const double h = part * n.contact;
    const double expected = expected_relaxation(elongation == TALUS_ELONGATION_CUNDALL ? h : 0.0);
    talus_world* world = polygons_world(elongation);
    const double found =
        measure_relaxation(world, n.contact, h, 0.2 * expected, to * expected) / expected;
    talus_world_destroy(world);
    printf("h = %g t_c, t_R = %.3f t_c\n", part, found * expected / n.contact);
    return found;
}

static const char WHY[] = "motions are 1e-4 of the depth, the stiffness changes by as much; gear5 "
                          "damps by (3/320) (omega h)^6 a step, 2e-4 of t_R at 0.1 t_c";

static void test_geometric(void** state)
{
    (void)state;
    check_close("t_R/theory, 0.1 t_c", measure(TALUS_ELONGATION_GEOMETRIC, 0.1, 3.0), 1.0, 5e-4,
                WHY);
    check_close("t_R/theory, 0.02 t_c", measure(TALUS_ELONGATION_GEOMETRIC, 0.02, 2.0), 1.0, 5e-4,
                WHY);
}

static void test_cundall(void** state)
{
    (void)state;
    const double t_c = numbers_of().contact;
    check_close("t_R/theory, 0.1 t_c", measure(TALUS_ELONGATION_CUNDALL, 0.1, 3.0), 1.0, 5e-4, WHY);
    check_close("t_R/theory, 0.02 t_c", measure(TALUS_ELONGATION_CUNDALL, 0.02, 3.0), 1.0, 5e-4,
                WHY);
    check_close("t_R/theory, 2e-3 t_c", measure(TALUS_ELONGATION_CUNDALL, 2e-3, 1.0), 1.0, 5e-4,
                WHY);
    check_below("t_R of Cundall at 0.1 t_c/that of small steps",
                expected_relaxation(0.1 * t_c) / expected_relaxation(0.0), 0.2,
                "the spring that lags damps more than the dashpots");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_geometric),
        cmocka_unit_test(test_cundall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
