/// talus view DIR: look at a run in the browser, or put it into a page that needs no server.
#include "app.h"

#include "run/directory.h"
#include "view.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct view_options {
    const char* directory;
    int port;
    bool open, no_open; ///< neither: a browser is opened from a terminal
    const char* export;
    frame_choice frames;
    int64_t every; ///< 0: as `frames` says
    bool force;
} view_options;

// ---- the browser -------------------------------------------------------------------------------

/// Start the desktop's browser, without waiting for it. Ctrl-C here is not for it.
static bool start_browser(const char* address)
{
    char program[] = "xdg-open", argument[128];
    snprintf(argument, sizeof argument, "%s", address);
    char* arguments[] = {program, argument, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0) return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    for (int fd = 0; fd < 3; fd++) {
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
    }
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    pid_t child;
    const bool started =
        posix_spawnp(&child, program, &files, &attributes, arguments, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return started;
}

static bool has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/// Say where the page is, and open it if that is wanted.
static void tell_address(const char* address, void* user)
{
    const view_options* o = user;
    printf("%s\n", address);
    printf("Ctrl-C ends it.\n");
    fflush(stdout);
    if (o->no_open || (!o->open && !isatty(STDOUT_FILENO))) return;
    if (has_display() && start_browser(address)) return;
    if (o->open) {
        fprintf(stderr, "talus: no browser could be opened: %s\n",
                has_display() ? "xdg-open was not found" : "there is no display");
    }
}

// ---- the command -------------------------------------------------------------------------------

/// Whether a run is there; a message if not. One that has only just begun has no frames yet.
static bool is_run(const char* directory)
{
    if (directory_has(directory, "frames.h5") || directory_has(directory, "scene.yaml"))
        return true;
    const char* absence = directory_absence(directory);
    fprintf(stderr, "talus: there is no run in %s: %s\n", directory,
            absence ? absence : "it has neither frames.h5 nor scene.yaml");
    return false;
}

/// Look at the run once before its address is told: what is no run now will not become one. Files
/// that are not there yet may come.
static bool is_readable(view_run* run)
{
    talus_error error = {0};
    h5_quiet quiet;
    h5_silence(&quiet);
    const talus_status status = view_run_refresh(run, &error);
    h5_loud(&quiet);
    if (status != TALUS_ERR_FORMAT) return true;
    fprintf(stderr, "talus: %s\n", error.text);
    return false;
}

static const option_row options[] = {
    {.name = "port",
     .value = "N",
     .meaning = "port to listen on",
     .otherwise = "0: a free one",
     .type = OPTION_COUNT,
     .place = offsetof(view_options, port),
     .high = 65535},
    {.name = "open",
     .meaning = "open a browser",
     .otherwise = "if standard output is a terminal",
     .type = OPTION_FLAG,
     .place = offsetof(view_options, open)},
    {.name = "no-open",
     .meaning = "do not open a browser",
     .type = OPTION_FLAG,
     .place = offsetof(view_options, no_open)},
    {.name = "export",
     .value = "FILE",
     .kind = &value_file,
     .meaning = "write the page with all frames into one FILE instead; any browser opens it, "
                "without a server or a network",
     .type = OPTION_TEXT,
     .place = offsetof(view_options, export)},
    {.name = "frame",
     .value = "F",
     .meaning = "export only these frames: a number from 0, A:B, A:B:STRIDE or last",
     .otherwise = "all",
     .type = OPTION_READ,
     .place = offsetof(view_options, frames),
     .read = frames_read},
    {.name = "every",
     .value = "N",
     .meaning = "export only every Nth frame",
     .otherwise = "1",
     .type = OPTION_WHOLE,
     .place = offsetof(view_options, every),
     .low = 1},
    {.name = "force",
     .meaning = "replace FILE if it exists",
     .type = OPTION_FLAG,
     .place = offsetof(view_options, force)},
    {0},
};

static int view(int argc, char** argv)
{
    view_options o = {0};
    int status = options_read(&command_view, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    if (o.every > 0 && !o.frames.given) frames_read("--frame", "all", &o.frames);
    if (o.every > 0) o.frames.stride = o.every;
    if (!o.export && (o.force || o.frames.given)) {
        fprintf(stderr, "talus: --frame, --every and --force go with --export\n");
        return STATUS_USAGE;
    }
    size_t size;
    if (!view_page(&size)) {
        fprintf(stderr, "talus: this program was built without the viewer; configure it with "
                        "-DTALUS_VIEWER=ON (Node.js and npm are needed then)\n");
        return STATUS_FAILURE;
    }
    if (!is_run(o.directory)) return STATUS_FAILURE;
    view_run run = view_run_make(o.directory);
    status = STATUS_FAILURE;
    if (o.export) {
        status = view_export(&run, o.export, &o.frames, o.force);
    } else if (is_readable(&run)) {
        status = view_serve(&run, o.port, tell_address, &o);
    }
    view_run_end(&run);
    return status;
}

const command command_view = {
    .name = "view",
    .usage = "view DIR [--port N] [--open|--no-open] [--export FILE] [options]",
    .summary = "show a run in the browser, even while it is running",
    .about =
        "Serves a page on this machine only (127.0.0.1), prints its address and, if there is a\n"
        "display, opens it. Stop it with Ctrl-C.\n",
    .options = options,
    .examples = "  talus view runs/heap-2d\n"
                "  talus view runs/heap-2d --export heap.html --every 5\n",
    .first = {.what = "the directory of a run",
              .kind = &value_folder,
              .place = offsetof(view_options, directory)},
    .function = view,
};
