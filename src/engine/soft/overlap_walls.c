/// Overlap regions of grains with walls.
///
/// The work is done about the grain's centre with the grain as first body; the regions are told
/// the other way round. A half-plane is a rectangle as large as the grain needs it, with one side
/// on the plane and the others out of the grain's reach, but for rims and ends of segments.
#include "base/error.h"
#include "base/vec.h"
#include "soft/overlap_pieces.h"

// ---- half-planes -------------------------------------------------------------------------------

/// A straight side of a wall: the grain is to its left, forbidden is what is to its right.
typedef struct wall_side {
    double start[2];  ///< a point on it, from the grain's centre
    double along[2];  ///< unit
    double low, high; ///< where it ends, from the start
    int face;
} wall_side;

/// Regions with the rectangle right of a side, cut to the grain's reach.
static talus_status meet_side(const overlap_body* grain, const wall_side* w, overlap_scratch* s)
{
    const double radius = grain->radius;
    const double height = cross_2d(w->start, w->along), foot = -vec_dot(2, w->start, w->along);
    const double low = fmax(w->low, foot - 2.0 * radius);
    const double high = fmin(w->high, foot + 2.0 * radius);
    if (height >= radius || low >= high) return TALUS_OK;
    const double across[2] = {w->along[1], -w->along[0]};
    const double deep = 2.0 * radius + fmax(-height, 0.0);
    const double t[4] = {high, low, low, high}, d[4] = {0.0, 0.0, deep, deep};
    double number[12]; // corners and box, as those of a placed shape
    for (int c = 0; c < 2; c++) {
        double *lowest = &number[8 + c], *highest = &number[10 + c];
        *lowest = INFINITY, *highest = -INFINITY;
        for (int k = 0; k < 4; k++) {
            const double x = w->start[c] + t[k] * w->along[c] + d[k] * across[c];
            number[2 * k + c] = x;
            *lowest = fmin(*lowest, x);
            *highest = fmax(*highest, x);
        }
    }
    int corners[2] = {0, 4}, zero[1] = {0};
    const overlap_shape one = {
        .cell_count = 1, .corner_count = 4, .first = corners, .part = zero, .order = zero};
    const overlap_body wall = {.shape = &one, .number = number, .radius = INFINITY};
    static const double here[2] = {0.0, 0.0}; // the corners are from the grain's centre
    const region_view view = {.wall = true, .face = w->face, .towards = {across[0], across[1]}};
    TRY(pieces_find(grain, &wall, here, s));
    return pieces_to_regions(grain, &wall, &view, s);
}

static talus_status meet_plane(const talus_shape_def* wall, const overlap_body* grain,
                               const double local[2], overlap_scratch* s)
{
    const double* normal = wall->normal;
    const double height = vec_dot(2, normal, local);
    const wall_side side = {.start = {-height * normal[0], -height * normal[1]},
                            .along = {normal[1], -normal[0]},
                            .low = -INFINITY,
                            .high = INFINITY};
    return meet_side(grain, &side, s);
}

static talus_status meet_segment(const talus_shape_def* wall, const overlap_body* grain,
                                 const double local[2], overlap_scratch* s)
{
    const double half = vec_norm(2, wall->edge_u);
    // Exactly on the line the grain is to the left of edge_u.
    const double side = cross_2d(wall->edge_u, local) < 0.0 ? -1.0 : 1.0;
    const wall_side w = {.start = {-local[0], -local[1]},
                         .along = {side * wall->edge_u[0] / half, side * wall->edge_u[1] / half},
                         .low = -half,
                         .high = half};
    return meet_side(grain, &w, s);
}

static bool face_open(const talus_shape_def* wall, int axis, bool high)
{
    return wall->open_faces >> (2 * axis + high) & 1u;
}

/// A closed face of a container as the grain meets it.
static wall_side container_side(const talus_shape_def* wall, int axis, bool high,
                                const double local[2])
{
    const int other = 1 - axis;
    const double half = wall->half_size[axis], end = wall->half_size[other];
    const double inward = high ? -1.0 : 1.0;
    const bool open[2] = {face_open(wall, other, false), face_open(wall, other, true)};
    const double behind = -(half + inward * local[axis]);
    const double below_rim =
        fmin(open[0] ? end + local[other] : INFINITY, open[1] ? end - local[other] : INFINITY);
    const bool from_outside =
        (open[0] || open[1]) && behind > 0.0 && (behind > below_rim || behind > half);
    const double facing = from_outside ? -inward : inward;
    wall_side w = {.low = -end, .high = end, .face = 2 * axis + high};
    w.start[axis] = -inward * half - local[axis];
    w.start[other] = -local[other];
    // Turned to the left `along` is the direction in which the face looks.
    w.along[other] = axis == 0 ? -facing : facing;
    const bool first = w.along[other] > 0.0 ? open[0] : open[1];
    const bool last = w.along[other] > 0.0 ? open[1] : open[0];
    if (!first && !from_outside) w.low = -INFINITY;
    if (!last && !from_outside) w.high = INFINITY;
    return w;
}

// ---- a circle from inside ----------------------------------------------------------------------

/// The piece of a cell that has this place on its sides, -1 if there is none.
static int64_t piece_at(const overlap_scratch* s, int cell, double place, int corners)
{
    for (int64_t k = 0; k < s->piece_count; k++) {
        const overlap_piece* p = &s->piece[k];
        if (p->cell[0] != cell) continue;
        if (place >= p->span[0] && place <= p->span[1]) return k;
        if (place + corners >= p->span[0] && place + corners <= p->span[1]) return k;
    }
    return -1;
}

/// Join the pieces on both sides of the stretch of a seam between two shares of its length.
static void join_stretch(const overlap_body* grain, int seam, double from, double to,
                         overlap_scratch* s)
{
    if (!(to > from)) return;
    const overlap_seam* of = &grain->shape->seam[seam];
    const double *ends = body_seam(grain, seam), middle = 0.5 * (from + to);
    const double point[2] = {ends[0] + middle * (ends[2] - ends[0]),
                             ends[1] + middle * (ends[3] - ends[1])};
    int64_t found[2];
    for (int k = 0; k < 2; k++) {
        const int cell = of->cell[k], edge = of->edge[k], n = cell_corners(grain->shape, cell);
        const double* p = cell_points(grain, cell);
        double side[2], way[2];
        vec_sub(2, side, p + 2 * ((edge + 1) % n), p + 2 * edge);
        vec_sub(2, way, point, p + 2 * edge);
        const double place = edge + vec_dot(2, side, way) / vec_dot(2, side, side);
        found[k] = piece_at(s, cell, place, n);
    }
    if (found[0] >= 0 && found[1] >= 0) pieces_join(s->piece, found[0], found[1]);
}

/// Join over the stretches of a seam that are outside of the circle.
static void join_outside(const overlap_body* grain, int seam, const double local[2], double circle,
                         overlap_scratch* s)
{
    const double* ends = body_seam(grain, seam);
    double from[2], side[2];
    for (int c = 0; c < 2; c++) from[c] = ends[c] + local[c], side[c] = ends[2 + c] - ends[c];
    const double square = vec_dot(2, side, side), height = cross_2d(from, side) / sqrt(square);
    const double middle = -vec_dot(2, from, side) / square;
    const double room = (circle - height) * (circle + height);
    const double half = room > 0.0 ? sqrt(room / square) : 0.0;
    join_stretch(grain, seam, 0.0, fmin(middle - half, 1.0), s);
    join_stretch(grain, seam, fmax(middle + half, 0.0), 1.0, s);
}

static talus_status meet_drum(double circle, const overlap_body* grain, const double local[2],
                              overlap_scratch* s)
{
    const overlap_body wall = {.radius = circle};
    const double delta[2] = {-local[0], -local[1]};
    s->piece_count = 0;
    if (vec_norm(2, local) + grain->radius <= circle) return TALUS_OK;
    if (!grain->shape) {
        overlap_piece piece = {.area = 0.0};
        if (piece_of_crescent(grain->radius, circle, delta, &piece)) TRY(scratch_add(s, &piece));
    } else {
        for (int i = 0; i < grain->shape->cell_count; i++) {
            TRY(pieces_outside(cell_points(grain, i), cell_corners(grain->shape, i), local, circle,
                               i, s));
        }
        for (int k = 0; k < grain->shape->seam_count; k++) join_outside(grain, k, local, circle, s);
        for (int64_t k = 0; k < s->piece_count; k++) {
            vec_add_scaled(2, s->piece[k].centroid, 1.0, delta);
        }
    }
    // What is forbidden is outwards.
    const region_view view = {.wall = true, .towards = {local[0], local[1]}};
    return pieces_to_regions(grain, &wall, &view, s);
}

// ---- all walls ---------------------------------------------------------------------------------

talus_status overlap_wall(const talus_shape_def* wall, const overlap_shape* form,
                          const overlap_body* grain, const double local[2], overlap_scratch* s)
{
    const double delta[2] = {-local[0], -local[1]};
    const bool round = wall->kind == TALUS_SHAPE_CYLINDER;
    s->count = 0;
    if (wall->kind == TALUS_SHAPE_PLANE) return meet_plane(wall, grain, local, s);
    if (wall->kind == TALUS_SHAPE_SEGMENT && wall->skin == 0.0) {
        return meet_segment(wall, grain, local, s);
    }
    if (wall->inside && round) return meet_drum(wall->radius, grain, local, s);
    if (wall->inside) {
        for (int face = 0; face < 4; face++) {
            if (face_open(wall, face / 2, face % 2)) continue;
            const wall_side side = container_side(wall, face / 2, face % 2, local);
            TRY(meet_side(grain, &side, s));
        }
        return TALUS_OK;
    }
    const overlap_body body =
        round ? (overlap_body){.radius = wall->radius}
              : (overlap_body){.shape = form, .number = form->number, .radius = form->radius};
    const region_view view = {.wall = true, .towards = {delta[0], delta[1]}};
    TRY(pieces_find(grain, &body, delta, s));
    return pieces_to_regions(grain, &body, &view, s);
}
