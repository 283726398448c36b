/// The shapes of a world's grains and walls.
#include "record/shapes.h"

#include "geometry/solid.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/// Sizes of the flat arrays.
typedef struct flat_sizes {
    int64_t parts, vertices, faces, corners;
} flat_sizes;

static flat_sizes measure(const solids* s)
{
    flat_sizes n = {0};
    for (int i = 0; i < s->count; i++) {
        n.parts += s->row[i].part_count;
        for (int p = 0; p < s->row[i].part_count; p++) {
            const polytope* part = &s->row[i].part[p];
            n.vertices += part->vertex_count;
            n.faces += part->dim == 2 ? 1 : part->face_count;
            n.corners += part->dim == 2 ? part->vertex_count : part->face_first[part->face_count];
        }
    }
    return n;
}

/// Append one part behind what `n` counts, and count it.
static void flatten_part(shapes* s, flat_sizes* n, const polytope* part)
{
    const int32_t base = (int32_t)n->vertices;
    memcpy(s->vertex + n->vertices * part->dim, part->vertex,
           sizeof(double) * (size_t)(part->vertex_count * part->dim));
    n->vertices += part->vertex_count;
    if (part->dim == 2) {
        for (int v = 0; v < part->vertex_count; v++) s->loop[n->corners++] = base + v;
        s->loop_first[++n->faces] = (int32_t)n->corners;
    } else {
        for (int f = 0; f < part->face_count; f++) {
            for (int c = part->face_first[f]; c < part->face_first[f + 1]; c++) {
                s->loop[n->corners++] = base + part->face_vertex[c];
            }
            s->loop_first[++n->faces] = (int32_t)n->corners;
        }
    }
    n->parts++;
    s->vertex_first[n->parts] = (int32_t)n->vertices;
    s->face_first[n->parts] = (int32_t)n->faces;
}

static int32_t* offsets(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(int32_t));
}

static double* numbers(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

static bool take_solids(const solids* all, shapes* out)
{
    flat_sizes n = measure(all);
    if (n.corners > INT32_MAX || n.vertices > INT32_MAX) return false;
    const int count = all->count;
    out->name = calloc((size_t)count + 1, sizeof *out->name);
    out->radius = numbers(count);
    out->skin = numbers(count);
    out->volume = numbers(count);
    out->centre = numbers(3 * (int64_t)count);
    out->inertia = numbers(9 * (int64_t)count);
    out->part_first = offsets(count);
    out->vertex_first = offsets(n.parts);
    out->face_first = offsets(n.parts);
    out->loop_first = offsets(n.faces);
    out->loop = offsets(n.corners);
    out->vertex = numbers(n.vertices * out->dim);
    if (!out->name || !out->radius || !out->skin || !out->volume || !out->centre || !out->inertia ||
        !out->part_first || !out->vertex_first || !out->face_first || !out->loop_first ||
        !out->loop || !out->vertex) {
        return false;
    }
    n = (flat_sizes){0};
    for (int i = 0; i < count; i++) {
        const solid* s = &all->row[i];
        out->name[i] = strdup(s->name);
        if (!out->name[i]) return false;
        out->solid_count = i + 1;
        out->radius[i] = s->radius;
        out->skin[i] = s->skin;
        out->volume[i] = s->volume;
        memcpy(out->centre + 3 * i, s->centre, sizeof s->centre);
        memcpy(out->inertia + 9 * i, s->inertia, sizeof s->inertia);
        for (int p = 0; p < s->part_count; p++) flatten_part(out, &n, &s->part[p]);
        out->part_first[i + 1] = (int32_t)n.parts;
    }
    return true;
}

/// Meshes are the only walls with triangles; the others have none.
static bool take_walls(const walls* w, shapes* out)
{
    int64_t total = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const talus_shape_def* shape = &w->record[i].shape;
        total += shape->kind == TALUS_SHAPE_MESH ? shape->triangle_count : 0;
    }
    out->wall = calloc((size_t)w->count + 1, sizeof *out->wall);
    out->triangles = numbers(9 * total);
    if (w->count > INT32_MAX || !out->wall || !out->triangles) return false;
    out->wall_count = (int)w->count;
    double* corner = out->triangles;
    for (int64_t i = 0; i < w->count; i++) {
        talus_shape_def* shape = &out->wall[i];
        *shape = w->record[i].shape;
        if (shape->kind != TALUS_SHAPE_MESH) shape->triangle_count = 0;
        const size_t count = 9 * (size_t)shape->triangle_count;
        if (count > 0) memcpy(corner, shape->triangles, sizeof *corner * count);
        shape->triangles = corner;
        corner += count;
    }
    return true;
}

bool shapes_of_world(const talus_world* world, shapes* out)
{
    *out = (shapes){.dim = world->def.dim};
    return take_solids(&world->state.solids, out) && take_walls(&world->state.walls, out);
}

void shapes_free(shapes* s)
{
    for (int i = 0; s->name && i < s->solid_count; i++) free(s->name[i]);
    free(s->name);
    free(s->radius);
    free(s->skin);
    free(s->volume);
    free(s->centre);
    free(s->inertia);
    free(s->part_first);
    free(s->vertex_first);
    free(s->face_first);
    free(s->loop_first);
    free(s->loop);
    free(s->vertex);
    free(s->wall);
    free(s->triangles);
    *s = (shapes){0};
}
