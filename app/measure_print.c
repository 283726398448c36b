/// What `talus measure` found: for people, as JSON, as CSV.
#include "measure.h"

#include "base/error.h"
#include "base/json.h"
#include "record/files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A unit as this run has it: in 2D volumes are areas and stresses forces over lengths.
static const char* unit_of(const measure_style* style, const char* unit)
{
    static const char* const plane[][2] = {{"Pa", "N/m"},
                                           {"m^3", "m^2"},
                                           {"kg/m^3", "kg/m^2"},
                                           {"m^3/s", "m^2/s"},
                                           {"1/m^3", "1/m^2"}};
    const bool angle = strcmp(unit, "degrees") == 0 || strcmp(unit, "rad") == 0;
    if (style->reduced && !angle) return "";
    for (size_t i = 0; i < sizeof plane / sizeof *plane && style->dim == 2; i++) {
        if (strcmp(unit, plane[i][0]) == 0) return plane[i][1];
    }
    return unit;
}

/// No packing is as loose as this, in 2D or in 3D.
static const double MOSTLY_EMPTY = 0.35;

// ---- for people --------------------------------------------------------------------------------

/// Whether a number says how much air is around the grains, and nothing about their packing.
static bool is_mostly_air(const measure_number* n, double mean)
{
    const bool fraction =
        strcmp(n->name, "solid_fraction") == 0 || strcmp(n->name, "solid/cells") == 0;
    return fraction && mean < MOSTLY_EMPTY;
}

/// Mean of another number of the overview; 0 if it is not there.
static double mean_of(const measured* m, const char* name)
{
    for (int i = 0; i < m->number_count; i++) {
        if (strcmp(m->number[i].name, name) == 0) return measure_spread_of(m, &m->number[i]).mean;
    }
    return 0.0;
}

/// What the overview prints in place of a number that would be misread: "" for nothing at all, NULL
/// for the number itself. A quantity that is named is printed with all its numbers.
static const char* instead_of(const measured* m, const measure_number* n, double mean)
{
    enum { FEW_CENTRES = 10, MOST_ANISOTROPY = 2 }; // forces that only push have 1 at most
    const bool rough = mean_of(m, "rubbing_contacts") > 0.0;
    const bool needs_friction = strstr(n->name, "_2_contacts") != NULL;
    const bool needs_smooth = strstr(n->name, "_dim+1_contacts") != NULL;
    const bool relative = strcmp(n->name, "a_n") == 0 || strcmp(n->name, "a_t") == 0;
    if (is_mostly_air(n, mean))
        return "most of this space is empty: narrow it with --region, or see local_fraction";
    if ((needs_friction && !rough) || (needs_smooth && rough)) return "";
    if (strcmp(n->name, "mu") == 0 && mean < 0.0)
        return "nothing flows here: the stress does not resist the fitted motion";
    if (relative && fabs(mean) > MOST_ANISOTROPY)
        return "pushes and pulls nearly cancel: there is no mean force";
    if (strncmp(n->name, "peak", 4) == 0 && mean_of(m, "centres") < FEW_CENTRES)
        return "too few grains are far enough from the surface";
    return NULL;
}

static void print_number(const measured* m, const measure_number* n, const measure_style* style)
{
    const char* unit = unit_of(style, n->unit);
    const measure_spread s = measure_spread_of(m, n);
    const char* instead = style->tables ? NULL : instead_of(m, n, s.mean);
    if (instead && !instead[0]) return;
    printf("  %-24s", n->name);
    if (s.count == 0) {
        printf(" not defined\n");
    } else if (instead) {
        printf(" %s\n", instead);
    } else if (m->frames == 1 || s.count == 1) {
        printf(" %12.6g %s%s\n", s.mean, unit,
               is_mostly_air(n, s.mean) ? "of a space that is mostly empty" : "");
    } else {
        printf(" %12.6g %12.4g %12.6g %12.6g %s", s.mean, s.spread, s.low, s.high, unit);
        if (s.count < m->frames) printf(" (%" PRId64 " frames)", s.count);
        putchar('\n');
    }
}

static void print_table(const measure_table* t, const measure_style* style)
{
    printf("  %s\n   ", t->name);
    for (int k = 0; k < t->columns; k++) {
        char head[64];
        const char* unit = unit_of(style, t->unit[k]);
        snprintf(head, sizeof head, unit[0] ? "%s, %s" : "%s", t->column[k], unit);
        printf(" %20s", head);
    }
    putchar('\n');
    for (int64_t i = 0; i < t->rows; i++) {
        printf("   ");
        for (int k = 0; k < t->columns; k++) {
            const int64_t at = k * t->rows + i;
            if (t->weight[at] > 0.0)
                printf(" %20.6g", t->mean[at]);
            else
                printf(" %20s", "-");
        }
        putchar('\n');
    }
}

void measure_print(const measure_task* task, const measure_style* style)
{
    int count;
    const measure_quantity* list = measure_quantities(&count);
    const measured* m = task->out;
    const char* quantity = NULL;
    const frame_range* f = &task->frames;
    const double* times = talus_recording_times(task->recording);
    const char* unit = style->reduced ? "" : " s";
    printf("%s", task->directory);
    if (style->title[0]) printf(" (%s)", style->title);
    if (f->count == 1) {
        printf(": frame %" PRId64 ", t = %.6g%s\n", f->first, times[f->first], unit);
    } else {
        printf(": %" PRId64 " frames from %" PRId64 " to %" PRId64 ", t = %.6g to %.6g%s\n",
               f->count, f->first, f->last, times[f->first], times[f->last], unit);
    }
    if (m->frames > 1) {
        printf("  %-24s %12s %12s %12s %12s\n", "", "mean", "spread", "smallest", "largest");
    }
    for (int i = 0; i < m->number_count; i++) {
        if (m->number[i].quantity != quantity) {
            quantity = m->number[i].quantity;
            printf("\n%s: %s\n", quantity, list[m->number[i].order].what);
        }
        print_number(m, &m->number[i], style);
        const bool last = i + 1 == m->number_count || m->number[i + 1].quantity != quantity;
        for (int k = 0; k < m->table_count && last && style->tables; k++) {
            if (m->table[k].quantity == quantity) print_table(&m->table[k], style);
        }
    }
}

// ---- JSON --------------------------------------------------------------------------------------

static void write_number(json* j, const measured* m, const measure_number* n,
                         const measure_style* style)
{
    json_object(j, n->name);
    json_string(j, "unit", unit_of(style, n->unit));
    if (m->frames == 1) {
        json_number(j, "value", n->value[0]);
    } else {
        const measure_spread s = measure_spread_of(m, n);
        json_number(j, "mean", s.mean);
        json_number(j, "spread", s.spread);
        json_number(j, "smallest", s.low);
        json_number(j, "largest", s.high);
        json_array(j, "values");
        for (int64_t i = 0; i < m->frames; i++) json_number(j, NULL, n->value[i]);
        json_array_end(j);
    }
    json_object_end(j);
}

static void write_table(json* j, const measure_table* t, const measure_style* style)
{
    json_object(j, t->name);
    for (int k = 0; k < t->columns; k++) {
        json_object(j, t->column[k]);
        json_string(j, "unit", unit_of(style, t->unit[k]));
        json_array(j, "values");
        for (int64_t i = 0; i < t->rows; i++) {
            const int64_t at = k * t->rows + i;
            json_number(j, NULL, t->weight[at] > 0.0 ? t->mean[at] : NAN);
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_object_end(j);
}

void measure_write_json(FILE* file, const measure_task* task, const measure_style* style)
{
    const measured* m = task->out;
    const double* times = talus_recording_times(task->recording);
    json j = json_begin(file);
    json_string(&j, "run", task->directory);
    json_string(&j, "title", style->title);
    json_string(&j, "units", style->reduced ? "reduced" : "si");
    json_integer(&j, "dimension", style->dim);
    json_array(&j, "frames");
    for (int64_t i = 0; i < m->frames; i++) {
        json_integer(&j, NULL, task->frames.first + i * task->frames.stride);
    }
    json_array_end(&j);
    json_array(&j, "times");
    for (int64_t i = 0; i < m->frames; i++) {
        json_number(&j, NULL, times[task->frames.first + i * task->frames.stride]);
    }
    json_array_end(&j);
    json_array(&j, "region");
    for (int k = 0; k < style->dim; k++) {
        json_array(&j, NULL);
        json_number(&j, NULL, task->def.region.low[k]); // infinite: null
        json_number(&j, NULL, task->def.region.high[k]);
        json_array_end(&j);
    }
    json_array_end(&j);
    const char* quantity = NULL;
    for (int i = 0; i < m->number_count; i++) {
        if (m->number[i].quantity != quantity) {
            quantity = m->number[i].quantity;
            json_object(&j, quantity);
        }
        write_number(&j, m, &m->number[i], style);
        if (i + 1 < m->number_count && m->number[i + 1].quantity == quantity) continue;
        for (int k = 0; k < m->table_count; k++) {
            if (m->table[k].quantity == quantity) write_table(&j, &m->table[k], style);
        }
        json_object_end(&j);
    }
    json_end(&j);
}

// ---- CSV ---------------------------------------------------------------------------------------

static void csv_name(text_buffer* text, const char* name, const char* unit)
{
    text_add(text, unit[0] ? "%s [%s]" : "%s", name, unit);
}

static void csv_frames(text_buffer* text, const measure_task* task, const measure_style* style)
{
    const measured* m = task->out;
    const double* times = talus_recording_times(task->recording);
    text_add(text, "frame,");
    csv_name(text, "time", unit_of(style, "s"));
    for (int i = 0; i < m->number_count; i++) {
        text_add(text, ",%s.", m->number[i].quantity);
        csv_name(text, m->number[i].name, unit_of(style, m->number[i].unit));
    }
    for (int64_t f = 0; f < m->frames; f++) {
        const int64_t frame = task->frames.first + f * task->frames.stride;
        text_add(text, "\n%" PRId64 ",%.17g", frame, times[frame]);
        for (int i = 0; i < m->number_count; i++) {
            const double x = m->number[i].value[f];
            text_add(text, isnan(x) ? "," : ",%.17g", x);
        }
    }
    text_add(text, "\n");
}

static void csv_table(text_buffer* text, const measure_table* t, const measure_style* style)
{
    for (int k = 0; k < t->columns; k++) {
        if (k > 0) text_add(text, ",");
        csv_name(text, t->column[k], unit_of(style, t->unit[k]));
    }
    for (int64_t i = 0; i < t->rows; i++) {
        text_add(text, "\n");
        for (int k = 0; k < t->columns; k++) {
            const int64_t at = k * t->rows + i;
            if (k > 0) text_add(text, ",");
            if (t->weight[at] > 0.0) text_add(text, "%.17g", t->mean[at]);
        }
    }
    text_add(text, "\n");
}

static bool write_text(const char* path, text_buffer* text)
{
    talus_error error = {0};
    talus_status status = text->failed ? error_memory(&error, "writing CSV")
                                       : files_replace(path, text->data, text->size, false, &error);
    if (status < 0) fprintf(stderr, "talus: %s\n", error.text);
    text_free(text);
    return status >= 0;
}

/// PATH without ".csv", the name of a table, ".csv".
static bool table_path(char out[PATH_SIZE], const char* path, const char* name)
{
    const size_t length = strlen(path);
    const bool ends = length > 4 && strcmp(path + length - 4, ".csv") == 0;
    return output_path(out, "%.*s-%s.csv", (int)(ends ? length - 4 : length), path, name);
}

bool measure_write_csv(const char* path, const measure_task* task, const measure_style* style,
                       bool force)
{
    const measured* m = task->out;
    char other[PATH_SIZE];
    bool good = output_free(path, force);
    for (int i = 0; i < m->table_count && good; i++) {
        good = table_path(other, path, m->table[i].name) && output_free(other, force);
    }
    if (!good) return false;
    text_buffer text = {0};
    csv_frames(&text, task, style);
    if (!write_text(path, &text)) return false;
    for (int i = 0; i < m->table_count; i++) {
        text = (text_buffer){0};
        csv_table(&text, &m->table[i], style);
        if (!table_path(other, path, m->table[i].name) || !write_text(other, &text)) return false;
    }
    return true;
}
