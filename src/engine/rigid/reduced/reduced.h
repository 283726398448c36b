/// A frictional contact problem without bodies: velocities are a sparse matrix times impulses.
///
///   u = W r + q,   contact by contact  r in K,  and the law of Coulomb between u and r
///
/// This is what FCLIB calls a local problem, and what the second, exact-to-the-last-digit method
/// works on (solve.c). Components of a contact: normal, then tangential, then rolling:
///   width 2: N, T        width 3: N, T1, T2        width 5: N, T1, T2, R1, R2
///   K = { |r_T| <= mu r_N, |r_R| <= mu_r r_N },    r_N >= 0,  u_N >= 0,  r_N u_N = 0,
///   u_T = 0 or r_T = -mu r_N u_T/|u_T|, and the same between u_R, r_R and mu_r.
/// W need be neither symmetric (to a few 1e-3) nor regular nor well scaled.
#ifndef TALUS_RIGID_REDUCED_REDUCED_H
#define TALUS_RIGID_REDUCED_REDUCED_H

#include <stdbool.h>
#include <stdint.h>
#include <talus/base.h>

/// The bodies that make W, where they are known: W_cd is the sum of J_c J_d^T over the bodies that
/// contacts c and d both have. Impulses r move a body by J^T r, in velocities times the root of its
/// mass.
typedef struct reduced_bodies {
    int width; ///< freedoms of a body, 3 or 6; 0: bodies are not known
    int64_t count;
    int32_t* of; ///< [contacts][2] bodies of a contact; -1: none that moves
    double* J;   ///< [contacts][components][2][width]
} reduced_bodies;

typedef struct reduced_problem {
    int width; ///< components of a contact: 2, 3 or 5
    int64_t count;
    int64_t* first;  ///< [count + 1] first block of each block row
    int32_t* column; ///< [first[count]] ascending within a row; the diagonal block is always there
    double* block;   ///< [first[count]][width][width] row by row
    double* q;       ///< [count][width]
    double* mu;      ///< [count]
    double* mu_r;    ///< [count], used with width 5 only; else NULL
    reduced_bodies bodies;
} reduced_problem;

void reduced_free(reduced_problem* p);

/// u = W r + q.
void reduced_velocity(const reduced_problem* p, const double* r, double* u);
/// The community's error (docs/fclib.md): ||r - P_K(r - (u_N + mu|u_T| + mu_r|u_R|, u_T,
/// u_R))|| / max(||q||, ||r||, ||u||), u recomputed from r. Mixes units.
double reduced_error(const reduced_problem* p, const double* r);
/// The same natural map with each contact's impulse and velocity brought to one unit by its own
/// diagonal block, so that the result has no unit; the formula is in reduced.c.
double reduced_residual(const reduced_problem* p, const double* r);
/// What of the velocities breaks the law, over all velocities: huge impulses do not make it small.
/// 0 where it is no more than rounding (reduced.c).
double reduced_velocity_residual(const reduced_problem* p, const double* r);

typedef struct reduced_options {
    double
        tolerance; ///< on reduced_error(), reduced_residual() and reduced_velocity_residual(): all
    int64_t max_sweeps; ///< of the first method
    double max_work;    ///< of all methods, in sweeps' worth; 0: any
    double max_seconds; ///< give up after so long; 0: never. For the command line, not in a run:
                        ///< what a clock decides is not reproducible
    const char* method; ///< NULL or "auto"; else the name of one method of reduced_methods()
} reduced_options;

typedef struct reduced_result {
    bool converged;
    double error, residual,
        velocity;       ///< reduced_error(), reduced_residual(), reduced_velocity_residual()
    int64_t iterations; ///< of all methods that were tried
    const char* method; ///< that gave the answer
    char story[480];    ///< in plain words: what was done and why
} reduced_result;

/// Names of the methods that reduced_solve() knows, NULL-terminated.
const char* const* reduced_methods(void);
/// Solve from the guess in r [count][width] (zeros are always allowed); r receives the best
/// impulses found, converged or not. The same input gives the same bits.
talus_status reduced_solve(const reduced_problem* p, const reduced_options* options, double* r,
                           reduced_result* out);

#endif
