/// talus plot DIR WHAT...: the standard figures of a run, and the CSV behind each.
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const plot_kind kinds[] = {
    {"energy", "kinetic and potential energy over time; method soft: all of its balance", 0,
     plot_energy},
    {"stress", "pressure, deviator and components of the stress over time", PLOT_NEEDS_CONTACTS,
     plot_stress},
    {"coordination", "contacts per grain over time, with and without rattlers", PLOT_NEEDS_CONTACTS,
     plot_coordination},
    {"forces", "P(f) of normal and tangential forces", PLOT_NEEDS_CONTACTS, plot_forces},
    {"friction", "how much of their friction the contacts use", PLOT_NEEDS_CONTACTS, plot_friction},
    {"fabric", "directions of contacts and of normal forces", PLOT_NEEDS_CONTACTS, plot_fabric},
    {"anisotropy", "anisotropies of contacts and forces over time", PLOT_NEEDS_CONTACTS,
     plot_anisotropy},
    {"packing", "solid fraction over time", 0, plot_packing},
    {"voronoi", "solid fractions of the Voronoi cells", 0, plot_voronoi},
    {"gr", "pair distribution g(r) of the centres", 0, plot_rdf},
    {"profile", "solid fraction, velocity, temperature and pressure along an axis", 0,
     plot_profile},
    {"repose", "the surface of a heap and its angle; --slope plane: of a flat one",
     PLOT_WANTS_GRAVITY, plot_repose},
    {"slope", "that angle over time", PLOT_WANTS_GRAVITY, plot_slope},
    {"flow", "mass through a plane over time; --axis and --at place it", PLOT_WANTS_GRAVITY,
     plot_flow},
    {"inertial", "effective friction over the inertial number, a point for each frame",
     PLOT_NEEDS_CONTACTS, plot_inertial},
    {"walls", "forces on the walls over time", PLOT_NEEDS_SERIES, plot_walls},
    {"convergence", "residual, sweeps, overlaps and errors of velocities over time",
     PLOT_NEEDS_SERIES, plot_convergence},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/// Columns of series.csv, whose names follow on the command line.
static const plot_kind series_kind = {"series", "columns of series.csv over time",
                                      PLOT_NEEDS_SERIES, plot_series};

void plot_label(const plot_job* job, char out[PLOT_TEXT], const char* name, const char* unit)
{
    const bool shown = !job->reduced && *unit;
    snprintf(out, PLOT_TEXT, "%s%s%s%s", name, shown ? " (" : "", shown ? unit : "",
             shown ? ")" : "");
}

const char* plot_stress_unit(const plot_job* job)
{
    return job->dim == 2 ? "N/m" : "Pa";
}

// ---- what can be plotted -----------------------------------------------------------------------

/// Why a run cannot have this plot; NULL if it can.
static const char* lacks(const plot_job* job, const plot_kind* kind)
{
    if ((kind->needs & PLOT_NEEDS_CONTACTS) && !job->contacts) {
        return "the run does not record contacts (output.contacts: false)";
    }
    if ((kind->needs & PLOT_NEEDS_SERIES) && !job->has_series) return "there is no series.csv";
    return NULL;
}

/// The words that may stand as WHAT.
static const char* plot_word(int index)
{
    if (index < KIND_COUNT) return kinds[index].name;
    return index == KIND_COUNT ? series_kind.name : index == KIND_COUNT + 1 ? "all" : NULL;
}

const value_kind value_plot = {.source = VALUE_WORD,
                               .one = "plot",
                               .many = "plots",
                               .word = plot_word,
                               .listed_by = "`talus plot DIR`"};

static int print_list(const plot_job* job)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        const char* why = lacks(job, &kinds[i]);
        printf("%-14s %s\n", kinds[i].name, kinds[i].summary);
        if (why) printf("%-14s not here: %s\n", "", why);
    }
    printf("%-14s %s:", series_kind.name, series_kind.summary);
    for (int i = 0; job->has_series && i < job->series.columns; i++) {
        printf(" %s", job->series.name[i]);
    }
    char directory[QUOTED_SIZE];
    quote_path(job->options->directory, directory);
    printf("\n\nPlot one with: %s plot %s NAME; all with: %s plot %s all\n", program(), directory,
           program(), directory);
    return STATUS_OK;
}

// ---- files -------------------------------------------------------------------------------------

/// Where the figure of a plot and its CSV go.
static bool place_files(const plot_options* o, const char* name, bool single,
                        char figure[PATH_SIZE], char csv[PATH_SIZE])
{
    char folder[PATH_SIZE];
    if (o->output && single) {
        const char *dot = strrchr(o->output, '.'), *slash = strrchr(o->output, '/');
        const bool ending = dot && (!slash || dot > slash);
        const size_t stem = ending ? (size_t)(dot - o->output) : strlen(o->output);
        return output_path(figure, "%s", o->output) &&
               output_path(csv, "%.*s.csv", (int)stem, o->output);
    }
    return output_folder(o->output ? o->output : o->directory, o->output ? NULL : "plots",
                         folder) &&
           output_path(figure, "%s/%s.%s", folder, name, o->format) &&
           output_path(csv, "%s/%s.csv", folder, name);
}

/// Make one plot. With `all`, one that does not apply is no failure.
static bool make_plot(plot_job* job, const plot_kind* kind, bool single, bool all)
{
    const plot_options* o = job->options;
    plot_sheet sheet = {.columns = 1, .rows = 1};
    char figure[PATH_SIZE], csv[PATH_SIZE];
    const char* why = lacks(job, kind);
    if (why) {
        sheet_nothing(&sheet, "%s", why);
    } else {
        if (!place_files(o, kind->name, single, figure, csv) || !output_free(csv, o->force) ||
            (!o->only_csv && !output_free(figure, o->force))) {
            return false;
        }
        kind->fill(job, &sheet);
    }
    bool good = !sheet.failed && !sheet.why[0];
    if (good) {
        // Points of the page: of a PNG the width is given in dots.
        const double usual = sheet.columns > 1 ? 620.0 : sheet.rows > 1 ? 460.0 : 380.0;
        const double width = o->width == 0.0                 ? usual
                             : strcmp(o->format, "png") == 0 ? o->width * 72.0 / o->dots
                                                             : o->width;
        good = sheet_write_csv(&sheet, csv) &&
               (o->only_csv || sheet_write_figure(&sheet, figure, width, o->dots));
        if (good && !o->quiet && o->only_csv) printf("%s\n", csv);
        if (good && !o->quiet && !o->only_csv) printf("%s  %s\n", figure, csv);
    } else if (sheet.failed) {
        fprintf(stderr, "talus: out of memory\n");
    } else {
        if (!all || !o->quiet) fprintf(stderr, "talus: no plot of %s: %s\n", kind->name, sheet.why);
        good = all;
    }
    sheet_free(&sheet);
    return good;
}

/// Make all plots that apply to the run.
static int make_all(plot_job* job)
{
    bool good = true;
    for (int i = 0; i < KIND_COUNT; i++) {
        if ((kinds[i].needs & PLOT_WANTS_GRAVITY) && !job->gravity) continue;
        good = make_plot(job, &kinds[i], false, true) && good;
    }
    return good ? STATUS_OK : STATUS_FAILURE;
}

/// Make the plots named on the command line; `series` takes the rest of it.
static int make_plots(plot_job* job, plot_options* o, bool single)
{
    const plot_kind* chosen[KIND_COUNT];
    int plots = 0;
    bool series = false, good = true;
    for (int i = 0; i < o->what.count && !series; i++) {
        const int found = value_find(&value_plot, o->what.items[i]);
        if (found < 0) return STATUS_USAGE;
        series = found == KIND_COUNT;
        if (series) {
            o->columns = (argument_list){o->what.items + i + 1, o->what.count - i - 1};
        } else if (found > KIND_COUNT) {
            fprintf(stderr, "talus: 'all' stands for all plots and goes with no other\n");
            return STATUS_USAGE;
        } else if (plots < KIND_COUNT) {
            chosen[plots++] = &kinds[found];
        }
    }
    for (int i = 0; i < plots; i++) good = make_plot(job, chosen[i], single, false) && good;
    if (series) good = make_plot(job, &series_kind, single, false) && good;
    return good ? STATUS_OK : STATUS_FAILURE;
}

// ---- options -----------------------------------------------------------------------------------

static const option_row options[] = {
    {.name = "frame",
     .value = "N|A:B|A:B:S|last|all",
     .meaning = "frames; distributions are means over them",
     .otherwise = "over time: all, distributions: last",
     .type = OPTION_READ,
     .place = offsetof(plot_options, frames),
     .read = frames_read},
    OPTION_ROW_TIME(plot_options),
    {.name = "region",
     .value = "x=A:B,y=C:D",
     .meaning = "measure only there",
     .type = OPTION_READ,
     .place = offsetof(plot_options, measure.region),
     .read = region_read},
    {.name = "bins",
     .value = "N",
     .meaning = "bins of histograms",
     .otherwise = "24",
     .type = OPTION_COUNT,
     .place = offsetof(plot_options, measure.bins),
     .low = 1,
     .high = 100000},
    {.name = "axis",
     .value = "x|y|z",
     .meaning = "axis of profiles and of flow",
     .otherwise = "profile: the last one, flow: downwards",
     .type = OPTION_CHOICE,
     .place = offsetof(plot_options, axis)},
    {.name = "at",
     .value = "PLACE",
     .meaning = "where the plane of flow is on that axis",
     .otherwise = "middle of the grains' space",
     .type = OPTION_NUMBER,
     .place = offsetof(plot_options, at),
     .low = -HUGE_VAL},
    {.name = "slope",
     .value = "heap|plane",
     .meaning = "kind of surface that repose and slope fit",
     .otherwise = "heap",
     .type = OPTION_CHOICE,
     .place = offsetof(plot_options, slope)},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .kind = &value_file,
     .meaning = "output file, with its data beside it as .csv; for several plots a folder",
     .type = OPTION_TEXT,
     .place = offsetof(plot_options, output)},
    {.name = "format",
     .value = "png|svg|pdf",
     .meaning = "",
     .otherwise = "by the ending of FILE, else png",
     .type = OPTION_TEXT,
     .place = offsetof(plot_options, format)},
    {.name = "csv",
     .meaning = "only the CSV",
     .type = OPTION_FLAG,
     .place = offsetof(plot_options, only_csv)},
    {.name = "width",
     .value = "W",
     .meaning = "width in pixels; for SVG and PDF in points",
     .otherwise = "by the plot",
     .type = OPTION_NUMBER,
     .place = offsetof(plot_options, width),
     .low = 100,
     .high = 10000},
    {.name = "dpi",
     .value = "D",
     .meaning = "dots per inch of PNG",
     .otherwise = "200",
     .type = OPTION_NUMBER,
     .place = offsetof(plot_options, dots),
     .low = 36,
     .high = 2400},
    {.name = "force",
     .meaning = "overwrite existing files",
     .type = OPTION_FLAG,
     .place = offsetof(plot_options, force)},
    {.name = "quiet",
     .meaning = "print nothing but errors",
     .type = OPTION_FLAG,
     .place = offsetof(plot_options, quiet)},
    {0},
};

static bool open_job(plot_job* job, const plot_options* o)
{
    const talus_world* world;
    talus_error error;
    *job = (plot_job){.options = o};
    if (!recording_open(o->directory, &job->recording)) return false;
    job->has_series = talus_series_read(o->directory, &job->series, &error) == TALUS_OK;
    job->contacts = talus_recording_has_contacts(job->recording);
    job->reduced = talus_recording_reduced_units(job->recording);
    frame_range chosen; // told before anything is measured
    if (!frames_of(job->recording, &o->frames, true, &chosen) ||
        !recording_show(job->recording, 0, &world)) {
        return false;
    }
    job->dim = talus_world_grains(world).dim;
    const bool* around = talus_world_options(world)->periodic;
    job->periodic = around[0] && around[1] && (job->dim == 2 || around[2]);
    const double* g = talus_world_options(world)->gravity;
    job->gravity = g[0] != 0.0 || g[1] != 0.0 || g[2] != 0.0;
    if (!region_fits(&o->measure.region, job->dim)) return false;
    if (o->axis < job->dim) return true;
    fprintf(stderr, "talus: a run in %dD has no axis %c\n", job->dim, 'x' + o->axis);
    return false;
}

static int plot(int argc, char** argv)
{
    plot_options o = {.measure = talus_measure_default(), .axis = -1, .at = NAN, .dots = 200.0};
    int status = options_read(&command_plot, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    const int count = o.what.count;
    const bool all = count == 1 && strcmp(o.what.items[0], "all") == 0;
    const bool series = count > 0 && strcmp(o.what.items[0], series_kind.name) == 0;
    const bool single = !all && (count == 1 || series);
    o.format = output_format(o.format, single && !o.only_csv ? o.output : NULL);
    if (!o.format) return STATUS_USAGE;
    if (o.output && !single && !output_takes_several(o.output)) return STATUS_USAGE;
    plot_job job;
    status = STATUS_FAILURE;
    if (open_job(&job, &o)) {
        status = count == 0 ? print_list(&job)
                 : all      ? make_all(&job)
                            : make_plots(&job, &o, single);
    }
    if (job.has_series) talus_series_free(&job.series);
    talus_recording_close(job.recording);
    return status;
}

const command command_plot = {
    .name = "plot",
    .usage = "plot DIR [WHAT...|all] [--frame N|A:B|last] [-o FILE] [options]",
    .summary = "plot the standard figures of a run, with their data as CSV",
    .about = "Without WHAT, lists what can be plotted. `series COLUMN...` plots columns of "
             "series.csv.\n"
             "Writes DIR/plots/WHAT.png and WHAT.csv.\n",
    .options = options,
    .examples = "  talus plot runs/biaxial stress fabric --format pdf\n"
                "  talus plot runs/biaxial forces --frame 10:last -o forces.svg\n"
                "  talus plot runs/silo series kinetic_energy coordination\n",
    .first = {.what = "the directory of a run",
              .kind = &value_folder,
              .place = offsetof(plot_options, directory)},
    .rest = {.what = "plots", .kind = &value_plot, .place = offsetof(plot_options, what)},
    .function = plot,
};
