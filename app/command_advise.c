/// talus advise SCENE: what both methods would cost, and which to use.
#include "app.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>

typedef struct advise_options {
    talus_advise_def def;
    option_sets sets;
    bool json;
    const char* scene;
} advise_options;

static const char* const method_names[] = {"contact", "soft"};

static const option_row options[] = {
    {.name = "seconds",
     .value = "S",
     .meaning = "processor time of each trial, per thread",
     .otherwise = "1",
     .type = OPTION_NUMBER,
     .place = offsetof(advise_options, def.seconds)},
    {.name = "threads",
     .value = "N",
     .meaning = "threads to use",
     .otherwise = "as the scene says",
     .type = OPTION_COUNT,
     .place = offsetof(advise_options, def.threads),
     .low = 1},
    OPTION_ROW_SET(advise_options),
    {.name = "json",
     .meaning = "print one JSON object on standard output",
     .type = OPTION_FLAG,
     .place = offsetof(advise_options, json)},
    {0},
};

// ---- for people --------------------------------------------------------------------------------

/// "0.16 ms", "42 s", "4.8 h", "3.1 years".
static void format_seconds(double seconds, char* out, size_t size)
{
    static const struct {
        double unit;
        const char* name;
    } units[] = {{365.25 * 86400, "years"},
                 {86400, "days"},
                 {3600, "h"},
                 {60, "min"},
                 {1, "s"},
                 {1e-3, "ms"},
                 {0, "us"}};
    int i = 0;
    while (seconds < (i < 4 ? 2 : 1) * units[i].unit) i++;
    const double value = seconds / fmax(units[i].unit, 1e-6);
    snprintf(out, size, value < 99.5 ? "%.2g %s" : "%.0f %s", value, units[i].name);
}

static void print_advice(const char* path, const talus_advice* a)
{
    const char* unit = a->reduced_units ? "" : " s";
    printf("%s: ", path);
    if (a->per_second)
        printf("of unknown length");
    else
        printf("%.4g%s%s", a->duration, unit, a->at_most ? " at most" : "");
    printf(", written for method: %s, %d thread%s\n\n", method_names[a->method], a->threads,
           a->threads == 1 ? "" : "s");
    const bool si = !a->reduced_units;
    printf("  grains N               %.6g, in %dD\n", a->grains, a->dim);
    printf("  mean radius r          %.3g%s\n", a->radius, si ? " m" : "");
    printf("  mean mass m            %.3g%s\n", a->mass, si ? " kg" : "");
    printf("  extent L/d             %.3g diameters\n", a->size);
    printf("  largest speed v        %.3g%s, of %s\n", a->speed, si ? " m/s" : "",
           a->speed > 0 ? a->speed_of : "nothing that is known");
    printf("  stiffness K            %.3g%s, %s: overlaps of %.3g %% of a diameter (%s)\n",
           a->stiffness, si ? " N/m" : "", a->stiffness_chosen ? "chosen" : "as the scene says",
           100 * a->overlap, a->stiffness_of);
    printf("  T_CD/T_MD, BUW 1.37    %.2g = N^(2/%d) sqrt(m v^2/(K r^2)), N^(2/%d) = %.0f\n",
           a->ratio_papers, a->dim, a->dim, a->papers_sweeps);
    printf("  the same with L/d      %.2g: Talus needs about L/d sweeps a step or fewer\n\n",
           a->ratio_talus);
    printf("  method          step        steps     one step   %s   tried\n",
           a->per_second ? "  1 s of it" : "whole scene");
    for (int m = 0; m < 2; m++) {
        const talus_cost* c = &a->cost[m];
        if (!c->possible) {
            printf("  %-8s cannot run this scene\n", method_names[m]);
            continue;
        }
        char each[32], all[32], steps[32];
        format_seconds(c->step_seconds, each, sizeof each);
        format_seconds(c->seconds, all, sizeof all);
        snprintf(steps, sizeof steps, c->steps < 1e6 ? "%.0f" : "%.2g", c->steps);
        printf("  %-8s %9.3g%s %12s %12s  %12s   %lld steps\n", method_names[m], c->step,
               a->reduced_units ? "  " : " s", steps, each, all, (long long)c->trial_steps);
    }
    printf("\n");
    print_verdict(stdout, a->words);
}

// ---- for programs ------------------------------------------------------------------------------

static void write_cost(json* j, const char* name, const talus_cost* c)
{
    json_object(j, name);
    json_bool(j, "possible", c->possible);
    if (c->reason[0]) json_string(j, "reason", c->reason);
    if (c->possible) {
        json_number(j, "step", c->step);
        json_number(j, "steps", c->steps);
        json_number(j, "step_seconds", c->step_seconds);
        json_number(j, "seconds", c->seconds);
        json_integer(j, "trial_steps", c->trial_steps);
        json_number(j, "trial_time", c->trial_time);
        json_number(j, "trial_seconds", c->trial_seconds);
        json_number(j, "trial_grains", c->trial_grains);
        json_bool(j, "trial_whole", c->trial_whole);
        json_number(j, "sweeps", c->sweeps);
    }
    json_object_end(j);
}

static void write_json(const char* path, const talus_advice* a)
{
    json j = json_begin(stdout);
    json_string(&j, "scene", path);
    json_string(&j, "method", method_names[a->method]);
    json_string(&j, "units", a->reduced_units ? "reduced" : "si");
    json_integer(&j, "threads", a->threads);
    json_integer(&j, "dimension", a->dim);
    json_number(&j, "grains", a->grains);
    json_number(&j, "radius", a->radius);
    json_number(&j, "mass", a->mass);
    json_number(&j, "size", a->size);
    json_number(&j, "speed", a->speed);
    json_string(&j, "speed_of", a->speed_of);
    json_number(&j, "stiffness", a->stiffness);
    json_bool(&j, "stiffness_chosen", a->stiffness_chosen);
    json_string(&j, "stiffness_of", a->stiffness_of);
    json_number(&j, "overlap", a->overlap);
    json_number(&j, "papers_sweeps", a->papers_sweeps);
    json_number(&j, "ratio_papers", a->ratio_papers);
    json_number(&j, "ratio_talus", a->ratio_talus);
    json_number(&j, "duration", a->duration);
    json_bool(&j, "at_most", a->at_most);
    json_integer(&j, "unknown_phases", a->unknown_phases);
    json_bool(&j, "per_second", a->per_second);
    for (int m = 0; m < 2; m++) write_cost(&j, method_names[m], &a->cost[m]);
    if (a->ratio > 0) {
        json_number(&j, "ratio", a->ratio);
        json_number(&j, "even_stiffness", a->even_stiffness);
        json_number(&j, "even_overlap", a->even_overlap);
    }
    json_string(&j, "use", method_names[a->use]);
    json_bool(&j, "close", a->close);
    json_string(&j, "advice", a->words);
    json_end(&j);
}

// ---- the command -------------------------------------------------------------------------------

static int advise(int argc, char** argv)
{
    advise_options o = {.def = talus_advise_default()};
    talus_advice advice;
    talus_report report = {0};
    talus_error error = {0};
    char path[PATH_SIZE];
    int status = options_read(&command_advise, argc, argv, &o);
    if (status == OPTIONS_GOOD && !locate_scene(o.scene, path)) status = STATUS_USAGE;
    if (status == OPTIONS_GOOD) {
        o.def.scene = path;
        o.def.sets = o.sets.items;
        o.def.set_count = o.sets.count;
        const talus_status outcome = talus_advise(&o.def, &advice, &report, &error);
        if (outcome < 0)
            print_problems(&report, &error);
        else if (o.json)
            write_json(path, &advice);
        else
            print_advice(path, &advice);
        status = outcome >= 0                                             ? STATUS_OK
                 : outcome == TALUS_ERR_NUMERIC                           ? STATUS_NUMERIC
                 : outcome == TALUS_ERR_IO || outcome == TALUS_ERR_MEMORY ? STATUS_FAILURE
                                                                          : STATUS_SCENE;
    }
    talus_report_clear(&report);
    free(o.sets.items);
    return status;
}

const command command_advise = {
    .name = "advise",
    .usage = "advise SCENE [--seconds S] [--set key.path=value]... [options]",
    .summary = "find out which method, step and tolerance suit a scene",
    .about = "Estimates the cost of method: contact and of method: soft (Brendel, Unger and Wolf, "
             "1.37),\n"
             "tries both from the beginning of the scene for a short time, and says which to use "
             "and why.\n"
             "Writes nothing.\n",
    .options = options,
    .examples = "  talus advise hopper\n"
                "  talus advise my-scene.yaml --seconds 10\n",
    .first = {.what = "a scene", .kind = &value_scene, .place = offsetof(advise_options, scene)},
    .function = advise,
};
