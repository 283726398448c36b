/// What the methods of stepping time can do. Who depends on it asks for the ability by its name,
/// not for the method.
#ifndef TALUS_WORLD_METHOD_H
#define TALUS_WORLD_METHOD_H

#include <talus/soft.h>

typedef struct method_traits {
    const char* name; ///< in scenes, summaries and checkpoints
    bool undoable;    ///< a step that failed leaves all as it was; it can be tried again, shorter
    bool solves_contacts; ///< a step is a contact problem, solved by sweeps down to a residual
    bool has_springs; ///< contacts last a time that bounds the step, and what they store and lose
                      ///< is counted
    bool short_steps; ///< so short that a run looks at the world once in many of them
    bool locks_axes;  ///< grains can be held along some axes
    bool polyhedra;   ///< grains that are no balls can be in three dimensions
} method_traits;

const method_traits* method_of(talus_method which);

#endif
