/// Drawing grain sizes exactly from a distribution by number or by mass.
///
/// The number density is n(s) = f(s) s^-k, with f as given and k = dim for a distribution by mass,
/// else 0. Continuous kinds are cut into cells, geometric in s; in a cell n is at most
/// sup(f) * lo^-k. A draw picks a cell in proportion to width * bound, then s uniformly in it, and
/// accepts s with probability n(s) / bound (von Neumann's rejection, exact for any cell width; fine
/// cells only make it fast). Discrete sizes are cells of no width. One method serves all kinds
/// because the normal distribution by mass has no invertible distribution function.
#include "scene/sizes.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/portable.h"

enum { CELLS = 512, CELLS_PER_SEGMENT = 32 };

/// exp(-z^2/2) is below the smallest double beyond this many deviations.
static const double VISIBLE_DEVIATIONS = 38.0;
static const double DEFAULT_CUT = 3.0;

typedef struct size_cell {
    double lo, hi;     ///< hi == lo: a discrete size
    double bound;      ///< of the number density in the cell
    double cumulative; ///< weight of this cell and all before it
    int64_t segment;   ///< of a piecewise linear table
} size_cell;

struct sizes {
    sizes_def def;
    double weight_power; ///< k above
    double reference;    ///< sizes are divided by it before taking powers
    double log_median;   ///< LOGNORMAL
    int64_t cell_count;
    size_cell cells[];
};

sizes_def sizes_default(void)
{
    return (sizes_def){.kind = SIZES_SINGLE};
}

// ---- checking ----------------------------------------------------------------------------------

static talus_status require_positive(double value, const char* what, talus_error* error)
{
    if (isfinite(value) && value > 0.0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "size distribution: %s must be a number > 0, not %g", what, value);
}

static talus_status check_range(const sizes_def* def, talus_error* error)
{
    TRY(require_positive(def->min, "min", error));
    TRY(require_positive(def->max, "max", error));
    if (def->min < def->max) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "size distribution: min (%g) must be smaller than max (%g)", def->min,
                     def->max);
}

static talus_status check_table(const sizes_def* def, talus_error* error)
{
    bool linear = def->kind == SIZES_TABLE_LINEAR;
    if (def->table_count < (linear ? 2 : 1)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "size distribution: the table needs %s",
                         linear ? "two rows at least" : "a row at least");
    }
    double total = 0.0;
    for (int64_t i = 0; i < def->table_count; i++) {
        double size = def->table[2 * i], weight = def->table[2 * i + 1];
        long long row = (long long)i + 1;
        if (!isfinite(size) || size <= 0.0) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "size distribution: table row %lld has size %g, which must be > 0",
                             row, size);
        }
        if (!isfinite(weight) || weight < 0.0) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "size distribution: table row %lld has weight %g, which must be >= 0",
                             row, weight);
        }
        if (linear && i > 0 && size <= def->table[2 * i - 2]) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "size distribution: sizes of a linear table must ascend, but row %lld "
                             "has %g after %g",
                             row, size, def->table[2 * i - 2]);
        }
        total += weight;
    }
    if (total > 0.0) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "size distribution: all weights are zero");
}

/// Check the numbers and put in the default cuts.
static talus_status resolve(sizes_def* def, talus_error* error)
{
    switch (def->kind) {
    case SIZES_SINGLE: return require_positive(def->value, "value", error);
    case SIZES_UNIFORM: return check_range(def, error);
    case SIZES_NORMAL:
        TRY(require_positive(def->mean, "mean", error));
        TRY(require_positive(def->deviation, "deviation", error));
        if (def->min == 0.0) def->min = def->mean - DEFAULT_CUT * def->deviation;
        if (def->max == 0.0) def->max = def->mean + DEFAULT_CUT * def->deviation;
        return check_range(def, error);
    case SIZES_LOGNORMAL:
        TRY(require_positive(def->sigma, "sigma", error));
        if (def->median == 0.0) {
            TRY(require_positive(def->mean, "mean", error));
            def->median = def->mean * portable_exp(-0.5 * def->sigma * def->sigma);
        }
        TRY(require_positive(def->median, "median", error));
        if (def->min == 0.0) def->min = def->median * portable_exp(-DEFAULT_CUT * def->sigma);
        if (def->max == 0.0) def->max = def->median * portable_exp(DEFAULT_CUT * def->sigma);
        return check_range(def, error);
    case SIZES_POWER:
        if (!isfinite(def->exponent)) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "size distribution: exponent must be a finite number");
        }
        return check_range(def, error);
    case SIZES_TABLE:
    case SIZES_TABLE_LINEAR: return check_table(def, error);
    }
    return error_set(error, TALUS_ERR_ARGUMENT, "size distribution: unknown kind");
}

// ---- densities ---------------------------------------------------------------------------------

/// f(s) as given, up to a constant factor.
static double given_density(const sizes* s, int64_t segment, double size)
{
    const sizes_def* d = &s->def;
    switch (d->kind) {
    case SIZES_NORMAL: {
        double z = (size - d->mean) / d->deviation;
        return portable_exp(-0.5 * z * z);
    }
    case SIZES_LOGNORMAL: {
        double z = (portable_log(size) - s->log_median) / d->sigma;
        return portable_exp(-0.5 * z * z) / (size / s->reference);
    }
    case SIZES_POWER: return portable_pow(size / s->reference, -d->exponent);
    case SIZES_TABLE_LINEAR: {
        const double* t = d->table + 2 * segment;
        return t[1] + (t[3] - t[1]) * (size - t[0]) / (t[2] - t[0]);
    }
    case SIZES_SINGLE:
    case SIZES_UNIFORM:
    case SIZES_TABLE: break;
    }
    return 1.0;
}

/// Turns mass into number: s^-k.
static double number_weight(const sizes* s, double size)
{
    return s->weight_power == 0.0 ? 1.0 : portable_pow(size / s->reference, -s->weight_power);
}

static void add_cell(sizes* s, size_cell c, double weight)
{
    if (weight == 0.0) return;
    double before = s->cell_count > 0 ? s->cells[s->cell_count - 1].cumulative : 0.0;
    c.cumulative = before + weight;
    s->cells[s->cell_count++] = c;
}

static void add_discrete(sizes* s, double size, double weight)
{
    add_cell(s, (size_cell){.lo = size, .hi = size}, weight * number_weight(s, size));
}

/// Cover [low, high] with `count` geometric cells.
static void add_range(sizes* s, int64_t segment, double low, double high, int count)
{
    double peak = 0.0;
    if (s->def.kind == SIZES_NORMAL) peak = s->def.mean;
    if (s->def.kind == SIZES_LOGNORMAL)
        peak = portable_exp(s->log_median - s->def.sigma * s->def.sigma);
    double lo = low;
    for (int i = 1; i <= count; i++) {
        double hi = i == count ? high : low * portable_pow(high / low, (double)i / count);
        size_cell c = {.lo = lo, .hi = hi, .segment = segment};
        // Every kind is monotone in a cell or has its one peak inside.
        double largest = fmax(given_density(s, segment, lo), given_density(s, segment, hi));
        if (peak > lo && peak < hi) largest = fmax(largest, given_density(s, segment, peak));
        c.bound = largest * number_weight(s, lo);
        if (hi > lo) add_cell(s, c, (hi - lo) * c.bound);
        lo = hi;
    }
}

static void add_cells(sizes* s)
{
    const sizes_def* d = &s->def;
    if (d->kind == SIZES_SINGLE) {
        add_discrete(s, d->value, 1.0);
    } else if (d->kind == SIZES_TABLE) {
        for (int64_t i = 0; i < d->table_count; i++) {
            add_discrete(s, d->table[2 * i], d->table[2 * i + 1]);
        }
    } else if (d->kind == SIZES_TABLE_LINEAR) {
        for (int64_t i = 0; i + 1 < d->table_count; i++) {
            add_range(s, i, d->table[2 * i], d->table[2 * i + 2], CELLS_PER_SEGMENT);
        }
    } else { // where the density can be told from zero
        double low = d->min, high = d->max;
        if (d->kind == SIZES_NORMAL) {
            low = fmax(low, d->mean - VISIBLE_DEVIATIONS * d->deviation);
            high = fmin(high, d->mean + VISIBLE_DEVIATIONS * d->deviation);
        } else if (d->kind == SIZES_LOGNORMAL) {
            low = fmax(low, portable_exp(s->log_median - VISIBLE_DEVIATIONS * d->sigma));
            high = fmin(high, portable_exp(s->log_median + VISIBLE_DEVIATIONS * d->sigma));
        }
        if (low < high) add_range(s, 0, low, high, CELLS);
    }
}

// ---- interface ---------------------------------------------------------------------------------

talus_status sizes_create(const sizes_def* def, int dim, sizes** out, talus_error* error)
{
    sizes_def d = *def;
    TRY(resolve(&d, error));
    int64_t capacity = CELLS;
    if (d.kind == SIZES_TABLE) capacity = d.table_count;
    if (d.kind == SIZES_TABLE_LINEAR) capacity = d.table_count * CELLS_PER_SEGMENT;
    sizes* s = calloc(1, sizeof *s + (size_t)capacity * sizeof s->cells[0]);
    if (!s) return error_memory(error, "size distribution");

    s->def = d;
    s->weight_power = d.by_mass ? (double)dim : 0.0;
    s->reference = d.kind == SIZES_SINGLE ? d.value : sqrt(d.min) * sqrt(d.max);
    if (d.kind == SIZES_TABLE || d.kind == SIZES_TABLE_LINEAR) s->reference = d.table[0];
    s->log_median = d.kind == SIZES_LOGNORMAL ? portable_log(d.median) : 0.0;
    add_cells(s);

    double total = s->cell_count > 0 ? s->cells[s->cell_count - 1].cumulative : 0.0;
    if (!isfinite(total) || total <= 0.0) {
        sizes_destroy(s);
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "size distribution: the density cannot be computed between min (%g) and "
                         "max (%g): cut it closer to where the sizes are",
                         d.min, d.max);
    }
    *out = s;
    return TALUS_OK;
}

void sizes_destroy(sizes* s)
{
    free(s);
}

/// First cell whose cumulative weight is above `target`.
static const size_cell* pick_cell(const sizes* s, double target)
{
    int64_t first = 0, last = s->cell_count - 1;
    while (first < last) {
        int64_t middle = first + (last - first) / 2;
        if (s->cells[middle].cumulative > target)
            last = middle;
        else
            first = middle + 1;
    }
    return &s->cells[first];
}

double sizes_draw(const sizes* s, rng* r)
{
    double scale = s->def.diameter ? 0.5 : 1.0;
    double total = s->cells[s->cell_count - 1].cumulative;
    for (;;) {
        const size_cell* c = pick_cell(s, rng_uniform(r) * total);
        if (c->hi == c->lo) return scale * c->lo;
        double size = c->lo + (c->hi - c->lo) * rng_uniform(r);
        double density = given_density(s, c->segment, size) * number_weight(s, size);
        if (rng_uniform(r) * c->bound < density) return scale * size;
    }
}

double sizes_least(const sizes* s)
{
    double least = INFINITY;
    for (int64_t i = 0; i < s->cell_count; i++) least = fmin(least, s->cells[i].lo);
    return s->def.diameter ? 0.5 * least : least;
}

double sizes_largest(const sizes* s)
{
    double largest = 0.0;
    for (int64_t i = 0; i < s->cell_count; i++) largest = fmax(largest, s->cells[i].hi);
    return s->def.diameter ? 0.5 * largest : largest;
}
