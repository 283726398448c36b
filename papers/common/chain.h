/// The one-dimensional chain of UK and UBWK: equal disks in a row that leans on a wall on its left,
/// with a force on the last disk, and what their theory says of it.
///
/// Units are those of the papers: masses in m, lengths in the diameter d, times in the step h, so
/// forces in m d/h^2; a chain can be given others.
#ifndef TALUS_PAPER_CHAIN_H
#define TALUS_PAPER_CHAIN_H

#include "paper.h"

/// A chain. Fill with chain_default().
typedef struct chain_def {
    int64_t disks;           ///< n [default 50]
    double diameter, mass;   ///< d and m of each [default 1, 1]
    double gap;              ///< between the wall and the first disk [default 0]
    double overlap;          ///< of neighbours; half of it with the wall, if gap is 0 [default 0]
    double force;            ///< on the last disk, towards the wall [default 0]
    uint64_t seed;           ///< of the random sweeps [default 1]
    talus_solver_def solver; ///< [default chain_sweeps(40, TALUS_ORDER_RANDOM)]
    talus_method method;     ///< [default TALUS_METHOD_CONTACT]
    double stiffness;        ///< method soft: kappa of UBWK (22)
    double damping;          ///< method soft: gamma of UBWK (22)
} chain_def;

chain_def chain_default(void);

/// The papers' solver with a fixed number N_I of sweeps (UK 37) and with warm start.
talus_solver_def chain_sweeps(int sweeps, talus_sweep_order order);

/// Make a chain. The wall's surface is at x = 0, disk i = 0, 1, ... has the id i. The caller owns
/// *out.
talus_status chain_make(paper* p, const chain_def* def, talus_world** out);
/// Bring a chain that leans on the wall to rest, with all contact forces equal to the load, by a
/// step of length h with the library's fast solver. Its own solver goes on from these forces, with
/// warm start.
talus_status chain_press(paper* p, talus_world* world, double h);

/// Contact forces of the last step, [disks]: forces[0] is that of the wall on the first disk,
/// forces[i] that between disks i - 1 and i; 0 where there is no contact.
void chain_forces(const talus_world* world, double* forces);
/// Distance of a disk's centre from the wall.
double chain_position(const talus_world* world, int64_t disk);
/// Set the velocity of a disk.
void chain_push(talus_world* world, int64_t disk, double velocity);

/// Normal modes. The wall mirrors the chain, the end is free: k d = (mode + 1/2) pi/disks.
double chain_wave_number(int64_t disks, int64_t mode);
/// Velocity of disk i in a mode of amplitude 1.
double chain_mode_velocity(double kd, int64_t disk);
/// Part of a mode in the velocities, as its amplitude.
double chain_mode_amplitude(const talus_world* world, double kd);

// ---- theory ------------------------------------------------------------------------------------

/// q of random sweeps, (4 sqrt(e) - 5)/2 (UBWK A4), and of parallel ones (UBWK 11).
double chain_q_random(void);
double chain_q_parallel(void);

/// Factor by which a sweep shortens the error of the forces in a mode, in the mean over all orders:
/// UBWK (A2) with neighbours at distance r out of phase by k d r, exact in an endless chain
/// (disks = 0). In a chain the wall mirrors the forces, and the free end does so with the other
/// sign, but information cannot come back within the sweep in which it went there: between contacts
/// i and j = r - i from the end that is missing, in the mean over all contacts of the mode
/// (2/disks) (cos(kd i) cos(kd j) - sin(kd i) sin(kd j)), for r - 1 pairs i, j each.
double chain_sweep_factor(double kd, int64_t disks);
/// The k d that has it: shorter waves have less.
double chain_number_of_factor(double sweep_factor, int64_t disks);

/// A damped wave in units of the step: omega h and tau/h.
typedef struct chain_wave {
    double omega, tau;
} chain_wave;

/// What UBWK (18) and (20) say; omega is 0 beyond k_c.
chain_wave chain_wave_continuous(double q, int sweeps, double kd);
/// The same without taking steps and disks for small. Let f = (sweep factor)^N_I be what a step
/// leaves of the error of the forces. With r = h R 2 sin(kd/2)/m, v the amplitude of the velocities
/// and r = v where forces are exact, a step makes
///     r' = f r + (1 - f) v,   v' = v - r',
/// a matrix of trace 2 f and determinant f: its eigenvalues sqrt(f) exp(+-i arccos sqrt(f)) say
/// exp(-h/tau) = sqrt(f) = cos(omega h).
chain_wave chain_wave_stepwise(double sweep_factor, int sweeps);

/// Static strain that a load leaves, applied at once to the last disk, in parts of load/kappa: far
/// from the loaded end 1; at the distance y, in d, from it (2/pi) int z/(exp(z) - 1) sin(k y)/k dk
/// with z = q N_I (kd)^2, as a mode is left with the part z/(exp(z) - 1) of its strain.
double chain_end_strain(int sweeps, double y);
/// What is missing of it all in all: disks by which the chain seems shorter,
/// -zeta(1/2)/sqrt(pi) sqrt(q N_I).
double chain_loaded_end(int sweeps);

#endif
