/// Keys of the whole scene, of its solver, policies, phases and output.
#include "scene/model.h"

static const char* const units[] = {"si", "reduced"};
static const char* const methods[] = {"contact", "soft"};
static const char* const automatic[] = {"auto"};
static const char* const solver_methods[] = {"auto", "accelerated", "coloured", "sweeps"};
static const char* const orders[] = {"random", "forward", "alternating", "parallel"};
static const char* const stops[] = {"rigid", "residual", "sweeps", "local", "global"};
static const char* const push_laws[] = {"g+", "g"};
static const char* const widths[] = {"best", "portable", "avx2", "avx512"};
static const char* const precisions[] = {"double", "single"};
static const char* const integrators[] = {"gear5", "gear3", "verlet", "leapfrog"};
static const char* const elongations[] = {"geometric", "cundall"};
static const char* const soft_laws[] = {"linear", "hertz", "area"};
static const char* const bounds[] = {"elastic", "total"};
static const char* const policies[] = {"accept", "stop", "retry", "remove"};

enum { ACCEPT = 1, RETRY = 4, REMOVE = 8 };

static const key_row root_rows[] = {
    {"title", KEY_TEXT, .otherwise = "untitled", KEY_INTO(talus_scene, title),
     .meaning = "what the run is called in its results"},
    {"description", KEY_TEXT, .meaning = "a longer text, for readers of the scene"},
    {"strict", KEY_BOOL, .otherwise = "false", KEY_INTO(talus_scene, strict),
     .meaning = "a generator that could not place all its grains is an error instead of a warning"},
    {"units", KEY_CHOICE, KEY_CHOICES(units), .otherwise = "si",
     KEY_INTO(scene_output, reduced_units),
     .meaning = "a note on what the numbers are; nothing is converted"},
    {"dimension", KEY_INTEGER, .least = 2, .most = 3, .required = true,
     .meaning = "disks and polygons, or spheres and polyhedra"},
    {"world", KEY_TEXT, .derived = "the scene makes its own",
     .meaning =
         "file of a saved world that the scene goes on with, time and all; it has materials, "
         "shapes, walls, grains and the rest, so that only `step`, `threads`, `device`, "
         "`until` or `phases` and `output` stand beside it. See [going on with a saved "
         "world](#saved-world)"},
    {"seed", KEY_INTEGER, .most = KEY_MOST_INTEGER, .otherwise = "1",
     KEY_INTO(talus_world_def, seed),
     .meaning = "seed of all random numbers: sweeps, generators, inlets"},
    {"threads", KEY_INTEGER, .most = 4096, .otherwise = "1", KEY_INTO(talus_world_def, threads),
     .meaning = "number of threads; 0: all cores"},
    {"device", KEY_TEXT, .derived = "cpu", KEY_INTO(talus_world_def, device),
     .meaning = "what computes the steps: `cpu`, `gpu` for a graphics card, `gpu:1` for the second "
                "one and so on, `auto` for one if there is any and the world is large. The bits "
                "are the same; see [graphics cards](gpu.md)"},
    {"method", KEY_CHOICE, KEY_CHOICES(methods), .otherwise = "contact",
     KEY_INTO(talus_world_def, method),
     .meaning = "rigid grains with Contact Dynamics, or soft ones with "
                "springs and dashpots. A scene changes its method with this one line, see [one "
                "line](#one-line)"},
    {"step", KEY_REAL | KEY_CHOICE, KEY_CHOICES(automatic), .rule = REAL_POSITIVE, .required = true,
     .unit = "s",
     .meaning = "time step; `auto`: Talus chooses it, and shorter ones while grains are fast, see "
                "[steps](#steps). You are warned if yours is too long; for soft grains it is then "
                "replaced, see [soft](#soft)"},
    {"gravity", KEY_VECTOR, .otherwise = "0", .unit = "m/s²", KEY_INTO(talus_world_def, gravity),
     .meaning = "acceleration of all free grains"},
    {"drag", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "kg/s",
     KEY_INTO(talus_world_def, drag),
     .meaning = "linear drag on every grain, force = −drag · velocity"},
    {"periodic", KEY_MAP, .derived = "none",
     .meaning = "axes that wrap around; with both methods each cell length must be at least 4.1 "
                "times the largest radius, and more where grains are fast ([theory](theory.md))"},
    {"domain", KEY_MAP, .derived = "none",
     .meaning = "a grain that leaves this box has escaped (see `policies.escape`)"},
    {"solver", KEY_MAP | KEY_CHOICE, KEY_CHOICES(solver_methods), .derived = "auto",
     .meaning = "solver of the method contact; a single word is its `method`"},
    {"soft", KEY_MAP, .derived = "as below", .meaning = "for the method soft"},
    {"policies", KEY_MAP, .derived = "as below", .meaning = "what to do when something goes wrong"},
    {"materials", KEY_NAMED, .derived = "one, `default`",
     .meaning = "densities and contact laws, under names that you choose"},
    {"pairs", KEY_LIST, .derived = "none", .meaning = "contact laws between two materials"},
    {"shapes", KEY_NAMED, .derived = "none",
     .meaning = "bodies that are not balls, under names that you choose"},
    {"walls", KEY_LIST, .derived = "none", .meaning = "planes, boxes, drums and other boundaries"},
    {"grains", KEY_LIST, .derived = "none", .meaning = "sources of grains"},
    {"until", KEY_MAP, .meaning = "end of a scene without phases; its inlets pour all the time"},
    {"phases", KEY_LIST, .least = 1, .meaning = "stages, one after the other, instead of `until`"},
    {"output", KEY_MAP, .derived = "as below", .meaning = "what is recorded"},
};

static const key_group root_groups[] = {{KEY_AT_MOST_ONE, "until phases", NULL},
                                        {KEY_AT_LEAST_ONE, "until phases world", NULL}};

static const key_row periodic_rows[] = {
    {"x", KEY_VECTOR, .width = 2, .derived = "not periodic", .unit = "m",
     .meaning = "[low, high]; no plane may cross a periodic axis"},
    {"y", KEY_VECTOR, .width = 2, .derived = "not periodic", .unit = "m",
     .meaning = "[low, high]; no plane may cross a periodic axis"},
    {"z", KEY_VECTOR, .dim = 3, .width = 2, .derived = "not periodic", .unit = "m",
     .meaning = "[low, high]; no plane may cross a periodic axis"},
};

static const key_row domain_rows[] = {
    {"low", KEY_VECTOR, .required = true, .unit = "m", KEY_INTO(talus_world_def, domain_low),
     .meaning = "lower corner"},
    {"high", KEY_VECTOR, .required = true, .unit = "m", KEY_INTO(talus_world_def, domain_high),
     .meaning = "upper corner"},
};

static const key_row solver_rows[] = {
    {"method", KEY_CHOICE, KEY_CHOICES(solver_methods), .otherwise = "auto",
     .derived = "auto; sweeps with `order` or the rules `sweeps`, `local` and `global`",
     .meaning =
         "`accelerated`: sweeps over blocks of contacts with momentum; `auto`: the same, and "
         "direct methods for clusters that stay stubborn; `coloured`: without momentum; "
         "`sweeps`: the papers' solver, one contact after the other. In one word: `solver: auto`"},
    {"order", KEY_CHOICE, KEY_CHOICES(orders), .otherwise = "random",
     .meaning = "in which the method `sweeps` visits the contacts; `parallel`: all at once, each "
                "from the impulses before the sweep. That is what the theory of chains begins "
                "with, and does not converge in packings"},
    {"stop", KEY_CHOICE, KEY_CHOICES(stops), .otherwise = "rigid",
     .meaning = "rule that ends a solve: estimated velocity error of the whole system, local "
                "residual, fixed number of sweeps; with the method `sweeps` also change of every "
                "force, change of the mean force"},
    {"tolerance", KEY_REAL | KEY_CHOICE, KEY_CHOICES(automatic), .rule = REAL_POSITIVE,
     .otherwise = "auto",
     .meaning =
         "of the rule; `auto`: with the rule `rigid` 1 % at rest and up to 10 % where grains "
         "flow, as each step asks for ([theory](theory.md)), with others 0.01"},
    {"cutoff", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "N",
     KEY_INTO(talus_solver_def, cutoff),
     .meaning = "the δ of the rule `local`, an error with any other; 0: 1e-6 of the mean force"},
    {"max_sweeps", KEY_INTEGER, .least = 1, .most = 1000000000, .otherwise = "1000",
     KEY_INTO(talus_solver_def, max_sweeps),
     .meaning = "largest number of sweeps in a step, however often its contacts have to be "
                "searched; the number "
                "itself for `sweeps`"},
    {"warm_start", KEY_BOOL, .otherwise = "true", KEY_INTO(talus_solver_def, warm_start),
     .meaning = "start from the impulses of the last step"},
    {"law", KEY_CHOICE, KEY_CHOICES(push_laws), .otherwise = "g+",
     KEY_INTO(talus_solver_def, push_out_overlap),
     .meaning = "`g` pushes overlaps out within a step, `g+` only keeps them from growing"},
    {"separate_overlaps", KEY_BOOL, .otherwise = "true",
     .derived = "true; false with `stop: sweeps`",
     .meaning =
         "overlaps above 1e-4 of the smaller grain are taken apart after each step, by moving "
         "grains and no velocity ([theory](theory.md#overlaps-are-taken-apart)). With `stop: "
         "sweeps` you get the sweeps you ask for and nothing else"},
    {"vector", KEY_CHOICE, KEY_CHOICES(widths), .otherwise = "best",
     KEY_INTO(talus_solver_def, vector),
     .meaning = "numbers worked on at once; the results are the same to the bit"},
    {"precision", KEY_CHOICE, KEY_CHOICES(precisions), .otherwise = "double",
     KEY_INTO(talus_solver_def, precision),
     .meaning = "precision of the sweeps; `single`: floats as long as they make progress, then "
                "doubles until "
                "the rule is met, which is measured in doubles "
                "([performance](benchmarks.md#single-precision)). Not with the method `sweeps`"},
};

static const key_row soft_rows[] = {
    {"integrator", KEY_CHOICE, KEY_CHOICES(integrators), .otherwise = "verlet",
     KEY_INTO(talus_soft_def, integrator),
     .meaning = "Gear's predictor–corrector with five or three derivatives, velocity Verlet, "
                "drift–kick–drift"},
    {"elongation", KEY_CHOICE, KEY_CHOICES(elongations), .otherwise = "geometric",
     KEY_INTO(talus_soft_def, elongation),
     .meaning = "how the friction spring is followed: by increments of positions and angles, or by "
                "velocity times step, which is of first order and damps: see "
                "[soft.md](soft.md#relaxation)"},
    {"law", KEY_CHOICE, .dim = 2, KEY_CHOICES(soft_laws), .otherwise = "linear",
     KEY_INTO(talus_soft_def, law),
     .meaning = "normal force between balls: stiffness · overlap; Hertz and Mindlin, from `young` "
                "and `poisson` of every material; stiffness · area of overlap / sum of the radii. "
                "Polygons always push with the area"},
    {"law", KEY_CHOICE, .dim = 3, KEY_CHOICES(soft_laws), .without = 4,
     .outside = "exists only in dimension 2 (expected linear or hertz)", .otherwise = "linear",
     KEY_INTO(talus_soft_def, law),
     .meaning = "normal force between balls: stiffness · overlap; not with the area"},
    {"bound", KEY_CHOICE, KEY_CHOICES(bounds), .otherwise = "total",
     KEY_INTO(talus_soft_def, bound),
     .meaning = "the friction spring is bounded by friction · elastic normal force and dashpots "
                "come on top (PLMH); or spring and dashpot together by friction · normal force, as "
                "in LAMMPS and YADE"},
    {"vector", KEY_CHOICE, KEY_CHOICES(widths), .otherwise = "best",
     KEY_INTO(talus_soft_def, vector),
     .meaning = "numbers worked on at once; the results are the same to the bit"},
    {"overlap", KEY_REAL, .rule = REAL_POSITIVE, .most = 0.1, .otherwise = "0.001",
     KEY_INTO(talus_scene, overlap), .outside = "is too deep (expected at most 0.1)",
     .meaning = "largest overlap allowed, in mean diameters, where a material gives no `stiffness` "
                "and Talus chooses it"},
};

static const key_row policy_rows[] = {
    {"unconverged", KEY_CHOICE, KEY_CHOICES(policies), .without = REMOVE, .otherwise = "accept",
     KEY_INTO(talus_world_def, on_unconverged),
     .outside = "makes no sense here (expected accept, retry or stop)",
     .meaning = "method contact: a step did not meet the stopping rule; `retry` halves the step"},
    {"escape", KEY_CHOICE, KEY_CHOICES(policies), .without = RETRY, .otherwise = "stop",
     KEY_INTO(talus_world_def, on_escape),
     .outside = "makes no sense here (expected stop, remove or accept)",
     .meaning = "a grain left the domain or went through a wall"},
    {"nan", KEY_CHOICE, KEY_CHOICES(policies), .without = ACCEPT | REMOVE, .otherwise = "stop",
     KEY_INTO(talus_world_def, on_nan), .outside = "makes no sense here (expected stop or retry)",
     .meaning = "a velocity is not a number; the method soft always stops"},
    {"coarse", KEY_CHOICE, KEY_CHOICES(policies), .without = REMOVE, .otherwise = "accept",
     KEY_INTO(talus_world_def, on_coarse),
     .outside = "makes no sense here (expected accept, retry or stop)",
     .meaning = "method contact: a step is too long for how fast grains slide past each other; "
                "`retry` halves it, also where a flow is not solved otherwise, which is what "
                "`step: auto` does ([steps](#steps))"},
    {"retry_depth", KEY_INTEGER, .most = 30, .otherwise = "6",
     KEY_INTO(talus_world_def, retry_depth), .meaning = "how often a step may be halved"},
};

static const key_row until_rows[] = {
    {"time", KEY_REAL, .rule = REAL_POSITIVE, .derived = "none", .unit = "s",
     KEY_INTO(phase_end, duration), .meaning = "duration since the phase began"},
    {"steps", KEY_INTEGER, .least = 1, .most = KEY_MOST_INTEGER, .derived = "none",
     KEY_INTO(phase_end, steps), .meaning = "steps since the phase began"},
    {"kinetic_energy", KEY_REAL, .rule = REAL_POSITIVE, .derived = "none", .unit = "J",
     KEY_INTO(phase_end, kinetic_energy),
     .meaning =
         "ends when the mean kinetic energy of a free grain stays below this. The method soft "
         "looks every 100 steps"},
    {"hold", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .needs = "kinetic_energy",
     .unit = "s", .meaning = "how long the kinetic energy must stay below"},
};

static const key_group until_groups[] = {{KEY_AT_LEAST_ONE, "time steps kinetic_energy", NULL}};

static const key_row phase_rows[] = {
    {"name", KEY_TEXT, .derived = "phase0, …", .meaning = "used in messages and results"},
    {"until", KEY_MAP, .required = true,
     .meaning = "at least one of the conditions of `until`; the first that is met ends the phase"},
    {"step", KEY_REAL | KEY_CHOICE, KEY_CHOICES(automatic), .rule = REAL_POSITIVE,
     .derived = "the scene's", .unit = "s", .meaning = "time step of this phase only, or `auto`"},
    {"remove", KEY_TEXTS, .derived = "none",
     .meaning = "names of walls to remove, with the grains glued to them"},
    {"set_motion", KEY_NAMED, .derived = "none",
     .meaning = "under the names of walls: how they move from now on"},
    {"gravity", KEY_VECTOR, .derived = "unchanged", .unit = "m/s²", KEY_INTO(scene_phase, gravity),
     .meaning = "gravity from now on"},
    {"solver", KEY_MAP | KEY_CHOICE, KEY_CHOICES(solver_methods), .derived = "unchanged",
     .meaning = "keys as `solver`, unchanged if absent"},
    {"pairs", KEY_LIST, .derived = "unchanged", .meaning = "keys as `pairs`"},
    {"pour", KEY_TEXTS, .derived = "none",
     .meaning = "names of inlets that are open in this phase only; each inlet must be open in some "
                "phase"},
};

static const key_row output_rows[] = {
    {"frames", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "s",
     KEY_INTO(scene_output, frame_interval),
     .meaning = "simulated time between frames; 0: only the first and the last"},
    {"series", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "s",
     KEY_INTO(scene_output, series_interval),
     .meaning = "simulated time between rows of `series.csv`; 0: every step, with the method soft "
                "about a thousand rows for each phase"},
    {"checkpoint", KEY_REAL, .rule = REAL_POSITIVE, .otherwise = "300", .unit = "s of wall time",
     KEY_INTO(scene_output, checkpoint_seconds), .meaning = "between checkpoints"},
    {"contacts", KEY_BOOL, .otherwise = "true", KEY_INTO(scene_output, contacts),
     .meaning = "record contacts in the frames"},
};

static const key_section sections[] = {
    {"", .own = KEY_ROWS_OF(root_rows), .groups = root_groups, .group_count = 2},
    {"periodic", .own = KEY_ROWS_OF(periodic_rows)},
    {"domain", .own = KEY_ROWS_OF(domain_rows)},
    {"solver", .own = KEY_ROWS_OF(solver_rows)},
    {"soft", .own = KEY_ROWS_OF(soft_rows)},
    {"policies", .own = KEY_ROWS_OF(policy_rows)},
    {"until", .own = KEY_ROWS_OF(until_rows), .groups = until_groups, .group_count = 1},
    {"phases[]", .own = KEY_ROWS_OF(phase_rows)},
    {"output", .own = KEY_ROWS_OF(output_rows)},
};

const key_sections keys_world = {sections, KEY_COUNT(sections)};
