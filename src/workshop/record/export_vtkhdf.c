/// Frames as one temporal VTKHDF file, after version 2.5 of its specification
/// (docs.vtk.org, "VTKHDF format specification").
///
/// The file is a PartitionedDataSetCollection with a block for each table: /VTKHDF/grains,
/// contacts, solids, walls. A block is an unstructured grid of one part a step. Its arrays hold the
/// steps one after the other; Steps/*Offsets say where each of them begins. Polyhedra have faces
/// (FaceOffsets, FaceConnectivity) of their own (PolyhedronOffsets, PolyhedronToFaces). What is
/// written of a table is decided in vtk_table.c.
#include "base/error.h"
#include "record/export.h"
#include "record/files.h"
#include "record/vtk_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROOM_FOR_CHUNKS = 1 << 23, ///< last chunks of all arrays, each written once more when it grows
    NAME_SIZE = 64,
};

/// What is counted for each step.
typedef enum count_kind { POINTS, CELLS, CORNERS, FACES, FACE_CORNERS, COUNTS } count_kind;

typedef struct block {
    hid_t group; ///< -1: there is none
    bool polyhedra;
    int64_t steps, rows; ///< rows of fields so far
    int64_t sum[COUNTS];
    text_buffer count[COUNTS]; ///< int64_t [steps]
} block;

typedef struct export_job {
    frame_reader* reader;
    const shapes* shapes;
    const char* path; ///< of the file in the making
    hid_t file, root;
    int32_t blocks;
    block block[VTK_KINDS];
} export_job;

/// A group that keeps the order in which things were put into it, as blocks and assemblies must.
static hid_t create_group(hid_t parent, const char* name)
{
    hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Pclose(list);
    return group;
}

static bool create_child(hid_t parent, const char* name)
{
    hid_t group = create_group(parent, name);
    return group >= 0 && H5Gclose(group) >= 0;
}

static bool put_head(hid_t group, const char* type)
{
    static const int64_t version[2] = {2, 5};
    return h5_put_numbers(group, "Version", COLUMN_I64, 2, version) &&
           h5_put_ascii(group, "Type", type);
}

/// Make the group of a block, and the node of the assembly that has it.
static bool create_block(export_job* job, vtk_kind kind)
{
    const char* name = vtk_kind_name(kind);
    block* b = &job->block[kind];
    b->polyhedra = kind == VTK_SOLIDS && job->shapes->dim == 3;
    b->group = create_group(job->root, name);
    char node[NAME_SIZE], link[NAME_SIZE], target[NAME_SIZE];
    snprintf(node, sizeof node, "Assembly/%s", name);
    snprintf(link, sizeof link, "Assembly/%s/%s", name, name);
    snprintf(target, sizeof target, "/VTKHDF/%s", name);
    return b->group >= 0 && put_head(b->group, "UnstructuredGrid") &&
           h5_put_numbers(b->group, "Index", COLUMN_I32, 1, &job->blocks) && ++job->blocks > 0 &&
           create_child(b->group, "PointData") && create_child(b->group, "CellData") &&
           create_child(b->group, "FieldData") && create_child(job->root, node) &&
           H5Lcreate_soft(target, job->root, link, H5P_DEFAULT, H5P_DEFAULT) >= 0;
}

// ---- a step of a block -------------------------------------------------------------------------

static bool append_faces(block* b, const vtk_table* table)
{
    int64_t* index = malloc(sizeof *index * (size_t)(table->faces + 1));
    if (!index) return false;
    for (int64_t i = 0; i < table->faces; i++) index[i] = i; // no face belongs to two polyhedra
    bool good = h5_append(b->group, "FaceConnectivity", COLUMN_I64, b->sum[FACE_CORNERS],
                          table->face_offset[table->faces], 1, table->face_corner) &&
                h5_append(b->group, "FaceOffsets", COLUMN_I64, b->sum[FACES] + b->steps,
                          table->faces + 1, 1, table->face_offset) &&
                h5_append(b->group, "PolyhedronToFaces", COLUMN_I64, b->sum[FACES], table->faces, 1,
                          index) &&
                h5_append(b->group, "PolyhedronOffsets", COLUMN_I64, b->sum[CELLS] + b->steps,
                          table->cells + 1, 1, table->face_first);
    free(index);
    return good;
}

static bool append_step(block* b, const vtk_table* table)
{
    const int64_t cells = table->cells, corners = table->offset[cells];
    bool good =
        h5_append(b->group, "Points", COLUMN_F64, b->sum[POINTS], table->points, 3, table->point) &&
        h5_append(b->group, "Connectivity", COLUMN_I64, b->sum[CORNERS], corners, 1,
                  table->corner) &&
        h5_append(b->group, "Offsets", COLUMN_I64, b->sum[CELLS] + b->steps, cells + 1, 1,
                  table->offset) &&
        h5_append(b->group, "Types", COLUMN_U8, b->sum[CELLS], cells, 1, table->type) &&
        (!b->polyhedra || append_faces(b, table));
    for (int i = 0; good && i < table->field_count; i++) {
        const frame_field* f = &table->field[i];
        char name[sizeof f->name + NAME_SIZE];
        snprintf(name, sizeof name, "%s/%s", table->at_points ? "PointData" : "CellData", f->name);
        good = h5_append(b->group, name, f->type, b->rows, f->rows, f->width, f->data);
    }
    const int64_t counts[COUNTS] = {
        [POINTS] = table->points,
        [CELLS] = cells,
        [CORNERS] = corners,
        [FACES] = table->faces,
        [FACE_CORNERS] = table->faces > 0 ? table->face_offset[table->faces] : 0,
    };
    for (int k = 0; k < COUNTS; k++) {
        if (!text_append(&b->count[k], &counts[k], sizeof counts[k])) return false;
        b->sum[k] += counts[k];
    }
    b->rows += table->at_points ? table->points : cells;
    b->steps++;
    return good;
}

/// Steps without anything, for frames in which the table was not recorded: all blocks have the same
/// steps.
static bool fill_steps(block* b, int64_t steps)
{
    int64_t zero = 0;
    const vtk_table none = {.offset = &zero, .face_first = &zero, .face_offset = &zero};
    bool good = true;
    while (good && b->steps < steps) good = append_step(b, &none);
    return good;
}

static talus_status export_table(export_job* job, const frame_data* d, vtk_kind kind, int64_t frame,
                                 talus_error* error)
{
    vtk_table table = {0};
    block* b = &job->block[kind];
    talus_status status = vtk_table_make(kind, job->shapes, d, &table, error);
    if (status == TALUS_OK) {
        int64_t bytes = h5_size(job->file) + ROOM_FOR_CHUNKS;
        bytes += table.points * 24 + table.cells * 25 + table.faces * 16;
        bytes += 8 * (table.offset[table.cells] +
                      (table.faces > 0 ? table.face_offset[table.faces] : 0));
        for (int i = 0; i < table.field_count; i++) {
            const frame_field* f = &table.field[i];
            bytes += f->rows * f->width * (int64_t)frame_element_size(f);
        }
        status = files_reserve(job->path, bytes, error);
    }
    if (status == TALUS_OK) {
        bool good = b->group >= 0 || create_block(job, kind);
        good = good && fill_steps(b, frame) && append_step(b, &table);
        if (!good) status = h5_error(error, TALUS_ERR_IO, "cannot write", job->path);
    }
    vtk_table_free(&table);
    return status;
}

// ---- what is known at the end ------------------------------------------------------------------

/// A number for each step, and the sum of those before it as `offsets` of the group of steps.
static bool put_count(hid_t group, hid_t steps_group, const block* b, count_kind kind,
                      const char* counts, const char* offsets)
{
    const int64_t* count = (const int64_t*)(const void*)b->count[kind].data;
    int64_t* before = malloc(sizeof *before * (size_t)(b->steps + 1));
    if (!before) return false;
    before[0] = 0;
    for (int64_t i = 0; i < b->steps; i++) before[i + 1] = before[i] + count[i];
    bool good =
        h5_write(group, counts, COLUMN_I64, b->steps, 1, count, false) &&
        (!offsets || h5_write(steps_group, offsets, COLUMN_I64, b->steps, 1, before, false));
    free(before);
    return good;
}

/// Fields that the last frames lack get their zeros.
static bool extend_fields(const block* b)
{
    static const char* const places[2] = {"PointData", "CellData"};
    bool good = true;
    for (int k = 0; good && k < 2; k++) {
        hid_t group = H5Gopen2(b->group, places[k], H5P_DEFAULT);
        H5G_info_t facts = {0};
        good = group >= 0 && H5Gget_info(group, &facts) >= 0;
        for (hsize_t i = 0; good && i < facts.nlinks; i++) {
            hid_t set = H5Oopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
            hid_t space = H5Dget_space(set);
            hsize_t dims[2] = {0};
            good = H5Sget_simple_extent_dims(space, dims, NULL) >= 0;
            dims[0] = (hsize_t)b->rows;
            good = good && H5Dset_extent(set, dims) >= 0;
            H5Sclose(space);
            H5Dclose(set);
        }
        if (group >= 0) H5Gclose(group);
    }
    return good;
}

static bool finish_block(const export_job* job, block* b)
{
    const int64_t steps = job->reader->count;
    if (!fill_steps(b, steps) || !extend_fields(b)) return false;
    int64_t* part = malloc(2 * sizeof *part * (size_t)(steps + 1));
    for (int64_t i = 0; part && i < steps; i++) { // every step is one part
        part[i] = i;
        part[steps + i] = 1;
    }
    hid_t group = create_group(b->group, "Steps");
    bool good =
        group >= 0 && h5_put_numbers(group, "NSteps", COLUMN_I64, 1, &steps) &&
        h5_write(group, "Values", COLUMN_F64, steps, 1, job->reader->time, false) && part &&
        h5_write(group, "PartOffsets", COLUMN_I64, steps, 1, part, false) &&
        h5_write(group, "NumberOfParts", COLUMN_I64, steps, 1, part + steps, false) &&
        put_count(b->group, group, b, POINTS, "NumberOfPoints", "PointOffsets") &&
        put_count(b->group, group, b, CELLS, "NumberOfCells", "CellOffsets") &&
        put_count(b->group, group, b, CORNERS, "NumberOfConnectivityIds", "ConnectivityIdOffsets");
    if (good && b->polyhedra) {
        good = put_count(b->group, group, b, FACES, "NumberOfFaces", "FaceOffsetsOffsets") &&
               put_count(b->group, group, b, FACE_CORNERS, "NumberOfFaceConnectivityIds",
                         "FaceConnectivityOffsets") &&
               h5_write(b->group, "NumberOfPolyhedronToFaceIds", COLUMN_I64, steps, 1,
                        b->count[FACES].data, false) &&
               H5Ocopy(group, "FaceOffsetsOffsets", group, "PolyhedronToFaceIdOffsets", H5P_DEFAULT,
                       H5P_DEFAULT) >= 0;
    }
    if (group >= 0) H5Gclose(group);
    free(part);
    return good;
}

// ---- all frames --------------------------------------------------------------------------------

static talus_status fill_file(export_job* job, talus_error* error)
{
    job->root = create_group(job->file, "VTKHDF");
    if (job->root < 0 || !put_head(job->root, "PartitionedDataSetCollection") ||
        !create_child(job->root, "Assembly")) {
        return h5_error(error, TALUS_ERR_IO, "cannot begin", job->path);
    }
    const int64_t steps = job->reader->count;
    for (int64_t i = 0; i < steps; i++) {
        frame_data data;
        TRY(frame_read(job->reader, i, FRAME_FIELDS, &data, error));
        talus_status status = TALUS_OK;
        for (vtk_kind kind = 0; kind < VTK_KINDS && status == TALUS_OK; kind++) {
            if (!vtk_table_is_wanted(kind, job->shapes, &data)) continue;
            status = export_table(job, &data, kind, i, error);
        }
        frame_data_free(&data);
        TRY(status);
    }
    TRY(files_reserve(job->path, h5_size(job->file) + ROOM_FOR_CHUNKS + 1024 * steps, error));
    for (int k = 0; k < VTK_KINDS; k++) {
        block* b = &job->block[k];
        if (b->group >= 0 && !finish_block(job, b)) {
            return h5_error(error, TALUS_ERR_IO, "cannot finish", job->path);
        }
    }
    return TALUS_OK;
}

/// Close all, and cut off space that was reserved and not used.
static talus_status close_file(export_job* job, talus_status status, talus_error* error)
{
    for (int k = 0; k < VTK_KINDS; k++) {
        block* b = &job->block[k];
        if (b->group >= 0) H5Gclose(b->group);
        for (int c = 0; c < COUNTS; c++) text_free(&b->count[c]);
    }
    if (job->root >= 0) H5Gclose(job->root);
    if (H5Fflush(job->file, H5F_SCOPE_GLOBAL) < 0 && status == TALUS_OK)
        status = h5_error(error, TALUS_ERR_IO, "cannot finish", job->path);
    const int64_t size = h5_size(job->file);
    if (H5Fclose(job->file) < 0 && status == TALUS_OK) {
        return h5_error(error, TALUS_ERR_IO, "cannot finish", job->path);
    }
    if (status == TALUS_OK && truncate(job->path, (off_t)size) != 0) {
        return files_error(error, "shorten", job->path);
    }
    return status;
}

talus_status export_vtkhdf(frame_reader* reader, const shapes* all, const char* path,
                           talus_error* error)
{
    export_job job = {.reader = reader, .shapes = all, .path = path, .file = -1, .root = -1};
    for (int k = 0; k < VTK_KINDS; k++) job.block[k].group = -1;
    if (reader->count == 0) {
        return error_set(error, TALUS_ERR_FORMAT, "%s has no frames", reader->path);
    }
    // A small file first, with a message that says why it cannot be made.
    TRY(files_write(path, NULL, 0, "", 0, false, error));
    hid_t access = h5_access();
    job.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (job.file < 0) return h5_error(error, TALUS_ERR_IO, "cannot create", path);
    talus_status status = files_reserve(path, ROOM_FOR_CHUNKS, error);
    if (status == TALUS_OK) status = fill_file(&job, error);
    return close_file(&job, status, error);
}
