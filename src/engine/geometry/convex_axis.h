/// Shared between the files of the convex narrow phase: an axis along which two bodies are
/// measured, supports along it, and where it would be after the free motion. Lengths are those of
/// the cores; skins are taken off where a touch is made.
#ifndef TALUS_GEOMETRY_CONVEX_AXIS_H
#define TALUS_GEOMETRY_CONVEX_AXIS_H

#include "base/vec.h"
#include "geometry/convex.h"
#include "geometry/feature.h"

/// What defines an axis. of_a and of_b are a face and the corner nearest to it, or the codes of
/// edges and corners (convex.h).
typedef enum axis_kind { AXIS_FACE_A, AXIS_FACE_B, AXIS_EDGES } axis_kind;

typedef struct axis {
    axis_kind kind;
    double normal[3]; ///< unit, from a to b
    double gap;       ///< of the cores along it
    int of_a, of_b;
    double on_a[3], on_b[3]; ///< nearest points of the cores, both from a's origin
} axis;

/// Two bodies and their sizes.
typedef struct convex_pair {
    const convex *a, *b;
    double delta[3];
    double radius_a, radius_b; ///< of the cores about their origins
    double size;               ///< of both with skins: the scale of rounding
} convex_pair;

static ALWAYS_INLINE int face_count_of(const convex* c)
{
    return c->shape ? c->shape->face_count : 0;
}
static ALWAYS_INLINE int edge_count_of(const convex* c)
{
    return c->shape ? c->shape->edge_count : 0;
}

/// The corner farthest along `n`; the lowest index of equals.
static ALWAYS_INLINE int support_of(const int dim, const convex* c, const double* n, double* height)
{
    int best = 0;
    double most = vec_dot(dim, c->vertex, n);
    for (int i = 1; i < c->vertex_count; i++) {
        double h = vec_dot(dim, c->vertex + dim * i, n);
        if (h > most) most = h, best = i;
    }
    *height = most;
    return best;
}

/// Separation of the cores along unit n, with the corners that bound it.
static ALWAYS_INLINE double gap_along(const int dim, const convex_pair* p, const double* n,
                                      int* of_a, int* of_b)
{
    double back[3], high_a, high_b;
    for (int k = 0; k < dim; k++) back[k] = -n[k];
    *of_a = support_of(dim, p->a, n, &high_a);
    *of_b = support_of(dim, p->b, back, &high_b);
    return vec_dot(dim, p->delta, n) - high_b - high_a;
}

/// Fills a pair; true if a look along the line of centres shows them farther apart than `reach`.
bool convex_pair_begin(convex_pair* p, const convex* a, const convex* b, const double delta[3],
                       double reach);

/// Separation of the cores along n, held fixed, after the free motion of the hint.
double gap_moved(const convex_pair* p, const double* n, const convex_hint* hint);

/// The face whose normal is nearest to s * n; -1 for a ball.
int face_along(const convex* c, const double* n, double s);

/// Exact nearest or least overlapping axis; false if the cores are farther apart than `reach`.
bool nearest_2d(const convex_pair* p, double reach, axis* out);
bool nearest_3d(const convex_pair* p, double reach, axis* out);

/// Cosine of the angle up to which a face counts as nearly perpendicular to an axis.
#define NEARLY_PARALLEL 0.9975

/// Share of the size by which a face may separate less than the best axis and still be taken: where
/// faces are nearly parallel to a pair of edges, and where it was there in the last step.
#define AXIS_SLACK 1e-6

/// Prefers a face to a pair of edges that is hardly better.
void settle_3d(const convex_pair* p, axis* along);

/// How far apart two axes' predictions must be, relative, for the other to be taken.
#define FORESEE_MARGIN 1e-3
/// Depth up to which an axis still counts as separating, relative to the smaller body.
#define FORESEE_DEPTH 1e-3
/// Relative to the smaller body: gap or overlap up to which bodies graze along an axis;
/// displacement in the step that is more than the unrest of bodies at rest; and that of a body left
/// to its weight for a step.
#define FORESEE_GRAZE 1e-5
#define FORESEE_CREEP 1e-7
#define FORESEE_PRESS 1e-4

/// Radius of the smaller body.
static inline double smaller_radius(const convex_pair* p)
{
    double a = p->radius_a + p->a->skin, b = p->radius_b + p->b->skin;
    return a < b ? a : b;
}

/// Search of another axis than `chosen` where the free motion asks for it (convex.h).
typedef struct foresight {
    const convex_pair* p;
    const convex_hint* hint;
    axis* chosen;
    axis graze;         ///< a face along which the bodies graze, pressed by no more than a weight
    double best;        ///< gap along `chosen` after the free motion
    double floor;       ///< least gap of the cores along axes that are looked at
    int looked;         ///< axes looked at
    bool hits;          ///< the free motion penetrates the axis chosen first
    bool grazes, stays; ///< there is `graze`; it was there in the last step
} foresight;

/// False if there is no need to look.
bool foresight_begin(foresight* f, const convex_pair* p, const convex_hint* hint, axis* chosen);
void foresight_take(foresight* f, const axis* found);
void foresight_end(foresight* f);

/// Offer all axes.
void foresee_2d(foresight* f);
void foresee_3d(foresight* f);

/// Points of the contact along an axis, unsorted, at most TOUCH_BUFFER; in 2D at most 2.
enum { TOUCH_BUFFER = 136 };
int manifold_2d(const convex_pair* p, const axis* along, double reach, touch* out);
int manifold_3d(const convex_pair* p, const axis* along, double reach, touch* out);

/// Whether the points span so much and lie so near that every other axis that foresight knows is
/// nearly parallel to theirs: along n cos + t sin the gap is at most that between the points of a
/// farthest along t and those of b farthest against it, so at most max |gap| - width sin, which
/// leaves angles up to 0.04 with the widths and gaps asked for.
bool touches_wide(const convex_pair* p, const touch* t, int count);
/// Points along the face that the last step's names tell, and its axis; 0 if it may not be the
/// nearest any more.
int kept_axis_touches(const convex_pair* p, const convex_hint* hint, double reach, axis* along,
                      touch* out);

/// A touch between point `on_a` and `on_b` of the cores (both from a's origin).
void touch_make(const convex_pair* p, const double* n, const double* on_a, const double* on_b,
                int64_t feature, touch* out);
/// The touch at the nearest points of an axis.
void touch_of_axis(const convex_pair* p, const axis* along, touch* out);

/// Whether a point of that name was there in the last step.
bool hint_keeps(const convex_hint* hint, int64_t feature);

#endif
