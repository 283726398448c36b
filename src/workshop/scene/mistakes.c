/// The list of a scene's mistakes. It holds at most MISTAKES_MAX of them: a file in which
/// everything is wrong (a picture, say) must not fill the screen.
#include "scene/mistakes.h"

#include "base/array.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISTAKES_MAX = 100 };

void mistakes_free(mistakes* found)
{
    for (int i = 0; i < found->count; i++) free(found->items[i].text);
    free(found->items);
    found->items = NULL;
    found->count = 0;
    found->capacity = 0;
}

void mistakes_add_list(mistakes* found, place at, const char* path, const char* format,
                       va_list args)
{
    if (found->count >= MISTAKES_MAX) {
        found->dropped++;
        return;
    }
    char* message = NULL;
    char* text = NULL;
    bool ok = vasprintf(&message, format, args) >= 0;
    if (!ok) message = NULL;
    if (ok && path && path[0]) {
        ok = asprintf(&text, "%s: %s", path, message) >= 0;
        free(message);
    } else {
        text = message;
    }
    if (!ok || !arrays_grow(&found->capacity, found->count + 1, ARRAY(found->items))) {
        if (ok) free(text);
        found->out_of_memory = true;
        return;
    }
    found->items[found->count] = (mistake){.at = at, .order = found->count, .text = text};
    found->count++;
}

void mistakes_add(mistakes* found, place at, const char* path, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    mistakes_add_list(found, at, path, format, args);
    va_end(args);
}

/// File positions in ascending order, then overrides; ties in the order of discovery.
static int mistake_compare(const void* left, const void* right)
{
    const mistake* a = left;
    const mistake* b = right;
    if (!a->at.source != !b->at.source) return a->at.source ? 1 : -1;
    if (!a->at.source && a->at.line != b->at.line) return a->at.line < b->at.line ? -1 : 1;
    if (!a->at.source && a->at.column != b->at.column) return a->at.column < b->at.column ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/// Join as many lines as fit into the error's text.
static void join_lines(const talus_report* report, talus_error* error)
{
    if (!error) return;
    error->status = TALUS_ERR_SCENE;
    size_t used = 0;
    error->text[0] = '\0';
    for (int i = 0; i < report->count; i++) {
        size_t size = strlen(report->lines[i]) + 1;
        if (used + size >= sizeof error->text) break;
        if (used > 0) error->text[used++] = '\n';
        memcpy(error->text + used, report->lines[i], size);
        used += size - 1;
    }
    if (used == 0) {
        snprintf(error->text, sizeof error->text, "%.*s", (int)sizeof error->text - 1,
                 report->count > 0 ? report->lines[0] : "");
    }
}

talus_status mistakes_report(mistakes* found, talus_report* report, talus_error* error)
{
    if (found->out_of_memory) return error_memory(error, "the list of mistakes in the scene");
    if (found->count == 0) return TALUS_OK;
    qsort(found->items, (size_t)found->count, sizeof *found->items, mistake_compare);

    talus_report made = {.count = 0, .lines = calloc((size_t)found->count + 1, sizeof(char*))};
    if (!made.lines) return error_memory(error, "the list of mistakes in the scene");
    for (int i = 0; i < found->count; i++) {
        const mistake* item = &found->items[i];
        char* line = NULL;
        int written;
        if (item->at.source)
            written = asprintf(&line, "%s: %s", item->at.source, item->text);
        else if (item->at.line > 0)
            written = asprintf(&line, "%s:%d:%d: %s", found->file, item->at.line, item->at.column,
                               item->text);
        else
            written = asprintf(&line, "%s: %s", found->file, item->text);
        if (written >= 0) made.lines[made.count++] = line;
    }
    char* more = NULL;
    if (found->dropped > 0 && asprintf(&more, "%s: and %lld more mistakes", found->file,
                                       (long long)found->dropped) >= 0) {
        made.lines[made.count++] = more;
    }
    join_lines(&made, error);
    if (report) {
        talus_report_clear(report);
        *report = made;
    } else {
        talus_report_clear(&made);
    }
    return TALUS_ERR_SCENE;
}

void talus_report_clear(talus_report* report)
{
    if (!report) return;
    for (int i = 0; i < report->count; i++) free(report->lines[i]);
    free(report->lines);
    *report = (talus_report){0};
}
