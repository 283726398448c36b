/// Grain sizes: probability distributions of the radius.
///
/// A distribution is given by number (share of the grains per size) or by mass (share of the mass
/// per size, in 2D of the area); by mass means number density = given density * size^-dim. Draws
/// are exact in both cases: discrete values by their weights, continuous ones by rejection under a
/// piecewise constant bound.
#ifndef TALUS_SCENE_SIZES_H
#define TALUS_SCENE_SIZES_H

#include <stdbool.h>
#include <stdint.h>
#include <talus/base.h>

#include "base/rng.h"

typedef enum sizes_kind {
    SIZES_SINGLE = 0,   ///< one value
    SIZES_UNIFORM,      ///< constant density on [min, max]
    SIZES_NORMAL,       ///< mean, deviation, cut to [min, max]
    SIZES_LOGNORMAL,    ///< median (or mean), sigma of the logarithm, cut to [min, max]
    SIZES_POWER,        ///< density ~ size^-exponent on [min, max]
    SIZES_TABLE,        ///< the listed sizes with the listed weights, nothing between
    SIZES_TABLE_LINEAR, ///< the listed points (size ascending, density), linear between
} sizes_kind;

/// A size distribution. Fill with sizes_default(). All lengths are radii, or all of them diameters.
typedef struct sizes_def {
    sizes_kind kind;
    bool by_mass;        ///< the distribution is of mass (2D: area) per size [default false]
    bool diameter;       ///< the lengths below are diameters [default false]
    double value;        ///< SINGLE
    double min;          ///< UNIFORM, POWER: required; NORMAL, LOGNORMAL: 0 for the default cut
    double max;          ///< the default cut is three deviations to each side of the mean (median)
    double mean;         ///< NORMAL, and LOGNORMAL when median is 0: of the uncut distribution
    double deviation;    ///< NORMAL: standard deviation of the uncut distribution
    double median;       ///< LOGNORMAL; 0: from mean
    double sigma;        ///< LOGNORMAL: standard deviation of ln(size)
    double exponent;     ///< POWER
    const double* table; ///< TABLE kinds: [table_count][2] size, weight; not owned, must outlive
    int64_t table_count;
} sizes_def;

sizes_def sizes_default(void);

/// A distribution made ready to draw from.
typedef struct sizes sizes;

/// Check `def` (the error names the offending number) and make it ready. The table is not copied.
/// The caller owns *out and ends it with sizes_destroy().
talus_status sizes_create(const sizes_def* def, int dim, sizes** out, talus_error* error);
void sizes_destroy(sizes* s);

/// Draw a radius.
double sizes_draw(const sizes* s, rng* r);
/// Smallest and largest radius that can come.
double sizes_least(const sizes* s);
double sizes_largest(const sizes* s);

#endif
