/// A heap of spheres: a column in a smooth tube, which is taken away.
///
/// Lengths are in mean diameters, masses in those of a mean sphere, and gravity is 1.
#ifndef TALUS_PAPER_HEAP_H
#define TALUS_PAPER_HEAP_H

#include "paper.h"

/// A plane of the beads' material and its law. Rolling and torsion friction are times r*.
typedef struct heap_law {
    double friction, rolling, torsion;
} heap_law;

/// Make an empty plane called "table", level or, since gravity is, inclined by `slope` with
/// downhill along x. Its material has index 0. The caller owns *out.
talus_status heap_table(paper* p, double slope, const heap_law* law, talus_world** out);

/// A heap. Fill with heap_default().
typedef struct heap_def {
    int64_t spheres;
    heap_law law;
    double spread;  ///< radii differ by up to this part of the mean [default 0.1]
    double density; ///< [default 6/pi, mass 1 for a diameter of 1]
    double step;    ///< h, sqrt(d/g) [default 0.025]
    double time;    ///< for which it may spread [default 60]
    double rest;    ///< kinetic energy a sphere at which it is done, m g d [default 1e-7]
    uint64_t seed;  ///< [default 1]
} heap_def;

heap_def heap_default(void);

/// What is left of the column: the cone with the same mean height and the same median distance from
/// the axis. A cone of height H and radius R has H/4 and R/2.
typedef struct heap_shape {
    double angle; ///< degrees
    double height, radius;
    double lifted; ///< share of spheres that do not lie on the table
    double energy; ///< kinetic, a sphere
} heap_shape;

/// Let spheres settle in the tube, without rolling friction, so that the column is the same for
/// every law; then take the tube away. The caller owns *out.
talus_status heap_make(paper* p, const heap_def* def, heap_shape* shape, talus_world** out);

#endif
