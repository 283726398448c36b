/// Loading and writing of scenes, and what the run asks of them.
///
/// Numbers are read and written in the "C" locale whatever the program's is, so that 0.5 never
/// becomes 0,5.
#include "base/error.h"
#include "base/plain.h"
#include "scene/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A step this many times longer than advised is called too long, as one is during a run whose
/// contacts are too coarse.
static double long_step(void)
{
    return sqrt(TALUS_TOO_COARSE / TALUS_COARSE);
}

/// The whole file; the caller frees *text.
static talus_status read_file(const char* path, char** text, size_t* size, talus_error* error)
{
    FILE* file = fopen(path, "rb");
    if (!file) return error_set(error, TALUS_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    size_t capacity = 65536;
    *size = 0;
    *text = malloc(capacity);
    while (*text) {
        *size += fread(*text + *size, 1, capacity - *size, file);
        if (*size < capacity || *size > TREE_MAX_BYTES) break;
        capacity *= 2;
        char* bigger = realloc(*text, capacity);
        if (!bigger) free(*text);
        *text = bigger;
    }
    talus_status status = TALUS_OK;
    if (!*text)
        status = error_memory(error, "the scene file");
    else if (ferror(file))
        status = error_set(error, TALUS_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    else if (*size > TREE_MAX_BYTES)
        status = error_set(error, TALUS_ERR_SCENE,
                           "%s: larger than %d MiB: give many grains in a "
                           "CSV file instead",
                           path, TREE_MAX_BYTES / 1048576);
    fclose(file);
    if (status < 0) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static void scene_read(talus_scene* scene, const char* text, size_t size, const char* const* sets,
                       int set_count)
{
    arena* a = &scene->arena;
    mistakes* found = &scene->mistakes;
    node* root = tree_parse(a, found, text, size, NULL);
    if (!root) {
        if (found->count == 0) {
            mistakes_add(found, (place){NULL, 1, 1}, NULL, "the file is empty (expected a scene)");
        }
        return;
    }
    if (root->kind != NODE_MAP) {
        mistakes_add(found, root->at, NULL,
                     "the file is %s (expected a scene: lines such as 'dimension: 2')",
                     node_kind_name(root));
        return;
    }
    for (int i = 0; i < set_count; i++) tree_set(a, found, root, sets[i]);
    section s;
    scene->reader = (reader){.a = a, .mistakes = found};
    section_root(&s, &scene->reader, root);
    read_scene(scene, &s);
    reader_finish(&scene->reader);
    scene->effective = s.out;
}

talus_status talus_scene_load(const char* path, const char* const* sets, int set_count,
                              talus_scene** out, talus_report* report, talus_error* error)
{
    *out = NULL;
    char* text = NULL;
    size_t size = 0;
    TRY(read_file(path, &text, &size, error));
    talus_scene* scene = calloc(1, sizeof *scene);
    if (scene) {
        const char* slash = strrchr(path, '/');
        scene->file = arena_text(&scene->arena, path, strlen(path));
        scene->folder = slash ? arena_text(&scene->arena, path, (size_t)(slash - path) + 1)
                              : arena_text(&scene->arena, ".", 1);
        scene->mistakes.file = scene->file;
    }
    if (!scene || scene->arena.failed) {
        free(text);
        talus_scene_destroy(scene);
        return error_memory(error, "the scene");
    }
    plain_numbers numbers = plain_numbers_begin();
    scene_read(scene, text, size, sets, set_count);
    plain_numbers_end(numbers);
    free(text);

    talus_status status = scene->arena.failed ? error_memory(error, "the scene")
                                              : mistakes_report(&scene->mistakes, report, error);
    if (status < 0) {
        talus_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return TALUS_OK;
}

void talus_scene_destroy(talus_scene* scene)
{
    if (!scene) return;
    for (int i = 0; i < scene->source_count; i++) inlet_destroy(scene->sources[i].inlet_ready);
    talus_world_destroy(scene->saved);
    solids_free(&scene->shapes.solids);
    mistakes_free(&scene->mistakes);
    reader_free(&scene->reader);
    arena_free(&scene->arena);
    free(scene);
}

talus_status talus_scene_write(const talus_scene* scene, const char* path, talus_error* error)
{
    static const char head[] =
        "# The effective scene: every default filled in, every override applied.\n";
    return tree_write(scene->effective, head, path, error);
}

const char* talus_scene_title(const talus_scene* scene)
{
    return scene->title;
}

double talus_scene_step_length(const talus_scene* scene)
{
    return scene->step.length;
}

talus_method scene_method(const talus_scene* scene)
{
    return scene->world.method;
}

const soft_choices* scene_choices(const talus_scene* scene)
{
    return &scene->choices;
}

const talus_soft_times* scene_phase_times(const talus_scene* scene, int phase)
{
    return &scene->phases[phase].times;
}

void scene_note_times(talus_scene* scene, const talus_soft_times* times)
{
    for (int i = 0; i < scene->phase_count; i++) scene->phases[i].times = *times;
}

bool scene_phase_is_coarse(const talus_scene* scene, int phase)
{
    const scene_phase* p = &scene->phases[phase];
    return p->times.contact > 0.0 && p->step.length > (1.0 + 5e-4) * p->times.bound;
}

const talus_step_advice* scene_phase_advice(const talus_scene* scene, int phase)
{
    return &scene->phases[phase].advice;
}

bool scene_phase_step_chosen(const talus_scene* scene, int phase)
{
    return scene->phases[phase].step.chosen;
}

bool scene_phase_is_long(const talus_scene* scene, int phase)
{
    const scene_phase* p = &scene->phases[phase];
    return p->advice.bound > 0.0 && p->step.length > long_step() * p->advice.bound;
}

double scene_overlap(const talus_scene* scene)
{
    return scene->overlap;
}

const scene_output* scene_outputs(const talus_scene* scene)
{
    return &scene->output;
}

uint64_t scene_seed(const talus_scene* scene)
{
    return scene->world.seed;
}

int scene_inlet_count(const talus_scene* scene)
{
    return scene->inlet_count;
}

bool scene_leads_to(const talus_scene* scene, const char* path, char* words, size_t size)
{
    arena scratch = {0};
    const bool good = tree_leads_to(&scratch, scene->effective, path, words, size);
    arena_free(&scratch);
    return good;
}

int scene_file_count(const talus_scene* scene)
{
    return scene->file_count;
}

const char* scene_file(const talus_scene* scene, int file)
{
    return scene->files[file].path;
}

talus_status scene_name_file(talus_scene* scene, int file, const char* path, talus_error* error)
{
    char* text = arena_text(&scene->arena, path, strlen(path));
    if (!text) return error_memory(error, "the scene");
    scene->files[file].named->text = text;
    return TALUS_OK;
}
