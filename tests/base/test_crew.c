/// A crew of threads (base/crew.h): every item once, waves in their order, whatever the number of
/// threads and waves, pass after pass; and threads keep the items that they had in the last pass.
#include "support.h"

#include "base/crew.h"

#include <pthread.h>
#include <string.h>

enum { ITEMS = 300, MOST_WAVES = 100 };

typedef struct diary {
    const int64_t* first; ///< of the waves
    int wave_of[ITEMS];
    int times[ITEMS];
    int done[ITEMS]; ///< pass in which an item was done last
    int pass;
} diary;

/// Wait for an item of the wave before, as blocks of a sweep do.
static void write_diary(void* data, int64_t item)
{
    diary* d = data;
    const int wave = d->wave_of[item];
    if (wave > 0) {
        const int64_t before = d->first[wave - 1],
                      other = before + item % (d->first[wave] - before);
        for (int turn = 0; __atomic_load_n(&d->done[other], __ATOMIC_ACQUIRE) != d->pass; turn++)
            crew_wait(turn);
    }
    d->times[item]++;
    __atomic_store_n(&d->done[item], d->pass, __ATOMIC_RELEASE);
}

/// Waves of `count` items, of 1 to `most` items each; how many.
static int64_t make_waves(diary* d, int64_t count, int most, int64_t* first)
{
    int64_t waves = 0;
    first[0] = 0;
    for (int64_t k = 0; k < count; k++) {
        if (k - first[waves] == 1 + (7 * waves) % most && waves < MOST_WAVES - 1)
            first[++waves] = k;
        d->wave_of[k] = (int)waves;
    }
    if (count > 0) first[++waves] = count;
    return waves;
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
            // Mostly the same waves again; now and then others, up to many of a few items.
            const int64_t count = i % 5 == 0 ? i % ITEMS : ITEMS;
            int64_t first[MOST_WAVES + 1];
            const int64_t waves = make_waves(&d, count, i % 15 < 10 ? 90 : 3 + i % 7, first);
            d.first = first;
            d.pass = i + 1;
            crew_do(&c, threads[t], waves, first, write_diary, &d);
            for (int64_t k = 0; k < count; k++) expected[k]++;
        }
        for (int k = 0; k < ITEMS; k++) assert_int_equal(d.times[k], expected[k]);
    }
    crew_free(c);
    crew_free(NULL);
}

/// Each of four waves has one item for each of two threads.
enum { PAIRS = 4 };

typedef struct meeting {
    int begun[PAIRS];
    pthread_t who[2 * PAIRS];
} meeting;

/// No item ends before its neighbour has begun: nobody can take both.
static void meet(void* data, int64_t item)
{
    meeting* m = data;
    m->who[item] = pthread_self();
    __atomic_add_fetch(&m->begun[item / 2], 1, __ATOMIC_RELEASE);
    for (int turn = 0; __atomic_load_n(&m->begun[item / 2], __ATOMIC_ACQUIRE) < 2; turn++)
        crew_wait(turn);
}

static void test_threads_keep_their_parts(void** state)
{
    (void)state;
    const int64_t first[PAIRS + 1] = {0, 2, 4, 6, 8};
    const pthread_t leader = pthread_self();
    crew* c = NULL;
    for (int pass = 0; pass < 100; pass++) {
        meeting m = {.begun = {0}};
        crew_do(&c, 2, PAIRS, first, meet, &m);
        for (int k = 0; k < PAIRS; k++) {
            assert_true(pthread_equal(m.who[2 * k], leader));
            assert_false(pthread_equal(m.who[2 * k + 1], leader));
        }
    }
    crew_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_item_once),
                                       cmocka_unit_test(test_threads_keep_their_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
