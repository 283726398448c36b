/// Islands: the parts of a reduced problem that do not know each other.
///
/// Contacts know each other through bodies that both touch; where W has no block between two sets
/// of contacts, each is a problem of its own. A flow falls apart into hundreds of them, most of one
/// to three contacts, which a direct method solves at once, while over the whole the slowest part
/// would decide how many sweeps all others make. Parts are found by union and find on the pattern
/// of W, and copied one behind the other so that each is a reduced problem in its own right;
/// contacts keep their order.
#include "rigid/reduced/islands.h"

#include <stdlib.h>
#include <string.h>

/// The first contact of the part of c, as far as it is known.
static int32_t root_of(int32_t* root, int32_t c)
{
    while (root[c] != c) c = root[c] = root[root[c]];
    return c;
}

/// root[c] becomes the part of c, counted from 0 in the order of their first contacts; returns how
/// many there are.
static int64_t number_parts(const reduced_problem* p, int32_t* root)
{
    int64_t parts = p->count;
    for (int32_t c = 0; c < p->count; c++) root[c] = c;
    for (int32_t c = 0; c < p->count && parts > 1; c++) {
        int32_t a = root_of(root, c);
        for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
            const int32_t other = root_of(root, p->column[b]);
            if (other == a) continue;
            parts--;
            root[a > other ? a : other] = a < other ? a : other;
            a = a < other ? a : other;
        }
    }
    if (parts == 1) return 1;
    int32_t next = 0;
    for (int32_t c = 0; c < p->count; c++) { // root[c] < c has its number already
        root[c] = root[c] == c ? next++ : root[root[c]];
    }
    return parts;
}

/// Room for the copies, in one piece.
typedef struct builder {
    const reduced_problem* p;
    const int32_t* number; ///< [contacts] part of each
    int32_t* local;        ///< [contacts] its place within the part
    int64_t* first;        ///< [contacts + parts]
    int32_t* column;
    double *block, *q, *mu, *mu_r;
    int32_t* of; ///< bodies, which keep their numbers
    double* J;
} builder;

/// Copy the contacts of a part to where the builder stands, and move on.
static void copy_part(builder* b, const int64_t* contact, int64_t count, reduced_problem* out)
{
    const reduced_problem* p = b->p;
    const int w = p->width;
    *out = (reduced_problem){.width = w,
                             .count = count,
                             .first = b->first,
                             .column = b->column,
                             .block = b->block,
                             .q = b->q,
                             .mu = b->mu,
                             .mu_r = p->mu_r ? b->mu_r : NULL,
                             .bodies = {p->bodies.width, p->bodies.count, b->of, b->J}};
    const int64_t numbers = 2 * w * p->bodies.width;
    int64_t blocks = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t c = contact[i], from = p->first[c], row = p->first[c + 1] - from;
        *b->first++ = blocks;
        blocks += row;
        for (int64_t k = 0; k < row; k++) *b->column++ = b->local[p->column[from + k]];
        memcpy(b->block, p->block + from * w * w, sizeof(double) * (size_t)(row * w * w));
        b->block += row * w * w;
        memcpy(b->q, p->q + c * w, sizeof(double) * (size_t)w);
        b->q += w;
        *b->mu++ = p->mu[c];
        if (p->mu_r) *b->mu_r++ = p->mu_r[c];
        if (numbers == 0) continue;
        memcpy(b->of, p->bodies.of + 2 * c, 2 * sizeof *b->of);
        memcpy(b->J, p->bodies.J + c * numbers, sizeof(double) * (size_t)numbers);
        b->of += 2;
        b->J += numbers;
    }
    *b->first++ = blocks;
}

void islands_find(const reduced_problem* p, islands* parts)
{
    *parts = (islands){0};
    int32_t* number = malloc(sizeof *number * (size_t)(p->count + 1));
    if (!number) return;
    builder b = {.p = p, .number = number};
    parts->count = number_parts(p, number);
    const size_t contacts = (size_t)p->count, count = (size_t)parts->count, w = (size_t)p->width;
    const size_t blocks = (size_t)p->first[contacts];
    const size_t numbers = 2 * w * (size_t)p->bodies.width;
    if (count > 1) { // room for all of them in one piece
        parts->part = malloc(count * sizeof *parts->part +
                             (blocks * w * w + contacts * (w + 2 + numbers)) * sizeof(double) +
                             (2 * contacts + 2 * count + 1) * sizeof(int64_t) +
                             (blocks + 3 * contacts) * sizeof(int32_t));
    }
    if (parts->part) {
        b.block = (double*)(parts->part + count);
        b.q = b.block + blocks * w * w;
        b.mu = b.q + contacts * w;
        b.mu_r = b.mu + contacts;
        b.J = b.mu_r + contacts;
        parts->contact = (int64_t*)(b.J + contacts * numbers);
        b.first = parts->contact + contacts;
        int64_t* start = b.first + contacts + count;
        b.column = (int32_t*)(start + count + 1);
        b.local = b.column + blocks;
        b.of = b.local + contacts;
        // Contacts part by part, each part in its old order; start [parts + 1]: where each begins.
        const int64_t n = p->count;
        memset(start, 0, sizeof *start * (size_t)(parts->count + 1));
        for (int64_t c = 0; c < n; c++) b.local[c] = (int32_t)start[b.number[c] + 1]++;
        for (int64_t i = 0; i < parts->count; i++) start[i + 1] += start[i];
        for (int64_t c = 0; c < n; c++) parts->contact[start[b.number[c]] + b.local[c]] = c;
        for (int64_t i = 0; i < parts->count; i++) {
            copy_part(&b, parts->contact + start[i], start[i + 1] - start[i], &parts->part[i]);
        }
    } else {
        parts->count = 1;
    }
    free(number);
}

void islands_free(islands* parts)
{
    free(parts->part);
    *parts = (islands){0};
}
