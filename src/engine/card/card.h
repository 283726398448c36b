/// A graphics card of NVIDIA, through the driver that is on the machine.
///
/// The driver's library is opened when a card is asked for (driver.h), so the program is built and
/// runs without any of its software. Work is queued on one stream: copies and kernels are done in
/// the order of the calls, while the caller goes on. Only card_get(), card_wait() and growing
/// memory wait for it.
///
///     card* c = NULL;
///     TRY(card_open(0, &c, error));
///     card_buffer x = {0};
///     card_kernel* axpy = card_find(c, "card_sums", "card_axpy");
///     card_renew(c, &x, count * sizeof(double));
///     card_put(c, &x, 0, host, count * sizeof(double));
///     axpy_job job = {.count = count, .x = x.at};
///     card_launch(c, axpy, card_grid_of(count, 256), &job);
///     card_get(c, host, &x, 0, count * sizeof(double));
///     TRY(card_wait(c, error));
///
/// An error sticks: after it every call does nothing and returns the same status until the card is
/// closed, and card_wait() or card_state() say what it was. So a caller may queue a whole step and
/// ask once. A step that failed has left the host's memory as it was, if the caller writes its
/// state only after card_wait() has returned TALUS_OK; then the CPU can do it again.
///
/// A card may be used by one thread at a time, whichever it is.
#ifndef TALUS_CARD_CARD_H
#define TALUS_CARD_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talus/base.h>

typedef struct card card;
typedef struct card_kernel card_kernel;

// ---- the card ----------------------------------------------------------------------------------

/// What a card is, for messages and to decide what is worth its while.
typedef struct card_facts {
    int index;           ///< the number that it was opened with
    char name[128];      ///< "NVIDIA H200"
    int major, minor;    ///< compute capability
    int driver;          ///< 12040: the driver is one of CUDA 12.4
    size_t memory;       ///< bytes in all
    size_t free;         ///< bytes free when it was opened
    int processors;      ///< multiprocessors
    int clock;           ///< kHz
    int memory_clock;    ///< kHz
    int bus_width;       ///< bits
    size_t block_shared; ///< bytes of shared memory that a block can ask for
} card_facts;

/// Whether this program was built with kernels for cards at all.
bool card_built_in(void);
/// How many cards the machine has; 0 with the reason in *error if none can be used.
int card_count(talus_error* error);

/// Open card number `index`, counted from 0 as the driver does. A failure is a TALUS_ERR_DEVICE
/// with a sentence that says what to do.
talus_status card_open(int index, card** out, talus_error* error);
/// Give everything back, also that of a card that has failed: buffers, pinned memory and kernels
/// that are still there are gone with it. NULL is allowed.
void card_close(card* c);
const card_facts* card_facts_of(const card* c);
/// Bytes that are free now; 0 after an error.
size_t card_free_memory(card* c);

/// Threads that copy between the caller's memory and pinned memory; 1 until it is called.
void card_use_threads(card* c, int threads);

/// Wait until all that was queued is done. The error of any call since the card was opened.
talus_status card_wait(card* c, talus_error* error);
/// The error that the card is stuck with, without waiting.
talus_status card_state(const card* c, talus_error* error);

// ---- memory ------------------------------------------------------------------------------------

/// Memory on the card. Begins as {0}. `at` goes into the job of a kernel; the host cannot follow
/// it.
typedef struct card_buffer {
    void* at;
    size_t capacity; ///< bytes
} card_buffer;

/// Room for so many bytes, as arrays_renew() and arrays_grow() make it (base/array.h): the contents
/// are lost, with an eighth to spare, or kept, with half as much again to spare. Where that much is
/// not free, there is just enough. Both wait for the card if they have to make new room.
talus_status card_renew(card* c, card_buffer* buffer, size_t bytes);
talus_status card_grow(card* c, card_buffer* buffer, size_t bytes);
void card_free(card* c, card_buffer* buffer);

/// Copy to the card, at `offset` bytes in the buffer. The caller's memory may change when it
/// returns.
talus_status card_put(card* c, const card_buffer* to, size_t offset, const void* from,
                      size_t bytes);
/// Copy from the card; waits until it is there. After an error nothing is written that counts.
talus_status card_get(card* c, void* to, const card_buffer* from, size_t offset, size_t bytes);
/// Fill with zeros.
talus_status card_zero(card* c, const card_buffer* buffer, size_t offset, size_t bytes);
/// Copy from one buffer to another, or within one if the ranges do not overlap.
talus_status card_copy(card* c, const card_buffer* to, size_t to_offset, const card_buffer* from,
                       size_t from_offset, size_t bytes);

/// Memory of the host that the card reads and writes by itself. Begins as {0}.
typedef struct card_pinned {
    void* at;
    size_t capacity; ///< bytes
} card_pinned;

/// Room for so many bytes; the contents are lost if it has to be made anew.
talus_status card_pin(card* c, card_pinned* memory, size_t bytes);
void card_unpin(card* c, card_pinned* memory);
/// Copy without waiting: what is in `to` counts after card_wait(), and `from` may change only then.
talus_status card_fetch(card* c, card_pinned* to, size_t to_offset, const card_buffer* from,
                        size_t offset, size_t bytes);
talus_status card_send(card* c, const card_buffer* to, size_t offset, const card_pinned* from,
                       size_t from_offset, size_t bytes);

// ---- kernels -----------------------------------------------------------------------------------

/// How many blocks of how many threads, and the dynamic shared memory of a block.
typedef struct card_grid {
    int64_t blocks;
    int threads;
    size_t shared;
} card_grid;

/// As many blocks as `count` threads need.
static inline card_grid card_grid_of(int64_t count, int threads)
{
    return (card_grid){.blocks = (count + threads - 1) / threads, .threads = threads};
}

/// The kernel `name` of a source of device code: "card_sums" is src/engine/card/card_sums.cu. The
/// module is loaded on first use, and belongs to the card. NULL after an error.
card_kernel* card_find(card* c, const char* module, const char* name);
/// Allow blocks of this kernel so much dynamic shared memory; only for more than 48 KiB.
talus_status card_allow_shared(card* c, card_kernel* kernel, size_t bytes);
/// Blocks of this kernel that fit on the whole card at once; 0 after an error.
int card_resident_blocks(card* c, card_kernel* kernel, int threads, size_t shared);
/// Queue a kernel. `job` is the one struct that kernels take (phases.h); it is copied. A grid
/// without blocks does nothing.
talus_status card_launch(card* c, card_kernel* kernel, card_grid grid, const void* job);

// ---- time --------------------------------------------------------------------------------------

/// Seconds between two places in the queue, by the card's own clock.
void card_clock_start(card* c);
void card_clock_stop(card* c);
/// Waits until the card has come to the second; 0 after an error.
double card_clock_seconds(card* c);

/// What launches of a kernel took.
typedef struct card_kernel_time {
    const card_kernel* kernel;
    const char *module, *name;
    int64_t launches;
    double seconds;
} card_kernel_time;

/// Time each kernel by itself from now on, or no longer. The queue stands still after each of them
/// then, so a step takes longer.
void card_time_kernels(card* c, bool on);
/// The time of the next kernel that was launched meanwhile, of the first one if of->kernel is NULL;
/// false if there is no more.
bool card_next_time(const card* c, card_kernel_time* of);

#endif
