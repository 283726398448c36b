/// libyaml events into a tree, with the position of every node and key.
///
/// Aliases become copies, so nothing in the tree is shared; the limits on depth and on the number
/// of nodes make nested aliases ("billion laughs") an error instead of a full memory. Merge keys
/// and tags are refused: what a scene means must be readable off its lines.
#include "scene/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct anchor {
    struct anchor* next;
    const char* name;
    const node* target;
} anchor;

typedef struct parse {
    arena* a;
    mistakes* mistakes;
    const char* source;
    const char* text;
    size_t size;
    yaml_parser_t parser;
    anchor* anchors;
    bool stopped; ///< a mistake after which the rest makes no sense
} parse;

static place place_of(const parse* s, yaml_mark_t mark)
{
    return (place){s->source, (int)mark.line + 1, (int)mark.column + 1};
}

/// The reader of libyaml runs ahead of its marks, and gives the place of a bad byte as an offset.
static place place_of_byte(const parse* s, size_t offset)
{
    place at = {s->source, 1, 1};
    for (size_t i = 0; i < offset && i < s->size; i++) {
        at.column++;
        if (s->text[i] != '\n') continue;
        at.line++;
        at.column = 1;
    }
    return at;
}

static void parse_stop(parse* s, place at, const char* message)
{
    if (!s->stopped) mistakes_add(s->mistakes, at, NULL, "%s", message);
    s->stopped = true;
}

/// The byte at a mark, 0 at the end. Marks count characters, not bytes.
static char byte_at(const parse* s, yaml_mark_t mark)
{
    size_t i = 0;
    for (size_t line = 0; line < mark.line && i < s->size; i++) line += s->text[i] == '\n';
    for (size_t column = 0; column < mark.column && i < s->size; column++) {
        do i++;
        while (i < s->size && ((unsigned char)s->text[i] & 0xc0) == 0x80);
    }
    return i < s->size ? s->text[i] : '\0';
}

/// What libyaml says, in words for people who have never read its source; others stay as they are.
static const char* in_plain_words(const char* said)
{
    static const char* const words[][2] = {
        {"mapping values are not allowed in this context",
         "a ':' is not allowed here (a text with ': ' in it goes in quotes; or is the line "
         "indented "
         "too far?)"},
        {"block sequence entries are not allowed in this context",
         "a '- ' is not allowed here (expected a line of its own, indented like the items before)"},
        {"did not find expected key",
         "this line does not go with those before it (expected the same "
         "indentation, and every bracket and quote closed)"},
        {"did not find expected '-' indicator",
         "this line does not go with the list before it (expected the same indentation, and '- ' "
         "before each item)"},
        {"did not find expected ',' or '}'", "a ',' or '}' is missing"},
        {"did not find expected ',' or ']'", "a ',' or ']' is missing"},
        {"found unexpected end of stream", "the file ends too early (expected a closing quote)"},
        {"while parsing a flow mapping", "in the { }"},
        {"while parsing a flow sequence", "in the [ ]"},
        {"while parsing a block mapping", "in the map"},
        {"while parsing a block collection", "in the list"},
        {"while scanning a quoted scalar", "in the text"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(said, words[i][0]) == 0) return words[i][1];
    }
    return said;
}

/// Next event, or false after reporting the syntax error.
static bool parse_next(parse* s, yaml_event_t* event)
{
    if (s->stopped) return false;
    if (yaml_parser_parse(&s->parser, event)) return true;
    if (s->parser.error == YAML_MEMORY_ERROR) {
        s->a->failed = s->stopped = true;
        return false;
    }
    bool encoding = s->parser.error == YAML_READER_ERROR;
    place at =
        encoding ? place_of_byte(s, s->parser.problem_offset) : place_of(s, s->parser.problem_mark);
    const char* what = s->parser.problem ? s->parser.problem : "cannot be read";
    const char* context = s->parser.context ? s->parser.context : "";
    const size_t began = s->parser.context_mark.line;
    char since[48] = "";
    if (context[0] && began != s->parser.problem_mark.line) {
        snprintf(since, sizeof since, " that began at line %zu", began + 1);
    }
    if (!encoding && byte_at(s, s->parser.problem_mark) == '\t') {
        what = "a tab (expected blanks: YAML does not indent with tabs)";
        context = "";
        since[0] = '\0';
    } else if (encoding) {
        context = "the file is not UTF-8 text";
        since[0] = '\0';
    } else if (strstr(what, "could not find expected ':'")) {
        // libyaml notices at the next line.
        at = place_of(s, s->parser.context_mark);
        what = "this line is no 'key: value' (expected a colon and a blank behind the key)";
        context = "";
        since[0] = '\0';
    }
    mistakes_add(s->mistakes, at, NULL, "YAML syntax: %s%s%s%s", in_plain_words(what),
                 context[0] ? ", " : "", in_plain_words(context), since);
    s->stopped = true;
    return false;
}

static bool parse_room(parse* s, place at)
{
    if (s->a->nodes < TREE_MAX_NODES) return true;
    parse_stop(s, at, "the scene has too many values (aliases count every time they are used)");
    return false;
}

/// Append without looking for the key: report_duplicates() does that for the whole map.
static void append_entry(arena* a, node* map, char* key, place key_at, node* value)
{
    if (!key || !value) return;
    int before = map->count;
    node_append(a, map, value);
    if (map->count == before) return;
    map->key[before] = key;
    map->key_at[before] = key_at;
}

/// A copy for an alias that stands at `alias`.
static node* node_copy(parse* s, const node* from, place alias)
{
    if (!parse_room(s, alias)) return NULL;
    node* copy = node_make(s->a, from->kind, from->at);
    if (!copy) return NULL;
    copy->quoted = from->quoted;
    copy->flow = from->flow;
    copy->text = from->text;
    for (int i = 0; i < from->count && !s->stopped; i++) {
        node* item = node_copy(s, from->item[i], alias);
        if (from->kind == NODE_LIST)
            node_append(s->a, copy, item);
        else
            append_entry(s->a, copy, from->key[i], from->key_at[i], item);
    }
    return copy;
}

static node* parse_scalar(parse* s, const yaml_event_t* event, place at)
{
    const char* text = (const char*)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, '\0', length)) {
        parse_stop(s, at, "a text contains a zero byte");
        return NULL;
    }
    node* n = node_make(s->a, NODE_SCALAR, at);
    if (!n) return NULL;
    n->text = arena_text(s->a, text, length);
    n->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return n->text ? n : NULL;
}

static node* parse_value(parse* s, yaml_event_t* event, int depth);

static node* parse_list(parse* s, const yaml_event_t* start, place at, int depth)
{
    node* list = node_make(s->a, NODE_LIST, at);
    if (list) list->flow = start->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    yaml_event_t event;
    while (list && parse_next(s, &event)) {
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        if (!end) node_append(s->a, list, parse_value(s, &event, depth + 1));
        yaml_event_delete(&event);
        if (end) return list;
    }
    return NULL;
}

typedef struct key_order {
    const char* key;
    int index;
} key_order;

static int key_compare(const void* left, const void* right)
{
    const key_order* a = left;
    const key_order* b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/// Report keys that occur twice, by sorting: a linear search for each key would make a hostile
/// map with a million keys take forever.
static void report_duplicates(parse* s, const node* map)
{
    key_order* order = malloc(sizeof *order * (size_t)(map->count + 1));
    if (!order) {
        s->a->failed = true;
        return;
    }
    for (int i = 0; i < map->count; i++) order[i] = (key_order){map->key[i], i};
    qsort(order, (size_t)map->count, sizeof *order, key_compare);
    for (int i = 1; i < map->count; i++) {
        if (strcmp(order[i].key, order[i - 1].key) != 0) continue;
        mistakes_add(s->mistakes, map->key_at[order[i].index], order[i].key,
                     "this key was given before, at line %d (expected once)",
                     map->key_at[order[i - 1].index].line);
    }
    free(order);
}

/// The key of the next map entry; NULL at the end of the map or after a mistake.
static char* parse_key(parse* s, place* at, bool* end)
{
    yaml_event_t event;
    *end = true;
    if (!parse_next(s, &event)) return NULL;
    *at = place_of(s, event.start_mark);
    char* key = NULL;
    if (event.type == YAML_SCALAR_EVENT) {
        *end = false;
        const char* text = (const char*)event.data.scalar.value;
        size_t length = event.data.scalar.length;
        if (memchr(text, '\0', length))
            parse_stop(s, *at, "a key contains a zero byte");
        else if (strcmp(text, "<<") == 0 && event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
            parse_stop(s, *at, "merge keys (<<) are not supported (expected the keys themselves)");
        else
            key = arena_text(s->a, text, length);
    } else if (event.type != YAML_MAPPING_END_EVENT) {
        parse_stop(s, *at, "a key must be a plain name (expected name: value)");
    }
    yaml_event_delete(&event);
    return key;
}

static node* parse_map(parse* s, const yaml_event_t* start, place at, int depth)
{
    node* map = node_make(s->a, NODE_MAP, at);
    if (!map) return NULL;
    map->flow = start->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    for (;;) {
        place key_at;
        bool end;
        char* key = parse_key(s, &key_at, &end);
        if (s->stopped || s->a->failed) return NULL;
        if (end) break;
        yaml_event_t event;
        if (!parse_next(s, &event)) return NULL;
        append_entry(s->a, map, key, key_at, parse_value(s, &event, depth + 1));
        yaml_event_delete(&event);
    }
    report_duplicates(s, map);
    return map;
}

/// The node that begins with `event`, children included. NULL after a mistake.
static node* parse_value(parse* s, yaml_event_t* event, int depth)
{
    place at = place_of(s, event->start_mark);
    if (!parse_room(s, at)) return NULL;
    if (depth > TREE_MAX_DEPTH) {
        parse_stop(s, at, "nested too deeply (expected at most 32 levels)");
        return NULL;
    }
    const bool tagged =
        (event->type == YAML_SCALAR_EVENT && event->data.scalar.tag) ||
        (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.tag) ||
        (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.tag);
    if (tagged) {
        parse_stop(s, at, "tags (!name) are not supported (expected a plain value)");
        return NULL;
    }
    node* n = NULL;
    const yaml_char_t* name = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        name = event->data.alias.anchor;
        for (const anchor* known = s->anchors; known; known = known->next) {
            if (strcmp(known->name, (const char*)name) == 0) return node_copy(s, known->target, at);
        }
        mistakes_add(s->mistakes, at, NULL, "alias *%s has no anchor &%s before it", name, name);
        s->stopped = true;
        return NULL;
    case YAML_SCALAR_EVENT:
        n = parse_scalar(s, event, at);
        name = event->data.scalar.anchor;
        break;
    case YAML_SEQUENCE_START_EVENT:
        n = parse_list(s, event, at, depth);
        name = event->data.sequence_start.anchor;
        break;
    case YAML_MAPPING_START_EVENT:
        n = parse_map(s, event, at, depth);
        name = event->data.mapping_start.anchor;
        break;
    default: parse_stop(s, at, "YAML syntax: a value was expected here"); break;
    }
    if (name && n) {
        anchor* made = arena_take(s->a, sizeof *made);
        char* copy = arena_text(s->a, (const char*)name, strlen((const char*)name));
        if (!made || !copy) return n;
        *made = (anchor){s->anchors, copy, n};
        s->anchors = made;
    }
    return n;
}

/// The one document of a stream.
static node* parse_stream(parse* s)
{
    node* root = NULL;
    bool seen = false;
    for (bool end = false; !end;) {
        yaml_event_t event;
        if (!parse_next(s, &event)) return NULL;
        place at = place_of(s, event.start_mark);
        end = event.type == YAML_STREAM_END_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT) {
            if (seen) parse_stop(s, at, "a second document begins (expected one per file)");
            seen = true;
        } else if (event.type != YAML_STREAM_START_EVENT && !end &&
                   event.type != YAML_DOCUMENT_END_EVENT) {
            root = parse_value(s, &event, 0);
        }
        yaml_event_delete(&event);
    }
    return root;
}

node* tree_parse(arena* a, mistakes* found, const char* text, size_t size, const char* source)
{
    parse s = {.a = a, .mistakes = found, .source = source, .text = text, .size = size};
    if (!yaml_parser_initialize(&s.parser)) {
        a->failed = true;
        return NULL;
    }
    yaml_parser_set_encoding(&s.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&s.parser, (const unsigned char*)text, size);
    node* root = parse_stream(&s);
    yaml_parser_delete(&s.parser);
    return s.stopped || a->failed ? NULL : root;
}
