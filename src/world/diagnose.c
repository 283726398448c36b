/// Live diagnostics from the theory of incomplete convergence (UK section 5; UBWK; physics.md 4).
///
/// N_I sweeps carry force information l_diff = d sqrt(4 q N_I), q = (4 sqrt(e) - 5)/2 for random
/// sweeps; a packing of extent L > l_diff answers like springs of stiffness kappa = q m N_I / h^2.
/// The natural-map residual sees an error on the scale L only with weight (d/L)^2
/// (shared/spec/solver.md, finding 1), so residual * (L/d)^2 estimates the relative force error.
/// L is the longest extent of a cluster of grains joined by contacts that carry force.
#include "world/diagnose.h"

#include "base/vec.h"
#include "detect/narrow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// A large-scale force error above this makes a run soft.
static const double SOFT_FORCE_ERROR = 0.1;

void clusters_free(clusters* c)
{
    free(c->parent);
    free(c->low);
    free(c->high);
    *c = (clusters){0};
}

static bool clusters_reserve(clusters* c, int64_t count, int dim)
{
    if (count <= c->capacity) return true;
    int64_t grown = count + count / 4 + 16;
    clusters_free(c);
    c->parent = malloc(sizeof *c->parent * (size_t)grown);
    c->low = malloc(sizeof *c->low * (size_t)(grown * dim));
    c->high = malloc(sizeof *c->high * (size_t)(grown * dim));
    c->capacity = grown;
    if (c->parent && c->low && c->high) return true;
    clusters_free(c);
    return false;
}

static int32_t find_root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join_active(const talus_world* world, clusters* work)
{
    const contacts* list = &world->contacts;
    const grains* g = &world->grains;
    for (int64_t i = 0; i < g->count; i++) work->parent[i] = (int32_t)i;
    for (int64_t c = 0; c < list->count; c++) {
        if (list->state[c] == TALUS_CONTACT_OPEN || list->a_row[c] < 0) continue;
        int32_t a = find_root(work->parent, list->a_row[c]);
        int32_t b = find_root(work->parent, list->b_row[c]);
        // Roots are the lowest rows, so the forest does not depend on the order of the contacts.
        if (a < b) {
            work->parent[b] = a;
        } else {
            work->parent[a] = b;
        }
    }
}

/// Longest extent of a cluster along an axis; at least one grain.
static double longest_extent(const talus_world* world, clusters* work)
{
    const grains* g = &world->grains;
    const int dim = g->dim;
    for (int64_t i = 0; i < g->count * dim; i++) {
        work->low[i] = INFINITY;
        work->high[i] = -INFINITY;
    }
    double longest = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        int64_t root = find_root(work->parent, (int32_t)i);
        for (int k = 0; k < dim; k++) {
            double* low = &work->low[root * dim + k];
            double* high = &work->high[root * dim + k];
            *low = fmin(*low, g->position[i * dim + k] - g->radius[i]);
            *high = fmax(*high, g->position[i * dim + k] + g->radius[i]);
            longest = fmax(longest, *high - *low);
        }
    }
    return longest;
}

talus_status diagnose_rigidity(const talus_world* world, clusters* work, double h, int64_t sweeps,
                               double residual, talus_rigidity* out)
{
    const grains* g = &world->grains;
    *out = (talus_rigidity){0};
    if (g->count == 0) return TALUS_OK;
    if (!clusters_reserve(work, g->count, g->dim)) return TALUS_ERR_MEMORY;
    const double q = 0.5 * (4.0 * sqrt(M_E) - 5.0);
    const double diameter = grains_mean_diameter(g, world->def.threads), n = (double)sweeps;
    join_active(world, work);
    double size = longest_extent(world, work) / diameter;
    out->system_size = size;
    out->diffusion_length = sqrt(4.0 * q * n);
    out->stiffness = q * grains_mean_mass(g, world->def.threads) * n / (h * h);
    out->force_error = residual * size * size;
    out->sweeps_for_rigid = size * size / (4.0 * q);
    out->soft = out->diffusion_length < size && out->force_error > SOFT_FORCE_ERROR;
    return TALUS_OK;
}

void diagnose_remark(const talus_rigidity* r, int64_t sweeps, char* text, size_t size)
{
    text[0] = '\0';
    if (!r->soft) return;
    snprintf(text, size,
             "soft: in %lld sweeps forces travelled %.3g diameters through a packing %.3g across; "
             "they may be off by %.0f %% and the packing answers like springs of stiffness %.3g. "
             "For rigid "
             "grains use a smaller tolerance or about %.3g sweeps",
             (long long)sweeps, r->diffusion_length, r->system_size,
             100.0 * fmin(r->force_error, 1.0), r->stiffness, r->sweeps_for_rigid);
}

/// Overlaps of solids below this, in mean diameters, are not looked at twice.
static const double FAINT_OVERLAP = 1e-6;

void diagnose_overlap(talus_world* world, double* mean, double* largest)
{
    const contacts* list = &world->contacts;
    const double diameter = grains_mean_diameter(&world->grains, world->def.threads);
    double sum = 0.0, most = 0.0;
    int64_t active = 0;
    for (int64_t c = 0; c < list->count; c++) {
        if (list->state[c] == TALUS_CONTACT_OPEN && list->gap[c] > 0.0) continue;
        const double overlap =
            narrow_overlap(&world->grains, &world->walls, &world->cell, &world->poses,
                           &world->scratch, list, c, FAINT_OVERLAP * diameter);
        most = fmax(most, overlap);
        if (list->state[c] == TALUS_CONTACT_OPEN) continue; // an overlap that is coming apart
        active++;
        sum += overlap;
    }
    *mean = active > 0 ? sum / (double)active / diameter : 0.0;
    *largest = most / diameter;
}
