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
#include <talus/workshop.h>
#include <unistd.h>

/// Add a shape of convex parts, `sizes` points each.
static inline void sample_solid(talus_world* world, const char* name, const double* points,
                                const int* sizes, int parts)
{
    talus_error error = {0};
    talus_solid_def def = talus_solid_default();
    def.name = name;
    def.points = points;
    def.part_sizes = sizes;
    def.part_count = parts;
    def.point_count = 0;
    for (int i = 0; i < parts; i++) def.point_count += sizes[i];
    def.skin = 0.01;
    check_ok(talus_world_add_solid(world, &def, NULL, &error), error);
}

/// "kite", convex, and "hook" of two parts.
static inline void sample_solids(talus_world* world)
{
    static const double kite2[] = {0, 0, 0.3, 0.1, 0.2, 0.3, -0.1, 0.2};
    static const double hook2[] = {0, 0, 0.3, 0, 0.3, 0.1, 0, 0.1, 0, 0.1, 0.1, 0.1, 0, 0.4};
    static const double kite3[] = {0, 0, 0,   0.3, 0,   0,    0,     0.3, 0,
                                   0, 0, 0.2, 0.2, 0.2, -0.1, -0.05, 0.1, 0.25};
    static const double hook3[] = {0,   0, 0,   0.3, 0,   0,   0,   0.1, 0,   0.3, 0.1,  0,
                                   0,   0, 0.1, 0.3, 0,   0.1, 0,   0.1, 0.1, 0.3, 0.1,  0.1,
                                   0.3, 0, 0,   0.3, 0.1, 0,   0.3, 0,   0.1, 0.5, 0.05, 0.05};
    static const int kite2_sizes[] = {4}, hook2_sizes[] = {4, 3};
    static const int kite3_sizes[] = {6}, hook3_sizes[] = {8, 4};
    bool plane = world->def.dim == 2;
    sample_solid(world, "kite", plane ? kite2 : kite3, plane ? kite2_sizes : kite3_sizes, 1);
    sample_solid(world, "the hook", plane ? hook2 : hook3, plane ? hook2_sizes : hook3_sizes, 2);
}

/// One wall of each kind that the dimension has, beside planes.
static inline void sample_obstacles(talus_world* world)
{
    static const double sheet[2][9] = {{0, 0, 0, 1, 0, 0, 0, 1, 0.2},
                                       {1, 0, 0, 1, 1, 0, 0, 1, 0.2}};
    talus_error error = {0};
    bool plane = world->def.dim == 2;
    talus_shape_def kinds[] = {
        {.kind = TALUS_SHAPE_SOLID, .solid = {1}},
        {.kind = TALUS_SHAPE_BOX, .half_size = {0.5, 0.3, 0.4}},
        {.kind = TALUS_SHAPE_BOX, .half_size = {0.6, 0.4, 0.2}, .inside = true, .open_faces = 8},
        {.kind = TALUS_SHAPE_CYLINDER, .axis = {0, 0, 1}, .radius = 0.3, .half_length = 0.5},
        {.kind = TALUS_SHAPE_CYLINDER, .axis = {0, 0, 1}, .radius = 0.7, .inside = true},
        {.kind = TALUS_SHAPE_SEGMENT, .edge_u = {0.3, 0.4}, .skin = 0.01},
        {.kind = TALUS_SHAPE_PLATE, .edge_u = {0.3, 0.4, 0}, .edge_v = {0, 0, 0.2}},
        {.kind = TALUS_SHAPE_CONE,
         .axis = {1, 0, 0},
         .radius = 0.3,
         .radius_high = 0.1,
         .half_length = 0.4,
         .skin = 0.01},
        {.kind = TALUS_SHAPE_MESH, .triangles = sheet[0], .triangle_count = 2},
    };
    static const char* const names[] = {"hook", "box",   "bin",  "post", "pipe",
                                        "rod",  "plate", "cone", "sheet"};
    for (int i = 0; i < 9; i++) {
        talus_shape_kind kind = kinds[i].kind;
        bool only_plane = kind == TALUS_SHAPE_SEGMENT;
        bool only_space =
            kind == TALUS_SHAPE_PLATE || kind == TALUS_SHAPE_CONE || kind == TALUS_SHAPE_MESH;
        if (plane ? only_space : only_plane) continue;
        talus_wall_def wall = talus_wall_default();
        wall.name = names[i];
        wall.shape = kinds[i];
        check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    }
}

/// A world with two materials, two solids, walls of all kinds, periodic in x; the caller destroys
/// it.
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
    sample_solids(world);
    sample_obstacles(world);
    return world;
}

/// Turn random numbers into unit quaternions, in the plane about z.
static inline void sample_rotations(double* q, int64_t count, int dim)
{
    for (int64_t i = 0; i < count; i++, q += 4) {
        q[0] += 0.6; // away from zero
        if (dim == 2) q[1] = q[2] = 0.0;
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++) q[k] /= length;
    }
}

static inline void sample_column(const column* col, const void* table, int dim, int64_t rows,
                                 rng* random)
{
    void* data = column_data(col, table);
    int64_t count = rows * column_row_width(col, dim);
    for (int64_t i = 0; i < count; i++) {
        if (!data) { // a rare column: the others must not depend on whether it is there
            rng_uniform(random);
            continue;
        }
        switch (col->type) {
        case COLUMN_F64: ((double*)data)[i] = rng_uniform(random) - 0.5; break;
        case COLUMN_I64: ((int64_t*)data)[i] = (int64_t)rng_below(random, 1000); break;
        case COLUMN_I32: ((int32_t*)data)[i] = (int32_t)rng_below(random, 3) - 1; break;
        case COLUMN_U8: ((uint8_t*)data)[i] = (uint8_t)rng_below(random, 3); break;
        }
    }
}

/// Zeros for rare columns that a state before has made.
static inline void sample_clear_rare(const column* cols, int n, int dim, const void* table,
                                     int64_t rows)
{
    for (int c = 0; c < n; c++) {
        void* data = column_data(&cols[c], table);
        size_t row = column_element_size(&cols[c]) * (size_t)column_row_width(&cols[c], dim);
        if ((cols[c].flags & COLUMN_RARE) && data) memset(data, 0, row * (size_t)rows);
    }
}

/// Give the world the state number `key`, with this many grains and contacts. Rare columns are used
/// by odd keys.
static inline void sample_fill(talus_world* w, uint64_t key, int64_t grain_count,
                               int64_t contact_count)
{
    rng random = rng_make(77, key, (uint64_t)w->def.dim);
    int dim = w->def.dim, n;
    const column* cols = grains_columns(&n);
    assert_int_equal(
        columns_reserve(&w->state.grains, cols, n, dim, grain_count, &w->state.grains.capacity),
        TALUS_OK);
    w->state.grains.count = grain_count;
    for (int c = 0; c < n && key % 2 == 1; c++) {
        if (!(cols[c].flags & COLUMN_RARE)) continue;
        assert_int_equal(column_need(&cols[c], &w->state.grains, dim, w->state.grains.capacity),
                         TALUS_OK);
    }
    for (int c = 0; c < n; c++)
        sample_column(&cols[c], &w->state.grains, dim, grain_count, &random);
    if (key % 2 == 0) sample_clear_rare(cols, n, dim, &w->state.grains, grain_count);
    for (int64_t i = 0; i < grain_count; i++) {
        w->state.grains.id[i] = 3 * i + 1;
        w->state.grains.radius[i] = 0.01 + 0.1 * fabs(w->state.grains.radius[i]);
        w->state.grains.material[i] = (int32_t)(i % 2);
        w->state.grains.scale[i] = 1.0 + w->state.grains.scale[i];
    }
    if (dim == 3) sample_rotations(w->state.grains.rotation, grain_count, dim);
    w->state.grains.next_id = 3 * grain_count + 1;

    cols = contacts_columns(&n);
    assert_int_equal(contacts_reserve(&w->state.contacts, contact_count), TALUS_OK);
    w->state.contacts.count = contact_count;
    for (int c = 0; c < n && key % 2 == 1; c++) {
        if (!(cols[c].flags & COLUMN_RARE)) continue;
        assert_int_equal(column_need(&cols[c], &w->state.contacts, dim, w->state.contacts.capacity),
                         TALUS_OK);
    }
    for (int c = 0; c < n; c++)
        sample_column(&cols[c], &w->state.contacts, dim, contact_count, &random);
    if (key % 2 == 0) sample_clear_rare(cols, n, dim, &w->state.contacts, contact_count);
    for (int64_t i = 0; i < contact_count; i++) {
        int64_t a = (int64_t)rng_below(&random, (uint64_t)grain_count + 3) - 3;
        w->state.contacts.a[i] = a < 0 ? a : 3 * a + 1;
        int64_t b = (int64_t)rng_below(&random, (uint64_t)grain_count);
        w->state.contacts.b[i] = 3 * b + 1;
        w->state.contacts.a_row[i] = (int32_t)a;
        w->state.contacts.b_row[i] = (int32_t)b;
    }

    cols = walls_columns(&n);
    for (int c = 0; c < n; c++)
        sample_column(&cols[c], &w->state.walls, dim, w->state.walls.count, &random);
    sample_rotations(w->state.walls.rotation, w->state.walls.count, dim);
    for (int64_t i = 0; dim == 2 && i < w->state.walls.count; i++)
        w->state.walls.position[3 * i + 2] = 0.0;
    // In state 0 no wall has been removed yet.
    for (int64_t i = 0; key == 0 && i < w->state.walls.count; i++) w->state.walls.present[i] = 1;

    w->state.step = (int64_t)key;
    w->state.time = 0.1 * (double)key;
    w->totals.shown =
        (talus_totals){.steps = (int64_t)key, .sweeps = (int64_t)rng_below(&random, 999)};
    memset(&w->last, 0, sizeof w->last);
    w->last.step = w->state.step;
    w->last.time = w->state.time;
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

/// Whether two columns hold the same bytes; a rare one that is not there holds zeros.
static inline bool sample_equal_column(const unsigned char* a, const unsigned char* b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if ((a ? a[i] : 0) != (b ? b[i] : 0)) return false;
    }
    return true;
}

/// Whether two tables hold the same bits in all columns with one of `flags`.
static inline bool sample_equal_table(const column* cols, int n, int dim, const void* a,
                                      const void* b, int64_t rows, unsigned flags)
{
    for (int c = 0; c < n; c++) {
        if (!(cols[c].flags & flags)) continue;
        size_t bytes =
            column_element_size(&cols[c]) * (size_t)column_row_width(&cols[c], dim) * (size_t)rows;
        if (!sample_equal_column(column_data(&cols[c], a), column_data(&cols[c], b), bytes)) {
            printf("column %s differs\n", cols[c].name);
            return false;
        }
    }
    return true;
}

static inline bool sample_equal(const talus_world* a, const talus_world* b)
{
    int n, dim = a->def.dim;
    if (a->state.grains.count != b->state.grains.count ||
        a->state.contacts.count != b->state.contacts.count)
        return false;
    if (a->state.walls.count != b->state.walls.count ||
        a->state.grains.next_id != b->state.grains.next_id)
        return false;
    const column* cols = grains_columns(&n);
    bool same = sample_equal_table(cols, n, dim, &a->state.grains, &b->state.grains,
                                   a->state.grains.count, COLUMN_STATE);
    cols = walls_columns(&n);
    same = same && sample_equal_table(cols, n, dim, &a->state.walls, &b->state.walls,
                                      a->state.walls.count, COLUMN_STATE);
    cols = contacts_columns(&n);
    same = same && sample_equal_table(cols, n, dim, &a->state.contacts, &b->state.contacts,
                                      a->state.contacts.count, COLUMN_STATE);
    return same && a->state.step == b->state.step && a->state.time == b->state.time &&
           a->totals.shown.sweeps == b->totals.shown.sweeps &&
           a->totals.shown.steps == b->totals.shown.steps &&
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
