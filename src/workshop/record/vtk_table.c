/// One table of a frame as VTK sees it, for the exports to VTK XML and VTKHDF.
///
/// Grains are vertices and contacts lines, with the fields as recorded and the sizes of the two
/// parts of a contact's force. Solids and walls are cells with the fields of the grain or wall they
/// belong to, its row and the part of its shape. The faces of a solid in 3D become the faces of one
/// polyhedron for each convex part.
///
/// `radius` is what spheres are to be drawn with, and nothing else: 0 of a solid among the grains,
/// and on the solids, where it is that of the ball around them, it is called so.
#include "record/vtk_table.h"

#include "base/error.h"
#include "base/vec.h"
#include "record/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_FIELDS = 2 }; ///< fields that a table has besides those of the frame, at most

const char* vtk_kind_name(vtk_kind kind)
{
    static const char* const names[VTK_KINDS] = {"grains", "contacts", "solids", "walls"};
    return names[kind];
}

bool vtk_table_is_wanted(vtk_kind kind, const shapes* all, const frame_data* frame)
{
    switch (kind) {
    case VTK_CONTACTS: return frame->contacts.count >= 0;
    case VTK_SOLIDS: return all->solid_count > 0;
    case VTK_WALLS: return all->wall_count > 0;
    default: return true;
    }
}

void vtk_table_free(vtk_table* table)
{
    for (int i = 0; i < table->field_count; i++) free(table->field[i].own);
    free(table->field);
    free(table->point);
    free(table->type);
    free(table->offset);
    free(table->corner);
    free(table->face_first);
    free(table->face_offset);
    free(table->face_corner);
    *table = (vtk_table){0};
}

// ---- fields ------------------------------------------------------------------------------------

/// Copy rows of a field, those of `owner` if it is not NULL; a width of 2 is padded to 3 by zeros.
static bool add_field(vtk_table* table, const frame_field* from, const int64_t* owner, int64_t rows)
{
    const size_t element = frame_element_size(from);
    const int width = from->width == 2 ? 3 : from->width;
    const size_t source = element * (size_t)from->width, target = element * (size_t)width;
    frame_field* field = &table->field[table->field_count];
    *field = (frame_field){.type = from->type, .rows = rows, .width = width};
    memcpy(field->name, from->name, sizeof field->name);
    char* data = calloc((size_t)rows * target + 1, 1);
    if (!data) return false;
    field->data = field->own = data;
    table->field_count++;
    for (int64_t i = 0; i < rows; i++) {
        memcpy(data + target * (size_t)i,
               (const char*)from->data + source * (size_t)(owner ? owner[i] : i), source);
    }
    return true;
}

/// All fields of a table but `points`; for each of `rows` cells those of its owner if `owner` is
/// not NULL.
static bool add_fields(vtk_table* table, const frame_table* t, const char* points,
                       const int64_t* owner, int64_t rows)
{
    table->field = calloc((size_t)t->field_count + OWN_FIELDS, sizeof *table->field);
    if (!table->field) return false;
    for (int i = 0; i < t->field_count; i++) {
        const frame_field* field = &t->field[i];
        if (strcmp(field->name, points) == 0) continue;
        if (!add_field(table, field, owner, rows)) return false;
    }
    return true;
}

static frame_field* own_field(vtk_table* table, const char* name)
{
    for (int i = 0; i < table->field_count; i++) {
        if (strcmp(table->field[i].name, name) == 0) return &table->field[i];
    }
    return NULL;
}

// ---- grains and contacts -----------------------------------------------------------------------

/// Cells of `nodes` points each, numbered as they come, at the places that the field `points`
/// gives.
static talus_status make_table(vtk_table* table, const frame_table* t, int nodes, int type,
                               const char* points, talus_error* error)
{
    const frame_field* place = frame_find(t, points);
    const int width = place ? place->width / nodes : 0; // of a point
    if (!place || place->rows != t->count || place->type != COLUMN_F64 ||
        place->width != width * nodes || width < 2 || width > 3) {
        return error_set(error, TALUS_ERR_FORMAT, "a frame has no good \"%s\"", points);
    }
    const int64_t cells = t->count;
    table->cells = cells;
    table->points = cells * nodes;
    table->type = malloc((size_t)cells + 1);
    table->offset = malloc(sizeof *table->offset * (size_t)(cells + 1));
    table->corner = malloc(sizeof *table->corner * (size_t)(table->points + 1));
    table->point = calloc((size_t)table->points + 1, 3 * sizeof *table->point);
    if (!table->type || !table->offset || !table->corner || !table->point ||
        !add_fields(table, t, points, NULL, cells)) {
        return error_memory(error, "the points of a frame");
    }
    memset(table->type, type, (size_t)cells);
    for (int64_t i = 0; i <= cells; i++) table->offset[i] = i * nodes;
    for (int64_t i = 0; i < table->points; i++) table->corner[i] = i;
    for (int64_t i = 0; i < table->points; i++) {
        memcpy(table->point + 3 * i, (const double*)place->data + width * i,
               sizeof(double) * (size_t)width);
    }
    return TALUS_OK;
}

/// Spheres are drawn of balls alone: a solid among the grains has no radius.
static void forget_radii_of_solids(vtk_table* table)
{
    const frame_field *radius = own_field(table, "radius"), *solid = own_field(table, "solid");
    if (!radius || !solid || radius->type != COLUMN_F64 || solid->type != COLUMN_I32) return;
    double* value = radius->own;
    const int32_t* shape = solid->data;
    for (int64_t i = 0; i < table->cells; i++) {
        if (shape[i] >= 0) value[i] = 0.0;
    }
}

/// The two parts of the contact forces: `normal_force`, positive if it presses, and the size of
/// `tangential_force`.
static bool add_force_parts(vtk_table* table, const frame_table* contacts, int dim)
{
    const double* force = frame_numbers(contacts, "force", COLUMN_F64, dim);
    const double* normal = frame_numbers(contacts, "normal", COLUMN_F64, dim);
    if (!force || !normal) return true; // they are not recorded
    double* part = malloc(2 * sizeof *part * (size_t)(contacts->count + 1));
    if (!part) return false;
    double* tangential = part + contacts->count;
    for (int64_t i = 0; i < contacts->count; i++) {
        const double *f = force + dim * i, *n = normal + dim * i;
        part[i] = vec_dot(dim, f, n);
        double rest[3];
        for (int k = 0; k < dim; k++) rest[k] = f[k] - part[i] * n[k];
        tangential[i] = vec_norm(dim, rest);
    }
    const frame_field own[2] = {
        {.name = "normal_force", .type = COLUMN_F64, .width = 1, .data = part},
        {.name = "tangential_force", .type = COLUMN_F64, .width = 1, .data = tangential}};
    const bool good = add_field(table, &own[0], NULL, contacts->count) &&
                      add_field(table, &own[1], NULL, contacts->count);
    free(part);
    return good;
}

// ---- solids and walls --------------------------------------------------------------------------

/// The bytes of a buffer, which is then empty; room for one more number in any case.
static void* take(text_buffer* t)
{
    text_room(t, sizeof(int64_t));
    void* data = t->data;
    *t = (text_buffer){0};
    return data;
}

/// End offsets of `count` things as the offsets of where they begin, one more; the caller frees.
static int64_t* begins(const text_buffer* end, int64_t count)
{
    int64_t* out = malloc(sizeof *out * (size_t)(count + 1));
    if (!out) return NULL;
    out[0] = 0;
    if (count > 0) memcpy(out + 1, end->data, sizeof *out * (size_t)count);
    return out;
}

/// Every face of the surface is a cell.
static bool faces_as_cells(vtk_table* table, surface* s)
{
    table->cells = s->cells;
    table->type = malloc((size_t)s->cells + 1);
    table->offset = begins(&s->end, s->cells);
    table->corner = take(&s->corner);
    if (!table->type || !table->offset || !table->corner) return false;
    for (int64_t i = 0; i < s->cells; i++) {
        table->type[i] = i < s->lines ? VTK_POLY_LINE : VTK_POLYGON;
    }
    return true;
}

/// The faces of a part, which follow each other, are a polyhedron with all their corners, which are
/// numbered one after the other; owners and parts are then those of polyhedra.
static bool parts_as_cells(vtk_table* table, surface* s)
{
    int64_t* owner = (int64_t*)(void*)s->owner.data;
    int32_t* part = (int32_t*)(void*)s->part.data;
    table->faces = s->cells;
    table->face_offset = begins(&s->end, s->cells);
    table->face_corner = take(&s->corner);
    table->face_first = calloc((size_t)s->cells + 1, sizeof *table->face_first);
    table->offset = calloc((size_t)s->cells + 1, sizeof *table->offset);
    table->type = malloc((size_t)s->cells + 1);
    table->corner = malloc(sizeof *table->corner * (size_t)(s->points + 1));
    if (!table->face_offset || !table->face_corner || !table->face_first || !table->offset ||
        !table->type || !table->corner) {
        return false;
    }
    for (int64_t f = 0; f < s->cells; f++) {
        const int64_t last = table->cells - 1;
        if (f == 0 || owner[f] != owner[last] || part[f] != part[last]) {
            owner[table->cells] = owner[f];
            part[table->cells] = part[f];
            table->type[table->cells] = VTK_POLYHEDRON;
            table->cells++;
        }
        table->face_first[table->cells] = f + 1;
        int64_t* end = &table->offset[table->cells];
        for (int64_t c = table->face_offset[f]; c < table->face_offset[f + 1]; c++) {
            if (table->face_corner[c] >= *end) *end = table->face_corner[c] + 1;
        }
    }
    for (int64_t i = 0; i < s->points; i++) table->corner[i] = i;
    return true;
}

static talus_status make_surface(vtk_table* table, surface* s, const frame_table* t, bool polyhedra,
                                 const char* owner_name, talus_error* error)
{
    bool good = polyhedra ? parts_as_cells(table, s) : faces_as_cells(table, s);
    table->points = s->points;
    table->point = take(&s->point);
    good = good && table->point &&
           add_fields(table, t, "", (const int64_t*)(const void*)s->owner.data, table->cells);
    frame_field owner = {.type = COLUMN_I64, .width = 1, .data = s->owner.data};
    frame_field part = {.name = "part", .type = COLUMN_I32, .width = 1, .data = s->part.data};
    memcpy(owner.name, owner_name, strlen(owner_name));
    good = good && add_field(table, &owner, NULL, table->cells) &&
           add_field(table, &part, NULL, table->cells);
    return good ? TALUS_OK : error_memory(error, "the cells of a frame");
}

talus_status vtk_table_make(vtk_kind kind, const shapes* all, const frame_data* frame,
                            vtk_table* out, talus_error* error)
{
    *out = (vtk_table){.at_points = kind == VTK_GRAINS};
    if (kind == VTK_GRAINS) {
        TRY(make_table(out, &frame->grains, 1, VTK_VERTEX, "position", error));
        forget_radii_of_solids(out);
        return TALUS_OK;
    }
    if (kind == VTK_CONTACTS) {
        TRY(make_table(out, &frame->contacts, 2, VTK_POLY_LINE, FRAME_SEGMENT, error));
        return add_force_parts(out, &frame->contacts, frame->dim)
                   ? TALUS_OK
                   : error_memory(error, "the contact forces of a frame");
    }
    surface s = {0};
    const bool solids = kind == VTK_SOLIDS;
    talus_status status = solids ? surface_grains(&s, all, &frame->grains, error)
                                 : surface_walls(&s, all, frame, error);
    if (status == TALUS_OK) {
        status = make_surface(out, &s, solids ? &frame->grains : &frame->walls,
                              solids && all->dim == 3, solids ? "row" : "wall", error);
    }
    surface_free(&s);
    frame_field* ball = solids ? own_field(out, "radius") : NULL;
    if (ball) snprintf(ball->name, sizeof ball->name, "bounding_radius");
    return status;
}
