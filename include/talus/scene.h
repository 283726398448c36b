/// Scenes: YAML files that describe grains, walls, materials, phases and output.
#ifndef TALUS_SCENE_H
#define TALUS_SCENE_H

#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_scene talus_scene;

/// All mistakes found in a scene, in file order. Zero-initialise; free with talus_report_clear().
typedef struct talus_report {
    int count;
    char** lines; ///< [count] "file:line:column: key.path: what is wrong; what was expected"
} talus_report;

TALUS_API void talus_report_clear(talus_report* report);

/// Read a scene. `sets` are "key.path=value" overrides applied before reading. On TALUS_ERR_SCENE
/// *report lists every mistake. The caller owns *out.
TALUS_API talus_status talus_scene_load(const char* path, const char* const* sets, int set_count,
                                        talus_scene** out, talus_report* report,
                                        talus_error* error);
TALUS_API void talus_scene_destroy(talus_scene* scene);

/// Make the scene's world: materials, walls, initial grains. `options` may be NULL; otherwise its
/// log, log_user, (if > 0) threads and (if not NULL) device fields replace the scene's. A generator
/// that could not place all it was asked for is a log warning (or, with `strict: true` in the
/// scene, an error). Numbers that the scene leaves to the program (stiffness, `step: auto`) are
/// chosen here and go into the effective scene; with the method soft so are, with a log warning,
/// steps with which the integrator would be unstable.
TALUS_API talus_status talus_scene_build(talus_scene* scene, const talus_world_def* options,
                                         talus_world** out, talus_report* report,
                                         talus_error* error);

/// Write the effective scene, with every default filled in, as YAML.
TALUS_API talus_status talus_scene_write(const talus_scene* scene, const char* path,
                                         talus_error* error);

/// The scene's title and time step (of `step: auto`: once the world is made).
TALUS_API const char* talus_scene_title(const talus_scene* scene);
TALUS_API double talus_scene_step_length(const talus_scene* scene);

#ifdef __cplusplus
}
#endif
#endif
