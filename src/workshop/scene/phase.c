/// Going through a scene's phases: the changes with which each begins, and its inlets.
#include "base/error.h"
#include "scene/generate_region.h"
#include "scene/model.h"
#include "world/world.h"

#include <math.h>

int scene_phase_count(const talus_scene* scene)
{
    return scene->phase_count;
}

const char* scene_phase_name(const talus_scene* scene, int phase)
{
    return scene->phases[phase].name;
}

const phase_end* scene_phase_end(const talus_scene* scene, int phase)
{
    return &scene->phases[phase].end;
}

bool scene_phase_has_end(const talus_scene* scene, int phase)
{
    const phase_end* end = &scene->phases[phase].end;
    return end->duration >= 0.0 || end->steps >= 0 || end->kinetic_energy >= 0.0;
}

void scene_phase_by_time(talus_scene* scene, int phase, double duration)
{
    phase_end* end = &scene->phases[phase].end;
    if (end->steps < 0) return;
    end->steps = -1;
    end->duration = duration;
}

double scene_phase_step(const talus_scene* scene, int phase)
{
    return scene->phases[phase].step.length;
}

const char* scene_phase_step_path(const talus_scene* scene, int phase)
{
    return scene->phases[phase].step.origin.path;
}

talus_status scene_phase_begin(const talus_scene* scene, int phase, talus_world* world,
                               talus_error* error)
{
    const scene_phase* p = &scene->phases[phase];
    for (int i = 0; i < p->removed_count; i++) {
        TRY(talus_world_remove_wall(world, (talus_wall_id){p->removed[i]}, error));
    }
    for (int i = 0; i < p->motion_count; i++) {
        TRY(talus_world_set_drive(world, (talus_wall_id){p->motions[i].wall}, &p->motions[i].drive,
                                  error));
    }
    if (p->has_gravity) TRY(talus_world_set_gravity(world, p->gravity, error));
    if (p->has_solver) TRY(talus_world_set_solver(world, &p->solver, error));
    for (int i = 0; i < p->pair_count; i++) {
        const scene_pair* pair = &p->pairs[i];
        TRY(talus_world_set_pair(world, (talus_material_id){pair->a}, (talus_material_id){pair->b},
                                 &pair->law, error));
    }
    return TALUS_OK;
}

/// Mass of a grain as large as they come from an inlet.
static double largest_mass(const scene_source* source, int dim)
{
    if (source->base.mass > 0.0) return source->base.mass;
    return source->base.density * shape_choice_fill(&source->shape, dim) *
           generate_ball_volume(dim, source->largest_radius);
}

int64_t scene_pour_steps(const talus_scene* scene, int phase, double h)
{
    int64_t least = 0;
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        if (source->kind != SOURCE_INLET) continue;
        if (!scene->phases[phase].pours[source->inlet_index]) continue;
        if (!method_of(scene->world.method)->short_steps) return 1;
        const double unit = source->inlet.by_mass ? largest_mass(source, scene->world.dim) : 1.0;
        const double steps = fmin(0.1 * unit / (source->inlet.rate * h), 1e9);
        const int64_t between = steps > 1.0 ? (int64_t)steps : 1;
        if (least == 0 || between < least) least = between;
    }
    return least;
}

/// Let one inlet place its grains and put them into the world.
static talus_status pour_one(const scene_source* source, inlet_state* state, talus_world* world,
                             double h, grain_list* fresh, talus_error* error)
{
    const talus_grains g = talus_world_grains(world);
    double owed = state->owed;
    inlet_report report = {0};
    fresh->count = 0;
    TRY(inlet_pour(source->inlet_ready, h, g.position, g.radius, g.count, scene_clear_of_walls,
                   world, state, fresh, &report, error));
    // Say that it falls behind each time its backlog doubles from 16 grains on: the backlog is all
    // that a restart knows, so nothing else may decide when to speak.
    const double unit = source->inlet.by_mass ? largest_mass(source, world->def.dim) : 1.0;
    const double before = owed / unit, after = state->owed / unit;
    if (report.blocked && state->owed >= 16.0 * unit && ilogb(after) > ilogb(before)) {
        log_write(&world->log, TALUS_LOG_WARNING,
                  "inlet '%s' falls behind, %lld grains or more are waiting: %s", source->name,
                  (long long)after, report.reason);
    }
    for (int64_t i = 0; i < fresh->count; i++) {
        TRY(talus_world_add_grain(world, &fresh->rows[i], NULL, error));
    }
    return TALUS_OK;
}

talus_status scene_pour(const talus_scene* scene, int phase, inlet_state* states,
                        talus_world* world, double h, talus_error* error)
{
    grain_list fresh = {0};
    talus_status status = TALUS_OK;
    for (int i = 0; i < scene->source_count && status >= 0; i++) {
        const scene_source* source = &scene->sources[i];
        if (source->kind != SOURCE_INLET) continue;
        if (!scene->phases[phase].pours[source->inlet_index]) continue;
        status = pour_one(source, &states[source->inlet_index], world, h, &fresh, error);
    }
    grain_list_free(&fresh);
    return status;
}
