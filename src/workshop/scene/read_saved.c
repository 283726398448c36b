/// `world`: a scene that goes on with a saved world, which has all but the phases and the output.
#include "record/record.h"
#include "scene/model.h"

#include <string.h>

/// All springs of a law are given.
enum { ALL_SPRINGS = (1 << SPRING_COUNT) - 1 };

/// Keys of what the saved world has already.
static void refuse_own_keys(section* root)
{
    static const char* const saved[] = {"seed",   "method", "gravity", "drag",     "periodic",
                                        "domain", "solver", "soft",    "policies", "materials",
                                        "pairs",  "shapes", "walls",   "grains"};
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        if (!section_has(root, saved[i])) continue;
        section_mistake(root, saved[i],
                        "is that of the saved world (expected nothing here; phases may change "
                        "gravity, solver, pairs and the motion of walls)");
    }
}

/// What the names in phases refer to.
static bool take_materials(talus_scene* scene, const talus_world* world)
{
    const int count = talus_world_material_count(world);
    const size_t n = (size_t)count + 1;
    scene->materials = arena_take(&scene->arena, sizeof *scene->materials * n);
    scene->material_names = arena_take(&scene->arena, sizeof *scene->material_names * n);
    scene->pairs = arena_take(&scene->arena, sizeof *scene->pairs * n * n);
    if (!scene->materials || !scene->material_names || !scene->pairs) return false;
    for (int a = 0; a < count; a++) {
        scene_material* m = &scene->materials[a];
        *m = (scene_material){.law = talus_pair_default(), .springs = ALL_SPRINGS};
        const char* name = talus_world_material_name(world, (talus_material_id){a});
        m->name = scene->material_names[a] = arena_text(&scene->arena, name, strlen(name));
        talus_world_pair(world, (talus_material_id){a}, (talus_material_id){a}, &m->law, NULL);
        for (int b = 0; b < a; b++) {
            scene_pair* pair = &scene->pairs[scene->pair_count++];
            *pair = (scene_pair){b, a, talus_pair_default(), ALL_SPRINGS};
            talus_world_pair(world, (talus_material_id){b}, (talus_material_id){a}, &pair->law,
                             NULL);
        }
    }
    scene->material_count = count;
    return !scene->arena.failed;
}

static bool take_walls(talus_scene* scene, const talus_world* world)
{
    const int count = talus_world_wall_count(world);
    const size_t n = (size_t)count + 1;
    scene->walls = arena_take(&scene->arena, sizeof *scene->walls * n);
    scene->wall_names = arena_take(&scene->arena, sizeof *scene->wall_names * n);
    if (!scene->walls || !scene->wall_names) return false;
    for (int i = 0; i < count; i++) {
        talus_wall_state state;
        talus_world_wall(world, (talus_wall_id){i}, &state, NULL);
        scene->walls[i] = (scene_wall){.def = talus_wall_default()};
        talus_world_wall_options(world, (talus_wall_id){i}, &scene->walls[i].def, NULL);
        scene->wall_names[i] = arena_text(&scene->arena, state.name, strlen(state.name));
    }
    scene->wall_count = count;
    return !scene->arena.failed;
}

bool read_saved_world(talus_scene* scene, section* root)
{
    talus_error error = {0};
    refuse_own_keys(root);
    scene->saved_file = read_path(scene, root, "world");
    if (!scene->saved_file) return false;
    if (saved_world_define(scene->saved_file, NULL, &scene->saved, &error) < 0) {
        section_mistake(root, "world", "%s (expected a file of talus_world_save())", error.text);
        return false;
    }
    const talus_world_def* saved = talus_world_options(scene->saved);
    if (section_got(root, "dimension") && scene->world.dim != saved->dim) {
        section_mistake(root, "dimension", "is not that of the saved world (expected %d)",
                        saved->dim);
        return false;
    }
    scene->world = *saved;
    if (section_has(root, "threads")) {
        scene->world.threads = (int)read_integer_or(root, "threads", saved->threads);
    }
    scene->world.device = read_text(root, "device");
    check_device(root, &scene->world);
    return take_materials(scene, scene->saved) && take_walls(scene, scene->saved);
}
