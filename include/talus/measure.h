/// Numbers read off a world: stress, fabric, forces, networks, coordination, energies, flow.
///
/// Tensors are 9 doubles, [3][3] row by row; in 2D only the upper left four count. Stress is
/// positive in compression. In 2D a volume is an area, a stress a force over a length (N/m) and a
/// density a mass over an area. Definitions with equations: docs/measure.md.
#ifndef TALUS_MEASURE_H
#define TALUS_MEASURE_H

#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A box to measure in. Fill with talus_region_default(): the whole world. Grains count by their
/// centres, contacts by their points.
typedef struct talus_region {
    double low[3], high[3]; ///< -INFINITY and INFINITY: no limit [default]
} talus_region;

TALUS_API talus_region talus_region_default(void);

/// A linear field of velocities: v(x) = velocity + gradient (x - origin).
typedef struct talus_velocity_field {
    double origin[3];
    double velocity[3]; ///< m/s
    double gradient[9]; ///< dv_i/dx_j, row by row, 1/s
} talus_velocity_field;

/// What the velocities of grains fluctuate about.
typedef enum talus_flow_kind {
    TALUS_FLOW_MEAN = 0, ///< mean velocity of the mass in the region
    TALUS_FLOW_LINEAR,   ///< linear field fitted to the grains in the region
    TALUS_FLOW_GIVEN,    ///< the caller's
} talus_flow_kind;

/// Options of the measures. Fill with talus_measure_default(); copied on use.
typedef struct talus_measure_def {
    talus_mark mark;     ///< set by talus_measure_default()
    talus_region region; ///< [default the whole world]
    double volume;    ///< V of stresses, m^3 (2D: m^2); 0: of region, cell or box around the free
                      ///< grains, axis by axis [default 0]
    double threshold; ///< contacts count whose |f| exceeds this part of the mean [default 1e-6]
    bool boundaries;  ///< contacts with walls, fixed and glued grains count too in fabric,
                      ///< forces and networks; in stresses always [default true]
    talus_flow_kind flow;       ///< [default TALUS_FLOW_MEAN]
    talus_velocity_field given; ///< of TALUS_FLOW_GIVEN
    int bins;                   ///< of every histogram, 1 to 100000 [default 24]
    double force_most;          ///< upper end of force histograms, in mean forces [default 6]
    double force_least;         ///< lower end of the logarithmic ones, likewise [default 1e-3]
    double slack;   ///< a contact is mobilised from (1 - slack) times its friction bound on [0.01]
    double cut;     ///< strong forces exceed this times the mean normal force [default 1]
    double axis[3]; ///< 3D: pole of the histogram of orientations [default z]
} talus_measure_def;

TALUS_DEFAULT(talus_measure_def, talus_measure_default);

// ---- tensors ------------------------------------------------------------------------------------

/// Principal values of a symmetric tensor, largest first, with their unit directions.
typedef struct talus_principal {
    double value[3];     ///< 2D: [2] is 0
    double direction[9]; ///< [3][3] a row for each value; its largest component is positive
} talus_principal;

/// Principal values of the symmetric part of a tensor.
TALUS_API talus_principal talus_measure_principal(int dim, const double tensor[9]);

// ---- stress -------------------------------------------------------------------------------------

/// A stress tensor and what follows from it, Pa (2D: N/m).
typedef struct talus_stress {
    double total[9];           ///< contact + kinetic
    double contact[9];         ///< (1/V) sum over contacts of f_i l_j
    double kinetic[9];         ///< (1/V) sum over free grains of m dv_i dv_j
    double volume;             ///< V in use
    int64_t contacts;          ///< in the region, with a force that is not zero
    int64_t grains;            ///< free ones in the region
    double pressure;           ///< trace of the total / dim
    double deviator;           ///< 2D: (s1 - s2)/2; 3D: sqrt(3/2 s':s'), s1 - s3 under axial load
    talus_principal principal; ///< of the total
} talus_stress;

/// Measure the stress. f is the force on b and l the vector from the centre of a to that of b, the
/// nearest image in a periodic cell; at a wall, fixed or glued grain it ends at the contact point.
TALUS_API talus_status talus_measure_stress(const talus_world* world, const talus_measure_def* def,
                                            talus_stress* out, talus_error* error);

// ---- fabric -------------------------------------------------------------------------------------

/// Directions of the contacts, and how the forces depend on them. Arrays belong to the struct:
/// talus_fabric_free(). Angles are those of the largest value against x, 0 to pi, 2D only.
typedef struct talus_fabric {
    int64_t contacts;
    double tensor[9];          ///< mean of n_i n_j, trace 1
    double weighted[9];        ///< the same weighted with the normal force
    talus_principal principal; ///< of `tensor`
    double contact_anisotropy; ///< a_c: 2 (F1 - F2) in 2D, 5/2 (F1 - F3) in 3D
    double contact_angle;
    double normal_anisotropy;     ///< a_n of <f_n>(n) = <f_n> (1 + a_n cos 2(t - t_n)), fitted
    double normal_angle;          ///< t_n
    double tangential_anisotropy; ///< a_t of <f_t>(n) = -<f_n> a_t sin 2(t - t_t), fitted
    double tangential_angle;      ///< t_t
    int bins;
    double* edge;   ///< [bins + 1] 2D: angle of the normal, 0 to pi; 3D: |cos| to the axis, 0 to 1
    double* rose;   ///< [bins] density of contacts over these, integral 1
    double* normal; ///< [bins] mean normal force, N; NaN in an empty bin
    double* tangential; ///< [bins] mean tangential force, N: 2D signed along (-n_y, n_x); 3D size
} talus_fabric;

TALUS_API talus_status talus_measure_fabric(const talus_world* world, const talus_measure_def* def,
                                            talus_fabric* out, talus_error* error);
TALUS_API void talus_fabric_free(talus_fabric* fabric);

// ---- forces -------------------------------------------------------------------------------------

/// How often a value occurs. Arrays belong to the struct: talus_histogram_free().
typedef struct talus_histogram {
    int bins;
    int64_t total;        ///< values, those beyond the ends included
    int64_t below, above; ///< values beyond the ends
    double* edge;         ///< [bins + 1]
    double* density;      ///< [bins] share of `total` over the width of the bin
} talus_histogram;

TALUS_API void talus_histogram_free(talus_histogram* histogram);

/// Sizes of the contact forces. Histograms belong to the struct: talus_forces_free().
typedef struct talus_forces {
    int64_t contacts;
    double mean_normal, largest_normal;         ///< N; tension is negative
    double mean_tangential, largest_tangential; ///< of |f_t|, N
    talus_histogram normal, normal_log;         ///< P(f_n/<f_n>), linear and logarithmic bins
    talus_histogram tangential, tangential_log; ///< P(|f_t|/<|f_t|>)
    int64_t rubbing;                            ///< contacts with a friction bound above 0
    talus_histogram mobility;                   ///< P(|f_t|/bound) of these, 0 to 1
    double mean_mobility;                       ///< of these
    double mobilised;                           ///< share of these with |f_t| >= (1 - slack) bound
    double sliding;                             ///< share of these that slide by their state
} talus_forces;

/// Measure the forces. The friction bound of a contact is mu (f_n + F_C), with the friction of its
/// pair of materials, the dynamic one while it slides, and F_C only while a bond holds.
TALUS_API talus_status talus_measure_forces(const talus_world* world, const talus_measure_def* def,
                                            talus_forces* out, talus_error* error);
TALUS_API void talus_forces_free(talus_forces* forces);

// ---- strong and weak networks -------------------------------------------------------------------

/// The strong or the weak part of the contacts (Radjai et al., PRL 80, 61, 1998). Shares of both
/// add up to 1.
typedef struct talus_subnetwork {
    int64_t contacts;
    double share;          ///< of the contacts
    double stress[9];      ///< their part of the contact stress, Pa (2D: N/m)
    double pressure_share; ///< of the trace of the stress
    double deviator_share; ///< s'_part : s' / s' : s' with the deviators s' of part and whole
    double anisotropy;     ///< a_c as in talus_fabric
    double angle;          ///< 2D, as in talus_fabric; across the load: of the weak network
    double sliding;        ///< share of them that slides
} talus_subnetwork;

/// The network of contacts that carry a force.
typedef struct talus_network {
    double mean_normal; ///< N
    double volume;
    talus_subnetwork strong, weak;
} talus_network;

TALUS_API talus_status talus_measure_network(const talus_world* world, const talus_measure_def* def,
                                             talus_network* out, talus_error* error);

// ---- coordination -------------------------------------------------------------------------------

/// Coordination of the packing, from contacts that carry a force.
typedef struct talus_coordination {
    double all;       ///< mean contacts per grain, all free grains
    double backbone;  ///< the same without rattlers
    int64_t rattlers; ///< grains removed, in turn, for having fewer than dim + 1 contacts
                      ///< (2 contacts suffice in 2D with friction; see `frictional`)
} talus_coordination;

/// Count contacts whose force exceeds `threshold` times the mean contact force [e.g. 1e-6]. A
/// contact with a wall or glued grain counts once, between two free grains once for each.
/// `frictional` lowers the number of contacts that a grain needs from dim + 1 to 2. The means are
/// over the grains of `region`, which may be NULL: of the whole world, in which rattlers are found
/// in any case.
TALUS_API talus_status talus_measure_coordination(const talus_world* world, double threshold,
                                                  bool frictional, const talus_region* region,
                                                  talus_coordination* out, talus_error* error);

/// Only the `all` of talus_measure_coordination(), in two passes over the contacts.
TALUS_API double talus_measure_contacts_per_grain(const talus_world* world, double threshold);

// ---- energy and momentum ------------------------------------------------------------------------

/// Energies, J, and powers, W, of the free grains with their centres in a region.
typedef struct talus_energy {
    int64_t grains;
    double translational, rotational;
    double kinetic;       ///< the sum of both
    double fluctuating;   ///< translational part against the flow of the options
    double potential;     ///< -m g.x, with x unwrapped
    double gravity_power; ///< of gravity on these grains
    double force_power;   ///< of external forces and torques on these grains
    double wall_power;    ///< of all walls on all grains: minus the forces and torques on the walls
                          ///< times their velocities and spins
    talus_soft_energy soft; ///< method soft: of the whole world; zero for the method contact
} talus_energy;

TALUS_API talus_status talus_measure_energy(const talus_world* world, const talus_measure_def* def,
                                            talus_energy* out, talus_error* error);

/// Sum of the forces of the last step's contacts on each grain, N: `force` [grains][dim], rows as
/// in talus_world_grains(). Bonds and contacts with walls count.
TALUS_API void talus_measure_contact_force(const talus_world* world, double* force);

/// Total momentum of the free grains and mobile walls; 3 doubles.
TALUS_API void talus_measure_momentum(const talus_world* world, double momentum[3]);

// ---- flow ---------------------------------------------------------------------------------------

/// Fit a linear field to the velocities of the free grains in a region, weighted by mass. Nothing
/// varies along periodic axes, nor along axes on which the grains have no extent.
TALUS_API talus_status talus_measure_velocity_field(const talus_world* world,
                                                    const talus_region* region,
                                                    talus_velocity_field* out, talus_error* error);

/// State of a shear flow.
typedef struct talus_rheology {
    double rate;     ///< shear rate, sqrt(2 D':D') of the strain rate D less its trace, 1/s
    double shear;    ///< shear stress -s:D'/rate: positive if it resists the flow, Pa (2D: N/m)
    double pressure; ///< trace of the total stress / dim
    double diameter; ///< mean of the free grains, m
    double density;  ///< of their material: mass / volume of the grains
    double inertial; ///< I = rate diameter sqrt(density/pressure)
    double friction; ///< mu = shear/pressure
    talus_velocity_field flow; ///< the field in use
} talus_rheology;

/// Measure shear rate, inertial number and effective friction. With TALUS_FLOW_GIVEN the rate is
/// that of the given field, otherwise of the fitted one; stresses fluctuate about the same field.
/// Numbers that are not defined (no rate, no pressure) are NaN.
TALUS_API talus_status talus_measure_rheology(const talus_world* world,
                                              const talus_measure_def* def, talus_rheology* out,
                                              talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
