/// Overlap areas of disks and polygons against closed formulas, against the cutting lines of
/// overlap_model.h, and against their own gradient: where b moves by d, the area of a region
/// changes by -length normal.d.
#include "overlap_specimen.h"

#include "geometry/feature.h"

static void regions_of(const specimen* a, const specimen* b, const double delta[2],
                       overlap_scratch* s)
{
    const overlap_body of_a = body_of(a), of_b = body_of(b);
    assert_int_equal(overlap_bodies(&of_a, &of_b, delta, s), TALUS_OK);
}

// ---- closed formulas ---------------------------------------------------------------------------

static void test_squares(void** state)
{
    (void)state;
    specimen a = specimen_make(&square), b = specimen_make(&square);
    overlap_scratch s = {0};
    regions_of(&a, &b, (double[2]){0.7, 0.2}, &s);
    assert_int_equal(s.count, 1);
    const overlap_region* r = &s.region[0];
    const char* why = "rounding of a dozen operations on numbers of order 1";
    check_close("area", r->area, 0.3 * 0.8, 1e-15, why);
    check_close("centroid x", r->centroid[0], 0.35, 1e-15, why);
    check_close("centroid y", r->centroid[1], 0.1, 1e-15, why);
    // a's outline in the region: its right side over 0.8, its upper side over 0.3.
    check_close("length", r->length, hypot(0.8, 0.3), 1e-15, why);
    check_close("normal x", r->normal[0], 0.8 / hypot(0.8, 0.3), 1e-15, why);
    check_close("normal y", r->normal[1], 0.3 / hypot(0.8, 0.3), 1e-15, why);

    specimen_place(&b, 0.25 * M_PI, 1.0); // a corner in the middle of a side
    const double depth = 0.1;
    regions_of(&a, &b, (double[2]){0.5 + sqrt(0.5) - depth, 0.0}, &s);
    check_close("corner area", s.region[0].area, depth * depth, 1e-15, why);
    check_close("corner normal", s.region[0].normal[0], 1.0, 1e-15, why);
    check_close("corner length", s.region[0].length, 2.0 * depth, 1e-15, why);
    check_close("corner centroid", s.region[0].centroid[0], 0.5 - depth / 3.0, 1e-15, why);

    regions_of(&a, &b, (double[2]){0.5 + sqrt(0.5), 0.0}, &s);
    check_below("area where a corner touches", total_area(&s), 1e-30, "square of the rounding");
    regions_of(&a, &b, (double[2]){3.0, 0.0}, &s);
    assert_int_equal(s.count, 0);
    specimen_place(&b, 0.3, 0.25); // all within
    regions_of(&a, &b, (double[2]){0.1, 0.0}, &s);
    check_close("area within", s.region[0].area, 0.0625, 1e-15, why);
    check_below("length within", s.region[0].length, 0.0, "none of a's outline is there");
    check_close("normal within", s.region[0].normal[0], 1.0, 0.0, "direction of the centres");
    overlap_scratch_free(&s);
    specimen_free(&a);
    specimen_free(&b);
}

/// Area of a circular segment of this height.
static double segment_area(double r, double height)
{
    const double half = acos((r - height) / r);
    return r * r * (half - sin(half) * cos(half));
}

static void test_disks(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen a = specimen_disk(0.7), b = specimen_disk(0.4), box = specimen_make(&square);
    const char* why = "rounding of a dozen operations on numbers of order 1";
    const double d = 0.8, x = (d * d + 0.49 - 0.16) / (2.0 * d), y = sqrt(0.49 - x * x);
    regions_of(&a, &b, (double[2]){0.6 * d, 0.8 * d}, &s);
    check_close("lens", s.region[0].area,
                segment_area(0.7, 0.7 - x) + segment_area(0.4, 0.4 - d + x), 2e-15, why);
    check_close("chord", s.region[0].length, 2.0 * y, 2e-15, why);
    check_close("lens normal", s.region[0].normal[1], 0.8, 1e-15, why);
    regions_of(&a, &b, (double[2]){0.1, 0.0}, &s);
    check_close("disk in disk", s.region[0].area, 0.16 * M_PI, 1e-15, why);

    regions_of(&box, &b, (double[2]){0.5, 0.0}, &s);
    check_close("half a disk", s.region[0].area, 0.08 * M_PI, 1e-15, why);
    check_close("half a disk, centroid", s.region[0].centroid[0], 0.5 - 1.6 / (3.0 * M_PI), 2e-15,
                why);
    check_close("half a disk, normal", s.region[0].normal[0], 1.0, 1e-15, why);
    regions_of(&b, &box, (double[2]){0.0, 0.8}, &s);
    check_close("segment", s.region[0].area, segment_area(0.4, 0.1), 2e-15, why);
    check_close("segment, normal", s.region[0].normal[1], 1.0, 1e-15, why);
    regions_of(&b, &box, (double[2]){0.0, 0.2}, &s);
    check_close("all but a segment", s.region[0].area, 0.16 * M_PI - segment_area(0.4, 0.1), 2e-15,
                why);
    regions_of(&b, &box, (double[2]){0.0, 0.05}, &s);
    check_close("disk in square", s.region[0].area, 0.16 * M_PI, 1e-15, why);
    regions_of(&b, &box, (double[2]){0.5, -0.5}, &s);
    check_close("quarter of a disk", s.region[0].area, 0.04 * M_PI, 1e-15, why);
    specimen_place(&box, 0.3, 0.5);
    regions_of(&box, &a, (double[2]){0.1, 0.0}, &s);
    check_close("square in disk", s.region[0].area, 0.25, 1e-15, why);
    overlap_scratch_free(&s);
    specimen_free(&box);
}

/// Small overlaps keep their digits: a depth of d between bodies of size 1 is known to 1e-16/d.
static void test_small(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen a = specimen_make(&square), b = specimen_make(&square), disk = specimen_disk(0.5);
    specimen_place(&b, 0.25 * M_PI, 1.0);
    for (double d = 1e-3; d > 1e-9; d *= 0.1) {
        const double tolerance = 4.0 * 3e-16 / d;
        const char* why = "the depth is rounded with the positions, and enters squared";
        regions_of(&a, &b, (double[2]){0.5 + sqrt(0.5) - d, 0.25}, &s);
        check_close("corner area / depth^2", s.region[0].area / (d * d), 1.0, tolerance, why);
        check_close("normal", s.region[0].normal[0], 1.0, tolerance, why);
        const double segment = 4.0 / 3.0 * sqrt(d) * d * (1.0 - 0.3 * d);
        regions_of(&disk, &a, (double[2]){1.0 - d, 0.1}, &s);
        check_close("segment / series", s.region[0].area / segment, 1.0, tolerance + d * d, why);
        check_close("its centroid / depth", (0.5 - s.region[0].centroid[0]) / d, 0.6,
                    tolerance + 0.2 * d, "2/5 of the height above the chord, and rounding");
        const double lens = 4.0 / 3.0 * sqrt(0.5 * d) * d;
        regions_of(&disk, &disk, (double[2]){0.6 * (1.0 - d), 0.8 * (1.0 - d)}, &s);
        check_close("lens / series", s.region[0].area / lens, 1.0, tolerance + d, why);
    }
    overlap_scratch_free(&s);
    specimen_free(&a);
    specimen_free(&b);
}

// ---- against cutting lines ---------------------------------------------------------------------

static void test_model(void** state)
{
    (void)state;
    rng r = rng_make(61, 0, 0);
    overlap_scratch s = {0};
    specimen all[SPECIMENS];
    specimens_make(all, &r);
    const int trials = test_count(1500, 150), lines = 4000;
    int several = 0, touching = 0;
    for (int t = 0; t < trials; t++) {
        specimen *a = &all[t % SPECIMENS], *b = &all[t / SPECIMENS % SPECIMENS];
        specimen other = *b; // its own place, also where it is the same shape
        const double angle[2] = {uniform(&r, 0.0, 6.3), uniform(&r, 0.0, 6.3)};
        const double delta[2] = {uniform(&r, -1.0, 1.0), uniform(&r, -1.0, 1.0)};
        double* number = NULL;
        if (a->shape.cell_count) specimen_place(a, angle[0], 1.0);
        if (b->shape.cell_count) {
            number = malloc(sizeof(double) * (size_t)overlap_size(&b->shape));
            other.number = number;
            specimen_place(&other, angle[1], 1.0);
        }
        regions_of(a, &other, delta, &s);
        const model_set of_a = model_at(a, angle[0], (double[2]){0.0, 0.0});
        const model_set of_b = model_at(b, angle[1], delta);
        const model_answer model = model_overlap(&of_a, &of_b, -1.2, 1.2, lines);
        // The rule errs by h times the jump of the width at the first and last line of a region at
        // most, h = 6e-4; only where a side is level is that jump large. Regions that meet at a
        // neck thinner than h would be told apart.
        compare_regions(&s, &model, 2e-4, &several);
        touching += s.count > 0;
        free(number);
    }
    printf("%d of %d pairs touch, %d in several regions\n", touching, trials, several);
    assert_true(touching > trials / 3 && several > trials / 100);
    overlap_scratch_free(&s);
    specimens_free(all);
}

// ---- invariants --------------------------------------------------------------------------------

static void test_gradient(void** state)
{
    (void)state;
    rng r = rng_make(62, 0, 0);
    overlap_scratch s = {0};
    specimen all[SPECIMENS], others[SPECIMENS];
    specimens_make(all, &r);
    specimens_make(others, &r);
    const double h = 1e-6;
    double worst = 0.0;
    int seen = 0;
    for (int t = 0; t < test_count(20000, 2000); t++) {
        specimen *a = &all[t % SPECIMENS], *b = &others[t / SPECIMENS % SPECIMENS];
        if (a->shape.cell_count) specimen_place(a, uniform(&r, 0.0, 6.3), 1.0);
        if (b->shape.cell_count) specimen_place(b, uniform(&r, 0.0, 6.3), 1.0);
        const double delta[2] = {uniform(&r, -1.0, 1.0), uniform(&r, -1.0, 1.0)};
        double vector[2];
        regions_of(a, b, delta, &s);
        total_vector(&s, vector);
        seen += s.count > 0;
        for (int c = 0; c < 2; c++) {
            double moved[2] = {delta[0], delta[1]}, area[2];
            for (int side = 0; side < 2; side++) {
                moved[c] = delta[c] + (side ? h : -h);
                regions_of(a, b, moved, &s);
                area[side] = total_area(&s);
            }
            const double error = fabs((area[1] - area[0]) / (2.0 * h) + vector[c]);
            worst = fmax(worst, error);
        }
    }
    printf("%d pairs touch\n", seen);
    // The area is quadratic between places where the vector has a kink, of slopes of 1/sin of the
    // angle between sides: past one within h the error is h/sin, and h/sin < 1e-4 for sin > 1e-2.
    check_below("worst gradient", worst, 1e-4, "h over the least angle that is likely");
    overlap_scratch_free(&s);
    specimens_free(all);
    specimens_free(others);
}

/// Swapped bodies see the same regions; turned together they turn.
static void test_symmetry(void** state)
{
    (void)state;
    rng r = rng_make(63, 0, 0);
    overlap_scratch s = {0}, swapped = {0}, turned = {0};
    specimen all[SPECIMENS], others[SPECIMENS];
    specimens_make(all, &r);
    specimens_make(others, &r);
    double worst = 0.0, worst_turned = 0.0;
    for (int t = 0; t < test_count(20000, 2000); t++) {
        specimen *a = &all[t % SPECIMENS], *b = &others[t / SPECIMENS % SPECIMENS];
        const double angle[2] = {uniform(&r, 0.0, 6.3), uniform(&r, 0.0, 6.3)};
        const double delta[2] = {uniform(&r, -1.0, 1.0), uniform(&r, -1.0, 1.0)};
        const double back[2] = {-delta[0], -delta[1]}, turn = uniform(&r, 0.0, 6.3);
        const double c = cos(turn), si = sin(turn);
        const double other[2] = {c * delta[0] - si * delta[1], si * delta[0] + c * delta[1]};
        if (a->shape.cell_count) specimen_place(a, angle[0], 1.0);
        if (b->shape.cell_count) specimen_place(b, angle[1], 1.0);
        regions_of(a, b, delta, &s);
        regions_of(b, a, back, &swapped);
        if (a->shape.cell_count) specimen_place(a, angle[0] + turn, 1.0);
        if (b->shape.cell_count) specimen_place(b, angle[1] + turn, 1.0);
        regions_of(a, b, other, &turned);
        double v[2], of_swapped[2], of_turned[2];
        total_vector(&s, v);
        total_vector(&swapped, of_swapped);
        total_vector(&turned, of_turned);
        worst = fmax(worst, fabs(total_area(&s) - total_area(&swapped)));
        worst = fmax(worst, hypot(v[0] + of_swapped[0], v[1] + of_swapped[1]));
        worst_turned = fmax(worst_turned, fabs(total_area(&s) - total_area(&turned)));
        worst_turned = fmax(worst_turned, hypot(c * v[0] - si * v[1] - of_turned[0],
                                                si * v[0] + c * v[1] - of_turned[1]));
        if (s.count != 1 || swapped.count != 1) continue;
        for (int k = 0; k < 2; k++) {
            const double away = s.region[0].centroid[k] - delta[k] - swapped.region[0].centroid[k];
            worst = fmax(worst, s.region[0].area * fabs(away));
        }
    }
    const char* why = "rounding, times 1/sin of angles between sides down to 1e-3";
    check_below("swapped", worst, 1e-12, why);
    check_below("turned", worst_turned, 1e-12, why);
    overlap_scratch_free(&s);
    overlap_scratch_free(&swapped);
    overlap_scratch_free(&turned);
    specimens_free(all);
    specimens_free(others);
}

/// No length is built in: bodies a power of two smaller have the same bits.
static void test_scale_free(void** state)
{
    (void)state;
    rng r = rng_make(65, 0, 0);
    overlap_scratch s = {0}, small = {0};
    specimen all[SPECIMENS], others[SPECIMENS];
    specimens_make(all, &r);
    specimens_make(others, &r);
    const double scale = ldexp(1.0, -20);
    for (int t = 0; t < 2000; t++) {
        specimen *a = &all[t % SPECIMENS], *b = &others[t / SPECIMENS % SPECIMENS];
        const double angle[2] = {uniform(&r, 0.0, 6.3), uniform(&r, 0.0, 6.3)};
        const double delta[2] = {uniform(&r, -1.0, 1.0), uniform(&r, -1.0, 1.0)};
        const double near[2] = {scale * delta[0], scale * delta[1]};
        for (int k = 0; k < 2; k++) {
            specimen* pair[2] = {a, b};
            for (int i = 0; i < 2; i++) {
                if (pair[i]->number) specimen_place(pair[i], angle[i], k ? scale : 1.0);
                if (!pair[i]->number) pair[i]->radius = (k ? scale : 1.0) * pair[i]->model.radius;
            }
            regions_of(a, b, k ? near : delta, k ? &small : &s);
        }
        assert_int_equal(s.count, small.count);
        for (int64_t k = 0; k < s.count; k++) {
            assert_true(s.region[k].area * scale * scale == small.region[k].area);
            assert_true(s.region[k].centroid[0] * scale == small.region[k].centroid[0]);
            assert_true(s.region[k].length * scale == small.region[k].length);
            assert_true(s.region[k].normal[1] == small.region[k].normal[1]);
            assert_int_equal(s.region[k].feature, small.region[k].feature);
        }
    }
    overlap_scratch_free(&s);
    overlap_scratch_free(&small);
    specimens_free(all);
    specimens_free(others);
}

/// Largest change of area and of first moment per length of a step, over a path in small steps
/// that starts and ends in grid positions, where corners and sides coincide.
static double path_slope(const specimen* a, const specimen* b, const double from[2],
                         const double to[2])
{
    const int steps = 4096;
    overlap_scratch s = {0};
    double last[3] = {0.0, 0.0, 0.0}, worst = 0.0;
    const double step = hypot(to[0] - from[0], to[1] - from[1]) / steps;
    for (int k = 0; k <= steps; k++) {
        const double t = (double)k / steps;
        const double delta[2] = {from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])};
        double now[3] = {0.0, 0.0, 0.0};
        regions_of(a, b, delta, &s);
        for (int64_t l = 0; l < s.count; l++) {
            const overlap_region* r = &s.region[l];
            now[0] += r->area;
            for (int c = 0; c < 2; c++) now[1 + c] += r->area * r->centroid[c];
        }
        for (int c = 0; c < 3 && k > 0; c++) worst = fmax(worst, fabs(now[c] - last[c]) / step);
        memcpy(last, now, sizeof last);
    }
    overlap_scratch_free(&s);
    return worst;
}

static void test_continuity(void** state)
{
    (void)state;
    specimen shapes[6] = {specimen_make(&square),    specimen_make(&square), specimen_make(&ell),
                          specimen_make(&pitchfork), specimen_make(&plus),   specimen_disk(0.5)};
    const double paths[][2][2] = {
        {{1.5, 0.0}, {-1.5, 0.0}},                               // sides level with each other
        {{1.5, 1.5}, {-1.5, -1.5}},                              // corner over corner
        {{1.5, 0.5}, {-1.5, 0.5}},    {{1.0, 1.5}, {1.0, -1.5}}, // side on side
        {{1.5, 0.25}, {-1.5, -0.25}},
    };
    double worst = 0.0;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            for (int turned = 0; turned < 2; turned++) {
                specimen b = shapes[j];
                double number[256];
                if (b.shape.cell_count) {
                    assert_true(overlap_size(&b.shape) <= 256);
                    b.number = number;
                    specimen_place(&b, turned ? 0.25 * M_PI : 0.0, 1.0);
                }
                for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++) {
                    worst = fmax(worst, path_slope(&shapes[i], &b, paths[p][0], paths[p][1]));
                }
            }
        }
    }
    check_below("slope of area and first moment", worst, 4.0,
                "length of an outline across the motion, and area: bodies are smaller than 1.4");
    for (int k = 0; k < 6; k++) specimen_free(&shapes[k]);
}

/// Positions where corners lie on sides and corners, sides on sides, circles through corners: area
/// and first moment are those of positions nearby.
static void test_degenerate(void** state)
{
    (void)state;
    // clang-format off
    static const outline step = {2, {4, 4}, {{{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.0}, {-0.5, 0.0}},
                                             {{-0.5, 0.0}, {0.0, 0.0}, {0.0, 0.5}, {-0.5, 0.5}}}};
    static const outline crossed = {2, {4, 4}, {{{-1.0, -0.25}, {1.0, -0.25}, {1.0, 0.25}, {-1.0, 0.25}},
                                                {{-0.25, -1.0}, {0.25, -1.0}, {0.25, 1.0}, {-0.25, 1.0}}}};
    static const outline arrow = {1, {3}, {{{-0.5, -0.5}, {0.5, -0.5}, {0.0, 0.5}}}};
    // clang-format on
    rng r = rng_make(64, 0, 0);
    overlap_scratch s = {0};
    specimen shape[2][6];
    for (int k = 0; k < 2; k++) {
        shape[k][0] = specimen_make(&square), shape[k][1] = specimen_make(&step);
        shape[k][2] = specimen_make(&crossed), shape[k][3] = specimen_make(&arrow);
        shape[k][4] = specimen_disk(0.5), shape[k][5] = specimen_disk(1.25);
    }
    const talus_shape_def drum = {.kind = TALUS_SHAPE_CYLINDER, .inside = true, .radius = 1.25};
    const double nudge = 1e-9;
    double worst = 0.0;
    for (int t = 0; t < test_count(60000, 6000); t++) {
        specimen *a = &shape[0][t % 6], *b = &shape[1][t / 6 % 6];
        // Eighths of turns: those of a quarter are exact but for the rounding of cos and sin.
        if (a->number) specimen_place(a, 0.25 * M_PI * (double)rng_below(&r, 8), 1.0);
        if (b->number) specimen_place(b, 0.25 * M_PI * (double)rng_below(&r, 8), 1.0);
        const double delta[2] = {0.125 * (double)rng_below(&r, 33) - 2.0,
                                 0.125 * (double)rng_below(&r, 33) - 2.0};
        const double angle = uniform(&r, 0.0, 6.3);
        double sum[2][3] = {{0.0}};
        for (int k = 0; k < 2; k++) {
            const double at[2] = {delta[0] + k * nudge * cos(angle),
                                  delta[1] + k * nudge * sin(angle)};
            const overlap_body grain = body_of(b);
            if (t % 2) {
                regions_of(a, b, at, &s);
            } else {
                assert_int_equal(overlap_wall(&drum, NULL, &grain, at, &s), TALUS_OK);
            }
            for (int64_t l = 0; l < s.count; l++) {
                const overlap_region* of = &s.region[l];
                sum[k][0] += of->area;
                for (int c = 0; c < 2; c++) sum[k][1 + c] += of->area * of->centroid[c];
            }
        }
        for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(sum[1][c] - sum[0][c]) / nudge);
    }
    check_below("change per length", worst, 6.0,
                "length of an outline across the motion (up to 2.5), times distance, plus area");
    overlap_scratch_free(&s);
    for (int k = 0; k < 6; k++) specimen_free(&shape[0][k]), specimen_free(&shape[1][k]);
}

// ---- several parts -----------------------------------------------------------------------------

static void test_regions(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen prongs = specimen_make(&pitchfork), bar = specimen_make(&square),
             disk = specimen_disk(0.2);
    const char* why = "rounding";
    assert_int_equal(prongs.shape.cell_count, 3);
    assert_int_equal(prongs.shape.seam_count, 2);
    specimen_place(&bar, 0.0, 2.0);
    // A wide bar comes down on both prongs, 0.1 deep.
    regions_of(&prongs, &bar, (double[2]){0.0, 1.7}, &s);
    assert_int_equal(s.count, 2);
    for (int k = 0; k < 2; k++) {
        const double width = 0.2 + 0.1 / 0.7 * 0.05;
        check_close("prong area", s.region[k].area, 0.1 * width, 1e-15, why);
        check_close("prong normal", s.region[k].normal[1], 1.0, 1e-14, why);
        check_close("prong length", s.region[k].length, 0.2 + 0.1 / 0.7 * 0.1, 1e-14, why);
        assert_int_equal(feature_part_a(s.region[k].feature), k + 1);
        assert_int_equal(feature_part_b(s.region[k].feature), 0);
    }
    const int64_t name = s.region[1].feature;
    const uint64_t pieces = s.region[1].pieces;
    regions_of(&prongs, &bar, (double[2]){0.01, 1.69}, &s);
    assert_int_equal(s.region[1].feature, name);
    // Past the seams all is one region, which can still be recognised.
    regions_of(&prongs, &bar, (double[2]){0.0, 1.05}, &s);
    assert_int_equal(s.count, 1);
    check_close("all area", s.region[0].area, 2 * 0.25 * 0.7 + 0.05 * 1.2, 1e-15, why);
    check_close("all length", s.region[0].length, 1.2, 1e-14, "the seams cancel");
    assert_true(s.region[0].pieces & pieces);
    // A disk on the joint of the prong and the base lies over a seam.
    regions_of(&prongs, &disk, (double[2]){-0.75, 0.1}, &s);
    assert_int_equal(s.count, 1);
    assert_int_equal(feature_part_a(s.region[0].feature), 0);
    overlap_scratch_free(&s);
    specimen_free(&prongs);
    specimen_free(&bar);
}

/// Seams of both bodies on one line: pieces across both are one region.
static void test_common_seam(void** state)
{
    (void)state;
    // clang-format off
    static const outline halves = {2, {4, 4}, {{{-0.5, -0.5}, {0.0, -0.5}, {0.0, 0.5}, {-0.5, 0.5}},
                                               {{0.0, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {0.0, 0.5}}}};
    // clang-format on
    overlap_scratch s = {0};
    specimen a = specimen_make(&halves), b = specimen_make(&halves);
    for (int k = -1; k <= 1; k++) {
        regions_of(&a, &b, (double[2]){1e-3 * k, 0.9}, &s);
        assert_int_equal(s.count, 1);
        check_close("area", s.region[0].area, 0.1 * (1.0 - fabs(1e-3 * k)), 1e-15, "rounding");
        // Level sides cancel; else one of a's sides is in the region, 0.1 long.
        const double height = k == 0 ? 0.0 : 0.1, width = 1.0 - fabs(1e-3 * k);
        check_close("normal", s.region[0].normal[1], width / hypot(width, height), 1e-14,
                    "rounding");
    }
    overlap_scratch_free(&s);
    specimen_free(&a);
    specimen_free(&b);
}

/// Parts that overlap count once.
static void test_overlapping_parts(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen cross = specimen_make(&plus), all = specimen_make(&square);
    specimen_place(&all, 0.0, 4.0);
    assert_int_equal(cross.shape.cell_count, 3);
    assert_int_equal(cross.shape.seam_count, 2);
    regions_of(&cross, &all, (double[2]){0.1, 0.0}, &s);
    assert_int_equal(s.count, 1);
    check_close("area of the union", s.region[0].area, 2 * 0.4 * 1.4 - 0.16, 2e-15, "rounding");
    overlap_scratch_free(&s);
    specimen_free(&cross);
    specimen_free(&all);
}

static void test_rounded(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    const double skin = 0.1;
    specimen a = specimen_rounded(&square, skin), b = specimen_make(&square);
    specimen_place(&b, 0.0, 4.0);
    assert_int_equal(a.shape.corner_count, 4 + OVERLAP_ROUND);
    regions_of(&a, &b, (double[2]){0.0, 0.0}, &s);
    const double arc = 2.0 * M_PI / OVERLAP_ROUND;
    check_close("area", s.region[0].area, 1.0 + 4.0 * skin + M_PI * skin * skin * sin(arc) / arc,
                1e-14, "square, four strips, and a regular polygon in a circle");
    regions_of(&a, &b, (double[2]){2.6 - 1e-6, 0.0}, &s);
    check_close("flat side", s.region[0].length, 1.0, 1e-4, "1e-6 deep, chords 5.6 degrees steep");
    check_close("flat area", s.region[0].area, 1e-6, 1e-10, "the same");
    // Corner on: the arc's point is a corner of the chords for 45 degrees.
    specimen_place(&a, 0.25 * M_PI, 1.0);
    regions_of(&a, &b, (double[2]){2.0 + sqrt(0.5) + skin - 1e-6, 0.0}, &s);
    assert_int_equal(s.count, 1);
    // At half a chord beside it the outline is lower by the height of the chord.
    specimen_place(&a, 0.25 * M_PI + 0.5 * arc, 1.0);
    const double low = skin * (1.0 - cos(0.5 * arc)), top = sqrt(0.5) * cos(0.5 * arc) + skin;
    check_close("height of a chord", low / skin, 0.0048, 1e-4, "as the header says");
    regions_of(&a, &b, (double[2]){2.0 + top - 0.99 * low, 0.0}, &s);
    assert_int_equal(s.count, 0);
    regions_of(&a, &b, (double[2]){2.0 + top - 1.01 * low, 0.0}, &s);
    assert_int_equal(s.count, 1);
    specimen_free(&a);
    // A concave solid with a skin: the skins of its parts overlap, and count once.
    a = specimen_rounded(&ell, 0.05);
    specimen disk = specimen_disk(3.0);
    regions_of(&a, &disk, (double[2]){0.2, 0.1}, &s);
    assert_int_equal(s.count, 1);
    const double perimeter = 2.0 * (1.1 + 1.2), area = 0.4 * 1.2 + 0.7 * 0.3;
    const double notch = 0.05 * 0.05; // strips along both sides of the notch share a square
    check_close("rounded L", s.region[0].area,
                area + 0.05 * perimeter - notch + 5.0 / 4.0 * M_PI * 0.05 * 0.05 * sin(arc) / arc,
                1e-12, "five outer corners of a quarter circle each, one inner; rounding of cells");
    overlap_scratch_free(&s);
    specimen_free(&a);
    specimen_free(&b);
}

/// Nothing depends on how many corners there are.
static void test_many_corners(void** state)
{
    (void)state;
    enum { CORNERS = 3000 };
    overlap_scratch s = {0};
    talus_error error;
    polytope round;
    double* points = malloc(sizeof(double) * 2 * CORNERS);
    for (int k = 0; k < CORNERS; k++) {
        points[2 * k] = cos(2.0 * M_PI * k / CORNERS);
        points[2 * k + 1] = sin(2.0 * M_PI * k / CORNERS);
    }
    specimen a = {.number = NULL}, disk = specimen_disk(1.0);
    check_ok(polytope_hull(2, points, CORNERS, &round, &error), error);
    check_ok(overlap_shape_make(&round, 1, 0.0, &a.shape, &error), error);
    a.number = a.shape.number;
    a.radius = 1.0;
    const double delta[2] = {0.8, 0.9};
    regions_of(&disk, &disk, delta, &s);
    const double exact = s.region[0].area;
    regions_of(&a, &disk, delta, &s);
    const double tolerance = 2.0 * M_PI * (1.0 - cos(M_PI / CORNERS));
    check_close("polygon and disk", s.region[0].area, exact, tolerance, "circle less its polygon");
    regions_of(&a, &a, delta, &s);
    check_close("two polygons", s.region[0].area, exact, 2.0 * tolerance, "the same twice");
    overlap_scratch_free(&s);
    overlap_shape_free(&a.shape);
    polytope_free(&round);
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_squares),     cmocka_unit_test(test_disks),
        cmocka_unit_test(test_small),       cmocka_unit_test(test_model),
        cmocka_unit_test(test_gradient),    cmocka_unit_test(test_symmetry),
        cmocka_unit_test(test_continuity),  cmocka_unit_test(test_scale_free),
        cmocka_unit_test(test_degenerate),  cmocka_unit_test(test_regions),
        cmocka_unit_test(test_common_seam), cmocka_unit_test(test_overlapping_parts),
        cmocka_unit_test(test_rounded),     cmocka_unit_test(test_many_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
