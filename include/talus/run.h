/// Runs: run a scene into a directory, with records and checkpoints, and resume it.
#ifndef TALUS_RUN_H
#define TALUS_RUN_H

#include <signal.h>
#include <talus/scene.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a progress callback sees, after every step (method soft: about five times a second).
typedef struct talus_progress {
    const talus_step_result* last; ///< the step just done
    const char* phase;             ///< name of the present phase
    int phase_index, phase_count;
    bool reduced_units; ///< the scene's numbers are not SI
    talus_method method;
    double end_time;         ///< simulated time at which the run will end, if known; else < 0
    bool at_most;            ///< end_time and eta_seconds are bounds: it may end earlier
    double steps_per_second; ///< over the last seconds
    double eta_seconds;      ///< seconds of real time left, < 0 if unknown
} talus_progress;

typedef void talus_progress_fn(void* user, const talus_progress* progress);

/// Options of a run. Fill with talus_run_default(); pointers must outlive the call.
typedef struct talus_run_def {
    talus_mark mark;         ///< set by talus_run_default()
    const char* scene;       ///< path of the scene file (start only)
    const char* directory;   ///< directory for the results
    const char* const* sets; ///< "key.path=value" overrides (start only)
    int set_count;
    int threads;               ///< 0: as the scene says
    int64_t max_steps;         ///< stop after this many steps in total; < 0: no limit [default -1]
    bool force;                ///< replace an existing directory's run [default false]
    double checkpoint_seconds; ///< seconds of real time between checkpoints; < 0: as the scene says
    int64_t dump_problems; ///< save up to so many hard steps as FCLIB problems, in the directory's
                           ///< folder `problems` (docs/fclib.md) [default 0]
    const volatile sig_atomic_t*
        stop;                    ///< nonzero: finish the step, checkpoint, return; may be NULL
    talus_progress_fn* progress; ///< may be NULL
    void* progress_user;
    const char* command; ///< what the user typed, kept in run.json; may be NULL
    talus_log_fn* log;   ///< may be NULL; log.txt is written in any case
    void* log_user;
    const char* device; ///< as of talus_world_def; NULL: as the scene says
    bool write_behind;  ///< frames are written by a thread of their own while the run goes on;
                        ///< nobody else in the process may use HDF5 meanwhile [default false]
} talus_run_def;

TALUS_DEFAULT(talus_run_def, talus_run_default);

/// Numbers of a finished or interrupted run; the same as summary.json.
typedef struct talus_summary {
    int64_t steps, grains, contacts, sweeps_total, contact_updates;
    int64_t unconverged_steps, yielding_steps, removed_grains, frames;
    int64_t second_steps;     ///< steps that the direct methods of the solver `auto` finished
    int64_t problems_dumped;  ///< hard steps written as FCLIB problems by this process
    int64_t problems_skipped; ///< hard steps that could not be written, because of laws or size
    int64_t shapes;           ///< of grains and walls, other than balls and analytic walls
    double velocity_error;    ///< talus_rigidity.velocity_error of the last step: an estimate
    double certified;         ///< talus_rigidity.certified of the last step: an upper bound
    double certified_level;   ///< smallest of the levels (talus_certified_level()) within which at
                              ///< least 95 % of the steps are certified, infinite if 100 % is not
    int64_t certified_steps;  ///< steps certified within it, or within 100 % if it is infinite
    double worst_estimate;    ///< this and the rest as in talus_totals
    double worst_certified;
    double worst_time;
    int64_t worst_grains, worst_grain;
    double worst_place[3];
    int64_t frozen_friction; ///< steps whose certificate is for the friction bounds of the step
    int64_t unproved_sliding;
    int64_t audits, audits_held, audits_unanswered;
    double audit_least, audit_most;
    int64_t audit_grains, audit_touching, audit_largest;
    double time, residual, overlap_mean, overlap_max, kinetic_energy;
    double overlap_thickness_max;  ///< talus_step_result.overlap_thickness_max of the last step
    double overlap_thickness_ever; ///< method contact: the largest of all steps
    talus_method method;
    talus_soft_energy energy; ///< method soft: of the last step
    double energy_error_max;  ///< method soft: largest error of the balance in a row of the
                              ///< series, relative to the largest energy or work in any row
    double contact_time;      ///< method soft: t_c of the stiffest pair in the last phase, s
    double step_length;       ///< of the last step, s
    int64_t halved_steps;     ///< steps taken in parts, and
    int64_t substeps;         ///< parts of all steps
    int64_t coarse_steps;     ///< this and the next two as in talus_totals
    double worst_coarseness;
    double step_needed;
    double grain_steps; ///< sum of the number of grains over all steps
    double seconds_detect, seconds_solve, seconds_advance, seconds_record, seconds_total;
    int threads;
    uint64_t seed, state_hash;
    int64_t peak_memory_bytes;
    bool reduced_units; ///< the scene's numbers are not SI
    bool interrupted;
    bool nothing_to_do;      ///< resume only: the run was finished before
    char device[160];        ///< talus_world_device() at the end
    char device_reason[512]; ///< why
    char outcome[512];       ///< how it ended, such as "finished"
    char verdict[2048];      ///< what to think of the numbers, in plain words, one subject per line
} talus_summary;

/// Run a scene from its beginning. Returns TALUS_INTERRUPTED when `stop` ended it early
/// (resumable).
TALUS_API talus_status talus_run_start(const talus_run_def* def, talus_summary* summary,
                                       talus_report* report, talus_error* error);
/// Continue from the last good checkpoint in def->directory. The result has the same bits as that
/// of an unbroken run.
TALUS_API talus_status talus_run_resume(const talus_run_def* def, talus_summary* summary,
                                        talus_report* report, talus_error* error);

/// A run in the caller's hands, for forces, loads, removals and rules of the caller's own:
///
///     talus_run_open(&def, false, &run, &report, &error);
///     while (talus_run_goes_on(run, &going, &error) == TALUS_OK && going) {
///         ... change talus_run_world(run): this acts in the next step
///         talus_run_step(run, &stepped, &error);
///         if (!stepped) break;
///         ... look at the world, change it
///         talus_run_record(run, NULL, &error);
///     }
///     talus_run_close(run, &summary, &error);
///
/// Frames, series, checkpoints, phases and inlets are those of talus_run_start(). Whoever does the
/// same to the same world after talus_run_open() with `resumed` comes to the same bits; what that
/// needs beside the world goes into checkpoints by talus_run_keep().
typedef struct talus_run talus_run;

/// Begin a run, or go on from the last good checkpoint in def->directory. The options' pointers
/// must outlive the run.
TALUS_API talus_status talus_run_open(const talus_run_def* def, bool resumed, talus_run** out,
                                      talus_report* report, talus_error* error);
/// The world of the run, which stays the run's: it may be changed between two steps, but not
/// stepped.
TALUS_API talus_world* talus_run_world(talus_run* run);
/// Length of the next step, s.
TALUS_API double talus_run_step_length(const talus_run* run);
/// Begin the next phase if it is time to; *going tells whether another step is to come.
TALUS_API talus_status talus_run_goes_on(talus_run* run, bool* going, talus_error* error);
/// Take one step, and before it let the inlets pour. *stepped is false if it could not be taken:
/// then the run is at its end, and talus_run_close() says why.
TALUS_API talus_status talus_run_step(talus_run* run, bool* stepped, talus_error* error);
/// Record what is due after a step: frame, row of the series, checkpoint. *frame tells whether a
/// frame was written; may be NULL.
TALUS_API talus_status talus_run_record(talus_run* run, bool* frame, talus_error* error);
/// Whether the next talus_run_record() writes a checkpoint.
TALUS_API bool talus_run_checkpoint_due(const talus_run* run);
/// Put bytes of the caller's own into all checkpoints from now on, instead of those before. They
/// are copied.
TALUS_API talus_status talus_run_keep(talus_run* run, const void* bytes, int64_t size,
                                      talus_error* error);
/// The bytes that were kept, also those of the checkpoint from which the run goes on; NULL or size
/// 0 if there are none. The run's own.
TALUS_API const void* talus_run_kept(const talus_run* run, int64_t* size);
/// End the run after the step just done, as finished: nothing is left to resume. `why` goes into
/// the outcome; may be NULL.
TALUS_API void talus_run_stop(talus_run* run, const char* why);
/// Write the last checkpoint, records and summary, and end the run. One that has not come to its
/// end can be resumed: TALUS_INTERRUPTED.
TALUS_API talus_status talus_run_close(talus_run* run, talus_summary* summary, talus_error* error);
/// End a run without another word on disk; it can be resumed from its last checkpoint.
TALUS_API void talus_run_abandon(talus_run* run);

/// What talus_run_load() gives back.
typedef struct talus_loaded {
    talus_world* world; ///< belongs to the caller: talus_world_destroy()
    double step_length; ///< of the phase in which the run stands, s
    bool finished;      ///< its last phase has ended
    bool reduced_units; ///< the scene's numbers are not SI
} talus_loaded;

/// Load the world of a run from its newest good checkpoint, to look at it. Nothing in the
/// directory is changed; the run may be going on. Of `def` only directory, threads and log count.
TALUS_API talus_status talus_run_load(const talus_run_def* def, talus_loaded* out,
                                      talus_report* report, talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
