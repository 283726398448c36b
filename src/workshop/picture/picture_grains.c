/// Grains in a picture: disks and polygons, or balls and polyhedra seen from afar, the nearest
/// last.
#include "base/array.h"
#include "base/vec.h"
#include "picture/picture.h"
#include "world/world.h"

#include <stdlib.h>

/// A grain, or a face of one, in order of depth.
typedef struct seen {
    double depth;
    int64_t grain;
    int32_t part, face; ///< of a solid in 3D; -1: the whole grain
} seen;

typedef struct seen_list {
    int64_t count, capacity;
    seen* row;
} seen_list;

static int by_depth(const void* a, const void* b)
{
    const seen *p = a, *q = b;
    if (p->depth != q->depth) return p->depth < q->depth ? -1 : 1;
    if (p->grain != q->grain) return p->grain < q->grain ? -1 : 1;
    if (p->part != q->part) return p->part < q->part ? -1 : 1;
    return (p->face > q->face) - (p->face < q->face);
}

static void place(const talus_grains* g, int64_t i, const double* local, double out[3])
{
    double scaled[3] = {0};
    for (int k = 0; k < g->dim; k++) scaled[k] = g->scale[i] * local[k];
    if (g->dim == 3) {
        quat_rotate(out, g->rotation + 4 * i, scaled);
    } else {
        const double c = cos(g->rotation[i]), s = sin(g->rotation[i]);
        out[0] = c * scaled[0] - s * scaled[1];
        out[1] = s * scaled[0] + c * scaled[1];
    }
    vec_add_scaled(g->dim, out, 1.0, g->position + g->dim * i);
}

/// Colour of a grain; far ones fade.
static rgb colour_of_grain(const picture_maker* m, int64_t i, double depth)
{
    rgb colour = {0.80, 0.84, 0.88};
    if (m->def->value) {
        const span* s = &m->out->value;
        colour = colour_of_map(m->def->map, (m->def->value[i] - s->low) / (s->high - s->low));
    } else if (m->def->grain_colour) {
        const rgb white = {1.0, 1.0, 1.0};
        colour = colour_mix(colour_of_palette(m->def->grain_colour[i]), white, 0.5);
    } else if (m->def->forces) {
        colour = (rgb){0.93, 0.93, 0.93};
    }
    if (m->view.dim == 2) return colour;
    const double range = m->view.depth.high - m->view.depth.low;
    const double behind = range > 0.0 ? (m->view.depth.high - depth) / range : 0.0;
    return colour_mix(colour, (rgb){1.0, 1.0, 1.0}, m->def->fade * behind);
}

static void add_ball(picture_maker* m, const talus_grains* g, int64_t i)
{
    const double* at = g->position + g->dim * i;
    if (!vec_finite(g->dim, at)) return;
    double* points;
    piece* p = picture_add(m, PIECE_CIRCLE, 1, &points);
    if (!p) return;
    view_point(&m->view, at, points);
    p->size = g->radius[i];
    p->filled = p->edged = true;
    p->ball = g->dim == 3;
    p->colour = colour_of_grain(m, i, view_depth(&m->view, at));
    picture_hold(m, p);
}

/// A polygon of corners of a part; `loop` NULL: all of them in order.
static piece* add_polygon(picture_maker* m, const talus_grains* g, int64_t i, const polytope* part,
                          const int32_t* loop, int32_t count, rgb colour)
{
    double* points;
    piece* p = picture_add(m, PIECE_POLYGON, count, &points);
    if (!p) return NULL;
    for (int32_t k = 0; k < count; k++) {
        double at[3];
        place(g, i, part->vertex + part->dim * (loop ? loop[k] : k), at);
        view_point(&m->view, at, points + 2 * k);
    }
    p->filled = p->edged = true;
    p->colour = colour;
    picture_hold(m, p);
    return p;
}

/// Direction towards the eye and depth of a face. Returns the cosine between both.
static double face_depth(const picture_maker* m, const talus_grains* g, int64_t i,
                         const polytope* part, int face, double* depth)
{
    double normal[3], sum = 0.0;
    quat_rotate(normal, g->rotation + 4 * i, part->normal + 3 * face);
    const int32_t first = part->face_first[face], end = part->face_first[face + 1];
    for (int32_t k = first; k < end; k++) {
        double at[3];
        place(g, i, part->vertex + 3 * part->face_vertex[k], at);
        sum += view_depth(&m->view, at);
    }
    *depth = sum / (end - first);
    return view_depth(&m->view, normal);
}

static void add_seen(picture_maker* m, const talus_grains* g, const seen* s)
{
    const int64_t i = s->grain;
    if (g->solid[i].index < 0) {
        add_ball(m, g, i);
        return;
    }
    const solid* shape = &m->world->state.solids.row[g->solid[i].index];
    const rgb colour = colour_of_grain(m, i, s->depth), dark = {0.0, 0.0, 0.0};
    if (g->dim == 3) {
        const polytope* part = &shape->part[s->part];
        double depth;
        const double cosine = face_depth(m, g, i, part, s->face, &depth);
        const int32_t first = part->face_first[s->face];
        add_polygon(m, g, i, part, part->face_vertex + first, part->face_first[s->face + 1] - first,
                    colour_mix(colour, dark, 0.45 * (1.0 - cosine)));
        return;
    }
    for (int k = 0; k < shape->part_count; k++) {
        piece* p = add_polygon(m, g, i, &shape->part[k], NULL, shape->part[k].vertex_count, colour);
        if (p) p->joined = k > 0;
    }
}

static void list_add(picture_maker* m, seen_list* list, seen s)
{
    if (m->failed || !isfinite(s.depth)) return;
    if (!arrays_grow(&list->capacity, list->count + 1, ARRAY(list->row))) {
        m->failed = true;
        return;
    }
    list->row[list->count++] = s;
}

void picture_grains(picture_maker* m)
{
    const talus_grains g = talus_world_grains(m->world);
    seen_list list = {0};
    for (int64_t i = 0; i < g.count; i++) {
        if (picture_hides(m, i)) continue;
        if (g.dim == 2 || g.solid[i].index < 0) {
            list_add(m, &list, (seen){view_depth(&m->view, g.position + g.dim * i), i, -1, -1});
            continue;
        }
        // The faces of a polyhedron that look towards the eye.
        const solid* shape = &m->world->state.solids.row[g.solid[i].index];
        for (int part = 0; part < shape->part_count; part++) {
            for (int face = 0; face < shape->part[part].face_count; face++) {
                double depth;
                if (face_depth(m, &g, i, &shape->part[part], face, &depth) <= 0.0) continue;
                list_add(m, &list, (seen){depth, i, part, face});
            }
        }
    }
    if (g.dim == 3 && list.count > 1) {
        qsort(list.row, (size_t)list.count, sizeof *list.row, by_depth);
    }
    for (int64_t i = 0; i < list.count; i++) add_seen(m, &g, &list.row[i]);
    free(list.row);
}
