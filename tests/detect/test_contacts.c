/// The list of contacts: the same for any number of threads, and the same as brute force finds; the
/// list of neighbours that is kept from step to step never lacks a pair.
#include "random.h"
#include "support.h"

#include "base/vec.h"
#include "detect/narrow.h"
#include "detect/neighbours.h"
#include "world/world.h"

#include <string.h>

// ---- neighbours --------------------------------------------------------------------------------

/// Balls on their way; everything that a list of neighbours must notice may change.
typedef struct flock {
    ball_set balls;
    double *position, *velocity, *reach, *inv_mass;
    cell cell;
} flock;

static flock make_flock(rng* r, int dim, int64_t count, const bool periodic[3])
{
    const double side = pow((double)count, 1.0 / dim) * 2.2;
    flock f = {.position = calloc((size_t)(count * dim), sizeof(double)),
               .velocity = calloc((size_t)(count * dim), sizeof(double)),
               .reach = calloc((size_t)count, sizeof(double)),
               .inv_mass = calloc((size_t)count, sizeof(double))};
    assert_true(f.position && f.velocity && f.reach && f.inv_mass);
    for (int k = 0; k < dim; k++) {
        f.cell.periodic[k] = periodic[k];
        f.cell.low[k] = -7.0;
        f.cell.length[k] = side;
    }
    for (int64_t i = 0; i < count; i++) {
        f.reach[i] = uniform(r, 0.7, 1.1);
        f.inv_mass[i] = 1.0;
        const double speed = log_uniform(r, 1e-4, 0.1);
        for (int k = 0; k < dim; k++) {
            f.position[i * dim + k] = uniform(r, -7.0, -7.0 + side);
            f.velocity[i * dim + k] = speed * rng_normal(r);
        }
    }
    f.balls = (ball_set){dim, count, f.position, f.reach, f.inv_mass};
    return f;
}

static void free_flock(flock* f)
{
    free(f->position);
    free(f->velocity);
    free(f->reach);
    free(f->inv_mass);
}

/// One step; `drift` is common to all balls.
static void move_flock(flock* f, rng* r, double drift)
{
    const int dim = f->balls.dim;
    for (int64_t i = 0; i < f->balls.count; i++) {
        int32_t image[3] = {0};
        vec_add_scaled(dim, f->position + i * dim, 1.0, f->velocity + i * dim);
        for (int k = 0; k < dim; k++) f->position[i * dim + k] += drift;
        cell_wrap(&f->cell, dim, f->position + i * dim, image);
        f->reach[i] *= uniform(r, 0.999, 1.001);
    }
}

/// Pairs of `all` that `list` lacks; both are sorted.
static int64_t missing_pairs(const pair_list* list, const pair_list* all)
{
    int64_t missing = 0, at = 0;
    for (int64_t p = 0; p < all->count; p++) {
        while (at < list->count &&
               (list->a[at] < all->a[p] || (list->a[at] == all->a[p] && list->b[at] < all->b[p]))) {
            at++;
        }
        missing += at == list->count || list->a[at] != all->a[p] || list->b[at] != all->b[p];
    }
    return missing;
}

/// A jump, a ball set free, one fixed, one less, a longer cell: what happens now and then.
static void disturb(flock* f, rng* r, int kind)
{
    const int64_t i = (int64_t)rng_below(r, (uint64_t)f->balls.count);
    if (kind == 0) f->position[i * f->balls.dim] = f->position[0];
    if (kind == 1) f->inv_mass[i] = 0.0;
    if (kind == 2) {
        for (int64_t j = 0; j < f->balls.count; j++) f->inv_mass[j] = 1.0;
    }
    if (kind == 3) f->balls.count--;
    if (kind == 4) f->cell.length[0] *= 1.01;
    if (kind == 5) f->reach[i] *= 3.0;
}

static void check_flock(rng* r, int dim, const bool periodic[3], double drift, double hurry)
{
    const int64_t count = 500 + (int64_t)rng_below(r, 2500);
    flock f = make_flock(r, dim, count, periodic);
    for (int64_t k = 0; k < count * dim; k++) f.velocity[k] *= hurry;
    neighbours near;
    grid* g = grid_create();
    pair_list fresh = {0};
    int64_t served = 0, extra = 0;
    assert_int_equal(neighbours_init(&near), TALUS_OK);
    for (int step = 0; step < 60; step++) {
        assert_int_equal(neighbours_update(&near, &f.balls, &f.cell, 1 + step % 3), TALUS_OK);
        assert_int_equal(grid_pairs(g, &f.balls, &f.cell, 1, &fresh), TALUS_OK);
        assert_int_equal(missing_pairs(&near.pairs, &fresh), 0);
        extra += near.pairs.count - fresh.count;
        served += near.uses > 0;
        if (step % 10 == 9) disturb(&f, r, (int)rng_below(r, 6));
        move_flock(&f, r, drift);
    }
    printf("%dD, %lld balls, motion x %g: list made %lld times, served %lld times, %.2f pairs too "
           "many a ball\n",
           dim, (long long)count, hurry, (long long)near.made, (long long)served,
           (double)extra / (60.0 * (double)count));
    if (hurry <= 1.0) assert_true(served >= 20); // else nothing is tested
    pair_list_free(&fresh);
    grid_destroy(g);
    neighbours_free(&near);
    free_flock(&f);
}

static void test_no_pair_is_missing(void** state)
{
    (void)state;
    rng r = rng_make(7, 1, 0);
    const bool open[3] = {false, false, false}, all[3] = {true, true, true},
               one[3] = {false, true, false};
    for (int dim = 2; dim <= 3; dim++) {
        check_flock(&r, dim, open, 0.0, 1.0);
        check_flock(&r, dim, all, 0.0, 1.0);
        check_flock(&r, dim, all, 0.5, 1.0); // all travel together
        check_flock(&r, dim, one, 0.0, 0.1);
        check_flock(&r, dim, one, 0.0, 30.0); // no list can serve twice
    }
}

// ---- worlds ------------------------------------------------------------------------------------

/// A crowd of balls, of which a part may be boxes, in a container with a plane through it.
static talus_world* make_crowd(rng* r, int dim, int count, bool boxes, const bool periodic[3])
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    talus_world* world;
    const double side = pow(count, 1.0 / dim);
    def.dim = dim;
    for (int k = 0; k < dim; k++) {
        def.periodic[k] = periodic[k];
        def.cell_high[k] = side;
    }
    check_ok(talus_world_create(&def, &world, &error), error);
    if (boxes) {
        double points[24];
        for (int i = 0; i < 8 * dim; i++) points[i] = (i / dim >> i % dim & 1) - 0.5;
        talus_solid_def box = talus_solid_default();
        box.name = "box";
        box.points = points;
        box.point_count = 1 << dim;
        check_ok(talus_world_add_solid(world, &box, NULL, &error), error);
    }
    talus_wall_def wall[2] = {talus_wall_default(), talus_wall_default()};
    wall[0].name = "floor";
    wall[0].shape.normal[dim - 1] = 1.0;
    wall[0].position[dim - 1] = 0.5;
    wall[1].name = "obstacle";
    wall[1].shape.kind = TALUS_SHAPE_BOX;
    for (int k = 0; k < dim; k++) {
        wall[1].position[k] = 0.5 * side;
        wall[1].shape.half_size[k] = 0.2 * side;
    }
    for (int i = 0; i < 2; i++)
        check_ok(talus_world_add_wall(world, &wall[i], NULL, &error), error);
    for (int i = 0; i < count; i++) {
        talus_grain_def grain = talus_grain_default();
        grain.solid = (talus_solid_id){boxes && i % 3 ? 0 : -1};
        grain.radius = uniform(r, 0.35, 0.6);
        grain.scale = uniform(r, 0.4, 0.8);
        grain.fixed = i % 7 == 0;
        for (int k = 0; k < dim; k++) {
            grain.position[k] = uniform(r, 0.0, side);
            grain.velocity[k] = rng_normal(r);
        }
        for (int k = 0; k < 3; k++) grain.rotation[k] = uniform(r, -3.0, 3.0);
        check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);
    }
    assert_int_equal(poses_update(&world->state.poses, &world->state.grains), TALUS_OK);
    return world;
}

/// What a search of a crowd needs besides the world.
typedef struct crowd_search {
    double *margin, *reach, wall_margin[2];
    uint8_t* escaped;
    pair_list pairs;
    narrow bodies;
} crowd_search;

static crowd_search begin_search(talus_world* world, double range)
{
    const grains* g = &world->state.grains;
    crowd_search s = {.margin = calloc((size_t)g->count, sizeof(double)),
                      .reach = calloc((size_t)g->count, sizeof(double)),
                      .escaped = calloc((size_t)g->count, 1),
                      .wall_margin = {0.01, 0.0}};
    assert_true(s.margin && s.reach && s.escaped);
    for (int64_t i = 0; i < g->count; i++) {
        s.margin[i] = 0.01 + 0.001 * (double)(i % 10);
        s.reach[i] = g->radius[i] + s.margin[i] + 0.5 * range;
    }
    const ball_set balls = {g->dim, g->count, g->position, s.reach, g->inv_mass};
    grid* cells = grid_create();
    assert_int_equal(grid_pairs(cells, &balls, &world->state.cell, 1, &s.pairs), TALUS_OK);
    grid_destroy(cells);
    s.bodies = (narrow){.g = g,
                        .w = &world->state.walls,
                        .periodic = &world->state.cell,
                        .poses = &world->state.poses,
                        .range = range,
                        .velocity = g->velocity,
                        .spin = g->spin,
                        .drift = {0.1, 0.0, 0.0},
                        .h = 0.01,
                        .last = &world->state.contacts};
    return s;
}

static void end_search(crowd_search* s)
{
    pair_list_free(&s->pairs);
    free(s->margin);
    free(s->reach);
    free(s->escaped);
}

/// Search, match with the world's list and prune with so many threads.
static contacts search_crowd(talus_world* world, crowd_search* s, int threads)
{
    contacts found;
    contacts_init(&found, world->state.grains.dim);
    memset(s->escaped, 0, (size_t)world->state.grains.count);
    s->bodies.margin = s->margin;
    s->bodies.wall_margin = s->wall_margin;
    s->bodies.threads = threads;
    assert_int_equal(narrow_walls(&s->bodies, s->escaped, &found), TALUS_OK);
    assert_int_equal(narrow_pairs(&s->bodies, &s->pairs, &found), TALUS_OK);
    assert_int_equal(contacts_match(&found, &world->state.contacts, &world->state.grains, threads),
                     TALUS_OK);
    contacts_prune(&found, threads);
    return found;
}

static void check_same_rows(const contacts* x, const contacts* y)
{
    int count;
    const column* cols = contacts_columns(&count);
    assert_int_equal(x->count, y->count);
    for (int k = 0; k < count; k++) {
        const void *p = column_data(&cols[k], x), *q = column_data(&cols[k], y);
        const size_t row =
            column_element_size(&cols[k]) * (size_t)column_row_width(&cols[k], x->dim);
        assert_int_equal(p == NULL, q == NULL);
        if (p) assert_memory_equal(p, q, row * (size_t)x->count);
    }
}

/// Give the contacts of the last step forces, some bonds, and move the grains a little.
static void age_crowd(talus_world* world, rng* r)
{
    contacts* c = &world->state.contacts;
    const int dim = c->dim;
    for (int64_t i = 0; i < c->count; i++) {
        for (int k = 0; k < dim; k++) c->force[i * dim + k] = rng_normal(r);
        c->state[i] = TALUS_CONTACT_STICK;
        c->bonded[i] = rng_uniform(r) < 0.3;
    }
    for (int64_t i = 0; i < world->state.grains.count * dim; i++) {
        world->state.grains.position[i] += 0.01 * rng_normal(r);
    }
    assert_int_equal(poses_update(&world->state.poses, &world->state.grains), TALUS_OK);
}

/// Balls whose gap is at most the margins and the range; beyond the margins only those with a bond.
static int64_t brute_contacts(const talus_world* world, const crowd_search* s,
                              const contacts* found)
{
    const grains* g = &world->state.grains;
    const contacts* last = &world->state.contacts;
    int64_t wrong = 0, at = 0;
    while (at < found->count && found->a[at] < 0) at++;
    for (int64_t i = 0; i < g->count; i++) {
        for (int64_t j = i + 1; j < g->count; j++) {
            double sum = 0.0;
            for (int k = 0; k < g->dim; k++) {
                double d = fabs(g->position[j * g->dim + k] - g->position[i * g->dim + k]);
                if (world->state.cell.periodic[k])
                    d = fmin(d, fabs(d - world->state.cell.length[k]));
                sum += d * d;
            }
            const bool listed = at < found->count && found->a_row[at] == i && found->b_row[at] == j;
            const double apart = g->radius[i] + g->radius[j] + s->margin[i] + s->margin[j];
            const double gap = sqrt(sum) - apart;
            bool wanted = gap <= 0.0 && (g->inv_mass[i] > 0.0 || g->inv_mass[j] > 0.0);
            if (gap > 0.0 && gap <= s->bodies.range) {
                int64_t first;
                contacts_cursor cursor = contacts_cursor_at(last, g->id[i], g->id[j]);
                wanted = contacts_seek(&cursor, g->id[i], g->id[j], &first) && last->bonded[first];
            }
            const double border = fmin(fabs(gap), fabs(gap - s->bodies.range));
            wrong += listed != wanted && border > 1e-12; // roundings may decide the others
            at += listed;
        }
    }
    return wrong + (found->count - at);
}

static void check_crowd(int dim, int count, bool boxes, const bool periodic[3], double range)
{
    rng r = rng_make(7, (uint64_t)(2 * dim + boxes), (uint64_t)count);
    talus_world* world = make_crowd(&r, dim, count, boxes, periodic);
    crowd_search s = begin_search(world, range);
    const contacts last = search_crowd(world, &s, 1);
    contacts_free(&world->state.contacts);
    world->state.contacts = last;
    end_search(&s);
    age_crowd(world, &r);
    s = begin_search(world, range);
    const contacts first = search_crowd(world, &s, 1);
    int64_t on_walls = 0;
    while (on_walls < first.count && first.a[on_walls] < 0) on_walls++;
    printf("%dD, %lld contacts, %lld of them with walls\n", dim, (long long)first.count,
           (long long)on_walls);
    assert_true(s.pairs.count > 8192 && on_walls > 50); // else no second thread is asked
    if (!boxes) assert_int_equal(brute_contacts(world, &s, &first), 0);
    uint8_t* escaped = malloc((size_t)count);
    memcpy(escaped, s.escaped, (size_t)count);
    const int threads[3] = {2, 3, 8};
    for (int t = 0; t < 3; t++) {
        contacts again = search_crowd(world, &s, threads[t]);
        check_same_rows(&first, &again);
        assert_memory_equal(escaped, s.escaped, (size_t)count);
        assert_int_equal(contacts_match_forces(&again, &world->state.contacts, threads[t]),
                         TALUS_OK);
        check_same_rows(&first, &again);
        contacts_free(&again);
    }
    free(escaped);
    contacts copy = first;
    contacts_free(&copy);
    end_search(&s);
    talus_world_destroy(world);
}

/// Sizes are not scaled down for sanitizers: below the chunks' sizes nothing would be tested.
static void test_balls_do_not_depend_on_threads(void** state)
{
    (void)state;
    const bool open[3] = {false, false, false}, sides[3] = {true, true, false};
    check_crowd(2, 12000, false, open, 0.0);
    check_crowd(3, 6000, false, sides, 0.0);
    check_crowd(3, 6000, false, sides, 0.1);
}

static void test_solids_do_not_depend_on_threads(void** state)
{
    (void)state;
    const bool sides[3] = {true, false, false};
    check_crowd(2, 6000, true, sides, 0.05);
    check_crowd(3, 4000, true, sides, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_pair_is_missing),
        cmocka_unit_test(test_balls_do_not_depend_on_threads),
        cmocka_unit_test(test_solids_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
