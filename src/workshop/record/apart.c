#include "record/apart.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// What comes back. Memory, because a host program may take our exit status away (SIGCHLD).
typedef struct outcome {
    bool done;
    talus_status status;
    talus_error error;
} outcome;

void* apart_share(size_t size)
{
    void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void apart_unshare(void* memory, size_t size)
{
    if (memory) munmap(memory, size);
}

/// Die quietly of what goes wrong, in time, and not later than the parent.
static void prepare_to_die(pid_t parent, int seconds)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    const struct rlimit time = {(rlim_t)seconds, (rlim_t)seconds + 1}, core = {0, 0};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &core);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); // it has died before it was asked to tell
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO); // of malloc's last words
}

/// What it means that the work was not done. Somebody else may have killed the process, the kernel
/// for want of memory: that says nothing about a file.
static talus_status say_death(int ending, talus_error* error)
{
    const int by = WIFSIGNALED(ending) ? WTERMSIG(ending) : SIGABRT;
    if (by == SIGKILL || by == SIGTERM || by == SIGINT || by == SIGHUP) {
        return error_set(error, TALUS_ERR_IO, "the process that reads the file was killed");
    }
    return error_set(error, TALUS_ERR_FORMAT, "HDF5 %s",
                     by == SIGXCPU ? "does not come to an end with it" : "crashes over it");
}

talus_status apart_do(apart_work* work, void* user, int seconds, talus_error* error)
{
    outcome* o = apart_share(sizeof *o);
    const pid_t parent = getpid(), child = o ? fork() : -1;
    if (child == 0) {
        prepare_to_die(parent, seconds);
        o->status = work(user, &o->error);
        __atomic_store_n(&o->done, true, __ATOMIC_RELEASE);
        _exit(0);
    }
    if (child < 0) {
        apart_unshare(o, sizeof *o);
        return work(user, error);
    }
    int ending = 0;
    while (waitpid(child, &ending, 0) < 0 && errno == EINTR) {
    }
    const bool done = __atomic_load_n(&o->done, __ATOMIC_ACQUIRE);
    const talus_status status = done ? o->status : say_death(ending, error);
    if (done && status < 0) error_set(error, status, "%s", o->error.text);
    apart_unshare(o, sizeof *o);
    return status;
}
