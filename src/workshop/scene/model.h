/// A scene as read: everything needed to make its world and to go through its phases.
#ifndef TALUS_SCENE_MODEL_H
#define TALUS_SCENE_MODEL_H

#include "base/log.h"
#include "scene/blocks.h"
#include "scene/generate.h"
#include "scene/generate_shape.h"
#include "scene/inlet.h"
#include "scene/reader.h"
#include "scene/scene.h"
#include "world/method.h"

/// Where a piece of the scene was written, for mistakes that show only when the world is made.
typedef struct scene_origin {
    place at;
    const char* path;
} scene_origin;

typedef struct scene_material {
    const char* name;
    double density;
    talus_pair_def law; ///< with itself
    unsigned springs;   ///< which constants of the method soft are given, bit by bit
    scene_origin origin;
    node* effective; ///< its map in the effective scene
} scene_material;

typedef struct scene_pair {
    int a, b; ///< material indices
    talus_pair_def law;
    unsigned springs; ///< as of a material; the others are those of the materials
} scene_pair;

/// A time step, of the scene or of a phase.
typedef struct scene_step {
    double length;
    bool chosen; ///< by the program (`auto`), when the world is made
    scene_origin origin;
    node* effective; ///< the map in the effective scene that holds it
} scene_step;

/// A file that the scene reads beside its own.
typedef struct scene_named_file {
    const char* path; ///< whole
    node* named;      ///< the path in the effective scene
} scene_named_file;

/// A solid as the world will be given it.
typedef struct scene_solid {
    talus_solid_def def;
    scene_origin origin;
} scene_solid;

/// One end of a cone.
typedef struct cone_end {
    double point[3];
    double radius;
} cone_end;

/// `random` of a shape: hulls of points drawn on an ellipsoid.
typedef struct random_shapes {
    int corners, count;
    double half_axes[3], radius;
    uint64_t seed;
} random_shapes;

typedef struct scene_wall {
    talus_wall_def def;
    scene_origin origin;
} scene_wall;

typedef enum source_kind {
    SOURCE_LATTICE = 0,
    SOURCE_FILL,
    SOURCE_CHAIN,
    SOURCE_LIST,
    SOURCE_CSV,
    SOURCE_INLET,
    SOURCE_VORONOI,
    SOURCE_ARCH,
    SOURCE_MASONRY,
    SOURCE_COUNT
} source_kind;

typedef struct scene_source {
    source_kind kind;
    const char* name;
    scene_origin origin;
    scene_origin counted;             ///< the key that says how many grains there are
    talus_grain_def base;             ///< what all its grains share
    shape_choice shape;               ///< of its grains; list: of each row, done when it is read
    talus_grain_def edge[EDGE_COUNT]; ///< the same for blocks at the bottom and at the top
    bool allow_overlap;
    union {
        lattice_def lattice;
        fill_def fill;
        chain_def chain;
        struct {
            const char* path; ///< whole
        } csv;
        inlet_def inlet;
        voronoi_def voronoi;
        arch_def arch;
        masonry_def masonry;
        struct {
            talus_grain_def* rows;
            scene_origin* origins;
            int count;
        } list;
    };
    double largest_radius;     ///< 0: not known before the grains are made
    struct inlet* inlet_ready; ///< SOURCE_INLET, owned
    int inlet_index;
} scene_source;

typedef struct scene_motion {
    int wall;
    talus_drive_def drive;
} scene_motion;

typedef struct scene_phase {
    const char* name;
    phase_end end;
    scene_step step;
    talus_soft_times times;   ///< method soft, once the world is made
    talus_step_advice advice; ///< method contact, once the world is made
    int* removed;             ///< wall indices
    int removed_count;
    scene_motion* motions;
    int motion_count;
    bool has_gravity;
    double gravity[3];
    bool has_solver;
    talus_solver_def solver;
    scene_pair* pairs;
    int pair_count;
    bool* pours; ///< [inlet_count]
} scene_phase;

struct talus_scene {
    arena arena;
    mistakes mistakes;
    reader reader;
    node* effective;
    const char* saved_file; ///< of the world that it goes on with, NULL: the scene makes its own
    talus_world* saved;     ///< what that world is made of, owned
    char* file;
    char* folder; ///< of the file, for files that it names

    const char* title;
    bool strict;
    scene_step step;
    talus_world_def world;
    bool separation_said; ///< solver.separate_overlaps was given, by the world or a phase
    double overlap;       ///< of the method soft: aimed at by stiffness that is chosen
    soft_choices choices; ///< what was chosen when the world was made
    scene_origin periodic_origin[3];
    scene_output output;
    scene_material* materials;
    int material_count;
    const char** material_names;
    scene_pair* pairs;
    int pair_count;
    shape_table shapes;
    scene_solid* solids; ///< [shapes.solids.count]
    int solid_capacity;
    scene_named_file* files;
    int file_count, file_capacity;
    scene_wall* walls;
    int wall_count;
    const char** wall_names; ///< [wall_count], known before the walls are read
    scene_source* sources;
    int source_count;
    int inlet_count;
    scene_phase* phases;
    int phase_count;
};

// ---- reading, one file per section -------------------------------------------------------------

void read_scene(talus_scene* scene, section* root);
/// Is `device` one that there can be?
void check_device(section* root, const talus_world_def* def);
/// `world`, and what the saved world has of a scene; false after a mistake.
bool read_saved_world(talus_scene* scene, section* root);
void read_materials(talus_scene* scene, section* root);
/// `pairs` of the scene or of a phase.
scene_pair* read_pairs(talus_scene* scene, section* parent, int* count);
/// *separation_said: whether overlaps are taken apart was said, here or before.
void read_solver(section* parent, talus_solver_def* solver, bool* separation_said);
/// `step`: a number, or `auto`. If it is not required, *step has the default.
void read_step(section* s, bool required, scene_step* step);
/// Constants of the method soft: stiffness, stiffness_ratio, damping, damping_ratio, young,
/// poisson.
enum { SPRING_STIFFNESS, SPRING_COUNT = 6 };
/// Where they are.
void springs_of(talus_pair_def* law, double* out[SPRING_COUNT]);
void read_shapes(talus_scene* scene, section* root);
/// Make a solid of the hulls of its parts and keep it; points and sizes must be in the arena.
/// Reports what is wrong with them at `key` (or NULL) of the section and returns -1, else its
/// number.
int scene_add_solid(talus_scene* scene, section* s, const char* key, const talus_solid_def* def);
/// Index of the shape under `key`, which must be given; -1 after a mistake.
int read_shape_name(talus_scene* scene, section* s, const char* key);
/// A file named under `key`: its whole path, NULL after a mistake. It is copied with the scene.
const char* read_path(talus_scene* scene, section* s, const char* key);
/// Degrees under `rotation`: a number in 2D, {axis, angle} in 3D.
void read_rotation(section* parent, int dim, double rotation[3]);
void read_walls(talus_scene* scene, section* root);
/// A section as the motion of wall `self`. `given` is false when nothing stands there.
void read_motion(talus_scene* scene, section* s, bool given, int self, talus_drive_def* drive);
/// Checks of motions that need all walls.
void check_motion(talus_scene* scene, place at, const char* path, const talus_drive_def* drive);
void read_grains(talus_scene* scene, section* root);
/// voronoi, arch and masonry.
void read_blocks(talus_scene* scene, section* s, scene_source* source);
/// `glue` of grains, which goes not with `fixed`; *g holds the defaults.
void read_glue(talus_scene* scene, section* s, talus_grain_def* g);
/// Whether `low` < `high` along every axis, if both were read and are good.
void check_corners(section* s, const double* low, const double* high);
/// Size distribution under `radius` or `diameter`; returns the largest radius, 0 after a mistake.
double read_sizes(section* s, int dim, sizes_def* def);
/// The same for grains that may have a shape: `shape` with `scale`, or `radius` or `diameter` of
/// the ball that holds it, and `rotation`.
double read_body(talus_scene* scene, section* s, sizes_def* def, shape_choice* choice);
/// `shape`, `scale` or `radius`, `rotation` of an explicit grain. *choice and *g hold the defaults;
/// afterwards *g has its radius, and *choice says what it looks like.
void read_one_body(talus_scene* scene, section* s, shape_choice* choice, talus_grain_def* g);
/// The same for what a source of explicit grains gives all of them: it may leave out the size.
void read_shared_body(talus_scene* scene, section* s, shape_choice* choice, talus_grain_def* g);
void read_phases(talus_scene* scene, section* root);

/// Report inlets through whose boxes a wall goes when they open.
talus_status scene_check_inlets(const talus_scene* scene, const talus_world* world,
                                const log_sink* log, mistakes* found, talus_error* error);
/// "file:line:column: path: " or "--set ...: path: ", how a warning of the scene begins.
void scene_origin_words(const talus_scene* scene, const scene_origin* origin, char* text,
                        size_t size);

// ---- chosen when the world is made -------------------------------------------------------------

/// Give pairs, the phases' too, the springs that they leave to their materials.
void complete_pairs(talus_scene* scene);
/// Choose the stiffness that materials leave to the program, from the world with all its grains.
talus_status choose_stiffness(talus_scene* scene, talus_world* world, mistakes* found,
                              talus_error* error);

/// Find the times of every phase's stiffest pair; choose the steps that are `auto` and, with a
/// warning, those with which the integrator would be unstable. The world is as before at the end.
talus_status choose_steps(talus_scene* scene, talus_world* world, const log_sink* log,
                          mistakes* found, talus_error* error);

/// The same for the method contact: choose the steps that are `auto`, and say with a warning which
/// of the others are too long.
talus_status choose_contact_steps(talus_scene* scene, const talus_world* world, const log_sink* log,
                                  mistakes* found, talus_error* error);
/// Give a step its length, in the effective scene too.
void scene_set_step(talus_scene* scene, scene_step* step, double length);
/// Whether two steps come from the same line.
bool scene_same_step(const scene_step* a, const scene_step* b);
/// Speed of grains that fall as far as there is room for under this gravity.
talus_status scene_fall_speed(const talus_scene* scene, const talus_world* world,
                              const double gravity[3], double* out, talus_error* error);

// ---- helpers -----------------------------------------------------------------------------------

/// A ball must not meet its own image, nor the same neighbour twice: report axes of the periodic
/// cell shorter than four times `radius`.
void scene_check_cell(const talus_scene* scene, mistakes* found, double radius);
/// Report sources whose grains do not fit into the machine's memory.
talus_status scene_check_memory(const talus_scene* scene, mistakes* found, talus_error* error);
/// The periodic cell.
cell scene_cell(const talus_scene* scene);

/// generate_allowed_fn over the walls of a world (`user` is a talus_world): true when a ball
/// overlaps none by more than 1e-9 of its radius.
bool scene_clear_of_walls(const void* user, const double centre[3], double radius);
/// The same for a grain of any shape.
bool scene_grain_clear(const void* user, const talus_grain_def* grain);
/// The shapes of a world.
const solids* scene_world_solids(const talus_world* world);
/// The threads that may work on it.
int scene_world_threads(const talus_world* world);
/// Index of the first wall that a grain overlaps by so much, and the depth; -1 if none.
int scene_wall_overlap(const talus_world* world, const talus_grain_def* g, double* depth);

/// Index of the first wall, not counting those `absent` [walls], whose surface is in a box by more
/// than its thickness; *depth tells how far the box reaches beyond it. -1 if there is none.
int scene_box_crosses(const talus_world* world, const double low[3], const double high[3],
                      const bool* absent, double* depth);

/// How deep two grains overlap, b at `delta` from a.
double scene_pair_depth(const talus_world* world, const talus_grain_def* a,
                        const talus_grain_def* b, const double delta[3]);

#endif
