/// Sections and lists of a scene: what is known, what is unknown, and paths for messages.
#include "scene/reader.h"
#include "base/array.h"
#include "base/words.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MISSPELT "unknown key; did you mean '%s'?"

// ---- known and unknown keys --------------------------------------------------------------------

static const char* join(arena* a, const char* path, const char* key)
{
    const char* joined = path[0] ? arena_format(a, "%s.%s", path, key) : key;
    return joined ? joined : "";
}

static bool reader_knows(const reader* r, const char* pattern, const char* key)
{
    // Newest first: items of a list ask for the same keys again and again.
    for (int i = r->known_count - 1; i >= 0; i--) {
        if (strcmp(r->known[i].key, key) == 0 && strcmp(r->known[i].pattern, pattern) == 0) {
            return true;
        }
    }
    return false;
}

const key_row* section_row(section* s, const char* key, unsigned kinds)
{
    static const key_row none = {.key = ""};
    reader* r = s->r;
    key_read read = {.section = s->keys, .variant = s->variant, .fits = true};
    read.row = keys_find_kind(s->keys, key, s->variant, r->dim, kinds);
    if (!read.row) {
        // A key of another variant or dimension, read only to say what is wrong with it.
        read.row = keys_find_kind(s->keys, key, NULL, 0, kinds);
        read.fits = false;
    }
    assert((r->a->failed || read.row) && "the table of keys has what is read");
    if (!read.row) return &none;
    for (int i = r->read_count - 1; i >= 0; i--) {
        const key_read* old = &r->reads[i];
        if (old->row == read.row && old->section == read.section && old->variant == read.variant &&
            old->fits == read.fits) {
            return read.row;
        }
    }
    if (arrays_grow(&r->read_capacity, r->read_count + 1, ARRAY(r->reads)))
        r->reads[r->read_count++] = read;
    else
        r->a->failed = true;
    return read.row;
}

/// What was asked about a key; NULL: nothing.
static asked_key* section_asked(const section* s, const char* key)
{
    for (int i = 0; i < s->asked_count; i++) {
        if (strcmp(s->asked[i].key, key) == 0) return &s->asked[i];
    }
    return NULL;
}

/// Make a key known, here and to the whole scene.
static asked_key* section_ask(section* s, const char* key)
{
    reader* r = s->r;
    assert((r->a->failed || keys_find(s->keys, key, NULL, 0)) &&
           "the table of keys has what is asked for");
    asked_key* asked = section_asked(s, key);
    if (asked || s->asked_count >= s->asked_room) return asked;
    s->asked[s->asked_count] = (asked_key){.key = key};
    if (!reader_knows(r, s->pattern, key)) {
        if (arrays_grow(&r->known_capacity, r->known_count + 1, ARRAY(r->known)))
            r->known[r->known_count++] = (known_key){s->pattern, key};
        else
            r->a->failed = true;
    }
    return &s->asked[s->asked_count++];
}

/// The place elsewhere in the scene of this very key; NULL if there is none. In the arena. Of a
/// single letter nobody knows what it means elsewhere, and of one that only looks like it, either.
static const char* home_of(const reader* r, const char* key)
{
    for (int i = 0; strlen(key) > 1 && i < r->known_count; i++) {
        if (strcmp(r->known[i].key, key) == 0) return join(r->a, r->known[i].pattern, key);
    }
    return NULL;
}

/// Whether a key was reported as a misspelt one before its section was closed.
static bool is_told(const reader* r, const unknown_key* u)
{
    for (const unknown_key* other = r->unknown; other; other = other->next) {
        const place one = other->at, two = u->at;
        if (other->told && one.source == two.source && one.line == two.line &&
            one.column == two.column) {
            return true;
        }
    }
    return false;
}

/// A key that other types of its section have, and this one does not.
static void tell_other_type(reader* r, const unknown_key* u, const key_row* row)
{
    const char* only = row->only ? row->only : "";
    if (only[0] == '-' || !only[0])
        mistakes_add(r->mistakes, u->at, u->path,
                     "this key does not go with the 'type' chosen here");
    else
        mistakes_add(r->mistakes, u->at, u->path,
                     "this key does not go with the 'type' chosen here (it belongs to type: %s)",
                     only);
}

/// The keys of a section, "a, b, c", in the arena.
static const char* keys_here(const reader* r, const key_section* keys, const char* variant)
{
    const char* list = NULL;
    for (int i = 0; i < keys_row_count(keys); i++) {
        const key_row* row = keys_row(keys, i);
        // Of rows with the same key, which differ by variant or dimension, only one is found.
        if (keys_find(keys, row->key, variant, r->dim) != row) continue;
        list = list ? arena_format(r->a, "%s, %s", list, row->key) : row->key;
        if (!list) return "";
    }
    return list ? list : "";
}

void reader_finish(reader* r)
{
    for (const unknown_key* u = r->unknown; u; u = u->next) {
        const char* home = u->nearest ? NULL : home_of(r, u->key);
        if (is_told(r, u)) continue;
        const key_section* keys = keys_section(u->pattern);
        const key_row* row = keys && keys->selector ? keys_find(keys, u->key, NULL, r->dim) : NULL;
        if (row) {
            tell_other_type(r, u, row);
        } else if (u->nearest) {
            mistakes_add(r->mistakes, u->at, u->path, MISSPELT, u->nearest);
        } else if (home) {
            mistakes_add(r->mistakes, u->at, u->path, "unknown key here; did you mean '%s'?", home);
        } else if (isdigit((unsigned char)u->key[0])) {
            mistakes_add(
                r->mistakes, u->at, u->path,
                "unknown key (numbers are written with a decimal point, 2.5, not a comma)");
        } else {
            mistakes_add(r->mistakes, u->at, u->path, "unknown key (known here: %s)",
                         keys ? keys_here(r, keys, u->variant) : "none");
        }
    }
}

void reader_free(reader* r)
{
    free(r->known);
    free(r->reads);
    *r = (reader){0};
}

// ---- sections ----------------------------------------------------------------------------------

/// An empty section; the variant is that of `parent` until its own selector is read.
static void section_begin(section* s, reader* r, const section* parent, const char* path,
                          const char* pattern)
{
    static const key_section none = {.pattern = ""};
    const key_section* keys = keys_section(pattern);
    assert((r->a->failed || keys) && "the table of keys has this section");
    *s = (section){.r = r, .path = path, .pattern = pattern, .keys = keys ? keys : &none};
    s->inherits = keys_inherit(pattern);
    const int rows = keys_row_count(s->keys);
    s->asked = arena_take(r->a, sizeof *s->asked * (size_t)(rows + 1));
    s->asked_room = s->asked ? rows : 0;
    if (parent && !s->keys->selector) s->variant = parent->variant;
}

void section_root(section* s, reader* r, const node* root)
{
    section_begin(s, r, NULL, "", "");
    s->in = root;
    if (root) s->at = root->at;
    s->out = node_make(r->a, NODE_MAP, (place){0});
}

/// The key's node; NULL if it is absent.
static const node* section_find(section* s, const char* key)
{
    section_ask(s, key);
    return node_find(s->in, key);
}

const node* section_take(section* s, const char* key)
{
    asked_key* asked = section_ask(s, key);
    if (asked) asked->read = true;
    return node_find(s->in, key);
}

void section_accept(section* s, const char* key)
{
    asked_key* asked = section_ask(s, key);
    if (asked) asked->good = true;
}

bool section_got(const section* s, const char* key)
{
    const asked_key* asked = section_asked(s, key);
    return asked && asked->good;
}

bool section_was_read(const section* s, const char* key)
{
    const asked_key* asked = section_asked(s, key);
    return asked && asked->read;
}

bool section_open(section* s, section* parent, const char* key)
{
    reader* r = parent->r;
    const node* in = section_find(parent, key);
    section_row(parent, key, KEY_MAP);
    section_begin(s, r, parent, join(r->a, parent->path, key), join(r->a, parent->pattern, key));
    s->at = in ? in->at : parent->at;
    s->broken = parent->broken;
    if (in && in->kind == NODE_MAP) {
        s->in = in;
    } else if (in) {
        mistakes_add(r->mistakes, in->at, s->path, "is %s (expected a map of keys: %s)",
                     node_kind_name(in), keys_here(r, s->keys, s->variant));
        s->broken = true;
    }
    s->out = node_make(r->a, NODE_MAP, (place){0});
    node_put(r->a, parent->out, key, (place){0}, s->out);
    return in != NULL;
}

/// Remember a key that nobody asked for; `nearest` is one that may have been meant, or NULL.
static unknown_key* note_unknown(section* s, int index, const char* nearest)
{
    unknown_key* u = arena_take(s->r->a, sizeof *u);
    if (!u) return NULL;
    const char* key = s->in->key[index];
    *u = (unknown_key){.next = s->r->unknown,
                       .at = s->in->key_at[index],
                       .path = join(s->r->a, s->path, key),
                       .key = key,
                       .pattern = s->pattern,
                       .variant = s->variant,
                       .nearest = nearest};
    s->r->unknown = u;
    return u;
}

/// What other programs and textbooks call a key. The same word may stand for several.
static const char* const other_words[][2] = {
    {"mu", "friction"},
    {"e", "restitution"},
    {"cor", "restitution"},
    {"rho", "density"},
    {"cohesion", "cohesion_force"},
    {"kn", "stiffness"},
    {"k_n", "stiffness"},
    {"nu", "poisson"},
    {"dt", "step"},
    {"timestep", "step"},
    {"time_step", "step"},
    {"g", "gravity"},
    {"particles", "grains"},
    {"bodies", "grains"},
    {"boundaries", "walls"},
    {"end", "until"},
    {"duration", "time"},
    {"number", "count"},
    {"n", "count"},
    {"r", "radius"},
    {"d", "diameter"},
    {"low", "min"},
    {"high", "max"},
    {"std", "deviation"},
    {"polygon", "points"},
    {"vertices", "points"},
    {"corners", "points"},
    {"speed", "velocity"},
    {"omega", "spin"},
    {"angular_velocity", "spin"},
    {"pressure", "stress"},
    {"position", "center"},
    {"position", "point"},
    {"dim", "dimension"},
};

/// The known key that may have been meant: one spelt nearly so, one that this key begins with
/// (`remove_walls` for `remove`), or the one that is called so elsewhere.
static const char* likely_key(const char* key, const char* const* names, int count)
{
    enum { MUCH = 5 }; // letters: many words begin with fewer
    const char* nearest = nearest_name(key, names, count);
    for (size_t w = 0; w < sizeof other_words / sizeof *other_words && !nearest; w++) {
        if (strcasecmp(key, other_words[w][0]) != 0) continue;
        for (int i = 0; i < count; i++) {
            if (strcmp(names[i], other_words[w][1]) == 0) nearest = names[i];
        }
    }
    for (int i = 0; i < count && !nearest; i++) {
        const size_t length = strlen(names[i]);
        if (length >= MUCH && strncmp(key, names[i], length) == 0) nearest = names[i];
    }
    return nearest;
}

void section_close(section* s)
{
    const char** names = arena_take(s->r->a, sizeof *names * (size_t)(s->asked_count + 1));
    if (!names) return;
    for (int i = 0; i < s->asked_count; i++) names[i] = s->asked[i].key;
    for (int i = 0; s->in && i < s->in->count; i++) {
        const char* key = s->in->key[i];
        if (!section_asked(s, key)) note_unknown(s, i, likely_key(key, names, s->asked_count));
    }
}

bool section_misspells(section* s, const char* key)
{
    for (int i = 0; s->in && s->in->kind == NODE_MAP && i < s->in->count; i++) {
        const char* there = s->in->key[i];
        if (keys_find(s->keys, there, NULL, 0) || !likely_key(there, &key, 1)) continue;
        unknown_key* u = note_unknown(s, i, key);
        if (u) mistakes_add(s->r->mistakes, u->at, u->path, MISSPELT, key);
        if (u) u->told = true;
        return true;
    }
    return false;
}

place section_place(const section* s, const char* key)
{
    const node* in = key ? node_find(s->in, key) : NULL;
    return in ? in->at : s->at;
}

const char* section_path(const section* s, const char* key)
{
    return join(s->r->a, s->path, key);
}

void section_mistake(section* s, const char* key, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    const char* path = key ? join(s->r->a, s->path, key) : s->path;
    mistakes_add_list(s->r->mistakes, section_place(s, key), path, format, args);
    va_end(args);
}

bool section_has(section* s, const char* key)
{
    return section_find(s, key) != NULL;
}

bool section_has_kind(section* s, const char* key, node_kind kind)
{
    const node* in = section_find(s, key);
    return in && in->kind == kind;
}

// ---- lists and maps of sections ----------------------------------------------------------------

static void items_open(items* list, section* parent, const char* key, node_kind kind)
{
    *list = (items){.parent = parent, .key = key};
    const node* in = section_find(parent, key);
    section_row(parent, key, kind == NODE_LIST ? KEY_LIST : KEY_NAMED);
    list->out = node_make(parent->r->a, kind, (place){0});
    node_put(parent->r->a, parent->out, key, (place){0}, list->out);
    if (!in) return;
    if (in->kind == kind) {
        list->in = in;
        list->count = in->count;
        return;
    }
    section_mistake(parent, key, "is %s (expected %s)", node_kind_name(in),
                    kind == NODE_LIST ? "a list of maps, each beginning with '- '"
                                      : "a map of names");
}

void items_open_list(items* list, section* parent, const char* key)
{
    items_open(list, parent, key, NODE_LIST);
}

void items_open_map(items* map, section* parent, const char* key)
{
    items_open(map, parent, key, NODE_MAP);
}

void items_add_section(items* map, const char* name, section* s)
{
    reader* r = map->parent->r;
    const char* base = join(r->a, map->parent->path, map->key);
    const char* pattern =
        arena_format(r->a, "%s.<name>", join(r->a, map->parent->pattern, map->key));
    section_begin(s, r, map->parent, join(r->a, base, name), pattern ? pattern : "");
    s->at = map->parent->at;
    s->out = node_make(r->a, NODE_MAP, (place){0});
    node_put(r->a, map->out, name, (place){0}, s->out);
}

bool items_section(items* list, int index, section* s, const char** name)
{
    reader* r = list->parent->r;
    const node* in = list->in->item[index];
    bool named = list->in->kind == NODE_MAP;
    const char* base = join(r->a, list->parent->path, list->key);
    const char* pattern = join(r->a, list->parent->pattern, list->key);
    const char* path =
        named ? join(r->a, base, list->in->key[index]) : arena_format(r->a, "%s[%d]", base, index);
    pattern = arena_format(r->a, named ? "%s.<name>" : "%s[]", pattern);
    if (name) *name = named ? list->in->key[index] : NULL;
    section_begin(s, r, list->parent, path ? path : "", pattern ? pattern : "");
    s->in = in;
    s->at = in->at;
    s->out = node_make(r->a, NODE_MAP, (place){0});
    if (named)
        node_put(r->a, list->out, list->in->key[index], (place){0}, s->out);
    else
        node_append(r->a, list->out, s->out);
    if (in->kind == NODE_MAP) return true;
    mistakes_add(r->mistakes, in->at, s->path, "is %s (expected a map of keys)",
                 node_kind_name(in));
    return false;
}
