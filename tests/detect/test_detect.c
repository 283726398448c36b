/// The search for contacts against brute force, contact lists, and the step's promise that no
/// contact within its reach is ever missed.
#include "random.h"
#include "support.h"

#include "base/vec.h"
#include "detect/contacts.h"
#include "detect/grid.h"
#include "geometry/feature.h"

#include <float.h>
#include <string.h>
#include <talus/talus.h>

enum { MAX_BALLS = 4000 };

typedef struct cloud {
    int dim;
    int64_t count;
    double position[3 * MAX_BALLS], reach[MAX_BALLS], inv_mass[MAX_BALLS];
    cell cell;
} cloud;

/// Distance of two balls, nearest image found by trying the neighbours, not by rounding.
static double ball_distance(const cloud* c, int64_t i, int64_t j)
{
    double sum = 0.0;
    for (int k = 0; k < c->dim; k++) {
        double delta = c->position[j * c->dim + k] - c->position[i * c->dim + k],
               best = fabs(delta);
        for (int m = -1; m <= 1 && c->cell.periodic[k]; m++) {
            best = fmin(best, fabs(delta + m * c->cell.length[k]));
        }
        sum += best * best;
    }
    return sqrt(sum);
}

/// What is wrong with a list: 0 if it is the brute-force list, sorted, each pair once. Pairs whose
/// reaches meet within rounding may be in it or not.
static int64_t wrong_pairs(const cloud* c, const pair_list* list, int64_t* pairs)
{
    int64_t wrong = 0, next = 0;
    for (int64_t i = 0; i < c->count; i++) {
        for (int64_t j = i + 1; j < c->count; j++) {
            bool listed = next < list->count && list->a[next] == i && list->b[next] == j;
            next += listed;
            double sum = c->reach[i] + c->reach[j], distance = ball_distance(c, i, j);
            bool both_fixed = c->inv_mass[i] == 0.0 && c->inv_mass[j] == 0.0;
            if (!both_fixed && fabs(distance - sum) <= 1e-12 * sum) continue;
            bool wanted = !both_fixed && distance <= sum;
            wrong += wanted != listed;
            *pairs += wanted;
        }
    }
    return wrong + llabs(list->count - next); // what is out of order or twice is left over
}

/// How the balls of a cloud lie.
typedef enum spread { EVEN, CLUSTERED, FAR_FLUNG, LATTICE, SPREADS } spread;

static void place(rng* r, cloud* c, spread how, const double size[3], int64_t i)
{
    for (int k = 0; k < c->dim; k++) {
        double* x = &c->position[i * c->dim + k];
        double low = c->cell.low[k];
        *x = low + size[k] * rng_uniform(r);
        if (how == CLUSTERED) *x = low + size[k] * (0.5 + 0.01 * rng_normal(r));
        if (how == LATTICE) *x = low + size[k] * (double)rng_below(r, 8) / 8.0;
        if (how == FAR_FLUNG && !c->cell.periodic[k]) {
            *x += 1e9 * ((double)rng_below(r, 3) - 1.0); // a few clouds 1e9 apart
        }
        if (c->cell.periodic[k]) {
            double top = low + c->cell.length[k];
            while (*x < low) *x += c->cell.length[k];
            while (*x >= top) *x -= c->cell.length[k];
            if (*x < low || *x >= top) *x = low;
        }
    }
}

/// A random cloud: sizes up to 1:ratio, any subset of axes periodic, some balls fixed, some fast
/// (their reach is many times that of the others).
static void random_cloud(rng* r, int dim, int64_t count, double ratio, spread how, cloud* c)
{
    double size[3], widest = 0.0;
    c->dim = dim;
    c->count = count;
    const bool with_fast = rng_uniform(r) < 0.3, power_law = rng_uniform(r) < 0.5;
    for (int64_t i = 0; i < count; i++) {
        double x = rng_uniform(r);
        c->reach[i] = power_law ? pow(ratio, x * x * x) : uniform(r, 1.0, ratio);
        if (with_fast && rng_uniform(r) < 0.02) c->reach[i] *= 30.0;
        c->inv_mass[i] = rng_uniform(r) < 0.2 ? 0.0 : 1.0;
        widest = fmax(widest, c->reach[i]);
    }
    // Cells as short as the contract allows (2 diameters of the widest) up to a dilute gas.
    for (int k = 0; k < 3; k++) {
        c->cell.periodic[k] = k < dim && rng_uniform(r) < 0.5;
        c->cell.low[k] = uniform(r, -50.0, 50.0);
        size[k] = widest * 4.0 * (1.0 + (rng_uniform(r) < 0.5 ? 0.01 : 5.0 * rng_uniform(r)));
        c->cell.length[k] = c->cell.periodic[k] ? size[k] : 0.0;
    }
    for (int64_t i = 0; i < count; i++) place(r, c, how, size, i);
}

static ball_set balls_of(const cloud* c)
{
    return (ball_set){c->dim, c->count, c->position, c->reach, c->inv_mass};
}

// ---- pairs -------------------------------------------------------------------------------------

static void test_pairs_equal_brute_force(void** state)
{
    (void)state;
    rng r = rng_make(3, 1, 0);
    cloud* c = malloc(sizeof *c);
    grid* g = grid_create();
    pair_list list = {0};
    int64_t wrong = 0, pairs = 0;
    const int count = test_count(6000, 400);
    const double ratios[4] = {1.0, 3.0, 20.0, 1000.0};
    for (int i = 0; i < count; i++) {
        random_cloud(&r, 2 + i % 2, 1 + (int64_t)rng_below(&r, 120), ratios[i / 2 % 4],
                     (spread)(i / 8 % SPREADS), c);
        ball_set balls = balls_of(c);
        assert_int_equal(grid_pairs(g, &balls, &c->cell, 1, &list), TALUS_OK);
        wrong += wrong_pairs(c, &list, &pairs);
    }
    printf("%d clouds, %lld pairs\n", count, (long long)pairs);
    assert_true(pairs > 10 * count);
    assert_int_equal(wrong, 0);
    pair_list_free(&list);
    grid_destroy(g);
    free(c);
}

/// A reach so large that its ratio to the smallest overflows touches everything, and the search
/// does not walk through the cells of the small balls to find it.
static void test_boundless_reach(void** state)
{
    (void)state;
    const double position[8] = {0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0};
    const double reach[4] = {1e-170, 1e149, 0.1, 0.2}, inv_mass[4] = {1.0, 1.0, 1.0, 1.0};
    const ball_set balls = {2, 4, position, reach, inv_mass};
    const cell open = {0};
    grid* g = grid_create();
    pair_list list = {0};
    assert_int_equal(grid_pairs(g, &balls, &open, 1, &list), TALUS_OK);
    assert_int_equal(list.count, 3);
    for (int p = 0; p < 3; p++) assert_true(list.a[p] == 1 || list.b[p] == 1);
    pair_list_free(&list);
    grid_destroy(g);
}

static void test_pairs_do_not_depend_on_threads(void** state)
{
    (void)state;
    rng r = rng_make(3, 2, 0);
    cloud* c = malloc(sizeof *c);
    const int threads[4] = {1, 2, 3, 8};
    for (int i = 0; i < test_count(24, 6); i++) {
        random_cloud(&r, 2 + i % 2, 2000 + (int64_t)rng_below(&r, 500), i % 3 == 0 ? 1000.0 : 20.0,
                     (spread)(i % SPREADS), c);
        if (i % SPREADS != CLUSTERED) { // thin it out: brute force lists would fill the memory
            for (int64_t b = 0; b < c->count; b++) c->reach[b] *= 0.3;
        }
        ball_set balls = balls_of(c);
        pair_list first = {0};
        for (int t = 0; t < 4; t++) {
            grid* g = grid_create();
            pair_list list = {0};
            assert_int_equal(grid_pairs(g, &balls, &c->cell, threads[t], &list), TALUS_OK);
            if (t == 0) {
                int64_t pairs = 0;
                assert_int_equal(wrong_pairs(c, &list, &pairs), 0);
                first = list;
                list = (pair_list){0};
            } else {
                assert_int_equal(list.count, first.count);
                assert_memory_equal(list.a, first.a, sizeof *list.a * (size_t)list.count);
                assert_memory_equal(list.b, first.b, sizeof *list.b * (size_t)list.count);
            }
            pair_list_free(&list);
            grid_destroy(g);
        }
        pair_list_free(&first);
    }
    free(c);
}

/// A grid is used again and again for sets of any size; nothing of the last one may show.
static void test_grid_is_reusable(void** state)
{
    (void)state;
    rng r = rng_make(3, 3, 0);
    cloud* c = malloc(sizeof *c);
    grid* used = grid_create();
    pair_list list = {0}, fresh = {0};
    const int64_t counts[6] = {0, 1, 3000, 2, 700, 0};
    for (int i = 0; i < 6; i++) {
        random_cloud(&r, 2 + i % 2, counts[i], 5.0, EVEN, c);
        for (int64_t b = 0; b < c->count; b++) c->reach[b] *= 0.3;
        ball_set balls = balls_of(c);
        grid* g = grid_create();
        assert_int_equal(grid_pairs(used, &balls, &c->cell, 2, &list), TALUS_OK);
        assert_int_equal(grid_pairs(g, &balls, &c->cell, 1, &fresh), TALUS_OK);
        assert_int_equal(list.count, fresh.count);
        for (int64_t p = 0; p < list.count; p++) {
            assert_true(list.a[p] == fresh.a[p] && list.b[p] == fresh.b[p]);
        }
        grid_destroy(g);
    }
    pair_list_free(&list);
    pair_list_free(&fresh);
    grid_destroy(used);
    free(c);
}

// ---- contact lists -----------------------------------------------------------------------------

static void append(contacts* c, int64_t a, int64_t b, int64_t feature, double force)
{
    assert_int_equal(contacts_reserve(c, c->count + 1), TALUS_OK);
    assert_int_equal(contacts_need_arms(c), TALUS_OK);
    int64_t i = c->count++;
    c->a[i] = a;
    c->b[i] = b;
    c->feature[i] = feature;
    c->normal[i * c->dim] = 1.0;
    c->force[i * c->dim] = force;
    c->state[i] = TALUS_CONTACT_STICK;
}

/// Random sorted lists over the same keys; what both have keeps its force, the rest is zero.
static void test_match_carries_forces(void** state)
{
    (void)state;
    rng r = rng_make(3, 4, 0);
    int32_t shape[1] = {-1};
    double radius[1] = {1.0};
    const grains balls = {.dim = 3, .count = 1, .solid = shape, .radius = radius};
    for (int trial = 0; trial < 200; trial++) {
        contacts last, now;
        contacts_init(&last, 3);
        contacts_init(&now, 3);
        bool in_last[6][5][3] = {{{false}}};
        for (int a = 0; a < 6; a++) { // keys in order: walls -3..-1, then grains
            for (int b = 0; b < 5; b++) {
                for (int f = 0; f < (a < 3 ? 3 : 1); f++) {
                    double force = 100.0 * a + 10.0 * b + f + 1.0;
                    in_last[a][b][f] = rng_uniform(&r) < 0.5;
                    if (in_last[a][b][f]) append(&last, a - 3, b, f, force);
                    if (rng_uniform(&r) < 0.5) append(&now, a - 3, b, f, -1.0);
                }
            }
        }
        assert_int_equal(contacts_match(&now, &last, &balls, 1), TALUS_OK);
        for (int64_t i = 0; i < now.count; i++) {
            int64_t a = now.a[i] + 3, b = now.b[i];
            bool persists = in_last[a][b][now.feature[i]];
            double force = 100.0 * (double)a + 10.0 * (double)b + (double)now.feature[i] + 1.0;
            assert_true(now.force[3 * i] == (persists ? force : 0.0));
            assert_int_equal(now.state[i], persists ? TALUS_CONTACT_STICK : TALUS_CONTACT_OPEN);
        }
        contacts_free(&last);
        contacts_free(&now);
    }
}

/// Points of a solid (radius 1) that only changed their names keep force and bond; others do not:
/// those that are far away, look another way, belong to another part, or whose old name is there
/// still. Every old point is taken over once.
static void test_match_knows_renamed_points(void** state)
{
    (void)state;
    int32_t shape[1] = {0};
    double radius[1] = {1.0};
    const grains g = {.dim = 2, .count = 1, .solid = shape, .radius = radius};
    contacts last, now;
    contacts_init(&last, 2);
    contacts_init(&now, 2);
    const struct {
        int64_t old_name, new_name; ///< -1: not there
        double x;                   ///< of the new point; the old one is at 0.3 times its row
        double normal[2], force;    ///< of the new point; force expected
    } rows[] = {
        {10, 11, 0.01, {1.0, 0.0}, 1.0},                        // a new name at the same place
        {20, 20, 5.0, {0.0, 1.0}, 2.0},                         // the same name, wherever it is
        {30, 31, 0.75, {1.0, 0.0}, 0.0},                        // 0.15 radii from the old one
        {40, 41, 0.91, {0.0, 1.0}, 0.0},                        // a corner turned
        {50, feature_of_parts(51, 0, 1), 1.2, {1.0, 0.0}, 0.0}, // another part
        {60, 61, 1.52, {1.0, 0.0}, 0.0},                        // the second best for 60
        {-1, 62, 1.51, {1.0, 0.0}, 6.0},                        // the best, though it comes later
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].old_name < 0) continue;
        append(&last, -1, 0, rows[i].old_name, i + 1.0);
        last.arm[2 * (last.count - 1)] = 0.3 * i;
        last.bonded[last.count - 1] = 1;
    }
    for (int pass = 0; pass < 2; pass++) { // those with a part come last: names ascend
        for (int i = 0; i < ROWS; i++) {
            if ((feature_part_b(rows[i].new_name) > 0) != (pass == 1)) continue;
            append(&now, -1, 0, rows[i].new_name, -1.0);
            now.arm[2 * (now.count - 1)] = rows[i].x;
            vec_copy(2, now.normal + 2 * (now.count - 1), rows[i].normal);
        }
    }
    assert_int_equal(contacts_match(&now, &last, &g, 1), TALUS_OK);
    for (int64_t c = 0; c < now.count; c++) {
        int i = 0;
        while (rows[i].new_name != now.feature[c]) i++;
        assert_true(now.force[2 * c] == rows[i].force);
        assert_int_equal(now.bonded[c], rows[i].force > 0.0);
    }
    contacts_free(&last);
    contacts_free(&now);
}

static void test_relink_after_removal(void** state)
{
    (void)state;
    talus_error error = {0};
    grains g;
    walls w;
    contacts c;
    const solids none = {0};
    grains_init(&g, 2, &none);
    walls_init(&w, &none);
    contacts_init(&c, 2);
    for (int i = 0; i < 6; i++) {
        talus_grain_def grain = talus_grain_default();
        grain.radius = 1.0;
        check_ok(grains_add(&g, &grain, NULL, &error), error);
    }
    for (int i = 0; i < 2; i++) {
        talus_wall_def wall = talus_wall_default();
        wall.name = i == 0 ? "floor" : "lid";
        wall.shape.normal[1] = 1.0;
        check_ok(walls_add(&w, &wall, 2, 0.0, NULL, &error), error);
    }
    append(&c, -2, 3, 0, 1.0); // lid, which goes
    append(&c, -1, 2, 0, 2.0); // floor with a grain that goes
    append(&c, -1, 5, 0, 3.0);
    append(&c, 0, 1, 0, 4.0);
    append(&c, 2, 4, 0, 5.0);
    append(&c, 3, 4, 0, 6.0);
    const uint8_t keep[6] = {1, 1, 0, 1, 1, 1};
    grains_compact(&g, keep);
    w.present[1] = 0;
    contacts_relink(&c, &g, &w);
    const double forces[3] = {3.0, 4.0, 6.0};
    const int32_t rows[3][2] = {{-1, 4}, {0, 1}, {2, 3}};
    assert_int_equal(c.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(c.force[2 * i] == forces[i]);
        assert_int_equal(c.a_row[i], rows[i][0]);
        assert_int_equal(c.b_row[i], rows[i][1]);
    }
    grains_free(&g);
    walls_free(&w);
    contacts_free(&c);
}

// ---- no contact is ever missed -----------------------------------------------------------------

static talus_world* make_world(int dim, double friction, double tolerance, const bool periodic[3],
                               double length)
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    talus_world* world = NULL;
    def.dim = dim;
    def.solver.tolerance = tolerance;
    def.solver.max_sweeps = 100000;
    for (int k = 0; k < dim; k++) {
        def.periodic[k] = periodic[k];
        def.cell_high[k] = length;
    }
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def law = talus_pair_default();
    law.friction = friction;
    check_ok(talus_world_add_material(world, "stone", &law, NULL, &error), error);
    return world;
}

static void add_ball(talus_world* world, double radius, const double x[3], const double v[3])
{
    talus_grain_def def = talus_grain_default();
    talus_error error = {0};
    def.radius = radius;
    memcpy(def.position, x, sizeof def.position);
    memcpy(def.velocity, v, sizeof def.velocity);
    check_ok(talus_world_add_grain(world, &def, NULL, &error), error);
}

/// Gap of two grains now, nearest image by trying.
static double grain_gap(const talus_grains* g, const talus_world_def* def, const double* position,
                        int64_t i, int64_t j)
{
    double sum = 0.0;
    for (int k = 0; k < g->dim; k++) {
        double delta = position[j * g->dim + k] - position[i * g->dim + k], best = fabs(delta);
        double length = def->cell_high[k] - def->cell_low[k];
        for (int m = -1; m <= 1 && def->periodic[k]; m++)
            best = fmin(best, fabs(delta + m * length));
        sum += best * best;
    }
    return sqrt(sum) - g->radius[i] - g->radius[j];
}

/// Worst overlap made by a step beyond what its own accuracy allows.
///
/// In the step the distance vector goes from D n to D n + h u, so the new gap is at least
/// g + h u_n: a ball curves away from its tangent plane, linearisation never makes overlap. The law
/// asks g+ + h u_n >= 0; the solver leaves -h u_n - g+ <= h |e| / m_n with |e| at most residual
/// times sqrt(sum |p|^2). So new overlap - old overlap <= h residual P / m_n, whatever the speeds.
static double excess_overlap(const talus_world* world, const double* before, double allowed)
{
    const talus_grains g = talus_world_grains(world);
    const talus_world_def* def = talus_world_options(world);
    double worst = -INFINITY;
    for (int64_t i = 0; i < g.count; i++) {
        for (int64_t j = i + 1; j < g.count; j++) {
            double was = fmin(grain_gap(&g, def, before, i, j), 0.0);
            double now = fmin(grain_gap(&g, def, g.position, i, j), 0.0);
            worst = fmax(worst, was - now - allowed);
        }
    }
    return worst;
}

/// h residual sqrt(sum |p|^2) / (least m_n), the bound above.
static double allowed_overlap(const talus_world* world, double h, double residual)
{
    const talus_contacts c = talus_world_contacts(world);
    const talus_grains g = talus_world_grains(world);
    double impulse = 0.0, lightest = INFINITY;
    for (int64_t i = 0; i < c.count * c.dim; i++) impulse += h * h * c.force[i] * c.force[i];
    for (int64_t i = 0; i < g.count; i++) lightest = fmin(lightest, g.mass[i]);
    // The residual's scale may be the stopping impulse instead; it is of the same size, so twice.
    return h * residual * 2.0 * sqrt(impulse) / (0.5 * lightest);
}

/// A gas in a periodic cell: unequal grains, speeds from rest to several diameters a step.
static void run_gas(rng* r, int dim, int count, int steps, const bool periodic[3])
{
    const double length = dim == 2 ? 40.0 : 30.0, h = dim == 2 ? 1.0 : 0.7;
    talus_world* world = make_world(dim, 0.3, 1e-9, periodic, length);
    talus_error error = {0};
    double* before = malloc(sizeof *before * (size_t)(count * dim));
    for (int placed = 0, tries = 0; placed < count && tries < 100000; tries++) {
        double x[3] = {0}, v[3] = {0}, radius = uniform(r, 0.2, 0.8);
        double speed = pow(10.0, uniform(r, -4.0, 0.2));
        for (int k = 0; k < dim; k++) {
            x[k] = length * rng_uniform(r);
            v[k] = speed * rng_normal(r);
        }
        const talus_grains g = talus_world_grains(world);
        const talus_world_def* def = talus_world_options(world);
        bool clear = true;
        for (int64_t i = 0; i < g.count && clear; i++) {
            double sum = 0.0;
            for (int k = 0; k < dim; k++) {
                double delta = fabs(x[k] - g.position[i * dim + k]);
                if (def->periodic[k]) delta = fmin(delta, length - delta);
                sum += delta * delta;
            }
            clear = sqrt(sum) > radius + g.radius[i];
        }
        if (!clear) continue;
        add_ball(world, radius, x, v);
        placed++;
    }
    double worst = -INFINITY, largest_jump = 0.0;
    int64_t collisions = 0;
    for (int s = 0; s < steps; s++) {
        const talus_grains g = talus_world_grains(world);
        memcpy(before, g.position, sizeof *before * (size_t)(g.count * dim));
        talus_step_result result;
        check_ok(talus_world_step(world, h, &result, &error), error);
        collisions += result.active;
        double allowed = allowed_overlap(world, h, result.residual) + 64 * DBL_EPSILON * length;
        worst = fmax(worst, excess_overlap(world, before, allowed));
        for (int64_t i = 0; i < g.count; i++) {
            largest_jump =
                fmax(largest_jump, h * vec_norm(dim, g.velocity + i * dim) / g.radius[i]);
        }
        // Collisions are inelastic: keep it hot by kicking a few grains.
        talus_editable_grains live;
        check_ok(talus_world_edit_grains(world, &live, &error), error);
        for (int n = 0; n < 3; n++) {
            int64_t i = (int64_t)rng_below(r, (uint64_t)live.count);
            for (int k = 0; k < dim; k++) live.velocity[i * dim + k] = 1.2 * rng_normal(r);
        }
    }
    printf("%dD gas of %lld: %d steps, %lld collisions, up to %.1f radii a step\n", dim,
           (long long)talus_world_grains(world).count, steps, (long long)collisions, largest_jump);
    assert_true(collisions > steps && largest_jump > 3.0);
    check_below("overlap made beyond h residual P/m_n", worst, 0.0,
                "bound worked out at excess_overlap(), with 64 roundings of the cell");
    free(before);
    talus_world_destroy(world);
}

static void test_gas_never_overlaps(void** state)
{
    (void)state;
    rng r = rng_make(3, 5, 0);
    const bool all[3] = {true, true, true}, one[3] = {true, false, false};
    run_gas(&r, 2, 150, test_count(300, 60), all);
    run_gas(&r, 2, 60, test_count(300, 60), one);
    run_gas(&r, 3, 400, test_count(300, 60), all);
}

/// A fast grain hits a resting one, which within the same step would run into a third far outside
/// every first margin, and so on down the row; then a row along a diagonal of unequal grains.
static void test_chain_collisions(void** state)
{
    (void)state;
    const bool open[3] = {false, false, false};
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = make_world(dim, 0.3, 1e-12, open, 1.0);
        talus_error error = {0};
        const double speed = 60.0, h = 1.0;
        const int count = 6;
        double momentum = 0.0, momentum_after = 0.0, x = 0.0;
        for (int i = 0; i < count; i++) {
            double radius = 0.3 + 0.1 * (i % 3), place[3] = {0}, v[3] = {0};
            x += i == 0 ? 0.0 : 1.0 + radius; // gaps from 0.3 to 0.9 with the grain before
            for (int k = 0; k < dim; k++) {
                place[k] = x * (k == 0 ? 0.8 : k == 1 ? 0.6 : 0.0);
                v[k] = i == 0 ? speed * (k == 0 ? 0.8 : k == 1 ? 0.6 : 0.0) : 0.0;
            }
            add_ball(world, radius, place, v);
        }
        // Margins are counted from the mean velocity; this one, far off, makes it zero.
        add_ball(world, 0.3, (double[3]){-1e4, 0.0, 0.0},
                 (double[3]){-0.8 * speed, -0.6 * speed, 0.0});
        const talus_grains g = talus_world_grains(world);
        for (int64_t i = 0; i < count; i++) momentum += g.mass[i] * g.velocity[i * dim];
        talus_step_result result;
        check_ok(talus_world_step(world, h, &result, &error), error);
        assert_true(result.contacts >= count - 1);
        double worst = 0.0;
        for (int64_t i = 0; i + 1 < count; i++) {
            worst = fmin(worst, grain_gap(&g, talus_world_options(world), g.position, i, i + 1));
        }
        for (int64_t i = 0; i < count; i++) momentum_after += g.mass[i] * g.velocity[i * dim];
        check_below("overlap after a chain of collisions in one step", -worst, 1.2e-8,
                    "residual 1e-12 times (L/d)^2 = 100 times a path of 60, twice");
        check_close("momentum", momentum_after / momentum, 1.0, 1e-14, "roundings");
        assert_true(g.velocity[(count - 1) * dim] > 0.0);
        talus_world_destroy(world);
    }
}

/// A light plate with a glued bump, at rest, is thrown by a fast grain against a resting one that
/// is in reach only of the bump, and only because of the throw.
static void test_glued_grain_on_a_thrown_wall(void** state)
{
    (void)state;
    const bool open[3] = {false, false, false};
    talus_world* world = make_world(2, 0.3, 1e-12, open, 1.0);
    talus_error error = {0};
    talus_wall_def wall = talus_wall_default();
    talus_wall_id index = TALUS_NO_WALL;
    wall.name = "plate";
    wall.shape.kind = TALUS_SHAPE_SEGMENT;
    wall.shape.edge_u[1] = 1.0;
    wall.drive.kind = TALUS_DRIVE_FORCE;
    wall.drive.mass = 1.0;
    wall.drive.free_axes[0] = true;
    check_ok(talus_world_add_wall(world, &wall, &index, &error), error);
    talus_grain_def bump = talus_grain_default();
    bump.radius = 0.2;
    bump.glued_to = index;
    bump.position[0] = 0.5;
    bump.position[1] = 5.0; // beyond the end of the plate
    check_ok(talus_world_add_grain(world, &bump, NULL, &error), error);
    add_ball(world, 0.2, (double[3]){2.0, 5.0, 0.0}, (double[3]){0.0, 0.0, 0.0});
    add_ball(world, 0.2, (double[3]){-1.0, 0.0, 0.0}, (double[3]){10.0, 0.0, 0.0});
    // Margins are counted from the mean velocity; this one, far off, makes it zero.
    add_ball(world, 0.2, (double[3]){-100.0, 50.0, 0.0}, (double[3]){-10.0, 0.0, 0.0});
    check_ok(talus_world_step(world, 1.0, NULL, &error), error);
    const talus_grains g = talus_world_grains(world);
    double gap = g.position[2] - g.position[0] - 0.4;
    check_close("bump and grain touch", gap, 0.0, 2e-8,
                "h residual P/m_n = 1e-12 x 2 x 3100 kg m/s / 0.5 kg, twice");
    talus_world_destroy(world);
}

/// A world with nothing in it, with a wall only and with a grain only steps on.
static void test_nearly_empty_worlds(void** state)
{
    (void)state;
    const bool open[3] = {false, false, false};
    for (int what = 0; what < 3; what++) {
        talus_world* world = make_world(3, 0.3, 1e-6, open, 1.0);
        talus_error error = {0};
        talus_step_result result;
        talus_wall_def wall = talus_wall_default();
        wall.name = "floor";
        wall.shape.normal[2] = 1.0;
        if (what == 1) check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
        if (what == 2) add_ball(world, 0.5, (double[3]){0, 0, 0}, (double[3]){1, 0, 0});
        for (int s = 0; s < 2; s++) check_ok(talus_world_step(world, 0.5, &result, &error), error);
        check_ok(talus_world_validate(world, &error), error);
        assert_true(result.converged && result.contacts == 0 && result.residual == 0.0);
        talus_world_destroy(world);
    }
}

/// One step of a frictionless gas (its velocities are unique), with margins as they come or with
/// everything in reach: a bystander far away moves so fast that the mean velocity, from which the
/// margins are counted, is off by `drift`. Leaves velocities and the number of contacts.
static int64_t one_step(uint64_t trial, int dim, int count, double drift, double* velocity)
{
    rng r = rng_make(3, 6, trial);
    const bool open[3] = {false, false, false};
    talus_world* world = make_world(dim, 0.0, 1e-13, open, 1.0);
    talus_error error = {0};
    const int side = dim == 2 ? 8 : 4;
    for (int i = 0; i < count; i++) {
        double x[3] = {1.2 * (i % side), 1.2 * (i / side % side), 1.2 * (i / side / side)};
        double v[3] = {0}, speed = pow(10.0, uniform(&r, -3.0, 0.0));
        if (dim == 2) x[1] = 1.2 * (i / side), x[2] = 0.0;
        for (int k = 0; k < dim; k++) v[k] = speed * rng_normal(&r);
        add_ball(world, uniform(&r, 0.3, 0.59), x, v);
    }
    double far[3] = {1e6, 0.0, 0.0}, away[3] = {drift * (count + 1), 0.0, 0.0};
    add_ball(world, 0.5, far, away);
    check_ok(talus_world_step(world, 1.0, NULL, &error), error);
    const talus_grains g = talus_world_grains(world);
    memcpy(velocity, g.velocity, sizeof *velocity * (size_t)(count * dim));
    int64_t contacts_found = talus_world_contacts(world).count;
    talus_world_destroy(world);
    return contacts_found;
}

static void test_margins_do_not_matter(void** state)
{
    (void)state;
    enum { COUNT = 64 };
    double worst = 0.0, narrow[3 * COUNT], wide[3 * COUNT];
    int64_t few = 0, many = 0;
    for (uint64_t trial = 0; trial < (uint64_t)test_count(60, 10); trial++) {
        const int dim = 2 + (int)(trial % 2);
        few += one_step(trial, dim, COUNT, 0.0, narrow);
        many += one_step(trial, dim, COUNT, 20.0, wide);
        for (int k = 0; k < COUNT * dim; k++) worst = fmax(worst, fabs(narrow[k] - wide[k]));
    }
    printf("contacts: %lld by margins, %lld with all in reach\n", (long long)few, (long long)many);
    assert_true(many > 3 * few);
    check_below("velocities differ from those with everything in reach by", worst, 1e-9,
                "residual 1e-13 times (L/d)^2 = 64, mass ratios of 8, speeds of 4, with room");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_equal_brute_force),
        cmocka_unit_test(test_boundless_reach),
        cmocka_unit_test(test_pairs_do_not_depend_on_threads),
        cmocka_unit_test(test_grid_is_reusable),
        cmocka_unit_test(test_match_carries_forces),
        cmocka_unit_test(test_match_knows_renamed_points),
        cmocka_unit_test(test_relink_after_removal),
        cmocka_unit_test(test_nearly_empty_worlds),
        cmocka_unit_test(test_gas_never_overlaps),
        cmocka_unit_test(test_margins_do_not_matter),
        cmocka_unit_test(test_chain_collisions),
        cmocka_unit_test(test_glued_grain_on_a_thrown_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
