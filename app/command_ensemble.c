/// talus ensemble SCENE|DIR: how far a packing's forces are determined.
#include "app.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define PLAIN_SECONDS 5.0

typedef struct ensemble_options {
    talus_ensemble_def def;
    option_sets sets;
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
     .meaning = "solutions",
     .otherwise = "30",
     .type = OPTION_COUNT,
     .place = offsetof(ensemble_options, def.samples),
     .low = 2},
    {.name = "seed",
     .value = "S",
     .meaning = "of sweeps and starts",
     .otherwise = "1",
     .type = OPTION_WHOLE,
     .place = offsetof(ensemble_options, def.seed)},
    {.name = "tolerance",
     .value = "X",
     .meaning = "residual that every solution must reach",
     .otherwise = "1e-6",
     .type = OPTION_NUMBER,
     .place = offsetof(ensemble_options, def.tolerance)},
    {.name = "sweeps",
     .value = "N",
     .meaning = "at most so many for one solution",
     .otherwise = "200000",
     .type = OPTION_COUNT,
     .place = offsetof(ensemble_options, def.max_sweeps),
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
     .meaning = "no progress and no report, only errors",
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

static void show_progress(void* user, int done, int samples)
{
    progress_state* p = user;
    double now = clock_seconds();
    if (now - p->printed < (p->terminal ? REDRAW_SECONDS : PLAIN_SECONDS)) return;
    char left[32];
    p->printed = now;
    format_duration((now - p->started) / done * (samples - done), left, sizeof left);
    fprintf(stderr,
            p->terminal ? "\rsolution %d of %d  ETA %s\033[K" : "solution %d of %d  ETA %s\n", done,
            samples, left);
    fflush(stderr);
    p->shown = p->terminal;
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
            printf("  %-22s %7.2g %% %7.2g %%\n", names[k], 100 * e->force_change_of[k],
                   100 * e->stress_change_of[k]);
        }
        printf("  %-22s %7.2g %% %7.2g %%\n\n", "all together", 100 * e->force_change,
               100 * e->stress_change);
    }
    print_verdict(stdout, e->verdict);
    printf("\ntables are in %s: ensemble.json, contacts.csv, samples.csv, histogram.csv\n", out);
}

static int sample(ensemble_options* o, const char* directory, const talus_loaded* loaded)
{
    progress_state progress = {.terminal = isatty(STDERR_FILENO) == 1,
                               .started = clock_seconds(),
                               .printed = clock_seconds()};
    char out[PATH_SIZE];
    talus_ensemble e;
    talus_error error = {0};
    o->def.step = loaded->step_length;
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
    .summary = "solve a packing's forces many times and compare the solutions",
    .about =
        "DIR is the directory of a run: its last checkpoint is taken. A SCENE is run to its end "
        "first,\n"
        "into runs/NAME. The contact problem of the next step is then solved again and again from\n"
        "different starts (zero, the last forces, random ones) and with different random sweeps.\n",
    .options = options,
    .notes =
        "Written are ensemble.json, contacts.csv (mean and spread of every force), samples.csv\n"
        "(stress of every solution) and histogram.csv. Exit status 4 if no two solutions reach "
        "the\n"
        "tolerance.\n",
    .examples = "  talus ensemble runs/heap --samples 100\n"
                "  talus ensemble column-collapse --set grains.column.count=400\n",
    .first = {.what = "a scene or the directory of a run",
              .kind = &value_scene,
              .place = offsetof(ensemble_options, from)},
    .function = ensemble,
};
