/// Frames as VTK XML: grains_NNNNNN.vtp (vertices), contacts_NNNNNN.vtp (lines) and
/// walls_NNNNNN.vtp (lines and polygons) as PolyData, solids_NNNNNN.vtu (polygons or polyhedra) as
/// an unstructured grid, and grains.pvd, ... that give their times.
///
/// Arrays are appended as raw binary with 64-bit sizes. All fields of the frame are written,
/// whatever they are. What is written of a table is decided in piece.c.
#include "base/error.h"
#include "record/files.h"
#include "record/vtk_table.h"

#include <stdlib.h>
#include <string.h>
#include <talus/exchange.h>

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
typedef struct vtk_file {
    text_buffer xml, data;
} vtk_file;

static void add_array(vtk_file* v, const char* name, column_type type, int64_t rows, int width,
                      const void* data)
{
    column probe = {.type = type};
    uint64_t bytes = column_element_size(&probe) * (uint64_t)width * (uint64_t)rows;
    text_add(&v->xml,
             "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
             "offset=\"%zu\"/>\n",
             vtk_type(type), name, width, v->data.size);
    char* room = text_room(&v->data, sizeof bytes + (size_t)bytes);
    if (!room) return;
    memcpy(room, &bytes, sizeof bytes);
    if (bytes) memcpy(room + sizeof bytes, data, (size_t)bytes);
    v->data.size += sizeof bytes + (size_t)bytes;
}

/// Corners of cells [first, last) and where each of them ends.
static bool add_cells(vtk_file* v, const char* tag, const piece* p, int64_t first, int64_t last)
{
    const int64_t start = p->offset[first], count = p->offset[last] - start;
    int64_t* end = malloc(sizeof *end * (size_t)(last - first + 1));
    if (!end) return false;
    for (int64_t i = first; i < last; i++) end[i - first] = p->offset[i + 1] - start;
    text_add(&v->xml, "<%s>\n", tag);
    add_array(v, "connectivity", COLUMN_I64, count, 1, p->corner + start);
    add_array(v, "offsets", COLUMN_I64, last - first, 1, end);
    free(end);
    return true;
}

/// The faces as VTK XML has them: for each polyhedron its number of faces, and for each of these
/// the number of its corners and the corners; and where each polyhedron ends.
static bool add_faces(vtk_file* v, const piece* p)
{
    const size_t size = (size_t)(p->cells + p->faces + p->face_offset[p->faces]);
    int64_t* stream = malloc(sizeof *stream * (size + 1));
    int64_t* end = malloc(sizeof *end * (size_t)(p->cells + 1));
    int64_t used = 0;
    for (int64_t i = 0; stream && end && i < p->cells; i++) {
        stream[used++] = p->face_first[i + 1] - p->face_first[i];
        for (int64_t f = p->face_first[i]; f < p->face_first[i + 1]; f++) {
            stream[used++] = p->face_offset[f + 1] - p->face_offset[f];
            for (int64_t c = p->face_offset[f]; c < p->face_offset[f + 1]; c++) {
                stream[used++] = p->face_corner[c];
            }
        }
        end[i] = used;
    }
    bool good = stream && end;
    if (good) {
        add_array(v, "faces", COLUMN_I64, used, 1, stream);
        add_array(v, "faceoffsets", COLUMN_I64, p->cells, 1, end);
    }
    free(stream);
    free(end);
    return good;
}

static bool add_grid(vtk_file* v, const piece* p)
{
    bool good = add_cells(v, "Cells", p, 0, p->cells);
    add_array(v, "types", COLUMN_U8, p->cells, 1, p->type);
    if (p->face_first) good = good && add_faces(v, p);
    text_add(&v->xml, "</Cells>\n");
    return good;
}

/// First cell of a type of at least `type`.
static int64_t first_of_type(const piece* p, int type)
{
    int64_t i = 0;
    while (i < p->cells && p->type[i] < type) i++;
    return i;
}

static void begin_poly_data(vtk_file* v, const piece* p)
{
    const int64_t lines = first_of_type(p, VTK_POLY_LINE), polys = first_of_type(p, VTK_POLYGON);
    text_add(&v->xml,
             "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"%lld\" "
             "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n",
             (long long)p->points, (long long)lines, (long long)(polys - lines),
             (long long)(p->cells - polys));
}

static bool add_poly_data(vtk_file* v, const piece* p)
{
    static const char* const tags[3] = {"Verts", "Lines", "Polys"};
    const int64_t start[4] = {0, first_of_type(p, VTK_POLY_LINE), first_of_type(p, VTK_POLYGON),
                              p->cells};
    bool good = true;
    for (int k = 0; k < 3; k++) {
        good = good && add_cells(v, tags[k], p, start[k], start[k + 1]);
        text_add(&v->xml, "</%s>\n", tags[k]);
    }
    return good;
}

static talus_status save(vtk_file* v, const char* type, const char* path, talus_error* error)
{
    text_add(&v->xml, "</Piece>\n</%s>\n<AppendedData encoding=\"raw\">\n_", type);
    size_t size = v->data.size;
    char* room = text_room(&v->xml, size + 64);
    if (!room || v->data.failed) return error_memory(error, path);
    if (size) memcpy(room, v->data.data, size);
    v->xml.size += size;
    text_add(&v->xml, "\n</AppendedData>\n</VTKFile>\n");
    return files_replace(path, v->xml.data, v->xml.size, false, error);
}

static talus_status write_piece(const char* path, const piece* p, bool grid, talus_error* error)
{
    vtk_file v = {0};
    const char* type = grid ? "UnstructuredGrid" : "PolyData";
    const char* place = p->at_points ? "PointData" : "CellData";
    text_add(&v.xml,
             "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" "
             "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<%s>\n",
             type, type);
    if (grid) {
        text_add(&v.xml, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                 (long long)p->points, (long long)p->cells);
    } else {
        begin_poly_data(&v, p);
    }
    text_add(&v.xml, "<Points>\n");
    add_array(&v, "Points", COLUMN_F64, p->points, 3, p->point);
    text_add(&v.xml, "</Points>\n");
    bool good = grid ? add_grid(&v, p) : add_poly_data(&v, p);
    text_add(&v.xml, "<%s>\n", place);
    for (int i = 0; i < p->field_count; i++) {
        const frame_field* field = &p->field[i];
        add_array(&v, field->name, field->type, field->rows, field->width, field->data);
    }
    text_add(&v.xml, "</%s>\n", place);
    talus_status status = good ? save(&v, type, path, error) : error_memory(error, path);
    text_free(&v.xml);
    text_free(&v.data);
    return status;
}

// ---- all frames --------------------------------------------------------------------------------

typedef struct export_job {
    frame_reader reader;
    const char* folder;
    shapes shapes;
    text_buffer list[PIECE_KINDS]; ///< of the files written
} export_job;

static talus_status export_piece(export_job* job, const frame_data* d, piece_kind kind, int64_t i,
                                 talus_error* error)
{
    const bool grid = kind == PIECE_SOLIDS;
    char* name = files_text("%s_%06lld.%s", piece_name(kind), (long long)i, grid ? "vtu" : "vtp");
    char* path = name ? files_text("%s/%s", job->folder, name) : NULL;
    piece p = {0};
    talus_status status =
        path ? piece_make(kind, &job->shapes, d, &p, error) : error_memory(error, "a file name");
    if (status == TALUS_OK) status = write_piece(path, &p, grid, error);
    if (status == TALUS_OK) {
        text_add(&job->list[kind], "<DataSet timestep=\"%.17g\" file=\"%s\"/>\n", d->time, name);
    }
    piece_free(&p);
    free(path);
    free(name);
    return status;
}

static talus_status export_frame(export_job* job, const frame_data* d, int64_t i,
                                 talus_error* error)
{
    for (piece_kind kind = 0; kind < PIECE_KINDS; kind++) {
        if (piece_is_wanted(kind, &job->shapes, d)) TRY(export_piece(job, d, kind, i, error));
    }
    return TALUS_OK;
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
    // Grains and contacts get their collection in any case.
    for (piece_kind kind = 0; kind < PIECE_KINDS; kind++) {
        if (kind >= PIECE_SOLIDS && job->list[kind].size == 0) continue;
        TRY(save_collection(job->folder, piece_name(kind), &job->list[kind], error));
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
    for (int kind = 0; kind < PIECE_KINDS; kind++) text_free(&job.list[kind]);
    return status;
}
