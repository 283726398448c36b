/// What the kernels of card_sweeps.cu get. The problem in a job is the one of the host, with arrays
/// on the card in place of its own.
#ifndef TALUS_RIGID_PACKED_CARD_JOBS_H
#define TALUS_RIGID_PACKED_CARD_JOBS_H

#include "rigid/packed/packed.h"

/// Threads of a block of the card, which works on one block of contacts: one for each partial sum.
enum { CARD_SWEEP_THREADS = PACKED_SUMMANDS };

/// Groups of batches, of one block, colour and kind: their contacts share no moving body.
typedef struct card_groups {
    const int32_t* first;    ///< [groups + 1] batches
    const int32_t* of_block; ///< [blocks + 2] first group of each block; the tail is the last block
} card_groups;

/// Blocks follow each other within a launch as the CPU's threads take them (packed.c): in order,
/// and each waits for those that touch the same bodies before it. Tickets say in which order blocks
/// of threads begin, so whoever waits does so for one that has begun.
typedef struct card_order {
    uint32_t* ticket;
    uint32_t begun; ///< the ticket of the first block of this launch
    uint32_t pass;  ///< what packed_problem.done says of blocks that have had this pass
} card_order;

/// Sweep over, apply the impulses of, or sum up the pushes on walls of the blocks from `first` on.
typedef struct card_sweep_job {
    packed_problem packed;
    card_groups groups;
    card_order order;
    packed_manner manner;
    int64_t first;
    bool before; ///< pushes on walls: also those of the sweep before
} card_sweep_job;

/// Velocities of mobile walls from what their blocks push them by.
typedef struct card_walls_job {
    packed_problem packed;
    int64_t walls;
    const double* free;     ///< [walls][dim]
    const double* mobility; ///< [walls][dim][dim]
    bool before;
} card_walls_job;

/// The sums of all blocks.
typedef struct card_total_job {
    packed_problem packed;
    packed_sums* total;
} card_total_job;

/// New impulses in place of the present ones: `now` receives the change, `old` moves with it.
typedef struct card_shift_job {
    int64_t count;
    const double* fresh;
    double *now, *old;
} card_shift_job;

#endif
