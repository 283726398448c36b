/// Strict reading of a scene's tree.
///
/// Type, rule, choices and default of a key come from its row in the table of keys, in the variant
/// of the section (a wall's `type`) and the dimension at hand. section_fill() reads all keys of
/// which the table says where they go; the others are asked for by name. Asking makes a key known.
/// Leaving a section reports the keys that nobody asked for, with the nearest known key as a
/// suggestion.
/// Mistakes never stop the reading: a function that finds one reports it and returns something
/// harmless, so that all mistakes of a file come out at once. What was asked for, default or given,
/// is put into the effective tree.
#ifndef TALUS_SCENE_READER_H
#define TALUS_SCENE_READER_H

#include "scene/keys.h"
#include "scene/tree.h"

/// A key that was asked for somewhere.
typedef struct known_key {
    const char* pattern; ///< of its section: indices as [], names of the user's as <name>
    const char* key;
} known_key;

/// A key that nobody had asked for when its section was left.
typedef struct unknown_key {
    struct unknown_key* next;
    place at;
    const char* path;
    const char* key;
    const char* pattern; ///< of its section
    const char* variant; ///< of its section, NULL if it has none
    const char* nearest; ///< in its own section, NULL if none is near
    bool told;           ///< as the misspelling of a key that is missing
} unknown_key;

/// A row of the table that was read.
typedef struct key_read {
    const key_section* section;
    const key_row* row;
    const char* variant; ///< NULL: the section has none
    bool fits;           ///< the row is one of this variant and dimension
} key_read;

typedef struct reader {
    arena* a;
    mistakes* mistakes;
    int dim;         ///< of the scene, 0 before it is known
    key_read* reads; ///< [read_count] without repetition
    int read_count;
    int64_t read_capacity;
    known_key* known; ///< [known_count] without repetition
    int known_count;
    int64_t known_capacity;
    unknown_key* unknown;
} reader;

/// Report the unknown keys, now that all sections are known.
void reader_finish(reader* r);
void reader_free(reader* r);

/// A key of a section that was asked for.
typedef struct asked_key {
    const char* key;
    bool read; ///< its value was read, not only asked whether it is there
    bool good; ///< and is there, and good
} asked_key;

/// A map being read.
typedef struct section {
    reader* r;
    const node* in;      ///< NULL: not given, all is default
    node* out;           ///< effective values
    const char* path;    ///< "walls[2].motion"; "" for the whole scene
    const char* pattern; ///< "walls[].motion"
    const key_section* keys;
    const char* variant; ///< once its selector is read: of the section, else of its parent
    bool inherits;       ///< what is left out is what is in force, not the default of the table
    place at;
    bool broken;      ///< something else stood where the map should be: report nothing missing
    asked_key* asked; ///< [asked_count] in the arena, with room for a key of every row
    int asked_count, asked_room;
} section;

/// Start at the top. `root` must be a map or NULL.
void section_root(section* s, reader* r, const node* root);
/// Enter the map under `key`; absent: an empty one, so that defaults show in the effective scene.
/// Returns whether it was given.
bool section_open(section* s, section* parent, const char* key);
/// Leave: report unknown keys.
void section_close(section* s);
/// Whether a key that is missing stands there misspelt: then that is the mistake, and is noted.
bool section_misspells(section* s, const char* key);
/// Report a mistake at a key of the section, or (absent, or NULL) at the section itself.
void section_mistake(section* s, const char* key, const char* format, ...) TALUS_PRINTF(3, 4);
/// Where a key's value stands; the section itself if it is absent or NULL.
place section_place(const section* s, const char* key);
/// Ask without reading: is the key given?
bool section_has(section* s, const char* key);
/// The same with the kind of the value: only if it is of this kind.
bool section_has_kind(section* s, const char* key, node_kind kind);
/// Path of a key, in the arena.
const char* section_path(const section* s, const char* key);
/// Ask for a key and say that its value is read now; NULL if it is absent.
const node* section_take(section* s, const char* key);
/// Say that the value read was good.
void section_accept(section* s, const char* key);
/// Whether the value of a key was read; and whether it is there and good.
bool section_was_read(const section* s, const char* key);
bool section_got(const section* s, const char* key);
/// The row of a key that is about to be read as one of `kinds`; never NULL.
const key_row* section_row(section* s, const char* key, unsigned kinds);

/// Read all keys of the section's variant that go into a struct of this type, in the order of the
/// table, but for those that were read before. What is left out becomes the table's default; where
/// the section inherits, the row is preset or has no default, the member stays as it is.
#define section_fill(s, type, into) section_fill_members(s, #type, 1 ? (into) : (type*)NULL, NULL)
/// The same, only the rows before `key`: one that needs thought and is read by name next.
#define section_fill_before(s, key, type, into)                                                    \
    section_fill_members(s, #type, 1 ? (into) : (type*)NULL, key)
void section_fill_members(section* s, const char* type, void* into, const char* end);

// The functions *_or() take a default that depends on something else; the row says so in words, or
// has the same value as its default. What the row requires is reported if it is missing.

/// A number; the default when it is absent or wrong, 1 when it is required.
double read_real(section* s, const char* key);
double read_real_or(section* s, const char* key, double otherwise);
/// A number that must be there because of other keys; 1 after a mistake.
double read_real_required(section* s, const char* key);
/// A number that may be absent: returns whether it is there and good; *out is changed only then.
bool read_real_optional(section* s, const char* key, double* out);
/// An integer in the row's range; 1e5 counts as one. 1 when it is required and absent or wrong.
int64_t read_integer(section* s, const char* key);
int64_t read_integer_or(section* s, const char* key, int64_t otherwise);
bool read_integer_optional(section* s, const char* key, int64_t* out);
bool read_bool(section* s, const char* key);
bool read_bool_or(section* s, const char* key, bool otherwise);
/// Text in the arena; without a default NULL, which leaves the key out of the effective scene.
const char* read_text(section* s, const char* key);
const char* read_text_or(section* s, const char* key, const char* otherwise);
/// Index of the row's choices; -1 after a mistake if there is no default. The choice of a section's
/// selector is its variant from now on.
int read_choice(section* s, const char* key);
/// The same; `otherwise` < 0 makes the key required.
int read_choice_or(section* s, const char* key, int otherwise);
/// Whether a choice, though known, is not one of this key's.
bool read_choice_is_out(section* s, const char* key, int choice);
/// A list of numbers into `out`. Returns whether it is there and good; if not, out becomes the
/// default, or stays as it is where there is none.
bool read_vector(section* s, const char* key, double* out);
bool read_vector_or(section* s, const char* key, double* out, const double* otherwise);
/// A vector that must be there because of other keys.
bool read_vector_required(section* s, const char* key, double* out);
/// Spin, torque or angle vector: in 2D a single number that goes to out[2], in 3D a vector.
bool read_axial(section* s, const char* key, double out[3]);
bool read_axial_or(section* s, const char* key, double out[3], const double* otherwise);
/// A list of lists of numbers, row after row. *row_numbers (may be NULL) of them are in each.
/// Returns NULL if absent or wrong.
double* read_rows(section* s, const char* key, int* rows, int* row_numbers);
/// A list of texts; NULL if absent or wrong. A single text counts as a list of one.
const char** read_texts(section* s, const char* key, int* count);
/// Point at the i-th entry of the list under `key` (or the value itself, if it is not a list).
place read_place(const section* s, const char* key, int index);

/// Index of a name of something in the scene, the i-th entry under `key`; reports an unknown one,
/// with a suggestion, and returns -1. `what` it is the name of: "wall".
int section_find_name(section* s, const char* key, int index, const char* what, const char* word,
                      const char* const* names, int count);
int reader_find_name(reader* r, place at, const char* path, const char* what, const char* word,
                     const char* const* names, int count);

/// A list of maps, or a map of maps whose keys are the user's names.
typedef struct items {
    section* parent;
    const char* key;
    const node* in;
    node* out;
    int count;
} items;

/// Enter the list under `key`; absent: count is 0.
void items_open_list(items* list, section* parent, const char* key);
/// Enter the map of named maps under `key`.
void items_open_map(items* map, section* parent, const char* key);
/// Enter item i; false (after reporting) if it is not a map. *name receives its key in a map.
bool items_section(items* list, int index, section* s, const char** name);
/// Enter an item of a map of named maps that is not in the scene, so that all its keys are default.
void items_add_section(items* map, const char* name, section* s);

/// Strict decimal number, without inf, nan, hexadecimal or underscores. False if `text` is none or
/// does not fit into a double.
bool parse_real(const char* text, double* out);
/// A truth value as the core schema of YAML 1.2 has it: true, True, TRUE, false, False, FALSE.
bool parse_bool(const char* text, bool* out);

#endif
