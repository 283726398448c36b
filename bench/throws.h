/// Slender solids thrown at walls and at each other, with steps that carry them farther than they
/// are thick, and a ruler that follows every step: how deep does anything go?
///
/// Rods, plates, needles and wedges meet every kind of wall, fixed, driven or mobile, and each
/// other. Between the beginning and the end of a step bodies move evenly and turn about one axis
/// (or, by more than half a turn, about their length, which swings evenly); on this way they are
/// looked at as often as they move by a part of their thickness, and their overlap is measured by
/// convex_distance() (which is tested against brute force of its own), by the corners where a wall
/// is hollow, and by separating axes where it is made of triangles. Who passes another body
/// overlaps it on the way by half of the thickness at least: so the deepest overlap, in
/// thicknesses, tells whether anything passed.
///
/// A step that the engine has cut into shorter ones is repeated in these, for the way is theirs.
#ifndef TALUS_BENCH_THROWS_H
#define TALUS_BENCH_THROWS_H

#include "base/rng.h"
#include "base/vec.h"
#include "detect/poses.h"
#include "geometry/convex.h"
#include "geometry/polytope.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/talus.h>

enum { THROW_CORNERS = 16, THROW_TRIANGLES = 160, THROW_DEPTH = 12 };

typedef enum throw_target {
    TARGET_PLANE,
    TARGET_BOX_INSIDE,
    TARGET_DRUM, ///< a cylinder from inside
    TARGET_BOX,
    TARGET_CYLINDER,
    TARGET_CONE,
    TARGET_PLATE,
    TARGET_MESH,
    TARGET_SEGMENT,
    TARGET_SOLID,
    TARGET_GRAIN, ///< another body thrown
    TARGET_COUNT
} throw_target;

static const char* const throw_target_names[TARGET_COUNT] = {
    "plane", "box from inside", "drum",  "box",       "cylinder", "cone", "plate",
    "mesh",  "segment",         "solid", "each other"};

typedef enum throw_shape {
    SHAPE_ROD,
    SHAPE_PLATE,
    SHAPE_NEEDLE,
    SHAPE_WEDGE,
    SHAPE_COUNT
} throw_shape;

static const char* const throw_shape_names[SHAPE_COUNT] = {"rod", "plate", "needle", "wedge"};

typedef enum throw_drive { DRIVE_FIXED, DRIVE_DRIVEN, DRIVE_MOBILE, DRIVE_COUNT } throw_drive;

/// One throw.
typedef struct throw_case {
    int dim;
    throw_shape shape;
    throw_target target;
    throw_drive drive;
    double h;
    double restitution;
    uint64_t number; ///< key of its random numbers
} throw_case;

/// What came of it.
typedef struct throw_result {
    double depth;  ///< largest overlap on the way, in thicknesses of the thinner body
    double begins; ///< step in which it was deepest
    bool lost;     ///< the engine gave a body up
    int64_t steps, substeps, contacts;
    char why[200];
} throw_result;

/// A body in place at some moment.
typedef struct throw_pose {
    double x[3], q[4];
    double spin[3];
} throw_pose;

/// A throw on its way.
typedef struct throwing {
    throw_case is;
    rng random;
    polytope shape[2]; ///< of the grains, and of a wall that is convex
    int shapes;
    double thickness[2], radius[2];
    double triangle[THROW_TRIANGLES][9]; ///< of a wall that is a surface, in its frame
    int triangles;
    talus_wall_def wall;
    bool has_wall;
    double wall_radius; ///< of a disk or a drum
    double size;        ///< of the target
} throwing;

static void throw_ok(bool good, const char* why)
{
    if (good) return;
    fprintf(stderr, "throws: %s\n", why);
    exit(1);
}

// ---- shapes ------------------------------------------------------------------------------------

/// Corners of a slender body of length 1.
static int throw_corners(int dim, throw_shape shape, rng* r, double* out)
{
    const double thin = (dim == 2 ? 0.005 : 0.01) * (1.0 + 3.0 * rng_uniform(r));
    int count = 0;
    if (dim == 2) {
        static const double form[SHAPE_COUNT][4][2] = {
            [SHAPE_ROD] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}},
            [SHAPE_PLATE] = {{-0.5, -0.1}, {0.5, -0.1}, {0.5, 0.1}, {-0.5, 0.1}},
            [SHAPE_NEEDLE] = {{-0.5, 0.0}, {0.0, -0.5}, {0.5, 0.0}, {0.0, 0.5}},
            [SHAPE_WEDGE] = {{-0.5, -0.5}, {0.5, 0.0}, {-0.5, 0.5}, {-0.5, 0.0}}};
        const int corners = shape == SHAPE_WEDGE ? 3 : 4;
        for (; count < corners; count++) {
            out[2 * count] = form[shape][count][0];
            out[2 * count + 1] = 2.0 * thin * form[shape][count][1];
        }
        return count;
    }
    for (int end = -1; end <= 1; end += 2) {
        const int round = shape == SHAPE_ROD ? 6 : 4;
        for (int i = 0; i < round; i++) {
            const double y = i & 1 ? 1.0 : -1.0, z = i & 2 ? 1.0 : -1.0;
            double* x = out + 3 * count++;
            x[0] = 0.5 * end;
            switch (shape) {
            case SHAPE_ROD:
                x[1] = thin * cos(M_PI * i / 3.0), x[2] = thin * sin(M_PI * i / 3.0);
                break;
            case SHAPE_PLATE: x[1] = 0.4 * y, x[2] = 0.2 * thin * z; break;
            case SHAPE_NEEDLE: x[1] = thin * y, x[2] = thin * z; break;
            default: x[1] = 0.2 * y, x[2] = end < 0 ? thin * z : 1e-3 * thin * z; break;
            }
        }
    }
    return count;
}

/// Least width of a polytope: across a face, or (3D) between two edges that cross.
static double throw_width(const polytope* p)
{
    double least = INFINITY;
    for (int f = 0; f < p->face_count; f++) {
        double low = INFINITY;
        for (int v = 0; v < p->vertex_count; v++) {
            low = fmin(low, vec_dot(p->dim, p->normal + p->dim * f, p->vertex + p->dim * v));
        }
        least = fmin(least, p->offset[f] - low);
    }
    return least;
}

static void throw_add_shape(throwing* t, const double* corners, int count)
{
    talus_error error;
    const int i = t->shapes++, dim = t->is.dim;
    throw_ok(!polytope_hull(dim, corners, count, &t->shape[i], &error), "hull");
    double mean[3] = {0.0, 0.0, 0.0}, back[3];
    const mass_properties mass = polytope_mass(&t->shape[i], 0.0);
    vec_copy(dim, mean, mass.centre);
    for (int k = 0; k < 3; k++) back[k] = -mean[k];
    polytope_shift(&t->shape[i], back); // as the engine does
    t->thickness[i] = throw_width(&t->shape[i]);
    t->radius[i] = 0.0;
    for (int v = 0; v < t->shape[i].vertex_count; v++) {
        t->radius[i] = fmax(t->radius[i], vec_norm(dim, t->shape[i].vertex + dim * v));
    }
}

// ---- the ruler ---------------------------------------------------------------------------------

static convex throw_place(const throwing* t, int i, const throw_pose* at, double* numbers)
{
    double axes[9];
    quat_matrix(axes, at->q);
    return convex_turn(&t->shape[i], axes, 1.0, 0.0, numbers);
}

/// Separation of a body and a triangle along all axes that can separate them, in the triangle's
/// frame: minus the least displacement that takes them apart where they overlap. A gap of `enough`
/// or more is not looked at further.
static double throw_triangle_gap(const convex* b, const double delta[3], const double c[9],
                                 double enough)
{
    double side[3][3], best = -INFINITY;
    for (int i = 0; i < 3; i++) vec_sub(3, side[i], c + 3 * ((i + 1) % 3), c + 3 * i);
    const int faces = b->shape->face_count, edges = b->shape->edge_count;
    for (int a = 0; a < 4 + faces + 3 * edges && best < enough; a++) {
        double n[3];
        if (a == 0) {
            vec_cross(n, side[0], side[1]);
        } else if (a < 4) { // in the triangle's plane, out of a side
            double m[3];
            vec_cross(m, side[0], side[1]);
            vec_cross(n, side[a - 1], m);
        } else if (a < 4 + faces) {
            vec_copy(3, n, b->normal + 3 * (a - 4));
        } else {
            const int e = (a - 4 - faces) / 3;
            const int32_t* v = b->shape->edge + 4 * e;
            double u[3];
            vec_sub(3, u, b->vertex + 3 * v[1], b->vertex + 3 * v[0]);
            vec_cross(n, u, side[(a - 4 - faces) % 3]);
        }
        const double length = vec_norm(3, n);
        if (length < 1e-9) continue;
        double low = INFINITY, high = -INFINITY, low_c = INFINITY, high_c = -INFINITY;
        const double shift = vec_dot(3, delta, n);
        for (int v = 0; v < b->vertex_count; v++) {
            const double x = vec_dot(3, b->vertex + 3 * v, n) + shift;
            if (x < low) low = x; // fmin() would take most of the time
            if (x > high) high = x;
        }
        for (int v = 0; v < 3; v++) {
            const double x = vec_dot(3, c + 3 * v, n);
            if (x < low_c) low_c = x;
            if (x > high_c) high_c = x;
        }
        best = fmax(best, fmax(low - high_c, low_c - high) / length);
    }
    return best;
}

/// Gap between body 0 and the target (body 1 or the wall), negative: overlap. A lower bound where
/// they are apart.
static double throw_gap(const throwing* t, const throw_pose* at, const throw_pose* of_target)
{
    double numbers[2][400], delta[3],
        back[4] = {of_target->q[0], -of_target->q[1], -of_target->q[2], -of_target->q[3]};
    const int dim = t->is.dim;
    throw_pose local = {.q = {1.0, 0.0, 0.0, 0.0}};
    vec_sub(3, delta, at->x, of_target->x);
    quat_rotate_back(local.x, of_target->q, delta);
    quat_multiply(local.q, back, at->q);
    const convex b = throw_place(t, 0, &local, numbers[0]);
    double gap = INFINITY, n[3];
    const talus_shape_def* w = &t->wall.shape;
    switch (t->is.target) {
    case TARGET_PLANE:
    case TARGET_BOX_INSIDE:
    case TARGET_DRUM:
        for (int v = 0; v < b.vertex_count; v++) {
            double x[3] = {0.0, 0.0, 0.0};
            for (int k = 0; k < dim; k++) x[k] = local.x[k] + b.vertex[dim * v + k];
            if (t->is.target == TARGET_PLANE) gap = fmin(gap, vec_dot(3, x, w->normal));
            for (int k = 0; k < dim && t->is.target == TARGET_BOX_INSIDE; k++) {
                gap = fmin(gap, w->half_size[k] - fabs(x[k]));
            }
            if (t->is.target == TARGET_DRUM) gap = fmin(gap, w->radius - hypot(x[0], x[1]));
        }
        return gap;
    case TARGET_CONE:
    case TARGET_PLATE:
    case TARGET_MESH:
        for (int i = 0; i < t->triangles; i++) {
            double away[3], far = 0.0;
            for (int k = 0; k < 3; k++) {
                const double* c = t->triangle[i];
                const double low = fmin(c[k], fmin(c[3 + k], c[6 + k]));
                const double high = fmax(c[k], fmax(c[3 + k], c[6 + k]));
                away[k] = fmax(0.0, fmax(low - local.x[k], local.x[k] - high));
            }
            far = vec_norm(3, away) - t->radius[0]; // no nearer than this
            if (far > 0.0 && far >= gap) continue;
            if (far > 0.3) {
                gap = fmin(gap, far);
                continue;
            }
            gap = fmin(gap, throw_triangle_gap(&b, local.x, t->triangle[i], gap));
        }
        return gap;
    default: break;
    }
    if (dim == 2 && t->is.target == TARGET_CYLINDER) {
        const convex disk = convex_ball(2, w->radius);
        return convex_distance(&disk, &b, local.x, n);
    }
    const throw_pose origin = {.q = {1.0, 0.0, 0.0, 0.0}};
    double* room = t->is.target == TARGET_CYLINDER ? malloc(sizeof(double) * 4000) : numbers[1];
    const convex a = throw_place(t, 1, &origin, room);
    gap = convex_distance(&a, &b, local.x, n);
    if (room != numbers[1]) free(room);
    return gap;
}

/// How a body turns on its way: evenly about an axis in space, and evenly about its own length.
typedef struct throw_turn {
    double about[3];
    double roll;
} throw_turn;

/// By how much a body turned on its way in the time h. Orientations do not show whole turns: there
/// were as many as come nearest to what the spin makes of the time. A flat one makes them about its
/// only axis. In space it is its length that a slender body spins about so fast, after a blow at
/// its side, while that swings by little. (A whole turn about an axis that is off the length by the
/// swing would carry the ends round a cone.)
static throw_turn throw_turn_of(int dim, const throw_pose* from, const throw_pose* to, double h)
{
    const double back[4] = {from->q[0], -from->q[1], -from->q[2], -from->q[3]};
    throw_turn out = {.roll = 0.0};
    double way[4];
    quat_multiply(way, to->q, back);
    quat_to_rotation(out.about, way);
    const double angle = vec_norm(3, out.about);
    if (!(angle > 0.0)) return out;
    const double by_spin = h * vec_dot(3, to->spin, out.about) / angle;
    const double whole = round((by_spin - angle) / (2.0 * M_PI));
    if (whole == 0.0) return out;
    if (dim == 2) {
        for (int k = 0; k < 3; k++) out.about[k] *= 1.0 + 2.0 * M_PI * whole / angle;
        return out;
    }
    double own[4], spin[3], unrolled[4];
    quat_multiply(own, back, to->q);
    quat_rotate_back(spin, to->q, to->spin);
    out.roll = 2.0 * atan2(own[1], own[0]);
    out.roll += 2.0 * M_PI * round((h * spin[0] - out.roll) / (2.0 * M_PI));
    const double undo[3] = {-out.roll, 0.0, 0.0};
    quat_from_rotation(own, undo);
    quat_multiply(unrolled, to->q, own);
    quat_multiply(way, unrolled, back);
    quat_to_rotation(out.about, way);
    return out;
}

/// The place at the part s of the way from one to another, on which a body turns.
static throw_pose throw_between(const throw_pose* from, const throw_pose* to,
                                const throw_turn* turn, double s)
{
    const double roll[3] = {s * turn->roll, 0.0, 0.0};
    double about[3], q[4], turned[4];
    throw_pose out;
    for (int k = 0; k < 3; k++) {
        out.x[k] = from->x[k] + s * (to->x[k] - from->x[k]);
        about[k] = s * turn->about[k];
    }
    quat_from_rotation(q, about);
    quat_multiply(turned, q, from->q);
    quat_from_rotation(q, roll);
    quat_multiply(out.q, turned, q);
    return out;
}

static double throw_way(const throw_pose* from, const throw_pose* to, const throw_turn* turn,
                        double radius)
{
    double d[3];
    vec_sub(3, d, to->x, from->x);
    return vec_norm(3, d) + radius * (vec_norm(3, turn->about) + fabs(turn->roll));
}

/// Deepest overlap on the way of both, in the time h.
static double throw_deepest(const throwing* t, const throw_pose from[2], const throw_pose to[2],
                            double h)
{
    throw_turn turn[2];
    for (int i = 0; i < 2; i++) {
        throw_pose end = to[i];
        // Who bounces gets its spin at some time within the step: half of it, say.
        for (int k = 0; k < 3 && t->is.restitution > 0.0; k++) {
            end.spin[k] = 0.5 * (from[i].spin[k] + to[i].spin[k]);
        }
        turn[i] = throw_turn_of(t->is.dim, &from[i], &end, h);
    }
    const double thin =
        t->is.target == TARGET_GRAIN ? fmin(t->thickness[0], t->thickness[1]) : t->thickness[0];
    double between[3];
    vec_sub(3, between, from[0].x, from[1].x);
    const double way = throw_way(&from[0], &to[0], &turn[0], t->radius[0]) +
                       throw_way(&from[1], &to[1], &turn[1], t->size + vec_norm(3, between));
    const double finest = 0.1 * thin;
    double deepest = 0.0, s = 0.0;
    while (true) {
        const throw_pose a = throw_between(&from[0], &to[0], &turn[0], s);
        const throw_pose b = throw_between(&from[1], &to[1], &turn[1], s);
        const double gap = throw_gap(t, &a, &b);
        deepest = fmax(deepest, -gap);
        if (s >= 1.0) return deepest;
        s = fmin(1.0, s + fmax(gap, finest) / way); // nothing is nearer before
    }
}

// ---- making a throw ----------------------------------------------------------------------------

static void throw_random_turn(rng* r, int dim, double turn[3])
{
    double length = 0.0;
    for (int k = 0; k < 3; k++) {
        turn[k] = dim == 2 && k < 2 ? 0.0 : rng_normal(r);
        length += turn[k] * turn[k];
    }
    const double angle = M_PI * rng_uniform(r);
    for (int k = 0; k < 3; k++) turn[k] *= angle / sqrt(length);
}

static void throw_triangle(throwing* t, const double a[3], const double b[3], const double c[3])
{
    double* x = t->triangle[t->triangles++];
    vec_copy(3, x, a), vec_copy(3, x + 3, b), vec_copy(3, x + 6, c);
}

/// A folded sheet of triangles with a ridge, a valley and a rim.
static void throw_make_mesh(throwing* t)
{
    double x[5][4][3];
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 4; j++) {
            x[i][j][0] = -0.6 + 0.3 * i, x[i][j][1] = -0.6 + 0.4 * j;
            x[i][j][2] = 0.15 * (i % 2) + 0.05 * rng_uniform(&t->random);
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++) {
            throw_triangle(t, x[i][j], x[i + 1][j], x[i + 1][j + 1]);
            throw_triangle(t, x[i][j], x[i + 1][j + 1], x[i][j + 1]);
        }
    }
    t->wall.shape.triangles = t->triangle[0];
    t->wall.shape.triangle_count = t->triangles;
}

static void throw_make_target(throwing* t)
{
    const int dim = t->is.dim;
    talus_error error;
    talus_wall_def* w = &t->wall;
    *w = talus_wall_default();
    w->name = "target";
    t->has_wall = t->is.target != TARGET_GRAIN;
    t->size = 0.7;
    double corners[3 * THROW_CORNERS];
    switch (t->is.target) {
    case TARGET_PLANE:
        w->shape.kind = TALUS_SHAPE_PLANE;
        w->shape.normal[dim - 1] = 1.0;
        break;
    case TARGET_BOX_INSIDE:
    case TARGET_BOX:
        w->shape.kind = TALUS_SHAPE_BOX;
        w->shape.inside = t->is.target == TARGET_BOX_INSIDE;
        for (int k = 0; k < 3; k++) w->shape.half_size[k] = w->shape.inside ? 1.0 : 0.2 + 0.1 * k;
        if (w->shape.inside) break;
        throw_ok(!polytope_box(dim, w->shape.half_size, &t->shape[t->shapes++], &error), "box");
        break;
    case TARGET_DRUM:
    case TARGET_CYLINDER:
        w->shape.kind = TALUS_SHAPE_CYLINDER;
        w->shape.inside = t->is.target == TARGET_DRUM;
        w->shape.axis[2] = 1.0;
        w->shape.radius = w->shape.inside ? 1.0 : 0.25;
        w->shape.half_length = w->shape.inside ? 0.0 : 0.5;
        if (w->shape.inside || dim == 2) break;
        throw_ok(
            !polytope_prism(w->shape.axis, 0.25, 0.5, WALL_SIDES, &t->shape[t->shapes++], &error),
            "prism");
        break;
    case TARGET_CONE: {
        w->shape.kind = TALUS_SHAPE_CONE;
        w->shape.axis[2] = 1.0;
        w->shape.radius = 0.2, w->shape.radius_high = 0.6, w->shape.half_length = 0.3;
        const double angle = 2.0 * M_PI / WALL_SIDES, grow = sqrt(angle / sin(angle));
        double frame[3][3], x[2][2][3];
        vec_frame(3, w->shape.axis, frame);
        for (int i = 0; i < WALL_SIDES; i++) {
            for (int j = 0; j < 4; j++) {
                const double r = grow * (j % 2 ? 0.6 : 0.2), a = angle * (i + j / 2);
                for (int k = 0; k < 3; k++) {
                    x[j / 2][j % 2][k] = (j % 2 ? 0.3 : -0.3) * frame[0][k] +
                                         r * (cos(a) * frame[1][k] + sin(a) * frame[2][k]);
                }
            }
            throw_triangle(t, x[0][0], x[1][0], x[0][1]);
            throw_triangle(t, x[1][0], x[1][1], x[0][1]);
        }
        break;
    }
    case TARGET_PLATE:
        w->shape.kind = TALUS_SHAPE_PLATE;
        w->shape.edge_u[0] = 0.4, w->shape.edge_v[1] = 0.3;
        for (int i = 0; i < 2; i++) {
            const double x[4][3] = {{-0.4, -0.3, 0}, {0.4, -0.3, 0}, {0.4, 0.3, 0}, {-0.4, 0.3, 0}};
            throw_triangle(t, x[0], x[1 + i], x[2 + i]);
        }
        break;
    case TARGET_MESH:
        w->shape.kind = TALUS_SHAPE_MESH;
        throw_make_mesh(t);
        break;
    case TARGET_SEGMENT: {
        const double from[2] = {-0.4, -0.1}, to[2] = {0.4, 0.1};
        w->shape.kind = TALUS_SHAPE_SEGMENT;
        w->shape.edge_u[0] = 0.4, w->shape.edge_u[1] = 0.1;
        throw_ok(!polytope_segment(from, to, &t->shape[t->shapes++], &error), "segment");
        break;
    }
    case TARGET_SOLID:
        throw_add_shape(t, corners, throw_corners(dim, SHAPE_WEDGE, &t->random, corners));
        w->shape.kind = TALUS_SHAPE_SOLID;
        break;
    case TARGET_GRAIN:
    case TARGET_COUNT: {
        const throw_shape other = (throw_shape)(4.0 * rng_uniform(&t->random));
        throw_add_shape(t, corners, throw_corners(dim, other, &t->random, corners));
        break;
    }
    }
    double turn[3];
    throw_random_turn(&t->random, dim, turn);
    vec_copy(3, w->rotation, turn);
    talus_drive_def* d = &w->drive;
    if (t->is.drive == DRIVE_DRIVEN) {
        d->kind = TALUS_DRIVE_VELOCITY;
        for (int k = 0; k < dim; k++) d->velocity[k] = 2.0 * rng_uniform(&t->random) - 1.0;
        for (int k = 0; k < 3; k++) d->spin[k] = 4.0 * rng_uniform(&t->random) - 2.0;
        if (dim == 2) d->spin[0] = d->spin[1] = 0.0;
        if (dim == 2) d->velocity[2] = 0.0;
    } else if (t->is.drive == DRIVE_MOBILE) {
        d->kind = TALUS_DRIVE_FORCE;
        d->mass = 0.01;
        for (int k = 0; k < dim; k++) d->free_axes[k] = true;
    }
}

static talus_solid_id throw_add_solid(talus_world* world, const throwing* t, int i)
{
    talus_error error;
    talus_solid_id id;
    talus_solid_def def = talus_solid_default();
    def.name = i ? "second" : "first";
    def.points = t->shape[i].vertex;
    def.point_count = t->shape[i].vertex_count;
    throw_ok(!talus_world_add_solid(world, &def, &id, &error), error.text);
    return id;
}

static void throw_pose_of(const talus_world* world, const throwing* t, throw_pose out[2])
{
    const talus_grains g = talus_world_grains(world);
    const int dim = g.dim;
    for (int i = 0; i < 2; i++) {
        out[i] = (throw_pose){.q = {1.0, 0.0, 0.0, 0.0}};
        if (i == 1 && t->has_wall) {
            talus_error error;
            talus_wall_state state;
            throw_ok(!talus_world_wall(world, (talus_wall_id){0}, &state, &error), error.text);
            vec_copy(3, out[i].x, state.position);
            vec_copy(4, out[i].q, state.rotation);
            vec_copy(3, out[i].spin, state.spin);
        } else {
            vec_copy(dim, out[i].x, g.position + dim * i);
            const double turn[3] = {0.0, 0.0, g.rotation[i]};
            if (dim == 2) {
                quat_from_rotation(out[i].q, turn);
                out[i].spin[2] = g.spin[i];
            } else {
                vec_copy(4, out[i].q, g.rotation + 4 * i);
                vec_copy(3, out[i].spin, g.spin + 3 * i);
            }
        }
    }
}

/// A world with the target at the origin and a body that flies to a point of it.
static talus_world* throw_make(throwing* t)
{
    const int dim = t->is.dim;
    rng* r = &t->random;
    talus_error error;
    talus_world* world;
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.gravity[dim - 1] = -9.81;
    def.on_escape = TALUS_POLICY_STOP;
    throw_ok(!talus_world_create(&def, &world, &error), error.text);
    talus_pair_def pair = talus_pair_default();
    static const double frictions[3] = {0.0, 0.3, 1.0};
    pair.friction = frictions[(int)(3.0 * rng_uniform(r))];
    pair.restitution = t->is.restitution;
    throw_ok(!talus_world_add_material(world, "stone", &pair, NULL, &error), error.text);
    double corners[3 * THROW_CORNERS];
    throw_add_shape(t, corners, throw_corners(dim, t->is.shape, r, corners));
    throw_make_target(t);
    talus_grain_def g = talus_grain_default();
    g.solid = throw_add_solid(world, t, 0);
    g.density = 1.0;
    if (t->is.target == TARGET_SOLID) t->wall.shape.solid = throw_add_solid(world, t, 1);
    if (t->has_wall) {
        talus_wall_id id;
        throw_ok(!talus_world_add_wall(world, &t->wall, &id, &error), error.text);
    }
    // Somewhere near the target where they do not overlap.
    const bool hollow = t->is.target == TARGET_BOX_INSIDE || t->is.target == TARGET_DRUM;
    throw_pose at = {.q = {1.0, 0.0, 0.0, 0.0}}, of = {.q = {1.0, 0.0, 0.0, 0.0}};
    if (t->has_wall) {
        quat_from_rotation(of.q, t->wall.rotation);
    }
    const double speed = 1.0 + 4.0 * rng_uniform(r), clear = t->is.h * speed * 6.0 * rng_uniform(r);
    double aim[3] = {0.0, 0.0, 0.0}, turn[3], best[9] = {0.0}, nearest = INFINITY;
    for (int tries = 0; tries < 2000 && nearest > clear; tries++) {
        double away[3] = {0.0, 0.0, 0.0};
        throw_random_turn(r, dim, turn);
        quat_from_rotation(at.q, turn);
        for (int k = 0; k < dim; k++) {
            aim[k] = (hollow ? 0.5 : 0.3) * (2.0 * rng_uniform(r) - 1.0);
            away[k] = rng_normal(r);
        }
        const double far = (hollow ? 0.5 : 1.2) * rng_uniform(r) / vec_norm(3, away);
        for (int k = 0; k < dim; k++) at.x[k] = aim[k] + far * away[k];
        const double gap = throw_gap(t, &at, &of);
        if (gap < 0.01 * t->thickness[0] || gap > nearest) continue;
        nearest = gap;
        vec_copy(3, best, at.x), vec_copy(3, best + 3, turn), vec_copy(3, best + 6, aim);
    }
    throw_ok(isfinite(nearest), "no room for a throw");
    vec_copy(3, at.x, best), vec_copy(3, turn, best + 3), vec_copy(3, aim, best + 6);
    vec_copy(3, g.position, at.x);
    vec_copy(3, g.rotation, turn);
    // Towards the target's middle, or to the nearest of a hollow one.
    double to[3];
    vec_sub(3, to, aim, at.x);
    if (hollow)
        for (int k = 0; k < 3; k++) to[k] = -to[k];
    const double length = vec_norm(3, to);
    for (int k = 0; k < dim; k++) g.velocity[k] = speed * to[k] / length;
    const double spin = 16.0 * rng_uniform(r) * rng_uniform(r);
    throw_random_turn(r, dim, turn);
    const double angle = vec_norm(3, turn);
    for (int k = 0; k < 3; k++) g.spin[k] = spin * turn[k] / angle;
    int64_t id;
    throw_ok(!talus_world_add_grain(world, &g, &id, &error), error.text);
    if (t->has_wall) return world;
    talus_grain_def other = talus_grain_default();
    other.solid = throw_add_solid(world, t, 1);
    other.density = 1.0;
    for (int k = 0; k < 3; k++) other.spin[k] = dim == 3 || k == 2 ? 4.0 * rng_uniform(r) - 2.0 : 0;
    throw_ok(!talus_world_add_grain(world, &other, &id, &error), error.text);
    return world;
}

// ---- flying ------------------------------------------------------------------------------------

/// One step of the engine, in as many as it took; false when it stopped.
static bool throw_step(const throwing* t, talus_world** world, double h, int depth,
                       throw_result* out)
{
    talus_error error;
    talus_world* before;
    talus_step_result r;
    throw_pose from[2], to[2];
    throw_ok(!talus_world_copy(*world, &before, &error), error.text);
    const talus_status status = talus_world_step(*world, h, &r, &error);
    if (status == TALUS_OK && r.substeps > 1 && depth < THROW_DEPTH) {
        talus_world_destroy(*world);
        *world = before;
        return throw_step(t, world, 0.5 * h, depth + 1, out) &&
               throw_step(t, world, 0.5 * h, depth + 1, out);
    }
    if (status != TALUS_OK) {
        snprintf(out->why, sizeof out->why, "%.*s", (int)sizeof out->why - 1, error.text);
        out->lost = true;
    } else {
        throw_pose_of(before, t, from);
        throw_pose_of(*world, t, to);
        out->depth = fmax(out->depth, throw_deepest(t, from, to, h));
        out->substeps++;
        out->contacts += r.contacts;
    }
    talus_world_destroy(before);
    return status == TALUS_OK;
}

static throw_result throw_one(const throw_case* is, int steps)
{
    throwing* t = calloc(1, sizeof *t);
    throw_ok(t, "memory");
    t->is = *is;
    t->random = rng_make(2026, is->number, 7);
    throw_result out = {.begins = -1.0};
    talus_world* world = throw_make(t);
    for (int i = 0; i < steps; i++) {
        const double before = out.depth;
        if (!throw_step(t, &world, is->h, 0, &out)) break;
        out.steps++;
        if (out.depth > before) out.begins = i;
    }
    const double thin =
        is->target == TARGET_GRAIN ? fmin(t->thickness[0], t->thickness[1]) : t->thickness[0];
    out.depth /= thin;
    talus_world_destroy(world);
    for (int i = 0; i < t->shapes; i++) polytope_free(&t->shape[i]);
    free(t);
    return out;
}

/// The throw of this number: all shapes, targets, motions and steps in turn.
static throw_case throw_number(uint64_t number)
{
    static const double steps[] = {1e-3, 2e-3, 5e-3, 1e-2, 2e-2};
    static const throw_target flat[] = {TARGET_PLANE, TARGET_BOX_INSIDE, TARGET_DRUM,
                                        TARGET_BOX,   TARGET_CYLINDER,   TARGET_SEGMENT,
                                        TARGET_SOLID, TARGET_GRAIN,      TARGET_GRAIN};
    static const throw_target deep[] = {
        TARGET_PLANE, TARGET_BOX_INSIDE, TARGET_DRUM,  TARGET_BOX,   TARGET_CYLINDER, TARGET_CONE,
        TARGET_PLATE, TARGET_MESH,       TARGET_SOLID, TARGET_GRAIN, TARGET_GRAIN};
    throw_case c = {.number = number};
    rng r = rng_make(2026, number, 6);
    c.dim = number % 3 == 0 ? 2 : 3;
    c.shape = (throw_shape)(SHAPE_COUNT * rng_uniform(&r));
    c.target =
        c.dim == 2 ? flat[(int)(9.0 * rng_uniform(&r))] : deep[(int)(11.0 * rng_uniform(&r))];
    c.drive = (throw_drive)(DRIVE_COUNT * rng_uniform(&r));
    c.h = steps[(int)(5.0 * rng_uniform(&r))];
    if (number % 4 == 2) c.restitution = rng_uniform(&r); // a quarter of them bounce
    return c;
}

#endif
