/// Definitions that come from a program, which may have been compiled with fewer fields than the
/// library has (talus_mark in <talus/base.h>).
#ifndef TALUS_BASE_DEFINITION_H
#define TALUS_BASE_DEFINITION_H

#include "base/error.h"

/// Give a program the library's defaults: `own`, as far as the `size` bytes that the program knows.
#define DEFINITION_GIVE(def, size, own) definition_give(def, size, &(own), sizeof(own))
void definition_give(void* def, size_t size, void* own, size_t own_size);

/// Take over what a program knows of a definition; the other fields of *own, which holds the
/// defaults, stay. Fails if `given` was not made by its _default(): `name` is its name without
/// talus_ and _def.
#define DEFINITION_TAKE(name, own, given, error)                                                   \
    definition_take(#name, own, sizeof *(own), given, error)
talus_status definition_take(const char* name, void* own, size_t own_size, const void* given,
                             talus_error* error);

/// Write the library's definition into one that the program has made by its _default().
#define DEFINITION_SHOW(name, out, own, error)                                                     \
    definition_show(#name, out, own, sizeof *(own), error)
talus_status definition_show(const char* name, void* out, const void* own, size_t own_size,
                             talus_error* error);

/// Whether a definition within another one was made by its _default().
#define DEFINITION_CHECK(name, def, error)                                                         \
    definition_check(#name, &(def)->mark, sizeof *(def), error)
talus_status definition_check(const char* name, const talus_mark* mark, size_t own_size,
                              talus_error* error);

#endif
