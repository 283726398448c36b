/// What the files of fclib share: raw entries of matrices, and their way to columns and to blocks.
#ifndef TALUS_RECORD_FCLIB_INSIDE_H
#define TALUS_RECORD_FCLIB_INSIDE_H

#include "record/fclib.h"

/// Entries of a matrix in any order; one that is there several times counts with its sum.
typedef struct fclib_entries {
    int64_t rows, columns, count;
    int32_t *row, *column; ///< [count] in range
    double* value;         ///< [count]
} fclib_entries;

void fclib_entries_free(fclib_entries* e);
/// Compressed columns of the entries (of their transpose: exchange row and column before).
talus_status fclib_compress(const fclib_entries* e, fclib_matrix* out, talus_error* error);
void fclib_matrix_free(fclib_matrix* m);

/// Block rows of a local problem from W, given as the columns of its transpose: fills first, column
/// and block of `p`, whose width and count are set.
talus_status fclib_block_rows(const fclib_matrix* transpose, reduced_problem* p,
                              talus_error* error);
/// Factorise M, if that is not yet done, and fill first, column, block and q of p->reduced.
talus_status fclib_fill_condensed(fclib_problem* p, const char* name, talus_error* error);
/// Find the rigid bodies of M and H, if they are such, and put them into p, which has W.
talus_status fclib_find_bodies(const fclib_matrix* m, const fclib_matrix* h, reduced_problem* p);

#endif
