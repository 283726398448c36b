/// talus view DIR: look at a run in the browser, or put it into a page that needs no server.
#include "app.h"

#include "run/directory.h"
#include "view.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum browser { BROWSER_IF_TERMINAL, BROWSER_YES, BROWSER_NO } browser;

typedef struct view_options {
    int port;
    browser open;
    const char* export;
    frame_choice frames;
    int64_t every; ///< 0: as `frames` says
    bool force;
} view_options;

// ---- the browser -------------------------------------------------------------------------------

/// Start the desktop's browser, without waiting for it. Ctrl-C here is not for it.
static bool start_browser(const char* address)
{
    extern char** environ;
    char program[] = "xdg-open", argument[64];
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
    if (o->open == BROWSER_NO || (o->open != BROWSER_YES && !isatty(STDOUT_FILENO))) return;
    if (has_display() && start_browser(address)) return;
    if (o->open == BROWSER_YES) {
        fprintf(stderr, "talus: no browser could be opened: %s\n",
                has_display() ? "xdg-open was not found" : "there is no display");
    }
}

// ---- the command -------------------------------------------------------------------------------

static bool take_option(int choice, view_options* o)
{
    int64_t number = 0;
    switch (choice) {
    case 'o': o->open = BROWSER_YES; return true;
    case 'n': o->open = BROWSER_NO; return true;
    case 'f': o->force = true; return true;
    case 'x': o->export = optarg; return true;
    case 'r': return frames_parse(optarg, &o->frames);
    case 'e': return options_integer("--every", optarg, 1, &o->every);
    case 'p':
        if (!options_integer("--port", optarg, 0, &number)) return false;
        if (number > 65535) fprintf(stderr, "talus: --port can be 65535 at most\n");
        o->port = (int)number;
        return number <= 65535;
    default: return false;
    }
}

/// Whether a run is there; a message if not. One that has only just begun has no frames yet.
static bool is_run(const char* directory)
{
    if (directory_has(directory, "frames.h5") || directory_has(directory, "scene.yaml"))
        return true;
    fprintf(stderr, "talus: there is no run in %s: %s\n", directory,
            directory_has(directory, ".") ? "it has neither frames.h5 nor scene.yaml"
                                          : "there is no such directory");
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

/// Serve or export, as the options say. Returns exit status.
static int show(const char* directory, view_options* o)
{
    view_run run = view_run_make(directory);
    int status = STATUS_FAILURE;
    if (o->export) {
        status = view_export(&run, o->export, &o->frames, o->force);
    } else if (is_readable(&run)) {
        status = view_serve(&run, o->port, tell_address, o);
    }
    view_run_end(&run);
    return status;
}

int command_view(int argc, char** argv)
{
    static const struct option list[] = {
        {"port", required_argument, NULL, 'p'},
        {"open", no_argument, NULL, 'o'},
        {"no-open", no_argument, NULL, 'n'},
        {"export", required_argument, NULL, 'x'},
        {"frame", required_argument, NULL, 'r'},
        {"every", required_argument, NULL, 'e'},
        {"force", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    view_options o = {0};
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') print_command_help(command_find("view"));
        if (choice == 'h') return STATUS_OK;
        if (choice == '?' || !take_option(choice, &o)) return STATUS_USAGE;
    }
    const char* directory = options_single(argc, argv, "the directory of a run");
    if (!directory) return STATUS_USAGE;
    if (o.every > 0 && !o.frames.given) frames_parse("all", &o.frames);
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
    if (!is_run(directory)) return STATUS_FAILURE;
    return show(directory, &o);
}
