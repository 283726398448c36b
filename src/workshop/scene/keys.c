/// Looking up sections and rows of the table of keys.
#include "scene/keys.h"

#include <string.h>

static const key_sections* const parts[] = {&keys_world, &keys_materials, &keys_shapes, &keys_walls,
                                            &keys_grains};

/// Sections that have the keys of another one.
static const struct {
    const char* pattern;
    const char* as;
    bool inherits;
} same[] = {
    {"phases[].until", "until", false},
    {"phases[].solver", "solver", true},
    {"phases[].pairs[]", "pairs[]", false},
    {"phases[].set_motion.<name>", "walls[].motion", false},
    {"walls[].to", "walls[].from", false},
    {"shapes.<name>.parts[].regular", "shapes.<name>.regular", false},
    {"shapes.<name>.parts[].rotation", "walls[].rotation", false},
    {"grains[].rotation", "walls[].rotation", false},
    {"grains[].items[].rotation", "walls[].rotation", false},
    {"grains[].diameter", "grains[].radius", false},
    {"grains[].top", "grains[].bottom", true},
};

const key_section* keys_at(int index)
{
    for (int p = 0; p < KEY_COUNT(parts); p++) {
        if (index < parts[p]->count) return &parts[p]->list[index];
        index -= parts[p]->count;
    }
    return NULL;
}

const key_section* keys_section(const char* pattern)
{
    for (int i = 0; i < KEY_COUNT(same); i++) {
        if (strcmp(pattern, same[i].pattern) == 0) pattern = same[i].as;
    }
    const key_section* s;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        if (strcmp(pattern, s->pattern) == 0) return s;
    }
    return NULL;
}

bool keys_inherit(const char* pattern)
{
    for (int i = 0; i < KEY_COUNT(same); i++) {
        if (strcmp(pattern, same[i].pattern) == 0) return same[i].inherits;
    }
    const key_section* s = keys_section(pattern);
    return s && s->inherits;
}

const char* keys_same_as(const key_section* of, int index)
{
    for (int i = 0; i < KEY_COUNT(same); i++) {
        if (strcmp(of->pattern, same[i].as) == 0 && index-- == 0) return same[i].pattern;
    }
    return NULL;
}

int keys_row_count(const key_section* s)
{
    return s->own.count + (s->shared ? s->shared->count : 0) + s->last.count;
}

const key_row* keys_row(const key_section* s, int index)
{
    if (index < s->own.count) return &s->own.rows[index];
    index -= s->own.count;
    const int shared = s->shared ? s->shared->count : 0;
    return index < shared ? &s->shared->rows[index] : &s->last.rows[index - shared];
}

bool keys_next_word(const char** list, char* word, int size)
{
    *list += strspn(*list, " ");
    size_t length = strcspn(*list, " ");
    snprintf(word, (size_t)size, "%.*s", (int)length, *list);
    *list += length;
    return length > 0;
}

bool keys_fits(const char* only, const char* variant)
{
    if (!only || !variant) return true;
    const bool but = only[0] == '-';
    const char* rest = only + but;
    char word[64];
    while (keys_next_word(&rest, word, sizeof word)) {
        if (strcmp(word, variant) == 0) return !but;
    }
    return but;
}

const key_row* keys_find_kind(const key_section* s, const char* key, const char* variant, int dim,
                              unsigned kinds)
{
    for (int i = 0; i < keys_row_count(s); i++) {
        const key_row* row = keys_row(s, i);
        if (strcmp(row->key, key) != 0 || !(row->kinds & kinds)) continue;
        if (row->dim != 0 && dim != 0 && row->dim != dim) continue;
        if (keys_fits(row->only, variant)) return row;
    }
    return NULL;
}

const key_row* keys_find(const key_section* s, const char* key, const char* variant, int dim)
{
    return keys_find_kind(s, key, variant, dim, ~0u);
}

const char* keys_variant(const key_section* s, int index)
{
    const key_row* row = s->selector ? keys_find(s, s->selector, NULL, 0) : NULL;
    return row && index < row->choice_count ? row->choices[index] : NULL;
}
