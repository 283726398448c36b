/// The table of all keys of a scene: the only place that says what exists.
///
/// The reader takes types, ranges, choices and defaults from it, and where a value goes: most rows
/// name the member of the struct that section_fill() puts it into. The others need thought and are
/// read by name. The JSON Schema (`talus schema`), the tables of docs/scenes.md, starter scenes and
/// completions are written from the table too. A key that the reader asks for must have a row
/// (assert), and tests/scene/test_keys.c shows that every row is asked for.
#ifndef TALUS_SCENE_KEYS_H
#define TALUS_SCENE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/// Rules for numbers.
typedef enum real_rule { REAL_ANY, REAL_POSITIVE, REAL_NON_NEGATIVE, REAL_FRACTION } real_rule;

/// What may stand under a key; or-ed where there are several ways.
typedef enum key_kind {
    KEY_REAL = 1,
    KEY_INTEGER = 2,
    KEY_BOOL = 4,
    KEY_TEXT = 8,     ///< any text, or a name of something else in the scene
    KEY_CHOICE = 16,  ///< one of `choices`
    KEY_VECTOR = 32,  ///< list of `width` numbers
    KEY_AXIAL = 64,   ///< 2D: a number, 3D: three
    KEY_ROWS = 128,   ///< list of lists of `width` (or `brief`) numbers
    KEY_TEXTS = 256,  ///< list of texts (of `choices`, if there are any), or a single one
    KEY_PAIRS = 512,  ///< list of pairs of texts
    KEY_MAP = 1024,   ///< a section of its own: pattern.key
    KEY_LIST = 2048,  ///< list of sections: pattern.key[]
    KEY_NAMED = 4096, ///< sections under names of the user's: pattern.key.<name>
} key_kind;

/// Types of members that values go into.
typedef enum member_type {
    MEMBER_REAL,
    MEMBER_REALS, ///< vectors; axial ones of dimension 2 go to [2]
    MEMBER_INT,
    MEMBER_INT64,
    MEMBER_UINT64,
    MEMBER_BOOL,  ///< of a choice: whether it is the second one
    MEMBER_BOOLS, ///< of a list of axes: whether each is named
    MEMBER_ENUM,  ///< index of the choice
    MEMBER_TEXT
} member_type;

/// The member of a struct that a value goes into.
typedef struct key_member {
    const char* of; ///< name of the struct; NULL: the key is read by name
    size_t offset;
    member_type type;
    double factor; ///< that numbers are multiplied by
} key_member;

/// KEY_INTO(talus_solver_def, tolerance): where the value of a row goes.
#define KEY_INTO(type, member) .into = {KEY_MEMBER(type, member, 1.0)}
/// The same for the half of a length, and for an angle, which scenes have in degrees.
#define KEY_INTO_HALF(type, member) .into = {KEY_MEMBER(type, member, 0.5)}
#define KEY_INTO_RADIANS(type, member) .into = {KEY_MEMBER(type, member, M_PI / 180.0)}
/// Of a row that two variants share, each with a struct of its own.
#define KEY_INTO_EITHER(type, other, member)                                                       \
    .into = {KEY_MEMBER(type, member, 1.0), KEY_MEMBER(other, member, 1.0)}
#define KEY_MEMBER(type, member, factor)                                                           \
    {                                                                                              \
        .of = #type, offsetof(type, member), MEMBER_TYPE(((type*)0)->member), factor               \
    }
// clang-format off
#define MEMBER_TYPE(member) _Generic((member),                                                     \
    double: MEMBER_REAL, double*: MEMBER_REALS, int: MEMBER_INT, int64_t: MEMBER_INT64,            \
    uint64_t: MEMBER_UINT64, bool: MEMBER_BOOL, bool*: MEMBER_BOOLS, const char*: MEMBER_TEXT,     \
    unsigned: MEMBER_ENUM) // which enumerations are to the compiler
// clang-format on

/// A key of a section, in all variants of the section that have it in the same form.
typedef struct key_row {
    const char* key;
    unsigned kinds;   ///< of key_kind
    const char* only; ///< variants that have it: "plane box"; "-inlet": all but; NULL: all
    int dim;          ///< exists in this dimension only; 0: in both
    bool required;    ///< always; groups and `needs` say what depends on other keys
    real_rule rule;   ///< numbers; of lists: each entry
    double least;     ///< integers: range. Reals: further bounds, 0: none. Vectors: of each entry.
                      ///< Other lists: entries, 0: any. Texts: letters
    double most;
    bool not_zero;              ///< the rule allows 0, the section does not
    bool whole;                 ///< vectors: of whole numbers
    int width;                  ///< numbers in a vector or row; 0: as many as dimensions
    int brief;                  ///< the other number that a row may have
    const char* const* choices; ///< integers: the only values
    int choice_count;
    unsigned without;      ///< bits of the choices that exist elsewhere, but not here
    const char* otherwise; ///< default as YAML (vectors: of each entry); NULL: none or derived
    const char* derived;   ///< default in words, where it depends on something else
    const char* needs;     ///< another key that must stand beside this one
    const char* unit;
    const char* unit_2d; ///< where it differs
    const char* meaning; ///< Markdown
    const char* missing; ///< required integers: what the message asks for, "a number of grains"
    const char* outside; ///< message for a number beyond `least`, `most` or `not_zero`, or (after
                         ///< the word) for a choice of `without`; NULL: the section sees to it
    key_member into[2];  ///< where it goes; the second in the struct of another variant
    bool preset;         ///< the member holds the default already, such as the scene's seed
} key_row;

/// How many of some keys there may be.
typedef enum key_group_kind { KEY_ONE_OF, KEY_AT_MOST_ONE, KEY_AT_LEAST_ONE } key_group_kind;

typedef struct key_group {
    key_group_kind kind;
    const char* keys; ///< "count solid_fraction"; "parts[]": only where it is a list
    const char* only; ///< as of a row
} key_group;

/// Rows that sections share.
typedef struct key_rows {
    const key_row* rows;
    int count;
} key_rows;

typedef struct key_section {
    const char* pattern;  ///< "walls[].motion"; "" is the whole scene
    const char* selector; ///< key whose choice is the variant; NULL: that of the parent, if any
    bool inherits;        ///< what is left out is not the default, but what is in force
    key_rows own;
    const key_rows* shared; ///< more rows, or NULL
    key_rows last;          ///< and more of its own behind them
    const key_group* groups;
    int group_count;
} key_section;

typedef struct key_sections {
    const key_section* list;
    int count;
} key_sections;

extern const key_sections keys_world, keys_materials, keys_shapes, keys_walls, keys_grains;

/// Largest whole number that a scene may have: up to it a double holds each exactly.
#define KEY_MOST_INTEGER (0x1p53 - 1)

#define KEY_COUNT(list) (int)(sizeof(list) / sizeof *(list))
#define KEY_CHOICES(list) .choices = (list), .choice_count = KEY_COUNT(list)
#define KEY_ROWS_OF(list)                                                                          \
    {                                                                                              \
        (list), KEY_COUNT(list)                                                                    \
    }

/// The section of a pattern, also where it has the keys of another one (`phases[].until` those of
/// `until`); NULL if there is none.
const key_section* keys_section(const char* pattern);
/// Whether what is left out in the section of this pattern is what is in force.
bool keys_inherit(const char* pattern);
/// The i-th section that has rows, NULL behind the last.
const key_section* keys_at(int index);
/// Patterns that have the keys of section `of`; NULL behind the last.
const char* keys_same_as(const key_section* of, int index);

int keys_row_count(const key_section* s);
const key_row* keys_row(const key_section* s, int index);
/// The row of a key in a variant and a dimension; NULL and 0 match all. NULL if there is none.
const key_row* keys_find(const key_section* s, const char* key, const char* variant, int dim);
/// The same among the rows that are one of `kinds`.
const key_row* keys_find_kind(const key_section* s, const char* key, const char* variant, int dim,
                              unsigned kinds);
/// Whether a row or group exists in a variant; NULL matches all.
bool keys_fits(const char* only, const char* variant);
/// The i-th variant of a section, NULL behind the last.
const char* keys_variant(const key_section* s, int index);
/// The next of the words separated by blanks at *list, at most `size` bytes; false at the end.
bool keys_next_word(const char** list, char* word, int size);

/// Write the JSON Schema (draft-07) of scenes.
void keys_write_schema(FILE* out);
/// Write a section's rows as a Markdown table.
void keys_write_markdown(FILE* out, const key_section* s);
/// "m, > 0": what may stand under a key, in words; Markdown if `marks`.
void keys_write_type(FILE* out, const key_row* row, bool marks);

#endif
