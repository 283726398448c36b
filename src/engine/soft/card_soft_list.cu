/// The list of pairs of soft spheres made on a card, from their rows (card_jobs.h). Which pairs it
/// has does not matter for the forces, as long as it has all that may touch: those that do not add
/// zeros.
#include "card/phases.h"

CARD_HEADERS
#include "soft/card_jobs.h"
CARD_HEADERS_END

/// Neighbours of a sphere in later places at most; with spheres of nearly one size there are some
/// twelve.
enum { NEIGHBOURS = 48 };

// ---- cells -------------------------------------------------------------------------------------

/// Where a sphere is in the grid, without going round, and in which cell.
CARD_INLINE void find_cell(const soft_list_job* job, int64_t place, int32_t at[3])
{
    const double* x = job->row + place * job->row_length;
    for (int k = 0; k < 3; k++) at[k] = (int32_t)floor((x[k] - job->low[k]) / job->side[k]);
}

CARD_INLINE int32_t go_round(int32_t at, int32_t cells)
{
    const int32_t rest = at % cells;
    return rest < 0 ? rest + cells : rest;
}

CARD_INLINE int32_t number_of(const soft_list_job* job, const int32_t at[3])
{
    const int32_t* n = job->cells;
    return (go_round(at[2], n[2]) * n[1] + go_round(at[1], n[1])) * n[0] + go_round(at[0], n[0]);
}

CARD_INLINE int32_t cell_of(const soft_list_job* job, int64_t place)
{
    int32_t at[3];
    find_cell(job, place, at);
    return number_of(job, at);
}

CARD_KERNEL(list_count_cells, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t place = card_item(here, t);
        if (place >= job.count) continue;
        card_add((uint32_t*)&job.cell_first[cell_of(&job, place)], 1);
    }
}

/// Members in any order; afterwards the first of each cell is that of the next one.
CARD_KERNEL(list_fill_cells, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t place = card_item(here, t);
        if (place >= job.count) continue;
        job.member[card_add((uint32_t*)&job.cell_first[cell_of(&job, place)], 1)] = (int32_t)place;
    }
}

// ---- pairs -------------------------------------------------------------------------------------

/// May two spheres touch while the list serves?
CARD_INLINE bool are_near(const soft_list_job* job, const double* a, const double* b)
{
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = b[k] - a[k];
    cell_nearest(&job->periodic, 3, d);
    const double reach = a[3] + b[3] + job->room;
    if (a[7] == 0.0 && b[7] == 0.0) return false; // inverse masses: nothing moves
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < reach * reach;
}

CARD_INLINE void insert(int32_t* list, int count, int32_t x)
{
    int k = count;
    for (; k > 0 && list[k - 1] > x; k--) list[k] = list[k - 1];
    list[k] = x;
}

/// The later places whose spheres a sphere may touch, ascending, or only their number. Cells that
/// go round may be the same for two neighbours: their members are asked where they are.
CARD_INLINE int find_later(const soft_list_job* job, int64_t place, int32_t* later)
{
    const double* row = job->row + place * job->row_length;
    int32_t at[3], by[3], other[3];
    int count = 0;
    find_cell(job, place, at);
    for (int k = 0; k < 27; k++) {
        const int32_t step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        for (int i = 0; i < 3; i++) by[i] = at[i] + step[i];
        const int32_t number = number_of(job, by);
        const int32_t first = number > 0 ? job->cell_first[number - 1] : 0;
        for (int32_t m = first; m < job->cell_first[number]; m++) {
            const int32_t q = job->member[m];
            if (q <= place || !are_near(job, row, job->row + (int64_t)q * job->row_length))
                continue;
            find_cell(job, q, other);
            bool here = true;
            for (int i = 0; i < 3; i++) {
                const bool round = job->periodic.periodic[i];
                here = here &&
                       (round ? go_round(other[i] - by[i], job->cells[i]) == 0 : other[i] == by[i]);
            }
            if (!here) continue;
            if (later && count < NEIGHBOURS) insert(later, count, q);
            count++;
        }
    }
    return count;
}

CARD_KERNEL(list_count_pairs, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t place = card_item(here, t);
        if (place >= job.count) continue;
        const int count = find_later(&job, place, NULL);
        if (count > NEIGHBOURS) card_add(job.failures, 1);
        job.pairs_of[place] = count;
    }
}

CARD_INLINE int64_t end_of_block(const soft_list_job* job, int64_t block)
{
    const int64_t end = (block + 1) * SOFT_BLOCK;
    return end < job->count ? end : job->count;
}

CARD_KERNEL(list_count_batches, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t block = card_item(here, t);
        if (block >= job.blocks) continue;
        const int32_t pairs =
            job.pairs_of[end_of_block(&job, block)] - job.pairs_of[block * SOFT_BLOCK];
        job.batch_of[block] = (pairs + SOFT_LANES - 1) / SOFT_LANES;
    }
}

/// What is remembered of a pair, if it was in the last list.
CARD_INLINE void copy_history(const soft_list_job* job, int32_t p, int32_t q, int64_t pair)
{
    const soft_card_list *old = &job->old, *list = &job->list;
    const int64_t block = p / SOFT_BLOCK;
    const int32_t end =
        p + 1 < end_of_block(job, block) ? old->first_of[p + 1] : old->blocks[block].pair_end;
    const int64_t to = 24 * (pair / SOFT_LANES) + pair % SOFT_LANES;
    list->state[pair] = 0;
    for (int k = 0; k < 3; k++) {
        list->slip[to + 8 * k] = 0.0;
        if (job->rolls) list->roll[to + 8 * k] = 0.0;
    }
    for (int32_t was = old->first_of[p]; was < end; was++) {
        const int64_t batch = was / SOFT_LANES, lane = was % SOFT_LANES;
        if (old->who[16 * batch + SOFT_LANES + lane] != q * job->row_length) continue;
        if (!(old->state[was] & PAIR_LIVE)) return; // it has none
        list->state[pair] = old->state[was];
        for (int k = 0; k < 3; k++) {
            list->slip[to + 8 * k] = old->slip[24 * batch + 8 * k + lane];
            if (job->rolls) list->roll[to + 8 * k] = old->roll[24 * batch + 8 * k + lane];
        }
        return;
    }
}

CARD_INLINE void write_pair(const soft_list_job* job, int32_t p, int32_t q, int64_t pair)
{
    const soft_card_list* list = &job->list;
    int32_t* who = list->who + 16 * (pair / SOFT_LANES) + pair % SOFT_LANES;
    who[0] = p * job->row_length;
    who[SOFT_LANES] = q * job->row_length;
    list->root_mass[pair] = 1.0 / sqrt(job->row[who[0] + 7] + job->row[who[SOFT_LANES] + 7]);
    if (!job->uniform) {
        list->law[pair] = job->law_of[job->material[p] * job->materials + job->material[q]];
    }
    copy_history(job, p, q, pair);
    card_add((uint32_t*)&list->incoming_of[q], 1);
}

/// Two bodies that are not there, as in pairs.c.
CARD_INLINE void write_nobody(const soft_list_job* job, int64_t pair)
{
    const soft_card_list* list = &job->list;
    int32_t* who = list->who + 16 * (pair / SOFT_LANES) + pair % SOFT_LANES;
    who[0] = (int32_t)job->count * job->row_length;
    who[SOFT_LANES] = who[0] + job->row_length;
    list->root_mass[pair] = 0.0;
    list->state[pair] = 0;
    if (!job->uniform) list->law[pair] = 0;
}

CARD_KERNEL(list_write_pairs, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t place = card_item(here, t), block = place / SOFT_BLOCK;
        int32_t later[NEIGHBOURS];
        if (place >= job.count) continue;
        const int64_t begin = block * SOFT_BLOCK, end = end_of_block(&job, block);
        const int32_t first = job.batch_of[block] * SOFT_LANES;
        const int32_t own = first + job.pairs_of[place] - job.pairs_of[begin];
        const int32_t pair_end = first + job.pairs_of[end] - job.pairs_of[begin];
        const int count = find_later(&job, place, later);
        job.list.first_of[place] = own;
        for (int k = 0; k < count && k < NEIGHBOURS; k++) {
            write_pair(&job, (int32_t)place, later[k], own + k);
        }
        for (int k = 0; k < 3; k++) {
            job.listed[place / SOFT_LANES * 3 * SOFT_LANES + k * SOFT_LANES + place % SOFT_LANES] =
                job.row[place * job.row_length + k];
        }
        if (place > begin) continue;
        job.list.blocks[block].pair = first;
        job.list.blocks[block].pair_end = pair_end;
        for (int64_t pair = pair_end; pair < job.batch_of[block + 1] * SOFT_LANES; pair++) {
            write_nobody(&job, pair);
        }
    }
}

// ---- what is found from the pairs --------------------------------------------------------------

CARD_KERNEL(list_fill_incoming, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t pair = card_item(here, t);
        if (pair >= job.batches * SOFT_LANES) continue;
        const int32_t* who = job.list.who + 16 * (pair / SOFT_LANES) + pair % SOFT_LANES;
        const int32_t q = who[SOFT_LANES] / job.row_length;
        if (q >= job.count) continue;
        job.list.incoming[card_add((uint32_t*)&job.next[q], 1)] = (int32_t)pair;
    }
}

CARD_KERNEL(list_sort_incoming, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t place = card_item(here, t);
        if (place >= job.count) continue;
        int32_t* list = job.list.incoming + job.list.incoming_of[place];
        const int count = job.list.incoming_of[place + 1] - job.list.incoming_of[place];
        for (int k = 1; k < count; k++) insert(list, k, list[k]);
    }
}

CARD_KERNEL(list_find_images, soft_list_job, SOFT_CARD_LIST)
{
    LAST_PHASE (t) {
        const int64_t batch = card_item(here, t);
        if (batch >= job.batches) continue;
        const int32_t* who = job.list.who + 16 * batch;
        bool images = false;
        for (int lane = 0; lane < SOFT_LANES; lane++) {
            if (who[lane] >= job.count * job.row_length) continue;
            images = images || soft_meets_border(&job.periodic, 3, job.skin, job.row + who[lane],
                                                 job.row + who[SOFT_LANES + lane]);
        }
        job.list.images[batch] = images;
    }
}
