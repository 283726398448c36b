/// Distance of two convex cores by GJK with signed volumes: see gjk.h.
#include "geometry/gjk.h"

enum { MAX_ROUNDS = 64 };
/// Relative decrease of the squared distance below which it is at its end.
#define GJK_END 1e-14
/// Height of a tetrahedron over its side below which it is flat.
#define FLAT 1e-12
/// Distance, of the size, that is nothing but rounding.
#define ROUNDING 1e-16

static void keep(simplex* out, const simplex* s, int i, double weight)
{
    int n = out->count++;
    out->of_a[n] = s->of_a[i], out->of_b[n] = s->of_b[i];
    vec_copy(3, out->w[n], s->w[i]);
    out->weight[n] = weight;
}

/// Nearest point on the segment i, j; returns its square.
static double on_segment(const simplex* s, int i, int j, simplex* out, double v[3])
{
    double e[3];
    vec_sub(3, e, s->w[j], s->w[i]);
    double whole = vec_dot(3, e, e), along = -vec_dot(3, s->w[i], e);
    out->count = 0;
    if (along <= 0.0 || whole == 0.0) {
        keep(out, s, i, 1.0);
        vec_copy(3, v, s->w[i]);
    } else if (along >= whole) {
        keep(out, s, j, 1.0);
        vec_copy(3, v, s->w[j]);
    } else {
        double share = along / whole;
        keep(out, s, i, 1.0 - share);
        keep(out, s, j, share);
        for (int k = 0; k < 3; k++) v[k] = s->w[i][k] + share * e[k];
        // Near the origin rounding leaves a part along the edge that would spoil the direction.
        vec_add_scaled(3, v, -vec_dot(3, v, e) / whole, e);
    }
    return vec_dot(3, v, v);
}

/// Keeps the better of the best so far and the nearest point on a segment.
static void try_segment(const simplex* s, int i, int j, simplex* best, double v[3], double* square)
{
    simplex part;
    double x[3];
    double d = on_segment(s, i, j, &part, x);
    if (d >= *square) return;
    *square = d, *best = part;
    vec_copy(3, v, x);
}

static double on_triangle(const simplex* s, int i, int j, int k, simplex* out, double v[3])
{
    double e[3], f[3], n[3];
    vec_sub(3, e, s->w[j], s->w[i]);
    vec_sub(3, f, s->w[k], s->w[i]);
    vec_cross(n, e, f);
    double nn = vec_dot(3, n, n), square = INFINITY;
    double share[3] = {-1.0, -1.0, -1.0};
    if (nn > 0.0) {
        // Shares of the foot of the perpendicular, in the coordinate plane most parallel to it.
        double high = vec_dot(3, s->w[i], n) / nn, foot[3];
        for (int c = 0; c < 3; c++) foot[c] = high * n[c];
        int z = fabs(n[0]) > fabs(n[1]) ? (fabs(n[0]) > fabs(n[2]) ? 0 : 2)
                                        : (fabs(n[1]) > fabs(n[2]) ? 1 : 2);
        int x = (z + 1) % 3, y = (z + 2) % 3;
        const double* corner[3] = {s->w[i], s->w[j], s->w[k]};
        for (int c = 0; c < 3; c++) {
            const double *g = corner[(c + 1) % 3], *h = corner[(c + 2) % 3];
            share[c] =
                ((g[x] - foot[x]) * (h[y] - foot[y]) - (g[y] - foot[y]) * (h[x] - foot[x])) / n[z];
        }
    }
    if (share[0] > 0.0 && share[1] > 0.0 && share[2] > 0.0) {
        double sum = share[0] + share[1] + share[2];
        out->count = 0;
        keep(out, s, i, share[0] / sum);
        keep(out, s, j, share[1] / sum);
        keep(out, s, k, share[2] / sum);
        // Along the normal: the sum of weighted corners would lose the direction.
        double high = vec_dot(3, s->w[i], n) / nn;
        for (int c = 0; c < 3; c++) v[c] = high * n[c];
        return vec_dot(3, v, v);
    }
    if (share[2] <= 0.0) try_segment(s, i, j, out, v, &square);
    if (share[0] <= 0.0) try_segment(s, j, k, out, v, &square);
    if (share[1] <= 0.0) try_segment(s, k, i, out, v, &square);
    return square;
}

/// Nearest point of a tetrahedron; count 4 where it holds the origin.
static double on_tetrahedron(const simplex* s, simplex* out, double v[3])
{
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double square = INFINITY;
    bool inside = true;
    for (int c = 0; c < 4; c++) {
        double e[3], f[3], n[3], g[3];
        vec_sub(3, e, s->w[face[c][1]], s->w[face[c][0]]);
        vec_sub(3, f, s->w[face[c][2]], s->w[face[c][0]]);
        vec_cross(n, e, f);
        vec_sub(3, g, s->w[c], s->w[face[c][0]]);
        double own = vec_dot(3, n, g), origin = -vec_dot(3, n, s->w[face[c][0]]);
        // A flat tetrahedron has no inside: its triangles tell how near it is.
        bool flat = own * own <= FLAT * FLAT * vec_dot(3, n, n) * vec_dot(3, g, g);
        if (own * origin > 0.0 && !flat) continue;
        inside = false;
        simplex part;
        double x[3];
        double d = on_triangle(s, face[c][0], face[c][1], face[c][2], &part, x);
        if (d >= square) continue;
        square = d, *out = part;
        vec_copy(3, v, x);
    }
    if (inside) {
        *out = *s;
        return 0.0;
    }
    return square;
}

static double nearest_point(const simplex* s, simplex* out, double v[3])
{
    switch (s->count) {
    case 1:
        *out = *s, out->weight[0] = 1.0;
        vec_copy(3, v, s->w[0]);
        return vec_dot(3, v, v);
    case 2: return on_segment(s, 0, 1, out, v);
    case 3: return on_triangle(s, 0, 1, 2, out, v);
    default: return on_tetrahedron(s, out, v);
    }
}

/// Adds the corner of A - B farthest along n (from a to b); false if it is there already.
static bool add_support(const convex_pair* p, const double n[3], simplex* s)
{
    int i, j, at = s->count;
    gap_along(3, p, n, &i, &j);
    for (int c = 0; c < at; c++) {
        if (s->of_a[c] == i && s->of_b[c] == j) return false;
    }
    s->of_a[at] = i, s->of_b[at] = j;
    for (int k = 0; k < 3; k++) {
        s->w[at][k] = p->a->vertex[3 * i + k] - (p->b->vertex[3 * j + k] + p->delta[k]);
    }
    s->count++;
    return true;
}

gjk_result gjk_distance(const convex_pair* p, double reach, double near, simplex* s)
{
    const double rounding = ROUNDING * p->size;
    double n[3], v[3] = {0.0, 0.0, 0.0}, square = INFINITY;
    vec_copy(3, n, p->delta);
    if (vec_dot(3, n, n) == 0.0) n[0] = 1.0;
    s->count = 0;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        simplex wide = *s, next;
        double x[3];
        if (!add_support(p, n, &wide)) break;
        if (s->count > 0) {
            // v.w / |v| bounds the distance from below.
            double bound = vec_dot(3, v, wide.w[s->count]);
            if (bound > 0.0 && bound * bound > reach * reach * square) return GJK_FAR;
            if (square - bound <= GJK_END * square) break;
        }
        double d = nearest_point(&wide, &next, x);
        if (next.count == 4) {
            *s = next;
            return GJK_NEAR;
        }
        if (!(d < square)) break;
        *s = next, square = d;
        vec_copy(3, v, x);
        if (square <= rounding * rounding) return GJK_NEAR;
        for (int k = 0; k < 3; k++) n[k] = -v[k];
    }
    if (square <= near * near) return GJK_NEAR;
    return square > reach * reach ? GJK_FAR : GJK_APART;
}

bool simplex_normal(const simplex* s, double n[3])
{
    if (s->count == 4) return false;
    for (int k = 0; k < 3; k++) n[k] = -s->w[0][k];
    double e[3], f[3];
    if (s->count > 1) vec_sub(3, e, s->w[1], s->w[0]);
    if (s->count == 2) {
        // Twice: the first leaves the rounding of the long difference along the edge.
        for (int i = 0; i < 2; i++) vec_add_scaled(3, n, -vec_dot(3, n, e) / vec_dot(3, e, e), e);
    } else if (s->count == 3) {
        vec_sub(3, f, s->w[2], s->w[0]);
        vec_cross(n, e, f);
        if (vec_dot(3, n, s->w[0]) > 0.0) {
            for (int k = 0; k < 3; k++) n[k] = -n[k];
        }
    }
    double length = vec_norm(3, n);
    if (!(length > 0.0)) return false;
    for (int k = 0; k < 3; k++) n[k] /= length;
    return true;
}
