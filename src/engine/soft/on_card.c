#include "soft/on_card.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "card/scan.h"
#include "soft/card_jobs.h"

#include <stdlib.h>
#include <string.h>

typedef enum buffer_name {
    // of the spheres
    BUFFER_ROW,
    BUFFER_OWN,
    BUFFER_LISTED,
    BUFFER_ROW_OF,
    BUFFER_IMAGE,
    BUFFER_ESCAPED,
    BUFFER_MATERIAL,
    // of the law
    BUFFER_CONSTANTS,
    BUFFER_LAW_OF,
    // forces
    BUFFER_SUM,
    BUFFER_CROSS,
    // walls
    BUFFER_NEAR,
    BUFFER_NEAR_OF,
    BUFFER_CONTACT_OF,
    BUFFER_PUSH,
    BUFFER_NEAR_ROWS,
    // what comes of it: [blocks] soft_card_meeting, then [shares] soft_card_motion
    BUFFER_TOLD,
    // while a list is made
    BUFFER_CELL_FIRST,
    BUFFER_MEMBER,
    BUFFER_PAIRS_OF,
    BUFFER_BATCH_OF,
    BUFFER_NEXT,
    BUFFER_FAILURES,
    BUFFER_SCRATCH,
    BUFFERS
} buffer_name;

/// Arrays of a list.
typedef enum list_name {
    LIST_BLOCKS,
    LIST_FIRST_OF,
    LIST_WHO,
    LIST_LAW,
    LIST_ROOT_MASS,
    LIST_IMAGES,
    LIST_INCOMING_OF,
    LIST_INCOMING,
    LIST_SLIP,
    LIST_ROLL,
    LIST_STATE,
    LISTS
} list_name;

struct soft_card {
    card* card;
    card_buffer buffer[BUFFERS];
    card_buffer list[2][LISTS]; ///< the list, and the one before it while it is made
    int now;                    ///< which of the two it is
    int64_t batches;            ///< of the list
    bool own_list;              ///< it was made there, and is not the one here
    bool newer;             ///< rows, own numbers, histories and images there are newer than here
    int64_t made;           ///< the list that was put there (soft_pairs.made)
    int64_t noted;          ///< the far grains that are known there (general_contacts.noted)
    double low[3], high[3]; ///< box of the spheres when they were put there
    // The list in the terms of the card.
    int64_t block_capacity, body_capacity, batch_capacity;
    soft_card_block* block;
    int32_t *first_of, *incoming_of, *incoming, *who;
    uint8_t* state;
    double *slip, *roll;
    // Rows near walls, what is told.
    int64_t near_capacity, push_capacity, told_capacity, place_capacity;
    int64_t near_count;
    int32_t *near, *near_of, *contact_of;
    double *near_rows, *push;
    char* told;
};

void soft_card_free(soft_card* on)
{
    if (!on) return;
    for (int k = 0; k < BUFFERS; k++) card_free(on->card, &on->buffer[k]);
    for (int k = 0; k < 2 * LISTS; k++) card_free(on->card, &on->list[k / LISTS][k % LISTS]);
    void* const all[] = {on->block,      on->first_of,  on->incoming_of, on->incoming, on->who,
                         on->state,      on->slip,      on->roll,        on->near,     on->near_of,
                         on->contact_of, on->near_rows, on->push,        on->told};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    free(on);
}

static void put_into(soft_card* on, card_buffer* buffer, const void* from, size_t bytes)
{
    card_renew(on->card, buffer, bytes > 0 ? bytes : 1);
    if (from && bytes > 0) card_put(on->card, buffer, 0, from, bytes);
}

static void get_from(soft_card* on, const card_buffer* buffer, void* to, size_t bytes)
{
    if (bytes > 0) card_get(on->card, to, buffer, 0, bytes);
}

static void put(soft_card* on, buffer_name name, const void* from, size_t bytes)
{
    put_into(on, &on->buffer[name], from, bytes);
}

static void get(soft_card* on, buffer_name name, void* to, size_t bytes)
{
    get_from(on, &on->buffer[name], to, bytes);
}

#define BYTES(array, count) (sizeof *(array) * (size_t)(count))
#define PUT(name, array, count) put(on, name, array, BYTES(array, count))
#define PUT_LIST(name, array, count)                                                               \
    put_into(on, &on->list[on->now][name], array, BYTES(array, count))
#define GET_LIST(name, array, count)                                                               \
    get_from(on, &on->list[on->now][name], array, BYTES(array, count))

// ---- the list that is put there ----------------------------------------------------------------

static bool is_there(const soft_pairs* s, int64_t pair)
{
    return soft_pairs_place(s, pair, 0) < s->body_count;
}

/// Where the pairs of each sphere begin, as the first of two, block after block.
static void list_firsts(soft_card* on, const soft_pairs* s)
{
    for (int64_t b = 0; b < s->block_count; b++) {
        const soft_block* block = &s->block[b];
        int64_t pair = 8 * block->batch, end = 8 * block->batch_end;
        while (end > pair && !is_there(s, end - 1)) end--;
        on->block[b] = (soft_card_block){(int32_t)pair, (int32_t)end};
        for (int64_t p = block->first; p < block->end; p++) {
            on->first_of[p] = (int32_t)pair;
            while (pair < end && soft_pairs_place(s, pair, 0) == p) pair++;
        }
    }
}

/// The pairs whose second each sphere is, ascending.
static void list_incoming(soft_card* on, const soft_pairs* s)
{
    int32_t* first = on->incoming_of;
    memset(first, 0, sizeof *first * (size_t)(s->body_count + 2));
    for (int64_t pair = 0; pair < 8 * s->batch_count; pair++) {
        if (is_there(s, pair)) first[soft_pairs_place(s, pair, 1) + 2]++;
    }
    for (int64_t p = 0; p < s->body_count; p++) first[p + 2] += first[p + 1];
    for (int64_t pair = 0; pair < 8 * s->batch_count; pair++) {
        if (!is_there(s, pair)) continue;
        on->incoming[first[soft_pairs_place(s, pair, 1) + 1]++] = (int32_t)pair;
    }
}

static talus_status put_list(soft_card* on, const soft_particles* s)
{
    const soft_pairs* p = &s->pairs;
    if (!arrays_renew(&on->block_capacity, p->block_count, ARRAY(on->block)) ||
        !arrays_renew(&on->body_capacity, p->body_count + 2, ARRAY(on->first_of),
                      ARRAY(on->incoming_of)) ||
        !arrays_renew(&on->batch_capacity, p->batch_count, ROWS(on->incoming, 8),
                      ROWS(on->state, 8), ROWS(on->who, 16), ROWS(on->slip, 24),
                      ROWS(on->roll, 24))) {
        return TALUS_ERR_MEMORY;
    }
    list_firsts(on, p);
    list_incoming(on, p);
    on->batches = p->batch_count;
    PUT_LIST(LIST_BLOCKS, on->block, p->block_count);
    PUT_LIST(LIST_FIRST_OF, on->first_of, p->body_count);
    PUT_LIST(LIST_WHO, p->who, 16 * p->batch_count);
    if (!s->laws.uniform) PUT_LIST(LIST_LAW, p->law, 8 * p->batch_count);
    PUT_LIST(LIST_ROOT_MASS, p->root_mass, 8 * p->batch_count);
    PUT_LIST(LIST_IMAGES, p->images, p->batch_count);
    PUT_LIST(LIST_INCOMING_OF, on->incoming_of, p->body_count + 1);
    PUT_LIST(LIST_INCOMING, on->incoming, 8 * p->batch_count);
    put(on, BUFFER_CROSS, NULL, sizeof(double) * CROSS_NUMBERS * 8 * (size_t)p->batch_count);
    on->made = p->made;
    return TALUS_OK;
}

// ---- histories ---------------------------------------------------------------------------------

static void put_histories(soft_card* on, const soft_pairs* p)
{
    const int64_t pairs = 8 * p->batch_count;
    for (int64_t i = 0; i < pairs; i++) {
        const int64_t batch = i / 8, lane = i % 8;
        on->state[i] = (uint8_t)((p->live[batch] >> lane & 1 ? PAIR_LIVE : 0) |
                                 (p->bonded[batch] >> lane & 1 ? PAIR_BONDED : 0) |
                                 (p->slides[batch] >> lane & 1 ? PAIR_SLIDES : 0));
    }
    PUT_LIST(LIST_STATE, on->state, pairs);
    PUT_LIST(LIST_SLIP, p->slip, 3 * pairs);
    if (p->roll) PUT_LIST(LIST_ROLL, p->roll, 3 * pairs);
}

static void get_histories(soft_card* on, soft_pairs* p)
{
    const int64_t pairs = 8 * p->batch_count;
    GET_LIST(LIST_STATE, on->state, pairs);
    GET_LIST(LIST_SLIP, p->slip, 3 * pairs);
    if (p->roll) GET_LIST(LIST_ROLL, p->roll, 3 * pairs);
    for (int64_t batch = 0; batch < p->batch_count; batch++) {
        p->live[batch] = p->bonded[batch] = p->slides[batch] = 0;
        for (int lane = 0; lane < 8; lane++) {
            const uint8_t state = on->state[8 * batch + lane], bit = (uint8_t)(1 << lane);
            if (state & PAIR_LIVE) p->live[batch] |= bit;
            if (state & PAIR_BONDED) p->bonded[batch] |= bit;
            if (state & PAIR_SLIDES) p->slides[batch] |= bit;
        }
    }
}

/// The histories of a list that was made there, as memories: another list will be made of them.
static talus_status get_memories(soft_card* on, soft_pairs* p)
{
    if (!arrays_renew(&on->batch_capacity, on->batches, ROWS(on->incoming, 8), ROWS(on->state, 8),
                      ROWS(on->who, 16), ROWS(on->slip, 24), ROWS(on->roll, 24))) {
        return TALUS_ERR_MEMORY;
    }
    const bool rolls = p->roll != NULL;
    GET_LIST(LIST_STATE, on->state, 8 * on->batches);
    GET_LIST(LIST_WHO, on->who, 16 * on->batches);
    GET_LIST(LIST_SLIP, on->slip, 24 * on->batches);
    if (rolls) GET_LIST(LIST_ROLL, on->roll, 24 * on->batches);
    TRY(card_state(on->card, NULL));
    p->memories.count = 0;
    for (int64_t pair = 0; pair < 8 * on->batches; pair++) {
        const int64_t batch = pair / 8, lane = pair % 8;
        const int32_t* who = on->who + 16 * batch + lane;
        if (!(on->state[pair] & PAIR_LIVE)) continue;
        soft_memory m = {.p = who[0] / p->row,
                         .q = who[8] / p->row,
                         .bonded = on->state[pair] & PAIR_BONDED,
                         .slides = on->state[pair] & PAIR_SLIDES};
        for (int k = 0; k < 3; k++) {
            m.slip[k] = on->slip[24 * batch + 8 * k + lane];
            m.roll[k] = rolls ? on->roll[24 * batch + 8 * k + lane] : 0.0;
        }
        TRY(soft_memories_add(&p->memories, &m));
    }
    return TALUS_OK;
}

// ---- spheres -----------------------------------------------------------------------------------

static size_t bytes_of_rows(const soft_particles* s)
{
    return sizeof(double) * (size_t)((s->bodies.count + 2) * soft_row(3, s->geometric));
}

static int64_t full_count(const soft_particles* s)
{
    return (s->bodies.count + SOFT_LANES - 1) / SOFT_LANES * SOFT_LANES;
}

static size_t bytes_of_own(const soft_particles* s)
{
    return sizeof(double) * (size_t)(full_count(s) * soft_own(s->integrator != &verlet_integrator));
}

/// Materials by place, and the laws of their pairs.
static talus_status put_materials(soft_card* on, const soft_particles* s, const grains* g)
{
    const int kinds = s->laws.materials * s->laws.materials;
    PUT(BUFFER_CONSTANTS, s->laws.constants, kinds * SOFT_CONSTANTS);
    if (s->laws.uniform) return TALUS_OK;
    int32_t* material = malloc(sizeof *material * (size_t)(g->count + 1));
    if (!material) return TALUS_ERR_MEMORY;
    for (int64_t p = 0; p < g->count; p++) material[p] = g->material[s->places.row_of[p]];
    PUT(BUFFER_MATERIAL, material, g->count);
    PUT(BUFFER_LAW_OF, s->laws.law_of, kinds);
    free(material);
    return TALUS_OK;
}

/// All that is not there yet, or older than here.
static talus_status put_all(soft_particles* s, const step_order* order)
{
    soft_card* on = s->card;
    const grains* g = &order->state->grains;
    if (on->own_list || on->made != s->pairs.made) TRY(put_list(on, s));
    put_histories(on, &s->pairs);
    put(on, BUFFER_ROW, s->bodies.row, bytes_of_rows(s));
    put(on, BUFFER_OWN, s->bodies.own, bytes_of_own(s));
    PUT(BUFFER_LISTED, s->bodies.listed, 3 * full_count(s));
    PUT(BUFFER_ROW_OF, s->places.row_of, g->count);
    PUT(BUFFER_IMAGE, g->image, 3 * g->count);
    put(on, BUFFER_ESCAPED, NULL, (size_t)g->count);
    put(on, BUFFER_SUM, NULL, sizeof(double) * SOFT_SUM * (size_t)g->count);
    grains_box(g, order->threads, on->low, on->high);
    s->on_card = true;
    on->own_list = on->newer = false;
    return put_materials(on, s, g);
}

/// Lanes behind the last sphere stand for it (sphere_kernel.h), which nobody does there.
static void repeat_last(const soft_particles* s)
{
    const int64_t count = s->bodies.count;
    const int width = soft_own(s->integrator != &verlet_integrator);
    for (int64_t place = count; place % SOFT_LANES != 0; place++) {
        for (int k = 0; k < width; k++) {
            s->bodies.own[soft_lane(place, width, k)] =
                s->bodies.own[soft_lane(count - 1, width, k)];
        }
    }
}

talus_status soft_card_fetch_rows(soft_particles* s, talus_error* error)
{
    soft_card* on = s->card;
    if (!s->on_card || !on->newer) return TALUS_OK;
    get(on, BUFFER_ROW, s->bodies.row, bytes_of_rows(s));
    return card_state(on->card, error);
}

talus_status soft_card_fetch(soft_particles* s, grains* g, talus_error* error)
{
    soft_card* on = s->card;
    if (!s->on_card || !on->newer) return TALUS_OK;
    TRY(soft_card_fetch_rows(s, error));
    get(on, BUFFER_OWN, s->bodies.own, bytes_of_own(s));
    repeat_last(s);
    get(on, BUFFER_IMAGE, g->image, sizeof *g->image * (size_t)(3 * g->count));
    if (!on->own_list) {
        get_histories(on, &s->pairs);
    } else if (get_memories(on, &s->pairs) == TALUS_ERR_MEMORY) {
        return error_memory(error, "bringing pairs back from a card");
    }
    on->newer = false;
    if (on->own_list) s->listed = s->on_card = false; // what is there is no list of ours
    return card_state(on->card, error);
}

// ---- a step ------------------------------------------------------------------------------------

static soft_card_list list_of(const soft_card* on, int which)
{
    const card_buffer* b = on->list[which];
    return (soft_card_list){.blocks = b[LIST_BLOCKS].at,
                            .first_of = b[LIST_FIRST_OF].at,
                            .who = b[LIST_WHO].at,
                            .law = b[LIST_LAW].at,
                            .root_mass = b[LIST_ROOT_MASS].at,
                            .images = b[LIST_IMAGES].at,
                            .incoming_of = b[LIST_INCOMING_OF].at,
                            .incoming = b[LIST_INCOMING].at,
                            .slip = b[LIST_SLIP].at,
                            .roll = b[LIST_ROLL].at,
                            .state = b[LIST_STATE].at};
}

static soft_card_job job_of(const soft_particles* s, const step_order* order, double since,
                            bool to_next)
{
    const talus_world_def* def = order->options;
    const soft_card* on = s->card;
    const card_buffer* b = on->buffer;
    const int64_t blocks = s->pairs.block_count;
    char* told = b[BUFFER_TOLD].at;
    soft_card_job job = {.kind = s->laws.kind,
                         .geometric = s->geometric,
                         .uniform = s->laws.uniform,
                         .verlet = s->integrator == &verlet_integrator,
                         .h = order->h,
                         .since = since,
                         .drag = def->drag,
                         .has_domain = def->has_domain,
                         .periodic = order->state->cell,
                         .constants = b[BUFFER_CONSTANTS].at,
                         .count = s->bodies.count,
                         .row = b[BUFFER_ROW].at,
                         .own = b[BUFFER_OWN].at,
                         .listed = b[BUFFER_LISTED].at,
                         .row_of = b[BUFFER_ROW_OF].at,
                         .image = b[BUFFER_IMAGE].at,
                         .escaped = b[BUFFER_ESCAPED].at,
                         .list = list_of(on, on->now),
                         .sum = b[BUFFER_SUM].at,
                         .cross = b[BUFFER_CROSS].at,
                         .walls = {.near_count = on->near_count,
                                   .near = b[BUFFER_NEAR].at,
                                   .near_of = b[BUFFER_NEAR_OF].at,
                                   .contact_of = b[BUFFER_CONTACT_OF].at,
                                   .push = b[BUFFER_PUSH].at,
                                   .rows = b[BUFFER_NEAR_ROWS].at},
                         .meeting = (soft_card_meeting*)told,
                         .motion =
                             (soft_card_motion*)(told + sizeof(soft_card_meeting) * (size_t)blocks),
                         .on = to_next};
    for (int k = 0; k < 3; k++) {
        job.length[k] = job.periodic.periodic[k] ? job.periodic.length[k] : 0.0;
        job.gravity[k] = def->gravity[k];
        job.domain_low[k] = def->domain_low[k];
        job.domain_high[k] = def->domain_high[k];
    }
    return job;
}

static void launch(soft_card* on, const char* kernel, int64_t count, const soft_card_job* job)
{
    card_launch(on->card, card_find(on->card, "card_soft", kernel),
                card_grid_of(count, SOFT_CARD_ROWS), job);
}

static void launch_forces(const soft_particles* s, const soft_card_job* job)
{
    soft_card* on = s->card;
    const bool hertz = job->kind.law == TALUS_SOFT_HERTZ;
    const char* name = job->kind.compound ? "soft_forces_compound"
                       : hertz            ? "soft_forces_hertz"
                                          : "soft_forces_linear";
    const card_grid size = {.blocks = s->pairs.block_count,
                            .threads = SOFT_CARD_CHUNK,
                            .shared = sizeof(double) *
                                      (PART_NUMBERS * SOFT_CARD_CHUNK + SOFT_BLOCK_SUMS)};
    card_kernel* kernel = card_find(on->card, "card_soft", name);
    if (kernel) card_allow_shared(on->card, kernel, size.shared);
    card_launch(on->card, kernel, size, job);
}

// ---- the list that is made there ---------------------------------------------------------------

/// Spheres that are larger than this many mean radii would have too many neighbours in a grid of
/// one width: then the CPU makes the lists.
static const double WIDEST = 2.0;

/// The grid: cells at least as wide as two spheres reach, and so many that there are few spheres in
/// each; along a periodic axis they fit into the period. False: there is no such grid.
static bool lay_grid(const soft_particles* s, const step_order* order, soft_list_job* job)
{
    const grains* g = &order->state->grains;
    double widest = 0.0, sum = 0.0;
    for (int64_t i = 0; i < g->count; i++) widest = fmax(widest, g->radius[i]), sum += g->radius[i];
    if (widest * (double)g->count > WIDEST * sum) return false;
    const double reach = (2.0 * widest + job->room) * (1.0 + 1e-9);
    const int64_t most = 4 * g->count + 64;
    for (int k = 0; k < 3; k++) {
        const bool round = job->periodic.periodic[k];
        const double length = round ? job->periodic.length[k] : s->card->high[k] - s->card->low[k];
        job->low[k] = round ? job->periodic.low[k] : s->card->low[k];
        job->cells[k] = (int32_t)fmin(fmax(floor(length / reach), 1.0), 1e6);
        if (round && job->cells[k] < 3) return false; // cells on both sides would be the same
    }
    while ((double)job->cells[0] * job->cells[1] * job->cells[2] > (double)most) {
        int k = job->cells[0] > job->cells[1] ? 0 : 1;
        if (job->cells[2] > job->cells[k]) k = 2;
        if (job->cells[k] < 8) break;
        job->cells[k] /= 2;
    }
    for (int k = 0; k < 3; k++) {
        const bool round = job->periodic.periodic[k];
        job->side[k] = round ? job->periodic.length[k] / job->cells[k] : reach;
    }
    return true;
}

static void launch_list(soft_card* on, const char* kernel, int64_t count, const soft_list_job* job)
{
    card_launch(on->card, card_find(on->card, "card_soft_list", kernel),
                card_grid_of(count, SOFT_CARD_LIST), job);
}

/// Zeros, and their place in the job.
static void* zeros(soft_card* on, card_buffer* buffer, size_t bytes)
{
    card_renew(on->card, buffer, bytes);
    card_zero(on->card, buffer, 0, bytes);
    return buffer->at;
}

/// Sort the spheres into cells and count their pairs, up to the batches of each block.
static void count_pairs(soft_card* on, soft_list_job* job)
{
    const int64_t cells = (int64_t)job->cells[0] * job->cells[1] * job->cells[2];
    const size_t number = sizeof(int32_t);
    card_buffer* b = on->buffer;
    job->cell_first = zeros(on, &b[BUFFER_CELL_FIRST], number * (size_t)(cells + 1));
    put(on, BUFFER_MEMBER, NULL, number * (size_t)job->count);
    job->member = b[BUFFER_MEMBER].at;
    job->pairs_of = zeros(on, &b[BUFFER_PAIRS_OF], number * (size_t)(job->count + 1));
    job->batch_of = zeros(on, &b[BUFFER_BATCH_OF], number * (size_t)(job->blocks + 1));
    job->failures = zeros(on, &b[BUFFER_FAILURES], number);
    launch_list(on, "list_count_cells", job->count, job);
    card_scan(on->card, &b[BUFFER_CELL_FIRST], cells + 1, &b[BUFFER_SCRATCH]);
    launch_list(on, "list_fill_cells", job->count, job);
    launch_list(on, "list_count_pairs", job->count, job);
    card_scan(on->card, &b[BUFFER_PAIRS_OF], job->count + 1, &b[BUFFER_SCRATCH]);
    launch_list(on, "list_count_batches", job->blocks, job);
    card_scan(on->card, &b[BUFFER_BATCH_OF], job->blocks + 1, &b[BUFFER_SCRATCH]);
}

/// Room for the list that is to be made.
static void make_list_room(soft_card* on, soft_list_job* job)
{
    const size_t batches = (size_t)job->batches, real = sizeof(double), number = sizeof(int32_t);
    const size_t bytes[LISTS] = {
        [LIST_BLOCKS] = sizeof(soft_card_block) * (size_t)job->blocks,
        [LIST_FIRST_OF] = number * (size_t)job->count,
        [LIST_WHO] = number * 16 * batches,
        [LIST_LAW] = job->uniform ? 0 : number * 8 * batches,
        [LIST_ROOT_MASS] = real * 8 * batches,
        [LIST_IMAGES] = batches,
        [LIST_INCOMING_OF] = number * (size_t)(job->count + 1),
        [LIST_INCOMING] = number * 8 * batches,
        [LIST_SLIP] = real * 24 * batches,
        [LIST_ROLL] = job->rolls ? real * 24 * batches : 0,
        [LIST_STATE] = 8 * batches,
    };
    const int next = 1 - on->now;
    for (int k = 0; k < LISTS; k++) put_into(on, &on->list[next][k], NULL, bytes[k]);
    put(on, BUFFER_CROSS, NULL, real * CROSS_NUMBERS * 8 * batches);
    put(on, BUFFER_NEXT, NULL, number * (size_t)(job->count + 1));
    job->old = list_of(on, on->now);
    job->list = list_of(on, next);
    job->next = on->buffer[BUFFER_NEXT].at;
}

static void write_pairs(soft_card* on, const soft_list_job* job)
{
    card_buffer* incoming_of = &on->list[1 - on->now][LIST_INCOMING_OF];
    const size_t bytes = sizeof(int32_t) * (size_t)(job->count + 1);
    card_zero(on->card, incoming_of, 0, bytes);
    launch_list(on, "list_write_pairs", job->count, job);
    card_scan(on->card, incoming_of, job->count + 1, &on->buffer[BUFFER_SCRATCH]);
    card_copy(on->card, &on->buffer[BUFFER_NEXT], 0, incoming_of, 0, bytes);
    launch_list(on, "list_fill_incoming", 8 * job->batches, job);
    launch_list(on, "list_sort_incoming", job->count, job);
    launch_list(on, "list_find_images", job->batches, job);
}

talus_status soft_card_make_list(soft_particles* s, const step_order* order, bool* made,
                                 talus_error* error)
{
    soft_card* on = s->card;
    const card_buffer* b = on->buffer;
    soft_list_job job = {.count = s->bodies.count,
                         .blocks = s->pairs.block_count,
                         .row_length = soft_row(3, s->geometric),
                         .row = b[BUFFER_ROW].at,
                         .listed = b[BUFFER_LISTED].at,
                         .room = s->skin + s->laws.range,
                         .skin = s->skin,
                         .periodic = order->state->cell,
                         .uniform = s->laws.uniform,
                         .rolls = s->laws.kind.compound,
                         .material = b[BUFFER_MATERIAL].at,
                         .law_of = b[BUFFER_LAW_OF].at,
                         .materials = s->laws.materials};
    uint32_t failures = 0;
    int32_t batches = 0;
    *made = false;
    if (!s->on_card || !lay_grid(s, order, &job)) return TALUS_OK;
    count_pairs(on, &job);
    get(on, BUFFER_FAILURES, &failures, sizeof failures);
    card_get(on->card, &batches, &b[BUFFER_BATCH_OF], sizeof batches * (size_t)job.blocks,
             sizeof batches);
    TRY(card_state(on->card, error));
    if (failures > 0) return TALUS_OK;
    job.batches = batches;
    make_list_room(on, &job);
    write_pairs(on, &job);
    on->now = 1 - on->now;
    on->batches = batches;
    on->own_list = on->newer = *made = true;
    return card_state(on->card, error);
}

// ---- walls -------------------------------------------------------------------------------------

/// Which spheres walls may reach, if that has been found out anew.
static talus_status note_near(soft_card* on, const soft_particles* s)
{
    const int64_t count = s->bodies.count;
    if (on->noted == s->general.noted) return TALUS_OK;
    if (!arrays_renew(&on->place_capacity, count, ARRAY(on->near_of), ARRAY(on->near))) {
        return TALUS_ERR_MEMORY;
    }
    on->near_count = 0;
    for (int64_t place = 0; place < count; place++) {
        const bool far = s->general.far[s->places.row_of[place]];
        on->near_of[place] = far ? -1 : (int32_t)on->near_count;
        if (!far) on->near[on->near_count++] = (int32_t)place;
    }
    if (!arrays_renew(&on->near_capacity, on->near_count + 2, ARRAY(on->contact_of),
                      ROWS(on->near_rows, soft_row(3, true)))) {
        return TALUS_ERR_MEMORY;
    }
    PUT(BUFFER_NEAR, on->near, on->near_count);
    PUT(BUFFER_NEAR_OF, on->near_of, count);
    put(on, BUFFER_NEAR_ROWS, NULL,
        sizeof(double) * (size_t)(on->near_count * soft_row(3, s->geometric)));
    on->noted = s->general.noted;
    return TALUS_OK;
}

/// Bring the rows of these spheres here.
static void get_near_rows(soft_particles* s, const soft_card_job* job)
{
    soft_card* on = s->card;
    const int length = soft_row(3, s->geometric);
    launch(on, "soft_gather", on->near_count, job);
    get(on, BUFFER_NEAR_ROWS, on->near_rows, sizeof(double) * (size_t)(on->near_count * length));
    for (int64_t k = 0; k < on->near_count; k++) {
        memcpy(s->bodies.row + (int64_t)on->near[k] * length, on->near_rows + k * length,
               sizeof(double) * (size_t)length);
    }
}

/// Put the forces of walls there, sphere after sphere, in the order of the contacts.
static talus_status put_pushes(soft_card* on, const soft_particles* s)
{
    const contacts* list = &s->general.list;
    int32_t* first = on->contact_of;
    if (!arrays_renew(&on->push_capacity, list->count, ROWS(on->push, WALL_PUSH))) {
        return TALUS_ERR_MEMORY;
    }
    memset(first, 0, sizeof *first * (size_t)(on->near_count + 2));
    for (int64_t c = 0; c < list->count; c++) {
        first[on->near_of[s->places.place_of[list->b_row[c]]] + 2]++;
    }
    for (int64_t k = 0; k < on->near_count; k++) first[k + 2] += first[k + 1];
    for (int64_t c = 0; c < list->count; c++) {
        const int32_t near = on->near_of[s->places.place_of[list->b_row[c]]];
        general_contacts_push(&s->general, c, on->push + WALL_PUSH * (int64_t)first[near + 1]++);
    }
    PUT(BUFFER_CONTACT_OF, first, on->near_count + 1);
    PUT(BUFFER_PUSH, on->push, WALL_PUSH * list->count);
    return TALUS_OK;
}

// ---- what comes of it --------------------------------------------------------------------------

static int64_t shares_of(const soft_particles* s)
{
    return (s->bodies.count + SOFT_ROWS - 1) / SOFT_ROWS;
}

static size_t bytes_told(const soft_particles* s)
{
    return sizeof(soft_card_meeting) * (size_t)s->pairs.block_count +
           sizeof(soft_card_motion) * (size_t)shares_of(s);
}

/// What blocks and shares tell.
static void hear(soft_particles* s, bool on_to_next)
{
    soft_card* on = s->card;
    const soft_card_meeting* meeting = (const soft_card_meeting*)on->told;
    const soft_card_motion* motion = (const soft_card_motion*)(meeting + s->pairs.block_count);
    int64_t escaped = 0;
    get(on, BUFFER_TOLD, on->told, bytes_told(s));
    for (int64_t b = 0; b < s->pairs.block_count; b++) {
        s->pairs.block[b].active = meeting[b].active;
        s->pairs.block[b].overlap_max = meeting[b].overlap_max;
    }
    for (int64_t k = 0; k < shares_of(s); k++) {
        escaped += motion[k].escaped;
        if (!on_to_next) continue;
        memcpy(s->share[k].flow, motion[k].flow, sizeof motion[k].flow);
        s->share[k].farthest = motion[k].farthest;
    }
    if (escaped == 0) return;
    uint8_t* found = malloc((size_t)s->bodies.count);
    if (!found) return; // the next step tells of them
    get(on, BUFFER_ESCAPED, found, (size_t)s->bodies.count);
    for (int64_t i = 0; i < s->bodies.count; i++) s->general.escaped[i] |= found[i];
    free(found);
}

/// The spheres land in the table, by the sums that were put together there.
static talus_status land(soft_particles* s, const step_order* order, talus_error* error)
{
    const int64_t count = s->bodies.count;
    soft_pairs_spread_sums(&s->pairs); // one after the other, as they are there
    get(s->card, BUFFER_SUM, s->pairs.sum, sizeof(double) * SOFT_SUM * (size_t)count);
    TRY(soft_card_fetch(s, &order->state->grains, error));
    const sphere_task task = soft_sphere_task(s, order);
    const int threads = parallel_threads(order->threads, count);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t first = 0; first < count; first += SOFT_ROWS) {
        const int64_t end = first + SOFT_ROWS < count ? first + SOFT_ROWS : count;
        s->kernels->land(&task, soft_pairs_sum(&s->pairs, first), first, end,
                         s->share[first / SOFT_ROWS].flow);
    }
    return TALUS_OK;
}

static talus_status make_room(soft_particles* s, card* c)
{
    if (!s->card) s->card = calloc(1, sizeof *s->card);
    if (!s->card ||
        !arrays_renew(&s->card->told_capacity, (int64_t)bytes_told(s), ARRAY(s->card->told))) {
        return TALUS_ERR_MEMORY;
    }
    s->card->card = c;
    put(s->card, BUFFER_TOLD, NULL, bytes_told(s));
    return TALUS_OK;
}

talus_status soft_card_stream(soft_particles* s, const step_order* order, double since,
                              bool to_next, general_task* others, talus_error* error)
{
    if (make_room(s, order->card)) return error_memory(error, "preparing a step on a card");
    soft_card* on = s->card;
    const bool there = s->on_card && (on->own_list || on->made == s->pairs.made);
    if ((!there && put_all(s, order)) || note_near(on, s)) {
        return error_memory(error, "preparing a step on a card");
    }
    soft_card_job job = job_of(s, order, since, to_next);
    if (on->near_count > 0) get_near_rows(s, &job);
    on->newer = true;
    launch_forces(s, &job); // while walls are met here
    if (on->near_count > 0) {
        TRY(card_state(on->card, error)); // rows that never came are none
        if (soft_meet_walls(s, order, others) || put_pushes(on, s)) {
            return error_memory(error, "meeting walls");
        }
        job = job_of(s, order, since, to_next); // memory for the pushes may be elsewhere now
    }
    if (job.has_domain) card_zero(on->card, &on->buffer[BUFFER_ESCAPED], 0, (size_t)job.count);
    launch(on, "soft_move", job.count, &job);
    hear(s, to_next);
    TRY(card_state(on->card, error));
    if (!to_next) TRY(land(s, order, error));
    s->in_rows = to_next;
    s->on_card = s->on_card && to_next;
    if (to_next) soft_rows_filled(s, s->bodies.count);
    return TALUS_OK;
}
