/// Short ways to say what most figures need.
#include "plot.h"

#include <math.h>
#include <string.h>

talus_axes_def plot_axes_def(const char* title, const char* x_label, const char* y_label,
                             const char* log)
{
    talus_axes_def axes = talus_axes_default();
    axes.title = title;
    axes.x_label = x_label;
    axes.y_label = y_label;
    axes.x_log = strchr(log, 'x') != NULL;
    axes.y_log = strchr(log, 'y') != NULL;
    return axes;
}

talus_status plot_axes(paper* p, talus_figure* figure, int panel, const char* title,
                       const char* x_label, const char* y_label, const char* log)
{
    const talus_axes_def axes = plot_axes_def(title, x_label, y_label, log);
    return talus_figure_axes(figure, panel, &axes, &p->error);
}

talus_status plot_curve(paper* p, talus_figure* figure, int panel, plot_style style,
                        const char* label, int64_t count, const double* x, const double* y)
{
    talus_curve_def curve = talus_curve_default();
    curve.label = label;
    curve.x = x;
    curve.y = y;
    curve.count = count;
    curve.style = style.style;
    curve.dash = style.dash;
    curve.colour = style.colour;
    curve.marker = style.colour % 6;
    return talus_figure_curve(figure, panel, &curve, &p->error);
}

talus_status plot_power(paper* p, talus_figure* figure, int panel, plot_style style,
                        const char* label, fit_line_result fit, double low, double high)
{
    const double x[2] = {low, high};
    const double y[2] = {exp(fit.intercept) * pow(low, fit.slope),
                         exp(fit.intercept) * pow(high, fit.slope)};
    style.style = TALUS_CURVE_LINE;
    return plot_curve(p, figure, panel, style, label, 2, x, y);
}

talus_status plot_figure(paper* p, int columns, int rows, talus_figure** out)
{
    talus_figure_def def = talus_figure_default();
    def.columns = columns;
    def.rows = rows;
    return paper_new_figure(p, &def, out);
}
