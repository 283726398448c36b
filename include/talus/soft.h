/// Options of the soft method: grains that overlap and push each other apart with springs and
/// dashpots, in small explicit steps (Pena, Lind, McNamara and Herrmann, Granular Matter 2009).
#ifndef TALUS_SOFT_H
#define TALUS_SOFT_H

#include <talus/base.h>
#include <talus/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How a world is stepped.
typedef enum talus_method {
    TALUS_METHOD_CONTACT = 0, ///< Contact Dynamics: rigid grains, implicit steps
    TALUS_METHOD_SOFT,        ///< soft particles: springs and dashpots, explicit steps
} talus_method;

typedef enum talus_integrator {
    TALUS_INTEGRATOR_GEAR5 = 0, ///< predictor-corrector with five derivatives
    TALUS_INTEGRATOR_GEAR3,     ///< the same with three
    TALUS_INTEGRATOR_VERLET,    ///< velocity Verlet
    TALUS_INTEGRATOR_LEAPFROG,  ///< drift, kick, drift
} talus_integrator;

/// How the elongation of the friction spring is followed.
typedef enum talus_elongation {
    TALUS_ELONGATION_GEOMETRIC = 0, ///< by the increments of positions and angles
    TALUS_ELONGATION_CUNDALL,       ///< by velocity times step
} talus_elongation;

/// Normal force between balls. Polygons always push with the area of their overlap.
typedef enum talus_soft_law {
    TALUS_SOFT_LINEAR = 0, ///< stiffness times overlap
    TALUS_SOFT_HERTZ,      ///< Hertz and Mindlin, from Young's modulus and Poisson's ratio
    TALUS_SOFT_AREA,       ///< 2D: stiffness times area of overlap / (sum of the radii)
} talus_soft_law;

/// What bounds the tangential force.
typedef enum talus_soft_bound {
    TALUS_BOUND_ELASTIC =
        0,             ///< spring <= friction * elastic normal force; dashpots come on top (PLMH)
    TALUS_BOUND_TOTAL, ///< spring and dashpot together <= friction * normal force (LAMMPS, YADE)
} talus_soft_bound;

/// Options of the soft method. Fill with talus_soft_default(); copied on use.
typedef struct talus_soft_def {
    talus_mark mark;             ///< set by talus_soft_default()
    talus_integrator integrator; ///< [default TALUS_INTEGRATOR_VERLET]
    talus_elongation elongation; ///< [default TALUS_ELONGATION_GEOMETRIC]
    talus_soft_law law;          ///< [default TALUS_SOFT_LINEAR]
    talus_soft_bound bound;      ///< [default TALUS_BOUND_TOTAL]
    talus_vector_width vector;   ///< [default TALUS_VECTOR_BEST]
    double reserve[8];           ///< room for later fields, zero
} talus_soft_def;

TALUS_DEFAULT(talus_soft_def, talus_soft_default);

/// Times of the stiffest pair of a world, from its materials and masses as they are now.
typedef struct talus_soft_times {
    double contact;     ///< t_c: how long a collision lasts (PLMH 10), s
    double oscillation; ///< t_s: period of the lightest grain on its spring (PLMH 9), s
    double bound;       ///< largest step with which results do not depend on it, s
    double stable;      ///< above this step the integrator is unstable, s
    double chosen;      ///< step that `step: auto` takes, s
    double stiffness;   ///< of that pair, N/m
    double mass;        ///< reduced mass of that pair, kg
    const char* reason; ///< what the bound comes from; static text
} talus_soft_times;

/// Energies of a soft step. They add up: kinetic + elastic + dissipated = start + input + error.
typedef struct talus_soft_energy {
    double elastic;    ///< stored in the contacts now, J
    double dissipated; ///< by dashpots, sliding, drag since the soft method began, J
    double input;      ///< work of gravity, of external forces and of walls since then, and the
                       ///< kinetic energy of grains that came less that of those that went, J
    double start;      ///< kinetic and elastic energy when it began, J
    double error;      ///< what does not add up, J
} talus_soft_energy;

#ifdef __cplusplus
}
#endif
#endif
