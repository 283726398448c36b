/// src/engine/geometry/polytope.h: convex hulls. Counts and corners against a search in integers
/// that knows nothing of tolerances; everything else a hull must satisfy on random and degenerate
/// points.
///
/// Mass properties are in test_polytope_mass.c, distances in test_polytope_point.c.
#include "polytope_model.h"

#include <unistd.h>

/// Flat faces may be off by 2e-7 of the extent (polytope_hull.c), on either side.
static const double FLAT = 4e-7;

static void check_counts(const polytope* p, int vertices, int faces, int edges)
{
    assert_int_equal(p->vertex_count, vertices);
    assert_int_equal(p->face_count, faces);
    assert_int_equal(p->edge_count, edges);
}

// ---- known shapes ------------------------------------------------------------------------------

static void test_box(void** state)
{
    (void)state;
    talus_error error;
    polytope p;
    const double half[3] = {0.1, 0.7, 3.3};
    check_ok(polytope_box(2, half, &p, &error), error);
    check_counts(&p, 4, 4, 0);
    assert_null(p.edge);
    for (int f = 0; f < 4; f++) {
        // Sides go counterclockwise from vertex f to vertex f + 1.
        const double *a = p.vertex + 2 * f, *b = p.vertex + 2 * ((f + 1) % 4);
        assert_true(a[0] * b[1] - a[1] * b[0] > 0.0);
        double along[2] = {b[0] - a[0], b[1] - a[1]};
        assert_true(vec_dot(2, along, p.normal + 2 * f) == 0.0);
        assert_true(p.offset[f] == half[f % 2 ? 0 : 1]);
    }
    polytope_free(&p);
    check_ok(polytope_box(3, half, &p, &error), error);
    check_counts(&p, 8, 6, 12);
    check_topology(&p);
    for (int f = 0; f < 6; f++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++) sum += fabs(p.normal[3 * f + k]) * half[k];
        assert_true(vec_norm(3, p.normal + 3 * f) == 1.0);
        assert_true(p.offset[f] == sum); // to the bit: normals are exact axes
    }
    polytope_free(&p);
    const double thin[3] = {1.0, 0.0, 1.0};
    assert_int_equal(polytope_box(3, thin, &p, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "along y"));
}

static void test_prism(void** state)
{
    (void)state;
    talus_error error;
    polytope p;
    const double axis[3] = {0.48, -0.6, 0.64};
    const int sides[] = {3, 4, 5, 6, 17, 64, 1000, 2048};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        check_ok(polytope_prism(axis, 0.3, 0.05, sides[i], &p, &error), error);
        check_counts(&p, 2 * sides[i], sides[i] + 2, 3 * sides[i]);
        check_topology(&p);
        mass_properties m = polytope_mass(&p, 0.0);
        check_close("volume", m.volume, M_PI * 0.09 * 0.1, 1e-13, "that of the cylinder; rounding");
        polytope_free(&p);
    }
    assert_int_equal(polytope_prism(axis, 0.3, 0.05, 2, &p, &error), TALUS_ERR_ARGUMENT);
    assert_int_equal(polytope_prism(axis, 0.3, 0.05, 2049, &p, &error), TALUS_ERR_ARGUMENT);
    assert_int_equal(polytope_prism(axis, 0.0, 0.05, 5, &p, &error), TALUS_ERR_ARGUMENT);
    assert_int_equal(polytope_prism(axis, 0.3, (double)NAN, 5, &p, &error), TALUS_ERR_ARGUMENT);
}

static void test_platonic(void** state)
{
    (void)state;
    talus_error error;
    polytope p;
    const double g = 0.5 * (1.0 + sqrt(5.0));
    double icosahedron[12 * 3], dodecahedron[20 * 3], q[4];
    for (int i = 0; i < 12; i++) {
        double* x = icosahedron + 3 * i;
        int k = i / 4;
        x[k] = 0.0;
        x[(k + 1) % 3] = i & 1 ? 1.0 : -1.0;
        x[(k + 2) % 3] = i & 2 ? g : -g;
        for (int j = 0; j < 3; j++) dodecahedron[3 * i + j] = x[j];
        dodecahedron[3 * i + (k + 1) % 3] *= 1.0 / g;
    }
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) dodecahedron[36 + 3 * i + k] = i >> k & 1 ? 1.0 : -1.0;
    }
    rng r = rng_make(4, 0, 0);
    for (int turn = 0; turn < 20; turn++) {
        check_ok(polytope_hull(3, icosahedron, 12, &p, &error), error);
        check_counts(&p, 12, 20, 30);
        polytope_free(&p);
        check_ok(polytope_hull(3, dodecahedron, 20, &p, &error), error);
        check_counts(&p, 20, 12, 30);
        check_hull(&p, dodecahedron, 20, 1.0, 1e-14);
        polytope_free(&p);
        random_rotation(&r, q);
        for (int i = 0; i < 12; i++) quat_rotate(icosahedron + 3 * i, q, icosahedron + 3 * i);
        for (int i = 0; i < 20; i++) quat_rotate(dodecahedron + 3 * i, q, dodecahedron + 3 * i);
    }
}

static void test_segment(void** state)
{
    (void)state;
    talus_error error;
    polytope p;
    const double from[2] = {1.0, 2.0}, to[2] = {4.0, 6.0};
    check_ok(polytope_segment(from, to, &p, &error), error);
    check_counts(&p, 2, 2, 0);
    for (int f = 0; f < 2; f++) {
        double sign = f ? -1.0 : 1.0;
        check_close("normal x", p.normal[2 * f], sign * 0.8, 1e-16, "rounding");
        check_close("normal y", p.normal[2 * f + 1], sign * -0.6, 1e-16, "rounding");
        check_close("offset", p.offset[f], sign * -0.4, 1e-15, "rounding");
    }
    const double by[2] = {10.0, 20.0};
    polytope_shift(&p, by);
    check_close("shifted offset", p.offset[0], -4.4, 1e-14, "rounding");
    assert_true(p.vertex[2] == 14.0 && p.vertex[3] == 26.0);
    polytope_free(&p);
    assert_int_equal(polytope_segment(from, from, &p, &error), TALUS_ERR_ARGUMENT);
    const double bad[2] = {0.0, (double)NAN};
    assert_int_equal(polytope_segment(from, bad, &p, &error), TALUS_ERR_ARGUMENT);
}

// ---- against a search in integers --------------------------------------------------------------

enum { MOST_POINTS = 16, MOST_PLANES = 600 };

/// Supporting planes of integer points: normal without common divisors, and offset.
typedef struct exact_hull {
    int planes;
    int64_t plane[MOST_PLANES][4];
    int on[MOST_POINTS]; ///< faces through each point
} exact_hull;

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a < 0 ? -a : a;
}

/// Normal of the plane through three points; in 2D of the line through the first two.
static void exact_normal(int dim, const int64_t (*x)[3], int i, int j, int k, int64_t n[3])
{
    int64_t u[3], v[3] = {0, 0, 1};
    for (int c = 0; c < 3; c++) u[c] = x[j][c] - x[i][c];
    for (int c = 0; c < 3 && dim == 3; c++) v[c] = x[k][c] - x[i][c];
    n[0] = u[1] * v[2] - u[2] * v[1];
    n[1] = u[2] * v[0] - u[0] * v[2];
    n[2] = u[0] * v[1] - u[1] * v[0];
    int64_t divisor = common_divisor(common_divisor(n[0], n[1]), n[2]);
    for (int c = 0; c < 3 && divisor; c++) n[c] /= divisor;
}

static int64_t exact_dot(const int64_t a[3], const int64_t b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void exact_try(exact_hull* h, const int64_t (*x)[3], int count, const int64_t n[3],
                      int64_t offset)
{
    if (!n[0] && !n[1] && !n[2]) return;
    for (int i = 0; i < count; i++) {
        if (exact_dot(n, x[i]) > offset) return;
    }
    for (int i = 0; i < h->planes; i++) {
        if (!memcmp(h->plane[i], n, 3 * sizeof *n)) return;
    }
    memcpy(h->plane[h->planes], n, 3 * sizeof *n);
    h->plane[h->planes++][3] = offset;
}

static exact_hull exact_make(int dim, const int64_t (*x)[3], int count)
{
    exact_hull h = {0};
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            for (int k = 0; k < (dim == 3 ? count : 1); k++) {
                int64_t n[3];
                exact_normal(dim, x, i, j, k, n);
                exact_try(&h, x, count, n, exact_dot(n, x[i]));
            }
        }
    }
    for (int i = 0; i < count; i++) {
        for (int f = 0; f < h.planes; f++) h.on[i] += exact_dot(h.plane[f], x[i]) == h.plane[f][3];
    }
    return h;
}

/// Index of the exact plane with this normal, -1 if there is none.
static int exact_find(const exact_hull* h, int dim, const double* normal)
{
    for (int f = 0; f < h->planes; f++) {
        double n[3] = {(double)h->plane[f][0], (double)h->plane[f][1], (double)h->plane[f][2]};
        double length = vec_norm(3, n), off = 0.0;
        for (int k = 0; k < dim; k++) off = fmax(off, fabs(n[k] / length - normal[k]));
        if (off < 1e-14) return f;
    }
    return -1;
}

/// A point is a corner if dim or more faces pass through it.
static void compare_exact(int dim, const int64_t (*x)[3], int count, const double* points)
{
    talus_error error = {0};
    polytope p;
    exact_hull exact = exact_make(dim, x, count);
    talus_status status = polytope_hull(dim, points, count, &p, &error);
    // All points in a plane: both of its sides support them, and no others do.
    bool flat = exact.planes < dim + 1;
    assert_int_equal(status, flat ? TALUS_ERR_ARGUMENT : TALUS_OK);
    if (flat) return;
    int corners = 0;
    for (int i = 0; i < count; i++) {
        bool again = false;
        for (int j = 0; j < i; j++) again = again || !memcmp(x[i], x[j], sizeof x[i]);
        if (exact.on[i] < dim || again) continue;
        if (dim == 3) {
            assert_memory_equal(p.vertex + 3 * corners, points + 3 * i, 3 * sizeof(double));
        }
        corners++;
    }
    assert_int_equal(p.vertex_count, corners);
    assert_int_equal(p.face_count, exact.planes);
    for (int f = 0; f < p.face_count; f++) {
        assert_true(exact_find(&exact, dim, p.normal + dim * f) >= 0);
    }
    check_hull(&p, points, count, 4.0, 1e-14);
    polytope_free(&p);
}

static void test_exact(void** state)
{
    (void)state;
    rng r = rng_make(4, 1, 0);
    for (int trial = 0; trial < test_count(3000, 300); trial++) {
        int64_t x[MOST_POINTS][3] = {0};
        double points[3 * MOST_POINTS];
        int dim = 2 + trial % 2, count = dim + 1 + (int)rng_below(&r, MOST_POINTS - 3);
        uint64_t size = 2 + rng_below(&r, 4);
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < dim; k++) {
                x[i][k] = (int64_t)rng_below(&r, size);
                points[dim * i + k] = (double)x[i][k];
            }
        }
        compare_exact(dim, x, count, points);
    }
}

// ---- random points -----------------------------------------------------------------------------

static void test_random(void** state)
{
    (void)state;
    enum { MOST = 400 };
    static double points[3 * MOST];
    talus_error error;
    for (int trial = 0; trial < test_count(1200, 120); trial++) {
        rng r = rng_make(4, 2, (uint64_t)trial);
        point_kind kind = (point_kind)(trial % POINT_KINDS);
        int dim = 2 + trial / POINT_KINDS % 2;
        int count = 20 + (int)rng_below(&r, MOST - 20);
        random_points(&r, kind, dim, count, points);
        polytope p;
        check_ok(polytope_hull(dim, points, count, &p, &error), error);
        check_hull(&p, points, count, 10.0, FLAT);
        if (kind == POINTS_SPHERE && dim == 3) assert_true(p.vertex_count >= count - 2);
        if (kind == POINTS_FACES) assert_int_equal(p.face_count, 2 * dim);
        if (kind == POINTS_FACES) assert_int_equal(p.vertex_count, 1 << dim);
        polytope_free(&p);
    }
}

/// The same shape, corner for corner, at any size and place, and when made again.
static void test_sizes(void** state)
{
    (void)state;
    enum { COUNT = 60 };
    double points[3 * COUNT], other[3 * COUNT];
    const double scales[] = {1.0, 1e-6, 1e6, 1e-30, 1e30, 0x1p-40};
    const double shifts[] = {0.0, 0.0, 1e8, 0.0, 0.0, 0.0};
    talus_error error;
    for (int trial = 0; trial < 60; trial++) {
        rng r = rng_make(4, 3, (uint64_t)trial);
        int dim = 2 + trial % 2;
        random_points(&r, (point_kind)(trial % POINT_KINDS), dim, COUNT, points);
        polytope p, q;
        check_ok(polytope_hull(dim, points, COUNT, &p, &error), error);
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            for (int i = 0; i < dim * COUNT; i++) other[i] = points[i] * scales[s] + shifts[s];
            check_ok(polytope_hull(dim, other, COUNT, &q, &error), error);
            check_counts(&q, p.vertex_count, p.face_count, p.edge_count);
            double off = 0.0;
            for (int i = 0; i < dim * p.face_count; i++) {
                off = fmax(off, fabs(p.normal[i] - q.normal[i]));
            }
            // Corners are rounded to 1e-16 of the extent (1e-14 at the shift of 100 extents), and
            // the slenderest faces are some 1e-5 of it wide.
            double bound = shifts[s] != 0.0 ? 1e-9 : 1e-11;
            if (off > bound) check_below("change of a normal", off, bound, "rounding");
            if (dim == 3) {
                assert_memory_equal(p.edge, q.edge, 4 * (size_t)p.edge_count * sizeof(int32_t));
            }
            polytope_free(&q);
        }
        polytope_free(&p);
    }
}

/// Corners are numbered as given: another order gives the same shape under other numbers.
static void test_order(void** state)
{
    (void)state;
    enum { COUNT = 40 };
    double points[3 * COUNT], other[3 * COUNT];
    talus_error error;
    for (int trial = 0; trial < 60; trial++) {
        rng r = rng_make(4, 4, (uint64_t)trial);
        int dim = 2 + trial % 2, order[COUNT];
        random_points(&r, (point_kind)(trial % POINT_KINDS), dim, COUNT, points);
        for (int i = 0; i < COUNT; i++) {
            int j = (int)rng_below(&r, (uint64_t)i + 1);
            order[i] = order[j], order[j] = i;
        }
        // Copies of lattice points differ in nothing: let them keep their order.
        for (int i = 0; i < COUNT; i++) vec_copy(dim, other + dim * i, points + dim * order[i]);
        polytope p, q;
        check_ok(polytope_hull(dim, points, COUNT, &p, &error), error);
        check_ok(polytope_hull(dim, other, COUNT, &q, &error), error);
        check_counts(&q, p.vertex_count, p.face_count, p.edge_count);
        for (int f = 0; f < p.face_count; f++) {
            double best = INFINITY;
            for (int g = 0; g < q.face_count; g++) {
                double d[3];
                vec_sub(dim, d, p.normal + dim * f, q.normal + dim * g);
                best = fmin(best, vec_norm(dim, d) + fabs(p.offset[f] - q.offset[g]));
            }
            if (best > 1e-10) check_below("a face of the other order", best, 1e-10, "rounding");
        }
        polytope_free(&p);
        polytope_free(&q);
    }
}

/// Noise of every size on the faces of a box: at single precision and below it is a box.
static void test_noise(void** state)
{
    (void)state;
    enum { COUNT = 80 };
    double points[3 * COUNT];
    talus_error error;
    int failed = 0, trials = test_count(2000, 200);
    for (int trial = 0; trial < trials; trial++) {
        rng r = rng_make(4, 5, (uint64_t)trial);
        int dim = 2 + trial % 2;
        double noise = pow(10.0, -16.0 + 14.0 * rng_uniform(&r));
        random_points(&r, POINTS_FACES, dim, COUNT, points);
        for (int i = 0; i < dim * COUNT; i++) points[i] += noise * (2.0 * rng_uniform(&r) - 1.0);
        polytope p;
        talus_status status = polytope_hull(dim, points, COUNT, &p, &error);
        failed += status < 0;
        if (status < 0) {
            printf("noise %g: %s\n", noise, error.text);
            continue;
        }
        check_hull(&p, points, COUNT, 4.0, FLAT);
        if (noise < 3e-8) check_counts(&p, 1 << dim, 2 * dim, dim == 2 ? 0 : 12);
        polytope_free(&p);
    }
    assert_int_equal(failed, 0);
}

/// Everything at once: noise and flattening of any degree, points that nearly coincide or nearly
/// lie between others. The answer is a proper hull, or a refusal of points in a plane or line.
static void test_degenerate(void** state)
{
    (void)state;
    enum { MOST = 100 };
    double points[3 * MOST];
    talus_error error;
    int unclear = 0, trials = test_count(10000, 1000);
    for (int trial = 0; trial < trials; trial++) {
        rng r = rng_make(4, 11, (uint64_t)trial);
        int dim = 2 + trial % 2, count = 8 + (int)rng_below(&r, MOST - 8);
        double noise = trial & 4 ? pow(10.0, -16.0 + 15.0 * rng_uniform(&r)) : 0.0;
        double thin = trial & 8 ? pow(10.0, -5.0 * rng_uniform(&r)) : 1.0, extent = 0.0;
        random_points(&r, (point_kind)(trial % POINT_KINDS), dim, count, points);
        for (int i = 0; i < count; i++) {
            double* x = points + dim * i;
            const double* a = points + (uint64_t)dim * rng_below(&r, (uint64_t)count);
            const double* b = points + (uint64_t)dim * rng_below(&r, (uint64_t)count);
            for (int k = 0; k < dim; k++) {
                if (i % 8 == 7) x[k] = 0.5 * (a[k] + b[k]);
                if (i % 8 == 6) x[k] = a[k] + 1e-9 * rng_normal(&r);
            }
        }
        for (int i = 0; i < dim * count; i++) {
            points[i] = (points[i] + noise * rng_normal(&r)) * (i % dim ? 1.0 : thin);
            extent = fmax(extent, 2.0 * fabs(points[i]));
        }
        polytope p;
        if (polytope_hull(dim, points, count, &p, &error) < 0) {
            bool flat = strstr(error.text, "lie in one") || strstr(error.text, "lie on one");
            // The slab's 1e-3 comes on top.
            if (flat) assert_true(thin < 1e-2);
            if (!flat) printf("trial %d: %s\n", trial, error.text);
            unclear += !flat;
            continue;
        }
        // Up to 16 times the usual tolerance, on either side.
        check_hull(&p, points, count, extent, 16.0 * FLAT);
        assert_true(polytope_mass(&p, 0.0).volume > 0.0);
        polytope_free(&p);
    }
    check_below("share without a clear hull", (double)unclear / trials, 1e-4,
                "a few in 1e5 such sets were refused when the tolerances were chosen");
}

static void test_single_precision(void** state)
{
    (void)state;
    talus_error error;
    for (int trial = 0; trial < test_count(500, 50); trial++) {
        rng r = rng_make(4, 6, (uint64_t)trial);
        double points[24], q[4];
        random_rotation(&r, q);
        for (int i = 0; i < 8; i++) {
            double* x = points + 3 * i;
            for (int k = 0; k < 3; k++) x[k] = (i >> k & 1 ? 0.5 : -0.5) * (k + 1);
            quat_rotate(x, q, x);
            for (int k = 0; k < 3; k++) x[k] = (double)(float)x[k];
        }
        polytope p;
        check_ok(polytope_hull(3, points, 8, &p, &error), error);
        check_counts(&p, 8, 6, 12);
        polytope_free(&p);
    }
}

/// Crowds of points around the corners of a simplex, from equal to clearly apart.
static void test_crowds(void** state)
{
    (void)state;
    enum { COUNT = 4000 };
    static double points[3 * COUNT];
    talus_error error;
    for (int trial = 0; trial < 34; trial++) {
        rng r = rng_make(4, 7, (uint64_t)trial);
        int dim = 2 + trial % 2;
        double spread = trial < 2 ? 0.0 : pow(10.0, -17.0 + trial / 2);
        for (int i = 0; i < COUNT; i++) {
            for (int k = 0; k < dim; k++) {
                points[dim * i + k] = (i % (dim + 1) == k) + spread * rng_normal(&r);
            }
        }
        polytope p;
        check_ok(polytope_hull(dim, points, COUNT, &p, &error), error);
        check_hull(&p, points, COUNT, 1.0, FLAT);
        if (spread < 1e-8) check_counts(&p, dim + 1, dim + 1, dim == 2 ? 0 : 6);
        polytope_free(&p);
    }
}

/// Thin down to the limit, then refused.
static void test_thin(void** state)
{
    (void)state;
    talus_error error;
    for (int i = 0; i <= 12; i++) {
        double thickness = i < 12 ? pow(10.0, -0.5 * i) : 0.45e-6;
        double half[3] = {1.0, 1.0, 2.0 * thickness};
        polytope p;
        talus_status status = polytope_box(3, half, &p, &error);
        assert_int_equal(status, i < 12 ? TALUS_OK : TALUS_ERR_ARGUMENT);
        if (status < 0) continue;
        check_counts(&p, 8, 6, 12);
        polytope_free(&p);
        double slab[3 * 200];
        rng r = rng_make(4, 8, (uint64_t)i);
        for (int j = 0; j < 200; j++) {
            random_point(&r, POINTS_SPHERE, 3, j, slab + 3 * j);
            slab[3 * j + 2] *= 2.0 * thickness;
        }
        check_ok(polytope_hull(3, slab, 200, &p, &error), error);
        check_hull(&p, slab, 200, 2.0, FLAT);
        polytope_free(&p);
    }
}

// ---- bad input ---------------------------------------------------------------------------------

static void check_refused(int dim, const double* points, int count, const char* says)
{
    talus_error error = {0};
    polytope p;
    assert_int_equal(polytope_hull(dim, points, count, &p, &error), TALUS_ERR_ARGUMENT);
    printf("%s\n", error.text);
    assert_non_null(strstr(error.text, says));
    assert_null(p.vertex);
    assert_int_equal(polytope_hull(dim, points, count, &p, NULL), TALUS_ERR_ARGUMENT);
    polytope_free(&p); // an empty one may be freed
}

static void test_refused(void** state)
{
    (void)state;
    enum { MANY = 5000 };
    static double points[3 * MANY];
    double few[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    check_refused(3, NULL, 0, "at least 4 are needed");
    check_refused(3, few, -7, "at least 4 are needed");
    check_refused(3, few, 3, "at least 4 are needed");
    check_refused(2, few, 2, "at least 3 are needed");
    few[7] = (double)NAN;
    check_refused(3, few, 5, "point 3 is not a finite number");
    few[7] = -INFINITY;
    check_refused(3, few, 5, "point 3 is not a finite number");
    few[7] = 1e300;
    check_refused(3, few, 5, "extend over 1e+300");
    few[7] = 1.7e308, few[4] = -1.7e308;
    check_refused(3, few, 5, "extend over inf");
    for (int i = 0; i < 15; i++) few[i] = 1e-320 * (i % 4 == 3);
    check_refused(3, few, 5, "extend over");
    for (int i = 0; i < 15; i++) few[i] = 3.0;
    check_refused(3, few, 5, "all points are the same");
    check_refused(2, few, 7, "all points are the same");

    rng r = rng_make(4, 9, 0);
    for (int i = 0; i < 100; i++) {
        double t = rng_normal(&r);
        for (int k = 0; k < 3; k++) points[3 * i + k] = 7.0 + (k + 1) * t;
    }
    check_refused(3, points, 100, "lie on one line");
    for (int i = 0; i < 100; i++) points[3 * i + 2] = points[3 * i] + rng_normal(&r);
    check_refused(3, points, 100, "lie in one plane");
    for (int i = 0; i < 100; i++) points[2 * i] = rng_normal(&r), points[2 * i + 1] = points[2 * i];
    check_refused(2, points, 100, "lie on one line");

    random_points(&r, POINTS_SPHERE, 3, MANY, points);
    check_refused(3, points, MANY, "corners; at most 4096 are possible");
    for (int i = 0; i < MANY; i++) {
        points[2 * i] = cos(2.0 * M_PI * i / MANY), points[2 * i + 1] = sin(2.0 * M_PI * i / MANY);
    }
    check_refused(2, points, MANY, "5000 corners; at most 4096 are possible");
}

/// qhull complains to a file; it must not be ours. Run last: it goes through all of test_refused.
static void test_silent(void** state)
{
    char name[] = "/tmp/test_polytopeXXXXXX";
    int file = mkstemp(name), kept = dup(2);
    assert_true(file >= 0 && kept >= 0);
    fflush(stderr);
    dup2(file, 2);
    test_refused(state);
    test_crowds(state);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
    unlink(name);
}

/// Counts of points far beyond the corners that a polytope may have.
static void test_huge(void** state)
{
    (void)state;
    int count = test_count(1000000, 50000);
    double* points = malloc(3 * sizeof(double) * (size_t)count);
    assert_non_null(points);
    rng r = rng_make(4, 10, 0);
    random_points(&r, POINTS_FACES, 3, count, points);
    polytope p;
    talus_error error;
    check_ok(polytope_hull(3, points, count, &p, &error), error);
    check_counts(&p, 8, 6, 12);
    polytope_free(&p);
    random_points(&r, POINTS_CLOUD, 3, count, points);
    check_ok(polytope_hull(3, points, count, &p, &error), error);
    check_hull(&p, points, count, 10.0, FLAT);
    polytope_free(&p);
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box),        cmocka_unit_test(test_prism),
        cmocka_unit_test(test_platonic),   cmocka_unit_test(test_segment),
        cmocka_unit_test(test_exact),      cmocka_unit_test(test_random),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_noise),      cmocka_unit_test(test_single_precision),
        cmocka_unit_test(test_degenerate), cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_thin),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_huge),       cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
