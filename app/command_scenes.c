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

/// Cut a text after its first sentence: a full stop before a blank or the end.
static void keep_first_sentence(char* text)
{
    for (char* dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (dot[1] == '\0' || isspace((unsigned char)dot[1])) {
            dot[1] = '\0';
            return;
        }
    }
}

static void read_title(const char* path, char* title, size_t size)
{
    talus_scene* scene = NULL;
    talus_report report = {0};
    talus_status status = talus_scene_load(path, NULL, 0, &scene, &report, NULL);
    snprintf(title, size, "%s", status == TALUS_OK ? talus_scene_title(scene) : "(has errors)");
    talus_scene_destroy(scene);
    talus_report_clear(&report);
}

static int is_scene(const struct dirent* entry)
{
    const char* dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot && strcmp(dot, ".yaml") == 0;
}

static void print_name(const char* file_name)
{
    char name[256];
    scene_name(file_name, name, sizeof name);
    printf("%s\n", name);
}

static void print_scene(const char* directory, const char* file_name)
{
    char path[PATH_SIZE], name[256], title[256], head[HEAD_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", directory, file_name) >= PATH_SIZE) return;
    FILE* file = fopen(path, "r");
    if (!file) return;
    read_head(file, head);
    fclose(file);
    keep_first_sentence(head);
    scene_name(file_name, name, sizeof name);
    read_title(path, title, sizeof title);
    printf("%-18s %s\n%s%s%s", name, title, head[0] ? "                   " : "", head,
           head[0] ? "\n" : "");
}

/// Print the scenes of a directory; true if there were any, which ends the search.
static bool visit(const char* directory, void* user)
{
    const bool* names_only = user;
    struct dirent** entries;
    int count = scandir(directory, &entries, is_scene, alphasort);
    if (count < 0) return false;
    for (int i = 0; i < count; i++) {
        if (*names_only)
            print_name(entries[i]->d_name);
        else
            print_scene(directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (count > 0 && !*names_only)
        printf("\nThey are in %s; run one with: talus run NAME\n", directory);
    return count > 0;
}

int command_scenes(int argc, char** argv)
{
    static const struct option list[] = {
        {"names", no_argument, NULL, 'n'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool names_only = false;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("scenes"));
        if (choice == 'h' || choice == '?') return choice == 'h' ? STATUS_OK : STATUS_USAGE;
        names_only = true;
    }
    if (optind < argc) {
        fprintf(stderr, "talus: '%s' is one argument too many: `talus scenes` takes none\n",
                argv[optind]);
        return STATUS_USAGE;
    }
    if (locate_directories(visit, &names_only)) return STATUS_OK;
    fprintf(stderr,
            "talus: no ready-made scenes were found; set TALUS_SCENES to their directory\n");
    return STATUS_FAILURE;
}
