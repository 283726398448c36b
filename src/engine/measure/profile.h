/// Inside of a profile: sums over slices across an axis (profile_slices.c) or over shells about it
/// (profile_shells.c).
#ifndef TALUS_MEASURE_PROFILE_H
#define TALUS_MEASURE_PROFILE_H

#include "measure/domain.h"

/// Nodes of the quadrature over the height of a ball.
enum { PROFILE_NODES = 16 };

/// What is summed for one slice.
typedef struct profile_sum {
    double volume; ///< of all grains
    double mass;   ///< as all below of the free grains, each by its part in the slice
    double momentum[3], spin[3];
    double square[9]; ///< m v v
} profile_sum;

typedef struct profile_task {
    const talus_world* world;
    const domain* domain;
    int dim, axis, bins;
    double low, width;
    double box_low[3], box_high[3]; ///< the domain's box, ended by the profile's
    half_space* side;               ///< [bins][domain's sides + 2] of each slice
    convex_cell* space;             ///< [bins]
    double origin[3], axes[3][3];   ///< of shells; axes[2] is the axis
    double node[PROFILE_NODES], weight[PROFILE_NODES];
} profile_task;

/// A branch vector on its way through the domain.
typedef struct profile_branch {
    double start[3], branch[3];
    double from, to; ///< share of it that is in the domain
} profile_branch;

/// Add a grain to the sums [bins], and a branch times its force to the tensors [bins][9].
typedef talus_status profile_grain_fn(const profile_task* t, int64_t row, clip_memory* memory,
                                      profile_sum* sums);
typedef void profile_branch_fn(const profile_task* t, const profile_branch* p, const double* force,
                               double* stress);

/// Prepare the slices; *volume [bins] receives theirs.
talus_status profile_slices_make(profile_task* t, double* volume);
profile_grain_fn profile_slice_grain;
profile_branch_fn profile_slice_branch;

/// The same for shells, whose nodes must be made.
void profile_shells_make(profile_task* t, double* volume);
profile_grain_fn profile_shell_grain;
profile_branch_fn profile_shell_branch;

/// Add the part of a grain with velocity v and spin w, in the axes of the profile, to a slice.
void profile_add(const profile_task* t, int64_t row, double part, const double* v, const double* w,
                 profile_sum* sum);

#endif
