/// Does the motion of a step carry solids into each other or into walls?
///
/// The contact problem sees straight ways and the features that were nearest when the step began.
/// That is not enough for slender solids in long steps: an end that comes round on a circle, two
/// needles that turn onto each other. So before a step is accepted, every solid that moves by more
/// than a part of its thickness is followed on its way: bodies move evenly and turn about one axis,
/// and are looked at as often as they can come nearer by a tenth of the thickness. Where they
/// overlap by more than is allowed the step is to be cut (world/step_rigid.c). Compact grains in
/// usual steps move by much less and are not followed.
#ifndef TALUS_DETECT_PASSAGE_H
#define TALUS_DETECT_PASSAGE_H

#include "detect/grid.h"
#include "detect/physical_state.h"

/// A step as it would be taken. Nothing is owned.
typedef struct passage_way {
    const physical_state* state; ///< at the beginning of the step, poses too
    const pair_list* pairs;      ///< every pair in reach
    const double* velocity;      ///< [grains][dim] of the step
    const double* spin;          ///< [grains][1 or 3] even, such that it ends as it will
    const double* wall_velocity; ///< [walls][3]; they turn by their own spin
    double drift[3];             ///< common velocity, which nobody sees
    double h;
    int threads; ///< what is found does not depend on it
} passage_way;

/// Two bodies that are followed.
typedef struct passage_pair {
    int64_t a, b;     ///< rows of grains; a < 0: wall -1 - a
    double way;       ///< bound on how much nearer they can come
    double thickness; ///< of the thinner one
    double depth;     ///< deepest overlap found, in thicknesses; 0: no more than allowed
} passage_pair;

/// Memory that is kept from step to step. Zero is empty.
typedef struct passage_work {
    passage_pair* pair;
    int64_t capacity;
    double* moves; ///< [grains] how far any point goes in the step, seen from the drift
    int64_t grain_capacity;
} passage_work;

void passage_work_free(passage_work* w);

/// What was found: the pair that overlaps deepest.
typedef struct passage {
    int64_t followed; ///< pairs
    bool passes;      ///< one of them overlaps by more than is allowed:
    int64_t a, b;     ///< its bodies,
    double depth;     ///< how deep, in thicknesses,
    double safe_step; ///< and a step with which it moves by no more than is safe
} passage;

talus_status passage_find(passage_work* work, const passage_way* way, passage* out);

/// A step that is safe for all solids with the velocities that they have now: none moves by more
/// than a part of its thickness, against the mean velocity of all. INFINITY if there is none or
/// none moves. Longer steps are safe too where solids do not meet; those are found by trying.
double passage_safe_step(const physical_state* state);

#endif
