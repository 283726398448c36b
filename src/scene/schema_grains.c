/// The section `grains`: a list of sources, each of which makes grains.
#include "base/vec.h"
#include "scene/model.h"
#include "scene/placed.h"

#include <math.h>
#include <string.h>

#define NAMES(list) list, (int)(sizeof(list) / sizeof *(list))

static const double zero[3] = {0};
/// Rows of grains are 32-bit numbers in the contact lists.
static const int64_t most_grains = INT32_MAX;

/// Mass, or density (the material's, unless given).
static void read_mass(section* s, double material_density, talus_grain_def* g)
{
    bool mass = section_has(s, "mass"), density = section_has(s, "density");
    if (mass && density) {
        section_problem(s, "mass", "is given besides the density (expected one of the two)");
    }
    if (mass || (!density && g->mass > 0.0)) {
        g->mass = read_real(s, "mass", REAL_POSITIVE, g->mass > 0.0 ? g->mass : 1.0);
        return;
    }
    g->mass = 0.0;
    g->density = read_real(s, "density", REAL_POSITIVE, material_density);
}

/// lock: [y]: axes along which the grains stay put.
static void read_lock(const talus_scene* scene, section* s, talus_grain_def* g)
{
    static const char* const axis_names[] = {"x", "y", "z"};
    int count;
    const char** axes = read_texts(s, "lock", &count);
    if (!axes) return;
    for (int k = 0; k < 3; k++) g->locked[k] = false;
    for (int i = 0; i < count; i++) {
        const int axis = schema_find(s, "lock", i, "axis", axes[i], axis_names, scene->world.dim);
        if (axis >= 0) g->locked[axis] = true;
    }
    if (count > 0 && scene->world.method != TALUS_METHOD_SOFT) {
        section_problem(s, "lock", "is known to the method soft only (expected method: soft)");
    }
}

/// What grains share or have of their own, besides size and position. *g holds the defaults.
static void read_grain(talus_scene* scene, section* s, talus_grain_def* g, bool poured)
{
    int dim = scene->world.dim;
    int default_material = g->material;
    const char* material = read_text(s, "material", scene->material_names[g->material]);
    int found = schema_find(s, "material", 0, "material", material, scene->material_names,
                            scene->material_count);
    g->material = found < 0 ? 0 : found;
    bool same = g->material == default_material;
    read_mass(s, same ? g->density : scene->materials[g->material].density, g);
    read_vector(s, "velocity", dim, g->velocity, g->velocity);
    read_axial(s, "spin", dim, g->spin, g->spin);
    read_vector(s, "force", dim, g->force, g->force);
    read_axial(s, "torque", dim, g->torque, g->torque);
    g->locked_rotation = read_bool(s, "lock_rotation", g->locked_rotation);
    read_lock(scene, s, g);
    g->tag = (int32_t)read_integer(s, "tag", INT32_MIN, INT32_MAX, g->tag);
    if (!poured) schema_hold(scene, s, g);
}

void schema_hold(talus_scene* scene, section* s, talus_grain_def* g)
{
    g->fixed = read_bool(s, "fixed", g->fixed);
    const char* wall =
        read_text(s, "glue", g->glued_to < 0 ? NULL : scene->wall_names[g->glued_to]);
    if (!wall) return;
    g->glued_to = schema_find(s, "glue", 0, "wall", wall, scene->wall_names, scene->wall_count);
    if (g->fixed) {
        section_problem(s, "glue", "is given besides fixed: true (expected one of the two)");
    }
}

/// low < high along every axis.
static void check_corners(section* s, int dim, const double* low, const double* high)
{
    for (int k = 0; k < dim; k++) {
        if (low[k] < high[k]) continue;
        section_problem(s, "high", "is not above 'low' along %c (expected low < high)", 'x' + k);
    }
}

void schema_corners(section* s, int dim, double* low, double* high)
{
    bool good = read_vector_required(s, "low", dim, low);
    good = read_vector_required(s, "high", dim, high) && good;
    if (good) check_corners(s, dim, low, high);
}

/// counts: [nx, ny, nz] from `low`, instead of the corners.
static void read_counts(section* s, int dim, lattice_def* def)
{
    double counts[3] = {1, 1, 1}, product = 1.0;
    bool good = read_vector(s, "counts", dim, counts, NULL), whole = true;
    for (int k = 0; k < 3; k++) {
        whole = whole && counts[k] >= 1.0 && counts[k] == rint(counts[k]);
        product *= counts[k];
    }
    whole = whole && product <= (double)most_grains;
    for (int k = 0; k < 3; k++) def->counts[k] = whole ? (int64_t)counts[k] : 1;
    if (good && !whole) {
        section_problem(s, "counts",
                        "must be whole numbers (expected at least 1 each, at most "
                        "%lld in all)",
                        (long long)most_grains);
    }
    read_vector(s, "low", dim, def->low, zero);
    if (section_has(s, "high")) {
        section_problem(s, "high", "is given besides counts (expected one of the two)");
    }
}

/// How far the grains reach from their position along an axis, up (sign 1) or down; at most as far
/// as their ball.
static double shape_reach(const shape_choice* c, double largest, int dim, int axis, double sign)
{
    if (!c->table || c->any_rotation) return largest;
    double reach = 0.0, direction[3] = {0};
    direction[axis] = sign;
    for (int i = 0; i < c->count; i++) {
        const solid* of = &c->table->solids.row[c->first + i];
        talus_grain_def g = {.scale = c->scale > 0.0 ? c->scale : largest / of->radius};
        vec_copy(3, g.rotation, c->rotation);
        reach = fmax(reach, placed_reach(of, dim, &g, direction));
    }
    return reach;
}

/// spacing: a number, or one along each axis: then the sites may be nearer than the balls allow,
/// and the overlaps of the grains are looked for afterwards.
static void read_spacing(section* s, int dim, scene_source* source)
{
    lattice_def* def = &source->lattice;
    def->by_axis = section_has_kind(s, "spacing", NODE_LIST);
    if (!def->by_axis) {
        def->spacing = read_real(s, "spacing", REAL_NON_NEGATIVE, def->spacing);
        return;
    }
    if (!read_vector(s, "spacing", dim, def->steps, NULL)) return;
    if (def->kind != LATTICE_SQUARE) {
        section_problem(s, "spacing",
                        "differs along the axes only in a square lattice (expected "
                        "a number)");
    }
    for (int k = 0; k < dim; k++) {
        def->below[k] = shape_reach(&source->shape, source->largest_radius, dim, k, -1.0);
        def->above[k] = shape_reach(&source->shape, source->largest_radius, dim, k, 1.0);
        if (def->steps[k] > 0.0) continue;
        section_problem(s, "spacing", "must be above 0 along %c (expected lengths > 0)", 'x' + k);
    }
}

static void read_lattice(talus_scene* scene, section* s, scene_source* source)
{
    int dim = scene->world.dim;
    static const char* const kinds[] = {"square", "triangular", "fcc", "hcp", "bcc"};
    lattice_def* def = &source->lattice;
    *def = lattice_default();
    source->largest_radius = schema_body(scene, s, &def->sizes, &source->shape);
    def->kind = (lattice_kind)read_choice(s, "lattice", NAMES(kinds), LATTICE_SQUARE);
    if (dim == 2 && def->kind > LATTICE_TRIANGULAR) {
        section_problem(s, "lattice", "exists only in dimension 3 (expected square or triangular)");
    } else if (dim == 3 && def->kind == LATTICE_TRIANGULAR) {
        section_problem(s, "lattice",
                        "exists only in dimension 2 (expected square, fcc, hcp or "
                        "bcc)");
    }
    def->by_count = section_has(s, "counts");
    if (def->by_count) {
        read_counts(s, dim, def);
    } else {
        schema_corners(s, dim, def->low, def->high);
    }
    read_spacing(s, dim, source);
    def->factor = read_real(s, "factor", REAL_POSITIVE, def->factor);
    if (def->factor < 1.0) section_problem(s, "factor", "must be at least 1 (expected >= 1)");
    def->jitter = read_real(s, "jitter", REAL_FRACTION, def->jitter);
    if (def->by_axis && def->jitter > 0.0) {
        section_problem(s, "jitter", "does not go with a spacing along each axis (expected 0)");
    }
}

static void read_region(section* parent, int dim, region_def* region)
{
    static const char* const kinds[] = {"box", "cylinder", "ball"};
    section s;
    bool given = section_open(&s, parent, "region");
    if (!given) section_problem(parent, NULL, "region: is missing (expected a map)");
    s.broken = s.broken || !given;
    int before = parent->r->p->count;
    region->kind = (region_kind)read_choice(&s, "type", NAMES(kinds), REGION_BOX);
    if (region->kind == REGION_BOX) {
        schema_corners(&s, dim, region->low, region->high);
    } else {
        if (region->kind == REGION_CYLINDER) {
            read_vector_required(&s, "from", dim, region->low);
            read_vector_required(&s, "to", dim, region->high);
        } else {
            read_vector_required(&s, "center", dim, region->centre);
        }
        region->radius = read_real_required(&s, "radius", REAL_POSITIVE);
        region->inner_radius = read_real(&s, "inner_radius", REAL_NON_NEGATIVE, 0.0);
    }
    section_close(&s);
    talus_error error;
    if (given && parent->r->p->count == before && region_check(region, dim, &error) < 0) {
        section_problem(&s, NULL, "%s", error.text);
    }
}

static void read_fill(talus_scene* scene, section* s, scene_source* source)
{
    fill_def* def = &source->fill;
    *def = fill_default();
    source->largest_radius = schema_body(scene, s, &def->sizes, &source->shape);
    def->volume_share = shape_choice_fill(&source->shape, scene->world.dim);
    read_region(s, scene->world.dim, &def->region);
    bool count = section_has(s, "count"), fraction = section_has(s, "solid_fraction");
    if (count == fraction) {
        section_problem(s, count ? "count" : NULL,
                        "how many grains? (expected either count or solid_fraction)");
    }
    read_integer_optional(s, "count", 1, most_grains, &def->count);
    if (fraction) {
        def->solid_fraction = read_real_required(s, "solid_fraction", REAL_FRACTION);
        if (def->solid_fraction == 0.0) section_problem(s, "solid_fraction", "must be above 0");
    }
    def->gap = read_real(s, "gap", REAL_NON_NEGATIVE, def->gap);
    def->tries = read_integer(s, "tries", 1, 1000000000, def->tries);
    def->sweeps = (int)read_integer(s, "sweeps", 0, 1000000000, def->sweeps);
}

static void read_chain(talus_scene* scene, section* s, scene_source* source)
{
    int dim = scene->world.dim;
    chain_def* def = &source->chain;
    *def = (chain_def){.count = 1};
    sizes_def size;
    source->largest_radius = schema_body(scene, s, &size, &source->shape);
    if (source->largest_radius > 0.0 && size.kind != SIZES_SINGLE) {
        section_problem(s, size.diameter ? "diameter" : "radius",
                        "a chain has equal grains (expected a number)");
    }
    def->radius = source->largest_radius;
    read_vector(s, "start", dim, def->start, zero);
    bool good = read_vector_required(s, "direction", dim, def->direction);
    if (good && vec_norm(dim, def->direction) == 0.0) {
        section_problem(s, "direction", "has no direction (expected a vector that is not zero)");
    }
    if (!section_has(s, "count")) {
        section_problem(s, NULL, "count: is missing (expected a number of grains)");
    } else {
        read_integer_optional(s, "count", 1, most_grains, &def->count);
    }
    def->first_gap = read_real(s, "first_gap", REAL_ANY, 0.0);
    def->gap = read_real(s, "gap", REAL_ANY, 0.0);
}

/// A grain given by its corners in the world: a solid of its own, at its centre of mass.
static void read_cornered(talus_scene* scene, section* s, const char* key, talus_grain_def* g)
{
    static const char* const others[] = {"position", "radius", "shape", "scale", "rotation"};
    int rows, dim = scene->world.dim;
    talus_solid_def def = talus_solid_default();
    for (int i = 0; i < 5; i++) {
        if (section_has(s, others[i]))
            section_problem(s, others[i], "follows from the corners (expected to be left out)");
    }
    if (strcmp(key, dim == 2 ? "polygon" : "polyhedron") != 0) {
        section_problem(s, key, "does not go with dimension %d (expected %s)", dim,
                        dim == 2 ? "polygon" : "polyhedron");
        return;
    }
    def.name = s->path;
    def.points = read_rows(s, key, dim, &rows);
    def.point_count = rows;
    def.skin = read_real(s, "skin", REAL_NON_NEGATIVE, 0.0);
    if (!def.points) return;
    int index = schema_add_solid(scene, s, key, &def);
    if (index < 0) return;
    const solid* made = &scene->shapes.solids.row[index];
    g->solid = index;
    g->radius = made->radius;
    vec_copy(3, g->position, made->centre);
}

/// Position, size and form of an explicit grain.
static void read_item_body(talus_scene* scene, section* s, int source, int number,
                           talus_grain_def* g)
{
    shape_choice choice = scene->sources[source].shape;
    if (section_has(s, "polygon") || section_has(s, "polyhedron")) {
        read_cornered(scene, s, section_has(s, "polygon") ? "polygon" : "polyhedron", g);
        return;
    }
    read_vector_required(s, "position", scene->world.dim, g->position);
    schema_one_body(scene, s, &choice, g);
    shape_choice_apply(&choice, scene->world.dim, scene->world.seed, (uint64_t)source,
                       (uint64_t)number, g);
}

/// Explicit grains; what an item leaves out, it has from its source.
static void read_list(talus_scene* scene, section* s, scene_source* source, int index)
{
    talus_grain_def base = source->base;
    schema_shared_body(scene, s, &source->shape, &base);
    items list;
    items_open_list(&list, s, "items");
    if (list.count == 0) section_problem(s, NULL, "items: is missing (expected a list of grains)");
    source->list.rows = arena_take(&scene->arena, sizeof(talus_grain_def) * (size_t)list.count);
    source->list.origins = arena_take(&scene->arena, sizeof(scene_origin) * (size_t)list.count);
    if (!source->list.rows || !source->list.origins) return;
    for (int i = 0; i < list.count; i++) {
        section item;
        talus_grain_def* g = &source->list.rows[i];
        *g = base;
        bool good = items_section(&list, i, &item, NULL);
        source->list.origins[i] = (scene_origin){item.at, item.path};
        if (!good) continue;
        read_item_body(scene, &item, index, i, g);
        read_grain(scene, &item, g, false);
        section_close(&item);
        if (g->radius > source->largest_radius) source->largest_radius = g->radius;
    }
    source->list.count = list.count;
}

static void read_csv(talus_scene* scene, section* s, scene_source* source)
{
    schema_shared_body(scene, s, &source->shape, &source->base);
    source->csv.path = schema_file(scene, s, "file");
}

static void read_inlet(talus_scene* scene, section* s, scene_source* source, int index)
{
    int before = scene->problems.count;
    int dim = scene->world.dim;
    inlet_def* def = &source->tap;
    *def = inlet_default();
    source->inlet_index = scene->inlet_count++;
    source->largest_radius = schema_body(scene, s, &def->sizes, &source->shape);
    schema_corners(s, dim, def->low, def->high);
    bool rate = section_has(s, "rate"), mass_rate = section_has(s, "mass_rate");
    if (rate == mass_rate) {
        section_problem(s, rate ? "mass_rate" : NULL,
                        "how fast? (expected either rate in grains/s or mass_rate in kg/s)");
    }
    def->by_mass = mass_rate;
    read_real_optional(s, mass_rate ? "mass_rate" : "rate", REAL_POSITIVE, &def->rate);
    read_integer_optional(s, "limit", 0, most_grains, &def->limit);
    def->tries = read_integer(s, "tries", 1, 1000000000, def->tries);
    def->grain = source->base;
    def->shape = source->shape;
    if (section_has(s, "glue") || section_has(s, "fixed")) {
        section_problem(s, section_has(s, "glue") ? "glue" : "fixed",
                        "poured grains are free (expected neither glue nor fixed)");
    }
    if (scene->problems.count > before) return;
    generate_context context = {.dim = dim,
                                .cell = scene_cell(scene),
                                .seed = scene->world.seed,
                                .source = (uint64_t)index};
    talus_error error;
    if (inlet_create(def, &context, &source->inlet_ready, &error) < 0) {
        section_problem(s, NULL, "%s", error.text);
    }
}

static void read_source(talus_scene* scene, section* s, int index)
{
    static const char* const kinds[] = {"lattice", "fill",    "chain", "list",   "csv",
                                        "inlet",   "voronoi", "arch",  "masonry"};
    scene_source* source = &scene->sources[index];
    const char* unnamed = arena_format(&scene->arena, "source%d", index);
    int kind = read_choice(s, "type", NAMES(kinds), -1);
    source->name = read_text(s, "name", unnamed ? unnamed : "");
    source->base = talus_grain_default();
    source->base.density = scene->materials[0].density;
    read_grain(scene, s, &source->base, kind == SOURCE_INLET);
    if (kind < 0) return;
    source->kind = (source_kind)kind;
    if (kind != SOURCE_INLET) source->allow_overlap = read_bool(s, "allow_overlap", false);
    switch (source->kind) {
    case SOURCE_LATTICE: read_lattice(scene, s, source); break;
    case SOURCE_FILL: read_fill(scene, s, source); break;
    case SOURCE_CHAIN: read_chain(scene, s, source); break;
    case SOURCE_LIST: read_list(scene, s, source, index); break;
    case SOURCE_CSV: read_csv(scene, s, source); break;
    case SOURCE_INLET: read_inlet(scene, s, source, index); break;
    case SOURCE_VORONOI:
    case SOURCE_ARCH:
    case SOURCE_MASONRY: schema_blocks(scene, s, source); break;
    case SOURCE_COUNT: break;
    }
    section_close(s);
}

void schema_grains(talus_scene* scene, section* root)
{
    items list;
    items_open_list(&list, root, "grains");
    scene->sources = arena_take(&scene->arena, sizeof *scene->sources * (size_t)(list.count + 1));
    if (!scene->sources) return;
    for (int i = 0; i < list.count; i++) {
        section s;
        scene->sources[i] = (scene_source){.name = "", .kind = SOURCE_LIST};
        bool good = items_section(&list, i, &s, NULL);
        scene->sources[i].origin = (scene_origin){s.at, s.path};
        scene->source_count = i + 1;
        if (good) read_source(scene, &s, i);
    }
}
