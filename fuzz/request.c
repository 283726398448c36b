/// Paths that the server of `talus view` is asked for, at most one name of a field comes out of.
#include "fuzz.h"

#include "app/view_server.c" // its parser is nobody else's

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char* path = strndup((const char*)data, size);
    FUZZ_PROMISE(path);
    const route r = parse_route(path);
    if (r.kind == ROUTE_FIELD) {
        FUZZ_PROMISE(r.frame >= 0 && strchr(r.field, '/') == NULL && strlen(r.field) > 0);
    }
    free(path);
    return 0;
}
