#include "rigid/packed/on_card.h"

#include "base/array.h"
#include "card/sums.h"
#include "rigid/packed/card_jobs.h"

#include <stdlib.h>
#include <string.h>

/// Arrays of a problem on the card beside packed_array.
typedef enum card_array {
    CARD_BLOCKS,
    CARD_BATCHES,
    CARD_WAITS,
    CARD_WHO,
    CARD_SOURCE,
    CARD_OPEN,
    CARD_HELD,
    CARD_SUMS,
    CARD_DONE,   ///< [block_count] passes
    CARD_TICKET, ///< how many blocks have begun
    CARD_PUSHES,
    CARD_WALL_VELOCITY,
    CARD_FREE_ROW,       ///< [row_count][stride] rows of the free velocities
    CARD_FRESH,          ///< [batch_count][dim][lane] new impulses
    CARD_GROUPS,         ///< [groups + 1]
    CARD_GROUP_OF_BLOCK, ///< [block_count + 2]
    CARD_WALL_FREE,      ///< [mobile walls][dim]
    CARD_WALL_MOBILITY,  ///< [mobile walls][dim][dim]
    CARD_TOTAL,
    CARD_ARRAYS
} card_array;

typedef struct packed_card {
    card* card;
    packed_problem there; ///< the problem with arrays on the card
    card_buffer values[PACKED_ARRAYS], others[CARD_ARRAYS];
    card_groups groups;
    int64_t group_count, group_capacity, start_capacity;
    int32_t *group, *start; ///< what CARD_GROUPS and CARD_GROUP_OF_BLOCK hold
    uint32_t pass, begun;   ///< passes over all blocks, and blocks, that were launched
    bool* balls;            ///< [wave_count] no kinds but BALL and BOND
    int64_t wave_capacity;
    int64_t arrangement, gathering; ///< of the layout that is there
} packed_card;

// ---- what can be there -------------------------------------------------------------------------

const char* packed_card_why_not(const packed_problem* packed)
{
    if (packed->slots[PACKED_SCALAR] > 0) {
        return "some contacts are solved one by one (bodies in the plane that turn about a fixed "
               "point)";
    }
    return NULL;
}

/// Arrays that the card works on; the others are the host's alone.
static bool is_there(packed_array array)
{
    return array != PACKED_SPIN_SCALE && array != PACKED_OLD_COMPOUND;
}

/// How many blocks others wait for, in all lists.
static int64_t wait_count(const packed_problem* packed)
{
    if (packed->block_count == 0) return 0;
    const packed_block* last = &packed->blocks[packed->block_count - 1];
    return last->wait_first + last->wait_count;
}

static size_t bytes_of(const packed_problem* packed, card_array array)
{
    const size_t dim = (size_t)packed->dim, batches = (size_t)packed->batch_count,
                 blocks = (size_t)packed->block_count,
                 walls = (size_t)packed->problem->mobile_count, lanes = PACKED_LANES;
    switch (array) {
    case CARD_BLOCKS: return (blocks + 1) * sizeof *packed->blocks;
    case CARD_BATCHES: return batches * sizeof *packed->batches;
    case CARD_WAITS: return (size_t)wait_count(packed) * sizeof *packed->waits;
    case CARD_WHO: return batches * 2 * lanes * sizeof *packed->who;
    case CARD_SOURCE: return batches * lanes * sizeof *packed->source;
    case CARD_OPEN: return batches * sizeof *packed->open;
    case CARD_HELD: return batches * lanes * sizeof *packed->held;
    case CARD_SUMS: return (blocks + 1) * sizeof *packed->sums;
    case CARD_DONE: return blocks * sizeof *packed->done;
    case CARD_TICKET: return sizeof(uint32_t);
    case CARD_PUSHES: return (blocks + 1) * sizeof *packed->pushes;
    case CARD_WALL_VELOCITY: return walls * sizeof *packed->wall_velocity;
    case CARD_FREE_ROW: return (size_t)packed->length[PACKED_ROW] * sizeof(double);
    case CARD_FRESH: return (size_t)packed->length[PACKED_IMPULSE] * sizeof(double);
    case CARD_GROUPS: return (batches + 1) * sizeof(int32_t); // at most
    case CARD_GROUP_OF_BLOCK: return (blocks + 2) * sizeof(int32_t);
    case CARD_WALL_FREE: return walls * dim * sizeof(double);
    case CARD_WALL_MOBILITY: return walls * dim * dim * sizeof(double);
    default: return sizeof(packed_sums);
    }
}

size_t packed_card_bytes(const packed_problem* packed)
{
    size_t sum = 0;
    for (int k = 0; k < PACKED_ARRAYS; k++) {
        if (is_there((packed_array)k)) sum += (size_t)packed->length[k] * sizeof(double);
    }
    for (int k = 0; k < CARD_ARRAYS; k++) sum += bytes_of(packed, (card_array)k);
    return sum;
}

// ---- there and back ----------------------------------------------------------------------------

/// Where the groups of batches begin, block after block, the tail's last.
static talus_status find_groups(packed_card* on, const packed_problem* packed)
{
    if (!arrays_renew(&on->group_capacity, packed->batch_count + 1, ARRAY(on->group)) ||
        !arrays_renew(&on->start_capacity, packed->block_count + 2, ARRAY(on->start))) {
        return TALUS_ERR_MEMORY;
    }
    on->group_count = 0;
    for (int64_t b = 0; b <= packed->block_count; b++) {
        on->start[b] = (int32_t)on->group_count;
        for (int64_t k = packed->blocks[b].first; k < packed->blocks[b].last; k++) {
            if (packed->batches[k].group == k) on->group[on->group_count++] = (int32_t)k;
        }
    }
    on->start[packed->block_count + 1] = (int32_t)on->group_count;
    on->group[on->group_count] = (int32_t)packed->batch_count;
    return TALUS_OK;
}

static bool has_only_balls(const packed_problem* packed, int64_t first_block, int64_t last_block)
{
    for (int64_t k = packed->blocks[first_block].first; k < packed->blocks[last_block - 1].last;
         k++) {
        const int kind = packed->batches[k].kind;
        if (kind != PACKED_BALL && kind != PACKED_BOND) return false;
    }
    return true;
}

/// Waves without other kinds than balls are swept by a kernel that has no code for others.
static talus_status find_balls(packed_card* on, const packed_problem* packed)
{
    if (!arrays_renew(&on->wave_capacity, packed->wave_count, ARRAY(on->balls))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t k = 0; k < packed->wave_count; k++) {
        on->balls[k] = has_only_balls(packed, packed->wave[k], packed->wave[k + 1]);
    }
    return TALUS_OK;
}

static void put(packed_card* on, const packed_problem* packed, card_array array, const void* from)
{
    size_t bytes = bytes_of(packed, array);
    card_renew(on->card, &on->others[array], bytes);
    if (array == CARD_GROUPS) bytes = sizeof(int32_t) * (size_t)(on->group_count + 1);
    if (from && bytes > 0) card_put(on->card, &on->others[array], 0, from, bytes);
}

static void put_values(packed_card* on, const packed_problem* packed, packed_array array)
{
    const size_t bytes = sizeof(double) * (size_t)packed->length[array];
    card_renew(on->card, &on->values[array], bytes);
    if (bytes > 0) card_put(on->card, &on->values[array], 0, packed->values[array], bytes);
}

/// Velocities that mobile walls would have without contacts, and their mobilities.
static talus_status put_walls(packed_card* on, const packed_problem* packed)
{
    const problem* p = packed->problem;
    const int dim = p->dim;
    if (p->mobile_count == 0) return TALUS_OK;
    double* free_velocity = malloc(sizeof *free_velocity * (size_t)(p->mobile_count * dim));
    if (!free_velocity) return TALUS_ERR_MEMORY;
    for (int64_t wall = 0; wall < p->mobile_count; wall++) {
        vec_copy(dim, free_velocity + wall * dim,
                 p->free + (p->mobile_first + wall) * problem_stride(dim));
    }
    put(on, packed, CARD_WALL_FREE, free_velocity);
    put(on, packed, CARD_WALL_MOBILITY, p->mobility);
    free(free_velocity);
    return TALUS_OK;
}

/// The problem as the card sees it.
static void point_to_card(packed_card* on, const packed_problem* packed)
{
    packed_problem* there = &on->there;
    *there = *packed;
    there->blocks = on->others[CARD_BLOCKS].at;
    there->waits = on->others[CARD_WAITS].at;
    there->wave = NULL;
    there->done = on->others[CARD_DONE].at;
    there->batches = on->others[CARD_BATCHES].at;
    there->who = on->others[CARD_WHO].at;
    there->source = on->others[CARD_SOURCE].at;
    there->arranged = NULL;
    there->opening = NULL;
    there->open = on->others[CARD_OPEN].at;
    there->held = on->others[CARD_HELD].at;
    there->body_of = NULL;
    there->private_row = NULL;
    for (int k = 0; k < PACKED_ARRAYS; k++) {
        there->values[k] = is_there((packed_array)k) ? on->values[k].at : NULL;
        there->floats[k] = NULL;
    }
    there->sums = on->others[CARD_SUMS].at;
    there->pushes = on->others[CARD_PUSHES].at;
    there->wall_contacts = NULL;
    there->wall_velocity = on->others[CARD_WALL_VELOCITY].at;
    there->crew = NULL;
    there->problem = NULL;
    there->notes = NULL;
    there->on_card = NULL;
    on->groups = (card_groups){on->others[CARD_GROUPS].at, on->others[CARD_GROUP_OF_BLOCK].at};
}

/// Put there what the layout says, as far as it is not that of the last problem.
static talus_status put_layout(packed_card* on, const packed_problem* packed)
{
    const bool arranged = on->arrangement != packed->arrangement;
    if (arranged) {
        if (find_groups(on, packed) || find_balls(on, packed)) return TALUS_ERR_MEMORY;
        put(on, packed, CARD_BLOCKS, packed->blocks);
        put(on, packed, CARD_BATCHES, packed->batches);
        put(on, packed, CARD_WAITS, packed->waits);
        put(on, packed, CARD_GROUPS, on->group);
        put(on, packed, CARD_GROUP_OF_BLOCK, on->start);
    }
    if (arranged || on->gathering != packed->gathering) {
        put(on, packed, CARD_WHO, packed->who);
        put(on, packed, CARD_SOURCE, packed->source);
    }
    on->arrangement = packed->arrangement;
    on->gathering = packed->gathering;
    return TALUS_OK;
}

/// Arrays that packed_apply() and packed_remember() fill before anybody reads them.
static bool is_filled_there(packed_array array)
{
    return array == PACKED_ROW || array == PACKED_OLD_ROW || array == PACKED_OLD_IMPULSE ||
           array == PACKED_OLD_TORQUE;
}

talus_status packed_to_card(packed_problem* packed, card* c)
{
    packed_card* on = packed->card_memory;
    if (!on) on = packed->card_memory = calloc(1, sizeof *on);
    if (!on) return TALUS_ERR_MEMORY;
    on->card = c;
    if (put_layout(on, packed)) return TALUS_ERR_MEMORY;
    for (card_array k = CARD_OPEN; k <= CARD_WALL_VELOCITY; k++) put(on, packed, k, NULL);
    put(on, packed, CARD_FREE_ROW, packed->values[PACKED_ROW]);
    put(on, packed, CARD_FRESH, NULL);
    put(on, packed, CARD_TOTAL, NULL);
    if (put_walls(on, packed)) return TALUS_ERR_MEMORY;
    for (int k = 0; k < PACKED_ARRAYS; k++) {
        if (!is_there((packed_array)k)) continue;
        if (is_filled_there((packed_array)k)) {
            card_renew(c, &on->values[k], sizeof(double) * (size_t)packed->length[k]);
        } else {
            put_values(on, packed, (packed_array)k);
        }
    }
    card_zero(c, &on->others[CARD_OPEN], 0, bytes_of(packed, CARD_OPEN));
    card_zero(c, &on->others[CARD_HELD], 0, bytes_of(packed, CARD_HELD));
    // The tail of a problem that has none is never swept.
    card_zero(c, &on->others[CARD_SUMS], 0, bytes_of(packed, CARD_SUMS));
    card_zero(c, &on->others[CARD_DONE], 0, bytes_of(packed, CARD_DONE));
    card_zero(c, &on->others[CARD_TICKET], 0, bytes_of(packed, CARD_TICKET));
    on->pass = on->begun = 0;
    point_to_card(on, packed);
    packed->on_card = on;
    return card_state(c, NULL);
}

void packed_leave_card(packed_problem* packed)
{
    packed->on_card = NULL;
}

void packed_card_free(packed_problem* packed)
{
    packed_card* on = packed->card_memory;
    if (!on) return;
    for (int k = 0; k < PACKED_ARRAYS; k++) card_free(on->card, &on->values[k]);
    for (int k = 0; k < CARD_ARRAYS; k++) card_free(on->card, &on->others[k]);
    free(on->group);
    free(on->start);
    free(on->balls);
    free(on);
    packed->card_memory = packed->on_card = NULL;
}

talus_status packed_card_state(const packed_problem* packed, talus_error* error)
{
    return card_state(packed->on_card->card, error);
}

card* packed_card_of(const packed_problem* packed)
{
    return packed->on_card->card;
}

const packed_problem* packed_card_there(const packed_problem* packed)
{
    return &packed->on_card->there;
}

static void fetch_values(packed_problem* packed, packed_array array)
{
    const size_t bytes = sizeof(double) * (size_t)packed->length[array];
    if (bytes == 0) return;
    card_get(packed->on_card->card, packed->values[array], &packed->on_card->values[array], 0,
             bytes);
}

void packed_card_fetch(packed_problem* packed)
{
    const size_t walls = bytes_of(packed, CARD_WALL_VELOCITY);
    fetch_values(packed, PACKED_IMPULSE);
    fetch_values(packed, PACKED_TORQUE);
    fetch_values(packed, PACKED_ROW);
    if (walls == 0) return;
    card_get(packed->on_card->card, packed->wall_velocity,
             &packed->on_card->others[CARD_WALL_VELOCITY], 0, walls);
}

void packed_card_refresh_friction(packed_problem* packed)
{
    put_values(packed->on_card, packed, PACKED_BONDS);
    put_values(packed->on_card, packed, PACKED_ROLLS);
    put_values(packed->on_card, packed, PACKED_SOLID_BONDS);
    put_values(packed->on_card, packed, PACKED_SOLID_ROLLS);
}

// ---- passes over all blocks --------------------------------------------------------------------

static const card_grid ONE_BLOCK = {.blocks = 1, .threads = CARD_SWEEP_THREADS};

static card_sweep_job job_of(const packed_card* on, const packed_manner* manner, bool before)
{
    return (card_sweep_job){
        .packed = on->there, .groups = on->groups, .manner = *manner, .before = before};
}

/// A kernel in the plane and in space.
typedef struct kernel_name {
    const char *module[2], *of[2];
} kernel_name;

static card_kernel* find(const packed_problem* packed, const kernel_name* name)
{
    const int space = packed->dim == 3;
    return card_find(packed->on_card->card, name->module[space], name->of[space]);
}

#define SWEEPS                                                                                     \
    {                                                                                              \
        "card_sweeps", "card_sweeps"                                                               \
    }
#define LAWS                                                                                       \
    {                                                                                              \
        {"card_laws_2d", "card_laws_3d"},                                                          \
        {                                                                                          \
            "sweep_all", "sweep_all"                                                               \
        }                                                                                          \
    }

/// Kernels for a wave that has only balls, for one that has others, too, and for the tail.
typedef struct wave_kernels {
    kernel_name balls, all, tail;
} wave_kernels;

/// All blocks, waves that have the same kernel in one launch, then the tail if there is one, which
/// is the block behind the last.
static void do_blocks(const packed_problem* packed, card_sweep_job job, const wave_kernels* kernels)
{
    packed_card* on = packed->on_card;
    const packed_block* last = &packed->blocks[packed->block_count];
    job.order = (card_order){.ticket = on->others[CARD_TICKET].at, .pass = ++on->pass};
    for (int64_t k = 0, end; k < packed->wave_count; k = end) {
        for (end = k + 1; end < packed->wave_count && on->balls[end] == on->balls[k];) end++;
        const card_grid grid = {.blocks = packed->wave[end] - packed->wave[k],
                                .threads = CARD_SWEEP_THREADS};
        job.first = packed->wave[k];
        job.order.begun = on->begun;
        on->begun += (uint32_t)grid.blocks;
        card_launch(on->card, find(packed, on->balls[k] ? &kernels->balls : &kernels->all), grid,
                    &job);
    }
    if (last->first == last->last) return;
    job.first = packed->block_count;
    card_launch(on->card, find(packed, &kernels->tail), ONE_BLOCK, &job);
}

/// Let the walls follow the impulses of their contacts.
static void move_walls(const packed_problem* packed, bool before)
{
    static const kernel_name push = {SWEEPS, {"push_wall_2d", "push_wall_3d"}};
    packed_card* on = packed->on_card;
    const int64_t walls = packed->problem->mobile_count;
    const card_grid grid = {.blocks = packed->block_count - packed->inner,
                            .threads = CARD_SWEEP_THREADS};
    card_sweep_job pushes = job_of(on, &(packed_manner){0}, before);
    const card_walls_job job = {.packed = on->there,
                                .walls = walls,
                                .free = on->others[CARD_WALL_FREE].at,
                                .mobility = on->others[CARD_WALL_MOBILITY].at,
                                .before = before};
    if (walls == 0) return;
    pushes.first = packed->inner;
    card_launch(on->card, find(packed, &push), grid, &pushes);
    card_launch(on->card, card_find(on->card, "card_sweeps", "move_walls"), ONE_BLOCK, &job);
}

static void apply_impulses(const packed_problem* packed)
{
    static const wave_kernels kernels = {
        .balls = {SWEEPS, {"apply_2d", "apply_3d"}},
        .all = {SWEEPS, {"apply_2d", "apply_3d"}},
        .tail = {SWEEPS, {"apply_tail_2d", "apply_tail_3d"}},
    };
    do_blocks(packed, job_of(packed->on_card, &(packed_manner){0}, false), &kernels);
}

void packed_card_apply(packed_problem* packed)
{
    packed_card* on = packed->on_card;
    card_copy(on->card, &on->values[PACKED_ROW], 0, &on->others[CARD_FREE_ROW], 0,
              bytes_of(packed, CARD_FREE_ROW));
    apply_impulses(packed);
    move_walls(packed, false);
}

void packed_card_remember(packed_problem* packed)
{
    static const packed_array pair[3][2] = {{PACKED_OLD_ROW, PACKED_ROW},
                                            {PACKED_OLD_IMPULSE, PACKED_IMPULSE},
                                            {PACKED_OLD_TORQUE, PACKED_TORQUE}};
    packed_card* on = packed->on_card;
    card_zero(on->card, &on->others[CARD_HELD], 0, bytes_of(packed, CARD_HELD));
    for (int k = 0; k < 3; k++) {
        const size_t bytes = sizeof(double) * (size_t)packed->length[pair[k][1]];
        if (bytes == 0) continue;
        card_copy(on->card, &on->values[pair[k][0]], 0, &on->values[pair[k][1]], 0, bytes);
    }
}

packed_sums packed_card_sweep(packed_problem* packed, const packed_manner* manner)
{
    static const wave_kernels kernels[2] = {
        {.balls = {SWEEPS, {"sweep_balls_2d", "sweep_balls_3d"}}, .all = LAWS, .tail = LAWS},
        {.balls = {SWEEPS, {"sweep_balls_momentum_2d", "sweep_balls_momentum_3d"}},
         .all = LAWS,
         .tail = LAWS},
    };
    packed_card* on = packed->on_card;
    packed_sums sums = {0};
    do_blocks(packed, job_of(on, manner, packed->has_old), &kernels[manner->momentum]);
    move_walls(packed, packed->has_old);
    const card_total_job total = {.packed = on->there, .total = on->others[CARD_TOTAL].at};
    card_launch(on->card, card_find(on->card, "card_sweeps", "add_sums"), ONE_BLOCK, &total);
    card_get(on->card, &sums, &on->others[CARD_TOTAL], 0, sizeof sums);
    return sums;
}

void packed_card_move_old_rows(packed_problem* packed, double sign)
{
    enum { THREADS = 256 };
    packed_card* on = packed->on_card;
    const card_axpy_job job = {.count = packed->has_old ? packed->length[PACKED_OLD_ROW] : 0,
                               .a = sign,
                               .x = on->values[PACKED_ROW].at,
                               .y = on->values[PACKED_OLD_ROW].at};
    card_launch(on->card, card_find(on->card, "card_sums", "card_axpy"),
                card_grid_of(job.count, THREADS), &job);
}

void packed_card_shift(packed_problem* packed)
{
    enum { THREADS = 256 };
    packed_card* on = packed->on_card;
    const size_t bytes = bytes_of(packed, CARD_FRESH);
    const card_shift_job job = {.count = packed->length[PACKED_IMPULSE],
                                .fresh = on->others[CARD_FRESH].at,
                                .now = on->values[PACKED_IMPULSE].at,
                                .old = on->values[PACKED_OLD_IMPULSE].at};
    card_zero(on->card, &on->others[CARD_OPEN], 0, bytes_of(packed, CARD_OPEN));
    packed_card_move_old_rows(packed, -1.0);
    card_put(on->card, &on->others[CARD_FRESH], 0, packed->values[PACKED_IMPULSE], bytes);
    card_launch(on->card, card_find(on->card, "card_sweeps", "shift_impulses"),
                card_grid_of(job.count, THREADS), &job);
    apply_impulses(packed);
    card_copy(on->card, &on->values[PACKED_IMPULSE], 0, &on->others[CARD_FRESH], 0, bytes);
    packed_card_move_old_rows(packed, 1.0);
    move_walls(packed, true);
}
