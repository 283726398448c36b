/// What the kernels of card_sums.cu get.
#ifndef TALUS_CARD_SUMS_H
#define TALUS_CARD_SUMS_H

#include <stdint.h>

enum { CARD_SUM_THREADS = 256 };

/// y += a x
typedef struct card_axpy_job {
    int64_t count;
    double a;
    const double* x;
    double* y;
} card_axpy_job;

/// sums[k]: the sum of the numbers of block k.
typedef struct card_sum_job {
    int64_t count;
    const double* x;
    double* sums;
} card_sum_job;

/// sums[k] = x[0] + ... + x[k], a block for each k.
typedef struct card_chain_job {
    const double* x;
    double* sums;
    uint32_t* ticket; ///< 0
    uint32_t* flags;  ///< 0, one for each block
} card_chain_job;

/// Running sums of whole numbers: x[k] becomes x[0] + ... + x[k - 1]. Pieces are summed by
/// themselves, then their totals, then these are added.
enum {
    CARD_SCAN_EACH = 4,
    CARD_SCAN_PIECE = CARD_SUM_THREADS * CARD_SCAN_EACH,
    CARD_TOTALS_THREADS = 1024 ///< one block sums up the totals of all pieces
};
typedef struct card_scan_job {
    int64_t count;
    int32_t* x;
    int32_t* total; ///< of each piece
} card_scan_job;

#endif
