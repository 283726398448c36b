/// The grains' field table, and adding, finding and dropping grains.
///
/// Mass properties: disk m = rho pi R^2, I = m R^2 / 2; sphere m = rho 4/3 pi R^3, I = 2/5 m R^2.
#include "body/grains.h"

#include "base/error.h"
#include "base/vec.h"

#include <math.h>

#define GRAIN_COLUMN(member, type, width, flags, unit, doc)                                        \
    {                                                                                              \
#member, offsetof(grains, member), type, width, flags, unit, doc                           \
    }

static const column grain_table[] = {
    GRAIN_COLUMN(id, COLUMN_I64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                 "identity, ascending, never reused"),
    GRAIN_COLUMN(position, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "m",
                 "centre, inside the periodic cell"),
    GRAIN_COLUMN(velocity, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "m/s",
                 "velocity of the centre"),
    GRAIN_COLUMN(spin, COLUMN_F64, WIDTH_SPIN, COLUMN_FRAME | COLUMN_STATE, "rad/s",
                 "angular velocity"),
    GRAIN_COLUMN(rotation, COLUMN_F64, WIDTH_ROTATION, COLUMN_FRAME | COLUMN_STATE, "",
                 "orientation: angle in rad (2D) or quaternion w x y z (3D)"),
    GRAIN_COLUMN(radius, COLUMN_F64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "m", "radius"),
    GRAIN_COLUMN(mass, COLUMN_F64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "kg", "mass"),
    GRAIN_COLUMN(inertia, COLUMN_F64, WIDTH_1, COLUMN_STATE, "kg m^2", "moment of inertia"),
    GRAIN_COLUMN(inv_mass, COLUMN_F64, WIDTH_1, COLUMN_STATE, "1/kg",
                 "inverse mass, 0 unless free"),
    GRAIN_COLUMN(spin_mobility, COLUMN_F64, WIDTH_1, COLUMN_STATE, "1/kg",
                 "R^2/I, 0 unless free to rotate"),
    GRAIN_COLUMN(force, COLUMN_F64, WIDTH_DIM, COLUMN_STATE, "N", "external force"),
    GRAIN_COLUMN(torque, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE, "N m", "external torque"),
    GRAIN_COLUMN(glue_position, COLUMN_F64, WIDTH_3, COLUMN_STATE, "m",
                 "position in the frame of the wall it is glued to"),
    GRAIN_COLUMN(glue_rotation, COLUMN_F64, WIDTH_4, COLUMN_STATE, "",
                 "orientation in the frame of that wall"),
    GRAIN_COLUMN(material, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "", "material index"),
    GRAIN_COLUMN(glued_to, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                 "wall it moves with, -1 free, -2 fixed"),
    GRAIN_COLUMN(tag, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "", "user's label"),
    GRAIN_COLUMN(image, COLUMN_I32, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "",
                 "times it crossed the periodic cell, per axis"),
};
enum { GRAIN_COLUMNS = sizeof grain_table / sizeof grain_table[0] };

const column* grains_columns(int* count_out)
{
    *count_out = GRAIN_COLUMNS;
    return grain_table;
}

void grains_init(grains* g, int dim)
{
    *g = (grains){.dim = dim};
}

void grains_free(grains* g)
{
    columns_free(g, grain_table, GRAIN_COLUMNS);
    g->count = g->capacity = 0;
}

static double ball_mass(int dim, double density, double radius)
{
    double volume = dim == 2 ? M_PI * radius * radius : 4.0 / 3.0 * M_PI * pow(radius, 3);
    return density * volume;
}

static talus_status grain_check(const talus_grain_def* def, talus_error* error)
{
    if (!(def->radius > 0.0) || !isfinite(def->radius)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "grain: radius must be positive, got %g",
                         def->radius);
    }
    if (def->mass < 0.0 || !isfinite(def->mass)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "grain: mass must not be negative, got %g",
                         def->mass);
    }
    if (def->mass == 0.0 && (!(def->density > 0.0) || !isfinite(def->density))) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "grain: density must be positive when no mass is given, got %g",
                         def->density);
    }
    if (!vec_finite(3, def->position) || !vec_finite(3, def->velocity) ||
        !vec_finite(3, def->spin) || !vec_finite(3, def->rotation) || !vec_finite(3, def->force) ||
        !vec_finite(3, def->torque)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "grain: position, velocity, spin, rotation, force and torque must be "
                         "finite numbers");
    }
    return TALUS_OK;
}

/// In 2D the axial vectors have one component: that about z.
static void set_axial(int dim, double* row, const double from[3])
{
    if (dim == 2) {
        row[0] = from[2];
    } else {
        vec_copy(3, row, from);
    }
}

/// Mass and moment of inertia, which must have inverses: a size far from all others' can overflow.
static talus_status mass_properties(int dim, const talus_grain_def* def, double* mass,
                                    double* inertia, talus_error* error)
{
    *mass = def->mass > 0.0 ? def->mass : ball_mass(dim, def->density, def->radius);
    *inertia = (dim == 2 ? 0.5 : 0.4) * *mass * def->radius * def->radius;
    if (isnormal(*mass) && isnormal(*inertia) && isnormal(1.0 / *mass)) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "grain: a radius of %g gives a mass of %g and a moment of inertia of %g, out "
                     "of the range of numbers",
                     def->radius, *mass, *inertia);
}

talus_status grains_add(grains* g, const talus_grain_def* def, int64_t* id, talus_error* error)
{
    double mass, inertia;
    TRY(grain_check(def, error));
    TRY(mass_properties(g->dim, def, &mass, &inertia, error));
    if (columns_reserve(g, grain_table, GRAIN_COLUMNS, g->dim, g->count + 1, &g->capacity)) {
        return error_memory(error, "adding a grain");
    }
    const int dim = g->dim;
    const int64_t i = g->count++;
    const int spin_dim = dim == 2 ? 1 : 3;

    g->id[i] = g->next_id++;
    vec_copy(dim, g->position + i * dim, def->position);
    vec_copy(dim, g->velocity + i * dim, def->velocity);
    vec_copy(dim, g->force + i * dim, def->force);
    set_axial(dim, g->spin + i * spin_dim, def->spin);
    set_axial(dim, g->torque + i * spin_dim, def->torque);
    if (dim == 2) {
        g->rotation[i] = def->rotation[2];
    } else {
        quat_from_rotation(g->rotation + 4 * i, def->rotation);
    }
    for (int k = 0; k < dim; k++) g->image[i * dim + k] = 0;

    g->radius[i] = def->radius;
    g->mass[i] = mass;
    g->inertia[i] = inertia;
    g->glued_to[i] = def->glued_to >= 0 ? def->glued_to : def->fixed ? GRAIN_FIXED : GRAIN_FREE;
    bool free = g->glued_to[i] == GRAIN_FREE;
    if (!free) { // fixed grains stand still, glued ones get their wall's motion
        for (int k = 0; k < dim; k++) g->velocity[i * dim + k] = 0.0;
        for (int k = 0; k < spin_dim; k++) g->spin[i * spin_dim + k] = 0.0;
    }
    g->inv_mass[i] = free ? 1.0 / g->mass[i] : 0.0;
    g->spin_mobility[i] =
        free && !def->locked_rotation ? def->radius * def->radius / g->inertia[i] : 0.0;
    g->material[i] = def->material;
    g->tag[i] = def->tag;
    if (id) *id = g->id[i];
    return TALUS_OK;
}

int64_t grains_find(const grains* g, int64_t id)
{
    int64_t low = 0, high = g->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->id[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < g->count && g->id[low] == id ? low : -1;
}

void grains_compact(grains* g, const uint8_t* keep)
{
    g->count = columns_compact(g, grain_table, GRAIN_COLUMNS, g->dim, g->count, keep);
}

double grains_kinetic_energy(const grains* g)
{
    const int dim = g->dim, spin_dim = dim == 2 ? 1 : 3;
    double energy = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        const double* v = g->velocity + i * dim;
        const double* w = g->spin + i * spin_dim;
        energy +=
            0.5 * g->mass[i] * vec_dot(dim, v, v) + 0.5 * g->inertia[i] * vec_dot(spin_dim, w, w);
    }
    return energy;
}

/// Mean of a column over the free grains, over all if none is free, 1 if there are none.
static double mean_over_free(const grains* g, const double* values)
{
    double sum = 0.0, sum_all = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < g->count; i++) {
        sum_all += values[i];
        if (g->glued_to[i] != GRAIN_FREE) continue;
        sum += values[i];
        count++;
    }
    if (count > 0) return sum / (double)count;
    return g->count > 0 ? sum_all / (double)g->count : 1.0;
}

double grains_mean_diameter(const grains* g)
{
    return g->count > 0 ? 2.0 * mean_over_free(g, g->radius) : 1.0;
}

double grains_mean_mass(const grains* g)
{
    return mean_over_free(g, g->mass);
}
