/// Following solids on the way of a step; see passage.h.
#include "detect/passage.h"

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "detect/mesh_query.h"
#include "geometry/shape.h"

#include <math.h>
#include <stdlib.h>

/// Pairs that come nearer by less than this part of the thickness are not followed: what a step
/// that short gets wrong is of second order in it.
static const double SAFE_MOTION = 0.25;
/// How finely bodies that touch are followed, and what they may overlap, in thicknesses: in all,
/// and beyond what they do already.
static const double FINEST = 0.1, ALLOWED = 0.1, ALLOWED_MORE = 0.002;
/// An overlap beyond this part of the thickness is measured by the width at its place. Where a
/// blade is thinner than that it may be cut.
static const double TELLING = 0.01;
/// A pair is looked at so often on its way, at most: beyond that the step is hopelessly long.
enum { MOST_LOOKS = 4000 };
/// Bodies that overlap deeper than this when a step begins are past help.
static const double HOPELESS = 0.5;

void passage_work_free(passage_work* w)
{
    free(w->pair);
    free(w->moves);
    *w = (passage_work){0};
}

// ---- who is followed ---------------------------------------------------------------------------

/// Distance that no point of a grain exceeds in the step, seen from the drift.
static double grain_moves(const passage_way* way, int64_t i)
{
    const grains* g = &way->state->grains;
    const int dim = g->dim, spin_dim = spin_width(dim);
    double relative[3];
    vec_sub(dim, relative, way->velocity + i * dim, way->drift);
    const double turn =
        g->solid[i] < 0 ? 0.0 : g->radius[i] * vec_norm(spin_dim, way->spin + i * spin_dim);
    return way->h * (vec_norm(dim, relative) + turn);
}

/// The same for the points of a wall that are near a grain.
static double wall_moves(const passage_way* way, int wall, int64_t i)
{
    const physical_state* state = way->state;
    const grains* g = &state->grains;
    const walls* w = &state->walls;
    const double* spin = w->spin + 3 * wall;
    double arm[3] = {0.0, 0.0, 0.0}, turn[3], relative[3];
    vec_sub(g->dim, arm, g->position + i * g->dim, w->position + 3 * wall);
    cell_nearest(&state->cell, g->dim, arm);
    vec_cross(turn, spin, arm);
    for (int k = 0; k < 3; k++) {
        relative[k] = way->wall_velocity[3 * wall + k] + turn[k] - way->drift[k];
    }
    return way->h * (vec_norm(3, relative) + 2.0 * g->radius[i] * vec_norm(3, spin));
}

static talus_status follow(passage_work* work, int64_t* count, int64_t a, int64_t b, double way,
                           double thickness)
{
    if (!arrays_grow(&work->capacity, *count + 1, ARRAY(work->pair))) return TALUS_ERR_MEMORY;
    work->pair[(*count)++] = (passage_pair){.a = a, .b = b, .way = way, .thickness = thickness};
    return TALUS_OK;
}

static talus_status follow_pairs(passage_work* work, const passage_way* way, int64_t* count)
{
    const physical_state* state = way->state;
    const grains* g = &state->grains;
    const int dim = g->dim;
    for (int64_t p = 0; p < way->pairs->count; p++) {
        const int64_t a = way->pairs->a[p], b = way->pairs->b[p];
        if (g->solid[a] < 0 && g->solid[b] < 0) continue;
        const double moves = work->moves[a] + work->moves[b];
        const double thickness = fmin(grain_thinnest(g, a), grain_thinnest(g, b));
        if (moves <= SAFE_MOTION * thickness) continue;
        double delta[3];
        vec_sub(dim, delta, g->position + b * dim, g->position + a * dim);
        cell_nearest(&state->cell, dim, delta);
        if (vec_norm(dim, delta) > g->radius[a] + g->radius[b] + moves) continue;
        TRY(follow(work, count, a, b, moves, thickness));
    }
    return TALUS_OK;
}

static talus_status follow_walls(passage_work* work, const passage_way* way, int64_t* count)
{
    const grains* g = &way->state->grains;
    const walls* w = &way->state->walls;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->solid[i] < 0 || g->inv_mass[i] == 0.0) continue;
        const double thickness = grain_thinnest(g, i);
        for (int wall = 0; wall < (int)w->count; wall++) {
            if (!w->present[wall]) continue;
            const double moves = work->moves[i] + wall_moves(way, wall, i);
            if (moves > SAFE_MOTION * thickness) {
                TRY(follow(work, count, -1 - wall, i, moves, thickness));
            }
        }
    }
    return TALUS_OK;
}

// ---- the way of a pair -------------------------------------------------------------------------

/// A grain or wall on its way: place and orientation at the beginning, and what the step adds.
typedef struct traveller {
    double x[3], q[4];
    double shift[3], turn[3];
} traveller;

static traveller grain_traveller(const passage_way* way, int64_t i)
{
    const grains* g = &way->state->grains;
    const int dim = g->dim;
    traveller t = {.q = {1.0, 0.0, 0.0, 0.0}};
    vec_copy(dim, t.x, g->position + i * dim);
    for (int k = 0; k < dim; k++) t.shift[k] = way->h * way->velocity[i * dim + k];
    if (g->solid[i] < 0) return t;
    const double angle[3] = {0.0, 0.0, dim == 2 ? g->rotation[i] : 0.0};
    if (dim == 2) {
        quat_from_rotation(t.q, angle);
    } else {
        vec_copy(4, t.q, g->rotation + 4 * i);
    }
    if (dim == 2) t.turn[2] = way->h * way->spin[i];
    for (int k = 0; k < 3 && dim == 3; k++) t.turn[k] = way->h * way->spin[3 * i + k];
    return t;
}

static traveller wall_traveller(const passage_way* way, int wall)
{
    const walls* w = &way->state->walls;
    traveller t;
    vec_copy(3, t.x, w->position + 3 * wall);
    vec_copy(4, t.q, w->rotation + 4 * wall);
    for (int k = 0; k < 3; k++) {
        t.shift[k] = way->h * way->wall_velocity[3 * wall + k];
        t.turn[k] = way->h * w->spin[3 * wall + k];
    }
    return t;
}

/// Orientation at the part s of the way.
static void orientation_at(const traveller* t, double s, double q[4])
{
    const double part[3] = {s * t->turn[0], s * t->turn[1], s * t->turn[2]};
    double turn[4];
    quat_from_rotation(turn, part);
    quat_multiply(q, turn, t->q);
}

/// A pair on its way, with memory of one thread.
typedef struct journey {
    const passage_way* way;
    const passage_pair* pair;
    traveller a, b;
    double *turned_a, *turned_b; ///< corners and normals of one part of each
    int64_t capacity_a, capacity_b;
    bool failed;
} journey;

/// A part of a grain in the axes `axes`, or a ball.
static bool place_part(const grains* g, int64_t row, int part, const double axes[9],
                       double** numbers, int64_t* capacity, convex* out)
{
    const solid* s = grain_solid(g, row);
    if (!s) {
        *out = convex_ball(g->dim, g->radius[row]);
        return true;
    }
    if (!arrays_renew(capacity, convex_size(&s->part[part]), ROWS(*numbers, 1))) return false;
    *out = convex_of_solid(s, part, axes, g->scale[row], *numbers);
    return true;
}

static int parts_of(const grains* g, int64_t row)
{
    const solid* s = grain_solid(g, row);
    return s ? s->part_count : 1;
}

/// Distance of two grains at the part s of the way.
static double grains_gap(journey* j, double s)
{
    const physical_state* state = j->way->state;
    const grains* g = &state->grains;
    const int dim = g->dim;
    double qa[4], qb[4], axes_a[9], axes_b[9], delta[3] = {0.0, 0.0, 0.0}, least = INFINITY, n[3];
    vec_sub(dim, delta, j->b.x, j->a.x);
    cell_nearest(&state->cell, dim, delta);
    for (int k = 0; k < dim; k++) delta[k] += s * (j->b.shift[k] - j->a.shift[k]);
    orientation_at(&j->a, s, qa);
    orientation_at(&j->b, s, qb);
    quat_matrix(axes_a, qa);
    quat_matrix(axes_b, qb);
    for (int i = 0; i < parts_of(g, j->pair->a); i++) {
        convex a, b;
        if (!place_part(g, j->pair->a, i, axes_a, &j->turned_a, &j->capacity_a, &a)) {
            j->failed = true;
            return INFINITY;
        }
        for (int k = 0; k < parts_of(g, j->pair->b); k++) {
            if (!place_part(g, j->pair->b, k, axes_b, &j->turned_b, &j->capacity_b, &b)) {
                j->failed = true;
                return INFINITY;
            }
            least = fmin(least, convex_distance(&a, &b, delta, n));
        }
    }
    return least;
}

/// Distance of a part from the inside of a container or from a plane: that of its corners.
static double corners_gap(const talus_shape_def* shape, const convex* b, const double local[3],
                          double reach)
{
    double least = reach;
    for (int v = 0; v < b->vertex_count; v++) {
        double point[3];
        shape_hit hits[SHAPE_MAX_HITS];
        for (int k = 0; k < 3; k++) {
            point[k] = local[k] + (k < b->dim ? b->vertex[v * b->dim + k] : 0.0);
        }
        const int count = shape_query(shape, b->dim, point, reach + b->skin, hits);
        for (int k = 0; k < count; k++) least = fmin(least, hits[k].distance - b->skin);
    }
    return least;
}

/// Separation of a part and a triangle along n, whatever its length.
static double triangle_gap_along(const convex* b, const double local[3], const double* corner,
                                 const double n[3])
{
    double low = INFINITY, high = -INFINITY, low_t = INFINITY, high_t = -INFINITY;
    const double shift = vec_dot(3, local, n);
    for (int v = 0; v < b->vertex_count; v++) {
        const double x = vec_dot(3, b->vertex + 3 * v, n) + shift;
        low = fmin(low, x), high = fmax(high, x);
    }
    for (int v = 0; v < 3; v++) {
        const double x = vec_dot(3, corner + 3 * v, n);
        low_t = fmin(low_t, x), high_t = fmax(high_t, x);
    }
    return fmax(low - high_t, low_t - high);
}

/// Largest separation of a part and a triangle along the axes that can separate them: the
/// triangle's normal, the normals of its sides and of the part's faces, and those of pairs of
/// edges. Where they overlap minus the least displacement that takes them apart, to either side:
/// contacts are on the side of the part's middle (mesh_touch.h), which a thin part on its way
/// through a surface may have on the wrong one. A separation of `enough` or more is not looked at
/// further. axis[]: where it is largest.
static double triangle_gap(const convex* b, const double local[3], const double* corner,
                           double enough, double axis[3])
{
    const int faces = b->shape ? b->shape->face_count : 0;
    const int edges = b->shape ? b->shape->edge_count : 0;
    double side[3][3], up[3], best = -INFINITY;
    for (int i = 0; i < 3; i++) vec_sub(3, side[i], corner + 3 * ((i + 1) % 3), corner + 3 * i);
    vec_cross(up, side[0], side[1]);
    for (int k = 0; k < 4 + faces + 3 * edges && best < enough; k++) {
        double n[3], u[3];
        if (k == 0) {
            vec_copy(3, n, up);
        } else if (k < 4) {
            vec_cross(n, side[k - 1], up);
        } else if (k < 4 + faces) {
            vec_copy(3, n, b->normal + 3 * (k - 4));
        } else {
            const int32_t* ends = b->shape->edge + 4 * ((k - 4 - faces) / 3);
            vec_sub(3, u, b->vertex + 3 * ends[1], b->vertex + 3 * ends[0]);
            vec_cross(n, u, side[(k - 4 - faces) % 3]);
        }
        const double length = vec_norm(3, n);
        if (length == 0.0) continue;
        const double gap = triangle_gap_along(b, local, corner, n) / length;
        if (gap <= best) continue;
        best = gap;
        for (int i = 0; i < 3; i++) axis[i] = n[i] / length;
    }
    return best;
}

/// Cut a line x + t u, of which t is in range[], to what is within a part; false if nothing is.
static bool clip_line(const query* q, const double x[3], const double u[3], double range[2])
{
    for (int32_t f = 0; f < q->b->shape->face_count; f++) {
        const double height = query_over_face(q, f, x);
        const double slope = vec_dot(3, q->b->normal + 3 * f, u);
        if (slope == 0.0 && height > 0.0) return false;
        if (slope > 0.0) range[1] = fmin(range[1], -height / slope);
        if (slope < 0.0) range[0] = fmax(range[0], -height / slope);
    }
    return range[0] < range[1];
}

/// Width of a part along an axis where a side of a triangle goes through it, in the middle of what
/// is within; INFINITY if none does.
static double width_at_sides(const query* q, const double* corner, const double axis[3])
{
    double least = INFINITY;
    for (int i = 0; i < 3 && q->b->shape; i++) {
        double along[3], middle[3], range[2] = {0.0, 1.0}, across[2] = {-INFINITY, INFINITY};
        vec_sub(3, along, corner + 3 * ((i + 1) % 3), corner + 3 * i);
        if (!clip_line(q, corner + 3 * i, along, range)) continue;
        vec_copy(3, middle, corner + 3 * i);
        vec_add_scaled(3, middle, 0.5 * (range[0] + range[1]), along);
        if (clip_line(q, middle, axis, across)) least = fmin(least, across[1] - across[0]);
    }
    return least + 2.0 * q->b->skin;
}

/// Distance of a part from a surface of triangles, if it is below `reach`; *failed without memory.
/// An overlap counts as the same part of the thickness that it is of the width at its place: a
/// blade is thinner near its edge, and is cut there by a rim that has gone in by that.
static double mesh_distance(const mesh* m, const convex* b, const double local[3], double reach,
                            bool* failed)
{
    const double skins = m->skin + b->skin;
    double least = reach;
    query q;
    query_begin(&q, m, b, local, reach);
    for (int i = 0; i < q.triangle.count; i++) {
        const double* corner = m->corner + 9 * q.triangle.row[i];
        double axis[3] = {0.0, 0.0, 0.0}, gap;
        gap = triangle_gap(b, local, corner, fmax(least, 0.0) + skins, axis) - skins;
        if (gap < -TELLING * b->thickness) {
            gap *= fmax(1.0, b->thickness / width_at_sides(&q, corner, axis));
        }
        least = fmin(least, gap);
    }
    *failed = *failed || q.failed;
    query_end(&q);
    return least;
}

/// Distance of a grain from a wall at the part s of the way, or `reach` if it is more.
static double wall_gap(journey* j, double s, double reach)
{
    const physical_state* state = j->way->state;
    const grains* g = &state->grains;
    const wall_record* record = &state->walls.record[-1 - j->pair->a];
    const wall_form* form = &record->form;
    double qa[4], qb[4], q[4], axes[9], delta[3], local[3], n[3], least = reach;
    vec_sub(3, delta, j->b.x, j->a.x);
    cell_nearest(&state->cell, g->dim, delta);
    for (int k = 0; k < 3; k++) delta[k] += s * (j->b.shift[k] - j->a.shift[k]);
    orientation_at(&j->a, s, qa);
    orientation_at(&j->b, s, qb);
    quat_rotate_back(local, qa, delta);
    if (g->dim == 2) local[2] = 0.0;
    if (form->kind != FORM_CORNERS &&
        vec_norm(3, local) > form->bound + g->radius[j->pair->b] + reach) {
        return reach;
    }
    const double back[4] = {qa[0], -qa[1], -qa[2], -qa[3]};
    quat_multiply(q, back, qb);
    quat_matrix(axes, q);
    for (int part = 0; part < parts_of(g, j->pair->b); part++) {
        convex b;
        if (!place_part(g, j->pair->b, part, axes, &j->turned_b, &j->capacity_b, &b)) {
            j->failed = true;
            return INFINITY;
        }
        if (form->kind == FORM_CORNERS) {
            least = fmin(least, corners_gap(&record->shape, &b, local, reach));
        } else if (form->kind == FORM_MESH) {
            least = fmin(least, mesh_distance(form->mesh, &b, local, reach, &j->failed));
        } else {
            const int parts = form->kind == FORM_CONVEX ? form->part_count : 1;
            for (int i = 0; i < parts; i++) {
                const convex a = convex_of_wall(form, g->dim, i);
                least = fmin(least, convex_distance(&a, &b, local, n));
            }
        }
    }
    return least;
}

/// Deepest overlap of a pair on its way, in thicknesses, if it is more than is allowed; else 0.
static double journey_depth(journey* j)
{
    const passage_pair* p = j->pair;
    const bool wall = p->a < 0;
    const double finest = FINEST * p->thickness;
    double s = 0.0, allowed = ALLOWED * p->thickness, deepest = 0.0;
    j->a = wall ? wall_traveller(j->way, (int)(-1 - p->a)) : grain_traveller(j->way, p->a);
    j->b = grain_traveller(j->way, p->b);
    for (int look = 0; !j->failed; look++) {
        if (look == MOST_LOOKS) return HOPELESS;
        const double left = (1.0 - s) * p->way;
        const double gap = wall ? wall_gap(j, s, left + finest) : grains_gap(j, s);
        if (s == 0.0) {
            if (gap < -HOPELESS * p->thickness) return 0.0;
            allowed = fmax(allowed, -gap + ALLOWED_MORE * p->thickness);
        }
        if (gap > left) break; // they do not meet any more
        deepest = fmax(deepest, -gap);
        if (s >= 1.0 || deepest > HOPELESS * p->thickness) break;
        s = fmin(1.0, s + fmax(gap, finest) / p->way); // they are no nearer before
    }
    return deepest > allowed ? deepest / p->thickness : 0.0;
}

talus_status passage_find(passage_work* work, const passage_way* way, passage* out)
{
    const grains* g = &way->state->grains;
    int64_t count = 0;
    bool failed = false;
    *out = (passage){.a = -1, .b = -1, .safe_step = INFINITY};
    if (!way->state->poses.first || way->state->poses.first[g->count] == 0) return TALUS_OK;
    if (!arrays_renew(&work->grain_capacity, g->count, ARRAY(work->moves))) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < g->count; i++) work->moves[i] = grain_moves(way, i);
    TRY(follow_walls(work, way, &count));
    TRY(follow_pairs(work, way, &count));
    out->followed = count;
#pragma omp parallel num_threads(way->threads) if (count > 64) reduction(|| : failed)
    {
        journey j = {.way = way};
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            j.pair = &work->pair[i];
            work->pair[i].depth = journey_depth(&j);
        }
        failed = j.failed;
        free(j.turned_a);
        free(j.turned_b);
    }
    if (failed) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const passage_pair* p = &work->pair[i];
        if (!(p->depth > out->depth)) continue;
        out->passes = true;
        out->a = p->a, out->b = p->b, out->depth = p->depth;
        out->safe_step = way->h * SAFE_MOTION * p->thickness / p->way;
    }
    return TALUS_OK;
}

// ---- a safe step -------------------------------------------------------------------------------

double passage_safe_step(const physical_state* state)
{
    const grains* g = &state->grains;
    const int dim = g->dim;
    double mean[3] = {0.0, 0.0, 0.0}, step = INFINITY, free_grains = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->inv_mass[i] == 0.0) continue;
        vec_add_scaled(dim, mean, 1.0, g->velocity + i * dim);
        free_grains += 1.0;
    }
    for (int k = 0; k < 3; k++) mean[k] /= fmax(free_grains, 1.0);
    passage_way way = {
        .state = state, .velocity = g->velocity, .spin = g->spin, .h = 1.0, .threads = 1};
    vec_copy(3, way.drift, mean);
    for (int64_t i = 0; i < g->count; i++) {
        if (g->solid[i] < 0) continue;
        // Another one may come as fast.
        const double moves = 2.0 * grain_moves(&way, i);
        if (moves > 0.0) step = fmin(step, SAFE_MOTION * grain_thinnest(g, i) / moves);
    }
    return step;
}
