/// talus schema: the JSON Schema of scenes, or the table of a section's keys.
#include "base/words.h"
#include "recorded.h"

#include "scene/reader.h"

#include <errno.h>
#include <string.h>

enum { MOST_SECTIONS = 64 };

/// Print the Markdown table of a section; false, with a suggestion, if there is none.
static bool print_table(const char* pattern)
{
    const char* names[MOST_SECTIONS];
    int count = 0;
    const key_section* s;
    if (strcmp(pattern, "scene") == 0) pattern = ""; // the whole
    // In the reference a section has the keys that are written there, not those it borrows.
    for (; count < MOST_SECTIONS && (s = keys_at(count)) != NULL; count++) {
        names[count] = s->pattern;
        if (strcmp(pattern, s->pattern) != 0) continue;
        keys_write_markdown(stdout, s);
        return true;
    }
    const char* near = nearest_name(pattern, names, count);
    fprintf(stderr, "talus: scenes have no section '%s'%s%s%s\n", pattern,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

static int write_schema(const char* path, bool force)
{
    if (!path) {
        keys_write_schema(stdout);
        return STATUS_OK;
    }
    if (!output_free(path, force)) return STATUS_FAILURE;
    FILE* file = fopen(path, force ? "we" : "wxe");
    if (!file) {
        fprintf(stderr, "talus: cannot write %s: %s\n", path, strerror(errno));
        return STATUS_FAILURE;
    }
    keys_write_schema(file);
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fprintf(stderr, "talus: cannot write %s: %s\n", path, strerror(errno));
        return STATUS_FAILURE;
    }
    return STATUS_OK;
}

int command_schema(int argc, char** argv)
{
    static const struct option list[] = {
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"markdown", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *path = NULL, *table = NULL;
    bool force = false;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":o:h", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("schema"));
        if (choice == 'h' || choice == '?') return choice == 'h' ? STATUS_OK : STATUS_USAGE;
        if (choice == 'o') path = optarg;
        if (choice == 'f') force = true;
        if (choice == 'm') table = optarg;
    }
    if (optind < argc) {
        fprintf(stderr, "talus: '%s' is one argument too many: `talus schema` takes none\n",
                argv[optind]);
        return STATUS_USAGE;
    }
    if (table && (path || force)) {
        fprintf(stderr, "talus: --markdown prints a table and goes with no other option\n");
        return STATUS_USAGE;
    }
    if (table) return print_table(table) ? STATUS_OK : STATUS_USAGE;
    return write_schema(path, force);
}
