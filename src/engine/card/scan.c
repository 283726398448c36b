#include "card/scan.h"

#include "card/sums.h"

void card_scan(card* c, const card_buffer* x, int64_t count, card_buffer* scratch)
{
    const int64_t pieces = (count + CARD_SCAN_PIECE - 1) / CARD_SCAN_PIECE;
    const card_grid all = {.blocks = pieces, .threads = CARD_SUM_THREADS};
    const card_grid one = {.blocks = pieces > 0, .threads = CARD_TOTALS_THREADS};
    card_renew(c, scratch, sizeof(int32_t) * (size_t)(pieces + 1));
    card_scan_job job = {.count = count, .x = x->at, .total = scratch->at};
    card_launch(c, card_find(c, "card_sums", "card_scan_pieces"), all, &job);
    const card_scan_job totals = {.count = pieces, .total = scratch->at};
    card_launch(c, card_find(c, "card_sums", "card_scan_totals"), one, &totals);
    card_launch(c, card_find(c, "card_sums", "card_scan_add"), all, &job);
}
