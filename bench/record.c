/// Time to record a packing of spheres: a frame (which puts a large segment on the disk at once), a
/// commit, a checkpoint, and how long one takes that is written `behind`, by another thread; with
/// one thread and with two for the packing of frames; by the wall, of CPU time, and of the thread
/// that steps the world alone.
///
/// The packing is that of jammed.h, loaded by its lid, after a step. `--folder DIR`: where to write
/// [/tmp]; `--quick`: without 10^6.
#include "jammed.h"
#include "threads.h"

#include "base/short_waits.h"
#include "record/record.h"

#include <sys/stat.h>
#include <unistd.h>

enum { CLOCKS = 3, ROUNDS = 3 };

static void read_clocks(double out[CLOCKS])
{
    out[0] = bench_clock(CLOCK_MONOTONIC);
    out[1] = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    out[2] = bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t bytes_of(const char* folder, const char* name)
{
    char path[512];
    struct stat facts;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &facts) == 0 ? (int64_t)facts.st_size : 0;
}

static void print_times(const char* what, int64_t count, int threads, const double begin[CLOCKS],
                        int64_t bytes)
{
    double end[CLOCKS];
    read_clocks(end);
    const double wall = end[0] - begin[0];
    printf("%9lld %7d %-12s %8.0f %8.0f %8.0f %9.1f %8.0f\n", (long long)count, threads, what,
           1e3 * wall, 1e3 * (end[1] - begin[1]), 1e3 * (end[2] - begin[2]), 1e-6 * (double)bytes,
           1e-6 * (double)bytes / wall);
    fflush(stdout);
}

static void measure(int64_t tile_count, int times, const char* parent)
{
    talus_solver_def solver = talus_solver_default();
    talus_error error = {0};
    solver.stop = TALUS_STOP_SWEEPS;
    solver.max_sweeps = 20;
    tile t = make_tile(3, tile_count, JAMMED_FRICTION / 3.0);
    talus_world* world = loaded_packing(&t, times, &solver);
    tile_free(&t);
    const int64_t grain_count = world->state.grains.count;
    bench_ok(talus_world_step(world, JAMMED_STEP, NULL, &error), error.text);
    printf("%9lld grains, %lld contacts\n", (long long)grain_count,
           (long long)world->state.contacts.count);
    for (int threads = 1; threads <= 2; threads++) {
        char folder[256];
        frames* f = NULL;
        checkpoint_writer* writer = NULL;
        use_threads(world, threads);
        snprintf(folder, sizeof folder, "%s/talus-bench-XXXXXX", parent);
        if (!mkdtemp(folder)) perror(folder), exit(1);
        bench_ok(frames_open(folder, (frames_position){0}, (frames_options){.contacts = true}, &f,
                             &error),
                 error.text);
        for (int round = 0; round < ROUNDS; round++) {
            double begin[CLOCKS];
            char name[64];
            frames_position at = {0};
            read_clocks(begin);
            bench_ok(frames_write(f, world, &error), error.text);
            print_times("frame", grain_count, threads, begin, 0);
            read_clocks(begin);
            bench_ok(frames_commit(f, &at, &error), error.text);
            snprintf(name, sizeof name, "frames/segment-%06d.h5", 2 * round);
            print_times("commit", grain_count, threads, begin, bytes_of(folder, name));
            read_clocks(begin);
            bench_ok(frames_write_behind(f, world, &error), error.text);
            print_times("frame behind", grain_count, threads, begin, 0);
            bench_ok(frames_commit(f, &at, &error), error.text);
            read_clocks(begin);
            bench_ok(checkpoint_write(folder, world, CHECKPOINT_WHOLE, NULL, 0, &error),
                     error.text);
            print_times("checkpoint", grain_count, threads, begin,
                        bytes_of(folder, "checkpoint.h5"));
            read_clocks(begin);
            bench_ok(
                checkpoint_write_behind(&writer, folder, world, CHECKPOINT_WHOLE, NULL, 0, &error),
                error.text);
            print_times("behind", grain_count, threads, begin, 0);
            bench_ok(checkpoint_writer_wait(writer, &error), error.text);
        }
        checkpoint_writer_free(writer);
        frames_close(f);
        char command[300];
        snprintf(command, sizeof command, "rm -r '%s'", folder);
        if (system(command) != 0) exit(1);
    }
    talus_world_destroy(world);
}

int main(int argc, char** argv)
{
    short_waits(argv);
    const char* parent = "/tmp";
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--folder") == 0) parent = argv[i + 1];
    }
    printf("%9s %7s %-12s %8s %8s %8s %9s %8s\n", "grains", "threads", "what", "wall, ms",
           "CPU, ms", "own, ms", "MB", "MB/s");
    measure(1000, 5, parent);
    if (!bench_option(argc, argv, "--quick")) measure(1000, 10, parent);
    return 0;
}
