/// Figures: made, filled with copies of what the caller gives, and freed. Nothing is drawn before
/// talus_figure_write().
#include "picture/figure.h"

#include "base/array.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "picture/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void talus_figure_default_sized(talus_figure_def* def, size_t size)
{
    talus_figure_def own = {.columns = 1, .rows = 1, .panel_width = 400.0, .panel_height = 300.0};
    DEFINITION_GIVE(def, size, own);
}

void talus_axes_default_sized(talus_axes_def* def, size_t size)
{
    talus_axes_def own = {0};
    DEFINITION_GIVE(def, size, own);
}

void talus_curve_default_sized(talus_curve_def* def, size_t size)
{
    talus_curve_def own = {.colour = -1, .marker = -1, .width = 1.2, .dot_size = 4.5};
    DEFINITION_GIVE(def, size, own);
}

// ---- memory ------------------------------------------------------------------------------------

talus_status figure_copy(const char* text, char** out, talus_error* error)
{
    *out = NULL;
    if (!text) return TALUS_OK;
    *out = text_copy(text);
    return *out ? TALUS_OK : error_memory(error, "a text of a figure");
}

void picture_free(picture* p)
{
    free(p->piece);
    free(p->point);
    free(p->value_label);
    for (int i = 0; i < COLOUR_PALETTE; i++) free(p->colour_name[i]);
    free(p->length_unit);
    free(p->force_unit);
    free(p->caption);
    *p = (picture){0};
}

void talus_figure_destroy(talus_figure* figure)
{
    if (!figure) return;
    for (int k = 0; k < figure->panel_count; k++) {
        panel* p = &figure->panel[k];
        for (int64_t i = 0; i < p->series_count; i++) {
            free(p->series[i].data);
            free(p->series[i].label);
        }
        for (int64_t i = 0; i < p->mark_count; i++) free(p->mark[i].label);
        for (int64_t i = 0; i < p->text_count; i++) free(p->text[i].text);
        free(p->series);
        free(p->mark);
        free(p->text);
        free(p->title);
        free(p->x_label);
        free(p->y_label);
        picture_free(&p->picture);
    }
    free(figure->panel);
    free(figure->title);
    free(figure);
}

// ---- figure ------------------------------------------------------------------------------------

talus_status talus_figure_create(const talus_figure_def* given, talus_figure** out,
                                 talus_error* error)
{
    talus_figure_def own = talus_figure_default();
    const talus_figure_def* def = &own;
    *out = NULL;
    TRY(DEFINITION_TAKE(figure, &own, given, error));
    if (def->columns < 1 || def->rows < 1 || def->columns > 100 || def->rows > 100) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: columns and rows of panels must be 1 to 100, got %d and %d",
                         def->columns, def->rows);
    }
    if (!(def->panel_width >= 50.0 && def->panel_width <= 10000.0) ||
        !(def->panel_height >= 50.0 && def->panel_height <= 10000.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: a panel must be 50 to 10000 points wide and high, got %g and %g",
                         def->panel_width, def->panel_height);
    }
    talus_figure* figure = calloc(1, sizeof *figure);
    if (!figure) return error_memory(error, "a figure");
    figure->def = *def;
    figure->panel_count = def->columns * def->rows;
    figure->panel = calloc((size_t)figure->panel_count, sizeof *figure->panel);
    talus_status status = figure->panel ? figure_copy(def->title, &figure->title, error)
                                        : error_memory(error, "the panels of a figure");
    if (status != TALUS_OK) {
        if (!figure->panel) figure->panel_count = 0;
        talus_figure_destroy(figure);
        return status;
    }
    figure->def.title = figure->title;
    *out = figure;
    return TALUS_OK;
}

talus_status figure_panel(talus_figure* figure, int number, panel** out, talus_error* error)
{
    if (number < 0 || number >= figure->panel_count) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: there is no panel %d, they are counted from 0 to %d", number,
                         figure->panel_count - 1);
    }
    *out = &figure->panel[number];
    return TALUS_OK;
}

// ---- axes --------------------------------------------------------------------------------------

talus_status figure_check_ends(const char* name, double low, double high, bool log,
                               talus_error* error)
{
    if (low == high) return TALUS_OK;
    if (!(fabs(low) <= FIGURE_LARGEST && fabs(high) <= FIGURE_LARGEST)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the ends of %s must be finite, got %g and %g", name, low, high);
    }
    if (log && !(low > 0.0 && high > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the ends of %s, which is logarithmic, must be positive, got %g "
                         "and %g",
                         name, low, high);
    }
    if (span_too_short(low, high)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the ends of %s are too close to each other: %.17g and %.17g",
                         name, low, high);
    }
    return TALUS_OK;
}

talus_status talus_figure_axes(talus_figure* figure, int number, const talus_axes_def* given,
                               talus_error* error)
{
    talus_axes_def own = talus_axes_default();
    const talus_axes_def* def = &own;
    TRY(DEFINITION_TAKE(axes, &own, given, error));
    panel* p = NULL;
    TRY(figure_panel(figure, number, &p, error));
    TRY(figure_check_ends("the axis x", def->x_low, def->x_high, def->x_log, error));
    TRY(figure_check_ends("the axis y", def->y_low, def->y_high, def->y_log, error));
    if ((int)def->legend < TALUS_LEGEND_AUTO || def->legend > TALUS_LEGEND_NONE) {
        return error_set(error, TALUS_ERR_ARGUMENT, "figure: unknown place of a legend: %d",
                         (int)def->legend);
    }
    char *title = NULL, *x_label = NULL, *y_label = NULL;
    talus_status status = figure_copy(def->title, &title, error);
    if (status == TALUS_OK) status = figure_copy(def->x_label, &x_label, error);
    if (status == TALUS_OK) status = figure_copy(def->y_label, &y_label, error);
    if (status != TALUS_OK) {
        free(title);
        free(x_label);
        return status;
    }
    free(p->title);
    free(p->x_label);
    free(p->y_label);
    p->axes = *def;
    p->axes.title = p->title = title;
    p->axes.x_label = p->x_label = x_label;
    p->axes.y_label = p->y_label = y_label;
    return TALUS_OK;
}

// ---- data series -------------------------------------------------------------------------------

/// Points whose x, y and error bars have a size in bytes.
#define FIGURE_MOST_POINTS (PTRDIFF_MAX / (int64_t)(3 * sizeof(double)) - 1)

static talus_status check_series(const talus_curve_def* def, talus_error* error)
{
    if (def->count < 0 || (def->count > 0 && (!def->x || !def->y))) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: a curve of %lld points needs arrays x and y",
                         (long long)def->count);
    }
    if (def->count > FIGURE_MOST_POINTS) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: a curve of %lld points is larger than any memory",
                         (long long)def->count);
    }
    if ((int)def->style < TALUS_CURVE_LINE || def->style > TALUS_CURVE_STEPS ||
        (int)def->dash < TALUS_DASH_SOLID || def->dash > TALUS_DASH_DOTTED) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: unknown style %d or dash %d of a curve", (int)def->style,
                         (int)def->dash);
    }
    if (def->colour < -1 || def->colour >= COLOUR_PALETTE || def->marker < -1 ||
        def->marker >= FIGURE_MARKERS) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: colours are 0 to %d and markers 0 to %d, or -1; got %d and %d",
                         COLOUR_PALETTE - 1, FIGURE_MARKERS - 1, def->colour, def->marker);
    }
    if (!(def->width > 0.0 && def->width <= 100.0) ||
        !(def->dot_size > 0.0 && def->dot_size <= 1000.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the width of a line must be positive and at most 100 points, the "
                         "size of dots at most 1000; got %g and %g",
                         def->width, def->dot_size);
    }
    return TALUS_OK;
}

talus_status talus_figure_curve(talus_figure* figure, int number, const talus_curve_def* given,
                                talus_error* error)
{
    talus_curve_def own = talus_curve_default();
    const talus_curve_def* def = &own;
    TRY(DEFINITION_TAKE(curve, &own, given, error));
    panel* p = NULL;
    TRY(figure_panel(figure, number, &p, error));
    TRY(check_series(def, error));
    if (!arrays_grow(&p->series_capacity, p->series_count + 1, ARRAY(p->series))) {
        return error_memory(error, "the curves of a panel");
    }
    panel_series* c = &p->series[p->series_count];
    // Its arrays and its label are copied, and its definition points to the copies.
    const size_t n = (size_t)def->count, arrays = def->y_error ? 3 : 2;
    *c = (panel_series){.def = *def};
    TRY(figure_copy(def->label, &c->label, error));
    c->data = malloc((arrays * n + 1) * sizeof *c->data);
    if (!c->data) {
        free(c->label);
        return error_memory(error, "the points of a curve");
    }
    if (n > 0) {
        memcpy(c->data, def->x, n * sizeof *c->data);
        memcpy(c->data + n, def->y, n * sizeof *c->data);
        if (def->y_error) memcpy(c->data + 2 * n, def->y_error, n * sizeof *c->data);
    }
    c->def.label = c->label;
    c->def.x = c->data;
    c->def.y = c->data + n;
    c->def.y_error = def->y_error ? c->data + 2 * n : NULL;
    const bool dots = def->style == TALUS_CURVE_DOTS || def->style == TALUS_CURVE_LINE_DOTS;
    if (def->colour < 0) c->def.colour = p->next_colour++ % COLOUR_PALETTE;
    if (def->marker < 0) c->def.marker = dots ? p->next_marker++ % FIGURE_MARKERS : 0;
    p->series_count++;
    return TALUS_OK;
}

// ---- marks and texts ---------------------------------------------------------------------------

talus_status talus_figure_mark(talus_figure* figure, int number, bool vertical, double at,
                               const char* label, talus_error* error)
{
    panel* p = NULL;
    TRY(figure_panel(figure, number, &p, error));
    if (!arrays_grow(&p->mark_capacity, p->mark_count + 1, ARRAY(p->mark))) {
        return error_memory(error, "the marks of a panel");
    }
    panel_mark* m = &p->mark[p->mark_count];
    *m = (panel_mark){.vertical = vertical, .at = at};
    TRY(figure_copy(label, &m->label, error));
    p->mark_count++;
    return TALUS_OK;
}

talus_status talus_figure_text(talus_figure* figure, int number, double x, double y,
                               const char* text, talus_error* error)
{
    panel* p = NULL;
    TRY(figure_panel(figure, number, &p, error));
    if (!text) return error_set(error, TALUS_ERR_ARGUMENT, "figure: there is no text to write");
    if (!arrays_grow(&p->text_capacity, p->text_count + 1, ARRAY(p->text))) {
        return error_memory(error, "the texts of a panel");
    }
    panel_text* t = &p->text[p->text_count];
    *t = (panel_text){.x = x, .y = y};
    TRY(figure_copy(text, &t->text, error));
    p->text_count++;
    return TALUS_OK;
}
