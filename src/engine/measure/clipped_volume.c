/// The part of a grain that is in a convex space.
///
/// Balls in closed form: whole, a cap, or convex_cell_ball(). Solids by cutting their parts; a
/// rounded part counts as the sharp one enlarged about its centre of mass to the same volume.
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "measure/domain.h"

#include <stdlib.h>

void clip_memory_free(clip_memory* m)
{
    convex_cell_free(&m->piece);
    free(m->x);
    *m = (clip_memory){0};
}

double ball_below(int dim, double r, double h)
{
    if (h <= -r) return 0.0;
    if (dim == 2) {
        if (h >= r) return M_PI * r * r;
        return r * r * (M_PI - acos(h / r)) + h * sqrt(r * r - h * h);
    }
    if (h >= r) return 4.0 / 3.0 * M_PI * r * r * r;
    return M_PI / 3.0 * (r + h) * (r + h) * (2.0 * r - h);
}

double disks_common(double a, double b, double c)
{
    if (a <= 0.0 || b <= 0.0 || c >= a + b) return 0.0;
    if (c <= fabs(a - b)) return M_PI * fmin(a, b) * fmin(a, b);
    const double to_chord = 0.5 * (c * c + a * a - b * b) / c; // from the centre of a
    return ball_below(2, a, -to_chord) + ball_below(2, b, to_chord - c);
}

talus_status grain_convex_part(const grains* g, int64_t row, int part, const double* shift,
                               clip_memory* memory)
{
    const solid* s = grain_solid(g, row);
    const polytope* p = &s->part[part];
    const int dim = g->dim;
    if (!arrays_renew(&memory->capacity, p->vertex_count, ROWS(memory->x, dim))) {
        return TALUS_ERR_MEMORY;
    }
    // Its corners are turned, scaled, and enlarged about the centre of mass.
    double axes[9], centre[3] = {0}, factor = 1.0;
    grain_axes(g, row, axes);
    if (s->skin > 0.0) {
        const mass_properties sharp = polytope_mass(p, 0.0);
        factor = pow(polytope_mass(p, s->skin).volume / sharp.volume, 1.0 / dim);
        vec_copy(3, centre, sharp.centre);
    }
    for (int i = 0; i < p->vertex_count; i++) {
        double local[3] = {0};
        for (int k = 0; k < dim; k++) {
            local[k] = centre[k] + factor * (p->vertex[i * dim + k] - centre[k]);
        }
        for (int k = 0; k < dim; k++) {
            memory->x[i * dim + k] = g->scale[row] * vec_dot(dim, axes + 3 * k, local);
        }
    }
    const int32_t loop[2] = {0, p->vertex_count};
    return dim == 2 ? convex_cell_loops(&memory->piece, 2, 1, loop, NULL, memory->x, shift)
                    : convex_cell_loops(&memory->piece, 3, p->face_count, p->face_first,
                                        p->face_vertex, memory->x, shift);
}

/// Is the ball in this cylinder, but for as much as the flat sides are wrong anyway?
static bool ball_in_cylinder(const domain_cylinder* cylinder, int dim, const double x[3], double r)
{
    const double sagitta = cylinder->radius * (1.0 - cos(M_PI / CYLINDER_SIDES));
    double arm[3] = {0};
    vec_sub(dim, arm, x, cylinder->point);
    const double along = vec_dot(3, arm, cylinder->axis);
    return sqrt(fmax(vec_dot(3, arm, arm) - along * along, 0.0)) + r <= cylinder->radius + sagitta;
}

/// Sides that cut a ball: none (whole), one or several; or it is outside.
typedef struct ball_cuts {
    bool outside;
    int count;
    double height; ///< of the last one over the centre
} ball_cuts;

static ball_cuts cuts_of(const clip_space* space, const double x[3], double r)
{
    ball_cuts cuts = {0};
    const domain* d = space->domain;
    int cylinder = 0;
    for (int i = 0; i < space->count && !cuts.outside; i++) {
        if (cylinder < d->cylinder_count && i == d->cylinder[cylinder].first) {
            if (ball_in_cylinder(&d->cylinder[cylinder++], d->dim, x, r)) {
                i += CYLINDER_SIDES - 1;
                continue;
            }
        }
        const double height = space->side[i].offset - vec_dot(d->dim, space->side[i].normal, x);
        if (height >= r) continue;
        cuts.outside = height <= -r;
        cuts.height = height;
        cuts.count++;
    }
    return cuts;
}

bool ball_is_within(const clip_space* space, const double x[3], double radius)
{
    return cuts_of(space, x, radius).count == 0;
}

talus_status grain_clipped_volume(const grains* g, int64_t row, const double* shift,
                                  const clip_space* space, clip_memory* memory, double* volume)
{
    const int dim = g->dim;
    double x[3] = {0};
    for (int k = 0; k < dim; k++) x[k] = g->position[row * dim + k] + shift[k];
    const ball_cuts cuts = cuts_of(space, x, g->radius[row]);
    *volume = 0.0;
    if (cuts.outside) return TALUS_OK;
    if (cuts.count == 0) {
        *volume = grain_volume(g, row);
        return TALUS_OK;
    }
    if (g->solid[row] < 0) {
        *volume = cuts.count == 1 ? ball_below(dim, g->radius[row], cuts.height)
                                  : convex_cell_ball(space->cell, x, g->radius[row]);
        return TALUS_OK;
    }
    convex_cell* piece = &memory->piece;
    for (int part = 0; part < grain_solid(g, row)->part_count; part++) {
        TRY(grain_convex_part(g, row, part, x, memory));
        for (int i = 0; i < space->count && !convex_cell_is_empty(piece); i++) {
            TRY(convex_cell_cut(piece, space->side[i].normal, space->side[i].offset, 0));
        }
        if (!convex_cell_is_empty(piece)) *volume += convex_cell_volume(piece, NULL);
    }
    return TALUS_OK;
}
