/// The contact list's field table; carrying forces from one step's list to the next.
#include "detect/contacts.h"

#include <stdlib.h>

#define CONTACT_COLUMN(member, type, width, flags, unit, doc)                                      \
    {                                                                                              \
#member, offsetof(contacts, member), type, width, flags, unit, doc                         \
    }

static const column contact_table[] = {
    CONTACT_COLUMN(a, COLUMN_I64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "first body: grain id, or -1 - wall index"),
    CONTACT_COLUMN(b, COLUMN_I64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "second body: grain id"),
    CONTACT_COLUMN(feature, COLUMN_I64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "which features touch, 0 between balls"),
    CONTACT_COLUMN(a_row, COLUMN_I32, WIDTH_1, COLUMN_STATE, "", "row of a among the grains"),
    CONTACT_COLUMN(b_row, COLUMN_I32, WIDTH_1, COLUMN_STATE, "", "row of b among the grains"),
    CONTACT_COLUMN(point, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "m",
                   "contact point at the start of the step"),
    CONTACT_COLUMN(normal, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "",
                   "unit normal from a to b"),
    CONTACT_COLUMN(gap, COLUMN_F64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "m",
                   "gap at the start of the step, negative: overlap"),
    CONTACT_COLUMN(force, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "N", "force on b"),
    CONTACT_COLUMN(state, COLUMN_U8, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "0 open, 1 stick, 2 slide"),
    CONTACT_COLUMN(torque, COLUMN_F64, WIDTH_SPIN, COLUMN_FRAME | COLUMN_STATE, "N m",
                   "torque on b of rolling and torsion friction"),
    CONTACT_COLUMN(bonded, COLUMN_U8, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "1 while a cohesive bond holds"),
    CONTACT_COLUMN(distant, COLUMN_U8, WIDTH_1, 0, "", "in reach of a bond only"),
};
enum { CONTACT_COLUMNS = sizeof contact_table / sizeof contact_table[0] };

const column* contacts_columns(int* count_out)
{
    *count_out = CONTACT_COLUMNS;
    return contact_table;
}

void contacts_init(contacts* c, int dim)
{
    *c = (contacts){.dim = dim};
}

void contacts_free(contacts* c)
{
    columns_free(c, contact_table, CONTACT_COLUMNS);
    c->count = c->capacity = 0;
}

talus_status contacts_reserve(contacts* c, int64_t needed)
{
    return columns_reserve(c, contact_table, CONTACT_COLUMNS, c->dim, needed, &c->capacity);
}

int contacts_compare(const contacts* x, int64_t i, const contacts* y, int64_t j)
{
    if (x->a[i] != y->a[j]) return x->a[i] < y->a[j] ? -1 : 1;
    if (x->b[i] != y->b[j]) return x->b[i] < y->b[j] ? -1 : 1;
    if (x->feature[i] != y->feature[j]) return x->feature[i] < y->feature[j] ? -1 : 1;
    return 0;
}

static bool pair_before(const contacts* c, int64_t i, int64_t a, int64_t b)
{
    return c->a[i] < a || (c->a[i] == a && c->b[i] < b);
}

int64_t contacts_seek(contacts_cursor* cursor, int64_t a, int64_t b, int64_t* first)
{
    const contacts* c = cursor->list;
    while (cursor->at < c->count && pair_before(c, cursor->at, a, b)) cursor->at++;
    *first = cursor->at;
    int64_t end = cursor->at;
    while (end < c->count && c->a[end] == a && c->b[end] == b) end++;
    return end - *first;
}

/// Row of `last` with the key of row i of `now`, -1 if none; *j walks along `last`.
static int64_t find_match(const contacts* now, int64_t i, const contacts* last, int64_t* j)
{
    while (*j < last->count && contacts_compare(last, *j, now, i) < 0) (*j)++;
    return *j < last->count && contacts_compare(last, *j, now, i) == 0 ? *j : -1;
}

static void carry_forces(contacts* now, int64_t i, const contacts* last, int64_t match)
{
    const int dim = now->dim, spin_dim = dim == 2 ? 1 : 3;
    for (int k = 0; k < dim; k++) now->force[i * dim + k] = last->force[match * dim + k];
    for (int k = 0; k < spin_dim; k++) {
        now->torque[i * spin_dim + k] = last->torque[match * spin_dim + k];
    }
}

void contacts_match(contacts* now, const contacts* last)
{
    const int dim = now->dim, spin_dim = dim == 2 ? 1 : 3;
    int64_t j = 0;
    for (int64_t i = 0; i < now->count; i++) {
        int64_t match = find_match(now, i, last, &j);
        now->state[i] = match >= 0 ? last->state[match] : TALUS_CONTACT_OPEN;
        now->bonded[i] = match >= 0 ? last->bonded[match] : 0;
        if (match >= 0) {
            carry_forces(now, i, last, match);
            continue;
        }
        for (int k = 0; k < dim; k++) now->force[i * dim + k] = 0.0;
        for (int k = 0; k < spin_dim; k++) now->torque[i * spin_dim + k] = 0.0;
    }
}

void contacts_match_forces(contacts* now, const contacts* last)
{
    int64_t j = 0;
    for (int64_t i = 0; i < now->count; i++) {
        int64_t match = find_match(now, i, last, &j);
        if (match >= 0) carry_forces(now, i, last, match);
    }
}

void contacts_prune(contacts* c)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->count; i++) {
        if (c->distant[i] && !c->bonded[i]) continue;
        if (kept != i) columns_copy_row(c, contact_table, CONTACT_COLUMNS, c->dim, kept, i);
        kept++;
    }
    c->count = kept;
}

void contacts_relink(contacts* c, const grains* g, const walls* w)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->count; i++) {
        int64_t b = grains_find(g, c->b[i]);
        bool a_is_wall = c->a[i] < 0;
        int64_t a = a_is_wall ? c->a[i] : grains_find(g, c->a[i]);
        bool a_gone = a_is_wall ? !w->present[-1 - c->a[i]] : a < 0;
        if (b < 0 || a_gone) continue;
        if (kept != i) columns_copy_row(c, contact_table, CONTACT_COLUMNS, c->dim, kept, i);
        c->a_row[kept] = (int32_t)a;
        c->b_row[kept] = (int32_t)b;
        kept++;
    }
    c->count = kept;
}
