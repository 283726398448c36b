/// What a scene of the method soft leaves to the program, chosen when its world is made: the
/// springs of pairs of materials, stiffness that no material gives, and steps.
///
/// Numbers that are chosen go into the effective scene: a resumed run reads them there.
#include "base/error.h"
#include "base/vec.h"
#include "scene/model.h"
#include "state/materials.h"
#include "world/world.h"

#include <math.h>

/// A pair states its law, but springs that it leaves out are those of its materials. Not so the
/// damping: without it the pair's own restitution decides.
static void complete_list(const talus_scene* scene, scene_pair* pairs, int count)
{
    for (int i = 0; i < count; i++) {
        scene_pair* pair = &pairs[i];
        const talus_pair_def* a = &scene->materials[pair->a].law;
        const talus_pair_def* b = &scene->materials[pair->b].law;
        talus_pair_def mixture = pair->a == pair->b ? *a : pair_mixture(a, b);
        double *own[SPRING_COUNT], *usual[SPRING_COUNT];
        springs_of(&pair->law, own);
        springs_of(&mixture, usual);
        for (int k = 0; k < SPRING_COUNT; k++) {
            const bool left_out = !(pair->springs >> k & 1) && own[k] != &pair->law.soft.damping;
            if (left_out) *own[k] = *usual[k];
        }
    }
}

void complete_pairs(talus_scene* scene)
{
    complete_list(scene, scene->pairs, scene->pair_count);
    for (int p = 0; p < scene->phase_count; p++) {
        complete_list(scene, scene->phases[p].pairs, scene->phases[p].pair_count);
    }
}

/// Tell the world of the laws anew.
static talus_status give_laws(const talus_scene* scene, talus_world* world, talus_error* error)
{
    for (int a = 0; a < scene->material_count; a++) {
        const talus_pair_def* law = &scene->materials[a].law;
        TRY(talus_world_set_pair(world, (talus_material_id){a}, (talus_material_id){a}, law,
                                 error));
        for (int b = 0; b < a; b++) {
            const talus_pair_def mixture = pair_mixture(&scene->materials[b].law, law);
            TRY(talus_world_set_pair(world, (talus_material_id){a}, (talus_material_id){b},
                                     &mixture, error));
        }
    }
    for (int i = 0; i < scene->pair_count; i++) {
        const scene_pair* pair = &scene->pairs[i];
        TRY(talus_world_set_pair(world, (talus_material_id){pair->a}, (talus_material_id){pair->b},
                                 &pair->law, error));
    }
    return TALUS_OK;
}

/// How much stiffer than a linear spring the constant of the present law must be for the same force
/// at the same overlap d `overlap`. With law: area two disks push with k A/d, and the area of their
/// lens is 4/3 r sqrt(2 overlap) d overlap; polygons that meet side to side with k A/d, where A is
/// about r d overlap. Corners go deeper.
static double stiffness_factor(const talus_scene* scene, bool balls, bool polygons)
{
    double factor = 1.0;
    if (balls && scene->world.soft.law == TALUS_SOFT_AREA)
        factor = 1.5 / sqrt(2.0 * scene->overlap);
    return polygons ? fmax(factor, 2.0) : factor;
}

static bool lacks_stiffness(const scene_material* m)
{
    return !(m->springs >> SPRING_STIFFNESS & 1);
}

talus_status choose_stiffness(talus_scene* scene, talus_world* world, mistakes* found,
                              talus_error* error)
{
    bool lacking = false;
    for (int i = 0; i < scene->material_count; i++) {
        lacking = lacking || lacks_stiffness(&scene->materials[i]);
    }
    bool balls = false, polygons = false; // there, or poured later
    for (int64_t i = 0; i < world->state.grains.count; i++) {
        *(world->state.grains.solid[i] < 0 ? &balls : &polygons) = true;
    }
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        if (source->kind == SOURCE_INLET) *(source->shape.table ? &polygons : &balls) = true;
    }
    const bool hertz = scene->world.soft.law == TALUS_SOFT_HERTZ;
    if (!lacking || (!balls && !polygons) || (hertz && !polygons)) return TALUS_OK;

    soft_choices* choices = &scene->choices;
    TRY(scene_estimate_make(scene, world, scene->overlap, &choices->estimate, error));
    choices->chosen = stiffness_factor(scene, balls, polygons) * choices->estimate.stiffness;
    choices->stiffness = choices->chosen > 0.0;
    for (int i = 0; i < scene->material_count; i++) {
        scene_material* m = &scene->materials[i];
        if (!lacks_stiffness(m)) continue;
        if (!choices->stiffness) {
            mistakes_add(found, m->origin.at, m->origin.path,
                         "its stiffness cannot be chosen: no weight, no force and no speed is "
                         "known at the start (expected stiffness)");
            continue;
        }
        m->law.soft.stiffness = choices->chosen;
        node_put(&scene->arena, m->effective, "stiffness", (place){0},
                 node_real(&scene->arena, choices->chosen));
    }
    if (scene->arena.failed) return error_memory(error, "the scene");
    complete_pairs(scene);
    return choices->stiffness ? give_laws(scene, world, error) : TALUS_OK;
}

// ---- steps -------------------------------------------------------------------------------------

/// Two of the smallest grains that an inlet pours: they may be the stiffest pair.
static talus_status add_smallest(const talus_scene* scene, const scene_source* source,
                                 talus_world* world, talus_error* error)
{
    sizes* drawn = NULL;
    TRY(sizes_create(&source->inlet.sizes, scene->world.dim, &drawn, error));
    talus_grain_def g = source->base;
    g.radius = sizes_least(drawn);
    sizes_destroy(drawn);
    vec_copy(3, g.position, source->inlet.low);
    shape_choice_apply(&source->shape, scene->world.dim, 0, 0, 0, &g);
    for (int i = 0; i < 2; i++) TRY(talus_world_add_grain(world, &g, NULL, error));
    return TALUS_OK;
}

void scene_set_step(talus_scene* scene, scene_step* step, double length)
{
    step->length = length;
    node_put(&scene->arena, step->effective, "step", (place){0}, node_real(&scene->arena, length));
}

bool scene_same_step(const scene_step* a, const scene_step* b)
{
    const place one = a->origin.at, two = b->origin.at;
    return one.source == two.source && one.line == two.line && one.column == two.column;
}

/// Whether an earlier phase takes the step of this one from the same line, to the same end.
static bool is_reported(const talus_scene* scene, int index)
{
    const scene_phase* phase = &scene->phases[index];
    for (int i = 0; i < index; i++) {
        const scene_phase* earlier = &scene->phases[i];
        if (scene_same_step(&earlier->step, &phase->step) &&
            earlier->times.chosen == phase->times.chosen) {
            return true;
        }
    }
    return false;
}

/// Choose the step of a phase if it is `auto` or too long; true if it was chosen. Where nothing can
/// collide the phase's times are all zero, and `why` says so.
static bool choose_step(talus_scene* scene, int index, const talus_error* why, const log_sink* log,
                        mistakes* found)
{
    scene_phase* phase = &scene->phases[index];
    const scene_origin* origin = &phase->step.origin;
    const talus_soft_times* times = &phase->times;
    const bool known = times->contact > 0.0;
    // A step written for rigid grains is far too long for soft ones.
    const bool too_long = !phase->step.chosen && known && phase->step.length > times->stable;
    if (phase->step.chosen && !known && !is_reported(scene, index)) {
        mistakes_add(found, origin->at, origin->path,
                     "'auto' cannot be settled: %s (expected a number > 0)", why->text);
    }
    if (too_long && !is_reported(scene, index)) {
        const char* unit = scene->output.reduced_units ? "" : " s";
        log_write(log, TALUS_LOG_WARNING,
                  "%s %.4g%s is too long for soft grains (stable up to %.3g%s): %.3g%s is used, as "
                  "step: auto would",
                  origin->path, phase->step.length, unit, times->stable, unit, times->chosen, unit);
    }
    if (!known || !(phase->step.chosen || too_long)) return false;
    scene_set_step(scene, &phase->step, times->chosen);
    return true;
}

talus_status choose_steps(talus_scene* scene, talus_world* world, const log_sink* log,
                          mistakes* found, talus_error* error)
{
    // The world needs all kinds of grains for it; those of the inlets are there for a moment only.
    const int64_t first = world->state.grains.count, next_id = world->state.grains.next_id;
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        if (source->kind == SOURCE_INLET) TRY(add_smallest(scene, source, world, error));
    }
    double shortest = INFINITY;
    bool replaced = scene->step.chosen;
    for (int i = 0; i < scene->phase_count; i++) {
        scene_phase* phase = &scene->phases[i];
        for (int k = 0; k < phase->pair_count; k++) {
            const scene_pair* pair = &phase->pairs[k];
            TRY(talus_world_set_pair(world, (talus_material_id){pair->a},
                                     (talus_material_id){pair->b}, &pair->law, error));
        }
        talus_error why = {0};
        const talus_status status = talus_world_soft_times(world, &phase->times, &why);
        if (status == TALUS_ERR_MEMORY) return error_memory(error, "the steps");
        if (status < 0) phase->times = (talus_soft_times){0};
        if (!choose_step(scene, i, &why, log, found)) continue;
        shortest = fmin(shortest, phase->step.length);
        replaced = replaced || scene_same_step(&phase->step, &scene->step);
    }
    if (replaced && shortest < INFINITY) scene_set_step(scene, &scene->step, shortest);
    if (scene->arena.failed) return error_memory(error, "the scene");

    for (int64_t i = world->state.grains.count - 1; i >= first; i--) {
        TRY(talus_world_remove_grain(world, world->state.grains.id[i], error));
    }
    world->state.grains.next_id = next_id;
    return give_laws(scene, world, error);
}
