/// After the impacts: how the step goes on from the paths with corners that they leave.
#include "base/parallel.h"
#include "rigid/impact_parts.h"
#include "rigid/problem.h"
#include "rigid/separate.h"

void impacts_commit(impacts* im, const impact_scene* scene, double* free_velocity,
                    double* free_spin)
{
    grains* g = &scene->order->state->grains;
    walls* w = &scene->order->state->walls;
    const int dim = g->dim, spin_dim = spin_width(dim);
    for (int64_t j = 0; j < im->body_count; j++) {
        const struck_body* b = &im->body[j];
        const int64_t i = b->body;
        double change[3], turn[3];
        vec_sub(dim, change, b->row, b->start);
        if (i >= g->count) {
            vec_copy(dim, w->velocity + 3 * (i - g->count), b->row);
            vec_add_scaled(dim, im->wall_before + 9 * (i - g->count), 1.0, change);
            continue;
        }
        vec_copy(dim, free_velocity + i * dim, b->row);
        vec_add_scaled(dim, g->velocity + i * dim, 1.0, change);
        vec_sub(spin_dim, turn, b->row + row_w(dim), b->start_w);
        grain_spin_of_w(g, i, turn, change);
        vec_add_scaled(spin_dim, g->spin + i * spin_dim, 1.0, change);
        if (free_spin) vec_add_scaled(spin_dim, free_spin + i * spin_dim, 1.0, change);
    }
}

void impacts_undo(const impacts* im, physical_state* state)
{
    grains* g = &state->grains;
    const int spin_dim = spin_width(g->dim);
    for (int64_t j = 0; j < im->body_count; j++) {
        const struck_body* b = &im->body[j];
        if (b->body >= g->count) continue;
        vec_copy(g->dim, g->velocity + b->body * g->dim, b->velocity);
        vec_copy(spin_dim, g->spin + b->body * spin_dim, b->spin);
    }
}

bool impacts_bend(const impacts* im, const physical_state* state, const contacts* list, int64_t c)
{
    return impacts_struck(im, impact_body(state, list, c, 0)) ||
           impacts_struck(im, impact_body(state, list, c, 1));
}

bool impacts_decide(const impacts* im, const physical_state* state, const contacts* list, int64_t c)
{
    return impact_may_happen(state, list, c) &&
           (list->state[c] == TALUS_CONTACT_OPEN || impacts_bend(im, state, list, c));
}

/// Gap and normal of two balls as they would be at the end of the step, counted back to its start.
static double gap_by_end(const impacts* im, const step_order* order, const double* free_velocity,
                         const contacts* list, int64_t c, double* n)
{
    const grains* g = &order->state->grains;
    const int dim = list->dim;
    const int64_t a = list->a_row[c], b = list->b_row[c];
    const struck_body *hit_a = impacts_struck(im, a), *hit_b = impacts_struck(im, b);
    double u[3], x[3];
    vec_sub(dim, u, free_velocity + b * dim, free_velocity + a * dim);
    vec_sub(dim, x, g->position + b * dim, g->position + a * dim);
    cell_nearest(&order->state->cell, dim, x);
    vec_add_scaled(dim, x, order->h, u);
    if (hit_a) vec_add_scaled(dim, x, -1.0, hit_a->shift);
    if (hit_b) vec_add_scaled(dim, x, 1.0, hit_b->shift);
    const double distance = vec_norm(dim, x);
    for (int k = 0; k < dim && distance > 0.0; k++) n[k] = x[k] / distance;
    return distance - g->radius[a] - g->radius[b] - order->h * vec_dot(dim, u, n);
}

/// What the turning of arms, which a contact of solids sees to first order, may leave of an overlap
/// at the end of a step, in thicknesses.
static const double TURNING_LEAVES = 1e-3;

/// The same for solids that were hit, by where the points at the contact would be at the end. If
/// these part then, nothing has to hold them. If they have met by a hair, faster than what rests,
/// it is the next step's impact: their impacts were worked out with arms that turn with them, and
/// what the contact sees of that is off by second order. If they would be deeper, because other
/// impacts brought them together, they are held, but not thrown apart.
static double gap_of_solids(const impacts* im, const step_order* order, const double* free_velocity,
                            const contacts* list, int64_t c, double gap)
{
    const physical_state* state = order->state;
    const int dim = list->dim;
    const impact_scene scene = {.order = order,
                                .list = list,
                                .free_velocity = free_velocity,
                                .free_spin = state->grains.spin,
                                .wall_before = im->wall_before};
    const flight_job job = {(impacts*)im, &scene, state, order->h, dim};
    const path start = impact_path_of(&job, c, 0.0), end = impact_path_of(&job, c, order->h);
    const double u = vec_dot(dim, start.u, start.n), rate = vec_dot(dim, end.u, end.n);
    const double left = gap + vec_dot(dim, start.d, start.n) + order->h * u; // at the end
    const double counted_back = left - order->h * u;
    const bool rests = rate < 0.0 && rate >= -end.least;
    if (left >= 0.0 || rests || !impact_may_happen(state, list, c) || impact_on_packing(&job, c)) {
        return counted_back;
    }
    const bool by_a_hair = left >= -TURNING_LEAVES * overlap_thickness(&state->grains, list, c);
    return by_a_hair ? -order->h * u : fmax(counted_back, 0.0);
}

/// The gap of a contact of bodies that were hit.
static void bend_contact(const impacts* im, const step_order* order, const double* free_velocity,
                         contacts* list, int64_t c)
{
    const int dim = list->dim;
    const double overlap = order->options->solver.push_out_overlap ? 0.0 : fmin(list->gap[c], 0.0);
    double* n = list->normal + c * dim;
    if (impact_of_balls(order->state, list, c) && impact_may_happen(order->state, list, c)) {
        list->gap[c] = gap_by_end(im, order, free_velocity, list, c, n) - overlap;
        return;
    }
    list->gap[c] -= overlap;
    bool turning = false;
    for (int side = 0; side < 2; side++) {
        turning |= impact_is_solid(order->state, impact_body(order->state, list, c, side));
    }
    if (turning) {
        list->gap[c] = gap_of_solids(im, order, free_velocity, list, c, list->gap[c]);
        return;
    }
    for (int side = 0; side < 2; side++) {
        const struck_body* b = impacts_struck(im, impact_body(order->state, list, c, side));
        if (b) list->gap[c] += (side == 0 ? -1.0 : 1.0) * vec_dot(dim, b->shift, n);
    }
}

/// Two balls that seem to meet but pass.
static void let_pass(const impacts* im, const step_order* order, const double* free_velocity,
                     contacts* list, int64_t c)
{
    const int dim = list->dim;
    double u[3], n[3], *normal = list->normal + c * dim;
    vec_copy(dim, n, normal);
    vec_sub(dim, u, free_velocity + (int64_t)list->b_row[c] * dim,
            free_velocity + (int64_t)list->a_row[c] * dim);
    if (list->gap[c] <= 0.0 || list->gap[c] + order->h * vec_dot(dim, u, normal) >= 0.0) return;
    if (!impact_may_happen(order->state, list, c)) return;
    const double gap = gap_by_end(im, order, free_velocity, list, c, n);
    if (gap + order->h * vec_dot(dim, u, n) <= 0.0) return;
    vec_copy(dim, normal, n);
    list->gap[c] = fmax(gap, 0.0);
}

void impacts_adjust(const impacts* im, const step_order* order, const double* free_velocity,
                    contacts* list)
{
#pragma omp parallel for num_threads(parallel_threads(order->threads, list->count)) schedule(static)
    for (int64_t c = 0; c < list->count; c++) {
        if (impacts_bend(im, order->state, list, c)) {
            bend_contact(im, order, free_velocity, list, c);
        } else if (impact_of_balls(order->state, list, c)) {
            let_pass(im, order, free_velocity, list, c);
        }
    }
}

void impacts_add_forces(const impacts* im, double h, contacts* list)
{
    for (int64_t i = 0; i < im->struck_count; i++) {
        const struck_contact* s = &im->struck[i];
        contacts_cursor at = contacts_cursor_at(list, s->a, s->b);
        int64_t first;
        const int64_t count = contacts_seek(&at, s->a, s->b, &first);
        for (int64_t c = first; c < first + count; c++) {
            if (list->feature[c] != s->feature) continue;
            vec_add_scaled(list->dim, list->force + c * list->dim, 1.0 / h, s->impulse);
            if (list->state[c] == TALUS_CONTACT_OPEN) {
                list->state[c] = s->slides ? TALUS_CONTACT_SLIDE : TALUS_CONTACT_STICK;
            }
        }
    }
}
