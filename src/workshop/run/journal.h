/// The journal of a run: log.txt, and a copy of every line to the caller's log.
#ifndef TALUS_RUN_JOURNAL_H
#define TALUS_RUN_JOURNAL_H

#include "base/log.h"

#include <stdio.h>

/// Zero-initialise, then set `copy`. Lines that come before journal_open() are kept and written
/// then: a scene is built before its directory is touched.
typedef struct journal {
    log_sink copy; ///< the caller's, may be empty
    FILE* file;    ///< log.txt, NULL before journal_open()
    char* early;   ///< lines of before, newline-ended
    size_t early_size;
} journal;

/// The sink that writes to the journal. The journal must stay where it is.
log_sink journal_sink(journal* j);
/// Open directory/log.txt for appending and write the lines of before.
talus_status journal_open(journal* j, const char* directory, talus_error* error);
void journal_close(journal* j);

#endif
