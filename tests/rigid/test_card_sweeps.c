/// Sweeps by a card have the CPU's bits (rigid/packed/on_card.h): for every kind of contact, with
/// walls that move and bodies with many contacts, whatever the order in which the card's blocks and
/// threads run. The driver is the fake one (tests/support/fake_cuda.c), which runs the same
/// kernels.
#include "packed_model.h"

#include "base/hash.h"
#include "rigid/packed/on_card.h"

static const cloud clouds[] = {
    {.name = "disks", .dim = 2, .walls = 0.1},
    {.name = "spheres", .dim = 3, .walls = 0.1},
    {.name = "disks, some fixed", .dim = 2, .fixed = 0.1},
    {.name = "spheres, some fixed", .dim = 3, .fixed = 0.1, .pivots = 0.1, .uneven = 0.2},
    {.name = "polygons", .dim = 2, .solids = 1.0, .walls = 0.1},
    {.name = "polyhedra", .dim = 3, .solids = 1.0, .walls = 0.1},
    {.name = "disks and polygons", .dim = 2, .solids = 0.5, .fixed = 0.1},
    {.name = "spheres and polyhedra", .dim = 3, .solids = 0.5, .fixed = 0.1},
    {.name = "compound disks", .dim = 2, .compound = 0.9, .walls = 0.1},
    {.name = "compound spheres", .dim = 3, .compound = 0.9, .walls = 0.1, .fixed = 0.1},
    {.name = "rolling disks", .dim = 2, .compound = 0.9, .laws = ROLLING, .walls = 0.1},
    {.name = "rolling spheres", .dim = 3, .compound = 0.9, .laws = ROLLING, .walls = 0.1},
    {.name = "compound polygons", .dim = 2, .solids = 0.7, .compound = 0.5, .laws = MIXED},
    {.name = "compound polyhedra", .dim = 3, .solids = 0.7, .compound = 0.5, .laws = MIXED},
    {.name = "compound disks, some odd",
     .dim = 2,
     .compound = 0.9,
     .laws = MIXED,
     .fixed = 0.1,
     .uneven = 0.2},
    {.name = "disks under a lid", .dim = 2, .mobile = 0.2, .walls = 0.1},
    {.name = "spheres under a lid", .dim = 3, .mobile = 0.2, .walls = 0.1},
    {.name = "disks about a hub", .dim = 2, .hub = 0.3},
    {.name = "spheres about a hub", .dim = 3, .hub = 0.3},
    {.name = "everything under a lid, about a hub, 2D",
     .dim = 2,
     .solids = 0.3,
     .compound = 0.4,
     .laws = MIXED,
     .fixed = 0.1,
     .walls = 0.1,
     .mobile = 0.2,
     .hub = 0.1},
    {.name = "everything under a lid, about a hub, 3D",
     .dim = 3,
     .solids = 0.3,
     .compound = 0.4,
     .laws = MIXED,
     .fixed = 0.1,
     .walls = 0.1,
     .mobile = 0.2,
     .hub = 0.1},
};
enum { CLOUDS = sizeof clouds / sizeof *clouds };

static uint64_t hash_problem(uint64_t hash, const problem* p)
{
    hash = hash_bytes(hash, p->body, sizeof(double) * (size_t)(p->rows * problem_stride(p->dim)));
    hash =
        hash_bytes(hash, p->contact, sizeof(double) * (size_t)(p->count * problem_width(p->dim)));
    for (int64_t k = 0; k < p->compound_count; k++) {
        hash = hash_bytes(hash, p->compound_rows[k].torque, sizeof p->compound_rows[k].torque);
    }
    return hash;
}

/// What an outsider does to impulses between sweeps: coarse steps and scaled loads do.
static void weaken_impulses(problem* p)
{
    for (int64_t c = 0; c < p->count; c++) {
        double* impulse = p->contact + c * problem_width(p->dim) + contact_p(p->dim);
        for (int k = 0; k < p->dim; k++) impulse[k] *= 0.75;
    }
}

/// Hash of everything that comes back from sweeps with momentum and all that solvers do between
/// them, by the card or, without one, by the CPU.
static uint64_t hash_of_solve(uint64_t hash, problem* p, packed_problem* packed, card* by,
                              int sweeps)
{
    const packed_kernels* kernels = packed_kernels_for(TALUS_VECTOR_BEST);
    double change = 0.0;
    assert_int_equal(packed_pack(packed, p, 1), TALUS_OK);
    assert_null(packed_card_why_not(packed));
    if (by) assert_int_equal(packed_to_card(packed, by), TALUS_OK);
    packed_apply(packed, kernels, 1);
    packed_remember(packed, 1);
    for (int i = 0; i < sweeps; i++) {
        const packed_manner manner = {.momentum = i % 20 != 19,
                                      .beta = 0.04 * (i % 20),
                                      .skip = i % 8 != 0,
                                      .outlier =
                                          i % 20 < 4 ? INFINITY : 10.0 * change / (double)p->count};
        if (i == 10 && p->compound_count == 0) {
            packed_show(packed, 1);
            hash = hash_problem(hash, p);
            weaken_impulses(p);
            packed_shift(packed, kernels, 1);
        }
        if (i == 15) {
            for (int64_t k = 0; k < p->count; k++) {
                if (problem_compound_of(p, k) >= 0) {
                    p->contact[k * problem_width(p->dim) + contact_mu(p->dim)] *= 0.5;
                }
            }
            packed_refresh_friction(packed);
        }
        const packed_sums sums = packed_sweep(packed, kernels, &manner, 1);
        if (by) assert_int_equal(packed_card_state(packed, NULL), TALUS_OK);
        assert_true(isfinite(sums.change + sums.step + sums.turning + sums.impulse));
        change = sums.change;
        hash = hash_bytes(hash, &sums, sizeof sums);
        if (i % 12 == 11) {
            packed_give_back(packed, kernels, 1);
            hash = hash_problem(hash, p);
        }
    }
    packed_give_back(packed, kernels, 1);
    return hash_problem(hash, p);
}

/// The same for several solves, as of steps: the second from the impulses of the first, so that the
/// layout is kept and contacts that are open now have other lanes, and one of another layout.
static uint64_t hash_of_solves(const cloud* c, card* by, int sweeps)
{
    problem p = {0};
    packed_problem w = {0};
    uint64_t hash = HASH_START;
    int64_t gathered[3];
    fill_cloud(c, 5, &p);
    for (int solve = 0; solve < 3; solve++) {
        const int64_t before = w.arrangement;
        if (solve == 2) change_a_pair(&p);
        hash = hash_of_solve(hash, &p, &w, by, solve == 0 ? sweeps : sweeps / 2);
        assert_int_equal(w.arrangement - before, solve != 1);
        gathered[solve] = w.gathering;
    }
    assert_true(gathered[1] > gathered[0]);
    packed_free(&w);
    problem_free(&p);
    return hash;
}

static void compare_clouds(card* by, int bodies, int contacts, int sweeps)
{
    for (int k = 0; k < CLOUDS; k++) {
        cloud c = clouds[k];
        c.bodies = bodies;
        c.contacts = contacts;
        printf("%s\n", c.name);
        const uint64_t expected = hash_of_solves(&c, NULL, sweeps);
        assert_int_equal(hash_of_solves(&c, by, sweeps), expected);
    }
}

static card* opened(void)
{
    talus_error error = {0};
    card* c = NULL;
    if (card_open(0, &c, &error) < 0) print_error("%s\n", error.text);
    assert_non_null(c);
    return c;
}

static void test_same_bits_as_the_cpu(void** state)
{
    (void)state;
    card* c = opened();
    compare_clouds(c, 250, 900, test_count(60, 24));
    card_close(c);
}

static void test_same_bits_in_any_order(void** state)
{
    (void)state;
    setenv("FAKE_CUDA_ORDER", "7", 1);
    card* c = opened();
    compare_clouds(c, 3000, 6000, test_count(24, 16));
    card_close(c);
    unsetenv("FAKE_CUDA_ORDER");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_as_the_cpu),
        cmocka_unit_test(test_same_bits_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
