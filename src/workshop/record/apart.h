/// Work in a process of its own, which may die of it: HDF5 1.10 does of some damaged files.
///
/// The process is a fork: it sees all that ours has, and what it changes is lost with it, but for
/// files and for memory of apart_share(). It must not begin threads, nor use OpenMP: those of ours
/// are not there.
#ifndef TALUS_RECORD_APART_H
#define TALUS_RECORD_APART_H

#include <stddef.h>
#include <talus/base.h>

typedef talus_status apart_work(void* user, talus_error* error);

/// Do a piece of work there and wait for it; its status and its sentence come back. If it dies, or
/// takes more than `seconds` of the processor, the status is TALUS_ERR_FORMAT: what it read is
/// damaged. Where no other process is to be had the work is done here.
talus_status apart_do(apart_work* work, void* user, int seconds, talus_error* error);

/// Zeroed memory that both processes see; NULL if there is none.
void* apart_share(size_t size);
void apart_unshare(void* memory, size_t size);

#endif
