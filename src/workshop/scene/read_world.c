/// The whole scene from its top: title, units, dimension, time step, gravity, cell, domain, solver,
/// policies, output. The other sections have files of their own.
#include "card/choice.h"
#include "scene/model.h"

#include <string.h>

static const char* const axis_names[] = {"x", "y", "z"};

/// The papers' solver has no single precision.
static void check_precision(section* s, const char* key, const talus_solver_def* solver)
{
    if (solver->precision != TALUS_PRECISION_SINGLE || solver->method != TALUS_SOLVER_SWEEPS) {
        return;
    }
    section_mistake(s, key,
                    "the method 'sweeps' has no single precision (expected precision double, or "
                    "the method auto, accelerated or coloured)");
}

/// The papers' orders and rules mean the papers' solver, and no other one knows them. The effective
/// scene gets the method always and the order only where there is one, so that it means the same.
static void read_solver_method(section* s, talus_solver_def* solver)
{
    solver->stop = (talus_stop_rule)read_choice_or(s, "stop", (int)solver->stop);
    const bool order = section_has(s, "order"), papers = order || solver->stop >= TALUS_STOP_LOCAL;
    talus_solver_method usual = solver->method;
    if (papers || solver->stop == TALUS_STOP_SWEEPS) usual = TALUS_SOLVER_SWEEPS;
    solver->method = (talus_solver_method)read_choice_or(s, "method", (int)usual);
    if (order || solver->method == TALUS_SOLVER_SWEEPS) {
        solver->order = (talus_sweep_order)read_choice_or(s, "order", (int)solver->order);
    }
    if (papers && solver->method != TALUS_SOLVER_SWEEPS) {
        section_mistake(s, order ? "order" : "stop", "only the method 'sweeps' has %s",
                        order ? "an order" : "the rules 'local' and 'global'");
    }
}

/// A number, or `auto`, which is what the solver takes 0 for.
static void read_tolerance(section* s, talus_solver_def* solver)
{
    const bool given = section_has(s, "tolerance");
    const bool chosen = section_has_kind(s, "tolerance", NODE_SCALAR) &&
                        strcmp(node_find(s->in, "tolerance")->text, "auto") == 0;
    if (chosen || (!given && !(solver->tolerance > 0.0))) {
        solver->tolerance = 0.0;
        (void)read_choice_or(s, "tolerance", 0);
    } else if (given) {
        (void)read_real_optional(s, "tolerance", &solver->tolerance);
    } else { // of the phase before
        solver->tolerance = read_real_or(s, "tolerance", solver->tolerance);
    }
}

/// A fixed number of sweeps is what papers have, and pure sweeps are meant: unless the scene said
/// otherwise, here or in a phase before.
static void read_separation(section* s, talus_solver_def* solver, bool* said)
{
    const bool usual = solver->stop != TALUS_STOP_SWEEPS;
    *said = *said || section_has(s, "separate_overlaps");
    solver->separate_overlaps =
        read_bool_or(s, "separate_overlaps", *said ? solver->separate_overlaps : usual);
}

void read_solver(section* parent, talus_solver_def* solver, bool* separation_said)
{
    section s;
    if (section_has_kind(parent, "solver", NODE_SCALAR)) { // solver: auto
        solver->method = (talus_solver_method)read_choice_or(parent, "solver", (int)solver->method);
        check_precision(parent, "solver", solver);
        return;
    }
    section_open(&s, parent, "solver");
    read_solver_method(&s, solver);
    read_tolerance(&s, solver);
    read_separation(&s, solver, separation_said);
    section_fill(&s, talus_solver_def, solver);
    if (section_has(&s, "cutoff") && solver->cutoff > 0.0 && solver->stop != TALUS_STOP_LOCAL) {
        section_mistake(&s, "cutoff", "only the rule 'local' has a cutoff (expected stop: local)");
    }
    // A phase may have only one of both, and the other from the phase before.
    static const char* const blamed[] = {"precision", "method", "order", "stop"};
    int i = 0;
    while (i < 3 && !section_has(&s, blamed[i])) i++;
    check_precision(&s, blamed[i], solver);
    section_close(&s);
}

void read_step(section* s, bool required, scene_step* step)
{
    const bool given = section_has(s, "step");
    const bool chosen = section_has_kind(s, "step", NODE_SCALAR) &&
                        strcmp(node_find(s->in, "step")->text, "auto") == 0;
    if (given || required) step->origin = (scene_origin){section_place(s, "step"), "step"};
    if (given) step->origin.path = section_path(s, "step");
    step->effective = s->out;
    if (chosen) {
        step->chosen = true;
        step->length = 1.0;
    } else if (given) {
        step->chosen = false;
        step->length = required ? read_real(s, "step") : read_real_or(s, "step", step->length);
    } else if (required) {
        step->length = 1.0;
        if (!section_misspells(s, "step"))
            section_mistake(s, NULL, "step: is missing (expected a number > 0 or auto)");
    } else if (!step->chosen) {
        step->length = read_real_or(s, "step", step->length);
    }
    if (step->chosen) { // the effective scene says so until the step is chosen
        node_put(s->r->a, s->out, "step", (place){0}, node_scalar(s->r->a, "auto", false));
    }
}

/// A step that is left to the program may be halved by it where grains slide past each other fast.
static void allow_halving(talus_scene* scene, node* policies)
{
    bool chosen = scene->step.chosen;
    for (int i = 0; i < scene->phase_count; i++) chosen = chosen || scene->phases[i].step.chosen;
    if (!chosen || !method_of(scene->world.method)->undoable) return;
    scene->world.on_coarse = TALUS_POLICY_RETRY;
    node_put(&scene->arena, policies, "coarse", (place){0},
             node_scalar(&scene->arena, "retry", false));
}

/// periodic: {x: [low, high]}
static void read_periodic(talus_scene* scene, section* root)
{
    talus_world_def* def = &scene->world;
    section s;
    section_open(&s, root, "periodic");
    for (int k = 0; k < def->dim; k++) {
        double ends[2];
        if (!read_vector(&s, axis_names[k], ends)) continue;
        if (ends[0] >= ends[1]) {
            section_mistake(&s, axis_names[k],
                            "the cell has no length (expected [low, high] with low < high)");
            continue;
        }
        def->periodic[k] = true;
        def->cell_low[k] = ends[0];
        def->cell_high[k] = ends[1];
        scene->periodic_origin[k] =
            (scene_origin){section_place(&s, axis_names[k]), section_path(&s, axis_names[k])};
    }
    if (def->dim == 2 && section_has_kind(&s, "z", NODE_LIST)) {
        section_mistake(&s, "z", "a scene of dimension 2 has no z axis (expected x or y)");
    }
    section_close(&s);
}

/// Shortest periodic cell in radii: twice the reach of a pair, and some room to move in a step.
#define LEAST_CELL 4.1

void scene_check_cell(const talus_scene* scene, mistakes* found, double radius)
{
    for (int k = 0; k < scene->world.dim; k++) {
        double length = scene->world.cell_high[k] - scene->world.cell_low[k];
        if (!scene->world.periodic[k] || length >= LEAST_CELL * radius) continue;
        mistakes_add(found, scene->periodic_origin[k].at, scene->periodic_origin[k].path,
                     "the cell is %.6g long, too thin for grains of radius %.6g (expected at least "
                     "%g radii: %.6g)",
                     length, radius, LEAST_CELL, LEAST_CELL * radius);
    }
}

/// A scene that goes on with a saved world: how long, how finely, and what is recorded.
static void read_rest(talus_scene* scene, section* root)
{
    section s;
    read_step(root, true, &scene->step);
    read_phases(scene, root);
    section_open(&s, root, "output");
    section_fill(&s, scene_output, &scene->output);
    section_close(&s);
    section_close(root);
}

void check_device(section* root, const talus_world_def* def)
{
    talus_error error;
    device_choice choice;
    if (device_read(def->device, &choice, &error) >= 0) return;
    section_mistake(root, "device",
                    "is '%.60s' (expected cpu, gpu, gpu:N for card number N from 0 "
                    "on, or auto)",
                    def->device);
}

void read_scene(talus_scene* scene, section* root)
{
    section s;
    talus_world_def* def = &scene->world;
    *def = talus_world_default();
    section_fill_before(root, "description", talus_scene, scene);
    read_text(root, "description"); // for the effective scene only
    section_fill(root, talus_scene, scene);
    section_fill(root, scene_output, &scene->output);
    def->dim = (int)read_integer_or(root, "dimension", 3);
    root->r->dim = def->dim;
    if (!section_has(root, "dimension") && !section_misspells(root, "dimension")) {
        section_mistake(root, NULL, "dimension: is missing (expected 2 or 3)");
    }
    // Without the right one every vector would seem to have a wrong length.
    if (!section_got(root, "dimension")) return;
    if (section_has(root, "world")) {
        if (read_saved_world(scene, root)) read_rest(scene, root);
        return;
    }
    section_fill_before(root, "step", talus_world_def, def);
    check_device(root, def);
    section_open(&s, root, "soft");
    section_fill(&s, talus_soft_def, &def->soft);
    section_fill(&s, talus_scene, scene);
    section_close(&s);
    read_step(root, true, &scene->step);
    section_fill(root, talus_world_def, def);
    read_periodic(scene, root);
    if (section_has(root, "domain")) {
        section_open(&s, root, "domain");
        section_fill(&s, talus_world_def, def);
        def->has_domain = section_got(&s, "low") && section_got(&s, "high");
        check_corners(&s, def->domain_low, def->domain_high);
        section_close(&s);
    }
    read_solver(root, &def->solver, &scene->separation_said);
    section_open(&s, root, "policies");
    section_fill(&s, talus_world_def, def);
    node* policies = s.out;
    const bool coarse_given = section_has(&s, "coarse");
    if (!method_of(def->method)->undoable) def->on_nan = TALUS_POLICY_STOP; // no step is repeated
    section_close(&s);

    read_materials(scene, root);
    if (scene->arena.failed) return; // the rest relies on there being a material
    read_shapes(scene, root);
    read_walls(scene, root);
    read_grains(scene, root);
    read_phases(scene, root);
    if (!coarse_given) allow_halving(scene, policies);
    section_open(&s, root, "output");
    section_fill(&s, scene_output, &scene->output);
    section_close(&s);

    double largest = 0.0;
    for (int i = 0; i < scene->source_count; i++) {
        double radius = scene->sources[i].largest_radius;
        if (radius > largest) largest = radius;
    }
    scene_check_cell(scene, &scene->mistakes, largest);
    section_close(root);
}

cell scene_cell(const talus_scene* scene)
{
    cell c = {0};
    for (int k = 0; k < scene->world.dim; k++) {
        c.periodic[k] = scene->world.periodic[k];
        c.low[k] = scene->world.cell_low[k];
        c.length[k] = scene->world.cell_high[k] - scene->world.cell_low[k];
    }
    return c;
}
