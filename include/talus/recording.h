/// Recorded runs: the frames and series of a run's directory, finished or under way.
///
/// A recorded frame is shown as a world, so that whatever measures, draws or counts a world does
/// the same with a recording. Frames are counted from 0.
#ifndef TALUS_RECORDING_H
#define TALUS_RECORDING_H

#include <talus/scene.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_recording talus_recording;

/// Open the recorded frames of a run. Nothing in the directory is changed; the run may be going on.
/// The caller owns *out and ends it with talus_recording_close(). *report (may be NULL) as in
/// talus_scene_load().
TALUS_API talus_status talus_recording_open(const char* directory, talus_recording** out,
                                            talus_report* report, talus_error* error);
TALUS_API void talus_recording_close(talus_recording* recording);

/// Look for frames that have been recorded since.
TALUS_API talus_status talus_recording_refresh(talus_recording* recording, talus_error* error);

TALUS_API int64_t talus_recording_frame_count(const talus_recording* recording);
/// Times and step numbers of all frames, [frame count]; valid until the next refresh.
TALUS_API const double* talus_recording_times(const talus_recording* recording);
TALUS_API const int64_t* talus_recording_steps(const talus_recording* recording);
/// Frame whose time is nearest to `time`, -1 if there are none.
TALUS_API int64_t talus_recording_nearest(const talus_recording* recording, double time);

/// Title of the run's scene. Valid as long as the recording.
TALUS_API const char* talus_recording_title(const talus_recording* recording);
/// Whether the scene's numbers are not SI.
TALUS_API bool talus_recording_reduced_units(const talus_recording* recording);
/// Whether the run records contacts. If not, its frames are shown without any.
TALUS_API bool talus_recording_has_contacts(const talus_recording* recording);

/// Show a frame as a world: its grains, walls and (if the run records them) contacts as they were
/// at that time, with the scene's shapes and materials. The world belongs to the recording and is
/// valid until the next call; you can look at it, but not step it. External forces on grains are
/// not recorded and are zero; talus_world_last() has the counts and the time only.
TALUS_API talus_status talus_recording_show(talus_recording* recording, int64_t frame,
                                            const talus_world** world, talus_error* error);

/// The rows of series.csv as columns. Arrays belong to the struct: talus_series_free().
typedef struct talus_series {
    int columns;
    int64_t rows;
    char** name;   ///< [columns]
    double** data; ///< [columns][rows]
} talus_series;

/// Read the series of a run as far as it is written.
TALUS_API talus_status talus_series_read(const char* directory, talus_series* out,
                                         talus_error* error);
/// Column of that name, NULL if there is none.
TALUS_API const double* talus_series_column(const talus_series* series, const char* name);
TALUS_API void talus_series_free(talus_series* series);

#ifdef __cplusplus
}
#endif
#endif
