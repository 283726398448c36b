/// Convex polyhedra in contact: the distance against every feature pair and against qhull's hull of
/// the difference body, the contact points by their invariants, continuity and foresight.
#include "convex_bodies.h"

#include "geometry/polytope.h"

enum { SMALL = 160, LARGE = 40 };

typedef struct pool {
    polytope small[SMALL], large[LARGE];
} pool;

/// Hull of random points in a ball stretched to a needle, a plate or nothing.
static void random_hull(rng* r, int count, polytope* out)
{
    double points[3 * MAX_CORNERS], stretch[3] = {1.0, 1.0, 1.0};
    talus_error error;
    for (int k = 0; k < 3; k++) {
        if (rng_below(r, 4) == 0) stretch[k] = 0.05 + 0.2 * rng_uniform(r);
    }
    for (int i = 0; i < count; i++) {
        double x[3] = {rng_normal(r), rng_normal(r), rng_normal(r)};
        double s = (0.7 + 0.3 * rng_uniform(r)) / vec_norm(3, x);
        for (int k = 0; k < 3; k++) points[3 * i + k] = s * stretch[k] * x[k];
    }
    check_ok(polytope_hull(3, points, count, out, &error), error);
}

static int setup(void** state)
{
    pool* p = malloc(sizeof *p);
    rng r = rng_make(41, 0, 0);
    talus_error error;
    for (int i = 0; i < SMALL; i++) {
        if (i % 2 == 0) {
            double half[3];
            for (int k = 0; k < 3; k++) half[k] = i % 4 ? 0.1 + rng_uniform(&r) : 0.5;
            check_ok(polytope_box(3, half, &p->small[i], &error), error);
        } else {
            random_hull(&r, 4 + (int)rng_below(&r, 5), &p->small[i]);
        }
    }
    for (int i = 0; i < LARGE; i++) random_hull(&r, 10 + (int)rng_below(&r, 31), &p->large[i]);
    *state = p;
    return 0;
}

static int teardown(void** state)
{
    pool* p = *state;
    for (int i = 0; i < SMALL; i++) polytope_free(&p->small[i]);
    for (int i = 0; i < LARGE; i++) polytope_free(&p->large[i]);
    free(p);
    return 0;
}

/// Turns face f of `p` to look along n, then by a random angle about it.
static void face_towards(rng* r, const polytope* p, const double n[3], double q[4])
{
    const double* m = p->normal + 3 * (int)rng_below(r, (uint64_t)p->face_count);
    double axis[3], turn[4], spin[3];
    vec_cross(axis, m, n);
    double s = vec_norm(3, axis), angle = atan2(s, vec_dot(3, m, n));
    for (int k = 0; k < 3; k++) axis[k] = s > 1e-9 ? axis[k] * angle / s : (k == 0 ? angle : 0.0);
    if (s <= 1e-9 && fabs(n[0]) > 0.9) axis[0] = 0.0, axis[1] = angle;
    quat_from_rotation(turn, axis);
    double by = 6.3 * rng_uniform(r);
    for (int k = 0; k < 3; k++) spin[k] = by * n[k];
    quat_from_rotation(q, spin);
    quat_multiply(q, q, turn);
}

/// A random pair in one of the relative positions that a narrow phase meets.
static void random_pair(rng* r, const polytope* p, const polytope* q, placed* a, placed* b,
                        double delta[3])
{
    double turn_a[4], turn_b[4], n[3] = {rng_normal(r), rng_normal(r), rng_normal(r)};
    const int kind = (int)rng_below(r, 6);
    rotation_random(r, turn_a);
    rotation_random(r, turn_b);
    if (kind == 0) memcpy(turn_b, turn_a, sizeof turn_b);
    if (kind == 1) turn_a[0] = turn_b[0] = 1.0, turn_a[1] = turn_a[2] = turn_a[3] = 0.0;
    if (kind == 1) turn_b[1] = turn_b[2] = turn_b[3] = 0.0;
    place(p, turn_a, 0.0, a);
    if (kind == 2) {
        const double* m = a->normal + 3 * (int)rng_below(r, (uint64_t)p->face_count);
        double back[3] = {-m[0], -m[1], -m[2]};
        face_towards(r, q, back, turn_b);
    }
    place(q, turn_b, 0.0, b);
    double far = 1.2 * rng_uniform(r) * (a->radius + b->radius) / vec_norm(3, n);
    if (kind == 3 && rng_below(r, 4) == 0) far = 0.0;
    for (int k = 0; k < 3; k++) delta[k] = far * n[k];
    if (kind == 1 && rng_below(r, 2)) {
        // Flush boxes: whole sizes along one axis, exact zeros elsewhere.
        int k = (int)rng_below(r, 3);
        for (int c = 0; c < 3; c++) delta[c] = 0.0;
        delta[k] = a->radius;
    }
    if (rng_below(r, 2)) return;
    // Move along the normal until they nearly touch, within 1e-2 to 1e-13 of the size.
    double m[3], size = a->radius + b->radius;
    double now = convex_distance(body(a), body(b), delta, m);
    double want = size * pow(10.0, -2.0 - 11.0 * rng_uniform(r)) * (rng_below(r, 2) ? 1.0 : -1.0);
    if (rng_below(r, 16) == 0) want = 0.0;
    vec_add_scaled(3, delta, want - now, m);
}

/// Largest errors over the pairs.
typedef struct worst {
    double value, normal;
    long apart, over, near;
} worst;

static void compare(placed* a, placed* b, const double delta[3], worst* w)
{
    const convex *x = body(a), *y = body(b);
    double n[3], m[3], size = a->radius + b->radius + x->skin + y->skin;
    double fast = convex_distance(x, y, delta, n), slow = slow_distance(x, y, delta, m);
    double skins = x->skin + y->skin;
    w->value = fmax(w->value, fabs(fast - slow) / size);
    w->value = fmax(w->value, fabs(convex_overlap(x, y, delta) - fmax(-fast, 0.0)) / size);
    w->normal = fmax(w->normal, fabs(slow_gap(x, y, delta, n) - skins - fast) / size);
    if (fabs(slow) < 1e-6 * size) w->near++;
    if (slow > 0.0)
        w->apart++;
    else
        w->over++;
    if (w->value > 1e-10 || w->normal > 1e-10) {
        fail_msg("fast %.17g slow %.17g along its normal %.17g size %g", fast, slow,
                 slow_gap(x, y, delta, n) - skins, size);
    }
}

static const polytope* any_small(const pool* p, rng* r)
{
    return &p->small[rng_below(r, SMALL)];
}
static const polytope* any_large(const pool* p, rng* r)
{
    return &p->large[rng_below(r, LARGE)];
}

static void report(const char* what, long count, const worst* w)
{
    printf("%s: %ld pairs, %ld apart, %ld overlapping, %ld within 1e-6\n", what, count, w->apart,
           w->over, w->near);
    check_below("distance, of the size", w->value, 1e-10, "rounding of a few hundred operations");
    check_below("gap along the normal, of the size", w->normal, 1e-10, "the normal is exact");
}

static void test_distance_small(void** state)
{
    const pool* p = *state;
    const int count = test_count(500000, 20000);
    worst w = {0};
    for (int i = 0; i < count; i++) {
        rng r = rng_make(1, (uint64_t)i, 0);
        placed a, b;
        double delta[3];
        random_pair(&r, any_small(p, &r), any_small(p, &r), &a, &b, delta);
        compare(&a, &b, delta, &w);
    }
    report("small", count, &w);
}

static void test_distance_large(void** state)
{
    const pool* p = *state;
    const int count = test_count(4000, 200);
    worst w = {0};
    for (int i = 0; i < count; i++) {
        rng r = rng_make(2, (uint64_t)i, 0);
        placed a, b;
        double delta[3];
        random_pair(&r, any_large(p, &r), any_large(p, &r), &a, &b, delta);
        compare(&a, &b, delta, &w);
    }
    report("large", count, &w);
}

/// Balls, and skins on everything.
static void test_distance_round(void** state)
{
    const pool* p = *state;
    const int count = test_count(100000, 5000);
    worst w = {0};
    for (int i = 0; i < count; i++) {
        rng r = rng_make(3, (uint64_t)i, 0);
        placed a, b;
        double delta[3];
        random_pair(&r, any_small(p, &r), any_small(p, &r), &a, &b, delta);
        a.c.skin = 0.3 * rng_uniform(&r), b.c.skin = 0.3 * rng_uniform(&r);
        int which = (int)rng_below(&r, 4);
        if (which == 1 || which == 3) place_ball(3, 0.1 + rng_uniform(&r), &a);
        if (which == 2 || which == 3) place_ball(3, 0.1 + rng_uniform(&r), &b);
        compare(&a, &b, delta, &w);
    }
    report("round", count, &w);
}

/// The hull of all differences of corners holds the origin at the signed distance.
static void test_distance_qhull(void** state)
{
    const pool* p = *state;
    const int count = test_count(1500, 60);
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(4, (uint64_t)i, 0);
        placed a, b;
        double delta[3], n[3], m[3], points[3 * MAX_CORNERS * MAX_CORNERS / 2];
        random_pair(&r, any_large(p, &r), i % 2 ? any_small(p, &r) : any_large(p, &r), &a, &b,
                    delta);
        int made = 0;
        for (int j = 0; j < a.c.vertex_count; j++) {
            for (int k = 0; k < b.c.vertex_count; k++, made++) {
                for (int c = 0; c < 3; c++) {
                    points[3 * made + c] = a.vertex[3 * j + c] - b.vertex[3 * k + c];
                }
            }
        }
        polytope hull;
        talus_error error;
        check_ok(polytope_hull(3, points, made, &hull, &error), error);
        int32_t feature;
        double slow = polytope_point(&hull, delta, m, &feature);
        double fast = convex_distance(body(&a), body(&b), delta, n);
        most = fmax(most, fabs(fast - slow) / (a.radius + b.radius));
        polytope_free(&hull);
    }
    check_below("distance against qhull, of the size", most, 1e-10,
                "rounding, and faces that qhull merges");
}

static void test_points(void** state)
{
    const pool* p = *state;
    const int count = test_count(100000, 5000);
    long some = 0, four = 0;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(5, (uint64_t)i, 0);
        placed a, b;
        double delta[3];
        const bool large = i % 16 == 0;
        random_pair(&r, large ? any_large(p, &r) : any_small(p, &r), any_small(p, &r), &a, &b,
                    delta);
        if (i % 3 == 0) a.c.skin = 0.1 * rng_uniform(&r), b.c.skin = 0.1 * rng_uniform(&r);
        if (i % 7 == 0) place_ball(3, 0.5, &a);
        double size = a.radius + b.radius + a.c.skin + b.c.skin;
        double reach = size * pow(10.0, -4.0 * rng_uniform(&r));
        touch t[CONVEX_MAX_TOUCHES];
        int made = convex_touches(body(&a), body(&b), delta, reach, NULL, t);
        check_points(body(&a), body(&b), delta, reach, size, t, made);
        some += made > 0, four += made == 4;
    }
    check_below("pairs without points", (double)(count - some), 0.9 * count, "half are near");
    check_below("pairs without four points", (double)(count - four), 0.98 * count,
                "faces meet often");
}

/// In general position, exchange of the bodies gives mirrored points, and a common turn turned
/// ones.
static void test_symmetry(void** state)
{
    const pool* p = *state;
    const int count = test_count(100000, 5000);
    int met = 0, exchanged = 0, turned = 0;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(6, (uint64_t)i, 0);
        const polytope *f = any_small(p, &r), *g = any_small(p, &r);
        double qa[4], qb[4], by[4], n[3], moved[3];
        rotation_random(&r, qa), rotation_random(&r, qb), rotation_random(&r, by);
        double delta[3] = {rng_normal(&r), rng_normal(&r), rng_normal(&r)};
        placed a, b;
        touch s[CONVEX_MAX_TOUCHES], t[CONVEX_MAX_TOUCHES];
        place(f, qa, 0.0, &a), place(g, qb, 0.0, &b);
        double now = convex_distance(body(&a), body(&b), delta, n);
        vec_add_scaled(3, delta, 0.02 * rng_uniform(&r) - 0.01 - now, n);
        int made = convex_touches(body(&a), body(&b), delta, 0.02, NULL, s);
        met += made > 0;
        exchanged += made > 0 && symmetric(body(&a), body(&b), delta, 0.02, 1e-9);
        quat_multiply(qa, by, qa), quat_multiply(qb, by, qb);
        place(f, qa, 0.0, &a), place(g, qb, 0.0, &b);
        quat_rotate(moved, by, delta);
        int again = convex_touches(body(&a), body(&b), moved, 0.02, NULL, t);
        for (int j = 0; j < again; j++) {
            quat_rotate_back(t[j].point, by, t[j].point);
            quat_rotate_back(t[j].normal, by, t[j].normal);
        }
        turned += made > 0 && same_points(s, made, t, again, 1e-9);
    }
    check_below("pairs apart", count - met, 0.0, "all were brought near");
    // Names may differ where features meet within the slack of 1e-6 or gaps reach 0.02 exactly.
    check_below("share changed by exchange", (met - exchanged) / (double)met, 1e-3, "slack 1e-6");
    check_below("share changed by a turn", (met - turned) / (double)met, 1e-3, "slack 1e-6");
}

/// Two unit cubes, the second turned by a small rotation.
static void two_cubes(const double turn[3], polytope* p, placed* a, placed* b)
{
    const double half[3] = {0.5, 0.5, 0.5}, none[4] = {1.0, 0.0, 0.0, 0.0};
    double q[4];
    talus_error error;
    check_ok(polytope_box(3, half, p, &error), error);
    place(p, none, 0.0, a);
    quat_from_rotation(q, turn);
    place(p, q, 0.0, b);
}

/// A box that hovers a little tilted over another has four points, each with its own gap, whether
/// its corner or a pair of edges is nearest.
static void test_tilted_hover(void** state)
{
    (void)state;
    for (int i = 0; i < 64; i++) {
        rng r = rng_make(7, (uint64_t)i, 0);
        double turn[3] = {1e-3 * rng_normal(&r), 1e-3 * rng_normal(&r), 1e-3 * rng_normal(&r)};
        const double delta[3] = {0.3 * rng_normal(&r), 0.3 * rng_normal(&r), 1.01};
        if (fmax(fabs(delta[0]), fabs(delta[1])) > 0.9) continue;
        polytope p;
        placed a, b;
        two_cubes(turn, &p, &a, &b);
        touch t[CONVEX_MAX_TOUCHES];
        assert_int_equal(convex_touches(body(&a), body(&b), delta, 0.05, NULL, t), 4);
        for (int j = 0; j < 4; j++) {
            double named = convex_gap(body(&a), body(&b), delta, t[j].feature, t[j].normal);
            // Along the axis or along the face: cosines of the tilt, on a gap of 0.01.
            if (fabs(named - t[j].gap) > 1e-6) fail_msg("gap %g, by name %g", t[j].gap, named);
        }
        polytope_free(&p);
    }
}

/// A cube slides along a row of cubes with equal tops, sunk by 1e-6 of its size: no side stops it.
static void test_row(void** state)
{
    (void)state;
    const double yaw[3] = {0.0, 0.0, 0.1}, none[3] = {0.0, 0.0, 0.0};
    double across = 0.0;
    for (int i = 0; i < test_count(4000, 2000); i++) {
        polytope p;
        placed a, b;
        two_cubes(i % 2 ? yaw : none, &p, &a, &b);
        const convex_hint hint = {.shift = {1.3e-3, 2e-4, -1e-5}};
        for (int k = 0; k < 6; k++) {
            const double delta[3] = {-1.5 + 1.3e-3 * i - k, 0.1, 1.0 - 1e-6};
            touch t[CONVEX_MAX_TOUCHES];
            int made = convex_touches(body(&a), body(&b), delta, 1e-2, &hint, t);
            for (int j = 0; j < made; j++) {
                // A side may be named where the free motion does not reach it.
                double after = t[j].gap + vec_dot(3, hint.shift, t[j].normal);
                if (after < -1.2e-5) across = fmax(across, hypot(t[j].normal[0], t[j].normal[1]));
            }
        }
        polytope_free(&p);
    }
    check_below("sideways normal", across, 1e-12, "the tops are flat");
}

/// Boxes flush on each other keep their names when rounding moves them about, and whichever of both
/// faces is taken for the axis.
static void test_flush_names(void** state)
{
    (void)state;
    int64_t names[4] = {0};
    for (int i = 0; i < 2000; i++) {
        rng r = rng_make(8, (uint64_t)i, 0);
        double turn[3], delta[3] = {0.0, 0.0, 1.0};
        for (int k = 0; k < 3; k++)
            turn[k] = 1e-8 * rng_normal(&r), delta[k] += 1e-8 * rng_normal(&r);
        polytope p;
        placed a, b;
        two_cubes(turn, &p, &a, &b);
        touch t[CONVEX_MAX_TOUCHES];
        assert_int_equal(convex_touches(body(&a), body(&b), delta, 1e-3, NULL, t), 4);
        for (int k = 0; k < 4; k++) {
            if (i == 0) names[k] = t[k].feature;
            assert_true(names[k] == t[k].feature);
        }
        polytope_free(&p);
    }
}

/// Cubes that meet at parallel edges have a point at each end of their common part.
static void test_parallel_edges(void** state)
{
    (void)state;
    const double none[3] = {0.0, 0.0, 0.0}, delta[3] = {1.003, 1.004, 0.2};
    polytope p;
    placed a, b;
    two_cubes(none, &p, &a, &b);
    touch t[CONVEX_MAX_TOUCHES];
    assert_int_equal(convex_touches(body(&a), body(&b), delta, 0.01, NULL, t), 2);
    double low = fmin(t[0].point[2], t[1].point[2]), high = fmax(t[0].point[2], t[1].point[2]);
    check_close("lower end", low, -0.3, 1e-14, "rounding");
    check_close("upper end", high, 0.5, 1e-14, "rounding");
    for (int i = 0; i < 2; i++) {
        check_close("gap", t[i].gap, 0.005, 1e-14, "3, 4, 5");
        check_close("gap by name", convex_gap(body(&a), body(&b), delta, t[i].feature, t[i].normal),
                    0.005, 1e-14, "3, 4, 5");
    }
    polytope_free(&p);
}

/// Apart, d n is the way from the difference body to the origin, which no shift changes by more
/// than itself: |n - n'| <= 2 |shift| / d.
static void test_continuity(void** state)
{
    const pool* p = *state;
    const int paths = test_count(1000, 100);
    double most = 0.0;
    for (int i = 0; i < paths; i++) {
        rng r = rng_make(9, (uint64_t)i, 0);
        placed a, b;
        double delta[3], n[3], old[3] = {0.0}, d, last = 0.0;
        random_pair(&r, any_small(p, &r), any_small(p, &r), &a, &b, delta);
        double step[3] = {1e-3 * rng_normal(&r), 1e-3 * rng_normal(&r), 1e-3 * rng_normal(&r)};
        for (int k = 0; k < 200; k++, last = d, vec_copy(3, old, n)) {
            vec_add_scaled(3, delta, 1.0, step);
            d = convex_distance(body(&a), body(&b), delta, n);
            if (k == 0 || d < 1e-6 || last < 1e-6) continue;
            double turn[3];
            vec_sub(3, turn, n, old);
            most = fmax(most, vec_norm(3, turn) * fmax(d, last) / vec_norm(3, step));
            double jump = fabs(d - last);
            if (jump > vec_norm(3, step) * (1.0 + 1e-9)) {
                fail_msg("path %d at %d: distance jumps from %g to %g (slow %g) step %g", i, k,
                         last, d, slow_distance(body(&a), body(&b), delta, turn),
                         vec_norm(3, step));
            }
        }
    }
    check_below("turn of the normal times distance over shift", most, 2.0 + 1e-6,
                "projection onto a convex body shortens distances");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_small), cmocka_unit_test(test_distance_large),
        cmocka_unit_test(test_distance_round), cmocka_unit_test(test_distance_qhull),
        cmocka_unit_test(test_points),         cmocka_unit_test(test_symmetry),
        cmocka_unit_test(test_tilted_hover),   cmocka_unit_test(test_row),
        cmocka_unit_test(test_flush_names),    cmocka_unit_test(test_parallel_edges),
        cmocka_unit_test(test_continuity),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
