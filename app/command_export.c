/// talus export DIR: the recorded frames as VTK XML and as a LAMMPS dump.
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

static int export_to(const char* directory, const char* vtk, const char* lammps)
{
    talus_error error = {0};
    if (vtk && talus_export_vtk(directory, vtk, &error) < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        return STATUS_FAILURE;
    }
    if (vtk) printf("VTK files for ParaView are in %s\n", vtk);
    if (lammps && talus_export_lammps(directory, lammps, &error) < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        return STATUS_FAILURE;
    }
    if (lammps) printf("LAMMPS dump for OVITO is %s\n", lammps);
    return STATUS_OK;
}

int command_export(int argc, char** argv)
{
    static const struct option list[] = {
        {"vtk", required_argument, NULL, 'v'},
        {"lammps", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *vtk = NULL, *lammps = NULL;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("export"));
        if (choice == 'h' || choice == '?') return choice == 'h' ? STATUS_OK : STATUS_USAGE;
        if (choice == 'v') vtk = optarg;
        if (choice == 'l') lammps = optarg;
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
    char default_vtk[PATH_SIZE], default_lammps[PATH_SIZE];
    if (!vtk && !lammps) {
        if (!default_places(directory, default_vtk, default_lammps)) return STATUS_FAILURE;
        vtk = default_vtk;
        lammps = default_lammps;
    }
    return export_to(directory, vtk, lammps);
}
