/// Exchange with other programs: recorded frames in their formats, and their files as scenes.
#ifndef TALUS_EXCHANGE_H
#define TALUS_EXCHANGE_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Write the recorded frames of a run as VTK XML (.vtp, .vtu and .pvd) into a folder, which is made
/// if it is not there.
TALUS_API talus_status talus_export_vtk(const char* directory, const char* out_directory,
                                        talus_error* error);
/// Write them as one temporal VTKHDF file.
TALUS_API talus_status talus_export_vtkhdf(const char* directory, const char* out_path,
                                           talus_error* error);
/// Write them as one GSD file after the schema hoomd 1.4, with the shapes of the grains.
TALUS_API talus_status talus_export_gsd(const char* directory, const char* out_path,
                                        talus_error* error);
/// Write them as one LAMMPS dump, with the shapes of its grains as OBJ files in the folder
/// `out_path`.shapes.
TALUS_API talus_status talus_export_lammps(const char* directory, const char* out_path,
                                           talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
