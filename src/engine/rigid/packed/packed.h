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
///           without torques, and plain ones whose responses are not those of their rows, as at a
///           mobile wall
///   ROLL    as BOND, then what roll.h lists: compound contacts of balls with torques
///   SOLID   n[dim], wn, bias, mu, S, S^-1 (upper triangles), G_a, G_b: bodies with lever arms, so
///           that the block S is full
///   SOLID_BOND, SOLID_ROLL  what compound.h lists: compound contacts of solids without and with
///           torques, and of balls whose responses the kinds above cannot have
///   SCALAR  none: the rest, which scenes do not make (kind.c), one contact after the other from
///           the rows of the problem
/// In single precision the sweeps work on a second set of the same arrays, as floats and in units
/// in which masses and velocities are about 1 (single.c). Doubles stay the reference: the
/// velocities that go with impulses are computed, and everything is judged, in them.
/// Batches in which all contacts are open are left out of most sweeps; open.c sees to it that there
/// are such batches.
/// Impulses are apart from the constants, [dim][lane]: 3D as vectors, 2D as (normal, tangential).
/// Contacts of walls that contacts push about have blocks of their own, which come after the
/// others; each of these contacts meets a copy of its wall (walls.c).
/// Contacts that cannot be coloured (a body with too many) come last, one by one: the tail. Lanes
/// of its batches may share bodies; they are done in order, by the kernels of one lane.
#ifndef TALUS_RIGID_PACKED_PACKED_H
#define TALUS_RIGID_PACKED_PACKED_H

#include "rigid/problem.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/solver.h>

enum { PACKED_LANES = 8 };
/// The order of all sums, of contacts in a block as of blocks: terms are added by turns to so many
/// partial sums, of which halves are added to halves until one is left. Batches have sixteen turns,
/// so that a card can have a thread for each partial sum, and threads and cards agree to the bit.
enum { PACKED_SLOTS = 16, PACKED_SUMMANDS = PACKED_SLOTS * PACKED_LANES };

typedef enum packed_kind {
    PACKED_BALL,
    PACKED_BOND,
    PACKED_ROLL,
    PACKED_SOLID,
    PACKED_SOLID_BOND,
    PACKED_SOLID_ROLL,
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
    PACKED_SOLIDS,       ///< [solid batches][fields][lane]
    PACKED_SOLID_BONDS,  ///< [solid-bond batches][fields][lane]
    PACKED_SOLID_ROLLS,  ///< [solid-roll batches][fields][lane]
    PACKED_SPIN_SCALE,   ///< [row_count] 2D: packed_problem w = scale * the problem's w
    PACKED_TORQUE,       ///< [roll batches, then solid-roll batches][1 or 3][lane] torque impulses;
                         ///< those of solids as compound.h has them
    PACKED_OLD_TORQUE,   ///< the same before
    PACKED_OLD_COMPOUND, ///< [compound rows of the problem][3] torque impulses before, of the kind
                         ///< SCALAR
    PACKED_ARRAYS
} packed_array;

/// A number for each axis, of a wall, that goes with the impulses, and with those before.
typedef struct packed_push {
    double now[3], before[3];
} packed_push;

/// A piece of the sweep that one thread does at a time.
typedef struct packed_block {
    int64_t first, last;         ///< batches
    int64_t row_first, row_last; ///< rows of bodies that no earlier block touches
    int32_t wall;                ///< mobile wall whose contacts these are, -1: none
    int32_t wait_count;
    int64_t wait_first; ///< of packed_problem.waits: blocks that must be done before it, the last
                        ///< ones, in the order of a sweep, that touch its bodies
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
    int32_t* waits;              ///< of all blocks
    int64_t wait_capacity;
    int64_t inner;      ///< blocks that are not of mobile walls; they come first
    int64_t wave_count; ///< runs of blocks, in the order of a sweep, that share no moving body
    int64_t* wave;      ///< [wave_count + 1] their first blocks
    int64_t wave_capacity;
    uint32_t* done;        ///< [block_count] the last pass that a block has had
    uint32_t pass;         ///< passes over all blocks so far
    packed_batch* batches; ///< [batch_count]
    int32_t* who;          ///< [batch_count][2][lane] rows of the bodies a and b
    int32_t* source;       ///< [batch_count][lane] contact in the problem, -1: the lane is idle
    int32_t* arranged; ///< [batch_count][3][lane] source, a and b as the layout has them; those in
                       ///< use have the contacts that may be open at the end of each group
    float* opening;    ///< [count] velocity at which a contact opens that had no impulse, else 0
    int64_t opening_capacity;
    int64_t arrangement;  ///< goes up when the layout is made anew,
    int64_t gathering;    ///< and when contacts have other lanes than in the last problem
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
    packed_push* pushes;                ///< [block_count + 1] sum of the impulses on a block's wall
    int64_t* wall_contacts;             ///< [mobile walls] contacts of each
    packed_push* wall_velocity;         ///< [mobile walls]
    int64_t wall_capacity;
    double spin_arm;   ///< 2D: u_t = ... - spin_arm (w_a + w_b) between balls
    struct crew* crew; ///< that sweeps over the blocks; NULL: none yet
    problem* problem;  ///< that was packed; owned by the caller
    struct layout_notes* notes;
    struct packed_card* on_card;     ///< sweeps are made by a card; NULL: here (on_card.h)
    struct packed_card* card_memory; ///< what that needs, kept for the next problem
} packed_problem;

/// The row of a block of a wall's contacts that holds the wall. Its first row belongs to nobody:
/// idle lanes have it.
static inline int64_t packed_wall_row(const packed_block* block)
{
    return block->row_first + 1;
}
/// Add partial sums; the first receives all.
static ALWAYS_INLINE void packed_add_halves(double sums[PACKED_SUMMANDS])
{
    for (int half = PACKED_SUMMANDS / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) sums[i] += sums[half + i];
    }
}
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
    case PACKED_SOLID: return dim == 2 ? 15 : 36;
    case PACKED_SOLID_BOND: return dim == 2 ? 15 : 37;
    case PACKED_SOLID_ROLL: return dim == 2 ? 24 : 78;
    default: return 0;
    }
}
static ALWAYS_INLINE packed_array packed_array_of(const int kind)
{
    switch (kind) {
    case PACKED_BALL: return PACKED_BALLS;
    case PACKED_BOND: return PACKED_BONDS;
    case PACKED_ROLL: return PACKED_ROLLS;
    case PACKED_SOLID_BOND: return PACKED_SOLID_BONDS;
    case PACKED_SOLID_ROLL: return PACKED_SOLID_ROLLS;
    default: return PACKED_SOLIDS;
    }
}
/// Where the constants of a batch begin in the array of its kind.
static ALWAYS_INLINE int64_t packed_constants_at(const packed_problem* packed, const int kind,
                                                 const int dim, int64_t batch)
{
    return (int64_t)packed->batches[batch].slot * packed_fields(kind, dim) * PACKED_LANES;
}
/// Have the contacts of a kind torques, and where do those of a batch begin?
static ALWAYS_INLINE bool packed_has_torques(const int kind)
{
    return kind == PACKED_ROLL || kind == PACKED_SOLID_ROLL;
}
static ALWAYS_INLINE int64_t packed_torque_at(const packed_problem* packed, const int dim,
                                              int64_t batch)
{
    const packed_batch* b = &packed->batches[batch];
    const int64_t before = b->kind == PACKED_ROLL ? 0 : packed->slots[PACKED_ROLL];
    return (before + b->slot) * spin_width(dim) * PACKED_LANES;
}
/// The field of the coefficient of friction.
static ALWAYS_INLINE int packed_friction_at(const int kind, const int dim)
{
    return kind == PACKED_BOND || kind == PACKED_ROLL ? contact_mu(dim) : dim + 2;
}
/// The field of the length that torques of solids are in units of.
static ALWAYS_INLINE int packed_length_at(const int dim)
{
    return dim == 2 ? 18 : 52;
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
void packed_show(packed_problem* packed, int threads);
/// Recompute the packed velocities from the impulses, forgetting what the sweeps summed up.
void packed_refresh(packed_problem* packed, const packed_kernels* kernels, int threads);
/// Write impulses and velocities that have just been refreshed to the problem.
void packed_write(packed_problem* packed, int threads);
/// Both: refresh and write.
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

/// The constants of a contact of a mobile wall as it meets its copy of the wall: block and row of
/// the problem with the responses that it has then.
void packed_split_block(const packed_problem* packed, int64_t contact, double* block, double* row);
/// Sum up what the contacts of a block push its wall by, if it is one of a wall; `before`: also
/// what they did in the sweep before.
void packed_push_wall(packed_problem* packed, int64_t number, bool before, bool single);
/// Give the walls and their copies the velocities that these pushes make.
void packed_move_walls(packed_problem* packed, bool before, bool single);
/// Write the velocities of the walls to the problem.
void packed_show_walls(const packed_problem* packed);

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
