/// What a scene's grains will feel, estimated before the first step.
///
/// Lasting forces on a contact: the weight of a column of grains as high as the system, the share
/// of a grain in the force on a wall, external forces, cohesion. Impacts: a grain of mass m that
/// meets a wall at speed v gives way by v sqrt(m/K). Speeds are those that the scene states and
/// that of a fall. How far grains can fall follows from their volume: packed at LOOSEST they would
/// fill the lowest part of the system, and what is above falls into it.
///
/// Springs must bear the worst contact at the worst time, not the mean one. Speeds add up: what
/// falls may meet a wall that comes towards it. Grains run into others that have just stopped, so
/// the deepest overlap exceeds that of a single impact (IMPACT_PEAK), and the largest of many
/// forces their mean (LOAD_PEAK). And a loose filling collapses under its weight or under a wall: a
/// force f that follows it by the strain e does the work f e d on each layer of grains, which would
/// arrive at sqrt(2 f e d/m) if they lost nothing on the way (COLLAPSE_PEAK).
#include "scene/estimate.h"

#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"
#include "scene/generate_region.h"
#include "scene/model.h"
#include "state/drive.h"
#include "world/world.h"

#include <math.h>

/// No packing at rest is much looser than this solid fraction, in 2D and in 3D.
#define LOOSEST 0.5

/// From this on a filling bears weight and does not collapse, in 2D and in 3D: between the square
/// lattice (0.785) and random fillings, which end at 0.84 and 0.64.
static const double DENSEST[2] = {0.78, 0.58};

/// Deepest overlap over that of one impact at the speed of the scene, largest over mean lasting
/// force, deepest overlap over that of one impact at the speed of a collapse.
///
/// Deepest overlaps of the ready-made scenes with soft.overlap = 0.01, in units of it, with springs
/// for one impact or for the mean force: five disks in a row that fall on a floor 1.4, haff 2.4,
/// obstacle 1.2, heap 1.1 (impacts); chain 3.9, and 0.94 with 7 times the stiffness (forces);
/// biaxial 9.6, piston 6.4, triaxial 8.9, silo 5.6, drum 6.5 (collapses). With 2.5, 7 and 1.2, and
/// fillings that collapse up to 0.84, haff had 0.96, chain 0.94 and biaxial 0.46.
static const double IMPACT_PEAK = 3.0, LOAD_PEAK = 8.0, COLLAPSE_PEAK = 1.2;

typedef struct box {
    double low[3], high[3];
} box;

/// An estimate in the making.
typedef struct estimate {
    const talus_scene* scene;
    const talus_world* world;
    int dim;
    box box; ///< of all grains and inlets
    bool pours;
    double fall, kick, flight, collapse; ///< speeds: of falls, of walls, of grains at the start,
                                         ///< of layers in a filling that collapses
    scene_estimate out;
} estimate;

const char* estimate_reason_words(estimate_reason reason)
{
    static const char* const words[] = {"nothing",         "weight of the column of grains",
                                        "force on walls",  "external forces",
                                        "cohesion forces", "impacts"};
    return words[reason];
}

// ---- who is there ------------------------------------------------------------------------------

/// Grains that an inlet pours in all the phases in which it is open; 0 if that is not known.
static double poured_count(const talus_scene* scene, const scene_source* source, double mass)
{
    if (source->inlet.limit >= 0) return (double)source->inlet.limit;
    double time = 0.0;
    for (int p = 0; p < scene->phase_count; p++) {
        const scene_phase* phase = &scene->phases[p];
        if (!phase->pours[source->inlet_index]) continue;
        if (phase->end.duration < 0.0) return 0.0;
        time += phase->end.duration;
    }
    return time * source->inlet.rate / (source->inlet.by_mass ? mass : 1.0);
}

/// Add the grains that an inlet will pour to the sums over all.
static talus_status add_inlet(estimate* e, const scene_source* source, double* radius, double* mass,
                              double* weight, talus_error* error)
{
    sizes* drawn = NULL;
    TRY(sizes_create(&source->inlet.sizes, e->dim, &drawn, error));
    const double ball = 0.5 * (sizes_least(drawn) + sizes_largest(drawn));
    const double largest = portable_pow(sizes_largest(drawn) / ball, e->dim);
    sizes_destroy(drawn);
    const double share = shape_choice_fill(&source->shape, e->dim);
    const double volume = share * generate_ball_volume(e->dim, ball);
    const bool stated = source->base.mass > 0.0;
    const double m = stated ? source->base.mass : source->base.density * volume;
    e->out.impact_mass = fmax(e->out.impact_mass, stated ? m : m * largest);
    const double count = poured_count(e->scene, source, m);
    const double counted = fmax(count, 1.0); // an inlet alone must give a mean, too
    *radius += counted * ball * portable_pow(share, 1.0 / e->dim);
    *mass += counted * m;
    *weight += counted;
    e->out.grains += count;
    e->pours = true;
    for (int k = 0; k < e->dim; k++) {
        e->box.low[k] = fmin(e->box.low[k], source->inlet.low[k]);
        e->box.high[k] = fmax(e->box.high[k], source->inlet.high[k]);
    }
    return TALUS_OK;
}

/// Number, mean size and mean mass of the grains, and the box that they and the inlets fill.
static talus_status find_grains(estimate* e, talus_error* error)
{
    const grains* g = &e->world->state.grains;
    const int threads = e->world->def.threads;
    int64_t count = 0;
    for (int64_t i = 0; i < g->count; i++) count += g->glued_to[i] == GRAIN_FREE;
    grains_box(g, threads, e->box.low, e->box.high);
    const double present = count > 0 ? (double)count : g->count > 0 ? 1e-9 : 0.0;
    double weight = present;
    double radius = present * 0.5 * grains_mean_diameter(g, threads);
    double mass = present * grains_mean_mass(g, threads);
    e->out.grains = (double)count;
    for (int i = 0; i < e->scene->source_count; i++) {
        const scene_source* source = &e->scene->sources[i];
        if (source->kind != SOURCE_INLET) continue;
        TRY(add_inlet(e, source, &radius, &mass, &weight, error));
    }
    e->out.radius = weight > 0.0 ? radius / weight : 1.0;
    e->out.mass = weight > 0.0 ? mass / weight : 1.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] == GRAIN_FREE) e->out.impact_mass = fmax(e->out.impact_mass, g->mass[i]);
    }
    e->out.impact_mass = fmax(e->out.impact_mass, e->out.mass);
    for (int k = 0; k < e->dim; k++) {
        const double length = e->box.high[k] - e->box.low[k];
        e->out.size = fmax(e->out.size, length / (2.0 * e->out.radius));
    }
    return TALUS_OK;
}

// ---- lengths -----------------------------------------------------------------------------------

/// How long the box is along a unit vector.
static double extent_along(const estimate* e, const double direction[3])
{
    double length = 0.0;
    for (int k = 0; k < e->dim; k++) {
        length += fabs(direction[k]) * fmax(e->box.high[k] - e->box.low[k], 0.0);
    }
    return length;
}

/// Area (2D: length) of the box as seen along a unit vector, at least that of a grain.
static double area_across(const estimate* e, const double direction[3])
{
    double frame[3][3], area = 1.0;
    vec_frame(e->dim, direction, frame);
    for (int k = 1; k < e->dim; k++) {
        area *= fmax(extent_along(e, frame[k]), 2.0 * e->out.radius);
    }
    return area;
}

/// Share of one grain in a force that acts along a unit vector.
static double grain_share(const estimate* e, const double direction[3])
{
    return portable_pow(2.0 * e->out.radius, e->dim - 1) / area_across(e, direction);
}

/// How far a shape reaches down from the wall's position; `up` is in its own frame.
static double reach_down(const estimate* e, const talus_shape_def* s, const double up[3])
{
    double reach = s->skin, along = 0.0, least = 0.0;
    switch (s->kind) {
    case TALUS_SHAPE_SEGMENT:
    case TALUS_SHAPE_PLATE:
        return reach + fabs(vec_dot(3, s->edge_u, up)) + fabs(vec_dot(3, s->edge_v, up));
    case TALUS_SHAPE_BOX:
        for (int k = 0; k < e->dim; k++) reach += s->half_size[k] * fabs(up[k]);
        return reach;
    case TALUS_SHAPE_CYLINDER:
    case TALUS_SHAPE_CONE:
        along = e->dim == 3 ? vec_dot(3, s->axis, up) : 0.0;
        return reach + s->half_length * fabs(along) +
               fmax(s->radius, s->radius_high) * sqrt(fmax(1.0 - along * along, 0.0));
    case TALUS_SHAPE_SOLID: return e->world->state.solids.row[s->solid.index].radius;
    case TALUS_SHAPE_MESH:
        for (int64_t i = 0; i < 3 * s->triangle_count; i++) {
            least = fmin(least, vec_dot(3, s->triangles + 3 * i, up));
        }
        return reach - least;
    case TALUS_SHAPE_PLANE:
    case TALUS_SHAPE_COUNT: break;
    }
    return 0.0;
}

/// Height of the lowest wall that can hold grains up, or of the lowest grain if that is lower.
static double floor_height(const estimate* e, const double up[3])
{
    const walls* w = &e->world->state.walls;
    double low = 0.0;
    for (int k = 0; k < e->dim; k++) low += up[k] * (up[k] > 0.0 ? e->box.low[k] : e->box.high[k]);
    for (int i = 0; i < (int)w->count; i++) {
        const talus_shape_def* shape = &w->record[i].shape;
        double own[3];
        quat_rotate_back(own, w->rotation + 4 * i, up);
        // Side walls reach down for ever and hold nothing.
        if (shape->kind == TALUS_SHAPE_PLANE && vec_dot(3, shape->normal, own) < 0.1) continue;
        low = fmin(low, vec_dot(3, w->position + 3 * i, up) - reach_down(e, shape, own));
    }
    return low;
}

/// Strain by which the grains give way until they are packed densely; 0 if they are.
static double collapse_strain(const estimate* e)
{
    double volume = 1.0;
    for (int k = 0; k < e->dim; k++) volume *= fmax(e->box.high[k] - e->box.low[k], 0.0);
    const double filled = e->out.grains * generate_ball_volume(e->dim, e->out.radius);
    return volume > 0.0 ? fmax(1.0 - filled / (DENSEST[e->dim - 2] * volume), 0.0) : 0.0;
}

// ---- loads -------------------------------------------------------------------------------------

static void note_force(estimate* e, double force, estimate_reason reason)
{
    if (!(force > e->out.force)) return;
    e->out.force = force;
    e->out.reason = reason;
}

static void note_speed(estimate* e, double speed, const char* of)
{
    if (!(speed > e->out.speed)) return;
    e->out.speed = speed;
    e->out.speed_of = of;
}

/// Weight of a column, and the speed of a fall.
static void add_gravity(estimate* e, const double gravity[3])
{
    const double g = vec_norm(e->dim, gravity), d = 2.0 * e->out.radius;
    if (!(g > 0.0) || e->box.low[0] > e->box.high[0]) return;
    double up[3] = {0};
    for (int k = 0; k < e->dim; k++) up[k] = -gravity[k] / g;
    double top = 0.0;
    for (int k = 0; k < e->dim; k++) top += up[k] * (up[k] > 0.0 ? e->box.high[k] : e->box.low[k]);
    const double height = top - floor_height(e, up);
    double grains_up = (e->pours ? height : extent_along(e, up)) / d;
    if (e->out.grains > 0.0) grains_up = fmin(grains_up, e->out.grains);
    note_force(e, e->out.mass * g * grains_up, ESTIMATE_WEIGHT);

    const double volume = e->out.grains * generate_ball_volume(e->dim, e->out.radius);
    const double fall = height - volume / (LOOSEST * area_across(e, up));
    if (fall > 0.0) note_speed(e, sqrt(2.0 * g * fall), "a fall");
    const double drop = height - volume / (DENSEST[e->dim - 2] * area_across(e, up));
    if (fall > 0.0) e->fall = fmax(e->fall, sqrt(2.0 * g * fall));
    if (drop > 0.0) e->collapse = fmax(e->collapse, sqrt(2.0 * g * drop));
}

static void add_drive(estimate* e, int wall, const talus_drive_def* d, double gravity)
{
    const double* pivot = d->has_pivot ? d->pivot : e->world->state.walls.position + 3 * wall;
    double force = 0.0, direction[3] = {0};
    switch (d->kind) {
    case TALUS_DRIVE_FORCE:
        force = vec_norm(e->dim, d->force);
        for (int k = 0; force > 0.0 && k < e->dim; k++) direction[k] = d->force[k] / force;
        if (!(force > 0.0)) direction[e->dim - 1] = 1.0;
        force = (force + (d->weight ? d->mass * gravity : 0.0)) * grain_share(e, direction);
        break;
    case TALUS_DRIVE_SERVO:
        force = fabs(d->stress) * portable_pow(2.0 * e->out.radius, e->dim - 1);
        if (d->weight) force += d->mass * gravity * grain_share(e, d->servo_axis);
        break;
    case TALUS_DRIVE_FIXED:
    case TALUS_DRIVE_VELOCITY:
    case TALUS_DRIVE_SINE:
    case TALUS_DRIVE_TABLE:
    case TALUS_DRIVE_COUNT: break;
    }
    const double speed = drive_top_speed(d, e->dim, pivot, e->box.low, e->box.high);
    note_speed(e, speed, "a wall");
    note_force(e, force, ESTIMATE_WALLS);
    e->kick = fmax(e->kick, speed);
    const double work = force * collapse_strain(e) * 2.0 * e->out.radius;
    e->collapse = fmax(e->collapse, sqrt(2.0 * work / e->out.mass));
}

/// Cohesion: the force that it lasts with, and grains that stop together because they stick.
static void add_cohesion(estimate* e, double force)
{
    note_force(e, force, ESTIMATE_COHESION);
    if (force > 0.0) {
        const double row = portable_pow(fmax(e->out.grains, 1.0), 1.0 / e->dim);
        e->out.impact_mass = fmax(e->out.impact_mass, e->out.mass * row);
    }
}

double scene_estimate_depth(const scene_estimate* e, double stiffness)
{
    return e->impact_speed * sqrt(e->impact_mass / stiffness) + LOAD_PEAK * e->force / stiffness;
}

/// The stiffness at which that depth is `depth`: a quadratic equation for 1/sqrt(K).
static void settle_stiffness(scene_estimate* out, double depth)
{
    const double load = LOAD_PEAK * out->force, impact = out->impact_speed * sqrt(out->impact_mass);
    const double root = 2.0 * depth / (impact + sqrt(impact * impact + 4.0 * load * depth));
    out->stiffness = load > 0.0 || impact > 0.0 ? 1.0 / (root * root) : 0.0;
    if (impact > load * root) out->reason = ESTIMATE_IMPACTS;
}

talus_status scene_estimate_make(const talus_scene* scene, const talus_world* world, double overlap,
                                 scene_estimate* out, talus_error* error)
{
    const int dim = scene->world.dim;
    estimate e = {.scene = scene, .world = world, .dim = dim};
    e.out.speed_of = "nothing";
    TRY(find_grains(&e, error));
    // Gravity and motions at the start and in all phases.
    double gravity = vec_norm(dim, scene->world.gravity);
    add_gravity(&e, scene->world.gravity);
    for (int p = 0; p < scene->phase_count; p++) {
        if (!scene->phases[p].has_gravity) continue;
        add_gravity(&e, scene->phases[p].gravity);
        gravity = fmax(gravity, vec_norm(dim, scene->phases[p].gravity));
    }
    for (int i = 0; i < scene->wall_count; i++) {
        add_drive(&e, i, &scene->walls[i].def.drive, gravity);
    }
    for (int p = 0; p < scene->phase_count; p++) {
        for (int i = 0; i < scene->phases[p].motion_count; i++) {
            const scene_motion* motion = &scene->phases[p].motions[i];
            add_drive(&e, motion->wall, &motion->drive, gravity);
        }
    }
    // Speeds, external forces and cohesion of the grains themselves.
    const grains* g = &world->state.grains;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        const double speed = vec_norm(dim, g->velocity + dim * i);
        note_speed(&e, speed, "a grain at the start");
        e.flight = fmax(e.flight, speed);
        if (g->force) note_force(&e, vec_norm(dim, g->force + dim * i), ESTIMATE_FORCES);
    }
    for (int i = 0; i < scene->source_count; i++) {
        const scene_source* source = &scene->sources[i];
        if (source->kind != SOURCE_INLET) continue;
        note_speed(&e, vec_norm(dim, source->base.velocity), "a grain of an inlet");
        e.flight = fmax(e.flight, vec_norm(dim, source->base.velocity));
        note_force(&e, vec_norm(dim, source->base.external_force), ESTIMATE_FORCES);
    }
    for (int i = 0; i < scene->material_count; i++) {
        add_cohesion(&e, scene->materials[i].law.cohesion_force);
    }
    for (int i = 0; i < scene->pair_count; i++) {
        add_cohesion(&e, scene->pairs[i].law.cohesion_force);
    }
    const double speed = sqrt(e.fall * e.fall + e.kick * e.kick + e.flight * e.flight);
    e.out.impact_speed = portable_hypot(IMPACT_PEAK * speed, COLLAPSE_PEAK * e.collapse);
    if (COLLAPSE_PEAK * e.collapse > IMPACT_PEAK * speed) {
        e.out.impact_of = "a filling that collapses";
    } else {
        e.out.impact_of = e.out.speed_of;
    }
    settle_stiffness(&e.out, overlap * 2.0 * e.out.radius);
    *out = e.out;
    return TALUS_OK;
}

talus_status scene_fall_speed(const talus_scene* scene, const talus_world* world,
                              const double gravity[3], double* out, talus_error* error)
{
    estimate e = {.scene = scene, .world = world, .dim = scene->world.dim};
    TRY(find_grains(&e, error));
    add_gravity(&e, gravity);
    *out = e.out.speed;
    return TALUS_OK;
}
