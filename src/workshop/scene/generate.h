/// Sources of grains: lattice, random filling, chain, explicit list and CSV file.
///
/// Each source appends rows to a grain_list without knowing the world; the caller adds them. Rows
/// that are already in the list are grains to keep clear of, so that sources are run one after the
/// other on the same list. Random numbers depend on (seed, source index) only.
#ifndef TALUS_SCENE_GENERATE_H
#define TALUS_SCENE_GENERATE_H

#include <talus/world.h>

#include "scene/generate_shape.h"
#include "scene/sizes.h"
#include "state/cell.h"

/// Grains on their way into the world. Zero is the empty list; free with grain_list_free().
typedef struct grain_list {
    talus_grain_def* rows;
    int64_t count;
    int64_t capacity;
} grain_list;

talus_status grain_list_add(grain_list* list, const talus_grain_def* grain, talus_error* error);
void grain_list_free(grain_list* list);

/// Say whether a ball may stand here: true when it overlaps no wall. In 2D centre[2] is 0.
typedef bool generate_allowed_fn(const void* user, const double centre[3], double radius);

typedef bool generate_allowed_grain_fn(const void* user, const talus_grain_def* grain);

/// What every source needs to know of the scene.
typedef struct generate_context {
    int dim;
    cell cell;                    ///< periodic axes; all zero: none
    uint64_t seed;                ///< of the scene
    uint64_t source;              ///< index of the source, the second part of the random key
    int threads;                  ///< that may work on it; the result does not depend on it
    generate_allowed_fn* allowed; ///< may be NULL: no walls
    generate_allowed_grain_fn* allowed_grain; ///< the same for solids
    const void* allowed_user;
    const solids* solids; ///< of the world; may be NULL if there are only balls
} generate_context;

/// Outcome of a source. Not placing all is no failure of the call: the caller decides.
typedef struct generate_report {
    int64_t requested;
    int64_t placed;
    double solid_fraction; ///< fill: volume of the grains placed / volume of the region
    char reason[256];      ///< a sentence when placed < requested, else empty
} generate_report;

// ---- regions -----------------------------------------------------------------------------------

typedef enum region_kind {
    REGION_BOX = 0,  ///< low, high
    REGION_CYLINDER, ///< 3D only: axis from low to high, radius, inner_radius
    REGION_BALL,     ///< disk (2D) or sphere about centre, radius, inner_radius
} region_kind;

/// Where grains go; they lie in it with their whole body, except that a box that spans the
/// periodic cell along an axis has no ends there.
typedef struct region_def {
    region_kind kind;
    double low[3], high[3];
    double centre[3];
    double radius;
    double inner_radius; ///< > 0: a shell or ring [default 0]
} region_def;

/// Check a region; the error says which number is wrong.
talus_status region_check(const region_def* region, int dim, talus_error* error);
/// Volume (2D: area).
double region_volume(const region_def* region, int dim);

// ---- sources -----------------------------------------------------------------------------------

typedef enum lattice_kind {
    LATTICE_SQUARE = 0, ///< square (2D), simple cubic (3D)
    LATTICE_TRIANGULAR, ///< 2D only: close-packed rows along x, stacked along y
    LATTICE_FCC,        ///< 3D only: close-packed layers in the xy plane stacked ABC along z
    LATTICE_HCP,        ///< 3D only: the same layers stacked AB
    LATTICE_BCC,        ///< 3D only: square layers stacked along z
} lattice_kind;

/// A lattice. Fill with lattice_default().
typedef struct lattice_def {
    lattice_kind kind;
    bool by_count;     ///< true: counts sites along x, y, z from `low`; false: fill low..high
    double low[3];     ///< the grain at the first site touches it from inside
    double high[3];    ///< not used by count
    int64_t counts[3]; ///< sites in a row, rows in a layer, layers; only by count
    double spacing;    ///< distance of nearest sites, m; 0: factor * largest diameter [default 0]
    bool by_axis;      ///< square: steps and extents instead of `spacing` and balls; any overlaps
                       ///< are the caller's to find [default false]
    double steps[3];   ///< by_axis: distance of sites along each axis, m
    double below[3];   ///< by_axis: how far a grain reaches down from its position, m
    double above[3];   ///< and up
    double factor;     ///< >= 1 [default 1]
    double jitter;     ///< 0: perfect; 1: grains may move until just touching [default 0]
    sizes_def sizes;
} lattice_def;

lattice_def lattice_default(void);

/// Random filling. Fill with fill_default(). Exactly one of count and solid_fraction is > 0.
typedef struct fill_def {
    region_def region;
    sizes_def sizes;
    int64_t count;         ///< grains; 0: by solid_fraction
    double solid_fraction; ///< of the region's volume; 0: by count
    double volume_share;   ///< of the grains in the volume of their balls [default 1]
    double shrink;         ///< balls are so many times as large as `sizes` says [default 1]
    double gap;            ///< least gap to other grains, m [default 0]
    int64_t tries;         ///< random spots tried for a grain before giving up [default 200]
    int sweeps;            ///< pushes a grain to make room for the others, 0: none [default 500]
} fill_def;

fill_def fill_default(void);

/// A straight chain of equal grains.
typedef struct chain_def {
    double start[3];     ///< point from which first_gap is counted
    double direction[3]; ///< any length > 0
    int64_t count;
    double radius;
    double first_gap; ///< from start to the surface of the first grain [default 0]
    double gap;       ///< between surfaces of neighbours [default 0]
} chain_def;

/// `base` gives all that a source does not set (density, material, velocity, tag, ...).
talus_status generate_lattice(const lattice_def* def, const generate_context* context,
                              const talus_grain_def* base, grain_list* grains,
                              generate_report* report, talus_error* error);
talus_status generate_fill(const fill_def* def, const generate_context* context,
                           const talus_grain_def* base, grain_list* grains, generate_report* report,
                           talus_error* error);
/// The same with solids. Where the balls that hold them find no room for all, the solids are packed
/// themselves.
talus_status generate_fill_solids(const fill_def* def, const shape_choice* choice,
                                  const generate_context* context, const talus_grain_def* base,
                                  grain_list* grains, generate_report* report, talus_error* error);
/// Solid fraction that a filling asks for, estimated from the mean size if it is by count.
talus_status fill_fraction(const fill_def* def, int dim, double* out, talus_error* error);
talus_status generate_chain(const chain_def* def, const generate_context* context,
                            const talus_grain_def* base, grain_list* grains,
                            generate_report* report, talus_error* error);
/// Append `count` explicit grains as they are; the caller looks for overlaps (scene/overlap.h).
talus_status generate_list(const talus_grain_def* rows, int64_t count, grain_list* grains,
                           generate_report* report, talus_error* error);

/// Names that a file may use.
typedef struct csv_names {
    const char* const* materials;
    int material_count;
    const shape_table* shapes;
    const double* densities; ///< [material_count] of grains whose row names a material
} csv_names;

/// Read grains from a text file. The first line that is not blank or a # comment names the columns,
/// of which there are
/// x, y, z, radius or diameter, vx, vy, vz, wx, wy, wz, mass, density, material (name), tag, shape
/// (name, or ball), scale, angle (2D, degrees), rx, ry, rz (rotation vector, degrees), or qw, qx,
/// qy, qz, fixed (0 or 1). x, y (z) are required; radius too, unless base->radius > 0 or the grain
/// has a shape, which `choice` gives to those without a column for it. Separated by commas,
/// semicolons or blanks; one kind in a file. Errors begin with file:line: and name the column.
/// Overlaps are the caller's to find.
talus_status generate_csv(const char* path, const generate_context* context, const csv_names* names,
                          const shape_choice* choice, const talus_grain_def* base,
                          grain_list* grains, generate_report* report, talus_error* error);

#endif
