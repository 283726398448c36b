/// Points of a contact: how one is made from the nearest points of two cores, and which of many are
/// kept.
///
/// Four points in a plane hold a body as well as all of them if they span the area: the deepest,
/// the one farthest from it, the one that makes the largest triangle, and the one farthest outside
/// that triangle. Of points as good as each other those of the last step stay, so that a body at
/// rest keeps its points and their impulses.
#include <string.h>

#include "geometry/convex_axis.h"

/// Points whose merit differs by less than this count as equals: shares of the largest distance or
/// area, and of the span for gaps, which must not lose the deepest.
#define NEAR_TIE 1e-3
#define NEAR_TIE_GAP 1e-6
/// What the last step's four points may lack: share of the area, and depth as a share of the span.
#define KEEP_AREA 0.1
#define KEEP_GAP 2e-6
/// Bodies are at rest if they approach and turn by less than this part of their size in a step, and
/// if they are not sought farther than this: a search at rest reaches 0.01 of the sizes
/// (rigid/step_begin.c), one that follows a motion farther.
#define REST_MOTION 1e-3
#define REST_REACH 0.015

bool hint_keeps(const convex_hint* hint, int64_t feature)
{
    if (!hint || !hint->kept) return false;
    for (int i = 0; i < hint->kept_count; i++) {
        if (hint->kept[i] == feature) return true;
    }
    return false;
}

void touch_make(const convex_pair* p, const double* n, const double* on_a, const double* on_b,
                int64_t feature, touch* out)
{
    const int dim = p->a->dim;
    const double skin_a = p->a->skin, skin_b = p->b->skin;
    double gap = 0.0;
    for (int k = 0; k < 3; k++) {
        if (k >= dim) {
            out->point[k] = out->normal[k] = 0.0;
            continue;
        }
        gap += n[k] * (on_b[k] - on_a[k]);
        out->point[k] = 0.5 * (on_a[k] + on_b[k] + n[k] * (skin_a - skin_b));
        out->normal[k] = n[k];
    }
    out->gap = gap - skin_a - skin_b;
    out->feature = feature;
}

void touch_of_axis(const convex_pair* p, const axis* along, touch* out)
{
    static const feature_kind kinds[] = {
        [AXIS_FACE_A] = FEATURE_FACE_VERTEX,
        [AXIS_FACE_B] = FEATURE_VERTEX_FACE,
        [AXIS_EDGES] = FEATURE_EDGE_EDGE,
    };
    const bool balls = !p->a->shape && !p->b->shape;
    int64_t name = balls ? 0 : feature_make(kinds[along->kind], along->of_a, along->of_b);
    touch_make(p, along->normal, along->on_a, along->on_b, name, out);
    // The axis knows its gap better than the points do.
    out->gap = along->gap - p->a->skin - p->b->skin;
}

static void swap(touch* t, int i, int j)
{
    touch keep = t[i];
    t[i] = t[j], t[j] = keep;
}

/// Twice the signed area of a, b, c seen along the normal.
static double area_of(const touch* a, const touch* b, const touch* c)
{
    double u[3], v[3], w[3];
    vec_sub(3, u, b->point, a->point);
    vec_sub(3, v, c->point, a->point);
    vec_cross(w, u, v);
    return vec_dot(3, w, a->normal);
}

/// Sorts by name and drops points of the same name (the deeper stays).
static int sort_unique(touch* t, int count)
{
    for (int i = 1; i < count; i++) {
        touch x = t[i];
        int j = i;
        for (; j > 0 && (t[j - 1].feature > x.feature ||
                         (t[j - 1].feature == x.feature && t[j - 1].gap > x.gap));
             j--) {
            t[j] = t[j - 1];
        }
        t[j] = x;
    }
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept == 0 || t[i].feature != t[kept - 1].feature) t[kept++] = t[i];
    }
    return kept;
}

/// How well point i serves as the next one after those before `at`.
static double merit_of(const touch* t, int at, int i)
{
    if (at == 0) return -t[i].gap;
    if (at == 1) {
        double d[3];
        vec_sub(3, d, t[i].point, t[0].point);
        return vec_dot(3, d, d);
    }
    if (at == 2) return fabs(area_of(&t[0], &t[1], &t[i]));
    // Outside a side of the triangle: the area added.
    const double turn = area_of(&t[0], &t[1], &t[2]) < 0.0 ? -1.0 : 1.0;
    return fmax(fmax(-turn * area_of(&t[0], &t[1], &t[i]), -turn * area_of(&t[1], &t[2], &t[i])),
                -turn * area_of(&t[2], &t[0], &t[i]));
}

/// Brings the point with the largest merit to place `at`; points within `slack` of it count as
/// equals, of which those of the last step come first, then the lower name.
static void choose(touch* t, int at, int count, double slack, const convex_hint* hint)
{
    double most = -INFINITY;
    for (int i = at; i < count; i++) most = fmax(most, merit_of(t, at, i));
    if (at == 1 || at == 2) slack = NEAR_TIE * most;
    int best = -1;
    bool best_kept = false;
    for (int i = at; i < count; i++) {
        if (merit_of(t, at, i) < most - slack) continue;
        bool kept = hint_keeps(hint, t[i].feature);
        if (best < 0 || kept > best_kept || (kept == best_kept && t[i].feature < t[best].feature)) {
            best = i, best_kept = kept;
        }
    }
    swap(t, at, best);
}

/// Twice the area of the hull of four points: the largest of the four triangles and of the
/// quadrilaterals with three pairs of diagonals.
static double hull_of_four(const touch* t)
{
    static const int pair[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
    double most = 0.0;
    for (int i = 0; i < 4; i++) {
        most = fmax(most, fabs(area_of(&t[i], &t[(i + 1) % 4], &t[(i + 2) % 4])));
    }
    for (int i = 0; i < 3; i++) {
        const int* k = pair[i];
        double u[3], v[3], w[3];
        vec_sub(3, u, t[k[1]].point, t[k[0]].point);
        vec_sub(3, v, t[k[3]].point, t[k[2]].point);
        vec_cross(w, u, v);
        most = fmax(most, fabs(vec_dot(3, w, t[0].normal)));
    }
    return most;
}

static double least_gap(const touch* t)
{
    return fmin(fmin(t[0].gap, t[1].gap), fmin(t[2].gap, t[3].gap));
}

/// The four points of the last step, if just these are among the points.
static bool find_four(const touch* t, int count, const convex_hint* hint, touch old[4])
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (!hint_keeps(hint, t[i].feature)) continue;
        if (found == 4) return false;
        old[found++] = t[i];
    }
    return found == 4;
}

/// Square of the distance of point i from the nearest of those before `at`.
static double lonely(const touch* t, int at, int i)
{
    double least = INFINITY;
    for (int j = 0; j < at; j++) {
        double d[3];
        vec_sub(3, d, t[i].point, t[j].point);
        least = fmin(least, vec_dot(3, d, d));
    }
    return least;
}

/// Thicknesses that make the size of a slender body. Boxes up to 1 : 2.9 : 2.9 are none, for their
/// diameter is less than that of five thicknesses.
#define SLENDER 5.0

double rest_size(double diameter, double thickness)
{
    return thickness > 0.0 ? fmin(diameter, SLENDER * thickness) : diameter;
}

/// Does q hold p?
static bool holds(int dim, const touch* q, const touch* p)
{
    const double above = p->gap - q->gap;
    if (!(above > 0.0)) return false;
    double beside[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, beside, p->point, q->point);
    vec_add_scaled(dim, beside, -vec_dot(dim, beside, q->normal), q->normal);
    return vec_dot(dim, beside, beside) <= above * above;
}

int touches_drop_held(touch* points, int count, int dim)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        // Whoever holds one that holds p holds p too: those left out already need not be asked.
        bool held = false;
        for (int j = 0; j < kept && !held; j++) held = holds(dim, &points[j], &points[i]);
        for (int j = i + 1; j < count && !held; j++) held = holds(dim, &points[j], &points[i]);
        if (!held) points[kept++] = points[i];
    }
    return kept;
}

int touches_most(const convex_hint* hint, const double normal[3], double reach, double size)
{
    if (!hint) return CONVEX_REST_TOUCHES;
    double turn[3];
    vec_sub(3, turn, hint->turn_b, hint->turn_a);
    const double motion = fabs(vec_dot(3, hint->shift, normal)) + size * vec_norm(3, turn);
    const bool rest = motion <= REST_MOTION * size && reach <= REST_REACH * size;
    return rest ? CONVEX_REST_TOUCHES : CONVEX_MAX_TOUCHES;
}

int touches_reduce(touch* points, int count, int most, const convex_hint* hint)
{
    count = sort_unique(points, count);
    if (count <= most) return count;
    double size[3]; // of the box about the points
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < count; i++) {
            low = fmin(low, points[i].point[k]), high = fmax(high, points[i].point[k]);
        }
        size[k] = high - low;
    }
    const double span = vec_norm(3, size);
    // The four points that hold a body at rest come first.
    touch old[4];
    // All four or none: each choice depends on the ones before.
    const bool four = find_four(points, count, hint, old);
    // Their hull has at least a quarter of the area of that of all: with D the distance of the
    // first two, and h and q the largest heights on both sides of their line, all points lie in a
    // rectangle 2 D by h + q, and the four span D (h + q) / 2.
    const convex_hint* prefer = four ? NULL : hint;
    choose(points, 0, count, NEAR_TIE_GAP * span, prefer);
    choose(points, 1, count, 0.0, prefer);
    choose(points, 2, count, 0.0, prefer);
    choose(points, 3, count, NEAR_TIE * fabs(area_of(&points[0], &points[1], &points[2])), prefer);
    if (four && least_gap(old) <= least_gap(points) + KEEP_GAP * span &&
        hull_of_four(old) >= (1.0 - KEEP_AREA) * hull_of_four(points)) {
        memcpy(points, old, sizeof old); // they hold nearly as well as those chosen anew
    }
    // From the fifth on, points that are far from all before them.
    for (int at = 4; at < most; at++) {
        int best = at;
        for (int i = at + 1; i < count; i++) {
            if (lonely(points, at, i) > lonely(points, at, best)) best = i;
        }
        swap(points, at, best);
    }
    return sort_unique(points, most);
}
