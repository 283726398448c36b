/// 64-bit hash of bytes (FNV-1a): for state hashes and checksums, not for security.
#ifndef TALUS_BASE_HASH_H
#define TALUS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

/// Continue `hash` (HASH_START at first) over `size` bytes.
static inline uint64_t hash_bytes(uint64_t hash, const void* data, size_t size)
{
    const unsigned char* bytes = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

#endif
