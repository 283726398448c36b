/// Walls and the periodic cell in a picture, as lines. Seen from an oblique direction a plane is a
/// patch as large as the box around the grains, the cell is a box, and what is behind the grains is
/// drawn before them.
#include "base/vec.h"
#include "geometry/wall_faces.h"
#include "picture/picture.h"
#include "world/world.h"

/// Sides of a circle that is not seen along its axis: the ellipse deviates by 4e-5 of its radius.
enum { ROUND = 360 };

static const rgb wall_colour = {0.25, 0.25, 0.25}, cell_colour = {0.6, 0.6, 0.6};

/// A line, or a closed one, through points of the world; NULL if memory is short.
static piece* add_line(picture_maker* m, int32_t count, const double (*at)[3], bool closed,
                       bool behind)
{
    double* points;
    piece* p = picture_add(m, closed ? PIECE_POLYGON : PIECE_LINE, count, &points);
    if (!p) return NULL;
    for (int32_t i = 0; i < count; i++) view_point(&m->view, at[i], points + 2 * i);
    p->wall = true;
    p->behind = behind;
    p->colour = wall_colour;
    picture_hold(m, p);
    return p;
}

/// Does a surface with this outward normal show its back in an oblique view? Edges between two such
/// surfaces of a container are behind what it holds.
static bool shows_back(const picture_maker* m, const double normal[3])
{
    return view_oblique(&m->view) && vec_dot(3, m->view.eye, normal) < 0.0;
}

/// A flat face; it is behind the grains if one sees the side on which they are.
static void add_face(picture_maker* m, int32_t count, const double (*corner)[3])
{
    bool behind = false;
    if (view_oblique(&m->view)) {
        double u[3], v[3], normal[3], to_grains[3];
        vec_sub(3, u, corner[1], corner[0]);
        vec_sub(3, v, corner[2], corner[0]);
        vec_cross(normal, u, v);
        vec_sub(3, to_grains, m->view.centre, corner[0]);
        behind = vec_dot(3, normal, to_grains) * vec_dot(3, normal, m->view.eye) > 0.0;
    }
    add_line(m, count, corner, count > 2, behind);
}

// ---- planes ------------------------------------------------------------------------------------

/// The edge of a half-space that one sees from the side. The picture shows it if it is not farther
/// from the grains than these are spread.
static void add_half_space(picture_maker* m, const placed_wall* w)
{
    double normal[3], flat[2], *points;
    quat_rotate(normal, w->rotation, w->shape->normal);
    view_point(&m->view, normal, flat);
    const double length = hypot(flat[0], flat[1]);
    if (length < 0.999) return;
    piece* p = picture_add(m, PIECE_PLANE, 2, &points);
    if (!p) return;
    view_point(&m->view, w->position, points);
    points[2] = flat[0] / length;
    points[3] = flat[1] / length;
    p->wall = true;
    p->colour = wall_colour;
}

/// Let the picture hold the planes that lie across its axes, once it holds everything else.
static void hold_planes(picture_maker* m, int64_t first_piece)
{
    for (int64_t i = first_piece; i < m->out->piece_count; i++) {
        const piece* p = &m->out->piece[i];
        const double* at = m->out->point + 2 * p->first;
        for (int k = 0; k < 2 && p->kind == PIECE_PLANE; k++) {
            span* s = k ? &m->out->y : &m->out->x;
            if (fabs(at[2 + k]) < 0.999 || span_is_empty(*s)) continue;
            const double range = s->high - s->low;
            if (at[k] > s->low - range && at[k] < s->high + range) span_add(s, at[k]);
        }
    }
}

/// The part of a plane under the box, unless it is farther away than the box is thick; light if one
/// sees the side of the grains.
static void add_patch(picture_maker* m, const placed_wall* w)
{
    double normal[3], low, high;
    quat_rotate(normal, w->rotation, w->shape->normal);
    wall_box_along(w, normal, &low, &high);
    wall_face face;
    if (low > high - low || high < low - high || !wall_face_at(w, 0, &face)) return;
    const bool behind = vec_dot(3, normal, m->view.eye) > 0.0;
    piece* p = add_line(m, 4, (const double(*)[3])face.corner, true, behind);
    if (!p || !behind) return;
    p->filled = p->edged = true;
    const double grey = 0.88 + 0.07 * fabs(normal[2]); // lit from above
    p->colour = (rgb){grey, grey, grey};
}

// ---- round walls -------------------------------------------------------------------------------

/// A rim seen from the side: those sides of its ellipse that lie behind the grains, and those
/// before them.
static void add_ellipse(picture_maker* m, const wall_mantle* mantle, int rim)
{
    double ring[ROUND][3], out[3], cap[3];
    bool behind[ROUND];
    for (int k = 0; k < 3; k++)
        cap[k] = (mantle->height[rim] < 0.0 ? -1.0 : 1.0) * mantle->frame[0][k];
    for (int i = 0; i < ROUND; i++) {
        wall_rim_point(mantle, rim, 2.0 * M_PI * i / ROUND, ring[i]);
        vec_sub(3, out, ring[i], mantle->centre[rim]);
        behind[i] = shows_back(m, out) && shows_back(m, cap);
    }
    int start = 0;
    while (start < ROUND && behind[start] == behind[(start + ROUND - 1) % ROUND]) start++;
    if (start == ROUND) {
        add_line(m, ROUND, (const double(*)[3])ring, true, behind[0]);
        return;
    }
    for (int done = 0; done < ROUND;) {
        const bool back = behind[(start + done) % ROUND];
        double run[ROUND + 1][3];
        int count = 0;
        for (; done < ROUND && behind[(start + done) % ROUND] == back; done++) {
            vec_copy(3, run[count++], ring[(start + done) % ROUND]);
        }
        vec_copy(3, run[count++], ring[(start + done) % ROUND]);
        add_line(m, count, (const double(*)[3])run, false, back);
    }
}

/// The rims, and the two lines between them where the eye grazes the mantle.
static void add_mantle(picture_maker* m, const wall_mantle* mantle)
{
    const double* axis = mantle->frame[0];
    const bool along = m->view.dim == 2 || fabs(vec_dot(3, axis, m->view.eye)) > 1.0 - 1e-12;
    for (int rim = 0; rim < mantle->rims; rim++) {
        if (!along || view_oblique(&m->view)) {
            add_ellipse(m, mantle, rim);
            continue;
        }
        double* points;
        piece* p = picture_add(m, PIECE_CIRCLE, 1, &points);
        if (!p) return;
        view_point(&m->view, mantle->centre[rim], points);
        p->size = mantle->radius[rim];
        p->wall = true;
        p->colour = wall_colour;
        picture_hold(m, p);
    }
    double side[3];
    vec_cross(side, axis, m->view.eye);
    const double length = vec_norm(3, side);
    if (length < 1e-6) return;
    for (int sign = -1; sign <= 1; sign += 2) {
        double line[2][3];
        for (int rim = 0; rim < 2; rim++) {
            vec_copy(3, line[rim], mantle->centre[rim]);
            vec_add_scaled(3, line[rim], sign * mantle->radius[rim] / length, side);
        }
        add_line(m, 2, (const double(*)[3])line, false, false);
    }
}

// ---- all of them -------------------------------------------------------------------------------

/// The faces of a wall that is a solid.
static void add_solid(picture_maker* m, const placed_wall* w)
{
    const solid* shape = &m->world->state.solids.row[w->shape->solid.index];
    double corner[POLYTOPE_MAX_VERTICES][3];
    for (int k = 0; k < shape->part_count; k++) {
        const polytope* part = &shape->part[k];
        const int faces = part->dim == 2 ? 1 : part->face_count;
        for (int f = 0; f < faces; f++) {
            const int32_t first = part->dim == 2 ? 0 : part->face_first[f];
            const int32_t count =
                part->dim == 2 ? part->vertex_count : part->face_first[f + 1] - first;
            for (int32_t c = 0; c < count; c++) {
                const int32_t vertex = part->dim == 2 ? c : part->face_vertex[first + c];
                double local[3] = {0};
                vec_copy(part->dim, local, part->vertex + part->dim * vertex);
                quat_rotate(corner[c], w->rotation, local);
                vec_add_scaled(3, corner[c], 1.0, w->position);
            }
            add_face(m, count, (const double(*)[3])corner);
        }
    }
}

static void add_wall(picture_maker* m, const placed_wall* w)
{
    if (w->shape->kind == TALUS_SHAPE_PLANE) {
        if (view_oblique(&m->view)) {
            add_patch(m, w);
        } else {
            add_half_space(m, w);
        }
        return;
    }
    if (w->shape->kind == TALUS_SHAPE_SOLID) add_solid(m, w);
    for (int64_t f = 0; f < wall_face_count(w); f++) {
        wall_face face;
        if (wall_face_at(w, f, &face)) add_face(m, face.count, (const double(*)[3])face.corner);
    }
    wall_mantle mantle;
    if (wall_mantle_of(w, &mantle)) add_mantle(m, &mantle);
}

/// Borders of the periodic cell, only across its periodic axes: elsewhere the world does not end.
static void add_flat_cell(picture_maker* m)
{
    const talus_world_def* def = talus_world_options(m->world);
    const int* axes = m->view.axis;
    double ends[2][2], *points;
    for (int k = 0; k < 2; k++) {
        const span s = k ? m->out->y : m->out->x;
        const bool periodic = def->periodic[axes[k]];
        ends[k][0] = periodic ? def->cell_low[axes[k]] : s.low;
        ends[k][1] = periodic ? def->cell_high[axes[k]] : s.high;
        if (ends[k][0] > ends[k][1]) return;
    }
    for (int k = 0; k < 2; k++) {
        for (int end = 0; end < 2 && def->periodic[axes[k]]; end++) {
            piece* p = picture_add(m, PIECE_LINE, 2, &points);
            if (!p) return;
            for (int i = 0; i < 2; i++) {
                points[2 * i + k] = ends[k][end];
                points[2 * i + 1 - k] = ends[1 - k][i];
            }
            p->colour = cell_colour;
            picture_hold(m, p);
        }
    }
}

/// The edges of the cell; along axes that are not periodic they are as long as the box.
static void add_cell_box(picture_maker* m, const double box_low[3], const double box_high[3])
{
    const talus_world_def* def = talus_world_options(m->world);
    double end[2][3];
    for (int k = 0; k < 3; k++) {
        end[0][k] = def->periodic[k] ? def->cell_low[k] : box_low[k];
        end[1][k] = def->periodic[k] ? def->cell_high[k] : box_high[k];
    }
    for (int axis = 0; axis < 3; axis++) {
        const int b = (axis + 1) % 3, c = (axis + 2) % 3;
        if (!def->periodic[b] && !def->periodic[c]) continue;
        for (int k = 0; k < 4; k++) {
            const int high_b = k & 1, high_c = k >> 1;
            double edge[2][3], side[2][3] = {{0}};
            for (int e = 0; e < 2; e++) {
                edge[e][axis] = end[e][axis];
                edge[e][b] = end[high_b][b];
                edge[e][c] = end[high_c][c];
            }
            side[0][b] = high_b ? 1.0 : -1.0;
            side[1][c] = high_c ? 1.0 : -1.0;
            piece* p = add_line(m, 2, (const double(*)[3])edge, false,
                                shows_back(m, side[0]) && shows_back(m, side[1]));
            if (!p) return;
            p->wall = false;
            p->colour = cell_colour;
        }
    }
}

/// The box around the grains that are shown; false if there is none.
static bool box_of_grains(const picture_maker* m, double low[3], double high[3])
{
    const talus_grains g = talus_world_grains(m->world);
    for (int k = 0; k < 3; k++) {
        span s = span_empty();
        for (int64_t i = 0; i < g.count && k < g.dim; i++) {
            if (picture_hides(m, i)) continue;
            span_add(&s, g.position[g.dim * i + k] - g.radius[i]);
            span_add(&s, g.position[g.dim * i + k] + g.radius[i]);
        }
        if (k < g.dim && span_is_empty(s)) return false;
        low[k] = k < g.dim ? s.low : 0.0, high[k] = k < g.dim ? s.high : 0.0;
    }
    return true;
}

static bool find_wall(const picture_maker* m, int number, talus_wall_state* out)
{
    return talus_world_wall(m->world, (talus_wall_id){number}, out, NULL) == TALUS_OK &&
           out->present;
}

void picture_walls(picture_maker* m)
{
    const int count = talus_world_wall_count(m->world);
    const int64_t first = m->out->piece_count;
    const bool oblique = view_oblique(&m->view);
    talus_wall_state state;
    placed_wall w = {.dim = m->view.dim};
    const bool any_grains = box_of_grains(m, w.box_low, w.box_high);
    for (int i = 0; i < count && oblique && any_grains; i++) {
        if (!find_wall(m, i, &state) || state.shape.kind != TALUS_SHAPE_PLANE) continue;
        // The box reaches to planes across an axis that are not farther than it is long.
        double normal[3];
        quat_rotate(normal, state.rotation, state.shape.normal);
        for (int k = 0; k < 3; k++) {
            const double at = state.position[k], range = w.box_high[k] - w.box_low[k];
            if (fabs(normal[k]) < 0.999) continue;
            if (at < w.box_low[k] - range || at > w.box_high[k] + range) continue;
            w.box_low[k] = fmin(w.box_low[k], at);
            w.box_high[k] = fmax(w.box_high[k], at);
        }
    }
    for (int i = 0; i < count; i++) {
        if (!find_wall(m, i, &state)) continue;
        if (state.shape.kind == TALUS_SHAPE_PLANE && oblique && !any_grains) continue;
        w.shape = &state.shape;
        vec_copy(3, w.position, state.position);
        vec_copy(4, w.rotation, state.rotation);
        add_wall(m, &w);
    }
    hold_planes(m, first);
    if (!oblique) add_flat_cell(m);
    if (oblique && any_grains) add_cell_box(m, w.box_low, w.box_high);
}
