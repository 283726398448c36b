/// The list of contacts from the list of pairs: who is a ball, who is a solid.
#include "detect/narrow.h"

#include "base/error.h"
#include "base/vec.h"
#include "detect/feature.h"

#include <stdlib.h>

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
    const int64_t c = out->count++;
    out->a[c] = a_row < 0 ? a_row : g->id[a_row];
    out->b[c] = g->id[b_row];
    out->feature[c] = feature;
    out->a_row[c] = (int32_t)a_row;
    out->b_row[c] = (int32_t)b_row;
    out->gap[c] = gap;
    out->distant[c] = distant;
    for (int k = 0; k < g->dim; k++) {
        out->normal[c * g->dim + k] = normal[k];
        out->arm[c * g->dim + k] = 0.0;
    }
    return c;
}

talus_status narrow_pairs(const narrow* n, const pair_list* pairs, contacts* out)
{
    const int32_t* shape = n->g->solid;
    contacts_cursor cursor = {.list = n->last};
    for (int64_t p = 0; p < pairs->count; p++) {
        const int64_t a = pairs->a[p], b = pairs->b[p];
        if (shape[a] < 0 && shape[b] < 0) {
            TRY(ball_ball_contact(n, a, b, out));
        } else {
            TRY(solid_solid_contacts(n, a, b, &cursor, out));
        }
    }
    return TALUS_OK;
}

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

double narrow_overlap(const grains* g, const walls* w, const cell* periodic, const poses* p,
                      narrow_scratch* scratch, const contacts* list, int64_t c, double tolerance)
{
    const int32_t a = list->a_row[c], b = list->b_row[c];
    if (a >= 0 && (g->solid[a] >= 0 || g->solid[b] >= 0)) {
        return solid_solid_overlap(g, periodic, p, list, c, tolerance);
    }
    double normal[3];
    const double gap = a >= 0 ? ball_ball_gap(g, periodic, a, b, normal)
                              : wall_gap(g, w, periodic, scratch, list, c);
    return gap < 0.0 ? -gap : 0.0;
}
