/// For LD_PRELOAD: the allocation that NO_MEMORY_AT names, counted from 1, fails, and with a "+"
/// behind it all that follow. How many there were goes into the file NO_MEMORY_COUNT.
///
/// What the loader needs before the program begins is not counted.
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static atomic_long counted;
static long fails_at; ///< 0: none
static bool and_on, ready;

static bool is_denied(void)
{
    if (!ready) return false;
    const long number = atomic_fetch_add(&counted, 1) + 1;
    const bool denied = fails_at > 0 && (number == fails_at || (and_on && number > fails_at));
    if (denied) errno = ENOMEM;
    return denied;
}

void* malloc(size_t size)
{
    return is_denied() ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size)
{
    return is_denied() ? NULL : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size)
{
    return is_denied() ? NULL : __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return is_denied() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size)
{
    if (is_denied()) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

static void tell(void)
{
    const char* path = getenv("NO_MEMORY_COUNT");
    ready = false;
    FILE* file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", atomic_load(&counted));
    fclose(file);
}

__attribute__((constructor)) static void begin(void)
{
    const char* at = getenv("NO_MEMORY_AT");
    char* end = NULL;
    fails_at = at ? strtol(at, &end, 10) : 0;
    and_on = end && *end == '+';
    atexit(tell);
    ready = true;
}
