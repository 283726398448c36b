/// Recorded frames in the formats of other programs. A single file is written under another name
/// and appears when it is whole.
#include "record/export.h"

#include "base/error.h"
#include "record/files.h"

#include <stdlib.h>
#include <talus/exchange.h>
#include <unistd.h>

typedef struct export_kind {
    export_writer* write;
    bool folder; ///< the result is one, not a single file
    bool shapes; ///< the grains' shapes go to OBJ files beside it
} export_kind;

static const export_kind kinds[] = {
    [TALUS_EXPORT_VTK] = {.write = export_vtk, .folder = true},
    [TALUS_EXPORT_VTKHDF] = {.write = export_vtkhdf},
    [TALUS_EXPORT_GSD] = {.write = export_gsd},
    [TALUS_EXPORT_LAMMPS] = {.write = export_lammps, .shapes = true},
};

static talus_status export_with(const export_kind* kind, frame_reader* reader, const shapes* all,
                                const char* out, talus_error* error)
{
    if (kind->folder) {
        TRY(files_make_folder(out, error));
        return kind->write(reader, all, out, error);
    }
    char* temporary = files_text("%s.tmp", out);
    char* folder = files_text("%s.shapes", out);
    talus_status status = TALUS_OK;
    if (!temporary || !folder) {
        status = error_memory(error, "a file name");
    } else {
        status = kind->write(reader, all, temporary, error);
        if (status == TALUS_OK) status = files_rename(temporary, out, error);
        if (status != TALUS_OK) unlink(temporary);
        if (status == TALUS_OK && kind->shapes) status = export_obj(all, folder, error);
    }
    free(temporary);
    free(folder);
    return status;
}

talus_status talus_export(const char* directory, const char* out, talus_export_format format,
                          talus_error* error)
{
    if ((size_t)format >= sizeof kinds / sizeof *kinds) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there is no format %d of exports",
                         (int)format);
    }
    frame_reader reader;
    shapes all = {0};
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = frame_reader_open(directory, &reader, error);
    if (status == TALUS_OK) {
        status = shapes_read(reader.file, reader.path, reader.dim, &all, error);
    }
    if (status == TALUS_OK) status = export_with(&kinds[format], &reader, &all, out, error);
    shapes_free(&all);
    frame_reader_close(&reader);
    h5_loud(&quiet);
    return status;
}
