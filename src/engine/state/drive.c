/// Motion of walls.
///
/// A prescribed motion is known as a mean velocity and a mean spin over each step. The pivot, a
/// point of the wall, moves with the mean velocity; the wall turns about it by the exact rotation
/// of spin * h. Sine motions use secants of the sine, so positions telescope to the exact curve;
/// tables are integrated exactly between their rows. A servo keeps a stress: force = stress * area
/// along its axis, the area taken anew each step from the distances between the walls that span it
/// (UK's piston, for a sample that changes its shape).
#include "state/drive.h"

#include "base/parallel.h"
#include "base/portable.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

// ---- prescribed motions ------------------------------------------------------------------------

/// Integral of column `k` of the table from its beginning to t: linear between rows, held beyond.
static double table_integral(const talus_drive_def* d, int k, double t)
{
    const double* row = d->table;
    const int last = d->table_rows - 1;
    if (t <= row[0]) return row[k] * (t - row[0]);
    double sum = 0.0;
    for (int r = 0; r < last; r++, row += 7) {
        double t0 = row[0], t1 = row[7], v0 = row[k], v1 = row[7 + k];
        if (t <= t1) {
            double v = v0 + (v1 - v0) * (t - t0) / (t1 - t0);
            return sum + 0.5 * (v0 + v) * (t - t0);
        }
        sum += 0.5 * (v0 + v1) * (t1 - t0);
    }
    return sum + row[k] * (t - row[0]);
}

/// Column `k` of the table at t.
static double table_value(const talus_drive_def* d, int k, double t)
{
    const double* row = d->table;
    const int last = d->table_rows - 1;
    if (t <= row[0]) return row[k];
    for (int r = 0; r < last; r++, row += 7) {
        if (t <= row[7]) return row[k] + (row[7 + k] - row[k]) * (t - row[0]) / (row[7] - row[0]);
    }
    return row[k];
}

/// Mean velocity of the pivot and mean spin over [t, t + h], t counted from the drive's start.
static void mean_motion(const talus_drive_def* d, double t, double h, double v[3], double spin[3])
{
    for (int k = 0; k < 3; k++) v[k] = spin[k] = 0.0;
    if (d->kind == TALUS_DRIVE_VELOCITY) {
        vec_copy(3, v, d->velocity);
        vec_copy(3, spin, d->spin);
    } else if (d->kind == TALUS_DRIVE_SINE) {
        double omega = 2.0 * M_PI * d->frequency;
        double secant =
            (portable_sin(omega * (t + h) + d->phase) - portable_sin(omega * t + d->phase)) / h;
        for (int k = 0; k < 3; k++) {
            v[k] = d->amplitude[k] * secant;
            spin[k] = d->spin_amplitude[k] * secant;
        }
    } else if (d->kind == TALUS_DRIVE_TABLE) {
        for (int k = 0; k < 3; k++) {
            v[k] = (table_integral(d, 1 + k, t + h) - table_integral(d, 1 + k, t)) / h;
            spin[k] = (table_integral(d, 4 + k, t + h) - table_integral(d, 4 + k, t)) / h;
        }
    }
}

/// Velocity of the pivot and spin at time t, counted from the drive's start.
static void motion_at(const talus_drive_def* d, double t, double v[3], double spin[3])
{
    for (int k = 0; k < 3; k++) v[k] = spin[k] = 0.0;
    if (d->kind == TALUS_DRIVE_VELOCITY) {
        vec_copy(3, v, d->velocity);
        vec_copy(3, spin, d->spin);
    } else if (d->kind == TALUS_DRIVE_SINE) {
        const double omega = 2.0 * M_PI * d->frequency,
                     rate = omega * portable_cos(omega * t + d->phase);
        for (int k = 0; k < 3; k++) {
            v[k] = d->amplitude[k] * rate;
            spin[k] = d->spin_amplitude[k] * rate;
        }
    } else if (d->kind == TALUS_DRIVE_TABLE) {
        for (int k = 0; k < 3; k++) {
            v[k] = table_value(d, 1 + k, t);
            spin[k] = table_value(d, 4 + k, t);
        }
    }
}

/// Arm from the pivot to the wall's position, in the wall's own frame (constant).
static void pivot_arm(const walls* w, int wall, double arm[3])
{
    const talus_drive_def* d = &w->record[wall].drive;
    for (int k = 0; k < 3; k++) {
        arm[k] = d->has_pivot ? w->start_position[3 * wall + k] - d->pivot[k] : 0.0;
    }
    quat_rotate_back(arm, w->start_rotation + 4 * wall, arm);
}

void drive_pivot(const walls* w, int wall, double pivot[3])
{
    double arm[3];
    pivot_arm(w, wall, arm);
    quat_rotate(arm, w->rotation + 4 * wall, arm);
    for (int k = 0; k < 3; k++) pivot[k] = w->position[3 * wall + k] - arm[k];
}

/// Let a wall move with the velocity v of its pivot and a spin.
static void set_motion(walls* w, int wall, const double v[3], const double spin[3])
{
    double arm[3], turn[3];
    pivot_arm(w, wall, arm);
    quat_rotate(arm, w->rotation + 4 * wall, arm);
    vec_cross(turn, spin, arm);
    for (int k = 0; k < 3; k++) {
        w->velocity[3 * wall + k] = v[k] + turn[k];
        w->spin[3 * wall + k] = spin[k];
    }
}

static void prescribe(walls* w, int wall, double time, double h)
{
    double v[3], spin[3];
    mean_motion(&w->record[wall].drive, time - w->start_time[wall], h, v, spin);
    set_motion(w, wall, v, spin);
}

// ---- mobile walls ------------------------------------------------------------------------------

static double plane_distance(const walls* w, int p, int q)
{
    double normal[3], delta[3];
    quat_rotate(normal, w->rotation + 4 * p, w->record[p].shape.normal);
    vec_sub(3, delta, w->position + 3 * q, w->position + 3 * p);
    return fabs(vec_dot(3, delta, normal));
}

static double servo_area(const walls* w, const talus_drive_def* d)
{
    if (d->span_count == 0) return d->area;
    double area = 1.0;
    for (int s = 0; s < d->span_count; s++) {
        area *= plane_distance(w, d->span_wall[s][0].index, d->span_wall[s][1].index);
    }
    return area;
}

static void apply_force(walls* w, int wall)
{
    const talus_drive_def* d = &w->record[wall].drive;
    double* applied = w->applied + 3 * wall;
    if (d->kind == TALUS_DRIVE_FORCE) {
        vec_copy(3, applied, d->force);
        return;
    }
    double push = d->stress * servo_area(w, d);
    for (int k = 0; k < 3; k++) applied[k] = push * d->servo_axis[k];
}

void drive_mobility(const walls* w, int wall, int dim, double* matrix)
{
    const talus_drive_def* d = &w->record[wall].drive;
    const bool servo = d->kind == TALUS_DRIVE_SERVO;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            double projector = servo ? d->servo_axis[i] * d->servo_axis[j]
                                     : (i == j && d->free_axes[i] ? 1.0 : 0.0);
            matrix[i * dim + j] = projector / d->mass;
        }
    }
}

double drive_slowing(const walls* w, int wall, double h)
{
    const talus_drive_def* d = &w->record[wall].drive;
    return 1.0 / (1.0 + h * d->damping / d->mass);
}

/// Acceleration of a mobile wall under the applied force, its weight and `other` forces, along its
/// free directions.
static void accelerate(walls* w, int wall, const double gravity[3], const double other[3],
                       double acceleration[3])
{
    const talus_drive_def* d = &w->record[wall].drive;
    double mobility[9], force[3];
    apply_force(w, wall);
    for (int k = 0; k < 3; k++) {
        force[k] = w->applied[3 * wall + k] + (d->weight ? d->mass * gravity[k] : 0.0) + other[k];
    }
    drive_mobility(w, wall, 3, mobility);
    for (int k = 0; k < 3; k++) acceleration[k] = vec_dot(3, mobility + 3 * k, force);
}

/// Free velocity of a mobile wall: forces along its free directions, drag taken implicitly.
static void set_free_velocity(walls* w, int wall, const double gravity[3], double h)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    double kick[3];
    accelerate(w, wall, gravity, none, kick);
    double slow = drive_slowing(w, wall, h);
    for (int k = 0; k < 3; k++) {
        w->velocity[3 * wall + k] = slow * (w->velocity[3 * wall + k] + h * kick[k]);
    }
}

void drive_acceleration(walls* w, int wall, const double gravity[3], double acceleration[3])
{
    const double damping = w->record[wall].drive.damping;
    double other[3];
    for (int k = 0; k < 3; k++) {
        other[k] = w->force[3 * wall + k] - damping * w->velocity[3 * wall + k];
    }
    accelerate(w, wall, gravity, other, acceleration);
}

// ---- all walls ---------------------------------------------------------------------------------

void drive_begin_step(walls* w, const double gravity[3], double time, double h)
{
    for (int i = 0; i < (int)w->count; i++) {
        if (!w->present[i]) continue;
        if (wall_is_mobile(w, i)) {
            set_free_velocity(w, i, gravity, h);
        } else {
            prescribe(w, i, time, h);
        }
    }
}

static void move_wall(walls* w, int wall, double h)
{
    double* x = w->position + 3 * wall;
    double* q = w->rotation + 4 * wall;
    const double* spin = w->spin + 3 * wall;
    if (vec_dot(3, spin, spin) == 0.0) {
        vec_add_scaled(3, x, h, w->velocity + 3 * wall);
        return;
    }
    double body_arm[3], arm[3], turn[3], pivot[3], angle[3], step[4];
    pivot_arm(w, wall, body_arm);
    quat_rotate(arm, q, body_arm);
    vec_cross(turn, spin, arm);
    for (int k = 0; k < 3; k++) { // the pivot moves straight
        pivot[k] = x[k] - arm[k] + h * (w->velocity[3 * wall + k] - turn[k]);
        angle[k] = h * spin[k];
    }
    quat_from_rotation(step, angle);
    quat_multiply(q, step, q);
    quat_normalise(q);
    quat_rotate(arm, q, body_arm);
    for (int k = 0; k < 3; k++) x[k] = pivot[k] + arm[k];
}

void drive_advance(walls* w, double time, double h)
{
    for (int i = 0; i < (int)w->count; i++) {
        if (!w->present[i] || wall_is_mobile(w, i)) continue;
        double v[3], spin[3], *x = w->position + 3 * i;
        if (h > 0.0) { // no time has no mean velocity
            prescribe(w, i, time, h);
            vec_add_scaled(3, w->moved + 3 * i, -1.0, x);
            vec_add_scaled(3, w->turned + 3 * i, h, w->spin + 3 * i);
            move_wall(w, i, h);
            vec_add_scaled(3, w->moved + 3 * i, 1.0, x);
        }
        motion_at(&w->record[i].drive, time + h - w->start_time[i], v, spin);
        set_motion(w, i, v, spin);
    }
}

void drive_move(walls* w, double h)
{
    for (int i = 0; i < (int)w->count; i++) {
        if (w->present[i]) move_wall(w, i, h);
    }
}

// ---- glued grains ------------------------------------------------------------------------------

void drive_glue(const walls* w, grains* g, int64_t row)
{
    const int dim = g->dim, wall = g->glued_to[row];
    const double* q = w->rotation + 4 * wall;
    double delta[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, delta, g->position + row * dim, w->position + 3 * wall);
    quat_rotate_back(g->glue_position + 3 * row, q, delta);
    if (dim == 3) {
        double inverse[4] = {q[0], -q[1], -q[2], -q[3]};
        quat_multiply(g->glue_rotation + 4 * row, inverse, g->rotation + 4 * row);
    } else {
        g->glue_rotation[4 * row] = g->rotation[row] - 2.0 * portable_atan2(q[3], q[0]);
    }
}

static void carry_grain(const walls* w, const cell* periodic, grains* g, int64_t i)
{
    const int dim = g->dim, wall = g->glued_to[i];
    const double* q = w->rotation + 4 * wall;
    const double* spin = w->spin + 3 * wall;
    double arm[3], turn[3];
    quat_rotate(arm, q, g->glue_position + 3 * i);
    vec_cross(turn, spin, arm);
    for (int k = 0; k < dim; k++) {
        g->position[i * dim + k] = w->position[3 * wall + k] + arm[k];
        g->velocity[i * dim + k] = w->velocity[3 * wall + k] + turn[k];
        g->image[i * dim + k] = 0;
    }
    cell_wrap(periodic, dim, g->position + i * dim, g->image + i * dim);
    if (dim == 3) {
        vec_copy(3, g->spin + 3 * i, spin);
        quat_multiply(g->rotation + 4 * i, q, g->glue_rotation + 4 * i);
    } else {
        g->spin[i] = spin[2];
        g->rotation[i] = g->glue_rotation[4 * i] + 2.0 * portable_atan2(q[3], q[0]);
    }
}

void drive_carry_rows(const walls* w, const cell* periodic, grains* g, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last && g->glue_position; i++) { // otherwise nothing was ever glued
        if (g->glued_to[i] >= 0) carry_grain(w, periodic, g, i);
    }
}

void drive_carry_grains(const walls* w, const cell* periodic, grains* g, int threads)
{
    if (!g->glue_position) return;
#pragma omp parallel for num_threads(parallel_threads(threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) drive_carry_rows(w, periodic, g, i, i + 1);
}

/// Largest speed of a body with this velocity and spin about the pivot, at the corners of a box.
static double body_top_speed(int dim, const double pivot[3], const double velocity[3],
                             const double spin[3], const double low[3], const double high[3])
{
    double largest = vec_norm(3, velocity);
    for (int corner = 0; corner < 8 && low[0] <= high[0]; corner++) {
        double arm[3] = {0}, turn[3];
        for (int k = 0; k < dim; k++) arm[k] = (corner >> k & 1 ? high[k] : low[k]) - pivot[k];
        vec_cross(turn, spin, arm);
        vec_add_scaled(3, turn, 1.0, velocity);
        largest = fmax(largest, vec_norm(3, turn));
    }
    return largest;
}

double drive_top_speed(const talus_drive_def* d, int dim, const double pivot[3],
                       const double low[3], const double high[3])
{
    double v[3], spin[3], speed = 0.0;
    switch (d->kind) {
    case TALUS_DRIVE_VELOCITY: return body_top_speed(dim, pivot, d->velocity, d->spin, low, high);
    case TALUS_DRIVE_SINE:
        for (int k = 0; k < 3; k++) {
            v[k] = 2.0 * M_PI * d->frequency * d->amplitude[k];
            spin[k] = 2.0 * M_PI * d->frequency * d->spin_amplitude[k];
        }
        return body_top_speed(dim, pivot, v, spin, low, high);
    case TALUS_DRIVE_TABLE:
        for (int i = 0; i < d->table_rows; i++) {
            const double* row = d->table + 7 * i;
            speed = fmax(speed, body_top_speed(dim, pivot, row + 1, row + 4, low, high));
        }
        return speed;
    case TALUS_DRIVE_FIXED:
    case TALUS_DRIVE_FORCE:
    case TALUS_DRIVE_SERVO:
    case TALUS_DRIVE_COUNT: break;
    }
    return 0.0;
}

double drive_push(const walls* w, const talus_drive_def* d)
{
    if (d->kind == TALUS_DRIVE_FORCE) return vec_norm(3, d->force);
    return d->kind == TALUS_DRIVE_SERVO ? fabs(d->stress * servo_area(w, d)) : 0.0;
}
