/// Impulses of a flow raised or lowered region by region, so that the load on large scales becomes
/// right at once: what sweeps take from time to time (accelerate.c, rescale.c).
#ifndef TALUS_RIGID_RESCALE_H
#define TALUS_RIGID_RESCALE_H

#include "rigid/problem.h"

/// A lattice of nodes over the grains that bear load, and sums over bodies and nodes; nothing of it
/// outlives a solve.
typedef struct rescaling {
    int dim;
    int nodes[3];   ///< along each axis
    int64_t far[3]; ///< how far apart neighbours along an axis lie in the numbering of the nodes
    int64_t count;  ///< nodes; 0: the lattice is not laid yet
    int64_t band;   ///< nodes whose numbers differ by more have nothing in common
    double scale;   ///< lattice spacings in a mean diameter
    double* place;  ///< [rows][dim] in lattice spacings
    int32_t* node;  ///< [rows][2^dim] nodes around a body, and
    double* weight; ///< [rows][2^dim] their weights there
    double* times;  ///< [rows] what impulses of contacts at a body are multiplied with
    double* load;   ///< [rows][2][dim + dim * dim] of all impulses and of normal ones (rescale.c)
    double* work;   ///< [rows] sum of p_n (u_n + bias) over the contacts at a body b
    double* wall;   ///< [mobile walls][nodes][2][dim] impulses on mobile walls by node, likewise
    double* matrix; ///< [parts][count][count] sums of parts of the bodies; the first: of all
    double* factor; ///< [parts][count] likewise the right-hand side, then what is added to 1
    int64_t row_capacity, wall_capacity, matrix_capacity, factor_capacity;
    int64_t next, last; ///< sweep after which impulses are scaled, and after which no more
} rescaling;

void rescaling_free(rescaling* r);
/// See before the first sweep of at most `budget` whether scaling is possible and worth while;
/// `size` is the extent in diameters of the largest cluster that carries force, 0: unknown.
void rescaling_begin(rescaling* r, const problem* p, double size, int64_t budget);
/// Is it time to scale impulses before the sweep that follows so many?
bool rescaling_due(const rescaling* r, int64_t sweeps);
/// Put it off to the next time.
void rescaling_wait(rescaling* r);
/// Scale the impulses of the problem, whose velocities agree with them.
talus_status rescale(rescaling* r, problem* p, int threads);

#endif
