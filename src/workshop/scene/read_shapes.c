/// The section `shapes`: names for bodies that are not balls.
///
/// A body is given by what is natural to it (edge lengths, corners, a file), which always ends as
/// the corners of convex parts, of which the hulls are taken.
#include "base/hash.h"
#include "base/vec.h"
#include "scene/mesh_file.h"
#include "scene/model.h"
#include "scene/shape_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_VARIANTS = 100000, MOST_CORNERS = 1000, TRIES = 1000 };

// ---- solids and files of a scene ---------------------------------------------------------------

int scene_add_solid(talus_scene* scene, section* s, const char* key, const talus_solid_def* def)
{
    solids* all = &scene->shapes.solids;
    if (all->count == scene->solid_capacity) {
        const int wanted = 2 * all->count + 16;
        if (!arena_grow(&scene->arena, &scene->solids, all->count, wanted, sizeof *scene->solids))
            return -1;
        scene->solid_capacity = wanted;
    }
    talus_error error = {0};
    int index = -1;
    if (solids_add(all, def, scene->world.dim, &index, &error) < 0) {
        section_mistake(s, key, "%s", error.text);
        return -1;
    }
    scene->solids[index] = (scene_solid){*def, {section_place(s, key), s->path}};
    return index;
}

int read_shape_name(talus_scene* scene, section* s, const char* key)
{
    const char* name = read_text(s, key);
    if (!name) return -1;
    return section_find_name(s, key, 0, "shape", name, scene->shapes.names, scene->shapes.count);
}

const char* read_path(talus_scene* scene, section* s, const char* key)
{
    const char* file = read_text(s, key);
    if (!file) return NULL;
    const char* path =
        file[0] == '/' ? file : arena_format(&scene->arena, "%s/%s", scene->folder, file);
    char* whole = path ? realpath(path, NULL) : NULL;
    const char* kept = NULL;
    bool room = scene->file_count < scene->file_capacity;
    if (!room) {
        const int wanted = 2 * scene->file_count + 16;
        room = arena_grow(&scene->arena, &scene->files, scene->file_count, wanted,
                          sizeof *scene->files);
        if (room) scene->file_capacity = wanted;
    }
    if (!whole || access(whole, R_OK) != 0) {
        section_mistake(s, key,
                        "'%.200s' cannot be read (expected a file; a relative path "
                        "begins at the scene's folder)",
                        file);
    } else if (room) {
        kept = arena_text(&scene->arena, whole, strlen(whole));
        // The effective scene lies in another folder: only a whole path still means the same file.
        node* named = node_scalar(&scene->arena, whole, true);
        node_put(&scene->arena, s->out, key, (place){0}, named);
        if (kept && named) scene->files[scene->file_count++] = (scene_named_file){kept, named};
    }
    free(whole);
    return kept;
}

// ---- corners of a body -------------------------------------------------------------------------

/// Corners of the parts read so far, in the arena.
typedef struct corners {
    talus_scene* scene;
    int dim;
    double* points; ///< [count][dim]
    int count, capacity;
    int* sizes; ///< [parts] corners of each
    int parts, part_capacity;
} corners;

/// Add a part.
static void add_part(corners* c, const double* points, int count)
{
    arena* a = &c->scene->arena;
    if (c->parts == c->part_capacity) {
        const int wanted = 2 * c->parts + 16;
        if (!arena_grow(a, &c->sizes, c->parts, wanted, sizeof *c->sizes)) return;
        c->part_capacity = wanted;
    }
    if (c->count + count > c->capacity) {
        const int wanted = 2 * (c->count + count);
        const size_t row = sizeof *c->points * (size_t)c->dim;
        if (!arena_grow(a, &c->points, c->count, wanted, row)) return;
        c->capacity = wanted;
    }
    double* at = c->points + c->count * c->dim;
    memcpy(at, points, sizeof *at * (size_t)(count * c->dim));
    c->sizes[c->parts++] = count;
    c->count += count;
}

static void read_box(section* s, corners* c)
{
    double size[3] = {0}, points[POINTS_ROOM];
    if (!read_vector(s, "box", size)) return;
    for (int k = 0; k < c->dim; k++) {
        if (size[k] > 0.0) continue;
        section_mistake(s, "box", "has no size along %c (expected edge lengths > 0)", 'x' + k);
        return;
    }
    add_part(c, points, points_box(c->dim, size, points));
}

/// Circumradius, given as it is or by the edge; `edge` is that of radius 1.
static double read_regular_radius(section* s, double edge)
{
    bool by_edge = section_has(s, "edge");
    if (by_edge == section_has(s, "radius")) {
        section_mistake(s, by_edge ? "edge" : NULL, "how large? (expected either radius or edge)");
        return 1.0;
    }
    if (by_edge) return read_real_required(s, "edge") / edge;
    return read_real_required(s, "radius");
}

static void read_platonic(section* s, corners* c)
{
    double points[POINTS_ROOM];
    int64_t given = 6;
    read_integer_optional(s, "faces", &given);
    const int faces = (int)given;
    double radius = read_regular_radius(s, points_platonic_edge(faces));
    int count = points_platonic(faces, radius, points);
    if (count == 0) {
        section_mistake(s, "faces", "no regular body has %d (expected 4, 6, 8, 12 or 20)", faces);
    } else if (c->dim == 2) {
        section_mistake(s, "faces", "exist only in dimension 3 (expected sides)");
    } else {
        add_part(c, points, count);
    }
}

static void read_polygon(section* s, corners* c)
{
    double points[6 * MOST_CORNERS];
    if (!section_has(s, "sides")) {
        if (section_misspells(s, "sides")) return;
        section_mistake(s, NULL, "sides: is missing (expected the number of sides%s)",
                        c->dim == 3 ? " of a prism, or faces" : "");
        return;
    }
    int64_t given = 3;
    read_integer_optional(s, "sides", &given);
    const int sides = (int)given;
    double radius = read_regular_radius(s, points_polygon_edge(sides));
    double height = c->dim == 3 ? read_real_required(s, "height") : 0.0;
    add_part(c, points, points_prism(c->dim, sides, radius, height, points));
}

/// Corners of the triangles of one group, or of all for group -1.
static void add_group(corners* c, const triangles* t, int group, double scale, double* room)
{
    int count = 0;
    for (int64_t i = 0; i < t->triangle_count; i++) {
        if (group >= 0 && t->group[i] != group) continue;
        for (int k = 0; k < 3; k++) {
            const double* x = t->vertex + 3 * t->triangle[3 * i + k];
            for (int j = 0; j < 3; j++) room[3 * count + j] = scale * x[j];
            count++;
        }
    }
    if (count > 0) add_part(c, room, count);
}

/// The hull of a file's corners, or one for each of its groups.
static void read_body_file(section* s, corners* c)
{
    double scale = read_real(s, "scale");
    bool groups = read_choice_or(s, "parts", 0) == 1;
    if (c->dim != 3) {
        section_mistake(s, "file", "holds a body of dimension 3 (expected points)");
        return;
    }
    const char* path = read_path(c->scene, s, "file");
    if (!path) return;
    triangles t;
    talus_error error = {0};
    if (triangles_read(path, &t, &error) < 0) {
        section_mistake(s, "file", "%s", error.text);
        return;
    }
    double* room = arena_take(&c->scene->arena, sizeof *room * 9 * (size_t)t.triangle_count + 1);
    for (int g = 0; room && groups && g < t.group_count; g++) add_group(c, &t, g, scale, room);
    if (room && !groups) add_group(c, &t, -1, scale, room);
    triangles_free(&t);
}

/// One of the ways to say a convex body; `others` names what else could stand there.
static void read_convex(section* s, corners* c, const char* others)
{
    bool box = section_has(s, "box"), points = section_has(s, "points");
    bool regular = section_has(s, "regular"), file = section_has(s, "file");
    int ways = box + points + regular + file;
    if (ways != 1) {
        section_mistake(s, NULL, "%s (expected one of box, points, regular%s%s)",
                        ways > 0 ? "is given in several ways" : "has no form", others,
                        c->dim == 3 ? " or file" : "");
        return;
    }
    if (box) read_box(s, c);
    if (points) {
        int rows;
        const double* given = read_rows(s, "points", &rows, NULL);
        if (given) add_part(c, given, rows);
    }
    if (regular) {
        section body;
        section_open(&body, s, "regular");
        if (section_has(&body, "faces"))
            read_platonic(&body, c);
        else
            read_polygon(&body, c);
        section_close(&body);
    }
    if (file) read_body_file(s, c);
}

static void read_parts(section* parent, corners* c)
{
    items list;
    items_open_list(&list, parent, "parts");
    if (list.count == 0) section_mistake(parent, "parts", "is empty (expected a list of bodies)");
    for (int i = 0; i < list.count; i++) {
        section s;
        if (!items_section(&list, i, &s, NULL)) continue;
        double at[3] = {0}, rotation[3] = {0};
        int first = c->count;
        read_convex(&s, c, "");
        read_vector(&s, "at", at);
        read_rotation(&s, c->dim, rotation);
        section_close(&s);
        double q[4];
        quat_from_rotation(q, rotation);
        for (int k = first; k < c->count; k++) {
            double v[3] = {0}, *x = c->points + k * c->dim;
            vec_copy(c->dim, v, x);
            quat_rotate(v, q, v);
            for (int j = 0; j < c->dim; j++) x[j] = v[j] + at[j];
        }
    }
}

// ---- shapes ------------------------------------------------------------------------------------

/// Draw points until their hull holds the ellipsoid's centre: else they were all on one side.
/// Returns false if memory is short or, which many tries make impossible in practice, none does.
static bool draw_hull(talus_scene* scene, const random_shapes* d, const talus_solid_def* def,
                      rng* r, double* points)
{
    int dim = scene->world.dim;
    for (int i = 0; i < TRIES; i++) {
        solid trial;
        points_ellipsoid(dim, d->corners, d->half_axes, r, points);
        if (solid_make(def, dim, &trial, NULL) < 0) continue;
        double origin[3], normal[3];
        int32_t feature;
        for (int k = 0; k < 3; k++) origin[k] = -trial.centre[k];
        bool good = polytope_point(&trial.part[0], origin, normal, &feature) < 0.0;
        solid_free(&trial);
        if (good) return true;
    }
    return false;
}

static void read_random(talus_scene* scene, section* s, named_shape* shape, double skin)
{
    section random;
    section_open(&random, s, "random");
    random_shapes d = {.seed = scene->world.seed};
    section_fill(&random, random_shapes, &d);
    for (int k = 0; k < scene->world.dim; k++) {
        if (!(d.half_axes[k] > 0.0)) {
            section_mistake(&random, "aspect", "must be above 0 (expected the half axes' ratio)");
            d.half_axes[k] = 1.0;
        }
        d.half_axes[k] *= d.radius; // they are given in units of it
    }
    section_close(&random);
    uint64_t key = hash_bytes(HASH_START, shape->name, strlen(shape->name));
    shape->first = scene->shapes.solids.count;
    for (int i = 0; i < d.count; i++) {
        size_t doubles = (size_t)(d.corners * scene->world.dim);
        double* points = arena_take(&scene->arena, sizeof *points * doubles);
        const char* name = arena_format(&scene->arena, "%s#%d", shape->name, i);
        if (!points || !name) return;
        talus_solid_def def = talus_solid_default();
        def.name = name;
        def.points = points;
        def.point_count = d.corners;
        def.skin = skin;
        rng r = rng_make(d.seed, key, (uint64_t)i);
        if (!draw_hull(scene, &d, &def, &r, points)) {
            section_mistake(s, "random", "no body came out of %d draws (expected more vertices)",
                            TRIES);
            return;
        }
        if (scene_add_solid(scene, s, "random", &def) < 0) return;
    }
    shape->count = d.count;
}

static void read_shape(talus_scene* scene, section* s, named_shape* shape)
{
    double skin = read_real(s, "skin");
    if (strcmp(shape->name, "ball") == 0) {
        section_mistake(s, NULL,
                        "'ball' is what grains without a shape are (expected another "
                        "name)");
    }
    const bool random = section_has(s, "random");
    corners c = {.scene = scene, .dim = scene->world.dim};
    int before = scene->mistakes.count;
    if (random)
        read_random(scene, s, shape, skin);
    else if (section_has_kind(s, "parts", NODE_LIST))
        read_parts(s, &c);
    else
        read_convex(s, &c, ", parts, random");
    if (!random && scene->mistakes.count == before && c.points) {
        talus_solid_def def = talus_solid_default();
        def.name = shape->name;
        def.points = c.points;
        def.point_count = c.count;
        def.part_sizes = c.sizes;
        def.part_count = c.parts;
        def.skin = skin;
        shape->first = scene_add_solid(scene, s, NULL, &def);
        shape->count = shape->first >= 0;
        if (shape->first < 0) shape->first = 0;
    }
    section_close(s);
}

void read_shapes(talus_scene* scene, section* root)
{
    if (!section_has(root, "shapes")) return;
    items map;
    items_open_map(&map, root, "shapes");
    size_t count = (size_t)map.count + 1;
    shape_table* t = &scene->shapes;
    t->rows = arena_take(&scene->arena, sizeof *t->rows * count);
    t->names = arena_take(&scene->arena, sizeof *t->names * count);
    if (!t->rows || !t->names) return;
    for (int i = 0; i < map.count; i++) {
        section s;
        const char* name = NULL;
        bool good = items_section(&map, i, &s, &name);
        t->rows[i] = (named_shape){.name = name};
        t->names[i] = name;
        t->count = i + 1;
        if (good) read_shape(scene, &s, &t->rows[i]);
    }
}
