/// The one definition of the stress of contacts.
#ifndef TALUS_MEASURE_STRESS_H
#define TALUS_MEASURE_STRESS_H

#include "measure/contact_filter.h"

/// Add f_i l_j / volume of contact c of a list to a tensor; f [dim] is the force on b.
void stress_add(const talus_world* world, const contacts* list, int64_t c, const double* force,
                double volume, double* tensor);

/// Volume of the stress: the caller's, or that of the region, which leaves strays out from here on.
/// Fails if it is zero though there is something in it.
talus_status stress_volume(const talus_world* world, const talus_measure_def* def,
                           measure_box* region, double* volume, talus_error* error);

#endif
