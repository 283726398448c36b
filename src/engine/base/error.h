/// Filling a talus_error and passing failures on.
#ifndef TALUS_BASE_ERROR_H
#define TALUS_BASE_ERROR_H

#include <talus/base.h>

/// Fill *error (may be NULL) with a formatted sentence and return `status`.
talus_status error_set(talus_error* error, talus_status status, const char* format, ...)
    TALUS_PRINTF(3, 4);
/// The usual words for a failed allocation, "out of memory: WHAT", of a thing ("a figure") or of
/// work ("adding a wall"); returns TALUS_ERR_MEMORY.
talus_status error_memory(talus_error* error, const char* what);

/// Evaluate a call that returns talus_status and pass a failure on.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        talus_status try_status = (call);                                                          \
        if (try_status < 0) return try_status;                                                     \
    } while (0)

#endif
