/// Contact points between a face of a and a face of b, seen along the axis: the corners of the
/// common part of both polygons (Sutherland, Hodgman, Comm. ACM 17, 1974). Each is a corner of a
/// over b's face, a corner of b over a's, or the crossing of two edges, and is named so whichever
/// body the axis belongs to.
///
/// The polygon whose face carries the axis cuts the other one, whose points are then never
/// extrapolated. Where corners or edges of both coincide (flush stacks) those of b are taken. Faces
/// of more than FACE_CORNERS corners are thinned to evenly chosen ones; the nearest point of the
/// axis is then added if the cut missed it, so no buffer can overflow and no contact is lost.
#include <string.h>

#include "geometry/convex_axis.h"

enum { FACE_CORNERS = 64, CUT_CORNERS = 2 * FACE_CORNERS + 4 };
/// Corners this much (of the pair's size) outside a side still count as over the face.
#define FLUSH 1e-6
/// Sine of the angle up to which edges run along each other.
#define PARALLEL_EDGES 1e-3

/// Corner of the cut polygon.
typedef struct corner {
    double x[3];   ///< on the cut face, from a's origin
    double d;      ///< inside distance from the present side
    int own;       ///< corner of the cut body; -1 where an edge was cut
    int own_edge;  ///< own < 0: edge of the cut body, or -1 where it is a corner of the cutter
    int by;        ///< own < 0: the cutter's edge, or corner if own_edge is -1
    int leave;     ///< edge along which the polygon goes on: of the cut body, or
    bool leave_by; ///< of the cutter: then the place of that side in its loop
} corner;

/// A face's loop, thinned.
typedef struct loop {
    const convex* body;
    int face, first, count, stride;
    double shift[3];
} loop;

static loop loop_of(const convex* c, int face, const double* shift)
{
    const int32_t* first = c->shape->face_first + face;
    int whole = first[1] - first[0], stride = (whole + FACE_CORNERS - 1) / FACE_CORNERS;
    loop l = {.body = c, .face = face, .first = first[0], .stride = stride};
    l.count = (whole + stride - 1) / stride;
    for (int k = 0; k < 3; k++) l.shift[k] = shift ? shift[k] : 0.0;
    return l;
}

static bool thinned(const convex* c, int face)
{
    return c->shape->face_first[face + 1] - c->shape->face_first[face] > FACE_CORNERS;
}

static int loop_corner(const loop* l, int i)
{
    return l->body->shape->face_vertex[l->first + (i % l->count) * l->stride];
}

static int loop_edge(const loop* l, int i)
{
    return l->body->shape->face_edge[l->first + (i % l->count) * l->stride];
}

static void loop_point(const loop* l, int i, double x[3])
{
    const double* v = l->body->vertex + 3 * loop_corner(l, i);
    for (int k = 0; k < 3; k++) x[k] = v[k] + l->shift[k];
}

/// The corner where the polygon leaves or enters side `s` between corners g and h.
static corner crossing(const corner* g, const corner* h, const loop* cutter, int s)
{
    corner c = {.own = -1};
    double width = g->d - h->d;
    double share = width != 0.0 ? g->d / width : 0.5;
    share = share > 0.0 ? (share < 1.0 ? share : 1.0) : 0.0;
    for (int k = 0; k < 3; k++) c.x[k] = g->x[k] + share * (h->x[k] - g->x[k]);
    if (g->leave_by) {
        // Along side g->leave of the cutter to its side s: the corner between them.
        bool next = (g->leave + 1) % cutter->count == s;
        c.own_edge = -1, c.by = loop_corner(cutter, next ? s : g->leave);
    } else {
        c.own_edge = g->leave, c.by = loop_edge(cutter, s);
    }
    return c;
}

/// Cuts the polygon by the plane of side s along n; `slack` is the inside distance above which a
/// corner stays.
static int cut(const corner* in, int count, const loop* cutter, int s, double slack, corner* out)
{
    int made = 0;
    for (int i = 0; i < count; i++) {
        const corner *g = &in[i], *h = &in[i + 1 == count ? 0 : i + 1];
        bool stays = g->d >= slack, next_stays = h->d >= slack;
        if (stays) out[made++] = *g;
        if (stays == next_stays || made == CUT_CORNERS) continue;
        corner c = crossing(g, h, cutter, s);
        c.leave_by = stays;
        c.leave = stays ? s : g->leave;
        if (!stays) c.leave_by = g->leave_by;
        out[made++] = c;
    }
    return made;
}

/// Inside distances of all corners from side s; false where the side has no length.
static bool measure(corner* c, int count, const loop* cutter, int s, const double n[3])
{
    double x[3], y[3], e[3], in[3];
    loop_point(cutter, s, x);
    loop_point(cutter, s + 1, y);
    vec_sub(3, e, y, x);
    // Counterclockwise about the cutter's outward normal, which is +-n.
    vec_cross(in, n, e);
    double length = vec_norm(3, in);
    if (!(length > 0.0)) return false;
    for (int k = 0; k < 3; k++) in[k] /= length;
    for (int i = 0; i < count; i++) {
        double r[3];
        vec_sub(3, r, c[i].x, x);
        c[i].d = vec_dot(3, r, in);
    }
    return true;
}

static int64_t name_of(const corner* c, bool cut_is_b, int face_a, int face_b)
{
    bool of_cut = c->own >= 0;
    if (!of_cut && c->own_edge >= 0) {
        return cut_is_b ? feature_make(FEATURE_EDGE_EDGE, c->by, c->own_edge)
                        : feature_make(FEATURE_EDGE_EDGE, c->own_edge, c->by);
    }
    int vertex = of_cut ? c->own : c->by;
    return of_cut == cut_is_b ? feature_make(FEATURE_FACE_VERTEX, face_a, vertex)
                              : feature_make(FEATURE_VERTEX_FACE, vertex, face_b);
}

/// Cuts `count` corners by the sides of a face; returns how many are left.
static int cut_by(const loop* cutter, const double outward[3], double slack, int count, corner* out)
{
    corner work[CUT_CORNERS + 2];
    for (int s = 0; s < cutter->count && count > 0; s++) {
        if (!measure(out, count, cutter, s, outward)) continue;
        bool all = true;
        for (int i = 0; i < count; i++) all = all && out[i].d >= slack;
        if (all) continue;
        count = cut(out, count, cutter, s, slack, work);
        memcpy(out, work, (size_t)count * sizeof *out);
    }
    return count;
}

/// Which of the bodies is cut, by which face of the other; the face of the one that is cut, or -1.
typedef struct cutting {
    bool cut_is_b;
    int face_a, face_b;
} cutting;

/// Points where a face meets the face that cuts it, or one of its edges where `edge` is not -1:
/// then the ends of what is over the cutter. `slack`: how far outside a corner still counts as
/// inside.
static int clip(const convex_pair* p, const double n[3], const cutting* how, int edge, double slack,
                double reach, touch* out)
{
    const loop of_a = loop_of(p->a, how->face_a, NULL);
    const loop of_b = loop_of(p->b, how->face_b, p->delta);
    const loop *subject = how->cut_is_b ? &of_b : &of_a, *cutter = how->cut_is_b ? &of_a : &of_b;
    const double s = how->cut_is_b ? 1.0 : -1.0, outward[3] = {s * n[0], s * n[1], s * n[2]};
    corner c[CUT_CORNERS + 2];
    int count = edge < 0 ? subject->count : 2;
    for (int i = 0; i < count && edge < 0; i++) {
        c[i] = (corner){.own = loop_corner(subject, i), .leave = loop_edge(subject, i)};
        loop_point(subject, i, c[i].x);
    }
    for (int i = 0; i < 2 && edge >= 0; i++) { // a polygon of two corners
        const int v = subject->body->shape->edge[4 * edge + i];
        c[i] = (corner){.own = v, .leave = edge};
        for (int k = 0; k < 3; k++) {
            c[i].x[k] = subject->body->vertex[3 * v + k] + subject->shift[k];
        }
    }
    count = cut_by(cutter, outward, -slack, count, c);
    // The corners that are left become points, with their heights above the cutter along the axis.
    const double* m = cutter->body->normal + 3 * cutter->face;
    double foot[3];
    int made = 0;
    loop_point(cutter, 0, foot);
    for (int i = 0; i < count; i++) {
        double r[3], on_cutter[3];
        vec_sub(3, r, c[i].x, foot);
        double high = vec_dot(3, r, m) / vec_dot(3, outward, m);
        for (int k = 0; k < 3; k++) on_cutter[k] = c[i].x[k] - high * outward[k];
        int64_t name = name_of(&c[i], how->cut_is_b, how->face_a, how->face_b);
        touch_make(p, n, how->cut_is_b ? on_cutter : c[i].x, how->cut_is_b ? c[i].x : on_cutter,
                   name, &out[made]);
        if (out[made].gap <= reach) made++;
    }
    return made;
}

/// Of the two faces beside an edge that which looks more along s * n.
static int face_beside(const convex* c, int e, const double n[3], double s)
{
    const int32_t* f = c->shape->edge + 4 * e + 2;
    double first = s * vec_dot(3, c->normal + 3 * f[0], n);
    return first >= s * vec_dot(3, c->normal + 3 * f[1], n) ? f[0] : f[1];
}

/// The same for the code of an edge or corner.
static int face_of_code(const convex* c, int code, const double n[3], double s)
{
    return code < edge_count_of(c) ? face_beside(c, code, n, s) : face_along(c, n, s);
}

/// The edge at corner v that rises least along s * n; -1 for a ball.
static int flattest_edge(const convex* c, int v, const double n[3], double s)
{
    int best = -1;
    double least = INFINITY;
    for (int e = 0; e < edge_count_of(c); e++) {
        const int32_t* edge = c->shape->edge + 4 * e;
        if (edge[0] != v && edge[1] != v) continue;
        double d[3];
        vec_sub(3, d, c->vertex + 3 * edge[edge[0] == v], c->vertex + 3 * v);
        double slope = s * vec_dot(3, d, n) / vec_norm(3, d);
        if (slope < least) least = slope, best = e;
    }
    return best;
}

/// The face of `c` that faces a plane of normal s * n over which corner v is lowest: of the two
/// beside the flattest edge at v the flatter one. (The flattest of all faces may be elsewhere.)
static int face_over(const convex* c, int v, const double n[3], double s)
{
    const int edge = flattest_edge(c, v, n, s);
    return edge < 0 ? -1 : face_beside(c, edge, n, -s);
}

/// The two faces that meet along an axis; -1 where a body has none.
static void facing(const convex_pair* p, const axis* along, int* face_a, int* face_b)
{
    const double* n = along->normal;
    switch (along->kind) {
    case AXIS_FACE_A: *face_a = along->of_a, *face_b = face_over(p->b, along->of_b, n, 1.0); break;
    case AXIS_FACE_B: *face_a = face_over(p->a, along->of_a, n, -1.0), *face_b = along->of_b; break;
    case AXIS_EDGES:
        *face_a = face_of_code(p->a, along->of_a, n, 1.0);
        *face_b = face_of_code(p->b, along->of_b, n, -1.0);
        break;
    }
}

/// Whether edge e belongs to a code and lies across the axis.
static bool edge_across(const convex* c, int e, int code, const double n[3], double u[3])
{
    const int32_t* v = c->shape->edge + 4 * e;
    const int vertex = code - edge_count_of(c);
    if (e != code && v[0] != vertex && v[1] != vertex) return false;
    vec_sub(3, u, c->vertex + 3 * v[1], c->vertex + 3 * v[0]);
    return fabs(vec_dot(3, u, n)) <= PARALLEL_EDGES * vec_norm(3, u);
}

/// An edge as an interval along unit t.
typedef struct edge_range {
    double at[2], x[2][3];
    int corner[2];
} edge_range;

static edge_range range_of(const convex* c, int e, const double* shift, const double t[3])
{
    edge_range r;
    const int32_t* v = c->shape->edge + 4 * e;
    const double *x = c->vertex + 3 * v[0], *y = c->vertex + 3 * v[1];
    const int turned = vec_dot(3, x, t) > vec_dot(3, y, t);
    for (int i = 0; i < 2; i++) {
        r.corner[i] = v[i ^ turned];
        for (int k = 0; k < 3; k++) {
            r.x[i][k] = c->vertex[3 * r.corner[i] + k] + (shift ? shift[k] : 0.0);
        }
        r.at[i] = vec_dot(3, r.x[i], t);
    }
    return r;
}

static void range_point(const edge_range* r, double at, double x[3])
{
    double share = (at - r->at[0]) / (r->at[1] - r->at[0]);
    share = fmin(fmax(share, 0.0), 1.0);
    for (int k = 0; k < 3; k++) x[k] = r->x[0][k] + share * (r->x[1][k] - r->x[0][k]);
}

/// The ends of the common part of edges i and j, which run along each other; none if one does not
/// run over the other.
static int ends_of(const convex_pair* p, int i, int j, const double u[3], const double n[3],
                   double reach, touch* out)
{
    const double length = vec_norm(3, u), slack = FLUSH * p->size;
    const double t[3] = {u[0] / length, u[1] / length, u[2] / length};
    edge_range a = range_of(p->a, i, NULL, t), b = range_of(p->b, j, p->delta, t);
    int count = 0;
    if (fmin(a.at[1], b.at[1]) - fmax(a.at[0], b.at[0]) <= slack) return 0;
    for (int e = 0; e < 2; e++) {
        bool of_b = e == 0 ? b.at[0] >= a.at[0] - slack : b.at[1] <= a.at[1] + slack;
        double at = of_b ? b.at[e] : a.at[e], on_a[3], on_b[3];
        range_point(&a, at, on_a);
        range_point(&b, at, on_b);
        double beside[3];
        vec_sub(3, beside, on_b, on_a);
        vec_add_scaled(3, beside, -vec_dot(3, beside, n), n);
        if (vec_norm(3, beside) > PARALLEL_EDGES * length) return 0;
        int code_a = of_b ? i : edge_count_of(p->a) + a.corner[e];
        int code_b = of_b ? edge_count_of(p->b) + b.corner[e] : j;
        touch_make(p, n, on_a, on_b, feature_make(FEATURE_EDGE_EDGE, code_a, code_b), &out[count]);
        if (out[count].gap <= reach) count++;
    }
    return count;
}

/// Two points where the nearest features are, or are ends of, edges that run along each other.
static int along_edges(const convex_pair* p, const axis* along, double reach, touch* out)
{
    double u[3], v[3], w[3];
    for (int i = 0; i < edge_count_of(p->a); i++) {
        if (!edge_across(p->a, i, along->of_a, along->normal, u)) continue;
        for (int j = 0; j < edge_count_of(p->b); j++) {
            if (!edge_across(p->b, j, along->of_b, along->normal, v)) continue;
            vec_cross(w, u, v);
            if (vec_norm(3, w) > PARALLEL_EDGES * vec_norm(3, u) * vec_norm(3, v)) continue;
            int count = ends_of(p, i, j, u, along->normal, reach, out);
            if (count > 0) return count;
        }
    }
    return 0;
}

/// Points where faces meet along the axis.
static int meet_faces(const convex_pair* p, const axis* along, const cutting* how, double reach,
                      touch* out)
{
    const double slack = FLUSH * p->size;
    if (how->cut_is_b) return clip(p, along->normal, how, -1, slack, reach, out);
    const int count = clip(p, along->normal, how, -1, -slack, reach, out);
    // Where nothing of b's corners is left, a's may still lie on a border.
    return count > 0 ? count : clip(p, along->normal, how, -1, slack, reach, out);
}

/// Points along the axis of a pair of edges: of the faces beside them if both are nearly
/// perpendicular to it; of the one edge that lies across the other body's face if one is; of edges
/// that run along each other.
static int meet_edges(const convex_pair* p, const axis* along, cutting* how, double reach,
                      touch* out)
{
    const double* n = along->normal;
    if (how->face_a < 0 || how->face_b < 0) return along_edges(p, along, reach, out);
    const bool flat_a = vec_dot(3, n, p->a->normal + 3 * how->face_a) > NEARLY_PARALLEL;
    const bool flat_b = -vec_dot(3, n, p->b->normal + 3 * how->face_b) > NEARLY_PARALLEL;
    if (flat_a && flat_b) return meet_faces(p, along, how, reach, out);
    if (!flat_a && !flat_b) return along_edges(p, along, reach, out);
    how->cut_is_b = flat_a;
    const convex* steep = flat_a ? p->b : p->a;
    const int code = flat_a ? along->of_b : along->of_a, corner_of = code - edge_count_of(steep);
    const int edge = corner_of < 0 ? code : flattest_edge(steep, corner_of, n, flat_a ? 1.0 : -1.0);
    return edge < 0 ? 0 : clip(p, n, how, edge, FLUSH * p->size, reach, out);
}

int manifold_3d(const convex_pair* p, const axis* along, double reach, touch* out)
{
    cutting how = {.cut_is_b = along->kind != AXIS_FACE_B, .face_a = -1, .face_b = -1};
    int count = 0;
    facing(p, along, &how.face_a, &how.face_b);
    if (along->kind == AXIS_EDGES) {
        count = meet_edges(p, along, &how, reach, out);
    } else if (how.face_a >= 0 && how.face_b >= 0) {
        count = meet_faces(p, along, &how, reach, out);
    }
    // The axis of a pair of edges belongs to a point that is always there; that of a face only if
    // the faces have a common part, from which a thinned face may have lost it.
    bool sure = along->kind == AXIS_EDGES || count == 0;
    if (!sure) sure = thinned(p->a, how.face_a) || thinned(p->b, how.face_b);
    if (!sure) return count;
    double least = INFINITY;
    for (int i = 0; i < count; i++) least = fmin(least, out[i].gap);
    touch nearest;
    touch_of_axis(p, along, &nearest);
    if (least > nearest.gap + FLUSH * p->size) out[count++] = nearest;
    return count;
}
