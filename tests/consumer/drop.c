/// A grain falls on a plane and comes to rest at the height of its radius. Valid C17 and C++17.
#include <math.h>
#include <stdio.h>
#include <talus/talus.h>

int main(void)
{
    talus_error error = {TALUS_OK, ""};
    talus_world_def options = talus_world_default();
    options.gravity[2] = -9.81;
    talus_grain_def grain = talus_grain_default();
    grain.radius = 0.1, grain.position[2] = 0.2;
    talus_wall_def wall = talus_wall_default();
    wall.name = "floor", wall.shape.kind = TALUS_SHAPE_PLANE, wall.shape.normal[2] = 1.0;

    talus_world* world = NULL;
    talus_pair_def law = talus_pair_default();
    talus_material_id glass;
    talus_status status = talus_world_create(&options, &world, &error);
    if (status == TALUS_OK) status = talus_world_add_material(world, "glass", &law, &glass, &error);
    if (status == TALUS_OK) status = talus_world_add_wall(world, &wall, NULL, &error);
    if (status == TALUS_OK) status = talus_world_add_grain(world, &grain, NULL, &error);
    for (int i = 0; i < 1000 && status == TALUS_OK; i++)
        status = talus_world_step(world, 1e-3, NULL, &error);
    if (status != TALUS_OK) return fprintf(stderr, "%s\n", error.text), 1;

    double height = talus_world_grains(world).position[2];
    printf("Talus %s: the grain rests at %.15g, its radius is %g\n", talus_version(), height,
           grain.radius);
    talus_world_destroy(world);
    // The law closes the gap to roundoff in the step of the impact and keeps it closed.
    return fabs(height - grain.radius) < 1e-9 * grain.radius ? 0 : 1;
}
