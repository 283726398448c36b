/// The log callback with a format.
#ifndef TALUS_BASE_LOG_H
#define TALUS_BASE_LOG_H

#include <talus/base.h>

typedef struct log_sink {
    talus_log_fn* function; ///< may be NULL
    void* user;
} log_sink;

void log_write(const log_sink* sink, talus_log_level level, const char* format, ...)
    TALUS_PRINTF(3, 4);

#endif
