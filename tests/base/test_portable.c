/// Elementary functions against long doubles: x87 has 64 bits, eleven more than a double, and glibc
/// gives them to within one unit in their last place. So what is measured here is good to 0.001 of
/// a double's.
#include "random.h"
#include "support.h"

#include "base/portable.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef double function(double);
typedef long double reference(long double);

enum { POINTS = 200000 };

/// Distance from the true value in units of the double's last place.
static double off_by(double value, long double truth)
{
    if (isnan(value) && isnan(truth)) return 0.0;
    if (isinf(value) || fabsl(truth) > DBL_MAX) return value == (double)truth ? 0.0 : INFINITY;
    const double near = fmax(fabs((double)truth), DBL_MIN);
    return (double)(fabsl(value - truth) / (nextafter(near, INFINITY) - near));
}

/// The largest distance over an interval, evenly and by octaves.
static void compare(const char* name, function* f, reference* g, double low, double high,
                    double limit)
{
    double worst = 0.0, at = low;
    rng r = rng_make(7, 0, 0);
    for (int i = 0; i < POINTS; i++) {
        double x = uniform(&r, low, high);
        if (i & 1) x = copysign(fmin(high, exp2(100.0 * rng_uniform(&r) - 70.0)), x);
        if (x < low || x > high) continue;
        const double off = off_by(f(x), g((long double)x));
        if (off > worst) worst = off, at = x;
    }
    printf("%-6s on [%g, %g]: %.3f units in the last place at most, at %a\n", name, low, high,
           worst, at);
    assert_true(worst <= limit);
}

/// Limits are those that portable.h states.
static void test_one_argument(void** state)
{
    (void)state;
    compare("sin", portable_sin, sinl, -10.0, 10.0, 1.0);
    compare("sin", portable_sin, sinl, -1e8, 2e8, 1.0);
    compare("cos", portable_cos, cosl, -10.0, 10.0, 1.0);
    compare("cos", portable_cos, cosl, -1e8, 2e8, 1.0);
    compare("tan", portable_tan, tanl, -10.0, 10.0, 2.5);
    compare("asin", portable_asin, asinl, -1.0, 1.0, 2.5);
    compare("acos", portable_acos, acosl, -1.0, 1.0, 2.5);
    compare("exp", portable_exp, expl, -700.0, 709.0, 1.0);
    compare("exp", portable_exp, expl, -1.0, 1.0, 1.0);
    compare("log", portable_log, logl, 0.0, 3.0, 1.0);
    compare("log", portable_log, logl, 0.0, 1e300, 1.0);
    compare("log10", portable_log10, log10l, 0.0, 1e5, 2.5);
    compare("cbrt", portable_cbrt, cbrtl, -1e6, 1e6, 0.7);
    compare("cbrt", portable_cbrt, cbrtl, -1e-300, 1e-300, 0.7);
}

/// Near multiples of pi/2 the reduced angle loses the most digits.
static void test_near_zeros(void** state)
{
    (void)state;
    double worst = 0.0;
    for (int64_t n = 1; n < 100000000; n += 1 + n / 50) {
        const double x = (double)((long double)n * M_PI_2);
        worst = fmax(worst, off_by(portable_sin(x), sinl((long double)x)));
        worst = fmax(worst, off_by(portable_cos(x), cosl((long double)x)));
    }
    // x87's own reduction uses pi to 66 bits in old C libraries; glibc reduces fully.
    printf("near multiples of pi/2: %.3f units in the last place\n", worst);
    assert_true(worst <= 1.0);
}

static void test_two_arguments(void** state)
{
    (void)state;
    double worst_angle = 0.0, worst_power = 0.0, worst_length = 0.0;
    rng r = rng_make(11, 0, 0);
    for (int i = 0; i < POINTS; i++) {
        const double x = 4.0 * rng_uniform(&r) - 2.0, y = 4.0 * rng_uniform(&r) - 2.0;
        const double small = y * exp2(-60.0 * rng_uniform(&r));
        worst_angle = fmax(worst_angle, off_by(portable_atan2(y, x), atan2l(y, x)));
        worst_angle = fmax(worst_angle, off_by(portable_atan2(small, x), atan2l(small, x)));
        worst_length = fmax(worst_length, off_by(portable_hypot(1e300 * x, 1e300 * small),
                                                 hypotl(1e300 * x, 1e300 * small)));
        // powl of x87 loses as many bits as its exponent has: 64 - 2 here.
        const double base = exp2(8.0 * rng_uniform(&r) - 4.0);
        worst_power = fmax(worst_power, off_by(portable_pow(base, x), powl(base, x)));
    }
    printf("atan2 %.3f, hypot %.3f, pow %.4f units in the last place\n", worst_angle, worst_length,
           worst_power);
    assert_true(worst_length <= 1.2);
    assert_true(worst_angle <= 2.5);
    assert_true(worst_power <= 0.51);
}

/// What is exact stays exact, and the corners are those of the C standard.
static void test_corners(void** state)
{
    (void)state;
    for (int n = -20; n <= 20; n++) {
        assert_true(portable_pow(2.0, n) == ldexp(1.0, n));
        assert_true(portable_pow(-2.0, n) == ldexp(n & 1 ? -1.0 : 1.0, n));
        assert_true(portable_cbrt((double)n * n * n) == n);
        char text[16];
        snprintf(text, sizeof text, "1e%d", n);
        assert_true(portable_power_of_ten(n) == strtod(text, NULL));
    }
    assert_true(portable_pow(3.0, 4.0) == 81.0 && portable_pow(2.25, 0.5) == 1.5);
    assert_true(portable_pow(0.0, 2.0) == 0.0 && isinf(portable_pow(0.0, -1.0)));
    assert_true(portable_pow(-8.0, 3.0) == -512.0 && isnan(portable_pow(-8.0, 0.5)));
    assert_true(isinf(portable_pow(10.0, 400.0)) && portable_pow(10.0, -400.0) == 0.0);
    assert_true(off_by(portable_pow(10.0, -310.0), 1e-310L) <= 0.51);
    assert_true(portable_exp(0.0) == 1.0 && portable_log(1.0) == 0.0);
    assert_true(isinf(portable_exp(1e9)) && portable_exp(-1e9) == 0.0);
    assert_true(portable_log(0.0) == -INFINITY && isnan(portable_log(-1.0)));
    assert_true(portable_sin(0.0) == 0.0 && portable_cos(0.0) == 1.0);
    assert_true(isnan(portable_sin(INFINITY)) && isnan(portable_cos(NAN)));
    assert_true(fabs(portable_sin(1e300)) <= 1.0);
    const double zero = 0.0;
    const double sides[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            const double got = portable_atan2(sides[i], sides[k]);
            assert_true(off_by(got, atan2l(sides[i], sides[k])) <= 1.0);
            assert_true(signbit(got) == signbit(sides[i]));
        }
    }
    assert_true(portable_asin(1.0) == M_PI_2 && portable_acos(-1.0) == M_PI);
    assert_true(isnan(portable_asin(1.0 + DBL_EPSILON)) && isnan(portable_acos(zero / zero)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_argument),
        cmocka_unit_test(test_near_zeros),
        cmocka_unit_test(test_two_arguments),
        cmocka_unit_test(test_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
