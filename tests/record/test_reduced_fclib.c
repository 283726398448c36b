/// Every stored problem of FCLIB is solved to 1e-8, from zero, by "auto" and by Newton's method
/// alone.
#include "support.h"

#include "record/fclib.h"

#include <dirent.h>
#include <string.h>

enum { MOST = 64 };

/// Paths of the stored problems in alphabetical order; returns how many.
static int list_problems(char paths[MOST][512])
{
    const char* source = getenv("TALUS_SOURCE");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/tests/data/fclib", source ? source : ".");
    struct dirent** names;
    int count = 0, found = scandir(folder, &names, NULL, alphasort);
    assert_true(found > 0);
    for (int i = 0; i < found; i++) {
        const char* end = strrchr(names[i]->d_name, '.');
        if (end && strcmp(end, ".hdf5") == 0 && count < MOST) {
            snprintf(paths[count++], sizeof paths[0], "%s/%s", folder, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    return count;
}

/// |r_T| <= mu r_N and so on to rounding: a solution must be inside the cone, not only near it.
static double outside(const reduced_problem* p, const double* r)
{
    double worst = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        const double* x = r + c * p->width;
        double rub = p->width == 2 ? fabs(x[1]) : hypot(x[1], x[2]), size = fabs(x[0]) + rub;
        double beyond = fmax(-x[0], rub - p->mu[c] * x[0]);
        if (p->width == 5) beyond = fmax(beyond, hypot(x[3], x[4]) - p->mu_r[c] * x[0]);
        if (size > 0.0) worst = fmax(worst, beyond / size);
    }
    return worst;
}

static void solve_all_by(const char* method)
{
    static char paths[MOST][512];
    int count = list_problems(paths);
    assert_true(count >= 27);
    for (int i = 0; i < count; i++) {
        fclib_problem p;
        talus_error error;
        reduced_result result;
        check_ok(fclib_read(paths[i], &p, &error), error);
        double* r = calloc((size_t)(p.reduced.count * p.reduced.width), sizeof *r);
        reduced_options o = {.tolerance = 1e-8, .max_sweeps = 20000, .method = method};
        assert_int_equal(reduced_solve(&p.reduced, &o, r, &result), TALUS_OK);
        printf("%s: %s\n", strrchr(paths[i], '/') + 1, result.story);
        assert_true(result.converged);
        check_below("error", reduced_error(&p.reduced, r), 1e-8, "what was asked for");
        check_below("residual", reduced_residual(&p.reduced, r), 1e-8, "what was asked for");
        check_below("outside the cone", outside(&p.reduced, r), 1e-14,
                    "rounding of the projection");
        free(r);
        fclib_free(&p);
    }
}

static void solved_automatically(void** state)
{
    (void)state;
    solve_all_by("auto");
}

static void solved_by_newton(void** state)
{
    (void)state;
    solve_all_by("newton");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solved_automatically),
        cmocka_unit_test(solved_by_newton),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
