/// What the grains of a source look like: their sizes (a number or a distribution), and balls or a
/// named shape with its rotation.
#include "base/vec.h"
#include "scene/model.h"

#include <string.h>

/// A distribution of sizes.
static void read_distribution(section* s, sizes_def* def)
{
    int kind = read_choice(s, "distribution");
    if (kind < 0) return;
    def->kind = (sizes_kind)kind;
    if (kind == SIZES_LOGNORMAL && section_has(s, "mean") == section_has(s, "median")) {
        section_mistake(s, NULL, "needs its middle once (expected either median or mean)");
    }
    section_fill(s, sizes_def, def);
    if (kind == SIZES_TABLE || kind == SIZES_TABLE_LINEAR) {
        int rows;
        def->table = read_rows(s, "table", &rows, NULL);
        def->table_count = rows;
        if (!section_has(s, "table") && !section_misspells(s, "table")) {
            section_mistake(s, NULL, "table: is missing (expected a list of [size, weight])");
        }
    }
    section_close(s);
}

double read_sizes(section* s, int dim, sizes_def* def)
{
    *def = sizes_default();
    bool radius = section_has(s, "radius"), diameter = section_has(s, "diameter");
    if (radius == diameter) {
        section_mistake(s, radius ? "diameter" : NULL, "%s (expected either radius or diameter)",
                        radius ? "the size is given twice" : "the grains have no size");
        return 0.0;
    }
    const char* key = radius ? "radius" : "diameter";
    def->diameter = diameter;
    int before = s->r->mistakes->count;
    if (section_has_kind(s, key, NODE_MAP)) {
        section distribution;
        section_open(&distribution, s, key);
        read_distribution(&distribution, def);
    } else if (section_has_kind(s, key, NODE_LIST)) {
        section_mistake(s, key,
                        "is a list (expected one size, or a map such as {distribution: "
                        "uniform, min: 0.01, max: 0.02})");
    } else {
        def->kind = SIZES_SINGLE;
        def->value = read_real_required(s, key);
    }
    if (s->r->mistakes->count > before) return 0.0;
    sizes* ready;
    talus_error error;
    if (sizes_create(def, dim, &ready, &error) < 0) {
        section_mistake(s, key, "%s", error.text);
        return 0.0;
    }
    double largest = sizes_largest(ready);
    sizes_destroy(ready);
    return largest;
}

/// `shape` and `rotation`; false if the shape cannot be used. A shape that does not exist is one
/// without variants: one mistake, and the grains are not taken for balls.
static bool read_choice_of_shape(talus_scene* scene, section* s, shape_choice* choice)
{
    if (section_has(s, "shape")) {
        int index = read_shape_name(scene, s, "shape");
        choice->table = &scene->shapes;
        choice->first = index < 0 ? 0 : scene->shapes.rows[index].first;
        choice->count = index < 0 ? 0 : scene->shapes.rows[index].count;
    }
    const node* rotation =
        section_has_kind(s, "rotation", NODE_SCALAR) ? node_find(s->in, "rotation") : NULL;
    if (rotation && strcmp(rotation->text, "random") == 0) {
        read_choice(s, "rotation");
        choice->any_rotation = true;
    } else if (section_has(s, "rotation")) {
        choice->any_rotation = false;
        read_rotation(s, scene->world.dim, choice->rotation);
    }
    return choice->count > 0;
}

/// Balls have neither a scale nor a way to stand.
static void refuse_shape_keys(section* s)
{
    static const char* const keys[] = {"scale", "rotation"};
    for (int i = 0; i < 2; i++) {
        if (section_has(s, keys[i]))
            section_mistake(s, keys[i], "needs a shape (expected shape besides it)");
    }
}

double read_body(talus_scene* scene, section* s, sizes_def* def, shape_choice* choice)
{
    int dim = scene->world.dim;
    if (!section_has(s, "shape")) {
        refuse_shape_keys(s);
        return read_sizes(s, dim, def);
    }
    bool good = read_choice_of_shape(scene, s, choice);
    bool sized = section_has(s, "radius") || section_has(s, "diameter");
    if (sized && section_has(s, "scale")) {
        section_mistake(s, "scale", "the size is given twice (expected scale, radius or diameter)");
    }
    if (sized) return read_sizes(s, dim, def);
    choice->scale = read_real(s, "scale");
    *def = sizes_default();
    def->value = good ? shape_choice_radius(choice) : 1.0;
    return good ? def->value : 0.0;
}

/// Size of a grain that has a shape: its own scale or radius, else that of its source, else 1.
static void read_shaped_size(section* s, shape_choice* choice, talus_grain_def* g)
{
    bool scaled = section_has(s, "scale");
    if (scaled && section_has(s, "radius")) {
        section_mistake(s, "scale", "the size is given twice (expected scale or radius)");
    }
    if (scaled || (!section_has(s, "radius") && g->radius <= 0.0)) {
        choice->scale = read_real_or(s, "scale", choice->scale > 0.0 ? choice->scale : 1.0);
        g->radius = 0.0;
        return;
    }
    g->radius = read_real_or(s, "radius", g->radius);
    choice->scale = 0.0;
}

void read_one_body(talus_scene* scene, section* s, shape_choice* choice, talus_grain_def* g)
{
    if (section_has(s, "shape") || choice->table) {
        read_choice_of_shape(scene, s, choice);
        read_shaped_size(s, choice, g);
        return;
    }
    refuse_shape_keys(s);
    if (g->radius > 0.0)
        g->radius = read_real_or(s, "radius", g->radius);
    else
        g->radius = read_real_required(s, "radius");
}

void read_shared_body(talus_scene* scene, section* s, shape_choice* choice, talus_grain_def* g)
{
    if (section_has(s, "shape")) {
        read_one_body(scene, s, choice, g);
        return;
    }
    refuse_shape_keys(s);
    read_real_optional(s, "radius", &g->radius);
}
