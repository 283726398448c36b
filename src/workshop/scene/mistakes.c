/// The list of a scene's mistakes. It holds at most MISTAKES_MAX of them: a file in which
/// everything is wrong (a picture, say) must not fill the screen.
#include "scene/mistakes.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISTAKES_MAX = 100 };

void mistakes_free(mistakes* p)
{
    for (int i = 0; i < p->count; i++) free(p->items[i].text);
    free(p->items);
    p->items = NULL;
    p->count = p->capacity = 0;
}

/// Room for one more, or false.
static bool mistakes_grow(mistakes* p)
{
    if (p->count < p->capacity) return true;
    int capacity = p->capacity ? 2 * p->capacity : 16;
    mistake* items = realloc(p->items, sizeof *items * (size_t)capacity);
    if (!items) return false;
    p->items = items;
    p->capacity = capacity;
    return true;
}

void mistakes_add_list(mistakes* p, place at, const char* path, const char* format, va_list args)
{
    if (p->count >= MISTAKES_MAX) {
        p->dropped++;
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
    if (!ok || !mistakes_grow(p)) {
        if (ok) free(text);
        p->out_of_memory = true;
        return;
    }
    p->items[p->count] = (mistake){.at = at, .order = p->count, .text = text};
    p->count++;
}

void mistakes_add(mistakes* p, place at, const char* path, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    mistakes_add_list(p, at, path, format, args);
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

static char* mistake_line(const mistakes* p, const mistake* item)
{
    char* line = NULL;
    int written;
    if (item->at.source) {
        written = asprintf(&line, "%s: %s", item->at.source, item->text);
    } else if (item->at.line > 0) {
        written =
            asprintf(&line, "%s:%d:%d: %s", p->file, item->at.line, item->at.column, item->text);
    } else {
        written = asprintf(&line, "%s: %s", p->file, item->text);
    }
    return written < 0 ? NULL : line;
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

talus_status mistakes_report(mistakes* p, talus_report* report, talus_error* error)
{
    if (p->out_of_memory) return error_memory(error, "the list of mistakes in the scene");
    if (p->count == 0) return TALUS_OK;
    qsort(p->items, (size_t)p->count, sizeof *p->items, mistake_compare);

    talus_report made = {.count = 0, .lines = calloc((size_t)p->count + 1, sizeof(char*))};
    if (!made.lines) return error_memory(error, "the list of mistakes in the scene");
    for (int i = 0; i < p->count; i++) {
        char* line = mistake_line(p, &p->items[i]);
        if (line) made.lines[made.count++] = line;
    }
    char* more = NULL;
    if (p->dropped > 0 &&
        asprintf(&more, "%s: and %lld more mistakes", p->file, (long long)p->dropped) >= 0) {
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
