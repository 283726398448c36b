/// Planes and the periodic cell from an oblique direction: a plane is a patch as large as the box
/// around the grains, the cell is a box. What is behind the grains is drawn before them.
#include "picture/picture.h"

#include <talus/wall.h>

/// The box around the grains and the planes near them.
typedef struct surroundings {
    double low[3], high[3];
} surroundings;

static surroundings box_of_grains(const picture_maker* m)
{
    const talus_grains g = talus_world_grains(m->world);
    surroundings box;
    for (int k = 0; k < 3; k++) {
        span s = span_empty();
        for (int64_t i = 0; i < g.count; i++) {
            if (picture_hides(m, i)) continue;
            span_add(&s, g.position[3 * i + k] - g.radius[i]);
            span_add(&s, g.position[3 * i + k] + g.radius[i]);
        }
        box.low[k] = s.low, box.high[k] = s.high;
    }
    return box;
}

/// A plane that is there: its state goes to *w, its normal in the world to `normal`.
static bool find_plane(const picture_maker* m, int wall, talus_wall_state* w, double normal[3])
{
    if (talus_world_wall(m->world, (talus_wall_id){wall}, w, NULL) != TALUS_OK) return false;
    if (!w->present || w->shape.kind != TALUS_SHAPE_PLANE) return false;
    quat_rotate(normal, w->rotation, w->shape.normal);
    return true;
}

/// Let the box reach to a plane across an axis, if that is not farther than the box is long.
static void reach_plane(surroundings* box, const talus_wall_state* w, const double normal[3])
{
    for (int k = 0; k < 3; k++) {
        const double at = w->position[k], range = box->high[k] - box->low[k];
        if (fabs(normal[k]) < 0.999 || at < box->low[k] - range || at > box->high[k] + range) {
            continue;
        }
        box->low[k] = fmin(box->low[k], at);
        box->high[k] = fmax(box->high[k], at);
    }
}

/// The rectangle of the plane that lies under the box, light if one sees the side of the grains.
static void add_patch(picture_maker* m, const surroundings* box, const talus_wall_state* w,
                      const double normal[3])
{
    double frame[3][3], corner[4][3];
    vec_frame(3, normal, frame);
    span across[3] = {span_empty(), span_empty(), span_empty()};
    for (int c = 0; c < 8; c++) {
        double from[3];
        for (int k = 0; k < 3; k++) {
            from[k] = (c >> k & 1 ? box->high[k] : box->low[k]) - w->position[k];
        }
        for (int k = 0; k < 3; k++) span_add(&across[k], vec_dot(3, from, frame[k]));
    }
    const double thick = across[0].high - across[0].low;
    if (across[0].low > thick || across[0].high < -thick) return;
    for (int c = 0; c < 4; c++) {
        const double u = c == 1 || c == 2 ? across[1].high : across[1].low;
        const double v = c >= 2 ? across[2].high : across[2].low;
        for (int k = 0; k < 3; k++) {
            corner[c][k] = w->position[k] + u * frame[1][k] + v * frame[2][k];
        }
    }
    piece* p = picture_line(m, 4, (const double(*)[3])corner, true);
    if (!p || vec_dot(3, normal, m->view.eye) <= 0.0) return;
    p->behind = p->filled = p->edged = true;
    // Lit from above.
    const double grey = 0.88 + 0.07 * fabs(normal[2]);
    p->colour = (rgb){grey, grey, grey};
}

static void add_cell_edge(picture_maker* m, const surroundings* box, int axis, bool high_b,
                          bool high_c)
{
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double edge[2][3], side[2][3] = {{0}};
    for (int end = 0; end < 2; end++) {
        edge[end][axis] = end ? box->high[axis] : box->low[axis];
        edge[end][b] = high_b ? box->high[b] : box->low[b];
        edge[end][c] = high_c ? box->high[c] : box->low[c];
    }
    side[0][b] = high_b ? 1.0 : -1.0;
    side[1][c] = high_c ? 1.0 : -1.0;
    piece* p = picture_line(m, 2, (const double(*)[3])edge, false);
    if (!p) return;
    p->behind = view_shows_back(&m->view, side[0]) && view_shows_back(&m->view, side[1]);
    p->wall = false;
    p->colour = (rgb){0.6, 0.6, 0.6};
}

static void add_cell(picture_maker* m, surroundings box)
{
    const talus_world_def* def = talus_world_options(m->world);
    for (int k = 0; k < 3; k++) {
        if (!def->periodic[k]) continue;
        box.low[k] = def->cell_low[k];
        box.high[k] = def->cell_high[k];
    }
    for (int axis = 0; axis < 3; axis++) {
        if (!def->periodic[(axis + 1) % 3] && !def->periodic[(axis + 2) % 3]) continue;
        for (int k = 0; k < 4; k++) add_cell_edge(m, &box, axis, k & 1, k & 2);
    }
}

void picture_patches(picture_maker* m)
{
    const int count = talus_world_wall_count(m->world);
    surroundings box = box_of_grains(m);
    if (box.low[0] > box.high[0]) return;
    talus_wall_state w;
    double normal[3];
    for (int i = 0; i < count; i++) {
        if (find_plane(m, i, &w, normal)) reach_plane(&box, &w, normal);
    }
    for (int i = 0; i < count; i++) {
        if (find_plane(m, i, &w, normal)) add_patch(m, &box, &w, normal);
    }
    add_cell(m, box);
}
