/// Sources whose grains come with shapes of their own: voronoi, arch, masonry.
#include "base/vec.h"
#include "scene/model.h"

#include <math.h>
#include <string.h>

/// What the blocks at the bottom or top have of their own. Returns whether it is given; *depth
/// (may be NULL) says which blocks these are.
static bool read_edge(talus_scene* scene, section* parent, const char* key, const scene_source* of,
                      talus_grain_def* g, double* depth)
{
    *g = of->base;
    if (!section_has(parent, key)) return false;
    section s;
    section_open(&s, parent, key);
    if (depth) *depth = read_real_or(&s, "depth", 0.0);
    g->tag = (int32_t)read_integer_or(&s, "tag", g->tag);
    schema_hold(scene, &s, g);
    section_close(&s);
    return true;
}

static int64_t read_count(section* s, const char* key)
{
    int64_t count = 1;
    if (!section_has(s, key))
        section_mistake(s, NULL, "%s: is missing (expected a number of blocks)", key);
    else
        read_integer_optional(s, key, &count);
    return count;
}

static void read_voronoi(talus_scene* scene, section* s, scene_source* source)
{
    voronoi_def* def = &source->voronoi;
    *def = (voronoi_def){.depth = {-INFINITY, -INFINITY}};
    schema_corners(s, def->low, def->high);
    def->count = read_count(s, "count");
    def->lloyd = (int)read_integer(s, "lloyd");
    def->gap = read_real(s, "gap");
    read_edge(scene, s, "bottom", source, &source->edge[EDGE_BOTTOM], &def->depth[EDGE_BOTTOM]);
    read_edge(scene, s, "top", source, &source->edge[EDGE_TOP], &def->depth[EDGE_TOP]);
}

static void read_arch(talus_scene* scene, section* s, scene_source* source)
{
    arch_def* def = &source->arch;
    *def = (arch_def){0};
    int dim = scene->world.dim;
    read_vector(s, "center", def->centre);
    def->radius = read_real(s, "radius");
    def->thickness = read_real(s, "thickness");
    if (dim == 3) def->depth = read_real(s, "depth");
    double angle = read_real(s, "angle");
    if (angle > section_row(s, "angle", KEY_REAL)->most)
        section_mistake(s, "angle", "is more than a circle (expected up to 360)");
    def->angle = radians(angle);
    def->blocks = read_count(s, "blocks");
    def->springers = read_bool(s, "springers");
    if (def->thickness >= 2.0 * def->radius) {
        section_mistake(s, "thickness",
                        "reaches beyond the centre (expected less than twice the "
                        "radius)");
    }
}

static void read_opening(section* parent, masonry_def* def)
{
    if (!section_has(parent, "opening")) return;
    section s;
    section_open(&s, parent, "opening");
    def->opening = true;
    def->from = read_real(&s, "from");
    def->to = read_real(&s, "to");
    def->first = read_integer(&s, "course");
    def->height = read_count(&s, "courses");
    def->bearing = read_real(&s, "bearing");
    if (section_has(&s, "from") && section_has(&s, "to") && def->from >= def->to) {
        section_mistake(&s, "to", "is not beyond 'from' (expected from < to)");
    }
    section_close(&s);
}

static void read_masonry(talus_scene* scene, section* s, scene_source* source)
{
    masonry_def* def = &source->masonry;
    *def = (masonry_def){0};
    int dim = scene->world.dim;
    read_vector(s, "low", def->low);
    bool good = read_vector(s, "brick", def->brick);
    for (int k = 0; good && k < dim; k++) {
        if (def->brick[k] > 0.0) continue;
        section_mistake(s, "brick", "has no size along %c (expected lengths > 0)", 'x' + k);
    }
    def->bricks = read_count(s, "bricks");
    def->courses = read_count(s, "courses");
    def->gap = read_real(s, "gap");
    if (good && def->gap >= def->brick[0]) {
        section_mistake(s, "gap", "leaves nothing of half a brick (expected less than a brick)");
    }
    const double most = section_row(s, "bricks", KEY_INTEGER)->most;
    if ((double)def->bricks * (double)def->courses > most) {
        section_mistake(s, "courses", "are too many bricks (expected up to %.0f)", most);
    }
    read_opening(s, def);
    read_edge(scene, s, "bottom", source, &source->edge[EDGE_BOTTOM], NULL);
    read_edge(scene, s, "top", source, &source->edge[EDGE_TOP], NULL);
}

/// The blocks' shapes are called after their source, so its name must be its own.
static void check_name(const talus_scene* scene, section* s, const scene_source* source)
{
    for (const scene_source* other = scene->sources; other < source; other++) {
        bool blocks = other->kind == SOURCE_VORONOI || other->kind == SOURCE_ARCH ||
                      other->kind == SOURCE_MASONRY;
        if (!blocks || strcmp(other->name, source->name) != 0) continue;
        section_mistake(s, "name", "%s is named '%.60s' too (expected a name of its own)",
                        other->origin.path, source->name);
        return;
    }
}

void schema_blocks(talus_scene* scene, section* s, scene_source* source)
{
    check_name(scene, s, source);
    if (source->kind == SOURCE_VORONOI) read_voronoi(scene, s, source);
    if (source->kind == SOURCE_ARCH) read_arch(scene, s, source);
    if (source->kind == SOURCE_MASONRY) read_masonry(scene, s, source);
}
