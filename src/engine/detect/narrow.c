/// The list of contacts from the list of pairs: who is a ball, who is a solid.
#include "detect/narrow.h"

#include "base/error.h"
#include "base/vec.h"
#include "geometry/feature.h"

#include <math.h>
#include <stdlib.h>

/// Pairs that one thread works on at a time; kept pairs are 16-bit offsets. Nothing depends on it.
enum { PAIR_CHUNK = 4096 };

void narrow_scratch_free(narrow_scratch* s)
{
    free(s->turned);
    touch_list_free(&s->touches);
    *s = (narrow_scratch){0};
}

int64_t narrow_append(const grains* g, contacts* out, int64_t a_row, int64_t b_row, int64_t feature,
                      double gap, const double* normal, bool distant)
{
    if (contacts_reserve(out, out->count + 1)) return -1;
    if (distant && contacts_need_distant(out)) return -1;
    const int64_t c = out->count++;
    out->a[c] = a_row < 0 ? a_row : g->id[a_row];
    out->b[c] = g->id[b_row];
    out->feature[c] = feature;
    out->a_row[c] = (int32_t)a_row;
    out->b_row[c] = (int32_t)b_row;
    out->gap[c] = gap;
    if (out->distant) out->distant[c] = distant;
    vec_copy(g->dim, out->normal + c * g->dim, normal);
    for (int k = 0; k < g->dim && out->arm; k++) out->arm[c * g->dim + k] = 0.0;
    return c;
}

talus_status narrow_join(narrow_chunk* chunks, int64_t count, int threads, contacts* out)
{
    const int64_t first = out->count;
    int64_t total = first;
    bool good = true;
    for (int64_t n = 0; n < count; n++) {
        good = good && !chunks[n].failed;
        total += chunks[n].list.count;
    }
    good = good && contacts_resize(out, total) == TALUS_OK;
    int64_t at = first;
    for (int64_t n = 0; n < count; n++) { // where each list begins
        const int64_t rows = chunks[n].list.count;
        good = good && (rows == 0 || contacts_need_like(out, &chunks[n].list) == TALUS_OK);
        chunks[n].first = at;
        at += rows;
    }
#pragma omp parallel for num_threads(threads) if (total - first > PAIR_CHUNK)
    for (int64_t n = 0; n < count; n++) {
        if (good) contacts_paste(out, chunks[n].first, &chunks[n].list);
        contacts_free(&chunks[n].list);
    }
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

// ---- pairs -------------------------------------------------------------------------------------

/// Contacts of the pairs [first, end), of which some are solids.
static talus_status mixed_contacts(const narrow* n, const pair_list* pairs, int64_t first,
                                   int64_t end, contacts* out)
{
    const grains* g = n->g;
    contacts_cursor cursor =
        contacts_cursor_at(n->last, g->id[pairs->a[first]], g->id[pairs->b[first]]);
    for (int64_t p = first; p < end; p++) {
        const int64_t a = pairs->a[p], b = pairs->b[p];
        if (g->solid[a] < 0 && g->solid[b] < 0) {
            TRY(ball_ball_contact(n, a, b, out));
        } else {
            TRY(solid_solid_contacts(n, a, b, &cursor, out));
        }
    }
    return TALUS_OK;
}

static int64_t chunk_end(const pair_list* pairs, int64_t chunk)
{
    const int64_t end = (chunk + 1) * PAIR_CHUNK;
    return end < pairs->count ? end : pairs->count;
}

static talus_status mixed_pairs(const narrow* n, const pair_list* pairs, int64_t chunks,
                                contacts* out)
{
    narrow_chunk* chunk = calloc((size_t)chunks, sizeof *chunk);
    if (!chunk) return TALUS_ERR_MEMORY;
#pragma omp parallel for num_threads(n->threads) schedule(dynamic) if (chunks > 1)
    for (int64_t k = 0; k < chunks; k++) {
        contacts_init(&chunk[k].list, n->g->dim);
        chunk[k].failed =
            mixed_contacts(n, pairs, k * PAIR_CHUNK, chunk_end(pairs, k), &chunk[k].list) < 0;
    }
    talus_status status = narrow_join(chunk, chunks, n->threads, out);
    free(chunk);
    return status;
}

/// Pairs of balls have one contact at most: first it is counted who has, then all rows are written
/// in their places.
static talus_status ball_pairs(const narrow* n, const pair_list* pairs, int64_t chunks,
                               contacts* out)
{
    uint16_t* kept = malloc(sizeof *kept * (size_t)pairs->count);
    int64_t* start = malloc(sizeof *start * (size_t)(chunks + 1));
    talus_status status = kept && start ? TALUS_OK : TALUS_ERR_MEMORY;
    if (status == TALUS_OK) {
        start[0] = out->count;
#pragma omp parallel for num_threads(n->threads) schedule(static) if (chunks > 1)
        for (int64_t k = 0; k < chunks; k++) {
            const int64_t first = k * PAIR_CHUNK;
            start[k + 1] = ball_ball_keep(n, pairs, first, chunk_end(pairs, k), kept + first);
        }
        for (int64_t k = 0; k < chunks; k++) start[k + 1] += start[k];
        status = contacts_resize(out, start[chunks]);
        if (status == TALUS_OK && n->range > 0.0) status = contacts_need_distant(out);
    }
    if (status == TALUS_OK) {
#pragma omp parallel for num_threads(n->threads) schedule(static) if (chunks > 1)
        for (int64_t k = 0; k < chunks; k++) {
            const int64_t first = k * PAIR_CHUNK;
            ball_ball_fill(n, pairs, first, kept + first, start[k + 1] - start[k], out, start[k]);
        }
    }
    free(kept);
    free(start);
    return status;
}

talus_status narrow_pairs(const narrow* n, const pair_list* pairs, contacts* out)
{
    if (pairs->count == 0) return TALUS_OK;
    const int64_t chunks = (pairs->count + PAIR_CHUNK - 1) / PAIR_CHUNK;
    const bool has_solids = n->poses->first && n->poses->first[n->g->count] > 0;
    return has_solids ? mixed_pairs(n, pairs, chunks, out) : ball_pairs(n, pairs, chunks, out);
}

// ---- after the step ----------------------------------------------------------------------------

/// Gap of a contact with a wall.
static double wall_gap(const grains* g, const walls* w, const cell* periodic,
                       narrow_scratch* scratch, const contacts* list, int64_t c)
{
    const int32_t b = list->b_row[c];
    const int wall = -1 - list->a_row[c];
    const int64_t feature = list->feature[c];
    if (g->solid[b] < 0 && !wall_form_for_balls(&w->record[wall].shape)) {
        return ball_wall_gap(g, w, periodic, wall, feature, b);
    }
    wall_approach at = {.grain = b, .wall = wall};
    wall_image_local(g, w, periodic, wall, feature_image(feature), b, at.local);
    return solid_wall_gap(g, w, &at, scratch, feature, list->normal + c * g->dim);
}

double narrow_gap(const grains* g, const walls* w, const cell* periodic, const poses* p,
                  narrow_scratch* scratch, const contacts* list, int64_t c, double tolerance)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    double normal[3];
    if (a < 0) return wall_gap(g, w, periodic, scratch, list, c);
    if (g->solid[a] < 0 && g->solid[b] < 0) return ball_ball_gap(g, periodic, a, b, normal);
    return solid_solid_gap(g, periodic, p, list, c, tolerance);
}

double narrow_overlap(const grains* g, const walls* w, const cell* periodic, const poses* p,
                      narrow_scratch* scratch, const contacts* list, int64_t c, double tolerance)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    if (a >= 0 && (g->solid[a] >= 0 || g->solid[b] >= 0))
        return solid_solid_overlap(g, periodic, p, &scratch->last_parts, list, c, tolerance);
    return fmax(-narrow_gap(g, w, periodic, p, scratch, list, c, tolerance), 0.0);
}
