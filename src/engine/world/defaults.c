/// Default definitions of the public structs.
#include "base/definition.h"

#include <talus/world.h>

void talus_world_default_sized(talus_world_def* def, size_t size)
{
    talus_world_def own = {.dim = 3,
                           .on_unconverged = TALUS_POLICY_ACCEPT,
                           .on_escape = TALUS_POLICY_STOP,
                           .on_coarse = TALUS_POLICY_ACCEPT,
                           .on_nan = TALUS_POLICY_STOP,
                           .retry_depth = 6,
                           .seed = 1,
                           .threads = 1,
                           .solver = talus_solver_default(),
                           .soft = talus_soft_default()};
    DEFINITION_GIVE(def, size, own);
}

void talus_soft_default_sized(talus_soft_def* def, size_t size)
{
    talus_soft_def own = {.integrator = TALUS_INTEGRATOR_VERLET,
                          .elongation = TALUS_ELONGATION_GEOMETRIC,
                          .law = TALUS_SOFT_LINEAR,
                          .bound = TALUS_BOUND_TOTAL};
    DEFINITION_GIVE(def, size, own);
}

void talus_pair_default_sized(talus_pair_def* def, size_t size)
{
    talus_pair_def own = {
        .soft = {.stiffness_ratio = 1.0 / 3.0, .damping_ratio = 1.0 / 3.0, .poisson = 0.3}};
    DEFINITION_GIVE(def, size, own);
}

void talus_grain_default_sized(talus_grain_def* def, size_t size)
{
    talus_grain_def own = {
        .solid = TALUS_NO_SOLID, .scale = 1.0, .density = 2500.0, .glued_to = TALUS_NO_WALL};
    DEFINITION_GIVE(def, size, own);
}

void talus_solid_default_sized(talus_solid_def* def, size_t size)
{
    talus_solid_def own = {.part_count = 1};
    DEFINITION_GIVE(def, size, own);
}

void talus_drive_default_sized(talus_drive_def* def, size_t size)
{
    talus_drive_def own = {.kind = TALUS_DRIVE_FIXED};
    DEFINITION_GIVE(def, size, own);
}

void talus_wall_default_sized(talus_wall_def* def, size_t size)
{
    talus_wall_def own = {.shape = {.solid = TALUS_NO_SOLID}, .drive = talus_drive_default()};
    DEFINITION_GIVE(def, size, own);
}
