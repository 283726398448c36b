/// Inside of the frame record: its index, and what writes one frame and publishes all.
#ifndef TALUS_RECORD_FRAMES_H
#define TALUS_RECORD_FRAMES_H

#include "record/behind.h"
#include "record/drawing.h"
#include "record/h5.h"
#include "record/record.h"

#define FRAMES_FORMAT "talus-frames"
enum { FRAMES_VERSION = 1 };

/// When a frame is, where, and how large: enough to write the master and the XDMF files.
typedef struct frame_entry {
    double time;
    int64_t step;
    int64_t segment; ///< file that holds it, FRAMES_BASE: frames/base.h5
    int64_t grains;
    int64_t contacts; ///< -1: not recorded
    drawn_place drawn[DRAWN_SETS];
} frame_entry;

enum { FRAMES_BASE = -1, FRAMES_NOWHERE = -2 };

struct frames {
    char* directory;
    char* loss; ///< what could not be read of the old frames, NULL: nothing
    frames_options options;
    int64_t phase; ///< of the run, for the next frames
    bool finished;
    int dim;            ///< 0 until the first frame
    frame_entry* entry; ///< [count]
    int64_t count, capacity;
    int64_t segments;      ///< closed ones
    int64_t segment_first; ///< number of the first frame in the open segment
    hid_t segment;         ///< the open one, in memory; -1: none
    int64_t shapes_in;     ///< newest closed file with the shapes, FRAMES_NOWHERE: none
    bool shapes_open;      ///< the open segment has newer ones
    shapes shapes;         ///< of the world, as of the last frame written here
    bool shapes_known;     ///< `shapes` are
    drawn_memory drawn[DRAWN_SETS];
    bool published;   ///< frames.h5 and the XDMF files show all closed segments
    behind* writer;   ///< of what is written while the world goes on
    frame_data frame; ///< that the writer has
    int threads;      ///< that may pack it
};

/// Attributes `unit` and `description` of a dataset; false if HDF5 failed.
bool frame_put_words(hid_t group, const char* name, const char* unit, const char* doc);
/// Write a frame as group `name` of `frames_group`; false if HDF5 failed.
bool frame_write_group(hid_t frames_group, const char* name, const frame_data* d, int threads);
/// Attributes and datasets that belong to the root of any frames file.
bool frames_write_root(hid_t file, const frames* f, int64_t first, int64_t count, bool linked);

/// What the index has of a frame.
frame_entry frames_entry_of(const frame_data* d, int64_t segment,
                            const drawn_place drawn[DRAWN_SETS]);
/// Fill the index with the frames that a checkpoint knows of. Those from the first damaged or
/// missing file on are given up, and f->loss says so.
talus_status frames_find_old(frames* f, frames_position at, talus_error* error);

/// File with the frames of a segment, on the heap; relative to the run's directory if `relative`.
char* frames_segment_path(const frames* f, int64_t segment, bool relative);

/// Replace frames.h5 by a master with links to the closed segments, then the XDMF files.
talus_status frames_publish(frames* f, int64_t count, talus_error* error);
/// Replace the XDMF files: they show the first `count` frames. Those of tables that the run does
/// not have, and all without frames, are removed.
talus_status xdmf_write(const frames* f, int64_t count, talus_error* error);
/// Replace frames.h5 by one file with all frames.
talus_status frames_consolidate(frames* f, talus_error* error);
/// Remove base.h5, segments from `first` on and unfinished files; the folder too if empty.
void frames_remove(const frames* f, int64_t first, bool with_base);

#endif
