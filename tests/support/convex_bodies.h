/// Bodies for the tests of the convex narrow phase, and the slow answer to compare with: every face
/// normal and every cross product of edges with full supports (a lower bound of the signed distance
/// that is reached where the cores overlap), and the distance of every pair of sides, edges and
/// faces (an upper bound that is reached where they are apart).
#ifndef TALUS_TESTS_CONVEX_BODIES_H
#define TALUS_TESTS_CONVEX_BODIES_H

#include "support.h"

#include "base/rng.h"
#include "base/vec.h"
#include "geometry/convex.h"
#include "geometry/feature.h"

#include <string.h>

enum { MAX_CORNERS = 128, MAX_FACES = 128 };

/// A polytope turned into place, with its arrays.
typedef struct placed {
    convex c;
    double vertex[3 * MAX_CORNERS], normal[3 * MAX_FACES];
    double radius;
} placed;

static inline void rotation_random(rng* r, double q[4])
{
    for (int k = 0; k < 4; k++) q[k] = rng_normal(r);
    quat_normalise(q);
}

/// Turns `p` by q (2D: by the angle q[0]).
static inline void place(const polytope* p, const double q[4], double skin, placed* out)
{
    const int dim = p->dim;
    out->c = (convex){.shape = p, .dim = dim, .vertex_count = p->vertex_count, .skin = skin};
    out->radius = 0.0;
    for (int part = 0; part < 2; part++) {
        const double* from = part ? p->normal : p->vertex;
        double* to = part ? out->normal : out->vertex;
        for (int i = 0; i < (part ? p->face_count : p->vertex_count); i++) {
            const double* v = from + dim * i;
            double* x = to + dim * i;
            if (dim == 3) {
                quat_rotate(x, q, v);
            } else {
                x[0] = cos(q[0]) * v[0] - sin(q[0]) * v[1];
                x[1] = sin(q[0]) * v[0] + cos(q[0]) * v[1];
            }
            if (!part) out->radius = fmax(out->radius, vec_norm(dim, x));
        }
    }
}

/// The arrays may have moved with the struct.
static inline const convex* body(placed* b)
{
    b->c.vertex = b->vertex, b->c.normal = b->normal;
    return &b->c;
}

static inline void place_ball(int dim, double skin, placed* out)
{
    memset(out, 0, sizeof *out);
    out->c = (convex){.dim = dim, .vertex_count = 1, .skin = skin};
}

/// Separation of the cores along n.
static inline double slow_gap(const convex* a, const convex* b, const double* delta,
                              const double* n)
{
    double high = -INFINITY, low = INFINITY;
    const int dim = a->dim;
    for (int i = 0; i < a->vertex_count; i++)
        high = fmax(high, vec_dot(dim, a->vertex + dim * i, n));
    for (int i = 0; i < b->vertex_count; i++) low = fmin(low, vec_dot(dim, b->vertex + dim * i, n));
    return low + vec_dot(dim, delta, n) - high;
}

/// Square of the distance from x to the segment from `from` to `to`.
static inline double slow_point_segment(int dim, const double* x, const double* from,
                                        const double* to)
{
    double e[3], d[3];
    vec_sub(dim, e, to, from);
    vec_sub(dim, d, x, from);
    double t = vec_dot(dim, d, e) / vec_dot(dim, e, e);
    vec_add_scaled(dim, d, -fmin(fmax(t, 0.0), 1.0), e);
    return vec_dot(dim, d, d);
}

static inline double slow_segments(const double* p, const double* q, const double* r,
                                   const double* s)
{
    double best = fmin(fmin(slow_point_segment(3, p, r, s), slow_point_segment(3, q, r, s)),
                       fmin(slow_point_segment(3, r, p, q), slow_point_segment(3, s, p, q)));
    // Nearly parallel edges lose half the digits of their crossing: it is found in long double.
    long double u[3], v[3], d[3], uu = 0, vv = 0, uv = 0, ud = 0, vd = 0, det = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = (long double)q[k] - p[k], v[k] = (long double)s[k] - r[k];
        d[k] = (long double)r[k] - p[k];
        uu += u[k] * u[k], vv += v[k] * v[k], uv += u[k] * v[k], ud += u[k] * d[k],
            vd += v[k] * d[k];
    }
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        long double c = u[l] * v[m] - u[m] * v[l];
        det += c * c;
    }
    if (det <= 0) return best;
    long double x = (ud * vv - vd * uv) / det, y = (ud * uv - vd * uu) / det;
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return best;
    for (int k = 0; k < 3; k++)
        square += (d[k] + y * v[k] - x * u[k]) * (d[k] + y * v[k] - x * u[k]);
    return fmin(best, (double)square);
}

/// Square of the distance from x to face f of b if it lies over it.
static inline double slow_point_face(const convex* b, int f, const double* x)
{
    const polytope* p = b->shape;
    const double* n = b->normal + 3 * f;
    double d[3], e[3], side[3], high = 0.0;
    for (int i = p->face_first[f]; i < p->face_first[f + 1]; i++) {
        int j = i + 1 == p->face_first[f + 1] ? p->face_first[f] : i + 1;
        const double* v = b->vertex + 3 * p->face_vertex[i];
        vec_sub(3, e, b->vertex + 3 * p->face_vertex[j], v);
        vec_sub(3, d, x, v);
        vec_cross(side, n, e);
        if (vec_dot(3, side, d) < 0.0) return INFINITY;
        high = vec_dot(3, n, d);
    }
    return high * high;
}

/// Square of the distance between the surfaces.
static inline double slow_square(const convex* a, const convex* b, const double* delta)
{
    const int dim = a->dim;
    double best = INFINITY, moved[3 * MAX_CORNERS];
    for (int i = 0; i < b->vertex_count * dim; i++) moved[i] = b->vertex[i] + delta[i % dim];
    const convex c = {.shape = b->shape,
                      .dim = dim,
                      .vertex_count = b->vertex_count,
                      .vertex = moved,
                      .normal = b->normal};
    for (int order = 0; order < 2; order++) {
        const convex *x = order ? a : &c, *y = order ? &c : a;
        const polytope* p = y->shape;
        for (int i = 0; i < x->vertex_count; i++) {
            const double* v = x->vertex + dim * i;
            if (!p) {
                double d[3];
                vec_sub(dim, d, v, y->vertex);
                best = fmin(best, vec_dot(dim, d, d));
                continue;
            }
            for (int f = 0; f < p->face_count; f++) {
                double d = dim == 3
                               ? slow_point_face(y, f, v)
                               : slow_point_segment(2, v, y->vertex + 2 * f,
                                                    y->vertex + 2 * ((f + 1) % y->vertex_count));
                best = fmin(best, d);
            }
            for (int e = 0; dim == 3 && !x->shape && e < p->edge_count; e++) {
                best = fmin(best, slow_point_segment(3, v, y->vertex + 3 * p->edge[4 * e],
                                                     y->vertex + 3 * p->edge[4 * e + 1]));
            }
        }
    }
    if (dim == 2 || !a->shape || !b->shape) return best;
    for (int i = 0; i < a->shape->edge_count; i++) {
        const int32_t* e = a->shape->edge + 4 * i;
        for (int j = 0; j < b->shape->edge_count; j++) {
            const int32_t* f = b->shape->edge + 4 * j;
            best = fmin(best, slow_segments(a->vertex + 3 * e[0], a->vertex + 3 * e[1],
                                            moved + 3 * f[0], moved + 3 * f[1]));
        }
    }
    return best;
}

/// Signed distance of the rounded bodies, with the normal where the cores overlap.
static inline double slow_distance(const convex* a, const convex* b, const double* delta,
                                   double* normal)
{
    const int dim = a->dim;
    double best = -INFINITY;
    for (int order = 0; order < 2; order++) {
        const convex* c = order ? b : a;
        for (int f = 0; c->shape && f < c->shape->face_count; f++) {
            double n[3];
            for (int k = 0; k < dim; k++) n[k] = (order ? -1.0 : 1.0) * c->normal[dim * f + k];
            double gap = slow_gap(a, b, delta, n);
            if (gap > best) best = gap, vec_copy(dim, normal, n);
        }
    }
    if (best <= 0.0 && dim == 3 && a->shape && b->shape) {
        for (int i = 0; i < a->shape->edge_count; i++) {
            const int32_t* e = a->shape->edge + 4 * i;
            double u[3], v[3], n[3];
            vec_sub(3, u, a->vertex + 3 * e[1], a->vertex + 3 * e[0]);
            for (int j = 0; j < b->shape->edge_count; j++) {
                const int32_t* f = b->shape->edge + 4 * j;
                vec_sub(3, v, b->vertex + 3 * f[1], b->vertex + 3 * f[0]);
                vec_cross(n, u, v);
                double length = vec_norm(3, n);
                if (length <= 1e-13 * vec_norm(3, u) * vec_norm(3, v)) continue;
                for (int k = 0; k < 3; k++) n[k] /= length;
                for (int s = 0; s < 2; s++) {
                    double gap = slow_gap(a, b, delta, n);
                    if (gap > best) best = gap, vec_copy(3, normal, n);
                    for (int k = 0; k < 3; k++) n[k] = -n[k];
                }
            }
        }
    }
    if (best > 0.0 || best == -INFINITY) best = sqrt(slow_square(a, b, delta));
    return best - a->skin - b->skin;
}

/// How far x is outside the planes of a core.
static inline double outside(const convex* c, const double* x)
{
    const int dim = c->dim;
    if (!c->shape) return vec_norm(dim, x);
    double most = -INFINITY;
    for (int f = 0; f < c->shape->face_count; f++) {
        const double* n = c->normal + dim * f;
        int v = dim == 2 ? f : c->shape->face_vertex[c->shape->face_first[f]];
        most = fmax(most, vec_dot(dim, n, x) - vec_dot(dim, n, c->vertex + dim * v));
    }
    return most;
}

/// The points of the cores from which a touch was made belong to them.
static inline void check_inside(const convex* a, const convex* b, const double* delta, double slack,
                                const touch* t)
{
    double on_a[3] = {0.0}, on_b[3] = {0.0};
    for (int k = 0; k < a->dim; k++) {
        on_a[k] = t->point[k] - t->normal[k] * (0.5 * t->gap + a->skin);
        on_b[k] = t->point[k] + t->normal[k] * (0.5 * t->gap + b->skin) - delta[k];
    }
    double out_a = outside(a, on_a), out_b = outside(b, on_b);
    if (fmax(out_a, out_b) > slack) {
        fail_msg("point outside a by %g, b by %g, name %d %d %d gap %g", out_a, out_b,
                 (int)feature_kind_of(t->feature), feature_a(t->feature), feature_b(t->feature),
                 t->gap);
    }
}

/// Whether a corner of one body meets an edge of the other (3D).
static inline bool corner_on_edge(const convex* a, const convex* b, int64_t feature)
{
    if (a->dim == 2 || !a->shape || !b->shape) return false;
    if (feature_kind_of(feature) != FEATURE_EDGE_EDGE) return false;
    return (feature_a(feature) < a->shape->edge_count) !=
           (feature_b(feature) < b->shape->edge_count);
}

/// The same contact seen from b.
static inline int64_t mirrored(int64_t feature)
{
    static const feature_kind other[] = {FEATURE_SURFACE, FEATURE_FACE_VERTEX, FEATURE_VERTEX_FACE,
                                         FEATURE_EDGE_EDGE};
    return feature_make(other[feature_kind_of(feature)], feature_b(feature), feature_a(feature));
}

static inline bool same_points(const touch* s, int count_s, const touch* t, int count_t,
                               double tolerance)
{
    if (count_s != count_t) return false;
    for (int i = 0; i < count_s; i++) {
        double d[3], e[3];
        vec_sub(3, d, s[i].point, t[i].point);
        vec_sub(3, e, s[i].normal, t[i].normal);
        if (s[i].feature != t[i].feature || vec_norm(3, d) > tolerance ||
            vec_norm(3, e) > tolerance || fabs(s[i].gap - t[i].gap) > tolerance) {
            return false;
        }
    }
    return true;
}

/// Whether exchange of the bodies gives the same points with mirrored names.
static inline bool symmetric(const convex* a, const convex* b, const double* delta, double reach,
                             double tolerance)
{
    touch s[CONVEX_MAX_TOUCHES], t[CONVEX_MAX_TOUCHES];
    const double back[3] = {-delta[0], -delta[1], a->dim == 3 ? -delta[2] : 0.0};
    int count_s = convex_touches(a, b, delta, reach, NULL, s);
    int count_t = convex_touches(b, a, back, reach, NULL, t);
    for (int i = 0; i < count_t; i++) {
        t[i].feature = mirrored(t[i].feature);
        for (int k = 0; k < a->dim; k++) t[i].normal[k] = -t[i].normal[k];
        for (int k = 0; k < a->dim; k++) t[i].point[k] += delta[k];
    }
    for (int i = 1; i < count_t; i++) {
        for (int j = i; j > 0 && t[j].feature < t[j - 1].feature; j--) {
            touch keep = t[j];
            t[j] = t[j - 1], t[j - 1] = keep;
        }
    }
    return same_points(s, count_s, t, count_t, tolerance);
}

/// Invariants of the points between a and b; returns how many there are.
static inline int check_points(const convex* a, const convex* b, const double* delta, double reach,
                               double size, const touch* t, int count)
{
    double normal[3], least = INFINITY;
    const double distance = convex_distance(a, b, delta, normal);
    if (count == 0) {
        if (distance <= reach) fail_msg("distance %g within %g, but no points", distance, reach);
        return 0;
    }
    if (distance > reach + 1e-12 * size) fail_msg("points at distance %g", distance);
    for (int i = 0; i < count; i++) {
        if (i > 0 && t[i].feature <= t[i - 1].feature) fail_msg("names not ascending");
        if (t[i].gap > reach) fail_msg("gap %g above reach %g", t[i].gap, reach);
        if (fabs(vec_norm(3, t[i].normal) - 1.0) > 1e-12) fail_msg("normal not unit");
        least = fmin(least, t[i].gap);
        // Corners up to 1e-6 outside a side count as over the face. The two points of edges that
        // run along each other lie between both, whose directions may differ by 1e-3.
        const bool ends = count == 2 && corner_on_edge(a, b, t[i].feature);
        check_inside(a, b, delta, (ends ? 5e-4 : 3e-6) * size, &t[i]);
    }
    double axis = slow_gap(a, b, delta, t[0].normal) - a->skin - b->skin;
    // An axis of edges may give way to a face that is worse by 1e-6 of the size.
    if (axis < distance - 1.1e-6 * size) {
        fail_msg("axis separates by %.17g, distance is %.17g", axis, distance);
    }
    // Corners up to 1e-6 outside a side count as over the face; a face that takes over from edges
    // may be tilted by 0.07 at overlaps up to 1e-4, so that its point is 7e-6 beside.
    if (fabs(least - axis) > 1e-5 * size) fail_msg("least gap %.17g, axis %.17g", least, axis);
    return count;
}

#endif
