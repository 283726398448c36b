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

enum { SOFT_BLOCK = 2048, SOFT_SUM = 8 };

typedef struct soft_block {
    int64_t batch, batch_end;
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
    int dim;
    int64_t body_count, block_count, batch_count, halo_count, pair_count;
    int64_t block_capacity, batch_capacity, law_capacity, roll_capacity, halo_capacity,
        sum_capacity;
    soft_block* block;
    int32_t* who;           ///< [batch][2][8] rows of p and q among the bodies
    int32_t* where;         ///< [batch][2][8] rows of the sums
    int32_t* law;           ///< [batch][8] rows of constants; unless all pairs have row 0
    double* root_mass;      ///< [batch][8] root of the reduced mass
    double* slip;           ///< [batch][1 or 3][8]
    double* roll;           ///< [batch][1 or 3][8]; NULL unless laws are compound
    uint8_t* images;        ///< [batch] 1: some pair may meet across the border of the cell
    uint8_t* live;          ///< [batch] bits: was a contact at the last evaluation
    uint8_t* bonded;        ///< [batch] bits
    uint8_t* slides;        ///< [batch] bits, as of the last evaluation
    int32_t* halo;          ///< [halo_count] place of the body
    int32_t* inbox;         ///< [halo_count] halo rows by the block they go to
    int64_t* inbox_first;   ///< [block_count + 1]
    double* sum;            ///< [body_count + halo_count + 1][8] force (3), torque (3), loss, power
    soft_memories memories; ///< scratch
} soft_pairs;

void soft_pairs_free(soft_pairs* s);

/// The place that a row of sums belongs to.
static inline int32_t soft_pairs_place(const soft_pairs* s, int32_t row)
{
    return row < s->body_count ? row : s->halo[row - s->body_count];
}

/// Was a pair a contact at the last evaluation? Pairs are counted by lanes over all batches.
static inline bool soft_pairs_live(const soft_pairs* s, int64_t pair)
{
    return s->live[pair / 8] >> (pair % 8) & 1;
}
/// What is remembered of a pair of the list.
soft_memory soft_pairs_memory(const soft_pairs* s, int64_t pair);

/// Everything a list is made from.
typedef struct soft_listing {
    const grains* g;
    const cell* periodic;
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

/// Zero the sums; then, after the blocks: add the halos to the bodies' sums.
void soft_pairs_begin(soft_pairs* s, int threads);
void soft_pairs_collect(soft_pairs* s, int threads);

#endif
