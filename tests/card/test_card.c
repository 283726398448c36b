/// A card as its callers see it: what is copied there, worked on and copied back is right, in any
/// order in which blocks and threads run. The driver is the fake one (tests/support/fake_cuda.c),
/// which does nothing before somebody waits.
#include "card/card.h"
#include "card/sums.h"

#include "support.h"

#include <string.h>

enum { PUT_BYTES = (17 << 20) + 24 }; // more than all the pinned memory that copies go through

static void plain_driver(void)
{
    unsetenv("FAKE_CUDA_FAIL");
    unsetenv("FAKE_CUDA_ORDER");
    unsetenv("FAKE_CUDA_WORKERS");
    unsetenv("FAKE_CUDA_CARDS");
    unsetenv("FAKE_CUDA_MEMORY");
}

static card* opened(int index)
{
    talus_error error = {0};
    card* c = NULL;
    if (card_open(index, &c, &error) < 0) print_error("%s\n", error.text);
    assert_non_null(c);
    return c;
}

static void check_well(card* c)
{
    talus_error error = {0};
    if (card_wait(c, &error) < 0) print_error("%s\n", error.text);
    assert_int_equal(card_state(c, NULL), TALUS_OK);
}

static void fill(unsigned char* bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
}

static void test_copies(void** state)
{
    (void)state;
    plain_driver();
    card* c = opened(0);
    card_use_threads(c, 2);
    unsigned char *host = malloc(PUT_BYTES), *back = calloc(1, PUT_BYTES);
    fill(host, PUT_BYTES, 1);
    card_buffer a = {0}, b = {0};
    card_renew(c, &a, PUT_BYTES);
    card_renew(c, &b, PUT_BYTES);
    assert_true(a.capacity >= PUT_BYTES);
    // In one go, in pieces of all sizes, from memory that changes at once.
    card_put(c, &a, 0, host, PUT_BYTES);
    card_copy(c, &b, 0, &a, 0, PUT_BYTES);
    card_get(c, back, &b, 0, PUT_BYTES);
    check_well(c);
    assert_memory_equal(host, back, PUT_BYTES);
    unsigned char piece[5000];
    for (size_t at = 0, size = 1; at + size < PUT_BYTES / 8; at += size, size = size * 3 % 4999) {
        memcpy(piece, host + at + 7, size);
        card_put(c, &a, at, piece, size);
        memset(piece, 0xee, sizeof piece);
        card_get(c, back + at, &a, at, at % 3 == 0 ? size : 0);
    }
    card_get(c, back, &a, 0, PUT_BYTES / 16);
    check_well(c);
    assert_memory_equal(host + 7, back, PUT_BYTES / 16);
    card_zero(c, &a, 100, 50);
    card_get(c, back, &a, 90, 80);
    for (int i = 0; i < 80; i++) {
        assert_int_equal(back[i], i < 10 || i >= 60 ? host[97 + i] : 0);
    }
    card_free(c, &a);
    assert_null(a.at);
    card_close(c);
    free(host);
    free(back);
}

/// Many small copies that are queued before anything is done: a slot must not be used again before
/// it has been read.
static void test_slots_wait(void** state)
{
    (void)state;
    plain_driver();
    enum { COUNT = 200, SIZE = 300000 };
    card* c = opened(0);
    unsigned char *all = malloc((size_t)COUNT * SIZE), *one = malloc(SIZE);
    card_buffer a = {0};
    card_renew(c, &a, (size_t)COUNT * SIZE);
    for (unsigned i = 0; i < COUNT; i++) {
        fill(one, SIZE, i);
        card_put(c, &a, (size_t)i * SIZE, one, SIZE);
    }
    card_get(c, all, &a, 0, (size_t)COUNT * SIZE);
    check_well(c);
    for (unsigned i = 0; i < COUNT; i++) {
        fill(one, SIZE, i);
        assert_memory_equal(all + (size_t)i * SIZE, one, SIZE);
    }
    card_close(c);
    free(all);
    free(one);
}

static void test_growing(void** state)
{
    (void)state;
    plain_driver();
    setenv("FAKE_CUDA_MEMORY", "4000000", 1);
    card* c = opened(0);
    const double one[3] = {1.0, 2.0, 3.0};
    double back[3] = {0};
    card_buffer a = {0};
    card_grow(c, &a, sizeof one);
    card_put(c, &a, 0, one, sizeof one);
    card_grow(c, &a, 1000000);
    const void* at = a.at;
    assert_true(a.capacity >= 1000000);
    card_grow(c, &a, 1000001); // half as much again is there
    assert_ptr_equal(a.at, at);
    card_get(c, back, &a, 0, sizeof back);
    check_well(c);
    assert_memory_equal(one, back, sizeof back);
    // Where the usual reserve is not free there is just enough.
    const size_t free_now = card_free_memory(c);
    card_buffer most = {0};
    card_renew(c, &most, free_now - 10);
    assert_int_equal(most.capacity, free_now - 10);
    check_well(c);
    card_close(c);
}

static void test_pinned(void** state)
{
    (void)state;
    plain_driver();
    card* c = opened(0);
    card_pinned from = {0}, to = {0};
    card_buffer a = {0};
    card_pin(c, &from, 64);
    card_pin(c, &to, 64);
    card_renew(c, &a, 64);
    memset(from.at, 3, 64);
    memset(to.at, 4, 64);
    card_send(c, &a, 0, &from, 8, 16);
    card_fetch(c, &to, 32, &a, 0, 16);
    assert_int_equal(((char*)to.at)[32], 4); // nobody has waited yet
    check_well(c);
    for (int i = 0; i < 64; i++) assert_int_equal(((char*)to.at)[i], i >= 32 && i < 48 ? 3 : 4);
    card_unpin(c, &from);
    card_unpin(c, &to);
    card_close(c);
}

// ---- kernels -----------------------------------------------------------------------------------

enum { NUMBERS = 5000, SUM_BLOCKS = (NUMBERS + CARD_SUM_THREADS - 1) / CARD_SUM_THREADS };

/// The sum of a block as card_block_sums makes it, in pairs.
static double pair_sum(const double* x, int count)
{
    double part[CARD_SUM_THREADS];
    for (int i = 0; i < CARD_SUM_THREADS; i++) part[i] = i < count ? x[i] : 0.0;
    for (int half = CARD_SUM_THREADS / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) part[i] += part[i + half];
    }
    return part[0];
}

static void run_kernels(int index)
{
    card* c = opened(index);
    double x[NUMBERS], y[NUMBERS], sums[SUM_BLOCKS], chain[NUMBERS];
    card_buffer on_x = {0}, on_y = {0}, on_sums = {0}, flags = {0};
    for (int i = 0; i < NUMBERS; i++) x[i] = sin(i), y[i] = exp(-1e-3 * i);
    card_renew(c, &on_x, sizeof x);
    card_renew(c, &on_y, sizeof y);
    card_renew(c, &on_sums, sizeof chain);
    card_renew(c, &flags, (NUMBERS + 1) * sizeof(uint32_t));
    card_put(c, &on_x, 0, x, sizeof x);
    card_put(c, &on_y, 0, y, sizeof y);
    card_zero(c, &flags, 0, (NUMBERS + 1) * sizeof(uint32_t));
    card_kernel* axpy = card_find(c, "card_sums", "card_axpy");
    card_kernel* block_sums = card_find(c, "card_sums", "card_block_sums");
    card_kernel* chained = card_find(c, "card_sums", "card_chained_sums");
    assert_ptr_equal(card_find(c, "card_sums", "card_axpy"), axpy);
    check_well(c);
    card_launch(c, axpy, card_grid_of(NUMBERS, 96),
                &(card_axpy_job){.count = NUMBERS, .a = 0.3, .x = on_x.at, .y = on_y.at});
    card_launch(c, block_sums, card_grid_of(NUMBERS, CARD_SUM_THREADS),
                &(card_sum_job){.count = NUMBERS, .x = on_y.at, .sums = on_sums.at});
    card_get(c, sums, &on_sums, 0, sizeof sums);
    card_launch(c, chained, (card_grid){.blocks = NUMBERS, .threads = 32},
                &(card_chain_job){.x = on_y.at,
                                  .sums = on_sums.at,
                                  .ticket = flags.at,
                                  .flags = (uint32_t*)flags.at + 1});
    card_launch(c, axpy, card_grid_of(0, 96), NULL); // no blocks: nothing
    card_get(c, chain, &on_sums, 0, sizeof chain);
    check_well(c);
    for (int i = 0; i < NUMBERS; i++) y[i] += 0.3 * x[i];
    for (int k = 0; k < SUM_BLOCKS; k++) {
        const int first = k * CARD_SUM_THREADS, left = NUMBERS - first;
        assert_true(sums[k] == pair_sum(y + first, left));
    }
    double sum = 0.0;
    for (int i = 0; i < NUMBERS; i++) assert_true(chain[i] == (sum += y[i]));
    card_close(c);
}

/// In any order of blocks and threads, and with several blocks at a time, to the bit.
static void test_kernels(void** state)
{
    (void)state;
    static const char* orders[] = {"", "reverse", "1", "2"};
    static const char* workers[] = {"1", "3"};
    for (int i = 0; i < 8; i++) {
        plain_driver();
        setenv("FAKE_CUDA_ORDER", orders[i % 4], 1);
        setenv("FAKE_CUDA_WORKERS", workers[i / 4], 1);
        run_kernels(0);
    }
}

/// Two cards at once, each with its own memory.
static void test_two_cards(void** state)
{
    (void)state;
    plain_driver();
    setenv("FAKE_CUDA_CARDS", "2", 1);
    assert_int_equal(card_count(NULL), 2);
    card *c = opened(0), *d = opened(1);
    assert_string_equal(card_facts_of(c)->name, "Fake card A");
    assert_string_equal(card_facts_of(d)->name, "Fake card B");
    assert_int_equal(card_facts_of(d)->index, 1);
    card_buffer a = {0}, b = {0};
    int32_t one = 1, two = 2, back = 0;
    card_renew(c, &a, 4);
    card_renew(d, &b, 4);
    card_put(c, &a, 0, &one, 4);
    card_put(d, &b, 0, &two, 4);
    card_get(c, &back, &a, 0, 4);
    assert_int_equal(back, 1);
    card_get(d, &back, &b, 0, 4);
    assert_int_equal(back, 2);
    check_well(c);
    card_copy(d, &b, 0, &a, 0, 4); // memory of another card
    assert_int_equal(card_wait(d, NULL), TALUS_ERR_DEVICE);
    check_well(c);
    card_close(d);
    card_close(c);
    run_kernels(1);
}

static void test_facts_and_time(void** state)
{
    (void)state;
    plain_driver();
    card* c = opened(0);
    const card_facts* f = card_facts_of(c);
    assert_true(f->memory > 0 && f->free <= f->memory && f->processors > 0 && f->bus_width > 0);
    assert_int_equal(f->major, 9);
    assert_int_equal(f->driver, 12040);
    card_kernel* sums = card_find(c, "card_sums", "card_block_sums");
    assert_true(card_resident_blocks(c, sums, CARD_SUM_THREADS, 0) >= f->processors);
    assert_int_equal(card_resident_blocks(c, sums, CARD_SUM_THREADS, f->block_shared + 1), 0);
    assert_int_equal(card_allow_shared(c, sums, f->block_shared), TALUS_OK);
    card_clock_start(c);
    card_clock_stop(c);
    assert_true(card_clock_seconds(c) >= 0.0);
    check_well(c);
    card_close(c);
    card_close(NULL);
}

/// Launches are counted and timed while that is asked for, kernel by kernel.
static void test_kernel_times(void** state)
{
    (void)state;
    plain_driver();
    card* c = opened(0);
    card_buffer x = {0};
    card_renew(c, &x, 100 * sizeof(double));
    card_zero(c, &x, 0, 100 * sizeof(double));
    card_kernel* axpy = card_find(c, "card_sums", "card_axpy");
    card_find(c, "card_sums", "card_block_sums"); // never launched
    const card_axpy_job job = {.count = 100, .a = 1.0, .x = x.at, .y = x.at};
    card_launch(c, axpy, card_grid_of(100, 64), &job);
    card_time_kernels(c, true);
    for (int i = 0; i < 3; i++) card_launch(c, axpy, card_grid_of(100, 64), &job);
    card_time_kernels(c, false);
    card_launch(c, axpy, card_grid_of(100, 64), &job);
    check_well(c);
    card_kernel_time t = {0};
    assert_true(card_next_time(c, &t));
    assert_string_equal(t.name, "card_axpy");
    assert_int_equal(t.launches, 3);
    assert_true(t.seconds >= 0.0);
    assert_false(card_next_time(c, &t));
    card_close(c);
}

int main(void)
{
    if (!card_built_in()) {
        printf("skipped: this build has no kernels for cards\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_times), cmocka_unit_test(test_copies),
        cmocka_unit_test(test_slots_wait),   cmocka_unit_test(test_growing),
        cmocka_unit_test(test_pinned),       cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_two_cards),    cmocka_unit_test(test_facts_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
