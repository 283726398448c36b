/// HDF5 1.10 crashes on some damaged files, and where memory runs out or a disk fails. That is an
/// error like any other: the program says so and ends as it does after one. Anything else that
/// crashes is left to crash, since it is a mistake of ours.
#include "app.h"

#include "record/h5.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
enum { DEADLY = sizeof deadly / sizeof *deadly };
/// What was there before: a sanitizer's own words.
static struct sigaction before[DEADLY];

/// Say it and end, if this thread is within HDF5. Only what a handler of signals may call.
static void give_up_on_hdf5(void)
{
    static const char words[] =
        "talus: HDF5 crashed: memory ran out, a file is damaged, or the disk is\n";
    if (!h5_is_at_work()) return;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) errno = 0; // nobody reads them
    _exit(STATUS_FAILURE);
}

static void last_words(int signal_number)
{
    give_up_on_hdf5();
    // Not HDF5: on return the same happens again, and has its usual effect.
    for (int i = 0; i < DEADLY; i++) {
        if (deadly[i] == signal_number) sigaction(signal_number, &before[i], NULL);
    }
}

void expect_crashes(void)
{
    // A stack of its own: HDF5 may have used up the other.
    static char room[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    struct sigaction action = {.sa_handler = last_words, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < DEADLY; i++) sigaction(deadly[i], &action, &before[i]);
    atexit(give_up_on_hdf5); // where it cannot even store an error it calls exit()
    h5_stay_at_exit();
}
