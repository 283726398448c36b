/// A copy of the physical state, to go back to when a step fails that cannot be undone.
#ifndef TALUS_SOFT_SNAPSHOT_H
#define TALUS_SOFT_SNAPSHOT_H

#include "detect/physical_state.h"

/// Zero it to begin.
typedef struct state_snapshot {
    char* data;
    int64_t capacity;    ///< bytes
    int64_t count[3];    ///< rows of grains, walls, contacts
    uint64_t columns[3]; ///< bits: which of their columns there are
    double time;
    int64_t step, next_id;
} state_snapshot;

/// Copy grains, walls (not what never changes about them), contacts and time.
talus_status snapshot_take(state_snapshot* s, physical_state* state);
/// Bring them back, as another revision. Nothing may have been added to the state since.
void snapshot_restore(const state_snapshot* s, physical_state* state);
void snapshot_free(state_snapshot* s);

#endif
