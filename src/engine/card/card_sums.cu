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

// ---- running sums ------------------------------------------------------------------------------

/// `before` receives the sums of the numbers of the threads before each, `number` these with its
/// own.
#define RUNNING_SUMS(number, threads)                                                              \
    for (int reach = 1; reach < (threads); reach *= 2) {                                           \
        PHASE (t) {                                                                                \
            before[t] = t >= reach ? (number)[t - reach] : 0;                                      \
        }                                                                                          \
        PHASE (t) {                                                                                \
            (number)[t] += before[t];                                                              \
        }                                                                                          \
    }                                                                                              \
    PHASE (t) {                                                                                    \
        before[t] = t > 0 ? (number)[t - 1] : 0;                                                   \
    }

CARD_KERNEL(card_scan_pieces, card_scan_job, CARD_SUM_THREADS)
{
    SHARED(int32_t, number, CARD_SUM_THREADS);
    SHARED(int32_t, before, CARD_SUM_THREADS);
    const int64_t first = (int64_t)here.block * CARD_SCAN_PIECE;
    PHASE (t) {
        number[t] = 0;
        for (int k = 0; k < CARD_SCAN_EACH; k++) {
            const int64_t i = first + t * CARD_SCAN_EACH + k;
            if (i < job.count) number[t] += job.x[i];
        }
    }
    RUNNING_SUMS(number, CARD_SUM_THREADS)
    LAST_PHASE (t) {
        int32_t sum = before[t];
        for (int k = 0; k < CARD_SCAN_EACH; k++) {
            const int64_t i = first + t * CARD_SCAN_EACH + k;
            if (i >= job.count) continue;
            const int32_t x = job.x[i];
            job.x[i] = sum;
            sum += x;
        }
        if (t == 0) job.total[here.block] = number[CARD_SUM_THREADS - 1];
    }
}

/// One block: `total` becomes the sums of the pieces before, `count` is that of the pieces.
CARD_KERNEL(card_scan_totals, card_scan_job, CARD_TOTALS_THREADS)
{
    SHARED(int32_t, number, CARD_TOTALS_THREADS);
    SHARED(int32_t, before, CARD_TOTALS_THREADS);
    const int64_t each = (job.count + CARD_TOTALS_THREADS - 1) / CARD_TOTALS_THREADS;
    PHASE (t) {
        number[t] = 0;
        for (int64_t i = t * each; i < (t + 1) * each && i < job.count; i++) {
            number[t] += job.total[i];
        }
    }
    RUNNING_SUMS(number, CARD_TOTALS_THREADS)
    LAST_PHASE (t) {
        int32_t sum = before[t];
        for (int64_t i = t * each; i < (t + 1) * each && i < job.count; i++) {
            const int32_t x = job.total[i];
            job.total[i] = sum;
            sum += x;
        }
    }
}

CARD_KERNEL(card_scan_add, card_scan_job, CARD_SUM_THREADS)
{
    LAST_PHASE (t) {
        const int64_t first = (int64_t)here.block * CARD_SCAN_PIECE + t;
        for (int k = 0; k < CARD_SCAN_EACH; k++) {
            const int64_t i = first + k * here.threads;
            if (i < job.count) job.x[i] += job.total[here.block];
        }
    }
}
