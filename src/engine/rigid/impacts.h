/// Impacts in the order in which they happen.
///
/// Newton's law for all contacts that close in a step at once loses energy or makes some, as soon
/// as one of them closes because of another: the second has then no velocity before the step that
/// it could give back. So before the contacts of a step are solved, bodies with restitution fly
/// through it: from impact to impact, each with the velocities of its moment. What closes at the
/// same moment is one impact of several contacts. Between impacts nothing but external forces acts;
/// what presses and rests is solved afterwards, from the velocities that the impacts leave.
///
/// A body that was hit has a path with corners. Its end and its last velocity v are those of a
/// straight path that begins aside, at x + shift:
///
///   x_new = x + shift + h v
///
/// That is how the step goes on: velocities before it are those after the impacts, gaps are counted
/// from there, and shift is added at the end.
///
/// Solids turn on their way. What a contact of theirs sees of that is the straight line on which
/// its points set out; impulses act with the arms of the moment, both at one point. A face that
/// lands is an impact of several contacts.
///
/// Balls and solids meet each other and walls here, mobile ones too. Contacts of grains that are
/// glued to mobile walls, and those with cohesion, rolling or torsion friction bounce as the step's
/// law says, all at once (law/restitution.h). So do contacts that approach no faster than external
/// forces make them in a step: they rest; and whatever hits a grain of a packing, one that is
/// pressed against others.
#ifndef TALUS_RIGID_IMPACTS_H
#define TALUS_RIGID_IMPACTS_H

#include "detect/physical_state.h"

/// A body that was hit.
typedef struct struck_body {
    int32_t body;       ///< row of a grain, or the number of grains + a wall
    double row[8];      ///< velocity and w after the impacts so far, as a row of the problem
    double mobility[9]; ///< [dim][dim] inverse mass matrix of a mobile wall
    double start[3];    ///< velocity without impacts
    double start_w[3];  ///< w without impacts
    double shift[3];    ///< where its straight path begins, from where it is
    double turn[3];     ///< and, of a solid, its even turning, as a w
    double hardest;     ///< fastest approach of the impacts that led to this one
    double reach;       ///< farthest that it gets from where free flight (wall) or drift leads
    double last[3];     ///< velocity before the impact that is being worked on
    double last_w[3];   ///< and w
    int64_t impact;     ///< the last one that it was part of
    int32_t withdrawn;  ///< of a wall: impacts that only made it withdraw from its other contacts
    double velocity[3], spin[3]; ///< a grain's before the impacts, to undo them
} struck_body;

/// What impacts did at one contact.
typedef struct struck_contact {
    int64_t a, b, feature; ///< its key
    double impulse[3];     ///< on b
    bool slides;
} struck_contact;

/// An impact to come.
typedef struct impact_due {
    double time;            ///< of a wall that has withdrawn since: it is no earlier
    int32_t contact, stamp; ///< valid while the contact has this stamp
    int32_t withdrawn;      ///< how often its wall had withdrawn when the time was found
} impact_due;

/// A contact of an impact that is being worked on.
typedef struct impact_part impact_part;

typedef struct impacts {
    int64_t body_count, body_capacity;
    struct struck_body* body;
    int32_t* body_of; ///< [grains + walls] its row in `body`, -1: not hit
    uint8_t* packed;  ///< [grains + walls] part of a packing
    int64_t of_capacity;
    int64_t contact_capacity;
    double* time;     ///< [contacts] first impact without those of others, INFINITY: none
    int32_t* stamp;   ///< [contacts] goes up when something changes for it
    int32_t* hits;    ///< [contacts] impacts so far
    double* impulse;  ///< [contacts][dim] on b, of all of them
    uint8_t* slides;  ///< [contacts] the last one slid
    int32_t* touched; ///< [contacts] those with an impact
    int64_t touched_count;
    int64_t first_capacity, link_capacity;
    int64_t* first; ///< [grains + walls + 1] contacts of a body: link[first[i]] to ...
    int32_t* link;
    int64_t due_count, due_capacity;
    impact_due* due; ///< a heap, earliest first
    int64_t part_count, part_capacity;
    impact_part* part; ///< of the impact that is being worked on
    int64_t hit_capacity;
    int32_t* hit; ///< rows of `body` that it moves
    int64_t struck_count, struck_capacity;
    struck_contact* struck;
    double* wall_before; ///< [walls][9] as assembly.wall_before, after the impacts
    int64_t wall_capacity;
    int64_t events; ///< impacts of this step, each contact counted
} impacts;

/// What impacts are found in.
typedef struct impact_scene {
    const step_order* order;
    const contacts* list;        ///< as found from the start of the step
    const double* free_velocity; ///< [grains][dim]
    const double* free_spin;     ///< [grains][1 or 3]
    const double* wall_before;   ///< [walls][9] velocity and spin in the last step, and 3 more
    const double* drift;         ///< velocity that a grain's reach is counted from
} impact_scene;

void impacts_free(impacts* im);
/// Forget the impacts of the last step.
void impacts_clear(impacts* im);
/// Can any two materials have impacts?
bool impacts_possible(const materials* laws);
/// Let the bodies of the scene fly through the step. Nothing but *im is changed.
talus_status impacts_find(impacts* im, const impact_scene* scene);
/// Give the bodies that were hit their new velocities: in the state, and without contacts.
void impacts_commit(impacts* im, const impact_scene* scene, double* free_velocity,
                    double* free_spin);
/// Take the state's velocities of grains back. Those of walls are the caller's.
void impacts_undo(const impacts* im, physical_state* state);
/// Count the gaps of a list from where bodies that were hit have their straight paths, and judge
/// fast balls by where they would be at the end of the step: those that pass do not touch. A gap
/// below zero then says how much bodies have to part for their gap at the end to be none, or the
/// overlap that they had.
void impacts_adjust(const impacts* im, const step_order* order, const double* free_velocity,
                    contacts* list);
/// Was one of the bodies of a contact hit?
bool impacts_bend(const impacts* im, const physical_state* state, const contacts* list, int64_t c);
/// Is the closing of a contact a matter of impacts: does it bounce, and did it not press in the
/// last step, or was one of its bodies hit in this one? What curved ways take from its gap beyond
/// that is left to the next step: pushed apart in this one it would gain energy, or lose what it
/// approaches with.
bool impacts_decide(const impacts* im, const physical_state* state, const contacts* list,
                    int64_t c);
/// Add the impulses of the impacts to the forces of a list.
void impacts_add_forces(const impacts* im, double h, contacts* list);

/// The body that was hit, NULL if it was not. `body` as in struck_body.
static inline const struck_body* impacts_struck(const impacts* im, int64_t body)
{
    return im->body_count > 0 && im->body_of[body] >= 0 ? &im->body[im->body_of[body]] : NULL;
}

#endif
