/// What a step came to: overlaps, and how rigid the solution really was.
#ifndef TALUS_WORLD_DIAGNOSE_H
#define TALUS_WORLD_DIAGNOSE_H

#include "world/world.h"

/// Fill in the overlaps of now (end of the step). The world's poses must be those of now.
void diagnose_overlap(const talus_world* world, talus_step_result* out);
/// How rigid the step just done was. In: out->velocity_error for a system of extent 1
/// (step_outcome); out: all of it, for the extent that this one has. The world's extent becomes
/// that of this step, or a larger one of the steps before, 0.5 % less each step.
talus_status diagnose_rigidity(talus_world* world, double h, int64_t sweeps, talus_rigidity* out);
/// Let each grain have its share in the error of the attempt that was just accepted, or the largest
/// of its shares if the attempt is a `further` part of the step.
talus_status diagnose_errors(talus_world* world, bool further);
/// Put a step that is yielding, or not certified, into plain words.
void diagnose_remark(const talus_rigidity* r, const talus_solver_def* solver, int64_t sweeps,
                     char* text, size_t size);

#endif
