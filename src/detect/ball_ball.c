/// Contacts between balls: gap = |x_b - x_a| - r_a - r_b, normal from a to b.
#include "detect/narrow.h"

#include "base/vec.h"

double ball_ball_gap(const grains* g, const cell* periodic, int64_t a, int64_t b, double normal[3])
{
    const int dim = g->dim;
    double delta[3] = {0.0, 0.0, 0.0};
    vec_sub(dim, delta, g->position + b * dim, g->position + a * dim);
    cell_nearest(periodic, dim, delta);
    double distance = vec_norm(dim, delta);
    for (int k = 0; k < dim; k++) {
        // Coincident centres have no direction: any fixed one keeps the run alive and repeatable.
        normal[k] = distance > 0.0 ? delta[k] / distance : (k == 0 ? 1.0 : 0.0);
    }
    return distance - g->radius[a] - g->radius[b];
}

talus_status ball_ball_contacts(const grains* g, const cell* periodic, const pair_list* pairs,
                                const double* margin, double range, contacts* out)
{
    const int dim = g->dim;
    for (int64_t p = 0; p < pairs->count; p++) {
        const int64_t a = pairs->a[p], b = pairs->b[p];
        double normal[3];
        double gap = ball_ball_gap(g, periodic, a, b, normal);
        const double near = margin[a] + margin[b];
        if (gap > near + range) continue;
        if (contacts_reserve(out, out->count + 1)) return TALUS_ERR_MEMORY;
        const int64_t c = out->count++;
        out->a[c] = g->id[a];
        out->b[c] = g->id[b];
        out->feature[c] = 0;
        out->a_row[c] = (int32_t)a;
        out->b_row[c] = (int32_t)b;
        out->gap[c] = gap;
        out->distant[c] = gap > near;
        for (int k = 0; k < dim; k++) {
            out->normal[c * dim + k] = normal[k];
            out->point[c * dim + k] =
                g->position[a * dim + k] + (g->radius[a] + 0.5 * gap) * normal[k];
        }
    }
    return TALUS_OK;
}
