/// Worlds whose contacts are written down by hand, so that what is measured is known beforehand.
#ifndef TALUS_TESTS_MEASURE_WORLDS_H
#define TALUS_TESTS_MEASURE_WORLDS_H

#include "physics.h"

#include "base/vec.h"
#include "world/world.h"

/// Write a contact between grain rows a and b (a < 0: wall -1 - a) into the world's list: the force
/// on b is `normal` along n and the vector `tangential` across it.
static inline int64_t put_contact(talus_world* world, int32_t a, int32_t b, const double* point,
                                  const double* n, double normal, const double* tangential)
{
    contacts* list = &world->state.contacts;
    const int64_t c = list->count;
    const int dim = list->dim;
    assert_int_equal(contacts_resize(list, c + 1), TALUS_OK);
    list->a_row[c] = a;
    list->b_row[c] = b;
    list->a[c] = a < 0 ? a : world->state.grains.id[a];
    list->b[c] = world->state.grains.id[b];
    list->feature[c] = 0;
    list->gap[c] = 0.0;
    list->state[c] = TALUS_CONTACT_STICK;
    list->bonded[c] = 0;
    for (int k = 0; k < dim; k++) {
        list->point[c * dim + k] = point[k];
        list->normal[c * dim + k] = n[k];
        list->force[c * dim + k] = normal * n[k] + (tangential ? tangential[k] : 0.0);
    }
    return c;
}

/// Two balls of radius 1/2 that touch at `point`, the second in the direction n from the first, and
/// their contact.
static inline int64_t put_pair(talus_world* world, const double* point, const double* n,
                               double normal, const double* tangential)
{
    double x[2][3] = {{0}};
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < world->state.grains.dim; k++) {
            x[side][k] = point[k] + (side == 0 ? -0.5 : 0.5) * n[k];
        }
        talus_grain_def def = physics_ball(0.5, 1.0, x[side][0], x[side][1], x[side][2]);
        physics_add(world, &def);
    }
    const int32_t b = (int32_t)world->state.grains.count - 1;
    return put_contact(world, b - 1, b, point, n, normal, tangential);
}

/// Contacts of force 1 between all balls that touch, nearest images included.
static inline void put_touching(talus_world* world)
{
    const grains* g = &world->state.grains;
    for (int32_t a = 0; a < g->count; a++) {
        for (int32_t b = a + 1; b < g->count; b++) {
            double d[3], n[3], point[3];
            vec_sub(g->dim, d, g->position + b * g->dim, g->position + a * g->dim);
            cell_nearest(&world->state.cell, g->dim, d);
            const double distance = vec_norm(g->dim, d);
            if (distance > (1 + 1e-9) * (g->radius[a] + g->radius[b])) continue;
            for (int k = 0; k < g->dim; k++) {
                n[k] = d[k] / distance;
                point[k] = g->position[a * g->dim + k] + g->radius[a] * n[k];
            }
            put_contact(world, a, b, point, n, 1.0, NULL);
        }
    }
}

/// An empty world; length > 0 makes it periodic along all axes.
static inline talus_world* empty_world(int dim, double length_x, double length_y, double length_z)
{
    talus_world_def def = physics_def(dim);
    const double length[3] = {length_x, length_y, length_z};
    for (int k = 0; k < dim; k++) {
        def.periodic[k] = length[k] > 0.0;
        def.cell_high[k] = length[k];
    }
    return physics_world(&def, 0.5);
}

static const double ROUNDING = 1e-13;

#endif
