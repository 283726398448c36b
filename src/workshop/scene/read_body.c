/// What the grains of a source look like: balls, or a named shape with its size and rotation.
#include "base/vec.h"
#include "scene/model.h"

#include <string.h>

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
