/// Sparse LU factors of a matrix with the pattern of a cone problem, block by block.
#ifndef TALUS_SOLVE_CONE_FACTOR_H
#define TALUS_SOLVE_CONE_FACTOR_H

#include "solve/cone_inside.h"

typedef struct cone_factor cone_factor;

/// Order of elimination and pattern of the factors, from the pattern of W alone; NULL when memory
/// is short. Blocks may be 2, 3, 5 or 6 wide; of `p` the pattern and the width alone are used.
/// `avx2`: the machine has it.
cone_factor* cone_factor_new(const cone_problem* p, bool avx2);
void cone_factor_free(cone_factor* f);
/// Products of blocks that a factorisation takes.
double cone_factor_products(const cone_factor* f);

/// Writes the blocks [width][width] of row c of the matrix, in the order of the columns of W.
typedef void cone_factor_row(const void* data, int64_t c, double* blocks);
/// Factorise; false if the matrix is singular or memory is short. Of a symmetric one the upper half
/// alone is used.
bool cone_factor_make(cone_factor* f, bool symmetric, cone_factor_row* row, const void* data);
/// x [count][width]: right-hand side in, solution out.
void cone_factor_solve(const cone_factor* f, double* x);

#endif
