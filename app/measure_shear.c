/// Shear in the slices of a profile: rate, effective friction and inertial number, slice by slice.
///
///     g_k = dv_k/dn        rate = |g|        tau = -sum (s_kn + s_nk) g_k/(2 rate)
///     mu = tau/p           I = rate d sqrt(rho/p)           p = tr s/dim
///
/// n is across the slices, k along them; in shells g_theta = dv_theta/dr - v_theta/r. They are
/// those of talus_measure_rheology() without extension. They follow from the means over all frames:
/// means of the size of a gradient that fluctuates would be too large.
#include "measure.h"

#include <math.h>
#include <string.h>

enum { SHEAR_RATE, SHEAR_MU, SHEAR_INERTIAL, SHEAR_COLUMNS };

static const char* const shear_name[SHEAR_COLUMNS] = {"shear_rate", "mu", "I"};
static const char* const shear_unit[SHEAR_COLUMNS] = {"1/s", "", ""};

/// The profile that was measured, as the shear needs it.
typedef struct shear_profile {
    measure_table* table;
    int dim, across; ///< component across the slices
    bool radial;
    int velocity, stress; ///< first column of each; stress -1: not recorded
    double diameter, density;
} shear_profile;

int measure_shear_columns(measure_column* column, const double* nothing, bool contacts)
{
    const int count = contacts ? SHEAR_COLUMNS : SHEAR_RATE + 1;
    for (int i = 0; i < count; i++) {
        column[i] = (measure_column){shear_name[i], shear_unit[i], nothing, 1, NULL};
    }
    return count;
}

static int find_column(const measure_table* t, const char* name)
{
    for (int k = 0; k < t->columns; k++) {
        if (strcmp(t->column[k], name) == 0) return k;
    }
    return -1;
}

/// A number of the table, NaN where there is none.
static double value(const measure_table* t, int column, int64_t row)
{
    const int64_t at = column * t->rows + row;
    return t->weight[at] > 0.0 ? t->mean[at] : NAN;
}

static void set_value(measure_table* t, int kind, int64_t row, double x)
{
    const int column = find_column(t, shear_name[kind]);
    if (column < 0 || !isfinite(x)) return;
    t->mean[column * t->rows + row] = x;
    t->weight[column * t->rows + row] = 1.0;
}

/// Difference over the neighbours of a row, or over one if the other is not there.
static double slope_at(const measure_table* t, int column, int64_t row)
{
    const bool before = row > 0 && !isnan(value(t, column, row - 1));
    const bool after = row + 1 < t->rows && !isnan(value(t, column, row + 1));
    const int64_t low = before ? row - 1 : row, high = after ? row + 1 : row;
    if (low == high) return NAN;
    return (value(t, column, high) - value(t, column, low)) /
           (value(t, 0, high) - value(t, 0, low)); // column 0 is the position
}

static void fill_row(const shear_profile* p, int64_t row)
{
    // Rates of the components along the slices, and their size.
    double g[3] = {0}, square = 0.0, tau = 0.0, pressure = 0.0;
    for (int k = 0; k < p->dim; k++) {
        if (k == p->across) continue;
        g[k] = slope_at(p->table, p->velocity + k, row);
        if (p->radial && k == 1) {
            g[k] -= value(p->table, p->velocity + k, row) / value(p->table, 0, row);
        }
        square += g[k] * g[k];
    }
    const double rate = sqrt(square);
    set_value(p->table, SHEAR_RATE, row, rate);
    if (p->stress < 0 || !(rate > 0.0)) return;
    for (int k = 0; k < p->dim; k++) {
        const int one = p->stress + p->dim * k + p->across,
                  two = p->stress + p->dim * p->across + k;
        tau -= 0.5 * (value(p->table, one, row) + value(p->table, two, row)) * g[k] / rate;
        pressure += value(p->table, p->stress + (p->dim + 1) * k, row) / p->dim;
    }
    if (!(pressure > 0.0)) return;
    set_value(p->table, SHEAR_MU, row, tau / pressure);
    set_value(p->table, SHEAR_INERTIAL, row, rate * p->diameter * sqrt(p->density / pressure));
}

/// Mean over the frames of a number of the profile.
static double number_of(const measured* m, const char* name)
{
    for (int i = 0; i < m->number_count; i++) {
        const measure_number* n = &m->number[i];
        if (strcmp(n->quantity, "profile") == 0 && strcmp(n->name, name) == 0) {
            return measure_spread_of(m, n).mean;
        }
    }
    return NAN;
}

void measure_profile_finish(measure_task* task)
{
    measured* m = task->out;
    shear_profile p = {.dim = task->dim, .radial = task->radial};
    for (int i = 0; i < m->table_count; i++) {
        if (strcmp(m->table[i].name, "profile") == 0) p.table = &m->table[i];
    }
    if (!p.table || p.table->mixed) return;
    p.across = task->radial ? 0 : task->axis < 0 ? task->dim - 1 : task->axis;
    p.velocity = find_column(p.table, task->radial ? "velocity_r" : "velocity_x");
    p.stress = find_column(p.table, task->radial ? "stress_rr" : "stress_xx");
    p.diameter = number_of(m, "mean_diameter");
    p.density = number_of(m, "grain_density");
    for (int64_t row = 0; row < p.table->rows; row++) fill_row(&p, row);
}
