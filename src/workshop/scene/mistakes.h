/// Mistakes found in a scene: collected while it is read, reported all at once in file order.
#ifndef TALUS_SCENE_MISTAKES_H
#define TALUS_SCENE_MISTAKES_H

#include <stdarg.h>
#include <talus/scene.h>

/// Where something was written: a file position, or a command-line override.
typedef struct place {
    const char* source; ///< NULL: the scene file; else the override, such as "--set step=1"
    int line, column;   ///< from 1; 0 if unknown
} place;

typedef struct mistake {
    place at;
    int order;  ///< of discovery, so that sorting is stable
    char* text; ///< "key.path: what is wrong"
} mistake;

typedef struct mistakes {
    const char* file; ///< not owned
    int count;
    int64_t capacity;
    int64_t dropped; ///< found after the list was full
    bool out_of_memory;
    mistake* items;
} mistakes;

void mistakes_free(mistakes* found);

/// Add a mistake. `path` may be NULL or empty when no key is to blame.
void mistakes_add(mistakes* found, place at, const char* path, const char* format, ...)
    TALUS_PRINTF(4, 5);
void mistakes_add_list(mistakes* found, place at, const char* path, const char* format,
                       va_list args);

/// Put the list, sorted, into *report (may be NULL) and its first lines into *error. Returns
/// TALUS_OK when there is nothing to report, else TALUS_ERR_SCENE.
talus_status mistakes_report(mistakes* found, talus_report* report, talus_error* error);

#endif
