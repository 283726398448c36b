/// Planes, and grains in order.
#include "lattice.h"

#include <math.h>

talus_status lattice_plane(paper* p, talus_world* world, const char* name, int axis, double sign,
                           double at)
{
    talus_wall_def wall = talus_wall_default();
    wall.name = name;
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[axis] = sign;
    wall.position[axis] = at;
    return talus_world_add_wall(world, &wall, NULL, &p->error);
}

static talus_grain_def unit_ball(void)
{
    talus_grain_def ball = talus_grain_default();
    ball.radius = 0.5;
    ball.mass = 1;
    return ball;
}

talus_status lattice_heap(paper* p, talus_world* world, int n, double spacing, bool bottom_fixed)
{
    for (int row = 0; row < n; row++)
        for (int i = 0; i < n - row; i++) {
            talus_grain_def disk = unit_ball();
            disk.fixed = bottom_fixed && row == 0;
            disk.position[0] = spacing * (i + 0.5 * (row - n + 1));
            disk.position[1] = 0.5 + spacing * sqrt(0.75) * row;
            TRY(talus_world_add_grain(world, &disk, NULL, &p->error));
        }
    return TALUS_OK;
}

talus_status lattice_block(paper* p, talus_world* world, int n, double speed, double* count)
{
    const int dim = talus_world_options(world)->dim, depth = dim == 2 ? 1 : n;
    const double height = dim == 2 ? sqrt(0.75) : 1;
    *count = 0;
    for (int layer = 0; layer < n; layer++) {
        const bool shifted = dim == 2 && layer % 2 == 1;
        for (int i = 0; i < depth * n; i++) {
            if (shifted && i == n - 1) continue;
            talus_grain_def ball = unit_ball();
            ball.position[0] = i % n + (shifted ? 0.5 : 0);
            ball.position[1] = i / n;
            ball.position[dim - 1] = 0.5 + layer * height;
            ball.velocity[dim - 1] = -speed;
            TRY(talus_world_add_grain(world, &ball, NULL, &p->error));
            *count += 1;
        }
    }
    return TALUS_OK;
}
