/// Structs as HDF5 datasets of a compound type.
///
/// The fields are copied into rows without gaps, which are what HDF5 sees.
#include "record/fields_h5.h"

#include "base/error.h"
#include "record/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

static size_t packed_size(const stored_fields* list)
{
    size_t size = 0;
    for (int i = 0; i < list->count; i++) {
        const stored_field* f = &list->field[i];
        size += f->type == FIELD_STRUCT ? packed_size(f->own) : f->size;
    }
    return size;
}

/// The compound type of the rows, in a file or in memory; the caller closes it.
static hid_t row_type(const stored_fields* list, bool in_memory)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, packed_size(list));
    size_t at = 0;
    for (int i = 0; i < list->count; i++) {
        const stored_field* f = &list->field[i];
        hid_t member = -1;
        switch (f->type) {
        case FIELD_F64: member = H5Tcopy(in_memory ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64LE); break;
        case FIELD_I64: member = H5Tcopy(in_memory ? H5T_NATIVE_INT64 : H5T_STD_I64LE); break;
        case FIELD_I32: member = H5Tcopy(in_memory ? H5T_NATIVE_INT32 : H5T_STD_I32LE); break;
        case FIELD_BOOL: member = H5Tcopy(H5T_STD_U8LE); break;
        case FIELD_TEXT:
            member = H5Tcopy(H5T_C_S1);
            H5Tset_size(member, f->size);
            break;
        case FIELD_STRUCT: member = row_type(f->own, in_memory); break;
        }
        if (f->type <= FIELD_BOOL && f->size > H5Tget_size(member)) {
            const hsize_t elements = f->size / H5Tget_size(member);
            const hid_t element = member;
            member = H5Tarray_create2(element, 1, &elements);
            H5Tclose(element);
        }
        H5Tinsert(type, f->name, at, member);
        at += H5Tget_size(member);
        H5Tclose(member);
    }
    return type;
}

/// Copy the fields of a struct into a row; returns where the next row begins.
static char* pack(const stored_fields* list, const char* from, char* row)
{
    for (int i = 0; i < list->count; i++) {
        const stored_field* f = &list->field[i];
        const char* data = from + f->offset;
        if (f->type == FIELD_STRUCT) {
            row = pack(f->own, data, row);
            continue;
        }
        // Nothing of what stands behind the end of a text.
        const size_t bytes = f->type == FIELD_TEXT ? strnlen(data, f->size - 1) : f->size;
        memcpy(row, data, bytes);
        memset(row + bytes, 0, f->size - bytes);
        row += f->size;
    }
    return row;
}

/// Copy a row into the fields of a struct; returns where the next row begins.
static const char* unpack(const stored_fields* list, const char* row, char* to)
{
    for (int i = 0; i < list->count; i++) {
        const stored_field* f = &list->field[i];
        char* data = to + f->offset;
        if (f->type == FIELD_STRUCT) {
            row = unpack(f->own, row, data);
            continue;
        }
        memcpy(data, row, f->size);
        for (size_t k = 0; f->type == FIELD_BOOL && k < f->size; k++) data[k] = row[k] != 0;
        if (f->type == FIELD_TEXT) data[f->size - 1] = '\0';
        row += f->size;
    }
    return row;
}

bool fields_write(hid_t group, const char* name, const stored_fields* list, int64_t rows,
                  const void* data)
{
    char* packed = malloc(packed_size(list) * (size_t)rows + 1);
    if (!packed) return false;
    char* row = packed;
    for (int64_t i = 0; i < rows; i++)
        row = pack(list, (const char*)data + list->size * (size_t)i, row);
    const hsize_t dims = (hsize_t)rows;
    hid_t stored = row_type(list, false), memory = row_type(list, true);
    hid_t space = H5Screate_simple(1, &dims, NULL);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(create, false);
    hid_t set = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, create, H5P_DEFAULT);
    bool good = set >= 0 &&
                (rows == 0 || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) >= 0);
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    H5Pclose(create);
    H5Sclose(space);
    H5Tclose(memory);
    H5Tclose(stored);
    free(packed);
    return good;
}

bool fields_read(hid_t group, const char* name, const stored_fields* list, int64_t rows, void* data)
{
    char* packed = malloc(packed_size(list) * (size_t)rows + 1);
    hid_t set = packed ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
    hid_t memory = row_type(list, true);
    const bool good =
        set >= 0 && (rows == 0 || H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) >= 0);
    const char* row = packed;
    for (int64_t i = 0; good && i < rows; i++)
        row = unpack(list, row, (char*)data + list->size * (size_t)i);
    H5Tclose(memory);
    if (set >= 0) H5Dclose(set);
    free(packed);
    return good;
}

// ---- what a file has ---------------------------------------------------------------------------

/// A type in words, for messages.
static void type_words(hid_t type, char out[64])
{
    const size_t size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_FLOAT: snprintf(out, 64, "a real number of %zu bytes", size); break;
    case H5T_INTEGER:
        snprintf(out, 64, "an integer of %zu byte%s", size, size == 1 ? "" : "s");
        break;
    case H5T_STRING: snprintf(out, 64, "a text of %zu bytes", size); break;
    case H5T_COMPOUND: snprintf(out, 64, "a group of fields"); break;
    default: snprintf(out, 64, "something else"); break;
    }
}

static talus_status check_types(hid_t stored, hid_t wanted, const char* name, const char* path,
                                talus_error* error)
{
    if (H5Tget_class(stored) != H5T_COMPOUND || H5Tget_class(wanted) != H5T_COMPOUND) {
        if (H5Tequal(stored, wanted) > 0) return TALUS_OK;
        char found[64], expected[64];
        type_words(stored, found);
        type_words(wanted, expected);
        return error_set(error, TALUS_ERR_STATE, "%s: the field %s is %s, expected %s", path, name,
                         found, expected);
    }
    const int wanted_count = H5Tget_nmembers(wanted), stored_count = H5Tget_nmembers(stored);
    talus_status status = TALUS_OK;
    for (int i = 0; status == TALUS_OK && i < wanted_count; i++) {
        char inner[NAME_BYTES];
        char* member = H5Tget_member_name(wanted, (unsigned)i);
        const int at = H5Tget_member_index(stored, member);
        snprintf(inner, sizeof inner, "%s.%s", name, member);
        if (at < 0) {
            status = error_set(error, TALUS_ERR_STATE, "%s: the field %s is missing", path, inner);
        } else {
            hid_t a = H5Tget_member_type(stored, (unsigned)at);
            hid_t b = H5Tget_member_type(wanted, (unsigned)i);
            status = check_types(a, b, inner, path, error);
            // HDF5 believes where a made-up type says that a field is, and reads there.
            const size_t is = H5Tget_member_offset(stored, (unsigned)at);
            const size_t should_be = H5Tget_member_offset(wanted, (unsigned)i);
            if (status == TALUS_OK && is != should_be) {
                status = error_set(error, TALUS_ERR_STATE,
                                   "%s: the field %s is not where it should be", path, inner);
            }
            H5Tclose(a);
            H5Tclose(b);
        }
        H5free_memory(member);
    }
    for (int i = 0; status == TALUS_OK && i < stored_count; i++) {
        char* member = H5Tget_member_name(stored, (unsigned)i);
        if (H5Tget_member_index(wanted, member) < 0) {
            status = error_set(error, TALUS_ERR_STATE, "%s: the field %s.%s is not known", path,
                               name, member);
        }
        H5free_memory(member);
    }
    if (status == TALUS_OK && H5Tget_size(stored) != H5Tget_size(wanted)) {
        status =
            error_set(error, TALUS_ERR_STATE, "%s: the rows of %s have another size", path, name);
    }
    return status;
}

talus_status fields_check(hid_t group, const char* name, const stored_fields* list, int64_t rows,
                          const char* where, const char* path, talus_error* error)
{
    char full[NAME_BYTES];
    snprintf(full, sizeof full, "%s/%s", where, name);
    hid_t set = h5_is_inside(group, name) ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
    if (set < 0) return error_set(error, TALUS_ERR_STATE, "%s: %s is missing", path, full);
    hid_t stored = H5Dget_type(set), wanted = row_type(list, false), space = H5Dget_space(set);
    talus_status status = check_types(stored, wanted, full, path, error);
    const int64_t found = H5Sget_simple_extent_npoints(space);
    if (status == TALUS_OK && found != rows) {
        status = error_set(error, TALUS_ERR_STATE, "%s: %s has %lld row%s, expected %lld", path,
                           full, (long long)found, found == 1 ? "" : "s", (long long)rows);
    }
    H5Sclose(space);
    H5Tclose(wanted);
    H5Tclose(stored);
    H5Dclose(set);
    return status;
}
