/// Inside of the soft method: its workspace, and the parts that its files do.
#ifndef TALUS_SOFT_INTERNAL_H
#define TALUS_SOFT_INTERNAL_H

#include "soft/general_contacts.h"
#include "soft/integrator.h"
#include "soft/law.h"
#include "soft/soft_particles.h"

struct soft_particles {
    int dim;
    const integrator* integrator;
    const soft_kernels* kernels;
    bool geometric;
    uint64_t revision; ///< of the world that the list and the laws belong to
    bool known;        ///< there is such a world
    soft_laws laws;
    soft_order order;
    soft_bodies bodies;
    soft_pairs pairs;
    general_contacts general;
    grid* grid;
    pair_list near, balls, others; ///< all pairs in reach; of balls; those with a polygon
    double* reach;                 ///< [grains]
    double skin;                   ///< room of a pair in the list
    double skin_part;              ///< the same in mean diameters
    int64_t served;                ///< evaluations since the list was made
    bool listed;                   ///< there is a list
    bool remembered;               ///< the history is in pairs.memories, not in the list
    bool has_solids;
    double
        wall_travel; ///< most that a wall can have come nearer to grains since they were looked at
    double* wall_reach; ///< [walls] distance of the farthest grain then
    int64_t row_capacity;
    double* acceleration; ///< [grains][dim] by row
    double* angular;      ///< [grains][1 or 3]
    double* turn;         ///< 3D: [grains][3] turn in the step
    int64_t wall_capacity;
    int mobile_count;
    int* mobile;        ///< [walls] mobile walls
    double* wall_state; ///< [6][3 walls] x, v and derivatives of the mobile walls
    double* wall_acceleration;
    double elastic; ///< energy of all springs when the contacts were published
};

// ---- soft_forces.c -----------------------------------------------------------------------------

/// Make laws, order and history anew if somebody has changed the world.
talus_status soft_prepare(soft_particles* s, const step_order* order, talus_error* error);
/// All forces at the present positions and velocities, `since` the last evaluation: sums of the
/// grains (by place) and forces on the walls, with those of the grains glued to them.
talus_status soft_evaluate(soft_particles* s, const step_order* order, double since,
                           talus_error* error);
/// What the contacts with walls and polygons work on.
general_task soft_general_task(const soft_particles* s, const step_order* order, double since);
/// The task of the kernels of balls.
ball_task soft_ball_task(soft_particles* s, const step_order* order, double since);

/// Powers and losses at an evaluation.
typedef struct soft_flow {
    double lost;  ///< energy lost since the evaluation before, but for dashpots and drag, J
    double out;   ///< power of dashpots and drag, W
    double input; ///< power of gravity, external forces and walls, W
} soft_flow;

/// Accelerations of all grains from the sums, and what flows. Returns the row of the first grain
/// whose acceleration is not finite, -1 if none.
int64_t soft_accelerate(soft_particles* s, const step_order* order, double since, soft_flow* flow);

// ---- soft_publish.c ----------------------------------------------------------------------------

/// Take the history from the contacts of the world.
talus_status soft_import(soft_particles* s, const step_order* order);
/// Energy of all springs.
talus_status soft_elastic(soft_particles* s, const step_order* order, double* out);

// ---- soft_start.c ------------------------------------------------------------------------------

/// Derivatives at the beginning of a run with steps of order->h, and the energies then.
talus_status soft_begin(soft_particles* s, const step_order* order, talus_error* error);

// ---- soft_particles.c --------------------------------------------------------------------------

/// Coordinates of the grains' centres and turns.
coordinates soft_centres(const soft_particles* s, const grains* g);
coordinates soft_turns(const soft_particles* s, const grains* g);
/// Read the mobile walls into wall_state, and write them back.
coordinates soft_walls_read(soft_particles* s, const walls* w);
void soft_walls_write(const soft_particles* s, walls* w);

#endif
