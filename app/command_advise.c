/// talus advise SCENE: what both methods would cost, and which to use.
#include "app.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct advise_options {
    talus_advise_def def;
    option_values sets;
    bool json;
    char path[PATH_SIZE];
} advise_options;

static const char* const method_names[] = {"contact", "soft"};

// ---- command line ------------------------------------------------------------------------------

static bool read_option(advise_options* o, int choice, int argc)
{
    int64_t threads;
    switch (choice) {
    case 'j': return o->json = true;
    case 'n': return options_number("--seconds", optarg, &o->def.seconds);
    case 't':
        if (!options_integer("--threads", optarg, 1, &threads)) return false;
        o->def.threads = threads < INT32_MAX ? (int)threads : INT32_MAX;
        return true;
    case 's':
        if (strchr(optarg, '=')) return option_values_add(&o->sets, argc, optarg);
        fprintf(stderr, "talus: --set needs key.path=value, not '%s'\n", optarg);
        return false;
    default: return false;
    }
}

static bool read_options(advise_options* o, int argc, char** argv, int* status)
{
    static const struct option list[] = {
        {"seconds", required_argument, NULL, 'n'}, {"threads", required_argument, NULL, 't'},
        {"set", required_argument, NULL, 's'},     {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {0},
    };
    *status = STATUS_USAGE;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') {
            print_command_help(command_find("advise"));
            *status = STATUS_OK;
            return false;
        }
        if (!read_option(o, choice, argc)) return false;
    }
    const char* scene = options_single(argc, argv, "a scene");
    return scene && locate_scene(scene, o->path);
}

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

static void print_numbers(const talus_advice* a)
{
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
}

static void print_costs(const talus_advice* a)
{
    printf("  method          step        steps     one step   %s   tried\n",
           a->per_second ? "  1 s of it" : "whole scene");
    for (int m = 0; m < 2; m++) {
        const talus_cost* c = &a->cost[m];
        if (!c->possible) {
            printf("  %-8s cannot carry out this scene\n", method_names[m]);
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
    print_numbers(a);
    print_costs(a);
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

static int advise(advise_options* o)
{
    talus_advice advice;
    talus_report report = {0};
    talus_error error = {0};
    o->def.scene = o->path;
    o->def.sets = o->sets.items;
    o->def.set_count = o->sets.count;
    const talus_status status = talus_advise(&o->def, &advice, &report, &error);
    if (status < 0)
        print_problems(&report, &error);
    else if (o->json)
        write_json(o->path, &advice);
    else
        print_advice(o->path, &advice);
    talus_report_clear(&report);
    if (status >= 0) return STATUS_OK;
    return status == TALUS_ERR_NUMERIC                            ? STATUS_NUMERIC
           : status == TALUS_ERR_IO || status == TALUS_ERR_MEMORY ? STATUS_FAILURE
                                                                  : STATUS_SCENE;
}

int command_advise(int argc, char** argv)
{
    advise_options o = {.def = talus_advise_default()};
    int status;
    if (read_options(&o, argc, argv, &status)) status = advise(&o);
    free(o.sets.items);
    return status;
}
