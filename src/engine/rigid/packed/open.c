/// Contacts that are likely to stay open, gathered in batches of their own.
///
/// In a flow half of the contacts that a search finds bear no load: grains that are near each other
/// and move apart, or not fast enough together to meet within the step. Sweeps leave batches out in
/// which all contacts are open (kernel.h). So that there are such batches, the contacts of a group
/// (one block, one colour, one kind) are filled into its batches in the order of how likely it is
/// that they open. The layout itself, which knows nothing of impulses, stays what it is.
#include "base/array.h"
#include "base/parallel.h"
#include "rigid/ahead.h"
#include "rigid/packed/packed.h"

#include <stdlib.h>

/// The speed at which a contact without impulse opens, if it does, says whether it will stay open.
/// On 10 steps of collapses, a hopper and a silo one in four of those slower than 1/16 of their
/// mean closed all the same, 4 % and 1 % in the next two octaves, and next to none beyond.
static const double SLOW = 1.0 / 16.0;
enum { OCTAVES = 3, IDLE = OCTAVES + 1 };

/// Note the speeds at which contacts open; 0 for those that bear load or approach each other.
static void find_opening(void* data, int64_t first, int64_t last, double* sums)
{
    packed_problem* packed = data;
    const problem* p = packed->problem;
    const int dim = p->dim, stride = problem_stride(dim);
    for (int64_t c = first; c < last; c++) {
        const double *row = p->contact + c * problem_width(dim), *impulse = row + contact_p(dim);
        const double *a = p->free + (int64_t)p->pair[2 * c] * stride,
                     *b = p->free + (int64_t)p->pair[2 * c + 1] * stride;
        double u[3];
        look_ahead(p, dim, c, p->free);
        packed->opening[c] = 0.0F;
        if (row[contact_bias(dim)] <= 0.0 || vec_dot(dim, impulse, impulse) > 0.0) continue;
        if (problem_block_of(p, c) < 0) {
            contact_velocity(dim, a, b, row, u);
        } else {
            block_velocity(dim, problem_block(p, dim, c), a, b, u);
        }
        const double opening = vec_dot(dim, u, row) + row[contact_bias(dim)];
        if (!(opening > 0.0)) continue;
        packed->opening[c] = (float)opening;
        sums[0] += opening;
        sums[1] += 1.0;
    }
}

/// Where a contact comes in its group: first those that are likely to bear load.
static uint8_t rank_of(double opening, double slow)
{
    int rank = 0; // no loop that ends somewhere: nobody could foresee where
    for (int k = 0; k < OCTAVES; k++) rank += opening > slow * (1 << k);
    return (uint8_t)rank;
}

/// The rank of the contact in a lane; idle lanes come last.
static ALWAYS_INLINE int lane_rank(const uint8_t* rank, int32_t c)
{
    return c < 0 ? IDLE : rank[c];
}

/// Counts of all ranks in one number, which stays in a register: a lane need not wait until the
/// memory has the count of the lane before. A group has the contacts of a block at most, and a
/// block fewer than 2^COUNT_BITS.
enum { COUNT_BITS = 12 };
static const uint64_t COUNT_MASK = (1 << COUNT_BITS) - 1;

/// Fill the batches of a group, by the rank of contacts and otherwise as they were arranged. True
/// if that is not how they were filled.
static bool fill_group(packed_problem* packed, int64_t first, int64_t last, const uint8_t* rank)
{
    bool changed = false;
    uint64_t counts = 0, next = 0; // next: lanes, from the first of the group, for each rank
    for (int64_t k = first; k < last; k++) {
        const int32_t* source = packed->arranged + 3 * k * PACKED_LANES;
        for (int i = 0; i < PACKED_LANES; i++) {
            counts += UINT64_C(1) << COUNT_BITS * lane_rank(rank, source[i]);
        }
    }
    for (int k = 0; k < IDLE; k++) {
        const uint64_t here = (next >> COUNT_BITS * k) + (counts >> COUNT_BITS * k);
        next |= (here & COUNT_MASK) << COUNT_BITS * (k + 1);
    }
    for (int64_t k = first; k < last; k++) {
        const int32_t* from = packed->arranged + 3 * k * PACKED_LANES;
        for (int i = 0; i < PACKED_LANES; i++) {
            const int shift = COUNT_BITS * lane_rank(rank, from[i]);
            const int64_t lane = first * PACKED_LANES + (int64_t)(next >> shift & COUNT_MASK);
            const int64_t batch = lane / PACKED_LANES;
            int32_t* who = packed->who + batch * PACKED_LANES + lane; // [batch][2][lane]
            next += UINT64_C(1) << shift;
            changed |= packed->source[lane] != from[i];
            packed->source[lane] = from[i];
            who[0] = from[PACKED_LANES + i];
            who[PACKED_LANES] = from[2 * PACKED_LANES + i];
        }
    }
    return changed;
}

talus_status packed_gather_open(packed_problem* packed, int threads)
{
    double sums[2];
    uint8_t* rank = malloc((size_t)packed->count + 1);
    if (!rank || !arrays_renew(&packed->opening_capacity, packed->count, ARRAY(packed->opening))) {
        free(rank);
        return TALUS_ERR_MEMORY;
    }
    parallel_reduce(threads, packed->count, PARALLEL_SUM, 2, find_opening, packed, sums);
    const double slow = sums[1] > 0.0 ? SLOW * sums[0] / sums[1] : 0.0;
    bool changed = false;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t c = 0; c < packed->count; c++) rank[c] = rank_of(packed->opening[c], slow);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 1)                \
    reduction(|                                                                                    \
              : changed)
    for (int64_t k = 0; k <= packed->block_count; k++) {
        const packed_block* block = &packed->blocks[k];
        for (int64_t first = block->first, last; first < block->last; first = last) {
            last = first + 1;
            while (last < block->last && packed->batches[last].group == first) last++;
            changed |= fill_group(packed, first, last, rank);
        }
    }
    packed->gathering += changed;
    free(rank);
    return TALUS_OK;
}
