/// Shapes of grains as OBJ files.
#ifndef TALUS_RECORD_EXPORT_OBJ_H
#define TALUS_RECORD_EXPORT_OBJ_H

#include "record/shapes.h"

/// Particle type of the first solid in the dump of a run with solids; the type before it is a ball.
enum { EXPORT_FIRST_SOLID_TYPE = 2 };

/// Write folder/type-T-NAME.obj for every shape; no folder if there are none.
talus_status export_obj(const shapes* s, const char* folder, talus_error* error);

#endif
