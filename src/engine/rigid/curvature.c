#include "rigid/curvature.h"

#include "base/vec.h"
#include "geometry/feature.h"
#include "geometry/shape.h"
#include "state/drive.h"

#include <math.h>

/// A body of a contact as it moves into the step: its centre goes straight, the rest turns about
/// it.
typedef struct moving_body {
    double centre[3]; ///< from that of the contact's grain b
    double v[3];
    double spin[3]; ///< with which its shape turns: that of a ball does not
    double arm[3];  ///< from its centre to the point that is followed
} moving_body;

/// A wall, or what is glued to it, turns about the wall's pivot.
static const double* move_with_wall(const walls* w, int wall, moving_body* m, double pivot[3])
{
    double arm[3], turn[3];
    drive_pivot(w, wall, pivot);
    vec_copy(3, m->spin, w->spin + 3 * wall);
    vec_sub(3, arm, w->position + 3 * wall, pivot);
    vec_cross(turn, m->spin, arm);
    vec_sub(3, m->v, w->velocity + 3 * wall, turn);
    return pivot;
}

/// One body of a contact and the point of it that is followed: the centre of a ball, or of the
/// round corner of a solid or obstacle. `side` is 1 for b, -1 for a; the normal points to b.
static moving_body body_of(const physical_state* state, const contacts* list, int64_t c,
                           int32_t row, double side)
{
    const grains* g = &state->grains;
    const walls* w = &state->walls;
    const int dim = g->dim, wall = row < 0 ? -1 - row : g->glued_to[row];
    const bool ball = row >= 0 && g->solid[row] < 0;
    const double *at = g->position + (row >= 0 ? (int64_t)row * dim : 0), *followed = at;
    double pivot[3], skin = 0.0;
    moving_body m = {0};
    if (wall >= 0) {
        at = move_with_wall(w, wall, &m, pivot);
        if (row < 0) skin = w->record[wall].form.skin;
    } else {
        vec_copy(dim, m.v, g->velocity + (int64_t)row * dim);
        if (!ball && dim == 2) m.spin[2] = g->spin[row];
        if (!ball && dim == 3) vec_copy(3, m.spin, g->spin + 3 * (int64_t)row);
    }
    if (row >= 0 && !ball) skin = grain_solid(g, row)->skin * g->scale[row];
    if (!ball) followed = list->point + c * dim;
    vec_sub(dim, m.centre, at, g->position + (int64_t)list->b_row[c] * dim);
    cell_nearest(&state->cell, dim, m.centre);
    vec_sub(dim, m.arm, followed, at);
    cell_nearest(&state->cell, dim, m.arm);
    vec_add_scaled(dim, m.arm, side * skin, list->normal + c * dim);
    return m;
}

/// Acceleration along n of a point that turns with its body: n . w x (w x arm).
static double centripetal(const double spin[3], const double arm[3], const double n[3])
{
    double turn[3], twice[3];
    vec_cross(turn, spin, arm);
    vec_cross(twice, spin, turn);
    return vec_dot(3, n, twice);
}

/// Second derivative of the distance of a point, fixed in one body, from a flat face of another,
/// along the face's normal n. In the axes of the face's body, which turns with W and moves with V,
/// the point has the acceleration
///   W x (W x r) - 2 W x (p' - V) + w x (w x l)
/// with r from the face's centre and l from its own. *slip receives its velocity in these axes.
static double flat_second(const moving_body* face, const moving_body* point, const double n[3],
                          double slip[3])
{
    double from_face[3], along[3], turned[3], own[3], coriolis[3];
    vec_cross(own, point->spin, point->arm);
    for (int k = 0; k < 3; k++) {
        from_face[k] = point->centre[k] + point->arm[k] - face->centre[k];
        along[k] = point->v[k] + own[k] - face->v[k];
    }
    vec_cross(turned, face->spin, from_face);
    vec_cross(coriolis, face->spin, along);
    for (int k = 0; k < 3; k++) slip[k] = along[k] - turned[k];
    return centripetal(face->spin, from_face, n) - 2.0 * vec_dot(3, n, coriolis) +
           centripetal(point->spin, point->arm, n);
}

/// Do solids and balls see this wall as round? Solids meet cones, and cylinders from outside, as
/// facets.
static bool is_round(const wall_record* wall, bool ball)
{
    const talus_shape_kind kind = wall->shape.kind;
    return (kind == TALUS_SHAPE_CYLINDER && (ball || wall->form.kind == FORM_CORNERS)) ||
           (kind == TALUS_SHAPE_CONE && ball);
}

/// What the roundness of a surface of revolution adds for a point of grain b that passes it with
/// the velocity `slip`: (n . e_rho) (slip . e_phi)^2 / rho. It is negative inside.
static double round_second(const physical_state* state, int wall, int64_t b,
                           const moving_body* point, const double n[3], const double slip[3])
{
    const walls* w = &state->walls;
    const int dim = state->grains.dim;
    double axis[3] = {0.0, 0.0, 1.0}, across[3] = {0.0, 0.0, 0.0}, round[3];
    if (dim == 3) quat_rotate(axis, w->rotation + 4 * wall, w->record[wall].shape.axis);
    vec_sub(dim, across, state->grains.position + b * dim, w->position + 3 * wall);
    cell_nearest(&state->cell, dim, across);
    vec_add_scaled(3, across, 1.0, point->arm);
    vec_add_scaled(3, across, -vec_dot(3, across, axis), axis);
    const double rho2 = vec_dot(3, across, across);
    if (!(rho2 > 0.0)) return 0.0;
    vec_cross(round, axis, across); // rho e_phi
    const double speed = vec_dot(3, slip, round);
    return vec_dot(3, n, across) * speed * speed / (rho2 * rho2);
}

/// G'' of two points that pass each other with the velocity *u, but for the direction in which u
/// takes them: what turning alone makes.
static double points_second(const moving_body* a, const moving_body* b, const double n[3],
                            double u[3])
{
    double turn_a[3], turn_b[3];
    vec_cross(turn_a, a->spin, a->arm);
    vec_cross(turn_b, b->spin, b->arm);
    for (int k = 0; k < 3; k++) u[k] = b->v[k] + turn_b[k] - a->v[k] - turn_a[k];
    vec_add_scaled(3, u, -vec_dot(3, u, n), n);
    return centripetal(b->spin, b->arm, n) - centripetal(a->spin, a->arm, n);
}

/// Direction of the edge with which a body takes part in FEATURE_EDGE_EDGE (geometry/convex.h);
/// zero if it is a corner, or an edge of a mesh.
static void edge_of(const physical_state* state, int32_t row, int part, int code, double edge[3])
{
    const grains* g = &state->grains;
    const polytope* shape = NULL;
    double along[3], axes[9];
    for (int k = 0; k < 3; k++) edge[k] = 0.0;
    if (row >= 0 && g->solid[row] >= 0) {
        shape = &grain_solid(g, row)->part[part];
        grain_axes(g, row, axes);
    } else if (row < 0 && state->walls.record[-1 - row].form.kind == FORM_CONVEX) {
        shape = &state->walls.record[-1 - row].form.part[part];
        quat_matrix(axes, state->walls.rotation + 4 * (-1 - row));
    }
    if (!shape || shape->dim == 2 || code >= shape->edge_count) return;
    const int32_t* e = shape->edge + 4 * code;
    vec_sub(3, along, shape->vertex + 3 * e[1], shape->vertex + 3 * e[0]);
    const double length = vec_norm(3, along);
    for (int k = 0; k < 3; k++) edge[k] = vec_dot(3, axes + 3 * k, along) / length;
}

/// What is added where the points slide along edges e_a and e_b: the common perpendicular of both
/// wanders with the speeds s and t along them, u = s e_a - t e_b, while they turn. Where one is a
/// corner it goes along the other's edge; what takes it across only opens the gap.
static double edges_second(const moving_body* a, const double e_a[3], const moving_body* b,
                           const double e_b[3], const double n[3], const double u[3])
{
    static const double PARALLEL =
        0.1; // sine below which edges count as parallel: they wander too fast
    double turn_a[3], turn_b[3], both[3], by_a[3], by_b[3];
    double s = vec_dot(3, u, e_a), t = -vec_dot(3, u, e_b);
    vec_cross(turn_a, a->spin, e_a);
    vec_cross(turn_b, b->spin, e_b);
    if (vec_dot(3, e_a, e_a) > 0.0 && vec_dot(3, e_b, e_b) > 0.0) {
        vec_cross(both, e_a, e_b);
        const double crossing = vec_dot(3, both, n);
        if (fabs(crossing) < PARALLEL) return 0.0;
        vec_cross(by_a, u, e_a);
        vec_cross(by_b, u, e_b);
        s = vec_dot(3, by_b, n) / crossing;
        t = vec_dot(3, by_a, n) / crossing;
    }
    return 2.0 * t * vec_dot(3, n, turn_b) - 2.0 * s * vec_dot(3, n, turn_a);
}

/// G'' of a contact.
static double second_of(const physical_state* state, const contacts* list, int64_t c)
{
    const grains* g = &state->grains;
    const int32_t a = list->a_row[c], b = list->b_row[c];
    const moving_body of_a = body_of(state, list, c, a, -1.0);
    const moving_body of_b = body_of(state, list, c, b, 1.0);
    const int64_t feature = list->feature[c];
    double n[3] = {0.0, 0.0, 0.0}, slip[3], e_a[3], e_b[3];
    vec_copy(g->dim, n, list->normal + c * g->dim);
    const double back[3] = {-n[0], -n[1], -n[2]};
    if (a >= 0 && g->solid[a] < 0 && g->solid[b] < 0) {
        const double turning = points_second(&of_a, &of_b, n, slip);
        return turning + vec_dot(3, slip, slip) / (g->radius[a] + g->radius[b] + list->gap[c]);
    }
    switch (feature_kind_of(feature)) {
    case FEATURE_EDGE_EDGE: {
        const double turning = points_second(&of_a, &of_b, n, slip);
        edge_of(state, a, feature_part_a(feature), feature_a(feature), e_a);
        edge_of(state, b, feature_part_b(feature), feature_b(feature), e_b);
        return turning + edges_second(&of_a, e_a, &of_b, e_b, n, slip);
    }
    case FEATURE_VERTEX_FACE: return flat_second(&of_b, &of_a, back, slip);
    default: break;
    }
    const double flat = flat_second(&of_a, &of_b, n, slip);
    if (a >= 0 || !is_round(&state->walls.record[-1 - a], g->solid[b] < 0)) return flat;
    return flat + round_second(state, -1 - a, b, &of_b, n, slip);
}

static bool wall_turns(const walls* w, int wall)
{
    const double* spin = w->spin + 3 * wall;
    return spin[0] != 0.0 || spin[1] != 0.0 || spin[2] != 0.0;
}

/// Can G'' be negative? Not that of two balls, nor that of a ball at a flat wall, unless a wall
/// turns that carries one of them.
static bool may_close(const physical_state* state, int32_t a, int32_t b)
{
    const grains* g = &state->grains;
    const walls* w = &state->walls;
    if (g->solid[b] >= 0) return true;
    if (g->glued_to[b] >= 0 && wall_turns(w, g->glued_to[b])) return true;
    if (a >= 0) return g->solid[a] >= 0 || (g->glued_to[a] >= 0 && wall_turns(w, g->glued_to[a]));
    return is_round(&w->record[-1 - a], true) || wall_turns(w, -1 - a);
}

/// Fastest turning of a contact's bodies; that of a ball moves nothing.
static double fastest_spin(const physical_state* state, const contacts* list, int64_t c)
{
    const grains* g = &state->grains;
    const int spin_dim = spin_width(g->dim);
    const int32_t row[2] = {list->a_row[c], list->b_row[c]};
    double fastest = 0.0;
    for (int side = 0; side < 2; side++) {
        const int32_t i = row[side];
        double spin = 0.0;
        if (i < 0) {
            spin = vec_norm(3, state->walls.spin + 3 * (-1 - i));
        } else if (g->solid[i] >= 0) {
            spin = vec_norm(spin_dim, g->spin + (int64_t)i * spin_dim);
        }
        fastest = fmax(fastest, spin);
    }
    return fastest;
}

/// Taylor's series means nothing where a body turns by more than this in the step, rad: there the
/// term counts as if it turned by so much. Needles thrown at each other, which turned by 1 rad and
/// more, were thrown apart faster each time, without end.
static const double FARTHEST_TURN = 0.3;

double curvature_closing(const physical_state* state, const contacts* list, int64_t c, double h)
{
    if (!may_close(state, list->a_row[c], list->b_row[c])) return 0.0;
    const double closing = 0.5 * h * fmin(second_of(state, list, c), 0.0);
    if (closing == 0.0) return closing;
    const double turn = h * fastest_spin(state, list, c);
    const double part = turn > FARTHEST_TURN ? FARTHEST_TURN / turn : 1.0;
    return closing * part * part;
}

double curvature_of_bond(const physical_state* state, const contacts* list, int64_t c, double h)
{
    const grains* g = &state->grains;
    const int dim = g->dim, spin_dim = spin_width(dim);
    const int64_t a = list->a_row[c], b = list->b_row[c];
    if (g->solid[a] < 0 && g->solid[b] < 0) return 0.5 * h * second_of(state, list, c);
    // Solids that turn together, with the mean of their spins: sliding along a face widens nothing.
    double apart[3] = {0.0, 0.0, 0.0}, spin[3] = {0.0, 0.0, 0.0}, n[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, apart, g->position + b * dim, g->position + a * dim);
    cell_nearest(&state->cell, dim, apart);
    vec_copy(dim, n, list->normal + c * dim);
    for (int k = 0; k < spin_dim; k++) {
        spin[dim == 2 ? 2 : k] = 0.5 * (g->spin[a * spin_dim + k] + g->spin[b * spin_dim + k]);
    }
    return 0.5 * h * fmax(-centripetal(spin, apart, n), 0.0);
}
