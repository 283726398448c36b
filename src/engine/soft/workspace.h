/// The workspace of the soft method, and the parts that a step is made of (soft_particles.c).
#ifndef TALUS_SOFT_WORKSPACE_H
#define TALUS_SOFT_WORKSPACE_H

#include "base/crew.h"
#include "soft/general_contacts.h"
#include "soft/integrator.h"
#include "soft/law.h"
#include "soft/soft_particles.h"

/// Rows of grains that a thread works on at once, few enough for its cache; sums are made of as
/// many whatever the number of threads.
enum { SOFT_ROWS = 256 };

/// What comes out of the work on so many rows.
typedef struct soft_share {
    double flow[FLOW_COUNT];
    double farthest; ///< distance from the place in the list
} soft_share;

typedef struct soft_card soft_card; // soft/on_card.h

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
    bool in_rows;                  ///< the grains' motion is in their rows, predicted, and no more
                                   ///< in the table (soft/sphere_kernel.h)
    bool on_card; ///< and they are on a graphics card, with the histories (soft/on_card.h)
    soft_card* card;
    bool filled;        ///< rows of the bodies are those of the present positions,
    double farthest;    ///< which are as far as this from those of the list
    bool listed;        ///< there is a list; if not, the history is in pairs.memories
    double skin;        ///< room of a pair in the list
    double skin_part;   ///< the same in mean diameters
    int64_t served;     ///< evaluations since the list was made
    double wall_travel; ///< most that a wall can have come nearer to grains since then
    // Of all grains, by row.
    int64_t row_capacity;
    double* reach;        ///< [grains]
    double* acceleration; ///< [grains][dim]
    double* angular;      ///< [grains][1 or 3]
    double* turn;         ///< 3D: [grains][3] turn in the step
    int64_t share_capacity;
    soft_share* share; ///< [grains/SOFT_ROWS]
    int64_t waiting_capacity;
    int32_t* waiting; ///< [blocks] what each block still has to wait for before its grains move on
    bool* taken;      ///< [blocks] sums that a block uses
    crew* crew;
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
/// The table gets what is predicted of grains that are in their rows, wherever these are.
talus_status soft_leave_rows(soft_particles* s, grains* g, talus_error* error);
/// The same of their positions and velocities alone; the rest stays where it is.
talus_status soft_show_rows(soft_particles* s, grains* g, talus_error* error);
/// May grains stay in their rows at the end of a step, because another one like it follows?
bool soft_stays_in_rows(const step_order* order);
/// Make the list of pairs at the present positions; the history is in s->pairs.memories.
talus_status soft_make_list(soft_particles* s, const step_order* order, talus_error* error);
/// Rows of the bodies as they stand; a list that grains have outrun is made anew.
talus_status soft_neighbours(soft_particles* s, const step_order* order, talus_error* error);
/// Fill the rows of the grains [first, last) of the bodies; returns how far a grain has come from
/// its place in the list.
double soft_fill_rows(const soft_particles* s, const step_order* order, int64_t first,
                      int64_t last);
/// The rows of all grains are filled: as far as the shares say from the list.
void soft_rows_filled(soft_particles* s, int64_t count);

// ---- forces.c ----------------------------------------------------------------------------------

/// Make ready for an evaluation `since` the last one: a list that serves, walls without forces.
talus_status soft_begin_evaluation(soft_particles* s, const step_order* order, double since,
                                   general_task* others, talus_error* error);
/// All forces at the present positions and velocities, `since` the last evaluation: sums of the
/// grains (by place) and forces on the walls, with those of the grains glued to them.
talus_status soft_evaluate(soft_particles* s, const step_order* order, double since,
                           talus_error* error);
/// Are contacts with walls so few that a thread of a team does them all, while the others begin
/// with the balls?
bool soft_walls_are_few(const soft_particles* s, int team);
/// The task of the kernels of balls.
ball_task soft_ball_task(soft_particles* s, const step_order* order, double since);

/// Powers and losses at an evaluation.
typedef struct soft_flow {
    double lost;  ///< energy lost since the evaluation before, but for dashpots and drag, J
    double out;   ///< power of dashpots and drag, W
    double input; ///< power of gravity, external forces and walls, W
} soft_flow;

/// The part of it that walls bring in by their contacts; that of the grains glued to them is
/// counted with the grains.
soft_flow soft_flow_of_walls(const soft_particles* s, const step_order* order);
/// A number that is none has spoilt the sums of all.
bool soft_flow_is_finite(const soft_flow* flow);

/// Accelerations of the rows [first, last), a share, from their sums.
void soft_accelerate_rows(soft_particles* s, const step_order* order, int64_t first, int64_t last);
accelerate_task soft_accelerate_task(const soft_particles* s, const step_order* order);
/// Add what flows in all shares.
void soft_sum_flow(const soft_particles* s, int64_t count, double since, soft_flow* flow);
/// The row of the first grain whose velocity or acceleration is not finite, -1 if none; `flow`
/// tells whether to look.
int64_t soft_runaway(const grains* g, const double* acceleration, const double* angular,
                     const soft_flow* flow);

// ---- motion.c ----------------------------------------------------------------------------------

/// Work on the rows [first, last) of the grains, a share.
typedef void soft_rows_work(soft_particles* s, const step_order* order, int64_t first,
                            int64_t last);
/// Do all shares.
void soft_each_share(soft_particles* s, const step_order* order, soft_rows_work* work);

/// Coordinates of the grains' centres and turns.
coordinates soft_centres(const soft_particles* s, const grains* g);
coordinates soft_turns(const soft_particles* s, const grains* g);
/// Are all grains spheres that can move in their rows?
bool soft_moves_in_rows(const soft_particles* s, const step_order* order);
sphere_task soft_sphere_task(const soft_particles* s, const step_order* order);
/// Bring the grains to their prediction at the time of evaluation, with their rows in the list;
/// those that move in their rows may be there already.
void soft_predict_grains(soft_particles* s, const step_order* order);
/// Accelerate the grains and correct what was predicted of them: the state at the end of the step.
void soft_correct_rows(soft_particles* s, const step_order* order, int64_t first, int64_t last);
/// Write what is predicted of the grains in rows into the table, but for those with a `but` of 1;
/// NULL: of all.
void soft_rows_to_table(const soft_particles* s, grains* g, const uint8_t* but);

// ---- stream.c ----------------------------------------------------------------------------------

/// The forces on grains that move in their rows, and their motion to the next prediction (`on`) or
/// to the end of the step, in the table.
talus_status soft_stream(soft_particles* s, const step_order* order, double since, bool on,
                         talus_error* error);
/// Find the contacts of spheres near walls, whose rows are up to date, and add the forces on walls.
talus_status soft_meet_walls(soft_particles* s, const step_order* order,
                             const general_task* others);

// ---- publish.c ---------------------------------------------------------------------------------

/// Take the history from the contacts of the world.
talus_status soft_import(soft_particles* s, const step_order* order);
/// Energy of all springs.
talus_status soft_elastic(soft_particles* s, const step_order* order, double* out);

// ---- start.c -----------------------------------------------------------------------------------

/// Derivatives at the start of a run with steps of order->h, and the energies then.
talus_status soft_start(soft_particles* s, const step_order* order, talus_error* error);

// ---- soft_particles.c --------------------------------------------------------------------------

/// Read the mobile walls into wall_state, and write them back.
coordinates soft_walls_read(soft_particles* s, const walls* w);
void soft_walls_write(const soft_particles* s, walls* w);

#endif
