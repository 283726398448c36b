/// Contact problems in the HDF5 layout of FCLIB, the collection of the Siconos and LMGC90 groups
/// (frictionalcontactlibrary.github.io; docs/fclib.md has the layout as it is understood here).
///
///   local    u = W r + q                            groups fclib_local, fclib_local_rolling
///   global   M v = H r + f,  u = H^T v + w          groups fclib_global, fclib_global_rolling
///
/// A global problem is condensed to a local one: W = H^T M^-1 H, q = H^T M^-1 f + w. Its rigid
/// bodies are kept (fclib_bodies.c), also those of a global problem beside a local one.
#ifndef TALUS_RECORD_FCLIB_H
#define TALUS_RECORD_FCLIB_H

#include "rigid/reduced/reduced.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/base.h>

/// A sparse matrix by compressed columns: rows ascending in each, no entry twice.
typedef struct fclib_matrix {
    int64_t rows, columns;
    int64_t* first; ///< [columns + 1]
    int32_t* row;   ///< [first[columns]]
    double* value;  ///< [first[columns]]
} fclib_matrix;

struct fclib_mass;

typedef struct fclib_problem {
    bool global, rolling;
    reduced_problem reduced; ///< the problem, condensed if it is global
    // Of a global problem only; `dofs` is 0 and the rest is empty otherwise.
    int64_t dofs;
    fclib_matrix m, h;       ///< [dofs][dofs] and [dofs][count * width]
    double *f, *w;           ///< [dofs] and [count][width]
    struct fclib_mass* mass; ///< factors of M
} fclib_problem;

/// Read the problem of a file; what is wrong with a malformed one is named with file and dataset.
talus_status fclib_read(const char* path, fclib_problem* out, talus_error* error);
void fclib_free(fclib_problem* p);
/// Condense a global problem anew; fclib_read() has done it already. For taking its time.
talus_status fclib_condense(fclib_problem* p, talus_error* error);

/// Velocities of the impulses r: u [count][width] and, of a global problem, v [dofs].
talus_status fclib_velocity(const fclib_problem* p, const double* r, double* u, double* v,
                            talus_error* error);
/// reduced_error() of a local problem. A global one has no q: the largest of |w|, |r|, |u| takes
/// the place of the largest of |q|, |r|, |u|, and |M v - H r - f| / max(|M v|, |H r|, |f|) is
/// added.
talus_status fclib_error(const fclib_problem* p, const double* r, const double* u, const double* v,
                         double* out, talus_error* error);

/// Store solution/r, solution/u and, of a global problem, solution/v in the file it was read from,
/// in place of those that are there. The file is replaced whole, or stays as it was.
talus_status fclib_write_solution(const char* path, const fclib_problem* p, const double* r,
                                  const double* u, const double* v, talus_error* error);

/// What FCLIB keeps in words about a problem.
typedef struct fclib_info {
    const char *title, *description, *math_info;
} fclib_info;

/// Write a new file with a local problem, and with its bodies as a global one if they are known;
/// TALUS_ERR_EXISTS if there is one of this name.
talus_status fclib_write_problem(const char* path, const reduced_problem* p, const fclib_info* info,
                                 talus_error* error);

#endif
