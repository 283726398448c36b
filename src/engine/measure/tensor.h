/// Symmetric and other tensors as 9 doubles, [3][3]; in 2D the upper left four count.
#ifndef TALUS_MEASURE_TENSOR_H
#define TALUS_MEASURE_TENSOR_H

#include <talus/measure.h>

/// tensor += s x y^T
static inline void tensor_add(int dim, double* tensor, double s, const double* x, const double* y)
{
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) tensor[3 * i + j] += s * x[i] * y[j];
    }
}

static inline double tensor_trace(int dim, const double* tensor)
{
    return tensor[0] + tensor[4] + (dim == 3 ? tensor[8] : 0.0);
}

/// Symmetric part less its trace.
void tensor_deviator(int dim, const double tensor[9], double out[9]);
/// x : y, the sum of x_ij y_ij
double tensor_product(int dim, const double* x, const double* y);
/// Angle of the first principal direction against x, 0 to pi; NaN in 3D.
double principal_angle(int dim, const talus_principal* principal);
/// a_c of a fabric tensor of trace 1: 2 (F1 - F2) in 2D, 5/2 (F1 - F3) in 3D.
double fabric_anisotropy(int dim, const talus_principal* principal);

#endif
