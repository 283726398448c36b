/// Materials and the symmetric table of pair laws.
#include "state/materials.h"

#include "base/error.h"
#include "base/portable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void materials_free(materials* m)
{
    for (int i = 0; i < m->count; i++) free(m->name[i]);
    free(m->name);
    free(m->pair);
    *m = (materials){0};
}

talus_status materials_copy(materials* to, const materials* from)
{
    const size_t n = (size_t)from->count;
    *to = (materials){0};
    if (n == 0) return TALUS_OK;
    to->name = calloc(n, sizeof *to->name);
    to->pair = malloc(n * n * sizeof *to->pair);
    if (!to->name || !to->pair) return TALUS_ERR_MEMORY;
    memcpy(to->pair, from->pair, n * n * sizeof *to->pair);
    for (; to->count < from->count; to->count++) {
        to->name[to->count] = strdup(from->name[to->count]);
        if (!to->name[to->count]) return TALUS_ERR_MEMORY;
    }
    return TALUS_OK;
}

/// A coefficient with its allowed range.
static talus_status check_range(const char* name, double value, double most, talus_error* error)
{
    if (value >= 0.0 && value <= most && isfinite(value)) return TALUS_OK;
    if (most < INFINITY) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "material: %s must be a number from 0 to %g, got %g", name, most, value);
    }
    return error_set(error, TALUS_ERR_ARGUMENT, "material: %s must be a number >= 0, got %g", name,
                     value);
}

static talus_status pair_check(const talus_pair_def* pair, talus_error* error)
{
    TRY(check_range("friction", pair->friction, INFINITY, error));
    TRY(check_range("dynamic friction", pair->dynamic_friction, pair->friction, error));
    TRY(check_range("restitution", pair->restitution, 1.0, error));
    TRY(check_range("tangential restitution", pair->tangential_restitution, 1.0, error));
    TRY(check_range("rolling friction", pair->rolling, INFINITY, error));
    TRY(check_range("torsion friction", pair->torsion, INFINITY, error));
    TRY(check_range("cohesion force", pair->cohesion_force, INFINITY, error));
    TRY(check_range("cohesion energy", pair->cohesion_energy, INFINITY, error));
    TRY(check_range("stiffness", pair->soft.stiffness, INFINITY, error));
    TRY(check_range("stiffness ratio", pair->soft.stiffness_ratio, INFINITY, error));
    TRY(check_range("damping", pair->soft.damping, INFINITY, error));
    TRY(check_range("damping ratio", pair->soft.damping_ratio, INFINITY, error));
    TRY(check_range("Young's modulus", pair->soft.young, INFINITY, error));
    TRY(check_range("Poisson's ratio", pair->soft.poisson, 0.5, error));
    if (pair->cohesion_energy > 0.0 && pair->cohesion_force == 0.0) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "material: a cohesion energy needs a cohesion force");
    }
    return TALUS_OK;
}

/// Stiffness of a contact whose halves are as stiff as those of two other ones; 0 if either is.
static double in_series(double a, double b)
{
    return a > 0.0 && b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;
}

double pair_damping(const talus_pair_def* pair)
{
    if (pair->soft.damping > 0.0) return pair->soft.damping;
    if (pair->restitution <= 0.0) return 1.0;
    const double decay = portable_log(pair->restitution);
    return -decay / sqrt(M_PI * M_PI + decay * decay);
}

/// Rolling coefficients of different kinds cannot be compared: then there is none. Two bodies with
/// the Young's modulus of the mixture meet as those of both materials do: with Hertz's
/// 1/E* = (1 - p_a^2)/E_a + (1 - p_b^2)/E_b.
talus_pair_def pair_mixture(const talus_pair_def* a, const talus_pair_def* b)
{
    bool same_kind = a->rolling_kind == b->rolling_kind;
    const talus_soft_pair_def *s = &a->soft, *t = &b->soft;
    const double poisson = 0.5 * (s->poisson + t->poisson);
    const double plane_a = s->young / (1.0 - s->poisson * s->poisson);
    const double plane_b = t->young / (1.0 - t->poisson * t->poisson);
    return (talus_pair_def){
        .mark = a->mark,
        .friction = fmin(a->friction, b->friction),
        .dynamic_friction = fmin(pair_sliding_friction(a), pair_sliding_friction(b)),
        .restitution = fmin(a->restitution, b->restitution),
        .tangential_restitution = fmin(a->tangential_restitution, b->tangential_restitution),
        .rolling_kind = a->rolling_kind,
        .rolling = same_kind ? fmin(a->rolling, b->rolling) : 0.0,
        .torsion = same_kind ? fmin(a->torsion, b->torsion) : 0.0,
        .cohesion_force = fmin(a->cohesion_force, b->cohesion_force),
        .cohesion_energy = fmin(a->cohesion_energy, b->cohesion_energy),
        .soft = {.stiffness = in_series(s->stiffness, t->stiffness),
                 .stiffness_ratio = fmin(s->stiffness_ratio, t->stiffness_ratio),
                 .damping = s->damping > 0.0 || t->damping > 0.0
                                ? fmax(pair_damping(a), pair_damping(b))
                                : 0.0,
                 .damping_ratio = fmin(s->damping_ratio, t->damping_ratio),
                 .young = (1.0 - poisson * poisson) * in_series(plane_a, plane_b),
                 .poisson = poisson},
    };
}

double materials_bond_range(const materials* m)
{
    double range = 0.0;
    for (int i = 0; i < m->count * m->count; i++) range = fmax(range, pair_bond_range(&m->pair[i]));
    return range;
}

talus_status materials_add(materials* m, const char* name, const talus_pair_def* self, int* index,
                           talus_error* error)
{
    TRY(pair_check(self, error));
    const int n = m->count;
    const size_t wider = (size_t)n + 1;
    char** names = realloc(m->name, wider * sizeof *names);
    if (!names) return error_memory(error, "adding a material");
    m->name = names;
    talus_pair_def* table = malloc(wider * wider * sizeof *table);
    char* copy = strdup(name ? name : "");
    if (!table || !copy) {
        free(table);
        free(copy);
        return error_memory(error, "adding a material");
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) table[a * (n + 1) + b] = m->pair[a * n + b];
        talus_pair_def mixed = pair_mixture(&m->pair[a * n + a], self);
        table[a * (n + 1) + n] = table[n * (n + 1) + a] = mixed;
    }
    table[n * (n + 1) + n] = *self;
    free(m->pair);
    m->pair = table;
    m->name[n] = copy;
    m->count = n + 1;
    if (index) *index = n;
    return TALUS_OK;
}

talus_status materials_check_pair(const materials* m, int a, int b, talus_error* error)
{
    if (a >= 0 && b >= 0 && a < m->count && b < m->count) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "material: there is no pair (%d, %d)", a, b);
}

talus_status materials_set_pair(materials* m, int a, int b, const talus_pair_def* pair,
                                talus_error* error)
{
    TRY(materials_check_pair(m, a, b, error));
    TRY(pair_check(pair, error));
    m->pair[a * m->count + b] = m->pair[b * m->count + a] = *pair;
    return TALUS_OK;
}
