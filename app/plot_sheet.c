/// Sheets: the numbers of a plot, written as a figure and as the CSV behind it.
#include "plot.h"

#include "base/array.h"
#include "record/files.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

void sheet_free(plot_sheet* sheet)
{
    for (int i = 0; i < sheet->array_count; i++) free(sheet->array[i]);
    free(sheet->array);
    free(sheet->curve);
    free(sheet->column);
    *sheet = (plot_sheet){0};
}

double* sheet_array(plot_sheet* sheet, int64_t count)
{
    double* made = calloc((size_t)count + 1, sizeof *made);
    if (!made ||
        !arrays_grow(&sheet->array_capacity, sheet->array_count + 1, ARRAY(sheet->array))) {
        free(made);
        sheet->failed = true;
        return NULL;
    }
    return sheet->array[sheet->array_count++] = made;
}

void sheet_column(plot_sheet* sheet, const char* name, const double* data)
{
    if (!data) return;
    if (!arrays_grow(&sheet->column_capacity, sheet->column_count + 1, ARRAY(sheet->column))) {
        sheet->failed = true;
        return;
    }
    plot_column* c = &sheet->column[sheet->column_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->data = data;
}

void sheet_curve(plot_sheet* sheet, plot_curve curve)
{
    if (!curve.x || !curve.y) return;
    bool any = false; // a curve without a point would only stand in the legend
    for (int64_t i = 0; i < curve.count; i++) any = any || isfinite(curve.y[i]);
    if (!any) curve.label[0] = '\0';
    if (arrays_grow(&sheet->curve_capacity, sheet->curve_count + 1, ARRAY(sheet->curve)))
        sheet->curve[sheet->curve_count++] = curve;
    else
        sheet->failed = true;
}

static void add_note(plot_sheet* sheet, plot_note note, const char* text)
{
    if (sheet->note_count == 2 * PLOT_PANELS) return;
    snprintf(note.text, sizeof note.text, "%s", text);
    sheet->note[sheet->note_count++] = note;
}

void sheet_mark(plot_sheet* sheet, int panel, bool vertical, double at, const char* text)
{
    if (isfinite(at)) add_note(sheet, (plot_note){panel, false, vertical, at, 0.0, ""}, text);
}

void sheet_text(plot_sheet* sheet, int panel, double x, double y, const char* text)
{
    add_note(sheet, (plot_note){panel, true, false, x, y, ""}, text);
}

void sheet_nothing(plot_sheet* sheet, const char* format, ...)
{
    va_list rest;
    va_start(rest, format);
    vsnprintf(sheet->why, sizeof sheet->why, format, rest);
    va_end(rest);
}

// ---- histograms --------------------------------------------------------------------------------

void sheet_histogram(plot_sheet* sheet, int panel, const char* name, const char* label, int bins,
                     const double* edge, const double* density)
{
    double *x = sheet_array(sheet, bins + 1), *y = sheet_array(sheet, bins + 1);
    double* high = sheet_array(sheet, bins);
    if (!x || !y || !high) return;
    memcpy(x, edge, (size_t)(bins + 1) * sizeof *x);
    memcpy(y, density, (size_t)bins * sizeof *y);
    memcpy(high, edge + 1, (size_t)bins * sizeof *high);
    sheet->length = bins;
    bool has_bins = false;
    for (int i = 0; i < sheet->column_count; i++) {
        has_bins |= strcmp(sheet->column[i].name, "low") == 0;
    }
    if (!has_bins) {
        sheet_column(sheet, "low", x);
        sheet_column(sheet, "high", high);
    }
    sheet_column(sheet, name, y);
    plot_curve curve = {.panel = panel,
                        .style = TALUS_CURVE_STEPS,
                        .colour = -1,
                        .x = x,
                        .y = y,
                        .count = bins + 1};
    snprintf(curve.label, sizeof curve.label, "%s", label);
    sheet_curve(sheet, curve);
}

// ---- files -------------------------------------------------------------------------------------

bool sheet_write_csv(const plot_sheet* sheet, const char* path)
{
    text_buffer text = {0};
    talus_error error = {0};
    for (int k = 0; k < sheet->column_count; k++) {
        text_add(&text, "%s%s", k ? "," : "", sheet->column[k].name);
    }
    text_add(&text, "\n");
    for (int64_t i = 0; i < sheet->length; i++) {
        for (int k = 0; k < sheet->column_count; k++) {
            const double value = sheet->column[k].data[i];
            // An empty field, as in series.csv, where a number is not defined.
            if (k) text_add(&text, ",");
            if (isfinite(value)) text_add(&text, "%.17g", value);
        }
        text_add(&text, "\n");
    }
    bool good = !text.failed;
    if (!good) fprintf(stderr, "talus: out of memory\n");
    if (good && files_replace(path, text.data, text.size, false, &error) < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        good = false;
    }
    text_free(&text);
    return good;
}

static talus_status fill_panel(const plot_sheet* sheet, int i, talus_figure* figure,
                               talus_error* error)
{
    const plot_panel* p = &sheet->panel[i];
    talus_axes_def axes = talus_axes_default();
    axes.title = p->title[0] ? p->title : NULL;
    axes.x_label = p->x_label;
    axes.y_label = p->y_label;
    axes.x_log = p->x_log, axes.y_log = p->y_log;
    axes.x_low = p->x_low, axes.x_high = p->x_high;
    axes.y_low = p->y_low, axes.y_high = p->y_high;
    axes.equal = p->equal;
    if (sheet->rows > 1 && sheet->columns == 1) axes.legend = TALUS_LEGEND_OUTSIDE;
    talus_status status = talus_figure_axes(figure, i, &axes, error);
    for (int k = 0; status >= 0 && k < sheet->curve_count; k++) {
        const plot_curve* c = &sheet->curve[k];
        if (c->panel != i) continue;
        talus_curve_def def = talus_curve_default();
        def.label = c->label[0] ? c->label : NULL;
        def.x = c->x, def.y = c->y, def.count = c->count;
        def.style = c->style, def.dash = c->dash, def.colour = c->colour;
        status = talus_figure_curve(figure, i, &def, error);
    }
    for (int k = 0; status >= 0 && k < sheet->note_count; k++) {
        const plot_note* n = &sheet->note[k];
        if (n->panel != i) continue;
        status = n->is_text ? talus_figure_text(figure, i, n->x, n->y, n->text, error)
                            : talus_figure_mark(figure, i, n->vertical, n->x, n->text, error);
    }
    return status;
}

bool sheet_write_figure(const plot_sheet* sheet, const char* path, double width, double dots)
{
    talus_figure* figure = NULL;
    talus_error error = {0};
    talus_figure_def def = talus_figure_default();
    def.columns = sheet->columns;
    def.rows = sheet->rows;
    def.panel_width = width / sheet->columns;
    const bool stacked = sheet->rows > 1 && sheet->columns == 1;
    const double shape = sheet->shape > 0.0 ? sheet->shape : stacked ? 0.5 : 0.75;
    def.panel_height = shape * def.panel_width;
    talus_status status = talus_figure_create(&def, &figure, &error);
    for (int i = 0; status >= 0 && i < sheet->columns * sheet->rows; i++) {
        status = fill_panel(sheet, i, figure, &error);
    }
    if (status >= 0) status = talus_figure_write(figure, path, dots, &error);
    talus_figure_destroy(figure);
    if (status < 0) fprintf(stderr, "talus: %s\n", error.text);
    return status >= 0;
}
