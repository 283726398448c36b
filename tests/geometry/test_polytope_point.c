/// polytope_point() against a search over all features that shares no code with it: the least of
/// the distances to all triangles (2D: sides) of the surface; inside by the side of all planes
/// through corners on which the point lies.
#include "polytope_model.h"

static talus_error error;

/// Distance from x to the segment a b, in `dim` dimensions.
static double segment_distance(int dim, const double* a, const double* b, const double* x)
{
    double square_ab = 0.0, along = 0.0, rest = 0.0;
    for (int k = 0; k < dim; k++) {
        square_ab += (b[k] - a[k]) * (b[k] - a[k]);
        along += (b[k] - a[k]) * (x[k] - a[k]);
    }
    double t = fmin(1.0, fmax(0.0, along / square_ab));
    for (int k = 0; k < dim; k++) {
        double off = x[k] - ((1.0 - t) * a[k] + t * b[k]);
        rest += off * off;
    }
    return sqrt(rest);
}

/// Distance from x to a triangle: along its normal if x lies over it, else to the nearest side. In
/// long double, because triangles within a face may be far more slender than the face.
static double triangle_distance(const double* const c[3], const double* x)
{
    long double e[3][3], n[3], square = 0.0L, height = 0.0L;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) e[i][k] = (long double)c[(i + 1) % 3][k] - c[i][k];
    }
    for (int k = 0; k < 3; k++) {
        int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        n[k] = e[0][k1] * e[1][k2] - e[0][k2] * e[1][k1];
        square += n[k] * n[k];
        height += n[k] * ((long double)x[k] - c[0][k]);
    }
    bool over = true;
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        long double inwards = 0.0L;
        for (int k = 0; k < 3; k++) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            inwards += (n[k1] * e[i][k2] - n[k2] * e[i][k1]) * ((long double)x[k] - c[i][k]);
        }
        over = over && inwards >= 0.0L;
        best = fmin(best, segment_distance(3, c[i], c[(i + 1) % 3], x));
    }
    return over ? (double)(fabsl(height) / sqrtl(square)) : best;
}

/// On which side of the plane (line) of face f does x lie? From three (two) corners, not the
/// normal.
static double side_of(const polytope* p, int f, const double* x)
{
    if (p->dim == 2) {
        const double *a = p->vertex + 2 * f, *b = p->vertex + 2 * ((f + 1) % p->vertex_count);
        return (b[1] - a[1]) * (x[0] - a[0]) - (b[0] - a[0]) * (x[1] - a[1]);
    }
    const int32_t* loop = p->face_vertex + p->face_first[f];
    double u[3], v[3], d[3], c[3];
    vec_sub(3, u, p->vertex + 3 * loop[1], p->vertex + 3 * loop[0]);
    vec_sub(3, v, p->vertex + 3 * loop[2], p->vertex + 3 * loop[0]);
    vec_sub(3, d, x, p->vertex + 3 * loop[0]);
    vec_cross(c, u, v);
    return vec_dot(3, c, d);
}

/// Distance from x to face f.
static double face_distance(const polytope* p, int f, const double* x)
{
    if (p->dim == 2) {
        return segment_distance(2, p->vertex + 2 * f, p->vertex + 2 * ((f + 1) % p->vertex_count),
                                x);
    }
    const int32_t* loop = p->face_vertex + p->face_first[f];
    double best = INFINITY;
    for (int i = 2; i < p->face_first[f + 1] - p->face_first[f]; i++) {
        const double* c[3] = {p->vertex + 3 * loop[0], p->vertex + 3 * loop[i - 1],
                              p->vertex + 3 * loop[i]};
        best = fmin(best, triangle_distance(c, x));
    }
    return best;
}

static double slow_distance(const polytope* p, const double* x)
{
    double best = INFINITY;
    bool inside = p->vertex_count > 2;
    for (int f = 0; f < p->face_count; f++) {
        best = fmin(best, face_distance(p, f, x));
        if (side_of(p, f, x) > 0.0) inside = false;
    }
    return inside ? -best : best;
}

/// Distance from a point to a feature.
static double feature_distance(const polytope* p, int32_t feature, const double* x)
{
    int dim = p->dim;
    if (feature < p->vertex_count) {
        double d[3];
        vec_sub(dim, d, x, p->vertex + dim * feature);
        return vec_norm(dim, d);
    }
    feature -= p->vertex_count;
    if (feature < p->edge_count) {
        const int32_t* edge = p->edge + 4 * feature;
        return segment_distance(3, p->vertex + 3 * edge[0], p->vertex + 3 * edge[1], x);
    }
    return face_distance(p, feature - p->edge_count, x);
}

typedef struct worst {
    double distance, unit, foot;
    int64_t inside, vertices, edges, faces;
} worst;

static void compare_point(const polytope* p, const double* x, worst* w)
{
    double normal[3] = {0}, foot[3];
    int32_t feature = -1;
    double distance = polytope_point(p, x, normal, &feature);
    w->distance = fmax(w->distance, fabs(distance - slow_distance(p, x)));
    w->unit = fmax(w->unit, fabs(vec_norm(p->dim, normal) - 1.0));
    // The normal leads back to the surface, to the very feature that is named.
    assert_in_range(feature, 0, p->vertex_count + p->edge_count + p->face_count - 1);
    vec_copy(p->dim, foot, x);
    vec_add_scaled(p->dim, foot, -distance, normal);
    w->foot = fmax(w->foot, feature_distance(p, feature, foot));
    if (distance < 0.0)
        w->inside++;
    else if (feature < p->vertex_count)
        w->vertices++;
    else if (feature < p->vertex_count + p->edge_count)
        w->edges++;
    else
        w->faces++;
}

/// A random point: anywhere about the shape, near a feature, or exactly on one.
static void place_point(rng* r, const polytope* p, double size, double* x)
{
    int dim = p->dim;
    uint64_t how = rng_below(r, 4);
    for (int k = 0; k < dim; k++) x[k] = size * rng_normal(r);
    if (how == 0) return;
    double near[3] = {0}, sum = 0.0, scale = how == 1 ? 1e-2 : how == 2 ? 1e-9 : 0.0;
    // On average a point of the hull's rim: few corners, mixed.
    for (uint64_t i = 0, count = 1 + rng_below(r, 3); i < count; i++) {
        double weight = rng_uniform(r);
        uint64_t v = rng_below(r, (uint64_t)p->vertex_count);
        vec_add_scaled(dim, near, weight, p->vertex + (uint64_t)dim * v);
        sum += weight;
    }
    for (int k = 0; k < dim; k++) x[k] = near[k] / sum + scale * x[k];
}

static void test_random(void** state)
{
    (void)state;
    worst w = {0};
    for (int trial = 0; trial < test_count(600, 60); trial++) {
        rng r = rng_make(6, 1, (uint64_t)trial);
        double points[3 * 30], x[3];
        point_kind kind = (point_kind)(trial % POINT_KINDS);
        int dim = 2 + trial / POINT_KINDS % 2;
        polytope p;
        random_points(&r, kind, dim, 30, points);
        check_ok(polytope_hull(dim, points, 30, &p, &error), error);
        for (int i = 0; i < 500; i++) {
            place_point(&r, &p, kind == POINTS_SLAB || kind == POINTS_ROD ? 0.5 : 2.0, x);
            compare_point(&p, x, &w);
        }
        polytope_free(&p);
    }
    printf("%lld inside, %lld at vertices, %lld at edges, %lld at faces\n", (long long)w.inside,
           (long long)w.vertices, (long long)w.edges, (long long)w.faces);
    assert_true(w.inside > 1000 && w.vertices > 1000 && w.edges > 1000 && w.faces > 1000);
    check_below("distance", w.distance, 1e-13, "rounding at sizes of some units, faces 1e-3 wide");
    check_below("length of the normal", w.unit, 1e-15, "rounding");
    check_below("foot from its feature", w.foot, 1e-12,
                "rounding by 4e-16 turns the normals of faces 1e-3 wide by 4e-13");
}

/// Small, large and in between, and right where features meet.
static void test_sizes(void** state)
{
    (void)state;
    const double scales[] = {1e-6, 1.0, 1e6};
    for (int s = 0; s < 3; s++) {
        const double half[3] = {scales[s], 2.0 * scales[s], 3.0 * scales[s]};
        for (int dim = 2; dim <= 3; dim++) {
            polytope p;
            worst w = {0};
            check_ok(polytope_box(dim, half, &p, &error), error);
            // All points of a grid on whose lines the corners, edges and faces lie.
            for (int i = 0; i < (dim == 2 ? 81 : 729); i++) {
                double x[3] = {(i % 9 - 4) / 2.0 * half[0], (i / 9 % 9 - 4) / 2.0 * half[1],
                               (i / 81 - 4) / 2.0 * half[2]};
                compare_point(&p, x, &w);
            }
            check_below("distance / size", w.distance / scales[s], 4e-15, "rounding");
            check_below("foot / size", w.foot / scales[s], 4e-15, "rounding");
            check_below("length of the normal", w.unit, 1e-15, "rounding");
            polytope_free(&p);
        }
    }
}

/// A segment has no inside; both sides and the ends answer with distances >= 0.
static void test_segment(void** state)
{
    (void)state;
    const double from[2] = {-1.0, 0.5}, to[2] = {2.0, 4.5};
    polytope p;
    check_ok(polytope_segment(from, to, &p, &error), error);
    rng r = rng_make(6, 2, 0);
    worst w = {0};
    for (int i = 0; i < 20000; i++) {
        double x[2], normal[2];
        int32_t feature;
        place_point(&r, &p, 3.0, x);
        compare_point(&p, x, &w);
        assert_true(polytope_point(&p, x, normal, &feature) >= 0.0);
    }
    assert_true(w.vertices > 1000 && w.faces > 1000 && w.inside == 0);
    check_below("distance", w.distance, 1e-14, "rounding");
    check_below("length of the normal", w.unit, 1e-15, "rounding");
    check_below("foot from its feature", w.foot, 1e-14, "rounding");
    // On the line, beyond its end.
    const double beyond[2] = {5.0, 8.5};
    double normal[2];
    int32_t feature;
    check_close("beyond the end", polytope_point(&p, beyond, normal, &feature), 5.0, 1e-15,
                "3-4-5");
    assert_int_equal(feature, 1);
    polytope_free(&p);
    const double level[2] = {3.0, 4.5}, on_level[2] = {3.5, 4.5};
    check_ok(polytope_segment(to, level, &p, &error), error);
    check_close("beyond a level end", polytope_point(&p, on_level, normal, &feature), 0.5, 0.0,
                "exact numbers");
    assert_int_equal(feature, 1);
    polytope_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
