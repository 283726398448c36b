/// Grains from a CSV file of any program: the line of names, then rows. The separator is a
/// semicolon if the names have one, else a comma, else blanks; lines that begin with # are
/// comments.
#include "scene/import.h"

#include <string.h>

static talus_status read_rows(import_file* f, const talus_import_def* def, import_model* m)
{
    import_columns c = {.degrees = true};
    int found;
    while ((found = import_line(f)) > 0) {
        char* text = f->line;
        if (f->number == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3; // byte order mark
        text += strspn(text, " \t");
        if (!*text || *text == '#') continue;
        if (c.count > 0) {
            TRY(import_row(&c, f, text, def, m));
            continue;
        }
        c.separator = strchr(text, ';') ? ';' : strchr(text, ',') ? ',' : ' ';
        TRY(import_name_columns(&c, f, text, m));
    }
    if (found < 0) return (talus_status)found;
    return c.count > 0 ? TALUS_OK
                       : import_error(f, "the file ends before the line that names the columns");
}

talus_status import_csv(const talus_import_def* def, import_model* m, talus_error* error)
{
    import_file f;
    talus_status status = import_open(&f, def->path, error);
    if (status == TALUS_OK) status = read_rows(&f, def, m);
    import_close(&f);
    return status;
}
