/// Boxes, cylinders and balls (with or without a hole) that grains fill with their whole body.
///
/// A ball of radius r fits where its centre lies in the region shrunk by r: [low + r, high - r],
/// distance from centre or axis in [inner + r, outer - r]. Spots are drawn directly from that set
/// (distance by inverting d^n, n = 1, 2, 3), so no draw is wasted.
#include "scene/generate_region.h"

#include <math.h>

#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"

// ---- checks and volumes ------------------------------------------------------------------------

static void cylinder_axis(const region_def* region, double axis[3], double* length)
{
    vec_sub(3, axis, region->high, region->low);
    *length = vec_norm(3, axis);
    for (int k = 0; k < 3; k++) axis[k] /= *length;
}

talus_status region_check(const region_def* region, int dim, talus_error* error)
{
    for (int k = 0; region->kind == REGION_BOX && k < dim; k++) {
        const double low = region->low[k], high = region->high[k];
        if (isfinite(low) && isfinite(high) && low < high) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "region: low must be below high along every axis, but %c has %g and %g",
                         axis_letter(k), low, high);
    }
    if (region->kind == REGION_BOX) return TALUS_OK;
    if (!isfinite(region->radius) || region->radius <= 0.0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "region: radius must be a number > 0, not %g",
                         region->radius);
    }
    if (!(region->inner_radius >= 0.0 && region->inner_radius < region->radius)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "region: inner_radius (%g) must be at least 0 and below radius (%g)",
                         region->inner_radius, region->radius);
    }
    if (region->kind == REGION_BALL) return TALUS_OK;
    if (dim != 3) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "region: a cylinder needs a 3D scene; a disk is a ball in 2D");
    }
    double axis[3], length;
    cylinder_axis(region, axis, &length);
    if (isfinite(length) && length > 0.0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "region: the two ends of the cylinder's axis must be different points");
}

double generate_ball_volume(int dim, double radius)
{
    return dim == 2 ? M_PI * radius * radius : 4.0 / 3.0 * M_PI * radius * radius * radius;
}

double region_volume(const region_def* region, int dim)
{
    if (region->kind == REGION_BALL) {
        return generate_ball_volume(dim, region->radius) -
               generate_ball_volume(dim, region->inner_radius);
    }
    if (region->kind == REGION_CYLINDER) {
        double axis[3], length;
        cylinder_axis(region, axis, &length);
        return length * (generate_ball_volume(2, region->radius) -
                         generate_ball_volume(2, region->inner_radius));
    }
    double volume = 1.0;
    for (int k = 0; k < dim; k++) volume *= region->high[k] - region->low[k];
    return volume;
}

// ---- spots -------------------------------------------------------------------------------------

bool region_endless(const region_def* region, const cell* c, int dim, int k)
{
    if (!c->periodic[k] || k >= dim) return false;
    // A cylinder is endless when its axis runs along k.
    for (int j = 0; region->kind == REGION_CYLINDER && j < dim; j++) {
        if (j != k && region->high[j] != region->low[j]) return false;
    }
    double extent = fabs(region->high[k] - region->low[k]);
    return region->kind != REGION_BALL && extent >= c->length[k] * (1.0 - 1e-12);
}

/// Room for the distance from a centre or axis.
static bool round_range(const region_def* region, double radius, double* least, double* most)
{
    *least = region->inner_radius > 0.0 ? region->inner_radius + radius : 0.0;
    *most = region->radius - radius;
    return *least <= *most;
}

/// Distance in [least, most] with density ~ d^(n - 1).
static double distance_at(int n, double least, double most, double share)
{
    double a = portable_pow(least, n), b = portable_pow(most, n);
    double d = portable_pow(a + (b - a) * share, 1.0 / n);
    return fmin(fmax(d, least), most);
}

/// Unit vector of a plane (n = 2) or of space (n = 3), uniform over directions.
static void direction_at(int n, const double* share, double out[3])
{
    double z = n == 3 ? 2.0 * share[0] - 1.0 : 0.0;
    double angle = 2.0 * M_PI * share[n - 2];
    double s = sqrt(1.0 - z * z);
    out[0] = s * portable_cos(angle), out[1] = s * portable_sin(angle), out[2] = z;
}

/// Two unit vectors normal to the axis and to each other.
static void plane_basis(const double axis[3], double u[3], double v[3])
{
    int least = 0;
    for (int k = 1; k < 3; k++) {
        if (fabs(axis[k]) < fabs(axis[least])) least = k;
    }
    double helper[3] = {0};
    helper[least] = 1.0;
    vec_cross(u, axis, helper);
    double norm = vec_norm(3, u);
    for (int k = 0; k < 3; k++) u[k] /= norm;
    vec_cross(v, axis, u);
}

static bool cylinder_endless(const region_def* region, const cell* c)
{
    for (int k = 0; k < 3; k++) {
        if (region_endless(region, c, 3, k)) return true;
    }
    return false;
}

static bool spot_in_cylinder(const region_def* region, const cell* c, double radius,
                             const double share[3], double centre[3])
{
    double axis[3], u[3], v[3], length, least, most, direction[3];
    cylinder_axis(region, axis, &length);
    double margin = cylinder_endless(region, c) ? 0.0 : radius;
    if (length < 2.0 * margin || !round_range(region, radius, &least, &most)) return false;
    plane_basis(axis, u, v);
    double along = margin + (length - 2.0 * margin) * share[0];
    double distance = distance_at(2, least, most, share[1]);
    direction_at(2, share + 2, direction);
    vec_copy(3, centre, region->low);
    vec_add_scaled(3, centre, along, axis);
    vec_add_scaled(3, centre, distance * direction[0], u);
    vec_add_scaled(3, centre, distance * direction[1], v);
    return true;
}

bool region_spot(const region_def* region, const cell* c, int dim, double radius,
                 const double share[3], double centre[3])
{
    centre[2] = 0.0;
    if (region->kind == REGION_CYLINDER) return spot_in_cylinder(region, c, radius, share, centre);
    if (region->kind == REGION_BALL) {
        double least, most, direction[3];
        if (!round_range(region, radius, &least, &most)) return false;
        double distance = distance_at(dim, least, most, share[0]);
        direction_at(dim, share + 1, direction);
        vec_copy(dim, centre, region->centre);
        vec_add_scaled(dim, centre, distance, direction);
        return true;
    }
    for (int k = 0; k < dim; k++) {
        double margin = region_endless(region, c, dim, k) ? 0.0 : radius;
        double low = region->low[k] + margin, high = region->high[k] - margin;
        if (low > high) return false;
        centre[k] = low + (high - low) * share[k];
    }
    return true;
}

bool region_draw(const region_def* region, const cell* c, int dim, double radius, rng* r,
                 double centre[3])
{
    double share[3] = {0};
    for (int k = 0; k < dim; k++) share[k] = rng_uniform(r);
    return region_spot(region, c, dim, radius, share, centre);
}

/// Put the point `foot + offset` at a distance from foot in the allowed range; `aside` is the way
/// to go from the foot itself.
static void pull_round(const region_def* region, int dim, double radius, const double* foot,
                       const double* offset, const double* aside, double* centre)
{
    double least, most;
    round_range(region, radius, &least, &most);
    double distance = vec_norm(dim, offset);
    double wanted = fmin(fmax(distance, least), most);
    vec_copy(dim, centre, foot);
    if (distance > 0.0)
        vec_add_scaled(dim, centre, wanted / distance, offset);
    else
        vec_add_scaled(dim, centre, wanted, aside);
}

static void pull_into_cylinder(const region_def* region, const cell* c, double radius,
                               double centre[3])
{
    double axis[3], u[3], v[3], length, offset[3], foot[3];
    cylinder_axis(region, axis, &length);
    plane_basis(axis, u, v);
    vec_sub(3, offset, centre, region->low);
    double along = vec_dot(3, offset, axis);
    vec_add_scaled(3, offset, -along, axis);
    if (!cylinder_endless(region, c)) along = fmin(fmax(along, radius), length - radius);
    vec_copy(3, foot, region->low);
    vec_add_scaled(3, foot, along, axis);
    pull_round(region, 3, radius, foot, offset, u, centre);
}

void region_pull_in(const region_def* region, const cell* c, int dim, double radius,
                    double centre[3])
{
    if (region->kind == REGION_BALL) {
        double offset[3], aside[3] = {1.0, 0.0, 0.0};
        vec_sub(dim, offset, centre, region->centre);
        pull_round(region, dim, radius, region->centre, offset, aside, centre);
    } else if (region->kind == REGION_CYLINDER) {
        pull_into_cylinder(region, c, radius, centre);
    } else {
        for (int k = 0; k < dim; k++) {
            if (region_endless(region, c, dim, k)) continue;
            centre[k] = fmin(fmax(centre[k], region->low[k] + radius), region->high[k] - radius);
        }
    }
}

bool generate_allowed(const generate_context* context, const double centre[3], double radius)
{
    if (!context->allowed) return true;
    double at[3] = {centre[0], centre[1], context->dim == 3 ? centre[2] : 0.0};
    int32_t image[3] = {0};
    cell_wrap(&context->cell, context->dim, at, image);
    return context->allowed(context->allowed_user, at, radius);
}
