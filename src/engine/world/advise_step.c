/// How long steps of the method contact may be.
///
/// Three things bound a step, whatever its contacts do: how far gravity or a force moves a grain in
/// it, FALL^2 of its thickness d; how far the fastest thing goes, TRAVEL d; and how much of a
/// period a shaken wall goes through. What grains that slide past each other need beyond that is
/// seen step by step (rigid/coarseness.h).
///
/// The constants come from the data in docs/theory.md ("How long a step may be").
#include "world/advise_step.h"

#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "state/drive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double FALL = 0.1, TRAVEL = 0.5, PERIOD_PARTS = 50.0;
/// Part of the inertial time that steps of a flow should not be longer than where sweeps do not
/// solve them. Silos of 10^5 disks are solved by steps of this length and not by twice as long ones
/// (docs/benchmarks.md, Flows); below a tenth nothing is gained, the work per time stays the same.
static const double RESOLVED = 0.25;

talus_step_advice advice_begin(double thickness)
{
    return (talus_step_advice){.thickness = thickness, .bound = INFINITY, .of = "nothing"};
}

/// Keep a bound that is shorter than the one so far; true if it is.
static bool note_bound(talus_step_advice* a, double bound, const char* of)
{
    if (!(bound < a->bound)) return false;
    a->bound = bound;
    a->of = of;
    a->by_speed = a->by_period = false;
    return true;
}

void advice_add_speed(talus_step_advice* a, double speed, const char* of)
{
    if (!(speed > a->speed)) return;
    a->speed = speed;
    if (note_bound(a, TRAVEL * a->thickness / speed, of)) a->by_speed = true;
}

void advice_add_acceleration(talus_step_advice* a, double acceleration, const char* of)
{
    if (!(acceleration > a->acceleration)) return;
    a->acceleration = acceleration;
    note_bound(a, FALL * sqrt(a->thickness / acceleration), of);
}

void advice_add_drive(talus_step_advice* a, const walls* w, int wall, const talus_drive_def* d,
                      int dim, const double low[3], const double high[3])
{
    const double* pivot = d->has_pivot ? d->pivot : w->position + 3 * wall;
    const double speed = drive_top_speed(d, dim, pivot, low, high);
    advice_add_speed(a, speed, "a driven wall");
    if (d->kind == TALUS_DRIVE_SINE) {
        if (d->frequency > a->frequency) {
            a->frequency = d->frequency;
            a->by_period =
                note_bound(a, 1.0 / (PERIOD_PARTS * d->frequency), "a shaken wall") || a->by_period;
        }
        advice_add_acceleration(a, 2.0 * M_PI * d->frequency * speed, "a shaken wall");
    }
}

void advice_add_push(talus_step_advice* a, const walls* w, const talus_drive_def* d, int dim,
                     const double gravity[3])
{
    if (d->kind != TALUS_DRIVE_FORCE && d->kind != TALUS_DRIVE_SERVO) return;
    const double weight = d->weight ? vec_norm(dim, gravity) : 0.0;
    advice_add_acceleration(a, drive_push(w, d) / d->mass + weight, "the force on a wall");
}

double advice_thickness(const grains* g)
{
    double least = INFINITY;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] == GRAIN_FREE) least = fmin(least, grain_thinnest(g, i));
    }
    return least;
}

void advice_add_grains(talus_step_advice* a, const grains* g)
{
    const int dim = g->dim, spin_dim = spin_width(dim);
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        const double turn =
            g->solid[i] < 0 ? 0.0 : g->radius[i] * vec_norm(spin_dim, g->spin + i * spin_dim);
        advice_add_speed(a, vec_norm(dim, g->velocity + i * dim) + turn, "a grain");
        if (!g->force) continue;
        advice_add_acceleration(a, g->inv_mass[i] * vec_norm(dim, g->force + i * dim),
                                "the force on a grain");
    }
}

double advice_round(double bound)
{
    const int power = (int)floor(portable_log10(bound) + 1e-9);
    const double lead = bound / portable_power_of_ten(power);
    const int digit = lead >= 5.0 * (1.0 - 1e-9) ? 5 : lead >= 2.0 * (1.0 - 1e-9) ? 2 : 1;
    char text[32];
    snprintf(text, sizeof text, "%de%d", digit, power);
    return strtod(text, NULL);
}

void advice_end(talus_step_advice* a)
{
    const bool known = isfinite(a->bound) && isfinite(a->thickness);
    if (!known) a->bound = 0.0;
    a->length = known ? advice_round(a->bound) : 0.0;
}

/// What a grain's contacts do about its centre, the force times the way from the contact to there,
/// is dim times its pressure times its volume. Added up over the grains that bear something, with
/// their masses.
typedef struct bearing {
    double virial, mass;
    bool* seen; ///< [grains]
} bearing;

static void add_bearing(bearing* sum, const physical_state* state, int64_t row, const double* point,
                        const double* force, double sign)
{
    const grains* g = &state->grains;
    const int dim = g->dim;
    double way[3];
    if (!(g->inv_mass[row] > 0.0)) return;
    vec_sub(dim, way, g->position + row * dim, point);
    cell_nearest(&state->cell, dim, way);
    sum->virial += sign * vec_dot(dim, force, way);
    if (!sum->seen[row]) sum->mass += 1.0 / g->inv_mass[row];
    sum->seen[row] = true;
}

talus_status advice_inertial_time(const physical_state* state, int threads, double* out)
{
    const contacts* list = &state->contacts;
    const int dim = state->grains.dim;
    bearing sum = {.seen = calloc((size_t)state->grains.count + 1, sizeof *sum.seen)};
    *out = INFINITY;
    if (!sum.seen) return TALUS_ERR_MEMORY;
    for (int64_t c = 0; c < list->count; c++) {
        const double *point = list->point + c * dim, *force = list->force + c * dim;
        if (list->state[c] == TALUS_CONTACT_OPEN) continue;
        if (list->a_row[c] >= 0) add_bearing(&sum, state, list->a_row[c], point, force, -1.0);
        add_bearing(&sum, state, list->b_row[c], point, force, 1.0);
    }
    free(sum.seen);
    if (!(sum.virial > 0.0)) return TALUS_OK;
    const double diameter = grains_mean_diameter(&state->grains, threads);
    *out = diameter * sqrt((double)dim * sum.mass / sum.virial);
    return TALUS_OK;
}

talus_status advice_resolved_step(const physical_state* state, int threads, double* out)
{
    TRY(advice_inertial_time(state, threads, out));
    *out *= RESOLVED;
    return TALUS_OK;
}

talus_status talus_world_step_advice(const talus_world* world, talus_step_advice* out,
                                     talus_error* error)
{
    const physical_state* state = &world->state;
    const int dim = world->def.dim;
    if (!world->method->solves_contacts) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "steps of the method %s are advised by talus_world_soft_times()",
                         world->method->name);
    }
    double low[3], high[3];
    grains_box(&state->grains, world->def.threads, low, high);
    *out = advice_begin(advice_thickness(&state->grains));
    advice_add_acceleration(out, vec_norm(dim, world->def.gravity), "gravity");
    advice_add_grains(out, &state->grains);
    for (int i = 0; i < (int)state->walls.count; i++) {
        if (!state->walls.present[i]) continue;
        advice_add_drive(out, &state->walls, i, &state->walls.record[i].drive, dim, low, high);
        advice_add_push(out, &state->walls, &state->walls.record[i].drive, dim, world->def.gravity);
    }
    advice_end(out);
    return TALUS_OK;
}
