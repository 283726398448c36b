/// The two shock laws, plain g and g+ = max(g, 0), in the chain of chain.h: theory and a
/// measurement of what becomes of a small disturbance.
///
/// The chain is pressed on the wall, N_I random sweeps a step with warm start. A step leaves the
/// part s = (sweep factor)^N_I of a mode's error of the forces, about exp(-q N_I k^2 d^2). With the
/// mode's displacement u, velocity v and error a of the acceleration, in units of h, a step is
///     a' = s a - (1 - s) (v + [u]),  v' = v + a',  u' = u + v'
/// where [u] is there with plain g only. Its eigenvalues l follow from
///     g+:  l^2 - 2 s l + s = 0, hence |l| = sqrt(s): always damped;
///          of a load that accelerates by b the shrinkage b h^2 s/(1 - s) stays;
///     g:   ((l - 1)/l)^3 = -(1 - s)/s, hence |l| > 1 if s > 1/2.
#ifndef TALUS_PAPER_CHAIN_LAWS_H
#define TALUS_PAPER_CHAIN_LAWS_H

#include "chain.h"

/// Shrinkage that g+ keeps after a load F on the last disk, over F h^2/m: sum over the modes.
double chain_kept_shrinkage(int64_t disks, int sweeps);

/// |l| of the longest mode with N_I sweeps, with plain g or with g+.
double chain_growth_theory(int64_t disks, int sweeps, bool plain);

/// N_I below which plain g blows up the longest mode: s = 1/2 for k d << 1.
double chain_growth_threshold(int64_t disks);

/// Measure |l| of the longest mode: a chain in equilibrium under the force m d/h^2 is disturbed by
/// 1e-6 of that mode.
talus_status chain_growth(paper* p, int64_t disks, int sweeps, bool plain, uint64_t seed,
                          double* factor);

/// N_I at which measured factors |l| pass 1 downwards, on a straight line between the logarithms of
/// neighbouring points; NAN if they do not.
double chain_passes_one(int count, const double* sweeps, const double* factor);

#endif
