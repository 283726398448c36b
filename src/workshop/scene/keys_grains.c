/// Keys of the sources of grains and of grains in a list.
#include "base/vec.h"
#include "scene/model.h"

#include <stdint.h>

static const char* const types[] = {"lattice", "fill",    "chain", "list",   "csv",
                                    "inlet",   "voronoi", "arch",  "masonry"};
static const char* const lattices[] = {"square", "triangular", "fcc", "hcp", "bcc"};
enum { TRIANGULAR = 2, FCC = 4, HCP = 8, BCC = 16 };
static const char* const regions[] = {"box", "cylinder", "ball"};
static const char* const axes[] = {"x", "y", "z"};
static const char* const random_word[] = {"random"};
static const char* const distributions[] = {"single", "uniform", "normal", "lognormal",
                                            "power",  "table",   "linear"};
static const char* const measures[] = {"number", "mass"};

/// Rows of grains are 32-bit numbers in the contact lists.
#define MOST_GRAINS INT32_MAX
#define MOST_TRIES 1000000000
enum { MOST_BLOCKS = 10000000 };

/// What a source gives all its grains, or a grain in a list has of its own.
static const key_row grain_rows[] = {
    {"material", KEY_TEXT, .derived = "first material", .meaning = "name of the material"},
    {"density", KEY_REAL, .rule = REAL_POSITIVE, .derived = "the material's", .unit = "kg/m³",
     .unit_2d = "kg/m²", .meaning = "mass per volume"},
    {"mass", KEY_REAL, .rule = REAL_POSITIVE, .derived = "from the density", .unit = "kg",
     .meaning = "mass of each grain, instead of `density`"},
    {"velocity", KEY_VECTOR, .otherwise = "0", .unit = "m/s", KEY_INTO(talus_grain_def, velocity),
     .meaning = "velocity at the start"},
    {"spin", KEY_AXIAL, .otherwise = "0", .unit = "rad/s", KEY_INTO(talus_grain_def, spin),
     .meaning = "angular velocity at the start"},
    {"force", KEY_VECTOR, .otherwise = "0", .unit = "N", KEY_INTO(talus_grain_def, external_force),
     .meaning = "constant external force on each grain"},
    {"torque", KEY_AXIAL, .otherwise = "0", .unit = "N m",
     KEY_INTO(talus_grain_def, external_torque),
     .meaning = "constant external torque on each grain"},
    {"lock_rotation", KEY_BOOL, .otherwise = "false", KEY_INTO(talus_grain_def, locked_rotation),
     .meaning = "the grains do not rotate"},
    {"lock", KEY_TEXTS, .dim = 2, .choices = axes, .choice_count = 2, .derived = "none",
     KEY_INTO(talus_grain_def, locked),
     .meaning = "`[y]`: the grains' centres stay put along y; method soft only"},
    {"lock", KEY_TEXTS, .dim = 3, KEY_CHOICES(axes), .derived = "none",
     KEY_INTO(talus_grain_def, locked),
     .meaning = "`[y]`: the grains' centres stay put along y; method soft only"},
    {"tag", KEY_INTEGER, .least = INT32_MIN, .most = INT32_MAX, .otherwise = "0",
     KEY_INTO(talus_grain_def, tag), .meaning = "a number of your choice, stored with each grain"},
    {"fixed", KEY_BOOL, "-inlet", .otherwise = "false", KEY_INTO(talus_grain_def, fixed),
     .meaning = "the grains never move"},
    {"glue", KEY_TEXT, "-inlet", .derived = "none",
     .meaning = "name of a wall: the grains move with it"},
};

static const key_row source_rows[] = {
    {"type", KEY_CHOICE, KEY_CHOICES(types), .required = true,
     .meaning = "how the grains are placed; the last three make polygons or polyhedra"},
    {"name", KEY_TEXT, .derived = "source0, …", .meaning = "needed for inlets that a phase opens"},
    {"allow_overlap", KEY_BOOL, "-inlet", .otherwise = "false",
     KEY_INTO(scene_source, allow_overlap), .meaning = "do not check this source for overlaps"},
    {"radius", KEY_REAL | KEY_MAP, "lattice fill chain inlet", .rule = REAL_POSITIVE, .unit = "m",
     .meaning =
         "radius of the grains: a number or (not chain) a distribution; or give `diameter`. With "
         "`shape`: of the ball that holds the grain"},
    {"diameter", KEY_REAL | KEY_MAP, "lattice fill chain inlet", .rule = REAL_POSITIVE, .unit = "m",
     .meaning = "instead of `radius`, with the same keys below it"},
    {"radius", KEY_REAL, "list csv", .rule = REAL_POSITIVE, .unit = "m",
     .meaning = "radius of grains that give none"},
    {"shape", KEY_TEXT, "lattice fill chain inlet", .derived = "balls",
     .meaning = "name of the grains' shape; of a `random` one each grain gets a body at random"},
    {"shape", KEY_TEXT, "list csv", .derived = "balls",
     .meaning = "name of the grains' shape, of grains that have none of their own"},
    {"scale", KEY_REAL, "lattice fill chain inlet list csv", .rule = REAL_POSITIVE,
     .otherwise = "1", .needs = "shape",
     .meaning = "size relative to the shape's own, instead of `radius`"},
    {"rotation", KEY_REAL | KEY_CHOICE, "lattice fill chain inlet list csv", .dim = 2,
     KEY_CHOICES(random_word), .otherwise = "0", .needs = "shape", .unit = "degrees",
     .meaning = "orientation of the grains"},
    {"rotation", KEY_MAP | KEY_CHOICE, "lattice fill chain inlet list csv", .dim = 3,
     KEY_CHOICES(random_word), .derived = "none", .needs = "shape",
     .meaning = "orientation of the grains, by `axis` and `angle`"},
    {"lattice", KEY_CHOICE, "lattice", .dim = 2, KEY_CHOICES(lattices), .without = FCC | HCP | BCC,
     .otherwise = "square", .meaning = "arrangement of the sites"},
    {"lattice", KEY_CHOICE, "lattice", .dim = 3, KEY_CHOICES(lattices), .without = TRIANGULAR,
     .otherwise = "square", .meaning = "arrangement of the sites; square is simple cubic"},
    {"low", KEY_VECTOR, "lattice", .derived = "with `counts`: 0", .unit = "m",
     .meaning = "lower corner of the region, or of the first cell"},
    {"high", KEY_VECTOR, "lattice", .needs = "low", .unit = "m", .meaning = "upper corner"},
    {"counts", KEY_VECTOR, "lattice", .rule = REAL_POSITIVE, .whole = true, .most = MOST_GRAINS,
     .meaning = "whole numbers: sites along each axis, instead of `high`"},
    {"spacing", KEY_REAL | KEY_VECTOR, "lattice", .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     .unit = "m",
     .meaning = "distance of nearest sites; 0: `factor` times the largest diameter. Square: or the "
                "distances along each axis, which may be less than a diameter; then `low` and "
                "`high` bound the true shapes, every site is taken and overlaps are an error"},
    {"factor", KEY_REAL, "lattice", .rule = REAL_POSITIVE, .least = 1, .otherwise = "1",
     KEY_INTO(lattice_def, factor), .outside = "must be at least 1 (expected >= 1)",
     .meaning = "distance of nearest sites in largest diameters"},
    {"jitter", KEY_REAL, "lattice", .rule = REAL_FRACTION, .otherwise = "0",
     KEY_INTO(lattice_def, jitter),
     .meaning = "random displacement; with 1, neighbours may just touch"},
    {"region", KEY_MAP, "fill", .required = true,
     .meaning = "where the grains go; they lie in it completely"},
    {"count", KEY_INTEGER, "fill", .least = 1, .most = MOST_GRAINS, KEY_INTO(fill_def, count),
     .meaning = "number of grains; or give `solid_fraction`"},
    {"solid_fraction", KEY_REAL, "fill", .rule = REAL_FRACTION, .not_zero = true,
     KEY_INTO(fill_def, solid_fraction), .outside = "must be above 0",
     .meaning = "share of the region's volume that grains fill"},
    {"gap", KEY_REAL, "fill", .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "m",
     KEY_INTO(fill_def, gap), .meaning = "smallest gap between grains"},
    {"start", KEY_VECTOR, "chain", .otherwise = "0", .unit = "m", KEY_INTO(chain_def, start),
     .meaning = "point where the chain starts"},
    {"direction", KEY_VECTOR, "chain", .required = true, KEY_INTO(chain_def, direction),
     .meaning = "direction of the chain; any length"},
    {"count", KEY_INTEGER, "chain", .least = 1, .most = MOST_GRAINS, .required = true,
     KEY_INTO(chain_def, count), .missing = "a number of grains", .meaning = "number of grains"},
    {"first_gap", KEY_REAL, "chain", .otherwise = "0", .unit = "m", KEY_INTO(chain_def, first_gap),
     .meaning = "gap between `start` and the first grain"},
    {"gap", KEY_REAL, "chain", .otherwise = "0", .unit = "m", KEY_INTO(chain_def, gap),
     .meaning = "gap between neighbours"},
    {"items", KEY_LIST, "list", .least = 1, .required = true,
     .meaning = "the grains; what a grain leaves out, it takes from its source"},
    {"file", KEY_TEXT, "csv", .required = true,
     .meaning =
         "path of a table with columns x, y, z, radius or diameter, vx, vy, vz, wx, wy, wz, "
         "mass, density, material, tag, shape (a name, or ball), scale, angle (2D, degrees), "
         "rx, ry, rz (rotation vector, degrees) or qw, qx, qy, qz (quaternion), named in the "
         "first line; a relative one begins at the scene's folder"},
    {"low", KEY_VECTOR, "inlet voronoi", .required = true, .unit = "m",
     KEY_INTO_EITHER(inlet_def, voronoi_def, low), .meaning = "lower corner of the box"},
    {"high", KEY_VECTOR, "inlet voronoi", .required = true, .unit = "m",
     KEY_INTO_EITHER(inlet_def, voronoi_def, high), .meaning = "upper corner of the box"},
    {"rate", KEY_REAL, "inlet", .rule = REAL_POSITIVE, .unit = "grains/s",
     KEY_INTO(inlet_def, rate), .meaning = "grains per second; or give `mass_rate`"},
    {"mass_rate", KEY_REAL, "inlet", .rule = REAL_POSITIVE, .unit = "kg/s",
     KEY_INTO(inlet_def, rate), .meaning = "instead of `rate`"},
    {"limit", KEY_INTEGER, "inlet", .most = MOST_GRAINS, .derived = "none",
     KEY_INTO(inlet_def, limit), .meaning = "total number of grains"},
    {"tries", KEY_INTEGER, "fill inlet", .least = 1, .most = MOST_TRIES, .otherwise = "200",
     KEY_INTO_EITHER(fill_def, inlet_def, tries), .meaning = "random spots tried for each grain"},
    {"sweeps", KEY_INTEGER, "fill", .most = MOST_TRIES, .otherwise = "500",
     KEY_INTO(fill_def, sweeps),
     .meaning = "sweeps that push apart grains which found no free spot"},
    {"count", KEY_INTEGER, "voronoi", .least = 1, .most = MOST_BLOCKS, .required = true,
     KEY_INTO(voronoi_def, count), .missing = "a number of blocks", .meaning = "number of cells"},
    {"lloyd", KEY_INTEGER, "voronoi", .most = 10000, .otherwise = "3", KEY_INTO(voronoi_def, lloyd),
     .meaning = "how often every point is moved to the centre of its cell; this makes cells "
                "rounder and more alike"},
    {"center", KEY_VECTOR, "arch", .otherwise = "0", .unit = "m", KEY_INTO(arch_def, centre),
     .meaning = "centre of its circles"},
    {"radius", KEY_REAL, "arch", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(arch_def, radius), .meaning = "mean radius"},
    {"thickness", KEY_REAL, "arch", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(arch_def, thickness), .meaning = "from the inner to the outer circle"},
    {"depth", KEY_REAL, "arch", .dim = 3, .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(arch_def, depth), .meaning = "depth along y, half to each side of `center`"},
    {"angle", KEY_REAL, "arch", .rule = REAL_POSITIVE, .most = 360, .otherwise = "180",
     .unit = "degrees", KEY_INTO_RADIANS(arch_def, angle),
     .outside = "is more than a circle (expected up to 360)", .meaning = "angle from end to end"},
    {"blocks", KEY_INTEGER, "arch", .least = 1, .most = MOST_BLOCKS, .required = true,
     KEY_INTO(arch_def, blocks), .missing = "a number of blocks", .meaning = "number of voussoirs"},
    {"springers", KEY_BOOL, "arch", .otherwise = "false", KEY_INTO(arch_def, springers),
     .meaning = "add a fixed voussoir at each end"},
    {"low", KEY_VECTOR, "masonry", .otherwise = "0", .unit = "m", KEY_INTO(masonry_def, low),
     .meaning = "lower corner of the wall"},
    {"brick", KEY_VECTOR, "masonry", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(masonry_def, brick),
     .meaning = "length and height; 3D: length, depth (along y) and height"},
    {"bricks", KEY_INTEGER, "masonry", .least = 1, .most = MOST_BLOCKS, .required = true,
     KEY_INTO(masonry_def, bricks), .missing = "a number of blocks",
     .meaning = "number of bricks in the first course"},
    {"courses", KEY_INTEGER, "masonry", .least = 1, .most = MOST_BLOCKS, .required = true,
     KEY_INTO(masonry_def, courses), .missing = "a number of blocks",
     .meaning = "number of courses"},
    {"gap", KEY_REAL, "voronoi masonry", .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "m",
     KEY_INTO_EITHER(voronoi_def, masonry_def, gap), .meaning = "gap between neighbours"},
    {"opening", KEY_MAP, "masonry", .derived = "none",
     .meaning = "a part that is left free; bricks are cut at its sides"},
    {"bottom", KEY_MAP, "voronoi masonry", .derived = "as all",
     .meaning = "what the blocks at the bottom have of their own; masonry: the first course"},
    {"top", KEY_MAP, "voronoi masonry", .derived = "as all",
     .meaning = "the same for the top or last course, with the keys of `bottom`"},
};

static const key_group source_groups[] = {
    {KEY_AT_MOST_ONE, "mass density", NULL},
    {KEY_AT_LEAST_ONE, "radius diameter shape", "lattice fill chain inlet"},
    {KEY_AT_MOST_ONE, "radius diameter scale", "lattice fill chain inlet list csv"},
    {KEY_ONE_OF, "high counts", "lattice"},
    {KEY_ONE_OF, "count solid_fraction", "fill"},
    {KEY_ONE_OF, "rate mass_rate", "inlet"},
};

static const key_row item_rows[] = {
    {"position", KEY_VECTOR, .unit = "m", .meaning = "position of the centre of mass"},
    {"radius", KEY_REAL, .rule = REAL_POSITIVE, .derived = "the source's", .unit = "m",
     .meaning = "radius; with a shape: of the ball that holds the grain"},
    {"shape", KEY_TEXT, .derived = "the source's", .meaning = "name of the grain's shape"},
    {"scale", KEY_REAL, .rule = REAL_POSITIVE, .derived = "the source's",
     .meaning = "size relative to the shape's own, instead of `radius`"},
    {"rotation", KEY_REAL | KEY_CHOICE, .dim = 2, KEY_CHOICES(random_word),
     .derived = "the source's", .unit = "degrees", .meaning = "orientation of the grain"},
    {"rotation", KEY_MAP | KEY_CHOICE, .dim = 3, KEY_CHOICES(random_word),
     .derived = "the source's", .meaning = "orientation of the grain, by `axis` and `angle`"},
    {"polygon", KEY_ROWS, .dim = 2, .unit = "m",
     .meaning = "the grain's corners in the world, instead of position, size and shape"},
    {"polyhedron", KEY_ROWS, .dim = 3, .unit = "m",
     .meaning = "the grain's corners in the world, instead of position, size and shape"},
    {"skin", KEY_REAL, .dim = 2, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .needs = "polygon",
     .unit = "m", .meaning = "as for shapes"},
    {"skin", KEY_REAL, .dim = 3, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .needs = "polyhedron",
     .unit = "m", .meaning = "as for shapes"},
};

static const key_group item_groups[] = {
    {KEY_AT_MOST_ONE, "mass density", NULL},
    {KEY_ONE_OF, "position polygon polyhedron", NULL},
    {KEY_AT_MOST_ONE, "radius scale polygon polyhedron", NULL},
    {KEY_AT_MOST_ONE, "shape polygon polyhedron", NULL},
    {KEY_AT_MOST_ONE, "rotation polygon polyhedron", NULL},
};

static const key_row region_rows[] = {
    {"type", KEY_CHOICE, .dim = 2, KEY_CHOICES(regions), .without = 2, .otherwise = "box",
     KEY_INTO(region_def, kind), .meaning = "form of the region"},
    {"type", KEY_CHOICE, .dim = 3, KEY_CHOICES(regions), .otherwise = "box",
     KEY_INTO(region_def, kind), .meaning = "form of the region"},
    {"low", KEY_VECTOR, "box", .required = true, .unit = "m", KEY_INTO(region_def, low),
     .meaning = "lower corner"},
    {"high", KEY_VECTOR, "box", .required = true, .unit = "m", KEY_INTO(region_def, high),
     .meaning = "upper corner"},
    {"from", KEY_VECTOR, "cylinder", .dim = 3, .required = true, .unit = "m",
     KEY_INTO(region_def, low), .meaning = "one end of its axis"},
    {"to", KEY_VECTOR, "cylinder", .dim = 3, .required = true, .unit = "m",
     KEY_INTO(region_def, high), .meaning = "other end"},
    {"center", KEY_VECTOR, "ball", .required = true, .unit = "m", KEY_INTO(region_def, centre),
     .meaning = "centre of the ball"},
    {"radius", KEY_REAL, "cylinder ball", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(region_def, radius), .meaning = "radius of the region"},
    {"inner_radius", KEY_REAL, "cylinder ball", .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     .unit = "m", KEY_INTO(region_def, inner_radius),
     .meaning = "leave the core free, up to this radius"},
};

static const key_row opening_rows[] = {
    {"from", KEY_REAL, .required = true, .unit = "m", KEY_INTO(masonry_def, from),
     .meaning = "x of its left side"},
    {"to", KEY_REAL, .required = true, .unit = "m", KEY_INTO(masonry_def, to),
     .meaning = "x of its right side"},
    {"course", KEY_INTEGER, .most = MOST_BLOCKS, .otherwise = "0", KEY_INTO(masonry_def, first),
     .meaning = "lowest course that is left out"},
    {"courses", KEY_INTEGER, .least = 1, .most = MOST_BLOCKS, .required = true,
     KEY_INTO(masonry_def, height), .missing = "a number of blocks",
     .meaning = "number of courses"},
    {"bearing", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "m",
     KEY_INTO(masonry_def, bearing),
     .meaning = "how far a lintel in the course above rests on each side; 0: no lintel"},
};

static const key_row edge_rows[] = {
    {"depth", KEY_REAL, "voronoi", .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "m",
     .meaning = "cells that come so near to the bottom (or top) count"},
    {"tag", KEY_INTEGER, .least = INT32_MIN, .most = INT32_MAX, .derived = "the source's",
     KEY_INTO(talus_grain_def, tag), .meaning = "a number of your choice, stored with each grain"},
    {"fixed", KEY_BOOL, .derived = "the source's", KEY_INTO(talus_grain_def, fixed),
     .meaning = "these blocks never move"},
    {"glue", KEY_TEXT, .derived = "the source's",
     .meaning = "name of a wall: these blocks move with it"},
};

static const key_row size_rows[] = {
    {"distribution", KEY_CHOICE, KEY_CHOICES(distributions), .required = true,
     .meaning = "kind of distribution"},
    {"by", KEY_CHOICE, "-single", KEY_CHOICES(measures), .otherwise = "number",
     KEY_INTO(sizes_def, by_mass),
     .meaning = "the distribution is of the number or of the mass (2D: area) of grains per size"},
    {"value", KEY_REAL, "single", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(sizes_def, value), .meaning = "size of all grains"},
    {"mean", KEY_REAL, "normal", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(sizes_def, mean), .meaning = "mean size"},
    {"median", KEY_REAL, "lognormal", .rule = REAL_POSITIVE, .unit = "m",
     KEY_INTO(sizes_def, median), .meaning = "half of the grains are smaller; or `mean`"},
    {"mean", KEY_REAL, "lognormal", .rule = REAL_POSITIVE, .unit = "m", KEY_INTO(sizes_def, mean),
     .meaning = "mean size; or `median`"},
    {"deviation", KEY_REAL, "normal", .rule = REAL_NON_NEGATIVE, .required = true, .unit = "m",
     KEY_INTO(sizes_def, deviation), .meaning = "standard deviation"},
    {"sigma", KEY_REAL, "lognormal", .rule = REAL_NON_NEGATIVE, .required = true,
     KEY_INTO(sizes_def, sigma), .meaning = "standard deviation of the logarithm"},
    {"exponent", KEY_REAL, "power", .required = true, KEY_INTO(sizes_def, exponent),
     .meaning = "density ∝ size^−exponent"},
    {"min", KEY_REAL, "uniform power", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(sizes_def, min), .meaning = "smallest"},
    {"max", KEY_REAL, "uniform power", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(sizes_def, max), .meaning = "largest"},
    {"min", KEY_REAL, "normal lognormal", .rule = REAL_POSITIVE,
     .derived = "three deviations below", .unit = "m", KEY_INTO(sizes_def, min),
     .meaning = "where the distribution is cut"},
    {"max", KEY_REAL, "normal lognormal", .rule = REAL_POSITIVE,
     .derived = "three deviations above", .unit = "m", KEY_INTO(sizes_def, max),
     .meaning = "where the distribution is cut"},
    {"table", KEY_ROWS, "table", .width = 2, .required = true,
     .meaning = "rows [size, weight]: only these sizes"},
    {"table", KEY_ROWS, "linear", .width = 2, .required = true,
     .meaning = "rows [size, weight]: density, linear between the points"},
};

static const key_group size_groups[] = {{KEY_ONE_OF, "mean median", "lognormal"}};

static const key_rows grain = KEY_ROWS_OF(grain_rows);

static const key_section sections[] = {
    {"grains[]", .selector = "type", .own = KEY_ROWS_OF(source_rows), .shared = &grain,
     .groups = source_groups, .group_count = KEY_COUNT(source_groups)},
    {"grains[].items[]", .inherits = true, .own = KEY_ROWS_OF(item_rows), .shared = &grain,
     .groups = item_groups, .group_count = KEY_COUNT(item_groups)},
    {"grains[].region", .selector = "type", .own = KEY_ROWS_OF(region_rows)},
    {"grains[].opening", .own = KEY_ROWS_OF(opening_rows)},
    {"grains[].bottom", .inherits = true, .own = KEY_ROWS_OF(edge_rows)},
    {"grains[].radius", .selector = "distribution", .own = KEY_ROWS_OF(size_rows),
     .groups = size_groups, .group_count = KEY_COUNT(size_groups)},
};

const key_sections keys_grains = {sections, KEY_COUNT(sections)};
