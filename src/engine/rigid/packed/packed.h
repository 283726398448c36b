/// The contact problem packed for speed: batches of eight contacts that can be solved at once.
///
/// Contacts lie in blocks that fit a cache, bodies along a space-filling curve. Inside a block the
/// contacts are coloured: no two of a colour share a moving body, so eight of them (a batch) are
/// updated together, in any vector width with the same bits. Blocks are coloured in the same way
/// and swept colour by colour; a thread that takes one waits until those before it that touch the
/// same bodies are done, so the bits are the same for any number of threads.
/// Bodies that do not move never conflict; each contact has its own copy of them.
///
/// Body row:  3D  v[3], im, w[3], kim         (64 bytes)
///            2D  v[2], w, im                 (32 bytes), w scaled so that its mobility is im, too
/// Rows are numbered by the first block that touches them, so a block's own rows are contiguous.
///
/// Kinds of batches, each with its own constants, [field][lane]:
///   BALL    n[dim], (2D: mn, mt,) bias, mu: the diagonal blocks of balls, no arms; in 3D mn and mt
///           are computed from the rows of the bodies: two divisions cost less than 16 bytes
///   BOND    n[dim], mn, mt, bias, mu, bond, closing, slip [1 or 3]: compound contacts of balls
///           without torques, and plain ones whose responses are not those of their rows
///   ROLL    as BOND, then what roll.h lists: compound contacts of balls with torques
///   MOBILE_WALL  as BOND, then the upper triangle of the wall's mobility: balls at a mobile wall
///           where the block is diagonal all the same
///   SOLID   n[dim], wn, bias, mu, S, S^-1 (upper triangles), G_a, G_b: bodies with lever arms, so
///           that the block S is full
///   SCALAR  none: every other law, one contact after the other from the rows of the problem
/// In single precision the sweeps work on a second set of the same arrays, as floats and in units
/// in which masses and velocities are about 1 (single.c). Doubles stay the reference: the
/// velocities that go with impulses are computed, and everything is judged, in them.
/// Batches in which all contacts are open are left out of most sweeps; open.c sees to it that there
/// are such batches.
/// Impulses are apart from the constants, [dim][lane]: 3D as vectors, 2D as (normal, tangential).
/// Contacts that cannot be coloured (a body with too many, a wall that contacts push about) come
/// last, one by one: the tail. Lanes of its batches may share bodies; they are done in order, by
/// the kernels of one lane.
#ifndef TALUS_RIGID_PACKED_PACKED_H
#define TALUS_RIGID_PACKED_PACKED_H

#include "rigid/problem.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/solver.h>

enum { PACKED_LANES = 8 };

typedef enum packed_kind {
    PACKED_BALL,
    PACKED_BOND,
    PACKED_ROLL,
    PACKED_MOBILE_WALL,
    PACKED_SOLID,
    PACKED_SCALAR,
    PACKED_KINDS
} packed_kind;

typedef struct packed_batch {
    int32_t kind;  ///< packed_kind
    int32_t slot;  ///< row in the constants of its kind
    int32_t group; ///< first batch of its block with contacts of the same colour and kind
} packed_batch;

/// Arrays of numbers; "before" means of the sweep before, without extrapolation.
typedef enum packed_array {
    PACKED_ROW,          ///< [row_count][4 or 8] velocities that go with the impulses
    PACKED_OLD_ROW,      ///< [row_count][4 or 8] before
    PACKED_IMPULSE,      ///< [batch_count][dim][lane] impulses
    PACKED_OLD_IMPULSE,  ///< [batch_count][dim][lane] before
    PACKED_BALLS,        ///< [ball batches][fields][lane]
    PACKED_BONDS,        ///< [bond batches][fields][lane]
    PACKED_ROLLS,        ///< [roll batches][fields][lane]
    PACKED_MOBILE_WALLS, ///< [mobile wall batches][fields][lane]
    PACKED_SOLIDS,       ///< [solid batches][fields][lane]
    PACKED_SPIN_SCALE,   ///< [row_count] 2D: packed_problem w = scale * the problem's w
    PACKED_TORQUE,       ///< [roll batches][1 or 3][lane] torque impulses
    PACKED_OLD_TORQUE,   ///< [roll batches][1 or 3][lane] before
    PACKED_OLD_COMPOUND, ///< [compound rows of the problem][3] torque impulses before, of the kind
                         ///< SCALAR
    PACKED_ARRAYS
} packed_array;

/// Blocks that a block can wait for one by one.
enum { PACKED_WAITS = 40 };

/// A piece of the sweep that one thread does at a time.
typedef struct packed_block {
    int64_t first, last;         ///< batches
    int64_t row_first, row_last; ///< rows of bodies that no earlier block touches
    int32_t wait_count;          ///< -1: it waits for all blocks before it
    int32_t waits[PACKED_WAITS]; ///< blocks that must be done before it: the last ones, in the
                                 ///< order of a sweep, that touch its bodies
} packed_block;

/// What a sweep tells about itself; w is the normal response of the contact, x its impulse after
/// the update, y before it, z the one of the sweep before (without extrapolation).
typedef struct packed_sums {
    double change;   ///< sum of w |x - y|^2
    double step;     ///< sum of w |x - z|^2
    double turning;  ///< sum of w (x - y).(x - z), without contacts that are held: negative when
                     ///< momentum points the wrong way
    double impulse;  ///< sum of w |x|^2
    int64_t skipped; ///< contacts that were not updated
} packed_sums;

/// How a sweep is to be done.
typedef struct packed_manner {
    bool momentum; ///< extrapolate impulses and velocities first: y = x + beta (x - z), z becomes x
    double beta;
    bool skip; ///< leave batches out that were open in the last sweep that left none out
    /// A contact that turns back, (x - y).(x - z) < 0, with w |x - y|^2 above this is held: for a
    /// while momentum does not act on it and it has no part in `turning`. INFINITY: none is held
    double outlier;
} packed_manner;

typedef struct packed_problem {
    int dim;
    int64_t count; ///< contacts
    int64_t batch_count, block_count, row_count;
    int64_t slots[PACKED_KINDS]; ///< batches of each kind
    packed_block* blocks;        ///< [block_count + 1] in the order of a sweep, the tail last
    uint32_t* done;              ///< [block_count] the last pass that a block has had
    uint32_t pass;               ///< passes over all blocks so far
    packed_batch* batches;       ///< [batch_count]
    int32_t* who;                ///< [batch_count][2][lane] rows of the bodies a and b
    int32_t* source;   ///< [batch_count][lane] contact in the problem, -1: the lane is idle
    int32_t* arranged; ///< [batch_count][3][lane] source, a and b as the layout has them; those in
                       ///< use have the contacts that may be open at the end of each group
    float* opening;    ///< [count] velocity at which a contact opens that had no impulse, else 0
    int64_t opening_capacity;
    uint8_t* open;        ///< [batch_count] contacts of a batch in which none had an impulse in the
                          ///< last sweep over everything and in the one before it, else 0
    uint8_t* held;        ///< [batch_count][lane] for how long a contact is held (sums.h)
    int32_t* body_of;     ///< [row_count] row in the problem
    uint8_t* private_row; ///< [row_count] 1: a copy of a body that does not move
    double* values[PACKED_ARRAYS]; ///< packed_array says of what
    int64_t capacity[PACKED_ARRAYS], length[PACKED_ARRAYS];
    bool has_old;                 ///< there is a sweep before: packed_remember() was called
    bool single;                  ///< sweeps are in single precision now
    float* floats[PACKED_ARRAYS]; ///< the same in single precision; [length] as `values`
    int64_t float_capacity[PACKED_ARRAYS];
    double velocity_unit, impulse_unit; ///< float = value / unit; powers of two
    packed_sums* sums;                  ///< [block_count + 1] of the last sweep, the tail's last
    double spin_arm;                    ///< 2D: u_t = ... - spin_arm (w_a + w_b) between balls
    struct crew* crew;                  ///< that sweeps over the blocks; NULL: none yet
    problem* problem;                   ///< that was packed; owned by the caller
    struct layout_notes* notes;
} packed_problem;

/// Doubles in a body row.
static ALWAYS_INLINE int packed_stride(const int dim)
{
    return dim == 2 ? 4 : 8;
}
/// Fields of the constants of a kind, and the array that they are in.
static ALWAYS_INLINE int packed_fields(const int kind, const int dim)
{
    switch (kind) {
    case PACKED_BALL: return dim == 2 ? 6 : 5;
    case PACKED_BOND: return dim == 2 ? 9 : 12;
    case PACKED_ROLL: return dim == 2 ? 21 : 28;
    case PACKED_MOBILE_WALL: return dim == 2 ? 12 : 18;
    case PACKED_SOLID: return dim == 2 ? 15 : 36;
    default: return 0;
    }
}
static ALWAYS_INLINE packed_array packed_array_of(const int kind)
{
    switch (kind) {
    case PACKED_BALL: return PACKED_BALLS;
    case PACKED_BOND: return PACKED_BONDS;
    case PACKED_ROLL: return PACKED_ROLLS;
    case PACKED_MOBILE_WALL: return PACKED_MOBILE_WALLS;
    default: return PACKED_SOLIDS;
    }
}
/// Where the constants of a batch begin in the array of its kind.
static ALWAYS_INLINE int64_t packed_constants_at(const packed_problem* packed, const int kind,
                                                 const int dim, int64_t batch)
{
    return (int64_t)packed->batches[batch].slot * packed_fields(kind, dim) * PACKED_LANES;
}
/// The first field of a solid's arms, G_a; G_b follows.
static ALWAYS_INLINE int packed_solid_arms(const int dim)
{
    return dim == 2 ? 11 : 18;
}

/// One sweep over a block.
typedef void packed_sweep_block(packed_problem* packed, int64_t block, const packed_manner* manner,
                                packed_sums* sums);
packed_sweep_block packed_sweep_single_portable, packed_sweep_single_avx2,
    packed_sweep_single_avx512;

/// The sweeps of one vector width.
typedef struct packed_kernels {
    const char* name;
    packed_sweep_block* sweep;        ///< in double precision
    packed_sweep_block* sweep_single; ///< on the floats; its sums are in their units
    /// Add the velocities that a block's impulses make.
    void (*apply)(packed_problem* packed, int64_t block);
} packed_kernels;

/// Number of threads that a solve of so many contacts is worth.
int packed_threads(int64_t contacts, int threads);

void packed_free(packed_problem* packed);
/// Pack a problem: constants, impulses and free velocities. The layout is that of the last call if
/// the same bodies touch; it is a function of the problem alone, not of its history.
talus_status packed_pack(packed_problem* packed, problem* p, int threads);
/// Take over coefficients of friction that have changed in the problem (problem_break_loose).
void packed_refresh_friction(packed_problem* packed);
/// Write impulses and velocities but spins, as the sweeps have left them, to the problem; what was
/// given back before says the rest.
void packed_show(const packed_problem* packed, int threads);
/// Write the impulses back to the problem, and recompute from them the velocities, packed and of
/// the problem, forgetting what the sweeps summed up.
void packed_give_back(packed_problem* packed, const packed_kernels* kernels, int threads);
/// Take over impulses that have changed in a problem without compound contacts; impulses and
/// velocities of the sweep before move alike, so that momentum goes on as it was.
void packed_shift(packed_problem* packed, const packed_kernels* kernels, int threads);

/// Sweep in single precision from now on, from the impulses and velocities that are packed:
/// packed.h. Give back before `single` is set to false again: then doubles hold where it was left.
talus_status packed_use_single(packed_problem* packed, int threads);
/// Free the memory of single precision.
void packed_single_free(packed_problem* packed);
/// Make the velocities, and those of the sweep before, again those of the impulses. To be done
/// now and then in single precision: impulses are rounded, velocities do not know of it, and
/// momentum makes the difference grow like the sweeps to the power of 1.5.
void packed_refresh_single(packed_problem* packed, const packed_kernels* kernels, int threads);

/// Find order, blocks and colours of the problem's contacts; nothing to do if the layout that is
/// there fits: layout.c.
talus_status packed_arrange(packed_problem* packed, const problem* p, int threads);
void packed_layout_free(packed_problem* packed);
/// Put the contacts that are likely to stay open together, at the end of each group of batches:
/// open.c. A function of the problem and its impulses alone.
talus_status packed_gather_open(packed_problem* packed, int threads);

/// The kernels of a vector width; of the best one that this machine has for TALUS_VECTOR_BEST.
/// NULL if the machine cannot run it.
const packed_kernels* packed_kernels_for(talus_vector_width width);

/// Make the packed velocities those of the packed impulses.
void packed_apply(packed_problem* packed, const packed_kernels* kernels, int threads);
/// Take the present impulses and velocities for those of the sweep before: momentum starts anew.
void packed_remember(packed_problem* packed, int threads);
/// Forget those again; of a large problem the memory, too, which nothing needs between two solves.
void packed_forget(packed_problem* packed);
/// One sweep over everything: all blocks, then the tail.
packed_sums packed_sweep(packed_problem* packed, const packed_kernels* kernels,
                         const packed_manner* manner, int threads);

/// Update a contact of a batch by itself, whatever its law: y is its impulse now, x receives the
/// new one, both as the batch has them. Velocities of its two rows follow. Returns the normal
/// response. For the kernels.
double packed_update_scalar(packed_problem* packed, int64_t batch, int lane, bool momentum,
                            double beta, const double* y, double* x);
/// The same for single precision.
float packed_update_scalar_single(packed_problem* packed, int64_t batch, int lane, bool momentum,
                                  double beta, const float* y, float* x);
/// Add the velocities that the impulses of a batch make, whatever their laws. For the kernels.
void packed_apply_scalar(packed_problem* packed, int64_t batch);

#endif
