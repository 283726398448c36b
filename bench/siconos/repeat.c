/// Calls of one of Siconos's drivers in a row, each timed by itself and without what a call from
/// Python costs, which is more than some small problems do. compare.py compiles and loads it.
#include <string.h>
#include <time.h>

/// int driver(problem, impulses, velocities, options)
typedef int siconos_driver(void*, double*, double*, void*);

/// Solves that take longer are interrupted by whatever else runs on the machine: they are timed by
/// the processor's clock, which takes too long to be read for shorter ones.
static const double LONG = 5e-4;

static double seconds_on(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Solve from zero with each of options [count] until `most` seconds are spent; r and u [size]
/// receive the last answer, seconds [count] the times. Returns how many there are.
int repeat_driver(siconos_driver* driver, void* problem, int count, void** options, double most,
                  int size, double* r, double* u, double* seconds)
{
    double spent = 0.0;
    int done = 0;
    for (; done < count && (done == 0 || spent < most); done++) {
        memset(r, 0, sizeof *r * (size_t)size);
        memset(u, 0, sizeof *u * (size_t)size);
        const double begin_work = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
        const double begin = seconds_on(CLOCK_MONOTONIC);
        driver(problem, r, u, options[done]);
        seconds[done] = seconds_on(CLOCK_MONOTONIC) - begin;
        const double work = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - begin_work;
        if (seconds[done] > LONG) seconds[done] = work;
        spent += seconds[done];
    }
    return done;
}
