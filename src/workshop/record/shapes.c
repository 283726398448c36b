/// The group /shapes of frames.h5: solids as flat arrays with offsets, walls as their definitions.
///
/// A solid is a run of parts, a part a run of corners and of faces, a face a loop of corners. In
/// 2D a part has one face, the polygon itself, so that one loop over faces draws both.
#include "record/shapes.h"

#include "geometry/solid.h"
#include "record/frames.h"
#include "world/world.h"

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
           frame_describe(group, name, unit, doc);
}

// ---- solids ------------------------------------------------------------------------------------

/// Sizes of the flat arrays.
typedef struct flat_sizes {
    int64_t parts, vertices, faces, corners;
} flat_sizes;

static flat_sizes measure(const solids* s)
{
    flat_sizes n = {0};
    for (int i = 0; i < s->count; i++) {
        n.parts += s->row[i].part_count;
        for (int p = 0; p < s->row[i].part_count; p++) {
            const polytope* part = &s->row[i].part[p];
            n.vertices += part->vertex_count;
            n.faces += part->dim == 2 ? 1 : part->face_count;
            n.corners += part->dim == 2 ? part->vertex_count : part->face_first[part->face_count];
        }
    }
    return n;
}

/// Append one part behind what `n` counts, and count it.
static void flatten_part(shapes* s, flat_sizes* n, const polytope* part)
{
    const int32_t base = (int32_t)n->vertices;
    memcpy(s->vertex + n->vertices * part->dim, part->vertex,
           sizeof(double) * (size_t)(part->vertex_count * part->dim));
    n->vertices += part->vertex_count;
    if (part->dim == 2) {
        for (int v = 0; v < part->vertex_count; v++) s->loop[n->corners++] = base + v;
        s->loop_first[++n->faces] = (int32_t)n->corners;
    } else {
        for (int f = 0; f < part->face_count; f++) {
            for (int c = part->face_first[f]; c < part->face_first[f + 1]; c++) {
                s->loop[n->corners++] = base + part->face_vertex[c];
            }
            s->loop_first[++n->faces] = (int32_t)n->corners;
        }
    }
    n->parts++;
    s->vertex_first[n->parts] = (int32_t)n->vertices;
    s->face_first[n->parts] = (int32_t)n->faces;
}

static int32_t* offsets(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(int32_t));
}

/// The world's solids as flat arrays, without names; false when memory is short or a number does
/// not fit. The caller frees.
static bool flatten(const solids* all, int dim, shapes* out)
{
    flat_sizes n = measure(all);
    if (n.corners > INT32_MAX || n.vertices > INT32_MAX) return false;
    *out = (shapes){.dim = dim, .solid_count = all->count};
    out->part_first = offsets(all->count);
    out->vertex_first = offsets(n.parts);
    out->face_first = offsets(n.parts);
    out->loop_first = offsets(n.faces);
    out->loop = offsets(n.corners);
    out->vertex = malloc(sizeof(double) * (size_t)(n.vertices * dim + 1));
    if (!out->part_first || !out->vertex_first || !out->face_first || !out->loop_first ||
        !out->loop || !out->vertex) {
        return false;
    }
    n = (flat_sizes){0};
    for (int i = 0; i < all->count; i++) {
        for (int p = 0; p < all->row[i].part_count; p++) {
            flatten_part(out, &n, &all->row[i].part[p]);
        }
        out->part_first[i + 1] = (int32_t)n.parts;
    }
    return true;
}

static bool write_geometry(hid_t group, const shapes* s, const char* metre)
{
    int32_t parts = s->part_first[s->solid_count];
    int32_t faces = s->face_first[parts];
    return put(group, "part_first", COLUMN_I32, s->solid_count + 1, 1, s->part_first, "",
               "parts of solid i: from part_first[i] up to part_first[i + 1]") &&
           put(group, "vertex_first", COLUMN_I32, parts + 1, 1, s->vertex_first, "",
               "corners of a part, likewise") &&
           put(group, "face_first", COLUMN_I32, parts + 1, 1, s->face_first, "",
               "faces of a part, likewise; 2D: one face, the polygon") &&
           put(group, "loop_first", COLUMN_I32, faces + 1, 1, s->loop_first, "",
               "where in loop a face begins, likewise") &&
           put(group, "loop", COLUMN_I32, s->loop_first[faces], 1, s->loop, "",
               "corners of the faces, rows of vertex, counterclockwise from outside") &&
           put(group, "vertex", COLUMN_F64, s->vertex_first[parts], s->dim, s->vertex, metre,
               "corners in the body frame, origin at the centre of mass");
}

/// What a solid has beside its geometry: one number or row each, gathered into datasets.
static bool write_properties(hid_t group, const solids* s, const char* metre, const char* volume,
                             const char* inertia)
{
    size_t count = (size_t)s->count;
    char** name = malloc(sizeof *name * (count + 1));
    double* flat = name ? malloc(sizeof *flat * (count * (3 + 3 + 9) + 1)) : NULL;
    if (!flat) {
        free(name);
        return false;
    }
    double *skin = flat, *space = skin + count, *radius = space + count, *centre = radius + count,
           *tensor = centre + 3 * count;
    for (size_t i = 0; i < count; i++) {
        const solid* row = &s->row[i];
        name[i] = row->name;
        skin[i] = row->skin;
        space[i] = row->volume;
        radius[i] = row->radius;
        memcpy(centre + 3 * i, row->centre, sizeof row->centre);
        memcpy(tensor + 9 * i, row->inertia, sizeof row->inertia);
    }
    bool good = h5_write_texts(group, "name", s->count, name) &&
                frame_describe(group, "name", "", "name in the scene") &&
                put(group, "skin", COLUMN_F64, s->count, 1, skin, metre,
                    "radius by which every part is rounded") &&
                put(group, "volume", COLUMN_F64, s->count, 1, space, volume,
                    "volume (2D: area), skin included") &&
                put(group, "radius", COLUMN_F64, s->count, 1, radius, metre,
                    "of the ball about the centre of mass that holds the shape") &&
                put(group, "centre", COLUMN_F64, s->count, 3, centre, metre,
                    "centre of mass in the frame in which the points were given") &&
                put(group, "inertia", COLUMN_F64, s->count, 9, tensor, inertia,
                    "tensor of unit mass in the body frame, row by row; 2D: only the last");
    free(name);
    free(flat);
    return good;
}

static bool write_solids(hid_t parent, const talus_world* world, bool reduced)
{
    hid_t group = H5Gcreate2(parent, "solids", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    int dim = world->def.dim;
    shapes flat = {0};
    const char* metre = reduced ? "reduced" : "m";
    const char* volume = reduced ? "reduced" : dim == 2 ? "m^2" : "m^3";
    bool good =
        flatten(&world->state.solids, dim, &flat) && write_geometry(group, &flat, metre) &&
        write_properties(group, &world->state.solids, metre, volume, reduced ? "reduced" : "m^2");
    shapes_free(&flat);
    H5Gclose(group);
    return good;
}

// ---- walls -------------------------------------------------------------------------------------

/// One member of all walls' shapes as a dataset.
static bool write_member(hid_t group, const walls* w, const column* col, bool reduced)
{
    int width = column_row_width(col, 3);
    size_t bytes = column_element_size(col) * (size_t)width;
    char* rows = malloc(bytes * (size_t)w->count + 1);
    if (!rows) return false;
    for (int64_t i = 0; i < w->count; i++) {
        const char* shape = (const char*)&w->record[i].shape;
        memcpy(rows + bytes * (size_t)i, shape + col->offset, bytes);
    }
    const char* unit = reduced && col->unit[0] ? "reduced" : col->unit;
    bool good = put(group, col->name, col->type, w->count, width, rows, unit, col->doc);
    free(rows);
    return good;
}

/// Meshes are the only walls with triangles; the others have none.
static bool write_triangles(hid_t group, const walls* w, const char* metre)
{
    int64_t* first = calloc((size_t)w->count + 1, sizeof *first);
    if (!first) return false;
    for (int64_t i = 0; i < w->count; i++) {
        const talus_shape_def* shape = &w->record[i].shape;
        first[i + 1] = first[i] + (shape->kind == TALUS_SHAPE_MESH ? shape->triangle_count : 0);
    }
    double* corner = malloc(sizeof *corner * 9 * (size_t)first[w->count] + 1);
    for (int64_t i = 0; corner && i < w->count; i++) {
        size_t count = (size_t)(first[i + 1] - first[i]);
        if (count > 0) {
            memcpy(corner + 9 * first[i], w->record[i].shape.triangles, sizeof *corner * 9 * count);
        }
    }
    bool good = corner &&
                put(group, "triangle_first", COLUMN_I64, w->count + 1, 1, first, "",
                    "triangles of wall i: from triangle_first[i] up to triangle_first[i + 1]") &&
                put(group, "triangle", COLUMN_F64, first[w->count], 9, corner, metre,
                    "three corners in the wall's frame");
    free(first);
    free(corner);
    return good;
}

static bool write_walls(hid_t parent, const walls* w, bool reduced)
{
    hid_t group = H5Gcreate2(parent, "walls", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    bool good = true;
    for (int c = 0; good && c < SHAPE_COLUMNS; c++) {
        good = write_member(group, w, &shape_columns[c], reduced);
    }
    good = good && write_triangles(group, w, reduced ? "reduced" : "m");
    H5Gclose(group);
    return good;
}

bool shapes_write(hid_t file, const talus_world* world, bool reduced_units)
{
    if (H5Lexists(file, SHAPES_GROUP, H5P_DEFAULT) > 0) {
        H5Ldelete(file, SHAPES_GROUP, H5P_DEFAULT);
    }
    hid_t group = H5Gcreate2(file, SHAPES_GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    bool good = write_solids(group, world, reduced_units) &&
                write_walls(group, &world->state.walls, reduced_units);
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

static bool read_member(hid_t group, shapes* s, const column* col)
{
    int width = column_row_width(col, 3);
    size_t bytes = column_element_size(col) * (size_t)width;
    int64_t rows;
    char* data = take(group, col->name, col->type, width, &rows);
    bool good = data && rows == s->wall_count;
    for (int64_t i = 0; good && i < rows; i++) {
        memcpy((char*)&s->wall[i] + col->offset, data + bytes * (size_t)i, bytes);
    }
    free(data);
    return good;
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
    for (int c = 0; good && c < SHAPE_COLUMNS; c++) good = read_member(group, s, &shape_columns[c]);
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

void shapes_free(shapes* s)
{
    for (int i = 0; s->name && i < s->solid_count; i++) free(s->name[i]);
    free(s->name);
    free(s->radius);
    free(s->skin);
    free(s->part_first);
    free(s->vertex_first);
    free(s->face_first);
    free(s->loop_first);
    free(s->loop);
    free(s->vertex);
    free(s->wall);
    free(s->triangles);
    *s = (shapes){0};
}
