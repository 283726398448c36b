/// Contacts between convex bodies: what 2D and 3D share. First a look along the line of centres,
/// which rejects most pairs; then the axis (convex_2d.c, convex_3d.c), exchanged for another one
/// where the free motion asks for it; then the points along the axis.
#include "detect/convex.h"

#include <string.h>

#include "detect/convex_axis.h"

static double radius_of(const convex* c)
{
    double most = 0.0;
    for (int i = 0; i < c->vertex_count; i++) {
        double r = vec_dot(c->dim, c->vertex + c->dim * i, c->vertex + c->dim * i);
        if (r > most) most = r;
    }
    return sqrt(most);
}

bool convex_pair_begin(convex_pair* p, const convex* a, const convex* b, const double delta[3],
                       double reach)
{
    const int dim = a->dim;
    p->a = a, p->b = b;
    for (int k = 0; k < 3; k++) p->delta[k] = k < dim ? delta[k] : 0.0;
    p->radius_a = radius_of(a), p->radius_b = radius_of(b);
    p->size = p->radius_a + p->radius_b + a->skin + b->skin;
    double length = vec_norm(dim, p->delta);
    if (length > p->size + reach) return true;
    if (!(length > 0.0)) return false;
    int i, j;
    double gap = dim == 2 ? gap_along(2, p, p->delta, &i, &j) : gap_along(3, p, p->delta, &i, &j);
    return gap > (reach + a->skin + b->skin) * length;
}

double gap_moved(const convex_pair* p, const double* n, const convex_hint* hint)
{
    const int dim = p->a->dim;
    double along_a[3], along_b[3], high_a, high_b;
    if (dim == 2) {
        for (int k = 0; k < 2; k++) along_a[k] = n[k], along_b[k] = -n[k];
        along_a[0] += n[1] * hint->turn_a[2], along_a[1] -= n[0] * hint->turn_a[2];
        along_b[0] -= n[1] * hint->turn_b[2], along_b[1] += n[0] * hint->turn_b[2];
        support_of(2, p->a, along_a, &high_a);
        support_of(2, p->b, along_b, &high_b);
    } else {
        vec_cross(along_a, n, hint->turn_a);
        vec_cross(along_b, hint->turn_b, n);
        for (int k = 0; k < 3; k++) along_a[k] += n[k], along_b[k] -= n[k];
        support_of(3, p->a, along_a, &high_a);
        support_of(3, p->b, along_b, &high_b);
    }
    return vec_dot(dim, p->delta, n) + vec_dot(dim, hint->shift, n) - high_b - high_a;
}

int face_along(const convex* c, const double* n, double s)
{
    const int dim = c->dim;
    int best = -1;
    double most = -2.0;
    for (int f = 0; f < face_count_of(c); f++) {
        double along = s * vec_dot(dim, c->normal + dim * f, n);
        if (along > most) most = along, best = f;
    }
    return best;
}

double convex_distance(const convex* a, const convex* b, const double delta[3], double normal[3])
{
    convex_pair p;
    axis best;
    convex_pair_begin(&p, a, b, delta, INFINITY);
    if (a->dim == 2) {
        nearest_2d(&p, INFINITY, &best);
    } else {
        nearest_3d(&p, INFINITY, &best);
    }
    for (int k = 0; k < 3; k++) normal[k] = best.normal[k];
    return best.gap - a->skin - b->skin;
}

static bool hint_moves(const convex_hint* h)
{
    for (int k = 0; k < 3; k++) {
        if (h->shift[k] != 0.0 || h->turn_a[k] != 0.0 || h->turn_b[k] != 0.0) return true;
    }
    return false;
}

int convex_touches(const convex* a, const convex* b, const double delta[3], double reach,
                   const convex_hint* hint, touch out[CONVEX_MAX_TOUCHES])
{
    convex_pair p;
    if (convex_pair_begin(&p, a, b, delta, reach)) return 0;
    axis along;
    const double skins = a->skin + b->skin;
    const bool flat = a->dim == 2;
    if (!(flat ? nearest_2d(&p, reach + skins, &along) : nearest_3d(&p, reach + skins, &along))) {
        return 0;
    }
    if (!flat) settle_3d(&p, &along);
    if (hint && hint_moves(hint) && gap_moved(&p, along.normal, hint) < skins) {
        if (flat) {
            foresee_2d(&p, hint, &along);
        } else {
            foresee_3d(&p, hint, &along);
        }
    }
    touch found[TOUCH_BUFFER];
    int count =
        flat ? manifold_2d(&p, &along, reach, found) : manifold_3d(&p, &along, reach, found);
    count = touches_reduce(found, count, hint);
    memcpy(out, found, (size_t)count * sizeof *out);
    return count;
}
