/// Pairs of balls that may touch, packed in batches of eight, with their history.
///
/// The places of the order of work are cut into blocks. A pair (p, q), p < q, belongs to the block
/// of p; a block adds up the forces on its own bodies, and those on bodies of later blocks in rows
/// of its own (halo), which are added to the rest afterwards, block after block. So threads share
/// the blocks without a conflict, and every sum has the order of the places whoever makes it.
///
/// Pairs ascend by (p, q). One that does not touch adds zeros, so that sums do not depend on when a
/// list was made: a restart, which makes a new one, gives the same bits.
#ifndef TALUS_SOFT_PAIRS_H
#define TALUS_SOFT_PAIRS_H

#include "detect/contacts.h"
#include "detect/grid.h"
#include "soft/bodies.h"
#include "soft/law.h"

enum { SOFT_BLOCK = 512, SOFT_SUM = 8, SOFT_BLOCK_SUMS = SOFT_BLOCK * SOFT_SUM };

typedef struct soft_block {
    int64_t first, end; ///< places
    int64_t batch, batch_end;
    int64_t halo, halo_end;
    int64_t sums;       ///< where its own sums begin in soft_pairs.sum
    int64_t active;     ///< pairs that touch
    double overlap_max; ///< of these
} soft_block;

/// What is remembered of a pair, p < q.
typedef struct soft_memory {
    int32_t p, q;
    bool bonded, slides;
    double slip[3], roll[3];
} soft_memory;

typedef struct soft_memories {
    int64_t count, capacity;
    soft_memory* row; ///< ascending by (p, q)
} soft_memories;

typedef struct soft_pairs {
    int dim, row; ///< numbers in a row of the bodies
    int64_t body_count, block_count, batch_count, halo_count, pair_count;
    int64_t block_capacity, batch_capacity, law_capacity, roll_capacity, halo_capacity,
        sum_capacity;
    soft_block* block;
    int32_t* who;          ///< [batch][2][8] where the rows of p and q begin in bodies.row
    int32_t* where;        ///< [batch][2][8] where their sums begin in those of the block, or
                           ///< from SOFT_BLOCK_SUMS on in `sum`
    int32_t* law;          ///< [batch][8] rows of constants; unless all pairs have row 0
    double* root_mass;     ///< [batch][8] root of the reduced mass
    double* slip;          ///< [batch][1 or 3][8]
    double* roll;          ///< [batch][1 or 3][8]; NULL unless laws are compound
    uint8_t* images;       ///< [batch] 1: some pair may meet across the border of the cell
    uint8_t* live;         ///< [batch] bits: was a contact at the last evaluation
    uint8_t* bonded;       ///< [batch] bits
    uint8_t* slides;       ///< [batch] bits, as of the last evaluation
    int32_t* halo;         ///< [halo_count] place of the body
    int32_t* inbox;        ///< [halo_count] halo rows by the block they go to
    int64_t* inbox_first;  ///< [block_count + 1]
    int32_t* target;       ///< [halo_count] blocks that each block's halo goes to, each once,
    int64_t* target_first; ///< [block_count + 1] by the block that sends it
    int32_t* senders;      ///< [block_count] blocks that send halos to this one
    /// [block_count][SOFT_BLOCK_SUMS] and [halo_count][8]: force (3), torque (3), loss, power. The
    /// sums of a block may lie where those of another one do that is done with its own, so that
    /// they stay in the cache.
    double* sum;
    soft_memories memories; ///< scratch
    int64_t made;           ///< lists so far
} soft_pairs;

void soft_pairs_free(soft_pairs* s);

/// The place of p (side 0) or q (side 1) of a pair; pairs are counted by lanes over all batches.
static inline int32_t soft_pairs_place(const soft_pairs* s, int64_t pair, int side)
{
    return s->who[16 * (pair / 8) + 8 * side + pair % 8] / s->row;
}

/// Was a pair a contact at the last evaluation?
static inline bool soft_pairs_live(const soft_pairs* s, int64_t pair)
{
    return s->live[pair / 8] >> (pair % 8) & 1;
}
/// The sums of a grain, by place.
static inline double* soft_pairs_sum(const soft_pairs* s, int64_t place)
{
    return s->sum + s->block[place / SOFT_BLOCK].sums + SOFT_SUM * (place % SOFT_BLOCK);
}
/// Those that a block has for a grain of another one.
static inline double* soft_pairs_halo_sum(const soft_pairs* s, int64_t halo)
{
    return s->sum + SOFT_BLOCK_SUMS * s->block_count + SOFT_SUM * halo;
}
/// What is remembered of a pair of the list.
soft_memory soft_pairs_memory(const soft_pairs* s, int64_t pair);

/// May the nearest image of b, seen from a, not be b itself while a list of this skin serves?
static inline bool soft_meets_border(const cell* c, int dim, double skin, const double* a,
                                     const double* b)
{
    for (int k = 0; k < dim; k++) {
        if (!c->periodic[k]) continue;
        const double low = c->low[k] + skin, high = c->low[k] + c->length[k] - skin;
        const double least = a[k] < b[k] ? a[k] : b[k], most = a[k] < b[k] ? b[k] : a[k];
        if (least < low || most > high || most - least > 0.4 * c->length[k]) return true;
    }
    return false;
}

/// Everything a list is made from.
typedef struct soft_listing {
    const grains* g;
    const cell* periodic;
    bool moving; ///< rows of the bodies have the motion since the last evaluation
    double skin; ///< grains move by less than half of it before there is another list
    const soft_places* places;
    const pair_list* pairs; ///< rows of balls, a < b
    const soft_laws* laws;
    int threads;
} soft_listing;

/// Make the list. History is taken from s->memories.
talus_status soft_pairs_make(soft_pairs* s, const soft_listing* from);
/// Fill s->memories with the history of all pairs that have one.
talus_status soft_pairs_remember(soft_pairs* s);
/// The same with the places of an older order turned into those of a new one.
void soft_pairs_reorder(soft_pairs* s, const int32_t* old_row_of, const soft_places* places);
/// Add a memory (any order); then sort them.
talus_status soft_memories_add(soft_memories* m, const soft_memory* row);
void soft_memories_sort(soft_memories* m);
/// Turn a memory of (p, q) into that of (q, p).
void soft_memory_swap(int dim, soft_memory* m);

/// After the blocks: add the halos to the bodies' sums.
void soft_pairs_collect(soft_pairs* s, int threads);
/// Every block has sums of its own, so that those of all grains can be asked for.
void soft_pairs_spread_sums(soft_pairs* s);
/// The same for one block, after those that send halos to it.
void soft_pairs_collect_block(soft_pairs* s, int64_t block);

#endif
