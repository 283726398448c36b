/// What the user of a steered run may have set in its world, as a text in checkpoints: gravity,
/// solver, drives of walls. Phases set the same, and are replayed when a run goes on; what its user
/// has set since is in no scene.
#ifndef TALUS_RUN_SETTINGS_H
#define TALUS_RUN_SETTINGS_H

#include "record/files.h"

#include <talus/world.h>

/// One line a setting. Numbers are hexadecimal, so that they come back to the last bit.
void settings_tell(const talus_world* world, text_buffer* out);
/// Make the settings of a world those of the text. To be done before its state is loaded, since
/// walls begin their drives anew.
talus_status settings_restore(talus_world* world, const char* text, talus_error* error);

#endif
