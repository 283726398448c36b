/// From a scene to its world: materials, walls, then the grains of every source in turn.
///
/// Grains are first collected in a list and checked against each other, the walls and the domain;
/// mistakes come out all at once, each at the line of the source that made the grain.
#include "base/error.h"
#include "base/log.h"
#include "base/plain.h"
#include "base/vec.h"
#include "law/restitution.h"
#include "record/record.h"
#include "scene/model.h"
#include "scene/overlap.h"

#include <stdlib.h>
#include <talus/record.h>

/// Mistakes of one kind listed for a source before the rest is only counted.
enum { LISTED = 5 };

/// A world in the making.
typedef struct build {
    const talus_scene* scene;
    talus_world* world;
    log_sink log;
    mistakes mistakes;
    grain_list grains;
    int64_t* first; ///< [source_count + 1] first row of each source
} build;

/// Solids of the shapes: the world's numbers and what it knows of them.
typedef struct made_shape {
    talus_solid_id solid;
    talus_solid_state state;
} made_shape;

/// Blocks into the world: a solid for each shape, a grain for each block.
static talus_status add_blocks(talus_world* world, const scene_source* source,
                               const block_list* blocks, grain_list* grains,
                               generate_report* report, talus_error* error)
{
    made_shape* made = malloc(sizeof *made * (size_t)(blocks->shape_count + 1));
    if (!made) return error_memory(error, "blocks");
    talus_status status = TALUS_OK;
    for (int i = 0; i < blocks->shape_count && status >= 0; i++) {
        char name[256];
        snprintf(name, sizeof name, "%.200s/%d", source->name, i);
        talus_solid_def def = talus_solid_default();
        def.name = name;
        def.points = blocks->points + (ptrdiff_t)blocks->first[i] * blocks->dim;
        def.point_count = blocks->first[i + 1] - blocks->first[i];
        status = talus_world_add_solid(world, &def, &made[i].solid, error);
        if (status >= 0) status = talus_world_solid(world, made[i].solid, &made[i].state, error);
    }
    for (int64_t i = 0; i < blocks->count && status >= 0; i++) {
        const block* b = &blocks->rows[i];
        const made_shape* of = &made[b->shape];
        talus_grain_def g = b->edge == EDGE_NONE ? source->base : source->edge[b->edge];
        double q[4], centre[3];
        quat_from_rotation(q, b->rotation);
        quat_rotate(centre, q, of->state.centre);
        g.solid = of->solid;
        g.scale = 1.0;
        g.radius = of->state.radius;
        if (b->fixed) {
            g.fixed = true;
            g.glued_to = TALUS_NO_WALL;
        }
        vec_copy(3, g.rotation, b->rotation);
        for (int k = 0; k < 3; k++) g.position[k] = b->origin[k] + centre[k];
        status = grain_list_add(grains, &g, error);
    }
    free(made);
    report->requested = report->placed = blocks->count;
    return status;
}

/// Blocks come with shapes of their own, which go into the world at once.
static talus_status generate_blocks(const build* b, const scene_source* source,
                                    const generate_context* context, grain_list* grains,
                                    generate_report* report, talus_error* error)
{
    block_list blocks = {.dim = context->dim};
    talus_status status = TALUS_OK;
    if (source->kind == SOURCE_VORONOI)
        status = generate_voronoi(&source->voronoi, context, &blocks, error);
    else if (source->kind == SOURCE_ARCH)
        status = generate_arch(&source->arch, context->dim, &blocks, error);
    else
        status = generate_masonry(&source->masonry, context->dim, &blocks, error);
    if (status >= 0) status = add_blocks(b->world, source, &blocks, grains, report, error);
    block_list_free(&blocks);
    return status;
}

static talus_status generate_from_csv(const talus_scene* scene, const scene_source* source,
                                      const generate_context* context, grain_list* grains,
                                      generate_report* report, talus_error* error)
{
    double* densities = malloc(sizeof *densities * (size_t)scene->material_count);
    if (!densities) return error_memory(error, "the densities of materials");
    for (int i = 0; i < scene->material_count; i++) densities[i] = scene->materials[i].density;
    csv_names names = {scene->material_names, scene->material_count, &scene->shapes, densities};
    talus_status status = generate_csv(source->csv.path, context, &names, &source->shape,
                                       &source->base, grains, report, error);
    free(densities);
    return status;
}

static talus_status generate(const build* b, int index, grain_list* grains, generate_report* report,
                             talus_error* error)
{
    const talus_scene* scene = b->scene;
    const scene_source* source = &scene->sources[index];
    generate_context context = {.dim = scene->world.dim,
                                .cell = scene_cell(scene),
                                .seed = scene->world.seed,
                                .source = (uint64_t)index,
                                .threads = scene_world_threads(b->world),
                                .allowed = scene_clear_of_walls,
                                .allowed_grain = scene_grain_clear,
                                .allowed_user = b->world,
                                .solids = scene_world_solids(b->world)};
    // Grains that do not move may reach into walls and into each other.
    if (source->allow_overlap || source->base.fixed || source->base.glued_to.index >= 0) {
        context.allowed = NULL;
        context.allowed_grain = NULL;
    }
    switch (source->kind) {
    case SOURCE_LATTICE:
        return generate_lattice(&source->lattice, &context, &source->base, grains, report, error);
    case SOURCE_FILL:
        if (source->shape.table) {
            return generate_fill_solids(&source->fill, &source->shape, &context, &source->base,
                                        grains, report, error);
        }
        return generate_fill(&source->fill, &context, &source->base, grains, report, error);
    case SOURCE_CHAIN:
        return generate_chain(&source->chain, &context, &source->base, grains, report, error);
    case SOURCE_LIST:
        return generate_list(source->list.rows, source->list.count, grains, report, error);
    case SOURCE_CSV: return generate_from_csv(scene, source, &context, grains, report, error);
    case SOURCE_VORONOI:
    case SOURCE_ARCH:
    case SOURCE_MASONRY: return generate_blocks(b, source, &context, grains, report, error);
    case SOURCE_INLET:
    case SOURCE_COUNT: break;
    }
    return TALUS_OK;
}

static talus_status generate_all(build* b, talus_error* error)
{
    for (int i = 0; i < b->scene->source_count; i++) {
        const scene_source* source = &b->scene->sources[i];
        generate_report report = {0};
        talus_error own = {0};
        b->first[i] = b->grains.count;
        talus_status status = generate(b, i, &b->grains, &report, &own);
        if (status == TALUS_ERR_MEMORY) return error_memory(error, "the grains");
        // Solids go into the balls that were placed; explicit grains and fillings have theirs.
        const bool made = source->kind == SOURCE_LIST || source->kind == SOURCE_CSV ||
                          source->kind == SOURCE_FILL;
        for (int64_t row = b->first[i]; !made && row < b->grains.count; row++) {
            shape_choice_apply(&source->shape, b->scene->world.dim, b->scene->world.seed,
                               (uint64_t)i, (uint64_t)(row - b->first[i]), &b->grains.rows[row]);
        }
        if (status < 0) {
            mistakes_add(&b->mistakes, source->origin.at, source->origin.path, "%s", own.text);
        } else if (report.placed < report.requested && b->scene->strict) {
            mistakes_add(&b->mistakes, source->origin.at, source->origin.path,
                         "only %lld of %lld grains could be placed: %s", (long long)report.placed,
                         (long long)report.requested, report.reason);
        } else if (report.placed < report.requested) {
            log_write(&b->log, TALUS_LOG_WARNING, "%s: only %lld of %lld grains placed: %s",
                      source->origin.path, (long long)report.placed, (long long)report.requested,
                      report.reason);
        }
    }
    b->first[b->scene->source_count] = b->grains.count;
    return TALUS_OK;
}

// ---- checks ------------------------------------------------------------------------------------

static int source_of(const build* b, int64_t row)
{
    int source = 0;
    while (row >= b->first[source + 1]) source++;
    return source;
}

static scene_origin origin_of(const build* b, int64_t row)
{
    int index = source_of(b, row);
    const scene_source* source = &b->scene->sources[index];
    bool listed = source->kind == SOURCE_LIST;
    return listed ? source->list.origins[row - b->first[index]] : source->origin;
}

static bool immobile(const talus_grain_def* g)
{
    return g->fixed || g->glued_to.index >= 0;
}

/// Grains against walls and domain.
static void check_places(build* b)
{
    const talus_world_def* def = &b->scene->world;
    for (int s = 0; s < b->scene->source_count; s++) {
        int64_t found = 0;
        for (int64_t row = b->first[s]; row < b->first[s + 1]; row++) {
            const talus_grain_def* g = &b->grains.rows[row];
            double depth = 0.0;
            const bool may_overlap = immobile(g) || b->scene->sources[s].allow_overlap;
            const int wall = may_overlap ? -1 : scene_wall_overlap(b->world, g, &depth);
            int axis = -1; // along which it is outside the domain
            for (int k = def->dim - 1; def->has_domain && k >= 0; k--) {
                const double x = g->position[k];
                if (x < def->domain_low[k] || x > def->domain_high[k]) axis = k;
            }
            if (wall < 0 && axis < 0) continue;
            if (found++ >= LISTED) continue;
            const long long number = (long long)(row - b->first[s]);
            const scene_origin origin = origin_of(b, row);
            if (wall >= 0) {
                mistakes_add(&b->mistakes, origin.at, origin.path,
                             "grain %lld of this source (radius %.6g) overlaps wall '%s' by %.3g "
                             "(expected no overlap, or allow_overlap: true)",
                             number, g->radius, b->scene->wall_names[wall], depth);
            }
            if (axis >= 0) {
                mistakes_add(&b->mistakes, origin.at, origin.path,
                             "grain %lld of this source is outside the domain: %c = %.6g (expected "
                             "%.6g to %.6g)",
                             number, 'x' + axis, g->position[axis], def->domain_low[axis],
                             def->domain_high[axis]);
            }
        }
        if (found <= LISTED) continue;
        const scene_origin* origin = &b->scene->sources[s].origin;
        mistakes_add(&b->mistakes, origin->at, origin->path,
                     "%lld more grains of this source overlap a wall or are outside the domain",
                     (long long)(found - LISTED));
    }
}

/// Grains that must not overlap, packed for the search.
typedef struct packed {
    double* positions;
    double* radii;
    int64_t* row;
    int64_t count;
} packed;

/// overlap_exact_fn: solids as they are.
typedef struct exact {
    const build* b;
    const packed* p;
} exact;

static double exact_depth(const void* user, int64_t a, int64_t b, const double delta[3])
{
    const exact* e = user;
    const talus_grain_def* rows = e->b->grains.rows;
    return scene_pair_depth(e->b->world, &rows[e->p->row[a]], &rows[e->p->row[b]], delta);
}

static bool pack(const build* b, packed* p)
{
    size_t n = (size_t)b->grains.count + 1, dim = (size_t)b->scene->world.dim;
    *p = (packed){malloc(sizeof(double) * n * dim), malloc(sizeof(double) * n),
                  malloc(sizeof(int64_t) * n), 0};
    if (!p->positions || !p->radii || !p->row) return false;
    for (int s = 0; s < b->scene->source_count; s++) {
        if (b->scene->sources[s].allow_overlap) continue;
        for (int64_t row = b->first[s]; row < b->first[s + 1]; row++) {
            const talus_grain_def* g = &b->grains.rows[row];
            for (size_t k = 0; k < dim; k++) {
                p->positions[(size_t)p->count * dim + k] = g->position[k];
            }
            p->radii[p->count] = g->radius;
            p->row[p->count++] = row;
        }
    }
    return true;
}

static void report_pairs(build* b, const packed* p, const overlap_pair* pairs, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t early = p->row[pairs[i].a], late = p->row[pairs[i].b];
        if (immobile(&b->grains.rows[early]) && immobile(&b->grains.rows[late])) continue;
        if (found++ >= LISTED) continue;
        scene_origin origin = origin_of(b, late);
        int source = source_of(b, late), other = source_of(b, early);
        mistakes_add(
            &b->mistakes, origin.at, origin.path,
            "grain %lld of this source overlaps grain %lld of grains[%d] by %.3g (expected "
            "no overlap, or allow_overlap: true)",
            (long long)(late - b->first[source]), (long long)(early - b->first[other]), other,
            pairs[i].depth);
    }
    if (found > LISTED) {
        // Behind the pairs that are listed, wherever these are.
        scene_origin origin = origin_of(b, b->grains.count - 1);
        mistakes_add(&b->mistakes, origin.at, "grains", "%lld more pairs of grains overlap",
                     (long long)(found - LISTED));
    }
}

static talus_status check_pairs(build* b, talus_error* error)
{
    packed p;
    exact e = {b, &p};
    cell c = scene_cell(b->scene);
    bool balls = talus_world_solid_count(b->world) == 0;
    overlap_pair* pairs = NULL;
    int64_t found = 0, capacity = 0;
    talus_status status = pack(b, &p) ? TALUS_OK : error_memory(error, "the search for overlaps");
    // The first search only counts; rough walls have many overlaps, all of them harmless.
    for (int pass = 0; pass < 2 && status >= 0 && (pass == 0 || found > 0); pass++) {
        capacity = found;
        if (capacity > 0) pairs = malloc(sizeof *pairs * (size_t)capacity);
        if (capacity > 0 && !pairs)
            status = error_memory(error, "the overlaps");
        else
            status = overlaps_find(p.positions, p.radii, p.count, b->scene->world.dim, &c, 1e-9,
                                   balls ? NULL : exact_depth, &e, pairs, capacity, &found, error);
    }
    if (status >= 0) report_pairs(b, &p, pairs, capacity);
    free(pairs);
    free(p.positions);
    free(p.radii);
    free(p.row);
    return status;
}

/// Say once for each source that its shape is beyond the method soft.
static void report_shape(build* b, scene_origin origin, int shape)
{
    talus_solid_state state = {.name = "?"};
    talus_world_solid(b->world, (talus_solid_id){shape}, &state, NULL);
    mistakes_add(&b->mistakes, origin.at, origin.path,
                 "the method soft knows balls and, in 2D, polygons; grains of shape '%s' need "
                 "method: contact",
                 state.name);
}

/// The method soft has no polyhedra.
static void check_method(build* b)
{
    const talus_scene* scene = b->scene;
    if (method_of(scene->world.method)->polyhedra || scene->world.dim == 2) return;
    for (int s = 0; s < scene->source_count; s++) {
        const scene_source* source = &scene->sources[s];
        if (source->kind == SOURCE_INLET && source->shape.table) {
            report_shape(b, source->origin, source->shape.first);
        }
        for (int64_t row = b->first[s]; row < b->first[s + 1]; row++) {
            if (b->grains.rows[row].solid.index < 0) continue;
            report_shape(b, origin_of(b, row), b->grains.rows[row].solid.index);
            break;
        }
    }
}

// ---- the world ---------------------------------------------------------------------------------

/// Materials, shapes and walls.
static talus_status build_frame(build* b, const talus_world_def* def, talus_error* error)
{
    const talus_scene* scene = b->scene;
    TRY(talus_world_create(def, &b->world, error));
    for (int i = 0; i < scene->material_count; i++) {
        const scene_material* m = &scene->materials[i];
        TRY(talus_world_add_material(b->world, m->name, &m->law, NULL, error));
    }
    for (int i = 0; i < scene->pair_count; i++) {
        const scene_pair* p = &scene->pairs[i];
        TRY(talus_world_set_pair(b->world, (talus_material_id){p->a}, (talus_material_id){p->b},
                                 &p->law, error));
    }
    // The scene's solids come first in the world, so that their numbers are the same in both.
    for (int i = 0; i < scene->shapes.solids.count; i++) {
        const scene_solid* s = &scene->solids[i];
        talus_error own = {0};
        talus_status status = talus_world_add_solid(b->world, &s->def, NULL, &own);
        if (status == TALUS_ERR_MEMORY) return error_memory(error, "the shapes");
        if (status < 0) mistakes_add(&b->mistakes, s->origin.at, s->origin.path, "%s", own.text);
    }
    // A wall that spans between walls needs these to exist: all are added at rest, then set moving.
    for (int pass = 0; pass < 2 && b->mistakes.count == 0; pass++) {
        for (int i = 0; i < scene->wall_count; i++) {
            const scene_wall* wall = &scene->walls[i];
            talus_wall_def resting = wall->def;
            resting.drive = talus_drive_default();
            talus_error own = {0};
            talus_status status = TALUS_OK;
            if (pass == 0)
                status = talus_world_add_wall(b->world, &resting, NULL, &own);
            else if (wall->def.drive.kind != TALUS_DRIVE_FIXED)
                status =
                    talus_world_set_drive(b->world, (talus_wall_id){i}, &wall->def.drive, &own);
            if (status == TALUS_ERR_MEMORY) return error_memory(error, "the walls");
            if (status < 0) {
                mistakes_add(&b->mistakes, wall->origin.at, wall->origin.path, "%s", own.text);
            }
        }
    }
    return TALUS_OK;
}

/// Say which pairs of materials bounce all at once, where others do so one after the other: their
/// energy depends on the step.
static void warn_of_impacts_at_once(const build* b)
{
    const talus_scene* scene = b->scene;
    for (int i = 0; i < scene->material_count; i++) {
        for (int j = i; j < scene->material_count; j++) {
            talus_pair_def law = talus_pair_default();
            if (talus_world_pair(b->world, (talus_material_id){i}, (talus_material_id){j}, &law,
                                 NULL)) {
                continue;
            }
            const char* with = restitution_at_once(&law);
            if (!with) continue;
            log_write(&b->log, TALUS_LOG_WARNING,
                      "materials '%s' and '%s' have restitution and %s: impacts of theirs that "
                      "fall into one step are worked out all at once, so that energy may be lost "
                      "or gained. Let grains move by less than a hundredth of their radius in a "
                      "step where that matters",
                      scene->materials[i].name, scene->materials[j].name, with);
        }
    }
}

/// The saved world with which the scene goes on.
static talus_status build_saved(build* b, talus_scene* scene, const talus_world_def* def,
                                talus_error* error)
{
    TRY(talus_world_load(scene->saved_file, def, &b->world, error));
    return method_of(def->method)->has_springs
               ? choose_steps(scene, b->world, &b->log, &b->mistakes, error)
               : choose_contact_steps(scene, b->world, &b->log, &b->mistakes, error);
}

/// The whole world, and what the scene leaves to the program.
static talus_status build_all(build* b, talus_scene* scene, const talus_world_def* def,
                              talus_error* error)
{
    complete_pairs(scene);
    if (scene->saved_file) return build_saved(b, scene, def, error);
    TRY(build_frame(b, def, error));
    if (b->mistakes.count > 0) return TALUS_OK;
    b->first = calloc((size_t)scene->source_count + 1, sizeof *b->first);
    if (!b->first) return error_memory(error, "the grains");
    TRY(scene_check_memory(scene, &b->mistakes, error));
    if (b->mistakes.count > 0) return TALUS_OK;
    TRY(generate_all(b, error));
    double largest = 0.0;
    for (int64_t i = 0; i < b->grains.count; i++) {
        if (b->grains.rows[i].radius > largest) largest = b->grains.rows[i].radius;
    }
    scene_check_cell(scene, &b->mistakes, largest);
    check_places(b);
    TRY(check_pairs(b, error));
    check_method(b);
    TRY(scene_check_inlets(scene, b->world, &b->log, &b->mistakes, error));
    for (int64_t i = 0; b->mistakes.count == 0 && i < b->grains.count; i++) {
        TRY(talus_world_add_grain(b->world, &b->grains.rows[i], NULL, error));
    }
    if (b->mistakes.count > 0) return TALUS_OK;
    if (!method_of(def->method)->has_springs) {
        warn_of_impacts_at_once(b);
        return choose_contact_steps(scene, b->world, &b->log, &b->mistakes, error);
    }
    TRY(choose_stiffness(scene, b->world, &b->mistakes, error));
    if (b->mistakes.count > 0) return TALUS_OK;
    return choose_steps(scene, b->world, &b->log, &b->mistakes, error);
}

/// The world without grains, but with the shapes that come with the blocks of a source.
static talus_status build_bare(build* b, const talus_world_def* def, talus_error* error)
{
    if (b->scene->saved_file) {
        return saved_world_define(b->scene->saved_file, def, &b->world, error);
    }
    TRY(build_frame(b, def, error));
    for (int i = 0; b->mistakes.count == 0 && i < b->scene->source_count; i++) {
        const source_kind kind = b->scene->sources[i].kind;
        if (kind != SOURCE_VORONOI && kind != SOURCE_ARCH && kind != SOURCE_MASONRY) continue;
        generate_report report = {0};
        TRY(generate(b, i, &b->grains, &report, error));
    }
    return TALUS_OK;
}

/// Report the mistakes that were found and hand out the world, or end it.
static talus_status build_end(build* b, talus_status status, talus_world** out,
                              talus_report* report, talus_error* error)
{
    if (status >= 0) status = mistakes_report(&b->mistakes, report, error);
    mistakes_free(&b->mistakes);
    grain_list_free(&b->grains);
    free(b->first);
    if (status < 0) {
        talus_world_destroy(b->world);
        return status;
    }
    *out = b->world;
    return TALUS_OK;
}

talus_status scene_build_bare(const talus_scene* scene, talus_world** out, talus_report* report,
                              talus_error* error)
{
    *out = NULL;
    build b = {.scene = scene, .mistakes = {.file = scene->file}};
    plain_numbers numbers = plain_numbers_begin();
    talus_status status = build_bare(&b, &scene->world, error);
    plain_numbers_end(numbers);
    return build_end(&b, status, out, report, error);
}

talus_status talus_scene_build(talus_scene* scene, const talus_world_def* options,
                               talus_world** out, talus_report* report, talus_error* error)
{
    *out = NULL;
    talus_world_def def = scene->world;
    if (options) {
        def.log = options->log;
        def.log_user = options->log_user;
        if (options->threads > 0) def.threads = options->threads;
        if (options->device) def.device = options->device;
    }
    build b = {.scene = scene, .log = {def.log, def.log_user}, .mistakes = {.file = scene->file}};
    plain_numbers numbers = plain_numbers_begin();
    talus_status status = build_all(&b, scene, &def, error);
    plain_numbers_end(numbers);
    return build_end(&b, status, out, report, error);
}
