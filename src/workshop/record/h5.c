/// The little of HDF5 that the records need.
///
/// Format: the earliest that HDF5 1.10 writes, so that ParaView, h5py, MATLAB and older programs
/// open it; and H5Fget_file_image of 1.10 gives a wrong checksum for the newer superblocks.
#include "record/h5.h"

#include "base/error.h"
#include "record/deflate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 20, ///< largest chunk; smaller datasets are one chunk
    GROWN_BYTES = 1 << 16, ///< chunk of a dataset that grows
    PACKED_TOGETHER = 16,  ///< chunks that threads pack before they are written
    DEFLATE_LEVEL = 1,     ///< as deflate.c does it
    CHUNK_TREE = 2,        ///< half rank of chunk B-trees: the default 32 costs 2.5 kB a dataset
    GROUP_TREE = 4,
    /// Cache of a file's directory, counted as on disk; in memory its entries take 25 times as
    /// much, 50 MB at HDF5's default, and nothing here is read twice.
    METADATA_BYTES = 1 << 17,
    MOST_WIDTH = 64, ///< numbers in a row, far more than any column has
    MOST_RANK = 2,
    /// Bytes that one in a file can stand for: deflate ends at 1032. Of this many nobody cares.
    MOST_DEFLATION = 2000,
    DEFLATED_SMALL = 1 << 20,
};

/// Take the innermost of HDF5's errors into an h5_quiet.
static herr_t keep_reason(unsigned n, const H5E_error2_t* record, void* user)
{
    h5_quiet* quiet = user;
    if (n == 0) snprintf(quiet->reason, sizeof quiet->reason, "%s", record->desc);
    return 0;
}

/// What HDF5 calls after a failure instead of printing.
static herr_t note_failure(hid_t stack, void* user)
{
    const h5_quiet* quiet = user;
    return quiet->refused ? 0 : H5Ewalk2(stack, H5E_WALK_UPWARD, keep_reason, user);
}

/// How often this thread is within h5_silence() and h5_loud().
static _Thread_local volatile int at_work;

bool h5_is_at_work(void)
{
    return at_work > 0;
}

void h5_stay_at_exit(void)
{
    at_work++; // it crashes if there is no memory even for this
    H5dont_atexit();
    at_work--;
}

void h5_silence(h5_quiet* quiet)
{
    at_work++;
    *quiet = (h5_quiet){0};
    H5Eget_auto2(H5E_DEFAULT, &quiet->function, &quiet->data);
    H5Eset_auto2(H5E_DEFAULT, note_failure, quiet);
    errno = 0;
}

void h5_loud(const h5_quiet* quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet->function, quiet->data);
    at_work--;
}

talus_status h5_error(talus_error* error, talus_status status, const char* what, const char* path)
{
    const bool short_of_memory = errno == ENOMEM;
    H5E_auto2_t function = NULL;
    void* data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    h5_quiet* quiet = function == note_failure ? data : NULL;
    const char* reason = quiet && quiet->reason[0] ? quiet->reason : "HDF5 does not say why";
    if (quiet) quiet->refused = false; // said now
    return error_set(error, status, "%s %s: %s", what, path,
                     short_of_memory ? "out of memory" : reason);
}

void h5_refuse(const char* format, ...)
{
    H5E_auto2_t function = NULL;
    void* data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    if (function != note_failure) return;
    h5_quiet* quiet = data;
    quiet->refused = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(quiet->reason, sizeof quiet->reason, format, arguments);
    va_end(arguments);
}

hid_t h5_access(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5AC_cache_config_t cache = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Pget_mdc_config(list, &cache) >= 0) {
        cache.set_initial_size = true;
        cache.initial_size = cache.min_size = cache.max_size = METADATA_BYTES;
        cache.incr_mode = H5C_incr__off;
        cache.flash_incr_mode = H5C_flash_incr__off;
        cache.decr_mode = H5C_decr__off;
        H5Pset_mdc_config(list, &cache);
    }
    return list;
}

/// Access list of a file in memory: no backing store, grown a megabyte at a time.
static hid_t memory_access(void)
{
    hid_t list = h5_access();
    H5Pset_fapl_core(list, 1 << 20, false);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    return list;
}

hid_t h5_create(const void* owner, const char* label)
{
    char name[96];
    snprintf(name, sizeof name, "talus-%p-%s", owner, label);
    hid_t access = memory_access();
    hid_t create = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_istore_k(create, CHUNK_TREE);
    H5Pset_sym_k(create, GROUP_TREE, GROUP_TREE);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, create, access);
    H5Pclose(create);
    H5Pclose(access);
    return file;
}

talus_status h5_image(hid_t file, void** data, size_t* size, talus_error* error)
{
    *data = NULL;
    ssize_t length = H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(file, NULL, 0);
    if (length < 0) return h5_error(error, TALUS_ERR_IO, "HDF5 could not finish", "a record");
    *data = malloc((size_t)length);
    if (!*data) return error_memory(error, "building a record");
    *size = (size_t)length;
    if (H5Fget_file_image(file, *data, *size) == length) return TALUS_OK;
    free(*data);
    *data = NULL;
    return h5_error(error, TALUS_ERR_IO, "HDF5 could not finish", "a record");
}

hid_t h5_open_image(const void* owner, const void* data, size_t size)
{
    char name[96];
    snprintf(name, sizeof name, "talus-%p-image", owner);
    hid_t access = memory_access();
    hid_t file = -1;
    // The property list wants a mutable buffer but copies it.
    if (H5Pset_file_image(access, (void*)(uintptr_t)data, size) >= 0) {
        file = H5Fopen(name, H5F_ACC_RDONLY, access);
    }
    H5Pclose(access);
    return file;
}

int64_t h5_size(hid_t file)
{
    hsize_t size = 0;
    return H5Fget_filesize(file, &size) < 0 ? 0 : (int64_t)size;
}

hid_t h5_type(column_type type)
{
    switch (type) {
    case COLUMN_F64: return H5T_IEEE_F64LE;
    case COLUMN_I64: return H5T_STD_I64LE;
    case COLUMN_I32: return H5T_STD_I32LE;
    case COLUMN_U8: return H5T_STD_U8LE;
    }
    return H5T_STD_U8LE;
}

static hid_t memory_type(column_type type)
{
    switch (type) {
    case COLUMN_F64: return H5T_NATIVE_DOUBLE;
    case COLUMN_I64: return H5T_NATIVE_INT64;
    case COLUMN_I32: return H5T_NATIVE_INT32;
    case COLUMN_U8: return H5T_NATIVE_UINT8;
    }
    return H5T_NATIVE_UINT8;
}

/// Creation list: shuffled and deflated chunks of `chunk` whole rows, or contiguous if that is 0.
static hid_t dataset_layout(int64_t chunk, int width)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(list, false); // the same run gives the same bytes
    if (chunk == 0) return list;
    hsize_t dims[2] = {(hsize_t)chunk, (hsize_t)width};
    H5Pset_chunk(list, width == 1 ? 1 : 2, dims);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, DEFLATE_LEVEL);
    return list;
}

/// A chunk as it goes into the file.
typedef struct packed_chunk {
    void* data;
    size_t size;
    unsigned left_out; ///< filters that did not pay
} packed_chunk;

/// Write the chunks of a dataset past HDF5's own filters, which are too slow. Threads pack some
/// chunks at a time, which then follow in order. The last chunk is filled up with zeros.
static bool write_chunks(hid_t set, int64_t rows, int64_t chunk, int width, size_t element,
                         const void* data, int threads)
{
    const size_t row = element * (size_t)width;
    const int64_t whole = rows / chunk, chunks = (rows + chunk - 1) / chunk;
    char* last = calloc((size_t)chunk, row);
    bool good = last != NULL;
    if (good)
        memcpy(last, (const char*)data + (size_t)(whole * chunk) * row,
               (size_t)(rows - whole * chunk) * row);
    for (int64_t first = 0; good && first < chunks; first += PACKED_TOGETHER) {
        packed_chunk packed[PACKED_TOGETHER] = {{0}};
        const int count =
            chunks - first < PACKED_TOGETHER ? (int)(chunks - first) : PACKED_TOGETHER;
#pragma omp parallel for num_threads(threads) if (count > 1 && threads > 1) schedule(dynamic)
        for (int k = 0; k < count; k++) {
            const char* at = (const char*)data + (size_t)((first + k) * chunk) * row;
            packed[k].left_out =
                deflate_chunk(first + k < whole ? at : last, (size_t)chunk * (size_t)width, element,
                              &packed[k].data, &packed[k].size);
        }
        for (int k = 0; k < count; k++) {
            const hsize_t offset[2] = {(hsize_t)((first + k) * chunk), 0};
            good = good && packed[k].data &&
                   H5Dwrite_chunk(set, H5P_DEFAULT, packed[k].left_out, offset, packed[k].size,
                                  packed[k].data) >= 0;
            free(packed[k].data);
        }
    }
    free(last);
    return good;
}

/// `threads` that pack the data; 0: it is not packed.
static bool write_dataset(hid_t group, const char* name, column_type type, int64_t rows, int width,
                          const void* data, int threads)
{
    column probe = {.type = type};
    size_t element = column_element_size(&probe);
    const int64_t most = (int64_t)(CHUNK_BYTES / (element * (size_t)width));
    const int64_t chunk = threads == 0 ? 0 : rows < most ? rows : most;
    hsize_t dims[2] = {(hsize_t)rows, (hsize_t)width};
    hid_t space = H5Screate_simple(width == 1 ? 1 : 2, dims, NULL);
    hid_t layout = dataset_layout(chunk, width);
    hid_t set = H5Dcreate2(group, name, h5_type(type), space, H5P_DEFAULT, layout, H5P_DEFAULT);
    bool good = set >= 0;
    if (good && chunk > 0) {
        good = write_chunks(set, rows, chunk, width, element, data, threads);
    } else if (good && rows > 0) {
        good = H5Dwrite(set, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    }
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    H5Pclose(layout);
    H5Sclose(space);
    return good;
}

bool h5_write(hid_t group, const char* name, column_type type, int64_t rows, int width,
              const void* data, bool compress)
{
    return write_dataset(group, name, type, rows, width, data, compress ? 1 : 0);
}

bool h5_write_packed(hid_t group, const char* name, column_type type, int64_t rows, int width,
                     const void* data, int threads)
{
    return write_dataset(group, name, type, rows, width, data, threads > 1 ? threads : 1);
}

static hid_t create_growing(hid_t group, const char* name, column_type type, int width)
{
    column probe = {.type = type};
    const size_t row = column_element_size(&probe) * (size_t)width;
    const hsize_t none[2] = {0, (hsize_t)width}, most[2] = {H5S_UNLIMITED, (hsize_t)width};
    hid_t space = H5Screate_simple(width == 1 ? 1 : 2, none, most);
    hid_t layout = dataset_layout(row < GROWN_BYTES ? (int64_t)(GROWN_BYTES / row) : 1, width);
    hid_t set = H5Dcreate2(group, name, h5_type(type), space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Pclose(layout);
    H5Sclose(space);
    return set;
}

bool h5_append(hid_t group, const char* name, column_type type, int64_t at, int64_t rows, int width,
               const void* data)
{
    const int rank = width == 1 ? 1 : 2;
    const hsize_t end[2] = {(hsize_t)(at + rows), (hsize_t)width}, start[2] = {(hsize_t)at, 0};
    const hsize_t count[2] = {(hsize_t)rows, (hsize_t)width};
    hid_t set = h5_has(group, name) ? H5Dopen2(group, name, H5P_DEFAULT)
                                    : create_growing(group, name, type, width);
    bool good = set >= 0 && H5Dset_extent(set, end) >= 0;
    if (good && rows > 0) {
        hid_t memory = H5Screate_simple(rank, count, NULL);
        hid_t space = H5Dget_space(set);
        good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
               H5Dwrite(set, memory_type(type), memory, space, H5P_DEFAULT, data) >= 0;
        H5Sclose(memory);
        if (space >= 0) H5Sclose(space);
    }
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    return good;
}

bool h5_write_texts(hid_t group, const char* name, int64_t count, char* const* texts)
{
    size_t longest = 1;
    for (int64_t i = 0; i < count; i++) {
        if (strlen(texts[i]) > longest) longest = strlen(texts[i]);
    }
    char* flat = calloc((size_t)count + 1, longest);
    if (!flat) return false;
    for (int64_t i = 0; i < count; i++) {
        memcpy(flat + (size_t)i * longest, texts[i], strlen(texts[i]));
    }
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, longest);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hsize_t dims = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &dims, NULL);
    hid_t layout = dataset_layout(0, 1);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    bool good =
        set >= 0 && (count == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flat) >= 0);
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    H5Pclose(layout);
    H5Sclose(space);
    H5Tclose(type);
    free(flat);
    return good;
}

char** h5_read_texts(hid_t group, const char* name, int64_t count)
{
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set < 0) return NULL;
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    size_t longest = H5Tget_size(type);
    char** texts = NULL;
    char* flat = NULL;
    if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Sget_simple_extent_npoints(space) == count) {
        flat = calloc((size_t)count + 1, longest);
    }
    if (flat && (count == 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flat) >= 0)) {
        texts = calloc((size_t)count + 1, sizeof *texts);
        bool good = texts != NULL;
        for (int64_t i = 0; good && i < count; i++) {
            texts[i] = strndup(flat + (size_t)i * longest, longest);
            good = texts[i] != NULL;
        }
        if (!good && texts) {
            for (int64_t i = 0; i < count; i++) free(texts[i]);
            free(texts);
            texts = NULL;
        }
    }
    free(flat);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return texts;
}

bool h5_has(hid_t group, const char* name)
{
    return H5Lexists(group, name, H5P_DEFAULT) > 0;
}

bool h5_is_inside(hid_t group, const char* name)
{
    H5L_info_t link;
    if (H5Lget_info(group, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
        return false;
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set < 0) return false;
    hid_t layout = H5Dget_create_plist(set);
    bool good = H5Pget_layout(layout) != H5D_VIRTUAL && H5Pget_external_count(layout) == 0;
    H5Pclose(layout);
    H5Dclose(set);
    return good;
}

/// Whether the chunks that went past all filters have the size that they would have without them.
static bool plain_chunks_fit(hid_t set, size_t chunk_bytes, unsigned all_filters)
{
    hid_t space = H5Dget_space(set);
    hsize_t count = 0;
    bool good = space >= 0 && H5Dget_num_chunks(set, space, &count) >= 0;
    for (hsize_t k = 0; good && k < count; k++) {
        hsize_t offset[MOST_RANK], size;
        unsigned skipped;
        haddr_t address;
        good = H5Dget_chunk_info(set, space, k, offset, &skipped, &address, &size) >= 0 &&
               ((skipped & all_filters) != all_filters || size == chunk_bytes);
    }
    if (space >= 0) H5Sclose(space);
    return good;
}

bool h5_holds(hid_t set, hssize_t count, size_t element)
{
    hid_t list = H5Dget_create_plist(set);
    if (list < 0 || count < 0) return false;
    const H5D_layout_t layout = H5Pget_layout(list);
    const int filters = H5Pget_nfilters(list);
    hsize_t chunk[MOST_RANK] = {1, 1};
    const int rank = layout == H5D_CHUNKED ? H5Pget_chunk(list, MOST_RANK, chunk) : 1;
    H5Pclose(list);
    const double bytes = (double)count * (double)element, stored = (double)H5Dget_storage_size(set);
    if (rank < 1 || rank > MOST_RANK || layout == H5D_VIRTUAL) return false;
    if (layout != H5D_CHUNKED || filters == 0) return bytes <= stored;
    if (bytes > DEFLATED_SMALL && bytes > MOST_DEFLATION * stored) return false;
    const size_t chunk_bytes = (size_t)(chunk[0] * chunk[1]) * element;
    return plain_chunks_fit(set, chunk_bytes, (1U << filters) - 1);
}

/// Whether a dataset can have this shape at all: what a damaged one claims must not overflow.
static bool can_be(const hsize_t dims[2])
{
    return dims[1] >= 1 && dims[1] <= MOST_WIDTH &&
           dims[0] <= INT64_MAX / (MOST_WIDTH * sizeof(double));
}

bool h5_shape(hid_t group, const char* name, column_type type, int64_t* rows, int* width)
{
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set < 0) return false;
    hid_t space = H5Dget_space(set);
    hid_t stored = H5Dget_type(set);
    hsize_t dims[2] = {0, 1};
    int rank = H5Sget_simple_extent_ndims(space);
    bool good = (rank == 1 || rank == 2) && H5Tequal(stored, h5_type(type)) > 0 &&
                H5Sget_simple_extent_dims(space, dims, NULL) == rank && can_be(dims) &&
                h5_holds(set, (hssize_t)(dims[0] * dims[1]), H5Tget_size(stored));
    *rows = good ? (int64_t)dims[0] : 0;
    *width = good ? (int)dims[1] : 0;
    H5Tclose(stored);
    H5Sclose(space);
    H5Dclose(set);
    return good;
}

bool h5_read(hid_t group, const char* name, column_type type, void* data)
{
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set < 0) return false;
    bool good = H5Dread(set, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    H5Dclose(set);
    return good;
}

bool h5_put_numbers(hid_t object, const char* name, column_type type, int count, const void* data)
{
    hsize_t dims = (hsize_t)count;
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &dims, NULL);
    hid_t attribute = H5Acreate2(object, name, h5_type(type), space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, memory_type(type), data) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    return good;
}

/// Texts of variable length: h5py gives a str for these, and bytes for those of fixed length.
static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

bool h5_put_text(hid_t object, const char* name, const char* text)
{
    hid_t type = text_type();
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, &text) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

bool h5_put_ascii(hid_t object, const char* name, const char* text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

bool h5_get_numbers(hid_t object, const char* name, column_type type, int count, void* data)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t space = H5Aget_space(attribute);
    bool good = H5Sget_simple_extent_npoints(space) == count &&
                H5Aread(attribute, memory_type(type), data) >= 0;
    H5Sclose(space);
    H5Aclose(attribute);
    return good;
}

/// The text of an attribute, NULL if there is none; the caller ends it with H5free_memory().
static char* read_text(hid_t object, const char* name)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return NULL;
    hid_t stored = H5Aget_type(attribute);
    hid_t type = text_type();
    char* found = NULL;
    if (H5Tis_variable_str(stored) <= 0 || H5Aread(attribute, type, &found) < 0) found = NULL;
    H5Tclose(type);
    H5Tclose(stored);
    H5Aclose(attribute);
    return found;
}

bool h5_get_text(hid_t object, const char* name, char* out, size_t size)
{
    char* found = read_text(object, name);
    bool there = found != NULL;
    if (there) snprintf(out, size, "%s", found);
    H5free_memory(found);
    return there;
}

bool h5_text_is(hid_t object, const char* name, const char* text)
{
    char* found = read_text(object, name);
    bool same = found && strcmp(found, text) == 0;
    H5free_memory(found);
    return same;
}
