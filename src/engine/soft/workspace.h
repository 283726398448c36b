/// The workspace of the soft method, and the parts that a step is made of (soft_particles.c).
#ifndef TALUS_SOFT_WORKSPACE_H
#define TALUS_SOFT_WORKSPACE_H

#include "soft/general_contacts.h"
#include "soft/integrator.h"
#include "soft/law.h"
#include "soft/soft_particles.h"

struct soft_particles {
    int dim;
    // A world as somebody left it.
    bool known;        ///< there is one
    uint64_t revision; ///< of it
    const integrator* integrator;
    const soft_kernels* kernels;
    soft_laws laws;
    bool geometric;  ///< elongations follow the motion, not the velocities
    bool has_solids; ///< there are polygons
    // Who is near whom.
    soft_places places;
    soft_bodies bodies;
    soft_pairs pairs;
    general_contacts general;
    grid* grid;
    pair_list near, balls, others; ///< all pairs in reach; of balls; those with a polygon
    bool listed;                   ///< there is a list; if not, the history is in pairs.memories
    double skin;                   ///< room of a pair in the list
    double skin_part;              ///< the same in mean diameters
    int64_t served;                ///< evaluations since the list was made
    double wall_travel;            ///< most that a wall can have come nearer to grains since then
    // Of all grains, by row.
    int64_t row_capacity;
    double* reach;        ///< [grains]
    double* acceleration; ///< [grains][dim]
    double* angular;      ///< [grains][1 or 3]
    double* turn;         ///< 3D: [grains][3] turn in the step
    // Of all walls.
    int64_t wall_capacity;
    double* wall_reach; ///< [walls] distance of the farthest grain when they were looked at
    int mobile_count;
    int* mobile;               ///< [walls] mobile walls
    double* wall_state;        ///< [6][3 mobile_count] their x, v and derivatives
    double* wall_acceleration; ///< [mobile_count][3]
    double elastic;            ///< energy of all springs when the contacts were published
};

/// Are two grains left to the kernels of balls?
static inline bool soft_are_balls(const soft_particles* s, const grains* g, int64_t a, int64_t b)
{
    return g->solid[a] < 0 && g->solid[b] < 0 && s->laws.kind.law != TALUS_SOFT_AREA;
}

// ---- neighbours.c ------------------------------------------------------------------------------

/// Make laws, places and history anew if somebody has changed the world; and room for a step.
talus_status soft_prepare(soft_particles* s, const step_order* order, talus_error* error);
/// Rows of the bodies as they stand; a list that grains have outrun is made anew.
talus_status soft_neighbours(soft_particles* s, const step_order* order, talus_error* error);

// ---- forces.c ----------------------------------------------------------------------------------

/// All forces at the present positions and velocities, `since` the last evaluation: sums of the
/// grains (by place) and forces on the walls, with those of the grains glued to them.
talus_status soft_evaluate(soft_particles* s, const step_order* order, double since,
                           talus_error* error);
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

// ---- publish.c ---------------------------------------------------------------------------------

/// Take the history from the contacts of the world.
talus_status soft_import(soft_particles* s, const step_order* order);
/// Energy of all springs.
talus_status soft_elastic(soft_particles* s, const step_order* order, double* out);

// ---- start.c -----------------------------------------------------------------------------------

/// Derivatives at the start of a run with steps of order->h, and the energies then.
talus_status soft_start(soft_particles* s, const step_order* order, talus_error* error);

// ---- soft_particles.c --------------------------------------------------------------------------

/// Coordinates of the grains' centres and turns.
coordinates soft_centres(const soft_particles* s, const grains* g);
coordinates soft_turns(const soft_particles* s, const grains* g);
/// Read the mobile walls into wall_state, and write them back.
coordinates soft_walls_read(soft_particles* s, const walls* w);
void soft_walls_write(const soft_particles* s, walls* w);

#endif
