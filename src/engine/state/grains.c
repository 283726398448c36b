/// The grains' field table, and adding, finding and dropping grains.
///
/// Mass properties: disk m = rho pi R^2, I = m R^2 / 2; sphere m = rho 4/3 pi R^3, I = 2/5 m R^2;
/// solids have their own (geometry/solid.h).
#include "state/grains.h"

#include "base/error.h"
#include "base/parallel.h"
#include "base/portable.h"
#include "base/vec.h"

#include <math.h>

#define GRAIN_COLUMN(member, type, width, flags, unit, doc)                                        \
    {                                                                                              \
#member, offsetof(grains, member), type, width, flags, unit, doc                           \
    }

static const column grain_table[] = {
    GRAIN_COLUMN(id, COLUMN_I64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                 "identity, ascending, never reused"),
    GRAIN_COLUMN(position, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "m",
                 "centre, inside the periodic cell"),
    GRAIN_COLUMN(velocity, COLUMN_F64, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "m/s",
                 "velocity of the centre"),
    GRAIN_COLUMN(spin, COLUMN_F64, WIDTH_SPIN, COLUMN_FRAME | COLUMN_STATE, "rad/s",
                 "angular velocity"),
    GRAIN_COLUMN(rotation, COLUMN_F64, WIDTH_ROTATION, COLUMN_FRAME | COLUMN_STATE, "",
                 "orientation: angle in rad (2D) or quaternion w x y z (3D)"),
    GRAIN_COLUMN(radius, COLUMN_F64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "m",
                 "radius; of a solid that of the ball about its centre that holds it"),
    GRAIN_COLUMN(solid, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                 "shape, row of the shapes; -1 for a ball"),
    GRAIN_COLUMN(scale, COLUMN_F64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                 "size of the shape relative to its definition"),
    GRAIN_COLUMN(mass, COLUMN_F64, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "kg", "mass"),
    GRAIN_COLUMN(inertia, COLUMN_F64, WIDTH_1, COLUMN_STATE, "kg m^2",
                 "moment of inertia, of a solid in 3D the mean of the principal ones"),
    GRAIN_COLUMN(inv_mass, COLUMN_F64, WIDTH_1, COLUMN_STATE, "1/kg",
                 "inverse mass, 0 unless free"),
    GRAIN_COLUMN(spin_mobility, COLUMN_F64, WIDTH_1, COLUMN_STATE, "1/kg",
                 "R^2/I of a ball, 1/m of a solid; 0 unless free to rotate"),
    GRAIN_COLUMN(force, COLUMN_F64, WIDTH_DIM, COLUMN_STATE | COLUMN_RARE, "N", "external force"),
    GRAIN_COLUMN(torque, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE | COLUMN_RARE, "N m",
                 "external torque"),
    GRAIN_COLUMN(locked, COLUMN_I32, WIDTH_1, COLUMN_STATE | COLUMN_RARE, "",
                 "method soft: bits 1, 2, 4 for the axes x, y, z along which it stays put"),
    GRAIN_COLUMN(glue_position, COLUMN_F64, WIDTH_3, COLUMN_STATE | COLUMN_RARE, "m",
                 "position in the frame of the wall it is glued to"),
    GRAIN_COLUMN(glue_rotation, COLUMN_F64, WIDTH_4, COLUMN_STATE | COLUMN_RARE, "",
                 "orientation in the frame of that wall"),
    GRAIN_COLUMN(rate2, COLUMN_F64, WIDTH_DIM, COLUMN_STATE | COLUMN_RARE, "m/s^2",
                 "method soft: acceleration of the centre"),
    GRAIN_COLUMN(rate3, COLUMN_F64, WIDTH_DIM, COLUMN_STATE | COLUMN_RARE, "m/s^3",
                 "method soft: its first derivative"),
    GRAIN_COLUMN(rate4, COLUMN_F64, WIDTH_DIM, COLUMN_STATE | COLUMN_RARE, "m/s^4",
                 "method soft: its second derivative"),
    GRAIN_COLUMN(rate5, COLUMN_F64, WIDTH_DIM, COLUMN_STATE | COLUMN_RARE, "m/s^5",
                 "method soft: its third derivative"),
    GRAIN_COLUMN(turn2, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE | COLUMN_RARE, "rad/s^2",
                 "method soft: angular acceleration"),
    GRAIN_COLUMN(turn3, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE | COLUMN_RARE, "rad/s^3",
                 "method soft: its first derivative"),
    GRAIN_COLUMN(turn4, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE | COLUMN_RARE, "rad/s^4",
                 "method soft: its second derivative"),
    GRAIN_COLUMN(turn5, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE | COLUMN_RARE, "rad/s^5",
                 "method soft: its third derivative"),
    GRAIN_COLUMN(moved, COLUMN_F64, WIDTH_DIM, COLUMN_STATE | COLUMN_RARE, "m",
                 "method soft: position less that of the last force evaluation"),
    GRAIN_COLUMN(turned, COLUMN_F64, WIDTH_SPIN, COLUMN_STATE | COLUMN_RARE, "rad",
                 "method soft: turn since the last force evaluation"),
    GRAIN_COLUMN(place, COLUMN_I32, WIDTH_1, COLUMN_STATE | COLUMN_RARE, "",
                 "method soft: place in the order of work"),
    GRAIN_COLUMN(material, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "", "material index"),
    GRAIN_COLUMN(glued_to, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "",
                 "wall it moves with, -1 free, -2 fixed"),
    GRAIN_COLUMN(tag, COLUMN_I32, WIDTH_1, COLUMN_FRAME | COLUMN_STATE, "", "user's label"),
    GRAIN_COLUMN(image, COLUMN_I32, WIDTH_DIM, COLUMN_FRAME | COLUMN_STATE, "",
                 "times it crossed the periodic cell, per axis"),
    GRAIN_COLUMN(error, COLUMN_F64, WIDTH_1,
                 COLUMN_FRAME | COLUMN_STATE | COLUMN_RARE | COLUMN_SOLVED, "",
                 "share in the error of the last step, relative to what contacts do to this grain: "
                 "an estimate; 0 if nothing touches it"),
};
enum { GRAIN_COLUMNS = sizeof grain_table / sizeof grain_table[0] };

const column* grains_columns(int* count_out)
{
    *count_out = GRAIN_COLUMNS;
    return grain_table;
}

void grains_init(grains* g, int dim, const solids* all)
{
    *g = (grains){.dim = dim, .solids = all};
}

void grains_free(grains* g)
{
    columns_free(g, grain_table, GRAIN_COLUMNS);
    g->count = g->capacity = 0;
}

static double ball_volume(int dim, double radius)
{
    return dim == 2 ? M_PI * radius * radius : 4.0 / 3.0 * M_PI * radius * radius * radius;
}

static double solid_volume(const solid* s, double scale)
{
    return s->volume * portable_pow(scale, s->dim);
}

static talus_status check_size(const grains* g, const talus_grain_def* def, talus_error* error)
{
    if (def->solid.index >= g->solids->count) {
        return error_set(error, TALUS_ERR_ARGUMENT, "grain: there is no shape %d",
                         def->solid.index);
    }
    const bool ball = def->solid.index < 0;
    const double size = ball ? def->radius : def->scale;
    if (size > 0.0 && isfinite(size)) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "grain: %s must be positive, got %g",
                     ball ? "radius" : "scale", size);
}

static talus_status grain_check(const grains* g, const talus_grain_def* def, talus_error* error)
{
    TRY(check_size(g, def, error));
    if (def->mass < 0.0 || !isfinite(def->mass)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "grain: mass must not be negative, got %g",
                         def->mass);
    }
    if (def->mass == 0.0 && (!(def->density > 0.0) || !isfinite(def->density))) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "grain: density must be positive when no mass is given, got %g",
                         def->density);
    }
    if (!vec_finite(3, def->position) || !vec_finite(3, def->velocity) ||
        !vec_finite(3, def->spin) || !vec_finite(3, def->rotation) ||
        !vec_finite(3, def->external_force) || !vec_finite(3, def->external_torque)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "grain: position, velocity, spin, rotation, force and torque must be "
                         "finite numbers");
    }
    for (int k = 0; k < g->dim; k++) {
        if (!def->locked[k] || def->velocity[k] == 0.0) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "grain: locked along %c, it cannot have a velocity of %g there",
                         axis_letter(k), def->velocity[k]);
    }
    return TALUS_OK;
}

/// In 2D the axial vectors have one component: that about z.
static void set_axial(int dim, double* row, const double from[3])
{
    if (dim == 2) {
        row[0] = from[2];
    } else {
        vec_copy(3, row, from);
    }
}

/// What size and density make of a grain.
typedef struct grain_size {
    double radius, mass, inertia, spin_mobility;
} grain_size;

static grain_size ball_size(int dim, const talus_grain_def* def)
{
    const double r = def->radius;
    grain_size out = {.radius = r};
    out.mass = def->mass > 0.0 ? def->mass : def->density * ball_volume(dim, r);
    out.inertia = (dim == 2 ? 0.5 : 0.4) * out.mass * r * r;
    out.spin_mobility = r * r / out.inertia;
    return out;
}

static grain_size solid_size(const solid* s, const talus_grain_def* def)
{
    grain_size out = {.radius = def->scale * s->radius};
    out.mass = def->mass > 0.0 ? def->mass : def->density * solid_volume(s, def->scale);
    double trace = s->inertia[0] + s->inertia[4] + s->inertia[8];
    double unit = s->dim == 2 ? s->inertia[8] : trace / 3.0;
    out.inertia = out.mass * def->scale * def->scale * unit;
    out.spin_mobility = 1.0 / out.mass;
    return out;
}

/// Inverse mass and mobility, which are those of a free grain or zero.
static void set_mobility(grains* g, int64_t i, double spin_mobility)
{
    const bool free = g->glued_to[i] == GRAIN_FREE;
    g->inv_mass[i] = free ? 1.0 / g->mass[i] : 0.0;
    g->spin_mobility[i] = free ? spin_mobility : 0.0;
}

/// Mass and moment of inertia must have inverses: a size far from all others' can overflow.
static talus_status check_mass(const grain_size* size, talus_error* error)
{
    if (isnormal(size->mass) && isnormal(size->inertia) && isnormal(1.0 / size->mass)) {
        return TALUS_OK;
    }
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "grain: a radius of %g gives a mass of %g and a moment of inertia of %g, out "
                     "of the range of numbers",
                     size->radius, size->mass, size->inertia);
}

static talus_status need(grains* g, size_t offset)
{
    int c = 0;
    while (grain_table[c].offset != offset) c++;
    return column_need(&grain_table[c], g, g->dim, g->capacity);
}

/// Only glued grains need to know their place in a wall's frame.
static talus_status need_glue(grains* g)
{
    TRY(need(g, offsetof(grains, glue_position)));
    return need(g, offsetof(grains, glue_rotation));
}

talus_status grains_need_forces(grains* g)
{
    TRY(need(g, offsetof(grains, force)));
    return need(g, offsetof(grains, torque));
}

talus_status grains_need_errors(grains* g)
{
    return need(g, offsetof(grains, error));
}

talus_status grains_need_soft(grains* g, int kept)
{
    static const size_t rates[4][2] = {{offsetof(grains, rate2), offsetof(grains, turn2)},
                                       {offsetof(grains, rate3), offsetof(grains, turn3)},
                                       {offsetof(grains, rate4), offsetof(grains, turn4)},
                                       {offsetof(grains, rate5), offsetof(grains, turn5)}};
    for (int k = 0; k < kept; k++) {
        TRY(need(g, rates[k][0]));
        TRY(need(g, rates[k][1]));
    }
    TRY(need(g, offsetof(grains, moved)));
    TRY(need(g, offsetof(grains, turned)));
    return need(g, offsetof(grains, place));
}

void grain_set_force(grains* g, int64_t row, const double force[3], const double torque[3])
{
    vec_copy(g->dim, g->force + row * g->dim, force);
    set_axial(g->dim, g->torque + row * spin_width(g->dim), torque);
}

static bool is_pushed(const talus_grain_def* def)
{
    return vec_dot(3, def->external_force, def->external_force) > 0.0 ||
           vec_dot(3, def->external_torque, def->external_torque) > 0.0;
}

static int32_t locked_axes(int dim, const talus_grain_def* def)
{
    int32_t bits = 0;
    for (int k = 0; k < dim; k++) bits |= def->locked[k] ? 1 << k : 0;
    return bits;
}

/// Zeros for the row of a new grain in all columns of the method soft; it is worked on last.
static void begin_soft(grains* g, int64_t row)
{
    double* const rates[] = {g->rate2, g->rate3, g->rate4, g->rate5, g->moved};
    double* const turns[] = {g->turn2, g->turn3, g->turn4, g->turn5, g->turned};
    const int dim = g->dim, spin_dim = spin_width(dim);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < dim && rates[k]; i++) rates[k][row * dim + i] = 0.0;
        for (int i = 0; i < spin_dim && turns[k]; i++) turns[k][row * spin_dim + i] = 0.0;
    }
    if (g->place) g->place[row] = INT32_MAX;
}

talus_status grains_add(grains* g, const talus_grain_def* def, int64_t* id, talus_error* error)
{
    TRY(grain_check(g, def, error));
    const bool ball = def->solid.index < 0;
    const grain_size size =
        ball ? ball_size(g->dim, def) : solid_size(&g->solids->row[def->solid.index], def);
    TRY(check_mass(&size, error));
    if (columns_reserve(g, grain_table, GRAIN_COLUMNS, g->dim, g->count + 1, &g->capacity) ||
        (def->glued_to.index >= 0 && need_glue(g)) || (is_pushed(def) && grains_need_forces(g)) ||
        (locked_axes(g->dim, def) && need(g, offsetof(grains, locked)))) {
        return error_memory(error, "adding a grain");
    }
    const int dim = g->dim;
    const int64_t i = g->count++;
    const int spin_dim = spin_width(dim);

    g->id[i] = g->next_id++;
    vec_copy(dim, g->position + i * dim, def->position);
    vec_copy(dim, g->velocity + i * dim, def->velocity);
    set_axial(dim, g->spin + i * spin_dim, def->spin);
    if (g->force) grain_set_force(g, i, def->external_force, def->external_torque);
    if (g->locked) g->locked[i] = locked_axes(dim, def);
    if (g->error) g->error[i] = 0.0;
    if (dim == 2) {
        g->rotation[i] = def->rotation[2];
    } else {
        quat_from_rotation(g->rotation + 4 * i, def->rotation);
    }
    for (int k = 0; k < dim; k++) g->image[i * dim + k] = 0;

    g->solid[i] = ball ? -1 : def->solid.index;
    g->scale[i] = ball ? 1.0 : def->scale;
    g->radius[i] = size.radius;
    g->mass[i] = size.mass;
    g->inertia[i] = size.inertia;
    g->glued_to[i] = def->glued_to.index >= 0 ? def->glued_to.index
                     : def->fixed             ? GRAIN_FIXED
                                              : GRAIN_FREE;
    bool free = g->glued_to[i] == GRAIN_FREE;
    if (!free) { // fixed grains stand still, glued ones get their wall's motion
        for (int k = 0; k < dim; k++) g->velocity[i * dim + k] = 0.0;
        for (int k = 0; k < spin_dim; k++) g->spin[i * spin_dim + k] = 0.0;
    }
    set_mobility(g, i, def->locked_rotation ? 0.0 : size.spin_mobility);
    g->material[i] = def->material.index;
    g->tag[i] = def->tag;
    begin_soft(g, i);
    if (id) *id = g->id[i];
    return TALUS_OK;
}

void grains_derive(grains* g)
{
    for (int64_t i = 0; i < g->count; i++) {
        const solid* s = grain_solid(g, i);
        const talus_grain_def def = {
            .radius = g->radius[i], .scale = g->scale[i], .mass = g->mass[i]};
        const grain_size size = s ? solid_size(s, &def) : ball_size(g->dim, &def);
        g->inertia[i] = size.inertia;
        set_mobility(g, i, size.spin_mobility);
    }
}

int64_t grains_find(const grains* g, int64_t id)
{
    int64_t low = 0, high = g->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->id[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < g->count && g->id[low] == id ? low : -1;
}

void grains_compact(grains* g, const uint8_t* keep)
{
    g->count = columns_compact(g, grain_table, GRAIN_COLUMNS, g->dim, g->count, keep);
}

double grain_volume(const grains* g, int64_t row)
{
    const solid* s = grain_solid(g, row);
    return s ? solid_volume(s, g->scale[row]) : ball_volume(g->dim, g->radius[row]);
}

double grain_diameter(const grains* g, int64_t row)
{
    const solid* s = grain_solid(g, row);
    if (!s) return 2.0 * g->radius[row];
    const double unit =
        g->dim == 2 ? sqrt(s->volume / M_PI) : portable_cbrt(0.75 * s->volume / M_PI);
    return 2.0 * g->scale[row] * unit;
}

// ---- rotation ----------------------------------------------------------------------------------

void grain_axes(const grains* g, int64_t row, double axes[9])
{
    if (g->dim == 2) {
        const double c = portable_cos(g->rotation[row]), s = portable_sin(g->rotation[row]);
        const double about_z[9] = {c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0};
        vec_copy(9, axes, about_z);
    } else {
        quat_matrix(axes, g->rotation + 4 * row);
    }
}

void grain_w_of_spin(const grains* g, int64_t row, const double* spin, double* w)
{
    const solid* s = grain_solid(g, row);
    const int spin_dim = spin_width(g->dim);
    if (!s || spin_dim == 1) {
        const double length = s ? g->scale[row] * s->root[8] : g->radius[row];
        for (int k = 0; k < spin_dim; k++) w[k] = length * spin[k];
        return;
    }
    double local[3];
    quat_rotate_back(local, g->rotation + 4 * row, spin);
    for (int k = 0; k < 3; k++) w[k] = g->scale[row] * vec_dot(3, s->root + 3 * k, local);
}

void grain_turning(const grains* g, int64_t row, double matrix[9])
{
    const solid* s = grain_solid(g, row);
    for (int k = 0; k < 9; k++) matrix[k] = 0.0;
    if (g->dim == 2) {
        matrix[0] = s ? s->unroot[8] / g->scale[row] : 1.0 / g->radius[row];
    } else if (!s) {
        matrix[0] = matrix[4] = matrix[8] = 1.0 / g->radius[row];
    } else {
        double axes[9];
        grain_axes(g, row, axes);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) { // unroot is symmetric
                matrix[3 * i + j] = vec_dot(3, axes + 3 * i, s->unroot + 3 * j) / g->scale[row];
            }
        }
    }
}

void grain_spin_of_w(const grains* g, int64_t row, const double* w, double* spin)
{
    const int spin_dim = spin_width(g->dim);
    if (g->solid[row] < 0) {
        for (int k = 0; k < spin_dim; k++) spin[k] = w[k] / g->radius[row];
        return;
    }
    double matrix[9], from[3] = {w[0], spin_dim == 3 ? w[1] : 0.0, spin_dim == 3 ? w[2] : 0.0};
    grain_turning(g, row, matrix);
    for (int k = 0; k < spin_dim; k++) spin[k] = vec_dot(3, matrix + 3 * k, from);
}

/// Angular momentum per mass of a solid in 3D: axes I axes^T spin.
static void angular_momentum(const grains* g, int64_t row, const solid* s, const double* spin,
                             double* out)
{
    double local[3], turned[3];
    const double square = g->scale[row] * g->scale[row];
    quat_rotate_back(local, g->rotation + 4 * row, spin);
    for (int k = 0; k < 3; k++) turned[k] = square * vec_dot(3, s->inertia + 3 * k, local);
    quat_rotate(out, g->rotation + 4 * row, turned);
}

/// The spin that belongs to an angular momentum per mass.
static void spin_of_momentum(const grains* g, int64_t row, const solid* s, const double* momentum,
                             double* spin)
{
    double local[3], half[3];
    const double square = g->scale[row] * g->scale[row];
    quat_rotate_back(local, g->rotation + 4 * row, momentum);
    for (int k = 0; k < 3; k++) half[k] = vec_dot(3, s->unroot + 3 * k, local);
    for (int k = 0; k < 3; k++) local[k] = vec_dot(3, s->unroot + 3 * k, half) / square;
    quat_rotate(spin, g->rotation + 4 * row, local);
}

void grain_add_torque(const grains* g, int64_t row, double h, double* spin)
{
    const int spin_dim = spin_width(g->dim);
    const double* torque = g->torque + row * spin_dim;
    const solid* s = grain_solid(g, row);
    if (g->spin_mobility[row] == 0.0) return;
    if (!s || spin_dim == 1) {
        vec_add_scaled(spin_dim, spin, h / g->inertia[row], torque);
        return;
    }
    double change[3];
    spin_of_momentum(g, row, s, torque, change);
    vec_add_scaled(3, spin, h / g->mass[row], change);
}

static void turn_by(double* rotation, const double angle[3])
{
    // Angles below rounding, 3e-17, would only make the rounding of the norm flicker for ever.
    if (vec_dot(3, angle, angle) < 1e-33) return;
    double turn[4];
    quat_from_rotation(turn, angle);
    quat_multiply(rotation, turn, rotation);
    quat_normalise(rotation);
}

/// Turn q about one of a solid's own axes as the energy of that axis asks for, beside that of a
/// ball with the middle moment.
static void turn_about_own_axis(const solid* s, int axis, double time, const double momentum[3],
                                double q[4])
{
    double local[3], turn[3], own[4];
    quat_rotate_back(local, q, momentum);
    const double along = vec_dot(3, s->axis + 3 * axis, local);
    const double angle = time * along * (1.0 / s->moment[axis] - 1.0 / s->moment[1]);
    for (int k = 0; k < 3; k++) turn[k] = angle * s->axis[3 * axis + k];
    quat_from_rotation(own, turn);
    quat_multiply(q, q, own);
}

/// A free solid keeps its angular momentum L, and turns about an axis that moves. Its energy is
/// that of a ball with its middle moment B, which turns about L by |L| h/B, and what its least and
/// its largest moment differ from that: each of these alone turns it about one of its own axes, by
/// an angle that is known. One after the other, the least in two halves, they are the motion to
/// second order, however slender the body is and however far it turns; that of a body with two
/// equal moments is exact. angle[]: the rotation, less its whole turns.
static void turn_freely(const grains* g, int64_t row, const solid* s, const double momentum[3],
                        double h, double angle[3])
{
    const double square = g->scale[row] * g->scale[row], time = h / square;
    const double* start = g->rotation + 4 * row;
    const double back[4] = {start[0], -start[1], -start[2], -start[3]};
    double about[3], q[4], turn[4];
    vec_copy(4, q, start);
    turn_about_own_axis(s, 0, 0.5 * time, momentum, q);
    turn_about_own_axis(s, 2, time, momentum, q);
    turn_about_own_axis(s, 0, 0.5 * time, momentum, q);
    for (int k = 0; k < 3; k++) about[k] = time / s->moment[1] * momentum[k];
    quat_from_rotation(turn, about);
    quat_multiply(q, turn, q);
    quat_multiply(turn, q, back);
    quat_to_rotation(angle, turn);
}

void grain_turn(grains* g, int64_t row, double h)
{
    if (g->dim == 2) {
        g->rotation[row] += h * g->spin[row];
        return;
    }
    const solid* s = grain_solid(g, row);
    double *spin = g->spin + 3 * row, momentum[3], angle[3];
    const bool free_solid = s && g->spin_mobility[row] > 0.0;
    if (!free_solid) {
        for (int k = 0; k < 3; k++) angle[k] = h * spin[k];
        turn_by(g->rotation + 4 * row, angle);
        return;
    }
    angular_momentum(g, row, s, spin, momentum);
    turn_freely(g, row, s, momentum, h, angle);
    turn_by(g->rotation + 4 * row, angle);
    // The angular momentum, not the spin, is what stays.
    spin_of_momentum(g, row, s, momentum, spin);
}

void grain_turn_aside(grains* g, int64_t row, const double* w)
{
    const solid* s = grain_solid(g, row);
    double angle[3], *spin = g->spin + row * spin_width(g->dim);
    grain_spin_of_w(g, row, w, angle);
    if (g->dim == 2) {
        g->rotation[row] += angle[0];
        return;
    }
    double momentum[3], before[3], after[3];
    grain_w_of_spin(g, row, spin, before);
    angular_momentum(g, row, s, spin, momentum);
    turn_by(g->rotation + 4 * row, angle);
    spin_of_momentum(g, row, s, momentum, spin);
    // The axes of inertia have turned: the spin keeps the direction of its momentum and its energy.
    grain_w_of_spin(g, row, spin, after);
    const double energy = vec_dot(3, after, after);
    for (int k = 0; k < 3 && energy > 0.0; k++)
        spin[k] *= sqrt(vec_dot(3, before, before) / energy);
}

void grain_rotate(grains* g, int64_t row, const double* w)
{
    double turn[3] = {0.0, 0.0, 0.0}, own[3] = {0.0, 0.0, 0.0};
    double* spin = g->spin + row * spin_width(g->dim);
    grain_spin_of_w(g, row, w, turn);
    if (g->dim == 2) {
        g->rotation[row] += turn[0];
        return;
    }
    grain_w_of_spin(g, row, spin, own);
    turn_by(g->rotation + 4 * row, turn);
    grain_spin_of_w(g, row, own, spin);
}

// ---- sums --------------------------------------------------------------------------------------

/// Energy of rotation of a grain, also where its rotation is locked.
static double rotation_energy(const grains* g, int64_t row)
{
    const int spin_dim = spin_width(g->dim);
    const double* spin = g->spin + row * spin_dim;
    if (g->solid[row] < 0) return 0.5 * g->inertia[row] * vec_dot(spin_dim, spin, spin);
    double w[3] = {0.0, 0.0, 0.0};
    grain_w_of_spin(g, row, spin, w);
    return 0.5 * g->mass[row] * vec_dot(3, w, w);
}

double grain_kinetic_energy(const grains* g, int64_t row)
{
    const double* v = g->velocity + row * g->dim;
    return 0.5 * g->mass[row] * vec_dot(g->dim, v, v) + rotation_energy(g, row);
}

static void add_energies(void* data, int64_t first, int64_t last, double* energy)
{
    const grains* g = data;
    for (int64_t i = first; i < last; i++) {
        if (g->glued_to[i] == GRAIN_FREE) *energy += grain_kinetic_energy(g, i);
    }
}

double grains_kinetic_energy(const grains* g, int threads)
{
    double energy;
    parallel_reduce(threads, g->count, PARALLEL_SUM, 1, add_energies, (void*)(uintptr_t)g, &energy);
    return energy;
}

/// A property of the grains whose mean is wanted.
typedef struct mean_task {
    const grains* g;
    double (*property)(const grains*, int64_t);
} mean_task;

/// Sums over the free grains and over all, and how many are free.
static void add_property(void* data, int64_t first, int64_t last, double sums[3])
{
    const mean_task* task = data;
    for (int64_t i = first; i < last; i++) {
        const double value = task->property(task->g, i);
        sums[1] += value;
        if (task->g->glued_to[i] != GRAIN_FREE) continue;
        sums[0] += value;
        sums[2] += 1.0;
    }
}

/// Mean of a property over the free grains, over all if none is free, 1 if there are none.
static double mean_over_free(const grains* g, int threads,
                             double (*property)(const grains*, int64_t))
{
    mean_task task = {g, property};
    double sums[3];
    parallel_reduce(threads, g->count, PARALLEL_SUM, 3, add_property, &task, sums);
    if (sums[2] > 0.0) return sums[0] / sums[2];
    return g->count > 0 ? sums[1] / (double)g->count : 1.0;
}

static double grain_mass(const grains* g, int64_t row)
{
    return g->mass[row];
}

double grains_mean_diameter(const grains* g, int threads)
{
    return mean_over_free(g, threads, grain_diameter);
}

double grains_mean_mass(const grains* g, int threads)
{
    return mean_over_free(g, threads, grain_mass);
}

/// Least low[dim] and, with the sign turned, least -high[dim].
static void stretch_box(void* data, int64_t first, int64_t last, double* box)
{
    const grains* g = data;
    const int dim = g->dim;
    for (int64_t i = first; i < last; i++) {
        for (int k = 0; k < dim; k++) {
            const double x = g->position[i * dim + k];
            box[k] = fmin(box[k], x - g->radius[i]);
            box[dim + k] = fmin(box[dim + k], -(x + g->radius[i]));
        }
    }
}

void grains_box(const grains* g, int threads, double* low, double* high)
{
    double box[6];
    parallel_reduce(threads, g->count, PARALLEL_MIN, 2 * g->dim, stretch_box, (void*)(uintptr_t)g,
                    box);
    for (int k = 0; k < g->dim; k++) {
        low[k] = box[k];
        high[k] = -box[g->dim + k];
    }
}
