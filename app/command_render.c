/// talus render DIR: frames of a run as pictures, or as a movie.
#include "render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- options -----------------------------------------------------------------------------------

/// "x", "y", "z", "iso" or "AZIMUTH:ELEVATION" in degrees.
static bool read_view(const char* option, const char* text, void* place)
{
    render_options* o = place;
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
    fprintf(stderr,
            "talus: %s needs x, y, z, iso, or AZIMUTH:ELEVATION in degrees, the second from -90 to "
            "90, not '%s'\n",
            option, text);
    return false;
}

/// "--movie" or "--movie=FILE".
static bool read_movie(const char* option, const char* text, void* place)
{
    (void)option;
    render_options* o = place;
    o->movie = true;
    if (text) o->output = text;
    return true;
}

static bool read_region(const char* option, const char* text, void* place)
{
    render_options* o = place;
    o->has_region = true;
    return region_read(option, text, &o->region);
}

static const char* map_word(int index)
{
    return index < TALUS_MAP_COUNT ? talus_map_name((talus_map)index) : NULL;
}

const value_kind value_map = {.source = VALUE_WORD, .one = "map", .many = "maps", .word = map_word};

static const option_row options[] = {
    {.name = "frame",
     .value = "N|A:B|A:B:S|last|all",
     .meaning = "frames, counted from 0; S: only every S-th",
     .otherwise = "last",
     .type = OPTION_READ,
     .place = offsetof(render_options, frames),
     .read = frames_read},
    OPTION_ROW_TIME(render_options),
    {.name = "movie",
     .value = "FILE.mp4",
     .value_may_lack = true,
     .kind = &value_file,
     .meaning =
         "make a movie of the frames [all] with ffmpeg, with one scale and extent for all of them",
     .type = OPTION_READ,
     .read = read_movie},
    {.name = "fps",
     .value = "N",
     .meaning = "frames per second of the movie",
     .otherwise = "25",
     .type = OPTION_WHOLE,
     .place = offsetof(render_options, fps),
     .low = 1},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .kind = &value_file,
     .meaning = "output file; for several frames a folder",
     .otherwise = "DIR/pictures",
     .type = OPTION_TEXT,
     .place = offsetof(render_options, output)},
    {.name = "format",
     .value = "png|svg|pdf",
     .meaning = "",
     .otherwise = "by the ending of FILE, else png",
     .type = OPTION_TEXT,
     .place = offsetof(render_options, format)},
    {.name = "colour",
     .also = "color",
     .value = "FIELD[:x|:y|:z]",
     .kind = &value_field,
     .meaning = "colour grains by a field; --fields lists them",
     .otherwise = "all alike",
     .type = OPTION_TEXT,
     .place = offsetof(render_options, field)},
    {.name = "fields",
     .meaning = "list the fields of the run and draw nothing",
     .type = OPTION_INSTEAD,
     .place = offsetof(render_options, list_fields)},
    {.name = "scale",
     .value = "LOW:HIGH",
     .meaning = "range of the colour scale",
     .otherwise = "those of the frames drawn",
     .type = OPTION_READ,
     .place = offsetof(render_options, scale),
     .read = range_read},
    {.name = "map",
     .value = "MAP",
     .kind = &value_map,
     .meaning = "viridis, plasma, inferno, cividis, coolwarm, turbo or grey",
     .type = OPTION_WORD,
     .place = offsetof(render_options, map)},
    {.name = "forces",
     .meaning = "draw contact forces as bars between centres; their width is the size of the force",
     .type = OPTION_FLAG,
     .place = offsetof(render_options, forces)},
    {.name = "force-scale",
     .value = "F",
     .meaning = "force of the widest bar, N",
     .otherwise = "the largest of the frames drawn",
     .type = OPTION_POSITIVE,
     .place = offsetof(render_options, force_largest)},
    {.name = "force-width",
     .value = "W",
     .meaning = "width of that bar, mean diameters",
     .otherwise = "0.4",
     .type = OPTION_NUMBER,
     .place = offsetof(render_options, force_width),
     .low = 0.01,
     .high = 100},
    {.name = "view",
     .value = "x|y|z|iso|A:E",
     .meaning = "3D: look along an axis, or from azimuth A and elevation E",
     .otherwise = "iso",
     .type = OPTION_READ,
     .read = read_view},
    {.name = "region",
     .value = "x=A:B,y=C:D",
     .meaning = "only this part; in 3D also a slice",
     .type = OPTION_READ,
     .read = read_region},
    {.name = "axes",
     .meaning = "draw axes with coordinates instead of a scale bar",
     .type = OPTION_FLAG,
     .place = offsetof(render_options, axes)},
    {.name = "no-bar",
     .meaning = "leave out the scale bar",
     .type = OPTION_FLAG,
     .place = offsetof(render_options, no_bar)},
    {.name = "no-time",
     .meaning = "leave out the time",
     .type = OPTION_FLAG,
     .place = offsetof(render_options, no_time)},
    {.name = "no-walls",
     .meaning = "leave out the walls",
     .type = OPTION_FLAG,
     .place = offsetof(render_options, no_walls)},
    {.name = "title",
     .value = "TEXT",
     .meaning = "above the picture",
     .type = OPTION_TEXT,
     .place = offsetof(render_options, title)},
    {.name = "width",
     .value = "W",
     .meaning = "width in pixels; for SVG and PDF in points",
     .otherwise = "1200, 432",
     .type = OPTION_NUMBER,
     .place = offsetof(render_options, width),
     .low = 100,
     .high = 10000},
    {.name = "dpi",
     .value = "D",
     .meaning = "dots per inch; the more, the larger the letters",
     .otherwise = "200",
     .type = OPTION_NUMBER,
     .place = offsetof(render_options, dots),
     .low = 36,
     .high = 2400},
    {.name = "force",
     .meaning = "overwrite existing files",
     .type = OPTION_FLAG,
     .place = offsetof(render_options, force)},
    {.name = "quiet",
     .meaning = "print nothing but errors",
     .type = OPTION_FLAG,
     .place = offsetof(render_options, quiet)},
    {0},
};

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
static bool choose_defaults(renderer* r, render_options* o)
{
    const talus_world* world;
    if (!frames_of(r->recording, &o->frames, o->movie, &r->frames)) return false;
    if (!recording_show(r->recording, 0, &world)) return false;
    const int dim = talus_world_grains(world).dim;
    if (o->has_region && !region_fits(&o->region, dim)) return false;
    if (o->view < 0) {
        o->view = 1;
        if (dim == 3 && !o->oblique) read_view("--view", "iso", o);
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

static int render(int argc, char** argv)
{
    render_options o = {.fps = 25, .map = -1, .view = -1, .dots = 200.0};
    int status = options_read(&command_render, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    if (o.list_fields) {
        field_list(stdout);
        return STATUS_OK;
    }
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
    if (o.width == 0.0) o.width = strcmp(o.format, "png") == 0 ? 1200.0 : 432.0;
    renderer r = {.options = &o};
    if (!recording_open(o.directory, &r.recording)) return STATUS_FAILURE;
    status = STATUS_FAILURE;
    if (choose_defaults(&r, &o)) status = o.movie ? render_movie(&r) : render_pictures(&r);
    field_end(&r.field);
    talus_recording_close(r.recording);
    return status;
}

const command command_render = {
    .name = "render",
    .usage = "render DIR [--frame N|A:B|last] [--movie] [--colour FIELD] [options]",
    .summary = "draw pictures or a movie of a run",
    .about = "Without options the last frame is drawn into DIR/pictures/frame-NNNNNN.png.\n",
    .options = options,
    .examples = "  talus render runs/hopper --colour speed\n"
                "  talus render runs/biaxial --frame 20 --forces -o chains.pdf\n"
                "  talus render runs/drum --movie --colour velocity:x --scale=-0.5:0.5\n",
    .first = {.what = "the directory of a run",
              .kind = &value_folder,
              .place = offsetof(render_options, directory)},
    .function = render,
};
