/// A step's contact problem without its bodies: the same velocities, and impulses that solve it.
#include "solve_model.h"

#include "rigid/reduced/condense.h"
#include "rigid/reduced/system.h"

/// Largest difference between the velocities of both problems for the impulses in them, relative to
/// the largest velocity. Frames are those of base/vec.h.
static double velocity_difference(const problem* p, const reduced_problem* reduced, const double* r)
{
    double off = 0.0, size = 0.0;
    double* u = malloc(sizeof(double) * (size_t)(reduced->count * reduced->width));
    reduced_velocity(reduced, r, u);
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + c * problem_width(p->dim);
        double V[3], frame[3][3];
        problem_velocity(p, c, V);
        vec_frame(p->dim, row, frame);
        for (int i = 0; i < p->dim; i++) {
            double expected = vec_dot(p->dim, frame[i], V) + (i == 0 ? row[p->dim + 2] : 0.0);
            off = fmax(off, fabs(u[c * p->dim + i] - expected));
            size = fmax(size, fabs(expected));
        }
    }
    free(u);
    return off / size;
}

static void velocities_are_the_same(void** state)
{
    (void)state;
    static model m;
    double worst = 0.0;
    for (int i = 0; i < test_count(100, 10); i++) {
        rng g = rng_make(11, (uint64_t)i, 0);
        problem p = {0};
        reduced_problem reduced;
        talus_error error;
        double* r;
        random_model(&g, 2 + i % 2, 2 + i % 30, 1 + 2 * i, i % 3 == 0, &m);
        build(&m, &p);
        problem_refresh(&p);
        check_ok(reduced_from_problem(&p, &reduced, &r, &error), error);
        for (int64_t c = 0; c < reduced.count; c++) {
            bool diagonal = false;
            for (int64_t b = reduced.first[c]; b < reduced.first[c + 1]; b++) {
                diagonal = diagonal || reduced.column[b] == c;
                assert_true(b == reduced.first[c] || reduced.column[b] > reduced.column[b - 1]);
            }
            assert_true(diagonal);
        }
        worst = fmax(worst, velocity_difference(&p, &reduced, r));
        reduced_free(&reduced);
        free(r);
        problem_free(&p);
    }
    check_below("velocities", worst, 1e-12, "sums over up to 200 contacts in another order");
}

/// A solution of the problem without bodies is one of the problem with them. It starts from what a
/// few sweeps over the bodies gave, which is a good guess already.
static void solutions_go_back(void** state)
{
    (void)state;
    static model m;
    for (int i = 0; i < 12; i++) {
        rng g = rng_make(12, (uint64_t)i, 0);
        problem p = {0};
        reduced_problem reduced;
        reduced_result result;
        talus_error error;
        double* r;
        if (i < 6) {
            pile_model(&g, 4 + i, 3, 0.1 * i, &m);
        } else {
            stack_model(2 + i % 2, 5 * i, 0.3, &m);
        }
        talus_solver_def few = options(TALUS_ORDER_RANDOM, TALUS_STOP_SWEEPS, 0.0, 30);
        double before = solve_model(&m, &few, (uint64_t)i).residual;
        build(&m, &p);
        check_ok(reduced_from_problem(&p, &reduced, &r, &error), error);
        check_below("residual of the guess", reduced_residual(&reduced, r), sqrt(8.4) * before,
                    "that of the sweeps, but contacts weigh by their response here: 1 to 1/1.2 for "
                    "masses, twice without a wall, 3 times for friction of disks (3.5 of balls)");
        reduced_options o = {.tolerance = 1e-10, .max_sweeps = 20000};
        assert_int_equal(reduced_solve(&reduced, &o, r, &result), TALUS_OK);
        assert_true(result.converged);
        reduced_to_problem(r, &p);
        check_below("residual of the problem with bodies", residual_natural(&p), 1e-9,
                    "1e-10 times at most sqrt(8.4), the spread of the responses that weigh here");
        read_impulses(&p, &m);
        check_below("the model's own residual", own_residual(&m), 1e-9, "the same");
        reduced_free(&reduced);
        free(r);
        problem_free(&p);
    }
}

/// A random problem with its bodies, some of which are walls, mobile or not.
static void random_with_bodies(uint64_t seed, problem* p, reduced_problem* reduced, double** r)
{
    static model m;
    talus_error error;
    rng g = rng_make(13, seed, 0);
    random_model(&g, 2 + (int)(seed % 2), 2 + (int)(seed % 30), 1 + 2 * (int)seed, seed % 3 == 0,
                 &m);
    build(&m, p);
    problem_refresh(p);
    check_ok(reduced_from_problem(p, reduced, r, &error), error);
    check_ok(reduced_add_bodies(p, reduced, &error), error);
}

static void bodies_make_the_same_velocities(void** state)
{
    (void)state;
    double worst = 0.0;
    for (uint64_t i = 0; i < (uint64_t)test_count(100, 10); i++) {
        problem p = {0};
        reduced_problem reduced;
        double* r;
        random_with_bodies(i, &p, &reduced, &r);
        const size_t n = (size_t)(reduced.count * reduced.width);
        double *u = malloc(sizeof(double) * 2 * n), off = 0.0, size = 0.0;
        assert_int_equal(reduced.bodies.width, p.dim == 2 ? 3 : 6);
        reduced_velocity(&reduced, r, u);
        reduced_fast_velocity(&reduced, r, u + n);
        for (size_t k = 0; k < n; k++) {
            off = fmax(off, fabs(u[k] - u[n + k]));
            size = fmax(size, fabs(u[k]));
        }
        free(u);
        worst = fmax(worst, off / size);
        reduced_free(&reduced);
        free(r);
        problem_free(&p);
    }
    check_below("velocities by way of the bodies", worst, 1e-12,
                "sums over up to 200 contacts in another order");
}

/// The blocks of a linear system, of sizes that differ by 10^4.
static void some_blocks(const void* data, int64_t c, double* A, double* B)
{
    const reduced_problem* p = data;
    rng g = rng_make(14, (uint64_t)c, 0);
    for (int k = 0; k < p->width * p->width; k++) {
        const bool diagonal = k % (p->width + 1) == 0;
        A[k] = (diagonal ? 1.0 : 0.0) + 0.2 * (rng_uniform(&g) - 0.5);
        B[k] = diagonal ? p->block[0] * pow(10.0, -4.0 * rng_uniform(&g)) : 0.0;
    }
}

/// B x + A W x = b over the bodies and over the contacts.
static void systems_agree(void** state)
{
    (void)state;
    double worst = 0.0;
    for (uint64_t i = 0; i < (uint64_t)test_count(60, 10); i++) {
        problem p = {0};
        reduced_problem reduced;
        double *r, *x[2];
        random_with_bodies(i, &p, &reduced, &r);
        const size_t n = (size_t)(reduced.count * reduced.width);
        const reduced_work work = {.p = &reduced};
        const int width = reduced.bodies.width;
        double off = 0.0, size = 0.0;
        for (int k = 0; k < 2; k++) {
            reduced.bodies.width = k == 0 ? width : 0;
            reduced_system* s = reduced_system_new(&work);
            assert_non_null(s);
            assert_int_equal(reduced_system_has_bodies(s), k == 0);
            assert_true(reduced_system_make(s, some_blocks, &reduced));
            x[k] = malloc(sizeof(double) * n);
            memcpy(x[k], r, sizeof(double) * n);
            reduced_system_solve(s, 1, x[k]);
            reduced_system_free(s);
        }
        reduced.bodies.width = width;
        for (size_t k = 0; k < n; k++) {
            off = fmax(off, fabs(x[0][k] - x[1][k]));
            size = fmax(size, fabs(x[0][k]));
        }
        worst = fmax(worst, off / size);
        free(x[0]);
        free(x[1]);
        reduced_free(&reduced);
        free(r);
        problem_free(&p);
    }
    check_below("solutions over bodies and over contacts", worst, 1e-8,
                "rounding times the spread of the blocks, 1e4, that of the masses and 1000");
}

static void compound_contacts_are_refused(void** state)
{
    (void)state;
    problem p = {0};
    reduced_problem reduced;
    talus_error error;
    double* r;
    const problem_size size = {.rows = 2, .contacts = 1, .compound = 1};
    assert_int_equal(problem_reset(&p, 3, &size), 0);
    p.count = 1;
    p.compound[0] = 0;
    assert_int_equal(reduced_from_problem(&p, &reduced, &r, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "contact 0 has more than friction"));
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_are_the_same),         cmocka_unit_test(solutions_go_back),
        cmocka_unit_test(bodies_make_the_same_velocities), cmocka_unit_test(systems_agree),
        cmocka_unit_test(compound_contacts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
