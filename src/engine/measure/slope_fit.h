/// Straight lines and planes through points by least squares.
#ifndef TALUS_MEASURE_SLOPE_FIT_H
#define TALUS_MEASURE_SLOPE_FIT_H

#include <stdbool.h>
#include <stdint.h>

/// top = level + rise[0] x + rise[1] y
typedef struct slope_fit {
    int64_t count;
    double level, rise[2];
    double covariance[3]; ///< of the rise: xx, xy, yy
    double squares;       ///< sum of squared vertical distances
} slope_fit;

/// Fit points x, y (NULL: a line), top [count]. False if there are fewer than 3 (a plane: 4), or if
/// they do not determine it.
bool slope_fit_make(int64_t count, const double* x, const double* y, const double* top,
                    slope_fit* out);
/// Steepest angle of a fit and its standard error, degrees.
double slope_fit_angle(const slope_fit* fit, double* error);

#endif
