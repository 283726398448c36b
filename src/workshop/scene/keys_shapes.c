/// Keys of shapes: bodies that are not balls, and their parts.
#include "scene/model.h"

static const char* const hulls[] = {"whole", "groups"};
static const char* const platonic[] = {"4", "6", "8", "12", "20"};

/// Most corners of a regular polygon or a random body, and most random bodies.
enum { MOST_CORNERS = 1000, MOST_VARIANTS = 100000 };

/// Ways to say a convex body.
static const key_row convex_rows[] = {
    {"box", KEY_VECTOR, .rule = REAL_POSITIVE, .unit = "m", .meaning = "whole edge lengths"},
    {"points", KEY_ROWS, .unit = "m",
     .meaning = "at least three (3D: four) corners, in any order; those inside the hull are left "
                "out"},
    {"regular", KEY_MAP,
     .meaning = "regular polygon or prism (`sides`), or one of the five regular polyhedra "
                "(`faces`)"},
    {"file", KEY_TEXT, .dim = 3,
     .meaning = "path of an STL or OBJ file; a relative one begins at the scene's folder"},
    {"scale", KEY_REAL, .dim = 3, .rule = REAL_POSITIVE, .otherwise = "1", .needs = "file",
     .meaning = "the file's numbers are multiplied by it"},
};

static const key_row shape_rows[] = {
    {"skin", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "m",
     .meaning = "every part is rounded by a ball of this radius, which adds to its size: a box of "
                "edge a becomes a + 2 skin wide"},
    {"parts", KEY_LIST, .dim = 2, .least = 1,
     .meaning =
         "a concave body: convex parts, each with one of `box`, `points` and `regular`. They "
         "may touch; where they overlap, mass counts twice"},
    {"parts", KEY_LIST | KEY_CHOICE, .dim = 3, .least = 1, KEY_CHOICES(hulls), .derived = "whole",
     .meaning = "a concave body: convex parts, each with one of `box`, `points` and `regular`. "
                "They may touch, also with `file`. Beside `file`: the hull of all its corners, or "
                "one part for each object or group of an OBJ file"},
    {"random", KEY_MAP,
     .meaning = "hulls of points drawn on an ellipse or ellipsoid, its centre inside; each grain "
                "gets one of them at random"},
};

static const key_group shape_groups[] = {
    {KEY_ONE_OF, "box points regular file parts[] random", NULL}};

static const key_row part_rows[] = {
    {"at", KEY_VECTOR, .otherwise = "0", .unit = "m", .meaning = "where the part's origin is"},
    {"rotation", KEY_REAL, .dim = 2, .otherwise = "0", .unit = "degrees",
     .meaning = "rotation of the part about its origin, before it is shifted"},
    {"rotation", KEY_MAP, .dim = 3, .derived = "none",
     .meaning =
         "rotation of the part about its origin, before it is shifted, by `axis` and `angle`"},
    {"parts", KEY_CHOICE, .dim = 3, KEY_CHOICES(hulls), .otherwise = "whole", .needs = "file",
     .meaning = "the hull of all the file's corners, or one part for each object or group"},
};

static const key_group part_groups[] = {{KEY_ONE_OF, "box points regular file", NULL}};

static const key_row regular_rows[] = {
    {"sides", KEY_INTEGER, .dim = 2, .least = 3, .most = MOST_CORNERS,
     .meaning = "number of sides of the polygon; the lowest one is level"},
    {"sides", KEY_INTEGER, .dim = 3, .least = 3, .most = MOST_CORNERS, .needs = "height",
     .meaning = "number of sides of the prism along z; the lowest one is level"},
    {"height", KEY_REAL, .dim = 3, .rule = REAL_POSITIVE, .needs = "sides", .unit = "m",
     .meaning = "height of the prism; required for one"},
    {"faces", KEY_INTEGER, .dim = 3, .least = 4, .most = 20, KEY_CHOICES(platonic),
     .meaning = "tetrahedron, cube, octahedron, dodecahedron, icosahedron"},
    {"radius", KEY_REAL, .rule = REAL_POSITIVE, .unit = "m",
     .meaning = "from the centre to the corners (of the prism's polygon); or `edge`"},
    {"edge", KEY_REAL, .rule = REAL_POSITIVE, .unit = "m", .meaning = "instead of `radius`"},
};

static const key_group regular_groups[] = {{KEY_ONE_OF, "sides faces", NULL},
                                           {KEY_ONE_OF, "radius edge", NULL}};

static const key_row random_rows[] = {
    {"vertices", KEY_INTEGER, .dim = 2, .least = 3, .most = MOST_CORNERS, .otherwise = "6",
     KEY_INTO(random_shapes, corners), .meaning = "points drawn: corners of each hull"},
    {"vertices", KEY_INTEGER, .dim = 3, .least = 4, .most = MOST_CORNERS, .otherwise = "12",
     KEY_INTO(random_shapes, corners), .meaning = "points drawn: corners of each hull"},
    {"count", KEY_INTEGER, .least = 1, .most = MOST_VARIANTS, .otherwise = "20",
     KEY_INTO(random_shapes, count), .meaning = "number of different bodies"},
    {"aspect", KEY_VECTOR, .rule = REAL_POSITIVE, .otherwise = "1",
     KEY_INTO(random_shapes, half_axes), .meaning = "half axes in units of `radius`"},
    {"radius", KEY_REAL, .rule = REAL_POSITIVE, .otherwise = "1", .unit = "m",
     KEY_INTO(random_shapes, radius), .meaning = "radius of the ellipsoid, multiplied by `aspect`"},
    {"seed", KEY_INTEGER, .most = KEY_MOST_INTEGER, .derived = "the scene's",
     KEY_INTO(random_shapes, seed), .preset = true,
     .meaning = "seed of these bodies, together with their name"},
};

static const key_rows convex = KEY_ROWS_OF(convex_rows);

static const key_section sections[] = {
    {"shapes.<name>", .own = KEY_ROWS_OF(shape_rows), .shared = &convex, .groups = shape_groups,
     .group_count = KEY_COUNT(shape_groups)},
    {"shapes.<name>.regular", .own = KEY_ROWS_OF(regular_rows), .groups = regular_groups,
     .group_count = KEY_COUNT(regular_groups)},
    {"shapes.<name>.parts[]", .own = KEY_ROWS_OF(part_rows), .shared = &convex,
     .groups = part_groups, .group_count = KEY_COUNT(part_groups)},
    {"shapes.<name>.random", .own = KEY_ROWS_OF(random_rows)},
};

const key_sections keys_shapes = {sections, KEY_COUNT(sections)};
