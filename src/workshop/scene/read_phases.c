/// The section `phases`: protocols one after the other, each with its changes and its end.
#include "scene/model.h"

#include <string.h>

static const phase_end endless = {.duration = -1.0, .steps = -1, .kinetic_energy = -1.0};

static phase_end read_until(section* parent)
{
    phase_end end = endless;
    section s;
    bool given = section_open(&s, parent, "until");
    section_fill(&s, phase_end, &end);
    if (section_got(&s, "kinetic_energy"))
        end.hold = read_real(&s, "hold");
    else if (section_has(&s, "hold"))
        section_mistake(&s, "hold", "goes only with kinetic_energy");
    bool any =
        section_has(&s, "time") || section_has(&s, "steps") || section_has(&s, "kinetic_energy");
    const bool misspelt =
        !any && (section_misspells(&s, "time") || section_misspells(&s, "steps") ||
                 section_misspells(&s, "kinetic_energy"));
    if (!any && !s.broken && !misspelt) {
        section_mistake(given ? &s : parent, given ? NULL : "until",
                        "no end condition (expected until: with time, steps or kinetic_energy)");
    }
    section_close(&s);
    return end;
}

static void read_motions(talus_scene* scene, section* s, scene_phase* phase, const bool* gone)
{
    items list;
    items_open_map(&list, s, "set_motion");
    phase->motions = arena_take(&scene->arena, sizeof *phase->motions * (size_t)(list.count + 1));
    if (!phase->motions) return;
    for (int i = 0; i < list.count; i++) {
        section item;
        const char* name;
        if (!items_section(&list, i, &item, &name)) continue;
        int wall = reader_find_name(s->r, list.in->key_at[i], item.path, "wall", name,
                                    scene->wall_names, scene->wall_count);
        if (wall >= 0 && gone[wall]) {
            section_mistake(&item, NULL, "wall '%s' was removed before", name);
        }
        scene_motion* motion = &phase->motions[phase->motion_count];
        motion->wall = wall;
        read_motion(scene, &item, true, wall, &motion->drive);
        check_motion(scene, item.at, item.path, &motion->drive);
        if (wall >= 0) phase->motion_count++;
    }
}

/// A phase in which nothing changes and no inlet is open; false if memory is short.
static bool phase_init(talus_scene* scene, scene_phase* phase)
{
    *phase = (scene_phase){.name = "run", .step = scene->step};
    phase->pours = arena_take(&scene->arena, sizeof(bool) * (size_t)(scene->inlet_count + 1));
    return phase->pours != NULL;
}

/// What earlier phases leave behind for the later ones.
typedef struct phase_memory {
    bool* gone;              ///< [wall_count] removed walls
    const char** inlets;     ///< names of the inlets, in the order of their inlet_index
    talus_solver_def solver; ///< in force
} phase_memory;

static void read_phase(talus_scene* scene, section* s, int index, phase_memory* memory)
{
    scene_phase* phase = &scene->phases[index];
    const char* unnamed = arena_format(&scene->arena, "phase%d", index);
    phase->name = read_text_or(s, "name", unnamed ? unnamed : "");
    phase->end = read_until(s);
    read_step(s, false, &phase->step);
    int count;
    const char** names = read_texts(s, "remove", &count);
    phase->removed = arena_take(&scene->arena, sizeof *phase->removed * (size_t)(count + 1));
    for (int i = 0; phase->removed && i < count; i++) {
        int wall = section_find_name(s, "remove", i, "wall", names[i], scene->wall_names,
                                     scene->wall_count);
        if (wall < 0) continue;
        if (memory->gone[wall]) {
            section_mistake(s, "remove", "wall '%s' was removed before", names[i]);
            continue;
        }
        memory->gone[wall] = true;
        phase->removed[phase->removed_count++] = wall;
    }
    if (section_has(s, "set_motion")) read_motions(scene, s, phase, memory->gone);
    section_fill(s, scene_phase, phase);
    phase->has_gravity = section_got(s, "gravity");
    phase->has_solver = section_has(s, "solver");
    if (phase->has_solver) read_solver(s, &memory->solver, &scene->separation_said);
    phase->solver = memory->solver;
    if (section_has(s, "pairs")) phase->pairs = read_pairs(scene, s, &phase->pair_count);
    names = read_texts(s, "pour", &count);
    for (int i = 0; i < count; i++) {
        int found =
            section_find_name(s, "pour", i, "inlet", names[i], memory->inlets, scene->inlet_count);
        if (found >= 0) phase->pours[found] = true;
    }
    section_close(s);
}

void read_phases(talus_scene* scene, section* root)
{
    arena* a = &scene->arena;
    if (!section_has(root, "phases")) { // one, with all inlets open
        scene->phases = arena_take(a, sizeof *scene->phases);
        if (!scene->phases || !phase_init(scene, &scene->phases[0])) return;
        scene->phases[0].end = endless;
        // Whoever steps a saved world says when it is enough.
        if (!scene->saved || section_has(root, "until")) scene->phases[0].end = read_until(root);
        for (int i = 0; i < scene->inlet_count; i++) scene->phases[0].pours[i] = true;
        scene->phase_count = 1;
        return;
    }
    if (section_has(root, "until")) {
        section_mistake(root, "until", "is given besides phases (expected until in each phase)");
    }
    items list;
    items_open_list(&list, root, "phases");
    if (list.in && list.count == 0) section_mistake(root, "phases", "is empty (expected a phase)");
    phase_memory memory = {
        .gone = arena_take(a, sizeof *memory.gone * (size_t)(scene->wall_count + 1)),
        .inlets = arena_take(a, sizeof *memory.inlets * (size_t)(scene->inlet_count + 1)),
        .solver = scene->world.solver};
    scene->phases = arena_take(a, sizeof *scene->phases * (size_t)(list.count + 1));
    if (!scene->phases || !memory.gone || !memory.inlets) return;
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        if (source->kind == SOURCE_INLET) memory.inlets[source->inlet_index] = source->name;
    }
    for (int i = 0; i < list.count; i++) {
        section s;
        if (!phase_init(scene, &scene->phases[i])) return;
        scene->phase_count = i + 1;
        if (items_section(&list, i, &s, NULL)) read_phase(scene, &s, i, &memory);
    }
    for (int i = 0; i < scene->source_count; i++) { // an inlet that no phase opens
        const scene_source* source = &scene->sources[i];
        bool used = source->kind != SOURCE_INLET;
        for (int p = 0; !used && p < scene->phase_count; p++) {
            used = scene->phases[p].pours[source->inlet_index];
        }
        if (used) continue;
        mistakes_add(&scene->mistakes, source->origin.at, source->origin.path,
                     "inlet '%s' is never opened (expected pour: [%s] in one of the phases)",
                     source->name, source->name);
    }
}
