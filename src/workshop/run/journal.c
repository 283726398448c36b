/// The journal of a run. Each line in log.txt has the time of day (UTC); warnings say so.
#include "run/journal.h"

#include "base/error.h"
#include "record/files.h"
#include "run/directory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/// Write "2026-01-31T12:00:00Z words" to the file, or keep it until there is one.
static void journal_line(void* user, talus_log_level level, const char* words)
{
    journal* j = user;
    char line[2560], stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(line, sizeof line - 1, "%s %s%s", stamp, level == TALUS_LOG_WARNING ? "warning: " : "",
             words);
    strcat(line, "\n");
    if (j->file) {
        fputs(line, j->file);
        fflush(j->file);
    } else {
        const size_t length = strlen(line);
        char* bigger = realloc(j->early, j->early_size + length + 1);
        if (bigger) { // a log line is not worth failing for
            memcpy(bigger + j->early_size, line, length + 1);
            j->early = bigger;
            j->early_size += length;
        }
    }
    log_write(&j->copy, level, "%s", words);
}

log_sink journal_sink(journal* j)
{
    return (log_sink){.function = journal_line, .user = j};
}

talus_status journal_open(journal* j, const char* directory, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, "log.txt", error));
    j->file = fopen(path, "ae");
    if (!j->file) return files_error(error, "write", path);
    if (j->early) fputs(j->early, j->file);
    free(j->early);
    j->early = NULL;
    j->early_size = 0;
    return TALUS_OK;
}

void journal_close(journal* j)
{
    if (j->file) fclose(j->file);
    free(j->early);
    *j = (journal){0};
}
