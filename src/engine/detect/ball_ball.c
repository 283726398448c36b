/// Contacts between balls: gap = |x_b - x_a| - r_a - r_b, normal from a to b.
#include "detect/narrow.h"

#include "base/vec.h"

/// Component of the normal. Coincident centres have no direction: any fixed one keeps the run alive
/// and repeatable.
static ALWAYS_INLINE double direction(const double* delta, double distance, int k)
{
    return distance > 0.0 ? delta[k] / distance : (k == 0 ? 1.0 : 0.0);
}

double ball_ball_gap(const grains* g, const cell* periodic, int64_t a, int64_t b, double normal[3])
{
    const int dim = g->dim;
    double delta[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, delta, g->position + b * dim, g->position + a * dim);
    cell_nearest(periodic, dim, delta);
    double distance = vec_norm(dim, delta);
    for (int k = 0; k < dim; k++) normal[k] = direction(delta, distance, k);
    return distance - g->radius[a] - g->radius[b];
}

/// Distance of the centres, and the vector from a to b.
static ALWAYS_INLINE double centre_distance(const narrow* n, const int dim, int64_t a, int64_t b,
                                            double delta[3])
{
    const double* x = n->g->position;
    vec_sub(dim, delta, x + b * dim, x + a * dim);
    cell_nearest(n->periodic, dim, delta);
    return vec_norm(dim, delta);
}

static ALWAYS_INLINE int64_t keep(const narrow* n, const int dim, const int32_t* a,
                                  const int32_t* b, int64_t count, uint16_t* kept)
{
    const double *radius = n->g->radius, *margin = n->margin;
    int64_t found = 0;
    for (int64_t p = 0; p < count; p++) {
        double delta[3];
        const double gap = centre_distance(n, dim, a[p], b[p], delta) - radius[a[p]] - radius[b[p]];
        kept[found] = (uint16_t)p;
        found += !(gap > margin[a[p]] + margin[b[p]] + n->range); // no branch: half of them are
    }
    return found;
}

int64_t ball_ball_keep(const narrow* n, const pair_list* pairs, int64_t first, int64_t end,
                       uint16_t* kept)
{
    const int32_t *a = pairs->a + first, *b = pairs->b + first;
    return n->g->dim == 2 ? keep(n, 2, a, b, end - first, kept)
                          : keep(n, 3, a, b, end - first, kept);
}

static ALWAYS_INLINE void fill_row(const narrow* n, const int dim, int64_t a, int64_t b,
                                   contacts* out, int64_t c)
{
    const grains* g = n->g;
    double delta[3];
    const double distance = centre_distance(n, dim, a, b, delta);
    const double gap = distance - g->radius[a] - g->radius[b], part = g->radius[a] + 0.5 * gap;
    out->a[c] = g->id[a];
    out->b[c] = g->id[b];
    out->feature[c] = 0;
    out->a_row[c] = (int32_t)a;
    out->b_row[c] = (int32_t)b;
    out->gap[c] = gap;
    if (out->distant) out->distant[c] = gap > n->margin[a] + n->margin[b];
    for (int k = 0; k < dim; k++) {
        const double normal = direction(delta, distance, k);
        out->normal[c * dim + k] = normal;
        if (out->arm) out->arm[c * dim + k] = 0.0;
        out->point[c * dim + k] = g->position[a * dim + k] + part * normal;
    }
}

static ALWAYS_INLINE void fill(const narrow* n, const int dim, const int32_t* a, const int32_t* b,
                               const uint16_t* kept, int64_t count, contacts* out, int64_t at)
{
    for (int64_t i = 0; i < count; i++) {
        fill_row(n, dim, a[kept[i]], b[kept[i]], out, at + i);
    }
}

void ball_ball_fill(const narrow* n, const pair_list* pairs, int64_t first, const uint16_t* kept,
                    int64_t count, contacts* out, int64_t at)
{
    const int32_t *a = pairs->a + first, *b = pairs->b + first;
    if (n->g->dim == 2) {
        fill(n, 2, a, b, kept, count, out, at);
    } else {
        fill(n, 3, a, b, kept, count, out, at);
    }
}

talus_status ball_ball_contact(const narrow* n, int64_t a, int64_t b, contacts* out)
{
    int32_t row_a = (int32_t)a, row_b = (int32_t)b;
    const pair_list pair = {.count = 1, .a = &row_a, .b = &row_b};
    uint16_t kept[1];
    if (ball_ball_keep(n, &pair, 0, 1, kept) == 0) return TALUS_OK;
    const int64_t at = out->count;
    if (contacts_resize(out, at + 1)) return TALUS_ERR_MEMORY;
    if (n->range > 0.0 && contacts_need_distant(out)) return TALUS_ERR_MEMORY;
    ball_ball_fill(n, &pair, 0, kept, 1, out, at);
    return TALUS_OK;
}
