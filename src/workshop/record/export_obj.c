/// The shapes of grains as OBJ files, which OVITO loads as the shape of a particle type.
///
/// OVITO scales such a shape by the particle's radius; so the corners are divided by the shape's
/// radius, and fit into the unit ball. Every part is an object of its own.
#include "record/export.h"

#include "base/error.h"
#include "record/files.h"

#include <stdlib.h>

static talus_status write_solid(const shapes* s, int which, const char* folder, talus_error* error)
{
    text_buffer t = {0}, path = {0};
    const int32_t base = s->vertex_first[s->part_first[which]];
    const double size = s->radius[which];
    text_add(&t, "# shape ");
    text_add_word(&t, s->name[which]);
    text_add(&t, " of Talus, divided by its radius %.17g\n", size);
    for (int32_t p = s->part_first[which]; p < s->part_first[which + 1]; p++) {
        text_add(&t, "o part_%d\n", (int)(p - s->part_first[which]));
        for (int32_t v = s->vertex_first[p]; v < s->vertex_first[p + 1]; v++) {
            const double* x = s->vertex + (int64_t)v * s->dim;
            text_add(&t, "v %.17g %.17g %.17g\n", x[0] / size, x[1] / size,
                     s->dim == 3 ? x[2] / size : 0.0);
        }
        for (int32_t f = s->face_first[p]; f < s->face_first[p + 1]; f++) {
            text_add(&t, "f");
            for (int32_t c = s->loop_first[f]; c < s->loop_first[f + 1]; c++) {
                text_add(&t, " %d", (int)(s->loop[c] - base + 1)); // OBJ counts from 1
            }
            text_add(&t, "\n");
        }
    }
    text_add(&path, "%s/type-%d-", folder, which + EXPORT_FIRST_SOLID_TYPE);
    text_add_word(&path, s->name[which]);
    text_add(&path, ".obj");
    talus_status status = t.failed || path.failed
                              ? error_memory(error, "a shape's file")
                              : files_replace(path.data, t.data, t.size, false, error);
    text_free(&t);
    text_free(&path);
    return status;
}

talus_status export_obj(const shapes* s, const char* folder, talus_error* error)
{
    if (s->solid_count == 0) return TALUS_OK;
    TRY(files_make_folder(folder, error));
    for (int i = 0; i < s->solid_count; i++) TRY(write_solid(s, i, folder, error));
    return TALUS_OK;
}
