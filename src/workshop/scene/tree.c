/// Nodes of a YAML tree and the arena they live in.
#include "scene/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16384 };

typedef struct arena_block {
    struct arena_block* next;
    size_t used, size;
    max_align_t data[];
} arena_block;

void* arena_take(arena* a, size_t size)
{
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    arena_block* block = a->blocks;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = calloc(1, sizeof *block + room);
        if (!block) {
            a->failed = true;
            return NULL;
        }
        block->size = room;
        block->next = a->blocks;
        a->blocks = block;
    }
    void* taken = (char*)block->data + block->used;
    block->used += size;
    return taken;
}

char* arena_text(arena* a, const char* text, size_t length)
{
    char* copy = arena_take(a, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

char* arena_format(arena* a, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) return NULL;
    char* text = arena_take(a, (size_t)length + 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void arena_free(arena* a)
{
    while (a->blocks) {
        arena_block* next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
}

node* node_make(arena* a, node_kind kind, place at)
{
    node* n = arena_take(a, sizeof *n);
    if (!n) return NULL;
    a->nodes++;
    n->kind = kind;
    n->at = at;
    return n;
}

node* node_scalar(arena* a, const char* text, bool quoted)
{
    node* n = node_make(a, NODE_SCALAR, (place){0});
    if (!n) return NULL;
    n->quoted = quoted;
    n->text = arena_text(a, text, strlen(text));
    return n->text ? n : NULL;
}

node* node_real(arena* a, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return node_scalar(a, text, false);
}

node* node_integer(arena* a, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return node_scalar(a, text, false);
}

bool arena_grow(arena* a, void* pointer, int count, int capacity, size_t size)
{
    void *old, *larger = arena_take(a, size * (size_t)capacity);
    if (!larger) return false;
    memcpy(&old, pointer, sizeof old); // it may be a pointer of any type
    if (count > 0) memcpy(larger, old, size * (size_t)count);
    memcpy(pointer, &larger, sizeof larger);
    return true;
}

/// Room for one more item.
static bool node_grow(arena* a, node* n)
{
    if (n->count < n->capacity) return true;
    const int capacity = n->capacity ? 2 * n->capacity : 4;
    if (!arena_grow(a, &n->item, n->count, capacity, sizeof *n->item)) return false;
    if (n->kind == NODE_MAP && (!arena_grow(a, &n->key, n->count, capacity, sizeof *n->key) ||
                                !arena_grow(a, &n->key_at, n->count, capacity, sizeof *n->key_at)))
        return false;
    n->capacity = capacity;
    return true;
}

void node_append(arena* a, node* list, node* item)
{
    if (!list || !item || !node_grow(a, list)) return;
    list->item[list->count++] = item;
}

void node_put(arena* a, node* map, const char* key, place key_at, node* value)
{
    if (!map || !value) return;
    for (int i = 0; i < map->count; i++) {
        if (strcmp(map->key[i], key) != 0) continue;
        map->item[i] = value;
        map->key_at[i] = key_at;
        return;
    }
    char* copy = arena_text(a, key, strlen(key));
    if (!copy || !node_grow(a, map)) return;
    map->key[map->count] = copy;
    map->key_at[map->count] = key_at;
    map->item[map->count++] = value;
}

node* node_find(const node* map, const char* key)
{
    if (!map || map->kind != NODE_MAP) return NULL;
    for (int i = 0; i < map->count; i++) {
        if (strcmp(map->key[i], key) == 0) return map->item[i];
    }
    return NULL;
}

bool node_is_null(const node* n)
{
    static const char* const words[] = {"", "~", "null", "Null", "NULL"};
    if (n->kind != NODE_SCALAR || n->quoted) return false;
    for (int i = 0; i < 5; i++) {
        if (strcmp(n->text, words[i]) == 0) return true;
    }
    return false;
}

const char* node_kind_name(const node* n)
{
    if (n->kind == NODE_LIST) return "a list";
    if (n->kind == NODE_MAP) return "a map";
    return node_is_null(n) ? "empty" : "a single value";
}
