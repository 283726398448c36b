/// The space that is measured: a convex cell of flat sides, made of the periodic cell, the walls
/// that contain grains, the caller's bounds and, where nothing else limits it, the box around the
/// grains. And the part of a grain that is in such a space.
#ifndef TALUS_MEASURE_DOMAIN_H
#define TALUS_MEASURE_DOMAIN_H

#include "geometry/convex_cell.h"
#include "world/world.h"

#include <talus/fields.h>

/// Sides of the prism that stands for a circle or cylinder, with the same volume.
enum { CYLINDER_SIDES = 128 };

/// The points with normal.x <= offset.
typedef struct half_space {
    double normal[3], offset;
    bool seam; ///< between two images of a periodic cell that is whole
} half_space;

/// A cylinder (2D: circle) that grains are in; its sides are CYLINDER_SIDES from `first` on.
typedef struct domain_cylinder {
    double point[3], axis[3], radius; ///< 2D: the axis is z
    int first;
} domain_cylinder;

typedef struct domain {
    int dim;
    const grains* grains;
    cell cell;              ///< the world's
    bool whole[3];          ///< periodic, and no bounds cut it
    double low[3], high[3]; ///< box around the space; 2D: the third is 0
    int count;
    int64_t capacity;
    half_space* side; ///< [count] walls, then the box where no wall limits it
    int box;          ///< first side of the box
    int cylinder_count;
    int64_t cylinder_capacity;
    domain_cylinder* cylinder; ///< [cylinder_count]
    convex_cell space;
    double volume;
} domain;

/// Make a domain. The caller owns *out: domain_free().
talus_status domain_make(const talus_world* world, const talus_domain_def* def, domain* out,
                         talus_error* error);
void domain_free(domain* d);
/// Fail if bounds cut a periodic axis, where `what` needs it whole.
talus_status domain_check_whole(const domain* d, const char* what, talus_error* error);
/// Is a point in the domain? Periodic axes are taken as they are.
bool domain_holds(const domain* d, const double* x);
/// Distance of a point from the nearest side that is not periodic; negative outside.
double domain_depth(const domain* d, const double* x);

/// The images of a ball along the periodic axes that can reach into a box: shifts of whole cells,
/// from..to along each axis.
typedef struct image_range {
    int from[3], to[3];
} image_range;

image_range domain_images(const domain* d, const double* x, double reach, const double low[3],
                          const double high[3]);
/// Begin with the first image of a range; false if there is none. Go to the next one; false after
/// the last.
bool image_first(const image_range* range, int at[3]);
bool image_next(const image_range* range, int at[3]);
/// How far the image `at` is from the original; 2D: the third is 0.
void image_shift(const domain* d, const int at[3], double shift[3]);

/// Memory of grain_clipped_volume(). Zero it to begin.
typedef struct clip_memory {
    convex_cell piece;
    double* x; ///< corners of a polytope in place
    int64_t capacity;
} clip_memory;

void clip_memory_free(clip_memory* m);

/// A convex space to measure parts of grains in: its sides, and the same as a cell.
typedef struct clip_space {
    const domain* domain; ///< its rounds hold grains exactly; its sides come first in `side`
    const half_space* side;
    int count;
    const convex_cell* cell;
} clip_space;

/// Is a ball at x all within a space?
bool ball_is_within(const clip_space* space, const double x[3], double radius);
/// Volume of the part of a grain, moved by `shift` [dim], that is in a space.
talus_status grain_clipped_volume(const grains* g, int64_t row, const double* shift,
                                  const clip_space* space, clip_memory* memory, double* volume);
/// One convex piece of a grain that is a solid, about its centre, in memory->piece.
talus_status grain_convex_part(const grains* g, int64_t row, int part, const double* shift,
                               clip_memory* memory);
/// Volume of a ball of radius r below a plane at height h over its centre.
double ball_below(int dim, double r, double h);
/// Common area of two disks of radii a and b at the distance c.
double disks_common(double a, double b, double c);

#endif
