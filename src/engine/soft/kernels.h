/// The kernels of the soft method, one set for each vector width; all give the same bits.
#ifndef TALUS_SOFT_KERNELS_H
#define TALUS_SOFT_KERNELS_H

#include "soft/law.h"
#include "soft/pairs.h"

/// A pair of balls for the record.
typedef struct soft_recorded {
    double force[3], torque[3], normal[3]; ///< of p on q
    double gap, elastic;
    bool active;
} soft_recorded;

/// One evaluation of the forces between balls.
typedef struct ball_task {
    soft_kind kind;
    bool geometric;          ///< elongation
    bool uniform;            ///< all pairs have the first row of constants
    const double* constants; ///< [rows][SOFT_CONSTANTS], aligned to 32 bytes
    double h;                ///< since the last evaluation
    double length[3];        ///< of the cell; 0 along axes that are not periodic
    const soft_bodies* bodies;
    soft_pairs* pairs;
    int ahead;             ///< the memory is told of the block that is so many later; 0: it is not
    int own;               ///< numbers of its own that each grain reads when its block is done
    soft_recorded* record; ///< [batches of the block][8]: only write these, as of the last
                           ///< evaluation; or NULL
} ball_task;

/// What flows while grains are accelerated.
enum {
    FLOW_LOSS,     ///< energy that contacts have lost since the evaluation before, J
    FLOW_DASHPOTS, ///< power of dashpots, W
    FLOW_DRAG,     ///< power of drag, W
    FLOW_INPUT,    ///< power of gravity, external forces and what holds grains, W
    FLOW_COUNT
};

/// Sums of forces that become accelerations.
typedef struct accelerate_task {
    const grains* g;
    const double* sum;    ///< [places][SOFT_SUM]
    const int32_t* place; ///< [grains]
    double gravity[3], drag;
    double* acceleration; ///< [grains][dim]
    double* angular;      ///< [grains][1 or 3]
} accelerate_task;

/// Spheres that move in their rows (soft/sphere_kernel.h), which no force, torque, lock or glue
/// holds.
typedef struct sphere_task {
    grains* g;
    const soft_bodies* bodies;
    const soft_places* places;
    bool verlet; ///< or leapfrog
    bool listed; ///< there are positions of a list
    double h;
    const cell* periodic;
    double gravity[3], drag;
} sphere_task;

typedef struct soft_kernels {
    const char* name;
    /// Work out the answers of eight contacts and carry their history on; h is the time since the
    /// last evaluation.
    void (*meet)(const soft_kind* kind, const double* constants, double h, soft_meetings* m);
    /// The same for all pairs of balls of a block, and add up their forces.
    void (*balls)(const ball_task* task, int64_t block);
    /// Fill the rows of the grains [first, last) of the bodies, at their places. Returns the
    /// largest distance from the positions of the list.
    double (*fill)(const soft_bodies* b, const grains* g, const soft_places* o,
                   const cell* periodic, int64_t first, int64_t last);
    /// Accelerations of the grains [first, last); flow[FLOW_COUNT] receives what flows.
    void (*accelerate)(const accelerate_task* task, int64_t first, int64_t last, double* flow);
    /// Turn the quaternions of those of the grains [first, last) that are glued to no wall.
    void (*turn)(double* rotation, const double* turn, const int32_t* glued_to, int64_t first,
                 int64_t last);
    /// Predict the spheres at the places [first, last) from the table into their rows. Returns as
    /// `fill`.
    double (*lift)(const sphere_task* task, int64_t first, int64_t last);
    /// Correct them by their sums [last - first][SOFT_SUM] and predict the next step, in their
    /// rows: as `accelerate`, the
    /// integrator, wrapping and `turn` do. Returns as `fill`; flow[FLOW_COUNT] receives what flows.
    double (*carry)(const sphere_task* task, const double* sums, int64_t first, int64_t last,
                    double* flow);
    /// Correct them by their sums, into the table; rows stay as they are.
    void (*land)(const sphere_task* task, const double* sums, int64_t first, int64_t last,
                 double* flow);
} soft_kernels;

/// Kernels of a width, NULL if the machine does not have it.
const soft_kernels* soft_kernels_for(talus_vector_width width);

#endif
