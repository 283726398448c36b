/// The sections `materials` and `pairs`.
#include "scene/model.h"

#include <string.h>

/// The friction table grows with the square of this.
enum { MATERIALS_MAX = 1000 };

/// The contact law beside friction, with the same keys for a material and for a pair.
static void read_law(section* s, talus_pair_def* law)
{
    law->dynamic_friction = read_real_or(s, "dynamic_friction", law->friction);
    if (law->dynamic_friction > law->friction) {
        section_mistake(s, "dynamic_friction",
                        "is above the friction of sticking (expected at most %g)", law->friction);
    } else if (law->dynamic_friction == 0.0 && law->friction > 0.0) {
        section_mistake(s, "dynamic_friction", "must be above 0 where there is friction");
    }
    law->restitution = read_real(s, "restitution");
    law->tangential_restitution = read_real(s, "tangential_restitution");
    law->rolling = read_real(s, "rolling");
    law->torsion = read_real(s, "torsion");
    law->rolling_kind = (talus_rolling_kind)read_choice(s, "rolling_kind");
    law->cohesion_force = read_real(s, "cohesion_force");
    law->cohesion_energy = read_real(s, "cohesion_energy");
    if (law->cohesion_energy > 0.0 && law->cohesion_force == 0.0) {
        section_mistake(s, "cohesion_energy",
                        "needs a force besides (expected cohesion_force > 0)");
    }
}

static void read_material(section* s, scene_material* m)
{
    m->density = read_real(s, "density");
    m->law = talus_pair_default();
    m->law.friction = read_real(s, "friction");
    read_law(s, &m->law);
    schema_springs(s, &m->law, &m->springs);
    m->origin = (scene_origin){s->at, s->path};
    m->effective = s->out;
}

/// The law of Hertz has no default of how hard grains are.
static void check_young(talus_scene* scene)
{
    const talus_world_def* def = &scene->world;
    if (!method_of(def->method)->has_springs || def->soft.law != TALUS_SOFT_HERTZ) return;
    for (int i = 0; i < scene->material_count; i++) {
        const scene_material* m = &scene->materials[i];
        if (m->law.young > 0.0 || !m->effective) continue;
        mistakes_add(&scene->mistakes, m->origin.at, m->origin.path,
                     "the law of Hertz needs the material's Young's modulus (expected young)");
    }
}

/// A scene without materials gets one, so that every grain and wall has some.
static void default_material(talus_scene* scene, items* list)
{
    arena* a = &scene->arena;
    scene->material_names = arena_take(a, sizeof *scene->material_names);
    scene->materials = arena_take(a, sizeof *scene->materials);
    if (!scene->materials || !scene->material_names) return;
    scene->materials[0].name = scene->material_names[0] = "default";
    scene->material_count = 1;
    section s;
    items_add_section(list, "default", &s);
    read_material(&s, &scene->materials[0]);
}

void schema_materials(talus_scene* scene, section* root)
{
    items list;
    items_open_map(&list, root, "materials");
    if (list.count == 0) {
        default_material(scene, &list);
    } else {
        if (list.count > MATERIALS_MAX) {
            section_mistake(root, "materials", "%d are too many (expected at most %d)", list.count,
                            MATERIALS_MAX);
            list.count = MATERIALS_MAX;
        }
        size_t count = (size_t)list.count;
        scene->materials = arena_take(&scene->arena, sizeof *scene->materials * count);
        scene->material_names = arena_take(&scene->arena, sizeof *scene->material_names * count);
        if (!scene->materials || !scene->material_names) return;
        scene->material_count = list.count;
        for (int i = 0; i < list.count; i++) {
            scene_material* m = &scene->materials[i];
            section s;
            bool good = items_section(&list, i, &s, &m->name);
            scene->material_names[i] = m->name;
            if (!good) continue;
            read_material(&s, m);
            section_close(&s);
        }
    }
    check_young(scene);
    scene->pairs = schema_pairs(scene, root, &scene->pair_count);
}

scene_pair* schema_pairs(talus_scene* scene, section* parent, int* count)
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
        pair.law.friction = read_real(&s, "friction");
        read_law(&s, &pair.law);
        schema_springs(&s, &pair.law, &pair.springs);
        if (between && names == 2) {
            pair.a = schema_find(&s, "between", 0, "material", between[0], scene->material_names,
                                 scene->material_count);
            pair.b = schema_find(&s, "between", 1, "material", between[1], scene->material_names,
                                 scene->material_count);
        }
        section_close(&s);
        if (pair.a >= 0 && pair.b >= 0) pairs[(*count)++] = pair;
    }
    return pairs;
}
