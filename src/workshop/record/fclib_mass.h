/// M^-1 of a global contact problem: M splits into parts that do not know each other (bodies), each
/// with its own factors.
#ifndef TALUS_RECORD_FCLIB_MASS_H
#define TALUS_RECORD_FCLIB_MASS_H

#include "record/fclib.h"

typedef struct fclib_mass {
    int64_t parts;
    int64_t* first; ///< [parts + 1] first place of each part in `dof`
    int32_t* dof;   ///< [dofs] part by part, ascending in each
    int32_t* part;  ///< [dofs] part of each degree of freedom
    int32_t* place; ///< [dofs] its place in the part
    int64_t* at;    ///< [parts] start of a small part's factors in `lu`; of a large one: its sparse
    double* lu;     ///< L (unit diagonal) and U of small parts, row by row, rows as exchanged
    int32_t* pivot; ///< [dofs] row exchanges of small parts
    struct fclib_sparse* sparse; ///< [sparse_count] factors of large parts
    int64_t sparse_count;
} fclib_mass;

/// Factorise M; `name` says in a message which matrix is singular.
talus_status fclib_mass_make(const fclib_matrix* m, const char* name, fclib_mass** out,
                             talus_error* error);
void fclib_mass_free(fclib_mass* mass);
/// Size of a part.
int64_t fclib_mass_size(const fclib_mass* mass, int64_t part);
/// x := M_part^-1 x.
void fclib_mass_solve(const fclib_mass* mass, int64_t part, double* x);

#endif
