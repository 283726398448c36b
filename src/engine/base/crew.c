/// A crew: a queue for each thread and wave; whose own are empty helps with those of others.
#include "base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_HELPERS = 255, LINE = 64 };
/// Waves that are dealt out; those beyond are one queue, from which all take items in order.
enum { MOST_WAVES = 48 };
/// Turns without work after which a helper goes to sleep: about a millisecond.
enum { PATIENCE = 1000 };
/// Turns of a wait in which a thread keeps its core: half a microsecond, less than giving it up
/// and taking it again.
enum { KEEPS_CORE = 40 };
/// Instead of the next item: nothing is to be had while queues are dealt out.
static const uint32_t CLOSED = UINT32_MAX;

/// What is left of a thread's part of a wave: the pass in the upper half, the next item in the
/// lower. Who raises it by one has that item, so nobody can take an item of a pass that is over. A
/// ticket of an earlier pass stands for a queue that is full again.
typedef struct queue {
    _Alignas(LINE) uint64_t ticket;
} queue;

typedef struct bounds {
    uint32_t first, last;
} bounds;

struct crew {
    _Alignas(LINE) uint32_t pass;
    int waves; ///< that queues are dealt out for
    crew_work* work;
    void* data;
    bounds* bounds; ///< [MOST_WAVES + 1][team] of the queues
    queue* queues;
    int team;                        ///< helpers, and whoever leads
    _Alignas(LINE) int64_t finished; ///< items of this pass that are done
    _Alignas(LINE) int sleeping;
    bool over;
    pid_t process; ///< that made the crew: a fork has the crew without its helpers
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct helper {
        pthread_t thread;
        crew* crew;
        int number;
    } helper[MOST_HELPERS];
};

void crew_wait(int turn)
{
    if (turn >= KEEPS_CORE) {
        sched_yield();
        return;
    }
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

static uint64_t ticket_of(uint32_t pass, uint32_t next)
{
    return (uint64_t)pass << 32 | next;
}

/// Take an item of a queue; -1: none is left for who works on this pass.
static int64_t take(crew* c, int64_t k, uint32_t pass)
{
    uint64_t ticket = __atomic_load_n(&c->queues[k].ticket, __ATOMIC_SEQ_CST);
    for (;;) {
        const uint32_t first = __atomic_load_n(&c->bounds[k].first, __ATOMIC_ACQUIRE);
        const uint32_t last = __atomic_load_n(&c->bounds[k].last, __ATOMIC_ACQUIRE);
        const int32_t passes = (int32_t)(pass - (uint32_t)(ticket >> 32));
        const uint32_t next = passes == 0 ? (uint32_t)ticket : first;
        if (passes < 0 || next >= last) return -1;
        if (__atomic_compare_exchange_n(&c->queues[k].ticket, &ticket, ticket_of(pass, next + 1),
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            return next;
        }
    }
}

/// Do what is to be had of a pass, wave by wave: one's own part, then those of others.
static void take_part(crew* c, int me, uint32_t pass)
{
    const int waves = __atomic_load_n(&c->waves, __ATOMIC_RELAXED), team = c->team;
    int64_t done = 0;
    for (int64_t turn = 0; turn < (int64_t)waves * team; turn++) {
        const int64_t k = turn / team * team + (me + turn) % team;
        for (int64_t item = take(c, k, pass); item >= 0; item = take(c, k, pass)) {
            c->work(c->data, item);
            done++;
        }
    }
    if (done > 0) __atomic_add_fetch(&c->finished, done, __ATOMIC_RELEASE);
}

/// Sleep until there is a pass other than this one.
static void sleep_over(crew* c, uint32_t pass)
{
    pthread_mutex_lock(&c->lock);
    __atomic_add_fetch(&c->sleeping, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&c->over, __ATOMIC_RELAXED) &&
           __atomic_load_n(&c->pass, __ATOMIC_SEQ_CST) == pass) {
        pthread_cond_wait(&c->wake, &c->lock);
    }
    __atomic_sub_fetch(&c->sleeping, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&c->lock);
}

static void* help(void* data)
{
    const struct helper* self = data;
    crew* c = self->crew;
    uint32_t seen = 0;
    int idle = 0;
    while (!__atomic_load_n(&c->over, __ATOMIC_RELAXED)) {
        const uint32_t pass = __atomic_load_n(&c->pass, __ATOMIC_SEQ_CST);
        if (pass != seen) {
            take_part(c, self->number, pass);
            seen = pass;
            idle = 0;
        } else if (idle < PATIENCE) {
            crew_wait(idle++);
        } else {
            sleep_over(c, seen);
        }
    }
    return NULL;
}

// ---- beginning and end -------------------------------------------------------------------------

static void discard(crew* c)
{
    free(c->bounds);
    free(c->queues);
    free(c);
}

static crew* crew_make(int helpers)
{
    crew* c = aligned_alloc(LINE, sizeof *c);
    if (!c) return NULL;
    memset(c, 0, sizeof *c);
    const size_t most = helpers < MOST_HELPERS ? (size_t)helpers : MOST_HELPERS;
    const size_t queues = (MOST_WAVES + 1) * (most + 1);
    c->bounds = calloc(queues, sizeof *c->bounds);
    c->queues = aligned_alloc(LINE, queues * sizeof *c->queues);
    if (!c->bounds || !c->queues) {
        discard(c);
        return NULL;
    }
    memset(c->queues, 0, queues * sizeof *c->queues);
    c->process = getpid();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    int made = 0;
    for (; made < (int)most; made++) {
        struct helper* h = &c->helper[made];
        *h = (struct helper){.crew = c, .number = made + 1};
        if (pthread_create(&h->thread, NULL, help, h) != 0) break;
    }
    c->team = made + 1; // nobody looks before the first pass
    return c;
}

void crew_free(crew* c)
{
    if (!c) return;
    if (c->process == getpid()) { // else nobody to send home, and the lock may be anybody's
        pthread_mutex_lock(&c->lock);
        __atomic_store_n(&c->over, true, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&c->wake);
        pthread_mutex_unlock(&c->lock);
        for (int i = 0; i < c->team - 1; i++) pthread_join(c->helper[i].thread, NULL);
        pthread_mutex_destroy(&c->lock);
        pthread_cond_destroy(&c->wake);
    }
    discard(c);
}

// ---- a pass ------------------------------------------------------------------------------------

/// The part of a thread in a wave. What is beyond MOST_WAVES is one queue.
static bounds part_of(const crew* c, int64_t waves, const int64_t* first, int wave, int me)
{
    if (wave == MOST_WAVES) {
        const uint32_t last = (uint32_t)first[waves];
        return (bounds){me == 0 ? (uint32_t)first[wave] : last, last};
    }
    const int64_t count = first[wave + 1] - first[wave];
    return (bounds){(uint32_t)(first[wave] + count * me / c->team),
                    (uint32_t)(first[wave] + count * (me + 1) / c->team)};
}

/// Are queues dealt out for these waves already?
static bool is_dealt_out(const crew* c, int64_t waves, const int64_t* first, int used)
{
    bool same = c->waves == used;
    for (int k = 0; k < used * c->team && same; k++) {
        const bounds part = part_of(c, waves, first, k / c->team, k % c->team);
        same = c->bounds[k].first == part.first && c->bounds[k].last == part.last;
    }
    return same;
}

/// A helper may still look for items of the pass before: it must not find one between the old
/// bounds and the new ones.
static void deal_out(crew* c, int64_t waves, const int64_t* first, int used, uint32_t pass)
{
    const int queues = used * c->team;
    for (int k = 0; k < queues; k++)
        __atomic_store_n(&c->queues[k].ticket, ticket_of(pass, CLOSED), __ATOMIC_SEQ_CST);
    for (int k = 0; k < queues; k++) {
        const bounds part = part_of(c, waves, first, k / c->team, k % c->team);
        __atomic_store_n(&c->bounds[k].first, part.first, __ATOMIC_RELEASE);
        __atomic_store_n(&c->bounds[k].last, part.last, __ATOMIC_RELEASE);
    }
    for (int k = 0; k < queues; k++) {
        __atomic_store_n(&c->queues[k].ticket, ticket_of(pass, c->bounds[k].first),
                         __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&c->waves, used, __ATOMIC_RELAXED);
}

void crew_do(crew** of, int threads, int64_t waves, const int64_t* first, crew_work* work,
             void* data)
{
    if (*of && ((*of)->team > threads || (*of)->process != getpid())) {
        crew_free(*of);
        *of = NULL;
    }
    if (!*of && threads > 1) *of = crew_make(threads - 1);
    crew* c = *of;
    for (int64_t k = 0; !c && k < first[waves]; k++) work(data, k);
    if (!c) return;
    const uint32_t pass = c->pass + 1;
    const int used = waves > MOST_WAVES ? MOST_WAVES + 1 : (int)waves;
    if (!is_dealt_out(c, waves, first, used)) deal_out(c, waves, first, used, pass);
    __atomic_store_n(&c->finished, 0, __ATOMIC_RELAXED);
    c->work = work;
    c->data = data;
    __atomic_store_n(&c->pass, pass, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->sleeping, __ATOMIC_SEQ_CST) > 0) {
        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->wake);
        pthread_mutex_unlock(&c->lock);
    }
    take_part(c, 0, pass);
    for (int turn = 0; __atomic_load_n(&c->finished, __ATOMIC_ACQUIRE) < first[waves]; turn++)
        crew_wait(turn);
}
