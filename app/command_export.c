/// talus export DIR: the recorded frames as VTK XML, VTKHDF, GSD and as a LAMMPS dump.
#include "recorded.h"

#include "run/directory.h"

#include <string.h>
#include <sys/stat.h>

enum { FORMAT_COUNT = 4 };

typedef struct export_options {
    const char* directory;
    const char* out[FORMAT_COUNT]; ///< where each goes; NULL: it is not asked for
    bool force;
} export_options;

/// The option of a format and how the result is told.
typedef struct export_words {
    const char* option;
    const char* told;
    const char* inside; ///< of a format that is a folder: a file that is always in it
} export_words;

static const export_words formats[FORMAT_COUNT] = {
    [TALUS_EXPORT_VTK] = {"vtk", "VTK files for ParaView are in", "/grains.pvd"},
    [TALUS_EXPORT_VTKHDF] = {"vtkhdf", "VTKHDF file for ParaView is", ""},
    [TALUS_EXPORT_GSD] = {"gsd", "GSD file for OVITO is", ""},
    [TALUS_EXPORT_LAMMPS] = {"lammps", "LAMMPS dump for OVITO is", ""},
};

static const option_row options[] = {
    {.name = "vtk",
     .value = "OUT",
     .kind = &value_folder,
     .meaning =
         "VTK XML into the directory OUT, for ParaView: open OUT/grains.pvd, contacts.pvd and "
         "walls.pvd, or all of them by OUT/show-in-paraview.py",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[TALUS_EXPORT_VTK])},
    {.name = "lammps",
     .value = "OUT",
     .kind = &value_file,
     .meaning = "LAMMPS dump into the file OUT, for OVITO",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[TALUS_EXPORT_LAMMPS])},
    {.name = "vtkhdf",
     .value = "OUT",
     .kind = &value_file,
     .meaning = "one VTKHDF file with all frames, for ParaView 5.13 and later",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[TALUS_EXPORT_VTKHDF])},
    {.name = "gsd",
     .value = "OUT",
     .kind = &value_file,
     .meaning = "one GSD file (schema hoomd) with the shapes of grains, for OVITO",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[TALUS_EXPORT_GSD])},
    {.name = "force",
     .meaning = "overwrite existing files",
     .type = OPTION_FLAG,
     .place = offsetof(export_options, force)},
    {0},
};

/// Is there room for all that was asked for?
static bool places_free(const char* const* out, bool force)
{
    char path[PATH_SIZE];
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (!out[i]) continue;
        if (!output_path(path, "%s%s", out[i], formats[i].inside) || !output_free(path, force)) {
            return false;
        }
        for (int j = 0; j < i; j++) {
            if (!out[j] || strcmp(out[i], out[j]) != 0) continue;
            fprintf(stderr, "talus: --%s and --%s need names of their own, not both %s\n",
                    formats[j].option, formats[i].option, out[i]);
            return false;
        }
    }
    return true;
}

static int export_run(int argc, char** argv)
{
    export_options o = {0};
    const int status = options_read(&command_export, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    char vtk[PATH_SIZE], lammps[PATH_SIZE];
    struct stat info;
    if (!output_path(vtk, "%s/frames.h5", o.directory)) return STATUS_FAILURE;
    if (stat(vtk, &info) != 0) {
        const char* absence = directory_absence(o.directory);
        fprintf(stderr, "talus: there is no recorded run in %s: %s\n", o.directory,
                absence ? absence : "it has no frames.h5");
        return STATUS_FAILURE;
    }
    bool any = false;
    for (int i = 0; i < FORMAT_COUNT; i++) any |= o.out[i] != NULL;
    if (!any) {
        if (!output_folder(o.directory, "export", vtk) ||
            !output_path(lammps, "%s/grains.dump", vtk)) {
            return STATUS_FAILURE;
        }
        o.out[TALUS_EXPORT_VTK] = vtk;
        o.out[TALUS_EXPORT_LAMMPS] = lammps;
    }
    if (!places_free(o.out, o.force)) return STATUS_FAILURE;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        talus_error error = {0};
        if (!o.out[i]) continue;
        if (talus_export(o.directory, o.out[i], (talus_export_format)i, &error) < 0) {
            fprintf(stderr, "talus: %s\n", error.text);
            return STATUS_FAILURE;
        }
        printf("%s %s\n", formats[i].told, o.out[i]);
    }
    return STATUS_OK;
}

const command command_export = {
    .name = "export",
    .usage = "export DIR [--vtk OUT] [--lammps OUT] [--vtkhdf OUT] [--gsd OUT] [--force]",
    .summary = "write the frames of a run for other programs",
    .options = options,
    .notes =
        "Without options the first two are written into DIR/export. A run that is still going is\n"
        "exported up to about a second ago. See docs/exchange.md.\n",
    .examples = "  talus export runs/hopper\n"
                "  talus export runs/hopper --gsd hopper.gsd --vtkhdf hopper.vtkhdf\n",
    .first = {.what = "the directory of a run",
              .kind = &value_folder,
              .place = offsetof(export_options, directory)},
    .function = export_run,
};
