/// Default definitions of the public structs.
#include <talus/world.h>

talus_world_def talus_world_default(void)
{
    return (talus_world_def){.dim = 3,
                             .on_unconverged = TALUS_POLICY_ACCEPT,
                             .on_escape = TALUS_POLICY_STOP,
                             .on_nan = TALUS_POLICY_STOP,
                             .retry_depth = 6,
                             .seed = 1,
                             .threads = 1,
                             .solver = talus_solver_default(),
                             .soft = talus_soft_default()};
}

talus_soft_def talus_soft_default(void)
{
    return (talus_soft_def){.integrator = TALUS_INTEGRATOR_VERLET,
                            .elongation = TALUS_ELONGATION_GEOMETRIC,
                            .law = TALUS_SOFT_LINEAR,
                            .bound = TALUS_BOUND_TOTAL};
}

talus_pair_def talus_pair_default(void)
{
    return (talus_pair_def){
        .soft = {.stiffness_ratio = 1.0 / 3.0, .damping_ratio = 1.0 / 3.0, .poisson = 0.3}};
}

talus_grain_def talus_grain_default(void)
{
    return (talus_grain_def){
        .solid = TALUS_NO_SOLID, .scale = 1.0, .density = 2500.0, .glued_to = TALUS_NO_WALL};
}

talus_solid_def talus_solid_default(void)
{
    return (talus_solid_def){.part_count = 1};
}

talus_drive_def talus_drive_default(void)
{
    return (talus_drive_def){.kind = TALUS_DRIVE_FIXED};
}

talus_wall_def talus_wall_default(void)
{
    return (talus_wall_def){.drive = talus_drive_default()};
}
