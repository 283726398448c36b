/// Struct-of-arrays tables: allocation, growth and compaction from a list of columns.
#include "base/columns.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

int column_row_width(const column* col, int dim)
{
    switch (col->width) {
    case WIDTH_1: return 1;
    case WIDTH_DIM: return dim;
    case WIDTH_SPIN: return spin_width(dim);
    case WIDTH_ROTATION: return dim == 2 ? 1 : 4;
    case WIDTH_3: return 3;
    case WIDTH_4: return 4;
    }
    return 1;
}

size_t column_element_size(const column* col)
{
    switch (col->type) {
    case COLUMN_F64: return sizeof(double);
    case COLUMN_I64: return sizeof(int64_t);
    case COLUMN_I32: return sizeof(int32_t);
    case COLUMN_U8: return sizeof(uint8_t);
    }
    return 1;
}

static void** column_slot(const column* col, const void* table)
{
    return (void**)((char*)(uintptr_t)table + col->offset);
}

void* column_data(const column* col, const void* table)
{
    return *column_slot(col, table);
}

static size_t column_row_bytes(const column* col, int dim)
{
    return column_element_size(col) * (size_t)column_row_width(col, dim);
}

talus_status columns_reserve(void* table, const column* cols, int col_count, int dim,
                             int64_t needed, int64_t* capacity)
{
    if (needed <= *capacity) return TALUS_OK;
    int64_t grown = capacity_for(*capacity);
    if (grown < needed) grown = needed;

    // A column that has already grown when a later one fails stays valid: capacity is only raised
    // at the end, and realloc never shrinks here.
    for (int c = 0; c < col_count; c++) {
        size_t row = column_row_bytes(&cols[c], dim);
        void** slot = column_slot(&cols[c], table);
        if (!*slot && (cols[c].flags & COLUMN_RARE)) continue;
        char* bigger = realloc(*slot, row * (size_t)grown);
        if (!bigger) return TALUS_ERR_MEMORY;
        memset(bigger + row * (size_t)*capacity, 0, row * (size_t)(grown - *capacity));
        *slot = bigger;
    }
    *capacity = grown;
    return TALUS_OK;
}

talus_status column_need(const column* col, void* table, int dim, int64_t capacity)
{
    void** slot = column_slot(col, table);
    if (!*slot && capacity > 0) *slot = calloc((size_t)capacity, column_row_bytes(col, dim));
    return *slot || capacity == 0 ? TALUS_OK : TALUS_ERR_MEMORY;
}

void column_drop(const column* col, void* table)
{
    free(*column_slot(col, table));
    *column_slot(col, table) = NULL;
}

int64_t columns_compact(void* table, const column* cols, int col_count, int dim, int64_t count,
                        const uint8_t* keep)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!keep[i]) continue;
        if (kept != i) columns_copy_row(table, cols, col_count, dim, kept, i);
        kept++;
    }
    return kept;
}

void columns_copy_row(void* table, const column* cols, int col_count, int dim, int64_t to,
                      int64_t from)
{
    for (int c = 0; c < col_count; c++) {
        size_t row = column_row_bytes(&cols[c], dim);
        char* data = column_data(&cols[c], table);
        if (!data) continue;
        memcpy(data + row * (size_t)to, data + row * (size_t)from, row);
    }
}

void* column_copy(const column* col, const void* table, int dim, int64_t capacity)
{
    const void* data = column_data(col, table);
    const size_t bytes = column_row_bytes(col, dim) * (size_t)capacity;
    void* copy = data ? malloc(bytes) : NULL;
    if (copy) memcpy(copy, data, bytes);
    return copy;
}

talus_status columns_copy(void* to, const void* from, const column* cols, int col_count, int dim,
                          int64_t capacity)
{
    for (int c = 0; c < col_count; c++) {
        void** slot = column_slot(&cols[c], to);
        *slot = column_copy(&cols[c], from, dim, capacity);
        if (!*slot && column_data(&cols[c], from)) return TALUS_ERR_MEMORY;
    }
    return TALUS_OK;
}

void columns_free(void* table, const column* cols, int col_count)
{
    for (int c = 0; c < col_count; c++) {
        void** slot = column_slot(&cols[c], table);
        free(*slot);
        *slot = NULL;
    }
}
