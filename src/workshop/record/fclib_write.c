/// Writing contact problems and solutions in the HDF5 layout of FCLIB.
///
/// A solution goes into a copy beside the file, which then takes its name: the file is never open
/// for writing. The copy is given its full length on disk first, since HDF5 1.10 cannot close a
/// file for which the disk is too full.
#include "base/error.h"
#include "record/fclib.h"
#include "record/files.h"
#include "record/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Room for the headers that HDF5 adds around new datasets.
enum { SLACK_BYTES = 1 << 16 };

static hid_t make_group(hid_t parent, const char* name)
{
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

// ---- solutions ---------------------------------------------------------------------------------

/// One dataset of the group `solution`, in place of an older one.
static bool put_vector(hid_t group, const char* name, int64_t count, const double* data)
{
    htri_t there = H5Lexists(group, name, H5P_DEFAULT);
    if (there < 0 || (there > 0 && H5Ldelete(group, name, H5P_DEFAULT) < 0)) return false;
    return h5_write(group, name, COLUMN_F64, count, 1, data, false);
}

/// Copy the bytes of `path` to a new file of a name like its own, with room for a solution.
/// *copy receives the name on the heap.
static talus_status make_copy(const char* path, int64_t more, char** copy, talus_error* error)
{
    unsigned char* data = NULL;
    size_t size = 0;
    struct stat facts;
    TRY(files_read(path, &data, &size, error));
    *copy = files_text("%s.talus-XXXXXX", path);
    int file = *copy ? mkostemp(*copy, O_CLOEXEC) : -1;
    talus_status status = TALUS_OK;
    if (!*copy) {
        status = error_memory(error, "a file name");
    } else if (file < 0) {
        status = files_error(error, "write beside", path);
        free(*copy);
        *copy = NULL;
    } else {
        int reason = posix_fallocate(file, 0, (off_t)size + more);
        // A file system that cannot reserve room says EOPNOTSUPP or EINVAL: it must go without.
        bool good = reason == 0 || reason == EOPNOTSUPP || reason == EINVAL;
        if (!good) errno = reason;
        good = good && pwrite(file, data, size, 0) == (ssize_t)size && stat(path, &facts) == 0 &&
               fchmod(file, facts.st_mode & 07777) == 0;
        if (!good) status = files_error(error, "write", *copy);
    }
    if (file >= 0) close(file);
    free(data);
    return status;
}

static talus_status put_solution(const char* copy, const fclib_problem* p, const double* r,
                                 const double* u, const double* v, talus_error* error)
{
    hid_t access = h5_access();
    hid_t file = H5Fopen(copy, H5F_ACC_RDWR, access);
    H5Pclose(access);
    const int64_t size = p->reduced.count * p->reduced.width;
    const htri_t there = file >= 0 ? H5Lexists(file, "solution", H5P_DEFAULT) : -1;
    hid_t group = -1;
    if (there > 0) group = H5Gopen2(file, "solution", H5P_DEFAULT);
    if (there == 0) group = make_group(file, "solution");
    bool good = group >= 0 && put_vector(group, "r", size, r) && put_vector(group, "u", size, u) &&
                (!p->global || put_vector(group, "v", p->dofs, v));
    if (group >= 0) good = H5Gclose(group) >= 0 && good;
    good = good && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
    talus_status status = TALUS_OK;
    if (!good) status = h5_error(error, TALUS_ERR_IO, "HDF5 cannot write the solution to", copy);
    if (file >= 0 && H5Fclose(file) < 0 && good) {
        status = h5_error(error, TALUS_ERR_IO, "HDF5 cannot close", copy);
    }
    return status;
}

talus_status fclib_write_solution(const char* path, const fclib_problem* p, const double* r,
                                  const double* u, const double* v, talus_error* error)
{
    // Through a symbolic link: the file is replaced, the link stays.
    char* real = realpath(path, NULL);
    if (!real) return files_error(error, "find", path);
    if (access(real, W_OK) != 0) {
        talus_status denied = files_error(error, "write to", path);
        free(real);
        return denied;
    }
    h5_quiet before;
    h5_silence(&before);
    char* copy = NULL;
    int64_t more = (2 * p->reduced.count * p->reduced.width + p->dofs) * 8 + SLACK_BYTES;
    talus_status status = make_copy(real, more, &copy, error);
    if (status == TALUS_OK) status = put_solution(copy, p, r, u, v, error);
    if (status == TALUS_OK) { // wait for the disk, then give the copy the file's name
        int file = open(copy, O_RDONLY | O_CLOEXEC);
        if (file < 0 || fsync(file) != 0) status = files_error(error, "write", copy);
        if (file >= 0) close(file);
    }
    if (status == TALUS_OK) status = files_rename(copy, real, error);
    if (status != TALUS_OK && copy) unlink(copy);
    h5_loud(&before);
    free(copy);
    free(real);
    return status;
}

// ---- problems ----------------------------------------------------------------------------------

/// The entries of W that are not zero, as triplets: what every reader of FCLIB's files takes.
typedef struct triplets {
    int32_t *row, *column;
    double* value;
    int64_t count;
} triplets;

static talus_status list_triplets(const reduced_problem* p, triplets* t, talus_error* error)
{
    const int width = p->width;
    const size_t most = (size_t)p->first[p->count] * (size_t)(width * width);
    t->row = calloc(most + 1, sizeof *t->row);
    t->column = calloc(most + 1, sizeof *t->column);
    t->value = calloc(most + 1, sizeof *t->value);
    if (!t->row || !t->column || !t->value) return error_memory(error, "writing a contact problem");
    for (int32_t c = 0; c < p->count; c++) {
        for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
            for (int k = 0; k < width * width; k++) {
                double value = p->block[b * width * width + k];
                if (value == 0.0) continue;
                t->row[t->count] = c * width + k / width;
                t->column[t->count] = p->column[b] * width + k % width;
                t->value[t->count++] = value;
            }
        }
    }
    if (t->count <= INT32_MAX) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "a contact problem of %lld entries is too large for the layout of FCLIB",
                     (long long)t->count);
}

static bool put_integer(hid_t group, const char* name, int64_t value)
{
    int32_t number = (int32_t)value;
    return h5_write(group, name, COLUMN_I32, 1, 1, &number, false);
}

/// A text as H5LTmake_dataset_string() makes it: one element of fixed length.
static bool put_text(hid_t group, const char* name, const char* text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static bool put_problem(hid_t file, const reduced_problem* p, const triplets* t,
                        const fclib_info* info)
{
    const int64_t size = p->count * p->width;
    hid_t group = make_group(file, p->width == 5 ? "fclib_local_rolling" : "fclib_local");
    if (group < 0) return false;
    hid_t matrix = make_group(group, "W"), vectors = make_group(group, "vectors");
    hid_t texts = make_group(group, "info");
    bool good =
        matrix >= 0 && vectors >= 0 && texts >= 0 && put_integer(group, "spacedim", p->width) &&
        put_integer(matrix, "m", size) && put_integer(matrix, "n", size) &&
        put_integer(matrix, "nz", t->count) && put_integer(matrix, "nzmax", t->count) &&
        h5_write(matrix, "p", COLUMN_I32, t->count, 1, t->column, true) &&
        h5_write(matrix, "i", COLUMN_I32, t->count, 1, t->row, true) &&
        h5_write(matrix, "x", COLUMN_F64, t->count, 1, t->value, true) &&
        h5_write(vectors, "q", COLUMN_F64, size, 1, p->q, true) &&
        h5_write(vectors, "mu", COLUMN_F64, p->count, 1, p->mu, true) &&
        (p->width != 5 || h5_write(vectors, "mu_r", COLUMN_F64, p->count, 1, p->mu_r, true)) &&
        put_text(texts, "title", info->title) &&
        put_text(texts, "description", info->description) &&
        put_text(texts, "math_info", info->math_info);
    if (matrix >= 0) H5Gclose(matrix);
    if (vectors >= 0) H5Gclose(vectors);
    if (texts >= 0) H5Gclose(texts);
    H5Gclose(group);
    return good;
}

talus_status fclib_write_problem(const char* path, const reduced_problem* p, const fclib_info* info,
                                 talus_error* error)
{
    if (files_size(path) >= 0) {
        return error_set(error, TALUS_ERR_EXISTS, "%s is there already", path);
    }
    triplets t = {0};
    talus_status status = list_triplets(p, &t, error);
    if (status == TALUS_OK) {
        h5_quiet before;
        h5_silence(&before);
        hid_t file = h5_create(p, "fclib");
        void* image = NULL;
        size_t size = 0;
        if (file < 0 || !put_problem(file, p, &t, info)) {
            status = h5_error(error, TALUS_ERR_IO, "HDF5 cannot make", path);
        } else {
            status = h5_image(file, &image, &size, error);
        }
        if (file >= 0) H5Fclose(file);
        if (status == TALUS_OK) status = files_replace(path, image, size, true, error);
        free(image);
        h5_loud(&before);
    }
    free(t.row);
    free(t.column);
    free(t.value);
    return status;
}
