/// Clusters of a contact problem: bodies that listed contacts join, whether these bear load or not.
/// What happens in one cluster does not depend on any other: each is a problem of its own. Walls
/// and grains that do not move join nothing.
#ifndef TALUS_RIGID_BODY_CLUSTERS_H
#define TALUS_RIGID_BODY_CLUSTERS_H

#include "rigid/problem.h"

typedef struct body_clusters {
    int64_t count;
    int32_t* of_row; ///< [rows] number of the cluster, in the order of their lowest rows; -1: the
                     ///< row does not move or has no contact
    int64_t capacity;
} body_clusters;

void body_clusters_free(body_clusters* clusters);
talus_status body_clusters_find(body_clusters* clusters, const problem* p, int threads);

/// The contacts of each cluster, ascending: those of cluster k are contact[first[k]] to
/// contact[first[k + 1] - 1]. Both arrays are the caller's to free, after a failure too.
talus_status body_clusters_contacts(const body_clusters* clusters, const problem* p,
                                    int64_t** first, int64_t** contact);

/// The cluster of a contact; -1 if neither of its bodies moves.
static inline int32_t body_clusters_of_contact(const body_clusters* clusters, const problem* p,
                                               int64_t contact)
{
    const int32_t of_b = clusters->of_row[p->pair[2 * contact + 1]];
    return of_b >= 0 ? of_b : clusters->of_row[p->pair[2 * contact]];
}

#endif
