/// Keys of the method soft that need thought: `step: auto`, and which constants materials and pairs
/// give. With the method contact they are read and checked just the same, and not used.
#include "scene/model.h"

#include <string.h>

void read_step(talus_scene* scene, section* s, bool required, scene_step* step)
{
    const bool soft = method_of(scene->world.method)->has_springs;
    const bool given = section_has(s, "step");
    const bool chosen = section_has_kind(s, "step", NODE_SCALAR) &&
                        strcmp(node_find(s->in, "step")->text, "auto") == 0;
    if (given || required) step->origin = (scene_origin){section_place(s, "step"), "step"};
    if (given) step->origin.path = section_path(s, "step");
    step->effective = s->out;
    if (chosen) {
        step->chosen = soft;
        step->length = 1.0;
        if (!soft) {
            section_mistake(s, "step",
                            "'auto' goes only with method: soft (expected a number > 0)");
        }
    } else if (given) {
        step->chosen = false;
        step->length = required ? read_real(s, "step") : read_real_or(s, "step", step->length);
    } else if (required && soft) {
        step->length = 1.0;
        section_mistake(s, NULL, "step: is missing (expected a number > 0 or auto)");
    } else if (required) {
        step->length = read_real(s, "step");
    } else if (!step->chosen) {
        step->length = read_real_or(s, "step", step->length);
    }
    if (step->chosen) { // the effective scene says so until the step is chosen
        node_put(s->r->a, s->out, "step", (place){0}, node_scalar(s->r->a, "auto", false));
    }
}

unsigned springs_given(const section* s)
{
    static const char* const keys[SPRING_COUNT] = {"stiffness",     "stiffness_ratio", "damping",
                                                   "damping_ratio", "young",           "poisson"};
    unsigned given = 0;
    for (int i = 0; i < SPRING_COUNT; i++) given |= (unsigned)section_got(s, keys[i]) << i;
    return given;
}

void springs_of(talus_pair_def* law, double* out[SPRING_COUNT])
{
    double* const all[SPRING_COUNT] = {&law->soft.stiffness, &law->soft.stiffness_ratio,
                                       &law->soft.damping,   &law->soft.damping_ratio,
                                       &law->soft.young,     &law->soft.poisson};
    memcpy(out, all, sizeof all);
}
