/// Worlds on disk that their owner steps: saved whole, or recorded as runs are.
#ifndef TALUS_RECORD_H
#define TALUS_RECORD_H

#include <talus/run.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Save all of a world in a file, in place of one that is there: its options, materials, shapes,
/// walls and their motions, grains and contacts, to the last bit.
TALUS_API talus_status talus_world_save(const talus_world* world, const char* path,
                                        talus_error* error);
/// Make the world that was saved; it goes on with the same bits. `options` may be NULL; otherwise
/// its log, log_user, (if > 0) threads and device are the world's. The caller owns *out.
TALUS_API talus_status talus_world_load(const char* path, const talus_world_def* options,
                                        talus_world** out, talus_error* error);

/// How a world is recorded. Fill with talus_record_default(); pointers must outlive the recording.
typedef struct talus_record_def {
    talus_mark mark;        ///< set by talus_record_default()
    const char* directory;  ///< directory for the records
    const char* title;      ///< of the records [default "recorded world"]
    double frame_interval;  ///< simulated seconds between frames; 0: only the first and the last
                            ///< [default 0]
    double series_interval; ///< simulated seconds between rows of the series; 0: every step, with
                            ///< the method soft every thousandth [default 0]
    double checkpoint_seconds; ///< seconds of real time between checkpoints [default 300]
    double step_length; ///< of the steps to come, s; 0: as talus_world_step_advice() says. Only for
                        ///< whoever lets the records be gone on with before the first step
                        ///< [default 0]
    bool contacts;      ///< record contacts in the frames [default true]
    bool reduced_units; ///< the world's numbers are not SI [default false]
    bool force;         ///< replace an existing directory's run [default false]
    const char* command; ///< what the user typed, kept in run.json; may be NULL
    talus_log_fn* log;   ///< may be NULL; log.txt is written in any case
    void* log_user;
} talus_record_def;

TALUS_DEFAULT(talus_record_def, talus_record_default);

/// Record a world of the caller's into a directory, which then has all that a run has: frames,
/// series, checkpoints, log, and at the end a summary. Whatever opens runs opens it.
///
///     talus_record_open(world, &def, false, &run, &error);
///     while (...) {
///         ... change the world
///         talus_record_steps(run, h, 1, &result, &error);
///     }
///     talus_run_close(run, &summary, &error);
///
/// The world stays the caller's, and must outlive the recording. With `resumed` the records are
/// gone on with: the world must be that of the last checkpoint, as talus_run_load() gives it. What
/// was recorded after it is cut off. talus_run_keep(), talus_run_kept() and talus_run_abandon()
/// serve these runs too.
TALUS_API talus_status talus_record_open(talus_world* world, const talus_record_def* def,
                                         bool resumed, talus_run** out, talus_error* error);
/// talus_world_steps(), and what is due is recorded. If a step fails, the recording goes on from
/// the world as it then is.
TALUS_API talus_status talus_record_steps(talus_run* run, double h, int64_t count,
                                          talus_step_result* result, talus_error* error);
/// Record a frame now, beside those that come by themselves; nothing if there is one of this step.
TALUS_API talus_status talus_record_frame(talus_run* run, talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
