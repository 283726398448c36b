/// Growing arrays; see array.h.
#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/// Bytes of a large page, and so many of them make an array large.
enum { LARGE_PAGE = 1 << 21, LARGE_PAGES = 2 };

/// Bytes of `elements` elements, at least one; 0 if no memory could hold them.
static size_t bytes_of(int64_t elements, size_t size)
{
    size_t bytes;
    if (elements < 0 || __builtin_mul_overflow((size_t)elements, size, &bytes)) return 0;
    if (bytes > PTRDIFF_MAX) return 0;
    return bytes > 0 ? bytes : 1;
}

// The pointers have any type: they are read and written as bytes.
static void* pointer_of(const array_room* a)
{
    void* p;
    memcpy(&p, a->pointer, sizeof p);
    return p;
}

static void set_pointer(const array_room* a, void* p)
{
    memcpy(a->pointer, &p, sizeof p);
}

bool arrays_grow_all(int64_t* capacity, int64_t needed, const array_room* arrays, size_t count)
{
    if (needed <= *capacity) return true;
    int64_t room;
    if (__builtin_add_overflow(needed, needed / 2 + 16, &room)) return false;
    for (size_t k = 0; k < count; k++) {
        const size_t bytes = bytes_of(room, arrays[k].size);
        void* larger = bytes > 0 ? realloc(pointer_of(&arrays[k]), bytes) : NULL;
        if (!larger) return false; // those before are larger than they need to be, and valid
        set_pointer(&arrays[k], larger);
    }
    *capacity = room;
    return true;
}

/// Memory that begins at a line of the cache. The machine is asked for large pages where they are
/// worth it: it looks up where a page is each time that a kernel comes to another one.
static void* allocate_lines(size_t bytes)
{
    const size_t unit = bytes < LARGE_PAGES * LARGE_PAGE ? ARRAY_ALIGNMENT : LARGE_PAGE;
    const size_t whole = (bytes + unit - 1) / unit * unit; // aligned_alloc() wants whole units
    void* const memory = aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
    if (memory && unit == LARGE_PAGE) {
        // What was freed before comes back in the small pages that it had: they are given up first.
        (void)madvise(memory, whole, MADV_DONTNEED);
        (void)madvise(memory, whole, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

bool arrays_renew_all(int64_t* capacity, int64_t needed, const array_room* arrays, size_t count)
{
    if (needed <= *capacity) return true;
    int64_t room;
    bool good = !__builtin_add_overflow(needed, needed / 8 + 16, &room);
    for (size_t k = 0; k < count; k++) {
        free(pointer_of(&arrays[k]));
        set_pointer(&arrays[k], NULL);
    }
    for (size_t k = 0; k < count && good; k++) {
        const size_t bytes = bytes_of(room, arrays[k].size);
        set_pointer(&arrays[k], bytes > 0 ? allocate_lines(bytes) : NULL);
        good = pointer_of(&arrays[k]) != NULL;
    }
    for (size_t k = 0; k < count && !good; k++) {
        free(pointer_of(&arrays[k]));
        set_pointer(&arrays[k], NULL);
    }
    *capacity = good ? room : 0;
    return good;
}
