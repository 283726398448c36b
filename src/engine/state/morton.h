/// Order of the grains in space: where each lies along a curve that passes every cell of a lattice.
#ifndef TALUS_STATE_MORTON_H
#define TALUS_STATE_MORTON_H

#include "state/grains.h"

/// Fill key[count] with the places of the grains along a Z curve (Morton 1966) through cells about
/// a mean diameter wide, wider if more than 2^15 (2D) or 2^10 (3D) would lie along an axis. Keys
/// have 30 bits; grains of one cell share theirs. Returns the width of a cell in mean diameters.
double morton_keys(const grains* g, int threads, uint32_t* key);
/// The key of the cell with these coordinates, of up to 15 (2D) or 10 (3D) bits each.
uint32_t morton_key(int dim, const uint32_t* at);
/// The bits of a key that belong to its first coordinate, in whose order they are.
uint32_t morton_axis(int dim);
/// Every second (2D) or third (3D) bit of a key, put together: a coordinate of its cell, the first
/// one; those of the others are those of key >> 1 and key >> 2.
uint32_t morton_coordinate(int dim, uint32_t key);

#endif
