/// Order, blocks and colours of a packed problem; packed.h says what they are for.
///
/// Blocks are boxes in space of one size (boxes.c). Where bodies are no larger than half a box only
/// boxes that touch can share one, so the parity of its coordinates is a colour for each: eight in
/// space, four in the plane. The rest, and contacts in a block, are coloured greedily, with one bit
/// a colour in a mask of each body. All of it depends on the problem alone: a run that was
/// restarted arranges the same contacts in the same way. Blocks of one colour share no moving body,
/// so threads take them side by side here, too, and whatever numbers they need of each other are
/// counted first: the layout is that of one thread.
#include "rigid/packed/layout.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Contacts that a block has at most. Those of mobile walls lie in a plane and are few, so their
/// blocks are small: a card has a multiprocessor for each.
enum { BLOCK_LARGEST = 2 * BOX_CONTACTS, WALL_BLOCK = 192 };

/// What the layout is made from besides what is in it, kept to see whether the next problem has the
/// same.
typedef struct layout_notes {
    int dim;
    int64_t count, rows, mobile;
    int64_t row_capacity, contact_capacity, batch_capacity, block_capacity, packed_capacity;
    uint32_t* curve; ///< [rows]
    bool* moves;     ///< [rows]
    uint8_t* traits; ///< [rows] packed_traits_of()
    uint8_t* kind;   ///< [count] packed_kind
} layout_notes;

void packed_layout_free(packed_problem* packed)
{
    layout_notes* m = packed->notes;
    if (!m) return;
    free(m->curve);
    free(m->moves);
    free(m->traits);
    free(m->kind);
    free(m);
    packed->notes = NULL;
}

// ---- does the last layout fit? -----------------------------------------------------------------

/// Is a batch of the layout still made of contacts between its bodies?
static bool same_batch(const packed_problem* packed, const problem* p, int64_t batch)
{
    const int64_t lanes = packed->batch_count * PACKED_LANES;
    const int64_t next = packed_ahead(batch * PACKED_LANES, lanes);
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int32_t c = packed->source[batch * PACKED_LANES + lane];
        const int32_t later = packed->source[next + lane];
        const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
        if (later >= 0) __builtin_prefetch(p->pair + 2 * (int64_t)later);
        if (c < 0) continue;
        if (packed->body_of[who[0]] != p->pair[2 * c] ||
            packed->body_of[who[PACKED_LANES]] != p->pair[2 * c + 1]) {
            return false;
        }
    }
    return true;
}

/// Note what the layout depends on; true if it is what it was.
static bool note_problem(packed_problem* packed, const problem* p, double ratio, int threads)
{
    layout_notes* m = packed->notes;
    const bool alike = m->dim == p->dim && m->count == p->count && m->rows == p->rows &&
                       m->mobile == p->mobile_count;
    m->dim = p->dim;
    m->count = p->count;
    m->rows = p->rows;
    m->mobile = p->mobile_count;
    int64_t different = 0;
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(+ : different)
    for (int64_t i = 0; i < p->rows; i++) {
        const bool moves = problem_row_moves(p, i);
        const uint32_t curve = p->curve ? p->curve[i] : 0;
        different += m->moves[i] != moves || m->curve[i] != curve;
        m->moves[i] = moves;
        m->curve[i] = curve;
        m->traits[i] = packed_traits_of(p, (int32_t)i, ratio);
    }
    different += packed_note_kinds(p, m->traits, m->kind, threads);
    if (different > 0 || !alike) return false;
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(+ : different)
    for (int64_t k = 0; k < packed->batch_count; k++) different += !same_batch(packed, p, k);
    return different == 0;
}

// ---- colours of blocks -------------------------------------------------------------------------

static uint64_t used_colours(const packed_layout* l, int64_t i)
{
    const int32_t a = l->ends[2 * i], b = l->ends[2 * i + 1];
    return (a >= 0 ? l->mask[a] : 0) | (b >= 0 ? l->mask[b] : 0);
}

static void use_colour(packed_layout* l, int64_t i, uint64_t bit)
{
    const int32_t a = l->ends[2 * i], b = l->ends[2 * i + 1];
    if (a >= 0) l->mask[a] |= bit;
    if (b >= 0) l->mask[b] |= bit;
}

static uint8_t first_unused(uint64_t used)
{
    return used == UINT64_MAX ? PACKED_COLOURS : (uint8_t)__builtin_ctzll(~used);
}

static void add_block(packed_layout* l, int64_t first, int32_t wall, uint8_t tint)
{
    if (l->cut) { // else they are only counted
        l->cut[l->blocks] = first;
        l->wall[l->blocks] = wall;
        l->tint[l->blocks] = tint;
    }
    l->blocks++;
}

/// Blocks of the contacts [first, last) in `order`, as many as are needed. One alone would like to
/// have the colour `tint`.
static void cut_range(packed_layout* l, int64_t first, int64_t last, int32_t wall, uint8_t tint)
{
    const int64_t count = last - first, largest = wall < 0 ? BLOCK_LARGEST : WALL_BLOCK;
    const int64_t pieces = (count + largest - 1) / largest;
    for (int64_t k = 0; k < pieces; k++) {
        add_block(l, first + count * k / pieces, wall, pieces == 1 ? tint : PACKED_COLOURS);
    }
}

/// The contact that follows those of the box of contact `first`.
static int64_t end_of_box(const packed_layout* l, int64_t first)
{
    int64_t low = first + 1, high = l->inside;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (l->box[middle] > l->box[first]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/// Is the coordinate of a box odd, along each axis? Boxes that touch differ in that.
static uint8_t parity(const packed_layout* l, uint32_t box)
{
    return (uint8_t)(box & ((1u << l->p->dim) - 1));
}

static void cut_all(packed_layout* l)
{
    l->blocks = 0;
    for (int64_t first = 0, last; first < l->inside; first = last) {
        last = end_of_box(l, first);
        cut_range(l, first, last, -1, parity(l, l->box[first]));
    }
    l->inner = l->blocks;
    int64_t first = l->inside;
    for (int32_t wall = 0; wall < l->p->mobile_count; wall++) {
        cut_range(l, first, first + l->wall_contacts[wall], wall, PACKED_COLOURS);
        first += l->wall_contacts[wall];
    }
    if (l->cut) l->cut[l->blocks] = l->outside;
}

/// Colour the blocks; those of mobile walls, which come later, have colours of their own. A box has
/// the colour of its parity if no box nearby of the same parity touches its bodies, as large ones
/// do; that, and pieces of boxes, get colours that no parity has.
static void colour_blocks(packed_layout* l)
{
    const uint64_t parities = (UINT64_C(1) << (1 << l->p->dim)) - 1;
    for (int64_t k = 0; k < l->blocks; k++) {
        const int64_t first = l->cut[k], last = l->cut[k + 1];
        uint64_t used = 0;
        if (k == 0 || k == l->inner) memset(l->mask, 0, sizeof *l->mask * (size_t)l->p->rows);
        for (int64_t i = first; i < last; i++) used |= used_colours(l, i);
        const uint8_t wanted = l->tint[k];
        const bool has_it = wanted < PACKED_COLOURS && !(used >> wanted & 1);
        l->tint[k] = has_it ? wanted : first_unused(k < l->inner ? used | parities : used);
        if (l->tint[k] == PACKED_COLOURS) continue;
        for (int64_t i = first; i < last; i++) use_colour(l, i, UINT64_C(1) << l->tint[k]);
    }
}

/// Put the blocks [first, last) in the order of a sweep, colour after colour; a block that found no
/// colour comes by itself at the end.
static void order_blocks(packed_layout* l, int64_t first, int64_t last)
{
    int64_t placed = first;
    for (int tint = 0; tint < PACKED_COLOURS; tint++) {
        const int64_t before = placed;
        for (int64_t k = first; k < last; k++) {
            if (l->tint[k] == tint) l->turn[placed++] = (int32_t)k;
        }
        if (placed > before) l->wave[l->waves++] = before;
    }
    for (int64_t k = first; k < last; k++) {
        if (l->tint[k] != PACKED_COLOURS) continue;
        l->wave[l->waves++] = placed;
        l->turn[placed++] = (int32_t)k;
    }
    l->wave[l->waves] = last;
}

/// Contacts of block number `turn` of a sweep in the order of contacts; the tail is the last.
static void contacts_of(const packed_layout* l, int64_t turn, int64_t* first, int64_t* last)
{
    *first = turn < l->blocks ? l->cut[l->turn[turn]] : l->outside;
    *last = turn < l->blocks ? l->cut[l->turn[turn] + 1] : l->p->count;
}

// ---- colours of contacts -----------------------------------------------------------------------

/// Contacts of a block by colour and kind. Those without a colour come one by one.
typedef struct class_counts {
    int colours; ///< in use
    int32_t of[PACKED_COLOURS][PACKED_KINDS];
    int32_t single[PACKED_KINDS];
} class_counts;

static void count_classes(const packed_layout* l, int64_t first, int64_t last, class_counts* out)
{
    memset(out, 0, sizeof *out);
    for (int64_t i = first; i < last; i++) {
        if (l->colour[i] == PACKED_COLOURS) {
            out->single[l->kind[i]]++;
        } else {
            out->of[l->colour[i]][l->kind[i]]++;
            if (l->colour[i] >= out->colours) out->colours = l->colour[i] + 1;
        }
    }
}

static int32_t batches_of(int32_t contacts)
{
    return (contacts + PACKED_LANES - 1) / PACKED_LANES;
}

static void size_of_block(const packed_layout* l, int64_t first, int64_t last,
                          packed_block_size* out)
{
    class_counts counts;
    count_classes(l, first, last, &counts);
    for (int kind = 0; kind < PACKED_KINDS; kind++) {
        out->batches[kind] = counts.single[kind];
        for (int k = 0; k < counts.colours; k++)
            out->batches[kind] += batches_of(counts.of[k][kind]);
    }
}

/// Colour all contacts and count the batches of each block. Contacts of the tail are done one by
/// one anyway and have one colour.
static void colour_all(packed_layout* l)
{
    int64_t first, last;
#pragma omp parallel num_threads(l->threads) if (l->threads > 1) private(first, last)
    for (int64_t wave = 0; wave < l->waves; wave++) {
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = l->wave[wave]; k < l->wave[wave + 1]; k++) {
            contacts_of(l, k, &first, &last);
            for (int64_t i = 2 * first; i < 2 * last; i++) {
                if (l->ends[i] >= 0) l->mask[l->ends[i]] = 0;
            }
            // Two bodies with many contacts may leave no colour to the one between them: it gets
            // PACKED_COLOURS.
            for (int64_t i = first; i < last; i++) {
                l->colour[i] = first_unused(used_colours(l, i));
                if (l->colour[i] < PACKED_COLOURS) use_colour(l, i, UINT64_C(1) << l->colour[i]);
            }
            size_of_block(l, first, last, &l->size[k]);
        }
    }
    contacts_of(l, l->blocks, &first, &last);
    memset(l->colour + first, 0, (size_t)(last - first));
    size_of_block(l, first, last, &l->size[l->blocks]);
}

// ---- batches -----------------------------------------------------------------------------------

/// Where the batches of a block begin: in the list, and among those of each kind.
typedef struct batch_start {
    int64_t batch;
    int32_t slots[PACKED_KINDS];
} batch_start;

/// Lanes, counted from the first of all batches, that the next contact of a colour and kind gets.
typedef struct class_places {
    int64_t next[PACKED_COLOURS][PACKED_KINDS];
    int64_t single; ///< batch
} class_places;

static void open_batch(packed_problem* packed, int64_t batch, int kind, int64_t group,
                       batch_start* at)
{
    packed->batches[batch] = (packed_batch){kind, at->slots[kind]++, (int32_t)group};
    for (int lane = 0; lane < PACKED_LANES; lane++)
        packed->source[batch * PACKED_LANES + lane] = -1;
}

/// Put the contacts of a block into its batches, as numbers of `order` for the time being.
static void fill_batches(const packed_layout* l, packed_problem* packed, int64_t turn,
                         batch_start at)
{
    class_counts counts;
    class_places places;
    int64_t first, last;
    contacts_of(l, turn, &first, &last);
    count_classes(l, first, last, &counts);
    packed->blocks[turn].first = at.batch;
    packed->blocks[turn].wall = turn < l->blocks ? l->wall[l->turn[turn]] : -1;
    for (int colour = 0; colour < counts.colours; colour++) {
        for (int kind = 0; kind < PACKED_KINDS; kind++) {
            const int64_t group = at.batch;
            places.next[colour][kind] = group * PACKED_LANES;
            for (int32_t k = batches_of(counts.of[colour][kind]); k > 0; k--) {
                open_batch(packed, at.batch++, kind, group, &at);
            }
        }
    }
    places.single = at.batch;

    for (int64_t i = first; i < last; i++) {
        if (l->colour[i] == PACKED_COLOURS) {
            open_batch(packed, places.single, l->kind[i], places.single, &at);
            packed->source[places.single++ * PACKED_LANES] = (int32_t)i;
        } else {
            packed->source[places.next[l->colour[i]][l->kind[i]]++] = (int32_t)i;
        }
    }
    packed->blocks[turn].last = places.single;
}

static talus_status fill_all(const packed_layout* l, packed_problem* packed)
{
    batch_start* start = malloc(sizeof *start * (size_t)(l->blocks + 1));
    if (!start) return TALUS_ERR_MEMORY;
    // Number the batches of all blocks.
    batch_start next = {0};
    for (int64_t k = 0; k <= l->blocks; k++) {
        start[k] = next;
        for (int kind = 0; kind < PACKED_KINDS; kind++) {
            next.batch += l->size[k].batches[kind];
            next.slots[kind] += l->size[k].batches[kind];
        }
    }
    packed->batch_count = next.batch;
    for (int kind = 0; kind < PACKED_KINDS; kind++) packed->slots[kind] = next.slots[kind];

    const bool good =
        arrays_renew(&packed->notes->batch_capacity, packed->batch_count, ARRAY(packed->batches),
                     ROWS(packed->who, 2 * PACKED_LANES), ROWS(packed->source, PACKED_LANES),
                     ROWS(packed->arranged, 3 * PACKED_LANES), ARRAY(packed->open),
                     ROWS(packed->held, PACKED_LANES));
    if (good) {
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) schedule(dynamic, 1)
        for (int64_t k = 0; k <= l->blocks; k++) fill_batches(l, packed, k, start[k]);
    }
    free(start);
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

// ---- rows of bodies ----------------------------------------------------------------------------

/// A block waits for one that comes before it in a sweep and touches the same body.
static void wait_for(wait_list* waits, int32_t other)
{
    for (int64_t k = 0; k < waits->count; k++) {
        if (waits->of[k] == other) return;
    }
    if (arrays_grow(&waits->capacity, waits->count + 1, ARRAY(waits->of))) {
        waits->of[waits->count++] = other;
    } else {
        waits->cut = true;
    }
}

/// Put the lists of all blocks one behind the other.
static talus_status gather_waits(const packed_layout* l, packed_problem* packed)
{
    int64_t sum = 0;
    bool good = true;
    for (int64_t k = 0; k < l->blocks; k++) {
        sum += l->waits[k].count;
        good = good && !l->waits[k].cut;
    }
    if (!good || !arrays_renew(&packed->wait_capacity, sum, ARRAY(packed->waits))) {
        return TALUS_ERR_MEMORY;
    }
    int64_t next = 0;
    for (int64_t k = 0; k < l->blocks; k++) {
        packed->blocks[k].wait_count = (int32_t)l->waits[k].count;
        packed->blocks[k].wait_first = next;
        for (int64_t i = 0; i < l->waits[k].count; i++) packed->waits[next++] = l->waits[k].of[i];
    }
    return TALUS_OK;
}

/// A block's first row is nobody's; the second that of its wall, if it has one (packed_wall_row).
enum { WALL_ROW = 1 };

/// Rows of a block that come before those of bodies.
static int32_t rows_before(const packed_block* block)
{
    return block->wall >= 0 ? 2 : 1;
}

/// Is this end of a contact of the block its mobile wall?
static bool is_wall(const packed_block* block, int end)
{
    return end == 0 && block->wall >= 0;
}

/// Claim the rows of the bodies that no earlier block touches, counted from the block's first one,
/// which belongs to nobody: idle lanes have it. Bodies that do not move have a row a contact. Lanes
/// receive the places of their bodies, and -1 - row where the row is one of the block's own that no
/// body has.
static void claim_rows(packed_layout* l, packed_problem* packed, int64_t turn)
{
    packed_block* block = &packed->blocks[turn];
    int32_t rows = rows_before(block);
    for (int64_t k = block->first * PACKED_LANES; k < block->last * PACKED_LANES; k++) {
        const int64_t i = packed->source[k], batch = k / PACKED_LANES;
        int32_t* who = packed->who + batch * PACKED_LANES + k; // [batch][2][lane]
        for (int end = 0; end < 2; end++) {
            int32_t body = i < 0 ? -1 : l->ends[2 * i + end];
            if (i >= 0 && is_wall(block, end)) {
                body = -1 - WALL_ROW;
            } else if (i >= 0 && body < 0) {
                body = -1 - rows++;
            } else if (i >= 0) {
                const bool fresh = l->packed[body] < 0; // nobody could foresee that: no branch
                l->packed[body] = fresh ? rows : l->packed[body];
                l->owner[body] = fresh ? (int32_t)turn : l->owner[body];
                rows += fresh;
                if (!fresh && l->last[body] != turn && turn < l->blocks) {
                    wait_for(&l->waits[turn], l->last[body]);
                }
                l->last[body] = (int32_t)turn;
            }
            who[end * PACKED_LANES] = body;
        }
    }
    l->size[turn].rows = rows;
}

/// The rows of bodies, among those of all blocks.
static void place_bodies(const packed_layout* l, packed_problem* packed)
{
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) schedule(static)
    for (int64_t i = 0; i < l->p->rows; i++) {
        if (l->packed[i] < 0) continue;
        const int64_t row = l->packed[i] + packed->blocks[l->owner[i]].row_first;
        l->packed[i] = (int32_t)row;
        packed->body_of[row] = l->row[i];
        packed->private_row[row] = 0;
    }
}

/// Number the rows of a block's lanes; the lanes receive their contacts.
static void number_rows(const packed_layout* l, packed_problem* packed, int64_t turn)
{
    const packed_block* block = &packed->blocks[turn];
    const int32_t nobody = (int32_t)block->row_first, before = rows_before(block);
    packed->body_of[nobody] = -1;
    packed->private_row[nobody] = 1;
    if (block->wall >= 0) {
        packed->body_of[packed_wall_row(block)] = (int32_t)(l->p->mobile_first + block->wall);
        packed->private_row[packed_wall_row(block)] = 1;
    }
    for (int64_t k = block->first; k < block->last; k++) {
        int32_t *source = packed->source + k * PACKED_LANES,
                *who = packed->who + 2 * k * PACKED_LANES;
        for (int lane = 0; lane < PACKED_LANES; lane++) {
            if (source[lane] >= 0) source[lane] = l->order[source[lane]];
        }
        for (int i = 0; i < 2 * PACKED_LANES; i++) {
            if (who[i] >= 0) {
                who[i] = l->packed[who[i]];
                continue;
            }
            const int32_t number = -1 - who[i], row = nobody + number;
            who[i] = row;
            if (number < before) continue;
            const int32_t contact = source[i % PACKED_LANES], end = i / PACKED_LANES;
            packed->body_of[row] = l->p->pair[2 * (int64_t)contact + end];
            packed->private_row[row] = 1;
        }
        int32_t* arranged = packed->arranged + 3 * k * PACKED_LANES;
        memcpy(arranged, source, sizeof *arranged * PACKED_LANES);
        memcpy(arranged + PACKED_LANES, who, sizeof *arranged * 2 * PACKED_LANES);
    }
}

static talus_status number_all(packed_layout* l, packed_problem* packed)
{
    memset(l->packed, 0xff, sizeof *l->packed * (size_t)l->p->rows);
#pragma omp parallel num_threads(l->threads) if (l->threads > 1)
    for (int64_t wave = 0; wave < l->waves; wave++) {
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = l->wave[wave]; k < l->wave[wave + 1]; k++) claim_rows(l, packed, k);
    }
    claim_rows(l, packed, l->blocks);
    if (gather_waits(l, packed)) return TALUS_ERR_MEMORY;
    packed->row_count = 0;
    for (int64_t k = 0; k <= l->blocks; k++) {
        packed->blocks[k].row_first = packed->row_count;
        packed->row_count += l->size[k].rows;
        packed->blocks[k].row_last = packed->row_count;
    }
    if (!arrays_renew(&packed->notes->packed_capacity, packed->row_count, ARRAY(packed->body_of),
                      ARRAY(packed->private_row))) {
        return TALUS_ERR_MEMORY;
    }
    place_bodies(l, packed);
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) schedule(dynamic, 1)
    for (int64_t k = 0; k <= l->blocks; k++) number_rows(l, packed, k);
    return TALUS_OK;
}

// ---- all of it ---------------------------------------------------------------------------------

static talus_status arrange(packed_layout* l, packed_problem* packed)
{
    const size_t rows = (size_t)l->p->rows, count = (size_t)l->p->count;
    l->place = malloc(sizeof *l->place * rows);
    l->row = malloc(sizeof *l->row * rows);
    l->own = malloc(sizeof *l->own * rows);
    l->order = malloc(sizeof *l->order * count);
    l->ends = malloc(sizeof *l->ends * 2 * count);
    l->kind = malloc(count);
    l->box = malloc(sizeof *l->box * count);
    l->key = malloc(sizeof *l->key * rows);
    if (!l->place || !l->row || !l->own || !l->order || !l->ends || !l->kind || !l->box ||
        !l->key ||
        !arrays_renew(&packed->wall_capacity, l->p->mobile_count, ARRAY(packed->wall_contacts),
                      ARRAY(packed->wall_velocity))) {
        return TALUS_ERR_MEMORY;
    }
    l->wall_contacts = packed->wall_contacts;
    if (packed_boxes(l) || packed_order(l)) return TALUS_ERR_MEMORY;
    cut_all(l);
    const size_t blocks = (size_t)l->blocks;
    l->packed = l->place, l->place = NULL; // what only the order needed serves again
    l->owner = l->own, l->own = NULL;
    l->last = malloc(sizeof *l->last * rows);
    l->mask = malloc(sizeof *l->mask * rows);
    l->colour = malloc(count);
    l->cut = malloc(sizeof *l->cut * (blocks + 1));
    l->wall = malloc(sizeof *l->wall * (blocks + 1));
    l->turn = malloc(sizeof *l->turn * (blocks + 1));
    l->tint = malloc(blocks + 1);
    l->wave = malloc(sizeof *l->wave * (blocks + 1));
    l->size = malloc(sizeof *l->size * (blocks + 1));
    l->waits = calloc(blocks + 1, sizeof *l->waits);
    if (!l->last || !l->mask || !l->colour || !l->cut || !l->wall || !l->turn || !l->tint ||
        !l->wave || !l->size || !l->waits ||
        !arrays_renew(&packed->notes->block_capacity, (int64_t)blocks + 1, ARRAY(packed->blocks),
                      ARRAY(packed->sums), ARRAY(packed->done), ARRAY(packed->pushes))) {
        return TALUS_ERR_MEMORY;
    }
    cut_all(l);
    colour_blocks(l);
    l->waves = 0;
    order_blocks(l, 0, l->inner);
    order_blocks(l, l->inner, l->blocks);
    colour_all(l);
    packed->block_count = l->blocks;
    packed->inner = l->inner;
    packed->wave_count = l->waves;
    if (!arrays_renew(&packed->wave_capacity, l->waves + 1, ARRAY(packed->wave))) {
        return TALUS_ERR_MEMORY;
    }
    memcpy(packed->wave, l->wave, sizeof *l->wave * (size_t)(l->waves + 1));
    memset(packed->done, 0, sizeof *packed->done * (size_t)l->blocks);
    packed->pass = 0;
    if (fill_all(l, packed) || number_all(l, packed)) return TALUS_ERR_MEMORY;
    return TALUS_OK;
}

talus_status packed_arrange(packed_problem* packed, const problem* p, int threads)
{
    if (!packed->notes) packed->notes = calloc(1, sizeof *packed->notes);
    layout_notes* m = packed->notes;
    if (!m) return TALUS_ERR_MEMORY;
    const int64_t room = m->row_capacity, contact_room = m->contact_capacity;
    if (!arrays_renew(&m->row_capacity, p->rows, ARRAY(m->curve), ARRAY(m->moves),
                      ARRAY(m->traits)) ||
        !arrays_renew(&m->contact_capacity, p->count, ARRAY(m->kind))) {
        return TALUS_ERR_MEMORY;
    }
    if (m->contact_capacity != contact_room) {
        memset(m->kind, 0, (size_t)m->contact_capacity);
        m->count = -1;
    }
    if (m->row_capacity != room) { // compared before they are noted, and equal to nothing
        memset(m->moves, 0, sizeof *m->moves * (size_t)m->row_capacity);
        memset(m->curve, 0, sizeof *m->curve * (size_t)m->row_capacity);
        m->count = -1;
    }
    const double ratio = packed_spin_ratio(p);
    packed->dim = p->dim;
    packed->count = p->count;
    packed->spin_arm = sqrt(ratio);
    if (note_problem(packed, p, ratio, threads)) return TALUS_OK;
    packed->arrangement++;
    packed_layout l = {
        .p = p, .moves = m->moves, .curve = m->curve, .kind_of = m->kind, .threads = threads};
    talus_status status = arrange(&l, packed);
    for (int64_t k = 0; k < l.blocks && l.waits; k++) free(l.waits[k].of);
    void* arrays[] = {l.place, l.row,    l.own,   l.order, l.ends, l.box,    l.kind,
                      l.key,   l.packed, l.owner, l.last,  l.mask, l.colour, l.cut,
                      l.wall,  l.turn,   l.tint,  l.wave,  l.size, l.waits};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    if (status) m->count = 0; // what is there fits no problem
    return status;
}
