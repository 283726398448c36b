/// Where the steps of a world are computed: on the CPU, or on a graphics card if the user wants it
/// and what the world needs can be done there. The bits are the same.
///
/// With `gpu` there has to be a card, and a card that fails ends the step with TALUS_ERR_DEVICE,
/// the world as before it (if parts of the step were done the CPU does the rest, and the next step
/// fails). With `auto` the CPU does what no card can, and goes on if one fails: an
/// attempt that failed has changed nothing and is made again. What cannot be done on a card runs on
/// the CPU with both, and says so.
#ifndef TALUS_WORLD_DEVICE_H
#define TALUS_WORLD_DEVICE_H

#include "base/log.h"
#include "card/card.h"
#include "card/choice.h"
#include "detect/physical_state.h"

typedef struct world_device {
    device_choice choice;
    char asked[16];    ///< the same in words
    card* open;        ///< the card; NULL: none was needed so far
    card* now;         ///< that does the present steps; NULL: the CPU
    int64_t least;     ///< grains from which on `auto` takes a card; 0: as the method says
    bool given_up;     ///< auto: there is none, or it has failed
    const char* left;  ///< why contacts of some steps were left to the CPU; NULL: none were
    char used[160];    ///< "cpu", "gpu:0 (NVIDIA H200)"
    char reason[2200]; ///< why that is so; empty: not decided yet
} world_device;

/// As the user says, from now on; NULL: the CPU. A card is opened by the next device_prepare().
talus_status device_set(world_device* d, const char* text, talus_error* error);
/// Open the card that was asked for by number or as `gpu`, so that an error comes before any work.
talus_status device_open(world_device* d, talus_error* error);
/// What a method says of a card.
typedef struct card_use {
    const char* why_not; ///< why no card can do its steps, in words; NULL: one can
    int64_t worth;       ///< grains from which on a card is faster than the CPU
} card_use;

/// Before steps: decide what does them. A change is told to the log.
talus_status device_prepare(world_device* d, const physical_state* state, card_use use,
                            const log_sink* log, talus_error* error);
/// The contacts of a step were left to the CPU, for this reason (static text): tell it once.
void device_shared(world_device* d, const char* why, const log_sink* log);
/// May the CPU take over from a card that has failed?
bool device_may_give_up(const world_device* d);
/// It does, because of this error; nobody has anything on the card any more.
void device_give_up(world_device* d, double time, const talus_error* failure, const log_sink* log);
/// Give the card back.
void device_close(world_device* d);

#endif
