/// Particle types of a GSD file: the shapes of grains in the sizes that there are.
///
/// Readers differ: after the schema a shape has the size that stands there, while OVITO multiplies
/// it by half of the particle's diameter. So a type is a shape in one size, and its grains get the
/// diameter 2, by which nothing changes. Where grains have too many sizes, a type is a shape with
/// the corners of scale 1, and the diameter twice the grain's scale.
#ifndef TALUS_RECORD_GSD_TYPES_H
#define TALUS_RECORD_GSD_TYPES_H

#include "record/gsd.h"
#include "record/shapes.h"

enum { GSD_MOST_TYPES = 64 };

/// Type 0 is the ball, then follow shapes.
typedef struct gsd_types {
    const shapes* all;
    int count;     ///< of shapes in a size
    bool too_many; ///< a type is a shape, whatever the size of its grains
    int solid[GSD_MOST_TYPES];
    double scale[GSD_MOST_TYPES];
    double ball_sum; ///< of the diameters of all balls seen
    int64_t balls;
} gsd_types;

/// Take note of a grain: its shape, -1 for a ball, its radius and scale.
void gsd_types_see(gsd_types* types, int solid, double radius, double scale);
/// Type of a grain that was seen, and the diameter that goes with it.
uint32_t gsd_types_find(const gsd_types* types, int solid, double radius, double scale,
                        double* diameter);
/// Write particles/types and particles/type_shapes.
talus_status gsd_types_put(const gsd_types* types, gsd_writer* w, talus_error* error);

#endif
