/// Principal values, deviators and what fabric tensors say.
///
/// With the density of contact directions E(t) = (1/2 pi) (1 + a_c cos 2(t - t_c)) in the plane the
/// mean of n_i n_j has the principal values 1/2 +- a_c/4. In space, with
/// E = (1/4 pi) (1 + a_c (3 cos^2 t - 1)), they are 1/3 + 4 a_c/15 along the axis and
/// 1/3 - 2 a_c/15 across it.
#include "measure/tensor.h"

#include "base/symmetric.h"

#include <math.h>

talus_principal talus_measure_principal(int dim, const double tensor[9])
{
    talus_principal p = {{0}, {0}};
    double a[9], v[9];
    int order[3] = {0, 1, 2};
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++)
            a[i * dim + j] = 0.5 * (tensor[3 * i + j] + tensor[3 * j + i]);
    }
    symmetric_diagonalise(dim, a, v);
    for (int i = 0; i < dim; i++) { // by insertion
        for (int k = i; k > 0 && a[order[k] * (dim + 1)] > a[order[k - 1] * (dim + 1)]; k--) {
            int swap = order[k];
            order[k] = order[k - 1], order[k - 1] = swap;
        }
    }
    for (int i = 0; i < dim; i++) {
        p.value[i] = a[order[i] * (dim + 1)];
        double largest = 0.0; // component, made positive
        for (int k = 0; k < dim; k++) {
            const double x = v[k * dim + order[i]];
            if (fabs(x) > fabs(largest)) largest = x;
        }
        for (int k = 0; k < dim; k++) {
            p.direction[3 * i + k] = copysign(1.0, largest) * v[k * dim + order[i]];
        }
    }
    if (dim == 2) p.direction[8] = 1.0;
    return p;
}

void tensor_deviator(int dim, const double tensor[9], double out[9])
{
    const double mean = tensor_trace(dim, tensor) / dim;
    for (int k = 0; k < 9; k++) out[k] = 0.0;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            out[3 * i + j] = 0.5 * (tensor[3 * i + j] + tensor[3 * j + i]) - (i == j ? mean : 0.0);
        }
    }
}

double tensor_product(int dim, const double* x, const double* y)
{
    double sum = 0.0;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) sum += x[3 * i + j] * y[3 * i + j];
    }
    return sum;
}

double principal_angle(int dim, const talus_principal* principal)
{
    if (dim == 3) return NAN;
    const double angle = atan2(principal->direction[1], principal->direction[0]);
    return angle < 0.0 ? angle + M_PI : angle;
}

double fabric_anisotropy(int dim, const talus_principal* p)
{
    return dim == 2 ? 2.0 * (p->value[0] - p->value[1]) : 2.5 * (p->value[0] - p->value[2]);
}
