/// What the kernels of card_residual.cu get. Problems in a job are those of the host, with arrays
/// on the card in place of their own.
#ifndef TALUS_RIGID_RESIDUAL_JOBS_H
#define TALUS_RIGID_RESIDUAL_JOBS_H

#include "rigid/packed/packed.h"

enum { RESIDUAL_THREADS = 128, RESIDUAL_TILE = 8 * RESIDUAL_THREADS };

/// Impulses and velocities as they are packed, to the problem.
typedef struct card_show_job {
    packed_problem packed;
    problem p;
    int64_t count; ///< lanes, rows, or walls
} card_show_job;

/// What each contact adds to the sums.
typedef struct card_terms_job {
    problem p;
    double* terms;   ///< [RESIDUAL_SUMS][count]
    double* error;   ///< [count][dim]
    uint8_t* counts; ///< [count] 1: it has a part in the cells of scales.h
} card_terms_job;

/// The sums of the parts, a block for each number.
typedef struct card_parts_job {
    int64_t count;
    int parts;
    const double* terms; ///< [RESIDUAL_SUMS][count]
    double* sums;        ///< [parts][RESIDUAL_SUMS]
} card_parts_job;

/// The sums of the cells (scales.h), a thread for each number.
typedef struct card_cells_job {
    problem p;
    int parts;
    int64_t cells;
    const int32_t* list;  ///< [count] contacts, part by part and cell by cell
    const int32_t* start; ///< [parts][cells + 1] where each cell's begin
    const double* error;
    const uint8_t* counts;
    double* stress; ///< [parts][cells][numbers]
} card_cells_job;

#endif
