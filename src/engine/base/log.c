/// The log callback with a format.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_write(const log_sink* sink, talus_log_level level, const char* format, ...)
{
    if (!sink->function) return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sink->function(sink->user, level, text);
}
