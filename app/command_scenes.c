/// talus scenes: the ready-made scenes, each with its title and the first sentence of its head.
#include "app.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_SIZE = 2048 };

/// The prose head of a scene file: its leading comment lines joined by blanks.
static void read_head(FILE* file, char head[HEAD_SIZE])
{
    char line[512];
    size_t used = 0;
    head[0] = '\0';
    while (fgets(line, sizeof line, file) && line[0] == '#') {
        char* text = line + strspn(line, "# \t");
        text[strcspn(text, "\r\n")] = '\0';
        if (!*text && used > 0) break; // the first paragraph is enough
        int n = snprintf(head + used, HEAD_SIZE - used, "%s%s", used ? " " : "", text);
        if (n < 0 || (size_t)n >= HEAD_SIZE - used) break;
        used += (size_t)n;
    }
}

static int is_scene(const struct dirent* entry)
{
    const char* dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot && strcmp(dot, ".yaml") == 0;
}

/// Title and first sentence of a scene.
static void print_scene(const char* directory, const char* file_name, const char* name)
{
    char path[PATH_SIZE], head[HEAD_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", directory, file_name) >= PATH_SIZE) return;
    FILE* file = fopen(path, "r");
    if (!file) return;
    read_head(file, head);
    fclose(file);
    for (char* dot = strchr(head, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (dot[1] != '\0' && !isspace((unsigned char)dot[1])) continue;
        dot[1] = '\0'; // the sentence ends before a blank or the end
        break;
    }
    talus_scene* scene = NULL;
    talus_report report = {0};
    const talus_status status = talus_scene_load(path, NULL, 0, &scene, &report, NULL);
    printf("%-18s %s\n", name, status == TALUS_OK ? talus_scene_title(scene) : "(has errors)");
    if (head[0]) printf("%-18s %s\n", "", head);
    talus_scene_destroy(scene);
    talus_report_clear(&report);
}

/// Print the scenes of a directory; true if there were any, which ends the search.
static bool visit(const char* directory, void* user)
{
    const bool* names_only = user;
    struct dirent** entries;
    int count = scandir(directory, &entries, is_scene, alphasort);
    if (count < 0) return false;
    for (int i = 0; i < count; i++) {
        char name[256];
        scene_name(entries[i]->d_name, name, sizeof name);
        if (*names_only)
            printf("%s\n", name);
        else
            print_scene(directory, entries[i]->d_name, name);
        free(entries[i]);
    }
    free(entries);
    if (count > 0 && !*names_only)
        printf("\nThey are in %s; run one with: %s run NAME\n", directory, program());
    return count > 0;
}

static int scenes(int argc, char** argv)
{
    bool names_only = false;
    const int status = options_read(&command_scenes, argc, argv, &names_only);
    if (status != OPTIONS_GOOD) return status;
    if (locate_directories(visit, &names_only)) return STATUS_OK;
    fprintf(stderr,
            "talus: no ready-made scenes were found; set TALUS_SCENES to their directory\n");
    return STATUS_FAILURE;
}

const command command_scenes = {
    .name = "scenes",
    .usage = "scenes [--names]",
    .summary = "list the ready-made scenes",
    .about = "They are looked for in $TALUS_SCENES, then where Talus is installed, then in its "
             "source tree.\n",
    .options =
        (const option_row[]){
            {.name = "names", .meaning = "print their names only", .type = OPTION_FLAG}, {0}},
    .examples = "  talus scenes\n",
    .function = scenes,
};
