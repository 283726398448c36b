/// A short run of a scene in a folder of its own, for tests that read a run back.
#ifndef TALUS_TESTS_MADE_RUN_H
#define TALUS_TESTS_MADE_RUN_H

#include "support.h"

#include <talus/workshop.h>

static char folder[] = "/tmp/talus-run-XXXXXX"; ///< scene.yaml and run/ are in it
static char run_folder[128];

/// Carry out a scene into run_folder; 0 if that went well, as cmocka's set-up functions say it.
static inline int make_run_of(const char* scene_text)
{
    char scene[128];
    talus_error error = {0};
    talus_report report = {0};
    if (!mkdtemp(folder)) return -1;
    snprintf(scene, sizeof scene, "%s/scene.yaml", folder);
    snprintf(run_folder, sizeof run_folder, "%s/run", folder);
    FILE* file = fopen(scene, "w");
    fputs(scene_text, file);
    fclose(file);
    talus_run_def def = talus_run_default();
    def.scene = scene;
    def.directory = run_folder;
    if (talus_run_start(&def, NULL, &report, &error) == TALUS_OK) return 0;
    puts(error.text);
    for (int i = 0; i < report.count; i++) puts(report.lines[i]);
    return -1;
}

static inline int remove_run(void** state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#endif
