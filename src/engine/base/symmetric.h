/// Small symmetric matrices: eigenvalues, and equations that may leave something undetermined.
#ifndef TALUS_BASE_SYMMETRIC_H
#define TALUS_BASE_SYMMETRIC_H

enum { SYMMETRIC_MOST = 6 }; ///< rows

/// Diagonalise a [n][n] in place by Jacobi's rotations; the columns of v [n][n] become the
/// eigenvectors. Small eigenvalues of a positive matrix lose no accuracy to large ones.
void symmetric_diagonalise(int n, double* a, double* v);

/// Shortest x [n] with a x = b as nearly as can be: parts of b along eigenvectors whose eigenvalue
/// is below `least` times the largest are left out. a [n][n] is not changed.
void symmetric_solve(int n, const double* a, const double* b, double least, double* x);

#endif
