/// Contact problems without bodies: the two measures against their formulas, exact answers, and all
/// methods on random, singular and badly scaled problems with 2, 3 and 5 components.
#include "reduced_model.h"

static const int WIDTHS[] = {2, 3, 5};
static const double TOLERANCE = 1e-8;
/// Contacts of each part of independent_parts().
enum { PART = 7 };

static reduced_result solve_by(const char* method, const dense* d, double* r)
{
    reduced_problem p = reduced_of_dense(d);
    reduced_result result;
    reduced_options o = {.tolerance = TOLERANCE, .max_sweeps = 20000, .method = method};
    assert_int_equal(reduced_solve(&p, &o, r, &result), TALUS_OK);
    reduced_free(&p);
    return result;
}

/// The method says that it converged, and it has.
static void check_solved(const char* what, const char* method, const dense* d, const double* r,
                         const reduced_result* result)
{
    if (!result->converged) printf("%s by %s: %s\n", what, method, result->story);
    assert_true(result->converged);
    // The own sums are in another order: 1e-12 of rounding beside 1e-8.
    double error = own_error(d, r), residual = own_residual(d, r);
    if (error > 1.0001 * TOLERANCE || residual > 1.0001 * TOLERANCE) {
        printf("%s by %s: error %g, residual %g\n", what, method, error, residual);
    }
    assert_true(error <= 1.0001 * TOLERANCE && residual <= 1.0001 * TOLERANCE);
    if (d->width < 5) assert_true(own_velocity(d, r) <= 1.0001 * TOLERANCE);
}

static void measures_follow_their_formulas(void** state)
{
    (void)state;
    static dense d;
    double worst_u = 0.0, worst_error = 0.0, worst_residual = 0.0, worst_velocity = 0.0;
    for (int i = 0; i < test_count(300, 30); i++) {
        rng g = rng_make(1, (uint64_t)i, 0);
        const int width = WIDTHS[i % 3], count = 1 + i % 12;
        double r[MODEL_UNKNOWNS], u[MODEL_UNKNOWNS], sparse_u[MODEL_UNKNOWNS];
        random_problem(&g, width, 1 + i % 5, count, 0.7, &d);
        for (int k = 0; k < width * count; k++) r[k] = rng_normal(&g);
        for (int c = 0; c < count; c += 2) r[c * width] = fabs(r[c * width]);
        reduced_problem p = reduced_of_dense(&d);
        dense_velocity(&d, r, u);
        reduced_velocity(&p, r, sparse_u);
        for (int k = 0; k < width * count; k++) {
            worst_u = fmax(worst_u, fabs(sparse_u[k] - u[k]) / (1.0 + fabs(u[k])));
        }
        worst_error = fmax(worst_error, fabs(reduced_error(&p, r) / own_error(&d, r) - 1.0));
        worst_residual =
            fmax(worst_residual, fabs(reduced_residual(&p, r) / own_residual(&d, r) - 1));
        if (width < 5) {
            const double ratio = reduced_velocity_residual(&p, r) / own_velocity(&d, r);
            worst_velocity = fmax(worst_velocity, fabs(ratio - 1.0));
        }
        reduced_free(&p);
    }
    check_below("velocities", worst_u, 1e-12, "sums of up to 60 terms of size 10 in another order");
    check_below("error", worst_error, 1e-12, "rounding");
    check_below("residual", worst_residual, 1e-12, "rounding");
    check_below("residual of velocities", worst_velocity, 1e-11,
                "rounding of the difference of W r and q, ten times smaller than they are");
}

/// A block on a slope in one step: it sticks or slides, as the angle says.
static void block_on_a_slope(void** state)
{
    (void)state;
    for (int i = 0; i <= 20; i++) {
        double angle = 0.07 * i, mu = 0.5, push = 0.3, mass = 2.0, r[3] = {0.0};
        static dense d;
        memset(&d, 0, sizeof d);
        d.width = 3;
        d.count = 1;
        for (int k = 0; k < 3; k++) d.W[k][k] = 1.0 / mass;
        d.q[0] = -push * cos(angle);
        d.q[1] = 0.6 * push * sin(angle);
        d.q[2] = 0.8 * push * sin(angle);
        d.mu[0] = mu;
        reduced_result result = solve_by("auto", &d, r);
        check_solved("slope", "auto", &d, r, &result);
        double normal = mass * push * cos(angle), rub = mass * push * sin(angle);
        if (rub > mu * normal) rub = mu * normal;
        check_close("normal", r[0], normal, 1e-8, "the tolerance, sizes are 1");
        check_close("friction along t1", r[1], -0.6 * rub, 1e-8, "the tolerance");
        check_close("friction along t2", r[2], -0.8 * rub, 1e-8, "the tolerance");
    }
}

/// Smallest residual of one contact over all states: open, sticking, and a slip in any direction
/// with the normal impulse that closes the contact.
static double best_of_brute_force(const dense* d, double* best)
{
    double least = INFINITY;
    for (int i = -2; i < 20000; i++) {
        double r[3] = {0.0, 0.0, 0.0}, angle = 2.0 * M_PI * i / 20000.0;
        if (i == -2 && d->q[0] < 0.0) continue; // open only where the bodies part
        if (i >= 0) {
            double dir[2] = {cos(angle), sin(angle)}, mu = d->mu[0];
            double response = d->W[0][0] + mu * (d->W[0][1] * dir[0] + d->W[0][2] * dir[1]);
            r[0] = -d->q[0] / response;
            if (!(r[0] > 0.0)) continue;
            r[1] = mu * r[0] * dir[0];
            r[2] = mu * r[0] * dir[1];
        } else if (i == -1) { // Cramer's rule
            double M[3][3], det = 0.0;
            for (int c = -1; c < 3; c++) {
                for (int k = 0; k < 9; k++) M[k / 3][k % 3] = d->W[k / 3][k % 3];
                for (int k = 0; k < 3 && c >= 0; k++) M[k][c] = -d->q[k];
                double value = M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1]) -
                               M[0][1] * (M[1][0] * M[2][2] - M[1][2] * M[2][0]) +
                               M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0]);
                if (c < 0) {
                    det = value;
                } else {
                    r[c] = value / det;
                }
            }
        }
        double residual = own_residual(d, r);
        if (residual < least) {
            least = residual;
            memcpy(best, r, sizeof r);
        }
    }
    return least;
}

static void one_contact_as_brute_force_finds_it(void** state)
{
    (void)state;
    static dense d;
    int slides = 0;
    for (int i = 0; i < test_count(200, 20); i++) {
        rng g = rng_make(2, (uint64_t)i, 0);
        double r[3] = {0.0}, other[3] = {0.0};
        random_problem(&g, 3, 1, 1, 0.3, &d);
        reduced_result result = solve_by("auto", &d, r);
        check_solved("one contact", "auto", &d, r, &result);
        double found = best_of_brute_force(&d, other), size = 0.0, off = 0.0;
        for (int k = 0; k < 3; k++) size += r[k] * r[k], off += pow(r[k] - other[k], 2);
        slides += found > 1e-9;
        // A short arm keeps the block near diagonal, so that there is one solution. Its angle is
        // met to half of 2 pi/20000, and the map's Lipschitz constant is about the condition, 3.
        if (sqrt(off) > 1e-3 * sqrt(size)) {
            printf("case %d: %g %g %g, brute force %g %g %g\n", i, r[0], r[1], r[2], other[0],
                   other[1], other[2]);
        }
        assert_true(sqrt(off) <= 1e-3 * sqrt(size));
    }
    assert_true(slides > 10);
}

/// Largest approach that is left, over the largest velocity.
static double approach_left(const dense* d, const double* r)
{
    double u[MODEL_UNKNOWNS], closing = 0.0, largest = 0.0;
    dense_velocity(d, r, u);
    for (int i = 0; i < d->count * d->width; i++) {
        if (i % d->width == 0) closing = fmax(closing, -u[i]);
        largest = fmax(largest, fmax(fabs(u[i]), fabs(d->q[i])));
    }
    return closing / largest;
}

/// A ball between two walls that close in on it: no impulse stops both.
static void squeeze_problem(int width, dense* d)
{
    memset(d, 0, sizeof *d);
    d->width = width;
    d->count = 2;
    for (int i = 0; i < 2 * width; i++) {
        const int k = i % width;
        d->W[i][i] = k == 0 ? 1.0 : 3.5;
        if (k == 0) d->W[i][width - i] = -1.0;
    }
    for (int c = 0; c < 2; c++) d->mu[c] = 0.3, d->mu_r[c] = 0.1;
    d->q[0] = -1.0;
    d->q[width] = -0.5;
}

/// What has no solution is never called solved, however large impulses become. Of the squeezed ball
/// one wall or the other keeps at least half of 1.5, of 1 in the largest velocity; the contact that
/// nothing moves keeps all.
static void no_solution(void** state)
{
    (void)state;
    static dense d;
    static const char* const methods[] = {"auto", "sweeps", "fast", "stick", "newton"};
    for (int i = 0; i < 30; i++) {
        const int width = WIDTHS[i % 3];
        const bool squeezed = i < 15;
        double r[MODEL_UNKNOWNS] = {0.0};
        squeeze_problem(width, &d);
        if (!squeezed) memset(d.W, 0, sizeof d.W);
        reduced_result result = solve_by(methods[i % 5], &d, r);
        if (result.converged) printf("width %d: %s\n", width, result.story);
        assert_false(result.converged);
        assert_true(approach_left(&d, r) > 0.3);
        assert_true(result.velocity > 0.3);
        const bool hidden = result.error <= TOLERANCE && result.residual <= TOLERANCE;
        assert_int_equal(hidden, strstr(result.story, "there may be no solution") != NULL);
    }
}

/// "auto" solves every random problem, most of them with a singular W; its parts alone solve nearly
/// all, and none says that it did when it did not.
static void random_problems(void** state)
{
    (void)state;
    static const char* const methods[] = {"auto", "fast", "newton"};
    static dense d;
    const int problems = test_count(300, 30);
    int failures = 0;
    for (int i = 0; i < problems; i++) {
        rng g = rng_make(3, (uint64_t)i, 0);
        const int width = WIDTHS[i % 3], bodies = 1 + i % 7, count = 1 + i % 21;
        random_problem(&g, width, bodies, count, 0.5, &d);
        for (int m = 0; m < 3; m++) {
            double r[MODEL_UNKNOWNS] = {0.0};
            reduced_result result = solve_by(methods[m], &d, r);
            char what[40];
            snprintf(what, sizeof what, "random problem %d", i);
            if (m == 0 || result.converged) {
                check_solved(what, methods[m], &d, r, &result);
            } else {
                failures++;
            }
        }
    }
    check_below("share that a part alone does not solve", failures / (2.0 * problems), 0.04,
                "1.2 % of 1000 problems, and the least size of this test has 60 solves");
}

/// Four problems that do not know each other, their contacts dealt out in turn; contact e of
/// problem k is contact 4 e + k. The last one is only pulled apart, and the third is a million
/// times weaker.
static void deal_out(uint64_t seed, int width, dense* all)
{
    static dense one;
    memset(all, 0, sizeof *all);
    all->width = width;
    all->count = 4 * PART;
    for (int k = 0; k < 4; k++) {
        rng g = rng_make(10, seed, (uint64_t)k);
        random_problem(&g, width, 3, PART, 0.5, &one);
        for (int i = 0; i < PART * width; i++) {
            const int at = (4 * (i / width) + k) * width + i % width;
            all->q[at] = k == 2 ? 1e-6 * one.q[i] : one.q[i];
            if (k == 3 && i % width == 0) all->q[at] = fabs(one.q[i]);
            all->mu[at / width] = one.mu[i / width];
            all->mu_r[at / width] = one.mu_r[i / width];
            for (int j = 0; j < PART * width; j++) {
                all->W[at][(4 * (j / width) + k) * width + j % width] = one.W[i][j];
            }
        }
    }
}

/// What falls apart is solved part by part, and what is measured is the whole.
static void independent_parts(void** state)
{
    (void)state;
    static dense d;
    int dense_steps = 0;
    for (int i = 0; i < test_count(60, 12); i++) {
        double r[MODEL_UNKNOWNS], moved = 0.0;
        for (int k = 0; k < MODEL_UNKNOWNS; k++) r[k] = 0.01 * k; // a poor guess
        deal_out((uint64_t)i, WIDTHS[i % 3], &d);
        const reduced_result result = solve_by("auto", &d, r);
        check_solved("parts", "auto", &d, r, &result);
        assert_true(fabs(result.error / own_error(&d, r) - 1.0) < 1e-3 || result.error < 1e-13);
        assert_non_null(strstr(result.story, " independent parts, the longest, of "));
        assert_true(strtol(result.story, NULL, 10) >= 4);
        dense_steps += strstr(result.story, "dense steps") != NULL;
        for (int c = 3; c < d.count; c += 4) {
            for (int k = 0; k < d.width; k++) moved = fmax(moved, fabs(r[c * d.width + k]));
        }
        assert_true(moved == 0.0); // what nothing pushes
    }
    assert_true(dense_steps > 0);
}

/// Contact 0 five times over: their impulses are not unique, their sum is.
static void copies_share_the_load(void** state)
{
    (void)state;
    static dense one, many;
    for (int w = 0; w < 3; w++) {
        rng g = rng_make(4, (uint64_t)w, 0);
        const int width = WIDTHS[w];
        random_problem(&g, width, 1, 1, 0.3, &one);
        one.q[0] = -fabs(one.q[0]);
        many = one;
        many.count = 5;
        for (int c = 0; c < 5; c++) {
            many.mu[c] = one.mu[0];
            many.mu_r[c] = one.mu_r[0];
            for (int i = 0; i < width; i++) {
                many.q[c * width + i] = one.q[i];
                for (int k = 0; k < 5 * width; k++) {
                    many.W[c * width + i][k] = one.W[i][k % width];
                }
            }
        }
        double alone[5] = {0.0}, r[25] = {0.0};
        reduced_result result = solve_by("auto", &one, alone);
        check_solved("alone", "auto", &one, alone, &result);
        result = solve_by("auto", &many, r);
        check_solved("five copies", "auto", &many, r, &result);
        for (int k = 0; k < width; k++) {
            double sum = 0.0;
            for (int c = 0; c < 5; c++) sum += r[c * width + k];
            check_close("sum of the copies", sum, alone[k], 3e-7,
                        "the tolerance times the condition of the block, about 10, and sizes of 2");
        }
    }
}

/// Units: masses by 1e8, velocities by 1e-4; then contacts in units that differ by 1e8.
static void scales_do_not_matter(void** state)
{
    (void)state;
    static dense d, scaled;
    for (int i = 0; i < test_count(60, 12); i++) {
        rng g = rng_make(5, (uint64_t)i, 0);
        const int width = WIDTHS[i % 3], count = 6;
        random_problem(&g, width, 3, count, 0.5, &d);
        double r[MODEL_UNKNOWNS] = {0.0}, scaled_r[MODEL_UNKNOWNS] = {0.0};
        double unit[MODEL_CONTACTS];
        for (int c = 0; c < count; c++) unit[c] = i % 2 ? 1e-4 : log_uniform(&g, 1e-4, 1e4);
        scaled = d;
        for (int a = 0; a < width * count; a++) {
            scaled.q[a] *= unit[a / width];
            for (int b = 0; b < width * count; b++) {
                scaled.W[a][b] *= unit[a / width] * unit[b / width];
            }
        }
        reduced_result result = solve_by("auto", &d, r);
        check_solved("plain", "auto", &d, r, &result);
        for (int k = 0; k < width * count; k++) {
            scaled_r[k] = (r[k] + 0.1 * rng_normal(&g)) / unit[k / width];
            r[k] = scaled_r[k] * unit[k / width];
        }
        check_close("ratio of the residuals", own_residual(&scaled, scaled_r) / own_residual(&d, r),
                    1.0, 1e-9, "rounding: the residual has no unit");
        memset(scaled_r, 0, sizeof scaled_r);
        result = solve_by("auto", &scaled, scaled_r);
        check_solved("in other units", "auto", &scaled, scaled_r, &result);
    }
}

/// W from a program that is a little unsymmetric, like some of FCLIB.
static void a_little_unsymmetric(void** state)
{
    (void)state;
    static dense d;
    for (int i = 0; i < test_count(60, 12); i++) {
        rng g = rng_make(6, (uint64_t)i, 0);
        const int width = WIDTHS[i % 3], count = 8;
        random_problem(&g, width, 8, count, 0.4, &d);
        for (int a = 0; a < width * count; a++) {
            for (int b = 0; b < a; b++) d.W[a][b] *= 1.0 + 2e-3 * rng_normal(&g);
        }
        double r[MODEL_UNKNOWNS] = {0.0};
        reduced_result result = solve_by("auto", &d, r);
        check_solved("unsymmetric", "auto", &d, r, &result);
    }
}

/// A tower at rest is one linear system, and its load is that of the boxes above; pushed hard it
/// slides, which that system cannot tell.
static void towers(void** state)
{
    (void)state;
    static dense d;
    const int boxes = 8;
    double r[MODEL_UNKNOWNS] = {0.0};
    tower_problem(boxes, 0.5, 0.05, &d);
    reduced_result result = solve_by("auto", &d, r);
    check_solved("tower", "auto", &d, r, &result);
    assert_string_equal(result.method, "stick");
    for (int b = 0; b < boxes; b++) {
        double normal = 0.0, along = 0.0;
        for (int c = 4 * b; c < 4 * b + 4; c++) normal += r[3 * c], along += r[3 * c + 1];
        check_close("load of a joint", normal, boxes - b, 1e-6,
                    "the tolerance times the 64 of a tower of 8: force error over residual");
        check_close("its shear", along, -0.05 * (boxes - b), 1e-6, "the same");
    }
    memset(r, 0, sizeof r);
    tower_problem(boxes, 0.3, 0.5, &d);
    result = solve_by("stick", &d, r);
    assert_false(result.converged);
    memset(r, 0, sizeof r);
    result = solve_by("auto", &d, r);
    check_solved("tower that slides", "auto", &d, r, &result);
    assert_string_not_equal(result.method, "stick");
}

/// A block of W that is zero has a counterpart that is not: the pattern is not symmetric.
static void unsymmetric_pattern(void** state)
{
    (void)state;
    static dense d;
    for (int i = 0; i < 12; i++) {
        rng g = rng_make(9, (uint64_t)i, 0);
        const int width = WIDTHS[i % 3], count = 10;
        random_problem(&g, width, 9, count, 0.3, &d);
        for (int a = 0; a < width * count; a++) {
            for (int b = 0; b < width * count; b++) {
                int c = a / width, e = b / width;
                if (c != e) d.W[a][b] *= c < e && (c + e) % 3 == 0 ? 0.0 : 0.2;
            }
        }
        double r[MODEL_UNKNOWNS] = {0.0};
        reduced_result result = solve_by("newton", &d, r);
        check_solved("unsymmetric pattern", "newton", &d, r, &result);
    }
}

static void same_bits_and_warm_starts(void** state)
{
    (void)state;
    static dense d;
    rng g = rng_make(7, 0, 0);
    random_problem(&g, 3, 6, 20, 0.5, &d);
    double r[MODEL_UNKNOWNS] = {0.0}, again[MODEL_UNKNOWNS] = {0.0};
    reduced_result result = solve_by("auto", &d, r);
    assert_true(result.converged && result.iterations > 0);
    result = solve_by("auto", &d, again);
    assert_memory_equal(r, again, sizeof r);
    result = solve_by("auto", &d, again);
    assert_true(result.converged);
    assert_int_equal(result.iterations, 0);
    assert_memory_equal(r, again, sizeof r);
}

static void odd_requests(void** state)
{
    (void)state;
    static dense d;
    rng g = rng_make(8, 0, 0);
    random_problem(&g, 2, 2, 6, 0.5, &d);
    reduced_problem p = reduced_of_dense(&d);
    double r[MODEL_UNKNOWNS] = {0.0};
    reduced_result result;
    reduced_options o = {.tolerance = TOLERANCE, .max_sweeps = 100, .method = "magic"};
    assert_int_equal(reduced_solve(&p, &o, r, &result), TALUS_ERR_ARGUMENT);
    o.method = "fast";
    o.max_sweeps = 1;
    assert_int_equal(reduced_solve(&p, &o, r, &result), TALUS_OK);
    assert_false(result.converged);
    assert_int_equal(result.iterations, 1);
    check_close("error that is told", result.error, own_error(&d, r), 1e-12, "rounding");
    check_close("residual that is told", result.residual, own_residual(&d, r), 1e-12, "rounding");
    p.q[3] = NAN;
    for (const char* const* m = reduced_methods(); *m; m++) {
        o.method = *m;
        memset(r, 0, sizeof r);
        assert_int_equal(reduced_solve(&p, &o, r, &result), TALUS_OK);
        assert_false(result.converged);
    }
    p.block[0] = NAN;
    o.method = "auto";
    assert_int_equal(reduced_solve(&p, &o, r, &result), TALUS_OK);
    assert_false(result.converged);
    reduced_free(&p);
    reduced_problem none = {.width = 3, .first = (int64_t[]){0}};
    o.method = NULL;
    assert_int_equal(reduced_solve(&none, &o, r, &result), TALUS_OK);
    assert_true(result.converged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_follow_their_formulas),
        cmocka_unit_test(block_on_a_slope),
        cmocka_unit_test(one_contact_as_brute_force_finds_it),
        cmocka_unit_test(no_solution),
        cmocka_unit_test(random_problems),
        cmocka_unit_test(independent_parts),
        cmocka_unit_test(copies_share_the_load),
        cmocka_unit_test(scales_do_not_matter),
        cmocka_unit_test(a_little_unsymmetric),
        cmocka_unit_test(towers),
        cmocka_unit_test(unsymmetric_pattern),
        cmocka_unit_test(same_bits_and_warm_starts),
        cmocka_unit_test(odd_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
