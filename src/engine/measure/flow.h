/// The velocity field that grains fluctuate about.
#ifndef TALUS_MEASURE_FLOW_H
#define TALUS_MEASURE_FLOW_H

#include "measure/region.h"

/// The field that a set of options asks for.
void flow_choose(const talus_world* world, const talus_measure_def* def, const measure_box* region,
                 talus_velocity_field* out);
/// Fit the mean velocity of the free grains in a region, or a linear field.
void flow_fit(const talus_world* world, const measure_box* region, bool linear,
              talus_velocity_field* out);
/// Velocity v at x less that of the field, into off [dim].
void flow_deviation(const talus_velocity_field* flow, int dim, const double* x, const double* v,
                    double* off);

#endif
