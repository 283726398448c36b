/// Kernels that are written once: compiled by clang for a card, and by gcc, where loops
/// over the threads of a block stand for the threads, for the tests.
///
/// A block's work consists of phases with a barrier behind each. Nothing that a thread does in a
/// phase is seen by another in the same phase, so the order of threads in it does not matter.
///
///     typedef struct axpy_job { int64_t count; double a; const double* x; double* y; } axpy_job;
///
///     CARD_KERNEL(axpy, axpy_job, 256)
///     {
///         SHARED(double, tile, 256);
///         PHASE(t) {
///             const int64_t i = card_item(here, t);
///             tile[t] = i < job.count ? job.a * job.x[i] : 0.0;
///         }
///         LAST_PHASE(t) {
///             const int64_t i = card_item(here, t);
///             if (i < job.count) job.y[i] += tile[t];
///         }
///     }
///
/// The arguments are a name, the struct that the kernel gets as `job`, the most threads of a block,
/// and, if its registers are to be limited for that, how many blocks a multiprocessor should hold.
/// `here` says which block of how many this is. Between phases there may be what all threads of the
/// block decide alike: loops, and conditions on `job`, `here` and shared memory. In a phase
/// `continue` ends the work of a thread; `break` and `return` are not allowed.
///
/// Between two runs the compilers see different code: PHASE is a loop over threads there, and just
/// a thread here. Numbers that a thread keeps from phase to phase are PER_THREAD.
///
/// A source of device code includes this file first, then the headers of the engine that it needs,
/// between CARD_HEADERS and CARD_HEADERS_END. Their functions are compiled for the card, with the
/// functions of math.h and string.h that a card has, all exact (exact.h).
#ifndef TALUS_CARD_PHASES_H
#define TALUS_CARD_PHASES_H

#if defined __CUDA__
#define ON_CARD 1
#define NDEBUG // a card has nobody to tell
#else
#define ON_CARD 0
#endif

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CARD_MOST_THREADS = 1024 }; ///< of a block

#if ON_CARD

// ---- on a card ---------------------------------------------------------------------------------

#define _Alignas alignas
#define _Static_assert static_assert

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define CARD_INLINE static inline __device__ __attribute__((always_inline))
#define CARD_OUT_OF_LINE static __device__ __attribute__((noinline))
#define CARD_HEADERS _Pragma("clang force_cuda_host_device begin")
#define CARD_HEADERS_END _Pragma("clang force_cuda_host_device end")

// Barrier and fence as instructions: clang 14 takes its own __syncthreads() for a call that cannot
// change the shared arrays of this file, and reads them before it.
CARD_INLINE void card_barrier(void)
{
    __asm__ volatile("bar.sync 0;" ::: "memory");
}
CARD_INLINE void card_fence(void)
{
    __asm__ volatile("membar.gl;" ::: "memory");
}

/// Which block of how many this is, and how many threads it has.
typedef struct card_place {
    int block, blocks, threads;
} card_place;

CARD_INLINE card_place card_place_here(void)
{
    return (card_place){__nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_nctaid_x(),
                        __nvvm_read_ptx_sreg_ntid_x()};
}

#define CARD_KERNEL(name, job_type, ...)                                                           \
    CARD_INLINE void name##_block(const card_place here, const job_type& job);                     \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const job_type job)             \
    {                                                                                              \
        name##_block(card_place_here(), job);                                                      \
    }                                                                                              \
    CARD_INLINE void name##_block([[maybe_unused]] const card_place here,                          \
                                  [[maybe_unused]] const job_type& job)

#define LAST_PHASE(t)                                                                              \
    for (int t = __nvvm_read_ptx_sreg_tid_x(), card_once = 1; card_once; card_once = 0)
#define PHASE(t)                                                                                   \
    for (int t = __nvvm_read_ptx_sreg_tid_x(), card_once = 1; card_once;                           \
         card_once = 0, card_barrier())
#define PER_THREAD(type, name) type name
#define MINE(name, t) (name)
#define SHARED(type, name, count) __shared__ type name[count]
extern __shared__ __attribute__((aligned(16))) unsigned char card_shared_memory[];
#define SHARED_BYTES(name) unsigned char* const name = card_shared_memory

CARD_INLINE uint32_t card_add(uint32_t* to, uint32_t x)
{
    return (uint32_t)__nvvm_atom_add_gen_i((int*)to, (int)x);
}
CARD_INLINE uint64_t card_add_wide(uint64_t* to, uint64_t x)
{
    return (uint64_t)__nvvm_atom_add_gen_ll((long long*)to, (long long)x);
}
CARD_INLINE uint32_t card_or(uint32_t* to, uint32_t x)
{
    return (uint32_t)__nvvm_atom_or_gen_i((int*)to, (int)x);
}
CARD_INLINE uint32_t card_max(uint32_t* to, uint32_t x)
{
    return __nvvm_atom_max_gen_ui(to, x);
}
CARD_INLINE uint64_t card_max_wide(uint64_t* to, uint64_t x)
{
    return __nvvm_atom_max_gen_ull((unsigned long long*)to, x);
}
CARD_INLINE void card_raise(uint32_t* flag, uint32_t value)
{
    card_fence();
    *(volatile uint32_t*)flag = value;
}
CARD_INLINE void card_await(const card_place, const uint32_t* flag, uint32_t value)
{
    while (*(const volatile uint32_t*)flag != value) {
    }
    card_fence();
}

/// Ask for the line of memory that this address is in, so that it is nearer when it is read.
CARD_INLINE void card_ask_for(const void* address)
{
    __asm__ volatile("prefetch.L2 [%0];" ::"l"(address));
}

CARD_HEADERS
#include "card/exact.h"
CARD_HEADERS_END

// The functions of math.h and string.h that code for a card may call. Found before those of the
// host, since they are the device's.
CARD_INLINE double sqrt(double x)
{
    return __builtin_sqrt(x);
}
CARD_INLINE double fabs(double x)
{
    return __builtin_fabs(x);
}
CARD_INLINE double copysign(double x, double y)
{
    return __builtin_copysign(x, y);
}
CARD_INLINE double rint(double x)
{
    return __builtin_rint(x);
}
CARD_INLINE double floor(double x)
{
    return __builtin_floor(x);
}
CARD_INLINE double ceil(double x)
{
    return __builtin_ceil(x);
}
CARD_INLINE double fmax(double x, double y)
{
    return exact_fmax(x, y);
}
CARD_INLINE double fmin(double x, double y)
{
    return exact_fmin(x, y);
}
CARD_INLINE double frexp(double x, int* exponent)
{
    return exact_frexp(x, exponent);
}
CARD_INLINE double ldexp(double x, int n)
{
    return exact_ldexp(x, n);
}
CARD_INLINE double fmod(double x, double y)
{
    return exact_fmod(x, y);
}
CARD_INLINE double remainder(double x, double y)
{
    return exact_remainder(x, y);
}
CARD_INLINE void* memcpy(void* to, const void* from, size_t size)
{
    return __builtin_memcpy(to, from, size);
}
CARD_INLINE void* memset(void* to, int byte, size_t size)
{
    return __builtin_memset(to, byte, size);
}

#else

// ---- on the host, for tests --------------------------------------------------------------------

#include <sched.h>

#define CARD_INLINE static inline __attribute__((always_inline))
#define CARD_OUT_OF_LINE static __attribute__((noinline))
#define CARD_HEADERS
#define CARD_HEADERS_END

CARD_INLINE void card_ask_for(const void* address)
{
    (void)address;
}

typedef struct card_place {
    int block, blocks, threads;
    const int* order;      ///< of the threads in a phase
    unsigned char* shared; ///< the dynamic shared memory
    bool* stuck;           ///< set: a flag will never be raised; everybody goes home
    bool alone;            ///< no other block runs at the same time
} card_place;

/// The kernels of a source, which is a library of its own here (tests/support/fake_cuda.c).
typedef struct card_entry {
    const char* name;
    size_t job_size;
    int most_threads;
    void (*run)(const card_place* here, const void* job);
    struct card_entry* next;
} card_entry;

#ifdef CARD_EMULATED // as the build says for sources of kernels
static card_entry* card_entries;

__attribute__((visibility("default"))) const card_entry* card_module_entries(void);
const card_entry* card_module_entries(void)
{
    return card_entries;
}
#endif

#define CARD_MOST_OF(most_threads, ...) (most_threads)
#define CARD_KERNEL(name, job_type, ...)                                                           \
    static void name##_block(const card_place here, const job_type job);                           \
    static void name##_run(const card_place* here, const void* job)                                \
    {                                                                                              \
        name##_block(*here, *(const job_type*)job);                                                \
    }                                                                                              \
    __attribute__((constructor)) static void name##_enlist(void)                                   \
    {                                                                                              \
        static card_entry entry = {#name, sizeof(job_type), CARD_MOST_OF(__VA_ARGS__, 0),          \
                                   name##_run, NULL};                                              \
        entry.next = card_entries;                                                                 \
        card_entries = &entry;                                                                     \
    }                                                                                              \
    static void name##_block(__attribute__((unused)) const card_place here,                        \
                             __attribute__((unused)) const job_type job)

#define PHASE(t)                                                                                   \
    for (int card_turn = 0, t; card_turn < here.threads && (t = here.order[card_turn], true);      \
         card_turn++)
#define LAST_PHASE(t) PHASE (t)
#define PER_THREAD(type, name) type name[CARD_MOST_THREADS]
#define MINE(name, t) (name[t])
#define SHARED(type, name, count) type name[count]
#define SHARED_BYTES(name) unsigned char* const name = here.shared

CARD_INLINE uint32_t card_add(uint32_t* to, uint32_t x)
{
    return __atomic_fetch_add(to, x, __ATOMIC_ACQ_REL);
}
CARD_INLINE uint64_t card_add_wide(uint64_t* to, uint64_t x)
{
    return __atomic_fetch_add(to, x, __ATOMIC_ACQ_REL);
}
CARD_INLINE uint32_t card_or(uint32_t* to, uint32_t x)
{
    return __atomic_fetch_or(to, x, __ATOMIC_ACQ_REL);
}
CARD_INLINE uint64_t card_max_wide(uint64_t* to, uint64_t x)
{
    uint64_t now = __atomic_load_n(to, __ATOMIC_ACQUIRE);
    while (now < x &&
           !__atomic_compare_exchange_n(to, &now, x, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return now;
}
CARD_INLINE uint32_t card_max(uint32_t* to, uint32_t x)
{
    uint32_t now = __atomic_load_n(to, __ATOMIC_ACQUIRE);
    while (now < x &&
           !__atomic_compare_exchange_n(to, &now, x, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return now;
}
CARD_INLINE void card_raise(uint32_t* flag, uint32_t value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}
CARD_INLINE void card_await(const card_place here, const uint32_t* flag, uint32_t value)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) {
        if (here.alone) __atomic_store_n(here.stuck, true, __ATOMIC_RELAXED);
        if (__atomic_load_n(here.stuck, __ATOMIC_RELAXED)) return;
        sched_yield();
    }
}

#endif

// ---- both --------------------------------------------------------------------------------------
//
// Numbers that blocks share, all in the memory of the card:
// card_add(), card_or(), card_max() and their wide forms change a number as one operation and
// return what it was before. Their results are the same in any order of blocks, what they return is
// not. card_add(&ticket, 1) gives blocks numbers in the order in which they begin: a block may wait
// for those with smaller tickets, which run or have run, but not for other blocks. card_raise()
// shows the work of the phases before it, by one thread, card_await() lets a thread wait for it; a
// phase's end must follow before other threads rely on it.

/// Number of this thread among those of all blocks.
CARD_INLINE int64_t card_item(const card_place here, int t)
{
    return (int64_t)here.block * here.threads + t;
}

#endif
