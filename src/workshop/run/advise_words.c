/// An advice in words: which method, why, what would change it, and what no time tells.
#include "run/advise.h"
#include "world/method.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Overlap in diameters from which a ball is no picture of a grain.
#define DEEP 0.1

/// A number of two digits, without an exponent as long as it can be read so.
typedef struct digits {
    char text[32];
} digits;

static digits two_digits(double x)
{
    digits d;
    if (x >= 99.5 && x < 1e7) {
        const double unit = pow(10.0, floor(log10(x)) - 1.0);
        snprintf(d.text, sizeof d.text, "%.0f", unit * round(x / unit));
    } else {
        snprintf(d.text, sizeof d.text, "%.2g", x);
    }
    return d;
}

TALUS_PRINTF(2, 3) static void say(talus_advice* a, const char* format, ...)
{
    const size_t length = strlen(a->words);
    va_list args;
    va_start(args, format);
    vsnprintf(a->words + length, sizeof a->words - length, format, args);
    va_end(args);
}

static const char* name_of(talus_method method)
{
    return method_of(method)->name;
}

/// The advice where both methods can be used.
static void say_use(talus_advice* a)
{
    const talus_cost *use = &a->cost[a->use], *other = &a->cost[other_method(a->use)];
    const double more = use->steps / other->steps;
    const double slower = use->step_seconds / other->step_seconds;
    if (a->close) {
        say(a, "use the method that suits the question: both take about as long. Without a "
               "preference use method: contact, which needs no stiffness.\n");
    } else {
        say(a, "use method: %s. It is %s times as fast.\n", name_of(a->use),
            two_digits(other->seconds / use->seconds).text);
    }
    say(a, "Why: it needs %s times %s steps than method: %s, and each step takes %s times %s.\n",
        two_digits(fmax(more, 1.0 / more)).text, more > 1.0 ? "more" : "fewer",
        name_of(other_method(a->use)), two_digits(fmax(slower, 1.0 / slower)).text,
        slower > 1.0 ? "longer" : "less time");
}

/// Which stiffness would turn the advice around, and whether the present one is that of grains.
static void say_even(talus_advice* a)
{
    const char* unit = a->reduced_units ? "" : " N/m";
    say(a,
        "Soft particles are cheaper up to a stiffness of %.2g%s, where they overlap by about %s %% "
        "of a diameter; here it is %.2g%s and %s %%.\n",
        a->even_stiffness, unit, two_digits(100 * a->even_overlap).text, a->stiffness, unit,
        two_digits(100 * a->overlap).text);
    if (a->overlap > DEEP) {
        say(a, "But grains as soft as these are hardly grains any more, and stiffer ones take "
               "longer.\n");
    } else if (a->even_overlap > DEEP) {
        say(a, "Grains as soft as that would hardly be grains any more.\n");
    }
}

/// Whether the trial had fewer grains than there will be.
static bool is_scaled(const talus_cost* c)
{
    return c->step_seconds * (double)c->trial_steps > 1.01 * c->trial_seconds;
}

/// What the trial saw of the scene.
static void say_trial(talus_advice* a)
{
    const talus_cost *contact = &a->cost[TALUS_METHOD_CONTACT], *soft = &a->cost[TALUS_METHOD_SOFT];
    const char* unit = a->reduced_units ? "" : " s";
    if (contact->trial_whole && soft->trial_whole) {
        say(a, "The trial went through the whole scene with both methods: these times are "
               "measured.\n");
    } else {
        say(a,
            "The trial covered the beginning of the scene, up to t = %.3g%s with the method "
            "contact "
            "and %.3g%s with the method soft. Later steps cost more if a packing settles and less "
            "if it falls apart, above all with the method contact.\n",
            contact->trial_time, unit, soft->trial_time, unit);
    }
    for (int m = 0; m < 2; m++) {
        if (!a->cost[m].reason[0]) continue;
        say(a, "The trial of the method %s was stopped early: %s\n", name_of((talus_method)m),
            a->cost[m].reason);
    }
    if (is_scaled(contact) || is_scaled(soft)) {
        say(a,
            "It had %s and %s grains on average; the times are scaled to the %s that there will "
            "be.\n",
            two_digits(contact->trial_grains).text, two_digits(soft->trial_grains).text,
            two_digits(a->grains).text);
    }
}

/// How long the scene is, where that is not plain.
static void say_length(talus_advice* a)
{
    if (a->per_second) {
        say(a,
            "Nothing but an energy ends the scene: steps and times are those of one simulated "
            "%s.\n",
            a->reduced_units ? "unit of time" : "second");
    } else if (a->unknown_phases > 0) {
        say(a, "%d phase%s that only an energy ends %s left out.\n", a->unknown_phases,
            a->unknown_phases == 1 ? "" : "s", a->unknown_phases == 1 ? "is" : "are");
    } else if (a->at_most) {
        say(a,
            "The times are upper bounds: a phase may end earlier, when its energy has fallen.\n");
    }
}

void advise_words(talus_advice* a)
{
    a->words[0] = '\0';
    const talus_method other = other_method(a->use);
    if (a->cost[other].possible) {
        say_use(a);
        say_even(a);
        if (isfinite(a->ratio_papers)) {
            const bool agrees = (a->ratio_papers < 1.0) == (a->ratio < 1.0);
            say(a,
                "The estimate of Brendel, Unger and Wolf (1.37), T_CD/T_MD ~ %.2g, %s; it leaves "
                "out factors and counts N^(2/%d) = %s sweeps a step, where the trial made %s.\n",
                a->ratio_papers, agrees ? "points the same way" : "points the other way", a->dim,
                two_digits(a->papers_sweeps).text,
                two_digits(a->cost[TALUS_METHOD_CONTACT].sweeps).text);
        }
        say_trial(a);
        say_length(a);
        say(a, "Time is not everything. Take method: soft for elasticity, sound and forces that "
               "follow from deformation; a hundred times stiffer takes ten times as long. Take "
               "method: contact for rigid grains and for polyhedra.\n");
    } else {
        say(a, "use method: %s. The method %s cannot run this scene: %s\n", name_of(a->use),
            name_of(other), a->cost[other].reason);
        say_length(a);
    }
    if (a->use == TALUS_METHOD_CONTACT && a->tolerance[0]) say(a, "%s\n", a->tolerance);
    const size_t length = strlen(a->words);
    if (length > 0 && a->words[length - 1] == '\n') a->words[length - 1] = '\0';
}
