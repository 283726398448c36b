/// A deep check of a world's data, for tests and debugging.
#include "base/error.h"
#include "base/vec.h"
#include "world/world.h"

#include <math.h>

static talus_status validate_grains(const talus_world* w, talus_error* error)
{
    const grains* g = &w->state.grains;
    for (int64_t i = 0; i < g->count; i++) {
        if (i > 0 && g->id[i] <= g->id[i - 1]) {
            return error_set(error, TALUS_ERR_STATE, "grain ids do not ascend at row %lld",
                             (long long)i);
        }
        if (g->id[i] >= g->next_id || !(g->radius[i] > 0.0) || !(g->mass[i] > 0.0)) {
            return error_set(error, TALUS_ERR_STATE, "grain %lld has a bad id, radius or mass",
                             (long long)g->id[i]);
        }
        for (int k = 0; k < g->dim; k++) {
            double x = g->position[i * g->dim + k];
            bool outside =
                w->state.cell.periodic[k] &&
                (x < w->state.cell.low[k] || x >= w->state.cell.low[k] + w->state.cell.length[k]);
            if (!isfinite(x) || !isfinite(g->velocity[i * g->dim + k]) || outside) {
                return error_set(error, TALUS_ERR_STATE,
                                 "grain %lld has a bad position or velocity", (long long)g->id[i]);
            }
        }
        bool free = g->glued_to[i] == GRAIN_FREE;
        if (free != (g->inv_mass[i] > 0.0) || g->material[i] >= w->state.materials.count) {
            return error_set(error, TALUS_ERR_STATE, "grain %lld has a bad bond or material",
                             (long long)g->id[i]);
        }
    }
    return TALUS_OK;
}

static talus_status validate_contacts(const talus_world* w, talus_error* error)
{
    const contacts* c = &w->state.contacts;
    for (int64_t i = 0; i < c->count; i++) {
        if (i > 0 && contacts_compare(c, i - 1, c, i) >= 0) {
            return error_set(error, TALUS_ERR_STATE, "contacts are not sorted at %lld",
                             (long long)i);
        }
        bool a_good = c->a[i] < 0 ? c->a_row[i] == c->a[i] && -1 - c->a[i] < w->state.walls.count
                                  : grains_find(&w->state.grains, c->a[i]) == c->a_row[i];
        if (!a_good || grains_find(&w->state.grains, c->b[i]) != c->b_row[i]) {
            return error_set(error, TALUS_ERR_STATE, "contact %lld points to a missing body",
                             (long long)i);
        }
        double length = vec_norm(c->dim, c->normal + i * c->dim);
        if (!(fabs(length - 1.0) < 1e-12)) {
            return error_set(error, TALUS_ERR_STATE, "contact %lld has a normal of length %.17g",
                             (long long)i, length);
        }
    }
    return TALUS_OK;
}

talus_status talus_world_validate(const talus_world* world, talus_error* error)
{
    TRY(validate_grains(world, error));
    return validate_contacts(world, error);
}
