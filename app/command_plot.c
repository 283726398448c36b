/// talus plot DIR WHAT...: the standard figures of a run, and the CSV behind each.
#include "base/words.h"
#include "plot.h"

#include "scene/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const plot_kind kinds[] = {
    {"energy", "kinetic and potential energy over time; method soft: all of its balance", 0,
     plot_energy},
    {"stress", "pressure, deviator and components of the stress over time", PLOT_NEEDS_CONTACTS,
     plot_stress},
    {"coordination", "contacts a grain over time, with and without rattlers", PLOT_NEEDS_CONTACTS,
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
    printf("\n\nPlot one with: talus plot %s NAME; all with: talus plot %s all\n",
           job->options->directory, job->options->directory);
    return STATUS_OK;
}

const char* plot_name(int index)
{
    if (index < KIND_COUNT) return kinds[index].name;
    return index == KIND_COUNT ? series_kind.name : index == KIND_COUNT + 1 ? "all" : NULL;
}

static const plot_kind* find_kind(const char* name)
{
    const char* names[KIND_COUNT + 2];
    for (int i = 0; i < KIND_COUNT + 2; i++) {
        names[i] = plot_name(i);
        if (i < KIND_COUNT && strcmp(name, names[i]) == 0) return &kinds[i];
    }
    const char* near = nearest_name(name, names, KIND_COUNT + 2);
    fprintf(stderr, "talus: there is no plot '%s'%s%s%s `talus plot DIR` lists them\n", name,
            near ? "; did you mean '" : ";", near ? near : "", near ? "'?" : "");
    return NULL;
}

// ---- files -------------------------------------------------------------------------------------

/// Paths of the figure and of its CSV.
typedef struct plot_paths {
    char figure[PATH_SIZE], csv[PATH_SIZE];
} plot_paths;

static bool place_files(const plot_options* o, const char* name, bool single, plot_paths* out)
{
    char folder[PATH_SIZE];
    if (o->output && single) {
        const char *dot = strrchr(o->output, '.'), *slash = strrchr(o->output, '/');
        const bool ending = dot && (!slash || dot > slash);
        const size_t stem = ending ? (size_t)(dot - o->output) : strlen(o->output);
        return output_path(out->figure, "%s", o->output) &&
               output_path(out->csv, "%.*s.csv", (int)stem, o->output);
    }
    return output_folder(o->output ? o->output : o->directory, o->output ? NULL : "plots",
                         folder) &&
           output_path(out->figure, "%s/%s.%s", folder, name, o->format) &&
           output_path(out->csv, "%s/%s.csv", folder, name);
}

/// Points of the page: of a PNG the width is given in dots.
static double width_of(const plot_options* o, const plot_sheet* sheet)
{
    if (o->width == 0.0) return sheet->columns > 1 ? 620.0 : sheet->rows > 1 ? 460.0 : 380.0;
    return strcmp(o->format, "png") == 0 ? o->width * 72.0 / o->dots : o->width;
}

static bool write_files(const plot_options* o, const plot_sheet* sheet, const plot_paths* paths)
{
    if (!sheet_write_csv(sheet, paths->csv)) return false;
    if (!o->only_csv && !sheet_write_figure(sheet, paths->figure, width_of(o, sheet), o->dots)) {
        return false;
    }
    if (!o->quiet && o->only_csv) printf("%s\n", paths->csv);
    if (!o->quiet && !o->only_csv) printf("%s  %s\n", paths->figure, paths->csv);
    return true;
}

/// Make one plot. With `all`, one that does not apply is no failure.
static bool make_plot(plot_job* job, const plot_kind* kind, bool single, bool all)
{
    const plot_options* o = job->options;
    plot_sheet sheet = {.columns = 1, .rows = 1};
    plot_paths paths;
    const char* why = lacks(job, kind);
    if (!why && !place_files(o, kind->name, single, &paths)) return false;
    if (!why && (!output_free(paths.csv, o->force) ||
                 (!o->only_csv && !output_free(paths.figure, o->force)))) {
        return false;
    }
    if (why) {
        sheet_nothing(&sheet, "%s", why);
    } else {
        kind->fill(job, &sheet);
    }
    bool good = !sheet.failed && !sheet.why[0];
    if (good) {
        good = write_files(o, &sheet, &paths);
    } else if (sheet.failed) {
        fprintf(stderr, "talus: out of memory\n");
    } else {
        if (!all || !o->quiet) fprintf(stderr, "talus: no plot of %s: %s\n", kind->name, sheet.why);
        good = all;
    }
    sheet_free(&sheet);
    return good;
}

static bool is_all(char** what, int count)
{
    return count == 1 && strcmp(what[0], "all") == 0;
}

/// Is it one plot that the command line names?
static bool is_single(char** what, int count)
{
    return count > 0 && !is_all(what, count) &&
           (count == 1 || strcmp(what[0], series_kind.name) == 0);
}

/// The plots named on the command line; `series` takes the rest of it.
static int make_plots(plot_job* job, plot_options* o, char** what, int count)
{
    bool good = true;
    if (is_all(what, count)) {
        for (int i = 0; i < KIND_COUNT; i++) {
            if ((kinds[i].needs & PLOT_WANTS_GRAVITY) && !job->gravity) continue;
            good = make_plot(job, &kinds[i], false, true) && good;
        }
        return good ? STATUS_OK : STATUS_FAILURE;
    }
    const plot_kind* chosen[KIND_COUNT];
    int plots = 0;
    bool series = false;
    for (int i = 0; i < count && !series; i++) {
        series = strcmp(what[i], series_kind.name) == 0;
        if (series) {
            o->columns = what + i + 1;
            o->column_count = count - i - 1;
        } else if (plots < KIND_COUNT) {
            chosen[plots] = find_kind(what[i]);
            if (!chosen[plots++]) return STATUS_USAGE;
        }
    }
    const bool single = is_single(what, count);
    for (int i = 0; i < plots; i++) good = make_plot(job, chosen[i], single, false) && good;
    if (series) good = make_plot(job, &series_kind, single, false) && good;
    return good ? STATUS_OK : STATUS_FAILURE;
}

// ---- options -----------------------------------------------------------------------------------

enum {
    OPTION_FRAME = 256,
    OPTION_TIME,
    OPTION_REGION,
    OPTION_BINS,
    OPTION_AXIS,
    OPTION_AT,
    OPTION_SLOPE,
    OPTION_CSV,
    OPTION_FORMAT,
    OPTION_WIDTH,
    OPTION_DPI,
    OPTION_FORCE,
    OPTION_QUIET,
};

static const struct option list[] = {
    {"output", required_argument, NULL, 'o'},
    {"frame", required_argument, NULL, OPTION_FRAME},
    {"time", required_argument, NULL, OPTION_TIME},
    {"region", required_argument, NULL, OPTION_REGION},
    {"bins", required_argument, NULL, OPTION_BINS},
    {"axis", required_argument, NULL, OPTION_AXIS},
    {"at", required_argument, NULL, OPTION_AT},
    {"slope", required_argument, NULL, OPTION_SLOPE},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"width", required_argument, NULL, OPTION_WIDTH},
    {"dpi", required_argument, NULL, OPTION_DPI},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static bool read_axis(const char* text, int* out)
{
    *out = text[0] >= 'x' && text[0] <= 'z' && !text[1] ? text[0] - 'x' : -1;
    if (*out >= 0) return true;
    fprintf(stderr, "talus: --axis needs x, y or z, not '%s'\n", text);
    return false;
}

static bool read_at(const char* text, double* out)
{
    char* end;
    *out = strtod(text, &end);
    if (end != text && !*end && isfinite(*out)) return true;
    fprintf(stderr, "talus: --at needs a number, not '%s'\n", text);
    return false;
}

static bool read_slope(const char* text, talus_slope_kind* out)
{
    *out = strcmp(text, "plane") == 0 ? TALUS_SLOPE_PLANE : TALUS_SLOPE_HEAP;
    if (*out == TALUS_SLOPE_PLANE || strcmp(text, "heap") == 0) return true;
    fprintf(stderr, "talus: --slope needs heap or plane, not '%s'\n", text);
    return false;
}

static bool take_option(int choice, plot_options* o)
{
    int64_t bins;
    switch (choice) {
    case 'o': o->output = optarg; return true;
    case OPTION_FRAME: return frames_parse(optarg, &o->frames);
    case OPTION_TIME: return frames_parse_time(optarg, &o->frames);
    case OPTION_REGION: return region_parse(optarg, &o->measure.region);
    case OPTION_BINS:
        if (!options_integer("--bins", optarg, 1, &bins)) return false;
        o->measure.bins = bins < 100000 ? (int)bins : 100000;
        return true;
    case OPTION_AXIS: return read_axis(optarg, &o->axis);
    case OPTION_AT: o->has_at = true; return read_at(optarg, &o->at);
    case OPTION_SLOPE: return read_slope(optarg, &o->slope);
    case OPTION_CSV: o->only_csv = true; return true;
    case OPTION_FORMAT: o->format = optarg; return true;
    case OPTION_WIDTH: return options_between("--width", optarg, 100.0, 10000.0, &o->width);
    case OPTION_DPI: return options_between("--dpi", optarg, 36.0, 2400.0, &o->dots);
    case OPTION_FORCE: o->force = true; return true;
    case OPTION_QUIET: o->quiet = true; return true;
    default: return false;
    }
}

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

static void close_job(plot_job* job)
{
    if (job->has_series) talus_series_free(&job->series);
    talus_recording_close(job->recording);
}

int command_plot(int argc, char** argv)
{
    plot_options o = {.measure = talus_measure_default(), .axis = -1, .dots = 200.0};
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":ho:", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("plot"));
        if (choice == 'h') return STATUS_OK;
        if (choice == '?' || !take_option(choice, &o)) return STATUS_USAGE;
    }
    if (optind == argc) {
        fprintf(stderr, "talus: the directory of a run is missing\nusage: talus %s\n",
                command_find("plot")->usage);
        return STATUS_USAGE;
    }
    o.directory = argv[optind++];
    const int count = argc - optind;
    const bool single = is_single(argv + optind, count);
    o.format = output_format(o.format, single && !o.only_csv ? o.output : NULL);
    if (!o.format) return STATUS_USAGE;
    if (o.output && !single && !output_takes_several(o.output)) return STATUS_USAGE;
    plot_job job;
    int status = STATUS_FAILURE;
    if (open_job(&job, &o)) {
        status = count == 0 ? print_list(&job) : make_plots(&job, &o, argv + optind, count);
    }
    close_job(&job);
    return status;
}
