/// talus export DIR: the recorded frames as VTK XML, VTKHDF, GSD and as a LAMMPS dump.
#include "recorded.h"

#include <string.h>
#include <sys/stat.h>

enum { FORMAT_VTK, FORMAT_LAMMPS, FORMAT_VTKHDF, FORMAT_GSD, FORMAT_COUNT };

typedef struct export_options {
    const char* directory;
    const char* out[FORMAT_COUNT]; ///< where each goes; NULL: it is not asked for
    bool force;
} export_options;

/// How a format is written, and how the result is told.
typedef struct export_format {
    const char* name; ///< of its option
    talus_status (*write)(const char* directory, const char* out, talus_error* error);
    const char* told;
    const char* inside; ///< of a format that is a folder: a file that is always in it
} export_format;

static const export_format formats[FORMAT_COUNT] = {
    [FORMAT_VTK] = {"vtk", talus_export_vtk, "VTK files for ParaView are in", "/grains.pvd"},
    [FORMAT_LAMMPS] = {"lammps", talus_export_lammps, "LAMMPS dump for OVITO is", ""},
    [FORMAT_VTKHDF] = {"vtkhdf", talus_export_vtkhdf, "VTKHDF file for ParaView is", ""},
    [FORMAT_GSD] = {"gsd", talus_export_gsd, "GSD file for OVITO is", ""},
};

static const option_row options[] = {
    {.name = "vtk",
     .value = "OUT",
     .kind = &value_folder,
     .meaning = "VTK XML into the directory OUT: open OUT/grains.pvd in ParaView",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[FORMAT_VTK])},
    {.name = "lammps",
     .value = "OUT",
     .kind = &value_file,
     .meaning = "LAMMPS dump into the file OUT, for OVITO",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[FORMAT_LAMMPS])},
    {.name = "vtkhdf",
     .value = "OUT",
     .kind = &value_file,
     .meaning = "one VTKHDF file with all frames, for ParaView 5.13 and later",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[FORMAT_VTKHDF])},
    {.name = "gsd",
     .value = "OUT",
     .kind = &value_file,
     .meaning = "one GSD file (schema hoomd) with the shapes of grains, for OVITO",
     .type = OPTION_TEXT,
     .place = offsetof(export_options, out[FORMAT_GSD])},
    {.name = "force",
     .meaning = "replace files that are there",
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
                    formats[j].name, formats[i].name, out[i]);
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
        fprintf(stderr, "talus: there are no recorded frames in %s\n", o.directory);
        return STATUS_FAILURE;
    }
    bool any = false;
    for (int i = 0; i < FORMAT_COUNT; i++) any |= o.out[i] != NULL;
    if (!any) {
        if (!output_folder(o.directory, "export", vtk) ||
            !output_path(lammps, "%s/grains.dump", vtk)) {
            return STATUS_FAILURE;
        }
        o.out[FORMAT_VTK] = vtk;
        o.out[FORMAT_LAMMPS] = lammps;
    }
    if (!places_free(o.out, o.force)) return STATUS_FAILURE;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        talus_error error = {0};
        if (!o.out[i]) continue;
        if (formats[i].write(o.directory, o.out[i], &error) < 0) {
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
        "Without options the first two are written into DIR/export. A run that is not finished "
        "is\n"
        "exported as far as it shows its frames, up to about the last second. See "
        "docs/exchange.md.\n",
    .examples = "  talus export runs/hopper\n"
                "  talus export runs/hopper --gsd hopper.gsd --vtkhdf hopper.vtkhdf\n",
    .first = {.what = "the directory of a run",
              .kind = &value_folder,
              .place = offsetof(export_options, directory)},
    .function = export_run,
};
