/// Frames and regions of recorded runs, and places for the files made from them.
#include "recorded.h"

#include "run/directory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

// ---- frames ------------------------------------------------------------------------------------

/// A frame's number or "last" at the beginning of a text; returns what follows, NULL if neither.
static const char* read_frame(const char* text, int64_t* out)
{
    if (strncmp(text, "last", 4) == 0) {
        *out = -1;
        return text + 4;
    }
    char* end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end == text || errno != 0 || *out < 0 ? NULL : end;
}

bool frames_read(const char* option, const char* text, void* place)
{
    frame_choice* out = place;
    *out = (frame_choice){.given = true, .last = -1, .stride = 1};
    if (strcmp(text, "all") == 0) return true;
    const char* at = read_frame(text, &out->first);
    out->last = out->first;
    if (at && *at == ':') at = read_frame(at + 1, &out->last);
    if (at && *at == ':') {
        at = read_frame(at + 1, &out->stride);
        if (out->stride < 1) at = NULL;
    }
    if (at && *at == '\0') return true;
    fprintf(stderr,
            "talus: %s needs a number from 0, a range A:B or A:B:STRIDE, 'last' or 'all', not "
            "'%s'\n",
            option, text);
    return false;
}

bool frames_read_time(const char* option, const char* text, void* place)
{
    frame_choice* out = place;
    char* end;
    *out = (frame_choice){.given = true, .timed = true, .stride = 1, .time = strtod(text, &end)};
    if (end != text && *end == '\0' && isfinite(out->time) && out->time >= 0) return true;
    fprintf(stderr, "talus: %s needs a number of at least 0, not '%s'\n", option, text);
    return false;
}

bool frames_within(int64_t count, const frame_choice* choice, bool all, frame_range* out)
{
    const int64_t end = count - 1;
    if (count == 0) {
        fprintf(stderr, "talus: the run has not recorded a frame yet\n");
        return false;
    }
    *out = (frame_range){.first = all ? 0 : end, .last = end, .stride = 1};
    if (choice->given) {
        out->first = choice->first < 0 ? end : choice->first;
        out->last = choice->last < 0 ? end : choice->last;
        out->stride = choice->stride;
    }
    if (out->first > end || out->last > end) {
        fprintf(stderr, "talus: there is no frame %lld, the last one is %lld\n",
                (long long)(out->first > end ? out->first : out->last), (long long)end);
        return false;
    }
    if (out->first > out->last) {
        fprintf(stderr, "talus: the frames %lld to %lld go backwards\n", (long long)out->first,
                (long long)out->last);
        return false;
    }
    out->count = (out->last - out->first) / out->stride + 1;
    return true;
}

bool frames_of(const talus_recording* recording, const frame_choice* choice, bool all,
               frame_range* out)
{
    frame_choice numbered = *choice;
    if (choice->timed) {
        numbered.first = numbered.last = talus_recording_nearest(recording, choice->time);
    }
    return frames_within(talus_recording_frame_count(recording), &numbered, all, out);
}

bool recording_open(const char* directory, talus_recording** out)
{
    talus_error error = {0};
    if (talus_recording_open(directory, out, NULL, &error) == TALUS_OK) return true;
    fprintf(stderr, "talus: %s\n", error.text);
    return false;
}

bool recording_show(talus_recording* recording, int64_t frame, const talus_world** world)
{
    talus_error error = {0};
    if (talus_recording_show(recording, frame, world, &error) == TALUS_OK) return true;
    fprintf(stderr, "talus: %s\n", error.text);
    return false;
}

// ---- ranges ------------------------------------------------------------------------------------

/// A finite number at the beginning of a text, `missing` if there is none; returns what follows.
static const char* read_end(const char* text, double missing, double* out)
{
    char* end;
    *out = strtod(text, &end);
    if (end == text) *out = missing;
    return isnan(*out) ? NULL : end;
}

bool range_read(const char* option, const char* text, void* place)
{
    option_range* out = place;
    out->given = true;
    const char* at = read_end(text, NAN, &out->low);
    at = at && *at == ':' ? read_end(at + 1, NAN, &out->high) : NULL;
    if (at && *at == '\0' && isfinite(out->low) && isfinite(out->high) && out->low < out->high) {
        return true;
    }
    fprintf(stderr, "talus: %s needs LOW:HIGH, two numbers, the second larger, not '%s'\n", option,
            text);
    return false;
}

bool region_read(const char* option, const char* text, void* place)
{
    talus_region* out = place;
    *out = talus_region_default();
    const char* at = text;
    for (int count = 0; at; count++) {
        const bool named = at[0] >= 'x' && at[0] <= 'z' && at[1] == '=';
        const int axis = named ? at[0] - 'x' : count;
        if (axis > 2) break;
        at = read_end(named ? at + 2 : at, -INFINITY, &out->low[axis]);
        at = at && *at == ':' ? read_end(at + 1, INFINITY, &out->high[axis]) : NULL;
        if (!at || !(out->low[axis] < out->high[axis])) break;
        if (*at == '\0') return true;
        at = *at == ',' ? at + 1 : NULL;
    }
    fprintf(stderr,
            "talus: %s needs x=LOW:HIGH, also of y and z with commas between, LOW smaller than "
            "HIGH (or LOW:HIGH of all axes in turn), not '%s'\n",
            option, text);
    return false;
}

bool region_fits(const talus_region* region, int dim)
{
    if (dim == 3 || (region->low[2] == -INFINITY && region->high[2] == INFINITY)) return true;
    fprintf(stderr, "talus: --region has z, but the run is in 2D\n");
    return false;
}

// ---- places of files ---------------------------------------------------------------------------

bool output_path(char out[PATH_SIZE], const char* format, ...)
{
    va_list rest;
    va_start(rest, format);
    const int length = vsnprintf(out, PATH_SIZE, format, rest);
    va_end(rest);
    if (length < PATH_SIZE) return true;
    fprintf(stderr, "talus: the path %.60s... is too long\n", out);
    return false;
}

bool output_folder(const char* directory, const char* name, char out[PATH_SIZE])
{
    if (!output_path(out, "%s%s%s", directory, name ? "/" : "", name ? name : "")) return false;
    if (mkdir(out, 0777) == 0 || errno == EEXIST) return true;
    fprintf(stderr, "talus: cannot make the directory %s: %s\n", out, strerror(errno));
    return false;
}

bool output_free(const char* path, bool force)
{
    struct stat info;
    if (directory_reserves(path)) {
        fprintf(stderr, "talus: %s is a file of a run itself; choose another name\n", path);
        return false;
    }
    if (stat(path, &info) != 0) return true;
    if (force && S_ISREG(info.st_mode)) return true;
    fprintf(stderr,
            S_ISREG(info.st_mode) ? "talus: %s is there already; --force replaces it\n"
                                  : "talus: %s is there already and is no file\n",
            path);
    return false;
}

/// What stands behind the last dot of a file's name; NULL if there is none.
static const char* ending_of(const char* path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot + 1 : NULL;
}

bool output_takes_several(const char* path)
{
    static const char* const single[] = {"png", "svg", "pdf", "csv"};
    const char* ending = ending_of(path);
    struct stat info;
    if (!ending || (stat(path, &info) == 0 && S_ISDIR(info.st_mode))) return true;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        if (strcasecmp(ending, single[i]) != 0) continue;
        fprintf(stderr,
                "talus: %s is the name of one file, and there are several: give a directory and "
                "--format\n",
                path);
        return false;
    }
    return true;
}

const char* output_format(const char* option, const char* path)
{
    static const char* const formats[] = {"png", "svg", "pdf"};
    const char* ending = path ? ending_of(path) : NULL;
    const char* wanted = option ? option : path ? ending : "png";
    if (option && ending && strcasecmp(option, ending) != 0) {
        fprintf(stderr, "talus: --format %s does not agree with the name %s\n", option, path);
        return NULL;
    }
    for (size_t i = 0; wanted && i < sizeof formats / sizeof *formats; i++) {
        if (strcasecmp(wanted, formats[i]) == 0) return formats[i];
    }
    fprintf(stderr, "talus: pictures are written as png, svg or pdf, not as '%s'\n",
            wanted ? wanted : path);
    return NULL;
}
