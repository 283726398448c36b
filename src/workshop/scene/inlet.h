/// Inlets: grains poured through a box at a rate, step by step.
///
/// Every grain's size is fixed by its number and every spot by the number of the draw, so a restart
/// from inlet_state gives the same bits. A grain that finds no free spot stays owed, with its size
/// (dropping it would favour small grains).
#ifndef TALUS_SCENE_INLET_H
#define TALUS_SCENE_INLET_H

#include "scene/generate.h"
#include "scene/scene.h"

/// An inlet. Fill with inlet_default().
typedef struct inlet_def {
    double low[3], high[3]; ///< the grains appear in this box with their whole body
    double rate;            ///< grains/s, or kg/s when by_mass
    bool by_mass;           ///< [default false]
    int64_t limit;          ///< grains in all, -1: no limit [default -1]
    int64_t tries;          ///< random spots tried for a grain in a step [default 200]
    sizes_def sizes;
    shape_choice shape;    ///< [default balls]
    talus_grain_def grain; ///< all but radius and position: velocity, density, material, tag
} inlet_def;

inlet_def inlet_default(void);

/// An inlet made ready.
typedef struct inlet inlet;

/// Check `def` and make it ready; the caller ends *out with inlet_destroy(). The context is copied
/// except allowed and allowed_user, which inlet_pour() is given anew.
talus_status inlet_create(const inlet_def* def, const generate_context* context, inlet** out,
                          talus_error* error);
void inlet_destroy(inlet* in);

/// Outcome of one call of inlet_pour().
typedef struct inlet_report {
    int64_t due; ///< grains that came due and were tried
    int64_t placed;
    bool blocked;     ///< a due grain found no free spot
    char reason[160]; ///< a sentence when blocked, else empty
} inlet_report;

/// Place the grains due in a step of length h: append them to `out` (which the caller empties) and
/// update *state, whose `owed` is in grains, or in kg when by_mass. `positions` [n][dim] and
/// `radii` [n] are the grains in the world; one linear pass picks those near the inlet, all further
/// tests are among these. `allowed` may be NULL. *report may be NULL.
talus_status inlet_pour(const inlet* in, double h, const double* positions, const double* radii,
                        int64_t n, generate_allowed_fn* allowed, const void* allowed_user,
                        inlet_state* state, grain_list* out, inlet_report* report,
                        talus_error* error);

#endif
