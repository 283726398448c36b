/// Pictures of worlds: the pieces and the scale of colours, and forces as bars.
#include "picture/picture.h"

#include "base/array.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/vec.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

/// Largest width of a force's bar, mean diameters.
#define WIDEST_FORCE 1000.0

void talus_picture_default_sized(talus_picture_def* def, size_t size)
{
    talus_picture_def own = {.walls = true,
                             .force_width = 0.4,
                             .view = 1,
                             .azimuth = -60.0,
                             .elevation = 25.0,
                             .fade = 0.5};
    DEFINITION_GIVE(def, size, own);
}

// ---- pieces ------------------------------------------------------------------------------------

piece* picture_add(picture_maker* m, piece_kind kind, int32_t point_count, double** points)
{
    picture* p = m->out;
    if (m->failed || !arrays_grow(&p->piece_capacity, p->piece_count + 1, ARRAY(p->piece)) ||
        !arrays_grow(&p->point_capacity, p->point_count + point_count, ROWS(p->point, 2))) {
        m->failed = true;
        return NULL;
    }
    piece* made = &p->piece[p->piece_count++];
    *made = (piece){.kind = kind, .point_count = point_count, .first = p->point_count};
    *points = p->point + 2 * p->point_count;
    p->point_count += point_count;
    return made;
}

void picture_hold(picture_maker* m, const piece* p)
{
    const double beyond = p->kind == PIECE_CIRCLE ? p->size : 0.0;
    for (int32_t i = 0; i < p->point_count; i++) {
        const double* at = m->out->point + 2 * (p->first + i);
        span_add(&m->out->x, at[0] - beyond);
        span_add(&m->out->x, at[0] + beyond);
        span_add(&m->out->y, at[1] - beyond);
        span_add(&m->out->y, at[1] + beyond);
    }
}

// ---- forces ------------------------------------------------------------------------------------

static double normal_force(const talus_contacts* c, int64_t i)
{
    return vec_dot(c->dim, c->force + c->dim * i, c->normal + c->dim * i);
}

/// The image of a grain's centre that is nearest to a contact; true if it is not the centre itself.
static bool nearest_image(const talus_world* world, int dim, const double* centre,
                          const double* contact, double out[3])
{
    const talus_world_def* def = talus_world_options(world);
    bool moved = false;
    for (int k = 0; k < dim; k++) {
        out[k] = centre[k];
        if (!def->periodic[k]) continue;
        const double length = def->cell_high[k] - def->cell_low[k];
        const double shift = length * round((contact[k] - centre[k]) / length);
        moved = moved || shift != 0.0;
        out[k] += shift;
    }
    return moved;
}

static void add_bar(picture_maker* m, const double from[3], const double to[3], double width,
                    rgb colour)
{
    double* points;
    piece* p = picture_add(m, PIECE_BAR, 2, &points);
    if (!p) return;
    view_point(&m->view, from, points);
    view_point(&m->view, to, points + 2);
    p->size = width;
    p->colour = colour;
}

static bool shows_grain(const picture_maker* m, int64_t id)
{
    const int64_t row = talus_world_grain_index(m->world, id);
    return row >= 0 && !picture_hides(m, row);
}

/// From a contact to the centre of a grain that it touches; at both sides of a periodic cell if the
/// contact reaches across its border.
static void add_half_bar(picture_maker* m, const talus_grains* g, int64_t id, const double* contact,
                         double width, rgb colour)
{
    if (!shows_grain(m, id)) return;
    const int64_t row = talus_world_grain_index(m->world, id);
    const double* centre = g->position + g->dim * row;
    double image[3] = {0}, other[3] = {0};
    const bool moved = nearest_image(m->world, g->dim, centre, contact, image);
    add_bar(m, contact, image, width, colour);
    if (!moved) return;
    for (int k = 0; k < g->dim; k++) other[k] = contact[k] + centre[k] - image[k];
    add_bar(m, other, centre, width, colour);
}

void picture_forces(picture_maker* m)
{
    const talus_grains g = talus_world_grains(m->world);
    const talus_contacts c = talus_world_contacts(m->world);
    double largest = 0.0;
    for (int64_t i = 0; i < c.count; i++) {
        const double force = fabs(normal_force(&c, i));
        const bool shown = shows_grain(m, c.b[i]) || (c.a[i] >= 0 && shows_grain(m, c.a[i]));
        if (isfinite(force) && shown) largest = fmax(largest, force);
    }
    const grains* list = &m->world->state.grains;
    double diameters = 0.0;
    for (int64_t i = 0; i < list->count; i++) diameters += grain_diameter(list, i);
    const double mean = list->count > 0 ? diameters / (double)list->count : 0.0;
    const double widest = m->def->force_width * mean;
    if (m->def->force_largest > 0.0) largest = m->def->force_largest;
    m->out->force = largest;
    m->out->force_size = widest;
    for (int64_t i = 0; i < c.count; i++) {
        const double force = normal_force(&c, i);
        if (!(fabs(force) > 1e-4 * largest)) continue;
        // Pressure and tension: vermillion and blue.
        const int index = m->def->force_colour ? m->def->force_colour[i] : force > 0.0 ? 2 : 1;
        const rgb colour = colour_of_palette(index);
        const double width = widest * fabs(force) / largest;
        const double* at = c.point + c.dim * i;
        if (c.a[i] >= 0) add_half_bar(m, &g, c.a[i], at, width, colour);
        add_half_bar(m, &g, c.b[i], at, width, colour);
    }
}

// ---- the whole ---------------------------------------------------------------------------------

/// Are they colours of the palette? `of` and `one` name what they colour.
static talus_status check_colours(const int* colour, int64_t count, const char* of, const char* one,
                                  talus_error* error)
{
    for (int64_t i = 0; i < count; i++) {
        if (colour[i] >= 0 && colour[i] < COLOUR_PALETTE) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: colours of %s are 0 to %d, that of %s %lld is %d", of,
                         COLOUR_PALETTE - 1, one, (long long)i, colour[i]);
    }
    return TALUS_OK;
}

static talus_status check_picture(const talus_world* world, const talus_picture_def* def,
                                  talus_error* error)
{
    if (def->view < 0 || def->view > 2) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: one can look along the axes 0 to 2, not %d", def->view);
    }
    if (def->oblique && !(isfinite(def->azimuth) && fabs(def->elevation) <= 90.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the eye's azimuth must be finite and its elevation -90 to 90 "
                         "degrees, got %g and %g",
                         def->azimuth, def->elevation);
    }
    if (!(def->fade >= 0.0 && def->fade <= 1.0) || !talus_map_name(def->map)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: grains fade by a part of 0 to 1, got %g; scales of colours are 0 "
                         "to %d, got %d",
                         def->fade, TALUS_MAP_COUNT - 1, (int)def->map);
    }
    TRY(figure_check_ends("the scale of colours", def->value_low, def->value_high, false, error));
    if (def->value_low > def->value_high) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the scale of colours must go up, got %g to %g", def->value_low,
                         def->value_high);
    }
    if (def->forces && !(def->force_largest >= 0.0 && def->force_largest <= FIGURE_LARGEST)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the force of the widest bar must be finite and not negative, got "
                         "%g",
                         def->force_largest);
    }
    if (def->forces && !(def->force_width > 0.0 && def->force_width <= WIDEST_FORCE)) {
        return error_set(
            error, TALUS_ERR_ARGUMENT,
            "figure: the width of the largest force's bar must be positive and at most %g, "
            "got %g",
            WIDEST_FORCE, def->force_width);
    }
    if (def->grain_colour) {
        const int64_t grain_count = talus_world_grains(world).count;
        TRY(check_colours(def->grain_colour, grain_count, "grains", "grain", error));
    }
    if (!def->forces || !def->force_colour) return TALUS_OK;
    const int64_t contact_count = talus_world_contacts(world).count;
    return check_colours(def->force_colour, contact_count, "forces", "contact", error);
}

static view choose_view(const talus_world* world, const talus_picture_def* def)
{
    const talus_grains g = talus_world_grains(world);
    view v = {.dim = g.dim, .depth = span_empty()};
    if (g.dim == 3 && def->oblique) {
        // Eye at an angle: the picture's x is horizontal, and z goes up in it.
        const double a = radians(def->azimuth), e = radians(def->elevation);
        const double right[3] = {-sin(a), cos(a), 0.0};
        const double eye[3] = {cos(e) * cos(a), cos(e) * sin(a), sin(e)};
        vec_copy(3, v.right, right);
        vec_copy(3, v.eye, eye);
        vec_cross(v.up, eye, right);
        v.axis[0] = v.axis[1] = -1;
    } else {
        // Eye on an axis: the third axis goes up, or the second if the eye is on the third.
        const int along = g.dim == 3 ? def->view : 2;
        v.axis[0] = along == 0 ? 1 : 0;
        v.axis[1] = along == 2 ? 1 : 2;
        v.right[v.axis[0]] = v.up[v.axis[1]] = 1.0;
        // x to the right and z up: then y goes away from the eye.
        v.eye[along] = along == 1 ? -1.0 : 1.0;
    }
    if (g.dim == 2) v.eye[2] = 0.0;
    int64_t shown = 0;
    for (int64_t i = 0; i < g.count; i++) {
        if (def->hidden && def->hidden[i]) continue;
        vec_add_scaled(g.dim, v.centre, 1.0, g.position + g.dim * i);
        shown++;
        span_add(&v.depth, view_depth(&v, g.position + g.dim * i));
    }
    for (int k = 0; k < g.dim; k++) v.centre[k] /= shown > 0 ? (double)shown : 1.0;
    return v;
}

/// Ends of the scale of colours.
static void choose_scale(picture_maker* m)
{
    const talus_picture_def* def = m->def;
    picture* p = m->out;
    p->scaled = def->value != NULL;
    p->map = def->map;
    p->value = (span){def->value_low, def->value_high};
    if (!p->scaled || def->value_low != def->value_high) return;
    p->value = span_empty();
    const int64_t count = talus_world_grains(m->world).count;
    for (int64_t i = 0; i < count; i++) span_add(&p->value, def->value[i]);
    if (span_is_empty(p->value)) p->value = (span){0.0, 1.0};
    const double size = fmax(fabs(p->value.low), fabs(p->value.high));
    if (!span_too_short(p->value.low, p->value.high)) return;
    const double half = size > FIGURE_SHORTEST ? 0.1 * size : 0.5;
    p->value = (span){p->value.low - half, p->value.high + half};
}

/// Put what lies behind all grains first, everything else in its order.
static void sort_pieces(picture_maker* m)
{
    picture* p = m->out;
    int64_t behind = 0;
    for (int64_t i = 0; i < p->piece_count; i++) behind += p->piece[i].behind;
    if (behind == 0 || m->failed) return;
    piece* sorted = malloc((size_t)p->piece_capacity * sizeof *sorted);
    if (!sorted) {
        m->failed = true;
        return;
    }
    int64_t at[2] = {behind, 0}; // where those in front and behind go on
    for (int64_t i = 0; i < p->piece_count; i++) sorted[at[p->piece[i].behind]++] = p->piece[i];
    free(p->piece);
    p->piece = sorted;
}

/// All of a picture; *out is freed by the caller in any case.
static talus_status make_picture(const talus_world* world, const talus_picture_def* def,
                                 picture* out, talus_error* error)
{
    *out = (picture){.x = span_empty(), .y = span_empty()};
    TRY(check_picture(world, def, error));
    TRY(figure_copy(def->value_label, &out->value_label, error));
    for (int i = 0; def->colour_names && def->grain_colour && i < COLOUR_PALETTE; i++) {
        TRY(figure_copy(def->colour_names[i], &out->colour_name[i], error));
        out->keyed = out->keyed || out->colour_name[i];
    }
    TRY(figure_copy(def->length_unit, &out->length_unit, error));
    TRY(figure_copy(def->force_unit, &out->force_unit, error));
    TRY(figure_copy(def->caption, &out->caption, error));
    out->bar = def->scale_bar;
    picture_maker m = {.world = world, .def = def, .view = choose_view(world, def), .out = out};
    choose_scale(&m);
    picture_grains(&m);
    if (def->walls) picture_walls(&m);
    if (def->forces) picture_forces(&m);
    sort_pieces(&m);
    return m.failed ? error_memory(error, "a picture of a world") : TALUS_OK;
}

talus_status talus_figure_world(talus_figure* figure, int number, const talus_world* world,
                                const talus_picture_def* given, talus_error* error)
{
    talus_picture_def own = talus_picture_default();
    const talus_picture_def* def = &own;
    TRY(DEFINITION_TAKE(picture, &own, given, error));
    panel* p = NULL;
    TRY(figure_panel(figure, number, &p, error));
    picture made;
    const talus_status status = make_picture(world, def, &made, error);
    if (status != TALUS_OK) {
        picture_free(&made);
        return status;
    }
    picture_free(&p->picture);
    p->picture = made;
    p->has_picture = true;
    return TALUS_OK;
}

talus_status talus_picture_extent(const talus_world* world, const talus_picture_def* given,
                                  double low[2], double high[2], talus_error* error)
{
    talus_picture_def own = talus_picture_default();
    const talus_picture_def* def = &own;
    TRY(DEFINITION_TAKE(picture, &own, given, error));
    picture made;
    const talus_status status = make_picture(world, def, &made, error);
    low[0] = made.x.low, high[0] = made.x.high;
    low[1] = made.y.low, high[1] = made.y.high;
    picture_free(&made);
    return status;
}
