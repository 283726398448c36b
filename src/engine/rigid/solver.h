/// Contact solvers behind one interface; one file each.
#ifndef TALUS_RIGID_SOLVER_H
#define TALUS_RIGID_SOLVER_H

#include "rigid/certificate.h"
#include "rigid/coarse/coarse.h"
#include "rigid/packed/packed.h"
#include "rigid/rescale.h"

#include <talus/solver.h>

/// Memory a solver keeps from one call to the next, only to avoid allocation: no state.
typedef struct solve_workspace {
    int32_t* order;
    int64_t order_capacity;
    packed_problem packed;
    coarse_grid coarse;
    rescaling rescaling;
    certificate_work certificate;
    struct residual_card* residual_card; ///< residual_card.h; NULL: no card has measured yet
} solve_workspace;

void solve_workspace_free(solve_workspace* ws);

/// Someone who looks on while a solve goes on: after `next` sweeps of the step `look` is called
/// with the problem, whose body velocities are those of that moment, and sets `next` anew or, if it
/// has seen enough, ends the solve there.
typedef struct solve_watch {
    int64_t next;
    bool enough;
    void (*look)(struct solve_watch* watch, const problem* p, int64_t sweeps);
} solve_watch;

/// What a solve is asked for beside the options.
typedef struct solve_request {
    const talus_solver_def* options;
    double h;              ///< length of the step: impulse = force h
    uint64_t seed;         ///< with `key` decides every random number
    uint64_t key;          ///< number of this solve in the run
    int64_t sweeps_before; ///< that this step has made before this solve; they count in its budget,
                           ///< max_sweeps of the options
    double size;     ///< L/d: longest extent of a cluster that carries force, in mean diameters, of
                     ///< the last step; 0: unknown
    double farthest; ///< largest coordinate of a grain, whose last digit gaps are rounded to; 0:
                     ///< unknown
    double strictness;  ///< what the rule asks for is divided by this if it is above 1
    int threads;        ///< to use, at most; below 1: one
    struct card* card;  ///< that makes the sweeps where it can (packed/on_card.h); NULL: the CPU
    solve_watch* watch; ///< NULL: nobody looks on
    bool last_chance;   ///< when the sweeps are used up direct methods may take more than their
                        ///< share for clusters in flow, too
    bool plain;         ///< momentum has blown up in an earlier part of this solve: do without it
} solve_request;

typedef struct solve_result {
    int64_t sweeps, updates;
    int64_t single_sweeps;     ///< of these in single precision
    bool converged;            ///< the stopping rule was met
    bool blew_up;              ///< momentum did not help but made changes grow without end
    double tolerance;          ///< that the rule asked for in the end (solve_tolerance)
    double residual;           ///< residual_natural() of the impulses left in the problem
    double velocity_error;     ///< estimated error of all velocities (residual.h)
    bool flows;                ///< grains slide past each other (residual_rests)
    int64_t second_iterations; ///< of the direct methods of `auto`, 0 if none was needed
    int64_t last_updates;      ///< of these at the last chance of clusters in flow: their work
    const char* why_no_card;   ///< the card was not used, because of this; NULL: it was, or nobody
                               ///< asked for it
    const char* second_method; ///< name of the one whose answer is left, NULL: the sweeps' is
    bool certified;            ///< the impulses left in the problem are judged:
    certificate certificate;   ///< this is the judgement, with all of it in the workspace
} solve_result;

typedef struct solver_ops {
    const char* name;
    /// Improve the impulses in `p` until the rule is met; body velocities agree with them on
    /// return.
    talus_status (*solve)(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out);
} solver_ops;

/// Sweeps that a solve may make: what is left of the step's budget.
static inline int64_t solve_budget(const solve_request* request)
{
    const int64_t left = request->options->max_sweeps - request->sweeps_before;
    return left > 0 ? left : 0;
}

/// Nonlinear Gauss-Seidel sweeps, random or in order: the papers' solver.
extern const solver_ops sweep_solver;

/// Coloured sweeps, with momentum or without: accelerate.c.
extern const solver_ops accelerated_solver;

/// The accelerated one, and direct methods for what it leaves undone: auto.c.
extern const solver_ops auto_solver;

/// The solver that the options ask for.
const solver_ops* solver_for(const talus_solver_def* options);

#endif
