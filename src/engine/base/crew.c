/// A crew: one ticket that says which pass is on and which item comes next.
#include "base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_HELPERS = 255 };
/// Turns without work after which a helper goes to sleep: about a millisecond.
enum { PATIENCE = 1000 };
/// Instead of the next item: nothing is to be had while the next pass is prepared.
static const uint32_t CLOSED = UINT32_MAX;

struct crew {
    /// Pass in the upper half, next item in the lower. Who raises it by one has that item: nobody
    /// can take an item of a pass that is over, or with the work of another.
    uint64_t ticket;
    int64_t count, finished; ///< items of this pass, and those that are done
    crew_work* work;
    void* data;
    int helpers, sleeping;
    pid_t process; ///< that made the crew: a fork has the crew without its helpers
    bool over;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread[MOST_HELPERS];
};

/// Take an item and do it; false if there is none.
static bool take_item(crew* c)
{
    uint64_t ticket = __atomic_load_n(&c->ticket, __ATOMIC_SEQ_CST);
    for (;;) {
        const uint32_t item = (uint32_t)ticket;
        if (item == CLOSED || item >= __atomic_load_n(&c->count, __ATOMIC_RELAXED)) return false;
        if (__atomic_compare_exchange_n(&c->ticket, &ticket, ticket + 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            c->work(c->data, item);
            __atomic_add_fetch(&c->finished, 1, __ATOMIC_RELEASE);
            return true;
        }
    }
}

static bool has_items(const crew* c)
{
    const uint32_t item = (uint32_t)__atomic_load_n(&c->ticket, __ATOMIC_SEQ_CST);
    return item != CLOSED && item < __atomic_load_n(&c->count, __ATOMIC_RELAXED);
}

static void* help(void* data)
{
    crew* c = data;
    int idle = 0;
    for (;;) {
        idle = take_item(c) ? 0 : idle + 1;
        if (__atomic_load_n(&c->over, __ATOMIC_RELAXED)) return NULL;
        if (idle > 0) sched_yield();
        if (idle < PATIENCE) continue;
        pthread_mutex_lock(&c->lock);
        __atomic_add_fetch(&c->sleeping, 1, __ATOMIC_SEQ_CST);
        while (!__atomic_load_n(&c->over, __ATOMIC_RELAXED) && !has_items(c))
            pthread_cond_wait(&c->wake, &c->lock);
        __atomic_sub_fetch(&c->sleeping, 1, __ATOMIC_SEQ_CST);
        pthread_mutex_unlock(&c->lock);
        idle = 0;
    }
}

static crew* crew_make(int helpers)
{
    crew* c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->ticket = CLOSED;
    c->process = getpid();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    while (c->helpers < helpers && c->helpers < MOST_HELPERS &&
           pthread_create(&c->thread[c->helpers], NULL, help, c) == 0) {
        c->helpers++;
    }
    return c;
}

void crew_free(crew* c)
{
    if (!c) return;
    if (c->process != getpid()) { // nobody to send home, and the lock may be anybody's
        free(c);
        return;
    }
    pthread_mutex_lock(&c->lock);
    __atomic_store_n(&c->over, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->helpers; i++) pthread_join(c->thread[i], NULL);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->wake);
    free(c);
}

void crew_do(crew** of, int threads, int64_t count, crew_work* work, void* data)
{
    if (*of && ((*of)->helpers + 1 > threads || (*of)->process != getpid())) {
        crew_free(*of);
        *of = NULL;
    }
    if (!*of && threads > 1) *of = crew_make(threads - 1);
    crew* c = *of;
    for (int64_t k = 0; !c && k < count; k++) work(data, k);
    if (!c) return;
    const uint64_t pass = (__atomic_load_n(&c->ticket, __ATOMIC_RELAXED) >> 32) + 1;
    __atomic_store_n(&c->ticket, pass << 32 | CLOSED, __ATOMIC_SEQ_CST);
    __atomic_store_n(&c->count, count, __ATOMIC_RELAXED);
    __atomic_store_n(&c->finished, 0, __ATOMIC_RELAXED);
    c->work = work;
    c->data = data;
    __atomic_store_n(&c->ticket, pass << 32, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->sleeping, __ATOMIC_SEQ_CST) > 0) {
        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->wake);
        pthread_mutex_unlock(&c->lock);
    }
    while (take_item(c)) {
    }
    while (__atomic_load_n(&c->finished, __ATOMIC_ACQUIRE) < count) sched_yield();
}
