/// Contacts of the soft method beside those between balls: of balls with walls, and of polygons.
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
#ifndef TALUS_SOFT_WALL_CONTACTS_H
#define TALUS_SOFT_WALL_CONTACTS_H

#include "detect/contacts.h"
#include "detect/grid.h"
#include "soft/kernels.h"
#include "soft/solid_contacts.h"
#include "state/cell.h"

/// What an evaluation works on. Nothing is owned.
typedef struct outer_context {
    const grains* g;
    const walls* w;
    const cell* periodic;
    const pair_list* pairs; ///< of grains of which one is a polygon at least; law area: all
    bool solids;            ///< there are polygons
    const soft_order* order;
    const soft_kernels* kernels;
    soft_kind kind;
    bool geometric;
    double range; ///< of bonds
    const double* constants;
    const double* area_constants; ///< of contacts through areas
    const int32_t* law_of;        ///< [materials][materials] rows of constants
    int materials;
    double h;    ///< since the last evaluation
    double step; ///< until the next one
    int threads;
} outer_context;

/// What is known of contacts beside their columns.
typedef struct outer_answers {
    int64_t capacity;
    double* elastic; ///< energy of the springs, with the work that areas store
    double* loss;    ///< since the evaluation before
    double* power;   ///< of the dashpots
    double* arm_a;   ///< [dim] from a's centre to the point; a wall: from its position
    double* arm_b;   ///< [dim]
} outer_answers;

typedef struct soft_outer {
    int dim;
    contacts list;                ///< of the last evaluation, sorted; the gap of polygons is -A/l_c
    contacts found;               ///< being made
    outer_answers answers, fresh; ///< of both
    outer_solids solids;
    int64_t* from; ///< [found] row of `list` that it goes on from, -1: new
    int64_t from_capacity;
    double* margin; ///< [grains and walls] zeros
    int64_t margin_capacity;
    uint8_t* escaped; ///< [grains] 1: the centre is behind a wall
    uint8_t* far;     ///< [grains] 1: out of reach of all walls since soft_outer_look()
    int64_t escaped_capacity;
    bool looked; ///< `far` holds
    double lost; ///< energy left in contacts that ended, since the evaluation before
} soft_outer;

void soft_outer_init(soft_outer* o, int dim);
void soft_outer_free(soft_outer* o);
/// Forget what is kept of the world's shapes.
void soft_outer_forget(soft_outer* o);

/// Room for `count` contacts in o->list and its answers, whose rows are lost.
talus_status soft_outer_reserve(soft_outer* o, int64_t count);

/// Note which grains are out of reach of all walls, and stay so while no grain and no wall comes
/// nearer to the other by more than `room`.
talus_status soft_outer_look(soft_outer* o, const outer_context* ctx, double room);

/// Find the contacts at the present positions and their forces, and carry the history on. The
/// history before is in o->list.
talus_status soft_outer_evaluate(soft_outer* o, const outer_context* ctx);

/// Add the forces to the sums of the grains [places][SOFT_SUM] and to w->force and w->torque.
void soft_outer_add(const soft_outer* o, const outer_context* ctx, double* sum, walls* w);

/// Row of constants of a contact of `list`.
int32_t soft_outer_law(const outer_context* ctx, const contacts* list, int64_t c);

#endif
