/// Making the space that is measured, and asking it.
///
/// Whether something limits it along an axis is found by cutting a box far larger than the scene by
/// all walls and bounds: where the rest still reaches the large box, the grains' box takes over.
#include "measure/domain.h"

#include "base/array.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/region.h"

#include <stdlib.h>

/// Half the large box, in sizes of the scene; and the share of it at which a side counts as open.
static const double LARGE = 100.0, OPEN = 0.99;
/// A normal with more than this along a periodic axis crosses it.
static const double ACROSS = 1e-9;

void talus_domain_default_sized(talus_domain_def* def, size_t size)
{
    talus_domain_def own = {.bounds = talus_region_default(), .walls = true};
    DEFINITION_GIVE(def, size, own);
}

void domain_free(domain* d)
{
    free(d->side);
    free(d->cylinder);
    convex_cell_free(&d->space);
    *d = (domain){0};
}

static talus_status add_side(domain* d, const double normal[3], double offset)
{
    if (!arrays_grow(&d->capacity, d->count + 1, ARRAY(d->side))) return TALUS_ERR_MEMORY;
    half_space* s = &d->side[d->count++];
    *s = (half_space){.offset = offset};
    vec_copy(d->dim, s->normal, normal);
    return TALUS_OK;
}

/// A side of a wall. One that crosses a periodic axis cannot limit the domain.
static talus_status add_flat(domain* d, const double normal[3], double offset)
{
    for (int k = 0; k < d->dim; k++) {
        if (d->cell.periodic[k] && fabs(normal[k]) > ACROSS) return TALUS_OK;
    }
    return add_side(d, normal, offset);
}

// ---- walls -------------------------------------------------------------------------------------

/// Are all grains' centres in front of this side?
static bool holds_grains(const domain* d, const double normal[3], double offset)
{
    const grains* g = d->grains;
    for (int64_t i = 0; i < g->count; i++) {
        if (vec_dot(d->dim, normal, g->position + i * d->dim) > offset) return false;
    }
    return true;
}

/// The closed faces of a box from inside. Where it is open grains may have left it: then faces that
/// they are behind no longer limit the space.
static talus_status add_box(domain* d, const talus_shape_def* shape, const double axes[9],
                            const double position[3])
{
    for (int f = 0; f < 2 * d->dim; f++) {
        if (shape->open_faces & (1u << f)) continue;
        double normal[3];
        for (int k = 0; k < 3; k++) normal[k] = axes[3 * k + f / 2] * (f % 2 ? 1.0 : -1.0);
        const double offset = vec_dot(d->dim, normal, position) + shape->half_size[f / 2];
        if (shape->open_faces && !holds_grains(d, normal, offset)) continue;
        TRY(add_flat(d, normal, offset));
    }
    return TALUS_OK;
}

/// Are all grains' centres in a cylinder?
static bool cylinder_holds_grains(const domain* d, const domain_cylinder* r)
{
    const grains* g = d->grains;
    for (int64_t i = 0; i < g->count; i++) {
        double arm[3] = {0}, across[3];
        vec_sub(d->dim, arm, g->position + i * d->dim, r->point);
        vec_cross(across, r->axis, arm);
        if (vec_norm(3, across) > r->radius) return false;
    }
    return true;
}

/// The prism of a cylinder from inside: a regular one of its area. Its ends are open; a tube that
/// grains have left does not limit the space.
static talus_status add_cylinder(domain* d, const talus_shape_def* shape, const double axes[9],
                                 const double position[3])
{
    const double step = 2.0 * M_PI / CYLINDER_SIDES;
    const double apothem = shape->radius * sqrt(0.5 * step / tan(0.5 * step));
    double axis[3] = {0.0, 0.0, 1.0}, frame[3][3];
    for (int k = 0; k < 3 && d->dim == 3; k++) axis[k] = vec_dot(3, axes + 3 * k, shape->axis);
    for (int k = 0; k < d->dim; k++) {
        if (d->cell.periodic[k] && fabs(fabs(axis[k]) - 1.0) > ACROSS) return TALUS_OK;
    }
    domain_cylinder cylinder = {.radius = shape->radius, .first = d->count};
    vec_copy(d->dim, cylinder.point, position);
    vec_copy(3, cylinder.axis, axis);
    if (shape->half_length > 0.0 && !cylinder_holds_grains(d, &cylinder)) return TALUS_OK;
    if (!arrays_grow(&d->cylinder_capacity, d->cylinder_count + 1, ARRAY(d->cylinder))) {
        return TALUS_ERR_MEMORY;
    }
    d->cylinder[d->cylinder_count++] = cylinder;
    vec_frame(3, axis, frame);
    for (int i = 0; i < CYLINDER_SIDES; i++) {
        double normal[3];
        for (int k = 0; k < 3; k++) {
            normal[k] = cos(i * step) * frame[1][k] + sin(i * step) * frame[2][k];
        }
        TRY(add_side(d, normal, vec_dot(d->dim, normal, position) + apothem));
    }
    return TALUS_OK;
}

static talus_status add_wall(domain* d, const walls* w, int wall)
{
    const talus_shape_def* shape = &w->record[wall].shape;
    const double* position = w->position + 3 * wall;
    double axes[9], normal[3];
    quat_matrix(axes, w->rotation + 4 * wall);
    if (shape->kind == TALUS_SHAPE_PLANE) {
        for (int k = 0; k < 3; k++) normal[k] = -vec_dot(3, axes + 3 * k, shape->normal);
        return add_flat(d, normal, vec_dot(d->dim, normal, position));
    }
    if (!shape->inside) return TALUS_OK;
    if (shape->kind == TALUS_SHAPE_BOX) return add_box(d, shape, axes, position);
    if (shape->kind == TALUS_SHAPE_CYLINDER) return add_cylinder(d, shape, axes, position);
    return TALUS_OK;
}

// ---- limits ------------------------------------------------------------------------------------

/// Limits of the periodic cell and of the bounds; infinite where there are none. Bounds may reach
/// across the cell's edge, as regions do: images of grains are then in them.
static talus_status given_limits(domain* d, const talus_region* bounds, talus_error* error)
{
    for (int k = 0; k < d->dim; k++) {
        d->low[k] = bounds->low[k], d->high[k] = bounds->high[k];
        if (!d->cell.periodic[k]) continue;
        const double low = d->cell.low[k], length = d->cell.length[k];
        if (!isfinite(d->low[k])) d->low[k] = low;
        if (!isfinite(d->high[k])) d->high[k] = low + length;
        if (!(d->low[k] < d->high[k])) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "bounds of what is measured: along the periodic axis %c, %g to %g has "
                             "nothing of the cell from %g to %g",
                             axis_letter(k), d->low[k], d->high[k], low, low + length);
        }
        d->whole[k] = d->high[k] - d->low[k] >= length;
        if (d->whole[k]) d->low[k] = low, d->high[k] = low + length;
    }
    return TALUS_OK;
}

/// Middle and half size of a cube that holds grains, walls and bounds many times over.
static double large_cube(const domain* d, const walls* w, const double low[3], const double high[3],
                         double middle[3])
{
    double size = 0.0;
    for (int k = 0; k < d->dim; k++) {
        double from = low[k], to = high[k];
        for (int i = 0; i < (int)w->count; i++) {
            const double bound = w->record[i].form.bound, x = w->position[3 * i + k];
            from = fmin(from, isfinite(bound) ? x - bound : x);
            to = fmax(to, isfinite(bound) ? x + bound : x);
        }
        if (isfinite(d->low[k])) from = fmin(from, d->low[k]), to = fmax(to, d->low[k]);
        if (isfinite(d->high[k])) from = fmin(from, d->high[k]), to = fmax(to, d->high[k]);
        middle[k] = 0.5 * (from + to);
        size = fmax(size, to - from);
    }
    for (int i = 0; i < d->cylinder_count; i++) size = fmax(size, 2.0 * d->cylinder[i].radius);
    return LARGE * size;
}

/// Cut the box low..high by the sides up to `count`.
static talus_status cut_space(domain* d, const double low[3], const double high[3], int count)
{
    static const int32_t outside[3] = {-1, -1, -1};
    TRY(convex_cell_box(&d->space, d->dim, low, high, outside));
    for (int i = 0; i < count; i++) {
        TRY(convex_cell_cut(&d->space, d->side[i].normal, d->side[i].offset, -1));
    }
    return TALUS_OK;
}

/// Replace the limits that are still infinite: by those of the walls, or else of the grains.
static talus_status find_limits(domain* d, const talus_world* world, bool by_walls[3][2],
                                talus_error* error)
{
    const grains* g = &world->state.grains;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double middle[3] = {0}, from[3] = {0}, to[3] = {0};
    for (int64_t i = 0; i < g->count; i++) measure_box_stretch(g, i, low, high);
    const double half = large_cube(d, &world->state.walls, low, high, middle);
    TRY(measure_box_of_gathered(g, low, high, error));
    for (int k = 0; k < d->dim; k++) {
        from[k] = isfinite(d->low[k]) ? d->low[k] : middle[k] - half;
        to[k] = isfinite(d->high[k]) ? d->high[k] : middle[k] + half;
    }
    if (cut_space(d, from, to, d->count)) return error_memory(error, "measuring");
    if (convex_cell_is_empty(&d->space)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the walls and bounds leave no room to measure in: give bounds that "
                         "overlap the grains, or measure without the walls");
    }
    convex_cell_extent(&d->space, from, to);
    for (int k = 0; k < d->dim; k++) {
        const bool open_low = from[k] <= middle[k] - OPEN * half;
        const bool open_high = to[k] >= middle[k] + OPEN * half;
        by_walls[k][0] = !isfinite(d->low[k]) && !open_low;
        by_walls[k][1] = !isfinite(d->high[k]) && !open_high;
        if (!isfinite(d->low[k])) d->low[k] = open_low ? low[k] : from[k];
        if (!isfinite(d->high[k])) d->high[k] = open_high ? high[k] : to[k];
    }
    return TALUS_OK;
}

/// The box's sides, where no wall is, and the space that all sides leave.
static talus_status close_domain(domain* d, bool by_walls[3][2], talus_error* error)
{
    d->box = d->count;
    for (int i = 0; i < 2 * d->dim; i++) {
        const int k = i / 2;
        double normal[3] = {0};
        if (by_walls[k][i % 2]) continue;
        normal[k] = i % 2 ? 1.0 : -1.0;
        if (add_side(d, normal, i % 2 ? d->high[k] : -d->low[k])) {
            return error_memory(error, "measuring");
        }
        d->side[d->count - 1].seam = d->whole[k];
    }
    if (cut_space(d, d->low, d->high, d->box)) return error_memory(error, "measuring");
    d->volume = convex_cell_is_empty(&d->space) ? 0.0 : convex_cell_volume(&d->space, NULL);
    if (d->volume > 0.0) {
        convex_cell_extent(&d->space, d->low, d->high);
        return TALUS_OK;
    }
    return error_set(error, TALUS_ERR_ARGUMENT, "the space to measure in is empty");
}

/// Places must be finite and, where the cell is periodic, near enough to count images.
static talus_status check_places(const domain* d, talus_error* error)
{
    static const double MOST_CELLS = 1e6;
    const grains* g = d->grains;
    for (int64_t i = 0; i < g->count; i++) {
        for (int k = 0; k < d->dim; k++) {
            const double x = g->position[i * d->dim + k];
            if (!isfinite(x)) {
                return error_set(error, TALUS_ERR_NUMERIC,
                                 "the position of grain %lld is not finite", (long long)g->id[i]);
            }
            const double off = fabs(x - d->cell.low[k]);
            if (!d->cell.periodic[k] || off <= MOST_CELLS * d->cell.length[k]) continue;
            return error_set(error, TALUS_ERR_NUMERIC,
                             "grain %lld is at %c = %g, far outside of the periodic cell",
                             (long long)g->id[i], axis_letter(k), x);
        }
    }
    return TALUS_OK;
}

static talus_status build(domain* d, const talus_world* world, const talus_domain_def* def,
                          talus_error* error)
{
    const talus_region* r = &def->bounds;
    for (int k = 0; k < d->dim; k++) {
        if (r->low[k] < r->high[k]) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "bounds of what is measured: low %g must be below high %g along %c",
                         r->low[k], r->high[k], axis_letter(k));
    }
    if (world->state.grains.count == 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there are no grains to measure");
    }
    TRY(check_places(d, error));
    const walls* w = &world->state.walls;
    for (int i = 0; i < (int)w->count && def->walls; i++) {
        if (w->present[i] && add_wall(d, w, i)) return error_memory(error, "measuring");
    }
    TRY(given_limits(d, r, error));
    bool by_walls[3][2];
    TRY(find_limits(d, world, by_walls, error));
    return close_domain(d, by_walls, error);
}

talus_status domain_make(const talus_world* world, const talus_domain_def* def, domain* out,
                         talus_error* error)
{
    const talus_domain_def plain = talus_domain_default();
    *out = (domain){
        .dim = world->state.grains.dim, .grains = &world->state.grains, .cell = world->state.cell};
    talus_status status = build(out, world, def ? def : &plain, error);
    if (status < 0) domain_free(out);
    return status;
}

// ---- questions ---------------------------------------------------------------------------------

talus_status domain_check_whole(const domain* d, const char* what, talus_error* error)
{
    for (int k = 0; k < d->dim; k++) {
        if (!d->cell.periodic[k] || d->whole[k]) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "%s: bounds along the periodic axis %c are not possible", what,
                         axis_letter(k));
    }
    return TALUS_OK;
}

double domain_depth(const domain* d, const double* x)
{
    double depth = INFINITY;
    for (int i = 0; i < d->count; i++) {
        if (d->side[i].seam) continue;
        depth = fmin(depth, d->side[i].offset - vec_dot(d->dim, d->side[i].normal, x));
    }
    return depth;
}

bool domain_holds(const domain* d, const double* x)
{
    return domain_depth(d, x) >= 0.0;
}

image_range domain_images(const domain* d, const double* x, double reach, const double low[3],
                          const double high[3])
{
    image_range r = {{0}, {0}};
    for (int k = 0; k < d->dim; k++) {
        if (!d->cell.periodic[k]) continue;
        const double length = d->cell.length[k];
        r.from[k] = (int)ceil((low[k] - reach - x[k]) / length);
        r.to[k] = (int)floor((high[k] + reach - x[k]) / length);
    }
    return r;
}

bool image_first(const image_range* range, int at[3])
{
    for (int k = 0; k < 3; k++) {
        at[k] = range->from[k];
        if (range->from[k] > range->to[k]) return false;
    }
    return true;
}

bool image_next(const image_range* range, int at[3])
{
    for (int k = 0; k < 3; k++) {
        if (at[k] < range->to[k]) {
            at[k]++;
            return true;
        }
        at[k] = range->from[k];
    }
    return false;
}

void image_shift(const domain* d, const int at[3], double shift[3])
{
    for (int k = 0; k < 3; k++) {
        const bool wraps = k < d->dim && d->cell.periodic[k];
        shift[k] = wraps ? at[k] * d->cell.length[k] : 0.0;
    }
}
