/// Turning the solids into place; see poses.h.
#include "detect/poses.h"

#include "base/array.h"
#include "base/vec.h"

#include <stdlib.h>

void poses_free(poses* p)
{
    free(p->first);
    free(p->part);
    free(p->box);
    free(p->pool);
    *p = (poses){0};
}

convex convex_ball(int dim, double radius)
{
    static const double centre[3] = {0.0, 0.0, 0.0};
    return (convex){
        .dim = dim, .vertex_count = 1, .vertex = centre, .skin = radius, .thickness = 2.0 * radius};
}

int64_t convex_size(const polytope* shape)
{
    return (int64_t)(shape->vertex_count + shape->face_count) * shape->dim;
}

static ALWAYS_INLINE void turn_rows(const int dim, const double* from, int count,
                                    const double axes[9], double scale, double* to)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < dim; k++) {
            to[i * dim + k] = scale * vec_dot(dim, axes + 3 * k, from + i * dim);
        }
    }
}

convex convex_turn(const polytope* shape, const double axes[9], double scale, double skin,
                   double* numbers)
{
    const int dim = shape->dim;
    double* normal = numbers + shape->vertex_count * dim;
    if (dim == 2) {
        turn_rows(2, shape->vertex, shape->vertex_count, axes, scale, numbers);
        turn_rows(2, shape->normal, shape->face_count, axes, 1.0, normal);
    } else {
        turn_rows(3, shape->vertex, shape->vertex_count, axes, scale, numbers);
        turn_rows(3, shape->normal, shape->face_count, axes, 1.0, normal);
    }
    return (convex){.shape = shape,
                    .dim = dim,
                    .vertex_count = shape->vertex_count,
                    .vertex = numbers,
                    .normal = normal,
                    .skin = skin};
}

convex convex_of_solid(const solid* s, int part, const double axes[9], double scale,
                       double* numbers)
{
    convex c = convex_turn(&s->part[part], axes, scale, scale * s->skin, numbers);
    c.thickness = scale * s->thinnest;
    return c;
}

convex convex_of_wall(const wall_form* form, int dim, int part)
{
    if (form->kind == FORM_ROUND) return convex_ball(dim, form->skin);
    const polytope* p = &form->part[part];
    return (convex){.shape = p,
                    .dim = dim,
                    .vertex_count = p->vertex_count,
                    .vertex = p->vertex,
                    .normal = p->normal,
                    .skin = form->skin};
}

talus_status poses_update(poses* p, const grains* g)
{
    const int dim = g->dim;
    if (!g->solids || g->solids->count == 0) { // only balls
        poses_free(p);
        return TALUS_OK;
    }
    if (!arrays_renew(&p->grain_capacity, g->count + 1, ARRAY(p->first))) return TALUS_ERR_MEMORY;
    int64_t numbers = 0; // of the corners and normals of all parts
    p->first[0] = 0;
    for (int64_t i = 0; i < g->count; i++) {
        const solid* s = grain_solid(g, i);
        p->first[i + 1] = p->first[i] + (s ? s->part_count : 0);
        for (int k = 0; s && k < s->part_count; k++) numbers += convex_size(&s->part[k]);
    }
    if (!arrays_renew(&p->part_capacity, p->first[g->count], ARRAY(p->part),
                      ROWS(p->box, 2 * dim)) ||
        !arrays_renew(&p->number_capacity, numbers, ARRAY(p->pool))) {
        poses_free(p);
        return TALUS_ERR_MEMORY;
    }
    double* pool = p->pool;
    for (int64_t i = 0; i < g->count; i++) {
        const solid* s = grain_solid(g, i);
        if (!s) continue;
        double axes[9];
        grain_axes(g, i, axes);
        for (int k = 0; k < s->part_count; k++) {
            const int64_t part = p->first[i] + k;
            p->part[part] = convex_of_solid(s, k, axes, g->scale[i], pool);
            const convex* c = &p->part[part];
            double* box = p->box + part * 2 * dim;
            for (int axis = 0; axis < dim; axis++) {
                double low = c->vertex[axis], high = low;
                for (int v = 1; v < c->vertex_count; v++) {
                    const double x = c->vertex[v * dim + axis];
                    low = x < low ? x : low;
                    high = x > high ? x : high;
                }
                box[axis] = low - c->skin;
                box[dim + axis] = high + c->skin;
            }
            pool += convex_size(&s->part[k]);
        }
    }
    return TALUS_OK;
}
