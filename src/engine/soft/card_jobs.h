/// What the kernels of card_soft.cu get: the packed pairs and the rows of the spheres, on the card.
///
/// A block of pairs (pairs.h) is a block of threads. Its pairs are worked on in chunks, a pair a
/// thread; behind each chunk the forces are added to the sums of the spheres, a sphere a thread, in
/// the order of the pairs. So every sum has the terms, and their order, that it has on the CPU.
#ifndef TALUS_SOFT_CARD_JOBS_H
#define TALUS_SOFT_CARD_JOBS_H

#include "soft/general_contacts.h"

/// Pairs of a chunk, and threads that work on it; spheres that one block moves, which is a share of
/// the CPU's sums of powers (workspace.h).
enum { SOFT_CARD_CHUNK = 256, SOFT_CARD_ROWS = 256 };

/// What a pair puts into the sums: force on the second, torques on both, loss, power.
enum { PART_FORCE = 0, PART_TORQUES = 3, PART_LOSS = 9, PART_POWER = 10, PART_NUMBERS = 11 };

/// Bits of a pair's state: contact at the last evaluation, bond, slid.
enum { PAIR_LIVE = 1, PAIR_BONDED = 2, PAIR_SLIDES = 4 };

/// A block of the list.
typedef struct soft_card_block {
    int64_t pair, pair_end;   ///< counted by lanes over all batches
    int64_t chunk, chunk_end; ///< of the block
    int64_t first, end;       ///< places
} soft_card_block;

/// Sums that the pairs of a chunk add to, each with the pairs that do so, ascending.
///
/// An entry is the pair's number in the chunk, and ENTRY_SECOND if the sphere is its second. A sum
/// is the place in the block of one of its spheres, or, from SOFT_BLOCK on, that of the halo row
/// after it; SUM_BEGINS if nothing has been added to that yet.
enum { ENTRY_SECOND = 1 << 15, SUM_BEGINS = 1 << 30 };
typedef struct soft_card_sums {
    const int32_t* chunk;    ///< [chunks + 1] first sum
    const int32_t* sum;      ///< [sums]
    const int32_t* entry_of; ///< [sums + 1] first entry
    const uint16_t* entry;   ///< [2 pairs]
    const int32_t* inbox_of; ///< [spheres + 1] by place
    const int32_t* inbox;    ///< halo rows of each sphere, block after block
    double *own, *halo;      ///< [spheres or halo rows][SOFT_SUM]
} soft_card_sums;

/// What walls push spheres by, contact after contact, as general_contacts_push() says; found by the
/// CPU.
typedef struct soft_card_walls {
    int64_t near_count;
    const int32_t* near;       ///< [near_count] places of spheres that walls may reach
    const int32_t* near_of;    ///< [spheres] which of these it is, -1: none
    const int32_t* contact_of; ///< [near_count + 1] first contact
    const double* push;        ///< [contacts][WALL_PUSH]
    double* rows;              ///< [near_count][row] copies of their rows, for the CPU
} soft_card_walls;

/// What comes of a block of pairs, and of a share of the spheres.
typedef struct soft_card_meeting {
    double overlap_max;
    int64_t active;
} soft_card_meeting;
typedef struct soft_card_motion {
    double flow[FLOW_COUNT];
    double farthest; ///< distance from the place in the list
    int64_t escaped;
} soft_card_motion;

typedef struct soft_card_job {
    // the law
    soft_kind kind;
    bool geometric, uniform, verlet;
    double h;     ///< of a step
    double since; ///< the last evaluation
    double length[3];
    double gravity[3], drag;
    bool has_domain;
    double domain_low[3], domain_high[3];
    cell periodic;
    const double* constants;
    // the spheres
    int64_t count;
    double *row, *own, *listed;
    int32_t *row_of, *image;
    uint8_t* escaped; ///< [grains] by row in the table
    // the pairs
    const soft_card_block* blocks;
    const int32_t *who, *law;
    const double* root_mass;
    const uint8_t* images;
    double *slip, *roll;
    uint8_t* state; ///< [pairs]
    soft_card_sums sums;
    soft_card_walls walls;
    soft_card_meeting* meeting; ///< [blocks]
    soft_card_motion* motion;   ///< [shares]
    bool on;                    ///< to the next prediction; else sums are put together only
} soft_card_job;

#endif
