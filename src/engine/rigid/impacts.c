/// Flight from impact to impact within a step; see impacts.h.
///
/// Every contact that may bounce has a path: the place of b against a as a function of time, a
/// parabola where external forces differ. The earliest time at which one closes is taken from a
/// heap, its impact is worked out, and the paths of the bodies that were hit are looked at anew. A
/// contact that touches and is made to approach by an impact is due at once: so a blow travels
/// through a row of touching balls one by one, as it does in Newton's cradle.
///
/// All of this is done by one thread, in an order that follows from times and the list of contacts.
#include "rigid/impacts.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "rigid/assemble.h"
#include "rigid/problem.h"
#include "state/drive.h"

#include <stdlib.h>
#include <string.h>

/// Impacts that are nearer in time than this part of a step happen together: where they follow from
/// symmetry their times differ by rounding.
static const double SAME_MOMENT = 1e-9;
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
/// A contact bounces in a step until a ball on the floor would have lost all but this part of its
/// velocity, and then is left to the step: Zeno's bounces are over, or a heavy body is being
/// stopped by light ones. With e = 1 so often at most.
static const double SPENT = 0.01;
enum { MOST_BOUNCES = 1000 };
/// Passes over the contacts of one impact, at most, and when they end: a part of what is lost of a
/// contact's velocity, (1 - e) u, or rounding.
enum { MOST_PASSES = 1000 };
static const double EXACT = 0.05, ROUNDING_OF_PASSES = 1e-15;

typedef struct flight_job {
    impacts* im;
    const impact_scene* scene;
    const physical_state* state;
    double h;
    int dim;
} flight_job;

/// How a body flies: at time t it is at x + shift + v t + kick t (t/h - 1)/2 and has the velocity
/// v + kick (t/h - 1/2).
typedef struct flight {
    double v[3], shift[3], kick[3];
    double resting; ///< approach up to this is that of a contact at rest
    double hardest; ///< fastest approach of the impacts that led to it
    double inv_mass;
} flight;

/// Motion of b against a, and when they touch: balls at a distance, a ball and a wall along n.
typedef struct path {
    bool balls;
    double n[3];
    double d[3], u[3], kick[3]; ///< place at the start, mean velocity, change in the step
    double touch;               ///< distance at which they touch; of a wall -n.d
    double pressed;             ///< above 0: it was pressed in the last step (pressed_speed)
    double least;               ///< slower approach is none
} path;

struct impact_part {
    int32_t contact;
    double* row[2];            ///< of a and b
    double still[8];           ///< row of a body that does not move
    const double* mobility[2]; ///< of a mobile wall, else NULL
    double n[3];
    double offset[3]; ///< velocity that is to be added to that of the rows
    double mn, wt;    ///< 1/S_nn; S_tt of balls
    double goal;      ///< normal velocity after the impact
    double impulse;
    double speed;
};

void impacts_free(impacts* im)
{
    free(im->body);
    free(im->body_of);
    free(im->packed);
    free(im->time);
    free(im->stamp);
    free(im->hits);
    free(im->impulse);
    free(im->slides);
    free(im->touched);
    free(im->first);
    free(im->link);
    free(im->due);
    free(im->part);
    free(im->hit);
    free(im->struck);
    free(im->wall_before);
    *im = (impacts){0};
}

void impacts_clear(impacts* im)
{
    im->body_count = im->struck_count = im->touched_count = im->due_count = im->events = 0;
}

// ---- who bounces here --------------------------------------------------------------------------

static bool law_has_impacts(const talus_pair_def* law)
{
    return law->restitution > 0.0 && law->rolling == 0.0 && law->torsion == 0.0 &&
           law->cohesion_force == 0.0;
}

bool impacts_possible(const materials* laws)
{
    for (int i = 0; i < laws->count * laws->count; i++) {
        if (law_has_impacts(&laws->pair[i])) return true;
    }
    return false;
}

static const talus_pair_def* law_of(const physical_state* state, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    const int material_a = a < 0 ? state->walls.record[-1 - a].material : state->grains.material[a];
    return materials_pair(&state->materials, material_a, state->grains.material[b]);
}

/// Is this a ball that moves by itself, or with what is not moved by contacts?
static bool is_plain_ball(const physical_state* state, int32_t row)
{
    const int wall = state->grains.glued_to[row];
    return state->grains.solid[row] < 0 && !(wall >= 0 && wall_is_mobile(&state->walls, wall));
}

static bool may_bounce(const physical_state* state, const contacts* list, int64_t c)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    const double* im = state->grains.inv_mass;
    if (!law_has_impacts(law_of(state, list, c)) || !is_plain_ball(state, b)) return false;
    if (a >= 0) return is_plain_ball(state, a) && im[a] + im[b] > 0.0;
    return im[b] > 0.0 || wall_is_mobile(&state->walls, -1 - a);
}

// ---- paths -------------------------------------------------------------------------------------

/// Number of body a or b of a contact: a grain's row, or the number of grains + a wall.
static int64_t body_of_contact(const physical_state* state, const contacts* list, int64_t c,
                               int side)
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

static flight flight_of(const flight_job* job, int64_t c, int side)
{
    const physical_state* state = job->state;
    const grains* g = &state->grains;
    const contacts* list = job->scene->list;
    const int dim = job->dim;
    const int64_t i = body_of_contact(state, list, c, side);
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
        return f;
    }
    if (f.inv_mass == 0.0) return f;
    for (int k = 0; k < dim; k++) {
        const double force = g->force ? g->force[i * dim + k] : 0.0;
        f.kick[k] = job->h * (job->scene->order->options->gravity[k] + f.inv_mass * force);
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

static path path_of(const flight_job* job, int64_t c)
{
    const physical_state* state = job->state;
    const grains* g = &state->grains;
    const contacts* list = job->scene->list;
    const int dim = job->dim;
    const flight a = flight_of(job, c, 0), b = flight_of(job, c, 1);
    const double e = law_of(state, list, c)->restitution;
    const double weak = fmax(WEAK * sqrt(fmax(1.0 - e * e, 0.0)), ROUNDING);
    path p = {.balls = list->a_row[c] >= 0,
              .least = fmax(a.resting + b.resting, weak * fmax(a.hardest, b.hardest))};
    // Was it pressed in the last step? Then what is left of its velocity, and of the gap that this
    // opened, is an error of the solver, and a weak blow does not open it.
    p.pressed = pressed_speed(job, c, &a, &b);
    p.least = fmax(p.least, p.pressed);
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

/// Place and velocity of b against a at time t.
static void path_at(const flight_job* job, const path* p, double t, double* x, double* u)
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

/// The same for a ball and a wall, whose gap is a parabola.
static double first_touch_wall(const flight_job* job, const path* p, double now, double* rate)
{
    double x[3], u[3];
    path_at(job, p, now, x, u);
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
    if (a < 0 || g->force || g->inv_mass[a] == 0.0 || g->inv_mass[b] == 0.0) return false;
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

/// When contact c collides from `now` on, INFINITY: not in this step.
static double next_impact(const flight_job* job, int64_t c, double now)
{
    if (part_ways(job, c, now)) return INFINITY;
    const path p = path_of(job, c);
    const int dim = job->dim;
    double t, rate = 0.0, x[3], u[3];
    if (p.balls) {
        path_at(job, &p, now, x, u);
        // The straight line to where both are at the end of the step is near the way they go.
        const bool straight = vec_dot(dim, p.kick, p.kick) == 0.0;
        const double ahead = now < job->h ? job->h - now : job->h;
        double end[3], ignored[3];
        path_at(job, &p, now + ahead, end, ignored);
        for (int k = 0; k < dim && !straight; k++) u[k] = (end[k] - x[k]) / ahead;
        t = first_touch(dim, x, u, p.touch, now, &rate);
        for (int pass = 0; pass < 4 && !straight && t <= job->h; pass++) {
            path_at(job, &p, t, x, u);
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

// ---- impacts to come ---------------------------------------------------------------------------

static bool is_sooner(const impact_due* x, const impact_due* y)
{
    return x->time < y->time || (x->time == y->time && x->contact < y->contact);
}

static talus_status add_due(impacts* im, double time, int32_t contact)
{
    if (isinf(time)) return TALUS_OK;
    if (!arrays_grow(&im->due_capacity, im->due_count + 1, ARRAY(im->due))) return TALUS_ERR_MEMORY;
    const impact_due due = {time, contact, im->stamp[contact]};
    int64_t at = im->due_count++;
    for (; at > 0 && is_sooner(&due, &im->due[(at - 1) / 2]); at = (at - 1) / 2) {
        im->due[at] = im->due[(at - 1) / 2];
    }
    im->due[at] = due;
    return TALUS_OK;
}

static void drop_first(impacts* im)
{
    const impact_due last = im->due[--im->due_count];
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= im->due_count) break;
        if (child + 1 < im->due_count && is_sooner(&im->due[child + 1], &im->due[child])) child++;
        if (!is_sooner(&im->due[child], &last)) break;
        im->due[at] = im->due[child];
        at = child;
    }
    im->due[at] = last;
}

/// The earliest impact that is still to come, NULL if there is none.
static const impact_due* first_due(impacts* im)
{
    while (im->due_count > 0 && im->due[0].stamp != im->stamp[im->due[0].contact]) drop_first(im);
    return im->due_count > 0 ? im->due : NULL;
}

static void find_first_impacts(void* data, int64_t first, int64_t last, double* found)
{
    const flight_job* job = data;
    for (int64_t c = first; c < last; c++) {
        job->im->time[c] = INFINITY;
        if (!may_bounce(job->state, job->scene->list, c)) continue;
        const double t = next_impact(job, c, 0.0);
        if (isinf(t)) continue;
        job->im->time[c] = t;
        *found += 1.0;
    }
}

/// Does a contact that was pressed go on to rest, as far as its bodies' free flight says?
static bool stays_pressed(const flight_job* job, int64_t c)
{
    if (job->scene->list->state[c] == TALUS_CONTACT_OPEN) return false;
    const path p = path_of(job, c);
    return p.pressed > 0.0 && fabs(vec_dot(job->dim, p.u, p.n)) <= p.least;
}

/// Mark the bodies that take a blow together with others, so that it is left to the step's law.
/// Those that bonds join, and mobile walls with grains glued to them: no part of them flies alone.
/// And the grains of a packing, pressed against others: its contacts are closed by the blow at
/// once, no time can tell them apart. (Taken one by one, the impacts of grains that rattle in a
/// packing under a piston, e = 0.6, made five times the sweeps.)
static void find_packings(const flight_job* job)
{
    impacts* im = job->im;
    const contacts* list = job->scene->list;
    const grains* g = &job->state->grains;
    for (int64_t c = 0; c < list->count; c++) {
        const bool pressed = list->a_row[c] >= 0 && stays_pressed(job, c);
        if (!pressed && !list->bonded[c]) continue;
        im->packed[body_of_contact(job->state, list, c, 0)] = 1;
        im->packed[body_of_contact(job->state, list, c, 1)] = 1;
    }
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] >= 0) im->packed[g->count + g->glued_to[i]] = 1;
    }
}

static bool hits_packing(const flight_job* job, int64_t c)
{
    return job->im->packed[body_of_contact(job->state, job->scene->list, c, 0)] ||
           job->im->packed[body_of_contact(job->state, job->scene->list, c, 1)];
}

/// List the contacts of every body that may bounce.
static talus_status link_contacts(const flight_job* job)
{
    impacts* im = job->im;
    const contacts* list = job->scene->list;
    const int64_t bodies = job->state->grains.count + job->state->walls.count;
    if (!arrays_renew(&im->first_capacity, bodies + 2, ARRAY(im->first)) ||
        !arrays_renew(&im->link_capacity, 2 * list->count, ARRAY(im->link))) {
        return TALUS_ERR_MEMORY;
    }
    // first[i + 1] counts up to where the contacts of body i go, and ends where they end.
    memset(im->first, 0, sizeof *im->first * (size_t)(bodies + 2));
    for (int fill = 0; fill < 2; fill++) {
        for (int64_t c = 0; c < list->count; c++) {
            if (!may_bounce(job->state, list, c) || hits_packing(job, c)) continue;
            for (int side = 0; side < 2; side++) {
                const int64_t i = body_of_contact(job->state, list, c, side);
                if (fill) {
                    im->link[im->first[i + 1]++] = (int32_t)c;
                } else {
                    im->first[i + 2]++;
                }
            }
        }
        for (int64_t i = 0; i < bodies && !fill; i++) im->first[i + 2] += im->first[i + 1];
    }
    return TALUS_OK;
}

// ---- an impact ---------------------------------------------------------------------------------

/// Make a body that may move one that was hit; others stay as they are.
static talus_status strike(const flight_job* job, int64_t c, int side)
{
    impacts* im = job->im;
    const grains* g = &job->state->grains;
    const int dim = job->dim, spin_dim = spin_width(dim);
    const int64_t i = body_of_contact(job->state, job->scene->list, c, side);
    const bool wall = i >= g->count;
    const bool moves =
        wall ? wall_is_mobile(&job->state->walls, (int)(i - g->count)) : g->inv_mass[i] > 0.0;
    if (!moves || im->body_of[i] >= 0) return TALUS_OK;
    if (!arrays_grow(&im->body_capacity, im->body_count + 1, ARRAY(im->body))) {
        return TALUS_ERR_MEMORY;
    }
    const flight f = flight_of(job, c, side);
    struck_body* b = &im->body[im->body_count];
    *b = (struck_body){.body = (int32_t)i, .impact = -1};
    vec_copy(dim, b->row, f.v);
    vec_copy(dim, b->start, f.v);
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

/// A contact as part of an impact at time t. The bodies that it moves are in im->body already.
static void fill_part(const flight_job* job, int32_t c, double t, impact_part* part)
{
    impacts* im = job->im;
    const int dim = job->dim;
    const path p = path_of(job, c);
    double x[3], u[3], kim = 0.0;
    *part = (impact_part){.contact = c};
    path_at(job, &p, t, x, u);
    const double distance = vec_norm(dim, x);
    for (int k = 0; k < dim; k++) {
        part->n[k] = p.balls && distance > 0.0 ? x[k] / distance : p.n[k];
        part->offset[k] = p.kick[k] * (t / job->h - 0.5);
    }
    double wn = 0.0;
    for (int side = 0; side < 2; side++) {
        const int64_t i = body_of_contact(job->state, job->scene->list, c, side);
        if (im->body_of[i] < 0) {
            const flight f = flight_of(job, c, side);
            vec_copy(dim, part->still, f.v);
            if (i < job->state->grains.count) {
                grain_w_of_spin(&job->state->grains, i, job->scene->free_spin + i * spin_width(dim),
                                part->still + row_w(dim));
            }
            part->row[side] = NULL; // `still`, which moves with the part
            continue;
        }
        struck_body* b = &im->body[im->body_of[i]];
        part->row[side] = b->row;
        if (i >= job->state->grains.count) part->mobility[side] = b->mobility;
        wn += b->row[row_im(dim)];
        kim += b->row[row_kim(dim)];
    }
    part->wt = wn + kim;
    part->mn = 1.0 / (wn + mobility_along(dim, part, part->n));
    const double before = vec_dot(dim, u, part->n);
    part->goal = -law_of(job->state, job->scene->list, c)->restitution * before;
    part->speed = -before;
}

static double* part_row(impact_part* part, int side)
{
    return part->row[side] ? part->row[side] : part->still;
}

/// Relative velocity at a part, with the slip of turning.
static void part_velocity(int dim, impact_part* part, double* u)
{
    contact_velocity(dim, part_row(part, 0), part_row(part, 1), part->n, u);
    vec_add_scaled(dim, u, 1.0, part->offset);
}

/// Add an impulse on b.
static void part_apply(const flight_job* job, impact_part* part, const double* p)
{
    const int dim = job->dim;
    contact_apply(dim, part_row(part, 0), part_row(part, 1), part->n, p);
    for (int k = 0; k < dim && part->mobility[0]; k++) {
        part->row[0][k] -= vec_dot(dim, part->mobility[0] + k * dim, p);
    }
    vec_add_scaled(dim, job->im->impulse + (int64_t)part->contact * dim, 1.0, p);
}

/// All contacts of the impact at once: each separates with e times its approach, or faster without
/// an impulse. Since all of them approached, sum p (u + u')/2 <= 0: no energy is made, also if u'
/// is off by less than (1 - e) u. That is used: with e = 1 passes go on to rounding.
static void push_apart(const flight_job* job)
{
    impacts* im = job->im;
    const int dim = job->dim;
    double fastest = 0.0;
    for (int64_t i = 0; i < im->part_count; i++) fastest = fmax(fastest, im->part[i].speed);
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double change = 0.0;
        for (int64_t i = 0; i < im->part_count; i++) {
            impact_part* part = &im->part[i];
            double u[3], p[3];
            part_velocity(dim, part, u);
            const double wanted =
                fmax(part->impulse + part->mn * (part->goal - vec_dot(dim, u, part->n)), 0.0);
            const double dp = wanted - part->impulse;
            part->impulse = wanted;
            const double allowed =
                fmax(EXACT * (part->speed - part->goal), ROUNDING_OF_PASSES * fastest);
            change = fmax(change, fabs(dp) / part->mn / allowed);
            for (int k = 0; k < dim; k++) p[k] = dp * part->n[k];
            part_apply(job, part, p);
        }
        if (im->part_count == 1 || !(change > 1.0)) break;
    }
}

/// Friction of a part whose normal impulse is known: sticking gives slip -e_t times that before,
/// |p_t| <= mu p_n. It takes energy away, whatever the others did before it.
static void rub(const flight_job* job, impact_part* part)
{
    const talus_pair_def* law = law_of(job->state, job->scene->list, part->contact);
    const int dim = job->dim;
    double u[3], p[3];
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

/// Take all contacts that are due now into one impact.
static talus_status gather(const flight_job* job, double* moment)
{
    impacts* im = job->im;
    const impact_due* due = first_due(im);
    const double now = *moment = due->time;
    im->part_count = 0;
    for (; due && due->time <= now + SAME_MOMENT * job->h; due = first_due(im)) {
        const int32_t c = due->contact;
        drop_first(im);
        if (!arrays_grow(&im->part_capacity, im->part_count + 1, ARRAY(im->part)) ||
            strike(job, c, 0) || strike(job, c, 1)) {
            return TALUS_ERR_MEMORY;
        }
        im->part[im->part_count++].contact = c;
    }
    for (int64_t i = 0; i < im->part_count; i++) {
        fill_part(job, im->part[i].contact, now, &im->part[i]);
    }
    return TALUS_OK;
}

/// A body of a part, NULL if it cannot move.
static struck_body* struck_of_part(const flight_job* job, const impact_part* part, int side)
{
    impacts* im = job->im;
    const int64_t i = body_of_contact(job->state, job->scene->list, part->contact, side);
    return im->body_of[i] >= 0 ? &im->body[im->body_of[i]] : NULL;
}

/// How far a body is from where it would be with the velocity that its margin is counted from.
static void note_reach(const flight_job* job, struck_body* b, double t)
{
    const int dim = job->dim;
    const double* mean = b->body < job->state->grains.count ? job->scene->drift : b->start;
    double away[3];
    for (int k = 0; k < dim; k++) away[k] = b->shift[k] + t * (b->row[k] - mean[k]);
    b->reach = fmax(b->reach, vec_norm(dim, away));
}

static int most_bounces(const flight_job* job, int64_t c)
{
    const double e = law_of(job->state, job->scene->list, c)->restitution;
    const double bounces = e < 1.0 ? ceil(log(SPENT) / log(e)) : MOST_BOUNCES;
    return bounces < MOST_BOUNCES ? (int)bounces : MOST_BOUNCES;
}

/// Look at the contacts of a body that was hit.
static talus_status look_ahead(const flight_job* job, int64_t body, double now)
{
    impacts* im = job->im;
    for (int64_t k = im->first[body]; k < im->first[body + 1]; k++) {
        const int32_t c = im->link[k];
        im->stamp[c]++;
        if (im->hits[c] >= most_bounces(job, c)) continue;
        TRY(add_due(im, next_impact(job, c, now), c));
    }
    return TALUS_OK;
}

/// The next impact: new velocities, the corners in the paths, and what follows from it.
static talus_status collide(const flight_job* job)
{
    impacts* im = job->im;
    const int dim = job->dim;
    const int64_t impact = im->events; // a number of its own
    double now;
    TRY(gather(job, &now));
    if (!arrays_renew(&im->hit_capacity, 2 * im->part_count, ARRAY(im->hit))) {
        return TALUS_ERR_MEMORY;
    }
    int64_t hit_count = 0;
    for (int64_t i = 0; i < im->part_count; i++) {
        struck_body* body[2] = {struck_of_part(job, &im->part[i], 0),
                                struck_of_part(job, &im->part[i], 1)};
        double hardest = im->part[i].speed;
        for (int side = 0; side < 2; side++) {
            struck_body* b = body[side];
            if (!b) continue;
            hardest = fmax(hardest, b->hardest);
            if (b->impact == impact) continue;
            b->impact = impact;
            vec_copy(dim, b->last, b->row);
            note_reach(job, b, now);
            im->hit[hit_count++] = (int32_t)(b - im->body);
        }
        // A body that was at rest is told how hard the blow was that came to it.
        for (int side = 0; side < 2; side++) {
            if (body[side]) body[side]->hardest = hardest;
        }
    }
    push_apart(job);
    for (int64_t i = 0; i < im->part_count; i++) {
        const int32_t c = im->part[i].contact;
        rub(job, &im->part[i]);
        if (im->hits[c]++ == 0) im->touched[im->touched_count++] = c;
        im->events++;
    }
    for (int64_t i = 0; i < hit_count; i++) {
        struck_body* b = &im->body[im->hit[i]];
        for (int k = 0; k < dim; k++) b->shift[k] -= now * (b->row[k] - b->last[k]);
    }
    for (int64_t i = 0; i < hit_count; i++) TRY(look_ahead(job, im->body[im->hit[i]].body, now));
    return TALUS_OK;
}

/// Keep what happened at each contact, by its key: the list may be searched anew.
static talus_status note_contacts(const flight_job* job)
{
    impacts* im = job->im;
    const contacts* list = job->scene->list;
    if (!arrays_renew(&im->struck_capacity, im->touched_count, ARRAY(im->struck))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t i = 0; i < im->touched_count; i++) {
        const int64_t c = im->touched[i];
        struck_contact* s = &im->struck[im->struck_count++];
        *s = (struck_contact){
            .a = list->a[c], .b = list->b[c], .feature = list->feature[c], .slides = im->slides[c]};
        vec_copy(job->dim, s->impulse, im->impulse + c * job->dim);
    }
    return TALUS_OK;
}

talus_status impacts_find(impacts* im, const impact_scene* scene)
{
    const contacts* list = scene->list;
    const physical_state* state = scene->order->state;
    const flight_job job = {im, scene, state, scene->order->h, list->dim};
    const int64_t bodies = state->grains.count + state->walls.count;
    double found;
    impacts_clear(im);
    if (!arrays_renew(&im->contact_capacity, list->count, ARRAY(im->time), ARRAY(im->stamp),
                      ARRAY(im->hits), ROWS(im->impulse, list->dim), ARRAY(im->slides),
                      ARRAY(im->touched))) {
        return TALUS_ERR_MEMORY;
    }
    parallel_reduce(scene->order->threads, list->count, PARALLEL_SUM, 1, find_first_impacts,
                    (void*)&job, &found);
    if (found == 0.0) return TALUS_OK;
    if (!arrays_renew(&im->of_capacity, bodies, ARRAY(im->body_of), ARRAY(im->packed)) ||
        !arrays_renew(&im->wall_capacity, state->walls.count, ROWS(im->wall_before, 9))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t i = 0; i < bodies; i++) im->body_of[i] = -1;
    memset(im->packed, 0, (size_t)bodies);
    for (int64_t i = 0; i < 9 * state->walls.count; i++) im->wall_before[i] = scene->wall_before[i];
    memset(im->stamp, 0, sizeof *im->stamp * (size_t)list->count);
    memset(im->hits, 0, sizeof *im->hits * (size_t)list->count);
    memset(im->impulse, 0, sizeof *im->impulse * (size_t)(list->count * list->dim));
    find_packings(&job);
    TRY(link_contacts(&job));
    for (int64_t c = 0; c < list->count; c++) {
        if (!hits_packing(&job, c)) TRY(add_due(im, im->time[c], (int32_t)c));
    }
    while (first_due(im)) TRY(collide(&job));
    for (int64_t i = 0; i < im->body_count; i++) note_reach(&job, &im->body[i], job.h);
    return note_contacts(&job);
}

// ---- the step goes on --------------------------------------------------------------------------

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
    return impacts_struck(im, body_of_contact(state, list, c, 0)) ||
           impacts_struck(im, body_of_contact(state, list, c, 1));
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

/// The gap of a contact of bodies that were hit.
static void bend_contact(const impacts* im, const step_order* order, const double* free_velocity,
                         contacts* list, int64_t c)
{
    const int dim = list->dim;
    const double overlap = order->options->solver.push_out_overlap ? 0.0 : fmin(list->gap[c], 0.0);
    double* n = list->normal + c * dim;
    if (list->a_row[c] >= 0 && may_bounce(order->state, list, c)) {
        list->gap[c] = gap_by_end(im, order, free_velocity, list, c, n) - overlap;
        return;
    }
    list->gap[c] -= overlap;
    for (int side = 0; side < 2; side++) {
        const struck_body* b = impacts_struck(im, body_of_contact(order->state, list, c, side));
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
    if (!may_bounce(order->state, list, c)) return;
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
        } else if (list->a_row[c] >= 0) {
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
