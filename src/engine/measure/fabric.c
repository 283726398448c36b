/// Fabric: which way the contacts point, and how their forces depend on the direction.
///
/// The fabric tensor is the mean of n_i n_j. The forces are fitted, contact by contact, by least
/// squares with symmetric tensors M and K:
///     f_n = n.M n              t = the part of K n across n
/// In the plane these are A (1 + a_n cos 2(t - t_n)) and -A a_t sin 2(t - t_t) (Rothenburg and
/// Bathurst, Geotechnique 39, 601, 1989), with A = tr M/2, a_n = (M1 - M2)/tr M and
/// a_t = (K1 - K2)/2A. In space, with A = tr M/3, a_n = (M1 - M3)/tr M and a_t = (K1 - K3)/2A are
/// those of A (1 + a_n (3 cos^2 t - 1)) and -A a_t sin 2t about an axis. A fit over contacts does
/// not care how many of them point into which direction.
#include "base/definition.h"
#include "base/error.h"
#include "base/symmetric.h"
#include "base/vec.h"
#include "measure/contact_filter.h"
#include "measure/tensor.h"

#include <math.h>
#include <stdlib.h>

/// Directions that contacts have less of than this (of squares) are not fitted.
static const double NO_DIRECTION = 1e-10;

void talus_fabric_free(talus_fabric* f)
{
    free(f->edge);
    free(f->rose);
    free(f->normal);
    free(f->tangential);
    *f = (talus_fabric){0};
}

// ---- fits ---------------------------------------------------------------------------------------

/// Normal equations of a fit with a symmetric tensor; its entries are numbered 11, 22, 33, 12, 13,
/// 23 (2D: 11, 22, 12), those beside the diagonal times sqrt(2), so that lengths are right.
typedef struct tensor_fit {
    int dim, size;
    double matrix[SYMMETRIC_MOST * SYMMETRIC_MOST];
    double right[SYMMETRIC_MOST];
} tensor_fit;

static void entry_of(int dim, int m, int* i, int* j)
{
    static const int first[] = {0, 1, 2, 0, 0, 1}, second[] = {0, 1, 2, 1, 2, 2};
    const int k = dim == 2 && m == 2 ? 3 : m;
    *i = first[k];
    *j = second[k];
}

static tensor_fit fit_begin(int dim)
{
    return (tensor_fit){.dim = dim, .size = dim * (dim + 1) / 2};
}

/// The vector E_m n of unit tensor number m.
static void unit_times(int dim, int m, const double* n, double* out)
{
    int i, j;
    entry_of(dim, m, &i, &j);
    for (int k = 0; k < dim; k++) out[k] = 0.0;
    out[i] += (i == j ? 1.0 : M_SQRT1_2) * n[j];
    if (i != j) out[j] += M_SQRT1_2 * n[i];
}

/// Add `width` equations: sum over m of rows[m][k] x_m = value[k].
static void fit_add(tensor_fit* fit, int width, const double rows[][3], const double* value)
{
    for (int m = 0; m < fit->size; m++) {
        fit->right[m] += vec_dot(width, rows[m], value);
        for (int l = 0; l < fit->size; l++) {
            fit->matrix[m * fit->size + l] += vec_dot(width, rows[m], rows[l]);
        }
    }
}

static void fit_add_normal(tensor_fit* fit, const double* n, double force)
{
    double rows[SYMMETRIC_MOST][3];
    for (int m = 0; m < fit->size; m++) {
        double product[3];
        unit_times(fit->dim, m, n, product);
        rows[m][0] = vec_dot(fit->dim, n, product);
    }
    fit_add(fit, 1, rows, &force);
}

static void fit_add_tangential(tensor_fit* fit, const double* n, const double* force)
{
    double rows[SYMMETRIC_MOST][3];
    for (int m = 0; m < fit->size; m++) {
        unit_times(fit->dim, m, n, rows[m]);
        vec_add_scaled(fit->dim, rows[m], -vec_dot(fit->dim, n, rows[m]), n);
    }
    fit_add(fit, fit->dim, rows, force);
}

static talus_principal fit_solve(const tensor_fit* fit)
{
    double x[SYMMETRIC_MOST], tensor[9] = {0};
    symmetric_solve(fit->size, fit->matrix, fit->right, NO_DIRECTION, x);
    for (int m = 0; m < fit->size; m++) {
        int i, j;
        entry_of(fit->dim, m, &i, &j);
        tensor[3 * i + j] = tensor[3 * j + i] = (i == j ? 1.0 : M_SQRT1_2) * x[m];
    }
    return talus_measure_principal(fit->dim, tensor);
}

/// Do the directions of the contacts tell the trace? They do not if all lie in a line or plane.
static bool fit_knows_trace(const tensor_fit* fit)
{
    double one[SYMMETRIC_MOST] = {1.0, 1.0}, x[SYMMETRIC_MOST], off = 0.0;
    if (fit->dim == 3) one[2] = 1.0;
    symmetric_solve(fit->size, fit->matrix, one, NO_DIRECTION, x);
    for (int m = 0; m < fit->size; m++) {
        off = fmax(off, fabs(vec_dot(fit->size, fit->matrix + m * fit->size, x) - one[m]));
    }
    return off < 1e-6;
}

// ---- histogram ----------------------------------------------------------------------------------

static void add_to_rose(int dim, const double* n, const double* axis, double normal,
                        const double* tangential, talus_fabric* out)
{
    // Where the direction stands between the ends of the histogram, 0 to 1.
    double where =
        dim == 3 ? fabs(vec_dot(3, n, axis)) / vec_norm(3, axis) : atan2(n[1], n[0]) / M_PI;
    if (where < 0.0) where += 1.0;
    const int place = (int)(out->bins * where);
    // A direction at the upper end is in 2D the same as at the lower one.
    const int k = place < out->bins ? place : dim == 2 ? 0 : out->bins - 1;
    out->rose[k] += 1.0;
    out->normal[k] += normal;
    out->tangential[k] +=
        dim == 2 ? n[0] * tangential[1] - n[1] * tangential[0] : vec_norm(3, tangential);
}

// ---- the whole ----------------------------------------------------------------------------------

talus_status talus_measure_fabric(const talus_world* world, const talus_measure_def* given,
                                  talus_fabric* out, talus_error* error)
{
    talus_measure_def own = talus_measure_default();
    const talus_measure_def* def = &own;
    const int dim = world->state.grains.dim;
    tensor_fit fits[2] = {fit_begin(dim), fit_begin(dim)};
    contact_filter filter;
    double forces = 0.0;
    *out = (talus_fabric){0};
    TRY(DEFINITION_TAKE(measure, &own, given, error));
    TRY(contact_filter_make(world, def, &filter, error));
    const size_t bins = (size_t)def->bins;
    out->bins = def->bins;
    out->edge = calloc(bins + 1, sizeof *out->edge);
    out->rose = calloc(bins, sizeof *out->rose);
    out->normal = calloc(bins, sizeof *out->normal);
    out->tangential = calloc(bins, sizeof *out->tangential);
    if (!out->edge || !out->rose || !out->normal || !out->tangential) {
        talus_fabric_free(out);
        return error_memory(error, "measuring the fabric");
    }
    for (int k = 0; k <= out->bins; k++) out->edge[k] = (dim == 2 ? M_PI : 1.0) * k / out->bins;
    for (int64_t c = 0; c < filter.list->count; c++) {
        if (!contact_counts(&filter, c)) continue;
        const double* n = filter.list->normal + c * dim;
        double tangential[3];
        const double normal = contact_split(filter.list, c, tangential);
        out->contacts++;
        forces += normal;
        tensor_add(dim, out->tensor, 1.0, n, n);
        tensor_add(dim, out->weighted, normal, n, n);
        fit_add_normal(&fits[0], n, normal);
        fit_add_tangential(&fits[1], n, tangential);
        add_to_rose(dim, n, def->axis, normal, tangential, out);
    }
    for (int k = 0; k < 9; k++) {
        if (out->contacts > 0) out->tensor[k] /= (double)out->contacts;
        if (forces != 0.0) out->weighted[k] /= forces;
    }
    out->principal = talus_measure_principal(dim, out->tensor);
    out->contact_anisotropy = out->contacts > 0 ? fabric_anisotropy(dim, &out->principal) : NAN;
    out->contact_angle = principal_angle(dim, &out->principal);
    const talus_principal m = fit_solve(&fits[0]), k = fit_solve(&fits[1]);
    const double trace = m.value[0] + m.value[1] + m.value[2];
    const bool known = trace > 0.0 && fit_knows_trace(&fits[0]);
    out->normal_anisotropy = known ? (m.value[0] - m.value[dim - 1]) / trace : NAN;
    out->tangential_anisotropy =
        known ? (k.value[0] - k.value[dim - 1]) / (2.0 * trace / dim) : NAN;
    out->normal_angle = principal_angle(dim, &m);
    out->tangential_angle = principal_angle(dim, &k);
    for (int b = 0; b < out->bins; b++) {
        const double count = out->rose[b], width = out->edge[b + 1] - out->edge[b];
        out->normal[b] = count > 0.0 ? out->normal[b] / count : NAN;
        out->tangential[b] = count > 0.0 ? out->tangential[b] / count : NAN;
        if (out->contacts > 0) out->rose[b] = count / ((double)out->contacts * width);
    }
    return TALUS_OK;
}
