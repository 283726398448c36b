/// Bodies for the tests of soft/overlap.h: polygons, convex and concave, and disks, each with its
/// like for overlap_model.h.
#ifndef TALUS_TESTS_OVERLAP_SPECIMEN_H
#define TALUS_TESTS_OVERLAP_SPECIMEN_H

#include "overlap_model.h"
#include "random.h"
#include "support.h"

#include "soft/overlap.h"

#include <string.h>

/// A shape given by convex parts, and where it is.
typedef struct specimen {
    overlap_shape shape;
    double* number;
    double radius;   ///< of a disk; of a shape: of the circle that holds it
    model_set model; ///< the parts as they were given, in the body frame
} specimen;

typedef struct outline {
    int part_count;
    int corners[4];
    double corner[4][8][2];
} outline;

// clang-format off
static const outline square = {1, {4}, {{{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}}}};
static const outline ell = {2, {4, 4}, {{{-0.5, -0.5}, {-0.1, -0.5}, {-0.1, 0.7}, {-0.5, 0.7}},
                                        {{-0.1, -0.5}, {0.6, -0.5}, {0.6, -0.2}, {-0.1, -0.2}}}};
static const outline pitchfork = {3, {4, 4, 4}, {{{-0.6, -0.2}, {0.6, -0.2}, {0.6, 0.1}, {-0.6, 0.1}},
                                            {{-0.6, 0.1}, {-0.3, 0.1}, {-0.35, 0.8}, {-0.55, 0.8}},
                                            {{0.3, 0.1}, {0.6, 0.1}, {0.55, 0.8}, {0.35, 0.8}}}};
static const outline plus = {2, {4, 4}, {{{-0.7, -0.2}, {0.7, -0.2}, {0.7, 0.2}, {-0.7, 0.2}},
                                         {{-0.2, -0.7}, {0.2, -0.7}, {0.2, 0.7}, {-0.2, 0.7}}}};
// clang-format on

static inline void specimen_place(specimen* s, double angle, double scale)
{
    overlap_place(&s->shape, cos(angle), sin(angle), scale, s->number);
    s->radius = scale * s->shape.radius;
}

static inline specimen specimen_rounded(const outline* o, double skin)
{
    specimen s = {.model = {.part_count = o->part_count}};
    talus_error error;
    polytope part[4];
    for (int k = 0; k < o->part_count; k++) {
        check_ok(polytope_hull(2, o->corner[k][0], o->corners[k], &part[k], &error), error);
        s.model.corners[k] = part[k].vertex_count;
        memcpy(s.model.corner[k], part[k].vertex, sizeof(double) * 2 * (size_t)o->corners[k]);
    }
    check_ok(overlap_shape_make(part, o->part_count, skin, &s.shape, &error), error);
    for (int k = 0; k < o->part_count; k++) polytope_free(&part[k]);
    s.number = malloc(sizeof(double) * (size_t)overlap_size(&s.shape));
    specimen_place(&s, 0.0, 1.0);
    return s;
}

static inline specimen specimen_make(const outline* o)
{
    return specimen_rounded(o, 0.0);
}

static inline specimen specimen_disk(double radius)
{
    return (specimen){.radius = radius, .model = {.radius = radius}};
}

/// A convex polygon of 5 to 7 corners, like a Voronoi cell.
static inline specimen specimen_cell(rng* r)
{
    outline o = {.part_count = 1, .corners = {5 + (int)uniform(r, 0.0, 2.999)}};
    const double start = uniform(r, 0.0, 1.0);
    for (int k = 0; k < o.corners[0]; k++) {
        const double angle = 2.0 * M_PI * (k + start + uniform(r, -0.3, 0.3)) / o.corners[0];
        o.corner[0][k][0] = 0.5 * cos(angle);
        o.corner[0][k][1] = 0.5 * sin(angle);
    }
    return specimen_make(&o);
}

static inline void specimen_free(specimen* s)
{
    overlap_shape_free(&s->shape);
    free(s->number);
}

/// The model of a specimen turned and moved.
static inline model_set model_at(const specimen* s, double angle, const double at[2])
{
    model_set m = s->model;
    const double c = cos(angle), si = sin(angle);
    for (int k = 0; k < m.part_count; k++) {
        for (int i = 0; i < m.corners[k]; i++) {
            const double x = m.corner[k][i][0], y = m.corner[k][i][1];
            m.corner[k][i][0] = at[0] + c * x - si * y;
            m.corner[k][i][1] = at[1] + si * x + c * y;
        }
    }
    m.centre[0] += at[0], m.centre[1] += at[1];
    return m;
}

static inline overlap_body body_of(const specimen* s)
{
    return (overlap_body){s->number ? &s->shape : NULL, s->number, s->radius};
}

static inline double total_area(const overlap_scratch* s)
{
    double sum = 0.0;
    for (int64_t k = 0; k < s->count; k++) sum += s->region[k].area;
    return sum;
}

/// Sum of the area vectors.
static inline void total_vector(const overlap_scratch* s, double vector[2])
{
    vector[0] = vector[1] = 0.0;
    for (int64_t k = 0; k < s->count; k++) {
        for (int c = 0; c < 2; c++) vector[c] += s->region[k].length * s->region[k].normal[c];
    }
}

enum { SPECIMENS = 7 };

static inline void specimens_make(specimen all[SPECIMENS], rng* r)
{
    all[0] = specimen_cell(r);
    all[1] = specimen_cell(r);
    all[2] = specimen_make(&ell);
    all[3] = specimen_make(&pitchfork);
    all[4] = specimen_make(&plus);
    all[5] = specimen_disk(0.35);
    all[6] = specimen_make(&square);
}

static inline void specimens_free(specimen all[SPECIMENS])
{
    for (int k = 0; k < SPECIMENS; k++) specimen_free(&all[k]);
}

/// Each region of the model that is not too small has its like.
static inline void compare_regions(const overlap_scratch* s, const model_answer* model,
                                   double tolerance, int* several)
{
    int counted = 0;
    for (int k = 0; k < model->count; k++) {
        double best = INFINITY, off = INFINITY;
        for (int64_t l = 0; l < s->count; l++) {
            const overlap_region* r = &s->region[l];
            const double error = fabs(r->area - model->area[k]);
            const double away = hypot(r->centroid[0] - model->centroid[k][0],
                                      r->centroid[1] - model->centroid[k][1]);
            if (error + model->area[k] * away < best + off)
                best = error, off = model->area[k] * away;
        }
        if (model->area[k] < tolerance) continue;
        counted++;
        if (best > tolerance || off > tolerance) {
            printf("region %d: area %.9g, centroid %.6g %.6g\n", k, model->area[k],
                   model->centroid[k][0], model->centroid[k][1]);
            for (int64_t l = 0; l < s->count; l++) {
                printf("  found %.9g, %.6g %.6g\n", s->region[l].area, s->region[l].centroid[0],
                       s->region[l].centroid[1]);
            }
            check_below("difference of area", best, tolerance, "midpoint rule");
            check_below("difference of first moment", off, tolerance, "midpoint rule");
        }
    }
    int64_t large = 0;
    for (int64_t l = 0; l < s->count; l++) large += s->region[l].area >= 2.0 * tolerance;
    assert_true(large <= counted);
    *several += s->count > 1;
}

#endif
