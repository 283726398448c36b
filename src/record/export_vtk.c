/// Frames as VTK XML PolyData: grains_NNNNNN.vtp (vertices), contacts_NNNNNN.vtp (lines), and
/// grains.pvd and contacts.pvd that give their times.
///
/// Arrays are appended as raw binary with 64-bit sizes. Plane vectors get a third component 0, so
/// that glyphs and arrows work. All fields of the frame are written, whatever they are.
#include "base/error.h"
#include "record/files.h"
#include "record/frame_read.h"
#include "record/frames.h"

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
    text_add(&v.xml,
             "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
             "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n<Piece "
             "NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"%lld\" "
             "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<Points>\n",
             (long long)position->rows, (long long)(verts ? t->count : 0),
             (long long)(verts ? 0 : t->count));
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

static talus_status export_frame(const frame_data* d, const char* folder, int64_t i,
                                 text_buffer* grains, text_buffer* contacts, talus_error* error)
{
    char* path = files_text("%s/grains_%06lld.vtp", folder, (long long)i);
    if (!path) return error_memory(error, "a file name");
    talus_status status = write_table(path, &d->grains, "Verts", 1, "position", "PointData", error);
    text_add(grains, "<DataSet timestep=\"%.17g\" file=\"grains_%06lld.vtp\"/>\n", d->time,
             (long long)i);
    free(path);
    if (status != TALUS_OK || d->contacts.count < 0) return status;

    path = files_text("%s/contacts_%06lld.vtp", folder, (long long)i);
    if (!path) return error_memory(error, "a file name");
    status = write_table(path, &d->contacts, "Lines", 2, FRAMES_SEGMENT, "CellData", error);
    text_add(contacts, "<DataSet timestep=\"%.17g\" file=\"contacts_%06lld.vtp\"/>\n", d->time,
             (long long)i);
    free(path);
    return status;
}

static talus_status save_collection(const char* folder, const char* name, text_buffer* list,
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

talus_status talus_export_vtk(const char* directory, const char* out_directory, talus_error* error)
{
    frame_reader reader;
    text_buffer grains = {0}, contacts = {0};
    h5_quiet quiet = h5_silence();
    talus_status status = frame_reader_open(directory, &reader, error);
    if (status == TALUS_OK) status = files_make_folder(out_directory, error);
    for (int64_t i = 0; status == TALUS_OK && i < reader.count; i++) {
        frame_data data;
        status = frame_read(&reader, i, &data, error);
        if (status != TALUS_OK) break;
        status = export_frame(&data, out_directory, i, &grains, &contacts, error);
        frame_data_free(&data);
    }
    if (status == TALUS_OK) status = save_collection(out_directory, "grains", &grains, error);
    if (status == TALUS_OK) status = save_collection(out_directory, "contacts", &contacts, error);
    frame_reader_close(&reader);
    h5_loud(quiet);
    text_free(&grains);
    text_free(&contacts);
    return status;
}
