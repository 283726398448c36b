/// src/engine/geometry: every query against a slow search of the surface, the sign and gradient
/// conventions, degenerate points, containers with open faces. Bad definitions are in
/// test_shape_check.c.
///
/// The slow search knows only a parametrisation of each surface: a grid of samples, then pattern
/// searches around the best ones. On every patch used here (flat piece, surface of revolution) the
/// distance has a single basin, so that this finds the nearest point.
#include "support.h"

#include "base/rng.h"
#include "base/vec.h"
#include "geometry/shape.h"

#include <string.h>

enum { FACES_3D = 6 };

typedef struct sample_shape {
    const char* name;
    int dim;
    talus_shape_def def;
} sample_shape;

#define AXIS_TILTED                                                                                \
    {                                                                                              \
        0.48, -0.6, 0.64                                                                           \
    }

static const sample_shape samples[] = {
    {"plane 2D", 2, {.kind = TALUS_SHAPE_PLANE, .normal = {0.6, 0.8}}},
    {"plane 3D", 3, {.kind = TALUS_SHAPE_PLANE, .normal = AXIS_TILTED}},
    {"segment", 2, {.kind = TALUS_SHAPE_SEGMENT, .edge_u = {0.7, -0.4}}},
    {"segment, skin", 2, {.kind = TALUS_SHAPE_SEGMENT, .edge_u = {0.7, -0.4}, .skin = 0.13}},
    {"plate",
     3,
     {.kind = TALUS_SHAPE_PLATE, .edge_u = {0.9, 0.1, 0.2}, .edge_v = {0.6, 0.5, -0.1}}},
    {"plate, skin",
     3,
     {.kind = TALUS_SHAPE_PLATE, .edge_u = {0.9, 0.1, 0}, .edge_v = {-0.2, 0.5, 0.1}, .skin = 0.1}},
    {"box solid 2D", 2, {.kind = TALUS_SHAPE_BOX, .half_size = {0.8, 0.5}}},
    {"box solid 3D", 3, {.kind = TALUS_SHAPE_BOX, .half_size = {0.8, 0.5, 0.3}}},
    {"disk solid", 2, {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.6}},
    {"disk inside", 2, {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.9, .inside = true}},
    {"rod endless", 3, {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .axis = AXIS_TILTED}},
    {"tube endless",
     3,
     {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.9, .axis = AXIS_TILTED, .inside = true}},
    {"rod finite",
     3,
     {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .axis = AXIS_TILTED, .half_length = 0.5}},
    {"tube finite",
     3,
     {.kind = TALUS_SHAPE_CYLINDER,
      .radius = 0.9,
      .axis = AXIS_TILTED,
      .half_length = 0.7,
      .inside = true}},
    {"funnel",
     3,
     {.kind = TALUS_SHAPE_CONE,
      .axis = AXIS_TILTED,
      .radius = 0.2,
      .radius_high = 0.9,
      .half_length = 0.4,
      .skin = 0.05}},
    {"hat", 3, {.kind = TALUS_SHAPE_CONE, .axis = AXIS_TILTED, .radius = 0.9, .half_length = 0.4}},
    {"tube shell",
     3,
     {.kind = TALUS_SHAPE_CONE,
      .axis = AXIS_TILTED,
      .radius = 0.5,
      .radius_high = 0.5,
      .half_length = 0.6}},
    {"ring plate",
     3,
     {.kind = TALUS_SHAPE_CONE, .axis = AXIS_TILTED, .radius = 0.3, .radius_high = 0.9}},
    {"disk plate", 3, {.kind = TALUS_SHAPE_CONE, .axis = AXIS_TILTED, .radius = 0.8, .skin = 0.1}},
    {"container 2D, open top",
     2,
     {.kind = TALUS_SHAPE_BOX,
      .half_size = {0.8, 0.5},
      .inside = true,
      .open_faces = TALUS_FACE_Y_HIGH}},
    {"container 3D, closed",
     3,
     {.kind = TALUS_SHAPE_BOX, .half_size = {0.8, 0.5, 0.7}, .inside = true}},
    {"container 3D, open top",
     3,
     {.kind = TALUS_SHAPE_BOX,
      .half_size = {0.8, 0.5, 0.7},
      .inside = true,
      .open_faces = TALUS_FACE_Z_HIGH}},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static void random_point(rng* r, double range, double p[3])
{
    for (int k = 0; k < 3; k++) p[k] = range * (2.0 * rng_uniform(r) - 1.0);
}

// ---- the slow search ---------------------------------------------------------------------------

/// Two unit vectors perpendicular to the axis and to each other (z axis in 2D).
static void axis_frame(const sample_shape* s, double e1[3], double e2[3], double axis[3])
{
    const double z[3] = {0, 0, 1}, helper[3] = {1, 0, 0};
    vec_copy(3, axis, s->dim == 2 ? z : s->def.axis);
    vec_cross(e2, axis, helper);
    double length = vec_norm(3, e2);
    for (int k = 0; k < 3; k++) e2[k] /= length;
    vec_cross(e1, e2, axis);
}

/// Does this patch close on itself in its first parameter?
static bool patch_is_round(const sample_shape* s)
{
    return s->def.kind == TALUS_SHAPE_CYLINDER || s->def.kind == TALUS_SHAPE_CONE;
}

static int patch_count(const sample_shape* s)
{
    if (s->def.kind == TALUS_SHAPE_BOX) return 2 * s->dim;
    bool caps = s->def.kind == TALUS_SHAPE_CYLINDER && !s->def.inside && s->dim == 3 &&
                s->def.half_length > 0.0;
    return caps ? 3 : 1;
}

static void round_point(const sample_shape* s, int patch, double a, double b, double out[3])
{
    const talus_shape_def* d = &s->def;
    double e1[3], e2[3], axis[3];
    axis_frame(s, e1, e2, axis);
    double phi = 2.0 * M_PI * a, rho, z;
    double half = d->half_length;
    if (d->kind == TALUS_SHAPE_CYLINDER && half == 0.0) half = s->dim == 2 ? 0.0 : 10.0;
    if (patch == 0) {
        double high = d->kind == TALUS_SHAPE_CONE ? d->radius_high : d->radius;
        rho = d->radius * (1.0 - b) + high * b;
        z = half * (2.0 * b - 1.0);
    } else {
        rho = d->radius * b;
        z = patch == 1 ? -half : half;
    }
    for (int k = 0; k < 3; k++) out[k] = rho * (cos(phi) * e1[k] + sin(phi) * e2[k]) + z * axis[k];
}

/// Point of the surface (without skin) at the parameters a, b in [0, 1].
static void surface_point(const sample_shape* s, int patch, double a, double b, double out[3])
{
    const talus_shape_def* d = &s->def;
    double ca = 2.0 * a - 1.0, cb = 2.0 * b - 1.0;
    memset(out, 0, 3 * sizeof *out);
    switch (d->kind) {
    case TALUS_SHAPE_PLANE: // a patch much larger than the points' range
        if (s->dim == 2) {
            out[0] = -20.0 * ca * d->normal[1], out[1] = 20.0 * ca * d->normal[0];
        } else {
            double e1[3], e2[3];
            const double helper[3] = {1, 0, 0};
            vec_cross(e1, d->normal, helper);
            vec_cross(e2, d->normal, e1);
            for (int k = 0; k < 3; k++) out[k] = 20.0 * (ca * e1[k] + cb * e2[k]);
        }
        return;
    case TALUS_SHAPE_SEGMENT: vec_add_scaled(2, out, ca, d->edge_u); return;
    case TALUS_SHAPE_PLATE:
        vec_add_scaled(3, out, ca, d->edge_u);
        vec_add_scaled(3, out, cb, d->edge_v);
        return;
    case TALUS_SHAPE_BOX: {
        int axis = patch / 2, second = (axis + 1) % s->dim, third = (axis + 2) % s->dim;
        if (s->dim == 3) out[third] = cb * d->half_size[third];
        out[second] = ca * d->half_size[second];
        out[axis] = patch % 2 ? d->half_size[axis] : -d->half_size[axis];
        return;
    }
    default: round_point(s, patch, a, b, out);
    }
}

static double patch_distance(const sample_shape* s, int patch, double a, double b, const double* p)
{
    double q[3], d[3];
    surface_point(s, patch, a, b, q);
    vec_sub(s->dim, d, p, q);
    return vec_norm(s->dim, d);
}

static double clamp01(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

/// Pattern search from the parameters in ab, which get the best ones; `hold`: at this azimuth.
static double patch_refine(const sample_shape* s, int patch, const double* p, bool hold,
                           double step, double ab[2])
{
    double best = patch_distance(s, patch, ab[0], ab[1], p);
    while (step > 1e-10) {
        double from = best, a1 = ab[0], b1 = ab[1];
        for (int i = -1; i <= 1; i++)
            for (int j = -1; j <= 1; j++) {
                double a = hold ? ab[0] : ab[0] + i * step, b = clamp01(ab[1] + j * step);
                if (!patch_is_round(s)) a = clamp01(a);
                double d = patch_distance(s, patch, a, b, p);
                if (d < best) best = d, a1 = a, b1 = b;
            }
        ab[0] = a1, ab[1] = b1;
        if (best >= from) step *= 0.5;
    }
    return best;
}

/// Nearest distance on one patch, its parameters in ab. Round patches may be held at the azimuth in
/// ab[0]. The search starts from the best sample of each of six columns: from the centre of a disk
/// alone it would not know where to turn.
static double patch_search(const sample_shape* s, int patch, const double* p, bool hold,
                           double ab[2])
{
    enum { COLUMNS = 6, ROWS = 24 };
    double best = INFINITY, best_ab[2] = {0};
    for (int i = 0; i < (hold ? 1 : COLUMNS); i++) {
        double start[2] = {hold ? ab[0] : (i + 0.5) / COLUMNS, 0.0}, nearest = INFINITY;
        for (int j = 0; j <= ROWS; j++) {
            double d = patch_distance(s, patch, start[0], (double)j / ROWS, p);
            if (d < nearest) nearest = d, start[1] = (double)j / ROWS;
        }
        double d = patch_refine(s, patch, p, hold, 0.1, start);
        if (d < best) best = d, vec_copy(2, best_ab, start);
    }
    vec_copy(2, ab, best_ab);
    return best;
}

static double azimuth_of(const sample_shape* s, const double* p)
{
    double e1[3], e2[3], axis[3];
    axis_frame(s, e1, e2, axis);
    return atan2(vec_dot(s->dim, p, e2), vec_dot(s->dim, p, e1)) / (2.0 * M_PI);
}

static double surface_search(const sample_shape* s, const double* p)
{
    double best = INFINITY, ab[2];
    for (int patch = 0; patch < patch_count(s); patch++) {
        best = fmin(best, patch_search(s, patch, p, false, ab));
        if (!patch_is_round(s)) continue;
        // Next to an apex the free search can end on it; any surface point is an upper bound, so
        // one more start, at the point's own azimuth, can only help.
        ab[0] = azimuth_of(s, p);
        best = fmin(best, patch_search(s, patch, p, true, ab));
    }
    return best;
}

/// +1 where the shape allows the point, -1 behind its surface, 0 where the rules for escaped
/// points (tested apart) decide.
static int allowed_side(const sample_shape* s, const double* p)
{
    const talus_shape_def* d = &s->def;
    double z = s->dim == 2 ? 0.0 : vec_dot(3, p, d->axis);
    double rho = sqrt(fmax(0.0, vec_dot(s->dim, p, p) - z * z));
    bool finite = s->dim == 3 && d->half_length > 0.0;
    switch (d->kind) {
    case TALUS_SHAPE_PLANE: return vec_dot(s->dim, p, d->normal) < 0.0 ? -1 : 1;
    case TALUS_SHAPE_BOX:
        for (int k = 0; k < s->dim; k++)
            if (fabs(p[k]) > d->half_size[k]) return 1;
        return -1;
    case TALUS_SHAPE_CYLINDER:
        if (!d->inside) return rho < d->radius && (!finite || fabs(z) < d->half_length) ? -1 : 1;
        if (!finite) return rho < d->radius ? 1 : -1;
        return rho < d->radius || fabs(z) > d->half_length ? 1 : 0;
    default: return 1;
    }
}

static void test_against_search(void** state)
{
    (void)state;
    const int points = test_count(1500, 100);
    for (int i = 0; i < SAMPLES; i++) {
        const sample_shape* s = &samples[i];
        if (s->def.kind == TALUS_SHAPE_BOX && s->def.inside) continue; // several faces: below
        rng r = rng_make(11, (uint64_t)i, 0);
        double worst = 0.0;
        for (int n = 0; n < points; n++) {
            double p[3];
            random_point(&r, 1.6, p);
            int side = allowed_side(s, p);
            if (side == 0) continue;
            shape_hit hits[SHAPE_MAX_HITS];
            int count = shape_query(&s->def, s->dim, p, 10.0, hits);
            assert_true(count >= 1);
            double expected = side * surface_search(s, p) - s->def.skin;
            worst = fmax(worst, fabs(hits[0].distance - expected));
        }
        check_below(s->name, worst, 1e-8,
                    "the search stops at parameter steps of 1e-10 on patches of size up to 40");
    }
}

/// The far side of shells and tubes: the nearest point of the opposite meridian.
static void test_far_side(void** state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const sample_shape* s = &samples[i];
        bool tube = s->def.kind == TALUS_SHAPE_CYLINDER && s->def.inside;
        if (!tube && s->def.kind != TALUS_SHAPE_CONE) continue;
        rng r = rng_make(12, (uint64_t)i, 0);
        double worst = 0.0;
        int seen = 0;
        for (int n = 0; n < test_count(1000, 100); n++) {
            double p[3], e1[3], e2[3], axis[3], foot[3], ab[2] = {0}, radial[3];
            random_point(&r, 1.2, p);
            if (allowed_side(s, p) != 1) continue;
            axis_frame(s, e1, e2, axis);
            ab[0] = azimuth_of(s, p);
            patch_search(s, 0, p, true, ab);
            surface_point(s, 0, ab[0], ab[1], foot);
            vec_copy(3, radial, foot);
            vec_add_scaled(3, radial, -vec_dot(3, foot, axis), axis);
            double rho = hypot(vec_dot(s->dim, p, e1), vec_dot(s->dim, p, e2));
            double room = vec_norm(3, radial) - rho; // > 0: seen from within
            if (fabs(room) < 1e-6) room = 0.0;

            ab[0] = azimuth_of(s, p) + 0.5;
            double expected = patch_search(s, 0, p, true, ab) - s->def.skin;
            surface_point(s, 0, ab[0], ab[1], foot);
            vec_copy(3, radial, foot);
            vec_add_scaled(3, radial, -vec_dot(3, foot, axis), axis);
            bool has_far = room > 0.0 && vec_norm(3, radial) > 1e-6;
            shape_hit hits[SHAPE_MAX_HITS];
            int count = shape_query(&s->def, s->dim, p, 10.0, hits);
            assert_int_equal(count, has_far ? 2 : 1);
            if (has_far) worst = fmax(worst, fabs(hits[1].distance - expected)), seen++;
        }
        check_below(s->name, worst, 1e-8, "as the search");
        if (s->def.radius > 0.0 && s->def.radius_high == s->def.radius) assert_true(seen > 10);
    }
}

// ---- containers with open faces ----------------------------------------------------------------

/// Is the foot (on `face`) a local minimum of the distance to p over the union of closed faces?
/// Looks at points of every closed face at 1e-4 around it.
static bool local_minimum(const sample_shape* s, const double* foot, const double* p)
{
    const double eps = 1e-4;
    double d[3];
    vec_sub(s->dim, d, p, foot);
    double here = vec_norm(s->dim, d);
    for (int face = 0; face < 2 * s->dim; face++) {
        if (s->def.open_faces >> face & 1u) continue;
        double level = face % 2 ? s->def.half_size[face / 2] : -s->def.half_size[face / 2];
        if (fabs(foot[face / 2] - level) > 1e-6) continue;
        for (int way = 0; way < 27; way++) {
            double q[3] = {0};
            for (int k = 0, w = way; k < s->dim; k++, w /= 3) {
                double h = s->def.half_size[k];
                q[k] = fmax(-h, fmin(h, foot[k] + eps * (w % 3 - 1)));
            }
            q[face / 2] = level;
            vec_sub(s->dim, d, p, q);
            // A true descent is eps times the sine of an angle that the margin below keeps large.
            if (vec_norm(s->dim, d) < here - 1e-3 * eps) return false;
        }
    }
    return true;
}

/// The hits that a container must give, from the slow search; distances sorted by face.
static int container_expect(const sample_shape* s, const double* p, double* distances, int* faces)
{
    double feet[FACES_3D][3];
    int count = 0;
    for (int face = 0; face < 2 * s->dim; face++) {
        if (s->def.open_faces >> face & 1u) continue;
        double ab[2], foot[3], gap[3];
        double distance = patch_search(s, face, p, false, ab);
        surface_point(s, face, ab[0], ab[1], foot);
        bool known = false;
        for (int other = 0; other < count; other++) {
            vec_sub(s->dim, gap, foot, feet[other]);
            known |= vec_norm(s->dim, gap) < 1e-6;
        }
        if (known || !local_minimum(s, foot, p)) continue;
        vec_copy(3, feet[count], foot);
        faces[count] = face;
        distances[count++] = distance;
    }
    return count;
}

/// Within the box, or beyond an open plane, and not so near to any plane that the search cannot
/// tell the sides apart.
static bool container_plain_point(const sample_shape* s, const double* p)
{
    bool within = true, beyond_open = false;
    for (int k = 0; k < s->dim; k++) {
        double excess = fabs(p[k]) - s->def.half_size[k];
        if (fabs(excess) < 0.02) return false;
        if (excess > 0.0) within = false;
        if (excess > 0.0 && (s->def.open_faces >> (2 * k + (p[k] > 0.0)) & 1u)) beyond_open = true;
    }
    return within || beyond_open;
}

static void container_against_search(int dim)
{
    rng r = rng_make(13, (uint64_t)dim, 0);
    double worst = 0.0;
    int seen[SHAPE_MAX_HITS + 1] = {0};
    for (int n = 0; n < test_count(4000, 200); n++) {
        sample_shape s = {"container", dim, {.kind = TALUS_SHAPE_BOX, .inside = true}};
        for (int k = 0; k < 3; k++) s.def.half_size[k] = 0.3 + 0.5 * rng_uniform(&r);
        s.def.open_faces = (unsigned)rng_below(&r, (1u << (2 * dim)) - 1u);
        double p[3], expected[FACES_3D];
        int faces[FACES_3D];
        random_point(&r, 1.2, p);
        if (!container_plain_point(&s, p)) continue;
        shape_hit hits[SHAPE_MAX_HITS];
        int count = shape_query(&s.def, dim, p, 10.0, hits);
        int expected_count = container_expect(&s, p, expected, faces);
        assert_int_equal(count, expected_count);
        for (int i = 0; i < count; i++) {
            assert_int_equal(hits[i].feature, faces[i]);
            worst = fmax(worst, fabs(hits[i].distance - expected[i]));
        }
        seen[count]++;
    }
    for (int i = 1; i <= 3; i++) assert_true(seen[i] > 0);
    check_below("container", worst, 1e-8, "as the search");
}

static void test_containers_against_search(void** state)
{
    (void)state;
    container_against_search(2);
    container_against_search(3);
}

static const talus_shape_def open_box = {.kind = TALUS_SHAPE_BOX,
                                         .half_size = {1.0, 0.8, 0.6},
                                         .inside = true,
                                         .open_faces = TALUS_FACE_Z_HIGH};

static void expect_hit(const shape_hit* hit, double distance, double nx, double ny, double nz,
                       int feature)
{
    check_close("distance", hit->distance, distance, 1e-14, "a few roundings");
    check_close("nx", hit->normal[0], nx, 1e-14, "a few roundings");
    check_close("ny", hit->normal[1], ny, 1e-14, "a few roundings");
    check_close("nz", hit->normal[2], nz, 1e-14, "a few roundings");
    assert_int_equal(hit->feature, feature);
}

static void test_container_places(void** state)
{
    (void)state;
    shape_hit hits[SHAPE_MAX_HITS];

    // Resting on the floor in a corner: three faces; on the floor beside a wall: two, no edge.
    assert_int_equal(shape_query(&open_box, 3, (double[3]){0.9, 0.7, -0.5}, 0.11, hits), 3);
    expect_hit(&hits[0], 0.1, -1, 0, 0, 1);
    expect_hit(&hits[1], 0.1, 0, -1, 0, 3);
    expect_hit(&hits[2], 0.1, 0, 0, 1, 4);
    assert_int_equal(shape_query(&open_box, 3, (double[3]){0.9, 0.0, -0.5}, 0.11, hits), 2);
    assert_int_equal(shape_query(&open_box, 3, (double[3]){0.88, 0.0, -0.5}, 0.11, hits), 1);
    expect_hit(&hits[0], 0.1, 0, 0, 1, 4);

    // Poking out of the top: the rim, from inside, on top and from outside.
    assert_int_equal(shape_query(&open_box, 3, (double[3]){0.97, 0.0, 0.64}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.05, -0.6, 0, 0.8, 1);
    assert_int_equal(shape_query(&open_box, 3, (double[3]){1.0, 0.0, 0.65}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.05, 0, 0, 1, 1);
    assert_int_equal(shape_query(&open_box, 3, (double[3]){1.03, 0.0, 0.64}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.05, 0.6, 0, 0.8, 1);
    // Over the corner of the rim both walls have the same point: one hit.
    assert_int_equal(shape_query(&open_box, 3, (double[3]){1.03, 0.84, 0.6}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.05, 0.6, 0.8, 0, 1);

    // Behind closed faces: negative, inward; through a corner one for each face.
    assert_int_equal(shape_query(&open_box, 3, (double[3]){1.2, 0.0, 0.0}, 0.1, hits), 1);
    expect_hit(&hits[0], -0.2, -1, 0, 0, 1);
    assert_int_equal(shape_query(&open_box, 3, (double[3]){-1.2, 0.0, -0.7}, 0.1, hits), 2);
    expect_hit(&hits[0], -0.2, 1, 0, 0, 0);
    expect_hit(&hits[1], -0.1, 0, 0, 1, 4);

    // Beside the box and deeper than below the rim: came round, the rim only; then nothing.
    assert_int_equal(shape_query(&open_box, 3, (double[3]){1.04, 0.0, 0.57}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.05, 0.8, 0, -0.6, 1);
    assert_int_equal(shape_query(&open_box, 3, (double[3]){2.1, 0.0, -0.55}, 0.1, hits), 0);
    // Without open faces an escape is seen at any depth.
    talus_shape_def closed = open_box;
    closed.open_faces = 0;
    assert_int_equal(shape_query(&closed, 3, (double[3]){7.0, 0.0, 0.0}, 0.1, hits), 1);
    expect_hit(&hits[0], -6.0, -1, 0, 0, 1);
}

static void test_tube_places(void** state)
{
    (void)state;
    talus_shape_def tube = {.kind = TALUS_SHAPE_CYLINDER,
                            .axis = {0, 0, 1},
                            .radius = 1.0,
                            .half_length = 0.6,
                            .inside = true};
    shape_hit hits[SHAPE_MAX_HITS];
    assert_int_equal(shape_query(&tube, 3, (double[3]){0, 1.2, 0.1}, 0.1, hits), 1);
    expect_hit(&hits[0], -0.2, 0, -1, 0, 0);
    assert_int_equal(shape_query(&tube, 3, (double[3]){1.04, 0.0, 0.57}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.05, 0.8, 0, -0.6, 2);
    assert_int_equal(shape_query(&tube, 3, (double[3]){0.97, 0.0, -0.64}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.05, -0.6, 0, -0.8, 1);
    // Beside a long tube, deeper than its radius: too far for an escape.
    tube.half_length = 5.0;
    assert_int_equal(shape_query(&tube, 3, (double[3]){0, 1.9, 0.0}, 0.1, hits), 1);
    assert_int_equal(shape_query(&tube, 3, (double[3]){0, 2.1, 0.0}, 0.1, hits), 0);
    tube.half_length = 0.0;
    assert_int_equal(shape_query(&tube, 3, (double[3]){0, 9.0, 40.0}, 0.1, hits), 1);
    expect_hit(&hits[0], -8.0, 0, -1, 0, 0);
    // Nearly filled: held from both sides.
    assert_int_equal(shape_query(&tube, 3, (double[3]){0, 0.01, 0}, 1.05, hits), 2);
    expect_hit(&hits[0], 0.99, 0, -1, 0, 0);
    expect_hit(&hits[1], 1.01, 0, 1, 0, 3);
}

// ---- properties of all shapes ------------------------------------------------------------------

static const shape_hit* find_feature(const shape_hit* hits, int count, int32_t feature)
{
    for (int i = 0; i < count; i++)
        if (hits[i].feature == feature) return &hits[i];
    return NULL;
}

/// Largest difference between a hit's normal and the numerical gradient of its distance; -1 when a
/// neighbour of the point has no such hit on the same side.
static double gradient_error(const sample_shape* s, const double* p, const shape_hit* hit)
{
    const double step = 1e-5;
    double worst = 0.0;
    for (int k = 0; k < s->dim; k++) {
        double value[2];
        for (int side = 0; side < 2; side++) {
            double q[3] = {p[0], p[1], p[2]};
            q[k] += side ? step : -step;
            shape_hit hits[SHAPE_MAX_HITS];
            int count = shape_query(&s->def, s->dim, q, 10.0, hits);
            const shape_hit* same = find_feature(hits, count, hit->feature);
            // Beside an open container the rules switch from escaped (< 0) to the rim (> 0).
            if (!same || same->distance * hit->distance < 0.0) return -1.0;
            value[side] = same->distance;
        }
        worst = fmax(worst, fabs((value[1] - value[0]) / (2.0 * step) - hit->normal[k]));
    }
    return worst;
}

static double axis_distance(const sample_shape* s, const double* p)
{
    if (!patch_is_round(s)) return 1.0;
    double z = s->dim == 2 ? 0.0 : vec_dot(3, p, s->def.axis);
    return sqrt(fmax(0.0, vec_dot(s->dim, p, p) - z * z));
}

static void test_normals_are_gradients(void** state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const sample_shape* s = &samples[i];
        rng r = rng_make(14, (uint64_t)i, 0);
        double worst_length = 0.0, worst_gradient = 0.0;
        int compared = 0;
        for (int n = 0; n < 4000; n++) {
            double p[3];
            random_point(&r, 1.6, p);
            shape_hit hits[SHAPE_MAX_HITS];
            int count = shape_query(&s->def, s->dim, p, 10.0, hits);
            for (int h = 0; h < count; h++) {
                worst_length = fmax(worst_length, fabs(vec_norm(3, hits[h].normal) - 1.0));
                // Nearer, the distance itself bends on the scale of the difference.
                bool bent = fabs(hits[h].distance + s->def.skin) < 0.02;
                if (bent || axis_distance(s, p) < 0.02) continue;
                double error = gradient_error(s, p, &hits[h]);
                worst_gradient = fmax(worst_gradient, error);
                compared += error >= 0.0;
            }
        }
        assert_true(compared > 1000);
        check_below(s->name, worst_length, 1e-14, "unit vectors: a few roundings");
        check_below(s->name, worst_gradient, 1e-6,
                    "step^2/6 times a third derivative of at most 2/0.02^2, is 1e-7");
    }
}

/// A small reach gives exactly the hits of a large one that are near enough (early exits are
/// right), sorted by feature; in 2D whatever z is.
static void test_reach(void** state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const sample_shape* s = &samples[i];
        rng r = rng_make(15, (uint64_t)i, 0);
        int total = 0, seen = 0;
        for (int n = 0; n < 20000; n++) {
            double p[3], reach = rng_uniform(&r);
            reach *= reach * reach;
            random_point(&r, 2.5, p);
            shape_hit all[SHAPE_MAX_HITS], some[SHAPE_MAX_HITS];
            int all_count = shape_query(&s->def, s->dim, p, 50.0, all);
            if (s->dim == 2) p[2] = NAN;
            int count = shape_query(&s->def, s->dim, p, reach, some);
            int kept = 0;
            for (int h = 0; h < all_count; h++) {
                if (h) assert_true(all[h].feature > all[h - 1].feature);
                if (s->dim == 2) assert_true(all[h].normal[2] == 0.0);
                if (all[h].distance > reach) continue;
                assert_true(kept < count);
                assert_memory_equal(&all[h].normal, &some[kept].normal, sizeof all[h].normal);
                assert_true(all[h].distance == some[kept].distance);
                assert_int_equal(all[h].feature, some[kept].feature);
                kept++;
            }
            assert_int_equal(kept, count);
            total += all_count, seen += count;
        }
        assert_true(seen > 100 && total > seen);
    }
}

/// Points on the surface, its edges, corners, axes and centres: always finite, unit, repeatable.
static void test_degenerate_points(void** state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const sample_shape* s = &samples[i];
        for (int n = 0; n < 1000; n++) {
            rng r = rng_make(16, (uint64_t)i, (uint64_t)n);
            double a = (double)rng_below(&r, 5) / 4.0, b = (double)rng_below(&r, 5) / 4.0;
            double p[3];
            surface_point(s, (int)rng_below(&r, (uint64_t)patch_count(s)), a, b, p);
            double shrink = (double)rng_below(&r, 3) / 2.0; // the centre, half way, the surface
            for (int k = 0; k < 3; k++) p[k] *= shrink;
            if (n % 7 == 0) vec_copy(3, p, s->def.axis);
            if (n % 11 == 0) p[0] += 1e-17, p[1] -= 3e-160;
            shape_hit hits[SHAPE_MAX_HITS], again[SHAPE_MAX_HITS];
            memset(hits, 0, sizeof hits), memset(again, 0, sizeof again);
            int count = shape_query(&s->def, s->dim, p, 30.0, hits);
            assert_true(count >= 1 && count <= SHAPE_MAX_HITS);
            assert_int_equal(shape_query(&s->def, s->dim, p, 30.0, again), count);
            assert_memory_equal(hits, again, sizeof hits);
            for (int h = 0; h < count; h++) {
                assert_true(isfinite(hits[h].distance));
                assert_true(fabs(vec_norm(3, hits[h].normal) - 1.0) < 1e-14);
            }
        }
    }
}

/// Corners, rims and ends of random shapes, where roundoff decides on which side the point is.
static void test_points_on_borders(void** state)
{
    (void)state;
    rng r = rng_make(17, 0, 0);
    for (int n = 0; n < 50000; n++) {
        talus_shape_def d = {.kind = (talus_shape_kind)rng_below(&r, TALUS_SHAPE_CONE + 1)};
        if (d.kind == TALUS_SHAPE_PLANE) continue;
        sample_shape s = {"random", d.kind == TALUS_SHAPE_SEGMENT ? 2 : 3, d};
        random_point(&r, 1.0, s.def.edge_u);
        random_point(&r, 1.0, s.def.edge_v);
        random_point(&r, 1.0, s.def.axis);
        double length = vec_norm(3, s.def.axis), p[3];
        for (int k = 0; k < 3; k++) s.def.axis[k] /= length;
        for (int k = 0; k < 3; k++) s.def.half_size[k] = 0.1 + rng_uniform(&r);
        s.def.radius = 0.1 + rng_uniform(&r);
        s.def.radius_high = rng_uniform(&r);
        s.def.half_length = 0.1 + rng_uniform(&r);
        s.def.inside = rng_below(&r, 2);
        if (s.def.kind == TALUS_SHAPE_BOX && s.def.inside) s.def.open_faces = (unsigned)n % 63u;
        surface_point(&s, (int)rng_below(&r, (uint64_t)patch_count(&s)), (double)rng_below(&r, 2),
                      (double)rng_below(&r, 2), p);
        shape_hit hits[SHAPE_MAX_HITS];
        int count = shape_query(&s.def, s.dim, p, 0.01, hits);
        if (!s.def.open_faces) assert_true(count >= 1); // an open face has no surface there
        for (int h = 0; h < count; h++) {
            assert_true(fabs(hits[h].distance) < 1e-12); // parallel plate edges amplify roundoff
            assert_true(fabs(vec_norm(3, hits[h].normal) - 1.0) < 1e-14);
        }
    }
}

static void test_degenerate_directions(void** state)
{
    (void)state;
    shape_hit hits[SHAPE_MAX_HITS];
    const double centre[3] = {0, 0, 0};
    talus_shape_def circle = {.kind = TALUS_SHAPE_CYLINDER, .radius = 1.0};
    assert_int_equal(shape_query(&circle, 2, centre, 0.1, hits), 1);
    expect_hit(&hits[0], -1.0, 1, 0, 0, 0);
    talus_shape_def box = {.kind = TALUS_SHAPE_BOX, .half_size = {0.5, 0.5, 0.4}};
    assert_int_equal(shape_query(&box, 3, centre, 0.1, hits), 1);
    expect_hit(&hits[0], -0.4, 0, 0, 1, 13 + 9);
    assert_int_equal(shape_query(&box, 3, (double[3]){-0.5, 0.5, 0.0}, 0.1, hits), 1);
    expect_hit(&hits[0], 0.0, -1, 0, 0, 13 - 1);
    talus_shape_def segment = {.kind = TALUS_SHAPE_SEGMENT, .edge_u = {2.0, 0}, .skin = 0.1};
    assert_int_equal(shape_query(&segment, 2, (double[3]){2.0, 0, 0}, 0.1, hits), 1);
    expect_hit(&hits[0], -0.1, 0, 1, 0, 0);
    // On the axis above the hole of a ring: both sides, symmetric.
    talus_shape_def ring = {
        .kind = TALUS_SHAPE_CONE, .axis = {0, 0, 1}, .radius = 0.3, .radius_high = 1.0};
    assert_int_equal(shape_query(&ring, 3, (double[3]){0, 0, 0.4}, 0.6, hits), 2);
    expect_hit(&hits[0], 0.5, -0.6, 0, 0.8, 1);
    expect_hit(&hits[1], 0.5, 0.6, 0, 0.8, 4);
}

/// Along a straight way over one face the feature, the number of hits and the distance stay.
static void slide(const char* name, const talus_shape_def* shape, const double from[3],
                  const double to[3], int feature)
{
    shape_hit first[SHAPE_MAX_HITS], hits[SHAPE_MAX_HITS];
    assert_int_equal(shape_query(shape, 3, from, 0.2, first), 1);
    double worst = 0.0;
    for (int n = 0; n <= 1000; n++) {
        double p[3];
        for (int k = 0; k < 3; k++) p[k] = from[k] + (to[k] - from[k]) * n / 1000.0;
        assert_int_equal(shape_query(shape, 3, p, 0.2, hits), 1);
        assert_int_equal(hits[0].feature, feature);
        worst = fmax(worst, fabs(hits[0].distance - first[0].distance));
    }
    check_below(name, worst, 1e-14, "a few roundings of numbers of order one");
}

static void test_features_along_a_path(void** state)
{
    (void)state;
    talus_shape_def solid = {.kind = TALUS_SHAPE_BOX, .half_size = {1, 1, 1}};
    slide("solid box", &solid, (double[3]){-1, -0.7, 1.1}, (double[3]){1, 0.9, 1.1}, 13 + 9);
    slide("solid box edge", &solid, (double[3]){1.1, -1, 1.1}, (double[3]){1.1, 1, 1.1}, 13 + 10);
    slide("floor", &open_box, (double[3]){-0.75, -0.5, -0.5}, (double[3]){0.75, 0.5, -0.5}, 4);
    talus_shape_def drum = {
        .kind = TALUS_SHAPE_CYLINDER, .axis = {0, 1, 0}, .radius = 1, .half_length = 1};
    slide("rod", &drum, (double[3]){0, -1, 1.1}, (double[3]){0, 1, 1.1}, 0);
    drum.inside = true;
    slide("tube", &drum, (double[3]){0, -1, 0.9}, (double[3]){0, 1, 0.9}, 0);
    talus_shape_def funnel = {.kind = TALUS_SHAPE_CONE,
                              .axis = {0, 0, 1},
                              .radius = 0.2,
                              .radius_high = 1.2,
                              .half_length = 0.5};
    slide("funnel", &funnel, (double[3]){0.3, 0, -0.2}, (double[3]){1.0, 0, 0.5}, 0);
    talus_shape_def plate = {.kind = TALUS_SHAPE_PLATE, .edge_u = {1, 0, 0}, .edge_v = {0.5, 1, 0}};
    slide("plate", &plate, (double[3]){-1.4, -0.95, -0.1}, (double[3]){1.4, 0.95, -0.1}, 4);
}

static void test_samples_pass_the_check(void** state)
{
    (void)state;
    talus_error error;
    for (int i = 0; i < SAMPLES; i++)
        check_ok(shape_check(&samples[i].def, samples[i].dim, &error), error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_search),
        cmocka_unit_test(test_far_side),
        cmocka_unit_test(test_containers_against_search),
        cmocka_unit_test(test_container_places),
        cmocka_unit_test(test_tube_places),
        cmocka_unit_test(test_normals_are_gradients),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_degenerate_points),
        cmocka_unit_test(test_points_on_borders),
        cmocka_unit_test(test_degenerate_directions),
        cmocka_unit_test(test_features_along_a_path),
        cmocka_unit_test(test_samples_pass_the_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
