/// Keys of materials and of pairs of them.
///
/// The law beside friction has the same keys in both, but a pair takes the springs that it leaves
/// out from its materials.
#include "scene/model.h"

static const char* const rolling_kinds[] = {"length", "radius", "hertz"};

static const key_row law_rows[] = {
    {"dynamic_friction", KEY_REAL, .rule = REAL_NON_NEGATIVE, .derived = "friction",
     .meaning = "coefficient while sliding, at most `friction`"},
    {"restitution", KEY_REAL, .rule = REAL_FRACTION, .otherwise = "0",
     KEY_INTO(talus_pair_def, restitution),
     .meaning = "coefficient of restitution: 0 no rebound, 1 elastic"},
    {"tangential_restitution", KEY_REAL, .rule = REAL_FRACTION, .otherwise = "0",
     KEY_INTO(talus_pair_def, tangential_restitution),
     .meaning = "part of the slip that a sticking collision gives back"},
    {"rolling", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     KEY_INTO(talus_pair_def, rolling),
     .meaning = "resistance to rolling: a length, or as `rolling_kind` says"},
    {"torsion", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     KEY_INTO(talus_pair_def, torsion),
     .meaning =
         "resistance to spinning about the normal (3D): a length, or as `rolling_kind` says"},
    {"rolling_kind", KEY_CHOICE, KEY_CHOICES(rolling_kinds), .otherwise = "length",
     KEY_INTO(talus_pair_def, rolling_kind),
     .meaning = "lengths; times r* = r₁r₂/(r₁+r₂); or times (r* R_n)^⅓ (3D), ^½ (2D)"},
    {"cohesion_force", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "N",
     KEY_INTO(talus_pair_def, cohesion_force), .meaning = "tensile strength F_C of a bond"},
    {"cohesion_energy", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0", .unit = "J",
     KEY_INTO(talus_pair_def, cohesion_energy),
     .meaning = "binding energy E_C; the bond's range is E_C/F_C"},
};

static const key_row material_rows[] = {
    {"density", KEY_REAL, .rule = REAL_POSITIVE, .otherwise = "2500", .unit = "kg/m³",
     .unit_2d = "kg/m²", KEY_INTO(scene_material, density),
     .meaning = "density of grains that state no density or mass of their own"},
    {"friction", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0",
     KEY_INTO(talus_pair_def, friction),
     .meaning = "Coulomb friction between two grains of this material"},
};

static const key_row material_springs[] = {
    {"stiffness", KEY_REAL, .rule = REAL_POSITIVE, .derived = "chosen", .unit = "N/m",
     KEY_INTO(talus_pair_def, soft.stiffness),
     .meaning = "stiffness k_n of the normal spring between two grains of this material; for the "
                "method soft, as all keys below, see [soft](#soft). 2D, law area and polygons: k_n "
                "· area / length"},
    {"stiffness_ratio", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0.3333333333333333",
     KEY_INTO(talus_pair_def, soft.stiffness_ratio), .meaning = "k_t/k_n of the friction spring"},
    {"damping", KEY_REAL, .rule = REAL_POSITIVE, .derived = "from `restitution`",
     KEY_INTO(talus_pair_def, soft.damping),
     .meaning =
         "part of critical damping of the normal dashpot, ν_n/(2√(k_n m_r)); may be above 1, "
         "where no restitution leads"},
    {"damping_ratio", KEY_REAL, .rule = REAL_NON_NEGATIVE, .otherwise = "0.3333333333333333",
     KEY_INTO(talus_pair_def, soft.damping_ratio), .meaning = "ν_t/ν_n of the dashpots"},
    {"young", KEY_REAL, .rule = REAL_POSITIVE, .unit = "Pa", KEY_INTO(talus_pair_def, soft.young),
     .meaning = "Young's modulus; required with `soft.law: hertz`"},
    {"poisson", KEY_REAL, .rule = REAL_FRACTION, .most = 0.5, .otherwise = "0.3",
     KEY_INTO(talus_pair_def, soft.poisson),
     .outside = "is above that of an incompressible body (expected at most 0.5)",
     .meaning = "Poisson's ratio, for `soft.law: hertz`"},
};

static const key_row pair_rows[] = {
    {"between", KEY_TEXTS, .least = 2, .most = 2, .required = true,
     .meaning = "names of the two materials"},
    {"friction", KEY_REAL, .rule = REAL_NON_NEGATIVE, .required = true,
     KEY_INTO(talus_pair_def, friction),
     .meaning = "Coulomb coefficient. A pair states its whole law: what you leave out is zero"},
};

static const key_row pair_springs[] = {
    {"stiffness", KEY_REAL, .rule = REAL_POSITIVE, .derived = "of the materials", .unit = "N/m",
     KEY_INTO(talus_pair_def, soft.stiffness),
     .meaning = "method soft, as those below; what a pair leaves out here is that of its "
                "materials: their springs in series, the smaller ratios"},
    {"stiffness_ratio", KEY_REAL, .rule = REAL_NON_NEGATIVE, .derived = "of the materials",
     KEY_INTO(talus_pair_def, soft.stiffness_ratio), .meaning = "k_t/k_n of the friction spring"},
    {"damping", KEY_REAL, .rule = REAL_POSITIVE, .derived = "from the pair's `restitution`",
     KEY_INTO(talus_pair_def, soft.damping),
     .meaning = "part of critical damping of the normal dashpot"},
    {"damping_ratio", KEY_REAL, .rule = REAL_NON_NEGATIVE, .derived = "of the materials",
     KEY_INTO(talus_pair_def, soft.damping_ratio), .meaning = "ν_t/ν_n of the dashpots"},
    {"young", KEY_REAL, .rule = REAL_POSITIVE, .derived = "of the materials", .unit = "Pa",
     KEY_INTO(talus_pair_def, soft.young), .meaning = "Young's modulus"},
    {"poisson", KEY_REAL, .rule = REAL_FRACTION, .most = 0.5, .derived = "of the materials",
     KEY_INTO(talus_pair_def, soft.poisson),
     .outside = "is above that of an incompressible body (expected at most 0.5)",
     .meaning = "Poisson's ratio"},
};

static const key_rows law = KEY_ROWS_OF(law_rows);

static const key_section sections[] = {
    {"materials.<name>", .own = KEY_ROWS_OF(material_rows), .shared = &law,
     .last = KEY_ROWS_OF(material_springs)},
    {"pairs[]", .own = KEY_ROWS_OF(pair_rows), .shared = &law, .last = KEY_ROWS_OF(pair_springs)},
};

const key_sections keys_materials = {sections, KEY_COUNT(sections)};
