/// Order, blocks and colours of a packed problem; wide.h says what they are for.
///
/// Bodies are ranked along the curve (problem.curve, or their row numbers), contacts sorted by the
/// lower rank of their moving bodies and cut into blocks. Both colourings are greedy in that order
/// with one bit a colour in a mask of each body. All of it depends on the problem alone: a run that
/// was restarted arranges the same contacts in the same way.
#include "solve/wide.h"

#include <stdlib.h>
#include <string.h>

/// Contacts of a block: few enough for a second-level cache, many enough to fill the lanes. Small
/// problems get smaller blocks so that threads find several.
enum { BLOCK_LARGEST = 4096, BLOCK_SMALLEST = 512, BLOCKS_WANTED = 64 };
/// Bits of a colour mask; a body with more contacts than this has them in the tail.
enum { COLOURS = 64 };

/// What the layout is made from, kept to see whether the next problem has the same, and scratch.
typedef struct wide_memory {
    int dim;
    int64_t count, rows;
    int64_t contact_capacity, row_capacity, batch_capacity, block_capacity, packed_capacity;
    int32_t* pair;   ///< [count][2]
    uint32_t* curve; ///< [rows]
    uint8_t* kind;   ///< [count]
    bool* moves;     ///< [rows]
    int32_t* rank;   ///< [rows] place along the curve
    int32_t* sorted; ///< [rows] scratch of the sort
    int32_t* degree; ///< [rows] contacts of each moving body; then its packed row
    uint64_t* mask;  ///< [rows] colours in use
    int32_t* order;  ///< [count] contacts along the curve, those of the tail last
    uint8_t* colour; ///< [count] in `order`
    int64_t* bucket; ///< [rows + 1] of the counting sort
    int64_t* cut;    ///< [blocks + 1] first contact of each block in `order`
    int32_t* turn;   ///< [blocks] blocks in the order of a sweep
    uint8_t* tint;   ///< [blocks] colour, COLOURS: alone
} wide_memory;

void wide_layout_free(wide* w)
{
    wide_memory* m = w->memory;
    if (!m) return;
    void* arrays[] = {m->pair, m->curve, m->kind,   m->moves,  m->rank, m->sorted, m->degree,
                      m->mask, m->order, m->colour, m->bucket, m->cut,  m->turn,   m->tint};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(m);
    w->memory = NULL;
}

/// Make room for `needed` elements; old contents are lost.
static bool regrow(void* array, int64_t needed, size_t size)
{
    void** pointer = array;
    free(*pointer);
    *pointer = aligned_alloc(64, ((size_t)needed * size + 127) / 64 * 64);
    return *pointer != NULL;
}

static bool reserve_contacts(wide_memory* m, int64_t count)
{
    if (count <= m->contact_capacity) return true;
    const int64_t n = count + count / 8 + 64;
    m->contact_capacity = m->count = 0;
    if (!regrow(&m->pair, 2 * n, sizeof *m->pair) || !regrow(&m->kind, n, 1) ||
        !regrow(&m->order, n, sizeof *m->order) || !regrow(&m->colour, n, 1)) {
        return false;
    }
    m->contact_capacity = n;
    return true;
}

static bool reserve_rows(wide_memory* m, int64_t rows)
{
    if (rows <= m->row_capacity) return true;
    const int64_t n = rows + rows / 8 + 64;
    m->row_capacity = m->count = 0;
    if (!regrow(&m->curve, n, sizeof *m->curve) || !regrow(&m->moves, n, sizeof *m->moves) ||
        !regrow(&m->rank, n, sizeof *m->rank) || !regrow(&m->sorted, n, sizeof *m->sorted) ||
        !regrow(&m->degree, n, sizeof *m->degree) || !regrow(&m->mask, n, sizeof *m->mask) ||
        !regrow(&m->bucket, n + 1, sizeof *m->bucket)) {
        return false;
    }
    m->row_capacity = n;
    return true;
}

// ---- does the last layout fit? -----------------------------------------------------------------

static bool is_mobile_wall(const problem* p, int32_t row)
{
    return row >= p->mobile_first && row < p->mobile_first + p->mobile_count;
}

static bool row_moves(const problem* p, int32_t row)
{
    const double* body = p->free + (int64_t)row * problem_stride(p->dim);
    return body[row_im(p->dim)] != 0.0 || body[row_kim(p->dim)] != 0.0 || is_mobile_wall(p, row);
}

/// In the plane rows have one mobility: a body that can turn but not move does not fit.
static bool odd_row(const problem* p, int32_t row)
{
    const double* body = p->free + (int64_t)row * problem_stride(p->dim);
    return p->dim == 2 && body[row_im(2)] == 0.0 && body[row_kim(2)] != 0.0;
}

/// In the plane balls share one ratio of mobilities (wide.c); others have arms of their own.
static bool common_ball(const problem* p, int32_t row, double ratio)
{
    if (p->dim == 3) return true;
    const double* body = p->free + (int64_t)row * problem_stride(2);
    return ratio > 0.0 &&
           fabs(body[row_kim(2)] - ratio * body[row_im(2)]) <= 1e-14 * body[row_kim(2)];
}

/// Does a rich contact turn bodies by torques of its own?
static bool has_torque(const problem* p, int32_t rich)
{
    const rich_contact* r = &p->rich_rows[rich];
    return p->rich_turns[rich].used || r->rolling.coefficient != 0.0 ||
           r->torsion.coefficient != 0.0 || r->torque[0] != 0.0 || r->torque[1] != 0.0 ||
           r->torque[2] != 0.0;
}

/// Can lanes take the powers in the bounds of its torques (law/rolling.c)?
static bool rolls_simply(const problem* p, int32_t rich)
{
    const rich_contact* r = &p->rich_rows[rich];
    const double hertz = p->dim == 2 ? 0.5 : 1.0 / 3.0;
    return !p->rich_turns[rich].used && r->response > 0.0 &&
           (r->rolling.exponent == 0.0 || r->rolling.exponent == hertz) &&
           (r->torsion.exponent == 0.0 || r->torsion.exponent == hertz);
}

/// Is the full block of a ball at a mobile wall the diagonal one of its row, to rounding? It is
/// where the normal is an axis along which the wall moves and the others move alike.
static bool diagonal_block(const problem* p, int64_t c)
{
    const int dim = p->dim;
    const double *n = p->contact + c * problem_width(dim), *S = problem_block(p, dim, c);
    const double *arm = S + block_arm_b(dim), rounding = 1e-14;
    const double wn = 1.0 / n[contact_mn(dim)], wt = 1.0 / n[contact_mt(dim)];
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            const double diagonal = (wn - wt) * n[i] * n[j] + (i == j ? wt : 0.0);
            if (!(fabs(S[i * dim + j] - diagonal) <= rounding * (wn + wt))) return false;
        }
    }
    if (dim == 2) return fabs(arm[0] - n[1]) <= rounding && fabs(arm[1] + n[0]) <= rounding;
    const double ball[9] = {0.0, -n[2], n[1], n[2], 0.0, -n[0], -n[1], n[0], 0.0};
    for (int k = 0; k < 9; k++) {
        if (!(fabs(arm[k] - ball[k]) <= rounding)) return false;
    }
    return true;
}

/// A contact of a mobile wall a.
static uint8_t wall_kind(const problem* p, int64_t c, double ratio)
{
    const int dim = p->dim;
    const int32_t rich = problem_rich_of(p, c), b = p->pair[2 * c + 1];
    const double* wall = p->free + (int64_t)p->pair[2 * c] * problem_stride(dim);
    for (int k = dim; k < problem_stride(dim); k++) {
        if (wall[k] != 0.0) return WIDE_SCALAR; // a wall's row has a velocity, nothing else
    }
    if (odd_row(p, b) || !common_ball(p, b, ratio) || (rich >= 0 && has_torque(p, rich))) {
        return WIDE_SCALAR;
    }
    return problem_block_of(p, c) >= 0 && diagonal_block(p, c) ? WIDE_LID : WIDE_SCALAR;
}

static uint8_t contact_kind(const problem* p, int64_t c, double ratio)
{
    const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1], rich = problem_rich_of(p, c);
    if (is_mobile_wall(p, a)) return wall_kind(p, c, ratio);
    if (odd_row(p, a) || odd_row(p, b)) return WIDE_SCALAR;
    if (problem_block_of(p, c) >= 0) return rich < 0 ? WIDE_BLOCK : WIDE_SCALAR;
    if (!common_ball(p, a, ratio) || !common_ball(p, b, ratio)) return WIDE_SCALAR;
    if (rich < 0) return WIDE_BALL;
    if (!has_torque(p, rich)) return WIDE_BOND;
    return rolls_simply(p, rich) ? WIDE_ROLL : WIDE_SCALAR;
}

/// The ratio kim/im that balls have in common in the plane: that of the first one.
static double spin_ratio(const problem* p)
{
    for (int64_t c = 0; c < p->count && p->dim == 2; c++) {
        const double* body = p->free + (int64_t)p->pair[2 * c + 1] * problem_stride(2);
        if (problem_block_of(p, c) >= 0 || !(body[row_im(2)] > 0.0)) continue;
        return body[row_kim(2)] / body[row_im(2)];
    }
    return 0.0;
}

/// Note what the layout depends on; true if it is what it was.
static bool note_problem(wide* w, const problem* p)
{
    wide_memory* m = w->memory;
    bool same = m->dim == p->dim && m->count == p->count && m->rows == p->rows && p->count > 0;
    const double ratio = spin_ratio(p);
    w->spin_arm = sqrt(ratio);
    m->dim = p->dim;
    m->count = p->count;
    m->rows = p->rows;
    for (int64_t i = 0; i < p->rows; i++) {
        const bool moves = row_moves(p, (int32_t)i);
        const uint32_t curve = p->curve ? p->curve[i] : 0;
        same = same && m->moves[i] == moves && m->curve[i] == curve;
        m->moves[i] = moves;
        m->curve[i] = curve;
    }
    for (int64_t c = 0; c < p->count; c++) {
        const uint8_t kind = contact_kind(p, c, ratio);
        same = same && m->pair[2 * c] == p->pair[2 * c] &&
               m->pair[2 * c + 1] == p->pair[2 * c + 1] && m->kind[c] == kind;
        m->pair[2 * c] = p->pair[2 * c];
        m->pair[2 * c + 1] = p->pair[2 * c + 1];
        m->kind[c] = kind;
    }
    return same;
}

// ---- order -------------------------------------------------------------------------------------

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/// One stable pass of a radix sort of rows by a digit of their place on the curve.
static void sort_digit(const uint32_t* curve, int shift, int64_t count, const int32_t* from,
                       int32_t* to)
{
    int64_t start[DIGITS + 1] = {0};
    for (int64_t i = 0; i < count; i++) start[(curve[from[i]] >> shift & (DIGITS - 1)) + 1]++;
    for (int d = 0; d < DIGITS; d++) start[d + 1] += start[d];
    for (int64_t i = 0; i < count; i++) {
        to[start[curve[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
    }
}

static void rank_rows(wide_memory* m)
{
    uint32_t any = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        any |= m->curve[i];
        m->sorted[i] = (int32_t)i;
    }
    int32_t *from = m->sorted, *to = m->degree;
    for (int shift = 0; shift < 32 && any >> shift != 0; shift += DIGIT_BITS) {
        sort_digit(m->curve, shift, m->rows, from, to);
        int32_t* swap = from;
        from = to, to = swap;
    }
    for (int64_t i = 0; i < m->rows; i++) m->rank[from[i]] = (int32_t)i;
}

static void count_degrees(wide_memory* m)
{
    memset(m->degree, 0, sizeof *m->degree * (size_t)m->rows);
    for (int64_t k = 0; k < 2 * m->count; k++) m->degree[m->pair[k]]++;
}

/// Must a contact wait for the tail? Its body is pushed about by too many.
static bool in_tail(const wide_memory* m, const problem* p, int64_t c)
{
    const int32_t a = m->pair[2 * c], b = m->pair[2 * c + 1];
    return is_mobile_wall(p, a) || (m->moves[a] && m->degree[a] >= COLOURS) ||
           (m->moves[b] && m->degree[b] >= COLOURS);
}

/// The lower rank of a contact's moving bodies; contacts of the tail come after all others.
static int64_t sort_key(const wide_memory* m, const problem* p, int64_t c)
{
    const int32_t a = m->pair[2 * c], b = m->pair[2 * c + 1];
    if (in_tail(m, p, c)) return m->rows;
    if (!m->moves[a]) return m->rank[b];
    if (!m->moves[b]) return m->rank[a];
    return m->rank[a] < m->rank[b] ? m->rank[a] : m->rank[b];
}

/// Sort contacts by their key; returns how many are not in the tail.
static int64_t sort_contacts(wide_memory* m, const problem* p)
{
    memset(m->bucket, 0, sizeof *m->bucket * (size_t)(m->rows + 1));
    for (int64_t c = 0; c < m->count; c++) m->bucket[sort_key(m, p, c)]++;
    int64_t sum = 0;
    for (int64_t i = 0; i <= m->rows; i++) {
        const int64_t here = m->bucket[i];
        m->bucket[i] = sum;
        sum += here;
    }
    const int64_t inside = m->bucket[m->rows];
    for (int64_t c = 0; c < m->count; c++) m->order[m->bucket[sort_key(m, p, c)]++] = (int32_t)c;
    return inside;
}

// ---- colours -----------------------------------------------------------------------------------

static uint64_t used_colours(const wide_memory* m, int64_t c)
{
    const int32_t a = m->pair[2 * c], b = m->pair[2 * c + 1];
    return (m->moves[a] ? m->mask[a] : 0) | (m->moves[b] ? m->mask[b] : 0);
}

static void use_colour(wide_memory* m, int64_t c, uint64_t bit)
{
    const int32_t a = m->pair[2 * c], b = m->pair[2 * c + 1];
    if (m->moves[a]) m->mask[a] |= bit;
    if (m->moves[b]) m->mask[b] |= bit;
}

static void clear_colours(wide_memory* m, int64_t c)
{
    m->mask[m->pair[2 * c]] = m->mask[m->pair[2 * c + 1]] = 0;
}

/// Cut the contacts before the tail into blocks and colour them; returns the number of blocks.
static int64_t colour_blocks(wide_memory* m, int64_t inside)
{
    int64_t size = inside / BLOCKS_WANTED;
    size = size < BLOCK_SMALLEST ? BLOCK_SMALLEST : size > BLOCK_LARGEST ? BLOCK_LARGEST : size;
    const int64_t count = (inside + size - 1) / size;
    memset(m->mask, 0, sizeof *m->mask * (size_t)m->rows);
    for (int64_t k = 0; k < count; k++) {
        const int64_t first = k * size, last = first + size < inside ? first + size : inside;
        uint64_t used = 0;
        m->cut[k] = first;
        for (int64_t i = first; i < last; i++) used |= used_colours(m, m->order[i]);
        m->tint[k] = used == UINT64_MAX ? COLOURS : (uint8_t)__builtin_ctzll(~used);
        if (m->tint[k] == COLOURS) continue;
        for (int64_t i = first; i < last; i++) {
            use_colour(m, m->order[i], UINT64_C(1) << m->tint[k]);
        }
    }
    m->cut[count] = inside;
    return count;
}

/// Put the blocks in the order of a sweep, colour after colour; a block that found no colour comes
/// by itself at the end. Returns the number of colours.
static int64_t order_blocks(wide* w, int64_t count)
{
    wide_memory* m = w->memory;
    int64_t placed = 0, colours = 0;
    for (int tint = 0; tint < COLOURS; tint++) {
        const int64_t before = placed;
        for (int64_t k = 0; k < count; k++) {
            if (m->tint[k] == tint) m->turn[placed++] = (int32_t)k;
        }
        if (placed > before) w->colour_first[colours++] = before;
    }
    for (int64_t k = 0; k < count; k++) {
        if (m->tint[k] != COLOURS) continue;
        w->colour_first[colours++] = placed;
        m->turn[placed++] = (int32_t)k;
    }
    w->colour_first[colours] = count;
    return colours;
}

/// Colour the contacts of a block. Two bodies with many contacts may leave no colour to the one
/// between them: it gets COLOURS.
static void colour_contacts(wide_memory* m, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++) clear_colours(m, m->order[i]);
    for (int64_t i = first; i < last; i++) {
        const uint64_t used = used_colours(m, m->order[i]);
        m->colour[i] = used == UINT64_MAX ? COLOURS : (uint8_t)__builtin_ctzll(~used);
        if (m->colour[i] < COLOURS) {
            use_colour(m, m->order[i], UINT64_C(1) << m->colour[i]);
        }
    }
}

// ---- batches -----------------------------------------------------------------------------------

/// Contacts of a block by colour and kind. Those without a colour come one by one.
typedef struct class_counts {
    int32_t of[COLOURS][WIDE_KINDS];
    int64_t single;
} class_counts;

static void count_classes(const wide_memory* m, int64_t first, int64_t last, class_counts* out)
{
    memset(out, 0, sizeof *out);
    for (int64_t i = first; i < last; i++) {
        if (m->colour[i] == COLOURS) {
            out->single++;
        } else {
            out->of[m->colour[i]][m->kind[m->order[i]]]++;
        }
    }
}

static int64_t batches_of(int64_t contacts)
{
    return (contacts + WIDE_LANES - 1) / WIDE_LANES;
}

static int64_t count_batches(const class_counts* c)
{
    int64_t sum = c->single;
    for (int k = 0; k < COLOURS; k++) {
        for (int kind = 0; kind < WIDE_KINDS; kind++) sum += batches_of(c->of[k][kind]);
    }
    return sum;
}

/// Batches of a colour and kind begin here in the list; set by start_classes().
typedef struct class_places {
    int64_t next[COLOURS][WIDE_KINDS]; ///< lane, counted from the first of all batches
    int64_t single;                    ///< batch
} class_places;

static void open_batch(wide* w, int64_t batch, int kind, int64_t slots[WIDE_KINDS])
{
    w->batches[batch] = (wide_batch){kind, (int32_t)slots[kind]++};
    for (int lane = 0; lane < WIDE_LANES; lane++) w->source[batch * WIDE_LANES + lane] = -1;
}

static void start_classes(wide* w, const class_counts* c, int64_t batch, int64_t slots[WIDE_KINDS],
                          class_places* out)
{
    for (int colour = 0; colour < COLOURS; colour++) {
        for (int kind = 0; kind < WIDE_KINDS; kind++) {
            out->next[colour][kind] = batch * WIDE_LANES;
            for (int64_t k = batches_of(c->of[colour][kind]); k > 0; k--) {
                open_batch(w, batch++, kind, slots);
            }
        }
    }
    out->single = batch;
}

/// Put the contacts [first, last) of the order into batches from `batch` on; returns the next one.
static int64_t fill_batches(wide* w, int64_t first, int64_t last, int64_t batch,
                            int64_t slots[WIDE_KINDS])
{
    wide_memory* m = w->memory;
    class_counts counts;
    class_places places;
    count_classes(m, first, last, &counts);
    start_classes(w, &counts, batch, slots, &places);
    for (int64_t i = first; i < last; i++) {
        const int32_t c = m->order[i];
        if (m->colour[i] == COLOURS) {
            open_batch(w, places.single, m->kind[c], slots);
            w->source[places.single++ * WIDE_LANES] = c;
        } else {
            w->source[places.next[m->colour[i]][m->kind[c]]++] = c;
        }
    }
    return batch + count_batches(&counts);
}

/// Packed row of a body for a contact: its own if it moves, else a private copy.
static int32_t packed_row(wide* w, int32_t body)
{
    wide_memory* m = w->memory;
    if (m->moves[body] && m->degree[body] >= 0) return m->degree[body];
    const int32_t row = (int32_t)w->row_count++;
    if (m->moves[body]) m->degree[body] = row;
    w->body_of[row] = body;
    w->private_row[row] = !m->moves[body];
    return row;
}

/// Number the rows of a block's bodies; idle lanes have the row that belongs to nobody.
static void number_rows(wide* w, wide_block* block)
{
    const wide_memory* m = w->memory;
    block->row_first = w->row_count;
    const int32_t nobody = (int32_t)w->row_count++;
    w->body_of[nobody] = -1;
    w->private_row[nobody] = 1;
    for (int64_t k = block->first; k < block->last; k++) {
        for (int lane = 0; lane < WIDE_LANES; lane++) {
            const int32_t c = w->source[k * WIDE_LANES + lane];
            int32_t* who = w->who + 2 * k * WIDE_LANES + lane;
            who[0] = c < 0 ? nobody : packed_row(w, m->pair[2 * c]);
            who[WIDE_LANES] = c < 0 ? nobody : packed_row(w, m->pair[2 * c + 1]);
        }
    }
    block->row_last = w->row_count;
}

static bool reserve_batches(wide* w, int64_t batches)
{
    wide_memory* m = w->memory;
    if (batches <= m->batch_capacity) return true;
    const int64_t n = batches + batches / 8 + 8;
    m->batch_capacity = 0;
    if (!regrow(&w->batches, n, sizeof *w->batches) ||
        !regrow(&w->who, 2 * WIDE_LANES * n, sizeof *w->who) ||
        !regrow(&w->source, WIDE_LANES * n, sizeof *w->source)) {
        return false;
    }
    m->batch_capacity = n;
    return true;
}

static bool reserve_blocks(wide* w, int64_t blocks)
{
    wide_memory* m = w->memory;
    if (blocks <= m->block_capacity) return true;
    const int64_t n = blocks + blocks / 8 + 8;
    m->block_capacity = 0;
    if (!regrow(&w->blocks, n, sizeof *w->blocks) || !regrow(&w->sums, n, sizeof *w->sums) ||
        !regrow(&w->colour_first, n + 1, sizeof *w->colour_first) ||
        !regrow(&m->cut, n + 1, sizeof *m->cut) || !regrow(&m->turn, n, sizeof *m->turn) ||
        !regrow(&m->tint, n, 1)) {
        return false;
    }
    m->block_capacity = n;
    return true;
}

/// Bodies that need a packed row: moving ones once, others for each contact, nobody for each block.
static int64_t count_rows(const wide_memory* m, int64_t blocks)
{
    int64_t rows = blocks + 1;
    for (int64_t i = 0; i < m->rows; i++) rows += m->moves[i] && m->degree[i] > 0;
    for (int64_t k = 0; k < 2 * m->count; k++) rows += !m->moves[m->pair[k]];
    return rows;
}

static bool reserve_packed(wide* w, int64_t rows)
{
    wide_memory* m = w->memory;
    if (rows <= m->packed_capacity) return true;
    const int64_t n = rows + rows / 8 + 8;
    m->packed_capacity = 0;
    if (!regrow(&w->body_of, n, sizeof *w->body_of) || !regrow(&w->private_row, n, 1)) return false;
    m->packed_capacity = n;
    return true;
}

/// Colour all contacts; returns the number of batches. Those of the tail are done one by one anyway
/// and have one colour.
static int64_t colour_all(wide_memory* m, int64_t inside, int64_t blocks)
{
    class_counts counts;
    int64_t batches = 0;
    for (int64_t k = 0; k < blocks; k++) {
        colour_contacts(m, m->cut[k], m->cut[k + 1]);
        count_classes(m, m->cut[k], m->cut[k + 1], &counts);
        batches += count_batches(&counts);
    }
    memset(m->colour + inside, 0, (size_t)(m->count - inside));
    count_classes(m, inside, m->count, &counts);
    return batches + count_batches(&counts);
}

static talus_status arrange(wide* w, const problem* p)
{
    wide_memory* m = w->memory;
    rank_rows(m);
    count_degrees(m);
    const int64_t inside = sort_contacts(m, p);
    if (!reserve_blocks(w, inside / BLOCK_SMALLEST + 2)) return TALUS_ERR_MEMORY;
    const int64_t blocks = colour_blocks(m, inside);
    w->colour_count = order_blocks(w, blocks);
    w->block_count = blocks;
    if (!reserve_batches(w, colour_all(m, inside, blocks)) ||
        !reserve_packed(w, count_rows(m, blocks))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t i = 0; i < m->rows; i++) m->degree[i] = -1;
    int64_t slots[WIDE_KINDS] = {0}, batch = 0;
    w->row_count = 0;
    for (int64_t k = 0; k <= blocks; k++) {
        const int64_t first = k < blocks ? m->cut[m->turn[k]] : inside;
        const int64_t last = k < blocks ? m->cut[m->turn[k] + 1] : m->count;
        w->blocks[k].first = batch;
        batch = w->blocks[k].last = fill_batches(w, first, last, batch, slots);
        number_rows(w, &w->blocks[k]);
    }
    w->batch_count = batch;
    for (int kind = 0; kind < WIDE_KINDS; kind++) w->slots[kind] = slots[kind];
    return TALUS_OK;
}

talus_status wide_arrange(wide* w, const problem* p)
{
    if (!w->memory) w->memory = calloc(1, sizeof *w->memory);
    wide_memory* m = w->memory;
    if (!m || !reserve_contacts(m, p->count) || !reserve_rows(m, p->rows)) return TALUS_ERR_MEMORY;
    w->dim = p->dim;
    w->count = p->count;
    if (note_problem(w, p)) return TALUS_OK;
    talus_status status = arrange(w, p);
    if (status) m->count = 0; // what is there fits no problem
    return status;
}
