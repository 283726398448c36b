/// The energy budget of rigid grains (method contact):
///
///     dissipated = W - change of kinetic - change of potential       W = -sum over walls of F.dx
///
/// with the forces F of grains on walls and the walls' displacements dx from row to row of
/// series.csv and at the frames. A row has the mean force of its step: where there is a row for
/// each step the sum is exact, otherwise forces are taken as linear between rows. The series has no
/// torques, so that the work of walls that turn is not known. Nor is what was dissipated if grains
/// were added or removed, which changes the energy, or if gravity changed.
#include "budget.h"

#include "base/error.h"
#include "record/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Column WALL_QUANTITY_AXIS of the series, NULL if there is none.
static const double* wall_column(const talus_series* series, const char* wall, const char* quantity,
                                 int axis)
{
    text_buffer name = {0};
    text_add_word(&name, wall);
    text_add(&name, "_%s_%c", quantity, 'x' + axis);
    const double* column = name.failed ? NULL : talus_series_column(series, name.data);
    text_free(&name);
    return column;
}

static talus_status begin_walls(budget* b, const talus_world* world, talus_error* error)
{
    b->wall_count = talus_world_wall_count(world);
    b->wall = calloc((size_t)b->wall_count + 1, sizeof *b->wall);
    if (!b->wall) return error_memory(error, "an energy budget");
    for (int i = 0; i < b->wall_count; i++) {
        budget_wall* w = &b->wall[i];
        talus_wall_state state;
        TRY(talus_world_wall(world, i, &state, error));
        memcpy(w->force, state.force, sizeof w->force);
        memcpy(w->position, state.position, sizeof w->position);
        for (int k = 0; k < b->dim && b->series; k++) {
            w->force_row[k] = wall_column(b->series, state.name, "force", k);
            w->position_row[k] = wall_column(b->series, state.name, "position", k);
            if (!w->force_row[k] || !w->position_row[k]) b->wall_work = NAN;
        }
        for (int k = 0; k < 3; k++) {
            if (state.spin[k] != 0.0) b->wall_work = NAN;
        }
    }
    return TALUS_OK;
}

talus_status budget_begin(budget* b, const talus_series* series, const talus_world* world,
                          talus_error* error)
{
    const talus_grains g = talus_world_grains(world);
    const talus_measure_def def = talus_measure_default();
    *b = (budget){.series = series, .dim = g.dim, .grain_count = g.count, .last_grain = -1};
    b->step = talus_world_last(world)->step;
    b->step_row = series ? talus_series_column(series, "step") : NULL;
    if (!b->step_row || series->rows == 0) b->wall_work = NAN;
    if (g.count > 0) b->last_grain = g.id[g.count - 1];
    memcpy(b->gravity, talus_world_options(world)->gravity, sizeof b->gravity);
    TRY(talus_measure_energies(world, &def, &b->begin, error));
    return begin_walls(b, world, error);
}

/// The walls' way to a later state, `steps` on.
static void add_work(budget* b, budget_wall* w, int64_t steps, const double force[3],
                     const double position[3])
{
    for (int k = 0; k < b->dim; k++) {
        const double mean = steps == 1 ? force[k] : 0.5 * (w->force[k] + force[k]);
        b->wall_work -= mean * (position[k] - w->position[k]);
        w->force[k] = force[k];
        w->position[k] = position[k];
    }
}

/// The rows of the series before a step.
static void add_rows(budget* b, int64_t step)
{
    for (; b->row < b->series->rows && b->step_row[b->row] < (double)step; b->row++) {
        const int64_t at = (int64_t)b->step_row[b->row];
        if (at <= b->step) continue;
        for (int i = 0; i < b->wall_count; i++) {
            double force[3] = {0}, position[3] = {0};
            for (int k = 0; k < b->dim; k++) {
                force[k] = b->wall[i].force_row[k][b->row];
                position[k] = b->wall[i].position_row[k][b->row];
            }
            add_work(b, &b->wall[i], at - b->step, force, position);
        }
        b->step = at;
    }
}

/// What would make a balance of energies wrong: other grains, another gravity.
static bool is_comparable(const budget* b, const talus_world* world)
{
    const talus_grains g = talus_world_grains(world);
    const double* gravity = talus_world_options(world)->gravity;
    return g.count == b->grain_count && (g.count == 0 || g.id[g.count - 1] == b->last_grain) &&
           memcmp(gravity, b->gravity, sizeof b->gravity) == 0;
}

talus_status budget_advance(budget* b, const talus_world* world, talus_error* error)
{
    const talus_measure_def def = talus_measure_default();
    const int64_t step = talus_world_last(world)->step;
    talus_energies now;
    if (!isnan(b->wall_work)) add_rows(b, step);
    for (int i = 0; i < b->wall_count; i++) {
        talus_wall_state state;
        TRY(talus_world_wall(world, i, &state, error));
        add_work(b, &b->wall[i], step - b->step, state.force, state.position);
        for (int k = 0; k < 3; k++) {
            if (state.spin[k] != 0.0) b->wall_work = NAN;
        }
    }
    b->step = step;
    TRY(talus_measure_energies(world, &def, &now, error));
    b->kinetic = now.kinetic - b->begin.kinetic;
    b->potential = now.potential - b->begin.potential;
    b->dissipated = is_comparable(b, world) ? b->wall_work - b->kinetic - b->potential : NAN;
    return TALUS_OK;
}

void budget_end(budget* b)
{
    free(b->wall);
    *b = (budget){0};
}
