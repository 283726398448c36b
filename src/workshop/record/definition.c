/// Definitions of worlds in HDF5: a group with a dataset for each kind of thing.
///
/// Numbers that point elsewhere (materials, shapes, rows of points) are checked before anybody
/// follows them, and whatever the engine checks when a world is made by hand it checks here too.
#include "record/definition.h"

#include "base/error.h"
#include "record/fields_h5.h"
#include "record/h5.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define DEFINITION_GROUP "definition"

// ---- fields ------------------------------------------------------------------------------------

static const stored_field solver_fields[] = {
    FIELD(talus_solver_def, method),
    FIELD(talus_solver_def, order),
    FIELD(talus_solver_def, stop),
    FIELD(talus_solver_def, tolerance),
    FIELD(talus_solver_def, cutoff),
    FIELD(talus_solver_def, max_sweeps),
    FIELD(talus_solver_def, warm_start),
    FIELD(talus_solver_def, push_out_overlap),
    FIELD(talus_solver_def, separate_overlaps),
    FIELD(talus_solver_def, vector),
    FIELD(talus_solver_def, precision),
};
static const stored_fields solver_list = FIELD_LIST(talus_solver_def, solver_fields);

static const stored_field soft_fields[] = {
    FIELD(talus_soft_def, integrator), FIELD(talus_soft_def, elongation),
    FIELD(talus_soft_def, law),        FIELD(talus_soft_def, bound),
    FIELD(talus_soft_def, vector),
};
static const stored_fields soft_list = FIELD_LIST(talus_soft_def, soft_fields);

static const stored_field option_fields[] = {
    FIELD(talus_world_def, dim),
    FIELD(talus_world_def, gravity),
    FIELD(talus_world_def, periodic),
    FIELD(talus_world_def, cell_low),
    FIELD(talus_world_def, cell_high),
    FIELD(talus_world_def, has_domain),
    FIELD(talus_world_def, domain_low),
    FIELD(talus_world_def, domain_high),
    FIELD(talus_world_def, drag),
    FIELD(talus_world_def, on_unconverged),
    FIELD(talus_world_def, on_escape),
    FIELD(talus_world_def, on_nan),
    FIELD(talus_world_def, on_coarse),
    FIELD(talus_world_def, retry_depth),
    FIELD(talus_world_def, seed),
    FIELD(talus_world_def, threads),
    FIELD(talus_world_def, method),
    FIELD_OWN(talus_world_def, solver, &solver_list),
    FIELD_OWN(talus_world_def, soft, &soft_list),
};
static const stored_fields option_list = FIELD_LIST(talus_world_def, option_fields);

static const stored_field soft_pair_fields[] = {
    FIELD(talus_soft_pair_def, stiffness), FIELD(talus_soft_pair_def, stiffness_ratio),
    FIELD(talus_soft_pair_def, damping),   FIELD(talus_soft_pair_def, damping_ratio),
    FIELD(talus_soft_pair_def, young),     FIELD(talus_soft_pair_def, poisson),
};
static const stored_fields soft_pair_list = FIELD_LIST(talus_soft_pair_def, soft_pair_fields);

static const stored_field pair_fields[] = {
    FIELD(talus_pair_def, friction),        FIELD(talus_pair_def, dynamic_friction),
    FIELD(talus_pair_def, restitution),     FIELD(talus_pair_def, tangential_restitution),
    FIELD(talus_pair_def, rolling_kind),    FIELD(talus_pair_def, rolling),
    FIELD(talus_pair_def, torsion),         FIELD(talus_pair_def, cohesion_force),
    FIELD(talus_pair_def, cohesion_energy), FIELD_OWN(talus_pair_def, soft, &soft_pair_list),
};
static const stored_fields pair_list = FIELD_LIST(talus_pair_def, pair_fields);

/// A row of the solids; their names, points and sizes of parts are lists of their own.
typedef struct solid_row {
    int64_t first_point, first_part;
    int32_t points, parts;
    double skin;
} solid_row;

static const stored_field solid_fields[] = {
    FIELD(solid_row, first_point), FIELD(solid_row, first_part), FIELD(solid_row, points),
    FIELD(solid_row, parts),       FIELD(solid_row, skin),
};
static const stored_fields solid_list = FIELD_LIST(solid_row, solid_fields);

static const stored_field shape_fields[] = {
    FIELD(talus_shape_def, kind),        FIELD(talus_shape_def, inside),
    FIELD(talus_shape_def, normal),      FIELD(talus_shape_def, edge_u),
    FIELD(talus_shape_def, edge_v),      FIELD(talus_shape_def, half_size),
    FIELD(talus_shape_def, open_faces),  FIELD(talus_shape_def, axis),
    FIELD(talus_shape_def, radius),      FIELD(talus_shape_def, radius_high),
    FIELD(talus_shape_def, half_length), FIELD(talus_shape_def, skin),
    FIELD(talus_shape_def, solid.index), FIELD(talus_shape_def, triangle_count),
};
static const stored_fields shape_list = FIELD_LIST(talus_shape_def, shape_fields);

static const stored_field drive_fields[] = {
    FIELD(talus_drive_def, kind),
    FIELD(talus_drive_def, velocity),
    FIELD(talus_drive_def, spin),
    FIELD(talus_drive_def, pivot),
    FIELD(talus_drive_def, has_pivot),
    FIELD(talus_drive_def, amplitude),
    FIELD(talus_drive_def, spin_amplitude),
    FIELD(talus_drive_def, frequency),
    FIELD(talus_drive_def, phase),
    FIELD(talus_drive_def, table_rows),
    FIELD(talus_drive_def, mass),
    FIELD(talus_drive_def, free_axes),
    FIELD(talus_drive_def, force),
    FIELD(talus_drive_def, weight),
    FIELD(talus_drive_def, damping),
    FIELD(talus_drive_def, servo_axis),
    FIELD(talus_drive_def, stress),
    FIELD(talus_drive_def, area),
    FIELD(talus_drive_def, span_count),
    FIELD_ENTRY(talus_drive_def, span_wall, FIELD_I32, NULL),
};
static const stored_fields drive_list = FIELD_LIST(talus_drive_def, drive_fields);

/// A row of the walls; names, triangles and tables of motions are lists of their own.
typedef struct wall_row {
    talus_shape_def shape;
    talus_drive_def drive;
    int32_t material;
} wall_row;

static const stored_field wall_fields[] = {
    FIELD_OWN(wall_row, shape, &shape_list),
    FIELD_OWN(wall_row, drive, &drive_list),
    FIELD(wall_row, material),
};
static const stored_fields wall_list = FIELD_LIST(wall_row, wall_fields);

// ---- writing -----------------------------------------------------------------------------------

static bool write_materials(hid_t group, const materials* m)
{
    return h5_write_texts(group, "material_names", m->count, m->name) &&
           fields_write(group, "pairs", &pair_list, (int64_t)m->count * m->count, m->pair);
}

static bool write_solids(hid_t group, const solids* all, int dim)
{
    int64_t points = 0, parts = 0;
    for (int i = 0; i < all->count; i++) {
        points += all->row[i].point_count;
        parts += all->row[i].part_count;
    }
    const size_t n = (size_t)all->count + 1, width = (size_t)dim;
    char** name = malloc(sizeof *name * n);
    solid_row* row = calloc(n, sizeof *row);
    double* point = malloc(sizeof *point * ((size_t)points * width + 1));
    int32_t* size = malloc(sizeof *size * ((size_t)parts + 1));
    bool good = name && row && point && size;
    points = parts = 0;
    for (int i = 0; good && i < all->count; i++) {
        const solid* s = &all->row[i];
        name[i] = s->name;
        row[i] = (solid_row){points, parts, s->point_count, s->part_count, s->skin};
        memcpy(point + (size_t)points * width, s->points,
               sizeof *point * (size_t)s->point_count * width);
        memcpy(size + parts, s->part_sizes, sizeof *size * (size_t)s->part_count);
        points += s->point_count;
        parts += s->part_count;
    }
    good = good && h5_write_texts(group, "solid_names", all->count, name) &&
           fields_write(group, "solids", &solid_list, all->count, row) &&
           h5_write(group, "solid_points", COLUMN_F64, points, dim, point, false) &&
           h5_write(group, "solid_part_sizes", COLUMN_I32, parts, 1, size, false);
    free(name);
    free(row);
    free(point);
    free(size);
    return good;
}

static bool write_walls(hid_t group, const walls* w)
{
    int64_t faces = 0, rows = 0;
    for (int64_t i = 0; i < w->count; i++) {
        if (w->record[i].triangles) faces += w->record[i].shape.triangle_count;
        if (w->record[i].table) rows += w->record[i].drive.table_rows;
    }
    char** name = malloc(sizeof *name * ((size_t)w->count + 1));
    wall_row* row = calloc((size_t)w->count + 1, sizeof *row);
    double* triangle = malloc(sizeof *triangle * (9 * (size_t)faces + 1));
    double* table = malloc(sizeof *table * (7 * (size_t)rows + 1));
    bool good = name && row && triangle && table;
    faces = rows = 0;
    for (int64_t i = 0; good && i < w->count; i++) {
        const wall_record* r = &w->record[i];
        name[i] = r->name;
        row[i] = (wall_row){r->shape, r->drive, r->material};
        if (r->triangles) {
            memcpy(triangle + 9 * faces, r->triangles,
                   sizeof *triangle * 9 * (size_t)r->shape.triangle_count);
            faces += r->shape.triangle_count;
        } else {
            row[i].shape.triangle_count = 0;
        }
        if (r->table) {
            memcpy(table + 7 * rows, r->table, sizeof *table * 7 * (size_t)r->drive.table_rows);
            rows += r->drive.table_rows;
        } else {
            row[i].drive.table_rows = 0;
        }
    }
    good = good && h5_write_texts(group, "wall_names", w->count, name) &&
           fields_write(group, "walls", &wall_list, w->count, row) &&
           h5_write(group, "wall_triangles", COLUMN_F64, faces, 9, triangle, false) &&
           h5_write(group, "wall_tables", COLUMN_F64, rows, 7, table, false);
    free(name);
    free(row);
    free(triangle);
    free(table);
    return good;
}

bool definition_write(hid_t file, const talus_world* world)
{
    hid_t group = H5Gcreate2(file, DEFINITION_GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = group >= 0 && fields_write(group, "options", &option_list, 1, &world->def) &&
                      write_materials(group, &world->state.materials) &&
                      write_solids(group, &world->state.solids, world->def.dim) &&
                      write_walls(group, &world->state.walls);
    if (group >= 0) H5Gclose(group);
    return good;
}

// ---- reading -----------------------------------------------------------------------------------

/// A definition being read.
typedef struct source {
    hid_t group;
    const char* path;
    talus_world* world;
} source;

static talus_status makes_no_sense(const source* from, const char* what, talus_error* error)
{
    return error_set(error, TALUS_ERR_FORMAT, "%s: the definition of its %s makes no sense",
                     from->path, what);
}

bool definition_is_in(hid_t file)
{
    return h5_has(file, DEFINITION_GROUP);
}

/// Number of entries of a dataset, -1 if it is not there.
static int64_t entries(const source* from, const char* name)
{
    hid_t set = h5_is_inside(from->group, name) ? H5Dopen2(from->group, name, H5P_DEFAULT) : -1;
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    const int64_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
    return count;
}

/// The rows of a dataset of numbers on the heap, with *rows; NULL after a failure.
static void* numbers(const source* from, const char* name, column_type type, int width,
                     int64_t* rows, talus_error* error)
{
    int found = 0;
    const column element = {.type = type};
    if (!h5_is_inside(from->group, name) || !h5_shape(from->group, name, type, rows, &found) ||
        (*rows > 0 && found != width)) {
        error_set(error, TALUS_ERR_FORMAT, "%s: definition/%s is missing or of another size",
                  from->path, name);
        return NULL;
    }
    void* data = malloc(column_element_size(&element) * (size_t)width * (size_t)*rows + 1);
    if (!data) {
        error_memory(error, "the definition of a world");
    } else if (*rows > 0 && !h5_read(from->group, name, type, data)) {
        h5_error(error, TALUS_ERR_IO, "cannot read", from->path);
        free(data);
        data = NULL;
    }
    return data;
}

/// The structs of a dataset on the heap; NULL after a failure.
static void* structs(const source* from, const char* name, const stored_fields* list, int64_t rows,
                     talus_error* error)
{
    if (fields_check(from->group, name, list, rows, DEFINITION_GROUP, from->path, error) < 0) {
        return NULL;
    }
    void* data = calloc((size_t)rows + 1, list->size);
    if (!data) {
        error_memory(error, "the definition of a world");
    } else if (!fields_read(from->group, name, list, rows, data)) {
        h5_error(error, TALUS_ERR_IO, "cannot read", from->path);
        free(data);
        data = NULL;
    }
    return data;
}

/// Texts on the heap, NULL after a failure.
static char** names(const source* from, const char* name, int64_t count, talus_error* error)
{
    char** list = h5_is_inside(from->group, name) ? h5_read_texts(from->group, name, count) : NULL;
    if (!list) h5_error(error, TALUS_ERR_FORMAT, "cannot read the names in", from->path);
    return list;
}

static void free_names(char** list, int64_t count)
{
    for (int64_t i = 0; list && i < count; i++) free(list[i]);
    free(list);
}

static talus_status read_options(source* from, const talus_world_def* options, talus_error* error)
{
    TRY(fields_check(from->group, "options", &option_list, 1, DEFINITION_GROUP, from->path, error));
    talus_world_def def = talus_world_default();
    if (!fields_read(from->group, "options", &option_list, 1, &def)) {
        return h5_error(error, TALUS_ERR_IO, "cannot read", from->path);
    }
    if ((unsigned)def.method > TALUS_METHOD_SOFT) return makes_no_sense(from, "method", error);
    if (options) {
        def.log = options->log;
        def.log_user = options->log_user;
        if (options->threads > 0) def.threads = options->threads;
        def.device = options->device;
    }
    return talus_world_create(&def, &from->world, error);
}

static talus_status read_materials(const source* from, talus_error* error)
{
    materials* m = &from->world->state.materials;
    const int64_t count = entries(from, "material_names");
    if (count < 0 || count > 46340) return makes_no_sense(from, "materials", error);
    char** name = names(from, "material_names", count, error);
    talus_pair_def* pair = name ? structs(from, "pairs", &pair_list, count * count, error) : NULL;
    talus_status status = pair ? TALUS_OK : TALUS_ERR_FORMAT;
    for (int64_t i = 0; pair && i < count * count; i++) pair[i].mark = talus_pair_default().mark;
    for (int i = 0; status == TALUS_OK && i < count; i++) {
        status = materials_add(m, name[i], &pair[i * count + i], NULL, error);
    }
    for (int64_t i = 0; status == TALUS_OK && i < count * count; i++) {
        status = materials_set_pair(m, (int)(i / count), (int)(i % count), &pair[i], error);
    }
    free_names(name, count);
    free(pair);
    return status;
}

static talus_status read_solids(const source* from, talus_error* error)
{
    const int64_t count = entries(from, "solids");
    if (count < 0 || count > INT32_MAX) return makes_no_sense(from, "shapes", error);
    const int dim = from->world->def.dim;
    int64_t points = 0, parts = 0;
    char** name = names(from, "solid_names", count, error);
    solid_row* row = name ? structs(from, "solids", &solid_list, count, error) : NULL;
    double* point = row ? numbers(from, "solid_points", COLUMN_F64, dim, &points, error) : NULL;
    int32_t* size = point ? numbers(from, "solid_part_sizes", COLUMN_I32, 1, &parts, error) : NULL;
    talus_status status = size ? TALUS_OK : TALUS_ERR_FORMAT;
    for (int64_t i = 0; status == TALUS_OK && i < count; i++) {
        const solid_row* r = &row[i];
        if (r->points < 0 || r->parts < 0 || r->first_point < 0 || r->first_part < 0 ||
            r->first_point > points - r->points || r->first_part > parts - r->parts) {
            status = makes_no_sense(from, "shapes", error);
            break;
        }
        talus_solid_def def = talus_solid_default();
        def.name = name[i];
        def.points = point + r->first_point * dim;
        def.point_count = r->points;
        def.part_sizes = size + r->first_part;
        def.part_count = r->parts;
        def.skin = r->skin;
        status = talus_world_add_solid(from->world, &def, NULL, error);
    }
    free_names(name, count);
    free(row);
    free(point);
    free(size);
    return status;
}

/// A wall as it was, at rest; its place comes with the state.
static talus_status restore_wall(const source* from, const char* name, const wall_row* row,
                                 const double* triangle, talus_error* error)
{
    if (row->material < 0 || row->material >= from->world->state.materials.count ||
        (unsigned)row->shape.kind >= TALUS_SHAPE_COUNT ||
        (unsigned)row->drive.kind >= TALUS_DRIVE_COUNT) {
        return makes_no_sense(from, "walls", error);
    }
    talus_wall_def def = talus_wall_default();
    def.name = name;
    def.shape = row->shape;
    def.shape.triangles = row->shape.triangle_count > 0 ? triangle : NULL;
    def.material.index = row->material;
    return walls_restore(&from->world->state.walls, &def, from->world->def.dim, error);
}

static talus_status read_walls(const source* from, talus_error* error)
{
    walls* w = &from->world->state.walls;
    const int64_t count = entries(from, "walls");
    if (count < 0 || count > INT32_MAX) return makes_no_sense(from, "walls", error);
    int64_t faces = 0, rows = 0, triangle = 0, table = 0;
    char** name = names(from, "wall_names", count, error);
    wall_row* row = name ? structs(from, "walls", &wall_list, count, error) : NULL;
    double* corners = row ? numbers(from, "wall_triangles", COLUMN_F64, 9, &faces, error) : NULL;
    double* motions = corners ? numbers(from, "wall_tables", COLUMN_F64, 7, &rows, error) : NULL;
    talus_status status = motions ? TALUS_OK : TALUS_ERR_FORMAT;
    for (int64_t i = 0; status == TALUS_OK && i < count; i++) {
        const int64_t many = row[i].shape.triangle_count;
        if (many < 0 || many > faces - triangle) {
            status = makes_no_sense(from, "walls", error);
            break;
        }
        status = restore_wall(from, name[i], &row[i], corners + 9 * triangle, error);
        triangle += many;
    }
    for (int64_t i = 0; status == TALUS_OK && i < count; i++) { // now all are there to be named
        talus_drive_def* drive = &row[i].drive;
        const int64_t many = drive->table_rows;
        if (many < 0 || many > rows - table) {
            status = makes_no_sense(from, "walls", error);
            break;
        }
        drive->mark = talus_drive_default().mark;
        drive->table = many > 0 ? motions + 7 * table : NULL;
        status = walls_set_drive(w, (int)i, drive, from->world->def.dim, 0.0, error);
        table += many;
    }
    free_names(name, count);
    free(row);
    free(corners);
    free(motions);
    return status;
}

talus_status definition_read(hid_t file, const char* path, const talus_world_def* options,
                             talus_world** out, talus_error* error)
{
    *out = NULL;
    source from = {.group = H5Gopen2(file, DEFINITION_GROUP, H5P_DEFAULT), .path = path};
    if (from.group < 0) return h5_error(error, TALUS_ERR_FORMAT, "cannot read", path);
    talus_status status = read_options(&from, options, error);
    if (status == TALUS_OK) status = read_materials(&from, error);
    if (status == TALUS_OK) status = read_solids(&from, error);
    if (status == TALUS_OK) status = read_walls(&from, error);
    H5Gclose(from.group);
    if (status != TALUS_OK) {
        talus_world_destroy(from.world);
        return status;
    }
    *out = from.world;
    return TALUS_OK;
}
