/// Assembly of the contact problem; the layout is described in solve/problem.h.
#include "step/assemble.h"

#include "body/drive.h"
#include "law/cohesion.h"
#include "law/restitution.h"

#include <stdlib.h>

void assembly_free(assembly* as)
{
    free(as->sign);
    free(as->wall_row);
    *as = (assembly){0};
}

static talus_status assembly_reserve(assembly* as, int64_t contact_count, int64_t wall_count)
{
    if (contact_count > as->sign_capacity) {
        free(as->sign);
        as->sign_capacity = contact_count + contact_count / 4 + 16;
        as->sign = malloc((size_t)as->sign_capacity);
    }
    if (wall_count > as->wall_capacity) {
        free(as->wall_row);
        as->wall_capacity = wall_count + 8;
        as->wall_row = malloc(sizeof *as->wall_row * (size_t)as->wall_capacity);
    }
    bool good = (as->sign || contact_count == 0) && (as->wall_row || wall_count == 0);
    if (!good) assembly_free(as);
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

// ---- body rows ---------------------------------------------------------------------------------

static void fill_grain_rows(const step_context* ctx, const double* free_velocity,
                            const double* free_spin, problem* out)
{
    const grains* g = ctx->grains;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = dim == 2 ? 1 : 3;
    for (int64_t i = 0; i < g->count; i++) {
        double* row = out->free + i * stride;
        vec_copy(dim, row, free_velocity + i * dim);
        row[row_im(dim)] = g->inv_mass[i] * step_slowing(ctx, g->inv_mass[i]);
        for (int k = 0; k < spin_dim; k++) {
            row[row_w(dim) + k] = g->radius[i] * free_spin[i * spin_dim + k];
        }
        row[row_kim(dim)] = g->spin_mobility[i];
    }
    out->rows = g->count;
}

/// Append an immobile row that moves with velocity v; returns its index.
static int32_t append_row(problem* out, const double* v)
{
    const int dim = out->dim, stride = problem_stride(dim);
    double* row = out->free + out->rows * stride;
    for (int k = 0; k < stride; k++) row[k] = k < dim ? v[k] : 0.0;
    return (int32_t)out->rows++;
}

static void fill_mobile_rows(assembly* as, const walls* w, problem* out)
{
    for (int i = 0; i < (int)w->count; i++) {
        as->wall_row[i] = -1;
        if (w->present[i] && wall_is_mobile(w, i)) {
            as->wall_row[i] = append_row(out, w->velocity + 3 * i);
        }
    }
}

/// Velocity at a contact point of a wall that moves with `velocity` and `spin`.
static void surface_velocity(const step_context* ctx, int wall, const double* velocity,
                             const double* spin, const double* point, double v[3])
{
    const int dim = ctx->grains->dim;
    double arm[3] = {0.0, 0.0, 0.0}, turn[3];
    vec_sub(dim, arm, point, ctx->walls->position + 3 * wall);
    cell_nearest(ctx->cell, dim, arm);
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

/// Full block S = im_b I + kim_b (I - n n) + W with the wall's inverse mass matrix W, which its
/// damping diminishes.
static void fill_block(const step_context* ctx, int wall, problem* out, const double* n,
                       const double* b_row, double* mn, double* mt)
{
    const int dim = out->dim;
    double* S = out->blocks + out->block_count++ * 2 * dim * dim;
    double* mobility = S + dim * dim;
    drive_mobility(ctx->walls, wall, dim, mobility);
    const double slowing = drive_slowing(ctx->walls, wall, ctx->h);
    for (int i = 0; i < dim * dim; i++) mobility[i] *= slowing;
    const double im = b_row[row_im(dim)], kim = b_row[row_kim(dim)];
    double normal_response = 0.0, trace = 0.0;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            double identity = i == j ? 1.0 : 0.0;
            double value = (im + kim) * identity - kim * n[i] * n[j] + mobility[i * dim + j];
            S[i * dim + j] = value;
            normal_response += n[i] * value * n[j];
        }
        trace += S[i * dim + i];
    }
    *mn = 1.0 / normal_response;
    *mt = (dim - 1) / (trace - normal_response);
}

static const talus_pair_def* contact_pair(const step_context* ctx, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    int material_a = a < 0 ? ctx->walls->record[-1 - a].material : ctx->grains->material[a];
    return materials_pair(ctx->materials, material_a, ctx->grains->material[b]);
}

/// Body rows of a contact, a and b exchanged if need be so that a mobile wall comes first.
static void fill_pair(assembly* as, const step_context* ctx, const contacts* list, int64_t c,
                      problem* out, int* wall)
{
    const int dim = out->dim;
    int32_t a = list->a_row[c], b = list->b_row[c];
    int wall_a = mobile_wall_of(as, ctx->grains, a), wall_b = mobile_wall_of(as, ctx->grains, b);
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
        surface_velocity(ctx, fixed, ctx->walls->velocity + 3 * fixed, ctx->walls->spin + 3 * fixed,
                         list->point + c * dim, v);
        a = append_row(out, v);
    }
    out->pair[2 * c] = a;
    out->pair[2 * c + 1] = b;
}

/// Velocity and spin of a body of a contact before the step, as a problem row without masses. Walls
/// and what is glued to them already have the step's velocity: theirs was kept by the stepper.
static void velocity_before(const assembly* as, const step_context* ctx, const contacts* list,
                            int64_t c, int32_t body, double* row)
{
    const grains* g = ctx->grains;
    const int dim = g->dim, spin_dim = dim == 2 ? 1 : 3;
    const int wall = body < 0 ? -1 - body : g->glued_to[body];
    for (int k = 0; k < problem_stride(dim); k++) row[k] = 0.0;
    if (wall >= 0) {
        const double* before = as->wall_before + 9 * wall;
        double v[3];
        surface_velocity(ctx, wall, before, before + 3, list->point + c * dim, v);
        vec_copy(dim, row, v);
        return;
    }
    vec_copy(dim, row, g->velocity + (int64_t)body * dim);
    for (int k = 0; k < spin_dim; k++) {
        row[row_w(dim) + k] = g->radius[body] * g->spin[(int64_t)body * spin_dim + k];
    }
}

/// Relative velocity at the contact before the step, b against a as in the problem.
static void approach_before(const assembly* as, const step_context* ctx, const contacts* list,
                            int64_t c, const double* n, double u[3])
{
    const int dim = ctx->grains->dim;
    int32_t a = list->a_row[c], b = list->b_row[c];
    double row_a[8], row_b[8];
    velocity_before(as, ctx, list, c, as->sign[c] > 0 ? a : b, row_a);
    velocity_before(as, ctx, list, c, as->sign[c] > 0 ? b : a, row_b);
    if (dim == 2) {
        contact_velocity(2, row_a, row_b, n, u);
    } else {
        contact_velocity(3, row_a, row_b, n, u);
    }
}

/// Geometry of a rich contact: radii, a wall's spin, responses to torques. The row of a mobile wall
/// does not turn, whatever grain is glued to it.
static void fill_rich_geometry(const step_context* ctx, const contacts* list, int64_t c,
                               const double* a, const double* b, int mobile_wall, bool swapped,
                               rich_contact* r)
{
    const grains* g = ctx->grains;
    const int dim = g->dim;
    const int32_t grain_b = swapped ? list->a_row[c] : list->b_row[c];
    const int32_t body_a = swapped ? list->b_row[c] : list->a_row[c];
    r->inv_radius_b = 1.0 / g->radius[grain_b];
    r->inv_radius_a = mobile_wall < 0 && body_a >= 0 ? 1.0 / g->radius[body_a] : 0.0;
    if (body_a < 0) {
        const double* spin = ctx->walls->spin + 3 * (-1 - body_a);
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

/// Reduced radius r* of the two bodies of a contact; a wall counts as flat.
static double reduced_radius(const grains* g, const contacts* list, int64_t c)
{
    double radius_b = g->radius[list->b_row[c]];
    if (list->a_row[c] < 0) return radius_b;
    double radius_a = g->radius[list->a_row[c]];
    return radius_a * radius_b / (radius_a + radius_b);
}

/// The bond of a contact: how much it bears in this step and how it keeps its width. The gap after
/// the step, g + h u_n + h closing, must not be negative: closing is added to the row's bias.
static void fill_bond(const step_context* ctx, const contacts* list, int64_t c,
                      const talus_pair_def* pair, double opening, rich_contact* r, double* bias)
{
    const grains* g = ctx->grains;
    const int dim = g->dim;
    const int32_t a = list->a_row[c], b = list->b_row[c];
    r->bond = cohesion_impulse(pair, list->gap[c], opening, g->radius[b], ctx->h);
    if (a < 0) return;
    double v[3];
    vec_sub(dim, v, g->velocity + (int64_t)b * dim, g->velocity + (int64_t)a * dim);
    vec_add_scaled(dim, v, -vec_dot(dim, v, list->normal + c * dim), list->normal + c * dim);
    const double distance = g->radius[a] + g->radius[b] + list->gap[c];
    r->closing = cohesion_closing(vec_norm(dim, v), distance, ctx->h);
    *bias += r->closing;
}

/// The rich row of a contact: what its pair, its history and its geometry make of the laws.
static void fill_rich(assembly* as, const step_context* ctx, const contacts* list, int64_t c,
                      const talus_pair_def* pair, const double* before, int mobile_wall,
                      problem* out, double* row)
{
    const grains* g = ctx->grains;
    const int dim = g->dim, stride = problem_stride(dim), spin_dim = dim == 2 ? 1 : 3;
    const double star = reduced_radius(g, list, c), sign = as->sign[c];
    const double opening = vec_dot(dim, before, row);
    rich_contact* r = &out->rich_rows[out->rich_count];
    out->rich[c] = (int32_t)out->rich_count++;
    *r = (rich_contact){.h = ctx->h,
                        .sliding_mu = pair_sliding_friction(pair),
                        .rolling = rolling_bound_of(dim, pair->rolling_kind, pair->rolling, star),
                        .torsion = rolling_bound_of(dim, pair->rolling_kind, pair->torsion, star)};
    if (list->bonded[c]) fill_bond(ctx, list, c, pair, opening, r, &row[contact_bias(dim)]);
    // A contact that slid in the last step goes on with its dynamic friction until it sticks.
    if (list->state[c] == TALUS_CONTACT_SLIDE) row[contact_mu(dim)] = r->sliding_mu;
    if (restitution_collides(list->gap[c], opening, ctx->h)) {
        for (int k = 0; k < dim; k++) r->slip[k] = pair->tangential_restitution * before[k];
    }
    fill_rich_geometry(ctx, list, c, out->free + (int64_t)out->pair[2 * c] * stride,
                       out->free + (int64_t)out->pair[2 * c + 1] * stride, mobile_wall, sign < 0.0,
                       r);
    for (int k = 0; k < spin_dim && ctx->def->solver.warm_start; k++) {
        r->torque[k] = sign * ctx->h * list->torque[c * spin_dim + k];
    }
}

/// The constants of a contact's law, from its pair of materials and its state.
static void fill_law(assembly* as, const step_context* ctx, contacts* list, int64_t c, int wall,
                     problem* out, double* row)
{
    const int dim = out->dim;
    const talus_pair_def* pair = contact_pair(ctx, list, c);
    const double gap = list->gap[c], length = ctx->grains->radius[list->b_row[c]];
    const double open = ctx->def->solver.push_out_overlap || gap > 0.0 ? gap / ctx->h : 0.0;
    double before[3] = {0.0, 0.0, 0.0};
    list->bonded[c] = cohesion_holds(pair, list->bonded[c], gap, length);
    row[contact_bias(dim)] = open;
    row[contact_mu(dim)] = pair->friction;
    if (pair->restitution > 0.0 || pair->tangential_restitution > 0.0 || list->bonded[c]) {
        approach_before(as, ctx, list, c, row, before);
        row[contact_bias(dim)] =
            restitution_bias(pair, open, gap, vec_dot(dim, before, row), ctx->h);
    }
    if (rich_pair(pair)) fill_rich(as, ctx, list, c, pair, before, wall, out, row);
}

static void fill_contact(assembly* as, const step_context* ctx, contacts* list, int64_t c,
                         problem* out)
{
    const int dim = out->dim, stride = problem_stride(dim);
    const talus_solver_def* options = &ctx->def->solver;
    double* row = out->contact + c * problem_width(dim);
    int wall;
    fill_pair(as, ctx, list, c, out, &wall);
    const double sign = as->sign[c];
    for (int k = 0; k < dim; k++) {
        row[k] = sign * list->normal[c * dim + k];
        row[contact_p(dim) + k] =
            options->warm_start ? sign * ctx->h * list->force[c * dim + k] : 0.0;
    }
    const double* a = out->free + (int64_t)out->pair[2 * c] * stride;
    const double* b = out->free + (int64_t)out->pair[2 * c + 1] * stride;
    out->block[c] = -1;
    if (wall >= 0) {
        out->block[c] = (int32_t)out->block_count;
        fill_block(ctx, wall, out, row, b, &row[contact_mn(dim)], &row[contact_mt(dim)]);
    } else {
        double wn = a[row_im(dim)] + b[row_im(dim)];
        row[contact_mn(dim)] = 1.0 / wn;
        row[contact_mt(dim)] = 1.0 / (wn + a[row_kim(dim)] + b[row_kim(dim)]);
    }
    fill_law(as, ctx, list, c, wall, out, row);
}

static bool any_mobile(const walls* w)
{
    for (int i = 0; i < (int)w->count; i++) {
        if (w->present[i] && wall_is_mobile(w, i)) return true;
    }
    return false;
}

static bool any_rich(const materials* m)
{
    for (int i = 0; i < m->count * m->count; i++) {
        if (rich_pair(&m->pair[i])) return true;
    }
    return false;
}

talus_status assemble(assembly* as, const step_context* ctx, contacts* list,
                      const double* free_velocity, const double* free_spin, problem* out)
{
    const grains* g = ctx->grains;
    const walls* w = ctx->walls;
    if (assembly_reserve(as, list->count, w->count)) return TALUS_ERR_MEMORY;
    int64_t wall_contacts = 0;
    while (wall_contacts < list->count && list->a[wall_contacts] < 0) wall_contacts++;
    // A mobile wall may carry glued grains, so any contact may need a block once there is one.
    int64_t blocks = any_mobile(w) ? list->count : 0;
    int64_t rich = any_rich(ctx->materials) ? list->count : 0;
    if (problem_reset(out, g->dim, g->count + w->count + wall_contacts, list->count, blocks,
                      rich)) {
        return TALUS_ERR_MEMORY;
    }
    fill_grain_rows(ctx, free_velocity, free_spin, out);
    fill_mobile_rows(as, w, out);
    for (int64_t c = 0; c < list->count; c++) fill_contact(as, ctx, list, c, out);
    out->count = list->count;
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

static void give_back(const assembly* as, const step_context* ctx, const problem* p, int64_t c,
                      contacts* list)
{
    const int dim = p->dim, spin_dim = dim == 2 ? 1 : 3;
    const double* row = p->contact + c * problem_width(dim);
    const double* impulse = row + contact_p(dim);
    const rich_contact* r = p->rich[c] >= 0 ? &p->rich_rows[p->rich[c]] : NULL;
    const double scale = as->sign[c] / ctx->h, bond = r ? r->bond : 0.0;
    for (int k = 0; k < dim; k++) list->force[c * dim + k] = scale * impulse[k];
    for (int k = 0; k < spin_dim; k++) {
        list->torque[c * spin_dim + k] = r ? scale * r->torque[k] : 0.0;
    }
    list->state[c] = contact_state(dim, row, row[contact_mu(dim)], bond, impulse);
    if (list->state[c] == TALUS_CONTACT_SLIDE && r &&
        r->sliding_mu < contact_pair(ctx, list, c)->friction &&
        !problem_slides(p, c, ctx->def->solver.tolerance)) {
        list->state[c] = TALUS_CONTACT_STICK;
    }
    list->bonded[c] =
        cohesion_bonds(contact_pair(ctx, list, c), list->bonded[c], list->gap[c],
                       vec_dot(dim, impulse, row), ctx->grains->radius[list->b_row[c]]);
}

void disassemble(const assembly* as, const step_context* ctx, const problem* p, contacts* list)
{
    for (int64_t c = 0; c < p->count; c++) give_back(as, ctx, p, c, list);
}
