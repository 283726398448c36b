/// What threads share in a step: sums in a fixed order, the order of grains along a curve, clusters
/// of grains. Each against a plain loop, and the same bits with 1, 2, 3 and 8 threads.
#include "support.h"

#include "base/parallel.h"
#include "base/rng.h"
#include "state/morton.h"
#include "world/clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int THREADS[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = 4 };

// ---- sums --------------------------------------------------------------------------------------

static void add_numbers(void* data, int64_t first, int64_t last, double* sum)
{
    const double* x = data;
    for (int64_t i = first; i < last; i++) {
        sum[0] += x[i];
        sum[1] += 1.0;
    }
}

static void take_least(void* data, int64_t first, int64_t last, double* least)
{
    const double* x = data;
    for (int64_t i = first; i < last; i++) *least = fmin(*least, x[i]);
}

static void take_greatest(void* data, int64_t first, int64_t last, double* greatest)
{
    const double* x = data;
    for (int64_t i = first; i < last; i++) *greatest = fmax(*greatest, x[i]);
}

static void check_sums(double* x, int64_t count)
{
    double plain = 0.0, least = INFINITY, greatest = -INFINITY, magnitude = 0.0,
           one[2] = {0.0, 0.0};
    for (int64_t i = 0; i < count; i++) {
        plain += x[i];
        magnitude += fabs(x[i]);
        least = fmin(least, x[i]);
        greatest = fmax(greatest, x[i]);
    }
    for (int t = 0; t < THREAD_COUNTS; t++) {
        double sum[2], low, high;
        parallel_reduce(THREADS[t], count, PARALLEL_SUM, 2, add_numbers, x, sum);
        parallel_reduce(THREADS[t], count, PARALLEL_MIN, 1, take_least, x, &low);
        parallel_reduce(THREADS[t], count, PARALLEL_MAX, 1, take_greatest, x, &high);
        assert_true(sum[1] == (double)count && low == least && high == greatest);
        if (t == 0) memcpy(one, sum, sizeof one);
        assert_memory_equal(one, sum, sizeof one);
    }
    check_close("sum", one[0], plain, 1e-16 * (double)count * magnitude + 1e-300,
                "n roundings of either sum");
    if (count <= PARALLEL_CHUNK) assert_memory_equal(&one[0], &plain, sizeof plain);
}

static void test_sums(void** state)
{
    (void)state;
    enum { MOST = 1200000 };
    double* x = malloc(sizeof *x * MOST);
    rng r = rng_make(5, 0, 0);
    assert_non_null(x);
    for (int i = 0; i < MOST; i++)
        x[i] = (rng_uniform(&r) - 0.5) * pow(10.0, 6.0 * rng_uniform(&r));
    const int64_t counts[] = {0, 1, 4000, PARALLEL_CHUNK, PARALLEL_CHUNK + 1, 50001, MOST};
    for (int n = 0; n < 7; n++) check_sums(x, counts[n]);
    free(x);
}

/// Every item is in one chunk, and chunks follow one another.
static void test_chunks(void** state)
{
    (void)state;
    const int64_t counts[] = {
        0,        1, PARALLEL_CHUNK - 1, PARALLEL_CHUNK, PARALLEL_CHUNK + 1, 1 << 20, (1 << 20) + 1,
        123456789};
    for (int n = 0; n < 8; n++) {
        const int chunks = parallel_chunks(counts[n]);
        assert_in_range(chunks, counts[n] > 0, PARALLEL_CHUNKS);
        assert_int_equal(parallel_first(counts[n], 0), 0);
        assert_int_equal(parallel_first(counts[n], chunks), counts[n]);
        for (int k = 0; k < chunks; k++) {
            assert_true(parallel_first(counts[n], k) < parallel_first(counts[n], k + 1));
        }
    }
}

// ---- grains ------------------------------------------------------------------------------------

/// Balls at random in a box of `side` diameters.
static void random_balls(grains* g, const solids* none, int dim, int64_t count, double side)
{
    rng r = rng_make(6, (uint64_t)dim, 0);
    talus_error error;
    grains_init(g, dim, none);
    for (int64_t i = 0; i < count; i++) {
        talus_grain_def def = talus_grain_default();
        def.radius = 0.4 + 0.2 * rng_uniform(&r);
        for (int k = 0; k < dim; k++) def.position[k] = side * (rng_uniform(&r) - 0.3);
        check_ok(grains_add(g, &def, NULL, &error), error);
    }
}

/// Interleave the lowest bits of the coordinates, one by one.
static uint32_t key_of_bits(int dim, const uint32_t* at)
{
    uint32_t key = 0;
    for (int bit = 0; bit < (dim == 2 ? 15 : 10); bit++) {
        for (int k = 0; k < dim; k++) key |= (at[k] >> bit & 1u) << (bit * dim + k);
    }
    return key;
}

static void check_curve(int dim, double side, double cell)
{
    enum { COUNT = 9001 };
    const solids none = {0};
    grains g;
    random_balls(&g, &none, dim, COUNT, side);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double mean = 0.0, width = 0.0;
    for (int64_t i = 0; i < COUNT; i++) {
        mean += 2.0 * g.radius[i] / COUNT;
        for (int k = 0; k < dim; k++) {
            low[k] = fmin(low[k], g.position[i * dim + k] - g.radius[i]);
            high[k] = fmax(high[k], g.position[i * dim + k] + g.radius[i]);
        }
    }
    for (int k = 0; k < dim; k++)
        width = fmax(width, (high[k] - low[k]) / (dim == 2 ? 32768 : 1024));
    width = fmax(width, mean);
    check_close("width of the cells", width, cell, 0.05 * cell, "sizes and places are random");
    uint32_t *one = malloc(sizeof *one * COUNT), *key = malloc(sizeof *key * COUNT);
    assert_true(one && key);
    int64_t off = 0;
    for (int t = 0; t < THREAD_COUNTS; t++) {
        memset(key, 0xff, sizeof *key * COUNT);
        morton_keys(&g, THREADS[t], key);
        if (t == 0) memcpy(one, key, sizeof *key * COUNT);
        assert_memory_equal(one, key, sizeof *key * COUNT);
    }
    for (int64_t i = 0; i < COUNT; i++) {
        uint32_t at[3] = {0, 0, 0};
        for (int k = 0; k < dim; k++)
            at[k] = (uint32_t)((g.position[i * dim + k] - low[k]) / width);
        off += key[i] != key_of_bits(dim, at);
    }
    check_below("grains in another cell", (double)off, 3.5,
                "a grain within a rounding of the edge of its cell: 1e-13 of all");
    free(one);
    free(key);
    grains_free(&g);
}

static void test_curve(void** state)
{
    (void)state;
    check_curve(2, 95.0, 1.0);
    check_curve(3, 20.0, 1.0);
    check_curve(2, 1e6, 1e6 / 32768); // more diameters than cells
    check_curve(3, 1e4, 1e4 / 1024);
}

// ---- clusters ----------------------------------------------------------------------------------

/// Random contacts, about `density` a grain, most of them between near rows, some open.
static void random_contacts(const grains* g, double density, contacts* list)
{
    rng r = rng_make(7, (uint64_t)(1e3 * density), (uint64_t)g->dim);
    const uint64_t rows = (uint64_t)g->count;
    contacts_init(list, g->dim);
    assert_int_equal(contacts_resize(list, (int64_t)(density * (double)g->count)), TALUS_OK);
    for (int64_t c = 0; c < list->count; c++) {
        const uint64_t a = rng_below(&r, rows);
        const uint64_t b = rng_below(&r, 10) > 0 ? (a + 1 + rng_below(&r, 5)) % rows
                                                 : (a + 1 + rng_below(&r, rows - 1)) % rows;
        list->a_row[c] = rng_below(&r, 20) == 0 ? -1 : (int32_t)a;
        list->b_row[c] = (int32_t)b;
        list->state[c] = (uint8_t)rng_below(&r, 3);
    }
}

/// Longest extent by handing the lowest row on along contacts until nothing changes.
static double longest_by_relabelling(const grains* g, const contacts* list, int64_t* clusters_found)
{
    const int dim = g->dim;
    int32_t* label = malloc(sizeof *label * (size_t)g->count);
    double* box = malloc(sizeof *box * (size_t)(2 * dim * g->count));
    assert_true(label && box);
    for (int64_t i = 0; i < g->count; i++) label[i] = (int32_t)i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t c = 0; c < list->count; c++) {
            if (list->a_row[c] < 0 || list->state[c] == TALUS_CONTACT_OPEN) continue;
            int32_t *a = &label[list->a_row[c]], *b = &label[list->b_row[c]];
            const int32_t least = *a < *b ? *a : *b;
            changed |= *a != least || *b != least;
            *a = *b = least;
        }
    }
    double longest = 0.0;
    *clusters_found = 0;
    for (int64_t i = 0; i < 2 * dim * g->count; i++) box[i] = i % (2 * dim) < dim ? 1e300 : -1e300;
    for (int64_t i = 0; i < g->count; i++) {
        double* own = box + 2 * (int64_t)dim * label[i];
        *clusters_found += label[i] == i;
        for (int k = 0; k < dim; k++) {
            own[k] = fmin(own[k], g->position[i * dim + k] - g->radius[i]);
            own[dim + k] = fmax(own[dim + k], g->position[i * dim + k] + g->radius[i]);
            longest = fmax(longest, own[dim + k] - own[k]);
        }
    }
    free(label);
    free(box);
    return longest;
}

static void test_clusters(void** state)
{
    (void)state;
    enum { COUNT = 20000 };
    const solids none = {0};
    clusters work = {0};
    for (int dim = 2; dim <= 3; dim++) {
        grains g;
        random_balls(&g, &none, dim, COUNT, 100.0);
        for (int d = 0; d < 4; d++) {
            const double density[] = {0.0, 0.3, 0.8, 3.0};
            contacts list;
            int64_t found;
            random_contacts(&g, density[d], &list);
            const double expected = longest_by_relabelling(&g, &list, &found);
            printf("%dD, %g contacts a grain: %lld clusters, longest %.6g\n", dim, density[d],
                   (long long)found, expected);
            for (int t = 0; t < THREAD_COUNTS; t++) {
                double longest;
                assert_int_equal(clusters_longest(&work, &g, &list, THREADS[t], &longest),
                                 TALUS_OK);
                assert_memory_equal(&longest, &expected, sizeof longest);
            }
            contacts_free(&list);
        }
        grains_free(&g);
    }
    clusters_free(&work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_curve),
        cmocka_unit_test(test_clusters),
    };
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
