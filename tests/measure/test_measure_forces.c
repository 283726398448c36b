/// Fabric, sizes of forces, mobilised friction, strong and weak networks: lattices, prescribed
/// distributions, a block on an incline, sums by hand.
#include "measure_worlds.h"

static talus_fabric fabric_of(const talus_world* world, const talus_measure_def* def)
{
    talus_error error;
    talus_fabric fabric;
    check_ok(talus_measure_fabric(world, def, &fabric, &error), error);
    return fabric;
}

static talus_forces forces_of(const talus_world* world, const talus_measure_def* def)
{
    talus_error error;
    talus_forces forces;
    check_ok(talus_measure_forces(world, def, &forces, &error), error);
    return forces;
}

// ---- lattices ----------------------------------------------------------------------------------

/// `count` balls of a lattice along each axis of a periodic cell; hexagonal in 2D if asked for.
static talus_world* lattice(int dim, int count, bool hexagonal)
{
    const double row = hexagonal ? sqrt(0.75) : 1.0;
    talus_world* world = empty_world(dim, count, row * count, dim == 3 ? count : 0);
    const int layers = dim == 3 ? count : 1;
    for (int i = 0; i < count * count * layers; i++) {
        const int j = i / count % count;
        const double x = i % count + (hexagonal ? 0.5 * (j % 2) : 0.0);
        talus_grain_def ball = physics_ball(0.5, 1, x, row * j, dim == 3 ? i / count / count : 0);
        physics_add(world, &ball);
    }
    put_touching(world);
    return world;
}

/// Square, hexagonal and simple cubic lattices: as isotropic as a tensor of second rank can see.
static void test_lattices_are_isotropic(void** state)
{
    (void)state;
    const struct {
        int dim;
        bool hexagonal;
        double neighbours;
    } cases[] = {{2, false, 4}, {2, true, 6}, {3, false, 6}};
    for (int i = 0; i < 3; i++) {
        const int dim = cases[i].dim;
        talus_world* world = lattice(dim, 4, cases[i].hexagonal);
        talus_measure_def def = talus_measure_default();
        talus_fabric f = fabric_of(world, &def);
        check_close("contacts a grain",
                    2.0 * (double)f.contacts / (double)world->state.grains.count,
                    cases[i].neighbours, ROUNDING, "a count");
        for (int k = 0; k < dim; k++) {
            for (int j = 0; j < dim; j++) {
                check_close("F_ij", f.tensor[3 * k + j], k == j ? 1.0 / dim : 0.0, 1e-12,
                            "rounding");
            }
        }
        check_close("a_c", f.contact_anisotropy, 0.0, 1e-12, "rounding");
        check_close("a_n", f.normal_anisotropy, 0.0, 1e-12, "all forces are 1");
        check_close("a_t", f.tangential_anisotropy, 0.0, 1e-12, "there are none");
        talus_fabric_free(&f);
        talus_coordination z;
        talus_error error;
        check_ok(talus_measure_coordination(world, 1e-6, false, NULL, &z, &error), error);
        check_close("coordination", z.all, cases[i].neighbours, ROUNDING, "a count");
        check_close("backbone", z.backbone, cases[i].neighbours, ROUNDING, "a count");
        talus_world_destroy(world);
    }
}

/// Contacts of one direction: a_c has its largest value, the forces' anisotropy is not defined.
static void test_chain_is_anisotropic(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = empty_world(dim, 0, 0, 0);
        for (int i = 0; i < 5; i++) {
            talus_grain_def ball = physics_ball(0.5, 1, i, 0, 0);
            physics_add(world, &ball);
        }
        put_touching(world);
        talus_measure_def def = talus_measure_default();
        talus_fabric f = fabric_of(world, &def);
        check_close("a_c", f.contact_anisotropy, dim == 2 ? 2.0 : 2.5, ROUNDING, "rounding");
        assert_true(isnan(f.normal_anisotropy) && isnan(f.tangential_anisotropy));
        if (dim == 2) check_close("angle", f.contact_angle, 0.0, ROUNDING, "along x");
        talus_fabric_free(&f);
        talus_world_destroy(world);
    }
}

// ---- prescribed distributions ------------------------------------------------------------------

/// Solve increasing(x) = value in [low, high] by bisection.
static double invert(double (*increasing)(double, double), double parameter, double value,
                     double low, double high)
{
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (increasing(middle, parameter) < value)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/// Share of directions below x = t - t_c of E(t) = (1/pi)(1 + a cos 2(t - t_c)).
static double share_below(double x, double a)
{
    return (x + 0.5 * a * sin(2 * x)) / M_PI;
}

/// Pairs of disks whose normals follow E(t), with f_n = 1 + a_n cos 2(t - t_n) and
/// f_t = -a_t sin 2(t - t_t). The law of stress, force and fabric (Rothenburg and Bathurst) follows
/// for equal angles: q/p = (a_c + a_n + a_t)/(2 + a_c a_n), all branches being 1 long.
static void test_anisotropies_in_the_plane(void** state)
{
    (void)state;
    enum { COUNT = 2000, BINS = 12 };
    const double a_c = 0.3, a_n = 0.4, a_t = 0.15, turn = 1.1;
    for (int same = 0; same < 2; same++) {
        const double t_c = turn, t_n = same ? turn : 0.5, t_t = same ? turn : 2.0;
        talus_world* world = empty_world(2, 0, 0, 0);
        for (int i = 0; i < COUNT; i++) {
            const double t = t_c + invert(share_below, a_c, (i + 0.5) / COUNT, 0, M_PI);
            const double n[2] = {cos(t), sin(t)}, point[2] = {3.0 * i, 0};
            const double f_n = 1 + a_n * cos(2 * (t - t_n)), f_t = -a_t * sin(2 * (t - t_t));
            const double tangential[2] = {-f_t * n[1], f_t * n[0]};
            put_pair(world, point, n, f_n, tangential);
        }
        talus_measure_def def = talus_measure_default();
        def.bins = BINS;
        def.volume = 1.0;
        talus_fabric f = fabric_of(world, &def);
        const char* quantile = "midpoints of 2000 quantiles: error O(1/2000^2)";
        check_close("a_c", f.contact_anisotropy, a_c, 1e-6, quantile);
        check_close("t_c", f.contact_angle, t_c, 1e-6, quantile);
        check_close("a_n", f.normal_anisotropy, a_n, 1e-11, "an exact fit: rounding");
        check_close("t_n", f.normal_angle, t_n, 1e-11, "an exact fit: rounding");
        check_close("a_t", f.tangential_anisotropy, a_t, 1e-11, "an exact fit: rounding");
        check_close("t_t", f.tangential_angle, t_t, 1e-11, "an exact fit: rounding");
        for (int k = 0; k < BINS; k++) {
            const double low = f.edge[k] - t_c, high = f.edge[k + 1] - t_c, wide = M_PI / BINS;
            const double share = share_below(high, a_c) - share_below(low, a_c);
            check_close("rose", f.rose[k], share / wide, 1.01 / COUNT / wide,
                        "quantiles are cut off at the edges of the bin: one contact");
        }
        talus_fabric_free(&f);
        if (same) {
            talus_error error;
            talus_stress s;
            check_ok(talus_measure_stress(world, &def, &s, &error), error);
            check_close("q/p", s.deviator / s.pressure, (a_c + a_n + a_t) / (2 + a_c * a_n), 1e-6,
                        quantile);
        }
        talus_world_destroy(world);
    }
}

/// Share of c = cos t below c of (1 + a (3 c^2 - 1))/2.
static double share_below_cosine(double c, double a)
{
    return 0.5 * (c + 1 + a * (c * c * c - c));
}

/// The same in space about the axis z, spiralling from pole to pole.
static void test_anisotropies_in_space(void** state)
{
    (void)state;
    enum { COUNT = 2000, BINS = 10 };
    const double a_c = 0.2, a_n = 0.3, a_t = 0.1, golden = M_PI * (3 - sqrt(5));
    talus_world* world = empty_world(3, 0, 0, 0);
    for (int i = 0; i < COUNT; i++) {
        const double c = invert(share_below_cosine, a_c, (i + 0.5) / COUNT, -1, 1);
        const double s = sqrt(1 - c * c), x = cos(golden * i), y = sin(golden * i);
        const double n[3] = {s * x, s * y, c}, point[3] = {3.0 * i, 0, 0};
        const double south = -a_t * 2 * s * c; // -a_t sin 2t along the direction of growing t
        const double tangential[3] = {south * c * x, south * c * y, -south * s};
        put_pair(world, point, n, 1 + a_n * (3 * c * c - 1), tangential);
    }
    talus_measure_def def = talus_measure_default();
    def.bins = BINS;
    talus_fabric f = fabric_of(world, &def);
    check_close("a_c", f.contact_anisotropy, a_c, 1e-3, "spiral of 2000 points: sqrt(1/2000)/20");
    check_close("axis", f.principal.direction[2], 1.0, 1e-3, "likewise");
    check_close("a_n", f.normal_anisotropy, a_n, 1e-10, "an exact fit: rounding");
    check_close("a_t", f.tangential_anisotropy, a_t, 1e-10, "an exact fit: rounding");
    for (int k = 0; k < BINS; k++) {
        const double share =
            2 * (share_below_cosine(f.edge[k + 1], a_c) - share_below_cosine(f.edge[k], a_c));
        check_close("polar histogram", f.rose[k], BINS * share, 4.04 * BINS / COUNT,
                    "two contacts at each edge, on each half");
    }
    talus_fabric_free(&f);
    talus_world_destroy(world);
}

// ---- sizes of forces ---------------------------------------------------------------------------

/// Normal forces at the quantiles of exp(-f): the histogram is that density, in all kinds of bins.
static void test_exponential_forces(void** state)
{
    (void)state;
    enum { COUNT = 4000 };
    talus_world* world = empty_world(2, 0, 0, 0);
    double sum = 0.0;
    for (int i = 0; i < COUNT; i++) {
        const double n[2] = {1, 0}, point[2] = {3.0 * i, 0};
        const double f = -7.0 * log(1.0 - (i + 0.5) / COUNT), tangential[2] = {0, 0.25 * f};
        put_pair(world, point, n, f, tangential);
        sum += f;
    }
    talus_measure_def def = talus_measure_default();
    talus_forces f = forces_of(world, &def);
    assert_int_equal(f.contacts, COUNT);
    check_close("mean", f.mean_normal, sum / COUNT, 1e-12, "rounding");
    check_close("mean f_t", f.mean_tangential, 0.25 * sum / COUNT, 1e-12, "rounding");
    check_close("largest", f.largest_normal, -7.0 * log(1.0 - (COUNT - 0.5) / COUNT), 1e-12,
                "rounding");
    const talus_histogram* all[] = {&f.normal, &f.normal_log, &f.tangential, &f.tangential_log};
    for (int k = 0; k < 4; k++) {
        const talus_histogram* h = all[k];
        double whole = (double)(h->below + h->above) / COUNT;
        for (int i = 0; i < h->bins; i++) {
            const double width = h->edge[i + 1] - h->edge[i], scale = sum / COUNT / 7.0;
            const double share = exp(-scale * h->edge[i]) - exp(-scale * h->edge[i + 1]);
            check_close("P(f)", h->density[i] * width, share, 1.01 / COUNT,
                        "quantiles are cut off at the edges of a bin: one contact");
            whole += h->density[i] * width;
        }
        check_close("all contacts", whole, 1.0, 1e-12, "rounding");
    }
    // All contacts use half of their friction 0.5.
    check_close("mean mobility", f.mean_mobility, 0.5, 1e-12, "rounding");
    check_close("mobilised", f.mobilised, 0.0, 0.0, "none is");
    talus_forces_free(&f);
    talus_world_destroy(world);
}

/// A ball that cannot turn on a plane under a tilted gravity: it uses tan(slope)/mu of its friction
/// while it rests, and all of the dynamic one once it slides.
static void test_block_on_an_incline(void** state)
{
    (void)state;
    const double mu = 0.8, dynamic = 0.5;
    const double slopes[2] = {0.4, 0.8}; // tan 0.4 = 0.42, tan 0.8 = 1.03
    for (int i = 0; i < 2; i++) {
        talus_world_def options = physics_def(2);
        options.gravity[0] = 10 * sin(slopes[i]), options.gravity[1] = -10 * cos(slopes[i]);
        talus_pair_def pair = talus_pair_default();
        pair.friction = mu, pair.dynamic_friction = dynamic;
        talus_world* world = physics_world_pair(&options, &pair);
        physics_plane(world, "slope", 0, 1, 0);
        talus_grain_def block = physics_ball(0.5, 2, 0, 0.5, 0);
        block.locked_rotation = true;
        physics_add(world, &block);
        physics_steps(world, 1e-3, 5);
        talus_measure_def def = talus_measure_default();
        talus_forces f = forces_of(world, &def);
        const char* why = "residual 1e-13 of one contact";
        assert_int_equal(f.rubbing, 1);
        check_close("f_n", f.mean_normal, 20 * cos(slopes[i]), 1e-10, why);
        check_close("f_t/bound", f.mean_mobility, i == 0 ? tan(slopes[0]) / mu : 1.0, 1e-10, why);
        check_close("mobilised", f.mobilised, i, 0.0, "a count");
        check_close("sliding", f.sliding, i, 0.0, "a count");
        def.slack = 1 - 0.9 * tan(slopes[0]) / mu;
        talus_forces generous = forces_of(world, &def);
        check_close("mobilised with a larger slack", generous.mobilised, 1.0, 0.0, "a count");
        talus_forces_free(&f);
        talus_forces_free(&generous);
        talus_world_destroy(world);
    }
}

/// A bonded contact under tension: its bound is mu (f_n + F_C). Smooth contacts have none.
static void test_bonds_and_smooth_contacts(void** state)
{
    (void)state;
    talus_world_def options = physics_def(2);
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.5, pair.cohesion_force = 3.0;
    talus_world* world = physics_world_pair(&options, &pair);
    const double n[2] = {0, 1}, left[2] = {0, 0}, right[2] = {5, 0}, tangential[2] = {0.4, 0};
    const int64_t bond = put_pair(world, left, n, -1.0, tangential);
    world->state.contacts.bonded[bond] = 1;
    put_pair(world, right, n, 2.0, tangential);
    talus_measure_def def = talus_measure_default();
    talus_forces f = forces_of(world, &def);
    check_close("mean of 0.4/(0.5 (-1 + 3)) and 0.4/(0.5 2)", f.mean_mobility, 0.4, 1e-15,
                "rounding");
    check_close("mean f_n", f.mean_normal, 0.5, 1e-15, "rounding");
    assert_int_equal(f.normal.below, 1);
    talus_forces_free(&f);
    talus_error error;
    pair.friction = 0.0;
    check_ok(
        talus_world_set_pair(world, (talus_material_id){0}, (talus_material_id){0}, &pair, &error),
        error);
    f = forces_of(world, &def);
    assert_int_equal(f.rubbing, 0);
    talus_forces_free(&f);
    talus_world_destroy(world);
}

// ---- networks ----------------------------------------------------------------------------------

/// Two strong vertical contacts of 4, two weak horizontal ones of 1 with some friction, branches 1.
static void test_networks_by_hand(void** state)
{
    (void)state;
    talus_world* world = empty_world(2, 0, 0, 0);
    const double up[2] = {0, 1}, aside[2] = {1, 0}, rub[2] = {0, 0.25};
    for (int i = 0; i < 4; i++) {
        const double point[2] = {3.0 * i, 0};
        if (i < 2)
            put_pair(world, point, up, 4.0, NULL);
        else
            world->state.contacts.state[put_pair(world, point, aside, 1.0, rub)] =
                TALUS_CONTACT_SLIDE;
    }
    talus_measure_def def = talus_measure_default();
    def.volume = 2.0;
    talus_network w;
    talus_error error;
    check_ok(talus_measure_network(world, &def, &w, &error), error);
    const char* why = "rounding of sums by hand";
    check_close("mean", w.mean_normal, 2.5, ROUNDING, why);
    assert_int_equal(w.strong.contacts, 2);
    assert_int_equal(w.weak.contacts, 2);
    check_close("strong share", w.strong.share, 0.5, ROUNDING, why);
    check_close("strong s_yy", w.strong.stress[4], 4.0, ROUNDING, why);
    check_close("weak s_xx", w.weak.stress[0], 1.0, ROUNDING, why);
    check_close("weak s_yx", w.weak.stress[3], 0.25, ROUNDING, why);
    check_close("strong pressure", w.strong.pressure_share, 0.8, ROUNDING, why);
    check_close("weak pressure", w.weak.pressure_share, 0.2, ROUNDING, why);
    // Deviators: whole (-1.5, 0.125), strong (-2, 0), weak (0.5, 0.125) as (xx, xy).
    const double norm = 1.5 * 1.5 + 0.125 * 0.125;
    check_close("strong deviator", w.strong.deviator_share, 3.0 / norm, ROUNDING, why);
    check_close("weak deviator", w.weak.deviator_share, (-0.75 + 0.015625) / norm, ROUNDING, why);
    check_close("strong angle", w.strong.angle, 0.5 * M_PI, ROUNDING, why);
    check_close("weak angle", w.weak.angle, 0.0, ROUNDING, why);
    check_close("anisotropy", w.strong.anisotropy, 2.0, ROUNDING, why);
    check_close("weak sliding", w.weak.sliding, 1.0, ROUNDING, why);
    check_close("strong sliding", w.strong.sliding, 0.0, ROUNDING, why);
    def.cut = 2.0; // nothing is as strong as that
    check_ok(talus_measure_network(world, &def, &w, &error), error);
    assert_int_equal(w.strong.contacts, 0);
    check_close("no strong share", w.strong.pressure_share, 0.0, 0.0, "no contacts");
    talus_world_destroy(world);
}

// ---- coordination and boundaries ---------------------------------------------------------------

/// Four disks in a square, a fifth that leans on one of them, a sixth that leans on the fifth, and
/// a wall below. With friction both go, the sixth first; without friction all do.
static void test_rattlers_go_in_turn(void** state)
{
    (void)state;
    talus_world* world = empty_world(2, 0, 0, 0);
    const double places[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}, {3, 1}};
    for (int i = 0; i < 6; i++) {
        talus_grain_def disk = physics_ball(0.5, 1, places[i][0], places[i][1], 0);
        physics_add(world, &disk);
    }
    put_touching(world);
    physics_plane_at(world, "floor", 0, 1, 0, 0, -0.5, 0);
    const double up[2] = {0, 1}, below[2] = {0, -0.5};
    put_contact(world, -1, 0, below, up, 1.0, NULL);
    talus_error error;
    talus_coordination z;
    check_ok(talus_measure_coordination(world, 1e-6, true, NULL, &z, &error), error);
    check_close("contacts a grain", z.all, (2 * 6 + 1) / 6.0, ROUNDING, "6 contacts and the wall");
    check_close("of the square", z.backbone, (2 * 4 + 1) / 4.0, ROUNDING, "and the wall");
    assert_int_equal(z.rattlers, 2);
    talus_region right = talus_region_default();
    right.low[0] = 0.5;
    check_ok(talus_measure_coordination(world, 1e-6, true, &right, &z, &error), error);
    check_close("at the right", z.all, (2 + 3 + 2 + 1) / 4.0, ROUNDING, "by hand");
    check_close("without rattlers", z.backbone, 2.0, ROUNDING, "two corners of the square");
    assert_int_equal(z.rattlers, 2);
    check_ok(talus_measure_coordination(world, 1e-6, false, NULL, &z, &error), error);
    assert_int_equal(z.rattlers, 6);
    talus_measure_def def = talus_measure_default();
    talus_fabric f = fabric_of(world, &def);
    assert_int_equal(f.contacts, 7);
    talus_fabric_free(&f);
    def.boundaries = false;
    f = fabric_of(world, &def);
    assert_int_equal(f.contacts, 6);
    talus_fabric_free(&f);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattices_are_isotropic),
        cmocka_unit_test(test_chain_is_anisotropic),
        cmocka_unit_test(test_anisotropies_in_the_plane),
        cmocka_unit_test(test_anisotropies_in_space),
        cmocka_unit_test(test_exponential_forces),
        cmocka_unit_test(test_block_on_an_incline),
        cmocka_unit_test(test_bonds_and_smooth_contacts),
        cmocka_unit_test(test_networks_by_hand),
        cmocka_unit_test(test_rattlers_go_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
