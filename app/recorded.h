/// What `measure`, `render`, `plot`, `view` and `export` share: choosing frames and a region of a
/// recorded run, and places for their files. Functions that return false have said why on stderr.
#ifndef TALUS_RECORDED_H
#define TALUS_RECORDED_H

#include "app.h"

/// Frames that were asked for, before the recording is known. Zero: the caller's default.
typedef struct frame_choice {
    bool given;
    int64_t first, last; ///< -1: the last frame
    int64_t stride;
    bool timed;
    double time; ///< the frame nearest to it
} frame_choice;

/// Readers of options, into a frame_choice: "N", "A:B", "A:B:STRIDE", "last" or "all"; the time of
/// a frame.
bool frames_read(const char* option, const char* text, void* place);
bool frames_read_time(const char* option, const char* text, void* place);

/// `--time` of a command whose struct has `frames`.
#define OPTION_ROW_TIME(options)                                                                   \
    {                                                                                              \
        .name = "time", .value = "T", .meaning = "the frame nearest to this time",                 \
        .type = OPTION_READ, .place = offsetof(options, frames), .read = frames_read_time          \
    }

/// Frames of a recording: first, first + stride, ... up to last.
typedef struct frame_range {
    int64_t first, last, stride, count;
} frame_range;

/// The frames chosen by number of `count` that there are; without a choice all or the last one.
bool frames_within(int64_t count, const frame_choice* choice, bool all, frame_range* out);
/// The frames chosen of a recording.
bool frames_of(const talus_recording* recording, const frame_choice* choice, bool all,
               frame_range* out);

/// Open a recording, say what is wrong with it otherwise.
bool recording_open(const char* directory, talus_recording** out);
/// Show a frame.
bool recording_show(talus_recording* recording, int64_t frame, const talus_world** world);

/// Read "x=LOW:HIGH,y=LOW:HIGH" into a talus_region, or the axes in turn without their names; an
/// end that is left out is not limited.
bool region_read(const char* option, const char* text, void* place);
/// Are the axes that a region limits those of the run?
bool region_fits(const talus_region* region, int dim);

/// The range that an option asks for.
typedef struct option_range {
    bool given;
    double low, high;
} option_range;

/// Read "LOW:HIGH", two finite numbers, the second larger, into an option_range.
bool range_read(const char* option, const char* text, void* place);

/// DIRECTORY/NAME, or DIRECTORY if `name` is NULL, made if needed; the path goes to `out`.
bool output_folder(const char* directory, const char* name, char out[PATH_SIZE]);
/// Can several files go there: is it not the name of one picture or table?
bool output_takes_several(const char* path);
/// Is there room for a file: nothing of that name, or it may be replaced? The files that a run
/// itself writes in its directory never are.
bool output_free(const char* path, bool force);
/// snprintf() of a path that complains if it is too long.
bool output_path(char out[PATH_SIZE], const char* format, ...) TALUS_PRINTF(2, 3);
/// The format of a picture, "png", "svg" or "pdf", from the option or from the ending of a path
/// (both may be NULL: png); NULL if it is none.
const char* output_format(const char* option, const char* path);

#endif
