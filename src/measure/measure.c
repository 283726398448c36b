/// Coordination, momentum and potential energy of a world.
#include "base/error.h"
#include "base/vec.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <talus/measure.h>

talus_region talus_region_default(void)
{
    return (talus_region){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
}

void talus_measure_momentum(const talus_world* world, double momentum[3])
{
    const grains* g = &world->grains;
    const walls* w = &world->walls;
    for (int k = 0; k < 3; k++) momentum[k] = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        vec_add_scaled(g->dim, momentum, g->mass[i], g->velocity + i * g->dim);
    }
    for (int i = 0; i < (int)w->count; i++) {
        if (!w->present[i] || !wall_is_mobile(w, i)) continue;
        vec_add_scaled(3, momentum, w->record[i].drive.mass, w->velocity + 3 * i);
    }
}

double talus_measure_potential_energy(const talus_world* world)
{
    const grains* g = &world->grains;
    double energy = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        double x[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < g->dim; k++) {
            x[k] = g->position[i * g->dim + k] + g->image[i * g->dim + k] * world->cell.length[k];
        }
        energy -= g->mass[i] * vec_dot(3, world->def.gravity, x);
    }
    return energy;
}

/// Least force of a contact that counts: `threshold` of the mean over active contacts.
static double least_force(const contacts* c, double threshold)
{
    double sum = 0.0;
    int64_t active = 0;
    for (int64_t i = 0; i < c->count; i++) {
        sum += vec_norm(c->dim, c->force + i * c->dim);
        active += c->state[i] != TALUS_CONTACT_OPEN;
    }
    return active > 0 ? threshold * sum / (double)active : 0.0;
}

static bool is_strong(const contacts* c, int64_t i, double least)
{
    return c->state[i] != TALUS_CONTACT_OPEN && vec_norm(c->dim, c->force + i * c->dim) > least;
}

/// Contacts that count, marked. Returns NULL without memory.
static uint8_t* strong_contacts(const contacts* c, double threshold)
{
    uint8_t* strong = malloc((size_t)c->count + 1);
    if (!strong) return NULL;
    double least = least_force(c, threshold);
    for (int64_t i = 0; i < c->count; i++) strong[i] = is_strong(c, i, least);
    return strong;
}

double talus_measure_contacts_per_grain(const talus_world* world, double threshold)
{
    const contacts* c = &world->contacts;
    const grains* g = &world->grains;
    double least = least_force(c, threshold);
    int64_t ends = 0, free_grains = 0;
    for (int64_t i = 0; i < c->count; i++) {
        if (!is_strong(c, i, least)) continue;
        int32_t a = c->a_row[i], b = c->b_row[i];
        ends += g->glued_to[b] == GRAIN_FREE;
        ends += a >= 0 && g->glued_to[a] == GRAIN_FREE;
    }
    for (int64_t i = 0; i < g->count; i++) free_grains += g->glued_to[i] == GRAIN_FREE;
    return free_grains > 0 ? (double)ends / (double)free_grains : 0.0;
}

/// Contacts of each grain over contacts whose free partners are not rattlers.
static void count_contacts(const talus_world* world, const uint8_t* strong, const uint8_t* rattler,
                           int32_t* degree)
{
    const contacts* c = &world->contacts;
    for (int64_t i = 0; i < world->grains.count; i++) degree[i] = 0;
    for (int64_t i = 0; i < c->count; i++) {
        int32_t a = c->a_row[i], b = c->b_row[i];
        if (!strong[i] || rattler[b] || (a >= 0 && rattler[a])) continue;
        degree[b]++;
        if (a >= 0) degree[a]++;
    }
}

static double mean_degree(const grains* g, const int32_t* degree, const uint8_t* rattler)
{
    int64_t sum = 0, count = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE || rattler[i]) continue;
        sum += degree[i];
        count++;
    }
    return count > 0 ? (double)sum / (double)count : 0.0;
}

talus_status talus_measure_coordination(const talus_world* world, double threshold, bool frictional,
                                        talus_coordination* out, talus_error* error)
{
    const grains* g = &world->grains;
    const int needed = frictional ? 2 : g->dim + 1;
    *out = (talus_coordination){0};
    uint8_t* strong = strong_contacts(&world->contacts, threshold);
    uint8_t* rattler = calloc((size_t)g->count + 1, 1);
    int32_t* degree = malloc(sizeof *degree * ((size_t)g->count + 1));
    talus_status status = TALUS_OK;
    if (strong && rattler && degree) {
        count_contacts(world, strong, rattler, degree);
        out->all = mean_degree(g, degree, rattler);
        bool changed = true;
        while (changed) { // a grain that leaned on a rattler may become one
            changed = false;
            for (int64_t i = 0; i < g->count; i++) {
                if (g->glued_to[i] != GRAIN_FREE || rattler[i] || degree[i] >= needed) continue;
                rattler[i] = 1;
                out->rattlers++;
                changed = true;
            }
            count_contacts(world, strong, rattler, degree);
        }
        out->backbone = mean_degree(g, degree, rattler);
    } else {
        status = error_memory(error, "measuring the coordination");
    }
    free(strong);
    free(rattler);
    free(degree);
    return status;
}
