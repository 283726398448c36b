/// The energy budget of rigid grains (method contact):
///
///     dissipated = W - change of kinetic - change of potential       W = -sum over walls of F.dx
///
/// with the forces F of grains on walls and the walls' displacements dx from row to row of
/// series.csv and at the frames. A row has the mean force of its step: where there is a row for
/// each step the sum is exact, otherwise forces are taken as linear between rows. A wall that
/// contacts slow down gives the energy that it loses: dx is then that of its mean velocity before
/// and after the step, as for an impulse that acts while the velocity changes. The series has no
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

/// Remember how a wall is at a frame. The work of one that turns is not known.
static void take_state(budget* b, budget_wall* w, const talus_wall_state* state)
{
    w->mobile = state->drive == TALUS_DRIVE_FORCE || state->drive == TALUS_DRIVE_SERVO;
    memcpy(w->velocity, state->velocity, sizeof w->velocity);
    memcpy(w->force, state->force, sizeof w->force);
    memcpy(w->position, state->position, sizeof w->position);
    for (int k = 0; k < 3; k++) {
        if (state->spin[k] != 0.0) b->wall_work = NAN;
    }
}

talus_status budget_begin(budget* b, const talus_series* series, const talus_world* world,
                          talus_error* error)
{
    const talus_grains g = talus_world_grains(world);
    const talus_measure_def def = talus_measure_default();
    *b = (budget){.series = series, .dim = g.dim, .grain_count = g.count, .last_grain = -1};
    b->step = talus_world_last(world)->step;
    b->step_row = series ? talus_series_column(series, "step") : NULL;
    b->length_row = series ? talus_series_column(series, "step_length") : NULL;
    if (!b->step_row || !b->length_row || series->rows == 0) b->wall_work = NAN;
    if (g.count > 0) b->last_grain = g.id[g.count - 1];
    memcpy(b->gravity, talus_world_options(world)->gravity, sizeof b->gravity);
    TRY(talus_measure_energy(world, &def, &b->begin, error));
    b->wall_count = talus_world_wall_count(world);
    b->wall = calloc((size_t)b->wall_count + 1, sizeof *b->wall);
    if (!b->wall) return error_memory(error, "an energy budget");
    for (int i = 0; i < b->wall_count; i++) {
        talus_wall_state state;
        TRY(talus_world_wall(world, (talus_wall_id){i}, &state, error));
        take_state(b, &b->wall[i], &state);
        for (int k = 0; k < b->dim && b->series; k++) {
            b->wall[i].force_row[k] = wall_column(b->series, state.name, "force", k);
            b->wall[i].position_row[k] = wall_column(b->series, state.name, "position", k);
            if (!b->wall[i].force_row[k] || !b->wall[i].position_row[k]) b->wall_work = NAN;
        }
    }
    return TALUS_OK;
}

/// The work of a wall over one step of length h.
static double step_work(const budget_wall* w, int dim, double h, const double force[3],
                        const double position[3])
{
    double work = 0.0;
    for (int k = 0; k < dim; k++) {
        const double way = position[k] - w->position[k];
        work -= force[k] * (w->mobile ? 0.5 * (way + h * w->velocity[k]) : way);
    }
    return work;
}

/// The work of a wall over several steps, of which only the ends are known.
static double way_work(const budget_wall* w, int dim, const double force[3],
                       const double position[3])
{
    double work = 0.0;
    for (int k = 0; k < dim; k++) {
        work -= 0.5 * (w->force[k] + force[k]) * (position[k] - w->position[k]);
    }
    return work;
}

/// Go on to a row of the series, `steps` on.
static void add_row(budget* b, budget_wall* w, int64_t steps)
{
    const double h = b->length_row[b->row];
    double force[3] = {0}, position[3] = {0};
    for (int k = 0; k < b->dim; k++) {
        force[k] = w->force_row[k][b->row];
        position[k] = w->position_row[k][b->row];
    }
    b->wall_work += steps == 1 ? step_work(w, b->dim, h, force, position)
                               : way_work(w, b->dim, force, position);
    for (int k = 0; k < b->dim; k++) {
        w->velocity[k] = (position[k] - w->position[k]) / ((double)steps * h);
        w->force[k] = force[k];
        w->position[k] = position[k];
    }
}

talus_status budget_advance(budget* b, const talus_world* world, talus_error* error)
{
    const talus_measure_def def = talus_measure_default();
    const int64_t step = talus_world_last(world)->step;
    talus_energy now;
    const bool known = !isnan(b->wall_work);
    while (known && b->row < b->series->rows && b->step_row[b->row] <= (double)step) {
        const int64_t at = (int64_t)b->step_row[b->row], steps = at - b->step;
        if (steps > 0) {
            for (int i = 0; i < b->wall_count; i++) add_row(b, &b->wall[i], steps);
            if (steps > b->most_steps) b->most_steps = steps;
            b->step = at;
        }
        b->row++;
    }
    for (int i = 0; i < b->wall_count; i++) {
        talus_wall_state state;
        TRY(talus_world_wall(world, (talus_wall_id){i}, &state, error));
        budget_wall* w = &b->wall[i];
        if (step > b->step) b->wall_work += way_work(w, b->dim, state.force, state.position);
        take_state(b, w, &state); // for the steps to come
    }
    if (step - b->step > b->most_steps) b->most_steps = step - b->step;
    b->step = step;
    TRY(talus_measure_energy(world, &def, &now, error));
    b->kinetic = now.kinetic - b->begin.kinetic;
    b->potential = now.potential - b->begin.potential;
    // Other grains or another gravity would make a balance wrong.
    const talus_grains g = talus_world_grains(world);
    const double* gravity = talus_world_options(world)->gravity;
    const bool comparable = g.count == b->grain_count &&
                            (g.count == 0 || g.id[g.count - 1] == b->last_grain) &&
                            memcmp(gravity, b->gravity, sizeof b->gravity) == 0;
    b->dissipated = comparable ? b->wall_work - b->kinetic - b->potential : NAN;
    return TALUS_OK;
}

void budget_end(budget* b)
{
    free(b->wall);
    *b = (budget){0};
}
