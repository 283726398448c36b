/// Assembly of the contact problem; the layout is described in rigid/problem.h.
#include "rigid/assemble.h"

#include "base/parallel.h"
#include "law/cohesion.h"
#include "law/restitution.h"
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

static talus_status assembly_reserve(assembly* as, int64_t contact_count, int64_t wall_count,
                                     int64_t grain_count)
{
    if (contact_count > as->sign_capacity) {
        free(as->sign);
        as->sign_capacity = capacity_for(contact_count);
        as->sign = malloc((size_t)as->sign_capacity);
    }
    if (wall_count > as->wall_capacity) {
        free(as->wall_row);
        as->wall_capacity = wall_count + 8;
        as->wall_row = malloc(sizeof *as->wall_row * (size_t)as->wall_capacity);
    }
    if (grain_count > as->grain_capacity) {
        free(as->turning);
        as->grain_capacity = capacity_for(grain_count);
        as->turning = malloc(sizeof *as->turning * 9 * (size_t)as->grain_capacity);
    }
    bool good = (as->sign || contact_count == 0) && (as->wall_row || wall_count == 0) &&
                (as->turning || grain_count == 0);
    if (!good) assembly_free(as);
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

// ---- body rows ---------------------------------------------------------------------------------

static void fill_grain_rows(assembly* as, const step_order* order, const double* free_velocity,
                            const double* free_spin, problem* out)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        double* row = out->free + i * stride;
        vec_copy(dim, row, free_velocity + i * dim);
        row[row_im(dim)] = g->inv_mass[i] * step_slowing(order, g->inv_mass[i]);
        grain_w_of_spin(g, i, free_spin + i * spin_dim, row + row_w(dim));
        row[row_kim(dim)] = g->spin_mobility[i];
        if (g->solid[i] >= 0) grain_turning(g, i, as->turning + 9 * i);
    }
    out->rows = g->count;
}

/// Make an immobile row that moves with velocity v.
static void fill_immobile_row(problem* out, int64_t at, const double* v)
{
    const int dim = out->dim, stride = problem_stride(dim);
    double* row = out->free + at * stride;
    for (int k = 0; k < stride; k++) row[k] = k < dim ? v[k] : 0.0;
}

/// Inverse mass matrix of a mobile wall, which its damping diminishes.
static void fill_mobility(const step_order* order, int wall, problem* out)
{
    const int dim = out->dim;
    double* mobility = out->mobility + out->mobile_count++ * dim * dim;
    const double slowing = drive_slowing(&order->state->walls, wall, order->h);
    drive_mobility(&order->state->walls, wall, dim, mobility);
    for (int i = 0; i < dim * dim; i++) mobility[i] *= slowing;
}

/// Mobile walls have the rows after those of the grains; returns how many there are.
static int64_t number_walls(assembly* as, const step_order* order)
{
    const walls* w = &order->state->walls;
    int64_t count = 0;
    for (int i = 0; i < (int)w->count; i++) {
        const bool mobile = w->present[i] && wall_is_mobile(w, i);
        as->wall_row[i] = mobile ? (int32_t)(order->state->grains.count + count++) : -1;
    }
    return count;
}

static void fill_mobile_rows(const assembly* as, const step_order* order, problem* out)
{
    const walls* w = &order->state->walls;
    out->mobile_first = out->rows;
    for (int i = 0; i < (int)w->count; i++) {
        if (as->wall_row[i] < 0) continue;
        fill_immobile_row(out, out->rows++, w->velocity + 3 * i);
        fill_mobility(order, i, out);
    }
}

/// A contact with a fixed or driven wall has a row of its own, noted as its first body. Walls come
/// first in the list.
static void number_private_rows(const assembly* as, const contacts* list, problem* out)
{
    for (int64_t c = 0; c < list->count && list->a_row[c] < 0; c++) {
        if (as->wall_row[-1 - list->a_row[c]] < 0) out->pair[2 * c] = (int32_t)out->rows++;
    }
}

/// Velocity at a contact point of a wall that moves with `velocity` and `spin`.
static void surface_velocity(const step_order* order, int wall, const double* velocity,
                             const double* spin, const double* point, double v[3])
{
    const int dim = order->state->grains.dim;
    double arm[3] = {0.0, 0.0, 0.0}, turn[3];
    vec_sub(dim, arm, point, order->state->walls.position + 3 * wall);
    cell_nearest(&order->state->cell, dim, arm);
    vec_cross(turn, spin, arm);
    for (int k = 0; k < 3; k++) v[k] = velocity[k] + turn[k];
}

// ---- contact rows ------------------------------------------------------------------------------

/// Which mobile wall a body of a contact belongs to: a wall's own code or a glued grain's row; -1.
static int mobile_wall_of(const assembly* as, const grains* g, int32_t body_row)
{
    int wall = body_row < 0 ? -1 - body_row : g->glued_to[body_row];
    return wall >= 0 && as->wall_row[wall] >= 0 ? wall : -1;
}

/// Rows of blocks and of compound contacts that are taken.
typedef struct rows_taken {
    int64_t blocks, compound;
} rows_taken;

/// Is this body of a contact a grain that is not a ball?
static bool is_solid(const grains* g, int32_t body_row)
{
    return body_row >= 0 && g->solid[body_row] >= 0;
}

/// Matrix G with: velocity at the contact = v + G w. `n` points to body b, `side` is 1 for b and -1
/// for a. A ball's arm is its radius along n; a solid's reaches to the contact point.
static void fill_arm(const assembly* as, const step_order* order, const contacts* list, int64_t c,
                     int32_t body, double side, const double* n, double* arm)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim;
    if (!is_solid(g, body)) {
        const double s = body < 0 ? 0.0 : side, nz = dim == 3 ? n[2] : 0.0;
        const double in_plane[2] = {n[1], -n[0]};
        const double in_space[9] = {0.0, -nz, n[1], nz, 0.0, -n[0], -n[1], n[0], 0.0};
        const double* ball = dim == 2 ? in_plane : in_space;
        for (int k = 0; k < (dim == 2 ? 2 : 9); k++) arm[k] = s * ball[k];
        return;
    }
    const double* turn = as->turning + 9 * (int64_t)body;
    double l[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, l, list->point + c * dim, g->position + (int64_t)body * dim);
    cell_nearest(&order->state->cell, dim, l);
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

static const talus_pair_def* contact_pair(const step_order* order, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    int material_a =
        a < 0 ? order->state->walls.record[-1 - a].material : order->state->grains.material[a];
    return materials_pair(&order->state->materials, material_a, order->state->grains.material[b]);
}

/// Body rows of a contact, a and b exchanged if need be so that a mobile wall comes first.
static void fill_pair(assembly* as, const step_order* order, const contacts* list, int64_t c,
                      problem* out, int* wall)
{
    const int dim = out->dim;
    int32_t a = list->a_row[c], b = list->b_row[c];
    int wall_a = mobile_wall_of(as, &order->state->grains, a),
        wall_b = mobile_wall_of(as, &order->state->grains, b);
    as->sign[c] = wall_b >= 0 ? -1 : 1;
    if (wall_b >= 0) {
        int32_t swap = a;
        a = b, b = swap;
        wall_a = wall_b;
    }
    *wall = wall_a;
    if (wall_a >= 0) {
        a = as->wall_row[wall_a];
    } else if (a < 0) {
        const int fixed = -1 - a;
        double v[3];
        surface_velocity(order, fixed, order->state->walls.velocity + 3 * fixed,
                         order->state->walls.spin + 3 * fixed, list->point + c * dim, v);
        a = out->pair[2 * c];
        fill_immobile_row(out, a, v);
        out->curve[a] = out->curve[b];
    }
    out->pair[2 * c] = a;
    out->pair[2 * c + 1] = b;
}

/// Velocity and spin of a body of a contact before the step, as a problem row without masses. Walls
/// and what is glued to them already have the step's velocity: theirs was kept by the
/// contact_dynamics, and is taken at the contact point, without a spin.
static void velocity_before(const assembly* as, const step_order* order, const contacts* list,
                            int64_t c, int32_t body, double* row)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim, spin_dim = spin_width(dim);
    const int wall = body < 0 ? -1 - body : g->glued_to[body];
    for (int k = 0; k < problem_stride(dim); k++) row[k] = 0.0;
    if (wall >= 0) {
        const double* before = as->wall_before + 9 * wall;
        double v[3];
        surface_velocity(order, wall, before, before + 3, list->point + c * dim, v);
        vec_copy(dim, row, v);
        return;
    }
    vec_copy(dim, row, g->velocity + (int64_t)body * dim);
    grain_w_of_spin(g, body, g->spin + (int64_t)body * spin_dim, row + row_w(dim));
}

/// Relative velocity at the contact before the step, b against a as in the problem.
static void approach_before(const assembly* as, const step_order* order, const contacts* list,
                            int64_t c, const problem* p, const double* n, double u[3])
{
    const int dim = order->state->grains.dim;
    int32_t a = list->a_row[c], b = list->b_row[c];
    double row_a[8], row_b[8];
    velocity_before(as, order, list, c, as->sign[c] > 0 ? a : b, row_a);
    velocity_before(as, order, list, c, as->sign[c] > 0 ? b : a, row_b);
    if (problem_block_of(p, c) >= 0) {
        block_velocity(dim, problem_block(p, dim, c), row_a, row_b, u);
    } else {
        contact_velocity(dim, row_a, row_b, n, u);
    }
}

/// Geometry of a compound contact: radii, a wall's spin, responses to torques. The row of a mobile
/// wall does not turn, whatever grain is glued to it.
static void fill_compound_geometry(const step_order* order, const contacts* list, int64_t c,
                                   const double* a, const double* b, int mobile_wall, bool swapped,
                                   compound_contact* r)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim;
    const int32_t grain_b = swapped ? list->a_row[c] : list->b_row[c];
    const int32_t body_a = swapped ? list->b_row[c] : list->a_row[c];
    r->inv_radius_b = 1.0 / g->radius[grain_b];
    r->inv_radius_a = mobile_wall < 0 && body_a >= 0 ? 1.0 / g->radius[body_a] : 0.0;
    if (body_a < 0) {
        const double* spin = order->state->walls.spin + 3 * (-1 - body_a);
        if (dim == 2) {
            r->spin_a[0] = spin[2];
        } else {
            vec_copy(3, r->spin_a, spin);
        }
    }
    const double kim_a = a[row_kim(dim)] * r->inv_radius_a;
    const double kim_b = b[row_kim(dim)] * r->inv_radius_b;
    r->coupling = kim_b - kim_a;
    r->response = kim_b * r->inv_radius_b + kim_a * r->inv_radius_a;
}

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
static void fill_turn(const step_order* order, const contacts* list, int64_t c, const problem* p,
                      int mobile_wall, bool swapped, compound_turn* t)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    const int32_t body_a = swapped ? list->b_row[c] : list->a_row[c];
    const int32_t body_b = swapped ? list->a_row[c] : list->b_row[c];
    *t = (compound_turn){.used = problem_block_of(p, c) >= 0 &&
                                 (is_solid(g, body_a) || is_solid(g, body_b))};
    if (!t->used) return;
    const double* block = problem_block(p, dim, c);
    const double kim_a = p->free[(int64_t)p->pair[2 * c] * stride + row_kim(dim)];
    const double kim_b = p->free[(int64_t)p->pair[2 * c + 1] * stride + row_kim(dim)];
    if (body_a >= 0 && mobile_wall < 0) grain_turning(g, body_a, t->turn_a);
    grain_turning(g, body_b, t->turn_b);
    const double *arm_a = block + block_arm_a(dim), *arm_b = block + block_arm_b(dim);
    add_product(spin_dim, dim, spin_dim, kim_a, t->turn_a, 3, arm_a, t->arms.coupling);
    add_product(spin_dim, dim, spin_dim, kim_b, t->turn_b, 3, arm_b, t->arms.coupling);
    add_product(spin_dim, spin_dim, spin_dim, kim_a, t->turn_a, 3, t->turn_a, t->arms.response);
    add_product(spin_dim, spin_dim, spin_dim, kim_b, t->turn_b, 3, t->turn_b, t->arms.response);
}

/// Reduced radius r* of the two bodies of a contact; a wall counts as flat.
static double reduced_radius(const grains* g, const contacts* list, int64_t c)
{
    double radius_b = g->radius[list->b_row[c]];
    if (list->a_row[c] < 0) return radius_b;
    double radius_a = g->radius[list->a_row[c]];
    return radius_a * radius_b / (radius_a + radius_b);
}

static double closing_of_balls(const step_order* order, const contacts* list, int64_t c)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim;
    const int64_t a = list->a_row[c], b = list->b_row[c];
    double v[3];
    vec_sub(dim, v, g->velocity + b * dim, g->velocity + a * dim);
    vec_add_scaled(dim, v, -vec_dot(dim, v, list->normal + c * dim), list->normal + c * dim);
    const double distance = g->radius[a] + g->radius[b] + list->gap[c];
    return cohesion_closing(vec_norm(dim, v), distance, order->h);
}

static double closing_of_solids(const step_order* order, const contacts* list, int64_t c)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim, spin_dim = spin_width(dim);
    const int64_t a = list->a_row[c], b = list->b_row[c];
    double apart[3] = {0.0, 0.0, 0.0}, spin[3] = {0.0, 0.0, 0.0}, turn[3], inward[3];
    vec_sub(dim, apart, g->position + b * dim, g->position + a * dim);
    cell_nearest(&order->state->cell, dim, apart);
    for (int k = 0; k < spin_dim; k++) {
        spin[dim == 2 ? 2 : k] = 0.5 * (g->spin[a * spin_dim + k] + g->spin[b * spin_dim + k]);
    }
    vec_cross(turn, spin, apart);
    vec_cross(inward, turn, spin); // -w x (w x d)
    return cohesion_closing_of_solids(vec_dot(dim, inward, list->normal + c * dim), order->h);
}

/// The bond of a contact: how much it bears in this step and how it keeps its width. The gap after
/// the step, g + h u_n + h closing, must not be negative: closing is added to the row's bias.
static void fill_bond(const step_order* order, const contacts* list, int64_t c,
                      const talus_pair_def* pair, double opening, compound_contact* r, double* bias)
{
    const grains* g = &order->state->grains;
    const int32_t a = list->a_row[c], b = list->b_row[c];
    r->bond = cohesion_impulse(pair, list->gap[c], opening, g->radius[b], order->h);
    if (a < 0) return;
    const bool balls = !is_solid(g, a) && !is_solid(g, b);
    r->closing = balls ? closing_of_balls(order, list, c) : closing_of_solids(order, list, c);
    *bias += r->closing;
}

/// The compound row of a contact: what its pair, its history and its geometry make of the laws.
static void fill_compound(const assembly* as, const step_order* order, const contacts* list,
                          int64_t c, const talus_pair_def* pair, const double* before,
                          int mobile_wall, int64_t at, problem* out, double* row)
{
    const grains* g = &order->state->grains;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    const double star = reduced_radius(g, list, c), sign = as->sign[c];
    const double opening = vec_dot(dim, before, row);
    compound_contact* r = &out->compound_rows[at];
    out->compound[c] = (int32_t)at;
    *r = (compound_contact){
        .h = order->h,
        .sliding_mu = pair_sliding_friction(pair),
        .rolling = rolling_bound_of(dim, pair->rolling_kind, pair->rolling, star),
        .torsion = rolling_bound_of(dim, pair->rolling_kind, pair->torsion, star)};
    if (list->bonded[c]) fill_bond(order, list, c, pair, opening, r, &row[contact_bias(dim)]);
    // A contact that slid in the last step goes on with its dynamic friction until it sticks.
    if (list->state[c] == TALUS_CONTACT_SLIDE) row[contact_mu(dim)] = r->sliding_mu;
    if (restitution_collides(list->gap[c], opening, order->h)) {
        for (int k = 0; k < dim; k++) r->slip[k] = pair->tangential_restitution * before[k];
    }
    fill_turn(order, list, c, out, mobile_wall, sign < 0.0, &out->compound_turns[at]);
    fill_compound_geometry(order, list, c, out->free + (int64_t)out->pair[2 * c] * stride,
                           out->free + (int64_t)out->pair[2 * c + 1] * stride, mobile_wall,
                           sign < 0.0, r);
    for (int k = 0; k < spin_dim && order->options->solver.warm_start; k++) {
        r->torque[k] = sign * order->h * list->torque[c * spin_dim + k];
    }
}

/// The constants of a contact's law, from its pair of materials and its state.
static void fill_law(const assembly* as, const step_order* order, contacts* list, int64_t c,
                     int wall, rows_taken* taken, problem* out, double* row)
{
    const int dim = out->dim;
    const talus_pair_def* pair = contact_pair(order, list, c);
    const double gap = list->gap[c], length = order->state->grains.radius[list->b_row[c]];
    const double open = order->options->solver.push_out_overlap || gap > 0.0 ? gap / order->h : 0.0;
    double before[3] = {0.0, 0.0, 0.0};
    list->bonded[c] = cohesion_holds(pair, list->bonded[c], gap, length);
    row[contact_bias(dim)] = open;
    row[contact_mu(dim)] = pair->friction;
    if (pair->restitution > 0.0 || pair->tangential_restitution > 0.0 || list->bonded[c]) {
        approach_before(as, order, list, c, out, row, before);
        row[contact_bias(dim)] =
            restitution_bias(pair, open, gap, vec_dot(dim, before, row), order->h);
    }
    if (compound_pair(pair))
        fill_compound(as, order, list, c, pair, before, wall, taken->compound++, out, row);
}

static bool needs_block(const step_order* order, const contacts* list, int64_t c, int mobile_wall)
{
    return mobile_wall >= 0 || is_solid(&order->state->grains, list->a_row[c]) ||
           is_solid(&order->state->grains, list->b_row[c]);
}

/// The full block of a contact: arms, responses. A mobile wall does not turn, nor does what is
/// glued to it.
static void fill_block(const assembly* as, const step_order* order, const contacts* list, int64_t c,
                       int mobile_wall, bool swapped, int64_t at, problem* out, double* row)
{
    const int dim = out->dim;
    const int32_t body_a = swapped ? list->b_row[c] : list->a_row[c];
    const int32_t body_b = swapped ? list->a_row[c] : list->b_row[c];
    out->block[c] = (int32_t)at;
    double* block = problem_block(out, dim, c);
    fill_arm(as, order, list, c, mobile_wall >= 0 ? -1 : body_a, -1.0, row,
             block + block_arm_a(dim));
    fill_arm(as, order, list, c, body_b, 1.0, row, block + block_arm_b(dim));
    problem_fill_block(out, c, row, &row[contact_mn(dim)], &row[contact_mt(dim)]);
}

static void fill_contact(assembly* as, const step_order* order, contacts* list, int64_t c,
                         rows_taken* taken, problem* out)
{
    const int dim = out->dim, stride = problem_stride(dim);
    const talus_solver_def* options = &order->options->solver;
    double* row = out->contact + c * problem_width(dim);
    int wall;
    fill_pair(as, order, list, c, out, &wall);
    const double sign = as->sign[c];
    for (int k = 0; k < dim; k++) {
        row[k] = sign * list->normal[c * dim + k];
        row[contact_p(dim) + k] =
            options->warm_start ? sign * order->h * list->force[c * dim + k] : 0.0;
    }
    if (needs_block(order, list, c, wall)) {
        fill_block(as, order, list, c, wall, sign < 0.0, taken->blocks++, out, row);
    } else {
        const double* a = out->free + (int64_t)out->pair[2 * c] * stride;
        const double* b = out->free + (int64_t)out->pair[2 * c + 1] * stride;
        double wn = a[row_im(dim)] + b[row_im(dim)];
        row[contact_mn(dim)] = 1.0 / wn;
        row[contact_mt(dim)] = 1.0 / (wn + a[row_kim(dim)] + b[row_kim(dim)]);
    }
    fill_law(as, order, list, c, wall, taken, out, row);
}

static bool any_compound(const materials* m)
{
    for (int i = 0; i < m->count * m->count; i++) {
        if (compound_pair(&m->pair[i])) return true;
    }
    return false;
}

static rows_taken count_rows(const assembly* as, const step_order* order, const contacts* list,
                             int64_t first, int64_t last)
{
    const grains* g = &order->state->grains;
    rows_taken count = {0, 0};
    for (int64_t c = first; c < last; c++) {
        const int wall_a = mobile_wall_of(as, g, list->a_row[c]);
        const int wall_b = mobile_wall_of(as, g, list->b_row[c]);
        count.blocks += needs_block(order, list, c, wall_a >= 0 ? wall_a : wall_b);
        count.compound += compound_pair(contact_pair(order, list, c));
    }
    return count;
}

/// Count what the chunks of the list need; before[chunk] receives what the chunks before it take.
static void number_rows(const assembly* as, const step_order* order, const contacts* list,
                        rows_taken* before, problem_size* size)
{
    const solids* shapes = order->state->grains.solids;
    const int chunks = parallel_chunks(list->count);
    const bool any =
        size->mobile > 0 || (shapes && shapes->count > 0) || any_compound(&order->state->materials);
#pragma omp parallel for num_threads(parallel_threads(order->threads, list->count)) schedule(static)
    for (int k = 0; k < chunks; k++) {
        const int64_t first = parallel_first(list->count, k);
        const int64_t last = any ? parallel_first(list->count, k + 1) : first;
        before[k] = count_rows(as, order, list, first, last);
    }
    for (int k = 0; k < chunks; k++) {
        const rows_taken own = before[k];
        before[k] = (rows_taken){size->blocks, size->compound};
        size->blocks += own.blocks;
        size->compound += own.compound;
    }
}

static void fill_contacts(assembly* as, const step_order* order, contacts* list,
                          const rows_taken* before, problem* out)
{
    const int chunks = parallel_chunks(list->count);
#pragma omp parallel for num_threads(parallel_threads(order->threads, list->count)) schedule(static)
    for (int k = 0; k < chunks; k++) {
        const int64_t last = parallel_first(list->count, k + 1);
        rows_taken taken = before[k];
        for (int64_t c = parallel_first(list->count, k); c < last; c++) {
            fill_contact(as, order, list, c, &taken, out);
        }
    }
    out->count = list->count;
}

talus_status assemble(assembly* as, const step_order* order, contacts* list,
                      const double* free_velocity, const double* free_spin, problem* out)
{
    const grains* g = &order->state->grains;
    const walls* w = &order->state->walls;
    const int64_t solid_rows = g->solids && g->solids->count > 0 ? g->count : 0;
    if (assembly_reserve(as, list->count, w->count, solid_rows)) return TALUS_ERR_MEMORY;
    int64_t wall_contacts = 0;
    while (wall_contacts < list->count && list->a_row[wall_contacts] < 0) wall_contacts++;
    rows_taken before[PARALLEL_CHUNKS];
    problem_size size = {.contacts = list->count, .mobile = number_walls(as, order)};
    size.rows = g->count + size.mobile + wall_contacts;
    number_rows(as, order, list, before, &size);
    if (problem_reset(out, g->dim, &size)) return TALUS_ERR_MEMORY;
    if (size.compound > 0 && contacts_need_torques(list)) return TALUS_ERR_MEMORY;
    out->block_count = size.blocks;
    out->compound_count = size.compound;
    fill_grain_rows(as, order, free_velocity, free_spin, out);
    fill_mobile_rows(as, order, out);
    number_private_rows(as, list, out);
    out->curve_cell = morton_keys(g, order->threads, out->curve);
    fill_contacts(as, order, list, before, out);
    return TALUS_OK;
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

static void give_back(const assembly* as, const step_order* order, const problem* p, int64_t c,
                      contacts* list)
{
    const int dim = p->dim, spin_dim = spin_width(dim);
    const double* row = p->contact + c * problem_width(dim);
    const double* impulse = row + contact_p(dim);
    const compound_contact* r =
        problem_compound_of(p, c) >= 0 ? &p->compound_rows[problem_compound_of(p, c)] : NULL;
    const double scale = as->sign[c] / order->h, bond = r ? r->bond : 0.0;
    for (int k = 0; k < dim; k++) list->force[c * dim + k] = scale * impulse[k];
    for (int k = 0; k < spin_dim && list->torque; k++) {
        list->torque[c * spin_dim + k] = r ? scale * r->torque[k] : 0.0;
    }
    list->state[c] = contact_state(dim, row, row[contact_mu(dim)], bond, impulse);
    if (list->state[c] == TALUS_CONTACT_SLIDE && r &&
        r->sliding_mu < contact_pair(order, list, c)->friction &&
        !problem_slides(p, c, order->options->solver.tolerance)) {
        list->state[c] = TALUS_CONTACT_STICK;
    }
    list->bonded[c] =
        cohesion_bonds(contact_pair(order, list, c), list->bonded[c], list->gap[c],
                       vec_dot(dim, impulse, row), order->state->grains.radius[list->b_row[c]]);
}

void disassemble(const assembly* as, const step_order* order, const problem* p, contacts* list)
{
#pragma omp parallel for num_threads(parallel_threads(order->threads, p->count)) schedule(static)
    for (int64_t c = 0; c < p->count; c++) give_back(as, order, p, c, list);
}
