/// Single values and plain lists of a scene: numbers, texts, choices, vectors, tables.
#include "scene/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- scalars -----------------------------------------------------------------------------------

/// Skip decimal digits; returns how many there were.
static int skip_digits(const char** text)
{
    int count = 0;
    for (; isdigit((unsigned char)**text); (*text)++) count++;
    return count;
}

bool parse_real(const char* text, double* out)
{
    const char* at = text;
    if (*at == '+' || *at == '-') at++;
    int digits = skip_digits(&at);
    if (*at == '.') {
        at++;
        digits += skip_digits(&at);
    }
    if (digits == 0) return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-') at++;
        if (skip_digits(&at) == 0) return false;
    }
    if (*at != '\0') return false;
    *out = strtod(text, NULL);
    return isfinite(*out);
}

static bool rule_allows(real_rule rule, double value)
{
    switch (rule) {
    case REAL_ANY: return true;
    case REAL_POSITIVE: return value > 0.0;
    case REAL_NON_NEGATIVE: return value >= 0.0;
    case REAL_FRACTION: return value >= 0.0 && value <= 1.0;
    }
    return false;
}

static const char* rule_name(real_rule rule)
{
    switch (rule) {
    case REAL_ANY: return "a finite number";
    case REAL_POSITIVE: return "a number > 0";
    case REAL_NON_NEGATIVE: return "a number >= 0";
    case REAL_FRACTION: return "a number from 0 to 1";
    }
    return "";
}

/// A number with its rule; reports what is wrong at `in`.
static bool node_to_real(reader* r, const node* in, const char* path, real_rule rule, double* out)
{
    if (in->kind != NODE_SCALAR || node_is_null(in)) {
        problems_add(r->p, in->at, path, "is %s (expected %s)", node_kind_name(in),
                     rule_name(rule));
        return false;
    }
    double value;
    if (in->quoted || !parse_real(in->text, &value)) {
        problems_add(r->p, in->at, path, "'%.60s' is not a number (expected %s)", in->text,
                     rule_name(rule));
        return false;
    }
    if (!rule_allows(rule, value)) {
        problems_add(r->p, in->at, path, "%.60s is out of range (expected %s)", in->text,
                     rule_name(rule));
        return false;
    }
    *out = value;
    return true;
}

/// The value under a key, or NULL; asking makes the key known.
static const node* find(section* s, const char* key)
{
    return section_has(s, key) ? node_find(s->in, key) : NULL;
}

static void put(section* s, const char* key, node* value)
{
    node_put(s->r->a, s->out, key, (place){0}, value);
}

static void report_missing(section* s, const char* key, const char* expected)
{
    if (s->broken) return;
    problems_add(s->r->p, s->at, section_path(s, key), "is missing (expected %s)", expected);
}

bool read_real_optional(section* s, const char* key, real_rule rule, double* out)
{
    const node* in = find(s, key);
    double value;
    if (!in || !node_to_real(s->r, in, section_path(s, key), rule, &value)) return false;
    *out = value;
    put(s, key, node_real(s->r->a, value));
    return true;
}

double read_real(section* s, const char* key, real_rule rule, double otherwise)
{
    double value = otherwise;
    if (!read_real_optional(s, key, rule, &value)) put(s, key, node_real(s->r->a, otherwise));
    return value;
}

double read_real_required(section* s, const char* key, real_rule rule)
{
    double value = 1.0;
    if (!section_has(s, key))
        report_missing(s, key, rule_name(rule));
    else
        read_real_optional(s, key, rule, &value);
    return value;
}

bool read_integer_optional(section* s, const char* key, int64_t low, int64_t high, int64_t* out)
{
    const node* in = find(s, key);
    if (!in) return false;
    double value;
    if (!node_to_real(s->r, in, section_path(s, key), REAL_ANY, &value)) return false;
    // Beyond 2^53 a double no longer holds every integer.
    if (value != rint(value) || fabs(value) > 0x1p53 || value < (double)low ||
        value > (double)high) {
        section_problem(s, key, "%.60s does not fit (expected an integer from %lld to %lld)",
                        in->text, (long long)low, (long long)high);
        return false;
    }
    *out = (int64_t)value;
    put(s, key, node_integer(s->r->a, *out));
    return true;
}

int64_t read_integer(section* s, const char* key, int64_t low, int64_t high, int64_t otherwise)
{
    int64_t value = otherwise;
    if (!read_integer_optional(s, key, low, high, &value)) {
        put(s, key, node_integer(s->r->a, otherwise));
    }
    return value;
}

bool read_bool(section* s, const char* key, bool otherwise)
{
    const node* in = find(s, key);
    bool value = otherwise;
    if (in) {
        bool plain = in->kind == NODE_SCALAR && !in->quoted;
        bool yes = plain && strcmp(in->text, "true") == 0;
        bool no = plain && strcmp(in->text, "false") == 0;
        if (yes || no)
            value = yes;
        else if (in->kind == NODE_SCALAR)
            section_problem(s, key, "'%.60s' is not a truth value (expected true or false)",
                            in->text);
        else
            section_problem(s, key, "is %s (expected true or false)", node_kind_name(in));
    }
    put(s, key, node_scalar(s->r->a, value ? "true" : "false", false));
    return value;
}

/// Whether a text must be quoted to come back as text: empty, null, true, numbers.
static node* text_node(arena* a, const char* text)
{
    double number;
    node probe = {.kind = NODE_SCALAR, .text = (char*)(uintptr_t)text};
    bool quoted = node_is_null(&probe) || parse_real(text, &number) || strcmp(text, "true") == 0 ||
                  strcmp(text, "false") == 0 || strpbrk(text, "\n\t") != NULL;
    return node_scalar(a, text, quoted);
}

static const char* node_to_text(reader* r, const node* in, const char* path)
{
    if (in->kind == NODE_SCALAR && !node_is_null(in)) return in->text;
    problems_add(r->p, in->at, path, "is %s (expected a text)", node_kind_name(in));
    return NULL;
}

const char* read_text(section* s, const char* key, const char* otherwise)
{
    const node* in = find(s, key);
    const char* text = in ? node_to_text(s->r, in, section_path(s, key)) : NULL;
    if (!text) text = otherwise;
    if (text) put(s, key, text_node(s->r->a, text));
    return text;
}

const char* read_text_required(section* s, const char* key)
{
    if (!section_has(s, key)) report_missing(s, key, "a text");
    return read_text(s, key, NULL);
}

/// "a, b or c" in the arena.
static const char* list_names(arena* a, const char* const* names, int count)
{
    const char* text = names[0];
    for (int i = 1; i < count && text; i++) {
        text = arena_format(a, "%s%s%s", text, i == count - 1 ? " or " : ", ", names[i]);
    }
    return text ? text : "";
}

int read_choice(section* s, const char* key, const char* const* names, int count, int otherwise)
{
    const node* in = find(s, key);
    int choice = otherwise;
    if (!in && otherwise < 0) report_missing(s, key, list_names(s->r->a, names, count));
    const char* text = in ? node_to_text(s->r, in, section_path(s, key)) : NULL;
    if (text) {
        int found = -1;
        for (int i = 0; i < count; i++) {
            if (strcmp(names[i], text) == 0) found = i;
        }
        const char* near = found < 0 ? nearest_name(text, names, count) : NULL;
        if (found >= 0)
            choice = found;
        else
            section_problem(s, key, "'%.60s' is not known (expected %s)%s%s%s", text,
                            list_names(s->r->a, names, count), near ? "; did you mean '" : "",
                            near ? near : "", near ? "'?" : "");
    }
    if (choice >= 0) put(s, key, node_scalar(s->r->a, names[choice], false));
    return choice;
}

// ---- lists -------------------------------------------------------------------------------------

static node* numbers_node(arena* a, const double* values, int count)
{
    node* list = node_make(a, NODE_LIST, (place){0});
    if (list) list->flow = true;
    for (int i = 0; i < count; i++) node_append(a, list, node_real(a, values[i]));
    return list;
}

/// All numbers of a list node into out; false after reporting a mistake.
static bool node_to_numbers(reader* r, const node* in, const char* path, double* out)
{
    bool good = true;
    for (int i = 0; i < in->count; i++) {
        // The path of an entry is only worth making when there is something to say.
        if (in->item[i]->kind == NODE_SCALAR && !in->item[i]->quoted &&
            parse_real(in->item[i]->text, &out[i])) {
            continue;
        }
        node_to_real(r, in->item[i], arena_format(r->a, "%s[%d]", path, i), REAL_ANY, &out[i]);
        good = false;
    }
    return good;
}

static bool node_to_vector(reader* r, const node* in, const char* path, int width, double* out)
{
    if (in->kind != NODE_LIST) {
        problems_add(r->p, in->at, path, "is %s (expected a list of %d numbers)",
                     node_kind_name(in), width);
        return false;
    }
    if (in->count != width) {
        problems_add(r->p, in->at, path, "has %d entries (expected a list of %d numbers)",
                     in->count, width);
        return false;
    }
    return node_to_numbers(r, in, path, out);
}

bool read_vector(section* s, const char* key, int dim, double* out, const double* otherwise)
{
    const node* in = find(s, key);
    double value[16] = {0};
    bool good = in && node_to_vector(s->r, in, section_path(s, key), dim, value);
    const double* from = good ? value : otherwise;
    if (!from) return false;
    for (int k = 0; k < dim; k++) out[k] = from[k];
    put(s, key, numbers_node(s->r->a, from, dim));
    return good;
}

bool read_vector_required(section* s, const char* key, int dim, double* out)
{
    if (!section_has(s, key)) report_missing(s, key, dim == 2 ? "[x, y]" : "[x, y, z]");
    return read_vector(s, key, dim, out, NULL);
}

bool read_axial(section* s, const char* key, int dim, double out[3], const double* otherwise)
{
    if (dim == 3) return read_vector(s, key, 3, out, otherwise);
    if (read_real_optional(s, key, REAL_ANY, &out[2])) return true;
    if (otherwise) {
        out[2] = otherwise[2];
        put(s, key, node_real(s->r->a, out[2]));
    }
    return false;
}

double* read_numbers(section* s, const char* key, int* count)
{
    *count = 0;
    const node* in = find(s, key);
    if (!in) return NULL;
    if (in->kind != NODE_LIST || in->count == 0) {
        section_problem(s, key, "is %s (expected a list of numbers)",
                        in->kind == NODE_LIST ? "empty" : node_kind_name(in));
        return NULL;
    }
    double* values = arena_take(s->r->a, sizeof *values * (size_t)in->count);
    if (!values || !node_to_numbers(s->r, in, section_path(s, key), values)) return NULL;
    *count = in->count;
    put(s, key, numbers_node(s->r->a, values, in->count));
    return values;
}

double* read_rows(section* s, const char* key, int width, int* rows)
{
    *rows = 0;
    const node* in = find(s, key);
    if (!in) return NULL;
    if (in->kind != NODE_LIST || in->count == 0) {
        section_problem(s, key, "is %s (expected a list of rows of %d numbers)",
                        in->kind == NODE_LIST ? "empty" : node_kind_name(in), width);
        return NULL;
    }
    size_t row_size = (size_t)width;
    double* values = arena_take(s->r->a, sizeof *values * row_size * (size_t)in->count);
    node* out = node_make(s->r->a, NODE_LIST, (place){0});
    if (!values || !out) return NULL;
    bool good = true;
    for (int i = 0; i < in->count; i++) {
        double* row = values + row_size * (size_t)i;
        const char* path = arena_format(s->r->a, "%s[%d]", section_path(s, key), i);
        if (!node_to_vector(s->r, in->item[i], path, width, row)) good = false;
        node_append(s->r->a, out, numbers_node(s->r->a, row, width));
    }
    if (!good) return NULL;
    *rows = in->count;
    put(s, key, out);
    return values;
}

const char** read_texts(section* s, const char* key, int* count)
{
    *count = 0;
    const node* in = find(s, key);
    if (!in) return NULL;
    if (in->kind == NODE_MAP || node_is_null(in)) {
        section_problem(s, key, "is %s (expected a list of names)", node_kind_name(in));
        return NULL;
    }
    int size = in->kind == NODE_LIST ? in->count : 1;
    const char** texts = arena_take(s->r->a, sizeof *texts * (size_t)(size + 1));
    node* out = node_make(s->r->a, NODE_LIST, (place){0});
    if (!texts || !out) return NULL;
    out->flow = true;
    for (int i = 0; i < size; i++) {
        const node* item = in->kind == NODE_LIST ? in->item[i] : in;
        const char* path = arena_format(s->r->a, "%s[%d]", section_path(s, key), i);
        const char* text = node_to_text(s->r, item, path);
        if (!text) continue;
        texts[(*count)++] = text;
        node_append(s->r->a, out, text_node(s->r->a, text));
    }
    put(s, key, out);
    return texts;
}

place read_place(const section* s, const char* key, int index)
{
    const node* in = node_find(s->in, key);
    if (in && in->kind == NODE_LIST && index < in->count) return in->item[index]->at;
    return section_place(s, key);
}
