/// What a scene's grains will feel, estimated before the first step: loads, speeds, and how stiff
/// springs must be to bear them.
#ifndef TALUS_SCENE_ESTIMATE_H
#define TALUS_SCENE_ESTIMATE_H

#include <talus/scene.h>

/// What decided the stiffness.
typedef enum estimate_reason {
    ESTIMATE_NOTHING = 0, ///< no load and no speed is known
    ESTIMATE_WEIGHT,
    ESTIMATE_WALLS,
    ESTIMATE_FORCES,
    ESTIMATE_COHESION,
    ESTIMATE_IMPACTS,
} estimate_reason;

/// Typical numbers of a scene (BUW 1.35-1.37: n, v, K, m, r, L/d).
typedef struct scene_estimate {
    double grains;        ///< n: free grains, and those that the inlets pour where that is known
    double radius;        ///< r, mean, of the balls as large as the grains, m
    double mass;          ///< m, mean, kg
    double size;          ///< L/d: longest extent of the grains and inlets in mean diameters
    double speed;         ///< v: largest relative speed to be expected, m/s
    const char* speed_of; ///< what moves so fast; static text
    double force;         ///< mean force that lasts on the contacts that bear most, N
    double impact_speed; ///< at which a single impact would give way as far as all do at worst, m/s
    const char* impact_of; ///< where most of it comes from; static text
    double impact_mass; ///< that stops in one contact then: of the largest grain, or of many that
                        ///< stick together, kg
    double stiffness;   ///< K: linear springs that give way by `overlap` diameters, N/m
    estimate_reason reason;
} scene_estimate;

/// How far springs of stiffness K give way under the loads and impacts of a scene, at most.
double scene_estimate_depth(const scene_estimate* e, double stiffness);

/// Estimate from a scene and its world, of which grains and walls must be as at the start.
/// `overlap` is the largest one allowed, in mean diameters.
talus_status scene_estimate_make(const talus_scene* scene, const talus_world* world, double overlap,
                                 scene_estimate* out, talus_error* error);
/// "weight of the column of grains" and so on; static text.
const char* estimate_reason_words(estimate_reason reason);

#endif
