/// Volume, centre of mass and inertia of polygons and polyhedra, sharp or rounded, in closed form.
///
/// All comes from the moments integral(1, x, x x^T) about the mean of the corners, so that a shape
/// far from the origin loses nothing. Sharp core: triangles (2D) or tetrahedra (3D) that this point
/// spans with the surface. The Minkowski sum with a ball of radius s adds, as in Steiner's formula,
///  - over each face a prism of height s (2D: over each side a rectangle);
///  - along each edge a sector of a cylinder, opened by the angle between the faces' normals (2D:
///  at
///    each corner a sector of a disk);
///  - at each corner (3D) a sector of the ball, over the spherical polygon of the normals of the
///    faces that meet. Its solid angle is 2 pi less the faces' angles at the corner (Gauss and
///    Bonnet); its sides are sectors of disks perpendicular to the edges m_i out of the corner,
///    with the edges' angles t_i, so that by the divergence theorem integral(n) = -1/2 sum t_i m_i
///    over the polygon. Moved together, the sectors fill the ball: integral(n n^T) of all is the
///    ball's.
#include "base/portable.h"
#include "base/vec.h"
#include "geometry/polytope.h"

typedef struct moments {
    double zero, first[3], second[3][3];
} moments;

/// second += s a a^T
static void add_square(moments* m, double s, const double a[3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) m->second[i][j] += s * a[i] * a[j];
    }
}

/// second += s (a b^T + b a^T)
static void add_product(moments* m, double s, const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) m->second[i][j] += s * (a[i] * b[j] + b[i] * a[j]);
    }
}

/// A simplex of this volume with `count` corners; one more corner may be the origin.
static void add_simplex(moments* m, double volume, int count, const double (*corner)[3],
                        bool origin)
{
    int n = count + origin;
    double sum[3] = {0};
    for (int i = 0; i < count; i++) vec_add_scaled(3, sum, 1.0, corner[i]);
    m->zero += volume;
    vec_add_scaled(3, m->first, volume / n, sum);
    for (int i = 0; i < count; i++) add_square(m, volume / (n * (n + 1)), corner[i]);
    add_square(m, volume / (n * (n + 1)), sum);
}

/// The body `base` (flat, perpendicular to n) extruded along n by s.
static void add_prism(moments* m, const moments* base, const double n[3], double s)
{
    m->zero += base->zero * s;
    vec_add_scaled(3, m->first, s, base->first);
    vec_add_scaled(3, m->first, 0.5 * s * s * base->zero, n);
    for (int i = 0; i < 3; i++) vec_add_scaled(3, m->second[i], s, base->second[i]);
    add_product(m, 0.5 * s * s, base->first, n);
    add_square(m, s * s * s / 3.0 * base->zero, n);
}

/// Sector of a disk of radius s: from the unit vector `from` by `angle` towards the unit vector
/// `to`, perpendicular to it.
typedef struct sector {
    double angle, middle[3], across[3]; ///< unit, `across` perpendicular in the plane
    double area, first;                 ///< moments about the disk's centre: first along middle
    double along2, across2;
} sector;

static sector sector_make(const double from[3], const double to[3], double angle, double s)
{
    sector a = {.angle = angle};
    double c = portable_cos(0.5 * angle), d = portable_sin(0.5 * angle);
    for (int k = 0; k < 3; k++) {
        a.middle[k] = c * from[k] + d * to[k];
        a.across[k] = c * to[k] - d * from[k];
    }
    a.area = 0.5 * s * s * angle;
    a.first = 2.0 / 3.0 * s * s * s * d;
    a.along2 = 0.125 * s * s * s * s * (angle + portable_sin(angle));
    a.across2 = 0.125 * s * s * s * s * (angle - portable_sin(angle));
    return a;
}

/// A sector carried along the straight body `line` (a point or a segment), perpendicular to it.
static void add_sector(moments* m, const moments* line, const sector* a)
{
    m->zero += line->zero * a->area;
    vec_add_scaled(3, m->first, a->area, line->first);
    vec_add_scaled(3, m->first, a->first * line->zero, a->middle);
    for (int i = 0; i < 3; i++) vec_add_scaled(3, m->second[i], a->area, line->second[i]);
    add_product(m, a->first, line->first, a->middle);
    add_square(m, a->along2 * line->zero, a->middle);
    add_square(m, a->across2 * line->zero, a->across);
}

// ---- polygons ----------------------------------------------------------------------------------

static void corner_about(const polytope* p, int v, const double origin[3], double out[3])
{
    out[2] = 0.0;
    vec_sub(p->dim, out, p->vertex + p->dim * v, origin);
}

static moments polygon_moments(const polytope* p, double skin, const double origin[3])
{
    moments m = {0};
    int count = p->vertex_count;
    for (int f = 0; f < count; f++) {
        double x[2][3], e[3];
        corner_about(p, f, origin, x[0]);
        corner_about(p, (f + 1) % count, origin, x[1]);
        add_simplex(&m, 0.5 * (x[0][0] * x[1][1] - x[0][1] * x[1][0]), 2, x, true);
        if (skin <= 0.0) continue;

        double n[3] = {p->normal[2 * f], p->normal[2 * f + 1], 0.0}, along[3] = {-n[1], n[0], 0.0};
        moments line = {0}, point = {0};
        vec_sub(3, e, x[1], x[0]);
        add_simplex(&line, vec_norm(2, e), 2, x, false);
        add_prism(&m, &line, n, skin);

        const double* next = p->normal + 2 * ((f + 1) % count);
        double angle = portable_atan2(vec_dot(2, along, next), vec_dot(2, n, next));
        // At the ends of a segment the normals are opposite: half a turn, not minus half a turn.
        sector a = sector_make(n, along, fabs(angle), skin);
        add_simplex(&point, 1.0, 1, x + 1, false);
        add_sector(&m, &point, &a);
    }
    return m;
}

// ---- polyhedra ---------------------------------------------------------------------------------

/// The core behind a face, the prism over it, and its share of the ball at each of its corners: the
/// solid angle at a corner is 2 pi less the angles of its faces.
static void add_face(moments* m, const polytope* p, double skin, const double origin[3], int f)
{
    const int32_t* loop = p->face_vertex + p->face_first[f];
    int count = p->face_first[f + 1] - p->face_first[f];
    const double* n = p->normal + 3 * f;
    moments flat = {0};
    double x[3][3], u[3], v[3], area[3];
    corner_about(p, loop[0], origin, x[0]);
    corner_about(p, loop[1], origin, x[2]);
    for (int i = 2; i < count; i++) {
        vec_copy(3, x[1], x[2]);
        corner_about(p, loop[i], origin, x[2]);
        vec_sub(3, u, x[1], x[0]);
        vec_sub(3, v, x[2], x[0]);
        vec_cross(area, u, v);
        add_simplex(m, vec_dot(3, area, x[0]) / 6.0, 3, x, true);
        add_simplex(&flat, 0.5 * vec_dot(3, area, n), 3, x, false);
    }
    if (skin <= 0.0) return;
    add_prism(m, &flat, n, skin);
    for (int i = 0; i < count; i++) {
        corner_about(p, loop[i], origin, x[0]);
        corner_about(p, loop[(i + 1) % count], origin, x[1]);
        corner_about(p, loop[(i + 2) % count], origin, x[2]);
        vec_sub(3, u, x[0], x[1]);
        vec_sub(3, v, x[2], x[1]);
        vec_cross(area, u, v);
        double angle = portable_atan2(vec_norm(3, area), vec_dot(3, u, v));
        add_simplex(m, -angle * skin * skin * skin / 3.0, 1, x + 1, false);
    }
}

/// The cylinder's sector along an edge, and its share in the balls' sectors at its ends.
static void add_edge(moments* m, const polytope* p, double skin, const double origin[3], int e)
{
    const int32_t* edge = p->edge + 4 * e;
    const double *n0 = p->normal + 3 * edge[2], *n1 = p->normal + 3 * edge[3];
    double x[2][3], along[3], side[3];
    corner_about(p, edge[0], origin, x[0]);
    corner_about(p, edge[1], origin, x[1]);
    vec_sub(3, along, x[1], x[0]);
    double length = vec_norm(3, along);
    for (int k = 0; k < 3; k++) along[k] /= length;
    vec_cross(side, along, n0); // out of the first face, in its plane
    sector a =
        sector_make(n0, side, portable_atan2(vec_dot(3, side, n1), vec_dot(3, n0, n1)), skin);
    moments line = {0};
    add_simplex(&line, length, 2, x, false);
    add_sector(m, &line, &a);

    for (int end = 0; end < 2; end++) {
        double first = (end ? 0.125 : -0.125) * skin * skin * skin * skin * a.angle;
        vec_add_scaled(3, m->first, first, along);
        add_product(m, first, x[end], along);
    }
}

static moments polyhedron_moments(const polytope* p, double skin, const double origin[3])
{
    moments m = {0};
    for (int f = 0; f < p->face_count; f++) add_face(&m, p, skin, origin, f);
    if (skin <= 0.0) return m;
    for (int e = 0; e < p->edge_count; e++) add_edge(&m, p, skin, origin, e);
    const double cube = skin * skin * skin;
    for (int v = 0; v < p->vertex_count; v++) {
        double x[1][3];
        corner_about(p, v, origin, x[0]);
        add_simplex(&m, 2.0 * M_PI / 3.0 * cube, 1, x, false);
    }
    for (int k = 0; k < 3; k++) m.second[k][k] += 4.0 * M_PI / 15.0 * cube * skin * skin;
    return m;
}

mass_properties polytope_mass(const polytope* p, double skin)
{
    double origin[3] = {0};
    for (int v = 0; v < p->vertex_count; v++) {
        vec_add_scaled(p->dim, origin, 1.0 / p->vertex_count, p->vertex + p->dim * v);
    }
    moments m =
        p->dim == 2 ? polygon_moments(p, skin, origin) : polyhedron_moments(p, skin, origin);
    mass_properties out = {.volume = m.zero};
    double d[3] = {0};
    for (int k = 0; k < p->dim; k++) {
        // A segment without a skin has no mass; its centre is still its middle.
        if (m.zero > 0.0) d[k] = m.first[k] / m.zero;
        out.centre[k] = origin[k] + d[k];
    }
    add_square(&m, -m.zero, d);
    double trace = m.second[0][0] + m.second[1][1] + m.second[2][2];
    for (int k = 0; k < 9; k++) {
        out.inertia[k] = (k % 4 == 0 ? trace : 0.0) - m.second[k / 3][k % 3];
    }
    if (p->dim == 2) {
        for (int k = 0; k < 8; k++) out.inertia[k] = 0.0;
    }
    return out;
}
