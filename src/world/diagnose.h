/// What a step came to: overlaps, and how rigid the solution really was.
#ifndef TALUS_WORLD_DIAGNOSE_H
#define TALUS_WORLD_DIAGNOSE_H

#include "world/world.h"

/// Mean and largest overlap now (end of the step), relative to the mean diameter. The world's poses
/// must be those of now.
void diagnose_overlap(const talus_world* world, double* mean, double* largest);
/// The papers' theory applied to the step just done; result->sweeps and residual must be set.
talus_status diagnose_rigidity(const talus_world* world, clusters* work, double h, int64_t sweeps,
                               double residual, talus_rigidity* out);
/// Put a soft step into plain words.
void diagnose_remark(const talus_rigidity* r, int64_t sweeps, char* text, size_t size);

#endif
