/// Overlap of two convex cells: one is clipped by the sides of the other, one after the other
/// (Sutherland and Hodgman). The result is a closed polygon whatever rounding does, so that nothing
/// jumps where corners meet sides or sides are parallel. Sums are taken about a corner of the
/// result, so that small overlaps keep their digits.
///
/// First of all the cell is clipped by the box of the other: then sides that have all of the shared
/// box on their inner side need not be looked at.
#include "base/vec.h"
#include "soft/overlap_pieces.h"

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

/// As clip_line().
static ALWAYS_INLINE int clip(const overlap_corner* corner, int count, const double u[2],
                              const double v[2], double* height, overlap_corner* out)
{
    const double side[2] = {v[0] - u[0], v[1] - u[1]};
    double lowest = INFINITY, highest = -INFINITY;
    for (int k = 0; k < count; k++) {
        height[k] = height_over(u, side, &corner[k]);
        lowest = height[k] < lowest ? height[k] : lowest;
        highest = height[k] > highest ? height[k] : highest;
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

int clip_line(const overlap_corner* corner, int count, const double u[2], const double v[2],
              double* height, overlap_corner* out)
{
    return clip(corner, count, u, v, height, out);
}

/// The centroid of a polygon is within its box. Of a sliver, whose triangles cancel but for
/// rounding, the sums may tell any place, and a force there would have any lever.
static inline double within(double place, double low, double high)
{
    return place < low ? low : place > high ? high : place;
}

bool polygon_piece(const overlap_corner* corner, int count, overlap_piece* out)
{
    double low[2] = {corner->x, corner->y}, high[2] = {corner->x, corner->y};
    double twice = 0.0, moment[2] = {0.0, 0.0}, vector[2] = {0.0, 0.0};
    for (int k = 0; k < count; k++) {
        const overlap_corner *p = &corner[k], *q = &corner[k + 1 == count ? 0 : k + 1];
        if (p->of_a) {
            vector[0] += q->y - p->y;
            vector[1] -= q->x - p->x;
        }
        low[0] = p->x < low[0] ? p->x : low[0], high[0] = p->x > high[0] ? p->x : high[0];
        low[1] = p->y < low[1] ? p->y : low[1], high[1] = p->y > high[1] ? p->y : high[1];
        const double u[2] = {p->x - corner->x, p->y - corner->y};
        const double v[2] = {q->x - corner->x, q->y - corner->y};
        const double triangle = cross_2d(u, v);
        twice += triangle;
        for (int c = 0; c < 2; c++) moment[c] += triangle * (u[c] + v[c]);
    }
    if (!(twice > 0.0)) return false;
    out->area = 0.5 * twice;
    out->centroid[0] = within(corner->x + moment[0] / (3.0 * twice), low[0], high[0]);
    out->centroid[1] = within(corner->y + moment[1] / (3.0 * twice), low[1], high[1]);
    for (int c = 0; c < 2; c++) out->vector[c] = vector[c];
    return true;
}

/// Is all of a box left of the line from u to v? Its farthest corner to the right tells.
static inline bool box_left(const double box[4], const double u[2], const double v[2])
{
    const double side[2] = {v[0] - u[0], v[1] - u[1]};
    const overlap_corner right = {.x = side[1] > 0.0 ? box[2] : box[0],
                                  .y = side[0] > 0.0 ? box[1] : box[3]};
    return height_over(u, side, &right) >= 0.0;
}

/// Up to so many sides of b it is quicker to look at them than at the shared box before.
enum { FEW_SIDES = 8 };

/// The polygon that is left, and where the next one is made.
typedef struct clipping {
    overlap_corner *now, *next;
    double* height;
    int count;
} clipping;

static inline void clip_by(clipping* c, const double u[2], const double v[2])
{
    const int kept = clip(c->now, c->count, u, v, c->height, c->next);
    if (kept < 0) return;
    overlap_corner* other = c->now;
    c->now = c->next, c->next = other;
    c->count = kept;
}

bool piece_of_cells(const overlap_cell* a, const overlap_cell* b, const double shift[2],
                    overlap_scratch* s, overlap_piece* out)
{
    double box[4]; // that both boxes have in common
    for (int c = 0; c < 2; c++) {
        const double low = b->box[c] + shift[c], high = b->box[2 + c] + shift[c];
        box[c] = low > a->box[c] ? low : a->box[c];
        box[2 + c] = high < a->box[2 + c] ? high : a->box[2 + c];
        if (box[c] >= box[2 + c]) return false;
    }
    clipping c = {s->corner, s->corner + s->corner_capacity, s->height, a->count};
    for (int k = 0; k < a->count; k++) {
        c.now[k] = (overlap_corner){a->point[2 * k], a->point[2 * k + 1], true};
    }
    if (b->count > FEW_SIDES) {
        // Those sides of the shared box that are b's; the others hold all of a.
        const double corner[4][2] = {
            {box[0], box[1]}, {box[2], box[1]}, {box[2], box[3]}, {box[0], box[3]}};
        if (box[1] > a->box[1]) clip_by(&c, corner[0], corner[1]);
        if (box[2] < a->box[2]) clip_by(&c, corner[1], corner[2]);
        if (box[3] < a->box[3]) clip_by(&c, corner[2], corner[3]);
        if (box[0] > a->box[0]) clip_by(&c, corner[3], corner[0]);
    } else {
        for (int k = 0; k < 4; k++) box[k] = a->box[k];
    }
    const double* last = b->point + 2 * b->count - 2;
    double v[2] = {last[0] + shift[0], last[1] + shift[1]};
    for (int k = 0; k < b->count && c.count > 2; k++) {
        const double u[2] = {v[0], v[1]};
        v[0] = b->point[2 * k] + shift[0], v[1] = b->point[2 * k + 1] + shift[1];
        if (!box_left(box, u, v)) clip_by(&c, u, v);
    }
    return c.count > 2 && polygon_piece(c.now, c.count, out);
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
