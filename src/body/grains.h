/// The grains: balls (disks in 2D, spheres in 3D) as a struct of arrays.
///
/// Rows stay in ascending id. A grain is free, fixed, or glued to a wall; only free grains have
/// inverse masses, so the solver needs no flag: an infinite mass is a zero.
#ifndef TALUS_BODY_GRAINS_H
#define TALUS_BODY_GRAINS_H

#include "base/columns.h"

#include <stdint.h>
#include <talus/world.h>

enum { GRAIN_FREE = -1, GRAIN_FIXED = -2 }; ///< values of glued_to besides wall indices

typedef struct grains {
    int dim;
    int64_t count, capacity;
    int64_t next_id;
    int64_t* id;           ///< [count]
    double* position;      ///< [count][dim]
    double* velocity;      ///< [count][dim]
    double* spin;          ///< [count][1 or 3]
    double* rotation;      ///< [count][1 or 4]
    double* radius;        ///< [count]
    double* mass;          ///< [count]
    double* inertia;       ///< [count]
    double* inv_mass;      ///< [count] 0 unless free
    double* spin_mobility; ///< [count] R^2/I, 0 unless free to rotate
    double* force;         ///< [count][dim] external
    double* torque;        ///< [count][1 or 3] external
    double* glue_position; ///< [count][3] in the frame of the wall it is glued to
    double* glue_rotation; ///< [count][4] likewise; 2D: the angle is kept in [0]
    int32_t* material;     ///< [count]
    int32_t* glued_to;     ///< [count] wall index, GRAIN_FREE or GRAIN_FIXED
    int32_t* tag;          ///< [count]
    int32_t* image;        ///< [count][dim]
} grains;

/// The field table of the grains; *count_out receives the number of columns.
const column* grains_columns(int* count_out);

void grains_init(grains* g, int dim);
void grains_free(grains* g);
/// Append a grain; a rotation vector becomes an angle or quaternion, density becomes mass.
talus_status grains_add(grains* g, const talus_grain_def* def, int64_t* id, talus_error* error);
/// Row of an id by bisection, -1 if absent.
int64_t grains_find(const grains* g, int64_t id);
/// Drop the rows whose keep byte is 0.
void grains_compact(grains* g, const uint8_t* keep);
/// Kinetic energy of the free grains.
double grains_kinetic_energy(const grains* g);
/// Mean diameter and mean mass of the free grains (of all, if none is free; 1 if there are none).
double grains_mean_diameter(const grains* g);
double grains_mean_mass(const grains* g);

#endif
