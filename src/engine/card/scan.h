/// Running sums on a card.
#ifndef TALUS_CARD_SCAN_H
#define TALUS_CARD_SCAN_H

#include "card/card.h"

/// The `count` whole numbers (int32_t) in `x` become the sums of those before them, so that the
/// last one, 0 before, becomes the sum of all. `scratch` is made as large as it has to be.
void card_scan(card* c, const card_buffer* x, int64_t count, card_buffer* scratch);

#endif
