/// A crew of threads (base/crew.h): every item once, items after those that they wait for, whatever
/// the number of threads, pass after pass.
#include "support.h"

#include "base/crew.h"

#include <sched.h>
#include <string.h>

enum { ITEMS = 300 };

typedef struct diary {
    int times[ITEMS];
    int done[ITEMS]; ///< pass in which an item was done last
    int pass;
} diary;

/// Wait for the item seven before this one, as blocks of a sweep do.
static void write_diary(void* data, int64_t item)
{
    diary* d = data;
    while (item >= 7 && __atomic_load_n(&d->done[item - 7], __ATOMIC_ACQUIRE) != d->pass) {
        sched_yield();
    }
    d->times[item]++;
    __atomic_store_n(&d->done[item], d->pass, __ATOMIC_RELEASE);
}

static void test_every_item_once(void** state)
{
    (void)state;
    const int threads[] = {1, 2, 3, 8, 2};
    crew* c = NULL;
    for (int t = 0; t < 5; t++) {
        diary d = {.pass = 0};
        int64_t expected[ITEMS] = {0};
        const int passes = test_count(2000, 100);
        for (int i = 0; i < passes; i++) {
            const int64_t count = i % 3 == 0 ? i % ITEMS : ITEMS;
            d.pass = i + 1;
            crew_do(&c, threads[t], count, write_diary, &d);
            for (int64_t k = 0; k < count; k++) expected[k]++;
        }
        for (int k = 0; k < ITEMS; k++) assert_int_equal(d.times[k], expected[k]);
    }
    crew_free(c);
    crew_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_item_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
