/// Numbers sorted by small keys (base/counting_sort.h), against the definition, for any number of
/// threads.
#include "random.h"
#include "support.h"

#include "base/counting_sort.h"

/// Check a sort of numbers with these keys.
static void check_sort(const int32_t* key, int64_t count, int64_t keys, int threads)
{
    int32_t* start = malloc(sizeof *start * (size_t)(keys + 1));
    int32_t* order = malloc(sizeof *order * (size_t)(count + 1));
    counting_sort(key, count, keys, threads, start, order);
    assert_int_equal(start[keys], count);
    int64_t place = 0;
    for (int32_t k = 0; k < keys; k++) {
        assert_int_equal(start[k], place);
        for (int32_t i = 0; i < count; i++) {
            if (key[i] == k) assert_int_equal(order[place++], i);
        }
    }
    free(start);
    free(order);
}

static void test_order_is_that_of_keys_and_numbers(void** state)
{
    (void)state;
    static const struct {
        int64_t count, keys;
    } cases[] = {{0, 1}, {1, 1}, {5, 1}, {1, 70}, {1000, 3}, {300, 1000}, {3000, 200}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t count = cases[k].count, keys = cases[k].keys;
        int32_t* key = malloc(sizeof *key * (size_t)(count + 1));
        rng r = rng_make(11, k, 0);
        for (int64_t i = 0; i < count; i++) {
            // Few keys have most of the numbers, many have none.
            const double x = rng_uniform(&r);
            key[i] = (int32_t)(x * x * x * (double)keys);
        }
        for (int threads = 1; threads <= 5; threads += 2) check_sort(key, count, keys, threads);
        check_sort(key, count, keys, 100);
        free(key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_is_that_of_keys_and_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
