/// Inside of the layout of a packed problem: kinds of contacts (kind.c), their order
/// (boxes.c, order.c), blocks and batches (layout.c).
#ifndef TALUS_RIGID_PACKED_LAYOUT_H
#define TALUS_RIGID_PACKED_LAYOUT_H

#include "rigid/packed/packed.h"

/// Bits of a colour mask; a body with more contacts than this has them in the tail.
enum { PACKED_COLOURS = 64 };
/// Boxes have 2^BOX_LEVEL cells of their curve along each axis.
enum { BOX_LEVEL = 2 };
/// Contacts that a box should have: few enough for a cache near the core and for many blocks at a
/// time, many enough to fill the lanes (docs/decisions.md, "Graphics cards", has what others take).
enum { BOX_CONTACTS = 512 };

/// Batches of each kind and rows of bodies that a block takes.
typedef struct packed_block_size {
    int32_t batches[PACKED_KINDS];
    int32_t rows;
} packed_block_size;

/// Blocks that one waits for, as they are found.
typedef struct wait_list {
    int32_t* of;
    int64_t count, capacity;
    bool cut; ///< there was no memory for all of them
} wait_list;

/// Numbers of contacts along the curve are anywhere among those of the problem: the memory is told
/// which of them comes so many later.
static ALWAYS_INLINE int64_t packed_ahead(int64_t i, int64_t count)
{
    enum { AHEAD = 16 };
    return i + AHEAD < count ? i + AHEAD : i;
}

/// Memory of one arrangement. Bodies are known by their places along the curve, so that what is
/// near in space is near in memory.
typedef struct packed_layout {
    const problem* p;
    const bool* moves; ///< [rows of the problem]
    const uint32_t* curve;
    const uint8_t* kind_of; ///< [contacts of the problem] packed_kind
    int threads;
    uint32_t* key;           ///< [rows] place along the curve of the boxes
    int64_t inside;          ///< contacts of grains and fixed walls
    int64_t outside;         ///< the first contact of the tail; those of mobile walls lie between
    int64_t inner;           ///< blocks of the former, which come first
    int64_t blocks;          ///< without the tail
    int64_t waves;           ///< colours of blocks
    int32_t* place;          ///< [rows] place of each row
    int32_t* row;            ///< [rows] and back
    int32_t* own;            ///< [rows] place of a row that moves by itself, -1: fixed, or a wall
    int32_t* order;          ///< [count] contacts along the curve; then those of mobile walls, wall
                             ///< by wall; those of the tail last
    int32_t* ends;           ///< [count][2] in `order`: places of its bodies, -1: it does not move
    uint32_t* box;           ///< [count] in `order`: box of the body that comes first
    uint8_t* kind;           ///< [count] in `order`
    uint8_t* colour;         ///< [count] in `order`
    uint64_t* mask;          ///< [rows] by place: colours in use
    int32_t* owner;          ///< [rows] by place: first block of a sweep that touches it
    int32_t* packed;         ///< [rows] by place: its row among those of its owner, -1: none yet;
                             ///< then among those of all blocks
    int32_t* last;           ///< [rows] by place: last block of a sweep that has touched it
    int64_t* cut;            ///< [blocks + 1] first contact of each block in `order`
    int32_t* wall;           ///< [blocks] mobile wall whose contacts it has, -1
    int64_t* wall_contacts;  ///< [mobile walls] contacts of each
    uint8_t* tint;           ///< [blocks] colour, PACKED_COLOURS: alone
    int32_t* turn;           ///< [blocks] blocks in the order of a sweep
    int64_t* wave;           ///< [waves + 1] first of each colour in `turn`
    wait_list* waits;        ///< [blocks] in the order of a sweep
    packed_block_size* size; ///< [blocks + 1] in the order of a sweep, the tail last
} packed_layout;

/// The ratio kim/im that balls have in common in the plane: that of the first one. 0 in space.
double packed_spin_ratio(const problem* p);
/// What a row means to the kind of its contacts, `ratio` being that of the problem: it fits no
/// batch at all (PACKED_ODD), it is a ball like all others (PACKED_COMMON).
enum { PACKED_ODD = 1, PACKED_COMMON = 2 };
uint8_t packed_traits_of(const problem* p, int32_t row, double ratio);
/// Note the kinds of batches that contacts go into, [count] packed_kind, from the traits of all
/// rows; returns how many have changed.
int64_t packed_note_kinds(const problem* p, const uint8_t* traits, uint8_t* kind, int threads);

/// Fill key, which has room. The same whatever the threads.
talus_status packed_boxes(packed_layout* l);
/// Fill place, row, order, inside, outside, wall_contacts, ends, box and kind; they have room. The
/// same whatever the threads.
talus_status packed_order(packed_layout* l);

#endif
