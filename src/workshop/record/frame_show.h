/// A recorded frame put into a world.
#ifndef TALUS_RECORD_FRAME_SHOW_H
#define TALUS_RECORD_FRAME_SHOW_H

#include "record/frame_read.h"

#include <talus/world.h>

/// Let a world have the grains, walls and contacts of frame `index`. It must have the shapes,
/// materials and walls of the recorded one. What frames do not record is zero or follows from the
/// rest. After a failure the world has no grains and no contacts.
talus_status frame_show(const frame_reader* r, int64_t index, talus_world* world,
                        talus_error* error);

#endif
