/// The contact list's field table; carrying forces from one step's list to the next.
#include "detect/contacts.h"

#include "base/vec.h"

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
    CONTACT_COLUMN(feature, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "part of the wall's shape that touches"),
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

void contacts_match(contacts* now, const contacts* last)
{
    const int dim = now->dim;
    int64_t j = 0;
    for (int64_t i = 0; i < now->count; i++) {
        while (j < last->count && contacts_compare(last, j, now, i) < 0) j++;
        bool persists = j < last->count && contacts_compare(last, j, now, i) == 0;
        for (int k = 0; k < dim; k++) {
            now->force[i * dim + k] = persists ? last->force[j * dim + k] : 0.0;
        }
        now->state[i] = persists ? last->state[j] : TALUS_CONTACT_OPEN;
    }
}

/// Move contact `from` to the earlier place `to`.
static void contact_move(contacts* c, int64_t to, int64_t from)
{
    const int dim = c->dim;
    c->a[to] = c->a[from];
    c->b[to] = c->b[from];
    c->feature[to] = c->feature[from];
    vec_copy(dim, c->point + to * dim, c->point + from * dim);
    vec_copy(dim, c->normal + to * dim, c->normal + from * dim);
    vec_copy(dim, c->force + to * dim, c->force + from * dim);
    c->gap[to] = c->gap[from];
    c->state[to] = c->state[from];
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
        if (kept != i) contact_move(c, kept, i);
        c->a_row[kept] = (int32_t)a;
        c->b_row[kept] = (int32_t)b;
        kept++;
    }
    c->count = kept;
}
