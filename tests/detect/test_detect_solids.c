/// The search for contacts of solids in a world: nothing is missed, nothing is invented, names
/// stay, and threads do not matter.
#include "physics.h"
#include "random.h"
#include "support.h"

#include "base/vec.h"
#include "detect/narrow.h"
#include "geometry/feature.h"
#include "world/world.h"

#include <string.h>

/// Random hulls, and a concave shape of two of them side by side.
static void add_shapes(talus_world* world, rng* r, int count)
{
    const int dim = world->def.dim;
    for (int i = 0; i < count; i++) {
        double points[2 * 12 * 3];
        char name[16];
        talus_error error = {0};
        talus_solid_def def = talus_solid_default();
        const int sizes[2] = {12, 12};
        const bool two = i % 3 == 2;
        for (int k = 0; k < (two ? 24 : 12) * dim; k++) points[k] = uniform(r, -0.05, 0.05);
        for (int k = 12; two && k < 24; k++) points[k * dim] += 0.1;
        snprintf(name, sizeof name, "shape%d", i);
        def.name = name;
        def.points = points;
        def.point_count = two ? 24 : 12;
        def.part_count = two ? 2 : 1;
        def.part_sizes = two ? sizes : NULL;
        def.skin = i % 2 ? 0.004 : 0.0;
        check_ok(talus_world_add_solid(world, &def, NULL, &error), error);
    }
}

static talus_world* random_cloud(rng* r, int dim, int count)
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    talus_world* world;
    def.dim = dim;
    for (int k = 0; k < dim; k++) {
        def.periodic[k] = k != 1;
        def.cell_high[k] = 1.0;
    }
    check_ok(talus_world_create(&def, &world, &error), error);
    add_shapes(world, r, 6);
    for (int i = 0; i < count; i++) {
        talus_grain_def g = talus_grain_default();
        g.solid = (talus_solid_id){i % 4 == 3 ? -1 : (int)rng_below(r, 6)};
        g.radius = 0.04;
        g.scale = uniform(r, 0.5, 1.0);
        for (int k = 0; k < 3; k++) {
            g.position[k] = uniform(r, 0.0, 1.0);
            g.velocity[k] = uniform(r, -1.0, 1.0);
            g.rotation[k] = uniform(r, -3.0, 3.0);
        }
        check_ok(talus_world_add_grain(world, &g, NULL, &error), error);
    }
    return world;
}

/// Signed distance between two grains, part by part, with every image of the second.
static double brute_distance(const talus_world* w, const poses* p, int64_t a, int64_t b)
{
    const grains* g = &w->state.grains;
    const int dim = g->dim;
    double least = INFINITY;
    for (int image = 0; image < 9; image++) {
        double delta[3] = {0.0, 0.0, 0.0}, normal[3];
        vec_sub(dim, delta, g->position + b * dim, g->position + a * dim);
        delta[0] += image % 3 - 1;
        if (dim == 3) delta[2] += image / 3 - 1;
        const int parts_a = g->solid[a] < 0 ? 1 : poses_count(p, a);
        const int parts_b = g->solid[b] < 0 ? 1 : poses_count(p, b);
        for (int i = 0; i < parts_a; i++) {
            for (int j = 0; j < parts_b; j++) {
                const convex ball_a = convex_ball(dim, g->radius[a]);
                const convex ball_b = convex_ball(dim, g->radius[b]);
                const convex* part_a = g->solid[a] < 0 ? &ball_a : &p->part[p->first[a] + i];
                const convex* part_b = g->solid[b] < 0 ? &ball_b : &p->part[p->first[b] + j];
                least = fmin(least, convex_distance(part_a, part_b, delta, normal));
            }
        }
    }
    return least;
}

/// Least gap listed between two grains, INFINITY if none is.
static double listed_gap(const contacts* list, int64_t a, int64_t b)
{
    double least = INFINITY;
    for (int64_t c = 0; c < list->count; c++) {
        if (list->a_row[c] == a && list->b_row[c] == b) least = fmin(least, list->gap[c]);
    }
    return least;
}

/// In a step too short for anything to move, the pairs listed are those that touch or overlap or
/// are nearer than the margins (a hundredth of a radius each), with their true distances.
static void test_nothing_missed(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        rng r = rng_make(41, (uint64_t)dim, 0);
        int64_t touching = 0;
        const int clouds = test_count(40, 4);
        for (int n = 0; n < clouds; n++) {
            talus_world* world = random_cloud(&r, dim, dim == 2 ? 60 : 120);
            poses before = {0};
            talus_error error = {0};
            assert_int_equal(poses_update(&before, &world->state.grains), TALUS_OK);
            const int64_t count = world->state.grains.count;
            double* distance = malloc(sizeof(double) * (size_t)(count * count));
            for (int64_t a = 0; a < count; a++) {
                for (int64_t b = a + 1; b < count; b++) {
                    distance[a * count + b] = brute_distance(world, &before, a, b);
                }
            }
            check_ok(talus_world_step(world, 1e-12, NULL, &error), error);
            for (int64_t a = 0; a < count; a++) {
                for (int64_t b = a + 1; b < count; b++) {
                    const double expected = distance[a * count + b];
                    const double found = listed_gap(&world->state.contacts, a, b);
                    touching += expected <= 0.0;
                    if (expected > 0.01) {
                        assert_true(found == INFINITY);
                    } else if (expected < 2e-4) { // the smallest radii are above 0.01
                        // The free motion may prefer another axis, up to 1e-3 of a size deeper.
                        assert_true(found <= expected + 1e-12 && found >= expected - 1e-4);
                    }
                }
            }
            check_ok(talus_world_validate(world, &error), error);
            free(distance);
            poses_free(&before);
            talus_world_destroy(world);
        }
        printf("%dD: %lld pairs overlap in %d clouds\n", dim, (long long)touching, clouds);
        assert_true(touching > 3 * clouds);
    }
}

/// After grains have gone some way their contacts overlap by as much as narrow_gap() says, however
/// often the bodies behind them were looked at; 0 where they do not.
static void test_overlaps_are_gaps(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        rng r = rng_make(43, (uint64_t)dim, 0);
        int64_t apart = 0, over = 0;
        for (int n = 0; n < test_count(20, 4); n++) {
            talus_world* world = random_cloud(&r, dim, dim == 2 ? 60 : 120);
            physical_state* s = &world->state;
            narrow_scratch scratch = {0}, fresh = {0};
            talus_error error = {0};
            check_ok(talus_world_step(world, 1e-12, NULL, &error), error);
            for (int64_t k = 0; k < s->grains.count * dim; k++)
                s->grains.position[k] += uniform(&r, -0.01, 0.01);
            assert_int_equal(poses_update(&s->poses, &s->grains), TALUS_OK);
            for (int64_t c = 0; c < s->contacts.count; c++) {
                const double gap = narrow_gap(&s->grains, &s->walls, &s->cell, &s->poses, &fresh,
                                              &s->contacts, c, 1e-6);
                const double overlap = narrow_overlap(&s->grains, &s->walls, &s->cell, &s->poses,
                                                      &scratch, &s->contacts, c, 1e-6);
                assert_true(fabs(overlap - fmax(-gap, 0.0)) < 1e-14);
                apart += gap > 0.0;
                over += gap < 0.0;
            }
            narrow_scratch_free(&scratch);
            narrow_scratch_free(&fresh);
            talus_world_destroy(world);
        }
        assert_true(apart > 20 && over > 20);
    }
}

/// Columns of boxes side by side on a plane, at rest.
static talus_world* box_pile(int dim, int threads)
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    talus_world* world;
    def.dim = dim;
    def.threads = threads;
    def.gravity[dim - 1] = -9.81;
    def.solver.tolerance = 1e-6;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def law = talus_pair_default();
    law.friction = 0.5;
    check_ok(talus_world_add_material(world, "stone", &law, NULL, &error), error);
    double half[3] = {0.5, 0.5, 0.5}, points[24];
    for (int i = 0; i < (dim == 2 ? 4 : 8); i++) {
        for (int k = 0; k < dim; k++) points[i * dim + k] = (i >> k & 1 ? 1.0 : -1.0) * half[k];
    }
    talus_solid_def cube = talus_solid_default();
    cube.name = "cube";
    cube.points = points;
    cube.point_count = dim == 2 ? 4 : 8;
    check_ok(talus_world_add_solid(world, &cube, NULL, &error), error);
    talus_wall_def floor = talus_wall_default();
    floor.name = "floor";
    floor.shape.kind = TALUS_SHAPE_PLANE;
    floor.shape.normal[dim - 1] = 1.0;
    check_ok(talus_world_add_wall(world, &floor, NULL, &error), error);
    rng r = rng_make(5, 0, 0);
    for (int i = 0; i < 30; i++) {
        talus_grain_def g = talus_grain_default();
        g.solid = (talus_solid_id){0};
        g.position[0] = 1.05 * (i % 6) + (i / 6 % 2 ? 0.45 : 0.0);
        g.position[dim - 1] = 0.5 + 1.001 * (i / 6);
        g.rotation[2] = dim == 3 ? uniform(&r, -0.05, 0.05) : 0.0;
        check_ok(talus_world_add_grain(world, &g, NULL, &error), error);
    }
    return world;
}

/// Once the pile rests, the points that hold it keep their names and their order: whatever the
/// rounding of a step, the same features are found.
static void test_names_stay(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = box_pile(dim, 1);
        talus_error error = {0};
        for (int i = 0; i < 400; i++) {
            check_ok(talus_world_step(world, 2e-3, NULL, &error), error);
        }
        const int64_t count = world->state.contacts.count;
        const size_t bytes = sizeof(int64_t) * (size_t)count;
        int64_t* names = malloc(bytes);
        memcpy(names, world->state.contacts.feature, bytes);
        for (int i = 0; i < test_count(500, 50); i++) {
            check_ok(talus_world_step(world, 2e-3, NULL, &error), error);
            assert_int_equal(world->state.contacts.count, count);
            assert_memory_equal(names, world->state.contacts.feature, bytes);
        }
        assert_true(count >= (dim == 2 ? 60 : 120)); // two or four points under every box
        free(names);
        talus_world_destroy(world);
    }
}

static void test_threads_do_not_matter(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        uint64_t hash[2];
        for (int t = 0; t < 2; t++) {
            talus_world* world = box_pile(dim, t == 0 ? 1 : 3);
            talus_error error = {0};
            for (int i = 0; i < 50; i++) {
                check_ok(talus_world_step(world, 2e-3, NULL, &error), error);
            }
            hash[t] = talus_world_hash(world);
            talus_world_destroy(world);
        }
        assert_true(hash[0] == hash[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_missed),
        cmocka_unit_test(test_overlaps_are_gaps),
        cmocka_unit_test(test_names_stay),
        cmocka_unit_test(test_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
