/// Overlaps with circles, exact: lens of two disks, crescent outside of a circle, and a convex cell
/// inside and outside of a circle (Green's theorem).
///
/// The boundary of a cell in a circle is what of its sides is inside, joined by arcs; that of the
/// cell outside of a circle is what of its sides is outside, chain by chain, each joined by the
/// same arc backwards. An arc over a chord of length s = 2 r x adds to the polygon of chords the
/// segment of area r^2 f(x), f(x) = asin x - x sqrt(1 - x^2) (the rest of the disk for an arc past
/// pi), whose first moment about the centre is s^2/12 times the chord turned outwards. Area vectors
/// are the chord turned outwards for sides and arcs alike.
#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "soft/overlap_pieces.h"

/// f(x) above; for small x its series, 2 sum of binom(2n, n)/4^n x^(2n+3)/(2n+3), without loss of
/// digits. At the border the last term is 1e-17 of the first, and the other form loses 4 bits.
static double segment_unit(double x)
{
    enum { TERMS = 14 };
    if (x >= 1.0) return 0.5 * M_PI;
    const double xx = x * x;
    if (x > 0.28) return portable_asin(x) - x * sqrt(1.0 - xx);
    double sum = 0.0, term = 2.0 * x * xx;
    for (int n = 0; n < TERMS; n++) {
        sum += term / (2 * n + 3);
        term *= xx * (2 * n + 1) / (2 * n + 2);
    }
    return sum;
}

/// Area and first moment in the making, about a point of the boundary.
typedef struct region_sum {
    double about[2];
    double twice;     ///< area of the polygon of chords, doubled
    double moment[2]; ///< its first moment, times 6
    double area;      ///< of the segments
    double bulge[2];  ///< their first moments
    double vector[2]; ///< area vector of the cell's sides
} region_sum;

static void add_chord(region_sum* r, const double from[2], const double to[2])
{
    double u[2], v[2];
    vec_sub(2, u, from, r->about);
    vec_sub(2, v, to, r->about);
    const double triangle = cross_2d(u, v);
    r->twice += triangle;
    for (int c = 0; c < 2; c++) r->moment[c] += triangle * (u[c] + v[c]);
}

static void add_side(region_sum* r, const double from[2], const double to[2])
{
    add_chord(r, from, to);
    r->vector[0] += to[1] - from[1];
    r->vector[1] -= to[0] - from[0];
}

/// The segment between the chord and the arc, counterclockwise, of a circle about `centre`; `sign`
/// is -1 where it is taken away.
static void add_segment(region_sum* r, const double from[2], const double to[2],
                        const double centre[2], double radius, bool major, double sign)
{
    const double chord[2] = {to[0] - from[0], to[1] - from[1]};
    const double square = vec_dot(2, chord, chord);
    const double minor = radius * radius * segment_unit(sqrt(square) / (2.0 * radius));
    const double area = sign * (major ? M_PI * radius * radius - minor : minor);
    r->area += area;
    r->bulge[0] += area * (centre[0] - r->about[0]) + sign * square / 12.0 * chord[1];
    r->bulge[1] += area * (centre[1] - r->about[1]) - sign * square / 12.0 * chord[0];
}

static bool sum_piece(const region_sum* r, overlap_piece* out)
{
    const double area = 0.5 * r->twice + r->area;
    if (!(area > 0.0)) return false;
    out->area = area;
    for (int c = 0; c < 2; c++) {
        out->centroid[c] = r->about[c] + (r->moment[c] / 6.0 + r->bulge[c]) / area;
        out->vector[c] = r->vector[c];
    }
    return true;
}

static bool whole_disk(double radius, const double centre[2], overlap_piece* out)
{
    out->area = M_PI * radius * radius;
    vec_copy(2, out->centroid, centre);
    out->vector[0] = out->vector[1] = 0.0;
    return radius > 0.0;
}

// ---- two circles -------------------------------------------------------------------------------

/// Where two circles cross: the chord seen from the first centre, counterclockwise.
typedef struct circles {
    double from[2], to[2];
    double along;    ///< of the chord on the line of the centres, from the first centre
    double distance; ///< of the centres
} circles;

/// The circles cross; `delta` is the second centre. All differences are of nearly equal numbers
/// only where the numbers are given: no digits are lost where the circles nearly touch.
static circles circles_cross(double r, double q, double distance, const double delta[2])
{
    const double outer = (q - distance + r) * (q + distance - r) / (2.0 * distance); // r - along
    const double inner = (distance + r - q) * (distance + r + q) / (2.0 * distance); // r + along
    const double along = 0.5 * (inner - outer);
    const double half = sqrt(fmax(outer * inner, 0.0));
    const double e[2] = {delta[0] / distance, delta[1] / distance};
    return (circles){.from = {along * e[0] + half * e[1], along * e[1] - half * e[0]},
                     .to = {along * e[0] - half * e[1], along * e[1] + half * e[0]},
                     .along = along,
                     .distance = distance};
}

bool piece_of_disks(double radius_a, double radius_b, const double delta[2], overlap_piece* out)
{
    static const double origin[2] = {0.0, 0.0};
    const double distance = vec_norm(2, delta);
    if (distance >= radius_a + radius_b) return false;
    if (distance <= radius_b - radius_a) return whole_disk(radius_a, origin, out);
    if (distance <= radius_a - radius_b) return whole_disk(radius_b, delta, out);
    const circles c = circles_cross(radius_a, radius_b, distance, delta);
    region_sum sum = {.about = {c.from[0], c.from[1]}};
    add_segment(&sum, c.from, c.to, origin, radius_a, c.along < 0.0, 1.0);
    add_segment(&sum, c.to, c.from, delta, radius_b, c.along > distance, 1.0);
    sum.vector[0] = c.to[1] - c.from[1];
    sum.vector[1] = c.from[0] - c.to[0];
    return sum_piece(&sum, out);
}

bool piece_of_crescent(double radius, double circle, const double centre[2], overlap_piece* out)
{
    static const double origin[2] = {0.0, 0.0};
    const double distance = vec_norm(2, centre);
    if (distance + radius <= circle) return false;
    if (distance >= radius + circle) return whole_disk(radius, origin, out);
    region_sum sum = {.twice = 0.0};
    if (distance + circle <= radius) { // a ring
        sum.area = M_PI * (radius - circle) * (radius + circle);
        for (int c = 0; c < 2; c++) sum.bulge[c] = -M_PI * circle * circle * centre[c];
        return sum_piece(&sum, out);
    }
    // Seen from the disk the chord's far side is outside: the arc of the disk runs the other way.
    const circles c = circles_cross(radius, circle, distance, centre);
    vec_copy(2, sum.about, c.from);
    add_segment(&sum, c.to, c.from, origin, radius, c.along > 0.0, 1.0);
    add_segment(&sum, c.to, c.from, centre, circle, c.along > distance, -1.0);
    sum.vector[0] = c.from[1] - c.to[1];
    sum.vector[1] = c.to[0] - c.from[0];
    return sum_piece(&sum, out);
}

// ---- a convex cell and a circle about the origin -----------------------------------------------

/// A side of a cell, cut by the circle: what is inside runs from `in` to `out`.
typedef struct cut_side {
    double from[2], to[2];
    double turn;         ///< above 0 where the centre is on the inner side
    bool apart;          ///< all of the circle is on the outer side
    bool any;            ///< some of it is inside
    bool enters, leaves; ///< its ends `in` and `out` are on the circle, not corners
    double in[2], out[2];
    double t_in, t_out; ///< 0 at the first corner, 1 at the second
} cut_side;

static void point_on(const cut_side* s, double t, double point[2])
{
    for (int c = 0; c < 2; c++) point[c] = s->from[c] + t * (s->to[c] - s->from[c]);
}

/// Whether a corner is inside is asked once, by its distance: both its sides see the same.
static cut_side side_cut(const double* p, int n, int k, const double shift[2], double radius)
{
    cut_side s = {.t_in = 0.0, .t_out = 1.0};
    const double *corner = p + 2 * k, *next = p + (k + 1 == n ? 0 : 2 * k + 2);
    for (int c = 0; c < 2; c++) {
        s.in[c] = s.from[c] = corner[c] + shift[c];
        s.out[c] = s.to[c] = next[c] + shift[c];
    }
    double side[2];
    vec_sub(2, side, s.to, s.from);
    const double square = vec_dot(2, side, side), limit = radius * radius;
    s.turn = cross_2d(s.from, side);
    s.enters = vec_dot(2, s.from, s.from) >= limit;
    s.leaves = vec_dot(2, s.to, s.to) >= limit;
    s.any = !s.enters || !s.leaves;
    if (!s.enters && !s.leaves) return s;
    const bool beside = s.turn * s.turn >= limit * square;
    const double middle = -vec_dot(2, s.from, side); // nearest to the centre, times `square`
    s.apart = beside && s.turn < 0.0;
    s.any |= !beside && middle > 0.0 && middle < square;
    if (!s.any) return s;
    const double length = sqrt(square), height = s.turn / length;
    const double room = (radius - height) * (radius + height);
    const double half = sqrt(room > 0.0 ? room : 0.0) * length;
    if (s.enters) {
        s.t_in = fmin(fmax((middle - half) / square, 0.0), 1.0);
        point_on(&s, s.t_in, s.in);
    }
    if (s.leaves) {
        s.t_out = fmin(fmax((middle + half) / square, s.t_in), 1.0);
        point_on(&s, s.t_out, s.out);
    }
    return s;
}

/// Is the arc from where side `leave` leaves the circle to where side `enter` enters it longer than
/// half the circle? The sides between them are outside. `within`: the cell holds the centre.
/// Points that rounding has put in the wrong order are told from an arc all round by the sides.
static bool arc_major(const cut_side* leave, const cut_side* enter, int passed, bool within,
                      double radius)
{
    if (passed == 0) return leave->turn > 0.0;
    double chord[2];
    vec_sub(2, chord, enter->in, leave->out);
    if (vec_dot(2, chord, chord) < 1e-14 * radius * radius) return passed > 1 && within;
    return cross_2d(leave->out, enter->in) < 0.0;
}

/// What a look at all sides tells.
typedef struct cell_cut {
    bool apart;  ///< a side has the whole circle on its outer side
    bool within; ///< the cell holds the centre
    int first;   ///< a side that leaves the circle; -1 if none does
    bool any;    ///< some side is inside
} cell_cut;

static cell_cut cell_look(const double* p, int n, const double shift[2], double radius)
{
    cell_cut look = {.within = true, .first = -1};
    for (int k = 0; k < n; k++) {
        const cut_side s = side_cut(p, n, k, shift, radius);
        look.apart |= s.apart;
        look.within &= s.turn >= 0.0;
        look.any |= s.any;
        if (s.any && s.leaves && look.first < 0) look.first = k;
    }
    return look;
}

bool piece_in_disk(const double* p, int n, const double shift[2], double radius, overlap_piece* out)
{
    static const double origin[2] = {0.0, 0.0};
    const cell_cut look = cell_look(p, n, shift, radius);
    if (look.apart) return false;
    if (!look.any) return look.within && whole_disk(radius, origin, out);
    const int start = look.first < 0 ? 0 : look.first;
    cut_side leave = side_cut(p, n, start, shift, radius);
    int left = 0; // steps since the side that was left
    region_sum sum = {.about = {leave.out[0], leave.out[1]}};
    for (int step = 1; step <= n; step++) {
        const cut_side s = side_cut(p, n, (start + step) % n, shift, radius);
        if (!s.any) continue;
        if (s.enters) {
            // Back on the side where it all began the sides were passed all round.
            const int passed = step - left == n ? 0 : step - left;
            const bool major = arc_major(&leave, &s, passed, look.within, radius);
            add_chord(&sum, leave.out, s.in);
            add_segment(&sum, leave.out, s.in, origin, radius, major, 1.0);
        }
        add_side(&sum, s.in, s.out);
        if (s.leaves) leave = s, left = step;
    }
    return sum_piece(&sum, out);
}

/// A cell without crossings: all of it outside, or all but the circle, or nothing.
static talus_status outside_whole(const double* p, int n, const double shift[2], double circle,
                                  const cell_cut* look, int cell, overlap_scratch* s)
{
    if (look->any) return TALUS_OK;
    const double start[2] = {p[0] + shift[0], p[1] + shift[1]};
    region_sum sum = {.about = {start[0], start[1]}};
    for (int k = 0; k < n; k++) {
        const cut_side side = side_cut(p, n, k, shift, circle);
        add_side(&sum, side.from, side.to);
    }
    sum.vector[0] = sum.vector[1] = 0.0; // closed: what is left is rounding
    if (look->within && !look->apart) {
        sum.area = -M_PI * circle * circle;
        for (int c = 0; c < 2; c++) sum.bulge[c] = sum.area * -start[c];
    }
    overlap_piece piece = {.cell = {cell, 0}, .span = {0.0, n}};
    return sum_piece(&sum, &piece) ? scratch_add(s, &piece) : TALUS_OK;
}

/// A chain of sides outside of the circle in the making.
typedef struct chain {
    cut_side leave;
    int side, step; ///< number of that side, steps since the first
    int corner;     ///< lowest number of a corner passed
    region_sum sum;
} chain;

static chain chain_begin(const cut_side* leave, int side, int step, int n)
{
    chain c = {.leave = *leave, .side = side, .step = step, .corner = (side + 1) % n};
    vec_copy(2, c.sum.about, leave->out);
    add_side(&c.sum, leave->out, leave->to);
    return c;
}

/// The chain enters the circle on a side: the arc closes it.
static talus_status chain_end(chain* c, const cut_side* enter, int step, int n, bool within,
                              double circle, int cell, overlap_scratch* s)
{
    static const double origin[2] = {0.0, 0.0};
    const int passed = step - c->step;
    const bool major = arc_major(&c->leave, enter, passed == n ? 0 : passed, within, circle);
    add_side(&c->sum, enter->from, enter->in);
    add_chord(&c->sum, enter->in, c->leave.out);
    add_segment(&c->sum, c->leave.out, enter->in, origin, circle, major, -1.0);
    overlap_piece piece = {.cell = {cell, 0},
                           .corner = c->corner,
                           .span = {c->side + c->leave.t_out, c->side + passed + enter->t_in}};
    return sum_piece(&c->sum, &piece) ? scratch_add(s, &piece) : TALUS_OK;
}

talus_status pieces_outside(const double* p, int n, const double shift[2], double circle, int cell,
                            overlap_scratch* s)
{
    const cell_cut look = cell_look(p, n, shift, circle);
    if (look.first < 0) return outside_whole(p, n, shift, circle, &look, cell, s);
    const cut_side first = side_cut(p, n, look.first, shift, circle);
    chain c = chain_begin(&first, look.first, 0, n);
    for (int step = 1; step <= n; step++) {
        const int k = (look.first + step) % n;
        const cut_side side = side_cut(p, n, k, shift, circle);
        if (!side.any) {
            add_side(&c.sum, side.from, side.to);
            if ((k + 1) % n < c.corner) c.corner = (k + 1) % n;
            continue;
        }
        if (side.enters) TRY(chain_end(&c, &side, step, n, look.within, circle, cell, s));
        if (side.leaves) c = chain_begin(&side, k, step, n);
    }
    return TALUS_OK;
}

bool stretch_in_disk(const double u[2], const double v[2], const double shift[2], double radius)
{
    const double from[2] = {u[0] + shift[0], u[1] + shift[1]};
    const double side[2] = {v[0] - u[0], v[1] - u[1]};
    const double square = vec_dot(2, side, side);
    const double middle = fmin(fmax(-vec_dot(2, from, side) / square, 0.0), 1.0);
    const double nearest[2] = {from[0] + middle * side[0], from[1] + middle * side[1]};
    return vec_dot(2, nearest, nearest) < radius * radius;
}
