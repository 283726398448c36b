/// Cutting a solid into disjoint convex cells, with the seams between them; and placing it.
///
/// A part is taken as it is, if no earlier part overlaps it; else what the earlier parts leave of
/// it is cut into convex cells along their sides. Seams are stretches that sides of two cells have
/// in common, to 1e-6 of the solid's radius: so far the corners of parts given in a scene may miss
/// each other.
#include "base/array.h"
#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "soft/overlap_pieces.h"

#include <stdlib.h>
#include <string.h>

/// Below this share of the circle that holds the solid an area is rounding.
#define NO_AREA 1e-13
/// How far sides that make a seam may be apart, in radii of the solid.
#define SEAM_WIDTH 1e-6

void overlap_shape_free(overlap_shape* s)
{
    free(s->first);
    free(s->part);
    free(s->order);
    free(s->seam);
    free(s->number);
    *s = (overlap_shape){0};
}

int64_t overlap_size(const overlap_shape* s)
{
    return 2 * (int64_t)s->corner_count + 4 * (int64_t)s->seam_count + 4 * (int64_t)s->cell_count;
}

/// Lowest and highest corners of the cells.
static void place_boxes(const overlap_shape* s, double* number)
{
    double* box = number + 2 * s->corner_count + 4 * s->seam_count;
    for (int i = 0; i < s->cell_count; i++, box += 4) {
        for (int c = 0; c < 2; c++) box[c] = INFINITY, box[2 + c] = -INFINITY;
        for (int k = s->first[i]; k < s->first[i + 1]; k++) {
            for (int c = 0; c < 2; c++) {
                const double x = number[2 * k + c];
                box[c] = x < box[c] ? x : box[c]; // fmin() would be a call
                box[2 + c] = x > box[2 + c] ? x : box[2 + c];
            }
        }
    }
}

void overlap_place(const overlap_shape* s, double cosine, double sine, double scale, double* number)
{
    const int points = s->corner_count + 2 * s->seam_count;
    for (int k = 0; k < points; k++) {
        const double x = s->number[2 * k], y = s->number[2 * k + 1];
        number[2 * k] = scale * (cosine * x - sine * y);
        number[2 * k + 1] = scale * (sine * x + cosine * y);
    }
    place_boxes(s, number);
}

// ---- polygons in the making --------------------------------------------------------------------

typedef struct polygon {
    overlap_corner* corner; ///< [count]
    int count;
    int part;
} polygon;

typedef struct polygons {
    polygon* row;
    int64_t count, capacity;
} polygons;

static void polygons_free(polygons* p)
{
    for (int64_t i = 0; i < p->count; i++) free(p->row[i].corner);
    free(p->row);
    *p = (polygons){0};
}

/// Add a copy of a polygon.
static talus_status polygons_add(polygons* p, const overlap_corner* corner, int count, int part)
{
    if (!arrays_grow(&p->capacity, p->count + 1, ARRAY(p->row))) return TALUS_ERR_MEMORY;
    polygon* row = &p->row[p->count];
    *row = (polygon){.count = count, .part = part};
    row->corner = malloc((size_t)count * sizeof *row->corner);
    if (!row->corner) return TALUS_ERR_MEMORY;
    memcpy(row->corner, corner, (size_t)count * sizeof *corner);
    p->count++;
    return TALUS_OK;
}

/// What the making of a shape needs.
typedef struct maker {
    polygons part; ///< one for each part, rounded
    polygons cell; ///< the cells so far
    polygons now;  ///< what is left of a part
    polygons next; ///< the same, cut by one more part
    int64_t room;  ///< corners that each buffer holds
    overlap_corner* buffer[3];
    double* height;
    double radius; ///< of the circle about the origin that holds all
} maker;

static talus_status maker_reserve(maker* m, int64_t corners)
{
    overlap_corner** buffer = m->buffer;
    return arrays_renew(&m->room, corners, ARRAY(buffer[0]), ARRAY(buffer[1]), ARRAY(buffer[2]),
                        ARRAY(m->height))
               ? TALUS_OK
               : TALUS_ERR_MEMORY;
}

static bool polygon_holds(const maker* m, const overlap_corner* corner, int count)
{
    overlap_piece sum;
    return count > 2 && polygon_piece(corner, count, &sum) &&
           sum.area > NO_AREA * m->radius * m->radius;
}

/// Drop corners on top of their neighbours, as they come where a line passes a corner.
static int polygon_clean(const maker* m, overlap_corner* corner, int count)
{
    int kept = 0;
    for (int k = 0; k < count; k++) {
        const overlap_corner* next = &corner[k + 1 == count ? 0 : k + 1];
        if (portable_hypot(next->x - corner[k].x, next->y - corner[k].y) > 1e-12 * m->radius) {
            corner[kept++] = corner[k];
        }
    }
    return kept;
}

// ---- parts -------------------------------------------------------------------------------------

/// Chords of the arc at corner v of a part, between the sides before and after it.
static int arc_chords(const polytope* p, int v, double* turn)
{
    const double* before = p->normal + 2 * ((v + p->face_count - 1) % p->face_count);
    const double* after = p->normal + 2 * v;
    *turn = portable_atan2(cross_2d(before, after), vec_dot(2, before, after));
    if (*turn < 0.0) *turn += 2.0 * M_PI; // the ends of a segment: pi, with either sign
    return (int)ceil(*turn * OVERLAP_ROUND / (2.0 * M_PI) - 1e-9);
}

/// A part, its rounded corners as chords.
static talus_status part_add(maker* m, const polytope* p, double skin, int part)
{
    double turn;
    int64_t corners = 0;
    for (int v = 0; v < p->vertex_count; v++) {
        corners += 1 + (skin > 0.0 ? arc_chords(p, v, &turn) : 0);
    }
    TRY(maker_reserve(m, corners));
    int count = 0;
    for (int v = 0; v < p->vertex_count; v++) {
        const double* before = p->normal + 2 * ((v + p->face_count - 1) % p->face_count);
        const int chords = skin > 0.0 ? arc_chords(p, v, &turn) : 0;
        for (int k = 0; k <= chords; k++) {
            const double angle = chords > 0 ? turn * k / chords : 0.0;
            const double c = skin * portable_cos(angle), s = skin * portable_sin(angle);
            m->buffer[0][count++] =
                (overlap_corner){p->vertex[2 * v] + c * before[0] - s * before[1],
                                 p->vertex[2 * v + 1] + s * before[0] + c * before[1], true};
        }
    }
    for (int k = 0; k < count; k++) {
        m->radius = fmax(m->radius, portable_hypot(m->buffer[0][k].x, m->buffer[0][k].y));
    }
    return polygons_add(&m->part, m->buffer[0], count, part);
}

// ---- cells -------------------------------------------------------------------------------------

/// Is there any area that both polygons have?
static bool polygons_overlap(maker* m, const polygon* a, const polygon* b)
{
    overlap_corner *now = m->buffer[0], *next = m->buffer[1];
    int count = a->count;
    memcpy(now, a->corner, (size_t)count * sizeof *now);
    for (int k = 0; k < b->count; k++) {
        const overlap_corner *p = &b->corner[k], *q = &b->corner[(k + 1) % b->count];
        const double u[2] = {p->x, p->y}, v[2] = {q->x, q->y};
        const int kept = clip_line(now, count, u, v, m->height, next);
        if (kept < 0) continue;
        overlap_corner* other = now;
        now = next, next = other;
        count = kept;
    }
    return polygon_holds(m, now, count);
}

/// What is outside of an earlier part goes to m->next: what is right of its first side, then what
/// of the rest is right of its second side, and so on.
static talus_status cell_cut_by(maker* m, const polygon* cell, const polygon* by)
{
    TRY(maker_reserve(m, (int64_t)cell->count + by->count));
    if (!polygons_overlap(m, cell, by)) {
        return polygons_add(&m->next, cell->corner, cell->count, cell->part);
    }
    overlap_corner *rest = m->buffer[0], *inside = m->buffer[1], *outside = m->buffer[2];
    int count = cell->count;
    memcpy(rest, cell->corner, (size_t)count * sizeof *rest);
    for (int k = 0; k < by->count; k++) {
        const overlap_corner *p = &by->corner[k], *q = &by->corner[(k + 1) % by->count];
        const double u[2] = {p->x, p->y}, v[2] = {q->x, q->y};
        const int left = clip_line(rest, count, u, v, m->height, inside);
        if (left < 0) continue; // nothing is right of this side
        const int right = clip_line(rest, count, v, u, m->height, outside);
        const int cleaned = polygon_clean(m, outside, right);
        if (polygon_holds(m, outside, cleaned)) {
            TRY(polygons_add(&m->next, outside, cleaned, cell->part));
        }
        count = polygon_clean(m, inside, left);
        overlap_corner* other = rest;
        rest = inside, inside = other;
    }
    return TALUS_OK;
}

/// Add what the earlier parts leave of a part to the cells.
static talus_status cells_of_part(maker* m, int part)
{
    const polygon* whole = &m->part.row[part];
    TRY(polygons_add(&m->now, whole->corner, whole->count, part));
    for (int earlier = 0; earlier < part; earlier++) {
        for (int64_t k = 0; k < m->now.count; k++) {
            TRY(cell_cut_by(m, &m->now.row[k], &m->part.row[earlier]));
        }
        polygons_free(&m->now);
        m->now = m->next;
        m->next = (polygons){0};
    }
    for (int64_t k = 0; k < m->now.count; k++) {
        TRY(polygons_add(&m->cell, m->now.row[k].corner, m->now.row[k].count, part));
    }
    polygons_free(&m->now);
    return TALUS_OK;
}

// ---- seams -------------------------------------------------------------------------------------

/// The stretch that a side from u to v has in common with one from p to q, which runs the other
/// way; false if there is none.
static bool sides_share(const double u[2], const double v[2], const double p[2], const double q[2],
                        double width, double stretch[4])
{
    double side[2], other[2], to_p[2], to_q[2];
    vec_sub(2, side, v, u);
    vec_sub(2, other, q, p);
    vec_sub(2, to_p, p, u);
    vec_sub(2, to_q, q, u);
    const double length = vec_norm(2, side);
    if (vec_dot(2, side, other) >= 0.0) return false;
    if (fabs(cross_2d(side, to_p)) > width * length) return false;
    if (fabs(cross_2d(side, to_q)) > width * length) return false;
    const double from = fmax(vec_dot(2, side, to_q) / length, 0.0);
    const double to = fmin(vec_dot(2, side, to_p) / length, length);
    if (to - from <= width) return false;
    for (int c = 0; c < 2; c++) {
        stretch[c] = u[c] + from / length * side[c];
        stretch[2 + c] = u[c] + to / length * side[c];
    }
    return true;
}

/// Seams between two cells: counted, and written where `seam` and `ends` are not NULL.
static int cell_seams(const overlap_shape* s, int i, int j, overlap_seam* seam, double* ends)
{
    const int n = cell_corners(s, i), m = cell_corners(s, j);
    const double *a = s->number + 2 * s->first[i], *b = s->number + 2 * s->first[j];
    int found = 0;
    for (int e = 0; e < n; e++) {
        for (int f = 0; f < m; f++) {
            double stretch[4];
            if (!sides_share(a + 2 * e, a + 2 * ((e + 1) % n), b + 2 * f, b + 2 * ((f + 1) % m),
                             SEAM_WIDTH * s->radius, stretch)) {
                continue;
            }
            if (seam) {
                seam[found] = (overlap_seam){.cell = {i, j}, .edge = {e, f}};
                memcpy(ends + 4 * found, stretch, sizeof stretch);
            }
            found++;
        }
    }
    return found;
}

static talus_status shape_seams(overlap_shape* s)
{
    for (int i = 0; i < s->cell_count; i++) {
        for (int j = i + 1; j < s->cell_count; j++)
            s->seam_count += cell_seams(s, i, j, NULL, NULL);
    }
    double* number = realloc(s->number, (size_t)overlap_size(s) * sizeof *number);
    if (!number) return TALUS_ERR_MEMORY;
    s->number = number;
    s->seam = malloc((size_t)s->seam_count * sizeof *s->seam + 1);
    if (!s->seam) return TALUS_ERR_MEMORY;
    double* ends = number + 2 * s->corner_count;
    int found = 0;
    for (int i = 0; i < s->cell_count; i++) {
        for (int j = i + 1; j < s->cell_count; j++) {
            found += cell_seams(s, i, j, s->seam + found, ends + 4 * found);
        }
    }
    place_boxes(s, number);
    return TALUS_OK;
}

// ---- the whole ---------------------------------------------------------------------------------

static talus_status shape_fill(const maker* m, overlap_shape* out)
{
    int corners = 0;
    for (int64_t i = 0; i < m->cell.count; i++) corners += m->cell.row[i].count;
    out->cell_count = (int)m->cell.count;
    out->corner_count = corners;
    out->radius = m->radius;
    out->first = malloc(((size_t)out->cell_count + 1) * sizeof *out->first);
    out->part = malloc((size_t)out->cell_count * sizeof *out->part);
    out->order = malloc((size_t)out->cell_count * sizeof *out->order);
    out->number = malloc((size_t)overlap_size(out) * sizeof *out->number);
    if (!out->first || !out->part || !out->order || !out->number) return TALUS_ERR_MEMORY;
    int at = 0;
    for (int i = 0; i < out->cell_count; i++) {
        const polygon* cell = &m->cell.row[i];
        out->first[i] = at;
        out->part[i] = cell->part;
        out->order[i] = i > 0 && out->part[i - 1] == cell->part ? out->order[i - 1] + 1 : 0;
        for (int k = 0; k < cell->count; k++, at++) {
            out->number[2 * at] = cell->corner[k].x;
            out->number[2 * at + 1] = cell->corner[k].y;
        }
    }
    out->first[out->cell_count] = at;
    return shape_seams(out);
}

static talus_status make_cells(maker* m, const polytope* part, int part_count, double skin,
                               overlap_shape* out)
{
    for (int i = 0; i < part_count; i++) TRY(part_add(m, &part[i], skin, i));
    for (int i = 0; i < part_count; i++) TRY(cells_of_part(m, i));
    return shape_fill(m, out);
}

talus_status overlap_shape_make(const polytope* part, int part_count, double skin,
                                overlap_shape* out, talus_error* error)
{
    maker m = {.room = 0};
    *out = (overlap_shape){0};
    const talus_status status = make_cells(&m, part, part_count, skin, out);
    polygons_free(&m.part);
    polygons_free(&m.cell);
    polygons_free(&m.now);
    polygons_free(&m.next);
    for (int k = 0; k < 3; k++) free(m.buffer[k]);
    free(m.height);
    if (status >= 0) return TALUS_OK;
    overlap_shape_free(out);
    return error_memory(error, "cutting a solid into cells");
}
