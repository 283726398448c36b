/// Making the packed list of pairs; see pairs.h.
#include "soft/pairs.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void soft_pairs_free(soft_pairs* s)
{
    void* const all[] = {s->block,        s->who,     s->where,  s->law,         s->root_mass,
                         s->slip,         s->roll,    s->images, s->live,        s->bonded,
                         s->slides,       s->halo,    s->inbox,  s->inbox_first, s->target,
                         s->target_first, s->senders, s->sum,    s->memories.row};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    *s = (soft_pairs){0};
}

// ---- memories ----------------------------------------------------------------------------------

talus_status soft_memories_add(soft_memories* m, const soft_memory* row)
{
    if (!arrays_grow(&m->capacity, m->count + 1, ARRAY(m->row))) return TALUS_ERR_MEMORY;
    m->row[m->count++] = *row;
    return TALUS_OK;
}

static int compare_memories(const void* x, const void* y)
{
    const soft_memory *a = x, *b = y;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    return (a->q > b->q) - (a->q < b->q);
}

void soft_memories_sort(soft_memories* m)
{
    if (m->count > 1) qsort(m->row, (size_t)m->count, sizeof *m->row, compare_memories);
}

/// In 2D the slip is along a tangent that turns round with the normal; in 3D it is a vector.
void soft_memory_swap(int dim, soft_memory* m)
{
    const int32_t p = m->p;
    m->p = m->q;
    m->q = p;
    for (int k = 0; k < 3; k++) {
        if (dim == 3) m->slip[k] = -m->slip[k];
        m->roll[k] = -m->roll[k];
    }
}

soft_memory soft_pairs_memory(const soft_pairs* s, int64_t pair)
{
    const int width = spin_width(s->dim);
    const int64_t batch = pair / 8, lane = pair % 8;
    soft_memory m = {.p = soft_pairs_place(s, pair, 0),
                     .q = soft_pairs_place(s, pair, 1),
                     .bonded = s->bonded[batch] >> lane & 1,
                     .slides = s->slides[batch] >> lane & 1};
    for (int k = 0; k < width; k++) {
        m.slip[k] = s->slip[8 * (batch * width + k) + lane];
        m.roll[k] = s->roll ? s->roll[8 * (batch * width + k) + lane] : 0.0;
    }
    return m;
}

talus_status soft_pairs_remember(soft_pairs* s)
{
    s->memories.count = 0;
    for (int64_t i = 0; i < 8 * s->batch_count; i++) {
        if (!soft_pairs_live(s, i)) continue;
        const soft_memory m = soft_pairs_memory(s, i);
        TRY(soft_memories_add(&s->memories, &m));
    }
    return TALUS_OK;
}

void soft_pairs_reorder(soft_pairs* s, const int32_t* old_row_of, const soft_places* places)
{
    for (int64_t i = 0; i < s->memories.count; i++) {
        soft_memory* m = &s->memories.row[i];
        m->p = places->place_of[old_row_of[m->p]];
        m->q = places->place_of[old_row_of[m->q]];
        if (m->p > m->q) soft_memory_swap(s->dim, m);
    }
    soft_memories_sort(&s->memories);
}

// ---- making the list ---------------------------------------------------------------------------

/// Pairs by places, p < q ascending, while the list is made.
typedef struct placed_pairs {
    int64_t* first; ///< [bodies + 1]
    int32_t* q;
} placed_pairs;

static void sort_few(int32_t* first, int32_t* end)
{
    for (int32_t* i = first; i < end; i++) {
        const int32_t value = *i;
        int32_t* at = i;
        for (; at > first && at[-1] > value; at--) *at = at[-1];
        *at = value;
    }
}

/// Sort the pairs by p (counting), then each p's few by q.
static talus_status place_pairs(const soft_listing* from, placed_pairs* out)
{
    const int64_t n = from->g->count, count = from->pairs->count;
    const int32_t* place = from->places->place_of;
    out->first = calloc((size_t)n + 2, sizeof *out->first);
    out->q = malloc(sizeof *out->q * (size_t)(count + 1));
    if (!out->first || !out->q) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const int32_t a = place[from->pairs->a[i]], b = place[from->pairs->b[i]];
        out->first[(a < b ? a : b) + 2]++;
    }
    for (int64_t p = 0; p < n; p++) out->first[p + 2] += out->first[p + 1];
    for (int64_t i = 0; i < count; i++) {
        const int32_t a = place[from->pairs->a[i]], b = place[from->pairs->b[i]];
        out->q[out->first[(a < b ? a : b) + 1]++] = a < b ? b : a;
    }
#pragma omp parallel for num_threads(parallel_threads(from->threads, n)) schedule(static)
    for (int64_t p = 0; p < n; p++) sort_few(out->q + out->first[p], out->q + out->first[p + 1]);
    return TALUS_OK;
}

/// Room for a list, without its sums.
static bool reserve(soft_pairs* s, const soft_listing* from)
{
    const int width = spin_width(s->dim);
    const int64_t batches = from->pairs->count / 8 + s->block_count + 1;
    if (!from->laws->kind.compound) { // so that nobody fills what has not grown with the rest
        free(s->roll);
        s->roll = NULL;
        s->roll_capacity = 0;
    }
    return arrays_renew(&s->batch_capacity, batches, ROWS(s->who, 16), ROWS(s->where, 16),
                        ROWS(s->root_mass, 8), ROWS(s->slip, 8 * width), ARRAY(s->images),
                        ARRAY(s->live), ARRAY(s->bonded), ARRAY(s->slides)) &&
           (from->laws->uniform || arrays_renew(&s->law_capacity, batches, ROWS(s->law, 8))) &&
           (!from->laws->kind.compound ||
            arrays_renew(&s->roll_capacity, batches, ROWS(s->roll, 8 * width))) &&
           arrays_renew(&s->block_capacity, s->block_count + 1, ARRAY(s->block),
                        ARRAY(s->inbox_first), ARRAY(s->target_first), ARRAY(s->senders)) &&
           arrays_renew(&s->halo_capacity, from->pairs->count, ARRAY(s->halo), ARRAY(s->inbox),
                        ARRAY(s->target));
}

/// The list as it grows.
typedef struct list_maker {
    soft_pairs* s;
    const soft_listing* from;
    int32_t* halo_of;   ///< [bodies] halo row in the present block, -1 if none
    int64_t lane;       ///< next free one of the last batch, counted over all batches
    int64_t memory;     ///< next one
    int64_t block_halo; ///< first halo row of the present block
} list_maker;

/// The memory of a pair, NULL if there is none; pairs are asked for in ascending order.
static const soft_memory* find_memory(list_maker* m, int32_t p, int32_t q)
{
    const soft_memories* all = &m->s->memories;
    const soft_memory key = {.p = p, .q = q};
    while (m->memory < all->count && compare_memories(&all->row[m->memory], &key) < 0) m->memory++;
    const bool found = m->memory < all->count && compare_memories(&all->row[m->memory], &key) == 0;
    return found ? &all->row[m->memory] : NULL;
}

static void write_memory(soft_pairs* s, const soft_memory* old, int64_t batch, int lane)
{
    const int width = spin_width(s->dim);
    for (int k = 0; k < width; k++) {
        s->slip[8 * (batch * width + k) + lane] = old ? old->slip[k] : 0.0;
        if (s->roll) s->roll[8 * (batch * width + k) + lane] = old ? old->roll[k] : 0.0;
    }
    const uint8_t bit = (uint8_t)(1 << lane);
    if (old) s->live[batch] |= bit;
    if (old && old->bonded) s->bonded[batch] |= bit;
    if (old && old->slides) s->slides[batch] |= bit;
}

/// The next lane; a batch begins with nothing set.
static int64_t next_lane(list_maker* m)
{
    soft_pairs* s = m->s;
    const int64_t batch = m->lane / 8;
    if (m->lane % 8 == 0) {
        s->images[batch] = s->live[batch] = s->bonded[batch] = s->slides[batch] = 0;
    }
    return m->lane++;
}

/// Fill a lane up: two bodies that are not there, and add zeros to a sum of the block.
static void append_nobody(list_maker* m)
{
    soft_pairs* s = m->s;
    const int64_t at = next_lane(m), batch = at / 8;
    const int lane = (int)(at % 8);
    int32_t *who = s->who + 16 * batch + lane, *where = s->where + 16 * batch + lane;
    who[0] = (int32_t)s->body_count * s->row, who[8] = who[0] + s->row;
    where[0] = where[8] = 0;
    s->root_mass[at] = 0.0;
    if (!m->from->laws->uniform) s->law[at] = 0;
    write_memory(s, NULL, batch, lane);
}

/// Append a pair of the present block, which ends before place `end`.
static void append(list_maker* m, int32_t p, int32_t q, int64_t end)
{
    soft_pairs* s = m->s;
    const soft_listing* from = m->from;
    const grains* g = from->g;
    const int64_t a = from->places->row_of[p], b = from->places->row_of[q];
    const int64_t at = next_lane(m), batch = at / 8;
    const int lane = (int)(at % 8);
    int32_t *who = s->who + 16 * batch + lane, *where = s->where + 16 * batch + lane;
    who[0] = p * s->row, where[0] = p % SOFT_BLOCK * SOFT_SUM;
    who[8] = q * s->row, where[8] = q % SOFT_BLOCK * SOFT_SUM;
    if (q >= end) {
        if (m->halo_of[q] < m->block_halo) {
            m->halo_of[q] = (int32_t)s->halo_count;
            s->halo[s->halo_count++] = q;
        }
        where[8] = (int32_t)(SOFT_BLOCK_SUMS * s->block_count + SOFT_SUM * m->halo_of[q]);
    }
    const double *x = g->position + a * s->dim, *y = g->position + b * s->dim;
    if (soft_meets_border(from->periodic, s->dim, from->skin, x, y)) s->images[batch] = 1;
    s->root_mass[at] = 1.0 / sqrt(g->inv_mass[a] + g->inv_mass[b]);
    if (!from->laws->uniform)
        s->law[at] = from->laws->law_of[g->material[a] * from->laws->materials + g->material[b]];
    write_memory(s, find_memory(m, p, q), batch, lane);
}

static void make_blocks(list_maker* m, const placed_pairs* placed)
{
    soft_pairs* s = m->s;
    for (int64_t p = 0; p < s->body_count; p++) m->halo_of[p] = -1;
    for (int64_t b = 0; b < s->block_count; b++) {
        const int64_t first = b * SOFT_BLOCK, next = first + SOFT_BLOCK;
        const int64_t end = next < s->body_count ? next : s->body_count;
        s->block[b] = (soft_block){.first = first,
                                   .end = end,
                                   .batch = m->lane / 8,
                                   .halo = s->halo_count,
                                   .sums = b * SOFT_BLOCK_SUMS};
        m->block_halo = s->halo_count;
        for (int64_t p = first; p < end; p++) {
            for (int64_t i = placed->first[p]; i < placed->first[p + 1]; i++) {
                append(m, (int32_t)p, placed->q[i], end);
            }
        }
        while (m->lane % 8 != 0) append_nobody(m);
        s->block[b].batch_end = m->lane / 8;
        s->block[b].halo_end = s->halo_count;
    }
    s->batch_count = m->lane / 8;
}

/// Sort the halos by the block that they go to.
static void address_halos(soft_pairs* s)
{
    for (int64_t b = 0; b <= s->block_count; b++) s->inbox_first[b] = 0;
    for (int64_t i = 0; i < s->halo_count; i++) s->inbox_first[s->halo[i] / SOFT_BLOCK + 1]++;
    for (int64_t b = 0; b < s->block_count; b++) s->inbox_first[b + 1] += s->inbox_first[b];
    for (int64_t i = 0; i < s->halo_count; i++) {
        s->inbox[s->inbox_first[s->halo[i] / SOFT_BLOCK]++] = (int32_t)i;
    }
    for (int64_t b = s->block_count; b > 0; b--) s->inbox_first[b] = s->inbox_first[b - 1];
    s->inbox_first[0] = 0;
}

/// Note which blocks send halos to which, always to later ones. `seen` is scratch, [blocks].
static void note_targets(soft_pairs* s, int32_t* seen)
{
    int64_t count = 0;
    for (int64_t b = 0; b < s->block_count; b++) s->senders[b] = 0, seen[b] = -1;
    for (int64_t b = 0; b < s->block_count; b++) {
        s->target_first[b] = count;
        for (int64_t i = s->block[b].halo; i < s->block[b].halo_end; i++) {
            const int32_t to = s->halo[i] / SOFT_BLOCK;
            if (seen[to] == b) continue;
            seen[to] = (int32_t)b;
            s->senders[to]++;
            s->target[count++] = to;
        }
    }
    s->target_first[s->block_count] = count;
}

talus_status soft_pairs_make(soft_pairs* s, const soft_listing* from)
{
    placed_pairs placed = {0};
    list_maker m = {.s = s, .from = from};
    s->dim = from->g->dim;
    s->row = soft_row(s->dim, from->moving);
    s->body_count = from->g->count;
    s->pair_count = from->pairs->count;
    s->block_count = (s->body_count + SOFT_BLOCK - 1) / SOFT_BLOCK;
    s->halo_count = s->batch_count = 0;
    s->made++;
    m.halo_of = malloc(sizeof *m.halo_of * (size_t)(s->body_count + 1));
    const bool good = m.halo_of && reserve(s, from) && place_pairs(from, &placed) == TALUS_OK;
    if (good) {
        make_blocks(&m, &placed);
        address_halos(s);
        note_targets(s, m.halo_of); // which has done its work
    }
    free(placed.first);
    free(placed.q);
    free(m.halo_of);
    const int64_t sums = s->block_count * SOFT_BLOCK + s->halo_count;
    return good && arrays_renew(&s->sum_capacity, sums, ROWS(s->sum, SOFT_SUM)) ? TALUS_OK
                                                                                : TALUS_ERR_MEMORY;
}

// ---- sums --------------------------------------------------------------------------------------

/// Halos of a block come from blocks that may be far off: the memory is told so many before.
enum { AHEAD = 12 };

void soft_pairs_collect_block(soft_pairs* s, int64_t b)
{
    const int64_t end = s->inbox_first[b + 1];
    double* const sums = s->sum + s->block[b].sums;
    for (int64_t i = s->inbox_first[b]; i < end; i++) {
        const int64_t ahead = s->inbox[i + AHEAD < end ? i + AHEAD : i];
        __builtin_prefetch(soft_pairs_halo_sum(s, ahead));
        double* to = sums + SOFT_SUM * (int64_t)(s->halo[s->inbox[i]] % SOFT_BLOCK);
        const double* part = soft_pairs_halo_sum(s, s->inbox[i]);
        for (int k = 0; k < SOFT_SUM; k++) to[k] += part[k];
    }
}

void soft_pairs_spread_sums(soft_pairs* s)
{
    for (int64_t b = 0; b < s->block_count; b++) s->block[b].sums = b * SOFT_BLOCK_SUMS;
}

void soft_pairs_collect(soft_pairs* s, int threads)
{
    if (parallel_is_plain(threads, s->body_count)) {
        for (int64_t b = 0; b < s->block_count; b++) soft_pairs_collect_block(s, b);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, s->body_count)) schedule(static)
    for (int64_t b = 0; b < s->block_count; b++) soft_pairs_collect_block(s, b);
}
