/// Scenes: read, written out, built into a world, and some steps made.
#include "fuzz.h"

#include <math.h>
#include <talus/scene.h>

/// Of a machine with little memory: scenes of more than some hundred grains are refused, as others
/// are elsewhere (scene/build_memory.c).
double __wrap_memory_limit(void);
double __wrap_memory_limit(void)
{
    return 4e5;
}

enum { STEPS = 3 };

static void make_steps(talus_world* world, double h)
{
    talus_error error = {0};
    for (int i = 0; i < STEPS; i++) {
        talus_step_result result = {0};
        const talus_status status = talus_world_step(world, h, &result, &error);
        fuzz_check(status, &error);
        if (status < 0) return;
        FUZZ_PROMISE(!isnan(result.kinetic_energy));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    talus_error error = {0};
    talus_report report = {0};
    talus_scene* scene = NULL;
    talus_world* world = NULL;
    const char* path = fuzz_file("scene.yaml", NULL, 0, data, size);
    talus_status status = talus_scene_load(path, NULL, 0, &scene, &report, &error);
    FUZZ_PROMISE((status == TALUS_ERR_SCENE) == (report.count > 0));
    if (status == TALUS_OK) {
        // Threads of other counts would make the fuzzer forget what it has covered.
        talus_world_def options = talus_world_default();
        options.threads = 1;
        options.device = "cpu";
        status = talus_scene_build(scene, &options, &world, &report, &error);
        fuzz_check(status, &error);
    }
    if (status == TALUS_OK) make_steps(world, talus_scene_step_length(scene));
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    talus_report_clear(&report);
    return 0;
}
