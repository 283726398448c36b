/// How the program was called, so that the commands it tells can be copied and run as they stand.
#include "app.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char called[QUOTED_SIZE] = "talus";

const char* program(void)
{
    return called;
}

void quote_path(const char* path, char out[QUOTED_SIZE])
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
    const bool quoted = !path[0] || path[strspn(path, plain)] != '\0';
    size_t used = 0;
    if (quoted) out[used++] = '\'';
    for (const char* c = path; *c && used + 6 < QUOTED_SIZE; c++) {
        if (*c != '\'') {
            out[used++] = *c;
            continue;
        }
        memcpy(out + used, "'\\''", 4);
        used += 4;
    }
    if (quoted) out[used++] = '\'';
    out[used] = '\0';
}

/// Whether the shell finds this very file when `name` is typed.
static bool found_on_path(const char* path, const char* name)
{
    struct stat wanted, there;
    if (stat(path, &wanted) != 0) return false;
    for (const char* at = getenv("PATH"); at && *at;) {
        const size_t length = strcspn(at, ":");
        char candidate[PATH_SIZE];
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, at, name);
        if (stat(candidate, &there) == 0 && S_ISREG(there.st_mode)) { // the first one is run
            return there.st_dev == wanted.st_dev && there.st_ino == wanted.st_ino;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

void program_called(const char* argv0)
{
    if (!argv0 || !argv0[0]) return;
    const char* slash = strrchr(argv0, '/');
    if (!slash) { // the shell found it
        quote_path(argv0, called);
        return;
    }
    if (found_on_path(argv0, slash + 1)) {
        quote_path(slash + 1, called);
        return;
    }
    char here[PATH_SIZE], shown[PATH_SIZE + 2];
    const size_t length = argv0[0] == '/' && getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length > 1 && strncmp(argv0, here, length) == 0 && argv0[length] == '/') {
        const char* rest = argv0 + length + 1;
        snprintf(shown, sizeof shown, "%s%s", strchr(rest, '/') ? "" : "./", rest);
    } else {
        snprintf(shown, sizeof shown, "%s", argv0);
    }
    quote_path(shown, called);
}

/// Whether a text goes on with the name of a command.
static bool is_command(const char* text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    for (const command* const* c = command_list(); *c; c++) {
        if (strlen((*c)->name) == length && strncmp((*c)->name, text, length) == 0) return true;
    }
    return strncmp(text, "COMMAND", 7) == 0;
}

void print_as_called(FILE* out, const char* text)
{
    static const char name[] = "talus ";
    for (const char* at; (at = strstr(text, name)); text = at + 5) {
        const bool word = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '/');
        fwrite(text, 1, (size_t)(at - text), out);
        fputs(word && is_command(at + sizeof name - 1) ? program() : "talus", out);
    }
    fputs(text, out);
}
