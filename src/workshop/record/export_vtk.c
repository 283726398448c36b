/// Frames as VTK XML: grains_NNNNNN.vtp (vertices), contacts_NNNNNN.vtp (lines) and
/// walls_NNNNNN.vtp (lines and polygons) as PolyData, solids_NNNNNN.vtu (polygons or polyhedra) as
/// an unstructured grid, grains.pvd, ... that give their times, and a script that shows them all.
///
/// Arrays stand in the XML in base64, each behind its size in 64 bits. Appended as raw binary they
/// would be a quarter smaller, but appended data cannot be read any more by VTK before 9.3.1
/// (ParaView 5.11 of Debian 12) with an expat that puts off parsing (2.6, and Debian's
/// 2.5.0-1+deb12u2). All fields of the frame are written, whatever they are. What is written of a
/// table is decided in vtk_table.c.
#include "base/error.h"
#include "record/export.h"
#include "record/files.h"
#include "record/vtk_table.h"

#include <stdlib.h>
#include <string.h>

static void add_array(text_buffer* xml, const char* name, column_type type, int64_t rows, int width,
                      const void* data)
{
    static const char* const types[] = {[COLUMN_F64] = "Float64",
                                        [COLUMN_I64] = "Int64",
                                        [COLUMN_I32] = "Int32",
                                        [COLUMN_U8] = "UInt8"};
    column probe = {.type = type};
    uint64_t bytes = column_element_size(&probe) * (uint64_t)width * (uint64_t)rows;
    text_add(xml, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">",
             types[type], name, width);
    text_buffer sized = {0};
    text_append(&sized, &bytes, sizeof bytes);
    text_append(&sized, data, (size_t)bytes);
    if (sized.failed)
        xml->failed = true;
    else
        text_add_base64(xml, sized.data, sized.size);
    text_free(&sized);
    text_add(xml, "</DataArray>\n");
}

/// Corners of cells [first, last) and where each of them ends.
static bool add_cells(text_buffer* xml, const char* tag, const vtk_table* table, int64_t first,
                      int64_t last)
{
    const int64_t start = table->offset[first], count = table->offset[last] - start;
    int64_t* end = malloc(sizeof *end * (size_t)(last - first + 1));
    if (!end) return false;
    for (int64_t i = first; i < last; i++) end[i - first] = table->offset[i + 1] - start;
    text_add(xml, "<%s>\n", tag);
    add_array(xml, "connectivity", COLUMN_I64, count, 1, table->corner + start);
    add_array(xml, "offsets", COLUMN_I64, last - first, 1, end);
    free(end);
    return true;
}

/// The faces as VTK XML has them: for each polyhedron its number of faces, and for each of these
/// the number of its corners and the corners; and where each polyhedron ends.
static bool add_faces(text_buffer* xml, const vtk_table* table)
{
    const size_t size = (size_t)(table->cells + table->faces + table->face_offset[table->faces]);
    int64_t* stream = malloc(sizeof *stream * (size + 1));
    int64_t* end = malloc(sizeof *end * (size_t)(table->cells + 1));
    int64_t used = 0;
    for (int64_t i = 0; stream && end && i < table->cells; i++) {
        stream[used++] = table->face_first[i + 1] - table->face_first[i];
        for (int64_t f = table->face_first[i]; f < table->face_first[i + 1]; f++) {
            stream[used++] = table->face_offset[f + 1] - table->face_offset[f];
            for (int64_t c = table->face_offset[f]; c < table->face_offset[f + 1]; c++) {
                stream[used++] = table->face_corner[c];
            }
        }
        end[i] = used;
    }
    bool good = stream && end;
    if (good) {
        add_array(xml, "faces", COLUMN_I64, used, 1, stream);
        add_array(xml, "faceoffsets", COLUMN_I64, table->cells, 1, end);
    }
    free(stream);
    free(end);
    return good;
}

/// First cell of a type of at least `type`.
static int64_t first_of_type(const vtk_table* table, int type)
{
    int64_t i = 0;
    while (i < table->cells && table->type[i] < type) i++;
    return i;
}

static talus_status write_table(const char* path, const vtk_table* table, bool grid,
                                talus_error* error)
{
    static const char* const tags[3] = {"Verts", "Lines", "Polys"};
    text_buffer xml = {0};
    const char* type = grid ? "UnstructuredGrid" : "PolyData";
    const char* place = table->at_points ? "PointData" : "CellData";
    const int64_t lines = first_of_type(table, VTK_POLY_LINE);
    const int64_t polys = first_of_type(table, VTK_POLYGON);
    text_add(&xml,
             "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" "
             "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<%s>\n",
             type, type);
    if (grid) {
        text_add(&xml, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                 (long long)table->points, (long long)table->cells);
    } else {
        text_add(&xml,
                 "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"%lld\" "
                 "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n",
                 (long long)table->points, (long long)lines, (long long)(polys - lines),
                 (long long)(table->cells - polys));
    }
    text_add(&xml, "<Points>\n");
    add_array(&xml, "Points", COLUMN_F64, table->points, 3, table->point);
    text_add(&xml, "</Points>\n");
    bool good = true;
    if (grid) {
        good = add_cells(&xml, "Cells", table, 0, table->cells);
        add_array(&xml, "types", COLUMN_U8, table->cells, 1, table->type);
        if (table->face_first) good = good && add_faces(&xml, table);
        text_add(&xml, "</Cells>\n");
    } else {
        const int64_t start[4] = {0, lines, polys, table->cells};
        for (int k = 0; k < 3; k++) {
            good = good && add_cells(&xml, tags[k], table, start[k], start[k + 1]);
            text_add(&xml, "</%s>\n", tags[k]);
        }
    }
    text_add(&xml, "<%s>\n", place);
    for (int i = 0; i < table->field_count; i++) {
        const frame_field* field = &table->field[i];
        add_array(&xml, field->name, field->type, field->rows, field->width, field->data);
    }
    text_add(&xml, "</%s>\n</Piece>\n</%s>\n</VTKFile>\n", place, type);
    good = good && !xml.failed;
    talus_status status =
        good ? files_replace(path, xml.data, xml.size, false, error) : error_memory(error, path);
    text_free(&xml);
    return status;
}

// ---- all frames --------------------------------------------------------------------------------

/// Write one table of frame `i` and add its file to the list.
static talus_status export_table(vtk_kind kind, const shapes* all, const frame_data* d, int64_t i,
                                 const char* folder, text_buffer* list, talus_error* error)
{
    const bool grid = kind == VTK_SOLIDS;
    char* name =
        files_text("%s_%06lld.%s", vtk_kind_name(kind), (long long)i, grid ? "vtu" : "vtp");
    char* path = name ? files_text("%s/%s", folder, name) : NULL;
    vtk_table table = {0};
    talus_status status =
        path ? vtk_table_make(kind, all, d, &table, error) : error_memory(error, "a file name");
    if (status == TALUS_OK) status = write_table(path, &table, grid, error);
    if (status == TALUS_OK) {
        text_add(list, "<DataSet timestep=\"%.17g\" file=\"%s\"/>\n", d->time, name);
    }
    vtk_table_free(&table);
    free(path);
    free(name);
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

talus_status export_vtk(frame_reader* reader, const shapes* all, const char* folder,
                        talus_error* error)
{
    text_buffer list[VTK_KINDS] = {{0}}; // of the files written
    talus_status status = TALUS_OK;
    for (int64_t i = 0; status == TALUS_OK && i < reader->count; i++) {
        frame_data data;
        status = frame_read(reader, i, FRAME_FIELDS, &data, error);
        if (status != TALUS_OK) break;
        for (vtk_kind kind = 0; status == TALUS_OK && kind < VTK_KINDS; kind++) {
            if (!vtk_table_is_wanted(kind, all, &data)) continue;
            status = export_table(kind, all, &data, i, folder, &list[kind], error);
        }
        frame_data_free(&data);
    }
    // Grains and contacts get their collection in any case.
    for (vtk_kind kind = 0; kind < VTK_KINDS; kind++) {
        if (status == TALUS_OK && (kind < VTK_SOLIDS || list[kind].size > 0)) {
            status = save_collection(folder, vtk_kind_name(kind), &list[kind], error);
        }
        text_free(&list[kind]);
    }
    return status == TALUS_OK ? export_paraview_script(folder, error) : status;
}
