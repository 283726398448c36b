/// Steps of the method contact: those that are `auto` are chosen when the world is made, and those
/// that are given are held against what would be.
///
/// A phase is judged by the gravity and the motions of walls in force in it, by the inlets that
/// have been open up to it, by the speeds and forces of the grains at the start, and by how far
/// grains can fall.
#include "base/error.h"
#include "base/vec.h"
#include "scene/model.h"
#include "state/drive.h"
#include "world/advise_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// Who moves how in a phase.
typedef struct phase_motion {
    const talus_scene* scene;
    const talus_world* world;
    const talus_drive_def** drive; ///< [walls] NULL: removed
    double gravity[3];
    double low[3], high[3]; ///< box of grains and inlets
} phase_motion;

void scene_advice_words(const talus_step_advice* a, bool reduced, char* text, size_t size)
{
    const char *s = reduced ? "" : " s", *m = reduced ? "" : " m";
    if (a->by_period) {
        snprintf(text, size, "1/50 of the period of %s, %.3g%s", a->of, 1.0 / a->frequency, s);
    } else if (a->by_speed) {
        snprintf(text, size,
                 "0.5 d/v = %.3g%s for the thinnest grain, d = %.3g%s, and %s, v = %.3g%s",
                 a->bound, s, a->thickness, m, a->of, a->speed, reduced ? "" : " m/s");
    } else {
        snprintf(text, size,
                 "0.1 sqrt(d/a) = %.3g%s for the thinnest grain, d = %.3g%s, and %s, a = %.3g%s",
                 a->bound, s, a->thickness, m, a->of, a->acceleration, reduced ? "" : " m/s2");
    }
}

/// Take over what changes with the beginning of a phase.
static void begin_phase(phase_motion* m, const scene_phase* phase)
{
    for (int i = 0; i < phase->removed_count; i++) m->drive[phase->removed[i]] = NULL;
    for (int i = 0; i < phase->motion_count; i++) {
        m->drive[phase->motions[i].wall] = &phase->motions[i].drive;
    }
    if (phase->has_gravity) vec_copy(3, m->gravity, phase->gravity);
}

/// Whether an inlet has been open up to a phase.
static bool has_poured(const talus_scene* scene, const scene_source* source, int phase)
{
    bool open = false;
    for (int p = 0; p <= phase; p++) open = open || scene->phases[p].pours[source->inlet_index];
    return open;
}

/// Thickness of the smallest grain that an inlet pours.
static talus_status poured_thickness(const talus_scene* scene, const scene_source* source,
                                     double* out, talus_error* error)
{
    sizes* drawn = NULL;
    TRY(sizes_create(&source->inlet.sizes, scene->world.dim, &drawn, error));
    const double radius = sizes_least(drawn);
    const shape_choice* shape = &source->shape;
    sizes_destroy(drawn);
    *out = shape->table ? INFINITY : 2.0 * radius;
    for (int i = 0; shape->table && i < shape->count; i++) {
        const solid* s = &shape->table->solids.row[shape->first + i];
        const double scale = shape->scale > 0.0 ? shape->scale : radius / s->radius;
        *out = fmin(*out, scale * s->thinnest);
    }
    return TALUS_OK;
}

static talus_status advise_phase(const phase_motion* m, int index, talus_step_advice* out,
                                 talus_error* error)
{
    const talus_scene* scene = m->scene;
    const int dim = scene->world.dim;
    double thickness = advice_thickness(&m->world->state.grains);
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        double poured;
        if (source->kind != SOURCE_INLET || !has_poured(scene, source, index)) continue;
        TRY(poured_thickness(scene, source, &poured, error));
        thickness = fmin(thickness, poured);
    }
    *out = advice_begin(thickness);
    advice_add_acceleration(out, vec_norm(dim, m->gravity), "gravity");
    double fall;
    TRY(scene_fall_speed(scene, m->world, m->gravity, &fall, error));
    advice_add_speed(out, fall, "a fall");
    advice_add_grains(out, &m->world->state.grains);
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        if (source->kind != SOURCE_INLET || !has_poured(scene, source, index)) continue;
        advice_add_speed(out, vec_norm(dim, source->base.velocity), "a grain of an inlet");
    }
    for (int i = 0; i < scene->wall_count; i++) {
        const talus_drive_def* d = m->drive[i];
        if (!d) continue;
        advice_add_drive(out, &m->world->state.walls, i, d, dim, m->low, m->high);
        // A step that is given is not too long because a light wall is pressed onto grains.
        if (!scene->phases[index].step.chosen) continue;
        advice_add_push(out, &m->world->state.walls, d, dim, m->gravity);
    }
    advice_end(out);
    return TALUS_OK;
}

/// Whether an earlier phase has its step from the same line and heard the same of it.
static bool is_reported(const talus_scene* scene, int index)
{
    const scene_phase* phase = &scene->phases[index];
    for (int i = 0; i < index; i++) {
        const scene_phase* earlier = &scene->phases[i];
        if (scene_same_step(&earlier->step, &phase->step) &&
            earlier->advice.bound <= phase->advice.bound) {
            return true;
        }
    }
    return false;
}

/// Choose the step of a phase if it is `auto`; say so if one that is given is too long.
static void settle_step(talus_scene* scene, int index, const log_sink* log, mistakes* found)
{
    scene_phase* phase = &scene->phases[index];
    const talus_step_advice* advice = &phase->advice;
    const scene_origin* origin = &phase->step.origin;
    const bool reduced = scene->output.reduced_units;
    if (phase->step.chosen && !(advice->length > 0.0)) {
        if (!is_reported(scene, index)) {
            mistakes_add(found, origin->at, origin->path,
                         "'auto' cannot be settled: %s (expected a number > 0)",
                         scene->source_count == 0
                             ? "the scene has no grains"
                             : "no gravity, no force and no speed is known at the start");
        }
    } else if (phase->step.chosen) {
        scene_set_step(scene, &phase->step, advice->length);
    } else if (scene_phase_is_long(scene, index) && !is_reported(scene, index)) {
        char why[256], where[512];
        const char* unit = reduced ? "" : " s";
        scene_advice_words(advice, reduced, why, sizeof why);
        scene_origin_words(scene, origin, where, sizeof where);
        log_write(log, TALUS_LOG_WARNING, "%s: %.4g%s is too long; %.3g%s would do (%s), or auto",
                  where, phase->step.length, unit, advice->length, unit, why);
    }
}

talus_status choose_contact_steps(talus_scene* scene, const talus_world* world, const log_sink* log,
                                  mistakes* found, talus_error* error)
{
    phase_motion m = {.scene = scene, .world = world};
    m.drive = malloc(sizeof *m.drive * (size_t)(scene->wall_count + 1));
    if (!m.drive) return error_memory(error, "the steps");
    vec_copy(3, m.gravity, scene->world.gravity);
    for (int i = 0; i < scene->wall_count; i++) m.drive[i] = &scene->walls[i].def.drive;
    grains_box(&world->state.grains, world->def.threads, m.low, m.high);
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        for (int k = 0; source->kind == SOURCE_INLET && k < scene->world.dim; k++) {
            m.low[k] = fmin(m.low[k], source->inlet.low[k]);
            m.high[k] = fmax(m.high[k], source->inlet.high[k]);
        }
    }
    double shortest = INFINITY;
    talus_status status = TALUS_OK;
    for (int i = 0; i < scene->phase_count && status >= 0; i++) {
        scene_phase* phase = &scene->phases[i];
        begin_phase(&m, phase);
        status = advise_phase(&m, i, &phase->advice, error);
        if (status < 0) break;
        settle_step(scene, i, log, found);
        if (phase->step.chosen) shortest = fmin(shortest, phase->step.length);
    }
    free(m.drive);
    if (scene->step.chosen && shortest < INFINITY) scene_set_step(scene, &scene->step, shortest);
    return status < 0 || !scene->arena.failed ? status : error_memory(error, "the scene");
}
