/// The grains, balls and solids, as a struct of arrays.
///
/// Rows stay in ascending id. A grain is free, fixed, or glued to a wall; only free grains have
/// inverse masses, so the solver needs no flag: an infinite mass is a zero.
///
/// Solvers know the rotation of a grain as a velocity w [1 or 3], a linear image of its spin, such
/// that the kinetic energy is m v^2/2 + w^2/(2 kim) with one number kim (the column spin_mobility):
///   ball:   w = R spin,                              kim = R^2/I
///   solid:  w = scale root (spin in the body frame), kim = 1/m, with root^2 = inertia of unit mass
#ifndef TALUS_STATE_GRAINS_H
#define TALUS_STATE_GRAINS_H

#include "base/columns.h"
#include "geometry/solid.h"

#include <stdint.h>
#include <talus/world.h>

enum { GRAIN_FREE = -1, GRAIN_FIXED = -2 }; ///< values of glued_to besides wall indices

typedef struct grains {
    int dim;
    int64_t count, capacity;
    int64_t next_id;
    const solids* solids;  ///< the world's
    int64_t* id;           ///< [count]
    double* position;      ///< [count][dim]
    double* velocity;      ///< [count][dim]
    double* spin;          ///< [count][1 or 3]
    double* rotation;      ///< [count][1 or 4]
    double* radius;        ///< [count] of a solid: of the ball about its centre that holds it
    int32_t* solid;        ///< [count] row of `solids`, -1 for a ball
    double* scale;         ///< [count] of the solid, 1 for a ball
    double* mass;          ///< [count]
    double* inertia;       ///< [count] of a solid in 3D the mean of the principal ones
    double* inv_mass;      ///< [count] 0 unless free
    double* spin_mobility; ///< [count] kim above, 0 unless free to rotate
    double* force;         ///< [count][dim] external; NULL, as torque: all zero
    double* torque;        ///< [count][1 or 3] external
    int32_t* locked;       ///< [count] bits of the axes along which it stays put; NULL: none
    double* glue_position; ///< [count][3] in the frame of the wall it is glued to; NULL: none is
    double* glue_rotation; ///< [count][4] likewise; 2D: the angle is kept in [0]
    double* rate2;         ///< [count][dim] method soft, as all up to place: acceleration
    double* rate3;         ///< [count][dim] and its derivatives,
    double* rate4;         ///< [count][dim] as many
    double* rate5;         ///< [count][dim] as the integrator keeps
    double* turn2;         ///< [count][1 or 3] angular acceleration
    double* turn3;         ///< [count][1 or 3]
    double* turn4;         ///< [count][1 or 3]
    double* turn5;         ///< [count][1 or 3]
    double* moved;         ///< [count][dim] position less that of the last force evaluation
    double* turned;        ///< [count][1 or 3] turn since then
    int32_t* place;        ///< [count] in the order of work
    int32_t* material;     ///< [count]
    int32_t* glued_to;     ///< [count] wall index, GRAIN_FREE or GRAIN_FIXED
    int32_t* tag;          ///< [count]
    int32_t* image;        ///< [count][dim]
    double* error;         ///< [count] share in the error of the last step; NULL: all zero
} grains;

/// The field table of the grains; *count_out receives the number of columns.
const column* grains_columns(int* count_out);

void grains_init(grains* g, int dim, const solids* all);
void grains_free(grains* g);
/// Append a grain; a rotation vector becomes an angle or quaternion, density becomes mass.
talus_status grains_add(grains* g, const talus_grain_def* def, int64_t* id, talus_error* error);
/// Fill what follows from the other columns, for rows that were read from a frame: moments of
/// inertia, inverse masses and mobilities (as if no rotation were locked).
void grains_derive(grains* g);
/// Make the column of errors, of zeros, if there is none.
talus_status grains_need_errors(grains* g);
/// Make the columns of external forces and torques, of zeros, if there are none.
talus_status grains_need_forces(grains* g);
/// Make the columns that the method soft needs: derivatives up to the `kept`th beyond the velocity
/// (1 to 4), and those of the last force evaluation.
talus_status grains_need_soft(grains* g, int kept);
/// Set both for a grain; the columns must be there.
void grain_set_force(grains* g, int64_t row, const double force[3], const double torque[3]);
/// Row of an id by bisection, -1 if absent.
int64_t grains_find(const grains* g, int64_t id);
/// Drop the rows whose keep byte is 0.
void grains_compact(grains* g, const uint8_t* keep);
/// The solid that a grain is, NULL for a ball.
static inline const solid* grain_solid(const grains* g, int64_t row)
{
    return g->solid[row] < 0 ? NULL : &g->solids->row[g->solid[row]];
}
/// Diameter of a ball, smallest width of a solid: what an overlap is to be compared with.
static inline double grain_thickness(const grains* g, int64_t row)
{
    return g->solid[row] < 0 ? 2.0 * g->radius[row]
                             : grain_solid(g, row)->thickness * g->scale[row];
}
/// The same of its thinnest part: what may go through another body unseen.
static inline double grain_thinnest(const grains* g, int64_t row)
{
    return g->solid[row] < 0 ? 2.0 * g->radius[row] : grain_solid(g, row)->thinnest * g->scale[row];
}
/// Volume (2D: area) of a grain.
double grain_volume(const grains* g, int64_t row);
/// Diameter of the ball as large as the grain.
double grain_diameter(const grains* g, int64_t row);
/// Rotation matrix [3][3] of a grain; in 2D about z.
void grain_axes(const grains* g, int64_t row, double axes[9]);
/// Its w for a spin, and back. Both are [1 or 3].
void grain_w_of_spin(const grains* g, int64_t row, const double* spin, double* w);
void grain_spin_of_w(const grains* g, int64_t row, const double* w, double* spin);
/// Matrix [3][3] with spin = matrix w; 2D: only [0].
void grain_turning(const grains* g, int64_t row, double matrix[9]);
/// Add to a spin what the grain's external torque makes of it in h.
void grain_add_torque(const grains* g, int64_t row, double h, double* spin);
/// Turn a grain by `h spin`. A solid in 3D keeps its angular momentum: its spin changes with its
/// orientation, as the gyroscopic torque asks.
void grain_turn(grains* g, int64_t row, double h);
/// Turn a solid by the angle that a w of 1 s has, beside grain_turn(): its spin keeps its energy
/// and the direction of its angular momentum.
void grain_turn_aside(grains* g, int64_t row, const double* w);
/// Turn a grain, and its spin with it, by the angle that a w of 1 s has: its energy stays.
void grain_rotate(grains* g, int64_t row, const double* w);

/// Kinetic energy of a grain.
double grain_kinetic_energy(const grains* g, int64_t row);
/// Kinetic energy of the free grains. Sums are the same for any number of threads.
double grains_kinetic_energy(const grains* g, int threads);
/// Mean diameter and mean mass of the free grains (of all, if none is free; 1 if there are none).
double grains_mean_diameter(const grains* g, int threads);
double grains_mean_mass(const grains* g, int threads);
/// The box that holds all grains: low[dim] and high[dim]; without grains it is inside out.
void grains_box(const grains* g, int threads, double* low, double* high);

#endif
