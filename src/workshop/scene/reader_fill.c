/// Reading the keys of which the table says where they go.
#include "scene/reader.h"

#include <assert.h>
#include <string.h>

/// The member of a struct of this type that a row's value goes into; NULL: none.
static const key_member* member_of(const key_row* row, const char* type)
{
    for (int i = 0; i < KEY_COUNT(row->into); i++) {
        if (row->into[i].of && strcmp(row->into[i].of, type) == 0) return &row->into[i];
    }
    return NULL;
}

/// `preset`: the default is what the number is now.
static void fill_real(section* s, const key_row* row, bool preset, double factor, double* out)
{
    assert(!preset || factor == 1.0);
    if (preset)
        *out = read_real_or(s, row->key, *out);
    else if (row->required || row->otherwise)
        *out = factor * read_real(s, row->key);
    else if (read_real_optional(s, row->key, out))
        *out *= factor;
}

static void fill_reals(section* s, const key_row* row, bool preset, double factor, double* out)
{
    if (row->kinds & KEY_AXIAL) {
        if (preset)
            read_axial_or(s, row->key, out, out);
        else
            read_axial(s, row->key, out);
        for (int k = 0; k < 3 && factor != 1.0; k++) out[k] *= factor;
        return;
    }
    assert(factor == 1.0);
    if (preset)
        read_vector_or(s, row->key, out, out);
    else
        read_vector(s, row->key, out);
}

/// An integer; `now` is what stays where nothing else is said.
static int64_t fill_integer(section* s, const key_row* row, bool preset, int64_t now)
{
    if (preset) return read_integer_or(s, row->key, now);
    if (row->required || row->otherwise) return read_integer(s, row->key);
    read_integer_optional(s, row->key, &now);
    return now;
}

/// A truth value or a choice as a number; `now` is what stays where nothing else is said.
static int fill_choice(section* s, const key_row* row, bool preset, int now)
{
    if (row->kinds & KEY_BOOL) {
        return preset ? read_bool_or(s, row->key, now) : read_bool(s, row->key);
    }
    const int choice = preset ? read_choice_or(s, row->key, now) : read_choice(s, row->key);
    return choice < 0 ? now : choice;
}

/// A list of axes: those named become true, if there is a list.
static void fill_axes(section* s, const key_row* row, bool out[3])
{
    int count;
    const char** names = read_texts(s, row->key, &count);
    for (int k = 0; names && k < 3; k++) out[k] = false;
    for (int i = 0; i < count; i++) {
        const int axis =
            section_find_name(s, row->key, i, "axis", names[i], row->choices, row->choice_count);
        if (axis >= 0) out[axis] = true;
    }
}

void section_fill_members(section* s, const char* type, void* into, const char* end)
{
    for (int i = 0; i < keys_row_count(s->keys); i++) {
        const key_row* row = keys_row(s->keys, i);
        if (end && strcmp(row->key, end) == 0) return;
        const key_member* m = member_of(row, type);
        if (!m || !keys_fits(row->only, s->variant) || (row->dim && row->dim != s->r->dim))
            continue;
        if (section_was_read(s, row->key)) continue;
        const bool preset = s->inherits || row->preset;
        void* member = (char*)into + m->offset;
        switch (m->type) {
        case MEMBER_REAL: fill_real(s, row, preset, m->factor, member); break;
        case MEMBER_REALS: fill_reals(s, row, preset, m->factor, member); break;
        case MEMBER_INT: *(int*)member = (int)fill_integer(s, row, preset, *(int*)member); break;
        case MEMBER_INT64:
            *(int64_t*)member = fill_integer(s, row, preset, *(int64_t*)member);
            break;
        case MEMBER_UINT64:
            *(uint64_t*)member =
                (uint64_t)fill_integer(s, row, preset, (int64_t) * (uint64_t*)member);
            break;
        case MEMBER_BOOL: *(bool*)member = fill_choice(s, row, preset, *(bool*)member) == 1; break;
        case MEMBER_BOOLS: fill_axes(s, row, member); break;
        case MEMBER_ENUM:
            *(unsigned*)member = (unsigned)fill_choice(s, row, preset, *(int*)member);
            break;
        case MEMBER_TEXT: *(const char**)member = read_text(s, row->key); break;
        }
    }
}
