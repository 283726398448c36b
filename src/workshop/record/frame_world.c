/// A frame made from a world, and put into a world.
///
/// Numbers that point elsewhere (shapes, materials, walls, grains) are checked
/// before anybody follows them: a damaged file must not lead out of an array.
#include "base/error.h"
#include "base/parallel.h"
#include "record/frame.h"
#include "record/tables.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- from a world
// ------------------------------------------------------------------------------

/// The recorded columns of one of a world's tables.
static bool lend_columns(const world_table* from, int dim, frames_options options, frame_table* out)
{
    static const char nothing = 0;
    out->count = *from->count;
    for (int c = 0; c < from->col_count; c++) {
        const column* col = &from->cols[c];
        if (!frame_records(col, options)) continue;
        frame_field field = {.type = col->type,
                             .rows = out->count,
                             .width = column_row_width(col, dim),
                             .data = column_data(col, from->table)};
        snprintf(field.name, sizeof field.name, "%s", col->name);
        frame_describe(from->name, options.reduced_units, &field);
        if (!field.data && out->count == 0) field.data = &nothing;
        if (!field.data) { // a rare column that was never needed is all zero
            field.own = calloc((size_t)(out->count * field.width), column_element_size(col));
            field.data = field.own;
        }
        if (!field.data || !frame_add(out, &field)) {
            free(field.own);
            return false;
        }
    }
    return true;
}

/// End points of contact i: from the centre of a (the contact point on a wall)
/// to the centre of b.
static void contact_line(const talus_world* world, int64_t i, double line[2][3])
{
    const contacts* list = &world->state.contacts;
    const grains* g = &world->state.grains;
    int dim = list->dim;
    int64_t b = grains_find(g, list->b[i]);
    int64_t a = list->a[i] < 0 ? -1 : grains_find(g, list->a[i]);
    const double* point = list->point + i * dim;
    const double* start = a >= 0 ? g->position + a * dim : point;
    const double* end = b >= 0 ? g->position + b * dim : point;
    double delta[3];
    for (int k = 0; k < dim; k++) delta[k] = end[k] - start[k];
    cell_nearest(&world->state.cell, dim, delta);
    for (int k = 0; k < dim; k++) {
        // One end stays where it is drawn anyway: at grain a, or at the grain
        // beside a wall.
        line[0][k] = a >= 0 ? start[k] : end[k] - delta[k];
        line[1][k] = a >= 0 ? start[k] + delta[k] : end[k];
    }
}

static bool add_lines(const talus_world* world, bool reduced_units, frame_table* out)
{
    const int64_t count = world->state.contacts.count;
    double(*line)[2][3] = calloc((size_t)count + 1, sizeof *line);
    if (!line) return false;
#pragma omp parallel for num_threads(parallel_threads(world->def.threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i++) contact_line(world, i, line[i]);
    frame_field field = {.name = FRAME_SEGMENT,
                         .type = COLUMN_F64,
                         .rows = count,
                         .width = 6,
                         .data = line,
                         .own = line};
    frame_describe("contacts", reduced_units, &field);
    if (frame_add(out, &field)) return true;
    free(line);
    return false;
}

bool frame_of_world(const talus_world* world, frames_options options, int64_t phase,
                    frame_data* out)
{
    world_table tables[WORLD_TABLES];
    // The tables are described by mutable pointers for loading; nothing is
    // changed here.
    world_tables((talus_world*)(uintptr_t)world, tables);
    const int dim = world->def.dim;
    *out = (frame_data){
        .dim = dim, .time = world->state.time, .step = world->state.step, .phase = phase};
    out->contacts.count = -1;
    for (int k = 0; k < 3; k++) {
        out->periodic[k] = world->state.cell.periodic[k];
        out->cell_low[k] = world->state.cell.low[k];
        out->cell_high[k] = world->state.cell.low[k] + world->state.cell.length[k];
    }
    if (!lend_columns(&tables[TABLE_GRAINS], dim, options, &out->grains) ||
        !lend_columns(&tables[TABLE_WALLS], dim, options, &out->walls)) {
        return false;
    }
    if (options.contacts && (!lend_columns(&tables[TABLE_CONTACTS], dim, options, &out->contacts) ||
                             !add_lines(world, options.reduced_units, &out->contacts))) {
        return false;
    }
    out->wall_name = calloc((size_t)world->state.walls.count + 1, sizeof *out->wall_name);
    bool good = out->wall_name != NULL;
    for (int64_t i = 0; good && i < world->state.walls.count; i++) {
        out->wall_name[i] = strdup(world->state.walls.record[i].name);
        good = out->wall_name[i] != NULL;
    }
    return good;
}

// ---- into a world
// ------------------------------------------------------------------------------

/// Copy the recorded columns of a table; those that the frame does not have
/// become zero.
static talus_status fill_table(const world_table* t, const frame_table* from, int dim,
                               const char* path, talus_error* error)
{
    const int64_t count = from->count;
    if (columns_reserve(t->table, t->cols, t->col_count, dim, count, t->capacity) != TALUS_OK) {
        return error_memory(error, "a recorded frame");
    }
    for (int c = 0; c < t->col_count; c++) {
        const column* col = &t->cols[c];
        const bool recorded = col->flags & COLUMN_FRAME, rare = col->flags & COLUMN_RARE;
        const int width = column_row_width(col, dim);
        const frame_field* field = recorded ? frame_find(from, col->name) : NULL;
        const void* data = field ? frame_numbers(from, col->name, col->type, width) : NULL;
        if (recorded && !data && (field || !rare)) {
            return error_set(error, TALUS_ERR_FORMAT,
                             "cannot read a frame of %s: the field %s/%s is %s", path, t->name,
                             col->name, field ? "of another type or size" : "missing");
        }
        if (data && rare && column_need(col, t->table, dim, *t->capacity) != TALUS_OK) {
            return error_memory(error, "a recorded frame");
        }
        void* to = column_data(col, t->table);
        const size_t bytes = column_element_size(col) * (size_t)width * (size_t)count;
        if (to && bytes > 0 && data) memcpy(to, data, bytes);
        if (to && bytes > 0 && !data) memset(to, 0, bytes);
    }
    *t->count = count;
    return TALUS_OK;
}

/// Whether a grain's place can be told from its neighbour's. A run that went
/// wrong may have recorded places that are no numbers: these are shown.
static bool place_is_sound(const grains* g, int64_t i)
{
    static const double FARTHEST = 1e15; // in radii: there the next double is a radius away
    for (int k = 0; k < g->dim; k++) {
        const double x = g->position[i * g->dim + k];
        if (isfinite(x) && fabs(x) > FARTHEST * g->radius[i]) return false;
    }
    return true;
}

/// Whether what the tables point to is there, and sizes and places are
/// possible.
static bool is_sound(const talus_world* w)
{
    const grains* g = &w->state.grains;
    for (int64_t i = 0; i < g->count; i++) {
        const bool shaped = g->solid[i] >= 0;
        const bool good =
            (!shaped || (g->scale[i] > 0.0 && isfinite(g->scale[i]))) &&
            (i == 0 || g->id[i] > g->id[i - 1]) && g->solid[i] < w->state.solids.count &&
            g->material[i] >= 0 && g->material[i] < w->state.materials.count &&
            g->glued_to[i] < w->state.walls.count && g->radius[i] > 0.0 && g->mass[i] > 0.0 &&
            isfinite(g->radius[i]) && isfinite(g->mass[i]) && place_is_sound(g, i);
        if (!good) return false;
    }
    for (int64_t i = 0; i < w->state.contacts.count; i++) {
        if (w->state.contacts.a[i] < -w->state.walls.count) return false;
    }
    return true;
}

static talus_status fill_world(const frame_data* d, const char* path, talus_world* w,
                               talus_error* error)
{
    if (d->dim != w->def.dim) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s is of dimension %d, the scene in the same folder of %d", path, d->dim,
                         w->def.dim);
    }
    // Walls that were added after the frame are not there yet.
    const int64_t wall_count = w->state.walls.count;
    if (d->walls.count > wall_count) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s has %lld walls, but the scene in the same folder has %lld", path,
                         (long long)d->walls.count, (long long)w->state.walls.count);
    }
    world_table tables[WORLD_TABLES];
    world_tables(w, tables);
    TRY(fill_table(&tables[TABLE_GRAINS], &d->grains, d->dim, path, error));
    TRY(fill_table(&tables[TABLE_WALLS], &d->walls, d->dim, path, error));
    for (int64_t i = d->walls.count; i < wall_count; i++) w->state.walls.present[i] = 0;
    w->state.walls.count = wall_count;
    if (d->contacts.count >= 0) {
        TRY(fill_table(&tables[TABLE_CONTACTS], &d->contacts, d->dim, path, error));
    }
    if (!is_sound(w)) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s does not belong to the scene in the same folder, or is damaged: a "
                         "grain or contact refers to something that is not there, or has an "
                         "impossible size or place",
                         path);
    }
    return TALUS_OK;
}

talus_status frame_into_world(const frame_data* d, const char* path, talus_world* w,
                              talus_error* error)
{
    w->state.grains.count = 0;
    w->state.contacts.count = 0;
    w->state.revision++;
    talus_status status = fill_world(d, path, w, error);
    if (status != TALUS_OK) {
        w->state.grains.count = 0;
        w->state.contacts.count = 0;
        return status;
    }
    grains_derive(&w->state.grains);
    contacts_relink(&w->state.contacts, &w->state.grains, &w->state.walls);

    // The numbers of the last step that a frame tells.
    w->state.time = d->time;
    w->state.step = d->step;
    w->last = (talus_step_result){.step = d->step,
                                  .time = d->time,
                                  .grains = w->state.grains.count,
                                  .contacts = w->state.contacts.count,
                                  .kinetic_energy =
                                      grains_kinetic_energy(&w->state.grains, w->def.threads),
                                  .nan_grain = -1,
                                  .escaped_grain = -1,
                                  .rigidity = {.cluster_grain = -1, .worst_grain = -1}};
    w->extent = 0.0;
    for (int64_t i = 0; i < w->state.contacts.count; i++) {
        w->last.active += w->state.contacts.state[i] != TALUS_CONTACT_OPEN;
    }
    return TALUS_OK;
}
