/// The parts of a step of a world, each in a file of its own.
#ifndef TALUS_WORLD_STEPS_H
#define TALUS_WORLD_STEPS_H

#include "world/world.h"

// ---- in general (step.c) -----------------------------------------------------------------------

/// A card has failed: shall the CPU do again what failed, and all that comes?
bool world_cpu_takes_over(talus_world* w, const talus_error* failure);
/// What every step of length h is told.
step_order world_order_step(talus_world* w, double h);

// ---- of rigid grains, which can be undone (step_rigid.c) ---------------------------------------

/// A whole step, in as many parts as it takes. If a card fails nothing has changed: neither the
/// state nor what decides how the step is made when it is made again.
talus_status world_step_rigid(talus_world* w, double h, talus_step_result* result,
                              talus_error* error);
/// How rigid a step was that is done.
talus_status world_conclude_rigid(talus_world* w, double h, talus_step_result* result,
                                  talus_error* error);

// ---- of soft particles, which cannot (step_soft.c) ---------------------------------------------

/// So many steps; *deepest is the largest overlap of all.
/// When one fails all are taken back, and those before it are done again: they give the same bits.
talus_status world_steps_soft(talus_world* w, double h, int64_t count, talus_step_result* result,
                              double* deepest, talus_error* error);

// ---- what came of it (step_outcome.c) ----------------------------------------------------------

static const talus_step_result OUTCOME_NONE = {
    .converged = true,
    .nan_grain = -1,
    .escaped_grain = -1,
    .rigidity = {.cluster_grain = -1, .worst_grain = -1}};

/// What to do with an attempt, and the sentence to say if the step fails.
talus_policy outcome_judge(const talus_world* w, const step_outcome* o, double h,
                           talus_step_result* result, char* why, size_t why_size);
/// Count a step that would carry solids into others: it is cut, or cannot be cut any more.
void outcome_note_passage(talus_world* w, const step_order* order, const step_passage* p);
/// Add an attempt to the result of its step.
void outcome_add(const talus_world* w, const step_outcome* o, talus_step_result* result);
/// Go on from a step that was done: the time, and the grains that the user wants removed.
talus_status outcome_go_on(talus_world* w, const step_order* order, const step_outcome* o,
                           talus_step_result* result, talus_error* error);
/// Note how short a part of a step should have been that was far too long.
void outcome_note_coarse(talus_totals* t, const step_outcome* o, double h);
/// Note how short a part of a step of a flow should have been that ended without meeting its rule
/// and was too long for the pressure between the grains.
talus_status outcome_note_unmet(talus_world* w, const step_outcome* o, double h);
/// Count a step by what it is certified to.
void outcome_count_certificate(talus_totals* t, const talus_step_result* r);
/// Add a step to the totals of the run.
void outcome_add_to_totals(talus_totals* t, const talus_step_result* r);
/// What is told of every step.
void outcome_conclude(const talus_world* w, talus_step_result* result);

#endif
