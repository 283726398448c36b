/// Taking overlaps apart after a step, without touching any velocity.
///
/// The law g+ forbids that gaps close, but lets an overlap be that has come about: from a solve
/// that was not exact, from an impact that ended the motion that curvature.h had counted on, from
/// grains that were placed so. Pushing them out by forces would throw them. Here bodies are only
/// moved: of all displacements that leave no overlap, nearly the one that is least in the metric of
/// the masses (the projection on what is allowed), found by Gauss-Seidel on the contacts concerned.
/// Energy of motion does not change. Energy of weight comes back that the sinking had taken.
///
/// Overlaps up to OVERLAP_ALLOWED are left alone, so a packing at rest keeps its bits. Nobody is
/// moved farther than contacts were looked for (contact_dynamics_room()). Grains that bonds join
/// are moved together, without a turn; those that are bonded to a wall, too, stay where they are.
#ifndef TALUS_RIGID_SEPARATE_H
#define TALUS_RIGID_SEPARATE_H

#include "detect/physical_state.h"
#include "rigid/contact_dynamics.h"

/// Part of the thickness of the thinner body. Flows solved to 10 % have overlaps of 1e-5 in the
/// mean and 1e-3 at most without this pass, packings at rest some 1e-7.
#define OVERLAP_ALLOWED 1e-4

typedef struct separation_group separation_group;

/// Memory that is kept from step to step. All zero at first.
typedef struct separation_work {
    struct push* push; ///< contacts that are looked at
    double* gap;       ///< [pushes] after the pass
    int64_t push_capacity;
    struct push_block* block; ///< pieces of them
    int32_t* turn;            ///< [blocks] colour by colour
    int64_t block_capacity;
    uint8_t* listed; ///< [contacts] it is among them
    int32_t* chosen; ///< [contacts] those of a round, chunk by chunk
    int64_t contact_capacity;
    uint8_t* touched;        ///< [bodies: grains, then walls] it was moved, and has the five below:
    double* moved;           ///< [bodies][6] displacement, then turn as the w of a problem's row
    double* room;            ///< [bodies] how far it may still go
    int64_t* moved_at;       ///< [bodies] turn in which it was moved last
    uint64_t* colours;       ///< [bodies] those of the blocks with its pushes
    int32_t* touched_row;    ///< those that were moved
    int32_t* leader_moved;   ///< [bodies] tree of those that were moved together (base/forest.h)
    separation_group* group; ///< [bodies] of a leader: what was done to them
    int64_t body_capacity;
    int32_t* leader;      ///< [bodies] lowest number of those that bonds join to it
    int32_t* members;     ///< [bodies] of a leader: how many they are
    double* inverse_mass; ///< [bodies] of a leader: of all together, 0: they cannot be moved
    double* least_room;   ///< [bodies] of a leader: the least room of them
    int64_t bond_capacity;
} separation_work;

void separation_free(separation_work* s);

/// Thickness of the thinner one of a contact's bodies; walls do not count.
double overlap_thickness(const grains* g, const contacts* list, int64_t c);

/// Take the overlaps of the state's contacts apart after the step that `method` has just accepted.
/// *separated: bodies were moved, and the solids' poses are to be made anew. Where there are many
/// pushes threads share them, with the same bits for any number of threads.
talus_status separate_overlaps(separation_work* s, physical_state* state,
                               const contact_dynamics* method, int threads, bool* separated);

#endif
