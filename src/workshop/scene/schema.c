/// The scene file's top level: title, units, dimension, time step, gravity, cell, domain, solver,
/// policies, output. The other sections have files of their own.
#include "base/words.h"
#include "scene/model.h"

#include <string.h>

static const char* const axis_names[] = {"x", "y", "z"};

int schema_find_at(reader* r, place at, const char* path, const char* what, const char* word,
                   const char* const* names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], word) == 0) return i;
    }
    const char* near = nearest_name(word, names, count);
    mistakes_add(r->p, at, path, "there is no %s named '%.60s'%s%s%s", what, word,
                 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return -1;
}

int schema_find(section* s, const char* key, int index, const char* what, const char* word,
                const char* const* names, int count)
{
    return schema_find_at(s->r, read_place(s, key, index), section_path(s, key), what, word, names,
                          count);
}

int schema_find_choice(section* s, const char* key, int index, const char* what, const char* word)
{
    const key_row* row = section_row(s, key, KEY_TEXTS);
    return schema_find(s, key, index, what, word, row->choices, row->choice_count);
}

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

/// The key of a solver that says its method, if there is one.
static const char* method_key(section* s)
{
    return section_has(s, "method") ? "method" : section_has(s, "order") ? "order" : "stop";
}

/// The papers' orders and rules mean the papers' solver, and no other one knows them. The effective
/// scene gets the method always and the order only where there is one, so that it means the same.
static void read_method(section* s, talus_solver_def* solver)
{
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

void schema_solver(section* parent, talus_solver_def* solver)
{
    section s;
    if (section_has_kind(parent, "solver", NODE_SCALAR)) { // solver: auto
        solver->method = (talus_solver_method)read_choice_or(parent, "solver", (int)solver->method);
        check_precision(parent, "solver", solver);
        return;
    }
    section_open(&s, parent, "solver");
    solver->stop = (talus_stop_rule)read_choice_or(&s, "stop", (int)solver->stop);
    read_method(&s, solver);
    solver->tolerance = read_real_or(&s, "tolerance", solver->tolerance);
    solver->cutoff = read_real_or(&s, "cutoff", solver->cutoff);
    if (section_has(&s, "cutoff") && solver->cutoff > 0.0 && solver->stop != TALUS_STOP_LOCAL) {
        section_mistake(&s, "cutoff", "only the rule 'local' has a cutoff (expected stop: local)");
    }
    solver->max_sweeps = (int)read_integer_or(&s, "max_sweeps", solver->max_sweeps);
    solver->warm_start = read_bool_or(&s, "warm_start", solver->warm_start);
    solver->push_out_overlap = read_choice_or(&s, "law", solver->push_out_overlap) == 1;
    solver->vector = (talus_vector_width)read_choice_or(&s, "vector", (int)solver->vector);
    solver->precision = (talus_precision)read_choice_or(&s, "precision", (int)solver->precision);
    // A phase may have only one of both, and the other from the phase before.
    check_precision(&s, section_has(&s, "precision") ? "precision" : method_key(&s), solver);
    section_close(&s);
}

static void read_policies(section* root, talus_world_def* def)
{
    section s;
    section_open(&s, root, "policies");
    int unconverged = read_choice_or(&s, "unconverged", (int)def->on_unconverged);
    int escape = read_choice_or(&s, "escape", (int)def->on_escape);
    int nan = read_choice_or(&s, "nan", (int)def->on_nan);
    if (read_choice_is_out(&s, "unconverged", unconverged)) {
        section_mistake(&s, "unconverged",
                        "'remove' makes no sense here (expected accept, retry "
                        "or stop)");
    }
    if (read_choice_is_out(&s, "escape", escape)) {
        section_mistake(&s, "escape",
                        "'retry' makes no sense here (expected stop, remove or "
                        "accept)");
    }
    if (read_choice_is_out(&s, "nan", nan)) {
        section_mistake(&s, "nan", "'%s' makes no sense here (expected stop or retry)",
                        section_row(&s, "nan", KEY_CHOICE)->choices[nan]);
    } else if (!method_of(def->method)->undoable) {
        nan = TALUS_POLICY_STOP; // its steps are never repeated
    }
    def->on_unconverged = (talus_policy)unconverged;
    def->on_escape = (talus_policy)escape;
    def->on_nan = (talus_policy)nan;
    def->retry_depth = (int)read_integer_or(&s, "retry_depth", def->retry_depth);
    section_close(&s);
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

static void read_domain(section* root, talus_world_def* def)
{
    if (!section_has(root, "domain")) return;
    section s;
    section_open(&s, root, "domain");
    bool low = read_vector(&s, "low", def->domain_low);
    bool high = read_vector(&s, "high", def->domain_high);
    def->has_domain = low && high;
    for (int k = 0; def->has_domain && k < def->dim; k++) {
        if (def->domain_low[k] < def->domain_high[k]) continue;
        section_mistake(&s, "high", "is not above 'low' along %s (expected low < high)",
                        axis_names[k]);
    }
    section_close(&s);
}

static void read_output(section* root, scene_output* output)
{
    section s;
    section_open(&s, root, "output");
    output->frame_interval = read_real(&s, "frames");
    output->series_interval = read_real(&s, "series");
    output->checkpoint_seconds = read_real(&s, "checkpoint");
    output->contacts = read_bool(&s, "contacts");
    section_close(&s);
}

static void read_world(talus_scene* scene, section* root)
{
    talus_world_def* def = &scene->world;
    scene->output.reduced_units = read_choice(root, "units") == 1;
    def->dim = (int)read_integer_or(root, "dimension", 3);
    root->r->dim = def->dim;
    if (!section_has(root, "dimension")) {
        section_mistake(root, NULL, "dimension: is missing (expected 2 or 3)");
    }
    def->seed = (uint64_t)read_integer_or(root, "seed", (int64_t)def->seed);
    def->threads = (int)read_integer_or(root, "threads", def->threads);
    schema_soft(scene, root);
    schema_step(scene, root, true, &scene->step);
    read_vector(root, "gravity", def->gravity);
    def->drag = read_real(root, "drag");
    read_periodic(scene, root);
    read_domain(root, def);
    schema_solver(root, &def->solver);
    read_policies(root, def);
}

/// Shortest periodic cell in radii: twice the reach of a pair, and some room to move in a step.
#define LEAST_CELL 4.1

void scene_check_cell(const talus_scene* scene, mistakes* p, double radius)
{
    for (int k = 0; k < scene->world.dim; k++) {
        double length = scene->world.cell_high[k] - scene->world.cell_low[k];
        if (!scene->world.periodic[k] || length >= LEAST_CELL * radius) continue;
        mistakes_add(p, scene->periodic_origin[k].at, scene->periodic_origin[k].path,
                     "the cell is %.6g long, too thin for grains of radius %.6g (expected at least "
                     "%g radii: %.6g)",
                     length, radius, LEAST_CELL, LEAST_CELL * radius);
    }
}

static void check_cell(talus_scene* scene)
{
    double largest = 0.0;
    for (int i = 0; i < scene->source_count; i++) {
        double radius = scene->sources[i].largest_radius;
        if (radius > largest) largest = radius;
    }
    scene_check_cell(scene, &scene->mistakes, largest);
}

void schema_read(talus_scene* scene, section* root)
{
    scene->world = talus_world_default();
    scene->title = read_text(root, "title");
    read_text(root, "description");
    scene->strict = read_bool(root, "strict");
    read_world(scene, root);
    schema_materials(scene, root);
    if (scene->arena.failed) return; // the rest relies on there being a material
    schema_shapes(scene, root);
    schema_walls(scene, root);
    schema_grains(scene, root);
    schema_phases(scene, root);
    read_output(root, &scene->output);
    check_cell(scene);
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
