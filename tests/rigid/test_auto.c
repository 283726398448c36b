/// The solver "auto": whose answer is kept, what is said about it, and when it ends.
#include "solve_model.h"

static talus_solver_def auto_options(double tolerance, int max_sweeps)
{
    talus_solver_def o = talus_solver_default();
    o.method = TALUS_SOLVER_AUTO;
    o.stop = TALUS_STOP_RIGID;
    o.tolerance = tolerance;
    o.max_sweeps = max_sweeps;
    return o;
}

/// Solve the model by `solver` as `request` says and leave the impulses in it.
static solve_result solve_with(const solver_ops* solver, const solve_request* request, model* m)
{
    problem p = {0};
    solve_workspace ws = {0};
    solve_result result;
    build(m, &p);
    assert_int_equal(solver->solve(&p, request, &ws, &result), TALUS_OK);
    read_impulses(&p, m);
    solve_workspace_free(&ws);
    problem_free(&p);
    return result;
}

static solve_result solve_by(const solver_ops* solver, const talus_solver_def* o, model* m)
{
    const solve_request request = {.options = o, .h = 1.0, .seed = 5, .last_chance = true};
    return solve_with(solver, &request, m);
}

static double largest_impulse(const model* m)
{
    double most = 0.0;
    for (int c = 0; c < m->touches; c++) most = fmax(most, vec_norm(3, m->t[c].p));
    return most;
}

/// A disk between two walls that close in on it: nothing solves that, and direct methods only make
/// impulses huge. In step after step, each with the impulses of the last, those of the sweeps are
/// kept.
static void useless_answers_are_not_kept(void** state)
{
    (void)state;
    static model m, alone;
    const talus_solver_def o = auto_options(1e-2, 1000);
    memset(&m, 0, sizeof m);
    m.dim = 2;
    m.balls = 1;
    m.touches = 2;
    set_ball(&m, 0, 0.5, 1.0);
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? 1.0 : -1.0;
        m.t[side] = (touch){
            .a = FIXED_WALL, .b = 0, .n = {sign, 0.0, 0.0}, .surface = {sign, 0.0, 0.0}, .mu = 0.3};
    }
    for (int step = 0; step < 6; step++) {
        m.v[0][0] = step == 0 ? 0.0 : step % 2 ? 1.0 : -1.0; // that of one wall, then of the other
        alone = m;
        const solve_result swept = solve_by(&accelerated_solver, &o, &alone);
        const solve_result result = solve_by(&auto_solver, &o, &m);
        assert_false(swept.converged || result.converged);
        assert_true(result.velocity_error > 1.0);
        assert_true(result.second_iterations > 0);
        assert_null(result.second_method);
        check_below("impulses", largest_impulse(&m), 2.0 * largest_impulse(&alone),
                    "sweeps alone, whose momentum does not begin anew at the first look");
    }
}

/// A tall stack that takes many sweeps: direct methods solve it, and say so.
static void good_answers_are_kept(void** state)
{
    (void)state;
    static model m;
    const talus_solver_def o = auto_options(1e-8, 1000);
    stack_model(2, 60, 0.3, &m);
    const solve_result result = solve_by(&auto_solver, &o, &m);
    assert_true(result.converged);
    assert_non_null(result.second_method);
    for (int c = 0; c < m.touches; c++) {
        check_close("load", m.t[c].p[1], m.balls - c, 1e-6, "the tolerance times 60 balls");
    }
}

/// Accuracies near rounding: in some of these problems direct methods get nearer than the sweeps
/// did but not near enough, and a few sweeps more do the rest. Those end between two looks, which
/// are after 200, 800, 3200 and 9000 sweeps, and the answer is then that of the sweeps. Where its
/// bound is still poor direct methods have the last word after all, and are named for it.
static void the_method_is_that_of_the_answer(void** state)
{
    (void)state;
    static model m;
    const talus_solver_def o = auto_options(1e-15, 9000);
    int went_on = 0, last_words = 0;
    for (int i = 0; i < 200; i++) {
        rng g = rng_make(17, (uint64_t)i, 0);
        const int balls = 5 + i % 60;
        random_model(&g, 2 + i % 2, balls, 2 * balls, false, &m);
        const solve_result result = solve_by(&auto_solver, &o, &m);
        const int64_t n = result.sweeps;
        if (result.second_iterations == 0 || n == 200 || n == 800 || n == 3200 || n == 9000)
            continue;
        assert_true(result.converged);
        went_on += result.second_method == NULL;
        last_words += result.second_method != NULL;
    }
    printf("sweeps ended %d problems after direct methods, %d of them not\n", went_on, last_words);
    assert_true(went_on > 0 && went_on > last_words);
}

typedef struct watch_counted {
    solve_watch watch; ///< first: the solver hands it back
    int looks;
} watch_counted;

static void look_once(solve_watch* watch, const problem* p, int64_t sweeps)
{
    (void)p, (void)sweeps;
    ((watch_counted*)watch)->looks++;
    watch->enough = true;
}

static void watch_ends_it(int most)
{
    static model m;
    const talus_solver_def o = auto_options(1e-12, most);
    watch_counted w = {.watch = {.next = 8, .look = look_once}};
    const solve_request request = {.options = &o, .h = 1.0, .seed = 5, .watch = &w.watch};
    stack_model(2, 60, 0.3, &m);
    const solve_result result = solve_with(&auto_solver, &request, &m);
    assert_int_equal(w.looks, 1);
    assert_int_equal(result.sweeps, 8);
    assert_int_equal(result.second_iterations, 0);
    assert_false(result.converged);
}

/// Long before the sweeps are used up, and with the last of them.
static void who_has_seen_enough_ends_it(void** state)
{
    (void)state;
    watch_ends_it(5000);
    watch_ends_it(8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(useless_answers_are_not_kept),
        cmocka_unit_test(good_answers_are_kept),
        cmocka_unit_test(the_method_is_that_of_the_answer),
        cmocka_unit_test(who_has_seen_enough_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
