/// Assembly of the contact problem; the layout is described in rigid/problem.h.
#include "rigid/assemble.h"

#include "base/array.h"
#include "base/parallel.h"
#include "law/cohesion.h"
#include "law/restitution.h"
#include "rigid/curvature.h"
#include "state/drive.h"
#include "state/morton.h"

#include <stdlib.h>

void assembly_free(assembly* as)
{
    free(as->sign);
    free(as->wall_row);
    free(as->turning);
    *as = (assembly){0};
}

/// What an assembly works on.
typedef struct assembling {
    assembly* as;
    const step_order* order;
    const physical_state* state;
    contacts* list;
    problem* p;
} assembling;

/// A contact on its way into the problem. Its bodies are exchanged where that is needed for a
/// mobile wall, or what is glued to one, to come first.
typedef struct meeting {
    int64_t c;
    int32_t a, b; ///< rows of grains; below 0: -1 - wall
    int wall;     ///< mobile wall that a belongs to, -1: none
    double sign;  ///< -1 if the list has a and b the other way round
    const talus_pair_def* pair;
    double* row; ///< in the problem; its normal is there
} meeting;

/// Rows of blocks and of compound contacts that are taken.
typedef struct rows_taken {
    int64_t blocks, compound;
} rows_taken;

// ---- bodies ------------------------------------------------------------------------------------

/// Make an immobile row that moves with velocity v.
static void fill_immobile_row(problem* p, int64_t at, const double* v)
{
    const int dim = p->dim, stride = problem_stride(dim);
    double* row = p->free + at * stride;
    for (int k = 0; k < stride; k++) row[k] = k < dim ? v[k] : 0.0;
}

/// Rows of the grains, then of the mobile walls. A contact with another wall has a row of its own,
/// noted as its first body and filled later. Walls come first in the list.
static void fill_bodies(const assembling* job, const double* free_velocity, const double* free_spin)
{
    const grains* g = &job->state->grains;
    const walls* w = &job->state->walls;
    problem* p = job->p;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    const int threads = parallel_threads(job->order->threads, g->count);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        double* row = p->free + i * stride;
        vec_copy(dim, row, free_velocity + i * dim);
        row[row_im(dim)] = g->inv_mass[i] * step_slowing(job->order, g->inv_mass[i]);
        grain_w_of_spin(g, i, free_spin + i * spin_dim, row + row_w(dim));
        row[row_kim(dim)] = g->spin_mobility[i];
        if (g->solid[i] >= 0) grain_turning(g, i, job->as->turning + 9 * i);
    }
    p->rows = p->mobile_first = g->count;
    for (int i = 0; i < (int)w->count; i++) {
        if (job->as->wall_row[i] < 0) continue;
        fill_immobile_row(p, p->rows++, w->velocity + 3 * i);
        // The wall's damping diminishes its inverse mass matrix.
        double* mobility = p->mobility + p->mobile_count++ * dim * dim;
        const double slowing = drive_slowing(w, i, job->order->h);
        drive_mobility(w, i, dim, mobility);
        for (int k = 0; k < dim * dim; k++) mobility[k] *= slowing;
    }
    const contacts* list = job->list;
    for (int64_t c = 0; c < list->count && list->a_row[c] < 0; c++) {
        if (job->as->wall_row[-1 - list->a_row[c]] < 0) p->pair[2 * c] = (int32_t)p->rows++;
    }
}

void surface_velocity(const physical_state* state, int wall, const double* velocity,
                      const double* spin, const double* point, double v[3])
{
    const int dim = state->grains.dim;
    double arm[3] = {0.0, 0.0, 0.0}, turn[3];
    vec_sub(dim, arm, point, state->walls.position + 3 * wall);
    cell_nearest(&state->cell, dim, arm);
    vec_cross(turn, spin, arm);
    for (int k = 0; k < 3; k++) v[k] = velocity[k] + turn[k];
}

/// Which mobile wall a body of a contact belongs to: a wall's own code or a glued grain's row; -1.
static int mobile_wall_of(const assembly* as, const grains* g, int32_t body_row)
{
    int wall = body_row < 0 ? -1 - body_row : g->glued_to[body_row];
    return wall >= 0 && as->wall_row[wall] >= 0 ? wall : -1;
}

/// Is this body of a contact a grain that is not a ball?
static bool is_solid(const grains* g, int32_t body_row)
{
    return body_row >= 0 && g->solid[body_row] >= 0;
}

static const talus_pair_def* pair_of(const physical_state* state, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    const int material_a = a < 0 ? state->walls.record[-1 - a].material : state->grains.material[a];
    return materials_pair(&state->materials, material_a, state->grains.material[b]);
}

// ---- full blocks -------------------------------------------------------------------------------

static bool needs_block(const grains* g, int32_t a, int32_t b, int mobile_wall)
{
    return mobile_wall >= 0 || is_solid(g, a) || is_solid(g, b);
}

void contact_arm(const physical_state* state, int32_t body, double side, const double* n,
                 const double* point, const double* turn, double* arm)
{
    const grains* g = &state->grains;
    const int dim = g->dim;
    if (!is_solid(g, body)) {
        const double s = body < 0 ? 0.0 : side, nz = dim == 3 ? n[2] : 0.0;
        const double in_plane[2] = {n[1], -n[0]};
        const double in_space[9] = {0.0, -nz, n[1], nz, 0.0, -n[0], -n[1], n[0], 0.0};
        const double* ball = dim == 2 ? in_plane : in_space;
        for (int k = 0; k < (dim == 2 ? 2 : 9); k++) arm[k] = s * ball[k];
        return;
    }
    double l[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, l, point, g->position + (int64_t)body * dim);
    cell_nearest(&state->cell, dim, l);
    if (dim == 2) {
        arm[0] = -l[1] * turn[0];
        arm[1] = l[0] * turn[0];
        return;
    }
    for (int k = 0; k < 3; k++) { // column k is (turn e_k) x l
        arm[k] = turn[3 + k] * l[2] - turn[6 + k] * l[1];
        arm[3 + k] = turn[6 + k] * l[0] - turn[k] * l[2];
        arm[6 + k] = turn[k] * l[1] - turn[3 + k] * l[0];
    }
}

static void fill_arm(const assembling* job, const meeting* m, int32_t body, double side,
                     double* arm)
{
    const double* turning = body >= 0 ? job->as->turning + 9 * (int64_t)body : NULL;
    contact_arm(job->state, body, side, m->row, job->list->point + m->c * job->list->dim, turning,
                arm);
}

// ---- before the step ---------------------------------------------------------------------------

/// Velocity and spin of a body of a contact before the step, as a problem row without masses. Walls
/// and what is glued to them already have the step's velocity: theirs was kept, and is taken at the
/// contact point, without a spin.
static void velocity_before(const assembling* job, int64_t c, int32_t body, double* row)
{
    const grains* g = &job->state->grains;
    const int dim = g->dim, spin_dim = spin_width(dim);
    const int wall = body < 0 ? -1 - body : g->glued_to[body];
    for (int k = 0; k < problem_stride(dim); k++) row[k] = 0.0;
    if (wall >= 0) {
        const double* before = job->as->wall_before + 9 * wall;
        double v[3];
        surface_velocity(job->state, wall, before, before + 3, job->list->point + c * dim, v);
        vec_copy(dim, row, v);
        return;
    }
    vec_copy(dim, row, g->velocity + (int64_t)body * dim);
    grain_w_of_spin(g, body, g->spin + (int64_t)body * spin_dim, row + row_w(dim));
}

/// Relative velocity at the contact before the step, b against a as in the problem.
static void approach_before(const assembling* job, const meeting* m, double u[3])
{
    const int dim = job->p->dim;
    double row_a[8], row_b[8];
    velocity_before(job, m->c, m->a, row_a);
    velocity_before(job, m->c, m->b, row_b);
    if (problem_block_of(job->p, m->c) >= 0) {
        block_velocity(dim, problem_block(job->p, dim, m->c), row_a, row_b, u);
    } else {
        contact_velocity(dim, row_a, row_b, m->row, u);
    }
}

// ---- compound laws -----------------------------------------------------------------------------

/// out[i][j] += s sum_k x[i][k] y[j][k] for matrices with `inner` columns.
static void add_product(int rows, int columns, int inner, double s, const double* x, int x_width,
                        const double* y, double* out)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            out[i * columns + j] += s * vec_dot(inner, x + i * x_width, y + j * inner);
        }
    }
}

/// How the bodies of a compound contact turn when one of them is a solid: coupling = sum of kim T
/// G^T, response = sum of kim T T^T over both bodies.
static void fill_turn(const assembling* job, const meeting* m, compound_turn* t)
{
    const grains* g = &job->state->grains;
    const problem* p = job->p;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    *t = (compound_turn){.used = problem_block_of(p, m->c) >= 0 &&
                                 (is_solid(g, m->a) || is_solid(g, m->b))};
    if (!t->used) return;
    const double* block = problem_block(p, dim, m->c);
    const double kim_a = p->free[(int64_t)p->pair[2 * m->c] * stride + row_kim(dim)];
    const double kim_b = p->free[(int64_t)p->pair[2 * m->c + 1] * stride + row_kim(dim)];
    if (m->a >= 0 && m->wall < 0) grain_turning(g, m->a, t->turn_a);
    grain_turning(g, m->b, t->turn_b);
    const double *arm_a = block + block_arm_a(dim), *arm_b = block + block_arm_b(dim);
    add_product(spin_dim, dim, spin_dim, kim_a, t->turn_a, 3, arm_a, t->arms.coupling);
    add_product(spin_dim, dim, spin_dim, kim_b, t->turn_b, 3, arm_b, t->arms.coupling);
    add_product(spin_dim, spin_dim, spin_dim, kim_a, t->turn_a, 3, t->turn_a, t->arms.response);
    add_product(spin_dim, spin_dim, spin_dim, kim_b, t->turn_b, 3, t->turn_b, t->arms.response);
}

/// What the paths of a contact's bodies take from its gap, as a velocity: a bond between grains has
/// a closing of its own, of either sign.
static double curving_of(const assembling* job, int64_t c)
{
    const contacts* list = job->list;
    if (list->bonded[c] && list->a_row[c] >= 0) return 0.0;
    if (impacts_decide(job->as->impacts, job->state, list, c)) return 0.0;
    return curvature_closing(job->state, list, c, job->order->h);
}

/// The compound row of a contact: what its pair, its history and its geometry make of the laws.
/// `before` is its velocity before the step.
static void fill_compound(const assembling* job, const meeting* m, const double* before, int64_t at)
{
    const grains* g = &job->state->grains;
    const contacts* list = job->list;
    const talus_pair_def* pair = m->pair;
    problem* p = job->p;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    const int64_t c = m->c;
    const double h = job->order->h, opening = vec_dot(dim, before, m->row);
    const double radius_b = g->radius[list->b_row[c]];
    double reduced_radius = radius_b; // a wall counts as flat
    if (list->a_row[c] >= 0) {
        const double radius_a = g->radius[list->a_row[c]];
        reduced_radius = radius_a * radius_b / (radius_a + radius_b);
    }
    compound_contact* r = &p->compound_rows[at];
    p->compound[c] = (int32_t)at;
    *r = (compound_contact){
        .h = h,
        .sliding_mu = pair_sliding_friction(pair),
        .rolling = rolling_bound_of(dim, pair->rolling_kind, pair->rolling, reduced_radius),
        .torsion = rolling_bound_of(dim, pair->rolling_kind, pair->torsion, reduced_radius)};

    // A bond: how much it bears in this step and how it keeps its width. The gap after the step,
    // g + h u_n + h closing, must not be negative: closing is added to the row's bias.
    if (list->bonded[c]) {
        r->bond = cohesion_impulse(pair, list->gap[c], opening, radius_b, h);
        if (list->a_row[c] >= 0) {
            r->closing = curvature_of_bond(job->state, list, c, h);
            m->row[contact_bias(dim)] += r->closing;
        } else {
            r->closing = curving_of(job, c); // the bias has it
        }
    }
    // A contact that slid in the last step goes on with its dynamic friction until it sticks.
    if (list->state[c] == TALUS_CONTACT_SLIDE) m->row[contact_mu(dim)] = r->sliding_mu;
    if (restitution_collides(list->gap[c], opening, h)) {
        for (int k = 0; k < dim; k++) r->slip[k] = pair->tangential_restitution * before[k];
    }

    // Radii, a wall's spin, responses to torques. The row of a mobile wall does not turn, whatever
    // grain is glued to it.
    fill_turn(job, m, &p->compound_turns[at]);
    r->inv_radius_b = 1.0 / g->radius[m->b];
    r->inv_radius_a = m->wall < 0 && m->a >= 0 ? 1.0 / g->radius[m->a] : 0.0;
    if (m->a < 0) {
        const double* spin = job->state->walls.spin + 3 * (-1 - m->a);
        vec_copy(spin_dim, r->spin_a, dim == 2 ? spin + 2 : spin);
    }
    const double* a = p->free + (int64_t)p->pair[2 * c] * stride;
    const double* b = p->free + (int64_t)p->pair[2 * c + 1] * stride;
    const double kim_a = a[row_kim(dim)] * r->inv_radius_a;
    const double kim_b = b[row_kim(dim)] * r->inv_radius_b;
    r->coupling = kim_b - kim_a;
    r->response = kim_b * r->inv_radius_b + kim_a * r->inv_radius_a;
    for (int k = 0; k < spin_dim; k++) {
        r->torque[k] = m->sign * h * list->torque[c * spin_dim + k];
    }
}

// ---- contacts ----------------------------------------------------------------------------------

/// Velocity with which a gap may close in the step; an overlap is left as it is, or undone. After
/// an impact a gap is counted from where a path that is straight to the end would have begun: below
/// zero, that is how much the bodies have to part. `curving` is what curvature_closing() takes of
/// it.
static double contact_opening(const assembly* as, const step_order* order, const contacts* list,
                              int64_t c, double curving)
{
    const double gap = list->gap[c];
    const bool counts = gap > 0.0 || order->options->solver.push_out_overlap ||
                        impacts_bend(as->impacts, order->state, list, c);
    return (counts ? gap / order->h : 0.0) + curving;
}

/// The row of a contact: bodies, normal, impulse, responses and the constants of its law.
static void fill_contact(const assembling* job, int64_t c, rows_taken* taken)
{
    const grains* g = &job->state->grains;
    const walls* w = &job->state->walls;
    const double h = job->order->h;
    assembly* as = job->as;
    contacts* list = job->list;
    problem* p = job->p;
    const int dim = p->dim, stride = problem_stride(dim);
    double* row = p->contact + c * problem_width(dim);

    meeting m = {c, list->a_row[c], list->b_row[c], -1, 1.0, pair_of(job->state, list, c), row};
    m.wall = mobile_wall_of(as, g, m.b);
    if (m.wall >= 0) {
        m.a = list->b_row[c], m.b = list->a_row[c];
        m.sign = -1.0;
    } else {
        m.wall = mobile_wall_of(as, g, m.a);
    }
    as->sign[c] = (int8_t)m.sign;
    int32_t first = m.wall >= 0 ? as->wall_row[m.wall] : m.a;
    if (first < 0) {
        const int fixed = -1 - m.a;
        double v[3];
        surface_velocity(job->state, fixed, w->velocity + 3 * fixed, w->spin + 3 * fixed,
                         list->point + c * dim, v);
        first = p->pair[2 * c];
        fill_immobile_row(p, first, v);
        p->curve[first] = p->curve[m.b];
    }
    p->pair[2 * c] = first;
    p->pair[2 * c + 1] = m.b;

    for (int k = 0; k < dim; k++) {
        row[k] = m.sign * list->normal[c * dim + k];
        row[contact_p(dim) + k] = m.sign * h * list->force[c * dim + k];
    }
    if (needs_block(g, m.a, m.b, m.wall)) {
        // A mobile wall does not turn, nor does what is glued to it.
        p->block[c] = (int32_t)taken->blocks++;
        double* block = problem_block(p, dim, c);
        fill_arm(job, &m, m.wall >= 0 ? -1 : m.a, -1.0, block + block_arm_a(dim));
        fill_arm(job, &m, m.b, 1.0, block + block_arm_b(dim));
        problem_fill_block(p, c, row, &row[contact_mn(dim)], &row[contact_mt(dim)]);
    } else {
        const double* a = p->free + (int64_t)p->pair[2 * c] * stride;
        const double* b = p->free + (int64_t)p->pair[2 * c + 1] * stride;
        const double wn = a[row_im(dim)] + b[row_im(dim)];
        row[contact_mn(dim)] = 1.0 / wn;
        row[contact_mt(dim)] = 1.0 / (wn + a[row_kim(dim)] + b[row_kim(dim)]);
    }

    const double gap = list->gap[c];
    list->bonded[c] = cohesion_holds(m.pair, list->bonded[c], gap, g->radius[list->b_row[c]]);
    const double curving = curving_of(job, c);
    const double open = contact_opening(as, job->order, list, c, curving);
    double before[3] = {0.0, 0.0, 0.0};
    row[contact_bias(dim)] = open;
    row[contact_mu(dim)] = m.pair->friction;
    if (m.pair->restitution > 0.0 || m.pair->tangential_restitution > 0.0 || list->bonded[c]) {
        approach_before(job, &m, before);
        row[contact_bias(dim)] = restitution_bias(m.pair, open, gap, vec_dot(dim, before, row), h);
    }
    if (compound_pair(m.pair)) fill_compound(job, &m, before, taken->compound++);
}

/// Count what the chunks of the list need; before[chunk] receives what the chunks before it take.
static void number_rows(const assembling* job, rows_taken* before, problem_size* size)
{
    const grains* g = &job->state->grains;
    const materials* laws = &job->state->materials;
    const contacts* list = job->list;
    const int chunks = parallel_chunks(list->count);
    bool any = size->mobile > 0 || (g->solids && g->solids->count > 0);
    for (int i = 0; i < laws->count * laws->count; i++) any |= compound_pair(&laws->pair[i]);
    const int threads = parallel_threads(job->order->threads, list->count);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < chunks; k++) {
        const int64_t first = parallel_first(list->count, k);
        const int64_t last = any ? parallel_first(list->count, k + 1) : first;
        before[k] = (rows_taken){0, 0};
        for (int64_t c = first; c < last; c++) {
            const int32_t a = list->a_row[c], b = list->b_row[c];
            const int wall_a = mobile_wall_of(job->as, g, a);
            const int wall_b = mobile_wall_of(job->as, g, b);
            before[k].blocks += needs_block(g, a, b, wall_a >= 0 ? wall_a : wall_b);
            before[k].compound += compound_pair(pair_of(job->state, list, c));
        }
    }
    for (int k = 0; k < chunks; k++) {
        const rows_taken own = before[k];
        before[k] = (rows_taken){size->blocks, size->compound};
        size->blocks += own.blocks;
        size->compound += own.compound;
    }
}

talus_status assemble(assembly* as, const step_order* order, contacts* list,
                      const double* free_velocity, const double* free_spin, problem* out)
{
    const grains* g = &order->state->grains;
    const walls* w = &order->state->walls;
    const assembling job = {as, order, order->state, list, out};
    const int64_t solid_rows = g->solids && g->solids->count > 0 ? g->count : 0;
    if (!arrays_renew(&as->sign_capacity, list->count, ARRAY(as->sign)) ||
        !arrays_renew(&as->wall_capacity, w->count, ARRAY(as->wall_row)) ||
        !arrays_renew(&as->grain_capacity, solid_rows, ROWS(as->turning, 9))) {
        return TALUS_ERR_MEMORY;
    }

    // Rows: grains, mobile walls, private ones of contacts with other walls.
    problem_size size = {.contacts = list->count};
    for (int i = 0; i < (int)w->count; i++) {
        const bool mobile = w->present[i] && wall_is_mobile(w, i);
        as->wall_row[i] = mobile ? (int32_t)(g->count + size.mobile++) : -1;
    }
    int64_t wall_contacts = 0;
    while (wall_contacts < list->count && list->a_row[wall_contacts] < 0) wall_contacts++;
    size.rows = g->count + size.mobile + wall_contacts;
    rows_taken before[PARALLEL_CHUNKS];
    number_rows(&job, before, &size);
    if (problem_reset(out, g->dim, &size)) return TALUS_ERR_MEMORY;
    if (size.compound > 0 && contacts_need_torques(list)) return TALUS_ERR_MEMORY;
    out->block_count = size.blocks;
    out->compound_count = size.compound;

    fill_bodies(&job, free_velocity, free_spin);
    out->curve_cell = morton_keys(g, order->threads, out->curve);
    const int chunks = parallel_chunks(list->count);
#pragma omp parallel for num_threads(parallel_threads(order->threads, list->count)) schedule(static)
    for (int k = 0; k < chunks; k++) {
        const int64_t last = parallel_first(list->count, k + 1);
        rows_taken taken = before[k];
        for (int64_t c = parallel_first(list->count, k); c < last; c++) {
            fill_contact(&job, c, &taken);
        }
    }
    out->count = list->count;
    return TALUS_OK;
}

// ---- contacts that are not in the problem ------------------------------------------------------

/// Velocity of a body of contact c at the contact point.
static void point_velocity(const assembly* as, const step_order* order, const problem* p,
                           const contacts* list, int64_t c, int32_t body, double v[3])
{
    const physical_state* state = order->state;
    const grains* g = &state->grains;
    const walls* w = &state->walls;
    const int dim = g->dim, stride = problem_stride(dim);
    const int mobile = mobile_wall_of(as, g, body);
    const double* point = list->point + c * dim;
    if (mobile < 0 && body < 0) {
        const int fixed = -1 - body;
        surface_velocity(state, fixed, w->velocity + 3 * fixed, w->spin + 3 * fixed, point, v);
        return;
    }
    const double* row = p->body + (mobile >= 0 ? as->wall_row[mobile] : body) * (int64_t)stride;
    vec_copy(dim, v, row);
    if (mobile >= 0 || !is_solid(g, body)) return; // a ball's turning does not move it along n
    double spin[3] = {0.0, 0.0, 0.0}, arm[3] = {0.0, 0.0, 0.0}, turn[3];
    grain_spin_of_w(g, body, row + row_w(dim), dim == 2 ? spin + 2 : spin);
    vec_sub(dim, arm, point, g->position + (int64_t)body * dim);
    cell_nearest(&state->cell, dim, arm);
    vec_cross(turn, spin, arm);
    vec_add_scaled(dim, v, 1.0, turn);
}

double assembly_gap_after(const assembly* as, const step_order* order, const problem* p,
                          const contacts* list, int64_t c)
{
    const talus_pair_def* pair = pair_of(order->state, list, c);
    const int dim = list->dim;
    if (list->bonded[c] || pair->restitution > 0.0 || pair->tangential_restitution > 0.0 ||
        compound_pair(pair)) {
        return -INFINITY;
    }
    double a[3], b[3], u[3];
    point_velocity(as, order, p, list, c, list->a_row[c], a);
    point_velocity(as, order, p, list, c, list->b_row[c], b);
    vec_sub(dim, u, b, a);
    const double curving = curvature_closing(order->state, list, c, order->h);
    const double bias = contact_opening(as, order, list, c, curving);
    return order->h * (vec_dot(dim, u, list->normal + c * dim) + bias);
}

// ---- back --------------------------------------------------------------------------------------

/// Sliding means the friction bound is reached; rounding of the projection leaves it just below.
/// `bond` is the impulse that a bond adds to the bound. With two friction coefficients the next
/// step depends on it: there the contact must move, too.
static uint8_t contact_state(int dim, const double* n, double mu, double bond, const double* p)
{
    double pn = vec_dot(dim, p, n), base = pn + bond;
    if (!(base > 0.0) || (pn == 0.0 && bond == 0.0)) return TALUS_CONTACT_OPEN;
    double tt = vec_dot(dim, p, p) - pn * pn;
    double bound = mu * base * (1.0 - 1e-9);
    return tt >= bound * bound ? TALUS_CONTACT_SLIDE : TALUS_CONTACT_STICK;
}

void disassemble(const assembly* as, const step_order* order, const problem* p, double tolerance,
                 contacts* list)
{
    const int dim = p->dim, spin_dim = spin_width(dim);
#pragma omp parallel for num_threads(parallel_threads(order->threads, p->count)) schedule(static)
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + c * problem_width(dim);
        const double* impulse = row + contact_p(dim);
        const compound_contact* r =
            problem_compound_of(p, c) >= 0 ? &p->compound_rows[problem_compound_of(p, c)] : NULL;
        const talus_pair_def* pair = pair_of(order->state, list, c);
        const double scale = as->sign[c] / order->h, bond = r ? r->bond : 0.0;
        for (int k = 0; k < dim; k++) list->force[c * dim + k] = scale * impulse[k];
        for (int k = 0; k < spin_dim && list->torque; k++) {
            list->torque[c * spin_dim + k] = r ? scale * r->torque[k] : 0.0;
        }
        list->state[c] = contact_state(dim, row, row[contact_mu(dim)], bond, impulse);
        if (list->state[c] == TALUS_CONTACT_SLIDE && r && r->sliding_mu < pair->friction &&
            !problem_slides(p, c, tolerance)) {
            list->state[c] = TALUS_CONTACT_STICK;
        }
        list->bonded[c] =
            cohesion_bonds(pair, list->bonded[c], list->gap[c], vec_dot(dim, impulse, row),
                           order->state->grains.radius[list->b_row[c]]);
    }
}
