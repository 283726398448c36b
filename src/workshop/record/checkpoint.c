/// Checkpoints: the whole state of a world, bit for bit, in a file that is good or is not used.
/// Saved worlds are the same, with what the world is made of (definition.h).
///
/// 512 bytes of plain text (format, version, size, FNV-1a hash of what follows), then an HDF5 file;
/// HDF5 skips the text, so h5py opens it too. The hash is checked over the raw bytes before HDF5
/// sees them: a cut, mixed-up or foreign file is told from a good one without being parsed.
///
/// The new file is written beside the old, synced, and exchanged with it in one system call; then
/// the old becomes the previous. At every moment one whole checkpoint has a name we look for.
#include "record/behind.h"
#include "record/record.h"

#include "base/definition.h"
#include "base/error.h"
#include "base/hash.h"
#include "record/definition.h"
#include "record/fields_h5.h"
#include "record/files.h"
#include "record/h5_trial.h"
#include "record/tables.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/record.h>
#include <unistd.h>

#define CHECKPOINT_MAGIC "talus-checkpoint"
/// 4: named fields instead of the bytes of structs.
enum { CHECKPOINT_VERSION = 10, HEADER_BYTES = 512 };
#define PARTS_GROUP "state"
#define WORLD_PART "world"

/// What a world's state is beside its tables.
typedef struct world_state {
    int64_t step;
    double time;
    int64_t next_id; ///< of the next grain
    int64_t solves;
    double extent;
    int64_t shortening, shortened;
    talus_totals totals;
    double power_lost, power_input; ///< of running_totals
    talus_step_result last;
} world_state;

static const stored_field energy_fields[] = {
    FIELD(talus_soft_energy, elastic), FIELD(talus_soft_energy, dissipated),
    FIELD(talus_soft_energy, input),   FIELD(talus_soft_energy, start),
    FIELD(talus_soft_energy, error),
};
static const stored_fields energy_list = FIELD_LIST(talus_soft_energy, energy_fields);

static const stored_field rigidity_fields[] = {
    FIELD(talus_rigidity, system_size),       FIELD(talus_rigidity, diffusion_length),
    FIELD(talus_rigidity, stiffness),         FIELD(talus_rigidity, velocity_error),
    FIELD(talus_rigidity, sweeps_for_rigid),  FIELD(talus_rigidity, yielding),
    FIELD(talus_rigidity, certified),         FIELD(talus_rigidity, frozen_friction),
    FIELD(talus_rigidity, cluster_grains),    FIELD(talus_rigidity, cluster_grain),
    FIELD(talus_rigidity, cluster_place),     FIELD(talus_rigidity, worst_grain),
    FIELD(talus_rigidity, worst_grain_error),
};
static const stored_fields rigidity_list = FIELD_LIST(talus_rigidity, rigidity_fields);

static const stored_field result_fields[] = {
    FIELD(talus_step_result, step),
    FIELD(talus_step_result, time),
    FIELD(talus_step_result, grains),
    FIELD(talus_step_result, contacts),
    FIELD(talus_step_result, active),
    FIELD(talus_step_result, sweeps),
    FIELD(talus_step_result, updates),
    FIELD(talus_step_result, converged),
    FIELD(talus_step_result, substeps),
    FIELD(talus_step_result, coarseness),
    FIELD(talus_step_result, residual),
    FIELD(talus_step_result, second),
    FIELD(talus_step_result, overlap_mean),
    FIELD(talus_step_result, overlap_max),
    FIELD(talus_step_result, overlap_thickness_max),
    FIELD(talus_step_result, kinetic_energy),
    FIELD_OWN(talus_step_result, energy, &energy_list),
    FIELD_OWN(talus_step_result, rigidity, &rigidity_list),
    FIELD(talus_step_result, nan_grain),
    FIELD(talus_step_result, escaped_grain),
    FIELD(talus_step_result, removed),
    FIELD(talus_step_result, remark),
};
const stored_fields step_result_fields = FIELD_LIST(talus_step_result, result_fields);

/// Without the seconds, which are those of a process.
static const stored_field totals_fields[] = {
    FIELD(talus_totals, steps),
    FIELD(talus_totals, sweeps),
    FIELD(talus_totals, updates),
    FIELD(talus_totals, unconverged),
    FIELD(talus_totals, frozen_friction),
    FIELD(talus_totals, yielding),
    FIELD(talus_totals, certified),
    FIELD(talus_totals, unproved_sliding),
    FIELD(talus_totals, worst_estimate),
    FIELD(talus_totals, worst_certified),
    FIELD(talus_totals, worst_time),
    FIELD(talus_totals, worst_grains),
    FIELD(talus_totals, worst_grain),
    FIELD(talus_totals, worst_place),
    FIELD(talus_totals, audits),
    FIELD(talus_totals, audits_held),
    FIELD(talus_totals, audits_unanswered),
    FIELD(talus_totals, audit_least),
    FIELD(talus_totals, audit_most),
    FIELD(talus_totals, audit_grains),
    FIELD(talus_totals, audit_touching),
    FIELD(talus_totals, audit_largest),
    FIELD(talus_totals, audit_updates),
    FIELD(talus_totals, last_updates),
    FIELD(talus_totals, second),
    FIELD(talus_totals, removed),
    FIELD(talus_totals, halved),
    FIELD(talus_totals, substeps),
    FIELD(talus_totals, coarse),
    FIELD(talus_totals, worst_coarseness),
    FIELD(talus_totals, step_needed),
    FIELD(talus_totals, resolved_step),
    FIELD(talus_totals, cut),
    FIELD(talus_totals, sunk),
    FIELD(talus_totals, sunk_depth),
    FIELD(talus_totals, safe_step),
    FIELD(talus_totals, dissipated),
    FIELD(talus_totals, input),
    FIELD(talus_totals, start),
};
static const stored_fields totals_list = FIELD_LIST(talus_totals, totals_fields);

static const stored_field world_fields[] = {
    FIELD(world_state, step),
    FIELD(world_state, time),
    FIELD(world_state, next_id),
    FIELD(world_state, solves),
    FIELD(world_state, extent),
    FIELD(world_state, shortening),
    FIELD(world_state, shortened),
    FIELD_OWN(world_state, totals, &totals_list),
    FIELD(world_state, power_lost),
    FIELD(world_state, power_input),
    FIELD_OWN(world_state, last, &step_result_fields),
};
static const stored_fields world_list = FIELD_LIST(world_state, world_fields);

/// Hash of all that the motion of grains of this shape depends on.
static uint64_t hash_solid(const solid* s)
{
    uint64_t hash = HASH_START;
    const double numbers[] = {s->skin, s->volume, s->radius};
    hash = hash_bytes(hash, numbers, sizeof numbers);
    hash = hash_bytes(hash, s->inertia, sizeof s->inertia);
    for (int p = 0; p < s->part_count; p++) {
        const polytope* part = &s->part[p];
        size_t count = (size_t)(part->vertex_count * part->dim);
        hash = hash_bytes(hash, &part->vertex_count, sizeof part->vertex_count);
        hash = hash_bytes(hash, part->vertex, sizeof *part->vertex * count);
    }
    return hash;
}

/// What must be the same in the world that takes over the state, as a text for comparison.
static void describe_scene(const talus_world* w, text_buffer* t)
{
    text_add(t, "dimension %d\nseed %llu\n", w->def.dim, (unsigned long long)w->def.seed);
    const method_traits* method = method_of(w->def.method);
    text_add(t, "method %s", method->name);
    if (method->has_springs) {
        // All that the stored derivatives and springs depend on.
        static const char* const integrators[] = {"gear5", "gear3", "verlet", "leapfrog"};
        static const char* const elongations[] = {"geometric", "cundall"};
        static const char* const laws[] = {"linear", "hertz", "area"};
        static const char* const bounds[] = {"elastic", "total"};
        text_add(t, ", integrator %s, elongation %s, law %s, bound %s",
                 integrators[w->def.soft.integrator], elongations[w->def.soft.elongation],
                 laws[w->def.soft.law], bounds[w->def.soft.bound]);
    }
    text_add(t, "\n");
    for (int k = 0; k < w->def.dim; k++) {
        if (!w->state.cell.periodic[k]) continue;
        text_add(t, "periodic cell, axis %c: from %.17g, length %.17g\n", 'x' + k,
                 w->state.cell.low[k], w->state.cell.length[k]);
    }
    for (int i = 0; i < w->state.materials.count; i++)
        text_add(t, "material %s\n", w->state.materials.name[i]);
    for (int i = 0; i < w->state.solids.count; i++) {
        const solid* s = &w->state.solids.row[i];
        text_add(t, "solid %s, geometry %016llx\n", s->name, (unsigned long long)hash_solid(s));
    }
    for (int64_t i = 0; i < w->state.walls.count; i++) {
        const talus_shape_def* shape = &w->state.walls.record[i].shape;
        text_add(t, "wall %s, shape %d", w->state.walls.record[i].name, (int)shape->kind);
        if (shape->kind == TALUS_SHAPE_SOLID) text_add(t, ", solid %d", shape->solid.index);
        if (shape->kind == TALUS_SHAPE_MESH) {
            size_t bytes = sizeof *shape->triangles * 9 * (size_t)shape->triangle_count;
            text_add(t, ", %lld triangles, geometry %016llx", (long long)shape->triangle_count,
                     (unsigned long long)hash_bytes(HASH_START, shape->triangles, bytes));
        }
        text_add(t, "\n");
    }
}

// ---- writing -----------------------------------------------------------------------------------

static bool write_table(hid_t file, const world_table* t, int dim)
{
    hid_t group = H5Gcreate2(file, t->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 && h5_put_numbers(group, "count", COLUMN_I64, 1, t->count);
    for (int c = 0; good && c < t->col_count; c++) {
        const column* col = &t->cols[c];
        // A rare column that was never needed is all zero and left out.
        const void* data = column_data(col, t->table);
        if (!(col->flags & COLUMN_STATE) || (!data && (col->flags & COLUMN_RARE))) continue;
        good = h5_write(group, col->name, col->type, *t->count, column_row_width(col, dim), data,
                        false);
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

/// A part of the checkpoint as a dataset; no bytes are no dataset.
static bool write_part(hid_t group, const checkpoint_part* part)
{
    if (part->fields) return fields_write(group, part->name, part->fields, part->rows, part->data);
    const checkpoint_bytes* bytes = part->data;
    return bytes->size == 0 ||
           h5_write(group, part->name, COLUMN_U8, bytes->size, 1, bytes->data, false);
}

static talus_status state_image(const talus_world* world, checkpoint_extent extent,
                                const checkpoint_part* parts, int part_count, void** data,
                                size_t* size, talus_error* error)
{
    text_buffer scene = {0};
    world_table tables[WORLD_TABLES];
    describe_scene(world, &scene);
    // The tables are described by mutable pointers for loading; nothing is changed here.
    world_tables((talus_world*)(uintptr_t)world, tables);
    hid_t file = h5_create(world, "checkpoint");
    bool good = file >= 0 && !scene.failed &&
                h5_write(file, "scene", COLUMN_U8, (int64_t)scene.size, 1, scene.data, false);
    if (good && extent == CHECKPOINT_WHOLE) good = definition_write(file, world);
    for (int i = 0; good && i < WORLD_TABLES; i++)
        good = write_table(file, &tables[i], world->def.dim);
    const world_state state = {.step = world->state.step,
                               .time = world->state.time,
                               .next_id = world->state.grains.next_id,
                               .solves = world->solves,
                               .extent = world->extent,
                               .shortening = world->shortening,
                               .shortened = world->shortened,
                               .totals = world->totals.shown,
                               .power_lost = world->totals.power_lost,
                               .power_input = world->totals.power_input,
                               .last = world->last};
    hid_t group = good ? H5Gcreate2(file, PARTS_GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    good = group >= 0 && fields_write(group, WORLD_PART, &world_list, 1, &state);
    for (int i = 0; good && i < part_count; i++) good = write_part(group, &parts[i]);
    if (group >= 0) H5Gclose(group);
    talus_status status = good ? h5_image(file, data, size, error)
                               : h5_error(error, TALUS_ERR_IO, "cannot build", "a checkpoint");
    if (file >= 0) H5Fclose(file);
    text_free(&scene);
    return status;
}

/// Give the new file its name and the old one the name of the previous.
static talus_status rotate(const char* fresh, const char* path, const char* previous,
                           const char* directory, talus_error* error)
{
    if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
        TRY(files_sync_folder(directory, error));
        return files_rename(fresh, previous, error);
    }
    if (errno == ENOENT) return files_rename(fresh, path, error); // the first checkpoint
    // File systems without exchange: for a moment only the previous has a name.
    TRY(files_rename(path, previous, error));
    if (rename(fresh, path) == 0) return TALUS_OK;
    talus_status status = files_error(error, "replace", path);
    if (rename(previous, path) != 0) errno = 0;
    return status;
}

static talus_status write_image(const char* path, const void* data, size_t size, talus_error* error)
{
    char header[HEADER_BYTES] = "";
    snprintf(header, sizeof header, "%s %d\nsize %zu\nhash %016llx\n", CHECKPOINT_MAGIC,
             CHECKPOINT_VERSION, size, (unsigned long long)hash_bytes(HASH_START, data, size));
    return files_write(path, header, sizeof header, data, size, true, error);
}

static talus_status write_files(const char* directory, const void* data, size_t size,
                                talus_error* error)
{
    char* path = files_text("%s/checkpoint.h5", directory);
    char* fresh = files_text("%s/checkpoint.h5.tmp", directory);
    char* previous = files_text("%s/checkpoint.previous.h5", directory);
    talus_status status = path && fresh && previous ? TALUS_OK : error_memory(error, "a file name");
    if (status == TALUS_OK) {
        status = write_image(fresh, data, size, error);
    }
    if (status == TALUS_OK) {
        status = rotate(fresh, path, previous, directory, error);
        if (status != TALUS_OK) unlink(fresh);
    }
    if (status == TALUS_OK) status = files_sync_folder(directory, error);
    free(path);
    free(fresh);
    free(previous);
    return status;
}

talus_status checkpoint_write(const char* directory, const talus_world* world,
                              checkpoint_extent extent, const checkpoint_part* parts,
                              int part_count, talus_error* error)
{
    void* data = NULL;
    size_t size = 0;
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = state_image(world, extent, parts, part_count, &data, &size, error);
    h5_loud(&quiet);
    if (status == TALUS_OK) status = write_files(directory, data, size, error);
    free(data);
    return status;
}

// ---- writing behind ----------------------------------------------------------------------------

struct checkpoint_writer {
    behind* thread;
    char* directory;
    void* data;
    size_t size;
};

/// HDF5 has made the image: only plain files are left to be written here.
static talus_status write_behind(void* user, talus_error* error)
{
    const checkpoint_writer* w = user;
    return write_files(w->directory, w->data, w->size, error);
}

talus_status checkpoint_write_behind(checkpoint_writer** writer, const char* directory,
                                     const talus_world* world, checkpoint_extent extent,
                                     const checkpoint_part* parts, int part_count,
                                     talus_error* error)
{
    if (!*writer) *writer = calloc(1, sizeof **writer);
    checkpoint_writer* w = *writer;
    if (!w) return error_memory(error, "a checkpoint");
    TRY(checkpoint_writer_wait(w, error));
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = state_image(world, extent, parts, part_count, &w->data, &w->size, error);
    h5_loud(&quiet);
    if (status == TALUS_OK && !(w->directory = strdup(directory)))
        status = error_memory(error, "a file name");
    return status == TALUS_OK ? behind_do(&w->thread, write_behind, w, error) : status;
}

talus_status checkpoint_writer_wait(checkpoint_writer* w, talus_error* error)
{
    if (!w) return TALUS_OK;
    const talus_status status = behind_wait(w->thread, error);
    free(w->data);
    free(w->directory);
    w->data = w->directory = NULL;
    return status;
}

void checkpoint_writer_free(checkpoint_writer* w)
{
    if (!w) return;
    checkpoint_writer_wait(w, NULL);
    behind_free(w->thread);
    free(w);
}

// ---- reading -----------------------------------------------------------------------------------

/// Check the text at the head and the hash. TALUS_ERR_FORMAT: damaged or foreign, the previous
/// may serve; TALUS_ERR_STATE: whole, but not for this program.
static talus_status verify(const char* path, const unsigned char* data, size_t size,
                           talus_error* error)
{
    int version = 0;
    size_t stated = 0;
    unsigned long long hash = 0;
    char header[HEADER_BYTES + 1] = "";
    memcpy(header, data, size < HEADER_BYTES ? size : HEADER_BYTES);
    int end = 0; // of the version: a file that is cut off there has none
    int found = sscanf(header, CHECKPOINT_MAGIC " %d%n\nsize %zu\nhash %16llx", &version, &end,
                       &stated, &hash);
    if (found < 1 || header[end] != '\n') {
        return error_set(error, TALUS_ERR_FORMAT, "%s is not a checkpoint of Talus", path);
    }
    if (version != CHECKPOINT_VERSION) {
        const bool older = version < CHECKPOINT_VERSION;
        return error_set(error, TALUS_ERR_STATE,
                         "%s is a checkpoint of version %d, written by %s Talus; this one reads "
                         "version %d: %s",
                         path, version, older ? "an older" : "a newer", CHECKPOINT_VERSION,
                         older ? "start the run again" : "go on with that one");
    }
    if (found < 3 || size < HEADER_BYTES || size - HEADER_BYTES != stated) {
        return error_set(error, TALUS_ERR_FORMAT, "%s is cut off: it has %zu bytes of %zu", path,
                         size, stated + HEADER_BYTES);
    }
    if (hash_bytes(HASH_START, data + HEADER_BYTES, stated) != hash) {
        return error_set(error, TALUS_ERR_FORMAT, "%s is damaged: its checksum is wrong", path);
    }
    return TALUS_OK;
}

/// Whether a column is to be read from the group.
static bool is_there(hid_t group, const column* col)
{
    if (!(col->flags & COLUMN_STATE)) return false;
    return !(col->flags & COLUMN_RARE) || h5_has(group, col->name);
}

/// Make room for `count` rows, and for the rare columns that the group holds.
static bool table_reserve(hid_t group, const world_table* t, int dim, int64_t count)
{
    if (columns_reserve(t->table, t->cols, t->col_count, dim, count, t->capacity) != TALUS_OK) {
        return false;
    }
    for (int c = 0; c < t->col_count; c++) {
        const column* col = &t->cols[c];
        if (!(col->flags & COLUMN_RARE) || !is_there(group, col)) continue;
        if (column_need(col, t->table, dim, *t->capacity) != TALUS_OK) return false;
    }
    return true;
}

/// Read columns that fit into arrays that have room. Columns that the group does not hold become
/// zero.
static bool table_read(hid_t group, const world_table* t, int dim, int64_t count)
{
    bool good = true;
    for (int c = 0; good && c < t->col_count && count > 0; c++) {
        const column* col = &t->cols[c];
        void* data = column_data(col, t->table);
        const size_t row = column_element_size(col) * (size_t)column_row_width(col, dim);
        if (is_there(group, col)) {
            good = h5_read(group, col->name, col->type, data);
        } else if (data) {
            memset(data, 0, row * (size_t)count);
        }
    }
    *t->count = count;
    return good;
}

static talus_status refuse_field(const char* path, const char* table, const char* name,
                                 const char* wrong, talus_error* error)
{
    return error_set(error, TALUS_ERR_STATE, "%s: the field %s/%s %s", path, table, name, wrong);
}

/// Whether the group holds every column that it needs, as many rows each and as wide as they should
/// be, in the file itself, and nothing else. Rare columns may be missing.
static talus_status check_table(hid_t group, const char* path, const world_table* t, int dim,
                                int64_t* count, talus_error* error)
{
    if (group < 0 || !h5_get_numbers(group, "count", COLUMN_I64, 1, count)) {
        return error_set(error, TALUS_ERR_STATE, "%s: %s or the number of its rows is missing",
                         path, t->name);
    }
    for (int c = 0; c < t->col_count; c++) {
        const column* col = &t->cols[c];
        int64_t rows = 0;
        int width = 0;
        if (!is_there(group, col)) continue;
        if (!h5_has(group, col->name)) {
            return refuse_field(path, t->name, col->name, "is missing", error);
        }
        if (!h5_is_inside(group, col->name) ||
            !h5_shape(group, col->name, col->type, &rows, &width)) {
            return refuse_field(path, t->name, col->name, "is of another type", error);
        }
        if (rows != *count || width != column_row_width(col, dim)) {
            return refuse_field(path, t->name, col->name, "has another number of rows or columns",
                                error);
        }
    }
    H5G_info_t facts = {0};
    H5Gget_info(group, &facts);
    for (hsize_t i = 0; i < facts.nlinks; i++) {
        char name[64] = "";
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                           H5P_DEFAULT);
        bool known = false;
        for (int c = 0; c < t->col_count && !known; c++) {
            known = (t->cols[c].flags & COLUMN_STATE) && strcmp(t->cols[c].name, name) == 0;
        }
        if (!known) return refuse_field(path, t->name, name, "is not known", error);
    }
    return TALUS_OK;
}

/// First line in which two texts differ, cut to a printable length.
static void first_difference(const char* a, const char* b, char out_a[128], char out_b[128])
{
    const char *line_a = a, *line_b = b;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
        if (a[i] == '\n') line_a = a + i + 1, line_b = b + i + 1;
    }
    const char* nothing = "nothing more";
    if (!*line_a) line_a = nothing;
    if (!*line_b) line_b = nothing;
    snprintf(out_a, 128, "%.*s", (int)strcspn(line_a, "\n"), line_a);
    snprintf(out_b, 128, "%.*s", (int)strcspn(line_b, "\n"), line_b);
}

static talus_status check_scene(hid_t file, const char* path, const talus_world* world,
                                talus_error* error)
{
    int64_t size = 0;
    int width = 0;
    text_buffer mine = {0};
    describe_scene(world, &mine);
    char* stored = NULL;
    if (h5_shape(file, "scene", COLUMN_U8, &size, &width)) stored = calloc((size_t)size + 1, 1);
    talus_status status = TALUS_OK;
    if (mine.failed || !stored || !h5_read(file, "scene", COLUMN_U8, stored)) {
        status = h5_error(error, TALUS_ERR_STATE, "cannot read the scene in", path);
    } else if (strcmp(stored, mine.data) != 0) {
        char theirs[128], ours[128];
        first_difference(stored, mine.data, theirs, ours);
        status = error_set(error, TALUS_ERR_STATE,
                           "%s belongs to another scene: it has \"%s\" where this one has \"%s\"",
                           path, theirs, ours);
    }
    free(stored);
    text_free(&mine);
    return status;
}

/// Take over the world's part. All is checked and all room is made before anything changes.
static talus_status load_world(hid_t file, const hid_t group[WORLD_TABLES], hid_t parts,
                               const char* path, talus_world* world, talus_error* error)
{
    world_table tables[WORLD_TABLES];
    int64_t counts[WORLD_TABLES] = {0};
    const int dim = world->def.dim;
    world_tables(world, tables);
    TRY(check_scene(file, path, world, error));
    for (int i = 0; i < WORLD_TABLES; i++) {
        TRY(check_table(group[i], path, &tables[i], dim, &counts[i], error));
    }
    TRY(fields_check(parts, WORLD_PART, &world_list, 1, PARTS_GROUP, path, error));
    for (int i = 0; i < WORLD_TABLES; i++) {
        if (!table_reserve(group[i], &tables[i], dim, counts[i])) {
            return error_memory(error, "the state in a checkpoint");
        }
    }

    // The seconds of this process stay.
    world_state state = {.totals = world->totals.shown};
    bool good = fields_read(parts, WORLD_PART, &world_list, 1, &state);
    for (int i = 0; good && i < WORLD_TABLES; i++) {
        good = table_read(group[i], &tables[i], dim, counts[i]);
    }
    if (!good) return h5_error(error, TALUS_ERR_IO, "cannot read", path);
    world->state.step = state.step;
    world->state.time = state.time;
    world->state.grains.next_id = state.next_id;
    world->solves = state.solves;
    world->extent = state.extent;
    world->shortening = state.shortening;
    world->shortened = state.shortened;
    world->totals = (running_totals){state.totals, state.power_lost, state.power_input};
    world->last = state.last;
    return TALUS_OK;
}

static talus_status check_part(hid_t group, const checkpoint_part* part, const char* path,
                               talus_error* error)
{
    int64_t size = 0;
    int width = 0;
    if (part->fields) {
        return fields_check(group, part->name, part->fields, part->rows, PARTS_GROUP, path, error);
    }
    if (group >= 0 && h5_has(group, part->name) &&
        (!h5_is_inside(group, part->name) ||
         !h5_shape(group, part->name, COLUMN_U8, &size, &width) || width != 1)) {
        return refuse_field(path, PARTS_GROUP, part->name, "is of another type", error);
    }
    return TALUS_OK;
}

/// Read a part that was checked.
static bool read_part(hid_t group, const checkpoint_part* part)
{
    if (part->fields) return fields_read(group, part->name, part->fields, part->rows, part->data);
    checkpoint_bytes* bytes = part->data;
    checkpoint_bytes found = {0};
    int width = 0;
    if (h5_has(group, part->name)) {
        if (!h5_shape(group, part->name, COLUMN_U8, &found.size, &width)) return false;
        found.data = malloc((size_t)found.size + 1);
        if (!found.data || !h5_read(group, part->name, COLUMN_U8, found.data)) {
            free(found.data);
            return false;
        }
        found.data[found.size] = '\0'; // it may be a text
    }
    free(bytes->data);
    *bytes = found;
    return true;
}

static talus_status load_state(hid_t file, const char* path, talus_world* world,
                               const checkpoint_part* parts, int part_count, talus_error* error)
{
    talus_status status = TALUS_OK;
    hid_t from = H5Gopen2(file, PARTS_GROUP, H5P_DEFAULT);
    for (int i = 0; status == TALUS_OK && i < part_count; i++) {
        status = check_part(from, &parts[i], path, error);
    }
    if (status == TALUS_OK && world) {
        world_table tables[WORLD_TABLES];
        hid_t group[WORLD_TABLES];
        world_tables(world, tables);
        for (int i = 0; i < WORLD_TABLES; i++)
            group[i] = H5Gopen2(file, tables[i].name, H5P_DEFAULT);
        status = load_world(file, group, from, path, world, error);
        for (int i = 0; i < WORLD_TABLES; i++) {
            if (group[i] >= 0) H5Gclose(group[i]);
        }
    }
    for (int i = 0; status == TALUS_OK && i < part_count; i++) {
        if (!read_part(from, &parts[i])) {
            status = h5_error(error, TALUS_ERR_IO, "cannot read", path);
        }
    }
    if (from >= 0) H5Gclose(from);
    return status;
}

/// What is wanted of a file: the state of a world and parts, or the world that it defines.
typedef struct wish {
    talus_world* world; ///< takes over the state, NULL: only parts are read
    const checkpoint_part* parts;
    int part_count;
    const talus_world_def* options; ///< of a world to be made
    talus_world** made;             ///< receives it, NULL if the file defines none
} wish;

static talus_status load_image(hid_t file, const char* path, const wish* w, talus_error* error)
{
    if (!w->made) return load_state(file, path, w->world, w->parts, w->part_count, error);
    if (!definition_is_in(file)) return TALUS_OK;
    return definition_read(file, path, w->options, w->made, error);
}

static talus_status load_file(const char* path, const wish* w, talus_error* error)
{
    unsigned char* data = NULL;
    size_t size = 0;
    talus_status status = files_read(path, &data, &size, error);
    if (status == TALUS_OK) status = verify(path, data, size, error);
    // The hash tells what is damaged, not what somebody has made so.
    if (status == TALUS_OK)
        status = h5_try_image(data + HEADER_BYTES, size - HEADER_BYTES, path, error);
    if (status == TALUS_OK) {
        hid_t file = h5_open_image(data, data + HEADER_BYTES, size - HEADER_BYTES);
        status = file < 0 ? h5_error(error, TALUS_ERR_FORMAT, "cannot read", path)
                          : load_image(file, path, w, error);
        if (file >= 0) H5Fclose(file);
    }
    free(data);
    return status;
}

static talus_status load_one_of(const char* directory, const char* name, const wish* w,
                                talus_error* error)
{
    char* path = files_text("%s/%s", directory, name);
    if (!path) return error_memory(error, "a file name");
    const talus_status status = load_file(path, w, error);
    free(path);
    return status;
}

/// The newest good checkpoint of a directory.
static talus_status load_newest(const char* directory, const wish* w, bool* used_previous,
                                talus_error* error)
{
    talus_error first = {0}, second = {0};
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = load_one_of(directory, "checkpoint.h5", w, &first);
    bool damaged = status == TALUS_ERR_FORMAT || status == TALUS_ERR_IO;
    if (used_previous) *used_previous = damaged;
    if (damaged) {
        status = load_one_of(directory, "checkpoint.previous.h5", w, &second);
        // A damaged file says more than the absence of the one before it.
        if (status == TALUS_ERR_IO) status = first.status;
        if (status != TALUS_OK) {
            error_set(error, status, "%s has no good checkpoint: %s; %s", directory, first.text,
                      second.text);
        }
    } else if (status != TALUS_OK) {
        error_set(error, status, "%s", first.text);
    }
    h5_loud(&quiet);
    return status;
}

talus_status checkpoint_read(const char* directory, talus_world* world,
                             const checkpoint_part* parts, int part_count, bool* used_previous,
                             talus_error* error)
{
    const wish state = {.world = world, .parts = parts, .part_count = part_count};
    return load_newest(directory, &state, used_previous, error);
}

talus_status checkpoint_peek(const char* directory, const checkpoint_part* parts, int part_count,
                             talus_error* error)
{
    return checkpoint_read(directory, NULL, parts, part_count, NULL, error);
}

talus_status checkpoint_define(const char* directory, const talus_world_def* options,
                               talus_world** out, talus_error* error)
{
    const wish definition = {.options = options, .made = out};
    *out = NULL;
    return load_newest(directory, &definition, NULL, error);
}

// ---- worlds in files of their own --------------------------------------------------------------

talus_status talus_world_save(const talus_world* world, const char* path, talus_error* error)
{
    void* data = NULL;
    size_t size = 0;
    char* fresh = files_text("%s.tmp", path);
    if (!fresh) return error_memory(error, "a file name");
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = state_image(world, CHECKPOINT_WHOLE, NULL, 0, &data, &size, error);
    h5_loud(&quiet);
    if (status == TALUS_OK) status = write_image(fresh, data, size, error);
    if (status == TALUS_OK) status = files_rename(fresh, path, error);
    free(data);
    free(fresh);
    return status;
}

talus_status saved_world_define(const char* path, const talus_world_def* options, talus_world** out,
                                talus_error* error)
{
    const wish definition = {.options = options, .made = out};
    *out = NULL;
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = load_file(path, &definition, error);
    h5_loud(&quiet);
    if (status == TALUS_OK && !*out) {
        status =
            error_set(error, TALUS_ERR_STATE,
                      "%s has the state of a world, but not what it is made of: that is in the "
                      "scene of its run",
                      path);
    }
    return status;
}

talus_status talus_world_load(const char* path, const talus_world_def* given, talus_world** out,
                              talus_error* error)
{
    talus_world_def options = talus_world_default();
    options.threads = 0; // as it was saved
    *out = NULL;
    if (given) TRY(DEFINITION_TAKE(world, &options, given, error));
    talus_world* world;
    TRY(saved_world_define(path, &options, &world, error));
    h5_quiet quiet;
    h5_silence(&quiet);
    const talus_status status = load_file(path, &(wish){.world = world}, error);
    h5_loud(&quiet);
    if (status != TALUS_OK) {
        talus_world_destroy(world);
        return status;
    }
    *out = world;
    return TALUS_OK;
}
