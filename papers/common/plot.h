/// Short ways to say what most figures of the experiments need of talus/figure.h.
#ifndef TALUS_PAPER_PLOT_H
#define TALUS_PAPER_PLOT_H

#include "fit.h"
#include "paper.h"

/// Axes with labels; `log` names those that are logarithmic: "", "x", "y" or "xy".
talus_axes_def plot_axes_def(const char* title, const char* x_label, const char* y_label,
                             const char* log);
/// Give a panel such axes.
talus_status plot_axes(paper* p, talus_figure* figure, int panel, const char* title,
                       const char* x_label, const char* y_label, const char* log);

/// How a curve is drawn: its colour of the palette, and style.
typedef struct plot_style {
    int colour;
    talus_curve_style style;
    talus_dash dash;
} plot_style;

/// A curve; `label` may be NULL.
talus_status plot_curve(paper* p, talus_figure* figure, int panel, plot_style style,
                        const char* label, int64_t count, const double* x, const double* y);
/// The line of a fitted power y = exp(intercept) x^slope from x = low to high, in the colour and
/// dash of `style`.
talus_status plot_power(paper* p, talus_figure* figure, int panel, plot_style style,
                        const char* label, fit_line_result fit, double low, double high);

/// Make a figure of so many panels, which is destroyed when the experiment ends.
talus_status plot_figure(paper* p, int columns, int rows, talus_figure** out);

#endif
