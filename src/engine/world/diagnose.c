/// Live diagnostics from the theory of incomplete convergence (UK section 5; UBWK; docs/theory.md).
///
/// N_I sweeps carry force information l_diff = d sqrt(4 q N_I), q = (4 sqrt(e) - 5)/2 for random
/// sweeps; a packing of extent L > l_diff answers like springs of stiffness kappa = q m N_I / h^2.
/// That is the papers' solver; for every solver the estimated velocity error (rigid/residual.c)
/// says how rigid a step was. It grows with L/d, which the solve takes from the step before; here
/// it is that of the step itself. L is the longest extent of a cluster of grains joined by contacts
/// that carry force.
#include "world/diagnose.h"

#include "base/error.h"
#include "base/parallel.h"
#include "base/words.h"
#include "detect/narrow.h"
#include "rigid/contact_dynamics.h"
#include "rigid/separate.h"

#include <math.h>
#include <stdio.h>

/// A velocity error above this makes a step yielding: a fifth of what the contacts should do is
/// missing. That is twice what the default asks for in a flow.
static const double YIELDING = 0.2;
/// What is left in a step of the largest extent of the steps before.
static const double FORGETTING = 0.995;

talus_status diagnose_rigidity(talus_world* world, double h, int64_t sweeps, talus_rigidity* out)
{
    const grains* g = &world->state.grains;
    const double error = out->velocity_error, judged = world->extent;
    if (g->count == 0) {
        world->extent = 0.0;
        return TALUS_OK;
    }
    const double q = 0.5 * (4.0 * sqrt(M_E) - 5.0);
    const double diameter = grains_mean_diameter(g, world->pace.threads), n = (double)sweeps;
    double size;
    TRY(clusters_longest(&world->clusters, g, &world->state.contacts, world->pace.threads, &size));
    size /= diameter;
    out->system_size = size;
    world->extent = fmax(size, FORGETTING * judged);
    // The solve took the size of the steps before; a longer system may be that much worse.
    out->velocity_error = judged > 0.0 ? error * fmax(1.0, size / fmax(judged, 1.0)) : error;
    out->diffusion_length = sqrt(4.0 * q * n);
    out->stiffness = q * grains_mean_mass(g, world->pace.threads) * n / (h * h);
    out->sweeps_for_rigid = size * size / (4.0 * q);
    out->yielding = out->velocity_error > YIELDING;
    return TALUS_OK;
}

talus_status diagnose_errors(talus_world* world, bool further)
{
    grains* g = &world->state.grains;
    const double* found = contact_dynamics_errors(world->rigid);
    TRY(grains_need_errors(g));
    for (int64_t i = 0; i < g->count; i++) {
        const double error = found ? found[i] : 0.0;
        g->error[i] = further ? fmax(g->error[i], error) : error;
    }
    return TALUS_OK;
}

/// Sweeps, for each diameter of a packing, with which accelerated ones have done what they can many
/// times over; and how many times the number that carries forces across plain ones are given.
static const double AMPLE = 50.0, AMPLE_PLAIN = 10.0;

/// Is everything that contacts do still wrong after sweeps that should have been ample? Then there
/// is likely no solution.
static bool is_hopeless(const talus_rigidity* r, const talus_solver_def* solver, int64_t sweeps)
{
    const bool plain =
        solver->method == TALUS_SOLVER_SWEEPS || solver->method == TALUS_SOLVER_COLOURED;
    const double ample = AMPLE * fmax(r->system_size, 1.0);
    return r->velocity_error > 1.0 &&
           (double)sweeps >= fmax(ample, plain ? AMPLE_PLAIN * r->sweeps_for_rigid : 0.0);
}

void diagnose_remark(const talus_rigidity* r, const talus_solver_def* solver, int64_t sweeps,
                     char* text, size_t size)
{
    const double percent = 100.0 * fmin(r->velocity_error, 1.0);
    const bool certified = r->certified <= 1.0;
    text[0] = '\0';
    // What slides is rarely certified, and that is told at the end of a run; what does not slide
    // should be.
    if (!r->yielding && (certified || r->frozen_friction)) return;
    if (!r->yielding) {
        snprintf(text, size,
                 "velocities are estimated to be off by %.2g %% of what contacts do to them, but "
                 "no bound proves it though nothing slides: the estimate may be far too small, as "
                 "for bonded beams and for light grains beside heavy ones. The solver auto, a "
                 "smaller tolerance or more max_sweeps may help",
                 percent);
        return;
    }
    if (is_hopeless(r, solver, sweeps)) {
        snprintf(text, size,
                 "yielding: after %lld sweep%s velocities are still estimated to be off by 100 %% "
                 "or more of what contacts do to them. More sweeps hardly help: it seems that "
                 "nothing fits all contacts, as where grains are wedged between driven walls",
                 (long long)sweeps, plural(sweeps));
        return;
    }
    if (solver->method == TALUS_SOLVER_SWEEPS && r->diffusion_length < r->system_size) {
        snprintf(text, size,
                 "yielding: in %lld sweep%s forces travelled %.3g diameters through a packing %.3g "
                 "across; velocities are estimated to be off by %.0f %%, and the packing answers "
                 "like springs of stiffness %.3g. For rigid grains use the solver auto or about "
                 "%.3g sweeps",
                 (long long)sweeps, plural(sweeps), r->diffusion_length, r->system_size, percent,
                 r->stiffness, r->sweeps_for_rigid);
        return;
    }
    snprintf(text, size,
             "yielding: after %lld sweep%s velocities are estimated to be off by %.0f %% of what "
             "the contacts of this packing, %.3g diameters across, do to them. For rigid grains "
             "use a smaller tolerance or more max_sweeps",
             (long long)sweeps, plural(sweeps), percent, r->system_size);
}

/// Overlaps of solids below this, in mean diameters, are not looked at twice.
static const double FAINT_OVERLAP = 1e-6;

/// Overlaps of some contacts.
typedef struct overlaps {
    double sum, largest;
    double thickness; ///< the largest in units of the thinner body's thickness
    int64_t active;
} overlaps;

static overlaps add_overlaps(const talus_world* w, int64_t first, int64_t last, double faint,
                             bool removed)
{
    const contacts* list = &w->state.contacts;
    narrow_scratch scratch = {0};
    overlaps out = {0};
    for (int64_t c = first; c < last; c++) {
        // After grains were removed nobody knows any more which ones were hit.
        if (removed ? list->state[c] == TALUS_CONTACT_OPEN && list->gap[c] > 0.0
                    : !contact_dynamics_may_overlap(w->rigid, &w->state, c)) {
            continue;
        }
        const double overlap = narrow_overlap(&w->state.grains, &w->state.walls, &w->state.cell,
                                              &w->state.poses, &scratch, list, c, faint);
        out.largest = fmax(out.largest, overlap);
        if (overlap > 0.0) {
            const double thickness = overlap_thickness(&w->state.grains, list, c);
            out.thickness = fmax(out.thickness, overlap / thickness);
        }
        if (list->state[c] == TALUS_CONTACT_OPEN) continue; // an overlap that is coming apart
        out.active++;
        out.sum += overlap;
    }
    narrow_scratch_free(&scratch);
    return out;
}

void diagnose_overlap(const talus_world* world, talus_step_result* out)
{
    const int64_t count = world->state.contacts.count;
    const double diameter = grains_mean_diameter(&world->state.grains, world->pace.threads);
    const int chunks = parallel_chunks(count);
    overlaps part[PARALLEL_CHUNKS], all = {0};
#pragma omp parallel for num_threads(parallel_threads(world->pace.threads, count)) schedule(dynamic)
    for (int k = 0; k < chunks; k++) {
        part[k] = add_overlaps(world, parallel_first(count, k), parallel_first(count, k + 1),
                               FAINT_OVERLAP * diameter, out->removed > 0);
    }
    for (int k = 0; k < chunks; k++) {
        all.sum += part[k].sum;
        all.largest = fmax(all.largest, part[k].largest);
        all.active += part[k].active;
        all.thickness = fmax(all.thickness, part[k].thickness);
    }
    out->overlap_mean = all.active > 0 ? all.sum / (double)all.active / diameter : 0.0;
    out->overlap_max = all.largest / diameter;
    out->overlap_thickness_max = all.thickness;
}
