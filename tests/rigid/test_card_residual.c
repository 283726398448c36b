/// The measures of residual.h by a card have the CPU's bits: for disks, spheres and solids, walls
/// that move, one part of the contacts, four and sixteen, cells along the curve or none, in any
/// order of blocks and threads. The driver is the fake one (tests/support/fake_cuda.c).
#include "packed_model.h"

#include "base/rng.h"
#include "rigid/packed/on_card.h"
#include "rigid/residual_card.h"

#include <string.h>

static const cloud clouds[] = {
    {.name = "disks", .dim = 2, .walls = 0.1, .fixed = 0.1},
    {.name = "spheres", .dim = 3, .walls = 0.1, .fixed = 0.1, .pivots = 0.1, .uneven = 0.2},
    {.name = "polygons", .dim = 2, .solids = 0.5, .walls = 0.1},
    {.name = "polyhedra", .dim = 3, .solids = 0.5, .walls = 0.1},
    {.name = "disks under a lid", .dim = 2, .mobile = 0.2, .walls = 0.1},
    {.name = "spheres under a lid, about a hub", .dim = 3, .mobile = 0.2, .hub = 0.1},
};
enum { CLOUDS = sizeof clouds / sizeof *clouds };

/// Put the bodies into cells along the curve, not quite in their order; 0: all into one.
static void place(problem* p, uint32_t cells)
{
    rng r = rng_make(7, cells, 3);
    p->curve_cell = 0.5;
    for (int64_t i = 0; i < p->rows; i++) {
        p->curve[i] = cells > 0 ? (uint32_t)(i * cells / p->rows + (int64_t)rng_below(&r, 3)) : 0;
    }
}

static void sweep(packed_problem* w, const packed_kernels* kernels, int sweeps)
{
    packed_apply(w, kernels, 1);
    packed_remember(w, 1);
    for (int i = 0; i < sweeps; i++) {
        const packed_manner manner = {.momentum = true, .beta = 0.05 * i, .outlier = INFINITY};
        packed_sweep(w, kernels, &manner, 1);
    }
}

/// Measured by the card, then by the CPU what the card has found.
static void look(packed_problem* w, residual_card** r, double size)
{
    residual_report there;
    packed_refresh(w, packed_kernels_for(TALUS_VECTOR_BEST), 1);
    assert_true(residual_card_can(r, w));
    assert_int_equal(residual_card_measure(*r, w, size, 1, &there), TALUS_OK);
    packed_write(w, 1);
    const residual_report here = residual_measure(w->problem, size, 1);
    assert_true(here.natural > 0.0 && here.velocity > 0.0 && here.length > 0.0);
    assert_memory_equal(&there, &here, sizeof here);
}

/// Several solves, as of steps: of the same problem from its new impulses, so that the layout is
/// kept on the card, and of one in which a contact has found another body.
static void compare(const cloud* c, card* by, uint32_t cells, double size)
{
    const packed_kernels* kernels = packed_kernels_for(TALUS_VECTOR_BEST);
    problem p = {0};
    packed_problem w = {0};
    residual_card* r = NULL;
    fill_cloud(c, 5, &p);
    place(&p, cells);
    for (int solve = 0; solve < 4; solve++) {
        const int64_t before = w.arrangement;
        if (solve == 2) change_a_pair(&p);
        assert_int_equal(packed_pack(&w, &p, 1), TALUS_OK);
        assert_int_equal(w.arrangement - before, solve % 2 == 0);
        assert_int_equal(packed_to_card(&w, by), TALUS_OK);
        residual_card_begin(r);
        for (int looks = 0; looks < 2; looks++) {
            sweep(&w, kernels, 4);
            look(&w, &r, size);
        }
    }
    residual_card_free(r);
    packed_free(&w);
    problem_free(&p);
}

static void compare_clouds(int bodies, int contacts, int clouds_of)
{
    talus_error error = {0};
    card* by = NULL;
    if (card_open(0, &by, &error) < 0) fail_msg("%s", error.text);
    for (int k = 0; k < clouds_of; k++) {
        cloud c = clouds[k];
        c.bodies = bodies;
        c.contacts = contacts;
        if (bodies > 10000) c.fixed = c.pivots = 0.0; // else some contact finds none that moves
        printf("%s\n", c.name);
        compare(&c, by, 4000, 12.0);
        compare(&c, by, 0, 0.0);
    }
    card_close(by);
}

static void test_one_part(void** state)
{
    (void)state;
    compare_clouds(300, 1200, CLOUDS);
}

static void test_four_parts_in_any_order(void** state)
{
    (void)state;
    setenv("FAKE_CUDA_ORDER", "23", 1);
    compare_clouds(4000, 9000, CLOUDS);
    unsetenv("FAKE_CUDA_ORDER");
}

static void test_sixteen_parts(void** state)
{
    (void)state;
    setenv("FAKE_CUDA_ORDER", "reverse", 1);
    compare_clouds(60000, 201000, 2);
    unsetenv("FAKE_CUDA_ORDER");
}

/// Contacts with more than friction, and a problem that the card has no room for, are not its own.
static void test_left_to_the_cpu(void** state)
{
    (void)state;
    talus_error error = {0};
    setenv("FAKE_CUDA_MEMORY", "1000000", 1);
    for (int k = 0; k < 2; k++) {
        const cloud c = {.dim = 3, .bodies = 1000, .contacts = 3000, .compound = k ? 0.5 : 0.0};
        card* by = NULL;
        residual_card* r = NULL;
        problem p = {0};
        packed_problem w = {0};
        if (card_open(0, &by, &error) < 0) fail_msg("%s", error.text);
        fill_cloud(&c, 5, &p);
        assert_int_equal(packed_pack(&w, &p, 1), TALUS_OK);
        assert_false(residual_card_can(&r, &w)); // swept by the CPU
        if (packed_to_card(&w, by) == TALUS_OK) assert_false(residual_card_can(&r, &w));
        residual_card_free(r);
        packed_free(&w);
        problem_free(&p);
        card_close(by);
    }
    unsetenv("FAKE_CUDA_MEMORY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_part),
        cmocka_unit_test(test_four_parts_in_any_order),
        cmocka_unit_test(test_sixteen_parts),
        cmocka_unit_test(test_left_to_the_cpu),
    };
    if (!card_built_in()) {
        printf("skipped: this build has no kernels for cards\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
