/// The ensemble in plain words.
#include "measure/ensemble.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Averages agree if the stress differs by less than this part of what single forces do.
static const double AGREEMENT = 0.25;
/// Fewer loaded contacts than this are no statistics.
enum { FEW_CONTACTS = 100 };
/// Momentum against impulses beyond which the packing is not at rest.
static const double MOVING = 0.1;

TALUS_PRINTF(2, 3) static void say(talus_ensemble* e, const char* format, ...)
{
    size_t used = strlen(e->verdict), room = sizeof e->verdict - used;
    if (used > 0) used += (size_t)snprintf(e->verdict + used, room, "\n");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->verdict + used, sizeof e->verdict - used, format, arguments);
    va_end(arguments);
}

static const char* plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void say_verified(const talus_ensemble_def* def, talus_ensemble* e)
{
    double worst = 0.0;
    for (int i = 0; i < e->samples; i++) worst = fmax(worst, e->sample[i].residual);
    if (e->verified == e->samples) {
        say(e, "All %d solutions satisfy the contact laws: their residuals are at most %.2g.",
            e->samples, worst);
    } else {
        say(e,
            "Only %d of %d solutions satisfy the contact laws to %.2g (the worst has %.2g); the "
            "others are left out of all that follows. More sweeps or a larger tolerance would "
            "help.",
            e->verified, e->samples, def->tolerance, worst);
    }
}

static void say_determined(talus_ensemble* e)
{
    say(e,
        "The forces are determined: they differ by %.2g of their size, which is no more than the "
        "solver's error (%.2g). Degree of indeterminacy: 0 (%lld unknowns, %lld equations).",
        e->force_change, e->force_error, (long long)e->unknowns, (long long)e->equations);
}

static void say_undetermined(talus_ensemble* e)
{
    const long long count = (long long)(e->unknowns - e->equations);
    say(e,
        "The forces are not determined: individual forces differ by %.2g %% of their size (root "
        "mean square), %.2g times the solver's error.",
        100.0 * e->force_change, e->force_change / e->force_error);
    say(e,
        "Degree of indeterminacy: %s%d independent way%s to differ %s found; counting %lld "
        "unknowns against %lld equations gives %lld.",
        e->rank >= e->verified - 1 ? "at least " : "", e->rank, plural(e->rank),
        e->rank == 1 ? "was" : "were", (long long)e->unknowns, (long long)e->equations, count);
    if (e->rank >= e->verified - 1) {
        say(e, "%d solutions cannot show more than %d ways: take more samples to see more.",
            e->verified, e->verified - 1);
    }
}

static void say_averages(talus_ensemble* e)
{
    if (e->stress_change <= AGREEMENT * e->force_change) {
        say(e,
            "Averages agree: the stress tensor differs by %.2g %%, %.2g times less than the "
            "forces, and no cumulated force histogram is farther than %.2g from the mean one.",
            100.0 * e->stress_change, e->force_change / e->stress_change, e->histogram_distance);
    } else {
        say(e,
            "Averages do not agree much better than single forces: the stress tensor differs by "
            "%.2g %%, cumulated force histograms by up to %.2g.",
            100.0 * e->stress_change, e->histogram_distance);
    }
}

static void say_caveats(talus_ensemble* e)
{
    if (e->rank > 0 && e->loaded < FEW_CONTACTS) {
        say(e, "%lld loaded contact%s: averages over so few say little.", (long long)e->loaded,
            plural(e->loaded));
    }
    if (e->inertia > MOVING) {
        say(e,
            "The packing moves: its momentum is %.2g %% of the impulses of the step, so these "
            "are forces of motion as much as of rest.",
            100.0 * e->inertia);
    }
}

void ensemble_verdict(const talus_ensemble_def* def, talus_ensemble* e)
{
    say_verified(def, e);
    if (e->verified < 2) return;
    if (e->loaded == 0) {
        say(e, "No contact carries a force: there is nothing to compare.");
        return;
    }
    if (e->rank == 0) {
        say_determined(e);
    } else {
        say_undetermined(e);
        say_averages(e);
    }
    say_caveats(e);
}
