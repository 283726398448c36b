/// What came out of a study: measures of each run, means with error bars over seeds, a plot and a
/// page with links to all of it.
#include "sweep.h"

#include "record/files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- measures ----------------------------------------------------------------------------------

bool sweep_of_series(const char* measure, const char** column)
{
    static const char head[] = "series.";
    const bool is = strncmp(measure, head, sizeof head - 1) == 0;
    *column = is ? measure + sizeof head - 1 : NULL;
    return is;
}

/// Mean of a column of the series over the second half of the run; NaN if there is none.
static double series_mean(const talus_series* series, const char* column)
{
    const double* time = talus_series_column(series, "time");
    const double* row = talus_series_column(series, column);
    double sum = 0, count = 0;
    if (!time || !row || series->rows == 0) return NAN;
    const double middle = 0.5 * (time[0] + time[series->rows - 1]);
    for (int64_t i = 0; i < series->rows; i++) {
        if (time[i] < middle) continue;
        sum += row[i];
        count++;
    }
    return sum / count;
}

/// The next field of a line of a table without quotes; *rest moves behind it, and is NULL at the
/// end.
static char* next_field(char** rest)
{
    char* field = *rest;
    char* comma = strpbrk(field, ",\n");
    *rest = comma && *comma == ',' ? comma + 1 : NULL;
    if (comma) *comma = '\0';
    return field;
}

/// Means over the frames of what `talus measure` wrote.
static void read_measures(const sweep* s, sweep_run* r)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.csv", s->folder, r->name);
    FILE* file = fopen(path, "r");
    if (!file) return;
    char* line = NULL;
    size_t size = 0;
    int of_column[4096]; // measure in each column, -1: none
    int columns = 0;
    double sum[SWEEP_MEASURES] = {0}, count[SWEEP_MEASURES] = {0};
    if (getline(&line, &size, file) > 0) {
        for (char* rest = line; rest && columns < 4096; columns++) {
            char* name = next_field(&rest);
            char* unit = strstr(name, " [");
            if (unit) *unit = '\0';
            of_column[columns] = -1;
            for (int m = 0; m < s->measure_count; m++) {
                if (strcmp(name, s->measure[m]) == 0) of_column[columns] = m;
            }
        }
    }
    while (getline(&line, &size, file) > 0) {
        int column = 0;
        for (char* rest = line; rest && column < columns; column++) {
            const char* field = next_field(&rest);
            const int m = of_column[column];
            if (m < 0 || !*field) continue;
            sum[m] += strtod(field, NULL);
            count[m]++;
        }
    }
    free(line);
    fclose(file);
    for (int m = 0; m < s->measure_count; m++) {
        if (count[m] > 0) r->value[m] = sum[m] / count[m];
    }
}

static void read_run(const sweep* s, sweep_run* r)
{
    char directory[PATH_SIZE];
    talus_series series = {0};
    talus_error error = {0};
    snprintf(directory, sizeof directory, "%s/%s", s->folder, r->name);
    read_measures(s, r);
    const bool read = talus_series_read(directory, &series, &error) >= 0;
    for (int m = 0; read && m < s->measure_count; m++) {
        const char* column;
        if (sweep_of_series(s->measure[m], &column)) r->value[m] = series_mean(&series, column);
    }
    talus_series_free(&series);
}

/// Mean over the seeds of a combination and the standard error of that mean, NaN with fewer than
/// two.
static int average(const sweep* s, int point, int measure, double* mean, double* error)
{
    double sum = 0, squares = 0;
    int count = 0;
    *mean = *error = NAN;
    for (int i = point * s->seeds; i < (point + 1) * s->seeds; i++) {
        const double value = s->run[i].value[measure];
        if (s->run[i].state != SWEEP_DONE || isnan(value)) continue;
        sum += value;
        count++;
    }
    if (count > 0) *mean = sum / count;
    for (int i = point * s->seeds; i < (point + 1) * s->seeds && count > 1; i++) {
        const double value = s->run[i].value[measure];
        if (s->run[i].state != SWEEP_DONE || isnan(value)) continue;
        squares += (value - *mean) * (value - *mean);
    }
    if (count > 1) *error = sqrt(squares / (count - 1) / count);
    return count;
}

// ---- tables ------------------------------------------------------------------------------------

static void add_number(text_buffer* t, double value)
{
    if (!isnan(value)) text_add(t, "%.10g", value);
}

static void add_heads(const sweep* s, text_buffer* t)
{
    for (int k = 0; k < s->key_count; k++) text_add(t, "%s%s", k ? "," : "", s->key[k].path);
}

static void add_values(const sweep* s, int point, text_buffer* t)
{
    for (int k = 0; k < s->key_count; k++) {
        const char* value = sweep_value(s, point, k);
        const char* quote = strchr(value, ',') ? "\"" : "";
        text_add(t, "%s%s%s%s", k ? "," : "", quote, value, quote);
    }
}

static void list_runs(const sweep* s, text_buffer* t)
{
    static const char* const states[] = {"waiting", "running", "done", "failed", "interrupted"};
    add_heads(s, t);
    text_add(t, "%sseed,folder,state", s->key_count ? "," : "");
    for (int m = 0; m < s->measure_count; m++) text_add(t, ",%s", s->measure[m]);
    text_add(t, "\n");
    for (int i = 0; i < s->run_count; i++) {
        const sweep_run* r = &s->run[i];
        add_values(s, r->point, t);
        text_add(t, "%s", s->key_count ? "," : "");
        if (r->seed > 0) text_add(t, "%d", r->seed);
        text_add(t, ",%s,%s", r->name, states[r->state]);
        for (int m = 0; m < s->measure_count; m++) {
            text_add(t, ",");
            add_number(t, r->value[m]);
        }
        text_add(t, "\n");
    }
}

static void list_points(const sweep* s, text_buffer* t)
{
    add_heads(s, t);
    for (int m = 0; m < s->measure_count; m++) {
        text_add(t, "%s%s,%s error,%s runs", m || s->key_count ? "," : "", s->measure[m],
                 s->measure[m], s->measure[m]);
    }
    text_add(t, "\n");
    for (int p = 0; p < s->point_count; p++) {
        add_values(s, p, t);
        for (int m = 0; m < s->measure_count; m++) {
            double mean, error;
            const int count = average(s, p, m, &mean, &error);
            text_add(t, "%s", m || s->key_count ? "," : "");
            add_number(t, mean);
            text_add(t, ",");
            add_number(t, error);
            text_add(t, ",%d", count);
        }
        text_add(t, "\n");
    }
}

// ---- the plot ----------------------------------------------------------------------------------

/// Curves over the first key, one for each combination of the others.
static talus_status draw_measure(const sweep* s, talus_figure* figure, int m, talus_error* error)
{
    const int count = s->key[0].count, curves = s->point_count / count;
    double *x = malloc(sizeof *x * (size_t)count), *y = malloc(sizeof *y * (size_t)count),
           *bar = malloc(sizeof *bar * (size_t)count);
    talus_status status = x && y && bar ? TALUS_OK : TALUS_ERR_MEMORY;
    talus_axes_def axes = talus_axes_default();
    axes.x_label = s->key[0].path;
    axes.y_label = s->measure[m];
    if (status == TALUS_OK) status = talus_figure_axes(figure, m, &axes, error);
    for (int c = 0; status == TALUS_OK && c < curves; c++) {
        char label[256] = "";
        size_t used = 0;
        for (int k = 1; k < s->key_count && used < sizeof label; k++) {
            const char* dot = strrchr(s->key[k].path, '.');
            used +=
                (size_t)snprintf(label + used, sizeof label - used, "%s%s = %s", k > 1 ? ", " : "",
                                 dot ? dot + 1 : s->key[k].path, sweep_value(s, c, k));
        }
        for (int i = 0; i < count; i++) {
            char* end;
            const char* value = s->key[0].value[i];
            average(s, i * curves + c, m, &y[i], &bar[i]);
            x[i] = strtod(value, &end);
            if (*end) x[i] = i; // a word: its place
            if (isnan(bar[i])) bar[i] = 0;
        }
        talus_curve_def curve = talus_curve_default();
        curve.x = x;
        curve.y = y;
        curve.y_error = s->seeds > 1 ? bar : NULL;
        curve.count = count;
        curve.style = TALUS_CURVE_LINE_DOTS;
        if (label[0]) curve.label = label;
        status = talus_figure_curve(figure, m, &curve, error);
    }
    free(x);
    free(y);
    free(bar);
    return status;
}

static talus_status draw(const sweep* s, talus_error* error)
{
    char path[PATH_SIZE];
    talus_figure_def def = talus_figure_default();
    def.columns = s->measure_count % 3 == 0 ? 3 : s->measure_count % 2 == 0 ? 2 : 1;
    def.rows = s->measure_count / def.columns;
    talus_figure* figure;
    talus_status status = talus_figure_create(&def, &figure, error);
    if (status < 0) return status;
    for (int m = 0; status == TALUS_OK && m < s->measure_count; m++) {
        status = draw_measure(s, figure, m, error);
    }
    snprintf(path, sizeof path, "%s/sweep.png", s->folder);
    if (status == TALUS_OK) status = talus_figure_write(figure, path, 110, error);
    talus_figure_destroy(figure);
    return status;
}

// ---- the page ----------------------------------------------------------------------------------

/// A text in HTML.
static void add_text(text_buffer* t, const char* text)
{
    for (; *text; text++) {
        if (*text == '<')
            text_add(t, "&lt;");
        else if (*text == '&')
            text_add(t, "&amp;");
        else if (*text == '"')
            text_add(t, "&quot;");
        else
            text_add(t, "%c", *text);
    }
}

static void add_row(const sweep* s, int point, text_buffer* t)
{
    text_add(t, "<tr>");
    for (int k = 0; k < s->key_count; k++) {
        text_add(t, "<td>");
        add_text(t, sweep_value(s, point, k));
        text_add(t, "</td>");
    }
    for (int m = 0; m < s->measure_count; m++) {
        double mean, error;
        average(s, point, m, &mean, &error);
        if (isnan(mean))
            text_add(t, "<td>–</td>");
        else if (isnan(error))
            text_add(t, "<td>%.4g</td>", mean);
        else
            text_add(t, "<td>%.4g ± %.2g</td>", mean, error);
    }
    text_add(t, "<td>");
    for (int i = point * s->seeds; i < (point + 1) * s->seeds; i++) {
        const sweep_run* r = &s->run[i];
        const bool page = s->pages && r->state == SWEEP_DONE;
        if (page) text_add(t, "<a href=\"%s.html\">", r->name);
        text_add(t, r->seed > 0 ? "%d" : "run", r->seed);
        text_add(t, "%s ", page ? "</a>" : r->state == SWEEP_DONE ? "" : " (not done)");
    }
    text_add(t, "</td></tr>\n");
}

static void write_page(const sweep* s, text_buffer* t)
{
    text_add(t, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    add_text(t, s->folder);
    text_add(t, "</title>\n<style>body{font:16px/1.4 sans-serif;margin:2em auto;max-width:70em;"
                "padding:0 1em}table{border-collapse:collapse}th,td{border:1px solid #ccc;"
                "padding:.3em .7em;text-align:right}th{background:#f3f3f3}img{max-width:100%%}"
                "</style></head><body>\n<h1>");
    add_text(t, s->folder);
    text_add(t, "</h1>\n<p>Scene ");
    add_text(t, s->scene);
    for (int i = 0; i < s->sets.count; i++) {
        text_add(t, ", ");
        add_text(t, s->sets.items[i]);
    }
    text_add(t,
             ". Numbers are means%s. <a href=\"table.csv\">table.csv</a>, <a "
             "href=\"runs.csv\">runs.csv</a></p>\n",
             s->seeds > 1 ? " over the seeds, ± the standard error of the mean" : "");
    if (s->key_count > 0) text_add(t, "<p><img src=\"sweep.png\" alt=\"measures\"></p>\n");
    text_add(t, "<table><tr>");
    for (int k = 0; k < s->key_count; k++) {
        text_add(t, "<th>");
        add_text(t, s->key[k].path);
        text_add(t, "</th>");
    }
    for (int m = 0; m < s->measure_count; m++) {
        text_add(t, "<th>");
        add_text(t, s->measure[m]);
        text_add(t, "</th>");
    }
    text_add(t, "<th>%s</th></tr>\n", s->seeds_said ? "seeds" : "runs");
    for (int p = 0; p < s->point_count; p++) add_row(s, p, t);
    text_add(t, "</table></body></html>\n");
}

static talus_status write_text(const sweep* s, const char* name,
                               void (*make)(const sweep*, text_buffer*), talus_error* error)
{
    char path[PATH_SIZE];
    text_buffer text = {0};
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    make(s, &text);
    const talus_status status =
        text.failed ? TALUS_ERR_MEMORY : files_replace(path, text.data, text.size, false, error);
    text_free(&text);
    return status;
}

/// Say which measures no run has.
static void warn_of_missing(const sweep* s)
{
    for (int m = 0; m < s->measure_count; m++) {
        int done = 0, there = 0;
        for (int i = 0; i < s->run_count; i++) {
            done += s->run[i].state == SWEEP_DONE;
            there += !isnan(s->run[i].value[m]);
        }
        if (done == 0 || there > 0) continue;
        fprintf(stderr,
                "talus: no run has %s; `talus measure DIR --csv FILE` and the first line of "
                "series.csv tell what there is\n",
                s->measure[m]);
    }
}

bool sweep_report(sweep* s)
{
    talus_error error = {.text = "memory is short"};
    for (int i = 0; i < s->run_count; i++) {
        if (s->run[i].state == SWEEP_DONE) read_run(s, &s->run[i]);
    }
    warn_of_missing(s);
    talus_status status = write_text(s, "runs.csv", list_runs, &error);
    if (status == TALUS_OK) status = write_text(s, "table.csv", list_points, &error);
    if (status == TALUS_OK && s->key_count > 0) status = draw(s, &error);
    if (status == TALUS_OK) status = write_text(s, "index.html", write_page, &error);
    if (status < 0) fprintf(stderr, "talus: %s\n", error.text);
    return status >= 0;
}
