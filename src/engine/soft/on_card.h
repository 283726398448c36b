/// Steps of spheres that move in their rows (soft/stream.c) on a graphics card, with the CPU's bits
/// (card_soft.cu). The first list of pairs is made here and put there, later ones are made there
/// (card_soft_list.cu). Rows, own numbers and histories stay there from step to step, until the
/// spheres land in the table. Contacts with walls are found here, from copies of the rows of
/// spheres near them.
#ifndef TALUS_SOFT_ON_CARD_H
#define TALUS_SOFT_ON_CARD_H

#include "soft/workspace.h"

/// As soft_stream().
talus_status soft_card_stream(soft_particles* s, const step_order* order, double since,
                              bool to_next, general_task* others, talus_error* error);
/// Make the list of pairs anew there, for s->skin, if the spheres are there (`made`); some cannot
/// be listed there, and nothing is changed then.
talus_status soft_card_make_list(soft_particles* s, const step_order* order, bool* made,
                                 talus_error* error);
/// Bring back the rows, if they are newer there.
talus_status soft_card_fetch_rows(soft_particles* s, talus_error* error);
/// Bring back what is newer there: rows, own numbers, images and histories. Those of a list that
/// was made there become memories, without a list (s->listed).
talus_status soft_card_fetch(soft_particles* s, grains* g, talus_error* error);
void soft_card_free(soft_card* on);

#endif
