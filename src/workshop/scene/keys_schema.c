/// The JSON Schema (draft-07) of scenes, so that editors complete and check them.
///
/// A scene's vectors and some of its keys depend on its dimension, and the keys of a wall on its
/// type. So there is a definition of every section for each dimension, and one more for each of its
/// variants, which if/then picks. What depends on values elsewhere (names, low < high) is left to
/// `talus check`.
#include "base/json.h"
#include "scene/keys.h"

#include <float.h>
#include <string.h>

/// {"required": [word, other]}; other may be NULL.
static void write_need(json* j, const char* word, const char* other)
{
    json_object(j, NULL);
    json_array(j, "required");
    json_string(j, NULL, word);
    if (other) json_string(j, NULL, other);
    json_array_end(j);
    json_object_end(j);
}

// ---- values ------------------------------------------------------------------------------------

/// Where a section is in the scene: its keys are those of `s` in this variant and dimension.
typedef struct schema_place {
    const key_section* s;
    const char* pattern;
    const char* variant; ///< NULL: none, or all of them
    int dim;
    bool inherits;
} schema_place;

static void write_section(json* j, const schema_place* at);

static void write_number_rule(json* j, const key_row* row)
{
    if (row->rule == REAL_POSITIVE || row->not_zero)
        json_number(j, "exclusiveMinimum", 0);
    else if (row->rule != REAL_ANY)
        json_number(j, "minimum", 0);
    if (row->rule == REAL_FRACTION && !(row->most > 0)) json_number(j, "maximum", 1);
}

/// YAML knows infinite numbers, scenes do not.
static void write_finite(json* j, const key_row* row)
{
    if (row->rule == REAL_ANY && !(row->least > 0)) json_number(j, "minimum", -DBL_MAX);
    if (row->rule != REAL_FRACTION && !(row->most > 0)) json_number(j, "maximum", DBL_MAX);
}

static void write_real(json* j, const key_row* row)
{
    json_string(j, "type", "number");
    write_number_rule(j, row);
    if (row->least > 0) json_number(j, "minimum", row->least);
    if (row->most > 0) json_number(j, "maximum", row->most);
    write_finite(j, row);
}

/// Any scalar is a text to the reader, except an empty one.
static void write_text(json* j, const key_row* row)
{
    if (row->choice_count > 0) {
        json_array(j, "enum");
        for (int i = 0; i < row->choice_count; i++) {
            if (!(row->without >> i & 1u)) json_string(j, NULL, row->choices[i]);
        }
        json_array_end(j);
        return;
    }
    json_array(j, "type");
    json_string(j, NULL, "string");
    json_string(j, NULL, "number");
    json_string(j, NULL, "boolean");
    json_array_end(j);
    if (row->kinds == KEY_TEXT && row->least > 0) json_number(j, "minLength", row->least);
}

static void write_list(json* j, int least, int most)
{
    json_string(j, "type", "array");
    if (least > 0) json_number(j, "minItems", least);
    if (most > 0) json_number(j, "maxItems", most);
}

static void write_numbers(json* j, const key_row* row, int width)
{
    key_row entry = *row;
    if (row->kinds & KEY_ROWS) entry.least = entry.most = 0; // of how many there are
    write_list(j, width, width);
    json_object(j, "items");
    json_string(j, "type", row->whole ? "integer" : "number");
    write_number_rule(j, &entry);
    if (entry.most > 0) json_number(j, "maximum", entry.most);
    write_finite(j, &entry);
    json_object_end(j);
}

static void write_rows(json* j, const key_row* row, int width)
{
    write_list(j, row->least > 0 ? (int)row->least : 1, (int)row->most);
    json_object(j, "items");
    if (row->brief > 0) {
        json_array(j, "anyOf");
        for (int i = 0; i < 2; i++) {
            json_object(j, NULL);
            write_numbers(j, row, i == 0 ? row->brief : width);
            json_object_end(j);
        }
        json_array_end(j);
    } else {
        write_numbers(j, row, width);
    }
    json_object_end(j);
}

/// Name of the definition of a section: "walls-motion-sine-2d".
static void definition_name(const schema_place* at, char* out, int size)
{
    char plain[128];
    int length = 0;
    for (const char* c = at->s->pattern; *c && length < (int)sizeof plain - 1; c++) {
        if (*c == '<') c += strlen("<name");
        if (*c == '[' || *c == ']' || *c == '>') continue;
        if (*c == '.' && (c[1] == '<' || c[1] == '\0')) continue;
        plain[length++] = *c == '.' ? '-' : *c;
    }
    plain[length] = '\0';
    snprintf(out, (size_t)size, "%s%s%s%s-%dd", length > 0 ? plain : "scene",
             at->inherits ? "-changes" : "", at->variant ? "-" : "", at->variant ? at->variant : "",
             at->dim);
}

/// Whether a section's keys depend on the variant of the section it is in.
static bool depends_on_parent(const key_section* s)
{
    for (int i = 0; !s->selector && i < keys_row_count(s); i++) {
        if (keys_row(s, i)->only) return true;
    }
    return false;
}

/// The section under a key: where it is defined, or whole where it depends on its surroundings.
static void write_child(json* j, const schema_place* parent, const char* key, const char* end)
{
    char pattern[256], name[160], reference[200];
    snprintf(pattern, sizeof pattern, "%s%s%s%s", parent->pattern, parent->pattern[0] ? "." : "",
             key, end);
    const key_section* s = keys_section(pattern);
    if (!s) return;
    schema_place at = {.s = s, .pattern = pattern, .dim = parent->dim};
    at.inherits = keys_inherit(pattern);
    if (depends_on_parent(s)) {
        at.variant = parent->variant;
        write_section(j, &at);
        return;
    }
    definition_name(&at, name, sizeof name);
    snprintf(reference, sizeof reference, "#/definitions/%s", name);
    json_string(j, "$ref", reference);
}

/// What may stand under a key in one of its ways.
static void write_kind(json* j, const schema_place* at, const key_row* row, unsigned kind)
{
    static const key_row name = {.kinds = KEY_TEXT};
    const int width = row->width > 0 ? row->width : at->dim;
    switch (kind) {
    case KEY_REAL: write_real(j, row); break;
    case KEY_INTEGER:
        if (row->choice_count > 0) {
            json_array(j, "enum");
            for (int i = 0; i < row->choice_count; i++) json_raw(j, NULL, row->choices[i]);
            json_array_end(j);
            break;
        }
        json_string(j, "type", "integer");
        json_number(j, "minimum", row->least);
        json_number(j, "maximum", row->most);
        break;
    case KEY_BOOL: json_string(j, "type", "boolean"); break;
    case KEY_TEXT:
    case KEY_CHOICE: write_text(j, row); break;
    case KEY_VECTOR: write_numbers(j, row, width); break;
    case KEY_AXIAL:
        if (at->dim == 2)
            write_real(j, row);
        else
            write_numbers(j, row, 3);
        break;
    case KEY_ROWS: write_rows(j, row, width); break;
    case KEY_TEXTS:
        write_list(j, (int)row->least, (int)row->most);
        json_object(j, "items");
        write_text(j, row);
        json_object_end(j);
        break;
    case KEY_PAIRS:
        write_list(j, (int)row->least, (int)row->most);
        json_object(j, "items");
        write_list(j, 2, 2);
        json_object(j, "items");
        write_text(j, &name);
        json_object_end(j);
        json_object_end(j);
        break;
    case KEY_MAP: write_child(j, at, row->key, ""); break;
    case KEY_LIST:
        write_list(j, (int)row->least, 0);
        json_object(j, "items");
        write_child(j, at, row->key, "[]");
        json_object_end(j);
        break;
    default: // sections under names
        json_string(j, "type", "object");
        json_object(j, "additionalProperties");
        write_child(j, at, row->key, ".<name>");
        json_object_end(j);
        break;
    }
}

// ---- keys --------------------------------------------------------------------------------------

/// The meaning, with the unit and the default that has no number.
static void write_description(json* j, const schema_place* at, const key_row* row)
{
    const char* text = row->meaning;
    char words[1024] = "";
    FILE* out = fmemopen(words, sizeof words, "w");
    if (!out) return;
    for (const char* c = text; *c; c++) { // of a link, [text](target), only the text
        if (*c == ']' && c[1] == '(') {
            c = strchr(c, ')');
            continue;
        }
        if (*c == '[' && strncmp(c + strcspn(c, "]"), "](", 2) == 0) continue;
        fputc(*c, out);
    }
    const char* unit = at->dim == 2 && row->unit_2d ? row->unit_2d : row->unit;
    if (unit) fprintf(out, " [%s]", unit);
    if (at->inherits)
        fputs(". Left out: as before", out);
    else if (row->derived)
        fprintf(out, ". Default: %s", row->derived);
    fclose(out);
    json_string(j, "description", words);
}

static void write_default(json* j, const schema_place* at, const key_row* row)
{
    if (!row->otherwise || at->inherits) return;
    bool number = row->kinds & (KEY_REAL | KEY_INTEGER | KEY_BOOL);
    for (int i = 0; i < row->choice_count && row->kinds & KEY_CHOICE; i++) {
        if (strcmp(row->otherwise, row->choices[i]) == 0) number = false; // a word instead of one
    }
    const bool axial = row->kinds & KEY_AXIAL;
    if (number || (axial && at->dim == 2) || row->otherwise[0] == '[') {
        json_raw(j, "default", row->otherwise);
    } else if (row->kinds & KEY_VECTOR || axial) {
        const int width = row->width > 0 ? row->width : at->dim;
        json_array(j, "default");
        for (int k = 0; k < width; k++) json_raw(j, NULL, row->otherwise);
        json_array_end(j);
    } else {
        json_string(j, "default", row->otherwise);
    }
}

static void write_row(json* j, const schema_place* at, const key_row* row)
{
    json_object(j, row->key);
    write_description(j, at, row);
    write_default(j, at, row);
    // A reference hides what stands beside it, and a list of one text may be the text.
    const bool single = (row->kinds & (row->kinds - 1)) == 0;
    const bool word = row->kinds == KEY_TEXTS && row->least < 2;
    if (single && row->kinds != KEY_MAP && !word) {
        write_kind(j, at, row, row->kinds);
        json_object_end(j);
        return;
    }
    json_array(j, "anyOf");
    for (unsigned kind = 1; kind <= KEY_NAMED; kind *= 2) {
        if (!(row->kinds & kind)) continue;
        json_object(j, NULL);
        write_kind(j, at, row, kind);
        json_object_end(j);
    }
    if (word) {
        json_object(j, NULL);
        write_text(j, row);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static bool row_is_at(const schema_place* at, const key_row* row)
{
    return keys_fits(row->only, at->variant) && (row->dim == 0 || row->dim == at->dim);
}

/// The words of a group that are keys here; returns how many.
static int group_words(const schema_place* at, const key_group* group, char words[8][64])
{
    int count = 0;
    const char* rest = group->keys;
    while (count < 8 && keys_next_word(&rest, words[count], 64)) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(words[count], "["), words[count]);
        if (keys_find(at->s, key, at->variant, at->dim)) count++;
    }
    return count;
}

/// One of the alternatives of a group: the key is there.
static void write_alternative(json* j, char word[64])
{
    char* bracket = strchr(word, '[');
    if (!bracket) {
        write_need(j, word, NULL);
        return;
    }
    *bracket = '\0';
    json_object(j, NULL);
    json_array(j, "required");
    json_string(j, NULL, word);
    json_array_end(j);
    json_object(j, "properties");
    json_object(j, word);
    json_string(j, "type", "array");
    json_object_end(j);
    json_object_end(j);
    json_object_end(j);
}

static void write_group(json* j, const schema_place* at, const key_group* group)
{
    char words[8][64];
    const int count = group_words(at, group, words);
    json_object(j, NULL);
    if (group->kind == KEY_AT_MOST_ONE) {
        json_object(j, "not");
        json_array(j, "anyOf");
        for (int a = 0; a < count; a++) {
            for (int b = a + 1; b < count; b++) write_need(j, words[a], words[b]);
        }
        json_array_end(j);
        json_object_end(j);
    } else {
        json_array(j, group->kind == KEY_ONE_OF ? "oneOf" : "anyOf");
        for (int i = 0; i < count; i++) write_alternative(j, words[i]);
        json_array_end(j);
    }
    json_object_end(j);
}

// ---- sections ----------------------------------------------------------------------------------

/// A section in one variant: exactly these keys.
static void write_section(json* j, const schema_place* at)
{
    const int rows = keys_row_count(at->s);
    json_string(j, "type", "object");
    json_object(j, "properties");
    for (int i = 0; i < rows; i++) {
        if (row_is_at(at, keys_row(at->s, i))) write_row(j, at, keys_row(at->s, i));
    }
    json_object_end(j);
    json_array(j, "required");
    for (int i = 0; i < rows; i++) {
        const key_row* row = keys_row(at->s, i);
        if (row->required && row_is_at(at, row)) json_string(j, NULL, row->key);
    }
    json_array_end(j);
    json_object(j, "dependencies");
    for (int i = 0; i < rows; i++) {
        const key_row* row = keys_row(at->s, i);
        if (!row->needs || !row_is_at(at, row)) continue;
        json_array(j, row->key);
        json_string(j, NULL, row->needs);
        json_array_end(j);
    }
    json_object_end(j);
    int groups = 0;
    for (int i = 0; i < at->s->group_count; i++) {
        const key_group* group = &at->s->groups[i];
        char words[8][64];
        const bool here = keys_fits(group->only, at->variant) &&
                          group_words(at, group, words) > (group->kind == KEY_AT_MOST_ONE);
        if (!here) continue; // it says nothing in this variant and dimension
        if (groups++ == 0) json_array(j, "allOf");
        write_group(j, at, group);
    }
    if (groups > 0) json_array_end(j);
    json_raw(j, "additionalProperties", "false");
}

/// A section of which the selector picks the variant; the keys of all variants are offered before
/// it is known.
static void write_choice(json* j, const schema_place* at)
{
    const key_row* selector = keys_find(at->s, at->s->selector, NULL, at->dim);
    json_string(j, "type", "object");
    json_object(j, "properties");
    for (int i = 0; i < keys_row_count(at->s); i++) {
        const key_row* row = keys_row(at->s, i);
        if (!row->only && row_is_at(at, row)) write_row(j, at, row);
    }
    json_object_end(j);
    json_array(j, "required");
    if (selector->required) json_string(j, NULL, selector->key);
    json_array_end(j);
    json_array(j, "allOf");
    for (int i = 0; i < selector->choice_count; i++) {
        if (selector->without >> i & 1u) continue;
        schema_place variant = *at;
        variant.variant = selector->choices[i];
        // If the selector has this value, or may be left out and is, the section is this variant's.
        const char* usual = selector->otherwise;
        char name[160], reference[200];
        definition_name(&variant, name, sizeof name);
        snprintf(reference, sizeof reference, "#/definitions/%s", name);
        json_object(j, NULL);
        json_object(j, "if");
        json_object(j, "properties");
        json_object(j, at->s->selector);
        json_string(j, "const", variant.variant);
        json_object_end(j);
        json_object_end(j);
        json_array(j, "required");
        if (!usual || strcmp(usual, variant.variant) != 0) {
            json_string(j, NULL, at->s->selector);
        }
        json_array_end(j);
        json_object_end(j);
        json_object(j, "then");
        json_string(j, "$ref", reference);
        json_object_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_definition(json* j, const schema_place* at)
{
    char name[160];
    definition_name(at, name, sizeof name);
    json_object(j, name);
    // What editors call it in messages and lists.
    json_string(j, "title",
                at->variant         ? at->variant
                : at->s->pattern[0] ? at->s->pattern
                                    : "scene");
    if (at->s->selector && !at->variant)
        write_choice(j, at);
    else
        write_section(j, at);
    json_object_end(j);
}

static void write_definitions_of(json* j, const key_section* s, int dim)
{
    schema_place at = {.s = s, .pattern = s->pattern, .dim = dim, .inherits = s->inherits};
    write_definition(j, &at);
    const key_row* selector = s->selector ? keys_find(s, s->selector, NULL, dim) : NULL;
    for (int i = 0; selector && i < selector->choice_count; i++) {
        if (selector->without >> i & 1u) continue;
        at.variant = selector->choices[i];
        write_definition(j, &at);
    }
    // The same keys where what is left out stays in force.
    at.variant = NULL;
    const char* other;
    for (int i = 0; (other = keys_same_as(s, i)) != NULL; i++) {
        at.inherits = keys_inherit(other);
        if (at.inherits && !s->inherits) write_definition(j, &at);
    }
}

void keys_write_schema(FILE* out)
{
    json j = json_begin(out);
    json_string(&j, "$schema", "http://json-schema.org/draft-07/schema#");
    json_string(&j, "title", "Talus scene");
    json_string(&j, "description",
                "What is in the world, how it moves, how long the run lasts and what is recorded");
    json_string(&j, "type", "object");
    json_object(&j, "if");
    json_object(&j, "properties");
    json_object(&j, "dimension");
    json_raw(&j, "const", "3");
    json_object_end(&j);
    json_object_end(&j);
    json_array(&j, "required");
    json_string(&j, NULL, "dimension");
    json_array_end(&j);
    json_object_end(&j);
    json_object(&j, "then");
    json_string(&j, "$ref", "#/definitions/scene-3d");
    json_object_end(&j);
    json_object(&j, "else");
    json_string(&j, "$ref", "#/definitions/scene-2d");
    json_object_end(&j);
    json_object(&j, "definitions");
    const key_section* s;
    for (int i = 0; (s = keys_at(i)) != NULL; i++) {
        for (int dim = 2; dim <= 3; dim++) {
            // What depends on its surroundings is written out there.
            if (!depends_on_parent(s)) write_definitions_of(&j, s, dim);
        }
    }
    json_object_end(&j);
    json_end(&j);
}
