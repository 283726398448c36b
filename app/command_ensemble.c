/// talus ensemble SCENE|DIR: how far a packing's forces are determined.
#include "app.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define PLAIN_SECONDS 5.0

/// Without --tolerance and --sweeps solutions go to this residual,
static const double TOLERANCE = 1e-5;
/// and all of them together take so many contact updates at most, which is less than a minute; in
/// large packings there are fewer solutions, so that each may have this many sweeps.
enum { MOST_UPDATES = 500000000, SAMPLES = 12, LEAST_SAMPLES = 6, USEFUL_SWEEPS = 1000 };
/// Part of a solution after which the time that is left can be estimated.
static const double LEAST_DONE = 0.01;

typedef struct ensemble_options {
    talus_ensemble_def def;
    option_sets sets;
    int samples, sweeps; ///< 0: not given
    double tolerance;    ///< likewise
    bool quiet, json;
    const char* from;
    const char* output;
} ensemble_options;

/// What the progress line needs.
typedef struct progress_state {
    bool terminal, shown;
    double started, printed;
} progress_state;

static const option_row options[] = {
    {.name = "samples",
     .value = "N",
     .meaning = "number of solutions",
     .otherwise = "12, in large packings down to 6",
     .type = OPTION_COUNT,
     .place = offsetof(ensemble_options, samples),
     .low = 2},
    {.name = "seed",
     .value = "S",
     .meaning = "seed of the random sweeps and starts",
     .otherwise = "1",
     .type = OPTION_WHOLE,
     .place = offsetof(ensemble_options, def.seed)},
    {.name = "tolerance",
     .value = "X",
     .meaning = "residual that every solution must reach, however long it takes",
     .otherwise = "1e-5, or what a minute of computing gives",
     .type = OPTION_POSITIVE,
     .place = offsetof(ensemble_options, tolerance)},
    {.name = "sweeps",
     .value = "N",
     .meaning = "at most N sweeps for each solution",
     .otherwise = "200000",
     .type = OPTION_COUNT,
     .place = offsetof(ensemble_options, sweeps),
     .low = 1},
    {.name = "volume",
     .value = "V",
     .meaning = "volume (2D: area) of the stress",
     .otherwise = "cell or box around the grains",
     .type = OPTION_NUMBER,
     .place = offsetof(ensemble_options, def.volume)},
    OPTION_ROW_SET(ensemble_options),
    {.letter = 'o',
     .name = "output",
     .value = "OUT",
     .kind = &value_folder,
     .meaning = "directory for the tables",
     .otherwise = "DIR/ensemble",
     .type = OPTION_TEXT,
     .place = offsetof(ensemble_options, output)},
    {.name = "quiet",
     .meaning = "print nothing but errors",
     .type = OPTION_FLAG,
     .place = offsetof(ensemble_options, quiet)},
    {.name = "json",
     .meaning = "print ensemble.json on standard output at the end",
     .type = OPTION_FLAG,
     .place = offsetof(ensemble_options, json)},
    {0},
};

// ---- the packing -------------------------------------------------------------------------------

/// Run the scene to its end into a fresh directory. Returns an exit status.
static int run_scene(const ensemble_options* o, char directory[PATH_SIZE])
{
    char scene[PATH_SIZE];
    if (!locate_scene(o->from, scene)) return STATUS_USAGE;
    if (!make_fresh_directory(scene, directory)) return STATUS_FAILURE;
    talus_run_def def = talus_run_default();
    def.scene = scene;
    def.directory = directory;
    def.sets = o->sets.items;
    def.set_count = o->sets.count;
    def.command = "talus ensemble";
    if (!o->quiet) fprintf(stderr, "%s -> %s\n", scene, directory);
    int status = carry_out(&def, false, (carry_options){.quiet = o->quiet, .brief = true});
    signal(SIGINT, SIG_DFL); // carry_out() caught them; from here on there is nothing to save
    signal(SIGTERM, SIG_DFL);
    if (status == STATUS_INTERRUPTED) {
        char quoted[QUOTED_SIZE];
        quote_path(directory, quoted);
        fprintf(stderr,
                "talus: interrupted before the packing was made; go on with: %s resume %s, then "
                "%s ensemble %s\n",
                program(), quoted, program(), quoted);
    } else if (status != STATUS_OK) {
        rmdir(directory); // only does so if nothing was written
        rmdir("runs");
    }
    return status;
}

// ---- sampling ----------------------------------------------------------------------------------

static void show_progress(void* user, double done, int samples)
{
    progress_state* p = user;
    double now = clock_seconds();
    if (p->printed > 0 && now - p->printed < (p->terminal ? REDRAW_SECONDS : PLAIN_SECONDS)) return;
    char left[32] = "?";
    p->printed = now;
    if (done > LEAST_DONE) { // a solution may need fewer sweeps than it is allowed: a bound
        snprintf(left, sizeof left, "<= ");
        format_duration((now - p->started) / done * (samples - done), left + 3, sizeof left - 3);
    }
    const int at = done < samples ? (int)done + 1 : samples;
    fprintf(stderr,
            p->terminal ? "\rsolution %d of %d  ETA %s\033[K" : "solution %d of %d  ETA %s\n", at,
            samples, left);
    fflush(stderr);
    p->shown = p->terminal;
}

/// What was not asked for: as much as a minute of computing gives in this packing.
static void choose_effort(ensemble_options* o, const talus_world* world)
{
    const int64_t contacts = talus_world_contacts(world).count;
    int samples = SAMPLES;
    o->def.tolerance = o->tolerance > 0 ? o->tolerance : TOLERANCE;
    if (o->sweeps > 0) o->def.max_sweeps = o->sweeps;
    if (o->tolerance == 0 && o->sweeps == 0) {
        o->def.max_updates = MOST_UPDATES;
        const int64_t fit = MOST_UPDATES / (USEFUL_SWEEPS * (contacts + 1));
        samples = fit > SAMPLES ? SAMPLES : fit < LEAST_SAMPLES ? LEAST_SAMPLES : (int)fit;
    }
    o->def.samples = o->samples > 0 ? o->samples : samples;
}

static void print_report(const char* out, const ensemble_source* source, const talus_ensemble* e)
{
    printf("%s at t = %.6g: %" PRId64 " contacts, %" PRId64 " of them loaded, solved %d times\n\n",
           source->from, talus_world_time(source->world), e->contacts, e->loaded, e->samples);
    if (e->verified > 1 && e->loaded > 0) {
        static const char* const names[] = {"from zero", "from the last forces",
                                            "from random forces"};
        printf("  spread over solutions    forces    stress\n");
        for (int k = 0; k < TALUS_START_COUNT; k++) {
            int count = 0;
            for (int i = 0; i < e->samples; i++) {
                count += e->sample[i].verified && e->sample[i].start == 1u << k;
            }
            if (count > 1)
                printf("  %-22s %7.2g %% %7.2g %%\n", names[k], 100 * e->force_change_of[k],
                       100 * e->stress_change_of[k]);
            else
                printf("  %-22s %9s %9s\n", names[k], "-", "-"); // one has no spread
        }
        printf("  %-22s %7.2g %% %7.2g %%\n\n", "all together", 100 * e->force_change,
               100 * e->stress_change);
    }
    print_verdict(stdout, e->verdict);
    printf("\ntables are in %s: ensemble.json, contacts.csv, samples.csv, histogram.csv\n", out);
}

static int sample(ensemble_options* o, const char* directory, const talus_loaded* loaded)
{
    progress_state progress = {.terminal = isatty(STDERR_FILENO) == 1, .started = clock_seconds()};
    char out[PATH_SIZE];
    talus_ensemble e;
    talus_error error = {0};
    o->def.step = loaded->step_length;
    choose_effort(o, loaded->world);
    if (!o->quiet) {
        o->def.progress = show_progress;
        o->def.progress_user = &progress;
    }
    talus_status status = talus_measure_ensemble(loaded->world, &o->def, &e, &error);
    if (progress.shown) fputs("\r\033[K", stderr);
    if (status < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        return status == TALUS_ERR_ARGUMENT  ? STATUS_USAGE
               : status == TALUS_ERR_NUMERIC ? STATUS_NUMERIC
                                             : STATUS_FAILURE;
    }
    ensemble_source source = {
        .from = directory, .world = loaded->world, .finished = loaded->finished, .def = &o->def};
    int length = snprintf(out, sizeof out, "%s%s", o->output ? o->output : directory,
                          o->output ? "" : "/ensemble");
    bool good = length < PATH_SIZE && ensemble_write_files(out, &source, &e);
    if (length >= PATH_SIZE) fprintf(stderr, "talus: the path %s is too long\n", directory);
    if (good && !o->quiet && !o->json) print_report(out, &source, &e);
    if (good && o->json) ensemble_write_json(stdout, &source, &e);
    int result = !good ? STATUS_FAILURE : e.verified < 2 ? STATUS_NUMERIC : STATUS_OK;
    talus_ensemble_free(&e);
    return result;
}

static int ensemble_with(ensemble_options* o)
{
    char fresh[PATH_SIZE];
    talus_report report = {0};
    talus_error error = {0};
    struct stat info;
    const bool is_run = stat(o->from, &info) == 0 && S_ISDIR(info.st_mode);
    if (is_run && o->sets.count > 0) {
        fprintf(stderr, "talus: --set changes a scene; %s is a run that is already done\n",
                o->from);
        return STATUS_USAGE;
    }
    int result = is_run ? STATUS_OK : run_scene(o, fresh);
    if (result != STATUS_OK) return result;

    talus_run_def def = talus_run_default();
    def.directory = is_run ? o->from : fresh;
    talus_loaded loaded;
    if (talus_run_load(&def, &loaded, &report, &error) < 0) {
        print_problems(&report, &error);
        result = report.count > 0 ? STATUS_SCENE : STATUS_FAILURE;
    } else {
        result = sample(o, def.directory, &loaded);
        talus_world_destroy(loaded.world);
    }
    talus_report_clear(&report);
    return result;
}

static int ensemble(int argc, char** argv)
{
    ensemble_options o = {.def = talus_ensemble_default()};
    int status = options_read(&command_ensemble, argc, argv, &o);
    if (status == OPTIONS_GOOD) status = ensemble_with(&o);
    free(o.sets.items);
    return status;
}

const command command_ensemble = {
    .name = "ensemble",
    .usage = "ensemble SCENE|DIR [options]",
    .summary = "find out how far the forces in a packing are determined",
    .about =
        "DIR is the directory of a run: its last checkpoint is taken. A SCENE is run to its end "
        "first,\n"
        "into runs/NAME. The contact problem of the next step is then solved again and again from\n"
        "different starts (zero, the last forces, random ones) and with different random sweeps.\n"
        "This takes about a minute, or as long as it needs with --tolerance or --sweeps.\n",
    .options = options,
    .notes =
        "Writes ensemble.json, contacts.csv (mean and spread of every force), samples.csv\n"
        "(stress of every solution) and histogram.csv. The exit status is 4 if no two solutions\n"
        "reach the tolerance.\n",
    .examples = "  talus ensemble runs/heap --samples 100\n"
                "  talus ensemble column-collapse --set grains.column.count=400\n",
    .first = {.what = "a scene or the directory of a run",
              .kind = &value_scene,
              .place = offsetof(ensemble_options, from)},
    .function = ensemble,
};
