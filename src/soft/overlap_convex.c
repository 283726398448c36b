/// Overlap of two convex cells: one is clipped by the sides of the other, one after the other
/// (Sutherland and Hodgman). The result is a closed polygon whatever rounding does, so that nothing
/// jumps where corners meet sides or sides are parallel. Sums are taken about a corner of the
/// result, so that small overlaps keep their digits.
#include "soft/overlap_inside.h"

static inline double height_over(const double u[2], const double side[2], const overlap_corner* c)
{
    return side[0] * (c->y - u[1]) - side[1] * (c->x - u[0]);
}

/// Where the side from p (height hp) to q (height hq) crosses the line; the heights' signs differ.
static inline overlap_corner crossing(const overlap_corner* p, const overlap_corner* q, double hp,
                                      double hq, bool of_a)
{
    const double t = hp / (hp - hq);
    return (overlap_corner){p->x + t * (q->x - p->x), p->y + t * (q->y - p->y), of_a};
}

int clip_line(const overlap_corner* corner, int count, const double u[2], const double v[2],
              double* height, overlap_corner* out)
{
    const double side[2] = {v[0] - u[0], v[1] - u[1]};
    double lowest = INFINITY, highest = -INFINITY;
    for (int k = 0; k < count; k++) {
        height[k] = height_over(u, side, &corner[k]);
        lowest = fmin(lowest, height[k]);
        highest = fmax(highest, height[k]);
    }
    if (lowest >= 0.0) return -1;
    if (highest <= 0.0) return 0;
    int kept = 0;
    for (int k = 0; k < count; k++) {
        const int next = k + 1 == count ? 0 : k + 1;
        const double here = height[k], there = height[next];
        const overlap_corner *p = &corner[k], *q = &corner[next];
        if (here >= 0.0) {
            out[kept] = *p;
            if (there < 0.0 && here > 0.0) out[++kept] = crossing(p, q, here, there, false);
            if (there < 0.0) out[kept].of_a = false;
            kept++;
        } else if (there > 0.0) {
            out[kept++] = crossing(p, q, here, there, p->of_a);
        }
    }
    return kept;
}

bool polygon_piece(const overlap_corner* corner, int count, overlap_piece* out)
{
    double twice = 0.0, moment[2] = {0.0, 0.0}, vector[2] = {0.0, 0.0};
    for (int k = 0; k < count; k++) {
        const overlap_corner *p = &corner[k], *q = &corner[k + 1 == count ? 0 : k + 1];
        if (p->of_a) {
            vector[0] += q->y - p->y;
            vector[1] -= q->x - p->x;
        }
        const double u[2] = {p->x - corner->x, p->y - corner->y};
        const double v[2] = {q->x - corner->x, q->y - corner->y};
        const double triangle = cross_2d(u, v);
        twice += triangle;
        for (int c = 0; c < 2; c++) moment[c] += triangle * (u[c] + v[c]);
    }
    if (!(twice > 0.0)) return false;
    out->area = 0.5 * twice;
    out->centroid[0] = corner->x + moment[0] / (3.0 * twice);
    out->centroid[1] = corner->y + moment[1] / (3.0 * twice);
    for (int c = 0; c < 2; c++) out->vector[c] = vector[c];
    return true;
}

bool piece_of_cells(const double* p, int n, const double* q, int m, const double shift[2],
                    overlap_scratch* s, overlap_piece* out)
{
    overlap_corner *now = s->corner, *next = s->corner + s->corner_capacity;
    int count = n;
    for (int k = 0; k < n; k++) now[k] = (overlap_corner){p[2 * k], p[2 * k + 1], true};
    double u[2] = {q[2 * m - 2] + shift[0], q[2 * m - 1] + shift[1]};
    for (int k = 0; k < m; k++) {
        const double v[2] = {q[2 * k] + shift[0], q[2 * k + 1] + shift[1]};
        const int kept = clip_line(now, count, u, v, s->height, next);
        u[0] = v[0], u[1] = v[1];
        if (kept < 0) continue;
        if (kept < 3) return false;
        overlap_corner* other = now;
        now = next, next = other;
        count = kept;
    }
    return polygon_piece(now, count, out);
}

bool stretch_in_cell(const double u[2], const double v[2], const double shift[2], const double* p,
                     int n)
{
    double from = 0.0, to = 1.0;
    const double start[2] = {u[0] + shift[0], u[1] + shift[1]};
    const double end[2] = {v[0] + shift[0], v[1] + shift[1]};
    for (int k = 0; k < n; k++) {
        const double* corner = p + 2 * k;
        const double* next = p + (k + 1 == n ? 0 : 2 * k + 2);
        const double side[2] = {next[0] - corner[0], next[1] - corner[1]};
        const double to_start[2] = {start[0] - corner[0], start[1] - corner[1]};
        const double to_end[2] = {end[0] - corner[0], end[1] - corner[1]};
        const double first = cross_2d(side, to_start), last = cross_2d(side, to_end);
        if (first <= 0.0 && last <= 0.0) return false;
        if (first < 0.0) from = fmax(from, first / (first - last));
        if (last < 0.0) to = fmin(to, first / (first - last));
    }
    return to > from;
}
