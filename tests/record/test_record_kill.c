/// Killed at any moment: a child writes frames, series and checkpoints and dies by SIGKILL; its
/// successor goes on from the last checkpoint. In the end nothing is lost, double or different.
///
/// The state of step k is a pure function of k, so the parent knows what every frame must hold.
#include "record/frame_read.h"
#include "record/record.h"
#include "record_world.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { STEPS = 60, SHORT_STEPS = 5, CHECKPOINT_EVERY = 2, KILLS = 40 };

typedef struct run_state {
    int64_t next; ///< step to be done
    int64_t series_bytes;
    frames_position frames;
} run_state;

static const stored_field position_fields[] = {FIELD(frames_position, frames),
                                               FIELD(frames_position, segments)};
static const stored_fields position_list = FIELD_LIST(frames_position, position_fields);
static const stored_field run_fields[] = {FIELD(run_state, next), FIELD(run_state, series_bytes),
                                          FIELD_OWN(run_state, frames, &position_list)};
static const stored_fields run_list = FIELD_LIST(run_state, run_fields);

#define CHILD_TRY(call)                                                                            \
    do {                                                                                           \
        if ((call) != TALUS_OK) {                                                                  \
            fprintf(stderr, "%s: %s\n", #call, error.text);                                        \
            _exit(3);                                                                              \
        }                                                                                          \
    } while (0)

/// One life of the run: resume, go on, and finish if nobody stops it. Every life ends with _exit.
static void live(const char* folder, int64_t steps)
{
    talus_error error = {0};
    run_state run = {0};
    frames* f = NULL;
    series* s = NULL;
    talus_world* w = sample_world(2, 1);
    const checkpoint_part part = {"run", &run_list, 1, &run};
    char* path = sample_path(folder, "checkpoint.h5");
    char* previous = sample_path(folder, "checkpoint.previous.h5");
    if (access(path, F_OK) == 0 || access(previous, F_OK) == 0) {
        CHILD_TRY(checkpoint_read(folder, w, &part, 1, NULL, &error));
        talus_world* expected = sample_world(2, 1);
        sample_state(expected, (uint64_t)run.next - 1);
        if (!sample_equal(w, expected)) _exit(4);
    }
    CHILD_TRY(frames_open(folder, run.frames, (frames_options){.contacts = true}, &f, &error));
    CHILD_TRY(series_open(folder, run.series_bytes, w, &s, &error));
    while (run.next < steps) {
        sample_state(w, (uint64_t)run.next);
        CHILD_TRY(frames_write(f, w, &error));
        CHILD_TRY(series_write(s, w, 1e-3, &error));
        run.next++;
        if (run.next % CHECKPOINT_EVERY == 0) {
            CHILD_TRY(frames_commit(f, &run.frames, &error));
            CHILD_TRY(series_sync(s, &run.series_bytes, &error));
            CHILD_TRY(checkpoint_write(folder, w, CHECKPOINT_STATE, &part, 1, &error));
        }
    }
    CHILD_TRY(frames_finish(f, &error));
    series_close(s);
    _exit(0);
}

/// Exit status of one life, -1 if it was killed after `microseconds` (never if negative).
static int spawn(const char* folder, int64_t steps, int64_t microseconds)
{
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) live(folder, steps);
    if (microseconds >= 0) {
        usleep((useconds_t)microseconds);
        kill(child, SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// All frames the checkpoint speaks of can be read through frames.h5 and are right.
static void check_frames(const char* folder, int64_t least)
{
    talus_error error = {0};
    frame_reader reader;
    talus_world* w = sample_world(2, 1);
    check_ok(frame_reader_open(folder, &reader, &error), error);
    assert_true(reader.count >= least);
    for (int64_t i = 0; i < reader.count; i++) {
        frame_data d;
        sample_state(w, (uint64_t)i);
        check_ok(frame_read(&reader, i, FRAME_FIELDS, &d, &error), error);
        assert_true(d.step == i && d.grains.count == w->state.grains.count);
        size_t bytes = sizeof(double) * 2 * (size_t)d.grains.count;
        if (bytes) {
            assert_memory_equal(frame_find(&d.grains, "position")->data, w->state.grains.position,
                                bytes);
        }
        bytes = sizeof(double) * 2 * (size_t)d.contacts.count;
        if (bytes) {
            assert_memory_equal(frame_find(&d.contacts, "force")->data, w->state.contacts.force,
                                bytes);
        }
        frame_data_free(&d);
    }
    frame_reader_close(&reader);
    talus_world_destroy(w);
}

/// Rows of series.csv, whose first column must count them.
static int series_rows(const char* folder)
{
    char* path = sample_path(folder, "series.csv");
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    char line[8192];
    assert_non_null(fgets(line, sizeof line, file));
    int rows = 0;
    while (fgets(line, sizeof line, file)) assert_int_equal(atoi(line), rows++);
    fclose(file);
    free(path);
    return rows;
}

static void test_kill(void** state)
{
    (void)state;
    char* folder = sample_folder();
    rng random = rng_make(11, 0, 0);
    int kills = test_count(KILLS, 10), killed = 0, ended = 0;
    int64_t newest = 0;
    for (int i = 0; i < kills; i++) {
        int outcome = spawn(folder, STEPS, (int64_t)rng_below(&random, 120000));
        assert_true(outcome == -1 || outcome == 0);
        killed += outcome == -1;
        run_state run = {0};
        const checkpoint_part part = {"run", &run_list, 1, &run};
        talus_error error = {0};
        bool any = checkpoint_peek(folder, &part, 1, &error) == TALUS_OK;
        if (!any && newest == 0) continue; // died before the first checkpoint
        assert_true(any);
        assert_true(run.next >= newest); // progress is never taken back
        newest = run.next;
        if (outcome == 0) {
            // Finished: what is there must be whole, then it begins anew.
            check_frames(folder, STEPS);
            assert_int_equal(series_rows(folder), STEPS);
            ended++;
            sample_remove(folder);
            folder = sample_folder();
            newest = 0;
        }
    }
    assert_int_equal(spawn(folder, STEPS, -1), 0);
    check_frames(folder, STEPS);
    assert_int_equal(series_rows(folder), STEPS);
    print_message("%d killed, %d runs ended by themselves\n", killed, ended + 1);
    assert_true(killed > kills / 4);
    sample_remove(folder);
}

/// One life that is killed at its `stop`-th entry into or return from a system call. Returns
/// whether it was (or else it ended well); *allowed tells whether tracing works on this machine.
static bool spawn_traced(const char* folder, int stop, bool* allowed)
{
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(9);
        raise(SIGSTOP);
        live(folder, SHORT_STEPS);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    *allowed = WIFSTOPPED(status);
    if (!*allowed) return false;
    for (int i = 0; i < stop; i++) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            return false;
        }
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    return true;
}

/// The same between system calls, from the first to the last of a short run.
static void test_kill_between_calls(void** state)
{
    (void)state;
    int lives = 0, stride = 1, dense = test_count(4, 1);
    for (int stop = 1;; stop += stride) {
        char* folder = sample_folder();
        bool allowed = true;
        bool killed = spawn_traced(folder, stop, &allowed);
        if (!allowed) {
            sample_remove(folder);
            skip();
        }
        // Whoever comes next finds a state it can go on from, and ends as if nothing had been.
        assert_int_equal(spawn(folder, SHORT_STEPS, -1), 0);
        check_frames(folder, SHORT_STEPS);
        assert_int_equal(series_rows(folder), SHORT_STEPS);
        sample_remove(folder);
        lives++;
        if (!killed) break;
        stride = 1 + lives / dense; // ever sparser, to keep the time short
    }
    print_message("killed at %d places\n", lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_kill_between_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
