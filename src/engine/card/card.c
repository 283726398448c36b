/// Large copies go through pinned memory: the driver copies from ordinary memory through a small
/// window of its own, several times slower, and makes the caller wait for the queue. A ring of
/// slots is filled by the CPU while the card reads those before.
#include "card/card.h"

#include "base/error.h"
#include "card/driver.h"
#include "card/modules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 4,
    LEAST_MAJOR = 7,   ///< compute capability that the kernels are made for (cmake/Card.cmake)
    SLOT_STEP = 64,    ///< copies in a slot begin at lines of the cache
    USUAL_SHARED = 48, ///< KiB of shared memory that a block may have without asking
    PIECES = 64,       ///< of a slot, that threads copy
};
static const size_t SLOT_BYTES = (size_t)4 << 20;
static const double GIGABYTE = 1e9;

/// A piece of pinned memory that copies of the caller's memory pass through.
typedef struct slot {
    char* at;
    size_t filled;
    driver_event left; ///< when the card has read or written what was put there last
    bool busy;         ///< `left` is in the queue
} slot;

typedef struct loaded_module {
    char* name;
    driver_module module;
} loaded_module;

struct card_kernel {
    char *module, *name;
    driver_function function;
    card_kernel_time time; ///< while kernels are timed
    card_kernel* next;
};

struct card {
    driver driver;
    card_facts facts;
    talus_error error; ///< the one that the card is stuck with
    driver_context context;
    driver_stream stream;
    driver_event begin, end; ///< of card_clock_seconds()
    slot slots[SLOTS];
    int slot; ///< that is being filled
    int threads;
    card_kernel* kernels;
    loaded_module* modules;
    int module_count;
    const char* last_kernel; ///< that was queued
    bool timing;             ///< kernels, one by one
};

// ---- failures ----------------------------------------------------------------------------------

/// What cards are called in messages: "the graphics card gpu:1 (NVIDIA H200)".
static const char* card_words(const card* c, char words[200])
{
    snprintf(words, 200, "the graphics card gpu:%d (%s)", c->facts.index, c->facts.name);
    return words;
}

/// Stay with the first failure.
static void fail(card* c, int result, const char* doing)
{
    char words[200], kernel[120] = "";
    if (c->error.status < 0) return;
    if (c->last_kernel) snprintf(kernel, sizeof kernel, ", after the kernel %s", c->last_kernel);
    error_set(&c->error, TALUS_ERR_DEVICE, "%s failed while %s%s. %s (%s)", card_words(c, words),
              doing, kernel, driver_result_meaning(result), driver_result_name(&c->driver, result));
}

static void check(card* c, int result, const char* doing)
{
    if (result != CUDA_SUCCESS) fail(c, result, doing);
}

/// Make the card the current one of this thread; false after an error.
static bool enter(card* c)
{
    if (c->error.status < 0) return false;
    check(c, c->driver.cuCtxPushCurrent_v2(c->context), "turning to it");
    return c->error.status >= 0;
}

static talus_status leave(card* c)
{
    driver_context own;
    check(c, c->driver.cuCtxPopCurrent_v2(&own), "turning away from it");
    return c->error.status;
}

static void wait_for_queue(card* c)
{
    check(c, c->driver.cuStreamSynchronize(c->stream), "doing what was queued");
}

talus_status card_state(const card* c, talus_error* error)
{
    if (c->error.status < 0 && error) *error = c->error;
    return c->error.status;
}

talus_status card_wait(card* c, talus_error* error)
{
    if (enter(c)) {
        wait_for_queue(c);
        leave(c);
    }
    return card_state(c, error);
}

// ---- opening -----------------------------------------------------------------------------------

bool card_built_in(void)
{
    return module_count() > 0;
}

static talus_status count_cards(const driver* d, int* count, talus_error* error)
{
    const int result = d->cuDeviceGetCount(count);
    if (result == CUDA_SUCCESS && *count > 0) return TALUS_OK;
    const int meant = result == CUDA_SUCCESS ? CUDA_ERROR_NO_DEVICE : result;
    *count = 0;
    return error_set(error, TALUS_ERR_DEVICE, "no graphics card can be used. %s (%s)",
                     driver_result_meaning(meant), driver_result_name(d, meant));
}

static talus_status open_driver(driver* d, int* count, talus_error* error)
{
    if (!card_built_in()) {
        return error_set(
            error, TALUS_ERR_DEVICE,
            "this build of Talus has no kernels for graphics cards: clang was not there "
            "when it was built. scripts/install-deps.sh gpu installs it; then build "
            "again");
    }
    TRY(driver_open(d, error));
    return count_cards(d, count, error);
}

int card_count(talus_error* error)
{
    driver d;
    int count = 0;
    return open_driver(&d, &count, error) == TALUS_OK ? count : 0;
}

/// "this machine has 2 cards: gpu:0 (NVIDIA H200) and gpu:1 (NVIDIA H200)"
static talus_status no_such_card(const driver* d, int index, int count, talus_error* error)
{
    char list[600] = "";
    for (int i = 0; i < count && i < 4; i++) {
        driver_device device;
        char name[100] = "";
        if (d->cuDeviceGet(&device, i) != CUDA_SUCCESS) continue;
        if (d->cuDeviceGetName(name, sizeof name, device) != CUDA_SUCCESS) continue;
        const size_t at = strlen(list);
        snprintf(list + at, sizeof list - at, "%s gpu:%d (%s)", i ? "," : ":", i, name);
    }
    return error_set(error, TALUS_ERR_DEVICE,
                     "there is no graphics card gpu:%d: this machine has %d card%s%s", index, count,
                     count == 1 ? "" : "s", list);
}

/// What may stay unknown; 0 then.
static int attribute(card* c, driver_device device, int number)
{
    int value = 0;
    if (c->driver.cuDeviceGetAttribute(&value, number, device) != CUDA_SUCCESS) return 0;
    return value;
}

static void ask_facts(card* c, driver_device device)
{
    card_facts* f = &c->facts;
    f->driver = c->driver.version;
    check(c, c->driver.cuDeviceTotalMem_v2(&f->memory, device), "being asked what it is");
    check(c, c->driver.cuDeviceGetAttribute(&f->major, DEVICE_CAPABILITY_MAJOR, device),
          "being asked what it is");
    check(c, c->driver.cuDeviceGetAttribute(&f->minor, DEVICE_CAPABILITY_MINOR, device),
          "being asked what it is");
    f->processors = attribute(c, device, DEVICE_MULTIPROCESSOR_COUNT);
    f->clock = attribute(c, device, DEVICE_CLOCK_RATE);
    f->memory_clock = attribute(c, device, DEVICE_MEMORY_CLOCK_RATE);
    f->bus_width = attribute(c, device, DEVICE_MEMORY_BUS_WIDTH);
    f->block_shared = (size_t)attribute(c, device, DEVICE_SHARED_PER_BLOCK_OPTIN);
}

/// Context, stream and events.
static void set_up(card* c, driver_device device)
{
    driver* d = &c->driver;
    check(c, d->cuCtxCreate_v2(&c->context, 0, device), "being opened");
    if (c->error.status < 0) {
        c->context = NULL;
        return;
    }
    check(c, d->cuMemGetInfo_v2(&c->facts.free, &c->facts.memory), "being asked for its memory");
    check(c, d->cuStreamCreate(&c->stream, STREAM_NON_BLOCKING), "being opened");
    check(c, d->cuEventCreate(&c->begin, EVENT_WITH_TIME), "being opened");
    check(c, d->cuEventCreate(&c->end, EVENT_WITH_TIME), "being opened");
    leave(c); // a context is current from its making on
}

static talus_status open_card(card* c, int index, talus_error* error)
{
    int count = 0;
    driver_device device;
    TRY(open_driver(&c->driver, &count, error));
    if (index < 0 || index >= count) return no_such_card(&c->driver, index, count, error);
    c->facts.index = index;
    strcpy(c->facts.name, "?");
    check(c, c->driver.cuDeviceGet(&device, index), "being looked for");
    TRY(card_state(c, error));
    check(c, c->driver.cuDeviceGetName(c->facts.name, sizeof c->facts.name, device),
          "being asked what it is");
    ask_facts(c, device);
    TRY(card_state(c, error));
    if (c->facts.major < LEAST_MAJOR) {
        char words[200];
        return error_set(
            error, TALUS_ERR_DEVICE,
            "%s is too old: its compute capability is %d.%d, and %d.0 is needed (Volta, "
            "2017)",
            card_words(c, words), c->facts.major, c->facts.minor, LEAST_MAJOR);
    }
    set_up(c, device);
    return card_state(c, error);
}

talus_status card_open(int index, card** out, talus_error* error)
{
    *out = NULL;
    card* c = calloc(1, sizeof *c);
    if (!c) return error_memory(error, "a graphics card");
    c->threads = 1;
    const talus_status status = open_card(c, index, error);
    if (status < 0) {
        card_close(c);
        return status;
    }
    *out = c;
    return TALUS_OK;
}

void card_close(card* c)
{
    if (!c) return;
    if (c->context) {
        for (int i = 0; i < SLOTS; i++) {
            if (c->slots[i].at) c->driver.cuMemFreeHost(c->slots[i].at);
        }
        c->driver.cuCtxDestroy_v2(c->context); // all else goes with it
    }
    while (c->kernels) {
        card_kernel* next = c->kernels->next;
        free(c->kernels->module);
        free(c->kernels->name);
        free(c->kernels);
        c->kernels = next;
    }
    for (int i = 0; i < c->module_count; i++) free(c->modules[i].name);
    free(c->modules);
    free(c);
}

const card_facts* card_facts_of(const card* c)
{
    return &c->facts;
}

size_t card_free_memory(card* c)
{
    size_t free_now = 0, all = 0;
    if (!enter(c)) return 0;
    check(c, c->driver.cuMemGetInfo_v2(&free_now, &all), "being asked for its memory");
    return leave(c) < 0 ? 0 : free_now;
}

void card_use_threads(card* c, int threads)
{
    c->threads = threads > 1 ? threads : 1;
}

// ---- memory ------------------------------------------------------------------------------------

static driver_address address(const card_buffer* buffer, size_t offset)
{
    return (driver_address)(uintptr_t)buffer->at + offset;
}

static void too_little_memory(card* c, size_t bytes)
{
    char words[200];
    size_t free_now = 0, all = c->facts.memory;
    c->driver.cuMemGetInfo_v2(&free_now, &all);
    error_set(
        &c->error, TALUS_ERR_DEVICE,
        "%s has too little memory: %.3g GB more are needed, and %.3g of %.3g GB are free. Use "
        "fewer grains, a card with more memory, or --device cpu",
        card_words(c, words), (double)bytes / GIGABYTE, (double)free_now / GIGABYTE,
        (double)all / GIGABYTE);
}

/// New memory of `wished` bytes, or of `needed` if there is not so much.
static card_buffer allocate(card* c, size_t wished, size_t needed)
{
    const size_t sizes[2] = {wished, needed};
    for (int i = 0; i < 2; i++) {
        driver_address at = 0;
        const int result = c->driver.cuMemAlloc_v2(&at, sizes[i]);
        if (result == CUDA_SUCCESS) return (card_buffer){(void*)(uintptr_t)at, sizes[i]};
        if (result != CUDA_ERROR_OUT_OF_MEMORY) {
            fail(c, result, "asking it for memory");
            return (card_buffer){0};
        }
    }
    too_little_memory(c, needed);
    return (card_buffer){0};
}

static void release(card* c, card_buffer* buffer)
{
    if (buffer->at) c->driver.cuMemFree_v2(address(buffer, 0)); // after an error it may fail, too
    *buffer = (card_buffer){0};
}

talus_status card_renew(card* c, card_buffer* buffer, size_t bytes)
{
    if (c->error.status < 0 || bytes <= buffer->capacity) return c->error.status;
    if (!enter(c)) return c->error.status;
    wait_for_queue(c);
    if (c->error.status >= 0) {
        release(c, buffer);
        *buffer = allocate(c, bytes + bytes / 8, bytes);
    }
    return leave(c);
}

talus_status card_grow(card* c, card_buffer* buffer, size_t bytes)
{
    if (c->error.status < 0 || bytes <= buffer->capacity) return c->error.status;
    if (!enter(c)) return c->error.status;
    card_buffer larger = allocate(c, bytes + bytes / 2, bytes);
    if (larger.at && buffer->at) {
        check(c,
              c->driver.cuMemcpyDtoDAsync_v2(address(&larger, 0), address(buffer, 0),
                                             buffer->capacity, c->stream),
              "copying within its memory");
        wait_for_queue(c);
    }
    if (larger.at) {
        release(c, buffer);
        *buffer = larger;
    }
    return leave(c);
}

void card_free(card* c, card_buffer* buffer)
{
    driver_context own;
    if (!buffer->at) return;
    if (c->driver.cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS) {
        c->driver.cuStreamSynchronize(c->stream);
        release(c, buffer);
        c->driver.cuCtxPopCurrent_v2(&own);
    }
    *buffer = (card_buffer){0};
}

talus_status card_pin(card* c, card_pinned* memory, size_t bytes)
{
    if (c->error.status < 0 || bytes <= memory->capacity) return c->error.status;
    card_unpin(c, memory);
    if (!enter(c)) return c->error.status;
    void* at = NULL;
    check(c, c->driver.cuMemHostAlloc(&at, bytes, 0), "asking for pinned memory of the machine");
    if (c->error.status >= 0) *memory = (card_pinned){at, bytes};
    return leave(c);
}

void card_unpin(card* c, card_pinned* memory)
{
    driver_context own;
    if (!memory->at) return;
    if (c->driver.cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS) {
        c->driver.cuStreamSynchronize(c->stream);
        c->driver.cuMemFreeHost(memory->at);
        c->driver.cuCtxPopCurrent_v2(&own);
    }
    *memory = (card_pinned){0};
}

// ---- copies ------------------------------------------------------------------------------------

/// memcpy() by several threads, which one alone does too slowly for a card.
static void copy_by_threads(const card* c, char* to, const char* from, size_t bytes)
{
    const size_t piece = (bytes + PIECES - 1) / PIECES;
    if (c->threads == 1 || bytes < SLOT_BYTES / 4) {
        memcpy(to, from, bytes);
        return;
    }
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int k = 0; k < PIECES; k++) {
        const size_t first = (size_t)k * piece;
        if (first >= bytes) continue;
        memcpy(to + first, from + first, bytes - first < piece ? bytes - first : piece);
    }
}

static void make_slots(card* c)
{
    for (int i = 0; i < SLOTS && c->error.status >= 0; i++) {
        slot* s = &c->slots[i];
        void* at = s->at;
        if (!at) {
            check(c, c->driver.cuMemHostAlloc(&at, SLOT_BYTES, 0),
                  "asking for pinned memory of the machine");
            s->at = at;
        }
        if (!s->left && c->error.status >= 0) {
            check(c, c->driver.cuEventCreate(&s->left, EVENT_DISABLE_TIMING), "being opened");
        }
    }
}

/// Everything in this slot is queued.
static void send_off(card* c, slot* s)
{
    check(c, c->driver.cuEventRecord(s->left, c->stream), "queueing a copy");
    s->busy = c->error.status >= 0;
}

static void wait_for_slot(card* c, slot* s)
{
    if (s->busy) check(c, c->driver.cuEventSynchronize(s->left), "doing what was queued");
    s->busy = false;
    s->filled = 0;
}

/// A slot with room, the present one or the next.
static slot* slot_with_room(card* c)
{
    if (c->slots[c->slot].filled == SLOT_BYTES) {
        send_off(c, &c->slots[c->slot]);
        c->slot = (c->slot + 1) % SLOTS;
        if (c->error.status >= 0) wait_for_slot(c, &c->slots[c->slot]);
    }
    return &c->slots[c->slot];
}

talus_status card_put(card* c, const card_buffer* to, size_t offset, const void* from, size_t bytes)
{
    assert(offset + bytes <= to->capacity || c->error.status < 0);
    const char* rest = from;
    if (bytes == 0 || !enter(c)) return c->error.status;
    make_slots(c);
    while (bytes > 0 && c->error.status >= 0) {
        slot* s = slot_with_room(c);
        const size_t room = SLOT_BYTES - s->filled, piece = bytes < room ? bytes : room;
        if (c->error.status < 0) break;
        copy_by_threads(c, s->at + s->filled, rest, piece);
        check(c,
              c->driver.cuMemcpyHtoDAsync_v2(address(to, offset), s->at + s->filled, piece,
                                             c->stream),
              "copying to it");
        s->filled += (piece + SLOT_STEP - 1) / SLOT_STEP * SLOT_STEP;
        rest += piece, offset += piece, bytes -= piece;
    }
    return leave(c);
}

/// Copies from the card: slot after slot is written by the card and emptied by the CPU, SLOTS of
/// them under way.
static void get_through_slots(card* c, char* to, driver_address from, size_t bytes)
{
    const size_t pieces = (bytes + SLOT_BYTES - 1) / SLOT_BYTES;
    for (size_t k = 0; k < pieces + SLOTS && c->error.status >= 0; k++) {
        slot* s = &c->slots[k % SLOTS];
        if (k >= SLOTS && k - SLOTS < pieces) {
            const size_t first = (k - SLOTS) * SLOT_BYTES, left = bytes - first;
            wait_for_slot(c, s);
            if (c->error.status < 0) return;
            copy_by_threads(c, to + first, s->at, left < SLOT_BYTES ? left : SLOT_BYTES);
        }
        if (k < pieces) {
            // What was put in this slot before has been read by then: the queue keeps the order.
            const size_t first = k * SLOT_BYTES, left = bytes - first;
            check(c,
                  c->driver.cuMemcpyDtoHAsync_v2(s->at, from + first,
                                                 left < SLOT_BYTES ? left : SLOT_BYTES, c->stream),
                  "copying from it");
            if (c->error.status >= 0) send_off(c, s);
        }
    }
}

talus_status card_get(card* c, void* to, const card_buffer* from, size_t offset, size_t bytes)
{
    assert(offset + bytes <= from->capacity || c->error.status < 0);
    if (bytes == 0 || !enter(c)) return c->error.status;
    make_slots(c);
    if (c->error.status >= 0) get_through_slots(c, to, address(from, offset), bytes);
    // The queue is empty now: all slots are free.
    for (int i = 0; i < SLOTS; i++) c->slots[i].busy = false, c->slots[i].filled = 0;
    c->slot = 0;
    return leave(c);
}

talus_status card_zero(card* c, const card_buffer* buffer, size_t offset, size_t bytes)
{
    assert(offset + bytes <= buffer->capacity || c->error.status < 0);
    if (bytes == 0 || !enter(c)) return c->error.status;
    check(c, c->driver.cuMemsetD8Async(address(buffer, offset), 0, bytes, c->stream),
          "clearing its memory");
    return leave(c);
}

talus_status card_copy(card* c, const card_buffer* to, size_t to_offset, const card_buffer* from,
                       size_t from_offset, size_t bytes)
{
    assert((to_offset + bytes <= to->capacity && from_offset + bytes <= from->capacity) ||
           c->error.status < 0);
    if (bytes == 0 || !enter(c)) return c->error.status;
    check(c,
          c->driver.cuMemcpyDtoDAsync_v2(address(to, to_offset), address(from, from_offset), bytes,
                                         c->stream),
          "copying within its memory");
    return leave(c);
}

talus_status card_fetch(card* c, card_pinned* to, size_t to_offset, const card_buffer* from,
                        size_t offset, size_t bytes)
{
    assert((to_offset + bytes <= to->capacity && offset + bytes <= from->capacity) ||
           c->error.status < 0);
    if (bytes == 0 || !enter(c)) return c->error.status;
    check(c,
          c->driver.cuMemcpyDtoHAsync_v2((char*)to->at + to_offset, address(from, offset), bytes,
                                         c->stream),
          "copying from it");
    return leave(c);
}

talus_status card_send(card* c, const card_buffer* to, size_t offset, const card_pinned* from,
                       size_t from_offset, size_t bytes)
{
    assert((from_offset + bytes <= from->capacity && offset + bytes <= to->capacity) ||
           c->error.status < 0);
    if (bytes == 0 || !enter(c)) return c->error.status;
    check(c,
          c->driver.cuMemcpyHtoDAsync_v2(address(to, offset), (const char*)from->at + from_offset,
                                         bytes, c->stream),
          "copying to it");
    return leave(c);
}

// ---- kernels -----------------------------------------------------------------------------------

static void no_memory(card* c)
{
    if (c->error.status >= 0) error_memory(&c->error, "the kernels of a graphics card");
}

/// Hand the text of a module to the driver, which makes code for the card of it.
static driver_module load_text(card* c, const char* name, const char* text)
{
    char log[500] = "", words[200];
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void* values[] = {log, (void*)(uintptr_t)sizeof log};
    driver_module module = NULL;
    const int result = c->driver.cuModuleLoadDataEx(&module, text, 2, options, values);
    if (result == CUDA_SUCCESS) return module;
    log[sizeof log - 1] = '\0';
    log[strcspn(log, "\n")] = '\0';
    error_set(&c->error, TALUS_ERR_DEVICE,
              "%s cannot load the kernels %s. %s (%s, driver of CUDA "
              "%d.%d%s%s)",
              card_words(c, words), name, driver_result_meaning(result),
              driver_result_name(&c->driver, result), c->driver.version / 1000,
              c->driver.version % 1000 / 10, log[0] ? "; it says: " : "", log);
    return NULL;
}

static driver_module module_of(card* c, const char* name)
{
    for (int i = 0; i < c->module_count; i++) {
        if (strcmp(c->modules[i].name, name) == 0) return c->modules[i].module;
    }
    const char* text = module_text(name);
    if (!text) {
        fail(c, CUDA_ERROR_NOT_FOUND, "looking for a module of kernels");
        return NULL;
    }
    loaded_module* more = realloc(c->modules, (size_t)(c->module_count + 1) * sizeof *more);
    if (more) c->modules = more;
    char* copy = more ? strdup(name) : NULL;
    if (!copy) {
        no_memory(c);
        return NULL;
    }
    driver_module module = load_text(c, name, text);
    if (module) {
        c->modules[c->module_count++] = (loaded_module){copy, module};
    } else {
        free(copy);
    }
    return module;
}

static card_kernel* add_kernel(card* c, const char* module, const char* name)
{
    char doing[200];
    driver_module from = module_of(c, module);
    card_kernel* kernel = from ? calloc(1, sizeof *kernel) : NULL;
    if (!from) return NULL;
    if (kernel) kernel->module = strdup(module), kernel->name = strdup(name);
    if (!kernel || !kernel->module || !kernel->name) {
        no_memory(c);
    } else {
        snprintf(doing, sizeof doing, "looking for the kernel %s of %s", name, module);
        check(c, c->driver.cuModuleGetFunction(&kernel->function, from, name), doing);
    }
    if (c->error.status >= 0) {
        kernel->next = c->kernels;
        c->kernels = kernel;
        return kernel;
    }
    if (kernel) free(kernel->module), free(kernel->name);
    free(kernel);
    return NULL;
}

card_kernel* card_find(card* c, const char* module, const char* name)
{
    for (card_kernel* k = c->kernels; k && c->error.status >= 0; k = k->next) {
        if (strcmp(k->module, module) == 0 && strcmp(k->name, name) == 0) return k;
    }
    if (!enter(c)) return NULL;
    card_kernel* kernel = add_kernel(c, module, name);
    return leave(c) < 0 ? NULL : kernel;
}

talus_status card_allow_shared(card* c, card_kernel* kernel, size_t bytes)
{
    if (bytes <= (size_t)USUAL_SHARED << 10 || !enter(c)) return c->error.status;
    check(c,
          c->driver.cuFuncSetAttribute(kernel->function, FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes),
          "asking for shared memory");
    return leave(c);
}

int card_resident_blocks(card* c, card_kernel* kernel, int threads, size_t shared)
{
    int blocks = 0;
    if (!enter(c)) return 0;
    check(c,
          c->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel->function, threads,
                                                                shared),
          "being asked how many blocks fit");
    return leave(c) < 0 ? 0 : blocks * c->facts.processors;
}

static void queue_kernel(card* c, card_kernel* kernel, card_grid grid, const void* job)
{
    void* parameters[] = {(void*)(uintptr_t)job}; // the driver copies it and changes nothing
    const int result = c->driver.cuLaunchKernel(kernel->function, (unsigned)grid.blocks, 1, 1,
                                                (unsigned)grid.threads, 1, 1, (unsigned)grid.shared,
                                                c->stream, parameters, NULL);
    c->last_kernel = kernel->name;
    check(c, result, "queueing work");
}

talus_status card_launch(card* c, card_kernel* kernel, card_grid grid, const void* job)
{
    assert(grid.blocks <= INT32_MAX && grid.threads > 0);
    if (grid.blocks <= 0 || !enter(c)) return c->error.status;
    if (c->timing) card_clock_start(c);
    queue_kernel(c, kernel, grid, job);
    if (c->timing) {
        card_clock_stop(c);
        kernel->time.seconds += card_clock_seconds(c);
        kernel->time.launches++;
    }
    return leave(c);
}

// ---- time --------------------------------------------------------------------------------------

static void mark_time(card* c, driver_event event)
{
    if (!enter(c)) return;
    check(c, c->driver.cuEventRecord(event, c->stream), "being asked for the time");
    leave(c);
}

void card_clock_start(card* c)
{
    mark_time(c, c->begin);
}

void card_clock_stop(card* c)
{
    mark_time(c, c->end);
}

double card_clock_seconds(card* c)
{
    float milliseconds = 0.0f;
    if (!enter(c)) return 0.0;
    check(c, c->driver.cuEventSynchronize(c->end), "doing what was queued");
    if (c->error.status >= 0) {
        check(c, c->driver.cuEventElapsedTime(&milliseconds, c->begin, c->end),
              "being asked for the time");
    }
    return leave(c) < 0 ? 0.0 : (double)milliseconds * 1e-3;
}

void card_time_kernels(card* c, bool on)
{
    c->timing = on;
    for (card_kernel* k = c->kernels; k && on; k = k->next) k->time = (card_kernel_time){0};
}

bool card_next_time(const card* c, card_kernel_time* of)
{
    const card_kernel* k = of->kernel ? of->kernel->next : c->kernels;
    while (k && k->time.launches == 0) k = k->next;
    if (!k) return false;
    *of = k->time;
    of->kernel = k;
    of->module = k->module, of->name = k->name;
    return true;
}
