/// How grains move in a step, before and after their forces are known, some rows at a time: so all
/// that a grain needs is read from memory once before and once after.
///
/// Positions and angles are coordinates of the integrator. In 3D the coordinate of a rotation is
/// the turn since the step began.
#include "base/parallel.h"
#include "base/vec.h"
#include "soft/workspace.h"
#include "state/drive.h"

#include <string.h>

static int64_t share_end(int64_t first, int64_t count)
{
    return count - first < SOFT_ROWS ? count : first + SOFT_ROWS;
}

void soft_each_share(soft_particles* s, const step_order* order, soft_rows_work* work)
{
    const int64_t n = order->state->grains.count;
    if (parallel_is_plain(order->threads, n)) {
        for (int64_t i = 0; i < n; i += SOFT_ROWS) work(s, order, i, share_end(i, n));
        return;
    }
#pragma omp parallel for num_threads(order->threads) schedule(static)
    for (int64_t i = 0; i < n; i += SOFT_ROWS) work(s, order, i, share_end(i, n));
}

// ---- coordinates -------------------------------------------------------------------------------

coordinates soft_centres(const soft_particles* s, const grains* g)
{
    return (coordinates){.count = g->count * s->dim,
                         .x = g->position,
                         .v = g->velocity,
                         .d = {g->rate2, g->rate3, g->rate4, g->rate5}};
}

coordinates soft_turns(const soft_particles* s, const grains* g)
{
    return (coordinates){.count = g->count * spin_width(s->dim),
                         .x = s->dim == 2 ? g->rotation : s->turn,
                         .v = g->spin,
                         .d = {g->turn2, g->turn3, g->turn4, g->turn5}};
}

// ---- what has moved ----------------------------------------------------------------------------

/// Where elongations follow the motion: that since the last evaluation, from here (sign -1) or up
/// to here (sign 1).
static void note_motion(const soft_particles* s, const step_order* order, double sign,
                        int64_t first, int64_t last)
{
    if (!s->geometric) return;
    grains* g = &order->state->grains;
    const int dim = s->dim, width = spin_width(dim);
    const double *x = g->position, *turn = dim == 2 ? g->rotation : s->turn;
    for (int64_t i = first * dim; i < last * dim; i++) g->moved[i] += sign * x[i];
    for (int64_t i = first * width; i < last * width; i++) g->turned[i] += sign * turn[i];
    // Grains glued to walls may have been carried across the cell.
    for (int64_t i = first; i < last && sign > 0.0 && g->glue_position; i++) {
        if (g->glued_to[i] >= 0) cell_nearest(&order->state->cell, dim, g->moved + i * dim);
    }
}

/// Motions begin anew after an evaluation.
static void forget_motion(const soft_particles* s, grains* g, int64_t first, int64_t last)
{
    if (!s->geometric || first == last) return;
    const size_t n = (size_t)(last - first), dim = (size_t)s->dim;
    const size_t width = (size_t)spin_width(s->dim);
    memset(g->moved + first * (int64_t)dim, 0, sizeof(double) * n * dim);
    memset(g->turned + first * (int64_t)width, 0, sizeof(double) * n * width);
}

// ---- before the forces -------------------------------------------------------------------------

static void predict_rows(soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    grains* g = &order->state->grains;
    const int dim = s->dim, width = spin_width(dim);
    const coordinates centres = soft_centres(s, g), turns = soft_turns(s, g);
    for (int64_t i = 3 * first; i < 3 * last && dim == 3; i++) s->turn[i] = 0.0;
    note_motion(s, order, -1.0, first, last);
    s->integrator->predict(&centres, order->h, first * dim, last * dim);
    s->integrator->predict(&turns, order->h, first * width, last * width);
    drive_carry_rows(&order->state->walls, &order->state->cell, g, first, last);
    note_motion(s, order, 1.0, first, last);
}

bool soft_moves_in_rows(const soft_particles* s, const step_order* order)
{
    const grains* g = &order->state->grains;
    return s->dim == 3 && s->integrator->kept == 1 && !g->glue_position && !g->force &&
           !g->torque && !g->locked;
}

sphere_task soft_sphere_task(const soft_particles* s, const step_order* order)
{
    const talus_world_def* def = order->options;
    return (sphere_task){.g = &order->state->grains,
                         .bodies = &s->bodies,
                         .places = &s->places,
                         .verlet = s->integrator == &verlet_integrator,
                         .listed = s->listed,
                         .h = order->h,
                         .periodic = &order->state->cell,
                         .gravity = {def->gravity[0], def->gravity[1], def->gravity[2]},
                         .drag = def->drag};
}

/// Here shares are places.
static void lift_share(soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    const sphere_task task = soft_sphere_task(s, order);
    s->share[first / SOFT_ROWS].farthest = s->kernels->lift(&task, first, last);
}

static void predict_share(soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    predict_rows(s, order, first, last);
    s->share[first / SOFT_ROWS].farthest = s->listed ? soft_fill_rows(s, order, first, last) : 0.0;
}

void soft_predict_grains(soft_particles* s, const step_order* order)
{
    if (s->in_rows) return;
    s->in_rows = soft_moves_in_rows(s, order);
    s->on_card = false;
    soft_each_share(s, order, s->in_rows ? lift_share : predict_share);
    soft_rows_filled(s, order->state->grains.count);
}

void soft_rows_to_table(const soft_particles* s, grains* g, const uint8_t* but)
{
    const int length = soft_row(3, s->geometric), motion = soft_row_motion(3);
    const int own_length = soft_own(s->integrator != &verlet_integrator);
    for (int64_t i = 0; i < g->count; i++) {
        if (but && but[i]) continue;
        const int64_t place = s->places.place_of[i];
        const double* row = s->bodies.row + place * length;
        vec_copy(3, g->position + 3 * i, row);
        vec_copy(3, g->velocity + 3 * i, row + 4);
        vec_copy(3, g->spin + 3 * i, row + 8);
        for (int k = 0; k < 3; k++) {
            const double* own = s->bodies.own;
            g->rate2[3 * i + k] = own[soft_lane(place, own_length, OWN_ACCELERATION + k)];
            g->turn2[3 * i + k] = own[soft_lane(place, own_length, OWN_ANGULAR + k)];
        }
        if (!s->geometric) continue;
        vec_copy(3, g->moved + 3 * i, row + motion);
        vec_copy(3, g->turned + 3 * i, row + motion + 4);
    }
}

// ---- after the forces --------------------------------------------------------------------------

static ALWAYS_INLINE bool has_left(const cell* c, int dim, const double* x)
{
    bool left = false;
    for (int k = 0; k < dim; k++) {
        left |= c->periodic[k] && !(x[k] >= c->low[k] && x[k] < c->low[k] + c->length[k]);
    }
    return left;
}

/// Grains that have left the cell come in again on the other side.
static void wrap_rows(const step_order* order, int64_t first, int64_t last)
{
    grains* g = &order->state->grains;
    const cell* c = &order->state->cell;
    const int dim = g->dim;
    if (!c->periodic[0] && !c->periodic[1] && !(dim == 3 && c->periodic[2])) return;
    for (int64_t i = first; i < last; i++) {
        if (has_left(c, dim, g->position + i * dim) && g->glued_to[i] < 0) {
            cell_wrap(c, dim, g->position + i * dim, g->image + i * dim);
        }
    }
}

/// Grains out of the domain join those found behind walls.
static void watch_domain(const step_order* order, uint8_t* escaped, int64_t first, int64_t last)
{
    const grains* g = &order->state->grains;
    const talus_world_def* def = order->options;
    for (int64_t i = first; i < last && def->has_domain; i++) {
        for (int k = 0; k < g->dim && g->inv_mass[i] != 0.0; k++) {
            const double x = g->position[i * g->dim + k];
            const bool within = x >= def->domain_low[k] && x <= def->domain_high[k];
            if (!within && !order->state->cell.periodic[k]) escaped[i] = 1;
        }
    }
}

static void correct_rows(soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    grains* g = &order->state->grains;
    const int dim = s->dim, width = spin_width(dim);
    const coordinates centres = soft_centres(s, g), turns = soft_turns(s, g);
    forget_motion(s, g, first, last);
    note_motion(s, order, -1.0, first, last);
    s->integrator->correct(&centres, s->acceleration, order->h, first * dim, last * dim);
    s->integrator->correct(&turns, s->angular, order->h, first * width, last * width);
    drive_carry_rows(&order->state->walls, &order->state->cell, g, first, last);
    note_motion(s, order, 1.0, first, last);
    wrap_rows(order, first, last);
    if (dim == 3) s->kernels->turn(g->rotation, s->turn, g->glued_to, first, last);
}

void soft_correct_rows(soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    watch_domain(order, s->general.escaped, first, last);
    soft_accelerate_rows(s, order, first, last);
    correct_rows(s, order, first, last);
}
