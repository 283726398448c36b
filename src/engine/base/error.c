/// Status names and error texts.
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

const char* talus_status_name(talus_status status)
{
    switch (status) {
    case TALUS_OK: return "TALUS_OK";
    case TALUS_INTERRUPTED: return "TALUS_INTERRUPTED";
    case TALUS_ERR_MEMORY: return "TALUS_ERR_MEMORY";
    case TALUS_ERR_ARGUMENT: return "TALUS_ERR_ARGUMENT";
    case TALUS_ERR_SCENE: return "TALUS_ERR_SCENE";
    case TALUS_ERR_IO: return "TALUS_ERR_IO";
    case TALUS_ERR_FORMAT: return "TALUS_ERR_FORMAT";
    case TALUS_ERR_EXISTS: return "TALUS_ERR_EXISTS";
    case TALUS_ERR_NUMERIC: return "TALUS_ERR_NUMERIC";
    case TALUS_ERR_STATE: return "TALUS_ERR_STATE";
    case TALUS_ERR_DEVICE: return "TALUS_ERR_DEVICE";
    }
    return "unknown status";
}

talus_status error_set(talus_error* error, talus_status status, const char* format, ...)
{
    if (!error) return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

talus_status error_memory(talus_error* error, const char* what)
{
    return error_set(error, TALUS_ERR_MEMORY, "out of memory: %s", what);
}
