/// The table of a command: its options and arguments, one row each.
///
/// The parser takes types, ranges and places from it; `talus help`, the man page and the
/// completions of the shells are written from it. There is no other list of options.
#ifndef TALUS_APP_OPTIONS_H
#define TALUS_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- what a value is ---------------------------------------------------------------------------

/// What an argument or the value of an option is, so that a shell can offer something.
typedef enum value_source {
    VALUE_SCENE,  ///< a scene file or a ready-made one
    VALUE_FOLDER, ///< of a run, for instance
    VALUE_FILE,
    VALUE_KEY,  ///< key.path=value of a scene
    VALUE_WORD, ///< one of a list
} value_source;

typedef struct value_kind {
    value_source source;
    const char* one;                ///< VALUE_WORD: "plot", in messages
    const char* many;               ///< "plots", also the list's name in the scripts of the shells
    const char* (*word)(int index); ///< the i-th of them, NULL behind the last
    const char* listed_by;          ///< where they are explained; NULL: messages name all of them
    bool odd;                       ///< the words need quotes in a shell
} value_kind;

extern const value_kind value_scene, value_folder, value_file, value_key;
extern const value_kind value_command, value_shell;   // main.c, command_completion.c
extern const value_kind value_field, value_map;       // command_render.c
extern const value_kind value_format, value_template; // command_import.c, command_new.c
extern const value_kind value_paper, value_plot;      // command_paper.c, command_plot.c
extern const value_kind value_quantity, value_section, value_solver; // measure, schema, solve

/// Place of a word in its list; -1, with a message that names the nearest, if it is none of them.
int value_find(const value_kind* kind, const char* word);

// ---- the table ---------------------------------------------------------------------------------

/// What an option does to the place in the command's struct that its row names.
typedef enum option_type {
    OPTION_FLAG,     ///< bool: becomes true
    OPTION_NOT,      ///< bool: becomes false
    OPTION_INSTEAD,  ///< bool: becomes true, and the command needs no arguments
    OPTION_TEXT,     ///< const char*
    OPTION_SETS,     ///< option_sets: one more key.path=value
    OPTION_COUNT,    ///< int from low to high
    OPTION_WHOLE,    ///< int64_t or uint64_t from low to high
    OPTION_NUMBER,   ///< double, finite, from low to high
    OPTION_POSITIVE, ///< double above 0
    OPTION_CHOICE,   ///< int or enum: place in `value`, such as "heap|plane"
    OPTION_WORD,     ///< int or enum: place in the list of `kind`
    OPTION_READ,     ///< whatever `read` makes of the text
} option_type;

typedef struct option_row {
    char letter;            ///< of -o, '\0': none
    const char* name;       ///< of --output
    const char* also;       ///< another spelling, which is not explained; NULL: none
    const char* value;      ///< "DIR"; NULL: it takes none
    bool value_may_lack;    ///< --movie[=FILE]: `otherwise` is taken then, as text
    const value_kind* kind; ///< of the value; NULL: any, or the small words of `value`
    bool repeated;          ///< it may be given several times
    const char* meaning;    ///< in the help
    const char* otherwise;  ///< default in words; NULL: none, or named in `meaning`
    option_type type;
    size_t place;     ///< offsetof() in the struct of the command's options
    double low, high; ///< of numbers; high 0: no bound but that of the type
    /// Read the text into the place; false, with a message that begins with the option's name.
    bool (*read)(const char* option, const char* text, void* place);
} option_row;

/// `--device` of a command that runs scenes; `member` is a const char*.
#define OPTION_ROW_DEVICE(options, member)                                                         \
    {                                                                                              \
        .name = "device", .value = "cpu|gpu|gpu:N|auto",                                           \
        .meaning = "what computes the steps, with the same bits; gpu:1 is the second graphics "    \
                   "card",                                                                         \
        .otherwise = "as the scene says", .type = OPTION_READ, .place = offsetof(options, member), \
        .read = read_device                                                                        \
    }
bool read_device(const char* option, const char* text, void* place);
/// `--set` of a command whose struct has `sets`.
#define OPTION_ROW_SET(options) OPTION_ROW_SET_AT(options, sets)
/// The same under another name.
#define OPTION_ROW_SET_AT(options, member)                                                         \
    {                                                                                              \
        .name = "set", .value = "key.path=value", .kind = &value_key, .repeated = true,            \
        .meaning = "change a value of the scene", .type = OPTION_SETS,                             \
        .place = offsetof(options, member)                                                         \
    }

/// The values of `--set`. free() the items.
typedef struct option_sets {
    const char** items;
    int count;
    int64_t capacity;
} option_sets;

/// An argument of a command, or all behind the first.
typedef struct argument_row {
    const char* what; ///< "a scene", in messages; NULL: there is none
    const value_kind* kind;
    size_t place;  ///< of a const char*, of the rest an argument_list
    bool may_lack; ///< the rest always may
} argument_row;

typedef struct argument_list {
    char** items; ///< of main()
    int count;
} argument_list;

/// A subcommand: `talus NAME ...`.
typedef struct command {
    const char* name;
    const char* usage;         ///< after "talus "
    const char* summary;       ///< one line
    const char* about;         ///< before the options; NULL: nothing
    const option_row* options; ///< up to one without name; NULL: only --help
    const char* notes;         ///< behind them; NULL: nothing
    const char* examples;
    argument_row first, rest;
    int (*function)(int argc, char** argv);
} command;

// ---- reading -----------------------------------------------------------------------------------

enum { OPTIONS_GOOD = -1 };

/// Read a command line into the struct of the command's options. OPTIONS_GOOD: carry it out; else
/// the exit status, after the help was printed or after a message.
int options_read(const command* c, int argc, char** argv, void* options);
/// Say that something is missing, and how the command is used. Returns the exit status.
int usage_missing(const command* c, const char* what);
/// Say that an argument is one too many, because `who` takes none. Returns the exit status.
int usage_surplus(const char* argument, const char* who);

// ---- telling -----------------------------------------------------------------------------------

/// Print what `talus help NAME` says.
void print_command_help(FILE* out, const command* c);
/// Write the man page as roff.
void manual_write(FILE* out);
/// All that is said of an option: meaning, whether it may be repeated, default.
enum { WORDS_SIZE = 480 };
void option_words(const option_row* row, char* out, size_t size);

#endif
