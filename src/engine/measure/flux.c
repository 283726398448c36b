/// Mass flow through a plane: at one moment by the grains that it cuts, and between two moments by
/// those that have crossed it.
///
/// A rigid grain of density m/V that the plane cuts in the area A, with its centre of mass at c
/// from the grain's centre, carries (m/V) A (v + w x c).n through it. Integrated over the time in
/// which it passes, that is its mass.
#include "base/error.h"
#include "base/vec.h"
#include "measure/domain.h"
#include "measure/region.h"

#include <stdlib.h>
#include <string.h>

/// How far a normal may be off a periodic axis.
static const double ALONG = 1e-9;

talus_gate talus_gate_default(int dim)
{
    talus_gate gate = {.region = talus_region_default()};
    gate.normal[dim - 1] = -1.0;
    return gate;
}

/// A gate with its normal of length 1.
typedef struct gate_plane {
    int dim;
    double point[3], normal[3];
    double period; ///< distance of its images along the normal; 0: it has none
    measure_box region;
} gate_plane;

static talus_status gate_set(int dim, const cell* periodic, const talus_gate* gate, gate_plane* out,
                             talus_error* error)
{
    const double length = vec_norm(dim, gate->normal);
    *out = (gate_plane){.dim = dim};
    if (!vec_finite(dim, gate->point) || !isfinite(length) || !(length > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "gate: its point must be finite and its normal longer than 0");
    }
    vec_copy(dim, out->point, gate->point);
    for (int k = 0; k < dim; k++) out->normal[k] = gate->normal[k] / length;
    for (int k = 0; k < dim; k++) {
        const double along = fabs(out->normal[k]);
        if (!periodic->periodic[k] || along < ALONG) continue;
        if (along < 1.0 - ALONG) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "gate: its normal must be along the periodic axis %c or at right "
                             "angles to it",
                             axis_letter(k));
        }
        out->period = periodic->length[k];
    }
    return measure_box_in_cell(dim, periodic, &gate->region, &out->region, error);
}

/// Signed distance of a point from the plane, along the normal.
static double height_over(const gate_plane* p, const double* x)
{
    double arm[3];
    vec_sub(p->dim, arm, x, p->point);
    return vec_dot(p->dim, p->normal, arm);
}

// ---- at one moment -----------------------------------------------------------------------------

/// Velocity along the normal of the point of a grain at `arm` from its centre.
static double speed_at(const gate_plane* p, const grains* g, int64_t row, const double arm[3])
{
    double spin[3] = {0}, turn[3];
    if (p->dim == 3)
        vec_copy(3, spin, g->spin + 3 * row);
    else
        spin[2] = g->spin[row];
    vec_cross(turn, spin, arm);
    return vec_dot(p->dim, p->normal, g->velocity + row * p->dim) +
           vec_dot(p->dim, p->normal, turn);
}

/// Area of the cut, and the volume that passes it a second.
typedef struct grain_cut {
    double area, rate;
} grain_cut;

static talus_status cut_solid(const gate_plane* p, const grains* g, int64_t row, double height,
                              clip_memory* memory, grain_cut* out)
{
    static const double at_centre[3] = {0};
    const solid* s = grain_solid(g, row);
    for (int part = 0; part < s->part_count; part++) {
        TRY(grain_convex_part(g, row, part, at_centre, memory));
        TRY(convex_cell_cut(&memory->piece, p->normal, -height, 1));
        for (int f = 0; f < convex_cell_faces(&memory->piece); f++) {
            if (memory->piece.now.tag[f] != 1) continue;
            double centre[3];
            const double area = convex_cell_face(&memory->piece, f, centre);
            out->area += area;
            out->rate += area * speed_at(p, g, row, centre);
        }
    }
    return TALUS_OK;
}

talus_status talus_measure_flux(const talus_world* world, const talus_gate* gate, talus_flux* out,
                                talus_error* error)
{
    const grains* g = &world->state.grains;
    const int dim = g->dim;
    gate_plane p;
    clip_memory memory = {0};
    *out = (talus_flux){0};
    TRY(gate_set(dim, &world->state.cell, gate, &p, error));
    talus_status status = TALUS_OK;
    for (int64_t i = 0; i < g->count && status == TALUS_OK; i++) {
        if (!measure_box_holds_grain(&p.region, g, i)) continue;
        double height = height_over(&p, g->position + i * dim);
        if (p.period > 0.0) height -= p.period * rint(height / p.period);
        const double square = g->radius[i] * g->radius[i] - height * height;
        if (square <= 0.0) continue;
        grain_cut cut = {0};
        if (g->solid[i] >= 0) {
            status = cut_solid(&p, g, i, height, &memory, &cut);
        } else {
            cut.area = dim == 2 ? 2.0 * sqrt(square) : M_PI * square;
            cut.rate = cut.area * vec_dot(dim, p.normal, g->velocity + i * dim);
        }
        const double volume = grain_volume(g, i);
        out->solid_area += cut.area;
        out->volume_rate += cut.rate;
        out->number_rate += cut.rate / volume;
        out->mass_rate += g->mass[i] * cut.rate / volume;
        out->grains += cut.area > 0.0;
    }
    clip_memory_free(&memory);
    return status < 0 ? error_memory(error, "measuring a flow") : TALUS_OK;
}

// ---- between two moments -----------------------------------------------------------------------

void talus_places_free(talus_places* places)
{
    free(places->id);
    free(places->mass);
    free(places->position);
    *places = (talus_places){0};
}

talus_status talus_measure_places(const talus_world* world, talus_places* out, talus_error* error)
{
    const grains* g = &world->state.grains;
    const int dim = g->dim;
    *out = (talus_places){.dim = dim, .time = world->state.time};
    out->id = malloc(sizeof *out->id * ((size_t)g->count + 1));
    out->mass = malloc(sizeof *out->mass * ((size_t)g->count + 1));
    out->position = malloc(sizeof *out->position * ((size_t)(g->count * dim) + 1));
    if (!out->id || !out->mass || !out->position) {
        talus_places_free(out);
        return error_memory(error, "keeping the places of grains");
    }
    for (int k = 0; k < dim; k++) {
        out->periodic[k] = world->state.cell.periodic[k];
        out->cell_low[k] = world->state.cell.low[k];
        out->cell_length[k] = world->state.cell.periodic[k] ? world->state.cell.length[k] : 0.0;
    }
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        const int64_t n = out->count++;
        out->id[n] = g->id[i];
        out->mass[n] = g->mass[i];
        for (int k = 0; k < dim; k++) {
            out->position[n * dim + k] =
                g->position[i * dim + k] + g->image[i * dim + k] * out->cell_length[k];
        }
    }
    return TALUS_OK;
}

/// Images of a plane that a grain can come through between two moments.
static const double MOST_IMAGES = 1e6;

/// The way of one grain from x to y: every time it comes through the plane or an image of it. False
/// if that is too often to be true.
static bool follow(const gate_plane* p, const double* x, const double* y, double mass,
                   talus_crossings* out)
{
    const double from = height_over(p, x), to = height_over(p, y);
    // Images of the plane are numbered; one without images is number 0.
    const double period = p->period > 0.0 ? p->period : 1.0;
    double first = floor(from / period), last = floor(to / period);
    if (p->period == 0.0) first = from < 0.0 ? -1.0 : 0.0, last = to < 0.0 ? -1.0 : 0.0;
    const bool forward = last > first;
    // Numbers beyond 2^53 do not count on.
    if (!(fabs(last - first) <= MOST_IMAGES && fabs(first) < 0x1p52)) return false;
    for (double n = fmin(first, last) + 1.0; n <= fmax(first, last); n += 1.0) {
        const double share = (n * period - from) / (to - from);
        double place[3];
        for (int k = 0; k < p->dim; k++) place[k] = x[k] + share * (y[k] - x[k]);
        // Over a periodic cell the region goes on with the plane.
        for (int k = 0; k < p->dim && p->period > 0.0; k++) {
            place[k] -= n * period * p->normal[k];
        }
        if (!measure_box_holds(&p->region, place)) continue;
        out->forward += forward;
        out->backward += !forward;
        out->forward_mass += forward ? mass : 0.0;
        out->backward_mass += forward ? 0.0 : mass;
    }
    return true;
}

talus_status talus_measure_crossings(const talus_places* before, const talus_places* after,
                                     const talus_gate* gate, talus_crossings* out,
                                     talus_error* error)
{
    gate_plane p;
    cell periodic = {.periodic = {false}};
    *out = (talus_crossings){0};
    for (int k = 0; k < before->dim; k++) {
        periodic.periodic[k] = before->periodic[k];
        periodic.low[k] = before->cell_low[k];
        periodic.length[k] = before->cell_length[k];
        if (before->dim == after->dim && before->periodic[k] == after->periodic[k]) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "crossings: the places before and after are not of the same world");
    }
    TRY(gate_set(before->dim, &periodic, gate, &p, error));
    const int dim = p.dim;
    int64_t a = 0, b = 0;
    while (a < before->count || b < after->count) { // both in the order of the grains' ids
        const bool gone = b == after->count || (a < before->count && before->id[a] < after->id[b]);
        const bool fresh = a == before->count || (b < after->count && after->id[b] < before->id[a]);
        const double* x = before->position + a * dim;
        if (gone) {
            const bool ahead = p.period > 0.0 || height_over(&p, x) < 0.0;
            out->lost_mass += ahead ? before->mass[a] : 0.0;
            out->lost++;
        } else if (fresh) {
            out->appeared++;
        } else if (!follow(&p, x, after->position + b * dim, after->mass[b], out)) {
            return error_set(error, TALUS_ERR_NUMERIC,
                             "crossings: grain %lld is not at a finite place, or has come through "
                             "more than %g images of the gate",
                             (long long)before->id[a], MOST_IMAGES);
        }
        a += !fresh;
        b += !gone;
    }
    const double between = after->time - before->time;
    if (between != 0.0) {
        out->mass_rate = (out->forward_mass - out->backward_mass) / between;
        out->number_rate = (double)(out->forward - out->backward) / between;
    }
    return TALUS_OK;
}
