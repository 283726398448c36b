/// talus export DIR: the recorded frames as VTK XML, VTKHDF, GSD and as a LAMMPS dump.
#include "app.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/// DIR/export and the names in it.
static bool default_places(const char* directory, char vtk[PATH_SIZE], char lammps[PATH_SIZE])
{
    if (snprintf(vtk, PATH_SIZE, "%s/export", directory) >= PATH_SIZE ||
        snprintf(lammps, PATH_SIZE, "%s/export/grains.dump", directory) >= PATH_SIZE) {
        fprintf(stderr, "talus: the path %s is too long\n", directory);
        return false;
    }
    if (mkdir(vtk, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "talus: cannot make the directory %s: %s\n", vtk, strerror(errno));
        return false;
    }
    return true;
}

/// A format: its option, the function, and how the result is told.
typedef struct export_format {
    const char* option;
    talus_status (*write)(const char* directory, const char* out, talus_error* error);
    const char* told;
} export_format;

enum { FORMAT_VTK, FORMAT_LAMMPS, FORMAT_VTKHDF, FORMAT_GSD, FORMAT_COUNT };

static const export_format formats[FORMAT_COUNT] = {
    [FORMAT_VTK] = {"vtk", talus_export_vtk, "VTK files for ParaView are in"},
    [FORMAT_LAMMPS] = {"lammps", talus_export_lammps, "LAMMPS dump for OVITO is"},
    [FORMAT_VTKHDF] = {"vtkhdf", talus_export_vtkhdf, "VTKHDF file for ParaView is"},
    [FORMAT_GSD] = {"gsd", talus_export_gsd, "GSD file for OVITO is"},
};

static int export_to(const char* directory, const char* const* out)
{
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
    struct option list[FORMAT_COUNT + 2] = {{"help", no_argument, NULL, 'h'}};
    for (int i = 0; i < FORMAT_COUNT; i++) {
        list[i + 1] = (struct option){formats[i].option, required_argument, NULL, i};
    }
    const char* out[FORMAT_COUNT] = {NULL};
    bool any = false;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("export"));
        if (choice == 'h' || choice == '?') return choice == 'h' ? STATUS_OK : STATUS_USAGE;
        out[choice] = optarg;
        any = true;
    }
    const char* directory = options_single(argc, argv, "the directory of a run");
    if (!directory) return STATUS_USAGE;
    char frames[PATH_SIZE];
    struct stat info;
    if (snprintf(frames, sizeof frames, "%s/frames.h5", directory) >= PATH_SIZE ||
        stat(frames, &info) != 0) {
        fprintf(stderr, "talus: there are no recorded frames in %s\n", directory);
        return STATUS_FAILURE;
    }
    char vtk[PATH_SIZE], lammps[PATH_SIZE];
    if (!any) {
        if (!default_places(directory, vtk, lammps)) return STATUS_FAILURE;
        out[FORMAT_VTK] = vtk;
        out[FORMAT_LAMMPS] = lammps;
    }
    return export_to(directory, out);
}
