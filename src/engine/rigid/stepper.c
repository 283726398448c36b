/// The list of ways of stepping time: which one the options ask for.
#include "rigid/stepper.h"

const stepper_ops* stepper_for(const talus_world_def* def)
{
    return def->method == TALUS_METHOD_SOFT ? &soft_particles_stepper : &contact_dynamics_stepper;
}
