/// Finite walls in a periodic cell: every image of the wall acts, against brute force over images.
#include "support.h"

#include "base/rng.h"
#include "base/vec.h"
#include "detect/narrow.h"
#include "geometry/shape.h"
#include "world/world.h"

#include <string.h>

static talus_shape_def random_shape(rng* r, int dim)
{
    talus_shape_def s = {0};
    double size = 0.1 + 0.5 * rng_uniform(r);
    int kind = (int)rng_below(r, 3);
    if (kind == 0) {
        s.kind = TALUS_SHAPE_BOX;
        for (int k = 0; k < dim; k++) s.half_size[k] = 0.5 * size * (0.2 + rng_uniform(r));
    } else if (kind == 1) {
        s.kind = TALUS_SHAPE_CYLINDER;
        s.radius = 0.6 * size;
        s.half_length = dim == 3 ? 0.5 * size : 0.0;
        s.axis[2] = dim == 3 ? 1.0 : 0.0;
    } else {
        s.kind = dim == 2 ? TALUS_SHAPE_SEGMENT : TALUS_SHAPE_PLATE;
        s.edge_u[0] = size;
        s.edge_v[1] = dim == 3 ? 0.5 * size : 0.0;
    }
    return s;
}

/// Least gap of a ball to any of the wall's images, from the shape itself.
static double brute_gap(const talus_shape_def* shape, int dim, const double x[3],
                        const double wall[3], double radius)
{
    double least = INFINITY;
    for (int i = 0; i < 125; i++) {
        double shift[3] = {i / 25 - 2, i / 5 % 5 - 2, i % 5 - 2}, local[3] = {0};
        for (int k = 0; k < dim; k++) local[k] = x[k] - wall[k] + shift[k];
        shape_hit hits[SHAPE_MAX_HITS];
        int count = shape_query(shape, dim, local, 1e3, hits);
        for (int h = 0; h < count; h++) least = fmin(least, hits[h].distance - radius);
    }
    return least;
}

static void try_one(rng* r, int dim)
{
    talus_error error;
    talus_world* world;
    talus_world_def def = talus_world_default();
    def.dim = dim;
    for (int k = 0; k < dim; k++) {
        def.periodic[k] = true;
        def.cell_high[k] = 1.0;
    }
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_wall_def wall = talus_wall_default();
    talus_grain_def grain = talus_grain_default();
    wall.name = "wall";
    wall.shape = random_shape(r, dim);
    grain.radius = 0.01 + 0.05 * rng_uniform(r);
    for (int k = 0; k < dim; k++) {
        wall.position[k] = rng_uniform(r);
        grain.position[k] = rng_uniform(r);
    }
    check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);

    const double margin[1] = {0.1}, wall_margin[1] = {0.0};
    uint8_t escaped[1] = {0};
    contacts list;
    contacts_init(&list, dim);
    const narrow bodies = {.g = &world->state.grains,
                           .w = &world->state.walls,
                           .periodic = &world->state.cell,
                           .poses = &world->state.poses,
                           .margin = margin,
                           .wall_margin = wall_margin,
                           .velocity = world->state.grains.velocity,
                           .spin = world->state.grains.spin,
                           .h = 1e-3,
                           .last = &world->state.contacts,
                           .threads = 1};
    assert_int_equal(narrow_walls(&bodies, escaped, &list), TALUS_OK);
    double found = INFINITY;
    for (int64_t c = 0; c < list.count; c++) {
        found = fmin(found, list.gap[c]);
        double again = ball_wall_gap(&world->state.grains, &world->state.walls, &world->state.cell,
                                     0, list.feature[c], 0);
        if (list.gap[c] < grain.radius) assert_true(again == list.gap[c]); // it looks so far
        assert_true(c == 0 || contacts_compare(&list, c - 1, &list, c) < 0);
    }
    double expected = brute_gap(&wall.shape, dim, grain.position, wall.position, grain.radius);
    if (expected <= margin[0]) {
        if (fabs(found - expected) > 1e-14) {
            fail_msg("gap %.17g instead of %.17g, shape %d", found, expected, wall.shape.kind);
        }
    } else {
        assert_int_equal(list.count, 0);
    }
    contacts_free(&list);
    talus_world_destroy(world);
}

/// Tolerance 1e-14: positions near 1 are subtracted and shifted by whole cells in another order.
static void test_every_image_acts(void** state)
{
    (void)state;
    rng r = rng_make(5, 1, 2);
    for (int i = 0; i < test_count(4000, 400); i++) try_one(&r, 2 + i % 2);
}

/// What would need more than the neighbouring images is refused with a reason.
static void test_too_long_is_refused(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world;
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.periodic[0] = true;
    def.cell_high[0] = 1.0;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_wall_def wall = talus_wall_default();
    wall.name = "beam";
    wall.shape.kind = TALUS_SHAPE_SEGMENT;
    wall.shape.edge_u[0] = 1.1;
    assert_int_equal(talus_world_add_wall(world, &wall, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "too far for the periodic cell"));
    wall.shape.edge_u[0] = 0.6;
    wall.drive.kind = TALUS_DRIVE_VELOCITY;
    wall.drive.spin[2] = 1.0;
    assert_int_equal(talus_world_add_wall(world, &wall, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "that turns"));
    wall.shape.edge_u[0] = 0.4;
    check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_image_acts),
        cmocka_unit_test(test_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
