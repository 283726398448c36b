/// What a looser or a tighter tolerance of the contact solver would cost: the step that would come
/// next is taken on copies of the world, once with each.
#include "run/tolerance.h"

#include "base/words.h"

#include <inttypes.h>
#include <stdio.h>

/// Errors of velocities: a tenth, as flows get by themselves, a hundredth, as at rest, and less.
static const double TRIED[TOLERANCE_COUNT] = {0.1, 0.01, 0.001};
/// Copies of larger worlds would take more memory than the run itself said it would.
enum { MOST_GRAINS = 100000 };

double tolerance_tried(int index)
{
    return TRIED[index];
}

/// One step on a copy, with this tolerance; 0: as it is set.
static bool try_step(const talus_world* world, double h, double tolerance,
                     talus_step_result* result)
{
    talus_world* copy = NULL;
    talus_solver_def solver = talus_world_options(world)->solver;
    if (talus_world_copy(world, &copy, NULL) < 0) return false;
    if (tolerance > 0.0) solver.tolerance = tolerance;
    const bool good = talus_world_set_solver(copy, &solver, NULL) >= 0 &&
                      talus_world_step(copy, h, result, NULL) >= 0;
    talus_world_destroy(copy);
    return good;
}

tolerance_cost tolerance_measure(const talus_world* world, double h)
{
    tolerance_cost out = {0};
    talus_step_result result;
    const talus_world_def* options = talus_world_options(world);
    if (options->method != TALUS_METHOD_CONTACT || options->solver.stop != TALUS_STOP_RIGID ||
        talus_world_grains(world).count > MOST_GRAINS || !(h > 0.0) ||
        !try_step(world, h, 0.0, &result) || result.active == 0) {
        return out;
    }
    out.sweeps = result.sweeps;
    for (int i = 0; i < TOLERANCE_COUNT; i++) {
        if (!try_step(world, h, TRIED[i], &result)) return out;
        out.with[i] = result.sweeps;
        out.reached[i] = result.converged;
    }
    // Where all of them take the same there is nothing to choose.
    out.known = out.with[0] != out.with[TOLERANCE_COUNT - 1];
    return out;
}

void tolerance_words(const tolerance_cost* cost, char out[TOLERANCE_WORDS])
{
    int used = snprintf(out, TOLERANCE_WORDS, "the next step takes %" PRId64 " sweep%s as it is",
                        cost->sweeps, plural(cost->sweeps));
    for (int i = 0; i < TOLERANCE_COUNT; i++) {
        used +=
            snprintf(out + used, TOLERANCE_WORDS - (size_t)used, "%s%s%" PRId64 " with %s%g",
                     i + 1 < TOLERANCE_COUNT ? ", " : " and ", cost->reached[i] ? "" : "more than ",
                     cost->with[i], i == 0 ? "solver.tolerance=" : "", TRIED[i]);
    }
}

double tolerance_worth(const tolerance_cost* cost)
{
    double worth = 0.0;
    for (int i = 0; i < TOLERANCE_COUNT; i++) {
        const bool tighter = cost->with[i] > cost->sweeps;
        if (tighter && cost->reached[i] && cost->with[i] <= 2 * cost->sweeps) worth = TRIED[i];
    }
    return worth;
}
