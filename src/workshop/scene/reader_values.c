/// Single values and plain lists of a scene: numbers, texts, choices, vectors, tables.
#include "base/words.h"
#include "scene/reader.h"

#include <assert.h>
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

bool parse_bool(const char* text, bool* out)
{
    static const char* const words[][3] = {{"false", "False", "FALSE"}, {"true", "True", "TRUE"}};
    for (int i = 0; i < 6; i++) {
        if (strcmp(text, words[i / 3][i % 3]) != 0) continue;
        *out = i >= 3;
        return true;
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

/// "a, b or c" in the arena.
static const char* list_names(arena* a, const char* const* names, int count)
{
    const char* text = names[0];
    for (int i = 1; i < count && text; i++) {
        text = arena_format(a, "%s%s%s", text, i == count - 1 ? " or " : ", ", names[i]);
    }
    return text ? text : "";
}

/// What a row expects: a number, and the words that may stand for it.
static const char* expected_real(arena* a, const key_row* row)
{
    const char* number = rule_name(row->rule);
    if (!(row->kinds & KEY_CHOICE)) return number;
    const char* text =
        arena_format(a, "%s or %s", number, list_names(a, row->choices, row->choice_count));
    return text ? text : number;
}

/// A word about what is nearly a number: one in quotes, or one with a unit.
static const char* number_hint(const node* in)
{
    double value;
    if (in->quoted)
        return parse_real(in->text, &value) ? "; without the quotes it would be one" : "";
    char* end;
    strtod(in->text, &end);
    const bool number = end > in->text && !isalpha((unsigned char)in->text[0]);
    while (isblank((unsigned char)*end)) end++;
    return number && isalpha((unsigned char)*end)
               ? "; numbers are written without units (lengths in m, times in s, masses in kg)"
               : "";
}

/// A number with its rule; reports what is wrong at `in`, and what was expected there.
static bool node_to_real(reader* r, const node* in, const char* path, real_rule rule,
                         const char* expected, double* out)
{
    if (in->kind != NODE_SCALAR || node_is_null(in)) {
        mistakes_add(r->mistakes, in->at, path, "is %s (expected %s)", node_kind_name(in),
                     expected);
        return false;
    }
    double value;
    if (in->quoted || !parse_real(in->text, &value)) {
        mistakes_add(r->mistakes, in->at, path, "'%.60s' is not a number (expected %s)%s", in->text,
                     expected, number_hint(in));
        return false;
    }
    if ((rule == REAL_POSITIVE && !(value > 0.0)) || (rule == REAL_NON_NEGATIVE && value < 0.0) ||
        (rule == REAL_FRACTION && !(value >= 0.0 && value <= 1.0))) {
        mistakes_add(r->mistakes, in->at, path, "%.60s is out of range (expected %s)", in->text,
                     expected);
        return false;
    }
    *out = value;
    return true;
}

static void put(section* s, const char* key, node* value)
{
    node_put(s->r->a, s->out, key, (place){0}, value);
}

static void report_missing(section* s, const char* key, const char* expected)
{
    if (s->broken || section_misspells(s, key)) return;
    mistakes_add(s->r->mistakes, s->at, section_path(s, key), "is missing (expected %s)", expected);
}

/// A default of the table, which is a number.
static double default_real(const key_row* row)
{
    double value = 0.0;
    bool good = row->otherwise && parse_real(row->otherwise, &value);
    assert(good && "the row has a number as its default");
    (void)good;
    return value;
}

/// A default that the caller gives must be what the table says.
static void check_default(const section* s, const key_row* row, double value)
{
    const bool free = s->r->a->failed || s->inherits || row->derived || row->required;
    const bool good = free || (row->otherwise && default_real(row) == value);
    assert(good && "the caller's default is that of the table");
    (void)good;
}

/// Read as the row says; the value is changed only if it is there and good.
static bool take_real(section* s, const key_row* row, double* out)
{
    const node* in = section_take(s, row->key);
    double value;
    if (!in || !node_to_real(s->r, in, section_path(s, row->key), row->rule,
                             expected_real(s->r->a, row), &value))
        return false;
    *out = value;
    put(s, row->key, node_real(s->r->a, value));
    section_accept(s, row->key);
    const bool outside = value < row->least || (row->most > 0.0 && value > row->most) ||
                         (row->not_zero && value == 0.0);
    if (outside && row->outside) section_mistake(s, row->key, "%s", row->outside);
    return true;
}

bool read_real_optional(section* s, const char* key, double* out)
{
    return take_real(s, section_row(s, key, KEY_REAL), out);
}

double read_real_or(section* s, const char* key, double otherwise)
{
    const key_row* row = section_row(s, key, KEY_REAL);
    check_default(s, row, otherwise);
    double value = otherwise;
    if (!take_real(s, row, &value)) put(s, key, node_real(s->r->a, otherwise));
    return value;
}

double read_real_required(section* s, const char* key)
{
    const key_row* row = section_row(s, key, KEY_REAL);
    double value = 1.0;
    if (!section_take(s, key))
        report_missing(s, key, expected_real(s->r->a, row));
    else
        take_real(s, row, &value);
    return value;
}

double read_real(section* s, const char* key)
{
    const key_row* row = section_row(s, key, KEY_REAL);
    return row->required ? read_real_required(s, key) : read_real_or(s, key, default_real(row));
}

/// What a row of whole numbers expects, in `text`.
static const char* expected_integer(const key_row* row, char* text, size_t size)
{
    const long long least = (long long)row->least, most = (long long)row->most;
    if (row->most >= INT32_MAX) // the largest that a program can count to says nothing to a reader
        snprintf(text, size, "an integer of at least %lld", least);
    else if (most == least + 1)
        snprintf(text, size, "%lld or %lld", least, most);
    else
        snprintf(text, size, "an integer from %lld to %lld", least, most);
    return text;
}

static bool take_integer(section* s, const key_row* row, int64_t* out)
{
    const node* in = section_take(s, row->key);
    if (!in) return false;
    char text[96];
    const char* expected = expected_integer(row, text, sizeof text);
    double value;
    if (!node_to_real(s->r, in, section_path(s, row->key), REAL_ANY, expected, &value))
        return false;
    // Beyond it a double no longer tells an integer from its neighbours.
    if (value != rint(value) || fabs(value) > KEY_MOST_INTEGER || value < row->least ||
        value > row->most) {
        const bool too_many = value > row->most && row->most >= INT32_MAX;
        section_mistake(s, row->key, "%.60s does not fit (expected %s)", in->text,
                        too_many ? "an integer that a computer can count to" : expected);
        return false;
    }
    *out = (int64_t)value;
    put(s, row->key, node_integer(s->r->a, *out));
    section_accept(s, row->key);
    return true;
}

bool read_integer_optional(section* s, const char* key, int64_t* out)
{
    return take_integer(s, section_row(s, key, KEY_INTEGER), out);
}

int64_t read_integer_or(section* s, const char* key, int64_t otherwise)
{
    const key_row* row = section_row(s, key, KEY_INTEGER);
    check_default(s, row, (double)otherwise);
    int64_t value = otherwise;
    if (!take_integer(s, row, &value)) put(s, key, node_integer(s->r->a, otherwise));
    return value;
}

int64_t read_integer(section* s, const char* key)
{
    const key_row* row = section_row(s, key, KEY_INTEGER);
    if (!row->required) return read_integer_or(s, key, (int64_t)default_real(row));
    int64_t value = 1;
    if (!section_take(s, key))
        report_missing(s, key, row->missing);
    else
        take_integer(s, row, &value);
    return value;
}

bool read_bool_or(section* s, const char* key, bool otherwise)
{
    const key_row* row = section_row(s, key, KEY_BOOL);
    assert(s->r->a->failed || s->inherits || row->derived ||
           strcmp(row->otherwise, otherwise ? "true" : "false") == 0);
    (void)row;
    const node* in = section_take(s, key);
    bool value = otherwise;
    if (in) {
        if (in->kind != NODE_SCALAR)
            section_mistake(s, key, "is %s (expected true or false)", node_kind_name(in));
        else if (in->quoted || !parse_bool(in->text, &value))
            section_mistake(s, key, "'%.60s' is not a truth value (expected true or false)",
                            in->text);
    }
    put(s, key, node_scalar(s->r->a, value ? "true" : "false", false));
    return value;
}

bool read_bool(section* s, const char* key)
{
    return read_bool_or(s, key, strcmp(section_row(s, key, KEY_BOOL)->otherwise, "true") == 0);
}

/// Whether a text must be quoted to come back as text: empty, null, true, numbers.
static node* text_node(arena* a, const char* text)
{
    double number;
    bool truth;
    node probe = {.kind = NODE_SCALAR, .text = (char*)(uintptr_t)text};
    bool quoted = node_is_null(&probe) || parse_real(text, &number) || parse_bool(text, &truth) ||
                  strpbrk(text, "\n\t") != NULL;
    return node_scalar(a, text, quoted);
}

static const char* node_to_text(reader* r, const node* in, const char* path)
{
    if (in->kind == NODE_SCALAR && !node_is_null(in)) return in->text;
    mistakes_add(r->mistakes, in->at, path, "is %s (expected a text)", node_kind_name(in));
    return NULL;
}

const char* read_text_or(section* s, const char* key, const char* otherwise)
{
    const key_row* row = section_row(s, key, KEY_TEXT);
    const node* in = section_take(s, key);
    if (!in && row->required) report_missing(s, key, "a text");
    const char* text = in ? node_to_text(s->r, in, section_path(s, key)) : NULL;
    if (!text) text = otherwise;
    if (text) put(s, key, text_node(s->r->a, text));
    return text;
}

const char* read_text(section* s, const char* key)
{
    return read_text_or(s, key, section_row(s, key, KEY_TEXT)->otherwise);
}

/// Index of a word in the choices of a row, -1 if it is none or NULL.
static int choice_of(const key_row* row, const char* word)
{
    for (int i = 0; word && i < row->choice_count; i++) {
        if (strcmp(row->choices[i], word) == 0) return i;
    }
    return -1;
}

/// The choices of a row that exist in this dimension; returns their number.
static int choices_here(arena* a, const key_row* row, const char* const** names)
{
    const char** here = arena_take(a, sizeof *here * (size_t)(row->choice_count + 1));
    int count = 0;
    for (int i = 0; here && i < row->choice_count; i++) {
        if (!(row->without >> i & 1u)) here[count++] = row->choices[i];
    }
    *names = here;
    return count;
}

/// Read as the row says, and make it the section's variant if it is that key.
static int take_choice(section* s, const key_row* row, int otherwise)
{
    const node* in = section_take(s, row->key);
    const char* const* names;
    const int count = choices_here(s->r->a, row, &names);
    int choice = otherwise;
    if (!in && otherwise < 0) report_missing(s, row->key, list_names(s->r->a, names, count));
    const char* text = in ? node_to_text(s->r, in, section_path(s, row->key)) : NULL;
    if (text) {
        int found = choice_of(row, text);
        const char* near = found < 0 ? nearest_name(text, names, count) : NULL;
        const bool outside = found >= 0 && row->outside && (row->without >> found & 1u);
        if (outside) section_mistake(s, row->key, "'%s' %s", text, row->outside);
        if (found >= 0)
            choice = found;
        else
            section_mistake(s, row->key, "'%.60s' is not known (expected %s)%s%s%s", text,
                            list_names(s->r->a, names, count), near ? "; did you mean '" : "",
                            near ? near : "", near ? "'?" : "");
    }
    if (choice < 0) return choice;
    put(s, row->key, node_scalar(s->r->a, row->choices[choice], false));
    if (s->keys->selector && strcmp(s->keys->selector, row->key) == 0) {
        s->variant = row->choices[choice];
    }
    return choice;
}

int read_choice_or(section* s, const char* key, int otherwise)
{
    const key_row* row = section_row(s, key, KEY_CHOICE);
    assert(s->r->a->failed || s->inherits || row->derived || row->required ||
           choice_of(row, row->otherwise) == otherwise);
    return take_choice(s, row, otherwise);
}

int read_choice(section* s, const char* key)
{
    const key_row* row = section_row(s, key, KEY_CHOICE);
    return take_choice(s, row, choice_of(row, row->otherwise));
}

bool read_choice_is_out(section* s, const char* key, int choice)
{
    return choice >= 0 && (section_row(s, key, KEY_CHOICE)->without >> choice & 1u);
}

// ---- lists -------------------------------------------------------------------------------------

static node* numbers_node(arena* a, const double* values, int count)
{
    node* list = node_make(a, NODE_LIST, (place){0});
    if (list) list->flow = true;
    for (int i = 0; i < count; i++) node_append(a, list, node_real(a, values[i]));
    return list;
}

static bool node_to_vector(reader* r, const node* in, const char* path, int width, double* out)
{
    if (in->kind != NODE_LIST) {
        mistakes_add(r->mistakes, in->at, path, "is %s (expected a list of %d numbers)",
                     node_kind_name(in), width);
        return false;
    }
    if (in->count != width) {
        mistakes_add(r->mistakes, in->at, path, "has %d entries (expected a list of %d numbers)",
                     in->count, width);
        return false;
    }
    bool good = true;
    for (int i = 0; i < in->count; i++) {
        // The path of an entry is only worth making when there is something to say.
        if (in->item[i]->kind == NODE_SCALAR && !in->item[i]->quoted &&
            parse_real(in->item[i]->text, &out[i])) {
            continue;
        }
        node_to_real(r, in->item[i], arena_format(r->a, "%s[%d]", path, i), REAL_ANY,
                     rule_name(REAL_ANY), &out[i]);
        good = false;
    }
    return good;
}

enum { WIDEST = 16 };

static int width_of(const section* s, const key_row* row)
{
    return row->width > 0 ? row->width : s->r->dim;
}

static bool take_vector(section* s, const key_row* row, double* out, const double* otherwise)
{
    const int width = width_of(s, row);
    const node* in = section_take(s, row->key);
    double value[WIDEST] = {0};
    bool good = in && node_to_vector(s->r, in, section_path(s, row->key), width, value);
    const double* from = good ? value : otherwise;
    if (!from) return false;
    for (int k = 0; k < width; k++) out[k] = from[k];
    put(s, row->key, numbers_node(s->r->a, from, width));
    if (good) section_accept(s, row->key);
    return good;
}

bool read_vector_or(section* s, const char* key, double* out, const double* otherwise)
{
    const key_row* row = section_row(s, key, KEY_VECTOR);
    check_default(s, row, otherwise[0]);
    return take_vector(s, row, out, otherwise);
}

bool read_vector_required(section* s, const char* key, double* out)
{
    const key_row* row = section_row(s, key, KEY_VECTOR);
    if (!section_take(s, key)) {
        report_missing(s, key, width_of(s, row) == 2 ? "[x, y]" : "[x, y, z]");
    }
    return take_vector(s, row, out, NULL);
}

/// The table's default: "[0, 0, 1]", or a number that all entries have.
static void default_vector(const key_row* row, int width, double* out)
{
    if (row->otherwise[0] != '[') {
        for (int k = 0; k < width; k++) out[k] = default_real(row);
        return;
    }
    char* at = (char*)(uintptr_t)row->otherwise;
    for (int k = 0; k < width; k++) out[k] = strtod(at + 1, &at);
}

bool read_vector(section* s, const char* key, double* out)
{
    const key_row* row = section_row(s, key, KEY_VECTOR);
    if (row->required) return read_vector_required(s, key, out);
    double otherwise[WIDEST] = {0};
    if (row->otherwise) default_vector(row, width_of(s, row), otherwise);
    return take_vector(s, row, out, row->otherwise ? otherwise : NULL);
}

static bool take_axial(section* s, const key_row* row, double out[3], const double* otherwise)
{
    if (s->r->dim == 3) return take_vector(s, row, out, otherwise);
    if (take_real(s, row, &out[2])) return true;
    out[2] = otherwise[2];
    put(s, row->key, node_real(s->r->a, out[2]));
    return false;
}

bool read_axial(section* s, const char* key, double out[3])
{
    const key_row* row = section_row(s, key, KEY_AXIAL);
    double otherwise[3];
    default_vector(row, 3, otherwise);
    return take_axial(s, row, out, otherwise);
}

bool read_axial_or(section* s, const char* key, double out[3], const double* otherwise)
{
    const key_row* row = section_row(s, key, KEY_AXIAL);
    check_default(s, row, otherwise[2]);
    return take_axial(s, row, out, otherwise);
}

double* read_rows(section* s, const char* key, int* rows, int* row_numbers)
{
    const key_row* row_of = section_row(s, key, KEY_ROWS);
    *rows = 0;
    const node* in = section_take(s, key);
    if (!in) return NULL;
    // As many numbers in each row as the table says, or the other number if the first row has that.
    const bool first = in->kind == NODE_LIST && in->count > 0 && in->item[0]->kind == NODE_LIST;
    const bool brief = row_of->brief > 0 && first && in->item[0]->count == row_of->brief;
    const int width = brief ? row_of->brief : width_of(s, row_of);
    if (row_numbers) *row_numbers = width;
    if (in->kind != NODE_LIST || in->count == 0) {
        section_mistake(s, key, "is %s (expected a list of rows of %d numbers)",
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
    section_row(s, key, KEY_TEXTS);
    *count = 0;
    const node* in = section_take(s, key);
    if (!in) return NULL;
    if (in->kind == NODE_MAP || node_is_null(in)) {
        section_mistake(s, key, "is %s (expected a list of names)", node_kind_name(in));
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
    section_accept(s, key);
    return texts;
}

place read_place(const section* s, const char* key, int index)
{
    const node* in = node_find(s->in, key);
    if (in && in->kind == NODE_LIST && index < in->count) return in->item[index]->at;
    return section_place(s, key);
}

int reader_find_name(reader* r, place at, const char* path, const char* what, const char* word,
                     const char* const* names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], word) == 0) return i;
    }
    enum { FEW = 8 }; // names that one can take in at a glance
    const char* near = nearest_name(word, names, count);
    if (near)
        mistakes_add(r->mistakes, at, path, "there is no %s named '%.60s'; did you mean '%s'?",
                     what, word, near);
    else if (count > 0 && count <= FEW)
        mistakes_add(r->mistakes, at, path, "there is no %s named '%.60s' (expected %s)", what,
                     word, list_names(r->a, names, count));
    else
        mistakes_add(r->mistakes, at, path, "there is no %s named '%.60s'%s", what, word,
                     count == 0 ? ": the scene has none" : "");
    return -1;
}

int section_find_name(section* s, const char* key, int index, const char* what, const char* word,
                      const char* const* names, int count)
{
    return reader_find_name(s->r, read_place(s, key, index), section_path(s, key), what, word,
                            names, count);
}
