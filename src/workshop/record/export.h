/// The formats of talus_export(), each written by a function of its own.
#ifndef TALUS_RECORD_EXPORT_H
#define TALUS_RECORD_EXPORT_H

#include "record/frame_read.h"
#include "record/shapes_h5.h"

/// Write all frames of a run with these shapes into the folder or file `path`.
typedef talus_status export_writer(frame_reader* reader, const shapes* all, const char* path,
                                   talus_error* error);

export_writer export_vtk, export_vtkhdf, export_gsd, export_lammps;

/// Particle type of the first solid in the dump of a run with solids; the type before it is a ball.
enum { EXPORT_FIRST_SOLID_TYPE = 2 };

/// Write the script that shows the XDMF or VTK files of this folder in ParaView.
talus_status export_paraview_script(const char* folder, talus_error* error);
/// Write folder/type-T-NAME.obj for every shape; no folder if there are none.
talus_status export_obj(const shapes* s, const char* folder, talus_error* error);

#endif
