/// Records of a run: frames, series, checkpoints. All survive a kill at any moment.
///
/// Frames go to HDF5 segments that are never touched again once closed: `frames/segment-NNNNNN.h5`.
/// `frames.h5` is a small master with external links to them, replaced by rename at every commit,
/// so it can be opened at any time; when the run ends, all is consolidated into one frames.h5.
#ifndef TALUS_RECORD_RECORD_H
#define TALUS_RECORD_RECORD_H

#include "record/fields.h"
#include "record/frame.h"

#include <stdint.h>
#include <talus/world.h>

// ---- frames ------------------------------------------------------------------------------------

typedef struct frames frames;

/// Where the recorded frames stand: kept in checkpoints.
typedef struct frames_position {
    int64_t frames;   ///< frames committed
    int64_t segments; ///< closed segments
} frames_position;

/// Open the frame record of `directory`. `at` is where to go on (zero for a new run): later
/// segments and unfinished files are removed, the master is rewritten.
talus_status frames_open(const char* directory, frames_position at, frames_options options,
                         frames** out, talus_error* error);
/// A sentence about old frames that are damaged or missing, and were given up; NULL: there are
/// none.
const char* frames_loss(const frames* f);
/// Add the present state as a frame.
talus_status frames_write(frames* f, const talus_world* world, talus_error* error);
/// The same, with all but a copy of the state left to a thread of its own, while the world goes on:
/// until the next call of any frames_...() that thread uses HDF5, and nobody else may. If it fails
/// the next call says so.
talus_status frames_write_behind(frames* f, const talus_world* world, talus_error* error);
/// Is that thread still at work? If not the next call waits for nothing.
bool frames_are_busy(const frames* f);
/// The phase that frames are written in from now on [0]. It is recorded with each: what it changed
/// (gravity, drives, friction) is not in the tables.
void frames_set_phase(frames* f, int64_t phase);
/// Close and sync the present segment, publish it in frames.h5; *at may be NULL.
/// A commit that no checkpoint points to is for readers: on resume it is cut off again.
talus_status frames_commit(frames* f, frames_position* at, talus_error* error);
/// The same by the thread of frames_write_behind().
talus_status frames_commit_behind(frames* f, talus_error* error);
/// Commit, then consolidate all segments into one frames.h5 and remove them. If the second fails,
/// all that was committed stays recorded and readable.
talus_status frames_finish(frames* f, talus_error* error);
void frames_close(frames* f);

// ---- series ------------------------------------------------------------------------------------

typedef struct series series;

/// Open series.csv; everything after `bytes` (as series_sync() gave it, 0 for a new run) is cut
/// off.
talus_status series_open(const char* directory, int64_t bytes, const talus_world* world,
                         series** out, talus_error* error);
/// Append a row for the last step, whose length was h.
talus_status series_write(series* s, const talus_world* world, double h, talus_error* error);
/// Write all rows up to now into the file, for readers; they are not yet safe from a power cut.
talus_status series_flush(series* s, talus_error* error);
/// Flush and sync; *bytes receives the length of the file.
talus_status series_sync(series* s, int64_t* bytes, talus_error* error);
void series_close(series* s);

// ---- checkpoints -------------------------------------------------------------------------------

/// Structs that a checkpoint carries beside the world (the run's own state), field by field.
typedef struct checkpoint_part {
    const char* name;
    const stored_fields* fields; ///< NULL: the part is bytes, of which only the owner knows more
    int64_t rows;
    void* data; ///< [rows] structs; a checkpoint_bytes, which gets its own copy when it is read
} checkpoint_part;

/// As many bytes as somebody wants to be kept. free() the data.
typedef struct checkpoint_bytes {
    unsigned char* data;
    int64_t size;
} checkpoint_bytes;

/// Fields of a talus_step_result, for parts that have one.
extern const stored_fields step_result_fields;

/// How much of a world a checkpoint has: its state, which goes into a world made from the same
/// scene, or also what it is made of.
typedef enum checkpoint_extent { CHECKPOINT_STATE, CHECKPOINT_WHOLE } checkpoint_extent;

/// Write checkpoint.h5 atomically (temporary file, sync, rename); the one before it becomes
/// checkpoint.previous.h5. On failure both are as they were.
talus_status checkpoint_write(const char* directory, const talus_world* world,
                              checkpoint_extent extent, const checkpoint_part* parts,
                              int part_count, talus_error* error);
/// Checkpoints that are written by a thread of their own, from an image of the world made before
/// this returns, while the world goes on. Zero is none.
typedef struct checkpoint_writer checkpoint_writer;
/// checkpoint_write() behind; *writer is made on first use (NULL before). Waits for the checkpoint
/// before, and if that failed says so and writes nothing.
talus_status checkpoint_write_behind(checkpoint_writer** writer, const char* directory,
                                     const talus_world* world, checkpoint_extent extent,
                                     const checkpoint_part* parts, int part_count,
                                     talus_error* error);
/// Wait until the last checkpoint is on the disk. A failure is told once.
talus_status checkpoint_writer_wait(checkpoint_writer* writer, talus_error* error);
/// Wait, and free it.
void checkpoint_writer_free(checkpoint_writer* writer);
/// Load the state of the newest good checkpoint into a world built from the same scene.
/// *used_previous tells that checkpoint.h5 was unreadable and the one before it was used; may be
/// NULL. Parts must have the fields and rows that are stored. All of the checkpoint is verified
/// (checksum, version, every field) before the world or parts are touched.
talus_status checkpoint_read(const char* directory, talus_world* world,
                             const checkpoint_part* parts, int part_count, bool* used_previous,
                             talus_error* error);
/// Read only parts of the newest good checkpoint: a run needs its phase before it can rebuild
/// the world.
talus_status checkpoint_peek(const char* directory, const checkpoint_part* parts, int part_count,
                             talus_error* error);
/// Make the world that the newest good checkpoint defines, without its state; *out is NULL if it is
/// a CHECKPOINT_STATE. Of `options` log and threads (if > 0) count.
talus_status checkpoint_define(const char* directory, const talus_world_def* options,
                               talus_world** out, talus_error* error);
/// The same for a file of talus_world_save(), which has a definition or is refused.
talus_status saved_world_define(const char* path, const talus_world_def* options, talus_world** out,
                                talus_error* error);

#endif
