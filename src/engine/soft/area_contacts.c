/// Regions of overlap as contacts; see area_contacts.h.
#include "soft/area_contacts.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/portable.h"
#include "base/vec.h"
#include "geometry/feature.h"
#include "geometry/shape.h"

#include <stdlib.h>

/// Pairs that one thread works on at a time. Nothing depends on it.
enum { PAIR_CHUNK = 256 };

// ---- shapes ------------------------------------------------------------------------------------

static void shapes_free(overlap_shape* shape, int64_t count)
{
    for (int64_t i = 0; i < count; i++) overlap_shape_free(&shape[i]);
    free(shape);
}

void area_shapes_free(area_shapes* s)
{
    shapes_free(s->shape, s->shape_capacity);
    shapes_free(s->form, s->form_capacity);
    free(s->first);
    free(s->half);
    free(s->number);
    *s = (area_shapes){0};
}

/// Room for `count` shapes; new ones have no cells.
static bool shapes_grow(overlap_shape** shape, int64_t* capacity, int64_t count)
{
    const int64_t before = *capacity;
    if (!arrays_grow(capacity, count, ARRAY(*shape))) return false;
    for (int64_t i = before; i < *capacity; i++) (*shape)[i] = (overlap_shape){0};
    return true;
}

static void place_solid(area_shapes* s, const grains* g, int64_t i)
{
    s->half[i] = 0.5 * grain_diameter(g, i); // once, not at each of its contacts
    if (g->solid[i] < 0) return;
    overlap_place(&s->shape[g->solid[i]], portable_cos(g->rotation[i]),
                  portable_sin(g->rotation[i]), g->scale[i], s->number + s->first[i]);
}

talus_status area_shapes_place(area_shapes* s, const grains* g, const walls* w, int threads)
{
    if (!shapes_grow(&s->shape, &s->shape_capacity, g->solids->count) ||
        !shapes_grow(&s->form, &s->form_capacity, w->count)) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t i = 0; i < g->count; i++) {
        const solid* of = grain_solid(g, i);
        if (!of || s->shape[g->solid[i]].cell_count > 0) continue;
        TRY(overlap_shape_make(of->part, of->part_count, of->skin, &s->shape[g->solid[i]], NULL));
    }
    for (int64_t i = 0; i < w->count; i++) { // those that have convex parts with an inside
        const wall_form* form = &w->record[i].form;
        const bool line = w->record[i].shape.kind == TALUS_SHAPE_SEGMENT && form->skin == 0.0;
        if (!w->present[i] || form->kind != FORM_CONVEX || line) continue;
        if (s->form[i].cell_count > 0) continue;
        TRY(overlap_shape_make(form->part, form->part_count, form->skin, &s->form[i], NULL));
    }

    if (!arrays_renew(&s->first_capacity, g->count + 1, ARRAY(s->first), ARRAY(s->half))) {
        return TALUS_ERR_MEMORY;
    }
    int64_t at = 0;
    for (int64_t i = 0; i < g->count; i++) {
        s->first[i] = at;
        if (g->solid[i] >= 0) at += overlap_size(&s->shape[g->solid[i]]);
    }
    s->first[g->count] = at;
    if (!arrays_renew(&s->number_capacity, at, ARRAY(s->number))) return TALUS_ERR_MEMORY;

    const int team = parallel_threads(threads, at);
    if (team == 1) {
        for (int64_t i = 0; i < g->count; i++) place_solid(s, g, i);
        return TALUS_OK;
    }
#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t i = 0; i < g->count; i++) place_solid(s, g, i);
    return TALUS_OK;
}

// ---- contacts ----------------------------------------------------------------------------------

static overlap_body body_of(const area_search* s, int64_t row)
{
    const grains* g = s->g;
    overlap_body body = {.radius = g->radius[row]};
    if (g->solid[row] < 0) return body;
    body.shape = &s->shapes->shape[g->solid[row]];
    body.number = s->shapes->number + s->shapes->first[row];
    return body;
}

/// Append a region at `arm` from b's centre, with its normal, both in the world's axes; a < 0: of a
/// wall.
static talus_status append_region(const area_search* s, int64_t a, int64_t b, int image,
                                  const overlap_region* r, const double arm[2],
                                  const double normal[2], contacts* out)
{
    const grains* g = s->g;
    const double of_b = s->shapes->half[b];
    const double length = (a < 0 ? of_b : s->shapes->half[a]) + of_b; // l_c
    const double overlap = r->area / length;
    const int64_t feature = feature_of_image(r->feature, image);
    const int64_t c = narrow_append(g, out, a, b, feature, -overlap, normal, false);
    if (c < 0) return TALUS_ERR_MEMORY;
    if (!out->arm && contacts_need_arms(out)) return TALUS_ERR_MEMORY;
    if (!out->stored && contacts_need_stored(out)) return TALUS_ERR_MEMORY;
    for (int k = 0; k < 2; k++) {
        out->arm[2 * c + k] = arm[k];
        out->point[2 * c + k] = g->position[2 * b + k] + arm[k];
    }
    out->stored[c] = r->length > 0.0 ? 0.5 * overlap * r->area / r->length : 0.0;
    return TALUS_OK;
}

// ---- pairs -------------------------------------------------------------------------------------

/// The contacts of pairs [first, end).
static talus_status some_pairs(const area_search* s, const pair_list* pairs, int64_t first,
                               int64_t end, overlap_scratch* scratch, contacts* out)
{
    const grains* g = s->g;
    for (int64_t p = first; p < end; p++) {
        const int64_t a = pairs->a[p], b = pairs->b[p];
        const overlap_body of_a = body_of(s, a), of_b = body_of(s, b);
        double delta[2], arm[2];
        vec_sub(2, delta, g->position + 2 * b, g->position + 2 * a);
        cell_nearest(s->periodic, 2, delta);
        TRY(overlap_bodies(&of_a, &of_b, delta, scratch));
        for (int64_t k = 0; k < scratch->count; k++) {
            const overlap_region* r = &scratch->region[k];
            vec_sub(2, arm, r->centroid, delta);
            TRY(append_region(s, a, b, 0, r, arm, r->normal, out));
        }
    }
    return TALUS_OK;
}

talus_status area_pair_contacts(const area_search* s, const pair_list* pairs, contacts* out)
{
    const int64_t chunks = (pairs->count + PAIR_CHUNK - 1) / PAIR_CHUNK;
    if (chunks <= 1 || s->threads <= 1) {
        overlap_scratch scratch = {0};
        const talus_status status = some_pairs(s, pairs, 0, pairs->count, &scratch, out);
        overlap_scratch_free(&scratch);
        return status;
    }
    narrow_chunk* chunk = calloc((size_t)chunks, sizeof *chunk);
    if (!chunk) return TALUS_ERR_MEMORY;
#pragma omp parallel num_threads(s->threads)
    {
        overlap_scratch scratch = {0};
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < chunks; k++) {
            const int64_t end = (k + 1) * PAIR_CHUNK;
            contacts_init(&chunk[k].list, s->g->dim);
            chunk[k].failed =
                some_pairs(s, pairs, k * PAIR_CHUNK, end < pairs->count ? end : pairs->count,
                           &scratch, &chunk[k].list) < 0;
        }
        overlap_scratch_free(&scratch);
    }
    const talus_status status = narrow_join(chunk, chunks, s->threads, out);
    free(chunk);
    return status;
}

// ---- walls -------------------------------------------------------------------------------------

/// Memory of one thread that meets walls.
typedef struct wall_scratch {
    overlap_scratch overlap;
    double* number; ///< a grain's shape in a wall's axes
    int64_t capacity;
} wall_scratch;

static void free_scratch(void* scratch)
{
    wall_scratch* s = scratch;
    if (!s) return;
    overlap_scratch_free(&s->overlap);
    free(s->number);
    free(s);
}

/// The grain in the axes of the wall, which have this cosine and sine. False if memory is short.
static bool turn_body(const area_search* s, int64_t row, double cosine, double sine,
                      wall_scratch* scratch, overlap_body* body)
{
    *body = body_of(s, row);
    if (!body->shape || (cosine == 1.0 && sine == 0.0)) return true;
    const int64_t size = overlap_size(body->shape);
    if (!arrays_renew(&scratch->capacity, size, ARRAY(scratch->number))) return false;
    const double c = portable_cos(s->g->rotation[row]), d = portable_sin(s->g->rotation[row]);
    overlap_place(body->shape, c * cosine + d * sine, d * cosine - c * sine, s->g->scale[row],
                  scratch->number);
    body->number = scratch->number;
    return true;
}

/// Is a grain's centre behind the surface of a wall? A grain of several parts may reach around an
/// obstacle.
static bool is_behind(const area_search* s, const wall_approach* at)
{
    const wall_record* wall = &s->w->record[at->wall];
    const solid* of = grain_solid(s->g, at->grain);
    if (wall->form.kind == FORM_CONVEX) {
        for (int k = 0; k < wall->form.part_count && !(of && of->part_count > 1); k++) {
            double normal[3];
            int32_t feature;
            if (polytope_point(&wall->form.part[k], at->local, normal, &feature) < 0.0) return true;
        }
        return false;
    }
    shape_hit hits[SHAPE_MAX_HITS];
    const int count = shape_query(&wall->shape, 2, at->local, s->g->radius[at->grain], hits);
    for (int k = 0; k < count; k++) {
        if (hits[k].distance < 0.0) return true;
    }
    return false;
}

static talus_status meet_wall(const void* user, const wall_approach* at, void** memory,
                              uint8_t* escaped, contacts* out)
{
    const area_search* s = user;
    if (!*memory) *memory = calloc(1, sizeof(wall_scratch));
    wall_scratch* scratch = *memory;
    double axes[9], arm[2], normal[2];
    overlap_body body;
    quat_matrix(axes, s->w->rotation + 4 * at->wall);
    const double c = axes[0], d = axes[3];
    if (!scratch || !turn_body(s, at->grain, c, d, scratch, &body)) return TALUS_ERR_MEMORY;
    TRY(overlap_wall(&s->w->record[at->wall].shape, &s->shapes->form[at->wall], &body, at->local,
                     &scratch->overlap));
    for (int64_t k = 0; k < scratch->overlap.count; k++) {
        const overlap_region* r = &scratch->overlap.region[k];
        arm[0] = c * r->centroid[0] - d * r->centroid[1];
        arm[1] = d * r->centroid[0] + c * r->centroid[1];
        normal[0] = c * r->normal[0] - d * r->normal[1];
        normal[1] = d * r->normal[0] + c * r->normal[1];
        TRY(append_region(s, -1 - at->wall, at->grain, at->image, r, arm, normal, out));
    }
    if (scratch->overlap.count > 0 && is_behind(s, at)) escaped[at->grain] = 1;
    return TALUS_OK;
}

wall_visitor area_wall_visitor(const area_search* s, bool balls)
{
    return (wall_visitor){
        .user = s, .balls = balls, .meet = meet_wall, .free_scratch = free_scratch};
}
