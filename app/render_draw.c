/// Pictures of recorded frames: what they have in common, and one of them as a file.
#include "render.h"

#include "base/vec.h"
#include "measure/strays.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Room around what is to be seen, part of its larger side.
#define ROOM 0.03
/// Highest page, relative to its width, unless the width was asked for.
#define TALLEST 1.25

/// A world and how it is drawn; arrays are free()d by scene_free().
typedef struct scene_picture {
    talus_picture_def def;
    double* value;
    int* colour;
    uint8_t* hidden;
    char label[128], caption[64];
    char group_name[TALUS_COLOUR_COUNT][64];
    const char* names[TALUS_COLOUR_COUNT];
} scene_picture;

static void scene_free(scene_picture* s)
{
    free(s->value);
    free(s->colour);
    free(s->hidden);
}

static bool complain(const talus_error* error)
{
    fprintf(stderr, "talus: %s\n", error->text);
    return false;
}

static bool complain_memory(void)
{
    fprintf(stderr, "talus: out of memory\n");
    return false;
}

// ---- what is seen ------------------------------------------------------------------------------

/// Does the picture show world axis k within its plane? Returns 0 or 1, -1 if not.
static int picture_axis(const renderer* r, int dim, int k)
{
    const render_options* o = r->options;
    if (dim == 2) return k < 2 ? k : -1;
    if (o->oblique || k == o->view) return -1;
    const int across = o->view == 0 ? 1 : 0;
    return k == across ? 0 : 1;
}

/// The picture as the options want it, without colours.
static bool scene_begin(const renderer* r, const talus_world* world, scene_picture* s)
{
    const render_options* o = r->options;
    *s = (scene_picture){.def = talus_picture_default()};
    s->def.walls = !o->no_walls;
    s->def.forces = o->forces;
    if (o->force_width > 0.0) s->def.force_width = o->force_width;
    s->def.view = o->view;
    s->def.oblique = o->oblique;
    s->def.azimuth = o->azimuth;
    s->def.elevation = o->elevation;
    // A faded colour is not one of the scale.
    s->def.fade = r->field.kind ? 0.0 : 0.5;
    if (!o->has_region) return true;
    // Grains with centres beyond the region are left out along axes where the picture does not end.
    const talus_grains g = talus_world_grains(world);
    s->hidden = calloc((size_t)g.count + 1, sizeof *s->hidden);
    if (!s->hidden) return complain_memory();
    for (int64_t i = 0; i < g.count; i++) {
        for (int k = 0; k < g.dim; k++) {
            const double at = g.position[g.dim * i + k];
            const bool inside = at >= o->region.low[k] && at <= o->region.high[k];
            if (picture_axis(r, g.dim, k) < 0 && !inside) s->hidden[i] = 1;
        }
    }
    s->def.hidden = s->hidden;
    return true;
}

// ---- the survey --------------------------------------------------------------------------------

static void add_group(render_survey* v, double group)
{
    if (v->group_count > RENDER_GROUPS) return; // too many already, and not kept
    int64_t at = 0;
    while (at < v->group_count && v->group[at] < group) at++;
    if (at < v->group_count && v->group[at] == group) return;
    if (v->group_count < RENDER_GROUPS) {
        for (int64_t k = v->group_count; k > at; k--) v->group[k] = v->group[k - 1];
        v->group[at] = group;
    }
    v->group_count++;
}

/// Does the picture show something at this place that reaches `size` from it? What it leaves out
/// along other axes is hidden.
static bool within_picture(const renderer* r, int dim, const double* at, double size)
{
    const talus_region* box = &r->options->region;
    for (int k = 0; r->options->has_region && k < dim; k++) {
        const bool inside = at[k] + size >= box->low[k] && at[k] - size <= box->high[k];
        if (picture_axis(r, dim, k) >= 0 && !inside) return false;
    }
    return true;
}

static bool survey_field(renderer* r, const talus_world* world, const scene_picture* s)
{
    if (!r->field.kind) return true;
    double* value = field_values(&r->field, world);
    if (!value) return false;
    const talus_grains g = talus_world_grains(world);
    for (int64_t i = 0; i < g.count; i++) {
        if (!isfinite(value[i]) || (s->hidden && s->hidden[i]) ||
            !within_picture(r, g.dim, g.position + g.dim * i, g.radius[i])) {
            continue;
        }
        r->survey.value[0] = fmin(r->survey.value[0], value[i]);
        r->survey.value[1] = fmax(r->survey.value[1], value[i]);
        add_group(&r->survey, value[i]);
    }
    free(value);
    return true;
}

static bool is_shown(const talus_world* world, const scene_picture* s, int64_t id)
{
    const int64_t row = id >= 0 ? talus_world_grain_index(world, id) : -1;
    return row >= 0 && !(s->hidden && s->hidden[row]);
}

static void survey_forces(renderer* r, const talus_world* world, const scene_picture* s)
{
    const talus_contacts c = talus_world_contacts(world);
    for (int64_t i = 0; i < c.count; i++) {
        const double f = vec_dot(c.dim, c.force + c.dim * i, c.normal + c.dim * i);
        if (!isfinite(f) || !within_picture(r, c.dim, c.point + c.dim * i, 0.0) ||
            !(is_shown(world, s, c.a[i]) || is_shown(world, s, c.b[i]))) {
            continue;
        }
        r->survey.force = fmax(r->survey.force, fabs(f));
    }
}

/// A picture that showed grains that have left would show the others as a speck, and a scale that
/// reached up to their speeds would show the others in one colour.
static bool hide_strays(const talus_world* world, scene_picture* s)
{
    const grains* g = &world->state.grains;
    talus_error error = {0};
    int64_t strays;
    if (!s->hidden) s->hidden = calloc((size_t)g->count + 1, sizeof *s->hidden);
    s->def.hidden = s->hidden;
    if (!s->hidden) return complain_memory();
    return measure_strays(g, s->hidden, &strays, &error) == TALUS_OK || complain(&error);
}

static bool survey_frame(renderer* r, const talus_world* world)
{
    scene_picture s;
    talus_error error = {0};
    double low[2], high[2];
    bool good = scene_begin(r, world, &s) && hide_strays(world, &s) && survey_field(r, world, &s);
    if (good && talus_picture_extent(world, &s.def, low, high, &error) < 0) good = complain(&error);
    for (int k = 0; good && k < 2; k++) {
        if (low[k] > high[k]) continue;
        r->survey.low[k] = fmin(r->survey.low[k], low[k]);
        r->survey.high[k] = fmax(r->survey.high[k], high[k]);
    }
    if (good && r->options->forces) survey_forces(r, world, &s);
    scene_free(&s);
    return good;
}

bool render_look(renderer* r)
{
    const talus_world* world;
    r->survey = (render_survey){.low = {INFINITY, INFINITY},
                                .high = {-INFINITY, -INFINITY},
                                .value = {INFINITY, -INFINITY}};
    for (int64_t i = 0; i < r->frames.count; i++) {
        render_progress(r, i, "looking at");
        if (!recording_show(r->recording, r->frames.first + i * r->frames.stride, &world) ||
            !survey_frame(r, world)) {
            return false;
        }
    }
    double *value = r->survey.value, *low = r->survey.low, *high = r->survey.high;
    if (r->field.kind && field_is_signed(&r->field) && value[0] < 0.0 && value[1] > 0.0) {
        value[1] = fmax(-value[0], value[1]); // round about zero
        value[0] = -value[1];
    }
    if (!(low[0] <= high[0] && low[1] <= high[1])) {
        low[0] = low[1] = 0.0;
        high[0] = high[1] = 1.0;
    }
    const double room = ROOM * fmax(high[0] - low[0], high[1] - low[1]);
    for (int k = 0; k < 2; k++) {
        low[k] -= room;
        high[k] += room;
    }
    const render_options* o = r->options;
    const int dim = talus_world_grains(world).dim;
    for (int k = 0; o->has_region && k < dim; k++) {
        const int axis = picture_axis(r, dim, k);
        if (axis < 0) continue;
        if (isfinite(o->region.low[k])) low[axis] = o->region.low[k];
        if (isfinite(o->region.high[k])) high[axis] = o->region.high[k];
        if (high[axis] <= low[axis]) high[axis] = low[axis] + 2.0 * room;
    }
    return true;
}

// ---- colours -----------------------------------------------------------------------------------

/// "radius (m) = 0.005", or the name of a group.
static void name_value(const renderer* r, const talus_world* world, double value, char* out,
                       size_t size)
{
    char label[64];
    if (field_is_group(&r->field)) {
        field_group_name(&r->field, world, (int64_t)value, out, size);
        return;
    }
    field_label(&r->field, talus_recording_reduced_units(r->recording),
                talus_world_grains(world).dim, label, sizeof label);
    snprintf(out, size, "%.40s = %.4g", label, value);
}

/// Whether the colours are a few, each with its name, and no scale: groups, and a field that has
/// only some values, such as the radius of grains of two sizes.
static bool is_keyed(const renderer* r)
{
    const int64_t count = r->survey.group_count;
    if (field_is_group(&r->field)) return count <= RENDER_GROUPS;
    return count > 1 && count <= MOST_NAMED && r->options->map < 0 && !r->options->scale.given;
}

static bool colour_by_group(const renderer* r, const talus_world* world, scene_picture* s)
{
    const int64_t count = talus_world_grains(world).count;
    const render_survey* v = &r->survey;
    s->colour = calloc((size_t)count + 1, sizeof *s->colour);
    if (!s->colour) return complain_memory();
    for (int64_t i = 0; i < count; i++) {
        int k = 0;
        while (k < v->group_count - 1 && v->group[k] != s->value[i]) k++;
        s->colour[i] = 1 + k;
    }
    for (int k = 0; k < v->group_count; k++) {
        name_value(r, world, v->group[k], s->group_name[1 + k], sizeof s->group_name[1 + k]);
        s->names[1 + k] = s->group_name[1 + k];
    }
    s->def.grain_colour = s->colour;
    s->def.colour_names = s->names;
    return true;
}

static bool colour_grains(const renderer* r, const talus_world* world, scene_picture* s)
{
    const render_options* o = r->options;
    if (!r->field.kind) return true;
    s->value = field_values(&r->field, world);
    if (!s->value) return false;
    if (is_keyed(r)) return colour_by_group(r, world, s);
    field_label(&r->field, talus_recording_reduced_units(r->recording),
                talus_world_grains(world).dim, s->label, sizeof s->label);
    s->def.value = s->value;
    s->def.value_label = s->label;
    const talus_map suits = field_is_signed(&r->field) ? TALUS_MAP_COOLWARM : TALUS_MAP_VIRIDIS;
    s->def.map = o->map >= 0 ? (talus_map)o->map : suits;
    const double* ends =
        o->scale.given ? (const double[]){o->scale.low, o->scale.high} : r->survey.value;
    // Where all values are alike the scale is left to the library, which makes room about them; but
    // a size is never below 0.
    if (ends[0] == 0.0 && ends[1] == 0.0 && !field_is_signed(&r->field)) {
        s->def.value_high = 1.0;
    } else if (ends[1] - ends[0] > 1e-9 * fmax(fabs(ends[0]), fabs(ends[1]))) {
        s->def.value_low = ends[0];
        s->def.value_high = ends[1];
    }
    return true;
}

// ---- the figure --------------------------------------------------------------------------------

static talus_status fill_figure(const renderer* r, const talus_world* world, scene_picture* s,
                                talus_figure* figure, talus_error* error)
{
    const render_options* o = r->options;
    const bool reduced = talus_recording_reduced_units(r->recording);
    talus_axes_def axes = talus_axes_default();
    char labels[2][16];
    axes.title = o->title && *o->title ? o->title : NULL;
    axes.hidden = !o->axes;
    axes.x_low = r->survey.low[0], axes.x_high = r->survey.high[0];
    axes.y_low = r->survey.low[1], axes.y_high = r->survey.high[1];
    const int dim = talus_world_grains(world).dim;
    for (int k = 0; k < dim; k++) {
        const int at = picture_axis(r, dim, k);
        if (at < 0) continue;
        snprintf(labels[at], sizeof labels[at], "%c%s", 'x' + k, reduced ? "" : " (m)");
    }
    if (!o->oblique || dim == 2) axes.x_label = labels[0], axes.y_label = labels[1];
    talus_status status = talus_figure_axes(figure, 0, &axes, error);
    if (status < 0) return status;
    s->def.scale_bar = !o->no_bar && !o->axes;
    s->def.length_unit = reduced ? NULL : "m";
    if (o->forces) s->def.force_unit = reduced ? "" : "N";
    s->def.force_largest = o->force_largest > 0.0 ? o->force_largest : r->survey.force;
    snprintf(s->caption, sizeof s->caption, "t = %.4g%s", talus_world_time(world),
             reduced ? "" : " s");
    if (!o->no_time) s->def.caption = s->caption;
    return talus_figure_world(figure, 0, world, &s->def, error);
}

static talus_status write_figure(const renderer* r, const talus_world* world, scene_picture* s,
                                 const char* path, talus_error* error)
{
    const render_options* o = r->options;
    talus_figure* figure = NULL;
    talus_figure_def def = talus_figure_default();
    const bool png = strcmp(o->format, "png") == 0;
    def.panel_width = png ? o->width * 72.0 / o->dots : o->width; // points: a PNG's is in dots
    talus_status status = talus_figure_create(&def, &figure, error);
    if (status == TALUS_OK) status = fill_figure(r, world, s, figure, error);
    // Video wants sizes that are even.
    const double unit = png ? 2.0 * 72.0 / o->dots : 0.0;
    const double most = fmin(fmax(TALLEST * def.panel_width, 50.0), 10000.0);
    if (status == TALUS_OK) status = talus_figure_fit(figure, most, unit, error);
    if (status == TALUS_OK) status = talus_figure_write(figure, path, o->dots, error);
    talus_figure_destroy(figure);
    return status;
}

bool render_frame(renderer* r, int64_t frame, const char* path)
{
    const talus_world* world;
    scene_picture s;
    talus_error error = {0};
    if (!recording_show(r->recording, frame, &world)) return false;
    bool good = scene_begin(r, world, &s) && colour_grains(r, world, &s);
    if (good && write_figure(r, world, &s, path, &error) < 0) good = complain(&error);
    scene_free(&s);
    return good;
}
