/// Steps of spheres that move in their rows (soft/stream.c) on a graphics card, with the CPU's bits
/// (card_soft.cu). The list of pairs is made here and put there; rows, own numbers and histories
/// stay there from step to step, until a list is made anew or the spheres land in the table.
/// Contacts with walls are found here, from copies of the rows of spheres near them.
#ifndef TALUS_SOFT_ON_CARD_H
#define TALUS_SOFT_ON_CARD_H

#include "soft/workspace.h"

/// As soft_stream().
talus_status soft_card_stream(soft_particles* s, const step_order* order, double since, bool on,
                              general_task* others, talus_error* error);
/// Bring back what is newer there: rows, own numbers, histories and images.
talus_status soft_card_fetch(soft_particles* s, grains* g, talus_error* error);
void soft_card_free(soft_card* on);

#endif
