/// Velocity fields v(x) = V + L (x - X) by least squares over the free grains, weighted by mass:
///     X, V mean position and velocity,   L = B C^-1,   B = sum m dv dx^T,   C = sum m dx dx^T
/// Along a periodic axis a field that goes on across the edge of the cell has no gradient; along an
/// axis without extent none can be known. There L is zero.
///
/// Rheology of a shear flow (GDR MiDi, Eur. Phys. J. E 14, 341, 2004): I = rate d sqrt(rho/p), and
/// mu = tau/p. With the strain rate D' (symmetric part of L less its trace) the rate is
/// sqrt(2 D':D') and tau = -s:D'/rate is what the stress resists with; for v_x = rate z that is
/// minus the mean of s_xz and s_zx.
#include "measure/flow.h"

#include "base/definition.h"
#include "base/error.h"
#include "base/symmetric.h"
#include "base/vec.h"
#include "measure/contact_filter.h"
#include "measure/tensor.h"

#include <math.h>

/// Extents whose square is this much smaller than the largest count as none.
static const double NO_EXTENT = 1e-18;

void flow_deviation(const talus_velocity_field* flow, int dim, const double* x, const double* v,
                    double* off)
{
    double arm[3];
    vec_sub(dim, arm, x, flow->origin);
    for (int k = 0; k < dim; k++) {
        off[k] = v[k] - flow->velocity[k] - vec_dot(dim, flow->gradient + 3 * k, arm);
    }
}

void flow_fit(const talus_world* world, const measure_box* region, bool linear,
              talus_velocity_field* out)
{
    const grains* g = &world->state.grains;
    const int dim = g->dim;
    double mass = 0.0;
    *out = (talus_velocity_field){{0}, {0}, {0}};
    for (int64_t i = 0; i < g->count; i++) {
        if (!measure_box_holds_grain(region, g, i)) continue;
        mass += g->mass[i];
        vec_add_scaled(dim, out->origin, g->mass[i], g->position + i * dim);
        vec_add_scaled(dim, out->velocity, g->mass[i], g->velocity + i * dim);
    }
    for (int k = 0; k < dim && mass > 0.0; k++) {
        out->origin[k] /= mass;
        out->velocity[k] /= mass;
    }
    if (!linear) return;
    double extent[9] = {0}, product[9] = {0};
    for (int64_t i = 0; i < g->count; i++) {
        if (!measure_box_holds_grain(region, g, i)) continue;
        double dx[3], dv[3];
        vec_sub(dim, dx, g->position + i * dim, out->origin);
        vec_sub(dim, dv, g->velocity + i * dim, out->velocity);
        for (int k = 0; k < dim; k++) dx[k] = world->state.cell.periodic[k] ? 0.0 : dx[k];
        for (int k = 0; k < dim; k++) {
            vec_add_scaled(dim, extent + k * dim, g->mass[i] * dx[k], dx);
            vec_add_scaled(dim, product + k * dim, g->mass[i] * dv[k], dx);
        }
    }
    for (int k = 0; k < dim; k++) {
        symmetric_solve(dim, extent, product + k * dim, NO_EXTENT, out->gradient + 3 * k);
    }
}

void flow_choose(const talus_world* world, const talus_measure_def* def, const measure_box* region,
                 talus_velocity_field* out)
{
    if (def->flow == TALUS_FLOW_GIVEN)
        *out = def->given;
    else
        flow_fit(world, region, def->flow == TALUS_FLOW_LINEAR, out);
}

talus_status talus_measure_velocity_field(const talus_world* world, const talus_region* region,
                                          talus_velocity_field* out, talus_error* error)
{
    measure_box box;
    *out = (talus_velocity_field){{0}, {0}, {0}};
    TRY(measure_box_set(world, region, &box, error));
    flow_fit(world, &box, true, out);
    return TALUS_OK;
}

// ---- rheology ----------------------------------------------------------------------------------

talus_status talus_measure_rheology(const talus_world* world, const talus_measure_def* given,
                                    talus_rheology* out, talus_error* error)
{
    talus_measure_def own = talus_measure_default();
    const talus_measure_def* def = &own;
    const grains* g = &world->state.grains;
    const int dim = g->dim;
    talus_stress stress;
    measure_box region;
    double strain[9];
    *out = (talus_rheology){0};
    TRY(DEFINITION_TAKE(measure, &own, given, error));
    talus_measure_def sheared = own;
    if (def->flow == TALUS_FLOW_MEAN) sheared.flow = TALUS_FLOW_LINEAR;
    TRY(talus_measure_stress(world, &sheared, &stress, error));
    TRY(measure_box_set(world, &def->region, &region, error));
    flow_choose(world, &sheared, &region, &out->flow);
    double diameters = 0.0, volume = 0.0, mass = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (!measure_box_holds_grain(&region, g, i)) continue;
        diameters += grain_diameter(g, i);
        volume += grain_volume(g, i);
        mass += g->mass[i];
        count++;
    }
    out->diameter = count > 0 ? diameters / (double)count : NAN;
    out->density = count > 0 ? mass / volume : NAN;
    tensor_deviator(dim, out->flow.gradient, strain);
    out->rate = sqrt(2.0 * tensor_product(dim, strain, strain));
    out->pressure = stress.pressure;
    out->shear = out->rate > 0.0 ? -tensor_product(dim, stress.total, strain) / out->rate : NAN;
    const bool pressed = stress.pressure > 0.0;
    out->friction = pressed ? out->shear / stress.pressure : NAN;
    out->inertial =
        pressed ? out->rate * out->diameter * sqrt(out->density / stress.pressure) : NAN;
    return TALUS_OK;
}
