/// Friction of several kinds at one contact with fixed bounds: sliding, rolling and torsion that
/// are coupled by a full matrix.
///
/// Each kind is a block of one or two components with |x_i| <= limit_i, sticking or at its limit
/// against its motion A x + b. That is the minimum of x.A x/2 + b.x over a product of disks and
/// intervals; A is symmetric positive definite, so there is one.
#ifndef TALUS_LAW_DISKS_H
#define TALUS_LAW_DISKS_H

enum { DISKS_SIZE = 5, DISKS_BLOCKS = 3 };

typedef struct disks {
    int blocks;
    int begin[DISKS_BLOCKS + 1];      ///< components of block i: begin[i] .. begin[i + 1] - 1
    double A[DISKS_SIZE][DISKS_SIZE]; ///< diagonal within each block
    double b[DISKS_SIZE];
    double limit[DISKS_BLOCKS];
} disks;

/// The minimum, to rounding. `x` holds any start and receives the answer, which does not depend on
/// the start.
void disks_solve(const disks* d, double* x);

/// x minimises the sum of w x^2/2 + b x over the disk |x| <= limit, in m components.
void disk_minimise(int m, const double* w, const double* b, double limit, double* x);

#endif
