/// Inside of a scene: what the run needs to carry it out.
#ifndef TALUS_SCENE_SCENE_H
#define TALUS_SCENE_SCENE_H

#include "scene/estimate.h"

/// When a phase ends: at the first of the conditions that are set (>= 0).
typedef struct phase_end {
    double duration;       ///< simulated seconds since the phase began; < 0: not set
    int64_t steps;         ///< steps since the phase began; < 0: not set
    double kinetic_energy; ///< per free grain, J; the phase ends when below; < 0: not set
    double hold;           ///< seconds the kinetic energy must stay below [default 0]
} phase_end;

/// Output settings of a scene.
typedef struct scene_output {
    double frame_interval;     ///< simulated seconds between frames; 0: only first and last
    double series_interval;    ///< simulated seconds between series rows; 0: every step
    double checkpoint_seconds; ///< wall seconds between checkpoints
    bool contacts;             ///< record contacts in frames
    bool reduced_units;        ///< the scene's numbers are not SI
} scene_output;

/// What the program chose for the method soft when it made the world.
typedef struct soft_choices {
    bool stiffness; ///< of materials that do not give theirs
    scene_estimate estimate;
    double chosen; ///< stiffness, N/m
} soft_choices;

/// Progress of one inlet, all that a restart needs.
typedef struct inlet_state {
    int64_t poured;   ///< grains placed so far
    int64_t attempts; ///< random draws used so far: the key of the next draw
    double owed;      ///< fraction of a grain that the rate owes
} inlet_state;

/// talus_scene_build() without the grains: materials, walls and all shapes. For a scene that was
/// built before, such as that of a run.
talus_status scene_build_bare(const talus_scene* scene, talus_world** out, talus_report* report,
                              talus_error* error);

int scene_phase_count(const talus_scene* scene);
const char* scene_phase_name(const talus_scene* scene, int phase);
const phase_end* scene_phase_end(const talus_scene* scene, int phase);
/// Whether anything ends it: of a saved world that its owner steps nothing does.
bool scene_phase_has_end(const talus_scene* scene, int phase);
/// Let a phase end after a simulated time instead of after a number of steps, if it has such an
/// end.
void scene_phase_by_time(talus_scene* scene, int phase, double duration);
/// Time step of a phase (the scene's, unless the phase sets its own).
double scene_phase_step(const talus_scene* scene, int phase);
/// Where that step is written: "step" or such as "phases[1].step".
const char* scene_phase_step_path(const talus_scene* scene, int phase);
/// The method, and what was chosen for it; of the latter nothing before the world is made.
talus_method scene_method(const talus_scene* scene);
const soft_choices* scene_choices(const talus_scene* scene);
/// Largest overlap that the scene aims at, in diameters.
double scene_overlap(const talus_scene* scene);
/// Times of the stiffest pair in a phase, from the grains at the start and those of the inlets; all
/// zero unless the method is soft.
const talus_soft_times* scene_phase_times(const talus_scene* scene, int phase);
/// Take note of these times in all phases, for a world that was not made from the scene.
void scene_note_times(talus_scene* scene, const talus_soft_times* times);
/// What would be a good step for a phase of the method contact; all zero with the method soft.
const talus_step_advice* scene_phase_advice(const talus_scene* scene, int phase);
/// Whether the program chose the phase's step.
bool scene_phase_step_chosen(const talus_scene* scene, int phase);
/// Whether a phase's step is longer than what is advised, by more than can be expected to matter.
bool scene_phase_is_long(const talus_scene* scene, int phase);
/// Put the reason for an advised step into words.
void scene_advice_words(const talus_step_advice* advice, bool reduced, char* text, size_t size);
/// Whether a phase's step is above the bound of these times, by more than a number of four digits
/// is rounded by.
bool scene_phase_is_coarse(const talus_scene* scene, int phase);
const scene_output* scene_outputs(const talus_scene* scene);
uint64_t scene_seed(const talus_scene* scene);

/// Carry out the changes with which a phase begins (walls removed or driven anew, gravity, solver,
/// friction). Replayed in order on resume before the checkpoint's state is loaded, so it must not
/// depend on the state except through what a checkpoint holds.
talus_status scene_phase_begin(const talus_scene* scene, int phase, talus_world* world,
                               talus_error* error);

int scene_inlet_count(const talus_scene* scene);
/// Steps of length h from one call of scene_pour() to the next, 0: no inlet is open in the phase.
/// The method soft, with its short steps, pours ten times for each grain.
int64_t scene_pour_steps(const talus_scene* scene, int phase, double h);
/// Let the inlets active in `phase` place the grains due in the coming time h.
talus_status scene_pour(const talus_scene* scene, int phase, inlet_state* states,
                        talus_world* world, double h, talus_error* error);

/// Whether everything that a path of an override leads through is in the scene, so that only its
/// last key may be new; else `words` says what is not there, and what is nearest.
bool scene_leads_to(const talus_scene* scene, const char* path, char* words, size_t size);

/// Files that the scene reads beside its own, as whole paths.
int scene_file_count(const talus_scene* scene);
const char* scene_file(const talus_scene* scene, int file);
/// Let the effective scene name a file by `path`, relative to the folder it will be written to.
talus_status scene_name_file(talus_scene* scene, int file, const char* path, talus_error* error);

#endif
