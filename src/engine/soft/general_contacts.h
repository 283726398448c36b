/// Contacts of any kind but between balls, which have their own list (soft/pairs.h): of balls with
/// walls, and of polygons with everything.
///
/// Their geometry is found one by one, the law is that of all (kernels.h, `meet`). The list is
/// made anew at every evaluation and takes its history from the one before.
///
/// A force k_n A/l_c at the centroid of an overlap is not the gradient of a potential: what the
/// contact stores is the work that was done against it, which depends on the path (PLMH; it may
/// become negative). The column `stored` has the sum of h P over the evaluations, P = -F v_n the
/// power against the elastic normal force: the work up to half a step after the last one. Half of
/// the last h P less it is the work up to the last one, by the trapezoidal rule; and when the
/// contact ends, force 0, it is what is left.
#ifndef TALUS_SOFT_GENERAL_CONTACTS_H
#define TALUS_SOFT_GENERAL_CONTACTS_H

#include "detect/contacts.h"
#include "detect/grid.h"
#include "soft/area_contacts.h"
#include "soft/kernels.h"
#include "state/cell.h"

/// What an evaluation works on. Nothing is owned.
typedef struct general_task {
    const grains* g;
    const walls* w;
    const cell* periodic;
    const pair_list* pairs; ///< of grains of which one is a polygon at least; law area: all
    bool solids;            ///< there are polygons
    const soft_places* places;
    const soft_kernels* kernels;
    const soft_laws* laws;
    bool geometric;
    double h;    ///< since the last evaluation
    double step; ///< until the next one
    int threads;
} general_task;

/// What is known of contacts beside their columns.
typedef struct contact_answers {
    int64_t capacity;
    double* elastic; ///< energy of the springs, with the work that areas store
    double* loss;    ///< since the evaluation before
    double* power;   ///< of the dashpots
    double* arm_a;   ///< [dim] from a's centre to the point; a wall: from its position
    double* arm_b;   ///< [dim]
} contact_answers;

typedef struct general_contacts {
    int dim;
    contacts list;  ///< of the last evaluation, sorted; the gap of polygons is -A/l_c
    contacts found; ///< being made
    contact_answers answers, fresh; ///< of both
    area_shapes shapes;             ///< of the world; to be freed when they change
    int64_t* from;                  ///< [found] row of `list` that it goes on from, -1: new
    int64_t from_capacity;
    int64_t body_capacity;
    double* margin;   ///< [grains and walls] zeros
    uint8_t* escaped; ///< [grains] 1: the centre is behind a wall
    uint8_t* far;     ///< [grains] 1: out of reach of all walls since general_contacts_note_far()
    bool far_known;   ///< `far` holds
    int64_t noted;    ///< times that it was noted
    double lost;      ///< energy left in contacts that ended, since the evaluation before
    int64_t block_capacity, next_capacity;
    int64_t* first_of; ///< [blocks of places] first contact of `list` with a grain there, -1: none
    int64_t* next_of;  ///< [list] the next one there
    uint8_t* near;     ///< [blocks of places] 1: some grain there is not far
} general_contacts;

void general_contacts_init(general_contacts* o, int dim);
void general_contacts_free(general_contacts* o);

/// Room for `count` contacts in o->list and its answers, whose rows are lost.
talus_status general_contacts_reserve(general_contacts* o, int64_t count);

/// Note which grains are out of reach of all walls, and stay so while no grain and no wall comes
/// nearer to the other by more than `room`.
talus_status general_contacts_note_far(general_contacts* o, const general_task* t, double room);

/// Nobody has escaped so far; room to say otherwise.
talus_status general_contacts_begin(general_contacts* o, const general_task* t);
/// Find the contacts at the present positions and their forces, and carry the history on. The
/// history before is in o->list.
talus_status general_contacts_evaluate(general_contacts* o, const general_task* t);

/// Add the forces to the sums of the grains and to w->force and w->torque.
void general_contacts_add(const general_contacts* o, const general_task* t, const soft_pairs* pairs,
                          walls* w);

// The same block by block of places, where all contacts are those of grains with walls.

/// Note which blocks have grains that are not far from walls (`far` is known).
talus_status general_contacts_note_blocks(general_contacts* o, const general_task* t);
/// Sort the contacts by blocks, and add the forces on the walls.
talus_status general_contacts_deal(general_contacts* o, const general_task* t, walls* w);
/// What a contact with a wall does to its grain: the terms that are added to its sums, and then the
/// torque of rolling and torsion.
enum { WALL_PUSH = SOFT_SUM + 3 };
void general_contacts_push(const general_contacts* o, int64_t contact, double push[WALL_PUSH]);
/// Add the forces on the grains of a block to their sums.
void general_contacts_add_block(const general_contacts* o, const general_task* t,
                                const soft_pairs* pairs, int64_t block);

#endif
