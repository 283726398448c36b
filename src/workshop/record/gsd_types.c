/// Particle types of a GSD file and their shapes as JSON, after "Shape Visualization" of GSD's
/// documentation: Sphere, Polygon, ConvexPolyhedron, and Mesh for shapes of several parts, which
/// shows them without their rounding.
#include "record/gsd_types.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void gsd_types_see(gsd_types* types, int solid, double radius, double scale)
{
    if (solid < 0) {
        types->ball_sum += 2.0 * radius;
        types->balls++;
        return;
    }
    if (types->too_many) return;
    for (int i = 0; i < types->count; i++) {
        if (types->solid[i] == solid && types->scale[i] == scale) return;
    }
    if (types->count == GSD_MOST_TYPES) {
        types->too_many = true;
        return;
    }
    types->solid[types->count] = solid;
    types->scale[types->count++] = scale;
}

uint32_t gsd_types_find(const gsd_types* types, int solid, double radius, double scale,
                        double* diameter)
{
    *diameter = solid < 0 ? 2.0 * radius : types->too_many ? 2.0 * scale : 2.0;
    if (solid < 0) return 0;
    if (types->too_many) return (uint32_t)solid + 1;
    int i = 0;
    while (i < types->count - 1 && (types->solid[i] != solid || types->scale[i] != scale)) i++;
    return (uint32_t)i + 1;
}

// ---- JSON --------------------------------------------------------------------------------------

/// Corners of a part, or of all parts, as [[x, y], ...] or with a third coordinate.
static void add_corners(text_buffer* t, const shapes* s, int32_t first, int32_t last, double scale,
                        int width)
{
    text_add(t, "\"vertices\": [");
    for (int32_t v = first; v < last; v++) {
        const double* x = s->vertex + (int64_t)v * s->dim;
        text_add(t, "%s[%.9g, %.9g", v > first ? ", " : "", scale * x[0], scale * x[1]);
        if (width == 3) text_add(t, ", %.9g", s->dim == 3 ? scale * x[2] : 0.0);
        text_add(t, "]");
    }
    text_add(t, "]");
}

static void add_mesh(text_buffer* t, const shapes* s, int solid, double scale)
{
    const int32_t first = s->part_first[solid], last = s->part_first[solid + 1];
    const int32_t base = s->vertex_first[first];
    text_add(t, "{\"type\": \"Mesh\", ");
    add_corners(t, s, base, s->vertex_first[last], scale, 3);
    text_add(t, ", \"indices\": [");
    for (int32_t f = s->face_first[first]; f < s->face_first[last]; f++) {
        text_add(t, "%s[", f > s->face_first[first] ? ", " : "");
        for (int32_t c = s->loop_first[f]; c < s->loop_first[f + 1]; c++) {
            text_add(t, "%s%d", c > s->loop_first[f] ? ", " : "", (int)(s->loop[c] - base));
        }
        text_add(t, "]");
    }
    text_add(t, "]}");
}

static void add_shape(text_buffer* t, const shapes* s, int solid, double scale)
{
    const int32_t part = s->part_first[solid];
    if (s->part_first[solid + 1] - part != 1) {
        add_mesh(t, s, solid, scale);
        return;
    }
    text_add(t, "{\"type\": \"%s\", \"rounding_radius\": %.9g, ",
             s->dim == 2 ? "Polygon" : "ConvexPolyhedron", scale * s->skin[solid]);
    if (s->dim == 2) { // the corners of the one polygon in their order
        const int32_t face = s->face_first[part];
        text_add(t, "\"vertices\": [");
        for (int32_t c = s->loop_first[face]; c < s->loop_first[face + 1]; c++) {
            const double* x = s->vertex + (int64_t)s->loop[c] * s->dim;
            text_add(t, "%s[%.9g, %.9g]", c > s->loop_first[face] ? ", " : "", scale * x[0],
                     scale * x[1]);
        }
        text_add(t, "]");
    } else {
        add_corners(t, s, s->vertex_first[part], s->vertex_first[part + 1], scale, 3);
    }
    text_add(t, "}");
}

// ---- chunks ------------------------------------------------------------------------------------

/// Texts of a list, each ending with a zero, as rows of equal length.
static talus_status put_texts(gsd_writer* w, const char* name, const text_buffer* list, int count,
                              talus_error* error)
{
    if (count <= 0) return TALUS_OK;
    size_t longest = 1, at = 0;
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(list->data + at) + 1;
        if (length > longest) longest = length;
        at += length;
    }
    char* rows = calloc((size_t)count, longest);
    if (!rows) return error_memory(error, "the types of a GSD file");
    at = 0;
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(list->data + at) + 1;
        memcpy(rows + (size_t)i * longest, list->data + at, length);
        at += length;
    }
    talus_status status = gsd_put(w, name, GSD_INT8, count, (int)longest, rows, error);
    free(rows);
    return status;
}

talus_status gsd_types_put(const gsd_types* types, gsd_writer* w, talus_error* error)
{
    const shapes* s = types->all;
    const int count = types->too_many ? s->solid_count : types->count;
    text_buffer names = {0}, forms = {0};
    text_add(&names, "ball");
    text_append(&names, "", 1);
    if (types->balls > 0) {
        text_add(&forms, "{\"type\": \"Sphere\", \"diameter\": %.9g}",
                 types->ball_sum / (double)types->balls);
    } else {
        text_add(&forms, "{}");
    }
    text_append(&forms, "", 1);
    for (int i = 0; i < count; i++) {
        const int solid = types->too_many ? i : types->solid[i];
        const double scale = types->too_many ? 1.0 : types->scale[i];
        text_add(&names, "%s", s->name[solid]);
        if (scale != 1.0) text_add(&names, " x %.6g", scale);
        text_append(&names, "", 1);
        add_shape(&forms, s, solid, scale);
        text_append(&forms, "", 1);
    }
    talus_status status = names.failed || forms.failed
                              ? error_memory(error, "the types of a GSD file")
                              : put_texts(w, "particles/types", &names, count + 1, error);
    if (status == TALUS_OK) {
        status = put_texts(w, "particles/type_shapes", &forms, count + 1, error);
    }
    text_free(&names);
    text_free(&forms);
    return status;
}
