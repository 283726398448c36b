/// talus check SCENE: all mistakes of a scene, or what it holds.
#include "app.h"

#include "base/words.h"
#include "scene/scene.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct check_options {
    option_sets sets;
    const char* scene;
} check_options;

static void print_warning(void* user, talus_log_level level, const char* text)
{
    (void)user;
    if (level == TALUS_LOG_WARNING) fprintf(stderr, "warning: %s\n", text);
}

/// What the method soft will do with the scene.
static void print_soft(const talus_scene* scene)
{
    const soft_choices* choices = scene_choices(scene);
    const bool reduced = scene_outputs(scene)->reduced_units;
    if (choices->stiffness) {
        printf("stiffness %.3g%s chosen for overlaps below %.3g %% of a diameter, decided by: %s\n",
               choices->chosen, reduced ? "" : " N/m", 100 * scene_overlap(scene),
               estimate_reason_words(choices->estimate.reason));
    }
    for (int p = 0; p < scene_phase_count(scene); p++) {
        const talus_soft_times* t = scene_phase_times(scene, p);
        const double h = scene_phase_step(scene, p);
        const bool coarse = scene_phase_is_coarse(scene, p);
        if (!(t->contact > 0)) continue;
        printf("%s: step %.3g%s = t_c/%.3g, bound t_c/%.3g%s%s\n", scene_phase_name(scene, p), h,
               reduced ? "" : " s", t->contact / h, t->contact / t->bound,
               coarse ? ": too long, " : "", coarse ? t->reason : "");
    }
}

/// The steps that were chosen, and why.
static void print_steps(const talus_scene* scene)
{
    const bool reduced = scene_outputs(scene)->reduced_units;
    for (int p = 0; p < scene_phase_count(scene); p++) {
        if (!scene_phase_step_chosen(scene, p)) continue;
        char why[256];
        scene_advice_words(scene_phase_advice(scene, p), reduced, why, sizeof why);
        printf("%s: step %g%s chosen, below %s; halved where grains slide past each other fast\n",
               scene_phase_name(scene, p), scene_phase_step(scene, p), reduced ? "" : " s", why);
    }
}

static void print_contents(const talus_scene* scene, const talus_world* world)
{
    int phases = scene_phase_count(scene), inlets = scene_inlet_count(scene);
    int walls = talus_world_wall_count(world);
    int64_t grains = talus_world_grains(world).count;
    printf("scene ok: %s: %dD, %" PRId64 " grain%s, %d wall%s, %d phase%s",
           talus_scene_title(scene), talus_world_options(world)->dim, grains, plural(grains), walls,
           plural(walls), phases, plural(phases));
    if (inlets > 0) printf(", %d inlet%s", inlets, plural(inlets));
    printf(", step %g%s, seed %" PRIu64 "\n", talus_scene_step_length(scene),
           scene_outputs(scene)->reduced_units ? "" : " s", scene_seed(scene));
    if (scene_method(scene) == TALUS_METHOD_SOFT)
        print_soft(scene);
    else
        print_steps(scene);
}

static int check_with(const check_options* o)
{
    char path[PATH_SIZE];
    if (!locate_scene(o->scene, path)) return STATUS_USAGE;
    talus_scene* scene = NULL;
    talus_world* world = NULL;
    talus_report report = {0};
    talus_error error = {0};
    talus_world_def options = talus_world_default();
    options.log = print_warning;
    talus_status status =
        talus_scene_load(path, o->sets.items, o->sets.count, &scene, &report, &error);
    if (status == TALUS_OK) status = talus_scene_build(scene, &options, &world, &report, &error);
    if (status == TALUS_OK) {
        print_contents(scene, world);
    } else {
        print_problems(&report, &error);
    }
    talus_report_clear(&report);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    if (status == TALUS_OK) return STATUS_OK;
    return status == TALUS_ERR_IO || status == TALUS_ERR_MEMORY ? STATUS_FAILURE : STATUS_SCENE;
}

static int check(int argc, char** argv)
{
    check_options o = {0};
    int status = options_read(&command_check, argc, argv, &o);
    if (status == OPTIONS_GOOD) status = check_with(&o);
    free(o.sets.items);
    return status;
}

static const option_row options[] = {
    OPTION_ROW_SET(check_options),
    {0},
};

const command command_check = {
    .name = "check",
    .usage = "check SCENE [--set key.path=value]...",
    .summary = "check a scene for mistakes",
    .about = "Reads the scene and builds its world, but runs and writes nothing. The exit status "
             "is 3 if\n"
             "there are errors.\n",
    .options = options,
    .examples = "  talus check my-scene.yaml\n"
                "  talus check hopper --set method=soft\n",
    .first = {.what = "a scene", .kind = &value_scene, .place = offsetof(check_options, scene)},
    .function = check,
};
