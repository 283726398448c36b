/// src/engine/base: columns, random numbers, vectors and quaternions, hash, error texts, log,
/// version.
///
/// The random streams are checked against published outputs of the algorithms and against the
/// moments of the distributions; rotations against Rodrigues' formula.
#include "support.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/columns.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/vec.h"

#include <float.h>
#include <string.h>

// ---- arrays ------------------------------------------------------------------------------------

static void test_arrays_grow_and_keep(void** state)
{
    (void)state;
    int64_t capacity = 0;
    int32_t* id = NULL;
    double* x = NULL;
    for (int64_t i = 0; i < 1000; i++) {
        assert_true(arrays_grow(&capacity, i + 1, ARRAY(id), ROWS(x, 3)));
        assert_true(capacity > i);
        id[i] = (int32_t)i;
        for (int k = 0; k < 3; k++) x[3 * i + k] = (double)(3 * i + k);
    }
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(id[i], i);
        assert_true(x[3 * i + 2] == (double)(3 * i + 2));
    }
    // More than there can be: refused, and nothing is lost.
    const int64_t before = capacity;
    assert_false(arrays_grow(&capacity, INT64_MAX / 16, ARRAY(id), ROWS(x, 3)));
    assert_false(arrays_grow(&capacity, INT64_MAX, ARRAY(id)));
    assert_int_equal(capacity, before);
    assert_int_equal(id[999], 999);
    free(id);
    free(x);
}

static void test_arrays_renew(void** state)
{
    (void)state;
    int64_t capacity = 0;
    double *x = NULL, *y = NULL;
    assert_true(arrays_renew(&capacity, 0, ARRAY(x), ARRAY(y)));
    assert_null(x);
    assert_true(arrays_renew(&capacity, 100, ARRAY(x), ARRAY(y)));
    assert_int_equal((uintptr_t)x % ARRAY_ALIGNMENT, 0);
    assert_int_equal((uintptr_t)y % ARRAY_ALIGNMENT, 0);
    assert_true(capacity >= 100);
    const double* kept = x;
    assert_true(arrays_renew(&capacity, 50, ARRAY(x), ARRAY(y)));
    assert_ptr_equal(x, kept);
    assert_false(arrays_renew(&capacity, INT64_MAX / 4, ARRAY(x), ARRAY(y)));
    assert_int_equal(capacity, 0);
    assert_null(x);
    assert_null(y);
}

// ---- columns -----------------------------------------------------------------------------------

typedef struct sample {
    int64_t count, capacity;
    double* position;
    int64_t* id;
    int32_t* tag;
    uint8_t* flag;
} sample;

static const column sample_columns[] = {
    {"position", offsetof(sample, position), COLUMN_F64, WIDTH_DIM, COLUMN_FRAME, "m", ""},
    {"id", offsetof(sample, id), COLUMN_I64, WIDTH_1, COLUMN_STATE, "", ""},
    {"tag", offsetof(sample, tag), COLUMN_I32, WIDTH_SPIN, 0, "", ""},
    {"flag", offsetof(sample, flag), COLUMN_U8, WIDTH_ROTATION, 0, "", ""},
};
enum { SAMPLE_COLUMNS = sizeof sample_columns / sizeof sample_columns[0] };

static void test_column_widths(void** state)
{
    (void)state;
    const int planar[] = {1, 2, 1, 1, 3, 4}, spatial[] = {1, 3, 3, 4, 3, 4};
    for (int w = WIDTH_1; w <= WIDTH_4; w++) {
        column col = {.width = (column_width)w};
        assert_int_equal(column_row_width(&col, 2), planar[w]);
        assert_int_equal(column_row_width(&col, 3), spatial[w]);
    }
    const size_t sizes[] = {8, 8, 4, 1};
    for (int t = COLUMN_F64; t <= COLUMN_U8; t++) {
        column col = {.type = (column_type)t};
        assert_int_equal(column_element_size(&col), sizes[t]);
    }
}

/// Rows whose every element tells its row, its column and its place in the row.
static void sample_fill(sample* s, int dim, int64_t first, int64_t last)
{
    const int spin = spin_width(dim), rotation = dim == 2 ? 1 : 4;
    for (int64_t i = first; i < last; i++) {
        for (int k = 0; k < dim; k++) s->position[i * dim + k] = (double)i + 0.25 * k;
        s->id[i] = 1000 + i;
        for (int k = 0; k < spin; k++) s->tag[i * spin + k] = (int32_t)(10 * i + k);
        for (int k = 0; k < rotation; k++) s->flag[i * rotation + k] = (uint8_t)(7 * i + k);
    }
}

static void sample_expect_row(const sample* s, int dim, int64_t row, int64_t original)
{
    const int spin = spin_width(dim), rotation = dim == 2 ? 1 : 4;
    for (int k = 0; k < dim; k++)
        assert_true(s->position[row * dim + k] == (double)original + 0.25 * k);
    assert_int_equal(s->id[row], 1000 + original);
    for (int k = 0; k < spin; k++) assert_int_equal(s->tag[row * spin + k], 10 * original + k);
    for (int k = 0; k < rotation; k++)
        assert_int_equal(s->flag[row * rotation + k], (uint8_t)(7 * original + k));
}

static void test_columns_grow_and_keep(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        sample s = {0};
        int64_t filled = 0, growths = 0;
        for (int64_t needed = 1; needed <= 500; needed++) {
            int64_t before = s.capacity;
            assert_int_equal(
                columns_reserve(&s, sample_columns, SAMPLE_COLUMNS, dim, needed, &s.capacity),
                TALUS_OK);
            assert_true(s.capacity >= needed && s.capacity >= before);
            if (s.capacity != before) {
                growths++;
                for (int64_t i = before; i < s.capacity; i++) assert_int_equal(s.id[i], 0);
            }
            sample_fill(&s, dim, filled, needed);
            filled = needed;
        }
        for (int64_t i = 0; i < filled; i++) sample_expect_row(&s, dim, i, i);
        // 16 rows grown by one half reach 500 in 9 more steps; growing row by row would take 500.
        assert_true(growths <= 10);
        assert_ptr_equal(column_data(&sample_columns[1], &s), s.id);
        columns_free(&s, sample_columns, SAMPLE_COLUMNS);
        assert_null(s.position);
        assert_null(s.flag);
    }
}

static void test_columns_compact(void** state)
{
    (void)state;
    enum { ROWS = 200 };
    for (int dim = 2; dim <= 3; dim++) {
        for (uint64_t trial = 0; trial < 20; trial++) {
            sample s = {0};
            assert_int_equal(
                columns_reserve(&s, sample_columns, SAMPLE_COLUMNS, dim, ROWS, &s.capacity),
                TALUS_OK);
            sample_fill(&s, dim, 0, ROWS);
            uint8_t keep[ROWS];
            int64_t expected[ROWS], expected_count = 0;
            rng r = rng_make(5, trial, (uint64_t)dim);
            // Trial 0 keeps nothing and trial 19 everything.
            for (int i = 0; i < ROWS; i++) {
                keep[i] = rng_below(&r, 19) < trial;
                if (keep[i]) expected[expected_count++] = i;
            }
            int64_t kept = columns_compact(&s, sample_columns, SAMPLE_COLUMNS, dim, ROWS, keep);
            assert_int_equal(kept, expected_count);
            for (int64_t i = 0; i < kept; i++) sample_expect_row(&s, dim, i, expected[i]);
            columns_free(&s, sample_columns, SAMPLE_COLUMNS);
        }
    }
}

static void test_columns_out_of_memory(void** state)
{
    (void)state;
    sample s = {0};
    assert_int_equal(columns_reserve(&s, sample_columns, SAMPLE_COLUMNS, 3, 20, &s.capacity),
                     TALUS_OK);
    sample_fill(&s, 3, 0, 20);
    // 2^55 rows are 2^59 bytes and more, beyond any address space of today.
    int64_t capacity = s.capacity;
    assert_int_equal(
        columns_reserve(&s, sample_columns, SAMPLE_COLUMNS, 3, (int64_t)1 << 55, &s.capacity),
        TALUS_ERR_MEMORY);
    assert_int_equal(s.capacity, capacity);
    for (int64_t i = 0; i < 20; i++) sample_expect_row(&s, 3, i, i);
    columns_free(&s, sample_columns, SAMPLE_COLUMNS);
}

// ---- random numbers ----------------------------------------------------------------------------

static void test_rng_known_values(void** state)
{
    (void)state;
    // splitmix64 from state 0: first outputs as in the reference implementation of Vigna.
    uint64_t mix = 0;
    assert_true(rng_mix(&mix) == 0xe220a8397b1dcdafu);
    assert_true(rng_mix(&mix) == 0x6e789e6aa1b965f4u);
    // xoshiro256** from state {1, 2, 3, 4}: outputs published with Rust's rand_xoshiro.
    rng r = {{1, 2, 3, 4}};
    const uint64_t expected[] = {11520u, 0u, 1509978240u, 1215971899390074240u};
    for (int i = 0; i < 4; i++) assert_true(rng_next(&r) == expected[i]);
}

static void test_rng_keys(void** state)
{
    (void)state;
    // The same key gives the same stream; a change in any part of the key gives another.
    rng a = rng_make(1, 2, 3), again = rng_make(1, 2, 3);
    assert_memory_equal(&a, &again, sizeof a);
    rng others[] = {rng_make(2, 2, 3), rng_make(1, 3, 3), rng_make(1, 2, 4), rng_make(1, 3, 2)};
    uint64_t first = rng_next(&a);
    for (int i = 0; i < 4; i++) assert_true(rng_next(&others[i]) != first);
}

static void test_rng_moments(void** state)
{
    (void)state;
    enum { DRAWS = 1000000, BINS = 10 };
    rng r = rng_make(42, 0, 0);
    double sum = 0, squares = 0, low = 1, high = 0;
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_uniform(&r);
        low = fmin(low, u), high = fmax(high, u);
        sum += u, squares += u * u;
    }
    assert_true(low >= 0.0 && high < 1.0);
    const char* five = "five standard deviations of the estimate from 1e6 draws, seed fixed";
    check_close("mean of uniform", sum / DRAWS, 0.5, 5 * sqrt(1.0 / 12 / DRAWS), five);
    check_close("mean square of uniform", squares / DRAWS, 1.0 / 3, 5 * sqrt(4.0 / 45 / DRAWS),
                five);

    int64_t bins[BINS] = {0};
    for (int i = 0; i < DRAWS; i++) bins[rng_below(&r, BINS)]++;
    double share = 1.0 / BINS, deviation = sqrt(share * (1 - share) / DRAWS);
    for (int b = 0; b < BINS; b++)
        check_close("share of an integer", (double)bins[b] / DRAWS, share, 5 * deviation, five);

    double moments[5] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double x = rng_normal(&r), power = 1.0;
        assert_true(isfinite(x));
        for (int k = 1; k <= 4; k++) moments[k] += (power *= x) / DRAWS;
    }
    // Variances of x, x^2, x^3, x^4 for the normal distribution: 1, 2, 15, 96.
    const double expected[] = {0, 0, 1, 0, 3}, variance[] = {0, 1, 2, 15, 96};
    for (int k = 1; k <= 4; k++)
        check_close("moment of normal", moments[k], expected[k], 5 * sqrt(variance[k] / DRAWS),
                    five);
}

// ---- vectors and quaternions -------------------------------------------------------------------

static void random_vector(rng* r, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = 2.0 * rng_uniform(r) - 1.0;
}

static void test_vectors(void** state)
{
    (void)state;
    double a[3] = {1, 2, 3}, b[3] = {-4, 5, 0.5}, out[3];
    assert_true(vec_dot(2, a, b) == 6.0);
    assert_true(vec_dot(3, a, b) == 7.5);
    assert_true(vec_norm(2, (double[2]){3, 4}) == 5.0);
    vec_sub(3, out, a, b);
    assert_true(out[0] == 5 && out[1] == -3 && out[2] == 2.5);
    vec_add_scaled(3, out, 2.0, a);
    assert_true(out[0] == 7 && out[1] == 1 && out[2] == 8.5);
    vec_copy(3, out, b);
    assert_memory_equal(out, b, sizeof b);
    vec_cross(out, a, b);
    assert_true(out[0] == 1 - 15 && out[1] == -12 - 0.5 && out[2] == 5 + 8);
}

/// v rotated by |r| about r, from Rodrigues' formula v cos a + (e x v) sin a + e (e.v)(1 - cos a).
static void rodrigues(double out[3], const double r[3], const double v[3])
{
    double angle = vec_norm(3, r), e[3] = {0}, cross[3];
    for (int k = 0; k < 3 && angle > 0; k++) e[k] = r[k] / angle;
    vec_cross(cross, e, v);
    for (int k = 0; k < 3; k++)
        out[k] =
            v[k] * cos(angle) + cross[k] * sin(angle) + e[k] * vec_dot(3, e, v) * (1 - cos(angle));
}

static double distance(const double a[3], const double b[3])
{
    double d[3];
    vec_sub(3, d, a, b);
    return vec_norm(3, d);
}

static const char* roundoff = "some tens of roundings of numbers of order 1";
static const double tens_of_roundings = 50 * DBL_EPSILON;

static void test_quaternion_rotation(void** state)
{
    (void)state;
    rng r = rng_make(7, 0, 0);
    double worst = 0, worst_back = 0;
    for (int i = 0; i < 1000; i++) {
        double turn[3], v[3], q[4], rotated[3], expected[3];
        random_vector(&r, turn);
        random_vector(&r, v);
        // Angles from 1e-12 to about 5: the branch for tiny angles is taken too.
        double scale = pow(10.0, -12.0 + 12.5 * rng_uniform(&r));
        for (int k = 0; k < 3; k++) turn[k] *= scale;
        quat_from_rotation(q, turn);
        quat_rotate(rotated, q, v);
        rodrigues(expected, turn, v);
        worst = fmax(worst, distance(rotated, expected));
        quat_rotate_back(rotated, q, rotated);
        worst_back = fmax(worst_back, distance(rotated, v));
    }
    check_below("quaternion against Rodrigues", worst, tens_of_roundings, roundoff);
    check_below("there and back again", worst_back, tens_of_roundings, roundoff);
    double none[3] = {0}, q[4];
    quat_from_rotation(q, none);
    assert_true(q[0] == 1 && q[1] == 0 && q[2] == 0 && q[3] == 0);
}

static void test_quaternion_product(void** state)
{
    (void)state;
    rng r = rng_make(8, 0, 0);
    double worst = 0;
    for (int i = 0; i < 1000; i++) {
        double turn_a[3], turn_b[3], v[3], a[4], b[4], ab[4], step[3], expected[3], got[3];
        random_vector(&r, turn_a);
        random_vector(&r, turn_b);
        random_vector(&r, v);
        quat_from_rotation(a, turn_a);
        quat_from_rotation(b, turn_b);
        rodrigues(step, turn_b, v);
        rodrigues(expected, turn_a, step);
        quat_multiply(ab, a, b);
        quat_rotate(got, ab, v);
        worst = fmax(worst, distance(got, expected));
        quat_multiply(a, a, b); // in place
        assert_memory_equal(a, ab, sizeof ab);
    }
    check_below("product is first b, then a", worst, tens_of_roundings, roundoff);
    double q[4] = {3, -1, 2, 0.5};
    quat_normalise(q);
    check_close("length of a normalised quaternion", vec_norm(4, q), 1.0, 4 * DBL_EPSILON,
                "a square root, a division and a few products");
    check_close("its direction", q[1] / q[0], -1.0 / 3, DBL_EPSILON, "two products and a quotient");
}

// ---- hash, errors, log, version ----------------------------------------------------------------

static void test_hash(void** state)
{
    (void)state;
    // Test vectors of the authors of FNV-1a.
    assert_true(hash_bytes(HASH_START, "", 0) == 0xcbf29ce484222325u);
    assert_true(hash_bytes(HASH_START, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(hash_bytes(HASH_START, "foobar", 6) == 0x85944171f73967e8u);
    uint64_t parts = hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3);
    assert_true(parts == hash_bytes(HASH_START, "foobar", 6));
}

static talus_status passes_on(talus_status status, bool* reached)
{
    TRY(status);
    *reached = true;
    return TALUS_OK;
}

static void test_errors(void** state)
{
    (void)state;
    talus_error error;
    assert_int_equal(error_set(&error, TALUS_ERR_IO, "cannot open %s: %d", "x", 7), TALUS_ERR_IO);
    assert_int_equal(error.status, TALUS_ERR_IO);
    assert_string_equal(error.text, "cannot open x: 7");
    assert_int_equal(error_set(NULL, TALUS_ERR_STATE, "nobody listens"), TALUS_ERR_STATE);
    assert_int_equal(error_memory(&error, "growing grains"), TALUS_ERR_MEMORY);
    assert_non_null(strstr(error.text, "growing grains"));

    char long_text[2 * sizeof error.text];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    error_set(&error, TALUS_ERR_IO, "%s", long_text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);

    bool reached = false;
    assert_int_equal(passes_on(TALUS_ERR_FORMAT, &reached), TALUS_ERR_FORMAT);
    assert_false(reached);
    assert_int_equal(passes_on(TALUS_OK, &reached), TALUS_OK);
    assert_true(reached);
}

static void test_status_names(void** state)
{
    (void)state;
    assert_string_equal(talus_status_name(TALUS_OK), "TALUS_OK");
    assert_string_equal(talus_status_name(TALUS_ERR_SCENE), "TALUS_ERR_SCENE");
    for (int s = TALUS_ERR_DEVICE; s <= TALUS_INTERRUPTED; s++)
        assert_memory_equal(talus_status_name((talus_status)s), "TALUS_", 6);
}

static void remember(void* user, talus_log_level level, const char* text)
{
    snprintf(user, 64, "%d %s", (int)level, text);
}

static void test_log(void** state)
{
    (void)state;
    char seen[64] = "";
    log_sink sink = {remember, seen}, silent = {0};
    log_write(&sink, TALUS_LOG_WARNING, "grain %d escaped", 3);
    assert_string_equal(seen, "1 grain 3 escaped");
    log_write(&silent, TALUS_LOG_INFO, "nobody listens");
    assert_string_equal(seen, "1 grain 3 escaped");
}

static void test_clock(void** state)
{
    (void)state;
    double start = clock_seconds(), now = start;
    for (int i = 0; i < 100000000 && now == start; i++) now = clock_seconds();
    assert_true(now > start);
}

static void test_version(void** state)
{
    (void)state;
    int major, minor, patch;
    char rest;
    assert_int_equal(sscanf(talus_version(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
    // "unknown" or 40 hexadecimal digits, with "-dirty" for a changed tree.
    const char* revision = talus_revision();
    if (strcmp(revision, "unknown") != 0) {
        assert_int_equal(strspn(revision, "0123456789abcdef"), 40);
        assert_true(revision[40] == 0 || strcmp(revision + 40, "-dirty") == 0);
    }
#if defined(__clang__)
    assert_memory_equal(talus_compiler(), "clang ", 6);
#else
    assert_memory_equal(talus_compiler(), "gcc ", 4);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_grow_and_keep),
        cmocka_unit_test(test_arrays_renew),
        cmocka_unit_test(test_column_widths),
        cmocka_unit_test(test_columns_grow_and_keep),
        cmocka_unit_test(test_columns_compact),
        cmocka_unit_test(test_columns_out_of_memory),
        cmocka_unit_test(test_rng_known_values),
        cmocka_unit_test(test_rng_keys),
        cmocka_unit_test(test_rng_moments),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_quaternion_rotation),
        cmocka_unit_test(test_quaternion_product),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
