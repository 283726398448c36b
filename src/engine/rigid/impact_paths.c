/// Who bounces, and when: the paths of bodies between impacts.
#include "law/restitution.h"
#include "rigid/assemble.h"
#include "rigid/impact_parts.h"
#include "rigid/problem.h"
#include "state/drive.h"

/// Where e < 1 the impacts of a dense cluster get ever weaker and never end. A contact that
/// approaches slower than this part of the impacts that led to it, times sqrt(1 - e^2), is left to
/// the step: its energy is 1e-4 of what those took away. With e = 1 there is an end, but for
/// rounding.
static const double WEAK = 1e-2, ROUNDING = 1e-12;
/// A contact that was pressed in the last step is at rest if it approaches with no more than this
/// part of what its impulse does: solvers leave as much. (An impulse may also be that of an impact;
/// with 1e-2 a break at long steps was off by 1e-5 of its energy.)
static const double PRESSED = 1e-3;
/// A contact that rests begins the step with no velocity; in the middle of it, it has half of what
/// external forces add in the step, and all of what a driven wall does. Approach counts as an
/// impact above these parts, a little more.
static const double FALLS = 0.6, DRIVEN = 1.1;
/// Bodies touch when a step begins if they are no farther apart than this part of what external
/// forces move them in it: solvers leave as much.
static const double TOUCHING = 1e-3;

// ---- who bounces here --------------------------------------------------------------------------

static bool law_has_impacts(const talus_pair_def* law)
{
    return law->restitution > 0.0 && !restitution_at_once(law);
}

bool impacts_possible(const materials* laws)
{
    for (int i = 0; i < laws->count * laws->count; i++) {
        if (law_has_impacts(&laws->pair[i])) return true;
    }
    return false;
}

const talus_pair_def* impact_law(const physical_state* state, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    const int material_a = a < 0 ? state->walls.record[-1 - a].material : state->grains.material[a];
    return materials_pair(&state->materials, material_a, state->grains.material[b]);
}

/// Is this a grain that moves by itself, or with what is not moved by contacts?
static bool moves_alone(const physical_state* state, int32_t row)
{
    const int wall = state->grains.glued_to[row];
    return !(wall >= 0 && wall_is_mobile(&state->walls, wall));
}

bool impact_of_balls(const physical_state* state, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    return a >= 0 && state->grains.solid[a] < 0 && state->grains.solid[b] < 0;
}

bool impact_may_happen(const physical_state* state, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    const double* im = state->grains.inv_mass;
    if (!law_has_impacts(impact_law(state, list, c)) || !moves_alone(state, b)) return false;
    if (a >= 0) return moves_alone(state, a) && im[a] + im[b] > 0.0;
    return im[b] > 0.0 || wall_is_mobile(&state->walls, -1 - a);
}

// ---- paths -------------------------------------------------------------------------------------

int64_t impact_body(const physical_state* state, const contacts* list, int64_t c, int side)
{
    const int32_t row = side == 0 ? list->a_row[c] : list->b_row[c];
    return row >= 0 ? row : state->grains.count - 1 - row;
}

/// Velocity of a wall at a contact in this step, and how much it differs from that in the last.
static double wall_velocity(const flight_job* job, int wall, const double* point, double v[3])
{
    const walls* w = &job->state->walls;
    const double* before = job->scene->wall_before + 9 * wall;
    double old[3], change[3];
    surface_velocity(job->state, wall, w->velocity + 3 * wall, w->spin + 3 * wall, point, v);
    surface_velocity(job->state, wall, before, before + 3, point, old);
    vec_sub(3, change, v, old);
    return vec_norm(job->dim, change);
}

void impact_arm(const physical_state* state, const contacts* list, int64_t c, int side,
                const double* moved, double arm[9])
{
    const int dim = list->dim;
    const int32_t row = side == 0 ? list->a_row[c] : list->b_row[c];
    const bool is_solid = row >= 0 && state->grains.solid[row] >= 0;
    const bool turns = row >= 0 && !(is_solid && state->grains.glued_to[row] >= 0);
    double turning[9], point[3];
    vec_copy(dim, point, list->point + c * dim);
    if (moved) vec_add_scaled(dim, point, 1.0, moved);
    if (is_solid) grain_turning(&state->grains, row, turning);
    contact_arm(state, turns ? row : -1, side == 0 ? -1.0 : 1.0, list->normal + c * dim, point,
                turning, arm);
}

/// How far a body's centre, and its point at the contact, have come at time `now`: centre[],
/// point[]. The point goes as it sets out: its way is a straight line between impacts.
static void way_so_far(const flight_job* job, int64_t c, int side, double now, double centre[3],
                       double point[3])
{
    const grains* g = &job->state->grains;
    const int dim = job->dim, spin_dim = spin_width(dim);
    const int64_t i = impact_body(job->state, job->scene->list, c, side);
    const struck_body* struck = impacts_struck(job->im, i);
    double v[3], arm[9], w[3];
    if (i < g->count && g->glued_to[i] < 0) {
        vec_copy(dim, v, struck ? struck->row : job->scene->free_velocity + i * dim);
    } else {
        const flight f = impact_flight_of(job, c, side, now);
        vec_copy(dim, v, f.v);
    }
    for (int k = 0; k < dim; k++) {
        centre[k] = point[k] = (struck ? struck->shift[k] : 0.0) + now * v[k];
    }
    if (!impact_is_solid(job->state, i) || g->glued_to[i] >= 0) return;
    impact_arm(job->state, job->scene->list, c, side, NULL, arm);
    if (struck) {
        for (int k = 0; k < spin_dim; k++) {
            w[k] = struck->turn[k] + now * struck->row[row_w(dim) + k];
        }
    } else {
        grain_w_of_spin(g, i, job->scene->free_spin + i * spin_dim, w);
        for (int k = 0; k < spin_dim; k++) w[k] *= now;
    }
    for (int k = 0; k < dim; k++) point[k] += vec_dot(spin_dim, arm + k * spin_dim, w);
}

void impact_arm_at(const flight_job* job, int64_t c, int side, double now, double arm[9])
{
    double centre[2][3], point[2][3], moved[3];
    for (int i = 0; i < 2; i++) way_so_far(job, c, i, now, centre[i], point[i]);
    // Both bodies get their impulses at the same point, the middle of their own two: so they keep
    // their angular momentum. At a wall it is the grain's.
    const contacts* list = job->scene->list;
    const double *im = job->state->grains.inv_mass, *way = point[1];
    const bool both = list->a_row[c] >= 0 && im[list->a_row[c]] > 0.0 && im[list->b_row[c]] > 0.0;
    for (int k = 0; k < job->dim; k++) {
        moved[k] = (both ? 0.5 * (way[k] + point[0][k]) : way[k]) - centre[side][k];
    }
    impact_arm(job->state, job->scene->list, c, side, moved, arm);
}

/// From a solid's centre to its point at the contact: what turning adds to its flight.
static void add_turning(const flight_job* job, int64_t c, int side, double now, flight* f)
{
    const grains* g = &job->state->grains;
    const int dim = job->dim, spin_dim = spin_width(dim);
    const double* n = job->scene->list->normal + c * dim;
    const int64_t i = impact_body(job->state, job->scene->list, c, side);
    const struck_body* struck = impacts_struck(job->im, i);
    double arm[9], w[3], along[3] = {0.0, 0.0, 0.0}, centre[3], point[3];
    impact_arm_at(job, c, side, now, arm);
    if (struck) {
        vec_copy(spin_dim, w, struck->row + row_w(dim));
    } else {
        grain_w_of_spin(g, i, job->scene->free_spin + i * spin_dim, w);
    }
    way_so_far(job, c, side, now, centre, point);
    for (int k = 0; k < dim; k++) {
        f->v[k] += vec_dot(spin_dim, arm + k * spin_dim, w);
        f->shift[k] = point[k] - now * f->v[k];
    }
    arm_apply(dim, arm, 1.0, n, along);
    f->inv_mass += g->spin_mobility[i] * vec_dot(spin_dim, along, along);
}

flight impact_flight_of(const flight_job* job, int64_t c, int side, double now)
{
    const physical_state* state = job->state;
    const grains* g = &state->grains;
    const contacts* list = job->scene->list;
    const int dim = job->dim;
    const int64_t i = impact_body(state, list, c, side);
    const struck_body* struck = impacts_struck(job->im, i);
    flight f = {.hardest = 0.0};
    if (struck) {
        vec_copy(dim, f.v, struck->row);
        vec_copy(dim, f.shift, struck->shift);
        f.hardest = struck->hardest;
    }
    if (i >= g->count) {
        const int wall = (int)(i - g->count);
        double v[3];
        f.resting = DRIVEN * wall_velocity(job, wall, list->point + c * dim, v);
        if (!struck) vec_copy(dim, f.v, v);
        if (wall_is_mobile(&state->walls, wall)) {
            vec_sub(dim, f.kick, state->walls.velocity + 3 * wall,
                    job->scene->wall_before + 9 * wall);
            f.resting = FALLS * vec_norm(dim, f.kick);
        }
        return f;
    }
    f.inv_mass = g->inv_mass[i];
    if (!struck) vec_copy(dim, f.v, job->scene->free_velocity + i * dim);
    if (g->glued_to[i] >= 0) {
        double v[3];
        f.resting = DRIVEN * wall_velocity(job, g->glued_to[i], list->point + c * dim, v);
        if (g->solid[i] >= 0) vec_copy(dim, f.v, v);
        return f;
    }
    if (g->solid[i] >= 0) add_turning(job, c, side, now, &f);
    if (g->inv_mass[i] == 0.0) return f;
    for (int k = 0; k < dim; k++) {
        const double force = g->force ? g->force[i * dim + k] : 0.0;
        f.kick[k] = job->h * (job->scene->order->options->gravity[k] + g->inv_mass[i] * force);
    }
    f.resting = FALLS * vec_norm(dim, f.kick);
    return f;
}

/// What a solver may leave of the velocity of a contact that was pressed in the last step; 0 if it
/// was not, or has opened since.
static double pressed_speed(const flight_job* job, int64_t c, const flight* a, const flight* b)
{
    const contacts* list = job->scene->list;
    const int dim = job->dim;
    if (list->state[c] == TALUS_CONTACT_OPEN) return 0.0;
    const double speed = PRESSED * job->h * (a->inv_mass + b->inv_mass) *
                         vec_dot(dim, list->force + c * dim, list->normal + c * dim);
    return list->gap[c] < job->h * speed ? speed : 0.0;
}

path impact_path_of(const flight_job* job, int64_t c, double now)
{
    const physical_state* state = job->state;
    const grains* g = &state->grains;
    const contacts* list = job->scene->list;
    const int dim = job->dim;
    const flight a = impact_flight_of(job, c, 0, now), b = impact_flight_of(job, c, 1, now);
    const double e = impact_law(state, list, c)->restitution;
    const double weak = fmax(WEAK * sqrt(fmax(1.0 - e * e, 0.0)), ROUNDING);
    path p = {.balls = impact_of_balls(state, list, c), .least = weak * fmax(a.hardest, b.hardest)};
    // Was it pressed in the last step? Then what is left of its velocity, and of the gap that this
    // opened, is an error of the solver, and a weak blow does not open it.
    p.pressed = pressed_speed(job, c, &a, &b);
    p.least = fmax(p.least, p.pressed);
    // With e = 1 nothing comes to rest: only what touches can rest.
    const double resting = a.resting + b.resting;
    const bool apart = list->gap[c] > job->h * fmax(p.pressed, TOUCHING * resting);
    if (e < 1.0 || !apart) p.least = fmax(p.least, resting);
    vec_sub(dim, p.u, b.v, a.v);
    vec_sub(dim, p.kick, b.kick, a.kick);
    vec_copy(dim, p.n, list->normal + c * dim);
    if (p.balls) {
        const int64_t ra = list->a_row[c], rb = list->b_row[c];
        vec_sub(dim, p.d, g->position + rb * dim, g->position + ra * dim);
        cell_nearest(&state->cell, dim, p.d);
        p.touch = fmin(g->radius[ra] + g->radius[rb], vec_norm(dim, p.d)); // overlaps are kept
    } else {
        p.touch = -fmax(list->gap[c], 0.0);
    }
    for (int k = 0; k < dim; k++) p.d[k] += b.shift[k] - a.shift[k];
    return p;
}

void impact_path_at(const flight_job* job, const path* p, double t, double* x, double* u)
{
    for (int k = 0; k < job->dim; k++) {
        x[k] = p->d[k] + t * p->u[k] + 0.5 * p->kick[k] * t * (t / job->h - 1.0);
        u[k] = p->u[k] + p->kick[k] * (t / job->h - 0.5);
    }
}

/// Time of the first touch of two balls in straight flight from x at time `now`; *rate receives the
/// velocity along the line of centres then.
static double first_touch(int dim, const double* x, const double* u, double apart, double now,
                          double* rate)
{
    const double approach = -vec_dot(dim, x, u), outside = vec_dot(dim, x, x) - apart * apart;
    if (!(approach > 0.0)) return INFINITY;
    if (outside <= 0.0) {
        *rate = -approach / vec_norm(dim, x);
        return now;
    }
    const double root2 = approach * approach - vec_dot(dim, u, u) * outside;
    if (!(root2 > 0.0)) return INFINITY;
    *rate = -sqrt(root2) / apart;
    return now + outside / (approach + sqrt(root2));
}

/// The same for a ball and a wall, or for solids, whose gap is a parabola.
static double first_touch_wall(const flight_job* job, const path* p, double now, double* rate)
{
    double x[3], u[3];
    impact_path_at(job, p, now, x, u);
    const double gap = fmax(vec_dot(job->dim, x, p->n) - p->touch, 0.0);
    const double slope = vec_dot(job->dim, u, p->n);
    const double bend = 0.5 * vec_dot(job->dim, p->kick, p->n) / job->h;
    const double root2 = slope * slope - 4.0 * bend * gap;
    if (!(root2 > 0.0)) return INFINITY;
    *rate = -sqrt(root2);
    if (slope < 0.0) return now + 2.0 * gap / (sqrt(root2) - slope);
    return bend < 0.0 ? now + (slope + sqrt(root2)) / (-2.0 * bend) : INFINITY;
}

/// Do two balls that fall alike fly apart? Most of the contacts of a ball that was hit do: this
/// spares them the rest.
static bool part_ways(const flight_job* job, int64_t c, double now)
{
    const grains* g = &job->state->grains;
    const int64_t a = job->scene->list->a_row[c], b = job->scene->list->b_row[c];
    const int dim = job->dim;
    if (!impact_of_balls(job->state, job->scene->list, c)) return false;
    if (g->force || g->inv_mass[a] == 0.0 || g->inv_mass[b] == 0.0) return false;
    const struck_body *hit_a = impacts_struck(job->im, a), *hit_b = impacts_struck(job->im, b);
    const double* free_velocity = job->scene->free_velocity;
    double x[3], u[3];
    vec_sub(dim, u, hit_b ? hit_b->row : free_velocity + b * dim,
            hit_a ? hit_a->row : free_velocity + a * dim);
    vec_sub(dim, x, g->position + b * dim, g->position + a * dim);
    cell_nearest(&job->state->cell, dim, x);
    vec_add_scaled(dim, x, now, u);
    if (hit_a) vec_add_scaled(dim, x, -1.0, hit_a->shift);
    if (hit_b) vec_add_scaled(dim, x, 1.0, hit_b->shift);
    return vec_dot(dim, x, u) >= 0.0;
}

double impact_next(const flight_job* job, int64_t c, double now)
{
    if (part_ways(job, c, now)) return INFINITY;
    const path p = impact_path_of(job, c, now);
    const int dim = job->dim;
    double t, rate = 0.0, x[3], u[3];
    if (p.balls) {
        impact_path_at(job, &p, now, x, u);
        // The straight line to where both are at the end of the step is near the way they go.
        const bool straight = vec_dot(dim, p.kick, p.kick) == 0.0;
        const double ahead = now < job->h ? job->h - now : job->h;
        double end[3], ignored[3];
        impact_path_at(job, &p, now + ahead, end, ignored);
        for (int k = 0; k < dim && !straight; k++) u[k] = (end[k] - x[k]) / ahead;
        t = first_touch(dim, x, u, p.touch, now, &rate);
        for (int pass = 0; pass < 4 && !straight && t <= job->h; pass++) {
            impact_path_at(job, &p, t, x, u);
            const double distance = vec_norm(dim, x);
            rate = vec_dot(dim, x, u) / distance;
            if (!(rate < 0.0)) return INFINITY;
            t = fmax(now, t - (distance - p.touch) / rate);
        }
    } else {
        t = first_touch_wall(job, &p, now, &rate);
    }
    return t <= job->h && rate < -p.least ? t : INFINITY;
}
