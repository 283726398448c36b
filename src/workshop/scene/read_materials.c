/// The sections `materials` and `pairs`.
#include "scene/model.h"

#include <string.h>

/// The friction table grows with the square of this.
enum { MATERIALS_MAX = 1000 };

void springs_of(talus_pair_def* law, double* out[SPRING_COUNT])
{
    double* const all[SPRING_COUNT] = {&law->soft.stiffness, &law->soft.stiffness_ratio,
                                       &law->soft.damping,   &law->soft.damping_ratio,
                                       &law->soft.young,     &law->soft.poisson};
    memcpy(out, all, sizeof all);
}

/// The contact law, with the same keys for a material and for a pair; bit i of *springs tells that
/// constant i of the method soft is given.
static void read_law(section* s, talus_pair_def* law, unsigned* springs)
{
    section_fill_before(s, "dynamic_friction", talus_pair_def, law);
    law->dynamic_friction = read_real_or(s, "dynamic_friction", law->friction);
    if (law->dynamic_friction > law->friction) {
        section_mistake(s, "dynamic_friction",
                        "is above the friction of sticking (expected at most %g)", law->friction);
    } else if (law->dynamic_friction == 0.0 && law->friction > 0.0) {
        section_mistake(s, "dynamic_friction", "must be above 0 where there is friction");
    }
    section_fill(s, talus_pair_def, law);
    if (law->cohesion_energy > 0.0 && law->cohesion_force == 0.0) {
        section_mistake(s, "cohesion_energy",
                        "needs a force besides (expected cohesion_force > 0)");
    }
    static const char* const keys[SPRING_COUNT] = {"stiffness",     "stiffness_ratio", "damping",
                                                   "damping_ratio", "young",           "poisson"};
    *springs = 0;
    for (int i = 0; i < SPRING_COUNT; i++) *springs |= (unsigned)section_got(s, keys[i]) << i;
}

void read_materials(talus_scene* scene, section* root)
{
    items list;
    items_open_map(&list, root, "materials");
    if (list.count > MATERIALS_MAX) {
        section_mistake(root, "materials", "%d are too many (expected at most %d)", list.count,
                        MATERIALS_MAX);
        list.count = MATERIALS_MAX;
    }
    // A scene without materials gets one, so that every grain and wall has some.
    const bool none = list.count == 0;
    const size_t count = none ? 1 : (size_t)list.count;
    scene->materials = arena_take(&scene->arena, sizeof *scene->materials * count);
    scene->material_names = arena_take(&scene->arena, sizeof *scene->material_names * count);
    if (!scene->materials || !scene->material_names) return;
    scene->material_count = (int)count;
    for (int i = 0; i < scene->material_count; i++) {
        scene_material* m = &scene->materials[i];
        section s;
        bool good = true;
        m->name = "default";
        if (none)
            items_add_section(&list, m->name, &s);
        else
            good = items_section(&list, i, &s, &m->name);
        scene->material_names[i] = m->name;
        if (!good) continue;
        m->law = talus_pair_default();
        section_fill(&s, scene_material, m);
        read_law(&s, &m->law, &m->springs);
        m->origin = (scene_origin){s.at, s.path};
        m->effective = s.out;
        section_close(&s);
        // The law of Hertz has no default of how hard grains are.
        const bool hertz = method_of(scene->world.method)->has_springs &&
                           scene->world.soft.law == TALUS_SOFT_HERTZ;
        if (hertz && !(m->law.soft.young > 0.0)) {
            section_mistake(&s, NULL,
                            "the law of Hertz needs the material's Young's modulus (expected "
                            "young)");
        }
    }
    scene->pairs = read_pairs(scene, root, &scene->pair_count);
}

scene_pair* read_pairs(talus_scene* scene, section* parent, int* count)
{
    *count = 0;
    items list;
    items_open_list(&list, parent, "pairs");
    scene_pair* pairs = arena_take(&scene->arena, sizeof *pairs * (size_t)(list.count + 1));
    if (!pairs) return NULL;
    for (int i = 0; i < list.count; i++) {
        section s;
        if (!items_section(&list, i, &s, NULL)) continue;
        int names;
        const char** between = read_texts(&s, "between", &names);
        if (!between || names != 2) {
            section_mistake(&s, "between", "needs two names (expected [material, material])");
        }
        scene_pair pair = {.a = -1, .b = -1, .law = talus_pair_default()};
        read_law(&s, &pair.law, &pair.springs);
        if (between && names == 2) {
            pair.a = section_find_name(&s, "between", 0, "material", between[0],
                                       scene->material_names, scene->material_count);
            pair.b = section_find_name(&s, "between", 1, "material", between[1],
                                       scene->material_names, scene->material_count);
        }
        section_close(&s);
        if (pair.a >= 0 && pair.b >= 0) pairs[(*count)++] = pair;
    }
    return pairs;
}
