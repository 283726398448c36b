/// What the kernels of card_sums.cu get. Numbers are doubles, or floats in the module
/// "card_sums_single".
#ifndef TALUS_CARD_SUMS_H
#define TALUS_CARD_SUMS_H

#include <stdint.h>

enum { CARD_SUM_THREADS = 256 };

/// y += a x
typedef struct card_axpy_job {
    int64_t count;
    double a;
    const void* x;
    void* y;
} card_axpy_job;

/// sums[k]: the sum of the numbers of block k.
typedef struct card_sum_job {
    int64_t count;
    const void* x;
    void* sums;
} card_sum_job;

/// sums[k] = x[0] + ... + x[k], a block for each k.
typedef struct card_chain_job {
    const void* x;
    void* sums;
    uint32_t* ticket; ///< 0
    uint32_t* flags;  ///< 0, one for each block
} card_chain_job;

#endif
