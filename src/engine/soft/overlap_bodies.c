/// Overlap regions of two bodies: the pieces of all pairs of cells, joined where they meet.
///
/// Pieces of two cells of a with one cell of b meet if some stretch of the seam between the cells
/// of a is inside the cell of b; likewise the other way round; and where a seam of a lies on a seam
/// of b, the pieces across both meet.
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "geometry/feature.h"
#include "soft/overlap_pieces.h"

#include <stdlib.h>

// ---- memory ------------------------------------------------------------------------------------

void overlap_scratch_free(overlap_scratch* s)
{
    free(s->region);
    free(s->piece);
    free(s->corner);
    free(s->height);
    *s = (overlap_scratch){0};
}

talus_status scratch_add(overlap_scratch* s, const overlap_piece* piece)
{
    if (!arrays_grow(&s->piece_capacity, s->piece_count + 1, ARRAY(s->piece))) {
        return TALUS_ERR_MEMORY;
    }
    s->piece[s->piece_count] = *piece;
    s->piece[s->piece_count].root = s->piece_count;
    s->piece_count++;
    return TALUS_OK;
}

// ---- pieces ------------------------------------------------------------------------------------

/// Overlap of a cell, shifted, with a disk at the origin; the area vector is the cell's.
static bool piece_with_disk(const overlap_cell* cell, const double shift[2], double radius,
                            overlap_piece* out)
{
    double square = 0.0; // of the distance between the cell's box and the centre
    for (int c = 0; c < 2; c++) {
        const double centre = -shift[c];
        const double away = fmax(fmax(cell->box[c] - centre, centre - cell->box[2 + c]), 0.0);
        square += away * away;
    }
    if (square >= radius * radius) return false;
    return piece_in_disk(cell->point, cell->count, shift, radius, out);
}

/// Overlap of a cell of each body, about a's centre.
static bool piece_of(const overlap_body* a, int i, const overlap_body* b, int j,
                     const double delta[2], overlap_scratch* s, overlap_piece* out)
{
    const double back[2] = {-delta[0], -delta[1]};
    if (a->shape && b->shape) {
        const overlap_cell of_a = body_cell(a, i), of_b = body_cell(b, j);
        return piece_of_cells(&of_a, &of_b, delta, s, out);
    }
    if (a->shape) {
        const overlap_cell cell = body_cell(a, i);
        if (!piece_with_disk(&cell, back, b->radius, out)) return false;
        vec_add_scaled(2, out->centroid, 1.0, delta);
        return true;
    }
    if (!b->shape) return piece_of_disks(a->radius, b->radius, delta, out);
    const overlap_cell cell = body_cell(b, j);
    if (!piece_with_disk(&cell, delta, a->radius, out)) return false;
    for (int c = 0; c < 2; c++) out->vector[c] = -out->vector[c];
    return true;
}

/// Room for what is left of one cell that another one cuts.
static talus_status reserve_corners(const overlap_body* a, const overlap_body* b,
                                    overlap_scratch* s)
{
    const int of_a = a->shape ? a->shape->corner_count : 0;
    const int of_b = b->shape ? b->shape->corner_count : 0;
    return arrays_renew(&s->corner_capacity, of_a + of_b + 4, ROWS(s->corner, 2), ARRAY(s->height))
               ? TALUS_OK
               : TALUS_ERR_MEMORY;
}

// ---- which pieces meet -------------------------------------------------------------------------

static int64_t root_of(const overlap_piece* piece, int64_t k)
{
    while (piece[k].root != k) k = piece[k].root;
    return k;
}

void pieces_join(overlap_piece* piece, int64_t k, int64_t l)
{
    k = root_of(piece, k);
    l = root_of(piece, l);
    if (k < l) {
        piece[l].root = k;
    } else {
        piece[k].root = l;
    }
}

/// The piece of these cells, -1 if there is none.
static int64_t piece_find(const overlap_scratch* s, int i, int j)
{
    for (int64_t k = 0; k < s->piece_count; k++) {
        if (s->piece[k].cell[0] == i && s->piece[k].cell[1] == j) return k;
    }
    return -1;
}

/// Does a seam reach into a cell of the other body, whose centre is at `shift` from the seam's?
static bool seam_in_cell(const double* seam, const double shift[2], const overlap_body* other,
                         int cell)
{
    const double back[2] = {-shift[0], -shift[1]};
    if (!other->shape) return stretch_in_disk(seam, seam + 2, back, other->radius);
    return stretch_in_cell(seam, seam + 2, back, cell_points(other, cell),
                           cell_corners(other->shape, cell));
}

/// Join pieces over the seams of one body, `own` = 0 for a and 1 for b; `shift` is the centre of
/// the other from its own.
static void join_seams(const overlap_body* body, int own, const overlap_body* other,
                       const double shift[2], overlap_scratch* s)
{
    if (!body->shape) return;
    for (int k = 0; k < body->shape->seam_count; k++) {
        const int* cell = body->shape->seam[k].cell;
        for (int64_t first = 0; first < s->piece_count; first++) {
            const overlap_piece* p = &s->piece[first];
            if (p->cell[own] != cell[0]) continue;
            const int across = p->cell[1 - own];
            const int64_t second =
                own == 0 ? piece_find(s, cell[1], across) : piece_find(s, across, cell[1]);
            if (second >= 0 && seam_in_cell(body_seam(body, k), shift, other, across)) {
                pieces_join(s->piece, first, second);
            }
        }
    }
}

/// Do two seams, the second shifted, have a stretch in common? To 1e-12 of the first.
static bool seams_meet(const double* a, const double* b, const double shift[2])
{
    double side[2], u[2], v[2];
    vec_sub(2, side, a + 2, a);
    for (int c = 0; c < 2; c++) u[c] = b[c] + shift[c] - a[c], v[c] = b[2 + c] + shift[c] - a[c];
    const double square = vec_dot(2, side, side), tolerance = 1e-12 * square;
    if (fabs(cross_2d(side, u)) > tolerance || fabs(cross_2d(side, v)) > tolerance) return false;
    const double first = vec_dot(2, side, u), last = vec_dot(2, side, v);
    return fmax(first, last) > tolerance && fmin(first, last) < square - tolerance;
}

/// Join pieces across seams of both bodies that lie on each other.
static void join_common(const overlap_body* a, const overlap_body* b, const double delta[2],
                        overlap_scratch* s)
{
    if (!a->shape || !b->shape) return;
    for (int k = 0; k < a->shape->seam_count; k++) {
        for (int l = 0; l < b->shape->seam_count; l++) {
            if (!seams_meet(body_seam(a, k), body_seam(b, l), delta)) continue;
            const int *i = a->shape->seam[k].cell, *j = b->shape->seam[l].cell;
            for (int turn = 0; turn < 2; turn++) {
                const int64_t first = piece_find(s, i[0], j[turn]);
                const int64_t second = piece_find(s, i[1], j[1 - turn]);
                if (first >= 0 && second >= 0) pieces_join(s->piece, first, second);
            }
        }
    }
}

static inline bool are_apart(const overlap_body* a, const overlap_body* b, const double delta[2])
{
    const double reach = a->radius + b->radius;
    return vec_dot(2, delta, delta) >= reach * reach;
}

talus_status pieces_find(const overlap_body* a, const overlap_body* b, const double delta[2],
                         overlap_scratch* s)
{
    s->piece_count = 0;
    if (are_apart(a, b, delta)) return TALUS_OK;
    TRY(reserve_corners(a, b, s));
    for (int i = 0; i < body_cells(a); i++) {
        for (int j = 0; j < body_cells(b); j++) {
            overlap_piece piece = {.cell = {i, j}};
            if (piece_of(a, i, b, j, delta, s, &piece)) TRY(scratch_add(s, &piece));
        }
    }
    if (s->piece_count < 2) return TALUS_OK;
    const double back[2] = {-delta[0], -delta[1]};
    join_seams(a, 0, b, delta, s);
    join_seams(b, 1, a, back, s);
    join_common(a, b, delta, s);
    return TALUS_OK;
}

// ---- regions -----------------------------------------------------------------------------------

static int64_t piece_name(const overlap_body* a, const overlap_body* b, const overlap_piece* p,
                          const region_view* view)
{
    const int i = p->cell[0], j = p->cell[1];
    const int order_a = a->shape ? a->shape->order[i] : 0;
    const int order_b = b->shape ? b->shape->order[j] : p->corner;
    const int part_a = a->shape ? a->shape->part[i] : 0;
    const int part_b = b->shape ? b->shape->part[j] : 0;
    if (view->wall) {
        return feature_of_parts(feature_make(FEATURE_SURFACE, order_b, order_a),
                                part_b + view->face, part_a);
    }
    return feature_of_parts(feature_make(FEATURE_SURFACE, order_a, order_b), part_a, part_b);
}

/// From sums over the pieces: the centroid is still weighted with the area, and the normal is the
/// area vector.
static inline void region_finish(overlap_region* r, const region_view* view)
{
    const double sign = view->wall ? -1.0 : 1.0;
    for (int c = 0; c < 2; c++) r->centroid[c] /= r->area;
    r->length = vec_norm(2, r->normal);
    if (r->length > 0.0) {
        const double scale = sign / r->length;
        for (int c = 0; c < 2; c++) r->normal[c] *= scale;
        return;
    }
    const double distance = vec_norm(2, view->towards);
    for (int c = 0; c < 2; c++) {
        r->normal[c] = distance > 0.0 ? sign * view->towards[c] / distance : c == 0;
    }
}

/// The region of all pieces whose root is `first`.
static overlap_region region_of(const overlap_body* a, const overlap_body* b, int64_t first,
                                const region_view* view, const overlap_scratch* s)
{
    const int64_t rows = body_cells(a), columns = body_cells(b);
    overlap_region r = {.feature = INT64_MAX};
    for (int64_t k = first; k < s->piece_count; k++) {
        const overlap_piece* p = &s->piece[k];
        if (root_of(s->piece, k) != first) continue;
        r.area += p->area;
        vec_add_scaled(2, r.centroid, p->area, p->centroid);
        vec_add_scaled(2, r.normal, 1.0, p->vector);
        const int64_t place = (p->corner * rows + p->cell[0]) * columns + p->cell[1];
        r.pieces |= UINT64_C(1) << place % 64;
        const int64_t name = piece_name(a, b, p, view);
        if (name < r.feature) r.feature = name;
    }
    region_finish(&r, view);
    return r;
}

talus_status pieces_to_regions(const overlap_body* a, const overlap_body* b,
                               const region_view* view, overlap_scratch* s)
{
    for (int64_t first = 0; first < s->piece_count; first++) {
        if (s->piece[first].root != first) continue;
        const overlap_region r = region_of(a, b, first, view, s);
        if (!arrays_grow(&s->capacity, s->count + 1, ARRAY(s->region))) return TALUS_ERR_MEMORY;
        int64_t at = s->count++;
        for (; at > 0 && s->region[at - 1].feature > r.feature; at--) {
            s->region[at] = s->region[at - 1];
        }
        s->region[at] = r;
    }
    return TALUS_OK;
}

static inline bool is_one_cell(const overlap_body* b)
{
    return b->shape && b->shape->cell_count == 1;
}

/// The region of two bodies of one cell each, which has one piece: as all others, without the rest.
static talus_status region_of_cells(const overlap_body* a, const overlap_body* b,
                                    const double delta[2], const region_view* view,
                                    overlap_scratch* s)
{
    const overlap_cell of_a = body_cell(a, 0), of_b = body_cell(b, 0);
    overlap_piece piece = {.corner = 0};
    if (are_apart(a, b, delta)) return TALUS_OK;
    TRY(reserve_corners(a, b, s));
    if (!piece_of_cells(&of_a, &of_b, delta, s, &piece)) return TALUS_OK;
    if (!arrays_grow(&s->capacity, 1, ARRAY(s->region))) return TALUS_ERR_MEMORY;
    overlap_region* r = &s->region[s->count++];
    *r = (overlap_region){
        .area = piece.area, .feature = piece_name(a, b, &piece, view), .pieces = 1};
    vec_add_scaled(2, r->centroid, piece.area, piece.centroid);
    vec_copy(2, r->normal, piece.vector);
    region_finish(r, view);
    return TALUS_OK;
}

talus_status overlap_bodies(const overlap_body* a, const overlap_body* b, const double delta[2],
                            overlap_scratch* s)
{
    const region_view view = {.towards = {delta[0], delta[1]}};
    s->count = 0;
    if (is_one_cell(a) && is_one_cell(b)) return region_of_cells(a, b, delta, &view, s);
    TRY(pieces_find(a, b, delta, s));
    return pieces_to_regions(a, b, &view, s);
}
