/// Convex polygons, segments and disks in contact: the distance against every pair of features and
/// against the hull of the difference body, the contact points by their invariants, continuity and
/// foresight.
#include "convex_bodies.h"

#include "geometry/polytope.h"

enum { SHAPES = 200 };

typedef struct pool {
    polytope shape[SHAPES];
} pool;

static void random_polygon(rng* r, polytope* out)
{
    double points[2 * MAX_CORNERS], flat = rng_below(r, 4) ? 1.0 : 0.01 + 0.1 * rng_uniform(r);
    talus_error error;
    int count = rng_below(r, 8) ? 3 + (int)rng_below(r, 6) : 10 + (int)rng_below(r, 30);
    for (int i = 0; i < count; i++) {
        double angle = 6.3 * rng_uniform(r), s = 0.7 + 0.3 * rng_uniform(r);
        points[2 * i] = s * cos(angle), points[2 * i + 1] = flat * s * sin(angle);
    }
    check_ok(polytope_hull(2, points, count, out, &error), error);
}

static int setup(void** state)
{
    pool* p = malloc(sizeof *p);
    rng r = rng_make(42, 0, 0);
    talus_error error;
    for (int i = 0; i < SHAPES; i++) {
        double half[3] = {0.5, i % 8 ? 0.05 + rng_uniform(&r) : 0.5, 0.0};
        double from[2] = {-half[1], 0.1 * half[1]}, to[2] = {0.7, 0.2};
        if (i % 4 == 0) {
            check_ok(polytope_box(2, half, &p->shape[i], &error), error);
        } else if (i % 4 == 1) {
            check_ok(polytope_segment(from, to, &p->shape[i], &error), error);
        } else {
            random_polygon(&r, &p->shape[i]);
        }
    }
    *state = p;
    return 0;
}

static int teardown(void** state)
{
    pool* p = *state;
    for (int i = 0; i < SHAPES; i++) polytope_free(&p->shape[i]);
    free(p);
    return 0;
}

static const polytope* any(const pool* p, rng* r)
{
    return &p->shape[rng_below(r, SHAPES)];
}

/// Moves b along the normal until the gap is 1e-2 to 1e-13 of the size, of either sign, or zero.
static void bring_near(rng* r, placed* a, placed* b, double delta[3])
{
    double n[3], size = a->radius + b->radius;
    double now = convex_distance(body(a), body(b), delta, n);
    double want = size * pow(10.0, -2.0 - 11.0 * rng_uniform(r)) * (rng_below(r, 2) ? 1.0 : -1.0);
    if (rng_below(r, 16) == 0) want = 0.0;
    vec_add_scaled(2, delta, want - now, n);
}

/// A random pair in one of the relative positions that a narrow phase meets.
static void random_pair(rng* r, const polytope* p, const polytope* q, placed* a, placed* b,
                        double delta[3])
{
    double turn_a[4] = {6.3 * rng_uniform(r)}, turn_b[4] = {6.3 * rng_uniform(r)};
    const int kind = (int)rng_below(r, 6);
    if (kind == 0) turn_b[0] = turn_a[0];
    if (kind == 1) turn_a[0] = turn_b[0] = 0.0;
    place(p, turn_a, 0.0, a);
    if (kind == 2) {
        // A side of b against a side of a.
        const double* m = a->normal + 2 * (int)rng_below(r, (uint64_t)p->face_count);
        const double* n = q->normal + 2 * (int)rng_below(r, (uint64_t)q->face_count);
        turn_b[0] = atan2(-m[1], -m[0]) - atan2(n[1], n[0]);
    }
    place(q, turn_b, 0.0, b);
    double angle = 6.3 * rng_uniform(r), far = 1.2 * rng_uniform(r) * (a->radius + b->radius);
    if (kind == 3 && rng_below(r, 4) == 0) far = 0.0;
    delta[0] = far * cos(angle), delta[1] = far * sin(angle), delta[2] = 0.0;
    if (kind == 1 && rng_below(r, 2)) delta[0] = 0.0, delta[1] = 1.0;
    if (rng_below(r, 2)) bring_near(r, a, b, delta);
}

/// The hull of all differences by Andrew's monotone chain, and the signed distance of the origin.
typedef struct spot {
    double x, y;
} spot;

static int spot_order(const void* p, const void* q)
{
    const spot *a = p, *b = q;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->y < b->y ? -1 : a->y > b->y;
}

static double turn_of(spot a, spot b, spot c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static double hull_distance(const convex* a, const convex* b, const double* delta)
{
    static spot points[MAX_CORNERS * MAX_CORNERS], hull[2 * MAX_CORNERS * MAX_CORNERS];
    int count = 0, made = 0;
    for (int i = 0; i < a->vertex_count; i++) {
        for (int j = 0; j < b->vertex_count; j++) {
            points[count++] = (spot){b->vertex[2 * j] + delta[0] - a->vertex[2 * i],
                                     b->vertex[2 * j + 1] + delta[1] - a->vertex[2 * i + 1]};
        }
    }
    qsort(points, (size_t)count, sizeof *points, spot_order);
    for (int i = 0; i < count; i++) {
        while (made >= 2 && turn_of(hull[made - 2], hull[made - 1], points[i]) <= 0.0) made--;
        hull[made++] = points[i];
    }
    for (int i = count - 2, lower = made + 1; i >= 0; i--) {
        while (made >= lower && turn_of(hull[made - 2], hull[made - 1], points[i]) <= 0.0) made--;
        hull[made++] = points[i];
    }
    double line = -INFINITY, square = INFINITY;
    for (int i = 0; i + 1 < made; i++) {
        double from[2] = {hull[i].x, hull[i].y}, to[2] = {hull[i + 1].x, hull[i + 1].y};
        double zero[2] = {0.0, 0.0}, length = hypot(to[0] - from[0], to[1] - from[1]);
        // Corners that are equal but for rounding make a side without a direction.
        if (length > 1e-12)
            line = fmax(line, -turn_of(hull[i], hull[i + 1], (spot){0.0, 0.0}) / length);
        square = fmin(square, slow_point_segment(2, zero, from, to));
    }
    return line > 0.0 ? sqrt(square) : line;
}

static void test_distance(void** state)
{
    const pool* p = *state;
    const int count = test_count(500000, 20000);
    double value = 0.0, normal = 0.0, chain = 0.0;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(1, (uint64_t)i, 0);
        placed a, b;
        double delta[3], n[3], m[3];
        random_pair(&r, any(p, &r), any(p, &r), &a, &b, delta);
        const convex *x = body(&a), *y = body(&b);
        double size = a.radius + b.radius, fast = convex_distance(x, y, delta, n);
        value = fmax(value, fabs(fast - slow_distance(x, y, delta, m)) / size);
        value = fmax(value, fabs(convex_overlap(x, y, delta) - fmax(-fast, 0.0)) / size);
        normal = fmax(normal, fabs(slow_gap(x, y, delta, n) - fast) / size);
        if (i % 8 == 0) chain = fmax(chain, fabs(hull_distance(x, y, delta) - fast) / size);
        if (fmax(value, normal) > 1e-10 || chain > 1e-10) {
            fail_msg("pair %d: fast %.17g slow %.17g along its normal %.17g hull %.17g", i, fast,
                     slow_distance(x, y, delta, m), slow_gap(x, y, delta, n),
                     hull_distance(x, y, delta));
        }
    }
    check_below("distance, of the size", value, 1e-10, "rounding");
    check_below("gap along the normal, of the size", normal, 1e-10, "the normal is exact");
    check_below("distance by the hull of differences, of the size", chain, 1e-10, "rounding");
}

/// Disks, and skins on everything.
static void test_distance_round(void** state)
{
    const pool* p = *state;
    const int count = test_count(200000, 10000);
    double value = 0.0, normal = 0.0;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(2, (uint64_t)i, 0);
        placed a, b;
        double delta[3], n[3], m[3];
        random_pair(&r, any(p, &r), any(p, &r), &a, &b, delta);
        a.c.skin = 0.3 * rng_uniform(&r), b.c.skin = 0.3 * rng_uniform(&r);
        int which = (int)rng_below(&r, 4);
        if (which & 1) place_ball(2, 0.1 + rng_uniform(&r), &a);
        if (which & 2) place_ball(2, 0.1 + rng_uniform(&r), &b);
        const convex *x = body(&a), *y = body(&b);
        double skins = x->skin + y->skin, size = a.radius + b.radius + skins;
        double fast = convex_distance(x, y, delta, n);
        value = fmax(value, fabs(fast - slow_distance(x, y, delta, m)) / size);
        value = fmax(value, fabs(convex_overlap(x, y, delta) - fmax(-fast, 0.0)) / size);
        normal = fmax(normal, fabs(slow_gap(x, y, delta, n) - skins - fast) / size);
    }
    check_below("distance, of the size", value, 1e-10, "rounding");
    check_below("gap along the normal, of the size", normal, 1e-10, "the normal is exact");
}

static void test_points(void** state)
{
    const pool* p = *state;
    const int count = test_count(300000, 10000);
    long some = 0, two = 0;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(3, (uint64_t)i, 0);
        placed a, b;
        double delta[3];
        random_pair(&r, any(p, &r), any(p, &r), &a, &b, delta);
        if (i % 3 == 0) a.c.skin = 0.1 * rng_uniform(&r), b.c.skin = 0.1 * rng_uniform(&r);
        double size = a.radius + b.radius + a.c.skin + b.c.skin;
        double reach = size * pow(10.0, -4.0 * rng_uniform(&r));
        touch t[CONVEX_MAX_TOUCHES];
        int made = convex_touches(body(&a), body(&b), delta, reach, NULL, t);
        check_points(body(&a), body(&b), delta, reach, size, t, made);
        some += made > 0, two += made == 2;
    }
    check_below("pairs without points", (double)(count - some), 0.9 * count, "half are near");
    check_below("pairs without two points", (double)(count - two), 0.9 * count, "sides meet often");
}

/// In general position, exchange of the bodies gives mirrored points, and a common turn turned
/// ones.
static void test_symmetry(void** state)
{
    const pool* p = *state;
    const int count = test_count(100000, 5000);
    int met = 0, exchanged = 0, turned = 0;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(5, (uint64_t)i, 0);
        const polytope *f = any(p, &r), *g = any(p, &r);
        double qa[4] = {6.3 * rng_uniform(&r)}, qb[4] = {6.3 * rng_uniform(&r)}, by = 1.0;
        double delta[3] = {rng_normal(&r), rng_normal(&r), 0.0}, n[3];
        placed a, b;
        touch s[CONVEX_MAX_TOUCHES], t[CONVEX_MAX_TOUCHES];
        place(f, qa, 0.0, &a), place(g, qb, 0.0, &b);
        double now = convex_distance(body(&a), body(&b), delta, n);
        vec_add_scaled(2, delta, 0.02 * rng_uniform(&r) - 0.01 - now, n);
        int made = convex_touches(body(&a), body(&b), delta, 0.02, NULL, s);
        met += made > 0;
        exchanged += made > 0 && symmetric(body(&a), body(&b), delta, 0.02, 1e-9);
        qa[0] += by, qb[0] += by;
        place(f, qa, 0.0, &a), place(g, qb, 0.0, &b);
        const double moved[3] = {cos(by) * delta[0] - sin(by) * delta[1],
                                 sin(by) * delta[0] + cos(by) * delta[1], 0.0};
        int again = convex_touches(body(&a), body(&b), moved, 0.02, NULL, t);
        for (int j = 0; j < again; j++) {
            for (int v = 0; v < 2; v++) {
                double* x = v ? t[j].normal : t[j].point;
                double y[2] = {cos(by) * x[0] + sin(by) * x[1], cos(by) * x[1] - sin(by) * x[0]};
                vec_copy(2, x, y);
            }
        }
        turned += made > 0 && same_points(s, made, t, again, 1e-9);
    }
    check_below("pairs apart", count - met, 0.0, "all were brought near");
    // Names may differ where features meet within the slack of 1e-6 or gaps reach 0.02 exactly.
    check_below("share changed by exchange", (met - exchanged) / (double)met, 1e-4, "slack 1e-6");
    check_below("share changed by a turn", (met - turned) / (double)met, 1e-4, "slack 1e-6");
}

/// A box that hovers a little tilted over another has both points, each with its own gap.
static void test_tilted_hover(void** state)
{
    (void)state;
    const double half[3] = {0.5, 0.5, 0.0}, tilt[4] = {1e-3}, none[4] = {0.0};
    const double delta[3] = {0.1, 1.01, 0.0};
    polytope p;
    talus_error error;
    check_ok(polytope_box(2, half, &p, &error), error);
    placed a, b;
    place(&p, none, 0.0, &a);
    place(&p, tilt, 0.0, &b);
    touch t[CONVEX_MAX_TOUCHES];
    assert_int_equal(convex_touches(body(&a), body(&b), delta, 0.02, NULL, t), 2);
    // b's lower left corner, and a's upper right corner under b's lower side, at x = 0.5.
    double low = 1.01 - 0.5 * sin(1e-3) - 0.5 * cos(1e-3) - 0.5;
    double left = 0.1 - 0.5 * cos(1e-3) + 0.5 * sin(1e-3);
    check_close("gap of b's corner", fmin(t[0].gap, t[1].gap), low, 1e-14, "rounding");
    check_close("gap of a's corner", fmax(t[0].gap, t[1].gap), low + tan(1e-3) * (0.5 - left),
                1e-14, "rounding");
    polytope_free(&p);
}

/// A box slides along a row of boxes with equal tops, sunk by 1e-6 of its size: no side stops it.
static void test_row(void** state)
{
    (void)state;
    const double half[3] = {0.5, 0.5, 0.0}, none[4] = {0.0};
    polytope p;
    talus_error error;
    check_ok(polytope_box(2, half, &p, &error), error);
    placed a, b;
    place(&p, none, 0.0, &a);
    place(&p, none, 0.0, &b);
    const convex_hint hint = {.shift = {1.3e-3, -1e-5, 0.0}};
    double across = 0.0;
    int count = 0, steps = test_count(20000, 5000);
    for (int i = 0; i < steps; i++) {
        for (int k = 0; k < 25; k++) {
            double delta[3] = {-1.5 + 1.3e-3 * i - k, 1.0 - 1e-6, 0.0};
            touch t[CONVEX_MAX_TOUCHES];
            int made = convex_touches(body(&a), body(&b), delta, 1e-2, &hint, t);
            for (int j = 0; j < made; j++) {
                // A side may be named where the free motion does not reach it.
                double after = t[j].gap + vec_dot(2, hint.shift, t[j].normal);
                if (after < -1.2e-5) across = fmax(across, fabs(t[j].normal[0]));
                count++;
            }
        }
    }
    check_below("sideways normal", across, 1e-12, "the tops are flat");
    check_below("steps without a contact", steps - count, 0.0, "always over some box");
    polytope_free(&p);
}

/// Apart, d n is the way from the difference body to the origin, which no shift changes by more
/// than itself: |n - n'| <= 2 |shift| / d.
static void test_continuity(void** state)
{
    const pool* p = *state;
    const int paths = test_count(2000, 200);
    double most = 0.0;
    for (int i = 0; i < paths; i++) {
        rng r = rng_make(4, (uint64_t)i, 0);
        placed a, b;
        double delta[3], n[3], old[3] = {0.0}, d, last = 0.0;
        random_pair(&r, any(p, &r), any(p, &r), &a, &b, delta);
        double step[2] = {1e-3 * rng_normal(&r), 1e-3 * rng_normal(&r)};
        for (int k = 0; k < 200; k++, last = d, vec_copy(3, old, n)) {
            vec_add_scaled(2, delta, 1.0, step);
            d = convex_distance(body(&a), body(&b), delta, n);
            if (k == 0 || d < 1e-6 || last < 1e-6) continue;
            double turn[3];
            vec_sub(3, turn, n, old);
            most = fmax(most, vec_norm(3, turn) * fmax(d, last) / vec_norm(2, step));
            double jump = fabs(d - last);
            if (jump > vec_norm(2, step) * (1.0 + 1e-9)) fail_msg("distance jumps by %g", jump);
        }
    }
    check_below("turn of the normal times distance over shift", most, 2.0 + 1e-6,
                "projection onto a convex body shortens distances");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),     cmocka_unit_test(test_distance_round),
        cmocka_unit_test(test_points),       cmocka_unit_test(test_symmetry),
        cmocka_unit_test(test_tilted_hover), cmocka_unit_test(test_row),
        cmocka_unit_test(test_continuity),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
