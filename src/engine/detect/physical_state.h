/// The physical state: all that the laws of motion speak of. A world owns one and hands it to its
/// method of stepping time, which never sees the world.
#ifndef TALUS_DETECT_PHYSICAL_STATE_H
#define TALUS_DETECT_PHYSICAL_STATE_H

#include "detect/contacts.h"
#include "detect/poses.h"
#include "geometry/solid.h"
#include "state/cell.h"
#include "state/grains.h"
#include "state/materials.h"
#include "state/walls.h"

#include <talus/world.h>

typedef struct physical_state {
    cell cell;
    materials materials;
    solids solids;
    grains grains;
    walls walls;
    poses poses;       ///< the solids in place, as of the last step's end or search
    contacts contacts; ///< of the last step; their impulses warm-start the next
    double time;
    int64_t step;      ///< steps done
    uint64_t revision; ///< goes up when grains, contacts or laws change between steps
} physical_state;

/// The totals that a world shows, and what the method soft needs to go on with them.
typedef struct running_totals {
    talus_totals shown;
    double power_lost;  ///< of dashpots and drag at the last force evaluation, W
    double power_input; ///< likewise: of gravity, external forces and walls
} running_totals;

struct card; // card/card.h

/// One step to be taken.
typedef struct step_order {
    physical_state* state;
    const talus_world_def* options;
    double h;
    int threads;
    struct card* card;      ///< that does what it can of the step, NULL: the CPU does all
    running_totals* totals; ///< seconds of the stages and energies are added here
    uint64_t key; ///< contact dynamics: number of this solve in the run, key of its random numbers
    double size;  ///< contact dynamics: L/d, extent of the system in mean diameters
    double strictness; ///< contact dynamics: the tolerance that was asked for is divided by this
    bool may_halve; ///< contact dynamics: whoever asked takes two halves of a step that is coarse
    int64_t
        audit_updates; ///< contact dynamics: updates that an audit of the step may take, 0: none
    bool last_chance;  ///< contact dynamics: clusters in flow whose sweeps are used up get one
    bool may_cut;      ///< contact dynamics: two steps of half the length may be taken instead
    bool more;         ///< soft particles: another step of this length follows, and nobody looks at
                       ///< the grains before it
} step_order;

/// What a step of contact dynamics can say for certain about its velocities
/// (rigid/certificate.h).
typedef struct step_certificate {
    double bound;        ///< on the error of the worst cluster, relative to what its contacts do
    int64_t bodies;      ///< of that cluster
    int64_t grain;       ///< row of its grain with the largest share in the bound, -1: none
    bool sliding;        ///< its contacts slide: the bound is that of frozen friction
    int64_t worst_grain; ///< row of the grain with the largest share of all, -1: none
    double grain_error;  ///< its share, relative to what contacts do to it
} step_certificate;

/// What an independent solution said about that (rigid/audit.h).
typedef struct step_audit {
    bool done, answered;
    double ratio; ///< largest true error over claim of all clusters
    double error, claim;
    int64_t grain; ///< row of a grain of that cluster, -1: none
    int64_t updates;
    int64_t judged, of; ///< bodies that were judged, of all that touch anything
    int64_t largest;    ///< those of the largest cluster that was
} step_audit;

/// Solids that a step would carry into another body deeper than is allowed (detect/passage.h).
typedef struct step_passage {
    bool passes;
    int64_t a, b;     ///< rows of the deepest pair; a < 0: wall -1 - a
    double depth;     ///< of the overlap, in thicknesses of the thinner body
    double safe_step; ///< with which they would move by no more than is safe, s
} step_passage;

/// What came of it.
typedef struct step_outcome {
    int64_t contacts, active;
    int64_t nan_grain;      ///< row of the first grain whose new velocity is not finite, -1 if none
    int64_t escaped_grain;  ///< row of the first grain out of bounds or behind a wall, -1 if none
    const uint8_t* escaped; ///< [grains] 1 for every such grain; valid until the next step
    // Contact dynamics.
    bool too_coarse;   ///< and may be halved: nothing was solved, the attempt is to be rejected
    double coarseness; ///< rigid/coarseness.h
    int64_t sweeps, updates;
    int64_t last_updates; ///< work of last chances
    bool converged;
    double residual;
    double tolerance;        ///< that the solve was asked for
    double velocity_error;   ///< estimate (rigid/residual.c) for a system of the order's size
    bool flows;              ///< grains slide past each other: contacts do more than hold them
    bool second;             ///< an answer of the direct methods was kept
    const char* why_no_card; ///< the order's card did not solve the contacts, because of this; NULL
    step_certificate certified;
    step_audit audit;
    step_passage passage;
    // Soft particles.
    double overlap_max; ///< largest overlap of the step, m
} step_outcome;

/// A step in which nothing went wrong so far.
static inline step_outcome step_outcome_good(void)
{
    return (step_outcome){.nan_grain = -1,
                          .escaped_grain = -1,
                          .converged = true,
                          .certified = {.grain = -1, .worst_grain = -1}};
}

/// What drag leaves of a grain's velocity and of every impulse on it: taken implicitly,
/// v' = v + h (F - drag v')/m + p/m gives v' = slowing * (v + h F/m + p/m).
static inline double step_slowing(const step_order* order, double inv_mass)
{
    return 1.0 / (1.0 + order->h * order->options->drag * inv_mass);
}

#endif
