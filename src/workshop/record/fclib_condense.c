/// From sparse matrices to the block rows of a contact problem.
///
/// A local problem has W itself. Of a global one W = H^T M^-1 H is the sum over the parts of M
/// (fclib_mass.h): a part couples the contacts that touch it, and no others. So the pattern comes
/// first, from the lists of contacts of the parts, and then every part adds its share, column by
/// column of H.
#include "base/array.h"
#include "base/error.h"
#include "record/fclib_inside.h"
#include "record/fclib_mass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- columns -----------------------------------------------------------------------------------

void fclib_entries_free(fclib_entries* e)
{
    free(e->row);
    free(e->column);
    free(e->value);
    *e = (fclib_entries){0};
}

void fclib_matrix_free(fclib_matrix* m)
{
    free(m->first);
    free(m->row);
    free(m->value);
    *m = (fclib_matrix){0};
}

/// Order of the entries by `key` (counting sort, stable): order[from] of the entries in `in`.
static void sort_by(const int32_t* key, int64_t* start, int64_t keys, int64_t count,
                    const int64_t* in, int64_t* out)
{
    memset(start, 0, (size_t)(keys + 1) * sizeof *start);
    for (int64_t k = 0; k < count; k++) start[key[k] + 1]++;
    for (int64_t j = 0; j < keys; j++) start[j + 1] += start[j];
    for (int64_t k = 0; k < count; k++) {
        int64_t entry = in ? in[k] : k;
        out[start[key[entry]]++] = entry;
    }
}

/// Copy the entries in their order, summing those of one place.
static void gather(const fclib_entries* e, const int64_t* order, fclib_matrix* out)
{
    int64_t used = 0;
    for (int64_t k = 0; k < e->count; k++) {
        int64_t entry = order[k];
        int32_t column = e->column[entry];
        bool again = used > 0 && out->first[column + 1] > 0 && out->row[used - 1] == e->row[entry];
        if (again) {
            out->value[used - 1] += e->value[entry];
        } else {
            out->row[used] = e->row[entry];
            out->value[used++] = e->value[entry];
            out->first[column + 1]++;
        }
    }
    for (int64_t j = 0; j < e->columns; j++) out->first[j + 1] += out->first[j];
}

talus_status fclib_compress(const fclib_entries* e, fclib_matrix* out, talus_error* error)
{
    int64_t keys = e->rows > e->columns ? e->rows : e->columns;
    int64_t* start = calloc((size_t)keys + 2, sizeof *start);
    int64_t* by_row = calloc((size_t)e->count + 1, sizeof *by_row);
    int64_t* order = calloc((size_t)e->count + 1, sizeof *order);
    *out = (fclib_matrix){.rows = e->rows, .columns = e->columns};
    out->first = calloc((size_t)e->columns + 2, sizeof *out->first);
    out->row = calloc((size_t)e->count + 1, sizeof *out->row);
    out->value = calloc((size_t)e->count + 1, sizeof *out->value);
    bool good = start && by_row && order && out->first && out->row && out->value;
    if (good) {
        sort_by(e->row, start, e->rows, e->count, NULL, by_row);
        sort_by(e->column, start, e->columns, e->count, by_row, order);
        gather(e, order, out);
    }
    free(start);
    free(by_row);
    free(order);
    if (good) return TALUS_OK;
    fclib_matrix_free(out);
    return error_memory(error, "sorting the entries of a matrix");
}

// ---- the pattern of blocks ---------------------------------------------------------------------

/// Columns of blocks collected row by row.
typedef struct pattern {
    int32_t* seen;   ///< [count] last row that has the column, -1: none
    int32_t* column; ///< as in reduced_problem
    int64_t used, capacity, row_start;
    bool failed;
} pattern;

static void pattern_add(pattern* t, int32_t row, int32_t column)
{
    if (t->failed || t->seen[column] == row) return;
    t->seen[column] = row;
    t->failed = !arrays_grow(&t->capacity, t->used + 1, ARRAY(t->column));
    if (!t->failed) t->column[t->used++] = column;
}

static int compare_columns(const void* a, const void* b)
{
    const int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return (x > y) - (x < y);
}

/// Sort the row's columns, and give the place after them.
static int64_t pattern_end_row(pattern* t)
{
    if (t->used > t->row_start) {
        qsort(t->column + t->row_start, (size_t)(t->used - t->row_start), sizeof *t->column,
              compare_columns);
    }
    t->row_start = t->used;
    return t->used;
}

static bool pattern_begin(pattern* t, reduced_problem* p)
{
    t->seen = malloc(((size_t)p->count + 1) * sizeof *t->seen);
    free(p->first);
    p->first = calloc((size_t)p->count + 1, sizeof *p->first);
    if (!t->seen || !p->first) return false;
    for (int64_t c = 0; c < p->count; c++) t->seen[c] = -1;
    return true;
}

/// Hand the pattern over to the problem, with blocks of zeros.
static talus_status pattern_finish(pattern* t, reduced_problem* p, talus_error* error)
{
    free(t->seen);
    free(p->column);
    free(p->block);
    p->column = t->column ? t->column : calloc(1, sizeof *p->column);
    p->block = calloc((size_t)t->used + 1, (size_t)(p->width * p->width) * sizeof *p->block);
    if (t->failed || !p->first || !p->column || !p->block) {
        return error_memory(error, "building the matrix of contacts");
    }
    return TALUS_OK;
}

/// The block in row `row` and column `column`, which the pattern has.
static double* find_block(const reduced_problem* p, int64_t row, int32_t column)
{
    int64_t low = p->first[row], high = p->first[row + 1] - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return p->block + low * p->width * p->width;
}

talus_status fclib_block_rows(const fclib_matrix* transpose, reduced_problem* p, talus_error* error)
{
    const int width = p->width;
    pattern t = {0};
    if (!pattern_begin(&t, p)) t.failed = true;
    for (int32_t c = 0; !t.failed && c < p->count; c++) {
        pattern_add(&t, c, c);
        const int64_t end = transpose->first[((int64_t)c + 1) * width];
        for (int64_t k = transpose->first[(int64_t)c * width]; k < end; k++) {
            pattern_add(&t, c, transpose->row[k] / width);
        }
        p->first[c + 1] = pattern_end_row(&t);
    }
    TRY(pattern_finish(&t, p, error));
    for (int64_t i = 0; i < p->count * width; i++) {
        for (int64_t k = transpose->first[i]; k < transpose->first[i + 1]; k++) {
            const int32_t j = transpose->row[k];
            find_block(p, i / width, j / width)[i % width * width + j % width] =
                transpose->value[k];
        }
    }
    return TALUS_OK;
}

// ---- condensing --------------------------------------------------------------------------------

/// The contacts that touch each part, and room for one column.
typedef struct touching {
    int64_t* first;   ///< [parts + 1]
    int32_t* contact; ///< ascending in each part
    double* x;        ///< [largest part]
} touching;

/// Count (contact == NULL) or list the contacts of each part.
static void visit_contacts(const fclib_problem* p, int32_t* last, int64_t* count, int32_t* contact)
{
    const int width = p->reduced.width;
    for (int64_t c = 0; c < p->mass->parts; c++) last[c] = -1;
    for (int32_t k = 0; k < p->reduced.count; k++) {
        const int64_t end = p->h.first[((int64_t)k + 1) * width];
        for (int64_t e = p->h.first[(int64_t)k * width]; e < end; e++) {
            const int32_t part = p->mass->part[p->h.row[e]];
            if (last[part] == k) continue;
            last[part] = k;
            if (contact) contact[count[part]] = k;
            count[part]++;
        }
    }
}

static talus_status touching_make(const fclib_problem* p, touching* t, talus_error* error)
{
    const int64_t parts = p->mass->parts;
    int32_t* last = calloc((size_t)parts + 1, sizeof *last);
    int64_t* next = calloc((size_t)parts + 1, sizeof *next);
    t->first = calloc((size_t)parts + 2, sizeof *t->first);
    int64_t largest = 0;
    for (int64_t c = 0; c < parts; c++) {
        if (fclib_mass_size(p->mass, c) > largest) largest = fclib_mass_size(p->mass, c);
    }
    t->x = calloc((size_t)largest + 1, sizeof *t->x);
    if (last && next && t->first && t->x) {
        visit_contacts(p, last, t->first + 1, NULL);
        for (int64_t c = 0; c < parts; c++) t->first[c + 1] += t->first[c];
        t->contact = calloc((size_t)t->first[parts] + 1, sizeof *t->contact);
    }
    if (t->contact) {
        memcpy(next, t->first, (size_t)parts * sizeof *next);
        visit_contacts(p, last, next, t->contact);
    }
    free(last);
    free(next);
    return t->contact ? TALUS_OK : error_memory(error, "condensing a global problem");
}

/// Contact k is coupled with all contacts of the parts that it touches.
static talus_status couple(fclib_problem* p, const touching* touch, talus_error* error)
{
    reduced_problem* reduced = &p->reduced;
    pattern t = {0};
    if (!pattern_begin(&t, reduced)) t.failed = true;
    for (int32_t k = 0; !t.failed && k < reduced->count; k++) {
        pattern_add(&t, k, k);
        const int64_t end = p->h.first[((int64_t)k + 1) * reduced->width];
        int32_t before = -1;
        for (int64_t e = p->h.first[(int64_t)k * reduced->width]; e < end; e++) {
            const int32_t part = p->mass->part[p->h.row[e]];
            if (part == before) continue;
            before = part;
            for (int64_t i = touch->first[part]; i < touch->first[part + 1]; i++) {
                pattern_add(&t, k, touch->contact[i]);
            }
        }
        reduced->first[k + 1] = pattern_end_row(&t);
    }
    return pattern_finish(&t, reduced, error);
}

/// x = the part of column j of H; false if it has nothing there.
static bool take_column(const fclib_problem* p, int64_t part, int64_t j, double* x)
{
    bool any = false;
    memset(x, 0, (size_t)fclib_mass_size(p->mass, part) * sizeof *x);
    for (int64_t e = p->h.first[j]; e < p->h.first[j + 1]; e++) {
        const int32_t dof = p->h.row[e];
        if (p->mass->part[dof] != part) continue;
        x[p->mass->place[dof]] = p->h.value[e];
        any = true;
    }
    return any;
}

/// Product of column j of H with a vector of one part.
static double column_times(const fclib_problem* p, int64_t part, int64_t j, const double* x)
{
    double sum = 0.0;
    for (int64_t e = p->h.first[j]; e < p->h.first[j + 1]; e++) {
        const int32_t dof = p->h.row[e];
        if (p->mass->part[dof] == part) sum += p->h.value[e] * x[p->mass->place[dof]];
    }
    return sum;
}

/// Add H^T M_part^-1 H of one part.
static void add_part(fclib_problem* p, const touching* t, int64_t part)
{
    reduced_problem* reduced = &p->reduced;
    const int width = reduced->width;
    for (int64_t b = t->first[part]; b < t->first[part + 1]; b++) {
        const int32_t column = t->contact[b];
        for (int d = 0; d < width; d++) {
            if (!take_column(p, part, (int64_t)column * width + d, t->x)) continue;
            fclib_mass_solve(p->mass, part, t->x);
            for (int64_t a = t->first[part]; a < t->first[part + 1]; a++) {
                const int64_t row = t->contact[a];
                double* block = find_block(reduced, row, column);
                for (int e = 0; e < width; e++) {
                    block[e * width + d] += column_times(p, part, row * width + e, t->x);
                }
            }
        }
    }
}

/// x := M^-1 x.
static talus_status solve_all(const fclib_problem* p, double* x, talus_error* error)
{
    double* part = calloc((size_t)p->dofs + 1, sizeof *part);
    if (!part) return error_memory(error, "finding the velocities of a global problem");
    for (int64_t c = 0; c < p->mass->parts; c++) {
        const int32_t* dof = p->mass->dof + p->mass->first[c];
        const int64_t size = fclib_mass_size(p->mass, c);
        for (int64_t i = 0; i < size; i++) part[i] = x[dof[i]];
        fclib_mass_solve(p->mass, c, part);
        for (int64_t i = 0; i < size; i++) x[dof[i]] = part[i];
    }
    free(part);
    return TALUS_OK;
}

/// y := A^T x + b.
static void times_transpose(const fclib_matrix* a, const double* x, const double* b, double* y)
{
    for (int64_t j = 0; j < a->columns; j++) {
        double sum = 0.0;
        for (int64_t k = a->first[j]; k < a->first[j + 1]; k++) sum += a->value[k] * x[a->row[k]];
        y[j] = sum + b[j];
    }
}

/// y := y + A x.
static void add_times(const fclib_matrix* a, const double* x, double* y)
{
    for (int64_t j = 0; j < a->columns; j++) {
        for (int64_t k = a->first[j]; k < a->first[j + 1]; k++) y[a->row[k]] += a->value[k] * x[j];
    }
}

talus_status fclib_fill_condensed(fclib_problem* p, const char* name, talus_error* error)
{
    if (!p->mass) TRY(fclib_mass_make(&p->m, name, &p->mass, error));
    touching t = {0};
    talus_status status = touching_make(p, &t, error);
    if (status == TALUS_OK) status = couple(p, &t, error);
    for (int64_t c = 0; status == TALUS_OK && c < p->mass->parts; c++) add_part(p, &t, c);
    free(t.first);
    free(t.contact);
    free(t.x);
    TRY(status);

    // q = H^T M^-1 f + w.
    double* x = calloc((size_t)p->dofs + 1, sizeof *x);
    if (!x) return error_memory(error, "condensing a global problem");
    memcpy(x, p->f, (size_t)p->dofs * sizeof *x);
    status = solve_all(p, x, error);
    if (status == TALUS_OK) times_transpose(&p->h, x, p->w, p->reduced.q);
    free(x);
    TRY(status);

    // M may be regular by its pivots and yet so badly scaled that W or q are not finite.
    const reduced_problem* reduced = &p->reduced;
    const int64_t entries = reduced->first[reduced->count] * reduced->width * reduced->width;
    bool good = true;
    for (int64_t i = 0; i < entries; i++) good = good && isfinite(reduced->block[i]);
    for (int64_t i = 0; i < reduced->count * reduced->width; i++) {
        good = good && isfinite(reduced->q[i]);
    }
    if (good) return TALUS_OK;
    return error_set(error, TALUS_ERR_FORMAT,
                     "%s cannot be condensed: H^T M^-1 H or H^T M^-1 f is not finite", name);
}

talus_status fclib_condense(fclib_problem* p, talus_error* error)
{
    if (!p->global) return TALUS_OK;
    fclib_mass_free(p->mass);
    p->mass = NULL;
    return fclib_fill_condensed(p, "M", error);
}

// ---- velocities and error ----------------------------------------------------------------------

talus_status fclib_velocity(const fclib_problem* p, const double* r, double* u, double* v,
                            talus_error* error)
{
    if (!p->global) {
        reduced_velocity(&p->reduced, r, u);
        return TALUS_OK;
    }
    memcpy(v, p->f, (size_t)p->dofs * sizeof *v);
    add_times(&p->h, r, v);
    TRY(solve_all(p, v, error));
    times_transpose(&p->h, v, p->w, u);
    return TALUS_OK;
}

static double norm(const double* x, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

talus_status fclib_error(const fclib_problem* p, const double* r, const double* u, const double* v,
                         double* out, talus_error* error)
{
    *out = reduced_error(&p->reduced, r);
    if (!p->global) return TALUS_OK;
    const int64_t n = p->reduced.count * p->reduced.width;
    double both = fmax(norm(r, n), norm(u, n));
    double size = fmax(both, norm(p->w, n));
    if (size > 0.0) *out *= fmax(both, norm(p->reduced.q, n)) / size;

    // |M v - H r - f| relative to the largest of its terms.
    const int64_t dofs = p->dofs;
    double* momentum = calloc(2 * (size_t)dofs + 1, sizeof *momentum);
    if (!momentum) return error_memory(error, "finding the error of a solution");
    double* impulse = momentum + dofs;
    add_times(&p->m, v, momentum);
    add_times(&p->h, r, impulse);
    size = fmax(norm(momentum, dofs), fmax(norm(impulse, dofs), norm(p->f, dofs)));
    for (int64_t i = 0; i < dofs; i++) momentum[i] -= impulse[i] + p->f[i];
    if (size > 0.0) *out += norm(momentum, dofs) / size;
    free(momentum);
    return TALUS_OK;
}
