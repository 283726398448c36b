/// A biaxial test: disks between four walls, of which one comes nearer and one holds its pressure.
#ifndef TALUS_PAPER_BIAXIAL_H
#define TALUS_PAPER_BIAXIAL_H

#include "packing.h"

/// Put the grains of a packing (2D, with side walls) into a cell of the same size. Friction between
/// grains is `friction` from now on; the walls have none, so that x and y are the principal axes of
/// stress. All walls are at rest. The caller owns *out.
talus_status biaxial_make(paper* p, const packing_def* made, const talus_world* packing,
                          double friction, talus_world** out);
/// Let the lid come down with a constant speed, while the wall on the right holds the pressure with
/// which the packing was made.
talus_status biaxial_drive(paper* p, const packing_def* made, talus_world* cell, double speed);

#endif
