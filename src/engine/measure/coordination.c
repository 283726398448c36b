/// Coordination: contacts per grain, with and without the grains that hang loose.
#include "base/error.h"
#include "base/vec.h"
#include "measure/contact_filter.h"

#include <stdlib.h>

static bool is_strong(const contacts* c, int64_t i, double least)
{
    return c->state[i] != TALUS_CONTACT_OPEN && vec_norm(c->dim, c->force + i * c->dim) > least;
}

double talus_measure_contacts_per_grain(const talus_world* world, double threshold)
{
    const contacts* c = &world->state.contacts;
    const grains* g = &world->state.grains;
    double least = contact_least_force(c, threshold);
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
    const contacts* c = &world->state.contacts;
    for (int64_t i = 0; i < world->state.grains.count; i++) degree[i] = 0;
    for (int64_t i = 0; i < c->count; i++) {
        int32_t a = c->a_row[i], b = c->b_row[i];
        if (!strong[i] || rattler[b] || (a >= 0 && rattler[a])) continue;
        degree[b]++;
        if (a >= 0) degree[a]++;
    }
}

static double mean_degree(const grains* g, const measure_box* region, const int32_t* degree,
                          const uint8_t* rattler)
{
    int64_t sum = 0, count = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (!measure_box_holds_grain(region, g, i) || rattler[i]) continue;
        sum += degree[i];
        count++;
    }
    return count > 0 ? (double)sum / (double)count : 0.0;
}

talus_status talus_measure_coordination(const talus_world* world, double threshold, bool frictional,
                                        const talus_region* region, talus_coordination* out,
                                        talus_error* error)
{
    const talus_region everywhere = talus_region_default();
    const grains* g = &world->state.grains;
    const int needed = frictional ? 2 : g->dim + 1;
    measure_box box;
    *out = (talus_coordination){0};
    TRY(measure_box_set(world, region ? region : &everywhere, &box, error));
    const contacts* list = &world->state.contacts;
    uint8_t* strong = malloc((size_t)list->count + 1);
    uint8_t* rattler = calloc((size_t)g->count + 1, 1);
    int32_t* degree = malloc(sizeof *degree * ((size_t)g->count + 1));
    talus_status status = TALUS_OK;
    if (strong && rattler && degree) {
        const double least = contact_least_force(list, threshold);
        for (int64_t i = 0; i < list->count; i++) strong[i] = is_strong(list, i, least);
        count_contacts(world, strong, rattler, degree);
        out->all = mean_degree(g, &box, degree, rattler);
        // Rattlers are taken out in turn: a grain that leaned on one may become one.
        for (bool changed = true; changed;) {
            changed = false;
            for (int64_t i = 0; i < g->count; i++) {
                if (g->glued_to[i] != GRAIN_FREE || rattler[i] || degree[i] >= needed) continue;
                rattler[i] = 1;
                changed = true;
            }
            count_contacts(world, strong, rattler, degree);
        }
        out->backbone = mean_degree(g, &box, degree, rattler);
        for (int64_t i = 0; i < g->count; i++) {
            out->rattlers += rattler[i] && measure_box_holds_grain(&box, g, i);
        }
    } else {
        status = error_memory(error, "measuring the coordination");
    }
    free(strong);
    free(rattler);
    free(degree);
    return status;
}
