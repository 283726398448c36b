/// Numbers and tables of `talus measure`, collected frame by frame.
#include "measure.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void measured_free(measured* m)
{
    for (int i = 0; i < m->number_count; i++) free(m->number[i].value);
    for (int i = 0; i < m->table_count; i++) {
        free(m->table[i].mean);
        free(m->table[i].weight);
    }
    free(m->number);
    free(m->table);
    *m = (measured){0};
}

// ---- numbers -----------------------------------------------------------------------------------

/// A new number, undefined in all frames; NULL without memory.
static measure_number* add_number(measured* m, const char* name, const char* unit)
{
    double* value = malloc(sizeof *value * (size_t)m->frames);
    if (!value || !arrays_grow(&m->number_capacity, m->number_count + 1, ARRAY(m->number))) {
        free(value);
        m->failed = true;
        return NULL;
    }
    for (int64_t i = 0; i < m->frames; i++) value[i] = NAN;
    // Its place is after all of the same quantity and of those before it in the list.
    int place = m->number_count++;
    for (; place > 0 && m->number[place - 1].order > m->order; place--) {
        m->number[place] = m->number[place - 1];
    }
    measure_number* number = &m->number[place];
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

void measure_note(measure_task* task, const char* name, const char* unit, double value)
{
    measured_number(task->out, name, unit, value);
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
                                const measure_column* column, int64_t rows)
{
    const size_t size = (size_t)columns * (size_t)rows + 1;
    double* mean = calloc(size, sizeof *mean);
    double* weight = calloc(size, sizeof *weight);
    if (!mean || !weight || !arrays_grow(&m->table_capacity, m->table_count + 1, ARRAY(m->table))) {
        free(mean);
        free(weight);
        m->failed = true;
        return NULL;
    }
    measure_table* t = &m->table[m->table_count++];
    *t = (measure_table){.quantity = m->quantity,
                         .name = name,
                         .columns = columns,
                         .rows = rows,
                         .mean = mean,
                         .weight = weight};
    for (int k = 0; k < columns; k++) {
        t->column[k] = column[k].name;
        t->unit[k] = column[k].unit;
    }
    return t;
}

/// Whether rows lie where those of the frames before do, up to roundoff.
static bool same_places(const measure_table* t, int places, const measure_column* column,
                        int64_t rows)
{
    if (rows != t->rows) return false;
    for (int k = 0; k < places; k++) {
        const double* before = t->mean + k * rows;
        const int stride = column[k].stride > 0 ? column[k].stride : 1;
        double largest = 0.0, off = 0.0;
        for (int64_t i = 0; i < rows; i++) {
            largest = fmax(largest, fabs(before[i]));
            off = fmax(off, fabs(column[k].data[i * stride] - before[i]));
        }
        if (off > 1e-9 * largest) return false;
    }
    return true;
}

void measured_rows(measured* m, const char* name, int places, int columns,
                   const measure_column* column, int64_t rows)
{
    measure_table* t = NULL;
    for (int i = 0; i < m->table_count && !t; i++) {
        if (strcmp(m->table[i].name, name) == 0) t = &m->table[i];
    }
    if (t) t->mixed |= !same_places(t, places, column, rows);
    if (!t) t = add_table(m, name, columns, column, rows);
    if (!t || t->mixed) return;
    for (int k = 0; k < columns; k++) {
        const int stride = column[k].stride > 0 ? column[k].stride : 1;
        for (int64_t i = 0; i < t->rows; i++) {
            const int64_t at = k * t->rows + i;
            const double x = column[k].data[i * stride];
            const double weight = column[k].weight ? column[k].weight[i] : 1.0;
            if (isnan(x) || !(weight > 0.0)) continue;
            t->weight[at] += weight;
            t->mean[at] += weight / t->weight[at] * (x - t->mean[at]);
        }
    }
}

void measured_drop_mixed(measured* m, bool tell)
{
    int kept = 0;
    for (int i = 0; i < m->table_count; i++) {
        measure_table* t = &m->table[i];
        if (!t->mixed) {
            m->table[kept++] = *t;
            continue;
        }
        if (tell) {
            fprintf(stderr,
                    "talus: the table %s is left out: its rows do not lie in the same places in "
                    "all frames, and have no mean; measure frames one by one\n",
                    t->name);
        }
        free(t->mean);
        free(t->weight);
    }
    m->table_count = kept;
}
