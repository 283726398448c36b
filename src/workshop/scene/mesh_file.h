/// Triangles from STL and OBJ files: the engine knows meshes, but no files.
#ifndef TALUS_SCENE_MESH_FILE_H
#define TALUS_SCENE_MESH_FILE_H

#include "geometry/mesh.h"

/// Read an STL (binary or text) or OBJ file, by its contents. Errors begin with file:line: where
/// there are lines. The caller owns *out.
talus_status triangles_read(const char* path, triangles* out, talus_error* error);

#endif
