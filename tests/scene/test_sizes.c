/// src/workshop/scene/sizes: draws against the distribution function, by number and by mass.
///
/// The densities are written here anew from the definitions and integrated by the midpoint rule.
#include "support.h"

#include "scene/sizes.h"

#include <string.h>

/// Number density of a distribution as its definition says, without normalisation.
static double density_of(const sizes_def* d, int dim, double s)
{
    double f = 1.0;
    if (d->kind == SIZES_NORMAL) f = exp(-0.5 * pow((s - d->mean) / d->deviation, 2));
    if (d->kind == SIZES_LOGNORMAL) f = exp(-0.5 * pow(log(s / d->median) / d->sigma, 2)) / s;
    if (d->kind == SIZES_POWER) f = pow(s, -d->exponent);
    if (d->kind == SIZES_TABLE_LINEAR) {
        int64_t i = 0;
        while (i + 2 < d->table_count && s > d->table[2 * i + 2]) i++;
        const double* t = d->table + 2 * i;
        f = (t[1] * (t[2] - s) + t[3] * (s - t[0])) / (t[2] - t[0]);
    }
    return d->by_mass ? f * pow(s, -dim) : f;
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

/// Largest distance between the sample's and the distribution's function, the latter by the
/// midpoint rule from sample to sample and normalised over [min, max].
static double kolmogorov_distance(const sizes_def* d, int dim, double* sample, int n)
{
    enum { CELLS = 200000 };
    qsort(sample, (size_t)n, sizeof *sample, ascending);
    double step = (d->max - d->min) / CELLS, total = 0.0, sum = 0.0, worst = 0.0;
    for (int i = 0; i < CELLS; i++) total += density_of(d, dim, d->min + (i + 0.5) * step);
    int below = 0;
    for (int i = 0; i < CELLS; i++) {
        sum += density_of(d, dim, d->min + (i + 0.5) * step);
        while (below < n && sample[below] <= d->min + (i + 1) * step) below++;
        worst = fmax(worst, fabs((double)below / n - sum / total));
    }
    return below == n ? worst : 1.0;
}

static void check_distribution(const char* name, sizes_def d, uint64_t key)
{
    int n = test_count(40000, 10000);
    double* sample = malloc((size_t)n * sizeof *sample);
    for (int variant = 0; variant < 3; variant++) {
        d.by_mass = variant > 0;
        int dim = variant == 1 ? 2 : 3;
        talus_error error;
        sizes* s = NULL;
        check_ok(sizes_create(&d, dim, &s, &error), error);
        rng r = rng_make(11, key, (uint64_t)variant);
        for (int i = 0; i < n; i++) sample[i] = sizes_draw(s, &r);
        assert_true(sizes_least(s) >= d.min && sizes_largest(s) <= d.max);
        char text[96];
        snprintf(text, sizeof text, "%s %s dim %d", name, d.by_mass ? "by mass" : "by number", dim);
        check_below(text, kolmogorov_distance(&d, dim, sample, n), 1.95 / sqrt(n) + 1e-4,
                    "Kolmogorov's 0.1 % quantile for n draws + quadrature");
        sizes_destroy(s);
    }
    free(sample);
}

static void test_sizes_distributions(void** state)
{
    (void)state;
    static const double table[] = {0.5, 0.0, 1.0, 3.0, 1.5, 1.0, 2.0, 0.0, 3.0, 2.0};
    check_distribution("uniform", (sizes_def){.kind = SIZES_UNIFORM, .min = 0.2, .max = 2.0}, 1);
    check_distribution(
        "normal",
        (sizes_def){.kind = SIZES_NORMAL, .mean = 1.0, .deviation = 0.3, .min = 0.2, .max = 1.5},
        2);
    check_distribution(
        "lognormal",
        (sizes_def){.kind = SIZES_LOGNORMAL, .median = 1.0, .sigma = 0.5, .min = 0.1, .max = 5.0},
        3);
    check_distribution(
        "power 2.5", (sizes_def){.kind = SIZES_POWER, .exponent = 2.5, .min = 0.5, .max = 10.0}, 4);
    check_distribution(
        "power -1", (sizes_def){.kind = SIZES_POWER, .exponent = -1.0, .min = 1.0, .max = 3.0}, 5);
    check_distribution(
        "table",
        (sizes_def){
            .kind = SIZES_TABLE_LINEAR, .table = table, .table_count = 5, .min = 0.5, .max = 3.0},
        6);
}

/// The mass-weighted mean of sizes drawn by mass is the mean of the given mass distribution: for a
/// log-normal one, cut far out, median exp(sigma^2/2).
static void test_sizes_mass_mean(void** state)
{
    (void)state;
    sizes_def d = {.kind = SIZES_LOGNORMAL,
                   .by_mass = true,
                   .diameter = true,
                   .mean = 2.0,
                   .sigma = 0.3,
                   .min = 0.01,
                   .max = 200.0};
    talus_error error;
    sizes* s = NULL;
    check_ok(sizes_create(&d, 3, &s, &error), error);
    int n = 40000;
    double mass = 0.0, moment = 0.0, spread = 0.0;
    rng r = rng_make(5, 6, 7);
    double* x = malloc((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        x[i] = sizes_draw(s, &r);
        mass += pow(x[i], 3), moment += pow(x[i], 4);
    }
    double mean = moment / mass;
    for (int i = 0; i < n; i++) spread += pow(pow(x[i], 3) * (x[i] - mean), 2);
    check_close("mass-weighted mean radius", mean, 1.0, 4.0 * sqrt(spread) / mass,
                "four standard errors of a ratio of sums");
    free(x);
    sizes_destroy(s);
}

static void test_sizes_table(void** state)
{
    (void)state;
    const double table[] = {1.0, 1.0, 2.0, 1.0, 3.0, 0.0};
    sizes_def d = {.kind = SIZES_TABLE, .by_mass = true, .table = table, .table_count = 3};
    talus_error error;
    sizes* s = NULL;
    check_ok(sizes_create(&d, 3, &s, &error), error);
    assert_true(sizes_largest(s) == 2.0 && sizes_least(s) == 1.0);
    int n = 20000, large = 0;
    rng r = rng_make(1, 2, 3);
    for (int i = 0; i < n; i++) large += sizes_draw(s, &r) == 2.0;
    double p = 1.0 / 9.0; // equal masses: eight small grains for a large one
    check_close("share of large grains", (double)large / n, p, 4.0 * sqrt(p * (1.0 - p) / n),
                "four standard deviations of a binomial share");
    sizes_destroy(s);
}

static void test_sizes_errors(void** state)
{
    (void)state;
    const double table[] = {1.0, 1.0, 1.0, 2.0};
    const sizes_def bad[] = {
        {.kind = SIZES_SINGLE, .value = -1.0},
        {.kind = SIZES_UNIFORM, .min = 2.0, .max = 1.0},
        {.kind = SIZES_UNIFORM, .min = NAN, .max = 1.0},
        {.kind = SIZES_NORMAL, .mean = 1.0, .deviation = 0.5}, // default cut is below zero
        {.kind = SIZES_NORMAL, .mean = 1.0, .deviation = 0.01, .min = 5.0, .max = 6.0},
        {.kind = SIZES_LOGNORMAL, .sigma = 0.5},
        {.kind = SIZES_POWER, .exponent = INFINITY, .min = 1.0, .max = 2.0},
        {.kind = SIZES_TABLE_LINEAR, .table = table, .table_count = 2},
        {.kind = SIZES_TABLE, .table = table, .table_count = 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        talus_error error = {0};
        sizes* s = NULL;
        assert_int_equal(sizes_create(&bad[i], 3, &s, &error), TALUS_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "size distribution"));
        assert_null(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_distributions),
        cmocka_unit_test(test_sizes_mass_mean),
        cmocka_unit_test(test_sizes_table),
        cmocka_unit_test(test_sizes_errors),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
