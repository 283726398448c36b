/// Keys of the method soft: `method`, `soft`, `step: auto`, and the constants of materials and
/// pairs. With the method contact they are read and checked just the same, and not used.
#include "scene/model.h"

#include <string.h>

#define NAMES(list) list, (int)(sizeof(list) / sizeof *(list))

void schema_soft(talus_scene* scene, section* root)
{
    static const char* const methods[] = {"contact", "soft"};
    static const char* const integrators[] = {"gear5", "gear3", "verlet", "leapfrog"};
    static const char* const elongations[] = {"geometric", "cundall"};
    static const char* const laws[] = {"linear", "hertz", "area"};
    static const char* const bounds[] = {"elastic", "total"};
    static const char* const widths[] = {"best", "portable", "avx2", "avx512"};
    talus_world_def* def = &scene->world;
    talus_soft_def* soft = &def->soft;
    def->method = (talus_method)read_choice(root, "method", NAMES(methods), (int)def->method);
    section s;
    section_open(&s, root, "soft");
    soft->integrator =
        (talus_integrator)read_choice(&s, "integrator", NAMES(integrators), (int)soft->integrator);
    soft->elongation =
        (talus_elongation)read_choice(&s, "elongation", NAMES(elongations), (int)soft->elongation);
    soft->law = (talus_soft_law)read_choice(&s, "law", NAMES(laws), (int)soft->law);
    soft->bound = (talus_soft_bound)read_choice(&s, "bound", NAMES(bounds), (int)soft->bound);
    soft->vector = (talus_vector_width)read_choice(&s, "vector", NAMES(widths), (int)soft->vector);
    scene->overlap = read_real(&s, "overlap", REAL_POSITIVE, 1e-3);
    if (scene->overlap > 0.1) section_problem(&s, "overlap", "is too deep (expected at most 0.1)");
    if (soft->law == TALUS_SOFT_AREA && def->dim == 3) {
        section_problem(&s, "law", "'area' exists only in dimension 2 (expected linear or hertz)");
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
    const bool soft = scene->world.method == TALUS_METHOD_SOFT;
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
            section_problem(s, "step",
                            "'auto' goes only with method: soft (expected a number > 0)");
    } else if (given) {
        step->chosen = false;
        step->length = read_real(s, "step", REAL_POSITIVE, 1.0);
    } else if (required && soft) {
        step->length = 1.0;
        section_problem(s, NULL, "step: is missing (expected a number > 0 or auto)");
    } else if (required) {
        step->length = read_real_required(s, "step", REAL_POSITIVE);
    } else if (step->chosen) {
        put_auto(s);
    } else {
        step->length = read_real(s, "step", REAL_POSITIVE, step->length);
    }
}

void schema_springs(section* s, bool material, talus_pair_def* law, unsigned* given)
{
    static const struct {
        const char* key;
        real_rule rule;
        bool has_default; ///< of a material
    } keys[SPRING_COUNT] = {
        {"stiffness", REAL_POSITIVE, false}, {"stiffness_ratio", REAL_NON_NEGATIVE, true},
        {"damping", REAL_POSITIVE, false},   {"damping_ratio", REAL_NON_NEGATIVE, true},
        {"young", REAL_POSITIVE, false},     {"poisson", REAL_FRACTION, true}};
    double* value[SPRING_COUNT];
    springs_of(law, value);
    *given = 0;
    for (int i = 0; i < SPRING_COUNT; i++) {
        if (read_real_optional(s, keys[i].key, keys[i].rule, value[i]))
            *given |= 1u << i;
        else if (material && keys[i].has_default)
            read_real(s, keys[i].key, REAL_ANY, *value[i]);
    }
    if (law->poisson > 0.5) {
        section_problem(s, "poisson",
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
