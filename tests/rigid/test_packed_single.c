/// Packed sweeps in single precision (rigid/packed/single.c): they do what sweeps in double
/// precision do up to the rounding of floats, with the same bits for every vector width and every
/// number of threads and in any units; a solve that asks for more than floats can give gets it all
/// the same.
#include "packed_model.h"

#include "base/hash.h"
#include "rigid/residual.h"
#include "rigid/solver.h"

static const cloud clouds[] = {
    {.name = "disks", .dim = 2, .walls = 0.1},
    {.name = "spheres", .dim = 3, .walls = 0.1},
    {.name = "polygons", .dim = 2, .solids = 1.0, .walls = 0.1},
    {.name = "polyhedra", .dim = 3, .solids = 1.0, .walls = 0.1},
    {.name = "compound disks", .dim = 2, .compound = 0.9, .walls = 0.1, .uneven = 0.1},
    {.name = "compound spheres", .dim = 3, .compound = 0.9, .walls = 0.1, .fixed = 0.1},
    {.name = "rolling disks",
     .dim = 2,
     .compound = 0.9,
     .laws = ROLLING,
     .walls = 0.1,
     .fixed = 0.1},
    {.name = "rolling spheres", .dim = 3, .compound = 0.9, .laws = ROLLING, .walls = 0.1},
    {.name = "compound polyhedra", .dim = 3, .solids = 0.7, .compound = 0.5, .laws = MIXED},
    {.name = "everything under a lid, 2D",
     .dim = 2,
     .solids = 0.3,
     .compound = 0.4,
     .laws = MIXED,
     .fixed = 0.1,
     .walls = 0.1,
     .mobile = 0.2,
     .hub = 0.1},
    {.name = "everything under a lid, 3D",
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

static cloud sized(int k, int bodies, int contacts)
{
    cloud c = clouds[k];
    c.bodies = bodies;
    c.contacts = contacts;
    return c;
}

/// Sweeps with momentum, velocities refreshed in between; returns a hash of everything.
static uint64_t sweep_cloud(problem* p, const packed_kernels* kernels, bool single, int sweeps,
                            int threads)
{
    packed_problem w = {0};
    uint64_t hash = HASH_START;
    double change = 0.0;
    assert_int_equal(packed_pack(&w, p, threads), TALUS_OK);
    packed_apply(&w, kernels, threads);
    if (single) assert_int_equal(packed_use_single(&w, threads), TALUS_OK);
    packed_remember(&w, threads);
    for (int i = 0; i < sweeps; i++) {
        const packed_manner manner = {.momentum = i % 40 != 39,
                                      .beta = 0.02 * (i % 40),
                                      .skip = i % 8 != 0,
                                      .outlier =
                                          i % 40 < 4 ? INFINITY : 10.0 * change / (double)p->count};
        const packed_sums sums = packed_sweep(&w, kernels, &manner, threads);
        assert_true(isfinite(sums.change + sums.step + sums.turning + sums.impulse));
        change = sums.change;
        hash = hash_bytes(hash, &sums, sizeof sums);
        if (single && i % 10 == 9) packed_refresh_single(&w, kernels, threads);
    }
    packed_give_back(&w, kernels, threads);
    hash = hash_bytes(hash, p->body, sizeof(double) * (size_t)(p->rows * problem_stride(p->dim)));
    hash =
        hash_bytes(hash, p->contact, sizeof(double) * (size_t)(p->count * problem_width(p->dim)));
    for (int64_t k = 0; k < p->compound_count; k++) {
        hash = hash_bytes(hash, p->compound_rows[k].torque, sizeof p->compound_rows[k].torque);
    }
    packed_free(&w);
    return hash;
}

static uint64_t hash_of_sweeps(const cloud* c, const packed_kernels* kernels, int sweeps,
                               int threads)
{
    problem p = {0};
    fill_cloud(c, 5, &p);
    const uint64_t hash = sweep_cloud(&p, kernels, true, sweeps, threads);
    problem_free(&p);
    return hash;
}

static void test_same_bits_for_every_width(void** state)
{
    (void)state;
    const packed_kernels* portable = packed_kernels_for(TALUS_VECTOR_PORTABLE);
    const packed_kernels* others[] = {packed_kernels_for(TALUS_VECTOR_AVX2),
                                      packed_kernels_for(TALUS_VECTOR_AVX512)};
    for (int k = 0; k < CLOUDS; k++) {
        const cloud c = sized(k, 250, 900);
        const int sweeps = test_count(300, 40);
        const uint64_t expected = hash_of_sweeps(&c, portable, sweeps, 1);
        for (int i = 0; i < 2; i++) {
            if (!others[i]) continue;
            printf("%s, %s: %d sweeps\n", c.name, others[i]->name, sweeps);
            assert_int_equal(hash_of_sweeps(&c, others[i], sweeps, 1), expected);
        }
    }
}

static void test_same_bits_for_any_threads(void** state)
{
    (void)state;
    const packed_kernels* kernels = packed_kernels_for(TALUS_VECTOR_BEST);
    const int threads[] = {2, 3, 8};
    for (int k = 0; k < CLOUDS; k++) {
        const cloud c = sized(k, 3000, 6000);
        const int sweeps = test_count(20, 11);
        const uint64_t expected = hash_of_sweeps(&c, kernels, sweeps, 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(hash_of_sweeps(&c, kernels, sweeps, threads[i]), expected);
        }
    }
}

// ---- against double precision ------------------------------------------------------------------

/// Root mean square of the difference of impulses, relative to that of impulses.
static double difference(const problem* p, const problem* q)
{
    const int dim = p->dim, width = problem_width(dim);
    double size = 0.0, off = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        for (int64_t k = c * width + contact_p(dim); k < (c + 1) * width; k++) {
            const double d = p->contact[k] - q->contact[k];
            off += d * d;
            size += q->contact[k] * q->contact[k];
        }
    }
    return sqrt(off / size);
}

static void test_sweeps_agree_with_doubles(void** state)
{
    (void)state;
    const packed_kernels* kernels = packed_kernels_for(TALUS_VECTOR_BEST);
    for (int k = 0; k < CLOUDS; k++) {
        double worst = 0.0;
        for (int i = 0; i < test_count(50, 10); i++) {
            const cloud c = sized(k, 100, 120);
            problem p = {0}, q = {0};
            fill_cloud(&c, (uint64_t)i, &p);
            fill_cloud(&c, (uint64_t)i, &q);
            sweep_cloud(&p, kernels, true, 3, 1);
            sweep_cloud(&q, kernels, false, 3, 1);
            worst = fmax(worst, difference(&p, &q));
            problem_free(&p);
            problem_free(&q);
        }
        check_below(clouds[k].name, worst, 3e-6,
                    "three sweeps over some 100 contacts: 50 roundings of 6e-8");
    }
}

/// Powers of two as units of mass and velocity change no bit: fine powder is as well off as rocks.
static void test_units_do_not_matter(void** state)
{
    (void)state;
    const double mass = 0x1p-60, velocity = 0x1p-20; // impulses of 1e-24, squares of 1e-48
    const packed_kernels* kernels = packed_kernels_for(TALUS_VECTOR_BEST);
    for (int dim = 2; dim <= 3; dim++) {
        const cloud c = sized(dim - 2, 250, 900);
        const int stride = problem_stride(dim), width = problem_width(dim);
        problem p = {0}, q = {0};
        fill_cloud(&c, 7, &p);
        fill_cloud(&c, 7, &q);
        for (int64_t i = 0; i < q.rows; i++) {
            for (int k = 0; k < stride; k++) {
                const bool mobility = k == row_im(dim) || k == row_kim(dim);
                q.free[i * stride + k] *= mobility ? 1.0 / mass : velocity;
            }
        }
        for (int64_t i = 0; i < q.count; i++) {
            double* row = q.contact + i * width;
            row[contact_mn(dim)] *= mass;
            row[contact_mt(dim)] *= mass;
            row[contact_bias(dim)] *= velocity;
            for (int k = contact_p(dim); k < width; k++) row[k] *= mass * velocity;
        }
        sweep_cloud(&p, kernels, true, 50, 1);
        sweep_cloud(&q, kernels, true, 50, 1);
        for (int64_t i = 0; i < p.count; i++) {
            for (int64_t k = i * width + contact_p(dim); k < (i + 1) * width; k++) {
                assert_true(q.contact[k] == p.contact[k] * mass * velocity);
            }
        }
        problem_free(&p);
        problem_free(&q);
    }
}

// ---- whole solves ------------------------------------------------------------------------------

static void test_solves_meet_the_rule(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const cloud c = sized(k, 300, 300);
        for (double tolerance = 1e-2; tolerance > 1e-11; tolerance *= 1e-4) {
            talus_solver_def options = talus_solver_default();
            options.method = TALUS_SOLVER_ACCELERATED;
            options.stop = TALUS_STOP_RESIDUAL;
            options.precision = TALUS_PRECISION_SINGLE;
            options.tolerance = tolerance;
            options.max_sweeps = 100000;
            const solve_request request = {.options = &options, .h = 1.0, .size = 10.0};
            problem p = {0};
            solve_workspace ws = {0};
            solve_result out;
            fill_cloud(&c, 11, &p);
            assert_int_equal(solver_for(&options)->solve(&p, &request, &ws, &out), TALUS_OK);
            printf("%s to %g: %d sweeps, %d of them in single precision\n", c.name, tolerance,
                   (int)out.sweeps, (int)out.single_sweeps);
            assert_true(out.converged && out.single_sweeps > 0);
            check_below("residual, from the problem itself", residual_natural(&p), tolerance,
                        "the rule of the solve");
            // Nothing is left to doubles where floats will do, and floats cannot do 1e-10.
            if (tolerance > 1e-3) assert_int_equal(out.single_sweeps, out.sweeps);
            if (tolerance < 1e-9) assert_true(out.single_sweeps < out.sweeps);
            solve_workspace_free(&ws);
            problem_free(&p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_for_every_width),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_sweeps_agree_with_doubles),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_solves_meet_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
