/// Frames as VTK XML PolyData: grains_NNNNNN.vtp (vertices), contacts_NNNNNN.vtp (lines),
/// solids_NNNNNN.vtp (faces of the grains that are not balls), walls_NNNNNN.vtp (lines and faces),
/// and grains.pvd, ... that give their times.
///
/// Arrays are appended as raw binary with 64-bit sizes. Plane vectors get a third component 0, so
/// that glyphs and arrows work. All fields of the frame are written, whatever they are.
#include "base/error.h"
#include "record/files.h"
#include "record/frame_read.h"
#include "record/frames.h"
#include "record/shapes.h"
#include "record/surface.h"

#include <stdlib.h>
#include <string.h>
#include <talus/run.h>

static const char* vtk_type(column_type type)
{
    switch (type) {
    case COLUMN_F64: return "Float64";
    case COLUMN_I64: return "Int64";
    case COLUMN_I32: return "Int32";
    case COLUMN_U8: return "UInt8";
    }
    return "";
}

/// A file in the making: the XML, and the arrays that will be appended to it.
typedef struct vtp {
    text_buffer xml, data;
} vtp;

/// Append an array of `rows` x `width`; a width of 2 is padded to 3 by zeros.
static void add_array(vtp* v, const char* name, column_type type, int64_t rows, int width,
                      const void* data)
{
    column probe = {.type = type};
    size_t element = column_element_size(&probe);
    size_t from = element * (size_t)width;
    size_t to = element * (size_t)(width == 2 ? 3 : width);
    uint64_t bytes = to * (uint64_t)rows;
    text_add(&v->xml,
             "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
             "offset=\"%zu\"/>\n",
             vtk_type(type), name, width == 2 ? 3 : width, v->data.size);
    char* room = text_room(&v->data, sizeof bytes + (size_t)bytes);
    if (!room) return;
    v->data.size += sizeof bytes + (size_t)bytes;
    memcpy(room, &bytes, sizeof bytes);
    room += sizeof bytes;
    if (from == to) {
        if (bytes) memcpy(room, data, (size_t)bytes);
        return;
    }
    memset(room, 0, (size_t)bytes);
    for (int64_t i = 0; i < rows; i++) {
        memcpy(room + to * (size_t)i, (const char*)data + from * (size_t)i, from);
    }
}

/// Cells of `nodes` points each, numbered as they come.
static talus_status add_cells(vtp* v, const char* kind, int64_t cells, int nodes)
{
    int64_t* index = malloc(sizeof *index * (size_t)(cells * nodes + 1));
    if (!index) return TALUS_ERR_MEMORY;
    text_add(&v->xml, "<%s>\n", kind);
    for (int64_t i = 0; i < cells * nodes; i++) index[i] = i;
    add_array(v, "connectivity", COLUMN_I64, cells * nodes, 1, index);
    for (int64_t i = 0; i < cells; i++) index[i] = (i + 1) * nodes;
    add_array(v, "offsets", COLUMN_I64, cells, 1, index);
    text_add(&v->xml, "</%s>\n", kind);
    free(index);
    return TALUS_OK;
}

static talus_status save(vtp* v, const char* path, talus_error* error)
{
    text_add(&v->xml, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    size_t size = v->data.size;
    char* room = text_room(&v->xml, size + 64);
    if (!room || v->data.failed) return error_memory(error, path);
    if (size) memcpy(room, v->data.data, size);
    v->xml.size += size;
    text_add(&v->xml, "\n</AppendedData>\n</VTKFile>\n");
    return files_replace(path, v->xml.data, v->xml.size, false, error);
}

static void begin(vtp* v, int64_t points, int64_t verts, int64_t lines, int64_t polys)
{
    text_add(&v->xml,
             "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
             "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n<Piece "
             "NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"%lld\" "
             "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n",
             (long long)points, (long long)verts, (long long)lines, (long long)polys);
}

/// Write one table: `cell` names the cells, each with `nodes` points taken from `points`; the other
/// fields go to `place`.
static talus_status write_table(const char* path, const frame_table* t, const char* cell, int nodes,
                                const char* points, const char* place, talus_error* error)
{
    vtp v = {0};
    const frame_field* position = frame_find(t, points);
    if (!position || position->rows != t->count * nodes) {
        return error_set(error, TALUS_ERR_FORMAT, "the frame for %s has no good \"%s\"", path,
                         points);
    }
    bool verts = nodes == 1;
    begin(&v, position->rows, verts ? t->count : 0, verts ? 0 : t->count, 0);
    text_add(&v.xml, "<Points>\n");
    add_array(&v, "Points", position->type, position->rows, position->width, position->data);
    text_add(&v.xml, "</Points>\n");
    talus_status status = add_cells(&v, cell, t->count, nodes);
    text_add(&v.xml, "<%s>\n", place);
    for (int i = 0; i < t->field_count; i++) {
        const frame_field* field = &t->field[i];
        bool drawing = strcmp(field->name, FRAMES_CONNECTIVITY) == 0;
        if (field == position || drawing || field->rows != t->count) continue;
        add_array(&v, field->name, field->type, field->rows, field->width, field->data);
    }
    text_add(&v.xml, "</%s>\n", place);
    status = status == TALUS_OK ? save(&v, path, error) : error_memory(error, path);
    text_free(&v.xml);
    text_free(&v.data);
    return status;
}

// ---- surfaces ----------------------------------------------------------------------------------

/// Cells [first, last) of a surface.
static talus_status add_surface_cells(vtp* v, const char* kind, const surface* s, int64_t first,
                                      int64_t last)
{
    const int64_t* corner = (const int64_t*)(const void*)s->corner.data;
    const int64_t* end = (const int64_t*)(const void*)s->end.data;
    int64_t* offset = malloc(sizeof *offset * (size_t)(last - first + 1));
    if (!offset) return TALUS_ERR_MEMORY;
    int64_t start = first > 0 ? end[first - 1] : 0;
    for (int64_t i = first; i < last; i++) offset[i - first] = end[i] - start;
    text_add(&v->xml, "<%s>\n", kind);
    add_array(v, "connectivity", COLUMN_I64, last > first ? end[last - 1] - start : 0, 1,
              corner ? corner + start : NULL);
    add_array(v, "offsets", COLUMN_I64, last - first, 1, offset);
    text_add(&v->xml, "</%s>\n", kind);
    free(offset);
    return TALUS_OK;
}

/// A field of the owners, repeated for each of their cells.
static talus_status add_owner_field(vtp* v, const surface* s, const frame_field* field)
{
    const int64_t* owner = (const int64_t*)(const void*)s->owner.data;
    column probe = {.type = field->type};
    size_t row = column_element_size(&probe) * (size_t)field->width;
    char* rows = malloc(row * (size_t)s->cells + 1);
    if (!rows) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < s->cells; i++) {
        memcpy(rows + row * (size_t)i, (const char*)field->data + row * (size_t)owner[i], row);
    }
    add_array(v, field->name, field->type, s->cells, field->width, rows);
    free(rows);
    return TALUS_OK;
}

/// Write a surface with all fields of its owners, their row as `owner_name`, and their parts.
static talus_status write_surface(const char* path, const surface* s, const frame_table* t,
                                  const char* owner_name, talus_error* error)
{
    vtp v = {0};
    begin(&v, s->points, 0, s->lines, s->cells - s->lines);
    text_add(&v.xml, "<Points>\n");
    add_array(&v, "Points", COLUMN_F64, s->points, 3, s->point.data);
    text_add(&v.xml, "</Points>\n");
    talus_status status = add_surface_cells(&v, "Lines", s, 0, s->lines);
    if (status == TALUS_OK) status = add_surface_cells(&v, "Polys", s, s->lines, s->cells);
    text_add(&v.xml, "<CellData>\n");
    for (int i = 0; i < t->field_count && status == TALUS_OK; i++) {
        const frame_field* field = &t->field[i];
        bool drawing = strcmp(field->name, FRAMES_CONNECTIVITY) == 0;
        if (drawing || field->rows != t->count) continue;
        status = add_owner_field(&v, s, field);
    }
    add_array(&v, owner_name, COLUMN_I64, s->cells, 1, s->owner.data);
    add_array(&v, "part", COLUMN_I32, s->cells, 1, s->part.data);
    text_add(&v.xml, "</CellData>\n");
    status = status == TALUS_OK ? save(&v, path, error) : error_memory(error, path);
    text_free(&v.xml);
    text_free(&v.data);
    return status;
}

// ---- all frames --------------------------------------------------------------------------------

/// The collections of an export.
typedef enum kind { GRAINS, CONTACTS, SOLIDS, WALLS, KINDS } kind;
static const char* const kind_name[KINDS] = {"grains", "contacts", "solids", "walls"};

typedef struct export_job {
    frame_reader reader;
    const char* folder;
    shapes shapes;
    text_buffer list[KINDS]; ///< of the files written
} export_job;

/// Whether the run has something of a kind; grains and contacts get their collection in any case.
static bool is_wanted(const export_job* job, const frame_data* d, kind which)
{
    switch (which) {
    case CONTACTS: return d->contacts.count >= 0;
    case SOLIDS: return job->shapes.solid_count > 0;
    case WALLS: return job->shapes.wall_count > 0;
    default: return true;
    }
}

static talus_status write_file(const export_job* job, const frame_data* d, kind which,
                               const char* path, talus_error* error)
{
    if (which == GRAINS) {
        return write_table(path, &d->grains, "Verts", 1, "position", "PointData", error);
    }
    if (which == CONTACTS) {
        return write_table(path, &d->contacts, "Lines", 2, FRAMES_SEGMENT, "CellData", error);
    }
    surface s = {0};
    bool solids = which == SOLIDS;
    talus_status status = solids ? surface_grains(&s, &job->shapes, &d->grains, error)
                                 : surface_walls(&s, &job->shapes, d, error);
    if (status == TALUS_OK) {
        status = write_surface(path, &s, solids ? &d->grains : &d->walls, solids ? "row" : "wall",
                               error);
    }
    surface_free(&s);
    return status;
}

static talus_status export_frame(export_job* job, const frame_data* d, int64_t i,
                                 talus_error* error)
{
    talus_status status = TALUS_OK;
    for (kind which = 0; which < KINDS && status == TALUS_OK; which++) {
        if (!is_wanted(job, d, which)) continue;
        char* path = files_text("%s/%s_%06lld.vtp", job->folder, kind_name[which], (long long)i);
        status = path ? write_file(job, d, which, path, error) : error_memory(error, "a file name");
        text_add(&job->list[which], "<DataSet timestep=\"%.17g\" file=\"%s_%06lld.vtp\"/>\n",
                 d->time, kind_name[which], (long long)i);
        free(path);
    }
    return status;
}

static talus_status save_collection(const char* folder, const char* name, const text_buffer* list,
                                    talus_error* error)
{
    text_buffer all = {0};
    text_add(&all,
             "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
             "byte_order=\"LittleEndian\">\n<Collection>\n%s</Collection>\n</VTKFile>\n",
             list->size ? list->data : "");
    char* path = files_text("%s/%s.pvd", folder, name);
    talus_status status = path && !all.failed && !list->failed
                              ? files_replace(path, all.data, all.size, false, error)
                              : error_memory(error, "a list of files");
    free(path);
    text_free(&all);
    return status;
}

static talus_status export_all(export_job* job, talus_error* error)
{
    TRY(shapes_read(job->reader.file, job->reader.path, job->reader.dim, &job->shapes, error));
    TRY(files_make_folder(job->folder, error));
    for (int64_t i = 0; i < job->reader.count; i++) {
        frame_data data;
        TRY(frame_read(&job->reader, i, &data, error));
        talus_status status = export_frame(job, &data, i, error);
        frame_data_free(&data);
        if (status != TALUS_OK) return status;
    }
    for (kind which = 0; which < KINDS; which++) {
        if (which >= SOLIDS && job->list[which].size == 0) continue;
        TRY(save_collection(job->folder, kind_name[which], &job->list[which], error));
    }
    return TALUS_OK;
}

talus_status talus_export_vtk(const char* directory, const char* out_directory, talus_error* error)
{
    export_job job = {.folder = out_directory};
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = frame_reader_open(directory, &job.reader, error);
    if (status == TALUS_OK) status = export_all(&job, error);
    shapes_free(&job.shapes);
    frame_reader_close(&job.reader);
    h5_loud(&quiet);
    for (kind which = 0; which < KINDS; which++) text_free(&job.list[which]);
    return status;
}
