/// Work that a thread of its own does while the run goes on: one piece after the other.
#ifndef TALUS_RECORD_BEHIND_H
#define TALUS_RECORD_BEHIND_H

#include <stdbool.h>
#include <talus/base.h>

/// Zero is none.
typedef struct behind behind;
typedef talus_status behind_work(void* data, talus_error* error);

/// Let a thread do the work; *of is made on first use (NULL before). Waits for the piece before,
/// and if that failed says so and begins nothing. Without a thread the caller does it.
talus_status behind_do(behind** of, behind_work* work, void* data, talus_error* error);
/// Wait until all is done. A failure is told once.
talus_status behind_wait(behind* b, talus_error* error);
/// Is a piece still being worked on?
bool behind_is_busy(const behind* b);
/// Wait, and free it.
void behind_free(behind* b);

#endif
