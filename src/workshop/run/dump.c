/// Hard steps of a run as contact problems in the layout of FCLIB.
///
/// Hard is what no method likes: a solve that took at least LEAST_SWEEPS sweeps and twice as many
/// as any looked at before, and of the solves that did not converge the 1st, the 4th, the 16th and
/// so on. So a long run gives a handful of files from all its course, whatever its number of steps.
/// The problem is written as a local one, u = W r + q, which is what most solvers take, and with
/// its bodies as a global one, which costs `talus solve` far less.
///
/// The run goes on with the same bits: the world solves the step once more after it was looked at,
/// and a file that cannot be written ends the dumping, not the run.
#include "run/dump.h"

#include "base/error.h"
#include "base/words.h"
#include "record/fclib.h"
#include "record/files.h"
#include "rigid/reduced/condense.h"
#include "run/directory.h"
#include "world/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

enum {
    LEAST_SWEEPS = 30,
    /// A file of W for as many contacts of spheres takes about 200 MB of memory.
    MOST_CONTACTS = 100000,
};

static bool is_power_of_4(int64_t n)
{
    while (n > 1 && n % 4 == 0) n /= 4;
    return n == 1;
}

static bool wants(void* user, const step_outcome* o)
{
    dump* d = user;
    d->attempt++;
    if (d->written >= d->most || o->contacts == 0) return false;
    if (!o->converged) {
        if (!is_power_of_4(++d->stubborn)) return false;
    } else if (o->sweeps < LEAST_SWEEPS || o->sweeps < 2 * d->sweeps) {
        return false;
    }
    if (o->sweeps > d->sweeps) d->sweeps = o->sweeps;
    if (o->contacts <= MOST_CONTACTS) return true;
    d->larger++;
    return false;
}

static talus_status write_problem(const dump* d, const reduced_problem* p, const step_order* order,
                                  const step_outcome* o, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE], title[256], description[1024], facts[256];
    char name[96], part[32] = "";
    TRY(directory_path(path, d->directory, "problems", error));
    TRY(files_make_folder(path, error));
    // A step that was tried again in smaller parts gets a number behind it.
    if (d->attempt > 1) snprintf(part, sizeof part, "-part-%" PRId64, d->attempt);
    snprintf(name, sizeof name, "problems/step-%06" PRId64 "%s.hdf5", d->step, part);
    TRY(directory_path(path, d->directory, name, error));
    snprintf(title, sizeof title, "%.150s, step %" PRId64 ", by Talus %s", d->title, d->step,
             talus_version());
    snprintf(
        description, sizeof description,
        "Contact problem of step %" PRId64 " of the scene \"%.200s\", solved from t = %.9g "
        "to t + %.9g.\nu = W r + q with impulses r (%s) and velocities u at the end of the "
        "step (%s), in which the gap over the step's length is added to u_N. The global problem "
        "is the same: M is 1, and v velocities times roots of masses, relative to those without "
        "impulses.\nTalus %s it: "
        "%" PRId64 " sweep%s, residual %.3g.",
        d->step, d->title, order->state->time, order->h, d->reduced_units ? "reduced units" : "N s",
        d->reduced_units ? "reduced units" : "m/s", o->converged ? "solved" : "did not solve",
        o->sweeps, plural(o->sweeps), o->residual);
    snprintf(facts, sizeof facts,
             "W symmetric, positive semi-definite, singular if there are more components of "
             "impulses (%" PRId64 ") than degrees of freedom of the bodies (%" PRId64 ")",
             p->count * p->width, order->state->grains.count * (p->width == 2 ? 3 : 6));
    fclib_info info = {.title = title, .description = description, .math_info = facts};
    return fclib_write_problem(path, p, &info, error);
}

static talus_status take(void* user, const problem* p, const step_order* order,
                         const step_outcome* o, talus_error* error)
{
    dump* d = user;
    reduced_problem reduced = {0};
    double* guess = NULL;
    talus_error reason = {0};
    talus_status status = reduced_from_problem(p, &reduced, &guess, &reason);
    free(guess);
    if (status == TALUS_OK) status = reduced_add_bodies(p, &reduced, &reason);
    if (status == TALUS_ERR_ARGUMENT) {
        d->richer++;
        return TALUS_OK;
    }
    if (status == TALUS_OK) status = write_problem(d, &reduced, order, o, &reason);
    reduced_free(&reduced);
    if (status == TALUS_OK) d->written++;
    // There already: this step was done and dumped before the run was stopped and resumed.
    if (status == TALUS_OK || status == TALUS_ERR_EXISTS) return TALUS_OK;
    if (status == TALUS_ERR_MEMORY) return error_memory(error, "dumping a contact problem");
    log_write(&d->log, TALUS_LOG_WARNING, "no more problems are dumped: %s", reason.text);
    d->most = 0;
    return TALUS_OK;
}

void dump_begin(dump* d, talus_world* world)
{
    if (d->most > 0) world_watch(world, (world_watcher){.wants = wants, .take = take, .user = d});
}

void dump_step(dump* d, int64_t step)
{
    d->step = step;
    d->attempt = 0;
}

bool dump_verdict(const dump* d, char* text, size_t size)
{
    if (d->written + d->richer + d->larger == 0) {
        snprintf(text, size, "Problems: no step was hard enough to be dumped.");
    } else {
        int used =
            snprintf(text, size,
                     "Problems: %" PRId64
                     " hard steps are in problems/, for the command solve and for other solvers.",
                     d->written);
        if (d->richer > 0 && used > 0 && (size_t)used < size) {
            used += snprintf(text + used, size - (size_t)used,
                             " %" PRId64 " could not be put into FCLIB's layout, which knows only "
                             "friction: no rebound, cohesion, rolling, torsion or static friction.",
                             d->richer);
        }
        if (d->larger > 0 && used > 0 && (size_t)used < size) {
            snprintf(text + used, size - (size_t)used,
                     " %" PRId64 " with more than %d contacts were too large.", d->larger,
                     (int)MOST_CONTACTS);
        }
    }
    return d->directory != NULL;
}
