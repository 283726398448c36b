/// The world: making it, filling it, reading it. Stepping it is in step.c.
#include "world/world.h"

#include "base/definition.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "geometry/shape.h"
#include "rigid/packed/packed.h"
#include "state/drive.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

// ---- making ------------------------------------------------------------------------------------

static talus_status check_solver(const talus_solver_def* s, talus_error* error)
{
    if (s->max_sweeps < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT, "solver: max_sweeps must be at least 1, got %d",
                         s->max_sweeps);
    }
    if (!(s->tolerance >= 0.0) && s->stop != TALUS_STOP_SWEEPS) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "solver: tolerance must be positive, or 0 for what each step asks for, "
                         "got %g",
                         s->tolerance);
    }
    if (s->stop >= TALUS_STOP_LOCAL && s->method != TALUS_SOLVER_SWEEPS) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "solver: the rules 'local' and 'global' need the method 'sweeps'");
    }
    if (s->precision == TALUS_PRECISION_SINGLE && s->method == TALUS_SOLVER_SWEEPS) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "solver: the method 'sweeps' has no single precision; take 'auto', "
                         "'accelerated' or 'coloured', or double precision");
    }
    if (!packed_kernels_for(s->vector)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "solver: this machine does not have the vector width that was asked for");
    }
    if (!(s->cutoff >= 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "solver: cutoff must not be negative, got %g",
                         s->cutoff);
    }
    return TALUS_OK;
}

static talus_status check_boxes(const talus_world_def* def, talus_error* error)
{
    for (int k = 0; k < def->dim; k++) {
        double length = def->periodic[k] ? def->cell_high[k] - def->cell_low[k] : 1.0;
        if (!(length > 0.0) || !isfinite(length)) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "world: the periodic cell is empty or infinite along %c",
                             axis_letter(k));
        }
        if (def->has_domain && !(def->domain_high[k] > def->domain_low[k])) {
            return error_set(error, TALUS_ERR_ARGUMENT, "world: the domain is empty along %c",
                             axis_letter(k));
        }
        if (!isfinite(def->gravity[k])) {
            return error_set(error, TALUS_ERR_ARGUMENT, "world: gravity must be finite");
        }
    }
    return TALUS_OK;
}

static talus_status check_policies(const talus_world_def* def, talus_error* error)
{
    if (def->on_unconverged == TALUS_POLICY_REMOVE) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "world: an unconverged step can be accepted, retried or stopped at");
    }
    if (def->on_coarse == TALUS_POLICY_REMOVE) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "world: a coarse step can be accepted, retried or stopped at");
    }
    if (def->on_escape == TALUS_POLICY_RETRY) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "world: an escaped grain can be accepted, removed or stopped at");
    }
    if (!method_of(def->method)->undoable && def->on_nan == TALUS_POLICY_RETRY) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "world: a step of the method %s cannot be retried, only stopped at",
                         method_of(def->method)->name);
    }
    if (def->on_nan == TALUS_POLICY_ACCEPT || def->on_nan == TALUS_POLICY_REMOVE) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "world: a step that gave NaN can be retried or stopped at");
    }
    return TALUS_OK;
}

talus_status talus_world_create(const talus_world_def* given, talus_world** out, talus_error* error)
{
    *out = NULL;
    talus_world_def own = talus_world_default();
    const talus_world_def* def = &own;
    TRY(DEFINITION_TAKE(world, &own, given, error));
    TRY(DEFINITION_CHECK(solver, &own.solver, error));
    TRY(DEFINITION_CHECK(soft, &own.soft, error));
    if (def->dim != 2 && def->dim != 3) {
        return error_set(error, TALUS_ERR_ARGUMENT, "world: dimension must be 2 or 3, got %d",
                         def->dim);
    }
    TRY(check_solver(&def->solver, error));
    TRY(check_boxes(def, error));
    TRY(check_policies(def, error));
    if (!(def->drag >= 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "world: drag must not be negative, got %g",
                         def->drag);
    }
    talus_world* w = calloc(1, sizeof *w);
    if (!w) return error_memory(error, "making a world");
    omp_init_lock(&w->columns);
    w->def = *def;
    if (w->def.threads < 1) w->def.threads = omp_get_num_procs();
    w->pace = pace_begin(w->def.threads);
    if (def->dim == 2) w->def.gravity[2] = 0.0;
    w->log = (log_sink){def->log, def->log_user};
    for (int k = 0; k < def->dim; k++) {
        w->state.cell.periodic[k] = def->periodic[k];
        w->state.cell.low[k] = def->cell_low[k];
        w->state.cell.length[k] = def->periodic[k] ? def->cell_high[k] - def->cell_low[k] : 0.0;
    }
    grains_init(&w->state.grains, def->dim, &w->state.solids);
    walls_init(&w->state.walls, &w->state.solids);
    contacts_init(&w->state.contacts, def->dim);
    w->method = method_of(def->method);
    talus_status status = world_make_method(w, error);
    if (status >= 0) status = device_set(&w->device, def->device, error);
    w->def.device = w->device.asked;
    if (status < 0) {
        talus_world_destroy(w);
        return status;
    }
    *out = w;
    return TALUS_OK;
}

void talus_world_destroy(talus_world* w)
{
    if (!w) return;
    world_free_method(w);
    device_close(&w->device);
    clusters_free(&w->clusters);
    separation_free(&w->separation);
    snapshot_free(&w->snapshot);
    materials_free(&w->state.materials);
    grains_free(&w->state.grains);
    walls_free(&w->state.walls);
    poses_free(&w->state.poses);
    solids_free(&w->state.solids);
    contacts_free(&w->state.contacts);
    omp_destroy_lock(&w->columns);
    free(w);
}

// ---- options and materials ---------------------------------------------------------------------

const talus_world_def* talus_world_options(const talus_world* world)
{
    return &world->def;
}

talus_status talus_world_set_solver(talus_world* world, const talus_solver_def* solver,
                                    talus_error* error)
{
    talus_solver_def own = talus_solver_default();
    TRY(DEFINITION_TAKE(solver, &own, solver, error));
    TRY(check_solver(&own, error));
    world->def.solver = own;
    return TALUS_OK;
}

talus_status talus_world_set_gravity(talus_world* world, const double gravity[3],
                                     talus_error* error)
{
    for (int k = 0; k < world->def.dim; k++) {
        if (!isfinite(gravity[k])) {
            return error_set(error, TALUS_ERR_ARGUMENT, "world: gravity must be finite");
        }
        world->def.gravity[k] = gravity[k];
    }
    return TALUS_OK;
}

talus_status talus_world_set_device(talus_world* world, const char* device, talus_error* error)
{
    world_device wanted = {0};
    talus_status status = device_set(&wanted, device, error);
    if (status >= 0) status = device_open(&wanted, error);
    if (status >= 0) status = world_renew_method(world, error);
    if (status < 0) {
        device_close(&wanted);
        return status;
    }
    device_close(&world->device);
    world->device = wanted;
    return TALUS_OK;
}

const char* talus_world_device(const talus_world* world)
{
    return world->device.used;
}

const char* talus_world_device_reason(const talus_world* world)
{
    return world->device.reason;
}

talus_status talus_world_add_material(talus_world* world, const char* name,
                                      const talus_pair_def* law, talus_material_id* id,
                                      talus_error* error)
{
    talus_pair_def own = talus_pair_default();
    TRY(DEFINITION_TAKE(pair, &own, law, error));
    world->state.revision++;
    return materials_add(&world->state.materials, name, &own, id ? &id->index : NULL, error);
}

int talus_world_material_count(const talus_world* world)
{
    return world->state.materials.count;
}

const char* talus_world_material_name(const talus_world* world, talus_material_id id)
{
    const materials* m = &world->state.materials;
    return id.index >= 0 && id.index < m->count ? m->name[id.index] : NULL;
}

talus_material_id talus_world_find_material(const talus_world* world, const char* name)
{
    const materials* m = &world->state.materials;
    for (int i = 0; i < m->count; i++) {
        if (strcmp(m->name[i], name) == 0) return (talus_material_id){i};
    }
    return TALUS_NO_MATERIAL;
}

talus_status talus_world_set_pair(talus_world* world, talus_material_id a, talus_material_id b,
                                  const talus_pair_def* pair, talus_error* error)
{
    talus_pair_def own = talus_pair_default();
    TRY(DEFINITION_TAKE(pair, &own, pair, error));
    world->state.revision++;
    return materials_set_pair(&world->state.materials, a.index, b.index, &own, error);
}

talus_status talus_world_pair(const talus_world* world, talus_material_id a, talus_material_id b,
                              talus_pair_def* out, talus_error* error)
{
    TRY(materials_check_pair(&world->state.materials, a.index, b.index, error));
    const talus_pair_def* law = materials_pair(&world->state.materials, a.index, b.index);
    return DEFINITION_SHOW(pair, out, law, error);
}

/// A world whose user never named a material has one frictionless material.
static talus_status ensure_material(talus_world* world, talus_material_id material,
                                    talus_error* error)
{
    if (world->state.materials.count == 0 && material.index == 0) {
        talus_pair_def smooth = talus_pair_default();
        TRY(materials_add(&world->state.materials, "default", &smooth, NULL, error));
    }
    if (material.index < 0 || material.index >= world->state.materials.count) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there is no material %d", material.index);
    }
    return TALUS_OK;
}

// ---- shapes ------------------------------------------------------------------------------------

talus_status talus_world_add_solid(talus_world* world, const talus_solid_def* def,
                                   talus_solid_id* id, talus_error* error)
{
    talus_solid_def own = talus_solid_default();
    TRY(DEFINITION_TAKE(solid, &own, def, error));
    return solids_add(&world->state.solids, &own, world->def.dim, id ? &id->index : NULL, error);
}

int talus_world_solid_count(const talus_world* world)
{
    return world->state.solids.count;
}

talus_solid_id talus_world_find_solid(const talus_world* world, const char* name)
{
    return (talus_solid_id){solids_find(&world->state.solids, name)};
}

talus_status talus_world_solid(const talus_world* world, talus_solid_id id, talus_solid_state* out,
                               talus_error* error)
{
    if (id.index < 0 || id.index >= world->state.solids.count) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there is no shape %d", id.index);
    }
    const solid* s = &world->state.solids.row[id.index];
    *out = (talus_solid_state){.name = s->name,
                               .part_count = s->part_count,
                               .skin = s->skin,
                               .volume = s->volume,
                               .radius = s->radius};
    memcpy(out->centre, s->centre, sizeof out->centre);
    memcpy(out->inertia, s->inertia, sizeof out->inertia);
    return TALUS_OK;
}

talus_status talus_world_solid_options(const talus_world* world, talus_solid_id id,
                                       talus_solid_def* out, talus_error* error)
{
    if (id.index < 0 || id.index >= world->state.solids.count) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there is no shape %d", id.index);
    }
    const talus_solid_def own = solid_definition(&world->state.solids.row[id.index]);
    return DEFINITION_SHOW(solid, out, &own, error);
}

// ---- grains ------------------------------------------------------------------------------------

/// A cylinder without end has no polytope that solids could meet from outside.
static talus_status check_solids_meet(const talus_world* world, const talus_shape_def* shape,
                                      bool solids_there, const char* name, talus_error* error)
{
    const bool endless = world->def.dim == 3 && shape->kind == TALUS_SHAPE_CYLINDER &&
                         !shape->inside && shape->half_length == 0.0;
    if (!endless || !solids_there) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "wall '%s': grains that are not balls need a half_length of a cylinder that "
                     "they touch from outside",
                     name);
}

/// Where energies are counted, a free grain that comes or goes under way brings or takes its own.
static void count_energy(talus_world* world, int64_t row, double sign)
{
    const grains* g = &world->state.grains;
    if (!world->method->has_springs || world->state.step == 0) return;
    if (g->glued_to[row] != GRAIN_FREE) return;
    world->totals.shown.input += sign * grain_kinetic_energy(g, row);
}

talus_status talus_world_add_grain(talus_world* world, const talus_grain_def* given, int64_t* id,
                                   talus_error* error)
{
    talus_grain_def own = talus_grain_default();
    const talus_grain_def* def = &own;
    TRY(DEFINITION_TAKE(grain, &own, given, error));
    TRY(ensure_material(world, def->material, error));
    const int glue = def->glued_to.index;
    if (glue >= world->state.walls.count || (glue >= 0 && !world->state.walls.present[glue])) {
        return error_set(error, TALUS_ERR_ARGUMENT, "grain: there is no wall %d to glue it to",
                         glue);
    }
    for (int k = 0; k < world->def.dim && !world->method->locks_axes; k++) {
        if (!def->locked[k]) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "grain: only the method soft can lock it along an axis (%c)",
                         axis_letter(k));
    }
    if (world->state.grains.count >= INT32_MAX / 2) {
        return error_set(error, TALUS_ERR_ARGUMENT, "more than 2^30 grains in one world");
    }
    for (int w = 0; w < world->state.walls.count; w++) {
        const wall_record* record = &world->state.walls.record[w];
        if (!world->state.walls.present[w]) continue;
        TRY(check_solids_meet(world, &record->shape, def->solid.index >= 0, record->name, error));
    }
    grains* g = &world->state.grains;
    world->state.revision++;
    TRY(grains_add(g, def, id, error));
    const int64_t row = g->count - 1;
    cell_wrap(&world->state.cell, g->dim, g->position + row * g->dim, g->image + row * g->dim);
    if (glue >= 0) drive_glue(&world->state.walls, g, row);
    count_energy(world, row, 1.0);
    return TALUS_OK;
}

talus_status world_remove_grains(talus_world* world, const uint8_t* remove, int64_t* removed,
                                 talus_error* error)
{
    physical_state* state = &world->state;
    const int64_t before = state->grains.count;
    uint8_t* keep = malloc((size_t)before + 1);
    if (!keep) return error_memory(error, "removing grains");
    for (int64_t i = 0; i < before; i++) {
        keep[i] = !remove[i];
        if (remove[i]) count_energy(world, i, -1.0);
    }
    state->revision++;
    grains_compact(&state->grains, keep);
    contacts_relink(&state->contacts, &state->grains, &state->walls);
    free(keep);
    if (removed) *removed = before - state->grains.count;
    return TALUS_OK;
}

talus_status talus_world_remove_grain(talus_world* world, int64_t id, talus_error* error)
{
    int64_t row = grains_find(&world->state.grains, id);
    if (row < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there is no grain %lld", (long long)id);
    }
    uint8_t* remove = calloc((size_t)world->state.grains.count, 1);
    if (!remove) return error_memory(error, "removing a grain");
    remove[row] = 1;
    talus_status status = world_remove_grains(world, remove, NULL, error);
    free(remove);
    return status;
}

talus_status talus_world_set_grain_force(talus_world* world, int64_t id, const double force[3],
                                         const double torque[3], talus_error* error)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    grains* g = &world->state.grains;
    int64_t row = grains_find(g, id);
    if (!force) force = none;
    if (!torque) torque = none;
    if (row < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there is no grain %lld", (long long)id);
    }
    if (!vec_finite(3, force) || !vec_finite(3, torque)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "grain %lld: force and torque must be finite numbers", (long long)id);
    }
    if (grains_need_forces(g)) return error_memory(error, "setting the force on a grain");
    grain_set_force(g, row, force, torque);
    return TALUS_OK;
}

int64_t talus_world_grain_index(const talus_world* world, int64_t id)
{
    return grains_find(&world->state.grains, id);
}

/// The grains with their external forces, which are made when somebody looks; several threads may.
static const grains* shown_grains(const talus_world* world)
{
    talus_world* w = (talus_world*)(uintptr_t)world;
    omp_set_lock(&w->columns);
    (void)grains_need_forces(&w->state.grains); // short of memory they stay NULL
    omp_unset_lock(&w->columns);
    return &w->state.grains;
}

talus_grains talus_world_grains(const talus_world* world)
{
    const grains* g = shown_grains(world);
    return (talus_grains){.count = g->count,
                          .dim = g->dim,
                          .spin_dim = spin_width(g->dim),
                          .rotation_dim = g->dim == 2 ? 1 : 4,
                          .id = g->id,
                          .position = g->position,
                          .velocity = g->velocity,
                          .spin = g->spin,
                          .rotation = g->rotation,
                          .radius = g->radius,
                          .solid = (const talus_solid_id*)g->solid,
                          .scale = g->scale,
                          .mass = g->mass,
                          .inertia = g->inertia,
                          .external_force = g->force,
                          .external_torque = g->torque,
                          .material = (const talus_material_id*)g->material,
                          .glued_to = (const talus_wall_id*)g->glued_to,
                          .tag = g->tag,
                          .image = g->image,
                          .error = g->error};
}

talus_status talus_world_edit_grains(talus_world* world, talus_editable_grains* out,
                                     talus_error* error)
{
    grains* g = &world->state.grains;
    if (grains_need_forces(g)) return error_memory(error, "lending the arrays of the grains");
    world->state.revision++;
    *out = (talus_editable_grains){.count = g->count,
                                   .dim = g->dim,
                                   .spin_dim = spin_width(g->dim),
                                   .rotation_dim = g->dim == 2 ? 1 : 4,
                                   .position = g->position,
                                   .velocity = g->velocity,
                                   .spin = g->spin,
                                   .rotation = g->rotation,
                                   .external_force = g->force,
                                   .external_torque = g->torque,
                                   .tag = g->tag};
    return TALUS_OK;
}

// ---- walls -------------------------------------------------------------------------------------

static bool drive_turns(const talus_drive_def* d)
{
    double still[3] = {0.0, 0.0, 0.0};
    bool table = false;
    for (int r = 0; d->kind == TALUS_DRIVE_TABLE && r < d->table_rows; r++) {
        table |= memcmp(d->table + 7 * r + 4, still, sizeof still) != 0;
    }
    bool spins = d->kind == TALUS_DRIVE_VELOCITY && memcmp(d->spin, still, sizeof still) != 0;
    bool swings =
        d->kind == TALUS_DRIVE_SINE && memcmp(d->spin_amplitude, still, sizeof still) != 0;
    return table || spins || swings;
}

/// What a periodic axis k asks of a wall: a plane must not face it (its image would be everywhere),
/// a finite wall must be shorter than the cell, and one that turns shorter than half of it.
static talus_status check_periodic_axis(const talus_world* world, const char* name,
                                        const talus_shape_def* shape, const double* rotation,
                                        bool turns, int k, talus_error* error)
{
    const double length = world->state.cell.length[k];
    double normal[3], bound = wall_bound(shape, world->def.dim, &world->state.solids);
    quat_rotate(normal, rotation, shape->normal);
    if (shape->kind == TALUS_SHAPE_PLANE && fabs(normal[k]) > 1e-9) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': a plane facing the periodic axis %c", name, axis_letter(k));
    }
    if (shape->inside || !isfinite(bound)) return TALUS_OK;
    if (bound > (turns ? 0.5 : 1.0) * length) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': reaches %g from its origin, too far for the periodic cell of "
                         "length %g along %c%s",
                         name, bound, length, axis_letter(k),
                         turns ? " (a wall that turns may reach half of it)" : "");
    }
    return TALUS_OK;
}

static talus_status check_periodic(const talus_world* world, const char* name,
                                   const talus_shape_def* shape, const double* rotation,
                                   const talus_drive_def* drive, talus_error* error)
{
    for (int k = 0; k < world->def.dim; k++) {
        if (!world->state.cell.periodic[k]) continue;
        TRY(check_periodic_axis(world, name, shape, rotation, drive_turns(drive), k, error));
    }
    return TALUS_OK;
}

static talus_status check_wall(const talus_world* world, talus_wall_id id, talus_error* error)
{
    const walls* w = &world->state.walls;
    if (id.index >= 0 && id.index < w->count && w->present[id.index]) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "there is no wall %d", id.index);
}

talus_status talus_world_add_wall(talus_world* world, const talus_wall_def* given,
                                  talus_wall_id* id, talus_error* error)
{
    talus_wall_def own = talus_wall_default();
    const talus_wall_def* def = &own;
    TRY(DEFINITION_TAKE(wall, &own, given, error));
    TRY(DEFINITION_CHECK(drive, &own.drive, error));
    TRY(ensure_material(world, def->material, error));
    double rotation[4];
    quat_from_rotation(rotation, def->rotation);
    TRY(walls_check(&world->state.walls, def, world->def.dim, error));
    bool solids_there = false;
    for (int64_t i = 0; i < world->state.grains.count; i++) {
        solids_there |= world->state.grains.solid[i] >= 0;
    }
    TRY(check_solids_meet(world, &def->shape, solids_there, def->name, error));
    TRY(check_periodic(world, def->name, &def->shape, rotation, &def->drive, error));
    world->state.revision++;
    return walls_add(&world->state.walls, def, world->def.dim, world->state.time,
                     id ? &id->index : NULL, error);
}

talus_status talus_world_remove_wall(talus_world* world, talus_wall_id id, talus_error* error)
{
    TRY(check_wall(world, id, error));
    const int wall = id.index;
    const grains* g = &world->state.grains;
    uint8_t* remove = malloc((size_t)g->count + 1);
    if (!remove) return error_memory(error, "removing a wall");
    for (int64_t i = 0; i < g->count; i++) remove[i] = g->glued_to[i] == wall;
    world->state.walls.present[wall] = 0;
    memset(world->state.walls.force + 3 * wall, 0, 3 * sizeof(double));
    memset(world->state.walls.torque + 3 * wall, 0, 3 * sizeof(double));
    memset(world->state.walls.applied + 3 * wall, 0, 3 * sizeof(double));
    talus_status status = world_remove_grains(world, remove, NULL, error);
    free(remove);
    return status;
}

talus_status talus_world_set_drive(talus_world* world, talus_wall_id id,
                                   const talus_drive_def* drive, talus_error* error)
{
    talus_drive_def own = talus_drive_default();
    TRY(DEFINITION_TAKE(drive, &own, drive, error));
    TRY(check_wall(world, id, error));
    const int wall = id.index;
    const wall_record* record = &world->state.walls.record[wall];
    TRY(check_periodic(world, record->name, &record->shape, world->state.walls.rotation + 4 * wall,
                       &own, error));
    return walls_set_drive(&world->state.walls, wall, &own, world->def.dim, world->state.time,
                           error);
}

talus_status talus_world_set_wall_velocity(talus_world* world, talus_wall_id id,
                                           const double velocity[3], const double spin[3],
                                           talus_error* error)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    TRY(check_wall(world, id, error));
    world->state.revision++;
    return walls_set_velocity(&world->state.walls, id.index, velocity ? velocity : none,
                              spin ? spin : none, world->def.dim, error);
}

talus_status talus_world_set_wall_force(talus_world* world, talus_wall_id id, const double force[3],
                                        talus_error* error)
{
    TRY(check_wall(world, id, error));
    return walls_set_force(&world->state.walls, id.index, force, world->def.dim, error);
}

talus_status talus_world_wall_options(const talus_world* world, talus_wall_id id,
                                      talus_wall_def* out, talus_error* error)
{
    TRY(check_wall(world, id, error));
    const walls* w = &world->state.walls;
    const wall_record* record = &w->record[id.index];
    talus_wall_def own = talus_wall_default();
    own.name = record->name;
    own.shape = record->shape;
    own.material.index = record->material;
    own.drive = record->drive;
    vec_copy(3, own.position, w->position + 3 * id.index);
    quat_to_rotation(own.rotation, w->rotation + 4 * id.index);
    if (own.drive.has_pivot) drive_pivot(w, id.index, own.drive.pivot);
    return DEFINITION_SHOW(wall, out, &own, error);
}

talus_wall_id talus_world_find_wall(const talus_world* world, const char* name)
{
    return (talus_wall_id){walls_find(&world->state.walls, name)};
}

int talus_world_wall_count(const talus_world* world)
{
    return (int)world->state.walls.count;
}

talus_status talus_world_wall(const talus_world* world, talus_wall_id id, talus_wall_state* out,
                              talus_error* error)
{
    const walls* w = &world->state.walls;
    const int wall = id.index;
    if (wall < 0 || wall >= w->count) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there is no wall %d", wall);
    }
    *out = (talus_wall_state){.name = w->record[wall].name,
                              .present = w->present[wall],
                              .shape = w->record[wall].shape,
                              .material = {w->record[wall].material},
                              .drive = w->record[wall].drive.kind,
                              .drive_start = w->start_time[wall]};
    const size_t three = 3 * sizeof(double);
    memcpy(out->position, w->position + 3 * wall, three);
    memcpy(out->rotation, w->rotation + 4 * wall, 4 * sizeof(double));
    memcpy(out->velocity, w->velocity + 3 * wall, three);
    memcpy(out->spin, w->spin + 3 * wall, three);
    memcpy(out->force, w->force + 3 * wall, three);
    memcpy(out->torque, w->torque + 3 * wall, three);
    memcpy(out->applied, w->applied + 3 * wall, three);
    return TALUS_OK;
}

// ---- reading -----------------------------------------------------------------------------------

/// Torques that are all zero have no column until somebody asks for them; the lock is for readers
/// side by side.
static const double* shown_torques(const talus_world* world)
{
    talus_world* w = (talus_world*)(uintptr_t)world;
    omp_set_lock(&w->columns);
    (void)contacts_need_torques(&w->state.contacts); // short of memory it stays NULL
    omp_unset_lock(&w->columns);
    return w->state.contacts.torque;
}

talus_contacts talus_world_contacts(const talus_world* world)
{
    const contacts* c = &world->state.contacts;
    return (talus_contacts){.count = c->count,
                            .dim = c->dim,
                            .a = c->a,
                            .b = c->b,
                            .feature = c->feature,
                            .point = c->point,
                            .normal = c->normal,
                            .gap = c->gap,
                            .force = c->force,
                            .torque = shown_torques(world),
                            .state = c->state,
                            .bonded = c->bonded};
}

const talus_step_result* talus_world_last(const talus_world* world)
{
    return &world->last;
}

double talus_world_time(const talus_world* world)
{
    return world->state.time;
}

const talus_totals* talus_world_totals(const talus_world* world)
{
    return &world->totals.shown;
}

uint64_t talus_world_hash(const talus_world* world)
{
    const grains* g = &world->state.grains;
    const walls* w = &world->state.walls;
    const size_t row = sizeof(double) * (size_t)g->count, dim = (size_t)g->dim;
    uint64_t hash = HASH_START;
    hash = hash_bytes(hash, g->position, row * dim);
    hash = hash_bytes(hash, g->velocity, row * dim);
    hash = hash_bytes(hash, g->rotation, row * (dim == 2 ? 1 : 4));
    hash = hash_bytes(hash, g->spin, row * (size_t)spin_width((int)dim));
    hash = hash_bytes(hash, w->position, sizeof(double) * 3 * (size_t)w->count);
    hash = hash_bytes(hash, w->rotation, sizeof(double) * 4 * (size_t)w->count);
    hash = hash_bytes(hash, w->velocity, sizeof(double) * 3 * (size_t)w->count);
    return hash;
}
