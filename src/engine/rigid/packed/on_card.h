/// A packed problem whose sweeps are made by a card (card/card.h), with the CPU's bits.
///
/// Everything but sweeps stays on the CPU: the problem is arranged and packed there, goes to the
/// card as it is, and impulses and velocities come back when someone looks. packed.c calls these in
/// place of its own loops while packed.on_card is set. What goes wrong on the card sticks to it and
/// is asked for once in a while, by packed_card_state(): until then numbers may be wrong.
#ifndef TALUS_RIGID_PACKED_ON_CARD_H
#define TALUS_RIGID_PACKED_ON_CARD_H

#include "card/card.h"
#include "rigid/packed/packed.h"

/// Why this problem, which is packed, cannot be swept by a card; NULL if it can.
const char* packed_card_why_not(const packed_problem* packed);

/// Bytes of the card that it takes.
size_t packed_card_bytes(const packed_problem* packed);

/// Put a packed problem on the card: from now on it is swept there, until it is packed anew. A
/// layout that is there already stays. packed_apply() has to follow.
talus_status packed_to_card(packed_problem* packed, card* c);
/// Sweep here again.
void packed_leave_card(packed_problem* packed);
/// Free the memory on the card, too.
void packed_card_free(packed_problem* packed);
/// The error that the card is stuck with.
talus_status packed_card_state(const packed_problem* packed, talus_error* error);

/// The card, and the problem as its kernels see it.
card* packed_card_of(const packed_problem* packed);
const packed_problem* packed_card_there(const packed_problem* packed);

/// As the functions of packed.h do here.
void packed_card_apply(packed_problem* packed);
void packed_card_remember(packed_problem* packed);
packed_sums packed_card_sweep(packed_problem* packed, const packed_manner* manner);
/// Velocities of the sweep before, less or more those of this one.
void packed_card_move_old_rows(packed_problem* packed, double sign);
/// Take over the impulses that are packed here in place of those of the card.
void packed_card_shift(packed_problem* packed);
/// Fetch impulses, torques, rows and the velocities of walls.
void packed_card_fetch(packed_problem* packed);
/// Take over the constants that hold friction that has changed.
void packed_card_refresh_friction(packed_problem* packed);

#endif
