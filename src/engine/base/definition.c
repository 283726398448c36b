/// Definitions of programs that may know fewer fields than the library.
#include "base/definition.h"

#include <string.h>

enum { MADE = 0x54616c75 }; ///< "Talu": nothing that memory holds by chance

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void definition_give(void* def, size_t size, void* own, size_t own_size)
{
    const talus_mark mark = {.made = MADE, .size = (uint32_t)size};
    memcpy(own, &mark, sizeof mark);
    memset(def, 0, size);
    memcpy(def, own, smaller(size, own_size));
}

talus_status definition_check(const char* name, const talus_mark* mark, size_t own_size,
                              talus_error* error)
{
    if (mark->made != MADE || mark->size < sizeof *mark) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "talus_%s_def was not made by talus_%s_default()", name, name);
    }
    if (mark->size > own_size) {
        return error_set(
            error, TALUS_ERR_ARGUMENT,
            "talus_%s_def has fields that this library, version %s, does not know: the "
            "program was compiled with a later one",
            name, talus_version());
    }
    return TALUS_OK;
}

talus_status definition_take(const char* name, void* own, size_t own_size, const void* given,
                             talus_error* error)
{
    const talus_mark* mark = given;
    TRY(definition_check(name, mark, own_size, error));
    memcpy(own, given, mark->size);
    return TALUS_OK;
}

talus_status definition_show(const char* name, void* out, const void* own, size_t own_size,
                             talus_error* error)
{
    const talus_mark mark = *(const talus_mark*)out;
    TRY(definition_check(name, &mark, own_size, error));
    memcpy(out, own, mark.size);
    memcpy(out, &mark, sizeof mark);
    return TALUS_OK;
}
