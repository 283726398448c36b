/// A recorded frame put into a world.
///
/// The recorded columns are read straight into the world's tables. Numbers that point elsewhere
/// (shapes, materials, walls, grains) are checked before anybody follows them: a damaged file must
/// not lead out of an array.
#include "record/frame_show.h"

#include "base/error.h"
#include "record/frames.h"
#include "record/tables.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

/// The groups of a frame; -1 where there is none.
typedef struct frame_groups {
    hid_t frame;
    hid_t table[WORLD_TABLES];
    int64_t count[WORLD_TABLES];
    frame_entry entry;
} frame_groups;

static void groups_close(frame_groups* g)
{
    for (int i = 0; i < WORLD_TABLES; i++) {
        if (g->table[i] >= 0) H5Gclose(g->table[i]);
    }
    if (g->frame >= 0) H5Gclose(g->frame);
}

/// Open a frame and its tables; false if it is not there or not whole.
static bool groups_open(const frame_reader* r, int64_t index, const world_table* tables,
                        frame_groups* out)
{
    char name[64];
    for (int i = 0; i < WORLD_TABLES; i++) out->table[i] = -1;
    snprintf(name, sizeof name, "/frames/%06lld", (long long)index);
    out->frame = frame_open_group(r->file, name, r->path);
    if (out->frame < 0 || !frame_entry_read(out->frame, &out->entry)) return false;
    out->count[TABLE_GRAINS] = out->entry.grains;
    out->count[TABLE_WALLS] = out->entry.walls;
    out->count[TABLE_CONTACTS] = out->entry.contacts; // -1: not recorded
    for (int i = 0; i < WORLD_TABLES; i++) {
        if (out->count[i] < 0) continue;
        out->table[i] = frame_open_group(out->frame, tables[i].name, r->path);
        char why[TABLE_WHY_BYTES];
        if (out->table[i] < 0) return false;
        if (!table_fits(out->table[i], &tables[i], COLUMN_FRAME, r->dim, out->count[i], why)) {
            h5_refuse("the field %s", why);
            return false;
        }
    }
    return true;
}

/// Whether a grain's place can be told from its neighbour's. A run that went wrong may have
/// recorded places that are no numbers: these are shown.
static bool place_is_sound(const grains* g, int64_t i)
{
    static const double FARTHEST = 1e15; // in radii: there the next double is a radius away
    for (int k = 0; k < g->dim; k++) {
        const double x = g->position[i * g->dim + k];
        if (isfinite(x) && fabs(x) > FARTHEST * g->radius[i]) return false;
    }
    return true;
}

static bool grain_is_sound(const talus_world* w, int64_t i)
{
    const grains* g = &w->state.grains;
    if (g->solid[i] >= 0 && !(g->scale[i] > 0.0 && isfinite(g->scale[i]))) return false;
    return (i == 0 || g->id[i] > g->id[i - 1]) && g->solid[i] < w->state.solids.count &&
           g->material[i] >= 0 && g->material[i] < w->state.materials.count &&
           g->glued_to[i] < w->state.walls.count && g->radius[i] > 0.0 && g->mass[i] > 0.0 &&
           isfinite(g->radius[i]) && isfinite(g->mass[i]) && place_is_sound(g, i);
}

/// Whether what the tables point to is there, and sizes and places are possible.
static bool is_sound(const talus_world* w)
{
    for (int64_t i = 0; i < w->state.grains.count; i++) {
        if (!grain_is_sound(w, i)) return false;
    }
    for (int64_t i = 0; i < w->state.contacts.count; i++) {
        if (w->state.contacts.a[i] < -w->state.walls.count) return false;
    }
    return true;
}

static void empty(talus_world* w)
{
    w->state.grains.count = 0;
    w->state.contacts.count = 0;
}

/// The numbers of the last step that a frame tells.
static void set_last(talus_world* w, const frame_entry* entry)
{
    w->state.time = entry->time;
    w->state.step = entry->step;
    w->last = (talus_step_result){.step = entry->step,
                                  .time = entry->time,
                                  .grains = w->state.grains.count,
                                  .contacts = w->state.contacts.count,
                                  .kinetic_energy =
                                      grains_kinetic_energy(&w->state.grains, w->def.threads),
                                  .nan_grain = -1,
                                  .escaped_grain = -1};
    w->extent = 0.0;
    for (int64_t i = 0; i < w->state.contacts.count; i++) {
        w->last.active += w->state.contacts.state[i] != TALUS_CONTACT_OPEN;
    }
}

static talus_status show(const frame_reader* r, const frame_groups* groups,
                         const world_table* tables, talus_world* w, talus_error* error)
{
    if (groups->count[TABLE_WALLS] != w->state.walls.count) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s has %lld walls, but the scene in the same folder has %lld", r->path,
                         (long long)groups->count[TABLE_WALLS], (long long)w->state.walls.count);
    }
    for (int i = 0; i < WORLD_TABLES; i++) {
        if (groups->table[i] < 0) continue;
        if (!table_reserve(groups->table[i], &tables[i], COLUMN_FRAME, r->dim, groups->count[i])) {
            return error_memory(error, "a recorded frame");
        }
    }
    for (int i = 0; i < WORLD_TABLES; i++) {
        if (groups->table[i] < 0) continue;
        if (!table_read(groups->table[i], &tables[i], COLUMN_FRAME, r->dim, groups->count[i])) {
            return h5_error(error, TALUS_ERR_FORMAT, "cannot read", r->path);
        }
    }
    if (!is_sound(w)) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s does not belong to the scene in the same folder, or is damaged: a "
                         "grain or contact refers to something that is not there, or has an "
                         "impossible size or place",
                         r->path);
    }
    grains_derive(&w->state.grains);
    contacts_relink(&w->state.contacts, &w->state.grains, &w->state.walls);
    return TALUS_OK;
}

talus_status frame_show(const frame_reader* r, int64_t index, talus_world* world,
                        talus_error* error)
{
    world_table tables[WORLD_TABLES];
    frame_groups groups;
    world_tables(world, tables);
    empty(world);
    world->state.revision++;
    talus_status status = TALUS_OK;
    if (r->dim != world->def.dim) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s is of dimension %d, the scene in the same folder of %d", r->path,
                         r->dim, world->def.dim);
    }
    if (groups_open(r, index, tables, &groups)) {
        status = show(r, &groups, tables, world, error);
    } else {
        status = h5_error(error, TALUS_ERR_FORMAT, "cannot read a frame of", r->path);
    }
    if (status < 0) empty(world);
    if (status >= 0) set_last(world, &groups.entry);
    groups_close(&groups);
    return status;
}
