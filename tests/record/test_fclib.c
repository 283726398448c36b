/// Contact problems in the layout of FCLIB: what is written is read again, all ways of storing a
/// matrix give the same problem, condensing agrees with dense matrices, a full disk and damaged
/// bytes do no harm.
#include "random.h"
#include "record/fclib.h"
#include "record/files.h"
#include "record/h5.h"
#include "support.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// A path in the folder of temporary files that nobody else has.
static void temporary(char path[128])
{
    snprintf(path, 128, "/tmp/talus-fclib-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
}

static void stored(const char* name, char path[1024])
{
    const char* source = getenv("TALUS_SOURCE");
    snprintf(path, 1024, "%s/tests/data/fclib/%s", source ? source : ".", name);
}

/// A random problem: every contact coupled with itself and some others.
static reduced_problem random_problem(rng* g, int width, int64_t count)
{
    reduced_problem p = {.width = width, .count = count};
    const size_t most = (size_t)(count * count), entries = most * (size_t)(width * width);
    p.first = calloc((size_t)count + 1, sizeof *p.first);
    p.column = calloc(most + 1, sizeof *p.column);
    p.block = calloc(entries + 1, sizeof *p.block);
    p.q = calloc((size_t)(count * width) + 1, sizeof *p.q);
    p.mu = calloc((size_t)count + 1, sizeof *p.mu);
    if (width == 5) p.mu_r = calloc((size_t)count + 1, sizeof *p.mu_r);
    int64_t used = 0;
    for (int32_t c = 0; c < count; c++) {
        for (int32_t d = 0; d < count; d++) {
            if (c != d && rng_uniform(g) < 0.5) continue;
            for (int k = 0; k < width * width; k++) {
                p.block[used * width * width + k] = uniform(g, -1, 1);
            }
            p.column[used++] = d;
        }
        p.first[c + 1] = used;
        p.mu[c] = rng_uniform(g);
        if (width == 5) p.mu_r[c] = rng_uniform(g);
    }
    for (int64_t i = 0; i < count * width; i++) p.q[i] = uniform(g, -1, 1);
    return p;
}

static void assert_same(const reduced_problem* a, const reduced_problem* b)
{
    const size_t size = (size_t)(a->count * a->width);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->first, b->first, ((size_t)a->count + 1) * sizeof *a->first);
    const size_t blocks = (size_t)a->first[a->count];
    assert_memory_equal(a->column, b->column, blocks * sizeof *a->column);
    assert_memory_equal(a->block, b->block,
                        blocks * (size_t)(a->width * a->width) * sizeof *a->block);
    assert_memory_equal(a->q, b->q, size * sizeof *a->q);
    assert_memory_equal(a->mu, b->mu, (size_t)a->count * sizeof *a->mu);
    if (a->width == 5) assert_memory_equal(a->mu_r, b->mu_r, (size_t)a->count * sizeof *a->mu_r);
}

static const fclib_info words = {"a title", "a description\nof two lines", ""};

static void test_round_trip(void** state)
{
    (void)state;
    talus_error error = {0};
    char path[128];
    temporary(path);
    rng g = rng_make(1, 2, 3);
    const int widths[] = {2, 3, 5};
    for (int k = 0; k < 12; k++) {
        reduced_problem p = random_problem(&g, widths[k % 3], k / 3 * 7);
        fclib_problem again;
        check_ok(fclib_write_problem(path, &p, &words, &error), error);
        check_ok(fclib_read(path, &again, &error), error);
        assert_false(again.global);
        assert_int_equal(again.rolling, p.width == 5);
        assert_same(&p, &again.reduced);
        // What is there is never overwritten.
        assert_int_equal(fclib_write_problem(path, &p, &words, &error), TALUS_ERR_EXISTS);
        fclib_free(&again);
        reduced_free(&p);
        unlink(path);
    }
}

// ---- ways of storing ---------------------------------------------------------------------------

/// A dense matrix [m][n] as one of the three ways, with every entry in two halves if `twice`.
static void put_matrix(hid_t file, const char* name, int m, int n, const double* dense, int way,
                       bool twice)
{
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool by_rows = way == -2;
    int32_t used = 0, *p = calloc((size_t)(2 * m * n + m + n + 2), sizeof *p);
    int32_t* i = calloc((size_t)(2 * m * n + 1), sizeof *i);
    double* x = calloc((size_t)(2 * m * n + 1), sizeof *x);
    const int majors = by_rows ? m : n, minors = by_rows ? n : m;
    for (int a = 0; a < majors; a++) {
        for (int b = minors - 1; b >= 0; b--) { // not in order, as nobody promises
            double value = by_rows ? dense[a * n + b] : dense[b * n + a];
            for (int part = 0; value != 0.0 && part < (twice ? 2 : 1); part++) {
                if (way >= 0) p[used] = a;
                i[used] = b;
                x[used++] = twice ? 0.5 * value : value;
            }
        }
        if (way < 0) p[a + 1] = used;
    }
    const int32_t scalars[] = {m, n, way >= 0 ? used : way, used + 5};
    const char* const names[] = {"m", "n", "nz", "nzmax"};
    for (int k = 0; k < 4; k++) {
        assert_true(h5_write(group, names[k], COLUMN_I32, 1, 1, &scalars[k], false));
    }
    assert_true(h5_write(group, "p", COLUMN_I32, way >= 0 ? used : majors + 1, 1, p, false));
    assert_true(h5_write(group, "i", COLUMN_I32, used, 1, i, false));
    assert_true(h5_write(group, "x", COLUMN_F64, used, 1, x, false));
    H5Gclose(group);
    free(p);
    free(i);
    free(x);
}

static hid_t begin_file(const char* path, const char* group_name, int spacedim, hid_t* group)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    *group = H5Gcreate2(file, group_name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const int32_t dim = spacedim;
    assert_true(h5_write(*group, "spacedim", COLUMN_I32, 1, 1, &dim, false));
    H5Gclose(H5Gcreate2(*group, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return file;
}

static void test_storage(void** state)
{
    (void)state;
    talus_error error = {0};
    char path[128];
    temporary(path);
    rng g = rng_make(4, 5, 6);
    const int size = 12;
    double dense[12 * 12], q[12], mu[4];
    for (int k = 0; k < size * size; k++) dense[k] = rng_uniform(&g) < 0.4 ? uniform(&g, -1, 1) : 0;
    for (int k = 0; k < size; k++) q[k] = uniform(&g, -1, 1);
    for (int k = 0; k < 4; k++) mu[k] = rng_uniform(&g);
    const int ways[] = {0, -1, -2};
    for (int k = 0; k < 6; k++) {
        hid_t group, file = begin_file(path, "fclib_local", 3, &group);
        put_matrix(group, "W", size, size, dense, ways[k % 3], k >= 3);
        assert_true(h5_write(group, "vectors/q", COLUMN_F64, size, 1, q, false));
        assert_true(h5_write(group, "vectors/mu", COLUMN_F64, 4, 1, mu, false));
        H5Gclose(group);
        H5Fclose(file);
        fclib_problem p;
        check_ok(fclib_read(path, &p, &error), error);
        double seen[12 * 12] = {0};
        for (int64_t c = 0; c < p.reduced.count; c++) {
            bool diagonal = false;
            for (int64_t b = p.reduced.first[c]; b < p.reduced.first[c + 1]; b++) {
                diagonal |= p.reduced.column[b] == c;
                assert_true(b == p.reduced.first[c] ||
                            p.reduced.column[b - 1] < p.reduced.column[b]);
                for (int e = 0; e < 9; e++) {
                    seen[(c * 3 + e / 3) * size + p.reduced.column[b] * 3 + e % 3] =
                        p.reduced.block[b * 9 + e];
                }
            }
            assert_true(diagonal);
        }
        assert_memory_equal(seen, dense, sizeof dense); // two halves add up to the last bit
        fclib_free(&p);
    }
    unlink(path);
}

// ---- condensing --------------------------------------------------------------------------------

/// Solve A X = B by elimination with row exchanges; A [n][n] and B [n][m] are overwritten.
static void dense_solve(double* a, double* b, int n, int m)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++) {
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        }
        for (int j = 0; j < n + m; j++) {
            double* x = j < n ? &a[k * n + j] : &b[k * m + j - n];
            double *y = j < n ? &a[best * n + j] : &b[best * m + j - n], swap = *x;
            *x = *y;
            *y = swap;
        }
        for (int i = 0; i < n; i++) {
            double s = i == k ? 0 : a[i * n + k] / a[k * n + k];
            for (int j = 0; s != 0 && j < n; j++) a[i * n + j] -= s * a[k * n + j];
            for (int j = 0; s != 0 && j < m; j++) b[i * m + j] -= s * b[k * m + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) b[i * m + j] /= a[i * n + i];
    }
}

/// M of bodies of 1, 2, 6 and `large` degrees of freedom, mixed up, unsymmetric, and with zeros on
/// the diagonal, so that rows must be exchanged.
static void fill_mass(rng* g, double* m, int n, int large)
{
    int* order = calloc((size_t)n, sizeof *order);
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(rng_uniform(g) * (i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    const int sizes[] = {1, 2, 6};
    int start = 0;
    for (int body = 0; start < n; body++) {
        int size = body == 0 ? large : sizes[body % 3];
        if (size > n - start) size = n - start;
        for (int i = 0; i < size; i++) {
            // The next one of a ring holds each row: regular, nothing on the diagonal.
            m[order[start + i] * n + order[start + (i + 1) % size]] += 4;
            for (int k = 0; size > 1 && k < 2; k++) {
                int j = (int)(rng_uniform(g) * size);
                if (j != i) m[order[start + i] * n + order[start + j]] += uniform(g, -1, 1);
            }
        }
        start += size;
    }
    free(order);
}

/// Condense a random global problem and compare with dense matrices.
static void check_condensing(rng* g, int n, int large, int width, int contacts)
{
    const int size = contacts * width;
    talus_error error = {0};
    char path[128];
    temporary(path);
    double* m = calloc((size_t)(n * n), sizeof *m);
    double* h = calloc((size_t)(n * size), sizeof *h);
    double* x = calloc((size_t)(n * (size + 1)), sizeof *x); // M^-1 of H and f
    double *f = calloc((size_t)n, sizeof *f), *w = calloc((size_t)size, sizeof *w);
    double* mu = calloc((size_t)contacts, sizeof *mu);
    fill_mass(g, m, n, large);
    for (int i = 0; i < n; i++) f[i] = uniform(g, -1, 1);
    for (int j = 0; j < size; j++) w[j] = uniform(g, -1, 1);
    for (int j = 0; j < contacts * 6; j++) { // a contact touches six degrees of freedom
        int i = (int)(rng_uniform(g) * n);
        for (int d = 0; d < width; d++) h[i * size + j / 6 * width + d] = uniform(g, -1, 1);
    }
    hid_t group, file = begin_file(path, width == 5 ? "fclib_global_rolling" : "fclib_global",
                                   width, &group);
    put_matrix(group, "M", n, n, m, 0, false);
    put_matrix(group, "H", n, size, h, -1, false);
    assert_true(h5_write(group, "vectors/f", COLUMN_F64, n, 1, f, false));
    assert_true(h5_write(group, "vectors/w", COLUMN_F64, size, 1, w, false));
    assert_true(h5_write(group, "vectors/mu", COLUMN_F64, contacts, 1, mu, false));
    if (width == 5)
        assert_true(h5_write(group, "vectors/mu_r", COLUMN_F64, contacts, 1, mu, false));
    H5Gclose(group);
    H5Fclose(file);
    fclib_problem p;
    check_ok(fclib_read(path, &p, &error), error);
    check_ok(fclib_condense(&p, &error), error); // once more: the same
    assert_int_equal(p.dofs, n);

    for (int i = 0; i < n; i++) {
        memcpy(x + i * (size + 1), h + i * size, (size_t)size * sizeof *x);
        x[i * (size + 1) + size] = f[i];
    }
    dense_solve(m, x, n, size + 1);
    double worst = 0, largest = 0;
    for (int a = 0; a < size; a++) {
        // u of the impulse e_b is W e_b + q: asks for every entry of W, also those not stored.
        for (int b = -1; b < size; b++) {
            double expected = w[a], found;
            for (int i = 0; i < n; i++) {
                double of_b = b < 0 ? 0 : x[i * (size + 1) + b];
                expected += h[i * size + a] * (x[i * (size + 1) + size] + of_b);
            }
            double* r = calloc((size_t)size, sizeof *r);
            double* u = calloc((size_t)size, sizeof *u);
            if (b >= 0) r[b] = 1;
            reduced_velocity(&p.reduced, r, u);
            found = u[a];
            worst = fmax(worst, fabs(found - expected));
            largest = fmax(largest, fabs(expected));
            free(r);
            free(u);
        }
    }
    // Every row is dominated by its entry 4 against at most 2, so that the condition number is at
    // most 6/2; a pivot may be a tenth of the largest entry.
    check_below("condensed against dense", worst / largest, 1.3e-12,
                "rounding of elimination: n eps cond growth = 200 * 2.2e-16 * 3 * 10");

    double* r = calloc((size_t)size, sizeof *r);
    double* u = calloc((size_t)size, sizeof *u);
    double* v = calloc((size_t)n, sizeof *v);
    double *direct = calloc((size_t)size, sizeof *direct), bad, good;
    for (int j = 0; j < size; j++) r[j] = uniform(g, 0, 1);
    check_ok(fclib_velocity(&p, r, u, v, &error), error);
    reduced_velocity(&p.reduced, r, direct);
    for (int j = 0; j < size; j++) worst = fmax(worst, fabs(u[j] - direct[j]));
    check_below("velocity by v and by W", worst / largest, 1e-11, "the same, times |r|");
    // The error of a global problem sees a v that does not belong to r.
    check_ok(fclib_error(&p, r, u, v, &good, &error), error);
    v[0] += 1;
    check_ok(fclib_error(&p, r, u, v, &bad, &error), error);
    assert_true(bad > good + 1e-3);
    unlink(path);
    fclib_free(&p);
    double* all[] = {m, h, x, f, w, mu, r, u, v, direct};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static void test_condensing(void** state)
{
    (void)state;
    rng g = rng_make(7, 8, 9);
    check_condensing(&g, 20, 5, 2, 4);
    check_condensing(&g, 60, 6, 3, 8);
    check_condensing(&g, 200, 120, 3, 6); // one body large enough for sparse factors
    check_condensing(&g, 40, 6, 5, 3);
}

// ---- solutions ---------------------------------------------------------------------------------

static unsigned char* bytes_of(const char* path, size_t* size)
{
    unsigned char* data = NULL;
    talus_error error = {0};
    check_ok(files_read(path, &data, size, &error), error);
    return data;
}

/// A solution is stored, replaces an older one, and all else in the file stays.
static void test_solution(void** state)
{
    (void)state;
    talus_error error = {0};
    char path[128], from[1024];
    const char* const names[] = {"Box_Stacks-i0122-82-5.hdf5", "NESpheres_10_1.hdf5"};
    for (int k = 0; k < 2; k++) {
        stored(names[k], from);
        temporary(path);
        size_t size;
        unsigned char* data = bytes_of(from, &size);
        check_ok(files_write(path, NULL, 0, data, size, false, &error), error);
        free(data);
        fclib_problem p, again;
        check_ok(fclib_read(path, &p, &error), error);
        size_t n = (size_t)(p.reduced.count * p.reduced.width);
        double *r = calloc(n, 8), *u = calloc(n, 8), *v = calloc((size_t)p.dofs + 1, 8);
        double* found = calloc(n, 8);
        for (int turn = 1; turn <= 2; turn++) {
            for (size_t i = 0; i < n; i++) r[i] = turn + (double)i;
            check_ok(fclib_write_solution(path, &p, r, u, v, &error), error);
            hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
            assert_true(h5_read(file, "solution/r", COLUMN_F64, found));
            assert_int_equal(H5Lexists(file, "solution/v", H5P_DEFAULT) > 0, p.global);
            assert_int_equal(H5Lexists(file, "guesses", H5P_DEFAULT) > 0, k == 0);
            H5Fclose(file);
            assert_memory_equal(found, r, n * 8);
        }
        check_ok(fclib_read(path, &again, &error), error);
        assert_same(&p.reduced, &again.reduced);
        fclib_free(&again);
        fclib_free(&p);
        free(r);
        free(u);
        free(v);
        free(found);
        unlink(path);
    }
}

/// A disk that is full (here: a limit on the size of files) leaves the file as it was.
static void test_full_disk(void** state)
{
    (void)state;
    talus_error error = {0};
    char path[128], from[1024];
    stored("NESpheres_10_1.hdf5", from);
    temporary(path);
    size_t size, after;
    unsigned char* data = bytes_of(from, &size);
    check_ok(files_write(path, NULL, 0, data, size, false, &error), error);
    fclib_problem p;
    check_ok(fclib_read(path, &p, &error), error);
    double* r = calloc((size_t)(p.reduced.count * p.reduced.width), 8);

    struct rlimit old, small;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = size + 100;
    setrlimit(RLIMIT_FSIZE, &small);
    talus_status status = fclib_write_solution(path, &p, r, r, NULL, &error);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, TALUS_ERR_IO);
    assert_non_null(strstr(error.text, path));
    unsigned char* left = bytes_of(path, &after);
    assert_int_equal(after, size);
    assert_memory_equal(left, data, size);
    free(left);
    free(data);
    free(r);
    fclib_free(&p);
    unlink(path);
}

// ---- damaged files -----------------------------------------------------------------------------

enum { CHILD_READ = 10, CHILD_REFUSED = 11, CHILD_NAMELESS = 12 };

/// Read `path` in a process of its own, since damaged files make HDF5 leak, and tell the outcome by
/// its exit status. A sanitizer that finds fault ends it with another one.
static int read_apart(const char* path)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        talus_error error = {0};
        fclib_problem p;
        talus_status status = fclib_read(path, &p, &error);
        if (status == TALUS_OK) fclib_free(&p);
        bool named = strstr(error.text, path) != NULL;
        _exit(status == TALUS_OK ? CHILD_READ : named ? CHILD_REFUSED : CHILD_NAMELESS);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
}

/// A stored problem with some bytes changed or its end cut off is refused with a message that names
/// the file, or it is read.
static void test_damage(void** state)
{
    (void)state;
    const char* const names[] = {"NESpheres_10_1.hdf5", "GFC3D_OneContact.hdf5",
                                 "RFC3D_cube_1.hdf5", "OneObject-i1028-138.hdf5"};
    char path[128], from[1024];
    temporary(path);
    rng g = rng_make(10, 11, 12);
    int refused = 0;
    const int count = test_count(800, 200);
    for (int k = 0; k < count; k++) {
        talus_error error = {0};
        size_t size;
        stored(names[k % 4], from);
        unsigned char* data = bytes_of(from, &size);
        // Most of what HDF5 keeps about a file is near its beginning.
        for (int m = 0; m <= k % 8; m++) {
            size_t reach = rng_uniform(&g) < 0.7 && size > 6000 ? 6000 : size;
            data[(size_t)(rng_uniform(&g) * (double)reach)] =
                (unsigned char)(m % 3 == 0 ? 255 : (int)(rng_uniform(&g) * 256));
        }
        if (k % 10 == 0) size = (size_t)(rng_uniform(&g) * (double)size);
        check_ok(files_write(path, NULL, 0, data, size, false, &error), error);
        free(data);
        int outcome = read_apart(path);
        if (outcome != CHILD_READ && outcome != CHILD_REFUSED) {
            printf("damaged file %d: outcome %d\n", k, outcome);
            fail();
        }
        refused += outcome == CHILD_REFUSED;
    }
    printf("%d of %d damaged files were refused\n", refused, count);
    assert_true(refused > count / 10);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_storage),
        cmocka_unit_test(test_condensing), cmocka_unit_test(test_solution),
        cmocka_unit_test(test_full_disk),  cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
