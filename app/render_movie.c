/// Movies: pictures of all frames in a folder of their own, made into a film by ffmpeg.
#include "render.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

/// Name of picture i of a movie.
static bool picture_path(const char* folder, int64_t i, char out[PATH_SIZE])
{
    return output_path(out, "%s/frame-%06lld.png", folder, (long long)i);
}

static bool draw_all(renderer* r, const char* folder)
{
    char path[PATH_SIZE];
    for (int64_t i = 0; i < r->frames.count; i++) {
        render_progress(r, i, "drawing");
        if (!picture_path(folder, i, path) ||
            !render_frame(r, r->frames.first + i * r->frames.stride, path)) {
            return false;
        }
    }
    render_progress(r, r->frames.count, "drawing");
    return true;
}

static void remove_all(const renderer* r, const char* folder)
{
    char path[PATH_SIZE];
    for (int64_t i = 0; i < r->frames.count; i++) {
        if (picture_path(folder, i, path)) unlink(path);
    }
    rmdir(folder);
}

/// Words of a command line, the last one NULL.
enum { FFMPEG_WORDS = 20 };

static void ffmpeg_words(const char* rate, const char* pattern, const char* output,
                         const char* words[FFMPEG_WORDS])
{
    const char* dot = strrchr(output, '.');
    const bool gif = dot && strcasecmp(dot, ".gif") == 0;
    const char* const list[] = {
        "ffmpeg",     "-nostdin",  "-y",        "-loglevel", "error",
        "-framerate", rate,        "-i",        pattern,     gif ? NULL : "-pix_fmt",
        "yuv420p",    "-movflags", "+faststart"};
    int count = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list && list[i]; i++) words[count++] = list[i];
    words[count++] = output;
    words[count] = NULL;
}

/// Run ffmpeg. False if there is none, or if it fails; `missing` tells which.
static bool run_ffmpeg(const char* const* words, bool* missing)
{
    pid_t child;
    int ended = 0;
    const int failed = posix_spawnp(&child, words[0], NULL, NULL, (char* const*)words, environ);
    *missing = failed == ENOENT;
    if (failed != 0) {
        if (!*missing) fprintf(stderr, "talus: cannot start ffmpeg: %s\n", strerror(failed));
        return false;
    }
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

static int join_pictures(const renderer* r, const char* folder, const char* output)
{
    char rate[32], pattern[PATH_SIZE];
    const char* words[FFMPEG_WORDS];
    bool missing;
    snprintf(rate, sizeof rate, "%lld", (long long)r->options->fps);
    if (!output_path(pattern, "%s/frame-%%06d.png", folder)) return STATUS_FAILURE;
    ffmpeg_words(rate, pattern, output, words);
    if (run_ffmpeg(words, &missing)) {
        remove_all(r, folder);
        if (!r->options->quiet) {
            printf("%s: %lld frames, %s a second\n", output, (long long)r->frames.count, rate);
        }
        return STATUS_OK;
    }
    fprintf(stderr, "talus: %s; the pictures are in %s. A movie of them makes:\n ",
            missing ? "ffmpeg is not installed" : "ffmpeg failed", folder);
    for (int i = 0; words[i]; i++)
        fprintf(stderr, strchr(words[i], ' ') ? " '%s'" : " %s", words[i]);
    fprintf(stderr, "\n");
    return STATUS_FAILURE;
}

static bool is_movie(const char* path)
{
    static const char* const endings[] = {".mp4", ".mkv", ".mov", ".webm", ".gif"};
    const char* dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcasecmp(dot, endings[i]) == 0) return true;
    }
    fprintf(stderr,
            "talus: the name of a movie ends in .mp4, .mkv, .mov, .webm or .gif, not '%s'\n", path);
    return false;
}

int render_movie(renderer* r)
{
    const render_options* o = r->options;
    char folder[PATH_SIZE], output[PATH_SIZE];
    if (o->output) {
        if (!output_path(output, "%s", o->output)) return STATUS_FAILURE;
    } else if (!output_folder(o->directory, "pictures", folder) ||
               !output_path(output, "%s/movie.mp4", folder)) {
        return STATUS_FAILURE;
    }
    if (!is_movie(output)) return STATUS_USAGE;
    if (!output_free(output, o->force) || !output_path(folder, "%s-frames-XXXXXX", output)) {
        return STATUS_FAILURE;
    }
    if (!mkdtemp(folder)) {
        fprintf(stderr, "talus: cannot make the directory %s: %s\n", folder, strerror(errno));
        return STATUS_FAILURE;
    }
    if (render_look(r) && draw_all(r, folder)) return join_pictures(r, folder, output);
    remove_all(r, folder);
    return STATUS_FAILURE;
}
