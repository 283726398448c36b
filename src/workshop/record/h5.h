/// The little of HDF5 that the records need.
///
/// Files are built in memory and written by files.c: HDF5 1.10 cannot close a file whose flush
/// failed on a full disk, and would lose errno's text. All ids are -1 when not open.
#ifndef TALUS_RECORD_H5_H
#define TALUS_RECORD_H5_H

#include "base/columns.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>
#include <talus/base.h>

/// The host program's error printing, to be put back by h5_loud(), and why HDF5 last failed: HDF5
/// itself forgets that with the next call, be it one that closes something.
typedef struct h5_quiet {
    H5E_auto2_t function;
    void* data;
    char reason[256];
    bool refused; ///< the reason is one of h5_refuse()
} h5_quiet;

/// Silence HDF5's own printing; every entry of the record room does this first. `quiet` must stay
/// where it is until h5_loud().
void h5_silence(h5_quiet* quiet);
void h5_loud(const h5_quiet* quiet);
/// Is this thread between the two? May be asked by a handler of signals.
bool h5_is_at_work(void);
/// Keep HDF5 from tidying up when the program ends: all is closed by then, and after a failure for
/// want of memory it would never come to an end with it. Before anything else uses HDF5.
void h5_stay_at_exit(void);

/// "<what> <path>: <HDF5's innermost reason, or that memory is short>".
talus_status h5_error(talus_error* error, talus_status status, const char* what, const char* path);

/// Say why something that HDF5 has read is not taken, for h5_error().
void h5_refuse(const char* format, ...) TALUS_PRINTF(1, 2);

/// Access list for any file: small caches. The caller closes it.
hid_t h5_access(void);
/// A new file in memory; `owner` makes its name unique in the process.
hid_t h5_create(const void* owner, const char* label);
/// The bytes of a file in memory; the caller frees *data.
talus_status h5_image(hid_t file, void** data, size_t* size, talus_error* error);
/// Open the bytes of a file read-only (they are copied).
hid_t h5_open_image(const void* owner, const void* data, size_t size);
/// Bytes a file in memory takes.
int64_t h5_size(hid_t file);

hid_t h5_type(column_type type);

/// A dataset of `rows` x `width` elements (rank 1 when width is 1), shuffled and deflated if
/// `compress`. The functions below return false on failure.
bool h5_write(hid_t group, const char* name, column_type type, int64_t rows, int width,
              const void* data, bool compress);
/// The same, shuffled and deflated by several threads; the bytes do not depend on how many.
bool h5_write_packed(hid_t group, const char* name, column_type type, int64_t rows, int width,
                     const void* data, int threads);
/// Rows from `at` on of a dataset that grows, shuffled and deflated; it is made if it is not there.
/// Rows that are never written are zeros.
bool h5_append(hid_t group, const char* name, column_type type, int64_t at, int64_t rows, int width,
               const void* data);
bool h5_write_texts(hid_t group, const char* name, int64_t count, char* const* texts);
/// The texts of a dataset of `count`, each and the list on the heap; NULL on failure.
char** h5_read_texts(hid_t group, const char* name, int64_t count);
/// Is there anything of this name in a group?
bool h5_has(hid_t group, const char* name);
/// Is a dataset with its numbers in the file itself? It may also be a link, or name other files, of
/// any kind, that hold them, and a file from elsewhere must not make us read those.
bool h5_is_inside(hid_t group, const char* name);
/// Whether a dataset of rank 1 or 2, or one number, holds as many elements as it claims, of
/// `element` bytes each. HDF5 1.10 does not look, and reads past the end of its memory.
bool h5_holds(hid_t set, hssize_t count, size_t element);
/// Rows and width of a dataset, false if it is absent, of another type or of a size that it cannot
/// have.
bool h5_shape(hid_t group, const char* name, column_type type, int64_t* rows, int* width);
/// Read a whole dataset whose shape has been checked.
bool h5_read(hid_t group, const char* name, column_type type, void* data);

bool h5_put_numbers(hid_t object, const char* name, column_type type, int count, const void* data);
bool h5_put_text(hid_t object, const char* name, const char* text);
/// The same as ASCII of fixed length, which is all that some readers take.
bool h5_put_ascii(hid_t object, const char* name, const char* text);
/// `count` numbers of an attribute, converted to `type`.
bool h5_get_numbers(hid_t object, const char* name, column_type type, int count, void* data);
/// The text of an attribute, cut to `size` bytes with its end; false if there is none.
bool h5_get_text(hid_t object, const char* name, char* out, size_t size);
/// Whether the attribute is there and holds this text.
bool h5_text_is(hid_t object, const char* name, const char* text);

#endif
