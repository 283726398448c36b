/// Triangles of STL and OBJ files, and the surface that is made of them.
#include "fuzz.h"

#include "scene/mesh_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    talus_error error = {0};
    triangles t;
    mesh* m = NULL;
    const talus_status status =
        triangles_read(fuzz_file("a.mesh", NULL, 0, data, size), &t, &error);
    fuzz_check(status, &error);
    if (status != TALUS_OK) return 0;
    fuzz_check(mesh_make(&t, 0.0, &m, &error), &error);
    mesh_free(m);
    triangles_free(&t);
    return 0;
}
