/// Struct-of-arrays tables described by one list of columns.
///
/// A table is a struct with `count`, `capacity` and one pointer per column. The list of columns
/// says each pointer's offset, element type and row width; growing, removing rows, recording to
/// files, checkpoints and bindings are all driven by that one list (REBOUND's field table).
#ifndef TALUS_BASE_COLUMNS_H
#define TALUS_BASE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talus/base.h>

typedef enum column_type { COLUMN_F64, COLUMN_I64, COLUMN_I32, COLUMN_U8 } column_type;

/// Row width of a column, resolved with the dimension of the world.
typedef enum column_width {
    WIDTH_1,        ///< scalar
    WIDTH_DIM,      ///< vector: 2 or 3
    WIDTH_SPIN,     ///< axial vector: 1 or 3
    WIDTH_ROTATION, ///< angle (1) or quaternion (4)
    WIDTH_3,        ///< always 3
    WIDTH_4,        ///< always 4
} column_width;

enum {
    COLUMN_FRAME = 1, ///< recorded in frames
    COLUMN_STATE = 2, ///< needed to go on: saved in checkpoints
    COLUMN_RARE = 4,  ///< NULL while all its rows are zero (column_need)
    COLUMN_SOLVED = 8 ///< recorded only where contacts are solved: not with the method soft
};

typedef struct column {
    const char* name; ///< as users see it in files
    size_t offset;    ///< of the pointer in the table's struct
    column_type type;
    column_width width;
    unsigned flags;
    const char* unit; ///< SI, "" if none
    const char* doc;  ///< one line
} column;

/// Doubles (or other elements) in one row.
int column_row_width(const column* col, int dim);
/// Bytes of one element.
size_t column_element_size(const column* col);
/// The column's array in `table`; NULL for a rare one that was not needed.
void* column_data(const column* col, const void* table);

/// Room to make for `needed` rows of something that may go on growing: a quarter more, less of what
/// is large, where memory counts and a move costs little beside the work on the rows.
static inline int64_t capacity_for(int64_t needed)
{
    return needed + needed / (needed < 100000 ? 4 : needed < 1000000 ? 10 : 40) + 16;
}

/// Grow every array of `table` to hold `needed` rows (amortised); rows up to *capacity are kept,
/// new rows are zero. Returns TALUS_ERR_MEMORY and leaves the table usable when memory is short.
talus_status columns_reserve(void* table, const column* cols, int col_count, int dim,
                             int64_t needed, int64_t* capacity);
/// Give a rare column its array, of zeros, if it has none; `capacity` is the table's.
talus_status column_need(const column* col, void* table, int dim, int64_t capacity);
/// Take a rare column's array away again: all its rows are zero.
void column_drop(const column* col, void* table);
/// Keep only the rows whose `keep` byte is nonzero, in order; returns how many are left.
int64_t columns_compact(void* table, const column* cols, int col_count, int dim, int64_t count,
                        const uint8_t* keep);
/// Copy row `from` over row `to` in every column.
void columns_copy_row(void* table, const column* cols, int col_count, int dim, int64_t to,
                      int64_t from);
/// A copy of a column's array with all of the table's `capacity`, to be freed by the caller; NULL
/// if it has none or memory is short.
void* column_copy(const column* col, const void* table, int dim, int64_t capacity);
/// Give a table without arrays copies of those of another one.
talus_status columns_copy(void* to, const void* from, const column* cols, int col_count, int dim,
                          int64_t capacity);
/// Free every array and null the pointers.
void columns_free(void* table, const column* cols, int col_count);

#endif
