/// Shapes in scenes: volumes of the bodies that can be named, sizes and places of the grains that
/// take them, files, and scenes without overlap by an independent test of separating axes.
#include "support.h"

#include "base/vec.h"
#include "scene/model.h"
#include "scene/shape_points.h"
#include "world/world.h"

#include <string.h>
#include <unistd.h>

static char scene_path[] = "/tmp/talus-test-shapes-XXXXXX";

#define HEAD(dim) "dimension: " #dim "\nstep: 0.01\nuntil: {time: 1}\nseed: 5\n"

static void write_text(const char* path, const char* text)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static talus_scene* load_file(const char* path)
{
    talus_scene* scene = NULL;
    talus_error error = {0};
    check_ok(talus_scene_load(path, NULL, 0, &scene, NULL, &error), error);
    return scene;
}

static talus_scene* load(const char* text)
{
    write_text(scene_path, text);
    return load_file(scene_path);
}

static talus_world* build(talus_scene* scene)
{
    talus_world* world = NULL;
    talus_error error = {0};
    check_ok(talus_scene_build(scene, NULL, &world, NULL, &error), error);
    return world;
}

static double volume_of(const talus_world* world, const char* name)
{
    talus_solid_state state;
    talus_error error = {0};
    check_ok(talus_world_solid(world, talus_world_find_solid(world, name), &state, &error), error);
    return state.volume;
}

/// Volumes by the formulas of the textbooks.
static void test_volumes(void** state)
{
    (void)state;
    talus_scene* scene =
        load(HEAD(3) "shapes:\n"
                     "  box: {box: [1, 2, 3]}\n"
                     "  tetrahedron: {regular: {faces: 4, edge: 2}}\n"
                     "  cube: {regular: {faces: 6, edge: 2}}\n"
                     "  octahedron: {regular: {faces: 8, edge: 2}}\n"
                     "  dodecahedron: {regular: {faces: 12, edge: 2}}\n"
                     "  icosahedron: {regular: {faces: 20, edge: 2}}\n"
                     "  prism: {regular: {sides: 5, radius: 2, height: 3}}\n"
                     "  round: {regular: {faces: 6, radius: 1}, skin: 0.5}\n"
                     "  both: {parts: [{box: [1, 1, 1]}, {box: [1, 1, 2], at: [1, 0, 0], rotation: "
                     "{axis: [1, 0, 0], angle: 90}}]}\n");
    talus_world* world = build(scene);
    const double tolerance = 1e-13; // of the value: rounding of some hundred operations
    const struct {
        const char* name;
        double expected;
    } cases[] = {
        {"box", 6.0},
        {"tetrahedron", 8.0 / (6.0 * sqrt(2.0))},
        {"cube", 8.0},
        {"octahedron", 8.0 * sqrt(2.0) / 3.0},
        {"dodecahedron", 8.0 * (15.0 + 7.0 * sqrt(5.0)) / 4.0},
        {"icosahedron", 8.0 * 5.0 * (3.0 + sqrt(5.0)) / 12.0},
        {"prism", 5.0 * 2.0 * sin(0.4 * M_PI) * 3.0},
        {"both", 3.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_close(cases[i].name, volume_of(world, cases[i].name), cases[i].expected,
                    tolerance * cases[i].expected, "rounding");
    }
    // Steiner: V + A s + pi L s^2/4 + 4/3 pi s^3, with L the length of the twelve edges.
    double a = 2.0 / sqrt(3.0), s = 0.5;
    double steiner =
        a * a * a + 6.0 * a * a * s + 0.25 * M_PI * 12.0 * a * s * s + 4.0 / 3.0 * M_PI * s * s * s;
    check_close("rounded cube", volume_of(world, "round"), steiner, tolerance * steiner,
                "rounding");
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/// Random bodies: as many as asked for, corners on the ellipsoid, its centre inside; the seed and
/// the name decide, nothing else.
static void test_random_bodies(void** state)
{
    (void)state;
    talus_scene* scene = load(
        HEAD(3) "shapes:\n  rock: {random: {vertices: 9, aspect: [1, 0.8, 0.5], radius: 2, count: "
                "30}}\n  same: {box: [1, 1, 1]}\n  other: {random: {vertices: 9, count: 30}}\n");
    const named_shape* rock = &scene->shapes.rows[0];
    assert_int_equal(rock->count, 30);
    double worst = 0.0;
    for (int i = 0; i < 30; i++) {
        const solid* s = &scene->shapes.solids.row[rock->first + i];
        assert_int_equal(s->part[0].vertex_count, 9);
        for (int v = 0; v < 9; v++) {
            double x[3], square = 0.0;
            const double axes[3] = {2.0, 1.6, 1.0};
            for (int k = 0; k < 3; k++) {
                x[k] = (s->part[0].vertex[3 * v + k] + s->centre[k]) / axes[k];
                square += x[k] * x[k];
            }
            worst = fmax(worst, fabs(square - 1.0));
        }
        for (int f = 0; f < s->part[0].face_count; f++) {
            double inside = s->part[0].offset[f] + vec_dot(3, s->part[0].normal + 3 * f, s->centre);
            assert_true(inside > 0.0);
        }
    }
    check_below("corners off the ellipsoid", worst, 1e-14, "rounding");
    talus_scene* again =
        load(HEAD(3) "shapes:\n  rock: {random: {vertices: 9, aspect: [1, 0.8, 0.5], radius: 2, "
                     "count: 2}}\n");
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(again->solids[i].def.points, scene->solids[i].def.points,
                            sizeof(double) * 27);
    }
    assert_true(
        memcmp(again->solids[0].def.points, again->solids[1].def.points, sizeof(double) * 27) != 0);
    talus_scene_destroy(again);
    talus_scene_destroy(scene);
}

/// Sizes by scale and by the ball, mass by volume, position by centre of mass.
static void test_list(void** state)
{
    (void)state;
    talus_scene* scene =
        load(HEAD(2) "materials: {stone: {density: 3}}\n"
                     "shapes: {brick: {box: [2, 1]}, r: {random: {count: 4}}}\n"
                     "grains:\n"
                     "- {type: list, items: [{position: [0, 0], shape: brick, scale: 2, rotation: "
                     "90}, {position: [10, 0], shape: brick, radius: 1}, {polygon: [[20, 0], [23, "
                     "0], [20, 3]]}, {position: [30, 0], radius: 1}]}\n"
                     "- {type: chain, shape: r, rotation: random, radius: 0.5, start: [0, 5], "
                     "direction: [1, 0], count: 40}\n");
    talus_world* world = build(scene);
    talus_grains g = talus_world_grains(world);
    check_close("mass of a scaled brick", g.mass[0], 3.0 * 8.0, 1e-14, "rounding");
    check_close("angle", g.rotation[0], 0.5 * M_PI, 1e-15, "rounding");
    check_close("radius of its ball", g.radius[0], sqrt(5.0), 1e-15, "rounding");
    check_close("radius as given", g.radius[1], 1.0, 1e-15, "rounding");
    check_close("its mass", g.mass[1], 3.0 * 2.0 * 4.0 / 5.0, 1e-14, "rounding");
    check_close("x of a triangle", g.position[4], 21.0, 1e-13, "rounding");
    check_close("y of a triangle", g.position[5], 1.0, 1e-14, "rounding");
    check_close("its mass", g.mass[2], 3.0 * 4.5, 1e-13, "rounding");
    assert_true(talus_solid_is_none(g.solid[3]));
    // All four variants come, each turned in its own way, each in its ball.
    int seen[4] = {0};
    for (int i = 4; i < 44; i++) {
        seen[g.solid[i].index - scene->shapes.rows[1].first]++;
        check_close("ball", g.radius[i], 0.5, 1e-15, "rounding");
        for (int j = 4; j < i; j++) assert_true(g.rotation[i] != g.rotation[j]);
    }
    for (int k = 0; k < 4; k++) assert_true(seen[k] > 0);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/// Boxes packed closely: the first touches the corner, the last fits, neighbours touch.
static void test_boxes(void** state)
{
    (void)state;
    talus_scene* scene =
        load(HEAD(3) "shapes: {brick: {box: [0.3, 0.2, 0.1]}}\n"
                     "walls: [{type: plane, normal: [0, 0, 1], point: [0, 0, 0.7]}]\n"
                     "grains:\n- {type: lattice, shape: brick, low: [1, 0, 0.7], high: [2.2, 0.6, "
                     "1.2], spacing: [0.3, 0.2, 0.1]}\n");
    talus_world* world = build(scene);
    talus_grains g = talus_world_grains(world);
    assert_int_equal(g.count, 4 * 3 * 5);
    check_close("first x", g.position[0], 1.15, 1e-15, "rounding");
    check_close("first z", g.position[2], 0.75, 1e-15, "rounding");
    check_close("last x", g.position[3 * 59], 2.05, 1e-15, "rounding");
    check_close("last z", g.position[3 * 59 + 2], 1.15, 1e-15, "rounding");
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

static void test_fill_and_inlet(void** state)
{
    (void)state;
    talus_scene* scene =
        load(HEAD(2) "materials: {stone: {density: 3}}\n"
                     "shapes: {r: {random: {vertices: 8, aspect: [1, 0.7], count: 6}}}\n"
                     "grains:\n"
                     "- {type: fill, shape: r, radius: {distribution: uniform, min: 0.01, max: "
                     "0.03}, rotation: random, region: {low: [0, 0], high: [1, 1]}, "
                     "solid_fraction: 0.25}\n"
                     "- {type: inlet, shape: r, radius: 0.02, rotation: random, low: [0, 2], high: "
                     "[4, 6], mass_rate: 1}\n");
    talus_world* world = build(scene);
    talus_grains g = talus_world_grains(world);
    double mass = 0.0;
    for (int64_t i = 0; i < g.count; i++) mass += g.mass[i];
    // Sizes are drawn until the expected volume is there: shapes spread it by some ten per cent
    // each, and there are more than 200 of them.
    check_close("solid fraction", mass / 3.0, 0.25, 0.01, "spread of the variants' volumes");
    int64_t before = g.count;
    talus_error error = {0};
    inlet_state tap = {0};
    for (int i = 0; i < 50; i++) check_ok(scene_pour(scene, 0, &tap, world, 0.01, &error), error);
    g = talus_world_grains(world);
    assert_int_equal(g.count - before, tap.poured);
    assert_true(tap.poured > 50);
    double poured = 0.0;
    for (int64_t i = before; i < g.count; i++) poured += g.mass[i];
    check_close("mass poured and owed", poured + tap.owed, 0.5, 1e-12, "rounding of 200 sums");
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/// A solid obstacle stands where its corners were given, unless its centre says otherwise.
static void test_walls(void** state)
{
    (void)state;
    talus_scene* scene =
        load(HEAD(2) "shapes: {ramp: {points: [[3, 0], [6, 0], [3, 3]]}}\n"
                     "walls:\n- {name: a, type: solid, shape: ramp}\n- {name: b, type: solid, "
                     "shape: ramp, center: [10, 1], rotation: 90}\n");
    talus_world* world = build(scene);
    talus_wall_state wall;
    talus_error error = {0};
    check_ok(talus_world_wall(world, (talus_wall_id){0}, &wall, &error), error);
    check_close("x by default", wall.position[0], 4.0, 1e-14, "rounding");
    check_close("y by default", wall.position[1], 1.0, 1e-14, "rounding");
    check_ok(talus_world_wall(world, (talus_wall_id){1}, &wall, &error), error);
    check_close("x as said", wall.position[0], 10.0, 0.0, "copied");
    assert_int_equal(wall.shape.kind, TALUS_SHAPE_SOLID);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/// Walls whose surface stands at x = 0 and acts towards larger x, each asked by a ball, a box and a
/// box on its edge that stand off by a millionth, or reach into it by as much.
static void test_walls_are_met_exactly(void** state)
{
    (void)state;
    static const struct {
        int dim;
        double y, z;
        const char* wall;
    } cases[] = {
        {2, 0, 0, "type: plane, normal: [1, 0]"},
        {2, 0, 0, "type: segment, from: [-0.1, -5], to: [-0.1, 5], thickness: 0.2"},
        {2, 0, 0, "type: box, low: [0, -5], high: [9, 5]"},
        {2, 0, 0, "type: box, low: [-3, -0.1], high: [0, 0.1], inside: false"},
        {2, 0, 0, "type: cylinder, center: [-0.2, 0], radius: 0.2, inside: false"},
        {2, 0, 0, "type: solid, shape: slab, center: [-1, 0]"},
        {3, 0, 0, "type: plane, normal: [1, 0, 0]"},
        {3, 0, 0, "type: plate, center: [0, 0, 0], edges: [[0, 5, 0], [0, 0, 5]]"},
        {3, 0, 0, "type: plate, center: [0, 0, 0], edges: [[0, 0.1, 0], [0, 0, 0.1]]"},
        {3, 0, 0, "type: box, low: [0, -5, -5], high: [9, 5, 5]"},
        {3, 0, 0, "type: box, low: [-3, -0.1, -0.1], high: [0, 0.1, 0.1], inside: false"},
        {3, 0, 0, "type: solid, shape: slab, center: [-1, 0, 0]"},
        {3, -5, 5, "type: mesh, scale: 10, rotation: {axis: [0, 0, 1], angle: 180}, file: "},
    };
    static const struct {
        const char* body;
        double reach;
    } bodies[] = {{"radius: 0.5", 0.5},
                  {"shape: cube", 0.5},
                  {"shape: cube, rotation: 45", 0.70710678118654752},
                  {"shape: cube, rotation: {axis: [0, 0, 1], angle: 45}", 0.70710678118654752}};
    char folder[512], spot[128], text[2048];
    assert_non_null(getcwd(folder, sizeof folder));
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 4 * 2; i++) {
        int dim = cases[i / 8].dim, body = (int)(i / 2 % 4);
        if (body == (dim == 2 ? 3 : 2)) continue; // the other dimension's way to say it
        double gap = i % 2 == 0 ? 1e-6 : -1e-6, x = bodies[body].reach + gap;
        bool deep = dim == 3, file = strstr(cases[i / 8].wall, "mesh") != NULL;
        if (deep)
            snprintf(spot, sizeof spot, "[%.17g, %g, %g]", x, cases[i / 8].y, cases[i / 8].z);
        else
            snprintf(spot, sizeof spot, "[%.17g, %g]", x, cases[i / 8].y);
        snprintf(text, sizeof text,
                 "dimension: %d\nstep: 1\nuntil: {time: 1}\nshapes: {cube: {box: [1, 1%s]}, slab: "
                 "{box: [2, 2%s]}}\nwalls: [{name: w, %s%s%s}]\ngrains: [{type: list, items: "
                 "[{position: %s, %s}]}]\n",
                 dim, deep ? ", 1" : "", deep ? ", 2" : "", cases[i / 8].wall, file ? folder : "",
                 file ? "/tests/scenes/rock.obj" : "", spot, bodies[body].body);
        talus_scene* scene = load(text);
        talus_world* world = NULL;
        talus_error error = {0};
        talus_status status = talus_scene_build(scene, NULL, &world, NULL, &error);
        if ((status == TALUS_OK) != (gap > 0.0)) fail_msg("%s\n%s", text, error.text);
        if (gap < 0.0 && !strstr(error.text, "overlaps wall 'w' by 1e-06")) {
            fail_msg("%s\n%s", text, error.text);
        }
        talus_world_destroy(world);
        talus_scene_destroy(scene);
    }
}

// ---- independent overlaps ----------------------------------------------------------------------

/// A part of a grain in the world.
typedef struct body {
    int64_t grain;
    int vertex_count, axis_count;
    double (*vertex)[3];
    double (*axis)[3]; ///< normals of faces, then directions of edges (3D)
    int face_axes;
    double skin;
} body;

static body make_body(const talus_world* world, const talus_grains* g, int64_t i, int part)
{
    const solid* s = &world->state.solids.row[g->solid[i].index];
    const polytope* p = &s->part[part];
    body b = {.grain = i, .vertex_count = p->vertex_count, .skin = g->scale[i] * s->skin};
    double q[4] = {0};
    if (g->dim == 2)
        quat_from_rotation(q, (double[3]){0.0, 0.0, g->rotation[i]});
    else
        memcpy(q, g->rotation + 4 * i, sizeof q);
    b.vertex = calloc((size_t)p->vertex_count, sizeof *b.vertex);
    b.axis = calloc((size_t)(p->face_count + p->edge_count), sizeof *b.axis);
    for (int v = 0; v < p->vertex_count; v++) {
        vec_copy(g->dim, b.vertex[v], p->vertex + v * g->dim);
        quat_rotate(b.vertex[v], q, b.vertex[v]);
        for (int k = 0; k < g->dim; k++) {
            b.vertex[v][k] = g->scale[i] * b.vertex[v][k] + g->position[i * g->dim + k];
        }
    }
    for (int f = 0; f < p->face_count; f++) {
        vec_copy(g->dim, b.axis[b.axis_count], p->normal + f * g->dim);
        quat_rotate(b.axis[b.axis_count], q, b.axis[b.axis_count]);
        b.axis_count++;
    }
    b.face_axes = b.axis_count;
    for (int e = 0; e < p->edge_count; e++) {
        vec_sub(3, b.axis[b.axis_count++], b.vertex[p->edge[4 * e]], b.vertex[p->edge[4 * e + 1]]);
    }
    return b;
}

/// Room between two bodies along an axis, either way.
static double room_along(const body* a, const body* b, const double axis[3], const double shift[3])
{
    double low_a = INFINITY, high_a = -INFINITY, low_b = INFINITY, high_b = -INFINITY;
    for (int v = 0; v < a->vertex_count; v++) {
        low_a = fmin(low_a, vec_dot(3, axis, a->vertex[v]));
        high_a = fmax(high_a, vec_dot(3, axis, a->vertex[v]));
    }
    double moved = vec_dot(3, axis, shift);
    for (int v = 0; v < b->vertex_count; v++) {
        low_b = fmin(low_b, vec_dot(3, axis, b->vertex[v]) + moved);
        high_b = fmax(high_b, vec_dot(3, axis, b->vertex[v]) + moved);
    }
    return fmax(low_b - high_a, low_a - high_b);
}

/// Largest room along any axis that can separate the bodies; negative: they overlap so deep.
static double separation(const body* a, const body* b, const double shift[3])
{
    double most = -INFINITY;
    for (int i = 0; i < a->face_axes; i++) most = fmax(most, room_along(a, b, a->axis[i], shift));
    for (int i = 0; i < b->face_axes; i++) most = fmax(most, room_along(a, b, b->axis[i], shift));
    for (int i = a->face_axes; i < a->axis_count; i++) {
        for (int j = b->face_axes; j < b->axis_count && most < 0.0; j++) {
            double axis[3];
            vec_cross(axis, a->axis[i], b->axis[j]);
            double norm = vec_norm(3, axis);
            if (norm < 1e-9 * vec_norm(3, a->axis[i]) * vec_norm(3, b->axis[j])) continue;
            for (int k = 0; k < 3; k++) axis[k] /= norm;
            most = fmax(most, room_along(a, b, axis, shift));
        }
    }
    return most - a->skin - b->skin;
}

static void check_no_overlaps(const char* path)
{
    talus_scene* scene = load_file(path);
    talus_world* world = build(scene);
    talus_grains g = talus_world_grains(world);
    body* bodies = calloc((size_t)g.count * 4, sizeof *bodies);
    int64_t count = 0, pairs = 0;
    for (int64_t i = 0; i < g.count; i++) {
        if (g.solid[i].index < 0) continue;
        int parts = world->state.solids.row[g.solid[i].index].part_count;
        for (int k = 0; k < parts; k++) bodies[count++] = make_body(world, &g, i, k);
    }
    double deepest = 0.0;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < i; j++) {
            int64_t a = bodies[i].grain, b = bodies[j].grain;
            double delta[3] = {0}, near[3], shift[3];
            if (a == b) continue;
            vec_sub(g.dim, delta, g.position + b * g.dim, g.position + a * g.dim);
            vec_copy(3, near, delta);
            cell_nearest(&world->state.cell, g.dim, near);
            vec_sub(3, shift, near, delta);
            if (vec_norm(3, near) > g.radius[a] + g.radius[b]) continue;
            pairs++;
            deepest = fmin(deepest, separation(&bodies[i], &bodies[j], shift));
        }
    }
    assert_true(pairs > 100);
    printf("%s: %lld pairs of parts are near\n", path, (long long)pairs);
    check_below("deepest overlap", -deepest, 1e-12, "rounding: the scene promises less than 1e-9");
    for (int64_t i = 0; i < count; i++) {
        free(bodies[i].vertex);
        free(bodies[i].axis);
    }
    free(bodies);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

static void test_no_overlaps(void** state)
{
    (void)state;
    check_no_overlaps("tests/scenes/every_shape_2d.yaml");
    check_no_overlaps("tests/scenes/every_shape_3d.yaml");
}

// ---- files -------------------------------------------------------------------------------------

static void test_files(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_scene* scene = load_file("tests/scenes/every_shape_3d.yaml");
    // Three shapes and a wall read the file, each for itself.
    assert_int_equal(scene_file_count(scene), 4);
    for (int i = 0; i < 4; i++) {
        assert_non_null(strstr(scene_file(scene, i), "/rock.obj"));
        check_ok(scene_name_file(scene, i, i == 2 ? "third.obj" : "copy.obj", &error), error);
    }
    check_ok(talus_scene_write(scene, scene_path, &error), error);
    talus_scene_destroy(scene);
    FILE* file = fopen(scene_path, "rb");
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(size > 0);
    assert_non_null(strstr(text, "third.obj"));
    assert_non_null(strstr(text, "copy.obj"));
    assert_null(strstr(text, "rock.obj"));

    // Groups are parts: the boot is not convex, its hull is larger.
    scene = load_file("tests/scenes/every_shape_3d.yaml");
    talus_world* world = build(scene);
    check_close("two boxes", volume_of(world, "boot"), 3e-3, 1e-17, "rounding");
    // Steiner again: an L of area 3.5 and perimeter 6 + sqrt 2, filled up and one deep.
    double s = 1e-3, perimeter = 6.0 + sqrt(2.0);
    double hull = 3.5 + (7.0 + perimeter) * s + (0.5 * M_PI * perimeter + M_PI) * s * s +
                  4.0 / 3.0 * M_PI * s * s * s;
    check_close("their hull", volume_of(world, "whole"), hull, 1e-13, "rounding");
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/// A mistake in a file is told with its line and with the scene's.
static void test_bad_file(void** state)
{
    (void)state;
    static const char broken[] = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 "
                                 "0 x\n";
    char path[] = "/tmp/talus-test-mesh-XXXXXX", text[512];
    assert_true(close(mkstemp(path)) == 0);
    write_text(path, broken);
    for (int wall = 0; wall < 2; wall++) {
        talus_scene* scene = NULL;
        talus_error error = {0};
        char where[256];
        if (wall)
            snprintf(text, sizeof text, HEAD(3) "walls:\n- {type: mesh, file: %s}\n", path);
        else
            snprintf(text, sizeof text, HEAD(3) "shapes:\n  a: {file: %s}\n", path);
        write_text(scene_path, text);
        assert_int_equal(talus_scene_load(scene_path, NULL, 0, &scene, NULL, &error),
                         TALUS_ERR_SCENE);
        snprintf(where, sizeof where, "%s:6:%d: %s.file: %s:5: ", scene_path, wall ? 22 : 13,
                 wall ? "walls[0]" : "shapes.a", path);
        assert_memory_equal(error.text, where, strlen(where));
    }
    unlink(path);
}

/// Columns of shapes, and what is wrong with them.
static void test_csv(void** state)
{
    (void)state;
    char csv[] = "/tmp/talus-test-csv-XXXXXX", text[512];
    assert_true(close(mkstemp(csv)) == 0);
    write_text(csv,
               "x y z shape scale qw qx qy qz\n0 0 0 brick 2 0.5 0.5 0.5 0.5\n9 0 0 brick 1 1 0 "
               "0 0\n");
    snprintf(text, sizeof text,
             HEAD(3) "shapes: {brick: {box: [3, 2, 1]}}\ngrains:\n- {type: csv, file: %s}\n", csv);
    talus_scene* scene = load(text);
    talus_world* world = build(scene);
    talus_grains g = talus_world_grains(world);
    assert_int_equal(g.count, 2);
    check_close("scale", g.scale[0], 2.0, 0.0, "copied");
    for (int k = 0; k < 4; k++) check_close("quaternion", g.rotation[k], 0.5, 1e-15, "rounding");
    talus_world_destroy(world);
    talus_scene_destroy(scene);

    static const char* const bad[][2] = {
        {"x y z shape\n0 0 0 brik\n", ":2: column 'shape': there is no shape named 'brik'"},
        {"x y z shape\n0 0 0 ball\n", ":2: a ball needs a radius"},
        {"x y z shape qw qx\n0 0 0 brick 1 0\n", ":1: give rx, ry, rz or all of qw, qx, qy, qz"},
        {"x y z shape angle\n0 0 0 brick 1\n", ":1: column 'angle' has no meaning in a 3D scene"},
        {"x y z shape qw qx qy qz\n0 0 0 brick 0 0 0 0\n", ":2: qw, qx, qy, qz are no rotation"},
        {"x y z radius scale\n0 0 0 1 1\n", ":1: give column 'scale' or 'radius', not both"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        talus_error error = {0};
        write_text(csv, bad[i][0]);
        scene = load(text);
        world = NULL;
        assert_int_equal(talus_scene_build(scene, NULL, &world, NULL, &error), TALUS_ERR_SCENE);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s", error.text);
        talus_scene_destroy(scene);
    }
    unlink(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_random_bodies),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_fill_and_inlet),
        cmocka_unit_test(test_walls),
        cmocka_unit_test(test_walls_are_met_exactly),
        cmocka_unit_test(test_no_overlaps),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_bad_file),
        cmocka_unit_test(test_csv),
    };
    const char* source = getenv("TALUS_SOURCE");
    if (source && chdir(source) != 0) return 1;
    if (close(mkstemp(scene_path)) != 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(scene_path);
    return failed;
}
