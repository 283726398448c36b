/// Inside of a run: its state, as checkpoints keep it, and its parts.
#ifndef TALUS_RUN_RUN_H
#define TALUS_RUN_RUN_H

#include "record/record.h"
#include "run/dump.h"
#include "run/journal.h"
#include "scene/scene.h"
#include "world/method.h"

#include <talus/run.h>

/// Why a phase ended.
typedef enum phase_reason {
    PHASE_NOT_ENDED = 0,
    PHASE_DURATION,
    PHASE_STEPS,
    PHASE_ENERGY,
} phase_reason;

/// What is kept about a phase for the summary. Checkpoints have its phase_log_fields.
typedef struct phase_log {
    double start_time, end_time;
    int64_t start_step, end_step;
    int64_t reason; ///< phase_reason
} phase_log;

/// Wall seconds by stage.
typedef struct run_seconds {
    double detect, solve, advance, record, total;
} run_seconds;

/// Everything beside the world that a resumed run needs. Checkpoints have its run_state_fields.
typedef struct run_state {
    int64_t phase;          ///< index of the present phase
    int64_t step;           ///< steps done
    int64_t poured;         ///< the inlets have placed their grains for a step that then failed
    int64_t held;           ///< steps the energy has been below the phase's bound, -1: it is not
    double energy;          ///< kinetic energy when it was last looked at
    double step_length;     ///< of the last step
    int64_t frame_mark;     ///< frame interval in which the last frame was written
    int64_t series_mark;    ///< likewise for rows of the series
    int64_t frame_step;     ///< step of the last frame, -1: none
    int64_t series_step;    ///< step of the last row, -1: none
    frames_position frames; ///< committed frames
    int64_t frames_written; ///< frames written, committed or not
    int64_t series_bytes;
    int64_t finished;               ///< the last phase has ended
    int64_t extended_to;            ///< step up to which a finished run was asked to go on, 0: none
    int64_t remarks;                ///< steps with a remark so far
    int64_t escapes;                ///< steps with an escaped grain that the policy accepts
    int64_t peak_memory;            ///< largest over the processes that worked on the run, bytes
    double worst_overlap;           ///< largest overlap of all steps / mean diameter
    double worst_overlap_thickness; ///< method contact: in thicknesses of the thinner body
    double worst_energy; ///< method soft: largest energy that was not accounted for in a row of
                         ///< the series, J
    double energy_scale; ///< likewise: largest of all energies and of the work
    double grain_steps;  ///< sum of the number of grains over all steps
    run_seconds seconds; ///< of all processes up to the last checkpoint
    uint64_t world_hash; ///< talus_world_hash() in the last checkpoint
    talus_step_result last;
} run_state;

/// How a run ended.
typedef enum run_end {
    END_NOT_YET,
    END_FINISHED,
    END_STOPPED, ///< by its user's own rule: there is no more to come
    END_LIMIT,
    END_INTERRUPTED,
    END_NUMERIC,
    END_DEVICE, ///< the graphics card failed
    END_BEFORE, ///< it had ended before it was resumed
} run_end;

/// A run being carried out.
typedef struct talus_run {
    const talus_run_def* def;
    talus_scene* scene;
    talus_world* world;
    journal journal;
    log_sink log; ///< writes to the journal
    int lock;     ///< descriptor, -1: none
    frames* frames;
    series* series;
    dump dump;
    run_state state;
    inlet_state* inlets;       ///< [scene_inlet_count]
    phase_log* phases;         ///< [scene_phase_count]
    run_seconds before;        ///< seconds of earlier processes
    double seconds_record;     ///< of this process
    double started;            ///< clock when this process began
    double checkpointed;       ///< clock of the last checkpoint
    checkpoint_writer* writer; ///< of checkpoints between the first and the last
    int64_t frames_shown;      ///< frames written when they were last published
    double publish_at;         ///< clock from which on frames may be published again
    double flush_at;           ///< likewise rows of the series
    bool interrupted;
    double pace;           ///< steps that take about a fifth of a second, method soft
    double speed_clock[2]; ///< two marks for the recent speed: older, newer
    int64_t speed_step[2];
    run_end end;
    talus_error failure;      ///< why, after END_NUMERIC and END_DEVICE
    bool steered;             ///< the user looks at every step: no batches
    bool owned;               ///< the world is the caller's, who steps it
    checkpoint_extent extent; ///< whole, once the user may have changed more than the state
    int64_t defined;          ///< materials, shapes and walls in the last checkpoint
    char stopped_by[256];     ///< END_STOPPED: why
    checkpoint_bytes kept;    ///< what the user wants to be in checkpoints
    talus_run_def own;        ///< options of a run that outlives the call that made it
} run;

// ---- run_begin.c -------------------------------------------------------------------------------

/// Begin with nothing; `def` must outlive the run. Lines that the run logs are kept in memory until
/// its journal is opened.
void run_init(run* r, const talus_run_def* def);
void run_free(run* r);
/// Load the scene and make room for the progress of inlets and phases.
talus_status run_read_scene(run* r, const char* scene, const char* const* sets, int set_count,
                            talus_report* report, talus_error* error);
/// The same, and make its world.
talus_status run_build(run* r, const char* scene, const char* const* sets, int set_count,
                       talus_report* report, talus_error* error);
talus_status run_phase_begin(run* r, int phase, talus_error* error);
/// Make the directory this run's own, empty but for its log. `scene` must not be in it.
talus_status run_take_directory(run* r, talus_error* error);
/// Write what the run is, run.json and scene.yaml: from here on it can be resumed.
talus_status run_declare(run* r, talus_error* error);
/// First records and the first checkpoint.
talus_status run_first_records(run* r, talus_error* error);
/// "start: talus 1.2 (...), 2 threads, ..." for the log.
void run_banner(run* r, const char* what);
/// Go on with the records where the last checkpoint stands.
talus_status run_reopen(run* r, talus_error* error);
/// Whether a directory has a run with a checkpoint, to be gone on with.
bool run_has_checkpoint(const char* directory);
/// Make the run ready for its first step.
talus_status run_start(run* r, talus_report* report, talus_error* error);
/// Make the run ready for the step after its last checkpoint; r->end tells if there is none.
talus_status run_resume(run* r, talus_report* report, talus_error* error);

// ---- run.c -------------------------------------------------------------------------------------

/// What has to be there before the first step of this process.
void run_prepare(run* r);
/// End the present phase if it is over; *finished tells that it was the last one.
talus_status run_advance_phase(run* r, bool* finished, talus_error* error);
/// Begin the next phase if it is time to, and see whether the run has come to an end: r->end.
talus_status run_look_ahead(run* r, talus_error* error);
/// `count` steps of length h, one with the method contact, and bookkeeping. If one fails, those
/// before it are done. *result (may be NULL) is that of the last one, with the largest overlap.
talus_status run_take_steps(run* r, double h, int64_t count, talus_step_result* result,
                            talus_error* error);
/// Inlets, and steps. TALUS_ERR_NUMERIC leaves the world as before the step or, after
/// retries, as before the part of it that failed.
talus_status run_steps(run* r, talus_error* error);
/// The same; r->end tells if a step could not be taken.
talus_status run_go_on(run* r, talus_error* error);
/// What is due after the steps just done.
talus_status run_record(run* r, talus_error* error);
/// From the first step to the summary, for start and resume alike.
talus_status run_carry_out(run* r, talus_summary* summary, talus_error* error);
/// After the last step: close the run and say how it ended. TALUS_ERR_NUMERIC and TALUS_INTERRUPTED
/// come from a run that is closed properly.
talus_status run_conclude(run* r, talus_summary* summary, talus_error* error);
/// The summary of a run that had ended before it was resumed.
talus_status run_look_back(run* r, talus_summary* summary);
/// Say in the log why the run could not go on.
talus_status run_failed(run* r, talus_status status, const talus_error* failure,
                        talus_error* error);

// ---- schedule.c --------------------------------------------------------------------------------

/// Length of the present phase's steps.
double schedule_step_length(const run* r);
/// Steps after which the present phase ends at the latest, counted from its start; -1: no limit.
int64_t schedule_phase_limit(const run* r, int phase);
/// Whether the present phase is over, and why.
phase_reason schedule_phase_over(const run* r);
/// Take note of the energy after a step, for phases that end on it.
void schedule_note_energy(run* r);
/// Steps done in the present phase.
int64_t schedule_phase_steps(const run* r);
/// Steps from row to row of the series where the scene states no interval.
int64_t schedule_series_steps(const run* r);
/// Steps for which the inlets pour when they do now, 0: they do not.
int64_t schedule_pour_steps(const run* r);
/// Steps until something has to be looked at or done: 1 with the method contact.
int64_t schedule_batch(const run* r);
/// Index of the output interval whose nearest step is at `time`; h is the step's length.
int64_t schedule_mark(double time, double h, double interval);
/// Steps left at most until the run ends, -1 if nothing limits them; *at_most tells that it may
/// end earlier, *time_left receives the simulated time of these steps.
int64_t schedule_steps_left(const run* r, bool* at_most, double* time_left);

// ---- output.c ----------------------------------------------------------------------------------

extern const stored_fields run_state_fields, phase_log_fields, inlet_state_fields;

/// Open frames and series where the state says.
talus_status output_open(run* r, talus_error* error);
/// Write the frame and the row that are due after a step (at step 0: the first frame).
talus_status output_due(run* r, talus_error* error);
/// Show readers what has been recorded since, if it is time to.
talus_status output_publish(run* r, talus_error* error);
/// Whether it is time for the next checkpoint.
bool output_checkpoint_due(const run* r);
/// Commit frames and series and write a checkpoint that points to them.
talus_status output_checkpoint(run* r, talus_error* error);
/// The same, with the last part left to another thread. If that fails the next one says so.
talus_status output_checkpoint_behind(run* r, talus_error* error);
/// Read only the run's own state, to know the phase.
talus_status output_peek_state(run* r, talus_error* error);
/// Load the run's state from the newest good checkpoint and, unless it is the caller's, its world.
talus_status output_restore(run* r, talus_error* error);
/// Write a frame of the present state.
talus_status output_frame(run* r, talus_error* error);
/// Record the present state if it is not yet, and consolidate. The checkpoint written before does
/// not know of these last records, so that a run that goes on drops them again.
talus_status output_finish(run* r, talus_error* error);
void output_close(run* r);

// ---- summary.c ---------------------------------------------------------------------------------

/// How a line of the verdict begins that is a warning.
#define VERDICT_WARNING "Warning: "

/// Take note of the energies of a soft step: what does not add up and how large they are.
void summary_note_energy(run_state* s);
/// "12 % of a grain's thickness" and so on.
void summary_coarseness(double coarseness, char* text, size_t size);
enum { SHORTER_STEP_WORDS = 512 };
/// How to run the scene in steps in which flows are solved that were not, with options that do it;
/// nothing if there were none.
void summary_resolved_step(const run* r, char* text, size_t size);
/// " s" after a simulated time, nothing if the scene's units are reduced.
const char* summary_time_unit(const run* r);
/// Seconds by stage of all processes up to now.
run_seconds summary_seconds(const run* r);
/// Fill a summary from the present state; `outcome` says how the run ended.
void summary_fill(const run* r, const char* outcome, talus_summary* out);
/// Write summary.json atomically.
talus_status summary_write(const run* r, const talus_summary* summary, talus_error* error);
/// Write run.json: who, where, when, with what.
talus_status summary_write_run(const run* r, talus_error* error);
/// Highest memory use of this process so far, bytes.
int64_t summary_peak_memory(void);

#endif
