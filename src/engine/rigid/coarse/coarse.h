/// The large-scale part of the error of a jammed packing, removed at once: a step that coloured
/// sweeps take from time to time (accelerate.c, coarse.c).
#ifndef TALUS_RIGID_COARSE_COARSE_H
#define TALUS_RIGID_COARSE_COARSE_H

#include "rigid/problem.h"

#include <talus/solver.h>

/// Arrays of numbers.
typedef enum coarse_array {
    COARSE_PLACE,    ///< [rows][dim + 1] place in coarse cells, radius in mean diameters
    COARSE_CORNERS,  ///< [cells][2^dim][dim] what the bodies of a cell give to its corners
    COARSE_MODULI,   ///< [cells][moduli] sums over the contacts of a cell
    COARSE_STRAIN,   ///< [parts][strains] of the displacement, or the stress of the contacts
    COARSE_STENCIL,  ///< [nodes][3^dim][dim][dim] stiffness against the neighbours
    COARSE_COUPLING, ///< [walls][nodes][dim][dim] stiffness between mobile walls and nodes
    COARSE_OWN,      ///< [walls][dim][dim] stiffness of mobile walls
    COARSE_MASS,     ///< [unknowns] and all that follow
    COARSE_SCALE,    ///< inverse of the diagonal
    COARSE_FORCE,
    COARSE_MOVE, ///< the solution
    COARSE_REST,
    COARSE_DIRECTION,
    COARSE_PRODUCT,
    COARSE_ARRAYS
} coarse_array;

/// Memory of the coarse grid; nothing of it outlives a solve.
typedef struct coarse_grid {
    int dim, threads;
    int cells[3], nodes[3];
    bool wraps[3];   ///< contacts go from one end of this axis to the other
    double scale[3]; ///< coarse cells in a mean diameter
    int64_t node_count, cell_count, part_count, wall_count, unknowns;
    double* values[COARSE_ARRAYS];
    int64_t capacity[COARSE_ARRAYS];
    int32_t* neighbour; ///< [nodes][3^dim] node, -1: none
    int32_t* cell_of;   ///< [rows] cell that a body lies in, -1: it does not move with the grid
    int32_t* part_of;   ///< [contacts] part that a contact stretches, or COARSE_TIE, COARSE_APART
    float* length;      ///< [contacts] between the middles of the bodies, in mean diameters
    int64_t neighbour_capacity, row_capacity, contact_capacity;
    bool whole;          ///< no impulses say yet which contacts bear load: all that touch do
    double worthwhile;   ///< part of the free velocities that is worth a first step
    double noticed;      ///< and that is too small to matter after one
    double kinetic2;     ///< twice the kinetic energy on this scale that the last step found
    double elastic2;     ///< and twice the energy of its displacement
    int64_t next, steps; ///< sweep after which a step is due, steps taken
    int64_t last;        ///< sweep after which there is none
} coarse_grid;

/// Longest extent, in mean diameters, of packings in which a step costs less than the sweeps that
/// it saves, at least.
static inline double coarse_least_size(int dim)
{
    return dim == 2 ? 30.0 : 18.0;
}

void coarse_free(coarse_grid* c);
/// See before the first sweep of at most `budget` whether a problem may be a packing that bears
/// load: there will be steps then, until errors are within the tolerance.
void coarse_begin(coarse_grid* c, const problem* p, double tolerance, int64_t budget);
/// Is a step due before the sweep that follows so many?
bool coarse_due(const coarse_grid* c, int64_t sweeps);
/// Change the impulses of the problem, whose velocities agree with them. If nothing `changed`, no
/// step will be due any more.
talus_status coarse_step(coarse_grid* c, problem* p, int threads, bool* changed);

#endif
