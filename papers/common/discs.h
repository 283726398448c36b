/// The two discs of Pena, Lind, McNamara and Herrmann (PLMH Fig. 4), and what theory says of them.
///
/// Disc i is fixed at the origin. Disc j, of radius 1/2 m and density 1 kg/m^2, touches it at 45
/// degrees and is pushed by a constant force along -x. Its height is held, so it moves along x,
/// turns, or does both. Friction is so large that nothing slides: it oscillates about its new place
/// and comes to rest.
///
/// Small oscillations u = (x, r theta) obey M u'' + C u' + K u = 0 with M = diag(m, m/2) and
///     K = k_n/2 e e' + k_t s s',   C = nu_n/2 e e' + nu_t s s',
/// where e = (1, 0) is the way towards i and s = (1/sqrt 2, 1) the slip; with Cundall's elongation
/// (PLMH 7) k_t has the factor decay_carried().
#ifndef TALUS_PAPER_DISCS_H
#define TALUS_PAPER_DISCS_H

#include "decay.h"

/// What disc j is free to do.
typedef enum discs_motion { DISCS_BOTH, DISCS_TRANSLATION, DISCS_ROTATION } discs_motion;

typedef struct discs {
    double stiffness; ///< k_n, N/m
    double friction;
    double stiffness_ratio; ///< k_t/k_n
    double damping_ratio;   ///< nu_t/nu_n
    double push;            ///< force over stiffness, m
    discs_motion motion;
    talus_elongation elongation;
    talus_soft_bound bound;
} discs;

/// The paper's: k_n = 1 N/m, mu = 500, k_t/k_n = nu_t/nu_n = 1/3, both motions, Cundall. The push
/// moves j by about 1e-6 of its size: formulas of small motions hold.
discs discs_default(void);

/// nu_t/nu_n for e_t/e_n, the ratio of the restitutions, and k_t/k_n (PLMH 8).
double discs_damping_ratio(double restitutions, double stiffnesses);
/// t_c of two free discs (PLMH 10), s.
double discs_contact_time(const discs* d);
/// t_R of the oscillation that lasts longest, with Cundall's elongation in steps of h (0: exact),
/// s.
double discs_relaxation(const discs* d, double h);

/// How a run begins.
typedef enum discs_start {
    DISCS_TOUCHING, ///< at rest, touching, as in the paper: all oscillations are excited
    DISCS_RINGING,  ///< at rest place, moving as in the oscillation that lasts longest: that one
                    ///< only, so that a short run gives its t_R
} discs_start;

/// Run for `time` with steps h; the maxima of the kinetic energy go to *out.
talus_status discs_run(paper* p, const discs* d, discs_start start, double h, double time,
                       decay* out);
/// t_R in units of t_c for a step of `part` t_c, from a run of `long_for` t_c.
talus_status discs_measure(paper* p, const discs* d, discs_start start, double part,
                           double long_for, double* t_r);

// ---- t_R against the step ----------------------------------------------------------------------

/// t_R of one pair of discs with the first `count` of decay_steps[], in t_c.
typedef struct discs_sweep {
    discs d;
    int count;
    double t_r[DECAY_STEPS], theory[DECAY_STEPS];
} discs_sweep;

/// Measure t_R with all steps; the discs ring for 20 t_c each time, for 10 with steps below 1e-3.
talus_status discs_sweep_steps(paper* p, discs_sweep* s);
/// Largest relative distance of the measured t_R from theory.
double discs_sweep_error(const discs_sweep* s);
/// T_t, in t_c: the step at which t_R is off its limit by the part `level`, between the measured
/// points; NaN if they are all on one side.
double discs_onset(const discs_sweep* s, double level);
/// The same as theory has it.
double discs_onset_theory(const discs* d, double level);
/// Why measured t_R may be off theory by 2e-3 at most, for the table.
extern const char discs_measure_why[];

#endif
