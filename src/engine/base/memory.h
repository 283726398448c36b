/// How much memory there is.
#ifndef TALUS_BASE_MEMORY_H
#define TALUS_BASE_MEMORY_H

/// Bytes that this process can ever have: those of the machine, or of its limits where these are
/// lower. Infinite if nothing is known.
double memory_limit(void);

#endif
