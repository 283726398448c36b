/// Command-line options: getopt_long() with messages that help.
#include "app.h"
#include "base/words.h"

#include "scene/reader.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Say that an option is unknown, and which one is near.
static void complain_unknown(const char* typed, const struct option* list)
{
    const char* names[32];
    int count = 0;
    for (; list[count].name && count < 32; count++) names[count] = list[count].name;
    char word[64];
    const char* bare = typed + strspn(typed, "-");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(bare, "="), bare);
    const char* near = nearest_name(word, names, count);
    fprintf(stderr, "talus: unknown option '%s'%s%s%s\n", typed, near ? "; did you mean '--" : "",
            near ? near : "", near ? "'?" : "");
}

int options_next(int argc, char** argv, const char* brief, const struct option* list)
{
    opterr = 0;
    int before = optind;
    int choice = getopt_long(argc, argv, brief, list, NULL);
    if (choice == ':') {
        fprintf(stderr, "talus: the option '%s' needs a value\n", argv[optind - 1]);
        return '?';
    }
    if (choice != '?') return choice;
    // A bad letter is named by optopt; a bad long option is the argument just passed.
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt != 0 && strchr(brief, optopt) == NULL && optopt < 128;
    complain_unknown(is_letter ? letter : argv[optind > before ? optind - 1 : before], list);
    return '?';
}

bool options_integer(const char* option, const char* text, int64_t low, int64_t* out)
{
    char* end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == ERANGE && value > 0) {
        fprintf(stderr, "talus: %s: %s is too large, it can be %lld at most\n", option, text,
                LLONG_MAX);
        return false;
    }
    if (end == text || *end != '\0' || errno != 0 || value < low) {
        fprintf(stderr, "talus: %s needs a whole number of at least %lld, not '%s'\n", option,
                (long long)low, text);
        return false;
    }
    *out = value;
    return true;
}

bool options_number(const char* option, const char* text, double* out)
{
    char* end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < 0) {
        fprintf(stderr, "talus: %s needs a number of at least 0, not '%s'\n", option, text);
        return false;
    }
    *out = value;
    return true;
}

bool options_between(const char* option, const char* text, double low, double high, double* out)
{
    if (!options_number(option, text, out)) return false;
    if (*out >= low && *out <= high) return true;
    fprintf(stderr, "talus: %s needs a number from %g to %g, not %s\n", option, low, high, text);
    return false;
}

const char* options_single(int argc, char** argv, const char* what)
{
    if (argc - optind == 1) return argv[optind];
    if (argc == optind) {
        fprintf(stderr, "talus: %s is missing\nusage: talus %s\n", what,
                command_find(argv[0])->usage);
    } else {
        fprintf(stderr, "talus: '%s' is one argument too many: only %s is expected\n",
                argv[optind + 1], what);
    }
    return NULL;
}

bool option_values_add(option_values* values, int argc, const char* value)
{
    if (!values->items) values->items = calloc((size_t)argc, sizeof *values->items);
    if (!values->items) return false;
    values->items[values->count++] = value;
    return true;
}
