/// talus export DIR: the recorded frames as VTK XML, VTKHDF, GSD and as a LAMMPS dump.
#include "recorded.h"

#include <string.h>
#include <sys/stat.h>

/// The option of a format and how the result is told.
typedef struct export_words {
    const char* option;
    const char* told;
    const char* inside; ///< of a format that is a folder: a file that is always in it
} export_words;

static const export_words formats[] = {
    [TALUS_EXPORT_VTK] = {"vtk", "VTK files for ParaView are in", "/grains.pvd"},
    [TALUS_EXPORT_VTKHDF] = {"vtkhdf", "VTKHDF file for ParaView is", ""},
    [TALUS_EXPORT_GSD] = {"gsd", "GSD file for OVITO is", ""},
    [TALUS_EXPORT_LAMMPS] = {"lammps", "LAMMPS dump for OVITO is", ""},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats, OPTION_FORCE };

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
        if (talus_export(directory, out[i], (talus_export_format)i, &error) < 0) {
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
        out[TALUS_EXPORT_VTK] = vtk;
        out[TALUS_EXPORT_LAMMPS] = lammps;
    }
    return export_to(directory, out, force);
}
