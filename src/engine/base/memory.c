/// How much memory there is: that of the machine, of the process (setrlimit) and of the group of
/// processes in which a container or a batch system has put it (cgroups).
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/// The number in a file of the kernel; infinite if there is none, as where it says "max".
static double limit_in_file(const char* path)
{
    double bytes = INFINITY;
    FILE* file = fopen(path, "r");
    if (!file) return INFINITY;
    if (fscanf(file, "%lf", &bytes) != 1) bytes = INFINITY;
    fclose(file);
    return bytes;
}

static double limit_of_process(void)
{
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return INFINITY;
    return (double)space.rlim_cur;
}

double memory_limit(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    double bytes = pages > 0 && size > 0 ? (double)pages * (double)size : INFINITY;
    bytes = fmin(bytes, limit_of_process());
    bytes = fmin(bytes, limit_in_file("/sys/fs/cgroup/memory.max"));
    return fmin(bytes, limit_in_file("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}
