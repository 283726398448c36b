/// The force ensemble: many solutions of one contact problem, compared.
#ifndef TALUS_ENSEMBLE_H
#define TALUS_ENSEMBLE_H

#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where a solve of the ensemble begins; as bits of talus_ensemble_def.starts.
enum {
    TALUS_START_ZERO = 1,   ///< no impulses at all
    TALUS_START_WARM = 2,   ///< the impulses of the world's last step
    TALUS_START_RANDOM = 4, ///< random impulses that the contact laws admit, about as large as real
};

/// Kinds of starts, and bins of a force histogram: `TALUS_ENSEMBLE_BINS` of width
/// 1/TALUS_ENSEMBLE_BINS_PER_MEAN in units of the mean force, the last with all beyond it.
enum { TALUS_START_COUNT = 3, TALUS_ENSEMBLE_BINS = 24, TALUS_ENSEMBLE_BINS_PER_MEAN = 4 };

/// Called several times a second from the beginning on, and after each solution of an ensemble:
/// `done` of `samples` are ready; the one in progress counts by the share of its sweeps used so
/// far.
typedef void talus_ensemble_fn(void* user, double done, int samples);

/// Options of an ensemble. Fill with talus_ensemble_default(); copied on use.
typedef struct talus_ensemble_def {
    talus_mark mark;  ///< set by talus_ensemble_default()
    double step;      ///< length of the step whose contact problem is solved, s, > 0; no default
    int samples;      ///< solutions, at least 2 [default 30]
    uint64_t seed;    ///< of all sweeps and random starts [default 1]
    double tolerance; ///< residual to which every solution must satisfy the laws [default 1e-6]
    int max_sweeps;   ///< of one solution [default 200000]
    unsigned starts;  ///< TALUS_START_ bits, taken in turn from sample to sample [default all]
    double volume;    ///< V of the stress, m^3 (2D: m^2); 0: cell or bounding box [default 0]
    talus_ensemble_fn* progress; ///< may be NULL
    void* progress_user;
    int64_t max_updates; ///< of contacts in all solutions together, shared among them; a solution
                         ///< that ends so is taken if its residual is 1e-3 at most. 0: no such
                         ///< bound [default 0]
} talus_ensemble_def;

TALUS_DEFAULT(talus_ensemble_def, talus_ensemble_default);

/// One solution.
typedef struct talus_ensemble_sample {
    unsigned start; ///< the TALUS_START_ bit it began from
    int64_t sweeps;
    double residual;   ///< natural-map residual, recomputed from the impulses
    bool verified;     ///< exact enough: residual <= tolerance, or 1e-3 at the end of max_updates;
                       ///< others are left out of all statistics
    int64_t loaded;    ///< contacts that carry a force: more than 1e-6 of the mean
    double mean_force; ///< mean of |f| over these, N
    double max_force;  ///< N
    double stress[9];  ///< (1/V) sum of f_i l_j, row by row, compression positive, Pa (2D: N/m)
} talus_ensemble_sample;

/// Many solutions of one contact problem. Arrays belong to the struct: talus_ensemble_free().
/// Spreads are standard deviations over the verified samples.
typedef struct talus_ensemble {
    int dim, samples, verified;
    int64_t contacts, loaded;      ///< all in the problem; those that carry a force in the mean
    int64_t* a;                    ///< [contacts] grain id, or -1 - wall index
    int64_t* b;                    ///< [contacts] grain id
    int64_t* feature;              ///< [contacts] as in talus_contacts
    double* point;                 ///< [contacts][dim]
    double* normal;                ///< [contacts][dim] from a to b
    double* force;                 ///< [samples][contacts][dim] on b, N
    double* torque;                ///< [samples][contacts][1 or 3] rolling and torsion torque on b
    double* mean;                  ///< [contacts][dim] mean force
    double* spread;                ///< [contacts] root of the mean |f - mean|^2
    int32_t* sliding;              ///< [contacts] samples in which the friction bound is reached
    talus_ensemble_sample* sample; ///< [samples]
    double* histogram; ///< [samples][TALUS_ENSEMBLE_BINS] probability density of |f|/mean
    double histogram_mean[TALUS_ENSEMBLE_BINS];
    double histogram_spread[TALUS_ENSEMBLE_BINS];
    double stress_mean[9], stress_spread[9];
    double volume;        ///< V in use
    bool volume_given;    ///< it is the caller's
    bool volume_cell[3];  ///< else: along this axis the cell's length; otherwise the bounding box
    double force_change;  ///< spread of the forces: root of sum spread^2 over sum |mean|^2
    double stress_change; ///< the same of the stress tensor
    double histogram_distance; ///< largest distance of a sample's cumulated histogram from the mean
    double velocity_change;    ///< the same of the new momenta, against all impulses
    double force_change_of[TALUS_START_COUNT];  ///< of samples from one start: zero, warm, random
    double stress_change_of[TALUS_START_COUNT]; ///< likewise; 0 if there are fewer than two
    double inertia;      ///< momentum that the step begins with, against all impulses: 0 at rest
    double conditioning; ///< relative error of the forces / residual, measured
    double force_error;  ///< hence the relative error of the forces left by the solver, at most
    int rank;            ///< independent ways in which the forces differ by more than that error
    double* singular;    ///< [samples] singular values of the centred forces and torques, relative
    int64_t unknowns;    ///< components that the laws leave open at the loaded contacts
    int64_t equations;   ///< of motion of the bodies they touch
    int64_t independent; ///< of these equations; -1: not counted, over 2000 unknowns. The rank is
                         ///< at most unknowns - independent if all solutions move alike
    char verdict[2048];  ///< in plain words, one sentence a line
} talus_ensemble;

/// Solve the contact problem of the world's next step many times, from different starts and with
/// different random sweeps, and compare the solutions. The world is left as it is. A solution that
/// misses the tolerance is no failure: see talus_ensemble_sample.verified.
TALUS_API talus_status talus_measure_ensemble(talus_world* world, const talus_ensemble_def* def,
                                              talus_ensemble* out, talus_error* error);
TALUS_API void talus_ensemble_free(talus_ensemble* ensemble);

#ifdef __cplusplus
}
#endif
#endif
