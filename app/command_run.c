/// talus run SCENE, talus resume DIR
#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct run_options {
    talus_run_def def;
    option_sets sets;
    carry_options carry;
    const char* scene;
    const char* output;
} run_options;

enum { RUN_ONLY = 3 }; ///< so many options at the beginning are of `run` alone

static const option_row options[] = {
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .kind = &value_folder,
     .meaning = "folder for the results",
     .otherwise = "runs/NAME, runs/NAME-2, ...",
     .type = OPTION_TEXT,
     .place = offsetof(run_options, output)},
    OPTION_ROW_SET(run_options),
    {.name = "force",
     .meaning = "replace the run that is in DIR (only files Talus wrote)",
     .type = OPTION_FLAG,
     .place = offsetof(run_options, def.force)},
    {.name = "threads",
     .value = "N",
     .meaning = "threads to use",
     .otherwise = "as the scene says",
     .type = OPTION_COUNT,
     .place = offsetof(run_options, def.threads),
     .low = 1,
     .high = 4096},
    OPTION_ROW_DEVICE(run_options, def.device),
    {.name = "steps",
     .value = "N",
     .meaning = "stop after N steps in total",
     .type = OPTION_WHOLE,
     .place = offsetof(run_options, def.max_steps)},
    {.name = "checkpoint",
     .value = "SECONDS",
     .meaning = "seconds of real time between checkpoints",
     .otherwise = "as the scene says",
     .type = OPTION_NUMBER,
     .place = offsetof(run_options, def.checkpoint_seconds)},
    {.name = "dump-problems",
     .value = "N",
     .value_may_lack = true,
     .meaning = "save up to N hard steps in DIR/problems, as contact problems in FCLIB format for "
                "`talus solve` and other solvers",
     .otherwise = "10",
     .type = OPTION_WHOLE,
     .place = offsetof(run_options, def.dump_problems),
     .low = 1},
    {.name = "quiet",
     .meaning = "print nothing but errors",
     .type = OPTION_FLAG,
     .place = offsetof(run_options, carry.quiet)},
    {.name = "json",
     .meaning = "print summary.json on standard output at the end",
     .type = OPTION_FLAG,
     .place = offsetof(run_options, carry.json)},
    {0},
};

bool make_fresh_directory(const char* scene, char path[PATH_SIZE])
{
    char name[256];
    scene_name(scene, name, sizeof name);
    if (mkdir("runs", 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "talus: cannot make the directory runs: %s\n", strerror(errno));
        return false;
    }
    for (int n = 1; n < 1000000; n++) {
        if (n == 1) {
            snprintf(path, PATH_SIZE, "runs/%s", name);
        } else {
            snprintf(path, PATH_SIZE, "runs/%s-%d", name, n);
        }
        if (mkdir(path, 0777) == 0) return true;
        if (errno != EEXIST) break;
    }
    fprintf(stderr, "talus: cannot make the directory %s: %s\n", path, strerror(errno));
    return false;
}

/// The command line as one text for run.json.
static char* join_arguments(int argc, char** argv)
{
    char* text = NULL;
    size_t size = 0;
    FILE* stream = open_memstream(&text, &size);
    if (!stream) return NULL;
    fputs("talus", stream);
    for (int i = 0; i < argc; i++) fprintf(stream, " %s", argv[i]);
    fclose(stream);
    return text;
}

static int run_with(run_options* o)
{
    char scene[PATH_SIZE], fresh[PATH_SIZE];
    if (!locate_scene(o->scene, scene)) return STATUS_USAGE;
    if (!o->output && !make_fresh_directory(scene, fresh)) return STATUS_FAILURE;
    o->def.scene = scene;
    o->def.directory = o->output ? o->output : fresh;
    o->def.sets = o->sets.items;
    o->def.set_count = o->sets.count;
    if (!o->carry.quiet) fprintf(stderr, "%s -> %s\n", scene, o->def.directory);
    int status = carry_out(&o->def, false, o->carry);
    if (!o->output && status != STATUS_OK) {
        rmdir(fresh); // only does so if nothing was written: a scene with errors leaves no trace
        rmdir("runs");
    }
    return status;
}

static int run(int argc, char** argv)
{
    char* typed = join_arguments(argc, argv); // before getopt_long() sorts them
    run_options o = {.def = talus_run_default()};
    o.def.command = typed;
    int status = options_read(&command_run, argc, argv, &o);
    if (status == OPTIONS_GOOD) status = run_with(&o);
    free(o.sets.items);
    free(typed);
    return status;
}

const command command_run = {
    .name = "run",
    .usage = "run SCENE [-o DIR] [--set key.path=value]... [options]",
    .summary = "run a scene",
    .about =
        "SCENE is the path of a scene file or the name of a ready-made one (see `talus scenes`).\n",
    .options = options,
    .notes =
        "Ctrl-C finishes the step, writes a checkpoint and exits with status 75; `talus resume "
        "DIR`\n"
        "continues. A second Ctrl-C stops at once; the run can then be resumed from its last\n"
        "checkpoint.\n",
    .examples = "  talus run hopper\n"
                "  talus run hopper -o runs/rough --set materials.glass.friction=0.8 --threads 4\n"
                "  talus run my-scene.yaml --force\n",
    .first = {.what = "a scene (a file or a ready-made name)",
              .kind = &value_scene,
              .place = offsetof(run_options, scene)},
    .function = run,
};

static int resume(int argc, char** argv)
{
    run_options o = {.def = talus_run_default()};
    const int status = options_read(&command_resume, argc, argv, &o);
    return status == OPTIONS_GOOD ? carry_out(&o.def, true, o.carry) : status;
}

const command command_resume = {
    .name = "resume",
    .usage = "resume DIR [options]",
    .summary = "continue a run that was stopped or killed",
    .about =
        "The result is the same, bit for bit, as if the run had never been stopped.\n"
        "A finished run is left alone, unless --steps asks for more steps of its last phase.\n",
    .options = options + RUN_ONLY,
    .examples = "  talus resume runs/hopper\n"
                "  talus resume runs/hopper --steps 20000\n",
    .first = {.what = "the directory of a run",
              .kind = &value_folder,
              .place = offsetof(run_options, def.directory)},
    .function = resume,
};
