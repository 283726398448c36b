/// The energy budget of rigid grains: what walls put in, what contacts dissipated.
#ifndef TALUS_APP_BUDGET_H
#define TALUS_APP_BUDGET_H

#include "app.h"

/// The state of a wall that its work follows from.
typedef struct budget_wall {
    bool mobile; ///< its velocity is changed by contacts
    double force[3], position[3], velocity[3];
    const double *force_row[3], *position_row[3]; ///< columns of the series; NULL: it has none
} budget_wall;

/// A budget from one frame on, kept while frames go by.
typedef struct budget {
    const talus_series* series;
    const double *step_row, *length_row; ///< columns of the series; NULL: there are none
    int64_t row;                         ///< the next one of the series
    int64_t step;                        ///< of the frame that the budget has come to
    int dim, wall_count;
    budget_wall* wall;
    int64_t grain_count, last_grain; ///< of the first frame
    double gravity[3];               ///< likewise
    talus_energy begin;
    double kinetic, potential; ///< changes since the first frame, J
    int64_t most_steps;        ///< largest number of steps whose forces were taken as linear
    double wall_work;          ///< of all walls on the grains, J; NaN: not known
    double dissipated;         ///< wall_work - kinetic - potential, J; NaN: not known
} budget;

/// Begin at a frame. `series` must outlive the budget; NULL: there is none, and walls' work is not
/// known. Ends with budget_end(), after a failure too.
talus_status budget_begin(budget* b, const talus_series* series, const talus_world* world,
                          talus_error* error);
/// Go on to a later frame.
talus_status budget_advance(budget* b, const talus_world* world, talus_error* error);
void budget_end(budget* b);

#endif
