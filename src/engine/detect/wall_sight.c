/// What wall_sight.h needs to know of a wall.
#include "detect/wall_sight.h"

static wall_sight_kind kind_of(const talus_shape_def* shape, double bound)
{
    if (shape->kind == TALUS_SHAPE_PLANE) return SIGHT_PLANE;
    if (shape->kind == TALUS_SHAPE_BOX && shape->inside) return SIGHT_ROOM;
    if (shape->kind == TALUS_SHAPE_CYLINDER && shape->inside) return SIGHT_TUBE;
    return isfinite(bound) && !shape->inside ? SIGHT_BOUNDED : SIGHT_ALL;
}

wall_sight wall_sight_of(const narrow* n, int wall)
{
    const walls* w = n->w;
    const talus_shape_def* shape = &w->record[wall].shape;
    const double bound = w->record[wall].form.bound;
    const double* q = w->rotation + 4 * wall;
    wall_sight s = {.kind = kind_of(shape, bound),
                    .periodic = n->periodic,
                    .turn = n->h * vec_norm(3, w->spin + 3 * wall),
                    .still = n->wall_margin[wall] + n->range};
    double relative[3];
    vec_sub(3, relative, w->velocity + 3 * wall, n->drift);
    s.speed = n->h * vec_norm(3, relative);
    vec_copy(3, s.origin, w->position + 3 * wall);
    switch (s.kind) {
    case SIGHT_PLANE: quat_rotate(s.axis, q, shape->normal); break;
    case SIGHT_BOUNDED: s.size[0] = bound; break;
    case SIGHT_ROOM:
        vec_copy(3, s.size, shape->half_size);
        for (int k = 0; k < 3; k++) {
            const double unit[3] = {k == 0, k == 1, k == 2};
            quat_rotate(s.axis + 3 * k, q, unit);
        }
        break;
    case SIGHT_TUBE:
        s.size[0] = shape->radius;
        quat_rotate(s.axis, q, shape->axis);
        break;
    case SIGHT_ALL: break;
    }
    return s;
}
