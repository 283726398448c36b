/// Planes, and grains in order: what scenes are made of that do not begin with a packing.
#ifndef TALUS_PAPER_LATTICE_H
#define TALUS_PAPER_LATTICE_H

#include "paper.h"

/// Add a fixed plane at `at` on an axis, with the grains on its upper (sign 1) or lower (-1) side.
talus_status lattice_plane(paper* p, talus_world* world, const char* name, int axis, double sign,
                           double at);

/// Add a heap of disks of mass and diameter 1: horizontal rows of n, n - 1, ..., 1, the lowest at
/// y = 1/2, neighbours at the distance `spacing`.
talus_status lattice_heap(paper* p, talus_world* world, int n, double spacing, bool bottom_fixed);

/// Add a block of balls of mass and diameter 1, n wide and n high, that stands on 0 between -1/2
/// and n - 1/2 and falls with `speed`: in 2D every other row is one ball shorter and shifted by
/// half a ball, in 3D they stand on top of each other. *count is their number.
talus_status lattice_block(paper* p, talus_world* world, int n, double speed, double* count);

#endif
