/// Memory that a step gives back and the next one asks for again.
#ifndef TALUS_BASE_KEEP_MEMORY_H
#define TALUS_BASE_KEEP_MEMORY_H

#include <malloc.h>

/// For the beginning of main(): what is freed stays with the program, to be used again. glibc's
/// malloc gives large arrays back to the system at once, which has to clear their pages when they
/// are asked for again, and makes large ones of them only by and by. A step of 10^6 spheres (50
/// sweeps, one thread) took 5.2 s of CPU time, and takes 3.5 so. The most memory that such a run
/// has in use grows by 6 %.
static inline void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

#endif
