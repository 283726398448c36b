/// Copies of a world, to continue from one state in several ways.
#ifndef TALUS_PAPER_COPY_H
#define TALUS_PAPER_COPY_H

#include "paper.h"

/// Copy the state of a world of balls with one material into a new world with other options: take
/// those of talus_world_options() and change the solver or the method. Grains come with their
/// velocities (none may be glued to a wall); walls stand where they are and are fixed
/// (talus_world_set_drive() moves them again); contact forces begin at zero. `law` is that of the
/// material. The caller owns *out.
talus_status copy_world(paper* p, const talus_world* from, const talus_world_def* options,
                        const talus_pair_def* law, talus_world** out);
/// The same, with walls of a material of their own and `wall_law` between them and the grains.
talus_status copy_world_walls(paper* p, const talus_world* from, const talus_world_def* options,
                              const talus_pair_def* law, const talus_pair_def* wall_law,
                              talus_world** out);

#endif
