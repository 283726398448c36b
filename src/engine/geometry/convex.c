/// Contacts between convex bodies: what 2D and 3D share. First a look along the line of centres,
/// which rejects most pairs; then the axis (convex_2d.c, convex_3d.c), exchanged for another one
/// where the free motion asks for it; then the points along the axis.
#include "geometry/convex.h"

#include <string.h>

#include "geometry/convex_axis.h"

static ALWAYS_INLINE double reach_of(const int dim, const convex* c)
{
    double most = 0.0;
    for (int i = 0; i < c->vertex_count; i++) {
        double r = vec_dot(dim, c->vertex + dim * i, c->vertex + dim * i);
        if (r > most) most = r;
    }
    return sqrt(most);
}

static double radius_of(const convex* c)
{
    return c->dim == 2 ? reach_of(2, c) : reach_of(3, c);
}

bool convex_pair_begin(convex_pair* p, const convex* a, const convex* b, const double delta[3],
                       double reach)
{
    const int dim = a->dim;
    p->a = a, p->b = b;
    for (int k = 0; k < 3; k++) p->delta[k] = k < dim ? delta[k] : 0.0;
    const double length = vec_norm(dim, p->delta), skins = a->skin + b->skin;
    if (length > 0.0) {
        int i, j;
        double gap =
            dim == 2 ? gap_along(2, p, p->delta, &i, &j) : gap_along(3, p, p->delta, &i, &j);
        if (gap > (reach + skins) * length) return true;
    }
    p->radius_a = radius_of(a), p->radius_b = radius_of(b);
    p->size = p->radius_a + p->radius_b + skins;
    return length > p->size + reach;
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

static bool nearest(const convex_pair* p, double reach, axis* out)
{
    return p->a->dim == 2 ? nearest_2d(p, reach, out) : nearest_3d(p, reach, out);
}

double convex_distance(const convex* a, const convex* b, const double delta[3], double normal[3])
{
    convex_pair p;
    axis best;
    convex_pair_begin(&p, a, b, delta, INFINITY);
    nearest(&p, INFINITY, &best);
    for (int k = 0; k < 3; k++) normal[k] = best.normal[k];
    return best.gap - a->skin - b->skin;
}

double convex_overlap(const convex* a, const convex* b, const double delta[3])
{
    convex_pair p;
    axis best;
    const double skins = a->skin + b->skin;
    if (convex_pair_begin(&p, a, b, delta, 0.0) || !nearest(&p, skins, &best)) return 0.0;
    return fmax(skins - best.gap, 0.0);
}

static bool hint_moves(const convex_hint* h)
{
    for (int k = 0; k < 3; k++) {
        if (h->shift[k] != 0.0 || h->turn_a[k] != 0.0 || h->turn_b[k] != 0.0) return true;
    }
    return false;
}

/// Whether the face of an axis was there in the last step.
static bool axis_stays(const convex_hint* hint, const axis* x)
{
    for (int i = 0; i < hint->kept_count; i++) {
        const int64_t name = hint->kept[i];
        const feature_kind kind = feature_kind_of(name);
        if (x->kind == AXIS_FACE_A && kind == FEATURE_FACE_VERTEX && feature_a(name) == x->of_a) {
            return true;
        }
        if (x->kind == AXIS_FACE_B && kind == FEATURE_VERTEX_FACE && feature_b(name) == x->of_b) {
            return true;
        }
    }
    return false;
}

bool foresight_begin(foresight* f, const convex_pair* p, const convex_hint* hint, axis* chosen)
{
    const double skins = p->a->skin + p->b->skin, radius = smaller_radius(p);
    *f = (foresight){.p = p, .hint = hint, .chosen = chosen};
    f->best = gap_moved(p, chosen->normal, hint) - skins;
    f->floor = skins - FORESEE_DEPTH * radius;
    const double gap = chosen->gap - skins, closes = gap - f->best;
    // What was there in the last step and is pressed on no harder than by a weight stays.
    if (fabs(gap) <= FORESEE_GRAZE * radius && closes <= FORESEE_PRESS * radius &&
        axis_stays(hint, chosen)) {
        return false;
    }
    f->hits = f->best < 0.0;
    // In this step or the next.
    return f->best - closes < FORESEE_GRAZE * radius;
}

void foresight_take(foresight* f, const axis* found)
{
    const double skins = f->p->a->skin + f->p->b->skin, radius = smaller_radius(f->p);
    const double gap = found->gap - skins;
    const double moved = gap_moved(f->p, found->normal, f->hint) - skins;
    f->looked++;
    if (f->hits && moved > f->best + FORESEE_MARGIN * fabs(f->best)) {
        f->best = moved;
        *f->chosen = *found;
    }
    if (found->kind == AXIS_EDGES || f->stays) return;
    if (fabs(gap) > FORESEE_GRAZE * radius || gap - moved > FORESEE_PRESS * radius) return;
    const bool stays = axis_stays(f->hint, found);
    if (f->grazes && !stays) return;
    f->graze = *found;
    f->grazes = true, f->stays = stays;
}

void foresight_end(foresight* f)
{
    const double radius = smaller_radius(f->p), graze = FORESEE_GRAZE * radius;
    const double gap = f->chosen->gap - f->p->a->skin - f->p->b->skin, closes = gap - f->best;
    if (!f->grazes || closes < FORESEE_CREEP * radius || f->best - closes >= graze) return;
    const bool before = gap > graze, within = fabs(gap) <= graze && f->stays;
    if (before || (within && !axis_stays(f->hint, f->chosen))) *f->chosen = f->graze;
}

/// Exchanges the axis if the free motion asks for it; true if it looked.
static bool foresee(const convex_pair* p, const convex_hint* hint, const touch* found, int count,
                    axis* along)
{
    foresight f;
    if (touches_wide(p, found, count) || !foresight_begin(&f, p, hint, along)) return false;
    if (p->a->dim == 2) {
        foresee_2d(&f);
    } else {
        foresee_3d(&f);
    }
    foresight_end(&f);
    return true;
}

static int manifold(const convex_pair* p, const axis* along, double reach, touch* out)
{
    return p->a->dim == 2 ? manifold_2d(p, along, reach, out) : manifold_3d(p, along, reach, out);
}

/// The smaller of two thicknesses, of which 0 is not known.
static double thinner(double a, double b)
{
    return a > 0.0 && (a < b || !(b > 0.0)) ? a : b;
}

int convex_touches(const convex* a, const convex* b, const double delta[3], double reach,
                   const convex_hint* hint, touch out[CONVEX_MAX_TOUCHES])
{
    convex_pair p;
    axis along;
    touch found[TOUCH_BUFFER];
    int count = 0;
    if (convex_pair_begin(&p, a, b, delta, reach)) return 0;
    if (hint && hint->kept_count > 0) count = kept_axis_touches(&p, hint, reach, &along, found);
    if (count == 0) {
        const double limit = reach + a->skin + b->skin;
        const bool flat = a->dim == 2;
        const bool near = flat ? nearest_2d(&p, limit, &along) : nearest_3d(&p, limit, &along);
        if (near && !flat) settle_3d(&p, &along);
        if (near) count = manifold(&p, &along, reach, found);
        if (count > 0 && hint && hint_moves(hint) && foresee(&p, hint, found, count, &along)) {
            count = manifold(&p, &along, reach, found);
        }
    }
    const double thickness = thinner(a->thickness, b->thickness);
    const double size = rest_size(2.0 * smaller_radius(&p), thickness);
    const int most = touches_most(hint, along.normal, reach, size);
    count = touches_reduce(found, count, most, hint);
    memcpy(out, found, (size_t)count * sizeof *out);
    return count;
}
