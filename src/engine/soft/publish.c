/// From the soft method's lists to the world's table of contacts, and back.
#include "base/error.h"
#include "base/parallel.h"
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
    const int64_t p = s->places.row_of[soft_pairs_place(&s->pairs, pair, 0)];
    const int64_t q = s->places.row_of[soft_pairs_place(&s->pairs, pair, 1)];
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
static void write_pair(const soft_particles* s, const step_order* order, const soft_recorded* r,
                       int64_t pair, contacts* out, int64_t at)
{
    const grains* g = &order->state->grains;
    const int dim = s->dim, width = spin_width(dim);
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

/// The pairs of balls are worked out once more, as of the last evaluation, block by block.
typedef struct recording {
    soft_particles* s;
    const step_order* order;
    ball_task task;
    contacts* out;     ///< the table, NULL: only energies are wanted
    const int32_t* at; ///< [8 * batches] rows of the live pairs in it
} recording;

/// Record a block; returns the energy of its springs.
static double record_block(const recording* r, int64_t b, soft_recorded* record)
{
    const soft_particles* s = r->s;
    const int64_t first = 8 * s->pairs.block[b].batch, end = 8 * s->pairs.block[b].batch_end;
    ball_task task = r->task;
    task.record = record;
    s->kernels->balls(&task, b);
    double elastic = 0.0;
    for (int64_t i = first; i < end; i++) {
        if (!soft_pairs_live(&s->pairs, i)) continue;
        elastic += record[i - first].elastic;
        if (r->out) write_pair(s, r->order, &record[i - first], i, r->out, r->at[i]);
    }
    return elastic;
}

/// Record all blocks; *elastic receives the energy of all springs, the same for any number of
/// threads.
static talus_status record_blocks(const recording* r, double* elastic)
{
    const soft_pairs* pairs = &r->s->pairs;
    int64_t most = 0;
    for (int64_t b = 0; b < pairs->block_count; b++) {
        const int64_t lanes = 8 * (pairs->block[b].batch_end - pairs->block[b].batch);
        most = lanes > most ? lanes : most;
    }
    double* of_block = calloc((size_t)pairs->block_count + 1, sizeof *of_block);
    bool good = of_block != NULL;
#pragma omp parallel num_threads(parallel_threads(r->order->threads, pairs->body_count)) if (good)
    {
        soft_recorded* record = calloc((size_t)most + 1, sizeof *record);
#pragma omp for schedule(dynamic)
        for (int64_t b = 0; b < pairs->block_count; b++) {
            if (record && of_block) of_block[b] = record_block(r, b, record);
        }
        if (!record) {
#pragma omp atomic write
            good = false;
        }
        free(record);
    }
    *elastic = 0.0;
    for (int64_t b = 0; b < pairs->block_count && good; b++) *elastic += of_block[b];
    free(of_block);
    const general_contacts* others = &r->s->general;
    for (int64_t c = 0; c < others->list.count; c++) *elastic += others->answers.elastic[c];
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

static recording recording_of(soft_particles* s, const step_order* order)
{
    recording r = {.s = s, .order = order, .task = soft_ball_task(s, order, 0.0)};
    r.task.geometric = false;
    return r;
}

talus_status soft_elastic(soft_particles* s, const step_order* order, double* out)
{
    const recording r = recording_of(s, order);
    return record_blocks(&r, out);
}

/// Merge the pairs of balls and the other contacts, both sorted: the others go into the table, and
/// at[8 * batches] receives the rows of the pairs.
static talus_status merge(soft_particles* s, const step_order* order, const entries* pairs,
                          int32_t* at)
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
    int64_t row = 0, next = 0;
    for (int64_t a = 0; a < s->pairs.body_count; a++) {
        for (int64_t i = pairs->first[a]; i < pairs->first[a + 1]; i++) {
            const int32_t b = pairs->row[i].b;
            while (next < general->count &&
                   (general->a_row[next] < a ||
                    (general->a_row[next] == a && general->b_row[next] < b))) {
                contacts_paste_row(out, row++, general, next++);
            }
            at[pairs->row[i].pair] = (int32_t)row++;
        }
    }
    while (next < general->count) contacts_paste_row(out, row++, general, next++);
    return TALUS_OK;
}

talus_status soft_particles_publish(soft_particles* s, const step_order* order)
{
    // Whoever has removed grains since the step has had the contacts written down before.
    if (!s->known || s->revision != order->state->revision) return TALUS_OK;
    if (!s->listed && soft_make_list(s, order, NULL)) return TALUS_ERR_MEMORY;
    entries pairs = {0};
    int32_t* at = malloc(sizeof *at * (size_t)(8 * s->pairs.batch_count + 1));
    talus_status status = at ? sort_pairs(s, &pairs) : TALUS_ERR_MEMORY;
    if (status == TALUS_OK) status = merge(s, order, &pairs, at);
    recording r = recording_of(s, order);
    r.out = &order->state->contacts;
    r.at = at;
    if (status == TALUS_OK) status = record_blocks(&r, &s->elastic);
    free(pairs.first);
    free(pairs.row);
    free(at);
    return status;
}
