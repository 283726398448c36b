/// talus export DIR: the recorded frames as VTK XML, VTKHDF, GSD and as a LAMMPS dump.
#include "recorded.h"

#include <string.h>
#include <sys/stat.h>

/// A format: its option, the function, and how the result is told.
typedef struct export_format {
    const char* option;
    talus_status (*write)(const char* directory, const char* out, talus_error* error);
    const char* told;
    const char* inside; ///< of a format that is a folder: a file that is always in it
} export_format;

enum { FORMAT_VTK, FORMAT_LAMMPS, FORMAT_VTKHDF, FORMAT_GSD, FORMAT_COUNT, OPTION_FORCE };

static const export_format formats[FORMAT_COUNT] = {
    [FORMAT_VTK] = {"vtk", talus_export_vtk, "VTK files for ParaView are in", "/grains.pvd"},
    [FORMAT_LAMMPS] = {"lammps", talus_export_lammps, "LAMMPS dump for OVITO is", ""},
    [FORMAT_VTKHDF] = {"vtkhdf", talus_export_vtkhdf, "VTKHDF file for ParaView is", ""},
    [FORMAT_GSD] = {"gsd", talus_export_gsd, "GSD file for OVITO is", ""},
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

static int export_to(const char* directory, const char* const* out, bool force)
{
    if (!places_free(out, force)) return STATUS_FAILURE;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        talus_error error = {0};
        if (!out[i]) continue;
        if (formats[i].write(directory, out[i], &error) < 0) {
            fprintf(stderr, "talus: %s\n", error.text);
            return STATUS_FAILURE;
        }
        printf("%s %s\n", formats[i].told, out[i]);
    }
    return STATUS_OK;
}

int command_export(int argc, char** argv)
{
    struct option list[FORMAT_COUNT + 3] = {{"help", no_argument, NULL, 'h'},
                                            {"force", no_argument, NULL, OPTION_FORCE}};
    for (int i = 0; i < FORMAT_COUNT; i++) {
        list[i + 2] = (struct option){formats[i].option, required_argument, NULL, i};
    }
    const char* out[FORMAT_COUNT] = {NULL};
    bool any = false, force = false;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("export"));
        if (choice == 'h' || choice == '?') return choice == 'h' ? STATUS_OK : STATUS_USAGE;
        if (choice == OPTION_FORCE) {
            force = true;
        } else {
            out[choice] = optarg;
            any = true;
        }
    }
    const char* directory = options_single(argc, argv, "the directory of a run");
    if (!directory) return STATUS_USAGE;
    char vtk[PATH_SIZE], lammps[PATH_SIZE];
    struct stat info;
    if (!output_path(vtk, "%s/frames.h5", directory)) return STATUS_FAILURE;
    if (stat(vtk, &info) != 0) {
        fprintf(stderr, "talus: there are no recorded frames in %s\n", directory);
        return STATUS_FAILURE;
    }
    if (!any) {
        if (!output_folder(directory, "export", vtk) ||
            !output_path(lammps, "%s/grains.dump", vtk)) {
            return STATUS_FAILURE;
        }
        out[FORMAT_VTK] = vtk;
        out[FORMAT_LAMMPS] = lammps;
    }
    return export_to(directory, out, force);
}
