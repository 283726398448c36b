/// The section `grains`: a list of sources, each of which makes grains.
#include "base/vec.h"
#include "scene/model.h"
#include "scene/placed.h"

#include <math.h>
#include <string.h>

/// Rows of grains are 32-bit numbers in the contact lists.
static const int64_t most_grains = INT32_MAX;

/// Mass, or density (the material's, unless given).
static void read_mass(section* s, double material_density, talus_grain_def* g)
{
    bool mass = section_has(s, "mass"), density = section_has(s, "density");
    if (mass && density) {
        section_mistake(s, "mass", "is given besides the density (expected one of the two)");
    }
    if (mass || (!density && g->mass > 0.0)) {
        g->mass = read_real_or(s, "mass", g->mass > 0.0 ? g->mass : 1.0);
        return;
    }
    g->mass = 0.0;
    g->density = read_real_or(s, "density", material_density);
}

/// What grains share or have of their own, besides size and position. *g holds the defaults.
static void read_grain(talus_scene* scene, section* s, talus_grain_def* g, bool poured)
{
    int default_material = g->material.index;
    const char* material = read_text_or(s, "material", scene->material_names[g->material.index]);
    int found = section_find_name(s, "material", 0, "material", material, scene->material_names,
                                  scene->material_count);
    g->material.index = found < 0 ? 0 : found;
    bool same = g->material.index == default_material;
    read_mass(s, same ? g->density : scene->materials[g->material.index].density, g);
    section_fill(s, talus_grain_def, g);
    const node* locked = node_find(s->out, "lock");
    if (locked && locked->count > 0 && !method_of(scene->world.method)->locks_axes) {
        section_mistake(s, "lock", "is known to the method soft only (expected method: soft)");
    }
    if (!poured) read_glue(scene, s, g);
}

void read_glue(talus_scene* scene, section* s, talus_grain_def* g)
{
    const char* wall = read_text_or(
        s, "glue", g->glued_to.index < 0 ? NULL : scene->wall_names[g->glued_to.index]);
    if (!wall) return;
    g->glued_to.index =
        section_find_name(s, "glue", 0, "wall", wall, scene->wall_names, scene->wall_count);
    if (g->fixed) {
        section_mistake(s, "glue", "is given besides fixed: true (expected one of the two)");
    }
}

void check_corners(section* s, const double* low, const double* high)
{
    for (int k = 0; k < s->r->dim && section_got(s, "low") && section_got(s, "high"); k++) {
        if (low[k] < high[k]) continue;
        section_mistake(s, "high", "is not above 'low' along %c (expected low < high)", 'x' + k);
    }
}

/// counts: [nx, ny, nz] from `low`, instead of the corners.
static void read_counts(section* s, lattice_def* def)
{
    static const double zero[3] = {0};
    double counts[3] = {1, 1, 1}, product = 1.0;
    bool good = read_vector(s, "counts", counts), whole = true;
    for (int k = 0; k < 3; k++) {
        whole = whole && counts[k] >= 1.0 && counts[k] == rint(counts[k]);
        product *= counts[k];
    }
    whole = whole && product <= (double)most_grains;
    for (int k = 0; k < 3; k++) def->counts[k] = whole ? (int64_t)counts[k] : 1;
    if (good && !whole) {
        section_mistake(s, "counts",
                        "must be whole numbers (expected at least 1 each, at most "
                        "%lld in all)",
                        (long long)most_grains);
    }
    read_vector_or(s, "low", def->low, zero);
    if (section_has(s, "high")) {
        section_mistake(s, "high", "is given besides counts (expected one of the two)");
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
        def->spacing = read_real_or(s, "spacing", def->spacing);
        return;
    }
    if (!read_vector_required(s, "spacing", def->steps)) return;
    if (def->kind != LATTICE_SQUARE) {
        section_mistake(s, "spacing",
                        "differs along the axes only in a square lattice (expected "
                        "a number)");
    }
    for (int k = 0; k < dim; k++) {
        def->below[k] = shape_reach(&source->shape, source->largest_radius, dim, k, -1.0);
        def->above[k] = shape_reach(&source->shape, source->largest_radius, dim, k, 1.0);
        if (def->steps[k] > 0.0) continue;
        section_mistake(s, "spacing", "must be above 0 along %c (expected lengths > 0)", 'x' + k);
    }
}

static void read_lattice(talus_scene* scene, section* s, scene_source* source)
{
    int dim = scene->world.dim;
    lattice_def* def = &source->lattice;
    *def = lattice_default();
    source->largest_radius = read_body(scene, s, &def->sizes, &source->shape);
    def->kind = (lattice_kind)read_choice(s, "lattice");
    if (read_choice_is_out(s, "lattice", (int)def->kind)) {
        section_mistake(s, "lattice", "exists only in dimension %d (expected square%s)", 5 - dim,
                        dim == 2 ? " or triangular" : ", fcc, hcp or bcc");
    }
    def->by_count = section_has(s, "counts");
    if (def->by_count) {
        read_counts(s, def);
    } else {
        read_vector_required(s, "low", def->low);
        read_vector_required(s, "high", def->high);
        check_corners(s, def->low, def->high);
    }
    read_spacing(s, dim, source);
    section_fill(s, lattice_def, def);
    if (def->by_axis && def->jitter > 0.0) {
        section_mistake(s, "jitter", "does not go with a spacing along each axis (expected 0)");
    }
}

static void read_region(section* parent, int dim, region_def* region)
{
    section s;
    bool given = section_open(&s, parent, "region");
    if (!given && !section_misspells(parent, "region"))
        section_mistake(parent, NULL, "region: is missing (expected a map)");
    s.broken = s.broken || !given;
    int before = parent->r->mistakes->count;
    section_fill(&s, region_def, region);
    if (region->kind == REGION_BOX) check_corners(&s, region->low, region->high);
    if (region->kind == REGION_CYLINDER && dim == 2) { // region_check() says what is wrong
        section_has(&s, "from");
        section_has(&s, "to");
    }
    section_close(&s);
    talus_error error;
    if (given && parent->r->mistakes->count == before && region_check(region, dim, &error) < 0) {
        section_mistake(&s, NULL, "%s", error.text);
    }
}

static void read_fill(talus_scene* scene, section* s, scene_source* source)
{
    fill_def* def = &source->fill;
    *def = fill_default();
    source->largest_radius = read_body(scene, s, &def->sizes, &source->shape);
    def->volume_share = shape_choice_fill(&source->shape, scene->world.dim);
    read_region(s, scene->world.dim, &def->region);
    bool count = section_has(s, "count"), fraction = section_has(s, "solid_fraction");
    if (count == fraction) {
        section_mistake(s, count ? "count" : NULL,
                        "how many grains? (expected either count or solid_fraction)");
    }
    section_fill(s, fill_def, def);
}

static void read_chain(talus_scene* scene, section* s, scene_source* source)
{
    chain_def* def = &source->chain;
    *def = (chain_def){.count = 1};
    sizes_def size;
    source->largest_radius = read_body(scene, s, &size, &source->shape);
    if (source->largest_radius > 0.0 && size.kind != SIZES_SINGLE) {
        section_mistake(s, size.diameter ? "diameter" : "radius",
                        "a chain has equal grains (expected a number)");
    }
    def->radius = source->largest_radius;
    section_fill(s, chain_def, def);
    if (section_got(s, "direction") && vec_norm(scene->world.dim, def->direction) == 0.0) {
        section_mistake(s, "direction", "has no direction (expected a vector that is not zero)");
    }
}

/// A grain given by its corners in the world: a solid of its own, at its centre of mass.
static void read_cornered(talus_scene* scene, section* s, const char* key, talus_grain_def* g)
{
    static const char* const others[] = {"position", "radius", "shape", "scale", "rotation"};
    int rows, dim = scene->world.dim;
    talus_solid_def def = talus_solid_default();
    for (int i = 0; i < 5; i++) {
        if (section_has(s, others[i]))
            section_mistake(s, others[i], "follows from the corners (expected to be left out)");
    }
    if (strcmp(key, dim == 2 ? "polygon" : "polyhedron") != 0) {
        section_mistake(s, key, "does not go with dimension %d (expected %s)", dim,
                        dim == 2 ? "polygon" : "polyhedron");
        return;
    }
    def.name = s->path;
    def.points = read_rows(s, key, &rows, NULL);
    def.point_count = rows;
    def.skin = read_real(s, "skin");
    if (!def.points) return;
    int index = scene_add_solid(scene, s, key, &def);
    if (index < 0) return;
    const solid* made = &scene->shapes.solids.row[index];
    g->solid.index = index;
    g->radius = made->radius;
    vec_copy(3, g->position, made->centre);
}

/// Explicit grains; what an item leaves out, it has from its source.
static void read_list(talus_scene* scene, section* s, scene_source* source, int index)
{
    talus_grain_def base = source->base;
    read_shared_body(scene, s, &source->shape, &base);
    items list;
    items_open_list(&list, s, "items");
    if (list.count == 0 && !section_misspells(s, "items"))
        section_mistake(s, NULL, "items: is missing (expected a list of grains)");
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
        if (section_has(&item, "polygon") || section_has(&item, "polyhedron")) {
            const bool polygon = section_has(&item, "polygon");
            read_cornered(scene, &item, polygon ? "polygon" : "polyhedron", g);
        } else {
            shape_choice choice = source->shape;
            read_vector_required(&item, "position", g->position);
            read_one_body(scene, &item, &choice, g);
            shape_choice_apply(&choice, scene->world.dim, scene->world.seed, (uint64_t)index,
                               (uint64_t)i, g);
        }
        read_grain(scene, &item, g, false);
        section_close(&item);
        if (g->radius > source->largest_radius) source->largest_radius = g->radius;
    }
    source->list.count = list.count;
}

static void read_inlet(talus_scene* scene, section* s, scene_source* source, int index)
{
    int before = scene->mistakes.count;
    int dim = scene->world.dim;
    inlet_def* def = &source->inlet;
    *def = inlet_default();
    source->inlet_index = scene->inlet_count++;
    source->largest_radius = read_body(scene, s, &def->sizes, &source->shape);
    bool rate = section_has(s, "rate"), mass_rate = section_has(s, "mass_rate");
    if (rate == mass_rate) {
        section_mistake(s, rate ? "mass_rate" : NULL,
                        "%s (expected either rate in grains/s or mass_rate in kg/s)",
                        rate ? "the rate is given twice" : "the inlet has no rate");
    }
    def->by_mass = mass_rate;
    section_fill(s, inlet_def, def);
    check_corners(s, def->low, def->high);
    def->grain = source->base;
    def->shape = source->shape;
    if (section_has(s, "glue") || section_has(s, "fixed")) {
        section_mistake(s, section_has(s, "glue") ? "glue" : "fixed",
                        "poured grains are free (expected neither glue nor fixed)");
    }
    if (scene->mistakes.count > before) return;
    generate_context context = {.dim = dim,
                                .cell = scene_cell(scene),
                                .seed = scene->world.seed,
                                .source = (uint64_t)index};
    talus_error error;
    if (inlet_create(def, &context, &source->inlet_ready, &error) < 0) {
        section_mistake(s, NULL, "%s", error.text);
    }
}

/// The key that says how many grains a source makes; NULL: it lists them, or pours them.
static const char* count_key(section* s, source_kind kind)
{
    switch (kind) {
    case SOURCE_LATTICE: return section_has(s, "counts") ? "counts" : "high";
    case SOURCE_FILL: return section_has(s, "count") ? "count" : "solid_fraction";
    case SOURCE_CHAIN:
    case SOURCE_VORONOI: return "count";
    case SOURCE_ARCH: return "blocks";
    case SOURCE_MASONRY: return "bricks";
    case SOURCE_LIST:
    case SOURCE_CSV:
    case SOURCE_INLET:
    case SOURCE_COUNT: break;
    }
    return NULL;
}

static void read_source(talus_scene* scene, section* s, int index)
{
    scene_source* source = &scene->sources[index];
    const char* unnamed = arena_format(&scene->arena, "source%d", index);
    int kind = read_choice(s, "type");
    source->name = read_text_or(s, "name", unnamed ? unnamed : "");
    source->base = talus_grain_default();
    source->base.density = scene->materials[0].density;
    read_grain(scene, s, &source->base, kind == SOURCE_INLET);
    if (kind < 0) return;
    source->kind = (source_kind)kind;
    section_fill(s, scene_source, source);
    switch (source->kind) {
    case SOURCE_LATTICE: read_lattice(scene, s, source); break;
    case SOURCE_FILL: read_fill(scene, s, source); break;
    case SOURCE_CHAIN: read_chain(scene, s, source); break;
    case SOURCE_LIST: read_list(scene, s, source, index); break;
    case SOURCE_CSV:
        read_shared_body(scene, s, &source->shape, &source->base);
        source->csv.path = read_path(scene, s, "file");
        break;
    case SOURCE_INLET: read_inlet(scene, s, source, index); break;
    case SOURCE_VORONOI:
    case SOURCE_ARCH:
    case SOURCE_MASONRY: read_blocks(scene, s, source); break;
    case SOURCE_COUNT: break;
    }
    const char* key = count_key(s, source->kind);
    source->counted = source->origin;
    if (key) source->counted = (scene_origin){section_place(s, key), section_path(s, key)};
    section_close(s);
}

void read_grains(talus_scene* scene, section* root)
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
