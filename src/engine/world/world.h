/// Inside of a world. Only src/engine/world and the rooms after it (docs/architecture.md) may look.
#ifndef TALUS_WORLD_WORLD_H
#define TALUS_WORLD_WORLD_H

#include "base/log.h"
#include "detect/physical_state.h"
#include "rigid/contact_dynamics.h"
#include "rigid/separate.h"
#include "soft/snapshot.h"
#include "soft/soft_particles.h"
#include "world/clusters.h"
#include "world/device.h"
#include "world/method.h"
#include "world/pace.h"
#include "world/watch.h"

#include <omp.h>
#include <talus/world.h>

struct talus_world {
    talus_world_def def; ///< as given, solver and gravity as last set
    log_sink log;
    physical_state state;
    omp_lock_t columns;          ///< held while a rare column is made for a reader
    const method_traits* method; ///< what the way of stepping time can do
    contact_dynamics* rigid;     ///< the workspace of the method, if it is this one
    soft_particles* soft;        ///< likewise
    /// Why no graphics card can do the method's steps of such a world, NULL: one can.
    const char* (*why_no_card)(const talus_world_def* def, const physical_state* state);
    int64_t card_worth; ///< grains from which on a card is faster
    world_device device;
    thread_pace pace; ///< how many threads the coming step uses
    double extent;  ///< of the longest cluster in mean diameters (diagnose_rigidity); 0: not known
    int64_t solves; ///< attempts made: the key of the next one's random numbers
    int64_t shortening; ///< steps begin in 2^shortening parts: in longer ones a flow was not
                        ///< solved; -1: shorter ones did not help
    int64_t shortened;  ///< the step at which this has last changed
    running_totals totals;
    talus_step_result last;
    clusters clusters;          ///< memory of the diagnostics
    separation_work separation; ///< and of taking overlaps apart
    world_watcher watcher;      ///< zero: nobody looks
    state_snapshot snapshot;    ///< the state before steps that cannot be undone
};

/// Make the workspace of the world's method, and free it.
talus_status world_make_method(talus_world* world, talus_error* error);
void world_free_method(talus_world* world);
/// Make it anew, without what it has on a card; nothing in it matters from one step to the next.
talus_status world_renew_method(talus_world* world, talus_error* error);
/// Remove the grains whose byte is 1, with their contacts; *removed (may be NULL) counts them.
talus_status world_remove_grains(talus_world* world, const uint8_t* remove, int64_t* removed,
                                 talus_error* error);
/// Pose the contact problem of the world's next step, of length h, without taking the step: *out
/// (zeroed or used before, owned by the caller) starts from the impulses of the last step, and
/// *list has its contacts, valid until the next step. The world stays as it is.
talus_status world_pose(talus_world* world, double h, struct problem* out, const contacts** list,
                        talus_error* error);

#endif
