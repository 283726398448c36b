/// A row of the series: what a run tells of a world after a step, as numbers with names.
#ifndef TALUS_RECORD_SERIES_ROW_H
#define TALUS_RECORD_SERIES_ROW_H

#include "record/files.h"

#include <talus/world.h>

/// Numbers in a row in which the first `wall_count` walls have columns.
int series_width(const talus_world* world, int64_t wall_count);
/// Their names, with commas between and a newline at the end.
void series_names(const talus_world* world, int64_t wall_count, text_buffer* out);
/// The SI unit of the column of that name, "" for plain numbers and for names that are none.
const char* series_unit(const char* name);
/// The numbers after a step of length h, [series_width()]; true is 1.
void series_row(const talus_world* world, double h, int64_t wall_count, double* out);

#endif
