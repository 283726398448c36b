/// Bodies ranked along the curve of the boxes (boxes.c), contacts sorted by the
/// lower place of their moving bodies; contacts of mobile walls after them, wall by wall.
///
/// All sorts are stable, so there is one result, however many threads share the work.
#include "rigid/packed/layout.h"

#include "base/counting_sort.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/// The first of `count` items that piece number `piece` of `pieces` has.
static int64_t piece_first(int64_t count, int piece, int pieces)
{
    return count * piece / pieces;
}

// ---- bodies ------------------------------------------------------------------------------------

static ALWAYS_INLINE uint32_t digit_of(uint32_t key, int shift)
{
    return key >> shift & (DIGITS - 1);
}

/// One stable pass of a radix sort of rows by a digit of their place on the curve; start is
/// [threads][DIGITS].
static void sort_digit(const packed_layout* l, int shift, const int32_t* from, int32_t* to,
                       int32_t* start)
{
    const int64_t count = l->p->rows;
    const int pieces = l->threads;
    memset(start, 0, sizeof *start * (size_t)pieces * DIGITS);
#pragma omp parallel for num_threads(pieces) if (pieces > 1) schedule(static, 1)
    for (int t = 0; t < pieces; t++) {
        const int64_t end = piece_first(count, t + 1, pieces);
        for (int64_t i = piece_first(count, t, pieces); i < end; i++) {
            start[t * DIGITS + (int)digit_of(l->key[from[i]], shift)]++;
        }
    }
    int32_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        for (int t = 0; t < pieces; t++) {
            const int32_t here = start[t * DIGITS + d];
            start[t * DIGITS + d] = sum;
            sum += here;
        }
    }
#pragma omp parallel for num_threads(pieces) if (pieces > 1) schedule(static, 1)
    for (int t = 0; t < pieces; t++) {
        const int64_t end = piece_first(count, t + 1, pieces);
        for (int64_t i = piece_first(count, t, pieces); i < end; i++) {
            to[start[t * DIGITS + (int)digit_of(l->key[from[i]], shift)]++] = from[i];
        }
    }
}

/// Places of the rows; `place` is scratch of the sort until the end.
static talus_status rank_rows(packed_layout* l)
{
    const int64_t rows = l->p->rows;
    uint32_t any = 0;
    int32_t* start = malloc(sizeof *start * (size_t)l->threads * DIGITS);
    if (!start) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < rows; i++) {
        any |= l->key[i];
        l->row[i] = (int32_t)i;
    }
    int32_t *from = l->row, *to = l->place;
    for (int shift = 0; shift < 32 && any >> shift != 0; shift += DIGIT_BITS) {
        sort_digit(l, shift, from, to, start);
        int32_t* swap = from;
        from = to, to = swap;
    }
    l->row = from, l->place = to;
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const int32_t row = l->row[i];
        const bool own = l->moves[row] && problem_mobile_wall(l->p, row) < 0;
        l->place[row] = (int32_t)i;
        l->own[row] = own ? (int32_t)i : -1;
    }
    free(start);
    return TALUS_OK;
}

// ---- contacts ----------------------------------------------------------------------------------

/// Mark the rows with so many contacts that these must wait for the tail: crowded is [rows]. A
/// thread counts the ends of its piece of the contacts.
static talus_status find_crowded(const packed_layout* l, uint8_t* crowded)
{
    const int64_t rows = l->p->rows, count = 2 * l->p->count;
    const int pieces = l->threads;
    int32_t* found = calloc((size_t)pieces * (size_t)rows + 1, sizeof *found);
    if (!found) return TALUS_ERR_MEMORY;
#pragma omp parallel num_threads(pieces) if (pieces > 1)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < pieces; t++) {
            int32_t* own = found + t * rows;
            const int64_t end = piece_first(count, t + 1, pieces);
            for (int64_t k = piece_first(count, t, pieces); k < end; k++) own[l->p->pair[k]]++;
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows; i++) {
            int64_t sum = 0;
            for (int t = 0; t < pieces; t++) sum += found[t * rows + i];
            crowded[i] = l->moves[i] && sum >= PACKED_COLOURS;
        }
    }
    free(found);
    return TALUS_OK;
}

/// Keys of contacts: of those of mobile walls they begin where others end, and the last one is that
/// of the tail.
static int32_t first_wall_key(const problem* p)
{
    return (int32_t)p->rows;
}

static int32_t tail_key(const problem* p)
{
    return (int32_t)(p->mobile_count > 0 ? 2 * p->rows : p->rows);
}

/// The lower one of two places of bodies that move by themselves; -1 if neither does.
static ALWAYS_INLINE int32_t lower_place(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a < (uint32_t)b ? (uint32_t)a : (uint32_t)b); // -1 is the highest
}

/// The lower place of a contact's moving bodies.
static int32_t sort_key(const packed_layout* l, const uint8_t* crowded, int64_t c)
{
    const int32_t a = l->p->pair[2 * c], b = l->p->pair[2 * c + 1];
    if (problem_mobile_wall(l->p, a) >= 0) return first_wall_key(l->p) + l->place[b];
    if (crowded[a] || crowded[b]) return tail_key(l->p);
    const int32_t lower = lower_place(l->own[a], l->own[b]);
    return lower >= 0 ? lower : l->place[b];
}

/// Put the contacts of mobile walls wall by wall; within each the order stays. Counts them.
static talus_status sort_walls(packed_layout* l)
{
    const problem* p = l->p;
    const int64_t count = l->outside - l->inside, walls = p->mobile_count;
    for (int64_t k = 0; k < walls; k++) l->wall_contacts[k] = 0;
    if (count == 0) return TALUS_OK;
    int32_t* from = malloc(sizeof *from * (size_t)count);
    int64_t* next = calloc((size_t)walls + 1, sizeof *next);
    const bool good = from && next;
    for (int64_t i = 0; i < count && good; i++) {
        from[i] = l->order[l->inside + i];
        const int64_t wall = problem_mobile_wall(p, p->pair[2 * from[i]]);
        l->wall_contacts[wall]++;
        next[wall + 1]++;
    }
    for (int64_t k = 0; k < walls && good; k++) next[k + 1] += next[k];
    for (int64_t i = 0; i < count && good; i++) {
        const int64_t wall = problem_mobile_wall(p, p->pair[2 * from[i]]);
        l->order[l->inside + next[wall]++] = from[i];
    }
    free(from);
    free(next);
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

/// What the rest of the layout reads of a contact, in the order of the contacts.
static void gather_contact(packed_layout* l, int64_t i)
{
    const int64_t c = l->order[i];
    __builtin_prefetch(l->p->pair + 2 * (int64_t)l->order[packed_ahead(i, l->p->count)]);
    const int32_t a = l->own[l->p->pair[2 * c]], b = l->own[l->p->pair[2 * c + 1]];
    const int32_t first = lower_place(a, b);
    l->ends[2 * i] = a;
    l->ends[2 * i + 1] = b;
    l->box[i] = first < 0 ? 0 : l->key[l->row[first]] >> l->p->dim * BOX_LEVEL;
    l->kind[i] = l->kind_of[c];
}

static talus_status sort_contacts(packed_layout* l)
{
    const int64_t count = l->p->count, rows = l->p->rows, keys = tail_key(l->p) + 1;
    uint8_t* crowded = malloc((size_t)rows);
    int32_t* key = malloc(sizeof *key * (size_t)count);
    int32_t* start = malloc(sizeof *start * (size_t)(keys + 1));
    talus_status status = crowded && key && start ? find_crowded(l, crowded) : TALUS_ERR_MEMORY;
    if (status == TALUS_OK) {
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) schedule(static)
        for (int64_t c = 0; c < count; c++) key[c] = sort_key(l, crowded, c);
        counting_sort(key, count, keys, l->threads, start, l->order);
        l->inside = start[first_wall_key(l->p)];
        l->outside = start[keys - 1];
    }
    free(crowded);
    free(key);
    free(start);
    return status;
}

talus_status packed_order(packed_layout* l)
{
    if (rank_rows(l) || sort_contacts(l) || sort_walls(l)) return TALUS_ERR_MEMORY;
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) schedule(static)
    for (int64_t i = 0; i < l->p->count; i++) gather_contact(l, i);
    return TALUS_OK;
}
