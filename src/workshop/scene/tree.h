/// A YAML document as a tree of our own: scalars, lists and maps that know where they were written.
///
/// The tree of the scene file is changed by `--set` overrides before it is read; a second tree, the
/// effective scene, is built while reading and written back with every default filled in. All
/// nodes and strings live in an arena and are freed together.
#ifndef TALUS_SCENE_TREE_H
#define TALUS_SCENE_TREE_H

#include "scene/mistakes.h"

#include <stddef.h>
#include <stdint.h>

/// Memory that is freed all at once. Zero-initialise.
typedef struct arena {
    struct arena_block* blocks;
    int64_t nodes; ///< tree nodes made so far, aliases and overrides included
    bool failed;   ///< an allocation failed; everything made so far stays valid
} arena;

/// `size` zeroed bytes, or NULL with a->failed set.
void* arena_take(arena* a, size_t size);
char* arena_text(arena* a, const char* text, size_t length);
char* arena_format(arena* a, const char* format, ...) TALUS_PRINTF(2, 3);
/// Copy the `count` rows of an array of the arena to one with room for `capacity` rows of `size`
/// bytes; `pointer` is where the pointer to it is. The old one stays behind until the end. False if
/// memory is short; the array is then as it was.
bool arena_grow(arena* a, void* pointer, int count, int capacity, size_t size);
void arena_free(arena* a);

typedef enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP } node_kind;

typedef struct node {
    node_kind kind;
    bool quoted; ///< scalar written in quotes or as a block: text, whatever it looks like
    bool flow;   ///< list or map written on one line
    place at;
    char* text; ///< scalar
    int count, capacity;
    struct node** item; ///< list: items; map: values
    char** key;         ///< map only
    place* key_at;      ///< map only
} node;

node* node_make(arena* a, node_kind kind, place at);
node* node_scalar(arena* a, const char* text, bool quoted);
/// A number in the shortest form that reads back to the same bits.
node* node_real(arena* a, double value);
node* node_integer(arena* a, int64_t value);
/// Append to a list; NULL items are ignored (memory was short, a->failed is set).
void node_append(arena* a, node* list, node* item);
/// Append to a map, or replace the value of a key that is there.
void node_put(arena* a, node* map, const char* key, place key_at, node* value);
/// Value of a key, NULL if absent or if `map` is NULL or no map.
node* node_find(const node* map, const char* key);
/// Plain scalar that means "nothing": empty, ~ or null.
bool node_is_null(const node* n);
/// "text", "a list", "a map", ... for messages.
const char* node_kind_name(const node* n);

/// Limits that keep hostile files harmless.
enum {
    TREE_MAX_DEPTH = 32,
    TREE_MAX_NODES = 4000000,
    TREE_MAX_BYTES = 64 * 1024 * 1024,
};

/// Parse YAML text into a tree; `source` (NULL for the scene file) and the position go into every
/// node. Mistakes (syntax, duplicate keys, tags, merge keys, ...) are added to `p`. Returns NULL if
/// no usable tree came out.
node* tree_parse(arena* a, mistakes* found, const char* text, size_t size, const char* source);

/// Apply one "key.path=value" override to `root`. Mistakes go to `p`.
void tree_set(arena* a, mistakes* found, node* root, const char* set);

/// Whether all but the last key of a path is in the tree; else `words` says what is not, and what
/// is nearest.
bool tree_leads_to(arena* a, const node* root, const char* path, char* words, size_t size);

/// Write a tree as YAML with `head` (lines that start with '#') before it.
talus_status tree_write(const node* root, const char* head, const char* path, talus_error* error);

#endif
