/// Steps on a coarse grid (rigid/coarse/coarse.h): a packing that is loaded, from nothing or from
/// less load, needs fewer sweeps with them, what comes out satisfies the law, and solves that they
/// do not suit go on without them.
///
/// The packing: disks of diameter 1 on a triangular lattice with vacancies between a floor and two
/// walls, friction 0.3, with a heavy top layer. Without its places (problem.curve all zero) the
/// same problem is solved by sweeps alone.
#include "random.h"
#include "support.h"

#include "base/hash.h"
#include "rigid/solver.h"

#include <string.h>

enum { COLUMNS = 60, LAYERS = 70, SITES = COLUMNS * LAYERS };
static const double MU = 0.3, LOAD = 100.0, WEIGHT = 1.0, VACANCIES = 0.02;

// ---- the packing -------------------------------------------------------------------------------

/// Number of the disk at every site, -1: none.
typedef struct lattice {
    int disk[LAYERS][COLUMNS];
    int count;
} lattice;

static void fill_lattice(lattice* l)
{
    rng r = rng_make(1, 7, 0);
    l->count = 0;
    for (int j = 0; j < LAYERS; j++) {
        for (int i = 0; i < COLUMNS; i++) {
            l->disk[j][i] = rng_uniform(&r) < VACANCIES ? -1 : l->count++;
        }
    }
}

/// Bits of two coordinates in turns.
static uint32_t place_on_curve(double x, double y)
{
    uint32_t key = 0;
    for (int bit = 0; bit < 15; bit++) {
        key |= ((uint32_t)x >> bit & 1u) << 2 * bit | ((uint32_t)y >> bit & 1u) << (2 * bit + 1);
    }
    return key;
}

static void add_contact(problem* p, int a, int b, double nx, double ny)
{
    const double* free = p->free;
    const double im = free[a * 5 + 2] + free[b * 5 + 2], kim = free[a * 5 + 4] + free[b * 5 + 4];
    const double row[8] = {nx, ny, 1.0 / im, 1.0 / (im + kim), 0.0, MU, 0.0, 0.0};
    memcpy(p->contact + p->count * 8, row, sizeof row);
    p->pair[2 * p->count] = a;
    p->pair[2 * p->count + 1] = b;
    p->count++;
}

static void add_wall(problem* p, int disk, double nx, double ny)
{
    memset(p->free + p->rows * 5, 0, 5 * sizeof(double));
    add_contact(p, (int)p->rows++, disk, nx, ny);
}

static void add_site(problem* p, const lattice* l, int i, int j, bool floor)
{
    const int me = l->disk[j][i], odd = j % 2;
    const double up = sqrt(0.75);
    if (me < 0) return;
    for (int side = 0; side < 2 && j + 1 < LAYERS; side++) {
        const int k = i + odd - 1 + side;
        if (k < 0 || k >= COLUMNS || l->disk[j + 1][k] < 0) continue;
        add_contact(p, me, l->disk[j + 1][k], side - 0.5, up);
    }
    if (i + 1 < COLUMNS && l->disk[j][i + 1] >= 0) add_contact(p, me, l->disk[j][i + 1], 1.0, 0.0);
    if (i == 0 && !odd) add_wall(p, me, 1.0, 0.0);
    if (i == COLUMNS - 1 && odd) add_wall(p, me, -1.0, 0.0);
    if (j == 0 && floor) add_wall(p, me, 0.0, 1.0);
}

/// Velocities that one step of gravity gives: the top layer's stands for its load.
static void set_load(problem* p, double load)
{
    for (int64_t i = 0; i < p->mobile_first; i++) {
        const bool top = i >= p->mobile_first - COLUMNS / 2;
        if (p->free[i * 5 + 2] > 0.0) p->free[i * 5 + 1] = top ? -load : -WEIGHT;
    }
}

/// Masses differ, so that no row of the lattice is like another.
static void make_packing(problem* p, bool floor, bool placed)
{
    static lattice l;
    rng r = rng_make(2, 7, 0);
    fill_lattice(&l);
    const problem_size size = {.rows = SITES + COLUMNS + 2 * LAYERS,
                               .contacts = 3 * SITES + COLUMNS + 2 * LAYERS};
    assert_int_equal(problem_reset(p, 2, &size), TALUS_OK);
    for (int k = 0; k < SITES; k++) {
        const int i = k % COLUMNS, j = k / COLUMNS, me = l.disk[j][i];
        if (me < 0) continue;
        const double im = uniform(&r, 0.8, 1.25);
        const double row[5] = {0.0, -WEIGHT, im, 0.0, 2.0 * im};
        memcpy(p->free + me * 5, row, sizeof row);
        if (placed) p->curve[me] = place_on_curve(i + 0.5 * (j % 2), j * sqrt(0.75));
    }
    p->rows = p->mobile_first = l.count;
    for (int k = 0; k < SITES; k++) add_site(p, &l, k % COLUMNS, k / COLUMNS, floor);
    set_load(p, LOAD);
    memcpy(p->body, p->free, sizeof(double) * (size_t)(5 * p->rows));
}

/// How far the law is from being satisfied, as part of all impulses; velocities are made anew from
/// the impulses, with lever arms.
static double law_error(const problem* p)
{
    double* v = malloc(sizeof(double) * (size_t)(3 * p->rows)); // v, w = R omega
    double error2 = 0.0, all2 = 0.0;
    assert_non_null(v);
    for (int64_t i = 0; i < p->rows; i++) {
        for (int k = 0; k < 3; k++) v[3 * i + k] = p->free[5 * i + (k < 2 ? k : 3)];
    }
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + 8 * c;
        const double moment = row[0] * row[7] - row[1] * row[6];
        for (int side = 0; side < 2; side++) {
            const int64_t i = p->pair[2 * c + side];
            const double s = side ? 1.0 : -1.0; // the point of b lies at -R n, that of a at R n
            v[3 * i] += s * p->free[5 * i + 2] * row[6];
            v[3 * i + 1] += s * p->free[5 * i + 2] * row[7];
            v[3 * i + 2] -= p->free[5 * i + 4] * moment;
        }
    }
    for (int64_t c = 0; c < p->count; c++) {
        const double *row = p->contact + 8 * c, *n = row;
        const double *a = v + 3 * p->pair[2 * c], *b = v + 3 * p->pair[2 * c + 1];
        const double ux = b[0] - a[0] + (a[2] + b[2]) * n[1];
        const double uy = b[1] - a[1] - (a[2] + b[2]) * n[0];
        const double pn = n[0] * row[6] + n[1] * row[7], pt = n[0] * row[7] - n[1] * row[6];
        const double wish_n = fmax(0.0, pn - row[2] * (n[0] * ux + n[1] * uy));
        const double wish_t = pt - row[3] * (n[0] * uy - n[1] * ux);
        const double held = fmax(-MU * wish_n, fmin(MU * wish_n, wish_t));
        error2 += (pn - wish_n) * (pn - wish_n) + (pt - held) * (pt - held);
        all2 += pn * pn + pt * pt;
    }
    free(v);
    return sqrt(error2 / all2);
}

// ---- solves ------------------------------------------------------------------------------------

typedef struct outcome {
    solve_result result;
    int64_t steps; ///< on the coarse grid
} outcome;

static talus_solver_def accurate(void)
{
    talus_solver_def o = talus_solver_default();
    o.method = TALUS_SOLVER_ACCELERATED;
    o.max_sweeps = 20000;
    return o;
}

static outcome solve_packing(problem* p, const talus_solver_def* options, int threads)
{
    solve_workspace ws = {0};
    const solve_request request = {
        .options = options, .h = 1.0, .seed = 1, .size = LAYERS, .threads = threads};
    outcome out;
    assert_int_equal(solver_for(options)->solve(p, &request, &ws, &out.result), TALUS_OK);
    out.steps = ws.coarse.steps;
    solve_workspace_free(&ws);
    return out;
}

/// A packing that has come to rest with 90 % of its load, now with all of it.
static void make_loaded(problem* p, bool placed)
{
    const talus_solver_def options = accurate();
    make_packing(p, true, placed);
    set_load(p, 0.9 * LOAD);
    assert_true(solve_packing(p, &options, 1).result.converged);
    set_load(p, LOAD);
}

/// Looks on until grains are at rest.
typedef struct rest_watch {
    solve_watch watch; ///< first: the solver hands it back
    double enough;     ///< kinetic energy that counts as rest
    int64_t sweeps;    ///< until then
} rest_watch;

static double energy2(const problem* p, const double* rows)
{
    double sum = 0.0;
    for (int64_t i = 0; i < p->mobile_first; i++) {
        const double* row = rows + 5 * i;
        sum += (row[0] * row[0] + row[1] * row[1]) / row[2] + row[3] * row[3] / row[4];
    }
    return sum;
}

static void look_for_rest(solve_watch* watch, const problem* p, int64_t sweeps)
{
    rest_watch* r = (rest_watch*)watch;
    watch->enough = energy2(p, p->body) < r->enough;
    watch->next = sweeps + 1;
    r->sweeps = sweeps;
}

/// Sweeps until the velocities are 1 % of those without contacts; here nothing moves in the end.
static int64_t sweeps_to_rest(problem* p)
{
    const talus_solver_def options = accurate();
    solve_workspace ws = {0};
    solve_result result;
    rest_watch r = {.watch = {.next = 1, .look = look_for_rest},
                    .enough = 1e-4 * energy2(p, p->free)};
    const solve_request request = {
        .options = &options, .h = 1.0, .size = LAYERS, .threads = 1, .watch = &r.watch};
    assert_int_equal(solver_for(&options)->solve(p, &request, &ws, &result), TALUS_OK);
    assert_true(r.watch.enough);
    solve_workspace_free(&ws);
    return r.sweeps;
}

static void test_sooner_at_rest(void** state)
{
    (void)state;
    for (int warm = 0; warm < 2; warm++) {
        int64_t sweeps[2];
        for (int placed = 0; placed < 2; placed++) {
            problem p = {0};
            if (warm) {
                make_loaded(&p, placed);
            } else {
                make_packing(&p, true, placed);
            }
            sweeps[placed] = sweeps_to_rest(&p);
            problem_free(&p);
        }
        check_below(warm ? "sweeps with a coarse grid, load added" : "sweeps, from nothing",
                    (double)sweeps[1], (warm ? 0.75 : 0.9) * (double)sweeps[0],
                    "that part of those without");
    }
}

static void test_law_holds(void** state)
{
    (void)state;
    talus_solver_def options = accurate();
    options.stop = TALUS_STOP_RESIDUAL;
    options.tolerance = 1e-8;
    for (int placed = 0; placed < 2; placed++) {
        problem p = {0};
        make_loaded(&p, placed);
        const outcome out = solve_packing(&p, &options, 1);
        assert_true(out.result.converged);
        assert_true(placed ? out.steps > 0 : out.steps == 0);
        check_below("error of the law", law_error(&p), 1.01e-8, "the solver's own tolerance");
        problem_free(&p);
    }
}

/// Solve with every number of threads and vector width; all impulses must be the same to the bit.
/// More contacts than threads need to begin (rigid/packed/packed.c) lie in the packings.
static void check_same_bits(void (*make)(problem* p), talus_solver_def options)
{
    static const int threads[] = {1, 2, 3, 8};
    static const talus_vector_width widths[] = {TALUS_VECTOR_PORTABLE, TALUS_VECTOR_AVX2,
                                                TALUS_VECTOR_AVX512};
    uint64_t first = 0;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 3 && packed_kernels_for(widths[i]); i++) {
            problem p = {0};
            options.vector = widths[i];
            make(&p);
            assert_true(p.count > 5000);
            assert_true(solve_packing(&p, &options, threads[k]).steps > 1);
            const size_t numbers = (size_t)(problem_width(p.dim) * p.count);
            const uint64_t hash = hash_bytes(HASH_START, p.contact, sizeof(double) * numbers);
            if (!first) first = hash;
            assert_true(hash == first);
            problem_free(&p);
        }
    }
}

static void make_plane(problem* p)
{
    make_loaded(p, true);
}

/// Spheres of different mass on a cubic lattice, with vacancies, on a floor, whose top layer falls;
/// along x the first touches the last as in a periodic cell.
static void make_space(problem* p)
{
    enum { SIDE = 10, HEIGHT = 28, COUNT = SIDE * SIDE * HEIGHT };
    static const int stride[3] = {1, SIDE, SIDE * SIDE}, extent[3] = {SIDE, SIDE, HEIGHT};
    const problem_size size = {.rows = COUNT + SIDE * SIDE, .contacts = 3 * COUNT + SIDE * SIDE};
    rng r = rng_make(4, 7, 0);
    assert_int_equal(problem_reset(p, 3, &size), TALUS_OK);
    p->rows = COUNT + SIDE * SIDE;
    p->mobile_first = p->rows;
    for (int64_t i = 0; i < p->rows; i++) {
        const double im = i < COUNT ? uniform(&r, 0.8, 1.25) : 0.0;
        const double row[8] = {0.0, 0.0, 0.0, im, 0.0, 0.0, 0.0, 2.5 * im};
        memcpy(p->free + 8 * i, row, sizeof row);
        if (i < COUNT && i >= COUNT - SIDE * SIDE) p->free[8 * i + 2] = -LOAD;
        for (int bit = 0; bit < 10 && i < COUNT; bit++) {
            for (int k = 0; k < 3; k++) {
                p->curve[i] |= ((uint32_t)(i / stride[k] % extent[k]) >> bit & 1u) << (3 * bit + k);
            }
        }
    }
    for (int64_t c = 0; c < 3 * COUNT + SIDE * SIDE; c++) {
        const int64_t k = c < 3 * COUNT ? c % 3 : 2, b = c < 3 * COUNT ? c / 3 : c - 3 * COUNT;
        const int64_t at = b / stride[k] % extent[k];
        const bool floor = c >= 3 * COUNT;
        if (!floor && (rng_uniform(&r) < VACANCIES || (at == 0 && k > 0))) continue;
        const int64_t a = floor     ? COUNT + b
                          : at == 0 ? b + (extent[k] - 1) * stride[k]
                                    : b - stride[k];
        const double im = p->free[8 * a + 3] + p->free[8 * b + 3];
        const double row[10] = {k == 0, k == 1, k == 2, 1.0 / im, 1.0 / (3.5 * im), 0.0, MU};
        memcpy(p->contact + 10 * p->count, row, sizeof row);
        p->pair[2 * p->count] = (int32_t)a;
        p->pair[2 * p->count + 1] = (int32_t)b;
        p->count++;
    }
    memcpy(p->body, p->free, sizeof(double) * (size_t)(8 * p->rows));
}

static void test_same_bits(void** state)
{
    (void)state;
    talus_solver_def options = accurate();
    check_same_bits(make_plane, options);
    options.stop = TALUS_STOP_SWEEPS;
    options.max_sweeps = 120;
    check_same_bits(make_space, options);
}

/// Without a floor, and with grains that fly about: the load of the packing at rest is gone.
static void test_flow_goes_on(void** state)
{
    (void)state;
    const talus_solver_def options = accurate();
    outcome out[2];
    for (int placed = 0; placed < 2; placed++) {
        problem rest = {0}, p = {0};
        rng r = rng_make(3, 7, 0);
        make_loaded(&rest, placed);
        make_packing(&p, false, placed);
        for (int64_t c = 0, from = 0; c < p.count; c++, from++) {
            while (memcmp(p.contact + 8 * c, rest.contact + 8 * from, 2 * sizeof(double))) from++;
            vec_copy(2, p.contact + 8 * c + 6, rest.contact + 8 * from + 6);
        }
        for (int64_t i = 0; i < p.mobile_first; i++) p.free[5 * i] = uniform(&r, -LOAD, LOAD);
        out[placed] = solve_packing(&p, &options, 1);
        assert_true(out[placed].result.converged);
        problem_free(&rest);
        problem_free(&p);
    }
    assert_int_equal(out[1].steps, 0);
    check_below("sweeps", (double)out[1].result.sweeps, 1.25 * (double)out[0].result.sweeps,
                "the order of contacts differs, and with it the sweeps, by some per cent");
}

/// With nothing left to do, and with few sweeps: as if there were no coarse grid.
static void test_not_used(void** state)
{
    (void)state;
    talus_solver_def options = accurate();
    problem p = {0};
    make_packing(&p, true, true);
    assert_true(solve_packing(&p, &options, 1).steps > 0);
    assert_int_equal(solve_packing(&p, &options, 1).steps, 0);
    set_load(&p, 1.1 * LOAD);
    options.stop = TALUS_STOP_SWEEPS;
    options.max_sweeps = 99;
    assert_int_equal(solve_packing(&p, &options, 1).steps, 0);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sooner_at_rest), cmocka_unit_test(test_law_holds),
        cmocka_unit_test(test_same_bits),      cmocka_unit_test(test_flow_goes_on),
        cmocka_unit_test(test_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
