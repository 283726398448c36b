/// Finding ready-made scenes from anywhere: $TALUS_SCENES, then the share directory beside the
/// program, then the places known when it was compiled.
#include "app.h"
#include "base/words.h"
#include "run/directory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TALUS_SCENES_SOURCE_DIR
#define TALUS_SCENES_SOURCE_DIR ""
#endif
#ifndef TALUS_SCENES_INSTALL_DIR
#define TALUS_SCENES_INSTALL_DIR ""
#endif

static bool is_kind(const char* path, mode_t kind)
{
    struct stat info;
    return path[0] && stat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

/// The installed scenes as seen from the program, wherever it was moved; empty if unknown.
static void beside_program(char* out, size_t size)
{
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    out[0] = '\0';
    if (length <= 0) return;
    program[length] = '\0';
    char* slash = strrchr(program, '/');
    if (!slash) return;
    *slash = '\0';
    if (snprintf(out, size, "%s/" TALUS_SCENES_FROM_PROGRAM, program) >= (int)size) out[0] = '\0';
}

bool locate_directories(bool (*visit)(const char* directory, void* user), void* user)
{
    char beside[PATH_SIZE];
    beside_program(beside, sizeof beside);
    const char* wished = getenv("TALUS_SCENES");
    const char* places[] = {wished ? wished : "", beside, TALUS_SCENES_SOURCE_DIR,
                            TALUS_SCENES_INSTALL_DIR};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (is_kind(places[i], S_IFDIR) && visit(places[i], user)) return true;
    }
    return false;
}

void scene_name(const char* path, char* out, size_t size)
{
    const char* slash = strrchr(path, '/');
    const char* base = slash ? slash + 1 : path;
    const char* dot = strrchr(base, '.');
    bool yaml = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    snprintf(out, size, "%.*s", yaml ? (int)(dot - base) : (int)strlen(base), base);
}

typedef struct search {
    const char* name;
    char* path;
} search;

static bool visit_for_name(const char* directory, void* user)
{
    search* s = user;
    int length = snprintf(s->path, PATH_SIZE, "%s/%s.yaml", directory, s->name);
    return length < PATH_SIZE && is_kind(s->path, S_IFREG);
}

/// The ready-made scene whose name is nearest to the one asked for.
static bool visit_for_near(const char* directory, void* user)
{
    search* s = user;
    struct dirent** entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    bool found = false;
    for (int i = 0; i < count; i++) {
        char name[256];
        scene_name(entries[i]->d_name, name, sizeof name);
        const char* one = name;
        if (!found && entries[i]->d_name[0] != '.' && nearest_name(s->name, &one, 1)) {
            snprintf(s->path, PATH_SIZE, "%s", name);
            found = true;
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return found;
}

bool locate_scene(const char* scene, char path[PATH_SIZE])
{
    if (is_kind(scene, S_IFREG)) {
        return snprintf(path, PATH_SIZE, "%s", scene) < PATH_SIZE;
    }
    search s = {.name = scene, .path = path};
    const char* ending = strrchr(scene, '.');
    bool is_path = strchr(scene, '/') ||
                   (ending && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0));
    if (!is_path && locate_directories(visit_for_name, &s)) return true;
    struct stat info;
    bool there = scene[0] && stat(scene, &info) == 0;
    if (is_path || there) {
        const char* what = !there                  ? "there is no scene file"
                           : S_ISDIR(info.st_mode) ? "a scene is a file, not a directory:"
                                                   : "a scene must be a regular file:";
        fprintf(stderr, "talus: %s %s\n", what, scene);
        if (there && S_ISDIR(info.st_mode) && directory_has(scene, "scene.yaml"))
            fprintf(stderr, "it holds a run, whose scene is %s/scene.yaml\n", scene);
        return false;
    }
    bool near = locate_directories(visit_for_near, &s);
    fprintf(stderr,
            "talus: '%s' is neither a file nor a ready-made scene%s%s%s `%s scenes` lists them\n",
            scene, near ? "; did you mean '" : ";", near ? path : "", near ? "'?" : "", program());
    return false;
}
