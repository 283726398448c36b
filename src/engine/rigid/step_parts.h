/// The parts of a step of Contact Dynamics, each in a file of its own, and what they work on.
#ifndef TALUS_RIGID_STEP_PARTS_H
#define TALUS_RIGID_STEP_PARTS_H

#include "detect/neighbours.h"
#include "detect/passage.h"
#include "rigid/assemble.h"
#include "rigid/contact_dynamics.h"
#include "rigid/impacts.h"
#include "rigid/solver.h"
#include "rigid/witness.h"

#include <math.h>

/// A grain that outran its margin gets this many times what it needed.
static const double MARGIN_GROWTH = 1.5;
/// Searches per step before giving up; margins grow geometrically, so a few are enough.
enum { MAX_SEARCHES = 40 };

struct contact_dynamics {
    int dim;
    neighbours neighbours;
    contacts found, before; ///< contacts of this search and of the one before it in the same step
    bool wider;             ///< `before` is a wider search: it has more than what is solved
    assembly assembly;
    problem problem;
    solve_workspace workspace, audit_workspace;
    bool certified;          ///< the solver has judged the problem's solution:
    certificate certificate; ///< its judgement
    witness_work witnesses;
    int64_t grain_capacity;
    double* free_velocity; ///< [grains][dim]
    const double* spin;    ///< [grains][1 or 3] without contacts: the grains' own or free_spin
    double* free_spin;     ///< [grains][1 or 3] if a torque acts on any grain
    int64_t spin_capacity;
    double* margin;   ///< [grains]
    double* reach;    ///< [grains] radius + margin
    double widest;    ///< largest reach
    uint8_t* escaped; ///< [grains]
    int64_t wall_capacity;
    double* wall_margin; ///< [walls]
    double* clear;       ///< [grains] half of the least gap that is left, after the step, to bodies
                         ///< that were seen but are not listed (s->wider)
    double* wall_clear;  ///< [walls] likewise
    double* saved_walls; ///< [walls][9] velocity, spin, applied force before the attempt
    int64_t saved_count; ///< walls that an attempt has moved and that are in saved_walls
    double drift[3];     ///< mean free velocity of the free grains
    impacts impacts;     ///< of this step
    bool flown;          ///< they are known: gaps are counted after them
    passage_work passage;
    int64_t way_capacity, wall_way_capacity;
    double* way_velocity; ///< [grains][dim] with contacts
    double* way_spin;     ///< [grains][1 or 3] even, with which it gets to where it will be
    double* way_walls;    ///< [walls][3]
    double h;             ///< of the step accepted last
};

/// What a loop over grains or contacts works on.
typedef struct step_loop {
    contact_dynamics* s;
    const step_order* order;
    double widest; ///< reach that a margin may be raised to
} step_loop;

/// The row that the least of some rows as doubles stands for, -1 if there was none.
static inline int64_t least_row(double least)
{
    return isinf(least) ? -1 : (int64_t)least;
}

// ---- beginning (step_begin.c) ------------------------------------------------------------------

/// All that comes before the contacts: the motion of walls, free velocities, margins, poses.
talus_status step_begin(contact_dynamics* s, const step_order* order);
/// Distance that no point of a grain exceeds in the step when it moves with velocity v and spin,
/// after its impacts, seen from the drift. A ball's turning moves nothing.
double step_motion(const contact_dynamics* s, const grains* g, int64_t i, const double* v,
                   const double* spin, double h);
/// Whether a step that may be halved goes so far that a search would find half of the world.
bool step_goes_far(contact_dynamics* s, const step_order* order);

// ---- searching (step_search.c) -----------------------------------------------------------------

/// What is known of the contacts in s->found from the last step.
talus_status step_carry_over(contact_dynamics* s, const step_order* order);
/// Fill s->found with every contact that the margins allow, and what is known of them from the last
/// step. *spoilt receives the first row whose velocity, position or reach is out of the range of
/// numbers, -1 if none: then there is nothing to search. A bad velocity spoils the drift and so the
/// reach of every other grain: it is named before them.
talus_status step_search(contact_dynamics* s, const step_order* order, int64_t* spoilt,
                         talus_error* error);
/// Search again if the velocities in the problem move anything farther than was searched, up to
/// reaches of `widest`. If one of the contacts that this adds does not stay open (*more) s->found
/// has all of them and s->before those in the problem. Else what was solved stands, s->found is
/// what it was, and s->before keeps the others for the next look (s->wider).
talus_status step_search_again(contact_dynamics* s, const step_order* order, double widest,
                               bool* more, int64_t* spoilt, talus_error* error);
/// How near the bodies come to others that were seen but, as they stay open, not listed.
void step_find_clearance(contact_dynamics* s, const step_order* order);

// ---- impacts (step_flight.c) -------------------------------------------------------------------

/// Let bodies with restitution fly from impact to impact, and go on with the velocities after the
/// last. *spoilt as in step_search().
talus_status step_fly(contact_dynamics* s, const step_order* order, int64_t* spoilt,
                      talus_error* error);

// ---- after the solution (step_ways.c, step_accept.c) -------------------------------------------

/// Give a free grain the spin of the solution, and the orientation that it ends the step with.
void step_turn_grain(contact_dynamics* s, grains* g, int64_t i, double h);
/// Would the step carry solids into each other, or into walls?
talus_status step_look_at_ways(contact_dynamics* s, const step_order* order, step_passage* out);

#endif
