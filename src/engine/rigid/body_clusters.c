/// Clusters by union and find over the rows of a problem (base/forest.h).
#include "rigid/body_clusters.h"

#include "base/array.h"
#include "base/forest.h"
#include "base/parallel.h"

#include <stdlib.h>

void body_clusters_free(body_clusters* clusters)
{
    free(clusters->of_row);
    *clusters = (body_clusters){0};
}

/// Rows are trees of their own at first; those that do not move stay out.
enum { OUTSIDE = -1 };

talus_status body_clusters_find(body_clusters* clusters, const problem* p, int threads)
{
    const int team = parallel_threads(threads, p->count);
    clusters->count = 0;
    if (!arrays_renew(&clusters->capacity, p->rows, ARRAY(clusters->of_row))) {
        return TALUS_ERR_MEMORY;
    }
    int32_t* parent = clusters->of_row;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (int64_t i = 0; i < p->rows; i++) {
        parent[i] = problem_row_moves(p, i) ? (int32_t)i : OUTSIDE;
    }
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1];
        if (problem_row_moves(p, a) && problem_row_moves(p, b)) forest_join(parent, a, b);
    }
    // A root is the lowest row of its tree, so it has its number before the others ask for it.
    // Which rows have contacts is known only now: a number is given to those, the roots of the
    // others stay outside.
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (int64_t i = 0; i < p->rows; i++) {
        if (forest_parent(parent, (int32_t)i) == OUTSIDE) continue;
        forest_set_parent(parent, (int32_t)i, forest_root(parent, (int32_t)i));
    }
    // A row that is a root may be marked by one thread while another asks for it: either answer
    // will do.
    const int32_t touched = INT32_MIN;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (int64_t c = 0; c < p->count; c++) {
        for (int side = 0; side < 2; side++) {
            const int32_t root = forest_parent(parent, p->pair[2 * c + side]);
            if (root != OUTSIDE && root != touched) forest_set_parent(parent, root, touched);
        }
    }
    for (int64_t i = 0; i < p->rows; i++) {
        const int32_t root = parent[i];
        if (root == touched) {
            parent[i] = (int32_t)clusters->count++;
        } else if (root != OUTSIDE) {
            parent[i] = root == (int32_t)i ? OUTSIDE : parent[root];
        }
    }
    return TALUS_OK;
}

talus_status body_clusters_contacts(const body_clusters* clusters, const problem* p,
                                    int64_t** first, int64_t** contact)
{
    const int64_t n = clusters->count;
    int64_t* begin = *first = calloc((size_t)n + 2, sizeof *begin);
    int64_t* list = *contact = malloc(sizeof *list * (size_t)(p->count + 1));
    if (!begin || !list) return TALUS_ERR_MEMORY;
    // begin[k + 1] counts up to where the contacts of cluster k go, and ends where they end.
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t k = body_clusters_of_contact(clusters, p, c);
        if (k >= 0) begin[k + 2]++;
    }
    for (int64_t k = 0; k < n; k++) begin[k + 2] += begin[k + 1];
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t k = body_clusters_of_contact(clusters, p, c);
        if (k >= 0) list[begin[k + 1]++] = c;
    }
    return TALUS_OK;
}
