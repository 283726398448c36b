/// Random filling with solids, as dense as with balls.
///
/// Balls that hold the solids are mostly empty: squares in disks fill no more than 0.64 of what the
/// disks do. Where these find no room for all, balls as large as the solids are packed instead
/// (generate_fill.c), so that the solids are spread as evenly as balls are. The solids then stand
/// at their centres, turned at random, with corners that reach into each other, and are pushed
/// apart: each in turn is moved, and turned if it may be, by half of what its contacts lack to a
/// small margin, pulled back into the region, and left where it was if a wall is in the way. What
/// still overlaps when the sweeps are used up is thinned out, a few at a time.
#include "base/error.h"
#include "base/portable.h"
#include "base/rng.h"
#include "base/vec.h"
#include "scene/generate.h"
#include "scene/generate_grid.h"
#include "scene/generate_region.h"
#include "scene/placed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// No balls are tried that would have to be packed denser than these: not even they can be.
static const double DENSEST_2D = 0.86, DENSEST_3D = 0.65;
/// Margin in units of the thickness of a solid, at the first sweep, its factor from sweep to sweep,
/// and the least; what counts as clear of each other.
static const double MARGIN_FIRST = 0.03, MARGIN_FACTOR = 0.98, MARGIN_LAST = 1e-3,
                    MARGIN_NONE = 1e-7;
/// Part of what a pair lacks that the first of them makes up for: more than half goes faster.
static const double SHARE = 0.7;
/// Sweeps for each that balls would get: corners come free more slowly. 245 squares in a box for
/// 300, as many as disks of their area find room, need between 1000 and 2000.
enum { SWEEPS_2D = 4, SWEEPS_3D = 2 };
/// Rounds of pushing apart, and the part of those that overlap which is taken out between them.
enum { ROUNDS = 8, THINNED = 15 };
enum { WALL_TRIES = 4, PULLS = 4 };

/// A body that is being packed, or one of an earlier source, which stays.
typedef struct body {
    talus_grain_def* grain;
    placed at;
    double thickness, gyration; ///< gyration: radius squared
    bool restless;
    bool gone; ///< taken out
} body;

typedef struct crowd {
    const fill_def* def;
    const generate_context* context;
    bool turns; ///< solids may be turned
    body* row;
    int64_t count, fixed;
    ball_grid grid; ///< of the balls that hold them
    rng r;
    bool short_of_memory;
} crowd;

/// Bodies near another one, and what they do to it.
typedef struct push {
    crowd* c;
    int64_t self;
    double margin;
    double shift[3], turn[3];
    bool touching;
    double depth; ///< of the deepest overlap
} push;

static bool place(crowd* c, body* b)
{
    static const double upright[4] = {1.0, 0.0, 0.0, 0.0};
    placed fresh;
    if (!placed_make(&fresh, c->context->solids, c->context->dim, b->grain, upright)) {
        c->short_of_memory = true;
        return false;
    }
    placed_free(&b->at);
    b->at = fresh;
    if (fresh.part == &fresh.ball) b->at.part = &b->at.ball;
    return true;
}

static void body_init(crowd* c, body* b, talus_grain_def* grain)
{
    const int dim = c->context->dim;
    *b = (body){.grain = grain, .restless = true};
    b->thickness = 2.0 * grain->radius;
    b->gyration = grain->radius * grain->radius;
    if (grain->solid.index >= 0) {
        const solid* s = &c->context->solids->row[grain->solid.index];
        const double* i = s->inertia;
        b->thickness = s->thinnest * grain->scale;
        b->gyration = (dim == 2 ? i[8] : (i[0] + i[4] + i[8]) / 3.0) * grain->scale * grain->scale;
    }
    place(c, b);
}

// ---- pushes ------------------------------------------------------------------------------------

/// How far a body reaches along a unit direction.
static double reach_along(const convex* a, const double n[3], double sign)
{
    double most = -INFINITY;
    for (int v = 0; v < a->vertex_count; v++) {
        most = fmax(most, sign * vec_dot(a->dim, a->vertex + v * a->dim, n));
    }
    return most + a->skin;
}

/// Whether a unit direction shows that two bodies are farther apart than `reach`.
static bool parts_them(const convex* a, const convex* b, const double delta[3], const double n[3],
                       double reach)
{
    return vec_dot(a->dim, delta, n) - reach_along(a, n, 1.0) - reach_along(b, n, -1.0) > reach;
}

/// Whether the line between their centres, or a face, shows that two bodies are farther apart than
/// `reach`. Most neighbours are, and this is several times faster than their distance.
static bool far_apart(const convex* a, const convex* b, const double delta[3], double reach)
{
    const double distance = vec_norm(a->dim, delta);
    double n[3] = {0};
    if (!(distance > 0.0)) return false;
    for (int k = 0; k < a->dim; k++) n[k] = delta[k] / distance;
    if (parts_them(a, b, delta, n, reach)) return true;
    for (int side = 0; side < 2; side++) {
        const convex* of = side == 0 ? a : b;
        const double sign = side == 0 ? 1.0 : -1.0;
        for (int f = 0; of->shape && f < of->shape->face_count; f++) {
            const double* normal = of->normal + f * of->dim;
            if (sign * vec_dot(a->dim, normal, delta) <= 0.0) continue; // it looks away
            for (int k = 0; k < a->dim; k++) n[k] = sign * normal[k];
            if (parts_them(a, b, delta, n, reach)) return true;
        }
    }
    return false;
}

/// Points of contact of two bodies, part by part.
static void push_by(push* p, const body* own, body* other, bool is_fixed, const double delta[3])
{
    const fill_def* def = p->c->def;
    const double thin = fmin(own->thickness, other->thickness);
    const double clear = def->gap + MARGIN_NONE * thin, wanted = def->gap + p->margin * thin;
    for (int i = 0; i < own->at.part_count; i++) {
        for (int j = 0; j < other->at.part_count; j++) {
            touch found[CONVEX_MAX_TOUCHES] = {0};
            if (far_apart(&own->at.part[i], &other->at.part[j], delta, wanted)) continue;
            const int count =
                convex_touches(&own->at.part[i], &other->at.part[j], delta, wanted, NULL, found);
            for (int k = 0; k < count; k++) {
                const double lack = (wanted - found[k].gap) * (is_fixed ? 1.0 : SHARE) / count;
                double lever[3];
                vec_cross(lever, found[k].point, found[k].normal);
                const double slow = p->c->turns ? vec_dot(3, lever, lever) / own->gyration : 0.0;
                vec_add_scaled(3, p->shift, -lack / (1.0 + slow), found[k].normal);
                if (p->c->turns) {
                    vec_add_scaled(3, p->turn, -lack / (1.0 + slow) / own->gyration, lever);
                }
                p->touching |= found[k].gap < clear;
                p->depth = fmax(p->depth, clear - found[k].gap);
            }
            if (count > 0) other->restless = true;
        }
    }
}

static bool push_from(void* user, int64_t ball, const double delta[3], double distance)
{
    (void)distance;
    push* p = user;
    if (ball == p->self) return true;
    push_by(p, &p->c->row[p->self], &p->c->row[ball], ball < p->c->fixed, delta);
    return true;
}

static push find_push(crowd* c, int64_t self, double margin)
{
    push p = {.c = c, .self = self, .margin = margin};
    const body* b = &c->row[self];
    ball_grid_visit(&c->grid, b->grain->position, b->grain->radius,
                    c->def->gap + 2.0 * margin * b->thickness, push_from, &p);
    return p;
}

// ---- the region --------------------------------------------------------------------------------

/// How far the farthest corner of a body is: `along` the unit direction outward[], or else from a
/// point or from the axis through it; outward[] then becomes the way there.
static double farthest(const crowd* c, const body* b, bool along, const double foot[3],
                       const double axis[3], double outward[3])
{
    const int dim = c->context->dim;
    double most = -INFINITY, way[3] = {0};
    for (int i = 0; i < b->at.part_count; i++) {
        const convex* part = &b->at.part[i];
        for (int v = 0; v < part->vertex_count; v++) {
            double x[3] = {0};
            vec_copy(dim, x, b->grain->position);
            vec_add_scaled(dim, x, 1.0, part->vertex + v * dim);
            vec_sub(3, x, x, foot);
            vec_add_scaled(3, x, -vec_dot(3, x, axis), axis);
            const double far = along ? vec_dot(3, x, outward) : vec_norm(3, x);
            if (far + part->skin <= most) continue;
            most = far + part->skin;
            vec_copy(3, way, x);
        }
    }
    if (!along) vec_copy(3, outward, way);
    return most;
}

/// Move a body back by what a corner is beyond `limit`; true if it was.
static bool pull_back(crowd* c, body* b, double far, double limit, const double outward[3])
{
    const double length = vec_norm(3, outward);
    if (!(far > limit + 1e-12 * b->grain->radius) || !(length > 0.0)) return false;
    vec_add_scaled(c->context->dim, b->grain->position, (limit - far) / length, outward);
    return true;
}

/// Pull a body in from one end of the region, at `limit` along a unit direction.
static bool pull_from_end(crowd* c, body* b, double direction[3], double limit)
{
    static const double zero[3] = {0};
    return pull_back(c, b, farthest(c, b, true, zero, zero, direction), limit, direction);
}

/// Pull a body into a box; false if it was in it.
static bool pull_into_box(crowd* c, body* b)
{
    const region_def* region = &c->def->region;
    const int dim = c->context->dim;
    bool moved = false;
    for (int k = 0; k < dim; k++) {
        if (region_endless(region, &c->context->cell, dim, k)) continue;
        double up[3] = {0}, down[3] = {0};
        up[k] = 1.0, down[k] = -1.0;
        moved |= pull_from_end(c, b, up, region->high[k]);
        moved |= pull_from_end(c, b, down, -region->low[k]);
    }
    return moved;
}

/// The same for a ball or cylinder. Around a hole the ball that holds the body counts.
static bool pull_into_round(crowd* c, body* b)
{
    const region_def* region = &c->def->region;
    const int dim = c->context->dim;
    const bool ball = region->kind == REGION_BALL;
    const double* foot = ball ? region->centre : region->low;
    double axis[3] = {0}, outward[3], middle[3] = {0};
    bool moved = false, endless = ball;
    if (!ball) {
        vec_sub(3, axis, region->high, region->low);
        const double length = vec_norm(3, axis);
        for (int k = 0; k < 3; k++) axis[k] /= length;
    }
    for (int k = 0; k < dim; k++) endless |= region_endless(region, &c->context->cell, dim, k);
    const double far = farthest(c, b, false, foot, axis, outward);
    moved |= pull_back(c, b, far, region->radius, outward);
    if (!endless) {
        double up[3], down[3];
        for (int k = 0; k < 3; k++) up[k] = axis[k], down[k] = -axis[k];
        moved |= pull_from_end(c, b, up, vec_dot(3, region->high, up));
        moved |= pull_from_end(c, b, down, vec_dot(3, region->low, down));
    }
    vec_copy(dim, middle, b->grain->position);
    vec_sub(3, middle, middle, foot);
    vec_add_scaled(3, middle, -vec_dot(3, middle, axis), axis);
    const double least = region->inner_radius + b->grain->radius, at = vec_norm(3, middle);
    if (region->inner_radius > 0.0 && at < least * (1.0 - 1e-12) && at > 0.0) {
        vec_add_scaled(dim, b->grain->position, (least - at) / at, middle);
        moved = true;
    }
    return moved;
}

/// Pull a body into the region with all its corners; false if it does not fit.
static bool pull_in(crowd* c, body* b)
{
    for (int pass = 0; pass < PULLS; pass++) {
        const bool moved =
            c->def->region.kind == REGION_BOX ? pull_into_box(c, b) : pull_into_round(c, b);
        if (!moved) return true;
    }
    return false;
}

static bool is_allowed(const crowd* c, const talus_grain_def* g)
{
    if (!c->context->allowed_grain) return true;
    talus_grain_def at = *g;
    int32_t image[3] = {0};
    cell_wrap(&c->context->cell, c->context->dim, at.position, image);
    return c->context->allowed_grain(c->context->allowed_user, &at);
}

// ---- sweeps ------------------------------------------------------------------------------------

static void turn_by(talus_grain_def* g, int dim, const double turn[3])
{
    if (dim == 2) {
        g->rotation[2] += turn[2];
        return;
    }
    double one[4], two[4], both[4];
    quat_from_rotation(one, g->rotation);
    quat_from_rotation(two, turn);
    quat_multiply(both, two, one);
    rotation_from_quat(both, g->rotation);
}

/// Move a body by a push, or at random by as much where walls forbid that.
static void move_body(crowd* c, int64_t self, push* p)
{
    body* b = &c->row[self];
    const int dim = c->context->dim;
    const talus_grain_def before = *b->grain;
    const double norm = vec_norm(3, p->shift), length = fmin(norm, 0.5 * b->thickness);
    const double angle = vec_norm(3, p->turn);
    for (int k = 0; k < 3 && norm > 0.0; k++) p->shift[k] *= length / norm;
    for (int k = 0; k < 3 && angle > 0.3; k++) p->turn[k] *= 0.3 / angle;
    for (int i = 0; i < WALL_TRIES; i++) {
        *b->grain = before;
        vec_add_scaled(dim, b->grain->position, 1.0, p->shift);
        if (c->turns) turn_by(b->grain, dim, p->turn);
        if (!place(c, b)) return;
        pull_in(c, b);
        if (is_allowed(c, b->grain)) {
            ball_grid_move(&c->grid, self, b->grain->position);
            return;
        }
        const double reach = fmax(length, 0.02 * b->thickness);
        for (int k = 0; k < dim; k++) p->shift[k] = reach * (2.0 * rng_uniform(&c->r) - 1.0);
    }
    *b->grain = before;
    place(c, b);
}

static bool relax_sweep(crowd* c, double margin)
{
    bool touching = false;
    for (int64_t i = c->fixed; i < c->count && !c->short_of_memory; i++) {
        body* b = &c->row[i];
        if (!b->restless || b->gone) continue;
        b->restless = false;
        push p = find_push(c, i, margin);
        if (!p.touching && !(vec_norm(3, p.shift) > 0.0)) continue;
        touching |= p.touching;
        move_body(c, i, &p);
        b->restless = true;
    }
    return touching;
}

/// Sweep until no body overlaps another; false if that takes more than `sweeps`.
static bool push_apart(crowd* c, int sweeps, double margin)
{
    for (int i = 0; i < sweeps && !c->short_of_memory; i++) {
        const bool touching = relax_sweep(c, margin);
        margin = fmax(MARGIN_FACTOR * margin, MARGIN_LAST);
        if (touching) continue;
        // The sweep saw each body before the last moves of others.
        bool clear = true;
        for (int64_t k = c->fixed; k < c->count && clear; k++) {
            if (c->row[k].gone || !c->row[k].restless) continue;
            clear = !find_push(c, k, MARGIN_NONE).touching;
        }
        if (clear) return true;
    }
    return false;
}

static void take_out(crowd* c, int64_t i)
{
    c->row[i].gone = true;
    ball_grid_remove(&c->grid, i);
}

/// Take out a part of the bodies that overlap, the deepest first.
static void thin_out(crowd* c, double* depth)
{
    int64_t overlapping = 0;
    for (int64_t i = c->fixed; i < c->count; i++) {
        depth[i] = c->row[i].gone ? 0.0 : find_push(c, i, MARGIN_NONE).depth;
        overlapping += depth[i] > 0.0;
        c->row[i].restless = true;
    }
    for (int64_t n = 0; n < (overlapping + THINNED - 1) / THINNED; n++) {
        int64_t deepest = c->fixed;
        for (int64_t i = c->fixed; i < c->count; i++) {
            if (depth[i] > depth[deepest]) deepest = i;
        }
        depth[deepest] = 0.0;
        take_out(c, deepest);
    }
}

/// Put the bodies into the region and off the walls and push them apart. Those that do not fit, or
/// overlap in the end, are gone then.
static talus_status relax(crowd* c, talus_error* error)
{
    double* depth = malloc(sizeof *depth * (size_t)(c->count + 1));
    if (!depth) return error_memory(error, "random filling");
    for (int64_t i = c->fixed; i < c->count; i++) {
        pull_in(c, &c->row[i]);
        ball_grid_move(&c->grid, i, c->row[i].grain->position);
        if (is_allowed(c, c->row[i].grain)) continue;
        push off = {.c = c, .self = i, .shift = {0.1 * c->row[i].thickness}};
        move_body(c, i, &off);
    }
    bool clear = push_apart(c, c->def->sweeps, MARGIN_FIRST);
    for (int round = 1; round < ROUNDS && !clear && !c->short_of_memory; round++) {
        thin_out(c, depth);
        clear = push_apart(c, c->def->sweeps / 4, MARGIN_LAST);
    }
    free(depth);
    for (int64_t i = c->count; i-- > c->fixed;) {
        body* b = &c->row[i];
        if (b->gone) continue;
        const bool good =
            pull_in(c, b) && is_allowed(c, b->grain) && !find_push(c, i, MARGIN_NONE).touching;
        if (!good) take_out(c, i);
    }
    return c->short_of_memory ? error_memory(error, "random filling") : TALUS_OK;
}

// ---- the whole ---------------------------------------------------------------------------------

static talus_status crowd_make(crowd* c, grain_list* grains, int64_t first, talus_error* error)
{
    double largest = 0.0;
    for (int64_t i = first; i < grains->count; i++) {
        largest = fmax(largest, grains->rows[i].radius);
    }
    c->count = grains->count;
    c->fixed = first;
    c->row = calloc((size_t)c->count + 1, sizeof *c->row);
    if (!c->row) return error_memory(error, "random filling");
    TRY(ball_grid_init(&c->grid, c->context->dim, &c->context->cell, largest, error));
    for (int64_t i = 0; i < c->count; i++) {
        talus_grain_def* g = &grains->rows[i];
        body_init(c, &c->row[i], g);
        TRY(ball_grid_add(&c->grid, g->position, g->radius, error));
    }
    return c->short_of_memory ? error_memory(error, "random filling") : TALUS_OK;
}

static void crowd_free(crowd* c)
{
    for (int64_t i = 0; c->row && i < c->count; i++) placed_free(&c->row[i].at);
    free(c->row);
    ball_grid_free(&c->grid);
}

static void make_solids(const shape_choice* choice, const generate_context* context,
                        grain_list* grains, int64_t first)
{
    for (int64_t row = first; row < grains->count; row++) {
        shape_choice_apply(choice, context->dim, context->seed, context->source,
                           (uint64_t)(row - first), &grains->rows[row]);
    }
}

/// Pack balls as large as the solids, put the solids there and push them apart.
static talus_status fill_dense(const fill_def* given, const shape_choice* choice,
                               const generate_context* context, const talus_grain_def* base,
                               grain_list* grains, generate_report* report, talus_error* error)
{
    const int dim = context->dim;
    const int64_t first = grains->count;
    fill_def def = *given;
    def.shrink = portable_pow(def.volume_share, 1.0 / dim);
    def.volume_share = 1.0;
    fill_def solid_def = def;
    solid_def.sweeps *= dim == 2 ? SWEEPS_2D : SWEEPS_3D;
    TRY(generate_fill(&def, context, base, grains, report, error));
    for (int64_t i = first; i < grains->count; i++) grains->rows[i].radius /= def.shrink;
    make_solids(choice, context, grains, first);

    crowd c = {.def = &solid_def,
               .context = context,
               .turns = choice->any_rotation,
               .r = rng_make(context->seed, context->source, 1)};
    talus_status status = crowd_make(&c, grains, first, error);
    if (status >= 0) status = relax(&c, error);
    int64_t kept = first;
    double filled = 0.0;
    for (int64_t i = first; i < grains->count && status >= 0; i++) {
        if (c.row[i].gone) continue;
        talus_grain_def* g = &grains->rows[kept++];
        *g = grains->rows[i];
        int32_t image[3] = {0};
        cell_wrap(&context->cell, dim, g->position, image);
        filled += shape_volume(choice->table, dim, g);
    }
    crowd_free(&c);
    if (status < 0) return status;
    const int64_t overlapping = grains->count - kept;
    grains->count = kept;
    report->placed = kept - first;
    report->solid_fraction = filled / region_volume(&def.region, dim);
    if (report->placed < report->requested) {
        snprintf(report->reason, sizeof report->reason,
                 "a solid fraction of %.3g is reached; %lld found no room, %lld stood in the way "
                 "of others after %d sweeps of pushing apart",
                 report->solid_fraction,
                 (long long)(report->requested - report->placed - overlapping),
                 (long long)overlapping, solid_def.sweeps);
    }
    return TALUS_OK;
}

talus_status generate_fill_solids(const fill_def* def, const shape_choice* choice,
                                  const generate_context* context, const talus_grain_def* base,
                                  grain_list* grains, generate_report* report, talus_error* error)
{
    const int64_t first = grains->count;
    const double densest = context->dim == 2 ? DENSEST_2D : DENSEST_3D;
    double fraction;
    TRY(fill_fraction(def, context->dim, &fraction, error));
    if (fraction / def->volume_share <= densest) {
        TRY(generate_fill(def, context, base, grains, report, error));
        if (report->placed == report->requested) {
            make_solids(choice, context, grains, first);
            return TALUS_OK;
        }
        grains->count = first;
    }
    return fill_dense(def, choice, context, base, grains, report, error);
}
