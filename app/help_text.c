/// Options as the help texts of the commands list them: the completions and the man page are made
/// of the same words that `talus help` prints.
///
/// An option stands on a line of its own, indented by two blanks: letter, names, value, then two
/// blanks and what it does; lines that follow it further to the right go on with that.
#include "app.h"

#include <string.h>

enum { DEEP = 10 }; ///< blanks before a line that goes on with an option

/// Copy at most size - 1 bytes.
static void copy(char* out, size_t size, const char* from, size_t length)
{
    snprintf(out, size, "%.*s", (int)length, from);
}

/// The value that stands behind a name: " DIR" or "[=N]". Returns where the description begins.
static const char* read_value(const char* at, help_option* out)
{
    out->value[0] = '\0';
    out->value_may_lack = strncmp(at, "[=", 2) == 0;
    if (out->value_may_lack) {
        size_t length = strcspn(at + 2, "]\n");
        copy(out->value, sizeof out->value, at + 2, length);
        at += 2 + length + (at[2 + length] == ']');
    } else if (at[0] == ' ' && at[1] != ' ' && at[1] != '\n') {
        size_t length = strcspn(at + 1, " \n");
        copy(out->value, sizeof out->value, at + 1, length);
        at += 1 + length;
    }
    return at;
}

/// The description, its lines joined by blanks. Returns the line behind it.
static const char* read_description(const char* at, help_option* out)
{
    size_t used = 0;
    out->text[0] = '\0';
    for (bool more = true; more;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, "\n");
        if (used + length + 2 < sizeof out->text) {
            if (used > 0) out->text[used++] = ' ';
            copy(out->text + used, sizeof out->text - used, at, length);
            used += length;
        }
        at += length + (at[length] == '\n');
        more = strspn(at, " ") >= DEEP;
    }
    return at;
}

bool help_is_option(const char* line)
{
    return strncmp(line, "  -", 3) == 0;
}

const char* help_read_option(const char* line, help_option* out)
{
    const char* at = line + 2;
    out->letter = '\0';
    if (at[1] != '-') {
        out->letter = at[1];
        at += 2 + strspn(at + 2, ", ");
    }
    out->count = 0;
    while (strncmp(at, "--", 2) == 0 && out->count < 4) {
        size_t length = strcspn(at + 2, " ,[\n");
        copy(out->names[out->count++], sizeof out->names[0], at + 2, length);
        at += 2 + length;
        if (strncmp(at, ", --", 4) == 0) at += 2;
    }
    at = read_value(at, out);
    return read_description(at, out);
}

bool help_next_option(const char** at, help_option* out)
{
    while (**at) {
        if (help_is_option(*at)) {
            *at = help_read_option(*at, out);
            return true;
        }
        *at += strcspn(*at, "\n");
        *at += **at == '\n';
    }
    return false;
}
