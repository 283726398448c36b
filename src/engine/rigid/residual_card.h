/// The measures of residual.h for a problem that is swept by a card, without bringing the impulses
/// back: problem and impulses are on the card, and what it adds up comes back. The bits are those
/// of residual_measure().
#ifndef TALUS_RIGID_RESIDUAL_CARD_H
#define TALUS_RIGID_RESIDUAL_CARD_H

#include "rigid/packed/packed.h"
#include "rigid/residual.h"

/// Memory on the card for one packed_problem, and what is the same in all looks of a solve.
typedef struct residual_card residual_card;

/// A solve begins: its problem is not there yet.
void residual_card_begin(residual_card* r);
/// Can this problem, whose sweeps are made by a card, be measured there? Contacts with more than
/// friction are left to the CPU, as are problems that the card has no room for.
/// *r is made if it is NULL.
bool residual_card_can(residual_card** r, const packed_problem* packed);
/// Measure it, after that. Packed velocities have to be refreshed (packed_refresh).
talus_status residual_card_measure(residual_card* r, const packed_problem* packed, double size,
                                   int threads, residual_report* out);
/// While the card is still open.
void residual_card_free(residual_card* r);

#endif
