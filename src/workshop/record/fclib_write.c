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
    // Wait for the disk, then give the copy the file's name.
    if (status == TALUS_OK) status = files_sync(copy, error);
    if (status == TALUS_OK) status = files_rename(copy, real, error);
    if (status != TALUS_OK && copy) unlink(copy);
    h5_loud(&before);
    free(copy);
    free(real);
    return status;
}

// ---- problems ----------------------------------------------------------------------------------

/// The entries of a matrix that are not zero, as triplets: what every reader of FCLIB's files
/// takes.
typedef struct triplets {
    int64_t rows, columns, count;
    int32_t *row, *column;
    double* value;
} triplets;

static bool triplets_begin(triplets* t, int64_t rows, int64_t columns, int64_t most)
{
    *t = (triplets){.rows = rows, .columns = columns};
    t->row = calloc((size_t)most + 1, sizeof *t->row);
    t->column = calloc((size_t)most + 1, sizeof *t->column);
    t->value = calloc((size_t)most + 1, sizeof *t->value);
    return t->row && t->column && t->value;
}

static void triplets_free(triplets* t)
{
    free(t->row);
    free(t->column);
    free(t->value);
}

static void triplets_add(triplets* t, int64_t i, int64_t j, double value)
{
    if (value == 0.0) return;
    t->row[t->count] = (int32_t)i;
    t->column[t->count] = (int32_t)j;
    t->value[t->count++] = value;
}

static bool list_w(const reduced_problem* p, triplets* t)
{
    const int64_t w = p->width, size = p->count * w;
    if (!triplets_begin(t, size, size, p->first[p->count] * w * w)) return false;
    for (int64_t c = 0; c < p->count; c++) {
        for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
            for (int64_t k = 0; k < w * w; k++) {
                triplets_add(t, c * w + k / w, p->column[b] * w + k % w, p->block[b * w * w + k]);
            }
        }
    }
    return true;
}

/// H of the bodies, in velocities times the root of the mass: M is 1.
static bool list_h(const reduced_problem* p, triplets* t)
{
    const reduced_bodies* bodies = &p->bodies;
    const int64_t size = p->count * p->width, n = bodies->width;
    if (!triplets_begin(t, bodies->count * n, size, 2 * size * n)) return false;
    for (int64_t k = 0; k < 2 * size * n; k++) {
        const int64_t row = k / (2 * n), side = k / n % 2,
                      body = bodies->of[2 * (row / p->width) + side];
        if (body >= 0) triplets_add(t, body * n + k % n, row, bodies->J[k]);
    }
    return true;
}

static bool list_one(int64_t size, triplets* t)
{
    if (!triplets_begin(t, size, size, size)) return false;
    for (int64_t k = 0; k < size; k++) triplets_add(t, k, k, 1.0);
    return true;
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

static bool put_matrix(hid_t group, const char* name, const triplets* t)
{
    hid_t matrix = make_group(group, name);
    const bool good = matrix >= 0 && put_integer(matrix, "m", t->rows) &&
                      put_integer(matrix, "n", t->columns) && put_integer(matrix, "nz", t->count) &&
                      put_integer(matrix, "nzmax", t->count) &&
                      h5_write(matrix, "p", COLUMN_I32, t->count, 1, t->column, true) &&
                      h5_write(matrix, "i", COLUMN_I32, t->count, 1, t->row, true) &&
                      h5_write(matrix, "x", COLUMN_F64, t->count, 1, t->value, true);
    if (matrix >= 0) H5Gclose(matrix);
    return good;
}

/// The matrices of a problem: W, and with bodies M and H.
typedef struct matrices {
    triplets w, m, h;
} matrices;

static bool put_vectors(hid_t group, const reduced_problem* p, bool global)
{
    const int64_t size = p->count * p->width, dofs = p->bodies.count * p->bodies.width;
    hid_t vectors = make_group(group, "vectors");
    double* f = calloc((size_t)dofs + 1, sizeof *f);
    const bool good =
        vectors >= 0 && f &&
        h5_write(vectors, global ? "w" : "q", COLUMN_F64, size, 1, p->q, true) &&
        h5_write(vectors, "mu", COLUMN_F64, p->count, 1, p->mu, true) &&
        (p->width != 5 || h5_write(vectors, "mu_r", COLUMN_F64, p->count, 1, p->mu_r, true)) &&
        (!global || h5_write(vectors, "f", COLUMN_F64, dofs, 1, f, true));
    if (vectors >= 0) H5Gclose(vectors);
    free(f);
    return good;
}

static bool put_info(hid_t group, const fclib_info* info)
{
    hid_t texts = make_group(group, "info");
    const bool good = texts >= 0 && put_text(texts, "title", info->title) &&
                      put_text(texts, "description", info->description) &&
                      put_text(texts, "math_info", info->math_info);
    if (texts >= 0) H5Gclose(texts);
    return good;
}

static bool put_problem(hid_t file, const reduced_problem* p, bool global, const matrices* t,
                        const fclib_info* info)
{
    const char* names[] = {"fclib_local", "fclib_local_rolling", "fclib_global",
                           "fclib_global_rolling"};
    hid_t group = make_group(file, names[2 * global + (p->width == 5)]);
    if (group < 0) return false;
    const bool good = put_integer(group, "spacedim", p->width) && put_vectors(group, p, global) &&
                      (global ? put_matrix(group, "M", &t->m) && put_matrix(group, "H", &t->h)
                              : put_matrix(group, "W", &t->w)) &&
                      put_info(group, info);
    H5Gclose(group);
    return good;
}

talus_status fclib_write_problem(const char* path, const reduced_problem* p, const fclib_info* info,
                                 talus_error* error)
{
    if (files_size(path) >= 0) {
        return error_set(error, TALUS_ERR_EXISTS, "%s is there already", path);
    }
    matrices t = {0};
    const bool bodies = p->bodies.width > 0;
    talus_status status = TALUS_OK;
    if (!list_w(p, &t.w) || (bodies && (!list_h(p, &t.h) || !list_one(t.h.rows, &t.m)))) {
        status = error_memory(error, "writing a contact problem");
    } else if (t.w.count > INT32_MAX || t.h.count > INT32_MAX) {
        status = error_set(error, TALUS_ERR_ARGUMENT,
                           "a contact problem of %lld entries is too large for the layout of FCLIB",
                           (long long)t.w.count);
    }
    if (status == TALUS_OK) {
        h5_quiet before;
        h5_silence(&before);
        hid_t file = h5_create(p, "fclib");
        void* image = NULL;
        size_t size = 0;
        if (file < 0 || !put_problem(file, p, false, &t, info) ||
            (bodies && !put_problem(file, p, true, &t, info))) {
            status = h5_error(error, TALUS_ERR_IO, "HDF5 cannot make", path);
        } else {
            status = h5_image(file, &image, &size, error);
        }
        if (file >= 0) H5Fclose(file);
        if (status == TALUS_OK) status = files_replace(path, image, size, true, error);
        free(image);
        h5_loud(&before);
    }
    triplets_free(&t.w);
    triplets_free(&t.m);
    triplets_free(&t.h);
    return status;
}
