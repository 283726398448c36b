/// Keys of the method soft: `method`, `soft`, `step: auto`, and the constants of materials and
/// pairs. With the method contact they are read and checked just the same, and not used.
#include "scene/model.h"

#include <string.h>

void schema_soft(talus_scene* scene, section* root)
{
    talus_world_def* def = &scene->world;
    talus_soft_def* soft = &def->soft;
    def->method = (talus_method)read_choice_or(root, "method", (int)def->method);
    section s;
    section_open(&s, root, "soft");
    soft->integrator = (talus_integrator)read_choice_or(&s, "integrator", (int)soft->integrator);
    soft->elongation = (talus_elongation)read_choice_or(&s, "elongation", (int)soft->elongation);
    soft->law = (talus_soft_law)read_choice_or(&s, "law", (int)soft->law);
    soft->bound = (talus_soft_bound)read_choice_or(&s, "bound", (int)soft->bound);
    soft->vector = (talus_vector_width)read_choice_or(&s, "vector", (int)soft->vector);
    scene->overlap = read_real(&s, "overlap");
    if (scene->overlap > section_row(&s, "overlap", KEY_REAL)->most)
        section_mistake(&s, "overlap", "is too deep (expected at most 0.1)");
    if (read_choice_is_out(&s, "law", (int)soft->law)) {
        section_mistake(&s, "law", "'area' exists only in dimension 2 (expected linear or hertz)");
    }
    section_close(&s);
}

static bool is_auto(section* s)
{
    if (!section_has_kind(s, "step", NODE_SCALAR)) return false;
    return strcmp(node_find(s->in, "step")->text, "auto") == 0;
}

/// The effective scene says `auto` until the step is chosen.
static void put_auto(section* s)
{
    node_put(s->r->a, s->out, "step", (place){0}, node_scalar(s->r->a, "auto", false));
}

void schema_step(talus_scene* scene, section* s, bool required, scene_step* step)
{
    const bool soft = method_of(scene->world.method)->has_springs;
    const bool given = section_has(s, "step");
    if (given || required) step->origin = (scene_origin){section_place(s, "step"), "step"};
    if (given) step->origin.path = section_path(s, "step");
    step->effective = s->out;
    if (is_auto(s)) {
        step->chosen = soft;
        step->length = 1.0;
        if (soft)
            put_auto(s);
        else
            section_mistake(s, "step",
                            "'auto' goes only with method: soft (expected a number > 0)");
    } else if (given) {
        step->chosen = false;
        step->length = required ? read_real(s, "step") : read_real_or(s, "step", step->length);
    } else if (required && soft) {
        step->length = 1.0;
        section_mistake(s, NULL, "step: is missing (expected a number > 0 or auto)");
    } else if (required) {
        step->length = read_real(s, "step");
    } else if (step->chosen) {
        put_auto(s);
    } else {
        step->length = read_real_or(s, "step", step->length);
    }
}

void schema_springs(section* s, talus_pair_def* law, unsigned* given)
{
    static const char* const keys[SPRING_COUNT] = {"stiffness",     "stiffness_ratio", "damping",
                                                   "damping_ratio", "young",           "poisson"};
    double* value[SPRING_COUNT];
    springs_of(law, value);
    *given = 0;
    for (int i = 0; i < SPRING_COUNT; i++) {
        // A pair has no defaults of its own.
        const bool has_default = section_row(s, keys[i], KEY_REAL)->otherwise != NULL;
        if (read_real_optional(s, keys[i], value[i]))
            *given |= 1u << i;
        else if (has_default && !section_has(s, keys[i]))
            read_real_or(s, keys[i], *value[i]);
    }
    if (law->poisson > section_row(s, "poisson", KEY_REAL)->most) {
        section_mistake(s, "poisson",
                        "is above that of an incompressible body (expected at most "
                        "0.5)");
    }
}

void springs_of(talus_pair_def* law, double* out[SPRING_COUNT])
{
    double* const all[SPRING_COUNT] = {&law->stiffness,     &law->stiffness_ratio, &law->damping,
                                       &law->damping_ratio, &law->young,           &law->poisson};
    memcpy(out, all, sizeof all);
}
