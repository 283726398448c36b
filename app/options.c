/// Reading command lines by the table of a command: getopt_long() with messages that help.
#include "app.h"

#include "base/array.h"
#include "base/words.h"
#include "card/choice.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const value_kind value_scene = {.source = VALUE_SCENE};
const value_kind value_folder = {.source = VALUE_FOLDER};
const value_kind value_file = {.source = VALUE_FILE};
const value_kind value_key = {.source = VALUE_KEY};

enum {
    MOST_NAMES = 64, ///< spellings of options of a command, --help among them
    MOST_WORDS = 64, ///< of a list
    FIRST_CHOICE = 256,
};

bool read_device(const char* option, const char* text, void* place)
{
    device_choice choice;
    if (device_read(text, &choice, NULL) >= 0) {
        *(const char**)place = text;
        return true;
    }
    fprintf(stderr,
            "talus: %s needs cpu, gpu, gpu:N for card number N from 0 on, or auto, not '%s'\n",
            option, text);
    return false;
}

// ---- words -------------------------------------------------------------------------------------

int value_find(const value_kind* kind, const char* word)
{
    const char* names[MOST_WORDS];
    int count = 0;
    for (const char* name; count < MOST_WORDS && (name = kind->word(count)) != NULL; count++) {
        if (strcmp(word, name) == 0) return count;
        names[count] = name;
    }
    const char* near = nearest_name(word, names, count);
    fprintf(stderr, "talus: there is no %s '%s'%s%s%s ", kind->one, word,
            near ? "; did you mean '" : ";", near ? near : "", near ? "'?" : "");
    if (kind->listed_by) {
        print_as_called(stderr, kind->listed_by);
        fputs(" lists them", stderr);
    } else {
        fprintf(stderr, "%s are:", kind->many);
        for (int i = 0; i < count; i++) fprintf(stderr, " %s", names[i]);
    }
    fputc('\n', stderr);
    return -1;
}

/// Place of a word in "heap|plane"; -1, with a message, if it is neither.
static int find_choice(const char* option, const char* choices, const char* text)
{
    const size_t length = strlen(text);
    int index = 0;
    for (const char* at = choices; *at; index++) {
        const size_t here = strcspn(at, "|");
        if (here == length && strncmp(at, text, here) == 0) return index;
        at += here + (at[here] == '|');
    }
    fprintf(stderr, "talus: %s is ", option);
    for (const char* at = choices; *at;) {
        const size_t here = strcspn(at, "|");
        const bool more = at[here] == '|', last_but_one = more && !strchr(at + here + 1, '|');
        fprintf(stderr, "%.*s%s", (int)here, at, last_but_one ? " or " : more ? ", " : "");
        at += here + more;
    }
    fprintf(stderr, ", not '%s'\n", text);
    return -1;
}

// ---- numbers -----------------------------------------------------------------------------------

static bool read_whole(const char* option, const char* text, int64_t low, int64_t high,
                       int64_t* out)
{
    char* end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    const bool number = end != text && *end == '\0';
    if (number && (errno == ERANGE ? *out > 0 : *out > high)) {
        fprintf(stderr, "talus: %s: %s is too large, it can be %" PRId64 " at most\n", option, text,
                high);
        return false;
    }
    if (number && errno == 0 && *out >= low) return true;
    fprintf(stderr, "talus: %s needs a whole number", option);
    if (low > INT64_MIN) fprintf(stderr, " of at least %" PRId64, low);
    fprintf(stderr, ", not '%s'\n", text);
    return false;
}

static bool read_number(const char* option, const char* text, const option_row* row, double* out)
{
    char* end;
    *out = strtod(text, &end);
    const bool number = end != text && *end == '\0' && isfinite(*out);
    if (row->type == OPTION_POSITIVE) {
        if (number && *out > 0) return true;
        fprintf(stderr, "talus: %s needs a number above 0, not '%s'\n", option, text);
    } else if (row->high != 0.0) {
        if (number && *out >= row->low && *out <= row->high) return true;
        fprintf(stderr, "talus: %s needs a number from %g to %g, not '%s'\n", option, row->low,
                row->high, text);
    } else {
        if (number && *out >= row->low) return true;
        fprintf(stderr, "talus: %s needs a number", option);
        if (isfinite(row->low)) fprintf(stderr, " of at least %g", row->low);
        fprintf(stderr, ", not '%s'\n", text);
    }
    return false;
}

// ---- options -----------------------------------------------------------------------------------

static bool add_set(const char* option, const char* text, option_sets* sets)
{
    if (!strchr(text, '=')) {
        fprintf(stderr, "talus: %s needs key.path=value, not '%s'\n", option, text);
        return false;
    }
    if (!arrays_grow(&sets->capacity, sets->count + 1, ARRAY(sets->items))) {
        fprintf(stderr, "talus: out of memory\n");
        return false;
    }
    sets->items[sets->count++] = text;
    return true;
}

/// Carry the value of an option to its place; false, with a message, if it is no good.
static bool take(const option_row* row, const char* text, char* options)
{
    void* place = options + row->place;
    if (!text && row->value_may_lack) text = row->otherwise;
    char option[64];
    snprintf(option, sizeof option, "--%s", row->name);
    const int64_t low = (int64_t)row->low, high = (int64_t)row->high;
    int64_t whole;
    int found;
    switch (row->type) {
    case OPTION_FLAG:
    case OPTION_INSTEAD: *(bool*)place = true; return true;
    case OPTION_NOT: *(bool*)place = false; return true;
    case OPTION_TEXT: *(const char**)place = text; return true;
    case OPTION_SETS: return add_set(option, text, place);
    case OPTION_COUNT:
        if (!read_whole(option, text, low, high > 0 ? high : INT_MAX, &whole)) return false;
        *(int*)place = (int)whole;
        return true;
    case OPTION_WHOLE: return read_whole(option, text, low, high > 0 ? high : INT64_MAX, place);
    case OPTION_NUMBER:
    case OPTION_POSITIVE: return read_number(option, text, row, place);
    case OPTION_CHOICE:
    case OPTION_WORD:
        found = row->type == OPTION_WORD ? value_find(row->kind, text)
                                         : find_choice(option, row->value, text);
        if (found >= 0) *(int*)place = found;
        return found >= 0;
    case OPTION_READ: return row->read(option, text, place);
    }
    return false;
}

/// Say what getopt_long() did not like: `choice` is what it returned, `before` the first argument
/// that it looked at.
static void complain(const command* c, int choice, char** argv, int before, const char* brief,
                     const struct option* list)
{
    if (choice == ':') {
        fprintf(stderr, "talus: the option '%s' needs a value\n", argv[optind - 1]);
        return;
    }
    // A bad letter is named by optopt; a bad long option is the argument just passed.
    const char letter[3] = {'-', (char)optopt, '\0'};
    const bool is_letter = optopt != 0 && strchr(brief, optopt) == NULL && optopt < 128;
    const char* typed = is_letter ? letter : argv[optind > before ? optind - 1 : before];
    const char* names[MOST_NAMES];
    int count = 0;
    for (; list[count].name; count++) names[count] = list[count].name;
    char word[64];
    const char* bare = typed + strspn(typed, "-");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(bare, "="), bare);
    const char* near = nearest_name(word, names, count);
    fprintf(stderr, "talus: unknown option '%s'", typed);
    if (near)
        fprintf(stderr, "; did you mean '--%s'?\n", near);
    else
        fprintf(stderr, "; `%s help %s` lists its options\n", program(), c->name);
}

// ---- arguments ---------------------------------------------------------------------------------

int usage_missing(const command* c, const char* what)
{
    fprintf(stderr, "talus: %s is missing\nusage: %s %s\n", what, program(), c->usage);
    return STATUS_USAGE;
}

int usage_surplus(const char* argument, const char* who)
{
    fprintf(stderr, "talus: '%s' is one argument too many: %s takes none\n", argument, who);
    return STATUS_USAGE;
}

static int take_arguments(const command* c, int count, char** words, bool instead, char* options)
{
    if (c->first.what) {
        if (count == 0) {
            return instead || c->first.may_lack ? OPTIONS_GOOD : usage_missing(c, c->first.what);
        }
        *(const char**)(void*)(options + c->first.place) = *words++;
        count--;
    }
    if (c->rest.what) {
        *(argument_list*)(void*)(options + c->rest.place) = (argument_list){words, count};
        return OPTIONS_GOOD;
    }
    if (count == 0) return OPTIONS_GOOD;
    if (!c->first.what) {
        char who[64];
        snprintf(who, sizeof who, "the command %s", c->name);
        return usage_surplus(*words, who);
    }
    fprintf(stderr, "talus: '%s' is one argument too many: only %s is expected\n", *words,
            c->first.what);
    return STATUS_USAGE;
}

int options_read(const command* c, int argc, char** argv, void* options)
{
    struct option list[MOST_NAMES + 1] = {{"help", no_argument, NULL, 'h'}};
    char brief[2 * MOST_NAMES + 3] = ":h";
    int names = 1, letters = 2;
    for (const option_row* row = c->options; row && row->name; row++) {
        const int takes = !row->value           ? no_argument
                          : row->value_may_lack ? optional_argument
                                                : required_argument;
        const int choice = FIRST_CHOICE + (int)(row - c->options);
        list[names++] = (struct option){row->name, takes, NULL, choice};
        if (row->also) list[names++] = (struct option){row->also, takes, NULL, choice};
        if (row->letter) brief[letters++] = row->letter;
        if (row->letter && row->value) brief[letters++] = ':';
    }
    bool instead = false;
    opterr = 0;
    optind = 1;
    for (;;) {
        const int before = optind, choice = getopt_long(argc, argv, brief, list, NULL);
        if (choice == -1) break;
        if (choice == 'h') {
            print_command_help(stdout, c);
            return STATUS_OK;
        }
        if (choice == '?' || choice == ':') {
            complain(c, choice, argv, before, brief, list);
            return STATUS_USAGE;
        }
        const option_row* row = c->options;
        if (choice >= FIRST_CHOICE)
            row += choice - FIRST_CHOICE;
        else
            while (row->letter != choice) row++;
        if (!take(row, optarg, options)) return STATUS_USAGE;
        instead |= row->type == OPTION_INSTEAD;
    }
    return take_arguments(c, argc - optind, argv + optind, instead, options);
}
