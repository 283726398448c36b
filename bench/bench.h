/// Helpers of the benchmarks: repeated timing, and the statistics that a noisy machine needs.
#ifndef TALUS_BENCH_BENCH_H
#define TALUS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_REPEATS = 7 };

/// Seconds of several repeats: by the wall and of this process' CPU time.
typedef struct bench_times {
    int count;
    double wall[BENCH_REPEATS], cpu[BENCH_REPEATS];
} bench_times;

static inline double bench_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void* x, const void* y)
{
    double a = *(const double*)x, b = *(const double*)y;
    return (a > b) - (a < b);
}

/// Run `work` BENCH_REPEATS times, after once that is not counted, and sort the times.
static inline bench_times bench_run(void (*work)(void* user), void* user)
{
    bench_times t = {.count = BENCH_REPEATS};
    work(user);
    for (int i = 0; i < BENCH_REPEATS; i++) {
        double wall = bench_clock(CLOCK_MONOTONIC), cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        work(user);
        t.wall[i] = bench_clock(CLOCK_MONOTONIC) - wall;
        t.cpu[i] = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    }
    qsort(t.wall, BENCH_REPEATS, sizeof *t.wall, bench_compare);
    qsort(t.cpu, BENCH_REPEATS, sizeof *t.cpu, bench_compare);
    return t;
}

/// Is this option among the program's arguments?
static inline bool bench_option(int argc, char** argv, const char* option)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], option) == 0) return true;
    }
    return false;
}

/// A call that must not fail.
static inline void bench_ok(int status, const char* text)
{
    if (status == 0) return;
    fprintf(stderr, "benchmark failed: %s\n", text);
    exit(1);
}

#endif
