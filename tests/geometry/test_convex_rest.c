/// What holds convex bodies at rest and lets them slide: names that do not flicker, the axis of the
/// last step against the full search, rows of boxes with equal tops, the choice of four points,
/// faces of many corners, and gaps by name.
#include "convex_bodies.h"

#include "geometry/polytope.h"

static const double none[4] = {1.0, 0.0, 0.0, 0.0};

/// Names of the last step, to be passed on.
typedef struct names {
    int64_t kept[CONVEX_MAX_TOUCHES];
    int count;
} names;

static void remember(names* n, const touch* t, int count)
{
    n->count = count;
    for (int i = 0; i < count; i++) n->kept[i] = t[i].feature;
}

static void make_box(int dim, double x, double y, double z, polytope* p)
{
    const double half[3] = {x, y, z};
    talus_error error;
    check_ok(polytope_box(dim, half, p, &error), error);
}

/// A turn that is random but small, about all axes (2D: an angle).
static void small_turn(rng* r, int dim, double size, double base, double q[4])
{
    if (dim == 2) {
        q[0] = base + size * rng_normal(r), q[1] = q[2] = q[3] = 0.0;
        return;
    }
    const double turn[3] = {size * rng_normal(r), size * rng_normal(r), size * rng_normal(r)};
    const double about[3] = {0.0, 0.0, base};
    double first[4], second[4];
    quat_from_rotation(first, about);
    quat_from_rotation(second, turn);
    quat_multiply(q, second, first);
}

// ---- names at rest -----------------------------------------------------------------------------

/// Box b on box a, moved about by noise under its weight: how often the names change.
static int changes_at_rest(const polytope* pa, const polytope* pb, const double at[3], double yaw,
                           double noise, double sunk)
{
    const int dim = pa->dim, up = dim - 1;
    names last = {.count = 0};
    int changes = 0;
    for (int i = 0; i < test_count(400, 100); i++) {
        rng r = rng_make(21, (uint64_t)i, 0);
        placed a, b;
        double qa[4], qb[4], delta[3] = {at[0], at[1], at[2]};
        small_turn(&r, dim, noise, 0.0, qa), small_turn(&r, dim, noise, yaw, qb);
        place(pa, qa, 0.0, &a), place(pb, qb, 0.0, &b);
        for (int k = 0; k < dim; k++) delta[k] += noise * rng_normal(&r);
        delta[up] -= sunk;
        convex_hint hint = {.kept = last.kept, .kept_count = last.count};
        hint.shift[up] = -1e-5;
        touch t[CONVEX_MAX_TOUCHES];
        int made = convex_touches(body(&a), body(&b), delta, 1e-3, &hint, t);
        assert_int_equal(made, dim == 2 ? 2 : 4);
        bool same = made == last.count;
        for (int k = 0; same && k < made; k++) same = t[k].feature == last.kept[k];
        changes += !same;
        remember(&last, t, made);
    }
    return changes;
}

static void test_names_rest(void** state)
{
    (void)state;
    static const double noises[] = {1e-9, 1e-8, 1e-7};
    for (int dim = 2; dim <= 3; dim++) {
        polytope box, large, plate;
        make_box(dim, 0.5, 0.5, 0.5, &box);
        make_box(dim, 2.0, 0.5, 0.5, &large);
        make_box(dim, 0.5, dim == 2 ? 0.5 : 1.5, 0.5, &plate);
        const struct {
            const polytope *a, *b;
            double at, side, yaw;
        } rows[] = {
            {&box, &box, 0.0, 0.0, 0.0},
            {&box, &box, 0.5, 0.0, 0.0},
            {&box, &box, 0.5, 0.5, 0.0},
            {&large, &box, 0.3, 0.0, 0.0},
            {&box, &large, 0.0, 0.0, 0.0},
            {&box, &plate, 0.25, 0.0, 0.0},
            {&box, &box, 0.0, 0.0, 0.785398163397448},
            {&box, &box, 0.1, 0.05, 0.5},
            {&large, &large, 0.3, 0.1, 0.9},
        };
        int changes = 0;
        const int count = dim == 2 ? 5 : (int)(sizeof rows / sizeof *rows);
        for (int i = 0; i < count; i++) {
            for (int n = 0; n < 3; n++) {
                for (int s = -1; s <= 1; s++) {
                    const double at[3] = {rows[i].at, dim == 2 ? 1.0 : rows[i].side, 1.0};
                    int c = changes_at_rest(rows[i].a, rows[i].b, at, rows[i].yaw, noises[n],
                                            2.0 * s * noises[n]);
                    changes += c - 1;
                }
            }
        }
        check_below("changes of names", changes, 0.0, "noise is below the slack of 1e-6");
        polytope_free(&box), polytope_free(&large), polytope_free(&plate);
    }
}

// ---- the axis of the last step -----------------------------------------------------------------

/// Whatever names are said to be those of the last step, the points obey the same rules as those of
/// the full search.
static void test_resume(void** state)
{
    (void)state;
    long kept = 0, count = test_count(100000, 5000);
    for (int i = 0; i < count; i++) {
        rng r = rng_make(22, (uint64_t)i, 0);
        const int dim = 2 + i % 2, up = dim - 1;
        polytope p, q;
        make_box(dim, 0.2 + rng_uniform(&r), 0.5, 0.1 + rng_uniform(&r), &p);
        make_box(dim, 0.2 + rng_uniform(&r), 0.5, 0.3, &q);
        double high = fabs(p.vertex[up]) + fabs(q.vertex[up]), qa[4], qb[4];
        const double tilt = pow(10.0, -9.0 + 7.0 * rng_uniform(&r));
        small_turn(&r, dim, tilt, 0.0, qa);
        small_turn(&r, dim, tilt, dim == 2 ? 0.0 : 3.0 * rng_uniform(&r), qb);
        placed a, b;
        place(&p, qa, 0.0, &a), place(&q, qb, 0.0, &b);
        if (i % 5 == 0) a.c.skin = 0.1 * rng_uniform(&r), b.c.skin = 0.1 * rng_uniform(&r);
        double delta[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < up; k++) {
            // Where nothing overlaps, nearly parallel edges meet, whose points lie between both.
            double most = fabs(p.vertex[k]) + fabs(q.vertex[k]);
            delta[k] = (1.8 * rng_uniform(&r) - 0.9) * most;
        }
        double off = pow(10.0, -9.0 + 8.0 * rng_uniform(&r)) * (rng_below(&r, 2) ? 1.0 : -1.0);
        delta[up] = high + a.c.skin + b.c.skin + off;
        double size = a.radius + b.radius + a.c.skin + b.c.skin;
        touch t[CONVEX_MAX_TOUCHES];
        names last;
        remember(&last, t, convex_touches(body(&a), body(&b), delta, 0.05, NULL, t));
        vec_add_scaled(dim, delta, 1e-3 * rng_uniform(&r), delta);
        if (i % 4 == 0) {
            // Any face of either.
            bool of_a = rng_below(&r, 2) == 0;
            int face = (int)rng_below(&r, (uint64_t)p.face_count);
            last.kept[0] = of_a ? feature_make(FEATURE_FACE_VERTEX, face, 0)
                                : feature_make(FEATURE_VERTEX_FACE, 0, face);
            last.count = 1;
        }
        const convex_hint hint = {.kept = last.kept, .kept_count = last.count};
        int made = convex_touches(body(&a), body(&b), delta, 0.05, &hint, t);
        check_points(body(&a), body(&b), delta, 0.05, size, t, made);
        kept += made > 0;
        polytope_free(&p), polytope_free(&q);
    }
    check_below("pairs without points", (double)(count - kept), 0.7 * (double)count,
                "many are near");
}

// ---- rows --------------------------------------------------------------------------------------

/// A box creeps over the joint between two boxes with equal tops: the largest sideways impulse (as
/// a displacement in the step) that a contact would give it.
static double stop_at_joint(int dim, double sunk, double speed, double phase, double noise)
{
    const int up = dim - 1, steps = 60;
    polytope p;
    make_box(dim, 0.5, 0.5, 0.5, &p);
    names last[2] = {{.count = 0}, {.count = 0}};
    double most = 0.0;
    for (int i = 0; i < steps; i++) {
        rng r = rng_make(23, (uint64_t)i, 0);
        placed a, b;
        double qa[4], qb[4];
        small_turn(&r, dim, 0.0, 0.0, qa), small_turn(&r, dim, noise, 0.0, qb);
        place(&p, qa, 0.0, &a), place(&p, qb, 0.0, &b);
        for (int k = 0; k < 2; k++) {
            // b's front over the near border of box k = 1, while it lies on box 0.
            double delta[3] = {(i - steps / 2 + phase) * speed - k, 0.0, 0.0};
            if (dim == 3) delta[1] = 0.1;
            delta[up] = 1.0 - sunk + noise * rng_normal(&r);
            convex_hint hint = {
                .shift = {speed}, .kept = last[k].kept, .kept_count = last[k].count};
            hint.shift[up] = -1e-5;
            touch t[CONVEX_MAX_TOUCHES];
            int made = convex_touches(body(&a), body(&b), delta, 0.2, &hint, t);
            for (int j = 0; j < made; j++) {
                double after = t[j].gap + vec_dot(dim, hint.shift, t[j].normal);
                if (t[j].normal[0] < -1e-3 && k == 1) most = fmax(most, -after);
            }
            remember(&last[k], t, made);
        }
    }
    polytope_free(&p);
    return most;
}

static void test_creep(void** state)
{
    (void)state;
    static const double depth[] = {0.0, 1e-9, 1e-6};
    for (int dim = 2; dim <= 3; dim++) {
        double most = 0.0;
        for (int s = 0; s < 3; s++) {
            for (int e = 0; e <= 10; e++) {
                for (int f = 0; f < test_count(200, 20); f++) {
                    rng r = rng_make(24, (uint64_t)f, (uint64_t)e);
                    double speed = pow(10.0, -6.0 + 0.5 * e), noise = f % 2 ? 1e-10 : 0.0;
                    double stop = stop_at_joint(dim, depth[s], speed, rng_uniform(&r), noise);
                    most = fmax(most, stop);
                }
            }
        }
        check_below("displacement that a joint stops", most, 1e-12, "the tops are one plane");
    }
}

// ---- turns -------------------------------------------------------------------------------------

/// Gap along n, held fixed, after the bodies have really been turned and shifted.
static double gap_after(const placed* a, const placed* b, const double delta[3],
                        const convex_hint* hint, const double n[3])
{
    placed x = *a, y = *b;
    const int dim = a->c.dim;
    double moved[3] = {0.0, 0.0, 0.0}, q[4];
    for (int k = 0; k < dim; k++) moved[k] = delta[k] + hint->shift[k];
    for (int which = 0; which < 2; which++) {
        placed* p = which ? &y : &x;
        quat_from_rotation(q, which ? hint->turn_b : hint->turn_a);
        for (int i = 0; i < p->c.vertex_count; i++) {
            double v[3] = {p->vertex[dim * i], p->vertex[dim * i + 1],
                           dim == 3 ? p->vertex[3 * i + 2] : 0.0};
            quat_rotate(v, q, v);
            vec_copy(dim, p->vertex + dim * i, v);
        }
    }
    return slow_gap(body(&x), body(&y), moved, n);
}

/// Boxes whose corners or edges meet, and which turn and shift into each other: no face that
/// separates them now would be penetrated less than the axis that is taken.
static void test_foresight(void** state)
{
    (void)state;
    double worse = 0.0;
    long hits = 0, exchanged = 0;
    for (int i = 0; i < test_count(100000, 5000); i++) {
        rng r = rng_make(29, (uint64_t)i, 0);
        const int dim = 2 + i % 2;
        polytope p, q;
        make_box(dim, 0.5, 0.2 + rng_uniform(&r), 0.5, &p);
        make_box(dim, 0.2 + rng_uniform(&r), 0.5, 0.3, &q);
        placed a, b;
        double qa[4], qb[4], n[3] = {0.0}, m[3];
        small_turn(&r, dim, i % 5 ? 0.3 : 0.0, 0.0, qa), small_turn(&r, dim, 0.3, 0.0, qb);
        place(&p, qa, 0.0, &a), place(&q, qb, 0.0, &b);
        double delta[3] = {rng_normal(&r), rng_normal(&r), dim == 3 ? rng_normal(&r) : 0.0};
        double now = convex_distance(body(&a), body(&b), delta, n);
        vec_add_scaled(dim, delta, 2e-4 + 1e-3 * rng_uniform(&r) - now, n);
        convex_hint hint = {.kept_count = 0};
        for (int k = 0; k < 3; k++) {
            if (k < dim) hint.shift[k] = 1e-3 * rng_normal(&r);
            if (dim == 3 || k == 2) hint.turn_a[k] = 2e-3 * rng_normal(&r);
            if (dim == 3 || k == 2) hint.turn_b[k] = 2e-3 * rng_normal(&r);
        }
        touch t[CONVEX_MAX_TOUCHES], pure[CONVEX_MAX_TOUCHES];
        int made = convex_touches(body(&a), body(&b), delta, 0.02, &hint, t);
        convex_touches(body(&a), body(&b), delta, 0.02, NULL, pure);
        double taken = made > 0 ? gap_after(&a, &b, delta, &hint, t[0].normal) : 0.0;
        // Where faces lie over each other every other axis is nearly parallel, and none is sought.
        if (taken < 0.0 && made == 1) {
            hits++;
            vec_sub(3, m, t[0].normal, pure[0].normal);
            exchanged += vec_norm(3, m) > 1e-6;
            for (int f = 0; f < 2 * p.face_count; f++) {
                const placed* own = f < p.face_count ? &a : &b;
                const double s = f < p.face_count ? 1.0 : -1.0;
                for (int k = 0; k < dim; k++) m[k] = s * own->normal[dim * (f % p.face_count) + k];
                if (slow_gap(body(&a), body(&b), delta, m) < 1e-4) continue;
                double other = gap_after(&a, &b, delta, &hint, m);
                worse = fmax(worse, other - taken - 1e-3 * fabs(taken));
            }
        }
        polytope_free(&p), polytope_free(&q);
    }
    check_below("hits that were not seen", 1000.0 * test_scale() - (double)hits, 0.0, "many hit");
    check_below("penetration that another face avoids", worse, 1e-4,
                "squares of turns up to 8e-3 are left out");
    check_below("exchanged axes missing", 100.0 * test_scale() - (double)exchanged, 0.0,
                "some are");
}

// ---- four of many points -----------------------------------------------------------------------

/// Points in the plane of `frame`'s first two rows, with the third as the normal.
static void spread(rng* r, int count, bool round, const double frame[9], touch* t)
{
    for (int i = 0; i < count; i++) {
        double angle = round ? 6.283185307179586 * i / count : 6.3 * rng_uniform(r);
        double far = round ? 1.0 : sqrt(rng_uniform(r)), x = far * cos(angle);
        double y = 0.3 * far * sin(angle);
        t[i] = (touch){.gap = round ? 0.0 : 1e-2 * rng_uniform(r),
                       .feature = feature_make(FEATURE_FACE_VERTEX, 1, (37 * i) % 211)};
        for (int k = 0; k < 3; k++) {
            t[i].point[k] = x * frame[k] + y * frame[3 + k];
            t[i].normal[k] = frame[6 + k];
        }
    }
}

/// Area of the hull by Jarvis' march in the plane.
static double area_by_march(const touch* t, int count, const double frame[9])
{
    int first = 0, at;
    double area = 0.0;
    for (int i = 1; i < count; i++) {
        if (vec_dot(3, t[i].point, frame) < vec_dot(3, t[first].point, frame)) first = i;
    }
    at = first;
    for (int side = 0; side < count; side++) {
        int next = at == 0 ? 1 : 0;
        const double ax = vec_dot(3, t[at].point, frame), ay = vec_dot(3, t[at].point, frame + 3);
        for (int i = 0; i < count; i++) {
            double nx = vec_dot(3, t[next].point, frame) - ax;
            double ny = vec_dot(3, t[next].point, frame + 3) - ay;
            double ix = vec_dot(3, t[i].point, frame) - ax;
            double iy = vec_dot(3, t[i].point, frame + 3) - ay;
            if (nx * iy - ny * ix < 0.0) next = i;
        }
        const double* to = t[next].point;
        area += 0.5 * (ax * vec_dot(3, to, frame + 3) - ay * vec_dot(3, to, frame));
        at = next;
        if (at == first) break;
    }
    return area;
}

static void random_frame(rng* r, double frame[9])
{
    double q[4];
    rotation_random(r, q);
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        quat_rotate(frame + 3 * k, q, unit);
    }
}

static double least_of(const touch* t, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++) least = fmin(least, t[i].gap);
    return least;
}

static void test_reduce(void** state)
{
    (void)state;
    double share = 1.0, lost = 0.0;
    int changed = 0, flickers = 0;
    const int choices = test_count(20000, 2000);
    for (int i = 0; i < choices; i++) {
        rng r = rng_make(25, (uint64_t)i, 0);
        touch t[200], s[200];
        double frame[9];
        const int count = 5 + (int)rng_below(&r, 196);
        random_frame(&r, frame);
        spread(&r, count, i % 4 == 0, frame, t);
        const double area = area_by_march(t, count, frame), least = least_of(t, count);
        // The order in which the points come does not matter.
        for (int k = 0; k < count; k++) s[k] = t[count - 1 - k];
        assert_int_equal(touches_reduce(t, count, CONVEX_REST_TOUCHES, NULL), 4);
        assert_int_equal(touches_reduce(s, count, CONVEX_REST_TOUCHES, NULL), 4);
        changed += !same_points(s, 4, t, 4, 0.0);
        for (int k = 1; k < 4; k++) assert_true(t[k].feature > t[k - 1].feature);
        share = fmin(share, area_by_march(t, 4, frame) / area);
        lost = fmax(lost, least_of(t, 4) - least);
        // Once chosen they stay, though all points move a little.
        names last;
        remember(&last, t, 4);
        const convex_hint hint = {.kept = last.kept, .kept_count = 4};
        rng again = rng_make(25, (uint64_t)i, 0);
        rng_below(&again, 196), random_frame(&again, frame);
        spread(&again, count, i % 4 == 0, frame, s);
        for (int k = 0; k < count; k++) {
            vec_add_scaled(3, s[k].point, 1e-4 * rng_normal(&r), frame);
            s[k].gap += 1e-7 * rng_uniform(&r);
        }
        assert_int_equal(touches_reduce(s, count, CONVEX_REST_TOUCHES, &hint), 4);
        bool same = true;
        for (int k = 0; k < 4; k++) same = same && s[k].feature == last.kept[k];
        flickers += !same;
    }
    check_below("area lost", 1.0 - share, 0.75, "a quarter is proven in touches.c");
    // The box about an ellipse with axes 2 and 0.6 has a diagonal of at most 2.09.
    check_below("depth lost", lost, 2.1e-6, "gaps within 1e-6 of the span are equals");
    check_below("choices that depend on the order", changed, 0.0, "ties go to the lower name");
    // The two deepest of 100 gaps within 1e-2 are 1e-4 apart, so one in a thousand changes of 1e-7
    // makes another point the deepest, from which a better choice may start.
    check_below("share of choices that flicker", flickers / (double)choices, 1e-3, "1e-7 / 1e-4");
}

/// Prisms of 64 and more sides stand on a box and on each other: the four points are well spread,
/// and the deepest is among them.
static void test_many_corners(void** state)
{
    (void)state;
    const double axis[3] = {0.0, 0.0, 1.0};
    polytope prism, box;
    talus_error error;
    check_ok(polytope_prism(axis, 1.0, 0.5, 64, &prism, &error), error);
    make_box(3, 3.0, 3.0, 0.5, &box);
    for (int i = 0; i < test_count(400, 60); i++) {
        rng r = rng_make(26, (uint64_t)i, 0);
        placed a, b;
        double qa[4], qb[4], frame[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
        const double tilt = i % 3 ? 1e-4 : 0.0;
        const bool on_box = i % 2;
        small_turn(&r, 3, 0.0, 0.0, qa), small_turn(&r, 3, tilt, rng_uniform(&r), qb);
        place(on_box ? &box : &prism, qa, 0.0, &a), place(&prism, qb, 0.0, &b);
        const double delta[3] = {on_box ? 0.3 : 0.0, 0.1 * on_box, 1.0 + 1e-4 * rng_normal(&r)};
        touch t[CONVEX_MAX_TOUCHES];
        assert_int_equal(convex_touches(body(&a), body(&b), delta, 1e-2, NULL, t), 4);
        double least = least_of(t, 4), along = slow_gap(body(&a), body(&b), delta, t[0].normal);
        if (least > along + 4e-6)
            fail_msg("pair %d: least gap %g, along the axis %g", i, least, along);
        for (int k = 0; k < 4; k++) check_inside(body(&a), body(&b), delta, 1e-5, &t[k]);
        double area = area_by_march(t, 4, frame);
        // A square in the circle has 2 / pi of its area; a tilted one keeps its deepest corner.
        check_below("area lost", 1.0 - area / 3.14159, 0.5, "the four span half the circle");
    }
    polytope_free(&prism), polytope_free(&box);
}

// ---- gaps by name ------------------------------------------------------------------------------

/// The direction in which the features of a name are measured: the face's normal, or across edges;
/// false for corners.
static bool named_normal(const convex* a, const convex* b, int64_t feature, double n[3])
{
    double u[3], v[3];
    switch (feature_kind_of(feature)) {
    case FEATURE_FACE_VERTEX: vec_copy(a->dim, n, a->normal + a->dim * feature_a(feature)); break;
    case FEATURE_VERTEX_FACE:
        for (int k = 0; k < a->dim; k++) n[k] = -b->normal[a->dim * feature_b(feature) + k];
        break;
    default:
        if (a->dim == 2 || feature_a(feature) >= a->shape->edge_count ||
            feature_b(feature) >= b->shape->edge_count) {
            return false;
        }
        const int32_t* e = a->shape->edge + 4 * feature_a(feature);
        const int32_t* f = b->shape->edge + 4 * feature_b(feature);
        vec_sub(3, u, a->vertex + 3 * e[1], a->vertex + 3 * e[0]);
        vec_sub(3, v, b->vertex + 3 * f[1], b->vertex + 3 * f[0]);
        vec_cross(n, u, v);
        double length = vec_norm(3, n);
        if (length < 1e-2 * vec_norm(3, u) * vec_norm(3, v)) return false;
        for (int k = 0; k < 3; k++) n[k] /= length;
    }
    return true;
}

/// The gap by name is the gap of the touch, seen along the features' own normal.
static void test_gap_by_name(void** state)
{
    (void)state;
    double face = 0.0, edges = 0.0, corners = 0.0;
    long seen[4][3] = {{0}};
    for (int i = 0; i < test_count(100000, 5000); i++) {
        rng r = rng_make(27, (uint64_t)i, 0);
        const int dim = 2 + i % 2;
        polytope p, q;
        make_box(dim, 0.2 + rng_uniform(&r), 0.5, 0.1 + rng_uniform(&r), &p);
        make_box(dim, 0.2 + rng_uniform(&r), 0.5, 0.3, &q);
        placed a, b;
        double qa[4] = {6.0 * rng_uniform(&r)}, qb[4] = {6.0 * rng_uniform(&r)}, n[3] = {0.0};
        if (dim == 3) rotation_random(&r, qa), rotation_random(&r, qb);
        if (i % 3 == 0) small_turn(&r, dim, 1e-2, 0.0, qa), small_turn(&r, dim, 1e-2, 1.0, qb);
        place(&p, qa, 0.0, &a), place(&q, qb, 0.0, &b);
        if (i % 5 == 0) a.c.skin = b.c.skin = 0.1;
        const double skins = a.c.skin + b.c.skin;
        double delta[3] = {rng_normal(&r), rng_normal(&r), dim == 3 ? rng_normal(&r) : 0.0};
        double now = convex_distance(body(&a), body(&b), delta, n);
        const int where = (int)rng_below(&r, 3) - 1; // overlapping, touching, apart
        vec_add_scaled(dim, delta, 1e-2 * where - now, n);
        touch t[CONVEX_MAX_TOUCHES];
        int made = convex_touches(body(&a), body(&b), delta, 0.02, NULL, t);
        for (int k = 0; k < made; k++) {
            const feature_kind kind = feature_kind_of(t[k].feature);
            double named = convex_gap(body(&a), body(&b), delta, t[k].feature, t[k].normal) + skins,
                   m[3];
            double gap = t[k].gap + skins;
            seen[kind][where + 1]++;
            if (!named_normal(body(&a), body(&b), t[k].feature, m)) {
                // Between corners, and across edges that are parallel or nearly so.
                corners = fmax(corners, fabs(named) - fabs(gap));
            } else if (kind == FEATURE_EDGE_EDGE) {
                edges = fmax(edges, fabs(named - fabs(vec_dot(3, m, t[k].normal)) * gap));
            } else {
                face = fmax(face, fabs(named - vec_dot(dim, m, t[k].normal) * gap));
            }
        }
        polytope_free(&p), polytope_free(&q);
    }
    for (int kind = 1; kind < 4; kind++) {
        for (int where = 0; where < 3; where++) assert_true(seen[kind][where] > 100);
    }
    check_below("gap of a corner over a face", face, 1e-12, "rounding");
    check_below("gap of crossing edges", edges, 1e-5, "edges are cut with a slack of 1e-6");
    check_below("gap of corners", corners, 1e-12, "the nearest points are nearer than any others");
}

// ---- small motions -----------------------------------------------------------------------------

/// As far as bodies at rest of this size are sought (touches_most()).
static const double REST_REACH = 0.01;

/// Walks a pair of boxes along a path in `steps` steps; returns how often the names change, and
/// the largest change of a gap over the length of a step.
static int walk_path(uint64_t seed, int dim, int steps, double* slope, double* turned)
{
    rng r = rng_make(28, seed, 0);
    polytope p, q;
    make_box(dim, 0.2 + rng_uniform(&r), 0.5, 0.5, &p);
    make_box(dim, 0.5, 0.5, 0.3, &q);
    double about[3], way[3], at[3] = {0.3 * rng_normal(&r), 0.3 * rng_normal(&r), 0.0};
    for (int k = 0; k < 3; k++) about[k] = 3e-3 * rng_normal(&r), way[k] = 0.1 * rng_normal(&r);
    at[dim - 1] = 0.5 + (dim == 2 ? 0.5 : 0.3) + 1e-4 * rng_normal(&r);
    way[dim - 1] *= 1e-3;
    names last = {.count = 0};
    touch before[CONVEX_MAX_TOUCHES];
    int changes = 0;
    const double step = (vec_norm(dim, way) + vec_norm(3, about)) / steps;
    for (int i = 0; i <= steps; i++) {
        const double s = (double)i / steps, turn[3] = {s * about[0], s * about[1], s * about[2]};
        double qb[4], delta[3] = {0.0, 0.0, 0.0}, flat[4] = {0.0};
        quat_from_rotation(qb, turn);
        if (dim == 2) qb[0] = turn[2];
        placed a, b;
        place(&p, dim == 2 ? flat : none, 0.0, &a), place(&q, qb, 0.0, &b);
        for (int k = 0; k < dim; k++) delta[k] = at[k] + s * way[k];
        const convex_hint hint = {.kept = last.kept, .kept_count = last.count};
        touch t[CONVEX_MAX_TOUCHES];
        int made = convex_touches(body(&a), body(&b), delta, REST_REACH, &hint, t);
        bool same = made == last.count;
        for (int j = 0; j < made; j++) {
            same = same && t[j].feature == last.kept[j];
            for (int k = 0; k < last.count; k++) {
                if (t[j].feature != before[k].feature) continue;
                double d[3];
                vec_sub(3, d, t[j].normal, before[k].normal);
                *slope = fmax(*slope, fabs(t[j].gap - before[k].gap) / step);
                *turned = fmax(*turned, vec_norm(3, d));
            }
        }
        changes += i > 0 && !same;
        remember(&last, t, made);
        memcpy(before, t, sizeof t);
    }
    polytope_free(&p), polytope_free(&q);
    return changes;
}

/// Gaps and normals of names that persist follow the motion; names change where features pass each
/// other, which does not depend on the number of steps.
static void test_small_motions(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        double slope = 0.0, turned = 0.0;
        long coarse = 0, fine = 0;
        for (uint64_t i = 0; i < (uint64_t)test_count(400, 60); i++) {
            coarse += walk_path(i, dim, 100, &slope, &turned);
            fine += walk_path(i, dim, 1600, &slope, &turned);
        }
        print_message("dim %d: %ld changes in 100 steps, %ld in 1600\n", dim, coarse, fine);
        check_below("change of a gap over that of place", slope, 2.0,
                    "no corner is farther than 1 from b's centre, and normals turn with the faces");
        check_below("turn of a normal", turned, 2e-2, "the faces are apart by 3e-3 times a normal");
        check_below("changes of names, fine over coarse", (double)fine / (double)coarse, 1.5,
                    "coarse steps miss names that live shortly");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_rest),  cmocka_unit_test(test_resume),
        cmocka_unit_test(test_creep),       cmocka_unit_test(test_foresight),
        cmocka_unit_test(test_reduce),      cmocka_unit_test(test_many_corners),
        cmocka_unit_test(test_gap_by_name), cmocka_unit_test(test_small_motions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
