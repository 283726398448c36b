/// Growing arrays: room for one or several arrays that share a capacity.
///
///     if (!arrays_grow(&list->capacity, list->count + 1, ARRAY(list->name), ROWS(list->x, dim)))
///         return TALUS_ERR_MEMORY;
///
/// arrays_grow() keeps what the arrays hold, with room for half as much again, so that appending
/// one by one costs little. arrays_renew() is for workspace: the old contents are lost, and with
/// them the cost of copying; an eighth is left to spare, and the arrays begin at lines of the cache
/// (ARRAY_ALIGNMENT bytes), as kernels read them. When memory is short both return false;
/// arrays_grow() then leaves contents and capacity as they are, arrays_renew() leaves empty arrays
/// of capacity 0. Arrays begin as NULL with a capacity of 0 and are freed with free().
#ifndef TALUS_BASE_ARRAY_H
#define TALUS_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARRAY_ALIGNMENT = 64 };

/// An array to make room in: where its pointer is, and the bytes of an element.
typedef struct array_room {
    void* pointer; ///< address of a pointer to any type
    size_t size;
} array_room;

#define ARRAY(pointer) ((array_room){&(pointer), sizeof *(pointer)})
/// An array of rows of `width` elements.
#define ROWS(pointer, width) ((array_room){&(pointer), sizeof *(pointer) * (size_t)(width)})

#define ARRAY_LIST(...)                                                                            \
    (array_room[]){__VA_ARGS__}, sizeof(array_room[]){__VA_ARGS__} / sizeof(array_room)
#define arrays_grow(capacity, needed, ...)                                                         \
    arrays_grow_all(capacity, needed, ARRAY_LIST(__VA_ARGS__))
#define arrays_renew(capacity, needed, ...)                                                        \
    arrays_renew_all(capacity, needed, ARRAY_LIST(__VA_ARGS__))

bool arrays_grow_all(int64_t* capacity, int64_t needed, const array_room* arrays, size_t count);
bool arrays_renew_all(int64_t* capacity, int64_t needed, const array_room* arrays, size_t count);

#endif
