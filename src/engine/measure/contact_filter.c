/// Contacts that count, their branch vectors and the parts of their forces.
#include "measure/contact_filter.h"

#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"

#include <math.h>

void talus_measure_default_sized(talus_measure_def* def, size_t size)
{
    talus_measure_def own = {
        .region = talus_region_default(),
        .threshold = 1e-6,
        .boundaries = true,
        .bins = 24,
        .force_most = 6.0,
        .force_least = 1e-3,
        .slack = 0.01,
        .cut = 1.0,
        .axis = {0.0, 0.0, 1.0},
    };
    DEFINITION_GIVE(def, size, own);
}

static talus_status check_number(const char* name, double value, double low, double high,
                                 talus_error* error)
{
    if (value >= low && value <= high && isfinite(value)) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "measure: %s must be from %g to %g, got %g", name,
                     low, high, value);
}

static talus_status check_def(const talus_measure_def* def, talus_error* error)
{
    TRY(check_number("volume", def->volume, 0.0, HUGE_VAL, error));
    TRY(check_number("threshold", def->threshold, 0.0, HUGE_VAL, error));
    TRY(check_number("bins", def->bins, 1, MEASURE_MOST_BINS, error));
    TRY(check_number("force_least", def->force_least, 1e-300, HUGE_VAL, error));
    TRY(check_number("force_most", def->force_most, def->force_least, HUGE_VAL, error));
    TRY(check_number("slack", def->slack, 0.0, 1.0, error));
    TRY(check_number("cut", def->cut, 0.0, HUGE_VAL, error));
    if (def->force_most == def->force_least) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "measure: force_most must be larger than force_least, got %g for both",
                         def->force_most);
    }
    if ((unsigned)def->flow > TALUS_FLOW_GIVEN) {
        return error_set(error, TALUS_ERR_ARGUMENT, "measure: unknown kind of flow %d", def->flow);
    }
    if (!vec_finite(3, def->axis) || !(vec_norm(3, def->axis) > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "measure: the axis must not be zero");
    }
    return TALUS_OK;
}

double contact_least_force(const contacts* list, double threshold)
{
    double sum = 0.0;
    int64_t active = 0;
    for (int64_t i = 0; i < list->count; i++) {
        sum += vec_norm(list->dim, list->force + i * list->dim);
        active += list->state[i] != TALUS_CONTACT_OPEN;
    }
    return active > 0 ? threshold * sum / (double)active : 0.0;
}

talus_status contact_filter_make(const talus_world* world, const talus_measure_def* def,
                                 contact_filter* out, talus_error* error)
{
    TRY(check_def(def, error));
    *out = (contact_filter){.world = world,
                            .list = &world->state.contacts,
                            .least = contact_least_force(&world->state.contacts, def->threshold),
                            .boundaries = def->boundaries};
    return measure_box_set(world, &def->region, &out->region, error);
}

bool contact_counts(const contact_filter* filter, int64_t c)
{
    const contacts* list = filter->list;
    const grains* g = &filter->world->state.grains;
    if (list->state[c] == TALUS_CONTACT_OPEN) return false;
    if (!(vec_norm(list->dim, list->force + c * list->dim) > filter->least)) return false;
    if (!filter->boundaries &&
        (!contact_is_free(g, list->a_row[c]) || !contact_is_free(g, list->b_row[c])))
        return false;
    return measure_box_holds(&filter->region, list->point + c * list->dim);
}

// ---- one contact -------------------------------------------------------------------------------

/// Add the vector from the contact point to the centre of a free grain, `sign` times.
static void add_arm(const talus_world* world, int32_t row, const double* point, double sign,
                    double* branch)
{
    const int dim = world->state.grains.dim;
    double arm[3];
    if (!contact_is_free(&world->state.grains, row)) return;
    vec_sub(dim, arm, world->state.grains.position + (int64_t)row * dim, point);
    cell_nearest(&world->state.cell, dim, arm);
    vec_add_scaled(dim, branch, sign, arm);
}

void contact_branch(const talus_world* world, const contacts* list, int64_t c, double* branch)
{
    const double* point = list->point + c * list->dim;
    for (int k = 0; k < list->dim; k++) branch[k] = 0.0;
    add_arm(world, list->b_row[c], point, 1.0, branch);
    add_arm(world, list->a_row[c], point, -1.0, branch);
}

void contact_branch_start(const talus_world* world, const contacts* list, int64_t c, double* start)
{
    const double* point = list->point + c * list->dim;
    vec_copy(list->dim, start, point);
    add_arm(world, list->a_row[c], point, 1.0, start);
}

double contact_split(const contacts* list, int64_t c, double* tangential)
{
    const int dim = list->dim;
    const double *n = list->normal + c * dim, *f = list->force + c * dim;
    const double normal = vec_dot(dim, f, n);
    vec_copy(dim, tangential, f);
    vec_add_scaled(dim, tangential, -normal, n);
    return normal;
}

const talus_pair_def* contact_pair_of(const talus_world* world, int64_t c)
{
    const int32_t a = world->state.contacts.a_row[c], b = world->state.contacts.b_row[c];
    const int material =
        a < 0 ? world->state.walls.record[-1 - a].material : world->state.grains.material[a];
    return materials_pair(&world->state.materials, material, world->state.grains.material[b]);
}
