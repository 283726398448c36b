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

talus_status ball_ball_contact(const narrow* n, int64_t a, int64_t b, contacts* out)
{
    const grains* g = n->g;
    const int dim = g->dim;
    double normal[3];
    const double gap = ball_ball_gap(g, n->periodic, a, b, normal);
    const double near = n->margin[a] + n->margin[b];
    if (gap > near + n->range) return TALUS_OK;
    const int64_t c = narrow_append(g, out, a, b, 0, gap, normal, gap > near);
    if (c < 0) return TALUS_ERR_MEMORY;
    for (int k = 0; k < dim; k++) {
        out->point[c * dim + k] = g->position[a * dim + k] + (g->radius[a] + 0.5 * gap) * normal[k];
    }
    return TALUS_OK;
}
