/// The functions that stand for those of math.h on a card (card/exact.h) give what the C library
/// gives, bit for bit.
#include "card/exact.h"

#include "support.h"

#include <float.h>
#include <string.h>

static const double SPECIAL[] = {
    0.0,       -0.0,        1.0,          -1.0,     0.5,       2.0,
    3.0,       -7.0,        DBL_MIN,      DBL_MAX,  -DBL_MAX,  DBL_TRUE_MIN,
    0x1p-1050, 0x1.8p-1023, 1e300,        INFINITY, -INFINITY, NAN,
    M_PI,      0x1p53,      0x1p52 + 0.5, 1e22,     2e-308,    0x1.fffffffffffffp-1022};
enum { SPECIALS = sizeof SPECIAL / sizeof *SPECIAL };

static void check_same(const char* name, double x, double y, double mine, double theirs)
{
    if (isnan(mine) && isnan(theirs)) return;
    if (memcmp(&mine, &theirs, sizeof mine) == 0) return;
    print_error("%s(%a, %a) is %a, and not %a\n", name, x, y, theirs, mine);
    fail();
}

static void check_pair(double x, double y)
{
    check_same("fmod", x, y, exact_fmod(x, y), fmod(x, y));
    check_same("remainder", x, y, exact_remainder(x, y), remainder(x, y));
    if (x != y || x != 0.0) { // the sign of the larger of two zeros is left open
        check_same("fmax", x, y, exact_fmax(x, y), fmax(x, y));
        check_same("fmin", x, y, exact_fmin(x, y), fmin(x, y));
    }
}

static void check_one(double x)
{
    int mine = 0, theirs = 0;
    check_same("frexp", x, 0.0, exact_frexp(x, &mine), frexp(x, &theirs));
    if (isfinite(x)) assert_int_equal(mine, theirs);
    for (int n = -2300; n <= 2300; n += n > -60 && n < 60 ? 1 : 37) {
        check_same("ldexp", x, n, exact_ldexp(x, n), ldexp(x, n));
    }
}

static void test_special(void** state)
{
    (void)state;
    for (int i = 0; i < SPECIALS; i++) {
        check_one(SPECIAL[i]);
        for (int k = 0; k < SPECIALS; k++) check_pair(SPECIAL[i], SPECIAL[k]);
    }
}

static void test_random(void** state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    double last = 1.0;
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        const double any = exact_double(seed), x = isnan(any) ? NAN : any; // quiet ones
        const double near = last * ldexp((double)(seed >> 40), -23);
        if (i % 100 == 0) check_one(x);
        check_pair(x, last);
        check_pair(near, last); // quotients that are small, and whole ones
        check_pair((double)(seed >> 50), (double)(seed & 63));
        last = x;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
