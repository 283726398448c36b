/// From the soft method's lists to the world's table of contacts, and back.
#include "base/error.h"
#include "base/vec.h"
#include "soft/workspace.h"

#include <stdlib.h>
#include <string.h>

// ---- import ------------------------------------------------------------------------------------

talus_status soft_import(soft_particles* s, const step_order* order)
{
    const contacts* c = &order->state->contacts;
    const int width = spin_width(s->dim);
    s->pairs.memories.count = 0;
    s->general.list.count = 0;
    TRY(general_contacts_reserve(&s->general, c->count));
    TRY(contacts_need_like(&s->general.list, c));
    for (int64_t i = 0; i < c->count; i++) {
        if (c->state[i] == TALUS_CONTACT_OPEN) continue;
        const int32_t a = c->a_row[i], b = c->b_row[i];
        if (a < 0 || !soft_are_balls(s, &order->state->grains, a, b)) {
            const int64_t at = s->general.list.count++;
            contacts_paste_row(&s->general.list, at, c, i);
            s->general.answers.elastic[at] = 0.0;
            continue;
        }
        soft_memory m = {.p = s->places.place_of[a],
                         .q = s->places.place_of[b],
                         .bonded = c->bonded[i],
                         .slides = c->state[i] == TALUS_CONTACT_SLIDE};
        for (int k = 0; k < width; k++) {
            m.slip[k] = c->slip ? c->slip[i * width + k] : 0.0;
            m.roll[k] = c->roll ? c->roll[i * width + k] : 0.0;
        }
        if (m.p > m.q) soft_memory_swap(s->dim, &m);
        TRY(soft_memories_add(&s->pairs.memories, &m));
    }
    soft_memories_sort(&s->pairs.memories);
    return TALUS_OK;
}

// ---- publish -----------------------------------------------------------------------------------

/// A live pair on its way into the table.
typedef struct entry {
    int32_t b;    ///< row of the second body
    int64_t pair; ///< its lane, counted over all batches
} entry;

/// Live pairs by the row of their first body, then of their second.
typedef struct entries {
    int64_t* first; ///< [grains + 2]
    entry* row;
} entries;

/// Rows of a pair's bodies, a < b.
static void rows_of_pair(const soft_particles* s, int64_t pair, int64_t* a, int64_t* b)
{
    const int32_t* where = s->pairs.where + 16 * (pair / 8) + pair % 8;
    const int64_t p = s->places.row_of[soft_pairs_place(&s->pairs, where[0])];
    const int64_t q = s->places.row_of[soft_pairs_place(&s->pairs, where[8])];
    *a = p < q ? p : q;
    *b = p < q ? q : p;
}

static void sort_few(entry* first, entry* end)
{
    for (entry* i = first; i < end; i++) {
        const entry value = *i;
        entry* at = i;
        for (; at > first && at[-1].b > value.b; at--) *at = at[-1];
        *at = value;
    }
}

static talus_status sort_pairs(const soft_particles* s, entries* out)
{
    const int64_t n = s->pairs.body_count, lanes = 8 * s->pairs.batch_count;
    int64_t a, b;
    out->first = calloc((size_t)n + 2, sizeof *out->first);
    if (!out->first) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < lanes; i++) {
        if (!soft_pairs_live(&s->pairs, i)) continue;
        rows_of_pair(s, i, &a, &b);
        out->first[a + 2]++;
    }
    for (int64_t p = 0; p < n; p++) out->first[p + 2] += out->first[p + 1];
    out->row = malloc(sizeof *out->row * (size_t)(out->first[n + 1] + 1));
    if (!out->row) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < lanes; i++) {
        if (!soft_pairs_live(&s->pairs, i)) continue;
        rows_of_pair(s, i, &a, &b);
        out->row[out->first[a + 1]++] = (entry){(int32_t)b, i};
    }
    for (int64_t p = 0; p < n; p++)
        sort_few(out->row + out->first[p], out->row + out->first[p + 1]);
    return TALUS_OK;
}

/// The row of the table for a pair of balls.
static void write_pair(const soft_particles* s, const step_order* order,
                       const soft_recorded* record, int64_t pair, contacts* out, int64_t at)
{
    const grains* g = &order->state->grains;
    const int dim = s->dim, width = spin_width(dim);
    const soft_recorded* r = &record[pair];
    soft_memory m = soft_pairs_memory(&s->pairs, pair);
    const bool turned = s->places.row_of[m.p] > s->places.row_of[m.q];
    if (turned) soft_memory_swap(dim, &m);
    const int64_t a = s->places.row_of[m.p], b = s->places.row_of[m.q];
    const double sign = turned ? -1.0 : 1.0;
    out->a[at] = g->id[a], out->b[at] = g->id[b];
    out->feature[at] = 0;
    out->a_row[at] = (int32_t)a, out->b_row[at] = (int32_t)b;
    out->gap[at] = r->gap;
    for (int k = 0; k < dim; k++) {
        out->normal[at * dim + k] = sign * r->normal[k];
        out->force[at * dim + k] = sign * r->force[k];
        out->point[at * dim + k] =
            g->position[a * dim + k] + (g->radius[a] + 0.5 * r->gap) * sign * r->normal[k];
        if (out->arm) out->arm[at * dim + k] = 0.0;
    }
    for (int k = 0; k < width; k++) {
        out->slip[at * width + k] = m.slip[k];
        if (out->roll) out->roll[at * width + k] = m.roll[k];
        if (out->torque) out->torque[at * width + k] = sign * r->torque[k];
    }
    if (out->stored) out->stored[at] = 0.0;
    out->bonded[at] = m.bonded;
    out->state[at] = m.slides ? TALUS_CONTACT_SLIDE : TALUS_CONTACT_STICK;
}

/// The pairs of balls once more, as of the last evaluation.
static soft_recorded* record_pairs(soft_particles* s, const step_order* order)
{
    soft_recorded* record = calloc((size_t)(8 * s->pairs.batch_count + 1), sizeof *record);
    if (!record) return NULL;
    ball_task task = soft_ball_task(s, order, 0.0);
    task.geometric = false;
    task.record = record;
    for (int64_t b = 0; b < s->pairs.block_count; b++) s->kernels->balls(&task, b);
    return record;
}

static double elastic_of(const soft_particles* s, const soft_recorded* record)
{
    double sum = 0.0;
    for (int64_t i = 0; i < 8 * s->pairs.batch_count; i++) {
        if (soft_pairs_live(&s->pairs, i)) sum += record[i].elastic;
    }
    for (int64_t c = 0; c < s->general.list.count; c++) sum += s->general.answers.elastic[c];
    return sum;
}

talus_status soft_elastic(soft_particles* s, const step_order* order, double* out)
{
    soft_recorded* record = record_pairs(s, order);
    if (!record) return TALUS_ERR_MEMORY;
    *out = elastic_of(s, record);
    free(record);
    return TALUS_OK;
}

/// Merge the pairs of balls and the other contacts, both sorted, into the table.
static talus_status write_table(soft_particles* s, const step_order* order,
                                const soft_recorded* record, const entries* pairs)
{
    contacts* out = &order->state->contacts;
    const contacts* general = &s->general.list;
    TRY(contacts_resize(out, pairs->first[s->pairs.body_count] + general->count));
    TRY(contacts_need_like(out, general));
    TRY(contacts_need_slips(out));
    if (s->laws.kind.compound) {
        TRY(contacts_need_rolls(out));
        TRY(contacts_need_torques(out));
    }
    int64_t at = 0, next = 0;
    for (int64_t a = 0; a < s->pairs.body_count; a++) {
        for (int64_t i = pairs->first[a]; i < pairs->first[a + 1]; i++) {
            const int32_t b = pairs->row[i].b;
            while (next < general->count &&
                   (general->a_row[next] < a ||
                    (general->a_row[next] == a && general->b_row[next] < b))) {
                contacts_paste_row(out, at++, general, next++);
            }
            write_pair(s, order, record, pairs->row[i].pair, out, at++);
        }
    }
    while (next < general->count) contacts_paste_row(out, at++, general, next++);
    return TALUS_OK;
}

talus_status soft_particles_publish(soft_particles* s, const step_order* order)
{
    // Whoever has removed grains since the step has had the contacts written down before.
    if (!s->known || s->revision != order->state->revision) return TALUS_OK;
    entries pairs = {0};
    soft_recorded* record = record_pairs(s, order);
    talus_status status = record ? sort_pairs(s, &pairs) : TALUS_ERR_MEMORY;
    if (status == TALUS_OK) status = write_table(s, order, record, &pairs);
    if (status == TALUS_OK) s->elastic = elastic_of(s, record);
    free(pairs.first);
    free(pairs.row);
    free(record);
    return status;
}
