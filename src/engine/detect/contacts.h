/// The contact list: who touches whom, where, and with what impulse.
///
/// Sorted by (a, b, feature) with walls first (their code is negative), so that the list of one
/// step and of the next can be merged to carry impulses over.
#ifndef TALUS_DETECT_CONTACTS_H
#define TALUS_DETECT_CONTACTS_H

#include "base/columns.h"
#include "state/grains.h"
#include "state/walls.h"

#include <stdint.h>
#include <talus/world.h>

typedef struct contacts {
    int dim;
    int64_t count, capacity;
    int64_t* a;       ///< [count] grain id or -1 - wall index
    int64_t* b;       ///< [count] grain id
    int64_t* feature; ///< [count] geometry/feature.h
    int32_t* a_row;   ///< [count] row of a in the grains, or -1 - wall index
    int32_t* b_row;   ///< [count] row of b in the grains
    double* point;    ///< [count][dim]
    double* arm;      ///< [count][dim] from b's centre to the point; 0 between balls, or NULL
    double* normal;   ///< [count][dim] from a to b
    double* gap;      ///< [count] at the start of the step
    double* force;    ///< [count][dim] on b; times h it warm-starts the next step
    double* torque;   ///< [count][1 or 3] on b, of rolling and torsion friction; NULL: none
    double* slip;     ///< [count][1 or 3] method soft: elongation of the friction spring; or NULL
    double* roll;     ///< [count][1 or 3] method soft: the same of rolling and torsion; or NULL
    double* stored;   ///< [count] method soft: work stored by the area of overlap; or NULL
    uint8_t* state;   ///< [count] talus_contact_state
    uint8_t* bonded;  ///< [count] 1 while a cohesive bond holds
    uint8_t* distant; ///< [count] 1 if only the range of a bond reaches so far; NULL: none
} contacts;

const column* contacts_columns(int* count_out);
void contacts_init(contacts* c, int dim);
void contacts_free(contacts* c);
talus_status contacts_reserve(contacts* c, int64_t needed);
/// Set the number of rows; what new ones hold is the caller's.
talus_status contacts_resize(contacts* c, int64_t count);
/// Make a rare column, of zeros, if there is none: before anything else is written into it.
talus_status contacts_need_arms(contacts* c);
talus_status contacts_need_torques(contacts* c);
talus_status contacts_need_distant(contacts* c);
talus_status contacts_need_slips(contacts* c);
talus_status contacts_need_rolls(contacts* c);
talus_status contacts_need_stored(contacts* c);
/// Make the columns that `from` has.
talus_status contacts_need_like(contacts* to, const contacts* from);
/// Copy all rows of `from` over those of `to` from row `at` on. There must be as many, and `to`
/// must have the columns of `from`.
void contacts_paste(contacts* to, int64_t at, const contacts* from);
/// Copy one row of `from` over row `at` of `to`, which has the columns of `from`.
void contacts_paste_row(contacts* to, int64_t at, const contacts* from, int64_t row);
/// Copy row `from` over row `to` in every column.
void contacts_copy_row(contacts* c, int64_t to, int64_t from);
/// Order of two contacts' keys (a, b, feature): negative, zero or positive.
int contacts_compare(const contacts* x, int64_t i, const contacts* y, int64_t j);
/// Carry forces, torques, states and bonds over from `last` to `now` where the keys agree, or where
/// a point of a solid has only changed its name; zero elsewhere. Both are sorted. This
/// and the others below do the same whatever the number of threads.
talus_status contacts_match(contacts* now, const contacts* last, const grains* g, int threads);
/// Carry over forces and torques only, and leave the others as they are.
talus_status contacts_match_forces(contacts* now, const contacts* last, int threads);
/// Forget the forces of a list: its contacts begin without.
void contacts_forget_forces(contacts* list);
void contacts_swap(contacts* x, contacts* y);
/// A place in a sorted list that only moves forward.
typedef struct contacts_cursor {
    const contacts* list;
    int64_t at;
} contacts_cursor;

/// The place of the bodies (a, b), found by bisection.
contacts_cursor contacts_cursor_at(const contacts* list, int64_t a, int64_t b);
/// Rows of the bodies (a, b): *first and how many. Pairs must be asked for in the list's order.
int64_t contacts_seek(contacts_cursor* cursor, int64_t a, int64_t b, int64_t* first);
/// Drop the contacts that are in reach of a bond only and have none.
void contacts_prune(contacts* c, int threads);
/// After grains were removed: drop contacts of missing grains or walls, find the others' rows anew.
void contacts_relink(contacts* c, const grains* g, const walls* w);

#endif
