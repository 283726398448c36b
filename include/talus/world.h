/// The world: grains, walls, materials and the step.
///
/// Positions, velocities and forces are SI unless a scene says otherwise. Arrays of a `dim`-
/// dimensional world hold `dim` doubles a row; spins hold 1 (2D) or 3 (3D).
#ifndef TALUS_WORLD_H
#define TALUS_WORLD_H

#include <talus/base.h>
#include <talus/soft.h>
#include <talus/solver.h>
#include <talus/wall.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_world talus_world;

/// What to do when a step does not come out as it should.
typedef enum talus_policy {
    TALUS_POLICY_ACCEPT = 0, ///< go on, count it, log it
    TALUS_POLICY_STOP,       ///< fail with TALUS_ERR_NUMERIC, world as before the failing (sub)step
    TALUS_POLICY_RETRY,      ///< repeat with two half steps, down to h/2^retry_depth, then stop
    TALUS_POLICY_REMOVE,     ///< escaped grains only: take the grain out and go on
} talus_policy;

/// Options of a world. Fill with talus_world_default(); copied on use.
typedef struct talus_world_def {
    talus_mark mark;     ///< set by talus_world_default()
    int dim;             ///< 2 or 3 [default 3]
    double gravity[3];   ///< m/s^2 [default 0]
    bool periodic[3];    ///< axes that wrap around [default none]
    double cell_low[3];  ///< lower corner of the periodic cell, for periodic axes
    double cell_high[3]; ///< upper corner
    bool has_domain;     ///< watch for grains leaving the domain [default false]
    double domain_low[3];
    double domain_high[3];
    double drag;                 ///< linear drag on every grain: force = -drag v, kg/s [default 0]
    talus_policy on_unconverged; ///< ACCEPT, RETRY or STOP [default ACCEPT]
    talus_policy on_escape;      ///< STOP, REMOVE or ACCEPT [default STOP]
    talus_policy on_nan;         ///< STOP or RETRY [default STOP]
    talus_policy on_coarse;      ///< method contact: a step is too long for what its contacts do
                                 ///< (talus_step_result.coarseness): ACCEPT, STOP, or RETRY, which
                                 ///< goes on when the halves are as short as they get [default
                                 ///< ACCEPT]
    int retry_depth;             ///< [default 6]
    uint64_t seed;               ///< of the random sweeps [default 1]
    int threads;                 ///< 0: all cores [default 1]
    talus_method method;         ///< [default TALUS_METHOD_CONTACT]
    talus_solver_def solver;     ///< of the method contact
    talus_soft_def soft;         ///< of the method soft
    talus_log_fn* log;           ///< may be NULL
    void* log_user;
    const char* device; ///< what computes the steps: "cpu", "gpu", "gpu:1" or "auto"
                        ///< (talus_world_set_device()); copied on use, NULL: "cpu" [default NULL]
} talus_world_def;

TALUS_DEFAULT(talus_world_def, talus_world_default);

/// Create an empty world. The caller owns *out and ends it with talus_world_destroy().
TALUS_API talus_status talus_world_create(const talus_world_def* def, talus_world** out,
                                          talus_error* error);
/// Copy a world, to try things out. Everything is copied, contact forces and counters too, and the
/// copy goes on with the same bits as the original would. It has no log. The caller owns *out.
TALUS_API talus_status talus_world_copy(const talus_world* world, talus_world** out,
                                        talus_error* error);
/// Free a world and all it owns. NULL is fine.
TALUS_API void talus_world_destroy(talus_world* world);

/// The options of the world, to read; valid as long as the world. The struct is the library's own
/// and may be longer than the program knows, so to make another world begin with
/// talus_world_default().
TALUS_API const talus_world_def* talus_world_options(const talus_world* world);
TALUS_API talus_status talus_world_set_solver(talus_world* world, const talus_solver_def* solver,
                                              talus_error* error);
TALUS_API talus_status talus_world_set_gravity(talus_world* world, const double gravity[3],
                                               talus_error* error);
/// What computes the steps from now on: "cpu", "gpu" for the first graphics card, "gpu:1" for the
/// second and so on, or "auto": a card if there is one and the world is large enough. The bits are
/// the same (docs/gpu.md). A card that is asked for has to be there, or this fails with
/// TALUS_ERR_DEVICE and the device stays what it was.
TALUS_API talus_status talus_world_set_device(talus_world* world, const char* device,
                                              talus_error* error);
/// What computed the last step, "cpu" or "gpu:0 (NVIDIA H200)", and why. Valid until the next step.
TALUS_API const char* talus_world_device(const talus_world* world);
TALUS_API const char* talus_world_device_reason(const talus_world* world);

// ---- materials ---------------------------------------------------------------------------------

/// What the coefficients of rolling and torsion friction are.
typedef enum talus_rolling_kind {
    TALUS_ROLLING_LENGTH = 0, ///< lengths: |T| <= mu_r R_n
    TALUS_ROLLING_RADIUS,     ///< numbers, times r* = r1 r2/(r1 + r2) (BUW 1.41)
    TALUS_ROLLING_HERTZ, ///< |T| <= k (r* R_n)^(1/3) R_n for spheres, ^(1/2) for disks (BUW 1.43)
} talus_rolling_kind;

/// Springs and dashpots between two materials, of the method soft.
typedef struct talus_soft_pair_def {
    double stiffness;       ///< of the normal spring k_n, N/m; 0: not given [default 0]
    double stiffness_ratio; ///< k_t/k_n [default 1/3]
    double damping;         ///< of the normal dashpot, nu_n/(2 sqrt(k_n m_r)), beyond 1: creeps
                            ///< apart; 0: follows from `restitution` [default 0]
    double damping_ratio;   ///< nu_t/nu_n [default 1/3]
    double young;           ///< Young's modulus, Pa, of the law of Hertz; 0: not given [default 0]
    double poisson;         ///< Poisson's ratio, 0 to 0.5 [default 0.3]
    double reserve[8];      ///< room for later fields, zero
} talus_soft_pair_def;

/// Law between two materials, of both methods. Fill with talus_pair_default(); copied on use.
/// Friction, rolling and torsion bounds are times R_n + cohesion_force on a bonded contact.
typedef struct talus_pair_def {
    talus_mark mark;         ///< set by talus_pair_default()
    double friction;         ///< Coulomb coefficient, bounds sticking; >= 0 [default 0]
    double dynamic_friction; ///< coefficient while sliding, <= friction; 0: the same [default 0]
    double restitution;      ///< Newton's normal coefficient, 0 to 1 [default 0]
    double
        tangential_restitution; ///< part of the slip that sticking gives back, 0 to 1 [default 0]
    talus_rolling_kind rolling_kind; ///< of `rolling` and `torsion` [default TALUS_ROLLING_LENGTH]
    double rolling;                  ///< coefficient against rolling, >= 0 [default 0]
    double torsion;           ///< coefficient against spinning about the normal, >= 0 [default 0]
    double cohesion_force;    ///< tensile strength F_C of a bond, N, >= 0 [default 0]
    double cohesion_energy;   ///< binding energy E_C, J; range E_C/F_C [default 0]
    talus_soft_pair_def soft; ///< what the method soft needs besides
} talus_pair_def;

TALUS_DEFAULT(talus_pair_def, talus_pair_default);

/// Add a material; its law with itself is `law`, with earlier materials the smaller of the two
/// values of every coefficient (the larger damping), and the springs of both in series. Its id goes
/// to *id, which may be NULL.
TALUS_API talus_status talus_world_add_material(talus_world* world, const char* name,
                                                const talus_pair_def* law, talus_material_id* id,
                                                talus_error* error);
/// Number of materials added.
TALUS_API int talus_world_material_count(const talus_world* world);
/// Name of a material, NULL if there is none. Valid as long as the world.
TALUS_API const char* talus_world_material_name(const talus_world* world,
                                                talus_material_id material);
/// The material with this name, none if there is none.
TALUS_API talus_material_id talus_world_find_material(const talus_world* world, const char* name);
/// Set the law between two materials (both orders).
TALUS_API talus_status talus_world_set_pair(talus_world* world, talus_material_id a,
                                            talus_material_id b, const talus_pair_def* pair,
                                            talus_error* error);
/// The law between two materials as it is now. *out must come from talus_pair_default().
TALUS_API talus_status talus_world_pair(const talus_world* world, talus_material_id a,
                                        talus_material_id b, talus_pair_def* out,
                                        talus_error* error);

// ---- shapes of grains --------------------------------------------------------------------------

/// A shape that is not a ball: convex parts, rigidly joined. Each part is the convex hull of its
/// points. Fill with talus_solid_default(); copied on use.
typedef struct talus_solid_def {
    talus_mark mark;       ///< set by talus_solid_default()
    const char* name;      ///< unique, not empty
    const double* points;  ///< [point_count][dim], one part after the other
    const int* part_sizes; ///< [part_count] points of each part; NULL: one part of point_count
    int part_count;        ///< [default 1]
    int point_count;       ///< of all parts
    double skin;           ///< every part is rounded by a ball of this radius, m [default 0]
} talus_solid_def;

TALUS_DEFAULT(talus_solid_def, talus_solid_default);

/// Add a shape; its id goes to *id, which may be NULL. Grains and walls of this shape have their
/// position at its centre of mass.
TALUS_API talus_status talus_world_add_solid(talus_world* world, const talus_solid_def* def,
                                             talus_solid_id* id, talus_error* error);
TALUS_API int talus_world_solid_count(const talus_world* world);
/// The shape with this name, none if there is none.
TALUS_API talus_solid_id talus_world_find_solid(const talus_world* world, const char* name);

/// What is known of a shape, for scale 1. Inertia is that of unit mass.
typedef struct talus_solid_state {
    const char* name; ///< valid as long as the world
    int part_count;
    double skin;
    double volume;     ///< 2D: area
    double radius;     ///< of the ball about the centre of mass that holds the shape
    double centre[3];  ///< centre of mass in the frame in which the points were given
    double inertia[9]; ///< m^2, tensor [3][3] in the shape's axes; 2D: only [8]
} talus_solid_state;

TALUS_API talus_status talus_world_solid(const talus_world* world, talus_solid_id solid,
                                         talus_solid_state* out, talus_error* error);
/// The definition of a shape as it was given. *out must come from talus_solid_default(); what it
/// points to is the world's.
TALUS_API talus_status talus_world_solid_options(const talus_world* world, talus_solid_id solid,
                                                 talus_solid_def* out, talus_error* error);

// ---- grains ------------------------------------------------------------------------------------

/// A grain to be added. Fill with talus_grain_default(); copied on use.
typedef struct talus_grain_def {
    talus_mark mark;      ///< set by talus_grain_default()
    talus_solid_id solid; ///< its shape; none: a ball [default none]
    double scale;         ///< of the shape, > 0 [default 1]
    double radius;        ///< of a ball, m, > 0
    double mass;          ///< kg; 0: from density
    double density;       ///< kg/m^3 (2D: kg/m^2) [default 2500]
    double position[3];   ///< of the centre of mass
    double velocity[3];
    double spin[3];             ///< rad/s; 2D: [2]
    double rotation[3];         ///< rotation vector; 2D: [2] is the angle
    double external_force[3];   ///< that acts on it beside gravity and contacts, N
    double external_torque[3];  ///< likewise, N m; 2D: [2]
    talus_material_id material; ///< [default the first]
    talus_wall_id glued_to;     ///< wall that the grain moves with [default none]
    bool fixed;                 ///< never moves [default false]
    bool locked_rotation;       ///< translates only [default false]
    bool locked[3]; ///< method soft: axes along which its centre stays put [default none]
    int32_t tag;    ///< free for the user, recorded [default 0]
} talus_grain_def;

TALUS_DEFAULT(talus_grain_def, talus_grain_default);

/// Add a grain. Its id (ascending, never reused) goes to *id, which may be NULL.
TALUS_API talus_status talus_world_add_grain(talus_world* world, const talus_grain_def* def,
                                             int64_t* id, talus_error* error);
/// Remove a grain by id; its contacts go with it. Order and ids of the others stay.
TALUS_API talus_status talus_world_remove_grain(talus_world* world, int64_t id, talus_error* error);
/// Let an external force and torque (either may be NULL: zero) act on a grain, from the next step
/// on.
TALUS_API talus_status talus_world_set_grain_force(talus_world* world, int64_t id,
                                                   const double force[3], const double torque[3],
                                                   talus_error* error);
/// Index of a grain id in the arrays, -1 if there is none.
TALUS_API int64_t talus_world_grain_index(const talus_world* world, int64_t id);

/// Values of talus_grains.glued_to[i].index that are not walls.
enum {
    TALUS_GRAIN_FREE = -1,
    TALUS_GRAIN_FIXED = -2,
};

/// The grains as arrays to read, in the order of their ids. Valid until the next call that changes
/// the world.
typedef struct talus_grains {
    int64_t count;
    int dim;                ///< doubles in a row of position, velocity, force
    int spin_dim;           ///< doubles in a row of spin, torque: 1 or 3
    int rotation_dim;       ///< doubles in a row of rotation: 1 (angle) or 4 (quaternion w x y z)
    const int64_t* id;      ///< [count]
    const double* position; ///< [count][dim], wrapped into the periodic cell
    const double* velocity; ///< [count][dim]
    const double* spin;     ///< [count][spin_dim]
    const double* rotation; ///< [count][rotation_dim]
    const double* radius;   ///< [count] of a solid: of the ball about its centre that holds it
    const talus_solid_id* solid;   ///< [count] shape; none: ball
    const double* scale;           ///< [count] of the shape
    const double* mass;            ///< [count]
    const double* inertia;         ///< [count] of a solid in 3D: mean of the three principal ones
    const double* external_force;  ///< [count][dim] that acts beside gravity and contacts, as set;
                                   ///< NULL if memory is short, as the next
    const double* external_torque; ///< [count][spin_dim]
    const talus_material_id* material; ///< [count]
    const talus_wall_id* glued_to; ///< [count] wall; none: TALUS_GRAIN_FREE or TALUS_GRAIN_FIXED
    const int32_t* tag;            ///< [count]
    const int32_t* image;          ///< [count][dim] times the grain crossed the periodic cell
    const double* error; ///< [count] share in the error of the last step, relative to what contacts
                         ///< do to the grain (an estimate, docs/theory.md); NULL: all zero, as with
                         ///< the method soft
} talus_grains;

TALUS_API talus_grains talus_world_grains(const talus_world* world);

/// The arrays of the grains that you may write into, with the same rows as talus_grains.
typedef struct talus_editable_grains {
    int64_t count;
    int dim;                 ///< as in talus_grains
    int spin_dim;            ///< as in talus_grains
    int rotation_dim;        ///< as in talus_grains
    double* position;        ///< [count][dim]
    double* velocity;        ///< [count][dim]
    double* spin;            ///< [count][spin_dim]
    double* rotation;        ///< [count][rotation_dim]
    double* external_force;  ///< [count][dim] acts in the next step and all that follow
    double* external_torque; ///< [count][spin_dim] likewise
    int32_t* tag;            ///< [count]
} talus_editable_grains;

/// Get the arrays of the grains to write into; the world then knows that they change. They are
/// valid until the next step, or any other call that changes the world: call this again before you
/// write again.
TALUS_API talus_status talus_world_edit_grains(talus_world* world, talus_editable_grains* out,
                                               talus_error* error);

// ---- walls -------------------------------------------------------------------------------------

/// Add a wall; its id goes to *id, which may be NULL.
TALUS_API talus_status talus_world_add_wall(talus_world* world, const talus_wall_def* def,
                                            talus_wall_id* id, talus_error* error);
/// Take a wall out of the world, with the grains glued to it.
TALUS_API talus_status talus_world_remove_wall(talus_world* world, talus_wall_id wall,
                                               talus_error* error);
/// Change how a wall moves, from now on and from its present position.
TALUS_API talus_status talus_world_set_drive(talus_world* world, talus_wall_id wall,
                                             const talus_drive_def* drive, talus_error* error);
/// Give a wall another velocity and spin (either may be NULL: zero). A wall with the drive VELOCITY
/// keeps them; a mobile one (FORCE, SERVO), which cannot spin, starts from this velocity along the
/// directions in which it may move. The motion of other walls is prescribed: for them this fails.
TALUS_API talus_status talus_world_set_wall_velocity(talus_world* world, talus_wall_id wall,
                                                     const double velocity[3], const double spin[3],
                                                     talus_error* error);
/// Apply another force to a wall with the drive FORCE; with any other drive this fails.
TALUS_API talus_status talus_world_set_wall_force(talus_world* world, talus_wall_id wall,
                                                  const double force[3], talus_error* error);
/// The definition of a wall as it is now: with its present position and rotation and its present
/// drive. *out must come from talus_wall_default(); what it points to is the world's, until the
/// wall gets another drive.
TALUS_API talus_status talus_world_wall_options(const talus_world* world, talus_wall_id wall,
                                                talus_wall_def* out, talus_error* error);
/// The wall with this name, none if there is none.
TALUS_API talus_wall_id talus_world_find_wall(const talus_world* world, const char* name);
/// Number of walls ever added, removed ones included.
TALUS_API int talus_world_wall_count(const talus_world* world);

/// State of a wall.
typedef struct talus_wall_state {
    const char* name; ///< valid as long as the world
    bool present;     ///< false once removed
    talus_shape_def shape;
    talus_material_id material;
    talus_drive_kind drive;
    double drive_start; ///< time at which the present motion began, s
    double position[3];
    double rotation[4]; ///< quaternion w x y z
    double velocity[3];
    double spin[3];
    double force[3];   ///< contact forces on it and on grains glued to it, last step, N
    double torque[3];  ///< of those forces about its position, N m
    double applied[3]; ///< applied force of a mobile or servo wall, N
} talus_wall_state;

TALUS_API talus_status talus_world_wall(const talus_world* world, talus_wall_id wall,
                                        talus_wall_state* out, talus_error* error);

// ---- contacts ----------------------------------------------------------------------------------

typedef enum talus_contact_state {
    TALUS_CONTACT_OPEN = 0,
    TALUS_CONTACT_STICK = 1,
    TALUS_CONTACT_SLIDE = 2,
} talus_contact_state;

/// The contacts of the last step as arrays. The normal points from body a to body b, the force
/// acts on b. Valid until the next call that changes the world.
typedef struct talus_contacts {
    int64_t count;
    int dim;
    const int64_t* a;       ///< [count] grain id, or -1 - wall index
    const int64_t* b;       ///< [count] grain id
    const int64_t* feature; ///< [count] which features touch, 0 between balls
    const double* point;    ///< [count][dim]
    const double* normal;   ///< [count][dim]
    const double* gap;      ///< [count] at the start of the step, negative: overlap
    const double* force;    ///< [count][dim]
    const double* torque;   ///< [count][1 or 3] rolling and torsion torque on b; NULL if all are
                            ///< zero and memory is short
    const uint8_t* state;   ///< [count] talus_contact_state
    const uint8_t* bonded;  ///< [count] 1 while a cohesive bond holds
} talus_contacts;

TALUS_API talus_contacts talus_world_contacts(const talus_world* world);

/// The wall of a contact, none if it is one of two grains.
static inline talus_wall_id talus_contact_wall(const talus_contacts* contacts, int64_t i)
{
    const talus_wall_id wall = {contacts->a[i] < 0 ? (int32_t)(-1 - contacts->a[i]) : -1};
    return wall;
}

typedef struct talus_arrays talus_arrays;

/// Keep arrays that were handed out by talus_world_grains() (if `keep_grains`) or
/// talus_world_contacts() (if `keep_contacts`) beyond the next change of the world: the world goes
/// on with copies, and the arrays stay as they are now. This is for bindings to other languages,
/// whose users may hold on to an array. The caller owns *out.
TALUS_API talus_status talus_world_detach(talus_world* world, bool keep_grains, bool keep_contacts,
                                          talus_arrays** out, talus_error* error);
/// Free arrays that were detached. NULL is fine.
TALUS_API void talus_arrays_free(talus_arrays* arrays);

// ---- stepping ----------------------------------------------------------------------------------

/// How exact a step was (docs/theory.md): what the papers' theory says about incomplete convergence
/// (UK and UBWK), an estimate of the error, and a certificate, an upper bound on it.
typedef struct talus_rigidity {
    double system_size;      ///< L/d: longest extent of the grains in contact, in mean diameters
    double diffusion_length; ///< l_diff/d = sqrt(4 q N_I): how far force information travelled
    double stiffness;        ///< kappa = q m N_I / h^2 of the equivalent springs, N/m
    double velocity_error;   ///< estimated error of all velocities, relative to what contacts do to
                             ///< them: not a bound
    double sweeps_for_rigid; ///< N_I at which l_diff reaches the system size
    bool yielding;           ///< velocity_error > 0.2: the packing gives way like an elastic one
    double certified;        ///< upper bound on the velocity error of the worst cluster of touching
                             ///< grains, relative to what its contacts do (docs/theory.md);
                             ///< INFINITY: not certified
    bool frozen_friction;    ///< its contacts slide: the bound is for their present friction bounds
    int64_t cluster_grains;  ///< grains and mobile walls of that cluster, 0: nothing touches
    int64_t cluster_grain;   ///< id of its grain with the largest share in the error, -1: none
    double cluster_place[3]; ///< where that grain is
    int64_t worst_grain;     ///< id of the grain with the largest share of all, -1: none
    double worst_grain_error; ///< that share, relative to what contacts do to this grain: an
                              ///< estimate
} talus_rigidity;

/// Outcome of a step. Lengths relative to the mean grain diameter where said.
typedef struct talus_step_result {
    int64_t step; ///< steps done so far
    double time;  ///< simulated time at the end of the step, s
    int64_t grains;
    int64_t contacts;    ///< candidate contacts in the problem; method soft: touching or bonded
    int64_t active;      ///< contacts that carry a force
    int64_t sweeps;      ///< of this step, retries included
    int64_t updates;     ///< contact updates of this step
    bool converged;      ///< the stopping rule was met
    int64_t substeps;    ///< 1, or more after retries
    double coarseness;   ///< method contact: largest error that straight paths in the step leave
                         ///< in a contact, foreseen, in thicknesses of the thinner grain
                         ///< (TALUS_COARSE, docs/theory.md)
    double residual;     ///< natural-map residual of the accepted solution, dimensionless
    bool second;         ///< an answer of the direct methods of the solver `auto` was kept
    double overlap_mean; ///< mean overlap over active contacts / mean diameter, end of the step
    double overlap_max;  ///< largest overlap / mean diameter, end of the step
    double overlap_thickness_max; ///< largest overlap / thickness of the thinner of its two bodies
                                  ///< (diameter of a ball, smallest width of a solid)
    double kinetic_energy;        ///< translation and rotation of the free grains, J
    talus_soft_energy energy; ///< method soft: the other energies, all zero for the method contact
    talus_rigidity rigidity;
    int64_t nan_grain;     ///< id of the first grain that went NaN, -1 if none
    int64_t escaped_grain; ///< id of the first grain that escaped, -1 if none
    int64_t removed;       ///< grains taken out by the escape policy in this step
    char remark[320];      ///< plain words when something is worth saying, else empty
} talus_step_result;

/// Advance by one step of length h > 0. *result may be NULL. A numerical outcome that the policies
/// accept returns TALUS_OK with the facts in *result.
TALUS_API talus_status talus_world_step(talus_world* world, double h, talus_step_result* result,
                                        talus_error* error);

/// Take `count` steps, at least one, in one call. *result is that of the last step, but with the
/// largest overlap of all, and with the `substeps` of all. The method soft is faster this way than
/// step by step.
TALUS_API talus_status talus_world_steps(talus_world* world, double h, int64_t count,
                                         talus_step_result* result, talus_error* error);

/// A step of the method contact is coarse, and halved by on_coarse = TALUS_POLICY_RETRY, if
/// straight paths leave a larger error than the first in one of its contacts, in thicknesses of the
/// thinner grain. Beyond the second, with steps three times as long, runs warn of it. It is halved
/// then also where grains slide and `max_sweeps` do not solve it.
#define TALUS_COARSE 0.01
#define TALUS_TOO_COARSE 0.09

/// How long steps of the method contact may be, and why. Speeds and accelerations are the largest
/// that are known.
typedef struct talus_step_advice {
    double length;       ///< s: the largest of 1, 2 or 5 times a power of ten up to `bound`
    double bound;        ///< s; 0, and `length` too, if nothing is known to move
    double thickness;    ///< of the thinnest free grain, m
    double speed;        ///< m/s
    double acceleration; ///< m/s^2
    double frequency;    ///< of walls that shake, Hz
    const char* of;      ///< what decides, such as "gravity"; static text
    bool by_speed;       ///< because of its speed,
    bool by_period;      ///< or its period; otherwise because of its acceleration
} talus_step_advice;

/// Advise a step for the world as it is now: its gravity, forces, driven walls, and the speeds that
/// grains have. Grains that will fall get faster: a world with on_coarse = TALUS_POLICY_RETRY takes
/// shorter steps by itself where they are needed.
TALUS_API talus_status talus_world_step_advice(const talus_world* world, talus_step_advice* out,
                                               talus_error* error);
/// A step of the method contact that is safe for all solids with the velocities they have now: none
/// moves by more than an eighth of its thickness, against the mean velocity of all. INFINITY
/// without solids that move. Longer steps are cut where they would carry solids into other bodies
/// (talus_totals.cut).
TALUS_API double talus_world_safe_step(const talus_world* world);
/// Times of the stiffest pair, for the choice of a step of the method soft.
TALUS_API talus_status talus_world_soft_times(const talus_world* world, talus_soft_times* out,
                                              talus_error* error);

/// Result of the last step; all zero before the first.
TALUS_API const talus_step_result* talus_world_last(const talus_world* world);
TALUS_API double talus_world_time(const talus_world* world);
/// Hash of grain positions, velocities, rotations and spins and of the walls' poses and velocities.
TALUS_API uint64_t talus_world_hash(const talus_world* world);

enum { TALUS_CERTIFIED_LEVELS = 11 };

/// Levels of certainty that steps are counted by: certified within 0.1, 0.2, 0.5, 1, 2, 5, 10, 20,
/// 50, 100 % of what contacts do, and beyond.
TALUS_API double talus_certified_level(int level);

/// Running totals since the world was made (carried through checkpoints, except seconds).
typedef struct talus_totals {
    int64_t steps;
    int64_t sweeps;
    int64_t updates;
    int64_t unconverged;                       ///< steps accepted without convergence
    int64_t yielding;                          ///< steps whose rigidity said yielding
    int64_t certified[TALUS_CERTIFIED_LEVELS]; ///< steps within each level but not the one before
    int64_t frozen_friction;   ///< steps with talus_rigidity.frozen_friction: contacts of the worst
                               ///< cluster slide
    int64_t unproved_sliding;  ///< of these the steps that are not certified, as in most flows
    double worst_estimate;     ///< largest talus_rigidity.velocity_error of all steps
    double worst_certified;    ///< largest talus_rigidity.certified of all steps
    double worst_time;         ///< when that was: end of the step, s
    int64_t worst_grains;      ///< and of which cluster: its grains,
    int64_t worst_grain;       ///< and one of them, -1: none,
    double worst_place[3];     ///< there
    int64_t audits;            ///< steps that were solved a second time, by an independent method
    int64_t audits_held;       ///< in which the error was not above what the step had claimed
    int64_t audits_unanswered; ///< in which that method found no solution exact enough to judge
    double audit_least;        ///< smallest and
    double audit_most;         ///< largest error over claim of all audits
    int64_t audit_grains;      ///< grains that audits judged, for their clusters are certified,
    int64_t audit_touching;    ///< of so many that touched anything in the same steps,
    int64_t audit_largest;     ///< and those of the largest cluster that was judged
    int64_t audit_updates;     ///< contact updates' worth of work that audits took
    int64_t last_updates;    ///< contact updates' worth of work of last attempts, by direct methods
                             ///< of `auto`, at clusters in flow whose sweeps were used up
    int64_t second;          ///< steps with an answer of the direct methods of `auto`
    int64_t removed;         ///< grains removed by the escape policy
    int64_t halved;          ///< steps taken in parts
    int64_t substeps;        ///< parts of all steps, one for a step that was taken whole
    int64_t coarse;          ///< steps too long: coarseness above TALUS_TOO_COARSE
    double worst_coarseness; ///< largest talus_step_result.coarseness
    double step_needed;      ///< step with which all of these would have been fine, s; 0: none
    double resolved_step;    ///< longest step that resolves the inertial time d sqrt(rho/P) of the
                             ///< pressure P between grains, s: a quarter of it. The least of those
                             ///< flows whose steps, longer than that, ended without meeting their
                             ///< stopping rule; 0: none did
    int64_t cut;             ///< steps that were cut into shorter ones, for solids would have gone
                             ///< into other bodies on the way
    int64_t sunk;            ///< shortest steps in which they did all the same
    double sunk_depth;       ///< the deepest of these, in thicknesses of the thinner body
    double safe_step;        ///< step with which none of these would have happened, s; 0: none did
    double dissipated;       ///< method soft: as in talus_soft_energy
    double input;            ///< likewise
    double start;            ///< likewise
    double seconds_detect;
    double seconds_solve;
    double seconds_advance;
} talus_totals;

TALUS_API const talus_totals* talus_world_totals(const talus_world* world);

/// Check the world's data for consistency (sorted ids, finite numbers, matching counts).
/// For tests and debugging; O(n).
TALUS_API talus_status talus_world_validate(const talus_world* world, talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
