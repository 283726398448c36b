/// The group /shapes of frames.h5: solids as flat arrays with offsets, walls as their definitions.
#include "record/shapes_h5.h"

#include "record/frame_read.h"
#include "record/frames.h"

#include <stdlib.h>
#include <string.h>

/// Members of a wall's shape, in the order of talus_shape_def.
static const column shape_columns[] = {
#define MEMBER(member, type, width, unit, doc)                                                     \
    {                                                                                              \
#member, offsetof(talus_shape_def, member), type, width, 0, unit, doc                      \
    }
    MEMBER(kind, COLUMN_I32, WIDTH_1, "",
           "0 plane, 1 segment, 2 plate, 3 box, 4 cylinder, 5 cone, 6 solid, 7 mesh"),
    MEMBER(inside, COLUMN_U8, WIDTH_1, "", "1: grains live inside (box, cylinder)"),
    MEMBER(normal, COLUMN_F64, WIDTH_3, "", "plane: unit normal towards the grains"),
    MEMBER(edge_u, COLUMN_F64, WIDTH_3, "m", "segment: centre to end; plate: half of an edge"),
    MEMBER(edge_v, COLUMN_F64, WIDTH_3, "m", "plate: half of the other edge"),
    MEMBER(half_size, COLUMN_F64, WIDTH_3, "m", "box: half edge lengths"),
    MEMBER(open_faces, COLUMN_I32, WIDTH_1, "",
           "box: missing faces, bits 1 x low, 2 x high, 4 y low, ..."),
    MEMBER(axis, COLUMN_F64, WIDTH_3, "", "cylinder, cone: unit axis"),
    MEMBER(radius, COLUMN_F64, WIDTH_1, "m", "cylinder; cone: at the low end of the axis"),
    MEMBER(radius_high, COLUMN_F64, WIDTH_1, "m", "cone: at the high end"),
    MEMBER(half_length, COLUMN_F64, WIDTH_1, "m", "along the axis, 0: infinite"),
    MEMBER(skin, COLUMN_F64, WIDTH_1, "m", "rounded half thickness"),
    MEMBER(solid, COLUMN_I32, WIDTH_1, "", "solid: its row in solids"),
#undef MEMBER
};
enum { SHAPE_COLUMNS = sizeof shape_columns / sizeof shape_columns[0] };

_Static_assert(sizeof(talus_shape_kind) == 4 && sizeof(bool) == 1, "as in the table");

/// A dataset with its unit and description.
static bool put(hid_t group, const char* name, column_type type, int64_t rows, int width,
                const void* data, const char* unit, const char* doc)
{
    return h5_write(group, name, type, rows, width, data, true) &&
           frame_put_words(group, name, unit, doc);
}

static bool write_solids(hid_t parent, const shapes* s, bool reduced)
{
    hid_t group = H5Gcreate2(parent, "solids", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    const char* metre = reduced ? "reduced" : "m";
    const char* volume = reduced ? "reduced" : s->dim == 2 ? "m^2" : "m^3";
    const int count = s->solid_count;
    const int32_t parts = s->part_first[count], faces = s->face_first[parts];
    const bool good =
        put(group, "part_first", COLUMN_I32, count + 1, 1, s->part_first, "",
            "parts of solid i: from part_first[i] up to part_first[i + 1]") &&
        put(group, "vertex_first", COLUMN_I32, parts + 1, 1, s->vertex_first, "",
            "where the corners of a part begin") &&
        put(group, "face_first", COLUMN_I32, parts + 1, 1, s->face_first, "",
            "where the faces of a part begin; 2D: one face, the polygon") &&
        put(group, "loop_first", COLUMN_I32, faces + 1, 1, s->loop_first, "",
            "where in loop a face begins") &&
        put(group, "loop", COLUMN_I32, s->loop_first[faces], 1, s->loop, "",
            "corners of the faces, rows of vertex, counterclockwise from outside") &&
        put(group, "vertex", COLUMN_F64, s->vertex_first[parts], s->dim, s->vertex, metre,
            "corners in the body frame, origin at the centre of mass") &&
        h5_write_texts(group, "name", count, s->name) &&
        frame_put_words(group, "name", "", "name in the scene") &&
        put(group, "skin", COLUMN_F64, count, 1, s->skin, metre,
            "radius by which every part is rounded") &&
        put(group, "volume", COLUMN_F64, count, 1, s->volume, volume,
            "volume (2D: area), skin included") &&
        put(group, "radius", COLUMN_F64, count, 1, s->radius, metre,
            "of the ball about the centre of mass that holds the shape") &&
        put(group, "centre", COLUMN_F64, count, 3, s->centre, metre,
            "centre of mass in the frame in which the points were given") &&
        put(group, "inertia", COLUMN_F64, count, 9, s->inertia, reduced ? "reduced" : "m^2",
            "tensor of unit mass in the body frame, row by row; 2D: only the last");
    H5Gclose(group);
    return good;
}

static bool write_walls(hid_t parent, const shapes* s, bool reduced)
{
    const int count = s->wall_count;
    int64_t* first = calloc((size_t)count + 1, sizeof *first);
    if (!first) return false;
    for (int i = 0; i < count; i++) first[i + 1] = first[i] + s->wall[i].triangle_count;
    hid_t group = H5Gcreate2(parent, "walls", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int c = 0; good && c < SHAPE_COLUMNS; c++) {
        const column* col = &shape_columns[c];
        const int width = column_row_width(col, 3);
        const size_t bytes = column_element_size(col) * (size_t)width;
        const char* unit = reduced && col->unit[0] ? "reduced" : col->unit;
        char* rows = malloc(bytes * (size_t)count + 1);
        for (int i = 0; rows && i < count; i++) {
            memcpy(rows + bytes * (size_t)i, (const char*)&s->wall[i] + col->offset, bytes);
        }
        good = rows && put(group, col->name, col->type, count, width, rows, unit, col->doc);
        free(rows);
    }
    good = good &&
           put(group, "triangle_first", COLUMN_I64, count + 1, 1, first, "",
               "triangles of wall i: from triangle_first[i] up to triangle_first[i + 1]") &&
           put(group, "triangle", COLUMN_F64, first[count], 9, s->triangles,
               reduced ? "reduced" : "m", "three corners in the wall's frame");
    if (group >= 0) H5Gclose(group);
    free(first);
    return good;
}

bool shapes_write(hid_t file, const shapes* s, bool reduced_units)
{
    if (H5Lexists(file, SHAPES_GROUP, H5P_DEFAULT) > 0) {
        H5Ldelete(file, SHAPES_GROUP, H5P_DEFAULT);
    }
    hid_t group = H5Gcreate2(file, SHAPES_GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    const bool good = write_solids(group, s, reduced_units) && write_walls(group, s, reduced_units);
    H5Gclose(group);
    if (!good) H5Ldelete(file, SHAPES_GROUP, H5P_DEFAULT);
    return good;
}

// ---- reading -----------------------------------------------------------------------------------

/// A whole dataset, NULL if it is absent or of another type or width; *rows receives its length.
static void* take(hid_t group, const char* name, column_type type, int width, int64_t* rows)
{
    int found = 0;
    if (!h5_is_inside(group, name) || !h5_shape(group, name, type, rows, &found) || found != width)
        return NULL;
    column probe = {.type = type};
    void* data = calloc((size_t)*rows * (size_t)width + 1, column_element_size(&probe));
    if (data && *rows > 0 && !h5_read(group, name, type, data)) {
        free(data);
        return NULL;
    }
    return data;
}

/// Offsets must begin at 0, not descend, and end where the next array does.
static bool ascend(const int32_t* first, int64_t rows, int64_t expected_rows, int64_t end)
{
    if (!first || rows < 1 || rows != expected_rows || first[0] != 0 || first[rows - 1] != end)
        return false;
    for (int64_t i = 1; i < rows; i++) {
        if (first[i] < first[i - 1]) return false;
    }
    return true;
}

static bool read_solids(hid_t group, shapes* s)
{
    int64_t rows, parts, part_faces, faces, corners, vertices, radii, skins;
    s->part_first = take(group, "part_first", COLUMN_I32, 1, &rows);
    s->vertex_first = take(group, "vertex_first", COLUMN_I32, 1, &parts);
    s->face_first = take(group, "face_first", COLUMN_I32, 1, &part_faces);
    s->loop_first = take(group, "loop_first", COLUMN_I32, 1, &faces);
    s->loop = take(group, "loop", COLUMN_I32, 1, &corners);
    s->vertex = take(group, "vertex", COLUMN_F64, s->dim, &vertices);
    s->radius = take(group, "radius", COLUMN_F64, 1, &radii);
    s->skin = take(group, "skin", COLUMN_F64, 1, &skins);
    if (!s->vertex || !s->loop || !s->radius || !s->skin || skins != radii || radii >= INT32_MAX) {
        return false;
    }
    if (!ascend(s->part_first, rows, radii + 1, parts - 1) ||
        !ascend(s->vertex_first, parts, parts, vertices) ||
        !ascend(s->face_first, part_faces, parts, faces - 1) ||
        !ascend(s->loop_first, faces, faces, corners)) {
        return false;
    }
    for (int64_t i = 0; i < corners; i++) {
        if (s->loop[i] < 0 || s->loop[i] >= vertices) return false;
    }
    s->solid_count = (int)radii;
    s->name = h5_is_inside(group, "name") ? h5_read_texts(group, "name", radii) : NULL;
    return s->name != NULL;
}

static bool read_walls(hid_t group, shapes* s)
{
    int64_t rows = 0, count = 0;
    int64_t* first = take(group, "triangle_first", COLUMN_I64, 1, &rows);
    s->triangles = take(group, "triangle", COLUMN_F64, 9, &count);
    bool good = first && s->triangles && rows >= 1 && rows <= INT32_MAX;
    s->wall = good ? calloc((size_t)rows, sizeof *s->wall) : NULL;
    good = good && s->wall;
    if (good) s->wall_count = (int)rows - 1;
    for (int c = 0; good && c < SHAPE_COLUMNS; c++) {
        const column* col = &shape_columns[c];
        const int width = column_row_width(col, 3);
        const size_t bytes = column_element_size(col) * (size_t)width;
        int64_t found;
        char* data = take(group, col->name, col->type, width, &found);
        good = data && found == s->wall_count;
        for (int64_t i = 0; good && i < found; i++) {
            memcpy((char*)&s->wall[i] + col->offset, data + bytes * (size_t)i, bytes);
        }
        free(data);
    }
    for (int64_t i = 0; good && i < s->wall_count; i++) {
        good = first[i] >= 0 && first[i] <= first[i + 1] && first[i + 1] <= count &&
               s->wall[i].kind < TALUS_SHAPE_COUNT &&
               (s->wall[i].kind != TALUS_SHAPE_SOLID ||
                (s->wall[i].solid.index >= 0 && s->wall[i].solid.index < s->solid_count));
        s->wall[i].triangles = s->triangles + 9 * first[i];
        s->wall[i].triangle_count = first[i + 1] - first[i];
    }
    free(first);
    return good;
}

talus_status shapes_read(hid_t file, const char* path, int dim, shapes* out, talus_error* error)
{
    *out = (shapes){.dim = dim};
    if (H5Lexists(file, SHAPES_GROUP, H5P_DEFAULT) <= 0) return TALUS_OK;
    hid_t solid_group = frame_open_group(file, SHAPES_GROUP "/solids", path);
    hid_t wall_group = frame_open_group(file, SHAPES_GROUP "/walls", path);
    bool good = solid_group >= 0 && wall_group >= 0 && read_solids(solid_group, out) &&
                read_walls(wall_group, out);
    if (solid_group >= 0) H5Gclose(solid_group);
    if (wall_group >= 0) H5Gclose(wall_group);
    return good
               ? TALUS_OK
               : h5_error(error, TALUS_ERR_FORMAT, "cannot read the shapes of the grains in", path);
}
