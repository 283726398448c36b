/// Sparse LU factors of a matrix with the pattern of a reduced problem, block by block.
#ifndef TALUS_RIGID_REDUCED_FACTOR_H
#define TALUS_RIGID_REDUCED_FACTOR_H

#include "rigid/reduced/internal.h"

typedef struct reduced_factor reduced_factor;

/// Order of elimination and pattern of the factors, from the pattern of W alone; NULL when memory
/// is short. Blocks may be 2, 3, 5 or 6 wide; of `p` the pattern and the width alone are used.
/// `avx2`: the machine has it.
reduced_factor* reduced_factor_new(const reduced_problem* p, bool avx2);
void reduced_factor_free(reduced_factor* f);
/// Products of blocks that a factorisation takes.
double reduced_factor_products(const reduced_factor* f);

/// Writes the blocks [width][width] of row c of the matrix, in the order of the columns of W.
typedef void reduced_factor_row(const void* data, int64_t c, double* blocks);
/// Factorise; false if the matrix is singular or memory is short. Of a symmetric one the upper half
/// alone is used.
bool reduced_factor_make(reduced_factor* f, bool symmetric, reduced_factor_row* row,
                         const void* data);
/// x [count][width]: right-hand side in, solution out.
void reduced_factor_solve(const reduced_factor* f, double* x);

#endif
