/// Threads of OpenMP that wait for work, and how long they keep their core meanwhile.
#ifndef TALUS_BASE_SHORT_WAITS_H
#define TALUS_BASE_SHORT_WAITS_H

#include <stdlib.h>
#include <unistd.h>

/// Turns that a thread waits before it goes to sleep, about the time that it takes to wake one up.
/// gcc's own 300 000 are some milliseconds: on a machine that others use, too, the thread that has
/// work waits for the core on which the other one turns. Collapse of 5000 disks, two threads beside
/// a load of 18 on two cores: 729 ms of CPU time a step with gcc's own, 117 with 20 000 turns, 41
/// with 2000 and 34 with none, where one thread takes 29.
#define SHORT_WAITS "2000"

/// For the first line of main(): gcc's OpenMP reads its settings when it is loaded, so a program
/// that wants others has to begin once more. Whoever has chosen how threads wait is left alone.
static inline void short_waits(char** argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (setenv("GOMP_SPINCOUNT", SHORT_WAITS, 1) == 0) execv("/proc/self/exe", argv);
    // Where that cannot be done everything works all the same.
}

#endif
