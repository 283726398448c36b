/// Whatever goes wrong with a card is said in a sentence that helps, and stays until the card is
/// closed; the driver is the fake one (tests/support/fake_cuda.c), which fails as it is told.
#include "card/card.h"
#include "card/sums.h"

#include "support.h"

#include <string.h>

static void driver_does(const char* name, const char* value)
{
    static const char* all[] = {"FAKE_CUDA_CARDS",      "FAKE_CUDA_VERSION", "FAKE_CUDA_FAIL",
                                "FAKE_CUDA_CAPABILITY", "FAKE_CUDA_MEMORY",  "FAKE_CUDA_WORKERS"};
    for (int i = 0; i < 6; i++) unsetenv(all[i]);
    if (name) setenv(name, value, 1);
}

static void check_words(const talus_error* error, const char* a, const char* b)
{
    if (!strstr(error->text, a) || !strstr(error->text, b)) {
        print_error("'%s' does not have '%s' and '%s'\n", error->text, a, b);
        fail();
    }
}

// ---- opening -----------------------------------------------------------------------------------

static void check_closed(int index, const char* a, const char* b)
{
    talus_error error = {0};
    card* c = (card*)&error;
    assert_int_equal(card_open(index, &c, &error), TALUS_ERR_DEVICE);
    assert_null(c);
    assert_int_equal(error.status, TALUS_ERR_DEVICE);
    check_words(&error, a, b);
    assert_int_equal(card_open(index, &c, NULL), TALUS_ERR_DEVICE);
}

static void test_opening(void** state)
{
    (void)state;
    talus_error error = {0};
    driver_does("FAKE_CUDA_CARDS", "0");
    check_closed(0, "no graphics card can be used", "finds no card");
    assert_int_equal(card_count(&error), 0);
    check_words(&error, "no graphics card", "CUDA_ERROR_NO_DEVICE");
    driver_does("FAKE_CUDA_CARDS", "2");
    check_closed(3, "there is no graphics card gpu:3: this machine has 2 cards",
                 "gpu:0 (Fake card A), gpu:1 (Fake card B)");
    check_closed(-1, "no graphics card gpu:-1", "2 cards");
    driver_does("FAKE_CUDA_CARDS", "1");
    check_closed(1, "this machine has 1 card:", "gpu:0 (Fake card A)");
    driver_does("FAKE_CUDA_CAPABILITY", "61");
    check_closed(0, "gpu:0 (Fake card A) is too old",
                 "compute capability is 6.1, and 7.0 is needed");
    driver_does("FAKE_CUDA_FAIL", "cuInit:1:803,cuInit:2:803");
    check_closed(0, "has been updated since the machine was started", "restart");
    driver_does("FAKE_CUDA_FAIL", "cuInit:1:34");
    check_closed(0, "the empty one that comes with the CUDA toolkit", "LD_LIBRARY_PATH");
    driver_does("FAKE_CUDA_FAIL", "cuCtxCreate_v2:1:46");
    check_closed(0, "Another program has the card for itself", "CUDA_ERROR_DEVICE_UNAVAILABLE");
    driver_does("FAKE_CUDA_FAIL", "cuCtxCreate_v2:1:2");
    check_closed(0, "gpu:0 (Fake card A) failed while being opened", "too little memory");
    driver_does("FAKE_CUDA_FAIL", "cuDeviceGetCount:1:999");
    check_closed(0, "does not say why", "nvidia-smi");
}

// ---- at work -----------------------------------------------------------------------------------

/// Something of everything; what of it happens depends on when the card fails. Returns the status
/// at the end.
static talus_status work(talus_error* error)
{
    enum { COUNT = 3000 };
    card* c = NULL;
    const talus_status opened = card_open(0, &c, error);
    if (opened < 0) {
        assert_null(c);
        return opened;
    }
    double x[COUNT], sum[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = i;
    card_buffer a = {0}, b = {0};
    card_pinned p = {0};
    card_kernel* sums = card_find(c, "card_sums", "card_block_sums");
    card_renew(c, &a, sizeof x);
    card_grow(c, &b, 8);
    card_zero(c, &b, 0, 8);
    card_grow(c, &b, sizeof x);
    card_pin(c, &p, sizeof x);
    card_put(c, &a, 0, x, sizeof x);
    card_copy(c, &b, 0, &a, 0, sizeof x);
    card_clock_start(c);
    card_launch(c, sums, card_grid_of(COUNT, CARD_SUM_THREADS),
                &(card_sum_job){.count = COUNT, .x = b.at, .sums = a.at});
    card_clock_stop(c);
    card_clock_seconds(c);
    card_allow_shared(c, sums, 100 << 10);
    card_resident_blocks(c, sums, 64, 0);
    card_free_memory(c);
    card_fetch(c, &p, 0, &a, 0, sizeof x);
    card_get(c, sum, &a, 0, sizeof sum);
    card_send(c, &a, 0, &p, 0, sizeof x);
    const talus_status status = card_wait(c, error);
    if (status < 0) {
        // It sticks: nothing is done any more, and the words stay the same.
        talus_error again = {0};
        assert_int_equal(card_put(c, &a, 0, x, sizeof x), status);
        assert_int_equal(card_get(c, x, &a, 0, sizeof x), status);
        assert_int_equal(card_renew(c, &a, 1000000), status);
        assert_int_equal(card_launch(c, sums, card_grid_of(COUNT, CARD_SUM_THREADS), x), status);
        assert_null(card_find(c, "card_sums", "card_axpy"));
        assert_int_equal(card_free_memory(c), 0);
        assert_int_equal(card_wait(c, &again), status);
        assert_string_equal(again.text, error->text);
        assert_int_equal(x[7], 7);
    } else {
        assert_true(sum[0] == 255.0 * 128.0);
    }
    card_free(c, &a);
    card_unpin(c, &p);
    card_close(c);
    return status;
}

static void check_work(const char* failure, const char* a, const char* b)
{
    talus_error error = {0};
    driver_does("FAKE_CUDA_FAIL", failure);
    assert_int_equal(work(&error), TALUS_ERR_DEVICE);
    check_words(&error, a, b);
}

static void test_at_work(void** state)
{
    (void)state;
    talus_error error = {0};
    driver_does(NULL, NULL);
    assert_int_equal(work(&error), TALUS_OK);
    check_work("cuLaunchKernel:1:701", "a mistake in Talus, please report it",
               "after the kernel card_block_sums");
    check_work("cuLaunchKernel:1:700:later", "after the kernel card_block_sums",
               "CUDA_ERROR_ILLEGAL_ADDRESS");
    check_work("cuLaunchKernel:1:702:later", "took too long", "drive a display");
    check_work("cuMemcpyDtoDAsync_v2:1:214:stay", "memory has an error", "restart the machine");
    check_work("cuMemcpyHtoDAsync_v2:1:719:stay", "the card was lost", "nvidia-smi");
    check_work("cuStreamSynchronize:1:999:stay", "does not say why", "CUDA_ERROR_UNKNOWN");
    check_work("cuModuleGetFunction:1:500", "looking for the kernel card_block_sums of card_sums",
               "please report it");
    check_work("cuMemHostAlloc:1:2", "asking for pinned memory of the machine",
               "CUDA_ERROR_OUT_OF_MEMORY");
    driver_does("FAKE_CUDA_VERSION", "8000");
    assert_int_equal(work(&error), TALUS_ERR_DEVICE);
    check_words(&error, "cannot load the kernels card_sums. Its driver is too old",
                "driver of CUDA 8.0; it says: ptxas: unsupported .version 6.0");
    driver_does("FAKE_CUDA_MEMORY", "30000");
    assert_int_equal(work(&error), TALUS_ERR_DEVICE);
    check_words(&error, "has too little memory: 2.4e-05 GB more are needed",
                "are free. Use fewer grains, a card with more memory, or --device cpu");
    driver_does("FAKE_CUDA_FAIL", "cuMemAlloc_v2:1:2"); // the reserve only: nobody notices
    assert_int_equal(work(&error), TALUS_OK);
}

/// The card may fail at any call, once or for good, at once or unnoticed before the next call.
static void test_every_call(void** state)
{
    (void)state;
    static const char* manners[] = {"", ":stay", ":later"};
    for (int i = 0; i < 3; i++) {
        int failed = 0, call = 1;
        for (bool reached = true; reached; call++) {
            char text[60];
            talus_error error = {0};
            snprintf(text, sizeof text, "any:%d:719%s", call, manners[i]);
            driver_does("FAKE_CUDA_FAIL", text);
            if (work(&error) < 0) {
                failed++;
                assert_true(strlen(error.text) > 40);
            }
            reached = call < 100;
        }
        assert_true(failed >= 50); // calls of work() that matter
    }
}

static void test_no_module(void** state)
{
    (void)state;
    talus_error error = {0};
    card* c = NULL;
    driver_does(NULL, NULL);
    assert_int_equal(card_open(0, &c, &error), TALUS_OK);
    assert_null(card_find(c, "card_of_nobody", "kernel"));
    assert_int_equal(card_state(c, &error), TALUS_ERR_DEVICE);
    check_words(&error, "looking for a module of kernels", "please report it");
    card_close(c);
    assert_int_equal(card_open(0, &c, &error), TALUS_OK);
    assert_null(card_find(c, "card_sums", "no_kernel"));
    card_close(c);
}

/// A block that waits for what no block will do is stopped.
static void test_waiting_for_ever(void** state)
{
    (void)state;
    talus_error error = {0};
    card* c = NULL;
    card_buffer x = {0}, flags = {0};
    driver_does(NULL, NULL);
    assert_int_equal(card_open(0, &c, &error), TALUS_OK);
    card_renew(c, &x, 1000);
    card_renew(c, &flags, 1000);
    card_zero(c, &x, 0, 1000);
    card_zero(c, &flags, 0, 1000);
    const uint32_t first = 5; // as if five blocks had begun that never raise their flags
    card_put(c, &flags, 0, &first, sizeof first);
    card_launch(c, card_find(c, "card_sums", "card_chained_sums"),
                (card_grid){.blocks = 2, .threads = 32},
                &(card_chain_job){
                    .x = x.at, .sums = x.at, .ticket = flags.at, .flags = (uint32_t*)flags.at + 1});
    assert_int_equal(card_wait(c, &error), TALUS_ERR_DEVICE);
    check_words(&error, "CUDA_ERROR_LAUNCH_TIMEOUT", "card_chained_sums");
    card_close(c);
}

int main(void)
{
    if (!card_built_in()) {
        printf("skipped: this build has no kernels for cards\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening),          cmocka_unit_test(test_at_work),
        cmocka_unit_test(test_every_call),       cmocka_unit_test(test_no_module),
        cmocka_unit_test(test_waiting_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
