/// The walls' field table, and adding walls and changing their motion.
#include "state/walls.h"

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "geometry/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WALL_COLUMN(member, type, width, flags, unit, doc)                                         \
    {                                                                                              \
#member, offsetof(walls, member), type, width, flags, unit, doc                            \
    }

static const column wall_table[] = {
    WALL_COLUMN(present, COLUMN_U8, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "", "0 once removed"),
    WALL_COLUMN(position, COLUMN_F64, WIDTH_3, COLUMN_FRAME | COLUMN_STATE, "m",
                "origin of the wall's frame"),
    WALL_COLUMN(rotation, COLUMN_F64, WIDTH_4, COLUMN_FRAME | COLUMN_STATE, "",
                "orientation, quaternion w x y z"),
    WALL_COLUMN(velocity, COLUMN_F64, WIDTH_3, COLUMN_FRAME | COLUMN_STATE, "m/s",
                "velocity of the origin"),
    WALL_COLUMN(spin, COLUMN_F64, WIDTH_3, COLUMN_FRAME | COLUMN_STATE, "rad/s",
                "angular velocity"),
    WALL_COLUMN(force, COLUMN_F64, WIDTH_3, COLUMN_FRAME | COLUMN_STATE, "N",
                "sum of the contact forces of the grains on the wall"),
    WALL_COLUMN(torque, COLUMN_F64, WIDTH_3, COLUMN_FRAME | COLUMN_STATE, "N m",
                "torque of those forces about the origin"),
    WALL_COLUMN(applied, COLUMN_F64, WIDTH_3, COLUMN_FRAME | COLUMN_STATE, "N",
                "force applied by the user or servo"),
    WALL_COLUMN(start_position, COLUMN_F64, WIDTH_3, COLUMN_STATE, "m",
                "origin when the present motion began"),
    WALL_COLUMN(start_rotation, COLUMN_F64, WIDTH_4, COLUMN_STATE, "",
                "orientation when the present motion began"),
    WALL_COLUMN(start_time, COLUMN_F64, WIDTH_1, COLUMN_STATE, "s",
                "time when the present motion began"),
    WALL_COLUMN(rate2, COLUMN_F64, WIDTH_3, COLUMN_STATE | COLUMN_RARE, "m/s^2",
                "method soft: acceleration of a mobile wall"),
    WALL_COLUMN(rate3, COLUMN_F64, WIDTH_3, COLUMN_STATE | COLUMN_RARE, "m/s^3",
                "method soft: its first derivative"),
    WALL_COLUMN(rate4, COLUMN_F64, WIDTH_3, COLUMN_STATE | COLUMN_RARE, "m/s^4",
                "method soft: its second derivative"),
    WALL_COLUMN(rate5, COLUMN_F64, WIDTH_3, COLUMN_STATE | COLUMN_RARE, "m/s^5",
                "method soft: its third derivative"),
    WALL_COLUMN(moved, COLUMN_F64, WIDTH_3, COLUMN_STATE | COLUMN_RARE, "m",
                "method soft: position less that of the last force evaluation"),
    WALL_COLUMN(turned, COLUMN_F64, WIDTH_3, COLUMN_STATE | COLUMN_RARE, "rad",
                "method soft: turn since the last force evaluation"),
};
enum { WALL_COLUMNS = sizeof wall_table / sizeof wall_table[0] };

const column* walls_columns(int* count_out)
{
    *count_out = WALL_COLUMNS;
    return wall_table;
}

talus_status walls_need_soft(walls* w)
{
    for (int k = 0; k < WALL_COLUMNS; k++) {
        if (!(wall_table[k].flags & COLUMN_RARE)) continue;
        TRY(column_need(&wall_table[k], w, 3, w->capacity));
    }
    return TALUS_OK;
}

void walls_init(walls* w, const solids* all)
{
    *w = (walls){.solids = all};
}

static void record_free(wall_record* r)
{
    free(r->name);
    free(r->table);
    free(r->triangles);
    wall_form_free(&r->form);
}

void walls_free(walls* w)
{
    for (int64_t i = 0; i < w->count; i++) record_free(&w->record[i]);
    free(w->record);
    columns_free(w, wall_table, WALL_COLUMNS);
    *w = (walls){0};
}

int walls_find(const walls* w, const char* name)
{
    for (int64_t i = 0; i < w->count; i++) {
        if (strcmp(w->record[i].name, name) == 0) return (int)i;
    }
    return -1;
}

/// In 2D a wall moves in the plane and turns about z: whatever else a definition holds is dropped.
static talus_drive_def planar_drive(talus_drive_def d)
{
    d.velocity[2] = d.pivot[2] = d.amplitude[2] = d.force[2] = d.servo_axis[2] = 0.0;
    d.spin[0] = d.spin[1] = d.spin_amplitude[0] = d.spin_amplitude[1] = 0.0;
    d.free_axes[2] = false;
    return d;
}

static talus_status mobile_check(const char* name, const talus_drive_def* d, talus_error* error)
{
    if (!(d->mass > 0.0) || !isfinite(d->mass)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': a mobile wall needs a positive mass, got %g", name, d->mass);
    }
    if (!(d->damping >= 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': damping must not be negative, got %g", name, d->damping);
    }
    if (d->kind == TALUS_DRIVE_FORCE && !d->free_axes[0] && !d->free_axes[1] && !d->free_axes[2]) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': a wall under a force needs at least one free axis", name);
    }
    if (d->kind == TALUS_DRIVE_SERVO) {
        if (fabs(vec_norm(3, d->servo_axis) - 1.0) > 1e-9) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "wall '%s': the servo axis must be a unit vector", name);
        }
        if (d->span_count < 0 || d->span_count > 2 || (d->span_count == 0 && !(d->area > 0.0))) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "wall '%s': a servo wall needs a positive area or one or two pairs of "
                             "walls that span it",
                             name);
        }
    }
    return TALUS_OK;
}

/// Every number of a motion must be one.
static talus_status drive_finite(const char* name, const talus_drive_def* d, talus_error* error)
{
    const double numbers[] = {d->frequency, d->phase, d->mass, d->damping, d->stress, d->area};
    bool finite = vec_finite(3, d->velocity) && vec_finite(3, d->spin) && vec_finite(3, d->pivot) &&
                  vec_finite(3, d->amplitude) && vec_finite(3, d->spin_amplitude) &&
                  vec_finite(3, d->force) && vec_finite(3, d->servo_axis) && vec_finite(6, numbers);
    if (finite && d->kind == TALUS_DRIVE_TABLE && d->table) {
        finite = vec_finite(7 * d->table_rows, d->table);
    }
    if (finite) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "wall '%s': its motion holds a number that is not finite", name);
}

static talus_status drive_check(const char* name, const talus_drive_def* d, talus_error* error)
{
    TRY(drive_finite(name, d, error));
    if (d->kind == TALUS_DRIVE_FORCE || d->kind == TALUS_DRIVE_SERVO) {
        return mobile_check(name, d, error);
    }
    if (d->kind == TALUS_DRIVE_TABLE) {
        if (d->table_rows < 1 || !d->table) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "wall '%s': a tabulated motion needs at least one row", name);
        }
        for (int r = 1; r < d->table_rows; r++) {
            if (!(d->table[7 * r] > d->table[7 * (r - 1)])) {
                return error_set(error, TALUS_ERR_ARGUMENT,
                                 "wall '%s': times of the table must ascend (row %d)", name, r + 1);
            }
        }
    }
    return TALUS_OK;
}

/// Keep only the part of a mobile wall's velocity along which it is free to move.
static void project_velocity(const talus_drive_def* d, double v[3])
{
    double along = vec_dot(3, v, d->servo_axis);
    for (int k = 0; k < 3; k++) {
        if (d->kind == TALUS_DRIVE_SERVO) {
            v[k] = along * d->servo_axis[k];
        } else if (!d->free_axes[k]) {
            v[k] = 0.0;
        }
    }
}

talus_status walls_set_drive(walls* w, int wall, const talus_drive_def* drive, int dim, double time,
                             talus_error* error)
{
    wall_record* record = &w->record[wall];
    talus_drive_def d = dim == 2 ? planar_drive(*drive) : *drive;
    TRY(drive_check(record->name, &d, error));
    for (int s = 0; s < 2 * d.span_count; s++) {
        const int other = d.span_wall[s / 2][s % 2].index;
        if (other < 0 || other >= w->count || w->record[other].shape.kind != TALUS_SHAPE_PLANE) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "wall '%s': the servo's spans must name plane walls", record->name);
        }
    }
    double* table = NULL;
    if (d.kind == TALUS_DRIVE_TABLE) {
        size_t bytes = sizeof(double) * 7 * (size_t)d.table_rows;
        table = malloc(bytes);
        if (!table) return error_memory(error, "copying a wall's motion table");
        memcpy(table, d.table, bytes);
    }
    free(record->table);
    record->table = table;
    record->drive = d;
    record->drive.table = table;

    memcpy(w->start_position + 3 * wall, w->position + 3 * wall, 3 * sizeof(double));
    memcpy(w->start_rotation + 4 * wall, w->rotation + 4 * wall, 4 * sizeof(double));
    w->start_time[wall] = time;
    // A mobile wall keeps the velocity it has along its free directions; every other motion sets
    // its own at the next step.
    if (d.kind == TALUS_DRIVE_FIXED) {
        memset(w->velocity + 3 * wall, 0, 3 * sizeof(double));
        memset(w->spin + 3 * wall, 0, 3 * sizeof(double));
    }
    if (d.kind == TALUS_DRIVE_FORCE || d.kind == TALUS_DRIVE_SERVO) {
        memset(w->spin + 3 * wall, 0, 3 * sizeof(double));
        project_velocity(&d, w->velocity + 3 * wall);
    }
    return TALUS_OK;
}

static const char* const DRIVE_WORDS[TALUS_DRIVE_COUNT] = {
    [TALUS_DRIVE_FIXED] = "fixed",         [TALUS_DRIVE_VELOCITY] = "a velocity",
    [TALUS_DRIVE_SINE] = "a sine",         [TALUS_DRIVE_TABLE] = "a table",
    [TALUS_DRIVE_FORCE] = "under a force", [TALUS_DRIVE_SERVO] = "a servo"};

talus_status walls_set_velocity(walls* w, int wall, const double velocity[3], const double spin[3],
                                int dim, talus_error* error)
{
    wall_record* record = &w->record[wall];
    double v[3] = {velocity[0], velocity[1], dim == 3 ? velocity[2] : 0.0};
    const double turn[3] = {dim == 3 ? spin[0] : 0.0, dim == 3 ? spin[1] : 0.0, spin[2]};
    if (!vec_finite(3, v) || !vec_finite(3, turn)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': velocity and spin must be finite numbers", record->name);
    }
    if (record->drive.kind == TALUS_DRIVE_VELOCITY) {
        vec_copy(3, record->drive.velocity, v);
        vec_copy(3, record->drive.spin, turn);
        return TALUS_OK;
    }
    if (!wall_is_mobile(w, wall)) {
        return error_set(error, TALUS_ERR_STATE,
                         "wall '%s': its motion is %s, which leaves no velocity to be set; give it "
                         "another drive",
                         record->name, DRIVE_WORDS[record->drive.kind]);
    }
    project_velocity(&record->drive, v);
    double lost = vec_norm(3, turn);
    for (int k = 0; k < dim; k++) lost = fmax(lost, fabs(v[k] - velocity[k]));
    if (lost > 1e-12 * vec_norm(3, velocity)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': it is mobile, but neither turns nor moves in this direction",
                         record->name);
    }
    vec_copy(3, w->velocity + 3 * wall, v);
    return TALUS_OK;
}

talus_status walls_set_force(walls* w, int wall, const double force[3], int dim, talus_error* error)
{
    wall_record* record = &w->record[wall];
    if (record->drive.kind != TALUS_DRIVE_FORCE) {
        return error_set(error, TALUS_ERR_STATE,
                         "wall '%s': its motion is %s, and no force is applied to it; give it the "
                         "drive FORCE",
                         record->name, DRIVE_WORDS[record->drive.kind]);
    }
    if (!vec_finite(3, force)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "wall '%s': the force must be a finite vector",
                         record->name);
    }
    vec_copy(dim, record->drive.force, force);
    return TALUS_OK;
}

/// Directions pass shape_check() within 1e-9; contacts want them unit to rounding.
static void normalise(double v[3])
{
    double length = vec_norm(3, v);
    for (int k = 0; k < 3 && length > 0.0; k++) v[k] /= length;
}

talus_status walls_check(const walls* w, const talus_wall_def* def, int dim, talus_error* error)
{
    if (!def->name || !def->name[0]) {
        return error_set(error, TALUS_ERR_ARGUMENT, "wall: a wall needs a name");
    }
    if (walls_find(w, def->name) >= 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "wall '%s': the name is taken", def->name);
    }
    if (!vec_finite(3, def->position) || !vec_finite(3, def->rotation)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "wall '%s': position and rotation must be finite numbers", def->name);
    }
    if (def->shape.kind == TALUS_SHAPE_SOLID &&
        (def->shape.solid.index < 0 || def->shape.solid.index >= w->solids->count)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "wall '%s': there is no shape %d", def->name,
                         def->shape.solid.index);
    }
    return shape_check(&def->shape, dim, error);
}

/// Copy what a definition points to, and make the wall's form.
static talus_status fill_record(const walls* w, const talus_wall_def* def, int dim, wall_record* r,
                                talus_error* error)
{
    *r = (wall_record){
        .name = strdup(def->name), .shape = def->shape, .material = def->material.index};
    r->shape.triangles = NULL;
    if (!r->name) return error_memory(error, "adding a wall");
    if (def->shape.kind == TALUS_SHAPE_MESH) {
        const size_t bytes = sizeof(double) * 9 * (size_t)def->shape.triangle_count;
        r->triangles = malloc(bytes);
        if (!r->triangles) return error_memory(error, "adding a wall");
        memcpy(r->triangles, def->shape.triangles, bytes);
        r->shape.triangles = r->triangles;
    }
    return wall_form_make(&r->shape, dim, w->solids, &r->form, error);
}

talus_status walls_restore(walls* w, const talus_wall_def* def, int dim, talus_error* error)
{
    TRY(walls_check(w, def, dim, error));
    if (columns_reserve(w, wall_table, WALL_COLUMNS, 3, w->count + 1, &w->capacity) ||
        !arrays_grow(&w->record_capacity, w->count + 1, ARRAY(w->record))) {
        return error_memory(error, "adding a wall");
    }
    const int i = (int)w->count;
    const talus_status status = fill_record(w, def, dim, &w->record[i], error);
    if (status < 0) {
        record_free(&w->record[i]);
        return status;
    }
    w->record[i].drive = talus_drive_default();
    w->present[i] = 1;
    double rotation[3] = {def->rotation[0], def->rotation[1], def->rotation[2]};
    if (dim == 2) rotation[0] = rotation[1] = 0.0;
    vec_copy(3, w->position + 3 * i, def->position);
    if (dim == 2) w->position[3 * i + 2] = 0.0;
    quat_from_rotation(w->rotation + 4 * i, rotation);
    w->count++;
    return TALUS_OK;
}

talus_status walls_add(walls* w, const talus_wall_def* def, int dim, double time, int* index,
                       talus_error* error)
{
    talus_wall_def unit = *def;
    normalise(unit.shape.normal);
    normalise(unit.shape.axis);
    TRY(walls_check(w, def, dim, error)); // as it was given
    TRY(walls_restore(w, &unit, dim, error));
    const int i = (int)w->count - 1;
    const talus_status status = walls_set_drive(w, i, &def->drive, dim, time, error);
    if (status < 0) {
        record_free(&w->record[i]);
        w->count--;
        return status;
    }
    if (index) *index = i;
    return TALUS_OK;
}

/// A copy of some rows of numbers in *to, NULL if there are none; true unless memory is short.
static bool copy_rows(double** to, const double* from, int width, int64_t rows)
{
    const size_t bytes = sizeof *from * (size_t)width * (size_t)rows;
    *to = from ? malloc(bytes + 1) : NULL;
    if (*to) memcpy(*to, from, bytes);
    return *to || !from;
}

talus_status walls_copy(walls* to, const walls* from, int dim, talus_error* error)
{
    to->record = calloc((size_t)from->count + 1, sizeof *to->record);
    if (!to->record || columns_copy(to, from, wall_table, WALL_COLUMNS, 3, from->capacity)) {
        return error_memory(error, "copying walls");
    }
    to->capacity = from->capacity;
    to->record_capacity = from->count + 1;
    for (int64_t i = 0; i < from->count; i++) {
        const wall_record* r = &from->record[i];
        wall_record* copy = &to->record[i];
        *copy = (wall_record){
            .name = strdup(r->name), .shape = r->shape, .material = r->material, .drive = r->drive};
        to->count++;
        if (!copy->name || !copy_rows(&copy->table, r->table, 7, r->drive.table_rows) ||
            !copy_rows(&copy->triangles, r->triangles, 9, r->shape.triangle_count)) {
            return error_memory(error, "copying walls");
        }
        copy->shape.triangles = copy->triangles;
        copy->drive.table = copy->table;
        TRY(wall_form_make(&copy->shape, dim, to->solids, &copy->form, error));
    }
    return TALUS_OK;
}
