/// Clusters of grains that are joined by contacts which carry force.
#ifndef TALUS_WORLD_CLUSTERS_H
#define TALUS_WORLD_CLUSTERS_H

#include "detect/contacts.h"
#include "state/grains.h"

/// Memory of the search for clusters, kept between steps.
typedef struct clusters {
    int32_t* parent; ///< [grains] union-find forest
    int64_t capacity;
    int64_t* extent; ///< [clusters of two grains and more][2 dim]
    int64_t extent_capacity;
} clusters;

void clusters_free(clusters* c);

/// Longest extent of a cluster along an axis, radii included; 0 without grains.
talus_status clusters_longest(clusters* c, const grains* g, const contacts* list, int threads,
                              double* longest);

#endif
