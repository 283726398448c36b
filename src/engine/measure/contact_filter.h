/// Which contacts a measure counts, and what it takes from each.
///
/// A wall, a fixed or a glued grain is a boundary: it has no centre that counts.
#ifndef TALUS_MEASURE_CONTACT_FILTER_H
#define TALUS_MEASURE_CONTACT_FILTER_H

#include "measure/region.h"

/// The contacts that a set of options asks for.
typedef struct contact_filter {
    const talus_world* world;
    const contacts* list;
    measure_box region;
    double least;    ///< |f| must exceed this
    bool boundaries; ///< contacts with boundaries count
} contact_filter;

/// Check all options and resolve them for a world.
talus_status contact_filter_make(const talus_world* world, const talus_measure_def* def,
                                 contact_filter* out, talus_error* error);
bool contact_counts(const contact_filter* filter, int64_t c);

/// Least force of a contact that counts: `threshold` of the mean over active contacts.
double contact_least_force(const contacts* list, double threshold);

/// Is this row of a contact a grain that moves freely?
static inline bool contact_is_free(const grains* g, int32_t row)
{
    return row >= 0 && g->glued_to[row] == GRAIN_FREE;
}

/// Branch vector l [dim] of a contact of the list, from the centre of a to that of b, by the
/// nearest images; at a boundary it ends at the contact point.
void contact_branch(const talus_world* world, const contacts* list, int64_t c, double* branch);
/// Where the branch vector begins [dim]: at the centre of a or, at a boundary, at the contact
/// point.
void contact_branch_start(const talus_world* world, const contacts* list, int64_t c, double* start);

/// Normal force, and the tangential force [dim] on b.
double contact_split(const contacts* list, int64_t c, double* tangential);

/// Law of the materials that touch.
const talus_pair_def* contact_pair_of(const talus_world* world, int64_t c);

#endif
