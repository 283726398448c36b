/// talus run SCENE
#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct run_options {
    talus_run_def def;
    option_values sets;
    carry_options carry;
    const char* scene;
    const char* output;
} run_options;

static bool read_option(run_options* o, int choice, int argc)
{
    int64_t threads;
    switch (choice) {
    case 'o': o->output = optarg; return true;
    case 's':
        if (strchr(optarg, '=')) return option_values_add(&o->sets, argc, optarg);
        fprintf(stderr, "talus: --set needs key.path=value, not '%s'\n", optarg);
        return false;
    case 't':
        if (!options_integer("--threads", optarg, 1, &threads)) return false;
        o->def.threads = threads < 4096 ? (int)threads : 4096;
        return true;
    case 'n': return options_integer("--steps", optarg, 0, &o->def.max_steps);
    case 'c': return options_number("--checkpoint", optarg, &o->def.checkpoint_seconds);
    case 'q': return o->carry.quiet = true;
    case 'j': return o->carry.json = true;
    case 'f': return o->def.force = true;
    case 'd': return options_dump(&o->def);
    default: return false;
    }
}

bool options_dump(talus_run_def* def)
{
    def->dump_problems = 10;
    return !optarg || options_integer("--dump-problems", optarg, 1, &def->dump_problems);
}

/// Read the command line; *status receives the exit status when there is nothing to run.
static bool read_options(run_options* o, int argc, char** argv, int* status)
{
    static const struct option list[] = {
        {"output", required_argument, NULL, 'o'},
        {"set", required_argument, NULL, 's'},
        {"threads", required_argument, NULL, 't'},
        {"steps", required_argument, NULL, 'n'},
        {"checkpoint", required_argument, NULL, 'c'},
        {"quiet", no_argument, NULL, 'q'},
        {"json", no_argument, NULL, 'j'},
        {"force", no_argument, NULL, 'f'},
        {"dump-problems", optional_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    *status = STATUS_USAGE;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":o:h", list)) != -1;) {
        if (choice == 'h') {
            print_command_help(command_find("run"));
            *status = STATUS_OK;
            return false;
        }
        if (!read_option(o, choice, argc)) return false;
    }
    o->scene = options_single(argc, argv, "a scene (a file or a ready-made name)");
    return o->scene != NULL;
}

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

int command_run(int argc, char** argv)
{
    char* typed = join_arguments(argc, argv); // before getopt_long() sorts them
    run_options o = {.def = talus_run_default()};
    o.def.command = typed;
    int status;
    if (read_options(&o, argc, argv, &status)) status = run_with(&o);
    free(o.sets.items);
    free(typed);
    return status;
}
