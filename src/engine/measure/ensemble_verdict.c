/// The ensemble in plain words.
#include "measure/ensemble.h"

#include "base/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Averages agree if the stress differs by less than this part of what single forces do.
static const double AGREEMENT = 0.25;
/// Fewer loaded contacts than this are no statistics.
enum { FEW_CONTACTS = 100 };
/// Relative error of the forces above which it must be mentioned.
static const double BLUNT = 1e-3;
/// Momenta differ if they do by so many times the error of the forces: as the rank has it.
static const double UNLIKE = 10.0;
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

static bool agrees(double stress_change, double force_change)
{
    return force_change > 0.0 && stress_change <= AGREEMENT * force_change;
}

/// The kind of start whose solutions differ most, -1 if none has two that differ.
static int widest_start(const talus_ensemble* e)
{
    int widest = -1;
    for (int k = 0; k < TALUS_START_COUNT; k++) {
        double change = e->force_change_of[k];
        if (change > (widest < 0 ? e->force_error : e->force_change_of[widest])) widest = k;
    }
    return widest;
}

enum { COUNT_WORDS = 160 };

/// What the equations leave open, in words.
static void count_words(const talus_ensemble* e, char text[COUNT_WORDS])
{
    const long long unknowns = (long long)e->unknowns, equations = (long long)e->equations,
                    independent = (long long)e->independent;
    if (independent >= 0) {
        snprintf(text, COUNT_WORDS,
                 "at most %lld: %lld unknowns less %lld independent ones of %lld equations",
                 unknowns - independent, unknowns, independent, equations);
    } else {
        snprintf(text, COUNT_WORDS,
                 "counting %lld unknowns against %lld equations gives %lld, and more if some of "
                 "the equations depend on each other",
                 unknowns, equations, unknowns - equations);
    }
}

void ensemble_verdict(const talus_ensemble_def* def, talus_ensemble* e)
{
    static const char* const names[] = {"zero", "the last forces", "random forces"};
    double worst = 0.0;
    for (int i = 0; i < e->samples; i++) worst = fmax(worst, e->sample[i].residual);
    if (e->verified == e->samples) {
        say(e, "All %d solutions satisfy the contact laws: their residuals are at most %.2g.",
            e->samples, worst);
    } else if (def->max_updates > 0) {
        say(e,
            "Only %d of %d solutions came near enough to the contact laws with their share of "
            "%.2g contact updates (the worst has a residual of %.2g); the others are left out of "
            "all that follows. More updates or fewer solutions would help.",
            e->verified, e->samples, (double)def->max_updates, worst);
    } else {
        say(e,
            "Only %d of %d solutions satisfy the contact laws to %.2g (the worst has %.2g); the "
            "others are left out of all that follows. More sweeps or a larger tolerance would "
            "help.",
            e->verified, e->samples, def->tolerance, worst);
    }
    if (e->verified < 2) return;
    if (e->loaded == 0) {
        say(e, "No contact carries a force: there is nothing to compare.");
        return;
    }
    const int k = widest_start(e);
    char counts[COUNT_WORDS];
    count_words(e, counts);
    if (e->rank == 0 && e->force_change <= BLUNT) {
        say(e,
            "The forces are determined: they differ by %.2g of their size, as the solver's error "
            "of about %.2g explains. Degree of indeterminacy: 0 within that error; %s.",
            e->force_change, e->force_error, counts);
    } else if (e->rank == 0) {
        say(e,
            "No differences of the physics are seen: the forces differ by %.2g of their size, and "
            "only ten times the solver's error of about %.2g would tell. Degree of indeterminacy: "
            "0 within that error; %s.",
            e->force_change, e->force_error, counts);
    } else {
        say(e,
            "The forces are not determined: individual forces differ by %.2g %% of their size "
            "(root mean square), %.2g times the solver's error.",
            100.0 * e->force_change, e->force_change / e->force_error);
        say(e,
            "Degree of indeterminacy: at least %d, the number of independent ways in which the "
            "solutions differ by more than ten times that error; %s.",
            e->rank, counts);
    }
    if (e->velocity_change > UNLIKE * e->force_error) {
        say(e,
            "The solutions do not move alike: their momenta differ by %.2g %% of the impulses, "
            "%.2g times the solver's error. Coulomb's law may admit more than one motion; the "
            "upper bound is that of solutions with the same one.",
            100.0 * e->velocity_change, e->velocity_change / e->force_error);
    }
    if (e->rank > 0 && e->rank >= e->verified - 1) {
        say(e, "%d solutions cannot show more than %d ways: take more samples to see more.",
            e->verified, e->verified - 1);
    }
    if (e->rank > 0 && agrees(e->stress_change, e->force_change)) {
        say(e,
            "Averages agree: the stress tensor differs by %.2g %%, %.2g times less than the "
            "forces, and no cumulated force histogram is farther than %.2g from the mean one.",
            100.0 * e->stress_change, e->force_change / e->stress_change, e->histogram_distance);
    } else if (e->rank > 0 && k >= 0 && agrees(e->stress_change_of[k], e->force_change_of[k])) {
        say(e,
            "Averages agree among solutions that begin alike: those from %s differ by %.2g %% in "
            "the forces and by %.2g %% in the stress tensor. Between kinds of starts the stress "
            "differs by %.2g %% (cumulated histograms by up to %.2g): where a solver begins leaves "
            "a trace that equilibrium does not decide, such as a prestress between walls.",
            names[k], 100.0 * e->force_change_of[k], 100.0 * e->stress_change_of[k],
            100.0 * e->stress_change, e->histogram_distance);
    } else if (e->rank > 0) {
        say(e,
            "Averages do not agree much better than single forces: the stress tensor differs by "
            "%.2g %%, cumulated force histograms by up to %.2g.",
            100.0 * e->stress_change, e->histogram_distance);
    }
    if (e->force_error > BLUNT) {
        say(e,
            "At this tolerance the forces are known to about %.2g %% only; smaller differences "
            "would not be seen.",
            100.0 * e->force_error);
    }
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
