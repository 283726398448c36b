/// Points of a contact: how one is made from the nearest points of two cores, and which four of
/// many are kept.
///
/// Four points in a plane hold a body as well as all of them if they span the area: the deepest,
/// the one farthest from it, the one that makes the largest triangle, and the one farthest outside
/// that triangle. Of points as good as each other those of the last step stay, so that a body at
/// rest keeps its points and their impulses.
#include <string.h>

#include "detect/convex_axis.h"

/// Points whose merit differs by less than this count as equals: shares of the largest distance or
/// area, and of the span for gaps, which must not lose the deepest.
#define NEAR_TIE 1e-3
#define NEAR_TIE_GAP 1e-6

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

/// Index of the point with the largest merit among those not below `from`; near-ties go to points
/// of the last step, then to the lower name.
static int choose(const touch* t, const double* merit, int from, int count, double slack,
                  const convex_hint* hint)
{
    double most = merit[from];
    for (int i = from + 1; i < count; i++) {
        if (merit[i] > most) most = merit[i];
    }
    int best = -1;
    bool best_kept = false;
    for (int i = from; i < count; i++) {
        if (merit[i] < most - slack) continue;
        bool kept = hint_keeps(hint, t[i].feature);
        if (best < 0 || kept > best_kept || (kept == best_kept && t[i].feature < t[best].feature)) {
            best = i, best_kept = kept;
        }
    }
    return best;
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

/// Brings the four best points to the front.
static void pick_four(touch* t, int count, const convex_hint* hint)
{
    double merit[TOUCH_BUFFER], far = 0.0, area = 0.0;
    double span = 0.0;
    for (int i = 0; i < count; i++) {
        merit[i] = -t[i].gap;
        double d[3];
        vec_sub(3, d, t[i].point, t[0].point);
        span = fmax(span, vec_norm(3, d));
    }
    swap(t, 0, choose(t, merit, 0, count, NEAR_TIE_GAP * span, hint));
    for (int i = 1; i < count; i++) {
        double d[3];
        vec_sub(3, d, t[i].point, t[0].point);
        merit[i] = vec_dot(3, d, d);
        far = fmax(far, merit[i]);
    }
    swap(t, 1, choose(t, merit, 1, count, NEAR_TIE * far, hint));
    for (int i = 2; i < count; i++) {
        merit[i] = fabs(area_of(&t[0], &t[1], &t[i]));
        area = fmax(area, merit[i]);
    }
    swap(t, 2, choose(t, merit, 2, count, NEAR_TIE * area, hint));
    // Outside a side of the triangle: the area added.
    double turn = area_of(&t[0], &t[1], &t[2]) < 0.0 ? -1.0 : 1.0;
    for (int i = 3; i < count; i++) {
        merit[i] =
            fmax(fmax(-turn * area_of(&t[0], &t[1], &t[i]), -turn * area_of(&t[1], &t[2], &t[i])),
                 -turn * area_of(&t[2], &t[0], &t[i]));
    }
    swap(t, 3, choose(t, merit, 3, count, NEAR_TIE * area, hint));
}

int touches_reduce(touch* points, int count, const convex_hint* hint)
{
    count = sort_unique(points, count);
    if (count <= CONVEX_MAX_TOUCHES) return count;
    pick_four(points, count, hint);
    return sort_unique(points, CONVEX_MAX_TOUCHES);
}
