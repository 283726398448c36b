/// Contacts with a mesh: every pair of features that is a local minimum of the distance.
///
/// A point x of the mesh and a point y of b are such a minimum when the direction d from x to y
/// lies in the normal cones of both: no edge that leaves a corner x, and no triangle at an edge x,
/// goes towards y, and no part of b goes from y towards x. At a flat or hollow edge no direction
/// passes that test, so such edges never touch, without any rule of their own.
///
/// An edge that lies nearly flat on a face has its minimum at one end, and as the face turns past
/// it the other end becomes the minimum: both have to be held in a step that turns so far. So cones
/// are wider by the angle by which b may turn (query.slack).
///
/// Corners of b are held by whole planes instead, as an analytic plane would: every corner over a
/// triangle counts, not only the lowest one.
///
/// What slides down into a hollow meets what rises behind it within the step. So a face holds also
/// what is still before a hollow edge of it, and an edge what is still before a hollow end of it,
/// as far as b may move: there both lie hidden below the surface, and hold nothing that this does
/// not hold first.
#include "detect/mesh_touch.h"
#include "base/portable.h"

#include "detect/mesh_query.h"
#include "geometry/feature.h"

#include <stdlib.h>

/// Fraction of the way to b's middle by which a corner is drawn back before it is asked on which
/// side of a triangle it is, so that resting contacts are outside whatever roundoff says.
static const double draw_back = 1e-9;

/// No edge that leaves the corner goes along d.
static bool vertex_cone(const mesh* m, int32_t vertex, const double d[3], double slack)
{
    for (int32_t i = m->vertex_first[vertex]; i < m->vertex_first[vertex + 1]; i++) {
        double u[3];
        vec_sub(3, u, m->vertex + 3 * m->vertex_near[i], m->vertex + 3 * vertex);
        if (vec_dot(3, d, u) > slack * vec_norm(3, u)) return false;
    }
    return true;
}

/// No triangle at the edge goes along d, which is perpendicular to the edge.
static bool edge_cone(const mesh* m, int32_t edge, const double d[3], double slack)
{
    const double* origin = m->vertex + 3 * m->edge[2 * edge];
    double along[3];
    vec_sub(3, along, m->vertex + 3 * m->edge[2 * edge + 1], origin);
    double scale = 1.0 / vec_dot(3, along, along);
    for (int32_t i = m->edge_first[edge]; i < m->edge_first[edge + 1]; i++) {
        double u[3];
        vec_sub(3, u, m->vertex + 3 * m->edge_opposite[i], origin);
        vec_add_scaled(3, u, -scale * vec_dot(3, u, along), along);
        if (vec_dot(3, d, u) > slack * vec_norm(3, u)) return false;
    }
    return true;
}

// ---- Hollow edges and ends ---------------------------------------------------------------------

/// Nearest point of a triangle (Ericson, Real-Time Collision Detection, 5.1.5). Returns where it
/// is: corner 0..2, edge 3..5 (3 + k from corner k), 6 within.
static int nearest_on_triangle(const double p[3], const double c[9], double out[3])
{
    const double *a = c, *b = c + 3, *d = c + 6;
    double ab[3], ad[3], ap[3], bp[3], dp[3];
    vec_sub(3, ab, b, a), vec_sub(3, ad, d, a), vec_sub(3, ap, p, a);
    vec_sub(3, bp, p, b), vec_sub(3, dp, p, d);
    double d1 = vec_dot(3, ab, ap), d2 = vec_dot(3, ad, ap), d3 = vec_dot(3, ab, bp),
           d4 = vec_dot(3, ad, bp), d5 = vec_dot(3, ab, dp), d6 = vec_dot(3, ad, dp);
    double wa = d3 * d6 - d5 * d4, wb = d5 * d2 - d1 * d6, wd = d1 * d4 - d3 * d2;
    double s = 0.0, t = 0.0; // out = a + s ab + t ad
    int where = 6;
    if (d1 <= 0.0 && d2 <= 0.0) {
        where = 0;
    } else if (d3 >= 0.0 && d4 <= d3) {
        s = 1.0, where = 1;
    } else if (d6 >= 0.0 && d5 <= d6) {
        t = 1.0, where = 2;
    } else if (wd <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        s = d1 / (d1 - d3), where = 3;
    } else if (wb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        t = d2 / (d2 - d6), where = 5;
    } else if (wa <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6)), s = 1.0 - t, where = 4;
    } else {
        s = wb / (wa + wb + wd), t = wd / (wa + wb + wd);
    }
    for (int k = 0; k < 3; k++) out[k] = a[k] + s * ab[k] + t * ad[k];
    return where;
}

/// Does the surface rise behind an edge of a triangle, on this side of it, with b in the hollow?
/// Its middle is, and its point x is too or has gone through.
static bool rises_behind(const query* q, int32_t triangle, int32_t edge, double side,
                         const double x[3], bool crossed)
{
    const mesh* m = q->m;
    const double* own = NULL; // the triangle's corner that faces the edge
    for (int k = 0; k < 3; k++) {
        const int32_t v = m->triangle[3 * triangle + k];
        if (v != m->edge[2 * edge] && v != m->edge[2 * edge + 1]) own = m->vertex + 3 * v;
    }
    for (int32_t i = m->edge_first[edge]; i < m->edge_first[edge + 1] && own; i++) {
        const int32_t other = m->edge_triangle[i];
        const double* up = m->vertex + 3 * m->edge_opposite[i];
        const double height = side * mesh_height(m, triangle, up);
        if (other == triangle || height <= PARALLEL_SLACK * distance_between(up, own)) continue;
        const double front = mesh_height(m, other, own);
        if (mesh_height(m, other, q->middle) * front < 0.0) continue;
        if (crossed || mesh_height(m, other, x) * front >= 0.0) return true;
    }
    return false;
}

/// Is b's point x before a hollow edge of a triangle, and not farther from both than b may move?
/// seen[]: the triangle's point that is nearest to its foot.
static bool before_hollow_edge(const query* q, int32_t triangle, double side, const double x[3],
                               bool gone_through, double seen[3])
{
    const mesh* m = q->m;
    const double height = mesh_height(m, triangle, x);
    double foot[3];
    vec_copy(3, foot, x);
    vec_add_scaled(3, foot, -height, m->normal + 3 * triangle);
    nearest_on_triangle(foot, m->corner + 9 * triangle, seen);
    const double gap = fmax(fabs(height) - (q->reach - q->moves), 0.0);
    if (portable_hypot(gap, distance_between(foot, seen)) > q->moves) return false;
    const double sense = mesh_winding(m, triangle);
    for (int k = 0; k < 3; k++) {
        if (mesh_inside_side(m, triangle, k, sense, x) >= -q->eps) continue;
        if (!rises_behind(q, triangle, m->triangle_edge[3 * triangle + k], side, x, gone_through))
            return false;
    }
    return true;
}

/// Does the mesh rise along d behind an end of an edge: at corner `end`, seen from corner `other`,
/// and not only to the side?
static bool rises_behind_end(const mesh* m, int32_t end, int32_t other, const double d[3])
{
    double away[3];
    vec_sub(3, away, m->vertex + 3 * end, m->vertex + 3 * other);
    const double length = vec_norm(3, away);
    for (int32_t i = m->vertex_first[end]; i < m->vertex_first[end + 1]; i++) {
        double u[3];
        vec_sub(3, u, m->vertex + 3 * m->vertex_near[i], m->vertex + 3 * end);
        const double ahead = vec_dot(3, u, away) / length, up = vec_dot(3, u, d);
        const double size2 = vec_dot(3, u, u), beside2 = size2 - ahead * ahead - up * up;
        if (ahead > 0.0 && up > PARALLEL_SLACK * sqrt(size2) && beside2 < 0.5 * size2) return true;
    }
    return false;
}

static int64_t face_name(const mesh* m, int32_t triangle, double side, int32_t v)
{
    return feature_make(FEATURE_FACE_VERTEX, 2 * (int64_t)m->patch[triangle] + (side < 0.0), v);
}

static int64_t pair_name(int32_t of_mesh, int32_t code)
{
    return feature_make(FEATURE_EDGE_EDGE, of_mesh, code);
}

// ---- Balls -------------------------------------------------------------------------------------

static void ball_on_triangle(query* q, int32_t triangle)
{
    const mesh* m = q->m;
    double foot[3], d[3], height = mesh_height(m, triangle, q->middle);
    int where = nearest_on_triangle(q->middle, m->corner + 9 * triangle, foot);
    vec_sub(3, d, q->middle, foot);
    double distance = vec_norm(3, d);
    if (distance > q->reach) return;
    int32_t edge = where >= 3 && where < 6 ? m->triangle_edge[3 * triangle + where - 3] : -1;
    int32_t vertex = where < 3 ? m->triangle[3 * triangle + where] : -1;
    bool flat = where == 6 || (edge >= 0 && !m->edge_sharp[edge]) ||
                (vertex >= 0 && m->vertex_kind[vertex] == VERTEX_FLAT);
    for (int k = 0; k < 3 && distance > q->eps; k++) d[k] /= distance;
    bool sticks_out = distance <= q->eps || (edge >= 0     ? edge_cone(m, edge, d, CONE_SLACK)
                                             : vertex >= 0 ? vertex_cone(m, vertex, d, CONE_SLACK)
                                                           : true);
    double side = height < 0.0 ? -1.0 : 1.0, seen[3];
    const bool before =
        !sticks_out && before_hollow_edge(q, triangle, side, q->middle, false, seen);
    if (!sticks_out && !before) return;
    if (flat || before || distance <= q->eps) {
        // The ball's centre over the plane of a triangle's patch.
        double normal[3];
        for (int k = 0; k < 3; k++) {
            normal[k] = side * q->m->normal[3 * triangle + k];
            foot[k] = q->middle[k] - fabs(height) * normal[k];
        }
        query_add(q, foot, q->middle, normal, fabs(height), RANK_FACE,
                  face_name(q->m, triangle, side, 0));
        if (before) query_before_hollow(q, seen);
    } else if (edge >= 0) {
        query_add(q, foot, q->middle, d, distance, RANK_NEAR_EDGE,
                  pair_name(edge, PAIR_EDGE_VERTEX));
    } else {
        query_add(q, foot, q->middle, d, distance, RANK_NEAR_CORNER,
                  pair_name(vertex, PAIR_VERTEX_VERTEX));
    }
}

// ---- Corners of b on triangles -----------------------------------------------------------------

/// Where the ways to b's corners go through the mesh.
static void find_crossings(const query* q, crossing* cross)
{
    const mesh* m = q->m;
    for (int32_t v = 0; v < q->b->vertex_count; v++) cross[v] = (crossing){.triangle = -1};
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double from = mesh_height(m, t, q->middle), base = mesh_height(m, t, q->delta);
        for (int32_t v = 0; v < q->b->vertex_count; v++) {
            double to = base + vec_dot(3, m->normal + 3 * t, q->b->vertex + 3 * v);
            if (from * (to + draw_back * (from - to)) >= 0.0) continue;
            crossing c = {.triangle = t, .t = from / (from - to), .depth = fabs(to)};
            if (cross[v].triangle >= 0 && c.t >= cross[v].t) continue;
            double x[3];
            query_corner(q, v, x);
            for (int k = 0; k < 3; k++) c.at[k] = q->middle[k] + c.t * (x[k] - q->middle[k]);
            if (mesh_over_triangle(m, t, c.at, q->eps)) cross[v] = c;
        }
    }
}

/// Depth of b behind a triangle's plane, seen from its middle: how far it would have to be moved to
/// be in front of it.
static double body_depth(const query* q, int32_t triangle, double side)
{
    double depth = -INFINITY, base = mesh_height(q->m, triangle, q->delta);
    const double* n = q->m->normal + 3 * triangle;
    for (int32_t v = 0; v < q->b->vertex_count; v++)
        depth = fmax(depth, -side * (base + vec_dot(3, n, q->b->vertex + 3 * v)));
    return depth;
}

/// Near a rim a corner may lie behind the triangles on both sides of it. Let the one count as gone
/// through out of which b has the shorter way.
static void choose_crossing(const query* q, int32_t v, crossing* c)
{
    const mesh* m = q->m;
    double x[3], side = mesh_height(m, c->triangle, q->middle) < 0.0 ? -1.0 : 1.0;
    double least = body_depth(q, c->triangle, side);
    const crossing first = *c;
    query_corner(q, v, x);
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double from = mesh_height(m, t, q->middle), h = mesh_height(m, t, x);
        side = from < 0.0 ? -1.0 : 1.0;
        bool behind = side * h < 0.0 && side * mesh_height(m, t, first.at) < -q->eps;
        if (!behind || !mesh_over_triangle(m, t, x, q->eps)) continue;
        double depth = body_depth(q, t, side);
        if (depth >= least) continue;
        least = depth;
        c->triangle = t;
        c->depth = fabs(h);
        for (int k = 0; k < 3; k++) c->at[k] = x[k] - h * m->normal[3 * t + k];
    }
}

/// Does a triangle hold back a corner that has gone through the mesh? The one it went through
/// does, and those in front of which it went through: they bound the same hollow.
static bool holds_crossed(const query* q, int32_t triangle, double side, const crossing* c,
                          const double x[3])
{
    if (triangle == c->triangle) return true;
    if (side * mesh_height(q->m, triangle, c->at) < -q->eps) return false;
    return mesh_over_triangle(q->m, triangle, x, 2.0 * c->depth);
}

static void corner_on_triangle(query* q, int32_t triangle, int32_t v, double from, double to,
                               const crossing* c)
{
    // A corner beyond the plane that has not gone through is beside a rim, which holds it there.
    bool crossed = c->triangle >= 0, beyond = from * (to + draw_back * (from - to)) < 0.0;
    double side = from < 0.0 ? -1.0 : 1.0, h = side * to;
    if (h > q->reach || (beyond && !crossed)) return;
    double x[3], foot[3], normal[3], back[3];
    query_corner(q, v, x);
    for (int k = 0; k < 3; k++) {
        normal[k] = side * q->m->normal[3 * triangle + k];
        foot[k] = x[k] - h * normal[k];
        back[k] = x[k] + draw_back * (q->middle[k] - x[k]);
    }
    // One that has gone through elsewhere may be held in front of this triangle too, as in a hollow
    // corner; drop_ghosts() decides.
    bool held = beyond
                    ? holds_crossed(q, triangle, side, c, x)
                    : mesh_over_triangle(q->m, triangle, back, crossed ? 2.0 * c->depth : q->eps);
    double seen[3];
    const bool before =
        !held && !beyond && before_hollow_edge(q, triangle, side, back, crossed, seen);
    if (!held && !before) return;
    query_add(q, foot, x, normal, h, RANK_FACE, face_name(q->m, triangle, side, v));
    if (before) query_before_hollow(q, seen);
}

// ---- Corners and edges of the mesh on b --------------------------------------------------------

/// The face of b on which corner p of the mesh may rest: from outside the nearest one, from
/// within the one it is least deep behind and sticks out towards; -1: none.
static int32_t face_over(const query* q, int32_t vertex, const double p[3], double* height)
{
    int32_t best = -1, best_within = -1;
    double highest = -INFINITY, highest_within = -INFINITY;
    for (int32_t f = 0; f < q->b->shape->face_count; f++) {
        double h = query_over_face(q, f, p), d[3];
        if (h > q->reach) return -1;
        if (h > highest) highest = h, best = f;
        if (h <= highest_within) continue;
        for (int k = 0; k < 3; k++) d[k] = -q->b->normal[3 * f + k];
        if (vertex_cone(q->m, vertex, d, q->slack)) highest_within = h, best_within = f;
    }
    bool within = highest <= q->eps;
    *height = within ? highest_within : highest;
    return within || best == best_within ? best_within : -1;
}

static bool within_body(const query* q, const double p[3])
{
    for (int32_t f = 0; f < q->b->shape->face_count; f++)
        if (query_over_face(q, f, p) > q->eps) return false;
    return true;
}

static void corner_on_face(query* q, int32_t vertex)
{
    const double* p = q->m->vertex + 3 * vertex;
    double h, normal[3], foot[3];
    int32_t f = face_over(q, vertex, p, &h);
    if (f < 0) return;
    for (int k = 0; k < 3; k++) {
        normal[k] = -q->b->normal[3 * f + k];
        foot[k] = p[k] + h * normal[k];
    }
    if (h > q->eps && !within_body(q, foot)) return;
    query_add(q, p, foot, normal, h, RANK_CORNER_ON_FACE,
              feature_make(FEATURE_VERTEX_FACE, vertex, f));
}

/// Does an edge of the mesh go through b? Clipped by one face after the other.
static bool edge_in_body(const query* q, int32_t e)
{
    const double* a = q->m->vertex + 3 * q->m->edge[2 * e];
    const double* b = q->m->vertex + 3 * q->m->edge[2 * e + 1];
    double first = 0.0, last = 1.0;
    for (int32_t f = 0; f < q->b->shape->face_count; f++) {
        double from = query_over_face(q, f, a), to = query_over_face(q, f, b);
        if (from > 0.0 && to > 0.0) return false;
        if (from > 0.0) first = fmax(first, from / (from - to));
        if (to > 0.0) last = fmin(last, from / (from - to));
    }
    return first <= last;
}

/// An edge of b, and the directions from it into its two faces.
typedef struct body_edge {
    double from[3], along[3], length2;
    double into[2][3];
} body_edge;

static body_edge edge_of(const query* q, int32_t g)
{
    const int32_t* e = q->b->shape->edge + 4 * g;
    body_edge out;
    double to[3];
    query_corner(q, e[0], out.from);
    query_corner(q, e[1], to);
    vec_sub(3, out.along, to, out.from);
    out.length2 = vec_dot(3, out.along, out.along);
    // e[0] precedes e[1] in the loop of the first face, which runs counterclockwise.
    vec_cross(out.into[0], q->b->normal + 3 * e[2], out.along);
    vec_cross(out.into[1], out.along, q->b->normal + 3 * e[3]);
    return out;
}

/// b lies ahead of its edge in direction d, which is perpendicular to it.
static bool body_edge_cone(const body_edge* g, const double d[3], double slack)
{
    double least = -slack * sqrt(g->length2);
    return vec_dot(3, d, g->into[0]) >= least && vec_dot(3, d, g->into[1]) >= least;
}

/// b lies ahead of its corner in direction d.
static bool body_vertex_cone(const query* q, int32_t v, const double d[3])
{
    for (int32_t w = 0; w < q->b->vertex_count; w++) {
        double u[3];
        vec_sub(3, u, q->b->vertex + 3 * w, q->b->vertex + 3 * v);
        if (vec_dot(3, d, u) < -CONE_SLACK * vec_norm(3, u)) return false;
    }
    return true;
}

/// Edge e of the mesh across edge g of b.
static void edge_across_edge(query* q, int32_t e, int32_t g, const body_edge* ge)
{
    const mesh* m = q->m;
    const double* a = m->vertex + 3 * m->edge[2 * e];
    double u[3], w[3], n[3];
    vec_sub(3, u, m->vertex + 3 * m->edge[2 * e + 1], a);
    vec_sub(3, w, ge->from, a);
    vec_cross(n, u, ge->along);
    double n2 = vec_dot(3, n, n), uu = vec_dot(3, u, u);
    if (n2 <= CONE_SLACK * CONE_SLACK * uu * ge->length2) return; // parallel: corners do the work
    double wg[3], wu[3];
    vec_cross(wg, w, ge->along);
    vec_cross(wu, w, u);
    double s = vec_dot(3, wg, n) / n2, t = vec_dot(3, wu, n) / n2; // on e, on g
    const double end = 1e-10, on_edge = fmin(fmax(s, 0.0), 1.0);
    const bool before = fabs(s - on_edge) > end; // an end of e
    double length = sqrt(n2), h = vec_dot(3, n, w) / length;
    if (t < -end || t > 1.0 + end || fabs(h) > q->reach + 2.0 * q->radius) return;
    if (before && fabs(s - on_edge) * sqrt(uu) > q->moves + fabs(h)) return;
    for (int sign = 0; sign < 2; sign++) {
        double normal[3], x[3], y[3], seen[3], scale = (sign ? -1.0 : 1.0) / length;
        for (int k = 0; k < 3; k++) {
            normal[k] = scale * n[k];
            x[k] = a[k] + s * u[k];
            y[k] = ge->from[k] + t * ge->along[k];
            seen[k] = a[k] + on_edge * u[k];
        }
        double gap = sign ? -h : h;
        if (gap > q->reach || !body_edge_cone(ge, normal, q->slack) ||
            !edge_cone(m, e, normal, q->slack))
            continue;
        // The edges have passed each other only if that of the mesh goes through b now.
        if (gap < -q->eps && !edge_in_body(q, e)) continue;
        const int32_t *ends = m->edge + 2 * e, last = s > 1.0;
        if (before && !rises_behind_end(m, ends[last], ends[!last], normal)) continue;
        query_add(q, x, y, normal, gap, RANK_EDGES, pair_name(e, PAIR_EDGE_EDGE + 2 * g + sign));
        if (before) query_before_hollow(q, seen);
    }
}

/// Unit vector and distance from x to y; false if they are out of reach or in one place.
static bool direction(const query* q, const double x[3], const double y[3], double d[3],
                      double* distance)
{
    vec_sub(3, d, y, x);
    *distance = vec_norm(3, d);
    if (*distance > q->reach || *distance <= q->eps) return false;
    for (int k = 0; k < 3; k++) d[k] /= *distance;
    return true;
}

/// Foot of p on the open segment from + t along, 0 < t < 1.
static bool foot_on_segment(const double p[3], const double from[3], const double along[3],
                            double foot[3])
{
    double u[3];
    vec_sub(3, u, p, from);
    double t = vec_dot(3, u, along) / vec_dot(3, along, along);
    for (int k = 0; k < 3; k++) foot[k] = from[k] + t * along[k];
    return t > 0.0 && t < 1.0;
}

/// Edge e of the mesh near corner v of b.
static void edge_near_corner(query* q, int32_t e, int32_t v)
{
    const double* a = q->m->vertex + 3 * q->m->edge[2 * e];
    double along[3], x[3], y[3], d[3], h;
    vec_sub(3, along, q->m->vertex + 3 * q->m->edge[2 * e + 1], a);
    query_corner(q, v, y);
    if (foot_on_segment(y, a, along, x) && direction(q, x, y, d, &h) &&
        edge_cone(q->m, e, d, CONE_SLACK) && body_vertex_cone(q, v, d))
        query_add(q, x, y, d, h, RANK_NEAR_EDGE, pair_name(e, PAIR_EDGE_VERTEX + v));
}

/// Corner p of the mesh near edge g of b.
static void corner_near_edge(query* q, int32_t vertex, int32_t g, const body_edge* ge)
{
    const double* p = q->m->vertex + 3 * vertex;
    double y[3], d[3], h;
    if (foot_on_segment(p, ge->from, ge->along, y) && direction(q, p, y, d, &h) &&
        body_edge_cone(ge, d, CONE_SLACK) && vertex_cone(q->m, vertex, d, CONE_SLACK))
        query_add(q, p, y, d, h, RANK_NEAR_EDGE, pair_name(vertex, PAIR_VERTEX_EDGE + g));
}

static void corner_near_corner(query* q, int32_t vertex, int32_t v)
{
    const double* p = q->m->vertex + 3 * vertex;
    double y[3], d[3], h;
    query_corner(q, v, y);
    if (direction(q, p, y, d, &h) && vertex_cone(q->m, vertex, d, CONE_SLACK) &&
        body_vertex_cone(q, v, d))
        query_add(q, p, y, d, h, RANK_NEAR_CORNER, pair_name(vertex, PAIR_VERTEX_VERTEX + v));
}

/// Find all contacts with a body that has corners: those on triangles, then the corners and edges
/// of the mesh on the body.
static void find_on_body(query* q, crossing* cross)
{
    find_crossings(q, cross);
    for (int32_t v = 0; v < q->b->vertex_count; v++)
        if (cross[v].triangle >= 0) choose_crossing(q, v, cross + v);
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double from = mesh_height(q->m, t, q->middle), base = mesh_height(q->m, t, q->delta);
        for (int32_t v = 0; v < q->b->vertex_count; v++) {
            double to = base + vec_dot(3, q->m->normal + 3 * t, q->b->vertex + 3 * v);
            if (fabs(to) > q->reach && cross[v].triangle < 0) continue;
            corner_on_triangle(q, t, v, from, to, cross + v);
        }
    }
    const polytope* s = q->b->shape;
    for (int i = 0; i < q->vertex.count; i++) {
        int32_t p = q->vertex.row[i];
        if (q->m->vertex_kind[p] == VERTEX_CORNER) corner_on_face(q, p);
        for (int32_t v = 0; v < s->vertex_count; v++) corner_near_corner(q, p, v);
    }
    for (int i = 0; i < q->edge.count; i++)
        for (int32_t v = 0; v < s->vertex_count; v++) edge_near_corner(q, q->edge.row[i], v);
    for (int32_t g = 0; g < s->edge_count && q->edge.count + q->vertex.count > 0; g++) {
        body_edge ge = edge_of(q, g);
        for (int i = 0; i < q->edge.count; i++) edge_across_edge(q, q->edge.row[i], g, &ge);
        for (int i = 0; i < q->vertex.count; i++) corner_near_edge(q, q->vertex.row[i], g, &ge);
    }
}

/// Does the way to corner v still go through the mesh after b is shifted?
static bool crossed_after(query* q, int32_t v, const double shift[3])
{
    double x[3], middle[3];
    query_corner(q, v, x);
    for (int k = 0; k < 3; k++) {
        x[k] += shift[k];
        middle[k] = q->middle[k] + shift[k];
    }
    for (int i = 0; i < q->triangle.count; i++) {
        int32_t t = q->triangle.row[i];
        double from = mesh_height(q->m, t, middle), to = mesh_height(q->m, t, x), at[3];
        if (from * (to + draw_back * (from - to)) >= 0.0) continue;
        for (int k = 0; k < 3; k++) at[k] = middle[k] + from / (from - to) * (x[k] - middle[k]);
        if (mesh_over_triangle(q->m, t, at, q->eps)) return true;
    }
    return false;
}

/// Is an overlap gone after b is shifted?
static bool freed_after(query* q, const found* k, const double shift[3])
{
    if (k->rank == RANK_FACE) return !crossed_after(q, feature_b(k->t.feature), shift);
    if (k->rank != RANK_EDGES && k->rank != RANK_CORNER_ON_FACE) return false;
    const double* delta = q->delta;
    double shifted[3];
    for (int c = 0; c < 3; c++) shifted[c] = delta[c] + shift[c];
    q->delta = shifted;
    const int32_t of_mesh = feature_a(k->t.feature);
    const bool freed = k->rank == RANK_EDGES ? !edge_in_body(q, of_mesh)
                                             : !within_body(q, q->m->vertex + 3 * of_mesh);
    q->delta = delta;
    return freed;
}

/// What is deep in the other body but comes out already when b is taken out of a contact half as
/// deep or less was not held there: beside a rim not by the triangle, where a thin body reaches
/// round an edge not by that edge.
static void drop_freed(query* q)
{
    int kept = 0, count = q->found.count;
    for (int i = 0; i < count; i++) {
        found* k = q->found.row + i;
        k->dropped = false;
        for (int j = 0; j < count && k->h < -q->eps && !k->dropped; j++) {
            const found* f = q->found.row + j;
            if (f->h >= -q->eps || f->h < 0.5 * k->h) continue;
            double shift[3];
            for (int c = 0; c < 3; c++)
                shift[c] = (10.0 * q->eps - (1.0 + 1e-6) * f->h) * f->t.normal[c];
            k->dropped = freed_after(q, k, shift);
        }
    }
    for (int i = 0; i < count; i++)
        if (!q->found.row[i].dropped) q->found.row[kept++] = q->found.row[i];
    q->found.count = kept;
}

/// The least shift, more or less, that takes b out of the mesh; false if it is out already.
static bool way_out(const query* q, double shift[3])
{
    bool overlap = false;
    for (int k = 0; k < 3; k++) shift[k] = 0.0;
    for (int i = 0; i < q->found.count; i++) {
        const found* f = q->found.row + i;
        double missing = 10.0 * q->eps - f->h - vec_dot(3, shift, f->t.normal);
        if (f->h >= -q->eps || missing <= 0.0) continue;
        overlap = true;
        vec_add_scaled(3, shift, (1.0 + 1e-6) * missing, f->t.normal);
    }
    return overlap;
}

/// A body that rests on a face and has sunk in by a hair looks past its rim at what lies below:
/// at the outer sides of a step, say, that would then stop it from sliding on. Such a contact is
/// gone when the body is lifted out.
static void drop_ghosts(query* q, crossing* cross)
{
    double shift[3], lifted[3], middle[3];
    const double *delta = q->delta, reach = q->reach;
    if (!way_out(q, shift)) return;
    for (int k = 0; k < 3; k++) {
        lifted[k] = delta[k] + shift[k];
        middle[k] = q->middle[k];
        q->middle[k] += shift[k];
    }
    int count = q->found.count, kept = 0;
    q->delta = lifted;
    q->reach += vec_norm(3, shift);
    find_on_body(q, cross);
    for (int i = 0; i < count; i++) {
        bool keep = q->found.row[i].h < -q->eps;
        for (int j = count; j < q->found.count && !keep; j++)
            keep = q->found.row[j].t.feature == q->found.row[i].t.feature;
        if (keep) q->found.row[kept++] = q->found.row[i];
    }
    q->found.count = kept;
    q->delta = delta;
    q->reach = reach;
    vec_copy(3, q->middle, middle);
}

static void touch_body(query* q)
{
    enum { CORNERS_LOCAL = 64 };
    crossing local[CORNERS_LOCAL], *cross = local;
    if (q->b->vertex_count > CORNERS_LOCAL)
        cross = malloc((size_t)q->b->vertex_count * sizeof *cross);
    if (!cross) {
        q->failed = true;
        return;
    }
    query_features(q);
    find_on_body(q, cross);
    query_drop_unfounded(q);
    query_drop_explained(q);
    drop_freed(q);
    drop_ghosts(q, cross);
    if (cross != local) free(cross);
}

talus_status mesh_touches(const mesh* m, const convex* b, const double delta[3], double reach,
                          const convex_hint* hint, touch_list* out)
{
    query q;
    query_begin(&q, m, b, delta, reach);
    if (q.triangle.count > 0 && b->shape) touch_body(&q);
    for (int i = 0; i < q.triangle.count && !b->shape; i++) {
        ball_on_triangle(&q, q.triangle.row[i]);
    }
    if (!b->shape) query_drop_unfounded(&q);
    talus_status status = TALUS_ERR_MEMORY;
    if (!q.failed) status = q.found.count > 0 ? query_sift(&q, hint, out) : TALUS_OK;
    query_end(&q);
    return status;
}

// ---- The gap of a name -------------------------------------------------------------------------

/// Distance between a point and the segment from + t along, 0 <= t <= 1.
static double segment_distance(const double p[3], const double from[3], const double along[3])
{
    double foot[3], u[3];
    vec_sub(3, u, p, from);
    double t = vec_dot(3, u, along) / vec_dot(3, along, along);
    t = fmin(fmax(t, 0.0), 1.0);
    for (int k = 0; k < 3; k++) foot[k] = from[k] + t * along[k];
    return distance_between(p, foot);
}

/// Gap between the cores of a FEATURE_EDGE_EDGE.
static double pair_gap(const query* q, int32_t of_mesh, int32_t code)
{
    const mesh* m = q->m;
    double x[3], along[3];
    if (code >= PAIR_VERTEX_VERTEX) {
        query_corner(q, code - PAIR_VERTEX_VERTEX, x);
        return distance_between(x, m->vertex + 3 * of_mesh);
    }
    if (code >= PAIR_VERTEX_EDGE) {
        body_edge g = edge_of(q, code - PAIR_VERTEX_EDGE);
        return segment_distance(m->vertex + 3 * of_mesh, g.from, g.along);
    }
    const double* from = m->vertex + 3 * m->edge[2 * of_mesh];
    vec_sub(3, along, m->vertex + 3 * m->edge[2 * of_mesh + 1], from);
    if (code >= PAIR_EDGE_VERTEX) {
        query_corner(q, code - PAIR_EDGE_VERTEX, x);
        return segment_distance(x, from, along);
    }
    body_edge g = edge_of(q, code / 2);
    double n[3], between[3];
    vec_cross(n, along, g.along);
    vec_sub(3, between, g.from, from);
    double length = vec_norm(3, n);
    if (length == 0.0) return segment_distance(g.from, from, along);
    return (code % 2 ? -1.0 : 1.0) * vec_dot(3, n, between) / length;
}

double mesh_gap(const mesh* m, const convex* b, const double delta[3], int64_t feature)
{
    query q;
    q.m = m, q.b = b, q.delta = delta;
    int32_t of_mesh = feature_a(feature), of_b = feature_b(feature);
    double x[3], h = 0.0;
    switch (feature_kind_of(feature)) {
    case FEATURE_FACE_VERTEX:
        query_corner(&q, of_b, x);
        h = (of_mesh % 2 ? -1.0 : 1.0) * mesh_height(m, of_mesh / 2, x);
        break;
    case FEATURE_VERTEX_FACE: h = query_over_face(&q, of_b, m->vertex + 3 * of_mesh); break;
    case FEATURE_EDGE_EDGE: h = pair_gap(&q, of_mesh, of_b); break;
    case FEATURE_SURFACE: break; // a mesh never makes this name
    }
    return h - m->skin - b->skin;
}
