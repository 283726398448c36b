/// Exchange with other programs: recorded frames in their formats, and their files as scenes.
#ifndef TALUS_EXCHANGE_H
#define TALUS_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum talus_export_format {
    TALUS_EXPORT_VTK,    ///< VTK XML (.vtp, .vtu and .pvd) in a folder, created if necessary
    TALUS_EXPORT_VTKHDF, ///< one temporal VTKHDF file
    TALUS_EXPORT_GSD,    ///< one GSD file after the schema hoomd 1.4, with the shapes of the grains
    TALUS_EXPORT_LAMMPS, ///< one LAMMPS dump; the shapes of its grains as OBJ files in the folder
                         ///< of its name with .shapes behind it
} talus_export_format;

/// Write the recorded frames of the run in `directory` to the file or folder `out`, and replace
/// what is there. A file appears only when it is complete.
TALUS_API talus_status talus_export(const char* directory, const char* out,
                                    talus_export_format format, talus_error* error);

// ---- scenes from files of other programs -------------------------------------------------------

typedef enum talus_import_format {
    TALUS_IMPORT_AUTO, ///< by the file's name and its first lines
    TALUS_IMPORT_LAMMPS_DUMP,
    TALUS_IMPORT_LAMMPS_DATA, ///< atom style sphere
    TALUS_IMPORT_LMGC90,      ///< BODIES.DAT, with DOF.INI, BULK_BEHAV.DAT, ... beside it
    TALUS_IMPORT_CSV,
} talus_import_format;

/// What to import. Fill with talus_import_default(); copied on use.
typedef struct talus_import_def {
    talus_mark mark;  ///< set by talus_import_default()
    const char* path; ///< the file; LMGC90: or its folder
    const char* out;  ///< scene to write, ending in .yaml; the grains go to a CSV file beside it
    talus_import_format format; ///< [default TALUS_IMPORT_AUTO]
    int dimension;              ///< 2, 3, or 0: 2 if all grains lie in one plane z [default 0]
    int64_t frame;   ///< LAMMPS dump: which one, counted from 0; negative from the end [default -1]
    double radius;   ///< of grains whose file gives none, m; 0: that is an error [default 0]
    const char* dof; ///< LMGC90: file of positions and velocities; NULL: DOF.INI if it is there
    bool periodic[3]; ///< axes that are periodic whatever the file says [default none]
    double low[3];    ///< their cell, m; if high is not above low, the file's box is taken
    double high[3];
} talus_import_def;

TALUS_DEFAULT(talus_import_def, talus_import_default);

/// What was imported. Zero-initialise; free with talus_import_free().
typedef struct talus_import_result {
    int dimension;
    int64_t grains;
    int shapes, walls, materials;
    char* csv; ///< path of the file with the grains
    int note_count;
    char** notes; ///< [note_count] what was not carried over, or was assumed; also in the scene
} talus_import_result;

TALUS_API void talus_import_free(talus_import_result* result);

/// Turn a file of another program into a scene. Existing files are not overwritten. Messages about
/// mistakes in the file begin with file:line.
TALUS_API talus_status talus_import(const talus_import_def* def, talus_import_result* result,
                                    talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
