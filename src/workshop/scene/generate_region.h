/// Regions as seen by the sources: uniform spots in them and the way back into them.
#ifndef TALUS_SCENE_GENERATE_REGION_H
#define TALUS_SCENE_GENERATE_REGION_H

#include "base/rng.h"
#include "scene/generate.h"

/// Whether a box spans the periodic cell along axis k, so that it has no ends there.
bool region_endless(const region_def* region, const cell* c, int dim, int k);
/// The centre of a ball, so that the whole ball is in the region: a spot for each point of the unit
/// square or cube, so that equal parts of it are equal parts of the region. Returns false when the
/// ball is too large for the region.
bool region_spot(const region_def* region, const cell* c, int dim, double radius,
                 const double share[3], double centre[3]);
/// Draw one of them at random.
bool region_draw(const region_def* region, const cell* c, int dim, double radius, rng* r,
                 double centre[3]);
/// Move the centre of a ball, for which region_draw() is true, to the nearest point where the
/// whole ball is in the region.
void region_pull_in(const region_def* region, const cell* c, int dim, double radius,
                    double centre[3]);

/// Whether the walls allow a ball here (context->allowed, asked with the wrapped position).
bool generate_allowed(const generate_context* context, const double centre[3], double radius);
/// Volume of a ball (2D: area of a disk).
double generate_ball_volume(int dim, double radius);

#endif
