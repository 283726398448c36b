/// Kernels of coarse graining: a function phi(r) of integral 1 that ends at `reach`.
#ifndef TALUS_MEASURE_KERNEL_H
#define TALUS_MEASURE_KERNEL_H

#include <talus/fields.h>

typedef struct kernel {
    talus_kernel kind;
    int dim;
    double width;  ///< w
    double reach;  ///< phi is 0 from here on
    double factor; ///< makes the integral 1
} kernel;

kernel kernel_make(talus_kernel kind, int dim, double width);
/// phi at the squared distance.
double kernel_at(const kernel* k, double square);
/// Mean of phi(x - arm - s branch) over s from 0 to 1, for x = 0: the kernel's integral along a
/// branch that begins at `arm`.
double kernel_along(const kernel* k, const double arm[3], const double branch[3]);

#endif
