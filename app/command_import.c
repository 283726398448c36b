/// talus import FILE: a scene made of a file of another program.
#include "app.h"

#include "base/words.h"
#include "scene/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Names of formats, in the order of talus_import_format.
static const char* const format_names[] = {"auto", "lammps-dump", "lammps-data", "lmgc90", "csv"};
enum { FORMAT_NAMES = sizeof format_names / sizeof format_names[0] };

const char* import_format_name(int index)
{
    return index < FORMAT_NAMES ? format_names[index] : NULL;
}

static bool read_format(const char* text, talus_import_format* out)
{
    for (int i = 0; i < FORMAT_NAMES; i++) {
        if (strcmp(text, format_names[i]) == 0) {
            *out = (talus_import_format)i;
            return true;
        }
    }
    const char* near = nearest_name(text, format_names, FORMAT_NAMES);
    fprintf(stderr,
            "talus: --format must be lammps-dump, lammps-data, lmgc90 or csv, not '%s'%s%s%s\n",
            text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

/// "x" or "x=0:1".
static bool read_periodic(const char* text, talus_import_def* def)
{
    const int axis = text[0] - 'x';
    bool good = axis >= 0 && axis < 3;
    if (good && text[1] == '=') {
        char* end;
        def->low[axis] = strtod(text + 2, &end);
        good = end != text + 2 && *end == ':';
        const char* second = end + 1;
        if (good) def->high[axis] = strtod(second, &end);
        good = good && end != second && *end == '\0' && isfinite(def->low[axis]) &&
               isfinite(def->high[axis]) && def->high[axis] > def->low[axis];
    } else {
        good = good && text[1] == '\0';
    }
    if (good) def->periodic[axis] = true;
    if (!good) {
        fprintf(stderr,
                "talus: --periodic needs an axis, as in x, or its cell, as in x=0:1, "
                "not '%s'\n",
                text);
    }
    return good;
}

static bool read_frame(const char* text, int64_t* out)
{
    char* end;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end) {
        fprintf(stderr, "talus: --frame needs a whole number, not '%s'\n", text);
        return false;
    }
    *out = value;
    return true;
}

static bool read_dimension(const char* text, int* out)
{
    *out = strcmp(text, "2") == 0 ? 2 : strcmp(text, "3") == 0 ? 3 : 0;
    if (*out == 0) fprintf(stderr, "talus: --dimension is 2 or 3, not '%s'\n", text);
    return *out != 0;
}

/// Take one option into the definition.
static bool take(int choice, talus_import_def* def)
{
    switch (choice) {
    case 'o': def->out = optarg; return true;
    case 'F': return read_format(optarg, &def->format);
    case 'f': return read_frame(optarg, &def->frame);
    case 'd': return read_dimension(optarg, &def->dimension);
    case 'r': return options_number("--radius", optarg, &def->radius);
    case 'p': return read_periodic(optarg, def);
    case 'D': def->dof = optarg; return true;
    default: return false;
    }
}

static int import_and_tell(const talus_import_def* def)
{
    talus_import_result result = {0};
    talus_error error = {0};
    const talus_status status = talus_import(def, &result, &error);
    if (status < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        return status == TALUS_ERR_ARGUMENT ? STATUS_USAGE : STATUS_FAILURE;
    }
    printf("%s: %dD, %lld grain%s, %d shape%s, %d wall%s, %d material%s\n", def->out,
           result.dimension, (long long)result.grains, plural(result.grains), result.shapes,
           plural(result.shapes), result.walls, plural(result.walls), result.materials,
           plural(result.materials));
    for (int i = 0; i < result.note_count; i++) printf("  note: %s\n", result.notes[i]);
    talus_import_free(&result);
    return STATUS_OK;
}

int command_import(int argc, char** argv)
{
    static const struct option list[] = {
        {"output", required_argument, NULL, 'o'},
        {"format", required_argument, NULL, 'F'},
        {"frame", required_argument, NULL, 'f'},
        {"dimension", required_argument, NULL, 'd'},
        {"radius", required_argument, NULL, 'r'},
        {"periodic", required_argument, NULL, 'p'},
        {"dof", required_argument, NULL, 'D'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    talus_import_def def = talus_import_default();
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":o:h", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("import"));
        if (choice == 'h' || choice == '?') return choice == 'h' ? STATUS_OK : STATUS_USAGE;
        if (!take(choice, &def)) return STATUS_USAGE;
    }
    def.path = options_single(argc, argv, "the file to import");
    if (!def.path) return STATUS_USAGE;
    if (!def.out) {
        fprintf(stderr, "talus: -o SCENE.yaml is missing: the scene to write\nusage: talus %s\n",
                command_find("import")->usage);
        return STATUS_USAGE;
    }
    return import_and_tell(&def);
}
