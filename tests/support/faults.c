/// Runs a program and lets a call of the system fail, or kills the program there:
///
///     faults --count KINDS FOLDER RESULT PROGRAM...   how many such calls there are, into RESULT
///     faults --fail N:ERRNO KINDS FOLDER RESULT PROGRAM...   the Nth (from 1) fails
///     faults --kill N KINDS FOLDER RESULT PROGRAM...   SIGKILL instead of the Nth
///     faults --log KINDS FOLDER RESULT PROGRAM...   all that succeed, with their bytes, into
///     RESULT
///
/// KINDS are words with commas: open (for writing), write, sync, rename, remove, make, cut. Only
/// calls for files in FOLDER count, whoever makes them: the C library, HDF5, threads and children.
/// The exit status is the program's, 128 + the signal if one ended it. It works by ptrace, on
/// x86-64 only: elsewhere it exits with 77.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void)
{
    return 77;
}
#else

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

typedef enum kind { OPEN, WRITE, SYNC, RENAME, REMOVE, MAKE, CUT, KINDS } kind;
static const char* const kind_names[KINDS] = {"open",   "write", "sync", "rename",
                                              "remove", "make",  "cut"};

/// What a call does to files: where its paths or its descriptor are among the arguments.
typedef struct call {
    long number;
    kind kind;
    int descriptor; ///< argument, -1: none
    int path, at;   ///< argument with a path, and with the folder that it is relative to; -1: none
    int second, second_at;
} call;

static const call calls[] = {
    {SYS_open, OPEN, -1, 0, -1, -1, -1},      {SYS_openat, OPEN, -1, 1, 0, -1, -1},
    {SYS_creat, OPEN, -1, 0, -1, -1, -1},     {SYS_write, WRITE, 0, -1, -1, -1, -1},
    {SYS_writev, WRITE, 0, -1, -1, -1, -1},   {SYS_pwrite64, WRITE, 0, -1, -1, -1, -1},
    {SYS_fsync, SYNC, 0, -1, -1, -1, -1},     {SYS_fdatasync, SYNC, 0, -1, -1, -1, -1},
    {SYS_rename, RENAME, -1, 0, -1, 1, -1},   {SYS_renameat, RENAME, -1, 1, 0, 3, 2},
    {SYS_renameat2, RENAME, -1, 1, 0, 3, 2},  {SYS_unlink, REMOVE, -1, 0, -1, -1, -1},
    {SYS_unlinkat, REMOVE, -1, 1, 0, -1, -1}, {SYS_rmdir, REMOVE, -1, 0, -1, -1, -1},
    {SYS_mkdir, MAKE, -1, 0, -1, -1, -1},     {SYS_mkdirat, MAKE, -1, 1, 0, -1, -1},
    {SYS_ftruncate, CUT, 0, -1, -1, -1, -1},  {SYS_fallocate, CUT, 0, -1, -1, -1, -1},
};

/// A thread that is traced.
typedef struct thread {
    pid_t id;
    bool inside;    ///< between beginning and end of a call
    bool refused;   ///< the call is to fail
    const call* of; ///< one that counts, NULL: any other
    char path[PATH_MAX], second[PATH_MAX];
    uint64_t argument[6];
} thread;

enum { MOST_THREADS = 256 };
static thread threads[MOST_THREADS];
static int thread_count;

static char folder[PATH_MAX];
static bool wanted[KINDS];
static long counted, at_call; ///< at_call 0: none is meddled with
static int fail_with;         ///< 0: kill
static FILE* record;          ///< of --log

static thread* thread_of(pid_t id)
{
    for (int i = 0; i < thread_count; i++)
        if (threads[i].id == id) return &threads[i];
    if (thread_count == MOST_THREADS) exit(70);
    threads[thread_count] = (thread){.id = id};
    return &threads[thread_count++];
}

static uint64_t argument_of(const struct user_regs_struct* r, int index)
{
    const uint64_t list[6] = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9};
    return list[index];
}

static size_t read_memory(pid_t id, uint64_t from, void* to, size_t size)
{
    struct iovec ours = {to, size}, theirs = {(void*)(uintptr_t)from, size};
    const ssize_t got = process_vm_readv(id, &ours, 1, &theirs, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

static void link_target(pid_t id, const char* what, char out[PATH_MAX])
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/%s", (int)id, what);
    const ssize_t length = readlink(name, out, PATH_MAX - 1);
    out[length < 0 ? 0 : length] = '\0';
}

static void descriptor_path(pid_t id, int64_t descriptor, char out[PATH_MAX])
{
    char name[32];
    snprintf(name, sizeof name, descriptor == AT_FDCWD ? "cwd" : "fd/%d", (int)descriptor);
    link_target(id, name, out);
}

/// A path among the arguments as a whole one.
static void argument_path(const thread* t, int path, int at, char out[PATH_MAX])
{
    char given[PATH_MAX] = "", base[PATH_MAX] = "";
    for (size_t done = 0; done < sizeof given - 1;) { // page by page: the next may not be there
        const uint64_t from = t->argument[path] + done;
        size_t room = 4096 - from % 4096;
        if (room > sizeof given - 1 - done) room = sizeof given - 1 - done;
        const size_t got = read_memory(t->id, from, given + done, room);
        if (got == 0 || memchr(given + done, '\0', got)) break;
        done += got;
    }
    if (given[0] != '/') {
        descriptor_path(t->id, at < 0 ? AT_FDCWD : (int32_t)t->argument[at], base);
        if (snprintf(out, PATH_MAX, "%s/%s", base, given) >= PATH_MAX) out[0] = '\0';
    } else {
        snprintf(out, PATH_MAX, "%s", given);
    }
}

static bool is_ours(const char* path)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/// The call that begins, if it counts.
static const call* recognise(thread* t, const struct user_regs_struct* r)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const call* c = &calls[i];
        if (c->number != (long)r->orig_rax || !wanted[c->kind]) continue;
        for (int k = 0; k < 6; k++) t->argument[k] = argument_of(r, k);
        if (c->number == SYS_open && !(t->argument[1] & (O_WRONLY | O_RDWR))) return NULL;
        if (c->number == SYS_openat && !(t->argument[2] & (O_WRONLY | O_RDWR))) return NULL;
        t->path[0] = t->second[0] = '\0';
        if (c->descriptor >= 0) {
            descriptor_path(t->id, (int32_t)t->argument[c->descriptor], t->path);
        } else {
            argument_path(t, c->path, c->at, t->path);
        }
        if (c->second >= 0) argument_path(t, c->second, c->second_at, t->second);
        return is_ours(t->path) || is_ours(t->second) ? c : NULL;
    }
    return NULL;
}

// ---- the log -----------------------------------------------------------------------------------

/// Where a write went: at the place that was given, or up to where the descriptor stands now.
static int64_t offset_of(const thread* t, int64_t size)
{
    if (t->of->number == SYS_pwrite64) return (int64_t)t->argument[3];
    char name[64], line[128];
    int64_t place = 0;
    snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", (int)t->id, (int)t->argument[0]);
    FILE* facts = fopen(name, "r");
    while (facts && fgets(line, sizeof line, facts))
        if (sscanf(line, "pos: %ld", &place) == 1) break;
    if (facts) fclose(facts);
    return place - size;
}

/// "KIND NUMBER BYTES PATH\nSECOND\n" and the bytes.
static void log_call(const thread* t, int64_t result)
{
    const kind k = t->of->kind;
    int64_t number = 0;
    size_t size = 0;
    char* data = NULL;
    if (k == WRITE && t->of->number != SYS_writev) {
        data = malloc((size_t)result + 1);
        size = data ? read_memory(t->id, t->argument[1], data, (size_t)result) : 0;
        number = offset_of(t, result);
    } else if (k == WRITE) {
        struct iovec list[64];
        const size_t count = t->argument[2] < 64 ? t->argument[2] : 64;
        read_memory(t->id, t->argument[1], list, sizeof *list * count);
        data = malloc((size_t)result + 1);
        for (size_t i = 0; data && i < count && size < (size_t)result; i++) {
            const size_t left = (size_t)result - size;
            size += read_memory(t->id, (uint64_t)(uintptr_t)list[i].iov_base, data + size,
                                list[i].iov_len < left ? list[i].iov_len : left);
        }
        number = offset_of(t, result);
    } else if (k == CUT) {
        number = t->of->number == SYS_ftruncate
                     ? (int64_t)t->argument[1]
                     : -(int64_t)(t->argument[2] + t->argument[3]); // it grows up to there
    } else if (k == OPEN) {
        const uint64_t flags = t->argument[t->of->number == SYS_openat ? 2 : 1];
        number = (flags & O_TRUNC) != 0 ? 1 : 0;
    } else if (t->of->number == SYS_renameat2) {
        number = (int64_t)t->argument[4]; // RENAME_EXCHANGE is 2
    }
    fprintf(record, "%s %ld %zu %s\n%s\n", kind_names[k], number, size, t->path, t->second);
    if (size > 0) fwrite(data, 1, size, record);
    free(data);
}

// ---- following the program ---------------------------------------------------------------------

static void kill_all(pid_t first)
{
    for (int i = 0; i < thread_count; i++) kill(threads[i].id, SIGKILL);
    kill(first, SIGKILL);
}

static void stop_at_call(thread* t, pid_t first)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, t->id, NULL, &r) != 0) return;
    t->inside = !t->inside;
    if (t->inside) {
        t->of = recognise(t, &r);
        t->refused = false;
        if (!t->of) return;
        counted++;
        if (counted != at_call) return;
        if (fail_with == 0) {
            kill_all(first);
            return;
        }
        t->refused = true;
        r.orig_rax = (unsigned long long)-1; // no call of the system
        ptrace(PTRACE_SETREGS, t->id, NULL, &r);
    } else if (t->refused) {
        r.rax = (unsigned long long)(long long)-fail_with;
        ptrace(PTRACE_SETREGS, t->id, NULL, &r);
    } else if (t->of && record && (int64_t)r.rax >= 0) {
        log_call(t, (int64_t)r.rax);
    }
}

static int follow(pid_t first)
{
    int status = 0, ending = 255;
    bool begun = false;
    for (pid_t id; (id = waitpid(-1, &status, __WALL)) > 0;) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (id == first)
                ending = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        thread* t = thread_of(id);
        int deliver = WSTOPSIG(status);
        if (!begun) { // the exec
            begun = true;
            ptrace(PTRACE_SETOPTIONS, id, NULL,
                   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
            deliver = 0;
        } else if (deliver == (SIGTRAP | 0x80)) {
            stop_at_call(t, first);
            deliver = 0;
        } else if (deliver == SIGTRAP || deliver == SIGSTOP) { // of ptrace, and of new threads
            deliver = 0;
        }
        ptrace(PTRACE_SYSCALL, id, NULL, (void*)(intptr_t)deliver);
    }
    return ending;
}

int main(int argc, char** argv)
{
    int next = 1;
    const char* mode = argc > next ? argv[next++] : "";
    const bool fails = strcmp(mode, "--fail") == 0, kills = strcmp(mode, "--kill") == 0;
    if ((fails || kills) && argc > next) {
        char* end;
        at_call = strtol(argv[next], &end, 10);
        fail_with = fails && *end == ':' ? atoi(end + 1) : 0;
        next++;
    }
    if (argc < next + 4) return 64;
    for (int k = 0; k < KINDS; k++) wanted[k] = strstr(argv[next], kind_names[k]) != NULL;
    if (!realpath(argv[next + 1], folder)) return 64;
    const char* result = argv[next + 2];
    if (strcmp(mode, "--log") == 0 && !(record = fopen(result, "w"))) return 64;
    char** program = argv + next + 3;
    const pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(program[0], program);
        _exit(127);
    }
    const int ending = follow(first);
    if (record) {
        fclose(record);
    } else {
        FILE* out = fopen(result, "w");
        if (!out) return 64;
        fprintf(out, "%ld\n", counted);
        fclose(out);
    }
    return ending;
}
#endif
