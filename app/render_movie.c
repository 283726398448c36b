/// Movies: pictures of all frames in a folder of their own, made into a film by ffmpeg.
///
/// ffmpeg works inside that folder, with names that it cannot take for a pattern or a protocol, and
/// the film gets its own name when it is whole.
#include "render.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

/// Name of picture i of a movie.
static bool picture_path(const char* folder, int64_t i, char out[PATH_SIZE])
{
    return output_path(out, "%s/frame-%06lld.png", folder, (long long)i);
}

/// Whether someone asked to end; the signal is blocked, and acts once the folder is gone.
static bool interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
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

static void ffmpeg_words(const char* rate, const char* film, const char* words[FFMPEG_WORDS])
{
    const bool gif = strcasecmp(strrchr(film, '.'), ".gif") == 0;
    const char* const list[] = {
        "ffmpeg",     "-nostdin",  "-y",        "-loglevel",      "error",
        "-framerate", rate,        "-i",        "frame-%06d.png", gif ? NULL : "-pix_fmt",
        "yuv420p",    "-movflags", "+faststart"};
    int count = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list && list[i]; i++) words[count++] = list[i];
    words[count++] = film;
    words[count] = NULL;
}

/// Run ffmpeg in a folder, with the signals of `mask` blocked. False if there is none, or if it
/// fails; `missing` tells which.
static bool run_ffmpeg(const char* const* words, const char* folder, const sigset_t* mask,
                       bool* missing)
{
    pid_t child;
    int ended = 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int failed = posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (failed == 0) {
        failed =
            posix_spawnp(&child, words[0], &actions, &attributes, (char* const*)words, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    *missing = failed == ENOENT;
    if (failed != 0) {
        if (!*missing) fprintf(stderr, "talus: cannot start ffmpeg: %s\n", strerror(failed));
        return false;
    }
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

static int join_pictures(const renderer* r, const char* folder, const char* output,
                         const sigset_t* mask)
{
    char rate[32], film[16], made[PATH_SIZE];
    const char* words[FFMPEG_WORDS];
    bool missing;
    snprintf(rate, sizeof rate, "%lld", (long long)r->options->fps);
    snprintf(film, sizeof film, "film%s", strrchr(output, '.'));
    if (!output_path(made, "%s/%s", folder, film)) return STATUS_FAILURE;
    ffmpeg_words(rate, film, words);
    const bool good = run_ffmpeg(words, folder, mask, &missing);
    if (good && rename(made, output) == 0) {
        remove_all(r, folder);
        if (!r->options->quiet) {
            printf("%s: %lld frames, %s a second\n", output, (long long)r->frames.count, rate);
        }
        return STATUS_OK;
    }
    if (good) fprintf(stderr, "talus: cannot write %s: %s\n", output, strerror(errno));
    unlink(made);
    if (good || interrupted()) {
        remove_all(r, folder);
        return STATUS_FAILURE;
    }
    fprintf(stderr, "talus: %s. The pictures are in %s; to join them, run there:\n ",
            missing ? "there is no movie, because ffmpeg is not installed" : "ffmpeg failed",
            folder);
    for (int i = 0; words[i]; i++) fprintf(stderr, " %s", words[i]);
    fprintf(stderr, "\n");
    return STATUS_FAILURE;
}

/// Draw and join, in a new folder beside the film.
static int make_movie(renderer* r, const char* output, const sigset_t* mask)
{
    char folder[PATH_SIZE];
    if (!output_path(folder, "%s-frames-XXXXXX", output)) return STATUS_FAILURE;
    if (!mkdtemp(folder)) {
        fprintf(stderr, "talus: cannot make the directory %s: %s\n", folder, strerror(errno));
        return STATUS_FAILURE;
    }
    char path[PATH_SIZE];
    bool good = true;
    for (int64_t i = 0; i < r->frames.count && good; i++) {
        render_progress(r, i, "drawing");
        good = !interrupted() && picture_path(folder, i, path) &&
               render_frame(r, r->frames.first + i * r->frames.stride, path);
    }
    if (good) {
        render_progress(r, r->frames.count, "drawing");
        return join_pictures(r, folder, output, mask);
    }
    remove_all(r, folder);
    return STATUS_FAILURE;
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
    static const char* const endings[] = {".mp4", ".mkv", ".mov", ".webm", ".gif"};
    const char* dot = strrchr(output, '.');
    bool known = false;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        known |= strcasecmp(dot, endings[i]) == 0;
    }
    if (!known) {
        fprintf(stderr,
                "talus: the name of a movie ends in .mp4, .mkv, .mov, .webm or .gif, not '%s'\n",
                output);
        return STATUS_USAGE;
    }
    if (!output_free(output, o->force) || !render_look(r)) return STATUS_FAILURE;
    sigset_t stops, before;
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigprocmask(SIG_BLOCK, &stops, &before);
    const int status = make_movie(r, output, &before);
    sigprocmask(SIG_SETMASK, &before, NULL); // what was asked for meanwhile happens here
    return status;
}
