/// The integrators by name.
#include "soft/integrator.h"

#include <stddef.h>
#include <string.h>

const integrator* integrator_named(const char* name)
{
    const integrator* const all[] = {&gear5_integrator, &gear3_integrator, &verlet_integrator,
                                     &leapfrog_integrator};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        if (strcmp(all[k]->name, name) == 0) return all[k];
    }
    return NULL;
}
