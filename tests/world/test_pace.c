/// How many threads the steps of a world use (world/pace.h): all where they gain, one where they
/// lose, and trials that cost little.
#include "world/pace.h"

#include "support.h"

/// Steps whose work varies, by threads that take `ratio` of the time of one; the time of all of
/// them beside what one thread, and what all threads would have taken.
static void follow(thread_pace* p, int steps, double ratio, double* taken, double* by_one)
{
    *taken = *by_one = 0.0;
    for (int i = 0; i < steps; i++) {
        const double work = 1.0 + 0.5 * (i * 7 % 5);
        const double seconds = p->threads == 1 ? work : ratio * work;
        *taken += seconds;
        *by_one += work;
        pace_step(p, seconds, work);
    }
}

static void test_threads_that_gain_are_used(void** state)
{
    (void)state;
    thread_pace p = pace_begin(2);
    double taken, by_one;
    assert_int_equal(p.threads, 2);
    follow(&p, 3000, 0.6, &taken, &by_one);
    assert_false(p.alone);
    // Trials: 3 steps of one thread in each pause of 20, 40, ..., 320, at 0.4 more each.
    assert_true(taken < 0.61 * by_one);
}

static void test_threads_that_lose_are_not(void** state)
{
    (void)state;
    thread_pace p = pace_begin(2);
    double taken, by_one;
    follow(&p, 100, 1.7, &taken, &by_one);
    assert_true(p.alone);
    follow(&p, 3000, 1.7, &taken, &by_one);
    assert_true(taken < 1.02 * by_one);
    // And when the other process has gone:
    follow(&p, 1000, 0.6, &taken, &by_one);
    assert_false(p.alone);
    follow(&p, 3000, 0.6, &taken, &by_one);
    assert_true(taken < 0.61 * by_one);
}

static void test_noise_changes_nothing(void** state)
{
    (void)state;
    thread_pace p = pace_begin(2);
    double taken, by_one;
    follow(&p, 2000, 0.99, &taken, &by_one);
    assert_false(p.alone);
    follow(&p, 2000, 1.5, &taken, &by_one);
    assert_true(p.alone);
    follow(&p, 2000, 0.99, &taken, &by_one);
    assert_true(p.alone);
}

static void test_one_thread_is_one(void** state)
{
    (void)state;
    thread_pace p = pace_begin(1);
    for (int i = 0; i < 200; i++) {
        pace_step(&p, 1.0, 1.0);
        assert_int_equal(p.threads, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_that_gain_are_used),
        cmocka_unit_test(test_threads_that_lose_are_not),
        cmocka_unit_test(test_noise_changes_nothing),
        cmocka_unit_test(test_one_thread_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
