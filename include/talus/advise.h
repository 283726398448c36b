/// Advice: which of the two methods is cheaper for a scene, by the estimate of Brendel, Unger and
/// Wolf (1.35 to 1.37) and by a short trial of both.
#ifndef TALUS_ADVISE_H
#define TALUS_ADVISE_H

#include <talus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Options of the advice. Fill with talus_advise_default(); pointers must outlive the call.
typedef struct talus_advise_def {
    talus_mark mark;         ///< set by talus_advise_default()
    const char* scene;       ///< path of the scene file
    const char* const* sets; ///< "key.path=value" overrides
    int set_count;
    int threads;    ///< 0: as the scene says
    double seconds; ///< processor seconds a thread for the trial of each method [default 1]
} talus_advise_def;

TALUS_DEFAULT(talus_advise_def, talus_advise_default);

/// What a method costs. Seconds are processor seconds per thread, which is wall-clock time on a
/// machine with nothing else to do.
typedef struct talus_cost {
    bool possible;        ///< the method can run this scene
    char reason[1024];    ///< why it cannot; or what ended its trial early; else empty
    double step;          ///< mean length of a step in the whole scene, s
    double steps;         ///< of the whole scene
    int64_t trial_steps;  ///< taken by the trial
    double trial_time;    ///< simulated by it, s
    double trial_seconds; ///< that it took
    double trial_grains;  ///< mean over its steps
    bool trial_whole;     ///< it went through the whole scene
    double sweeps;        ///< a step, in the trial; 0 for the method soft
    double step_seconds;  ///< of a step; scaled to all grains where inlets pour
    double seconds;       ///< of the whole scene
} talus_cost;

/// Numbers of a scene, costs of both methods, and what follows.
typedef struct talus_advice {
    int dim;
    int threads;
    bool reduced_units;       ///< the scene's numbers are not SI
    talus_method method;      ///< that the scene states
    double grains;            ///< N: free grains and those that inlets pour
    double radius;            ///< r: mean, m
    double mass;              ///< m: mean, kg
    double size;              ///< L/d: longest extent of the grains in mean diameters
    double speed;             ///< v: largest relative speed to be expected, m/s
    const char* speed_of;     ///< what moves so fast; static text
    double stiffness;         ///< K of the soft particles, N/m; 0: not known
    bool stiffness_chosen;    ///< by the program, since the materials give none
    const char* stiffness_of; ///< the load that decided or would have; static text
    double overlap;           ///< that these springs allow, in mean diameters
    double papers_sweeps;     ///< N_I = N^(2/d) of the papers' solver (BUW 1.34)
    double ratio_papers;      ///< T_CD/T_MD ~ N^(2/d) sqrt(m v^2/(K r^2)) (BUW 1.37); NaN: no K
    double ratio_talus;       ///< the same with L/d instead of N^(2/d)
    double duration;          ///< simulated time of the scene as compared, s
    bool at_most;             ///< a phase may end earlier
    int unknown_phases;       ///< that only an energy ends; they are left out
    bool per_second;          ///< all are such: steps and seconds are those of one simulated second
    talus_cost cost[2];       ///< by talus_method
    double ratio;          ///< seconds contact/seconds soft, from the trial; 0: nothing to compare
    double even_stiffness; ///< with which both would take as long, N/m
    double even_overlap;   ///< about what these springs would allow, in mean diameters
    talus_method use;      ///< the advice
    bool close;            ///< the costs differ by less than a factor of two
    char words[4096];      ///< the advice with its reasons, one thought a line
    char tolerance[512];   ///< method contact: what other tolerances of the solver would cost after
                           ///< the trial, and which to take; empty: not known
} talus_advice;

/// Estimate both methods and try them. Nothing is written. On TALUS_ERR_SCENE *report lists every
/// mistake. It is not a failure if the method that the scene does not state cannot run it.
TALUS_API talus_status talus_advise(const talus_advise_def* def, talus_advice* out,
                                    talus_report* report, talus_error* error);

#ifdef __cplusplus
}
#endif
#endif
