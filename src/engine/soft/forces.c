/// Forces of the soft method at the present positions and velocities, and what accelerations they
/// make.
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "soft/workspace.h"

// ---- an evaluation -----------------------------------------------------------------------------

ball_task soft_ball_task(soft_particles* s, const step_order* order, double since)
{
    ball_task task = {.kind = s->laws.kind,
                      .geometric = s->geometric,
                      .uniform = s->laws.uniform,
                      .constants = s->laws.constants,
                      .h = since,
                      .ahead = 1,
                      .bodies = &s->bodies,
                      .pairs = &s->pairs};
    for (int k = 0; k < s->dim; k++) {
        task.length[k] = order->state->cell.periodic[k] ? order->state->cell.length[k] : 0.0;
    }
    return task;
}

static bool has_walls(const walls* w)
{
    for (int64_t i = 0; i < w->count; i++) {
        if (w->present[i]) return true;
    }
    return false;
}

/// Grains far from all walls need not be asked: note anew who they are when the list is new or
/// walls have come nearer.
static talus_status note_far_grains(soft_particles* s, const step_order* order,
                                    const general_task* task, talus_error* error)
{
    grains* g = &order->state->grains;
    const walls* w = &order->state->walls;
    double travel = 0.0;
    for (int64_t i = 0; i < w->count; i++) {
        const double moved = vec_norm(3, w->moved + 3 * i);
        travel = fmax(travel, moved + vec_norm(3, w->turned + 3 * i) * s->wall_reach[i]);
    }
    s->wall_travel += travel;
    if (s->general.far_known && s->wall_travel <= 0.5 * s->skin) return TALUS_OK;
    if (has_walls(w)) TRY(soft_show_rows(s, g, error));
    s->general.far_known = false;
    s->wall_travel = 0.0;
    for (int64_t i = 0; i < w->count; i++) { // only walls that may turn need their reach
        double far2 = 0.0;
        for (int64_t k = 0; k < g->count && w->present[i] && !wall_is_mobile(w, (int)i); k++) {
            double d[3];
            vec_sub(s->dim, d, g->position + k * s->dim, w->position + 3 * i);
            cell_nearest(&order->state->cell, s->dim, d);
            far2 = fmax(far2, vec_dot(s->dim, d, d));
        }
        s->wall_reach[i] = sqrt(far2) + s->skin;
    }
    if (general_contacts_note_far(&s->general, task, s->skin) ||
        general_contacts_note_blocks(&s->general, task)) {
        return error_memory(error, "looking for walls");
    }
    return TALUS_OK;
}

/// The walls feel what is put on the grains glued to them.
static void load_walls(const soft_particles* s, const step_order* order)
{
    const grains* g = &order->state->grains;
    walls* w = &order->state->walls;
    if (!g->glue_position) return;
    for (int64_t i = 0; i < g->count; i++) {
        const int wall = g->glued_to[i];
        if (wall < 0) continue;
        const double* sum = soft_pairs_sum(&s->pairs, s->places.place_of[i]);
        double arm[3] = {0.0, 0.0, 0.0}, torque[3];
        vec_sub(s->dim, arm, g->position + i * s->dim, w->position + 3 * wall);
        cell_nearest(&order->state->cell, s->dim, arm);
        vec_cross(torque, arm, sum);
        vec_add_scaled(3, w->force + 3 * wall, 1.0, sum);
        vec_add_scaled(3, w->torque + 3 * wall, 1.0, torque);
        vec_add_scaled(3, w->torque + 3 * wall, 1.0, sum + 3);
    }
}

/// A contact takes as long as six grains do in the kernel of balls.
bool soft_walls_are_few(const soft_particles* s, int team)
{
    return 6 * team * s->general.list.count < s->pairs.body_count;
}

/// Forces of balls and, with the few, of all others, in the order in which threads get to them:
/// none needs another one.
static talus_status evaluate_contacts(soft_particles* s, const step_order* order,
                                      const ball_task* balls, const general_task* others)
{
    const int64_t blocks = s->pairs.block_count;
    const int team = parallel_threads(order->threads, s->pairs.body_count);
    talus_status status = TALUS_OK;
    if (team == 1) {
        for (int64_t b = 0; b < blocks; b++) s->kernels->balls(balls, b);
        return general_contacts_evaluate(&s->general, others);
    }
    const bool few = soft_walls_are_few(s, team);
    general_task alone = *others;
    alone.threads = 1;
#pragma omp parallel for num_threads(team) schedule(dynamic)
    for (int64_t b = few ? -1 : 0; b < blocks; b++) {
        if (b < 0) {
            status = general_contacts_evaluate(&s->general, &alone);
        } else {
            s->kernels->balls(balls, b);
        }
    }
    return few ? status : general_contacts_evaluate(&s->general, others);
}

talus_status soft_begin_evaluation(soft_particles* s, const step_order* order, double since,
                                   general_task* others, talus_error* error)
{
    walls* w = &order->state->walls;
    const double h = order->h;
    TRY(soft_neighbours(s, order, error));
    *others = (general_task){.g = &order->state->grains,
                             .w = w,
                             .periodic = &order->state->cell,
                             .pairs = &s->others,
                             .solids = s->has_solids,
                             .places = &s->places,
                             .kernels = s->kernels,
                             .laws = &s->laws,
                             .geometric = s->geometric,
                             .h = since,
                             .step = since > 0.0 ? h : s->integrator->evaluates_at * h,
                             .threads = order->threads};
    for (int64_t k = 0; k < 3 * w->count; k++) w->force[k] = w->torque[k] = 0.0;
    TRY(note_far_grains(s, order, others, error));
    return general_contacts_begin(&s->general, others) ? error_memory(error, "meeting walls")
                                                       : TALUS_OK;
}

talus_status soft_evaluate(soft_particles* s, const step_order* order, double since,
                           talus_error* error)
{
    walls* w = &order->state->walls;
    general_task others;
    TRY(soft_begin_evaluation(s, order, since, &others, error));
    const ball_task balls = soft_ball_task(s, order, since);
    soft_pairs_spread_sums(&s->pairs);
    if (evaluate_contacts(s, order, &balls, &others)) return error_memory(error, "meeting walls");
    soft_pairs_collect(&s->pairs, order->threads);
    general_contacts_add(&s->general, &others, &s->pairs, w);
    load_walls(s, order);
    return TALUS_OK;
}

// ---- accelerations -----------------------------------------------------------------------------

static bool runs_away(int count, const double* numbers)
{
    for (int k = 0; k < count; k++) {
        if (!(fabs(numbers[k]) < 1e150)) return true;
    }
    return false;
}

/// First row whose velocity or acceleration is no number or too large to be squared; 0 if none is:
/// then it is the sum of all that ran away.
static int64_t find_runaway(const grains* g, const double* acceleration, const double* angular)
{
    const int dim = g->dim, spin_dim = spin_width(dim);
    for (int64_t i = 0; i < g->count; i++) {
        if (runs_away(dim, acceleration + i * dim) || runs_away(dim, g->velocity + i * dim) ||
            runs_away(spin_dim, angular + i * spin_dim) ||
            runs_away(spin_dim, g->spin + i * spin_dim)) {
            return i;
        }
    }
    return 0;
}

soft_flow soft_flow_of_walls(const soft_particles* s, const step_order* order)
{
    const walls* w = &order->state->walls;
    const contacts* list = &s->general.list;
    soft_flow flow = {0};
    for (int64_t c = 0; c < list->count; c++) {
        if (list->a_row[c] >= 0) break; // sorted: walls come first
        const int wall = -1 - list->a_row[c];
        double arm[3] = {0.0, 0.0, 0.0}, v[3];
        vec_copy(s->dim, arm, s->general.answers.arm_a + c * s->dim);
        vec_cross(v, w->spin + 3 * wall, arm);
        vec_add_scaled(3, v, 1.0, w->velocity + 3 * wall);
        flow.input += vec_dot(s->dim, v, list->force + c * s->dim);
        const double* torque = list->torque;
        if (!torque) continue;
        flow.input += s->dim == 2 ? torque[c] * w->spin[3 * wall + 2]
                                  : vec_dot(3, torque + 3 * c, w->spin + 3 * wall);
    }
    return flow;
}

accelerate_task soft_accelerate_task(const soft_particles* s, const step_order* order)
{
    const talus_world_def* def = order->options;
    return (accelerate_task){.g = &order->state->grains,
                             .sum = s->pairs.sum,
                             .place = s->places.place_of,
                             .gravity = {def->gravity[0], def->gravity[1], def->gravity[2]},
                             .drag = def->drag,
                             .acceleration = s->acceleration,
                             .angular = s->angular};
}

void soft_accelerate_rows(soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    const accelerate_task task = soft_accelerate_task(s, order);
    s->kernels->accelerate(&task, first, last, s->share[first / SOFT_ROWS].flow);
}

void soft_sum_flow(const soft_particles* s, int64_t count, double since, soft_flow* flow)
{
    double sum[FLOW_COUNT] = {0.0};
    for (int64_t first = 0; first < count; first += SOFT_ROWS) {
        for (int k = 0; k < FLOW_COUNT; k++) sum[k] += s->share[first / SOFT_ROWS].flow[k];
    }
    flow->lost += sum[FLOW_LOSS] - since * sum[FLOW_DASHPOTS] + s->general.lost;
    flow->out += sum[FLOW_DASHPOTS] + sum[FLOW_DRAG];
    flow->input += sum[FLOW_INPUT];
}

bool soft_flow_is_finite(const soft_flow* flow)
{
    return isfinite(flow->lost) && isfinite(flow->out) && isfinite(flow->input);
}

int64_t soft_runaway(const grains* g, const double* acceleration, const double* angular,
                     const soft_flow* flow)
{
    if (soft_flow_is_finite(flow) || g->count == 0) return -1;
    return find_runaway(g, acceleration, angular);
}
