/// Options and results of the contact solver.
#ifndef TALUS_SOLVER_H
#define TALUS_SOLVER_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the contact impulses are found.
typedef enum talus_solver_method {
    TALUS_SOLVER_AUTO = 0,    ///< accelerated; clusters that stay stubborn go to direct methods
    TALUS_SOLVER_ACCELERATED, ///< coloured sweeps with momentum: sweeps grow like L/d
    TALUS_SOLVER_COLOURED,    ///< the same sweeps without momentum
    TALUS_SOLVER_SWEEPS,      ///< one contact after the other in `order`: the papers' solver
} talus_solver_method;

/// Numbers worked on at once. Every width gives the same bits.
typedef enum talus_vector_width {
    TALUS_VECTOR_BEST = 0, ///< the widest that the machine has
    TALUS_VECTOR_PORTABLE,
    TALUS_VECTOR_AVX2,
    TALUS_VECTOR_AVX512,
} talus_vector_width;

/// Precision of the packed sweeps (every method but TALUS_SOLVER_SWEEPS). Everything else, the
/// measure that ends a solve included, is in double precision.
typedef enum talus_precision {
    TALUS_PRECISION_DOUBLE = 0,
    TALUS_PRECISION_SINGLE, ///< floats as long as they make progress, then doubles:
                            ///< docs/benchmarks.md
} talus_precision;

/// Order in which a sweep of TALUS_SOLVER_SWEEPS visits the contacts.
typedef enum talus_sweep_order {
    TALUS_ORDER_RANDOM = 0,  ///< fresh random permutation every sweep: the papers' reference
    TALUS_ORDER_FORWARD,     ///< ascending contact index every sweep
    TALUS_ORDER_ALTERNATING, ///< ascending, then descending, and so on
    TALUS_ORDER_PARALLEL, ///< all at once, each from the impulses before the sweep: for the theory
                          ///< of chains (UBWK 8-11), does not converge in packings (BUW 1.5)
} talus_sweep_order;

/// When a solve is finished.
typedef enum talus_stop_rule {
    TALUS_STOP_RIGID = 0, ///< estimated velocity error of the whole system <= tolerance
    TALUS_STOP_RESIDUAL,  ///< talus_step_result.residual <= tolerance; sees large scales weakly
    TALUS_STOP_SWEEPS,    ///< exactly max_sweeps sweeps a step (UK eq. 37)
    TALUS_STOP_LOCAL,     ///< |dR| <= tolerance |R| + cutoff at every contact (UK eq. 35)
    TALUS_STOP_GLOBAL,    ///< change of the mean force <= tolerance * mean force (UK eq. 36)
} talus_stop_rule;

/// Options of the contact solver. Fill with talus_solver_default(); copied on use.
typedef struct talus_solver_def {
    talus_mark mark;            ///< set by talus_solver_default()
    talus_solver_method method; ///< [default TALUS_SOLVER_AUTO]
    talus_sweep_order order;    ///< of TALUS_SOLVER_SWEEPS [default TALUS_ORDER_RANDOM]
    talus_stop_rule stop;       ///< [default TALUS_STOP_RIGID]; LOCAL and GLOBAL need SWEEPS
    double tolerance;           ///< of the chosen rule, dimensionless [default 0: as the step asks
                                ///< for. RIGID: 1 % at rest, up to 10 % where grains flow
                                ///< (docs/theory.md); other rules: 1e-2]
    double cutoff;              ///< force: delta of the local rule [default 0: 1e-6 of the mean]
    int max_sweeps;             ///< most sweeps of a step, however often its contacts have to be
                                ///< searched; N_I of TALUS_STOP_SWEEPS [default 1000]
    bool warm_start;            ///< begin from the last step's impulses [default true]
    bool push_out_overlap;      ///< law with plain g, not g+: overlaps are undone [default false]
    bool separate_overlaps;     ///< overlaps are taken apart after each step, by moving the grains
                                ///< and no velocity [default true; scenes with TALUS_STOP_SWEEPS:
                                ///< false]
    talus_vector_width vector;  ///< [default TALUS_VECTOR_BEST]
    talus_precision precision;  ///< [default TALUS_PRECISION_DOUBLE]
    double reserve[8];          ///< room for later fields, zero
} talus_solver_def;

TALUS_DEFAULT(talus_solver_def, talus_solver_default);

#ifdef __cplusplus
}
#endif
#endif
