/// The law of a soft contact: overlap, velocities and history in; force, torque and history out.
///
/// The law itself is soft/law_kernel.h, in lanes: eight contacts at once, or four, or one, with the
/// same bits. Balls come to it from soft/ball_kernel.h, which works out their geometry in lanes
/// too; walls and polygons from batches of eight contacts whose geometry was found one by one
/// (meetings).
#ifndef TALUS_SOFT_LAW_H
#define TALUS_SOFT_LAW_H

#include "state/materials.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/soft.h>

enum { SOFT_LANES = 8 };

/// What the law needs to know of a pair of materials: one row of numbers, read as such into lanes.
/// Rows have a multiple of four numbers and tables of rows are aligned to 64 bytes. Laws that are
/// not compound need the first eight numbers only.
enum {
    SOFT_STIFFNESS = 0, ///< linear, area: k_n; Hertz: 4/3 E*, times the contact's radius
    SOFT_TANGENTIAL,    ///< linear, area: k_t; Hertz: 8 G*, times the contact's radius
    SOFT_DAMPING,       ///< nu_n/sqrt(m_r): 2 beta sqrt(k_n); Hertz: sqrt(5) beta, times sqrt(k_n)
    SOFT_TANGENTIAL_DAMPING, ///< nu_t/nu_n
    SOFT_FRICTION,           ///< bounds sticking
    SOFT_TANGENTIAL_YIELD,   ///< 1/SOFT_TANGENTIAL; 0 if that is 0
    SOFT_SLIDING_FRICTION,   ///< while sliding; compound laws only
    SOFT_ROLLING,            ///< coefficients of torques; 0: none
    SOFT_TORSION,
    SOFT_COHESION,    ///< F_C of a bond
    SOFT_RANGE,       ///< d_C: gap up to which it holds
    SOFT_ROLLING_ARM, ///< talus_rolling_kind of the coefficients of torques
    SOFT_CONSTANTS
};

/// Row of a pair of materials for the laws of a world.
void soft_constants(const talus_pair_def* pair, const talus_soft_def* soft, int dim,
                    double row[SOFT_CONSTANTS]);

/// Does a pair have rolling, torsion, cohesion or a sliding friction of its own?
bool soft_pair_is_compound(const talus_pair_def* pair);

/// What the kernels are compiled for.
typedef struct soft_kind {
    int dim;
    talus_soft_law law; ///< area as linear: the geometry differs, not the law
    bool total;         ///< TALUS_BOUND_TOTAL
    bool compound;      ///< any pair of materials has more than friction (soft_pair_is_compound())
} soft_kind;

/// The constants of all pairs of materials, as the kernels read them.
typedef struct soft_laws {
    int materials;
    int64_t capacity;       ///< pairs
    double* constants;      ///< [materials^2][SOFT_CONSTANTS], aligned to 64 bytes
    double* area_constants; ///< the same for contacts through areas of overlap
    int32_t* law_of;        ///< [materials][materials] rows of these
    bool uniform;           ///< there is one row
    soft_kind kind;
    double range; ///< longest range of a bond
} soft_laws;

void soft_laws_free(soft_laws* l);
/// Make the tables. Fails where a pair of materials has no stiffness (Hertz: no Young's modulus;
/// with polygons neither).
talus_status soft_laws_make(soft_laws* l, const materials* m, const talus_soft_def* soft, int dim,
                            bool polygons, talus_error* error);

/// Eight contacts whose geometry is known, [field][lane]. Vectors have dim numbers, axial ones 1
/// (2D) or 3. Displacements and turns are those since the last evaluation of forces, of b relative
/// to a: increments of positions and angles, or velocity times step, as the elongation asks. What
/// `moved` says of a new contact becomes its first elongation. Aligned to 64 bytes. Lanes without a
/// contact have overlap <= 0 and touched 0, and numbers of any kind elsewhere.
typedef struct soft_meetings {
    _Alignas(64) double overlap[SOFT_LANES]; ///< > 0 where bodies touch; linear (area: A/l_c)
    double normal[3][SOFT_LANES];            ///< unit, from a to b
    double last_normal[3][SOFT_LANES];       ///< at the last evaluation; of a new contact the same
    double velocity[3][SOFT_LANES];          ///< of b's point relative to a's
    double moved[3][SOFT_LANES];             ///< displacement of b's point relative to a's
    double spin[3][SOFT_LANES];              ///< of b relative to a; compound laws only
    double turned[3][SOFT_LANES];            ///< turn of b relative to a; compound laws only
    double twist[SOFT_LANES];                ///< 3D: mean turn of both about the normal
    double inv_mass[SOFT_LANES];             ///< 1/m_a + 1/m_b
    double
        curvature[SOFT_LANES]; ///< 1/r*: 1/r_a + 1/r_b, 0 for a flat wall; Hertz and compound laws
    // history, in and out
    double slip[3][SOFT_LANES]; ///< elongation; 2D: [0], along (-n_y, n_x)
    double roll[3][SOFT_LANES]; ///< elastic turn; 2D: [0]; compound laws only
    // answers
    double force[3][SOFT_LANES];  ///< on b
    double torque[3][SOFT_LANES]; ///< of rolling and torsion on b; compound laws only
    double elastic[SOFT_LANES];   ///< energy of all springs and bonds now, normal one included
    double loss[SOFT_LANES];      ///< energy lost in sliding and (dashpots) h * power
    double power[SOFT_LANES];     ///< of the dashpots now
    int32_t law[SOFT_LANES];      ///< row of the table of constants
    uint8_t touched[SOFT_LANES];  ///< 1: the contact existed at the last evaluation
    uint8_t bonded[SOFT_LANES];   ///< history of compound laws: a bond holds
    uint8_t slid[SOFT_LANES];     ///< history of compound laws: it slid at the last evaluation
    uint8_t state[SOFT_LANES];    ///< answer: talus_contact_state
} soft_meetings;

#endif
