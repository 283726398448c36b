/// A driver for cards that are not there: libcuda.so.1 for tests, found by LD_LIBRARY_PATH.
///
/// Memory of a card is memory, and kernels are those of the engine, compiled for the host
/// (card/phases.h), each source as a library of its own. As on a card nothing is done when it is
/// queued, only when somebody waits; so a copy that reads what has changed meanwhile is found out.
/// Memory begins as NaNs, has a guard behind it, and belongs to a context; whatever is wrong with
/// a call is an error, or ends the program if no driver would notice it.
///
/// Environment, read at each cuInit():
///   FAKE_CUDA_CARDS=2          how many cards, 1 if not given
///   FAKE_CUDA_VERSION=11040    of the driver
///   FAKE_CUDA_CAPABILITY=60    of the cards
///   FAKE_CUDA_MEMORY=1000000   bytes of a card
///   FAKE_CUDA_FAIL=cuMemAlloc_v2:3:2,...   the third call returns 2. With :stay behind it so do
///   all
///       calls after it, of any function; with :later that call returns 0, those after it 2. "any"
///       counts the calls of all functions
///   FAKE_CUDA_ORDER=reverse, or the seed of a shuffled order of blocks, and of threads in a phase
///   FAKE_CUDA_WORKERS=4        blocks at a time
///   FAKE_CUDA_REPORT=file      gets a line for each kernel: card, name, blocks, threads
#include "card/driver.h"
#include "card/phases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_MODULES = 32, MOST_FAILURES = 8, GUARD = 64, PROCESSORS = 4, RESIDENT = 2 };
enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201, INVALID_HANDLE = 400 };
static const size_t SHARED_LIMIT = 227 << 10;
static const unsigned char GUARD_BYTE = 0xa5;

// ---- what there is -----------------------------------------------------------------------------

typedef struct memory {
    char* at;
    size_t bytes;
    struct memory* next;
} memory;

/// A piece of work in the queue.
typedef struct task {
    void (*run)(struct task* t, struct driver_context* c);
    char *to, *from;
    size_t bytes;
    const card_entry* kernel;
    void* job;
    int blocks, threads;
    size_t shared;
    driver_event event;
    struct task* next;
} task;

struct driver_context {
    int device;
    size_t used;
    memory *memories, *pinned;
    task *first, **last;
    driver_event events;
    driver_module modules;
    driver_stream streams;
};
struct driver_stream {
    driver_context context;
};
struct driver_event {
    driver_context context;
    double time;
    int recorded, done; ///< how often; it is waited for until the last time is done
    driver_event next;
};
struct driver_function {
    const card_entry* kernel;
    size_t shared_allowed;
    driver_function next;
};
struct driver_module {
    char name[100];
    const card_entry* entries;
    driver_function functions;
    driver_module next;
};

typedef struct failure {
    char name[60], manner[10];
    int call, result, seen;
} failure;

/// The names of the libraries of kernels, and what they have.
typedef struct library {
    char name[100];
    const card_entry* entries;
} library;

static struct {
    bool begun;
    int cards, version, capability, workers, failure_count;
    size_t memory;
    char order[40];
    failure failures[MOST_FAILURES];
    int stuck_with; ///< a result that all calls return from now on
    library libraries[MOST_MODULES];
    int library_count;
} fake;

static _Thread_local driver_context stack[8];
static _Thread_local int depth;

static void give_up(const char* what)
{
    fprintf(stderr, "fake_cuda: %s\n", what);
    abort();
}

static void* get_memory(size_t bytes)
{
    void* at = calloc(1, bytes);
    if (!at) give_up("out of memory");
    return at;
}

static driver_context current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

// ---- failing on demand -------------------------------------------------------------------------

static void read_failures(const char* text)
{
    fake.failure_count = 0;
    while (text && *text && fake.failure_count < MOST_FAILURES) {
        failure* f = &fake.failures[fake.failure_count++];
        *f = (failure){0};
        if (sscanf(text, "%59[^:]:%d:%d:%9[^,]", f->name, &f->call, &f->result, f->manner) < 3) {
            give_up("FAKE_CUDA_FAIL is not NAME:CALL:RESULT[:stay|:later]");
        }
        text = strchr(text, ',');
        if (text) text++;
    }
}

/// What this call has to return before it does anything; 0: it may go on.
static int demanded(const char* name)
{
    const bool asks = strncmp(name, "cuCtx", 5) != 0; // those say nothing of earlier work
    int result = asks ? fake.stuck_with : 0;
    for (int i = 0; i < fake.failure_count; i++) {
        failure* f = &fake.failures[i];
        if (strcmp(f->name, "any") != 0 && strcmp(f->name, name) != 0) continue;
        if (++f->seen != f->call) continue;
        if (strcmp(f->manner, "later") != 0) result = result ? result : f->result;
        if (f->manner[0]) fake.stuck_with = f->result;
    }
    return result;
}

/// At the head of each function.
#define BEGIN(name)                                                                                \
    do {                                                                                           \
        const int wanted = demanded(#name);                                                        \
        if (wanted) return wanted;                                                                 \
        if (!fake.begun) return NOT_INITIALIZED;                                                   \
    } while (0)
#define IN_CONTEXT(name)                                                                           \
    BEGIN(name);                                                                                   \
    driver_context c = current();                                                                  \
    if (!c) return INVALID_CONTEXT

// ---- memory ------------------------------------------------------------------------------------

/// The piece that holds the range; NULL: nobody's.
static memory* piece_of(memory* list, const char* at, size_t bytes)
{
    for (memory* m = list; m; m = m->next) {
        if (at >= m->at && at + bytes <= m->at + m->bytes) return m;
    }
    return NULL;
}

static memory* new_piece(memory** list, size_t bytes)
{
    memory* m = get_memory(sizeof *m);
    void* at = NULL;
    if (posix_memalign(&at, 256, bytes + GUARD) != 0) give_up("out of memory");
    memset(at, 0xff, bytes);
    memset((char*)at + bytes, GUARD_BYTE, GUARD);
    *m = (memory){at, bytes, *list};
    *list = m;
    return m;
}

static void check_guard(const memory* m)
{
    for (int i = 0; i < GUARD; i++) {
        if ((unsigned char)m->at[m->bytes + (size_t)i] != GUARD_BYTE) {
            give_up("a kernel or copy wrote behind a buffer");
        }
    }
}

static bool free_piece(memory** list, const char* at)
{
    for (memory** m = list; *m; m = &(*m)->next) {
        if ((*m)->at != at) continue;
        memory* gone = *m;
        check_guard(gone);
        *m = gone->next;
        free(gone->at);
        free(gone);
        return true;
    }
    return false;
}

// ---- running kernels ---------------------------------------------------------------------------

typedef struct launch {
    const task* t;
    const int* order; ///< of the blocks
    int next;
    bool stuck;
    unsigned seed;
} launch;

static void make_order(int* order, int count, unsigned seed)
{
    for (int i = 0; i < count; i++) order[i] = i;
    if (!fake.order[0]) return;
    if (strcmp(fake.order, "reverse") == 0) {
        for (int i = 0; i < count; i++) order[i] = count - 1 - i;
        return;
    }
    unsigned state = (unsigned)atoi(fake.order) * 2654435761u + seed + 1;
    for (int i = count - 1; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        const int k = (int)((state >> 8) % (unsigned)(i + 1)), other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}

static void* work(void* data)
{
    launch* l = data;
    const task* t = l->t;
    int* threads = get_memory((size_t)t->threads * sizeof *threads);
    memory* shared = NULL;
    for (;;) {
        const int k = __atomic_fetch_add(&l->next, 1, __ATOMIC_ACQ_REL);
        if (k >= t->blocks) break;
        new_piece(&shared, t->shared + 1);
        make_order(threads, t->threads, (unsigned)l->order[k]);
        const card_place here = {.block = l->order[k],
                                 .blocks = t->blocks,
                                 .threads = t->threads,
                                 .order = threads,
                                 .shared = (unsigned char*)shared->at,
                                 .stuck = &l->stuck,
                                 .alone = fake.workers <= 1};
        t->kernel->run(&here, t->job);
        free_piece(&shared, shared->at);
    }
    free(threads);
    return NULL;
}

static void run_kernel(task* t, driver_context c)
{
    int* order = get_memory((size_t)t->blocks * sizeof *order);
    launch l = {.t = t, .order = order};
    make_order(order, t->blocks, 77);
    if (fake.workers > 1) {
        pthread_t crew[64];
        const int workers = fake.workers < 64 ? fake.workers : 64;
        for (int i = 0; i < workers; i++) {
            if (pthread_create(&crew[i], NULL, work, &l) != 0) give_up("no threads");
        }
        for (int i = 0; i < workers; i++) pthread_join(crew[i], NULL);
    } else {
        work(&l);
    }
    free(order);
    if (l.stuck) fake.stuck_with = CUDA_ERROR_LAUNCH_TIMEOUT;
    for (memory* m = c->memories; m; m = m->next) check_guard(m);
}

static void run_copy(task* t, driver_context c)
{
    (void)c;
    memmove(t->to, t->from, t->bytes);
}

static void run_fill(task* t, driver_context c)
{
    (void)c;
    memset(t->to, t->threads, t->bytes);
}

static void run_event(task* t, driver_context c)
{
    struct timespec now;
    (void)c;
    clock_gettime(CLOCK_MONOTONIC, &now);
    t->event->time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    t->event->done++;
}

static void queue(driver_context c, task t)
{
    task* own = get_memory(sizeof *own);
    *own = t;
    own->next = NULL;
    *c->last = own;
    c->last = &own->next;
}

/// Do what is in the queue, up to an event.
static int do_queue(driver_context c, const struct driver_event* until)
{
    while (c->first && !(until && until->done == until->recorded) && !fake.stuck_with) {
        task* t = c->first;
        t->run(t, c);
        c->first = t->next;
        if (!c->first) c->last = &c->first;
        free(t->job);
        free(t);
    }
    return fake.stuck_with;
}

// ---- the interface -----------------------------------------------------------------------------

#define FUNCTION(name, ...) int name(__VA_ARGS__);
DRIVER_FUNCTIONS(FUNCTION)
#undef FUNCTION

static size_t number_of(const char* name, size_t otherwise)
{
    const char* text = getenv(name);
    return text ? (size_t)strtoull(text, NULL, 10) : otherwise;
}

/// FAKE_CUDA_MODULES: the libraries of kernels, "name=path|name=path", from the build.
static void open_libraries(void)
{
    char all[] = FAKE_CUDA_MODULES, *rest = all;
    for (char* one; (one = strsep(&rest, "|")) && *one && fake.library_count < MOST_MODULES;) {
        char* path = strchr(one, '=');
        *path++ = '\0';
        void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!handle) give_up(dlerror());
        const card_entry* (*entries)(void);
        *(void**)&entries = dlsym(handle, "card_module_entries");
        if (!entries) give_up("a library without kernels");
        library* l = &fake.libraries[fake.library_count++];
        snprintf(l->name, sizeof l->name, "%s", one);
        l->entries = entries();
    }
}

int cuInit(unsigned flags)
{
    const char* order = getenv("FAKE_CUDA_ORDER");
    (void)flags;
    fake.begun = true;
    fake.stuck_with = 0;
    fake.cards = (int)number_of("FAKE_CUDA_CARDS", 1);
    fake.version = (int)number_of("FAKE_CUDA_VERSION", 12040);
    fake.capability = (int)number_of("FAKE_CUDA_CAPABILITY", 90);
    fake.memory = number_of("FAKE_CUDA_MEMORY", (size_t)1 << 32);
    fake.workers = (int)number_of("FAKE_CUDA_WORKERS", 1);
    snprintf(fake.order, sizeof fake.order, "%s", order ? order : "");
    read_failures(getenv("FAKE_CUDA_FAIL"));
    if (fake.library_count == 0) open_libraries();
    const int wanted = demanded("cuInit");
    if (wanted) return wanted;
    return fake.cards > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

int cuDriverGetVersion(int* version)
{
    BEGIN(cuDriverGetVersion);
    *version = fake.version;
    return CUDA_SUCCESS;
}

int cuDeviceGetCount(int* count)
{
    BEGIN(cuDeviceGetCount);
    *count = fake.cards;
    return CUDA_SUCCESS;
}

int cuDeviceGet(driver_device* device, int index)
{
    BEGIN(cuDeviceGet);
    if (index < 0 || index >= fake.cards) return CUDA_ERROR_INVALID_DEVICE;
    *device = index;
    return CUDA_SUCCESS;
}

int cuDeviceGetName(char* name, int size, driver_device device)
{
    BEGIN(cuDeviceGetName);
    snprintf(name, (size_t)size, "Fake card %c", 'A' + device);
    return CUDA_SUCCESS;
}

int cuDeviceTotalMem_v2(size_t* bytes, driver_device device)
{
    (void)device;
    BEGIN(cuDeviceTotalMem_v2);
    *bytes = fake.memory;
    return CUDA_SUCCESS;
}

int cuDeviceGetAttribute(int* value, int attribute, driver_device device)
{
    (void)device;
    BEGIN(cuDeviceGetAttribute);
    switch (attribute) {
    case DEVICE_CAPABILITY_MAJOR: *value = fake.capability / 10; break;
    case DEVICE_CAPABILITY_MINOR: *value = fake.capability % 10; break;
    case DEVICE_MULTIPROCESSOR_COUNT: *value = PROCESSORS; break;
    case DEVICE_CLOCK_RATE: *value = 1000000; break;
    case DEVICE_MEMORY_CLOCK_RATE: *value = 2000000; break;
    case DEVICE_MEMORY_BUS_WIDTH: *value = 256; break;
    case DEVICE_SHARED_PER_BLOCK_OPTIN: *value = (int)SHARED_LIMIT; break;
    default: return INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void push(driver_context context)
{
    if (depth == (int)(sizeof stack / sizeof *stack)) give_up("contexts are pushed, not popped");
    stack[depth++] = context;
}

int cuCtxCreate_v2(driver_context* context, unsigned flags, driver_device device)
{
    (void)flags;
    BEGIN(cuCtxCreate_v2);
    driver_context c = get_memory(sizeof *c);
    c->device = device;
    c->last = &c->first;
    c->streams = get_memory(sizeof *c->streams);
    c->streams->context = c;
    *context = c;
    push(c);
    return CUDA_SUCCESS;
}

int cuCtxPushCurrent_v2(driver_context context)
{
    BEGIN(cuCtxPushCurrent_v2);
    push(context);
    return CUDA_SUCCESS;
}

int cuCtxPopCurrent_v2(driver_context* context)
{
    if (depth == 0) return INVALID_CONTEXT;
    *context = stack[--depth]; // also when the call is to fail: tests go on
    BEGIN(cuCtxPopCurrent_v2);
    return CUDA_SUCCESS;
}

/// Frees all; as with a driver nothing of the context may be used any more.
int cuCtxDestroy_v2(driver_context c)
{
    const int result = fake.stuck_with;
    if (current() == c) give_up("a context is destroyed that is current");
    while (c->first) {
        task* t = c->first;
        c->first = t->next;
        free(t->job);
        free(t);
    }
    while (c->memories) free_piece(&c->memories, c->memories->at);
    while (c->pinned) free_piece(&c->pinned, c->pinned->at);
    while (c->events) {
        driver_event next = c->events->next;
        free(c->events);
        c->events = next;
    }
    while (c->modules) {
        driver_module next = c->modules->next;
        while (c->modules->functions) {
            driver_function f = c->modules->functions->next;
            free(c->modules->functions);
            c->modules->functions = f;
        }
        free(c->modules);
        c->modules = next;
    }
    free(c->streams);
    free(c);
    return result;
}

int cuMemGetInfo_v2(size_t* free_bytes, size_t* all)
{
    IN_CONTEXT(cuMemGetInfo_v2);
    *free_bytes = fake.memory - c->used;
    *all = fake.memory;
    return CUDA_SUCCESS;
}

int cuMemAlloc_v2(driver_address* at, size_t bytes)
{
    IN_CONTEXT(cuMemAlloc_v2);
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > fake.memory - c->used) return CUDA_ERROR_OUT_OF_MEMORY;
    c->used += bytes;
    *at = (driver_address)(uintptr_t)new_piece(&c->memories, bytes)->at;
    return CUDA_SUCCESS;
}

int cuMemFree_v2(driver_address at)
{
    IN_CONTEXT(cuMemFree_v2);
    const char* begin = (const char*)(uintptr_t)at;
    do_queue(c, NULL);
    const memory* m = piece_of(c->memories, begin, 1);
    if (m) c->used -= m->bytes;
    return free_piece(&c->memories, begin) ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuMemHostAlloc(void** at, size_t bytes, unsigned flags)
{
    (void)flags;
    IN_CONTEXT(cuMemHostAlloc);
    *at = new_piece(&c->pinned, bytes)->at;
    return CUDA_SUCCESS;
}

int cuMemFreeHost(void* at)
{
    for (int i = depth; i > 0; i--) { // as with a driver: whatever the state is
        if (free_piece(&stack[i - 1]->pinned, at)) return CUDA_SUCCESS;
    }
    return INVALID_VALUE;
}

/// Queue a copy between pieces of memory that are known.
static int queue_copy(driver_context c, driver_stream stream, char* to, memory* to_list,
                      const char* from, memory* from_list, size_t bytes)
{
    if (stream != c->streams) return INVALID_HANDLE;
    if (!piece_of(to_list, to, bytes) || !piece_of(from_list, from, bytes)) return INVALID_VALUE;
    queue(c, (task){.run = run_copy, .to = to, .from = (char*)(uintptr_t)from, .bytes = bytes});
    return fake.stuck_with;
}

int cuMemcpyHtoDAsync_v2(driver_address to, const void* from, size_t bytes, driver_stream stream)
{
    IN_CONTEXT(cuMemcpyHtoDAsync_v2);
    return queue_copy(c, stream, (char*)(uintptr_t)to, c->memories, from, c->pinned, bytes);
}

int cuMemcpyDtoHAsync_v2(void* to, driver_address from, size_t bytes, driver_stream stream)
{
    IN_CONTEXT(cuMemcpyDtoHAsync_v2);
    return queue_copy(c, stream, to, c->pinned, (char*)(uintptr_t)from, c->memories, bytes);
}

int cuMemcpyDtoDAsync_v2(driver_address to, driver_address from, size_t bytes, driver_stream stream)
{
    IN_CONTEXT(cuMemcpyDtoDAsync_v2);
    return queue_copy(c, stream, (char*)(uintptr_t)to, c->memories, (char*)(uintptr_t)from,
                      c->memories, bytes);
}

int cuMemsetD8Async(driver_address at, unsigned char byte, size_t bytes, driver_stream stream)
{
    IN_CONTEXT(cuMemsetD8Async);
    char* to = (char*)(uintptr_t)at;
    if (stream != c->streams) return INVALID_HANDLE;
    if (!piece_of(c->memories, to, bytes)) return INVALID_VALUE;
    queue(c, (task){.run = run_fill, .to = to, .threads = byte, .bytes = bytes});
    return CUDA_SUCCESS;
}

int cuStreamCreate(driver_stream* stream, unsigned flags)
{
    (void)flags;
    IN_CONTEXT(cuStreamCreate);
    *stream = c->streams;
    return CUDA_SUCCESS;
}

int cuStreamSynchronize(driver_stream stream)
{
    IN_CONTEXT(cuStreamSynchronize);
    if (stream != c->streams) return INVALID_HANDLE;
    return do_queue(c, NULL);
}

int cuEventCreate(driver_event* event, unsigned flags)
{
    (void)flags;
    IN_CONTEXT(cuEventCreate);
    *event = get_memory(sizeof **event);
    (*event)->context = c;
    (*event)->next = c->events;
    c->events = *event;
    return CUDA_SUCCESS;
}

int cuEventRecord(driver_event event, driver_stream stream)
{
    IN_CONTEXT(cuEventRecord);
    if (event->context != c || stream != c->streams) return INVALID_HANDLE;
    event->recorded++;
    queue(c, (task){.run = run_event, .event = event});
    return CUDA_SUCCESS;
}

int cuEventSynchronize(driver_event event)
{
    IN_CONTEXT(cuEventSynchronize);
    if (event->context != c) return INVALID_HANDLE;
    return do_queue(c, event);
}

int cuEventElapsedTime(float* milliseconds, driver_event begin, driver_event end)
{
    IN_CONTEXT(cuEventElapsedTime);
    if (begin->context != c || !begin->done || !end->done) return INVALID_HANDLE;
    *milliseconds = (float)(1e3 * (end->time - begin->time));
    return CUDA_SUCCESS;
}

int cuModuleLoadDataEx(driver_module* module, const void* image, unsigned options, int* option,
                       void** value)
{
    char name[100] = "";
    IN_CONTEXT(cuModuleLoadDataEx);
    if (sscanf(image, "// module %99s", name) != 1) return CUDA_ERROR_INVALID_PTX;
    if (fake.version < 9000) { // PTX 6.0
        for (unsigned i = 0; i < options; i++) {
            if (option[i] == JIT_ERROR_LOG) strcpy(value[i], "ptxas: unsupported .version 6.0\n");
        }
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    for (int i = 0; i < fake.library_count; i++) {
        if (strcmp(fake.libraries[i].name, name) != 0) continue;
        driver_module m = get_memory(sizeof *m);
        snprintf(m->name, sizeof m->name, "%s", name);
        m->entries = fake.libraries[i].entries;
        m->next = c->modules;
        *module = c->modules = m;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_PTX;
}

int cuModuleGetFunction(driver_function* function, driver_module module, const char* name)
{
    IN_CONTEXT(cuModuleGetFunction);
    for (const card_entry* e = module->entries; e; e = e->next) {
        if (strcmp(e->name, name) != 0) continue;
        driver_function f = get_memory(sizeof *f);
        *f = (struct driver_function){e, 48 << 10, module->functions};
        *function = module->functions = f;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

int cuFuncSetAttribute(driver_function function, int attribute, int value)
{
    BEGIN(cuFuncSetAttribute);
    if (attribute != FUNCTION_MAX_DYNAMIC_SHARED || (size_t)value > SHARED_LIMIT) {
        return INVALID_VALUE;
    }
    function->shared_allowed = (size_t)value;
    return CUDA_SUCCESS;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, driver_function function, int threads,
                                                size_t shared)
{
    BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    *blocks = threads > function->kernel->most_threads || shared > SHARED_LIMIT ? 0 : RESIDENT;
    return CUDA_SUCCESS;
}

static void report(const driver_context c, const card_entry* kernel, unsigned blocks,
                   unsigned threads)
{
    const char* path = getenv("FAKE_CUDA_REPORT");
    FILE* file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "gpu:%d %s %u %u\n", c->device, kernel->name, blocks, threads);
    fclose(file);
}

int cuLaunchKernel(driver_function function, unsigned blocks_x, unsigned blocks_y,
                   unsigned blocks_z, unsigned threads_x, unsigned threads_y, unsigned threads_z,
                   unsigned shared, driver_stream stream, void** parameters, void** extra)
{
    IN_CONTEXT(cuLaunchKernel);
    const card_entry* kernel = function->kernel;
    if (blocks_x == 0 || blocks_y != 1 || blocks_z != 1 || threads_y != 1 || threads_z != 1 ||
        extra || shared > function->shared_allowed) {
        return INVALID_VALUE;
    }
    if (threads_x == 0 || threads_x > (unsigned)kernel->most_threads) {
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    if (stream != c->streams) return INVALID_HANDLE;
    void* job = get_memory(kernel->job_size);
    memcpy(job, parameters[0], kernel->job_size);
    queue(c, (task){.run = run_kernel,
                    .kernel = kernel,
                    .job = job,
                    .blocks = (int)blocks_x,
                    .threads = (int)threads_x,
                    .shared = shared});
    report(c, kernel, blocks_x, threads_x);
    return CUDA_SUCCESS;
}

int cuGetErrorName(int result, const char** name)
{
    switch (result) {
#define NAME(code)                                                                                 \
    case code: *name = #code; return CUDA_SUCCESS;
        NAME(CUDA_ERROR_OUT_OF_MEMORY)
        NAME(CUDA_ERROR_STUB_LIBRARY)
        NAME(CUDA_ERROR_DEVICE_UNAVAILABLE)
        NAME(CUDA_ERROR_NO_DEVICE)
        NAME(CUDA_ERROR_ECC_UNCORRECTABLE)
        NAME(CUDA_ERROR_INVALID_PTX)
        NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        NAME(CUDA_ERROR_NOT_FOUND)
        NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
        NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        NAME(CUDA_ERROR_LAUNCH_TIMEOUT)
        NAME(CUDA_ERROR_LAUNCH_FAILED)
        NAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
        NAME(CUDA_ERROR_UNKNOWN)
#undef NAME
    default: *name = NULL; return INVALID_VALUE;
    }
}
