/// Mistakes in scenes: each is found at its line and column, with its key and a suggestion, all at
/// once; and no mutation of a scene, however strange, brings the reader down.
#include "support.h"

#include "base/memory.h"
#include "base/rng.h"

#include <string.h>
#include <talus/scene.h>
#include <unistd.h>

/// A file of this test; removed at the end.
static char scene_path[] = "/tmp/talus-test-errors-XXXXXX";

static void write_scene(const char* text, size_t size)
{
    FILE* file = fopen(scene_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/// Load and, if that goes well, build.
static talus_status try_scene(const char* const* sets, int set_count, talus_report* report)
{
    talus_scene* scene = NULL;
    talus_world* world = NULL;
    talus_error error = {0};
    talus_status status = talus_scene_load(scene_path, sets, set_count, &scene, report, &error);
    if (status == TALUS_OK) {
        status = talus_scene_build(scene, NULL, &world, report, &error);
        talus_world_destroy(world);
        talus_scene_destroy(scene);
    }
    if (status == TALUS_ERR_SCENE && report->count > 0) {
        // The error repeats the beginning of the report.
        assert_memory_equal(error.text, report->lines[0], strlen(report->lines[0]));
    }
    return status;
}

/// Begin of every scene below: three lines, so that what follows begins at line 4.
#define HEAD "dimension: 2\nstep: 0.01\nuntil: {time: 1}\n"
/// What stands at the top of a scene, in messages about keys that do not.
#define TOP_KEYS                                                                                   \
    "title, description, strict, units, dimension, world, seed, threads, device, method, step, "   \
    "gravity, drag, periodic, domain, solver, soft, policies, materials, pairs, shapes, walls, "   \
    "grains, "                                                                                     \
    "until, phases, output"
#define HEAD_3D "dimension: 3\nstep: 0.01\nuntil: {time: 1}\n"

typedef struct bad_scene {
    const char* text;
    const char* expected; ///< lines without the file's name, one after the other
} bad_scene;

static const bad_scene bad_scenes[] = {
    // syntax
    {"", "1:1: the file is empty (expected a scene)\n"},
    {"- 1\n", "1:1: the file is a list (expected a scene: lines such as 'dimension: 2')\n"},
    {"dimension: 2\nstep: [1, 2\nfoo: 3\n",
     "3:4: YAML syntax: a ',' or ']' is missing, in the [ ] that began at line 2\n"},
    {"dimension: 2\nstep:auto\nuntil: {time: 1}\n",
     "2:1: YAML syntax: this line is no 'key: value' (expected a colon and a blank behind the "
     "key)\n"},
    {"title: Bob's: test\n", "1:13: YAML syntax: a ':' is not allowed here (a text with ': ' in it "
                             "goes in quotes; or is the "
                             "line indented too far?)\n"},
    {HEAD "walls:\n   - {name: a}\n  - {name: b}\n",
     "6:3: YAML syntax: this line does not go with those before it (expected the same indentation, "
     "and every bracket and quote closed), in the map that began at line 1\n"},
    {"dimension: 2\nwalls: [{name: a\nstep: 1\n",
     "3:5: YAML syntax: a ',' or '}' is missing, in the { } that began at line 2\n"},
    {"title: \"test\nstep: 1\n",
     "3:1: YAML syntax: the file ends too early (expected a closing quote), in the text that began "
     "at line 1\n"},
    {"title: \xff\n",
     "1:8: YAML syntax: invalid leading UTF-8 octet, the file is not UTF-8 text\n"},
    {"# \xe2\x89\xa4\nwalls:\n\t- {name: a}\n",
     "3:1: YAML syntax: a tab (expected blanks: YAML does not indent with tabs)\n"},
    {"a: 1\n---\nb: 2\n", "2:1: a second document begins (expected one per file)\n"},
    {"a: &x 1\nc: *y\n", "2:4: alias *y has no anchor &y before it\n"},
    {"a: !!str 1\n", "1:4: tags (!name) are not supported (expected a plain value)\n"},
    {"a: {<<: {b: 1}}\n",
     "1:5: merge keys (<<) are not supported (expected the keys themselves)\n"},
    {"title: \"\\0\"\n", "1:8: a text contains a zero byte\n"},
    {HEAD "step: 2\n", "4:1: step: this key was given before, at line 2 (expected once)\n"},

    // keys and types
    {"step: 1\nuntil: {time: 1}\n", "1:1: dimension: is missing (expected 2 or 3)\n"},
    {"dimension: 2\nuntil: {time: 1}\n", "1:1: step: is missing (expected a number > 0 or auto)\n"},
    {"dimension: 2\nstep: 1\n", "1:1: until: no end condition (expected until: with time, steps or "
                                "kinetic_energy)\n"},
    {HEAD "gravty: [0, 1]\n", "4:1: gravty: unknown key; did you mean 'gravity'?\n"},
    {HEAD "colour: red\n", "4:1: colour: unknown key (known here: " TOP_KEYS ")\n"},
    {HEAD "friction: 0.3\n",
     "4:1: friction: unknown key here; did you mean 'materials.<name>.friction'?\n"},
    {HEAD "solver: {tolerence: 1}\n",
     "4:10: solver.tolerence: unknown key; did you mean 'tolerance'?\n"},
    {HEAD "solver: {tolerance: foo}\n",
     "4:21: solver.tolerance: 'foo' is not a number (expected a number > 0 or auto)\n"},
    {HEAD "solver: {tolerance: -1}\n",
     "4:21: solver.tolerance: -1 is out of range (expected a number > 0 or auto)\n"},
    {HEAD "solver: {tolerance: [1]}\n",
     "4:21: solver.tolerance: is a list (expected a number > 0 or auto)\n"},
    {HEAD "solver:\n  method: sweeps\n  precision: single\n",
     "6:14: solver.precision: the method 'sweeps' has no single precision (expected precision "
     "double, or the method auto, accelerated or coloured)\n"},
    {"dimension: 2\nstep: 0.01\n"
     "solver: {precision: single}\nphases:\n  - {name: a, until: {time: 1}}\n"
     "  - {name: b, until: {time: 2}, solver: sweeps}\n",
     "6:41: phases[1].solver: the method 'sweeps' has no single precision (expected precision "
     "double, or the method auto, accelerated or coloured)\n"},
    {HEAD "solver:\n  cutoff: 0.1\n",
     "5:11: solver.cutoff: only the rule 'local' has a cutoff (expected stop: local)\n"},
    {HEAD "solver:\n  order: randon\n", "5:10: solver.order: 'randon' is not known (expected "
                                        "random, forward, alternating or parallel); did you "
                                        "mean 'random'?\n"},
    {HEAD "solver: {max_sweeps: 1.5}\n",
     "4:22: solver.max_sweeps: 1.5 does not fit (expected an integer from 1 to 1000000000)\n"},
    {HEAD "solver: 3\n",
     "4:9: solver: '3' is not known (expected auto, accelerated, coloured or sweeps)\n"},
    {HEAD "device: gpu:x\n", "4:9: device: is 'gpu:x' (expected cpu, gpu, gpu:N for card number N "
                             "from 0 on, or auto)\n"},
    {HEAD "device: GPU\n", "4:9: device: is 'GPU' (expected cpu, gpu, gpu:N for card number N from "
                           "0 on, or auto)\n"},
    {HEAD "drag:\n", "4:6: drag: is empty (expected a number >= 0)\n"},
    {HEAD "drag: 1_000\n", "4:7: drag: '1_000' is not a number (expected a number >= 0)\n"},
    {HEAD "drag: .inf\n", "4:7: drag: '.inf' is not a number (expected a number >= 0)\n"},
    {HEAD "drag: 1e999\n", "4:7: drag: '1e999' is not a number (expected a number >= 0)\n"},
    {HEAD "drag: '1'\n", "4:7: drag: '1' is not a number (expected a number >= 0); without the "
                         "quotes it would be one\n"},
    {HEAD "drag: 0x10\n", "4:7: drag: '0x10' is not a number (expected a number >= 0)\n"},
    {HEAD "gravity: [0, nan]\n",
     "4:14: gravity[1]: 'nan' is not a number (expected a finite number)\n"},
    {HEAD "gravity: [0, 0, -9.81]\n",
     "4:10: gravity: has 3 entries (expected a list of 2 numbers)\n"},
    {HEAD "output: {contacts: yes}\n",
     "4:20: output.contacts: 'yes' is not a truth value (expected true or false)\n"},
    {HEAD "policies: {nan: accept}\n",
     "4:17: policies.nan: 'accept' makes no sense here (expected stop or retry)\n"},

    // the method soft
    {HEAD "method: hard\n", "4:9: method: 'hard' is not known (expected contact or soft)\n"},
    {HEAD "soft: {integrator: gear4}\n",
     "4:20: soft.integrator: 'gear4' is not known (expected gear5, gear3, verlet or leapfrog); did "
     "you mean 'gear5'?\n"},
    {HEAD "soft: {elongation: x}\n",
     "4:20: soft.elongation: 'x' is not known (expected geometric or cundall)\n"},
    {HEAD "soft: {law: x}\n",
     "4:13: soft.law: 'x' is not known (expected linear, hertz or area)\n"},
    {HEAD "soft: {bound: x}\n", "4:15: soft.bound: 'x' is not known (expected elastic or total)\n"},
    {HEAD "soft: {vector: x}\n",
     "4:16: soft.vector: 'x' is not known (expected best, portable, avx2 or avx512)\n"},
    {HEAD "soft: {overlap: 0.2}\n", "4:17: soft.overlap: is too deep (expected at most 0.1)\n"},
    {HEAD "soft: {overlap: 0}\n",
     "4:17: soft.overlap: 0 is out of range (expected a number > 0)\n"},
    {HEAD "soft: {stiffness: 1}\n",
     "4:8: soft.stiffness: unknown key here; did you mean 'materials.<name>.stiffness'?\n"},
    {HEAD_3D "soft: {law: area}\n",
     "4:13: soft.law: 'area' exists only in dimension 2 (expected linear or hertz)\n"},
    {HEAD "method: soft\npolicies: {nan: accept}\n",
     "5:17: policies.nan: 'accept' makes no sense here (expected stop or retry)\n"},
    {"dimension: 2\nmethod: soft\nstep: autom\nuntil: {time: 1}\n",
     "3:7: step: 'autom' is not a number (expected a number > 0 or auto)\n"},
    {HEAD "policies: {coarse: remove}\n",
     "4:20: policies.coarse: 'remove' makes no sense here (expected accept, retry or stop)\n"},
    {"dimension: 2\nmethod: soft\nuntil: {time: 1}\n",
     "1:1: step: is missing (expected a number > 0 or auto)\n"},
    {HEAD "grains: [{type: list, radius: 1, lock: [y], items: [{position: [0, 0]}]}]\n",
     "4:40: grains[0].lock: is known to the method soft only (expected method: soft)\n"},
    {HEAD
     "method: soft\ngrains: [{type: list, radius: 1, lock: [z], items: [{position: [0, 0]}]}]\n",
     "5:41: grains[0].lock: there is no axis named 'z' (expected x or y)\n"},
    {HEAD "materials: {a: {stiffness: 0}}\n",
     "4:28: materials.a.stiffness: 0 is out of range (expected a number > 0)\n"},
    {HEAD "materials: {a: {poisson: 0.6}}\n",
     "4:26: materials.a.poisson: is above that of an incompressible body (expected at most 0.5)\n"},
    {HEAD "materials: {a: {stiffness_ratio: -1, damping_ratio: -1, young: -1}}\n",
     "4:34: materials.a.stiffness_ratio: -1 is out of range (expected a number >= 0)\n"
     "4:53: materials.a.damping_ratio: -1 is out of range (expected a number >= 0)\n"
     "4:64: materials.a.young: -1 is out of range (expected a number > 0)\n"},
    {HEAD "method: soft\nsoft: {law: hertz}\nmaterials:\n  a: {young: 1e9}\n  b: {}\n",
     "8:6: materials.b: the law of Hertz needs the material's Young's modulus (expected young)\n"},
    {HEAD "method: soft\nsoft: {law: hertz}\n",
     "1:1: materials.default: the law of Hertz needs the material's Young's modulus (expected "
     "young)\n"},
    {HEAD "method: soft\nmaterials:\n  a: {stiffness: 1}\n  b: {}\ngrains:\n- {type: chain, "
          "direction: [1, 0], count: 2, radius: 1}\n",
     "7:6: materials.b: its stiffness cannot be chosen: no weight, no force and no speed is known "
     "at the start (expected stiffness)\n"},
    {HEAD_3D
     "method: soft\nshapes: {brick: {box: [1, 1, 1]}}\ngrains:\n- {type: chain, radius: 1, "
     "start: [9, 9, 9], direction: [1, 0, 0], count: 1}\n- {type: list, items: [{position: "
     "[0, 0, 0], shape: brick}, {position: [5, 0, 0], shape: brick}]}\n- {type: inlet, shape: "
     "brick, low: [0, 0, 9], high: [3, 3, 12], rate: 1}\n",
     "8:24: grains[1].items[0]: the method soft knows balls and, in 2D, polygons; grains of shape "
     "'brick' need method: contact\n"
     "9:3: grains[2]: the method soft knows balls and, in 2D, polygons; grains of shape 'brick' "
     "need method: contact\n"},
    {HEAD "domain: {low: [0, 0], high: [1, 0]}\n",
     "4:29: domain.high: is not above 'low' along y (expected low < high)\n"},

    // materials
    {HEAD "materials: {glass: {fricton: 1}}\n",
     "4:21: materials.glass.fricton: unknown key; did you mean 'friction'?\n"},
    {HEAD "materials: {glass: {density: 0}}\n",
     "4:30: materials.glass.density: 0 is out of range (expected a number > 0)\n"},
    {HEAD "materials: {glass: {}}\npairs:\n- {between: [glass, glas], friction: 1}\n",
     "6:21: pairs[0].between: there is no material named 'glas'; did you mean 'glass'?\n"},

    // walls
    {HEAD "walls:\n- {type: plan}\n",
     "5:10: walls[0].type: 'plan' is not known (expected plane, segment, box, cylinder or solid); "
     "did you mean 'plane'?\n"},
    {HEAD "walls:\n- {tpye: plane, normal: [0, 1]}\n",
     "5:4: walls[0].tpye: unknown key; did you mean 'type'?\n"},
    {HEAD "walls:\n- {name: floor, type: plane, nromal: [0, 1]}\n",
     "5:30: walls[0].nromal: unknown key; did you mean 'normal'?\n"},
    {HEAD_3D "walls:\n- {type: segmnt}\n", "5:10: walls[0].type: 'segmnt' is not known (expected "
                                           "plane, plate, box, cylinder, cone, solid "
                                           "or mesh)\n"},
    {HEAD "walls:\n- {type: plane, normal: [0, 1], motion: {type: servo, velocty: 1, mass: 1, "
          "axis: [0, 1], stress: 1, area: 1}}\ngrains: [{type: list, velocity: [0, 0], items: "
          "[{position: [0, 1], radius: 1}]}]\n",
     "5:55: walls[0].motion.velocty: unknown key (known here: type, mass, weight, damping, axis, "
     "stress, area, spans)\n"},
    {HEAD "walls:\n- {type: plane}\n", "5:3: walls[0].normal: is missing (expected [x, y])\n"},
    {HEAD_3D "walls:\n- {type: segment, from: [0, 0, 0], to: [1, 0, 0]}\n",
     "5:10: walls[0].type: a segment exists only in dimension 2 (expected plate or box)\n"},
    {HEAD "walls:\n- {type: cone}\n",
     "5:10: walls[0].type: a cone exists only in dimension 3 (expected segment)\n"},
    {HEAD "walls:\n- {type: cylinder, radius: -1}\n",
     "5:28: walls[0].radius: -1 is out of range (expected a number > 0)\n"},
    {HEAD "walls:\n- {type: box, low: [0, 0], high: [1, 1], open: [tpo]}\n",
     "5:49: walls[0].open: there is no face of a box named 'tpo'; did you mean 'top'?\n"},
    {HEAD "walls:\n- {name: a, type: plane, normal: [0, 1]}\n- {name: a, type: plane, normal: [0, "
          "1]}\n",
     "6:10: walls[1].name: 'a' is also the name of walls[0] (expected a name of its own)\n"},
    {HEAD "periodic: {x: [0, 1]}\nwalls:\n- {type: plane, normal: [1, 0]}\n",
     "6:25: walls[0].normal: the plane crosses the periodic axis x (expected a normal at right "
     "angles to it, or an axis that is not periodic)\n"},
    {HEAD "periodic: {x: [0, 1]}\nwalls:\n- {type: box, low: [0, 0], high: [1, 1], open: [left]}\n",
     "6:3: walls[0]: the box is closed along the periodic axis x (expected open: [x-, x+])\n"},
    {HEAD "walls:\n- {type: plane, normal: [0, 1], motion: {type: servo, axis: [0, 1], stress: 1, "
          "area: 1}}\n",
     "5:41: walls[0].motion.mass: is missing (expected a number > 0)\n"},
    {HEAD "walls:\n- {type: plane, normal: [0, 1], motion: {type: servo, axis: [0, 1], stress: 1, "
          "mass: 1}}\n",
     "5:41: walls[0].motion: a servo needs the area its stress acts on (expected either area or "
     "spans)\n"},
    {HEAD "walls:\n- {type: plane, normal: [0, 1], motion: {type: table, rows: [[1, 0, 0], [1, 0, "
          "0]]}}\n",
     "5:73: walls[0].motion.rows: row 1 is not later than the row before (expected ascending "
     "times)\n"},
    {HEAD "walls:\n- {type: plane, normal: [0, 1], motion: {type: sine, velocity: [0, 1]}}\n",
     "5:41: walls[0].motion.frequency: is missing (expected a number >= 0)\n5:54: "
     "walls[0].motion.velocity: this key does not go with the 'type' chosen here (it belongs to "
     "type: velocity)\n"},
    {HEAD "walls:\n- {type: plane, normal: [0, 1], motion: {type: servo, velocity: 1, mass: 1, "
          "axis: [0, 1], stress: 1, area: 1}}\ngrains: [{type: list, velocity: [0, 0], items: "
          "[{position: [0, 1], radius: 1}]}]\n",
     "5:55: walls[0].motion.velocity: this key does not go with the 'type' chosen here (it belongs "
     "to type: velocity)\n"},

    // grains
    {HEAD "grains:\n- {type: chain, direction: [1, 0], count: 2, radius: -1}\n",
     "5:54: grains[0].radius: -1 is out of range (expected a number > 0)\n"},
    {HEAD "grains:\n- {type: chain, direction: [1, 0], count: 2}\n",
     "5:3: grains[0]: the grains have no size (expected either radius or diameter)\n"},
    {HEAD "grains:\n- {type: chain, direction: [1, 0], count: 2, radius: 1, material: steel}\n",
     "5:67: grains[0].material: there is no material named 'steel' (expected default)\n"},
    {HEAD "walls: [{name: floor, type: plane, normal: [0, 1]}]\ngrains:\n- {type: chain, "
          "direction: [1, 0], count: 2, radius: 1, glue: flor}\n",
     "6:63: grains[0].glue: there is no wall named 'flor'; did you mean 'floor'?\n"},
    {HEAD "grains:\n- {type: list, items: [{position: [0, 0]}]}\n",
     "5:24: grains[0].items[0].radius: is missing (expected a number > 0)\n"},
    {HEAD "grains:\n- {type: lattice, radius: 1, counts: [1e9, 1e9]}\n",
     "5:38: grains[0].counts: must be whole numbers (expected at least 1 each, at most 2147483647 "
     "in all)\n"},
    {HEAD "grains:\n- {type: csv, file: no_such.csv}\n",
     "5:21: grains[0].file: 'no_such.csv' cannot be read (expected a file; a relative path begins "
     "at the scene's folder)\n"},
    {HEAD "periodic: {x: [0, 1]}\ngrains:\n- {type: chain, direction: [0, 1], count: 2, radius: "
          "0.3}\n",
     "4:15: periodic.x: the cell is 1 long, too thin for grains of radius 0.3 (expected at least "
     "4.1 "
     "radii: 1.23)\n"},

    // overlaps, seen when the world is made
    {HEAD "grains:\n- type: list\n  radius: 1\n  items:\n  - {position: [0, 0]}\n  - {position: "
          "[1.5, 0]}\n",
     "9:5: grains[0].items[1]: grain 1 of this source overlaps grain 0 of grains[0] by 0.5 "
     "(expected no overlap, or allow_overlap: true)\n"},
    {HEAD "grains:\n- {type: chain, direction: [1, 0], count: 1, radius: 1}\n- {type: chain, "
          "direction: [1, 0], count: 2, radius: 1, gap: 0.1}\n",
     "6:3: grains[1]: grain 0 of this source overlaps grain 0 of grains[0] by 2 (expected no "
     "overlap, or allow_overlap: true)\n"},
    {HEAD "walls: [{name: floor, type: plane, normal: [0, 1]}]\ngrains:\n- {type: list, items: "
          "[{position: [0, 0.75], radius: 1}]}\n",
     "6:24: grains[0].items[0]: grain 0 of this source (radius 1) overlaps wall 'floor' by 0.25 "
     "(expected no overlap, or allow_overlap: true)\n"},
    {HEAD "domain: {low: [0, 0], high: [1, 1]}\ngrains:\n- {type: list, items: [{position: [0.5, "
          "2], radius: 0.1}]}\n",
     "6:24: grains[0].items[0]: grain 0 of this source is outside the domain: y = 2 (expected 0 to "
     "1)\n"},

    // shapes and blocks
    {HEAD "shapes: {a: {bx: [1, 1]}}\n",
     "4:13: shapes.a: has no form (expected one of box, points, regular, parts, random)\n4:14: "
     "shapes.a.bx: unknown key; did you mean 'box'?\n"},
    {HEAD "shapes: {a: {box: [1, 1], points: [[0, 0]]}}\n",
     "4:13: shapes.a: is given in several ways (expected one of box, points, regular, parts, "
     "random)\n"},
    {HEAD "shapes: {a: {box: [1, 0]}}\n",
     "4:19: shapes.a.box: has no size along y (expected edge lengths > 0)\n"},
    {HEAD "shapes: {a: {box: [1, 1, 1]}}\n",
     "4:19: shapes.a.box: has 3 entries (expected a list of 2 numbers)\n"},
    {HEAD "shapes: {a: {points: [[0, 0], [1, 0]]}}\n",
     "4:13: shapes.a: solid 'a': 2 points make no polygon: at least 3 are needed\n"},
    {HEAD "shapes: {a: {points: [[0, 0], [1, 1], [2, 2]]}}\n",
     "4:13: shapes.a: solid 'a': the points lie on one line\n"},
    {HEAD_3D "shapes: {a: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}}\n",
     "4:13: shapes.a: solid 'a': the points lie in one plane\n"},
    {HEAD "shapes: {a: {regular: {sides: 2, radius: 1}}}\n",
     "4:31: shapes.a.regular.sides: 2 does not fit (expected an integer from 3 to 1000)\n"},
    {HEAD "shapes: {a: {regular: {sides: 5}}}\n",
     "4:23: shapes.a.regular: how large? (expected either radius or edge)\n"},
    {HEAD_3D "shapes: {a: {regular: {sides: 5, radius: 1}}}\n",
     "4:23: shapes.a.regular.height: is missing (expected a number > 0)\n"},
    {HEAD_3D "shapes: {a: {regular: {faces: 7, radius: 1}}}\n",
     "4:31: shapes.a.regular.faces: no regular body has 7 (expected 4, 6, 8, 12 or 20)\n"},
    {HEAD "shapes: {a: {regular: {faces: 6, radius: 1}}}\n",
     "4:31: shapes.a.regular.faces: exist only in dimension 3 (expected sides)\n"},
    {HEAD "shapes: {a: {random: {vertices: 2}}}\n",
     "4:33: shapes.a.random.vertices: 2 does not fit (expected an integer from 3 to 1000)\n"},
    {HEAD "shapes: {a: {random: {aspect: [1, 0]}}}\n",
     "4:31: shapes.a.random.aspect: must be above 0 (expected the half axes' ratio)\n"},
    {HEAD "shapes: {a: {parts: []}}\n",
     "4:21: shapes.a.parts: is empty (expected a list of bodies)\n"},
    {HEAD "shapes: {a: {parts: [{box: [1, 1], at: [0]}]}}\n",
     "4:40: shapes.a.parts[0].at: has 1 entries (expected a list of 2 numbers)\n"},
    {HEAD "shapes: {ball: {box: [1, 1]}}\n",
     "4:16: shapes.ball: 'ball' is what grains without a shape are (expected another name)\n"},
    {HEAD "shapes: {a: {box: [1, 1], skin: -1}}\n",
     "4:33: shapes.a.skin: -1 is out of range (expected a number >= 0)\n"},
    {HEAD_3D "shapes: {a: {file: no.stl}}\n",
     "4:20: shapes.a.file: 'no.stl' cannot be read (expected a file; a relative path begins at the "
     "scene's folder)\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\nwalls:\n- {type: solid, shape: brik}\n",
     "6:24: walls[0].shape: there is no shape named 'brik'; did you mean 'brick'?\n"},
    {HEAD "shapes: {r: {random: {count: 3}}}\nwalls:\n- {type: solid, shape: r}\n",
     "6:24: walls[0].shape: 'r' has 3 variants (expected a single body, such as random with count: "
     "1)\n"},
    {HEAD "walls:\n- {type: solid}\n", "5:3: walls[0].shape: is missing (expected a text)\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\ngrains:\n- {type: chain, shape: brik, direction: [1, "
          "0], count: 2}\n",
     "6:24: grains[0].shape: there is no shape named 'brik'; did you mean 'brick'?\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\ngrains:\n- {type: chain, shape: brick, scale: 2, "
          "radius: 1, direction: [1, 0], count: 2}\n",
     "6:38: grains[0].scale: the size is given twice (expected scale, radius or diameter)\n"},
    {HEAD "grains:\n- {type: chain, radius: 1, scale: 2, direction: [1, 0], count: 2}\n",
     "5:35: grains[0].scale: needs a shape (expected shape besides it)\n"},
    {HEAD
     "grains:\n- {type: list, rotation: 30, scale: 2, items: [{position: [0, 0], radius: 1}]}\n",
     "5:26: grains[0].rotation: needs a shape (expected shape besides it)\n5:37: "
     "grains[0].scale: needs a shape (expected shape besides it)\n"},
    {HEAD "grains:\n- {type: list, items: [{position: [0, 0], radius: 1, scale: 2}]}\n",
     "5:61: grains[0].items[0].scale: needs a shape (expected shape besides it)\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\ngrains:\n- {type: list, shape: brik, items: [{position: "
          "[0, 0], rotation: 30}]}\n",
     "6:23: grains[0].shape: there is no shape named 'brik'; did you mean 'brick'?\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\ngrains:\n- {type: list, items: [{position: [0, 0], "
          "shape: brik}]}\n",
     "6:50: grains[0].items[0].shape: there is no shape named 'brik'; did you mean 'brick'?\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\ngrains:\n- {type: lattice, shape: brick, lattice: "
          "triangular, low: [0, 0], counts: [2, 2], spacing: [1, 1]}\n",
     "6:92: grains[0].spacing: differs along the axes only in a square lattice (expected a "
     "number)\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\ngrains:\n- {type: lattice, shape: brick, low: [0, 0], "
          "counts: [2, 1], spacing: [0.9, 1]}\n",
     "6:3: grains[0]: grain 1 of this source overlaps grain 0 of grains[0] by 0.1 (expected no "
     "overlap, or allow_overlap: true)\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\nwalls: [{name: floor, type: plane, normal: [0, "
          "1]}]\ngrains:\n- {type: lattice, shape: brick, low: [0, -0.25], counts: [1, 1], "
          "spacing: [1, 1]}\n",
     "7:3: grains[0]: grain 0 of this source (radius 0.707107) overlaps wall 'floor' by 0.25 "
     "(expected no overlap, or allow_overlap: true)\n"},
    {HEAD "shapes: {brick: {box: [1, 1]}}\nwalls: [{name: post, type: solid, shape: "
          "brick}]\ngrains:\n- {type: list, items: [{position: [0.9, 0], shape: brick}]}\n",
     "7:24: grains[0].items[0]: grain 0 of this source (radius 0.707107) overlaps wall 'post' by "
     "0.1 (expected no overlap, or allow_overlap: true)\n"},
    {HEAD "grains:\n- {type: list, items: [{polygon: [[0, 0], [1, 0]]}]}\n",
     "5:34: grains[0].items[0].polygon: solid 'grains[0].items[0]': 2 points make no polygon: at "
     "least 3 are needed\n"},
    {HEAD "grains:\n- {type: list, items: [{polyhedron: [[0, 0], [1, 0]]}]}\n",
     "5:37: grains[0].items[0].polyhedron: does not go with dimension 2 (expected polygon)\n"},
    {HEAD
     "grains:\n- {type: list, items: [{position: [0, 0], polygon: [[0, 0], [1, 0], [0, 1]]}]}\n",
     "5:35: grains[0].items[0].position: follows from the corners (expected to be left out)\n"},
    {HEAD "grains:\n- {type: voronoi, low: [0, 0], high: [1, 1]}\n",
     "5:3: grains[0].count: is missing (expected a number of blocks)\n"},
    {HEAD "grains:\n- {type: voronoi, low: [0, 0], high: [1, 1], count: 50, lloyd: 0, gap: 0.2}\n",
     "5:3: grains[0]: voronoi: a gap of 0.2 leaves nothing of a cell whose neighbour is near; use "
     "a smaller gap or lloyd: 1 or more\n"},
    {HEAD
     "grains:\n- {type: voronoi, name: q, low: [0, 0], high: [1, 1], count: 5}\n- {type: list, "
     "name: q, items: [{position: [9, 9], radius: 1}]}\n- {type: voronoi, name: q, low: [2, "
     "0], high: [3, 1], count: 5}\n",
     "7:25: grains[2].name: grains[0] is named 'q' too (expected a name of its own)\n"},
    {HEAD "grains:\n- {type: arch, radius: 1, thickness: 2, blocks: 10}\n",
     "5:38: grains[0].thickness: reaches beyond the centre (expected less than twice the "
     "radius)\n"},
    {HEAD_3D "grains:\n- {type: arch, radius: 1, thickness: 0.1, blocks: 10}\n",
     "5:3: grains[0].depth: is missing (expected a number > 0)\n"},
    {HEAD "grains:\n- {type: masonry, brick: [0.2, 0], bricks: 3, courses: 2}\n",
     "5:26: grains[0].brick: has no size along y (expected lengths > 0)\n"},
    {HEAD "grains:\n- {type: masonry, brick: [0.2, 0.1], bricks: 3, courses: 2, opening: {from: 1, "
          "to: 0, courses: 1}}\n",
     "5:84: grains[0].opening.to: is not beyond 'from' (expected from < to)\n"},
    {HEAD "grains:\n- {type: masonry, brick: [0.2, 0.1], bricks: 3, courses: 2, bottom: {glue: "
          "floor}}\n",
     "5:76: grains[0].bottom.glue: there is no wall named 'floor': the scene has none\n"},

    // phases
    {"dimension: 2\nstep: 1\nphases:\n- {name: a}\n",
     "4:3: phases[0].until: no end condition (expected until: with time, steps or "
     "kinetic_energy)\n"},
    {"dimension: 2\nstep: 1\nwalls: [{name: gate, type: plane, normal: [0, 1]}]\nphases:\n- "
     "{until: {time: 1}, remove: [gat]}\n",
     "5:31: phases[0].remove: there is no wall named 'gat'; did you mean 'gate'?\n"},
    {"dimension: 2\nstep: 1\nwalls: [{name: gate, type: plane, normal: [0, 1]}]\nphases:\n- "
     "{until: {time: 1}, remove: [gate]}\n- {until: {time: 1}, set_motion: {gate: {type: "
     "fixed}}}\n",
     "6:41: phases[1].set_motion.gate: wall 'gate' was removed before\n"},
    {"dimension: 2\nstep: 1\nphases:\n- {until: {hold: 1, time: 1}}\n",
     "4:18: phases[0].until.hold: goes only with kinetic_energy\n"},
    {HEAD "phases:\n- {until: {time: 1}}\n",
     "3:8: until: is given besides phases (expected until in each phase)\n"},
    {"dimension: 2\nstep: 1\nphases:\n- {until: {time: 1}}\ngrains:\n- {name: tap, type: inlet, "
     "radius: 0.1, low: [0, 0], high: [1, 1], rate: 1}\n",
     "6:3: grains[0]: inlet 'tap' is never opened (expected pour: [tap] in one of the phases)\n"},

    // one letter is no typo of another
    {HEAD "x: 1\n", "4:1: x: unknown key (known here: " TOP_KEYS ")\n"},

    // what people write who know other programs
    {HEAD "materials: {glass: {density: 2500,5}}\n",
     "4:35: materials.glass.5: unknown key (numbers are written with a decimal point, 2.5, not a "
     "comma)\n"},
    {HEAD "gravity: [0, 981cm]\n",
     "4:14: gravity[1]: '981cm' is not a number (expected a finite number); numbers are written "
     "without units (lengths in m, times in s, masses in kg)\n"},
    {HEAD "materials: {glass: {density: \"2500\"}}\n",
     "4:30: materials.glass.density: '2500' is not a number (expected a number > 0); without the "
     "quotes it would be one\n"},
    {HEAD
     "materials: {a: {density: 1}, b: {density: 2}}\npairs: [{between: [a, steel], friction: 0}]\n",
     "5:23: pairs[0].between: there is no material named 'steel' (expected a or b)\n"},
    {HEAD "grains: [{type: list, items: [{position: [0, 1], radius: 1, shape: brick}]}]\n",
     "4:68: grains[0].items[0].shape: there is no shape named 'brick': the scene has none\n"},
    {"dimension: 2\nstep: 1\nphases: [{until: {time: 1}, remove_walls: [a]}]\n",
     "3:29: phases[0].remove_walls: unknown key; did you mean 'remove'?\n"},
    {"dimension: 4\nstep: 1\nuntil: {time: 1}\ngravity: [0, 1]\n",
     "1:12: dimension: 4 does not fit (expected 2 or 3)\n"},
    {"dimension: 2\nstep: auto\nuntil: {time: 1}\n",
     "2:7: step: 'auto' cannot be settled: the scene has no grains (expected a number > 0)\n"},

    // inlets and walls
    {HEAD "walls: [{name: floor, type: plane, normal: [0, 1]}]\ngrains: [{name: tap, type: inlet, "
          "low: [0, -3], high: [1, -2], rate: 9, radius: 0.1}]\n",
     "5:10: grains[0]: the inlet lies behind wall 'floor', where no grain has room (expected low "
     "and high in front of it)\n"},
    {HEAD "walls: [{name: shelf, type: segment, from: [-1, 1], to: [2, 1]}]\ngrains: [{name: tap, "
          "type: inlet, low: [0, 0], high: [1, 2], rate: 9, radius: 0.1}]\n",
     "5:10: grains[0]: wall 'shelf' goes through the inlet: grains would appear on both sides of "
     "it "
     "(expected low and high on the same side)\n"},

    // several at once, in the order of the file
    {"dimension: 2\nstep: -1\nuntil: {tme: 1}\nwalls:\n- {type: plane, normal: [0, 0]}\noutput: "
     "{frames: x}\n",
     "2:7: step: -1 is out of range (expected a number > 0 or auto)\n"
     "3:9: until.tme: unknown key; did you mean 'time'?\n"
     "5:25: walls[0].normal: has no direction (expected a vector that is not zero)\n"
     "6:18: output.frames: 'x' is not a number (expected a number >= 0)\n"},
};

/// The report as one text, the file's name taken off the lines.
static void join_report(const talus_report* report, char* out, size_t size)
{
    size_t prefix = strlen(scene_path) + 1, used = 0;
    out[0] = '\0';
    for (int i = 0; i < report->count; i++) {
        const char* line = report->lines[i];
        if (strncmp(line, scene_path, prefix - 1) == 0) line += prefix;
        int written = snprintf(out + used, size - used, "%s\n", line);
        assert_true(written > 0 && (size_t)written < size - used);
        used += (size_t)written;
    }
}

static void test_bad_scenes(void** state)
{
    (void)state;
    int wrong = 0;
    char* seen = malloc(65536);
    for (size_t i = 0; i < sizeof bad_scenes / sizeof *bad_scenes; i++) {
        talus_report report = {0};
        write_scene(bad_scenes[i].text, strlen(bad_scenes[i].text));
        talus_status status = try_scene(NULL, 0, &report);
        join_report(&report, seen, 65536);
        if (status != TALUS_ERR_SCENE || strcmp(seen, bad_scenes[i].expected) != 0) {
            printf("FAIL scene:\n%s%s, reported:\n%sexpected:\n%s\n", bad_scenes[i].text,
                   talus_status_name(status), seen, bad_scenes[i].expected);
            wrong++;
        }
        talus_report_clear(&report);
    }
    free(seen);
    assert_int_equal(wrong, 0);
}

/// The same mistakes are none with the right flag, or with grains that cannot move.
static void test_allowed_overlap(void** state)
{
    (void)state;
    static const char* const texts[] = {
        HEAD "grains: [{type: list, allow_overlap: true, radius: 1, items: [{position: [0, 0]}, "
             "{position: [1, 0]}]}]\n",
        HEAD "grains: [{type: list, fixed: true, radius: 1, items: [{position: [0, 0]}, {position: "
             "[1, 0]}]}]\n",
        HEAD "walls: [{name: w, type: plane, normal: [0, 1]}]\ngrains: [{type: list, glue: w, "
             "radius: 1, items: [{position: [0, 0]}, {position: [1, 0]}]}]\n",
        // Touching is not overlapping, rounding included.
        HEAD "walls: [{name: w, type: plane, normal: [0, 1]}]\ngrains: [{type: chain, start: [0, "
             "0], direction: [0, 1], count: 50, radius: 0.1}]\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        talus_report report = {0};
        write_scene(texts[i], strlen(texts[i]));
        talus_status status = try_scene(NULL, 0, &report);
        for (int k = 0; k < report.count; k++) printf("%s\n", report.lines[k]);
        talus_report_clear(&report);
        assert_int_equal(status, TALUS_OK);
    }
}

static void test_bad_overrides(void** state)
{
    (void)state;
    static const char* const cases[][2] = {
        {"walls.flor.point=1", "walls.flor.point: the list has no item 'flor' (expected 0 or the "
                               "name of an item)"},
        {"walls[1].point=1", "walls[1].point: the list has no item '1' (expected 0 or the name "
                             "of an item)"},
        {"walls.floor.frictoin=1", "walls[0].frictoin: unknown key (known here: name, type, "
                                   "material, motion, rotation, point, normal)"},
        {"walls.floor.friction=0.3",
         "walls[0].friction: unknown key here; did you mean 'materials.<name>.friction'?"},
        {"walls.floor.normla=[0, 1]", "walls[0].normla: unknown key; did you mean 'normal'?"},
        {"step=abc", "step: 'abc' is not a number (expected a number > 0 or auto)"},
        {"step.x=2", "step.x: 'x' is not inside a map or list"},
        {"step", "not an override (expected key.path=value)"},
        {"=1", "not an override (expected key.path=value)"},
        {"solver..order=random", "solver..order: not a path (expected key.path=value)"},
        {"walls[0=1", "walls[0: not a path (expected key.path=value)"},
        {"drag=", "drag: the value is empty (expected key.path=value)"},
        {"drag=[1,", "YAML syntax: did not find expected node content, while parsing a flow node"},
    };
    static const char text[] = HEAD "walls: [{name: floor, type: plane, normal: [0, 1]}]\n";
    write_scene(text, strlen(text));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        talus_report report = {0};
        char expected[512];
        snprintf(expected, sizeof expected, "--set %s: %s", cases[i][0], cases[i][1]);
        assert_int_equal(try_scene(&cases[i][0], 1, &report), TALUS_ERR_SCENE);
        assert_int_equal(report.count, 1);
        assert_string_equal(report.lines[0], expected);
        talus_report_clear(&report);
    }
}

/// Grains that cannot fit into memory are refused at their key before any is made: the largest
/// count needs 2.4e12 bytes at 1.1 kB a disk.
static void test_too_many_grains(void** state)
{
    (void)state;
    static const char* const cases[][2] = {
        {"{type: chain, radius: 0.1, direction: [1, 0], count: 2147483647}",
         ":5:56: grains[0].count: 2147483647 grains do not fit into memory: they need about 2.4 "
         "TB"},
        {"{type: fill, radius: 0.1, region: {low: [0, 0], high: [1, 1]}, count: 2147483647}",
         ":5:73: grains[0].count: 2147483647 grains do not fit into memory: they need about 2.4 "
         "TB"},
        {"{type: lattice, radius: 0.1, counts: [40000, 50000]}",
         ":5:40: grains[0].counts: 2000000000 grains do not fit into memory: they need about 2.2 "
         "TB"},
        // 5e4 sites along each axis, and 0.75 1e8 / (pi 0.1^2) disks.
        {"{type: lattice, radius: 0.1, low: [0, 0], high: [1e4, 1e4]}",
         ":5:51: grains[0].high: 2500000000 grains do not fit into memory: they need about 2.8 TB"},
        {"{type: fill, radius: 0.1, region: {low: [0, 0], high: [1e4, 1e4]}, solid_fraction: 0.75}",
         ":5:86: grains[0].solid_fraction: 2387324146 grains do not fit into memory: they need "
         "about 2.6 TB"},
    };
    if (memory_limit() > 2.2e12) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        talus_report report = {0};
        snprintf(text, sizeof text, HEAD "grains:\n- %s\n", cases[i][0]);
        write_scene(text, strlen(text));
        assert_int_equal(try_scene(NULL, 0, &report), TALUS_ERR_SCENE);
        assert_int_equal(report.count, 1);
        if (!strstr(report.lines[0], cases[i][1])) {
            fail_msg("%s\nexpected ...%s", report.lines[0], cases[i][1]);
        }
        talus_report_clear(&report);
    }
}

static void test_files(void** state)
{
    (void)state;
    talus_scene* scene = NULL;
    talus_error error = {0};
    assert_int_equal(talus_scene_load("/no/such/file", NULL, 0, &scene, NULL, &error),
                     TALUS_ERR_IO);
    assert_null(scene);
    assert_int_equal(talus_scene_load("/tmp", NULL, 0, &scene, NULL, &error), TALUS_ERR_IO);
    write_scene(HEAD, strlen(HEAD));
    check_ok(talus_scene_load(scene_path, NULL, 0, &scene, NULL, &error), error);
    assert_int_equal(talus_scene_write(scene, "/no/such/folder/x", &error), TALUS_ERR_IO);
    talus_scene_destroy(scene);
}

// ---- hostile files -----------------------------------------------------------------------------

/// Deep nesting, aliases that multiply, very many mistakes: refused in bounded time and memory.
static void test_bombs(void** state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    char* text = malloc(SIZE);
    talus_report report = {0};
    memset(text, '[', SIZE);
    write_scene(text, SIZE);
    assert_int_equal(try_scene(NULL, 0, &report), TALUS_ERR_SCENE);
    talus_report_clear(&report);

    size_t used = 0;
    for (int i = 0; i < 9; i++) {
        used += (size_t)snprintf(text + used, SIZE - used, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) {
            used += (size_t)(i ? snprintf(text + used, SIZE - used, "*a%d,", i - 1)
                               : snprintf(text + used, SIZE - used, "1,"));
        }
        used += (size_t)snprintf(text + used, SIZE - used, "]\n");
    }
    write_scene(text, used);
    assert_int_equal(try_scene(NULL, 0, &report), TALUS_ERR_SCENE);
    assert_int_equal(report.count, 1);
    assert_non_null(strstr(report.lines[0], "too many values"));
    talus_report_clear(&report);

    used = (size_t)snprintf(text, SIZE, HEAD);
    for (int i = 0; i < 5000; i++) {
        used += (size_t)snprintf(text + used, SIZE - used, "key%d: 1\n", i);
    }
    write_scene(text, used);
    assert_int_equal(try_scene(NULL, 0, &report), TALUS_ERR_SCENE);
    assert_int_equal(report.count, 101); // a hundred, and how many more
    talus_report_clear(&report);
    free(text);
}

static size_t read_whole(const char* path, char* text, size_t size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t read = fread(text, 1, size, file);
    fclose(file);
    assert_true(read > 0 && read < size);
    return read;
}

static bool is_word(char c)
{
    return strchr(" \n,:[]{}", c) == NULL;
}

/// Put one word in the place of another: the syntax stays good, the meaning seldom does.
static size_t swap_words(rng* r, char* text, size_t size, size_t capacity)
{
    size_t at[2], length[2];
    for (int k = 0; k < 2; k++) {
        at[k] = rng_below(r, size);
        while (at[k] > 0 && is_word(text[at[k] - 1])) at[k]--;
        length[k] = 0;
        while (at[k] + length[k] < size && is_word(text[at[k] + length[k]])) length[k]++;
    }
    char word[64];
    if (length[1] > sizeof word || size + length[1] > capacity) return size;
    memcpy(word, text + at[1], length[1]);
    memmove(text + at[0] + length[1], text + at[0] + length[0], size - at[0] - length[0]);
    memcpy(text + at[0], word, length[1]);
    return size - length[0] + length[1];
}

/// Change, cut out, repeat or insert a few bytes.
static size_t mutate(rng* r, char* text, size_t size, size_t capacity)
{
    static const char* const spice[] = {"{",    "}",  "[",  "]", ": ",   ", ",    "- ", "\n", "\"",
                                        "'",    "&a", "*a", "#", "-1",   "1e308", "0",  "~",  "|",
                                        ".inf", "  ", "\t", "?", "true", "name",  "x+", "!t"};
    int edits = 1 + (int)rng_below(r, 4);
    for (int i = 0; i < edits && size > 2; i++) {
        size_t at = rng_below(r, size), length = 1 + rng_below(r, 12);
        if (length > size - at) length = size - at;
        const char* word = spice[rng_below(r, sizeof spice / sizeof *spice)];
        size_t more = strlen(word);
        switch (rng_below(r, 4)) {
        case 0: text[at] = (char)rng_below(r, 256); break;
        case 1:
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            break;
        case 2:
            if (size + length > capacity) break;
            memmove(text + at + length, text + at, size - at);
            size += length;
            break;
        default:
            if (size + more > capacity) break;
            memmove(text + at + more, text + at, size - at);
            memcpy(text + at, word, more);
            size += more;
        }
    }
    return size;
}

/// Only loading: a mutated count may ask for a billion grains, which is no mistake.
static void test_mutations(void** state)
{
    (void)state;
    enum { CAPACITY = 16384 };
    static const char* const seeds[] = {
        "tests/scenes/every_key_2d.yaml",     "tests/scenes/every_key_3d.yaml",
        "tests/scenes/every_shape_2d.yaml",   "tests/scenes/every_shape_3d.yaml",
        "tests/scenes/every_variant_2d.yaml", "tests/scenes/every_variant_3d.yaml"};
    char text[CAPACITY];
    int accepted = 0, refused = 0;
    for (int i = 0; i < test_count(3000, 500); i++) {
        rng r = rng_make(20240607, (uint64_t)i, 0);
        size_t size = read_whole(seeds[i % 2 + 2 * (i / 4 % 3)], text, CAPACITY);
        // Keys of the other dimension are mistakes that must be found as well.
        char* dimension = i % 5 == 0 ? memmem(text, size, "dimension: ", 11) : NULL;
        if (dimension) dimension[11] ^= '2' ^ '3';
        // Bytes try the syntax, words the schema.
        if (i % 4 < 2)
            size = mutate(&r, text, size, CAPACITY);
        else
            size = swap_words(&r, text, size, CAPACITY);
        write_scene(text, size);
        talus_scene* scene = NULL;
        talus_report report = {0};
        talus_error error = {0};
        talus_status status = talus_scene_load(scene_path, NULL, 0, &scene, &report, &error);
        assert_true(status == TALUS_OK || status == TALUS_ERR_SCENE);
        assert_true((status == TALUS_OK) == (report.count == 0));
        if (status == TALUS_OK)
            accepted++;
        else
            refused++;
        talus_report_clear(&report);
        talus_scene_destroy(scene);
    }
    printf("mutations: %d accepted, %d refused\n", accepted, refused);
    assert_true(accepted > 0 && refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_scenes),      cmocka_unit_test(test_allowed_overlap),
        cmocka_unit_test(test_bad_overrides),   cmocka_unit_test(test_files),
        cmocka_unit_test(test_too_many_grains), cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_mutations),
    };
    const char* source = getenv("TALUS_SOURCE");
    if (source && chdir(source) != 0) return 1;
    int file = mkstemp(scene_path);
    if (file < 0) return 1;
    close(file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(scene_path);
    return failed;
}
