/// The contact list's field table; carrying forces from one step's list to the next.
#include "detect/contacts.h"

#include "base/parallel.h"
#include "base/vec.h"
#include "geometry/feature.h"

#include <math.h>
#include <string.h>

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
    CONTACT_COLUMN(arm, COLUMN_F64, WIDTH_DIM, COLUMN_STATE | COLUMN_RARE, "m",
                   "from b's centre to the point, if a or b is a solid"),
    CONTACT_COLUMN(normal, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "",
                   "unit normal from a to b"),
    CONTACT_COLUMN(gap, COLUMN_F64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "m",
                   "gap at the start of the step, negative: overlap"),
    CONTACT_COLUMN(force, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "N", "force on b"),
    CONTACT_COLUMN(state, COLUMN_U8, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "0 open, 1 stick, 2 slide"),
    CONTACT_COLUMN(torque, COLUMN_F64, WIDTH_SPIN, COLUMN_FRAME | COLUMN_STATE | COLUMN_RARE, "N m",
                   "torque on b of rolling and torsion friction"),
    CONTACT_COLUMN(slip, COLUMN_F64, WIDTH_SPIN, COLUMN_FRAME | COLUMN_STATE | COLUMN_RARE, "m",
                   "method soft: elongation of the friction spring; 2D: along (-n_y, n_x)"),
    CONTACT_COLUMN(roll, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE | COLUMN_RARE, "rad",
                   "method soft: elongation of the springs of rolling and torsion"),
    CONTACT_COLUMN(stored, COLUMN_F64, WIDTH_1, COLUMN_STATE | COLUMN_RARE, "J",
                   "method soft: work stored by the area of overlap"),
    CONTACT_COLUMN(bonded, COLUMN_U8, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                   "1 while a cohesive bond holds"),
    CONTACT_COLUMN(distant, COLUMN_U8, WIDTH_1, COLUMN_RARE, "", "in reach of a bond only"),
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

talus_status contacts_resize(contacts* c, int64_t count)
{
    if (contacts_reserve(c, count)) return TALUS_ERR_MEMORY;
    c->count = count;
    return TALUS_OK;
}

static talus_status need(contacts* c, size_t offset)
{
    int k = 0;
    while (contact_table[k].offset != offset) k++;
    return column_need(&contact_table[k], c, c->dim, c->capacity);
}

talus_status contacts_need_arms(contacts* c)
{
    return need(c, offsetof(contacts, arm));
}

talus_status contacts_need_torques(contacts* c)
{
    return need(c, offsetof(contacts, torque));
}

talus_status contacts_need_distant(contacts* c)
{
    return need(c, offsetof(contacts, distant));
}

talus_status contacts_need_slips(contacts* c)
{
    return need(c, offsetof(contacts, slip));
}

talus_status contacts_need_rolls(contacts* c)
{
    return need(c, offsetof(contacts, roll));
}

talus_status contacts_need_stored(contacts* c)
{
    return need(c, offsetof(contacts, stored));
}

/// Copy or move rows of every column; the lists may be one and the same. What `from` lacks is zero.
static void copy_rows(contacts* to, int64_t at, const contacts* from, int64_t first, int64_t count)
{
    for (int k = 0; k < CONTACT_COLUMNS; k++) {
        const column* col = &contact_table[k];
        const size_t row = column_element_size(col) * (size_t)column_row_width(col, to->dim);
        char* data = column_data(col, to);
        const char* source = column_data(col, from);
        if (!data) continue;
        data += row * (size_t)at;
        if (source) {
            memmove(data, source + row * (size_t)first, row * (size_t)count);
        } else {
            memset(data, 0, row * (size_t)count);
        }
    }
}

talus_status contacts_need_like(contacts* to, const contacts* from)
{
    for (int k = 0; k < CONTACT_COLUMNS; k++) {
        if (!column_data(&contact_table[k], from)) continue;
        if (column_need(&contact_table[k], to, to->dim, to->capacity)) return TALUS_ERR_MEMORY;
    }
    return TALUS_OK;
}

void contacts_paste(contacts* to, int64_t at, const contacts* from)
{
    if (from->count > 0) copy_rows(to, at, from, 0, from->count);
}

void contacts_paste_row(contacts* to, int64_t at, const contacts* from, int64_t row)
{
    copy_rows(to, at, from, row, 1);
}

void contacts_copy_row(contacts* c, int64_t to, int64_t from)
{
    columns_copy_row(c, contact_table, CONTACT_COLUMNS, c->dim, to, from);
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

contacts_cursor contacts_cursor_at(const contacts* list, int64_t a, int64_t b)
{
    int64_t low = 0, high = list->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (pair_before(list, middle, a, b)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (contacts_cursor){.list = list, .at = low};
}

/// Row of `last` with the key of row i of `now`, -1 if none; *j walks along `last`.
static int64_t find_match(const contacts* now, int64_t i, const contacts* last, int64_t* j)
{
    while (*j < last->count && contacts_compare(last, *j, now, i) < 0) (*j)++;
    return *j < last->count && contacts_compare(last, *j, now, i) == 0 ? *j : -1;
}

static void carry_forces(contacts* now, int64_t i, const contacts* last, int64_t match)
{
    const int dim = now->dim, spin_dim = spin_width(dim);
    for (int k = 0; k < dim; k++) now->force[i * dim + k] = last->force[match * dim + k];
    for (int k = 0; k < spin_dim && now->torque; k++) {
        now->torque[i * spin_dim + k] = last->torque ? last->torque[match * spin_dim + k] : 0.0;
    }
}

/// Row i of `now` goes on from row `match` of `last`, or begins anew if that is -1.
static void carry_over(contacts* now, int64_t i, const contacts* last, int64_t match)
{
    const int dim = now->dim, spin_dim = spin_width(dim);
    now->state[i] = match >= 0 ? last->state[match] : TALUS_CONTACT_OPEN;
    now->bonded[i] = match >= 0 ? last->bonded[match] : 0;
    if (match >= 0) {
        carry_forces(now, i, last, match);
        return;
    }
    for (int k = 0; k < dim; k++) now->force[i * dim + k] = 0.0;
    for (int k = 0; k < spin_dim && now->torque; k++) now->torque[i * spin_dim + k] = 0.0;
}

// ---- new names ---------------------------------------------------------------------------------

/// Rows of one pair of bodies that are looked at together; more than these begin anew.
enum { MAX_ROWS = 32 };
/// A point with a new name is an old one if it is nearer, seen from b's centre, than this part of
/// the smaller body's radius, and looks the same way, give or take 45 degrees.
static const double SAME_PLACE = 0.1, SAME_NORMAL = 0.7;

/// Rows of a pair of bodies in both lists, and which of them found each other by name.
typedef struct pair_rows {
    int64_t now_first, last_first;
    int now_count, last_count;
    uint32_t now_named, last_named; ///< bits
} pair_rows;

/// Distance of row i of `now` from row j of `last`; INFINITY if they cannot be one point.
static double rename_distance(const contacts* now, int64_t i, const contacts* last, int64_t j)
{
    const int dim = now->dim;
    double apart[3];
    const int64_t x = now->feature[i], y = last->feature[j];
    if (feature_part_a(x) != feature_part_a(y) || feature_part_b(x) != feature_part_b(y) ||
        feature_image(x) != feature_image(y) ||
        vec_dot(dim, now->normal + i * dim, last->normal + j * dim) < SAME_NORMAL) {
        return INFINITY;
    }
    vec_sub(dim, apart, now->arm + i * dim, last->arm + j * dim);
    return vec_norm(dim, apart);
}

/// Of the rows without a match the two, one in each list, that are nearest to each other and nearer
/// than `near`; false if there are none.
static bool nearest_unnamed(const contacts* now, const contacts* last, const pair_rows* rows,
                            double near, int pair[2])
{
    bool found = false;
    for (int i = 0; i < rows->now_count; i++) {
        for (int j = 0; j < rows->last_count && !(rows->now_named >> i & 1); j++) {
            if (rows->last_named >> j & 1) continue;
            double distance = rename_distance(now, rows->now_first + i, last, rows->last_first + j);
            if (!(distance < near)) continue;
            near = distance;
            pair[0] = i, pair[1] = j;
            found = true;
        }
    }
    return found;
}

/// Match the rows of `now` that belong to the same bodies as row `first`; returns the next row.
static int64_t match_pair(contacts* now, int64_t first, const contacts* last,
                          contacts_cursor* cursor, const grains* g)
{
    pair_rows rows = {.now_first = first};
    const int64_t a = now->a[first], b = now->b[first];
    const int64_t old = contacts_seek(cursor, a, b, &rows.last_first);
    int64_t i = first, j = rows.last_first;
    for (; i < now->count && now->a[i] == a && now->b[i] == b; i++) {
        const int64_t match = find_match(now, i, last, &j);
        carry_over(now, i, last, match);
        if (match < 0 || i - first >= MAX_ROWS || match - rows.last_first >= MAX_ROWS) continue;
        rows.now_named |= UINT32_C(1) << (i - first);
        rows.last_named |= UINT32_C(1) << (match - rows.last_first);
    }
    const int32_t a_row = now->a_row[first], b_row = now->b_row[first];
    const bool has_solid = (a_row >= 0 && g->solid[a_row] >= 0) || g->solid[b_row] >= 0;
    if (old == 0 || old > MAX_ROWS || i - first > MAX_ROWS || !has_solid) return i;
    if (!now->arm || !last->arm) return i;
    rows.now_count = (int)(i - first);
    rows.last_count = (int)old;
    // Points of solids change their names when a corner slides from one face to the next. Those of
    // `now` that have no match by name go on from the nearest of `last` that have none either, so
    // that neither impulses nor bonds are lost.
    const double radius = g->radius[b_row],
                 near = SAME_PLACE * (a_row < 0 ? radius : fmin(g->radius[a_row], radius));
    int pair[2];
    while (nearest_unnamed(now, last, &rows, near, pair)) {
        rows.now_named |= UINT32_C(1) << pair[0];
        rows.last_named |= UINT32_C(1) << pair[1];
        carry_over(now, first + pair[0], last, rows.last_first + pair[1]);
    }
    return i;
}

/// First row of `c` at or after `row` that does not belong to the same bodies as the row before.
static int64_t pair_start(const contacts* c, int64_t row)
{
    if (row <= 0) return 0;
    while (row < c->count && c->a[row] == c->a[row - 1] && c->b[row] == c->b[row - 1]) row++;
    return row < c->count ? row : c->count;
}

talus_status contacts_match(contacts* now, const contacts* last, const grains* g, int threads)
{
    if (last->torque && contacts_need_torques(now)) return TALUS_ERR_MEMORY;
    const int chunks = parallel_chunks(now->count);
#pragma omp parallel for num_threads(parallel_threads(threads, now->count)) schedule(static)
    for (int n = 0; n < chunks; n++) {
        const int64_t end = pair_start(now, parallel_first(now->count, n + 1));
        int64_t i = pair_start(now, parallel_first(now->count, n));
        if (i >= end) continue;
        contacts_cursor cursor = contacts_cursor_at(last, now->a[i], now->b[i]);
        while (i < end) i = match_pair(now, i, last, &cursor, g);
    }
    return TALUS_OK;
}

talus_status contacts_match_forces(contacts* now, const contacts* last, int threads)
{
    if (last->torque && contacts_need_torques(now)) return TALUS_ERR_MEMORY;
    const int chunks = parallel_chunks(now->count);
#pragma omp parallel for num_threads(parallel_threads(threads, now->count)) schedule(static)
    for (int n = 0; n < chunks; n++) {
        const int64_t first = parallel_first(now->count, n);
        const int64_t end = parallel_first(now->count, n + 1);
        int64_t j = contacts_cursor_at(last, now->a[first], now->b[first]).at;
        for (int64_t i = first; i < end; i++) {
            int64_t match = find_match(now, i, last, &j);
            if (match >= 0) carry_forces(now, i, last, match);
        }
    }
    return TALUS_OK;
}

void contacts_prune(contacts* c, int threads)
{
    if (!c->distant || !memchr(c->distant, 1, (size_t)c->count)) return;
    const int chunks = parallel_chunks(c->count);
    int64_t stays[PARALLEL_CHUNKS];
#pragma omp parallel for num_threads(parallel_threads(threads, c->count)) schedule(static)
    for (int n = 0; n < chunks; n++) {
        // Rows that stay come to the front of their chunk.
        const int64_t first = parallel_first(c->count, n), end = parallel_first(c->count, n + 1);
        stays[n] = 0;
        for (int64_t i = first; i < end; i++) {
            if (c->distant[i] && !c->bonded[i]) continue;
            const int64_t to = first + stays[n]++;
            if (to != i) contacts_copy_row(c, to, i);
        }
    }
    int64_t kept = stays[0];
    for (int n = 1; n < chunks; n++) {
        copy_rows(c, kept, c, parallel_first(c->count, n), stays[n]);
        kept += stays[n];
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
        if (kept != i) contacts_copy_row(c, kept, i);
        c->a_row[kept] = (int32_t)a;
        c->b_row[kept] = (int32_t)b;
        kept++;
    }
    c->count = kept;
}

void contacts_forget_forces(contacts* list)
{
    const size_t count = (size_t)list->count, spin_dim = (size_t)spin_width(list->dim);
    if (count == 0) return;
    memset(list->force, 0, sizeof(double) * count * (size_t)list->dim);
    if (list->torque) memset(list->torque, 0, sizeof(double) * count * spin_dim);
}

void contacts_swap(contacts* x, contacts* y)
{
    contacts swap = *x;
    *x = *y;
    *y = swap;
}
