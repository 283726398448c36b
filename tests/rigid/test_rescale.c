/// Impulses scaled region by region (rigid/rescale.h), on a column of disks of different mass, each
/// on the one below, whose exact impulses are the weights above: what is exact stays, what is wrong
/// by factors that are linear between the nodes of the lattice becomes exact in one go, and
/// friction stays within its bounds.
#include "random.h"
#include "support.h"

#include "rigid/rescale.h"

#include <string.h>

/// Nodes are 24 diameters apart, so that there are five of them; beyond the last factors are even.
enum { DISKS = 100, LAST_NODE = 96, STRIDE = 5, WIDTH = 8 };
static const double MU = 0.5, LID = 40.0; // mass of the lid

static void add_contact(problem* p, int a, int b, double up)
{
    const double row[WIDTH] = {0.0, up, 1.0, 1.0, 0.0, MU, 0.0, 0.0};
    memcpy(p->contact + p->count * WIDTH, row, sizeof row);
    p->pair[2 * p->count] = a;
    p->pair[2 * p->count + 1] = b;
    p->count++;
}

/// Velocities that go with the impulses; the turning of the disks has no part in what is tested.
static void find_velocities(problem* p)
{
    memcpy(p->body, p->free, sizeof(double) * (size_t)(STRIDE * p->rows));
    for (int64_t c = 0; c < p->count; c++) {
        const double* impulse = p->contact + c * WIDTH + 6;
        for (int side = 0; side < 2; side++) {
            const int64_t i = p->pair[2 * c + side], wall = problem_mobile_wall(p, i);
            double* v = p->body + STRIDE * i;
            for (int k = 0; k < 2; k++) {
                const double inverse_mass = wall < 0 ? v[2] : p->mobility[wall * 4 + 3 * k];
                v[k] += (side ? 1.0 : -1.0) * inverse_mass * impulse[k];
            }
        }
    }
}

/// A column that one step of gravity sets in motion, on a floor, with a lid that can sink or not;
/// `exact` receives the normal impulses that hold it.
static void make_column(problem* p, bool lid, double* exact)
{
    rng r = rng_make(3, 1, 4);
    const problem_size size = {.rows = DISKS + 2, .contacts = DISKS + 1, .mobile = 1};
    assert_int_equal(problem_reset(p, 2, &size), TALUS_OK);
    memset(p->free, 0, sizeof(double) * (DISKS + 2) * STRIDE);
    p->rows = DISKS + 2;
    p->mobile_first = DISKS;
    p->mobile_count = lid;
    for (uint32_t i = 0; i < DISKS; i++) {
        const double im = uniform(&r, 0.5, 2.0), row[STRIDE] = {0.0, -1.0, im, 0.0, 2.0 * im};
        memcpy(p->free + STRIDE * i, row, sizeof row);
        for (int bit = 0; bit < 15; bit++) p->curve[i] |= (i >> bit & 1u) << (2 * bit + 1);
    }
    add_contact(p, DISKS + 1, 0, 1.0);
    for (int i = 1; i < DISKS; i++) add_contact(p, i - 1, i, 1.0);
    double above = lid ? LID : 0.0;
    if (lid) {
        p->free[STRIDE * DISKS + 1] = -1.0;
        p->mobility[0] = p->mobility[1] = p->mobility[2] = 0.0;
        p->mobility[3] = 1.0 / LID;
        add_contact(p, DISKS, DISKS - 1, -1.0);
        exact[DISKS] = LID;
    }
    for (int i = DISKS - 1; i >= 0; i--) exact[i] = above += 1.0 / p->free[STRIDE * i + 2];
}

/// Set the impulses to the exact ones over 1 + even + slope y, with friction that alternates.
static void set_impulses(problem* p, const double* exact, double even, double slope)
{
    for (int64_t c = 0; c < p->count; c++) {
        const double y = fmin(p->pair[2 * c + 1], LAST_NODE) / LAST_NODE;
        double* row = p->contact + c * WIDTH;
        const double pn = exact[c] / (1.0 + even + slope * y);
        row[6] = (c % 2 ? 0.4 : -0.2) * pn;
        row[7] = row[1] * pn;
    }
    find_velocities(p);
}

/// Largest error of the normal impulses after scaling, in parts of the weight of the column.
static double error_after(bool lid, double even, double slope)
{
    problem p = {0};
    rescaling r = {0};
    double exact[DISKS + 1], error = 0.0;
    make_column(&p, lid, exact);
    set_impulses(&p, exact, even, slope);
    rescaling_begin(&r, &p, DISKS, 1000);
    assert_true(rescaling_due(&r, 16));
    assert_int_equal(rescale(&r, &p, 2), TALUS_OK);
    for (int64_t c = 0; c < p.count; c++) {
        const double* row = p.contact + c * WIDTH;
        error = fmax(error, fabs(row[1] * row[7] - exact[c]) / exact[0]);
        check_close("friction", row[6] / (row[1] * row[7]), c % 2 ? 0.4 : -0.2, 1e-14,
                    "both parts are multiplied by the same factor");
    }
    rescaling_free(&r);
    problem_free(&p);
    return error;
}

static const char why[] = "rounding, times the condition of a matrix of five nodes";

static void test_exact_impulses_stay(void** state)
{
    (void)state;
    check_below("free column", error_after(false, 0.0, 0.0), 1e-12, why);
    check_below("with a lid", error_after(true, 0.0, 0.0), 1e-12, why);
}

static void test_wrong_loads_become_right(void** state)
{
    (void)state;
    for (int lid = 0; lid < 2; lid++) {
        check_below("all too small", error_after(lid, 0.4, 0.0), 1e-10, why);
        check_below("all too large", error_after(lid, -0.4, 0.0), 1e-10, why);
        check_below("too small above", error_after(lid, 0.0, 0.6), 1e-10, why);
        check_below("too large above", error_after(lid, 0.2, -0.5), 1e-10, why);
    }
}

/// What the equations ask for is not done beyond half and twice of what there is.
static void test_factors_are_bounded(void** state)
{
    (void)state;
    check_close("a tenth of the load", error_after(false, 9.0, 0.0), 0.8, 1e-12,
                "a factor of two leaves eight tenths missing");
    check_close("four times the load", error_after(false, -0.75, 0.0), 1.0, 1e-12,
                "half of four times is one too much");
}

/// A lid that is driven into a column which cannot give way: whatever the impulses are they hold
/// each other and the lid goes on. Scaled time and again they must not grow.
static void test_what_cannot_be_solved_does_not_grow(void** state)
{
    (void)state;
    problem p = {0};
    rescaling r = {0};
    double exact[DISKS + 1];
    make_column(&p, true, exact);
    p.mobility[3] = 0.0;
    for (int64_t c = 0; c < p.count; c++) exact[c] += 1e6;
    set_impulses(&p, exact, 0.0, 0.0);
    rescaling_begin(&r, &p, DISKS, 1000);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(rescale(&r, &p, 2), TALUS_OK);
        find_velocities(&p);
    }
    double most = 0.0;
    for (int64_t c = 0; c < p.count; c++) most = fmax(most, fabs(p.contact[c * WIDTH + 7]));
    check_below("impulses", most, 1.001 * exact[0], "those there were, and the weights");
    rescaling_free(&r);
    problem_free(&p);
}

static void test_what_is_left_alone(void** state)
{
    (void)state;
    problem p = {0};
    rescaling r = {0};
    double exact[DISKS + 1];
    make_column(&p, false, exact);
    rescaling_begin(&r, &p, DISKS, 50);
    assert_false(rescaling_due(&r, 1000)); // few sweeps
    p.compound_count = 1;
    rescaling_begin(&r, &p, DISKS, 1000);
    assert_false(rescaling_due(&r, 1000)); // bonds and torques
    p.compound_count = 0;
    rescaling_begin(&r, &p, DISKS, 1000);
    assert_int_equal(rescale(&r, &p, 2), TALUS_OK); // nothing pushes
    for (int64_t c = 0; c < p.count; c++) assert_true(p.contact[c * WIDTH + 7] == 0.0);
    int64_t times = 0;
    for (int64_t sweeps = 0; sweeps < 1000; sweeps++) {
        if (!rescaling_due(&r, sweeps)) continue;
        assert_true(sweeps <= 750); // the last quarter is for sweeps
        rescaling_wait(&r);
        times++;
    }
    assert_int_equal(times, 9); // 16, 32, 48, 72, 108, 162, 243, 364, 546
    rescaling_free(&r);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_impulses_stay),
        cmocka_unit_test(test_wrong_loads_become_right),
        cmocka_unit_test(test_factors_are_bounded),
        cmocka_unit_test(test_what_cannot_be_solved_does_not_grow),
        cmocka_unit_test(test_what_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
