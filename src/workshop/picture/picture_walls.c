/// Walls and the periodic cell in a picture, as lines.
#include "base/vec.h"
#include "picture/picture.h"
#include "world/world.h"

/// Sides of a circle that is seen from an oblique direction: the ellipse deviates by 4e-5 of its
/// radius.
enum { ROUND = 360 };

static const rgb wall_colour = {0.25, 0.25, 0.25};

piece* picture_line(picture_maker* m, int32_t count, const double (*at)[3], bool closed)
{
    double* points;
    piece* p = picture_add(m, closed ? PIECE_POLYGON : PIECE_LINE, count, &points);
    if (!p) return NULL;
    for (int32_t i = 0; i < count; i++) view_point(&m->view, at[i], points + 2 * i);
    p->wall = true;
    p->colour = wall_colour;
    picture_hold(m, p);
    return p;
}

/// A line through points of the wall's frame.
static void add_line(picture_maker* m, const talus_wall_state* w, int32_t count,
                     const double (*local)[3], bool closed, bool behind)
{
    double at[ROUND + 1][3];
    for (int32_t i = 0; i < count; i++) {
        quat_rotate(at[i], w->rotation, local[i]);
        vec_add_scaled(3, at[i], 1.0, w->position);
    }
    piece* p = picture_line(m, count, (const double(*)[3])at, closed);
    if (p) p->behind = behind;
}

/// Does a face of the wall with this normal in the wall's frame show its back?
static bool shows_back(const picture_maker* m, const talus_wall_state* w, const double normal[3])
{
    double turned[3];
    quat_rotate(turned, w->rotation, normal);
    return view_shows_back(&m->view, turned);
}

/// Is a flat piece, given by three corners in the wall's frame, seen from the side of the grains?
static bool lies_behind(const picture_maker* m, const talus_wall_state* w, const double (*local)[3])
{
    if (!view_oblique(&m->view)) return false;
    double u[3], v[3], turned[3], normal[3], to_grains[3], at[3];
    vec_sub(3, u, local[1], local[0]);
    vec_sub(3, v, local[2], local[0]);
    vec_cross(turned, u, v);
    quat_rotate(normal, w->rotation, turned);
    quat_rotate(at, w->rotation, local[0]);
    vec_add_scaled(3, at, 1.0, w->position);
    vec_sub(3, to_grains, m->view.centre, at);
    return vec_dot(3, normal, to_grains) * vec_dot(3, normal, m->view.eye) > 0.0;
}

/// The edge of a half-space that one sees from the side.
static void add_plane(picture_maker* m, const talus_wall_state* w, const double normal[3])
{
    double n[3], flat[2], *points;
    quat_rotate(n, w->rotation, normal);
    view_point(&m->view, n, flat);
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

// ---- boxes -------------------------------------------------------------------------------------

static void add_box_2d(picture_maker* m, const talus_wall_state* w)
{
    const double* h = w->shape.half_size;
    const double corner[4][3] = {
        {-h[0], -h[1], 0}, {h[0], -h[1], 0}, {h[0], h[1], 0}, {-h[0], h[1], 0}};
    static const unsigned face[4] = {TALUS_FACE_Y_LOW, TALUS_FACE_X_HIGH, TALUS_FACE_Y_HIGH,
                                     TALUS_FACE_X_LOW};
    for (int k = 0; k < 4; k++) {
        if (w->shape.inside && (w->shape.open_faces & face[k])) continue;
        double side[2][3];
        vec_copy(3, side[0], corner[k]);
        vec_copy(3, side[1], corner[(k + 1) % 4]);
        add_line(m, w, 2, (const double(*)[3])side, false, false);
    }
}

/// All twelve edges.
static void add_box_3d(picture_maker* m, const talus_wall_state* w)
{
    const double* h = w->shape.half_size;
    for (int axis = 0; axis < 3; axis++) {
        const int b = (axis + 1) % 3, c = (axis + 2) % 3;
        for (int k = 0; k < 4; k++) {
            double side[2][3] = {{0}}, edge[2][3];
            side[0][b] = k & 1 ? 1.0 : -1.0;
            side[1][c] = k & 2 ? 1.0 : -1.0;
            for (int end = 0; end < 2; end++) {
                edge[end][axis] = end ? h[axis] : -h[axis];
                edge[end][b] = k & 1 ? h[b] : -h[b];
                edge[end][c] = k & 2 ? h[c] : -h[c];
            }
            add_line(m, w, 2, (const double(*)[3])edge, false,
                     shows_back(m, w, side[0]) && shows_back(m, w, side[1]));
        }
    }
}

// ---- round walls -------------------------------------------------------------------------------

/// A circle about the line of sight.
static void add_ring(picture_maker* m, const talus_wall_state* w, const double axis[3],
                     double height, double radius)
{
    double centre[3], *points;
    piece* p = picture_add(m, PIECE_CIRCLE, 1, &points);
    if (!p) return;
    quat_rotate(centre, w->rotation, axis);
    for (int j = 0; j < 3; j++) centre[j] = w->position[j] + height * centre[j];
    view_point(&m->view, centre, points);
    p->size = radius;
    p->wall = true;
    p->colour = wall_colour;
    picture_hold(m, p);
}

/// Is this axis of the wall's frame the line of sight?
static bool seen_along(const picture_maker* m, const talus_wall_state* w, const double axis[3])
{
    double turned[3];
    if (m->view.dim == 2) return true;
    quat_rotate(turned, w->rotation, axis);
    return fabs(vec_dot(3, turned, m->view.eye)) > 1.0 - 1e-12;
}

/// An ellipse as lines: those sides that lie behind the grains and those before them.
static void add_ellipse(picture_maker* m, const talus_wall_state* w, const double (*ring)[3],
                        const bool* behind)
{
    int start = 0;
    while (start < ROUND && behind[start] == behind[(start + ROUND - 1) % ROUND]) start++;
    if (start == ROUND) {
        add_line(m, w, ROUND, ring, true, behind[0]);
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
        add_line(m, w, count, (const double(*)[3])run, false, back);
    }
}

static void add_circle(picture_maker* m, const talus_wall_state* w, const double frame[3][3],
                       double height, double radius)
{
    if (!view_oblique(&m->view) && seen_along(m, w, frame[0])) {
        add_ring(m, w, frame[0], height, radius);
        return;
    }
    double ring[ROUND][3], out[3], cap[3];
    bool behind[ROUND];
    for (int j = 0; j < 3; j++) cap[j] = height < 0.0 ? -frame[0][j] : frame[0][j];
    for (int k = 0; k < ROUND; k++) {
        const double angle = 2.0 * M_PI * k / ROUND;
        for (int j = 0; j < 3; j++) {
            out[j] = cos(angle) * frame[1][j] + sin(angle) * frame[2][j];
            ring[k][j] = height * frame[0][j] + radius * out[j];
        }
        behind[k] = shows_back(m, w, out) && shows_back(m, w, cap);
    }
    add_ellipse(m, w, (const double(*)[3])ring, behind);
}

/// Half length at which an endless cylinder is cut: where the grains end.
static double cut_length(const picture_maker* m, const talus_wall_state* w)
{
    const talus_grains g = talus_world_grains(m->world);
    double axis[3], reach = 0.0;
    quat_rotate(axis, w->rotation, w->shape.axis);
    for (int64_t i = 0; i < g.count; i++) {
        double from[3];
        vec_sub(3, from, g.position + 3 * i, w->position);
        const double along = fabs(vec_dot(3, from, axis)) + g.radius[i];
        if (isfinite(along)) reach = fmax(reach, along);
    }
    return reach;
}

/// Both rims, and the two lines between them where the eye grazes the mantle.
static void add_mantle(picture_maker* m, const talus_wall_state* w, double low, double high,
                       double half_length)
{
    double frame[3][3], eye[3], side[3];
    vec_frame(3, w->shape.axis, frame);
    add_circle(m, w, frame, -half_length, low);
    add_circle(m, w, frame, half_length, high);
    quat_rotate_back(eye, w->rotation, m->view.eye);
    vec_cross(side, frame[0], eye);
    const double length = vec_norm(3, side);
    if (length < 1e-6) return;
    for (int k = 0; k < 2; k++) {
        const double sign = (k ? -1.0 : 1.0) / length;
        double line[2][3];
        for (int j = 0; j < 3; j++) {
            line[0][j] = -half_length * frame[0][j] + sign * low * side[j];
            line[1][j] = half_length * frame[0][j] + sign * high * side[j];
        }
        add_line(m, w, 2, (const double(*)[3])line, false, false);
    }
}

static void add_round(picture_maker* m, const talus_wall_state* w)
{
    const talus_shape_def* s = &w->shape;
    if (m->view.dim == 2) {
        static const double frame[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
        add_circle(m, w, frame, 0.0, s->radius);
        return;
    }
    const bool cone = s->kind == TALUS_SHAPE_CONE;
    const double half = cone || s->half_length > 0.0 ? s->half_length : cut_length(m, w);
    add_mantle(m, w, s->radius, cone ? s->radius_high : s->radius, half);
}

// ---- polygons ----------------------------------------------------------------------------------

static void add_part(picture_maker* m, const talus_wall_state* w, const polytope* part)
{
    if (part->dim == 2) {
        for (int v = 0; v < part->vertex_count; v++) {
            double side[2][3] = {{0}};
            vec_copy(2, side[0], part->vertex + 2 * v);
            vec_copy(2, side[1], part->vertex + 2 * ((v + 1) % part->vertex_count));
            add_line(m, w, 2, (const double(*)[3])side, false, false);
        }
    }
    for (int e = 0; e < part->edge_count; e++) {
        const int32_t* face = part->edge + 4 * e + 2;
        double side[2][3];
        for (int k = 0; k < 2; k++) vec_copy(3, side[k], part->vertex + 3 * part->edge[4 * e + k]);
        add_line(m, w, 2, (const double(*)[3])side, false,
                 shows_back(m, w, part->normal + 3 * face[0]) &&
                     shows_back(m, w, part->normal + 3 * face[1]));
    }
}

static void add_plate(picture_maker* m, const talus_wall_state* w)
{
    const double *u = w->shape.edge_u, *v = w->shape.edge_v;
    double corner[4][3];
    for (int k = 0; k < 3; k++) {
        corner[0][k] = -u[k] - v[k];
        corner[1][k] = u[k] - v[k];
        corner[2][k] = u[k] + v[k];
        corner[3][k] = -u[k] + v[k];
    }
    add_line(m, w, 4, (const double(*)[3])corner, true,
             lies_behind(m, w, (const double(*)[3])corner));
}

static void add_segment(picture_maker* m, const talus_wall_state* w)
{
    const double* u = w->shape.edge_u;
    const double ends[2][3] = {{-u[0], -u[1], 0}, {u[0], u[1], 0}};
    add_line(m, w, 2, ends, false, false);
}

static void add_wall(picture_maker* m, const talus_wall_state* w)
{
    const talus_shape_def* s = &w->shape;
    switch (s->kind) {
    case TALUS_SHAPE_PLANE:
        if (!view_oblique(&m->view)) add_plane(m, w, s->normal);
        break;
    case TALUS_SHAPE_SEGMENT: add_segment(m, w); break;
    case TALUS_SHAPE_PLATE: add_plate(m, w); break;
    case TALUS_SHAPE_BOX:
        if (m->view.dim == 2) {
            add_box_2d(m, w);
        } else {
            add_box_3d(m, w);
        }
        break;
    case TALUS_SHAPE_CYLINDER:
    case TALUS_SHAPE_CONE: add_round(m, w); break;
    case TALUS_SHAPE_SOLID: {
        const solid* shape = &m->world->state.solids.row[s->solid.index];
        for (int k = 0; k < shape->part_count; k++) add_part(m, w, &shape->part[k]);
        break;
    }
    case TALUS_SHAPE_MESH:
        for (int64_t t = 0; t < s->triangle_count; t++) {
            const double(*corner)[3] = (const double(*)[3])(s->triangles + 9 * t);
            add_line(m, w, 3, corner, true, lies_behind(m, w, corner));
        }
        break;
    case TALUS_SHAPE_COUNT: break;
    }
}

static void add_cell(picture_maker* m)
{
    const talus_world_def* def = talus_world_options(m->world);
    const int* axes = m->view.axis;
    double ends[2][2];
    bool any = false;
    for (int k = 0; k < 2; k++) {
        const span s = k ? m->out->y : m->out->x;
        const bool periodic = def->periodic[axes[k]];
        ends[k][0] = periodic ? def->cell_low[axes[k]] : s.low;
        ends[k][1] = periodic ? def->cell_high[axes[k]] : s.high;
        any = any || periodic;
    }
    double* points;
    if (!any || ends[0][0] > ends[0][1] || ends[1][0] > ends[1][1]) return;
    // Only the borders across periodic axes: elsewhere the world does not end.
    for (int k = 0; k < 2; k++) {
        if (!def->periodic[axes[k]]) continue;
        for (int end = 0; end < 2; end++) {
            piece* p = picture_add(m, PIECE_LINE, 2, &points);
            if (!p) return;
            for (int i = 0; i < 2; i++) {
                points[2 * i + k] = ends[k][end];
                points[2 * i + 1 - k] = ends[1 - k][i];
            }
            p->colour = (rgb){0.6, 0.6, 0.6};
            picture_hold(m, p);
        }
    }
}

/// Does a plane lie where the picture should show it: not farther from the grains than these are
/// spread?
static void hold_plane(picture_maker* m, const piece* p)
{
    const double* at = m->out->point + 2 * p->first;
    for (int k = 0; k < 2; k++) {
        span* s = k ? &m->out->y : &m->out->x;
        if (fabs(at[2 + k]) < 0.999 || span_is_empty(*s)) continue;
        const double range = s->high - s->low;
        if (at[k] > s->low - range && at[k] < s->high + range) span_add(s, at[k]);
    }
}

void picture_walls(picture_maker* m)
{
    const int count = talus_world_wall_count(m->world);
    const int64_t first = m->out->piece_count;
    for (int i = 0; i < count; i++) {
        talus_wall_state w;
        if (talus_world_wall(m->world, (talus_wall_id){i}, &w, NULL) == TALUS_OK && w.present)
            add_wall(m, &w);
    }
    for (int64_t i = first; i < m->out->piece_count; i++) {
        if (m->out->piece[i].kind == PIECE_PLANE) hold_plane(m, &m->out->piece[i]);
    }
    if (view_oblique(&m->view)) {
        picture_patches(m);
    } else {
        add_cell(m);
    }
}
