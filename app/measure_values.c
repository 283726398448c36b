/// Numbers and tables of `talus measure`, collected frame by frame.
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void measured_free(measured* m)
{
    for (int i = 0; i < m->number_count; i++) free(m->number[i].value);
    for (int i = 0; i < m->table_count; i++) {
        free(m->table[i].mean);
        free(m->table[i].found);
    }
    free(m->number);
    free(m->table);
    *m = (measured){0};
}

// ---- numbers -----------------------------------------------------------------------------------

/// Place of a new number: after all of the same quantity and of those before it in the list.
static int place_for(const measured* m)
{
    int place = m->number_count;
    while (place > 0 && m->number[place - 1].order > m->order) place--;
    return place;
}

/// A new number, undefined in all frames; NULL without memory.
static measure_number* add_number(measured* m, const char* name, const char* unit)
{
    measure_number* list = realloc(m->number, sizeof *list * ((size_t)m->number_count + 1));
    double* value = malloc(sizeof *value * (size_t)m->frames);
    if (list) m->number = list;
    if (!list || !value) {
        free(value);
        m->failed = true;
        return NULL;
    }
    for (int64_t i = 0; i < m->frames; i++) value[i] = NAN;
    measure_number* number = &m->number[place_for(m)];
    memmove(number + 1, number,
            sizeof *number * (size_t)(m->number_count++ - (int)(number - m->number)));
    *number =
        (measure_number){.quantity = m->quantity, .order = m->order, .unit = unit, .value = value};
    snprintf(number->name, sizeof number->name, "%s", name);
    return number;
}

void measured_number(measured* m, const char* name, const char* unit, double value)
{
    measure_number* number = NULL;
    for (int i = 0; i < m->number_count && !number; i++) {
        measure_number* n = &m->number[i];
        if (n->quantity == m->quantity && strcmp(n->name, name) == 0) number = n;
    }
    if (!number) number = add_number(m, name, unit);
    if (number) number->value[m->frame] = value;
}

void measured_tensor(measured* m, const char* name, const char* unit, int dim,
                     const double tensor[9])
{
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            char entry[48];
            snprintf(entry, sizeof entry, "%s_%c%c", name, 'x' + i, 'x' + j);
            measured_number(m, entry, unit, tensor[3 * i + j]);
        }
    }
}

measure_spread measure_spread_of(const measured* m, const measure_number* number)
{
    measure_spread s = {.low = INFINITY, .high = -INFINITY};
    double sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < m->frames; i++) {
        const double x = number->value[i];
        if (isnan(x)) continue;
        s.count++;
        sum += x;
        s.low = fmin(s.low, x);
        s.high = fmax(s.high, x);
    }
    if (s.count == 0) return (measure_spread){0, NAN, NAN, NAN, NAN};
    s.mean = sum / (double)s.count;
    for (int64_t i = 0; i < m->frames; i++) {
        const double off = number->value[i] - s.mean;
        if (!isnan(off)) square += off * off;
    }
    s.spread = sqrt(square / (double)s.count);
    return s;
}

// ---- tables ------------------------------------------------------------------------------------

static measure_table* add_table(measured* m, const char* name, int columns,
                                const char* const* column, const char* const* unit, int64_t rows)
{
    const size_t size = (size_t)columns * (size_t)rows + 1;
    measure_table* list = realloc(m->table, sizeof *list * ((size_t)m->table_count + 1));
    double* mean = calloc(size, sizeof *mean);
    int64_t* found = calloc(size, sizeof *found);
    if (list) m->table = list;
    if (!list || !mean || !found) {
        free(mean);
        free(found);
        m->failed = true;
        return NULL;
    }
    measure_table* t = &m->table[m->table_count++];
    *t = (measure_table){.quantity = m->quantity,
                         .name = name,
                         .columns = columns,
                         .rows = rows,
                         .mean = mean,
                         .found = found};
    for (int k = 0; k < columns; k++) {
        t->column[k] = column[k];
        t->unit[k] = unit[k];
    }
    return t;
}

/// Cut a table to fewer rows.
static void shorten(measure_table* t, int64_t rows)
{
    for (int k = 1; k < t->columns; k++) {
        memmove(t->mean + k * rows, t->mean + k * t->rows, sizeof *t->mean * (size_t)rows);
        memmove(t->found + k * rows, t->found + k * t->rows, sizeof *t->found * (size_t)rows);
    }
    t->rows = rows;
}

void measured_rows(measured* m, const char* name, int columns, const char* const* column,
                   const char* const* unit, int64_t rows, const double* const* data)
{
    measure_table* t = NULL;
    for (int i = 0; i < m->table_count && !t; i++) {
        if (strcmp(m->table[i].name, name) == 0) t = &m->table[i];
    }
    if (!t) t = add_table(m, name, columns, column, unit, rows);
    if (!t) return;
    if (rows < t->rows) shorten(t, rows);
    for (int k = 0; k < columns; k++) {
        for (int64_t i = 0; i < t->rows; i++) {
            const int64_t at = k * t->rows + i;
            if (isnan(data[k][i])) continue;
            t->found[at]++;
            t->mean[at] += (data[k][i] - t->mean[at]) / (double)t->found[at];
        }
    }
}
