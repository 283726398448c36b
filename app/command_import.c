/// talus import FILE: a scene made of a file of another program.
#include "app.h"

#include "base/words.h"

#include <math.h>
#include <stdlib.h>

/// Names of formats, in the order of talus_import_format.
static const char* const format_names[] = {"auto", "lammps-dump", "lammps-data", "lmgc90", "csv"};
enum { FORMAT_NAMES = sizeof format_names / sizeof format_names[0] };

static const char* format_word(int index)
{
    return index < FORMAT_NAMES ? format_names[index] : NULL;
}

const value_kind value_format = {
    .source = VALUE_WORD, .one = "format", .many = "formats", .word = format_word};

/// "x" or "x=0:1".
static bool read_periodic(const char* option, const char* text, void* place)
{
    talus_import_def* def = place;
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
        fprintf(stderr, "talus: %s needs an axis, as in x, or its cell, as in x=0:1, not '%s'\n",
                option, text);
    }
    return good;
}

static const option_row options[] = {
    {.letter = 'o',
     .name = "output",
     .value = "SCENE",
     .kind = &value_file,
     .meaning = "the scene to write",
     .type = OPTION_TEXT,
     .place = offsetof(talus_import_def, out)},
    {.name = "format",
     .value = "FORMAT",
     .kind = &value_format,
     .meaning = "lammps-dump, lammps-data, lmgc90 or csv",
     .otherwise = "by name and first lines",
     .type = OPTION_WORD,
     .place = offsetof(talus_import_def, format)},
    {.name = "frame",
     .value = "N",
     .meaning = "frame of a dump, counted from 0; negative: from the end",
     .otherwise = "-1: the last",
     .type = OPTION_WHOLE,
     .place = offsetof(talus_import_def, frame),
     .low = (double)INT64_MIN},
    {.name = "dimension",
     .value = "D",
     .meaning = "2 or 3",
     .otherwise = "2 if all grains lie in one plane",
     .type = OPTION_COUNT,
     .place = offsetof(talus_import_def, dimension),
     .low = 2,
     .high = 3},
    {.name = "radius",
     .value = "R",
     .meaning = "radius of grains whose file gives none",
     .type = OPTION_NUMBER,
     .place = offsetof(talus_import_def, radius)},
    {.name = "periodic",
     .value = "AXIS",
     .repeated = true,
     .meaning = "x, y or z, or with its cell as x=0:1",
     .type = OPTION_READ,
     .read = read_periodic},
    {.name = "dof",
     .value = "FILE",
     .kind = &value_file,
     .meaning = "LMGC90: instead of DOF.INI, such as OUTBOX/DOF.LAST",
     .type = OPTION_TEXT,
     .place = offsetof(talus_import_def, dof)},
    {0},
};

static int import(int argc, char** argv)
{
    talus_import_def def = talus_import_default();
    const int wrong = options_read(&command_import, argc, argv, &def);
    if (wrong != OPTIONS_GOOD) return wrong;
    if (!def.out) return usage_missing(&command_import, "-o SCENE.yaml, the scene to write,");
    talus_import_result result = {0};
    talus_error error = {0};
    const talus_status status = talus_import(&def, &result, &error);
    if (status < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        return status == TALUS_ERR_ARGUMENT ? STATUS_USAGE : STATUS_FAILURE;
    }
    printf("%s: %dD, %lld grain%s, %d shape%s, %d wall%s, %d material%s\n", def.out,
           result.dimension, (long long)result.grains, plural(result.grains), result.shapes,
           plural(result.shapes), result.walls, plural(result.walls), result.materials,
           plural(result.materials));
    for (int i = 0; i < result.note_count; i++) printf("  note: %s\n", result.notes[i]);
    talus_import_free(&result);
    return STATUS_OK;
}

const command command_import = {
    .name = "import",
    .usage = "import FILE -o SCENE.yaml [options]",
    .summary = "turn a LAMMPS, LMGC90 or CSV file into a scene",
    .about =
        "FILE is a LAMMPS dump or data file, a CSV file with named columns, or LMGC90's BODIES.DAT "
        "or\n"
        "its folder, with DOF.INI and the others beside it. Writes the scene and,\n"
        "beside it, a CSV file of its grains. Existing files are not overwritten.\n",
    .options = options,
    .notes = "Prints what it had to assume or leave out; the scene repeats this at its top. See\n"
             "docs/exchange.md.\n",
    .examples = "  talus import packing.dump -o packing.yaml --frame -1\n"
                "  talus import DATBOX -o wall.yaml && talus run wall.yaml\n",
    .first = {.what = "the file to import",
              .kind = &value_file,
              .place = offsetof(talus_import_def, path)},
    .function = import,
};
