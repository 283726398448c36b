/// src/workshop/scene blocks: Voronoi cells, arches, masonry.
///
/// Cells are held against their definition (the nearest point of random probes, areas and volumes
/// that sum to the region's), joints against each other, corner by corner.
#include "support.h"

#include "base/rng.h"
#include "base/vec.h"
#include "geometry/solid.h"
#include "scene/blocks.h"

#include <string.h>

/// A block as a solid of its own, with corners about its centre of mass.
typedef struct stone {
    solid s;
    double centre[3]; ///< in the world
    double q[4];
} stone;

static stone* make_stones(const block_list* list)
{
    stone* out = calloc((size_t)list->count, sizeof *out);
    for (int64_t i = 0; i < list->count; i++) {
        const block* b = &list->rows[i];
        talus_error error = {0};
        talus_solid_def def = {.name = "stone", .part_count = 1};
        def.points = list->points + (ptrdiff_t)list->first[b->shape] * list->dim;
        def.point_count = list->first[b->shape + 1] - list->first[b->shape];
        check_ok(solid_make(&def, list->dim, &out[i].s, &error), error);
        double shift[3];
        quat_from_rotation(out[i].q, b->rotation);
        quat_rotate(shift, out[i].q, out[i].s.centre);
        for (int k = 0; k < 3; k++) out[i].centre[k] = b->origin[k] + shift[k];
    }
    return out;
}

static void free_stones(stone* stones, int64_t count)
{
    for (int64_t i = 0; i < count; i++) solid_free(&stones[i].s);
    free(stones);
}

static double total_volume(const stone* stones, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += stones[i].s.volume;
    return sum;
}

/// Depth of a point in a stone by its half spaces: positive inside.
static double depth_in(const stone* s, const double delta[3])
{
    const polytope* p = &s->s.part[0];
    double local[3], least = INFINITY;
    quat_rotate_back(local, s->q, delta);
    for (int f = 0; f < p->face_count; f++) {
        least = fmin(least, p->offset[f] - vec_dot(p->dim, p->normal + f * p->dim, local));
    }
    return least;
}

/// Deepest that any image of a point is in a stone: large cells hold points whose nearest image to
/// their centre is outside.
static double image_depth(const stone* s, int dim, const cell* c, const double x[3])
{
    double most = -INFINITY;
    for (int i = 0; i < (dim == 3 ? 27 : 9); i++) {
        const int shift[3] = {i % 3 - 1, i / 3 % 3 - 1, dim == 3 ? i / 9 - 1 : 0};
        double delta[3];
        bool real = true;
        for (int k = 0; k < 3; k++) {
            real = real && (shift[k] == 0 || c->periodic[k]);
            delta[k] = x[k] - s->centre[k] + shift[k] * c->length[k];
        }
        if (real) most = fmax(most, depth_in(s, delta));
    }
    return most;
}

/// Random probes: how many stones hold each by more than `margin`.
static void count_holders(const stone* stones, int64_t count, int dim, const cell* c,
                          const double low[3], const double high[3], double margin, int probes,
                          int* none, int* several)
{
    rng r = rng_make(5, 0, 0);
    *none = *several = 0;
    for (int i = 0; i < probes; i++) {
        double x[3] = {0};
        for (int k = 0; k < dim; k++) x[k] = low[k] + (high[k] - low[k]) * rng_uniform(&r);
        int inside = 0, nearly = 0;
        for (int64_t j = 0; j < count; j++) {
            double depth = image_depth(&stones[j], dim, c, x);
            inside += depth > margin;
            nearly += depth > -margin;
        }
        *none += nearly == 0;
        *several += inside > 1;
    }
}

typedef struct voronoi_case {
    int dim;
    bool periodic[3];
    int64_t count;
    int lloyd;
} voronoi_case;

static void test_voronoi_fills(void** state)
{
    (void)state;
    static const voronoi_case cases[] = {
        {2, {false, false, false}, 200, 0}, {2, {true, false, false}, 200, 4},
        {2, {true, true, false}, 150, 0},   {2, {false, false, false}, 1, 2},
        {2, {true, true, false}, 3, 1},     {3, {false, false, false}, 120, 0},
        {3, {true, true, false}, 120, 3},   {3, {true, true, true}, 60, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const voronoi_case* v = &cases[i];
        voronoi_def def = {.low = {-1, 2, 0.5},
                           .high = {2, 4, 1.5},
                           .count = v->count,
                           .lloyd = v->lloyd,
                           .depth = {0.0, 0.0}};
        generate_context context = {.dim = v->dim, .seed = 3, .source = i};
        double region = 1.0;
        for (int k = 0; k < v->dim; k++) {
            double length = def.high[k] - def.low[k];
            context.cell.periodic[k] = v->periodic[k];
            context.cell.low[k] = def.low[k];
            context.cell.length[k] = length;
            region *= length;
        }
        block_list list = {.dim = v->dim};
        talus_error error = {0};
        check_ok(generate_voronoi(&def, &context, &list, &error), error);
        assert_int_equal(list.count, v->count);
        stone* stones = make_stones(&list);
        check_close("volume of all cells", total_volume(stones, list.count), region, 1e-11 * region,
                    "rounding of some hundred sums of products");
        int none, several;
        count_holders(stones, list.count, v->dim, &context.cell, def.low, def.high, 1e-12,
                      test_count(3000, 300), &none, &several);
        assert_int_equal(none, 0);
        assert_int_equal(several, 0);
        free_stones(stones, list.count);
        block_list_free(&list);
    }
}

/// Without Lloyd's steps and gap, the cell that holds a probe is that of the nearest point.
/// Cells of thin boxes are one layer of prisms; the search for neighbours must not ask for bins of
/// their thickness (80 GB for 100 cells in a box of 1 x 1 x 1e-15).
static void test_voronoi_thin(void** state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        for (int dim = 2; dim <= 3; dim++) {
            if (axis >= dim) continue;
            voronoi_def def = {.high = {1, 1, dim == 3}, .count = 100, .lloyd = 2};
            generate_context context = {.dim = dim, .seed = 3};
            talus_error error = {0};
            def.high[axis] = 1e-4;
            block_list list = {.dim = dim};
            check_ok(generate_voronoi(&def, &context, &list, &error), error);
            stone* stones = make_stones(&list);
            check_close("volume of thin cells", total_volume(stones, list.count), 1e-4, 1e-14,
                        "rounding of sides 1e4 times as long as thick");
            free_stones(stones, list.count);
            block_list_free(&list);

            def.high[axis] = 1e-15;
            list = (block_list){.dim = dim};
            check_ok(generate_voronoi(&def, &context, &list, &error), error);
            assert_int_equal(list.count, 100);
            block_list_free(&list);

            context.cell.periodic[axis] = true;
            context.cell.length[axis] = 1e-15;
            list = (block_list){.dim = dim};
            assert_int_equal(generate_voronoi(&def, &context, &list, &error), TALUS_ERR_ARGUMENT);
            assert_non_null(strstr(error.text, "too thin"));
            block_list_free(&list);
        }
    }
}

static void test_voronoi_is_voronoi(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        voronoi_def def = {
            .low = {0, 0, 0}, .high = {1, 1, 1}, .count = 80, .depth = {-INFINITY, -INFINITY}};
        generate_context context = {.dim = dim, .seed = 11};
        context.cell = (cell){.periodic = {true}, .length = {1, 1, 1}};
        block_list list = {.dim = dim};
        talus_error error = {0};
        check_ok(generate_voronoi(&def, &context, &list, &error), error);
        stone* stones = make_stones(&list);
        rng r = rng_make(1, 2, 3);
        for (int i = 0; i < 2000; i++) {
            double x[3] = {0}, best = INFINITY, second = INFINITY;
            int64_t nearest = 0;
            for (int k = 0; k < dim; k++) x[k] = rng_uniform(&r);
            for (int64_t j = 0; j < list.count; j++) {
                double delta[3];
                vec_sub(3, delta, x, list.rows[j].origin);
                cell_nearest(&context.cell, dim, delta);
                double d = vec_norm(dim, delta);
                second = fmin(second, fmax(d, best));
                if (d < best) nearest = j;
                best = fmin(best, d);
            }
            if (second - best < 1e-9) continue; // on the border, rounding decides
            assert_true(image_depth(&stones[nearest], dim, &context.cell, x) > 0.0);
            assert_true(list.rows[nearest].edge == EDGE_NONE);
        }
        free_stones(stones, list.count);
        block_list_free(&list);
    }
}

/// A gap takes half of itself off every side that has a neighbour; Lloyd's steps make cells more
/// equal; bottom and top are told from the rest.
static void test_voronoi_options(void** state)
{
    (void)state;
    double spread[2];
    for (int run = 0; run < 2; run++) {
        voronoi_def def = {.low = {0, 0}, .high = {2, 1}, .count = 300, .lloyd = run ? 20 : 0};
        generate_context context = {.dim = 2, .seed = 4};
        block_list list = {.dim = 2};
        talus_error error = {0};
        check_ok(generate_voronoi(&def, &context, &list, &error), error);
        stone* stones = make_stones(&list);
        double mean = 2.0 / 300, square = 0.0;
        for (int64_t i = 0; i < list.count; i++) {
            square += pow(stones[i].s.volume - mean, 2) / 300;
            double low = INFINITY, high = -INFINITY;
            const polytope* p = &stones[i].s.part[0];
            for (int v = 0; v < p->vertex_count; v++) {
                low = fmin(low, stones[i].centre[1] + p->vertex[2 * v + 1]);
                high = fmax(high, stones[i].centre[1] + p->vertex[2 * v + 1]);
            }
            block_edge edge = low < 1e-12 ? EDGE_BOTTOM : high > 1.0 - 1e-12 ? EDGE_TOP : EDGE_NONE;
            assert_int_equal(list.rows[i].edge, edge);
        }
        spread[run] = sqrt(square) / mean;
        free_stones(stones, list.count);
        block_list_free(&list);
    }
    check_below("spread after 20 of Lloyd's steps", spread[1], 0.4 * spread[0],
                "random cells spread by 0.53, relaxed ones by less than half of it");

    // A single cell, whose neighbours are its own images.
    voronoi_def def = {.low = {0, 0}, .high = {2, 1}, .count = 1, .gap = 0.125};
    generate_context context = {.dim = 2, .cell = {.periodic = {true, true}, .length = {2, 1}}};
    block_list list = {.dim = 2};
    talus_error error = {0};
    check_ok(generate_voronoi(&def, &context, &list, &error), error);
    stone* stones = make_stones(&list);
    check_close("area less gap", stones[0].s.volume, 1.875 * 0.875, 1e-14, "rounding");
    free_stones(stones, list.count);
    block_list_free(&list);
}

/// The two corners (2D) or four (3D) of a stone that lie on the plane through the arch's centre at
/// an angle, sorted by their distance from it; returns how many.
static int joint_corners(const stone* s, int dim, const double centre[3], double angle,
                         double out[8][3])
{
    int count = 0;
    const polytope* p = &s->s.part[0];
    for (int v = 0; v < p->vertex_count; v++) {
        double x[3] = {0};
        vec_copy(dim, x, p->vertex + v * dim);
        quat_rotate(x, s->q, x);
        for (int k = 0; k < 3; k++) x[k] += s->centre[k];
        double u = x[0] - centre[0], w = x[dim - 1] - centre[dim - 1];
        if (fabs(-u * sin(angle) + w * cos(angle)) > 1e-9) continue;
        if (u * cos(angle) + w * sin(angle) < 0.0) continue;
        int at = count++;
        for (; at > 0; at--) {
            double a = hypot(out[at - 1][0] - centre[0], out[at - 1][dim - 1] - centre[dim - 1]);
            if (a < hypot(u, w) - 1e-9) break;
            if (fabs(a - hypot(u, w)) <= 1e-9 && out[at - 1][1] < x[1] && dim == 3) break;
            memcpy(out[at], out[at - 1], sizeof out[at]);
        }
        vec_copy(3, out[at], x);
    }
    return count;
}

static void test_arch_joints(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        arch_def def = {.centre = {1, 2, 3},
                        .radius = 2.0,
                        .thickness = 0.3,
                        .depth = 0.5,
                        .angle = M_PI,
                        .blocks = 23,
                        .springers = dim == 3};
        block_list list = {.dim = dim};
        talus_error error = {0};
        if (dim == 2) def.centre[2] = 0.0;
        check_ok(generate_arch(&def, dim, &list, &error), error);
        int extra = def.springers ? 1 : 0;
        assert_int_equal(list.count, 23 + 2 * extra);
        assert_int_equal(list.shape_count, 1);
        stone* stones = make_stones(&list);
        double worst = 0.0;
        for (int64_t i = 0; i + 1 < list.count; i++) {
            double a[8][3], b[8][3], angle = M_PI * (1.0 - (double)(i + 1 - extra) / 23.0);
            int corners = dim == 3 ? 4 : 2;
            assert_int_equal(joint_corners(&stones[i], dim, def.centre, angle, a), corners);
            assert_int_equal(joint_corners(&stones[i + 1], dim, def.centre, angle, b), corners);
            for (int k = 0; k < corners; k++) {
                double off[3];
                vec_sub(3, off, a[k], b[k]);
                worst = fmax(worst, vec_norm(3, off));
                double r = hypot(a[k][0] - def.centre[0], a[k][dim - 1] - def.centre[dim - 1]);
                check_close("corner on its circle", r, k < corners / 2 ? 1.85 : 2.15, 1e-14,
                            "rounding");
            }
            assert_int_equal(list.rows[i].fixed, i < extra);
        }
        check_below("corners of neighbours apart", worst, 4e-15, "rounding at coordinates up to 5");
        free_stones(stones, list.count);
        block_list_free(&list);
    }
}

static void test_masonry(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        masonry_def def = {.low = {1, -1, 0},
                           .brick = {0.25, dim == 2 ? 0.1 : 0.125, 0.1},
                           .bricks = 8,
                           .courses = 7,
                           .opening = true,
                           .from = 1.6,
                           .to = 2.1,
                           .first = 1,
                           .height = 3,
                           .bearing = 0.2};
        block_list list = {.dim = dim};
        talus_error error = {0};
        check_ok(generate_masonry(&def, dim, &list, &error), error);
        stone* stones = make_stones(&list);
        double deep = dim == 2 ? 1.0 : 0.125;
        check_close("volume of the wall", total_volume(stones, list.count),
                    (2.0 * 0.7 - 0.5 * 0.3) * deep, 1e-13, "rounding of some fifty sums");
        double low[3] = {1, -1, 0}, high[3] = {3, dim == 2 ? -0.3 : -0.875, 0.7};
        int none, several;
        cell open = {0};
        int probes = test_count(20000, 2000);
        count_holders(stones, list.count, dim, &open, low, high, 1e-12, probes, &none, &several);
        assert_int_equal(several, 0);
        check_close("share of the opening", (double)none / probes, 0.15 / 1.4,
                    5.0 * sqrt(0.1 / probes), "five deviations of the count");
        // 8 whole bricks, or 7 and two halves; the lintel is one of its course.
        int lintels = 0, bottoms = 0;
        for (int64_t i = 0; i < list.count; i++) {
            lintels += fabs(stones[i].s.volume / deep - 0.09) < 1e-12;
            bottoms += list.rows[i].edge == EDGE_BOTTOM;
        }
        assert_int_equal(lintels, 1);
        assert_int_equal(bottoms, 8);
        free_stones(stones, list.count);
        block_list_free(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_voronoi_fills), cmocka_unit_test(test_voronoi_is_voronoi),
        cmocka_unit_test(test_voronoi_thin),  cmocka_unit_test(test_voronoi_options),
        cmocka_unit_test(test_arch_joints),   cmocka_unit_test(test_masonry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
