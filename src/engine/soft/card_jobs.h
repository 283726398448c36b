/// What the kernels of card_soft.cu and card_soft_list.cu get: the rows of the spheres and the list
/// of pairs, on the card.
///
/// The list has the batches that it has on the CPU (pairs.h), and for each sphere the pairs whose
/// second it is. A block of pairs is a block of threads. Its pairs are worked on in chunks, a pair
/// a thread; behind each chunk the forces are added to the sums of the spheres, a sphere a thread,
/// in the order of the pairs. Forces on spheres of later blocks are added up, block by block, when
/// these are moved. So every sum has the terms, and their order, that it has on the CPU.
#ifndef TALUS_SOFT_CARD_JOBS_H
#define TALUS_SOFT_CARD_JOBS_H

#include "soft/general_contacts.h"

/// Pairs of a chunk, and threads that work on it; spheres that one block moves, which is a share of
/// the CPU's sums of powers (workspace.h); threads of kernels that make lists.
enum { SOFT_CARD_CHUNK = 256, SOFT_CARD_ROWS = 256, SOFT_CARD_LIST = 128 };

/// What a pair puts into the sums: force on the second, torques on both, loss, power.
enum { PART_FORCE = 0, PART_TORQUES = 3, PART_LOSS = 9, PART_POWER = 10, PART_NUMBERS = 11 };
/// What it puts into that of a second sphere in a later block: force and torque.
enum { CROSS_NUMBERS = 6 };

/// Bits of a pair's state: contact at the last evaluation, bond, slid.
enum { PAIR_LIVE = 1, PAIR_BONDED = 2, PAIR_SLIDES = 4 };

/// A block of the list: its pairs, counted by lanes over all batches, without those that are not
/// there.
typedef struct soft_card_block {
    int32_t pair, pair_end;
} soft_card_block;

typedef struct soft_card_list {
    soft_card_block* blocks;
    int32_t* first_of;    ///< [spheres] its first pair as the first of two, or the next sphere's
    int32_t *who, *law;   ///< as in soft_pairs
    double* root_mass;    ///< [pairs]
    uint8_t* images;      ///< [batches]
    int32_t* incoming_of; ///< [spheres + 1] first of the pairs whose second it is
    int32_t* incoming;    ///< [pairs] these, ascending
    double *slip, *roll;  ///< as in soft_pairs
    uint8_t* state;       ///< [pairs]
} soft_card_list;

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
    // forces
    soft_card_list list;
    double* sum;   ///< [spheres][SOFT_SUM]
    double* cross; ///< [pairs][CROSS_NUMBERS] of those whose second is in a later block
    soft_card_walls walls;
    soft_card_meeting* meeting; ///< [blocks]
    soft_card_motion* motion;   ///< [shares]
    bool on;                    ///< to the next prediction; else sums are put together only
} soft_card_job;

/// A list is made anew from the rows: spheres are sorted into the cells of a grid, which goes round
/// beyond its last one along every axis; then pairs are counted, and written.
typedef struct soft_list_job {
    int64_t count, blocks, batches;
    int row_length; ///< numbers
    const double* row;
    double* listed;
    double room; ///< a pair is in the list if it is no farther apart than this
    double skin; ///< grains move by less than half of it before there is another list
    cell periodic;
    int32_t cells[3]; ///< along each axis
    double low[3], side[3];
    // law
    bool uniform, rolls;
    const int32_t *material, *law_of; ///< by place; [materials][materials]
    int materials;
    // cells
    int32_t* cell_first; ///< [cells + 1] counts, then first members, then where the next one goes
    int32_t* member;     ///< [spheres] places, cell after cell
    // counts
    int32_t* pairs_of;  ///< [spheres + 1] numbers of pairs, then the pairs before
    int32_t* batch_of;  ///< [blocks + 1] likewise batches
    int32_t* next;      ///< [spheres] where the next incoming pair goes
    uint32_t* failures; ///< a sphere had too many neighbours
    soft_card_list old, list;
} soft_list_job;

#endif
