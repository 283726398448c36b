/// Mass properties of polytopes against closed forms of other making (boxes, tetrahedra, regular
/// polygons, capsules, balls), against quadratures that know none of those in polytope_mass.c, and
/// against throwing points at random.
#include "polytope_model.h"

static talus_error error;

/// Compare in units of the body's own size; prints only the worst of a series.
static double mass_error(const mass_properties* a, const mass_properties* b, double size)
{
    double worst = fabs(a->volume / b->volume - 1.0);
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(a->centre[k] - b->centre[k]) / size);
    for (int k = 0; k < 9; k++) {
        worst = fmax(worst, fabs(a->inertia[k] - b->inertia[k]) / (b->volume * size * size));
    }
    return worst;
}

// ---- closed forms ------------------------------------------------------------------------------

/// Integrals of 1, |x| and x^2 over the ball of this dimension.
static void ball_integrals(int dim, double s, double out[3])
{
    const double volume[] = {1.0, 2.0 * s, M_PI * s * s, 4.0 * M_PI / 3.0 * s * s * s};
    const double first[] = {0.0, s * s, 4.0 / 3.0 * s * s * s, 0.5 * M_PI * s * s * s * s};
    out[0] = volume[dim];
    out[1] = first[dim];
    out[2] = dim ? volume[dim] * s * s / (dim + 2) : 0.0;
}

/// A box rounded by s: the pieces beyond a set of its faces' planes make up a whole ball of that
/// many dimensions, torn apart by the half sizes.
static mass_properties rounded_box(int dim, const double half[3], double s)
{
    mass_properties m = {0};
    double second[3] = {0};
    for (int set = 0; set < 1 << dim; set++) {
        int beyond = 0;
        double within = 1.0, ball[3];
        for (int k = 0; k < dim; k++) {
            if (set >> k & 1)
                beyond++;
            else
                within *= 2.0 * half[k];
        }
        ball_integrals(beyond, s, ball);
        m.volume += within * ball[0];
        for (int k = 0; k < dim; k++) {
            double h = half[k];
            bool out = set >> k & 1;
            second[k] += within * (out ? h * h * ball[0] + 2.0 * h * ball[1] + ball[2]
                                       : h * h / 3.0 * ball[0]);
        }
    }
    for (int k = 0; k < 3; k++) {
        m.inertia[4 * k] = second[(k + 1) % 3] + second[(k + 2) % 3];
        if (dim == 2 && k < 2) m.inertia[4 * k] = 0.0;
    }
    return m;
}

static void test_box(void** state)
{
    (void)state;
    const double sizes[][3] = {{1, 1, 1}, {0.1, 2, 30}, {1, 1, 1e-4}, {1e-3, 1e-3, 1}};
    const double skins[] = {0.0, 1e-6, 0.01, 1.0, 100.0};
    for (int dim = 2; dim <= 3; dim++) {
        double worst = 0.0;
        for (int i = 0; i < 4 * 5; i++) {
            polytope p;
            const double *half = sizes[i % 4], skin = skins[i / 4];
            check_ok(polytope_box(dim, half, &p, &error), error);
            mass_properties m = polytope_mass(&p, skin), expected = rounded_box(dim, half, skin);
            worst = fmax(worst, mass_error(&m, &expected, vec_norm(dim, half) + skin));
            polytope_free(&p);
        }
        check_below("rounded boxes", worst, 1e-14, "rounding of some 100 terms");
    }
}

/// Turned and far away: the tensor turns along, the centre moves along.
static void test_moved(void** state)
{
    (void)state;
    const double half[3] = {0.5, 1.0, 2.0}, far[3] = {3e3, -2e3, 1e3};
    double worst = 0.0, worst_far = 0.0;
    for (int trial = 0; trial < 100; trial++) {
        rng r = rng_make(5, 1, (uint64_t)trial);
        double q[4], skin = rng_uniform(&r), points[24];
        random_rotation(&r, q);
        mass_properties box = rounded_box(3, half, skin), expected = {.volume = box.volume};
        for (int k = 0; k < 9; k++) {
            for (int axis = 0; axis < 3; axis++) {
                double e[3] = {axis == 0, axis == 1, axis == 2};
                quat_rotate(e, q, e);
                expected.inertia[k] += box.inertia[4 * axis] * e[k / 3] * e[k % 3];
            }
        }
        for (int i = 0; i < 8; i++) {
            double* x = points + 3 * i;
            for (int k = 0; k < 3; k++) x[k] = i >> k & 1 ? half[k] : -half[k];
            quat_rotate(x, q, x);
        }
        polytope p;
        check_ok(polytope_hull(3, points, 8, &p, &error), error);
        mass_properties m = polytope_mass(&p, skin);
        worst = fmax(worst, mass_error(&m, &expected, 2.0 + skin));
        polytope_shift(&p, far);
        m = polytope_mass(&p, skin);
        vec_copy(3, expected.centre, far);
        worst_far = fmax(worst_far, mass_error(&m, &expected, 2.0 + skin));
        polytope_free(&p);
    }
    check_below("turned boxes", worst, 1e-14, "rounding");
    check_below("and far away", worst_far, 4e-12, "corners at 4e3 are rounded to 5e-13");
}

static void test_tetrahedron(void** state)
{
    (void)state;
    polytope p;
    // Right-angled at the origin, legs a, b, c: V = abc/6, centre at a quarter of the legs,
    // integral x^2 = a^2 V/10, integral xy = ab V/20 about the right angle.
    const double a = 2.0, b = 3.0, c = 0.5, points[12] = {0, 0, 0, a, 0, 0, 0, b, 0, 0, 0, c};
    check_ok(polytope_hull(3, points, 4, &p, &error), error);
    double volume = a * b * c / 6.0, legs[3] = {a, b, c};
    mass_properties m = polytope_mass(&p, 0.0), expected = {.volume = volume};
    for (int k = 0; k < 9; k++) {
        int i = k / 3, j = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        expected.centre[i] = legs[i] / 4.0;
        // about the centre: a^2 (1/10 - 1/16) and a b (1/20 - 1/16)
        expected.inertia[k] =
            volume * (i == j ? 3.0 / 80.0 * (legs[i1] * legs[i1] + legs[i2] * legs[i2])
                             : legs[i] * legs[j] / 80.0);
    }
    check_below("right tetrahedron", mass_error(&m, &expected, 3.0), 1e-15, "rounding");
    polytope_free(&p);
    // Regular with edge l: V = l^3/(6 sqrt 2), I = V l^2/20 about every axis.
    const double regular[12] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    check_ok(polytope_hull(3, regular, 4, &p, &error), error);
    m = polytope_mass(&p, 0.0);
    expected = (mass_properties){.volume = 8.0 / 3.0};
    for (int k = 0; k < 3; k++) expected.inertia[4 * k] = 8.0 / 3.0 * 8.0 / 20.0;
    check_below("regular tetrahedron", mass_error(&m, &expected, 2.0), 1e-15, "rounding");
    polytope_free(&p);
}

/// n-gon with circumradius 1: area n sin(2 pi/n)/2, I = A (2 + cos(2 pi/n))/6. Rounded: Steiner's
/// area A + L s + pi s^2.
static void test_regular_polygons(void** state)
{
    (void)state;
    enum { MOST = 4096 };
    static double points[2 * MOST];
    for (int n = 3; n <= MOST; n = n < 16 ? n + 1 : 2 * n) {
        for (int i = 0; i < n; i++) {
            points[2 * i] = 5.0 + cos(2.0 * M_PI * i / n);
            points[2 * i + 1] = sin(2.0 * M_PI * i / n);
        }
        polytope p;
        check_ok(polytope_hull(2, points, n, &p, &error), error);
        assert_int_equal(p.vertex_count, n);
        mass_properties m = polytope_mass(&p, 0.0), expected = {.centre = {5.0}};
        expected.volume = 0.5 * n * sin(2.0 * M_PI / n);
        expected.inertia[8] = expected.volume * (2.0 + cos(2.0 * M_PI / n)) / 6.0;
        double worst = mass_error(&m, &expected, 1.0);
        m = polytope_mass(&p, 0.3);
        double steiner = expected.volume + 2.0 * n * sin(M_PI / n) * 0.3 + M_PI * 0.09;
        worst = fmax(worst, fabs(m.volume / steiner - 1.0));
        check_below("regular polygon", worst, 1e-13, "rounding of up to 4096 corners near x = 5");
        polytope_free(&p);
    }
}

/// A segment with a skin is a stadium: rectangle and two half disks.
static void test_stadium(void** state)
{
    (void)state;
    const double from[2] = {1.0, 1.0}, to[2] = {1.0 + 2.4, 1.0 + 3.2}, s = 0.7, l = 2.0;
    polytope p;
    check_ok(polytope_segment(from, to, &p, &error), error);
    mass_properties m = polytope_mass(&p, s), expected = {.centre = {2.2, 2.6}};
    double disk = M_PI * s * s, rectangle = 4.0 * l * s, off = 4.0 * s / (3.0 * M_PI);
    expected.volume = disk + rectangle;
    // Half disks: I about their own centre of mass, carried to l + off.
    expected.inertia[8] = rectangle * (l * l + s * s) / 3.0 +
                          disk * (0.5 * s * s - off * off + (l + off) * (l + off));
    check_below("stadium", mass_error(&m, &expected, l), 1e-15, "rounding");
    m = polytope_mass(&p, 0.0);
    assert_true(m.volume == 0.0);
    check_close("inertia of a bare segment", m.inertia[8], 0.0, 1e-30, "rounding of nothing");
    check_close("centre of a bare segment", m.centre[0], 2.2, 1e-15, "rounding");
    polytope_free(&p);
}

/// A slender box with a skin comes near a capsule, a speck with a skin near a ball.
static void test_limits(void** state)
{
    (void)state;
    polytope p;
    const double thin = 1e-5, l = 2.0, s = 0.5, half[3] = {thin, thin, l};
    check_ok(polytope_box(3, half, &p, &error), error);
    mass_properties m = polytope_mass(&p, s), expected = {0};
    double tube = M_PI * s * s * 2.0 * l, ball = 4.0 * M_PI / 3.0 * s * s * s, off = 0.375 * s;
    expected.volume = tube + ball;
    expected.inertia[8] = tube * s * s / 2.0 + 0.4 * ball * s * s;
    expected.inertia[0] = expected.inertia[4] =
        tube * (l * l / 3.0 + s * s / 4.0) + ball * (0.4 * s * s + l * l + 2.0 * l * off);
    check_below("capsule", mass_error(&m, &expected, l), 10.0 * thin / s,
                "the box is thicker than a line by 2e-5 of the skin, to first order");
    polytope_free(&p);

    const double speck[3] = {1e-12, 2e-12, 3e-12};
    check_ok(polytope_box(3, speck, &p, &error), error);
    m = polytope_mass(&p, 1.0);
    expected = (mass_properties){.volume = 4.0 * M_PI / 3.0};
    for (int k = 0; k < 3; k++) expected.inertia[4 * k] = 0.4 * expected.volume;
    check_below("ball", mass_error(&m, &expected, 1.0), 2e-11, "some times the size of the core");
    polytope_free(&p);
}

// ---- quadrature --------------------------------------------------------------------------------

/// Moments by adding up to a million weighted points, hence the long sums.
typedef struct cloud {
    long double zero, first[3], second[9];
} cloud;

static void cloud_add(cloud* c, double weight, const double x[3])
{
    c->zero += weight;
    for (int k = 0; k < 3; k++) c->first[k] += weight * x[k];
    for (int k = 0; k < 9; k++) c->second[k] += weight * x[k / 3] * x[k % 3];
}

static mass_properties cloud_mass(const cloud* c)
{
    mass_properties m = {.volume = (double)c->zero};
    long double square = 0.0L;
    for (int k = 0; k < 3; k++) {
        m.centre[k] = (double)(c->first[k] / c->zero);
        square += c->second[4 * k] - c->first[k] * c->first[k] / c->zero;
    }
    for (int k = 0; k < 9; k++) {
        long double second = c->second[k] - c->first[k / 3] * c->first[k % 3] / c->zero;
        m.inertia[k] = (double)((k % 4 == 0 ? square : 0.0L) - second);
    }
    return m;
}

static double determinant(const double a[3], const double b[3], const double c[3])
{
    double d[3];
    vec_cross(d, b, c);
    return vec_dot(3, a, d);
}

/// Four points of equal weight that integrate quadratic functions over a tetrahedron exactly.
static void cloud_tetrahedron(cloud* c, const double x[4][3])
{
    const double near = 0.25 * (1.0 - 1.0 / sqrt(5.0)), self = 1.0 - 3.0 * near;
    double e[3][3];
    for (int i = 0; i < 3; i++) vec_sub(3, e[i], x[i + 1], x[0]);
    double volume = determinant(e[0], e[1], e[2]) / 6.0;
    for (int i = 0; i < 4; i++) {
        double y[3] = {0};
        for (int j = 0; j < 4; j++) vec_add_scaled(3, y, i == j ? self : near, x[j]);
        cloud_add(c, volume / 4.0, y);
    }
}

/// The core, as tetrahedra that its first vertex spans with the faces.
static void cloud_core(cloud* c, const polytope* p)
{
    for (int f = 0; f < p->face_count; f++) {
        const int32_t* loop = p->face_vertex + p->face_first[f];
        for (int i = 2; i < p->face_first[f + 1] - p->face_first[f]; i++) {
            double x[4][3];
            vec_copy(3, x[0], p->vertex);
            vec_copy(3, x[1], p->vertex + 3 * loop[0]);
            vec_copy(3, x[2], p->vertex + 3 * loop[i - 1]);
            vec_copy(3, x[3], p->vertex + 3 * loop[i]);
            cloud_tetrahedron(c, x);
        }
    }
}

enum { GAUSS = 6 };
static const double gauss_x[GAUSS] = {-0.932469514203152, -0.661209386466265, -0.238619186083197,
                                      0.238619186083197,  0.661209386466265,  0.932469514203152};
static const double gauss_w[GAUSS] = {0.171324492379170, 0.360761573048139, 0.467913934572691,
                                      0.467913934572691, 0.360761573048139, 0.171324492379170};

/// Points y + t n for 0 < t < skin, weighted with `weight` t^power dt.
static void cloud_ray(cloud* c, double weight, const double y[3], const double n[3], double skin,
                      int power)
{
    for (int i = 0; i < GAUSS; i++) {
        double t = 0.5 * skin * (1.0 + gauss_x[i]), x[3];
        vec_copy(3, x, y);
        vec_add_scaled(3, x, t, n);
        cloud_add(c, weight * 0.5 * skin * gauss_w[i] * pow(t, power), x);
    }
}

/// Over the triangle: rays along n from the three midpoints of its sides.
static void cloud_faces(cloud* c, const polytope* p, double skin)
{
    for (int f = 0; f < p->face_count; f++) {
        const int32_t* loop = p->face_vertex + p->face_first[f];
        const double* n = p->normal + 3 * f;
        for (int i = 2; i < p->face_first[f + 1] - p->face_first[f]; i++) {
            const double* x[3] = {p->vertex + 3 * loop[0], p->vertex + 3 * loop[i - 1],
                                  p->vertex + 3 * loop[i]};
            double u[3], v[3], middle[3], area[3];
            vec_sub(3, u, x[1], x[0]);
            vec_sub(3, v, x[2], x[0]);
            vec_cross(area, u, v);
            for (int j = 0; j < 3; j++) {
                for (int k = 0; k < 3; k++) middle[k] = 0.5 * (x[j][k] + x[(j + 1) % 3][k]);
                cloud_ray(c, vec_norm(3, area) / 6.0, middle, n, skin, 0);
            }
        }
    }
}

/// Along an edge: directions between the two normals, by halving the arc again and again.
static void cloud_arc(cloud* c, const double a[3], const double b[3], const double n0[3],
                      const double n1[3], double skin, int depth)
{
    double middle[3], x[3], e[3];
    for (int k = 0; k < 3; k++) middle[k] = n0[k] + n1[k];
    double norm = vec_norm(3, middle);
    for (int k = 0; k < 3; k++) middle[k] /= norm;
    if (depth > 0) {
        cloud_arc(c, a, b, n0, middle, skin, depth - 1);
        cloud_arc(c, a, b, middle, n1, skin, depth - 1);
        return;
    }
    double across[3];
    for (int k = 0; k < 3; k++) across[k] = n1[k] - n0[k];
    norm = vec_norm(3, across);
    double half = asin(0.5 * norm); // of the angle between the normals
    vec_sub(3, e, b, a);
    for (int i = 0; i < GAUSS; i++) {
        double angle = half * gauss_x[i], n[3];
        for (int k = 0; k < 3; k++) {
            n[k] = cos(angle) * middle[k] + sin(angle) * across[k] / norm;
        }
        for (int j = 0; j < 2; j++) {
            vec_copy(3, x, a);
            vec_add_scaled(3, x, 0.5 + (j ? 0.5 : -0.5) / sqrt(3.0), e);
            cloud_ray(c, 0.5 * vec_norm(3, e) * half * gauss_w[i], x, n, skin, 1);
        }
    }
}

/// The ball's sector at x over a spherical triangle, cut into four again and again. A point of the
/// flat triangle, u a + v b + w c, carries the solid angle det(a, b, c)/r^3 du dv.
static void cloud_sector(cloud* out, const double x[3], const double* a, const double* b,
                         const double* c, double skin, int depth)
{
    if (depth > 0) {
        double m[3][3];
        const double* corner[4] = {a, b, c, a};
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) m[i][k] = corner[i][k] + corner[i + 1][k];
            double norm = vec_norm(3, m[i]);
            for (int k = 0; k < 3; k++) m[i][k] /= norm;
        }
        cloud_sector(out, x, a, m[0], m[2], skin, depth - 1);
        cloud_sector(out, x, m[0], b, m[1], skin, depth - 1);
        cloud_sector(out, x, m[2], m[1], c, skin, depth - 1);
        cloud_sector(out, x, m[0], m[1], m[2], skin, depth - 1);
        return;
    }
    double u[3], v[3];
    vec_sub(3, u, b, a);
    vec_sub(3, v, c, a);
    double det = determinant(a, u, v); // small, but not the difference of large numbers
    for (int i = 0; i < GAUSS; i++) {
        for (int j = 0; j < GAUSS; j++) {
            double s = 0.5 * (1.0 + gauss_x[i]), t = 0.5 * (1.0 + gauss_x[j]), y[3];
            for (int k = 0; k < 3; k++) {
                y[k] = (1.0 - s) * a[k] + s * (1.0 - t) * b[k] + s * t * c[k];
            }
            double r = vec_norm(3, y), weight = 0.25 * gauss_w[i] * gauss_w[j] * s;
            for (int k = 0; k < 3; k++) y[k] /= r;
            cloud_ray(out, weight * det / (r * r * r), x, y, skin, 2);
        }
    }
}

/// Normals of the faces around a vertex, in turn: each face passes on to the next over the edge by
/// which its loop enters the vertex.
static int normals_around(const polytope* p, int vertex, const double** normal)
{
    int count = 0, face = -1, first = -1;
    for (int e = 0; e < p->edge_count && face < 0; e++) {
        if (p->edge[4 * e] == vertex || p->edge[4 * e + 1] == vertex) face = p->edge[4 * e + 2];
    }
    while (face != first) {
        if (first < 0) first = face;
        normal[count++] = p->normal + 3 * face;
        for (int32_t i = p->face_first[face]; i < p->face_first[face + 1]; i++) {
            if (p->face_vertex[model_next(p, face, i)] != vertex) continue;
            const int32_t* edge = p->edge + 4 * p->face_edge[i];
            face = edge[2] == face ? edge[3] : edge[2];
            break;
        }
    }
    return count;
}

static mass_properties quadrature(const polytope* p, double skin)
{
    enum { DEPTH = 3 };
    cloud c = {0};
    cloud_core(&c, p);
    cloud_faces(&c, p, skin);
    for (int e = 0; e < p->edge_count; e++) {
        const int32_t* edge = p->edge + 4 * e;
        cloud_arc(&c, p->vertex + 3 * edge[0], p->vertex + 3 * edge[1], p->normal + 3 * edge[2],
                  p->normal + 3 * edge[3], skin, DEPTH);
    }
    for (int v = 0; v < p->vertex_count; v++) {
        const double* normal[64];
        int count = normals_around(p, v, normal);
        double start[3];
        vec_copy(3, start, normal[0]);
        for (int i = 2; i < count; i++) {
            cloud_sector(&c, p->vertex + 3 * v, start, normal[i - 1], normal[i], skin, DEPTH);
        }
    }
    return cloud_mass(&c);
}

static void test_quadrature(void** state)
{
    (void)state;
    double worst_sharp = 0.0, worst_round = 0.0;
    for (int trial = 0; trial < test_count(120, 24); trial++) {
        rng r = rng_make(5, 2, (uint64_t)trial);
        double points[3 * 20], skin = 3.0 * rng_uniform(&r);
        polytope p;
        // Not slabs and rods: their corners' triangles are too large for the quadrature.
        point_kind kind = (point_kind)(trial % 3);
        random_points(&r, kind, 3, 20, points);
        check_ok(polytope_hull(3, points, 20, &p, &error), error);
        cloud c = {0};
        cloud_core(&c, &p);
        mass_properties sharp = polytope_mass(&p, 0.0), expected = cloud_mass(&c);
        worst_sharp = fmax(worst_sharp, mass_error(&sharp, &expected, 1.0));
        mass_properties rounded = polytope_mass(&p, skin);
        expected = quadrature(&p, skin);
        worst_round = fmax(worst_round, mass_error(&rounded, &expected, 1.0 + skin));
        polytope_free(&p);
    }
    check_below("random polyhedra", worst_sharp, 1e-13, "both exact up to rounding");
    check_below("rounded ones", worst_round, 1e-12, "Gauss of degree 11 on 1/64 of each corner");
}

/// Points thrown into the bounding ball of a rounded polyhedron, told in or out by their distance.
static void test_monte_carlo(void** state)
{
    (void)state;
    rng r = rng_make(5, 3, 0);
    double points[3 * 12], skin = 0.4, normal[3];
    polytope p;
    random_points(&r, POINTS_CLOUD, 3, 12, points);
    check_ok(polytope_hull(3, points, 12, &p, &error), error);
    mass_properties m = polytope_mass(&p, skin);
    double reach = 0.0, zero = 0.0, trace = 0.0, trace2 = 0.0, first[3] = {0};
    for (int v = 0; v < p.vertex_count; v++) {
        double d[3];
        vec_sub(3, d, p.vertex + 3 * v, m.centre);
        reach = fmax(reach, vec_norm(3, d) + skin);
    }
    int throws = test_count(1000000, 100000);
    double box = 8.0 * reach * reach * reach;
    for (int i = 0; i < throws; i++) {
        double d[3], x[3];
        int32_t feature;
        for (int k = 0; k < 3; k++) d[k] = reach * (2.0 * rng_uniform(&r) - 1.0);
        vec_copy(3, x, m.centre);
        vec_add_scaled(3, x, 1.0, d);
        if (polytope_point(&p, x, normal, &feature) > skin) continue;
        double square = vec_dot(3, d, d);
        zero += 1.0, trace += square, trace2 += square * square;
        vec_add_scaled(3, first, 1.0, d);
    }
    double share = zero / throws, sigma = box * sqrt(share * (1.0 - share) / throws);
    check_close("volume", m.volume, box * share, 4.0 * sigma, "four standard errors");
    // I has the trace 2 integral |x|^2.
    double mean = box * trace / throws;
    sigma = sqrt((box * box * trace2 / throws - mean * mean) / throws);
    check_close("trace of the inertia", 0.5 * (m.inertia[0] + m.inertia[4] + m.inertia[8]), mean,
                4.0 * sigma, "four standard errors");
    check_below("centre", vec_norm(3, first) / zero, 4.0 * sqrt(trace / zero / zero),
                "four standard errors");
    polytope_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box),         cmocka_unit_test(test_moved),
        cmocka_unit_test(test_tetrahedron), cmocka_unit_test(test_regular_polygons),
        cmocka_unit_test(test_stadium),     cmocka_unit_test(test_limits),
        cmocka_unit_test(test_quadrature),  cmocka_unit_test(test_monte_carlo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
