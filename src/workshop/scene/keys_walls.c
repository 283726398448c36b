/// Keys of walls and their motions.
#include "base/vec.h"
#include "scene/model.h"

static const char* const types[] = {"plane",    "segment", "plate", "box",
                                    "cylinder", "cone",    "solid", "mesh"};
enum { SEGMENT = 2, PLATE = 4, CONE = 32, MESH = 128 };
static const char* const motions[] = {"fixed", "velocity", "sine", "table", "force", "servo"};
static const char* const axes[] = {"x", "y", "z"};
/// Those of dimension 2 first.
static const char* const faces[] = {"x-",     "x+",  "y-", "y+", "left",  "right",
                                    "bottom", "top", "z-", "z+", "front", "back"};

static const key_row wall_rows[] = {
    {"name", KEY_TEXT, .least = 1, .derived = "wall0, wall1, …",
     .meaning = "name of the wall, which must be unique"},
    {"type", KEY_CHOICE, .dim = 2, KEY_CHOICES(types), .without = PLATE | CONE | MESH,
     .required = true, .meaning = "what the wall is"},
    {"type", KEY_CHOICE, .dim = 3, KEY_CHOICES(types), .without = SEGMENT, .required = true,
     .meaning = "what the wall is"},
    {"material", KEY_TEXT, .derived = "first material", .meaning = "name of its material"},
    {"motion", KEY_MAP, .derived = "fixed", .meaning = "how it moves"},
    {"rotation", KEY_REAL, .dim = 2, .otherwise = "0", .unit = "degrees",
     .meaning = "turns the wall about its middle (a plane: about its point)"},
    {"rotation", KEY_MAP, .dim = 3, .derived = "none",
     .meaning =
         "turns the wall about its middle (a plane: about its point), with `axis` and `angle`"},
    {"point", KEY_VECTOR, "plane", .otherwise = "0", .unit = "m",
     KEY_INTO(talus_wall_def, position), .meaning = "a point on it"},
    {"normal", KEY_VECTOR, "plane", .required = true, KEY_INTO(talus_wall_def, shape.normal),
     .meaning = "direction towards the grains; any length"},
    {"from", KEY_VECTOR, "segment", .dim = 2, .required = true, .unit = "m", .meaning = "one end"},
    {"to", KEY_VECTOR, "segment", .dim = 2, .required = true, .unit = "m", .meaning = "other end"},
    {"from", KEY_MAP, "cone", .dim = 3, .required = true, .meaning = "low end"},
    {"to", KEY_MAP, "cone", .dim = 3, .required = true, .meaning = "high end"},
    {"center", KEY_VECTOR, "plate", .dim = 3, .needs = "edges", .unit = "m",
     .meaning = "its middle, with `edges`"},
    {"edges", KEY_ROWS, "plate", .dim = 3, .least = 2, .most = 2, .needs = "center", .unit = "m",
     .meaning = "its two whole edges, with `center`"},
    {"corners", KEY_ROWS, "plate", .dim = 3, .least = 3, .most = 3, .unit = "m",
     .meaning = "three consecutive corners, instead of `center` and `edges`"},
    {"low", KEY_VECTOR, "box", .needs = "high", .unit = "m", .meaning = "lower corner"},
    {"high", KEY_VECTOR, "box", .needs = "low", .unit = "m", .meaning = "upper corner"},
    {"center", KEY_VECTOR, "box", .needs = "size", .unit = "m",
     .meaning = "its middle, with `size`, instead of `low` and `high`"},
    {"size", KEY_VECTOR, "box", .rule = REAL_POSITIVE, .needs = "center", .unit = "m",
     .meaning = "whole edge lengths, with `center`"},
    {"center", KEY_VECTOR, "cylinder", .otherwise = "0", .unit = "m",
     KEY_INTO(talus_wall_def, position), .meaning = "its middle"},
    {"radius", KEY_REAL, "cylinder", .rule = REAL_POSITIVE, .required = true, .unit = "m",
     KEY_INTO(talus_wall_def, shape.radius), .meaning = "radius of the cylinder"},
    {"inside", KEY_BOOL, "box cylinder", .otherwise = "true",
     KEY_INTO(talus_wall_def, shape.inside),
     .meaning = "grains are inside (a container, which all grains of the world must be in) or "
                "outside (an obstacle)"},
    {"open", KEY_TEXTS, "box", .dim = 2, .choices = faces, .choice_count = 8, .derived = "none",
     .meaning = "box from inside: faces that are missing; `left`, `right` are along x, `bottom`, "
                "`top` along the last axis, `front`, `back` along y in 3D"},
    {"open", KEY_TEXTS, "box", .dim = 3, KEY_CHOICES(faces), .derived = "none",
     .meaning = "box from inside: faces that are missing; `left`, `right` are along x, `bottom`, "
                "`top` along the last axis, `front`, `back` along y in 3D"},
    {"axis", KEY_VECTOR, "cylinder", .dim = 3, .otherwise = "[0, 0, 1]",
     KEY_INTO(talus_wall_def, shape.axis), .meaning = "axis of the cylinder; any length"},
    {"axis", KEY_VECTOR, "cone", .dim = 3,
     .meaning = "only if both ends are at the same point (a flat ring), then required"},
    {"length", KEY_REAL, "cylinder", .dim = 3, .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     .unit = "m", KEY_INTO_HALF(talus_wall_def, shape.half_length), .meaning = "0: infinite"},
    {"shape", KEY_TEXT, "solid", .required = true,
     .meaning = "name of the obstacle's shape (see [shapes](#shapes))"},
    {"center", KEY_VECTOR, "solid", .derived = "where the shape's corners were given", .unit = "m",
     .meaning = "position of its centre of mass"},
    {"file", KEY_TEXT, "mesh", .dim = 3, .required = true,
     .meaning = "path of an STL or OBJ file with triangles, both sides act; a relative one begins "
                "at the scene's folder"},
    {"scale", KEY_REAL, "mesh", .dim = 3, .rule = REAL_POSITIVE, .otherwise = "1",
     .meaning = "the file's numbers are multiplied by it"},
    {"center", KEY_VECTOR, "mesh", .dim = 3, .otherwise = "0", .unit = "m",
     KEY_INTO(talus_wall_def, position), .meaning = "where the file's origin is"},
    {"thickness", KEY_REAL, "segment plate cone mesh", .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     .unit = "m", KEY_INTO_HALF(talus_wall_def, shape.skin),
     .meaning = "whole thickness, with rounded rims"},
};

static const key_group wall_groups[] = {{KEY_ONE_OF, "corners edges", "plate"},
                                        {KEY_ONE_OF, "low center", "box"}};

static const key_row rotation_rows[] = {
    {"axis", KEY_VECTOR, .dim = 3, .required = true, .meaning = "axis of rotation; any length"},
    {"angle", KEY_REAL, .dim = 3, .required = true, .unit = "degrees",
     .meaning = "angle about the axis"},
};

static const key_row end_rows[] = {
    {"point", KEY_VECTOR, .dim = 3, .required = true, .unit = "m", KEY_INTO(cone_end, point),
     .meaning = "middle of this end of the cone"},
    {"radius", KEY_REAL, .dim = 3, .rule = REAL_NON_NEGATIVE, .required = true, .unit = "m",
     KEY_INTO(cone_end, radius), .meaning = "radius there"},
};

static const key_row motion_rows[] = {
    {"type", KEY_CHOICE, KEY_CHOICES(motions), .required = true, .meaning = "how the wall moves"},
    {"velocity", KEY_VECTOR, "velocity", .otherwise = "0", .unit = "m/s",
     KEY_INTO(talus_drive_def, velocity), .meaning = "velocity of the wall"},
    {"spin", KEY_AXIAL, "velocity", .otherwise = "0", .unit = "rad/s",
     KEY_INTO(talus_drive_def, spin), .meaning = "angular velocity of the wall"},
    {"amplitude", KEY_VECTOR, "sine", .otherwise = "0", .unit = "m",
     KEY_INTO(talus_drive_def, amplitude),
     .meaning = "displacement amplitude · sin(2π f t + phase), from where the motion begins"},
    {"rotation_amplitude", KEY_AXIAL, "sine", .otherwise = "0", .unit = "degrees",
     KEY_INTO_RADIANS(talus_drive_def, spin_amplitude),
     .meaning = "the same for the angle (3D: rotation vector)"},
    {"frequency", KEY_REAL, "sine", .rule = REAL_NON_NEGATIVE, .required = true, .unit = "Hz",
     KEY_INTO(talus_drive_def, frequency), .meaning = "frequency f of the sine"},
    {"phase", KEY_REAL, "sine", .otherwise = "0", .unit = "degrees",
     KEY_INTO_RADIANS(talus_drive_def, phase), .meaning = "phase of the sine"},
    {"rows", KEY_ROWS, "table", .dim = 2, .required = true, .width = 4, .brief = 3,
     .meaning =
         "`[t, vx, vy]` or `[t, vx, vy, spin]`; times count from the beginning of the motion "
         "and ascend, values are linear between rows and held beyond the ends"},
    {"rows", KEY_ROWS, "table", .dim = 3, .required = true, .width = 7, .brief = 4,
     .meaning = "`[t, vx, vy, vz]` or `[t, vx, vy, vz, wx, wy, wz]`; times count from the "
                "beginning of the motion "
                "and ascend, values are linear between rows and held beyond the ends"},
    {"pivot", KEY_VECTOR, "velocity sine table", .derived = "the wall's middle", .unit = "m",
     KEY_INTO(talus_drive_def, pivot), .meaning = "point that rotation leaves at rest"},
    {"mass", KEY_REAL, "force servo", .rule = REAL_POSITIVE, .required = true, .unit = "kg",
     KEY_INTO(talus_drive_def, mass), .meaning = "mass of the wall"},
    {"weight", KEY_BOOL, "force servo", .otherwise = "false", KEY_INTO(talus_drive_def, weight),
     .meaning = "gravity acts on the wall too"},
    {"damping", KEY_REAL, "force servo", .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     .unit = "N s/m", KEY_INTO(talus_drive_def, damping), .meaning = "drag of the wall"},
    {"force", KEY_VECTOR, "force", .otherwise = "0", .unit = "N", KEY_INTO(talus_drive_def, force),
     .meaning = "force on the wall"},
    {"free", KEY_TEXTS, "force", .dim = 2, .choices = axes, .choice_count = 2,
     .derived = "axes with a force", KEY_INTO(talus_drive_def, free_axes),
     .meaning = "axes along which the wall may move"},
    {"free", KEY_TEXTS, "force", .dim = 3, KEY_CHOICES(axes), .derived = "axes with a force",
     KEY_INTO(talus_drive_def, free_axes), .meaning = "axes along which the wall may move"},
    {"axis", KEY_VECTOR, "servo", .required = true, KEY_INTO(talus_drive_def, servo_axis),
     .meaning = "direction in which the wall pushes; any length"},
    {"stress", KEY_REAL, "servo", .required = true, .unit = "Pa", .unit_2d = "N/m",
     KEY_INTO(talus_drive_def, stress), .meaning = "positive pushes along `axis`"},
    {"area", KEY_REAL, "servo", .rule = REAL_POSITIVE, .unit = "m²", .unit_2d = "m",
     KEY_INTO(talus_drive_def, area), .meaning = "area on which the stress acts; or give `spans`"},
    {"spans", KEY_PAIRS, "servo", .dim = 2, .least = 1, .most = 1,
     .meaning = "names of two planes: the area is their distance"},
    {"spans", KEY_PAIRS, "servo", .dim = 3, .least = 2, .most = 2,
     .meaning = "two pairs of names of planes: the area is the product of their distances"},
};

static const key_group motion_groups[] = {{KEY_ONE_OF, "area spans", "servo"}};

static const key_section sections[] = {
    {"walls[]", .selector = "type", .own = KEY_ROWS_OF(wall_rows), .groups = wall_groups,
     .group_count = KEY_COUNT(wall_groups)},
    {"walls[].rotation", .own = KEY_ROWS_OF(rotation_rows)},
    {"walls[].from", .own = KEY_ROWS_OF(end_rows)},
    {"walls[].motion", .selector = "type", .own = KEY_ROWS_OF(motion_rows), .groups = motion_groups,
     .group_count = KEY_COUNT(motion_groups)},
};

const key_sections keys_walls = {sections, KEY_COUNT(sections)};
