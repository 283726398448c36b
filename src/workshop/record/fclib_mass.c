/// M^-1 of a global contact problem.
///
/// M of rigid bodies is a string of small blocks. Its parts are the connected components of the
/// graph of its entries, found by union-find. A small part gets a dense LU with row exchanges; a
/// large one (a deformable body) gets KLU of SuiteSparse: sparse, any ordering of pivots, and M
/// need not be symmetric.
#include "record/fclib_mass.h"

#include "base/error.h"

#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Up to here dense factors beat the bookkeeping of sparse ones, whatever the pattern.
enum { DENSE_MAX = 64 };
/// A pivot on the diagonal is taken if it is at least this part of the largest in its column. KLU's
/// own 1e-3 is made for circuits, and loses up to three digits a pivot.
#define PIVOT_LEAST 0.1

typedef struct fclib_sparse {
    klu_symbolic* symbolic;
    klu_numeric* numeric;
    klu_common common;
} fclib_sparse;

int64_t fclib_mass_size(const fclib_mass* mass, int64_t part)
{
    return mass->first[part + 1] - mass->first[part];
}

void fclib_mass_free(fclib_mass* mass)
{
    if (!mass) return;
    for (int64_t i = 0; i < mass->sparse_count; i++) {
        fclib_sparse* s = &mass->sparse[i];
        klu_free_numeric(&s->numeric, &s->common);
        klu_free_symbolic(&s->symbolic, &s->common);
    }
    free(mass->first);
    free(mass->dof);
    free(mass->part);
    free(mass->place);
    free(mass->at);
    free(mass->lu);
    free(mass->pivot);
    free(mass->sparse);
    free(mass);
}

// ---- parts -------------------------------------------------------------------------------------

static int32_t find_root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// Join the rows and columns of all entries that are not zero, number the parts that this makes by
/// their first degree of freedom and list their members.
static void find_parts(fclib_mass* mass, const fclib_matrix* m)
{
    const int64_t dofs = m->columns;
    int32_t* root = mass->place; // becomes the place below
    for (int64_t j = 0; j < dofs; j++) root[j] = (int32_t)j;
    for (int64_t j = 0; j < dofs; j++) {
        for (int64_t k = m->first[j]; k < m->first[j + 1]; k++) {
            if (m->value[k] == 0.0) continue;
            int32_t a = find_root(root, (int32_t)j), b = find_root(root, m->row[k]);
            root[a > b ? a : b] = a > b ? b : a; // the smaller index becomes the root
        }
    }
    for (int64_t i = 0; i < dofs; i++) {
        int32_t r = find_root(root, (int32_t)i);
        mass->part[i] = r == i ? (int32_t)mass->parts++ : mass->part[r];
        mass->first[mass->part[i] + 1]++;
    }
    for (int64_t c = 0; c < mass->parts; c++) mass->first[c + 1] += mass->first[c];
    // Of the places only how many of a part came before is wanted; `at` counts them.
    for (int64_t i = 0; i < dofs; i++) {
        int32_t c = mass->part[i];
        mass->place[i] = (int32_t)mass->at[c]++;
        mass->dof[mass->first[c] + mass->place[i]] = (int32_t)i;
    }
}

// ---- small parts -------------------------------------------------------------------------------

/// LU of a [n][n] in place with row exchanges; false if a pivot is zero.
static bool dense_factorise(double* a, int32_t* pivot, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++) {
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        }
        pivot[k] = (int32_t)best;
        if (a[best * n + k] == 0.0) return false;
        for (int64_t j = 0; best != k && j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = swap;
        }
        for (int64_t i = k + 1; i < n; i++) {
            double s = a[i * n + k] /= a[k * n + k];
            if (s == 0.0) continue;
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= s * a[k * n + j];
        }
    }
    return true;
}

static void dense_solve(const double* a, const int32_t* pivot, int64_t n, double* x)
{
    for (int64_t k = 0; k < n; k++) {
        double swap = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = swap;
    }
    for (int64_t i = 1; i < n; i++) {
        for (int64_t j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
}

static bool make_dense(fclib_mass* mass, int64_t part, const fclib_matrix* m)
{
    const int64_t n = fclib_mass_size(mass, part), first = mass->first[part];
    double* a = mass->lu + mass->at[part];
    for (int64_t j = 0; j < n; j++) {
        int32_t column = mass->dof[first + j];
        for (int64_t k = m->first[column]; k < m->first[column + 1]; k++) {
            if (m->value[k] != 0.0) a[mass->place[m->row[k]] * n + j] = m->value[k];
        }
    }
    return dense_factorise(a, mass->pivot + first, n);
}

// ---- large parts -------------------------------------------------------------------------------

/// The part's own columns as KLU wants them. The three arrays are the caller's, also on failure.
static talus_status extract_part(const fclib_mass* mass, int64_t part, const fclib_matrix* m,
                                 int** first, int** row, double** value, talus_error* error)
{
    const int64_t n = fclib_mass_size(mass, part);
    const int32_t* dof = mass->dof + mass->first[part];
    int64_t entries = 0;
    for (int64_t j = 0; j < n; j++) entries += m->first[dof[j] + 1] - m->first[dof[j]];
    *first = calloc((size_t)n + 1, sizeof **first);
    *row = calloc((size_t)entries + 1, sizeof **row);
    *value = calloc((size_t)entries + 1, sizeof **value);
    if (!*first || !*row || !*value) return error_memory(error, "factorising M");
    int used = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = m->first[dof[j]]; k < m->first[dof[j] + 1]; k++) {
            if (m->value[k] == 0.0) continue;
            (*row)[used] = mass->place[m->row[k]];
            (*value)[used++] = m->value[k];
        }
        (*first)[j + 1] = used;
    }
    return TALUS_OK;
}

static talus_status make_sparse(fclib_mass* mass, int64_t part, const fclib_matrix* m,
                                bool* singular, talus_error* error)
{
    int *first = NULL, *row = NULL;
    double* value = NULL;
    talus_status status = extract_part(mass, part, m, &first, &row, &value, error);
    if (status == TALUS_OK) {
        fclib_sparse* s = &mass->sparse[mass->sparse_count++];
        klu_defaults(&s->common);
        s->common.tol = PIVOT_LEAST;
        s->symbolic = klu_analyze((int)fclib_mass_size(mass, part), first, row, &s->common);
        if (s->symbolic) s->numeric = klu_factor(first, row, value, s->symbolic, &s->common);
        *singular = s->common.status == KLU_SINGULAR;
        if (!s->numeric && !*singular) status = error_memory(error, "factorising M");
    }
    free(first);
    free(row);
    free(value);
    return status;
}

// ---- both --------------------------------------------------------------------------------------

static talus_status factorise(fclib_mass* mass, const fclib_matrix* m, const char* name,
                              talus_error* error)
{
    const size_t count = (size_t)m->columns + 1; // calloc(0) may be NULL
    mass->first = calloc(count + 1, sizeof *mass->first);
    mass->dof = calloc(count, sizeof *mass->dof);
    mass->part = calloc(count, sizeof *mass->part);
    mass->place = calloc(count, sizeof *mass->place);
    mass->at = calloc(count, sizeof *mass->at);
    mass->pivot = calloc(count, sizeof *mass->pivot);
    if (!mass->first || !mass->dof || !mass->part || !mass->place || !mass->at || !mass->pivot) {
        return error_memory(error, "factorising M");
    }
    find_parts(mass, m);
    int64_t dense = 0, large = 0; // every part gets its place among the factors
    for (int64_t c = 0; c < mass->parts; c++) {
        const int64_t size = fclib_mass_size(mass, c);
        const bool is_dense = size <= DENSE_MAX;
        mass->at[c] = is_dense ? dense : large;
        if (is_dense) dense += size * size;
        if (!is_dense) large++;
    }
    mass->lu = calloc((size_t)dense + 1, sizeof *mass->lu);
    mass->sparse = calloc((size_t)large + 1, sizeof *mass->sparse);
    if (!mass->lu || !mass->sparse) return error_memory(error, "factorising M");
    for (int64_t c = 0; c < mass->parts; c++) {
        bool singular = false;
        if (fclib_mass_size(mass, c) <= DENSE_MAX) {
            singular = !make_dense(mass, c, m);
        } else {
            TRY(make_sparse(mass, c, m, &singular, error));
        }
        if (!singular) continue;
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s is singular: no velocity follows for degree of freedom %d", name,
                         (int)mass->dof[mass->first[c]]);
    }
    return TALUS_OK;
}

talus_status fclib_mass_make(const fclib_matrix* m, const char* name, fclib_mass** out,
                             talus_error* error)
{
    fclib_mass* mass = calloc(1, sizeof *mass);
    if (!mass) return error_memory(error, "factorising M");
    talus_status status = factorise(mass, m, name, error);
    if (status == TALUS_OK) {
        *out = mass;
    } else {
        fclib_mass_free(mass);
    }
    return status;
}

void fclib_mass_solve(const fclib_mass* mass, int64_t part, double* x)
{
    const int64_t n = fclib_mass_size(mass, part);
    if (n <= DENSE_MAX) {
        dense_solve(mass->lu + mass->at[part], mass->pivot + mass->first[part], n, x);
    } else {
        fclib_sparse* s = &mass->sparse[mass->at[part]];
        klu_solve(s->symbolic, s->numeric, (int)n, 1, x, &s->common);
    }
}
