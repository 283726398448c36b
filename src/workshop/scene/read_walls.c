/// The section `walls`: shapes, given by the points and lengths natural to each.
///
/// A wall's position is the middle of its shape (a plane's: its point), about which `rotation`
/// turns it; angles are written in degrees.
#include "base/vec.h"
#include "geometry/shape.h"
#include "scene/mesh_file.h"
#include "scene/model.h"

#include <math.h>
#include <string.h>

/// Every grain is tested against every wall; grains can be glued into rough surfaces instead.
enum { WALLS_MAX = 10000 };

static const double zero[3] = {0};

/// Scale to length 1; false and a mistake if there is no direction in it.
static bool make_unit(section* s, const char* key, double v[3])
{
    double norm = vec_norm(3, v);
    if (!(norm > 0.0) || !isfinite(norm)) {
        section_mistake(s, key, "has no direction (expected a vector that is not zero)");
        return false;
    }
    for (int k = 0; k < 3; k++) v[k] /= norm;
    return true;
}

static void read_segment(section* s, int dim, talus_wall_def* def)
{
    double from[3] = {0}, to[3] = {0};
    if (dim != 2) {
        section_mistake(s, "type", "a segment exists only in dimension 2 (expected plate or box)");
    }
    bool good = read_vector(s, "from", from);
    good = read_vector(s, "to", to) && good;
    section_fill(s, talus_wall_def, def);
    for (int k = 0; k < 3; k++) {
        def->position[k] = 0.5 * (from[k] + to[k]);
        def->shape.edge_u[k] = 0.5 * (to[k] - from[k]);
    }
    if (good && vec_norm(3, def->shape.edge_u) == 0.0) {
        section_mistake(s, "to", "is the same point as 'from' (expected a segment with a length)");
    }
}

/// Three corners in a row, or centre and two whole edges.
static void read_plate(section* s, int dim, talus_wall_def* def)
{
    if (dim != 3) {
        section_mistake(s, "type", "a plate exists only in dimension 3 (expected segment)");
        return;
    }
    int rows;
    double* u = def->shape.edge_u;
    double* v = def->shape.edge_v;
    bool by_corners = section_has(s, "corners");
    const char* key = by_corners ? "corners" : "edges";
    if (by_corners) {
        const double* c = read_rows(s, "corners", &rows, NULL);
        if (c && rows != 3) section_mistake(s, key, "has %d points (expected 3 corners)", rows);
        if (!c || rows != 3) return;
        for (int k = 0; k < 3; k++) {
            def->position[k] = 0.5 * (c[k] + c[6 + k]);
            u[k] = 0.5 * (c[3 + k] - c[k]);
            v[k] = 0.5 * (c[6 + k] - c[3 + k]);
        }
    } else {
        read_vector_required(s, "center", def->position);
        const double* e = read_rows(s, "edges", &rows, NULL);
        if (!e || rows != 2) {
            section_mistake(s, key,
                            "needs two vectors (expected [[x, y, z], [x, y, z]], or "
                            "'corners')");
            return;
        }
        for (int k = 0; k < 3; k++) {
            u[k] = 0.5 * e[k];
            v[k] = 0.5 * e[3 + k];
        }
    }
    section_fill(s, talus_wall_def, def);
    double cross[3];
    vec_cross(cross, u, v);
    if (vec_norm(3, cross) <= 1e-12 * vec_norm(3, u) * vec_norm(3, v)) {
        section_mistake(s, key, "the plate has no area (expected edges that are not parallel)");
    }
}

/// Bits of the faces named in `open`; top and bottom are along the last axis.
static unsigned read_open_faces(section* s, int dim)
{
    const key_row* names = keys_find(s->keys, "open", "box", 3);
    const key_row* here = section_row(s, "open", KEY_TEXTS);
    unsigned up = dim == 2 ? TALUS_FACE_Y_LOW : TALUS_FACE_Z_LOW;
    const unsigned bits[] = {1, 2, 4, 8, 1, 2, up, 2 * up, 16, 32, 4, 8};
    unsigned faces = 0;
    int count;
    const char** open = read_texts(s, "open", &count);
    for (int i = 0; i < count; i++) {
        int face = section_find_name(s, "open", i, "face of a box", open[i], names->choices,
                                     names->choice_count);
        if (face >= here->choice_count)
            section_mistake(s, "open", "a box of dimension 2 has no face '%s'", open[i]);
        else if (face >= 0)
            faces |= bits[face];
    }
    return faces;
}

static void read_box(section* s, int dim, talus_wall_def* def)
{
    double low[3] = {0}, high[3] = {0}, size[3] = {0};
    const char* key = "high";
    bool good;
    if (section_has(s, "center") || section_has(s, "size")) {
        key = "size";
        good = read_vector_required(s, "center", def->position);
        good = read_vector_required(s, "size", size) && good;
    } else {
        good = read_vector_required(s, "low", low);
        good = read_vector_required(s, "high", high) && good;
        for (int k = 0; k < dim; k++) {
            def->position[k] = 0.5 * (low[k] + high[k]);
            size[k] = high[k] - low[k];
        }
    }
    for (int k = 0; k < dim; k++) {
        def->shape.half_size[k] = 0.5 * size[k];
        if (!good || size[k] > 0.0) continue;
        section_mistake(s, key, "the box has no size along %c (expected low < high, sizes > 0)",
                        'x' + k);
    }
    section_fill(s, talus_wall_def, def);
    def->shape.open_faces = read_open_faces(s, dim);
    if (def->shape.open_faces && !def->shape.inside) {
        section_mistake(s, "open", "goes only with inside: true");
    }
}

static void read_cone(section* s, int dim, talus_wall_def* def)
{
    if (dim != 3) {
        section_mistake(s, "type", "a cone exists only in dimension 3 (expected segment)");
        return;
    }
    cone_end ends[2] = {0};
    talus_shape_def* shape = &def->shape;
    for (int i = 0; i < 2; i++) {
        section end;
        section_open(&end, s, i == 0 ? "from" : "to");
        section_fill(&end, cone_end, &ends[i]);
        section_close(&end);
    }
    shape->radius = ends[0].radius;
    shape->radius_high = ends[1].radius;
    section_fill(s, talus_wall_def, def);
    for (int k = 0; k < 3; k++) {
        def->position[k] = 0.5 * (ends[0].point[k] + ends[1].point[k]);
        shape->axis[k] = ends[1].point[k] - ends[0].point[k];
    }
    shape->half_length = 0.5 * vec_norm(3, shape->axis);
    if (shape->half_length > 0.0) {
        make_unit(s, "to", shape->axis);
    } else if (read_vector_required(s, "axis", shape->axis)) {
        // A flat ring: both ends at one point, so the points give no axis.
        make_unit(s, "axis", shape->axis);
    }
    if (shape->half_length == 0.0 && shape->radius == shape->radius_high) {
        section_mistake(s, "to", "the cone has no surface (expected ends that differ)");
    }
}

/// A solid of the section `shapes`, by default where its points were given.
static void read_solid(talus_scene* scene, section* s, talus_wall_def* def)
{
    int shape = read_shape_name(scene, s, "shape");
    const named_shape* named = shape < 0 ? NULL : &scene->shapes.rows[shape];
    if (named && named->count > 1) {
        section_mistake(s, "shape",
                        "'%.60s' has %d variants (expected a single body, such as "
                        "random with count: 1)",
                        named->name, named->count);
    }
    bool good = named && named->count > 0;
    def->shape.solid.index = good ? named->first : 0;
    read_vector_or(s, "center", def->position,
                   good ? scene->shapes.solids.row[named->first].centre : zero);
}

/// Triangles of a file, about the point that the file takes for its origin.
static void read_mesh(talus_scene* scene, section* s, talus_wall_def* def)
{
    if (scene->world.dim != 3) {
        section_mistake(s, "type", "a mesh exists only in dimension 3 (expected solid or segment)");
        return;
    }
    const char* path = read_path(scene, s, "file");
    double scale = read_real(s, "scale");
    section_fill(s, talus_wall_def, def);
    triangles t;
    talus_error error = {0};
    if (!path) return;
    if (triangles_read(path, &t, &error) < 0) {
        section_mistake(s, "file", "%s", error.text);
        return;
    }
    double* corners = arena_take(&scene->arena, sizeof *corners * 9 * (size_t)t.triangle_count + 1);
    for (int64_t i = 0; corners && i < 3 * t.triangle_count; i++) {
        const double* x = t.vertex + 3 * t.triangle[i];
        for (int k = 0; k < 3; k++) corners[3 * i + k] = scale * x[k];
    }
    def->shape.triangles = corners;
    def->shape.triangle_count = t.triangle_count;
    triangles_free(&t);
}

void read_rotation(section* parent, int dim, double rotation[3])
{
    if (dim == 2) {
        rotation[2] = radians(read_real_or(parent, "rotation", 0.0));
        return;
    }
    if (!section_has(parent, "rotation")) return;
    section s;
    section_open(&s, parent, "rotation");
    double axis[3] = {0};
    bool good = read_vector_required(&s, "axis", axis) && make_unit(&s, "axis", axis);
    double angle = radians(read_real(&s, "angle"));
    for (int k = 0; good && k < 3; k++) rotation[k] = angle * axis[k];
    section_close(&s);
}

/// A plane must look the same from every image of the periodic cell.
static void check_plane_in_cell(const talus_scene* scene, section* s, const talus_wall_def* def)
{
    double q[4], normal[3];
    quat_from_rotation(q, def->rotation);
    quat_rotate(normal, q, def->shape.normal);
    for (int k = 0; k < scene->world.dim; k++) {
        if (!scene->world.periodic[k] || fabs(normal[k]) < 1e-9) continue;
        section_mistake(s, "normal",
                        "the plane crosses the periodic axis %c (expected a normal at right "
                        "angles to it, or an axis that is not periodic)",
                        'x' + k);
    }
}

/// A container that ends along an axis leaves nothing to wrap around.
static void check_box_in_cell(const talus_scene* scene, section* s, const talus_wall_def* def)
{
    for (int k = 0; k < scene->world.dim; k++) {
        unsigned both = 3u << (2 * k); // the two faces across axis k
        if (!scene->world.periodic[k] || !def->shape.inside) continue;
        if ((def->shape.open_faces & both) == both) continue;
        section_mistake(s, NULL,
                        "the box is closed along the periodic axis %c (expected open: [%c-, %c+])",
                        'x' + k, 'x' + k, 'x' + k);
    }
}

/// Returns whether the type is known and fits: else its keys cannot be judged.
static bool read_shape(talus_scene* scene, section* s, talus_wall_def* def)
{
    int dim = scene->world.dim;
    int type = read_choice(s, "type");
    def->shape = (talus_shape_def){.kind = type < 0 ? TALUS_SHAPE_PLANE : (talus_shape_kind)type};
    switch (type) {
    case TALUS_SHAPE_PLANE:
        section_fill(s, talus_wall_def, def);
        if (section_got(s, "normal")) make_unit(s, "normal", def->shape.normal);
        break;
    case TALUS_SHAPE_SEGMENT: read_segment(s, dim, def); break;
    case TALUS_SHAPE_PLATE: read_plate(s, dim, def); break;
    case TALUS_SHAPE_BOX: read_box(s, dim, def); break;
    case TALUS_SHAPE_CYLINDER:
        def->shape.axis[2] = 1.0; // a disk
        section_fill(s, talus_wall_def, def);
        if (dim == 3) make_unit(s, "axis", def->shape.axis);
        break;
    case TALUS_SHAPE_CONE: read_cone(s, dim, def); break;
    case TALUS_SHAPE_SOLID: read_solid(scene, s, def); break;
    case TALUS_SHAPE_MESH: read_mesh(scene, s, def); break;
    default: break;
    }
    read_rotation(s, dim, def->rotation);
    if (type == TALUS_SHAPE_PLANE) check_plane_in_cell(scene, s, def);
    if (type == TALUS_SHAPE_BOX) check_box_in_cell(scene, s, def);
    return type >= 0 && (dim == 3 || !read_choice_is_out(s, "type", type));
}

/// Names before anything else is read, because motions and glue refer to walls further down.
static bool scan_names(talus_scene* scene, const items* list)
{
    if (list->count > WALLS_MAX) {
        mistakes_add(&scene->mistakes, list->in->at, "walls",
                     "%d are too many (expected at most "
                     "%d)",
                     list->count, WALLS_MAX);
        return false;
    }
    size_t count = (size_t)list->count + 1;
    scene->walls = arena_take(&scene->arena, sizeof *scene->walls * count);
    scene->wall_names = arena_take(&scene->arena, sizeof *scene->wall_names * count);
    if (!scene->walls || !scene->wall_names) return false;
    for (int i = 0; i < list->count; i++) {
        const node* name = node_find(list->in->item[i], "name");
        bool given = name && name->kind == NODE_SCALAR && !node_is_null(name);
        scene->wall_names[i] = given ? name->text : arena_format(&scene->arena, "wall%d", i);
        if (!scene->wall_names[i]) return false;
        for (int j = 0; j < i; j++) {
            if (strcmp(scene->wall_names[i], scene->wall_names[j]) != 0) continue;
            mistakes_add(&scene->mistakes, given ? name->at : list->in->item[i]->at,
                         arena_format(&scene->arena, "walls[%d].name", i),
                         "'%.60s' is also the name of walls[%d] (expected a name of its own)",
                         scene->wall_names[i], j);
        }
    }
    scene->wall_count = list->count;
    return true;
}

void read_walls(talus_scene* scene, section* root)
{
    items list;
    items_open_list(&list, root, "walls");
    if (!scan_names(scene, &list)) return;
    for (int i = 0; i < list.count; i++) {
        section s, motion;
        scene_wall* wall = &scene->walls[i];
        talus_wall_def* def = &wall->def;
        *def = talus_wall_default();
        bool good = items_section(&list, i, &s, NULL);
        wall->origin = (scene_origin){s.at, s.path};
        if (!good) continue;
        def->name = read_text_or(&s, "name", scene->wall_names[i]);
        int before = scene->mistakes.count;
        bool known = read_shape(scene, &s, def);
        const char* material = read_text_or(&s, "material", scene->material_names[0]);
        def->material.index = section_find_name(&s, "material", 0, "material", material,
                                                scene->material_names, scene->material_count);
        bool given = section_open(&motion, &s, "motion");
        read_motion(scene, &motion, given, i, &def->drive);
        talus_error error;
        if (scene->mistakes.count == before &&
            shape_check(&def->shape, scene->world.dim, &error) < 0) {
            section_mistake(&s, NULL, "%s", error.text);
        }
        if (known) section_close(&s);
    }
    for (int i = 0; i < scene->wall_count; i++) {
        const scene_wall* wall = &scene->walls[i];
        check_motion(scene, wall->origin.at, wall->origin.path, &wall->def.drive);
    }
}
