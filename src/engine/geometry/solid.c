/// Solids: hulls of the parts, common centre of mass, inertia and its square root.
///
/// With w = root * spin, where root^2 is the inertia of unit mass, the rotational energy of unit
/// mass is |w|^2 / 2 and w has the dimension of a velocity: contact blocks of grains of all shapes
/// and sizes are then of one kind. The root is V diag(sqrt(lambda)) V^T from Jacobi's rotations,
/// which lose no accuracy on the small principal moments of a rod.
#include "geometry/solid.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/symmetric.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void solid_free(solid* s)
{
    for (int i = 0; i < s->part_count; i++) polytope_free(&s->part[i]);
    free(s->part);
    free(s->name);
    free(s->points);
    free(s->part_sizes);
    *s = (solid){0};
}

static talus_status solid_check(const talus_solid_def* def, talus_error* error)
{
    if (!def->name || !*def->name) {
        return error_set(error, TALUS_ERR_ARGUMENT, "a solid needs a name");
    }
    if (def->part_count < 1 || def->part_count > SOLID_MAX_PARTS) {
        return error_set(error, TALUS_ERR_ARGUMENT, "solid '%s' has %d parts; it must have 1 to %d",
                         def->name, def->part_count, SOLID_MAX_PARTS);
    }
    if (!(def->skin >= 0.0) || !isfinite(def->skin)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "solid '%s' has a skin of %g; it must be at least 0", def->name,
                         def->skin);
    }
    if (!def->points || def->point_count < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT, "solid '%s' has no points", def->name);
    }
    if (!def->part_sizes) {
        if (def->part_count == 1) return TALUS_OK;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "solid '%s' has %d parts, but how many points each has is not given",
                         def->name, def->part_count);
    }
    int64_t sum = 0;
    for (int i = 0; i < def->part_count; i++) {
        sum += def->part_sizes[i];
        if (def->part_sizes[i] >= 0) continue;
        return error_set(error, TALUS_ERR_ARGUMENT, "solid '%s', part %d has %d points", def->name,
                         i + 1, def->part_sizes[i]);
    }
    if (sum == def->point_count) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "the %d parts of solid '%s' have %lld points together, but %d are given",
                     def->part_count, def->name, (long long)sum, def->point_count);
}

/// Hull every part; part_count grows with each, so that solid_free() always fits.
static talus_status solid_hull(const talus_solid_def* def, solid* out, talus_error* error)
{
    const double* points = def->points;
    for (int i = 0; i < def->part_count; i++) {
        int count = def->part_sizes ? def->part_sizes[i] : def->point_count;
        talus_error why = {0};
        talus_status status = polytope_hull(out->dim, points, count, &out->part[i], &why);
        if (status < 0 && def->part_count == 1) {
            return error_set(error, status, "solid '%s': %.1900s", def->name, why.text);
        }
        if (status < 0) {
            return error_set(error, status, "solid '%s', part %d: %.1900s", def->name, i + 1,
                             why.text);
        }
        out->part_count++;
        points += (size_t)out->dim * (size_t)count;
    }
    return TALUS_OK;
}

/// Volume, centre and inertia (about that centre, density 1) of all parts together.
static mass_properties solid_mass(const solid* s)
{
    mass_properties all = {0}, part[SOLID_MAX_PARTS];
    for (int i = 0; i < s->part_count; i++) {
        part[i] = polytope_mass(&s->part[i], s->skin);
        all.volume += part[i].volume;
        vec_add_scaled(3, all.centre, part[i].volume, part[i].centre);
    }
    for (int k = 0; k < 3; k++) all.centre[k] /= all.volume;
    for (int i = 0; i < s->part_count; i++) {
        double d[3];
        vec_sub(3, d, part[i].centre, all.centre);
        double square = part[i].volume * vec_dot(3, d, d);
        for (int k = 0; k < 9; k++) {
            all.inertia[k] += part[i].inertia[k] - part[i].volume * d[k / 3] * d[k % 3];
            if (k % 4 == 0) all.inertia[k] += square;
        }
    }
    return all;
}

/// Keep the diagonal of a and the columns of v, in ascending order.
static void set_principal_axes(solid* out, double a[3][3], double v[3][3])
{
    int order[3] = {0, 1, 2};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2; i++) {
            if (a[order[i]][order[i]] <= a[order[i + 1]][order[i + 1]]) continue;
            const int swap = order[i];
            order[i] = order[i + 1], order[i + 1] = swap;
        }
    }
    for (int i = 0; i < 3; i++) {
        out->moment[i] = a[order[i]][order[i]];
        for (int k = 0; k < 3; k++) out->axis[3 * i + k] = v[k][order[i]];
    }
}

/// Keep the points as they were given; false if memory is short.
static bool keep_points(const double* points, int point_count, const int* part_sizes,
                        int part_count, solid* out)
{
    const size_t numbers = (size_t)point_count * (size_t)out->dim;
    out->points = malloc(sizeof *points * numbers);
    out->part_sizes = malloc(sizeof *part_sizes * (size_t)part_count);
    if (!out->points || !out->part_sizes) return false;
    memcpy(out->points, points, sizeof *points * numbers);
    for (int i = 0; i < part_count; i++) {
        out->part_sizes[i] = part_sizes ? part_sizes[i] : point_count;
    }
    out->point_count = point_count;
    return true;
}

static talus_status solid_fill(const talus_solid_def* def, solid* out, talus_error* error)
{
    TRY(solid_check(def, error));
    out->skin = def->skin;
    out->name = strdup(def->name);
    out->part = calloc((size_t)def->part_count, sizeof *out->part);
    if (!out->name || !out->part ||
        !keep_points(def->points, def->point_count, def->part_sizes, def->part_count, out)) {
        return error_memory(error, "making a solid");
    }
    TRY(solid_hull(def, out, error));
    // Move the origin to the centre of mass.
    mass_properties mass = {0};
    // Twice: far from the origin the first centre is rounded as coarsely as the points are.
    for (int pass = 0; pass < 2; pass++) {
        mass = solid_mass(out);
        double back[3] = {-mass.centre[0], -mass.centre[1], -mass.centre[2]};
        for (int i = 0; i < out->part_count; i++) polytope_shift(&out->part[i], back);
        vec_add_scaled(3, out->centre, 1.0, mass.centre);
    }
    out->volume = mass.volume;
    for (int k = 0; k < 9; k++) out->inertia[k] = mass.inertia[k] / mass.volume;
    if (out->dim == 2) {
        for (int k = 0; k < 8; k++) out->inertia[k] = 0.0;
    }
    out->thinnest = INFINITY;
    for (int i = 0; i < out->part_count; i++) {
        out->thickness = fmax(out->thickness, polytope_width(&out->part[i]) + 2.0 * out->skin);
        out->thinnest = fmin(out->thinnest, polytope_width(&out->part[i]) + 2.0 * out->skin);
        for (int v = 0; v < out->part[i].vertex_count; v++) {
            out->radius = fmax(out->radius, vec_norm(out->dim, out->part[i].vertex + out->dim * v));
        }
    }
    out->radius += out->skin;
    if (out->dim == 2) {
        out->root[8] = sqrt(out->inertia[8]);
        out->unroot[8] = 1.0 / out->root[8];
    } else {
        // Symmetric square root of a positive tensor, and its inverse.
        double a[3][3], v[3][3];
        memcpy(a, out->inertia, sizeof a);
        symmetric_diagonalise(3, a[0], v[0]);
        set_principal_axes(out, a, v);
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                double sum = 0.0, inverse = 0.0;
                for (int k = 0; k < 3; k++) {
                    double length = sqrt(a[k][k]), product = v[i][k] * v[j][k];
                    sum += product * length;
                    inverse += product / length;
                }
                out->root[3 * i + j] = out->root[3 * j + i] = sum;
                out->unroot[3 * i + j] = out->unroot[3 * j + i] = inverse;
            }
        }
    }
    if (!(out->volume > 0.0) || !vec_finite(9, out->unroot) || !isfinite(out->radius)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "solid '%s' is too large or too thin: its mass cannot be computed",
                         def->name);
    }
    return TALUS_OK;
}

talus_status solid_make(const talus_solid_def* def, int dim, solid* out, talus_error* error)
{
    *out = (solid){.dim = dim};
    talus_status status = solid_fill(def, out, error);
    if (status < 0) solid_free(out);
    return status;
}

talus_solid_def solid_definition(const solid* s)
{
    talus_solid_def def = talus_solid_default();
    def.name = s->name;
    def.points = s->points;
    def.part_sizes = s->part_sizes;
    def.part_count = s->part_count;
    def.point_count = s->point_count;
    def.skin = s->skin;
    return def;
}

void solids_free(solids* s)
{
    for (int i = 0; i < s->count; i++) solid_free(&s->row[i]);
    free(s->row);
    free(s->bucket);
    *s = (solids){0};
}

/// The bucket of a name: where it is, or the empty one where it would go.
static size_t bucket_of(const solids* s, const char* name)
{
    const size_t buckets = 2 * (size_t)s->capacity;
    size_t k = (size_t)(hash_bytes(HASH_START, name, strlen(name)) % buckets);
    while (s->bucket[k] >= 0 && strcmp(s->row[s->bucket[k]].name, name) != 0) {
        k = k + 1 == buckets ? 0 : k + 1;
    }
    return k;
}

int solids_find(const solids* s, const char* name)
{
    return s->capacity > 0 ? s->bucket[bucket_of(s, name)] : -1;
}

talus_status solids_copy(solids* to, const solids* from)
{
    const size_t room = (size_t)from->capacity;
    *to = (solids){0};
    if (from->capacity == 0) return TALUS_OK;
    to->row = calloc(room, sizeof *to->row);
    to->bucket = malloc(2 * room * sizeof *to->bucket);
    if (!to->row || !to->bucket) return TALUS_ERR_MEMORY;
    to->capacity = from->capacity;
    memcpy(to->bucket, from->bucket, 2 * room * sizeof *to->bucket);
    for (int i = 0; i < from->count; i++) {
        const solid* s = &from->row[i];
        solid* copy = &to->row[to->count++];
        *copy = *s;
        copy->name = strdup(s->name);
        copy->part = calloc((size_t)s->part_count, sizeof *copy->part);
        copy->part_count = 0;
        copy->points = NULL;
        copy->part_sizes = NULL;
        if (!copy->name || !copy->part ||
            !keep_points(s->points, s->point_count, s->part_sizes, s->part_count, copy)) {
            return TALUS_ERR_MEMORY;
        }
        for (; copy->part_count < s->part_count; copy->part_count++) {
            TRY(polytope_copy(&s->part[copy->part_count], &copy->part[copy->part_count]));
        }
    }
    return TALUS_OK;
}

talus_status solids_add(solids* s, const talus_solid_def* def, int dim, int* index,
                        talus_error* error)
{
    if (def->name && solids_find(s, def->name) >= 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there already is a solid named '%s'",
                         def->name);
    }
    if (s->count == s->capacity) { // more room, and all names are filed anew
        if (!arrays_grow(&s->capacity, s->count + 1, ARRAY(s->row), ROWS(s->bucket, 2))) {
            return error_memory(error, "adding a solid");
        }
        for (int64_t k = 0; k < 2 * s->capacity; k++) s->bucket[k] = -1;
        for (int i = 0; i < s->count; i++) s->bucket[bucket_of(s, s->row[i].name)] = i;
    }
    TRY(solid_make(def, dim, &s->row[s->count], error));
    s->bucket[bucket_of(s, s->row[s->count].name)] = s->count;
    if (index) *index = s->count;
    s->count++;
    return TALUS_OK;
}
