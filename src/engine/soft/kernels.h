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
    soft_recorded* record; ///< [batches][8]: only write these, as of the last evaluation; or NULL
} ball_task;

typedef struct soft_kernels {
    const char* name;
    /// Work out the answers of eight contacts and carry their history on; h is the time since the
    /// last evaluation.
    void (*meet)(const soft_kind* kind, const double* constants, double h, soft_meetings* m);
    /// The same for all pairs of balls of a block, and add up their forces.
    void (*balls)(const ball_task* task, int64_t block);
} soft_kernels;

/// Kernels of a width, NULL if the machine does not have it.
const soft_kernels* soft_kernels_for(talus_vector_width width);

#endif
