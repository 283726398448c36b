/// Packings whose piston rings: a rise of its force, its position afterwards, the damped wave in
/// it.
#ifndef TALUS_PAPER_RING_H
#define TALUS_PAPER_RING_H

#include "fit.h"
#include "packing.h"
#include "paper.h"

/// A packing under a piston. Time counts in steps h, lengths in mean diameters.
typedef struct ring_packing {
    packing_def def;
    talus_world* world;
    talus_wall_id lid;
    double h, diameter, height;
    double pressure; ///< now
} ring_packing;

/// The piston after a rise of its force.
typedef struct ring {
    int sweeps;
    int64_t count, from, to; ///< [from, to): what is fitted
    double* t;
    double* x;
    double sweeps_made; ///< a step, in the mean: more than `sweeps` if steps were solved again
    fit_wave wave;
} ring;

/// Bring a packing from packing_make() to rest with `sweeps` random sweeps a step, the fewest that
/// will be used on it, and under a force that rises by a part of it.
///
/// An accurate solver leaves a packing that holds with just as many contacts as it needs. Soft
/// grains would not hold like that: with few sweeps it gives way, by a few tenths of a diameter,
/// until it has more contacts. A large rise of the force does the same to contacts that are about
/// to slide. Only then it answers like an elastic body.
talus_status ring_prepare(paper* p, ring_packing* in, int sweeps, double rise);

/// Raise the force by a part of it, watch the piston with `sweeps` a step, and bring all to rest.
talus_status ring_watch(paper* p, ring_packing* in, int sweeps, double rise, ring* r);
/// The same, and fit the wave.
talus_status ring_play(paper* p, ring_packing* in, int sweeps, double rise, ring* r);

/// kH of the lowest wave under a piston with a mass, in an even medium: kH tan(kH) = mass of the
/// grains/of the piston.
double ring_wave_under(double mass_ratio);

/// The two measures of -ln f that a wave gives: exp(-h/tau) = cos(omega h) = sqrt(f), where f is
/// what a step leaves of the error of the forces (chain_wave_stepwise()).
double ring_loss_of_omega(const ring* r);
double ring_loss_of_tau(const ring* r);

#endif
