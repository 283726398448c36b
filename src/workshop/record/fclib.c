/// Reading contact problems in the HDF5 layout of FCLIB.
///
/// A file from elsewhere is not trusted: every dataset is asked for its type, rank and length
/// before memory is taken for it, and every index and number is looked at before it is used.
/// Accepted beside what FCLIB writes: any width of integers and floating-point numbers, scalars as
/// () or (1), and arrays of a matrix that are longer than they need be.
#include "record/fclib.h"

#include "base/error.h"
#include "record/fclib_inside.h"
#include "record/fclib_mass.h"
#include "record/files.h"
#include "record/h5_trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 96 };

/// A file being read.
typedef struct source {
    const char* path;
    hid_t file;
    const char* group; ///< fclib_local or another
    talus_error* error;
} source;

/// "<path>: <dataset>: <what is wrong>".
static talus_status complain(const source* s, const char* name, const char* format, ...)
    TALUS_PRINTF(3, 4);
static talus_status complain(const source* s, const char* name, const char* format, ...)
{
    char words[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return error_set(s->error, TALUS_ERR_FORMAT, "%s: %s/%s: %s", s->path, s->group, name, words);
}

// ---- datasets ----------------------------------------------------------------------------------

/// Open group/name; every link on the way must be there.
static talus_status open_dataset(const source* s, const char* name, hid_t* out)
{
    char full[NAME_SIZE];
    snprintf(full, sizeof full, "%s/%s", s->group, name);
    for (char* slash = strchr(full, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool there = H5Lexists(s->file, full, H5P_DEFAULT) > 0;
        if (!there) {
            return error_set(s->error, TALUS_ERR_FORMAT, "%s: the group %s is missing", s->path,
                             full);
        }
        *slash = '/';
    }
    if (H5Lexists(s->file, full, H5P_DEFAULT) <= 0) {
        return complain(s, name, "the dataset is missing");
    }
    *out = H5Dopen2(s->file, full, H5P_DEFAULT);
    if (*out < 0) return complain(s, name, "it cannot be opened as a dataset");
    return TALUS_OK;
}

/// Type class, rank and length of a dataset as expected? Fills *count.
static talus_status check_dataset(const source* s, const char* name, hid_t set, H5T_class_t class,
                                  bool scalar, int64_t* count)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    bool fits = type >= 0 && H5Tget_class(type) == class;
    size_t element = type >= 0 ? H5Tget_size(type) : 0;
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    H5S_class_t kind = space >= 0 ? H5Sget_simple_extent_type(space) : H5S_NO_CLASS;
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);

    if (!fits) {
        return complain(s, name, "expected %s",
                        class == H5T_INTEGER ? "integers" : "floating-point numbers");
    }
    if (kind == H5S_NULL || points < 0 || rank < 0) return complain(s, name, "it holds nothing");
    if (scalar ? points != 1 : rank != 1) {
        return complain(s, name, "expected %s, found rank %d with %lld elements",
                        scalar ? "one number" : "a list of numbers (rank 1)", rank,
                        (long long)points);
    }
    if (points > INT32_MAX || !h5_holds(set, points, element)) {
        return complain(s, name,
                        "it claims %lld elements, of which the file does not hold the data",
                        (long long)points);
    }
    *count = points;
    return TALUS_OK;
}

/// Read numbers into *out, 8 bytes each: int64_t or double by `class`. The caller frees *out.
static talus_status read_numbers(const source* s, const char* name, H5T_class_t class, bool scalar,
                                 void** out, int64_t* count)
{
    hid_t set = -1;
    *out = NULL;
    *count = 0;
    TRY(open_dataset(s, name, &set));
    talus_status status = check_dataset(s, name, set, class, scalar, count);
    if (status == TALUS_OK) {
        *out = calloc((size_t)*count + 1, 8);
        hid_t memory = class == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
        if (!*out) {
            status = error_memory(s->error, "reading a contact problem");
        } else if (*count > 0 && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
            status = complain(s, name, "its data cannot be read: the file is damaged");
        }
    }
    H5Dclose(set);
    if (status == TALUS_OK) return TALUS_OK;
    free(*out);
    *out = NULL;
    return status;
}

static talus_status read_scalar(const source* s, const char* name, int64_t* out)
{
    void* data = NULL;
    int64_t count;
    TRY(read_numbers(s, name, H5T_INTEGER, true, &data, &count));
    *out = *(int64_t*)data;
    free(data);
    return TALUS_OK;
}

/// A list of finite numbers; `wanted` < 0: of any length. `why` says where the length comes from.
static talus_status read_vector(const source* s, const char* name, int64_t wanted, const char* why,
                                double** out, int64_t* count)
{
    void* data = NULL;
    int64_t found;
    TRY(read_numbers(s, name, H5T_FLOAT, false, &data, &found));
    double* list = data;
    talus_status status = TALUS_OK;
    if (wanted >= 0 && found != wanted) {
        status = complain(s, name, "expected %" PRId64 " numbers (%s), found %" PRId64, wanted, why,
                          found);
    }
    for (int64_t i = 0; status == TALUS_OK && i < found; i++) {
        if (isfinite(list[i])) continue;
        status = complain(s, name, "number %" PRId64 " is %g; all must be finite", i, list[i]);
    }
    if (status != TALUS_OK) {
        free(data);
        return status;
    }
    free(*out);
    *out = list;
    if (count) *count = found;
    return TALUS_OK;
}

/// Coefficients of friction or of rolling: none is negative.
static talus_status read_coefficients(const source* s, const char* name, int64_t wanted,
                                      double** out, int64_t* count)
{
    int64_t found;
    TRY(read_vector(s, name, wanted, "one a contact, as vectors/mu has them", out, &found));
    for (int64_t i = 0; i < found; i++) {
        if ((*out)[i] < 0.0) {
            return complain(s, name, "number %" PRId64 " is %g; none may be negative", i,
                            (*out)[i]);
        }
    }
    if (count) *count = found;
    return TALUS_OK;
}

// ---- matrices ----------------------------------------------------------------------------------

/// What a matrix's group holds, as stored.
typedef struct raw_matrix {
    int64_t m, n, nz, nzmax;
    int64_t *p, *i;
    int64_t p_count, i_count, x_count;
    double* x;
} raw_matrix;

static talus_status read_raw(const source* s, const char* matrix, raw_matrix* raw)
{
    char name[NAME_SIZE];
    struct {
        const char* name;
        int64_t* to;
    } scalars[] = {{"m", &raw->m}, {"n", &raw->n}, {"nz", &raw->nz}, {"nzmax", &raw->nzmax}};
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s/%s", matrix, scalars[k].name);
        TRY(read_scalar(s, name, scalars[k].to));
    }
    void* data;
    snprintf(name, sizeof name, "%s/p", matrix);
    TRY(read_numbers(s, name, H5T_INTEGER, false, &data, &raw->p_count));
    raw->p = data;
    snprintf(name, sizeof name, "%s/i", matrix);
    TRY(read_numbers(s, name, H5T_INTEGER, false, &data, &raw->i_count));
    raw->i = data;
    snprintf(name, sizeof name, "%s/x", matrix);
    return read_vector(s, name, -1, "", &raw->x, &raw->x_count);
}

/// Do the stored sizes fit each other and the problem? `entries` receives the number of entries.
static talus_status check_raw(const source* s, const char* matrix, const raw_matrix* raw,
                              int64_t rows, int64_t columns, int64_t* entries)
{
    if (raw->m != rows || raw->n != columns) {
        return complain(s, matrix,
                        "expected %" PRId64 " x %" PRId64 " (from the vectors and spacedim), found "
                        "m = %" PRId64 ", n = %" PRId64,
                        rows, columns, raw->m, raw->n);
    }
    if (raw->nz < -2) {
        return complain(s, matrix,
                        "nz = %" PRId64 "; it must be -2 (rows), -1 (columns) or the number of "
                        "triplets",
                        raw->nz);
    }
    *entries = raw->nz;
    if (raw->nz < 0) {
        int64_t majors = raw->nz == -1 ? columns : rows;
        if (raw->p_count != majors + 1) {
            return complain(s, matrix, "expected %" PRId64 " numbers in p, found %" PRId64,
                            majors + 1, raw->p_count);
        }
        if (raw->p[0] != 0) return complain(s, matrix, "p must begin with 0");
        for (int64_t k = 0; k < majors; k++) {
            if (raw->p[k] > raw->p[k + 1]) {
                return complain(s, matrix, "p must not fall, but does at %" PRId64, k);
            }
        }
        *entries = raw->p[majors];
    }
    int64_t shortest = raw->i_count < raw->x_count ? raw->i_count : raw->x_count;
    if (raw->nz >= 0 && raw->p_count < shortest) shortest = raw->p_count;
    if (*entries > shortest || *entries > raw->nzmax) {
        return complain(s, matrix,
                        "it has %" PRId64 " entries by nz and p, but p, i and x hold %" PRId64
                        ", %" PRId64 " and %" PRId64 " numbers, and nzmax is %" PRId64,
                        *entries, raw->p_count, raw->i_count, raw->x_count, raw->nzmax);
    }
    return TALUS_OK;
}

static talus_status check_index(const source* s, const char* matrix, const char* list, int64_t at,
                                int64_t index, int64_t bound)
{
    if (index >= 0 && index < bound) return TALUS_OK;
    return complain(s, matrix,
                    "number %" PRId64 " of %s is %" PRId64 ", which is no index from 0 to %" PRId64,
                    at, list, index, bound - 1);
}

/// Row and column of every entry, whatever the way they are stored.
static talus_status expand(const source* s, const char* matrix, const raw_matrix* raw,
                           fclib_entries* out)
{
    const bool by_rows = raw->nz == -2;
    int64_t major = 0;
    for (int64_t k = 0; k < out->count; k++) {
        int64_t other = raw->p[k < raw->p_count ? k : 0];
        if (raw->nz < 0) {
            while (k >= raw->p[major + 1]) major++;
            other = major;
        } else {
            TRY(check_index(s, matrix, "p", k, other, out->columns));
        }
        TRY(check_index(s, matrix, "i", k, raw->i[k], by_rows ? out->columns : out->rows));
        out->row[k] = (int32_t)(by_rows ? other : raw->i[k]);
        out->column[k] = (int32_t)(by_rows ? raw->i[k] : other);
        out->value[k] = raw->x[k];
    }
    return TALUS_OK;
}

static talus_status read_entries(const source* s, const char* matrix, int64_t rows, int64_t columns,
                                 fclib_entries* out)
{
    raw_matrix raw = {0};
    talus_status status = read_raw(s, matrix, &raw);
    int64_t count = 0;
    if (status == TALUS_OK) status = check_raw(s, matrix, &raw, rows, columns, &count);
    if (status == TALUS_OK) {
        *out = (fclib_entries){.rows = rows, .columns = columns, .count = count};
        out->row = calloc((size_t)count + 1, sizeof *out->row);
        out->column = calloc((size_t)count + 1, sizeof *out->column);
        out->value = calloc((size_t)count + 1, sizeof *out->value);
        status = out->row && out->column && out->value
                     ? expand(s, matrix, &raw, out)
                     : error_memory(s->error, "reading a contact problem");
    }
    free(raw.p);
    free(raw.i);
    free(raw.x);
    return status;
}

/// The columns of a matrix, or of its transpose.
static talus_status read_matrix(const source* s, const char* matrix, int64_t rows, int64_t columns,
                                bool transpose, fclib_matrix* out)
{
    fclib_entries entries = {0};
    talus_status status = read_entries(s, matrix, rows, columns, &entries);
    if (status == TALUS_OK && transpose) {
        fclib_entries e = entries;
        entries.rows = e.columns;
        entries.columns = e.rows;
        entries.row = e.column;
        entries.column = e.row;
    }
    if (status == TALUS_OK) status = fclib_compress(&entries, out, s->error);
    fclib_entries_free(&entries);
    return status;
}

// ---- problems ----------------------------------------------------------------------------------

/// The bodies of a local problem, from the global one that is in the same file. It does without
/// them if that is not a sound one.
static talus_status read_bodies(const source* local, reduced_problem* p)
{
    source s = *local;
    s.group = "fclib_global";
    if (p->width == 5 || H5Lexists(s.file, s.group, H5P_DEFAULT) <= 0) return TALUS_OK;
    double* f = NULL;
    int64_t dofs = 0;
    fclib_matrix m = {0}, h = {0};
    talus_status status = read_vector(&s, "vectors/f", -1, "", &f, &dofs);
    if (status == TALUS_OK) status = read_matrix(&s, "M", dofs, dofs, false, &m);
    if (status == TALUS_OK) status = read_matrix(&s, "H", dofs, p->count * p->width, false, &h);
    if (status == TALUS_OK) status = fclib_find_bodies(&m, &h, p);
    fclib_matrix_free(&m);
    fclib_matrix_free(&h);
    free(f);
    return status == TALUS_ERR_FORMAT ? TALUS_OK : status;
}

static talus_status read_problem(const source* s, fclib_problem* p)
{
    reduced_problem* reduced = &p->reduced;
    static const char* const equalities[] = {"V", "R", "G"};
    for (int k = 0; k < 3; k++) {
        char full[NAME_SIZE];
        snprintf(full, sizeof full, "%s/%s", s->group, equalities[k]);
        if (H5Lexists(s->file, full, H5P_DEFAULT) > 0) {
            return complain(s, equalities[k],
                            "the problem has equality constraints, which Talus does not solve");
        }
    }
    int64_t spacedim;
    TRY(read_scalar(s, "spacedim", &spacedim));
    if (p->rolling ? spacedim != 3 && spacedim != 5 : spacedim != 2 && spacedim != 3) {
        return complain(s, "spacedim", "expected %s, found %" PRId64,
                        p->rolling ? "5 (or 3: rolling in space)" : "2 or 3", spacedim);
    }
    reduced->width = p->rolling ? 5 : (int)spacedim;
    TRY(read_coefficients(s, "vectors/mu", -1, &reduced->mu, &reduced->count));
    if (reduced->count > INT32_MAX / 8) {
        return complain(s, "vectors/mu", "%" PRId64 " contacts are too many for this layout",
                        reduced->count);
    }
    if (p->rolling) TRY(read_coefficients(s, "vectors/mu_r", reduced->count, &reduced->mu_r, NULL));
    const int64_t size = reduced->count * reduced->width;
    if (!p->global) {
        fclib_matrix transpose = {0};
        TRY(read_vector(s, "vectors/q", size, "contacts times components", &reduced->q, NULL));
        TRY(read_matrix(s, "W", size, size, true, &transpose));
        talus_status status = fclib_block_rows(&transpose, reduced, s->error);
        fclib_matrix_free(&transpose);
        return status == TALUS_OK ? read_bodies(s, reduced) : status;
    }
    TRY(read_vector(s, "vectors/f", -1, "", &p->f, &p->dofs));
    TRY(read_vector(s, "vectors/w", size, "contacts times components", &p->w, NULL));
    TRY(read_matrix(s, "M", p->dofs, p->dofs, false, &p->m));
    TRY(read_matrix(s, "H", p->dofs, size, false, &p->h));
    reduced->q = calloc((size_t)size + 1, sizeof *reduced->q);
    if (!reduced->q) return error_memory(s->error, "reading a contact problem");
    char name[NAME_SIZE + 256];
    snprintf(name, sizeof name, "%.255s: %s/M", s->path, s->group);
    TRY(fclib_fill_condensed(p, name, s->error));
    return fclib_find_bodies(&p->m, &p->h, reduced);
}

/// Which of the four groups the file has; a local problem is taken rather than a global one.
static talus_status find_group(source* s, fclib_problem* p)
{
    static const char* const groups[] = {"fclib_local", "fclib_local_rolling", "fclib_global",
                                         "fclib_global_rolling"};
    for (int k = 0; k < 4; k++) {
        if (H5Lexists(s->file, groups[k], H5P_DEFAULT) <= 0) continue;
        s->group = groups[k];
        p->global = k >= 2;
        p->rolling = k % 2 == 1;
        return TALUS_OK;
    }
    return error_set(s->error, TALUS_ERR_FORMAT,
                     "%s: it has none of the groups of FCLIB: fclib_local, fclib_global, "
                     "fclib_local_rolling, fclib_global_rolling",
                     s->path);
}

/// Open for reading; a file that cannot be opened at all is told from one that is no HDF5.
static talus_status open_file(source* s)
{
    FILE* probe;
    TRY(files_open(s->path, &probe, s->error));
    const bool empty = fgetc(probe) == EOF;
    const bool unreadable = ferror(probe);
    if (unreadable) files_error(s->error, "read", s->path);
    fclose(probe);
    if (unreadable) return TALUS_ERR_IO;
    if (empty) return error_set(s->error, TALUS_ERR_FORMAT, "%s: the file is empty", s->path);
    if (H5Fis_hdf5(s->path) <= 0) {
        return error_set(s->error, TALUS_ERR_FORMAT, "%s: this is not an HDF5 file", s->path);
    }
    TRY(h5_try_file(s->path, s->error));
    hid_t access = h5_access();
    s->file = H5Fopen(s->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (s->file >= 0) return TALUS_OK;
    return h5_error(s->error, TALUS_ERR_FORMAT, "HDF5 cannot open the damaged file", s->path);
}

talus_status fclib_read(const char* path, fclib_problem* out, talus_error* error)
{
    *out = (fclib_problem){0};
    source s = {.path = path, .file = -1, .error = error};
    h5_quiet before;
    h5_silence(&before);
    talus_status status = open_file(&s);
    if (status == TALUS_OK) status = find_group(&s, out);
    if (status == TALUS_OK) status = read_problem(&s, out);
    if (s.file >= 0) H5Fclose(s.file);
    h5_loud(&before);
    if (status != TALUS_OK) fclib_free(out);
    return status;
}

void fclib_free(fclib_problem* p)
{
    reduced_free(&p->reduced);
    fclib_matrix_free(&p->m);
    fclib_matrix_free(&p->h);
    free(p->f);
    free(p->w);
    fclib_mass_free(p->mass);
    *p = (fclib_problem){0};
}
