/// talus sweep SCENE --vary key=...: a study over values of a scene's keys, with several seeds
/// each.
#include "sweep.h"

#include "base/hash.h"
#include "record/files.h"
#include "run/directory.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct sweep_options {
    sweep study;
    option_sets vary;
    const char* measures;
    const char* output;
    bool summary;
} sweep_options;

static const option_row options[] = {
    {.name = "vary",
     .value = "key.path=VALUES",
     .kind = &value_key,
     .repeated = true,
     .meaning = "values of a key: a,b,c or low:high:count or low:high:count:log; several of these "
                "options are combined with each other",
     .type = OPTION_SETS,
     .place = offsetof(sweep_options, vary)},
    {.name = "seeds",
     .value = "N",
     .meaning = "run each combination with the seeds 1 to N, for error bars",
     .otherwise = "one run, with the scene's seed",
     .type = OPTION_COUNT,
     .place = offsetof(sweep_options, study.seeds),
     .low = 1,
     .high = 10000},
    {.name = "measure",
     .value = "NAMES",
     .meaning = "what the table has, separated by commas: numbers of `talus measure`, such as "
                "coordination.all_grains, or columns of the series, such as series.kinetic_energy, "
                "which are averaged over the second half of the run",
     .otherwise = "coordination.all_grains,stress.pressure,series.kinetic_energy",
     .type = OPTION_TEXT,
     .place = offsetof(sweep_options, measures)},
    {.name = "frame",
     .value = "F",
     .meaning = "frames that are measured: a number from 0, A:B, last or all; means of several",
     .otherwise = "last",
     .type = OPTION_TEXT,
     .place = offsetof(sweep_options, study.frames)},
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .kind = &value_folder,
     .meaning = "folder for the study",
     .otherwise = "NAME-sweep",
     .type = OPTION_TEXT,
     .place = offsetof(sweep_options, output)},
    OPTION_ROW_SET_AT(sweep_options, study.sets),
    {.name = "jobs",
     .value = "N",
     .meaning = "runs at a time",
     .otherwise = "as many as there are cores",
     .type = OPTION_COUNT,
     .place = offsetof(sweep_options, study.jobs),
     .low = 1,
     .high = 4096},
    {.name = "threads",
     .value = "N",
     .meaning = "threads of each run",
     .otherwise = "1",
     .type = OPTION_COUNT,
     .place = offsetof(sweep_options, study.threads),
     .low = 1,
     .high = 4096},
    OPTION_ROW_DEVICE(sweep_options, study.device),
    {.name = "steps",
     .value = "N",
     .meaning = "stop each run after N steps",
     .type = OPTION_WHOLE,
     .place = offsetof(sweep_options, study.steps)},
    {.name = "no-pages",
     .meaning = "no page of the viewer for each run",
     .type = OPTION_NOT,
     .place = offsetof(sweep_options, study.pages)},
    {.name = "quiet",
     .meaning = "print nothing but errors",
     .type = OPTION_FLAG,
     .place = offsetof(sweep_options, study.quiet)},
    {0},
};

static int core_count(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/// The folder must be empty, new, or that of the same scene with the same overrides: more values
/// and seeds may come to those that are there.
static int claim_folder(const sweep* s)
{
    talus_error error = {0};
    unsigned char *scene = NULL, *before = NULL;
    size_t size = 0, old_size = 0;
    text_buffer identity = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/sweep.txt", s->folder);
    if (files_read(s->scene, &scene, &size, &error) < 0 || directory_make(s->folder, &error) < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        free(scene);
        return STATUS_FAILURE;
    }
    text_add(&identity, "scene %016llx\n", (unsigned long long)hash_bytes(HASH_START, scene, size));
    for (int i = 0; i < s->sets.count; i++) text_add(&identity, "set %s\n", s->sets.items[i]);
    text_add(&identity, "frame %s\nsteps %lld\n", s->frames, (long long)s->steps);
    int status = STATUS_OK;
    if (identity.failed) {
        status = STATUS_FAILURE;
    } else if (files_read(path, &before, &old_size, &error) < 0) {
        if (files_replace(path, identity.data, identity.size, false, &error) < 0) {
            fprintf(stderr, "talus: %s\n", error.text);
            status = STATUS_FAILURE;
        }
    } else if (old_size != identity.size || memcmp(before, identity.data, old_size) != 0) {
        fprintf(stderr,
                "talus: %s has a study of another scene, or with other --set, --frame or --steps; "
                "choose another folder with -o\n",
                s->folder);
        status = STATUS_FAILURE;
    }
    free(scene);
    free(before);
    text_free(&identity);
    return status;
}

static int study(sweep_options* o)
{
    sweep* s = &o->study;
    char scene[PATH_SIZE], folder[PATH_SIZE], name[256];
    if (!locate_scene(s->scene, scene)) return STATUS_USAGE;
    scene_name(scene, name, sizeof name);
    snprintf(folder, sizeof folder, "%s-sweep", name);
    s->scene = scene;
    s->folder = o->output ? o->output : folder;
    if (o->vary.count == 0 && s->seeds == 0)
        return usage_missing(&command_sweep, "--vary or --seeds");
    if (s->sets.count > SWEEP_SETS) {
        fprintf(stderr, "talus: more than %d values of --set: put them into the scene\n",
                SWEEP_SETS);
        return STATUS_USAGE;
    }
    s->seeds_said = s->seeds > 0;
    if (s->seeds == 0) s->seeds = 1;
    if (s->jobs == 0) s->jobs = core_count() > s->threads ? core_count() / s->threads : 1;
    for (int i = 0; i < o->vary.count; i++) {
        if (!sweep_add_key(s, o->vary.items[i])) return STATUS_USAGE;
    }
    const char* usual = "coordination.all_grains,stress.pressure,series.kinetic_energy";
    if (!sweep_add_measures(s, o->measures ? o->measures : usual)) return STATUS_USAGE;
    int status = sweep_plan(s);
    if (status == STATUS_OK) status = claim_folder(s);
    if (status != STATUS_OK) return status;
    if (!s->quiet) {
        fprintf(stderr, "%s: %d runs of %s, %d at a time\n", s->folder, s->run_count, scene,
                s->jobs < s->run_count ? s->jobs : s->run_count);
    }
    status = sweep_carry_out(s);
    if (!sweep_report(s)) return STATUS_FAILURE;
    if (!s->quiet) {
        printf("%s: table.csv (means), runs.csv, sweep.png; open %s/index.html\n", s->folder,
               s->folder);
    }
    return status;
}

static int sweep_command(int argc, char** argv)
{
    sweep_options o = {.study = {.frames = "last", .threads = 1, .steps = -1, .pages = true}};
    int status = options_read(&command_sweep, argc, argv, &o);
    if (status == OPTIONS_GOOD) status = study(&o);
    free(o.vary.items);
    sweep_free(&o.study);
    return status;
}

const command command_sweep = {
    .name = "sweep",
    .usage = "sweep SCENE --vary key.path=VALUES... [--seeds N] [-o DIR] [options]",
    .summary = "run a scene with many values of its keys, side by side",
    .about =
        "Each combination of values is a run of its own in DIR. table.csv has a row for each,\n"
        "with error bars over the seeds, sweep.png shows it, and index.html links the pages of\n"
        "all runs.\n",
    .options = options,
    .notes =
        "Ctrl-C lets all runs write a checkpoint; the same command goes on, also after a kill.\n"
        "With more values or seeds the same folder gets what is missing.\n",
    .examples =
        "  talus sweep hopper --vary materials.glass.friction=0.1:0.9:9 --seeds 3 -o study\n"
        "  talus sweep plane-shear --vary materials.glass.friction=0,0.2,0.5 --measure "
        "rheology.friction\n",
    .first = {.what = "a scene (a file or a ready-made name)",
              .kind = &value_scene,
              .place = offsetof(sweep_options, study.scene)},
    .function = sweep_command,
};
