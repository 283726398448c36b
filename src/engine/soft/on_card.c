#include "soft/on_card.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "card/card.h"
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
    // of the list
    BUFFER_CONSTANTS,
    BUFFER_BLOCKS,
    BUFFER_WHO,
    BUFFER_LAW,
    BUFFER_ROOT_MASS,
    BUFFER_IMAGES,
    BUFFER_CHUNK,
    BUFFER_SUM,
    BUFFER_ENTRY_OF,
    BUFFER_ENTRY,
    BUFFER_INBOX_OF,
    BUFFER_INBOX,
    BUFFER_OWN_SUM,
    BUFFER_HALO_SUM,
    // histories
    BUFFER_SLIP,
    BUFFER_ROLL,
    BUFFER_STATE,
    // walls
    BUFFER_NEAR,
    BUFFER_NEAR_OF,
    BUFFER_CONTACT_OF,
    BUFFER_PUSH,
    BUFFER_NEAR_ROWS,
    // what comes of it: [blocks] soft_card_meeting, then [shares] soft_card_motion
    BUFFER_TOLD,
    BUFFERS
} buffer_name;

struct soft_card {
    card* card;
    card_buffer buffer[BUFFERS];
    bool newer;    ///< rows, own numbers, histories and images there are newer than here
    int64_t made;  ///< the list that is there (soft_pairs.made)
    int64_t noted; ///< the far grains that are known there (general_contacts.noted)
    // The list in the terms of the card.
    int64_t block_capacity, chunk_capacity, sum_capacity, body_capacity, halo_capacity;
    int64_t chunk_count, sum_count, entry_count;
    soft_card_block* block;
    int32_t *chunk, *sum, *entry_of;
    uint16_t* entry;
    int32_t *inbox_of, *inbox;
    int64_t seen_capacity;
    int32_t* seen; ///< [sums of a block] entries in the present chunk
    bool* begun;   ///< [sums of a block]
    // Histories, rows near walls, what is told.
    int64_t pair_capacity, near_capacity, push_capacity, told_capacity, place_capacity;
    uint8_t* state;
    int64_t near_count;
    int32_t *near, *near_of, *contact_of;
    double *near_rows, *push;
    char* told;
};

void soft_card_free(soft_card* on)
{
    if (!on) return;
    for (int k = 0; k < BUFFERS; k++) card_free(on->card, &on->buffer[k]);
    void* const all[] = {on->block,      on->chunk,     on->sum,   on->entry_of,
                         on->entry,      on->inbox_of,  on->inbox, on->seen,
                         on->begun,      on->state,     on->near,  on->near_of,
                         on->contact_of, on->near_rows, on->push,  on->told};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    free(on);
}

static void put(soft_card* on, buffer_name name, const void* from, size_t bytes)
{
    card_renew(on->card, &on->buffer[name], bytes > 0 ? bytes : 1);
    if (from && bytes > 0) card_put(on->card, &on->buffer[name], 0, from, bytes);
}

static void get(soft_card* on, buffer_name name, void* to, size_t bytes)
{
    if (bytes > 0) card_get(on->card, to, &on->buffer[name], 0, bytes);
}

// ---- the list ----------------------------------------------------------------------------------

/// The sum of a block, counted from its own spheres on and its halo after them, that side 0 or 1 of
/// a pair adds to.
static int64_t sum_of(const soft_pairs* s, const soft_block* block, int64_t pair, int side)
{
    const int64_t where = s->where[16 * (pair / 8) + 8 * side + pair % 8];
    if (where < SOFT_BLOCK_SUMS) return where / SOFT_SUM;
    return SOFT_BLOCK + (where - SOFT_BLOCK_SUMS * s->block_count) / SOFT_SUM - block->halo;
}

static bool is_there(const soft_pairs* s, int64_t pair)
{
    return soft_pairs_place(s, pair, 0) < s->body_count;
}

/// The sums that the pairs [first, last) of a chunk add to, each with its entries.
static void list_chunk(soft_card* on, const soft_pairs* s, const soft_block* block, int64_t first,
                       int64_t last)
{
    const int64_t sums = on->sum_count;
    for (int64_t pair = first; pair < last; pair++) {
        for (int side = 0; side < 2 && is_there(s, pair); side++) {
            const int64_t k = sum_of(s, block, pair, side);
            if (on->seen[k]++ > 0) continue;
            const int64_t number = k < SOFT_BLOCK ? k : k + block->halo;
            on->sum[on->sum_count++] = (int32_t)number | (on->begun[k] ? 0 : SUM_BEGINS);
            on->begun[k] = true;
        }
    }
    for (int64_t i = sums; i < on->sum_count; i++) {
        const int64_t number = on->sum[i] & ~SUM_BEGINS;
        const int64_t k = number < SOFT_BLOCK ? number : number - block->halo;
        on->entry_of[i] = (int32_t)on->entry_count;
        on->entry_count += on->seen[k];
        on->seen[k] = on->entry_of[i]; // where the next one goes
    }
    for (int64_t pair = first; pair < last; pair++) {
        for (int side = 0; side < 2 && is_there(s, pair); side++) {
            const int64_t k = sum_of(s, block, pair, side);
            on->entry[on->seen[k]++] = (uint16_t)((pair - first) | (side ? ENTRY_SECOND : 0));
        }
    }
    for (int64_t i = sums; i < on->sum_count; i++) {
        const int64_t number = on->sum[i] & ~SUM_BEGINS;
        on->seen[number < SOFT_BLOCK ? number : number - block->halo] = 0;
    }
}

/// Halo rows by the sphere that they belong to, block after block.
static void list_inbox(soft_card* on, const soft_pairs* s)
{
    memset(on->inbox_of, 0, sizeof *on->inbox_of * (size_t)(s->body_count + 2));
    for (int64_t i = 0; i < s->halo_count; i++) on->inbox_of[s->halo[i] + 2]++;
    for (int64_t p = 0; p < s->body_count; p++) on->inbox_of[p + 2] += on->inbox_of[p + 1];
    for (int64_t i = 0; i < s->halo_count; i++) {
        on->inbox[on->inbox_of[s->halo[i] + 1]++] = (int32_t)i;
    }
}

static talus_status list_pairs(soft_card* on, const soft_pairs* s)
{
    int64_t chunks = 0, halos = 0;
    for (int64_t b = 0; b < s->block_count; b++) {
        const soft_block* block = &s->block[b];
        const int64_t lanes = 8 * (block->batch_end - block->batch);
        chunks += (lanes + SOFT_CARD_CHUNK - 1) / SOFT_CARD_CHUNK;
        const int64_t own = block->halo_end - block->halo;
        halos = own > halos ? own : halos;
    }
    if (!arrays_renew(&on->block_capacity, s->block_count, ARRAY(on->block)) ||
        !arrays_renew(&on->chunk_capacity, chunks + 1, ARRAY(on->chunk)) ||
        !arrays_renew(&on->sum_capacity, 16 * s->batch_count + 1, ARRAY(on->sum),
                      ARRAY(on->entry_of), ARRAY(on->entry)) ||
        !arrays_renew(&on->body_capacity, s->body_count + 2, ARRAY(on->inbox_of)) ||
        !arrays_renew(&on->halo_capacity, s->halo_count, ARRAY(on->inbox)) ||
        !arrays_renew(&on->seen_capacity, SOFT_BLOCK + halos, ARRAY(on->seen), ARRAY(on->begun))) {
        return TALUS_ERR_MEMORY;
    }
    memset(on->seen, 0, sizeof *on->seen * (size_t)(SOFT_BLOCK + halos));
    on->chunk_count = on->sum_count = on->entry_count = 0;
    for (int64_t b = 0; b < s->block_count; b++) {
        const soft_block* block = &s->block[b];
        const int64_t first = 8 * block->batch, end = 8 * block->batch_end;
        memset(on->begun, 0, sizeof *on->begun * (size_t)(SOFT_BLOCK + halos));
        on->block[b] = (soft_card_block){.pair = first,
                                         .pair_end = end,
                                         .chunk = on->chunk_count,
                                         .first = block->first,
                                         .end = block->end};
        for (int64_t pair = first; pair < end; pair += SOFT_CARD_CHUNK) {
            on->chunk[on->chunk_count++] = (int32_t)on->sum_count;
            list_chunk(on, s, block, pair,
                       pair + SOFT_CARD_CHUNK < end ? pair + SOFT_CARD_CHUNK : end);
        }
        on->block[b].chunk_end = on->chunk_count;
    }
    on->chunk[on->chunk_count] = (int32_t)on->sum_count;
    on->entry_of[on->sum_count] = (int32_t)on->entry_count;
    list_inbox(on, s);
    return TALUS_OK;
}

#define PUT(name, array, count) put(on, name, array, sizeof *(array) * (size_t)(count))

static talus_status put_list(soft_card* on, const soft_particles* s)
{
    const soft_pairs* p = &s->pairs;
    const int kinds = s->laws.materials * s->laws.materials;
    TRY(list_pairs(on, p));
    PUT(BUFFER_CONSTANTS, s->laws.constants, kinds * SOFT_CONSTANTS);
    PUT(BUFFER_BLOCKS, on->block, p->block_count);
    PUT(BUFFER_WHO, p->who, 16 * p->batch_count);
    if (!s->laws.uniform) PUT(BUFFER_LAW, p->law, 8 * p->batch_count);
    PUT(BUFFER_ROOT_MASS, p->root_mass, 8 * p->batch_count);
    PUT(BUFFER_IMAGES, p->images, p->batch_count);
    PUT(BUFFER_CHUNK, on->chunk, on->chunk_count + 1);
    PUT(BUFFER_SUM, on->sum, on->sum_count);
    PUT(BUFFER_ENTRY_OF, on->entry_of, on->sum_count + 1);
    PUT(BUFFER_ENTRY, on->entry, on->entry_count);
    PUT(BUFFER_INBOX_OF, on->inbox_of, p->body_count + 1);
    PUT(BUFFER_INBOX, on->inbox, p->halo_count);
    put(on, BUFFER_OWN_SUM, NULL, sizeof(double) * SOFT_SUM * (size_t)p->body_count);
    put(on, BUFFER_HALO_SUM, NULL, sizeof(double) * SOFT_SUM * (size_t)p->halo_count);
    on->made = p->made;
    return TALUS_OK;
}

// ---- histories ---------------------------------------------------------------------------------

static talus_status put_histories(soft_card* on, const soft_pairs* p)
{
    const int64_t pairs = 8 * p->batch_count;
    if (!arrays_renew(&on->pair_capacity, pairs, ARRAY(on->state))) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < pairs; i++) {
        const int64_t batch = i / 8, lane = i % 8;
        on->state[i] = (uint8_t)((p->live[batch] >> lane & 1 ? PAIR_LIVE : 0) |
                                 (p->bonded[batch] >> lane & 1 ? PAIR_BONDED : 0) |
                                 (p->slides[batch] >> lane & 1 ? PAIR_SLIDES : 0));
    }
    PUT(BUFFER_STATE, on->state, pairs);
    PUT(BUFFER_SLIP, p->slip, 3 * pairs);
    if (p->roll) PUT(BUFFER_ROLL, p->roll, 3 * pairs);
    return TALUS_OK;
}

static void get_histories(soft_card* on, soft_pairs* p)
{
    const int64_t pairs = 8 * p->batch_count;
    get(on, BUFFER_STATE, on->state, (size_t)pairs);
    get(on, BUFFER_SLIP, p->slip, sizeof *p->slip * (size_t)(3 * pairs));
    if (p->roll) get(on, BUFFER_ROLL, p->roll, sizeof *p->roll * (size_t)(3 * pairs));
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

// ---- spheres -----------------------------------------------------------------------------------

static size_t bytes_of_rows(const soft_particles* s)
{
    return sizeof(double) * (size_t)((s->bodies.count + 2) * soft_row(3, s->geometric));
}

static size_t bytes_of_own(const soft_particles* s)
{
    const int64_t full = (s->bodies.count + SOFT_LANES - 1) / SOFT_LANES * SOFT_LANES;
    return sizeof(double) * (size_t)(full * soft_own(s->integrator != &verlet_integrator));
}

static size_t bytes_of_listed(const soft_particles* s)
{
    const int64_t full = (s->bodies.count + SOFT_LANES - 1) / SOFT_LANES * SOFT_LANES;
    return sizeof(double) * (size_t)(3 * full);
}

/// All that is not there yet, or older than here.
static talus_status put_all(soft_particles* s, const step_order* order)
{
    soft_card* on = s->card;
    const grains* g = &order->state->grains;
    if (on->made != s->pairs.made) TRY(put_list(on, s));
    put(on, BUFFER_ROW, s->bodies.row, bytes_of_rows(s));
    put(on, BUFFER_OWN, s->bodies.own, bytes_of_own(s));
    put(on, BUFFER_LISTED, s->bodies.listed, bytes_of_listed(s));
    PUT(BUFFER_ROW_OF, s->places.row_of, g->count);
    PUT(BUFFER_IMAGE, g->image, 3 * g->count);
    put(on, BUFFER_ESCAPED, NULL, (size_t)g->count);
    s->on_card = true;
    on->newer = false;
    return put_histories(on, &s->pairs);
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

talus_status soft_card_fetch(soft_particles* s, grains* g, talus_error* error)
{
    soft_card* on = s->card;
    if (!s->on_card || !on->newer) return TALUS_OK;
    get(on, BUFFER_ROW, s->bodies.row, bytes_of_rows(s));
    get(on, BUFFER_OWN, s->bodies.own, bytes_of_own(s));
    repeat_last(s);
    get(on, BUFFER_IMAGE, g->image, sizeof *g->image * (size_t)(3 * g->count));
    get_histories(on, &s->pairs);
    on->newer = false;
    return card_state(on->card, error);
}

// ---- a step ------------------------------------------------------------------------------------

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
                         .blocks = b[BUFFER_BLOCKS].at,
                         .who = b[BUFFER_WHO].at,
                         .law = b[BUFFER_LAW].at,
                         .root_mass = b[BUFFER_ROOT_MASS].at,
                         .images = b[BUFFER_IMAGES].at,
                         .slip = b[BUFFER_SLIP].at,
                         .roll = b[BUFFER_ROLL].at,
                         .state = b[BUFFER_STATE].at,
                         .sums = {.chunk = b[BUFFER_CHUNK].at,
                                  .sum = b[BUFFER_SUM].at,
                                  .entry_of = b[BUFFER_ENTRY_OF].at,
                                  .entry = b[BUFFER_ENTRY].at,
                                  .inbox_of = b[BUFFER_INBOX_OF].at,
                                  .inbox = b[BUFFER_INBOX].at,
                                  .own = b[BUFFER_OWN_SUM].at,
                                  .halo = b[BUFFER_HALO_SUM].at},
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
    get(s->card, BUFFER_OWN_SUM, s->pairs.sum, sizeof(double) * SOFT_SUM * (size_t)count);
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
    const bool there = s->on_card && on->made == s->pairs.made;
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
    s->in_rows = s->on_card = to_next;
    if (to_next) soft_rows_filled(s, s->bodies.count);
    return TALUS_OK;
}
