/// Work in a process of its own: what comes back of it, and what is said of one that dies.
#include "record/apart.h"

#include "base/error.h"
#include "record/h5.h"
#include "record/h5_trial.h"
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// What is to happen there; `seen` is shared, `own` is not.
typedef struct task {
    int* seen;
    int own;
    int signal;
    talus_status status;
} task;

static talus_status work(void* user, talus_error* error)
{
    task* t = user;
    *t->seen = getpid();
    t->own = 7;
    if (t->signal == SIGXCPU) {
        for (volatile unsigned i = 0;; i = i + 1) {
        }
    }
    if (t->signal != 0) raise(t->signal);
    return t->status < 0 ? error_set(error, t->status, "it said so") : t->status;
}

static void test_outcomes(void** state)
{
    (void)state;
    static const struct {
        int signal;
        talus_status status, expected;
        const char* words;
    } cases[] = {
        {0, TALUS_OK, TALUS_OK, ""},
        {0, TALUS_ERR_STATE, TALUS_ERR_STATE, "it said so"},
        {SIGSEGV, TALUS_OK, TALUS_ERR_FORMAT, "crashes"},
        {SIGABRT, TALUS_OK, TALUS_ERR_FORMAT, "crashes"},
        {SIGXCPU, TALUS_OK, TALUS_ERR_FORMAT, "does not come to an end"},
        {SIGKILL, TALUS_OK, TALUS_ERR_IO, "was killed"}, // by somebody: the file may be good
    };
    int* seen = apart_share(sizeof *seen);
    assert_non_null(seen);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        task t = {.seen = seen, .signal = cases[i].signal, .status = cases[i].status};
        talus_error error = {0};
        assert_int_equal(apart_do(work, &t, 1, &error), cases[i].expected);
        assert_non_null(strstr(error.text, cases[i].words));
        assert_int_not_equal(*seen, getpid());
        assert_int_equal(t.own, 0);
    }
    apart_unshare(seen, sizeof *seen);
}

/// A host program that does not want to hear of its children hears nothing, and we still do.
static void test_no_children_wanted(void** state)
{
    (void)state;
    int* seen = apart_share(sizeof *seen);
    signal(SIGCHLD, SIG_IGN);
    talus_error error = {0};
    task good = {.seen = seen}, bad = {.seen = seen, .signal = SIGSEGV};
    assert_int_equal(apart_do(work, &good, 1, &error), TALUS_OK);
    assert_int_equal(apart_do(work, &bad, 1, &error), TALUS_ERR_FORMAT);
    signal(SIGCHLD, SIG_DFL);
    apart_unshare(seen, sizeof *seen);
}

/// A file of some datasets and attributes: it passes, and so does one that HDF5 itself refuses.
static void test_trial(void** state)
{
    (void)state;
    talus_error error = {0};
    h5_quiet quiet;
    h5_silence(&quiet);
    hid_t file = h5_create(&error, "trial");
    const double numbers[] = {1, 2, 3};
    assert_true(h5_write(file, "numbers", COLUMN_F64, 3, 1, numbers, true));
    assert_true(h5_put_text(file, "title", "a text of variable length"));
    void* data = NULL;
    size_t size = 0;
    check_ok(h5_image(file, &data, &size, &error), error);
    H5Fclose(file);
    check_ok(h5_try_image(data, size, "good", &error), error);
    check_ok(h5_try_image(data, 10, "cut off", &error), error);
    h5_loud(&quiet);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_no_children_wanted),
        cmocka_unit_test(test_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
