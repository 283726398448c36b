/// A scene file is made a world and stepped: what the workshop adds to the engine.
#include <stdio.h>
#include <talus/scene.h>
#include <talus/world.h>

int main(void)
{
    FILE* file = fopen("drop.yaml", "w");
    if (!file) return 1;
    fputs("title: drop\ndimension: 3\nstep: 0.001\nuntil: {steps: 10}\n"
          "grains: [{type: list, items: [{position: [0, 0, 1], radius: 0.1}]}]\n",
          file);
    fclose(file);

    talus_error error = {TALUS_OK, ""};
    talus_report report = {0, NULL};
    talus_scene* scene = NULL;
    talus_world* world = NULL;
    talus_status status = talus_scene_load("drop.yaml", NULL, 0, &scene, &report, &error);
    if (status == TALUS_OK) status = talus_scene_build(scene, NULL, &world, &report, &error);
    if (status == TALUS_OK) status = talus_world_step(world, 1e-3, NULL, &error);
    if (status != TALUS_OK) return fprintf(stderr, "%s\n", error.text), 1;
    printf("Talus %s: '%s' has been stepped\n", talus_version(), talus_scene_title(scene));
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    talus_report_clear(&report);
    return 0;
}
