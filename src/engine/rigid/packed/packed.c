/// Passes over the blocks of a packed problem, and what they give back to the problem.
#include "rigid/packed/packed.h"

#include "base/array.h"
#include "base/crew.h"
#include "rigid/packed/exchange.h"
#include "rigid/packed/on_card.h"

#include <stdlib.h>
#include <string.h>

/// Below this one thread is faster than two (docs/benchmarks.md).
enum { CONTACTS_FOR_THREADS = 5000 };
/// Above this many contacts memory counts more than the time to get it again in the next step.
enum { CONTACTS_TO_KEEP = 200000 };

int packed_threads(int64_t contacts, int threads)
{
    return contacts < CONTACTS_FOR_THREADS || threads < 1 ? 1 : threads;
}

void packed_free(packed_problem* packed)
{
    packed_layout_free(packed);
    packed_single_free(packed);
    packed_card_free(packed);
    crew_free(packed->crew);
    free(packed->blocks);
    free(packed->waits);
    free(packed->done);
    free(packed->wave);
    free(packed->batches);
    free(packed->who);
    free(packed->source);
    free(packed->arranged);
    free(packed->opening);
    free(packed->open);
    free(packed->held);
    free(packed->body_of);
    free(packed->private_row);
    free(packed->sums);
    free(packed->pushes);
    free(packed->wall_contacts);
    free(packed->wall_velocity);
    for (int k = 0; k < PACKED_ARRAYS; k++) free(packed->values[k]);
    *packed = (packed_problem){0};
}

// ---- sweeping ----------------------------------------------------------------------------------

/// Bytes that a thread copies at a time.
enum { COPY_BYTES = 1 << 18 };

static void copy_array(packed_problem* packed, packed_array to, packed_array from, int threads)
{
    const int64_t size =
        packed->length[from] * (int64_t)(packed->single ? sizeof(float) : sizeof(double));
    const char* source = packed->single ? (char*)packed->floats[from] : (char*)packed->values[from];
    char* target = packed->single ? (char*)packed->floats[to] : (char*)packed->values[to];
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t at = 0; at < size; at += COPY_BYTES) {
        memcpy(target + at, source + at, (size_t)(size - at < COPY_BYTES ? size - at : COPY_BYTES));
    }
}

void packed_remember(packed_problem* packed, int threads)
{
    threads = packed_threads(packed->count, threads);
    packed->has_old = true;
    if (packed->on_card) {
        packed_card_remember(packed);
        return;
    }
    memset(packed->held, 0, (size_t)packed->batch_count * PACKED_LANES);
    copy_array(packed, PACKED_OLD_ROW, PACKED_ROW, threads);
    copy_array(packed, PACKED_OLD_IMPULSE, PACKED_IMPULSE, threads);
    copy_array(packed, PACKED_OLD_TORQUE, PACKED_TORQUE, threads);
    for (int64_t k = 0; k < packed->problem->compound_count; k++) {
        vec_copy(3, packed->values[PACKED_OLD_COMPOUND] + 3 * k,
                 packed->problem->compound_rows[k].torque);
    }
}

void packed_forget(packed_problem* packed)
{
    const packed_array old[] = {PACKED_OLD_ROW, PACKED_OLD_IMPULSE};
    packed->has_old = false;
    for (int k = 0; k < 2 && packed->count > CONTACTS_TO_KEEP; k++) {
        free(packed->values[old[k]]);
        packed->values[old[k]] = NULL;
        packed->capacity[old[k]] = 0;
    }
}

/// Wait until a block has had this pass. Whoever does it may have lost its core: the one that waits
/// soon gives up its own.
static void wait_for(const packed_problem* packed, int64_t block, uint32_t pass)
{
    for (int turn = 0; __atomic_load_n(&packed->done[block], __ATOMIC_ACQUIRE) != pass; turn++)
        crew_wait(turn);
}

/// Work on a block; `data` says how.
typedef void block_work(packed_problem* packed, int64_t block, const void* data);

/// A pass over all blocks.
typedef struct block_pass {
    packed_problem* packed;
    block_work* work;
    const void* data;
    uint32_t number;
} block_pass;

static void do_block(void* data, int64_t k)
{
    const block_pass* pass = data;
    packed_problem* packed = pass->packed;
    const packed_block* block = &packed->blocks[k];
    const int32_t* waits = packed->waits + block->wait_first;
    for (int i = 0; i < block->wait_count; i++) wait_for(packed, waits[i], pass->number);
    pass->work(packed, k, pass->data);
    __atomic_store_n(&packed->done[k], pass->number, __ATOMIC_RELEASE);
}

/// Do all blocks but the tail. Threads take them wave by wave, and every block waits for those that
/// touch the same bodies before it: to each body things happen in the order of one thread.
static void do_blocks(packed_problem* packed, block_work* work, const void* data, int threads)
{
    block_pass pass = {packed, work, data, ++packed->pass};
    if (threads > 1) {
        crew_do(&packed->crew, threads, packed->wave_count, packed->wave, do_block, &pass);
    } else {
        for (int64_t k = 0; k < packed->block_count; k++) work(packed, k, data);
    }
}

/// A sweep over a block as it shall be done.
typedef struct sweep_task {
    packed_sweep_block* sweep;
    const packed_manner* manner;
} sweep_task;

static void sweep_one(packed_problem* packed, int64_t block, const void* data)
{
    const sweep_task* task = data;
    task->sweep(packed, block, task->manner, &packed->sums[block]);
    packed_push_wall(packed, block, packed->has_old, packed->single);
}

/// The sums of all blocks; those of floats are in their units.
static packed_sums add_blocks(const packed_problem* packed, double unit)
{
    double change[PACKED_SUMMANDS] = {0.0}, step[PACKED_SUMMANDS] = {0.0},
           turning[PACKED_SUMMANDS] = {0.0}, impulse[PACKED_SUMMANDS] = {0.0};
    int64_t skipped = 0;
    for (int64_t k = 0; k <= packed->block_count; k++) {
        const packed_sums* sums = &packed->sums[k];
        const int64_t turn = k % PACKED_SUMMANDS;
        change[turn] += sums->change;
        step[turn] += sums->step;
        turning[turn] += sums->turning;
        impulse[turn] += sums->impulse;
        skipped += sums->skipped;
    }
    packed_add_halves(change);
    packed_add_halves(step);
    packed_add_halves(turning);
    packed_add_halves(impulse);
    return (packed_sums){unit * change[0], unit * step[0], unit * turning[0], unit * impulse[0],
                         skipped};
}

packed_sums packed_sweep(packed_problem* packed, const packed_kernels* kernels,
                         const packed_manner* manner, int threads)
{
    if (packed->on_card) return packed_card_sweep(packed, manner);
    const packed_kernels* one_lane = packed_kernels_for(TALUS_VECTOR_PORTABLE);
    const double unit = packed->single ? packed->velocity_unit * packed->impulse_unit : 1.0;
    packed_manner in_units = *manner;
    in_units.outlier /= unit;
    sweep_task task = {packed->single ? kernels->sweep_single : kernels->sweep, &in_units};
    do_blocks(packed, sweep_one, &task, packed_threads(packed->count, threads));
    task.sweep = packed->single ? one_lane->sweep_single : one_lane->sweep;
    sweep_one(packed, packed->block_count, &task);
    packed_move_walls(packed, packed->has_old, packed->single);
    return add_blocks(packed, unit);
}

static void apply_one(packed_problem* packed, int64_t block, const void* data)
{
    const packed_kernels* kernels = data;
    kernels->apply(packed, block);
    packed_push_wall(packed, block, false, false);
}

void packed_apply(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    if (packed->on_card) {
        packed_card_apply(packed);
        return;
    }
    threads = packed_threads(packed->count, threads);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t r = 0; r < packed->row_count; r++) packed_take_row(packed, r);
    do_blocks(packed, apply_one, kernels, threads);
    apply_one(packed, packed->block_count, packed_kernels_for(TALUS_VECTOR_PORTABLE));
    packed_move_walls(packed, false, false);
}

// ---- back --------------------------------------------------------------------------------------

static void unpack_batch(const packed_problem* packed, int64_t batch)
{
    const int dim = packed->dim;
    tell_memory(packed, batch, true);
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        if (c < 0) continue;
        double* row = packed->problem->contact + c * problem_width(dim);
        unpack_impulse(dim, row, packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES + lane,
                       row + contact_p(dim));
        if (!packed_has_torques(packed->batches[batch].kind)) continue;
        const int32_t compound = problem_compound_of(packed->problem, c);
        packed_unpack_torque(packed, c, batch, lane,
                             packed->problem->compound_rows[compound].torque);
    }
}

/// Velocities of the sweep before, less or more those of this one.
static void move_old_rows(packed_problem* packed, double sign, int threads)
{
    if (packed->on_card) {
        packed_card_move_old_rows(packed, sign);
        return;
    }
    const int64_t numbers = packed->has_old ? packed->length[PACKED_OLD_ROW] : 0;
    const double* row = packed->values[PACKED_ROW];
    double* old = packed->values[PACKED_OLD_ROW];
    threads = packed_threads(packed->count, threads);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t k = 0; k < numbers; k++) old[k] += sign * row[k];
}

void packed_show(packed_problem* packed, int threads)
{
    const int dim = packed->dim;
    if (packed->on_card) packed_card_fetch(packed);
    threads = packed_threads(packed->count, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < packed->batch_count; k++) unpack_batch(packed, k);
#pragma omp for schedule(static)
        for (int64_t r = 0; r < packed->row_count; r++) {
            if (packed->body_of[r] < 0 || packed->private_row[r]) continue;
            vec_copy(dim, packed->problem->body + (int64_t)packed->body_of[r] * problem_stride(dim),
                     packed->values[PACKED_ROW] + r * packed_stride(dim));
        }
    }
    packed_show_walls(packed);
}

/// What rounding has made of the velocities is taken from those of the sweep before, too: left in
/// one of them, momentum would make it grow from sweep to sweep.
void packed_refresh(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    if (packed->single) {
        packed_refresh_single(packed, kernels, threads);
        return;
    }
    move_old_rows(packed, -1.0, threads);
    packed_apply(packed, kernels, threads);
    move_old_rows(packed, 1.0, threads);
}

void packed_write(packed_problem* packed, int threads)
{
    problem* p = packed->problem;
    const int dim = packed->dim;
    const int64_t numbers = p->rows * problem_stride(dim);
    if (packed->on_card) packed_card_fetch(packed);
    threads = packed_threads(packed->count, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < packed->batch_count; k++) unpack_batch(packed, k);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < numbers; k++) p->body[k] = p->free[k];
#pragma omp for schedule(static)
        for (int64_t r = 0; r < packed->row_count; r++) {
            const int32_t body = packed->body_of[r];
            if (body < 0 || packed->private_row[r]) continue; // copies are equal to what is there
            unpack_row(packed, p, dim, r, p->body + (int64_t)body * problem_stride(dim));
        }
    }
    packed_show_walls(packed);
}

void packed_give_back(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    packed_refresh(packed, kernels, threads);
    packed_write(packed, threads);
}

/// Take the impulses of a batch from the problem.
static void load_impulses(packed_problem* packed, int64_t batch)
{
    const int dim = packed->dim;
    double* impulse = packed->values[PACKED_IMPULSE] + batch * dim * PACKED_LANES;
    tell_memory(packed, batch, false);
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[batch * PACKED_LANES + lane];
        if (c < 0) continue;
        const double* row = packed->problem->contact + c * problem_width(dim);
        pack_impulse(packed, row, row + contact_p(dim), impulse + lane);
    }
}

/// For a moment the packed impulses are what they change by, so that this is applied.
static void shift_one(packed_problem* packed, int64_t number, const void* data)
{
    const packed_kernels* kernels = data;
    const packed_block* block = &packed->blocks[number];
    const int count = packed->dim * PACKED_LANES;
    for (int64_t k = block->first; k < block->last; k++) {
        double *now = packed->values[PACKED_IMPULSE] + k * count,
               *old = packed->values[PACKED_OLD_IMPULSE] + k * count;
        double before[3 * PACKED_LANES];
        memcpy(before, now, sizeof(double) * (size_t)count);
        load_impulses(packed, k);
        for (int i = 0; i < count; i++) {
            now[i] -= before[i];
            old[i] += now[i];
        }
    }
    kernels->apply(packed, number);
    for (int64_t k = block->first; k < block->last; k++) load_impulses(packed, k);
    packed_push_wall(packed, number, true, false);
}

void packed_shift(packed_problem* packed, const packed_kernels* kernels, int threads)
{
    if (packed->on_card) {
        for (int64_t k = 0; k < packed->batch_count; k++) load_impulses(packed, k);
        packed_card_shift(packed);
        return;
    }
    memset(packed->open, 0, (size_t)packed->batch_count);
    move_old_rows(packed, -1.0, threads);
    do_blocks(packed, shift_one, kernels, packed_threads(packed->count, threads));
    shift_one(packed, packed->block_count, packed_kernels_for(TALUS_VECTOR_PORTABLE));
    move_old_rows(packed, 1.0, threads);
    packed_move_walls(packed, true, false);
}
