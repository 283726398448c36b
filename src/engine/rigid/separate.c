#include "rigid/separate.h"

#include "base/array.h"
#include "base/error.h"
#include "base/forest.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "detect/narrow.h"
#include "state/drive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Contacts are pushed to this part of what is allowed, so that they are not pushed again at once,
/// and a push below this part of it is not worth the neighbours' trouble.
static const double AIM = 0.5, WORTHWHILE = 0.02;
/// An overlap that came about in the step is taken back. One that was there before it is pushed
/// apart by at most so many times what is allowed in one step: a chain of grains that were placed
/// with deep overlaps stretches from step to step, each going as far as it may.
static const double GENTLE = 10.0;
/// Pushes that a pass may look at: times the contacts, and at least. Where an overlap is then left
/// that is so many times what is allowed, it may look at so many times as many once more: pushes
/// that end on their way have put it from where it came about to a neighbour.
enum { LOOKS_PER_CONTACT = 2, LEAST_LOOKS = 1000, MORE_LOOKS = 2 };
static const double DEEP = 3.0;
/// No overlap may be made deeper than this, in units of what is allowed, to take others apart.
static const double DEEPEST = 100.0;
/// A round takes the neighbours in of what was moved in the one before, and goes over all so often.
enum { MOST_ROUNDS = 32, SWEEPS_OF_ROUND = 8 };
/// Room for a body's displacement: translation and turn.
enum { MOVED = 6 };

/// From so many pushes on these are cut into blocks, which are coloured: no two of a colour move
/// the same body. Within a block, and where there are fewer, they are made one after the other:
/// along a chain of grains that carries a push farther than any order by colours.
enum { PUSHES_FOR_THREADS = 100000, BLOCK = 8192, COLOURS = 64 };

typedef struct push_block {
    int64_t first, last; ///< pushes
    int colour;          ///< COLOURS: none was left
} push_block;

/// A contact that is looked at.
typedef struct push {
    int32_t body_a, body_b; ///< -1: nothing can move it
    double n[3];            ///< from a to b
    double gap;             ///< after the step, before the pass
    double allowed;         ///< overlap that is left alone
    double aim;             ///< gap to push it to, below 0
    double answer_a[MOVED]; ///< displacements and turns under a push of 1
    double answer_b[MOVED];
    double turn_a[3]; ///< how the gap changes with the bodies' turns
    double turn_b[3];
    double response;   ///< of the gap
    double size;       ///< of the push so far, a length times a mass
    int64_t looked_at; ///< turn in which it was looked at
} push;

/// What a pass works on.
typedef struct pass {
    separation_work* s;
    physical_state* state;
    const contact_dynamics* method;
    int threads;
    bool bonds;                 ///< some contact is bonded
    int64_t bodies;             ///< grains and walls
    int64_t count;              ///< rows of s->push
    int64_t touched;            ///< rows of s->touched_row
    int64_t turns;              ///< a clock: no two pushes of a body are made in the same turn
    int64_t blocks;             ///< rows of s->block
    int64_t made, left;         ///< pushes made, looks left
    int64_t more;               ///< looks that are added once if they do not do
    int64_t first[COLOURS + 1]; ///< block of each colour in s->turn, at the end those without one
} pass;

void separation_free(separation_work* s)
{
    free(s->push);
    free(s->block);
    free(s->turn);
    free(s->gap);
    free(s->colours);
    free(s->listed);
    free(s->chosen);
    free(s->touched);
    free(s->moved);
    free(s->room);
    free(s->moved_at);
    free(s->touched_row);
    free(s->leader_moved);
    free(s->group);
    free(s->leader);
    free(s->members);
    free(s->inverse_mass);
    free(s->least_room);
    *s = (separation_work){0};
}

double overlap_thickness(const grains* g, const contacts* list, int64_t c)
{
    const double of_b = grain_thickness(g, list->b_row[c]);
    return list->a_row[c] < 0 ? of_b : fmin(of_b, grain_thickness(g, list->a_row[c]));
}

// ---- bodies ------------------------------------------------------------------------------------

/// Number of the body that a contact's side belongs to: a grain, or the wall that it is or is glued
/// to.
static int32_t number_of(const physical_state* state, int32_t row)
{
    const int wall = row < 0 ? -1 - row : state->grains.glued_to[row];
    return wall >= 0 ? (int32_t)(state->grains.count + wall) : row;
}

static bool is_joined(const pass* p, int32_t number)
{
    return p->bonds && p->s->members[p->s->leader[number]] > 1;
}

/// The body that moves when a push acts on a contact's side, -1: none.
static int32_t body_of(const pass* p, int32_t row)
{
    const grains* g = &p->state->grains;
    const walls* w = &p->state->walls;
    const int32_t number = number_of(p->state, row);
    if (is_joined(p, number)) {
        const int32_t leader = p->s->leader[number];
        return p->s->inverse_mass[leader] > 0.0 ? leader : -1;
    }
    if (number < g->count) return g->inv_mass[number] > 0.0 ? number : -1;
    const int wall = (int)(number - g->count);
    return w->present[wall] && wall_is_mobile(w, wall) ? number : -1;
}

/// How far a body may be moved that no bond joins to others. What is glued to a wall goes with it.
static double room_of(const pass* p, int32_t number)
{
    const grains* g = &p->state->grains;
    double room = contact_dynamics_room(p->method, p->state, number);
    for (int64_t i = 0; number >= g->count && i < g->count; i++) {
        if (g->glued_to[i] != number - g->count) continue;
        room = fmin(room, contact_dynamics_room(p->method, p->state, i));
    }
    return room;
}

/// Who is joined by bonds: a leader, the mass and the least room of all together.
static talus_status join_bonded(pass* p)
{
    separation_work* s = p->s;
    const grains* g = &p->state->grains;
    const contacts* list = &p->state->contacts;
    const int64_t bodies = g->count + p->state->walls.count;
    p->bonds = list->count > 0 && memchr(list->bonded, 1, (size_t)list->count);
    if (!p->bonds) return TALUS_OK;
    if (!arrays_renew(&s->bond_capacity, bodies, ARRAY(s->leader), ARRAY(s->members),
                      ARRAY(s->inverse_mass), ARRAY(s->least_room))) {
        return TALUS_ERR_MEMORY;
    }
    for (int32_t i = 0; i < bodies; i++) {
        s->leader[i] = i;
        s->members[i] = 0;
        s->inverse_mass[i] = 0.0; // a mass at first
        s->least_room[i] = INFINITY;
    }
    for (int64_t c = 0; c < list->count; c++) {
        if (!list->bonded[c]) continue;
        forest_join(s->leader, number_of(p->state, list->a_row[c]),
                    number_of(p->state, list->b_row[c]));
    }
    for (int32_t i = 0; i < bodies; i++) {
        const int32_t leader = s->leader[i] = forest_root(s->leader, i);
        const bool moves = i < g->count && g->inv_mass[i] > 0.0;
        s->members[leader]++;
        s->inverse_mass[leader] += moves ? g->mass[i] : INFINITY;
        if (moves) s->least_room[leader] = fmin(s->least_room[leader], room_of(p, i));
    }
    for (int32_t i = 0; i < bodies; i++) s->inverse_mass[i] = 1.0 / s->inverse_mass[i];
    return TALUS_OK;
}

/// Displacement and turn of a body under a push of 1 on contact c, towards b (`side` 1) or a (-1):
/// answer[]. turn[] receives how its turn changes the gap. Returns what the gap gains.
static double answer_of(const pass* p, int64_t c, int32_t body, double side, const double n[3],
                        double answer[MOVED], double turn[3])
{
    const grains* g = &p->state->grains;
    const contacts* list = &p->state->contacts;
    const int dim = g->dim;
    if (body < 0) return 0.0;
    if (body >= g->count) {
        double mobility[9];
        drive_mobility(&p->state->walls, (int)(body - g->count), dim, mobility);
        for (int k = 0; k < dim; k++) answer[k] = side * vec_dot(dim, mobility + k * dim, n);
        return side * vec_dot(3, n, answer);
    }
    const bool joined = is_joined(p, body);
    const double im = joined ? p->s->inverse_mass[body] : g->inv_mass[body];
    for (int k = 0; k < 3; k++) answer[k] = side * im * n[k];
    if (joined || g->solid[body] < 0 || !(g->spin_mobility[body] > 0.0)) return im;
    // The point is that of the step's start, as far from where the centre was then.
    double arm[3] = {0.0, 0.0, 0.0}, lever[3], matrix[9];
    vec_sub(dim, arm, list->point + c * dim, g->position + (int64_t)body * dim);
    vec_add_scaled(dim, arm, contact_dynamics_length(p->method), g->velocity + (int64_t)body * dim);
    cell_nearest(&p->state->cell, dim, arm);
    vec_cross(lever, arm, n);
    grain_turning(g, body, matrix);
    for (int k = 0; k < (dim == 2 ? 1 : 3); k++) {
        turn[k] = dim == 2
                      ? matrix[0] * lever[2]
                      : matrix[k] * lever[0] + matrix[3 + k] * lever[1] + matrix[6 + k] * lever[2];
        turn[k] *= side;
        answer[3 + k] = g->spin_mobility[body] * turn[k];
    }
    return im + vec_dot(3, turn, answer + 3);
}

// ---- which contacts ----------------------------------------------------------------------------

static double gap_now(const pass* p, narrow_scratch* scratch, int64_t c)
{
    const physical_state* state = p->state;
    return narrow_gap(&state->grains, &state->walls, &state->cell, &state->poses, scratch,
                      &state->contacts, c, 0.0);
}

static double allowed_at(const pass* p, int64_t c)
{
    return OVERLAP_ALLOWED * overlap_thickness(&p->state->grains, &p->state->contacts, c);
}

/// Is a contact to be taken in? First those that overlap too far, then those of bodies that moved.
static bool is_concerned(const pass* p, narrow_scratch* scratch, int64_t c, bool first)
{
    const contacts* list = &p->state->contacts;
    if (p->s->listed[c]) return false;
    if (first && !contact_dynamics_may_overlap(p->method, p->state, c)) return false;
    const int32_t a = body_of(p, list->a_row[c]), b = body_of(p, list->b_row[c]);
    if (a == b) return false;
    if (!first) return (a >= 0 && p->s->touched[a]) || (b >= 0 && p->s->touched[b]);
    const physical_state* state = p->state;
    return narrow_overlap(&state->grains, &state->walls, &state->cell, &state->poses, scratch, list,
                          c, 0.0) > allowed_at(p, c);
}

static push push_at(const pass* p, narrow_scratch* scratch, int64_t c)
{
    const contacts* list = &p->state->contacts;
    push x = {.body_a = body_of(p, list->a_row[c]),
              .body_b = body_of(p, list->b_row[c]),
              .gap = gap_now(p, scratch, c),
              .allowed = allowed_at(p, c),
              .looked_at = -1};
    const double before = fmax(x.gap, fmin(list->gap[c], 0.0));
    x.aim = fmin(-AIM * x.allowed, before + GENTLE * x.allowed);
    vec_copy(list->dim, x.n, list->normal + c * list->dim);
    x.response = answer_of(p, c, x.body_a, -1.0, x.n, x.answer_a, x.turn_a) +
                 answer_of(p, c, x.body_b, 1.0, x.n, x.answer_b, x.turn_b);
    return x;
}

/// Colours of the blocks with a body of a push.
static uint64_t colours_at(const separation_work* s, const push* x)
{
    return (x->body_a >= 0 ? s->colours[x->body_a] : 0) |
           (x->body_b >= 0 ? s->colours[x->body_b] : 0);
}

/// Cut the pushes that are in no block yet into blocks, and give these the lowest colour that no
/// block with one of their bodies has; then put all in the order of colours.
static talus_status colour_blocks(pass* p)
{
    separation_work* s = p->s;
    int64_t done = 0;
    if (p->count < PUSHES_FOR_THREADS) return TALUS_OK;
    if (p->blocks == 0) memset(s->colours, 0, sizeof *s->colours * (size_t)p->bodies);
    if (p->blocks > 0) done = s->block[p->blocks - 1].last;
    const int64_t more = (p->count - done + BLOCK - 1) / BLOCK;
    if (!arrays_grow(&s->block_capacity, p->blocks + more, ARRAY(s->block), ARRAY(s->turn))) {
        return TALUS_ERR_MEMORY;
    }
    while (done < p->count) {
        push_block* x = &s->block[p->blocks++];
        uint64_t used = 0;
        *x = (push_block){done, done + BLOCK < p->count ? done + BLOCK : p->count, COLOURS};
        for (int64_t i = x->first; i < x->last; i++) used |= colours_at(s, &s->push[i]);
        if (used != UINT64_MAX) x->colour = __builtin_ctzll(~used);
        for (int64_t i = x->first; i < x->last && x->colour < COLOURS; i++) {
            const push* of = &s->push[i];
            if (of->body_a >= 0) s->colours[of->body_a] |= UINT64_C(1) << x->colour;
            if (of->body_b >= 0) s->colours[of->body_b] |= UINT64_C(1) << x->colour;
        }
        done = x->last;
    }
    int64_t placed = 0;
    for (int colour = 0; colour <= COLOURS; colour++) {
        p->first[colour] = placed;
        for (int64_t k = 0; k < p->blocks; k++) {
            if (s->block[k].colour == colour) s->turn[placed++] = (int32_t)k;
        }
    }
    return TALUS_OK;
}

/// Take contacts in, in the order of the list; *more tells whether there were any.
static talus_status take_in(pass* p, bool first, bool* more)
{
    separation_work* s = p->s;
    const int64_t count = p->state->contacts.count, before = p->count;
    const int chunks = parallel_chunks(count), threads = parallel_threads(p->threads, count);
    int64_t found[PARALLEL_CHUNKS];
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int k = 0; k < chunks; k++) {
        const int64_t start = parallel_first(count, k), end = parallel_first(count, k + 1);
        narrow_scratch scratch = {0};
        found[k] = 0;
        for (int64_t c = start; c < end; c++) {
            if (!is_concerned(p, &scratch, c, first)) continue;
            s->chosen[start + found[k]++] = (int32_t)c;
            s->listed[c] = 1;
        }
        narrow_scratch_free(&scratch);
    }
    int64_t at[PARALLEL_CHUNKS];
    for (int k = 0; k < chunks; k++) {
        at[k] = p->count;
        p->count += found[k];
    }
    *more = p->count > before;
    if (!*more) return TALUS_OK;
    if (!arrays_grow(&s->push_capacity, p->count, ARRAY(s->push), ARRAY(s->gap))) {
        return TALUS_ERR_MEMORY;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int k = 0; k < chunks; k++) {
        narrow_scratch scratch = {0};
        for (int64_t i = 0; i < found[k]; i++) {
            s->push[at[k] + i] = push_at(p, &scratch, s->chosen[parallel_first(count, k) + i]);
        }
        narrow_scratch_free(&scratch);
    }
    return colour_blocks(p);
}

// ---- one contact -------------------------------------------------------------------------------

/// The contact's gap with the displacements so far.
static double gap_moved(const pass* p, const push* x)
{
    const separation_work* s = p->s;
    double gap = x->gap;
    for (int side = 0; side < 2; side++) {
        const int32_t body = side == 0 ? x->body_a : x->body_b;
        if (body < 0 || !s->touched[body]) continue;
        const double* moved = s->moved + (int64_t)body * MOVED;
        gap += (side == 0 ? -1.0 : 1.0) * vec_dot(3, x->n, moved) +
               vec_dot(3, side == 0 ? x->turn_a : x->turn_b, moved + 3);
    }
    return gap;
}

/// Ready to be moved, if it can be.
static void touch_body(const pass* p, int32_t body)
{
    separation_work* s = p->s;
    if (body < 0 || s->touched[body]) return;
    s->touched[body] = 1;
    for (int k = 0; k < MOVED; k++) s->moved[(int64_t)body * MOVED + k] = 0.0;
    s->moved_at[body] = -1;
    s->room[body] = is_joined(p, body) ? s->least_room[body] : room_of(p, body);
}

/// How far a body has been moved, at most, if `change` times its answer is added.
static double way_with(const pass* p, int32_t body, double change, const double answer[MOVED])
{
    const grains* g = &p->state->grains;
    double moved[MOVED], angle[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < MOVED; k++) {
        moved[k] = p->s->moved[(int64_t)body * MOVED + k] + change * answer[k];
    }
    const double way = vec_norm(3, moved);
    if (body >= g->count || g->solid[body] < 0) return way;
    grain_spin_of_w(g, body, moved + 3, angle);
    return way + g->radius[body] * vec_norm(spin_width(g->dim), angle);
}

/// As much of a push as a body's room allows; what takes it back towards its place always goes.
static double within_room(const pass* p, int32_t body, const double answer[MOVED], double change)
{
    if (body < 0) return change;
    const double room = fmax(p->s->room[body], 0.0), way = way_with(p, body, change, answer);
    if (way <= room) return change;
    const double before = way_with(p, body, 0.0, answer);
    if (way <= before) return change;
    // The way is convex in the push: between both it is below the straight line.
    return before < room ? change * (room - before) / (way - before) : 0.0;
}

static void move(const pass* p, int32_t body, double change, const double answer[MOVED],
                 int64_t turn)
{
    separation_work* s = p->s;
    if (body < 0) return;
    for (int k = 0; k < MOVED; k++) s->moved[(int64_t)body * MOVED + k] += change * answer[k];
    s->moved_at[body] = turn;
}

static bool unchanged_since(const pass* p, int32_t body, int64_t when)
{
    return body < 0 || !p->s->touched[body] || p->s->moved_at[body] <= when;
}

/// Push one contact apart as far as it needs, or take back of its push what is no longer needed.
/// True if that changed anything; *looks counts up if it was looked at.
static bool push_apart(const pass* p, push* x, int64_t turn, int64_t* looks)
{
    if (x->looked_at >= 0 && unchanged_since(p, x->body_a, x->looked_at) &&
        unchanged_since(p, x->body_b, x->looked_at)) {
        return false;
    }
    ++*looks;
    const double gap = gap_moved(p, x);
    x->looked_at = turn;
    if (!(x->response > 0.0) || (x->size == 0.0 && gap >= fmin(-x->allowed, x->aim))) {
        return false;
    }
    touch_body(p, x->body_a);
    touch_body(p, x->body_b);
    double change = fmax(x->size + (x->aim - gap) / x->response, 0.0) - x->size;
    change = within_room(p, x->body_a, x->answer_a, change);
    change = within_room(p, x->body_b, x->answer_b, change);
    if (fabs(change) * x->response <= WORTHWHILE * x->allowed) return false;
    x->size += change;
    move(p, x->body_a, change, x->answer_a, turn);
    move(p, x->body_b, change, x->answer_b, turn);
    return true;
}

// ---- the pass ----------------------------------------------------------------------------------

/// The largest overlap of some contacts, in units of what is allowed.
static void find_deepest(void* data, int64_t first, int64_t last, double* deepest)
{
    const pass* p = data;
    for (int64_t i = first; i < last; i++) {
        *deepest = fmax(*deepest, -gap_moved(p, &p->s->push[i]) / p->s->push[i].allowed);
    }
}

/// Are there looks left, or is what they leave deep enough to go on?
static bool may_look(pass* p)
{
    double deepest;
    if (p->left > 0 || p->more == 0) return p->left > 0;
    parallel_reduce(p->threads, p->count, PARALLEL_MAX, 1, find_deepest, p, &deepest);
    p->left = deepest > DEEP ? p->more : 0;
    p->more = 0;
    return p->left > 0;
}

/// What pushes have cost and done.
typedef struct push_counts {
    int64_t looks, made;
} push_counts;

/// Push the contacts [first, last) one after the other, in turns from `turn` on.
static push_counts push_some(const pass* p, int64_t first, int64_t last, int64_t turn)
{
    push_counts out = {0};
    for (int64_t i = first; i < last; i++) {
        out.made += push_apart(p, &p->s->push[i], turn + i - first, &out.looks);
    }
    return out;
}

/// Push all contacts once by threads: blocks of a colour side by side, those without one alone.
static push_counts push_blocks(pass* p)
{
    const separation_work* s = p->s;
    int64_t looks = 0, made = 0;
#pragma omp parallel num_threads(p->threads) if (p->threads > 1) reduction(+ : looks, made)
    for (int colour = 0; colour < COLOURS; colour++) {
        if (p->first[colour] == p->first[colour + 1]) continue;
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = p->first[colour]; k < p->first[colour + 1]; k++) {
            const push_block* x = &s->block[s->turn[k]];
            const push_counts of = push_some(p, x->first, x->last, p->turns + colour * BLOCK);
            looks += of.looks;
            made += of.made;
        }
    }
    p->turns += COLOURS * BLOCK;
    for (int64_t k = p->first[COLOURS]; k < p->blocks; k++, p->turns += BLOCK) {
        const push_block* x = &s->block[s->turn[k]];
        const push_counts of = push_some(p, x->first, x->last, p->turns);
        looks += of.looks;
        made += of.made;
    }
    return (push_counts){looks, made};
}

/// Push all contacts once. True if that changed anything.
static bool push_all(pass* p)
{
    push_counts of;
    if (p->count < PUSHES_FOR_THREADS) {
        of = push_some(p, 0, p->count, p->turns);
        p->turns += p->count;
    } else {
        of = push_blocks(p);
    }
    p->left -= of.looks;
    p->made += of.made;
    return of.made > 0;
}

/// What the pass did to bodies that were moved together.
struct separation_group {
    double before, after; ///< squares of what contacts overlap too far, in units of what is allowed
    double deepest_before, deepest_after; ///< overlap, in the same units
};

static void judge_push(separation_group* group, double gap_before, double gap_after, double allowed)
{
    const double before = -gap_before / allowed, after = -gap_after / allowed;
    group->before += before > 1.0 ? (before - 1.0) * (before - 1.0) : 0.0;
    group->after += after > 1.0 ? (after - 1.0) * (after - 1.0) : 0.0;
    group->deepest_before = fmax(group->deepest_before, before);
    group->deepest_after = fmax(group->deepest_after, after);
}

/// Grains wedged between walls cannot be taken apart: pushes would only carry the overlap to
/// another place, step by step deeper (in a heap of rods as long as half the bin it grew to a third
/// of their thickness). Better as they are than worse: what pushes did to bodies that hang together
/// is kept only if their contacts are better off, and none is too deep for it. False if nothing is.
static bool keep_what_helps(pass* p)
{
    separation_work* s = p->s;
    int64_t kept = 0;
    for (int32_t i = 0; i < p->bodies; i++) {
        if (!s->touched[i]) continue;
        s->touched_row[p->touched++] = i;
        s->leader_moved[i] = i;
        s->group[i] = (separation_group){.before = 0.0};
    }
#pragma omp parallel for num_threads(parallel_threads(p->threads, p->count)) schedule(static)
    for (int64_t i = 0; i < p->count; i++) {
        const push* x = &s->push[i];
        const bool both =
            x->body_a >= 0 && x->body_b >= 0 && s->touched[x->body_a] && s->touched[x->body_b];
        s->gap[i] = gap_moved(p, x);
        if (both && (x->size > 0.0 || s->gap[i] < -x->allowed)) {
            forest_join(s->leader_moved, x->body_a, x->body_b);
        }
    }
    for (int64_t i = 0; i < p->count; i++) {
        const push* x = &s->push[i];
        const double now = s->gap[i];
        int32_t last = -1;
        for (int side = 0; side < 2; side++) {
            const int32_t body = side == 0 ? x->body_a : x->body_b;
            if (body < 0 || !s->touched[body]) continue;
            const int32_t leader = forest_root(s->leader_moved, body);
            if (leader != last) judge_push(&s->group[leader], x->gap, now, x->allowed);
            last = leader;
        }
    }
    for (int64_t i = 0; i < p->touched; i++) {
        const int32_t body = s->touched_row[i];
        const separation_group* group = &s->group[forest_root(s->leader_moved, body)];
        s->touched[body] = group->after < group->before &&
                           group->deepest_after <= fmax(group->deepest_before, DEEPEST);
        kept += s->touched[body];
    }
    return kept > 0;
}

static void shift_grain(physical_state* state, int64_t row, const double* by)
{
    grains* g = &state->grains;
    const int dim = g->dim;
    vec_add_scaled(dim, g->position + row * dim, 1.0, by);
    cell_wrap(&state->cell, dim, g->position + row * dim, g->image + row * dim);
}

static void carry_out(const pass* p)
{
    const separation_work* s = p->s;
    physical_state* state = p->state;
    grains* g = &state->grains;
    bool walls_moved = false, joined_moved = false;
    for (int64_t i = 0; i < p->touched; i++) {
        const int32_t body = s->touched_row[i];
        const double* moved = s->moved + (int64_t)body * MOVED;
        if (!s->touched[body]) continue;
        if (is_joined(p, body)) {
            joined_moved = true;
        } else if (body >= g->count) {
            vec_add_scaled(3, state->walls.position + 3 * (body - g->count), 1.0, moved);
            walls_moved = true;
        } else {
            shift_grain(state, body, moved);
            if (g->solid[body] >= 0) grain_rotate(g, body, moved + 3);
        }
    }
    for (int32_t i = 0; joined_moved && i < g->count; i++) {
        const int32_t leader = s->leader[i];
        if (!is_joined(p, i) || !s->touched[leader]) continue;
        shift_grain(state, i, s->moved + (int64_t)leader * MOVED);
    }
    if (walls_moved) drive_carry_grains(&state->walls, &state->cell, g, p->threads);
}

talus_status separate_overlaps(separation_work* s, physical_state* state,
                               const contact_dynamics* method, int threads, bool* separated)
{
    const contacts* list = &state->contacts;
    const int64_t bodies = state->grains.count + state->walls.count;
    pass p = {.s = s, .state = state, .method = method, .threads = threads, .bodies = bodies};
    *separated = false;
    if (!arrays_renew(&s->contact_capacity, list->count, ARRAY(s->listed), ARRAY(s->chosen)) ||
        !arrays_renew(&s->body_capacity, bodies, ARRAY(s->touched), ROWS(s->moved, MOVED),
                      ARRAY(s->room), ARRAY(s->moved_at), ARRAY(s->touched_row), ARRAY(s->colours),
                      ARRAY(s->leader_moved), ARRAY(s->group))) {
        return TALUS_ERR_MEMORY;
    }
    if (list->count == 0) return TALUS_OK;
    memset(s->listed, 0, (size_t)list->count);
    memset(s->touched, 0, (size_t)bodies);
    TRY(join_bonded(&p));
    p.left = LOOKS_PER_CONTACT * list->count + LEAST_LOOKS;
    p.more = MORE_LOOKS * p.left;
    for (int round = 0; round < MOST_ROUNDS && may_look(&p); round++) {
        bool more = false, changed = true;
        TRY(take_in(&p, round == 0, &more));
        if (!more) break;
        for (int sweep = 0; sweep < SWEEPS_OF_ROUND && changed && may_look(&p); sweep++) {
            changed = push_all(&p);
        }
    }
    if (p.made == 0 || !keep_what_helps(&p)) return TALUS_OK;
    carry_out(&p);
    *separated = true;
    return TALUS_OK;
}
