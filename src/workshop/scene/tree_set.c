/// `--set key.path=value`: change one value of the tree before it is read.
///
/// A path is made of map keys, list indices (walls.0 or walls[0]) and, in lists of maps that have
/// a `name`, that name (walls.floor). Maps that are missing on the way are made.
#include "base/words.h"
#include "scene/tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setter {
    arena* a;
    mistakes* mistakes;
    place at;
    const char* path; ///< the left-hand side as given, for messages
} setter;

/// Index in `list` that a segment means, or -1.
static int list_index(const node* list, const char* segment)
{
    if (isdigit((unsigned char)segment[0])) {
        char* end;
        long index = strtol(segment, &end, 10);
        return *end == '\0' && index < list->count ? (int)index : -1;
    }
    for (int i = 0; i < list->count; i++) {
        const node* name = node_find(list->item[i], "name");
        if (name && name->kind == NODE_SCALAR && strcmp(name->text, segment) == 0) return i;
    }
    return -1;
}

/// The child that `segment` names; with `value`, put it there. NULL after a mistake.
static node* child(const setter* s, node* parent, const char* segment, node* value)
{
    if (parent->kind == NODE_SCALAR) {
        mistakes_add(s->mistakes, s->at, s->path, "'%s' is not inside a map or list", segment);
        return NULL;
    }
    if (parent->kind == NODE_LIST) {
        int index = list_index(parent, segment);
        if (index < 0) {
            char indices[64] = "0";
            if (parent->count > 1) {
                snprintf(indices, sizeof indices, "an index from 0 to %d", parent->count - 1);
            }
            mistakes_add(s->mistakes, s->at, s->path,
                         "the list has no item '%s' (expected %s or the name of an item)", segment,
                         parent->count > 0 ? indices : "items in it");
            return NULL;
        }
        if (value) parent->item[index] = value;
        return parent->item[index];
    }
    node* found = node_find(parent, segment);
    if (value) {
        node_put(s->a, parent, segment, s->at, value);
    } else if (!found || node_is_null(found)) {
        value = node_make(s->a, NODE_MAP, s->at);
        node_put(s->a, parent, segment, s->at, value);
    }
    return value ? value : found;
}

/// The next segment of a path, up to a '.', a '[' or, inside brackets, the ']'; *rest moves past
/// it. NULL if the path is malformed.
static char* next_segment(arena* a, const char** rest)
{
    const char* begin = *rest;
    if (*begin == '[') {
        const char* close = strchr(++begin, ']');
        if (!close || (close[1] != '\0' && close[1] != '.' && close[1] != '[')) return NULL;
        *rest = close[1] == '.' && close[2] != '\0' ? close + 2 : close + 1;
        return arena_text(a, begin, (size_t)(close - begin));
    }
    const char* stop = begin + strcspn(begin, ".[");
    if (stop[0] == '.' && stop[1] == '\0') return NULL;
    *rest = *stop == '.' ? stop + 1 : stop;
    return arena_text(a, begin, (size_t)(stop - begin));
}

void tree_set(arena* a, mistakes* found, node* root, const char* set)
{
    char* source = arena_format(a, "--set %s", set);
    if (!source) return;
    setter s = {.a = a, .mistakes = found, .at = {.source = source}};
    const char* equals = strchr(set, '=');
    if (!equals || equals == set) {
        mistakes_add(found, s.at, NULL, "not an override (expected key.path=value)");
        return;
    }
    s.path = arena_text(a, set, (size_t)(equals - set));
    if (!s.path) return;
    int before = found->count;
    node* value = tree_parse(a, found, equals + 1, strlen(equals + 1), source);
    if (!value && found->count == before && !a->failed) {
        mistakes_add(found, s.at, s.path, "the value is empty (expected key.path=value)");
    }
    const char* rest = s.path;
    for (node* at = value ? root : NULL; at;) {
        char* segment = next_segment(a, &rest);
        if (!segment || segment[0] == '\0') {
            mistakes_add(found, s.at, s.path, "not a path (expected key.path=value)");
            return;
        }
        bool last = *rest == '\0';
        at = child(&s, at, segment, last ? value : NULL);
        if (last) return;
    }
}

/// What there is instead of a child that is not there.
static void name_nearest(arena* a, const node* parent, const char* segment, char* words,
                         size_t size)
{
    const char** names = arena_take(a, sizeof *names * (size_t)(parent->count + 1));
    int count = 0;
    for (int i = 0; names && i < parent->count; i++) {
        const node* name = parent->kind == NODE_LIST ? node_find(parent->item[i], "name") : NULL;
        if (parent->kind == NODE_MAP) names[count++] = parent->key[i];
        if (name && name->kind == NODE_SCALAR) names[count++] = name->text;
    }
    const char* near = count > 0 ? nearest_name(segment, names, count) : NULL;
    size_t used = (size_t)snprintf(words, size, "the scene has no '%s'", segment);
    if (near && used < size) {
        snprintf(words + used, size - used, "; did you mean '%s'?", near);
        return;
    }
    for (int i = 0; i < count && i < 12 && used < size; i++) {
        used +=
            (size_t)snprintf(words + used, size - used, "%s%s", i ? ", " : "; there is ", names[i]);
    }
}

bool tree_leads_to(arena* a, const node* root, const char* path, char* words, size_t size)
{
    const node* at = root;
    for (const char* rest = path;;) {
        const char* segment = next_segment(a, &rest);
        if (!segment || !*segment) {
            snprintf(words, size, "not a path (expected key.path)");
            return false;
        }
        if (*rest == '\0') return true;
        const int index = at->kind == NODE_LIST ? list_index(at, segment) : -1;
        const node* found = at->kind == NODE_MAP ? node_find(at, segment)
                            : index >= 0         ? at->item[index]
                                                 : NULL;
        if (!found || found->kind == NODE_SCALAR) {
            name_nearest(a, at, segment, words, size);
            return false;
        }
        at = found;
    }
}
