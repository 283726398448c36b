/// talus ensemble SCENE|DIR: how far a packing's forces are determined.
#include "app.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define PLAIN_SECONDS 5.0

typedef struct ensemble_options {
    talus_ensemble_def def;
    option_values sets;
    bool quiet, json;
    const char* from;
    const char* output;
} ensemble_options;

/// What the progress line needs.
typedef struct progress_state {
    bool terminal, shown;
    double started, printed;
} progress_state;

// ---- command line ------------------------------------------------------------------------------

static bool read_count(const char* option, int64_t low, int* out)
{
    int64_t value;
    if (!options_integer(option, optarg, low, &value)) return false;
    *out = value < INT32_MAX ? (int)value : INT32_MAX;
    return true;
}

static bool read_option(ensemble_options* o, int choice, int argc)
{
    int64_t seed;
    switch (choice) {
    case 'o': o->output = optarg; return true;
    case 'q': return o->quiet = true;
    case 'j': return o->json = true;
    case 'n': return read_count("--samples", 2, &o->def.samples);
    case 'w': return read_count("--sweeps", 1, &o->def.max_sweeps);
    case 't': return options_number("--tolerance", optarg, &o->def.tolerance);
    case 'v': return options_number("--volume", optarg, &o->def.volume);
    case 'r':
        if (!options_integer("--seed", optarg, 0, &seed)) return false;
        o->def.seed = (uint64_t)seed;
        return true;
    case 's':
        if (strchr(optarg, '=')) return option_values_add(&o->sets, argc, optarg);
        fprintf(stderr, "talus: --set needs key.path=value, not '%s'\n", optarg);
        return false;
    default: return false;
    }
}

static bool read_options(ensemble_options* o, int argc, char** argv, int* status)
{
    static const struct option list[] = {
        {"samples", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 'r'},
        {"tolerance", required_argument, NULL, 't'},
        {"sweeps", required_argument, NULL, 'w'},
        {"volume", required_argument, NULL, 'v'},
        {"set", required_argument, NULL, 's'},
        {"output", required_argument, NULL, 'o'},
        {"quiet", no_argument, NULL, 'q'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    *status = STATUS_USAGE;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":o:h", list)) != -1;) {
        if (choice == 'h') {
            print_command_help(command_find("ensemble"));
            *status = STATUS_OK;
            return false;
        }
        if (!read_option(o, choice, argc)) return false;
    }
    o->from = options_single(argc, argv, "a scene or the directory of a run");
    return o->from != NULL;
}

// ---- the packing -------------------------------------------------------------------------------

static bool is_directory(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

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
        fprintf(stderr,
                "talus: interrupted before the packing was made; go on with: talus resume %s, then "
                "talus ensemble %s\n",
                directory, directory);
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

static void print_changes(const talus_ensemble* e)
{
    static const char* const names[] = {"from zero", "from the last forces", "from random forces"};
    printf("  spread over solutions    forces    stress\n");
    for (int k = 0; k < TALUS_START_COUNT; k++) {
        printf("  %-22s %7.2g %% %7.2g %%\n", names[k], 100 * e->force_change_of[k],
               100 * e->stress_change_of[k]);
    }
    printf("  %-22s %7.2g %% %7.2g %%\n\n", "all together", 100 * e->force_change,
           100 * e->stress_change);
}

static void print_report(const char* out, const ensemble_source* source, const talus_ensemble* e)
{
    printf("%s at t = %.6g: %" PRId64 " contacts, %" PRId64 " of them loaded, solved %d times\n\n",
           source->from, talus_world_time(source->world), e->contacts, e->loaded, e->samples);
    if (e->verified > 1 && e->loaded > 0) print_changes(e);
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
    const bool is_run = is_directory(o->from);
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

int command_ensemble(int argc, char** argv)
{
    ensemble_options o = {.def = talus_ensemble_default()};
    int status;
    if (read_options(&o, argc, argv, &status)) status = ensemble_with(&o);
    free(o.sets.items);
    return status;
}
