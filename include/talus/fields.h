/// Space and flow, read off a world: packing fraction, Voronoi cells, pair distribution, profiles,
/// coarse-grained fields, slopes, mass flow. Definitions: docs/fields.md.
///
/// Volumes are areas in 2D. Stresses are positive in compression: (1/V) sum of f_i l_j with f the
/// force on b and l from a to b, as tensors [3][3] row by row (2D: the third row and column are 0);
/// a wall, fixed or glued grain is a boundary, where l ends at the contact point. Masses,
/// velocities and stresses are those of the free grains, solid volumes those of all. Results are
/// the same for any number of threads. Arrays belong to the result: its _free().
#ifndef TALUS_FIELDS_H
#define TALUS_FIELDS_H

#include <talus/measure.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the space that is measured ----------------------------------------------------------------

/// The space to measure in. Fill with talus_domain_default(); copied on use. It is the periodic
/// cell, limited by walls that contain the grains (planes, boxes and cylinders from inside; of open
/// boxes and tubes only what no grain is behind) and by `bounds`; where nothing limits it, it ends
/// at the box around the grains, without those that have strayed far from all others.
typedef struct talus_domain_def {
    talus_mark mark;     ///< set by talus_domain_default()
    talus_region bounds; ///< may cross a periodic cell's edge, as regions do [default no limits]
    bool walls;          ///< do walls limit it? [default true]
    double reserve[8];   ///< room for later fields, zero
} talus_domain_def;

TALUS_DEFAULT(talus_domain_def, talus_domain_default);

/// A space and what is in it. Grains count by the exact part of them that is inside.
typedef struct talus_packing {
    double low[3], high[3]; ///< box around the domain, m
    double volume;          ///< of the domain, m^3 (2D: m^2)
    double solid;           ///< of the grains in it; overlaps count twice
    double fraction;        ///< solid / volume
    int64_t grains;         ///< with their centres in it
} talus_packing;

/// Measure the packing fraction of a domain (NULL: the default one). Balls and sharp solids count
/// exactly; a solid with a skin counts as its sharp parts enlarged to its volume. Fails if walls
/// and bounds leave no room.
TALUS_API talus_status talus_measure_packing(const talus_world* world, const talus_domain_def* def,
                                             talus_packing* out, talus_error* error);

// ---- Voronoi cells -----------------------------------------------------------------------------

/// Options of Voronoi cells. Fill with talus_voronoi_default(); copied on use.
typedef struct talus_voronoi_def {
    talus_mark mark;         ///< set by talus_voronoi_default()
    talus_domain_def domain; ///< cuts the cells; no bounds along periodic axes
    talus_region region;     ///< free grains with centres in it make mean and histogram [all]
    bool boundary;           ///< cells at the domain's boundary count in these too [default true]
    int bins;                ///< of the histogram of local fractions, from 0 to 1 [default 50]
} talus_voronoi_def;

TALUS_DEFAULT(talus_voronoi_def, talus_voronoi_default);

/// The radical (power) Voronoi cells of all grains: points x with |x - x_i|^2 - r_i^2 smaller than
/// for any other grain. A solid has the radius of the ball as large as it.
typedef struct talus_voronoi {
    int64_t count;            ///< grains of the world, in its order
    double domain;            ///< volume of the domain, which the cells fill
    double* volume;           ///< [count] of the cell; 0: another grain has it all
    double* fraction;         ///< [count] volume of the grain / volume of the cell; 0 if that is 0
    double* centre;           ///< [count][dim] centre of mass of the cell
    uint8_t* boundary;        ///< [count] 1: the domain's boundary cuts the cell
    int64_t* neighbour_first; ///< [count + 1] where a grain's faces begin in the next two
    int32_t* neighbour; ///< [neighbour_first[count]] row of the grain behind a face, -1: boundary
    double* face;       ///< [neighbour_first[count]] area of the face, m^2 (2D: m)
    int64_t counted;    ///< cells in mean, spread and histogram
    double mean;        ///< of the local fraction
    double spread;      ///< its standard deviation
    double whole;       ///< solid volume of these grains / volume of their cells
    int bins;
    double* histogram; ///< [bins] probability density of the local fraction; beyond 1: in the last
} talus_voronoi;

/// Make the Voronoi cells of all grains in a domain. Circles and cylinders count as prisms of 128
/// sides with the same volume. `def` may be NULL.
TALUS_API talus_status talus_measure_voronoi(const talus_world* world, const talus_voronoi_def* def,
                                             talus_voronoi* out, talus_error* error);
TALUS_API void talus_voronoi_free(talus_voronoi* voronoi);

// ---- pair distribution g(r) --------------------------------------------------------------------

/// What is done with grains whose surroundings are not all in the domain.
typedef enum talus_rdf_edge {
    TALUS_RDF_INNER = 0, ///< only grains farther than the range from the boundary are centres
    TALUS_RDF_SHELL,     ///< all are; of their shells only the part in the domain counts
} talus_rdf_edge;

/// Options of g(r). Fill with talus_rdf_default(); copied on use.
typedef struct talus_rdf_def {
    talus_mark mark;         ///< set by talus_rdf_default()
    talus_domain_def domain; ///< no bounds along periodic axes
    double range;            ///< largest distance, m; 0: 5 mean diameters, but for TALUS_RDF_INNER
                             ///< at most a quarter of the least width that is not periodic
                             ///< [default 0]
    int bins;                ///< [default 100]
    talus_rdf_edge edge;     ///< [default TALUS_RDF_INNER]
} talus_rdf_def;

TALUS_DEFAULT(talus_rdf_def, talus_rdf_default);

/// Radial distribution of the grains' centres; g = 1 where they are independent of each other.
typedef struct talus_rdf {
    int bins;
    double width;         ///< of a bin, m
    int64_t grains;       ///< with their centres in the domain
    int64_t centres;      ///< of these, the ones whose surroundings are counted
    double density;       ///< grains / volume of the part of the domain that they fill
    double* r;            ///< [bins] middle of each bin, m
    double* g;            ///< [bins]
    int64_t* pairs;       ///< [bins] neighbours found, of all centres
    double* coordination; ///< [bins] mean neighbours of a centre up to the end of the bin
} talus_rdf;

/// Measure g(r). Grains at a free surface, whose Voronoi cells reach far out, count in neither the
/// density nor the volume, and grains that have one of them within the range are not centres. Fails
/// if no grain can be a centre. `def` may be NULL.
TALUS_API talus_status talus_measure_rdf(const talus_world* world, const talus_rdf_def* def,
                                         talus_rdf* out, talus_error* error);
TALUS_API void talus_rdf_free(talus_rdf* rdf);

// ---- profiles ----------------------------------------------------------------------------------

/// Options of a profile. Fill with talus_profile_default(); copied on use.
typedef struct talus_profile_def {
    talus_mark mark; ///< set by talus_profile_default()
    talus_domain_def domain;
    int axis;         ///< 0, 1, 2: slices across it [default: the last one, dim - 1, as -1]
    bool radial;      ///< slices are shells about this axis (2D: about `origin`) [default false]
    double origin[3]; ///< radial: a point of the axis, m
    bool has_origin;  ///< false: middle of the domain [default false]
    double low, high; ///< ends of the profile, m (radial: radii); equal: of the domain [default]
    int bins;         ///< [default 20]
} talus_profile_def;

TALUS_DEFAULT(talus_profile_def, talus_profile_default);

/// Means over slices. Grains count in each by the exact part of their volume that is in it,
/// contacts by the part of the line between the centres. Vectors and tensors of a radial profile
/// are along (r, theta, axis), in 2D (r, theta).
typedef struct talus_profile {
    int bins, dim, spin_dim;
    double* position;    ///< [bins] middle of each slice, m
    double* volume;      ///< [bins] of the slice in the domain
    double* fraction;    ///< [bins] solid fraction
    double* density;     ///< [bins] mass / volume of the slice, kg/m^3 (2D: kg/m^2)
    double* velocity;    ///< [bins][dim] momentum / mass, m/s; 0 where there is no mass
    double* spin;        ///< [bins][spin_dim] mean weighed by mass, rad/s
    double* temperature; ///< [bins] mean of |v - velocity|^2 / dim weighed by mass, m^2/s^2
    double* contact;     ///< [bins][9] contact stress, Pa (2D: N/m)
    double* kinetic;     ///< [bins][9] kinetic stress: density times mean of v' v'
} talus_profile;

/// Measure a profile. A radial one takes the whole shell between the domain's ends along the axis
/// for its volume, and solids as balls of their volume. `def` may be NULL.
TALUS_API talus_status talus_measure_profile(const talus_world* world, const talus_profile_def* def,
                                             talus_profile* out, talus_error* error);
TALUS_API void talus_profile_free(talus_profile* profile);

// ---- coarse-grained fields ---------------------------------------------------------------------

/// Kernel of a coarse-grained field; each has the integral 1.
typedef enum talus_kernel {
    TALUS_KERNEL_GAUSS = 0, ///< exp(-r^2/(2 w^2)), cut off at 4 w
    TALUS_KERNEL_LUCY,      ///< (1 + 3 r/w)(1 - r/w)^3 for r < w
    TALUS_KERNEL_HEAVISIDE, ///< constant for r < w
    TALUS_KERNEL_COUNT
} talus_kernel;

/// Options of coarse-grained fields. Fill with talus_field_default(); copied on use.
typedef struct talus_field_def {
    talus_mark mark;         ///< set by talus_field_default()
    talus_domain_def domain; ///< the grid fills the box around it
    talus_kernel kernel;     ///< [default TALUS_KERNEL_GAUSS]
    double width;            ///< w, m; 0: mean diameter, of Lucy and Heaviside twice [default 0]
    int cells[3]; ///< points along each axis; 0: for a spacing near w/2, in 3D w [default 0]
    bool stress;  ///< contact and kinetic stress too [default true]
} talus_field_def;

TALUS_DEFAULT(talus_field_def, talus_field_default);

/// Fields on a grid: point (i, j, k) is row i + cells[0] (j + cells[1] k), at the middle of its
/// cell, low + (i + 1/2) spacing.
typedef struct talus_field {
    int dim;
    int cells[3]; ///< 2D: [2] is 1
    int64_t count;
    double low[3], spacing[3]; ///< m
    double width;              ///< w in use, m
    double* fraction;          ///< [count] solid fraction
    double* density;           ///< [count] kg/m^3 (2D: kg/m^2)
    double* momentum;          ///< [count][dim] density of momentum
    double* velocity;          ///< [count][dim] momentum / density; 0 where that is 0
    double* kinetic;           ///< [count][9] kinetic stress; NULL without `stress`, as the next
    double* contact;           ///< [count][9] contact stress, kernel integrated along the branch
    double* boundary;          ///< [count][dim] force of walls, fixed and glued grains a volume
} talus_field;

/// Coarse-grain the world: density(x) = sum of m_i phi(x - x_i), and so on, such that
/// density Dv/Dt = -div(contact + kinetic) + density gravity + boundary. `def` may be NULL.
TALUS_API talus_status talus_measure_field(const talus_world* world, const talus_field_def* def,
                                           talus_field* out, talus_error* error);
TALUS_API void talus_field_free(talus_field* field);

// ---- slopes ------------------------------------------------------------------------------------

typedef enum talus_slope_kind {
    TALUS_SLOPE_HEAP = 0, ///< 2D: two flanks; 3D: a cone
    TALUS_SLOPE_PLANE,    ///< one line or plane, such as the surface in a drum
} talus_slope_kind;

/// Options of a slope. Fill with talus_slope_default(); copied on use. Up is against gravity, or
/// along the last axis without gravity.
typedef struct talus_slope_def {
    talus_mark mark;       ///< set by talus_slope_default()
    talus_slope_kind kind; ///< [default TALUS_SLOPE_HEAP]
    talus_region region;   ///< free grains with centres in it count [all]
    double column;         ///< width of a column, m; 0: 2 mean diameters [default 0]
    int sectors;           ///< 3D heap: of each ring; 0: such that columns are square [default 0]
    double low, high; ///< heap: surface points between these heights count, as shares of the heap's
                      ///< height over its lowest grain [default 0.2 and 0.8]
    double span;      ///< plane: only this share of the width, in the middle, counts [default 0.6]
    double centre[3]; ///< heap: a point below the top, m, between the flanks
    bool has_centre;  ///< false: centre of mass; the flanks of 2D then meet at the middle of what
                      ///< is above `high` [default false]
    bool touching;    ///< leave out grains without a contact force [default false]
} talus_slope_def;

TALUS_DEFAULT(talus_slope_def, talus_slope_default);

/// A slope, from the highest grain of each column: its top, fitted by least squares. Angles in
/// degrees; errors are standard errors of the fit.
typedef struct talus_slope {
    double angle, error;           ///< of all; of two flanks the mean
    double flank[2];               ///< 2D heap: of the flanks at lower and higher distance; NaN:
                                   ///< there is none, as where a heap leans on a wall
    double flank_error[2];         ///< likewise
    double roughness;              ///< root mean square distance of the points from the fit, m
    double height;                 ///< heap: of the highest surface point over the lowest grain, m
    double up[3];                  ///< unit
    double across[3], across_2[3]; ///< unit horizontal axes; the second in 3D
    double centre[3];              ///< from which distances count
    int64_t count;                 ///< points of the surface
    double* distance; ///< [count] horizontal: from the centre's vertical; 2D and plane: signed,
                      ///< along `across`; plane in 3D: along the steepest rise
    double* top;      ///< [count] height of the point over the centre, m
    uint8_t* fitted;  ///< [count] 1: in the fit
    double rise[2];   ///< plane: d top / d distance along the axes across, across_2
    double level;     ///< plane: top at distance 0
} talus_slope;

/// Measure the angle of a heap (angle of repose) or of a flat surface. Fails if fewer than 3 points
/// of the surface are in a fit. `def` may be NULL.
TALUS_API talus_status talus_measure_slope(const talus_world* world, const talus_slope_def* def,
                                           talus_slope* out, talus_error* error);
TALUS_API void talus_slope_free(talus_slope* slope);

// ---- mass flow ---------------------------------------------------------------------------------

/// A plane (2D: line), or the part of it in a region, through which grains flow. Fill with
/// talus_gate_default().
typedef struct talus_gate {
    double point[3];     ///< [default 0]
    double normal[3];    ///< any length > 0; flow along it is positive [default: down, -y or -z]
    talus_region region; ///< [all]
} talus_gate;

TALUS_API talus_gate talus_gate_default(int dim);

/// Flow at one moment. A grain counts by its cut with the plane.
typedef struct talus_flux {
    double mass_rate;   ///< sum of density v.n over the cut, kg/s
    double volume_rate; ///< m^3/s (2D: m^2/s)
    double number_rate; ///< grains/s: volume rate / volume of each grain
    double solid_area;  ///< cut of the grains, m^2 (2D: m)
    int64_t grains;     ///< that are cut
} talus_flux;

/// Measure the flow of free grains through a gate now; grains count whose centres are in its
/// region. Exact for balls and sharp solids (a skin: as in talus_measure_packing()).
TALUS_API talus_status talus_measure_flux(const talus_world* world, const talus_gate* gate,
                                          talus_flux* out, talus_error* error);

/// Where grains were at a time, to be compared with a later time.
typedef struct talus_places {
    int dim;
    int64_t count;
    double time;
    int64_t* id;        ///< [count] ascending
    double* mass;       ///< [count]
    double* position;   ///< [count][dim] unwrapped: periodic cells crossed are added
    bool periodic[3];   ///< of the world
    double cell_low[3]; ///< likewise
    double cell_length[3];
} talus_places;

/// Keep the places of the free grains.
TALUS_API talus_status talus_measure_places(const talus_world* world, talus_places* out,
                                            talus_error* error);
TALUS_API void talus_places_free(talus_places* places);

/// Grains that went through a gate between two times.
typedef struct talus_crossings {
    int64_t forward, backward; ///< crossings along the normal and against it
    double forward_mass, backward_mass;
    double mass_rate;       ///< (forward - backward) / time between, kg/s; 0 if that is 0
    double number_rate;     ///< grains/s
    int64_t lost, appeared; ///< grains that are there only before, only after
    double lost_mass;       ///< of grains lost that were before the plane
} talus_crossings;

/// Count crossings of the straight ways from `before` to `after`. Across a periodic axis (which the
/// normal must then be along or at right angles to) every image of the gate counts as the gate.
TALUS_API talus_status talus_measure_crossings(const talus_places* before,
                                               const talus_places* after, const talus_gate* gate,
                                               talus_crossings* out, talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
