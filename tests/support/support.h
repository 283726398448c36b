/// Helpers of the C tests: numeric checks that print what they saw, and the size of long tests.
///
/// Include this file instead of <cmocka.h>; it brings the headers cmocka wants before its own. A
/// numeric check prints value, expectation, tolerance and the reason for the tolerance, then fails
/// the running cmocka test when the value is outside; a NaN is always outside.
#ifndef TALUS_TESTS_SUPPORT_H
#define TALUS_TESTS_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <talus/base.h>

/// Share (0..1] of its full size that a long test should have, from TALUS_TEST_SCALE; 1 when unset.
/// The sanitizer suites of .ci/run set it below 1. Scale grains or steps with it, never a
/// tolerance.
static inline double test_scale(void)
{
    const char* text = getenv("TALUS_TEST_SCALE");
    double scale = text ? strtod(text, NULL) : 1.0;
    return scale > 0.0 && scale < 1.0 ? scale : 1.0;
}

/// `full` scaled by test_scale(), but at least `least`.
static inline int test_count(int full, int least)
{
    int count = (int)(full * test_scale());
    return count > least ? count : least;
}

/// |value - expected| <= tolerance (absolute). `why` says where the tolerance comes from.
#define check_close(name, value, expected, tolerance, why)                                         \
    check_close_at(name, value, expected, tolerance, why, __FILE__, __LINE__)

/// value <= bound. `why` says where the bound comes from.
#define check_below(name, value, bound, why)                                                       \
    check_below_at(name, value, bound, why, __FILE__, __LINE__)

/// A call that returns talus_status must succeed; `error` is the talus_error (not a pointer) it
/// was given, and its text is printed when it does not.
#define check_ok(call, error) check_ok_at(call, &(error), #call, __FILE__, __LINE__)

static inline void check_close_at(const char* name, double value, double expected, double tolerance,
                                  const char* why, const char* file, int line)
{
    bool good = fabs(value - expected) <= tolerance;
    printf("%s %s: %.17g, expected %.17g within %.3g (off by %.3g) -- %s\n", good ? "ok  " : "FAIL",
           name, value, expected, tolerance, value - expected, why);
    if (!good) _fail(file, line);
}

static inline void check_below_at(const char* name, double value, double bound, const char* why,
                                  const char* file, int line)
{
    bool good = value <= bound;
    printf("%s %s: %.17g, at most %.17g -- %s\n", good ? "ok  " : "FAIL", name, value, bound, why);
    if (!good) _fail(file, line);
}

static inline void check_ok_at(talus_status status, const talus_error* error, const char* call,
                               const char* file, int line)
{
    if (status == TALUS_OK) return;
    // The text is only sure to be filled when the call failed, so it is not read on success.
    printf("FAIL %s returned %s: %s\n", call, talus_status_name(status), error->text);
    _fail(file, line);
}

#endif
