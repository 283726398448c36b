/// Angle of repose of a heap, and angle of a flat surface such as that in a drum.
///
/// The surface is the top of the highest grain in each column: columns along a line (2D), squares
/// (plane in 3D) or rings cut into sectors (3D heap). A heap is fitted by top = level - slope *
/// distance between two heights, each flank on its own in 2D; a plane in the middle of its width.
#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/contact_filter.h"
#include "measure/region.h"
#include "measure/slope_fit.h"

#include <stdlib.h>
#include <talus/fields.h>

void talus_slope_default_sized(talus_slope_def* def, size_t size)
{
    talus_slope_def own = {.region = talus_region_default(), .low = 0.2, .high = 0.8, .span = 0.6};
    DEFINITION_GIVE(def, size, own);
}

void talus_slope_free(talus_slope* s)
{
    free(s->distance);
    free(s->top);
    free(s->fitted);
    *s = (talus_slope){0};
}

/// The highest point of a grain, and its column.
typedef struct surface_point {
    int64_t column[2];
    double across[2];
    double distance;
    double top;
} surface_point;

typedef struct slope_task {
    const talus_world* world;
    const talus_slope_def* def;
    talus_slope* out;
    int dim;
    double column;        ///< width
    double base;          ///< lowest point of the grains
    uint8_t* used;        ///< [grains]
    surface_point* point; ///< [grains], then [out->count] one for each column
    double* number[3];    ///< room for fits, [grains] each
} slope_task;

// ---- grains that count, axes, centre -----------------------------------------------------------

static void choose_grains(slope_task* t, const measure_box* region)
{
    const grains* g = &t->world->state.grains;
    const contacts* list = &t->world->state.contacts;
    for (int64_t c = 0; c < list->count && t->def->touching; c++) {
        if (!(vec_norm(t->dim, list->force + c * t->dim) > 0.0)) continue;
        t->used[list->b_row[c]] = 1;
        if (list->a_row[c] >= 0) t->used[list->a_row[c]] = 1;
    }
    for (int64_t i = 0; i < g->count; i++) {
        const bool held =
            measure_box_holds_grain(region, g, i) && vec_finite(t->dim, g->position + i * t->dim);
        t->used[i] = held && (t->used[i] || !t->def->touching);
    }
}

static void set_axes(slope_task* t)
{
    talus_slope* s = t->out;
    double up[3] = {0}, across[3] = {0};
    vec_copy(t->dim, up, t->world->def.gravity);
    const double size = vec_norm(3, up);
    for (int k = 0; k < 3; k++) up[k] = size > 0.0 ? -up[k] / size : k == t->dim - 1;
    // The x axis made horizontal, unless it is nearly upright.
    across[fabs(up[0]) < 0.9 ? 0 : 1] = 1.0;
    vec_add_scaled(3, across, -vec_dot(3, across, up), up);
    const double length = vec_norm(3, across);
    for (int k = 0; k < 3; k++) across[k] /= length;
    vec_copy(3, s->up, up);
    vec_copy(3, s->across, across);
    if (t->dim == 3) vec_cross(s->across_2, up, across);
}

static void set_centre(slope_task* t)
{
    const grains* g = &t->world->state.grains;
    double mass = 0.0;
    vec_copy(t->dim, t->out->centre, t->def->centre);
    if (t->def->has_centre) return;
    for (int k = 0; k < 3; k++) t->out->centre[k] = 0.0;
    for (int64_t i = 0; i < g->count; i++) mass += t->used[i] ? g->mass[i] : 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (!t->used[i]) continue;
        vec_add_scaled(t->dim, t->out->centre, g->mass[i] / mass, g->position + i * t->dim);
    }
}

// ---- the surface -------------------------------------------------------------------------------

/// Highest and lowest point of a grain, from the centre of the slope; returns the lowest height.
static double extremes(const slope_task* t, int64_t row, double high[3])
{
    const grains* g = &t->world->state.grains;
    const talus_slope* s = t->out;
    const solid* shape = grain_solid(g, row);
    double arm[3] = {0}, axes[9];
    vec_sub(t->dim, arm, g->position + row * t->dim, s->centre);
    vec_copy(3, high, arm);
    if (!shape) {
        vec_add_scaled(3, high, g->radius[row], s->up);
        return vec_dot(3, s->up, arm) - g->radius[row];
    }
    double top = -INFINITY, lowest = INFINITY;
    grain_axes(g, row, axes);
    for (int part = 0; part < shape->part_count; part++) {
        const polytope* p = &shape->part[part];
        for (int i = 0; i < p->vertex_count; i++) {
            double x[3] = {0};
            for (int k = 0; k < t->dim; k++) {
                x[k] = vec_dot(t->dim, axes + 3 * k, p->vertex + i * t->dim);
                x[k] = arm[k] + g->scale[row] * x[k];
            }
            const double height = vec_dot(3, s->up, x);
            if (height > top) top = height, vec_copy(3, high, x);
            lowest = fmin(lowest, height);
        }
    }
    vec_add_scaled(3, high, g->scale[row] * shape->skin, s->up);
    return lowest - g->scale[row] * shape->skin;
}

/// Number of a column of width `width`; beyond what numbers can tell apart all are the same.
static int64_t column_of(double x, double width)
{
    return (int64_t)fmin(fmax(floor(x / width), -0x1p53), 0x1p53);
}

static surface_point point_of(const slope_task* t, const double high[3])
{
    const talus_slope* s = t->out;
    surface_point p = {.top = vec_dot(3, s->up, high)};
    p.across[0] = vec_dot(3, s->across, high);
    p.across[1] = vec_dot(3, s->across_2, high);
    p.distance = p.across[0];
    const bool cone = t->dim == 3 && t->def->kind == TALUS_SLOPE_HEAP;
    if (cone) {
        // Columns of different areas would see tops of different chance: with as many sectors of a
        // ring as make them square they all have about the same.
        p.distance = vec_norm(2, p.across);
        const double turn = atan2(p.across[1], p.across[0]) / (2.0 * M_PI) + 0.5;
        const double middle = (floor(p.distance / t->column) + 0.5) * t->column;
        const double square = fmax(1.0, rint(2.0 * M_PI * middle / t->column));
        const double sectors = t->def->sectors > 0 ? t->def->sectors : square;
        p.column[1] = (int64_t)fmin(floor(turn * sectors), sectors - 1.0);
    } else {
        p.column[1] = column_of(p.across[1], t->column);
    }
    p.column[0] = column_of(p.distance, t->column);
    return p;
}

/// By column, and the highest first; equal ones by place.
static int by_column(const void* pa, const void* pb)
{
    const surface_point *a = pa, *b = pb;
    for (int k = 0; k < 2; k++) {
        if (a->column[k] != b->column[k]) return a->column[k] < b->column[k] ? -1 : 1;
    }
    if (a->top != b->top) return a->top > b->top ? -1 : 1;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return a->across[1] < b->across[1] ? -1 : a->across[1] > b->across[1];
}

static void find_surface(slope_task* t)
{
    const grains* g = &t->world->state.grains;
    int64_t count = 0, kept = 0;
    t->base = INFINITY;
    for (int64_t i = 0; i < g->count; i++) {
        double high[3];
        if (!t->used[i]) continue;
        t->base = fmin(t->base, extremes(t, i, high));
        t->point[count++] = point_of(t, high);
    }
    if (count > 1) qsort(t->point, (size_t)count, sizeof *t->point, by_column);
    for (int64_t i = 0; i < count; i++) {
        const surface_point *p = &t->point[i], *last = &t->point[kept > 0 ? kept - 1 : 0];
        const bool same =
            kept > 0 && p->column[0] == last->column[0] && p->column[1] == last->column[1];
        if (!same) t->point[kept++] = *p;
    }
    t->out->count = kept;
}

// ---- fits --------------------------------------------------------------------------------------

/// Fit the points marked `mark` in out->fitted; by distance alone, or as a plane.
static bool fit_marked(const slope_task* t, uint8_t mark, bool plane, slope_fit* fit)
{
    int64_t count = 0;
    for (int64_t i = 0; i < t->out->count; i++) {
        if (t->out->fitted[i] != mark) continue;
        t->number[0][count] = plane ? t->point[i].across[0] : t->point[i].distance;
        t->number[1][count] = t->point[i].across[1];
        t->number[2][count++] = t->point[i].top;
    }
    return slope_fit_make(count, t->number[0], plane ? t->number[1] : NULL, t->number[2], fit);
}

static talus_status too_few(const slope_task* t, talus_error* error)
{
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "slope: too few of the %lld points of the surface are in the fit; use "
                     "narrower columns (now %g) or a wider range",
                     (long long)t->out->count, t->column);
}

/// Height of a point of the surface as a part of the heap's.
static double share_of_height(const slope_task* t, int64_t i)
{
    return (t->point[i].top - t->base) / t->out->height;
}

/// Where the two flanks of a heap in 2D meet: the middle of what is too high for either, or the
/// highest point. A heap that leans on a wall has its crown there and only one flank.
static double find_crown(const slope_task* t)
{
    double sum = 0.0, highest = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < t->out->count; i++) {
        if (share_of_height(t, i) >= 1.0) highest = t->point[i].distance;
        if (share_of_height(t, i) <= t->def->high) continue;
        sum += t->point[i].distance;
        count++;
    }
    return count > 0 ? sum / (double)count : highest;
}

static talus_status fit_heap(slope_task* t, talus_error* error)
{
    talus_slope* s = t->out;
    int found = 0;
    double squares = 0.0, variance = 0.0;
    int64_t points = 0;
    double highest = -INFINITY;
    for (int64_t i = 0; i < s->count; i++) highest = fmax(highest, t->point[i].top);
    s->height = highest - t->base;
    // Points are marked 1 for the cone or the flank before the crown, 2 for the other.
    const double crown = t->dim == 2 && !t->def->has_centre ? find_crown(t) : 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const double share = share_of_height(t, i);
        const bool within = share >= t->def->low && share <= t->def->high;
        s->fitted[i] = !within ? 0 : t->dim == 2 && t->point[i].distance > crown ? 2 : 1;
    }
    for (int flank = 0; flank < (t->dim == 2 ? 2 : 1); flank++) {
        slope_fit fit;
        double off = NAN, angle = NAN;
        const double sign = t->dim == 2 && flank == 0 ? 1.0 : -1.0; // heaps fall outwards
        if (fit_marked(t, (uint8_t)(1 + flank), false, &fit)) {
            angle = slope_fit_angle(&fit, &off);
            if (sign * fit.rise[0] < 0.0) angle = -angle;
            s->angle += angle;
            variance += off * off;
            squares += fit.squares / (1.0 + fit.rise[0] * fit.rise[0]);
            points += fit.count;
            found++;
        }
        s->flank[flank] = angle;
        s->flank_error[flank] = off;
    }
    for (int64_t i = 0; i < s->count; i++) s->fitted[i] = s->fitted[i] > 0;
    if (found == 0) return too_few(t, error);
    s->angle /= found;
    s->error = sqrt(variance) / found;
    s->roughness = sqrt(squares / (double)points);
    if (t->dim == 3) s->flank[0] = s->flank_error[0] = 0.0;
    return TALUS_OK;
}

static talus_status fit_plane(slope_task* t, talus_error* error)
{
    talus_slope* s = t->out;
    slope_fit fit;
    // What is in the middle of the surface's width along both axes.
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < s->count; i++) {
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], t->point[i].across[k]);
            high[k] = fmax(high[k], t->point[i].across[k]);
        }
    }
    for (int64_t i = 0; i < s->count; i++) {
        s->fitted[i] = 1;
        for (int k = 0; k < 2; k++) {
            const double off = t->point[i].across[k] - 0.5 * (low[k] + high[k]);
            if (fabs(off) > 0.5 * t->def->span * (high[k] - low[k])) s->fitted[i] = 0;
        }
    }
    if (!fit_marked(t, 1, t->dim == 3, &fit)) return too_few(t, error);
    s->angle = slope_fit_angle(&fit, &s->error);
    s->level = fit.level;
    vec_copy(2, s->rise, fit.rise);
    const double rise = vec_norm(2, fit.rise);
    s->roughness = sqrt(fit.squares / (double)fit.count / (1.0 + rise * rise));
    for (int64_t i = 0; i < s->count && t->dim == 3 && rise > 0.0; i++) {
        t->point[i].distance = vec_dot(2, fit.rise, t->point[i].across) / rise;
    }
    return TALUS_OK;
}

// ---- all of it ---------------------------------------------------------------------------------

static talus_status measure(slope_task* t, talus_error* error)
{
    measure_box region;
    const talus_slope_def* def = t->def;
    if (!(def->column >= 0.0) || def->sectors < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "slope: columns of width %g in %d sectors, expected a length and a number",
                         def->column, def->sectors);
    }
    if (!(def->low < def->high) || !(def->span > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "slope: heights from %g to %g and a span of %g leave nothing to fit",
                         def->low, def->high, def->span);
    }
    TRY(measure_box_set(t->world, &t->def->region, &region, error));
    const size_t n = (size_t)t->world->state.grains.count + 1;
    t->used = calloc(n, 1);
    t->point = malloc(sizeof *t->point * n);
    for (int k = 0; k < 3; k++) t->number[k] = malloc(sizeof(double) * n);
    t->out->distance = calloc(n, sizeof(double));
    t->out->top = calloc(n, sizeof(double));
    t->out->fitted = calloc(n, 1);
    if (!t->used || !t->point || !t->number[0] || !t->number[1] || !t->number[2] ||
        !t->out->distance || !t->out->top || !t->out->fitted) {
        return error_memory(error, "measuring a slope");
    }
    choose_grains(t, &region);
    set_axes(t);
    set_centre(t);
    find_surface(t);
    TRY(t->def->kind == TALUS_SLOPE_HEAP ? fit_heap(t, error) : fit_plane(t, error));
    for (int64_t i = 0; i < t->out->count; i++) {
        t->out->distance[i] = t->point[i].distance;
        t->out->top[i] = t->point[i].top;
    }
    return TALUS_OK;
}

talus_status talus_measure_slope(const talus_world* world, const talus_slope_def* given,
                                 talus_slope* out, talus_error* error)
{
    talus_slope_def own = talus_slope_default();
    const talus_slope_def* def = &own;
    *out = (talus_slope){0};
    if (given) TRY(DEFINITION_TAKE(slope, &own, given, error));
    slope_task t = {.world = world, .def = def, .out = out, .dim = world->state.grains.dim};
    t.column = t.def->column;
    if (t.column == 0.0)
        t.column = 2.0 * grains_mean_diameter(&world->state.grains, world->def.threads);
    const talus_status status = measure(&t, error);
    free(t.used);
    free(t.point);
    for (int k = 0; k < 3; k++) free(t.number[k]);
    if (status < 0) talus_slope_free(out);
    return status;
}
