/// Dense packings to begin experiments with: grains in a box under a lid that presses on them.
#ifndef TALUS_PAPER_PACKING_H
#define TALUS_PAPER_PACKING_H

#include "paper.h"

/// A packing. Fill with packing_default(). Units: mean radius, density and pressure of order one
/// make all others so.
typedef struct packing_def {
    int dim;                        ///< 2 or 3 [default 2]
    int64_t grains;                 ///< [default 1000]
    double radius_low, radius_high; ///< uniform between them [default 1, 2]
    double density;                 ///< [default 1]
    double friction;                ///< of all contacts [default 0.05]
    double width;                   ///< of the box; 0: about as wide as the packing is high
    double pressure;                ///< force on the lid over its length (3D: area) [default 1]
    double lid_mass;                ///< in masses of a mean grain [default 10]
    double step;                    ///< h while it is made; 0: packing_step()
    double rest;                    ///< it ends when the kinetic energy is below this part of
                                    ///< pressure times volume [default 1e-10]
    bool periodic;                  ///< no side walls, the box wraps around [default false]
    uint64_t seed;                  ///< [default 1]
    int threads;                    ///< [default 1]
    talus_solver_def solver;        ///< which the world keeps [default auto]
} packing_def;

packing_def packing_default(void);

/// Width of the box: `width`, or what makes the packing about as wide as high.
double packing_width(const packing_def* def);
/// Mass of a grain of mean volume, of which `lid_mass` counts.
double packing_mean_mass(const packing_def* def);
/// A step in which the pressure moves a grain by a hundredth of its diameter:
/// h = 0.1 d sqrt(density/pressure), d the mean diameter.
double packing_step(const packing_def* def);

/// Pack grains from a loose state: they fill a box at random without touching and the lid comes
/// down until all is at rest. No gravity. The box stands on the origin, the last axis is up. Walls
/// are called "floor", "left", "right" (3D: "front", "back") and "lid", a plane that moves along
/// the last axis only, under a force; use talus_world_find_wall(). The caller owns *out.
talus_status packing_make(paper* p, const packing_def* def, talus_world** out);

/// Leave the grains a part of their velocities.
void packing_slow(talus_world* world, double part);
/// Set all velocities to zero, the lid's too. The lid presses with the pressure of `def`.
talus_status packing_stop(paper* p, const packing_def* def, talus_world* world);
/// Press on the lid of a packing with another pressure from now on.
talus_status packing_press(paper* p, const packing_def* def, talus_world* world, double pressure);

#endif
