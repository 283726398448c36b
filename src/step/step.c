/// The list of ways of stepping time: which one the options ask for.
#include "step/step.h"

const stepper_ops* stepper_for(const talus_world_def* def)
{
    (void)def; // there is one so far
    return &contact_dynamics_stepper;
}
