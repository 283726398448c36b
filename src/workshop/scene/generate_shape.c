/// Choosing a variant, a size and a rotation for each grain.
///
/// The random key is (seed, source with its top bit set, number of the grain): generators and
/// inlets draw from keys without that bit. A rotation is uniform: in 3D a quaternion uniform on the
/// 3-sphere (Shoemake 1992).
#include "scene/generate_shape.h"

#include <math.h>

#include "base/portable.h"
#include "base/rng.h"
#include "base/vec.h"
#include "scene/generate_region.h"

double shape_choice_radius(const shape_choice* c)
{
    double largest = 0.0;
    for (int i = 0; i < c->count; i++) {
        largest = fmax(largest, c->table->solids.row[c->first + i].radius);
    }
    return c->scale > 0.0 ? c->scale * largest : largest;
}

double shape_choice_fill(const shape_choice* c, int dim)
{
    if (!c->table || c->count == 0) return 1.0;
    double largest = shape_choice_radius(c), sum = 0.0;
    for (int i = 0; i < c->count; i++) {
        const solid* s = &c->table->solids.row[c->first + i];
        double volume = c->scale > 0.0 ? s->volume * portable_pow(c->scale, dim) : s->volume;
        sum += volume / generate_ball_volume(dim, c->scale > 0.0 ? largest : s->radius);
    }
    return sum / c->count;
}

void rotation_from_quat(const double q[4], double rotation[3])
{
    double sine = vec_norm(3, q + 1);
    double angle = 2.0 * portable_atan2(sine, q[0]);
    double factor = sine > 0.0 ? angle / sine : 0.0;
    for (int k = 0; k < 3; k++) rotation[k] = factor * q[k + 1];
}

static void draw_rotation(int dim, rng* r, double rotation[3])
{
    double a = rng_uniform(r);
    double b = 2.0 * M_PI * rng_uniform(r), c = 2.0 * M_PI * rng_uniform(r);
    if (dim == 2) {
        rotation[0] = rotation[1] = 0.0;
        rotation[2] = 2.0 * M_PI * a;
        return;
    }
    double s = sqrt(1.0 - a), t = sqrt(a);
    const double q[4] = {t * portable_cos(c), s * portable_sin(b), s * portable_cos(b),
                         t * portable_sin(c)};
    rotation_from_quat(q, rotation);
}

void shape_choice_apply(const shape_choice* c, int dim, uint64_t seed, uint64_t source,
                        uint64_t number, talus_grain_def* g)
{
    if (!c->table || c->count == 0) return;
    rng r = rng_make(seed, source | UINT64_C(1) << 63, number);
    g->solid.index = c->first + (c->count > 1 ? (int)rng_below(&r, (uint64_t)c->count) : 0);
    double radius = c->table->solids.row[g->solid.index].radius;
    g->scale = c->scale > 0.0 ? c->scale : g->radius / radius;
    g->radius = g->scale * radius;
    if (c->any_rotation)
        draw_rotation(dim, &r, g->rotation);
    else
        vec_copy(3, g->rotation, c->rotation);
}

double shape_volume(const shape_table* table, int dim, const talus_grain_def* g)
{
    if (!table || g->solid.index < 0) return generate_ball_volume(dim, g->radius);
    return table->solids.row[g->solid.index].volume * portable_pow(g->scale, dim);
}
