/// A copy of a world's state, to go back to when a step fails that cannot be undone.
#ifndef TALUS_WORLD_SNAPSHOT_H
#define TALUS_WORLD_SNAPSHOT_H

#include "world/world.h"

/// Copy grains, walls (not what never changes about them), contacts, time and totals into
/// w->snapshot.
talus_status snapshot_take(talus_world* w);
/// Bring them back. Nothing else may have been added to the world since.
void snapshot_restore(talus_world* w);
void snapshot_free(world_snapshot* s);

#endif
