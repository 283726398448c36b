/// The parts of flight from impact to impact (rigid/impacts.h), each in a file of its own, and what
/// they work on.
#ifndef TALUS_RIGID_IMPACT_PARTS_H
#define TALUS_RIGID_IMPACT_PARTS_H

#include "rigid/impacts.h"

typedef struct flight_job {
    impacts* im;
    const impact_scene* scene;
    const physical_state* state;
    double h;
    int dim;
} flight_job;

/// How a body flies: at time t it is at x + shift + v t + kick t (t/h - 1)/2 and has the velocity
/// v + kick (t/h - 1/2). Of a solid that is the point at the contact, about which the bodies of a
/// contact agree at any time.
typedef struct flight {
    double v[3], shift[3], kick[3];
    double resting;  ///< approach up to this is that of a contact at rest
    double hardest;  ///< fastest approach of the impacts that led to it
    double inv_mass; ///< of a solid at the contact, along its normal
} flight;

/// Motion of b against a, and when they touch: balls at a distance, others along n.
typedef struct path {
    bool balls;
    double n[3];
    double d[3], u[3], kick[3]; ///< place at the start, mean velocity, change in the step
    double touch;               ///< distance at which they touch; of others -n.d
    double pressed;             ///< above 0: it was pressed in the last step (pressed_speed)
    double least;               ///< slower approach is none
} path;

struct impact_part {
    int32_t contact;
    double* row[2];            ///< of a and b
    double still[8];           ///< row of a body that does not move
    const double* mobility[2]; ///< of a mobile wall, else NULL
    double n[3];
    double offset[3]; ///< velocity that is to be added to that of the rows
    double mn, wt;    ///< 1/S_nn; S_tt of balls
    double goal;      ///< normal velocity after the impact
    double impulse;
    double speed;
    bool solids; ///< one of them is a solid. Then:
    double arm[2][9];
    double response[9], inverse[9]; ///< S and what coulomb_block_inverse() makes of it
    double slip[3];                 ///< what sticking gives back
    double mu;
    double p[3]; ///< impulse on b
};

// ---- paths (impact_paths.c) --------------------------------------------------------------------

const talus_pair_def* impact_law(const physical_state* state, const contacts* list, int64_t c);
/// Is this body, a grain or the number of grains + a wall, a solid?
static inline bool impact_is_solid(const physical_state* state, int64_t body)
{
    return body < state->grains.count && state->grains.solid[body] >= 0;
}
/// Are both bodies of a contact balls?
bool impact_of_balls(const physical_state* state, const contacts* list, int64_t c);
/// Matrix G of a body of a contact: velocity at the contact = v + G w (contact_arm()), where the
/// point is `moved` away from where the step began, seen from the body's centre; NULL: not at all.
/// Zero for a solid that is glued to a wall.
void impact_arm(const physical_state* state, const contacts* list, int64_t c, int side,
                const double* moved, double arm[9]);
/// The same at time `now`.
void impact_arm_at(const flight_job* job, int64_t c, int side, double now, double arm[9]);
/// Do the bodies of a contact bounce here?
bool impact_may_happen(const physical_state* state, const contacts* list, int64_t c);
/// Number of body a or b of a contact: a grain's row, or the number of grains + a wall.
int64_t impact_body(const physical_state* state, const contacts* list, int64_t c, int side);
/// `now` is when the velocity of a solid's point is taken, for its arm turns with the way.
flight impact_flight_of(const flight_job* job, int64_t c, int side, double now);
path impact_path_of(const flight_job* job, int64_t c, double now);
/// Place and velocity of b against a at time t.
void impact_path_at(const flight_job* job, const path* p, double t, double* x, double* u);
/// When contact c collides from `now` on, INFINITY: not in this step.
double impact_next(const flight_job* job, int64_t c, double now);

// ---- from impact to impact (impacts.c) ---------------------------------------------------------

/// Is a body of the contact part of a packing, so that its blows are left to the step's law?
bool impact_on_packing(const flight_job* job, int64_t c);

// ---- impacts to come (impact_queue.c) ----------------------------------------------------------

/// `withdrawn`: how often the contact's wall has withdrawn so far.
talus_status impacts_add_due(impacts* im, double time, int32_t contact, int32_t withdrawn);
/// The earliest impact that is still to come, NULL if there is none.
const impact_due* impacts_first_due(impacts* im);
void impacts_drop_first(impacts* im);

// ---- an impact (impact_blow.c) -----------------------------------------------------------------

/// Make a body that may move one that was hit; others stay as they are.
talus_status impact_strike(const flight_job* job, int64_t c, int side);
/// A contact as part of an impact at time t. The bodies that it moves are in im->body already.
void impact_fill_part(const flight_job* job, int32_t c, double t, impact_part* part);
/// All contacts of the impact at once: each separates with e times its approach, or faster without
/// an impulse. Since all of them approached, sum p (u + u')/2 <= 0: no energy is made, also if u'
/// is off by less than (1 - e) u. That is used: with e = 1 passes go on to rounding. Solids, whose
/// impulses along and across mix, have their friction here too.
void impact_push_apart(const flight_job* job);
/// Friction of balls whose normal impulse is known: sticking gives slip -e_t times that before,
/// |p_t| <= mu p_n. It takes energy away, whatever the others did before it.
void impact_rub(const flight_job* job, impact_part* part);

#endif
