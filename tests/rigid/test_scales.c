/// The estimate of the velocity error (rigid/residual.c, rigid/scales.c) against the error itself,
/// where that is known: waves in a row of disks that leans on a wall, and on a lattice.
#include "support.h"

#include "rigid/residual.h"
#include "rigid/scales.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

/// Key of the Z curve of the cell (x, y), bit by bit.
static uint32_t key_of(uint32_t x, uint32_t y)
{
    uint32_t key = 0;
    for (int bit = 0; bit < 15; bit++) {
        key |= (x >> bit & 1u) << (2 * bit) | (y >> bit & 1u) << (2 * bit + 1);
    }
    return key;
}

/// `columns` x `rows` disks of mass 1 on a square lattice; each row leans on a wall at the left by
/// contacts without friction. Disk (i, j) is row j * columns + i, its left contact has that number.
static void lattice(problem* p, int columns, int rows)
{
    const int count = columns * rows, stride = problem_stride(2), width = problem_width(2);
    const problem_size size = {.rows = count + rows, .contacts = count};
    assert_int_equal(problem_reset(p, 2, &size), 0);
    p->rows = count + rows;
    p->count = count;
    memset(p->free, 0, sizeof(double) * (size_t)(p->rows * stride));
    for (int c = 0; c < count; c++) {
        const int i = c % columns, j = c / columns;
        double* contact = p->contact + c * width;
        p->free[c * stride + row_im(2)] = 1.0;
        p->pair[2 * c] = i == 0 ? count + j : c - 1;
        p->pair[2 * c + 1] = c;
        p->curve[c] = key_of((uint32_t)i, (uint32_t)j);
        if (i == 0) p->curve[count + j] = p->curve[c];
        memset(contact, 0, sizeof(double) * (size_t)width);
        contact[0] = 1.0;
        contact[contact_mn(2)] = contact[contact_mt(2)] = i == 0 ? 1.0 : 0.5;
    }
}

/// Give the problem the solution p = PUSH at every contact with all disks at rest, then move the
/// disks by dV: impulses follow from momentum, from the free end to the wall.
static const double PUSH = 1.0;

static void disturb(problem* p, int columns, const double* dv)
{
    const int stride = problem_stride(2), width = problem_width(2);
    for (int64_t c = p->count - 1; c >= 0; c--) {
        const bool last = c % columns == columns - 1;
        double* contact = p->contact + c * width;
        const double beyond = last ? 0.0 : (contact + width)[contact_p(2)] - PUSH;
        contact[contact_p(2)] = PUSH + beyond + dv[c];
        p->free[c * stride] = last ? -PUSH : 0.0; // what the solution stops
    }
    problem_refresh(p);
}

/// ||V - V_exact|| / ||V - V_free||: the exact velocities are zero.
static double true_error(const problem* p)
{
    const int stride = problem_stride(2);
    double error = 0.0, scale = 0.0;
    for (int64_t i = 0; i < p->count; i++) {
        const double v = p->body[i * stride], change = v - p->free[i * stride];
        error += v * v;
        scale += change * change;
    }
    return sqrt(error / scale);
}

/// Waves of every length, each alone. How far above the error may the estimate be? A wave of number
/// q has the energy E = 2 s^2 |dV|^2 with s = sin(q/2), so (estimate / error)^2 = C^2 2 s^2 l^2, C
/// = 6. Cells of w contacts explain at most dim / (w s)^2 of it (a geometric sum); what cells of w
/// explain and those of 2 w do not counts with (2 w)^2: at most 8/s^2 on each of the five scales
/// from 4 to 64 diameters, 9/s^2 for all where the wave is longer than the cells, 4^2 for the
/// smallest cells.
static void waves_are_bounded(void** state)
{
    (void)state;
    enum { COLUMNS = 128 };
    problem p = {0};
    double dv[COLUMNS];
    lattice(&p, COLUMNS, 1);
    for (int wave = 1; wave <= COLUMNS; wave++) {
        const double q = (2 * wave - 1) * PI / (2 * COLUMNS + 1);
        for (int i = 0; i < COLUMNS; i++) dv[i] = 1e-5 * sin(q * (i + 1));
        disturb(&p, COLUMNS, dv);
        const double s = sin(0.5 * q),
                     most = 6.0 * sqrt(2.5 * (16.0 * s * s + 9.0 + 5.0 * 8.0 + 2.0));
        const double ratio = residual_measure(&p, COLUMNS, 1).velocity / true_error(&p);
        check_below("estimate below the error", 1.0, ratio, "it is a bound");
        check_below("estimate over error", ratio, most, "see above");
    }
    problem_free(&p);
}

/// Flicker of single contacts does not count as a wave of the whole system. If the errors of
/// N contacts are independent, 1/l^2 of their energy (in the plane) is left in cells of width l:
/// every scale adds one unit of dim * l^0, log2(L/4) of them, and 4^2 for what the smallest cells
/// do not explain: l_rms^2 = 16 + 2 * 4 * 5 at most for L = 128.
static void flicker_is_told_from_waves(void** state)
{
    (void)state;
    enum { SIDE = 128 };
    problem p = {0};
    double* dv = malloc(sizeof(double) * SIDE * SIDE);
    assert_non_null(dv);
    lattice(&p, SIDE, SIDE);
    uint32_t random = 1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        random = random * 1664525u + 1013904223u;
        dv[i] = 1e-5 * ((double)random / 0x1p32 - 0.5);
    }
    disturb(&p, SIDE, dv);
    const residual_report noise = residual_measure(&p, SIDE, 1);
    check_below("length of flicker", noise.length, sqrt(56.0), "see above");
    for (int i = 0; i < SIDE * SIDE; i++) dv[i] = 1e-5 * (i % SIDE + 1);
    disturb(&p, SIDE, dv);
    const residual_report strain = residual_measure(&p, SIDE, 1);
    check_close("length of a strain", strain.length, SIDE, 1e-6 * SIDE, "rounding of e");
    free(dv);
    problem_free(&p);
}

/// Without an order along the curve every error may be as long as the system.
static void without_an_order_all_is_large(void** state)
{
    (void)state;
    enum { COLUMNS = 64 };
    problem p = {0};
    double dv[COLUMNS];
    lattice(&p, COLUMNS, 1);
    memset(p.curve, 0, sizeof *p.curve * (size_t)p.rows);
    for (int i = 0; i < COLUMNS; i++) dv[i] = i % 2 ? 1e-5 : -1e-5;
    disturb(&p, COLUMNS, dv);
    check_close("length", residual_measure(&p, COLUMNS, 1).length, COLUMNS, 1e-12, "rounding");
    check_close("length of unknown size", residual_measure(&p, 0.0, 1).length, COLUMNS, 1e-12,
                "the longest chain");
    problem_free(&p);
}

static void threads_give_the_same_bits(void** state)
{
    (void)state;
    enum { SIDE = 96 };
    problem p = {0};
    double* dv = malloc(sizeof(double) * SIDE * SIDE);
    assert_non_null(dv);
    lattice(&p, SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) dv[i] = 1e-5 * sin(0.1 * i) * cos(0.37 * i);
    disturb(&p, SIDE, dv);
    const residual_report one = residual_measure(&p, SIDE, 1);
    for (int threads = 2; threads <= 8; threads++) {
        const residual_report many = residual_measure(&p, SIDE, threads);
        assert_memory_equal(&one, &many, sizeof one);
    }
    free(dv);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waves_are_bounded),
                                       cmocka_unit_test(flicker_is_told_from_waves),
                                       cmocka_unit_test(without_an_order_all_is_large),
                                       cmocka_unit_test(threads_give_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
