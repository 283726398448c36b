/// Worlds filled with random numbers, a pure function of a key: what the record tests write.
///
/// Every column gets values, not only those a step would set, so that a field that is lost or
/// mixed up on its way through a file is seen.
#ifndef TALUS_TESTS_RECORD_WORLD_H
#define TALUS_TESTS_RECORD_WORLD_H

#include "base/rng.h"
#include "support.h"
#include "world/world.h"

#include <string.h>
#include <talus/talus.h>
#include <unistd.h>

/// A world with two materials, three walls, periodic in x; the caller destroys it.
static inline talus_world* sample_world(int dim, uint64_t seed)
{
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.seed = seed;
    def.periodic[0] = true;
    def.cell_low[0] = -1.0;
    def.cell_high[0] = 1.5;
    talus_world* world = NULL;
    talus_error error = {0};
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def pair = talus_pair_default();
    check_ok(talus_world_add_material(world, "glass", &pair, NULL, &error), error);
    check_ok(talus_world_add_material(world, "steel", &pair, NULL, &error), error);
    static const char* const names[3] = {"floor", "left wall", "lid"};
    for (int i = 0; i < 3; i++) {
        talus_wall_def wall = talus_wall_default();
        wall.name = names[i];
        wall.shape.kind = TALUS_SHAPE_PLANE;
        wall.shape.normal[1] = 1.0;
        wall.position[1] = -(double)i;
        check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    }
    return world;
}

static inline void sample_column(const column* col, const void* table, int dim, int64_t rows,
                                 rng* random)
{
    void* data = column_data(col, table);
    int64_t count = rows * column_row_width(col, dim);
    for (int64_t i = 0; i < count; i++) {
        switch (col->type) {
        case COLUMN_F64: ((double*)data)[i] = rng_uniform(random) - 0.5; break;
        case COLUMN_I64: ((int64_t*)data)[i] = (int64_t)rng_below(random, 1000); break;
        case COLUMN_I32: ((int32_t*)data)[i] = (int32_t)rng_below(random, 3) - 1; break;
        case COLUMN_U8: ((uint8_t*)data)[i] = (uint8_t)rng_below(random, 3); break;
        }
    }
}

/// Give the world the state number `key`, with this many grains and contacts.
static inline void sample_fill(talus_world* w, uint64_t key, int64_t grain_count,
                               int64_t contact_count)
{
    rng random = rng_make(77, key, (uint64_t)w->def.dim);
    int dim = w->def.dim, n;
    const column* cols = grains_columns(&n);
    assert_int_equal(columns_reserve(&w->grains, cols, n, dim, grain_count, &w->grains.capacity),
                     TALUS_OK);
    w->grains.count = grain_count;
    for (int c = 0; c < n; c++) sample_column(&cols[c], &w->grains, dim, grain_count, &random);
    for (int64_t i = 0; i < grain_count; i++) {
        w->grains.id[i] = 3 * i + 1;
        w->grains.radius[i] = 0.01 + 0.1 * fabs(w->grains.radius[i]);
        w->grains.material[i] = (int32_t)(i % 2);
    }
    w->grains.next_id = 3 * grain_count + 1;

    cols = contacts_columns(&n);
    assert_int_equal(contacts_reserve(&w->contacts, contact_count), TALUS_OK);
    w->contacts.count = contact_count;
    for (int c = 0; c < n; c++) sample_column(&cols[c], &w->contacts, dim, contact_count, &random);
    for (int64_t i = 0; i < contact_count; i++) {
        int64_t a = (int64_t)rng_below(&random, (uint64_t)grain_count + 3) - 3;
        w->contacts.a[i] = a < 0 ? a : 3 * a + 1;
        int64_t b = (int64_t)rng_below(&random, (uint64_t)grain_count);
        w->contacts.b[i] = 3 * b + 1;
        w->contacts.a_row[i] = (int32_t)a;
        w->contacts.b_row[i] = (int32_t)b;
    }

    cols = walls_columns(&n);
    for (int c = 0; c < n; c++) sample_column(&cols[c], &w->walls, dim, w->walls.count, &random);

    w->step = (int64_t)key;
    w->time = 0.1 * (double)key;
    w->totals = (talus_totals){.steps = (int64_t)key, .sweeps = (int64_t)rng_below(&random, 999)};
    memset(&w->last, 0, sizeof w->last);
    w->last.step = w->step;
    w->last.time = w->time;
    w->last.grains = grain_count;
    w->last.contacts = contact_count;
    w->last.residual = rng_uniform(&random);
    w->last.kinetic_energy = rng_uniform(&random);
    snprintf(w->last.remark, sizeof w->last.remark, "state %d", (int)key);
}

/// Sizes of state `key`: they change from state to state and pass through zero.
static inline void sample_state(talus_world* w, uint64_t key)
{
    int64_t grain_count = key % 5 == 3 ? 0 : 20 + (int64_t)(key % 7);
    int64_t contact_count = key % 5 == 3 || key % 5 == 1 ? 0 : 30 + (int64_t)(key % 4);
    sample_fill(w, key, grain_count, contact_count);
}

/// Whether two tables hold the same bits in all columns with one of `flags`.
static inline bool sample_equal_table(const column* cols, int n, int dim, const void* a,
                                      const void* b, int64_t rows, unsigned flags)
{
    for (int c = 0; c < n; c++) {
        if (!(cols[c].flags & flags)) continue;
        size_t bytes =
            column_element_size(&cols[c]) * (size_t)column_row_width(&cols[c], dim) * (size_t)rows;
        if (bytes && memcmp(column_data(&cols[c], a), column_data(&cols[c], b), bytes) != 0) {
            printf("column %s differs\n", cols[c].name);
            return false;
        }
    }
    return true;
}

static inline bool sample_equal(const talus_world* a, const talus_world* b)
{
    int n, dim = a->def.dim;
    if (a->grains.count != b->grains.count || a->contacts.count != b->contacts.count) return false;
    if (a->walls.count != b->walls.count || a->grains.next_id != b->grains.next_id) return false;
    const column* cols = grains_columns(&n);
    bool same =
        sample_equal_table(cols, n, dim, &a->grains, &b->grains, a->grains.count, COLUMN_STATE);
    cols = walls_columns(&n);
    same = same &&
           sample_equal_table(cols, n, dim, &a->walls, &b->walls, a->walls.count, COLUMN_STATE);
    cols = contacts_columns(&n);
    same = same && sample_equal_table(cols, n, dim, &a->contacts, &b->contacts, a->contacts.count,
                                      COLUMN_STATE);
    return same && a->step == b->step && a->time == b->time &&
           a->totals.sweeps == b->totals.sweeps && a->totals.steps == b->totals.steps &&
           memcmp(&a->last, &b->last, sizeof a->last) == 0;
}

/// A new folder under $TMPDIR or /tmp; the caller frees the name.
static inline char* sample_folder(void)
{
    const char* base = getenv("TMPDIR");
    char* path = NULL;
    assert_true(asprintf(&path, "%s/talus-record-XXXXXX", base ? base : "/tmp") > 0);
    assert_non_null(mkdtemp(path));
    return path;
}

static inline char* sample_path(const char* folder, const char* name)
{
    char* path = NULL;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

/// Remove a folder made by sample_folder() and free its name.
static inline void sample_remove(char* folder)
{
    char* command = NULL;
    assert_true(asprintf(&command, "rm -rf '%s'", folder) > 0);
    assert_int_equal(system(command), 0);
    free(command);
    free(folder);
}

#endif
