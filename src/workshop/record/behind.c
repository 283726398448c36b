#include "record/behind.h"

#include "base/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct behind {
    pthread_t thread;
    bool at_work;  ///< the thread has not been joined
    bool done;     ///< with its piece
    pid_t process; ///< whose thread it is: a fork has none
    behind_work* work;
    void* data;
    talus_status status;
    talus_error error;
};

static void* work_on(void* user)
{
    behind* b = user;
    b->status = b->work(b->data, &b->error);
    __atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
    return NULL;
}

/// Begin the thread, which leaves signals to the others, but those of its own crashes; false if
/// there is none to be had.
static bool begin_thread(behind* b)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    b->at_work = pthread_create(&b->thread, NULL, work_on, b) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return b->at_work;
}

talus_status behind_do(behind** of, behind_work* work, void* data, talus_error* error)
{
    if (!*of) *of = calloc(1, sizeof **of);
    behind* b = *of;
    if (!b) return error_memory(error, "a thread that writes");
    TRY(behind_wait(b, error));
    *b = (behind){.process = getpid(), .work = work, .data = data};
    if (!begin_thread(b)) work_on(b);
    return TALUS_OK;
}

talus_status behind_wait(behind* b, talus_error* error)
{
    if (!b) return TALUS_OK;
    if (b->at_work && b->process == getpid()) pthread_join(b->thread, NULL);
    b->at_work = false;
    const talus_status status = b->status;
    b->status = TALUS_OK;
    if (status < 0) error_set(error, status, "%s", b->error.text);
    return status;
}

bool behind_is_busy(const behind* b)
{
    return b && b->at_work && !__atomic_load_n(&b->done, __ATOMIC_ACQUIRE);
}

void behind_free(behind* b)
{
    behind_wait(b, NULL);
    free(b);
}
