/// Sweeps of a card over contacts of any law, and over the tail: the source of card_laws_2d.cu and
/// card_laws_3d.cu, which define CARD_DIM.
///
/// The laws are functions of their own, and one kernel calls them. A driver compiles a source when
/// it is first used: with all laws inside several kernels that took NVIDIA's compiler a minute,
/// after which it crashed (docs/decisions.md, "Graphics cards").
#include "card/phases.h"

CARD_HEADERS
#include "rigid/packed/apply.h"
#include "rigid/packed/card_jobs.h"
#if ON_CARD // what these call is linked elsewhere
#include "base/portable.c"
#include "law/compound.c"
#include "law/disks.c"
#include "law/rolling.c"
#include <float.h>
namespace law {
#include "law/coulomb_block.c"
}
bool coulomb_block(int dim, const double* S, const double* inverse, const double* n, double bias,
                   double mu, const double* free, const double* guess, double* p)
{
    return law::coulomb_block(dim, S, inverse, n, bias, mu, free, guess, p);
}
#endif
CARD_HEADERS_END

#define LAW(name, ...)                                                                             \
    CARD_OUT_OF_LINE void name(packed_problem* packed, int64_t batch, int lane,                    \
                               const lane_manner manner, lane_sums* sums)                          \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
LAW(sweep_ball, sweep_balls(packed, PACKED_BALL, CARD_DIM, batch, lane, manner, sums))
LAW(sweep_bond, sweep_balls(packed, PACKED_BOND, CARD_DIM, batch, lane, manner, sums))
LAW(sweep_roll, sweep_rolls(packed, CARD_DIM, batch, lane, manner, sums))
LAW(sweep_solid, sweep_solids(packed, CARD_DIM, batch, lane, manner, sums))
LAW(sweep_solid_bond,
    sweep_compounds(packed, PACKED_SOLID_BOND, CARD_DIM, batch, lane, manner, sums))
LAW(sweep_solid_roll,
    sweep_compounds(packed, PACKED_SOLID_ROLL, CARD_DIM, batch, lane, manner, sums))

CARD_OUT_OF_LINE void sweep_lane(packed_problem* packed, int dim, int64_t batch, int lane,
                                 const lane_manner manner, lane_sums* sums)
{
    assert(dim == CARD_DIM);
    switch (packed->batches[batch].kind) {
    case PACKED_BALL: sweep_ball(packed, batch, lane, manner, sums); break;
    case PACKED_BOND: sweep_bond(packed, batch, lane, manner, sums); break;
    case PACKED_ROLL: sweep_roll(packed, batch, lane, manner, sums); break;
    case PACKED_SOLID_BOND: sweep_solid_bond(packed, batch, lane, manner, sums); break;
    case PACKED_SOLID_ROLL: sweep_solid_roll(packed, batch, lane, manner, sums); break;
    default: sweep_solid(packed, batch, lane, manner, sums); break;
    }
}

#include "rigid/packed/card_block.h"

/// Contacts of the tail share bodies: one thread takes them one by one.
CARD_INLINE void sweep_tail(const card_place here, const card_sweep_job* job)
{
    packed_problem* packed = (packed_problem*)&job->packed;
    const packed_block* tail = &packed->blocks[packed->block_count];
    const bool momentum = job->manner.momentum, skip = momentum && job->manner.skip;
    const double beta = momentum ? job->manner.beta : 0.0;
    const lane_manner manner = {momentum, lanes_set(beta), lanes_set(job->manner.outlier)};
    SHARED(double, parts, TOTALS* PACKED_SUMMANDS);
    PHASE (t) {
        if (momentum) extrapolate_rows(packed, CARD_DIM, tail, beta, t, here.threads);
        for (int i = 0; i < TOTALS; i++) parts[i * PACKED_SUMMANDS + t] = 0.0;
    }
    PHASE (t) {
        for (int64_t k = tail->first; k < tail->last && t == 0; k++) {
            const int64_t slot = (k - tail->first) % PACKED_SLOTS * PACKED_LANES;
            if (skip && packed->open[k] > 0) {
                parts[SUMS * PACKED_SUMMANDS] += packed->open[k];
                continue;
            }
            for (int lane = 0; lane < PACKED_LANES; lane++) {
                double* own = parts + slot + lane;
                lane_sums sums;
                for (int i = 0; i < SUMS; i++) sums.of[i] = (real)own[i * PACKED_SUMMANDS];
                sweep_lane(packed, CARD_DIM, k, lane, manner, &sums);
                for (int i = 0; i < SUMS; i++) own[i * PACKED_SUMMANDS] = (double)sums.of[i];
            }
            if (momentum && !skip) count_held(packed, k);
            if (!skip) packed->open[k] = momentum ? stays_open(packed, CARD_DIM, k) : 0;
        }
    }
    ADD_HALVES(parts, TOTALS)
    LAST_PHASE (t) {
        if (t == 0) write_sums(&packed->sums[packed->block_count], parts);
    }
}

// ---- the kernel --------------------------------------------------------------------------------

/// Functions get the problem by its address, so it lies where all threads of the block see it.
CARD_KERNEL(sweep_all, card_sweep_job, CARD_SWEEP_THREADS)
{
    SHARED(card_sweep_job, own, 1);
    PHASE (t) {
        if (t == 0) own[0] = job;
    }
    if (job.first == job.packed.block_count) {
        sweep_tail(here, own);
    } else {
        sweep_block(here, own, CARD_DIM, own->manner.momentum);
    }
}
