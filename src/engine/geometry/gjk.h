/// Distance of two convex cores by the algorithm of Gilbert, Johnson and Keerthi (IEEE J. Robotics
/// and Automation 4, 1988), with sub-distances by signed volumes (Montanari, Petrinic, Barbieri,
/// ACM Trans. Graph. 36, 2017), which stay sound for flat simplices.
#ifndef TALUS_GEOMETRY_GJK_H
#define TALUS_GEOMETRY_GJK_H

#include "geometry/convex_axis.h"

/// Up to four corners of the difference body A - B.
typedef struct simplex {
    int count;
    int of_a[4], of_b[4];
    double w[4][3];
    double weight[4]; ///< of the nearest point
} simplex;

typedef enum gjk_result {
    GJK_APART, ///< the simplex holds the nearest point
    GJK_NEAR,  ///< overlapping, or too near for rounding: the simplex is the best that was found
    GJK_FAR,   ///< farther apart than `reach`
} gjk_result;

/// `near`: distance below which GJK_NEAR is returned.
gjk_result gjk_distance(const convex_pair* p, double reach, double near, simplex* s);

/// Unit normal from a to b by the features of the simplex (across an edge, across both edges or the
/// face); false if they give none.
bool simplex_normal(const simplex* s, double n[3]);

#endif
