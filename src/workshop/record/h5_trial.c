#include "record/h5_trial.h"

#include "base/error.h"
#include "record/apart.h"

#include <stdlib.h>

/// Of the processor: far more than it takes to read a file of some gigabytes that is in memory.
enum { TRIAL_SECONDS = 120, MOST_DEFLATION = 2000 };

/// Bytes of so many elements; 0 if there are more than what is stored can stand for.
static size_t room_for(hssize_t count, size_t element, hsize_t stored)
{
    const bool some = count > 0 && element > 0;
    const bool can_be = some && (hsize_t)count <= (stored + 1) * MOST_DEFLATION / element;
    return can_be ? (size_t)count * element : 0;
}

/// Read an attribute as it is stored. Texts of variable length come as pointers.
static herr_t read_attribute(hid_t object, const char* name, const H5A_info_t* facts, void* user)
{
    (void)user;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return 0;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    // Pointers in memory are larger than what is stored of them.
    const size_t room =
        room_for(H5Sget_simple_extent_npoints(space), H5Tget_size(type), facts->data_size);
    void* data = room > 0 ? calloc(room, 1) : NULL;
    if (data && H5Aread(attribute, type, data) >= 0) {
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, data);
    }
    free(data);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return 0;
}

/// Read a dataset as it is stored, unless its numbers are in other files, which nobody follows.
static void read_dataset(hid_t set)
{
    hid_t layout = H5Dget_create_plist(set);
    const bool inside = H5Pget_layout(layout) != H5D_VIRTUAL && H5Pget_external_count(layout) == 0;
    H5Pclose(layout);
    if (!inside) return;
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const size_t room =
        room_for(H5Sget_simple_extent_npoints(space), H5Tget_size(type), H5Dget_storage_size(set));
    void* data = room > 0 ? calloc(room, 1) : NULL;
    if (data && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) {
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, data);
    }
    free(data);
    H5Sclose(space);
    H5Tclose(type);
}

static herr_t read_object(hid_t file, const char* name, const H5O_info_t* facts, void* user)
{
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0) return 0;
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, read_attribute, user);
    if (facts->type == H5O_TYPE_DATASET) read_dataset(object);
    H5Oclose(object);
    return 0;
}

typedef struct trial {
    const char* path;
    const void* data; ///< NULL: what is in the file of this path
    size_t size;
} trial;

static talus_status read_all(void* user, talus_error* error)
{
    const trial* t = user;
    (void)error; // what HDF5 notices itself is no danger
    hid_t file = t->data ? h5_open_image(t, t->data, t->size)
                         : H5Fopen(t->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return TALUS_OK;
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, read_object, NULL,
              H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS);
    H5Fclose(file);
    return TALUS_OK;
}

static talus_status try_it(trial* t, talus_error* error)
{
    talus_error reason = {0};
    const talus_status status = apart_do(read_all, t, TRIAL_SECONDS, &reason);
    if (status < 0) error_set(error, status, "%s is damaged: %s", t->path, reason.text);
    return status;
}

talus_status h5_try_image(const void* data, size_t size, const char* path, talus_error* error)
{
    return try_it(&(trial){.path = path, .data = data, .size = size}, error);
}

talus_status h5_try_file(const char* path, talus_error* error)
{
    return try_it(&(trial){.path = path}, error);
}
