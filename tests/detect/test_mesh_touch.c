/// Contacts with meshes against analytic planes, boxes and spheres, and against brute force.
///
/// Independent computations: planes, boxes and spheres in closed form; distances by brute force
/// over all pairs of triangles, points and sides; overlaps by convex_distance(). Random input is
/// seeded.
#include "mesh_support.h"

#include <time.h>

// ---- Flat sheets are planes --------------------------------------------------------------------

static void test_balls_on_a_flat_sheet(void** state)
{
    (void)state;
    rng r = rng_make(4, 1, 0);
    mesh* m = sheet(12, NULL, &r);
    double worst = 0.0;
    int wrong = 0;
    for (int i = 0; i < test_count(20000, 2000); i++) {
        double radius = 0.01 + 0.3 * rng_uniform(&r), reach = 0.1 * rng_uniform(&r);
        double at[3] = {1.8 * rng_uniform(&r) - 0.9, 1.8 * rng_uniform(&r) - 0.9,
                        (radius + reach) * 2.4 * (rng_uniform(&r) - 0.5)};
        // Every third one exactly over a corner of the mesh, every third over an edge.
        const double* c = mesh_triangle(m, (int64_t)rng_below(&r, 288));
        double share = rng_uniform(&r);
        for (int k = 0; k < 2 && i % 3; k++)
            at[k] = i % 3 == 1 ? c[k] : share * c[k] + (1.0 - share) * c[3 + k];
        bool inside = fabs(at[0]) < 1.0 && fabs(at[1]) < 1.0;
        if (!inside) continue;
        convex b = ball_of(radius);
        touch_list list = ask(m, &b, at, reach);
        double gap = fabs(at[2]) - radius;
        if (list.count != (gap <= reach)) wrong++;
        for (int k = 0; k < list.count; k++) {
            double normal[3] = {0.0, 0.0, at[2] < 0.0 ? -1.0 : 1.0};
            vec_sub(3, normal, normal, list.row[k].normal);
            worst = fmax(worst, fmax(fabs(list.row[k].gap - gap), vec_norm(3, normal)));
        }
        touch_list_free(&list);
    }
    assert_int_equal(wrong, 0);
    check_below("gap and normal of a ball", worst, 1e-15, "a plane z = 0: roundoff of the radius");
    mesh_free(m);
}

/// The sheet turned, shifted and scaled somewhere: the same plane for every triangle.
static void test_bodies_on_a_flat_sheet(void** state)
{
    (void)state;
    rng r = rng_make(4, 2, 0);
    mesh* m = sheet(9, NULL, &r);
    double worst = 0.0;
    int wrong = 0, reduced = 0, many = 0;
    for (int i = 0; i < test_count(5000, 500); i++) {
        body b;
        double half[3] = {0.05 + 0.1 * rng_uniform(&r), 0.1, 0.12}, q[4];
        talus_error error;
        if (i % 2)
            check_ok(polytope_box(3, half, &b.shape, &error), error);
        else
            body_hull(&b, &r, 0.2, 12);
        random_turn(&r, q);
        if (i % 5 == 0) memcpy(q, identity, sizeof q);
        double reach = 0.2 * rng_uniform(&r), skin = i % 3 ? 0.0 : 0.02;
        double at[3] = {0.8 * rng_uniform(&r) - 0.4, 0.8 * rng_uniform(&r) - 0.4,
                        0.1 + 0.3 * rng_uniform(&r)};
        if (i % 7 == 0) at[2] = -at[2];
        body_place(&b, q, at, skin);
        double side = at[2] < 0.0 ? -1.0 : 1.0, lowest = INFINITY;
        double middle = 0.0;
        for (int v = 0; v < b.c.vertex_count; v++)
            middle += (b.vertex[3 * v + 2] + at[2]) / b.c.vertex_count;
        int expected = 0;
        for (int v = 0; v < b.c.vertex_count; v++) {
            double gap = side * (b.vertex[3 * v + 2] + at[2]) - skin;
            lowest = fmin(lowest, gap);
            expected += gap <= reach;
        }
        if (side * middle > 0.0) {
            touch_list list = ask(m, &b.c, at, reach);
            if (list.count != (expected > 4 ? 4 : expected)) wrong++;
            if (expected > 4) reduced++;
            if (expected > 1) many++;
            double least = INFINITY;
            for (int k = 0; k < list.count; k++) {
                const touch* t = list.row + k;
                assert_int_equal(feature_kind_of(t->feature), FEATURE_FACE_VERTEX);
                double height = b.vertex[3 * feature_b(t->feature) + 2] + at[2];
                worst = fmax(worst, fabs(t->gap - (side * height - skin)));
                worst = fmax(worst, fabs(t->normal[2] - side));
                worst = fmax(worst, fabs(t->point[2] - 0.5 * (height - side * skin)));
                least = fmin(least, t->gap);
            }
            // Reducing may drop a corner that is lowest by a hair.
            if (list.count > 0 && expected <= 4) worst = fmax(worst, fabs(least - lowest));
            touch_list_free(&list);
        }
        polytope_free(&b.shape);
    }
    printf("bodies with more than one corner in reach: %d, reduced to four: %d\n", many, reduced);
    assert_true(reduced > 20 && many > 100);
    assert_int_equal(wrong, 0);
    check_below("gap, normal and point of a body", worst, 1e-15, "a plane z = 0: roundoff");
    mesh_free(m);
}

static double ramp(double x, double y)
{
    return 0.3 * x - 0.7 * y + 0.2;
}

/// A tilted sheet whose corners are rounded: one contact and one normal while a ball rolls over it.
static void test_rolling_over_shared_edges(void** state)
{
    (void)state;
    rng r = rng_make(4, 3, 0);
    mesh* m = sheet(17, ramp, &r);
    double length = sqrt(1.0 + 0.3 * 0.3 + 0.7 * 0.7);
    double n[3] = {-0.3 / length, 0.7 / length, 1.0 / length}, worst = 0.0, first[3] = {0};
    int64_t name = -1;
    for (int i = 0; i <= 5000; i++) {
        double x = -0.9 + 1.8 * i / 5000.0, y = 0.5 * x, at[3] = {x, y, ramp(x, y)};
        vec_add_scaled(3, at, 0.05, n);
        convex b = ball_of(0.05);
        touch_list list = ask(m, &b, at, 0.01);
        assert_int_equal(list.count, 1);
        if (i == 0) name = list.row[0].feature, vec_copy(3, first, list.row[0].normal);
        assert_true(list.row[0].feature == name);
        assert_memory_equal(first, list.row[0].normal, sizeof first);
        worst = fmax(worst, fabs(list.row[0].gap));
        touch_list_free(&list);
    }
    double off[3];
    vec_sub(3, off, first, n);
    check_below("gap of the rolling ball", worst, 1e-14, "roundoff of a plane through corners");
    check_below("normal of the sheet", vec_norm(3, off), 1e-14, "as before");
    mesh_free(m);
}

// ---- Boxes from inside and outside -------------------------------------------------------------

/// Ball within a container: the closed planes in reach, as box_query() gives them.
static void test_ball_in_a_container(void** state)
{
    (void)state;
    rng r = rng_make(4, 4, 0);
    double half[3] = {1.0, 0.7, 0.4}, worst = 0.0;
    mesh* m = box_mesh(half, 4);
    int corners = 0, wrong = 0;
    for (int i = 0; i < test_count(20000, 2000); i++) {
        double radius = 0.2, reach = 0.1, at[3];
        for (int k = 0; k < 3; k++) at[k] = half[k] * (2.0 * rng_uniform(&r) - 1.0);
        if (i % 4 == 0) at[0] = 0.25 * half[0], at[1] = half[1] - 0.15;
        convex b = ball_of(radius);
        touch_list list = ask(m, &b, at, reach);
        int expected = 0;
        for (int face = 0; face < 6; face++) {
            int axis = face / 2;
            double side = face % 2 ? -1.0 : 1.0, gap = half[axis] + side * at[axis] - radius;
            if (gap > reach) continue;
            expected++;
            double best = INFINITY;
            for (int k = 0; k < list.count; k++)
                best =
                    fmin(best, fabs(list.row[k].gap - gap) + fabs(list.row[k].normal[axis] - side));
            worst = fmax(worst, best);
        }
        if (list.count != expected) wrong++;
        corners += expected == 3;
        touch_list_free(&list);
    }
    assert_true(corners > 100);
    assert_int_equal(wrong, 0);
    check_below("ball in a container", worst, 1e-15, "roundoff");
    mesh_free(m);
}

/// Ball outside of a solid box: the one nearest point.
static void test_ball_on_a_box(void** state)
{
    (void)state;
    rng r = rng_make(4, 5, 0);
    double half[3] = {0.5, 0.3, 0.02}, worst = 0.0;
    mesh* m = box_mesh(half, 3);
    int wrong = 0, seen = 0;
    for (int i = 0; i < test_count(20000, 2000); i++) {
        double radius = 0.1, reach = 0.1, at[3], away[3];
        for (int k = 0; k < 3; k++) {
            at[k] = (half[k] + 0.25) * (2.0 * rng_uniform(&r) - 1.0);
            if (i % 3 == 0) at[k] = half[k] * ((double)rng_below(&r, 13) - 6.0) / 3.0;
            away[k] = at[k] - fmin(fmax(at[k], -half[k]), half[k]);
        }
        double distance = vec_norm(3, away);
        if (distance == 0.0) continue;
        convex b = ball_of(radius);
        touch_list list = ask(m, &b, at, reach);
        if (list.count != (distance <= radius + reach)) {
            if (wrong++ == 0) {
                printf("ball at %.17g %.17g %.17g\n", at[0], at[1], at[2]);
                print_touches(&list);
            }
        }
        if (list.count == 1) {
            double off[3];
            for (int k = 0; k < 3; k++) off[k] = away[k] / distance - list.row[0].normal[k];
            worst = fmax(worst, fabs(list.row[0].gap - (distance - radius)) + vec_norm(3, off));
            seen++;
        }
        touch_list_free(&list);
    }
    assert_true(seen > 500);
    assert_int_equal(wrong, 0);
    check_below("ball on a thin box", worst, 1e-13, "direction of a distance of 1e-3 and more");
    mesh_free(m);
}

/// A box flat on a box: the corners of the area that both share, all with the same normal.
static void test_box_on_a_box(void** state)
{
    (void)state;
    rng r = rng_make(4, 6, 0);
    double half[3] = {0.5, 0.4, 0.3}, small[3] = {0.2, 0.35, 0.1};
    talus_error error;
    mesh* m = box_mesh(half, 3);
    body b;
    check_ok(polytope_box(3, small, &b.shape, &error), error);
    int turned = 0;
    for (int i = 0; i < test_count(2000, 200); i++) {
        double gap = i % 3 == 0 ? 0.0 : i % 3 == 1 ? 0.003 : -1e-6;
        double at[3] = {0.6 * (2.0 * rng_uniform(&r) - 1.0), 0.6 * (2.0 * rng_uniform(&r) - 1.0),
                        half[2] + small[2] + gap};
        double turn[3] = {0.0, 0.0, i % 2 ? 0.0 : 3.0 * rng_uniform(&r)}, q[4];
        quat_from_rotation(q, turn);
        body_place(&b, q, at, 0.0);
        touch_list list = ask(m, &b.c, at, 0.01);
        // Area of the shared region and of the span of the contacts, by their bounding boxes when
        // both boxes are parallel.
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        bool good = list.count == 4;
        for (int k = 0; k < list.count; k++) {
            const touch* t = list.row + k;
            good = good && fabs(t->gap - gap) < 1e-15 && fabs(t->normal[2] - 1.0) < 1e-15;
            for (int c = 0; c < 2; c++) {
                low[c] = fmin(low[c], t->point[c]);
                high[c] = fmax(high[c], t->point[c]);
            }
        }
        for (int c = 0; c < 2 && i % 2; c++) {
            good = good && fabs(low[c] - fmax(-half[c], at[c] - small[c])) < 1e-15;
            good = good && fabs(high[c] - fmin(half[c], at[c] + small[c])) < 1e-15;
        }
        // A turned box may overlap in a triangle only.
        if (i % 2 == 0) good = good || list.count == 3, turned++;
        if (!good) {
            printf("box %d at %g %g turned %g gap %g: %d contacts\n", i, at[0], at[1], turn[2], gap,
                   list.count);
            print_touches(&list);
            fail();
        }
        touch_list_free(&list);
    }
    polytope_free(&b.shape);
    mesh_free(m);
}

/// A box pressed into the corner of a container by a little: held by all three faces.
static void test_box_in_a_corner(void** state)
{
    (void)state;
    double half[3] = {0.5, 0.5, 0.5}, small[3] = {0.1, 0.15, 0.2};
    talus_error error;
    mesh* m = box_mesh(half, 2);
    body b;
    check_ok(polytope_box(3, small, &b.shape, &error), error);
    for (int i = 0; i < 4; i++) {
        // The last one is sunk into the floor and apart from the walls.
        double wall = i == 0 ? 1e-3 : i == 1 ? 0.0 : i == 2 ? -1e-5 : 2e-3, at[3];
        double gaps[3] = {wall, wall, i == 3 ? -1e-6 : wall};
        for (int k = 0; k < 3; k++) at[k] = -half[k] + small[k] + gaps[k];
        body_place(&b, identity, at, 0.0);
        touch_list list = ask(m, &b.c, at, 0.01);
        int on[3] = {0};
        for (int k = 0; k < list.count; k++)
            for (int axis = 0; axis < 3; axis++)
                if (list.row[k].normal[axis] == 1.0) {
                    on[axis]++;
                    check_close("gap in the corner", list.row[k].gap, gaps[axis], 1e-15,
                                "roundoff");
                }
        printf("corner with gap %g: %d contacts, %d %d %d on its faces\n", wall, list.count, on[0],
               on[1], on[2]);
        for (int axis = 0; axis < 3; axis++) assert_int_equal(on[axis], 4);
        assert_int_equal(list.count, 12);
        touch_list_free(&list);
    }
    polytope_free(&b.shape);
    mesh_free(m);
}

// ---- Brute force -------------------------------------------------------------------------------

/// Nearest point of a triangle by trying the plane and the three sides, in the plainest way.
static double point_triangle(const double p[3], const double* const c[3])
{
    double best = INFINITY, u[3], v[3], n[3], w[3];
    for (int k = 0; k < 3; k++) {
        const double *a = c[k], *b = c[(k + 1) % 3];
        vec_sub(3, u, b, a);
        vec_sub(3, w, p, a);
        double t = fmin(fmax(vec_dot(3, u, w) / vec_dot(3, u, u), 0.0), 1.0);
        vec_add_scaled(3, w, -t, u);
        best = fmin(best, vec_norm(3, w));
    }
    vec_sub(3, u, c[1], c[0]);
    vec_sub(3, v, c[2], c[0]);
    vec_sub(3, w, p, c[0]);
    vec_cross(n, u, v);
    double uu = vec_dot(3, u, u), uv = vec_dot(3, u, v), vv = vec_dot(3, v, v);
    double wu = vec_dot(3, w, u), wv = vec_dot(3, w, v), det = uu * vv - uv * uv;
    double s = (vv * wu - uv * wv) / det, t = (uu * wv - uv * wu) / det;
    if (s >= 0.0 && t >= 0.0 && s + t <= 1.0)
        best = fmin(best, fabs(vec_dot(3, w, n)) / vec_norm(3, n));
    return best;
}

/// Distance of two segments: all ends against the other segment, and the common perpendicular.
static double segment_segment(const double a[3], const double b[3], const double c[3],
                              const double d[3])
{
    double u[3], v[3], w[3], best = INFINITY;
    vec_sub(3, u, b, a);
    vec_sub(3, v, d, c);
    const double *ends[4] = {a, b, c, d}, *from[4] = {c, c, a, a}, *along[4] = {v, v, u, u};
    for (int k = 0; k < 4; k++) {
        vec_sub(3, w, ends[k], from[k]);
        double t = vec_dot(3, w, along[k]) / vec_dot(3, along[k], along[k]);
        vec_add_scaled(3, w, -fmin(fmax(t, 0.0), 1.0), along[k]);
        best = fmin(best, vec_norm(3, w));
    }
    vec_sub(3, w, c, a);
    double uu = vec_dot(3, u, u), uv = vec_dot(3, u, v), vv = vec_dot(3, v, v);
    double wu = vec_dot(3, w, u), wv = vec_dot(3, w, v), det = uu * vv - uv * uv;
    double s = (wu * vv - wv * uv) / det, t = (wu * uv - wv * uu) / det;
    if (det > 0.0 && s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0) {
        vec_add_scaled(3, w, t, v);
        vec_add_scaled(3, w, -s, u);
        best = fmin(best, vec_norm(3, w));
    }
    return best;
}

/// Does a segment go through a triangle?
static bool segment_through(const double a[3], const double b[3], const double* const c[3])
{
    double u[3], v[3], n[3], w[3], x[3], d[3];
    vec_sub(3, u, c[1], c[0]);
    vec_sub(3, v, c[2], c[0]);
    vec_cross(n, u, v);
    vec_sub(3, d, b, a);
    vec_sub(3, w, c[0], a);
    double t = vec_dot(3, n, w) / vec_dot(3, n, d);
    if (!(t >= 0.0 && t <= 1.0)) return false;
    for (int k = 0; k < 3; k++) x[k] = a[k] + t * d[k] - c[0][k];
    double uu = vec_dot(3, u, u), uv = vec_dot(3, u, v), vv = vec_dot(3, v, v);
    double xu = vec_dot(3, x, u), xv = vec_dot(3, x, v), det = uu * vv - uv * uv;
    double s = (vv * xu - uv * xv) / det, r = (uu * xv - uv * xu) / det;
    return s >= 0.0 && r >= 0.0 && s + r <= 1.0;
}

/// Distance of two triangles, 0 where they cross.
static double triangle_triangle(const double* const a[3], const double* const b[3])
{
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        best = fmin(best, fmin(point_triangle(a[i], b), point_triangle(b[i], a)));
        if (segment_through(a[i], a[(i + 1) % 3], b) || segment_through(b[i], b[(i + 1) % 3], a))
            return 0.0;
        for (int j = 0; j < 3; j++)
            best = fmin(best, segment_segment(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]));
    }
    return best;
}

/// Distance between the surfaces of b and of the mesh.
static double brute_distance(const mesh* m, const body* b)
{
    double world[3 * 64], best = INFINITY;
    for (int k = 0; k < 3 * b->c.vertex_count; k++) world[k] = b->vertex[k] + b->delta[k % 3];
    for (int64_t t = 0; t < mesh_triangle_count(m); t++) {
        const double* c = mesh_triangle(m, t);
        const double* const first[3] = {c, c + 3, c + 6};
        for (int f = 0; f < b->shape.face_count; f++) {
            const int32_t* loop = b->shape.face_vertex + b->shape.face_first[f];
            int corners = b->shape.face_first[f + 1] - b->shape.face_first[f];
            for (int k = 2; k < corners; k++) {
                const double* const second[3] = {world + 3 * loop[0], world + 3 * loop[k - 1],
                                                 world + 3 * loop[k]};
                best = fmin(best, triangle_triangle(first, second));
            }
        }
    }
    return best;
}

static double least_gap(const touch_list* list)
{
    double least = INFINITY;
    for (int k = 0; k < list->count; k++) least = fmin(least, list->row[k].gap);
    return least;
}

/// Random triangles, some of them sharing corners; random hulls near them, and balls.
static void test_random_soups(void** state)
{
    (void)state;
    rng r = rng_make(4, 7, 0);
    double worst = 0.0, worst_ball = 0.0;
    int apart = 0, kinds[4] = {0};
    for (int i = 0; i < test_count(6000, 600); i++) {
        soup* s = soup_new();
        int corners = 3 + (int)rng_below(&r, 6), count = 1 + (int)rng_below(&r, 6);
        for (int k = 0; k < corners; k++)
            soup_vertex(s, rng_uniform(&r), rng_uniform(&r), rng_uniform(&r));
        for (int k = 0; k < count; k++) {
            int32_t a = (int32_t)rng_below(&r, (uint64_t)corners);
            int32_t c = (a + 1 + (int32_t)rng_below(&r, 2)) % corners;
            int32_t d = (c + 1) % corners == a ? (a + corners - 1) % corners : (c + 1) % corners;
            if (a != c && c != d && a != d) soup_triangle(s, a, c, d);
        }
        if (s->t.triangle_count == 0) {
            free(s);
            continue;
        }
        mesh* m = soup_mesh(s, 0.0);
        body b;
        double q[4], at[3];
        body_hull(&b, &r, 0.3, 4 + (int)rng_below(&r, 8));
        random_turn(&r, q);
        for (int k = 0; k < 3; k++) at[k] = 2.4 * rng_uniform(&r) - 0.7;
        body_place(&b, q, at, 0.0);
        double distance = brute_distance(m, &b), reach = 1.5;
        if (distance > 1e-6 && distance < reach) {
            touch_list list = ask(m, &b.c, at, reach);
            double off = fabs(least_gap(&list) - distance);
            if (off > 1e-9)
                printf("soup %d: %d contacts, least %.9g, brute force %.9g\n", i, list.count,
                       least_gap(&list), distance);
            worst = fmax(worst, off);
            apart++;
            for (int k = 0; k < list.count; k++)
                if (list.row[k].gap == least_gap(&list))
                    kinds[feature_kind_of(list.row[k].feature)]++;
            touch_list_free(&list);
        }
        double nearest = INFINITY;
        for (int64_t t = 0; t < mesh_triangle_count(m); t++) {
            const double* c = mesh_triangle(m, t);
            const double* const corner[3] = {c, c + 3, c + 6};
            nearest = fmin(nearest, point_triangle(at, corner));
        }
        convex ball = ball_of(0.1);
        touch_list list = ask(m, &ball, at, 3.0);
        worst_ball = fmax(worst_ball, fabs(least_gap(&list) - (nearest - 0.1)));
        touch_list_free(&list);
        polytope_free(&b.shape);
        mesh_free(m);
    }
    printf("%d apart; nearest was a corner of the mesh %d, of the body %d, edges or corners %d\n",
           apart, kinds[FEATURE_VERTEX_FACE], kinds[FEATURE_FACE_VERTEX], kinds[FEATURE_EDGE_EDGE]);
    assert_true(kinds[1] > 5 && kinds[2] > 5 && kinds[3] > 50);
    check_below("least gap of hulls near triangles", worst, 1e-12, "roundoff of lengths near one");
    check_below("least gap of balls near triangles", worst_ball, 1e-12, "as before");
}

// ---- Curved and rounded surfaces ---------------------------------------------------------------

/// Corner half way between two on the unit sphere, made once per edge.
static int32_t midway(soup* s, int32_t* known, int32_t a, int32_t b)
{
    // known[]: triples low, high, middle
    int32_t low = a < b ? a : b, high = a < b ? b : a, n = known[0];
    for (int32_t i = 0; i < n; i++)
        if (known[3 * i + 1] == low && known[3 * i + 2] == high) return known[3 * i + 3];
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = s->vertex[3 * a + k] + s->vertex[3 * b + k];
    double length = vec_norm(3, x);
    int32_t v = soup_vertex(s, x[0] / length, x[1] / length, x[2] / length);
    known[3 * n + 1] = low, known[3 * n + 2] = high, known[3 * n + 3] = v;
    known[0]++;
    return v;
}

/// An octahedron whose triangles are cut in four `rounds` times and blown up to the unit sphere.
static mesh* sphere_mesh(int rounds)
{
    soup* s = soup_new();
    int32_t* known = calloc(3 * 20000, sizeof *known);
    assert_non_null(known);
    for (int k = 0; k < 6; k++)
        soup_vertex(s, k / 2 == 0 ? 1 - 2 * (k % 2) : 0, k / 2 == 1 ? 1 - 2 * (k % 2) : 0,
                    k / 2 == 2 ? 1 - 2 * (k % 2) : 0);
    for (int k = 0; k < 8; k++) soup_triangle(s, k & 1, 2 + (k >> 1 & 1), 4 + (k >> 2));
    for (int round = 0; round < rounds; round++) {
        int64_t count = s->t.triangle_count;
        known[0] = 0;
        for (int64_t t = 0; t < count; t++) {
            int32_t c[3], mid[3];
            memcpy(c, s->triangle + 3 * t, sizeof c);
            for (int k = 0; k < 3; k++) mid[k] = midway(s, known, c[k], c[(k + 1) % 3]);
            memcpy(s->triangle + 3 * t, mid, sizeof mid);
            for (int k = 0; k < 3; k++) soup_triangle(s, c[k], mid[k], mid[(k + 2) % 3]);
        }
    }
    free(known);
    return soup_mesh(s, 0.0);
}

/// Balls on a finely divided sphere: the gap is that of the sphere up to the sagitta of a facet.
static void test_sphere(void** state)
{
    (void)state;
    rng r = rng_make(4, 8, 0);
    mesh* m = sphere_mesh(4);
    double sagitta = 0.0, worst = 0.0, least_cosine = 1.0;
    for (int64_t t = 0; t < mesh_triangle_count(m); t++) {
        const double* c = mesh_triangle(m, t);
        const double* const corner[3] = {c, c + 3, c + 6};
        sagitta = fmax(sagitta, 1.0 - point_triangle((double[3]){0, 0, 0}, corner));
    }
    for (int i = 0; i < test_count(5000, 500); i++) {
        bool outside = i % 2;
        double radius = 0.1, reach = 0.02, at[3];
        for (int k = 0; k < 3; k++) at[k] = rng_normal(&r);
        double gap = reach * (2.0 * rng_uniform(&r) - 1.2), length = vec_norm(3, at);
        double distance = outside ? 1.0 + radius + gap : 1.0 - radius - gap;
        for (int k = 0; k < 3; k++) at[k] *= distance / length;
        convex b = ball_of(radius);
        touch_list list = ask(m, &b, at, reach);
        double least = least_gap(&list), shift = outside ? least - gap : gap - least;
        assert_true(list.count > 0);
        if (outside) assert_int_equal(list.count, 1);
        worst = fmax(worst, fmax(-shift, shift - sagitta));
        for (int k = 0; k < list.count; k++) {
            double cosine = vec_dot(3, list.row[k].normal, at) / distance;
            least_cosine = fmin(least_cosine, outside ? cosine : -cosine);
        }
        touch_list_free(&list);
    }
    printf("sagitta %g, normals within %.3g degrees\n", sagitta, 180.0 / M_PI * acos(least_cosine));
    check_below("gap beyond the sagitta", worst, 1e-14, "roundoff; between sphere and facets");
    check_below("turn of the normals, squared", 1.0 - least_cosine * least_cosine, 8.0 * sagitta,
                "a facet's slope is that of its half chord, and 2 s = slope^2; inside the ball "
                "sees facets beyond the nearest");
    mesh_free(m);
}

/// A slanted sheet rounded to single precision: exactly one contact wherever a ball lies, above
/// edges and corners too, and the gap of the plane within the rounding.
static void test_rounded_sheet(void** state)
{
    (void)state;
    rng r = rng_make(4, 9, 0);
    soup* s = soup_new();
    enum { N = 40 };
    for (int i = 0; i < (N + 1) * (N + 1); i++) {
        double x = 2.0 * (i % (N + 1)) / N - 1.0, y = 2.0 * (i / (N + 1)) / N - 1.0;
        x *= 0.9871, y *= 0.9973;
        // Through memory: gcc 12 at -O2 leaves out the rounding of (double)(float)x here.
        volatile float rounded[3] = {(float)x, (float)y, (float)ramp(x, y)};
        soup_vertex(s, (double)rounded[0], (double)rounded[1], (double)rounded[2]);
    }
    for (int32_t k = 0; k < N * N; k++) {
        int32_t a = k / N * (N + 1) + k % N;
        soup_triangle(s, a, a + 1, a + N + 2);
        soup_triangle(s, a, a + N + 2, a + N + 1);
    }
    mesh* m = soup_mesh(s, 0.0);
    double length = sqrt(1.0 + 0.3 * 0.3 + 0.7 * 0.7);
    double n[3] = {-0.3 / length, 0.7 / length, 1.0 / length}, worst = 0.0;
    for (int i = 0; i < test_count(20000, 2000); i++) {
        const double* c = mesh_triangle(m, (int64_t)rng_below(&r, 2 * N * N));
        double share = i % 2 ? rng_uniform(&r) : 0.0, at[3], height = 0.2 * rng_uniform(&r);
        for (int k = 0; k < 3; k++)
            at[k] = (1.0 - share) * c[k] + share * c[3 + k] + 1e-6 * (rng_uniform(&r) - 0.5);
        if (fabs(at[0]) > 0.9 || fabs(at[1]) > 0.9) continue;
        double side = i % 3 ? 1.0 : -1.0;
        vec_add_scaled(3, at, side * height, n);
        convex b = ball_of(0.1);
        touch_list list = ask(m, &b, at, 0.2);
        if (list.count != 1) {
            printf("ball %d at %.17g %.17g %.17g\n", i, at[0], at[1], at[2]);
            print_touches(&list);
        }
        assert_int_equal(list.count, 1);
        double plane = (at[2] - ramp(at[0], at[1])) / length;
        worst = fmax(worst, fabs(list.row[0].gap - (fabs(plane) - 0.1)));
        touch_list_free(&list);
    }
    check_below("gap over a rounded sheet", worst, 1.5e-7, "coordinates rounded by 6e-8 each");
    mesh_free(m);
}

/// Hulls that overlap a box a little: always a contact, and nearly always that along the least
/// displacement that separates them, as convex_distance() finds it for the same box as a polytope.
/// The rest are corners just behind a rim, where another way out is about as short.
static void test_small_overlaps(void** state)
{
    (void)state;
    rng r = rng_make(4, 10, 0);
    double half[3] = {0.6, 0.5, 0.4}, deepest = 0.0;
    mesh* m = box_mesh(half, 2);
    talus_error error;
    body box;
    check_ok(polytope_box(3, half, &box.shape, &error), error);
    body_place(&box, identity, (double[3]){0, 0, 0}, 0.0);
    int overlaps = 0, missed = 0;
    for (int i = 0; i < test_count(20000, 2000); i++) {
        body b;
        double q[4], at[3], normal[3];
        body_hull(&b, &r, 0.3, 10);
        random_turn(&r, q);
        for (int k = 0; k < 3; k++) at[k] = 1.8 * rng_uniform(&r) - 0.9;
        body_place(&b, q, at, 0.0);
        // Move it along the separating normal to an overlap of a thousandth.
        double distance = convex_distance(&box.c, &b.c, at, normal);
        if (distance > 0.0) {
            vec_add_scaled(3, at, -distance - 1e-3, normal);
            body_place(&b, q, at, 0.0);
            distance = convex_distance(&box.c, &b.c, at, normal);
            touch_list list = ask(m, &b.c, at, 0.0);
            double best = INFINITY;
            for (int k = 0; k < list.count; k++) {
                double off[3];
                vec_sub(3, off, list.row[k].normal, normal);
                best = fmin(best, fabs(list.row[k].gap - distance) + 1e-3 * vec_norm(3, off));
                deepest = fmax(deepest, list.row[k].gap / distance);
            }
            overlaps++;
            missed += best > 1e-12;
            assert_true(list.count > 0);
            touch_list_free(&list);
        }
        polytope_free(&b.shape);
    }
    printf("%d overlaps, %d without the least; the deepest contact is %g of it\n", overlaps, missed,
           deepest);
    assert_true(overlaps > 100);
    check_below("share without the least way out", (double)missed / overlaps, 0.01,
                "0.5 % are corners behind a rim; a lost kind of contact would be 10 % and more");
    check_below("depth against the least", deepest, 50.0,
                "overlaps of 1e-3 in boxes of 0.5: a false way out across the box would be 500");
    polytope_free(&box.shape);
    mesh_free(m);
}

// ---- Cost --------------------------------------------------------------------------------------

static double waves(double x, double y)
{
    return 0.05 * sin(9.0 * x) * cos(7.0 * y);
}

/// Prints what a query costs on 10^5 triangles; only that it finds something is checked.
static void test_cost(void** state)
{
    (void)state;
    rng r = rng_make(4, 11, 0);
    mesh* m = sheet(224, waves, &r);
    talus_error error;
    body b;
    double half[3] = {0.01, 0.01, 0.01};
    check_ok(polytope_box(3, half, &b.shape, &error), error);
    int rounds = test_count(20000, 500);
    for (int kind = 0; kind < 2; kind++) {
        touch_list list = {0};
        int64_t found = 0;
        clock_t start = clock(); // processor time: other processes do not count
        for (int i = 0; i < rounds; i++) {
            double x = 1.8 * rng_uniform(&r) - 0.9, y = 1.8 * rng_uniform(&r) - 0.9, q[4];
            double at[3] = {x, y, waves(x, y) + 0.012};
            random_turn(&r, q);
            body_place(&b, q, at, 0.0);
            convex ball = ball_of(0.01);
            mesh_touches(m, kind ? &b.c : &ball, at, 0.002, NULL, &list);
            found += list.count;
            list.count = 0;
        }
        double spent = (double)(clock() - start) / CLOCKS_PER_SEC;
        printf("%s on %lld triangles: %.0f ns a query, %.2f contacts\n", kind ? "box" : "ball",
               (long long)mesh_triangle_count(m), 1e9 * spent / rounds, (double)found / rounds);
        assert_true(found > rounds / 2);
        touch_list_free(&list);
    }
    polytope_free(&b.shape);
    mesh_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balls_on_a_flat_sheet),
        cmocka_unit_test(test_bodies_on_a_flat_sheet),
        cmocka_unit_test(test_rolling_over_shared_edges),
        cmocka_unit_test(test_ball_in_a_container),
        cmocka_unit_test(test_ball_on_a_box),
        cmocka_unit_test(test_box_on_a_box),
        cmocka_unit_test(test_box_in_a_corner),
        cmocka_unit_test(test_random_soups),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_rounded_sheet),
        cmocka_unit_test(test_small_overlaps),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
