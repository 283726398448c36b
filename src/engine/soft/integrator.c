/// The integrators by the options that ask for them.
#include "soft/integrator.h"

const integrator* integrator_of(talus_integrator kind)
{
    switch (kind) {
    case TALUS_INTEGRATOR_GEAR5: return &gear5_integrator;
    case TALUS_INTEGRATOR_GEAR3: return &gear3_integrator;
    case TALUS_INTEGRATOR_LEAPFROG: return &leapfrog_integrator;
    case TALUS_INTEGRATOR_VERLET: break;
    }
    return &verlet_integrator;
}
