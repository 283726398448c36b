/// Inside of `talus render`.
#ifndef TALUS_RENDER_H
#define TALUS_RENDER_H

#include "recorded.h"

// ---- fields of grains (render_fields.c) --------------------------------------------------------

/// Where grains were at the beginning, for their displacement.
typedef struct field_start {
    int64_t count;
    int64_t* id;      ///< [count]
    double* position; ///< [count][3] not wrapped
} field_start;

/// A field that colours grains.
typedef struct field_kind field_kind;

typedef struct field_choice {
    const field_kind* kind; ///< NULL: none
    int component;          ///< axis of a vector, -1: its size
    field_start start;
} field_choice;

/// Read "FIELD" or "FIELD:COMPONENT".
bool field_parse(const char* text, int dim, field_choice* out);
/// Remember where grains are, if the field needs it.
bool field_begin(field_choice* field, const talus_world* world);
void field_end(field_choice* field);
/// The field of all grains, [grains]; NULL, with a message, if memory is short. free() it.
double* field_values(const field_choice* field, const talus_world* world);
/// "speed |v| (m/s)"
void field_label(const field_choice* field, bool reduced, int dim, char* out, size_t size);
/// Are its values names of groups?
bool field_is_group(const field_choice* field);
/// Can its values have either sign?
bool field_is_signed(const field_choice* field);
/// Does it follow from the contacts?
bool field_needs_contacts(const field_choice* field);
/// What a group is called.
void field_group_name(const field_choice* field, const talus_world* world, int64_t group, char* out,
                      size_t size);
/// The fields with a line about each, for the help.
void field_list(FILE* out);

// ---- the command -------------------------------------------------------------------------------

/// Everything that was asked for.
typedef struct render_options {
    const char* directory;
    const char* output; ///< NULL: below the directory
    const char* format;
    frame_choice frames;
    bool movie, force, quiet;
    bool list_fields; ///< and draw nothing
    bool folder;      ///< the output is one: several frames were asked for
    int64_t fps;
    const char* field;
    option_range scale;
    int map; ///< -1: as suits the field
    bool forces, no_walls, axes, no_bar, no_time;
    double force_width, force_largest; ///< 0: not given
    const char* title;
    int view; ///< axis; -1: as suits the world
    bool oblique;
    double azimuth, elevation;
    bool has_region;
    talus_region region;
    double width, dots;
} render_options;

enum { RENDER_GROUPS = TALUS_COLOUR_COUNT - 1 };
/// Different values of a field that are told by colours with names instead of a scale.
enum { MOST_NAMED = 4 };

/// What all pictures of one call have in common, so that nothing jumps between frames.
typedef struct render_survey {
    double low[2], high[2]; ///< extent
    double value[2];        ///< range of the field; empty while [0] > [1]
    double force;           ///< largest normal force
    int64_t group_count;    ///< different values of the field; RENDER_GROUPS + 1: too many
    double group[RENDER_GROUPS];
} render_survey;

typedef struct renderer {
    const render_options* options;
    talus_recording* recording;
    frame_range frames;
    field_choice field;
    render_survey survey;
} renderer;

/// Look at all frames.
bool render_look(renderer* r);
/// Draw one frame into a file.
bool render_frame(renderer* r, int64_t frame, const char* path);
/// Draw all frames and make a movie of them; returns an exit status.
int render_movie(renderer* r);
/// "frame 3 of 10" on a terminal.
void render_progress(const renderer* r, int64_t done, const char* what);

#endif
