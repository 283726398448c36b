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
                      .bodies = &s->bodies,
                      .pairs = &s->pairs};
    for (int k = 0; k < s->dim; k++) {
        task.length[k] = order->state->cell.periodic[k] ? order->state->cell.length[k] : 0.0;
    }
    return task;
}

/// Grains far from all walls need not be asked: note anew who they are when the list is new or
/// walls have come nearer.
static talus_status note_far_grains(soft_particles* s, const step_order* order,
                                    const general_task* task)
{
    const grains* g = &order->state->grains;
    const walls* w = &order->state->walls;
    double travel = 0.0;
    for (int64_t i = 0; i < w->count; i++) {
        const double moved = vec_norm(3, w->moved + 3 * i);
        travel = fmax(travel, moved + vec_norm(3, w->turned + 3 * i) * s->wall_reach[i]);
    }
    s->wall_travel += travel;
    if (s->general.far_known && s->wall_travel <= 0.5 * s->skin) return TALUS_OK;
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
    return general_contacts_note_far(&s->general, task, s->skin);
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
        const double* sum = s->pairs.sum + SOFT_SUM * (int64_t)s->places.place_of[i];
        double arm[3] = {0.0, 0.0, 0.0}, torque[3];
        vec_sub(s->dim, arm, g->position + i * s->dim, w->position + 3 * wall);
        cell_nearest(&order->state->cell, s->dim, arm);
        vec_cross(torque, arm, sum);
        vec_add_scaled(3, w->force + 3 * wall, 1.0, sum);
        vec_add_scaled(3, w->torque + 3 * wall, 1.0, torque);
        vec_add_scaled(3, w->torque + 3 * wall, 1.0, sum + 3);
    }
}

talus_status soft_evaluate(soft_particles* s, const step_order* order, double since,
                           talus_error* error)
{
    walls* w = &order->state->walls;
    TRY(soft_neighbours(s, order, error));

    const ball_task balls = soft_ball_task(s, order, since);
    const int64_t blocks = s->pairs.block_count;
    const int team = parallel_threads(order->threads, s->pairs.body_count);
    soft_pairs_begin(&s->pairs, order->threads);
    if (team == 1) {
        for (int64_t b = 0; b < blocks; b++) s->kernels->balls(&balls, b);
    } else {
#pragma omp parallel for num_threads(team) schedule(dynamic)
        for (int64_t b = 0; b < blocks; b++) s->kernels->balls(&balls, b);
    }
    soft_pairs_collect(&s->pairs, order->threads);

    const double h = order->h;
    const general_task others = {.g = &order->state->grains,
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
    if (note_far_grains(s, order, &others) || general_contacts_evaluate(&s->general, &others)) {
        return error_memory(error, "meeting walls");
    }
    general_contacts_add(&s->general, &others, s->pairs.sum, w);
    load_walls(s, order);
    return TALUS_OK;
}

// ---- accelerations -----------------------------------------------------------------------------

typedef struct flow_task {
    soft_particles* s;
    const step_order* order;
} flow_task;

/// Force and torque on a free grain make accelerations; the power of what is not contacts.
static ALWAYS_INLINE double accelerate_grain(const flow_task* t, const int dim, int64_t i,
                                             const double* sum, double* drained)
{
    const step_order* order = t->order;
    const grains* g = &order->state->grains;
    const int spin_dim = spin_width(dim);
    const double im = g->inv_mass[i], drag = order->options->drag;
    const double inertia = g->spin_mobility[i] > 0.0 ? 1.0 / g->inertia[i] : 0.0;
    double *a = t->s->acceleration + i * dim, *alpha = t->s->angular + i * spin_dim;
    const double *v = g->velocity + i * dim, *spin = g->spin + i * spin_dim;
    double power = 0.0, speed2 = 0.0;
    for (int k = 0; k < dim; k++) {
        double force = g->mass[i] * order->options->gravity[k];
        if (g->force) force += g->force[i * dim + k];
        power += force * v[k];
        speed2 += v[k] * v[k];
        a[k] = im * (sum[k] + (force - drag * v[k]));
        if (g->locked && g->locked[i] >> k & 1) a[k] = 0.0;
    }
    *drained += drag * speed2;
    for (int k = 0; k < spin_dim; k++) {
        const double torque = g->torque ? g->torque[i * spin_dim + k] : 0.0;
        if (g->torque) power += torque * spin[k];
        alpha[k] = inertia * (sum[(dim == 2 ? 5 : 3) + k] + torque);
    }
    return power;
}

/// A grain that does not move freely: what is done to it flows out of the system.
static ALWAYS_INLINE double hold_grain(const flow_task* t, const int dim, int64_t i,
                                       const double* sum)
{
    const grains* g = &t->order->state->grains;
    const int spin_dim = spin_width(dim);
    double power = 0.0;
    for (int k = 0; k < dim; k++) {
        t->s->acceleration[i * dim + k] = 0.0;
        power -= sum[k] * g->velocity[i * dim + k];
    }
    for (int k = 0; k < spin_dim; k++) {
        t->s->angular[i * spin_dim + k] = 0.0;
        power -= sum[(dim == 2 ? 5 : 3) + k] * g->spin[i * spin_dim + k];
    }
    return power;
}

/// Sums are read in the order of rows, which may be any: the memory is told so many rows before.
enum { AHEAD = 16 };
enum { FLOW_LOSS, FLOW_DASHPOTS, FLOW_DRAG, FLOW_INPUT, FLOW_COUNT };

static ALWAYS_INLINE void flow_of_rows(const flow_task* t, const int dim, int64_t first,
                                       int64_t last, double* out)
{
    const grains* g = &t->order->state->grains;
    const double* sums = t->s->pairs.sum;
    const int32_t* place = t->s->places.place_of;
    for (int64_t i = first; i < last; i++) {
        const int64_t ahead = i + AHEAD < last ? i + AHEAD : last - 1;
        __builtin_prefetch(sums + SOFT_SUM * (int64_t)place[ahead]);
        const double* sum = sums + SOFT_SUM * (int64_t)place[i];
        out[FLOW_LOSS] += sum[6];
        out[FLOW_DASHPOTS] += sum[7];
        out[FLOW_INPUT] += g->inv_mass[i] > 0.0 ? accelerate_grain(t, dim, i, sum, &out[FLOW_DRAG])
                                                : hold_grain(t, dim, i, sum);
    }
}

static void add_flow(void* data, int64_t first, int64_t last, double* out)
{
    const flow_task* t = data;
    if (t->s->dim == 2) {
        flow_of_rows(t, 2, first, last, out);
    } else {
        flow_of_rows(t, 3, first, last, out);
    }
}

static bool runs_away(int count, const double* numbers)
{
    for (int k = 0; k < count; k++) {
        if (!(fabs(numbers[k]) < 1e150)) return true;
    }
    return false;
}

/// First row whose velocity or acceleration is no number or too large to be squared; 0 if none is:
/// then it is the sum of all that ran away.
static int64_t find_runaway(const soft_particles* s, const grains* g)
{
    const int dim = s->dim, spin_dim = spin_width(dim);
    for (int64_t i = 0; i < g->count; i++) {
        if (runs_away(dim, s->acceleration + i * dim) || runs_away(dim, g->velocity + i * dim) ||
            runs_away(spin_dim, s->angular + i * spin_dim) ||
            runs_away(spin_dim, g->spin + i * spin_dim)) {
            return i;
        }
    }
    return 0;
}

int64_t soft_accelerate(soft_particles* s, const step_order* order, double since, soft_flow* flow)
{
    flow_task task = {s, order};
    const walls* w = &order->state->walls;
    double out[FLOW_COUNT];
    parallel_reduce(order->threads, order->state->grains.count, PARALLEL_SUM, FLOW_COUNT, add_flow,
                    &task, out);
    // Walls: what contacts do to them; grains glued to them were counted with the grains.
    const contacts* list = &s->general.list;
    for (int64_t c = 0; c < list->count; c++) {
        if (list->a_row[c] >= 0) break; // sorted: walls come first
        const int wall = -1 - list->a_row[c];
        double arm[3] = {0.0, 0.0, 0.0}, v[3];
        vec_copy(s->dim, arm, s->general.answers.arm_a + c * s->dim);
        vec_cross(v, w->spin + 3 * wall, arm);
        vec_add_scaled(3, v, 1.0, w->velocity + 3 * wall);
        out[FLOW_INPUT] += vec_dot(s->dim, v, list->force + c * s->dim);
        const double* torque = list->torque;
        if (!torque) continue;
        out[FLOW_INPUT] += s->dim == 2 ? torque[c] * w->spin[3 * wall + 2]
                                       : vec_dot(3, torque + 3 * c, w->spin + 3 * wall);
    }
    *flow = (soft_flow){.lost = out[FLOW_LOSS] - since * out[FLOW_DASHPOTS] + s->general.lost,
                        .out = out[FLOW_DASHPOTS] + out[FLOW_DRAG],
                        .input = out[FLOW_INPUT]};
    // A number that is none has spoilt the sums: only then the grains are looked at.
    const bool good = isfinite(flow->lost) && isfinite(flow->out) && isfinite(flow->input);
    return good || order->state->grains.count == 0 ? -1 : find_runaway(s, &order->state->grains);
}
