/// Contacts of solids with walls, and of balls with walls that are solids or meshes; which walls
/// are met how is decided in state/wall_form.h.
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "detect/narrow.h"
#include "geometry/feature.h"
#include "geometry/shape.h"

#include <math.h>
#include <stdlib.h>

/// Names of the last step's points that are passed on as a hint.
enum { MAX_KEPT = 64 };

/// A grain's part in the frame of a wall.
typedef struct meeting {
    const narrow* n;
    const wall_approach* at;
    const wall_form* form;
    convex b;
    int part_a, part_b;
    int64_t last_first, last_count;
    convex_hint hint; ///< in the wall's frame
    uint8_t* escaped;
    contacts* out;
} meeting;

static int grain_parts(const grains* g, int64_t grain)
{
    const solid* s = grain_solid(g, grain);
    return s ? s->part_count : 1;
}

/// A grain's part turned into the wall's axes, about the grain's centre. False if memory is short.
static bool part_in_wall(const grains* g, const walls* w, int64_t grain, int wall, int part,
                         narrow_scratch* scratch, convex* out)
{
    const solid* s = grain_solid(g, grain);
    if (!s) {
        *out = convex_ball(g->dim, g->radius[grain]);
        return true;
    }
    if (!arrays_renew(&scratch->turned_capacity, convex_size(&s->part[part]),
                      ARRAY(scratch->turned))) {
        return false;
    }
    double of_grain[9], of_wall[9], axes[9];
    grain_axes(g, grain, of_grain);
    quat_matrix(of_wall, w->rotation + 4 * wall);
    for (int i = 0; i < 3; i++) { // of_wall^T of_grain
        for (int j = 0; j < 3; j++) {
            axes[3 * i + j] = of_wall[i] * of_grain[j] + of_wall[3 + i] * of_grain[3 + j] +
                              of_wall[6 + i] * of_grain[6 + j];
        }
    }
    *out = convex_of_solid(s, part, axes, g->scale[grain], scratch->turned);
    return true;
}

/// Turn a touch in the wall's frame into a contact.
static talus_status append_touch(meeting* m, const touch* t)
{
    const grains* g = m->n->g;
    const int dim = g->dim;
    const double* q = m->n->w->rotation + 4 * m->at->wall;
    double normal[3], from_grain[3], arm[3];
    for (int k = 0; k < 3; k++) from_grain[k] = t->point[k] - m->at->local[k];
    quat_rotate(normal, q, t->normal);
    quat_rotate(arm, q, from_grain);
    int64_t feature =
        feature_of_image(feature_of_parts(t->feature, m->part_a, m->part_b), m->at->image);
    int64_t c = narrow_append(g, m->out, -1 - m->at->wall, m->at->grain, feature, t->gap, normal,
                              t->gap > m->at->near);
    if (c < 0 || contacts_need_arms(m->out)) return TALUS_ERR_MEMORY;
    for (int k = 0; k < dim; k++) {
        m->out->point[c * dim + k] = g->position[m->at->grain * dim + k] + arm[k];
        m->out->arm[c * dim + k] = arm[k];
    }
    return TALUS_OK;
}

/// Names of the last step's points of these parts.
static int kept_features(const meeting* m, int64_t kept[MAX_KEPT])
{
    int found = 0;
    for (int64_t c = m->last_first; c < m->last_first + m->last_count && found < MAX_KEPT; c++) {
        const int64_t feature = m->n->last->feature[c];
        if (feature_image(feature) != m->at->image || feature_part_a(feature) != m->part_a ||
            feature_part_b(feature) != m->part_b) {
            continue;
        }
        kept[found++] = feature_bare(feature);
    }
    return found;
}

// ---- corners -----------------------------------------------------------------------------------

/// Position of a corner of the part in the wall's frame.
static void corner_at(const convex* b, int vertex, const double local[3], double point[3])
{
    const int dim = b->dim;
    for (int k = 0; k < 3; k++) {
        point[k] = local[k] + (k < dim ? b->vertex[vertex * dim + k] : 0.0);
    }
}

/// Corners of the part within reach of a face of the wall: four where it rests, all where it moves,
/// for any of them may come down in the step. In 2D always all: there are few.
static talus_status corners_on_face(const meeting* m, const talus_shape_def* shape,
                                    const shape_hit* of_wall, touch_list* points)
{
    const int dim = m->b.dim;
    const double size = rest_size(2.0 * m->n->g->radius[m->at->grain], m->b.thickness);
    points->count = 0;
    for (int v = 0; v < m->b.vertex_count; v++) {
        double point[3];
        shape_hit hits[SHAPE_MAX_HITS];
        corner_at(&m->b, v, m->at->local, point);
        int found = shape_query(shape, dim, point, m->at->reach + m->b.skin, hits);
        for (int k = 0; k < found; k++) {
            if (hits[k].feature != of_wall->feature) continue;
            if (!arrays_grow(&points->capacity, points->count + 1, ARRAY(points->row))) {
                return TALUS_ERR_MEMORY;
            }
            touch* t = &points->row[points->count++];
            *t = (touch){.gap = hits[k].distance - m->b.skin,
                         .feature = feature_make(FEATURE_SURFACE, hits[k].feature, v)};
            vec_copy(3, t->normal, hits[k].normal);
            vec_copy(3, t->point, point);
            vec_add_scaled(3, t->point, -0.5 * (hits[k].distance + m->b.skin), t->normal);
        }
    }
    if (points->count > 2) points->count = touches_drop_held(points->row, points->count, dim);
    const bool rests =
        touches_most(&m->hint, of_wall->normal, m->at->reach, size) == CONVEX_REST_TOUCHES;
    if (dim == 3 && rests) {
        points->count = touches_reduce(points->row, points->count, CONVEX_REST_TOUCHES, &m->hint);
    }
    return TALUS_OK;
}

static talus_status meet_corners(meeting* m, narrow_scratch* scratch)
{
    const talus_shape_def* shape = &m->n->w->record[m->at->wall].shape;
    const double near_centre = m->n->g->radius[m->at->grain] + m->at->reach;
    touch_list* points = &scratch->touches;
    shape_hit faces[SHAPE_MAX_HITS];
    int64_t kept[MAX_KEPT];
    m->hint.kept = kept;
    m->hint.kept_count = kept_features(m, kept);
    // The wall's faces in reach of the ball that holds the grain, in ascending feature.
    int found = shape_query(shape, m->b.dim, m->at->local, near_centre, faces);
    for (int f = 0; f < found; f++) {
        if (faces[f].distance < 0.0) m->escaped[m->at->grain] = 1;
        TRY(corners_on_face(m, shape, &faces[f], points));
        for (int i = 0; i < points->count; i++) TRY(append_touch(m, &points->row[i]));
    }
    return TALUS_OK;
}

// ---- convex obstacles and meshes ---------------------------------------------------------------

/// A grain whose centre is inside an obstacle is lost; a grain of several parts may reach around.
static void mark_inside(meeting* m, const touch* touches, int count)
{
    const grains* g = m->n->g;
    const wall_form* form = m->form;
    if (form->kind != FORM_CONVEX || grain_parts(g, m->at->grain) > 1) return;
    for (int t = 0; t < count; t++) {
        if (touches[t].gap > -1e-3 * g->radius[m->at->grain]) continue;
        double normal[3];
        int32_t feature;
        double depth = polytope_point(&form->part[m->part_a], m->at->local, normal, &feature);
        if (depth < 0.0) m->escaped[m->at->grain] = 1;
        return;
    }
}

static talus_status meet_convex(meeting* m)
{
    const convex a = convex_of_wall(m->form, m->b.dim, m->part_a);
    touch touches[CONVEX_MAX_TOUCHES];
    int64_t kept[MAX_KEPT];
    m->hint.kept = kept;
    m->hint.kept_count = kept_features(m, kept);
    int count = convex_touches(&a, &m->b, m->at->local, m->at->reach, &m->hint, touches);
    mark_inside(m, touches, count);
    for (int t = 0; t < count; t++) TRY(append_touch(m, &touches[t]));
    return TALUS_OK;
}

static talus_status meet_mesh(meeting* m, narrow_scratch* scratch)
{
    int64_t kept[MAX_KEPT];
    m->hint.kept = kept;
    m->hint.kept_count = kept_features(m, kept);
    scratch->touches.count = 0;
    TRY(mesh_touches(m->form->mesh, &m->b, m->at->local, m->at->reach, &m->hint,
                     &scratch->touches));
    for (int t = 0; t < scratch->touches.count; t++) {
        TRY(append_touch(m, &scratch->touches.row[t]));
    }
    return TALUS_OK;
}

// ---- all walls ---------------------------------------------------------------------------------

/// What the step would do without contacts, in the wall's frame.
static convex_hint free_motion(const narrow* n, const wall_approach* at)
{
    const int dim = n->g->dim;
    const double* q = n->w->rotation + 4 * at->wall;
    double shift[3] = {0.0, 0.0, 0.0}, turn[3] = {0.0, 0.0, 0.0}, own[3];
    convex_hint hint = {.kept_count = 0};
    for (int k = 0; k < dim; k++) {
        shift[k] = n->h * (n->velocity[at->grain * dim + k] - n->w->velocity[3 * at->wall + k]);
    }
    if (dim == 2) turn[2] = n->h * n->spin[at->grain];
    for (int k = 0; k < 3; k++) {
        if (dim == 3) turn[k] = n->h * n->spin[3 * at->grain + k];
        own[k] = n->h * n->w->spin[3 * at->wall + k];
    }
    quat_rotate_back(hint.shift, q, shift);
    quat_rotate_back(hint.turn_a, q, own);
    quat_rotate_back(hint.turn_b, q, turn);
    return hint;
}

talus_status solid_wall_contacts(const narrow* n, const wall_approach* at, narrow_scratch* scratch,
                                 contacts_cursor* cursor, uint8_t* escaped, contacts* out)
{
    const grains* g = n->g;
    meeting m = {.n = n,
                 .at = at,
                 .form = &n->w->record[at->wall].form,
                 .hint = free_motion(n, at),
                 .escaped = escaped,
                 .out = out};
    const double bound = m.form->bound + g->radius[at->grain] + at->reach;
    if (m.form->kind != FORM_CORNERS && vec_norm(3, at->local) > bound) return TALUS_OK;
    m.last_count = contacts_seek(cursor, -1 - at->wall, g->id[at->grain], &m.last_first);
    // Parts of the wall outside, so that features ascend.
    const int wall_parts = m.form->kind == FORM_CONVEX ? m.form->part_count : 1;
    for (m.part_a = 0; m.part_a < wall_parts; m.part_a++) {
        for (m.part_b = 0; m.part_b < grain_parts(g, at->grain); m.part_b++) {
            if (!part_in_wall(g, n->w, at->grain, at->wall, m.part_b, scratch, &m.b)) {
                return TALUS_ERR_MEMORY;
            }
            const wall_form_kind kind = m.form->kind;
            TRY(kind == FORM_CORNERS ? meet_corners(&m, scratch)
                : kind == FORM_MESH  ? meet_mesh(&m, scratch)
                                     : meet_convex(&m));
        }
    }
    return TALUS_OK;
}

/// Gap of a corner over a face of a container or plane.
static double corner_gap(const talus_shape_def* shape, const convex* b, const double local[3],
                         int64_t feature)
{
    double point[3];
    shape_hit hits[SHAPE_MAX_HITS];
    corner_at(b, feature_b(feature), local, point);
    // A corner that was in contact a step ago is not farther from the wall than its body is large.
    double reach = 2.0 * (vec_norm(b->dim, b->vertex + feature_b(feature) * b->dim) + b->skin);
    int count = shape_query(shape, b->dim, point, reach, hits);
    for (int k = 0; k < count; k++) {
        if (hits[k].feature == feature_a(feature)) return hits[k].distance - b->skin;
    }
    return INFINITY;
}

double solid_wall_gap(const grains* g, const walls* w, const wall_approach* at,
                      narrow_scratch* scratch, int64_t feature, const double* normal)
{
    const wall_form* form = &w->record[at->wall].form;
    const int64_t bare = feature_bare(feature);
    convex b;
    if (!part_in_wall(g, w, at->grain, at->wall, feature_part_b(feature), scratch, &b)) {
        return INFINITY;
    }
    if (form->kind == FORM_CORNERS) {
        return corner_gap(&w->record[at->wall].shape, &b, at->local, bare);
    }
    if (form->kind == FORM_MESH) return mesh_gap(form->mesh, &b, at->local, bare);
    double turned[3] = {normal[0], normal[1], g->dim == 3 ? normal[2] : 0.0};
    quat_rotate_back(turned, w->rotation + 4 * at->wall, turned);
    const convex a = convex_of_wall(form, g->dim, feature_part_a(feature));
    return convex_gap(&a, &b, at->local, bare, turned);
}
