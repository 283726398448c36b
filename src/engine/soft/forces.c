/// Forces of the soft method: the list of pairs, the kernels, walls and polygons.
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "soft/internal.h"

#include <stdlib.h>

/// Room of a pair in the list, in mean diameters: a wide one serves longer, but has pairs that do
/// not touch. It widens or narrows until a list serves about as many steps as making it costs
/// percents of a step. Results do not depend on it.
static const double FIRST_SKIN = 0.02, LEAST_SKIN = 0.005, MOST_SKIN = 0.5;
enum { FEW_STEPS = 60, MANY_STEPS = 300 };
/// Steps after which the order of work is made anew; numbers of steps, so that a resumed run does
/// the same as an unbroken one.
enum { SORT_STEPS = 20000 };

// ---- the list ----------------------------------------------------------------------------------

static talus_status reserve_rows(soft_particles* s, const step_order* order)
{
    const int64_t n = order->state->grains.count;
    if (n <= s->row_capacity) return TALUS_OK;
    const size_t room = (size_t)capacity_for(n), dim = (size_t)s->dim;
    const size_t spin_dim = (size_t)spin_width(s->dim);
    free(s->reach);
    free(s->acceleration);
    free(s->angular);
    free(s->turn);
    s->reach = malloc(sizeof(double) * room);
    s->acceleration = malloc(sizeof(double) * room * dim);
    s->angular = malloc(sizeof(double) * room * spin_dim);
    s->turn = malloc(sizeof(double) * room * spin_dim);
    const bool good = s->reach && s->acceleration && s->angular && s->turn;
    s->row_capacity = good ? (int64_t)room : 0;
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

/// Is a pair not left to the kernels of balls?
static bool is_general(const soft_particles* s, const grains* g, int64_t a, int64_t b)
{
    return g->solid[a] >= 0 || g->solid[b] >= 0 || s->laws.kind.law == TALUS_SOFT_AREA;
}

static talus_status add_pair(pair_list* list, int32_t a, int32_t b)
{
    if (list->count == list->capacity) {
        const int64_t room = capacity_for(list->count + 1);
        int32_t* x = realloc(list->a, sizeof *x * (size_t)room);
        if (x) list->a = x;
        int32_t* y = realloc(list->b, sizeof *y * (size_t)room);
        if (y) list->b = y;
        if (!x || !y) return TALUS_ERR_MEMORY;
        list->capacity = room;
    }
    list->a[list->count] = a;
    list->b[list->count++] = b;
    return TALUS_OK;
}

static talus_status split_pairs(soft_particles* s, const grains* g)
{
    s->balls.count = s->others.count = 0;
    for (int64_t i = 0; i < s->near.count; i++) {
        const int32_t a = s->near.a[i], b = s->near.b[i];
        TRY(add_pair(is_general(s, g, a, b) ? &s->others : &s->balls, a, b));
    }
    return TALUS_OK;
}

/// Two images of one pair must not both be in reach: 4 reaches of the widest grain must fit into
/// the cell. The skin is made as narrow as that needs.
static talus_status fit_skin(soft_particles* s, const step_order* order, talus_error* error)
{
    const grains* g = &order->state->grains;
    int64_t widest = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->radius[i] > g->radius[widest]) widest = i;
    }
    for (int k = 0; k < s->dim && g->count > 1; k++) {
        if (!order->state->cell.periodic[k]) continue;
        const double room =
            0.5 * order->state->cell.length[k] - 2.0 * g->radius[widest] - s->laws.range;
        s->skin = fmin(s->skin, 0.9 * room);
        if (room > 0.0) continue;
        return error_set(error, TALUS_ERR_NUMERIC,
                         "periodic cell too short along %c: %g is not more than twice the distance "
                         "across which grain %lld (radius %g) may touch another; use a longer cell",
                         axis_letter(k), order->state->cell.length[k], (long long)g->id[widest],
                         g->radius[widest]);
    }
    return TALUS_OK;
}

static talus_status make_list(soft_particles* s, const step_order* order, talus_error* error)
{
    const grains* g = &order->state->grains;
    const bool all_balls = !s->has_solids && s->laws.kind.law != TALUS_SOFT_AREA;
    const double part = s->skin_part <= 0.0 ? FIRST_SKIN : s->skin_part;
    const double wish = s->served < FEW_STEPS    ? 1.5 * part
                        : s->served > MANY_STEPS ? 0.7 * part
                                                 : part;
    s->skin_part = s->served > 0 ? fmin(fmax(wish, LEAST_SKIN), MOST_SKIN) : part;
    s->served = 0;
    s->skin = s->skin_part * grains_mean_diameter(g, order->threads);
    TRY(fit_skin(s, order, error));
    for (int64_t i = 0; i < g->count; i++) {
        s->reach[i] = g->radius[i] + 0.5 * (s->skin + s->laws.range);
    }
    const ball_set balls = {s->dim, g->count, g->position, s->reach, g->inv_mass};
    talus_status status = TALUS_OK;
    if (s->listed && !s->remembered) status = soft_pairs_remember(&s->pairs);
    if (status == TALUS_OK)
        status = grid_pairs(s->grid, &balls, &order->state->cell, order->threads, &s->near);
    if (status == TALUS_OK && !all_balls) status = split_pairs(s, g);
    if (status == TALUS_OK) status = soft_bodies_list(&s->bodies, g, &s->order);
    const soft_listing from = {.g = g,
                               .periodic = &order->state->cell,
                               .skin = s->skin,
                               .order = &s->order,
                               .pairs = all_balls ? &s->near : &s->balls,
                               .law_of = s->laws.law_of,
                               .materials = s->laws.materials,
                               .uniform = s->laws.uniform,
                               .compound = s->laws.kind.compound,
                               .threads = order->threads};
    if (status == TALUS_OK) status = soft_pairs_make(&s->pairs, &from);
    if (status < 0) return error_memory(error, "listing pairs of grains");
    s->listed = true;
    s->remembered = false;
    s->general.far_known = false; // grains' room counts from the list
    return TALUS_OK;
}

/// A new order, and the history in its terms.
static talus_status reorder(soft_particles* s, const step_order* order)
{
    if (!s->remembered) TRY(soft_pairs_remember(&s->pairs));
    const int64_t n = s->order.count;
    int32_t* old = malloc(sizeof *old * (size_t)(n + 1));
    if (!old) return TALUS_ERR_MEMORY;
    for (int64_t p = 0; p < n; p++) old[p] = s->order.row_of[p];
    talus_status status = soft_order_make(&s->order, &order->state->grains, true, order->threads);
    if (status == TALUS_OK) soft_pairs_reorder(&s->pairs, old, &s->order);
    free(old);
    s->listed = false;
    s->remembered = true;
    return status;
}

static bool any_solid(const grains* g)
{
    for (int64_t i = 0; i < g->count; i++) {
        if (g->solid[i] >= 0) return true;
    }
    return false;
}

static talus_status take_over(soft_particles* s, const step_order* order, talus_error* error)
{
    const talus_soft_def* soft = &order->options->soft;
    grains* g = &order->state->grains;
    const bool fresh = !g->place;
    s->integrator = integrator_of(soft->integrator);
    s->kernels = soft_kernels_for(soft->vector);
    s->geometric = soft->elongation == TALUS_ELONGATION_GEOMETRIC;
    if (!s->kernels) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "this machine does not have the vector width that was asked for");
    }
    s->has_solids = any_solid(g);
    TRY(soft_laws_make(&s->laws, &order->state->materials, soft, s->dim, s->has_solids, error));
    if (s->has_solids && s->dim == 3) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the method soft knows balls and, in 2D, polygons: 3D grains of other "
                         "shapes need the method contact");
    }
    if (soft->law == TALUS_SOFT_AREA && s->dim == 3) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the law area of the method soft exists in 2D only");
    }
    area_shapes_free(&s->general.shapes);
    if (grains_need_soft(g, s->integrator->kept) || walls_need_soft(&order->state->walls) ||
        reserve_rows(s, order) || soft_order_make(&s->order, g, fresh, order->threads) ||
        soft_import(s, order)) {
        return error_memory(error, "preparing soft grains");
    }
    s->listed = false;
    s->remembered = true;
    s->revision = order->state->revision;
    s->known = true;
    return TALUS_OK;
}

talus_status soft_prepare(soft_particles* s, const step_order* order, talus_error* error)
{
    if (!s->known || s->revision != order->state->revision) TRY(take_over(s, order, error));
    if (order->state->step > 0 && order->state->step % SORT_STEPS == 0 && reorder(s, order)) {
        return error_memory(error, "sorting the grains");
    }
    return TALUS_OK;
}

// ---- an evaluation -----------------------------------------------------------------------------

general_task soft_general_task(const soft_particles* s, const step_order* order, double since)
{
    return (general_task){.g = &order->state->grains,
                          .w = &order->state->walls,
                          .periodic = &order->state->cell,
                          .pairs = &s->others,
                          .solids = s->has_solids,
                          .order = &s->order,
                          .kernels = s->kernels,
                          .laws = &s->laws,
                          .geometric = s->geometric,
                          .h = since,
                          .step = since > 0.0 ? order->h : s->integrator->evaluates_at * order->h,
                          .threads = order->threads};
}

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

/// Rows of the bodies; a list that grains have outrun is made anew.
static talus_status fill_bodies(soft_particles* s, const step_order* order, talus_error* error)
{
    double farthest = 0.0;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!s->listed) TRY(make_list(s, order, error));
        soft_bodies_fill(&s->bodies, &order->state->grains, &s->order, &order->state->cell,
                         s->geometric, order->threads, &farthest);
        if (farthest <= 0.5 * s->skin) {
            s->served++;
            return TALUS_OK;
        }
        if (soft_pairs_remember(&s->pairs)) return error_memory(error, "listing pairs of grains");
        s->listed = false;
        s->remembered = true;
    }
    return error_set(error, TALUS_ERR_NUMERIC, "positions are not finite at t = %.9g",
                     order->state->time);
}

/// Distance of the farthest grain from each wall that may turn.
static void measure_reaches(soft_particles* s, const step_order* order)
{
    const grains* g = &order->state->grains;
    const walls* w = &order->state->walls;
    for (int64_t i = 0; i < w->count; i++) {
        double far2 = 0.0;
        for (int64_t k = 0; k < g->count && w->present[i] && !wall_is_mobile(w, (int)i); k++) {
            double d[3];
            vec_sub(s->dim, d, g->position + k * s->dim, w->position + 3 * i);
            cell_nearest(&order->state->cell, s->dim, d);
            far2 = fmax(far2, vec_dot(s->dim, d, d));
        }
        s->wall_reach[i] = sqrt(far2) + s->skin;
    }
}

/// Grains far from all walls need not be asked: note anew who they are when the list is new or
/// walls have come nearer.
static talus_status look_at_walls(soft_particles* s, const step_order* order,
                                  const general_task* task)
{
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
    measure_reaches(s, order);
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
        const double* sum = s->pairs.sum + SOFT_SUM * (int64_t)s->order.place_of[i];
        double arm[3] = {0.0, 0.0, 0.0}, torque[3];
        vec_sub(s->dim, arm, g->position + i * s->dim, w->position + 3 * wall);
        cell_nearest(&order->state->cell, s->dim, arm);
        vec_cross(torque, arm, sum);
        vec_add_scaled(3, w->force + 3 * wall, 1.0, sum);
        vec_add_scaled(3, w->torque + 3 * wall, 1.0, torque);
        vec_add_scaled(3, w->torque + 3 * wall, 1.0, sum + 3);
    }
}

static void meet_balls(soft_particles* s, const step_order* order, double since)
{
    const ball_task task = soft_ball_task(s, order, since);
    const int64_t blocks = s->pairs.block_count;
    const int team = parallel_threads(order->threads, s->pairs.body_count);
    if (team == 1) {
        for (int64_t b = 0; b < blocks; b++) s->kernels->balls(&task, b);
        return;
    }
#pragma omp parallel for num_threads(team) schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++) s->kernels->balls(&task, b);
}

talus_status soft_evaluate(soft_particles* s, const step_order* order, double since,
                           talus_error* error)
{
    walls* w = &order->state->walls;
    TRY(fill_bodies(s, order, error));
    soft_pairs_begin(&s->pairs, order->threads);
    meet_balls(s, order, since);
    soft_pairs_collect(&s->pairs, order->threads);
    for (int64_t k = 0; k < 3 * w->count; k++) w->force[k] = w->torque[k] = 0.0;
    const general_task task = soft_general_task(s, order, since);
    if (look_at_walls(s, order, &task) || general_contacts_evaluate(&s->general, &task))
        return error_memory(error, "meeting walls");
    general_contacts_add(&s->general, &task, s->pairs.sum, w);
    load_walls(s, order);
    return TALUS_OK;
}

// ---- accelerations -----------------------------------------------------------------------------

typedef struct flow_task {
    soft_particles* s;
    const step_order* order;
    double since;
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
    const int32_t* place = t->s->order.place_of;
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
    flow_task task = {s, order, since};
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
