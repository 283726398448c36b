/// Sources whose grains come with shapes of their own: voronoi, arch, masonry.
#include "scene/model.h"

#include <math.h>
#include <string.h>

/// What the blocks at the bottom or top have of their own; *depth (may be NULL) says which blocks
/// these are.
static void read_edge(talus_scene* scene, section* parent, const char* key, const scene_source* of,
                      talus_grain_def* g, double* depth)
{
    *g = of->base;
    if (!section_has(parent, key)) return;
    section s;
    section_open(&s, parent, key);
    if (depth) *depth = read_real_or(&s, "depth", 0.0);
    section_fill(&s, talus_grain_def, g);
    read_glue(scene, &s, g);
    section_close(&s);
}

static void read_voronoi(talus_scene* scene, section* s, scene_source* source)
{
    voronoi_def* def = &source->voronoi;
    *def = (voronoi_def){.depth = {-INFINITY, -INFINITY}};
    section_fill(s, voronoi_def, def);
    check_corners(s, def->low, def->high);
    read_edge(scene, s, "bottom", source, &source->edge[EDGE_BOTTOM], &def->depth[EDGE_BOTTOM]);
    read_edge(scene, s, "top", source, &source->edge[EDGE_TOP], &def->depth[EDGE_TOP]);
}

static void read_masonry(talus_scene* scene, section* s, scene_source* source)
{
    masonry_def* def = &source->masonry;
    *def = (masonry_def){0};
    section_fill(s, masonry_def, def);
    const bool good = section_got(s, "brick");
    for (int k = 0; good && k < scene->world.dim; k++) {
        if (def->brick[k] > 0.0) continue;
        section_mistake(s, "brick", "has no size along %c (expected lengths > 0)", 'x' + k);
    }
    if (good && def->gap >= def->brick[0]) {
        section_mistake(s, "gap", "leaves nothing of half a brick (expected less than a brick)");
    }
    const double most = section_row(s, "bricks", KEY_INTEGER)->most;
    if ((double)def->bricks * (double)def->courses > most) {
        section_mistake(s, "courses", "are too many bricks (expected up to %.0f)", most);
    }
    def->opening = section_has(s, "opening");
    if (def->opening) {
        section opening;
        section_open(&opening, s, "opening");
        section_fill(&opening, masonry_def, def);
        if (section_has(&opening, "from") && section_has(&opening, "to") && def->from >= def->to) {
            section_mistake(&opening, "to", "is not beyond 'from' (expected from < to)");
        }
        section_close(&opening);
    }
    read_edge(scene, s, "bottom", source, &source->edge[EDGE_BOTTOM], NULL);
    read_edge(scene, s, "top", source, &source->edge[EDGE_TOP], NULL);
}

void read_blocks(talus_scene* scene, section* s, scene_source* source)
{
    // The blocks' shapes are called after their source, so its name must be its own.
    for (const scene_source* other = scene->sources; other < source; other++) {
        bool blocks = other->kind == SOURCE_VORONOI || other->kind == SOURCE_ARCH ||
                      other->kind == SOURCE_MASONRY;
        if (!blocks || strcmp(other->name, source->name) != 0) continue;
        section_mistake(s, "name", "%s is named '%.60s' too (expected a name of its own)",
                        other->origin.path, source->name);
        break;
    }
    if (source->kind == SOURCE_VORONOI) read_voronoi(scene, s, source);
    if (source->kind == SOURCE_MASONRY) read_masonry(scene, s, source);
    if (source->kind == SOURCE_ARCH) {
        arch_def* def = &source->arch;
        *def = (arch_def){0};
        section_fill(s, arch_def, def);
        if (def->thickness >= 2.0 * def->radius) {
            section_mistake(s, "thickness",
                            "reaches beyond the centre (expected less than twice the "
                            "radius)");
        }
    }
}
