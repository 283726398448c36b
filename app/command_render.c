/// talus render DIR: frames of a run as pictures, or as a movie.
#include "base/words.h"
#include "render.h"

#include "scene/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_FRAME = 256,
    OPTION_TIME,
    OPTION_MOVIE,
    OPTION_FPS,
    OPTION_COLOUR,
    OPTION_SCALE,
    OPTION_MAP,
    OPTION_FORCES,
    OPTION_FORCE_SCALE,
    OPTION_FORCE_WIDTH,
    OPTION_NO_WALLS,
    OPTION_AXES,
    OPTION_NO_BAR,
    OPTION_NO_TIME,
    OPTION_TITLE,
    OPTION_VIEW,
    OPTION_REGION,
    OPTION_WIDTH,
    OPTION_DPI,
    OPTION_FORMAT,
    OPTION_FORCE,
    OPTION_QUIET,
    OPTION_FIELDS,
};

static const struct option list[] = {
    {"output", required_argument, NULL, 'o'},
    {"frame", required_argument, NULL, OPTION_FRAME},
    {"time", required_argument, NULL, OPTION_TIME},
    {"movie", optional_argument, NULL, OPTION_MOVIE},
    {"fps", required_argument, NULL, OPTION_FPS},
    {"colour", required_argument, NULL, OPTION_COLOUR},
    {"color", required_argument, NULL, OPTION_COLOUR},
    {"scale", required_argument, NULL, OPTION_SCALE},
    {"map", required_argument, NULL, OPTION_MAP},
    {"forces", no_argument, NULL, OPTION_FORCES},
    {"force-scale", required_argument, NULL, OPTION_FORCE_SCALE},
    {"force-width", required_argument, NULL, OPTION_FORCE_WIDTH},
    {"no-walls", no_argument, NULL, OPTION_NO_WALLS},
    {"axes", no_argument, NULL, OPTION_AXES},
    {"no-bar", no_argument, NULL, OPTION_NO_BAR},
    {"no-time", no_argument, NULL, OPTION_NO_TIME},
    {"title", required_argument, NULL, OPTION_TITLE},
    {"view", required_argument, NULL, OPTION_VIEW},
    {"region", required_argument, NULL, OPTION_REGION},
    {"width", required_argument, NULL, OPTION_WIDTH},
    {"dpi", required_argument, NULL, OPTION_DPI},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"fields", no_argument, NULL, OPTION_FIELDS},
    {"help", no_argument, NULL, 'h'},
    {0},
};

// ---- options -----------------------------------------------------------------------------------

/// "x", "y", "z", "iso" or "AZIMUTH:ELEVATION" in degrees.
static bool read_view(const char* text, render_options* o)
{
    if (text[0] >= 'x' && text[0] <= 'z' && !text[1]) {
        o->view = text[0] - 'x';
        o->oblique = false;
        return true;
    }
    o->oblique = true;
    const talus_picture_def usual = talus_picture_default();
    o->azimuth = usual.azimuth;
    o->elevation = usual.elevation;
    if (strcmp(text, "iso") == 0) return true;
    char* end;
    o->azimuth = strtod(text, &end);
    if (end != text && *end == ':') {
        const char* rest = end + 1;
        o->elevation = strtod(rest, &end);
        if (end != rest && !*end && isfinite(o->azimuth) && fabs(o->elevation) <= 90.0) return true;
    }
    fprintf(
        stderr,
        "talus: --view needs x, y, z, iso, or AZIMUTH:ELEVATION in degrees, the second from -90 "
        "to 90, not '%s'\n",
        text);
    return false;
}

static bool read_map(const char* text, int* out)
{
    const char* names[TALUS_MAP_COUNT];
    for (int i = 0; i < TALUS_MAP_COUNT; i++) {
        names[i] = talus_map_name((talus_map)i);
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    const char* near = nearest_name(text, names, TALUS_MAP_COUNT);
    fprintf(stderr, "talus: there are no colours '%s'%s%s%s --map takes", text,
            near ? "; did you mean '" : ";", near ? near : "", near ? "'?" : "");
    for (int i = 0; i < TALUS_MAP_COUNT; i++) fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fprintf(stderr, "\n");
    return false;
}

static bool take_flag(int choice, render_options* o)
{
    switch (choice) {
    case OPTION_FORCES: o->forces = true; return true;
    case OPTION_NO_WALLS: o->no_walls = true; return true;
    case OPTION_AXES: o->axes = true; return true;
    case OPTION_NO_BAR: o->no_bar = true; return true;
    case OPTION_NO_TIME: o->no_time = true; return true;
    case OPTION_FORCE: o->force = true; return true;
    case OPTION_QUIET: o->quiet = true; return true;
    default: return false;
    }
}

static bool take_option(int choice, render_options* o)
{
    switch (choice) {
    case 'o': o->output = optarg; return true;
    case OPTION_FRAME: return frames_parse(optarg, &o->frames);
    case OPTION_TIME: return frames_parse_time(optarg, &o->frames);
    case OPTION_MOVIE:
        o->movie = true;
        if (optarg) o->output = optarg;
        return true;
    case OPTION_FPS: return options_integer("--fps", optarg, 1, &o->fps);
    case OPTION_COLOUR: o->field = optarg; return true;
    case OPTION_SCALE:
        o->has_scale = true;
        return range_parse("--scale", optarg, &o->low, &o->high);
    case OPTION_MAP: return read_map(optarg, &o->map);
    case OPTION_FORCE_SCALE:
        return options_between("--force-scale", optarg, 1e-300, 1e300, &o->force_largest);
    case OPTION_FORCE_WIDTH:
        return options_between("--force-width", optarg, 0.01, 100.0, &o->force_width);
    case OPTION_TITLE: o->title = optarg; return true;
    case OPTION_VIEW: return read_view(optarg, o);
    case OPTION_REGION: o->has_region = true; return region_parse(optarg, &o->region);
    case OPTION_WIDTH: return options_between("--width", optarg, 100.0, 10000.0, &o->width);
    case OPTION_DPI: return options_between("--dpi", optarg, 36.0, 2400.0, &o->dots);
    case OPTION_FORMAT: o->format = optarg; return true;
    default: return take_flag(choice, o);
    }
}

// ---- pictures ----------------------------------------------------------------------------------

void render_progress(const renderer* r, int64_t done, const char* what)
{
    if (r->options->quiet || r->frames.count < 2 || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\033[K");
    if (done < r->frames.count) {
        fprintf(stderr, "%s frame %lld of %lld", what, (long long)done + 1,
                (long long)r->frames.count);
    }
}

/// Path of the picture of a frame: below the run, or as was asked for.
static bool place_of(const renderer* r, int64_t frame, char out[PATH_SIZE])
{
    const render_options* o = r->options;
    if (o->output && !o->folder) return output_path(out, "%s", o->output);
    char folder[PATH_SIZE];
    const char* name = o->output ? NULL : "pictures";
    return output_folder(o->output ? o->output : o->directory, name, folder) &&
           output_path(out, "%s/frame-%06lld.%s", folder, (long long)frame, o->format);
}

static int render_pictures(renderer* r)
{
    char path[PATH_SIZE];
    for (int64_t i = 0; i < r->frames.count; i++) {
        const int64_t frame = r->frames.first + i * r->frames.stride;
        if (!place_of(r, frame, path) || !output_free(path, r->options->force)) {
            return STATUS_FAILURE;
        }
    }
    if (!render_look(r)) return STATUS_FAILURE;
    for (int64_t i = 0; i < r->frames.count; i++) {
        const int64_t frame = r->frames.first + i * r->frames.stride;
        render_progress(r, i, "drawing");
        if (!place_of(r, frame, path) || !render_frame(r, frame, path)) return STATUS_FAILURE;
        if (!r->options->quiet && r->frames.count == 1) printf("%s\n", path);
    }
    render_progress(r, r->frames.count, "drawing");
    if (!r->options->quiet && r->frames.count > 1) {
        printf("%lld pictures, the last one is %s\n", (long long)r->frames.count, path);
    }
    return STATUS_OK;
}

/// What depends on the recording: field, view, frames.
static bool settle(renderer* r, render_options* o)
{
    const talus_world* world;
    if (!frames_of(r->recording, &o->frames, o->movie, &r->frames)) return false;
    if (!recording_show(r->recording, 0, &world)) return false;
    const int dim = talus_world_grains(world).dim;
    if (o->has_region && !region_fits(&o->region, dim)) return false;
    if (o->view < 0) {
        o->view = 1;
        if (dim == 3 && !o->oblique) read_view("iso", o);
    }
    if (dim == 2) o->oblique = false;
    if (o->field && strcmp(o->field, "none") != 0 && !field_parse(o->field, dim, &r->field)) {
        return false;
    }
    if ((o->forces || field_needs_contacts(&r->field)) &&
        !talus_recording_has_contacts(r->recording)) {
        fprintf(stderr,
                "talus: %s needs contacts, which this run does not record: its scene has "
                "output.contacts: false\n",
                o->forces ? "--forces" : o->field);
        return false;
    }
    return field_begin(&r->field, world);
}

static int render(render_options* o)
{
    renderer r = {.options = o};
    if (!recording_open(o->directory, &r.recording)) return STATUS_FAILURE;
    int status = STATUS_FAILURE;
    if (settle(&r, o)) status = o->movie ? render_movie(&r) : render_pictures(&r);
    field_end(&r.field);
    talus_recording_close(r.recording);
    return status;
}

int command_render(int argc, char** argv)
{
    render_options o = {.fps = 25, .map = -1, .view = -1};
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":ho:", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("render"));
        if (choice == OPTION_FIELDS) field_list(stdout);
        if (choice == 'h' || choice == OPTION_FIELDS) return STATUS_OK;
        if (choice == '?' || !take_option(choice, &o)) return STATUS_USAGE;
    }
    o.directory = options_single(argc, argv, "the directory of a run");
    if (!o.directory) return STATUS_USAGE;
    if (o.movie) {
        if (o.format) {
            fprintf(stderr, "talus: --format is for pictures; a movie's follows from its name\n");
            return STATUS_USAGE;
        }
        o.format = "png";
    } else {
        o.folder = o.frames.given && o.frames.first != o.frames.last;
        o.format = output_format(o.format, o.folder ? NULL : o.output);
        if (!o.format) return STATUS_USAGE;
        if (o.folder && o.output && !output_takes_several(o.output)) return STATUS_USAGE;
    }
    const bool png = strcmp(o.format, "png") == 0;
    if (o.dots == 0.0) o.dots = 200.0;
    if (o.width == 0.0) o.width = png ? 1200.0 : 432.0;
    return render(&o);
}
