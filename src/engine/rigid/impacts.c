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
#include "base/portable.h"
#include "rigid/impact_parts.h"
#include "rigid/problem.h"

#include <stdlib.h>
#include <string.h>

/// Impacts that are nearer in time than this part of a step happen together: where they follow from
/// symmetry their times differ by rounding.
static const double SAME_MOMENT = 1e-9;
/// A contact bounces in a step until a ball on the floor would have lost all but this part of its
/// velocity, and then is left to the step: Zeno's bounces are over, or a heavy body is being
/// stopped by light ones. With e = 1 so often at most.
static const double SPENT = 0.01;
enum { MOST_BOUNCES = 1000 };

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

// ---- before the first impact -------------------------------------------------------------------

static void find_first_impacts(void* data, int64_t first, int64_t last, double* found)
{
    const flight_job* job = data;
    for (int64_t c = first; c < last; c++) {
        job->im->time[c] = INFINITY;
        if (!impact_may_happen(job->state, job->scene->list, c)) continue;
        const double t = impact_next(job, c, 0.0);
        if (isinf(t)) continue;
        job->im->time[c] = t;
        *found += 1.0;
    }
}

/// Does a contact that was pressed go on to rest, as far as its bodies' free flight says?
static bool stays_pressed(const flight_job* job, int64_t c)
{
    if (job->scene->list->state[c] == TALUS_CONTACT_OPEN) return false;
    const path p = impact_path_of(job, c, 0.0);
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
        im->packed[impact_body(job->state, list, c, 0)] = 1;
        im->packed[impact_body(job->state, list, c, 1)] = 1;
    }
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] >= 0) im->packed[g->count + g->glued_to[i]] = 1;
    }
}

bool impact_on_packing(const flight_job* job, int64_t c)
{
    return job->im->packed[impact_body(job->state, job->scene->list, c, 0)] ||
           job->im->packed[impact_body(job->state, job->scene->list, c, 1)];
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
            if (!impact_may_happen(job->state, list, c) || impact_on_packing(job, c)) continue;
            for (int side = 0; side < 2; side++) {
                const int64_t i = impact_body(job->state, list, c, side);
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

// ---- impact after impact -----------------------------------------------------------------------

/// How often the wall of a contact has withdrawn in this step.
static int32_t withdrawn_of(const flight_job* job, int64_t c)
{
    const struck_body* wall =
        impacts_struck(job->im, impact_body(job->state, job->scene->list, c, 0));
    return wall ? wall->withdrawn : 0;
}

static talus_status plan_impact(const flight_job* job, int32_t c, double now)
{
    return impacts_add_due(job->im, impact_next(job, c, now), c, withdrawn_of(job, c));
}

/// The impact that comes next, `now` or later: *next, NULL if there is none. Where a wall has
/// withdrawn the time is found anew.
static talus_status find_next(const flight_job* job, double now, const impact_due** next)
{
    impacts* im = job->im;
    while ((*next = impacts_first_due(im)) != NULL) {
        const int32_t c = (*next)->contact;
        if ((*next)->withdrawn == withdrawn_of(job, c)) break;
        impacts_drop_first(im);
        TRY(plan_impact(job, c, now));
    }
    return TALUS_OK;
}

/// Take all contacts that are due at the moment of the next impact, `due`, into one.
static talus_status gather(const flight_job* job, const impact_due* due)
{
    impacts* im = job->im;
    const double now = due->time;
    im->part_count = 0;
    while (due && due->time <= now + SAME_MOMENT * job->h) {
        const int32_t c = due->contact;
        impacts_drop_first(im);
        if (!arrays_grow(&im->part_capacity, im->part_count + 1, ARRAY(im->part)) ||
            impact_strike(job, c, 0) || impact_strike(job, c, 1)) {
            return TALUS_ERR_MEMORY;
        }
        im->part[im->part_count++].contact = c;
        TRY(find_next(job, now, &due));
    }
    for (int64_t i = 0; i < im->part_count; i++) {
        impact_fill_part(job, im->part[i].contact, now, &im->part[i]);
    }
    return TALUS_OK;
}

/// A body of a part, NULL if it cannot move.
static struck_body* struck_of_part(const flight_job* job, const impact_part* part, int side)
{
    impacts* im = job->im;
    const int64_t i = impact_body(job->state, job->scene->list, part->contact, side);
    return im->body_of[i] >= 0 ? &im->body[im->body_of[i]] : NULL;
}

/// How far turning has carried the points of a solid, at most.
static double turned_reach(const flight_job* job, const struck_body* b, double t)
{
    const grains* g = &job->state->grains;
    const int spin_dim = spin_width(job->dim);
    double w[3], angle[3];
    if (!impact_is_solid(job->state, b->body)) return 0.0;
    for (int k = 0; k < spin_dim; k++) w[k] = b->turn[k] + t * b->row[row_w(job->dim) + k];
    grain_spin_of_w(g, b->body, w, angle);
    return g->radius[b->body] * vec_norm(spin_dim, angle);
}

/// How far a body is from where it would be with the velocity that its margin is counted from.
static void note_reach(const flight_job* job, struck_body* b, double t)
{
    const int dim = job->dim;
    const double* mean = b->body < job->state->grains.count ? job->scene->drift : b->start;
    double away[3];
    for (int k = 0; k < dim; k++) away[k] = b->shift[k] + t * (b->row[k] - mean[k]);
    b->reach = fmax(b->reach, vec_norm(dim, away) + turned_reach(job, b, t));
}

static int most_bounces(const flight_job* job, int64_t c)
{
    const double e = impact_law(job->state, job->scene->list, c)->restitution;
    const double bounces = e < 1.0 ? ceil(portable_log(SPENT) / portable_log(e)) : MOST_BOUNCES;
    return bounces < MOST_BOUNCES ? (int)bounces : MOST_BOUNCES;
}

/// Find the next impact of a contact anew.
static talus_status look_at(const flight_job* job, int32_t c, double now)
{
    job->im->stamp[c]++;
    return job->im->hits[c] < most_bounces(job, c) ? plan_impact(job, c, now) : TALUS_OK;
}

/// Has a blow only made a plane withdraw from the grains before it?
static bool only_withdraws(const flight_job* job, const struck_body* b)
{
    const int64_t wall = b->body - job->state->grains.count;
    if (wall < 0 || job->state->walls.record[wall].shape.kind != TALUS_SHAPE_PLANE) return false;
    const int64_t first = job->im->first[b->body];
    if (first == job->im->first[b->body + 1]) return false;
    double change[3];
    vec_sub(job->dim, change, b->row, b->last);
    // The normals of all its contacts are the same, from the wall to the grain.
    const int64_t c = job->im->link[first];
    return vec_dot(job->dim, change, job->scene->list->normal + c * job->dim) <= 0.0;
}

/// Look at the contacts of a body that was hit. A piston that a grain throws back meets none of the
/// others earlier than before: their times are found anew when they come (find_next()), else n
/// grains would look at n contacts each.
static talus_status look_ahead(const flight_job* job, struck_body* b, double now)
{
    impacts* im = job->im;
    if (only_withdraws(job, b)) {
        b->withdrawn++;
        for (int64_t i = 0; i < im->part_count; i++) {
            TRY(look_at(job, im->part[i].contact, now));
        }
        return TALUS_OK;
    }
    for (int64_t k = im->first[b->body]; k < im->first[b->body + 1]; k++) {
        TRY(look_at(job, im->link[k], now));
    }
    return TALUS_OK;
}

/// An impact: new velocities, the corners in the paths, and what follows from it.
static talus_status collide(const flight_job* job, const impact_due* due)
{
    impacts* im = job->im;
    const int dim = job->dim;
    const int64_t impact = im->events; // a number of its own
    const double now = due->time;
    TRY(gather(job, due));
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
            vec_copy(spin_width(dim), b->last_w, b->row + row_w(dim));
            note_reach(job, b, now);
            im->hit[hit_count++] = (int32_t)(b - im->body);
        }
        // A body that was at rest is told how hard the blow was that came to it.
        for (int side = 0; side < 2; side++) {
            if (body[side]) body[side]->hardest = hardest;
        }
    }
    impact_push_apart(job);
    for (int64_t i = 0; i < im->part_count; i++) {
        const int32_t c = im->part[i].contact;
        impact_rub(job, &im->part[i]);
        if (im->hits[c]++ == 0) im->touched[im->touched_count++] = c;
        im->events++;
    }
    for (int64_t i = 0; i < hit_count; i++) {
        struck_body* b = &im->body[im->hit[i]];
        for (int k = 0; k < dim; k++) b->shift[k] -= now * (b->row[k] - b->last[k]);
        if (!impact_is_solid(job->state, b->body)) continue; // how a ball is turned is all one
        for (int k = 0; k < spin_width(dim); k++) {
            b->turn[k] -= now * (b->row[row_w(dim) + k] - b->last_w[k]);
        }
    }
    for (int64_t i = 0; i < hit_count; i++) TRY(look_ahead(job, &im->body[im->hit[i]], now));
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
        if (!impact_on_packing(&job, c)) TRY(impacts_add_due(im, im->time[c], (int32_t)c, 0));
    }
    const impact_due* next;
    double now = 0.0;
    TRY(find_next(&job, now, &next));
    while (next) {
        now = next->time;
        TRY(collide(&job, next));
        TRY(find_next(&job, now, &next));
    }
    for (int64_t i = 0; i < im->body_count; i++) note_reach(&job, &im->body[i], job.h);
    return note_contacts(&job);
}
