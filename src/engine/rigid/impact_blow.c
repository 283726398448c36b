/// One impact, of one contact or of several at the same moment: velocities before it in, velocities
/// after it out.
///
/// A contact of the impact is a part (impact_part). It knows the rows of its bodies, how these
/// answer an impulse, and its goal, the normal velocity after the impact. Balls answer along and
/// across the normal with one number each, so normal impulses come first, all parts in turn until
/// each has its goal, and friction follows (impact_rub()). Where a solid takes part impulses along
/// and across mix: its parts are solved as whole contacts, with friction, in the same passes.
#include "base/array.h"
#include "base/error.h"
#include "law/coulomb.h"
#include "rigid/impact_parts.h"
#include "rigid/problem.h"
#include "state/drive.h"

/// Passes over the contacts of one impact, at most, and when they end: a part of what is lost of a
/// contact's velocity, (1 - e) u, or rounding.
enum { MOST_PASSES = 1000 };
/// The corners of a face that lands belong together and are to leave with the same velocity: there
/// the first is smaller.
static const double EXACT = 0.05, EXACT_SOLIDS = 1e-12, ROUNDING_OF_PASSES = 1e-15;
/// A contact slides if its friction reaches the bound but for this part.
static const double SLIDING = 1e-9;

talus_status impact_strike(const flight_job* job, int64_t c, int side)
{
    impacts* im = job->im;
    const grains* g = &job->state->grains;
    const int dim = job->dim, spin_dim = spin_width(dim);
    const int64_t i = impact_body(job->state, job->scene->list, c, side);
    const bool wall = i >= g->count;
    const bool moves =
        wall ? wall_is_mobile(&job->state->walls, (int)(i - g->count)) : g->inv_mass[i] > 0.0;
    if (!moves || im->body_of[i] >= 0) return TALUS_OK;
    if (!arrays_grow(&im->body_capacity, im->body_count + 1, ARRAY(im->body))) {
        return TALUS_ERR_MEMORY;
    }
    const flight f = impact_flight_of(job, c, side, 0.0);
    const double* v = wall ? f.v : job->scene->free_velocity + i * dim;
    struck_body* b = &im->body[im->body_count];
    *b = (struck_body){.body = (int32_t)i, .impact = -1};
    vec_copy(dim, b->row, v);
    vec_copy(dim, b->start, v);
    if (wall) {
        drive_mobility(&job->state->walls, (int)(i - g->count), dim, b->mobility);
    } else {
        grain_w_of_spin(g, i, job->scene->free_spin + i * spin_dim, b->row + row_w(dim));
        vec_copy(spin_dim, b->start_w, b->row + row_w(dim));
        b->row[row_im(dim)] = g->inv_mass[i];
        b->row[row_kim(dim)] = g->spin_mobility[i];
        vec_copy(dim, b->velocity, g->velocity + i * dim);
        vec_copy(spin_dim, b->spin, g->spin + i * spin_dim);
    }
    im->body_of[i] = (int32_t)im->body_count++;
    return TALUS_OK;
}

/// Response of both bodies' velocities to an impulse along a direction.
static double mobility_along(int dim, const impact_part* part, const double* direction)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < dim && part->mobility[side]; k++) {
            sum += direction[k] * vec_dot(dim, part->mobility[side] + k * dim, direction);
        }
    }
    return sum;
}

/// A body of a part: the row that its impulses change, or, if nothing moves it, its velocity.
static void fill_body(const flight_job* job, double t, impact_part* part, int side)
{
    const impacts* im = job->im;
    const int dim = job->dim;
    const int64_t i = impact_body(job->state, job->scene->list, part->contact, side);
    const bool wall = i >= job->state->grains.count;
    if (im->body_of[i] >= 0) {
        struck_body* b = &im->body[im->body_of[i]];
        part->row[side] = b->row;
        if (wall) part->mobility[side] = b->mobility;
        return;
    }
    const flight f = impact_flight_of(job, part->contact, side, t);
    vec_copy(dim, part->still, f.v);
    part->row[side] = NULL; // `still`, which moves with the part
    if (wall) return;
    grain_w_of_spin(&job->state->grains, i, job->scene->free_spin + i * spin_width(dim),
                    part->still + row_w(dim));
}

/// How the bodies of a part answer an impulse where a solid is one of them, and its friction.
/// `before`: relative velocity.
static void fill_solids(const flight_job* job, double t, impact_part* part, const double* before)
{
    const talus_pair_def* law = impact_law(job->state, job->scene->list, part->contact);
    const int dim = job->dim, spin_dim = spin_width(dim);
    const double along = vec_dot(dim, before, part->n);
    double *S = part->response, along_n = 0.0;
    part->solids = true;
    part->mu = law->friction;
    for (int k = 0; k < dim; k++) {
        part->slip[k] = law->tangential_restitution * (before[k] - along * part->n[k]);
    }
    for (int side = 0; side < 2; side++) {
        const double *row = part->row[side], *mobility = part->mobility[side];
        double* arm = part->arm[side];
        impact_arm_at(job, part->contact, side, t, arm);
        // S = 1/m + G (spin mobility) G^T of both bodies, and the mobility of a wall.
        for (int i = 0; i < dim * dim && row; i++) {
            S[i] += (i / dim == i % dim ? row[row_im(dim)] : 0.0) + (mobility ? mobility[i] : 0.0) +
                    row[row_kim(dim)] *
                        vec_dot(spin_dim, arm + i / dim * spin_dim, arm + i % dim * spin_dim);
        }
        // The velocity of what does not move has its turning already.
        const int64_t body = impact_body(job->state, job->scene->list, part->contact, side);
        const bool still = !row && impact_is_solid(job->state, body);
        for (int i = 0; i < dim * spin_dim && still; i++) arm[i] = 0.0;
    }
    for (int k = 0; k < dim; k++) along_n += part->n[k] * vec_dot(dim, S + k * dim, part->n);
    part->mn = 1.0 / along_n;
    coulomb_block_inverse(dim, S, part->inverse);
}

void impact_fill_part(const flight_job* job, int32_t c, double t, impact_part* part)
{
    const int dim = job->dim;
    const path p = impact_path_of(job, c, t);
    double x[3], u[3], inverse_mass = 0.0, turning = 0.0;
    *part = (impact_part){.contact = c};
    impact_path_at(job, &p, t, x, u);
    const double distance = vec_norm(dim, x);
    for (int k = 0; k < dim; k++) {
        part->n[k] = p.balls && distance > 0.0 ? x[k] / distance : p.n[k];
        part->offset[k] = p.kick[k] * (t / job->h - 0.5);
    }
    bool turning_arms = false;
    for (int side = 0; side < 2; side++) {
        fill_body(job, t, part, side);
        turning_arms |=
            impact_is_solid(job->state, impact_body(job->state, job->scene->list, c, side));
        if (!part->row[side]) continue;
        inverse_mass += part->row[side][row_im(dim)];
        turning += part->row[side][row_kim(dim)];
    }
    const double before = vec_dot(dim, u, part->n);
    part->goal = -impact_law(job->state, job->scene->list, c)->restitution * before;
    part->speed = -before;
    part->wt = inverse_mass + turning;
    part->mn = 1.0 / (inverse_mass + mobility_along(dim, part, part->n));
    if (turning_arms) fill_solids(job, t, part, u);
}

static double* part_row(impact_part* part, int side)
{
    return part->row[side] ? part->row[side] : part->still;
}

/// Relative velocity at a part, with the slip of turning.
static void part_velocity(int dim, impact_part* part, double* u)
{
    const double *a = part_row(part, 0), *b = part_row(part, 1);
    const int w = row_w(dim), spin_dim = spin_width(dim);
    if (!part->solids) contact_velocity(dim, a, b, part->n, u);
    for (int k = 0; k < dim && part->solids; k++) {
        u[k] = b[k] - a[k] + vec_dot(spin_dim, part->arm[1] + k * spin_dim, b + w) -
               vec_dot(spin_dim, part->arm[0] + k * spin_dim, a + w);
    }
    vec_add_scaled(dim, u, 1.0, part->offset);
}

/// Add an impulse on b.
static void part_apply(const flight_job* job, impact_part* part, const double* p)
{
    const int dim = job->dim;
    if (!part->solids) {
        contact_apply(dim, part_row(part, 0), part_row(part, 1), part->n, p);
    }
    for (int side = 0; side < 2 && part->solids; side++) {
        double* row = part_row(part, side);
        const double sign = side == 0 ? -1.0 : 1.0;
        vec_add_scaled(dim, row, sign * row[row_im(dim)], p);
        arm_apply(dim, part->arm[side], sign * row[row_kim(dim)], p, row + row_w(dim));
    }
    for (int k = 0; k < dim && part->mobility[0]; k++) {
        part->row[0][k] -= vec_dot(dim, part->mobility[0] + k * dim, p);
    }
    vec_add_scaled(dim, job->im->impulse + (int64_t)part->contact * dim, 1.0, p);
}

/// Change of the impulse of a part that gives it its goal, everything else held: along the normal
/// where nothing rubs and for balls, whose friction follows; by the law of a contact for others.
static void part_change(const flight_job* job, impact_part* part, double* dp)
{
    const int dim = job->dim;
    double u[3], alone[3], solved[3];
    part_velocity(dim, part, u);
    if (!part->solids || part->mu == 0.0) {
        const double wanted =
            fmax(part->impulse + part->mn * (part->goal - vec_dot(dim, u, part->n)), 0.0);
        for (int k = 0; k < dim; k++) dp[k] = (wanted - part->impulse) * part->n[k];
        part->impulse = wanted;
        return;
    }
    for (int k = 0; k < dim; k++) {
        alone[k] = u[k] + part->slip[k] - vec_dot(dim, part->response + k * dim, part->p);
    }
    coulomb_block(dim, part->response, part->inverse, part->n, -part->goal, part->mu, alone,
                  part->p, solved);
    vec_sub(dim, dp, solved, part->p);
    vec_copy(dim, part->p, solved);
    part->impulse = vec_dot(dim, solved, part->n);
}

/// Passes over all parts until each has its goal.
static void make_passes(const flight_job* job)
{
    impacts* im = job->im;
    const int dim = job->dim;
    double fastest = 0.0;
    for (int64_t i = 0; i < im->part_count; i++) fastest = fmax(fastest, im->part[i].speed);
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double change = 0.0;
        for (int64_t i = 0; i < im->part_count; i++) {
            impact_part* part = &im->part[i];
            double dp[3];
            part_change(job, part, dp);
            const double exact = part->solids ? EXACT_SOLIDS : EXACT;
            const double allowed =
                fmax(exact * (part->speed - part->goal), ROUNDING_OF_PASSES * fastest);
            change = fmax(change, vec_norm(dim, dp) / part->mn / allowed);
            part_apply(job, part, dp);
        }
        if (im->part_count == 1 || !(change > 1.0)) break;
    }
}

void impact_push_apart(const flight_job* job)
{
    impacts* im = job->im;
    const int dim = job->dim;
    bool looser = false;
    make_passes(job);
    for (int64_t i = 0; i < im->part_count; i++) {
        impact_part* part = &im->part[i];
        if (!part->solids) continue;
        const double across2 = vec_dot(dim, part->p, part->p) - part->impulse * part->impulse;
        const double bound = part->mu * part->impulse * (1.0 - SLIDING);
        const bool slides = across2 >= bound * bound;
        const talus_pair_def* law = impact_law(job->state, job->scene->list, part->contact);
        im->slides[part->contact] = slides;
        if (!slides || !(pair_sliding_friction(law) < part->mu)) continue;
        part->mu = pair_sliding_friction(law);
        looser = true;
    }
    if (looser) make_passes(job);
}

void impact_rub(const flight_job* job, impact_part* part)
{
    const talus_pair_def* law = impact_law(job->state, job->scene->list, part->contact);
    const int dim = job->dim;
    double u[3], p[3];
    if (part->solids) return; // impact_push_apart() did it
    job->im->slides[part->contact] = true;
    if (part->impulse == 0.0 || law->friction == 0.0) return;
    part_velocity(dim, part, u);
    vec_add_scaled(dim, u, -vec_dot(dim, u, part->n), part->n);
    const double slip = vec_norm(dim, u);
    if (slip == 0.0) return;
    for (int k = 0; k < dim; k++) u[k] /= slip;
    double impulse =
        (1.0 + law->tangential_restitution) * slip / (part->wt + mobility_along(dim, part, u));
    job->im->slides[part->contact] = impulse > law->friction * part->impulse;
    if (job->im->slides[part->contact]) {
        impulse = fmin(impulse, pair_sliding_friction(law) * part->impulse);
    }
    for (int k = 0; k < dim; k++) p[k] = -impulse * u[k];
    part_apply(job, part, p);
}
