/// The law of a soft contact: overlap, velocities and history in; force, torque and history out.
///
/// The law itself is soft/law_kernel.h, in lanes: eight contacts at once, or four, or one, with the
/// same bits. Balls come to it from soft/ball_kernel.h, which works out their geometry in lanes
/// too; walls and polygons from batches of eight contacts whose geometry was found one by one
/// (meetings).
#ifndef TALUS_SOFT_LAW_H
#define TALUS_SOFT_LAW_H

#include "body/materials.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/soft.h>

enum { SOFT_LANES = 8 };

/// What the law needs to know of a pair of materials: one row of numbers, read as such into lanes.
/// Rows have a multiple of four numbers.
enum {
    SOFT_STIFFNESS = 0,      ///< linear, area: k_n; Hertz: 4/3 E*
    SOFT_TANGENTIAL,         ///< linear, area: k_t; Hertz: 8 G*
    SOFT_DAMPING,            ///< beta: nu_n = 2 beta sqrt(k_n m_r) (Hertz: with its own factor)
    SOFT_TANGENTIAL_DAMPING, ///< nu_t/nu_n
    SOFT_FRICTION,           ///< bounds sticking
    SOFT_SLIDING_FRICTION,   ///< while sliding
    SOFT_ROLLING,            ///< coefficients of torques; 0: none
    SOFT_TORSION,
    SOFT_COHESION,    ///< F_C of a bond
    SOFT_RANGE,       ///< d_C: gap up to which it holds
    SOFT_ROLLING_ARM, ///< 0: rolling coefficients are lengths; 1: times r*; 2: Hertz-like
    SOFT_SPARE,
    SOFT_CONSTANTS
};

/// Row of a pair of materials for the laws of a world.
void soft_constants(const talus_pair_def* pair, const talus_soft_def* soft, int dim,
                    double row[SOFT_CONSTANTS]);

/// What the kernels are compiled for.
typedef struct soft_kind {
    int dim;
    talus_soft_law law; ///< area as linear: the geometry differs, not the law
    bool total;         ///< TALUS_BOUND_TOTAL
    bool rich;          ///< rolling, torsion or cohesion in any pair of materials
} soft_kind;

/// Eight contacts whose geometry is known, [field][lane]. Vectors have dim numbers, axial ones 1
/// (2D) or 3. Displacements and turns are those since the last evaluation of forces, of b relative
/// to a: increments of positions and angles, or velocity times step, as the elongation asks.
typedef struct soft_meetings {
    double overlap[SOFT_LANES];        ///< > 0 where bodies touch; linear measure (area: A/l_c)
    double normal[3][SOFT_LANES];      ///< unit, from a to b
    double last_normal[3][SOFT_LANES]; ///< at the last evaluation; of a new contact the same
    double velocity[3][SOFT_LANES];    ///< of b's point relative to a's
    double moved[3][SOFT_LANES];       ///< displacement of b's point relative to a's
    double spin[3][SOFT_LANES];        ///< of b relative to a
    double turned[3][SOFT_LANES];      ///< turn of b relative to a
    double twist[SOFT_LANES];          ///< 3D: mean turn of both about the normal
    double inv_mass[SOFT_LANES];       ///< 1/m_a + 1/m_b
    double curvature[SOFT_LANES];      ///< 1/r*: 1/r_a + 1/r_b, 0 for a flat wall
    int32_t law[SOFT_LANES];           ///< row of the table of constants
    uint8_t touched[SOFT_LANES];       ///< 1: the contact existed at the last evaluation
    // history, in and out
    double slip[3][SOFT_LANES]; ///< elongation; 2D: [0], along (-n_y, n_x)
    double roll[3][SOFT_LANES];
    uint8_t bonded[SOFT_LANES];
    // answers
    double force[3][SOFT_LANES];  ///< on b
    double torque[3][SOFT_LANES]; ///< of rolling and torsion on b
    double elastic[SOFT_LANES];   ///< energy of all springs now, normal one included
    double loss[SOFT_LANES];      ///< energy lost in sliding and (dashpots) h * power
    double power[SOFT_LANES];     ///< of the dashpots now
    uint8_t state[SOFT_LANES];    ///< talus_contact_state
} soft_meetings;

#endif
