/// Sums in a fixed order and the simplest of all kernels. The sums of a block's numbers are put
/// together in pairs, so that the result depends on the numbers and the size of blocks alone.
#include "card/phases.h"

CARD_HEADERS
#include "card/sums.h"
CARD_HEADERS_END

CARD_KERNEL(card_axpy, card_axpy_job, CARD_MOST_THREADS)
{
    LAST_PHASE (t) {
        const int64_t i = card_item(here, t);
        if (i < job.count) {
            job.y[i] = job.y[i] + job.a * job.x[i];
        }
    }
}

CARD_KERNEL(card_block_sums, card_sum_job, CARD_SUM_THREADS)
{
    SHARED(double, part, CARD_SUM_THREADS);
    PHASE (t) {
        const int64_t i = card_item(here, t);
        part[t] = i < job.count ? job.x[i] : 0.0;
    }
    for (int half = CARD_SUM_THREADS / 2; half > 0; half /= 2) {
        PHASE (t) {
            if (t < half) part[t] = part[t] + part[t + half];
        }
    }
    LAST_PHASE (t) {
        if (t == 0) job.sums[here.block] = part[0];
    }
}

/// A running sum over blocks, each of which waits for the block before it.
CARD_KERNEL(card_chained_sums, card_chain_job, CARD_SUM_THREADS)
{
    SHARED(uint32_t, ticket, 1);
    PHASE (t) {
        if (t == 0) ticket[0] = card_add(job.ticket, 1);
    }
    PHASE (t) {
        const uint32_t k = ticket[0];
        if (t == 0 && k > 0) card_await(here, &job.flags[k - 1], 1);
    }
    PHASE (t) {
        if (t == 0) {
            const uint32_t k = ticket[0];
            job.sums[k] = (k > 0 ? job.sums[k - 1] : 0.0) + job.x[k];
        }
    }
    LAST_PHASE (t) {
        if (t == 0) card_raise(&job.flags[ticket[0]], 1);
    }
}
