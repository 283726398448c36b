/// A loose powder of cohesive disks under a piston, to be compacted.
///
/// Lengths are in mean diameters, masses in those of a mean disk, forces in a strength F_C of 1.
#ifndef TALUS_PAPER_POWDER_H
#define TALUS_PAPER_POWDER_H

#include "paper.h"

/// A powder and how it is pressed. Fill with powder_default().
typedef struct powder_def {
    int64_t disks;
    double width;    ///< of the box, periodic across [default 14]
    double covered;  ///< part of the area that disks cover at the start [default 0.35]
    double friction; ///< of Coulomb [default 0.3]
    double rolling;  ///< coefficient of rolling friction, times r* [default 0]
    double cohesion; ///< strength F_C of bonds [default 0]
    double range;    ///< of bonds, d_C = E_C/F_C [default 0.05]
    double unit;     ///< force in which F_C and stresses are given [default 1]
    double step;     ///< h [default 0.05]
    double speed;    ///< of a piston that nothing resists [default 0.1]
    uint64_t seed;   ///< of places, radii and sweeps [default 1]
} powder_def;

powder_def powder_default(void);

/// Make a powder at rest: disks with radii within a fifth of the mean at random places where none
/// touches another, walls "floor" and "piston". No gravity. The caller owns *out.
talus_status powder_make(paper* p, const powder_def* def, talus_world** out);

/// Press with a stress (2D: force over width) until the piston advances at less than a hundredth of
/// its free speed; *porosity is the share of the area below it that disks do not cover.
talus_status powder_press(paper* p, const powder_def* def, double stress, talus_world* world,
                          double* porosity);

#endif
